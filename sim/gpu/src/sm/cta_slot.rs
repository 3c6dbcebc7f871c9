//! A resident CTA with its shared memory and barriers.
use super::launch::LaunchedKernel;
use super::scheduler::WarpMask;
use selvedge_ptx::clusters::ClusterMember;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::Ballot;
use selvedge_state::State;
use std::sync::Arc;

/// A resident CTA.
#[derive(State)]
pub struct CtaSlot {
    pub kernel: Arc<LaunchedKernel>,
    pub cta: [u32; 3],
    /// Shared memory. In a cluster, [`RunningClusters`](selvedge_ptx::clusters::RunningClusters) has it while no warp of the CTA executes.
    pub shared: Vec<u8>,
    /// Place in a cluster, if the launch has clusters.
    pub member: Option<ClusterMember>,
    /// Warps that have not exited.
    pub live: u32,
    /// Warps whose slots are still occupied.
    pub resident: u32,
    pub barriers: [CtaBarrier; 16],
}

impl CtaSlot {
    /// Prepares the execution of an instruction: gets the shared memory of a CTA in a cluster.
    #[inline(always)]
    pub fn enter(&mut self, memory: &mut DeviceMemory) {
        if let Some(member) = self.member {
            self.shared = memory.clusters_mut().enter(member);
        }
    }

    /// Puts back the shared memory of a CTA in a cluster.
    #[inline(always)]
    pub fn leave(&mut self, memory: &mut DeviceMemory) {
        if self.member.is_some() {
            memory.clusters_mut().leave(std::mem::take(&mut self.shared));
        }
    }
}

/// A barrier of a CTA.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct CtaBarrier {
    /// Warps that have arrived, including warps that do not wait.
    pub arrived: u32,
    /// Warp slots that wait.
    pub waiting: WarpMask,
    /// Threads expected; 0 means all live warps of the CTA.
    pub threads: u32,
    /// Predicates of the warps that have arrived.
    pub ballot: Ballot,
}

/// A warp's arrival at a barrier.
#[derive(Clone, Copy, Debug)]
pub struct BarrierArrival {
    pub id: u32,
    pub threads: Option<u32>,
    pub arrive_only: bool,
    pub ballot: Ballot,
}
