//! Asynchronous copies and messages of an SM: the changes of barriers that follow them, and the warps that wait for them.
use super::fault::SimFault;
use super::launch::{ClockAndSm, LaunchedKernel};
use super::token::InstId;
use super::warp_slot::Hold;
use super::{SimResult, Sm, TickContext};
use selvedge_ptx::memory::DeviceMemory;
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

/// Changes of barriers in a later cycle.
#[derive(Debug, State)]
struct Delivery {
    at: u64,
    /// The warp that has issued the copies or the message. It stays resident until then.
    warp: u8,
    completions: Vec<Completion>,
}

/// The asynchronous work of an SM.
#[derive(Debug, State)]
pub struct Asynchronous {
    deferred: Vec<Deferred>,
    deliveries: Vec<Delivery>,
    /// First cycle in which the port to other SMs is free.
    port_free_at: u64,
    /// First cycle in which the SM must look at deliveries and suspended warps; `u64::MAX` without any.
    pub due: u64,
}

impl Asynchronous {
    /// Returns an SM without copies in flight.
    pub fn new() -> Self {
        Asynchronous { deferred: Vec::new(), deliveries: Vec::new(), port_free_at: 0, due: u64::MAX }
    }

    /// Returns whether a bulk copy of `warp` has yet to read shared memory.
    fn reads(&self, warp: u8) -> bool {
        self.deferred.iter().any(|deferred| deferred.reads && deferred.warp == warp)
    }

    /// Returns whether no copy and no message is in flight.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.deferred.is_empty() && self.deliveries.is_empty()
    }

    /// Adds changes of barriers in cycle `at`.
    fn deliver(&mut self, delivery: Delivery) {
        self.due = self.due.min(delivery.at);
        self.deliveries.push(delivery);
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
        ctx: &mut TickContext<'_>,
    ) -> SimResult<()> {
        let now = ctx.now;
        let access = &mut self.issue_stage.access;
        let completions = std::mem::take(&mut access.then);
        let reads = access.kind == AccessKind::Store;
        let is_bulk = access.space == Space::Global;
        let copies = if is_bulk { Vec::new() } else { self.memory.lsu.copies_of(warp, &kernel.kernel) };
        let issued = self.after_memory(warp, pc, kernel, None, now);
        let awaited = if is_bulk { issued.into_iter().collect() } else { copies };
        if awaited.is_empty() {
            return self.complete(warp, &completions, now, ctx.memory);
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
            // The warp must not leave before the changes.
            self.residents.warp_mut(warp).stores += 1;
            self.asynchronous.deliver(Delivery { at: now, warp, completions });
        }
    }

    /// Sends the message of an instruction, with `bytes` bytes of data, to other CTAs of the cluster.
    #[cold]
    pub(super) fn send_message(&mut self, warp: u8, bytes: u32, now: u64) {
        let completions = std::mem::take(&mut self.issue_stage.access.then);
        let cluster = &self.config.sm.cluster;
        let port = &mut self.asynchronous.port_free_at;
        *port = now.max(*port) + u64::from(bytes.div_ceil(cluster.bytes));
        let at = *port + u64::from(cluster.latency);
        // The warp must not leave before its message has arrived.
        self.residents.warp_mut(warp).stores += 1;
        self.asynchronous.deliver(Delivery { at, warp, completions });
    }

    /// Changes barriers, in the name of `warp`, and lets suspended warps of its CTA continue if a phase ends.
    pub(super) fn complete(
        &mut self,
        warp: u8,
        completions: &[Completion],
        now: u64,
        memory: &mut DeviceMemory,
    ) -> SimResult<()> {
        let place = ClockAndSm { clock: now, sm: u32::from(self.id), sms: self.config.sm.count };
        let (slot, cta) = self.residents.warp_and_cta(warp);
        let (kernel, at, mut ended) = (&slot.kernel, (cta.cta, u32::from(slot.index)), false);
        cta.enter(memory);
        let mut env = kernel.environment(memory, &mut cta.shared, place);
        let applied = completions.iter().try_for_each(|completion| {
            ended |= completion.apply(&kernel.kernel, &mut env, at)?;
            Ok(())
        });
        cta.leave(memory);
        applied.map_err(SimFault::boxed)?;
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

    /// Suspends a warp until a phase of a barrier ends, for at most `cycles` cycles, or without limit for `u32::MAX`.
    #[cold]
    pub(super) fn suspend(&mut self, warp: u8, cycles: u32, now: u64) {
        let until = if cycles == u32::MAX { u64::MAX } else { now + u64::from(cycles) };
        self.residents.warp_mut(warp).hold = Hold::Suspended { until };
        self.asynchronous.due = self.asynchronous.due.min(until);
    }

    /// Lets the suspended warps of a CTA continue.
    #[cold]
    pub(crate) fn phase_ended(&mut self, cta: u8, now: u64) {
        self.end_suspensions(now, |of, _| of == cta);
    }

    /// Delivers messages and completions, and lets the warps continue whose time of suspension has passed.
    ///
    /// # Errors
    /// Returns the fault of a change of a barrier.
    #[cold]
    pub(super) fn resume_due(&mut self, now: u64, memory: &mut DeviceMemory) -> SimResult<()> {
        let all = std::mem::take(&mut self.asynchronous.deliveries);
        let (due, later) = all.into_iter().partition(|delivery| delivery.at <= now);
        self.asynchronous.deliveries = later;
        for Delivery { warp, completions, .. } in due {
            self.complete(warp, &completions, now, memory)?;
            self.store_acknowledged(warp);
        }
        self.end_suspensions(now, |_, until| until <= now);
        Ok(())
    }

    /// Lets the suspended warps continue for which `ends` returns `true`. It gets the warp's CTA, and the end of its suspension.
    fn end_suspensions(&mut self, now: u64, ends: impl Fn(u8, u64) -> bool) {
        let mut due =
            self.asynchronous.deliveries.iter().map(|delivery| delivery.at).min().unwrap_or(u64::MAX);
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
