//! The CUDA runtime library that a program loads in place of NVIDIA's: it sends every call to the simulator that started the
//! program.
//!
//! It has no dependency but the standard library, so that the build script can compile it by itself. Nothing in it panics across
//! the C boundary: [`entry`] catches what does. Every pointer comes from the program, which CUDA requires to be valid; those that
//! may be null are checked.
mod arrays;
mod connection;
mod copies;
mod device;
mod errors;
mod kernels;
mod memory;
mod pointers;
#[path = "../src/protocol.rs"]
pub mod protocol;
mod runtime;
mod streams;
mod textures;
mod unsupported;

use protocol::error;
use runtime::Runtime;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Done, or CUDA's error.
type Done<T = ()> = Result<T, i32>;

thread_local! {
    /// The last error of a host thread.
    static LAST_ERROR: Cell<i32> = const { Cell::new(0) };
}

/// Does a call of the program called `name`, one at a time over all host threads; notes and returns CUDA's error.
fn entry(name: &'static str, body: impl FnOnce(&mut Runtime) -> Done) -> i32 {
    let done = catch_unwind(AssertUnwindSafe(|| {
        let mut runtime = runtime::lock();
        runtime.connection.name = name;
        body(&mut runtime)
    }));
    let code = match done {
        Ok(Ok(())) => return 0,
        Ok(Err(code)) => code,
        Err(_) => error::LAUNCH_FAILURE,
    };
    LAST_ERROR.with(|last| last.set(code));
    code
}

/// Defines functions of CUDA's API that return an error code: `|runtime| body` for each.
macro_rules! api {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) |$runtime:pat_param| $body:expr;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name($($argument: $type),*) -> i32 {
            $crate::entry(stringify!($name), |$runtime| $body)
        }
    )*};
}
pub(crate) use api;
