//! The device as a program sees it: modules, memory and launches, and the second device that a check compares it with.
use crate::operation::{LaunchOperation, Operation, Rows};
use crate::protocol::error;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::sm::SimFault;
use selvedge_gpu::sm::launch::LaunchedKernel;
use selvedge_ptx::memory::{BUFFER_ALIGNMENT, DeviceMemory, MemoryError};
use selvedge_ptx::ptx::{
    CONST_WINDOW, GLOBALS_BASE, Kernel, LaunchDims, Module, PtxError, RunError, WINDOW_BYTES, run_kernel,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of the constant window that each module has.
const CONSTANTS_OF_A_MODULE: u64 = 1 << 16;

/// Why an operation was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// PTX that cannot be executed.
    #[error(transparent)]
    Ptx(#[from] PtxError),
    /// Memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A launch.
    #[error(transparent)]
    Launch(#[from] SimFault),
    /// The second execution.
    #[error("without timing: {0}")]
    Untimed(#[from] RunError),
    /// A kernel that no module has.
    #[error("there is no kernel `{kernel}` in module {module}")]
    NoKernel {
        /// Number of the module.
        module: usize,
        /// Name of the kernel.
        kernel: String,
    },
    /// A range of constants that no module has.
    #[error("{bytes} bytes at {address:#x} are not inside the constants of a module")]
    Constants {
        /// First address.
        address: u64,
        /// How many.
        bytes: u64,
    },
    /// Rows that overlap.
    #[error("rows of {width} bytes, {pitch} bytes apart: the pitch must be at least the width")]
    Pitch {
        /// Bytes of a row.
        width: u64,
        /// Bytes from one to the next.
        pitch: u64,
    },
    /// The two executions differ.
    #[error(
        "after launch {launch} of kernel `{kernel}`, byte {offset} of the buffer at {address:#x} is {timed:#04x}, and {untimed:#04x} without timing"
    )]
    Differs {
        /// Number of the launch, from 1.
        launch: u64,
        /// The kernel.
        kernel: String,
        /// The buffer's address.
        address: u64,
        /// The byte within it.
        offset: usize,
        /// What the timed execution has left.
        timed: u8,
        /// What the untimed one has.
        untimed: u8,
    },
}

impl DeviceError {
    /// Returns the error that CUDA has for it.
    #[must_use]
    pub fn code(&self) -> i32 {
        match self {
            DeviceError::Ptx(_) => error::INVALID_PTX,
            DeviceError::Memory(MemoryError::OutOfMemory { .. } | MemoryError::NoHostMemory { .. }) => {
                error::MEMORY_ALLOCATION
            }
            DeviceError::Launch(fault) => fault_code(fault),
            DeviceError::NoKernel { .. } => error::INVALID_DEVICE_FUNCTION,
            DeviceError::Memory(_) | DeviceError::Constants { .. } | DeviceError::Pitch { .. } => {
                error::INVALID_VALUE
            }
            DeviceError::Untimed(_) | DeviceError::Differs { .. } => error::LAUNCH_FAILURE,
        }
    }
}

/// Returns the error that CUDA has for what ends a simulation.
#[must_use]
pub fn fault_code(fault: &SimFault) -> i32 {
    match fault {
        SimFault::Kernel(fault) if fault.what.starts_with("fails: assertion") => error::ASSERT,
        SimFault::Kernel(fault) if fault.what.starts_with("stops the kernel") => error::LAUNCH_FAILURE,
        SimFault::Kernel(_) => error::ILLEGAL_ADDRESS,
        SimFault::Launch(_) => error::INVALID_CONFIGURATION,
        SimFault::TooLarge { .. } => error::LAUNCH_OUT_OF_RESOURCES,
        SimFault::Deadlock { .. } => error::LAUNCH_TIMEOUT,
        _ => error::LAUNCH_FAILURE,
    }
}

type Result<T> = std::result::Result<T, DeviceError>;

impl Rows {
    /// Returns `bytes` bytes in a row.
    #[must_use]
    pub fn one(address: u64, bytes: u64) -> Self {
        Rows { address, pitch: bytes, width: bytes, height: 1 }
    }

    /// Joins rows without gaps to one; none that overlap.
    fn joined(self) -> Result<Self> {
        if self.height > 1 && self.pitch < self.width {
            return Err(DeviceError::Pitch { width: self.width, pitch: self.pitch });
        }
        match self.width.checked_mul(self.height) {
            Some(bytes) if self.pitch == self.width || self.height <= 1 => Ok(Self::one(self.address, bytes)),
            _ => Ok(self),
        }
    }

    /// The address of each row.
    fn addresses(self) -> impl Iterator<Item = u64> {
        (0..self.height).map(move |row| self.address.saturating_add(row.saturating_mul(self.pitch)))
    }
}

/// A variable of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Address, that of a constant in the window of constants.
    pub address: u64,
    /// Size.
    pub bytes: u64,
}

/// The second execution of every launch, without timing, and the memory that it leaves.
#[derive(Debug)]
struct Untimed {
    memory: DeviceMemory,
    /// The kernel that ran last, until it has been compared.
    ran: Option<String>,
}

/// A device with the modules of one program.
#[derive(Debug)]
pub struct Device {
    config: Arc<GpuConfig>,
    modules: Vec<Module>,
    launches: u64,
    untimed: Option<Untimed>,
    /// Stops the second execution.
    stop: Arc<AtomicBool>,
}

impl Device {
    /// Returns a device without modules. With `untimed`, the most bytes of device memory, every launch executes a second time on
    /// a memory of its own.
    #[must_use]
    pub fn new(config: &Arc<GpuConfig>, untimed: Option<u64>, stop: Arc<AtomicBool>) -> Self {
        let untimed = untimed.map(|most| Untimed { memory: DeviceMemory::with_capacity(most), ran: None });
        Device { config: Arc::clone(config), modules: Vec::new(), launches: 0, untimed, stop }
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &GpuConfig {
        &self.config
    }

    /// How many modules there are.
    #[must_use]
    pub fn modules(&self) -> usize {
        self.modules.len()
    }

    /// Returns the kernel called `name` of a module.
    #[must_use]
    pub fn kernel(&self, module: usize, name: &str) -> Option<Arc<Kernel>> {
        self.modules.get(module)?.kernel(name)
    }

    /// Returns the variable called `name` of a module.
    #[must_use]
    pub fn symbol(&self, module: usize, name: &str) -> Option<Symbol> {
        let found = self.modules.get(module)?;
        if let Some((address, bytes)) = found.global(name) {
            return Some(Symbol { address, bytes });
        }
        let base = CONST_WINDOW + module as u64 * CONSTANTS_OF_A_MODULE;
        found.constant(name).map(|(offset, bytes)| Symbol { address: base + offset, bytes })
    }

    /// Allocates memory at a multiple of `alignment`; the operation that does the same again.
    ///
    /// # Errors
    /// There is not enough.
    pub fn allocate(&mut self, bytes: u64, alignment: u64, memory: &mut DeviceMemory) -> Result<Operation> {
        let alignment = alignment.clamp(BUFFER_ALIGNMENT, 1 << 21).next_power_of_two();
        let address = memory.alloc_aligned(bytes, alignment, "cudaMalloc")?;
        if let Some(untimed) = &mut self.untimed {
            untimed.memory.alloc_at(address, bytes, "cudaMalloc")?;
        }
        Ok(Operation::Allocate { address, bytes })
    }

    /// Reads rows, one after the other.
    ///
    /// # Errors
    /// They are not inside a buffer.
    pub fn read(&self, rows: Rows, memory: &DeviceMemory) -> Result<Vec<u8>> {
        let rows = rows.joined()?;
        let mut bytes = Vec::new();
        for address in rows.addresses() {
            match self.constants(address, rows.width)? {
                Some((module, range)) => bytes.extend_from_slice(&self.modules[module].constants()[range]),
                None => bytes.extend_from_slice(memory.bytes(address, rows.width)?),
            }
        }
        Ok(bytes)
    }

    /// The module and the range of its constants that an address means; none for one of device memory.
    fn constants(&self, address: u64, bytes: u64) -> Result<Option<(usize, std::ops::Range<usize>)>> {
        let Some(offset) = address.checked_sub(CONST_WINDOW).filter(|offset| *offset < WINDOW_BYTES) else {
            return Ok(None);
        };
        let (module, offset) = ((offset / CONSTANTS_OF_A_MODULE) as usize, offset % CONSTANTS_OF_A_MODULE);
        let size = self.modules.get(module).map_or(0, |module| module.constants().len() as u64);
        match offset.checked_add(bytes) {
            Some(end) if end <= size => Ok(Some((module, offset as usize..end as usize))),
            _ => Err(DeviceError::Constants { address, bytes }),
        }
    }

    /// Does what the program asks for, in both memories where there are two. A launch is prepared for the GPU to run.
    ///
    /// # Errors
    /// What is wrong with the operation; nothing was done then.
    pub fn apply(
        &mut self,
        operation: &Operation,
        memory: &mut DeviceMemory,
    ) -> Result<Option<LaunchedKernel>> {
        match operation {
            Operation::Module { text } => self.load(text, memory)?,
            Operation::Launch(launch) => return self.launch(launch).map(Some),
            Operation::Write { rows, bytes } if rows.address < GLOBALS_BASE => {
                self.write_constants(rows.joined()?, bytes)?;
            }
            _ => {
                self.change(operation, memory)?;
                if let Some(mut untimed) = self.untimed.take() {
                    let changed = self.change(operation, &mut untimed.memory);
                    self.untimed = Some(untimed);
                    changed?;
                }
            }
        }
        Ok(None)
    }

    /// Changes one memory.
    fn change(&self, operation: &Operation, memory: &mut DeviceMemory) -> Result<()> {
        match operation {
            Operation::Allocate { address, bytes } => memory.alloc_at(*address, *bytes, "cudaMalloc")?,
            Operation::Free { address } => memory.free(*address)?,
            Operation::Write { rows, bytes } => {
                let rows = rows.joined()?;
                check(rows, memory)?;
                let mut rest = bytes.as_slice();
                for address in rows.addresses() {
                    let (row, after) = rest.split_at_checked(rows.width as usize).unwrap_or((rest, &[]));
                    memory.write(address, row)?;
                    rest = after;
                }
            }
            Operation::Fill { rows, byte } => {
                let rows = rows.joined()?;
                check(rows, memory)?;
                for address in rows.addresses() {
                    memory.fill(address, rows.width, |row| row.fill(*byte))?;
                }
            }
            Operation::Copy { to, from, pitch } => {
                let source = Rows { address: *from, pitch: *pitch, ..*to };
                check(*to, memory)?;
                let bytes = self.read(source, memory)?;
                self.change(&Operation::Write { rows: *to, bytes }, memory)?;
            }
            Operation::Texture { texture } => drop(memory.create_texture(texture.clone())?),
            Operation::Module { .. } | Operation::Launch(_) => {}
        }
        Ok(())
    }

    /// Loads a module whose variables come behind those of the others.
    fn load(&mut self, text: &str, memory: &mut DeviceMemory) -> Result<()> {
        let end = self.modules.iter().filter_map(Module::globals_end).max();
        let name = format!("module {}", self.modules.len());
        let module = Module::parse_from(&name, text, end.unwrap_or(GLOBALS_BASE))?;
        module.load(memory)?;
        if let Some(untimed) = &mut self.untimed {
            module.load(&mut untimed.memory)?;
        }
        self.modules.push(module);
        Ok(())
    }

    fn write_constants(&mut self, rows: Rows, bytes: &[u8]) -> Result<()> {
        let wrong = || DeviceError::Constants { address: rows.address, bytes: rows.width };
        let (module, range) = self.constants(rows.address, rows.width)?.ok_or_else(wrong)?;
        self.modules[module].write_constants(range.start as u64, bytes).ok_or_else(wrong)
    }

    /// Prepares a launch, and executes it without timing where that is asked for.
    fn launch(&mut self, launch: &LaunchOperation) -> Result<LaunchedKernel> {
        let (module, name) = (launch.module, &launch.kernel);
        let kernel = self
            .kernel(module, name)
            .ok_or_else(|| DeviceError::NoKernel { module, kernel: name.clone() })?;
        let mut dims = LaunchDims::new(launch.grid, launch.block);
        dims.dynamic_shared = launch.dynamic_shared;
        let params = launch.params.clone();
        let launched = LaunchedKernel::new(Arc::clone(&kernel), dims, params, 0, &self.config)?;
        self.launches += 1;
        if let Some(untimed) = &mut self.untimed {
            let mut goes_on = |_: u64| !self.stop.load(Ordering::Relaxed);
            run_kernel(&kernel, &dims, &launch.params, &mut untimed.memory, &mut goes_on)?;
            // The timed execution prints.
            untimed.memory.take_printed();
            untimed.ran = Some(name.clone());
        }
        Ok(launched)
    }

    /// Compares the memory with that of the second execution, after a launch.
    ///
    /// # Errors
    /// The first difference.
    pub fn compare(&mut self, memory: &DeviceMemory) -> Result<()> {
        let launch = self.launches;
        let Some(untimed) = &mut self.untimed else { return Ok(()) };
        let Some(kernel) = untimed.ran.take() else { return Ok(()) };
        for (address, expected) in untimed.memory.contents() {
            let Ok(found) = memory.bytes(address, expected.len() as u64) else { continue };
            if found == expected {
                continue;
            }
            let offset = found.iter().zip(expected).position(|(a, b)| a != b).unwrap_or(0);
            let (timed, untimed) = (found[offset], expected[offset]);
            return Err(DeviceError::Differs { launch, kernel, address, offset, timed, untimed });
        }
        Ok(())
    }
}

/// Checks that all rows are inside buffers, so that nothing is changed where one is not.
fn check(rows: Rows, memory: &DeviceMemory) -> Result<()> {
    let rows = rows.joined()?;
    match rows.addresses().find(|address| !memory.holds(*address, rows.width)) {
        None => Ok(()),
        Some(address) => Ok(memory.bytes(address, rows.width).map(|_| ())?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = ".version 7.8\n.target sm_60\n.address_size 64\n.visible .global .align 4 .u32 out;\n\
        .const .align 4 .u32 add = 5;\n.visible .entry k() {\n.reg .b32 %r<3>;\nld.const.u32 %r1, [add];\n\
        st.global.u32 [out], %r1;\nret;\n}\n";

    /// A device with two modules of the same text, and its memory; every launch executes twice.
    fn device() -> (Device, DeviceMemory) {
        let config = Arc::new(GpuConfig::load("gtx480").expect("built in"));
        let mut device = Device::new(&config, Some(1 << 20), Arc::default());
        let mut memory = DeviceMemory::new();
        for _ in 0..2 {
            device.apply(&Operation::Module { text: TEXT.into() }, &mut memory).expect("it loads");
        }
        (device, memory)
    }

    fn launch(module: usize) -> Operation {
        Operation::Launch(LaunchOperation {
            module,
            kernel: "k".into(),
            grid: [1, 1, 1],
            block: [1, 1, 1],
            dynamic_shared: 0,
            params: Vec::new(),
        })
    }

    /// Runs the prepared launch as a simulation would.
    fn run(device: &mut Device, module: usize, memory: &mut DeviceMemory) {
        let launched = device.apply(&launch(module), memory).expect("it fits").expect("a launch");
        run_kernel(&launched.kernel, &launched.dims, &launched.params, memory, &mut |_| true)
            .expect("it runs");
    }

    #[test]
    fn modules_have_variables_and_constants_of_their_own() {
        let (mut device, mut memory) = device();
        let [first, second] = [0, 1].map(|module| device.symbol(module, "out").expect("it is there"));
        assert!(second.address >= first.address + 4);
        let add = device.symbol(1, "add").expect("it is there");
        let operation = Operation::Write { rows: Rows::one(add.address, 4), bytes: vec![9, 0, 0, 0] };
        device.apply(&operation, &mut memory).expect("a constant");
        for module in [0, 1] {
            run(&mut device, module, &mut memory);
            device.compare(&memory).expect("both executions agree");
        }
        let values =
            [first, second].map(|symbol| memory.read_u32s(symbol.address, 1).expect("a variable")[0]);
        assert_eq!(values, [5, 9]);
        let constant = device.read(Rows::one(add.address, 4), &memory).expect("a constant");
        assert_eq!(constant, [9, 0, 0, 0]);
        let wrong = device.read(Rows::one(add.address + 2, 4), &memory).expect_err("too long");
        assert_eq!(wrong.code(), error::INVALID_VALUE);
    }

    #[test]
    fn a_difference_between_the_executions_is_found() {
        let (mut device, mut memory) = device();
        run(&mut device, 0, &mut memory);
        let out = device.symbol(0, "out").expect("it is there");
        memory.write(out.address + 1, &[7]).expect("a variable");
        let found = device.compare(&memory).expect_err("the memories differ").to_string();
        assert!(found.starts_with("after launch 1 of kernel `k`, byte 1 of the buffer at"), "{found}");
        assert!(found.ends_with("is 0x07, and 0x00 without timing"), "{found}");
    }

    #[test]
    fn a_copy_that_leaves_its_buffer_changes_nothing() {
        let (mut device, mut memory) = device();
        let operation = device.allocate(64, 1, &mut memory).expect("there is room");
        let Operation::Allocate { address, .. } = operation else { panic!("{operation:?}") };
        let rows = Rows { address, pitch: 48, width: 32, height: 2 };
        let write = Operation::Write { rows, bytes: vec![1; 64] };
        let refused = device.apply(&write, &mut memory).err().expect("the second row leaves it");
        assert_eq!(refused.code(), error::INVALID_VALUE);
        assert_eq!(memory.bytes(address, 64).expect("it is there"), [0; 64]);
        device.apply(&Operation::Free { address }, &mut memory).expect("it is there");
        assert!(device.apply(&Operation::Free { address }, &mut memory).is_err(), "it is freed twice");
    }
}
