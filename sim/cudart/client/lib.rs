//! The CUDA runtime library that a program loads instead of NVIDIA's. It sends each call to the simulator that started the
//! program.
//!
//! The library depends only on the standard library, so that the build script can compile it with one call of rustc. No panic
//! crosses the C boundary: [`entry`] catches all of them. All pointers come from the program, and CUDA requires them to be valid.
//! Pointers that may be null are checked.
mod arrays;
mod blas;
mod blas_unsupported;
mod branches;
mod connection;
mod copies;
mod device;
mod driver;
mod errors;
mod graphs;
mod kernels;
mod memory;
mod pointers;
mod process;
#[path = "../src/protocol.rs"]
pub mod protocol;
mod runtime;
mod streams;
#[expect(dead_code, reason = "the executor reads the maps, the library only makes them")]
#[path = "../../ptx/src/tensor_map.rs"]
mod tensor_map;
mod tensors;
mod textures;
mod unsupported;
mod work;

use protocol::error;
use runtime::Runtime;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Result of a call, with CUDA's error code.
type Done<T = ()> = Result<T, i32>;

thread_local! {
    /// Last error of each host thread.
    static LAST_ERROR: Cell<i32> = const { Cell::new(0) };
}

/// Runs the CUDA function `name`, one at a time over all host threads. Stores, reports and returns CUDA's error code.
fn entry(name: &'static str, body: impl FnOnce(&mut Runtime) -> Done) -> i32 {
    let done = catch_unwind(AssertUnwindSafe(|| {
        process::check(name)?;
        let mut runtime = runtime::lock();
        (runtime.connection.name, runtime.connection.is_told) = (name, false);
        let done = body(&mut runtime);
        if let Err(code) = done {
            runtime.connection.tell(code, errors::name(code));
        }
        done
    }));
    let code = match done {
        Ok(Ok(())) => return 0,
        Ok(Err(code)) => code,
        Err(_) => error::LAUNCH_FAILURE,
    };
    LAST_ERROR.with(|last| last.set(code));
    code
}

/// Defines functions of CUDA's API that return an error code. Each has the form `|runtime| body`.
macro_rules! api {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) |$runtime:pat_param| $body:expr;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name($($argument: $type),*) -> i32 {
            $crate::entry(stringify!($name), |$runtime| $body)
        }
    )*};
}
pub(crate) use api;
