//! The GPU: SMs and memory system with their clocks, and the dispatch of the CTAs of one or several kernels.
mod clock;
mod control;
mod deadlock;
#[cfg(test)]
mod deadlock_tests;
#[cfg(test)]
mod exchange_tests;
mod fast_forward;
#[cfg(test)]
mod fast_forward_tests;
#[cfg(test)]
mod hit_order_tests;
mod launches;
mod livelock;
#[cfg(test)]
mod livelock_tests;
mod pace;
mod records;
mod sm_wakes;
mod untimed;
mod watchdog;
#[cfg(test)]
mod witness_tests;

pub use crate::bounds::{Bounds, Limit};
pub use clock::ClockDomain;
pub use control::{Control, StopWatch};

use crate::config::{GpuConfig, ReadOnlyCache};
use crate::dram::EnergyModel;
use crate::energy::GpuEnergyModel;
use crate::partition::MemorySystem;
use crate::parts::Parts;
use crate::share::Share;
use crate::sm::feed::Feed;
use crate::sm::launch::LaunchedKernel;
use crate::sm::quota::Quotas;
use crate::sm::{SimFault, Sm, TickContext};
use crate::snapshot::Snapshot;
use crate::stats::MechanismCounters;
use crate::stats::{KernelCounters, SlotWork};
use crate::timeline::{CycleView, Happening, Timeline, Track};
use crate::witness::Witness;
use clock::ClockDomains;
use launches::{Launches, place_of};
use records::Records;
use selvedge_hw as hw;
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::{Reader, State, StateError};
use sm_wakes::SmWakes;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use watchdog::Watchdog;

/// A GPU with its SMs, memory system and launches.
#[derive(State)]
pub struct Gpu {
    #[state(skip = "the configuration")]
    config: Arc<GpuConfig>,
    sms: Vec<Sm>,
    wakes: SmWakes,
    system: MemorySystem,
    now: u64,
    clocks: ClockDomains,
    launches: Launches,
    watchdog: Watchdog,
    records: Records,
    #[state(skip = "the configuration states it")]
    energy_model: GpuEnergyModel,
    witness: Witness,
}

impl Gpu {
    /// Returns a GPU with empty caches.
    pub fn new(config: &Arc<GpuConfig>, parts: Parts, control: Arc<Control>) -> Self {
        let sms: Vec<Sm> =
            parts.sms.into_iter().enumerate().map(|(id, parts)| Sm::new(id as u16, config, parts)).collect();
        Gpu {
            wakes: SmWakes::new(sms.len()),
            energy_model: GpuEnergyModel::new(config),
            sms,
            system: MemorySystem::new(config, parts.slices),
            config: Arc::clone(config),
            now: 0,
            clocks: ClockDomains::new(&config.clock),
            launches: Launches::new(config.sm.cluster.sms),
            watchdog: Watchdog::new(control),
            records: Records::new(),
            witness: Witness::default(),
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
        self.watchdog.control.warn(text);
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
        self.clocks.dram.cycle()
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
        self.watchdog.patience = cycles;
    }

    /// Ends the simulation at these limits, counted from the beginning. It ends after the first core cycle that reaches a limit,
    /// unless all work is done by then.
    pub fn bound(&mut self, bounds: Bounds) {
        self.watchdog.bound(bounds, self.now);
    }

    /// Samples the counters every `every` core cycles from now on; `None` ends sampling.
    pub fn sample(&mut self, every: Option<u64>) {
        self.records.sample(every, self.now);
    }

    /// Returns all samples of the counters, in the order of time.
    pub fn samples(&self) -> &[Snapshot] {
        &self.records.samples
    }

    /// Records a timeline of the core cycles of `interval`.
    pub fn record_timeline(&mut self, interval: Range<u64>) {
        self.records.record(interval);
        self.watchdog.next_look = self.now;
    }

    /// Ends recording and returns the timeline, if one was recorded.
    pub fn take_timeline(&mut self) -> Option<Timeline> {
        self.record();
        self.records.finish(self.now)
    }

    /// Lets the recorder look at the GPU, and schedules its next look.
    fn record(&mut self) {
        let Some(mut recorder) = self.records.take_recorder() else { return };
        recorder.look(self.now, |view| self.show(view));
        let next = recorder.next(self.now).unwrap_or(u64::MAX);
        self.watchdog.next_look = self.watchdog.next_look.min(next);
        self.records.put_back(recorder);
    }

    /// Adds the state at the end of this cycle to a timeline.
    fn show(&self, view: &mut CycleView) {
        for running in &self.launches.running {
            let kernel = view.kernel(&running.kernel.kernel.name);
            let track = Track::Launch { slot: running.kernel.slot };
            view.show(track, Happening::Launch { kernel, starts: running.from });
        }
        self.sms.iter().for_each(|sm| sm.show(view));
        self.system.show(view);
    }

    fn take_sample(&mut self) {
        if self.records.next_sample() <= self.now {
            let sample = self.snapshot();
            self.records.push(sample);
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
            sum.constant += sm.read_only(ReadOnlyCache::Constant);
            sum.texture += sm.read_only(ReadOnlyCache::Texture);
            sum.instruction += sm.read_only(ReadOnlyCache::Instruction);
        }
        sum
    }

    /// Returns the memory system, for enabling checks.
    pub fn system_mut(&mut self) -> &mut MemorySystem {
        &mut self.system
    }

    /// Shares the GPU among kernels by `share` from now on. By default one kernel has the whole GPU.
    pub fn share(&mut self, share: Share) {
        self.launches.share = share;
    }

    /// Gives the kernels these quotas of warp instructions in every SM from now on.
    pub fn set_quotas(&mut self, sizes: &[u32]) {
        self.sms.iter_mut().for_each(|sm| sm.set_quotas(Quotas::new(sizes)));
    }

    /// Returns the number of quota sets that were granted, summed over the SMs.
    pub fn quota_sets(&self) -> u64 {
        self.sms.iter().map(Sm::quota_sets).sum()
    }

    /// Returns the counters of a program, summed over the SMs. Its launches must be in the kernel slot of the same number.
    pub fn program_counters(&self, program: usize) -> KernelCounters {
        self.sms.iter().fold(KernelCounters::default(), |mut sum, sm| {
            sum += sm.program_counters(program);
            sum
        })
    }

    /// Returns the work of all launches so far in a kernel slot, summed over the SMs.
    pub fn work_of(&self, slot: u8) -> SlotWork {
        self.sms.iter().fold(SlotWork::default(), |sum, sm| {
            let SlotWork { warp_instructions, thread_instructions } = sm.work_of(slot);
            SlotWork {
                warp_instructions: sum.warp_instructions + warp_instructions,
                thread_instructions: sum.thread_instructions + thread_instructions,
            }
        })
    }

    /// Returns the launches in progress, in the order of their starts.
    pub fn launches(&self) -> impl Iterator<Item = &LaunchedKernel> {
        self.launches.running.iter().map(|running| running.kernel.as_ref())
    }

    /// Checks that the device has enough memory for the local memory of `launch`, in addition to that of the current launches.
    ///
    /// # Errors
    /// Returns [`SimFault::Launch`] if too little memory is left.
    pub fn check_room(&self, launch: &LaunchedKernel, memory: &DeviceMemory) -> Result<(), SimFault> {
        let beside =
            self.launches.running.iter().map(|running| running.kernel.local_bytes(&self.config.sm)).sum();
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
        memory.take_idle_reads().iter().for_each(|text| self.watchdog.control.warn(text));
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
    pub fn resume(&mut self, launches: &[Arc<LaunchedKernel>], from: &mut Reader) -> Result<(), StateError> {
        self.energy_model.share(from);
        for launch in launches {
            if let Feed::Replay(trace) = &launch.feed {
                from.share(trace);
            }
            from.share(launch);
        }
        self.load(from)?;
        // The limits may differ from the limits of the saved run.
        self.watchdog.next_look = self.now;
        self.watchdog.control.ctas_total.store(self.launches.total(), Ordering::Relaxed);
        Ok(())
    }

    /// Starts a launch, with or without others in progress. The slot of its kernel must be free, and [`Gpu::check_room`] must
    /// have succeeded.
    ///
    /// Invalidates the lines of the kernel's program in the L1Ds and texture caches. Invalidates the lines of the constant caches
    /// that differ from the previous launch, unless the configuration keeps them.
    pub fn start(&mut self, kernel: impl Into<Arc<LaunchedKernel>>) {
        let kernel = kernel.into();
        let program = kernel.program;
        // Loads of the program's other launches may be in flight. They need not see the stores before this launch.
        if self.launches.running.iter().all(|other| other.kernel.program != program) {
            self.witness.launch(program);
        }
        let changed = self.launches.changed(&kernel, &self.config.sm);
        for (id, sm) in self.sms.iter_mut().enumerate() {
            if self.launches.running.is_empty() {
                sm.launch_alone(program, changed);
                sm.divide_unified(&kernel);
            } else {
                sm.launch_beside(program, changed);
            }
            // Even an SM that gets no CTA must write back the dirty lines of its L1D.
            if sm.has_to_send() {
                self.wakes.set(id, self.now, self.now + 1);
            }
        }
        let from = self.now + u64::from(self.config.sm.launch_latency);
        self.launches.start(kernel, from);
        self.watchdog.begin(self.now, self.launches.total());
    }

    /// Puts the host's copies since the last call into the L2, if the configuration says so. `memory` records copies after
    /// [`DeviceMemory::note_copies`].
    pub fn take_copies(&mut self, memory: &mut DeviceMemory) {
        let now = self.clocks.l2.cycle();
        for copy in memory.take_copies() {
            self.system.copied(now, copy, memory);
        }
    }

    /// Runs the launches in progress until all CTAs of one have finished, a kernel requests a launch, or until core cycle `until`.
    /// Returns the slots that have become free, in ascending order.
    ///
    /// # Errors
    /// As [`Gpu::run`].
    pub fn run_until_one_ends(&mut self, until: u64, memory: &mut DeviceMemory) -> Result<Vec<u8>, SimFault> {
        let ended = self.run_one(until, memory);
        self.warn_of_idle_reads(memory);
        ended
    }

    fn run_one(&mut self, until: u64, memory: &mut DeviceMemory) -> Result<Vec<u8>, SimFault> {
        let slots = |gpu: &Gpu| gpu.launches.running.iter().map(|r| r.kernel.slot).collect::<Vec<_>>();
        let before = slots(self);
        while self.now < until
            && self.launches.running.len() == before.len()
            && !memory.requests().is_waiting()
        {
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
        self.launches.abandon();
        while self.is_working() {
            self.advance(u64::MAX, memory)?;
        }
        Ok(())
    }

    fn is_working(&self) -> bool {
        !self.launches.running.is_empty() || self.sms.iter().any(|sm| !sm.is_idle()) || self.system.busy()
    }

    /// Dispatches CTAs, runs a core cycle and skips idle cycles, up to cycle `until`.
    fn advance(&mut self, until: u64, memory: &mut DeviceMemory) -> Result<(), SimFault> {
        if self.now >= self.watchdog.next_look {
            self.look(memory)?;
        }
        if self.launches.may_dispatch {
            self.dispatch(memory);
        }
        self.step(memory)?;
        self.take_sample();
        if !self.launches.finished.is_empty() {
            let done = self.launches.count_finished();
            self.watchdog.control.ctas_done.store(done, Ordering::Relaxed);
        }
        if !self.launches.may_dispatch && !self.wakes.has_next() {
            self.skip_idle_cycles(until)?;
        }
        Ok(())
    }

    /// Gives CTAs to SMs.
    fn dispatch(&mut self, memory: &mut DeviceMemory) {
        let issued = if self.launches.slow_start.is_some() { self.warp_instructions() } else { 0 };
        let (now, wakes) = (self.now, &mut self.wakes);
        self.launches.dispatch(now, issued, &mut self.sms, memory, |id| wakes.set(id, now, now + 1));
    }

    /// Runs one core cycle, and the cycles of the other clock domains that end in it.
    fn step(&mut self, memory: &mut DeviceMemory) -> Result<(), SimFault> {
        self.now += 1;
        let system = &mut self.system;
        self.clocks.dram.step(|cycle| {
            system.tick_dram(cycle);
            Ok::<_, SimFault>(())
        })?;
        self.clocks.l2.step(|cycle| system.tick_l2(cycle, memory)).map_err(SimFault::Mechanism)?;
        self.clocks.interconnect.step(|cycle| {
            system.tick_interconnect(cycle);
            Ok::<_, SimFault>(())
        })?;
        self.tick_sms(memory)
    }

    /// Runs the SMs that have work in this cycle.
    fn tick_sms(&mut self, memory: &mut DeviceMemory) -> Result<(), SimFault> {
        self.wakes.begin(self.now, &mut self.system);
        while let Some(id) = self.wakes.pop() {
            let mut ctx = TickContext { now: self.now, memory, system: &mut self.system };
            let sm = &mut self.sms[id];
            let wake = sm.tick(&mut ctx)?;
            sm.take_finished(&mut self.launches.finished);
            self.wakes.end(id, self.now, wake, sm, &mut self.system);
        }
        if memory.clusters().has_woken() {
            self.wake_ctas(memory);
        }
        Ok(())
    }

    /// Lets the suspended warps of CTAs continue in which a phase of a barrier has ended because of another CTA.
    #[cold]
    fn wake_ctas(&mut self, memory: &mut DeviceMemory) {
        let now = self.now;
        for (id, cta) in memory.clusters_mut().take_woken().into_iter().map(place_of) {
            self.sms[id].resume(now);
            self.sms[id].phase_ended(cta, now);
            self.wakes.set(id, now, now + 1);
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
            if self.launches.running.is_empty() && self.sms.iter().all(Sm::is_idle) {
                return Ok(());
            }
            return Err(self.deadlock());
        }
        // `step` runs the target cycle. Cycles of looks and samples are not skipped.
        let sample = self.records.next_sample();
        let target = wake.min(self.watchdog.next_look).min(sample).min(until) - 1;
        if target > self.now {
            let skipped = target - self.now;
            self.now = target;
            self.clocks.advance(skipped);
        }
        Ok(())
    }

    /// Ends the simulation at a limit, and polls when a poll is due.
    fn look(&mut self, memory: &mut DeviceMemory) -> Result<(), SimFault> {
        let instructions = self.thread_instructions();
        if self.watchdog.check(self.now, instructions)? {
            self.poll()?;
            self.warn_of_livelocks(memory);
            self.warn_of_idle_reads(memory);
            self.watchdog.polled(self.now);
        }
        let sm = &self.config.sm;
        let peak = u64::from(sm.count) * u64::from(sm.schedulers) * 32;
        self.watchdog.schedule_look(self.now, instructions, peak);
        self.record();
        Ok(())
    }

    /// Returns the number of warp instructions that have issued, except in [`Gpu::fast_forward`].
    pub fn warp_instructions(&self) -> u64 {
        self.sms.iter().map(Sm::warp_instructions).sum()
    }

    fn thread_instructions(&self) -> u64 {
        self.sms.iter().map(Sm::thread_instructions).sum()
    }

    fn poll(&mut self) -> Result<(), SimFault> {
        self.watchdog.report(self.now)?;
        let slowdown = u64::from(self.config.clock.core_mhz) / self.clocks.slowest_mhz();
        let measure = self.progress();
        if self.watchdog.is_stuck(self.now, measure, slowdown) { Err(self.deadlock()) } else { Ok(()) }
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
