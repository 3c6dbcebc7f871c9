//! Registration of modules, kernels and variables, and launches of kernels.
use crate::connection::say;
use crate::pointers::{field, get, put, put_field, text};
use crate::protocol::{Call, MODULE_BYTES, Property, error};
use crate::runtime::{RegisteredKernel, RegisteredVariable, Runtime};
use crate::work::Work;
use crate::{Done, api, entry, pointers};
use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void};

/// First word of the structure that points to a fat binary.
const WRAPPER_MAGIC: u32 = 0x4662_43b1;

/// Version of that structure in a program with relocatable device code. It then also points to a list of fat binaries.
const LINKED_VERSION: u32 = 2;

/// Dimensions of a grid or block.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Dim3 {
    x: u32,
    y: u32,
    z: u32,
}

/// Configuration of a launch, from `<<<...>>>`.
#[derive(Clone, Copy)]
pub struct LaunchConfiguration {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: *mut c_void,
    /// Blocks of a cluster in x, y and z; zeros: as the kernel demands.
    cluster: [u32; 3],
}

impl LaunchConfiguration {
    /// Creates a configuration from the sides of grid and block.
    pub fn new(grid: [u32; 3], block: [u32; 3], shared: usize, stream: *mut c_void) -> Self {
        let [grid, block] = [grid, block].map(|[x, y, z]| Dim3 { x, y, z });
        LaunchConfiguration::plain(grid, block, shared, stream)
    }

    /// Creates a configuration with the clusters that the kernel demands.
    fn plain(grid: Dim3, block: Dim3, shared: usize, stream: *mut c_void) -> Self {
        LaunchConfiguration { grid, block, shared, stream, cluster: [0; 3] }
    }

    /// Reads `CUlaunchConfig`.
    pub fn of_driver(config: *const c_void) -> Done<Self> {
        let shared: u32 = field(config, 24)?;
        let (grid, block) = (field(config, 0)?, field(config, 12)?);
        Ok(LaunchConfiguration::plain(grid, block, shared as usize, field(config, 32)?))
    }

    /// Returns the stream.
    pub fn stream(self) -> *mut c_void {
        self.stream
    }

    /// Reads `cudaKernelNodeParams`.
    pub fn of_node(params: *const c_void) -> Done<Self> {
        let shared: u32 = field(params, 32)?;
        let (grid, block) = (field(params, 8)?, field(params, 20)?);
        Ok(LaunchConfiguration::plain(grid, block, shared as usize, std::ptr::null_mut()))
    }
}

/// A launch with the values of its parameters.
#[derive(Clone)]
pub struct LaunchWork {
    /// Index of the kernel in the simulator, sides of grid and block, dynamic shared memory, and sides of a cluster.
    words: Vec<u64>,
    params: Vec<u8>,
}

impl LaunchWork {
    /// Reads the arguments of the kernel with this host function.
    pub fn new(
        runtime: &mut Runtime,
        function: *const c_void,
        shape: LaunchConfiguration,
        args: *const *const c_void,
    ) -> Done<Self> {
        let found = runtime.kernel(function)?;
        let mut params = vec![0; found.params.last().map_or(0, |(offset, bytes)| offset + bytes)];
        for (number, (offset, bytes)) in found.params.iter().enumerate() {
            let arg = get(args.wrapping_add(number))?;
            params[*offset..offset + bytes].copy_from_slice(pointers::bytes(arg, *bytes)?);
        }
        Ok(LaunchWork::of(found.number, shape, params))
    }

    /// Creates a launch with packed parameters.
    pub fn packed(
        runtime: &mut Runtime,
        function: *const c_void,
        shape: LaunchConfiguration,
        packed: &[u8],
    ) -> Done<Self> {
        let found = runtime.kernel(function)?;
        let mut params = packed.to_vec();
        // The size may include padding after the last parameter.
        params.resize(found.params.last().map_or(0, |(offset, bytes)| offset + bytes), 0);
        Ok(LaunchWork::of(found.number, shape, params))
    }

    fn of(number: u64, shape: LaunchConfiguration, params: Vec<u8>) -> Self {
        let LaunchConfiguration { grid, block, shared, cluster, .. } = shape;
        let sides = [grid.x, grid.y, grid.z, block.x, block.y, block.z].map(u64::from);
        let words = [number].into_iter().chain(sides).chain([shared as u64]).chain(cluster.map(u64::from));
        LaunchWork { words: words.collect(), params }
    }

    /// Launches the kernel. Outside of a stream, waits for its end, and managed memory is then equal on both sides.
    pub fn run(&self, runtime: &mut Runtime) -> Done {
        runtime.settle()?;
        runtime.send_managed()?;
        let printed = runtime.connection.call(Call::Launch, &self.words, &self.params)?.bytes;
        runtime.fetch_managed()?;
        print(&printed);
        Ok(())
    }
}

thread_local! {
    /// Stack of pushed launch configurations.
    static SHAPES: RefCell<Vec<LaunchConfiguration>> = const { RefCell::new(Vec::new()) };
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinary(wrapper: *const c_void) -> *mut *mut c_void {
    let mut index = 0;
    entry("__cudaRegisterFatBinary", |runtime| {
        index = runtime.modules.len();
        let loaded = load(runtime, wrapper);
        runtime.modules.push(loaded);
        loaded.map(drop)
    });
    // The program never dereferences the handle.
    std::ptr::without_provenance_mut(index + 1)
}

/// Loads the fat binary that a wrapper points to.
fn load(runtime: &mut Runtime, wrapper: *const c_void) -> Done<u64> {
    if field::<u32>(wrapper, 0)? != WRAPPER_MAGIC {
        say("the program registers something that is no fat binary");
        return Err(error::NO_KERNEL_IMAGE);
    }
    let mut binaries = vec![field(wrapper, 8)?];
    // Relocatable device code: the linker leaves the fat binaries of all files, and an empty one or one of machine code.
    let linked: *const c_void = field(wrapper, 16)?;
    if field::<u32>(wrapper, 4)? == LINKED_VERSION && !linked.is_null() {
        binaries.clear();
        loop {
            let next: *const c_void = field(linked, size_of::<usize>() * binaries.len())?;
            if next.is_null() {
                break;
            }
            binaries.push(next);
        }
    }
    let mut bytes = Vec::new();
    for binary in binaries {
        let size = u64::from(field::<u16>(binary, 6)?).saturating_add(field::<u64>(binary, 8)?);
        if size.saturating_add(bytes.len() as u64) > MODULE_BYTES {
            let sum = size.saturating_add(bytes.len() as u64);
            say(&format!("fat binaries of {sum} bytes: must be at most {MODULE_BYTES}"));
            return Err(error::NO_KERNEL_IMAGE);
        }
        bytes.extend_from_slice(pointers::bytes(binary, size as usize)?);
    }
    Ok(runtime.connection.numbers(Call::Module, &[], &bytes, 1)?[0])
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinaryEnd(_module: *mut *mut c_void) {}

#[unsafe(no_mangle)]
extern "C" fn __cudaUnregisterFatBinary(_module: *mut *mut c_void) {}

#[unsafe(no_mangle)]
extern "C" fn __cudaInitModule(_module: *mut *mut c_void) -> c_char {
    1
}

/// Returns the index of a module.
fn index(module: *mut *mut c_void) -> usize {
    (module as usize).wrapping_sub(1)
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFunction(
    module: *mut *mut c_void,
    function: *const c_void,
    _device_function: *const c_char,
    name: *const c_char,
    _thread_limit: c_int,
    _others: *const c_void,
) {
    entry("__cudaRegisterFunction", |runtime| {
        let kernel = RegisteredKernel::new(index(module), text(name)?);
        if kernel.module < runtime.modules.len() {
            runtime.kernels.insert(function as usize, kernel);
        }
        Ok(())
    });
}

/// Registers a variable or texture reference.
fn register(
    name_of_call: &'static str,
    module: *mut *mut c_void,
    host: *const c_void,
    name: *const c_char,
    norm: bool,
) {
    entry(name_of_call, |runtime| {
        let variable = RegisteredVariable { module: index(module), name: text(name)?, is_normalized: norm };
        if variable.module < runtime.modules.len() {
            runtime.variables.insert(host as usize, variable);
        }
        Ok(())
    });
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterVar(
    module: *mut *mut c_void,
    host: *const c_void,
    _device_address: *const c_char,
    name: *const c_char,
) {
    register("__cudaRegisterVar", module, host, name, false);
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterTexture(
    module: *mut *mut c_void,
    host: *const c_void,
    _device_address: *const *const c_void,
    name: *const c_char,
    _dimensions: c_int,
    normalized: c_int,
    _external: c_int,
) {
    register("__cudaRegisterTexture", module, host, name, normalized != 0);
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterSurface(
    _module: *mut *mut c_void,
    _host: *const c_void,
    _device_address: *const *const c_void,
    _name: *const c_char,
    _dimensions: c_int,
    _external: c_int,
) {
    entry("__cudaRegisterSurface", |runtime| runtime.not_supported("surface references"));
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterManagedVar(
    module: *mut *mut c_void,
    host: *mut *mut c_void,
    _device_address: *const c_char,
    name: *const c_char,
) {
    register("__cudaRegisterManagedVar", module, host.cast(), name, false);
    entry("__cudaRegisterManagedVar", |runtime| {
        // The host's code reads the variable's address from here.
        let shared = runtime.share_variable(host.cast())?;
        put(host, shared)
    });
}

#[unsafe(no_mangle)]
extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: *mut c_void,
) -> u32 {
    SHAPES.with_borrow_mut(|shapes| shapes.push(LaunchConfiguration::plain(grid, block, shared, stream)));
    0
}

api! {
    fn __cudaPopCallConfiguration(grid: *mut Dim3, block: *mut Dim3, shared: *mut usize, stream: *mut *mut c_void) |_| {
        let shape = SHAPES.with_borrow_mut(Vec::pop).ok_or(error::INVALID_CONFIGURATION)?;
        put(grid, shape.grid)?;
        put(block, shape.block)?;
        put(shared, shape.shared)?;
        put(stream, shape.stream)
    };
    // The handle of a kernel is its host function.
    fn __cudaGetKernel(handle: *mut *const c_void, function: *const c_void) |_| put(handle, function);
    fn cudaGetKernel(handle: *mut *const c_void, function: *const c_void) |_| put(handle, function);
    fn cudaGetFuncBySymbol(handle: *mut *const c_void, function: *const c_void) |_| put(handle, function);
    fn __cudaLaunchKernel(
        function: *const c_void, grid: Dim3, block: Dim3, args: *const *const c_void, shared: usize, stream: *mut c_void,
    ) |runtime| launch(runtime, function, LaunchConfiguration::plain(grid, block, shared, stream), args);
    fn cudaLaunchKernel(
        function: *const c_void, grid: Dim3, block: Dim3, args: *const *const c_void, shared: usize, stream: *mut c_void,
    ) |runtime| launch(runtime, function, LaunchConfiguration::plain(grid, block, shared, stream), args);
    fn cudaLaunchKernelExC(config: *const c_void, function: *const c_void, args: *const *const c_void) |runtime| {
        let shape = with_attributes(runtime, function, config)?;
        launch(runtime, function, shape, args)
    };
    fn cudaLaunchCooperativeKernel(
        function: *const c_void, grid: Dim3, block: Dim3, args: *const *const c_void, shared: usize, stream: *mut c_void,
    ) |runtime| {
        let shape = LaunchConfiguration::plain(grid, block, shared, stream);
        launch_cooperative(runtime, function, shape, args)
    };
    fn cudaFuncGetAttributes(attributes: *mut c_void, function: *const c_void) |runtime| {
        let [registers, shared, local, constant, threads, architecture] = runtime.kernel(function)?.facts;
        for (offset, bytes) in [(0, shared), (8, constant), (16, local)] {
            put_field(attributes, offset, bytes)?;
        }
        let limit = runtime.property(Property::SharedBytes)?.saturating_sub(shared);
        for (index, value) in [threads, registers, architecture, architecture, 1, limit, u64::MAX].into_iter().enumerate() {
            put_field(attributes, 24 + 4 * index, value as c_int)?;
        }
        Ok(())
    };
    fn cudaFuncSetAttribute(function: *const c_void, attribute: c_int, value: c_int) |runtime| {
        set_attribute(runtime, function, attribute, value)
    };
    fn cudaOccupancyMaxActiveClusters(clusters: *mut c_int, function: *const c_void, config: *const c_void) |runtime| {
        put(clusters, most_clusters(runtime, function, config)? as c_int)
    };
    fn cudaOccupancyMaxPotentialClusterSize(blocks: *mut c_int, function: *const c_void, config: *const c_void) |runtime| {
        put(blocks, potential_cluster(runtime, function, config)? as c_int)
    };
    fn cudaFuncSetCacheConfig(_function: *const c_void, _config: c_int) |_| Ok(());
    fn cudaFuncSetSharedMemConfig(_function: *const c_void, _config: c_int) |_| Ok(());
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int, function: *const c_void, threads: c_int, shared: usize,
    ) |runtime| occupancy(runtime, blocks, function, threads, shared);
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int, function: *const c_void, threads: c_int, shared: usize, _flags: u32,
    ) |runtime| occupancy(runtime, blocks, function, threads, shared);
}

pub fn occupancy(
    runtime: &mut Runtime,
    blocks: *mut c_int,
    function: *const c_void,
    threads: c_int,
    shared: usize,
) -> Done {
    let number = runtime.kernel(function)?.number;
    let threads = u64::try_from(threads).map_err(|_| error::INVALID_VALUE)?;
    put(blocks, query_occupancy(runtime, [number, threads, shared as u64], [0; 3])?.blocks as c_int)
}

/// A kernel's blocks that an SM holds at the same time, clusters that the GPU holds, and blocks of a cluster.
struct KernelOccupancy {
    blocks: u64,
    clusters: u64,
    cluster_blocks: u64,
}

/// Queries the occupancy of a kernel by its number, threads per block and shared memory. A cluster of zeros is that of the kernel.
fn query_occupancy(runtime: &mut Runtime, of: [u64; 3], cluster: [u32; 3]) -> Done<KernelOccupancy> {
    let words: Vec<u64> = of.into_iter().chain(cluster.map(u64::from)).collect();
    let found = runtime.connection.numbers(Call::Occupancy, &words, &[], 3)?;
    Ok(KernelOccupancy { blocks: found[0], clusters: found[1], cluster_blocks: found[2] })
}

/// Returns the occupancy of a launch. `cluster` replaces the launch's clusters.
fn launch_occupancy(
    runtime: &mut Runtime,
    function: *const c_void,
    config: *const c_void,
    cluster: Option<[u32; 3]>,
) -> Done<KernelOccupancy> {
    let LaunchConfiguration { block, shared, cluster: own, .. } = with_attributes(runtime, function, config)?;
    let number = runtime.kernel(function)?.number;
    let threads = [block.x, block.y, block.z].map(u64::from).iter().product();
    query_occupancy(runtime, [number, threads, shared as u64], cluster.unwrap_or(own))
}

/// Max blocks of a cluster on every GPU with clusters, and CUDA's number of the attribute that allows a kernel more.
const PORTABLE_CLUSTER: u64 = 8;
const ALLOWS_LARGER_CLUSTERS: c_int = 14;

/// Returns the max blocks of a cluster of a launch.
pub fn potential_cluster(runtime: &mut Runtime, function: *const c_void, config: *const c_void) -> Done<u64> {
    let demanded = launch_occupancy(runtime, function, config, Some([0; 3]))?.cluster_blocks;
    if demanded > 1 {
        return Ok(demanded);
    }
    let mut blocks = runtime.property(Property::ClusterBlocks)?.min(runtime.largest_cluster(function));
    while blocks > 1
        && launch_occupancy(runtime, function, config, Some([blocks as u32, 1, 1]))?.clusters == 0
    {
        blocks /= 2;
    }
    Ok(blocks)
}

/// Returns the max number of clusters of a launch that the GPU holds at the same time.
pub fn most_clusters(runtime: &mut Runtime, function: *const c_void, config: *const c_void) -> Done<u64> {
    Ok(launch_occupancy(runtime, function, config, None)?.clusters)
}

/// Sets an attribute of a kernel.
pub fn set_attribute(runtime: &mut Runtime, function: *const c_void, attribute: c_int, value: c_int) -> Done {
    runtime.kernel(function)?;
    let kernel =
        runtime.kernels.get_mut(&(function as usize)).filter(|_| attribute == ALLOWS_LARGER_CLUSTERS);
    if let Some(kernel) = kernel {
        kernel.has_large_clusters = value != 0;
    }
    Ok(())
}

/// Launches a kernel on its stream.
fn launch(
    runtime: &mut Runtime,
    function: *const c_void,
    shape: LaunchConfiguration,
    args: *const *const c_void,
) -> Done {
    let work = LaunchWork::new(runtime, function, shape, args)?;
    runtime.submit(shape.stream, Work::Launch(work))
}

/// CUDA's error code for a cooperative launch whose blocks do not fit on the GPU at the same time.
const COOPERATIVE_LAUNCH_TOO_LARGE: i32 = 720;
/// Bytes of a launch attribute, and numbers of the attributes that make a launch cooperative or give it clusters.
const ATTRIBUTE_BYTES: usize = 72;
const COOPERATIVE: u32 = 2;
const CLUSTER: u32 = 4;

/// Reads a launch with its attributes. `cudaLaunchConfig_t` and `CUlaunchConfig` have the same layout, except for the width of the
/// shared memory, whose upper half is 0 or padding.
pub fn with_attributes(
    runtime: &mut Runtime,
    function: *const c_void,
    config: *const c_void,
) -> Done<LaunchConfiguration> {
    let mut shape = LaunchConfiguration::of_driver(config)?;
    let (attributes, count): (*const c_void, u32) = (field(config, 40)?, field(config, 48)?);
    for at in (0..count as usize).map(|index| index * ATTRIBUTE_BYTES) {
        let value: [u32; 3] = field(attributes, at + 8)?;
        match field::<u32>(attributes, at)? {
            COOPERATIVE if value[0] != 0 => check_cooperative(runtime, function, shape)?,
            CLUSTER => shape.cluster = value,
            _ => {}
        }
    }
    let blocks = shape.cluster.map(u64::from).iter().product::<u64>();
    if blocks > runtime.largest_cluster(function) { Err(error::INVALID_CLUSTER_SIZE) } else { Ok(shape) }
}

impl Runtime {
    /// Returns the max blocks of a cluster that the attributes of a kernel allow.
    fn largest_cluster(&self, function: *const c_void) -> u64 {
        let kernel = self.kernels.get(&(function as usize));
        if kernel.is_some_and(|kernel| kernel.has_large_clusters) { u64::MAX } else { PORTABLE_CLUSTER }
    }
}

/// Checks that all blocks of a cooperative launch fit on the GPU at the same time.
pub fn check_cooperative(runtime: &mut Runtime, function: *const c_void, shape: LaunchConfiguration) -> Done {
    let LaunchConfiguration { grid, block, shared, .. } = shape;
    let [grid, block] =
        [grid, block].map(|sides| [sides.x, sides.y, sides.z].map(u64::from).iter().product::<u64>());
    let of = [runtime.kernel(function)?.number, block, shared as u64];
    let most = query_occupancy(runtime, of, [0; 3])?.blocks * runtime.property(Property::Sms)?;
    if grid > most { Err(COOPERATIVE_LAUNCH_TOO_LARGE) } else { Ok(()) }
}

/// Launches a kernel whose blocks may wait for each other.
fn launch_cooperative(
    runtime: &mut Runtime,
    function: *const c_void,
    shape: LaunchConfiguration,
    args: *const *const c_void,
) -> Done {
    check_cooperative(runtime, function, shape)?;
    launch(runtime, function, shape, args)
}

unsafe extern "C" {
    static stdout: *mut c_void;
    fn fwrite(from: *const c_void, size: usize, count: usize, file: *mut c_void) -> usize;
}

/// Prints the kernel's output to the program's standard output stream.
pub fn print(text: &[u8]) {
    if !text.is_empty() {
        // SAFETY: the C library's stream is valid until the process ends, and the bytes are a slice's.
        unsafe { fwrite(text.as_ptr().cast(), 1, text.len(), stdout) };
    }
}
