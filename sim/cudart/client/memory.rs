//! Device memory, host memory and managed memory.
use crate::arrays::VolumeExtent;
use crate::connection::Connection;
use crate::pointers::{bytes, bytes_mut, put, put_field, put_if};
use crate::protocol::{Call, Property, error, sync};
use crate::runtime::{Managed, Runtime};
use crate::{Done, api};
use std::ffi::{c_int, c_void};

/// Alignment of device memory in bytes.
pub const ALIGNMENT: u64 = 256;
/// Flag of host memory that kernels may access.
const MAPPED: u32 = 2;
/// Max width of a linear texture in texels.
pub const MOST_LINEAR_TEXELS: usize = 1 << 27;
/// Page size of the host in bytes.
const PAGE_BYTES: u64 = 4096;

unsafe extern "C" {
    fn malloc(bytes: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
    fn mmap(
        at: *mut c_void,
        bytes: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn munmap(at: *mut c_void, bytes: usize) -> c_int;
}

/// PROT_READ and PROT_WRITE; MAP_PRIVATE, MAP_ANONYMOUS and MAP_FIXED_NOREPLACE.
const PROTECTION: c_int = 1 | 2;
const FLAGS: c_int = 0x02 | 0x20 | 0x10_0000;

/// Converts a device address to a pointer.
pub fn pointer(address: u64) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

impl Runtime {
    pub fn allocate(&mut self, size: u64, alignment: u64) -> Done<u64> {
        let address = self.connection.numbers(Call::Allocate, &[size, alignment], &[], 1)?[0];
        self.allocations.insert(address, size);
        Ok(address)
    }

    /// Frees device memory. Also unmaps the host memory of a managed allocation.
    pub fn release(&mut self, address: u64) -> Done {
        if address == 0 {
            return Ok(());
        }
        self.wait_for(sync::ALL, 0)?;
        self.connection.call(Call::Free, &[address], &[])?;
        self.allocations.remove(&address);
        if let Some(index) = self.managed.iter().position(|managed| managed.address == address) {
            let managed = self.managed.swap_remove(index);
            if managed.host != address {
                return Ok(());
            }
            // SAFETY: the range was mapped for this allocation alone, which the program gives back.
            unsafe { munmap(pointer(address), managed.known.len()) };
        }
        Ok(())
    }

    /// Allocates memory at the same address on host and device.
    pub fn allocate_managed(&mut self, size: u64) -> Done<u64> {
        self.wait_for(sync::ALL, 0)?;
        let size = size.max(1).checked_next_multiple_of(PAGE_BYTES).ok_or(error::MEMORY_ALLOCATION)?;
        let address = self.allocate(size, PAGE_BYTES)?;
        // SAFETY: the flags map a range that is free, or fail.
        let mapped = unsafe { mmap(pointer(address), size as usize, PROTECTION, FLAGS, -1, 0) };
        if mapped as usize as u64 != address {
            self.release(address)?;
            return Err(error::MEMORY_ALLOCATION);
        }
        self.managed.push(Managed::new(address, vec![0; size as usize]));
        Ok(address)
    }

    /// Lets kernels access host memory that the program owns, at another address on the device.
    pub fn register(&mut self, host: *mut c_void, size: usize, flags: u32) -> Done {
        if host.is_null() || size == 0 {
            return Err(error::INVALID_VALUE);
        }
        self.wait_for(sync::ALL, 0)?;
        if flags & MAPPED == 0 {
            self.streams.pinned.insert(host.expose_provenance(), size);
            return Ok(());
        }
        let address = self.allocate(size as u64, ALIGNMENT)?;
        // The device's memory holds zeros until the first launch.
        self.managed.push(Managed { address, host: host.expose_provenance() as u64, known: vec![0; size] });
        Ok(())
    }

    /// Ends the access of kernels to host memory.
    pub fn unregister(&mut self, host: *mut c_void) -> Done {
        self.wait_for(sync::ALL, 0)?;
        self.streams.pinned.remove(&(host as usize));
        let is_it =
            |managed: &&Managed| managed.host == host as usize as u64 && managed.host != managed.address;
        let found = self.managed.iter().find(is_it).map(|managed| managed.address);
        found.map_or(Ok(()), |address| self.release(address))
    }

    /// Returns the device address of a host address in shared memory.
    pub fn device_address(&self, host: *mut c_void) -> Done<u64> {
        let host = host as usize as u64;
        let found = self.managed.iter().find(|managed| managed.holds_host(host));
        found.map(|managed| managed.address + (host - managed.host)).ok_or(error::INVALID_VALUE)
    }

    /// Maps a host copy of a device variable at the variable's device address.
    pub fn share_variable(&mut self, symbol: *const c_void) -> Done<*mut c_void> {
        self.wait_for(sync::ALL, 0)?;
        let (address, size) = self.variable(symbol)?;
        let first = address - address % PAGE_BYTES;
        for page in (first..address + size).step_by(PAGE_BYTES as usize) {
            // Another variable may be in the same page.
            if self.managed.iter().any(|managed| managed.meets(page, PAGE_BYTES)) {
                continue;
            }
            // SAFETY: the flags map a range that is free, or fail.
            let mapped = unsafe { mmap(pointer(page), PAGE_BYTES as usize, PROTECTION, FLAGS, -1, 0) };
            if mapped as usize as u64 != page {
                return Err(error::MEMORY_ALLOCATION);
            }
        }
        let mut known = vec![0; size as usize];
        self.connection.read(address, &mut known)?;
        bytes_mut(pointer(address), known.len())?.copy_from_slice(&known);
        self.managed.push(Managed::new(address, known));
        Ok(pointer(address))
    }

    /// Sends the pages of managed memory that the host has changed.
    pub fn send_managed(&mut self) -> Done {
        let connection = &mut self.connection;
        for managed in &mut self.managed {
            let now = bytes(pointer(managed.host), managed.known.len())?;
            if now != managed.known {
                send_pages(connection, managed, now)?;
            }
        }
        Ok(())
    }

    /// Fetches managed memory after a launch.
    pub fn fetch_managed(&mut self) -> Done {
        for managed in &mut self.managed {
            self.connection.read(managed.address, &mut managed.known)?;
            bytes_mut(pointer(managed.host), managed.known.len())?.copy_from_slice(&managed.known);
        }
        Ok(())
    }
}

/// Sends each run of consecutive changed pages.
fn send_pages(connection: &mut Connection, managed: &mut Managed, now: &[u8]) -> Done {
    let page = PAGE_BYTES as usize;
    let mut start = 0;
    while start < now.len() {
        // The last page of a variable may be partial.
        let end_of = |at: usize| now.len().min(at + page);
        let differs = |at: usize| now[at..end_of(at)] != managed.known[at..end_of(at)];
        let end = (start..now.len()).step_by(page).find(|at| !differs(*at)).unwrap_or(now.len());
        if end > start {
            connection.write(managed.address + start as u64, &now[start..end])?;
        }
        start = end + page;
    }
    managed.known.copy_from_slice(now);
    Ok(())
}

/// Allocates pinned host memory, which for the simulator is ordinary memory.
pub fn host_memory(runtime: &mut Runtime, to: *mut *mut c_void, size: usize) -> Done {
    // SAFETY: every size is allowed.
    let memory = unsafe { malloc(size.max(1)) };
    if memory.is_null() {
        return Err(error::MEMORY_ALLOCATION);
    }
    runtime.streams.pinned.insert(memory.expose_provenance(), size.max(1));
    put(to, memory)
}

/// Allocates host memory. Mapped host memory is treated as managed memory.
pub fn shared_host_memory(runtime: &mut Runtime, to: *mut *mut c_void, size: usize, flags: u32) -> Done {
    match flags & MAPPED {
        0 => host_memory(runtime, to, size),
        _ => put(to, pointer(runtime.allocate_managed(size as u64)?)),
    }
}

/// Frees memory of [`host_memory`] or [`shared_host_memory`].
pub fn free_host(runtime: &mut Runtime, host: *mut c_void) -> Done {
    if runtime.is_managed(host as usize as u64) {
        return runtime.release(host as usize as u64);
    }
    runtime.wait_for(sync::ALL, 0)?;
    runtime.streams.pinned.remove(&(host as usize));
    // SAFETY: the program gives back memory that it got from `malloc` by this library.
    unsafe { free(host) };
    Ok(())
}

api! {
    fn cudaMalloc(to: *mut *mut c_void, size: usize) |runtime| malloc_device(runtime, to, size);
    fn cudaMallocAsync(to: *mut *mut c_void, size: usize, _stream: *mut c_void) |runtime| malloc_device(runtime, to, size);
    fn cudaFree(address: *mut c_void) |runtime| runtime.release(address as usize as u64);
    fn cudaFreeAsync(address: *mut c_void, _stream: *mut c_void) |runtime| runtime.release(address as usize as u64);
    fn cudaMallocManaged(to: *mut *mut c_void, size: usize, _flags: u32) |runtime| {
        if size == 0 {
            return Err(error::INVALID_VALUE);
        }
        put(to, pointer(runtime.allocate_managed(size as u64)?))
    };
    fn cudaMallocHost(to: *mut *mut c_void, size: usize) |runtime| host_memory(runtime, to, size);
    fn cudaHostAlloc(to: *mut *mut c_void, size: usize, flags: u32) |runtime| shared_host_memory(runtime, to, size, flags);
    fn cudaHostGetDevicePointer(to: *mut *mut c_void, host: *mut c_void, _flags: u32) |runtime| {
        put(to, pointer(runtime.device_address(host)?))
    };
    fn cudaHostGetFlags(flags: *mut u32, host: *mut c_void) |runtime| {
        put(flags, if runtime.device_address(host).is_ok() { MAPPED } else { 0 })
    };
    fn cudaFreeHost(host: *mut c_void) |runtime| free_host(runtime, host);
    fn cudaHostRegister(host: *mut c_void, size: usize, flags: u32) |runtime| runtime.register(host, size, flags);
    fn cudaHostUnregister(host: *mut c_void) |runtime| runtime.unregister(host);
    fn cudaMallocPitch(to: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize) |runtime| {
        let row = (width as u64).checked_next_multiple_of(ALIGNMENT).ok_or(error::INVALID_VALUE)?;
        let size = row.checked_mul(height as u64).ok_or(error::MEMORY_ALLOCATION)?;
        put(pitch, row as usize)?;
        malloc_device(runtime, to, size as usize)
    };
    fn cudaMalloc3D(to: *mut c_void, extent: VolumeExtent) |runtime| {
        let VolumeExtent { width, height, depth } = extent;
        let row = (width as u64).checked_next_multiple_of(ALIGNMENT).ok_or(error::INVALID_VALUE)?;
        let rows = (height as u64).checked_mul(depth as u64).ok_or(error::MEMORY_ALLOCATION)?;
        let size = row.checked_mul(rows).ok_or(error::MEMORY_ALLOCATION)?;
        let address = runtime.allocate(size, ALIGNMENT)?;
        for (index, word) in [address, row, width as u64, height as u64].into_iter().enumerate() {
            put_field(to, 8 * index, word)?;
        }
        Ok(())
    };
    fn cudaMemGetInfo(free: *mut usize, total: *mut usize) |runtime| {
        let words = runtime.connection.numbers(Call::MemoryInfo, &[], &[], 2)?;
        put_if(free, words[0] as usize);
        put_if(total, words[1] as usize);
        Ok(())
    };
    fn cudaPointerGetAttributes(attributes: *mut c_void, address: *const c_void) |runtime| {
        let at = address as usize as u64;
        let (kind, device, host) = match (runtime.is_managed(at), runtime.is_on_device(at)) {
            (true, _) => (3, at, at),
            (_, true) => (2, at, 0),
            _ => (0, 0, 0),
        };
        put_field(attributes, 0, kind as c_int)?;
        put_field(attributes, 4, if kind == 0 { -1 } else { 0 } as c_int)?;
        put_field(attributes, 8, device)?;
        put_field(attributes, 16, host)
    };
    // Managed memory is copied at the start and end of each kernel: prefetches and advice have no effect.
    fn cudaMemPrefetchAsync(_address: *const c_void, _size: usize, _device: c_int, _stream: *mut c_void) |_| Ok(());
    fn cudaMemPrefetchAsync_v2(_address: *const c_void, _size: usize, _to: u64, _flags: u32, _stream: *mut c_void) |_| Ok(());
    fn cudaMemAdvise(_address: *const c_void, _size: usize, _advice: c_int, _device: c_int) |_| Ok(());
    fn cudaMemAdvise_v2(_address: *const c_void, _size: usize, _advice: c_int, _location: u64) |_| Ok(());
    fn cudaStreamAttachMemAsync(_stream: *mut c_void, _address: *mut c_void, _size: usize, _flags: u32) |_| Ok(());
    fn cudaGetSymbolAddress(to: *mut *mut c_void, symbol: *const c_void) |runtime| {
        let (address, _) = runtime.variable(symbol)?;
        put(to, pointer(address))
    };
    fn cudaGetSymbolSize(to: *mut usize, symbol: *const c_void) |runtime| {
        let (_, size) = runtime.variable(symbol)?;
        put(to, size as usize)
    };
}

/// Allocates device memory. An allocation of 0 bytes is a null pointer.
fn malloc_device(runtime: &mut Runtime, to: *mut *mut c_void, size: usize) -> Done {
    let address = if size == 0 { 0 } else { runtime.allocate(size as u64, ALIGNMENT)? };
    put(to, pointer(address))
}

impl Runtime {
    /// Returns a property of the device. The first call fetches all properties.
    pub fn property(&mut self, property: Property) -> Done<u64> {
        if self.properties.is_none() {
            let words = self.connection.numbers(Call::Device, &[], &[], Property::Count as usize)?;
            self.properties = Some(words);
        }
        Ok(self.properties.as_ref().map_or(0, |words| words[property as usize]))
    }
}
