//! Copies between host and device, in rows.
use crate::arrays::VolumeExtent;
use crate::pointers::{bytes, bytes_mut};
use crate::protocol::{Call, PIECE_BYTES, error, sync};
use crate::runtime::Runtime;
use crate::work::{CopyWork, FillWork, VariableWork, Work};
use crate::{Done, api};
use std::ffi::{c_int, c_void};

/// Source or destination of a copy.
#[derive(Clone, Copy)]
pub struct CopySide {
    /// Address on the host or on the device.
    address: usize,
    /// Distance between the starts of two rows, in bytes.
    pub pitch: usize,
    /// `Some(true)` for device memory; `None` if the kind of the copy decides.
    pub is_device: Option<bool>,
}

impl CopySide {
    /// Creates a side in the memory that the kind of the copy states.
    pub fn of(pointer: *const c_void, pitch: usize) -> Self {
        CopySide { address: pointer.expose_provenance(), pitch, is_device: None }
    }

    /// Creates a side in device memory.
    pub fn device(address: u64, pitch: usize) -> Self {
        CopySide { address: address as usize, pitch, is_device: Some(true) }
    }

    fn address(self) -> u64 {
        self.address as u64
    }

    /// Returns a pointer to host memory `by` bytes after the start.
    fn pointer(self, by: usize) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.address.wrapping_add(by))
    }

    /// Returns the side with another distance between rows.
    pub fn with_pitch(self, pitch: usize) -> Self {
        CopySide { pitch, ..self }
    }

    /// Returns the side `by` bytes later.
    pub fn moved(self, by: usize) -> Self {
        CopySide { address: self.address.wrapping_add(by), ..self }
    }
}

/// Rows of host memory that a queued read fills.
pub struct HostRows {
    to: CopySide,
    width: usize,
    height: usize,
}

impl HostRows {
    /// Copies the bytes of all rows to their places.
    pub fn put(&self, data: &[u8]) -> Done {
        if data.len() != self.width * self.height {
            return Err(error::LAUNCH_FAILURE);
        }
        for (row, data) in data.chunks_exact(self.width).enumerate() {
            bytes_mut(self.to.pointer(row * self.to.pitch), self.width)?.copy_from_slice(data);
        }
        Ok(())
    }

    /// Returns whether the rows lie within the `size` bytes at `address`, at least in part.
    fn meets(&self, address: usize, size: usize) -> bool {
        let end = self.to.address + (self.height - 1) * self.to.pitch + self.width;
        self.to.address < address + size && address < end
    }
}

/// CUDA's error code for overlapping rows.
const INVALID_PITCH: i32 = 12;
/// Values of `cudaMemcpyKind`.
const HOST_TO_HOST: c_int = 0;
pub const HOST_TO_DEVICE: c_int = 1;
pub const DEVICE_TO_HOST: c_int = 2;
pub const DEVICE_TO_DEVICE: c_int = 3;
pub const BY_ADDRESS: c_int = 4;

impl Runtime {
    /// Returns whether a side is in device memory. `by_kind` is the answer of a kind that states it.
    fn is_device(&self, side: CopySide, by_kind: bool, kind: c_int) -> bool {
        if self.is_managed(side.address()) {
            return false;
        }
        side.is_device.unwrap_or(if kind == BY_ADDRESS { self.is_on_device(side.address()) } else { by_kind })
    }

    pub fn copy(&mut self, to: CopySide, from: CopySide, width: usize, height: usize, kind: c_int) -> Done {
        let stream = self.connection.stream;
        let copied = self.copy_rows(to, from, width, height, kind);
        self.connection.stream = stream;
        copied
    }

    fn copy_rows(&mut self, to: CopySide, from: CopySide, width: usize, height: usize, kind: c_int) -> Done {
        if width == 0 || height == 0 {
            return Ok(());
        }
        if !(HOST_TO_HOST..=BY_ADDRESS).contains(&kind) {
            return Err(error::INVALID_VALUE);
        }
        if height > 1 && (to.pitch < width || from.pitch < width) {
            return Err(INVALID_PITCH);
        }
        let to_device = self.is_device(to, matches!(kind, HOST_TO_DEVICE | DEVICE_TO_DEVICE), kind);
        let from_device = self.is_device(from, matches!(kind, DEVICE_TO_HOST | DEVICE_TO_DEVICE), kind);
        let all = width.checked_mul(height).ok_or(error::INVALID_VALUE)?;
        self.settle()?;
        if !from_device {
            self.await_reads_of(from, width, height)?;
        }
        if !to_device {
            self.await_host_memory(to, from_device, width, height)?;
        }
        // Merges rows without gaps.
        let is_flat = height == 1 || to.pitch == width && from.pitch == width;
        let (width, height) = if is_flat { (all, 1) } else { (width, height) };
        let rows = [width as u64, height as u64];
        if to_device && from_device {
            let [to, from] = [to, from].map(|side| [side.address(), side.pitch as u64]);
            return self.connection.call(Call::Copy, &[to, from, rows].concat(), &[]).map(drop);
        }
        if to_device || from_device {
            let side = if to_device { to } else { from };
            if all as u64 > PIECE_BYTES {
                // Checks all rows first: a copy that leaves its buffer must have no effect, even if it is split.
                let words = [side.address(), side.pitch as u64, rows[0], rows[1]];
                self.connection.call(Call::Check, &words, &[])?;
            }
        }
        for piece in pieces(width, height) {
            let (to, from) = (
                to.moved(piece.row * to.pitch + piece.column),
                from.moved(piece.row * from.pitch + piece.column),
            );
            self.copy_piece((to, to_device), (from, from_device), piece.width, piece.height)?;
        }
        Ok(())
    }

    /// Waits for queued reads that fill a part of these rows of host memory.
    fn await_reads_of(&mut self, from: CopySide, width: usize, height: usize) -> Done {
        let size = (height - 1) * from.pitch + width;
        match self.streams.reads.values().any(|read| read.meets(from.address, size)) {
            true => self.wait_for(sync::ALL, 0),
            false => Ok(()),
        }
    }

    /// Waits until rows of host memory can be written now. Only a copy from the device to pinned memory is queued, as on CUDA.
    fn await_host_memory(&mut self, to: CopySide, from_device: bool, width: usize, height: usize) -> Done {
        let Some(stream) = self.connection.stream else { return Ok(()) };
        if from_device && self.streams.is_pinned(to.address, (height - 1) * to.pitch + width) {
            return Ok(());
        }
        self.wait_for(sync::STREAM, stream)?;
        self.await_reads_of(to, width, height)?;
        self.connection.stream = None;
        Ok(())
    }

    /// Copies at most one message of bytes, between host and device or within the host.
    fn copy_piece(
        &mut self,
        (to, to_device): (CopySide, bool),
        (from, from_device): (CopySide, bool),
        width: usize,
        height: usize,
    ) -> Done {
        let rows = [width as u64, height as u64];
        if to_device {
            let packed;
            let data = if height == 1 {
                bytes(from.pointer(0), width)?
            } else {
                packed = pack(from, width, height)?;
                &packed
            };
            let words = [to.address(), to.pitch as u64, rows[0], rows[1]];
            return self.connection.call(Call::Write, &words, data).map(drop);
        }
        let to = HostRows { to, width, height };
        if !from_device {
            return to.put(&pack(from, width, height)?);
        }
        let words = [from.address(), from.pitch as u64, rows[0], rows[1]];
        if self.connection.stream.is_none() {
            return to.put(&self.connection.call(Call::Read, &words, &[])?.bytes);
        }
        let ticket = self.streams.last_ticket + 1;
        let [address, pitch, width, height] = words;
        self.connection.call(Call::ReadLater, &[address, pitch, width, height, ticket], &[])?;
        self.streams.last_ticket = ticket;
        self.streams.reads.insert(ticket, to);
        Ok(())
    }

    pub fn fill(&mut self, work: FillWork) -> Done {
        let FillWork { to, value, element, width, height } = work;
        let width = width.checked_mul(element).ok_or(error::INVALID_VALUE)?;
        if width == 0 || height == 0 {
            return Ok(());
        }
        self.settle()?;
        let element = &value.to_le_bytes()[..element];
        let is_managed = self.is_managed(to.address());
        if !is_managed && element.iter().all(|byte| *byte == element[0]) {
            let words = [to.address(), to.pitch as u64, width as u64, height as u64, element[0].into()];
            return self.connection.call(Call::Fill, &words, &[]).map(drop);
        }
        let line: Vec<u8> = element.iter().copied().cycle().take(width).collect();
        for row in 0..height {
            let to = to.moved(row * to.pitch);
            if is_managed {
                bytes_mut(to.pointer(0), width)?.copy_from_slice(&line);
            } else {
                self.connection.write(to.address(), &line)?;
            }
        }
        Ok(())
    }

    /// Copies to or from a variable.
    pub fn copy_variable(&mut self, work: VariableWork) -> Done {
        let VariableWork { symbol, other, size, offset, kind, to } = work;
        let (address, bytes) = self.variable(std::ptr::with_exposed_provenance(symbol))?;
        if offset.checked_add(size).is_none_or(|end| end as u64 > bytes) {
            return Err(error::INVALID_VALUE);
        }
        let variable = CopySide::device(address + offset as u64, size);
        let (to, from) = if to { (variable, other) } else { (other, variable) };
        self.copy(to, from, size, 1, kind)
    }
}

/// A part of a copy: its position in the whole copy, and its size.
struct Piece {
    row: usize,
    column: usize,
    width: usize,
    height: usize,
}

/// Splits rows into pieces of at most [`PIECE_BYTES`]: several whole rows, or a section of a longer row.
fn pieces(width: usize, height: usize) -> impl Iterator<Item = Piece> {
    let most = PIECE_BYTES as usize;
    let rows = (most / width).max(1);
    (0..height).step_by(rows).flat_map(move |row| {
        (0..width).step_by(most).map(move |column| Piece {
            row,
            column,
            width: most.min(width - column),
            height: rows.min(height - row),
        })
    })
}

/// Returns the rows of host memory without gaps.
fn pack(from: CopySide, width: usize, height: usize) -> Done<Vec<u8>> {
    let mut out = Vec::with_capacity(width * height);
    for row in 0..height {
        out.extend_from_slice(bytes(from.pointer(row * from.pitch), width)?);
    }
    Ok(out)
}

/// Creates a copy of rows.
fn rows(
    (to, to_pitch): (*mut c_void, usize),
    (from, from_pitch): (*const c_void, usize),
    (width, height): (usize, usize),
    kind: c_int,
) -> Work {
    Work::Copy(CopyWork {
        to: CopySide::of(to, to_pitch),
        from: CopySide::of(from, from_pitch),
        width,
        height,
        kind,
    })
}

/// Creates a fill of rows with a byte.
fn fill(to: *mut c_void, pitch: usize, byte: c_int, width: usize, height: usize) -> Work {
    Work::Fill(FillWork {
        to: CopySide::of(to, pitch),
        value: u32::from(byte as u8),
        element: 1,
        width,
        height,
    })
}

/// Creates a copy between a variable and other memory.
fn variable(
    symbol: *const c_void,
    other: *const c_void,
    size: usize,
    offset: usize,
    kind: c_int,
    to: bool,
) -> Work {
    let other = CopySide::of(other, size);
    Work::Variable(VariableWork { symbol: symbol.expose_provenance(), other, size, offset, kind, to })
}

/// Memory with rows at a distance, as `cudaPitchedPtr`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PitchedPointer {
    pointer: *mut c_void,
    pitch: usize,
    width: usize,
    height: usize,
}

/// Fills each plane of a volume.
fn fill_volume(
    runtime: &mut Runtime,
    to: PitchedPointer,
    byte: c_int,
    extent: VolumeExtent,
    stream: *mut c_void,
) -> Done {
    for plane in 0..extent.depth {
        let start = to.pointer.wrapping_byte_add(plane * to.pitch * to.height);
        runtime.submit(stream, fill(start, to.pitch, byte, extent.width, extent.height))?;
    }
    Ok(())
}

api! {
    fn cudaMemcpy(to: *mut c_void, from: *const c_void, size: usize, kind: c_int) |runtime| {
        Work::flat(to, from, size, kind).run(runtime)
    };
    fn cudaMemcpyAsync(to: *mut c_void, from: *const c_void, size: usize, kind: c_int, stream: *mut c_void) |runtime| {
        runtime.submit(stream, Work::flat(to, from, size, kind))
    };
    fn cudaMemcpyPeer(to: *mut c_void, _to_device: c_int, from: *const c_void, _from_device: c_int, size: usize) |runtime| {
        Work::flat(to, from, size, BY_ADDRESS).run(runtime)
    };
    fn cudaMemcpyPeerAsync(
        to: *mut c_void, _to_device: c_int, from: *const c_void, _from_device: c_int, size: usize, stream: *mut c_void,
    ) |runtime| runtime.submit(stream, Work::flat(to, from, size, BY_ADDRESS));
    fn cudaMemcpy2D(
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, kind: c_int,
    ) |runtime| rows((to, to_pitch), (from, from_pitch), (width, height), kind).run(runtime);
    fn cudaMemcpy2DAsync(
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, kind: c_int,
        stream: *mut c_void,
    ) |runtime| runtime.submit(stream, rows((to, to_pitch), (from, from_pitch), (width, height), kind));
    fn cudaMemset(to: *mut c_void, byte: c_int, size: usize) |runtime| fill(to, size, byte, size, 1).run(runtime);
    fn cudaMemsetAsync(to: *mut c_void, byte: c_int, size: usize, stream: *mut c_void) |runtime| {
        runtime.submit(stream, fill(to, size, byte, size, 1))
    };
    fn cudaMemset2D(to: *mut c_void, pitch: usize, byte: c_int, width: usize, height: usize) |runtime| {
        fill(to, pitch, byte, width, height).run(runtime)
    };
    fn cudaMemset2DAsync(
        to: *mut c_void, pitch: usize, byte: c_int, width: usize, height: usize, stream: *mut c_void,
    ) |runtime| runtime.submit(stream, fill(to, pitch, byte, width, height));
    fn cudaMemset3D(to: PitchedPointer, byte: c_int, extent: VolumeExtent) |runtime| {
        fill_volume(runtime, to, byte, extent, std::ptr::null_mut())
    };
    fn cudaMemset3DAsync(to: PitchedPointer, byte: c_int, extent: VolumeExtent, stream: *mut c_void) |runtime| {
        fill_volume(runtime, to, byte, extent, stream)
    };
    fn cudaMemcpyToSymbol(symbol: *const c_void, from: *const c_void, size: usize, offset: usize, kind: c_int) |runtime| {
        variable(symbol, from, size, offset, kind, true).run(runtime)
    };
    fn cudaMemcpyToSymbolAsync(
        symbol: *const c_void, from: *const c_void, size: usize, offset: usize, kind: c_int, stream: *mut c_void,
    ) |runtime| runtime.submit(stream, variable(symbol, from, size, offset, kind, true));
    fn cudaMemcpyFromSymbol(to: *mut c_void, symbol: *const c_void, size: usize, offset: usize, kind: c_int) |runtime| {
        variable(symbol, to, size, offset, kind, false).run(runtime)
    };
    fn cudaMemcpyFromSymbolAsync(
        to: *mut c_void, symbol: *const c_void, size: usize, offset: usize, kind: c_int, stream: *mut c_void,
    ) |runtime| runtime.submit(stream, variable(symbol, to, size, offset, kind, false));
}
