//! libselvedge: Selvedge for C, C++ and other languages that can call C.
//!
//! [`block`] steps a hardware block, [`memory`] the memory system behind the caller's own SMs, [`gpu`] a whole
//! simulation. cbindgen generates the header `include/selvedge.h` from these modules; a test compares the two.
//!
//! Each object is behind an opaque handle. Functions return a [`SelvedgeStatus`] and write their results through
//! pointers. [`selvedge_last_error`] returns the error of a failed call as one line. No panic leaves a function.
#[macro_use]
mod call;

pub mod block;
pub mod gpu;
pub mod memory;
mod text;

pub use call::SelvedgeStatus;
pub use text::selvedge_string_free;

use std::ffi::{CStr, c_char};

/// Version of this interface. A change that breaks compiled programs raises it.
pub const SELVEDGE_API_VERSION: u32 = 1;

/// Version of Selvedge as a C string.
const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("a version has no zero"),
};

/// Returns the version of the interface that the library has. A program compares it with the header's SELVEDGE_API_VERSION.
#[unsafe(no_mangle)]
pub extern "C" fn selvedge_api_version() -> u32 {
    SELVEDGE_API_VERSION
}

/// Returns the version of Selvedge, such as "0.1.0". The text is the library's.
#[unsafe(no_mangle)]
pub extern "C" fn selvedge_version() -> *const c_char {
    VERSION.as_ptr()
}

/// Returns the error of this thread's last failed call, in one line; an empty text if no call has failed. The library owns
/// the text, which is valid until the next failed call of this thread.
#[unsafe(no_mangle)]
pub extern "C" fn selvedge_last_error() -> *const c_char {
    call::last_error()
}
