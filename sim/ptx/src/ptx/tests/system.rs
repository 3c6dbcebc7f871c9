//! Tests printing, allocation, assertions and reducing barriers.

use super::super::{Arg, FunctionalError, LaunchDims, Module, run_functional};
use super::{kernel_text, own_element, run_words};
use crate::memory::{DeviceMemory, PRINT_CAPACITY, PrintedText};

const EXTERNALS: &str = ".extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 arguments);\n\
                         .extern .func (.param .b64 r) malloc(.param .b64 bytes);\n\
                         .extern .func free(.param .b64 pointer);\n\
                         .extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);\n";

/// Declares a string as a variable of the module.
fn text_variable(name: &str, text: &str) -> String {
    let bytes: Vec<String> = text.bytes().chain([0]).map(|byte| byte.to_string()).collect();
    format!(".global .align 1 .b8 {name}[{}] = {{{}}};\n", bytes.len(), bytes.join(", "))
}

/// Returns the text that a kernel of `threads` threads prints, and the words of its buffer.
fn printed(declarations: &str, body: &str, threads: u32) -> Result<(PrintedText, Vec<u32>), FunctionalError> {
    let text = kernel_text(&format!("{EXTERNALS}{declarations}"), &(own_element(4) + body));
    let module = Module::parse("test.ptx", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut memory = DeviceMemory::new();
    module.load(&mut memory).unwrap();
    let out = memory.alloc(4 * u64::from(threads), "out").unwrap();
    let kernel = module.kernel("k").unwrap();
    let params = kernel.pack(&[Arg::Ptr(out)]).unwrap();
    let launch = LaunchDims::new([1, 1, 1], [threads, 1, 1]);
    run_functional(&module, &kernel, &launch, &params, &mut memory)?;
    Ok((memory.take_printed(), memory.read_u32s(out, threads as usize).unwrap()))
}

/// Returns statements that print with the arguments of `fill`, which stores them to `frame`. They store the result of
/// `vprintf`.
fn print_call(fill: &str) -> String {
    format!(
        ".local .align 8 .b8 frame[64];\n.reg .b64 %a<4>;\n{fill}\n\
         mov.u64 %a0, format; cvta.global.u64 %a1, %a0; mov.u64 %a2, frame; cvta.local.u64 %a3, %a2;\n\
         {{ .param .b64 p0; st.param.b64 [p0], %a1; .param .b64 p1; st.param.b64 [p1], %a3; .param .b32 result;\n\
         call.uni (result), vprintf, (p0, p1); ld.param.b32 %r9, [result]; }}\nst.global.u32 [%rd0], %r9; ret;"
    )
}

#[test]
fn each_lane_prints_its_own_arguments_in_order() {
    let declarations =
        text_variable("format", "thread %d of %llu: %.2f %s%%\n") + &text_variable("word", "ok");
    let body = print_call(
        "st.local.u32 [frame], %r0; mov.u64 %rd5, 3; st.local.u64 [frame+8], %rd5; cvt.rn.f64.u32 %fd1, %r0;\n\
         mul.f64 %fd1, %fd1, 0d3FD0000000000000; st.local.f64 [frame+16], %fd1; mov.u64 %rd6, word; st.local.u64 [frame+24], %rd6;",
    );
    let (printed, results) = printed(&declarations, &body, 3).unwrap();
    assert_eq!(printed.text, "thread 0 of 3: 0.00 ok%\nthread 1 of 3: 0.25 ok%\nthread 2 of 3: 0.50 ok%\n");
    assert_eq!((printed.lost, results), (0, vec![4; 3]));
}

#[test]
fn messages_beyond_the_buffer_are_counted_not_kept() {
    let long = "x".repeat(4000);
    let (printed, _) = printed(&text_variable("format", &long), &print_call(""), 512).unwrap();
    let kept = PRINT_CAPACITY / 4000;
    assert_eq!((printed.text.len(), printed.lost), (4000 * kept, 512 - kept as u64));
}

#[test]
fn formats_follow_c() {
    use super::super::print::{PrintedValue, format};
    let with = |text: &str, values: &[PrintedValue]| {
        let mut values = values.iter().cloned();
        format::<()>(text, |_| values.next().ok_or(())).unwrap()
    };
    let bits = |value: i64| PrintedValue::Bits(value as u64);
    let float = |value: f64| PrintedValue::Bits(value.to_bits());
    for (text, value, expected) in [
        ("[%5d]", bits(-42), "[  -42]"),
        ("[%-5d]", bits(42), "[42   ]"),
        ("[%05d]", bits(-42), "[-0042]"),
        ("[%+d]", bits(42), "[+42]"),
        ("[% d]", bits(42), "[ 42]"),
        ("[%.4d]", bits(42), "[0042]"),
        ("[%u]", bits(-1), "[4294967295]"),
        ("[%lu]", bits(-1), "[18446744073709551615]"),
        ("[%hhd]", bits(0x1ff), "[-1]"),
        ("[%hu]", bits(-1), "[65535]"),
        ("[%x]", bits(-1), "[ffffffff]"),
        ("[%#X]", bits(255), "[0XFF]"),
        ("[%#o]", bits(8), "[010]"),
        ("[%p]", bits(0x1000), "[0x1000]"),
        ("[%c]", bits(65), "[A]"),
        ("[%6.2f]", float(2.71875), "[  2.72]"),
        ("[%f]", float(-0.0), "[-0.000000]"),
        ("[%e]", float(12345.678), "[1.234568e+04]"),
        ("[%.0e]", float(1e-7), "[1e-07]"),
        ("[%E]", float(1e100), "[1.000000E+100]"),
        ("[%g]", float(0.0001), "[0.0001]"),
        ("[%g]", float(0.00001), "[1e-05]"),
        ("[%g]", float(123_456_789.0), "[1.23457e+08]"),
        ("[%g]", float(100_000.0), "[100000]"),
        ("[%#g]", float(1.0), "[1.00000]"),
        ("[%.3g]", float(2.5), "[2.5]"),
        ("[%a]", float(1.0), "[0x1p+0]"),
        ("[%a]", float(-0.75), "[-0x1.8p-1]"),
        ("[%5f]", float(f64::INFINITY), "[  inf]"),
        ("[%F]", float(f64::NAN), "[NAN]"),
        ("[%6.2s]", PrintedValue::Text("hello".to_owned()), "[    he]"),
        ("[%q %", bits(1), "[%q %"),
    ] {
        assert_eq!(with(text, &[value]), expected, "{text}");
    }
    assert_eq!(
        with("%*d|%-*d|%.*f", &[bits(4), bits(7), bits(3), bits(7), bits(1), float(0.25)]),
        "   7|7  |0.2"
    );
    assert_eq!(with("", &[]), "");
}

#[test]
fn memory_is_allocated_in_the_kernel_and_freed() {
    let body = "{ .param .b64 n; st.param.b64 [n], 8; .param .b64 p; call.uni (p), malloc, (n); ld.param.b64 %rd5, [p]; }\n\
                st.u32 [%rd5+4], %r0; ld.u32 %r5, [%rd5+4]; add.u32 %r5, %r5, 7; st.global.u32 [%rd0], %r5;\n\
                { .param .b64 q; st.param.b64 [q], %rd5; call.uni free, (q); } ret;";
    assert_eq!(printed("", body, 40).unwrap().1, (7..47).collect::<Vec<_>>());
    let twice = body.replace("ret;", "{ .param .b64 q; st.param.b64 [q], %rd5; call.uni free, (q); } ret;");
    let line = printed("", &twice, 1).unwrap_err().to_string();
    assert!(line.contains("cannot free") && line.contains("no buffer starts there"), "{line}");
    let huge = "{ .param .b64 n; st.param.b64 [n], 0x7000000000000000; .param .b64 p; call.uni (p), malloc, (n); ld.param.b64 %rd5, [p]; }\n\
                st.global.u32 [%rd0], %rd5; mov.u64 %rd5, 0; { .param .b64 q; st.param.b64 [q], %rd5; call.uni free, (q); } ret;";
    assert_eq!(printed("", huge, 1).unwrap().1, [0]);
}

#[test]
fn a_failed_assertion_and_a_trap_stop_the_kernel_with_one_line() {
    let declarations =
        text_variable("message", "i < n") + &text_variable("file", "a.cu") + &text_variable("name", "f");
    let body = "setp.ne.u32 %p1, %r0, 5; @%p1 bra FINE;\n mov.u64 %rd5, message; mov.u64 %rd6, file; mov.u64 %rd7, name;\n\
                { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e; st.param.b64 [a], %rd5; st.param.b64 [b], %rd6;\n\
                st.param.b32 [c], 12; st.param.b64 [d], %rd7; st.param.b64 [e], 1; call.uni __assertfail, (a, b, c, d, e); }\n FINE: ret;";
    let line = printed(&declarations, body, 32).unwrap_err().to_string();
    assert!(
        line.contains("thread (5,0,0)")
            && line.ends_with("fails: assertion `i < n` in a.cu, line 12, function f"),
        "{line}"
    );
    let trap = run_words(&kernel_text("", "trap;"), 1, &[0]).unwrap_err().to_string();
    assert!(trap.ends_with("thread (0,0,0): `trap` stops the kernel"), "{trap}");
}

#[test]
fn an_external_function_that_nobody_provides_is_refused() {
    let refused = |declaration: &str, call: &str| {
        Module::parse("x.ptx", &kernel_text(declaration, call)).unwrap_err().to_string()
    };
    let unknown = refused(".extern .func other();", "call.uni other; ret;");
    assert_eq!(unknown, "x.ptx:13: function 'other' has no body in this file");
    let wrong = refused(".extern .func free(.param .b32 p);", "{ .param .b32 q; call.uni free, (q); } ret;");
    assert_eq!(wrong, "x.ptx:13: 'free' takes values of [8] bytes and gives []");
}

#[test]
fn a_counting_barrier_tells_every_thread_what_all_brought() {
    let run = |statements: &str, threads: u32| {
        let body = own_element(4) + statements + "\nst.global.u32 [%rd0], %r1; ret;";
        run_words(&kernel_text("", &body), threads, &vec![0; threads as usize]).unwrap().0
    };
    // The last warp has only 16 threads.
    let count = "setp.ge.u32 %p1, %r0, 60; bar.red.popc.u32 %r1, 0, %p1;";
    assert_eq!(run(count, 80), [20; 80]);
    assert_eq!(run(&count.replace("0, %p1", "0, 96, !%p1"), 80), [60; 80]);
    let flag = |mode: &str, limit: u32| {
        format!(
            "setp.ge.u32 %p1, %r0, {limit}; barrier.cta.red.{mode}.pred %p2, 3, %p1; selp.u32 %r1, 1, 0, %p2;"
        )
    };
    assert_eq!(run(&flag("or", 79), 80), [1; 80]);
    assert_eq!(run(&flag("or", 80), 80), [0; 80]);
    assert_eq!(run(&flag("and", 0), 80), [1; 80]);
    assert_eq!(run(&flag("and", 1), 80), [0; 80]);
    // A second use of the same barrier starts from zero.
    let twice = "setp.lt.u32 %p1, %r0, 5; bar.red.popc.u32 %r2, 1, %p1; setp.lt.u32 %p1, %r0, 7; bar.red.popc.u32 %r3, 1, %p1;\n\
                 mad.lo.u32 %r1, %r2, 100, %r3;";
    assert_eq!(run(twice, 64), [507; 64]);
}
