//! The interface of a mechanism's part in an L2 slice: one small trait for each ability.
//!
//! ```text
//!  requests --> writes --> L2 --> evictions --> write plan --> DRAM
//!  replies  <-- reply  <-- L2 <-- fills <------ DRAM <------- read plan
//! ```
use crate::cache::{Fetched, LinePart};
use crate::events::{BlockOperations, LineBursts};
use crate::packet::Packet;
use crate::stage::{MechanismFault, Stage};
use crate::stats::MechanismCounters;
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;

/// The cost of an access to DRAM. Metadata addresses are byte addresses within the partition's channel, as
/// [`super::AddressMap::local`] returns them for data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct DramPlan {
    /// Bursts of data, from 1 to line size / burst size.
    pub bursts: u32,
    /// A metadata burst to read. A read of data waits for it, because its number of bursts is unknown before (CABA, section
    /// 5.3.2). A write does not wait. Requests for a burst that is already in flight share it.
    pub metadata: Option<u64>,
    /// A metadata burst to write, for a dirty entry evicted from the metadata cache.
    pub metadata_writeback: Option<u64>,
}

/// An event in an L2 slice. Sectors count as requested if an L1D requests them, also if the L1D predicts that its warps need them
/// (LAMAR, section 5.1, footnote 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum L2Event {
    /// A miss has fetched sectors, chosen by [`L2FetchSectors::sectors`] or by the configuration.
    Fetched(Fetched),
    /// A request is the first to use this number of 32-byte sectors that a prediction has fetched.
    PredictionUsed(u32),
    /// A line was evicted.
    Evicted {
        /// Byte address of the line.
        line: u64,
        /// 32-byte sectors that requests have read or written since the line's allocation.
        used: u32,
    },
}

/// A mechanism's part in one L2 slice. Each method is called at most once per L2 cycle, except for the DRAM plans.
///
/// The accessors are called once, when the GPU is built. A part must not gain or lose an ability later.
pub trait SlicePart: State + Send {
    /// Runs one L2 cycle of the part's blocks. Called before the slice's own work of the cycle, and only while the slice or a
    /// part is busy.
    ///
    /// # Errors
    /// Returns the error that the mechanism detected; it ends the simulation.
    fn tick(&mut self, now: u64, memory: &DeviceMemory) -> Result<(), MechanismFault> {
        let _ = (now, memory);
        Ok(())
    }

    /// Returns whether the part holds lines or packets, or needs to run in the next cycle.
    fn busy(&self) -> bool {
        false
    }

    /// Adds the part's counters to the report.
    fn counters(&self, out: &mut MechanismCounters) {
        let _ = out;
    }

    /// Adds the traces of the part's recorded block instances.
    fn traces(&self, out: &mut Vec<Trace>) {
        let _ = out;
    }

    /// Adds the operations of the part's blocks, by block name. The energy model charges each operation.
    fn operations(&self, out: &mut BlockOperations) {
        let _ = out;
    }

    /// Returns the bursts of the lines that the part stores in DRAM in another form. A conservation law compares them with the
    /// bursts that DRAM moved.
    fn line_bursts(&self) -> Option<LineBursts> {
        None
    }

    /// Observes the L2 slice.
    fn observer(&mut self) -> Option<&mut dyn L2Observer> {
        None
    }

    /// Chooses the sectors that a miss fetches. Exclusive.
    fn fetch(&mut self) -> Option<&mut dyn L2FetchSectors> {
        None
    }

    /// Stores more lines than ways in the slice. Exclusive.
    fn placement(&mut self) -> Option<&mut dyn L2Placement> {
        None
    }

    /// States the cost of accesses to DRAM. Exclusive.
    fn dram(&mut self) -> Option<&mut dyn DramPlans> {
        None
    }

    /// Delays lines between DRAM and the L2. Exclusive.
    fn fills(&mut self) -> Option<&mut dyn Stage<L2Fill>> {
        None
    }

    /// Delays dirty lines between the L2 and DRAM. Exclusive.
    fn evictions(&mut self) -> Option<&mut dyn Stage<Eviction>> {
        None
    }

    /// Delays writes before the L2. Exclusive.
    fn writes(&mut self) -> Option<&mut dyn Stage<Packet>> {
        None
    }

    /// Changes replies to reads. Exclusive.
    fn replies(&mut self) -> Option<&mut dyn Replies> {
        None
    }
}

selvedge_state::boxed_state!(dyn SlicePart);

/// Observes the events of an L2 slice.
pub trait L2Observer {
    /// Handles an event in the L2 slice.
    fn l2_event(&mut self, now: u64, event: &L2Event);
}

/// Chooses the sectors that a miss fetches. The part also sees the misses, and as an [`L2Observer`] the fetches and evictions, of
/// accesses that execute without timing (`run --intervals`).
pub trait L2FetchSectors {
    /// Returns the sectors that an L2 miss fetches: all requested ones in `missing`, and any of `absent`. `absent` are all
    /// sectors of the line that are neither valid nor in flight. Called once per miss.
    fn sectors(&mut self, now: u64, missing: LinePart, absent: u32) -> u32;
}

/// Stores more lines than ways in the slice, whose data are then allocated in sub-blocks of 32 bytes.
pub trait L2Placement {
    /// Returns the number of tags for each way of the slice. Called once.
    fn tags_per_way(&self) -> u32;

    /// Returns the sub-blocks that a line occupies in the slice after a fill or a write. Called only if the slice has more tags
    /// than ways.
    fn sub_blocks(&mut self, line: u64, memory: &DeviceMemory) -> u32;
}

/// States the cost of accesses to DRAM.
pub trait DramPlans {
    /// Returns the cost of reading the sectors of `part` from DRAM. Called once per miss.
    fn read_plan(&mut self, part: LinePart, memory: &DeviceMemory) -> DramPlan;

    /// Returns the cost of writing the dirty sectors of `part` to DRAM. Called once per evicted line.
    fn write_plan(&mut self, part: LinePart, memory: &DeviceMemory) -> DramPlan;

    /// Handles the arrival of the metadata burst at `address` that a plan requested.
    fn metadata_arrived(&mut self, address: u64);

    /// Handles an access of the L2 to a line in DRAM that executes without timing (`run --intervals`).
    fn untimed_access(&mut self, line: u64);
}

/// Changes the replies to reads.
pub trait Replies {
    /// Handles a read's reply before it waits for the crossbar. May reduce its `data_bytes` and set its `payload`. `is_hit`: the
    /// read did not wait for its line.
    fn reply(&mut self, packet: &mut Packet, is_hit: bool, memory: &DeviceMemory);
}

/// Sectors of a line in flight from DRAM to the L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct L2Fill(pub LinePart);

/// Dirty sectors of a line in flight from the L2 to DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Eviction(pub LinePart);
