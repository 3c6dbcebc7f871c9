//! Copies between host and device, in rows.
use crate::pointers::{bytes, bytes_mut};
use crate::protocol::{Call, PIECE_BYTES, error};
use crate::runtime::Runtime;
use crate::{Done, api};
use std::ffi::{c_int, c_void};

/// Source or destination of a copy.
#[derive(Clone, Copy)]
pub struct CopySide {
    pub pointer: *mut c_void,
    /// Distance between the starts of two rows, in bytes.
    pub pitch: usize,
    /// `Some(true)` for device memory; `None` if the kind of the copy decides.
    pub is_device: Option<bool>,
}

impl CopySide {
    /// Creates a side in the memory that the kind of the copy states.
    pub fn of(pointer: *const c_void, pitch: usize) -> Self {
        CopySide { pointer: pointer.cast_mut(), pitch, is_device: None }
    }

    /// Creates a side in device memory.
    pub fn device(address: u64, pitch: usize) -> Self {
        CopySide { pointer: crate::memory::pointer(address), pitch, is_device: Some(true) }
    }

    fn address(self) -> u64 {
        self.pointer as usize as u64
    }

    /// Returns the side `by` bytes later.
    pub fn moved(self, by: usize) -> Self {
        CopySide { pointer: self.pointer.wrapping_byte_add(by), ..self }
    }
}

/// CUDA's error code for overlapping rows.
const INVALID_PITCH: i32 = 12;
/// Values of `cudaMemcpyKind`.
const HOST_TO_HOST: c_int = 0;
const HOST_TO_DEVICE: c_int = 1;
const DEVICE_TO_HOST: c_int = 2;
const DEVICE_TO_DEVICE: c_int = 3;
const BY_ADDRESS: c_int = 4;

impl Runtime {
    /// Returns whether a side is in device memory. `by_kind` is the answer of a kind that states it.
    fn is_device(&self, side: CopySide, by_kind: bool, kind: c_int) -> bool {
        if self.is_managed(side.address()) {
            return false;
        }
        side.is_device.unwrap_or(if kind == BY_ADDRESS { self.is_on_device(side.address()) } else { by_kind })
    }

    pub fn copy(&mut self, to: CopySide, from: CopySide, width: usize, height: usize, kind: c_int) -> Done {
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
                bytes(from.pointer, width)?
            } else {
                packed = pack(from, width, height)?;
                &packed
            };
            let words = [to.address(), to.pitch as u64, rows[0], rows[1]];
            return self.connection.call(Call::Write, &words, data).map(drop);
        }
        let data = if from_device {
            let words = [from.address(), from.pitch as u64, rows[0], rows[1]];
            self.connection.call(Call::Read, &words, &[])?.bytes
        } else {
            pack(from, width, height)?
        };
        if data.len() != width * height {
            return Err(error::LAUNCH_FAILURE);
        }
        for (row, data) in data.chunks_exact(width).enumerate() {
            bytes_mut(to.pointer.wrapping_byte_add(row * to.pitch), width)?.copy_from_slice(data);
        }
        Ok(())
    }

    fn fill(&mut self, to: CopySide, byte: c_int, width: usize, height: usize) -> Done {
        if width == 0 || height == 0 {
            return Ok(());
        }
        if self.is_managed(to.address()) {
            for row in 0..height {
                bytes_mut(to.pointer.wrapping_byte_add(row * to.pitch), width)?.fill(byte as u8);
            }
            return Ok(());
        }
        let words = [to.address(), to.pitch as u64, width as u64, height as u64, u64::from(byte as u8)];
        self.connection.call(Call::Fill, &words, &[]).map(drop)
    }

    /// Copies to or from a variable, starting at byte `offset`.
    fn copy_variable(
        &mut self,
        symbol: *const c_void,
        other: *const c_void,
        size: usize,
        offset: usize,
        kind: c_int,
        to: bool,
    ) -> Done {
        let (address, bytes) = self.variable(symbol)?;
        if offset.checked_add(size).is_none_or(|end| end as u64 > bytes) {
            return Err(error::INVALID_VALUE);
        }
        let (variable, other) = (CopySide::device(address + offset as u64, size), CopySide::of(other, size));
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
        out.extend_from_slice(bytes(from.pointer.wrapping_byte_add(row * from.pitch), width)?);
    }
    Ok(out)
}

/// Copies contiguous bytes.
fn flat(runtime: &mut Runtime, to: *mut c_void, from: *const c_void, size: usize, kind: c_int) -> Done {
    runtime.copy(CopySide::of(to, size), CopySide::of(from, size), size, 1, kind)
}

api! {
    fn cudaMemcpy(to: *mut c_void, from: *const c_void, size: usize, kind: c_int) |runtime| flat(runtime, to, from, size, kind);
    fn cudaMemcpyAsync(to: *mut c_void, from: *const c_void, size: usize, kind: c_int, _stream: *mut c_void) |runtime| {
        flat(runtime, to, from, size, kind)
    };
    fn cudaMemcpyPeer(to: *mut c_void, _to_device: c_int, from: *const c_void, _from_device: c_int, size: usize) |runtime| {
        flat(runtime, to, from, size, BY_ADDRESS)
    };
    fn cudaMemcpy2D(
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, kind: c_int,
    ) |runtime| runtime.copy(CopySide::of(to, to_pitch), CopySide::of(from, from_pitch), width, height, kind);
    fn cudaMemcpy2DAsync(
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, kind: c_int,
        _stream: *mut c_void,
    ) |runtime| runtime.copy(CopySide::of(to, to_pitch), CopySide::of(from, from_pitch), width, height, kind);
    fn cudaMemset(to: *mut c_void, byte: c_int, size: usize) |runtime| runtime.fill(CopySide::of(to, size), byte, size, 1);
    fn cudaMemsetAsync(to: *mut c_void, byte: c_int, size: usize, _stream: *mut c_void) |runtime| {
        runtime.fill(CopySide::of(to, size), byte, size, 1)
    };
    fn cudaMemset2D(to: *mut c_void, pitch: usize, byte: c_int, width: usize, height: usize) |runtime| {
        runtime.fill(CopySide::of(to, pitch), byte, width, height)
    };
    fn cudaMemset2DAsync(
        to: *mut c_void, pitch: usize, byte: c_int, width: usize, height: usize, _stream: *mut c_void,
    ) |runtime| runtime.fill(CopySide::of(to, pitch), byte, width, height);
    fn cudaMemcpyToSymbol(symbol: *const c_void, from: *const c_void, size: usize, offset: usize, kind: c_int) |runtime| {
        runtime.copy_variable(symbol, from, size, offset, kind, true)
    };
    fn cudaMemcpyToSymbolAsync(
        symbol: *const c_void, from: *const c_void, size: usize, offset: usize, kind: c_int, _stream: *mut c_void,
    ) |runtime| runtime.copy_variable(symbol, from, size, offset, kind, true);
    fn cudaMemcpyFromSymbol(to: *mut c_void, symbol: *const c_void, size: usize, offset: usize, kind: c_int) |runtime| {
        runtime.copy_variable(symbol, to, size, offset, kind, false)
    };
    fn cudaMemcpyFromSymbolAsync(
        to: *mut c_void, symbol: *const c_void, size: usize, offset: usize, kind: c_int, _stream: *mut c_void,
    ) |runtime| runtime.copy_variable(symbol, to, size, offset, kind, false);
}
