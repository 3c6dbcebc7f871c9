//! Copies between host and device, in rows.
use crate::pointers::{bytes, bytes_mut};
use crate::protocol::{Call, error};
use crate::runtime::Runtime;
use crate::{Done, api};
use std::ffi::{c_int, c_void};

/// Where a copy's bytes are, row by row.
#[derive(Clone, Copy)]
pub struct Side {
    /// First byte.
    pub pointer: *mut c_void,
    /// Bytes from one row to the next.
    pub pitch: usize,
    /// It is known to be on the device; none where the copy's kind says that.
    pub is_device: Option<bool>,
}

impl Side {
    /// A pointer in the memory that the kind of the copy states.
    pub fn of(pointer: *const c_void, pitch: usize) -> Self {
        Side { pointer: pointer.cast_mut(), pitch, is_device: None }
    }

    /// A pointer to the device.
    pub fn device(address: u64, pitch: usize) -> Self {
        Side { pointer: crate::memory::pointer(address), pitch, is_device: Some(true) }
    }

    fn address(self) -> u64 {
        self.pointer as usize as u64
    }

    /// The same, some bytes further on.
    pub fn moved(self, by: usize) -> Self {
        Side { pointer: self.pointer.wrapping_byte_add(by), ..self }
    }
}

/// The kinds of copies.
const HOST_TO_HOST: c_int = 0;
const HOST_TO_DEVICE: c_int = 1;
const DEVICE_TO_HOST: c_int = 2;
const DEVICE_TO_DEVICE: c_int = 3;
const BY_ADDRESS: c_int = 4;

impl Runtime {
    /// Returns whether this side is on the device, of which the kind says so or not.
    fn is_device(&self, side: Side, by_kind: bool, kind: c_int) -> bool {
        if self.is_managed(side.address()) {
            return false;
        }
        side.is_device.unwrap_or(if kind == BY_ADDRESS { self.is_on_device(side.address()) } else { by_kind })
    }

    /// Copies `height` rows of `width` bytes.
    pub fn copy(&mut self, to: Side, from: Side, width: usize, height: usize, kind: c_int) -> Done {
        if width == 0 || height == 0 {
            return Ok(());
        }
        if !(HOST_TO_HOST..=BY_ADDRESS).contains(&kind) {
            return Err(error::INVALID_VALUE);
        }
        if height > 1 && (to.pitch < width || from.pitch < width) {
            return Err(12);
        }
        let to_device = self.is_device(to, matches!(kind, HOST_TO_DEVICE | DEVICE_TO_DEVICE), kind);
        let from_device = self.is_device(from, matches!(kind, DEVICE_TO_HOST | DEVICE_TO_DEVICE), kind);
        let rows = [width as u64, height as u64];
        match (to_device, from_device) {
            (true, true) => {
                let [to, from] = [to, from].map(|side| [side.address(), side.pitch as u64]);
                self.connection.call(Call::Copy, &[to, from, rows].concat(), &[])?;
            }
            (true, false) => {
                let packed;
                let data = if height == 1 || from.pitch == width {
                    bytes(from.pointer, width * height)?
                } else {
                    packed = pack(from, width, height)?;
                    &packed
                };
                self.connection.call(
                    Call::Write,
                    &[to.address(), to.pitch as u64, rows[0], rows[1]],
                    data,
                )?;
            }
            (false, true) => {
                let words = [from.address(), from.pitch as u64, rows[0], rows[1]];
                let data = self.connection.call(Call::Read, &words, &[])?.bytes;
                for (row, data) in data.chunks_exact(width).enumerate() {
                    bytes_mut(to.pointer.wrapping_byte_add(row * to.pitch), width)?.copy_from_slice(data);
                }
            }
            (false, false) => {
                let data = pack(from, width, height)?;
                for (row, data) in data.chunks_exact(width).enumerate() {
                    bytes_mut(to.pointer.wrapping_byte_add(row * to.pitch), width)?.copy_from_slice(data);
                }
            }
        }
        Ok(())
    }

    /// Fills rows with a byte.
    fn fill(&mut self, to: Side, byte: c_int, width: usize, height: usize) -> Done {
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

    /// Copies to or from a variable, from byte `offset` on.
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
        let (variable, other) = (Side::device(address + offset as u64, size), Side::of(other, size));
        let (to, from) = if to { (variable, other) } else { (other, variable) };
        self.copy(to, from, size, 1, kind)
    }
}

/// The rows of host memory, one after the other.
fn pack(from: Side, width: usize, height: usize) -> Done<Vec<u8>> {
    let mut out = Vec::with_capacity(width * height);
    for row in 0..height {
        out.extend_from_slice(bytes(from.pointer.wrapping_byte_add(row * from.pitch), width)?);
    }
    Ok(out)
}

/// A copy of bytes in one row.
fn flat(runtime: &mut Runtime, to: *mut c_void, from: *const c_void, size: usize, kind: c_int) -> Done {
    runtime.copy(Side::of(to, size), Side::of(from, size), size, 1, kind)
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
    ) |runtime| runtime.copy(Side::of(to, to_pitch), Side::of(from, from_pitch), width, height, kind);
    fn cudaMemcpy2DAsync(
        to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize, kind: c_int,
        _stream: *mut c_void,
    ) |runtime| runtime.copy(Side::of(to, to_pitch), Side::of(from, from_pitch), width, height, kind);
    fn cudaMemset(to: *mut c_void, byte: c_int, size: usize) |runtime| runtime.fill(Side::of(to, size), byte, size, 1);
    fn cudaMemsetAsync(to: *mut c_void, byte: c_int, size: usize, _stream: *mut c_void) |runtime| {
        runtime.fill(Side::of(to, size), byte, size, 1)
    };
    fn cudaMemset2D(to: *mut c_void, pitch: usize, byte: c_int, width: usize, height: usize) |runtime| {
        runtime.fill(Side::of(to, pitch), byte, width, height)
    };
    fn cudaMemset2DAsync(
        to: *mut c_void, pitch: usize, byte: c_int, width: usize, height: usize, _stream: *mut c_void,
    ) |runtime| runtime.fill(Side::of(to, pitch), byte, width, height);
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
