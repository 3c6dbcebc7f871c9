//! Issue in an SM: the choice of a warp by each scheduler, the execution of its instruction, and the effects by instruction kind.
use super::collector::{Collected, Next};
use super::launch::{self, LaunchedKernel};
use super::part::{Extras, IssueReport, MemoryEvent};
use super::pipes::PipeKind;
use super::read_only::Side;
use super::scheduler::WarpMask;
use super::{Arrival, Event, Hold, SimResult, Sm, TickContext, lsu};
use selvedge_ptx::ptx::{AccessKind, Space, Step};
use std::num::NonZeroU32;

/// The schedulers that issued in a cycle, one bit each.
#[derive(Clone, Copy, Debug, Default)]
struct Issued {
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
        let nothing = extras.is_none() && !self.needs.any_ready();
        let Issued { own, idle } = match extras {
            None if nothing => Issued::default(),
            None => self.ask_schedulers(ctx)?,
            Some(extras) => self.ask_schedulers_with(extras, ctx)?,
        };
        let issued = own | idle;
        self.count_issue(issued, ctx.now);
        if self.parts.busy() {
            self.report_issue(own == 0, ctx.now);
        }
        if self.is_selective {
            let waiting = self.parked | self.awaiting_memory;
            self.schedulers.iter_mut().for_each(|s| s.end_cycle(waiting));
        }
        if self.issue_rests() {
            self.issue_from = self.next_issue(ctx.now + 1);
        }
        Ok(issued != 0)
    }

    /// Reports the issue of a cycle to the mechanism. `idle`: no scheduler issued an instruction for a warp.
    #[inline(never)]
    fn report_issue(&mut self, idle: bool, now: u64) {
        let busy = PipeKind::ALL.map(|kind| !self.pipes.is_free(kind, now));
        let is_blocked = self.blocked.is_some() || self.front.blocked.is_some();
        let memory_waits = is_blocked || self.l1d.is_strained();
        self.parts.issue_ended(&IssueReport { busy, idle, memory_waits });
    }

    /// Lets every scheduler issue, in round-robin order.
    fn ask_schedulers(&mut self, ctx: &mut TickContext<'_>) -> SimResult<Issued> {
        let mut issued = Issued::default();
        let count = self.schedulers.len();
        let collects = self.collector.is_some();
        let first = if collects { ctx.now as usize % count } else { self.first_scheduler };
        let held = self.held_warps();
        let mut known = None;
        for at in 0..count {
            let scheduler = if first + at < count { first + at } else { first + at - count };
            if !self.needs.of_scheduler(scheduler).any_ready() {
                continue;
            }
            let ready = match known {
                _ if collects => self.collectable(scheduler),
                Some(ready) => ready,
                None => *known.insert(self.candidates(ctx.now)),
            };
            let mut candidates = ready & self.schedulers[scheduler].mine & !held;
            if self.is_selective {
                candidates &= self.schedulers[scheduler].eligible(self.parked);
            }
            if self.quotas.is_some() {
                candidates &= !self.stopped();
            }
            let Some(warp) = self.schedulers[scheduler].choose(candidates) else { continue };
            let pipe = self.issue_warp(warp, ctx)?;
            if pipe.is_single() {
                // Schedulers take turns at the pipes that they share.
                self.first_scheduler = if scheduler + 1 < count { scheduler + 1 } else { 0 };
            }
            issued.own |= 1 << scheduler;
            if self.parts.watches_schedules() {
                self.follow_schedule(scheduler, warp, candidates);
            }
            // The instruction may have made any warp ready or not ready, and has occupied a pipe.
            known = None;
        }
        Ok(issued)
    }

    /// Lets every scheduler issue, in round-robin order, with a mechanism's extra instructions.
    #[inline(never)]
    fn ask_schedulers_with(&mut self, mut extras: Extras, ctx: &mut TickContext<'_>) -> SimResult<Issued> {
        let mut issued = Issued::default();
        let count = self.schedulers.len();
        let collects = self.collector.is_some();
        // With operand collection, the first scheduler changes in every cycle: all compete for the registers in front of the
        // units.
        let first = if collects { ctx.now as usize % count } else { self.first_scheduler };
        let held = self.held_warps();
        for scheduler in (first..count).chain(0..first) {
            let all = self.schedulers[scheduler].mine;
            let mine = self.schedulers[scheduler].eligible(self.parked) & all & !held;
            // Limits on warps and quotas do not apply to extra instructions, which are not the warp's own.
            let extra = self.issuable(&extras, ctx.now) & all;
            let ready = if collects { self.collectable(scheduler) } else { self.candidates(ctx.now) };
            let candidates = ready & mine & !self.stopped() & !extra | extra;
            if let Some(warp) = self.schedulers[scheduler].choose(candidates) {
                let pipe = if extra >> warp & 1 == 1 {
                    self.issue_extra(warp, &extras, ctx.now)
                } else {
                    self.issue_warp(warp, ctx)?
                };
                if pipe.is_single() {
                    // Schedulers take turns at the pipes that they share.
                    self.first_scheduler = (scheduler + 1) % count;
                }
                issued.own |= 1 << scheduler;
                if self.parts.watches_schedules() {
                    self.follow_schedule(scheduler, warp, candidates);
                }
            } else if let Some(pipe) = extras.idle.filter(|pipe| self.pipes.is_free(*pipe, ctx.now)) {
                extras.idle = None;
                self.pipes.occupy(pipe, ctx.now);
                self.counters.events.count_assist(pipe, 0);
                if let Some(assist) = self.parts.assist() {
                    assist.issue_idle_extra(ctx.now);
                }
                issued.idle |= 1 << scheduler;
            }
        }
        Ok(issued)
    }

    /// Reports to the mechanism when the issue of `warp` ends another warp's schedule.
    fn follow_schedule(&mut self, scheduler: usize, warp: u8, candidates: WarpMask) {
        let ended = self.schedules[scheduler].issue(warp, candidates.count_ones());
        if let Some((cycles, warps)) = ended {
            self.parts.schedule_ended(scheduler, cycles, warps);
        }
    }

    /// Returns the warps with an extra instruction whose pipe is free.
    fn issuable(&self, extras: &Extras, now: u64) -> WarpMask {
        let kinds = PipeKind::ALL.into_iter().filter(|kind| extras.ready[*kind as usize] != 0);
        let free = kinds.filter(|kind| self.pipes.is_free(*kind, now));
        free.fold(0, |mask, kind| mask | extras.ready[kind as usize])
    }

    /// Issues the extra instruction of a warp. Returns the pipe that it occupied.
    fn issue_extra(&mut self, warp: u8, extras: &Extras, now: u64) -> PipeKind {
        let needs = |kind: &PipeKind| extras.ready[*kind as usize] >> warp & 1 == 1;
        let pipe = PipeKind::ALL.into_iter().find(needs).unwrap_or(PipeKind::Control);
        self.pipes.occupy(pipe, now);
        let bank_cycles = self.parts.assist().map_or(0, |assist| assist.issue_extra(now, warp));
        self.counters.events.count_assist(pipe, bank_cycles);
        if bank_cycles > 0 {
            self.lsu.banks_free_at = self.lsu.banks_free_at.max(now) + u64::from(bank_cycles);
        }
        pipe
    }

    /// Returns the warps whose own instructions wait for a mechanism's instructions.
    pub(super) fn held_warps(&self) -> WarpMask {
        self.parts.held_warps()
    }

    /// Returns the warps of kernels whose quota is used up.
    pub(super) fn stopped(&self) -> WarpMask {
        self.quotas.as_ref().map_or(0, |quotas| quotas.stopped(&self.kernel_warps))
    }

    /// Returns the warps with available operands and a free pipe.
    #[inline(always)]
    fn candidates(&self, now: u64) -> WarpMask {
        // Control instructions need no pipe. The masks of the other kinds are computed without branches.
        let if_free = |kind: PipeKind| {
            let is_free = WarpMask::from(self.pipes.is_free(kind, now));
            self.needs.ready(kind) & is_free.wrapping_neg()
        };
        let mut mask = self.needs.ready(PipeKind::Control)
            | if_free(PipeKind::Alu)
            | if_free(PipeKind::Fp64)
            | if_free(PipeKind::Sfu);
        let memory = self.needs.ready(PipeKind::Memory);
        if memory != 0 && self.lsu.has_room() && self.pipes.is_free(PipeKind::Memory, now) {
            mask |= self.memory_candidates();
        }
        mask
    }

    /// Returns the warps with available operands that fit into operand collection.
    #[cold]
    fn collectable(&self, scheduler: usize) -> WarpMask {
        let Some(collector) = &self.collector else { return 0 };
        let mut mask = self.needs.ready(PipeKind::Control);
        for kind in [PipeKind::Alu, PipeKind::Fp64, PipeKind::Sfu] {
            if self.needs.ready(kind) != 0 && collector.has_room(kind, scheduler) {
                mask |= self.needs.ready(kind);
            }
        }
        let memory = self.needs.ready(PipeKind::Memory);
        if memory != 0 && self.lsu.has_room() && collector.has_room(PipeKind::Memory, scheduler) {
            mask |= self.memory_candidates();
        }
        mask
    }

    /// Schedules the result of an issued instruction after `latency` cycles, or starts the collection of its operands.
    #[inline(always)]
    fn begin(&mut self, warp: u8, pc: u32, kernel: &LaunchedKernel, latency: u32, now: u64) {
        if self.expect_result(warp, pc, kernel) {
            if self.collector.is_some() {
                return self.collect(warp, pc, kernel, Next::Result(latency));
            }
            self.wheel.push(now, now + u64::from(latency), Event::Writeback { warp, pc });
        } else if self.collector.is_some() {
            self.collect(warp, pc, kernel, Next::Nothing);
        }
    }

    /// Puts an issued instruction into operand collection.
    #[cold]
    fn collect(&mut self, warp: u8, pc: u32, kernel: &LaunchedKernel, next: Next) {
        let Some(collector) = &mut self.collector else { return };
        let pipe = kernel.info[pc as usize].pipe;
        let scheduler = warp % self.schedulers.len() as u8;
        let sources = kernel.kernel.code[pc as usize].sources();
        collector.issue(Collected { warp, pc, pipe, scheduler, next }, sources);
    }

    /// Executes the warp's next instruction. Returns the pipe that it occupied.
    fn issue_warp(&mut self, warp: u8, ctx: &mut TickContext<'_>) -> SimResult<PipeKind> {
        let slot = self.warps[usize::from(warp)].as_mut().expect("a ready warp is resident");
        if let Some(border) = slot.border.take() {
            return Ok(self.cross_border(warp, border, ctx.now));
        }
        if slot.asks {
            slot.enter_region();
        }
        // Moves the kernel out for the instruction, because cloning the `Arc` costs an atomic access to memory.
        let number = usize::from(slot.kernel.slot);
        let kernel = self.kernels[number].take().expect("a resident warp's kernel is there");
        let issued = self.execute(warp, &kernel, ctx);
        self.kernels[number] = Some(kernel);
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
        let slot = self.warps[usize::from(warp)].as_mut().expect("a ready warp is resident");
        let pc = slot.warp.pc().expect("a ready warp has a next instruction");
        let info = kernel.info[pc as usize];
        let active = slot.warp.active_mask();
        let cta = self.ctas[usize::from(slot.cta)].as_mut().expect("a resident warp's CTA is resident");
        let place = launch::Place { clock: ctx.now, sm: u32::from(self.id), sms: self.config.sm.count };
        ctx.memory.select(kernel.slot);
        let mut env = kernel.environment(ctx.memory, &mut cta.shared, place);
        let step = slot.warp.step(kernel, &mut env, &mut self.access)?;
        if self.collector.is_none() {
            self.pipes.occupy(info.pipe, ctx.now);
        }
        if let Some(quotas) = &mut self.quotas {
            quotas.issued(kernel.slot);
            quotas.settle(&self.kernel_warps);
        }
        let mine = &mut self.by_kernel[usize::from(kernel.slot)];
        mine.warp_instructions += 1;
        let lanes = match step {
            Step::Alu { active } | Step::Texture { active } => active,
            Step::Memory => self.access.mask,
            _ => active,
        };
        // Without a popcount instruction, comparing with a full mask is faster than counting its bits.
        let lanes = if lanes == u32::MAX { 32 } else { u64::from(lanes.count_ones()) };
        mine.thread_instructions += lanes;
        self.work_done.count(info.work, lanes);
        match step {
            Step::Alu { .. } => self.after_alu(warp, pc, kernel, ctx.now),
            Step::Memory => self.after_memory(warp, pc, kernel, self.bank_side(), ctx.now),
            Step::Texture { .. } => self.after_memory(warp, pc, kernel, self.texture_side(), ctx.now),
            Step::Barrier { id, threads, arrive_only } => {
                let ballot = slot.warp.ballot(kernel);
                let threads = threads.map(NonZeroU32::get);
                self.arrive_at_barrier(warp, Arrival { id: id.into(), threads, arrive_only, ballot }, ctx.now)
            }
            Step::Fence => self.hold_for_fence(warp, info.latency, ctx.now),
            Step::Exit => self.after_exit(warp, info.latency, ctx.now),
        }
        self.fetch_instruction(warp, ctx);
        self.update_need(warp);
        Ok(info.pipe)
    }

    /// Returns the read-only cache for a load of constants or parameters, if the configuration has one.
    fn bank_side(&self) -> Option<Side> {
        let is_bank = matches!(self.access.space, Space::Param | Space::Const);
        let is_load = self.access.kind == AccessKind::Load;
        (is_bank && is_load && self.sides.has(Side::Constant)).then_some(Side::Constant)
    }

    /// Returns the read-only cache for a texture sample, if the configuration has one.
    fn texture_side(&self) -> Option<Side> {
        self.sides.has(Side::Texture).then_some(Side::Texture)
    }

    fn after_alu(&mut self, warp: u8, pc: u32, kernel: &LaunchedKernel, now: u64) {
        let info = kernel.info[pc as usize];
        let latency = match info.pipe {
            PipeKind::Control => return self.hold_for_control(warp, info.latency, now),
            // A memory instruction whose guard is false in all lanes accesses nothing, but passes the load/store unit.
            PipeKind::Memory => self.config.sm.lsu.const_latency,
            _ => info.latency,
        };
        self.begin(warp, pc, kernel, latency, now);
    }

    /// Marks the destinations of the instruction as in flight. Returns whether it has any.
    fn expect_result(&mut self, warp: u8, pc: u32, kernel: &LaunchedKernel) -> bool {
        let slot = self.warps[usize::from(warp)].as_mut().expect("the issuing warp is resident");
        let writes = slot.scoreboard.insert_dests(&kernel.operands, pc);
        slot.in_flight += u32::from(writes);
        writes
    }

    fn after_memory(&mut self, warp: u8, pc: u32, kernel: &LaunchedKernel, side: Option<Side>, now: u64) {
        let is_bank = matches!(self.access.space, Space::Param | Space::Const) && side.is_none();
        if is_bank || self.access.mask == 0 {
            let latency = kernel.info[pc as usize].latency.max(self.config.sm.lsu.const_latency);
            return self.begin(warp, pc, kernel, latency, now);
        }
        let writes_back = self.expect_result(warp, pc, kernel);
        let shared = self.access.space == Space::Shared;
        if writes_back && !shared {
            self.expect_from_memory(warp, pc, kernel);
        }
        if !writes_back && !shared {
            // The warp must not pass a fence or leave before its stores have left the SM and its reductions are done.
            self.warps[usize::from(warp)].as_mut().expect("the issuing warp is resident").in_flight += 1;
        }
        let lsu = &self.config.sm.lsu;
        let ready_at = now + u64::from(lsu.pipeline_latency + 32 / lsu.lanes);
        let cta = self.warps[usize::from(warp)].as_ref().expect("the issuing warp is resident").cta;
        let issued = lsu::Issued { warp, cta, kernel: kernel.slot, pc, writes_back, ready_at, side };
        let line_bytes = match side {
            None => self.config.l1d.line_bytes,
            Some(side) => self.config.sm.read_only(side).line_bytes,
        };
        let banks = self.config.sm.lsu.shared_banks;
        let id = self.lsu.accept(&issued, &self.access, line_bytes, banks);
        if self.collector.is_some() {
            self.lsu.get(id).ready_at = u64::MAX;
            self.collect(warp, pc, kernel, Next::Memory(id));
        }
        let inst = self.lsu.peek(id);
        let transactions = inst.transactions.len() as u64;
        self.counters.events.shared_cycles += if shared { u64::from(inst.bank_cycles) } else { 0 };
        let mine = &mut self.by_kernel[usize::from(kernel.slot)];
        mine.memory_instructions += 1;
        mine.transactions += transactions;
        if !shared && side.is_none() {
            self.parts.memory_event(now, kernel.slot, MemoryEvent::Issued);
        }
    }

    /// Marks the destinations, which are in flight, as coming from memory.
    fn expect_from_memory(&mut self, warp: u8, pc: u32, kernel: &LaunchedKernel) {
        let slot = self.warps[usize::from(warp)].as_mut().expect("the issuing warp is resident");
        slot.scoreboard.insert_from_memory(&kernel.operands, pc);
    }

    pub(super) fn hold_for_control(&mut self, warp: u8, latency: u32, now: u64) {
        let slot = self.warps[usize::from(warp)].as_mut().expect("the issuing warp is resident");
        slot.hold = Hold::Control;
        if self.is_selective {
            self.parked &= !(1 << warp);
        }
        self.wheel.push(now, now + u64::from(latency), Event::Control { warp });
    }

    fn hold_for_fence(&mut self, warp: u8, latency: u32, now: u64) {
        let slot = self.warps[usize::from(warp)].as_mut().expect("the issuing warp is resident");
        if slot.in_flight == 0 && slot.stores == 0 {
            return self.hold_for_control(warp, latency, now);
        }
        slot.hold = Hold::Fence { until: now + u64::from(latency) };
        self.parts.stores_awaited(warp, true);
    }

    fn after_exit(&mut self, warp: u8, latency: u32, now: u64) {
        let slot = self.warps[usize::from(warp)].as_mut().expect("the issuing warp is resident");
        if slot.warp.pc().is_some() {
            return self.hold_for_control(warp, latency, now);
        }
        slot.hold = Hold::Exited;
        let cta_slot = slot.cta;
        let cta = self.ctas[usize::from(cta_slot)].as_mut().expect("the CTA is resident");
        cta.live -= 1;
        if cta.live == 0 && self.parts.observes_warps() {
            self.cta_ended(cta_slot);
        }
        self.try_barriers(cta_slot, now);
        self.after_result(warp);
    }

    /// Reports the end of the CTA's last warp: only stores of its warps keep its registers and slots occupied.
    fn cta_ended(&mut self, cta: u8) {
        for (warp, slot) in (0..).zip(&self.warps) {
            if slot.as_ref().is_some_and(|slot| slot.cta == cta) {
                self.parts.stores_awaited(warp, true);
            }
        }
    }

    /// Frees the slot of a warp without results or stores in flight. The last warp also frees the CTA.
    pub(super) fn free_warp(&mut self, warp: u8) {
        let slot = self.warps[usize::from(warp)].take().expect("the warp is resident");
        self.parts.stores_awaited(warp, false);
        self.parts.warp_exited(warp);
        let count = self.schedulers.len();
        self.schedulers[usize::from(warp) % count].leave(warp);
        self.kernel_warps[usize::from(slot.kernel.slot)] &= !(1 << warp);
        if let Some(quotas) = &mut self.quotas {
            quotas.settle(&self.kernel_warps);
        }
        self.update_need(warp);
        let cta = self.ctas[usize::from(slot.cta)].as_mut().expect("the CTA is resident");
        cta.resident -= 1;
        let (cta_slot, is_last) = (usize::from(slot.cta), cta.resident == 0);
        self.spare.push(slot);
        if is_last {
            self.free_cta(cta_slot);
        }
    }

    /// Frees the resources of a CTA whose last warp is gone.
    fn free_cta(&mut self, slot: usize) {
        let Some(cta) = self.ctas[slot].take() else { return };
        let kernel = cta.kernel;
        self.free_registers += kernel.registers_per_cta;
        self.free_shared += kernel.shared_bytes;
        self.parts.free_shared_bytes(self.free_shared);
        self.free_threads += kernel.warps_per_cta * 32;
        self.by_kernel[usize::from(kernel.slot)].ctas += 1;
        self.count_residence_until(self.last_tick);
        self.kernel_ctas[usize::from(kernel.slot)] -= 1;
        self.all_ctas -= 1;
        self.finished_ctas.push(kernel.slot);
    }
}
