//! What a mechanism may add to an SM, at named points of its memory path.
use crate::mechanism::MechanismCounters;
use crate::memory::DeviceMemory;
use crate::packet::Packet;
use crate::partition::{MechanismFault, Stage};
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
