//! Functional device memory: named buffers with red zones, which hold the values that kernels read and write.
//!
//! A clone of the memory shares the bytes of each buffer until one of both writes to it.
//!
//! Addresses grow upwards from [`HEAP_BASE`]. Lower addresses are reserved for the windows of generic addressing (see
//! [`crate::ptx`]). Each buffer has its own zeroed allocation, so untouched pages cost nothing.
//!
//! Programs that share the GPU each have an address space. The spaces lie next to each other in physical memory:
//! caches and DRAM see [`physical`] addresses. Program 0 has equal addresses in both.

use crate::clusters::RunningClusters;
use crate::ptx::{Fault, GLOBALS_BASE, LOCAL_REGION};
use crate::requests::KernelRequests;
use crate::texture::Texture;
use selvedge_state::{Reader, State, StateError, Writer};
use std::collections::BTreeSet;
use std::fmt;
use std::hint::black_box;
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// First device address that [`DeviceMemory::alloc`] hands out, in bytes. Lower addresses are never mapped.
pub const HEAP_BASE: u64 = 0x1000_0000;
/// Default capacity of a device memory, in bytes.
pub const DEFAULT_BYTES: u64 = 8 << 30;

/// Alignment of every buffer, in bytes.
pub const BUFFER_ALIGNMENT: u64 = 256;

/// Min unmapped bytes after every buffer. An access that runs off the end of a buffer cannot hit the next one.
pub const RED_ZONE: u64 = 256;

/// Handle of the first texture. Addresses are always smaller.
const FIRST_TEXTURE: u64 = 0x7e << 56;

/// Max bytes of printed text that wait for the host to take them.
pub const PRINT_CAPACITY: usize = 1 << 20;

/// Bits of an address within its program's space, local memory included. The program's number is in the bits above.
const PROGRAM_SHIFT: u32 = 42;

/// Returns the physical address, as caches and DRAM see it, of `address` in a program's space.
#[must_use]
pub fn physical(program: u8, address: u64) -> u64 {
    address | u64::from(program) << PROGRAM_SHIFT
}

/// Returns the number of the program that owns a physical address.
#[must_use]
pub fn program_of(physical: u64) -> u8 {
    (physical >> PROGRAM_SHIFT) as u8
}

/// Returns the address within its program's space.
#[must_use]
pub fn within_program(physical: u64) -> u64 {
    physical & ((1 << PROGRAM_SHIFT) - 1)
}

/// Error of a host-side request to device memory.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The request exceeds the free capacity.
    #[error(
        "cannot allocate {bytes} bytes for buffer '{name}': {left} of {capacity} bytes of device memory are left (--max-memory)"
    )]
    OutOfMemory {
        /// Name of the requested buffer.
        name: String,
        /// Requested size, in bytes.
        bytes: u64,
        /// Bytes still free.
        left: u64,
        /// Capacity in bytes.
        capacity: u64,
    },
    /// The host has no memory for a buffer.
    #[error("cannot allocate {bytes} bytes for buffer '{name}': the host has no memory for them")]
    NoHostMemory {
        /// Name of the requested buffer.
        name: String,
        /// Requested size, in bytes.
        bytes: u64,
    },
    /// The range passed to [`DeviceMemory::alloc_at`] is not free or not aligned.
    #[error(
        "cannot place buffer '{name}' of {bytes} bytes at {address:#x}: the range is taken or misaligned"
    )]
    Occupied {
        /// Name of the requested buffer.
        name: String,
        /// Requested address.
        address: u64,
        /// Requested size, in bytes.
        bytes: u64,
    },
    /// The range is not entirely inside one buffer.
    #[error("{bytes} bytes at {address:#x} are not inside a buffer ({nearest})")]
    OutOfBounds {
        /// First requested byte.
        address: u64,
        /// Number of requested bytes.
        bytes: u64,
        /// Description of the nearest buffer.
        nearest: String,
    },
    /// No buffer starts at the address passed to [`DeviceMemory::free`].
    #[error("cannot free {address:#x}: no buffer starts there ({nearest})")]
    NotABuffer {
        /// The address passed.
        address: u64,
        /// Description of the nearest buffer.
        nearest: String,
    },
    /// [`DeviceMemory::create_texture`] rejects the texture.
    #[error("cannot create a texture: {why}")]
    BadTexture {
        /// Rejected property and its valid values.
        why: String,
    },
}

/// Text that kernels printed.
#[derive(Debug, Clone, Default, PartialEq, Eq, State)]
pub struct PrintedText {
    /// The text, in printing order.
    pub text: String,
    /// Number of messages that were dropped because [`PRINT_CAPACITY`] was used up.
    pub lost: u64,
}

/// Instructions that read lanes in which they do not execute.
#[derive(Debug, Clone, Default)]
struct IdleReads {
    /// File, kernel and line of each reported instruction.
    known: BTreeSet<(String, String, u32)>,
    /// Messages since the last [`DeviceMemory::take_idle_reads`].
    new: Vec<String>,
}

/// A change that the host or a kernel made to device memory, for a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Bytes were written.
    Wrote {
        /// First address.
        address: u64,
        /// Number of bytes.
        bytes: u64,
    },
    /// A buffer was allocated.
    Allocated {
        /// First address of the buffer.
        address: u64,
        /// Size of the buffer, in bytes.
        bytes: u64,
    },
    /// A buffer was freed.
    Freed {
        /// First address of the buffer.
        address: u64,
    },
}

/// A read by a host program.
#[derive(Debug, Clone, PartialEq, Eq, State)]
pub struct HostRead {
    /// First address.
    pub address: u64,
    /// Bytes read.
    pub bytes: Vec<u8>,
}

/// Recorded host reads. Shared, because reads take `&self`.
type Reads = Arc<Mutex<Vec<HostRead>>>;

#[derive(Debug, Clone)]
struct MemoryBuffer {
    base: u64,
    name: String,
    /// The bytes, which clones of the memory share until they write.
    data: Arc<Vec<u8>>,
}

/// Granularity of checkpoints, in bytes: a checkpoint leaves out pages of zeros.
const PAGE_BYTES: usize = 4096;

impl State for MemoryBuffer {
    fn save(&self, to: &mut Writer) {
        self.base.save(to);
        self.name.save(to);
        self.data.len().save(to);
        for page in self.data.chunks(PAGE_BYTES) {
            let is_used = page.iter().any(|byte| *byte != 0);
            is_used.save(to);
            if is_used {
                to.put(page);
            }
        }
    }
    fn load(&mut self, from: &mut Reader) -> Result<(), StateError> {
        *self = Self::read(from)?;
        Ok(())
    }
    fn read(from: &mut Reader) -> Result<Self, StateError> {
        let (base, name, bytes) = (u64::read(from)?, String::read(from)?, u64::read(from)?);
        let mut data = zeros(bytes).ok_or_else(|| from.not(bytes, "buffer that the host has memory for"))?;
        for page in data.chunks_mut(PAGE_BYTES) {
            if bool::read(from)? {
                page.copy_from_slice(from.take(page.len())?);
            }
        }
        Ok(MemoryBuffer { base, name, data: Arc::new(data) })
    }
    fn is_value() -> bool {
        true
    }
}

impl MemoryBuffer {
    fn end(&self) -> u64 {
        self.base + self.data.len() as u64
    }

    fn holds(&self, first: u64, last: u64) -> bool {
        first >= self.base && last >= first && last - self.base < self.data.len() as u64
    }
}

/// Address space of a program that is not selected.
#[derive(Debug, Clone, State)]
struct AddressSpace {
    buffers: Vec<MemoryBuffer>,
    next: u64,
    last_hit: usize,
    textures: Vec<Texture>,
}

impl Default for AddressSpace {
    fn default() -> Self {
        Self { buffers: Vec::new(), next: HEAP_BASE, last_hit: 0, textures: Vec::new() }
    }
}

/// Source of the values in memory that no buffer contains. They depend on the address only.
pub trait OutsideValues: fmt::Debug + Send + Sync {
    /// Writes the values from `address`, in the program's space, to `out`.
    fn fill(&self, address: u64, out: &mut [u8]);
}

/// The values in a GPU's global memory. Host and kernels work in the address space of the selected program. This is
/// program 0 unless [`DeviceMemory::select`] is called.
#[derive(Debug, Clone, State)]
pub struct DeviceMemory {
    /// Sorted by address.
    buffers: Vec<MemoryBuffer>,
    next: u64,
    used: u64,
    #[state(skip = "an option")]
    capacity: u64,
    /// `true`: loads outside every buffer read 0, and stores there have no effect.
    #[state(skip = "an option")]
    zero_outside: bool,
    /// Values of a line outside every buffer; `None`: zeros.
    #[state(skip = "an option")]
    outside: Option<Arc<dyn OutsideValues>>,
    /// Index of the buffer that the last checked access hit.
    last_hit: usize,
    textures: Vec<Texture>,
    printed: PrintedText,
    requests: KernelRequests,
    clusters: RunningClusters,
    /// Program whose address space is selected.
    program: u8,
    /// Address spaces of the other programs, by program number.
    parked: Vec<AddressSpace>,
    /// Changes since the last [`DeviceMemory::take_changes`]; `None` unless recorded.
    #[state(skip = "a run that is recorded has no checkpoint")]
    changes: Option<Vec<Change>>,
    /// Copies from the host since the last [`DeviceMemory::take_copies`], as physical addresses and bytes; `None`
    /// unless recorded.
    #[state(skip = "empty while a launch runs")]
    copies: Option<Vec<(u64, u64)>>,
    /// Reads of lanes that do not execute the instruction; `None` unless recorded.
    #[state(skip = "an option")]
    idle_reads: Option<IdleReads>,
    /// Reads by the host program; `None` unless recorded.
    #[state(skip = "only while a host program runs")]
    reads: Option<Reads>,
}

impl Default for DeviceMemory {
    fn default() -> Self {
        Self::new()
    }
}

macro_rules! typed_access {
    ($($read:ident $write:ident $type:ty),*) => {$(
        #[doc = concat!("Reads `count` little-endian `", stringify!($type), "` values from `address`.")]
        ///
        /// # Errors
        /// [`MemoryError::OutOfBounds`] when the range leaves its buffer.
        pub fn $read(&self, address: u64, count: usize) -> Result<Vec<$type>, MemoryError> {
            const SIZE: usize = size_of::<$type>();
            let bytes = self.bytes(address, (count * SIZE) as u64)?;
            Ok(bytes.as_chunks::<SIZE>().0.iter().map(|c| <$type>::from_le_bytes(*c)).collect())
        }

        #[doc = concat!("Writes `values` as little-endian `", stringify!($type), "` to `address`.")]
        ///
        /// # Errors
        /// [`MemoryError::OutOfBounds`] when the range leaves its buffer.
        pub fn $write(&mut self, address: u64, values: &[$type]) -> Result<(), MemoryError> {
            const SIZE: usize = size_of::<$type>();
            let bytes = self.bytes_mut(address, (values.len() * SIZE) as u64)?;
            for (chunk, value) in bytes.as_chunks_mut::<SIZE>().0.iter_mut().zip(values) {
                *chunk = value.to_le_bytes();
            }
            self.note_copy(address, (values.len() * SIZE) as u64);
            Ok(())
        }
    )*};
}

impl DeviceMemory {
    /// Returns an empty memory of [`DEFAULT_BYTES`].
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(DEFAULT_BYTES)
    }

    /// Returns an empty memory that holds at most `capacity` bytes of buffers.
    #[must_use]
    pub fn with_capacity(capacity: u64) -> Self {
        Self {
            buffers: Vec::new(),
            next: HEAP_BASE,
            used: 0,
            capacity,
            zero_outside: false,
            outside: None,
            last_hit: 0,
            textures: Vec::new(),
            printed: PrintedText::default(),
            requests: KernelRequests::default(),
            clusters: RunningClusters::default(),
            program: 0,
            parked: Vec::new(),
            changes: None,
            copies: None,
            idle_reads: None,
            reads: None,
        }
    }

    /// Sets whether kernels may access addresses outside every buffer. If `zero`, loads there read 0, stores have no
    /// effect, and atomics read 0 and change nothing. Addresses below the modules' variables, and addresses beyond
    /// global memory, remain faults.
    pub fn set_zero_outside(&mut self, zero: bool) {
        self.zero_outside = zero;
    }

    /// Sets the values that [`DeviceMemory::line`] returns outside every buffer. Kernels do not read them.
    pub fn set_outside_values(&mut self, values: Arc<dyn OutsideValues>) {
        self.outside = Some(values);
    }

    /// Returns whether an access to `first..=last`, outside every buffer, reads 0 or changes nothing instead of a
    /// fault.
    #[inline]
    pub(crate) fn is_void(&self, first: u64, last: u64) -> bool {
        self.zero_outside && Self::may_be_void(first, last)
    }

    /// Returns whether [`DeviceMemory::set_zero_outside`] can permit an access to `first..=last`, outside every
    /// buffer.
    pub(crate) fn may_be_void(first: u64, last: u64) -> bool {
        first >= GLOBALS_BASE && last < LOCAL_REGION
    }

    /// Records the reads of [`DeviceMemory::bytes`], and of the functions that use it, until
    /// [`DeviceMemory::take_reads`].
    pub fn note_reads(&mut self) {
        self.reads = Some(Reads::default());
    }

    /// Returns the reads since [`DeviceMemory::note_reads`], and stops recording.
    pub fn take_reads(&mut self) -> Vec<HostRead> {
        let Some(reads) = self.reads.take() else { return Vec::new() };
        std::mem::take(&mut reads.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Records copies from the host to device memory from now on, for [`DeviceMemory::take_copies`].
    pub fn note_copies(&mut self) {
        self.copies = Some(Vec::new());
    }

    /// Returns the copies from the host since the last call, in order, as physical addresses and bytes. Empty unless
    /// recorded.
    pub fn take_copies(&mut self) -> Vec<(u64, u64)> {
        self.copies.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn note_copy(&mut self, address: u64, bytes: u64) {
        let physical = physical(self.program, address);
        if let Some(copies) = self.copies.as_mut().filter(|_| bytes > 0) {
            copies.push((physical, bytes));
        }
    }

    /// Records every change from now on, for [`DeviceMemory::take_changes`].
    pub fn record_changes(&mut self) {
        self.changes = Some(Vec::new());
    }

    /// Returns the changes since the last call. Empty unless recorded.
    pub fn take_changes(&mut self) -> Vec<Change> {
        self.changes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Records that a kernel has written `bytes` bytes in each lane of `mask`.
    #[inline]
    pub(crate) fn note_written(&mut self, mask: u32, addresses: &[u64; 32], bytes: u8) {
        let Some(changes) = &mut self.changes else { return };
        let lanes = (0..32).filter(|lane| mask >> lane & 1 == 1);
        changes.extend(lanes.map(|lane| Change::Wrote { address: addresses[lane], bytes: bytes.into() }));
    }

    fn note(&mut self, change: Change) {
        if let Some(changes) = &mut self.changes {
            changes.push(change);
        }
    }

    /// Selects the address space of `program` for all later accesses. A new program's space is empty.
    #[inline]
    pub fn select(&mut self, program: u8) {
        if program != self.program {
            self.change_to(program);
        }
    }

    #[cold]
    fn change_to(&mut self, program: u8) {
        self.exchange(self.program);
        self.exchange(program);
        self.program = program;
    }

    /// Swaps the selected space with the stored space of `program`.
    fn exchange(&mut self, program: u8) {
        let place = usize::from(program);
        if self.parked.len() <= place {
            self.parked.resize_with(place + 1, AddressSpace::default);
        }
        let parked = &mut self.parked[place];
        std::mem::swap(&mut self.buffers, &mut parked.buffers);
        std::mem::swap(&mut self.next, &mut parked.next);
        std::mem::swap(&mut self.last_hit, &mut parked.last_hit);
        std::mem::swap(&mut self.textures, &mut parked.textures);
    }

    /// Empties the selected address space. Allocation starts again at [`HEAP_BASE`].
    pub fn clear(&mut self) {
        self.used -= self.buffers.drain(..).map(|buffer| buffer.data.len() as u64).sum::<u64>();
        self.next = HEAP_BASE;
        self.last_hit = 0;
        self.textures.clear();
    }

    /// Allocates `bytes` zeroed bytes and returns their device address, a multiple of [`BUFFER_ALIGNMENT`].
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`] when the capacity is exceeded, [`MemoryError::NoHostMemory`] when the host lacks
    /// the memory.
    pub fn alloc(&mut self, bytes: u64, name: &str) -> Result<u64, MemoryError> {
        let base = self.next;
        self.alloc_at(base, bytes, name)?;
        Ok(base)
    }

    /// Allocates as [`DeviceMemory::alloc`] does, at a multiple of `alignment`. `alignment` must be a power of two.
    ///
    /// # Errors
    /// As [`DeviceMemory::alloc`].
    pub fn alloc_aligned(&mut self, bytes: u64, alignment: u64, name: &str) -> Result<u64, MemoryError> {
        let base = self.next.next_multiple_of(alignment);
        self.alloc_at(base, bytes, name)?;
        Ok(base)
    }

    /// Allocates `bytes` zeroed bytes at `address`.
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`] when the capacity is exceeded, [`MemoryError::NoHostMemory`] when the host lacks
    /// the memory. [`MemoryError::Occupied`] when the range overlaps another buffer or its red zone, or `address` is
    /// not a multiple of [`BUFFER_ALIGNMENT`].
    pub fn alloc_at(&mut self, address: u64, bytes: u64, name: &str) -> Result<(), MemoryError> {
        let out_of_memory = || MemoryError::OutOfMemory {
            name: name.to_owned(),
            bytes,
            left: self.capacity - self.used,
            capacity: self.capacity,
        };
        if bytes > self.capacity - self.used {
            return Err(out_of_memory());
        }
        let occupied = || MemoryError::Occupied { name: name.to_owned(), address, bytes };
        let end = address.checked_add(bytes).ok_or_else(occupied)?;
        let place = self.buffers.partition_point(|b| b.base < address);
        let before_is_clear = place == 0 || self.buffers[place - 1].end() + RED_ZONE <= address;
        let after_is_clear = self.buffers.get(place).is_none_or(|b| end + RED_ZONE <= b.base);
        if !address.is_multiple_of(BUFFER_ALIGNMENT) || address == 0 || !before_is_clear || !after_is_clear {
            return Err(occupied());
        }
        let data = zeros(bytes).ok_or_else(|| MemoryError::NoHostMemory { name: name.to_owned(), bytes })?;
        self.buffers
            .insert(place, MemoryBuffer { base: address, name: name.to_owned(), data: Arc::new(data) });
        self.used += bytes;
        self.note(Change::Allocated { address, bytes });
        self.next = self.next.max((end + RED_ZONE).next_multiple_of(BUFFER_ALIGNMENT));
        Ok(())
    }

    /// Frees the buffer that starts at `address`. Its addresses are not handed out again.
    ///
    /// # Errors
    /// [`MemoryError::NotABuffer`] when no buffer starts there.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        let Ok(index) = self.buffers.binary_search_by_key(&address, |b| b.base) else {
            return Err(MemoryError::NotABuffer { address, nearest: self.describe_nearest(address) });
        };
        let freed = self.buffers.remove(index);
        self.used -= freed.data.len() as u64;
        self.last_hit = 0;
        self.note(Change::Freed { address });
        Ok(())
    }

    /// Creates a texture over allocated memory, and returns the handle with which kernels sample it.
    ///
    /// # Errors
    /// [`MemoryError::BadTexture`] for an invalid format or size; [`MemoryError::OutOfBounds`] when its texels leave
    /// their buffer.
    pub fn create_texture(&mut self, texture: Texture) -> Result<u64, MemoryError> {
        if let Some(why) = texture.mistake() {
            return Err(MemoryError::BadTexture { why });
        }
        self.range(texture.address, texture.span().unwrap_or(u64::MAX))?;
        let handle = Self::texture_handle(self.textures.len() as u64);
        self.textures.push(texture);
        Ok(handle)
    }

    /// Returns the handle of the texture that is created after `before` others.
    #[must_use]
    pub fn texture_handle(before: u64) -> u64 {
        FIRST_TEXTURE + before
    }

    /// Returns the texture of a handle.
    #[must_use]
    pub fn texture(&self, handle: u64) -> Option<&Texture> {
        self.textures.get(usize::try_from(handle.checked_sub(FIRST_TEXTURE)?).ok()?)
    }

    /// Stores a kernel's message for the host. Drops and counts it if it exceeds [`PRINT_CAPACITY`].
    pub fn print(&mut self, message: &str) {
        if self.printed.text.len() + message.len() > PRINT_CAPACITY {
            self.printed.lost += 1;
        } else {
            self.printed.text.push_str(message);
        }
    }

    /// Records from now on which instructions read lanes that do not execute them, for
    /// [`DeviceMemory::take_idle_reads`].
    pub fn note_idle_reads(&mut self) {
        self.idle_reads.get_or_insert_default();
    }

    /// Returns whether reads of idle lanes are recorded.
    pub(crate) fn notes_idle_reads(&self) -> bool {
        self.idle_reads.is_some()
    }

    /// Records a read of an idle lane, once per instruction.
    pub(crate) fn note_idle_read(&mut self, read: &Fault) {
        let Some(reads) = &mut self.idle_reads else { return };
        if reads.known.insert((read.file.clone(), read.kernel.clone(), read.line)) {
            reads.new.push(read.to_string());
        }
    }

    /// Returns a line for each instruction that first read an idle lane since the last call.
    pub fn take_idle_reads(&mut self) -> Vec<String> {
        self.idle_reads.as_mut().map(|reads| std::mem::take(&mut reads.new)).unwrap_or_default()
    }

    /// Returns the text that kernels printed since the last call.
    pub fn take_printed(&mut self) -> PrintedText {
        std::mem::take(&mut self.printed)
    }

    /// Returns the running clusters.
    #[must_use]
    pub fn clusters(&self) -> &RunningClusters {
        &self.clusters
    }

    /// Returns the running clusters, to change them.
    pub fn clusters_mut(&mut self) -> &mut RunningClusters {
        &mut self.clusters
    }

    /// Returns the requests of kernels for launches.
    #[must_use]
    pub fn requests(&self) -> &KernelRequests {
        &self.requests
    }

    /// Returns the requests of kernels for launches, to change them.
    pub fn requests_mut(&mut self) -> &mut KernelRequests {
        &mut self.requests
    }

    /// Returns the allocated bytes.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Returns the max bytes of buffers.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns the free bytes.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.capacity.saturating_sub(self.used)
    }

    /// Returns the buffer nearest to `address`: its name, first address and size in bytes.
    #[must_use]
    pub fn nearest(&self, address: u64) -> Option<(&str, u64, u64)> {
        let after = self.buffers.partition_point(|b| b.base <= address);
        let candidates = [after.checked_sub(1), Some(after)];
        let distance = |b: &MemoryBuffer| {
            if address < b.base { b.base - address } else { address.saturating_sub(b.end() - 1) }
        };
        let nearest =
            candidates.into_iter().flatten().filter_map(|i| self.buffers.get(i)).min_by_key(|b| distance(b));
        nearest.map(|b| (b.name.as_str(), b.base, b.data.len() as u64))
    }

    /// Describes the buffer nearest to `address`, for error messages.
    pub(crate) fn describe_nearest(&self, address: u64) -> String {
        match self.nearest(address) {
            None => "no buffer is allocated".to_owned(),
            Some((name, base, bytes)) => {
                format!("nearest buffer '{name}' is {base:#x}..{:#x}, {bytes} bytes", base + bytes)
            }
        }
    }

    fn find(&self, first: u64, last: u64) -> Option<usize> {
        let index = self.buffers.partition_point(|b| b.base <= first).checked_sub(1)?;
        self.buffers[index].holds(first, last).then_some(index)
    }

    fn range(&self, address: u64, bytes: u64) -> Result<(usize, std::ops::Range<usize>), MemoryError> {
        if bytes == 0 {
            return Ok((usize::MAX, 0..0));
        }
        let last = address.saturating_add(bytes - 1);
        let index = self.find(address, last).ok_or_else(|| MemoryError::OutOfBounds {
            address,
            bytes,
            nearest: self.describe_nearest(address),
        })?;
        let offset = (address - self.buffers[index].base) as usize;
        Ok((index, offset..offset + bytes as usize))
    }

    /// Returns whether a range is entirely inside one buffer.
    pub fn holds(&self, address: u64, bytes: u64) -> bool {
        self.range(address, bytes).is_ok()
    }

    /// Returns the first address and the bytes of each buffer of the selected program, sorted by address.
    pub fn contents(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.buffers.iter().map(|buffer| (buffer.base, buffer.data.as_slice()))
    }

    /// Returns the `bytes` bytes from `address`.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] when the range leaves its buffer.
    pub fn bytes(&self, address: u64, bytes: u64) -> Result<&[u8], MemoryError> {
        let (index, range) = self.range(address, bytes)?;
        let read = self.buffers.get(index).map_or(&[][..], |b| &b.data[range]);
        if let Some(reads) = &self.reads {
            let noted = HostRead { address, bytes: read.to_vec() };
            reads.lock().unwrap_or_else(PoisonError::into_inner).push(noted);
        }
        Ok(read)
    }

    fn bytes_mut(&mut self, address: u64, bytes: u64) -> Result<&mut [u8], MemoryError> {
        let (index, range) = self.range(address, bytes)?;
        if bytes > 0 {
            self.note(Change::Wrote { address, bytes });
        }
        Ok(self.buffers.get_mut(index).map_or(&mut [], |b| &mut Arc::make_mut(&mut b.data)[range]))
    }

    /// Copies `out.len()` bytes from `address` into `out`.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] when the range leaves its buffer.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), MemoryError> {
        out.copy_from_slice(self.bytes(address, out.len() as u64)?);
        Ok(())
    }

    /// Lets `set` write the `bytes` bytes from `address`, as a memset or a copy on the device does.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] when the range leaves its buffer.
    pub fn set(&mut self, address: u64, bytes: u64, set: impl FnOnce(&mut [u8])) -> Result<(), MemoryError> {
        set(self.bytes_mut(address, bytes)?);
        Ok(())
    }

    /// Lets `fill` write the `bytes` bytes from `address`: a copy from the host.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] when the range leaves its buffer.
    pub fn fill(
        &mut self,
        address: u64,
        bytes: u64,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), MemoryError> {
        fill(self.bytes_mut(address, bytes)?);
        self.note_copy(address, bytes);
        Ok(())
    }

    /// Copies `values` to `address` from the host.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] when the range leaves its buffer.
    pub fn write(&mut self, address: u64, values: &[u8]) -> Result<(), MemoryError> {
        self.bytes_mut(address, values.len() as u64)?.copy_from_slice(values);
        self.note_copy(address, values.len() as u64);
        Ok(())
    }

    typed_access!(
        read_u32s write_u32s u32, read_i32s write_i32s i32, read_u64s write_u64s u64, read_f32s write_f32s f32,
        read_f64s write_f64s f64
    );

    /// Copies a memory line of `out.len()` bytes from the physical `address`, independent of the selected program.
    /// Bytes outside every buffer read 0, unless [`DeviceMemory::set_outside_values`] is called.
    pub fn line(&self, address: u64, out: &mut [u8]) {
        match &self.outside {
            None => out.fill(0),
            Some(values) => values.fill(within_program(address), out),
        }
        let buffers = self.buffers_of(program_of(address));
        let address = within_program(address);
        let end = address.saturating_add(out.len() as u64);
        let start = buffers.partition_point(|b| b.end() <= address);
        for buffer in buffers[start..].iter().take_while(|b| b.base < end) {
            let (from, to) = (buffer.base.max(address), buffer.end().min(end));
            let source = (from - buffer.base) as usize..(to - buffer.base) as usize;
            out[(from - address) as usize..(to - address) as usize].copy_from_slice(&buffer.data[source]);
        }
    }

    /// Returns whether a buffer contains any of the `bytes` bytes from the physical `address`. Always `true` for a
    /// program without buffers, such as a trace of addresses.
    pub fn is_allocated(&self, address: u64, bytes: u64) -> bool {
        let buffers = self.buffers_of(program_of(address));
        let address = within_program(address);
        let after = buffers.partition_point(|b| b.end() <= address);
        buffers.is_empty() || buffers.get(after).is_some_and(|b| b.base < address.saturating_add(bytes))
    }

    fn buffers_of(&self, program: u8) -> &[MemoryBuffer] {
        if program == self.program {
            return &self.buffers;
        }
        self.parked.get(usize::from(program)).map_or(&[], |space| &space.buffers)
    }

    /// Returns the buffer that contains all of `first..=last`, as its first address and its bytes. Searches the
    /// buffer of the last hit first.
    #[inline]
    pub(crate) fn buffer_with(&mut self, first: u64, last: u64) -> Option<(u64, &[u8])> {
        let index = self.index_with(first, last)?;
        let buffer = &self.buffers[index];
        Some((buffer.base, &buffer.data))
    }

    /// Returns the buffer as [`DeviceMemory::buffer_with`] does, for writes.
    #[inline]
    pub(crate) fn buffer_with_mut(&mut self, first: u64, last: u64) -> Option<(u64, &mut [u8])> {
        let index = self.index_with(first, last)?;
        let buffer = &mut self.buffers[index];
        let bytes: &mut Vec<u8> = Arc::make_mut(&mut buffer.data);
        Some((buffer.base, bytes))
    }

    #[inline]
    fn index_with(&mut self, first: u64, last: u64) -> Option<usize> {
        let hit = self.buffers.get(self.last_hit).is_some_and(|b| b.holds(first, last));
        if !hit {
            self.last_hit = self.find(first, last)?;
        }
        Some(self.last_hit)
    }
}

/// Returns `bytes` zeros, or `None` if the host lacks the memory. Untouched pages cost nothing.
fn zeros(bytes: u64) -> Option<Vec<u8>> {
    let size = usize::try_from(bytes).ok()?;
    // A failed zeroed allocation aborts the process. This unzeroed allocation of the same size reports the failure
    // instead.
    let mut trial: Vec<u8> = Vec::new();
    trial.try_reserve_exact(size).ok()?;
    drop(black_box(trial));
    Some(vec![0; size])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_allocated_where_one_of_them_lies_in_a_buffer() {
        let mut memory = DeviceMemory::new();
        assert!(memory.is_allocated(0x1000, 128), "without buffers all of memory is");
        let first = memory.alloc(1000, "first").unwrap();
        let second = memory.alloc(128, "second").unwrap();
        let is_allocated = |address: u64| memory.is_allocated(address, 128);
        for (address, expected) in [
            (first - 128, false),
            (first - 127, true),
            (first, true),
            (first + 999, true),
            (first + 1000, false),
            (second - 128, false),
            (second + 127, true),
            (second + 128, false),
            (u64::from(u32::MAX), false),
        ] {
            assert_eq!(is_allocated(address), expected, "{address:#x}, buffers {first:#x}, {second:#x}");
        }
    }

    #[test]
    fn a_clone_shares_buffers_until_a_write_and_then_differs() {
        let mut memory = DeviceMemory::new();
        let (a, b) = (memory.alloc(8, "a").unwrap(), memory.alloc(8, "b").unwrap());
        memory.write_u32s(a, &[1, 2]).unwrap();
        let mut clone = memory.clone();
        let is_shared = |one: &DeviceMemory, other: &DeviceMemory, at: usize| {
            Arc::ptr_eq(&one.buffers[at].data, &other.buffers[at].data)
        };
        assert!(is_shared(&memory, &clone, 0) && is_shared(&memory, &clone, 1));
        let (_, bytes) = memory.buffer_with_mut(a, a + 3).unwrap();
        bytes[0] = 9;
        clone.write_u32s(b, &[7]).unwrap();
        assert!(!is_shared(&memory, &clone, 0) && !is_shared(&memory, &clone, 1));
        assert_eq!((memory.read_u32s(a, 2), clone.read_u32s(a, 2)), (Ok(vec![9, 2]), Ok(vec![1, 2])));
        assert_eq!((memory.read_u32s(b, 1), clone.read_u32s(b, 1)), (Ok(vec![0]), Ok(vec![7])));
    }

    #[test]
    fn buffers_are_aligned_zeroed_and_apart() {
        let mut memory = DeviceMemory::new();
        let a = memory.alloc(1000, "a").unwrap();
        let b = memory.alloc(1, "b").unwrap();
        assert_eq!((a % 256, b % 256), (0, 0));
        assert!(b >= a + 1000 + RED_ZONE);
        assert_eq!(memory.read_u32s(a, 250).unwrap(), vec![0; 250]);
    }

    #[test]
    fn an_alignment_is_kept_and_nothing_lies_in_the_gap() {
        let mut memory = DeviceMemory::new();
        let a = memory.alloc(8, "a").unwrap();
        let b = memory.alloc_aligned(8, 4096, "b").unwrap();
        assert!(b > a && b.is_multiple_of(4096));
        assert!(memory.alloc(8, "c").unwrap() > b);
        assert!(!memory.holds(b - 8, 8));
    }

    #[test]
    fn values_come_back() {
        let mut memory = DeviceMemory::new();
        let a = memory.alloc(64, "a").unwrap();
        memory.write_f32s(a, &[1.5, -2.0]).unwrap();
        memory.write_u64s(a + 8, &[u64::MAX - 1]).unwrap();
        assert_eq!(memory.read_f32s(a, 2).unwrap(), [1.5, -2.0]);
        assert_eq!(memory.read_u32s(a + 8, 2).unwrap(), [u32::MAX - 1, u32::MAX]);
    }

    #[test]
    fn accesses_outside_a_buffer_are_refused_with_the_nearest_one() {
        let mut memory = DeviceMemory::new();
        assert!(memory.read_u32s(HEAP_BASE, 1).unwrap_err().to_string().contains("no buffer is allocated"));
        let a = memory.alloc(16, "left").unwrap();
        let b = memory.alloc(16, "right").unwrap();
        let past = memory.write_u32s(a + 12, &[0, 0]).unwrap_err().to_string();
        assert!(past.contains("'left'") && past.contains(&format!("{a:#x}..{:#x}", a + 16)), "{past}");
        assert!(memory.read_u32s(b - 4, 1).unwrap_err().to_string().contains("'right'"));
        assert!(memory.read_u32s(u64::MAX - 3, 2).is_err());
        assert_eq!(memory.nearest(u64::MAX), Some(("right", b, 16)), "the last address of all");
        assert!(memory.read_u32s(7, 0).unwrap().is_empty());
    }

    #[test]
    fn capacity_is_kept() {
        let mut memory = DeviceMemory::with_capacity(100);
        let a = memory.alloc(60, "a").unwrap();
        let refused = memory.alloc(41, "b").unwrap_err().to_string();
        assert_eq!(
            refused,
            "cannot allocate 41 bytes for buffer 'b': 40 of 100 bytes of device memory are left (--max-memory)"
        );
        memory.free(a).unwrap();
        memory.alloc(100, "c").unwrap();
        assert!(memory.free(a).is_err());
        assert!(memory.alloc(u64::MAX, "d").is_err());
    }

    #[test]
    fn placed_buffers_meet_no_other() {
        let mut memory = DeviceMemory::new();
        let a = memory.alloc(256, "a").unwrap();
        assert!(memory.alloc_at(a + 256, 4, "b").is_err(), "inside the red zone");
        assert!(memory.alloc_at(a + 700, 4, "b").is_err(), "misaligned");
        memory.alloc_at(a + 1024, 4, "b").unwrap();
        assert!(memory.alloc(4, "c").unwrap() > a + 1024);
    }

    #[test]
    fn a_line_reads_zero_outside_buffers() {
        let mut memory = DeviceMemory::new();
        let a = memory.alloc(6, "a").unwrap();
        memory.write(a, &[1, 2, 3, 4, 5, 6]).unwrap();
        let mut line = [9; 16];
        memory.line(a - 4, &mut line);
        assert_eq!(line, [0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0]);
        memory.line(u64::MAX - 3, &mut line);
        assert_eq!(line, [0; 16]);
    }

    #[derive(Debug)]
    struct LowestBytes;

    impl OutsideValues for LowestBytes {
        fn fill(&self, address: u64, out: &mut [u8]) {
            out.iter_mut().zip(address..).for_each(|(byte, address)| *byte = address as u8);
        }
    }

    #[test]
    fn a_line_has_the_outside_values_around_a_buffer_and_in_every_program() {
        let mut memory = DeviceMemory::new();
        memory.set_outside_values(Arc::new(LowestBytes));
        let a = memory.alloc_at(0x1000_0100, 2, "a").map(|()| 0x1000_0100).unwrap();
        let mut line = [0; 8];
        memory.line(a - 4, &mut line);
        assert_eq!(line, [0xfc, 0xfd, 0xfe, 0xff, 0, 0, 0x02, 0x03]);
        memory.line(physical(3, a + 4), &mut line);
        assert_eq!(line, [4, 5, 6, 7, 8, 9, 10, 11]);
        assert!(memory.read_u32s(a + 4, 1).is_err(), "a kernel does not read them");
    }

    #[test]
    fn programs_have_the_same_addresses_with_values_of_their_own() {
        let mut memory = DeviceMemory::with_capacity(100);
        let addresses = [0u8, 2, 1].map(|program| {
            memory.select(program);
            let address = memory.alloc(16, "a").unwrap();
            memory.write_u32s(address, &[u32::from(program) + 7; 4]).unwrap();
            address
        });
        assert_eq!(addresses, [HEAP_BASE; 3]);
        for program in [2, 0, 1] {
            let mut line = [0; 4];
            memory.line(physical(program, HEAP_BASE), &mut line);
            assert_eq!(line, [program + 7, 0, 0, 0], "without being selected");
            memory.select(program);
            assert_eq!(memory.read_u32s(HEAP_BASE, 1), Ok(vec![u32::from(program) + 7]));
        }
        assert_eq!(memory.used(), 48, "the capacity is the GPU's");
        memory.clear();
        assert_eq!((memory.used(), memory.alloc(4, "again")), (32, Ok(HEAP_BASE)));
    }
}
