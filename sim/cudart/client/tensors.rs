//! Tensor maps, which describe the tensors that bulk copies read and write.
use crate::pointers::{bytes, put, put_if, text};
use crate::protocol::error::INVALID_VALUE;
use crate::tensor_map::{MOST_DIMENSIONS, TensorMap, TiledTensor};
use crate::{Done, api};
use std::ffi::{c_char, c_int, c_uint, c_void};

/// CUDA's results of a search for a function of the driver.
const FOUND: c_int = 0;
const SYMBOL_NOT_FOUND: c_int = 1;

/// Largest supported numbers of a data type and of a permutation.
const LAST_TYPE: c_uint = 9;
const LAST_SWIZZLE: c_uint = 3;

/// Reads `count` numbers of the program.
fn numbers<const BYTES: usize>(from: *const c_void, count: usize) -> Done<Vec<u64>> {
    let bytes = bytes(from, BYTES * count)?;
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
    Ok(bytes.chunks_exact(BYTES).map(number).collect())
}

/// Finds a function of the driver for a program that is not linked with it.
fn entry_point(name: *const c_char, to: *mut *mut c_void, result: *mut c_int) -> Done {
    let found = match text(name)?.as_str() {
        "cuTensorMapEncodeTiled" => cuTensorMapEncodeTiled as *mut c_void,
        _ => std::ptr::null_mut(),
    };
    put_if(result, if found.is_null() { SYMBOL_NOT_FOUND } else { FOUND });
    put(to, found)
}

api! {
    fn cuTensorMapEncodeTiled(
        map: *mut c_void,
        data_type: c_uint,
        rank: c_uint,
        address: *mut c_void,
        sides: *const c_void,
        strides: *const c_void,
        box_sides: *const c_void,
        steps: *const c_void,
        interleave: c_uint,
        swizzle: c_uint,
        _promotion: c_uint,
        fill: c_uint,
    ) |runtime| {
        if interleave != 0 || swizzle > LAST_SWIZZLE || data_type > LAST_TYPE {
            return runtime.not_supported("interleaved and packed tensor maps, and permutations of longer pieces");
        }
        let rank = usize::try_from(rank).ok().filter(|rank| (1..=MOST_DIMENSIONS).contains(rank)).ok_or(INVALID_VALUE)?;
        let words = |from: *const c_void| -> Done<Vec<u32>> {
            Ok(numbers::<4>(from, rank)?.into_iter().map(|number| number as u32).collect())
        };
        let map_of = TensorMap::new(&TiledTensor {
            data_type,
            address: address as u64,
            sides: &numbers::<8>(sides, rank)?,
            strides: &numbers::<8>(strides, rank - 1)?,
            box_sides: &words(box_sides)?,
            steps: &words(steps)?,
            interleave,
            swizzle,
            fill,
        });
        put(map.cast(), map_of.ok_or(INVALID_VALUE)?.encode())
    };
    fn cudaGetDriverEntryPoint(name: *const c_char, to: *mut *mut c_void, _flags: u64, result: *mut c_int) |_| {
        entry_point(name, to, result)
    };
    fn cudaGetDriverEntryPointByVersion(
        name: *const c_char,
        to: *mut *mut c_void,
        _version: c_uint,
        _flags: u64,
        result: *mut c_int,
    ) |_| entry_point(name, to, result);
}
