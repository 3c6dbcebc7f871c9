//! State of the library: the program's modules, kernels, variables and memory.
use crate::Done;
use crate::connection::Connection;
use crate::graphs::Graphs;
use crate::protocol::{Call, error};
use crate::streams::StreamHandles;
use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// State shared by all host threads.
static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);

#[derive(Default)]
pub struct Runtime {
    pub connection: Connection,
    /// Index of each fat binary in the simulator, or CUDA's error code.
    pub modules: Vec<Done<u64>>,
    /// Kernels, by the addresses of their host functions.
    pub kernels: HashMap<usize, RegisteredKernel>,
    /// Variables, by the addresses of their host variables.
    pub variables: HashMap<usize, RegisteredVariable>,
    /// Sizes of device allocations in bytes, by address.
    pub allocations: BTreeMap<u64, u64>,
    /// Memory that host and kernels share.
    pub managed: Vec<Managed>,
    /// Graphs, and the capture in progress.
    pub graphs: Graphs,
    pub streams: StreamHandles,
    /// Properties of the device, after the first query.
    pub properties: Option<Vec<u64>>,
}

/// A kernel that the program has registered.
pub struct RegisteredKernel {
    /// Index of its module.
    pub module: usize,
    /// Name in the PTX.
    pub name: String,
    /// The simulator's reply, after the first lookup.
    pub found: Option<KernelFacts>,
    /// `true`: its clusters may have more blocks than every GPU with clusters allows.
    pub has_large_clusters: bool,
}

impl RegisteredKernel {
    /// Creates a kernel that was not looked up.
    pub fn new(module: usize, name: String) -> Self {
        RegisteredKernel { module, name, found: None, has_large_clusters: false }
    }
}

/// A kernel as the simulator describes it.
#[derive(Clone)]
pub struct KernelFacts {
    /// Index in the simulator.
    pub number: u64,
    /// Registers, bytes of shared, local and constant memory, max threads per block, architecture.
    pub facts: [u64; 6],
    /// Offset and size of each parameter in bytes.
    pub params: Vec<(usize, usize)>,
}

/// A variable or texture reference that the program has registered.
pub struct RegisteredVariable {
    /// Index of its module.
    pub module: usize,
    /// Name in the PTX.
    pub name: String,
    /// `true` for a texture reference with samples from 0 to 1.
    pub is_normalized: bool,
}

/// Memory that host and kernels share. It is copied before and after each launch.
pub struct Managed {
    /// Address on the device.
    pub address: u64,
    /// Address on the host, which is the same except for memory that the program has registered.
    pub host: u64,
    /// Contents on the device.
    pub known: Vec<u8>,
}

impl Managed {
    /// Creates memory at the same address on both sides.
    pub fn new(address: u64, known: Vec<u8>) -> Self {
        Managed { address, host: address, known }
    }

    /// Returns whether an address, which is the same on both sides, is inside this memory.
    pub fn holds(&self, address: u64) -> bool {
        self.host == self.address && self.holds_host(address)
    }

    /// Returns whether a host address is inside this memory.
    pub fn holds_host(&self, address: u64) -> bool {
        address >= self.host && address - self.host < self.known.len() as u64
    }

    /// Returns whether this memory overlaps `bytes` bytes at `address` on the device.
    pub fn meets(&self, address: u64, bytes: u64) -> bool {
        address < self.address + self.known.len() as u64 && self.address < address + bytes
    }
}

/// Exclusive access to the runtime for the duration of a call.
pub struct RuntimeLock(MutexGuard<'static, Option<Runtime>>);

/// Takes the lock, which serializes the calls of host threads.
pub fn lock() -> RuntimeLock {
    let mut guard = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    guard.get_or_insert_default();
    RuntimeLock(guard)
}

impl std::ops::Deref for RuntimeLock {
    type Target = Runtime;
    fn deref(&self) -> &Runtime {
        self.0.as_ref().expect("it was made when the lock was taken")
    }
}

impl std::ops::DerefMut for RuntimeLock {
    fn deref_mut(&mut self) -> &mut Runtime {
        self.0.as_mut().expect("it was made when the lock was taken")
    }
}

impl Runtime {
    /// Returns the simulator's description of the kernel with this host function.
    pub fn kernel(&mut self, function: *const c_void) -> Done<KernelFacts> {
        let kernel = self.kernels.get_mut(&(function as usize)).ok_or(error::INVALID_DEVICE_FUNCTION)?;
        if let Some(found) = &kernel.found {
            return Ok(found.clone());
        }
        let module = self.modules[kernel.module]?;
        let words = self.connection.numbers(Call::Kernel, &[module], kernel.name.as_bytes(), 7)?;
        let pairs = words[7..].chunks_exact(2);
        let params = pairs.map(|pair| (pair[0] as usize, pair[1] as usize)).collect();
        let facts = [words[1], words[2], words[3], words[4], words[5], words[6]];
        let found = KernelFacts { number: words[0], facts, params };
        kernel.found = Some(found.clone());
        Ok(found)
    }

    /// Returns the device address and the size of the variable with this host variable.
    pub fn variable(&mut self, symbol: *const c_void) -> Done<(u64, u64)> {
        // The program names a managed variable by its shared address.
        if let Some(shared) = self.managed.iter().find(|managed| managed.address == symbol as u64) {
            return Ok((shared.address, shared.known.len() as u64));
        }
        let variable = self.variables.get(&(symbol as usize)).ok_or(error::INVALID_SYMBOL)?;
        let module = self.modules[variable.module]?;
        let words = self.connection.numbers(Call::Symbol, &[module], variable.name.as_bytes(), 2)?;
        // From now on the program may use its address.
        self.allocations.insert(words[0], words[1]);
        Ok((words[0], words[1]))
    }

    /// Returns the address and size of the allocation that contains an address.
    pub fn allocation(&self, address: u64) -> Option<(u64, u64)> {
        let (base, bytes) = self.allocations.range(..=address).next_back()?;
        (address - base < (*bytes).max(1)).then_some((*base, *bytes))
    }

    /// Returns whether an address is in device memory that is not managed.
    pub fn is_on_device(&self, address: u64) -> bool {
        !self.is_managed(address) && self.allocation(address).is_some()
    }

    /// Returns whether an address is in managed memory.
    pub fn is_managed(&self, address: u64) -> bool {
        self.managed.iter().any(|managed| managed.holds(address))
    }
}
