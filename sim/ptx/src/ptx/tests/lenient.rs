//! Tests PTX that ptxas also accepts: truncated literals, predicates as numbers, missing blanks, vector registers.

use super::super::{Arg, Env, LaunchDims, MemAccess, Module, Warp, run_functional};
use super::{kernel_text, note_all, own_element, run_words};
use crate::memory::DeviceMemory;

fn run(body: &str) -> Vec<u32> {
    let body = own_element(16) + body + "\nst.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4}; ret;";
    run_words(&kernel_text("", &body), 1, &[7; 4]).unwrap().0
}

#[test]
fn literals_that_are_too_wide_are_cut() {
    let body = "mov.u32 %r1, 0x123456789; mov.u32 %r2, -4294967297; mov.u16 %h1, 65537; cvt.u32.u16 %r3, %h1;\n\
                add.s32 %r4, %r3, 4294967298;";
    assert_eq!(run(body), [0x2345_6789, u32::MAX, 1, 3]);
}

#[test]
fn numbers_stand_for_predicates() {
    let body = "mov.u32 %r0, 0; selp.u32 %r1, 5, 6, 1; selp.u32 %r2, 5, 6, 0;\n\
                setp.eq.or.u32 %p1, %r0, 1, 1; selp.u32 %r3, 1, 0, %p1;\n\
                vote.sync.ballot.b32 %r4, 1, -1;";
    assert_eq!(run(body), [5, 6, 1, 1]);
    let body = "mov.u32 %r0, 0; setp.eq.u32 %p1, %r0, 0; and.pred %p2, %p1, 0; selp.u32 %r1, 1, 0, %p2;\n\
                xor.pred %p2, %p1, 1; selp.u32 %r2, 1, 0, %p2; or.pred %p2, %p1, 1; selp.u32 %r3, 1, 0, %p2;\n\
                bar.red.popc.u32 %r4, 0, 1;";
    assert_eq!(run(body), [0, 0, 1, 1]);
}

#[test]
fn vector_registers_have_elements() {
    let body = ".reg .v2 .u32 %v<3>; .reg.v4 .b32 wide; mov.u32 %v1.x, 3; mov.u32 %v1.y, 4;\n\
                st.global.v2.u32 [%rd0], %v1; ld.global.v2.u32 %v2, [%rd0]; ld.global.v4.u32 wide, [%rd0];\n\
                mov.u32 %r1, %v2.r; mov.u32 %r2, %v2.g; mov.u32 %r3, wide.z; add.u32 %r4, wide.x, wide.w;";
    assert_eq!(run(body), [3, 4, 7, 10]);
    let unknown = kernel_text("", ".reg .v2 .u32 %v<3>; mov.u32 %r1, %v1.z; ret;");
    let refused = Module::parse("bad.ptx", &unknown).unwrap_err().to_string();
    assert_eq!(refused, "bad.ptx:13: register '%v1.z' is not declared");
}

#[test]
fn directives_need_no_blanks() {
    let text = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param.u64 out)\n{\n.reg.b64 %rd<2>;\n\
                ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], 5; ret; }";
    assert_eq!(run_words(text, 1, &[0]).unwrap().0, [5]);
}

#[test]
fn parameters_take_up_to_32_kilobytes() {
    let text = |bytes: u32| {
        kernel_text(
            "",
            "ld.param.u64 %rd0, [out]; ld.param.u32 %r1, [big+32740]; st.global.u32 [%rd0], %r1; ret;",
        )
        .replace("(.param .u64 out)", &format!("(.param .u64 out, .param .b8 big[{bytes}])"))
    };
    let module = Module::parse("test.ptx", &text(32_764 - 8)).unwrap();
    let mut memory = DeviceMemory::new();
    let out = memory.alloc(4, "out").unwrap();
    let kernel = module.kernel("k").unwrap();
    let mut big = vec![0; 32_756];
    big[32_740] = 9;
    let params = kernel.pack(&[Arg::Ptr(out), Arg::Bytes(big)]).unwrap();
    run_functional(&module, &kernel, &LaunchDims::new([1; 3], [1; 3]), &params, &mut memory).unwrap();
    assert_eq!(memory.read_u32s(out, 1).unwrap(), [9]);
    let refused = Module::parse("bad.ptx", &text(32_757)).unwrap_err().to_string();
    assert_eq!(refused, "bad.ptx:5: parameters take more than 32764 bytes");
}

#[test]
fn more_than_16383_registers_of_a_kind_are_used() {
    let count = 20_000;
    let mut body = own_element(4) + ".reg .u32 %q<20001>; mov.u32 %q0, %r0;\n";
    for register in 1..=count {
        body += &format!("add.u32 %q{register}, %q{}, 1;\n", register - 1);
    }
    body += &format!("st.global.u32 [%rd0], %q{count}; ret;");
    assert_eq!(run_words(&kernel_text("", &body), 2, &[0; 2]).unwrap().0, [20_000, 20_001]);
}

#[test]
fn too_many_registers_are_refused_in_one_line() {
    let mut body = ".reg .u32 %q<70000>;\n".to_owned();
    for register in 0..60_001 {
        body += &format!("mov.u32 %q{register}, 1;\n");
    }
    let refused = Module::parse("bad.ptx", &kernel_text("", &(body + "ret;"))).unwrap_err().to_string();
    assert_eq!(refused, "bad.ptx:5: function 'k' uses more than 60000 registers of a kind");
}

#[test]
fn the_timer_counts_nanoseconds() {
    let body = own_element(4)
        + "mov.u64 %rd5, %globaltimer; mov.u32 %r1, %globaltimer_lo; mov.u32 %r2, %globaltimer_hi; ret;";
    note_all(&body);
    let module = Module::parse("test.ptx", &kernel_text("", &body)).unwrap();
    let (kernel, launch) = (&module.kernels()[0], LaunchDims::new([1; 3], [32, 1, 1]));
    let mut memory = DeviceMemory::new();
    let mut env = Env {
        memory: &mut memory,
        shared: &mut [],
        params: &kernel.pack(&[Arg::Ptr(0)]).unwrap(),
        constants: &[],
        launch: &launch,
        slot: 0,
        clock: 9_000_000_000_001,
        core_mhz: 1500,
        sm: 0,
        sms: 1,
    };
    let mut warp = Warp::new(kernel, &launch, [0; 3], 0);
    let mut access = MemAccess::new();
    while warp.pc().is_some() {
        warp.step(kernel, &mut env, &mut access).unwrap();
    }
    // 9 * 10^12 cycles of two thirds of a nanosecond each.
    let time: u64 = 6_000_000_000_000;
    let read = |needle: &str| {
        let pc = (0..).find(|&pc| kernel.text(pc).contains(needle)).unwrap();
        let number = kernel.code[pc as usize].dests()[0];
        usize::from(number)
    };
    let words =
        [read("globaltimer_lo"), read("globaltimer_hi")].map(|number| warp.registers.words[number][0]);
    assert_eq!(words, [time as u32, (time >> 32) as u32]);
    assert!(warp.registers.doubles.iter().any(|lanes| lanes[0] == time));
}
