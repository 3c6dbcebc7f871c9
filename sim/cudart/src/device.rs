//! A program's view of the device: modules, memory and launches. An optional second execution checks each launch.
use crate::operation::{DeviceOperation, LaunchOperation, PitchedRows, QueuedOperation};
use crate::protocol::error;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::sm::SimFault;
use selvedge_gpu::sm::launch::LaunchedKernel;
use selvedge_ptx::memory::{BUFFER_ALIGNMENT, DeviceMemory, MemoryError};
use selvedge_ptx::ptx::{
    CONST_WINDOW, FunctionalError, GLOBALS_BASE, Kernel, KernelError, LaunchDims, Module, PtxError,
    RefusedKernel, WINDOW_BYTES, run_kernel,
};
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

/// Function that returns `false` when the device must stop.
pub type GoesOn = Arc<dyn Fn() -> bool + Send + Sync>;

/// Number of rows between two checks of whether to stop.
const ROWS_BETWEEN: usize = 4096;

/// Size of each module's part of the constant window, in bytes.
const CONSTANTS_OF_A_MODULE: u64 = 1 << 16;

/// Reasons for which an operation is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The PTX cannot be executed.
    #[error(transparent)]
    Ptx(#[from] PtxError),
    /// Memory is exhausted, or an access is outside of a buffer.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The launch does not fit the configuration.
    #[error(transparent)]
    Launch(#[from] SimFault),
    /// The execution without timing failed.
    #[error("without timing: {0}")]
    Untimed(#[from] FunctionalError),
    /// The module has no such kernel.
    #[error("there is no kernel `{kernel}` in module {module}")]
    NoKernel {
        /// Index of the module.
        module: usize,
        /// Name of the kernel.
        kernel: String,
    },
    /// A kernel of a loaded module that cannot be executed.
    #[error(transparent)]
    Refused(RefusedKernel),
    /// A range that is not inside the constants of a module.
    #[error("{bytes} bytes at {address:#x} are not inside the constants of a module")]
    Constants {
        /// First address of the range.
        address: u64,
        /// Size of the range in bytes.
        bytes: u64,
    },
    /// Rows that overlap.
    #[error("rows of {width} bytes, {pitch} bytes apart: the pitch must be at least the width")]
    Pitch {
        /// Length of a row in bytes.
        width: u64,
        /// Distance between the starts of two rows, in bytes.
        pitch: u64,
    },
    /// A number of bytes that differs from the size of the rows.
    #[error("{bytes} bytes for {height} rows of {width}: must be as many")]
    Length {
        /// Given bytes.
        bytes: usize,
        /// Number of rows.
        height: u64,
        /// Length of a row in bytes.
        width: u64,
    },
    /// The device was stopped during the operation.
    #[error("the device was stopped")]
    Stopped,
    /// The executions with and without timing differ.
    #[error(
        "after launch {launch} of kernel `{kernel}`, byte {offset} of the buffer at {address:#x} is {timed:#04x}, and {untimed:#04x} without timing"
    )]
    Differs {
        /// Number of the launch, from 1.
        launch: u64,
        /// Name of the kernel.
        kernel: String,
        /// Address of the buffer.
        address: u64,
        /// Offset of the first different byte in the buffer.
        offset: usize,
        /// Value of the execution with timing.
        timed: u8,
        /// Value of the execution without timing.
        untimed: u8,
    },
}

impl DeviceError {
    /// Returns the corresponding CUDA error code.
    #[must_use]
    pub fn code(&self) -> i32 {
        match self {
            DeviceError::Ptx(_) => error::INVALID_PTX,
            DeviceError::Memory(MemoryError::OutOfMemory { .. } | MemoryError::NoHostMemory { .. }) => {
                error::MEMORY_ALLOCATION
            }
            DeviceError::Launch(fault) => fault_code(fault),
            DeviceError::NoKernel { .. } => error::INVALID_DEVICE_FUNCTION,
            DeviceError::Refused(_) => error::NO_KERNEL_IMAGE,
            DeviceError::Memory(_)
            | DeviceError::Constants { .. }
            | DeviceError::Pitch { .. }
            | DeviceError::Length { .. } => error::INVALID_VALUE,
            DeviceError::Untimed(_) | DeviceError::Differs { .. } | DeviceError::Stopped => {
                error::LAUNCH_FAILURE
            }
        }
    }
}

/// Returns the CUDA error code for the fault of a simulation.
#[must_use]
pub fn fault_code(fault: &SimFault) -> i32 {
    match fault {
        SimFault::Kernel(fault) if fault.what.starts_with("fails: assertion") => error::ASSERT,
        SimFault::Kernel(fault) if fault.what.starts_with("stops the kernel") => error::LAUNCH_FAILURE,
        SimFault::Kernel(_) => error::ILLEGAL_ADDRESS,
        SimFault::Launch(_) => error::INVALID_CONFIGURATION,
        SimFault::Cluster { .. } => error::INVALID_CLUSTER_SIZE,
        SimFault::TooLarge { .. } => error::LAUNCH_OUT_OF_RESOURCES,
        SimFault::Deadlock { .. } => error::LAUNCH_TIMEOUT,
        _ => error::LAUNCH_FAILURE,
    }
}

type Result<T> = std::result::Result<T, DeviceError>;

impl PitchedRows {
    /// Returns a single row of `bytes` bytes.
    #[must_use]
    pub fn one(address: u64, bytes: u64) -> Self {
        PitchedRows { address, pitch: bytes, width: bytes, height: 1 }
    }

    /// Merges rows without gaps into one row. Refuses rows that overlap. Any number of empty rows becomes one empty row.
    fn joined(self) -> Result<Self> {
        if self.width == 0 || self.height == 0 {
            return Ok(Self::one(self.address, 0));
        }
        if self.height > 1 && self.pitch < self.width {
            return Err(DeviceError::Pitch { width: self.width, pitch: self.pitch });
        }
        match self.width.checked_mul(self.height) {
            Some(bytes) if self.pitch == self.width || self.height <= 1 => Ok(Self::one(self.address, bytes)),
            _ => Ok(self),
        }
    }

    /// Returns the address of each row.
    fn addresses(self) -> impl Iterator<Item = u64> {
        (0..self.height).map(move |row| self.address.saturating_add(row.saturating_mul(self.pitch)))
    }
}

/// A variable of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleVariable {
    /// Address; that of a constant is in the constant window.
    pub address: u64,
    /// Size in bytes.
    pub bytes: u64,
}

/// State of the second execution, without timing.
#[derive(Debug)]
struct Untimed {
    memory: DeviceMemory,
    /// Kernel of the last launch, until its results have been compared.
    ran: Option<String>,
}

/// A device with the modules of one program.
pub struct Device {
    config: Arc<GpuConfig>,
    modules: Vec<Module>,
    launches: u64,
    untimed: Option<Untimed>,
    goes_on: GoesOn,
}

impl Debug for Device {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("modules", &self.modules.len()).finish_non_exhaustive()
    }
}

impl Device {
    /// Creates a device without modules. `untimed` is the max number of bytes of a separate memory. With it, each launch executes
    /// a second time. `goes_on` is called during long operations.
    #[must_use]
    pub fn new(config: &Arc<GpuConfig>, untimed: Option<u64>, goes_on: GoesOn) -> Self {
        let untimed = untimed.map(|most| Untimed { memory: DeviceMemory::with_capacity(most), ran: None });
        Device { config: Arc::clone(config), modules: Vec::new(), launches: 0, untimed, goes_on }
    }

    /// Returns the configuration of the device.
    #[must_use]
    pub fn config(&self) -> &GpuConfig {
        &self.config
    }

    /// Returns the number of modules.
    #[must_use]
    pub fn modules(&self) -> usize {
        self.modules.len()
    }

    /// Returns the kernel called `name` of a module.
    ///
    /// # Errors
    /// [`DeviceError::NoKernel`] if the module lacks it, [`DeviceError::Refused`] if it cannot be executed.
    pub fn kernel(&self, module: usize, name: &str) -> Result<Arc<Kernel>> {
        let none = || DeviceError::NoKernel { module, kernel: name.into() };
        let found = self.modules.get(module).ok_or_else(none)?.find(name);
        found.map_err(|error| match error {
            KernelError::Refused(refused) => DeviceError::Refused(refused),
            _ => none(),
        })
    }

    /// Returns the variable called `name` of a module.
    #[must_use]
    pub fn symbol(&self, module: usize, name: &str) -> Option<ModuleVariable> {
        let found = self.modules.get(module)?;
        if let Some((address, bytes)) = found.global(name) {
            return Some(ModuleVariable { address, bytes });
        }
        let base = CONST_WINDOW + module as u64 * CONSTANTS_OF_A_MODULE;
        found.constant(name).map(|(offset, bytes)| ModuleVariable { address: base + offset, bytes })
    }

    /// Allocates memory at a multiple of `alignment`. Returns the operation that a replay applies.
    ///
    /// # Errors
    /// Memory is exhausted.
    pub fn allocate(
        &mut self,
        bytes: u64,
        alignment: u64,
        memory: &mut DeviceMemory,
    ) -> Result<DeviceOperation> {
        let alignment = alignment.clamp(BUFFER_ALIGNMENT, 1 << 21).next_power_of_two();
        let address = memory.alloc_aligned(bytes, alignment, "cudaMalloc")?;
        if let Some(untimed) = &mut self.untimed {
            untimed.memory.alloc_at(address, bytes, "cudaMalloc")?;
        }
        Ok(DeviceOperation::Allocate { address, bytes })
    }

    /// Reads the bytes of all rows, without gaps.
    ///
    /// # Errors
    /// A row is not inside a buffer or the constants.
    pub fn read(&self, rows: PitchedRows, memory: &DeviceMemory) -> Result<Vec<u8>> {
        let rows = rows.joined()?;
        let mut bytes = Vec::new();
        for address in self.addresses(rows) {
            let address = address?;
            match self.constants(address, rows.width)? {
                Some((module, range)) => bytes.extend_from_slice(&self.modules[module].constants()[range]),
                None => bytes.extend_from_slice(memory.bytes(address, rows.width)?),
            }
        }
        Ok(bytes)
    }

    /// Checks that rows are inside buffers or constants.
    ///
    /// # Errors
    /// The first row that is not.
    pub fn check(&self, rows: PitchedRows, memory: &DeviceMemory) -> Result<()> {
        let rows = rows.joined()?;
        for address in self.addresses(rows) {
            let address = address?;
            if self.constants(address, rows.width)?.is_none() && !memory.holds(address, rows.width) {
                memory.bytes(address, rows.width)?;
            }
        }
        Ok(())
    }

    /// Returns the address of each row, or an error once the device must stop.
    fn addresses(&self, rows: PitchedRows) -> impl Iterator<Item = Result<u64>> {
        rows.addresses().enumerate().map(|(at, address)| {
            let must_stop = at % ROWS_BETWEEN == ROWS_BETWEEN - 1 && !(self.goes_on)();
            if must_stop { Err(DeviceError::Stopped) } else { Ok(address) }
        })
    }

    /// Returns the module and the range of its constants at an address; `None` for device memory.
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

    /// Applies an operation, to both memories if there are two. A launch is prepared, and the GPU must run it.
    ///
    /// # Errors
    /// The operation is wrong and had no effect, or the device was stopped during the operation.
    pub fn apply(
        &mut self,
        operation: &DeviceOperation,
        memory: &mut DeviceMemory,
    ) -> Result<Option<LaunchedKernel>> {
        match operation {
            DeviceOperation::Module { text } => self.load(text, memory)?,
            DeviceOperation::Launch(launch) => return self.launch(launch, memory).map(Some),
            DeviceOperation::Write { rows, bytes } if rows.address < GLOBALS_BASE => {
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

    /// Applies an operation to one memory.
    fn change(&self, operation: &DeviceOperation, memory: &mut DeviceMemory) -> Result<()> {
        match operation {
            DeviceOperation::Allocate { address, bytes } => {
                memory.alloc_at(*address, *bytes, "cudaMalloc")?
            }
            DeviceOperation::Free { address } => memory.free(*address)?,
            DeviceOperation::Write { rows, bytes } => {
                let rows = rows.joined()?;
                let (width, height) = (rows.width, rows.height);
                if width.checked_mul(height) != Some(bytes.len() as u64) {
                    return Err(DeviceError::Length { bytes: bytes.len(), height, width });
                }
                self.check_buffers(rows, memory)?;
                for (address, row) in self.addresses(rows).zip(bytes.chunks(width.max(1) as usize)) {
                    memory.write(address?, row)?;
                }
            }
            DeviceOperation::Fill { rows, byte } => {
                let rows = rows.joined()?;
                self.check_buffers(rows, memory)?;
                for address in self.addresses(rows) {
                    memory.set(address?, rows.width, |row| row.fill(*byte))?;
                }
            }
            DeviceOperation::Copy { to, from, pitch } => {
                let source = PitchedRows { address: *from, pitch: *pitch, ..*to };
                self.check_buffers(*to, memory)?;
                let bytes = self.read(source, memory)?;
                let rows = to.joined()?;
                let mut rest = bytes.as_slice();
                for address in self.addresses(rows) {
                    let (row, after) = rest.split_at_checked(rows.width as usize).unwrap_or((rest, &[]));
                    memory.set(address?, row.len() as u64, |out| out.copy_from_slice(row))?;
                    rest = after;
                }
            }
            DeviceOperation::Texture { texture } => drop(memory.create_texture(texture.clone())?),
            DeviceOperation::Module { .. }
            | DeviceOperation::Launch(_)
            | DeviceOperation::Refused(_)
            | DeviceOperation::Queue { .. }
            | DeviceOperation::Record { .. }
            | DeviceOperation::Wait { .. }
            | DeviceOperation::Synchronize(_)
            | DeviceOperation::Priority { .. } => {}
        }
        Ok(())
    }

    /// Checks that all rows are inside buffers before any row is changed.
    fn check_buffers(&self, rows: PitchedRows, memory: &DeviceMemory) -> Result<()> {
        let rows = rows.joined()?;
        for address in self.addresses(rows) {
            let address = address?;
            if !memory.holds(address, rows.width) {
                memory.bytes(address, rows.width)?;
            }
        }
        Ok(())
    }

    /// Loads a module. Its variables follow the variables of the other modules. Its kernels may launch kernels.
    fn load(&mut self, text: &str, memory: &mut DeviceMemory) -> Result<()> {
        let end = self.modules.iter().filter_map(Module::globals_end).max();
        let name = format!("module {}", self.modules.len());
        let module = Module::parse_from(&name, text, end.unwrap_or(GLOBALS_BASE))?;
        module.load(memory)?;
        memory.requests_mut().accept();
        if let Some(untimed) = &mut self.untimed {
            module.load(&mut untimed.memory)?;
            untimed.memory.requests_mut().accept();
        }
        self.modules.push(module);
        Ok(())
    }

    fn write_constants(&mut self, rows: PitchedRows, bytes: &[u8]) -> Result<()> {
        let wrong = || DeviceError::Constants { address: rows.address, bytes: rows.width };
        let (module, range) = self.constants(rows.address, rows.width)?.ok_or_else(wrong)?;
        self.modules[module].write_constants(range.start as u64, bytes).ok_or_else(wrong)
    }

    /// Checks work for a stream, without any effect.
    ///
    /// # Errors
    /// The device would refuse the work now.
    pub fn check_work(&self, work: &QueuedOperation, memory: &DeviceMemory) -> Result<()> {
        match work {
            QueuedOperation::Launch(launch) => self.prepare(launch, memory).map(drop),
            QueuedOperation::Write { rows, .. } | QueuedOperation::Fill { rows, .. } => {
                self.check(*rows, memory)
            }
            QueuedOperation::Copy { to, from, pitch } => {
                self.check(*to, memory)?;
                self.check(PitchedRows { address: *from, pitch: *pitch, ..*to }, memory)
            }
        }
    }

    /// Prepares a launch.
    fn prepare(&self, launch: &LaunchOperation, memory: &DeviceMemory) -> Result<LaunchedKernel> {
        let LaunchOperation { module, launch } = launch;
        let kernel = self.kernel(*module, &launch.kernel)?;
        let mut dims = LaunchDims::new(launch.grid, launch.block);
        dims.dynamic_shared = launch.dynamic_shared;
        dims.cluster = launch.cluster.unwrap_or(dims.cluster);
        let launched = LaunchedKernel::new(kernel, dims, launch.params.clone(), 0, &self.config)?;
        launched.check_room(&self.config.sm, 0, memory)?;
        Ok(launched)
    }

    /// Prepares a launch. Also executes it without timing if a second execution is requested.
    fn launch(&mut self, launch: &LaunchOperation, memory: &DeviceMemory) -> Result<LaunchedKernel> {
        let launched = self.prepare(launch, memory)?;
        self.launches += 1;
        if let Some(untimed) = &mut self.untimed {
            let LaunchedKernel { kernel, dims, params, .. } = &launched;
            let mut goes_on = |_: u64| (self.goes_on)();
            run_kernel(kernel, dims, params, &mut untimed.memory, &mut goes_on)?;
            // Only the output and the launches of the timed execution are kept.
            untimed.memory.take_printed();
            untimed.memory.requests_mut().take();
            untimed.ran = Some(launch.launch.kernel.clone());
        }
        Ok(launched)
    }

    /// Compares the memory with the second execution's memory, after a launch.
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

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_ptx::requests::RequestedLaunch;

    const TEXT: &str = ".version 7.8\n.target sm_60\n.address_size 64\n.visible .global .align 4 .u32 out;\n\
        .const .align 4 .u32 add = 5;\n.visible .entry k() {\n.reg .b32 %r<3>;\nld.const.u32 %r1, [add];\n\
        st.global.u32 [out], %r1;\nret;\n}\n";

    /// Creates a device with two modules of the same text, and its memory. Each launch executes twice.
    fn device() -> (Device, DeviceMemory) {
        let config = Arc::new(GpuConfig::load("gtx480").expect("built in"));
        let mut device = Device::new(&config, Some(1 << 20), Arc::new(|| true));
        let mut memory = DeviceMemory::new();
        for _ in 0..2 {
            device.apply(&DeviceOperation::Module { text: TEXT.into() }, &mut memory).expect("it loads");
        }
        (device, memory)
    }

    fn launch(module: usize) -> DeviceOperation {
        let launch = RequestedLaunch {
            kernel: "k".into(),
            grid: [1, 1, 1],
            block: [1, 1, 1],
            ..RequestedLaunch::default()
        };
        DeviceOperation::Launch(LaunchOperation { module, launch })
    }

    /// Runs the prepared launch, instead of a simulation.
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
        let operation =
            DeviceOperation::Write { rows: PitchedRows::one(add.address, 4), bytes: vec![9, 0, 0, 0] };
        device.apply(&operation, &mut memory).expect("a constant");
        for module in [0, 1] {
            run(&mut device, module, &mut memory);
            device.compare(&memory).expect("both executions agree");
        }
        let values =
            [first, second].map(|symbol| memory.read_u32s(symbol.address, 1).expect("a variable")[0]);
        assert_eq!(values, [5, 9]);
        let constant = device.read(PitchedRows::one(add.address, 4), &memory).expect("a constant");
        assert_eq!(constant, [9, 0, 0, 0]);
        let wrong = device.read(PitchedRows::one(add.address + 2, 4), &memory).expect_err("too long");
        assert_eq!(wrong.code(), error::INVALID_VALUE);
    }

    #[test]
    fn a_kernel_that_cannot_be_executed_is_refused_and_the_others_of_its_module_run() {
        let config = Arc::new(GpuConfig::load("gtx480").expect("built in"));
        let (mut device, mut memory) = (Device::new(&config, None, Arc::new(|| true)), DeviceMemory::new());
        let text = format!("{TEXT}.visible .entry bad() {{\nunknown.u32;\n}}\n");
        device.apply(&DeviceOperation::Module { text }, &mut memory).expect("it loads");
        run(&mut device, 0, &mut memory);
        let refused = device.kernel(0, "bad").expect_err("it cannot be executed");
        assert!(matches!(refused, DeviceError::Refused(_)));
        assert_eq!(refused.code(), error::NO_KERNEL_IMAGE);
        assert!(refused.to_string().starts_with("module 0:13: kernel 'bad': unsupported"), "{refused}");
        assert_eq!(device.kernel(0, "none").expect_err("none").code(), error::INVALID_DEVICE_FUNCTION);
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
        let DeviceOperation::Allocate { address, .. } = operation else { panic!("{operation:?}") };
        let rows = PitchedRows { address, pitch: 48, width: 32, height: 2 };
        let write = DeviceOperation::Write { rows, bytes: vec![1; 64] };
        let refused = device.apply(&write, &mut memory).err().expect("the second row leaves it");
        assert_eq!(refused.code(), error::INVALID_VALUE);
        assert_eq!(memory.bytes(address, 64).expect("it is there"), [0; 64]);
        device.apply(&DeviceOperation::Free { address }, &mut memory).expect("it is there");
        assert!(device.apply(&DeviceOperation::Free { address }, &mut memory).is_err(), "it is freed twice");
    }

    #[test]
    fn rows_without_bytes_take_no_time_and_long_work_stops() {
        let config = Arc::new(GpuConfig::load("gtx480").expect("built in"));
        let mut memory = DeviceMemory::new();
        let mut device = Device::new(&config, None, Arc::new(|| false));
        let Ok(DeviceOperation::Allocate { address, .. }) = device.allocate(1 << 16, 1, &mut memory) else {
            panic!("there is room")
        };
        // A loop over this number of rows would never end.
        for (width, height) in [(0, 1 << 60), (16, 0), (0, u64::MAX)] {
            let rows = PitchedRows { address, pitch: 16, width, height };
            for operation in [
                DeviceOperation::Fill { rows, byte: 1 },
                DeviceOperation::Write { rows, bytes: Vec::new() },
                DeviceOperation::Copy { to: rows, from: address, pitch: 16 },
            ] {
                device.apply(&operation, &mut memory).expect("nothing to do");
            }
            assert!(device.read(rows, &memory).expect("nothing to do").is_empty());
        }
        let many = PitchedRows { address, pitch: 2, width: 1, height: 1 << 15 };
        let stopped = device.apply(&DeviceOperation::Fill { rows: many, byte: 1 }, &mut memory).err();
        assert!(matches!(stopped, Some(DeviceError::Stopped)), "{stopped:?}");
        assert!(matches!(device.read(many, &memory), Err(DeviceError::Stopped)));
        let few = PitchedRows { height: 4095, ..many };
        device.apply(&DeviceOperation::Fill { rows: few, byte: 1 }, &mut memory).expect("it is short");
    }

    #[test]
    fn a_write_has_the_bytes_of_its_rows_and_rows_do_not_overlap() {
        let (mut device, mut memory) = device();
        let Ok(DeviceOperation::Allocate { address, .. }) = device.allocate(64, 1, &mut memory) else {
            panic!("there is room")
        };
        let rows = PitchedRows { address, pitch: 8, width: 8, height: 2 };
        for bytes in [15, 17] {
            let write = DeviceOperation::Write { rows, bytes: vec![1; bytes] };
            assert_eq!(device.apply(&write, &mut memory).err().map(|e| e.code()), Some(error::INVALID_VALUE));
        }
        // A pitch below the width is refused only for several rows.
        let close = |height| PitchedRows { address, pitch: 7, width: 8, height };
        for rows in [close(2), PitchedRows { pitch: 0, ..close(2) }] {
            let size = (8 * rows.height) as usize;
            let [write, fill] = [
                DeviceOperation::Write { rows, bytes: vec![1; size] },
                DeviceOperation::Fill { rows, byte: 1 },
            ]
            .map(|operation| device.apply(&operation, &mut memory).err());
            let copy = DeviceOperation::Copy {
                to: PitchedRows { pitch: 8, ..rows },
                from: address + 32,
                pitch: rows.pitch,
            };
            let copy = device.apply(&copy, &mut memory).err();
            for refused in
                [write, fill, copy, device.read(rows, &memory).err(), device.check(rows, &memory).err()]
            {
                assert!(matches!(refused, Some(DeviceError::Pitch { .. })), "{rows:?}: {refused:?}");
            }
        }
        assert_eq!(memory.bytes(address, 64).expect("it is there"), [0; 64], "nothing was done");
        device.apply(&DeviceOperation::Fill { rows: close(1), byte: 1 }, &mut memory).expect("one row");
    }

    #[test]
    fn allocations_begin_at_multiples_of_what_was_asked_for() {
        let (mut device, mut memory) = device();
        for (alignment, expected) in
            [(1, 256), (256, 256), (257, 512), (4096, 4096), (1 << 21, 1 << 21), (u64::MAX, 1 << 21)]
        {
            // A small allocation moves the next free address away from any large multiple.
            device.allocate(1, 1, &mut memory).expect("there is room");
            let Ok(DeviceOperation::Allocate { address, .. }) = device.allocate(1, alignment, &mut memory)
            else {
                panic!("there is room")
            };
            assert!(address.is_multiple_of(expected), "{address:#x} for {alignment}");
        }
    }
}
