//! Tests which inlined functions are regions, their inputs and results, and which parameters become registers.
use super::{kernel_text, run_words};
use crate::ptx::{Kernel, KernelRegion, Module};
use std::sync::Arc;

/// A function of one word that branches. Its parameters are in memory.
const PURE: &str = ".func (.param .b32 r) f(.param .b32 x) { .reg .b32 %a<4>; .reg .pred %q;\n\
    ld.param.u32 %a0, [x]; mul.lo.u32 %a1, %a0, 3; setp.lt.u32 %q, %a0, 5; @%q bra small; add.u32 %a1, %a1, 100;\n\
    small: st.param.b32 [r], %a1; ret; }";

/// Calls `f` with %r0, and stores the result from %r1.
const CALL: &str = "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x;\n\
    { .param .b32 p; .param .b32 q; st.param.b32 [p], %r0; call (q), f, (p); ld.param.b32 %r1, [q]; }\n\
    mul.wide.u32 %rd1, %r0, 4; add.s64 %rd0, %rd0, %rd1; st.global.u32 [%rd0], %r1; ret;";

fn kernel(declarations: &str, body: &str) -> Arc<Kernel> {
    let module = Module::parse("k.ptx", &kernel_text(declarations, body)).expect("it is PTX");
    module.kernel("k").expect("it is there")
}

/// Returns the words that a CTA of one warp writes.
fn written(declarations: &str) -> Vec<u32> {
    run_words(&kernel_text(declarations, CALL), 32, &[0; 32]).expect("it runs").0
}

fn shapes(kernel: &Kernel) -> Vec<(usize, usize)> {
    kernel.regions.iter().map(|r| (KernelRegion::words(&r.inputs), KernelRegion::words(&r.results))).collect()
}

#[test]
fn a_function_without_side_effects_is_a_region_of_its_parameters_and_results() {
    let kernel = kernel(PURE, CALL);
    assert_eq!(shapes(&kernel), [(1, 1)]);
    let KernelRegion { start, end, has_loop, .. } = kernel.regions[0];
    assert!(!has_loop);
    let lines: Vec<_> = (start..end).map(|pc| kernel.text(pc)).collect();
    assert!(lines[0].starts_with("ld.param.u32 %a0"), "{lines:?}");
    assert!(lines.last().is_some_and(|last| last.starts_with("ret")), "{lines:?}");
    assert_eq!(kernel.local_bytes, 0, "its parameters are registers");
}

#[test]
fn parameters_in_registers_are_what_they_were_in_memory() {
    let expected = |thread: u32| 3 * thread + if thread < 5 { 0 } else { 100 };
    let in_words = written(PURE);
    assert_eq!(in_words, (0..32).map(expected).collect::<Vec<_>>());
    // A parameter that is also loaded by halves stays in memory.
    let halves = PURE.replace("mul.lo.u32", ".reg .b16 %half; ld.param.u16 %half, [x]; mul.lo.u32");
    assert_eq!(kernel(&halves, CALL).local_bytes, 16, "x alone, rounded up");
    assert_eq!(written(&halves), in_words);
}

#[test]
fn what_reads_or_writes_more_than_registers_is_no_region() {
    let with = |more: &str| {
        kernel(&PURE.replace("mul.lo.u32 %a1, %a0, 3;", &format!("mul.lo.u32 %a1, %a0, 3; {more}")), CALL)
    };
    assert_eq!(shapes(&with("xor.b32 %a1, %a1, 7;")), [(1, 1)]);
    for more in [
        "mov.u32 %a2, %tid.x; add.u32 %a1, %a1, %a2;",
        "mov.u32 %a2, %clock; add.u32 %a1, %a1, %a2;",
        "shfl.sync.idx.b32 %a1, %a1, 0, 31, -1;",
        "bar.sync 0;",
        "membar.gl;",
        ".local .b32 own; st.local.u32 [own], %a1; ld.local.u32 %a1, [own];",
        "@%q exit;",
    ] {
        assert_eq!(shapes(&with(more)), [], "{more}");
    }
}

#[test]
fn constants_may_be_read() {
    let declarations = format!(".const .b32 table[4] = {{ 1, 2, 3, 4 }};\n{PURE}");
    let reads =
        declarations.replace("%a0, 3;", "%a0, 3; ld.const.u32 %a2, [table+8]; add.u32 %a1, %a1, %a2;");
    assert_eq!(shapes(&kernel(&reads, CALL)), [(1, 1)]);
}

#[test]
fn of_nested_functions_the_outermost_is_the_region() {
    let outer = format!(
        "{}\n.func (.param .b32 r) g(.param .b32 x) {{ .reg .b32 %a<4>; ld.param.u32 %a0, [x];\n\
         {{ .param .b32 p; .param .b32 q; st.param.b32 [p], %a0; call (q), f, (p); ld.param.b32 %a1, [q]; }}\n\
         add.u32 %a1, %a1, 1; st.param.b32 [r], %a1; ret; }}",
        PURE
    );
    let one = kernel(&outer, &CALL.replace("f, (p)", "g, (p)"));
    assert_eq!(shapes(&one), [(1, 1)]);
    let whole = one.regions[0].end - one.regions[0].start;
    // An outer function with a side effect is no region, but its inner function is.
    let stores = outer.replace("add.u32 %a1, %a1, 1;", "add.u32 %a1, %a1, 1; membar.gl;");
    let inner = kernel(&stores, &CALL.replace("f, (p)", "g, (p)"));
    assert_eq!(shapes(&inner), [(1, 1)]);
    assert!(inner.regions[0].end - inner.regions[0].start < whole);
}

#[test]
fn values_of_64_bits_are_two_words_and_a_guarded_result_depends_on_what_it_was() {
    let wide = ".func (.reg .b64 %y) f(.reg .b32 %x) { mul.wide.u32 %y, %x, 5; ret; }";
    let call = "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; call (%rd2), f, (%r0);\n\
                mul.wide.u32 %rd1, %r0, 8; add.s64 %rd0, %rd0, %rd1; st.global.u64 [%rd0], %rd2; ret;";
    assert_eq!(shapes(&kernel(wide, call)), [(1, 2)]);
    // If the function does not set its result, the caller's register keeps its old value, which is irrelevant here.
    let some = ".func (.reg .b32 %y) f(.reg .b32 %x) { .reg .pred %q; setp.lt.u32 %q, %x, 4; @%q mov.u32 %y, 9; ret; }";
    let call = "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; call (%r1), f, (%r0); st.global.u32 [%rd0], %r1; ret;";
    assert_eq!(shapes(&kernel(some, call)), [(2, 1)], "the function's own register is an input");
}

#[test]
fn a_loop_is_told() {
    let looping = ".func (.reg .b32 %y) f(.reg .b32 %x) { .reg .pred %q; .reg .b32 %n; mov.u32 %y, 0; mov.u32 %n, %x;\n\
                   again: add.u32 %y, %y, %n; sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q bra again; ret; }";
    let call = "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; call (%r1), f, (%r0); st.global.u32 [%rd0], %r1; ret;";
    let kernel = kernel(looping, call);
    assert!(kernel.regions[0].has_loop);
    assert_eq!(shapes(&kernel), [(1, 1)]);
}
