//! Tests that a kernel that cannot be executed is rejected alone, with its line.

use super::super::{KernelError, Module};

const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 out;\n";
const GOOD: &str = ".visible .entry good() {\n    st.global.u32 [out], 7;\n    ret;\n}\n";

/// Parses a module in which the kernel `bad`, possibly with functions, is between two executable kernels.
fn module(bad: &str) -> Result<Module, String> {
    let last = GOOD.replace("good", "last");
    let text = format!("{HEAD}{GOOD}{bad}\n{last}");
    Module::parse_all(&[("k.ptx".into(), text)]).map_err(|error| error.to_string())
}

#[test]
fn what_is_wrong_in_a_kernel_refuses_that_kernel_alone() {
    let cases = [
        (
            ".entry bad() {\n    vabsdiff4.u32.u32.u32.add %r1, 1, 2, 3;\n}",
            "k.ptx:10: kernel 'bad': register '%r1' is not declared",
        ),
        (".entry bad() { mov.u32 %r1, 3; }", "k.ptx:9: kernel 'bad': register '%r1' is not declared"),
        (
            ".entry bad() {\n .reg .b32 %r<3>;\n { mov.b32 {%r1, %q2}, 3; }\n L: }",
            "k.ptx:11: kernel 'bad': register '%q2' is not declared",
        ),
        (".entry bad() {\n \u{1} }", "k.ptx:10: kernel 'bad': character '\\u{1}' does not belong in PTX"),
        (
            ".entry bad(.param .u64 p)\n.pragma \"x\";\n.blocksareclusters\n{ ret; }",
            "k.ptx:11: kernel 'bad': '.blocksareclusters' is not a directive of a function",
        ),
        (".entry bad(.param .b128 p) { ret; }", "k.ptx:9: kernel 'bad': "),
        (
            ".func no() {\n unknown;\n ret;\n}\n.entry bad() {\n call no;\n ret;\n}",
            "k.ptx:10: kernel 'bad': unsupported instruction form `unknown`: it is not known",
        ),
        (
            ".func no() {\n mov.u32 %r1, 1;\n}\n.func calls() { call no; }\n.entry bad() { call calls; ret; }",
            "k.ptx:10: kernel 'bad': register '%r1' is not declared",
        ),
    ];
    for (bad, says) in cases {
        let module = module(bad).unwrap_or_else(|error| panic!("{error}\n{bad}"));
        let names: Vec<&str> = module.kernels().iter().map(|kernel| kernel.name.as_str()).collect();
        assert_eq!(names, ["good", "last"], "{bad}");
        assert_eq!(
            module.find("last").expect("executable").code[0].line as usize,
            11 + bad.lines().count() - 1
        );
        let refused = module.find("bad").expect_err("it cannot be executed");
        assert!(matches!(refused, KernelError::Refused(_)), "{refused:?}");
        assert!(refused.to_string().starts_with(says), "{refused} does not start with {says}");
        assert_eq!(module.refused().len(), 1, "{bad}");
    }
    let none = module("").expect("all can be executed").find("bad").expect_err("there is none");
    assert_eq!(none, KernelError::Unknown("bad".into()));
}

#[test]
fn what_is_wrong_outside_functions_or_has_no_end_refuses_the_file() {
    for (bad, says) in [
        (".global .b128 x;", "k.ptx:9: "),
        (".entry bad() { unknown;", "k.ptx:10: '.entry' is not a state space"),
        (".entry good() { ret; }", "k.ptx:9: function 'good' is defined twice"),
        (".entry good() { mov.u32 %r1, 3; }", "k.ptx:9: function 'good' is defined twice"),
    ] {
        let error = module(bad).expect_err("refused");
        assert!(error.starts_with(says), "{error} does not start with {says}");
    }
}

#[test]
fn a_function_that_nobody_calls_may_be_anything() {
    let module = module(".func no() {\n unknown %q1;\n}").expect("it is PTX");
    assert_eq!((module.kernels().len(), module.refused().len()), (2, 0));
    let strict = Module::parse("k.ptx", &format!("{HEAD}.func no() {{\n unknown %q1;\n}}"));
    assert_eq!(strict.expect_err("refused").to_string(), "k.ptx:6: register '%q1' is not declared");
}
