//! Execution of CTAs without timing. Their accesses update the tags of the L1Ds and the L2.
use super::launches::{Launches, SlowStart};
use super::pace::SupplyLevel;
use super::{Control, Gpu};
use crate::config::GpuConfig;
use crate::partition::{AddressMap, MemorySystem};
use crate::sm::Sm;
use crate::sm::coalescer::{Transaction, coalesce};
use crate::sm::fault::SimFault;
use crate::sm::feed::Feed;
use crate::sm::launch::{ClockAndSm, LaunchedKernel};
use selvedge_ptx::memory::{DeviceMemory, physical};
use selvedge_ptx::ptx::{
    AccessKind, CacheOp, Env, FunctionalError, FunctionalStats, MemAccess, Space, run_cta,
};
use selvedge_state::{Reader, StateError, Writer};
use std::sync::atomic::Ordering;

impl Gpu {
    /// Executes the CTAs before CTA `until` of the only launch in progress without timing, in order. Begins with the first CTA
    /// that has not started, and ends after the CTA in which they have executed `most` thread instructions. Returns the numbers of
    /// their instructions. Nothing may be in flight.
    ///
    /// A CTA, or a cluster of CTAs, belongs to an SM in round-robin order. The launch ends with its last CTA.
    ///
    /// # Errors
    /// Returns the fault of the kernel, a deadlock, an interrupt or the timeout.
    pub fn execute_ctas(
        &mut self,
        until: u64,
        most: u64,
        memory: &mut DeviceMemory,
    ) -> Result<FunctionalStats, SimFault> {
        let Launches { running, next_sm, .. } = &mut self.launches;
        let [running] = &mut running[..] else { return Ok(FunctionalStats::default()) };
        debug_assert!(matches!(running.kernel.feed, Feed::Execute));
        let mut warmer = CacheWarmer::new(&self.config, &mut self.system, self.now);
        let mut all = FunctionalStats::default();
        let ctas = u64::from(running.kernel.dims.cluster_ctas());
        while running.next < until.min(running.total) && all.thread_instructions < most {
            let sm = &mut self.sms[*next_sm];
            *next_sm = (*next_sm + 1) % self.config.sm.count as usize;
            let kernel = &running.kernel;
            let place = ClockAndSm { clock: self.now, sm: u32::from(sm.number()), sms: self.config.sm.count };
            let mut env = kernel.environment(memory, &mut [], place);
            let mut warm = |access: &MemAccess| warmer.see(sm, kernel.program, access, |_, _, _| ());
            let ran =
                execute_cta(kernel, running.next, &mut env, &mut warm, &self.watchdog.control, self.now)?;
            running.next += ctas;
            running.done += ctas;
            self.watchdog.control.ctas_done.store(running.done, Ordering::Relaxed);
            all += ran;
        }
        self.launches.retire_ended();
        Ok(all)
    }

    /// Executes the CTAs of the only launch in progress on `memory`, until they have executed `most` thread instructions or the launch
    /// ends. Begins with the first CTA that has not started. Returns the number of these CTAs and their instructions.
    /// Changes only `memory`.
    ///
    /// # Errors
    /// As [`Self::execute_ctas`].
    pub fn count_ctas(
        &self,
        most: u64,
        memory: &mut DeviceMemory,
    ) -> Result<(u64, FunctionalStats), SimFault> {
        let mut all = FunctionalStats::default();
        let [running] = &self.launches.running[..] else { return Ok((0, all)) };
        let (kernel, sms) = (&running.kernel, self.config.sm.count);
        let ctas = u64::from(kernel.dims.cluster_ctas());
        let mut cta = running.next;
        while cta < running.total && all.thread_instructions < most {
            let sm = (self.launches.next_sm as u64 + (cta - running.next) / ctas) % u64::from(sms);
            let place = ClockAndSm { clock: self.now, sm: sm as u32, sms };
            let mut env = kernel.environment(memory, &mut [], place);
            all += execute_cta(kernel, cta, &mut env, &mut |_| {}, &self.watchdog.control, self.now)?;
            cta += ctas;
        }
        Ok((cta - running.next, all))
    }

    /// Puts the host's copies since the last call into the tags of the L2, if the configuration says so.
    pub fn take_copies_untimed(&mut self, memory: &mut DeviceMemory) {
        let map = AddressMap::new(&self.config.l2);
        for copy in memory.take_copies() {
            for (line, sectors) in self.system.lines_of(copy) {
                self.system.warm(self.now, map.slice(line), line, sectors, false);
            }
        }
    }

    /// Returns whether any part of a mechanism learns from the timing of accesses.
    pub fn learns(&mut self) -> bool {
        self.sms.iter_mut().any(|sm| sm.learned().next().is_some())
    }

    /// Returns the state that the parts of mechanisms have learned so far.
    pub fn learned(&mut self) -> Vec<u8> {
        let mut out = Writer::default();
        self.sms.iter_mut().flat_map(|sm| sm.learned()).for_each(|part| part.save(&mut out));
        out.into_bytes()
    }

    /// Gives the parts the state that [`Self::learned`] returned for a GPU of the same configuration and parts.
    ///
    /// # Errors
    /// Returns an error if the state is of another configuration or other parts.
    pub fn learn(&mut self, learned: &[u8]) -> Result<(), StateError> {
        let mut from = Reader::new(learned);
        self.sms.iter_mut().flat_map(|sm| sm.learned()).try_for_each(|part| part.load(&mut from))?;
        from.end()
    }

    /// Starts the next `ctas` CTAs of the only launch slowly, so that they run out of step. A CTA has a mean of `instructions` warp
    /// instructions. No instruction may have been issued.
    pub fn start_slowly(&mut self, ctas: u64, instructions: f64) {
        self.launches.slow_start = Some(SlowStart { ctas, instructions, started: 0 });
    }

    /// Runs the only launch in progress until all parts of mechanisms are trained, or `most` of its CTAs have ended.
    ///
    /// # Errors
    /// As [`Gpu::run`].
    pub fn run_until_trained(&mut self, most: u64, memory: &mut DeviceMemory) -> Result<(), SimFault> {
        while !self.sms.iter().all(|sm| sm.is_trained()) {
            let Some(done) = self.launches.running.first().map(|running| running.done) else { break };
            if done >= most {
                break;
            }
            self.run_until_done(done + 1, memory)?;
        }
        Ok(())
    }

    /// Runs the only launch in progress until `done` of its CTAs have ended, or to its last CTA.
    ///
    /// # Errors
    /// As [`Gpu::run`].
    pub fn run_until_done(&mut self, done: u64, memory: &mut DeviceMemory) -> Result<(), SimFault> {
        while self.launches.running.first().is_some_and(|running| running.done < done) {
            self.advance(u64::MAX, memory)?;
        }
        Ok(())
    }
}

/// Lets the tags of the L1Ds and the L2 see accesses without timing.
pub(super) struct CacheWarmer<'a> {
    map: AddressMap,
    line_bytes: u32,
    system: &'a mut MemorySystem,
    now: u64,
    /// Memory for the transactions of an access.
    transactions: Vec<Transaction>,
}

impl<'a> CacheWarmer<'a> {
    pub fn new(config: &GpuConfig, system: &'a mut MemorySystem, now: u64) -> Self {
        let map = AddressMap::new(&config.l2);
        CacheWarmer { map, line_bytes: config.l1d.line_bytes, system, now, transactions: Vec::new() }
    }

    /// Lets the caches see an access by `sm` of `program`. Calls `each` for each transaction with the slice of its line,
    /// the level that has supplied it, and the number of sectors that miss in the L1D.
    pub fn see(
        &mut self,
        sm: &mut Sm,
        program: u8,
        access: &MemAccess,
        mut each: impl FnMut(u16, SupplyLevel, u32),
    ) {
        if !matches!(access.space, Space::Global | Space::Local) {
            return;
        }
        self.transactions.clear();
        coalesce(access, self.line_bytes, &mut self.transactions);
        let bypasses = matches!(access.cache, CacheOp::Global | CacheOp::Volatile);
        for transaction in &self.transactions {
            let line = physical(program, transaction.line);
            let sectors = transaction.sectors;
            let is_load = access.kind == AccessKind::Load;
            let missing = match access.kind {
                AccessKind::Load if bypasses => sectors,
                AccessKind::Load => sm.warm(self.now, program, line, sectors),
                kind => {
                    sm.warm_write(self.now, line, sectors, kind == AccessKind::Store);
                    sectors
                }
            };
            let slice = self.map.slice(line);
            let level = match missing {
                0 => SupplyLevel::L1d,
                _ if self.system.warm(self.now, slice, line, missing, !is_load) => SupplyLevel::L2,
                _ => SupplyLevel::Dram,
            };
            each(slice, level, missing.count_ones());
        }
    }
}

/// Executes a CTA and the other CTAs of its cluster, which it begins, without timing. `each` sees their accesses.
fn execute_cta(
    kernel: &LaunchedKernel,
    cta: u64,
    env: &mut Env,
    each: &mut dyn FnMut(&MemAccess),
    control: &Control,
    cycle: u64,
) -> Result<FunctionalStats, SimFault> {
    let mut goes_on = |_| !control.stop.load(Ordering::Relaxed) && control.timed_out().is_none();
    run_cta(&kernel.kernel, cta, env, each, &mut goes_on).map_err(|error| {
        match (error, control.timed_out()) {
            (FunctionalError::Fault(fault), _) => SimFault::Kernel(fault),
            (FunctionalError::Stopped { .. }, Some(limit)) => SimFault::Limited { limit, cycle },
            (FunctionalError::Stopped { .. }, None) => SimFault::Interrupted { cycle },
            (error @ FunctionalError::Livelock { .. }, _) => {
                let waiting = format!("{error}; without timing, a CTA cannot wait for a later one");
                SimFault::Deadlock { cycle, waiting }
            }
            (other, _) => SimFault::Deadlock { cycle, waiting: other.to_string() },
        }
    })
}
