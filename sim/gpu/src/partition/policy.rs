//! What a mechanism adds to an L2 partition: the points at which it plugs in. The base GPU uses [`NoPolicy`].
//!
//! ```text
//!  requests --> write_enter ~> write_leave --> L2 --> evict_enter ~> evict_leave --> write_plan --> DRAM
//!  replies  <-- reply <----------------------- L2 <-- fill_leave  <~ fill_enter  <-- DRAM <------- read_plan
//! ```
use crate::cache::{Fetched, LinePart, SECTOR_BYTES};
use crate::events::CodecEvents;
use crate::packet::Packet;
use crate::stats::MechanismCounters;
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;

/// Why a mechanism stops the simulation: a lock-step difference, say.
pub type MechanismFault = Box<dyn std::error::Error + Send + Sync>;

/// What an access to DRAM costs. Metadata addresses are byte addresses within the partition's channel (see
/// [`super::AddressMap::local`] for those of data).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DramPlan {
    /// Bursts of data, 1 to line size / burst size.
    pub bursts: u32,
    /// A metadata burst to read. A read of data waits for it, since its number of bursts is not known before
    /// (CABA, section 5.3.2); a write does not. Requests for a burst that is already on its way share it.
    pub metadata: Option<u64>,
    /// A metadata burst to write: a dirty entry that left the metadata cache.
    pub metadata_writeback: Option<u64>,
}

/// The answer of a stage that is offered a line or a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The stage does not concern it: it goes on at once.
    Through,
    /// It is inside and comes out by the matching `leave`.
    Taken,
    /// No room: offered again in the next cycle.
    Full,
}

/// What happens in an L2 slice. Sectors that an L1D asks for are asked for, whether its warps want them or it fetches them
/// by a prediction of its own (LAMAR, section 5.1, footnote 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum L2Event {
    /// A miss has fetched sectors, as [`PartitionPolicy::fetch`] or the configuration chose them.
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

/// A mechanism in one L2 partition. Methods are called in L2 cycles, at most once per cycle each but for the plans.
pub trait PartitionPolicy {
    /// One L2 cycle: steps the policy's hardware blocks. Called before the partition's own work of the cycle, and
    /// only while the partition or the policy is busy.
    ///
    /// # Errors
    /// What the mechanism finds wrong; it stops the simulation.
    fn tick(&mut self, now: u64, memory: &DeviceMemory) -> Result<(), MechanismFault> {
        let _ = (now, memory);
        Ok(())
    }

    /// Does the policy hold lines or packets, or need its cycles?
    fn busy(&self) -> bool {
        false
    }

    /// The sectors that a miss of the L2 fetches: those of `missing`, which were asked for, and any of `absent`, all of its
    /// line that are neither there nor on their way. `None` leaves it to the configuration. Asked once per miss.
    fn fetch(&mut self, now: u64, missing: LinePart, absent: u32) -> Option<u32> {
        let _ = (now, missing, absent);
        None
    }

    /// Tags for each way of the slice. With more than one its data are given out in sub-blocks of 32 bytes.
    fn tags_per_way(&self) -> u32 {
        1
    }

    /// Sub-blocks that a line takes in the slice from its fill or a write on. Asked only where there are more tags than ways.
    fn room(&mut self, line: u64, memory: &DeviceMemory) -> Option<u32> {
        let _ = (line, memory);
        None
    }

    /// Something happened in the L2 slice.
    fn l2_event(&mut self, now: u64, event: &L2Event) {
        let _ = (now, event);
    }

    /// Sectors of a line, all of them without sectors, are to be read from DRAM. Called once per miss.
    fn read_plan(&mut self, part: LinePart, memory: &DeviceMemory) -> DramPlan;

    /// The dirty sectors of a line are to be written to DRAM. Called once per line that leaves.
    fn write_plan(&mut self, part: LinePart, memory: &DeviceMemory) -> DramPlan;

    /// The metadata burst at `address` that a plan asked for has been read.
    fn metadata_arrived(&mut self, address: u64) {
        let _ = address;
    }

    /// Sectors of a line have come from DRAM on their way into the L2.
    fn fill_enter(&mut self, part: LinePart, memory: &DeviceMemory) -> Stage {
        let _ = (part, memory);
        Stage::Through
    }

    /// The next line's sectors that leave the fill stage.
    fn fill_leave(&mut self) -> Option<LinePart> {
        None
    }

    /// A line's dirty sectors have left the L2 on their way to DRAM.
    fn evict_enter(&mut self, part: LinePart, memory: &DeviceMemory) -> Stage {
        let _ = (part, memory);
        Stage::Through
    }

    /// The next line's sectors that leave the eviction stage.
    fn evict_leave(&mut self) -> Option<LinePart> {
        None
    }

    /// A write is about to enter the L2.
    fn write_enter(&mut self, packet: &Packet, memory: &DeviceMemory) -> Stage {
        let _ = (packet, memory);
        Stage::Through
    }

    /// The next write that leaves the write stage.
    fn write_leave(&mut self) -> Option<Packet> {
        None
    }

    /// A read's answer is about to wait for the crossbar: may shrink its `data_bytes` and set its `payload`. `is_hit` says
    /// that it did not have to wait for its line.
    fn reply(&mut self, packet: &mut Packet, is_hit: bool, memory: &DeviceMemory) {
        let _ = (packet, is_hit, memory);
    }

    /// Adds the lines that its dedicated codecs have compressed and decompressed.
    fn codec_events(&self, out: &mut CodecEvents) {
        let _ = out;
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

/// No mechanism: all sectors move as they are, and nothing is in the way.
#[derive(Clone, Copy, Debug)]
pub struct NoPolicy {
    /// Bytes of a DRAM burst.
    pub burst_bytes: u32,
}

impl NoPolicy {
    fn plan(self, part: LinePart) -> DramPlan {
        let bursts = part.count() * SECTOR_BYTES / self.burst_bytes;
        DramPlan { bursts, metadata: None, metadata_writeback: None }
    }
}

impl PartitionPolicy for NoPolicy {
    fn read_plan(&mut self, part: LinePart, _: &DeviceMemory) -> DramPlan {
        self.plan(part)
    }

    fn write_plan(&mut self, part: LinePart, _: &DeviceMemory) -> DramPlan {
        self.plan(part)
    }
}
