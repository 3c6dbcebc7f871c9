//! Asynchronous copies and mbarriers of an SM: the changes of mbarriers that follow copies, and the warps that wait for them.
use super::fault::SimFault;
use super::launch::LaunchedKernel;
use super::token::InstId;
use super::warp_slot::Hold;
use super::{SimResult, Sm};
use selvedge_ptx::ptx::{AccessKind, Completion, Space};
use selvedge_state::State;

/// Copies in flight, and the changes of mbarriers that follow them.
#[derive(Debug, State)]
struct Deferred {
    /// The warp that has issued the copies. It stays resident until they are complete.
    warp: u8,
    /// The copies in flight.
    awaited: Vec<InstId>,
    completions: Vec<Completion>,
    /// `true` for a bulk copy to global memory. It has read shared memory when its last packet has left.
    reads: bool,
}

/// The asynchronous work of an SM.
#[derive(Debug, State)]
pub struct Asynchronous {
    deferred: Vec<Deferred>,
    /// First cycle in which the SM must look at suspended warps; `u64::MAX` without any.
    pub due: u64,
    /// The fault of a change in this cycle.
    #[state(skip = "a run with a fault ends in the same cycle")]
    fault: Option<Box<SimFault>>,
}

impl Asynchronous {
    /// Returns an SM without copies in flight.
    pub fn new() -> Self {
        Asynchronous { deferred: Vec::new(), due: u64::MAX, fault: None }
    }

    /// Returns whether a bulk copy of `warp` has yet to read shared memory.
    fn reads(&self, warp: u8) -> bool {
        self.deferred.iter().any(|deferred| deferred.reads && deferred.warp == warp)
    }

    /// Returns whether nothing waits for a copy.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.deferred.is_empty()
    }
}

impl Sm {
    /// Handles an instruction that changes mbarriers when copies are complete.
    #[cold]
    pub(super) fn after_async(
        &mut self,
        warp: u8,
        pc: u32,
        kernel: &LaunchedKernel,
        now: u64,
    ) -> SimResult<()> {
        let access = &mut self.issue_stage.access;
        let completions = std::mem::take(&mut access.then);
        let reads = access.kind == AccessKind::Store;
        let is_bulk = access.space == Space::Global;
        let copies = if is_bulk { Vec::new() } else { self.memory.lsu.copies_of(warp, &kernel.kernel) };
        let issued = self.after_memory(warp, pc, kernel, None, now);
        let awaited = if is_bulk { issued.into_iter().collect() } else { copies };
        if awaited.is_empty() {
            return self.complete(warp, &completions, now);
        }
        self.asynchronous.deferred.push(Deferred { warp, awaited, completions, reads });
        Ok(())
    }

    /// Handles the completion of `inst`, which may be a copy.
    #[cold]
    pub(super) fn copy_completed(&mut self, inst: InstId, now: u64) {
        let mut at = 0;
        while let Some(deferred) = self.asynchronous.deferred.get_mut(at) {
            deferred.awaited.retain(|awaited| *awaited != inst);
            if !deferred.awaited.is_empty() {
                at += 1;
                continue;
            }
            let Deferred { warp, completions, reads, .. } = self.asynchronous.deferred.remove(at);
            if reads {
                self.reads_ended(warp, now);
            }
            if let Err(fault) = self.complete(warp, &completions, now) {
                self.asynchronous.fault.get_or_insert(fault);
            }
        }
        if self.asynchronous.fault.is_some() {
            self.asynchronous.due = now;
        }
    }

    /// Changes mbarriers of the CTA of `warp`, and lets suspended warps continue if a phase ends.
    pub(super) fn complete(&mut self, warp: u8, completions: &[Completion], now: u64) -> SimResult<()> {
        let (slot, cta) = self.residents.warp_and_cta(warp);
        let (place, mut ended) = ((cta.cta, u32::from(slot.index)), false);
        for completion in completions {
            let kernel = &slot.kernel;
            let applied = completion.apply(&kernel.kernel, &kernel.dims, place, &mut cta.shared);
            ended |= applied.map_err(SimFault::boxed)?;
        }
        let cta = slot.cta;
        if ended {
            self.phase_ended(cta, now);
        }
        Ok(())
    }

    /// Holds a warp until its bulk copies have read shared memory, and for at least `latency` cycles.
    #[cold]
    pub(super) fn hold_for_reads(&mut self, warp: u8, latency: u32, now: u64) {
        if self.asynchronous.reads(warp) {
            self.residents.warp_mut(warp).hold = Hold::Reads { until: now + u64::from(latency) };
        } else {
            self.hold_for_control(warp, latency, now);
        }
    }

    /// Lets a warp continue that waits for bulk copies to read shared memory, if none is left.
    fn reads_ended(&mut self, warp: u8, now: u64) {
        if let Hold::Reads { until } = self.residents.warp(warp).hold
            && !self.asynchronous.reads(warp)
        {
            self.hold_for_control(warp, until.saturating_sub(now).max(1) as u32, now);
        }
    }

    /// Suspends a warp until a phase of its CTA ends, for at most `cycles` cycles.
    #[cold]
    pub(super) fn suspend(&mut self, warp: u8, cycles: u32, now: u64) {
        let until = now + u64::from(cycles);
        self.residents.warp_mut(warp).hold = Hold::Suspended { until };
        self.asynchronous.due = self.asynchronous.due.min(until);
    }

    /// Lets the suspended warps of a CTA continue.
    #[cold]
    pub(super) fn phase_ended(&mut self, cta: u8, now: u64) {
        self.end_suspensions(now, |of, _| of == cta);
    }

    /// Lets the warps continue whose time of suspension has passed.
    ///
    /// # Errors
    /// Returns the fault of a change of an mbarrier in this cycle.
    #[cold]
    pub(super) fn resume_due(&mut self, now: u64) -> SimResult<()> {
        if let Some(fault) = self.asynchronous.fault.take() {
            return Err(fault);
        }
        self.end_suspensions(now, |_, until| until <= now);
        Ok(())
    }

    /// Lets the suspended warps continue for which `ends` returns `true`. It gets the warp's CTA, and the end of its suspension.
    fn end_suspensions(&mut self, now: u64, ends: impl Fn(u8, u64) -> bool) {
        let mut due = if self.asynchronous.fault.is_some() { now } else { u64::MAX };
        for warp in 0..self.residents.warps.len() as u8 {
            let Some(slot) = &self.residents.warps[usize::from(warp)] else { continue };
            let Hold::Suspended { until } = slot.hold else { continue };
            if ends(slot.cta, until) {
                self.hold_for_control(warp, self.config.sm.branch_latency, now);
            } else {
                due = due.min(until);
            }
        }
        self.asynchronous.due = due;
    }
}
