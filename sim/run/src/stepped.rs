//! A run that its caller advances by a number of cycles at a time.
use crate::launches::CurrentLaunch;
use crate::report::Totals;
use crate::run::{BegunRun, RunError, RunOutcome, RunSpec};
use selvedge_gpu::gpu::Control;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A run in progress. Its report is equal to that of [`crate::run::run`], for any sequence of steps.
///
/// ```
/// use selvedge_sim::gpu::Control;
/// use selvedge_sim::simulation::Simulation;
/// use selvedge_sim::stepped::SteppedRun;
/// use std::sync::Arc;
///
/// let spec = Simulation::builder().workload("vecadd").spec()?;
/// let mut run = SteppedRun::new(spec, Arc::new(Control::default()))?;
/// while !run.step(1000)? {
///     println!("{} instructions", run.totals().warp_instructions);
/// }
/// assert!(run.end()?.fault.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SteppedRun {
    spec: RunSpec,
    begun: BegunRun,
    under_way: Option<CurrentLaunch>,
    is_over: bool,
    time: Duration,
}

impl SteppedRun {
    /// Sets up a run before its first cycle. `control` can stop it.
    ///
    /// # Errors
    /// The errors of [`crate::run::run`], and a limit that ends the mechanism's trials.
    pub fn new(spec: RunSpec, control: Arc<Control>) -> Result<Self, RunError> {
        let mut begun = BegunRun::new(&spec, None, &control, None, None)?;
        begun.watch(&spec);
        match begun.stopped.take() {
            Some(stopped) => Err(stopped),
            None => Ok(SteppedRun { spec, begun, under_way: None, is_over: false, time: Duration::ZERO }),
        }
    }

    /// Runs `cycles` core cycles, or to the end of the run. Returns whether the run has ended.
    ///
    /// # Errors
    /// The reason that stops the run early. After it only [`Self::totals`], [`Self::cycle`] and [`Self::end`] may be used.
    pub fn step(&mut self, cycles: u64) -> Result<bool, RunError> {
        let until = self.cycle().saturating_add(cycles);
        let start = Instant::now();
        while !self.is_over && self.advance(until)? {}
        self.time += start.elapsed();
        Ok(self.is_over)
    }

    /// Runs the current launch, or the next one, up to its end or to core cycle `until`. Returns `false` if it reached `until`
    /// first.
    fn advance(&mut self, until: u64) -> Result<bool, RunError> {
        let launches = &mut self.begun.launches;
        if self.under_way.is_none() {
            self.under_way = launches.launch(false)?;
        }
        let Some(current) = &self.under_way else {
            launches.program.finish(launches.gpu.cycle())?;
            self.is_over = true;
            return Ok(true);
        };
        if !launches.gpu.run_until(until, &mut launches.memory)? {
            return Ok(false);
        }
        launches.end(current.clone())?;
        self.under_way = None;
        Ok(true)
    }

    /// Returns the number of core cycles so far.
    pub fn cycle(&self) -> u64 {
        self.begun.launches.gpu.cycle()
    }

    /// Returns the counters so far.
    pub fn totals(&self) -> Totals {
        self.begun.launches.gpu.snapshot().into()
    }

    /// Runs to the end, checks the results and returns the report.
    ///
    /// # Errors
    /// The output files of the host program cannot be computed. A reason that stops the run early is in the outcome instead.
    pub fn end(mut self) -> Result<RunOutcome, RunError> {
        let fault = self.step(u64::MAX).err();
        if let Some(fault) = &fault {
            self.begun.launches.program.fail(fault);
        }
        Ok(self.begun.end(&self.spec, fault, self.time.as_secs_f64(), None)?.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Bounds;
    use crate::run::run;
    use crate::simulation::Simulation;

    fn spec(workload: &str, mechanism: &str) -> RunSpec {
        Simulation::builder().workload(workload).mechanism(mechanism).spec().expect("valid")
    }

    fn report(outcome: RunOutcome) -> serde_json::Value {
        assert!(outcome.fault.is_none());
        let mut report = serde_json::to_value(outcome.report).expect("numbers and texts");
        report.as_object_mut().expect("a report").remove("host");
        report
    }

    #[test]
    fn a_run_in_steps_is_the_run_in_one() {
        for (workload, mechanism, cycles) in
            [("bfs", "hw-bdi", 997), ("vecadd", "base", 1), ("atax", "dmil", 64)]
        {
            let whole = report(run(&spec(workload, mechanism), Arc::default()).expect("it starts"));
            let mut stepped = SteppedRun::new(spec(workload, mechanism), Arc::default()).expect("it starts");
            let mut before = 0;
            while !stepped.step(cycles).expect("it runs") {
                assert_eq!(stepped.cycle(), before + cycles, "{workload}");
                before = stepped.cycle();
                assert_eq!(stepped.totals().cycles, before);
            }
            assert_eq!(report(stepped.end().expect("it ends")), whole, "{workload}");
        }
    }

    #[test]
    fn what_stops_a_run_is_an_error_of_the_step_and_in_the_report() {
        let mut limited = spec("bfs", "base");
        limited.bounds = Bounds { cycles: Some(300), ..Bounds::default() };
        let mut run = SteppedRun::new(limited, Arc::default()).expect("it starts");
        assert!(!run.step(299).expect("below the limit"));
        let line = run.step(10).expect_err("the limit").to_string();
        assert!(line.contains("300"), "{line}");
        let outcome = run.end().expect("it ends");
        assert_eq!(outcome.report.totals.cycles, 300);
        assert_eq!(outcome.fault.map(|fault| fault.to_string()), Some(line));
    }
}
