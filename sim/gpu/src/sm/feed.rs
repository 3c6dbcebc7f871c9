//! Sources of a warp's instructions: execution of PTX, execution that is also recorded, or a trace.
use super::fault::{SimFault, SimResult};
use super::launch::LaunchedKernel;
use crate::trace::launch::TraceLaunch;
use crate::trace::record::{LaunchRecorder, RecordedWarp};
use crate::trace::replay::ReplayedWarp;
use selvedge_ptx::ptx::{Ballot, Env, MemAccess, Step, Warp};
use selvedge_state::State;
use std::sync::Arc;

/// The source of a launch's instructions.
pub enum Feed {
    /// Execution of the kernel.
    Execute,
    /// Execution of the kernel, with a record of what each warp does.
    Record(Arc<LaunchRecorder>),
    /// Replay of a trace.
    Replay(Arc<TraceLaunch>),
}

/// The source of a warp's instructions.
#[derive(State)]
pub(super) enum WarpFeed {
    Execute(Warp),
    Record(Box<RecordedWarp>),
    Replay(ReplayedWarp),
}

impl WarpFeed {
    /// Returns warp `index` of CTA `cta` at its first instruction.
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

    /// Returns the index of the next instruction in the kernel's code; `None` after all lanes have exited.
    #[inline]
    pub fn pc(&self) -> Option<u32> {
        match self {
            WarpFeed::Execute(warp) => warp.pc(),
            WarpFeed::Record(recorded) => recorded.warp.pc(),
            WarpFeed::Replay(replayed) => replayed.pc(),
        }
    }

    /// Returns the active lanes, one bit each.
    #[inline]
    pub fn active_mask(&self) -> u32 {
        match self {
            WarpFeed::Execute(warp) => warp.active_mask(),
            WarpFeed::Record(recorded) => recorded.warp.active_mask(),
            WarpFeed::Replay(replayed) => replayed.active_mask(),
        }
    }

    /// Returns the executing warp; `None` if it is recorded or replayed.
    pub fn executed(&mut self) -> Option<&mut Warp> {
        match self {
            WarpFeed::Execute(warp) => Some(warp),
            WarpFeed::Record(_) | WarpFeed::Replay(_) => None,
        }
    }

    /// Executes or replays the next instruction and advances. Only loads, stores and atomics write `access`.
    #[inline(always)]
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

    /// Returns the warp's predicates at the barrier where it waits. A trace has no predicates.
    pub fn ballot(&self, launch: &LaunchedKernel) -> Ballot {
        match self {
            WarpFeed::Execute(warp) => warp.ballot(&launch.kernel),
            WarpFeed::Record(recorded) => recorded.warp.ballot(&launch.kernel),
            WarpFeed::Replay(_) => Ballot::default(),
        }
    }

    /// Gives the warp the predicates of all threads at the barrier where it waited.
    pub fn pass_barrier(&mut self, launch: &LaunchedKernel, total: Ballot) {
        match self {
            WarpFeed::Execute(warp) => warp.pass_barrier(&launch.kernel, total),
            WarpFeed::Record(recorded) => recorded.warp.pass_barrier(&launch.kernel, total),
            WarpFeed::Replay(_) => {}
        }
    }
}
