//! Execution of an SM's warps without timing.
use super::cta_slot::BarrierArrival;
use super::launch::{ClockAndSm, LaunchedKernel};
use super::part::Load;
use super::pipes::PipeKind;
use super::quota::Quotas;
use super::read_only_access::code_line;
use super::scheduler::{WarpMask, warps_of};
use super::warp_slot::Hold;
use super::{SimResult, Sm};
use crate::config::ReadOnlyCache;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{FunctionalStats, MemAccess, Space, Step};
use std::num::NonZeroU32;
use std::sync::Arc;

/// The execution of warps without timing.
pub(crate) struct UntimedExecution<'a> {
    pub memory: &'a mut DeviceMemory,
    /// Core cycle, which does not advance.
    pub now: u64,
    /// The instructions so far.
    pub executed: FunctionalStats,
    /// The access of the last memory instruction.
    access: MemAccess,
}

impl<'a> UntimedExecution<'a> {
    pub fn new(memory: &'a mut DeviceMemory, now: u64) -> Self {
        UntimedExecution { memory, now, executed: FunctionalStats::default(), access: MemAccess::new() }
    }
}

/// Instructions that a warp executes in a row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turn {
    pub instructions: u64,
    /// Sum of their latencies in core cycles. Accesses to global and local memory have none.
    pub latency: u64,
    /// Warps that waited at a barrier and can execute now.
    pub released: WarpMask,
}

/// Max instructions of a [`Turn`].
const MOST_IN_TURN: u64 = 64;

impl Sm {
    /// Lets the L1D see a load of 32-byte sectors without timing. Returns the sectors that the L2 must supply.
    pub(crate) fn warm(&mut self, now: u64, kernel: u8, line: u64, sectors: u32) -> u32 {
        let load = Load { kernel, line, sectors, ..Load::default() };
        self.memory.l1d.warm(&load, &mut self.parts, now)
    }

    /// Lets the L1D see a store or an atomic without timing.
    pub(crate) fn warm_write(&mut self, now: u64, line: u64, sectors: u32, is_store: bool) {
        self.memory.l1d.warm_write(line, sectors, is_store, &mut self.parts, now);
    }

    /// Lets no warp issue until [`Self::go_on`] gets the quotas that this returns.
    pub(crate) fn pause(&mut self) -> Option<Quotas> {
        self.issue_stage.wake();
        self.issue_stage.quotas.replace(Quotas::none())
    }

    /// Returns whether nothing is in flight in a paused SM.
    pub(crate) fn is_settled(&self) -> bool {
        let mut warps = self.residents.warps.iter().flatten();
        self.memory.is_idle()
            && self.parts.is_drained()
            && self.asynchronous.is_empty()
            && self.memory.read_only.fetching == 0
            && self.events.next_after(self.last_tick) == u64::MAX
            && warps.all(|slot| slot.in_flight == 0 && slot.stores == 0)
    }

    /// Counts the cycles of a settled SM up to `now`, and lets warps execute that wait for a phase of an mbarrier.
    pub(crate) fn begin_untimed(&mut self, now: u64) {
        self.account_for_sleep(now);
        for slot in self.residents.warps.iter_mut().flatten() {
            if let Hold::Suspended { .. } = slot.hold {
                slot.hold = Hold::None;
            }
        }
        self.asynchronous.due = u64::MAX;
    }

    /// Lets warps issue again after [`Self::pause`].
    pub(crate) fn go_on(&mut self, quotas: Option<Quotas>) {
        self.issue_stage.quotas = quotas;
        self.issue_stage.wake();
        self.residents.warps.iter_mut().flatten().for_each(|slot| slot.scoreboard.clear());
        if self.memory.read_only.has(ReadOnlyCache::Instruction) {
            let line_bytes = self.config.sm.instruction.line_bytes;
            for slot in self.residents.warps.iter_mut().flatten() {
                slot.code_line = slot.warp.pc().map(|pc| code_line(&slot.kernel, pc, line_bytes));
            }
        }
        for warp in 0..self.residents.warps.len() as u8 {
            self.update_need(warp);
        }
    }

    /// Returns the resident warps that can execute.
    pub(crate) fn executable_warps(&self) -> WarpMask {
        let warps = (0..).zip(&self.residents.warps);
        let can = warps.filter(|(_, slot)| slot.as_ref().is_some_and(|slot| slot.hold == Hold::None));
        can.fold(0, |mask, (warp, _): (u32, _)| mask | 1 << warp)
    }

    /// Returns whether the warp in a slot can execute.
    pub(crate) fn can_execute(&self, warp: u8) -> bool {
        self.residents.warps[usize::from(warp)].as_ref().is_some_and(|slot| slot.hold == Hold::None)
    }

    /// Returns whether the next instruction of a warp that can execute uses the load/store unit.
    pub(crate) fn is_at_memory(&self, warp: u8) -> bool {
        let slot = self.residents.warp(warp);
        slot.warp.pc().is_some_and(|pc| slot.kernel.info[pc as usize].pipe == PipeKind::Memory)
    }

    /// Returns the warp among `waiting` whose memory instruction issues first.
    pub(crate) fn choose_untimed(&mut self, waiting: WarpMask) -> Option<u8> {
        let stage = &mut self.issue_stage;
        let (first, count) = (stage.first_scheduler, stage.schedulers.len());
        let mut all = (first..count).chain(0..first);
        let (scheduler, warp) = all.find_map(|number| {
            let candidates = waiting & stage.warps_of(&stage.schedulers[number]);
            Some((number, stage.schedulers[number].choose(candidates)?))
        })?;
        stage.take_turns(scheduler, PipeKind::Memory);
        Some(warp)
    }

    /// Executes instructions of `warp` until it ends or waits, up to the next memory instruction or one that awaits loaded data. The
    /// first one may be a memory instruction. `see` sees the accesses to global and local memory.
    ///
    /// # Errors
    /// Returns the fault of the kernel.
    pub(crate) fn take_turn(
        &mut self,
        warp: u8,
        execution: &mut UntimedExecution,
        see: &mut dyn FnMut(&mut Sm, u8, &MemAccess),
    ) -> SimResult<Turn> {
        let kernel = Arc::clone(&self.residents.warp(warp).kernel);
        let mut turn = Turn::default();
        while turn.instructions < MOST_IN_TURN {
            turn.instructions += 1;
            let ends = self.execute_untimed(warp, &kernel, execution, &mut turn, see)?;
            if ends || !self.can_execute(warp) || self.is_at_memory(warp) || self.awaits_data(warp) {
                break;
            }
        }
        Ok(turn)
    }

    /// Returns whether the next instruction of a warp that can execute awaits loaded data.
    fn awaits_data(&self, warp: u8) -> bool {
        let slot = self.residents.warp(warp);
        slot.warp.pc().is_some_and(|pc| slot.scoreboard.meets(&slot.kernel.operands, pc))
    }

    /// Completes the loads of a warp if its next instruction awaits them. Returns whether it does.
    pub(crate) fn take_data(&mut self, warp: u8) -> bool {
        let awaits = self.awaits_data(warp);
        if awaits {
            self.residents.warp_mut(warp).scoreboard.clear();
        }
        awaits
    }

    /// Executes the next instruction of a warp of `kernel`. Returns `true` if it ends the turn of the warp.
    #[inline(always)]
    fn execute_untimed(
        &mut self,
        warp: u8,
        kernel: &LaunchedKernel,
        execution: &mut UntimedExecution,
        turn: &mut Turn,
        see: &mut dyn FnMut(&mut Sm, u8, &MemAccess),
    ) -> SimResult<bool> {
        let UntimedExecution { memory, now, executed, access } = execution;
        let (slot, cta) = self.residents.warp_and_cta(warp);
        let (active, pc) = (slot.warp.active_mask(), slot.warp.pc().unwrap_or(0));
        let place = ClockAndSm { clock: *now, sm: u32::from(self.id), sms: self.config.sm.count };
        memory.select(kernel.program);
        cta.enter(memory);
        let mut env = kernel.environment(memory, &mut cta.shared, place);
        let step = slot.warp.step(kernel, &mut env, access);
        cta.leave(memory);
        let step = step?;
        executed.warp_instructions += 1;
        executed.thread_instructions += u64::from(step.lanes(active, access).count_ones());
        turn.latency += u64::from(kernel.info[pc as usize].latency);
        match step {
            Step::Alu { .. } | Step::Fence | Step::AwaitReads => {}
            Step::Memory | Step::PhaseEnd | Step::Texture { .. } | Step::Async => {
                if access.mask != 0 && matches!(access.space, Space::Global | Space::Local | Space::Shared) {
                    executed.memory_instructions += 1;
                    if access.space != Space::Shared {
                        slot.scoreboard.insert_dests(&kernel.operands, pc);
                        see(self, kernel.program, access);
                    }
                }
                if let Step::Async = step {
                    let completions = std::mem::take(&mut access.then);
                    self.complete(warp, &completions, *now, memory)?;
                }
            }
            Step::Message { .. } => {
                let completions = std::mem::take(&mut access.then);
                self.complete(warp, &completions, *now, memory)?;
            }
            Step::Barrier { id, threads, arrive_only } => {
                let ballot = slot.warp.ballot(kernel);
                let threads = threads.map(NonZeroU32::get);
                let arrival = BarrierArrival { id: id.into(), threads, arrive_only, ballot };
                let cta = self.count_arrival(warp, arrival);
                turn.released |= self.release_untimed(cta);
            }
            Step::Yield | Step::Suspend { .. } => return Ok(true),
            Step::Exit if slot.warp.pc().is_none() => {
                slot.scoreboard.clear();
                let cta = self.end_warp(warp);
                turn.released |= self.release_untimed(cta);
                self.free_warp(warp);
            }
            Step::Exit => {}
        }
        Ok(false)
    }

    /// Lets the warps of all complete barriers of a CTA execute. Returns these warps.
    fn release_untimed(&mut self, cta: u8) -> WarpMask {
        let released = self.residents.complete_barriers(cta);
        for warp in warps_of(released) {
            self.residents.warp_mut(warp).hold = Hold::None;
        }
        released
    }
}
