//! What a mechanism can do in an L2 partition: the abilities of its part there, one small trait each.
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

/// What an access to DRAM costs. Metadata addresses are byte addresses within the partition's channel (see
/// [`super::AddressMap::local`] for those of data).
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct DramPlan {
    /// Bursts of data, 1 to line size / burst size.
    pub bursts: u32,
    /// A metadata burst to read. A read of data waits for it, since its number of bursts is not known before
    /// (CABA, section 5.3.2); a write does not. Requests for a burst that is already in flight share it.
    pub metadata: Option<u64>,
    /// A metadata burst to write: a dirty entry that left the metadata cache.
    pub metadata_writeback: Option<u64>,
}

/// What happens in an L2 slice. Sectors that an L1D asks for are asked for, whether its warps want them or it fetches them
/// by a prediction of its own (LAMAR, section 5.1, footnote 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum L2Event {
    /// A miss has fetched sectors, as [`FetchSectors::sectors`] or the configuration chose them.
    Fetched(Fetched),
    /// A request is the first to ask for so many 32-byte sectors that were fetched by a prediction.
    PredictionUsed(u32),
    /// A line has left.
    Evicted {
        /// Byte address of the line.
        line: u64,
        /// 32-byte sectors that requests have read or written since it came.
        used: u32,
    },
}

/// What a mechanism puts into one L2 partition. Methods are called in L2 cycles, at most once per cycle each but for the
/// plans.
///
/// The accessors are asked once, when the GPU is built: whether a part has an ability does not change.
pub trait PartitionPart: State + Send {
    /// Runs one L2 cycle: steps the part's blocks. Called before the partition's own work of the cycle, and only while the
    /// partition or a part is busy.
    ///
    /// # Errors
    /// What the mechanism finds wrong; the simulation stops.
    fn tick(&mut self, now: u64, memory: &DeviceMemory) -> Result<(), MechanismFault>;

    /// Returns whether the part holds lines or packets, or needs its cycles.
    fn busy(&self) -> bool;

    /// Adds the part's counters to the report.
    fn counters(&self, out: &mut MechanismCounters);

    /// Adds what the part's recorded block instances have seen.
    fn traces(&self, out: &mut Vec<Trace>);

    /// Adds the operations of its blocks, by the name of the block: the energy model charges each.
    fn operations(&self, out: &mut BlockOperations) {
        let _ = out;
    }

    /// Returns the bursts of the lines that it keeps in DRAM in a form of its own: a conservation law compares them with
    /// those that DRAM moved.
    fn line_bursts(&self) -> Option<LineBursts> {
        None
    }

    /// Observes the L2 slice.
    fn observer(&mut self) -> Option<&mut dyn L2Observer> {
        None
    }

    /// Chooses the sectors that a miss fetches. Exclusive.
    fn fetch(&mut self) -> Option<&mut dyn FetchSectors> {
        None
    }

    /// Keeps more lines than ways in the slice. Exclusive.
    fn placement(&mut self) -> Option<&mut dyn Placement> {
        None
    }

    /// States what accesses to DRAM cost. Exclusive.
    fn dram(&mut self) -> Option<&mut dyn DramPlans> {
        None
    }

    /// Delays lines between DRAM and the L2. Exclusive.
    fn fills(&mut self) -> Option<&mut dyn Stage<Fill>> {
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

selvedge_state::boxed_state!(dyn PartitionPart);

/// Observes the L2 slice.
pub trait L2Observer {
    /// Called when something happens in the L2 slice.
    fn l2_event(&mut self, now: u64, event: &L2Event);
}

/// Chooses the sectors that a miss fetches.
pub trait FetchSectors {
    /// Returns the sectors that a miss of the L2 fetches: those of `missing`, which were asked for, and any of `absent`, all of
    /// its line that are neither there nor in flight. Called once per miss.
    fn sectors(&mut self, now: u64, missing: LinePart, absent: u32) -> u32;
}

/// Keeps more lines than ways in the slice, whose data are then given out in sub-blocks of 32 bytes.
pub trait Placement {
    /// Returns the tags for each way of the slice; called once.
    fn tags_per_way(&self) -> u32;

    /// Returns the sub-blocks that a line takes in the slice from its fill or a write on. Called only where there are more
    /// tags than ways.
    fn sub_blocks(&mut self, line: u64, memory: &DeviceMemory) -> u32;
}

/// States what accesses to DRAM cost.
pub trait DramPlans {
    /// Returns what reading these sectors of a line from DRAM costs, all of them without sectors. Called once per miss.
    fn read_plan(&mut self, part: LinePart, memory: &DeviceMemory) -> DramPlan;

    /// Returns what writing the dirty sectors of a line to DRAM costs. Called once per line that is evicted.
    fn write_plan(&mut self, part: LinePart, memory: &DeviceMemory) -> DramPlan;

    /// Called when the metadata burst at `address` that a plan asked for has been read.
    fn metadata_arrived(&mut self, address: u64);
}

/// Changes replies to reads.
pub trait Replies {
    /// Called before a read's reply waits for the crossbar: may shrink its `data_bytes` and set its `payload`. `is_hit` says
    /// that it did not have to wait for its line.
    fn reply(&mut self, packet: &mut Packet, is_hit: bool, memory: &DeviceMemory);
}

/// Sectors of a line between DRAM and the L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Fill(pub LinePart);

/// Dirty sectors of a line between the L2 and DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Eviction(pub LinePart);
