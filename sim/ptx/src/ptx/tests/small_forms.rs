//! Tests forms that differ little from common ones: other orders of modifiers, vectors, hints, sums as operands.

use super::super::Module;
use super::{check, kernel_text, own_element, run_words};

/// Runs statements in 32 threads, each with its own word in `%r1`, and returns each thread's `%r2`.
fn results(declarations: &str, body: &str) -> Vec<u32> {
    let body =
        own_element(4) + &format!("ld.global.u32 %r1, [%rd0];\n{body}\nst.global.u32 [%rd0], %r2; ret;");
    let input: Vec<u32> = (0..32).map(|lane| 3 * lane + 5).collect();
    run_words(&kernel_text(declarations, &body), 32, &input).unwrap().0
}

#[test]
fn a_negated_predicate_selects_the_other_value() {
    let got = results("", "setp.lt.u32 %p1, %r0, 9; selp.b32 %r2, 1, %r1, !%p1;");
    let wanted = |lane: u32| if lane < 9 { 3 * lane + 5 } else { 1 };
    assert_eq!(got, (0..32).map(wanted).collect::<Vec<_>>());
}

#[test]
fn modifiers_may_have_another_order() {
    check("add.f32.rz", "www", &[([0x3f80_0000, 0x3300_0000, 0], 0x3f80_0000)]);
    check("add.f32.ftz", "www", &[([1, 0x8000_0000, 0], 0)]);
    check("setp.u32.lt", "pww", &[([1, 2, 0], 1), ([2, 1, 0], 0)]);
    check("mul.s32.hi", "www", &[([0xffff_ffff, 1, 0], 0xffff_ffff)]);
    let got = results("", "shfl.idx.sync.b32 %r2, %r1, 4, 31, -1;");
    assert_eq!(got, [17; 32]);
    let got = results("", "setp.eq.u32 %p1, %r0, 3; vote.ballot.sync.b32 %r2, %p1, -1;");
    assert_eq!(got, [8; 32]);
    let got = results("", "redux.max.sync.u32 %r2, %r1, -1;");
    assert_eq!(got, [98; 32]);
    let got = results("", "match.sync.any.b32 %r2, 5, -1;");
    assert_eq!(got, [u32::MAX; 32]);
    for form in [
        "ldmatrix.sync.aligned.x1.trans.m8n8.shared.b16 {%r2}, [%r3]",
        "cp.async.shared.global.ca [%r2], [%rd1], 4",
        "ld.u32.global %r1, [%rd2]",
    ] {
        let module = Module::parse("form.ptx", &kernel_text("", &format!("{form}; ret;")));
        assert!(module.is_ok(), "{form}: {module:?}");
    }
}

#[test]
fn vectors_are_moved_element_by_element() {
    let body = ".reg .v4 .u16 %v; .reg .b16 %x<8>;\n\
                cvt.u16.u32 %x0, %r1; mov.v2.u16 {%x1, %x2}, {%x0, 7}; mov.v4.u16 %v, {%x2, %x1, 3, %x0};\n\
                mov.v4.u16 {%x4, %x5, %x6, %x7}, %v;\n\
                mov.v4.u16 {%x5, %x6, %x7, %x4}, {%x4, %x5, %x6, %x7};\n\
                mov.b64 %rd3, {%x4, %x5, %x6, %x7}; shr.u64 %rd4, %rd3, 32; cvt.u32.u64 %r3, %rd3; cvt.u32.u64 %r4, %rd4;\n\
                mad.lo.u32 %r2, %r4, 3, %r3;";
    // x4..x7 hold 7, own, 3, own; the rotation leaves own, 7, own, 3.
    let wanted = |lane: u32| {
        let own = 3 * lane + 5;
        (own | 3 << 16).wrapping_mul(3).wrapping_add(own | 7 << 16)
    };
    assert_eq!(results("", body), (0..32).map(wanted).collect::<Vec<_>>());
}

#[test]
fn vectors_are_passed_to_functions() {
    let function = ".func (.reg .v2 .u32 sums) both(.reg .v2 .u32 in, .reg .u32 one) {\n\
                    add.u32 sums.x, in.x, one; add.u32 sums.y, in.y, 10; ret; }";
    let body = ".reg .v2 .u32 %v; .reg .v2 .u32 %w; mov.v2.u32 %v, {%r1, 100}; call (%w), both, (%v, 1);\n\
                mad.lo.u32 %r2, %w.y, 1000, %w.x;";
    let wanted: Vec<u32> = (0..32).map(|lane| 110_000 + 3 * lane + 6).collect();
    assert_eq!(results(function, body), wanted);
    let scalar = ".func (.reg .u32 out) twice(.reg .u32 in) { add.u32 out, in, in; ret; }";
    let body = ".reg .v2 .u32 %v; call (%v.y), twice, (%r1); mov.u32 %r2, %v.y;";
    assert_eq!(results(scalar, body), (0..32).map(|lane| 6 * lane + 10).collect::<Vec<_>>());
}

#[test]
fn an_operand_may_be_a_register_plus_a_constant() {
    let body = ".local .align 8 .b8 slot[8]; setp.lt.u32 %p1, %r0, 5; mov.u32 %r2, 0;\n\
                st.u32 [slot], %r1 + 4; ld.u32 %r2, [slot]; @%p1 add.u32 %r2, %r1 - 1, 0;";
    let wanted = |lane: u32| if lane < 5 { 3 * lane + 4 } else { 3 * lane + 9 };
    assert_eq!(results("", body), (0..32).map(wanted).collect::<Vec<_>>());
}

#[test]
fn a_copy_reads_a_variable_of_the_function() {
    let body = ".global .align 16 .b32 from[8] = {1, 2, 3, 4, 5, 6, 7, 8}; .shared .align 16 .b32 to[8];\n\
                cp.async.ca.shared.global [to], [from+16], 16, 12; setp.ne.u32 %p1, %r0, 40;\n\
                cp.async.ca.shared.global [to+16], [from], 16, %p1; cp.async.wait_all;\n\
                and.b32 %r3, %r0, 7; mov.u32 %r4, to; shl.b32 %r3, %r3, 2; add.u32 %r4, %r4, %r3; ld.shared.u32 %r2, [%r4];";
    let wanted: Vec<u32> = (0..4).flat_map(|_| [5, 6, 7, 0, 0, 0, 0, 0]).collect();
    assert_eq!(results("", body), wanted);
}

#[test]
fn reductions_of_vectors_change_each_element() {
    // Twice the sum of 0.5 over 32 threads, and of 0.25.
    let body = "mov.f32 %f1, 0f3F000000; mov.f32 %f2, 0f3E800000; mov.u64 %rd5, sums;\n\
                red.global.add.v2.f32 [%rd5], {%f1, %f2}; red.relaxed.gpu.global.v2.f32.add [%rd5], {%f1, %f2};\n\
                atom.global.v2.f32.add {%f3, %f4}, [%rd5+8], {%f1, %f2};\n\
                ld.global.v4.f32 {%f5, %f6, %f7, %f8}, [%rd5]; setp.eq.u32 %p1, %r0, 0; mov.f32 %f9, %f5;\n\
                @%p1 mov.f32 %f9, %f6; setp.eq.u32 %p1, %r0, 1; @%p1 mov.f32 %f9, %f7; setp.eq.u32 %p1, %r0, 2;\n\
                @%p1 mov.f32 %f9, %f8; setp.eq.u32 %p1, %r0, 3; @%p1 mov.f32 %f9, %f4; mov.b32 %r2, %f9;";
    let got = results(".global .align 16 .b32 sums[4];", body);
    let wanted = [16.0f32, 16.0, 8.0, 0.75, 32.0].map(f32::to_bits);
    assert_eq!(got[..5], wanted);
}

#[test]
fn a_cache_policy_has_no_effect_on_values() {
    let body = "createpolicy.fractional.L2::evict_last.b64 %rd5, 1.0;\n\
                createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %rd6, [%rd0], 4, 4;\n\
                ld.global.L2::cache_hint.u32 %r3, [%rd0], %rd5; add.u32 %r3, %r3, 1;\n\
                st.global.L2::cache_hint.u32 [%rd0], %r3, %rd5; red.global.add.L2::cache_hint.u32 [%rd0], 2, %rd6;\n\
                atom.global.add.L2::cache_hint.u32 %r2, [%rd0], 5, %rd5; ld.global.u32 %r4, [%rd0]; mad.lo.u32 %r2, %r4, 1000, %r2;";
    let wanted: Vec<u32> = (0..32).map(|lane| 3 * lane + 5).map(|own| 1000 * (own + 8) + own + 3).collect();
    assert_eq!(results("", body), wanted);
}

#[test]
fn minima_and_maxima_take_three_numbers_and_magnitudes() {
    const ONE: u64 = 0x3f80_0000;
    const TWO: u64 = 0x4000_0000;
    const NAN: u64 = 0x7fff_ffff;
    const MINUS: u64 = 0x8000_0000;
    check(
        "min.f32",
        "wwww",
        &[([TWO, ONE, ONE | MINUS], ONE | MINUS), ([NAN, NAN, TWO], TWO), ([MINUS, 0, 0], MINUS)],
    );
    check(
        "max.f32",
        "wwww",
        &[([TWO | MINUS, ONE, NAN], ONE), ([NAN, NAN, NAN], NAN), ([MINUS, MINUS, 0], 0)],
    );
    check("max.NaN.f32", "wwww", &[([TWO, ONE, NAN], NAN), ([ONE, TWO, ONE], TWO)]);
    check("min.abs.f32", "wwww", &[([TWO | MINUS, TWO, ONE | MINUS], ONE)]);
    check("max.ftz.abs.f32", "wwww", &[([1, 2 | MINUS, 0], 0), ([TWO | MINUS, ONE, 0], TWO)]);
    check(
        "min.xorsign.abs.f32",
        "www",
        &[([TWO | MINUS, ONE, 0], ONE | MINUS), ([TWO | MINUS, ONE | MINUS, 0], ONE)],
    );
    check("max.NaN.xorsign.abs.f32", "www", &[([TWO | MINUS, ONE, 0], TWO | MINUS), ([NAN, ONE, 0], NAN)]);
}
