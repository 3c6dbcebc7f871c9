//! A streaming multiprocessor: resident CTAs and warps, issue stage, memory path and mechanisms' parts.
//!
//! Instructions execute when they issue; the timing of their results follows. An SM sleeps while its state cannot change and
//! returns the cycle in which it must be woken, so that idle cycles cost no time.
mod asynchronous;
mod barrier;
pub mod coalescer;
pub mod collector;
mod cta_slot;
mod events;
pub(crate) mod fault;
pub mod feed;
mod issue;
pub mod issue_cycles;
mod issue_stage;
pub mod l1d;
mod l1d_banks;
#[cfg(test)]
mod l1d_tests;
mod latency_queue;
pub mod launch;
pub mod lsu;
mod memory_access;
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
mod read_only_access;
mod regions;
mod residents;
mod schedule;
pub mod scheduler;
pub mod scoreboard;
mod show;
mod spin;
mod tally;
pub mod token;
pub mod two_level;
pub(crate) mod untimed;
mod waiting;
mod warp_slot;
pub mod wheel;

use crate::cache::SECTOR_BYTES;
use crate::config::{GpuConfig, ReadOnlyCache};
use crate::packet::Packet;
use crate::partition::MemorySystem;
use crate::stats::{CacheCounters, KernelCounters, SlotWork};
use crate::witness::Witness;
use asynchronous::Asynchronous;
use collector::{AfterPipe, Collected, EMPTY_CYCLES};
use events::{FutureEvents, SmEvent};
pub use fault::SimFault;
pub(crate) use fault::SimResult;
use issue_stage::IssueStage;
use l1d::L1d;
use launch::LaunchedKernel;
use memory_path::MemoryPath;
use needs::Need;
use part::L1dEvent;
use parts::SmParts;
use pipes::PipeKind;
use quota::Quotas;
use read_only::Changed;
use residents::Residents;
use scheduler::WarpMask;
use selvedge_ptx::clusters::ClusterMember;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;
use std::sync::Arc;
use tally::SmTally;
use warp_slot::{Hold, RegionState};

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
    residents: Residents,
    issue_stage: IssueStage,
    memory: MemoryPath,
    asynchronous: Asynchronous,
    parts: SmParts,
    events: FutureEvents,
    last_tick: u64,
    tally: SmTally,
}

/// Returns the longest latency of an event in cycles.
fn longest_latency(config: &GpuConfig) -> u32 {
    let sm = &config.sm;
    let port = (coalescer::MOST_SEGMENTS * SECTOR_BYTES).div_ceil(sm.cluster.bytes);
    let cluster_latency = if sm.cluster.ctas > 1 {
        sm.cluster.latency + port.max(coalescer::MOST_BANK_WORDS as u32)
    } else {
        0
    };
    let longest = [
        sm.alu.int_latency,
        sm.alu.fp32_latency,
        sm.alu.int_mul_latency,
        sm.alu.int_div_latency,
        sm.fp64.latency,
        sm.fp64.div_latency,
        sm.sfu.latency,
        sm.sfu.div_latency,
        sm.tensor.longest_latency(),
        sm.branch_latency,
        sm.lsu.const_latency,
        sm.lsu.shared_latency + coalescer::MOST_BANK_WORDS as u32,
        cluster_latency,
        config.l1d.hit_latency,
        read_only::longest_latency(config),
    ];
    longest.into_iter().max().unwrap_or(1) + sm.pipeline_latency
}

impl Sm {
    /// Returns an empty SM with the mechanisms' parts.
    pub fn new(id: u16, config: &Arc<GpuConfig>, parts: SmParts) -> Self {
        let memory = MemoryPath::new(id, config, parts.has_l1d_port());
        let is_local = parts.leaves_issue_alone() && !memory.read_only.has(ReadOnlyCache::Instruction);
        Sm {
            id,
            config: Arc::clone(config),
            residents: Residents::new(&config.sm),
            issue_stage: IssueStage::new(&config.sm, is_local),
            memory,
            asynchronous: Asynchronous::new(),
            parts,
            events: FutureEvents::new(longest_latency(config)),
            last_tick: 0,
            tally: SmTally::new(),
        }
    }

    /// Returns the mechanisms' parts in the SM.
    pub fn parts(&self) -> &SmParts {
        &self.parts
    }

    /// Gives the kernels quotas of warp instructions from now on.
    pub fn set_quotas(&mut self, quotas: Quotas) {
        self.issue_stage.quotas = Some(quotas);
        self.issue_stage.wake();
    }

    /// Returns the number of quota sets that were granted.
    pub fn quota_sets(&self) -> u64 {
        self.issue_stage.quotas.as_ref().map_or(0, |quotas| quotas.sets)
    }

    /// Returns the L1D, for its counters.
    pub fn l1d(&self) -> &L1d {
        &self.memory.l1d
    }

    /// Returns the SM's number.
    pub(crate) fn number(&self) -> u16 {
        self.id
    }

    /// Returns whether all parts of mechanisms are trained.
    pub(crate) fn is_trained(&self) -> bool {
        self.parts.are_trained()
    }

    /// Returns the state that the parts of mechanisms have learned.
    pub(crate) fn learned(&mut self) -> impl Iterator<Item = &mut dyn State> {
        self.parts.learned()
    }

    /// Lets `witness` follow the contents of the SM's caches.
    pub fn watch(&mut self, witness: &Witness) {
        self.memory.watch(witness);
    }

    /// Invalidates the cache lines that a launch of `program` must not find, when no other kernel runs.
    pub fn launch_alone(&mut self, program: u8, changed: Changed) {
        self.memory.l1d.invalidate_all();
        self.memory.read_only.launch(program, true, changed);
        self.parts.l1d_event(self.last_tick, &L1dEvent::Flushed { program: None });
    }

    /// Gives the L1D the part of a unified memory that the kernel's CTAs do not use as shared memory. Does nothing without
    /// unified memory. The L1D must be empty.
    pub fn divide_unified(&mut self, kernel: &LaunchedKernel) {
        let l1d = &self.config.l1d;
        if l1d.unified_bytes > 0 {
            let ctas = kernel.most_ctas(&self.config.sm);
            let ways = l1d.ways_beside(kernel.shared_bytes.saturating_mul(ctas));
            self.memory.l1d.set_ways(ways);
        }
    }

    /// Invalidates the cache lines that a launch of `program` must not find, while other kernels run.
    pub fn launch_beside(&mut self, program: u8, changed: Changed) {
        self.memory.l1d.invalidate_program(program);
        self.memory.read_only.launch(program, false, changed);
        self.parts.l1d_event(self.last_tick, &L1dEvent::Flushed { program: Some(program) });
    }

    /// Returns whether a packet waits for the request crossbar.
    pub fn has_to_send(&self) -> bool {
        self.memory.has_to_send()
    }

    /// Returns the counters of a read-only cache; zero if the configuration does not have it.
    pub fn read_only(&self, cache: ReadOnlyCache) -> CacheCounters {
        self.memory.read_only.counters(cache)
    }

    /// Returns the number of warp instructions that have issued.
    pub fn warp_instructions(&self) -> u64 {
        self.tally.warp_instructions()
    }

    /// Returns the number of thread instructions that have issued.
    pub fn thread_instructions(&self) -> u64 {
        self.tally.thread_instructions()
    }

    /// Returns the counters of a program in this SM. Its launches must be in the kernel slot of the same number.
    pub fn program_counters(&self, program: usize) -> KernelCounters {
        let is_resident = self.residents.kernel_ctas[program] > 0;
        let l1d = self.memory.l1d.by_program[program];
        self.tally.of_kernel(program, l1d, is_resident, self.last_tick)
    }

    /// Returns the work of all launches so far in a kernel slot of this SM.
    pub fn work_of(&self, slot: u8) -> SlotWork {
        self.tally.work_of(slot)
    }

    /// Returns the number of resident CTAs of a kernel slot.
    pub fn resident_ctas(&self, slot: usize) -> u32 {
        self.residents.kernel_ctas[slot]
    }

    /// Returns the number of resident CTAs.
    pub fn all_resident_ctas(&self) -> u32 {
        self.residents.all_ctas
    }

    /// Returns the max number of warps that one scheduler held at the same time.
    pub fn most_resident_warps(&self) -> u64 {
        self.issue_stage.most_warps()
    }

    /// Moves the kernel slots of the CTAs that finished since the last call to `out`, one entry per CTA.
    #[inline(always)]
    pub fn take_finished(&mut self, out: &mut Vec<u8>) {
        self.residents.take_finished(out);
    }

    /// Returns whether one more CTA of `kernel` fits.
    pub fn can_launch(&self, kernel: &LaunchedKernel) -> bool {
        self.residents.can_launch(kernel)
    }

    /// Returns how many more CTAs of `kernel` fit.
    pub fn room_for(&self, kernel: &LaunchedKernel) -> u32 {
        self.residents.room_for(kernel)
    }

    /// Makes CTA `cta` of `kernel` resident, in a cluster as `member`. [`Sm::can_launch`] must have returned `true`. Returns the
    /// slot of the CTA.
    pub fn launch(
        &mut self,
        kernel: &Arc<LaunchedKernel>,
        cta: [u32; 3],
        member: Option<ClusterMember>,
    ) -> u8 {
        self.tally.expect(kernel.slot);
        let slot = self.residents.launch_cta(kernel, cta, member);
        self.parts.free_shared_bytes(self.residents.free_shared_bytes());
        let memoizes = self.parts.memoizes();
        for index in 0..kernel.warps_per_cta {
            let warp = self.residents.launch_warp(slot, index, memoizes);
            self.memory.read_only.arrive(warp);
            self.issue_stage.arrive(warp);
            self.update_need(warp);
        }
        slot
    }

    /// Returns whether no CTA is resident and no request is in flight.
    pub fn is_idle(&self) -> bool {
        self.residents.all_ctas == 0 && self.memory.is_idle() && self.parts.is_drained()
    }

    /// Returns the packet that waits for room in the crossbar, if room would wake the SM.
    pub fn port_wait(&self) -> Option<&Packet> {
        self.memory.port_wait()
    }

    /// Runs core cycle `ctx.now` and returns the next cycle in which the SM must run. A reply from the memory system wakes it
    /// earlier, as does room for the packet that [`Self::port_wait`] returns.
    ///
    /// # Errors
    /// Returns the fault of the kernel or of a mechanism.
    pub fn tick(&mut self, ctx: &mut TickContext<'_>) -> SimResult<u64> {
        self.account_for_sleep(ctx.now);
        self.receive(ctx)?;
        self.offer_waiting_hits(ctx);
        self.run_events(ctx);
        let may_prefetch = self.parts.prefetches() && self.memory.l1d_port_is_free(ctx.now);
        self.run_lsu(ctx);
        if may_prefetch {
            self.run_prefetch(ctx);
        }
        self.retry_fetches(ctx);
        if self.asynchronous.due <= ctx.now {
            self.resume_due(ctx.now, ctx.memory)?;
        }
        if self.issue_stage.collector.is_some() {
            self.collect_operands(ctx.now);
        }
        let issued = self.issue_stage.is_due(ctx.now) && self.issue(ctx)?;
        let sent = self.send(ctx);
        self.tally.counters.issue_cycles += u64::from(issued);
        Ok(self.next_wake(ctx.now, sent))
    }

    /// Counts the cycles since the last tick, in which the state did not change, and the residence in this cycle.
    #[inline(always)]
    fn account_for_sleep(&mut self, now: u64) {
        let slept = now - self.last_tick;
        if slept > 1 {
            self.count_stalls_until(now - 1);
            if self.memory.is_blocked() {
                self.memory.count_slept_failures(slept - 1);
            }
        }
        if self.residents.all_ctas > 0 {
            self.tally.counters.resident_cycles += slept;
        }
        self.last_tick = now;
    }

    /// Counts all cycles up to `now` before a launch, so that they are not attributed to the new CTA.
    pub fn resume(&mut self, now: u64) {
        self.count_stalls_until(now);
        self.tally.count_residence_until(now, &self.residents.kernel_ctas);
        if self.residents.all_ctas == 0 {
            self.last_tick = now;
        }
    }

    /// Returns the next cycle in which the state may change, after a cycle in which a packet was `sent` or not.
    fn next_wake(&mut self, now: u64, sent: bool) -> u64 {
        let soon = now + 1;
        if self.memory.needs_next_cycle(sent, || self.parts.busy())
            || self.memory.is_blocked() && self.parts.watches_failures()
            || self.issue_stage.collector.as_ref().is_some_and(|collector| collector.is_busy())
        {
            return soon;
        }
        let stage = &self.issue_stage;
        let wake = if stage.may_rest() { stage.rests_until().max(soon) } else { self.next_issue(soon) };
        if wake == soon {
            return wake;
        }
        let due = self.asynchronous.due.max(soon);
        wake.min(self.events.next_after(now)).min(self.memory.next_access(soon)).min(due)
    }

    /// Returns the first cycle, at least `soon`, in which a ready warp may find its pipe free.
    #[inline(always)]
    fn next_issue(&self, soon: u64) -> u64 {
        let eligible = self.issue_stage.eligible(&self.residents.program_warps);
        let has = |kind: PipeKind| self.issue_stage.needs.ready(kind) & eligible != 0;
        let mut wake = u64::MAX;
        for kind in [PipeKind::Alu, PipeKind::Control, PipeKind::Fp64, PipeKind::Sfu] {
            if has(kind) {
                wake = wake.min(self.issue_stage.pipes.next_free(kind).max(soon));
                if wake == soon {
                    return soon;
                }
            }
        }
        if self.issue_stage.pipes.has_optional {
            for kind in PipeKind::OPTIONAL.into_iter().filter(|kind| has(*kind)) {
                wake = wake.min(self.issue_stage.pipes.next_free(kind).max(soon));
            }
        }
        if has(PipeKind::Memory) && self.memory_may_issue(eligible) {
            wake = wake.min(self.issue_stage.pipes.next_free(PipeKind::Memory).max(soon));
        }
        wake
    }

    fn memory_may_issue(&self, eligible: WarpMask) -> bool {
        self.memory.lsu.has_room() && self.memory_candidates() & eligible != 0
    }

    /// Returns the ready warps with a memory instruction whose kernel may issue one.
    fn memory_candidates(&self) -> WarpMask {
        let mut mask = self.issue_stage.needs.ready(PipeKind::Memory);
        if !self.parts.gates_memory() && !self.parts.ranks_memory() {
            return mask;
        }
        for (kernel, warps) in self.residents.program_warps.iter().enumerate() {
            if mask & warps != 0 && !self.parts.may_issue_memory(kernel as u8) {
                mask &= !warps;
            }
        }
        if self.parts.ranks_memory() { self.first_in_rank(mask) } else { mask }
    }

    /// Returns the warps of the kernel with the lowest rank, among the kernels with eligible warps in `ready`.
    fn first_in_rank(&self, ready: WarpMask) -> WarpMask {
        let asked = ready & self.issue_stage.eligible(&self.residents.program_warps);
        let kernels = (0u8..).zip(&self.residents.program_warps).filter(|(_, warps)| asked & **warps != 0);
        kernels
            .min_by_key(|(kernel, _)| self.parts.memory_rank(*kernel))
            .map_or(0, |(_, warps)| asked & warps)
    }

    fn run_events(&mut self, ctx: &TickContext<'_>) {
        let now = ctx.now;
        let Some(mut due) = self.events.take(now) else { return };
        if self.issue_stage.collector.is_some() {
            for event in &due {
                if let SmEvent::Writeback { warp, pc } = *event {
                    self.write_banks(warp, pc);
                }
            }
        }
        for event in due.drain(..) {
            match event {
                SmEvent::Writeback { warp, pc } => self.write_back(warp, pc),
                SmEvent::Control { warp } => {
                    if let Some(slot) = &mut self.residents.warps[usize::from(warp)] {
                        slot.hold = Hold::None;
                    }
                    self.update_need(warp);
                }
                SmEvent::Data { inst } => self.data_arrived(inst, now),
                SmEvent::Hit { inst, line } => self.hit_data(inst, line, ctx),
            }
        }
        self.events.keep(due);
    }

    /// Completes the instruction at `pc`, whose destination registers are written.
    #[inline(always)]
    fn write_back(&mut self, warp: u8, pc: u32) {
        let slot = self.residents.warp_mut(warp);
        slot.scoreboard.remove_dests(&slot.kernel.operands, pc);
        slot.in_flight -= 1;
        self.after_result(warp);
    }

    /// Occupies the register banks of the results of the instruction at `pc` in this cycle.
    #[cold]
    pub(super) fn write_banks(&mut self, warp: u8, pc: u32) {
        if let (Some(collector), Some(slot)) =
            (&mut self.issue_stage.collector, &self.residents.warps[usize::from(warp)])
        {
            let dests = slot.kernel.kernel.code[pc as usize].dests();
            dests.iter().for_each(|dest| collector.write(*dest, warp));
        }
    }

    /// Starts instructions with collected operands in free pipes, and runs a cycle of operand collection.
    #[cold]
    fn collect_operands(&mut self, now: u64) {
        let Some(mut collector) = self.issue_stage.collector.take() else { return };
        let sub_cores = if collector.has_sub_cores() { self.issue_stage.schedulers.len() } else { 1 };
        for kind in PipeKind::ALL.into_iter().filter(|kind| *kind != PipeKind::Control) {
            while let Some(started) =
                collector.start(kind, |of| self.issue_stage.pipes.is_free_for(kind, (of, sub_cores), now))
            {
                self.issue_stage.pipes.occupy_for(
                    kind,
                    (started.scheduler, sub_cores),
                    started.interval,
                    now,
                );
                self.start_collected(&started, now);
            }
        }
        collector.cycle();
        self.issue_stage.collector = Some(collector);
    }

    /// Starts an instruction in its pipe. The latency includes the cycles of an operand collection without stalls.
    fn start_collected(&mut self, started: &Collected, now: u64) {
        match started.next {
            AfterPipe::Nothing => {}
            AfterPipe::Result(latency) => {
                let rest = u64::from(latency).saturating_sub(EMPTY_CYCLES).max(1);
                let event = SmEvent::Writeback { warp: started.warp, pc: started.pc };
                self.events.push(now, now + rest, event);
            }
            AfterPipe::Memory(inst) => {
                let lsu = &self.config.sm.lsu;
                let pipeline = u64::from(lsu.pipeline_latency + 32 / lsu.lanes);
                self.memory.lsu.get(inst).ready_at = now + pipeline.saturating_sub(EMPTY_CYCLES).max(1);
            }
        }
    }

    /// Lets the warp continue, pass its fence or leave, after a result or acknowledgement.
    fn after_result(&mut self, warp: u8) {
        let Some(slot) = &mut self.residents.warps[usize::from(warp)] else { return };
        let quiet = slot.in_flight == 0 && slot.stores == 0;
        match slot.hold {
            Hold::Exited if quiet => return self.free_warp(warp),
            Hold::Fence { until } if quiet => {
                slot.hold = Hold::Control;
                self.parts.stores_awaited(warp, false);
                let now = self.last_tick;
                self.events.push(now, until.max(now + 1), SmEvent::Control { warp });
            }
            // A result changes the need of a warp only if the warp waits for operands or may ask a mechanism for results.
            Hold::None if !slot.asks && self.issue_stage.needs.of(warp) != Need::OPERANDS => return,
            Hold::Control | Hold::Barrier(_) | Hold::Suspended { .. } | Hold::Reads { .. } => return,
            _ => {}
        }
        self.update_need(warp);
    }

    /// Updates the need of a warp's next instruction after an event that may have changed it.
    fn update_need(&mut self, warp: u8) {
        let need = self.need_of(warp);
        if self.issue_stage.is_selective {
            self.note_waiting(warp, need);
        }
        if self.issue_stage.needs.of(warp) == need {
            return;
        }
        // The cycles before this one are attributed to the old needs.
        self.count_stalls_until(self.last_tick.saturating_sub(1));
        self.issue_stage.wake();
        self.issue_stage.needs.set(warp, need);
    }

    /// Returns the need of the warp's next instruction.
    #[inline(always)]
    fn need_of(&mut self, warp: u8) -> Need {
        let Some(slot) = &self.residents.warps[usize::from(warp)] else { return Need::HELD };
        if self.memory.read_only.fetching != 0 && self.memory.read_only.fetching >> warp & 1 != 0 {
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
        self.issue_stage.awaiting_memory &= !bit;
        self.issue_stage.parked &= !bit;
        let Some(slot) = &self.residents.warps[usize::from(warp)] else { return };
        if matches!(slot.hold, Hold::Barrier(_) | Hold::Suspended { .. } | Hold::Exited) {
            self.issue_stage.parked |= bit;
        }
        let is_in_region = slot.border.is_some() || matches!(slot.region, RegionState::Asked { .. });
        if let (Need::OPERANDS, false, Some(pc)) = (need, is_in_region, slot.warp.pc())
            && slot.scoreboard.meets_memory(&slot.kernel.operands, pc)
        {
            self.issue_stage.awaiting_memory |= bit;
        }
    }
}
