//! The search of a mechanism for its best choice, which runs the workload with several choices first.
use crate::stats::MechanismCounters;

/// The choices of a mechanism, and its search for the best one (SWL-best: Dai, section 2.7.1; Kernel-OPT: LATTE-CC, section V.B).
/// The mechanism defines the meaning of a choice and receives the best one as [`super::Setup::choice`].
pub trait Search {
    /// Returns any valid choice, for results that do not depend on the choice.
    fn any(&self) -> Vec<u32>;

    /// Runs the trials and returns the best choice.
    ///
    /// # Errors
    /// Returns [`Stopped`] if [`Trials::run`] returns it.
    fn best(&self, trials: &mut dyn Trials) -> Result<SearchResult, Stopped>;
}

/// Runs the workload with given choices, under the model engine. All engines make the same decisions.
pub trait Trials {
    /// Announces the number of trials, for the progress display.
    fn expect(&mut self, trials: u64);

    /// Runs the workload with `choice`. If `most_cycles` is given, the trial ends after that number of core cycles.
    ///
    /// # Errors
    /// Returns [`Stopped`] if the kernel faults or the user ends the run. The search must then end.
    fn run(&mut self, choice: &[u32], most_cycles: Option<u64>) -> Result<Trial, Stopped>;
}

/// Measurements of a trial.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Core cycles until the end of the workload or until a limit.
    pub cycles: u64,
    /// Core cycles of each launch that ended.
    pub launches: Vec<u64>,
    /// Max warps that a scheduler held at the same time.
    pub most_resident_warps: u64,
}

/// Result of a search.
#[derive(Clone, Debug)]
pub struct SearchResult {
    /// The best choice.
    pub choice: Vec<u32>,
    /// The choice and its costs, as counters of the mechanism.
    pub counters: MechanismCounters,
}

/// A trial did not complete. The implementation of [`Trials`] keeps the reason.
#[derive(Clone, Copy, Debug)]
pub struct Stopped;
