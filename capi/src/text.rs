//! Texts and pointers that are passed to and from C.
use crate::call::Failure;
use selvedge_embed::one_line;
use serde::Serialize;
use std::ffi::{CStr, CString, c_char};

/// Returns a C string in one line, without zeros.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(one_line(text)).unwrap_or_default()
}

/// Returns the failure for a null argument.
pub(crate) fn is_null(name: &str) -> Failure {
    Failure::invalid(format!("{name} is null"))
}

/// Reads a text of the caller.
///
/// # Safety
/// `text` is null, or a C string that does not change during the call.
pub(crate) unsafe fn read<'a>(name: &str, text: *const c_char) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(is_null(name));
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Failure::invalid(format!("{name} is not UTF-8")))
}

/// Like [`read`], but null means `None`.
///
/// # Safety
/// Like [`read`].
pub(crate) unsafe fn read_if_any<'a>(name: &str, text: *const c_char) -> Result<Option<&'a str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    unsafe { read(name, text) }.map(Some)
}

/// Writes a result through the caller's pointer.
///
/// # Safety
/// `to` is null, or valid for writes of a `T`.
pub(crate) unsafe fn write<T>(name: &str, to: *mut T, value: T) -> Result<(), Failure> {
    if to.is_null() {
        return Err(is_null(name));
    }
    // SAFETY: the caller's promise.
    unsafe { to.write(value) };
    Ok(())
}

/// Writes a text that the caller frees.
///
/// # Safety
/// Like [`write`].
pub(crate) unsafe fn write_text(name: &str, to: *mut *mut c_char, text: &str) -> Result<(), Failure> {
    if to.is_null() {
        return Err(is_null(name));
    }
    let text = CString::new(text).map_err(Failure::fault)?;
    // SAFETY: the caller's promise.
    unsafe { write(name, to, text.into_raw()) }
}

/// Writes a value as JSON, in a text that the caller frees.
///
/// # Safety
/// Like [`write`].
pub(crate) unsafe fn write_json(
    name: &str,
    to: *mut *mut c_char,
    value: &impl Serialize,
) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::fault)?;
    // SAFETY: the caller's promise.
    unsafe { write_text(name, to, &text) }
}

/// Frees a text that a function has written; null is nothing to free.
///
/// # Safety
/// `text` is null, or a text of this library that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_string_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the caller's promise. `CString::into_raw` has made all such texts.
        drop(unsafe { CString::from_raw(text) });
    }
}
