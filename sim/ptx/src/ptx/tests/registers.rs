//! Tests the estimate of registers per thread.

use super::super::Module;

/// Returns the registers of a kernel with these directives and this code.
fn registers(directives: &str, code: &str) -> u32 {
    let text = format!(
        ".version 6.0\n.target sm_60\n.address_size 64\n\
         .visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n{directives}\n{{\n\
         .reg .pred %p<9>; .reg .b32 %r<99>; .reg .f32 %f<99>; .reg .b64 %rd<99>; .shared .align 8 .b8 s[4096];\n{code}\n}}\n"
    );
    let module = Module::parse("k.ptx", &text).expect("the kernel is PTX");
    module.kernel("k").expect("it has a kernel").registers
}

/// Returns code that loads `count` words and stores all of them after the last load.
fn loads(count: u32) -> String {
    let load = |n| format!("ld.volatile.global.u32 %r{n}, [%rd1+{}];\n", 4 * n);
    let store = |n| format!("st.volatile.global.u32 [%rd1+{}], %r{n};\n", 4 * n);
    let body: String = (0..count).map(load).chain((0..count).map(store)).collect();
    format!("ld.param.u64 %rd1, [p];\n{body}ret;")
}

#[test]
fn values_that_are_kept_take_registers() {
    let [few, many] = [10, 50].map(|count| registers("", &loads(count)));
    assert_eq!(many - few, 40);
}

#[test]
fn constants_and_parameters_take_none_until_they_are_used() {
    let kept: String = (60..70).map(|n| format!("mov.u32 %r{n}, {n}; ")).collect();
    let used: String = (60..70).map(|n| format!("add.u32 %r{0}, %r{0}, %r{n};\n", n - 59)).collect();
    let loaded: String =
        (1..11).map(|n| format!("ld.volatile.global.u32 %r{n}, [%rd1+{}];\n", 4 * n)).collect();
    let stored: String =
        (1..11).map(|n| format!("st.volatile.global.u32 [%rd1+{}], %r{n};\n", 4 * n)).collect();
    let code = |kept: &str, used: &str| {
        registers("", &format!("ld.param.u64 %rd1, [p];\n{kept}{loaded}{used}{stored}ret;"))
    };
    assert_eq!(code(&kept, &used), code("", ""));
}

#[test]
fn what_nobody_reads_takes_none() {
    let unread: String = (20..60).map(|n| format!("add.u32 %r{n}, %r{}, 1;\n", n - 1)).collect();
    let code = loads(10);
    assert_eq!(registers("", &code.replace("ret;", &format!("{unread}ret;"))), registers("", &code));
}

#[test]
fn addresses_in_shared_memory_have_32_bits() {
    let code = |space: &str| {
        let addresses: String =
            (10..40).map(|n| format!("cvt.u64.u32 %rd{n}, %r1; add.u64 %rd{n}, %rd{n}, {n};\n")).collect();
        let stores: String = (10..40).map(|n| format!("st.volatile.{space}.u32 [%rd{n}], 1;\n")).collect();
        registers("", &format!("mov.u32 %r1, %tid.x;\n{addresses}bar.sync 0;\n{stores}ret;"))
    };
    assert!(code("global") >= code("shared") + 30, "{} and {}", code("global"), code("shared"));
}

#[test]
fn a_loop_that_is_unrolled_takes_more() {
    let code = |pragma: &str| {
        registers(
            "",
            &format!(
                "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u32 %r1, [n]; mov.f32 %f1, 0f00000000; mov.u32 %r2, 0;\n\
                 L: {pragma} ld.global.f32 %f2, [%rd1]; ld.global.f32 %f3, [%rd2]; fma.rn.f32 %f1, %f2, %f3, %f1;\n\
                 add.s64 %rd1, %rd1, 4; add.s64 %rd2, %rd2, 4; add.s32 %r2, %r2, 1; setp.lt.s32 %p1, %r2, %r1; @%p1 bra L;\n\
                 st.global.f32 [%rd1], %f1; ret;"
            ),
        )
    };
    assert!(code("") >= code(".pragma \"nounroll\";") + 6);
}

#[test]
fn limits_of_the_ptx_are_obeyed_as_ptxas_does() {
    let code = loads(60);
    assert!(registers("", &code) > 60);
    // Registers that ptxas 11.8 allocates for a kernel that needs 62.
    for (directives, expected) in [
        (".maxnreg 24", 24),
        (".maxnreg 8", 16),
        (".maxntid 256, 1, 1\n.minnctapersm 8", 32),
        (".maxntid 256, 1, 1\n.minnctapersm 6", 40),
        (".maxntid 256, 1, 1\n.minnctapersm 5", 48),
        (".maxntid 64, 1, 1\n.minnctapersm 24", 40),
        (".maxntid 1024, 1, 1\n.minnctapersm 2", 32),
    ] {
        assert_eq!(registers(directives, &code), expected, "{directives}");
    }
    let free = registers("", &code);
    // `.minnctapersm` has no effect without the threads per CTA.
    for directives in [".minnctapersm 8", ".maxntid 256, 1, 1", ".maxnreg 200"] {
        assert_eq!(registers(directives, &code), free, "{directives}");
    }
}
