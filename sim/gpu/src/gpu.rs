//! The GPU: SMs and memory system with their clocks, and the dispatch of the CTAs of one or several kernels.
mod control;
mod deadlock;
#[cfg(test)]
mod deadlock_tests;
#[cfg(test)]
mod exchange_tests;
mod livelock;
#[cfg(test)]
mod livelock_tests;
mod sampled;
#[cfg(test)]
mod witness_tests;

pub use crate::bounds::{Bounds, Limit};
pub use control::{Control, Watch};
pub use sampled::{Estimate, SampleSpec, SampleSpecError};

use crate::config::GpuConfig;
use crate::dram::EnergyModel;
use crate::energy::GpuEnergyModel;
use crate::id_set::IdSet;
use crate::partition::MemorySystem;
use crate::parts::Parts;
use crate::share::Share;
use crate::sm::feed::Feed;
use crate::sm::launch::{KERNEL_SLOTS, LaunchedKernel};
use crate::sm::quota::Quotas;
use crate::sm::read_only::{Banks, Changed, Side};
use crate::sm::{SimFault, Sm, TickContext};
use crate::snapshot::Snapshot;
use crate::stats::KernelCounters;
use crate::stats::MechanismCounters;
use crate::timeline::{Happening, Recorder, Timeline, Track, View};
use crate::wakes::Wakes;
use crate::witness::Witness;
use sampled::Sampled;
use selvedge_hw as hw;
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::{Reader, State, StateError};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Default of [`Gpu::watchdog`], in core cycles.
const WATCHDOG_CYCLES: u64 = 2_000_000;

/// Core cycles between two checks for an interrupt, each with a report of the progress.
const POLL_CYCLES: u64 = 16_384;

/// A clock domain with a fixed integer ratio of its frequency to that of the core clock.
#[derive(Clone, Copy, Debug, State)]
pub struct ClockDomain {
    mhz: u64,
    core_mhz: u64,
    phase: u64,
    cycle: u64,
}

impl ClockDomain {
    /// Returns a domain of `mhz` MHz in a GPU whose core clock runs at `core_mhz` MHz.
    pub fn new(mhz: u32, core_mhz: u32) -> Self {
        ClockDomain { mhz: u64::from(mhz), core_mhz: u64::from(core_mhz), phase: 0, cycle: 0 }
    }

    /// Advances by `core_cycles` core cycles and returns the numbers of this domain's cycles that have passed. The range is empty
    /// if no cycle of this clock has ended; it can have several numbers if this clock is faster than the core.
    #[inline(always)]
    pub fn advance(&mut self, core_cycles: u64) -> Range<u64> {
        let first = self.cycle + 1;
        self.phase += self.mhz * core_cycles;
        self.cycle += self.phase / self.core_mhz;
        self.phase %= self.core_mhz;
        first..self.cycle + 1
    }

    /// Advances by one core cycle and calls `run` with the number of each cycle of this domain that has passed. Needs no
    /// division, unlike [`Self::advance`].
    ///
    /// # Errors
    /// Returns the first error of `run`.
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

    /// Returns the cycles of this domain so far.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }
}

/// The schedule of samples of the counters.
#[derive(Clone, Copy, Debug, State)]
struct Sampling {
    /// Core cycles from one sample to the next.
    every: u64,
    /// Core cycle of the next sample.
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
    /// CTAs of the launch.
    total: u64,
    /// CTAs that had finished at the last search for livelocks.
    done_before: Option<u64>,
    /// `true` after a warning that the launch is in a livelock.
    livelocked: bool,
}

/// The last progress that the watchdog saw.
#[derive(Clone, Copy, Debug, Default, State)]
struct Progress {
    /// Core cycle in which `measure` was last seen to change.
    at: u64,
    /// Value of [`Gpu::progress`] in that cycle.
    measure: u64,
}

/// A GPU with its SMs, memory system and launches.
#[derive(State)]
pub struct Gpu {
    #[state(skip = "the configuration")]
    config: Arc<GpuConfig>,
    sms: Vec<Sm>,
    wakes: Wakes,
    /// Per SM, `true` while a packet waits for space in the crossbar.
    port_waits: Vec<bool>,
    /// SMs that must run in this cycle; empty between cycles.
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
    /// The launches in progress, in the order of their starts.
    running: Vec<Running>,
    /// Digests of the constants and arguments of the last launch in each slot.
    banks: [Banks; KERNEL_SLOTS],
    share: Share,
    /// `true` while a CTA may fit an SM. Becomes `false` when none fits, until a CTA finishes or a launch starts.
    may_dispatch: bool,
    seen: Progress,
    /// Core cycles without progress after which the watchdog reports a deadlock.
    #[state(skip = "an option")]
    patience: u64,
    sampling: Option<Sampling>,
    samples: Vec<Snapshot>,
    /// The state of sampled simulation; `None` if every CTA is simulated in detail.
    #[state(skip = "a sampled run has no checkpoint")]
    sampled: Option<Box<Sampled>>,
    #[state(skip = "an option")]
    bounds: Bounds,
    /// The core cycle at whose end the simulation polls next.
    next_poll: u64,
    /// The core cycle at whose end the simulation next checks a limit, polls or records, whichever is first.
    next_look: u64,
    #[state(skip = "the caller's")]
    control: Arc<Control>,
    witness: Witness,
    /// The recorder of a timeline; `None` if none is recorded.
    #[state(skip = "an option")]
    recorder: Option<Box<Recorder>>,
}

impl Gpu {
    /// Returns a GPU with empty caches.
    pub fn new(config: &Arc<GpuConfig>, parts: Parts, control: Arc<Control>) -> Self {
        let clock = config.clock;
        let sms: Vec<Sm> =
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
            banks: [Banks::default(); KERNEL_SLOTS],
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
        }
    }

    /// Installs a witness that follows the contents of the caches and DRAM. No cycle may have run yet.
    pub fn watch(&mut self) {
        self.witness = Witness::new();
        self.sms.iter_mut().for_each(|sm| sm.watch(&self.witness));
        self.system.watch(&self.witness);
    }

    /// Returns the witness, which is inactive without [`Gpu::watch`].
    pub fn witness(&self) -> &Witness {
        &self.witness
    }

    /// Passes a one-line warning to the controller of the run.
    pub fn warn(&self, text: &str) {
        self.control.warn(text);
    }

    /// Returns the core cycles so far.
    pub fn cycle(&self) -> u64 {
        self.now
    }

    /// Returns the max number of warps that one scheduler held at the same time.
    pub fn most_resident_warps(&self) -> u64 {
        self.sms.iter().map(Sm::most_resident_warps).max().unwrap_or(0)
    }

    /// Returns the DRAM command-clock cycles so far.
    pub fn dram_cycle(&self) -> u64 {
        self.dram.cycle()
    }

    /// Returns the configuration.
    pub fn config(&self) -> &GpuConfig {
        &self.config
    }

    /// Returns the SMs, for their counters.
    pub fn sms(&self) -> &[Sm] {
        &self.sms
    }

    /// Returns the memory system, for its counters.
    pub fn system(&self) -> &MemorySystem {
        &self.system
    }

    /// Adds the mechanisms' counters to the report.
    pub fn mechanism_counters(&self, out: &mut MechanismCounters) {
        self.sms.iter().for_each(|sm| sm.parts().counters(out));
        self.system.parts().for_each(|parts| parts.counters(out));
    }

    /// Returns the traces of the mechanisms' recorded block instances. Traces of SMs are in core cycles, traces of partitions in
    /// L2 cycles.
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

    /// Declares the simulation deadlocked after `cycles` core cycles without progress; the default is 2,000,000. The number is
    /// multiplied by the ratio of the core clock to the slowest clock if that clock is slower. The check runs every 16,384
    /// cycles.
    pub fn watchdog(&mut self, cycles: u64) {
        self.patience = cycles;
    }

    /// Ends the simulation at these limits, counted from the beginning. It ends after the first core cycle that reaches a limit,
    /// unless all work is done by then.
    pub fn bound(&mut self, bounds: Bounds) {
        self.bounds = bounds;
        self.next_look = self.now;
    }

    /// Samples the counters every `every` core cycles from now on; `None` ends sampling.
    pub fn sample(&mut self, every: Option<u64>) {
        self.sampling = every.map(|every| Sampling { every, next: (self.now / every + 1) * every });
    }

    /// Returns all samples of the counters, in the order of time.
    pub fn samples(&self) -> &[Snapshot] {
        &self.samples
    }

    /// Records a timeline of the core cycles of `interval`.
    pub fn record_timeline(&mut self, interval: Range<u64>) {
        self.recorder = Some(Box::new(Recorder::new(interval)));
        self.next_look = self.now;
    }

    /// Ends recording and returns the timeline, if one was recorded.
    pub fn take_timeline(&mut self) -> Option<Timeline> {
        self.record();
        Some(self.recorder.take()?.finish(self.now))
    }

    /// Lets the recorder look at the GPU, and schedules its next look.
    fn record(&mut self) {
        let Some(mut recorder) = self.recorder.take() else { return };
        recorder.look(self);
        self.next_look = recorder.next(self.now).map_or(self.next_look, |next| next.min(self.next_look));
        self.recorder = Some(recorder);
    }

    /// Adds the state at the end of this cycle to a timeline.
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

    /// Returns the sums of all counters.
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
        for sm in &self.sms {
            sm.parts().operations(&mut sum.blocks);
            sum.sm += sm.counters_at(self.now);
            sum.l1d += sm.l1d().counters();
            sum.constant += sm.read_only(Side::Constant);
            sum.texture += sm.read_only(Side::Texture);
            sum.instruction += sm.read_only(Side::Instruction);
        }
        sum
    }

    /// Returns the memory system, for enabling checks.
    pub fn system_mut(&mut self) -> &mut MemorySystem {
        &mut self.system
    }

    /// Shares the GPU among kernels by `share` from now on. By default one kernel has the whole GPU.
    pub fn share(&mut self, share: Share) {
        self.share = share;
    }

    /// Gives the kernels these quotas of warp instructions in every SM from now on.
    pub fn set_quotas(&mut self, sizes: &[u32]) {
        self.sms.iter_mut().for_each(|sm| sm.set_quotas(Quotas::new(sizes)));
    }

    /// Returns the number of quota sets that were granted, summed over the SMs.
    pub fn quota_sets(&self) -> u64 {
        self.sms.iter().map(Sm::quota_sets).sum()
    }

    /// Returns the counters of a kernel slot, summed over the SMs.
    pub fn kernel_counters(&self, slot: usize) -> KernelCounters {
        self.sms.iter().fold(KernelCounters::default(), |mut sum, sm| {
            sum += sm.kernel_counters(slot);
            sum
        })
    }

    /// Returns the launches in progress, in the order of their starts.
    pub fn launches(&self) -> impl Iterator<Item = &LaunchedKernel> {
        self.running.iter().map(|running| running.kernel.as_ref())
    }

    /// Checks that the device has enough memory for the local memory of `launch`, in addition to that of the current launches.
    ///
    /// # Errors
    /// Returns [`SimFault::Launch`] if too little memory is left.
    pub fn check_room(&self, launch: &LaunchedKernel, memory: &DeviceMemory) -> Result<(), SimFault> {
        let beside = self.running.iter().map(|running| running.kernel.local_bytes(&self.config.sm)).sum();
        launch.check_room(&self.config.sm, beside, memory)
    }

    /// Runs one launch to its end, when every CTA has finished and every store is acknowledged.
    ///
    /// # Errors
    /// Returns an error if the kernel or a mechanism has a fault, if nothing progresses any more, at a limit, or at an interrupt.
    pub fn run(&mut self, kernel: LaunchedKernel, memory: &mut DeviceMemory) -> Result<(), SimFault> {
        self.start(kernel);
        self.run_until(u64::MAX, memory).map(|_| ())
    }

    /// Runs the current launches to their end, or up to core cycle `until`. Returns whether they have ended.
    ///
    /// # Errors
    /// As [`Gpu::run`]. A run can continue after an interrupt or a limit.
    pub fn run_until(&mut self, until: u64, memory: &mut DeviceMemory) -> Result<bool, SimFault> {
        let ended = self.run_all(until, memory);
        self.warn_of_idle_reads(memory);
        ended
    }

    /// Warns of each exchange that read a lane that does not execute it, if the memory records such reads.
    fn warn_of_idle_reads(&self, memory: &mut DeviceMemory) {
        memory.take_idle_reads().iter().for_each(|text| self.control.warn(text));
    }

    fn run_all(&mut self, until: u64, memory: &mut DeviceMemory) -> Result<bool, SimFault> {
        while self.is_working() {
            if self.now >= until {
                return Ok(false);
            }
            self.advance(until, memory)?;
        }
        Ok(true)
    }

    /// Loads the state that a GPU of the same configuration and parts saved between two cycles. `launches` are the launches that
    /// were in progress.
    ///
    /// # Errors
    /// Returns an error if the state is of another configuration, parts or launches.
    pub fn resume(&mut self, launches: Vec<LaunchedKernel>, from: &mut Reader) -> Result<(), StateError> {
        self.energy_model.share(from);
        for launch in launches {
            if let Feed::Replay(trace) = &launch.feed {
                from.share(trace);
            }
            from.share(&Arc::new(launch));
        }
        self.load(from)?;
        // The limits may differ from the limits of the saved run.
        self.next_look = self.now;
        self.control.ctas_total.store(self.running.iter().map(|r| r.total).sum(), Ordering::Relaxed);
        Ok(())
    }

    /// Starts a launch, with or without others in progress. The slot of its kernel must be free, and [`Gpu::check_room`] must
    /// have succeeded.
    ///
    /// Invalidates the lines of the kernel's program in the L1Ds and texture caches. Invalidates the lines of the constant caches
    /// that differ from the previous launch, unless the configuration keeps them.
    pub fn start(&mut self, kernel: LaunchedKernel) {
        let slot = kernel.slot;
        self.witness.launch(slot);
        debug_assert!(self.running.iter().all(|other| other.kernel.slot != slot), "the slot is taken");
        let new = self.banks[usize::from(slot)].replace(&kernel);
        let changed = if self.config.sm.keep_constants { Changed::default() } else { new };
        for (id, sm) in self.sms.iter_mut().enumerate() {
            if self.running.is_empty() {
                sm.launch_alone(slot, changed);
                sm.divide_unified(&kernel);
            } else {
                sm.launch_beside(slot, changed);
            }
            // Even an SM that gets no CTA must write back the dirty lines of its L1D.
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

    /// Puts the host's copies since the last call into the L2, if the configuration says so. `memory` records copies after
    /// [`DeviceMemory::note_copies`].
    pub fn take_copies(&mut self, memory: &mut DeviceMemory) {
        let now = self.l2.cycle();
        for copy in memory.take_copies() {
            self.system.copied(now, copy, memory);
        }
    }

    /// Runs the launches in progress until all CTAs of one have finished, or until core cycle `until`. Returns the slots that
    /// have become free, in ascending order.
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

    /// Abandons the launches in progress: starts none of their remaining CTAs. Runs the CTAs on the SMs and everything in flight
    /// to their end.
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
        !self.running.is_empty() || self.sms.iter().any(|sm| !sm.is_idle()) || self.system.busy()
    }

    /// Dispatches CTAs, runs a core cycle and skips idle cycles, up to cycle `until`.
    fn advance(&mut self, until: u64, memory: &mut DeviceMemory) -> Result<(), SimFault> {
        if self.now >= self.next_look {
            self.look(memory)?;
        }
        if self.sampled.is_some() {
            self.skip_ctas(memory)?;
        }
        if self.may_dispatch {
            let dispatched = self.dispatch();
            self.may_dispatch = self.has_ctas_left() && (dispatched || self.awaits_a_launch());
        }
        self.step(memory)?;
        self.take_sample();
        if !self.finished.is_empty() {
            self.count_finished();
        }
        if !self.may_dispatch && !self.wakes.has_next() {
            self.skip_idle_cycles(until)?;
        }
        Ok(())
    }

    /// Counts the finished CTAs, and removes launches that have ended.
    fn count_finished(&mut self) {
        for slot in self.finished.drain(..) {
            if let Some(running) = self.running.iter_mut().find(|r| r.kernel.slot == slot) {
                running.done += 1;
            }
        }
        self.control.ctas_done.store(self.running.iter().map(|r| r.done).sum(), Ordering::Relaxed);
        self.retire_ended();
        self.may_dispatch = self.has_ctas_left();
    }

    fn has_ctas_left(&self) -> bool {
        self.running.iter().any(|running| running.next < running.total)
    }

    /// Returns whether a launch waits for the end of its launch latency.
    fn awaits_a_launch(&self) -> bool {
        self.running.iter().any(|running| running.from > self.now)
    }

    fn retire_ended(&mut self) {
        self.running.retain(|running| running.done < running.total);
    }

    /// Gives each SM at most one CTA, in round-robin order after the SM that last took one. An SM takes the CTA of the earliest
    /// launch that may use the SM and fits it. Returns whether any SM took a CTA.
    fn dispatch(&mut self) -> bool {
        let count = self.sms.len();
        let mut any = false;
        let first = self.next_sm;
        for offset in 0..count {
            let id = (first + offset) % count;
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

    /// Runs one core cycle, and the cycles of the other clock domains that end in it.
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
        self.tick_sms(memory)
    }

    /// Runs the SMs that have work in this cycle.
    fn tick_sms(&mut self, memory: &mut DeviceMemory) -> Result<(), SimFault> {
        self.wakes.take_due(self.now, &mut self.due);
        self.wake_by_memory();
        // An SM that `share_port` adds during the loop has a higher number, so that `pop` still finds it in this cycle.
        while let Some(id) = self.due.pop() {
            let mut ctx = TickContext { now: self.now, memory, system: &mut self.system };
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

    /// Wakes the SMs with an arrived reply, and those with a waiting packet that fits the crossbar now.
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

    /// Lets an SM that shares its port retry it in each cycle. Wakes the next SM if its reply was behind the one taken here.
    #[cold]
    fn share_port(&mut self, id: usize) {
        if self.sms[id].port_wait().is_some() {
            self.wakes.set(id, self.now, self.now + 1);
        }
        if id + 1 < self.sms.len() && self.system.has_reply(id + 1) {
            self.due.insert(id + 1);
        }
    }

    /// Skips to the next cycle in which an SM has work, at most to `until`, while the memory system is idle.
    #[inline(always)]
    fn skip_idle_cycles(&mut self, until: u64) -> Result<(), SimFault> {
        if self.system.busy() {
            return Ok(());
        }
        let wake = self.wakes.first();
        if wake == u64::MAX {
            if self.running.is_empty() && self.sms.iter().all(Sm::is_idle) {
                return Ok(());
            }
            return Err(self.deadlock());
        }
        // `step` runs the target cycle. Cycles of looks and samples are not skipped.
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

    /// Ends the simulation at a limit, and polls when a poll is due.
    fn look(&mut self, memory: &mut DeviceMemory) -> Result<(), SimFault> {
        let instructions = self.thread_instructions();
        if let Some(limit) = self.bounds.reached(self.now, instructions) {
            return Err(SimFault::Limited { limit, cycle: self.now });
        }
        if self.now >= self.next_poll {
            self.poll()?;
            self.warn_of_livelocks(memory);
            self.warn_of_idle_reads(memory);
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
        if let Some(fault) = self.control.watch().fault(self.now) {
            return Err(fault);
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

    /// Returns a measure that grows whenever an instruction issues, a packet crosses or DRAM serves a request.
    fn progress(&self) -> u64 {
        let issued = self.warp_instructions();
        let memory = self.system.stats();
        let crossed = memory.crossbar.requests.packets + memory.crossbar.replies.packets;
        issued + crossed + memory.dram.reads + memory.dram.writes
    }

    fn deadlock(&self) -> SimFault {
        // Lists each SM and then the memory system, so that the lines of many warps do not hide their causes.
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
