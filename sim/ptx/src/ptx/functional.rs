//! Runs a grid for its values alone, without timing.

use super::access::{Fault, MemAccess};
use super::global::Global;
use super::instr::{Kernel, Space};
use super::module::Module;
use super::warp::{Ballot, Step, Warp};
use super::{Env, LaunchDims};
use crate::memory::DeviceMemory;
use std::num::NonZeroU32;

/// Number of barriers a CTA has.
pub(crate) const BARRIERS: u32 = 16;
/// Most CTAs in x, y and z.
const MAX_GRID: [u32; 3] = [0x7fff_ffff, 0xffff, 0xffff];
/// Most threads of a CTA.
pub(crate) const MAX_CTA_THREADS: u32 = 1024;

/// Warp instructions between two looks for an end from outside.
const LOOK: u64 = 1 << 20;

/// What a run executed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FunctionalStats {
    /// Instructions executed by warps.
    pub warp_instructions: u64,
    /// Instructions executed by lanes whose guard held.
    pub thread_instructions: u64,
    /// Warp instructions among them that at least one lane took to global, local or shared memory, textures included:
    /// those that a load/store unit would take.
    pub memory_instructions: u64,
}

/// Why a run stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A memory fault.
    #[error(transparent)]
    Fault(#[from] Box<Fault>),
    /// The launch does not suit the kernel.
    #[error("kernel '{kernel}' cannot be launched: {reason}")]
    Launch {
        /// Kernel.
        kernel: String,
        /// What is wrong, in words.
        reason: String,
    },
    /// Warps that wait for warps that never come.
    #[error(
        "{file}:{line}: kernel '{kernel}', block ({},{},{}): barrier {barrier} never completes: {arrived} of {expected} \
         threads arrived, no other warp can run", cta[0], cta[1], cta[2]
    )]
    Deadlock {
        /// PTX file.
        file: String,
        /// Kernel.
        kernel: String,
        /// Line of the barrier that the first waiting warp stands at.
        line: u32,
        /// CTA that hangs.
        cta: [u32; 3],
        /// Barrier's number.
        barrier: u32,
        /// Threads that arrived.
        arrived: u32,
        /// Threads it waits for.
        expected: u32,
    },
    /// It was not given as many instructions as it takes.
    #[error("kernel '{kernel}' takes more than {most} warp instructions")]
    TooLong {
        /// Kernel.
        kernel: String,
        /// Warp instructions that it was given.
        most: u64,
    },
    /// The outside has ended it.
    #[error("stopped after {ctas} CTAs of kernel '{kernel}'")]
    Stopped {
        /// Kernel.
        kernel: String,
        /// CTAs that have ended.
        ctas: u64,
    },
}

impl Kernel {
    /// Checks a launch against the kernel and the limits of a CTA.
    ///
    /// # Errors
    /// [`RunError::Launch`] for an empty or too large grid or CTA, one that `.reqntid` or `.maxntid` forbids,
    /// parameter bytes of the wrong size, or dynamic shared memory for a kernel that declares none.
    pub fn check_launch(&self, launch: &LaunchDims, params: &[u8]) -> Result<(), RunError> {
        let refuse = |reason: String| Err(RunError::Launch { kernel: self.name.clone(), reason });
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
        if params.len() != self.param_bytes as usize {
            return refuse(format!("its parameters take {} bytes, got {}", self.param_bytes, params.len()));
        }
        Ok(())
    }
}

/// State of one barrier.
#[derive(Debug, Clone, Copy, Default)]
struct Barrier {
    arrived: u32,
    expected: u32,
    ballot: Ballot,
}

/// A warp's arrival at a barrier.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    id: u32,
    threads: Option<u32>,
    arrive_only: bool,
    ballot: Ballot,
}

/// What a run is told to look at: its counters, and who hears of every memory instruction.
struct Watch<'a> {
    stats: FunctionalStats,
    /// Most warp instructions.
    most: u64,
    each: &'a mut dyn FnMut(&MemAccess),
    /// Whether the run goes on, after the given number of CTAs.
    goes_on: &'a mut dyn FnMut(u64) -> bool,
    /// CTAs that have ended.
    ctas: u64,
    /// Warp instructions after which `most` and `goes_on` are asked.
    next_look: u64,
}

impl<'a> Watch<'a> {
    fn new(each: &'a mut dyn FnMut(&MemAccess), goes_on: &'a mut dyn FnMut(u64) -> bool) -> Self {
        Watch { stats: FunctionalStats::default(), most: u64::MAX, each, goes_on, ctas: 0, next_look: LOOK }
    }

    fn at_most(self, most: u64) -> Self {
        Watch { most, next_look: self.next_look.min(most), ..self }
    }

    /// Ends the run of `kernel` at its limit, or when the outside wants so.
    #[cold]
    fn look(&mut self, kernel: &Kernel) -> Result<(), RunError> {
        if self.stats.warp_instructions > self.most {
            return Err(RunError::TooLong { kernel: kernel.name.clone(), most: self.most });
        }
        if !(self.goes_on)(self.ctas) {
            return Err(RunError::Stopped { kernel: kernel.name.clone(), ctas: self.ctas });
        }
        self.next_look = self.most.min(self.stats.warp_instructions + LOOK);
        Ok(())
    }
}

/// One CTA and its warps.
struct Cta<'a> {
    kernel: &'a Kernel,
    place: [u32; 3],
    warps: Vec<Warp>,
    /// Barrier that each warp waits at, and the instruction.
    waits: Vec<Option<(u32, u32)>>,
    barriers: [Barrier; BARRIERS as usize],
}

impl<'a> Cta<'a> {
    /// CTA `index` of a launch, at the kernel's first instruction.
    fn new(kernel: &'a Kernel, launch: &LaunchDims, index: u64) -> Self {
        let place = launch.cta(index);
        let warps: Vec<Warp> =
            (0..launch.warps_per_cta()).map(|warp| Warp::new(kernel, launch, place, warp)).collect();
        let waits = vec![None; warps.len()];
        Cta { kernel, place, warps, waits, barriers: [Barrier::default(); BARRIERS as usize] }
    }

    /// Threads that a barrier without a count waits for: those of the warps that have not ended.
    fn living_threads(&self) -> u32 {
        self.warps.iter().filter(|warp| warp.pc().is_some()).count() as u32 * 32
    }

    /// Notes that warp `index` reached barrier `id`, and lets the waiting warps go if it is complete.
    fn arrive(&mut self, index: usize, pc: u32, at: Arrival) {
        let Arrival { id, threads, arrive_only, ballot } = at;
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

    fn deadlock(&self) -> RunError {
        let (id, pc) = self.waits.iter().flatten().copied().next().unwrap_or((0, 0));
        let barrier = self.barriers[id as usize];
        RunError::Deadlock {
            file: self.kernel.file.clone(),
            kernel: self.kernel.name.clone(),
            line: self.kernel.code[pc as usize].line,
            cta: self.place,
            barrier: id,
            arrived: barrier.arrived,
            expected: if barrier.expected == 0 { self.living_threads() } else { barrier.expected },
        }
    }

    /// Runs warp `index` until it ends or waits.
    fn run_warp(
        &mut self,
        index: usize,
        env: &mut Env,
        access: &mut MemAccess,
        watch: &mut Watch,
    ) -> Result<(), RunError> {
        while let Some(pc) = self.warps[index].pc() {
            let active = self.warps[index].active_mask();
            let step = self.warps[index].step(self.kernel, env, access)?;
            watch.stats.warp_instructions += 1;
            if watch.stats.warp_instructions > watch.next_look {
                watch.look(self.kernel)?;
            }
            if matches!(step, Step::Memory | Step::Texture { .. })
                && access.mask != 0
                && matches!(access.space, Space::Global | Space::Local | Space::Shared)
            {
                watch.stats.memory_instructions += 1;
                (watch.each)(access);
            }
            let lanes = match step {
                Step::Alu { active } | Step::Texture { active } => active,
                Step::Memory => access.mask,
                _ => active,
            };
            watch.stats.thread_instructions += u64::from(lanes.count_ones());
            if let Step::Barrier { id, threads, arrive_only } = step {
                let ballot = self.warps[index].ballot(self.kernel);
                let threads = threads.map(NonZeroU32::get);
                self.arrive(index, pc, Arrival { id: id.into(), threads, arrive_only, ballot });
                if self.waits[index].is_some() {
                    return Ok(());
                }
            }
        }
        // A warp that ends no longer counts for barriers without a count.
        (0..BARRIERS).for_each(|id| self.release(id));
        Ok(())
    }

    fn run(&mut self, env: &mut Env, access: &mut MemAccess, watch: &mut Watch) -> Result<(), RunError> {
        loop {
            let mut ran = false;
            for index in 0..self.warps.len() {
                if self.waits[index].is_none() && self.warps[index].pc().is_some() {
                    self.run_warp(index, env, access, watch)?;
                    ran = true;
                }
            }
            if self.warps.iter().all(|warp| warp.pc().is_none()) {
                return Ok(());
            }
            if !ran {
                return Err(self.deadlock());
            }
        }
    }
}

/// Runs the grid, one CTA after the other, for its effect on `memory`. `params` are as [`Kernel::pack`] gives them.
/// The module's globals must have been loaded with [`Module::load`] if it has any.
///
/// # Errors
/// [`RunError`] for a launch that the kernel does not allow, a memory fault, or a barrier that never completes.
pub fn run_functional(
    module: &Module,
    kernel: &Kernel,
    launch: &LaunchDims,
    params: &[u8],
    memory: &mut DeviceMemory,
) -> Result<FunctionalStats, RunError> {
    watch_functional(module, kernel, launch, params, memory, &mut |_| ())
}

/// As [`run_functional`]; `each` sees every access that [`FunctionalStats::memory_instructions`] counts.
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
) -> Result<FunctionalStats, RunError> {
    run_watched(module, kernel, launch, params, memory, Watch::new(each, &mut |_| true))
}

/// As [`run_functional`], for at most `most` warp instructions.
///
/// # Errors
/// As [`run_functional`], and [`RunError::TooLong`].
pub fn run_limited(
    module: &Module,
    kernel: &Kernel,
    launch: &LaunchDims,
    params: &[u8],
    memory: &mut DeviceMemory,
    most: u64,
) -> Result<FunctionalStats, RunError> {
    let (each, goes_on) = (&mut |_: &MemAccess| (), &mut |_| true);
    run_watched(module, kernel, launch, params, memory, Watch::new(each, goes_on).at_most(most))
}

/// As [`run_functional`], while `goes_on`, which gets the number of ended CTAs now and then, agrees.
///
/// # Errors
/// As [`run_functional`], and [`RunError::Stopped`].
pub fn run_while(
    module: &Module,
    kernel: &Kernel,
    launch: &LaunchDims,
    params: &[u8],
    memory: &mut DeviceMemory,
    goes_on: &mut dyn FnMut(u64) -> bool,
) -> Result<FunctionalStats, RunError> {
    run_watched(module, kernel, launch, params, memory, Watch::new(&mut |_| (), goes_on))
}

/// As [`run_while`], with the constants that the kernel has.
///
/// # Errors
/// As [`run_while`].
pub fn run_kernel(
    kernel: &Kernel,
    launch: &LaunchDims,
    params: &[u8],
    memory: &mut DeviceMemory,
    goes_on: &mut dyn FnMut(u64) -> bool,
) -> Result<FunctionalStats, RunError> {
    let each = &mut |_: &MemAccess| ();
    run_with_constants(&kernel.constants, kernel, launch, params, memory, Watch::new(each, goes_on))
}

fn run_watched(
    module: &Module,
    kernel: &Kernel,
    launch: &LaunchDims,
    params: &[u8],
    memory: &mut DeviceMemory,
    watch: Watch,
) -> Result<FunctionalStats, RunError> {
    run_with_constants(module.constants(), kernel, launch, params, memory, watch)
}

fn run_with_constants(
    constants: &[u8],
    kernel: &Kernel,
    launch: &LaunchDims,
    params: &[u8],
    memory: &mut DeviceMemory,
    mut watch: Watch,
) -> Result<FunctionalStats, RunError> {
    kernel.check_launch(launch, params)?;
    let mut access = MemAccess::new();
    let mut shared = vec![0; kernel.shared_bytes as usize + launch.dynamic_shared as usize];
    for index in 0..launch.ctas() {
        watch.ctas = index;
        if !(watch.goes_on)(index) {
            return Err(RunError::Stopped { kernel: kernel.name.clone(), ctas: index });
        }
        shared.fill(0);
        let mut env = Env {
            memory: Global::Whole(&mut *memory),
            shared: &mut shared,
            params,
            constants,
            launch,
            clock: watch.stats.warp_instructions,
            core_mhz: 1000,
            sm: 0,
            sms: 1,
        };
        Cta::new(kernel, launch, index).run(&mut env, &mut access, &mut watch)?;
    }
    Ok(watch.stats)
}

/// Runs CTA `index` of a launch that [`Kernel::check_launch`] accepts, while `goes_on` agrees. `env` has the launch and its shared
/// memory, all zeros; `each` sees every access that [`FunctionalStats::memory_instructions`] counts.
///
/// # Errors
/// A memory fault, a barrier that never completes, or [`RunError::Stopped`].
pub fn run_cta(
    kernel: &Kernel,
    index: u64,
    env: &mut Env,
    each: &mut dyn FnMut(&MemAccess),
    goes_on: &mut dyn FnMut(u64) -> bool,
) -> Result<FunctionalStats, RunError> {
    let mut watch = Watch { ctas: index, ..Watch::new(each, goes_on) };
    Cta::new(kernel, env.launch, index).run(env, &mut MemAccess::new(), &mut watch)?;
    Ok(watch.stats)
}
