//! The read-only caches of an SM. The load/store unit accesses constants and textures, one instruction at a time with the L1D.
//! The issue stage fetches instructions when a warp enters another line of code.
//!
//! Each cache is an L1D without stores and with its own miss queue. The crossbar's port serves the miss queues round-robin.
//! Constants, parameters and code are above local memory in the program's address space, where the L2 and DRAM see them.
use super::l1d::L1d;
use super::launch::LaunchedKernel;
use super::scheduler::WarpMask;
use crate::config::{GpuConfig, READ_ONLY_CACHES, ReadOnlyCache, SmConfig};
use crate::kernel_slots::{KERNEL_SLOTS, PROGRAMS};
use crate::packet::Packet;
use crate::stats::CacheCounters;
use crate::witness::Witness;
use selvedge_ptx::memory::{program_of, within_program};
use selvedge_ptx::ptx::PARAM_REGION;
use selvedge_state::State;

/// Position of the kind of a read-only cache in its number for the witness. The bits below are the SM's number.
const NUMBER_SHIFT: u16 = 12;

/// Banks of the constant cache that differ from the previous launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// `true` if the arguments differ.
    pub parameters: bool,
    /// `true` if the host has written constant memory, or the kernel belongs to another module.
    pub constants: bool,
}

/// Digests of the arguments of the last launch in each slot, and of the constants of the last launch of each program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Banks {
    parameters: [u64; KERNEL_SLOTS],
    constants: [u64; PROGRAMS],
}

impl Default for Banks {
    fn default() -> Self {
        Banks { parameters: [0; KERNEL_SLOTS], constants: [0; PROGRAMS] }
    }
}

impl Banks {
    /// Replaces the digests by the digests of `kernel`. Returns which banks have changed.
    pub fn replace(&mut self, kernel: &LaunchedKernel) -> Changed {
        let changes = |old: &mut u64, bytes: &[u8]| {
            let new = fnv(bytes);
            std::mem::replace(old, new) != new
        };
        Changed {
            parameters: changes(&mut self.parameters[usize::from(kernel.slot)], &kernel.params),
            constants: changes(&mut self.constants[usize::from(kernel.program)], &kernel.kernel.constants),
        }
    }
}

/// Returns the FNV-1a digest of `bytes`.
fn fnv(bytes: &[u8]) -> u64 {
    let step = |digest: u64, byte: &u8| (digest ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The read-only caches of an SM, as configured.
#[derive(State)]
pub struct ReadOnlyCaches {
    caches: [Option<Box<L1d>>; READ_ONLY_CACHES.len()],
    /// `true` if the configuration has no such cache.
    is_empty: bool,
    /// The miss queue that the crossbar's port considers first: 0 is the L1D's, then the caches' in order.
    turn: usize,
    /// Warps whose next instruction is being fetched.
    pub fetching: WarpMask,
    /// Warps of `fetching` whose miss could not be sent yet.
    pub retrying: WarpMask,
}

impl ReadOnlyCaches {
    /// Returns the caches of a configuration, empty.
    pub fn new(sm: &SmConfig) -> Self {
        let build = |cache: ReadOnlyCache| {
            let config = sm.read_only(cache);
            config.is_there().then(|| Box::new(L1d::new(&config.as_l1d())))
        };
        let caches = READ_ONLY_CACHES.map(build);
        let is_empty = caches.iter().all(Option::is_none);
        ReadOnlyCaches { caches, is_empty, turn: 0, fetching: 0, retrying: 0 }
    }

    /// Lets `witness` follow the contents of the caches of SM `sm`, under numbers above the L1Ds' numbers.
    pub fn watch(&mut self, witness: &Witness, sm: u16) {
        for (kind, cache) in (1..).zip(&mut self.caches) {
            cache.iter_mut().for_each(|cache| cache.watch(witness, sm | kind << NUMBER_SHIFT));
        }
    }

    /// Returns whether the configuration has this cache.
    pub fn has(&self, cache: ReadOnlyCache) -> bool {
        self.caches[cache as usize].is_some()
    }

    /// Lets a new warp fetch its first instruction, if the configuration has an instruction cache.
    pub fn arrive(&mut self, warp: u8) {
        if self.has(ReadOnlyCache::Instruction) {
            self.fetching |= 1 << warp;
            self.retrying |= 1 << warp;
        }
    }

    /// Returns a cache, if the configuration has it.
    pub fn get(&mut self, cache: ReadOnlyCache) -> Option<&mut L1d> {
        self.caches[cache as usize].as_deref_mut()
    }

    fn all(&self) -> impl Iterator<Item = &L1d> {
        self.caches.iter().filter_map(Option::as_deref)
    }

    /// Returns whether no read is in flight.
    pub fn is_idle(&self) -> bool {
        self.is_empty || self.retrying == 0 && self.all().all(L1d::is_idle)
    }

    /// Returns whether the SM must run in the next cycle because of these caches.
    #[inline]
    pub fn has_work(&self) -> bool {
        !self.is_empty && (self.retrying != 0 || self.all().any(|cache| cache.outgoing().is_some()))
    }

    /// Returns the counters of a cache; zero if the configuration does not have it.
    pub fn counters(&self, cache: ReadOnlyCache) -> CacheCounters {
        self.caches[cache as usize].as_ref().map_or_else(CacheCounters::default, |cache| cache.counters())
    }

    /// Invalidates the lines that a launch of `program` must not find. Code stays, because it is never written. Constants and
    /// parameters stay unless they have `changed`. Any program or the host may have written textures: all lines of textures are
    /// invalidated if the launch `is_alone`, else the lines of its program.
    pub fn launch(&mut self, program: u8, is_alone: bool, changed: Changed) {
        if let Some(texture) = self.get(ReadOnlyCache::Texture) {
            if is_alone { texture.invalidate_all() } else { texture.invalidate_program(program) }
        }
        let is_stale = |line: u64| match within_program(line) {
            PARAM_REGION.. => changed.parameters,
            _ => changed.constants,
        };
        if let Some(constant) = self.get(ReadOnlyCache::Constant)
            && (changed.parameters || changed.constants)
        {
            constant.invalidate_where(|line| program_of(line) == program && is_stale(line));
        }
    }

    /// Returns the next miss queue, round-robin, with a packet that `can_leave`. The inner `None` is the L1D's queue.
    pub fn next_queue(
        &mut self,
        l1d: &L1d,
        can_leave: impl Fn(&Packet) -> bool,
    ) -> Option<Option<ReadOnlyCache>> {
        if self.is_empty {
            return l1d.outgoing().is_some_and(can_leave).then_some(None);
        }
        let queues = 1 + READ_ONLY_CACHES.len();
        for offset in 0..queues {
            let number = (self.turn + offset) % queues;
            let kind = number.checked_sub(1).map(|cache| READ_ONLY_CACHES[cache]);
            let outgoing = match kind {
                None => l1d.outgoing(),
                Some(kind) => self.caches[kind as usize].as_ref().and_then(|cache| cache.outgoing()),
            };
            if outgoing.is_some_and(&can_leave) {
                self.turn = (number + 1) % queues;
                return Some(kind);
            }
        }
        None
    }
}

/// Returns the longest hit latency, which the horizon of the SM's events must include.
pub fn longest_latency(config: &GpuConfig) -> u32 {
    READ_ONLY_CACHES.map(|cache| config.sm.read_only(cache).hit_latency).into_iter().fold(0, u32::max)
}
