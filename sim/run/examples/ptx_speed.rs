//! Measures the PTX executor without the timing model: nanoseconds per warp instruction, for several instruction mixes.
//!
//! `cargo run --release -p selvedge-sim --example ptx_speed`

use std::time::Instant;

use selvedge_sim::memory::DeviceMemory;
use selvedge_sim::ptx::{Arg, LaunchDims, Module, run_functional};

/// Returns a kernel with 1000 iterations of `body`, for 64 blocks of 256 threads. `%r0` is the thread's index, `%rd0` the address
/// of its word.
fn program(body: &str) -> String {
    format!(
        ".version 6.0\n.target sm_60\n.address_size 64\n.entry k(.param .u64 out)\n{{\n.reg .pred %p<9>; .reg .b32 %r<40>;\n\
         .reg .f32 %f<40>; .reg .b64 %rd<40>; .reg .f64 %fd<9>;\n\
         ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.s32 %r0, %r2, 256, %r1;\n\
         mul.wide.u32 %rd1, %r0, 4; add.s64 %rd0, %rd0, %rd1; mov.u32 %r3, 0; mov.f32 %f1, 0f3F800000; mov.f32 %f2, %f1;\n\
         cvt.rn.f64.u32 %fd1, %r0;\n\
         LOOP:\n{body}\nadd.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, 1000; @%p1 bra LOOP;\n\
         st.global.u32 [%rd0], %r4; ret;\n}}\n"
    )
}

fn measure(name: &str, body: &str) {
    let module = Module::parse(name, &program(body)).expect("the program is PTX");
    let kernel = module.kernel("k").expect("the program has kernel k");
    let mut memory = DeviceMemory::new();
    let buffer = memory.alloc(64 * 256 * 4, "out").expect("there is room");
    let params = kernel.pack(&[Arg::Ptr(buffer)]).expect("k takes an address");
    let launch = LaunchDims::new([64, 1, 1], [256, 1, 1]);
    let start = Instant::now();
    let stats = run_functional(&module, &kernel, &launch, &params, &mut memory).expect("k runs");
    let nanoseconds = start.elapsed().as_nanos() as f64 / stats.warp_instructions as f64;
    println!("{name:12} {:>10} warp instructions {nanoseconds:7.1} ns each", stats.warp_instructions);
}

fn main() {
    let integer = "add.s32 %r4, %r4, %r0; xor.b32 %r5, %r4, %r3; shl.b32 %r6, %r5, 3; and.b32 %r7, %r6, 255;\n\
                   mad.lo.s32 %r4, %r7, 5, %r4; min.s32 %r8, %r4, %r5; mul.wide.s32 %rd2, %r8, 4; add.s64 %rd3, %rd2, %rd0;";
    let single = "fma.rn.f32 %f3, %f1, %f2, %f3; add.f32 %f4, %f3, %f1; mul.f32 %f5, %f4, %f2; sub.f32 %f3, %f5, %f4;\n\
                  max.f32 %f6, %f3, %f4; fma.rn.f32 %f3, %f6, %f2, %f3; setp.lt.f32 %p2, %f3, %f1; selp.f32 %f3, %f1, %f3, %p2;";
    let double = "fma.rn.f64 %fd2, %fd1, %fd1, %fd2; add.f64 %fd3, %fd2, %fd1; mul.f64 %fd4, %fd3, %fd1;";
    let fused =
        "fma.rn.f32 %f3, %f1, %f2, %f3; fma.rn.f32 %f4, %f1, %f2, %f4; fma.rn.f32 %f5, %f1, %f2, %f5;";
    let memory = "ld.global.u32 %r4, [%rd0]; add.s32 %r4, %r4, 1; st.global.u32 [%rd0], %r4;";
    let divergent = "and.b32 %r5, %r0, 3; setp.eq.s32 %p2, %r5, 1; @%p2 bra A; add.s32 %r4, %r4, 1; xor.b32 %r6, %r4, %r5;\n\
                     bra.uni B; A: sub.s32 %r4, %r4, 1; add.s32 %r6, %r4, %r4; B: add.s32 %r4, %r4, %r6;";
    let mixes = [
        ("integer", integer),
        ("single", single),
        ("double", double),
        ("fma", fused),
        ("memory", memory),
        ("divergent", divergent),
    ];
    for (name, body) in mixes {
        measure(name, body);
    }
}
