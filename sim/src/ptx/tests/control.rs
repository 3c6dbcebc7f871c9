//! Do diverged lanes take the right paths, and meet again where they should?

use super::{kernel_text, own_element, run_words};

#[test]
fn both_sides_of_a_branch_run_for_their_lanes_and_meet() {
    let body = own_element(4)
        + "and.b32 %r1, %r0, 1; setp.eq.s32 %p1, %r1, 0; @%p1 bra EVEN;\n mov.u32 %r2, 10; bra.uni MEET;\n\
           EVEN: mov.u32 %r2, 20;\n MEET: add.s32 %r2, %r2, %r0; st.global.u32 [%rd0], %r2; ret;";
    let (out, stats) = run_words(&kernel_text("", &body), 32, &[0; 32]).unwrap();
    let expected: Vec<u32> = (0..32).map(|t| if t % 2 == 0 { 20 + t } else { 10 + t }).collect();
    assert_eq!(out, expected);
    // 4 + 3 before the split, 2 + 1 on the sides, and 3 once for all lanes: they met.
    assert_eq!(stats.warp_instructions, 13);
}

#[test]
fn a_loop_runs_as_often_as_each_lane_wants() {
    let body = own_element(4)
        + "mov.u32 %r2, 0; mov.u32 %r3, 0;\n LOOP: setp.ge.u32 %p1, %r3, %r0; @%p1 bra DONE;\n\
           add.s32 %r2, %r2, %r3; add.s32 %r3, %r3, 1; bra.uni LOOP;\n DONE: st.global.u32 [%rd0], %r2; ret;";
    let (out, stats) = run_words(&kernel_text("", &body), 32, &[0; 32]).unwrap();
    assert_eq!(out, (0..32).map(|t: u32| (0..t).sum()).collect::<Vec<u32>>());
    assert_eq!(stats.warp_instructions, 4 + 2 + 31 * 5 + 2 + 2);
}
