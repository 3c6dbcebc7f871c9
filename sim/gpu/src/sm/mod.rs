//! A streaming multiprocessor: resident CTAs and warps, schedulers, scoreboard, pipes, load/store unit and L1D.
//!
//! Instructions execute when they issue; the timing of their results follows. An SM sleeps while its state cannot change and
//! returns the cycle in which it must be woken, so that idle cycles cost no time.
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
use crate::partition::{AddressMap, MemorySystem};
use crate::stats::{CacheCounters, FailCause, ISSUE_CYCLES, KernelCounters, SmCounters};
use crate::witness::Witness;
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
use read_only::{Changed, Side, Sides};
use regions::{Border, RegionState};
use schedule::Schedule;
use scheduler::{Scheduler, WarpMask};
use scoreboard::Scoreboard;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{Ballot, MemAccess};
use selvedge_state::State;
use std::sync::Arc;
use wheel::EventWheel;

/// Marks the token of a read that bypassed the L1D. The other bits are the instruction.
const BYPASS_TOKEN: u32 = 1 << 31;

/// Marks the token of a prefetch, which no load waits for. The other bits are the warp that it was sent for.
const PREFETCH_TOKEN: u32 = 1 << 29;

/// An event in a later cycle.
#[derive(Clone, Copy, Debug, State)]
enum Event {
    /// The destination registers of an instruction are written.
    Writeback { warp: u8, pc: u32 },
    /// The instruction after a branch, barrier or fence may issue.
    Control { warp: u8 },
    /// The data of a transaction arrive, after an L1D hit or a shared-memory access.
    Data { inst: InstId },
    /// The data of an L1D hit leave the array for the mechanism.
    Hit { inst: InstId, line: u64 },
}

/// The reason why a resident warp cannot issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
enum Hold {
    /// None except operands.
    None,
    /// The instruction after a control instruction is being fetched.
    Control,
    /// The warp waits at a barrier.
    Barrier(u32),
    /// The warp waits for its memory accesses, and at least until cycle `until`.
    Fence {
        /// First cycle in which the next instruction may issue.
        until: u64,
    },
    /// All lanes have exited; results are in flight.
    Exited,
}

/// A resident warp.
#[derive(State)]
struct WarpSlot {
    warp: WarpFeed,
    kernel: Arc<LaunchedKernel>,
    cta: u8,
    /// The warp's number in the CTA.
    index: u8,
    hold: Hold,
    /// Registers whose values are in flight.
    scoreboard: Scoreboard,
    /// Number of instructions whose results are in flight.
    in_flight: u32,
    /// Number of stores that the L2 has not acknowledged.
    stores: u32,
    /// `true` if the kernel has regions whose results the mechanism may know.
    asks: bool,
    /// The warp's position in such regions.
    region: RegionState,
    /// The region border that the warp crosses before its next instruction.
    border: Option<Border>,
    /// The line of code that was fetched last; only maintained with an instruction cache.
    code_line: Option<u64>,
}

impl WarpSlot {
    /// Returns the need of the warp's next instruction, at `pc`.
    #[inline(always)]
    fn need_at(&self, pc: u32) -> Need {
        if self.in_flight > 0 && self.scoreboard.meets(&self.kernel.operands, pc) {
            return Need::OPERANDS;
        }
        Need::pipe(self.kernel.info[pc as usize].pipe)
    }

    /// Returns warp `index` of CTA `cta` of a kernel, in CTA slot 0.
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

    /// Returns another warp of the same kernel, as [`WarpSlot::new`] does. Reuses the memory of this warp, which must have ended.
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
    /// Warps whose slots are still occupied.
    resident: u32,
    barriers: [Barrier; 16],
}

/// A barrier of a CTA.
#[derive(Clone, Copy, Debug, Default, State)]
struct Barrier {
    /// Warps that have arrived, including warps that do not wait.
    arrived: u32,
    /// Warp slots that wait.
    waiting: WarpMask,
    /// Threads expected; 0 means all live warps of the CTA.
    threads: u32,
    /// Predicates of the warps that have arrived.
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

/// The environment of an SM in a cycle.
pub struct TickContext<'a> {
    /// Core cycle.
    pub now: u64,
    /// Functional memory.
    pub memory: &'a mut DeviceMemory,
    /// Crossbars, L2 and DRAM.
    pub system: &'a mut MemorySystem,
}

/// A streaming multiprocessor with its L1D and read-only caches.
#[derive(State)]
pub struct Sm {
    id: u16,
    #[state(skip = "the configuration")]
    config: Arc<GpuConfig>,
    warps: Vec<Option<Box<WarpSlot>>>,
    /// Slots of ended warps, whose memory new warps reuse.
    #[state(skip = "only memory for warps to come")]
    #[expect(
        clippy::vec_box,
        reason = "the slots move between this list and the resident ones, not their contents"
    )]
    spare: Vec<Box<WarpSlot>>,
    ctas: Vec<Option<CtaSlot>>,
    schedulers: Vec<Scheduler>,
    /// `true` if the schedulers consider only some of their warps.
    is_selective: bool,
    /// `true` if readiness to issue depends only on the warps, the pipes, the load/store unit, and quotas.
    #[state(skip = "it follows from the configuration and the parts")]
    issue_is_local: bool,
    /// No instruction issues before this cycle unless a warp or the room in the load/store unit changes. 0 if the schedulers must
    /// determine it in each cycle.
    issue_from: u64,
    pipes: Pipes,
    /// Operand collection, if the configuration has it.
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
    /// The need of each warp's next instruction.
    needs: Needs,
    /// Warps that wait for operands from memory; only maintained for selective schedulers.
    awaiting_memory: WarpMask,
    /// Warps at a barrier, and warps that have exited.
    parked: WarpMask,
    /// Warp slots by kernel slot.
    kernel_warps: [WarpMask; KERNEL_SLOTS],
    /// Quotas of the kernels' instructions, if they are limited.
    quotas: Option<Quotas>,
    /// Number of resident CTAs by kernel slot, and of all kernels.
    kernel_ctas: [u32; KERNEL_SLOTS],
    all_ctas: u32,
    /// The kernel of the last CTA of each kernel slot in this SM.
    kernels: [Option<Arc<LaunchedKernel>>; KERNEL_SLOTS],
    /// A reply that the mechanism has no room for yet.
    held_reply: Option<Packet>,
    /// `true` if the L1D's packet waits only for room in the crossbar.
    waits_for_port: bool,
    /// The cause that blocks the load/store unit's head, if nothing has changed since its failure.
    blocked: Option<FailCause>,
    last_tick: u64,
    /// The last cycle that is included in `scheduler_cycles`.
    counted_until: u64,
    free_registers: u32,
    free_shared: u32,
    free_threads: u32,
    finished_ctas: Vec<u8>,
    /// The scheduler that issues first.
    first_scheduler: usize,
    /// The last schedule of each scheduler; only maintained if the mechanism needs it.
    schedules: Vec<Schedule>,
    /// This SM's counters, except the ones that [`Self::counters_at`] computes.
    counters: SmCounters,
    /// The schedulers' cycles by [`crate::stats::IssueCycle`].
    scheduler_cycles: [u64; ISSUE_CYCLES],
    /// The work of the instructions that have issued.
    work_done: WorkDone,
    /// Counters of each kernel slot, except the L1D's.
    by_kernel: [KernelCounters; KERNEL_SLOTS],
    /// The last cycle that is included in the kernels' residence.
    residence_until: u64,
}

/// Returns the warp slots of a mask in ascending order.
fn warps_of(mut mask: WarpMask) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let warp = (mask != 0).then(|| mask.trailing_zeros() as u8);
        mask &= mask.wrapping_sub(1);
        warp
    })
}

impl Sm {
    /// Returns an empty SM with the mechanisms' parts.
    pub fn new(id: u16, config: &Arc<GpuConfig>, parts: SmParts) -> Self {
        let sm = &config.sm;
        let longest = [
            sm.alu.int_latency,
            sm.alu.fp32_latency,
            sm.alu.int_mul_latency,
            sm.alu.int_div_latency,
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
            lsu: Lsu::new(&sm.lsu),
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
            first_scheduler: 0,
            schedules: vec![Schedule::default(); sm.schedulers as usize],
            counters: SmCounters::default(),
            scheduler_cycles: [0; ISSUE_CYCLES],
            work_done: WorkDone::default(),
            by_kernel: [KernelCounters::default(); KERNEL_SLOTS],
            residence_until: 0,
        }
    }

    /// Returns the mechanisms' parts in the SM.
    pub fn parts(&self) -> &SmParts {
        &self.parts
    }

    /// Gives the kernels quotas of warp instructions from now on.
    pub fn set_quotas(&mut self, quotas: Quotas) {
        self.quotas = Some(quotas);
        self.issue_from = 0;
    }

    /// Returns the number of quota sets that were granted.
    pub fn quota_sets(&self) -> u64 {
        self.quotas.as_ref().map_or(0, |quotas| quotas.sets)
    }

    /// Returns the L1D, for its counters.
    pub fn l1d(&self) -> &L1d {
        &self.l1d
    }

    /// Returns the SM's number.
    pub(crate) fn number(&self) -> u16 {
        self.id
    }

    /// Returns the L1D, for accesses without timing.
    pub(crate) fn l1d_mut(&mut self) -> &mut L1d {
        &mut self.l1d
    }

    /// Lets `witness` follow the contents of the SM's caches.
    pub fn watch(&mut self, witness: &Witness) {
        self.witness = witness.clone();
        self.l1d.watch(witness, self.id);
        self.sides.watch(witness, self.id);
    }

    /// Invalidates the cache lines that a launch of `program` must not find, when no other kernel runs.
    pub fn launch_alone(&mut self, program: u8, changed: Changed) {
        self.l1d.invalidate_all();
        self.sides.launch(program, true, changed);
        self.parts.l1d_event(self.last_tick, &L1dEvent::Flushed { program: None });
    }

    /// Gives the L1D the part of a unified memory that the kernel's CTAs do not use as shared memory. Does nothing without
    /// unified memory. The L1D must be empty.
    pub fn divide_unified(&mut self, kernel: &LaunchedKernel) {
        let l1d = &self.config.l1d;
        if l1d.unified_bytes > 0 {
            let ctas = kernel.most_ctas(&self.config.sm);
            let ways = l1d.ways_beside(kernel.shared_bytes.saturating_mul(ctas));
            self.l1d.set_ways(ways);
        }
    }

    /// Invalidates the cache lines that a launch of `program` must not find, while other kernels run.
    pub fn launch_beside(&mut self, program: u8, changed: Changed) {
        self.l1d.invalidate_program(program);
        self.sides.launch(program, false, changed);
        self.parts.l1d_event(self.last_tick, &L1dEvent::Flushed { program: Some(program) });
    }

    /// Returns whether a packet waits for the request crossbar.
    pub fn has_to_send(&self) -> bool {
        self.l1d.outgoing().is_some() || self.sides.has_work()
    }

    /// Returns the counters of a read-only cache; zero if the configuration does not have it.
    pub fn read_only(&self, side: Side) -> CacheCounters {
        self.sides.counters(side)
    }

    /// Returns the number of warp instructions that have issued.
    pub fn warp_instructions(&self) -> u64 {
        self.by_kernel.iter().map(|kernel| kernel.warp_instructions).sum()
    }

    /// Returns the number of thread instructions that have issued.
    pub fn thread_instructions(&self) -> u64 {
        self.by_kernel.iter().map(|kernel| kernel.thread_instructions).sum()
    }

    /// Returns the counters of a kernel slot in this SM.
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

    /// Returns the number of resident CTAs of a kernel slot.
    pub fn resident_ctas(&self, slot: usize) -> u32 {
        self.kernel_ctas[slot]
    }

    /// Returns the max number of warps that one scheduler held at the same time.
    pub fn most_resident_warps(&self) -> u64 {
        self.schedulers.iter().map(Scheduler::most_warps).max().unwrap_or(0) as u64
    }

    /// Moves the kernel slots of the CTAs that finished since the last call to `out`, one entry per CTA.
    #[inline(always)]
    pub fn take_finished(&mut self, out: &mut Vec<u8>) {
        if !self.finished_ctas.is_empty() {
            out.append(&mut self.finished_ctas);
        }
    }

    /// Returns whether one more CTA of `kernel` fits.
    pub fn can_launch(&self, kernel: &LaunchedKernel) -> bool {
        let free_warps = self.warps.iter().filter(|w| w.is_none()).count() as u32;
        self.ctas.iter().any(Option::is_none)
            && free_warps >= kernel.warps_per_cta
            && self.free_registers >= kernel.registers_per_cta
            && self.free_shared >= kernel.shared_bytes
            && self.free_threads >= kernel.warps_per_cta * 32
    }

    /// Makes CTA `cta` of `kernel` resident. [`Sm::can_launch`] must have returned `true`.
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

    /// Returns whether no CTA is resident and no request is in flight.
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

    /// Returns the packet that waits for room in the crossbar, if room would wake the SM.
    pub fn port_wait(&self) -> Option<&Packet> {
        if self.waits_for_port { self.l1d.outgoing() } else { None }
    }

    /// Runs core cycle `ctx.now` and returns the next cycle in which the SM must run. A reply from the memory system wakes it
    /// earlier, as does room for the packet that [`Self::port_wait`] returns.
    ///
    /// # Errors
    /// Returns the fault of the kernel or of a mechanism.
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

    /// Counts the cycles since the last tick, in which the state did not change, and the residence in this cycle.
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

    /// Counts failures for cycles of sleep in which accesses stayed blocked.
    fn count_slept_failures(&mut self, cycles: u64) {
        if let (Some(cause), Some(head)) = (self.blocked, self.lsu.head()) {
            self.count_failures(head, cause, cycles);
        }
        if let (Some(cause), Some((_, oldest))) = (self.front.blocked, self.front.oldest()) {
            self.count_failures(oldest, cause, cycles);
        }
    }

    /// Counts residence up to `cycle` for the kernels with CTAs. Must be called before a CTA comes or leaves.
    fn count_residence_until(&mut self, cycle: u64) {
        let cycles = cycle - self.residence_until;
        for (counters, ctas) in self.by_kernel.iter_mut().zip(self.kernel_ctas) {
            counters.resident_cycles += if ctas > 0 { cycles } else { 0 };
        }
        self.residence_until = cycle;
    }

    /// Counts all cycles up to `now` before a launch, so that they are not attributed to the new CTA.
    pub fn resume(&mut self, now: u64) {
        self.count_stalls_until(now);
        self.count_residence_until(now);
        if self.all_ctas == 0 {
            self.last_tick = now;
        }
    }

    /// Returns the next cycle in which the state may change. A packet without room in the crossbar waits until there is room
    /// ([`Self::port_wait`]). After one packet was `sent`, the next one may have room at once.
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

    /// Returns whether schedulers need not be asked before `issue_from`.
    fn issue_rests(&self) -> bool {
        self.issue_is_local && self.quotas.is_none()
    }

    /// Returns the first cycle, at least `soon`, in which a ready warp may find its pipe free.
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

    /// Returns whether the head's next transaction may leave the load/store unit, for the queue in front of the L1D or past it.
    #[inline(always)]
    fn may_leave_lsu(&self, head: InstId) -> bool {
        if !self.front.is_there() {
            return true;
        }
        let inst = self.lsu.peek(head);
        if inst.passes_front() { self.front.has_room() } else { !self.is_behind_its_warp(head) }
    }

    #[inline(always)]
    fn lsu_ready_at(&self, head: InstId) -> u64 {
        let inst = self.lsu.peek(head);
        if inst.shared { inst.ready_at.max(self.lsu.banks_free_at) } else { inst.ready_at }
    }

    fn memory_may_issue(&self, eligible: WarpMask) -> bool {
        self.lsu.has_room() && self.memory_candidates() & eligible != 0
    }

    /// Returns the ready warps with a memory instruction whose kernel may issue one.
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

    /// Returns the warps of the kernel with the lowest rank, among the kernels with eligible warps in `ready`.
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

    /// Completes the instruction at `pc`, whose destination registers are written.
    #[inline(always)]
    fn write_back(&mut self, warp: u8, pc: u32) {
        let slot = self.warps[usize::from(warp)].as_mut().expect("a warp leaves after its last result");
        slot.scoreboard.remove_dests(&slot.kernel.operands, pc);
        slot.in_flight -= 1;
        self.after_result(warp);
    }

    /// Occupies the register banks of the results of the instruction at `pc` in this cycle.
    #[cold]
    pub(super) fn write_banks(&mut self, warp: u8, pc: u32) {
        if let (Some(collector), Some(slot)) = (&mut self.collector, &self.warps[usize::from(warp)]) {
            let dests = slot.kernel.kernel.code[pc as usize].dests();
            dests.iter().for_each(|dest| collector.write(*dest, warp));
        }
    }

    /// Starts instructions with collected operands in free pipes, and runs a cycle of operand collection.
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

    /// Starts an instruction in its pipe. The latency includes the cycles of an operand collection without stalls.
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

    /// Lets the warp continue, pass its fence or leave, after a result or acknowledgement.
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
            // A result changes the need of a warp only if the warp waits for operands or may ask a mechanism for results.
            Hold::None if !slot.asks && self.needs.of(warp) != Need::OPERANDS => return,
            Hold::Control | Hold::Barrier(_) => return,
            _ => {}
        }
        self.update_need(warp);
    }

    /// Updates the need of a warp's next instruction after an event that may have changed it.
    fn update_need(&mut self, warp: u8) {
        let need = self.need_of(warp);
        if self.is_selective {
            self.note_waiting(warp, need);
        }
        if self.needs.of(warp) == need {
            return;
        }
        // The cycles before this one are attributed to the old needs.
        self.count_stalls_until(self.last_tick.saturating_sub(1));
        self.issue_from = 0;
        self.needs.set(warp, need);
    }

    /// Returns the need of the warp's next instruction.
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

    /// Updates the masks of warps that selective schedulers use.
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
