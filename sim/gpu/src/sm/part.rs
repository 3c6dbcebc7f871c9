//! The interface of a mechanism's part in an SM: one small trait for each ability, and the data that they exchange.
//!
//! A part states its abilities by returning itself from the accessors of [`SmPart`]. Every method of an ability is required, so
//! that the compiler reports missing ones. An ability that no part has costs no time.
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
use crate::sm::scheduler::WarpMask;
use crate::sm::token::InstId;
use crate::stage::{MechanismFault, Stage};
use crate::stats::{AccessResult, FailCause, MechanismCounters};
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::KernelRegion;
use selvedge_state::State;

/// Writes the accessors of abilities that a part always has, in its `impl SmPart` or `impl SlicePart`.
///
/// Write `&` before abilities whose methods take `&self` only.
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

/// A mechanism's part in one SM.
///
/// The accessors are called once, when the GPU is built. A part must not gain or lose an ability later.
pub trait SmPart: State + Send {
    /// Runs one core cycle of the part's blocks. Called only while the part is busy.
    ///
    /// # Errors
    /// Returns an error if a block's model and RTL differ or a value is wrong; it ends the simulation.
    fn tick(&mut self, now: u64, memory: &DeviceMemory) -> Result<(), MechanismFault> {
        let _ = (now, memory);
        Ok(())
    }

    /// Returns whether [`SmPart::tick`] must be called in the next cycle.
    fn busy(&self) -> bool {
        false
    }

    /// Returns whether the part holds no request. It may still be busy otherwise.
    fn is_drained(&self) -> bool {
        !self.busy()
    }

    /// Returns the state that the part has learned from accesses and their timing, such as a limit. The intervals of a launch
    /// start with the state that its first interval has learned (`run --intervals`).
    fn learned(&mut self) -> Option<&mut dyn State> {
        None
    }

    /// Returns whether the part has made the decisions that [`SmPart::learned`] should have. The first interval of a launch
    /// continues until all parts are trained, at most for a quarter of the launch.
    fn is_trained(&self) -> bool {
        true
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

    /// Prevents kernels from issuing memory instructions.
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

    /// Lets loads bypass the L1D if it lacks a resource for them.
    fn failure_bypass(&mut self) -> Option<&mut dyn FailureBypass> {
        None
    }

    /// Chooses the sectors that a miss fetches. Exclusive.
    fn fetch(&mut self) -> Option<&mut dyn L1dFetchSectors> {
        None
    }

    /// Chooses the space that lines occupy in the L1D. Exclusive.
    fn placement(&mut self) -> Option<&mut dyn L1dPlacement> {
        None
    }

    /// Delays read replies before the L1D. Exclusive.
    fn fills(&mut self) -> Option<&mut dyn Stage<L1dFill>> {
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

    /// Issues additional instructions. Exclusive.
    fn assist(&mut self) -> Option<&mut dyn AssistIssue> {
        None
    }

    /// Supplies results of kernel regions that it has stored. Exclusive.
    fn memo(&mut self) -> Option<&mut dyn RegionMemo> {
        None
    }

    /// Prefetches lines into the L1D. Exclusive.
    fn prefetcher(&mut self) -> Option<&mut dyn Prefetcher> {
        None
    }
}

selvedge_state::boxed_state!(dyn SmPart);

/// Observes the events of the L1D.
pub trait L1dObserver {
    /// Handles an event in the L1D.
    fn l1d_event(&mut self, now: u64, event: &L1dEvent);
}

/// Observes memory instructions.
pub trait MemoryObserver {
    /// Handles an event of a kernel's memory instructions. If a block detects a difference here, the next [`SmPart::tick`] must
    /// return it; the part must be busy until then.
    fn memory_event(&mut self, now: u64, kernel: u8, event: MemoryEvent);

    /// Returns whether every cycle of a reservation failure must be reported. If so, the SM does not sleep in these cycles.
    fn watches_failures(&self) -> bool;
}

/// Observes the schedulers.
pub trait ScheduleObserver {
    /// Handles the end of a warp's schedule, when the scheduler switches to another warp. The scheduler issued from the old warp
    /// in `cycles` cycles. It chose the new one from `warps` of its warps that could issue.
    fn schedule_ended(&mut self, scheduler: usize, cycles: u64, warps: u32);
}

/// Observes warps that end or wait.
pub trait WarpObserver {
    /// Handles the begin (`awaited` is `true`) and end of a wait for stores. A wait begins when the warp reaches a fence, or when
    /// all warps of its CTA have ended but its registers are still held. It ends when the stores have arrived; then no operation
    /// may be in flight on behalf of the warp.
    fn stores_awaited(&mut self, warp: u8, awaited: bool);

    /// Handles the exit of a warp, whose slot may be reused from now on.
    fn warp_exited(&mut self, warp: u8);
}

/// Prevents kernels from issuing memory instructions.
pub trait MemoryGate {
    /// Returns whether `kernel` may issue a memory instruction now.
    fn may_issue_memory(&self, kernel: u8) -> bool;
}

/// Holds warps while the part is busy.
pub trait WarpHold {
    /// Returns the warps whose own instructions must wait for the mechanism's instructions. Called only while the part is busy.
    fn held_warps(&self) -> WarpMask;
}

/// Ranks the kernels' memory instructions.
pub trait MemoryRank {
    /// Returns the kernel's rank. Among the kernels with a ready memory instruction, only the one with the lowest rank may issue.
    fn rank(&self, kernel: u8) -> u8;
}

/// Orders the memory instructions in the load/store unit.
pub trait RequestQueues {
    /// Returns the queue in which a memory instruction of this warp and CTA slot waits. The load/store unit serves one queue
    /// until it is empty, and then the nonempty queue with the lowest number. [`MemoryEvent::ServedEarly`] reports an instruction
    /// that is taken before an earlier one.
    fn request_queue(&self, warp: u8, cta: u8) -> u8;
}

/// Divides the ways of the L1D among kernels.
pub trait Ways {
    /// Returns the ways of each set of the L1D that the kernel may occupy; `None` if it may occupy all. A kernel with that many
    /// lines in a set evicts its own lines; with fewer, it evicts lines of other kernels.
    fn ways_of(&self, kernel: u8) -> Option<u32>;
}

/// Lets loads bypass the L1D.
pub trait Bypass {
    /// Returns whether the load bypasses the L1D, without allocating or reserving a line. Called once for each line transaction
    /// of a load that would otherwise be looked up.
    fn bypasses(&mut self, now: u64, load: &Load) -> bool;
}

/// Lets loads bypass the L1D if it lacks a resource for them.
pub trait FailureBypass {
    /// Returns whether a load bypasses the L1D instead of waiting for the resource that the L1D lacks. Called once per line
    /// transaction that fails. Not called for a full miss queue, which a bypassing load needs, too.
    fn bypasses_failure(&mut self, now: u64, load: &Load, cause: FailCause) -> bool;
}

/// Chooses the sectors that a miss fetches. The part also sees the misses, and as an [`L1dObserver`] the fetches and evictions, of
/// accesses that execute without timing (`run --intervals`).
pub trait L1dFetchSectors {
    /// Returns the sectors that an L1D miss fetches: all requested ones in `missing`, and any of `absent`. `absent` are all
    /// sectors of the line that are neither valid nor in flight. Called once per miss.
    fn sectors(&mut self, now: u64, load: &Load, missing: u32, absent: u32) -> u32;
}

/// Chooses the space that lines occupy in the L1D.
pub trait L1dPlacement {
    /// Returns the space that a line occupies in the L1D from its fill on. Called only if the L1D has more tags than ways.
    fn space(&mut self, line: u64, memory: &DeviceMemory) -> LineSpace;

    /// Returns a line for which [`L1dPlacement::space`] returned [`LineSpace::Later`], and the sub-blocks that it occupies from now on.
    /// If the line has left the L1D, the L1D ignores it.
    fn placed(&mut self) -> Option<(u64, u32)>;

    /// Returns a line that the mechanism can no longer read. The L1D invalidates it, if it still holds it.
    fn stale_line(&mut self) -> Option<u64>;
}

/// Issues additional instructions.
pub trait AssistIssue {
    /// Returns the instructions that can issue in cycle `now`.
    fn extras(&mut self, now: u64) -> Option<Extras>;

    /// Issues the extra instruction of `warp`. Returns the cycles for which it occupies the banks of shared memory.
    fn issue_extra(&mut self, now: u64, warp: u8) -> u32;

    /// Issues the extra instruction for idle cycles.
    fn issue_idle_extra(&mut self, now: u64);

    /// Handles the end of the schedulers' turns in a cycle. Called only while the part is busy.
    fn issue_ended(&mut self, report: &IssueReport);
}

/// Supplies stored results of kernel regions.
pub trait RegionMemo {
    /// Returns whether warps must ask the mechanism for the results of region `number` of `kernel` now. Also called for a warp at
    /// the region's start that cannot enter it yet.
    fn wants_region(&mut self, now: u64, kernel: u8, number: u16, region: &KernelRegion) -> bool;

    /// Handles the request of a warp, which waits, for a region's results.
    fn region_entered(&mut self, now: u64, entry: RegionEntry);

    /// Returns the next reply to a warp's request. Called only while the part is busy.
    fn region_reply(&mut self) -> Option<RegionReply>;

    /// Handles the skip of a region with known results, in which the warp has passed `instructions` instructions. `results` are
    /// the results of an execution, one word of all lanes each.
    ///
    /// # Errors
    /// Returns an error if the mechanism's results differ.
    fn region_skipped(&mut self, warp: u8, instructions: u64, results: &[Word])
    -> Result<(), MechanismFault>;

    /// Handles the results of a region that were not known, after the warp has computed them.
    fn region_computed(&mut self, now: u64, warp: u8, results: Vec<Word>);

    /// Reports that `bytes` bytes of the SM's shared memory belong to no CTA from now on.
    fn free_shared_bytes(&mut self, bytes: u32);
}

/// Prefetches lines into the L1D.
pub trait Prefetcher {
    /// Returns the next line to be prefetched, if there is one in cycle `now`. Called only while the part is busy, in cycles in
    /// which the load/store unit does not use the L1D's port. [`L1dEvent::Prefetch`] reports the outcome.
    fn prefetch(&mut self, now: u64) -> Option<Prefetch>;
}

/// A read reply in front of the L1D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct L1dFill {
    /// The reply.
    pub packet: Packet,
    /// The first warp that waits for the reply.
    pub warp: u8,
}

/// The data of a load behind the L1D. The data of a hit leave the L1D's array at the end of the cycle. A stage may take them in
/// the next cycle, in which they would otherwise be available.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Hit {
    /// The memory instruction.
    pub inst: InstId,
    /// The warp of the instruction.
    pub warp: u8,
    /// Byte address of the line.
    pub line: u64,
    /// `true` if the load waited for the line, which has just arrived.
    pub after_fill: bool,
}

/// Instructions that a mechanism can issue in addition to the warps' own. Each occupies a scheduler's issue slot and a pipe. The
/// mechanism determines their effects and latencies.
#[derive(Clone, Copy, Debug)]
pub struct Extras {
    /// Warps with such an instruction ready to issue instead of the warp's own, by the pipe that it needs.
    pub ready: [WarpMask; PIPE_KINDS],
    /// The pipe of an instruction that issues only when a scheduler has no other.
    pub idle: Option<PipeKind>,
}

/// Issue and resources of an SM in a cycle.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct IssueReport {
    /// Per kind of pipe, `true` if no pipe accepts another warp in this cycle.
    pub busy: [bool; PIPE_KINDS],
    /// `true` if no scheduler has issued, except for extra instructions for idle cycles.
    pub idle: bool,
    /// `true` if a load or store waits for the L1D or in the miss queue, or if more than half of the MSHRs are in use.
    pub memory_waits: bool,
}

/// A 32-bit word in all lanes of a warp.
pub type Word = [u32; 32];

/// A request of a warp for a region's results.
#[derive(Clone, Debug, PartialEq, Eq, State)]
pub struct RegionEntry {
    /// Kernel: the number of its program.
    pub kernel: u8,
    /// Warp slot.
    pub warp: u8,
    /// Number of the region in the kernel.
    pub region: u16,
    /// The lanes that enter the region, one bit each.
    pub mask: u32,
    /// The values on which the results depend.
    pub inputs: Vec<Word>,
    /// Number of words of the results.
    pub results: usize,
}

/// The reply to a warp's request for a region's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct RegionReply {
    /// Warp slot.
    pub warp: u8,
    /// `true` if the results are known in every lane.
    pub is_known: bool,
}

/// A line transaction of a load at the L1D.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Load {
    /// Kernel: the number of its program.
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
    /// The 32-byte sectors that it reads, one bit each.
    pub sectors: u32,
    /// Its index among the instruction's line transactions.
    pub index: u8,
    /// `true` for the instruction's last line transaction.
    pub last: bool,
}

/// A line that a mechanism prefetches into the L1D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Prefetch {
    /// Kernel: the number of its program.
    pub kernel: u8,
    /// Warp slot for which the line is prefetched.
    pub warp: u8,
    /// Byte address of the line.
    pub line: u64,
}

/// The outcome of a prefetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefetched {
    /// A miss was sent, for which no load waits.
    Sent,
    /// Dropped, because some sectors of the line are valid.
    Present,
    /// Dropped, because the line is in flight.
    UnderWay,
    /// Dropped, because an MSHR, a way of the set or room in the miss queue is not available.
    NoRoom(FailCause),
    /// Dropped, because the program has no memory at the address.
    Beyond,
}

/// The space of a line in an L1D with more tags than ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum LineSpace {
    /// The line is not compressed.
    Whole,
    /// The line occupies this number of 32-byte sub-blocks, at least 1.
    SubBlocks(u32),
    /// The line waits in the compressor, where it can be read. [`L1dPlacement::placed`] returns it later.
    Later,
}

/// An event in an L1D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum L1dEvent {
    /// A load was decided.
    Load {
        /// The load.
        load: Load,
        /// The outcome of the lookup.
        decision: AccessResult,
    },
    /// A prefetch was decided.
    Prefetch {
        /// Byte address of the line.
        line: u64,
        /// The outcome of the prefetch.
        outcome: Prefetched,
    },
    /// A miss has fetched sectors, chosen by [`L1dFetchSectors::sectors`] or by the configuration.
    Fetched(Fetched),
    /// A load is the first to use this number of 32-byte sectors that a prediction has fetched.
    PredictionUsed(u32),
    /// A line was evicted or invalidated.
    Evicted {
        /// Byte address of the line.
        line: u64,
        /// 32-byte sectors that loads have requested since the line's allocation.
        used: u32,
    },
    /// The data of a miss have arrived.
    Returned {
        /// Core cycles since the miss.
        cycles: u64,
    },
    /// All lines were invalidated at the start of a kernel.
    Flushed {
        /// The program whose lines were invalidated; `None` for all programs.
        program: Option<u8>,
    },
}

/// An event of a kernel's memory instructions in an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryEvent {
    /// A memory instruction has issued to the L1D path.
    Issued,
    /// Its data are available (loads, atomics), or its last transaction has left for the L2 (stores).
    Completed,
    /// The L1D has decided a line transaction: one request.
    Request,
    /// The L1D could not decide a line transaction in this cycle.
    ReservationFailure,
    /// The load/store unit took the instruction before an earlier one, because of [`RequestQueues`].
    ServedEarly,
}
