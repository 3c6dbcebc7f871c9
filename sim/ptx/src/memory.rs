//! Functional device memory: named buffers with red zones, holding the values that kernels read and write.
//!
//! Addresses grow upwards from [`HEAP_BASE`]; everything below it is left to the windows of generic addressing
//! (see [`crate::ptx`]). Each buffer is backed by its own zeroed allocation, so untouched pages cost nothing.
//!
//! Programs that share the GPU have an address space each, all of which lie side by side in physical memory: caches and
//! DRAM see [`physical`] addresses. Of a program that has the GPU for itself both are the same.

use crate::ptx::{GLOBALS_BASE, LOCAL_REGION};
use crate::texture::Texture;
use selvedge_state::{Reader, State, StateError, Writer};
use std::hint::black_box;
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// First device address that [`DeviceMemory::alloc`] hands out, in bytes. Lower addresses are never mapped.
pub const HEAP_BASE: u64 = 0x1000_0000;
/// Most bytes of a device memory, unless stated otherwise.
pub const DEFAULT_BYTES: u64 = 8 << 30;

/// Alignment of every buffer, in bytes.
pub const BUFFER_ALIGNMENT: u64 = 256;

/// Unmapped bytes that follow every buffer at least; an access that runs off a buffer's end cannot hit the next one.
pub const RED_ZONE: u64 = 256;

/// Handle of the first texture; no address is that large.
const FIRST_TEXTURE: u64 = 0x7e << 56;

/// Bytes of text that kernels can print before the host takes it.
pub const PRINT_CAPACITY: usize = 1 << 20;

/// Bits of an address within its program's space, local memory included; the program's number stands above them.
const PROGRAM_SHIFT: u32 = 42;

/// The address that caches and DRAM see of `address` in a program's space.
#[must_use]
pub fn physical(program: u8, address: u64) -> u64 {
    address | u64::from(program) << PROGRAM_SHIFT
}

/// The number of the program that a physical address belongs to.
#[must_use]
pub fn program_of(physical: u64) -> u8 {
    (physical >> PROGRAM_SHIFT) as u8
}

/// The address within its program's space.
#[must_use]
pub fn within_program(physical: u64) -> u64 {
    physical & ((1 << PROGRAM_SHIFT) - 1)
}

/// Why a host-side request to device memory was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The request does not fit in what is left of the capacity.
    #[error(
        "cannot allocate {bytes} bytes for buffer '{name}': {left} of {capacity} bytes of device memory are left (--max-memory)"
    )]
    OutOfMemory {
        /// Buffer that was asked for.
        name: String,
        /// Size that was asked for, in bytes.
        bytes: u64,
        /// Bytes still free.
        left: u64,
        /// Capacity in bytes.
        capacity: u64,
    },
    /// The host has no memory for a buffer.
    #[error("cannot allocate {bytes} bytes for buffer '{name}': the host has no memory for them")]
    NoHostMemory {
        /// Buffer that was asked for.
        name: String,
        /// Size that was asked for, in bytes.
        bytes: u64,
    },
    /// The range asked for by [`DeviceMemory::alloc_at`] is not free or not aligned.
    #[error(
        "cannot place buffer '{name}' of {bytes} bytes at {address:#x}: the range is taken or misaligned"
    )]
    Occupied {
        /// Buffer that was asked for.
        name: String,
        /// Address that was asked for.
        address: u64,
        /// Size that was asked for, in bytes.
        bytes: u64,
    },
    /// A range that is not wholly inside one buffer.
    #[error("{bytes} bytes at {address:#x} are not inside a buffer ({nearest})")]
    OutOfBounds {
        /// First byte asked for.
        address: u64,
        /// Bytes asked for.
        bytes: u64,
        /// The nearest buffer, in words.
        nearest: String,
    },
    /// [`DeviceMemory::free`] of an address that starts no buffer.
    #[error("cannot free {address:#x}: no buffer starts there ({nearest})")]
    NotABuffer {
        /// Address that was given.
        address: u64,
        /// The nearest buffer, in words.
        nearest: String,
    },
    /// A texture that [`DeviceMemory::create_texture`] refuses.
    #[error("cannot create a texture: {why}")]
    BadTexture {
        /// What is wrong and what is allowed.
        why: String,
    },
}

/// What kernels have printed.
#[derive(Debug, Clone, Default, PartialEq, Eq, State)]
pub struct Printed {
    /// The text, in the order in which it was printed.
    pub text: String,
    /// Messages that came when [`PRINT_CAPACITY`] was used up, and are lost.
    pub lost: u64,
}

/// Something that host or kernel did to device memory, for a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Bytes were written.
    Wrote {
        /// The first address.
        address: u64,
        /// How many.
        bytes: u64,
    },
    /// A buffer was allocated.
    Allocated {
        /// Its address.
        address: u64,
        /// Its size.
        bytes: u64,
    },
    /// A buffer was freed.
    Freed {
        /// Its address.
        address: u64,
    },
}

/// Something that a host program read.
#[derive(Debug, Clone, PartialEq, Eq, State)]
pub struct HostRead {
    /// The first address.
    pub address: u64,
    /// What was there.
    pub bytes: Vec<u8>,
}

/// What is being noted of reads.
type Reads = Arc<Mutex<Vec<HostRead>>>;

/// A named range of device memory.
#[derive(Debug, Clone)]
struct Buffer {
    base: u64,
    name: String,
    data: Vec<u8>,
}

/// Bytes that a checkpoint leaves out together if they are zero.
const PAGE_BYTES: usize = 4096;

impl State for Buffer {
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
        Ok(Buffer { base, name, data })
    }
    fn is_value() -> bool {
        true
    }
}

impl Buffer {
    fn end(&self) -> u64 {
        self.base + self.data.len() as u64
    }

    fn holds(&self, first: u64, last: u64) -> bool {
        first >= self.base && last >= first && last - self.base < self.data.len() as u64
    }
}

/// A program's address space while another one is selected.
#[derive(Debug, Clone, State)]
struct AddressSpace {
    buffers: Vec<Buffer>,
    next: u64,
    last_hit: usize,
    textures: Vec<Texture>,
}

impl Default for AddressSpace {
    fn default() -> Self {
        Self { buffers: Vec::new(), next: HEAP_BASE, last_hit: 0, textures: Vec::new() }
    }
}

/// The values in a GPU's global memory. Host and kernels work in the address space of the selected program, the only
/// one unless [`DeviceMemory::select`] is called.
#[derive(Debug, Clone, State)]
pub struct DeviceMemory {
    /// In order of their addresses.
    buffers: Vec<Buffer>,
    next: u64,
    used: u64,
    #[state(skip = "an option")]
    capacity: u64,
    /// Whether loads outside every buffer read 0.
    #[state(skip = "an option")]
    zero_outside: bool,
    /// Buffer that the last checked access fell in.
    last_hit: usize,
    textures: Vec<Texture>,
    printed: Printed,
    /// The program whose address space is selected.
    program: u8,
    /// The spaces of the other programs, by number.
    parked: Vec<AddressSpace>,
    /// What has been done since the last look, where somebody records it.
    #[state(skip = "a run that is recorded has no checkpoint")]
    changes: Option<Vec<Change>>,
    /// What the host program reads, where somebody notes it.
    #[state(skip = "only while a host program runs")]
    reads: Option<Reads>,
    /// Buffers that kernels have written, see [`DeviceMemory::take_written`].
    #[state(skip = "only within a window")]
    written: u64,
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

    /// An empty memory that holds at most `capacity` bytes of buffers.
    #[must_use]
    pub fn with_capacity(capacity: u64) -> Self {
        Self {
            buffers: Vec::new(),
            next: HEAP_BASE,
            used: 0,
            capacity,
            zero_outside: false,
            last_hit: 0,
            textures: Vec::new(),
            printed: Printed::default(),
            program: 0,
            parked: Vec::new(),
            changes: None,
            reads: None,
            written: 0,
        }
    }

    /// Lets loads of kernels outside every buffer read 0, instead of being faults. Stores and atomics there are faults still, and
    /// so is what lies below all variables of modules or beyond global memory.
    pub fn set_zero_outside(&mut self, zero: bool) {
        self.zero_outside = zero;
    }

    /// Returns whether a load of `first..=last` reads 0 where that lies outside every buffer.
    #[inline]
    pub(crate) fn reads_zero(&self, first: u64, last: u64) -> bool {
        self.zero_outside && first >= GLOBALS_BASE && last < LOCAL_REGION
    }

    /// Notes what is read by [`DeviceMemory::bytes`] and what is made of it, up to [`DeviceMemory::take_reads`].
    pub fn note_reads(&mut self) {
        self.reads = Some(Reads::default());
    }

    /// What was read since it is noted.
    pub fn take_reads(&mut self) -> Vec<HostRead> {
        let Some(reads) = self.reads.take() else { return Vec::new() };
        std::mem::take(&mut reads.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes every change from now on, for [`DeviceMemory::take_changes`].
    pub fn record_changes(&mut self) {
        self.changes = Some(Vec::new());
    }

    /// What has been done since the last call; nothing unless it is recorded.
    pub fn take_changes(&mut self) -> Vec<Change> {
        self.changes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Notes that a kernel has written `bytes` bytes in each lane of `mask`.
    #[inline]
    pub fn note_written(&mut self, mask: u32, addresses: &[u64; 32], bytes: u8) {
        self.note_buffer();
        let Some(changes) = &mut self.changes else { return };
        let lanes = (0..32).filter(|lane| mask >> lane & 1 == 1);
        changes.extend(lanes.map(|lane| Change::Wrote { address: addresses[lane], bytes: bytes.into() }));
    }

    /// Notes that a kernel writes the buffer that was found last.
    #[inline]
    pub(crate) fn note_buffer(&mut self) {
        self.written |= buffer_bit(self.last_hit);
    }

    /// Returns the buffers that kernels have written since the last call, a bit each; buffers may share one.
    pub fn take_written(&mut self) -> u64 {
        std::mem::take(&mut self.written)
    }

    /// Returns whether kernels have written one of these buffers since [`DeviceMemory::take_written`] was called.
    pub(crate) fn has_written(&self, buffers: u64) -> bool {
        self.written & buffers != 0
    }

    fn note(&mut self, change: Change) {
        if let Some(changes) = &mut self.changes {
            changes.push(change);
        }
    }

    /// Selects the address space of `program`, an empty one at first, for everything that follows.
    #[inline]
    pub fn select(&mut self, program: u8) {
        if program != self.program {
            self.change_to(program);
        }
    }

    /// Selects another address space.
    #[cold]
    fn change_to(&mut self, program: u8) {
        self.exchange(self.program);
        self.exchange(program);
        self.program = program;
    }

    /// Exchanges the selected space with that in `program`'s place.
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

    /// Empties the selected address space, whose addresses are handed out again from the first.
    pub fn clear(&mut self) {
        self.used -= self.buffers.drain(..).map(|buffer| buffer.data.len() as u64).sum::<u64>();
        self.next = HEAP_BASE;
        self.last_hit = 0;
        self.textures.clear();
    }

    /// Allocates `bytes` zeroed bytes and returns their device address, a multiple of [`BUFFER_ALIGNMENT`].
    ///
    /// # Errors
    /// [`MemoryError::OutOfMemory`] when the capacity is exceeded, [`MemoryError::NoHostMemory`] when the host has not as
    /// much.
    pub fn alloc(&mut self, bytes: u64, name: &str) -> Result<u64, MemoryError> {
        let base = self.next;
        self.alloc_at(base, bytes, name)?;
        Ok(base)
    }

    /// As [`DeviceMemory::alloc`], at a multiple of `alignment`, a power of two.
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
    /// [`MemoryError::OutOfMemory`] when the capacity is exceeded, [`MemoryError::NoHostMemory`] when the host has not as
    /// much; [`MemoryError::Occupied`] when the range meets
    /// another buffer or its red zone, or `address` is not a multiple of [`BUFFER_ALIGNMENT`].
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
        self.buffers.insert(place, Buffer { base: address, name: name.to_owned(), data });
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

    /// Makes a texture of memory that is allocated already, and returns the handle that kernels sample it by.
    ///
    /// # Errors
    /// [`MemoryError::BadTexture`] for a format or size that no texture has; [`MemoryError::OutOfBounds`] when its
    /// texels leave their buffer.
    pub fn create_texture(&mut self, texture: Texture) -> Result<u64, MemoryError> {
        if let Some(why) = texture.mistake() {
            return Err(MemoryError::BadTexture { why });
        }
        self.range(texture.address, texture.span().unwrap_or(u64::MAX))?;
        let handle = Self::texture_handle(self.textures.len() as u64);
        self.textures.push(texture);
        Ok(handle)
    }

    /// The handle of the texture that is created after `before` others.
    #[must_use]
    pub fn texture_handle(before: u64) -> u64 {
        FIRST_TEXTURE + before
    }

    /// The texture of a handle.
    #[must_use]
    pub fn texture(&self, handle: u64) -> Option<&Texture> {
        self.textures.get(usize::try_from(handle.checked_sub(FIRST_TEXTURE)?).ok()?)
    }

    /// Notes a message of a kernel for the host.
    pub fn print(&mut self, message: &str) {
        if self.printed.text.len() + message.len() > PRINT_CAPACITY {
            self.printed.lost += 1;
        } else {
            self.printed.text.push_str(message);
        }
    }

    /// What kernels have printed since the last call.
    pub fn take_printed(&mut self) -> Printed {
        std::mem::take(&mut self.printed)
    }

    /// Bytes in buffers now.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used
    }

    /// The buffer nearest to `address`: its name, first address and size in bytes.
    #[must_use]
    pub fn nearest(&self, address: u64) -> Option<(&str, u64, u64)> {
        let after = self.buffers.partition_point(|b| b.base <= address);
        let candidates = [after.checked_sub(1), Some(after)];
        let distance = |b: &Buffer| {
            if address < b.base { b.base - address } else { address.saturating_sub(b.end() - 1) }
        };
        let nearest =
            candidates.into_iter().flatten().filter_map(|i| self.buffers.get(i)).min_by_key(|b| distance(b));
        nearest.map(|b| (b.name.as_str(), b.base, b.data.len() as u64))
    }

    /// The nearest buffer in words, for error messages.
    pub fn describe_nearest(&self, address: u64) -> String {
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

    /// Whether a range is wholly inside one buffer.
    pub fn holds(&self, address: u64, bytes: u64) -> bool {
        self.range(address, bytes).is_ok()
    }

    /// The buffers of the selected program in order of their addresses: the first address and the bytes of each.
    pub fn contents(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.buffers.iter().map(|buffer| (buffer.base, buffer.data.as_slice()))
    }

    /// The `bytes` bytes from `address`.
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
        Ok(self.buffers.get_mut(index).map_or(&mut [], |b| &mut b.data[range]))
    }

    /// Copies `out.len()` bytes from `address` into `out`.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] when the range leaves its buffer.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), MemoryError> {
        out.copy_from_slice(self.bytes(address, out.len() as u64)?);
        Ok(())
    }

    /// Lets `fill` write the `bytes` bytes from `address`.
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
        Ok(())
    }

    /// Copies `values` to `address`.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`] when the range leaves its buffer.
    pub fn write(&mut self, address: u64, values: &[u8]) -> Result<(), MemoryError> {
        self.bytes_mut(address, values.len() as u64)?.copy_from_slice(values);
        Ok(())
    }

    typed_access!(
        read_u32s write_u32s u32, read_i32s write_i32s i32, read_u64s write_u64s u64, read_f32s write_f32s f32,
        read_f64s write_f64s f64
    );

    /// Copies the bytes of a memory line, `out.len()` of them from the physical `address`, whichever program is
    /// selected; bytes outside every buffer read 0.
    pub fn line(&self, address: u64, out: &mut [u8]) {
        out.fill(0);
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

    /// Is some of the `bytes` bytes from the physical `address` in a buffer of their program? A program without buffers (a trace of
    /// addresses has none) is everywhere.
    pub fn is_allocated(&self, address: u64, bytes: u64) -> bool {
        let buffers = self.buffers_of(program_of(address));
        let address = within_program(address);
        let after = buffers.partition_point(|b| b.end() <= address);
        buffers.is_empty() || buffers.get(after).is_some_and(|b| b.base < address.saturating_add(bytes))
    }

    fn buffers_of(&self, program: u8) -> &[Buffer] {
        if program == self.program {
            return &self.buffers;
        }
        self.parked.get(usize::from(program)).map_or(&[], |space| &space.buffers)
    }

    /// The buffer that holds `first..=last` whole, as its first address and its bytes. The last buffer that answered
    /// is asked first.
    #[inline]
    pub fn buffer_with(&mut self, first: u64, last: u64) -> Option<(u64, &mut [u8])> {
        let hit = self.buffers.get(self.last_hit).is_some_and(|b| b.holds(first, last));
        if !hit {
            self.last_hit = self.find(first, last)?;
        }
        let buffer = &mut self.buffers[self.last_hit];
        Some((buffer.base, &mut buffer.data))
    }

    /// As [`DeviceMemory::buffer_with`], for reading alone: `last_hit` is the buffer that answered last, and the bit of the one
    /// that does so now is added to `buffers`.
    pub(crate) fn peek_buffer(
        &self,
        first: u64,
        last: u64,
        last_hit: &mut usize,
        buffers: &mut u64,
    ) -> Option<(u64, &[u8])> {
        if !self.buffers.get(*last_hit).is_some_and(|b| b.holds(first, last)) {
            *last_hit = self.find(first, last)?;
        }
        *buffers |= buffer_bit(*last_hit);
        let buffer = &self.buffers[*last_hit];
        Some((buffer.base, &buffer.data))
    }
}

/// Returns the bit that stands for a buffer.
#[inline]
fn buffer_bit(index: usize) -> u64 {
    1 << (index % 64)
}

/// Returns `bytes` zeros, untouched pages of which cost nothing; none where the host has no memory for them.
fn zeros(bytes: u64) -> Option<Vec<u8>> {
    let size = usize::try_from(bytes).ok()?;
    // Only an allocation that is not zeroed can fail without ending the process; so it is tried before.
    let mut trial: Vec<u8> = Vec::new();
    trial.try_reserve_exact(size).ok()?;
    drop(black_box(trial));
    Some(vec![0; size])
}

#[cfg(test)]
mod tests {
    use super::*;

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
