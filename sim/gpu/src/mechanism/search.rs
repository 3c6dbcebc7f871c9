//! The search of a mechanism that takes the best of several choices, found by running the workload with them first.
use super::MechanismCounters;

/// The choices of a mechanism, and how it finds the best of them (SWL-best: Dai, section 2.7.1; Kernel-OPT: LATTE-CC,
/// section V.B). What a choice is, is the mechanism's own matter: it comes back as [`super::Part::choice`].
pub trait Search {
    /// Returns one of the choices, for all that is the same under each of them.
    fn any(&self) -> Vec<u32>;

    /// Makes the trials and returns the best choice.
    ///
    /// # Errors
    /// [`Stopped`], as it comes from [`Trials::run`].
    fn best(&self, trials: &mut dyn Trials) -> Result<Found, Stopped>;
}

/// The runs of the workload with one choice each. They run under the model engine, whose decisions are those of every engine.
pub trait Trials {
    /// States how many trials the search makes, for the progress that is shown.
    fn expect(&mut self, trials: u64);

    /// Runs the workload with `choice`, within `most_cycles` core cycles if given: the trial then ends there.
    ///
    /// # Errors
    /// [`Stopped`] when the kernel faults or the user ends the run. The search ends with it.
    fn run(&mut self, choice: &[u32], most_cycles: Option<u64>) -> Result<Trial, Stopped>;
}

/// What a trial shows.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Core cycles to its end, or to one of its limits.
    pub cycles: u64,
    /// Core cycles of each launch that ended.
    pub launches: Vec<u64>,
    /// Most warps that a scheduler had at the same time.
    pub most_resident_warps: u64,
}

/// What a search finds.
#[derive(Clone, Debug)]
pub struct Found {
    /// The best choice.
    pub choice: Vec<u32>,
    /// The choice and its costs, for the mechanism's counters.
    pub counters: MechanismCounters,
}

/// A trial did not come to its end. Who runs the trials knows why.
#[derive(Clone, Copy, Debug)]
pub struct Stopped;
