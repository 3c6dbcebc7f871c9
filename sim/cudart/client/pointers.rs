//! Access through the program's pointers, which CUDA requires to be valid or null.
use crate::Done;
use crate::protocol::error::INVALID_VALUE;
use std::ffi::{CStr, c_char, c_void};

pub fn put<T>(to: *mut T, value: T) -> Done {
    if to.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the program gives a place for the result, and it is not null.
    unsafe { to.write_unaligned(value) };
    Ok(())
}

/// Stores an optional result.
pub fn put_if<T>(to: *mut T, value: T) {
    // A null pointer means that the program does not need the result.
    let _ = put(to, value);
}

pub fn get<T: Copy>(from: *const T) -> Done<T> {
    if from.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the program gives a value, and the pointer is not null.
    Ok(unsafe { from.read_unaligned() })
}

/// Reads a value at byte `offset` of a structure.
pub fn field<T: Copy>(structure: *const c_void, offset: usize) -> Done<T> {
    if structure.is_null() {
        return Err(INVALID_VALUE);
    }
    get(structure.cast::<u8>().wrapping_add(offset).cast::<T>())
}

/// Stores a value at byte `offset` of a structure.
pub fn put_field<T>(structure: *mut c_void, offset: usize, value: T) -> Done {
    if structure.is_null() {
        return Err(INVALID_VALUE);
    }
    put(structure.cast::<u8>().wrapping_add(offset).cast::<T>(), value)
}

/// Returns `count` bytes of the program's memory.
pub fn bytes<'a>(from: *const c_void, count: usize) -> Done<&'a [u8]> {
    if count == 0 {
        return Ok(&[]);
    }
    if from.is_null() || count > isize::MAX as usize {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the program gives so many bytes to be read, for the time of its call.
    Ok(unsafe { std::slice::from_raw_parts(from.cast(), count) })
}

/// Returns `count` writable bytes of the program's memory.
pub fn bytes_mut<'a>(to: *mut c_void, count: usize) -> Done<&'a mut [u8]> {
    if count == 0 {
        return Ok(&mut []);
    }
    if to.is_null() || count > isize::MAX as usize {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the program gives so many bytes to be written, for the time of its call.
    Ok(unsafe { std::slice::from_raw_parts_mut(to.cast(), count) })
}

/// Returns a copy of a C string of the program.
pub fn text(from: *const c_char) -> Done<String> {
    if from.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the program gives a string that ends with a zero.
    Ok(unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned())
}
