//! Issue in an SM: the choice of a warp by each scheduler, the execution of its instruction, and the effects by instruction kind.
use super::coalescer::remote_segments;
use super::collector::{AfterPipe, Collected};
use super::cta_slot::BarrierArrival;
use super::events::SmEvent;
use super::launch::{self, LaunchedKernel};
use super::lsu;
use super::part::{Extras, IssueReport, MemoryEvent};
use super::pipes::{IssueInfo, PipeKind, Pipes};
use super::scheduler::WarpMask;
use super::token::InstId;
use super::warp_slot::Hold;
use super::{SimResult, Sm, TickContext};
use crate::cache::SECTOR_BYTES;
use crate::config::ReadOnlyCache;
use selvedge_ptx::ptx::{AccessKind, MemAccess, Space, Step};
use std::num::NonZeroU32;

/// The schedulers that issued in a cycle, one bit each.
#[derive(Clone, Copy, Debug, Default)]
struct IssuedSchedulers {
    /// Issued an instruction of a warp, or an extra one instead.
    own: u32,
    /// Issued an extra instruction because no warp was ready.
    idle: u32,
}

impl Sm {
    /// Lets every scheduler issue at most one instruction. Returns whether any did.
    pub(super) fn issue(&mut self, ctx: &mut TickContext<'_>) -> SimResult<bool> {
        self.count_stalls_until(ctx.now - 1);
        let extras = self.parts.extras(ctx.now);
        let nothing = extras.is_none() && !self.issue_stage.needs.any_ready();
        let IssuedSchedulers { own, idle } =
            if nothing { IssuedSchedulers::default() } else { self.ask_schedulers(extras, ctx)? };
        let issued = own | idle;
        self.count_issue(issued, ctx.now);
        if self.parts.busy() {
            self.report_issue(own == 0, ctx.now);
        }
        if self.issue_stage.is_selective {
            let waiting = self.issue_stage.parked | self.issue_stage.awaiting_memory;
            self.issue_stage.schedulers.iter_mut().for_each(|s| s.end_cycle(waiting));
        }
        if self.issue_stage.may_rest() {
            self.issue_stage.rest(self.next_issue(ctx.now + 1));
        }
        Ok(issued != 0)
    }

    /// Reports the issue of a cycle to the mechanism. `idle`: no scheduler issued an instruction for a warp.
    #[inline(never)]
    fn report_issue(&mut self, idle: bool, now: u64) {
        let busy = PipeKind::ALL.map(|kind| !self.issue_stage.pipes.is_free(kind, now));
        let memory_waits = self.memory.is_blocked() || self.memory.l1d.is_strained();
        self.parts.issue_ended(&IssueReport { busy, idle, memory_waits });
    }

    /// Lets every scheduler issue, in round-robin order, with a mechanism's extra instructions.
    fn ask_schedulers(
        &mut self,
        mut extras: Option<Extras>,
        ctx: &mut TickContext<'_>,
    ) -> SimResult<IssuedSchedulers> {
        let mut issued = IssuedSchedulers::default();
        let count = self.issue_stage.schedulers.len();
        let collects = self.issue_stage.collector.is_some();
        let first = self.issue_stage.first(ctx.now);
        let held = self.parts.held_warps();
        let mut known = None;
        for at in 0..count {
            let scheduler = if first + at < count { first + at } else { first + at - count };
            if extras.is_none() && !self.issue_stage.needs.of_scheduler(scheduler).any_ready() {
                continue;
            }
            let ready = match known {
                _ if collects => self.collectable(scheduler),
                Some(ready) => ready,
                None => *known.insert(self.candidates(ctx.now)),
            };
            let stage = &self.issue_stage;
            let mine = stage.schedulers[scheduler].mine;
            let mut candidates = ready & mine & !held;
            if stage.is_selective {
                candidates &= stage.schedulers[scheduler].eligible(stage.parked);
            }
            if stage.quotas.is_some() {
                candidates &= !stage.stopped(&self.residents.program_warps);
            }
            // Limits on warps and quotas do not apply to extra instructions, which are not the warp's own.
            let extra = extras.as_ref().map_or(0, |extras| self.issuable(extras, ctx.now) & mine);
            candidates |= extra;
            if let Some(warp) = self.issue_stage.schedulers[scheduler].choose(candidates) {
                let pipe = match &extras {
                    Some(extras) if extra >> warp & 1 == 1 => self.issue_extra(warp, extras, ctx.now),
                    _ => self.issue_warp(warp, ctx)?,
                };
                self.issue_stage.take_turns(scheduler, pipe);
                issued.own |= 1 << scheduler;
                if self.parts.watches_schedules() {
                    self.follow_schedule(scheduler, warp, candidates);
                }
            } else if let Some(extras) = &mut extras
                && let Some(pipe) = extras.idle.take_if(|pipe| self.issue_stage.pipes.is_free(*pipe, ctx.now))
            {
                self.issue_idle_extra(pipe, ctx.now);
                issued.idle |= 1 << scheduler;
            } else {
                continue;
            }
            // The instruction may have made any warp ready or not ready, and has occupied a pipe.
            known = None;
        }
        Ok(issued)
    }

    /// Reports to the mechanism when the issue of `warp` ends another warp's schedule.
    fn follow_schedule(&mut self, scheduler: usize, warp: u8, candidates: WarpMask) {
        let ended = self.issue_stage.schedules[scheduler].issue(warp, candidates.count_ones());
        if let Some((cycles, warps)) = ended {
            self.parts.schedule_ended(scheduler, cycles, warps);
        }
    }

    /// Returns the warps with an extra instruction whose pipe is free.
    fn issuable(&self, extras: &Extras, now: u64) -> WarpMask {
        let kinds = PipeKind::ALL.into_iter().filter(|kind| extras.ready[*kind as usize] != 0);
        let free = kinds.filter(|kind| self.issue_stage.pipes.is_free(*kind, now));
        free.fold(0, |mask, kind| mask | extras.ready[kind as usize])
    }

    /// Issues the extra instruction for idle cycles in its pipe.
    fn issue_idle_extra(&mut self, pipe: PipeKind, now: u64) {
        self.issue_stage.pipes.occupy(pipe, Pipes::interval(pipe, &self.config.sm), now);
        self.tally.counters.events.count_assist(pipe, 0);
        if let Some(assist) = self.parts.assist() {
            assist.issue_idle_extra(now);
        }
    }

    /// Issues the extra instruction of a warp. Returns the pipe that it occupied.
    fn issue_extra(&mut self, warp: u8, extras: &Extras, now: u64) -> PipeKind {
        let needs = |kind: &PipeKind| extras.ready[*kind as usize] >> warp & 1 == 1;
        let pipe = PipeKind::ALL.into_iter().find(needs).unwrap_or(PipeKind::Control);
        self.issue_stage.pipes.occupy(pipe, Pipes::interval(pipe, &self.config.sm), now);
        let bank_cycles = self.parts.assist().map_or(0, |assist| assist.issue_extra(now, warp));
        self.tally.counters.events.count_assist(pipe, bank_cycles);
        if bank_cycles > 0 {
            self.memory.lsu.banks_free_at = self.memory.lsu.banks_free_at.max(now) + u64::from(bank_cycles);
        }
        pipe
    }

    /// Returns the warps with available operands and a free pipe.
    #[inline(always)]
    fn candidates(&self, now: u64) -> WarpMask {
        let mut mask = self.issue_stage.ready_for_pipes(now);
        let memory = self.issue_stage.needs.ready(PipeKind::Memory);
        if memory != 0 && self.memory.lsu.has_room() && self.issue_stage.pipes.is_free(PipeKind::Memory, now)
        {
            mask |= self.memory_candidates();
        }
        mask
    }

    /// Returns the warps with available operands that fit into operand collection.
    #[cold]
    fn collectable(&self, scheduler: usize) -> WarpMask {
        let Some(collector) = &self.issue_stage.collector else { return 0 };
        let mut mask = self.issue_stage.ready_for_collector(collector, scheduler);
        let memory = self.issue_stage.needs.ready(PipeKind::Memory);
        if memory != 0 && self.memory.lsu.has_room() && collector.has_room(PipeKind::Memory, scheduler) {
            mask |= self.memory_candidates();
        }
        mask
    }

    /// Schedules the result of an issued instruction after `latency` cycles, or starts the collection of its operands.
    #[inline(always)]
    fn begin(&mut self, warp: u8, pc: u32, kernel: &LaunchedKernel, latency: u32, now: u64) {
        if self.expect_result(warp, pc, kernel) {
            if self.issue_stage.collector.is_some() {
                return self.collect(warp, pc, kernel, AfterPipe::Result(latency));
            }
            self.events.push(now, now + u64::from(latency), SmEvent::Writeback { warp, pc });
        } else if self.issue_stage.collector.is_some() {
            self.collect(warp, pc, kernel, AfterPipe::Nothing);
        }
    }

    /// Puts an issued instruction into operand collection.
    #[cold]
    fn collect(&mut self, warp: u8, pc: u32, kernel: &LaunchedKernel, next: AfterPipe) {
        let Some(collector) = &mut self.issue_stage.collector else { return };
        let IssueInfo { pipe, interval, .. } = kernel.info[pc as usize];
        let scheduler = warp % self.issue_stage.schedulers.len() as u8;
        let sources = kernel.kernel.code[pc as usize].sources();
        collector.issue(Collected { warp, pc, pipe, interval, scheduler, next }, sources);
    }

    /// Executes the warp's next instruction. Returns the pipe that it occupied.
    fn issue_warp(&mut self, warp: u8, ctx: &mut TickContext<'_>) -> SimResult<PipeKind> {
        let slot = self.residents.warp_mut(warp);
        if let Some(border) = slot.border.take() {
            return Ok(self.cross_border(warp, border, ctx.now));
        }
        if slot.asks {
            slot.enter_region();
        }
        // Moves the kernel out for the instruction, because cloning the `Arc` costs an atomic access to memory.
        let number = usize::from(slot.kernel.slot);
        let kernel = self.residents.kernels[number].take().expect("a resident warp's kernel is there");
        let issued = self.execute(warp, &kernel, ctx);
        self.residents.kernels[number] = Some(kernel);
        issued
    }

    /// Executes the next instruction of a warp of `kernel`. Returns the pipe that it occupied.
    #[inline(always)]
    fn execute(
        &mut self,
        warp: u8,
        kernel: &LaunchedKernel,
        ctx: &mut TickContext<'_>,
    ) -> SimResult<PipeKind> {
        let (slot, cta) = self.residents.warp_and_cta(warp);
        let pc = slot.warp.pc().expect("a ready warp has a next instruction");
        let info = kernel.info[pc as usize];
        let active = slot.warp.active_mask();
        let place = launch::ClockAndSm { clock: ctx.now, sm: u32::from(self.id), sms: self.config.sm.count };
        ctx.memory.select(kernel.program);
        cta.enter(ctx.memory);
        let mut env = kernel.environment(ctx.memory, &mut cta.shared, place);
        let step = slot.warp.step(kernel, &mut env, &mut self.issue_stage.access);
        cta.leave(ctx.memory);
        let step = step?;
        if self.issue_stage.collector.is_none() {
            self.issue_stage.pipes.occupy(info.pipe, info.interval, ctx.now);
        }
        if let Some(quotas) = &mut self.issue_stage.quotas {
            quotas.issued(kernel.program);
            quotas.settle(&self.residents.program_warps);
        }
        let lanes = step.lanes(active, &self.issue_stage.access);
        // Without a popcount instruction, comparing with a full mask is faster than counting its bits.
        let lanes = if lanes == u32::MAX { 32 } else { u64::from(lanes.count_ones()) };
        self.tally.issued(kernel.slot, info.work, lanes);
        match step {
            Step::Alu { .. } => self.after_alu(warp, pc, kernel, ctx.now),
            Step::Memory => {
                self.after_memory(warp, pc, kernel, self.constant_cache(), ctx.now);
            }
            Step::PhaseEnd => {
                self.after_memory(warp, pc, kernel, None, ctx.now);
                self.phase_ended(self.residents.warp(warp).cta, ctx.now);
            }
            Step::Async => self.after_async(warp, pc, kernel, ctx)?,
            Step::Message { bytes } => {
                self.send_message(warp, bytes, ctx.now);
                self.after_alu(warp, pc, kernel, ctx.now);
            }
            Step::Suspend { cycles } => self.suspend(warp, cycles, ctx.now),
            Step::Texture { .. } => {
                self.after_memory(warp, pc, kernel, self.texture_cache(), ctx.now);
            }
            Step::Barrier { id, threads, arrive_only } => {
                let ballot = self.residents.warp(warp).warp.ballot(kernel);
                let threads = threads.map(NonZeroU32::get);
                self.arrive_at_barrier(
                    warp,
                    BarrierArrival { id: id.into(), threads, arrive_only, ballot },
                    ctx.now,
                )
            }
            Step::Yield => self.hold_for_control(warp, self.config.sm.branch_latency, ctx.now),
            Step::Fence => self.hold_for_fence(warp, info.latency.into(), ctx.now),
            Step::AwaitReads => self.hold_for_reads(warp, info.latency.into(), ctx.now),
            Step::Exit => self.after_exit(warp, info.latency.into(), ctx.now),
        }
        self.fetch_instruction(warp, ctx);
        self.update_need(warp);
        Ok(info.pipe)
    }

    /// Returns the constant cache for a load of constants or parameters, if the configuration has one.
    fn constant_cache(&self) -> Option<ReadOnlyCache> {
        let access = &self.issue_stage.access;
        let is_bank = matches!(access.space, Space::Param | Space::Const);
        let is_load = access.kind == AccessKind::Load;
        let is_cached = is_bank && is_load && self.memory.read_only.has(ReadOnlyCache::Constant);
        is_cached.then_some(ReadOnlyCache::Constant)
    }

    /// Returns the texture cache for a texture sample, if the configuration has one.
    fn texture_cache(&self) -> Option<ReadOnlyCache> {
        self.memory.read_only.has(ReadOnlyCache::Texture).then_some(ReadOnlyCache::Texture)
    }

    fn after_alu(&mut self, warp: u8, pc: u32, kernel: &LaunchedKernel, now: u64) {
        let info = kernel.info[pc as usize];
        let latency = match info.pipe {
            PipeKind::Control => return self.hold_for_control(warp, info.latency.into(), now),
            // A memory instruction whose guard is false in all lanes accesses nothing, but passes the load/store unit.
            PipeKind::Memory => self.config.sm.lsu.const_latency,
            _ => info.latency.into(),
        };
        self.begin(warp, pc, kernel, latency, now);
    }

    /// Marks the destinations of the instruction as in flight. Returns whether it has any.
    fn expect_result(&mut self, warp: u8, pc: u32, kernel: &LaunchedKernel) -> bool {
        let slot = self.residents.warp_mut(warp);
        let writes = slot.scoreboard.insert_dests(&kernel.operands, pc);
        slot.in_flight += u32::from(writes);
        writes
    }

    /// Passes the access of the instruction to the load/store unit, unless it is a constant or has no lanes.
    pub(super) fn after_memory(
        &mut self,
        warp: u8,
        pc: u32,
        kernel: &LaunchedKernel,
        read_only: Option<ReadOnlyCache>,
        now: u64,
    ) -> Option<InstId> {
        let access = &self.issue_stage.access;
        let is_bank = matches!(access.space, Space::Param | Space::Const) && read_only.is_none();
        if is_bank || access.mask == 0 {
            let latency = u32::from(kernel.info[pc as usize].latency).max(self.config.sm.lsu.const_latency);
            self.begin(warp, pc, kernel, latency, now);
            return None;
        }
        let shared = access.space == Space::Shared;
        if kernel.slot != kernel.program {
            separate(&mut self.issue_stage.access, kernel.slot);
        }
        let writes_back = self.expect_result(warp, pc, kernel);
        if writes_back && !shared {
            self.expect_from_memory(warp, pc, kernel);
        }
        let slot = self.residents.warp_mut(warp);
        if !writes_back && !shared {
            // The warp must not pass a fence or leave before its stores have left the SM and its reductions are done.
            slot.in_flight += 1;
        }
        let lsu = &self.config.sm.lsu;
        let ready_at = now + u64::from(lsu.pipeline_latency + 32 / lsu.lanes);
        let cta = slot.cta;
        let issued =
            lsu::IssuedAccess { warp, cta, kernel: kernel.program, pc, writes_back, ready_at, read_only };
        let line_bytes = match read_only {
            None => self.config.l1d.line_bytes,
            Some(cache) => self.config.sm.read_only(cache).line_bytes,
        };
        let id = self.memory.lsu.accept(&issued, &self.issue_stage.access, line_bytes, lsu.shared_banks);
        if self.issue_stage.collector.is_some() {
            self.memory.lsu.get(id).ready_at = u64::MAX;
            self.collect(warp, pc, kernel, AfterPipe::Memory(id));
        }
        if shared && kernel.in_clusters {
            self.leave_sm(id);
        }
        let inst = self.memory.lsu.peek(id);
        let transactions = inst.transactions.len() as u64;
        self.tally.counters.events.shared_cycles += if shared { u64::from(inst.bank_cycles) } else { 0 };
        self.tally.accessed(kernel.slot, transactions);
        if !shared && read_only.is_none() {
            self.parts.memory_event(now, kernel.program, MemoryEvent::Issued);
        }
        Some(id)
    }

    /// Gives an access to shared memory the time of the network between SMs, if it uses the shared memory of another CTA.
    #[cold]
    fn leave_sm(&mut self, id: InstId) {
        let segments = remote_segments(&self.issue_stage.access);
        if segments > 0 {
            let inst = self.memory.lsu.get(id);
            inst.remote = true;
            let cycles = (segments * SECTOR_BYTES).div_ceil(self.config.sm.cluster.bytes);
            inst.bank_cycles = inst.bank_cycles.max(cycles);
        }
    }

    /// Marks the destinations, which are in flight, as coming from memory.
    fn expect_from_memory(&mut self, warp: u8, pc: u32, kernel: &LaunchedKernel) {
        let slot = self.residents.warp_mut(warp);
        slot.scoreboard.insert_from_memory(&kernel.operands, pc);
    }

    pub(super) fn hold_for_control(&mut self, warp: u8, latency: u32, now: u64) {
        let slot = self.residents.warp_mut(warp);
        slot.hold = Hold::Control;
        if self.issue_stage.is_selective {
            self.issue_stage.parked &= !(1 << warp);
        }
        self.events.push(now, now + u64::from(latency), SmEvent::Control { warp });
    }

    fn hold_for_fence(&mut self, warp: u8, latency: u32, now: u64) {
        let slot = self.residents.warp_mut(warp);
        if slot.in_flight == 0 && slot.stores == 0 {
            return self.hold_for_control(warp, latency, now);
        }
        slot.hold = Hold::Fence { until: now + u64::from(latency) };
        self.parts.stores_awaited(warp, true);
    }

    fn after_exit(&mut self, warp: u8, latency: u32, now: u64) {
        let slot = self.residents.warp_mut(warp);
        if slot.warp.pc().is_some() {
            return self.hold_for_control(warp, latency, now);
        }
        let cta = self.end_warp(warp);
        self.try_barriers(cta, now);
        self.after_result(warp);
    }

    /// Records that all lanes of a warp have exited. Returns its CTA.
    pub(super) fn end_warp(&mut self, warp: u8) -> u8 {
        let slot = self.residents.warp_mut(warp);
        slot.hold = Hold::Exited;
        let cta_slot = slot.cta;
        let cta = self.residents.cta_mut(cta_slot);
        cta.live -= 1;
        if cta.live == 0 && self.parts.observes_warps() {
            self.cta_ended(cta_slot);
        }
        cta_slot
    }

    /// Reports the end of the CTA's last warp: only stores of its warps keep its registers and slots occupied.
    fn cta_ended(&mut self, cta: u8) {
        for (warp, slot) in (0..).zip(&self.residents.warps) {
            if slot.as_ref().is_some_and(|slot| slot.cta == cta) {
                self.parts.stores_awaited(warp, true);
            }
        }
    }

    /// Frees the slot of a warp without results or stores in flight. The last warp also frees the CTA.
    pub(super) fn free_warp(&mut self, warp: u8) {
        let ended = self.residents.remove_warp(warp);
        self.parts.stores_awaited(warp, false);
        self.parts.warp_exited(warp);
        self.issue_stage.leave(warp, &self.residents.program_warps);
        self.update_need(warp);
        if let Some(cta) = ended {
            self.free_cta(cta);
        }
    }

    /// Frees the resources of a CTA whose last warp is gone.
    fn free_cta(&mut self, cta: u8) {
        self.tally.count_residence_until(self.last_tick, &self.residents.kernel_ctas);
        let kernel = self.residents.remove_cta(cta);
        self.parts.free_shared_bytes(self.residents.free_shared_bytes());
        self.tally.finished(kernel);
    }
}

/// Bits of the local memory and of the parameters of a launch, below the number of its kernel slot.
const LOCAL_BITS: u32 = 34;
const PARAM_BITS: u32 = 16;

/// Gives local memory and parameters of a launch their own addresses, if other launches of its program run.
#[cold]
fn separate(access: &mut MemAccess, slot: u8) {
    let bits = match access.space {
        Space::Local => LOCAL_BITS,
        Space::Param => PARAM_BITS,
        _ => return,
    };
    // Addresses of inactive lanes are arbitrary.
    access.address.iter_mut().for_each(|address| *address = address.wrapping_add(u64::from(slot) << bits));
}
