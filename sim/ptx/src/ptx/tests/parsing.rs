//! Tests that all of PTX is read, and that anything else is rejected with its line.

use super::super::Module;
use super::kernel_text;

const WHOLE_LANGUAGE: &str = r#"
// A comment, and /* one inside it
.version 8.4
.target sm_80, debug
.address_size 64
.file 1 "a.cu"
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.extern .shared .align 16 .b8 dynamic[];
.visible .global .align 4 .b8 text[6] = {104, 101, 108, 108, 111, 0};
.global .align 16 .v4 .f32 quad;
.weak .const .align 8 .f64 numbers[2][2] = {{1.0, 2.5e3}, {-3.0, 0d4000000000000000}};
.global .b32 computed = (1 << 4) + 3 * (2 - 1) & ~0;
.visible .entry kernel(
    .param .u64 .ptr .global .align 4 kernel_param_0,
    .param .align 8 .b8 kernel_param_1[24]
)
.maxntid 256, 1, 1
.minnctapersm 2
{
    .loc 1 3 5
    .reg .pred p, %q<4>;
    .reg .b32 %r<5>, a, b;
    .reg .b64 %rd<4>;
    .reg .f32 %f<3>;
    .shared .align 4 .b8 own[128];
    .pragma "nounroll";
    ld.param.u64 %rd1, [kernel_param_0];
    cvta.to.global.u64 %rd1, %rd1; /* a comment
    over lines */ mov.u32 a, %tid.x;
$L__BB0_1:
    { .reg .b32 a; mov.u32 a, WARP_SZ; mov.b32 %r1, a; bra.uni INNER; INNER: }
    { .reg .f32 a; mov.f32 a, 0f3F800000; mov.f32 %f1, a; INNER: }
    setp.ne.s32 p, a, -1;
    @!p bra $L__BB0_1;
    mov.u64 %rd2, dynamic;
    ld.shared.u32 b, [own+4];
    st.global.u32 [%rd1+-4], b;
    ret;
}
.section .debug_str { .b8 1, 2, 3 .b32 .debug_info }
"#;

fn error(text: &str) -> String {
    let line = Module::parse("bad.ptx", text).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(!line.contains('\n'), "{line}");
    line
}

#[test]
fn the_syntax_of_compilers_is_read() {
    let module = Module::parse("all.ptx", WHOLE_LANGUAGE).unwrap();
    let kernel = module.kernel("kernel").unwrap();
    assert_eq!((kernel.param_bytes, kernel.shared_bytes, kernel.dynamic_shared), (32, 128, true));
    assert_eq!(kernel.cta_limit, Some(([256, 1, 1], false)));
    let numbers: Vec<u8> = [1.0f64, 2500.0, -3.0, 2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    assert_eq!(module.constants(), numbers);
    assert_eq!(module.constant("numbers"), Some((0, 32)));
    assert_eq!(module.global("text").unwrap().1, 6);
    assert_eq!(kernel.text(0), "ld.param.u64 %rd1, [kernel_param_0]");
}

#[test]
fn mistakes_are_named_with_their_line() {
    let in_kernel = |body: &str| error(&kernel_text("", body));
    // The body starts on line 13.
    let cases = [
        ("\nfoo.u32 %r1, %r2;", "bad.ptx:14: unsupported instruction form `foo.u32`: it is not known"),
        (
            "add.s32 %r1, %r2;",
            "bad.ptx:13: unsupported instruction form `add.s32`: it takes 3 operands, got 2",
        ),
        (
            "add.s32 %r1, %rd2, 3;",
            "bad.ptx:13: unsupported instruction form `add.s32`: register '%rd2' has 64 bits where 32 are needed",
        ),
        ("mov.u32 %r1, %r40;", "bad.ptx:13: register '%r40' is not declared"),
        ("mov.u32 %x1, 3;", "bad.ptx:13: register '%x1' is not declared"),
        ("bra NOWHERE;", "bad.ptx:13: unsupported instruction form `bra`: label 'NOWHERE' is not defined"),
        ("A: ret;\nA: ret;", "bad.ptx:14: label 'A' is defined twice"),
        (".reg .b32 x; .reg .f32 x;", "bad.ptx:13: 'x' is declared twice"),
        (
            "ld.global.v3.u32 %r1, [%rd1];",
            "bad.ptx:13: unsupported instruction form `ld.global.v3.u32`: modifier 'v3' is not known",
        ),
        (
            "ld.global.v2.u32 %r1, [%rd1];",
            "bad.ptx:13: unsupported instruction form `ld.global.v2.u32`: it moves 2 elements, got 1",
        ),
        (
            "tex.2d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%f1}];",
            "bad.ptx:13: unsupported instruction form `tex.2d.v4.u32.f32`: it takes 2 coordinates, got 1",
        ),
        (
            "mov.u32 %r1, %tid.w;",
            "bad.ptx:13: unsupported instruction form `mov.u32`: special register '%tid.w' is not supported",
        ),
        ("add.s32 %r1, %r2, %r3", "bad.ptx:14: expected ',' or ';', found '}'"),
        ("ld.global.u32 %r1, [%rd1;", "bad.ptx:13: expected ']', found ';'"),
        ("call missing;", "bad.ptx:13: function 'missing' is not declared"),
        ("mov.u32 %r1, 1/0;", "bad.ptx:13: the constant expression divides by zero or overflows"),
    ];
    for (body, expected) in cases {
        assert_eq!(in_kernel(body), expected);
    }
    assert_eq!(error(""), "bad.ptx:1: the file has no '.version' directive, so it is not PTX");
    assert_eq!(
        error("hello world"),
        "bad.ptx:1: expected '.version', which starts a PTX file, found 'hello'"
    );
    assert_eq!(
        error(".version 6.0\n.entry k() { ret; }\n.entry k() { ret; }"),
        "bad.ptx:3: function 'k' is defined twice"
    );
    let version = "expected a PTX version from 1.0 to 9.x, found '99.9'";
    assert_eq!(error(".version 99.9"), format!("bad.ptx:1: {version}"));
    let recursive = ".version 6.0\n.func f() {\ncall f; ret; }\n.entry k() { call f; ret; }";
    assert_eq!(error(recursive), "bad.ptx:4: recursive functions need addresses of 64 bits");
    let attribute = error(".version 6.0\n.global .attribute(.unified) .b8 x;");
    assert_eq!(attribute, "bad.ptx:2: attribute '.unified': must be .managed");
    let huge = error(".version 6.0\n.global .b8 x[99999999999];");
    assert_eq!(huge, "bad.ptx:2: variable 'x' is larger than 1073741824 bytes");
}

#[test]
fn a_file_cut_off_anywhere_is_refused_or_read_but_never_panics() {
    let whole = kernel_text(
        ".const .u32 c[2] = {1, 2};",
        "ld.const.u32 %r1, [c+4]; @%p1 bra A; A: add.f32 %f1, %f2, 0f3F800000; ret;",
    );
    for end in (0..whole.len()).filter(|&end| whole.is_char_boundary(end)) {
        let _ = Module::parse("cut.ptx", &whole[..end]).map_err(|e| e.to_string());
    }
    assert!(error(&whole[..whole.len() - 3]).contains("the file ends inside function 'k'"));
}

#[test]
fn binary_and_huge_input_is_refused_quickly() {
    let line = Module::parse_bytes("bin.ptx", b".version 6.0\n\x7fELF\xff\xfe").unwrap_err().to_string();
    assert_eq!(line, "bin.ptx:2: byte 17 of the file is not text, so it is not PTX");
    let head = ".version 6.0\n.entry k() {\n";
    let mega = 1 << 20;
    let inputs = [
        "\0".repeat(12 * mega),
        ".version 6.0\n".to_owned() + &"x ".repeat(6 * mega),
        ".version 6.0\n".to_owned() + &"(".repeat(12 * mega),
        ".version 6.0\n.global .u32 x = ".to_owned() + &"(".repeat(12 * mega),
        ".version 6.0\n.global .u32 x = ".to_owned() + &"{".repeat(12 * mega),
        ".version 6.0\n/*".to_owned() + &"/*".repeat(6 * mega),
        head.to_owned() + &"{".repeat(12 * mega),
        head.to_owned() + "mov.u32 " + &"a".repeat(12 * mega),
        head.to_owned() + "mov.u32 " + &"1,".repeat(6 * mega),
        head.to_owned() + &"A".repeat(12 * mega) + ":",
        ".version 6.0\n".to_owned()
            + &(0..200_000).map(|i| format!(".global .u64 g{i}=g{i};.entry k{i}(){{}}")).collect::<String>(),
        head.to_owned() + "mov.u32 a, " + &"-".repeat(12 * mega),
        head.to_owned() + ".reg .b32 %r<99999999>;\n" + &"mov.u32 %r1, %r9999999;\n".repeat(mega / 4),
    ];
    let doubling: String =
        (0..60).map(|i| format!(".func f{}() {{ call f{i}; call f{i}; }}\n", i + 1)).collect();
    let doubling = format!(".version 6.0\n.func f0() {{ }}\n{doubling}.entry k() {{ call f60; }}");
    assert!(error(&doubling).contains("inlining takes more than"), "{}", error(&doubling));
    for input in inputs {
        let line = error(&input);
        assert!(line.starts_with("bad.ptx:") || line.is_empty(), "{line}");
        assert!(line.len() < 300, "{}", line.len());
    }
}

#[test]
fn noise_never_panics() {
    // Pieces of PTX in pseudorandom order, from a linear congruential generator.
    let pieces = [
        ".version 6.0\n",
        ".entry ",
        "k",
        "(",
        ")",
        "{",
        "}",
        ";",
        ",",
        "ld.global.u32 ",
        "[",
        "]",
        "%r1",
        ".reg .b32 %r<5>;",
        "+",
        "-",
        "0",
        "4294967295",
        "@",
        "!",
        ":",
        "|",
        ".param .u64 p",
        "call ",
        ".func f()",
        "ret;",
        "\n",
        "1.5",
        "<",
        ">",
        "=",
        ".shared ",
        "x",
        "_",
        "bra A;",
        "A:",
    ];
    let mut state = 12345u64;
    for _ in 0..3000 {
        let mut text = String::from(".version 6.0\n.entry k() {\n.reg .b32 %r<9>;\n.reg .pred %p<9>;\n");
        for _ in 0..30 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text += pieces[(state >> 33) as usize % pieces.len()];
        }
        let _ = Module::parse("noise.ptx", &text).map_err(|e| e.to_string());
    }
}
