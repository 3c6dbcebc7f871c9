//! The driver API (`libcuda`): modules of PTX text, kernels by name, memory, streams and events. It shares its error
//! codes with the runtime.
use crate::connection::say;
use crate::kernels::{self, LaunchConfiguration, LaunchWork};
use crate::memory::pointer;
use crate::pointers::{bytes, get, put, put_if, text};
use crate::protocol::{Call, MODULE_BYTES, Property, error};
use crate::runtime::{RegisteredKernel, Runtime};
use crate::work::{CopyWork, FillWork, Work};
use crate::{Done, api, copies, device, errors, streams};
use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};

/// CUDA's error code for a name that is not found.
const NOT_FOUND: i32 = 500;
/// First bytes of machine code (ELF), and first word of a fat binary.
const ELF: &[u8] = b"\x7fELF";
const FAT_BINARY: u32 = 0xba55_ed50;
/// Bytes of the head of a fat binary and of an entry, and kind of an entry with PTX.
const HEAD_BYTES: usize = 16;
const ENTRY_BYTES: usize = 64;
const PTX: u16 = 1;
/// Kinds of inputs of the linker: machine code, PTX, a fat binary, an object, a library.
const INPUT_PTX: c_int = 1;
const INPUT_LIBRARY: c_int = 4;
/// Marks in the list of extra launch options: its end, the parameters, and their size.
const PARAMS: usize = 1;
const PARAMS_SIZE: usize = 2;

thread_local! {
    /// `true` if the only context is current in this host thread.
    static IS_CURRENT: Cell<bool> = const { Cell::new(false) };
}

/// The only context. The program never dereferences it.
const CONTEXT: *mut c_void = std::ptr::dangling_mut::<u64>().cast();

/// PTX that the linker has been given.
struct Linked(CString);

/// Wraps PTX text in a fat binary, the form in which the simulator takes modules.
pub fn wrapped(ptx: &[u8]) -> Vec<u8> {
    let padded = ptx.len().next_multiple_of(8);
    let mut out = vec![0; HEAD_BYTES + ENTRY_BYTES + padded];
    out[..4].copy_from_slice(&FAT_BINARY.to_le_bytes());
    out[4..8].copy_from_slice(&[1, 0, HEAD_BYTES as u8, 0]);
    out[8..16].copy_from_slice(&((ENTRY_BYTES + padded) as u64).to_le_bytes());
    let entry = &mut out[HEAD_BYTES..];
    entry[..2].copy_from_slice(&PTX.to_le_bytes());
    entry[4..8].copy_from_slice(&(ENTRY_BYTES as u32).to_le_bytes());
    entry[8..16].copy_from_slice(&(padded as u64).to_le_bytes());
    entry[28..32].copy_from_slice(&architecture(ptx).to_le_bytes());
    entry[ENTRY_BYTES..ENTRY_BYTES + ptx.len()].copy_from_slice(ptx);
    out
}

/// Returns the compute capability after `.target sm_`; 0 without one.
fn architecture(ptx: &[u8]) -> u32 {
    let text = String::from_utf8_lossy(ptx);
    let digits = text.split(".target sm_").nth(1).unwrap_or_default();
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().unwrap_or(0)
}

/// Loads an image: PTX text that ends with a zero, or a fat binary.
fn load(runtime: &mut Runtime, to: *mut *mut c_void, image: *const c_void) -> Done {
    let start = bytes(image, 4)?;
    let binary = if start == FAT_BINARY.to_le_bytes() {
        let head = bytes(image, HEAD_BYTES)?;
        let size = u64::from_le_bytes(head[8..16].try_into().unwrap_or_default());
        let whole = size.saturating_add(u64::from(head[6]));
        bytes(image, usize::try_from(whole).map_err(|_| error::INVALID_VALUE)?)?.to_vec()
    } else if start == ELF {
        say("a module of machine code: must be PTX");
        return Err(error::NO_KERNEL_IMAGE);
    } else {
        wrapped(text(image.cast())?.as_bytes())
    };
    if binary.len() as u64 > MODULE_BYTES {
        say(&format!("a module of {} bytes: must be at most {MODULE_BYTES}", binary.len()));
        return Err(error::NO_KERNEL_IMAGE);
    }
    let module = runtime.connection.numbers(Call::Module, &[], &binary, 1)?[0];
    runtime.modules.push(Ok(module));
    put(to, std::ptr::without_provenance_mut(runtime.modules.len()))
}

/// Returns the index of a module handle.
fn index(runtime: &Runtime, module: *mut c_void) -> Done<usize> {
    let index = (module as usize).checked_sub(1).filter(|index| *index < runtime.modules.len());
    index.ok_or(error::INVALID_HANDLE)
}

/// Finds a kernel. Its handle is an address that belongs to it alone.
fn function(runtime: &mut Runtime, to: *mut *mut c_void, module: *mut c_void, name: *const c_char) -> Done {
    let module = index(runtime, module)?;
    let handle = Box::into_raw(Box::new(0u8)).cast::<c_void>();
    runtime.kernels.insert(handle as usize, RegisteredKernel::new(module, text(name)?));
    let found = runtime.kernel(handle);
    if let Err(code) = found {
        runtime.kernels.remove(&(handle as usize));
        // SAFETY: it was made above, and no one else has it.
        drop(unsafe { Box::from_raw(handle.cast::<u8>()) });
        return Err(if code == error::INVALID_DEVICE_FUNCTION { NOT_FOUND } else { code });
    }
    put(to, handle)
}

/// Finds a variable of a module.
fn global(
    runtime: &mut Runtime,
    to: *mut u64,
    size: *mut usize,
    module: *mut c_void,
    name: *const c_char,
) -> Done {
    let module = runtime.modules[index(runtime, module)?]?;
    let found = runtime.connection.numbers(Call::Symbol, &[module], text(name)?.as_bytes(), 2);
    let words = found.map_err(|code| if code == error::INVALID_SYMBOL { NOT_FOUND } else { code })?;
    runtime.allocations.insert(words[0], words[1]);
    put_if(to, words[0]);
    put_if(size, words[1] as usize);
    Ok(())
}

/// Returns an attribute of a kernel by its number in `CUfunction_attribute`.
fn function_attribute(
    runtime: &mut Runtime,
    to: *mut c_int,
    attribute: c_int,
    function: *const c_void,
) -> Done {
    let [registers, shared, local, constant, threads, architecture] = runtime.kernel(function)?.facts;
    let limit = runtime.property(Property::SharedBytes)?.saturating_sub(shared);
    let values = [threads, shared, constant, local, registers, architecture, architecture, 0, limit];
    put(
        to,
        usize::try_from(attribute)
            .ok()
            .and_then(|index| values.get(index))
            .map_or(0, |value| *value as c_int),
    )
}

/// Returns offset and size of a kernel's parameter.
fn parameter(
    runtime: &mut Runtime,
    function: *const c_void,
    number: usize,
    offset: *mut usize,
    size: *mut usize,
) -> Done {
    let found = runtime.kernel(function)?;
    let (at, bytes) = found.params.get(number).ok_or(error::INVALID_VALUE)?;
    put(offset, *at)?;
    put_if(size, *bytes);
    Ok(())
}

/// Launches a kernel with its parameters as a list of pointers, or packed.
fn launch(
    runtime: &mut Runtime,
    function: *const c_void,
    shape: LaunchConfiguration,
    params: *const *const c_void,
    extra: *const *const c_void,
) -> Done {
    let work = if params.is_null() && !extra.is_null() {
        let (mut packed, mut size) = (std::ptr::null(), 0);
        for at in (0..).step_by(2) {
            let value = || get(extra.wrapping_add(at + 1));
            match get(extra.wrapping_add(at))? as usize {
                PARAMS => packed = value()?,
                PARAMS_SIZE => size = get(value()?.cast::<usize>())?,
                _ => break,
            }
        }
        LaunchWork::packed(runtime, function, shape, bytes(packed, size)?)?
    } else {
        LaunchWork::new(runtime, function, shape, params)?
    };
    runtime.submit(shape.stream(), Work::Launch(work))
}

fn copy(to: *mut c_void, from: *const c_void, size: usize, kind: c_int) -> Work {
    Work::flat(to, from, size, kind)
}

/// Creates a fill of contiguous elements.
fn fill(to: u64, value: u32, element: usize, count: usize) -> Work {
    let to = copies::CopySide::of(pointer(to), 0);
    Work::Fill(FillWork { to, value, element, width: count, height: 1 })
}

/// Creates a copy from `CUDA_MEMCPY2D`.
fn rows(params: *const c_void) -> Done<Work> {
    use crate::pointers::field;
    let side = |at: usize| -> Done<copies::CopySide> {
        let (x, y): (usize, usize) = (field(params, at)?, field(params, at + 8)?);
        let (kind, host, device): (u32, *const c_void, u64) =
            (field(params, at + 16)?, field(params, at + 24)?, field(params, at + 32)?);
        let pitch: usize = field(params, at + 48)?;
        let side = match kind {
            1 => copies::CopySide::of(host, pitch),
            2 => copies::CopySide::device(device, pitch),
            4 => copies::CopySide::of(pointer(device), pitch),
            _ => return Err(error::NOT_SUPPORTED),
        };
        Ok(side.moved(y * pitch + x))
    };
    let (from, to) = (side(0)?, side(56)?);
    let (width, height) = (field(params, 112)?, field(params, 120)?);
    // A side that states no kind is on the host if the other memory is not found on the device.
    Ok(Work::Copy(CopyWork { to, from, width, height, kind: copies::BY_ADDRESS }))
}

/// Returns an attribute of a pointer by its number in `CUpointer_attribute`.
fn pointer_attribute(runtime: &Runtime, to: *mut c_void, attribute: c_int, at: u64) -> Done {
    let is_managed = runtime.is_managed(at);
    let found = runtime.allocation(at);
    if found.is_none() && !is_managed {
        return Err(error::INVALID_VALUE);
    }
    let (start, size) = found.unwrap_or((at, 0));
    match attribute {
        1 => put(to.cast(), CONTEXT),
        2 => put(to.cast::<u32>(), 2),
        3 => put(to.cast::<u64>(), at),
        4 if is_managed => put(to.cast::<u64>(), at),
        8 => put(to.cast::<u32>(), u32::from(is_managed)),
        9 => put(to.cast::<c_int>(), 0),
        11 => put(to.cast::<u64>(), start),
        12 => put(to.cast::<u64>(), size),
        _ => Err(error::INVALID_VALUE),
    }
}

fn allocate(runtime: &mut Runtime, to: *mut u64, size: usize) -> Done {
    if size == 0 {
        return Err(error::INVALID_VALUE);
    }
    put(to, runtime.allocate(size as u64, crate::memory::ALIGNMENT)?)
}

/// Returns the linker's state.
fn linked<'a>(state: *mut c_void) -> Done<&'a mut Option<Linked>> {
    // SAFETY: the program gives a handle that it got from cuLinkCreate and has not destroyed.
    unsafe { state.cast::<Option<Linked>>().as_mut() }.ok_or(error::INVALID_HANDLE)
}

fn add(state: *mut c_void, kind: c_int, data: &[u8]) -> Done {
    let linked = linked(state)?;
    match kind {
        INPUT_PTX if linked.is_none() => {
            let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
            *linked = Some(Linked(CString::new(&data[..end]).map_err(|_| error::INVALID_PTX)?));
            Ok(())
        }
        // Device functions of CUDA's own libraries are in the executor.
        INPUT_LIBRARY => Ok(()),
        _ => {
            say("the linker takes one PTX text, and no machine code");
            Err(error::NOT_SUPPORTED)
        }
    }
}

api! {
    fn cuInit(_flags: u32) |_| Ok(());
    fn cuDriverGetVersion(to: *mut c_int) |_| put(to, device::version());
    fn cuDeviceGetCount(to: *mut c_int) |_| put(to, 1);
    fn cuDeviceGet(to: *mut c_int, number: c_int) |_| {
        device::check(number)?;
        put(to, 0)
    };
    fn cuDeviceGetName(to: *mut c_char, size: c_int, number: c_int) |_| {
        device::check(number)?;
        device::put_name(to, size)
    };
    fn cuDeviceTotalMem_v2(to: *mut usize, number: c_int) |runtime| {
        device::check(number)?;
        put(to, runtime.property(Property::Memory)? as usize)
    };
    fn cuDeviceGetAttribute(to: *mut c_int, attribute: c_int, number: c_int) |runtime| {
        device::check(number)?;
        put(to, device::attribute(runtime, attribute)? as c_int)
    };
    fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, number: c_int) |runtime| {
        device::check(number)?;
        put(major, device::attribute(runtime, device::MAJOR)? as c_int)?;
        put(minor, device::attribute(runtime, device::MINOR)? as c_int)
    };
    fn cuDeviceGetUuid_v2(to: *mut [u8; 16], number: c_int) |_| {
        device::check(number)?;
        put(to, *b"Selvedge device0")
    };
    fn cuDeviceCanAccessPeer(to: *mut c_int, _device: c_int, _peer: c_int) |_| put(to, 0);
    fn cuDevicePrimaryCtxRetain(to: *mut *mut c_void, number: c_int) |_| {
        device::check(number)?;
        put(to, CONTEXT)
    };
    fn cuDevicePrimaryCtxRelease_v2(number: c_int) |_| device::check(number);
    fn cuDevicePrimaryCtxReset_v2(number: c_int) |_| device::check(number);
    fn cuDevicePrimaryCtxSetFlags_v2(number: c_int, _flags: u32) |_| device::check(number);
    fn cuDevicePrimaryCtxGetState(number: c_int, flags: *mut u32, active: *mut c_int) |_| {
        device::check(number)?;
        put(flags, 0)?;
        put(active, 1)
    };
    fn cuCtxCreate_v2(to: *mut *mut c_void, _flags: u32, number: c_int) |_| {
        device::check(number)?;
        IS_CURRENT.set(true);
        put(to, CONTEXT)
    };
    fn cuCtxDestroy_v2(_context: *mut c_void) |_| {
        IS_CURRENT.set(false);
        Ok(())
    };
    fn cuCtxGetCurrent(to: *mut *mut c_void) |_| put(to, if IS_CURRENT.get() { CONTEXT } else { std::ptr::null_mut() });
    fn cuCtxSetCurrent(context: *mut c_void) |_| {
        IS_CURRENT.set(!context.is_null());
        Ok(())
    };
    fn cuCtxPushCurrent_v2(_context: *mut c_void) |_| {
        IS_CURRENT.set(true);
        Ok(())
    };
    fn cuCtxPopCurrent_v2(to: *mut *mut c_void) |_| {
        put_if(to, CONTEXT);
        Ok(())
    };
    fn cuCtxGetDevice(to: *mut c_int) |_| put(to, 0);
    fn cuCtxGetDevice_v2(to: *mut c_int, _context: *mut c_void) |_| put(to, 0);
    fn cuCtxSynchronize_v2(_context: *mut c_void) |runtime| runtime.synchronize();
    // There are no other contexts, so the third argument is not needed.
    fn cuStreamGetCtx_v2(_stream: *mut c_void, to: *mut *mut c_void) |_| put(to, CONTEXT);
    fn cuGetExportTable(_table: *mut *const c_void, _id: *const c_void) |_| {
        say("cuGetExportTable has undocumented functions, which the static CUDA runtime needs: link the shared one (nvcc -cudart shared)");
        Err(error::NOT_SUPPORTED)
    };
    fn cuCtxGetApiVersion(_context: *mut c_void, to: *mut u32) |_| put(to, device::version() as u32);
    fn cuCtxGetFlags(to: *mut u32) |_| put(to, 0);
    fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) |_| streams::priorities(least, greatest);
    fn cuCtxSynchronize() |runtime| runtime.synchronize();
    fn cuCtxSetCacheConfig(_config: c_int) |_| Ok(());
    fn cuCtxSetLimit(_limit: c_int, _value: usize) |_| Ok(());
    fn cuModuleLoadData(to: *mut *mut c_void, image: *const c_void) |runtime| load(runtime, to, image);
    fn cuModuleLoadDataEx(
        to: *mut *mut c_void, image: *const c_void, _count: u32, _options: *mut c_int, _values: *mut *mut c_void,
    ) |runtime| load(runtime, to, image);
    fn cuModuleLoadFatBinary(to: *mut *mut c_void, image: *const c_void) |runtime| load(runtime, to, image);
    fn cuModuleLoad(to: *mut *mut c_void, file: *const c_char) |runtime| {
        let mut image = std::fs::read(text(file)?).map_err(|_| FILE_NOT_FOUND)?;
        image.push(0);
        load(runtime, to, image.as_ptr().cast())
    };
    // Memory of modules is part of the whole run.
    fn cuModuleUnload(module: *mut c_void) |runtime| index(runtime, module).map(drop);
    fn cuModuleGetFunction(to: *mut *mut c_void, module: *mut c_void, name: *const c_char) |runtime| {
        function(runtime, to, module, name)
    };
    fn cuModuleGetGlobal_v2(to: *mut u64, size: *mut usize, module: *mut c_void, name: *const c_char) |runtime| {
        global(runtime, to, size, module, name)
    };
    // A library is a module, and its kernels are functions.
    fn cuLibraryLoadData(
        to: *mut *mut c_void, image: *const c_void, _jit: *mut c_int, _jit_values: *mut *mut c_void, _jit_count: u32,
        _options: *mut c_int, _values: *mut *mut c_void, _count: u32,
    ) |runtime| load(runtime, to, image);
    fn cuLibraryUnload(library: *mut c_void) |runtime| index(runtime, library).map(drop);
    fn cuLibraryGetModule(to: *mut *mut c_void, library: *mut c_void) |runtime| {
        index(runtime, library)?;
        put(to, library)
    };
    fn cuLibraryGetKernel(to: *mut *mut c_void, library: *mut c_void, name: *const c_char) |runtime| {
        function(runtime, to, library, name)
    };
    fn cuLibraryGetGlobal(to: *mut u64, size: *mut usize, library: *mut c_void, name: *const c_char) |runtime| {
        global(runtime, to, size, library, name)
    };
    fn cuKernelGetFunction(to: *mut *mut c_void, kernel: *mut c_void) |runtime| {
        runtime.kernel(kernel)?;
        put(to, kernel)
    };
    fn cuKernelGetAttribute(to: *mut c_int, attribute: c_int, kernel: *const c_void, _device: c_int) |runtime| {
        function_attribute(runtime, to, attribute, kernel)
    };
    fn cuKernelSetAttribute(_attribute: c_int, _value: c_int, kernel: *const c_void, _device: c_int) |runtime| {
        runtime.kernel(kernel).map(drop)
    };
    fn cuKernelSetCacheConfig(_kernel: *const c_void, _config: c_int, _device: c_int) |_| Ok(());
    fn cuKernelGetParamInfo(kernel: *const c_void, number: usize, offset: *mut usize, size: *mut usize) |runtime| {
        parameter(runtime, kernel, number, offset, size)
    };
    fn cuFuncGetParamInfo(function: *const c_void, number: usize, offset: *mut usize, size: *mut usize) |runtime| {
        parameter(runtime, function, number, offset, size)
    };
    fn cuFuncIsLoaded(state: *mut c_int, _function: *const c_void) |_| put(state, 1);
    fn cuFuncLoad(_function: *const c_void) |_| Ok(());
    fn cuModuleGetLoadingMode(to: *mut c_int) |_| put(to, 1);
    fn cuFuncGetModule(_to: *mut *mut c_void, _function: *const c_void) |runtime| runtime.not_supported("cuFuncGetModule");
    fn cuFuncGetAttribute(to: *mut c_int, attribute: c_int, function: *const c_void) |runtime| {
        function_attribute(runtime, to, attribute, function)
    };
    fn cuFuncSetAttribute(function: *const c_void, attribute: c_int, value: c_int) |runtime| {
        kernels::set_attribute(runtime, function, attribute, value)
    };
    fn cuOccupancyMaxActiveClusters(clusters: *mut c_int, function: *const c_void, config: *const c_void) |runtime| {
        put(clusters, kernels::most_clusters(runtime, function, config)? as c_int)
    };
    fn cuOccupancyMaxPotentialClusterSize(blocks: *mut c_int, function: *const c_void, config: *const c_void) |runtime| {
        put(blocks, kernels::potential_cluster(runtime, function, config)? as c_int)
    };
    fn cuFuncSetCacheConfig(_function: *const c_void, _config: c_int) |_| Ok(());
    fn cuFuncSetSharedMemConfig(_function: *const c_void, _config: c_int) |_| Ok(());
    fn cuLaunchKernel(
        function: *const c_void, grid_x: u32, grid_y: u32, grid_z: u32, x: u32, y: u32, z: u32, shared: u32,
        stream: *mut c_void, params: *const *const c_void, extra: *const *const c_void,
    ) |runtime| {
        let shape = LaunchConfiguration::new([grid_x, grid_y, grid_z], [x, y, z], shared as usize, stream);
        launch(runtime, function, shape, params, extra)
    };
    fn cuLaunchKernelEx(
        config: *const c_void, function: *const c_void, params: *const *const c_void, extra: *const *const c_void,
    ) |runtime| {
        let shape = kernels::with_attributes(runtime, function, config)?;
        launch(runtime, function, shape, params, extra)
    };
    fn cuLaunchCooperativeKernel(
        function: *const c_void, grid_x: u32, grid_y: u32, grid_z: u32, x: u32, y: u32, z: u32, shared: u32,
        stream: *mut c_void, params: *const *const c_void,
    ) |runtime| {
        let shape = LaunchConfiguration::new([grid_x, grid_y, grid_z], [x, y, z], shared as usize, stream);
        kernels::check_cooperative(runtime, function, shape)?;
        launch(runtime, function, shape, params, std::ptr::null())
    };
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int, function: *const c_void, threads: c_int, shared: usize,
    ) |runtime| kernels::occupancy(runtime, blocks, function, threads, shared);
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int, function: *const c_void, threads: c_int, shared: usize, _flags: u32,
    ) |runtime| kernels::occupancy(runtime, blocks, function, threads, shared);
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) |runtime| {
        let words = runtime.connection.numbers(Call::MemoryInfo, &[], &[], 2)?;
        put_if(free, words[0] as usize);
        put_if(total, words[1] as usize);
        Ok(())
    };
    fn cuMemAlloc_v2(to: *mut u64, size: usize) |runtime| allocate(runtime, to, size);
    fn cuMemAllocAsync(to: *mut u64, size: usize, _stream: *mut c_void) |runtime| allocate(runtime, to, size);
    fn cuMemAllocManaged(to: *mut u64, size: usize, _flags: u32) |runtime| {
        put(to, runtime.allocate_managed(size as u64)?)
    };
    fn cuMemFree_v2(address: u64) |runtime| runtime.release(address);
    fn cuMemFreeAsync(address: u64, _stream: *mut c_void) |runtime| runtime.release(address);
    fn cuMemGetAddressRange_v2(start: *mut u64, size: *mut usize, address: u64) |runtime| {
        let (base, bytes) = runtime.allocation(address).ok_or(NOT_FOUND)?;
        put_if(start, base);
        put_if(size, bytes as usize);
        Ok(())
    };
    fn cuMemAllocHost_v2(to: *mut *mut c_void, size: usize) |runtime| crate::memory::host_memory(runtime, to, size);
    fn cuMemHostAlloc(to: *mut *mut c_void, size: usize, flags: u32) |runtime| {
        crate::memory::shared_host_memory(runtime, to, size, flags)
    };
    fn cuMemFreeHost(host: *mut c_void) |runtime| crate::memory::free_host(runtime, host);
    fn cuMemHostGetDevicePointer_v2(to: *mut u64, host: *mut c_void, _flags: u32) |runtime| {
        put(to, runtime.device_address(host)?)
    };
    fn cuMemHostRegister_v2(host: *mut c_void, size: usize, flags: u32) |runtime| runtime.register(host, size, flags);
    fn cuMemHostUnregister(host: *mut c_void) |runtime| runtime.unregister(host);
    fn cuMemcpy(to: u64, from: u64, size: usize) |runtime| {
        copy(pointer(to), pointer(from), size, copies::BY_ADDRESS).run(runtime)
    };
    fn cuMemcpyAsync(to: u64, from: u64, size: usize, stream: *mut c_void) |runtime| {
        runtime.submit(stream, copy(pointer(to), pointer(from), size, copies::BY_ADDRESS))
    };
    fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, size: usize) |runtime| {
        copy(pointer(to), from, size, copies::HOST_TO_DEVICE).run(runtime)
    };
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, size: usize, stream: *mut c_void) |runtime| {
        runtime.submit(stream, copy(pointer(to), from, size, copies::HOST_TO_DEVICE))
    };
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, size: usize) |runtime| {
        copy(to, pointer(from), size, copies::DEVICE_TO_HOST).run(runtime)
    };
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, size: usize, stream: *mut c_void) |runtime| {
        runtime.submit(stream, copy(to, pointer(from), size, copies::DEVICE_TO_HOST))
    };
    fn cuMemcpyDtoD_v2(to: u64, from: u64, size: usize) |runtime| {
        copy(pointer(to), pointer(from), size, copies::DEVICE_TO_DEVICE).run(runtime)
    };
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, size: usize, stream: *mut c_void) |runtime| {
        runtime.submit(stream, copy(pointer(to), pointer(from), size, copies::DEVICE_TO_DEVICE))
    };
    fn cuMemcpy2D_v2(params: *const c_void) |runtime| rows(params)?.run(runtime);
    fn cuMemcpy2DUnaligned_v2(params: *const c_void) |runtime| rows(params)?.run(runtime);
    fn cuMemcpy2DAsync_v2(params: *const c_void, stream: *mut c_void) |runtime| runtime.submit(stream, rows(params)?);
    fn cuMemsetD8_v2(to: u64, value: u8, count: usize) |runtime| fill(to, value.into(), 1, count).run(runtime);
    fn cuMemsetD16_v2(to: u64, value: u16, count: usize) |runtime| fill(to, value.into(), 2, count).run(runtime);
    fn cuMemsetD32_v2(to: u64, value: u32, count: usize) |runtime| fill(to, value, 4, count).run(runtime);
    fn cuMemsetD8Async(to: u64, value: u8, count: usize, stream: *mut c_void) |runtime| {
        runtime.submit(stream, fill(to, value.into(), 1, count))
    };
    fn cuMemsetD16Async(to: u64, value: u16, count: usize, stream: *mut c_void) |runtime| {
        runtime.submit(stream, fill(to, value.into(), 2, count))
    };
    fn cuMemsetD32Async(to: u64, value: u32, count: usize, stream: *mut c_void) |runtime| {
        runtime.submit(stream, fill(to, value, 4, count))
    };
    fn cuPointerGetAttribute(to: *mut c_void, attribute: c_int, address: u64) |runtime| {
        pointer_attribute(runtime, to, attribute, address)
    };
    fn cuPointerGetAttributes(count: u32, attributes: *const c_int, values: *const *mut c_void, address: u64) |runtime| {
        (0..count as usize).try_for_each(|index| {
            let (attribute, to) = (get(attributes.wrapping_add(index))?, get(values.wrapping_add(index))?);
            // Values of a pointer that CUDA does not know are 0.
            let _ = pointer_attribute(runtime, to, attribute, address);
            Ok(())
        })
    };
    fn cuStreamCreate(to: *mut *mut c_void, flags: u32) |runtime| streams::make_stream(runtime, to, flags, 0);
    fn cuStreamCreateWithPriority(to: *mut *mut c_void, flags: u32, priority: c_int) |runtime| {
        streams::make_stream(runtime, to, flags, priority)
    };
    fn cuStreamDestroy_v2(handle: *mut c_void) |runtime| streams::end_stream(runtime, handle);
    fn cuStreamSynchronize(stream: *mut c_void) |runtime| runtime.synchronize_stream(stream);
    fn cuStreamQuery(stream: *mut c_void) |runtime| runtime.synchronize_stream(stream);
    fn cuStreamGetFlags(stream: *mut c_void, flags: *mut u32) |runtime| runtime.flags_of_stream(stream, flags);
    fn cuStreamGetPriority(stream: *mut c_void, priority: *mut c_int) |runtime| {
        runtime.priority_of_stream(stream, priority)
    };
    fn cuStreamGetCtx(_stream: *mut c_void, to: *mut *mut c_void) |_| put(to, CONTEXT);
    fn cuStreamIsCapturing(stream: *mut c_void, status: *mut c_int) |runtime| {
        put(status, c_int::from(runtime.graphs.captures(stream)))
    };
    fn cuStreamWaitEvent(stream: *mut c_void, event: *mut streams::CudaEvent, _flags: u32) |runtime| {
        streams::wait(runtime, stream, event)
    };
    fn cuEventCreate(to: *mut *mut streams::CudaEvent, _flags: u32) |_| streams::make_event(to);
    fn cuEventRecord(event: *mut streams::CudaEvent, stream: *mut c_void) |runtime| streams::record(runtime, event, stream);
    fn cuEventSynchronize(event: *mut streams::CudaEvent) |runtime| streams::synchronize_event(runtime, event);
    fn cuEventQuery(event: *mut streams::CudaEvent) |runtime| streams::synchronize_event(runtime, event);
    fn cuEventElapsedTime(to: *mut f32, start: *mut streams::CudaEvent, end: *mut streams::CudaEvent) |runtime| {
        streams::elapsed(runtime, to, start, end)
    };
    fn cuEventElapsedTime_v2(to: *mut f32, start: *mut streams::CudaEvent, end: *mut streams::CudaEvent) |runtime| {
        streams::elapsed(runtime, to, start, end)
    };
    fn cuEventRecordWithFlags(event: *mut streams::CudaEvent, stream: *mut c_void, _flags: u32) |runtime| {
        streams::record(runtime, event, stream)
    };
    fn cuEventDestroy_v2(event: *mut streams::CudaEvent) |runtime| streams::end_event(runtime, event);
    fn cuLinkCreate_v2(_count: u32, _options: *mut c_int, _values: *mut *mut c_void, to: *mut *mut c_void) |_| {
        put(to, Box::into_raw(Box::new(None::<Linked>)).cast())
    };
    fn cuLinkAddData_v2(
        state: *mut c_void, kind: c_int, data: *const c_void, size: usize, _name: *const c_char, _count: u32,
        _options: *mut c_int, _values: *mut *mut c_void,
    ) |_| add(state, kind, bytes(data, size)?);
    fn cuLinkAddFile_v2(
        state: *mut c_void, kind: c_int, file: *const c_char, _count: u32, _options: *mut c_int, _values: *mut *mut c_void,
    ) |_| add(state, kind, &std::fs::read(text(file)?).map_err(|_| FILE_NOT_FOUND)?);
    // The simulator executes PTX, so the linked image is the PTX.
    fn cuLinkComplete(state: *mut c_void, image: *mut *const c_void, size: *mut usize) |_| {
        let Linked(text) = linked(state)?.as_ref().ok_or(error::INVALID_VALUE)?;
        put(image, text.as_ptr().cast())?;
        put(size, text.as_bytes_with_nul().len())
    };
    fn cuLinkDestroy(state: *mut c_void) |_| {
        linked(state)?;
        // SAFETY: cuLinkCreate made it, and the program gives it back.
        drop(unsafe { Box::from_raw(state.cast::<Option<Linked>>()) });
        Ok(())
    };
    fn cuGetErrorName(code: c_int, to: *mut *const c_char) |_| put(to, name(code)?);
    fn cuGetErrorString(code: c_int, to: *mut *const c_char) |_| {
        name(code)?;
        put(to, errors::cudaGetErrorString(code))
    };
    fn cuProfilerStart() |_| Ok(());
    fn cuProfilerStop() |_| Ok(());
}

/// Finds a function by name. A search for a missing function is no refused work, so it is not reported.
#[unsafe(no_mangle)]
extern "C" fn cuGetProcAddress_v2(
    name: *const c_char,
    to: *mut *mut c_void,
    _version: c_int,
    _flags: u64,
    status: *mut c_int,
) -> i32 {
    let found = text(name).map_or(std::ptr::null_mut(), |name| find(&name));
    put_if(status, c_int::from(found.is_null()));
    put_if(to, found);
    if found.is_null() { NOT_FOUND } else { 0 }
}

#[unsafe(no_mangle)]
extern "C" fn cuGetProcAddress(name: *const c_char, to: *mut *mut c_void, version: c_int, flags: u64) -> i32 {
    cuGetProcAddress_v2(name, to, version, flags, std::ptr::null_mut())
}

/// CUDA's error code for a file that cannot be read.
const FILE_NOT_FOUND: i32 = 301;

/// Place of an address, as `Dl_info`.
#[repr(C)]
struct LibraryPlace {
    file: *const c_char,
    base: *mut c_void,
    name: *const c_char,
    symbol: *mut c_void,
}

/// RTLD_LAZY and RTLD_NOLOAD.
const LOADED: c_int = 1 | 4;

unsafe extern "C" {
    fn dladdr(address: *const c_void, place: *mut LibraryPlace) -> c_int;
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Returns the newest version of a function of this library, or null.
fn find(name: &str) -> *mut c_void {
    let null = std::ptr::null_mut::<c_void>();
    let mut place = LibraryPlace { file: null.cast(), base: null, name: null.cast(), symbol: null };
    // SAFETY: the address is in this library, whose file name is valid while it is loaded, and names end with a zero.
    unsafe {
        if dladdr(cuInit as *const c_void, &raw mut place) == 0 {
            return null;
        }
        let library = dlopen(place.file, LOADED);
        let versions = ["_v2", ""].map(|version| CString::new(format!("{name}{version}")));
        let found = versions.into_iter().flatten().map(|name| dlsym(library, name.as_ptr()));
        found.into_iter().find(|found| !found.is_null()).unwrap_or(null)
    }
}

/// The driver's names of the error codes.
const NAMES: [(i32, &CStr); 22] = [
    (0, c"CUDA_SUCCESS"),
    (1, c"CUDA_ERROR_INVALID_VALUE"),
    (2, c"CUDA_ERROR_OUT_OF_MEMORY"),
    (3, c"CUDA_ERROR_NOT_INITIALIZED"),
    (100, c"CUDA_ERROR_NO_DEVICE"),
    (101, c"CUDA_ERROR_INVALID_DEVICE"),
    (201, c"CUDA_ERROR_INVALID_CONTEXT"),
    (209, c"CUDA_ERROR_NO_BINARY_FOR_GPU"),
    (218, c"CUDA_ERROR_INVALID_PTX"),
    (301, c"CUDA_ERROR_FILE_NOT_FOUND"),
    (400, c"CUDA_ERROR_INVALID_HANDLE"),
    (401, c"CUDA_ERROR_ILLEGAL_STATE"),
    (500, c"CUDA_ERROR_NOT_FOUND"),
    (600, c"CUDA_ERROR_NOT_READY"),
    (700, c"CUDA_ERROR_ILLEGAL_ADDRESS"),
    (701, c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"),
    (702, c"CUDA_ERROR_LAUNCH_TIMEOUT"),
    (710, c"CUDA_ERROR_ASSERT"),
    (719, c"CUDA_ERROR_LAUNCH_FAILED"),
    (720, c"CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"),
    (801, c"CUDA_ERROR_NOT_SUPPORTED"),
    (999, c"CUDA_ERROR_UNKNOWN"),
];

fn name(code: c_int) -> Done<*const c_char> {
    let found = NAMES.iter().find(|(known, _)| *known == code);
    found.map(|(_, name)| name.as_ptr()).ok_or(error::INVALID_VALUE)
}
