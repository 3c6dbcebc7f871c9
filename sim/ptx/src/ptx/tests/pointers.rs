//! Tests that calls through pointers reach the function of each lane's pointer.

use super::{kernel_text, own_element, run_words};

const FUNCTIONS: &str = ".func (.param .b32 r) twice(.param .b32 x);\n\
    .func (.param .b32 r) thrice(.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x]; mul.lo.u32 %a, %a, 3; st.param.b32 [r], %a; ret; }\n\
    .func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x]; add.u32 %a, %a, %a; st.param.b32 [r], %a; ret; }\n\
    .func other(.param .b64 x) { ret; }\n\
    .global .align 8 .u64 table[3] = {twice, thrice, other};\n";

fn run(body: &str) -> Result<Vec<u32>, String> {
    let body = own_element(4) + body + "\nst.global.u32 [%rd0], %r2; ret;";
    run_words(&kernel_text(FUNCTIONS, &body), 32, &[0; 32])
        .map(|(out, _)| out)
        .map_err(|error| error.to_string())
}

/// Calls the function in `%rd5` with the thread's number.
const CALL: &str = "{ .param .b32 p; st.param.b32 [p], %r0; .param .b32 q; prototype: .callprototype (.param .b32 _) _ (.param .b32 _);\n\
                    call (q), %rd5, (p), prototype; ld.param.b32 %r2, [q]; }";

#[test]
fn each_lane_calls_the_function_that_its_pointer_names() {
    let choose = "and.b32 %r1, %r0, 1; setp.eq.s32 %p1, %r1, 1; mov.u64 %rd6, twice; mov.u64 %rd7, thrice; selp.b64 %rd5, %rd7, %rd6, %p1;\n";
    let expected: Vec<u32> = (0..32).map(|t| t * (2 + t % 2)).collect();
    assert_eq!(run(&format!("{choose}{CALL}")).unwrap(), expected);
    let table = "and.b32 %r1, %r0, 1; mul.wide.u32 %rd6, %r1, 8; mov.u64 %rd7, table; add.s64 %rd6, %rd6, %rd7; ld.global.u64 %rd5, [%rd6];\n";
    assert_eq!(run(&format!("{table}{CALL}")).unwrap(), expected);
    // Lanes that do not call may hold any pointer.
    let guarded = CALL
        .replace("call (q)", "@%p2 call (q)")
        .replace("%r0; .param .b32 q;", "%r0; .param .b32 q; st.param.b32 [q], 77;");
    let some = format!("{choose} setp.lt.u32 %p2, %r0, 4; selp.b64 %rd5, %rd5, 0, %p2; {guarded}");
    assert_eq!(run(&some).unwrap(), [&expected[..4], &[77; 28]].concat());
}

#[test]
fn a_pointer_to_no_such_function_is_a_fault() {
    let line = run(&format!("mov.u64 %rd5, other; {CALL}")).unwrap_err();
    assert!(
        line.contains(
            "thread (0,0,0): `call (q), %rd5, (p), prototype` calls 0x6000020, which is no function"
        ),
        "{line}"
    );
    assert!(
        run(&format!("mov.u64 %rd5, 0; {CALL}")).unwrap_err().contains("calls 0x0, which is no function")
    );
}

#[test]
fn the_elements_behind_parameters_are_those_that_loads_and_stores_have() {
    let text = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, \
                .param .u64 c, .param .u64 n, .param .u32 m)\n{\n.reg .b32 %r<9>; .reg .f32 %f<4>; .reg .b64 %rd<20>; .reg .b16 %h<3>;\n\
                ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u64 %rd4, [n];\n\
                ld.param.u32 %r1, [m]; cvta.to.global.u64 %rd5, %rd1; mul.lo.s64 %rd6, %rd4, 4; add.s64 %rd7, %rd5, %rd6;\n\
                ld.global.f32 %f1, [%rd7]; st.global.f32 [%rd7+4], %f1; ld.global.u32 %r2, [%rd7];\n\
                mad.wide.u32 %rd8, %r1, 2, %rd2; ld.global.s16 %h1, [%rd8]; ret;\n}";
    let module = super::super::Module::parse("test.ptx", text).unwrap();
    let found = module.kernels()[0].pointers();
    let seen: Vec<_> = found.iter().map(|p| (p.param, p.bits, p.float, p.signed)).collect();
    // `c` reaches no access. `n` is only an index.
    assert_eq!(seen, [(0, 32, true, false), (1, 16, false, true)]);
}
