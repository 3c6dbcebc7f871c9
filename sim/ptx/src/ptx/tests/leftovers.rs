//! Tests the forms that no other file covers against the PTX ISA.

use super::{check, kernel_text, own_element, run_words};

fn single(value: f32) -> u64 {
    u64::from(value.to_bits())
}

fn double(value: f64) -> u64 {
    value.to_bits()
}

#[test]
fn addresses_of_global_memory_are_generic_as_they_are_and_those_of_local_memory_in_their_window() {
    let heap = crate::memory::HEAP_BASE + 0x1234;
    check("cvta.global.u64", "dd", &[([heap, 0, 0], heap)]);
    check("cvta.to.global.u64", "dd", &[([heap, 0, 0], heap)]);
    let window = super::super::LOCAL_WINDOW;
    check("cvta.local.u64", "dd", &[([0x40, 0, 0], window + 0x40)]);
    check("cvta.to.local.u64", "dd", &[([window + 0x40, 0, 0], 0x40)]);
}

#[test]
fn signs_fractions_and_subnormal_numbers_of_single_forms_are_right() {
    let (infinity, nan) = (single(f32::INFINITY), 0x7fff_ffff);
    check(
        "sub.f32",
        "www",
        &[
            ([single(1.0), single(0.25), 0], single(0.75)),
            ([single(-0.0), single(0.0), 0], single(-0.0)),
            ([1, 2, 0], 0x8000_0001),
            ([infinity, infinity, 0], nan),
            ([single(f32::MAX), single(-f32::MAX), 0], infinity),
        ],
    );
    let minus_nan = 0xfff8_0000_0000_0001;
    check(
        "abs.f64",
        "dd",
        &[
            ([double(-1.5), 0, 0], double(1.5)),
            ([1 << 63, 0, 0], 0),
            ([double(f64::NEG_INFINITY), 0, 0], double(f64::INFINITY)),
            ([minus_nan, 0, 0], minus_nan & !(1 << 63)),
        ],
    );
    check(
        "cvt.rzi.f32.f32",
        "ww",
        &[
            ([single(-1.75), 0, 0], single(-1.0)),
            ([single(0.99), 0, 0], 0),
            ([single(-0.5), 0, 0], single(-0.0)),
            ([infinity, 0, 0], infinity),
        ],
    );
    check(
        "cvt.rni.s32.f64",
        "wd",
        &[
            ([double(2.5), 0, 0], 2),
            ([double(-3.5), 0, 0], u64::from(-4i32 as u32)),
            ([double(1e99), 0, 0], 0x7fff_ffff),
            ([double(f64::NEG_INFINITY), 0, 0], 0x8000_0000),
        ],
    );
    check("cvt.rn.f64.u32", "dw", &[([0xffff_ffff, 0, 0], double(4_294_967_295.0)), ([0, 0, 0], 0)]);
    check(
        "cvt.rn.f64.s32",
        "dw",
        &[([0x8000_0000, 0, 0], double(-2_147_483_648.0)), ([7, 0, 0], double(7.0))],
    );
    // A subnormal exponent counts as zero, and a subnormal result becomes zero.
    check(
        "ex2.approx.ftz.f32",
        "ww",
        &[([1, 0, 0], single(1.0)), ([single(-130.0), 0, 0], 0), ([single(3.0), 0, 0], single(8.0))],
    );
}

#[test]
fn carries_run_through_every_form_that_reads_and_writes_them() {
    // %r1 to %r6 hold the words. The flag passes from one statement to the next.
    let run = |statements: &str, input: [u32; 3]| {
        let body = own_element(16)
            + "ld.global.u32 %r1, [%rd0]; ld.global.u32 %r2, [%rd0+4]; ld.global.u32 %r3, [%rd0+8];\n"
            + statements
            + "\naddc.u32 %r5, 0, 0; st.global.u32 [%rd0], %r4; st.global.u32 [%rd0+4], %r5; ret;";
        let out = run_words(&kernel_text("", &body), 1, &[input[0], input[1], input[2], 0]).unwrap().0;
        (out[0], out[1])
    };
    let set = "add.cc.u32 %r9, -1, 1;";
    let all = u32::MAX;
    assert_eq!(run(&format!("{set} addc.cc.u32 %r4, %r1, %r2;"), [all, 0, 0]), (0, 1));
    assert_eq!(run(&format!("{set} addc.cc.u32 %r4, %r1, %r2;"), [1, 2, 0]), (4, 0));
    assert_eq!(run(&format!("{set} madc.lo.cc.u32 %r4, %r1, %r2, %r3;"), [all, all, all]), (1, 1));
    assert_eq!(run(&format!("{set} madc.lo.cc.u32 %r4, %r1, %r2, %r3;"), [3, 5, 7]), (23, 0));
    // A borrow enters the chain and leaves it.
    let borrow = "sub.cc.u32 %r9, 0, 1;";
    let then = "subc.u32 %r4, %r4, 0; mov.u32 %r5, 0;";
    assert_eq!(run(&format!("{borrow} subc.cc.u32 %r4, %r1, %r2; {then}"), [9, 3, 0]).0, 5);
    assert_eq!(run(&format!("{borrow} subc.cc.u32 %r4, %r1, %r2; {then}"), [3, 3, 0]).0, all - 1);
}

#[test]
fn a_field_goes_into_a_word_of_64_bits_and_stays_within_it() {
    let body = own_element(8)
        + "ld.global.u64 %rd3, [%rd0]; mov.u64 %rd4, 0xabc; bfi.b64 %rd5, %rd4, %rd3, 36, 12; st.global.u64 [%rd0], %rd5; ret;";
    let out = run_words(&kernel_text("", &body), 1, &[u32::MAX, u32::MAX]).unwrap().0;
    assert_eq!(u64::from(out[0]) | u64::from(out[1]) << 32, 0xffff_abcf_ffff_ffff);
    let far = body.replace("36, 12", "60, 12");
    let out = run_words(&kernel_text("", &far), 1, &[0, 0]).unwrap().0;
    assert_eq!(u64::from(out[0]) | u64::from(out[1]) << 32, 0xc000_0000_0000_0000);
}

#[test]
fn barriers_and_fences_of_every_name_order_what_threads_tell_each_other() {
    for barrier in ["bar.sync 0;", "barrier.sync 0;", "membar.cta; bar.sync 0;", "membar.gl; barrier.sync 0;"]
    {
        let body = own_element(4)
            + "mov.u32 %r1, box; shl.b32 %r2, %r0, 2; add.s32 %r1, %r1, %r2; st.shared.u32 [%r1], %r0; bar.warp.sync -1;\n"
            + barrier
            + " xor.b32 %r3, %r2, 252; mov.u32 %r4, box; add.s32 %r4, %r4, %r3; ld.shared.u32 %r5, [%r4]; st.global.u32 [%rd0], %r5; ret;";
        let (out, _) =
            run_words(&kernel_text(".shared .align 4 .b8 box[256];", &body), 64, &[0; 64]).unwrap();
        assert_eq!(out, (0..64).rev().collect::<Vec<u32>>(), "{barrier}");
    }
    let any = own_element(4)
        + "setp.eq.u32 %p1, %r0, 40; bar.red.or.pred %p2, 0, %p1; selp.u32 %r1, 1, 0, %p2;\n\
           setp.eq.u32 %p1, %r0, 400; bar.red.or.pred %p2, 0, %p1; selp.u32 %r2, 2, 0, %p2; add.u32 %r1, %r1, %r2;\n\
           st.global.u32 [%rd0], %r1; ret;";
    assert_eq!(run_words(&kernel_text("", &any), 64, &[9; 64]).unwrap().0, [1; 64]);
}
