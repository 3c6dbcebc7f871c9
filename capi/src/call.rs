//! Common parts of all calls: the status, the error in one line, and the guard that stops panics.
use crate::text;
use selvedge_embed::Kind;
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Status of a call.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelvedgeStatus {
    /// The call succeeded.
    Ok = 0,
    /// An argument is invalid. Nothing has changed.
    Invalid = 1,
    /// The simulation cannot continue.
    Fault = 2,
    /// An internal error of Selvedge. A handle that was given can only be freed.
    Internal = 3,
}

/// Reason of a failed call.
#[derive(Debug)]
pub(crate) struct Failure {
    status: SelvedgeStatus,
    line: String,
}

impl Failure {
    /// Returns the failure for an invalid argument.
    pub fn invalid(why: impl Display) -> Self {
        Failure { status: SelvedgeStatus::Invalid, line: why.to_string() }
    }

    /// Returns the failure for a simulation that cannot continue.
    pub fn fault(why: impl Display) -> Self {
        Failure { status: SelvedgeStatus::Fault, line: why.to_string() }
    }

    fn internal(why: impl Display) -> Self {
        Failure { status: SelvedgeStatus::Internal, line: format!("internal error: {why}") }
    }
}

impl From<selvedge_embed::Failure> for Failure {
    fn from(failure: selvedge_embed::Failure) -> Self {
        let status = match failure.kind {
            Kind::Invalid => SelvedgeStatus::Invalid,
            Kind::Fault => SelvedgeStatus::Fault,
        };
        Failure { status, line: failure.line }
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Returns the error line of this thread's last failed call.
pub(crate) fn last_error() -> *const c_char {
    LAST.with_borrow(|line| line.as_ptr())
}

/// Runs the body of a call, stores the line of a failure, and converts a panic to a failure.
pub(crate) fn call(body: impl FnOnce() -> Result<(), Failure>) -> SelvedgeStatus {
    let result = catch_unwind(AssertUnwindSafe(body));
    let failure = match result {
        Ok(Ok(())) => return SelvedgeStatus::Ok,
        Ok(Err(failure)) => failure,
        Err(panic) => Failure::internal(words(&*panic)),
    };
    LAST.set(text::c_string(&failure.line));
    failure.status
}

/// Returns the message of a panic.
fn words(panic: &(dyn Any + Send)) -> &str {
    let literal = panic.downcast_ref::<&str>().copied();
    literal.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic")
}

/// Object behind a handle. A call that panics may leave it inconsistent, so later calls refuse it.
pub(crate) struct Guarded<T> {
    value: T,
    is_broken: bool,
}

impl<T> Guarded<T> {
    pub fn new(value: T) -> Self {
        Guarded { value, is_broken: false }
    }

    /// Runs a call on the value.
    pub fn work(&mut self, body: impl FnOnce(&mut T) -> Result<(), Failure>) -> SelvedgeStatus {
        if self.is_broken {
            return call(|| Err(Failure::internal("an earlier call has broken what the handle points to")));
        }
        let status = call(|| body(&mut self.value));
        self.is_broken = status == SelvedgeStatus::Internal;
        status
    }
}

/// Frees the object behind a handle. Null is ignored.
///
/// # Safety
/// `handle` is null, or was made by [`Box::into_raw`] and has not been freed.
pub(crate) unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: the caller's promise.
        let object = unsafe { Box::from_raw(handle) };
        call(|| {
            drop(object);
            Ok(())
        });
    }
}

/// Runs a call on the object behind a handle: `with!(handle, |object| ...)`. The caller of the function must ensure
/// that the handle is null or valid, and that no other thread uses it during the call.
macro_rules! with {
    ($handle:expr, $body:expr) => {{
        // SAFETY: the caller's promise.
        match unsafe { $handle.as_mut() } {
            Some(handle) => handle.0.work($body),
            None => $crate::call::call(|| Err($crate::text::is_null(stringify!($handle)))),
        }
    }};
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn line() -> String {
        // SAFETY: no call of this thread fails before the text is copied.
        unsafe { CStr::from_ptr(last_error()) }.to_str().expect("UTF-8").to_owned()
    }

    #[test]
    fn a_call_that_fails_leaves_one_line() {
        assert_eq!(call(|| Err(Failure::invalid("one\ntwo\0"))), SelvedgeStatus::Invalid);
        assert_eq!(line(), "one two ");
        assert_eq!(call(|| Ok(())), SelvedgeStatus::Ok);
        assert_eq!(line(), "one two ");
        std::thread::spawn(|| assert_eq!(line(), "")).join().expect("another thread has no error");
    }

    #[test]
    fn a_panic_is_a_status_and_breaks_its_handle_alone() {
        let mut object = Guarded::new(5);
        assert_eq!(object.work(|_| panic!("number {}", 7)), SelvedgeStatus::Internal);
        assert_eq!(line(), "internal error: number 7");
        assert_eq!(object.work(|_| Ok(())), SelvedgeStatus::Internal);
        assert_eq!(line(), "internal error: an earlier call has broken what the handle points to");
        let mut other = Guarded::new(5);
        assert_eq!(other.work(|_| Err(Failure::fault("it stops"))), SelvedgeStatus::Fault);
        assert_eq!(
            other.work(|value| {
                *value += 1;
                Ok(())
            }),
            SelvedgeStatus::Ok
        );
        assert_eq!(other.value, 6);
    }
}
