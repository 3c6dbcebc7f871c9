//! Tests of the front end: one file per question.

mod control;
mod kernels;

use super::{Arg, FunctionalStats, LaunchDims, Module, RunError, run_functional};
use crate::memory::DeviceMemory;

/// Wraps statements into a module with one kernel `k` whose parameter `out` is a buffer.
pub(super) fn kernel_text(declarations: &str, body: &str) -> String {
    format!(
        ".version 6.0\n.target sm_60\n.address_size 64\n{declarations}\n.visible .entry k(.param .u64 out)\n{{\n\
         .reg .pred %p<20>;\n.reg .b16 %h<20>;\n.reg .b32 %r<40>;\n.reg .f32 %f<20>;\n.reg .b64 %rd<40>;\n\
         .reg .f64 %fd<20>;\n{body}\n}}\n"
    )
}

/// Statements that leave the address of the thread's own element of `bytes` bytes in `%rd0`.
pub(super) fn own_element(bytes: u32) -> String {
    format!(
        "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, {bytes}; add.s64 %rd0, %rd0, %rd1;\n"
    )
}

/// Runs kernel `k` of `text` on one block of `threads`, on a buffer that starts with `input`, and returns the buffer.
pub(super) fn run_words(
    text: &str,
    threads: u32,
    input: &[u32],
) -> Result<(Vec<u32>, FunctionalStats), RunError> {
    let module = Module::parse("test.ptx", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut memory = DeviceMemory::new();
    module.load(&mut memory).expect("globals fit");
    let buffer = memory.alloc(4 * input.len() as u64, "out").expect("the buffer fits");
    memory.write_u32s(buffer, input).expect("the buffer holds the input");
    let kernel = module.kernel("k").expect("the text has kernel k");
    let params = kernel.pack(&[Arg::Ptr(buffer)]).expect("k takes one address");
    let launch = LaunchDims::new([1, 1, 1], [threads, 1, 1]);
    let stats = run_functional(&module, &kernel, &launch, &params, &mut memory)?;
    Ok((memory.read_u32s(buffer, input.len()).expect("the buffer is there"), stats))
}
