//! A streaming multiprocessor: resident CTAs and warps, schedulers, scoreboard, pipes, load/store unit and L1D.
//!
//! Instructions execute when they issue; the timing of their results follows. An SM sleeps while nothing can
//! change in it and says when it must be woken, so idle cycles cost nothing.
pub mod ahead;
mod barrier;
pub mod coalescer;
pub mod collector;
mod fault;
pub mod feed;
mod front;
mod issue;
pub mod issue_cycles;
pub mod l1d;
#[cfg(test)]
mod l1d_tests;
pub mod launch;
pub mod lsu;
mod memory_path;
mod needs;
#[cfg(test)]
mod occupancy_tests;
pub mod part;
pub mod parts;
pub mod pipes;
mod prefetch;
pub mod quota;
pub mod read_only;
mod regions;
mod schedule;
pub mod scheduler;
pub mod scoreboard;
mod show;
mod spin;
pub mod two_level;
mod waiting;
pub mod wheel;

use crate::config::GpuConfig;
use crate::events::WorkDone;
use crate::packet::Packet;
use crate::partition::AddressMap;
use crate::stats::{CacheCounters, FailCause, ISSUE_CYCLES, KernelCounters, SmCounters};
use crate::witness::Witness;
use ahead::Link;
use collector::{Collected, Collector, EMPTY_CYCLES, Next};
pub use fault::SimFault;
pub(crate) use fault::SimResult;
use feed::{Feed, WarpFeed};
use front::Front;
use l1d::L1d;
use launch::{KERNEL_SLOTS, LaunchedKernel};
use lsu::{InstId, Lsu};
use needs::{Need, Needs};
use part::L1dEvent;
use parts::SmParts;
use pipes::{PipeKind, Pipes};
use quota::Quotas;
use read_only::{Side, Sides};
use regions::{Border, RegionState};
use schedule::Schedule;
use scheduler::{Scheduler, WarpMask};
use scoreboard::Scoreboard;
use selvedge_ptx::ptx::{Ballot, Global, MemAccess};
use selvedge_state::State;
use std::sync::Arc;
use wheel::EventWheel;

/// Marks the token of a read that bypassed the L1D; the rest of the token is the instruction.
const BYPASS_TOKEN: u32 = 1 << 31;

/// Marks the token of a read that no load waits for; the rest of the token is the warp that it was prefetched for.
const PREFETCH_TOKEN: u32 = 1 << 29;

/// Something that becomes due in a later cycle.
#[derive(Clone, Copy, Debug, State)]
enum Event {
    /// The destination registers of an instruction are written.
    Writeback { warp: u8, pc: u32 },
    /// The instruction after a branch, barrier or fence may issue.
    Control { warp: u8 },
    /// A transaction's data are there: an L1D hit or a shared-memory access.
    Data { inst: InstId },
    /// An L1D hit's data are there and go to the mechanism.
    Hit { inst: InstId, line: u64 },
}

/// What keeps a resident warp from being considered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
enum Hold {
    /// Nothing but its operands.
    None,
    /// The instruction after a control instruction is being fetched.
    Control,
    /// It waits at a barrier.
    Barrier(u32),
    /// It waits for its own memory accesses, and no less than until this cycle.
    Fence {
        /// First cycle in which the next instruction may issue.
        until: u64,
    },
    /// All lanes have exited; results are still in flight.
    Exited,
}

/// A resident warp.
#[derive(State)]
struct WarpSlot {
    warp: WarpFeed,
    kernel: Arc<LaunchedKernel>,
    cta: u8,
    /// Its number in the CTA.
    index: u8,
    hold: Hold,
    /// Registers whose values are in flight.
    scoreboard: Scoreboard,
    /// Instructions whose results are in flight.
    in_flight: u32,
    /// Stores that the L2 has not acknowledged.
    stores: u32,
    /// Whether its kernel has regions that the mechanism may know the results of.
    asks: bool,
    /// Where it is with respect to them.
    region: RegionState,
    /// The border that it crosses before its next instruction.
    border: Option<Border>,
    /// The line of code that was fetched last; only kept where there is an instruction cache.
    code_line: Option<u64>,
}

impl WarpSlot {
    /// Returns what the instruction at `pc`, the warp's next, waits for.
    #[inline(always)]
    fn need_at(&self, pc: u32) -> Need {
        if self.in_flight > 0 && self.scoreboard.meets(&self.kernel.operands, pc) {
            return Need::OPERANDS;
        }
        Need::pipe(self.kernel.info[pc as usize].pipe)
    }

    /// Returns warp `index` of CTA `cta` of a kernel, in the first CTA slot.
    fn new(kernel: &Arc<LaunchedKernel>, cta: [u32; 3], index: u32) -> Self {
        let registers = kernel.kernel.register_count;
        WarpSlot {
            warp: WarpFeed::new(kernel, cta, index),
            kernel: Arc::clone(kernel),
            cta: 0,
            index: index as u8,
            hold: Hold::None,
            scoreboard: Scoreboard::new(registers),
            in_flight: 0,
            stores: 0,
            asks: false,
            region: RegionState::default(),
            border: None,
            code_line: None,
        }
    }

    /// Returns another warp of the kernel, as [`WarpSlot::new`] does, in the memory of this one, which has ended.
    fn renewed(mut self: Box<Self>, cta: [u32; 3], index: u32) -> Box<Self> {
        let WarpFeed::Execute(warp) = &mut self.warp else {
            return Box::new(WarpSlot::new(&self.kernel, cta, index));
        };
        warp.renew(&self.kernel.kernel, &self.kernel.dims, cta, index);
        debug_assert!(self.scoreboard.is_empty(), "all results have come");
        debug_assert!(self.in_flight == 0 && self.stores == 0, "nothing is in flight");
        self.index = index as u8;
        self.hold = Hold::None;
        self.region = RegionState::default();
        self.border = None;
        self.code_line = None;
        self
    }
}

/// A resident CTA.
#[derive(State)]
struct CtaSlot {
    kernel: Arc<LaunchedKernel>,
    cta: [u32; 3],
    shared: Vec<u8>,
    /// Warps that have not exited.
    live: u32,
    /// Warps whose slots are still taken.
    resident: u32,
    barriers: [Barrier; 16],
}

/// One of a CTA's barriers.
#[derive(Clone, Copy, Debug, Default, State)]
struct Barrier {
    /// Warps that have arrived, those that only arrive included.
    arrived: u32,
    /// Warp slots that wait.
    waiting: WarpMask,
    /// Threads expected; 0: all live warps of the CTA.
    threads: u32,
    /// Predicates that the arrived warps have brought.
    ballot: Ballot,
}

/// A warp's arrival at a barrier.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    id: u32,
    threads: Option<u32>,
    arrive_only: bool,
    ballot: Ballot,
}

/// What the SM needs from outside in a cycle.
pub struct TickContext<'a> {
    /// Core cycle.
    pub now: u64,
    /// Functional memory.
    pub memory: Global<'a>,
    /// Crossbars, L2 and DRAM.
    pub system: Link<'a>,
}

/// One SM.
#[derive(State)]
pub struct Sm {
    id: u16,
    #[state(skip = "the configuration")]
    config: Arc<GpuConfig>,
    warps: Vec<Option<Box<WarpSlot>>>,
    /// Warps that have ended, for those to come.
    #[state(skip = "only memory for warps to come")]
    #[expect(
        clippy::vec_box,
        reason = "the slots move between this list and the resident ones, not their contents"
    )]
    spare: Vec<Box<WarpSlot>>,
    ctas: Vec<Option<CtaSlot>>,
    schedulers: Vec<Scheduler>,
    /// Whether the schedulers ask only some of their warps.
    is_selective: bool,
    /// What may issue changes with the warps, the pipes, the load/store unit, and quotas alone.
    #[state(skip = "it follows from the configuration and the parts")]
    issue_is_local: bool,
    /// No instruction issues before this cycle unless a warp or the room in the load/store unit changes; 0 where the schedulers must
    /// be asked to know.
    issue_from: u64,
    pipes: Pipes,
    /// Operand collection, where there is any.
    collector: Option<Box<Collector>>,
    lsu: Lsu,
    front: Front,
    l1d: L1d,
    sides: Sides,
    witness: Witness,
    parts: SmParts,
    map: AddressMap,
    wheel: EventWheel<Event>,
    due: Vec<Event>,
    woken: Vec<InstId>,
    access: MemAccess,
    /// What the next instruction of each warp waits for.
    needs: Needs,
    /// Warps that wait for operands from memory; only kept where a scheduler asks for it.
    awaiting_memory: WarpMask,
    /// Warps at a barrier, and warps that have exited.
    parked: WarpMask,
    /// Warp slots by kernel slot.
    kernel_warps: [WarpMask; KERNEL_SLOTS],
    /// How many instructions the kernels may issue, where that is limited.
    quotas: Option<Quotas>,
    /// Resident CTAs by kernel slot, and of all kernels.
    kernel_ctas: [u32; KERNEL_SLOTS],
    all_ctas: u32,
    /// The kernel of each slot that had a CTA here last.
    kernels: [Option<Arc<LaunchedKernel>>; KERNEL_SLOTS],
    /// A reply that the mechanism could not take yet.
    held_reply: Option<Packet>,
    /// Nothing else keeps the L1D's packet from leaving than room in the crossbar.
    waits_for_port: bool,
    /// The load/store unit's head failed for this cause, and nothing has changed since.
    blocked: Option<FailCause>,
    last_tick: u64,
    /// The last cycle in the count of scheduler cycles.
    counted_until: u64,
    free_registers: u32,
    free_shared: u32,
    free_threads: u32,
    finished_ctas: Vec<u8>,
    /// The warps of the logged accesses to global memory, in order; only while the SM runs ahead.
    accessed: Vec<u8>,
    /// Lines in flight that loads have waited for from some cycle of the window on.
    merged: Vec<u64>,
    /// The scheduler that is asked first.
    first_scheduler: usize,
    /// The last schedule of each scheduler; only kept where the mechanism asks for it.
    schedules: Vec<Schedule>,
    /// This SM's counters, but for those that [`Self::counters_at`] computes.
    counters: SmCounters,
    /// The schedulers' cycles by [`crate::stats::IssueCycle`].
    scheduler_cycles: [u64; ISSUE_CYCLES],
    /// What the instructions that have issued make work.
    work_done: WorkDone,
    /// What each kernel slot did; the L1D counts its accesses.
    by_kernel: [KernelCounters; KERNEL_SLOTS],
    /// The last cycle in the count of the kernels' residence.
    residence_until: u64,
}

/// The warp slots of a mask, the lowest first.
fn warps_of(mut mask: WarpMask) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let warp = (mask != 0).then(|| mask.trailing_zeros() as u8);
        mask &= mask.wrapping_sub(1);
        warp
    })
}

impl Sm {
    /// An empty SM with a mechanism's share.
    pub fn new(id: u16, config: &Arc<GpuConfig>, parts: SmParts) -> Self {
        let sm = &config.sm;
        let longest = [
            sm.alu.int_latency,
            sm.alu.fp32_latency,
            sm.alu.int_mul_latency,
            sm.fp64.latency,
            sm.fp64.div_latency,
            sm.sfu.latency,
            sm.sfu.div_latency,
            sm.branch_latency,
            sm.lsu.const_latency,
            sm.lsu.shared_latency + coalescer::MOST_BANK_WORDS as u32,
            config.l1d.hit_latency,
            read_only::longest_latency(config),
        ];
        let schedulers: Vec<_> = (0..sm.schedulers).map(|i| Scheduler::new(sm, i)).collect();
        let is_selective = schedulers.iter().any(Scheduler::is_selective);
        let sides = Sides::new(sm);
        Sm {
            id,
            config: Arc::clone(config),
            warps: (0..sm.warps).map(|_| None).collect(),
            spare: Vec::new(),
            ctas: (0..sm.ctas).map(|_| None).collect(),
            is_selective,
            issue_is_local: !is_selective
                && parts.leaves_issue_alone()
                && !sm.collector.is_there()
                && !sides.has(Side::Instruction),
            issue_from: 0,
            schedulers,
            pipes: Pipes::new(sm),
            collector: Collector::new(&sm.collector, sm.schedulers),
            lsu: Lsu::new(sm.lsu.queue),
            front: Front::new(config.l1d.front_latency),
            l1d: L1d::new(&config.l1d),
            sides,
            parts,
            map: AddressMap::new(&config.l2),
            wheel: EventWheel::new(longest.into_iter().max().unwrap_or(1) + sm.pipeline_latency),
            due: Vec::new(),
            woken: Vec::new(),
            access: MemAccess::default(),
            needs: Needs::new(sm.warps as usize, sm.schedulers as usize),
            awaiting_memory: 0,
            parked: 0,
            kernel_warps: [0; KERNEL_SLOTS],
            quotas: None,
            kernel_ctas: [0; KERNEL_SLOTS],
            all_ctas: 0,
            kernels: Default::default(),
            held_reply: None,
            waits_for_port: false,
            witness: Witness::default(),
            blocked: None,
            last_tick: 0,
            counted_until: 0,
            free_registers: sm.registers,
            free_shared: sm.shared_bytes,
            free_threads: sm.threads,
            finished_ctas: Vec::new(),
            accessed: Vec::new(),
            merged: Vec::new(),
            first_scheduler: 0,
            schedules: vec![Schedule::default(); sm.schedulers as usize],
            counters: SmCounters::default(),
            scheduler_cycles: [0; ISSUE_CYCLES],
            work_done: WorkDone::default(),
            by_kernel: [KernelCounters::default(); KERNEL_SLOTS],
            residence_until: 0,
        }
    }

    /// Returns what mechanisms have put into the SM.
    pub fn parts(&self) -> &SmParts {
        &self.parts
    }

    /// Gives the kernels quotas of warp instructions from now on.
    pub fn set_quotas(&mut self, quotas: Quotas) {
        self.quotas = Some(quotas);
        self.issue_from = 0;
    }

    /// Sets of quotas that were given out.
    pub fn quota_sets(&self) -> u64 {
        self.quotas.as_ref().map_or(0, |quotas| quotas.sets)
    }

    /// The L1D's counters.
    pub fn l1d(&self) -> &L1d {
        &self.l1d
    }

    /// Its number.
    pub(crate) fn number(&self) -> u16 {
        self.id
    }

    /// Its L1 data cache, to be warmed.
    pub(crate) fn l1d_mut(&mut self) -> &mut L1d {
        &mut self.l1d
    }

    /// Lets `witness` follow what the SM's caches hold.
    pub fn watch(&mut self, witness: &Witness) {
        self.witness = witness.clone();
        self.l1d.watch(witness, self.id);
        self.sides.watch(witness, self.id);
    }

    /// Invalidates the L1D at the start of a kernel.
    pub fn invalidate_l1d(&mut self) {
        self.l1d.invalidate_all();
        self.sides.invalidate_all();
        self.parts.l1d_event(self.last_tick, &L1dEvent::Flushed { program: None });
    }

    /// Gives the L1D what the CTAs of a kernel leave of a memory that it shares with shared memory, where there is one. The L1D
    /// is empty.
    pub fn divide_unified(&mut self, kernel: &LaunchedKernel) {
        let l1d = &self.config.l1d;
        if l1d.unified_bytes > 0 {
            let ctas = kernel.most_ctas(&self.config.sm);
            let ways = l1d.ways_beside(kernel.shared_bytes.saturating_mul(ctas));
            self.l1d.set_ways(ways);
        }
    }

    /// Invalidates the L1D's lines of one program at the start of its kernel, while others run.
    pub fn invalidate_program(&mut self, program: u8) {
        self.l1d.invalidate_program(program);
        self.sides.invalidate_program(program);
        self.parts.l1d_event(self.last_tick, &L1dEvent::Flushed { program: Some(program) });
    }

    /// Returns whether a packet waits for the request crossbar.
    pub fn has_to_send(&self) -> bool {
        self.l1d.outgoing().is_some() || self.sides.has_work()
    }

    /// A read-only cache's counters; zero when there is none.
    pub fn read_only(&self, side: Side) -> CacheCounters {
        self.sides.counters(side)
    }

    /// Returns the warp instructions that have issued.
    pub fn warp_instructions(&self) -> u64 {
        self.by_kernel.iter().map(|kernel| kernel.warp_instructions).sum()
    }

    /// Returns the thread instructions that have issued.
    pub fn thread_instructions(&self) -> u64 {
        self.by_kernel.iter().map(|kernel| kernel.thread_instructions).sum()
    }

    /// What a kernel slot did in this SM.
    pub fn kernel_counters(&self, slot: usize) -> KernelCounters {
        let counters = self.by_kernel[slot];
        let since =
            if self.kernel_ctas[slot] > 0 { self.last_tick.saturating_sub(self.residence_until) } else { 0 };
        KernelCounters {
            l1d: self.l1d.by_kernel[slot],
            resident_cycles: counters.resident_cycles + since,
            ..counters
        }
    }

    /// Resident CTAs of a kernel slot.
    pub fn resident_ctas(&self, slot: usize) -> u32 {
        self.kernel_ctas[slot]
    }

    /// The most warps that a scheduler had at the same time.
    pub fn most_resident_warps(&self) -> u64 {
        self.schedulers.iter().map(Scheduler::most_warps).max().unwrap_or(0) as u64
    }

    /// Kernel slots of the CTAs that finished since the last call, one entry each.
    #[inline(always)]
    pub fn take_finished(&mut self, out: &mut Vec<u8>) {
        if !self.finished_ctas.is_empty() {
            out.append(&mut self.finished_ctas);
        }
    }

    /// Is there room for one more CTA of `kernel`?
    pub fn can_launch(&self, kernel: &LaunchedKernel) -> bool {
        let free_warps = self.warps.iter().filter(|w| w.is_none()).count() as u32;
        self.ctas.iter().any(Option::is_none)
            && free_warps >= kernel.warps_per_cta
            && self.free_registers >= kernel.registers_per_cta
            && self.free_shared >= kernel.shared_bytes
            && self.free_threads >= kernel.warps_per_cta * 32
    }

    /// Makes CTA `cta` of `kernel` resident; the caller has checked [`Sm::can_launch`].
    pub fn launch(&mut self, kernel: &Arc<LaunchedKernel>, cta: [u32; 3]) {
        let slot = self.ctas.iter().position(Option::is_none).expect("can_launch was checked");
        self.free_registers -= kernel.registers_per_cta;
        self.free_shared -= kernel.shared_bytes;
        self.free_threads -= kernel.warps_per_cta * 32;
        self.kernel_ctas[usize::from(kernel.slot)] += 1;
        self.all_ctas += 1;
        self.kernels[usize::from(kernel.slot)] = Some(Arc::clone(kernel));
        self.ctas[slot] = Some(CtaSlot {
            kernel: Arc::clone(kernel),
            cta,
            shared: vec![0; kernel.shared_bytes as usize],
            live: kernel.warps_per_cta,
            resident: kernel.warps_per_cta,
            barriers: [Barrier::default(); 16],
        });
        self.parts.free_shared_bytes(self.free_shared);
        let executes = matches!(kernel.feed, Feed::Execute);
        let asks = executes && self.parts.memoizes() && !kernel.kernel.regions.is_empty();
        for index in 0..kernel.warps_per_cta {
            let free = self.warps.iter().position(Option::is_none).expect("can_launch was checked");
            let mut warp = match self.spare.pop() {
                Some(spare) if Arc::ptr_eq(&spare.kernel, kernel) => spare.renewed(cta, index),
                _ => Box::new(WarpSlot::new(kernel, cta, index)),
            };
            warp.cta = slot as u8;
            warp.asks = asks;
            self.warps[free] = Some(warp);
            if self.sides.has(Side::Instruction) {
                self.sides.fetching |= 1 << free;
                self.sides.retrying |= 1 << free;
            }
            self.kernel_warps[kernel.slot as usize] |= 1 << free;
            let count = self.schedulers.len();
            self.schedulers[free % count].arrive(free as u8);
            self.update_need(free as u8);
        }
    }

    /// Returns whether nothing is resident and nothing in flight.
    pub fn is_idle(&self) -> bool {
        self.all_ctas == 0 && self.is_drained()
    }

    fn is_drained(&self) -> bool {
        self.lsu.in_flight() == 0
            && self.l1d.is_idle()
            && self.sides.is_idle()
            && self.parts.is_drained()
            && self.held_reply.is_none()
    }

    /// Returns the packet that wakes the SM when the crossbar has room for it.
    pub fn port_wait(&self) -> Option<&Packet> {
        if self.waits_for_port { self.l1d.outgoing() } else { None }
    }

    /// Runs core cycle `ctx.now` and returns the next cycle in which the SM must run again; a reply from the
    /// memory system wakes it earlier, and so does room for the packet that [`Self::port_wait`] returns.
    ///
    /// # Errors
    /// The kernel or a mechanism is at fault.
    pub fn tick(&mut self, ctx: &mut TickContext<'_>) -> SimResult<u64> {
        self.account_for_sleep(ctx.now);
        self.receive(ctx)?;
        self.run_events(ctx);
        let may_prefetch = self.parts.prefetches() && self.l1d_port_is_free(ctx.now);
        self.run_lsu(ctx);
        if may_prefetch {
            self.run_prefetch(ctx);
        }
        self.retry_fetches(ctx);
        if self.collector.is_some() {
            self.collect_operands(ctx.now);
        }
        let issued = ctx.now >= self.issue_from && self.issue(ctx)?;
        let sent = self.send(ctx);
        self.counters.issue_cycles += u64::from(issued);
        Ok(self.next_wake(ctx.now, sent))
    }

    /// Counts what went on unchanged in the cycles since the last tick, and in this one.
    fn account_for_sleep(&mut self, now: u64) {
        let slept = now - self.last_tick;
        if slept > 1 {
            self.count_stalls_until(now - 1);
            if self.blocked.is_some() || self.front.blocked.is_some() {
                self.count_slept_failures(slept - 1);
            }
        }
        if self.all_ctas > 0 {
            self.counters.resident_cycles += slept;
        }
        self.last_tick = now;
    }

    /// Counts cycles in which what was blocked before the last tick's end stayed so.
    fn count_slept_failures(&mut self, cycles: u64) {
        if let (Some(cause), Some(head)) = (self.blocked, self.lsu.head()) {
            self.count_failures(head, cause, cycles);
        }
        if let (Some(cause), Some((_, oldest))) = (self.front.blocked, self.front.oldest()) {
            self.count_failures(oldest, cause, cycles);
        }
    }

    /// Counts the cycles up to `cycle` for the kernels that have been resident in them: whenever one comes or goes.
    fn count_residence_until(&mut self, cycle: u64) {
        let cycles = cycle - self.residence_until;
        for (counters, ctas) in self.by_kernel.iter_mut().zip(self.kernel_ctas) {
            counters.resident_cycles += if ctas > 0 { cycles } else { 0 };
        }
        self.residence_until = cycle;
    }

    /// Called before a launch after cycle `now`, so that the time before it is not counted as the CTA's.
    pub fn resume(&mut self, now: u64) {
        self.count_stalls_until(now);
        self.count_residence_until(now);
        if self.all_ctas == 0 {
            self.last_tick = now;
        }
    }

    /// Returns the next cycle in which something may change. A packet that found no room in the crossbar waits for it
    /// ([`Self::port_wait`]); after one that was `sent` the next may find room at once.
    fn next_wake(&mut self, now: u64, sent: bool) -> u64 {
        let soon = now + 1;
        self.waits_for_port = false;
        let has_packet = self.l1d.outgoing().is_some();
        if sent && has_packet || self.sides.has_work() || self.held_reply.is_some() || self.parts.busy() {
            return soon;
        }
        self.waits_for_port = has_packet;
        if (self.blocked.is_some() || self.front.blocked.is_some()) && self.parts.watches_failures() {
            return soon;
        }
        if self.collector.as_ref().is_some_and(|collector| collector.is_busy()) {
            return soon;
        }
        let mut wake = if self.issue_rests() { self.issue_from.max(soon) } else { self.next_issue(soon) };
        if wake == soon {
            return wake;
        }
        wake = wake.min(self.wheel.next_after(now).unwrap_or(u64::MAX));
        if let (Some(head), None) = (self.lsu.head(), self.blocked)
            && self.may_leave_lsu(head)
        {
            wake = wake.min(self.lsu_ready_at(head).max(soon));
        }
        if let (Some((at, _)), None) = (self.front.oldest(), self.front.blocked) {
            wake = wake.min(at.max(soon));
        }
        wake
    }

    /// Returns whether no scheduler need be asked before [`Self::issue_from`].
    fn issue_rests(&self) -> bool {
        self.issue_is_local && self.quotas.is_none()
    }

    /// Returns the first cycle from `soon` on in which a ready warp may find its pipe free.
    #[inline(always)]
    fn next_issue(&self, soon: u64) -> u64 {
        let eligible = self.eligible();
        let has = |kind: PipeKind| self.needs.ready(kind) & eligible != 0;
        let mut wake = u64::MAX;
        for kind in [PipeKind::Alu, PipeKind::Control, PipeKind::Fp64, PipeKind::Sfu] {
            if has(kind) {
                wake = wake.min(self.pipes.next_free(kind).max(soon));
                if wake == soon {
                    return soon;
                }
            }
        }
        if has(PipeKind::Memory) && self.memory_may_issue(eligible) {
            wake = wake.min(self.pipes.next_free(PipeKind::Memory).max(soon));
        }
        wake
    }

    /// Returns whether there is room for the head's next transaction in front of the L1D, if it goes there.
    #[inline(always)]
    fn may_leave_lsu(&self, head: InstId) -> bool {
        !self.front.is_there() || self.front.has_room() || !self.lsu.peek(head).is_on_l1d_path()
    }

    #[inline(always)]
    fn lsu_ready_at(&self, head: InstId) -> u64 {
        let inst = self.lsu.peek(head);
        if inst.shared { inst.ready_at.max(self.lsu.banks_free_at) } else { inst.ready_at }
    }

    fn memory_may_issue(&self, eligible: WarpMask) -> bool {
        self.lsu.has_room() && self.memory_candidates() & eligible != 0
    }

    /// Ready warps with a memory instruction whose kernel may issue one.
    fn memory_candidates(&self) -> WarpMask {
        let mut mask = self.needs.ready(PipeKind::Memory);
        if !self.parts.gates_memory() && !self.parts.ranks_memory() {
            return mask;
        }
        for (kernel, warps) in self.kernel_warps.iter().enumerate() {
            if mask & warps != 0 && !self.parts.may_issue_memory(kernel as u8) {
                mask &= !warps;
            }
        }
        if self.parts.ranks_memory() { self.first_in_rank(mask) } else { mask }
    }

    /// Those of the kernel with the lowest rank, among the kernels with warps that the schedulers ask.
    fn first_in_rank(&self, ready: WarpMask) -> WarpMask {
        let asked = ready & self.eligible();
        let kernels = (0u8..).zip(&self.kernel_warps).filter(|(_, warps)| asked & **warps != 0);
        kernels
            .min_by_key(|(kernel, _)| self.parts.memory_rank(*kernel))
            .map_or(0, |(_, warps)| asked & warps)
    }

    fn run_events(&mut self, ctx: &TickContext<'_>) {
        let now = ctx.now;
        if !self.wheel.has(now) {
            return;
        }
        let mut due = std::mem::take(&mut self.due);
        self.wheel.take(now, &mut due);
        if self.collector.is_some() {
            for event in &due {
                if let Event::Writeback { warp, pc } = *event {
                    self.write_banks(warp, pc);
                }
            }
        }
        for event in due.drain(..) {
            match event {
                Event::Writeback { warp, pc } => self.write_back(warp, pc),
                Event::Control { warp } => {
                    if let Some(slot) = &mut self.warps[usize::from(warp)] {
                        slot.hold = Hold::None;
                    }
                    self.update_need(warp);
                }
                Event::Data { inst } => self.data_arrived(inst, now),
                Event::Hit { inst, line } => self.hit_data(inst, line, ctx),
            }
        }
        self.due = due;
    }

    /// The destination registers of the instruction at `pc` are there.
    #[inline(always)]
    fn write_back(&mut self, warp: u8, pc: u32) {
        let slot = self.warps[usize::from(warp)].as_mut().expect("a warp leaves after its last result");
        slot.scoreboard.remove_dests(&slot.kernel.operands, pc);
        slot.in_flight -= 1;
        self.after_result(warp);
    }

    /// The results of the instruction at `pc` take their register banks in this cycle.
    #[cold]
    pub(super) fn write_banks(&mut self, warp: u8, pc: u32) {
        if let (Some(collector), Some(slot)) = (&mut self.collector, &self.warps[usize::from(warp)]) {
            let dests = slot.kernel.kernel.code[pc as usize].dests();
            dests.iter().for_each(|dest| collector.write(*dest, warp));
        }
    }

    /// Lets instructions that have their operands start where their pipes are free, and runs the operand collection's cycle.
    #[cold]
    fn collect_operands(&mut self, now: u64) {
        let Some(mut collector) = self.collector.take() else { return };
        let sub_cores = if collector.has_sub_cores() { self.schedulers.len() } else { 1 };
        for kind in [PipeKind::Alu, PipeKind::Fp64, PipeKind::Sfu, PipeKind::Memory] {
            while let Some(started) =
                collector.start(kind, |of| self.pipes.is_free_for(kind, (of, sub_cores), now))
            {
                self.pipes.occupy_for(kind, (started.scheduler, sub_cores), now);
                self.start_collected(&started, now);
            }
        }
        collector.cycle();
        self.collector = Some(collector);
    }

    /// An instruction has come to its pipe; what holds it up in an empty collection is part of its latency.
    fn start_collected(&mut self, started: &Collected, now: u64) {
        match started.next {
            Next::Nothing => {}
            Next::Result(latency) => {
                let rest = u64::from(latency).saturating_sub(EMPTY_CYCLES).max(1);
                let event = Event::Writeback { warp: started.warp, pc: started.pc };
                self.wheel.push(now, now + rest, event);
            }
            Next::Memory(inst) => {
                let lsu = &self.config.sm.lsu;
                let pipeline = u64::from(lsu.pipeline_latency + 32 / lsu.lanes);
                self.lsu.get(inst).ready_at = now + pipeline.saturating_sub(EMPTY_CYCLES).max(1);
            }
        }
    }

    /// A result or acknowledgement may let the warp go on, pass its fence or leave.
    fn after_result(&mut self, warp: u8) {
        let Some(slot) = &mut self.warps[usize::from(warp)] else { return };
        let quiet = slot.in_flight == 0 && slot.stores == 0;
        match slot.hold {
            Hold::Exited if quiet => return self.free_warp(warp),
            Hold::Fence { until } if quiet => {
                slot.hold = Hold::Control;
                self.parts.stores_awaited(warp, false);
                let now = self.last_tick;
                self.wheel.push(now, until.max(now + 1), Event::Control { warp });
            }
            // Results change what a warp waits for only where it waits for them, or where it asks a mechanism for more.
            Hold::None if !slot.asks && self.needs.of(warp) != Need::OPERANDS => return,
            Hold::Control | Hold::Barrier(_) => return,
            _ => {}
        }
        self.update_need(warp);
    }

    /// Finds what the warp's next instruction waits for, after something that may have changed it.
    fn update_need(&mut self, warp: u8) {
        let need = self.need_of(warp);
        if self.is_selective {
            self.note_waiting(warp, need);
        }
        if self.needs.of(warp) == need {
            return;
        }
        // The cycles before this one went on what the needs still are.
        self.count_stalls_until(self.last_tick.saturating_sub(1));
        self.issue_from = 0;
        self.needs.set(warp, need);
    }

    /// Returns what the warp's next instruction waits for.
    #[inline(always)]
    fn need_of(&mut self, warp: u8) -> Need {
        let Some(slot) = &self.warps[usize::from(warp)] else { return Need::HELD };
        if self.sides.fetching != 0 && self.sides.fetching >> warp & 1 != 0 {
            return Need::HELD;
        }
        if slot.asks {
            return self.need_with_regions(warp);
        }
        let (Hold::None, Some(pc)) = (slot.hold, slot.warp.pc()) else { return Need::HELD };
        slot.need_at(pc)
    }

    /// Keeps what schedulers that ask only some of their warps want to know of a warp.
    #[inline(never)]
    fn note_waiting(&mut self, warp: u8, need: Need) {
        let bit: WarpMask = 1 << warp;
        self.awaiting_memory &= !bit;
        self.parked &= !bit;
        let Some(slot) = &self.warps[usize::from(warp)] else { return };
        if matches!(slot.hold, Hold::Barrier(_) | Hold::Exited) {
            self.parked |= bit;
        }
        let is_in_region = slot.border.is_some() || matches!(slot.region, RegionState::Asked { .. });
        if let (Need::OPERANDS, false, Some(pc)) = (need, is_in_region, slot.warp.pc())
            && slot.scoreboard.meets_memory(&slot.kernel.operands, pc)
        {
            self.awaiting_memory |= bit;
        }
    }
}
