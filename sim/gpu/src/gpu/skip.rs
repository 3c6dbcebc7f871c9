//! Skips of sampled simulation: CTAs that execute without timing.
use super::Gpu;
use super::launches::Launches;
use super::sampled::{Estimate, SampleSpec, Sampled, Span};
use crate::partition::AddressMap;
use crate::sm::coalescer::coalesce;
use crate::sm::fault::SimFault;
use crate::sm::feed::Feed;
use crate::sm::launch::ClockAndSm;
use selvedge_ptx::memory::{DeviceMemory, physical};
use selvedge_ptx::ptx::{AccessKind, CacheOp, FunctionalError, MemAccess, Space, run_cta};
use std::sync::atomic::Ordering;

impl Gpu {
    /// From now on skips CTAs of launches that run alone. Nothing may be in flight.
    pub fn skip(&mut self, spec: SampleSpec) {
        self.sampled = Some(Box::new(Sampled::new(spec, AddressMap::new(&self.config.l2))));
    }

    /// Returns the estimate of the simulation so far; `None` if [`Self::skip`] was not called.
    pub fn estimate(&self) -> Option<Estimate> {
        Some(self.sampled.as_deref()?.estimate(self.span(), self.thread_instructions()))
    }

    fn span(&self) -> Span {
        Span { cycles: self.now, instructions: self.warp_instructions() }
    }

    /// Starts the sample of a new launch.
    pub(super) fn begin_sampling(&mut self) {
        let now = self.span();
        if let Some(sampled) = &mut self.sampled {
            sampled.begin(now);
        }
    }

    /// Executes the next CTAs of the launch without timing if a window has just ended.
    ///
    /// # Errors
    /// Returns the fault of the kernel, a deadlock, an interrupt or the timeout.
    pub(super) fn skip_ctas(&mut self, memory: &mut DeviceMemory) -> Result<(), SimFault> {
        let now = self.span();
        let Launches { running, next_sm, .. } = &mut self.launches;
        let (Some(sampled), [running]) = (&mut self.sampled, &mut running[..]) else { return Ok(()) };
        // Leaves one set of resident CTAs for the last window and the end of the launch.
        let resident = running.next - running.done;
        let last = running.total.saturating_sub(resident);
        let is_full = running.next < running.total;
        if !is_full || !sampled.go_on(now, running.done, resident) || running.next >= last {
            return Ok(());
        }
        let mut skipped = 0;
        while running.next < last && sampled.may_skip(skipped) {
            let sm = &mut self.sms[*next_sm];
            *next_sm = (*next_sm + 1) % self.config.sm.count as usize;
            let kernel = &running.kernel;
            debug_assert!(matches!(kernel.feed, Feed::Execute));
            let place = ClockAndSm { clock: self.now, sm: u32::from(sm.number()), sms: self.config.sm.count };
            let mut shared = vec![0; kernel.shared_bytes as usize];
            let mut env = kernel.environment(memory, &mut shared, place);
            let (system, map, buffer) = (&mut self.system, &sampled.map, &mut sampled.transactions);
            let mut warm = |access: &MemAccess| {
                if !matches!(access.space, Space::Global | Space::Local) {
                    return;
                }
                buffer.clear();
                coalesce(access, self.config.l1d.line_bytes, buffer);
                let bypasses = matches!(access.cache, CacheOp::Global | CacheOp::Volatile);
                for transaction in &*buffer {
                    let line = physical(kernel.slot, transaction.line);
                    let (slice, sectors) = (map.slice(line), transaction.sectors);
                    let is_load = access.kind == AccessKind::Load;
                    let missing = match access.kind {
                        AccessKind::Load if bypasses => sectors,
                        AccessKind::Load => sm.l1d_mut().warm(line, sectors),
                        kind => {
                            sm.l1d_mut().warm_write(line, sectors, kind == AccessKind::Store);
                            sectors
                        }
                    };
                    if missing != 0 {
                        system.warm(slice, line, missing, !is_load);
                    }
                }
            };
            let control = &self.watchdog.control;
            let mut goes_on = |_| !control.stop.load(Ordering::Relaxed) && control.timed_out().is_none();
            let ran = run_cta(&kernel.kernel, running.next, &mut env, &mut warm, &mut goes_on);
            let ran = ran.map_err(|error| match (error, control.timed_out()) {
                (FunctionalError::Fault(fault), _) => SimFault::Kernel(fault),
                (FunctionalError::Stopped { .. }, Some(limit)) => {
                    SimFault::Limited { limit, cycle: self.now }
                }
                (FunctionalError::Stopped { .. }, None) => SimFault::Interrupted { cycle: self.now },
                (other, _) => SimFault::Deadlock { cycle: self.now, waiting: other.to_string() },
            })?;
            running.next += 1;
            running.done += 1;
            skipped += ran.warp_instructions;
            sampled.count(ran.thread_instructions);
        }
        sampled.settle(skipped, running.done + resident);
        self.launches.retire_ended();
        Ok(())
    }
}
