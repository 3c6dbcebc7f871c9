//! What a mechanism can do in an SM: the abilities of its part there, one small trait each, and what they see.
//!
//! A part states its abilities by returning itself from the accessors of [`SmPart`]. Every method of an ability is required:
//! the compiler finds what is forgotten. An ability that a part does not have costs nothing.
//!
//! ```text
//!  warps --> memory gate, rank --> LSU (request queues) --> bypass? --> L1D --> stores --> crossbar
//!                                                       fetch, ways |
//!  registers <-- hits <--------------------------------------- placement <-- fills <-- crossbar
//! ```
use crate::cache::Fetched;
use crate::events::BlockOperations;
use crate::packet::Packet;
use crate::pipe_kind::{PIPE_KINDS, PipeKind};
use crate::sm::lsu::InstId;
use crate::sm::scheduler::WarpMask;
use crate::stage::{MechanismFault, Stage};
use crate::stats::{Decision, FailCause, MechanismCounters};
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::Region;
use selvedge_state::State;

/// Writes the accessors of abilities that a part always has, in its `impl SmPart` or `impl PartitionPart`.
///
/// `&` stands before abilities whose methods read only.
#[macro_export]
macro_rules! has {
    ($($accessor:ident: $ability:path),+ $(,)?) => {
        $(fn $accessor(&mut self) -> Option<&mut dyn $ability> {
            Some(self)
        })+
    };
    ($(&$accessor:ident: $ability:path),+ $(,)?) => {
        $(fn $accessor(&self) -> Option<&dyn $ability> {
            Some(self)
        })+
    };
}

/// What a mechanism puts into one SM.
///
/// The accessors are asked once, when the GPU is built: whether a part has an ability does not change.
pub trait SmPart: State + Send {
    /// Runs one core cycle: steps the part's blocks. Called only while it is busy.
    ///
    /// # Errors
    /// A block's model and RTL differ, or a value is wrong; the simulation stops.
    fn tick(&mut self, now: u64, memory: &DeviceMemory) -> Result<(), MechanismFault>;

    /// Returns whether [`SmPart::tick`] must be called in the next cycle.
    fn busy(&self) -> bool;

    /// Returns whether the part holds no request, whatever else it does.
    fn is_drained(&self) -> bool {
        !self.busy()
    }

    /// Returns whether what the part does depends on nothing outside of its SM: neither on values in memory nor on state that it
    /// shares with others. Only then its SM may run on a thread of its own ([`crate::gpu::Gpu::set_threads`]).
    fn stands_alone(&self) -> bool {
        false
    }

    /// Adds the part's counters to the report.
    fn counters(&self, out: &mut MechanismCounters);

    /// Adds what the part's recorded block instances have seen.
    fn traces(&self, out: &mut Vec<Trace>);

    /// Adds the operations of its blocks, by the name of the block: the energy model charges each.
    fn operations(&self, out: &mut BlockOperations) {
        let _ = out;
    }

    /// Observes the L1D.
    fn l1d_observer(&mut self) -> Option<&mut dyn L1dObserver> {
        None
    }

    /// Observes memory instructions.
    fn memory_observer(&mut self) -> Option<&mut dyn MemoryObserver> {
        None
    }

    /// Observes the schedulers.
    fn schedule_observer(&mut self) -> Option<&mut dyn ScheduleObserver> {
        None
    }

    /// Observes warps that end or wait.
    fn warp_observer(&mut self) -> Option<&mut dyn WarpObserver> {
        None
    }

    /// Keeps kernels from issuing memory instructions.
    fn memory_gate(&self) -> Option<&dyn MemoryGate> {
        None
    }

    /// Holds warps while the part is busy.
    fn warp_hold(&self) -> Option<&dyn WarpHold> {
        None
    }

    /// Ranks the kernels' memory instructions. Exclusive.
    fn memory_rank(&self) -> Option<&dyn MemoryRank> {
        None
    }

    /// Orders the memory instructions in the load/store unit. Exclusive.
    fn request_queues(&self) -> Option<&dyn RequestQueues> {
        None
    }

    /// Divides the ways of the L1D among kernels. Exclusive.
    fn ways(&self) -> Option<&dyn Ways> {
        None
    }

    /// Lets loads bypass the L1D. Exclusive.
    fn bypass(&mut self) -> Option<&mut dyn Bypass> {
        None
    }

    /// Lets loads bypass the L1D that lack something there.
    fn failure_bypass(&mut self) -> Option<&mut dyn FailureBypass> {
        None
    }

    /// Chooses the sectors that a miss fetches. Exclusive.
    fn fetch(&mut self) -> Option<&mut dyn FetchSectors> {
        None
    }

    /// Chooses the space that lines take in the L1D. Exclusive.
    fn placement(&mut self) -> Option<&mut dyn Placement> {
        None
    }

    /// Delays read replies before the L1D. Exclusive.
    fn fills(&mut self) -> Option<&mut dyn Stage<Fill>> {
        None
    }

    /// Delays the data of loads behind the L1D. Exclusive.
    fn hits(&mut self) -> Option<&mut dyn Stage<Hit>> {
        None
    }

    /// Delays or changes stores before the miss queue. Exclusive.
    fn stores(&mut self) -> Option<&mut dyn Stage<Packet>> {
        None
    }

    /// Issues instructions of its own. Exclusive.
    fn assist(&mut self) -> Option<&mut dyn AssistIssue> {
        None
    }

    /// Knows results of regions of kernels. Exclusive.
    fn memo(&mut self) -> Option<&mut dyn RegionMemo> {
        None
    }

    /// Prefetches lines into the L1D. Exclusive.
    fn prefetcher(&mut self) -> Option<&mut dyn Prefetcher> {
        None
    }
}

selvedge_state::boxed_state!(dyn SmPart);

/// Observes the L1D.
pub trait L1dObserver {
    /// Called when something happens in the L1D.
    fn l1d_event(&mut self, now: u64, event: &L1dEvent);
}

/// Observes memory instructions.
pub trait MemoryObserver {
    /// Called when something happens to a kernel's memory instructions. A difference that a block shows here is reported by
    /// the next [`SmPart::tick`], for which the part stays busy.
    fn memory_event(&mut self, now: u64, kernel: u8, event: MemoryEvent);

    /// Returns whether every cycle of a reservation failure must be reported, so that the SM must not sleep through them.
    fn watches_failures(&self) -> bool;
}

/// Observes the schedulers.
pub trait ScheduleObserver {
    /// Called when a schedule of a warp has ended: the scheduler switches to another one. It issued in `cycles` cycles from the
    /// former, and chose the latter from `warps` of its warps that could issue.
    fn schedule_ended(&mut self, scheduler: usize, cycles: u64, warps: u32);
}

/// Observes warps that end or wait.
pub trait WarpObserver {
    /// Called with `true` when the warp is at a fence, or has ended as all others of its CTA, whose registers it holds, and waits
    /// until its stores have arrived, and with `false` when they have; nothing may be in flight on its behalf any more.
    fn stores_awaited(&mut self, warp: u8, awaited: bool);

    /// Called when the warp has exited; its slot may have another one from now on.
    fn warp_exited(&mut self, warp: u8);
}

/// Keeps kernels from issuing memory instructions.
pub trait MemoryGate {
    /// Returns whether `kernel` may issue a memory instruction now.
    fn may_issue_memory(&self, kernel: u8) -> bool;
}

/// Holds warps.
pub trait WarpHold {
    /// Returns the warps whose own instructions must wait for the mechanism's; called only while the part is busy.
    fn held_warps(&self) -> WarpMask;
}

/// Ranks the kernels' memory instructions.
pub trait MemoryRank {
    /// Returns the kernel's rank. Of the kernels that have a memory instruction ready, that with the lowest rank alone may
    /// issue one.
    fn rank(&self, kernel: u8) -> u8;
}

/// Orders the memory instructions in the load/store unit.
pub trait RequestQueues {
    /// Returns the queue that a memory instruction of this warp and CTA slot waits in. The load/store unit serves the queue
    /// that it is at until that is empty, then the non-empty one of the lowest number.
    /// [`MemoryEvent::ServedEarly`] reports an instruction that is taken before an earlier one.
    fn request_queue(&self, warp: u8, cta: u8) -> u8;
}

/// Divides the ways of the L1D among kernels.
pub trait Ways {
    /// Returns the ways of each set of the L1D that are this kernel's: with the given number of lines it evicts one of its own, with
    /// fewer one of others. `None`: all ways are everybody's.
    fn ways_of(&self, kernel: u8) -> Option<u32>;
}

/// Lets loads bypass the L1D.
pub trait Bypass {
    /// Returns whether the load bypasses the L1D, without allocating or reserving a line. Called once for each line
    /// transaction of a load that would else be looked up.
    fn bypasses(&mut self, now: u64, load: &Load) -> bool;
}

/// Lets loads bypass the L1D that lack something there.
pub trait FailureBypass {
    /// Returns whether a load that could not reserve what it lacks in the L1D bypasses instead of waiting. Called once for a
    /// line transaction that lacks anything but room in the miss queue, which a load that bypasses needs, too.
    fn bypasses_failure(&mut self, now: u64, load: &Load, cause: FailCause) -> bool;
}

/// Chooses the sectors that a miss fetches.
pub trait FetchSectors {
    /// Returns the sectors that a miss of the L1D fetches: those of `missing`, which were asked for, and any of `absent`, all
    /// that are neither there nor in flight. Called once per miss.
    fn sectors(&mut self, now: u64, load: &Load, missing: u32, absent: u32) -> u32;
}

/// Chooses the space that lines take in the L1D.
pub trait Placement {
    /// Returns the space that a line takes in the L1D from its fill on. Called only where the L1D has more tags than ways.
    fn space(&mut self, line: u64, memory: &DeviceMemory) -> Space;

    /// Returns a line for which [`Space::Later`] was returned, and the sub-blocks that it takes from now on, if it is still
    /// there.
    fn placed(&mut self) -> Option<(u64, u32)>;

    /// Returns a line that the mechanism can no longer read and that leaves the L1D, if it is still there.
    fn stale_line(&mut self) -> Option<u64>;
}

/// Issues instructions of its own.
pub trait AssistIssue {
    /// Returns the instructions that could issue in cycle `now`.
    fn extras(&mut self, now: u64) -> Option<Extras>;

    /// Called when the extra instruction of `warp` issues; returns the cycles for which it takes the banks of shared memory.
    fn issue_extra(&mut self, now: u64, warp: u8) -> u32;

    /// Called when the extra instruction for idle cycles issues.
    fn issue_idle_extra(&mut self, now: u64);

    /// Called when the schedulers have had their turn in this cycle; only while the part is busy.
    fn issue_ended(&mut self, report: &IssueReport);
}

/// Knows results of regions of kernels.
pub trait RegionMemo {
    /// Returns whether the mechanism wants to be asked for the results of region `number` of `kernel` now. Also called when a
    /// warp has come to it that cannot enter it yet.
    fn wants_region(&mut self, now: u64, kernel: u8, number: u16, region: &Region) -> bool;

    /// Called when a warp asks for a region's results, and waits.
    fn region_entered(&mut self, now: u64, entry: RegionEntry);

    /// Returns the next reply to a warp that has asked; called only while the part is busy.
    fn region_reply(&mut self) -> Option<RegionReply>;

    /// Called when a warp whose results are known has gone on behind the region, past the given number of its instructions; `results`
    /// are what its execution gives, a word of all lanes each.
    ///
    /// # Errors
    /// The mechanism's results are others.
    fn region_skipped(&mut self, warp: u8, instructions: u64, results: &[Word])
    -> Result<(), MechanismFault>;

    /// Called when a warp whose results are not known has computed them.
    fn region_computed(&mut self, now: u64, warp: u8, results: Vec<Word>);

    /// Called when so many bytes of the SM's shared memory belong to no CTA from now on.
    fn free_shared_bytes(&mut self, bytes: u32);
}

/// Prefetches lines into the L1D.
pub trait Prefetcher {
    /// Returns the next line to be prefetched, if there is one in cycle `now`. Called only while the part is busy, in cycles in
    /// which the load/store unit leaves the L1D's port free; [`L1dEvent::Prefetch`] reports what becomes of it.
    fn prefetch(&mut self, now: u64) -> Option<Prefetch>;
}

/// A read reply before the L1D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Fill {
    /// The reply.
    pub packet: Packet,
    /// The first warp that waits for it.
    pub warp: u8,
}

/// The data of a load behind the L1D. A hit's leave the L1D's array at the end of the cycle, for a stage that may take them
/// in the next one, in which they would else be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Hit {
    /// The memory instruction.
    pub inst: InstId,
    /// Its warp.
    pub warp: u8,
    /// Byte address of the line.
    pub line: u64,
    /// The load waited for the line, which has just come.
    pub after_fill: bool,
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
#[derive(Clone, Copy, Debug, Default, State)]
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
#[derive(Clone, Debug, PartialEq, Eq, State)]
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

/// The reply to a warp that has asked for a region's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct RegionReply {
    /// Warp slot.
    pub warp: u8,
    /// Whether they are known, in every lane.
    pub is_known: bool,
}

/// A load's line transaction as it comes to the L1D.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
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
    /// CTAs of the launch.
    pub launch_ctas: u64,
    /// Index of the instruction in the kernel's code.
    pub pc: u32,
    /// Byte address of the line.
    pub line: u64,
    /// The sectors that it reads, 32 bytes each.
    pub sectors: u32,
    /// Its place among the instruction's line transactions.
    pub index: u8,
    /// Whether it is the last of them.
    pub last: bool,
}

/// A line that a mechanism wants to have in the L1D before a load asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
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
    /// Dropped: it is in flight.
    UnderWay,
    /// Dropped: an MSHR, a way of its set or room in the miss queue is missing.
    NoRoom(FailCause),
    /// Dropped: the program has no memory there.
    Beyond,
}

/// The space of a line in an L1D with more tags than ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum Space {
    /// It is not compressed.
    Whole,
    /// So many sub-blocks of 32 bytes, at least one.
    SubBlocks(u32),
    /// It waits in the compressor, from where it can be read; [`Placement::placed`] returns it.
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
    /// A miss has fetched sectors, as [`FetchSectors::sectors`] or the configuration chose them.
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
    /// [`RequestQueues`] made the load/store unit take the instruction before an earlier one.
    ServedEarly,
}
