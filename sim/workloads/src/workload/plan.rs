//! Workloads described by their parts: the setup of a run, its launches, and the check of its results.
use std::path::Path;

use super::helpers::no_input;
use super::{Group, HostProgram, Launch, Size, Workload, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

/// Returns one launch after another, then `None`. May read results of the last launch from memory.
type NextLaunch = Box<dyn FnMut(&mut DeviceMemory) -> Result<Option<Launch>, WorkloadError>>;
/// Compares the device's results with the reference.
type ResultCheck = Box<dyn Fn(&DeviceMemory) -> Result<(), WorkloadError>>;

/// Launches and check of a run, after its buffers are filled.
pub(super) struct Plan {
    launches: NextLaunch,
    check: ResultCheck,
}

impl Plan {
    /// Creates a plan of launches that are known from the start.
    pub(super) fn of(
        launches: Vec<Launch>,
        check: impl Fn(&DeviceMemory) -> Result<(), WorkloadError> + 'static,
    ) -> Self {
        let mut launches = launches.into_iter();
        Self::following(move |_| Ok(launches.next()), check)
    }

    /// Creates a plan of launches that depend on earlier results.
    pub(super) fn following(
        launches: impl FnMut(&mut DeviceMemory) -> Result<Option<Launch>, WorkloadError> + 'static,
        check: impl Fn(&DeviceMemory) -> Result<(), WorkloadError> + 'static,
    ) -> Self {
        Plan { launches: Box::new(launches), check: Box::new(check) }
    }
}

/// A workload that generates its own input.
pub(super) struct Planned {
    pub name: &'static str,
    pub summary: &'static str,
    pub papers: &'static str,
    pub group: Group,
    /// Name and text of the PTX file.
    pub ptx: (&'static str, &'static str),
    /// Problem dimensions and bytes of device memory, in one line.
    pub description: fn(Size) -> String,
    /// Allocates and fills the buffers.
    pub plan: fn(Size, &mut DeviceMemory) -> Result<Plan, WorkloadError>,
}

impl Workload for Planned {
    fn name(&self) -> &'static str {
        self.name
    }
    fn summary(&self) -> &'static str {
        self.summary
    }
    fn papers(&self) -> &'static str {
        self.papers
    }
    fn group(&self) -> Group {
        self.group
    }
    fn ptx(&self) -> (&'static str, &'static str) {
        self.ptx
    }
    fn description(&self, size: Size) -> String {
        (self.description)(size)
    }
    fn start(&self, size: Size, input: Option<&Path>) -> Result<Box<dyn HostProgram>, WorkloadError> {
        no_input(self.name, input)?;
        let plan = self.plan;
        Ok(Box::new(PlanRun::new(self.name, move |memory| plan(size, memory))))
    }
}

/// Allocates and fills the buffers.
type SetUp = Box<dyn FnOnce(&mut DeviceMemory) -> Result<Plan, WorkloadError>>;

/// A run of a plan.
pub(super) struct PlanRun {
    workload: &'static str,
    /// Setup before the first launch; `None` afterwards.
    set_up: Option<SetUp>,
    plan: Option<Plan>,
    done: bool,
}

impl PlanRun {
    /// Creates a run of `workload` that starts with `set_up`.
    pub(super) fn new(
        workload: &'static str,
        set_up: impl FnOnce(&mut DeviceMemory) -> Result<Plan, WorkloadError> + 'static,
    ) -> Self {
        PlanRun { workload, set_up: Some(Box::new(set_up)), plan: None, done: false }
    }
}

impl HostProgram for PlanRun {
    fn next(&mut self, memory: &mut DeviceMemory) -> Result<Option<Launch>, WorkloadError> {
        if self.done {
            return Ok(None);
        }
        if let Some(set_up) = self.set_up.take() {
            self.plan = Some(set_up(memory)?);
        }
        let Some(plan) = &mut self.plan else { return Ok(None) };
        let launch = (plan.launches)(memory)?;
        self.done = launch.is_none();
        Ok(launch)
    }

    fn verify(&self, memory: &DeviceMemory) -> Result<(), WorkloadError> {
        match &self.plan {
            Some(plan) if self.done => (plan.check)(memory),
            _ => Err(WorkloadError::Unfinished { workload: self.workload }),
        }
    }
}
