//! Clusters: CTAs that run at the same time, access each other's shared memory, and have a common barrier.
//!
//! An address of another CTA's shared memory holds the CTA's rank in the cluster, see [`RANK_BYTES`]. A smaller address belongs
//! to the CTA that uses it.
use selvedge_state::State;
use std::collections::BTreeMap;

/// Max CTAs of a cluster.
pub const MOST_CTAS: u32 = 16;
/// Distance of two CTAs in the addresses of a cluster, in bytes. The CTA of rank `r` starts at `(r + 1) * RANK_BYTES`. Also the max
/// shared memory of a CTA in a cluster.
pub const RANK_BYTES: u64 = 1 << 19;

/// Returns the address in the cluster of `address` in the shared memory of a CTA, for the CTA of rank `own`.
pub(crate) fn map(address: u64, rank: u32, own: u32) -> u64 {
    let offset = address % RANK_BYTES;
    if rank == own { offset } else { (u64::from(rank) + 1) * RANK_BYTES + offset }
}

/// Returns the rank of the CTA to which a shared address belongs, for the CTA of rank `own`.
pub(crate) fn rank(address: u64, own: u32) -> u32 {
    match address / RANK_BYTES {
        0 => own,
        number => u32::try_from(number - 1).unwrap_or(u32::MAX),
    }
}

/// A CTA in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct ClusterMember {
    /// Number of the cluster, unique in the memory's lifetime.
    pub cluster: u64,
    /// Rank of the CTA in the cluster.
    pub rank: u32,
}

/// A CTA of a running cluster.
#[derive(Clone, Debug, State)]
struct MemberCta {
    /// Shared memory. Empty while the CTA executes, and after it has ended.
    shared: Vec<u8>,
    /// Threads that have not exited.
    threads: u32,
    /// Name that a timing model gave the CTA.
    name: Option<u32>,
}

/// A running cluster.
#[derive(Clone, Debug, State)]
struct Cluster {
    ctas: Vec<MemberCta>,
    /// Threads that have arrived at the barrier in this phase.
    arrived: u32,
    /// Number of the barrier's phase.
    phase: u32,
    /// Phase that waiting warps see. It follows `phase` when the message about its end has arrived.
    seen: u32,
}

impl Cluster {
    /// Starts the next phase of the barrier if all threads have arrived. Returns whether it does.
    fn end_phase(&mut self) -> bool {
        let threads: u32 = self.ctas.iter().map(|cta| cta.threads).sum();
        let ends = self.arrived > 0 && self.arrived >= threads;
        if ends {
            (self.arrived, self.phase) = (0, self.phase.wrapping_add(1));
        }
        ends
    }
}

/// The running clusters of a device.
#[derive(Clone, Debug, Default, State)]
pub struct RunningClusters {
    running: BTreeMap<u64, Cluster>,
    next: u64,
    /// The executing CTA, if it is in a cluster.
    current: Option<ClusterMember>,
    /// Names of CTAs in which a phase of a barrier has ended.
    woken: Vec<u32>,
}

impl RunningClusters {
    /// Starts a cluster of `ctas` CTAs of `threads` threads, with `shared_bytes` bytes of zeroed shared memory each. Returns its
    /// number.
    pub fn start(&mut self, ctas: u32, threads: u32, shared_bytes: usize) -> u64 {
        let cta = MemberCta { shared: vec![0; shared_bytes], threads, name: None };
        let number = self.next;
        self.next += 1;
        self.running
            .insert(number, Cluster { ctas: vec![cta; ctas as usize], arrived: 0, phase: 0, seen: 0 });
        number
    }

    /// Names a CTA, for [`RunningClusters::take_woken`].
    pub fn name(&mut self, member: ClusterMember, name: u32) {
        if let Some(cta) = self.cta(member) {
            cta.name = Some(name);
        }
    }

    /// Begins the execution of a CTA. Returns its shared memory, which [`RunningClusters::leave`] must put back.
    pub fn enter(&mut self, member: ClusterMember) -> Vec<u8> {
        self.current = Some(member);
        self.cta(member).map(|cta| std::mem::take(&mut cta.shared)).unwrap_or_default()
    }

    /// Ends the execution of a CTA.
    pub fn leave(&mut self, shared: Vec<u8>) {
        if let Some(member) = self.current.take()
            && let Some(cta) = self.cta(member).filter(|cta| cta.threads > 0)
        {
            cta.shared = shared;
        }
    }

    /// Returns whether a phase of a barrier has ended in a CTA with a name since the last [`RunningClusters::take_woken`].
    #[inline]
    #[must_use]
    pub fn has_woken(&self) -> bool {
        !self.woken.is_empty()
    }

    /// Returns the names of the CTAs in which a phase of a barrier has ended since the last call.
    pub fn take_woken(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.woken)
    }

    /// Returns the executing CTA, if it is in a cluster.
    pub(crate) fn current(&self) -> Option<ClusterMember> {
        self.current
    }

    /// Returns the shared memory of another CTA in the cluster of the executing one.
    pub(crate) fn shared_of(&mut self, rank: u32) -> Result<&mut [u8], String> {
        let cluster = self.current.and_then(|member| self.running.get_mut(&member.cluster));
        let ctas = cluster.map_or(&mut [][..], |cluster| &mut cluster.ctas[..]);
        let count = ctas.len().max(1);
        match ctas.get_mut(rank as usize) {
            Some(cta) if cta.threads > 0 => Ok(&mut cta.shared),
            Some(_) => Err(format!("needs the shared memory of the cluster's block {rank}, which has ended")),
            None => Err(format!("needs the shared memory of block {rank} of a cluster of {count}")),
        }
    }

    /// Returns whether a CTA in the cluster of the executing one has ended.
    pub(crate) fn has_ended(&self, rank: u32) -> bool {
        let Some(member) = self.current else { return false };
        let cluster = self.running.get(&member.cluster);
        let cta = cluster.and_then(|cluster| cluster.ctas.get(rank as usize));
        cta.is_none_or(|cta| cta.threads == 0)
    }

    /// Records that a phase of an mbarrier has ended in a CTA of the executing one's cluster.
    pub(crate) fn wake(&mut self, rank: u32) {
        let Some(ClusterMember { cluster, .. }) = self.current else { return };
        let name = self.cta(ClusterMember { cluster, rank }).and_then(|cta| cta.name);
        self.woken.extend(name);
    }

    /// Returns the phase of the barrier of the executing CTA's cluster, and the phase that waiting warps see.
    pub(crate) fn phases(&self) -> (u32, u32) {
        let cluster = self.current.and_then(|member| self.running.get(&member.cluster));
        cluster.map_or((0, 0), |cluster| (cluster.phase, cluster.seen))
    }

    /// Counts threads of the executing CTA that arrive at the barrier of its cluster. Returns whether the phase ends.
    pub(crate) fn arrive(&mut self, threads: u32) -> bool {
        let Some(cluster) = self.current.and_then(|member| self.running.get_mut(&member.cluster)) else {
            return false;
        };
        cluster.arrived += threads;
        cluster.end_phase()
    }

    /// Lets the waiting warps of the executing CTA's cluster see that a phase has ended.
    pub(crate) fn show_phase(&mut self) {
        if let Some(cluster) = self.current.and_then(|member| self.running.get_mut(&member.cluster)) {
            cluster.seen = cluster.phase;
            self.woken.extend(cluster.ctas.iter().filter_map(|cta| cta.name));
        }
    }

    /// Counts threads of the executing CTA that exit, and no longer expects them at the barrier. Withdraws the `arrived` arrivals that
    /// these threads made in this phase.
    pub(crate) fn exit(&mut self, threads: u32, arrived: u32) {
        let Some(member) = self.current else { return };
        let Some(cta) = self.cta(member) else { return };
        cta.threads = cta.threads.saturating_sub(threads);
        let Some(cluster) = self.running.get_mut(&member.cluster) else { return };
        cluster.arrived = cluster.arrived.saturating_sub(arrived);
        if cluster.ctas.iter().all(|cta| cta.threads == 0) {
            self.running.remove(&member.cluster);
        } else if cluster.end_phase() {
            self.show_phase();
        }
    }

    fn cta(&mut self, member: ClusterMember) -> Option<&mut MemberCta> {
        self.running.get_mut(&member.cluster)?.ctas.get_mut(member.rank as usize)
    }
}
