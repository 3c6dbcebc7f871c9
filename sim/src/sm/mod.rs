//! A streaming multiprocessor: resident CTAs and warps, schedulers, scoreboard, pipes, load/store unit and L1D.
//!
//! Instructions execute when they issue; the timing of their results follows. An SM sleeps while nothing can
//! change in it and says when it must be woken, so idle cycles cost nothing.
pub mod coalescer;
pub mod issue_cycles;
pub mod l1d;
pub mod launch;
pub mod lsu;
#[cfg(test)]
mod occupancy_tests;
pub mod pipes;
pub mod policy;
pub mod scheduler;
pub mod two_level;
pub mod wheel;

use crate::config::GpuConfig;
use crate::memory::{DeviceMemory, physical};
use crate::packet::{Packet, PacketKind};
use crate::partition::{AddressMap, MechanismFault, MemorySystem, Stage};
use crate::ptx::{AccessKind, Ballot, Fault, MemAccess, Space, Step, Warp};
use crate::stats::{FailCause, KernelCounters, SmCounters};
use coalescer::Transaction;
use l1d::{Access, L1d};
use launch::{KERNEL_SLOTS, LaunchedKernel};
use lsu::{InstId, Issued, Lsu};
use pipes::{PIPE_KINDS, PipeKind, Pipes};
use policy::{MemoryEvent, SmPolicy};
use scheduler::{Scheduler, WarpMask};
use std::sync::Arc;
use wheel::EventWheel;

/// Why a simulation cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum SimFault {
    /// The kernel did something that is not allowed.
    #[error(transparent)]
    Kernel(Box<Fault>),
    /// A mechanism's model and RTL differ.
    #[error("{0}")]
    Mechanism(MechanismFault),
    /// Nothing can progress any more.
    #[error("deadlock at cycle {cycle}: {waiting}")]
    Deadlock {
        /// Core cycle.
        cycle: u64,
        /// Who waits for what.
        waiting: String,
    },
    /// A CTA needs more than an SM has.
    #[error("kernel {kernel}: a CTA needs {need}, an SM of `{config}` has {have}")]
    TooLarge {
        /// Kernel name.
        kernel: String,
        /// What is needed.
        need: String,
        /// The configuration's name.
        config: String,
        /// What there is.
        have: String,
    },
    /// A launch that the kernel or any GPU refuses.
    #[error("{0}")]
    Launch(String),
    /// The user asked to stop.
    #[error("interrupted at cycle {cycle}")]
    Interrupted {
        /// Core cycle.
        cycle: u64,
    },
}

/// Marks the token of a read that passed by the L1D; the rest of the token is the instruction.
const BYPASS_TOKEN: u32 = 1 << 31;

/// Something that becomes due in a later cycle.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The destination registers of an instruction are written.
    Writeback { warp: u8, pc: u32 },
    /// The instruction after a branch, barrier or fence may issue.
    Control { warp: u8 },
    /// A transaction's data are there: an L1D hit or a shared-memory access.
    Data { inst: InstId },
}

/// What keeps a resident warp from being considered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// All lanes have exited; results are still under way.
    Exited,
}

/// A resident warp.
struct WarpSlot {
    warp: Warp,
    kernel: Arc<LaunchedKernel>,
    cta: u8,
    hold: Hold,
    /// Registers whose values are under way, one bit each.
    pending: Vec<u64>,
    /// Those among them that come from memory.
    from_memory: Vec<u64>,
    /// Instructions whose results are under way.
    in_flight: u32,
    /// Stores that the L2 has not acknowledged.
    stores: u32,
}

/// A resident CTA.
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
#[derive(Clone, Copy, Debug, Default)]
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
    pub memory: &'a mut DeviceMemory,
    /// Crossbars, L2 and DRAM.
    pub system: &'a mut MemorySystem,
}

/// One SM.
pub struct Sm {
    id: u16,
    config: Arc<GpuConfig>,
    warps: Vec<Option<Box<WarpSlot>>>,
    ctas: Vec<Option<CtaSlot>>,
    schedulers: Vec<Scheduler>,
    pipes: Pipes,
    lsu: Lsu,
    l1d: L1d,
    policy: Box<dyn SmPolicy>,
    map: AddressMap,
    wheel: EventWheel<Event>,
    due: Vec<Event>,
    woken: Vec<InstId>,
    access: MemAccess,
    /// Warps whose next instruction has its operands, by the pipe it needs.
    ready: [WarpMask; PIPE_KINDS],
    /// Warps whose next instruction waits for operands or its destination.
    dependent: WarpMask,
    /// Those among them that wait for memory; only kept where a scheduler asks for it.
    awaiting_memory: WarpMask,
    /// Warps at a barrier, and warps that have exited.
    parked: WarpMask,
    /// Warp slots by kernel slot.
    kernel_warps: [WarpMask; KERNEL_SLOTS],
    /// Resident CTAs by kernel slot.
    kernel_ctas: [u32; KERNEL_SLOTS],
    /// A reply that the mechanism could not take yet.
    held_reply: Option<Packet>,
    /// The load/store unit's head failed for this cause, and nothing has changed since.
    blocked: Option<FailCause>,
    last_tick: u64,
    /// The last cycle in the count of scheduler cycles.
    counted_until: u64,
    free_registers: u32,
    free_shared: u32,
    free_threads: u32,
    finished_ctas: Vec<u8>,
    /// The scheduler that is asked first.
    first_scheduler: usize,
    /// This SM's counters.
    pub counters: SmCounters,
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
    pub fn new(id: u16, config: &Arc<GpuConfig>, policy: Box<dyn SmPolicy>) -> Self {
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
        ];
        let schedulers = (0..sm.schedulers).map(|i| Scheduler::new(sm, i)).collect();
        Sm {
            id,
            config: Arc::clone(config),
            warps: (0..sm.warps).map(|_| None).collect(),
            ctas: (0..sm.ctas).map(|_| None).collect(),
            schedulers,
            pipes: Pipes::new(sm),
            lsu: Lsu::new(sm.lsu.queue),
            l1d: L1d::new(&config.l1d),
            policy,
            map: AddressMap::new(&config.l2),
            wheel: EventWheel::new(longest.into_iter().max().unwrap_or(1)),
            due: Vec::new(),
            woken: Vec::new(),
            access: MemAccess::default(),
            ready: [0; PIPE_KINDS],
            dependent: 0,
            awaiting_memory: 0,
            parked: 0,
            kernel_warps: [0; KERNEL_SLOTS],
            kernel_ctas: [0; KERNEL_SLOTS],
            held_reply: None,
            blocked: None,
            last_tick: 0,
            counted_until: 0,
            free_registers: sm.registers,
            free_shared: sm.shared_bytes,
            free_threads: sm.threads,
            finished_ctas: Vec::new(),
            first_scheduler: 0,
            counters: SmCounters::default(),
            by_kernel: [KernelCounters::default(); KERNEL_SLOTS],
            residence_until: 0,
        }
    }

    /// The mechanism's share of this SM.
    pub fn policy(&self) -> &dyn SmPolicy {
        self.policy.as_ref()
    }

    /// The L1D's counters.
    pub fn l1d(&self) -> &L1d {
        &self.l1d
    }

    /// Invalidates the L1D at the start of a kernel.
    pub fn invalidate_l1d(&mut self) {
        self.l1d.invalidate_all();
    }

    /// Invalidates the L1D's lines of one program at the start of its kernel, while others run.
    pub fn invalidate_program(&mut self, program: u8) {
        self.l1d.invalidate_program(program);
    }

    /// What a kernel slot did in this SM.
    pub fn kernel_counters(&self, slot: usize) -> KernelCounters {
        KernelCounters { l1d: self.l1d.by_kernel[slot], ..self.by_kernel[slot] }
    }

    /// Resident CTAs of a kernel slot.
    pub fn resident_ctas(&self, slot: usize) -> u32 {
        self.kernel_ctas[slot]
    }

    /// Kernel slots of the CTAs that finished since the last call, one entry each.
    pub fn take_finished(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.finished_ctas);
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
        self.ctas[slot] = Some(CtaSlot {
            kernel: Arc::clone(kernel),
            cta,
            shared: vec![0; kernel.shared_bytes as usize],
            live: kernel.warps_per_cta,
            resident: kernel.warps_per_cta,
            barriers: [Barrier::default(); 16],
        });
        for index in 0..kernel.warps_per_cta {
            let free = self.warps.iter().position(Option::is_none).expect("can_launch was checked");
            let words = kernel.kernel.register_count.div_ceil(64);
            self.warps[free] = Some(Box::new(WarpSlot {
                warp: Warp::new(&kernel.kernel, &kernel.dims, cta, index),
                kernel: Arc::clone(kernel),
                cta: slot as u8,
                hold: Hold::None,
                pending: vec![0; words],
                from_memory: vec![0; words],
                in_flight: 0,
                stores: 0,
            }));
            self.kernel_warps[kernel.slot as usize] |= 1 << free;
            let count = self.schedulers.len();
            self.schedulers[free % count].arrive(free as u8);
            self.update_ready(free as u8);
        }
    }

    /// Is nothing resident and nothing in flight?
    pub fn is_idle(&self) -> bool {
        self.ctas.iter().all(Option::is_none) && self.is_drained()
    }

    fn is_drained(&self) -> bool {
        self.lsu.in_flight() == 0 && self.l1d.is_idle() && !self.policy.busy() && self.held_reply.is_none()
    }

    /// Runs core cycle `ctx.now` and returns the next cycle in which the SM must run again; a reply from the
    /// memory system wakes it earlier.
    ///
    /// # Errors
    /// The kernel or a mechanism is at fault.
    pub fn tick(&mut self, ctx: &mut TickContext<'_>) -> Result<u64, SimFault> {
        self.account_for_sleep(ctx.now);
        self.receive(ctx)?;
        self.run_events(ctx.now);
        self.run_lsu(ctx);
        let issued = self.issue(ctx)?;
        self.send(ctx);
        self.counters.issue_cycles += u64::from(issued);
        Ok(self.next_wake(ctx.now))
    }

    /// Counts what went on unchanged in the cycles since the last tick, and in this one.
    fn account_for_sleep(&mut self, now: u64) {
        self.count_stalls_until(now - 1);
        let slept = now - self.last_tick;
        if let (Some(cause), Some(head)) = (self.blocked, self.lsu.head()) {
            self.l1d.fail(self.lsu.peek(head).kernel, cause, slept - 1);
        }
        self.count_residence_until(now);
        if self.ctas.iter().any(Option::is_some) {
            self.counters.resident_cycles += slept;
        }
        self.last_tick = now;
    }

    /// Counts the cycles up to `cycle` for the kernels that have been resident in them.
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
        if self.ctas.iter().all(Option::is_none) {
            self.last_tick = now;
        }
    }

    fn next_wake(&self, now: u64) -> u64 {
        let soon = now + 1;
        if self.policy.busy() || self.held_reply.is_some() || self.l1d.outgoing().is_some() {
            return soon;
        }
        if self.blocked.is_some() && self.policy.watches_failures() {
            return soon;
        }
        let mut wake = self.wheel.next_after(now).unwrap_or(u64::MAX);
        if let (Some(head), None) = (self.lsu.head(), self.blocked) {
            wake = wake.min(self.lsu_ready_at(head).max(soon));
        }
        let eligible = self.eligible();
        for kind in [PipeKind::Alu, PipeKind::Fp64, PipeKind::Sfu, PipeKind::Memory, PipeKind::Control] {
            if self.ready[kind as usize] & eligible == 0
                || kind == PipeKind::Memory && !self.memory_may_issue(eligible)
            {
                continue;
            }
            wake = wake.min(self.pipes.next_free(kind).max(soon));
        }
        wake
    }

    fn lsu_ready_at(&self, head: InstId) -> u64 {
        let inst = self.lsu.peek(head);
        if inst.shared { inst.ready_at.max(self.lsu.banks_free_at) } else { inst.ready_at }
    }

    fn memory_may_issue(&self, eligible: WarpMask) -> bool {
        self.lsu.has_room() && self.memory_candidates() & eligible != 0
    }

    /// Ready warps with a memory instruction whose kernel may issue one.
    fn memory_candidates(&self) -> WarpMask {
        let mut mask = self.ready[PipeKind::Memory as usize];
        for (kernel, warps) in self.kernel_warps.iter().enumerate() {
            if mask & warps != 0 && !self.policy.may_issue_memory(kernel as u8) {
                mask &= !warps;
            }
        }
        mask
    }

    // ---- answers from the memory system -------------------------------------------------------------

    fn receive(&mut self, ctx: &mut TickContext<'_>) -> Result<(), SimFault> {
        if self.policy.busy() {
            self.policy.tick(ctx.now, ctx.memory).map_err(SimFault::Mechanism)?;
            while let Some(packet) = self.policy.fill_leave() {
                self.fill(&packet, ctx.now);
            }
            while self.l1d.can_queue() {
                let Some(packet) = self.policy.store_leave() else { break };
                self.l1d.queue(packet);
            }
        }
        let packet = match self.held_reply.take() {
            Some(packet) => Some(packet),
            None => ctx.system.receive(usize::from(self.id)),
        };
        if let Some(packet) = packet {
            self.answer(packet, ctx);
        }
        Ok(())
    }

    fn answer(&mut self, packet: Packet, ctx: &TickContext<'_>) {
        match packet.kind {
            PacketKind::ReadReply => match self.policy.fill_enter(&packet, ctx.memory) {
                Stage::Through => self.fill(&packet, ctx.now),
                Stage::Taken => {}
                Stage::Full => self.held_reply = Some(packet),
            },
            PacketKind::AtomicReply => self.data_arrived(packet.token, ctx.now),
            PacketKind::WriteAck => self.store_acknowledged(packet.token),
            kind => unreachable!("the memory system sent a request back: {kind:?}"),
        }
    }

    /// A read's data have come to the L1D.
    fn fill(&mut self, packet: &Packet, now: u64) {
        if packet.token & BYPASS_TOKEN != 0 {
            self.data_arrived(packet.token & !BYPASS_TOKEN, now);
            return;
        }
        self.blocked = None;
        let mut woken = std::mem::take(&mut self.woken);
        let missed_at = self.l1d.fill(packet.line, &mut woken);
        self.counters.misses_returned += 1;
        self.counters.miss_latency_cycles += now - missed_at;
        for inst in woken.drain(..) {
            self.data_arrived(inst, now);
        }
        self.woken = woken;
    }

    fn store_acknowledged(&mut self, token: u32) {
        let warp = token as u8;
        if let Some(slot) = &mut self.warps[usize::from(warp)] {
            slot.stores -= 1;
        }
        self.after_result(warp);
    }

    /// One transaction of a load or atomic has its data.
    fn data_arrived(&mut self, inst: InstId, now: u64) {
        if !self.lsu.answered(inst) {
            return;
        }
        let (warp, pc, kernel, writes_back, shared) = {
            let i = self.lsu.get(inst);
            (i.warp, i.pc, i.kernel, i.writes_back, i.shared)
        };
        self.lsu.retire(inst);
        if !shared {
            self.policy.memory_event(now, kernel, MemoryEvent::Completed);
        }
        if writes_back {
            self.write_back(warp, pc);
        } else if !shared {
            self.unanswered_no_more(warp);
        }
    }

    /// A memory instruction without destination, of which the warp may not be gone before it is done.
    fn unanswered_no_more(&mut self, warp: u8) {
        let slot =
            self.warps[usize::from(warp)].as_mut().expect("the warp waits for its memory instructions");
        slot.in_flight -= 1;
        self.after_result(warp);
    }

    // ---- results -------------------------------------------------------------------------------------

    fn run_events(&mut self, now: u64) {
        let mut due = std::mem::take(&mut self.due);
        self.wheel.take(now, &mut due);
        for event in due.drain(..) {
            match event {
                Event::Writeback { warp, pc } => self.write_back(warp, pc),
                Event::Control { warp } => {
                    if let Some(slot) = &mut self.warps[usize::from(warp)] {
                        slot.hold = Hold::None;
                    }
                    self.update_ready(warp);
                }
                Event::Data { inst } => self.data_arrived(inst, now),
            }
        }
        self.due = due;
    }

    /// The destination registers of the instruction at `pc` are there.
    fn write_back(&mut self, warp: u8, pc: u32) {
        let slot = self.warps[usize::from(warp)].as_mut().expect("a warp leaves after its last result");
        for dest in slot.kernel.kernel.code[pc as usize].dests() {
            slot.pending[usize::from(*dest) / 64] &= !(1 << (dest % 64));
            slot.from_memory[usize::from(*dest) / 64] &= !(1 << (dest % 64));
        }
        slot.in_flight -= 1;
        self.after_result(warp);
    }

    /// A result or acknowledgement may let the warp go on, pass its fence or leave.
    fn after_result(&mut self, warp: u8) {
        let Some(slot) = &mut self.warps[usize::from(warp)] else { return };
        let quiet = slot.in_flight == 0 && slot.stores == 0;
        match slot.hold {
            Hold::Exited if quiet => return self.free_warp(warp),
            Hold::Fence { until } if quiet => {
                slot.hold = Hold::Control;
                let now = self.last_tick;
                self.wheel.push(now, until.max(now + 1), Event::Control { warp });
            }
            _ => {}
        }
        self.update_ready(warp);
    }

    /// Recomputes whether the warp's next instruction has its operands, and if not, what it waits for.
    fn update_ready(&mut self, warp: u8) {
        let bit: WarpMask = 1 << warp;
        for mask in &mut self.ready {
            *mask &= !bit;
        }
        self.dependent &= !bit;
        self.awaiting_memory &= !bit;
        self.parked &= !bit;
        let Some(slot) = &self.warps[usize::from(warp)] else { return };
        if matches!(slot.hold, Hold::Barrier(_) | Hold::Exited) {
            self.parked |= bit;
        }
        let (Hold::None, Some(pc)) = (slot.hold, slot.warp.pc()) else { return };
        let instr = &slot.kernel.kernel.code[pc as usize];
        let any_in = |set: &[u64]| {
            let is_in = |r: &u16| set[usize::from(*r) / 64] >> (r % 64) & 1 != 0;
            instr.sources().iter().any(is_in) || instr.dests().iter().any(is_in)
        };
        if slot.in_flight > 0 && any_in(&slot.pending) {
            self.dependent |= bit;
            if self.schedulers[0].is_selective() && any_in(&slot.from_memory) {
                self.awaiting_memory |= bit;
            }
            return;
        }
        self.ready[slot.kernel.info[pc as usize].pipe as usize] |= bit;
    }

    // ---- load/store unit -------------------------------------------------------------------------------

    fn run_lsu(&mut self, ctx: &TickContext<'_>) {
        let now = ctx.now;
        if let Some(cause) = self.blocked {
            self.fail(cause, now);
            return;
        }
        let Some(head) = self.lsu.head() else { return };
        if self.lsu_ready_at(head) > now {
            return;
        }
        if self.lsu.get(head).shared {
            self.access_shared(head, now);
        } else {
            self.access_l1d(head, ctx);
        }
    }

    fn access_shared(&mut self, head: InstId, now: u64) {
        let inst = self.lsu.get(head);
        let (cycles, writes_back) = (u64::from(inst.bank_cycles), inst.writes_back);
        self.lsu.banks_free_at = now + cycles;
        self.counters.bank_conflict_cycles += cycles - 1;
        self.lsu.pop();
        if writes_back {
            let at = now + cycles - 1 + u64::from(self.config.sm.lsu.shared_latency);
            self.wheel.push(now, at, Event::Data { inst: head });
        } else {
            self.lsu.retire(head);
        }
    }

    /// Tries the head's next line transaction.
    fn access_l1d(&mut self, head: InstId, ctx: &TickContext<'_>) {
        let inst = self.lsu.get(head);
        let (kind, kernel, bypass) = (inst.kind, inst.kernel, inst.bypass);
        let transaction = inst.transactions[inst.next];
        let token = match kind {
            AccessKind::Load if bypass => head | BYPASS_TOKEN,
            AccessKind::Store => u32::from(inst.warp),
            _ => head,
        };
        let packet = self.packet(&transaction, kind, kernel, token);
        let sent = match kind {
            AccessKind::Load if !bypass => match self.l1d.load(packet, head, ctx.now) {
                Access::Hit => {
                    let at = ctx.now + u64::from(self.config.l1d.hit_latency);
                    self.wheel.push(ctx.now, at, Event::Data { inst: head });
                    Ok(())
                }
                Access::Pending | Access::Miss => Ok(()),
                Access::Fail(cause) => Err(cause),
            },
            AccessKind::Load => self.queue_past_l1d(packet),
            AccessKind::Store | AccessKind::Atomic { .. } => self.write(packet, ctx),
        };
        match sent {
            Ok(()) => {
                self.policy.memory_event(ctx.now, kernel, MemoryEvent::Request);
                self.advance(head, ctx.now);
            }
            Err(cause) => {
                self.blocked = Some(cause);
                self.fail(cause, ctx.now);
            }
        }
    }

    fn fail(&mut self, cause: FailCause, now: u64) {
        if let Some(head) = self.lsu.head() {
            let kernel = self.lsu.get(head).kernel;
            self.l1d.fail(kernel, cause, 1);
            self.policy.memory_event(now, kernel, MemoryEvent::ReservationFailure);
        }
    }

    fn packet(&self, transaction: &Transaction, kind: AccessKind, kernel: u8, token: u32) -> Packet {
        let data_bytes = match kind {
            AccessKind::Load => 0,
            _ => transaction.byte_count() as u16,
        };
        let sectors = match kind {
            AccessKind::Load => 0xffff_ffff >> (32 - self.config.l1d.line_bytes / coalescer::SECTOR_BYTES),
            _ => transaction.sectors,
        };
        let line = physical(kernel, transaction.line);
        Packet {
            kind: l1d::kind_of(kind),
            line,
            sectors,
            full_sectors: transaction.full_sectors(),
            data_bytes,
            sm: self.id,
            partition: self.map.partition(line),
            kernel,
            token,
            payload: 0,
        }
    }

    fn queue_past_l1d(&mut self, packet: Packet) -> Result<(), FailCause> {
        if !self.l1d.can_queue() {
            return Err(FailCause::MissQueue);
        }
        self.l1d.bypass(packet.kernel);
        self.l1d.queue(packet);
        Ok(())
    }

    /// A store or atomic: evicts the line from the L1D and goes to the L2, through the mechanism if it has a stage.
    fn write(&mut self, packet: Packet, ctx: &TickContext<'_>) -> Result<(), FailCause> {
        if !self.l1d.can_queue() {
            return Err(FailCause::MissQueue);
        }
        let stage = match packet.kind {
            PacketKind::Write => self.policy.store_enter(&packet, ctx.memory),
            _ => Stage::Through,
        };
        match stage {
            Stage::Full => return Err(FailCause::MissQueue),
            Stage::Taken => {}
            Stage::Through => self.l1d.queue(packet),
        }
        self.l1d.write(packet.kernel, packet.line);
        Ok(())
    }

    /// The head's transaction is on its way; after the last one the next instruction has its turn.
    fn advance(&mut self, head: InstId, now: u64) {
        let inst = self.lsu.get(head);
        inst.next += 1;
        let is_last = inst.next == inst.transactions.len();
        let (warp, kernel, is_store) = (inst.warp, inst.kernel, inst.kind == AccessKind::Store);
        if is_store {
            self.warps[usize::from(warp)].as_mut().expect("the warp waits for its stores").stores += 1;
        }
        if !is_last {
            return;
        }
        self.lsu.pop();
        if !is_store {
            return;
        }
        // A store is complete for the SM when its last packet has left; the acknowledgements only matter to fences.
        self.lsu.retire(head);
        self.policy.memory_event(now, kernel, MemoryEvent::Completed);
        self.unanswered_no_more(warp);
    }

    fn send(&mut self, ctx: &mut TickContext<'_>) {
        let Some(packet) = self.l1d.outgoing() else { return };
        let sm = usize::from(self.id);
        if !ctx.system.can_send(sm, packet) {
            return;
        }
        let packet = self.l1d.sent().expect("there is an outgoing packet");
        ctx.system.send(sm, packet);
        if self.blocked == Some(FailCause::MissQueue) {
            self.blocked = None;
        }
    }

    // ---- issue -----------------------------------------------------------------------------------------

    /// Lets every scheduler issue one instruction; true when at least one did.
    fn issue(&mut self, ctx: &mut TickContext<'_>) -> Result<bool, SimFault> {
        let issued = if self.ready.iter().all(|m| *m == 0) { 0 } else { self.ask_schedulers(ctx)? };
        self.count_issue(issued, ctx.now);
        let waiting = self.parked | self.awaiting_memory;
        self.schedulers.iter_mut().for_each(|s| s.end_cycle(waiting));
        Ok(issued != 0)
    }

    /// The schedulers that issued, one bit each.
    fn ask_schedulers(&mut self, ctx: &mut TickContext<'_>) -> Result<u32, SimFault> {
        let mut issued = 0;
        let count = self.schedulers.len();
        let first = self.first_scheduler;
        for scheduler in (first..count).chain(0..first) {
            let mine = self.schedulers[scheduler].eligible(self.parked) & self.schedulers[scheduler].mine;
            let candidates = self.candidates(ctx.now) & mine;
            if let Some(warp) = self.schedulers[scheduler].choose(candidates) {
                if self.issue_warp(warp, ctx)?.is_single() {
                    // Pipes that all schedulers share go round.
                    self.first_scheduler = (scheduler + 1) % count;
                }
                issued |= 1 << scheduler;
            }
        }
        Ok(issued)
    }

    /// Warps with operands whose pipe is free.
    fn candidates(&self, now: u64) -> WarpMask {
        let mut mask = 0;
        for kind in [PipeKind::Alu, PipeKind::Fp64, PipeKind::Sfu, PipeKind::Control] {
            if self.ready[kind as usize] != 0 && self.pipes.is_free(kind, now) {
                mask |= self.ready[kind as usize];
            }
        }
        let memory = self.ready[PipeKind::Memory as usize];
        if memory != 0 && self.lsu.has_room() && self.pipes.is_free(PipeKind::Memory, now) {
            mask |= self.memory_candidates();
        }
        mask
    }

    /// Executes the warp's next instruction and returns the pipe that it took.
    fn issue_warp(&mut self, warp: u8, ctx: &mut TickContext<'_>) -> Result<PipeKind, SimFault> {
        let slot = self.warps[usize::from(warp)].as_mut().expect("a ready warp is resident");
        let kernel = Arc::clone(&slot.kernel);
        let pc = slot.warp.pc().expect("a ready warp has a next instruction");
        let info = kernel.info[pc as usize];
        let active = slot.warp.active_mask();
        let cta = self.ctas[usize::from(slot.cta)].as_mut().expect("a resident warp's CTA is resident");
        let place = launch::Place { clock: ctx.now, sm: u32::from(self.id), sms: self.config.sm.count };
        ctx.memory.select(kernel.slot);
        let mut env = kernel.environment(ctx.memory, &mut cta.shared, place);
        let step = slot.warp.step(&kernel.kernel, &mut env, &mut self.access).map_err(SimFault::Kernel)?;
        self.pipes.occupy(info.pipe, ctx.now);
        self.counters.warp_instructions += 1;
        let mine = &mut self.by_kernel[usize::from(kernel.slot)];
        mine.warp_instructions += 1;
        let lanes = match step {
            Step::Alu { active } | Step::Texture { active } => active,
            Step::Memory => self.access.mask,
            _ => active,
        };
        self.counters.thread_instructions += u64::from(lanes.count_ones());
        mine.thread_instructions += u64::from(lanes.count_ones());
        match step {
            Step::Alu { .. } => self.after_alu(warp, pc, &kernel, ctx.now),
            Step::Memory | Step::Texture { .. } => self.after_memory(warp, pc, &kernel, ctx.now),
            Step::Barrier { id, threads, arrive_only, ballot } => {
                self.arrive_at_barrier(warp, Arrival { id, threads, arrive_only, ballot }, ctx.now)
            }
            Step::Fence => self.hold_for_fence(warp, info.latency, ctx.now),
            Step::Exit => self.after_exit(warp, info.latency, ctx.now),
        }
        self.update_ready(warp);
        Ok(info.pipe)
    }

    fn after_alu(&mut self, warp: u8, pc: u32, kernel: &LaunchedKernel, now: u64) {
        let info = kernel.info[pc as usize];
        let at = now + u64::from(info.latency);
        if info.pipe == PipeKind::Control {
            return self.hold_for_control(warp, info.latency, now);
        }
        if self.expect_result(warp, pc, kernel) {
            self.wheel.push(now, at, Event::Writeback { warp, pc });
        }
    }

    /// Marks the destinations of the instruction as under way; false when it has none.
    fn expect_result(&mut self, warp: u8, pc: u32, kernel: &LaunchedKernel) -> bool {
        let dests = kernel.kernel.code[pc as usize].dests();
        if dests.is_empty() {
            return false;
        }
        let slot = self.warps[usize::from(warp)].as_mut().expect("the issuing warp is resident");
        for dest in dests {
            slot.pending[usize::from(*dest) / 64] |= 1 << (dest % 64);
        }
        slot.in_flight += 1;
        true
    }

    fn after_memory(&mut self, warp: u8, pc: u32, kernel: &LaunchedKernel, now: u64) {
        if matches!(self.access.space, Space::Param | Space::Const) || self.access.mask == 0 {
            let latency = kernel.info[pc as usize].latency.max(self.config.sm.lsu.const_latency);
            if self.expect_result(warp, pc, kernel) {
                self.wheel.push(now, now + u64::from(latency), Event::Writeback { warp, pc });
            }
            return;
        }
        let writes_back = self.expect_result(warp, pc, kernel);
        let shared = self.access.space == Space::Shared;
        if writes_back && !shared {
            self.expect_from_memory(warp, pc, kernel);
        }
        if !writes_back && !shared {
            // The warp must not pass a fence or leave before its stores have left and its reductions are done.
            self.warps[usize::from(warp)].as_mut().expect("the issuing warp is resident").in_flight += 1;
        }
        let ready_at = now + u64::from(32 / self.config.sm.lsu.lanes);
        let issued = Issued { warp, kernel: kernel.slot, pc, writes_back, ready_at };
        let (line_bytes, banks) = (self.config.l1d.line_bytes, self.config.sm.lsu.shared_banks);
        let id = self.lsu.accept(&issued, &self.access, line_bytes, banks);
        let transactions = self.lsu.get(id).transactions.len() as u64;
        self.counters.memory_instructions += 1;
        self.counters.transactions += transactions;
        let mine = &mut self.by_kernel[usize::from(kernel.slot)];
        mine.memory_instructions += 1;
        mine.transactions += transactions;
        if !shared {
            self.policy.memory_event(now, kernel.slot, MemoryEvent::Issued);
        }
    }

    /// Marks the destinations, which are under way, as coming from memory.
    fn expect_from_memory(&mut self, warp: u8, pc: u32, kernel: &LaunchedKernel) {
        let slot = self.warps[usize::from(warp)].as_mut().expect("the issuing warp is resident");
        for dest in kernel.kernel.code[pc as usize].dests() {
            slot.from_memory[usize::from(*dest) / 64] |= 1 << (dest % 64);
        }
    }

    fn hold_for_control(&mut self, warp: u8, latency: u32, now: u64) {
        let slot = self.warps[usize::from(warp)].as_mut().expect("the issuing warp is resident");
        slot.hold = Hold::Control;
        self.parked &= !(1 << warp);
        self.wheel.push(now, now + u64::from(latency), Event::Control { warp });
    }

    fn hold_for_fence(&mut self, warp: u8, latency: u32, now: u64) {
        let slot = self.warps[usize::from(warp)].as_mut().expect("the issuing warp is resident");
        if slot.in_flight == 0 && slot.stores == 0 {
            return self.hold_for_control(warp, latency, now);
        }
        slot.hold = Hold::Fence { until: now + u64::from(latency) };
    }

    fn arrive_at_barrier(&mut self, warp: u8, arrival: Arrival, now: u64) {
        let Arrival { id, threads, arrive_only, ballot } = arrival;
        let slot = self.warps[usize::from(warp)].as_mut().expect("the issuing warp is resident");
        let cta_slot = slot.cta;
        if !arrive_only {
            slot.hold = Hold::Barrier(id);
        }
        let cta = self.ctas[usize::from(cta_slot)].as_mut().expect("a resident warp's CTA is resident");
        let barrier = &mut cta.barriers[id as usize];
        barrier.arrived += 1;
        barrier.waiting |= WarpMask::from(!arrive_only) << warp;
        barrier.threads = threads.unwrap_or(0);
        barrier.ballot += ballot;
        if arrive_only {
            self.hold_for_control(warp, self.config.sm.branch_latency, now);
        }
        self.try_barriers(cta_slot, now);
    }

    /// Releases every barrier of the CTA at which all expected warps have arrived.
    fn try_barriers(&mut self, cta_slot: u8, now: u64) {
        let cta = self.ctas[usize::from(cta_slot)].as_mut().expect("the CTA is resident");
        let mut released: WarpMask = 0;
        for barrier in &mut cta.barriers {
            let expected = if barrier.threads == 0 { cta.live } else { barrier.threads.div_ceil(32) };
            if barrier.arrived > 0 && barrier.arrived >= expected {
                let barrier = std::mem::take(barrier);
                for warp in warps_of(barrier.waiting) {
                    let slot = self.warps[usize::from(warp)].as_mut().expect("a waiting warp is resident");
                    slot.warp.pass_barrier(&slot.kernel.kernel, barrier.ballot);
                }
                released |= barrier.waiting;
            }
        }
        for warp in warps_of(released) {
            self.hold_for_control(warp, self.config.sm.branch_latency, now);
        }
    }

    fn after_exit(&mut self, warp: u8, latency: u32, now: u64) {
        let slot = self.warps[usize::from(warp)].as_mut().expect("the issuing warp is resident");
        if slot.warp.pc().is_some() {
            return self.hold_for_control(warp, latency, now);
        }
        slot.hold = Hold::Exited;
        let cta_slot = slot.cta;
        self.ctas[usize::from(cta_slot)].as_mut().expect("the CTA is resident").live -= 1;
        self.try_barriers(cta_slot, now);
        self.after_result(warp);
    }

    /// The warp has no result or store under way any more: its slot is free, and its CTA's with the last warp.
    fn free_warp(&mut self, warp: u8) {
        let slot = self.warps[usize::from(warp)].take().expect("the warp is resident");
        let count = self.schedulers.len();
        self.schedulers[usize::from(warp) % count].leave(warp);
        self.kernel_warps[usize::from(slot.kernel.slot)] &= !(1 << warp);
        self.update_ready(warp);
        let cta = self.ctas[usize::from(slot.cta)].as_mut().expect("the CTA is resident");
        cta.resident -= 1;
        if cta.resident > 0 {
            return;
        }
        let kernel = Arc::clone(&cta.kernel);
        self.ctas[usize::from(slot.cta)] = None;
        self.free_registers += kernel.registers_per_cta;
        self.free_shared += kernel.shared_bytes;
        self.free_threads += kernel.warps_per_cta * 32;
        self.counters.ctas += 1;
        self.by_kernel[usize::from(kernel.slot)].ctas += 1;
        self.kernel_ctas[usize::from(kernel.slot)] -= 1;
        self.finished_ctas.push(kernel.slot);
    }

    /// Who waits for what, for a deadlock report.
    pub fn describe_waiting(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (index, slot) in self.warps.iter().enumerate() {
            let Some(slot) = slot else { continue };
            let cta = self.ctas[usize::from(slot.cta)].as_ref().map_or([0; 3], |c| c.cta);
            let at = slot.warp.pc().map_or(0, |pc| slot.kernel.kernel.code[pc as usize].line);
            let what = match slot.hold {
                Hold::Barrier(id) => format!("waits at barrier {id}"),
                Hold::Fence { .. } => "waits at a fence".into(),
                Hold::Exited => "has exited and waits for its last results".into(),
                Hold::Control | Hold::None => "waits for operands or a pipe".into(),
            };
            lines.push(format!(
                "sm{} warp {index} (kernel {}, CTA {},{},{}, before PTX line {at}) {what}",
                self.id, slot.kernel.kernel.name, cta[0], cta[1], cta[2]
            ));
        }
        if !self.is_drained() {
            lines.push(format!(
                "sm{} LSU: {} instructions wait, L1D: {}",
                self.id,
                self.lsu.waiting(),
                self.l1d.describe_waiting()
            ));
        }
        lines
    }
}
