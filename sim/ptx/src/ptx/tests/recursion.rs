//! Calls of recursive functions: each call has its own registers, parameters and variables.
use super::super::{FunctionalError, Module};
use super::run_words;

const HEAD: &str = ".version 6.0\n.target sm_60\n.address_size 64\n";

/// Returns the text of a kernel in which each thread stores `function` of its number.
fn kernel(function: &str) -> String {
    let body = format!(
        "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;
        {{ .param .b32 argument; .param .b32 result; st.param.b32 [argument], %r1;
        call.uni (result), {function}, (argument); ld.param.b32 %r2, [result]; }}
        st.global.u32 [%rd1], %r2; ret;"
    );
    format!(".visible .entry k(.param .u64 out) {{ .reg .b32 %r<3>; .reg .b64 %rd<3>;\n{body}\n}}\n")
}

/// Runs [`kernel`] with 32 threads.
fn run(functions: &str, function: &str) -> Result<Vec<u32>, FunctionalError> {
    let text = format!("{HEAD}{functions}{}", kernel(function));
    run_words(&text, 32, &[0; 32]).map(|(words, _)| words)
}

/// The Fibonacci numbers: a call needs its argument and the result of its first call during the second.
const FIBONACCI: &str = "
.func (.param .b32 value) fibonacci(.param .b32 n) {
    .reg .pred %p; .reg .b32 %r<7>;
    ld.param.u32 %r1, [n];
    setp.lt.u32 %p, %r1, 2;
    @%p bra small;
    sub.u32 %r2, %r1, 1;
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), fibonacci, (a); ld.param.b32 %r3, [b]; }
    sub.u32 %r4, %r1, 2;
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r4; call.uni (b), fibonacci, (a); ld.param.b32 %r5, [b]; }
    add.u32 %r6, %r3, %r5;
    st.param.b32 [value], %r6;
    ret;
small:
    st.param.b32 [value], %r1;
    ret;
}
";

#[test]
fn calls_keep_their_registers_and_lanes_recurse_to_different_depths() {
    let (mut numbers, mut pair) = (Vec::new(), (0u32, 1));
    for _ in 0..32 {
        numbers.push(pair.0);
        pair = (pair.1, pair.0 + pair.1);
    }
    // A thread needs about 5 million instructions for the last number.
    let half = FIBONACCI.replace("ld.param.u32 %r1, [n];", "ld.param.u32 %r1, [n]; min.u32 %r1, %r1, 15;");
    let found = run(&half, "fibonacci").expect("it runs");
    let expected: Vec<u32> = (0..32).map(|n: usize| numbers[n.min(15)]).collect();
    assert_eq!(found, expected);
}

#[test]
fn functions_that_call_each_other_keep_predicates_and_wide_registers() {
    // even(n) = !odd(n - 1); each adds 2^40 * n to a sum in a register of 64 bits while it waits.
    let function = |name: &str, other: &str, at_zero: u32| {
        format!(
            ".func (.param .b32 value) {name}(.param .b32 n) {{
    .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
    ld.param.u32 %r1, [n];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra zero;
    setp.gt.u32 %p2, %r1, 3;
    cvt.u64.u32 %rd1, %r1;
    shl.b64 %rd2, %rd1, 40;
    sub.u32 %r2, %r1, 1;
    {{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), {other}, (a); ld.param.b32 %r3, [b]; }}
    shr.u64 %rd3, %rd2, 40;
    cvt.u32.u64 %r4, %rd3;
    @!%p2 bra end;
    mad.lo.u32 %r3, %r4, 2, %r3;
end:
    st.param.b32 [value], %r3;
    ret;
zero:
    mov.u32 %r5, {at_zero};
    st.param.b32 [value], %r5;
    ret;
}}
"
        )
    };
    let declared = ".func (.param .b32 value) odd(.param .b32 n);\n";
    let text = declared.to_owned() + &function("even", "odd", 1) + &function("odd", "even", 0);
    let found = run(&text, "even").expect("it runs");
    let expected: Vec<u32> = (0..32)
        .map(|n: u32| u32::from(n.is_multiple_of(2)) + (4..=n).map(|waiting| 2 * waiting).sum::<u32>())
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn each_call_has_its_own_variables_which_inner_calls_may_change() {
    // Each call stores n, and the inner call adds n - 1 through a pointer: the sum of 2 n - 1 is n * n.
    let text = "
.func (.param .b32 value) square(.param .b32 n);
.func (.param .b32 value) inner(.param .b32 n, .param .b64 above) {
    .local .align 4 .b8 mine[8];
    .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [above];
    ld.param.u32 %r1, [n];
    ld.local.u32 %r2, [%rd1];
    add.u32 %r2, %r2, %r1;
    st.local.u32 [%rd1], %r2;
    mov.u32 %r3, 0;
    setp.eq.u32 %p, %r1, 0;
    @%p bra end;
    mov.u64 %rd2, mine;
    st.local.u32 [%rd2+4], %r1;
    add.s64 %rd3, %rd2, 4;
    sub.u32 %r4, %r1, 1;
    {
    .param .b32 a; .param .b64 b; .param .b32 c;
    st.param.b32 [a], %r4; st.param.b64 [b], %rd3;
    call (c), inner, (a, b);
    ld.param.b32 %r3, [c];
    }
    ld.local.u32 %r5, [mine+4];
    add.u32 %r3, %r3, %r5;
end:
    st.param.b32 [value], %r3;
    ret;
}
.func (.param .b32 value) square(.param .b32 n) {
    .local .align 4 .b8 first[4];
    .reg .b32 %r<3>; .reg .b64 %rd<2>;
    ld.param.u32 %r1, [n];
    mov.u64 %rd1, first;
    st.local.u32 [%rd1], 0;
    { .param .b32 a; .param .b64 b; .param .b32 c; st.param.b32 [a], %r1; st.param.b64 [b], %rd1;
    call (c), inner, (a, b); ld.param.b32 %r2, [c]; }
    st.param.b32 [value], %r2;
    ret;
}
";
    let found = run(text, "square").expect("it runs");
    assert_eq!(found, (0..32).map(|n| n * n).collect::<Vec<u32>>());
}

#[test]
fn the_address_of_a_parameter_may_be_in_a_register() {
    // The same function in a frame, and inlined.
    let function = |name: &str, inner: &str| {
        format!(
            ".func (.param .b32 value) {name}(.param .align 8 .b8 pair[8]) {{
    .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<2>;
    mov.b64 %rd1, pair;
    ld.param.u32 %r1, [%rd1+4];
    ld.param.u32 %r2, [pair];
    setp.eq.u32 %p, %r1, 0;
    @%p bra end;
    sub.u32 %r3, %r1, 1;
    {inner}
end:
    st.param.b32 [value], %r2;
    ret;
}}
"
        )
    };
    let call = "{ .param .align 8 .b8 a[8]; .param .b32 b; st.param.b32 [a+4], %r3; st.param.b32 [a], %r2;
        call (b), down, (a); ld.param.b32 %r4, [b]; add.u32 %r2, %r4, %r1; }";
    let first = ".func (.param .b32 value) first(.param .b32 n) {
    .reg .b32 %r<5>;
    ld.param.u32 %r1, [n];
    { .param .align 8 .b8 a[8]; .param .b32 b; st.param.b32 [a+4], %r1; st.param.b32 [a], 7;
    call (b), down, (a); ld.param.b32 %r2, [b]; }
    st.param.b32 [value], %r2;
    ret;
}
";
    let framed = run(&(function("down", call) + first), "first").expect("it runs");
    assert_eq!(framed, (0..32).map(|n| 7 + n * (n + 1) / 2).collect::<Vec<u32>>());
    let inlined = run(&(function("down", "add.u32 %r2, %r2, %r3;") + first), "first").expect("it runs");
    assert_eq!(inlined, (0..32).map(|n: u32| 7 + n.saturating_sub(1)).collect::<Vec<u32>>());
}

#[test]
fn a_guarded_call_recurses_in_some_lanes() {
    let text = "
.func (.param .b32 value) sum(.param .b32 n) {
    .reg .pred %p; .reg .b32 %r<5>;
    ld.param.u32 %r1, [n];
    setp.ne.u32 %p, %r1, 0;
    sub.u32 %r2, %r1, 1;
    mov.u32 %r3, 0;
    { .param .b32 a; .param .b32 b; st.param.b32 [b], %r3; st.param.b32 [a], %r2; @%p call (b), sum, (a);
    ld.param.b32 %r3, [b]; }
    add.u32 %r4, %r3, %r1;
    st.param.b32 [value], %r4;
    ret;
}
";
    let found = run(text, "sum").expect("it runs");
    assert_eq!(found, (0..32).map(|n| n * (n + 1) / 2).collect::<Vec<u32>>());
}

#[test]
fn a_stack_that_is_too_small_is_a_fault_of_the_kernel() {
    let endless = "
.func (.param .b32 value) endless(.param .b32 n) {
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [n];
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), endless, (a); ld.param.b32 %r2, [b]; }
    add.u32 %r2, %r2, %r1;
    st.param.b32 [value], %r2;
    ret;
}
";
    let error = run(endless, "endless").expect_err("its stack overflows").to_string();
    assert!(error.contains("local"), "{error}");
}

#[test]
fn recursion_with_parameters_in_registers_is_refused_with_the_line() {
    let function = ".func (.reg .b32 %value) down(.reg .b32 %n) {\ncall (%value), down, (%n);\nret; }\n";
    let text = format!("{HEAD}{function}.entry k() {{ .reg .b32 %r<2>;\ncall (%r1), down, (%r0);\nret; }}");
    let error = Module::parse("k.ptx", &text).err().map(|error| error.to_string());
    let expected = "k.ptx:8: recursive function 'down' has a parameter in a register";
    assert_eq!(error.as_deref(), Some(expected));
}

#[test]
fn memory_of_alloca_lasts_until_its_function_returns() {
    // Each call allocates n + 1 words, fills them with n, and sums them after the inner call. After 7,168 of 8,192 bytes, the stack
    // has room for the 640 bytes of 16 calls, and not for the 1,280 bytes of 32.
    let text = "
.func (.param .b32 value) triangle(.param .b32 n) {
    .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<7>;
    ld.param.u32 %r1, [n];
    add.u32 %r2, %r1, 1;
    mul.wide.u32 %rd1, %r2, 4;
    alloca.u64 %rd2, %rd1, 16;
    mov.u32 %r3, 0;
    mov.u64 %rd3, %rd2;
fill:
    st.local.u32 [%rd3], %r1;
    add.s64 %rd3, %rd3, 4;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p, %r3, %r2;
    @%p bra fill;
    mov.u32 %r4, 0;
    setp.eq.u32 %p, %r1, 0;
    @%p bra end;
    sub.u32 %r5, %r1, 1;
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r5; call (b), triangle, (a); ld.param.b32 %r4, [b]; }
sum:
    sub.s64 %rd3, %rd3, 4;
    ld.local.u32 %r6, [%rd3];
    add.u32 %r4, %r4, %r6;
    setp.ne.u64 %p, %rd3, %rd2;
    @%p bra sum;
end:
    st.param.b32 [value], %r4;
    ret;
}
.func (.param .b32 value) twice(.param .b32 n) {
    .reg .b32 %r<5>; .reg .b64 %rd<5>;
    ld.param.u32 %r1, [n];
    min.u32 %r1, %r1, 15;
    stacksave.u64 %rd1;
    alloca.u64 %rd2, 4096;
    stackrestore.u64 %rd1;
    alloca.u64 %rd3, 7168;
    st.local.u32 [%rd3], %r1;
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), triangle, (a); ld.param.b32 %r2, [b]; }
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), triangle, (a); ld.param.b32 %r3, [b]; }
    add.u32 %r2, %r2, %r3;
    sub.s64 %rd4, %rd2, %rd3;
    cvt.u32.u64 %r4, %rd4;
    add.u32 %r2, %r2, %r4;
    st.param.b32 [value], %r2;
    ret;
}
";
    let found = run(text, "twice").expect("it runs");
    let sum = |n: u32| (0..=n).map(|n| n * (n + 1)).sum::<u32>();
    assert_eq!(found, (0..32).map(|n: u32| 2 * sum(n.min(15))).collect::<Vec<u32>>());
}

#[test]
fn an_allocation_of_unsupported_form_is_refused_with_the_line() {
    for form in ["alloca.u32 %r0, %r1", "alloca.u64 %rd0, %rd1, 3", "stacksave.u32 %r0"] {
        let text = format!("{HEAD}.entry k() {{ .reg .b32 %r<2>; .reg .b64 %rd<2>;\n{form};\nret; }}");
        let error = Module::parse("k.ptx", &text).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.starts_with("k.ptx:5: "), "{form}: {error}");
    }
}
