//! The GPU: SMs and memory system under their clocks, and the dispatch of CTAs of one or several kernels.
mod beside;
mod control;
mod deadlock;
#[cfg(test)]
mod deadlock_tests;
mod livelock;
#[cfg(test)]
mod livelock_tests;
mod pace;
mod pool;
mod sampled;
mod sms;
mod window;
#[cfg(test)]
mod witness_tests;

pub use crate::bounds::{Bounds, Limit};
pub use control::Control;
pub use sampled::{Estimate, SampleSpec, SampleSpecError};

use crate::config::GpuConfig;
use crate::dram::EnergyModel;
use crate::energy::GpuEnergyModel;
use crate::id_set::IdSet;
use crate::partition::MemorySystem;
use crate::parts::Parts;
use crate::share::Share;
use crate::sm::ahead::Link;
use crate::sm::feed::Feed;
use crate::sm::launch::LaunchedKernel;
use crate::sm::quota::Quotas;
use crate::sm::read_only::Side;
use crate::sm::{SimFault, Sm, TickContext};
use crate::snapshot::Snapshot;
use crate::stats::KernelCounters;
use crate::stats::MechanismCounters;
use crate::timeline::{Happening, Recorder, Timeline, Track, View};
use crate::wakes::Wakes;
use crate::witness::Witness;
use beside::Exchange;
use sampled::Sampled;
use selvedge_hw as hw;
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::Global;
use selvedge_state::{Reader, State, StateError};
use sms::Sms;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use window::Windows;

/// Cycles without any progress after which the simulation is declared deadlocked.
const WATCHDOG_CYCLES: u64 = 2_000_000;

/// How often, in core cycles, the simulation looks for an interrupt and reports its progress.
const POLL_CYCLES: u64 = 16_384;

/// A clock domain that runs beside the core clock in a fixed integer ratio of frequencies.
#[derive(Clone, Copy, Debug, State)]
pub struct ClockDomain {
    mhz: u64,
    core_mhz: u64,
    phase: u64,
    cycle: u64,
}

impl ClockDomain {
    /// A domain of `mhz` beside a core clock of `core_mhz`.
    pub fn new(mhz: u32, core_mhz: u32) -> Self {
        ClockDomain { mhz: u64::from(mhz), core_mhz: u64::from(core_mhz), phase: 0, cycle: 0 }
    }

    /// Advances by `core_cycles` and returns the numbers of this domain's cycles that have passed: none, or several
    /// where this clock is the faster one.
    #[inline(always)]
    pub fn advance(&mut self, core_cycles: u64) -> Range<u64> {
        let first = self.cycle + 1;
        self.phase += self.mhz * core_cycles;
        self.cycle += self.phase / self.core_mhz;
        self.phase %= self.core_mhz;
        first..self.cycle + 1
    }

    /// Advances by one core cycle and calls `run` with the number of each of this domain's cycles that have passed. Without a
    /// division, unlike [`Self::advance`].
    ///
    /// # Errors
    /// The first one that `run` returns.
    #[inline(always)]
    pub fn step<E>(&mut self, mut run: impl FnMut(u64) -> Result<(), E>) -> Result<(), E> {
        self.phase += self.mhz;
        while self.phase >= self.core_mhz {
            self.phase -= self.core_mhz;
            self.cycle += 1;
            run(self.cycle)?;
        }
        Ok(())
    }

    /// Cycles of this domain so far.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }
}

/// When the counters are taken.
#[derive(Clone, Copy, Debug, State)]
struct Sampling {
    /// Core cycles from one sample to the next.
    every: u64,
    /// Core cycle of the next one.
    next: u64,
}

/// A launch in progress.
#[derive(State)]
struct Running {
    kernel: Arc<LaunchedKernel>,
    /// The first core cycle in which a CTA may start.
    from: u64,
    /// The CTA to dispatch next.
    next: u64,
    /// CTAs that have finished.
    done: u64,
    /// CTAs in all.
    total: u64,
    /// CTAs that had finished when the simulation looked for livelocks last.
    done_before: Option<u64>,
    /// It is in a livelock, of which the outside has been warned.
    livelocked: bool,
}

/// What the watchdog saw last.
#[derive(Clone, Copy, Debug, Default, State)]
struct Progress {
    /// Core cycle in which it was seen to have grown.
    at: u64,
    /// Its measure then.
    measure: u64,
}

/// A whole GPU.
#[derive(State)]
pub struct Gpu {
    #[state(skip = "the configuration")]
    config: Arc<GpuConfig>,
    sms: Sms,
    wakes: Wakes,
    /// Which SMs have a packet that waits for room in the crossbar.
    port_waits: Vec<bool>,
    /// SMs that run in a cycle; empty between cycles.
    due: IdSet,
    #[state(skip = "the configuration states it")]
    energy_model: GpuEnergyModel,
    system: MemorySystem,
    now: u64,
    interconnect: ClockDomain,
    l2: ClockDomain,
    dram: ClockDomain,
    next_sm: usize,
    finished: Vec<u8>,
    /// The launches in progress, the earliest first.
    running: Vec<Running>,
    share: Share,
    /// Whether a CTA may find room now. Not again before one has finished or a launch has come, once none did.
    may_dispatch: bool,
    seen: Progress,
    /// Core cycles without progress after which the watchdog barks.
    #[state(skip = "an option")]
    patience: u64,
    sampling: Option<Sampling>,
    samples: Vec<Snapshot>,
    /// What is skipped, if anything is.
    #[state(skip = "a sampled run has no checkpoint")]
    sampled: Option<Box<Sampled>>,
    #[state(skip = "an option")]
    bounds: Bounds,
    /// The core cycle at whose end the simulation next polls.
    next_poll: u64,
    /// The same for limits and polls, whichever is first.
    next_look: u64,
    #[state(skip = "the caller's")]
    control: Arc<Control>,
    witness: Witness,
    /// The recorder of a timeline, if there is one.
    #[state(skip = "an option")]
    recorder: Option<Box<Recorder>>,
    /// How SMs run ahead on several threads, where they do.
    #[state(skip = "no SM is ahead between two calls")]
    windows: Option<Box<Windows>>,
}

impl Gpu {
    /// A GPU with empty caches.
    pub fn new(config: &Arc<GpuConfig>, parts: Parts, control: Arc<Control>) -> Self {
        let clock = config.clock;
        let sms: Sms =
            parts.sms.into_iter().enumerate().map(|(id, parts)| Sm::new(id as u16, config, parts)).collect();
        Gpu {
            wakes: Wakes::new(sms.len()),
            port_waits: vec![false; sms.len()],
            due: IdSet::new(sms.len()),
            energy_model: GpuEnergyModel::new(config),
            sms,
            system: MemorySystem::new(config, parts.partitions),
            config: Arc::clone(config),
            now: 0,
            interconnect: ClockDomain::new(clock.interconnect_mhz, clock.core_mhz),
            l2: ClockDomain::new(clock.l2_mhz, clock.core_mhz),
            dram: ClockDomain::new(clock.dram_mhz, clock.core_mhz),
            next_sm: 0,
            finished: Vec::new(),
            running: Vec::new(),
            share: Share::LeftOver,
            may_dispatch: false,
            seen: Progress::default(),
            patience: WATCHDOG_CYCLES,
            sampling: None,
            samples: Vec::new(),
            sampled: None,
            bounds: Bounds::default(),
            next_poll: POLL_CYCLES,
            next_look: 0,
            control,
            witness: Witness::default(),
            recorder: None,
            windows: None,
        }
    }

    /// Lets a witness follow what the caches and DRAM hold; nothing may have run yet.
    pub fn watch(&mut self) {
        self.witness = Witness::new();
        self.sms.iter_mut().for_each(|sm| sm.watch(&self.witness));
        self.system.watch(&self.witness);
    }

    /// The witness, if there is one.
    pub fn witness(&self) -> &Witness {
        &self.witness
    }

    /// Core cycles so far.
    pub fn cycle(&self) -> u64 {
        self.now
    }

    /// The most warps that a scheduler had at the same time.
    pub fn most_resident_warps(&self) -> u64 {
        self.sms.iter().map(Sm::most_resident_warps).max().unwrap_or(0)
    }

    /// DRAM command-clock cycles so far.
    pub fn dram_cycle(&self) -> u64 {
        self.dram.cycle()
    }

    /// The configuration.
    pub fn config(&self) -> &GpuConfig {
        &self.config
    }

    /// The SMs, for their counters.
    pub fn sms(&self) -> impl Iterator<Item = &Sm> {
        self.sms.iter()
    }

    /// The memory system, for its counters.
    pub fn system(&self) -> &MemorySystem {
        &self.system
    }

    /// Adds the mechanism's counters to the report.
    pub fn mechanism_counters(&self, out: &mut MechanismCounters) {
        self.sms.iter().for_each(|sm| sm.parts().counters(out));
        self.system.parts().for_each(|parts| parts.counters(out));
    }

    /// What the mechanism's recorded block instances have seen, those of the SMs at the core clock and those of the partitions
    /// at the L2's.
    pub fn traces(&self) -> Vec<Trace> {
        let mut traces = Vec::new();
        self.sms.iter().for_each(|sm| sm.parts().traces(&mut traces));
        let of_sms = traces.len();
        self.system.parts().for_each(|parts| parts.traces(&mut traces));
        let clock = &self.config.clock;
        let (core, l2) = traces.split_at_mut(of_sms);
        for (traces, domain, mhz) in [(core, "core", clock.core_mhz), (l2, "l2", clock.l2_mhz)] {
            traces.iter_mut().for_each(|trace| trace.clock = hw::Clock { domain, mhz });
        }
        traces
    }

    /// Declares the simulation deadlocked after the given number of core cycles without any progress (times how much slower the slowest
    /// clock is), 2,000,000 unless this says otherwise. It looks every 16,384 cycles.
    pub fn watchdog(&mut self, cycles: u64) {
        self.patience = cycles;
    }

    /// Ends the simulation at these limits, counted from the beginning. It ends after the first core cycle that reaches one,
    /// unless all work is done by then.
    pub fn bound(&mut self, bounds: Bounds) {
        self.bounds = bounds;
        self.next_look = self.now;
    }

    /// Takes the counters whenever `every` core cycles have passed, from now on; `None` ends that.
    pub fn sample(&mut self, every: Option<u64>) {
        self.sampling = every.map(|every| Sampling { every, next: (self.now / every + 1) * every });
    }

    /// The counters that were taken: from the beginning, in the order of time.
    pub fn samples(&self) -> &[Snapshot] {
        &self.samples
    }

    /// Records a timeline of the core cycles of `interval`. SMs that run ahead on other threads have none.
    pub fn record_timeline(&mut self, interval: Range<u64>) {
        self.recorder = Some(Box::new(Recorder::new(interval)));
        self.next_look = self.now;
    }

    /// Returns the timeline that was recorded, if one was.
    pub fn take_timeline(&mut self) -> Option<Timeline> {
        self.record();
        Some(self.recorder.take()?.finish(self.now))
    }

    /// Lets the recorder look at the GPU, and looks again when it next has to.
    fn record(&mut self) {
        let Some(mut recorder) = self.recorder.take() else { return };
        recorder.look(self);
        self.next_look = recorder.next(self.now).map_or(self.next_look, |next| next.min(self.next_look));
        self.recorder = Some(recorder);
    }

    /// Shows what holds at the end of this cycle, for a timeline.
    pub(crate) fn show(&self, view: &mut View) {
        for running in &self.running {
            let kernel = view.kernel(&running.kernel.kernel.name);
            let track = Track::Launch { slot: running.kernel.slot };
            view.show(track, Happening::Launch { kernel, starts: running.from });
        }
        self.sms.iter().for_each(|sm| sm.show(view));
        self.system.show(view);
    }

    fn take_sample(&mut self) {
        if let Some(sampling) = &mut self.sampling
            && sampling.next <= self.now
        {
            sampling.next += sampling.every;
            self.samples.push(self.snapshot());
        }
    }

    /// Sums every counter.
    pub fn snapshot(&self) -> Snapshot {
        let memory = self.system.stats();
        let mut sum = Snapshot {
            cycles: self.now,
            bus_cycles: self.dram_cycle() * u64::from(self.config.l2.partitions),
            l2: memory.l2,
            dram: memory.dram,
            crossbar: memory.crossbar,
            energy_model: EnergyModel::new(&self.config),
            gpu_energy_model: self.energy_model.clone(),
            ..Snapshot::default()
        };
        for parts in self.system.parts() {
            parts.operations(&mut sum.blocks);
            if let Some(bursts) = parts.line_bursts() {
                *sum.line_bursts.get_or_insert_default() += bursts;
            }
        }
        for sm in self.sms.iter() {
            sm.parts().operations(&mut sum.blocks);
            sum.sm += sm.counters_at(self.now);
            sum.l1d += sm.l1d().counters();
            sum.constant += sm.read_only(Side::Constant);
            sum.texture += sm.read_only(Side::Texture);
            sum.instruction += sm.read_only(Side::Instruction);
        }
        sum
    }

    /// The memory system, to switch checks on.
    pub fn system_mut(&mut self) -> &mut MemorySystem {
        &mut self.system
    }

    /// Shares the GPU among kernels in this way from now on. One kernel has all of it by default.
    pub fn share(&mut self, share: Share) {
        self.share = share;
    }

    /// Gives kernels quotas of warp instructions in every SM from now on.
    pub fn set_quotas(&mut self, sizes: &[u32]) {
        self.sms.iter_mut().for_each(|sm| sm.set_quotas(Quotas::new(sizes)));
    }

    /// Sets of quotas that were given out, over SMs.
    pub fn quota_sets(&self) -> u64 {
        self.sms.iter().map(Sm::quota_sets).sum()
    }

    /// What a kernel slot did so far, all SMs together.
    pub fn kernel_counters(&self, slot: usize) -> KernelCounters {
        self.sms.iter().fold(KernelCounters::default(), |mut sum, sm| {
            sum += sm.kernel_counters(slot);
            sum
        })
    }

    /// The launches in progress, the earliest first.
    pub fn launches(&self) -> impl Iterator<Item = &LaunchedKernel> {
        self.running.iter().map(|running| running.kernel.as_ref())
    }

    /// Runs one launch to its end: every CTA finished, every store acknowledged.
    ///
    /// # Errors
    /// The kernel or a mechanism is at fault, nothing progresses any more, or the user interrupted.
    pub fn run(&mut self, kernel: LaunchedKernel, memory: &mut DeviceMemory) -> Result<(), SimFault> {
        self.start(kernel);
        self.run_until(u64::MAX, memory).map(|_| ())
    }

    /// Runs the current launches to their end, or up to core cycle `until`; returns whether they have ended.
    ///
    /// # Errors
    /// As [`Gpu::run`]. A run that was interrupted or has reached a limit can go on.
    pub fn run_until(&mut self, until: u64, memory: &mut DeviceMemory) -> Result<bool, SimFault> {
        if self.windows.is_some() {
            self.allow_windows();
            let beside = self.may_run_beside();
            while self.is_working() {
                if self.now >= until {
                    return Ok(false);
                }
                self.run_interval(until, beside, memory)?;
            }
            return Ok(true);
        }
        while self.is_working() {
            if self.now >= until {
                return Ok(false);
            }
            self.advance(until, memory)?;
        }
        Ok(true)
    }

    /// Loads the state that another GPU of the same configuration and parts has saved between two cycles, with `launches` under
    /// way.
    ///
    /// # Errors
    /// It is the state of another one.
    pub fn resume(&mut self, launches: Vec<LaunchedKernel>, from: &mut Reader) -> Result<(), StateError> {
        self.energy_model.share(from);
        for launch in launches {
            if let Feed::Replay(trace) = &launch.feed {
                from.share(trace);
            }
            from.share(&Arc::new(launch));
        }
        self.load(from)?;
        // The limits may be others.
        self.next_look = self.now;
        self.control.ctas_total.store(self.running.iter().map(|r| r.total).sum(), Ordering::Relaxed);
        Ok(())
    }

    /// Starts a launch beside those in progress; the slot of its kernel must be free. The L1Ds lose their lines of its
    /// program.
    pub fn start(&mut self, kernel: LaunchedKernel) {
        let slot = kernel.slot;
        self.witness.launch(slot);
        debug_assert!(self.running.iter().all(|other| other.kernel.slot != slot), "the slot is taken");
        for (id, sm) in self.sms.iter_mut().enumerate() {
            if self.running.is_empty() {
                sm.invalidate_l1d();
                sm.divide_unified(&kernel);
            } else {
                sm.invalidate_program(slot);
            }
            // Even an SM that gets no CTA has to write back what its L1D has kept.
            if sm.has_to_send() {
                self.wakes.set(id, self.now, self.now + 1);
            }
        }
        let total = kernel.dims.ctas();
        let kernel = Arc::new(kernel);
        let from = self.now + u64::from(self.config.sm.launch_latency);
        self.running.push(Running {
            kernel,
            from,
            next: 0,
            done: 0,
            total,
            done_before: None,
            livelocked: false,
        });
        self.may_dispatch = true;
        self.begin_sampling();
        self.seen = Progress { at: self.now, measure: 0 };
        self.control.ctas_total.store(self.running.iter().map(|r| r.total).sum(), Ordering::Relaxed);
    }

    /// Runs the launches in progress until all CTAs of one have finished, or until core cycle `until`; gives the slots that
    /// have become free, the lowest first.
    ///
    /// # Errors
    /// As [`Gpu::run`].
    pub fn run_until_one_ends(&mut self, until: u64, memory: &mut DeviceMemory) -> Result<Vec<u8>, SimFault> {
        let slots = |gpu: &Gpu| gpu.running.iter().map(|r| r.kernel.slot).collect::<Vec<_>>();
        let before = slots(self);
        while self.now < until && self.running.len() == before.len() {
            self.advance(until, memory)?;
        }
        let left = slots(self);
        let mut ended: Vec<u8> = before.into_iter().filter(|slot| !left.contains(slot)).collect();
        ended.sort_unstable();
        Ok(ended)
    }

    /// Gives up the launches in progress: none of their CTAs starts any more, and those on the SMs run to their end, as does
    /// everything in flight.
    ///
    /// # Errors
    /// As [`Gpu::run`].
    pub fn drain(&mut self, memory: &mut DeviceMemory) -> Result<(), SimFault> {
        for running in &mut self.running {
            running.total = running.next;
        }
        self.retire_ended();
        while self.is_working() {
            self.advance(u64::MAX, memory)?;
        }
        Ok(())
    }

    fn is_working(&self) -> bool {
        !self.running.is_empty()
            || self.has_ahead()
            || self.sms.iter().any(|sm| !sm.is_idle())
            || self.system.busy()
    }

    /// Dispatches, runs a core cycle and jumps over idle ones, none after `until`.
    fn advance(&mut self, until: u64, memory: &mut DeviceMemory) -> Result<(), SimFault> {
        if self.now >= self.next_look {
            self.look(memory)?;
        }
        if self.sampled.is_some() {
            self.skip_ctas(memory)?;
        }
        self.dispatch_if_any();
        self.step(memory)?;
        self.take_sample();
        self.count_finished();
        if !self.may_dispatch && !self.wakes.has_next() && !self.runs_ahead_next() {
            self.skip_idle_cycles(until)?;
        }
        Ok(())
    }

    /// Dispatches CTAs where one may find room.
    #[inline(always)]
    fn dispatch_if_any(&mut self) {
        if self.may_dispatch {
            let dispatched = self.dispatch();
            self.may_dispatch = self.has_ctas_left() && (dispatched || self.awaits_a_launch());
        }
    }

    /// Counts the CTAs that have finished.
    #[inline(always)]
    fn count_finished(&mut self) {
        if !self.finished.is_empty() {
            for slot in self.finished.drain(..) {
                if let Some(running) = self.running.iter_mut().find(|r| r.kernel.slot == slot) {
                    running.done += 1;
                }
            }
            self.control.ctas_done.store(self.running.iter().map(|r| r.done).sum(), Ordering::Relaxed);
            self.retire_ended();
            self.may_dispatch = self.has_ctas_left();
        }
    }

    fn has_ctas_left(&self) -> bool {
        self.running.iter().any(|running| running.next < running.total)
    }

    /// Returns whether a launch has not begun yet.
    fn awaits_a_launch(&self) -> bool {
        self.running.iter().any(|running| running.from > self.now)
    }

    fn retire_ended(&mut self) {
        self.running.retain(|running| running.done < running.total);
    }

    /// Gives each SM at most one CTA, round-robin from the SM after the last that took one; true when any did. An SM takes
    /// the CTA of the earliest launch that may use it and has room in it.
    fn dispatch(&mut self) -> bool {
        let count = self.sms.len();
        let mut any = false;
        let first = self.next_sm;
        for offset in 0..count {
            let id = (first + offset) % count;
            // No CTA has ended there, or the SM would have stopped.
            if self.is_ahead(id) {
                continue;
            }
            let (sm, share) = (&self.sms[id], &self.share);
            let fits = |running: &&mut Running| {
                let slot = usize::from(running.kernel.slot);
                running.next < running.total
                    && running.from <= self.now
                    && share.allows(slot, id, count, sm.resident_ctas(slot))
                    && sm.can_launch(&running.kernel)
            };
            let Some(running) = self.running.iter_mut().find(fits) else { continue };
            let (kernel, cta) = (Arc::clone(&running.kernel), running.kernel.dims.cta(running.next));
            running.next += 1;
            self.sms[id].resume(self.now);
            self.sms[id].launch(&kernel, cta);
            self.wakes.set(id, self.now, self.now + 1);
            self.next_sm = (id + 1) % count;
            any = true;
        }
        any
    }

    /// Runs one core cycle, and the cycles of the other domains that fall into it.
    fn step(&mut self, memory: &mut DeviceMemory) -> Result<(), SimFault> {
        self.now += 1;
        let system = &mut self.system;
        self.dram.step(|cycle| {
            system.tick_dram(cycle);
            Ok::<_, SimFault>(())
        })?;
        self.l2.step(|cycle| system.tick_l2(cycle, memory)).map_err(SimFault::Mechanism)?;
        self.interconnect.step(|cycle| {
            system.tick_interconnect(cycle);
            Ok::<_, SimFault>(())
        })?;
        self.tick_sms(memory, None)
    }

    /// Runs the SMs that have something to do in this cycle. `beside` is the exchange with the memory system where that runs beside them.
    #[inline(always)]
    fn tick_sms(
        &mut self,
        memory: &mut DeviceMemory,
        mut beside: Option<&mut Exchange>,
    ) -> Result<(), SimFault> {
        self.wakes.take_due(self.now, &mut self.due);
        self.wake_by_memory();
        let has_ahead = self.has_ahead();
        if has_ahead {
            self.wake_ahead();
        }
        // Those that join the set meanwhile come later in the order.
        while let Some(id) = self.due.pop() {
            if has_ahead && self.is_ahead(id) {
                self.replay(id, memory, beside.as_deref_mut())?;
                continue;
            }
            let system = match beside.as_deref_mut() {
                Some(exchange) => Link::Beside(&mut self.system.near, exchange),
                None => Link::System(&mut self.system),
            };
            let mut ctx = TickContext { now: self.now, memory: Global::Whole(memory), system };
            let sm = &mut self.sms[id];
            let wake = sm.tick(&mut ctx)?;
            self.wakes.set(id, self.now, wake);
            sm.take_finished(&mut self.finished);
            if self.system.shares_ports() {
                self.share_port(id);
            } else if sm.port_wait().is_some() || self.port_waits[id] {
                self.system.await_room(id, sm.port_wait());
                self.port_waits[id] = sm.port_wait().is_some();
            }
        }
        Ok(())
    }

    /// Wakes the SMs whose replies have arrived, and those with a packet that the crossbar has room for.
    #[inline(always)]
    fn wake_by_memory(&mut self) {
        if !self.system.shares_ports() {
            self.due.add_all(self.system.replies());
        } else if !self.system.replies().is_empty() {
            let with_reply = (0..self.sms.len()).filter(|id| self.system.has_reply(*id));
            with_reply.for_each(|id| self.due.insert(id));
        }
        if self.system.has_room_for_any() {
            for id in 0..self.sms.len() {
                if self.system.has_room(id) {
                    self.due.insert(id);
                }
            }
        }
    }

    /// Lets an SM that shares its port try it in each cycle, and the next one take what was behind this one's reply.
    #[cold]
    fn share_port(&mut self, id: usize) {
        if self.sms[id].port_wait().is_some() {
            self.wakes.set(id, self.now, self.now + 1);
        }
        if id + 1 < self.sms.len() && self.system.has_reply(id + 1) {
            self.due.insert(id + 1);
        }
    }

    /// Jumps to the next cycle in which an SM has something to do when the memory system has nothing, `until` at most.
    #[inline(always)]
    fn skip_idle_cycles(&mut self, until: u64) -> Result<(), SimFault> {
        if self.system.busy() {
            return Ok(());
        }
        let ahead = self.first_ahead();
        let wake = self.wakes.first().min(ahead);
        if wake == u64::MAX {
            if self.running.is_empty() && self.sms.iter().all(Sm::is_idle) {
                return Ok(());
            }
            return Err(self.deadlock());
        }
        // The last skipped cycle stays to be run by `step`; points of looking and sampling are not skipped.
        let sample = self.sampling.map_or(u64::MAX, |sampling| sampling.next);
        let target = wake.min(self.next_look).min(sample).min(until) - 1;
        if target > self.now {
            let skipped = target - self.now;
            self.now = target;
            self.dram.advance(skipped);
            self.l2.advance(skipped);
            self.interconnect.advance(skipped);
        }
        Ok(())
    }

    /// Ends the simulation at a limit, and polls when it is time to.
    fn look(&mut self, memory: &mut DeviceMemory) -> Result<(), SimFault> {
        let instructions = self.thread_instructions();
        if let Some(limit) = self.bounds.reached(self.now, instructions) {
            return Err(SimFault::Limited { limit, cycle: self.now });
        }
        if self.now >= self.next_poll {
            self.poll()?;
            self.warn_of_livelocks(memory);
            self.next_poll = (self.now / POLL_CYCLES + 1) * POLL_CYCLES;
        }
        let sm = &self.config.sm;
        let peak = u64::from(sm.count) * u64::from(sm.schedulers) * 32;
        self.next_look = self.next_poll.min(self.bounds.next(self.now, instructions, peak));
        self.record();
        Ok(())
    }

    fn warp_instructions(&self) -> u64 {
        self.sms.iter().map(Sm::warp_instructions).sum()
    }

    fn thread_instructions(&self) -> u64 {
        self.sms.iter().map(Sm::thread_instructions).sum()
    }

    fn poll(&mut self) -> Result<(), SimFault> {
        self.control.cycle.store(self.now, Ordering::Relaxed);
        if self.control.stop.load(Ordering::Relaxed) {
            return Err(SimFault::Interrupted { cycle: self.now });
        }
        if let Some(limit) = self.control.timed_out() {
            return Err(SimFault::Limited { limit, cycle: self.now });
        }
        let measure = self.progress();
        let slowest = [self.interconnect, self.l2, self.dram].iter().map(|d| d.mhz).min().unwrap_or(1);
        let patience = self.patience * (u64::from(self.config.clock.core_mhz) / slowest).max(1);
        if measure != self.seen.measure {
            self.seen = Progress { at: self.now, measure };
        } else if self.now - self.seen.at > patience {
            return Err(self.deadlock());
        }
        Ok(())
    }

    /// Grows whenever an instruction issues, a packet crosses or DRAM serves a request.
    fn progress(&self) -> u64 {
        let issued = self.warp_instructions();
        let memory = self.system.stats();
        let crossed = memory.crossbar.requests.packets + memory.crossbar.replies.packets;
        issued + crossed + memory.dram.reads + memory.dram.writes
    }

    fn deadlock(&self) -> SimFault {
        // By SM, then the memory system, so that many warps do not hide what they wait for.
        let groups = self.sms.iter().map(Sm::describe_waiting).chain([self.system.describe_waiting()]);
        let text = deadlock::report(&groups.collect::<Vec<_>>());
        SimFault::Deadlock { cycle: self.now, waiting: text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_domain_keeps_its_ratio_exactly() {
        let mut domain = ClockDomain::new(924, 1400);
        let passed: usize = (0..1_400_000).map(|_| domain.advance(1).count()).sum();
        assert_eq!(passed, 924_000);
    }

    #[test]
    fn a_clock_faster_than_the_core_gives_each_of_its_cycles_a_number() {
        let mut domain = ClockDomain::new(3500, 1400);
        let numbers: Vec<u64> = (0..4).flat_map(|_| domain.advance(1)).collect();
        assert_eq!(numbers, (1..=10).collect::<Vec<_>>());
    }

    #[test]
    fn skipping_cycles_equals_stepping_them() {
        let (mut a, mut b) = (ClockDomain::new(924, 1400), ClockDomain::new(924, 1400));
        for skip in [1, 7, 1000, 3, 12345] {
            let mut stepped = Vec::new();
            for _ in 0..skip {
                let _: Result<(), ()> = a.step(|cycle| {
                    stepped.push(cycle);
                    Ok(())
                });
            }
            assert_eq!(stepped, b.advance(skip).collect::<Vec<_>>());
        }
        assert_eq!(a.cycle(), b.cycle());
    }
}
