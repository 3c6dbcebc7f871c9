//! Tests the targets of indexed branches, and the results of `set` and special registers.

use super::{check, kernel_text, own_element, run_words};

fn lanes(body: &str) -> Vec<u32> {
    let body = own_element(4) + body + "\nst.global.u32 [%rd0], %r2; ret;";
    run_words(&kernel_text("", &body), 32, &[0; 32]).unwrap().0
}

#[test]
fn an_indexed_branch_takes_each_lane_to_its_own_target() {
    let body = "and.b32 %r1, %r0, 3; LIST: .branchtargets A, B, A, DONE; mov.u32 %r2, 7;\n\
                brx.idx %r1, LIST;\n\
                A: mov.u32 %r2, 10; activemask.b32 %r3; bra.uni DONE;\n\
                B: mov.u32 %r2, 20; activemask.b32 %r3;\n\
                DONE: activemask.b32 %r4; popc.b32 %r4, %r4; mad.lo.u32 %r2, %r4, 1000, %r2;";
    // Two of four lanes branch to A, one to B, and one falls through. All reconverge.
    assert_eq!(lanes(body), (0..32).map(|t| 32_000 + [10, 20, 10, 7][t % 4]).collect::<Vec<_>>());
    let guarded = "and.b32 %r1, %r0, 1; setp.lt.u32 %p1, %r0, 8; LIST: .branchtargets A, B; mov.u32 %r2, 7;\n\
                   @%p1 brx.idx %r1, LIST;\n bra.uni DONE;\n A: mov.u32 %r2, 10; bra.uni DONE;\n B: mov.u32 %r2, 20;\n DONE:";
    let expected = |t: u32| if t >= 8 { 7 } else { 10 * (1 + t % 2) };
    assert_eq!(lanes(guarded), (0..32).map(expected).collect::<Vec<_>>());
    let uniform = "mov.u32 %r1, 1; LIST: .branchtargets A, B; brx.idx.uni %r1, LIST;\n A: mov.u32 %r2, 1; bra DONE;\n B: mov.u32 %r2, 2;\n DONE:";
    assert_eq!(lanes(uniform), [2; 32]);
}

#[test]
fn an_index_beyond_the_list_is_a_fault() {
    let body = own_element(4) + "LIST: .branchtargets A, A; brx.idx %r0, LIST;\nA: ret;";
    let line = run_words(&kernel_text("", &body), 32, &[0; 32]).unwrap_err().to_string();
    assert!(
        line.ends_with("thread (2,0,0): `brx.idx %r0, LIST` picks target 2, but the list has 2"),
        "{line}"
    );
}

#[test]
fn a_comparison_may_give_a_word() {
    let one = u64::from(1f32.to_bits());
    check(
        "set.lt.u32.s32",
        "www",
        &[([1, 2, 0], 0xffff_ffff), ([2, 1, 0], 0), ([0xffff_ffff, 0, 0], 0xffff_ffff)],
    );
    check("set.ge.f32.u32", "www", &[([1, 2, 0], 0), ([2, 2, 0], one)]);
    check("set.gtu.ftz.u32.f32", "www", &[([0x7fc0_0000, 0, 0], 0xffff_ffff), ([1, 0, 0], 0)]);
    check("set.eq.s32.f64", "wdd", &[([0, 1 << 63, 0], 0xffff_ffff)]);
    check("set.ne.and.f32.s32", "wwwp", &[([1, 2, 1], one), ([1, 2, 0], 0), ([1, 1, 1], 0)]);
}

#[test]
fn special_registers_tell_place_and_machine() {
    let read = |name: &str| lanes(&format!("mov.u32 %r2, {name};"));
    let each = |f: fn(u32) -> u32| (0..32).map(f).collect::<Vec<_>>();
    assert_eq!(read("%laneid"), each(|t| t));
    assert_eq!(read("%lanemask_eq"), each(|t| 1 << t));
    assert_eq!(read("%lanemask_lt"), each(|t| (1 << t) - 1));
    assert_eq!(read("%lanemask_le"), each(|t| (2u64 << t).wrapping_sub(1) as u32));
    assert_eq!(read("%lanemask_gt"), each(|t| (u64::from(u32::MAX) << (t + 1)) as u32));
    assert_eq!(read("%lanemask_ge"), each(|t| u32::MAX << t));
    for (name, value) in [
        ("%warpid", 0),
        ("%nwarpid", 1),
        ("%smid", 0),
        ("%nsmid", 1),
        ("%gridid", 0),
        ("%envreg31", 0),
        ("%pm7", 0),
        ("%ntid.x", 32),
        ("%nctaid.z", 1),
        ("%dynamic_smem_size", 0),
    ] {
        assert_eq!(read(name), [value; 32], "{name}");
    }
    assert_eq!(lanes("mov.u64 %rd5, %gridid; cvt.u32.u64 %r2, %rd5;"), [0; 32]);
}
