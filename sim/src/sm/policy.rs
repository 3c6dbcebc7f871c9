//! What a mechanism may add to an SM, at named points of its memory path.
use crate::mechanism::MechanismCounters;
use crate::memory::DeviceMemory;
use crate::packet::Packet;
use crate::partition::{MechanismFault, Stage};
use crate::sm::lsu::InstId;
use crate::stats::Decision;
use selvedge_hw::wave::Trace;

/// A mechanism's share of one SM. The base SM uses [`NoSmPolicy`] and does not know which mechanism is there.
pub trait SmPolicy {
    /// One core cycle; steps the mechanism's hardware blocks.
    ///
    /// # Errors
    /// A block's model and RTL differ.
    fn tick(&mut self, now: u64, memory: &DeviceMemory) -> Result<(), MechanismFault> {
        let _ = (now, memory);
        Ok(())
    }

    /// Must [`SmPolicy::tick`] be called in the next cycle?
    fn busy(&self) -> bool {
        false
    }

    /// May `kernel` issue a memory instruction now?
    fn may_issue_memory(&self, kernel: u8) -> bool {
        let _ = kernel;
        true
    }

    /// Does the mechanism rank the kernels by [`SmPolicy::memory_rank`]?
    fn ranks_memory(&self) -> bool {
        false
    }

    /// Of the kernels that have a memory instruction ready, that with the lowest rank alone may issue one.
    fn memory_rank(&self, kernel: u8) -> u8 {
        let _ = kernel;
        0
    }

    /// Something happened to a kernel's memory instructions in cycle `now`. A difference that a block shows here is
    /// reported by the next [`SmPolicy::tick`], for which the mechanism stays busy.
    fn memory_event(&mut self, now: u64, kernel: u8, event: MemoryEvent) {
        let _ = (now, kernel, event);
    }

    /// Must every cycle of a reservation failure be reported, so that the SM must not sleep through them?
    fn watches_failures(&self) -> bool {
        false
    }

    /// Shall this load pass by the L1D, without allocating or reserving a line? Asked once for each line transaction of a
    /// load that would else be looked up.
    fn bypasses(&mut self, now: u64, load: &Load) -> bool {
        let _ = (now, load);
        false
    }

    /// The sectors that a miss of the L1D fetches: those of `missing`, which were asked for, and any of `absent`, all that
    /// are neither there nor on their way. `None` leaves it to the configuration. Asked once per miss.
    fn fetch(&mut self, now: u64, load: &Load, missing: u32, absent: u32) -> Option<u32> {
        let _ = (now, load, missing, absent);
        None
    }

    /// Sub-blocks of 32 bytes, at least one, that a line takes in the L1D from its fill on; `None` when it is not
    /// compressed. Asked only where the L1D has more tags than ways.
    fn sub_blocks(&mut self, line: u64, memory: &DeviceMemory) -> Option<u32> {
        let _ = (line, memory);
        None
    }

    /// Something happened in the L1D.
    fn l1d_event(&mut self, now: u64, event: &L1dEvent) {
        let _ = (now, event);
    }

    /// Do hits pass the mechanism? Only then are [`SmPolicy::hit_enter`] and [`SmPolicy::hit_leave`] called.
    fn takes_hits(&self) -> bool {
        false
    }

    /// The data of a hit have left the L1D's array after its hit latency (for a decompressor, say).
    fn hit_enter(&mut self, inst: InstId, line: u64, memory: &DeviceMemory) -> Stage {
        let _ = (inst, line, memory);
        Stage::Through
    }

    /// The next hit that has passed the mechanism.
    fn hit_leave(&mut self) -> Option<InstId> {
        None
    }

    /// A read reply on its way into the L1D (a decompressor, say).
    fn fill_enter(&mut self, packet: &Packet, memory: &DeviceMemory) -> Stage {
        let _ = (packet, memory);
        Stage::Through
    }

    /// A read reply that has passed the mechanism.
    fn fill_leave(&mut self) -> Option<Packet> {
        None
    }

    /// A store on its way to the miss queue (a compressor, say).
    fn store_enter(&mut self, packet: &Packet, memory: &DeviceMemory) -> Stage {
        let _ = (packet, memory);
        Stage::Through
    }

    /// A store that has passed the mechanism; asked for only when the miss queue has room.
    fn store_leave(&mut self) -> Option<Packet> {
        None
    }

    /// Adds this mechanism's counters to the report.
    fn counters(&self, out: &mut MechanismCounters) {
        let _ = out;
    }

    /// What the mechanism's recorded block instances have seen.
    fn traces(&self, out: &mut Vec<Trace>) {
        let _ = out;
    }
}

/// A load's line transaction as it comes to the L1D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Kernel slot.
    pub kernel: u8,
    /// Warp slot.
    pub warp: u8,
    /// Index of the instruction in the kernel's code.
    pub pc: u32,
    /// Byte address of the line.
    pub line: u64,
    /// The sectors that it reads, 32 bytes each.
    pub sectors: u32,
}

/// What happens in an L1D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum L1dEvent {
    /// A load was decided.
    Load {
        /// The load.
        load: Load,
        /// What was found.
        decision: Decision,
    },
    /// A line has left.
    Evicted {
        /// Byte address of the line.
        line: u64,
        /// Sectors that loads have asked for since it came.
        used: u32,
    },
}

/// What happens to a kernel's memory instructions in an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryEvent {
    /// A memory instruction has issued to the L1D path.
    Issued,
    /// Its data are there (loads, atomics), or its last transaction has left for the L2 (stores).
    Completed,
    /// A line transaction was decided by the L1D: one request.
    Request,
    /// A line transaction could not be decided in this cycle.
    ReservationFailure,
}

/// No mechanism.
pub struct NoSmPolicy;

impl SmPolicy for NoSmPolicy {}
