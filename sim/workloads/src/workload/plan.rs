//! Workloads given by their parts: what a run sets up, which launches follow, and how its results are checked.
use std::path::Path;

use super::{Group, HostProgram, Launch, Size, Workload, WorkloadError, no_input};
use selvedge_ptx::memory::DeviceMemory;

/// Gives one launch after another, then none; may read what the last one left in memory.
type Launches = Box<dyn FnMut(&mut DeviceMemory) -> Result<Option<Launch>, WorkloadError>>;
/// Compares the device's results with the reference.
type Check = Box<dyn Fn(&DeviceMemory) -> Result<(), WorkloadError>>;

/// What follows once the buffers are in place.
pub(super) struct Plan {
    launches: Launches,
    check: Check,
}

impl Plan {
    /// Launches that are known from the start.
    pub(super) fn of(
        launches: Vec<Launch>,
        check: impl Fn(&DeviceMemory) -> Result<(), WorkloadError> + 'static,
    ) -> Self {
        let mut launches = launches.into_iter();
        Self::following(move |_| Ok(launches.next()), check)
    }

    /// Launches that depend on what earlier ones computed.
    pub(super) fn following(
        launches: impl FnMut(&mut DeviceMemory) -> Result<Option<Launch>, WorkloadError> + 'static,
        check: impl Fn(&DeviceMemory) -> Result<(), WorkloadError> + 'static,
    ) -> Self {
        Plan { launches: Box::new(launches), check: Box::new(check) }
    }
}

/// A workload that makes its own input.
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
        Ok(Box::new(Run::new(self.name, move |memory| plan(size, memory))))
    }
}

/// Allocates and fills the buffers.
type SetUp = Box<dyn FnOnce(&mut DeviceMemory) -> Result<Plan, WorkloadError>>;

/// A plan under construction.
pub(super) struct Run {
    workload: &'static str,
    /// What remains to be done before the first launch.
    set_up: Option<SetUp>,
    plan: Option<Plan>,
    done: bool,
}

impl Run {
    /// A run of `workload` that begins with `set_up`.
    pub(super) fn new(
        workload: &'static str,
        set_up: impl FnOnce(&mut DeviceMemory) -> Result<Plan, WorkloadError> + 'static,
    ) -> Self {
        Run { workload, set_up: Some(Box::new(set_up)), plan: None, done: false }
    }
}

impl HostProgram for Run {
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
