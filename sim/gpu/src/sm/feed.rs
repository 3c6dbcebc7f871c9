//! Where a warp's instructions come from: the execution of PTX, the same while it is recorded, or a trace.
use super::fault::{SimFault, SimResult};
use super::launch::LaunchedKernel;
use crate::trace::record::RecordedWarp;
use crate::trace::replay::ReplayedWarp;
use crate::trace::{LaunchRecorder, TraceLaunch};
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{AccessLog, Ballot, Env, Kernel, MemAccess, Step, Warp};
use selvedge_state::State;
use std::sync::Arc;

/// Where the instructions of a launch come from.
pub enum Feed {
    /// The kernel's execution.
    Execute,
    /// The same, and each warp notes what it does.
    Record(Arc<LaunchRecorder>),
    /// A trace.
    Replay(Arc<TraceLaunch>),
}

/// Where the instructions of a warp come from.
#[derive(State)]
pub(super) enum WarpFeed {
    Execute(Warp),
    Record(Box<RecordedWarp>),
    Replay(ReplayedWarp),
}

impl WarpFeed {
    /// Warp `index` of CTA `cta`, at its first instruction.
    pub fn new(launch: &LaunchedKernel, cta: [u32; 3], index: u32) -> Self {
        let dims = &launch.dims;
        let warp = || Warp::new(&launch.kernel, dims, cta, index);
        let number = || {
            let [x, y, z] = cta.map(u64::from);
            let [width, height, _] = dims.grid.map(u64::from);
            (x + width * (y + height * z)) * u64::from(launch.warps_per_cta) + u64::from(index)
        };
        match &launch.feed {
            Feed::Execute => WarpFeed::Execute(warp()),
            Feed::Record(recorder) => {
                WarpFeed::Record(Box::new(RecordedWarp::new(warp(), recorder, number())))
            }
            Feed::Replay(trace) => WarpFeed::Replay(ReplayedWarp::new(trace, number())),
        }
    }

    /// Index of the next instruction in the kernel's code; `None` when all lanes have exited.
    #[inline]
    pub fn pc(&self) -> Option<u32> {
        match self {
            WarpFeed::Execute(warp) => warp.pc(),
            WarpFeed::Record(recorded) => recorded.warp.pc(),
            WarpFeed::Replay(replayed) => replayed.pc(),
        }
    }

    /// Lanes on the path that runs.
    #[inline]
    pub fn active_mask(&self) -> u32 {
        match self {
            WarpFeed::Execute(warp) => warp.active_mask(),
            WarpFeed::Record(recorded) => recorded.warp.active_mask(),
            WarpFeed::Replay(replayed) => replayed.active_mask(),
        }
    }

    /// Lets a logged access of the warp happen ([`Warp::replay`]); only what executes has a log.
    pub fn replay(&mut self, kernel: &Kernel, memory: &mut DeviceMemory, log: &AccessLog, number: usize) {
        if let WarpFeed::Execute(warp) = self {
            warp.replay(kernel, memory, log, number);
        }
    }

    /// The warp, where it executes and nobody records what it does.
    pub fn executed(&mut self) -> Option<&mut Warp> {
        match self {
            WarpFeed::Execute(warp) => Some(warp),
            WarpFeed::Record(_) | WarpFeed::Replay(_) => None,
        }
    }

    /// Does the next instruction and moves on; `access` is only written by loads, stores and atomics.
    #[inline]
    pub fn step(
        &mut self,
        launch: &LaunchedKernel,
        env: &mut Env,
        access: &mut MemAccess,
    ) -> SimResult<Step> {
        match self {
            WarpFeed::Execute(warp) => warp.step(&launch.kernel, env, access).map_err(SimFault::boxed),
            WarpFeed::Record(recorded) => recorded.step(&launch.kernel, env, access).map_err(SimFault::boxed),
            WarpFeed::Replay(replayed) => replayed.step(env, access).map_err(|e| Box::new(e.into())),
        }
    }

    /// Returns the predicates that the warp brings to the barrier that it waits at; a trace has none.
    pub fn ballot(&self, launch: &LaunchedKernel) -> Ballot {
        match self {
            WarpFeed::Execute(warp) => warp.ballot(&launch.kernel),
            WarpFeed::Record(recorded) => recorded.warp.ballot(&launch.kernel),
            WarpFeed::Replay(_) => Ballot::default(),
        }
    }

    /// Tells the warp what all threads brought to the barrier that it has waited at.
    pub fn pass_barrier(&mut self, launch: &LaunchedKernel, total: Ballot) {
        match self {
            WarpFeed::Execute(warp) => warp.pass_barrier(&launch.kernel, total),
            WarpFeed::Record(recorded) => recorded.warp.pass_barrier(&launch.kernel, total),
            WarpFeed::Replay(_) => {}
        }
    }
}
