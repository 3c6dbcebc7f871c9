//! What a mechanism may add to an SM, at named points of its memory path.
use crate::cache::Fetched;
use crate::events::CodecEvents;
use crate::packet::Packet;
use crate::partition::{MechanismFault, Stage};
use crate::sm::lsu::InstId;
use crate::sm::pipes::{PIPE_KINDS, PipeKind};
use crate::sm::scheduler::WarpMask;
use crate::stats::MechanismCounters;
use crate::stats::{Decision, FailCause};
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::Region;

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

    /// Does the mechanism hold no request, whatever else it does?
    fn is_drained(&self) -> bool {
        !self.busy()
    }

    /// Is [`SmPolicy::schedule_ended`] to be called?
    fn watches_schedules(&self) -> bool {
        false
    }

    /// A schedule of a warp has ended: a run of consecutive cycles in which the scheduler issued from it alone. `warps` of
    /// the scheduler's warps could issue in the cycle after it.
    fn schedule_ended(&mut self, scheduler: usize, cycles: u64, warps: u32) {
        let _ = (scheduler, cycles, warps);
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

    /// Shall a load that could not reserve what it lacks in the L1D pass by instead of waiting? Asked once for a line
    /// transaction that lacks anything but room in the miss queue, which a load that passes by needs, too.
    fn bypasses_failure(&mut self, now: u64, load: &Load, cause: FailCause) -> bool {
        let _ = (now, load, cause);
        false
    }

    /// The queue that a memory instruction of this warp and CTA slot waits in. The load/store unit goes on with the queue
    /// that it is at until that is empty, then with the non-empty one of the lowest number. `None`: one queue for all.
    fn request_queue(&self, warp: u8, cta: u8) -> Option<u8> {
        let _ = (warp, cta);
        None
    }

    /// [`SmPolicy::request_queue`] has made the load/store unit take an instruction before an earlier one.
    fn served_early(&mut self) {}

    /// Ways of each set of the L1D that are this kernel's: with so many lines it evicts one of its own, with fewer one of
    /// others. `None`: all ways are everybody's.
    fn ways(&self, kernel: u8) -> Option<u32> {
        let _ = kernel;
        None
    }

    /// The sectors that a miss of the L1D fetches: those of `missing`, which were asked for, and any of `absent`, all that
    /// are neither there nor on their way. `None` leaves it to the configuration. Asked once per miss.
    fn fetch(&mut self, now: u64, load: &Load, missing: u32, absent: u32) -> Option<u32> {
        let _ = (now, load, missing, absent);
        None
    }

    /// The room that a line takes in the L1D from its fill on. Asked only where the L1D has more tags than ways.
    fn room(&mut self, line: u64, memory: &DeviceMemory) -> Room {
        let _ = (line, memory);
        Room::Whole
    }

    /// A line for which [`Room::Later`] was said, and the sub-blocks that it takes from now on, if it is still there.
    fn placement(&mut self) -> Option<(u64, u32)> {
        None
    }

    /// A line that the mechanism can no longer read and that leaves the L1D, if it is still there.
    fn stale_line(&mut self) -> Option<u64> {
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

    /// The data of a hit leave the L1D's array at the end of this cycle (for a decompressor, say, that may take them in
    /// the next one, in which they would else be there). `warp` is the load's.
    fn hit_enter(&mut self, now: u64, inst: InstId, warp: u8, line: u64, memory: &DeviceMemory) -> Stage {
        let _ = (now, inst, warp, line, memory);
        Stage::Through
    }

    /// A load's line has come into the L1D. What is taken leaves as a hit does; only where hits pass the mechanism.
    fn woken_enter(&mut self, now: u64, inst: InstId, warp: u8, line: u64) -> Stage {
        let _ = (now, inst, warp, line);
        Stage::Through
    }

    /// The next hit that has passed the mechanism.
    fn hit_leave(&mut self) -> Option<InstId> {
        None
    }

    /// A read reply on its way into the L1D (a decompressor, say); `warp` is the first that waits for it.
    fn fill_enter(&mut self, packet: &Packet, warp: u8, memory: &DeviceMemory) -> Stage {
        let _ = (packet, warp, memory);
        Stage::Through
    }

    /// A read reply that has passed the mechanism.
    fn fill_leave(&mut self) -> Option<Packet> {
        None
    }

    /// A store on its way to the miss queue (a compressor, say). A stage that takes no time may shrink its `data_bytes`,
    /// set its `payload` and let it through.
    fn store_enter(&mut self, now: u64, packet: &mut Packet, memory: &DeviceMemory) -> Stage {
        let _ = (now, packet, memory);
        Stage::Through
    }

    /// A store that has passed the mechanism; asked for only when the miss queue has room.
    fn store_leave(&mut self) -> Option<Packet> {
        None
    }

    /// Instructions of the mechanism's own that could issue in cycle `now`.
    fn extras(&self, now: u64) -> Option<Extras> {
        let _ = now;
        None
    }

    /// Is the mechanism asked for the results of regions?
    fn memoizes(&self) -> bool {
        false
    }

    /// Does the mechanism want to be asked for the results of region `number` of `kernel` now? Also asked when a warp has come
    /// to it that cannot enter it yet.
    fn wants_region(&self, now: u64, kernel: u8, number: u16, region: &Region) -> bool {
        let _ = (now, kernel, number, region);
        false
    }

    /// A warp asks for a region's results, and waits.
    fn region_enter(&mut self, now: u64, entry: RegionEntry) {
        let _ = (now, entry);
    }

    /// The next answer to a warp that has asked; only asked for while the mechanism is busy.
    fn region_answer(&mut self) -> Option<RegionAnswer> {
        None
    }

    /// A warp that was told that its results are known has gone on behind the region, past so many of its instructions;
    /// `results` are what its execution gives, a word of all lanes each.
    ///
    /// # Errors
    /// The mechanism's are others.
    fn region_skipped(
        &mut self,
        warp: u8,
        instructions: u64,
        results: &[Word],
    ) -> Result<(), MechanismFault> {
        let _ = (warp, instructions, results);
        Ok(())
    }

    /// A warp that was told that its results are not known has computed them.
    fn region_left(&mut self, now: u64, warp: u8, results: Vec<Word>) {
        let _ = (now, warp, results);
    }

    /// So many bytes of the SM's shared memory belong to no CTA from now on.
    fn shared_left(&mut self, bytes: u32) {
        let _ = bytes;
    }

    /// Warps whose own instructions must wait for the mechanism's; only asked while it is busy.
    fn held_warps(&self) -> WarpMask {
        0
    }

    /// The extra instruction of `warp` issues; gives the cycles for which it takes the banks of shared memory.
    fn issue_extra(&mut self, now: u64, warp: u8) -> u32 {
        let _ = (now, warp);
        0
    }

    /// The extra instruction for idle cycles issues.
    fn issue_idle_extra(&mut self, now: u64) {
        let _ = now;
    }

    /// The next line to be prefetched, if there is one in cycle `now`. Only asked while the mechanism is busy, in cycles in which
    /// the load/store unit leaves the L1D's port free; [`L1dEvent::Prefetch`] tells what has become of it.
    fn prefetch(&mut self, now: u64) -> Option<Prefetch> {
        let _ = now;
        None
    }

    /// The schedulers have had their turn in this cycle; only called while the mechanism is busy.
    fn issue_ended(&mut self, report: &IssueReport) {
        let _ = report;
    }

    /// `true`: the warp has ended or is at a fence and waits until its stores have arrived. `false`: they have, and
    /// nothing may be under way on its behalf any more.
    fn stores_awaited(&mut self, warp: u8, awaited: bool) {
        let _ = (warp, awaited);
    }

    /// The warp has left the SM; its slot may have another one from now on.
    fn warp_left(&mut self, warp: u8) {
        let _ = warp;
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

/// Instructions that a mechanism wants to issue besides those of the warps. They take a scheduler's issue slot and a pipe;
/// what they do and when their results are there is the mechanism's matter.
#[derive(Clone, Copy, Debug)]
pub struct Extras {
    /// Warps with such an instruction ready to issue in place of their own, by the pipe that it needs.
    pub ready: [WarpMask; PIPE_KINDS],
    /// The pipe of one that issues only when a scheduler has nothing else.
    pub idle: Option<PipeKind>,
}

/// How the SM's issue went in a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct IssueReport {
    /// No pipe of the kind accepts another warp in this cycle.
    pub busy: [bool; PIPE_KINDS],
    /// No scheduler has issued, but perhaps an extra instruction for idle cycles.
    pub idle: bool,
    /// Loads and stores wait in the L1D: for an MSHR, say, or in the miss queue, or more than half of the MSHRs are taken.
    pub memory_waits: bool,
}

/// A 32-bit word in all lanes of a warp.
pub type Word = [u32; 32];

/// A warp that asks for a region's results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionEntry {
    /// Kernel slot.
    pub kernel: u8,
    /// Warp slot.
    pub warp: u8,
    /// Number of the region in the kernel.
    pub region: u16,
    /// The lanes that enter it.
    pub mask: u32,
    /// What its results depend on.
    pub inputs: Vec<Word>,
    /// Words of its results.
    pub results: usize,
}

/// What a warp is told that has asked for a region's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionAnswer {
    /// Warp slot.
    pub warp: u8,
    /// Are they known, in every lane?
    pub is_known: bool,
}

/// A load's line transaction as it comes to the L1D.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Kernel slot.
    pub kernel: u8,
    /// Warp slot.
    pub warp: u8,
    /// Number of the warp in its CTA.
    pub warp_of_cta: u8,
    /// CTA slot.
    pub cta: u8,
    /// CTAs on the SM.
    pub resident_ctas: u8,
    /// Index of the instruction in the kernel's code.
    pub pc: u32,
    /// Byte address of the line.
    pub line: u64,
    /// The sectors that it reads, 32 bytes each.
    pub sectors: u32,
    /// Its place among the instruction's line transactions.
    pub index: u8,
    /// Is it the last of them?
    pub last: bool,
}

/// A line that a mechanism wants to have in the L1D before a load asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefetch {
    /// Kernel slot.
    pub kernel: u8,
    /// The warp slot on whose behalf.
    pub warp: u8,
    /// Byte address of the line.
    pub line: u64,
}

/// What has become of a prefetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefetched {
    /// A miss was sent, for which nobody waits.
    Sent,
    /// Dropped: the line, or some of its sectors, is there.
    Present,
    /// Dropped: it is on its way.
    UnderWay,
    /// Dropped: an MSHR, a way of its set or room in the miss queue is missing.
    NoRoom(FailCause),
    /// Dropped: the program has no memory there.
    Beyond,
}

/// The room of a line in an L1D with more tags than ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// It is not compressed.
    Whole,
    /// So many sub-blocks of 32 bytes, at least one.
    SubBlocks(u32),
    /// It waits in the compressor, from where it can be read; [`SmPolicy::placement`] tells.
    Later,
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
    /// A prefetch was decided.
    Prefetch {
        /// Byte address of the line.
        line: u64,
        /// What has become of it.
        outcome: Prefetched,
    },
    /// A miss has fetched sectors, as [`SmPolicy::fetch`] or the configuration chose them.
    Fetched(Fetched),
    /// A load is the first to ask for so many 32-byte sectors that were fetched by a prediction.
    PredictionUsed(u32),
    /// A line has left.
    Evicted {
        /// Byte address of the line.
        line: u64,
        /// 32-byte sectors that loads have asked for since it came.
        used: u32,
    },
    /// The data of a miss have come.
    Returned {
        /// Core cycles since the miss.
        cycles: u64,
    },
    /// Every line of a program, or of all, has left at the start of a kernel.
    Flushed {
        /// The program.
        program: Option<u8>,
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
