//! Runs a grid for its values only, without timing.

use super::access::{Fault, MemAccess};
use super::forms::Space;
use super::kernel::Kernel;
use super::launch::BARRIERS;
use super::module::Module;
use super::spin::{self, Spin};
use super::warp::{Ballot, Step, Warp};
use super::{Env, LaunchDims};
use crate::clusters::{ClusterMember, MOST_CTAS, RANK_BYTES};
use crate::memory::DeviceMemory;
use std::num::NonZeroU32;
use std::ops::{AddAssign, Range};

/// Max CTAs in x, y and z.
pub(crate) const MAX_GRID: [u32; 3] = [0x7fff_ffff, 0xffff, 0xffff];
/// Max threads per CTA.
pub(crate) const MAX_CTA_THREADS: u32 = 1024;

/// Warp instructions between two checks of the caller's stop request.
const LOOK: u64 = 1 << 20;
/// Warp instructions that each warp of a CTA executes before the next CTA's turn. Large, so that kernels without waits
/// lose no time.
const SLICE: u64 = 1 << 16;
/// Warp instructions that a warp executes before the next warp of its CTA. Smaller than [`SLICE`], because warps that
/// poll for a later warp of their CTA execute all of them.
const ROTATION: u64 = 1 << 11;
/// As [`SLICE`], after all warps were found to spin.
const SHORT_SLICE: u64 = 1 << 10;
/// Max bytes of registers, local and shared memory of CTAs that run concurrently. One CTA may exceed it alone.
const RESIDENT_BYTES: u64 = 1 << 30;
/// Max warps that the message about a livelock names.
const NAMED_SPINS: usize = 4;

/// Instruction counts of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FunctionalStats {
    /// Instructions executed by warps.
    pub warp_instructions: u64,
    /// Instructions executed by lanes whose guard was true.
    pub thread_instructions: u64,
    /// Warp instructions in which at least one lane accessed global, local or shared memory, textures included. A
    /// load/store unit executes these.
    pub memory_instructions: u64,
}

impl AddAssign for FunctionalStats {
    fn add_assign(&mut self, more: FunctionalStats) {
        self.warp_instructions += more.warp_instructions;
        self.thread_instructions += more.thread_instructions;
        self.memory_instructions += more.memory_instructions;
    }
}

/// Reason why a run stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FunctionalError {
    /// Invalid memory access.
    #[error(transparent)]
    Fault(#[from] Box<Fault>),
    /// The kernel does not permit the launch.
    #[error("kernel '{kernel}' cannot be launched: {reason}")]
    Launch {
        /// Name of the kernel.
        kernel: String,
        /// Violated condition.
        reason: String,
    },
    /// Warps wait at a barrier that no other warp can complete.
    #[error(
        "{file}:{line}: kernel '{kernel}', block ({},{},{}): barrier {barrier} never completes: {arrived} of {expected} \
         threads arrived, no other warp can run", cta[0], cta[1], cta[2]
    )]
    Deadlock {
        /// Name of the PTX file.
        file: String,
        /// Name of the kernel.
        kernel: String,
        /// Line of the barrier at which the first waiting warp waits.
        line: u32,
        /// CTA that hangs.
        cta: [u32; 3],
        /// Number of the barrier.
        barrier: u32,
        /// Threads that arrived.
        arrived: u32,
        /// Threads that the barrier expects.
        expected: u32,
    },
    /// All warps that can run repeat instructions forever.
    #[error("kernel '{kernel}': livelock after {instructions} warp instructions: {spins}")]
    Livelock {
        /// Name of the kernel.
        kernel: String,
        /// Warp instructions of the launch so far.
        instructions: u64,
        /// The warps and the PTX lines that they repeat.
        spins: String,
    },
    /// The run exceeded its limit of instructions.
    #[error("kernel '{kernel}' takes more than {most} warp instructions")]
    TooLong {
        /// Name of the kernel.
        kernel: String,
        /// The limit, in warp instructions.
        most: u64,
    },
    /// The caller stopped the run.
    #[error("stopped after {ctas} CTAs of kernel '{kernel}'")]
    Stopped {
        /// Name of the kernel.
        kernel: String,
        /// Number of CTAs that have ended.
        ctas: u64,
    },
}

impl Kernel {
    /// Checks a launch against the kernel and the limits of a CTA.
    ///
    /// # Errors
    /// [`FunctionalError::Launch`] for an empty or too large grid or CTA, one that `.reqntid` or `.maxntid` forbids,
    /// clusters that the grid or `.reqnctapercluster` forbids, parameter bytes of the wrong size, or dynamic shared memory
    /// for a kernel that declares none.
    pub fn check_launch(&self, launch: &LaunchDims, params: &[u8]) -> Result<(), FunctionalError> {
        let refuse = |reason: String| Err(FunctionalError::Launch { kernel: self.name.clone(), reason });
        let [x, y, z] = launch.block;
        if launch.grid.iter().zip(MAX_GRID).any(|(&side, most)| side > most) {
            return refuse(format!("grid {:?}: must be 1 to {MAX_GRID:?} blocks", launch.grid));
        }
        if launch.grid.contains(&0) || launch.block.contains(&0) {
            return refuse(format!(
                "grid {:?}, block {:?}: must be 1 or more in x, y and z",
                launch.grid, launch.block
            ));
        }
        if launch.threads_per_cta() > MAX_CTA_THREADS {
            return refuse(format!(
                "a block of {x} x {y} x {z} threads: must be 1 to {MAX_CTA_THREADS} threads"
            ));
        }
        if let Some((limit, exact)) = self.cta_limit {
            let most: u64 = limit.iter().map(|&side| u64::from(side)).product();
            if exact && limit != launch.block {
                return refuse(format!(
                    "it demands blocks of {limit:?} threads (.reqntid), got {:?}",
                    launch.block
                ));
            }
            if u64::from(launch.threads_per_cta()) > most {
                return refuse(format!(
                    "it allows blocks of {most} threads (.maxntid), got {}",
                    launch.threads_per_cta()
                ));
            }
        }
        if let Some(refused) = self.refuse_clusters(launch) {
            return refuse(refused);
        }
        if params.len() != self.param_bytes as usize {
            return refuse(format!("its parameters take {} bytes, got {}", self.param_bytes, params.len()));
        }
        Ok(())
    }
}

impl Kernel {
    /// Returns why the clusters of a launch are invalid, if they are.
    fn refuse_clusters(&self, launch: &LaunchDims) -> Option<String> {
        let shared = u64::from(self.shared_bytes) + u64::from(launch.dynamic_shared);
        let (grid, cluster) = (launch.grid, launch.cluster);
        if let Some(demanded) = self.cluster.filter(|demanded| *demanded != cluster) {
            return Some(format!(
                "it demands clusters of {demanded:?} blocks (.reqnctapercluster), got {cluster:?}"
            ));
        }
        if cluster.contains(&0) || launch.cluster_ctas() > MOST_CTAS {
            return Some(format!("clusters of {cluster:?} blocks: must have 1 to {MOST_CTAS} blocks"));
        }
        if grid.iter().zip(cluster).any(|(grid, side)| grid % side != 0) {
            return Some(format!("grid {grid:?}: must be a multiple of the clusters of {cluster:?} blocks"));
        }
        let is_too_large = cluster != [1; 3] && shared > RANK_BYTES;
        is_too_large
            .then(|| format!("{shared} bytes of shared memory: must be at most {RANK_BYTES} in a cluster"))
    }

    /// Returns the bytes of local memory of `warps` warps.
    pub fn local_bytes_of(&self, warps: u64) -> u64 {
        warps.saturating_mul(32 * u64::from(self.local_bytes))
    }

    /// Checks that the device has `bytes` free bytes of local memory for `warps` concurrent warps.
    ///
    /// # Errors
    /// [`FunctionalError::Launch`] if less is free.
    pub fn check_room(&self, bytes: u64, warps: u64, memory: &DeviceMemory) -> Result<(), FunctionalError> {
        let (left, capacity) = (memory.left(), memory.capacity());
        if bytes <= left {
            return Ok(());
        }
        let reason = format!(
            "{warps} warps at the same time take {bytes} bytes of local memory, {left} of {capacity} bytes of \
             device memory are left (--max-memory)"
        );
        Err(FunctionalError::Launch { kernel: self.name.clone(), reason })
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct FunctionalBarrier {
    arrived: u32,
    expected: u32,
    ballot: Ballot,
}

#[derive(Debug, Clone, Copy)]
struct FunctionalArrival {
    id: u32,
    threads: Option<u32>,
    arrive_only: bool,
    ballot: Ballot,
}

/// Counters, limits and callbacks of a run.
struct RunWatch<'a> {
    stats: FunctionalStats,
    /// Max warp instructions.
    most: u64,
    each: &'a mut dyn FnMut(&MemAccess),
    /// Returns whether the run continues. Its argument is the number of ended CTAs.
    goes_on: &'a mut dyn FnMut(u64) -> bool,
    /// Number of ended CTAs.
    ctas: u64,
    /// Number of warp instructions at which `most` and `goes_on` are checked next.
    next_look: u64,
}

impl<'a> RunWatch<'a> {
    fn new(each: &'a mut dyn FnMut(&MemAccess), goes_on: &'a mut dyn FnMut(u64) -> bool) -> Self {
        RunWatch {
            stats: FunctionalStats::default(),
            most: u64::MAX,
            each,
            goes_on,
            ctas: 0,
            next_look: LOOK,
        }
    }

    fn at_most(self, most: u64) -> Self {
        RunWatch { most, next_look: self.next_look.min(most), ..self }
    }

    /// Stops the run of `kernel` at its limit, or when the caller requests it.
    #[cold]
    fn look(&mut self, kernel: &Kernel) -> Result<(), FunctionalError> {
        if self.stats.warp_instructions > self.most {
            return Err(FunctionalError::TooLong { kernel: kernel.name.clone(), most: self.most });
        }
        if !(self.goes_on)(self.ctas) {
            return Err(FunctionalError::Stopped { kernel: kernel.name.clone(), ctas: self.ctas });
        }
        self.next_look = self.most.min(self.stats.warp_instructions + LOOK);
        Ok(())
    }
}

struct Cta<'a> {
    kernel: &'a Kernel,
    place: [u32; 3],
    warps: Vec<Warp>,
    /// Barrier and instruction at which each warp waits.
    waits: Vec<Option<(u32, u32)>>,
    /// Instructions that each warp may still execute in this turn.
    left: Vec<u64>,
    barriers: [FunctionalBarrier; BARRIERS as usize],
}

impl<'a> Cta<'a> {
    /// Creates CTA `index` of a launch, at the kernel's first instruction.
    fn new(kernel: &'a Kernel, launch: &LaunchDims, index: u64) -> Self {
        let place = launch.cta(index);
        let warps: Vec<Warp> =
            (0..launch.warps_per_cta()).map(|warp| Warp::new(kernel, launch, place, warp)).collect();
        let (waits, left) = (vec![None; warps.len()], vec![0; warps.len()]);
        Cta { kernel, place, warps, waits, left, barriers: [FunctionalBarrier::default(); BARRIERS as usize] }
    }

    /// Starts CTA `index` in the registers of this one, which must have ended.
    fn renew(&mut self, launch: &LaunchDims, index: u64) {
        self.place = launch.cta(index);
        for (number, warp) in (0..).zip(&mut self.warps) {
            warp.renew(self.kernel, launch, self.place, number);
        }
        self.waits.fill(None);
        self.barriers = Default::default();
    }

    /// Returns the number of threads that a barrier without a count expects: all threads of warps that have not
    /// ended.
    fn living_threads(&self) -> u32 {
        self.warps.iter().filter(|warp| warp.pc().is_some()).count() as u32 * 32
    }

    /// Records that warp `index` reached barrier `id`, and releases the waiting warps if the barrier is complete.
    fn arrive(&mut self, index: usize, pc: u32, at: FunctionalArrival) {
        let FunctionalArrival { id, threads, arrive_only, ballot } = at;
        let barrier = &mut self.barriers[id as usize];
        barrier.arrived += 32;
        barrier.expected = threads.unwrap_or(0);
        barrier.ballot += ballot;
        if !arrive_only {
            self.waits[index] = Some((id, pc));
        }
        self.release(id);
    }

    fn release(&mut self, id: u32) {
        let living = self.living_threads();
        let barrier = &mut self.barriers[id as usize];
        let expected = if barrier.expected == 0 { living } else { barrier.expected };
        if barrier.arrived == 0 || barrier.arrived < expected {
            return;
        }
        let ballot = std::mem::take(barrier).ballot;
        for (wait, warp) in self.waits.iter_mut().zip(&mut self.warps) {
            if wait.is_some_and(|(waits_at, _)| waits_at == id) {
                *wait = None;
                warp.pass_barrier(self.kernel, ballot);
            }
        }
    }

    fn deadlock(&self) -> FunctionalError {
        let (id, pc) = self.waits.iter().flatten().copied().next().unwrap_or((0, 0));
        let barrier = self.barriers[id as usize];
        FunctionalError::Deadlock {
            file: self.kernel.file.clone(),
            kernel: self.kernel.name.clone(),
            line: self.kernel.code[pc as usize].line,
            cta: self.place,
            barrier: id,
            arrived: barrier.arrived,
            expected: if barrier.expected == 0 { self.living_threads() } else { barrier.expected },
        }
    }

    /// Runs warp `index` until it ends, waits, or has executed its part of the turn.
    fn run_warp(
        &mut self,
        index: usize,
        env: &mut Env,
        access: &mut MemAccess,
        watch: &mut RunWatch,
    ) -> Result<(), FunctionalError> {
        // At this count the warp has used up its turn.
        let last = watch.stats.warp_instructions + self.left[index];
        let end = last.min(watch.stats.warp_instructions + ROTATION);
        while let Some(pc) = self.warps[index].pc() {
            if watch.stats.warp_instructions == end {
                self.left[index] = last - end;
                return Ok(());
            }
            let active = self.warps[index].active_mask();
            env.clock = watch.stats.warp_instructions;
            let step = self.warps[index].step(self.kernel, env, access)?;
            watch.stats.warp_instructions += 1;
            if watch.stats.warp_instructions > watch.next_look {
                watch.look(self.kernel)?;
            }
            if matches!(step, Step::Memory | Step::PhaseEnd | Step::Async | Step::Texture { .. })
                && access.mask != 0
                && matches!(access.space, Space::Global | Space::Local | Space::Shared)
            {
                watch.stats.memory_instructions += 1;
                (watch.each)(access);
            }
            let lanes = step.lanes(active, access);
            watch.stats.thread_instructions += u64::from(lanes.count_ones());
            if matches!(step, Step::Async | Step::Message { .. }) {
                for completion in access.then.drain(..) {
                    completion.apply(self.kernel, env, self.warps[index].place())?;
                }
            }
            if let Step::Suspend { .. } = step {
                // In a cluster, another CTA may have to run first.
                let is_alone = env.memory.clusters().current().is_none();
                self.left[index] = if is_alone { last - watch.stats.warp_instructions } else { 0 };
                return Ok(());
            }
            if let Step::Barrier { id, threads, arrive_only } = step {
                let ballot = self.warps[index].ballot(self.kernel);
                let threads = threads.map(NonZeroU32::get);
                self.arrive(index, pc, FunctionalArrival { id: id.into(), threads, arrive_only, ballot });
                if self.waits[index].is_some() {
                    self.left[index] = last - watch.stats.warp_instructions;
                    return Ok(());
                }
            }
        }
        // A barrier without a count does not expect a warp that has ended.
        (0..BARRIERS).for_each(|id| self.release(id));
        Ok(())
    }

    /// Returns whether a warp can execute: it has not ended and does not wait at a barrier.
    fn can_run(&self, index: usize) -> bool {
        self.waits[index].is_none() && self.warps[index].pc().is_some()
    }

    /// Gives each warp a turn of at most `slice` instructions. Returns whether the CTA has ended.
    fn turn(
        &mut self,
        slice: u64,
        env: &mut Env,
        access: &mut MemAccess,
        watch: &mut RunWatch,
    ) -> Result<bool, FunctionalError> {
        self.left.fill(slice);
        loop {
            let (mut ran, mut over) = (false, false);
            for index in 0..self.warps.len() {
                if !self.can_run(index) {
                    continue;
                }
                if self.left[index] == 0 {
                    over = true;
                    continue;
                }
                self.run_warp(index, env, access, watch)?;
                ran = true;
            }
            if self.warps.iter().all(|warp| warp.pc().is_none()) {
                return Ok(true);
            }
            if !ran {
                return if over { Ok(false) } else { Err(self.deadlock()) };
            }
        }
    }

    /// Adds the lines that each warp repeats. Returns whether all warps that can run spin.
    fn add_spins(&self, env: &mut Env, spins: &mut Vec<(String, Spin)>) -> bool {
        (0..self.warps.len()).filter(|index| self.can_run(*index)).all(|index| {
            let Some(spin) = spin::find(&self.warps[index], self.kernel, env) else { return false };
            let [x, y, z] = self.place;
            spins.push((format!("CTA {x},{y},{z} warp {index}"), spin));
            true
        })
    }
}

/// Runs the grid for its effect on `memory`. CTAs run one after the other, or concurrently if they wait for each
/// other. `params` must have the layout of [`Kernel::pack`]. If the module has globals, [`Module::load`] must have
/// loaded them.
///
/// # Errors
/// [`FunctionalError`] for an invalid launch, a memory fault, a barrier that never completes, or a livelock.
pub fn run_functional(
    module: &Module,
    kernel: &Kernel,
    launch: &LaunchDims,
    params: &[u8],
    memory: &mut DeviceMemory,
) -> Result<FunctionalStats, FunctionalError> {
    watch_functional(module, kernel, launch, params, memory, &mut |_| ())
}

/// Runs as [`run_functional`] does, and calls `each` for every access that [`FunctionalStats::memory_instructions`]
/// counts.
///
/// # Errors
/// As [`run_functional`].
pub fn watch_functional(
    module: &Module,
    kernel: &Kernel,
    launch: &LaunchDims,
    params: &[u8],
    memory: &mut DeviceMemory,
    each: &mut dyn FnMut(&MemAccess),
) -> Result<FunctionalStats, FunctionalError> {
    run_watched(module, kernel, launch, params, memory, RunWatch::new(each, &mut |_| true))
}

/// Runs as [`run_functional`] does, for at most `most` warp instructions.
///
/// # Errors
/// As [`run_functional`], and [`FunctionalError::TooLong`].
pub fn run_limited(
    module: &Module,
    kernel: &Kernel,
    launch: &LaunchDims,
    params: &[u8],
    memory: &mut DeviceMemory,
    most: u64,
) -> Result<FunctionalStats, FunctionalError> {
    let (each, goes_on) = (&mut |_: &MemAccess| (), &mut |_| true);
    run_watched(module, kernel, launch, params, memory, RunWatch::new(each, goes_on).at_most(most))
}

/// Runs as [`run_functional`] does, with the constants stored in the kernel, until `goes_on` returns `false`. It is
/// called from time to time with the number of ended CTAs.
///
/// # Errors
/// As [`run_functional`], and [`FunctionalError::Stopped`].
pub fn run_kernel(
    kernel: &Kernel,
    launch: &LaunchDims,
    params: &[u8],
    memory: &mut DeviceMemory,
    goes_on: &mut dyn FnMut(u64) -> bool,
) -> Result<FunctionalStats, FunctionalError> {
    let each = &mut |_: &MemAccess| ();
    run_with_constants(&kernel.constants, kernel, launch, params, memory, RunWatch::new(each, goes_on))
}

fn run_watched(
    module: &Module,
    kernel: &Kernel,
    launch: &LaunchDims,
    params: &[u8],
    memory: &mut DeviceMemory,
    watch: RunWatch,
) -> Result<FunctionalStats, FunctionalError> {
    run_with_constants(module.constants(), kernel, launch, params, memory, watch)
}

fn run_with_constants(
    constants: &[u8],
    kernel: &Kernel,
    launch: &LaunchDims,
    params: &[u8],
    memory: &mut DeviceMemory,
    mut watch: RunWatch,
) -> Result<FunctionalStats, FunctionalError> {
    let launch = &kernel.with_clusters(*launch);
    kernel.check_launch(launch, params)?;
    let window = window(kernel, launch, memory)?;
    let mut run =
        RunningGrid { kernel, launch, params, constants, slot: 0, core_mhz: 1000, sm: 0, sms: 1, window };
    run.run(0..launch.ctas(), memory, &mut watch)?;
    Ok(watch.stats)
}

/// Returns the max number of CTAs of a launch that may run concurrently.
///
/// # Errors
/// [`FunctionalError::Launch`] if the device lacks local memory for one CTA.
fn window(kernel: &Kernel, launch: &LaunchDims, memory: &DeviceMemory) -> Result<u64, FunctionalError> {
    let warps = u64::from(launch.warps_per_cta());
    let local = kernel.local_bytes_of(warps);
    kernel.check_room(local, warps, memory)?;
    let registers = 128 * kernel.words as u64 + 256 * kernel.doubles as u64 + 4 * kernel.predicates as u64;
    let shared = u64::from(kernel.shared_bytes) + u64::from(launch.dynamic_shared);
    let state = warps.saturating_mul(registers + size_of::<Warp>() as u64).saturating_add(local + shared);
    let by_local = memory.left().checked_div(local).unwrap_or(u64::MAX);
    Ok((RESIDENT_BYTES / state.max(1)).min(by_local).clamp(1, launch.ctas()))
}

/// A running grid. Some of its CTAs run concurrently: in each round, every resident CTA has a turn.
struct RunningGrid<'a> {
    kernel: &'a Kernel,
    launch: &'a LaunchDims,
    params: &'a [u8],
    constants: &'a [u8],
    /// Kernel slot, core clock and SM, as in [`Env`].
    slot: u8,
    core_mhz: u32,
    sm: u32,
    sms: u32,
    /// Max concurrent CTAs.
    window: u64,
}

/// A resident CTA of a grid.
struct GridCta<'a> {
    cta: Cta<'a>,
    /// Shared memory. Empty in a cluster while the CTA does not execute.
    shared: Vec<u8>,
    /// Its place in a cluster, if the launch has clusters.
    member: Option<ClusterMember>,
}

impl GridCta<'_> {
    /// Calls `run` with the CTA and an environment in which it executes.
    fn within<T>(
        &mut self,
        grid: &RunningGrid,
        memory: &mut DeviceMemory,
        clock: u64,
        run: impl FnOnce(&mut Cta, &mut Env) -> T,
    ) -> T {
        let RunningGrid { launch, params, constants, slot, core_mhz, sm, sms, .. } = *grid;
        if let Some(member) = self.member {
            self.shared = memory.clusters_mut().enter(member);
        }
        let shared = &mut self.shared[..];
        let mut env = Env { memory, shared, params, constants, launch, slot, clock, core_mhz, sm, sms };
        let result = run(&mut self.cta, &mut env);
        if self.member.is_some() {
            memory.clusters_mut().leave(std::mem::take(&mut self.shared));
        }
        result
    }
}

impl<'a> RunningGrid<'a> {
    /// Runs the CTAs in `range` in order. Each runs to its end if it can do so alone. After a round in which no CTA ends, their
    /// number doubles. The CTAs of a cluster run concurrently.
    fn run(
        &mut self,
        mut range: Range<u64>,
        memory: &mut DeviceMemory,
        watch: &mut RunWatch,
    ) -> Result<(), FunctionalError> {
        let first = watch.stats.warp_instructions;
        let cluster_ctas = u64::from(self.launch.cluster_ctas());
        let mut access = MemAccess::new();
        let mut resident: Vec<GridCta<'a>> = Vec::new();
        let mut ended: Vec<GridCta<'a>> = Vec::new();
        let (mut wanted, mut slice, mut next_search) = (1, SLICE, 0);
        while !range.is_empty() || !resident.is_empty() {
            while !range.is_empty() && (resident.len() as u64) < wanted {
                if !(watch.goes_on)(watch.ctas) {
                    return Err(FunctionalError::Stopped {
                        kernel: self.kernel.name.clone(),
                        ctas: watch.ctas,
                    });
                }
                self.start(range.start, memory, &mut resident, &mut ended);
                range.start += cluster_ctas;
            }
            let before = watch.ctas;
            let mut at = 0;
            while at < resident.len() {
                let clock = watch.stats.warp_instructions;
                let run = |cta: &mut Cta, env: &mut Env| cta.turn(slice, env, &mut access, watch);
                if resident[at].within(self, memory, clock, run)? {
                    ended.push(resident.remove(at));
                    watch.ctas += 1;
                } else {
                    at += 1;
                }
            }
            if watch.ctas > before {
                continue;
            }
            // Adding one CTA per round would take a round per CTA until all CTAs of a grid barrier have started.
            let grown = 2 * resident.len() as u64;
            let mut waits = cluster_ctas == 1;
            if watch.stats.warp_instructions >= next_search {
                next_search = watch.stats.warp_instructions + SLICE;
                if let Some(spins) = self.spins(&mut resident, memory, watch.stats.warp_instructions) {
                    (slice, waits) = (SHORT_SLICE, true);
                    if range.is_empty() || resident.len() as u64 >= self.window {
                        let (executed, left) =
                            (watch.stats.warp_instructions - first, range.end - range.start);
                        return Err(self.livelock(&spins, executed, left));
                    }
                }
            }
            if waits {
                wanted = grown.min(self.window).max(wanted);
            }
        }
        Ok(())
    }

    /// Adds CTA `first` and the other CTAs of its cluster, which it begins. Uses the registers of `ended` CTAs.
    fn start(
        &self,
        first: u64,
        memory: &mut DeviceMemory,
        resident: &mut Vec<GridCta<'a>>,
        ended: &mut Vec<GridCta<'a>>,
    ) {
        let shared_bytes = self.kernel.shared_bytes as usize + self.launch.dynamic_shared as usize;
        let ctas = self.launch.cluster_ctas();
        let cluster = self
            .kernel
            .runs_in_clusters(self.launch)
            .then(|| memory.clusters_mut().start(ctas, self.launch.threads_per_cta(), shared_bytes));
        for rank in 0..ctas {
            let member = cluster.map(|cluster| ClusterMember { cluster, rank });
            let number = first + u64::from(rank);
            resident.push(match ended.pop() {
                Some(mut one) => {
                    one.cta.renew(self.launch, number);
                    one.shared.fill(0);
                    GridCta { member, ..one }
                }
                None => GridCta {
                    cta: Cta::new(self.kernel, self.launch, number),
                    shared: vec![0; if cluster.is_some() { 0 } else { shared_bytes }],
                    member,
                },
            });
        }
    }

    /// Returns the spinning warps if all warps that can run spin; `None` if one may still have an effect.
    fn spins(
        &self,
        resident: &mut [GridCta],
        memory: &mut DeviceMemory,
        clock: u64,
    ) -> Option<Vec<(String, Spin)>> {
        let mut spins = Vec::new();
        let all = resident
            .iter_mut()
            .all(|one| one.within(self, memory, clock, |cta, env| cta.add_spins(env, &mut spins)));
        (all && !spins.is_empty()).then_some(spins)
    }

    fn livelock(&self, spins: &[(String, Spin)], instructions: u64, waiting: u64) -> FunctionalError {
        let named = spins.iter().take(NAMED_SPINS).map(|(warp, Spin { first, last })| {
            if first == last {
                format!("{warp} repeats PTX line {first}")
            } else {
                format!("{warp} repeats PTX lines {first} to {last}")
            }
        });
        let mut text = named.collect::<Vec<_>>().join("; ");
        if spins.len() > NAMED_SPINS {
            text += &format!("; and {} more warps", spins.len() - NAMED_SPINS);
        }
        if waiting > 0 {
            text += &format!("; {waiting} CTAs wait for room");
        }
        FunctionalError::Livelock { kernel: self.kernel.name.clone(), instructions, spins: text }
    }
}

/// Runs CTA `index` of a launch that [`Kernel::check_launch`] accepts, until `goes_on` returns `false`. In a launch with clusters, runs
/// the cluster that begins with this CTA. `env` has the launch; its shared memory is unused. `each` sees every access that
/// [`FunctionalStats::memory_instructions`] counts.
///
/// # Errors
/// [`FunctionalError`] for a memory fault, a barrier that never completes, warps that wait for another CTA or cluster, or a stop by
/// the caller.
pub fn run_cta(
    kernel: &Kernel,
    index: u64,
    env: &mut Env,
    each: &mut dyn FnMut(&MemAccess),
    goes_on: &mut dyn FnMut(u64) -> bool,
) -> Result<FunctionalStats, FunctionalError> {
    let mut watch = RunWatch { ctas: index, ..RunWatch::new(each, goes_on) };
    let Env { ref mut memory, params, constants, launch, slot, core_mhz, sm, sms, .. } = *env;
    let mut grid = RunningGrid { kernel, launch, params, constants, slot, core_mhz, sm, sms, window: 1 };
    grid.run(index..index + u64::from(launch.cluster_ctas()), memory, &mut watch)?;
    Ok(watch.stats)
}
