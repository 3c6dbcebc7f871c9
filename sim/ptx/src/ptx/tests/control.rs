//! Tests the paths of diverged lanes, and their reconvergence points.

use super::{kernel_text, own_element, run_words};

#[test]
fn both_sides_of_a_branch_run_for_their_lanes_and_meet() {
    let body = own_element(4)
        + "and.b32 %r1, %r0, 1; setp.eq.s32 %p1, %r1, 0; @%p1 bra EVEN;\n mov.u32 %r2, 10; bra.uni MEET;\n\
           EVEN: mov.u32 %r2, 20;\n MEET: add.s32 %r2, %r2, %r0; st.global.u32 [%rd0], %r2; ret;";
    let (out, stats) = run_words(&kernel_text("", &body), 32, &[0; 32]).unwrap();
    let expected: Vec<u32> = (0..32).map(|t| if t % 2 == 0 { 20 + t } else { 10 + t }).collect();
    assert_eq!(out, expected);
    // 4 + 3 before the split, 2 + 1 on the sides, and 3 once for all lanes, which shows reconvergence.
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

#[test]
fn nested_branches_meet_from_the_inside_out() {
    let body = own_element(4)
        + "mov.u32 %r5, 0; and.b32 %r1, %r0, 1; setp.eq.s32 %p1, %r1, 0; @%p1 bra OUTER_ELSE;\n\
           and.b32 %r2, %r0, 2; setp.eq.s32 %p2, %r2, 0; @%p2 bra INNER_ELSE; add.s32 %r5, %r5, 1; bra INNER_END;\n\
           INNER_ELSE: add.s32 %r5, %r5, 2; INNER_END: add.s32 %r5, %r5, 10; bra OUTER_END;\n\
           OUTER_ELSE: add.s32 %r5, %r5, 4; OUTER_END: add.s32 %r5, %r5, 100; st.global.u32 [%rd0], %r5; ret;";
    let (out, stats) = run_words(&kernel_text("", &body), 32, &[0; 32]).unwrap();
    let expected = |t: u32| match t % 4 {
        1 => 112,
        3 => 111,
        _ => 104,
    };
    assert_eq!(out, (0..32).map(expected).collect::<Vec<_>>());
    // 4 + 4, 3, then 2 and 1 inside, 2 after the inner sides reconverge, 1 on the other side, 3 after all lanes
    // reconverge.
    assert_eq!(stats.warp_instructions, 20);
}

#[test]
fn lanes_that_break_out_of_a_loop_wait_for_the_others() {
    // while (true) { if (i == tid) break; i += 1; if (i == 20) break; }
    let body = own_element(4)
        + "mov.u32 %r1, 0;\n LOOP: setp.eq.u32 %p1, %r1, %r0; @%p1 bra DONE; add.s32 %r1, %r1, 1;\n\
           setp.eq.u32 %p2, %r1, 20; @%p2 bra DONE; bra LOOP;\n\
           DONE: vote.ballot.b32 %r2, %p3; activemask.b32 %r3; add.s32 %r1, %r1, 100; and.b32 %r3, %r3, 0xff00ff00;\n\
           add.s32 %r1, %r1, %r3; st.global.u32 [%rd0], %r1; ret;";
    let text = kernel_text("", &body).replace("vote.ballot.b32 %r2, %p3;", "");
    let (out, _) = run_words(&text, 32, &[0; 32]).unwrap();
    assert_eq!(out, (0..32).map(|t: u32| t.min(20) + 100 + 0xff00_ff00).collect::<Vec<_>>());
}

#[test]
fn lanes_that_exit_early_leave_the_others_alone() {
    for leave in ["@%p1 ret;", "@%p1 exit;", "@!%p1 bra STAY; ret; STAY:"] {
        let body = own_element(4)
            + &format!("setp.gt.u32 %p1, %r0, 9; {leave} activemask.b32 %r1; st.global.u32 [%rd0], %r1;");
        let (out, _) = run_words(&kernel_text("", &body), 32, &[7; 32]).unwrap();
        assert_eq!(out, (0..32).map(|t| if t > 9 { 7 } else { 0x3ff }).collect::<Vec<_>>(), "{leave}");
    }
}

#[test]
fn an_exit_inside_a_divergent_loop_ends_only_its_lanes() {
    let body = own_element(4)
        + "mov.u32 %r1, 0;\n LOOP: add.s32 %r1, %r1, 1; st.global.u32 [%rd0], %r1; setp.gt.u32 %p1, %r1, %r0; @%p1 exit;\n\
           bra LOOP;";
    let (out, _) = run_words(&kernel_text("", &body), 40, &[0; 40]).unwrap();
    assert_eq!(out, (1..=40).collect::<Vec<_>>());
}

#[test]
fn warps_meet_at_barriers() {
    // Each thread writes its index, and then reads the mirrored element, which another warp wrote.
    let body = own_element(4)
        + "mov.u64 %rd2, buffer; mul.wide.u32 %rd3, %r0, 4; add.s64 %rd4, %rd2, %rd3; st.shared.u32 [%rd4], %r0;\n\
           bar.sync 0; sub.u32 %r1, 127, %r0; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3;\n\
           ld.shared.u32 %r2, [%rd4]; st.global.u32 [%rd0], %r2; ret;";
    let text = kernel_text(".shared .align 4 .b8 buffer[512];", &body);
    let (out, _) = run_words(&text, 128, &[0; 128]).unwrap();
    assert_eq!(out, (0..128).rev().collect::<Vec<_>>());
}

#[test]
fn a_barrier_counts_only_warps_that_still_run() {
    let body = own_element(4)
        + "setp.lt.u32 %p1, %r0, 32; @%p1 ret; bar.sync 0; bar.sync 1, 96; st.global.u32 [%rd0], %r0; ret;";
    let (out, _) = run_words(&kernel_text("", &body), 128, &[0; 128]).unwrap();
    assert_eq!(out[..33], [[0; 32].as_slice(), &[32]].concat());
}

#[test]
fn arriving_does_not_wait() {
    let body = own_element(4)
        + "setp.lt.u32 %p1, %r0, 32; @%p1 bra PRODUCER; bar.sync 2, 64; ld.shared.u32 %r1, [word]; st.global.u32 [%rd0], %r1; ret;\n\
           PRODUCER: mov.u32 %r1, 5; st.shared.u32 [word], %r1; bar.arrive 2, 64; st.global.u32 [%rd0], %r1; ret;";
    let (out, _) = run_words(&kernel_text(".shared .u32 word;", &body), 64, &[0; 64]).unwrap();
    assert_eq!(out, [5; 64]);
}

#[test]
fn calls_run_the_callee_for_their_lanes() {
    let functions = ".func (.param .b32 result) twice(.param .b32 x) { .reg .b32 %r<4>; .reg .pred %p<3>; ld.param.u32 %r1, [x];\n\
                     setp.gt.u32 %p1, %r1, 5; @%p1 bra BIG; st.param.b32 [result], %r1; ret; BIG: add.s32 %r2, %r1, %r1;\n\
                     st.param.b32 [result+0], %r2; ret; }\n\
                     .func (.reg .b32 %out) plus(.reg .b32 %a, .reg .b32 %b) { add.s32 %out, %a, %b; ret; }";
    let body = own_element(4)
        + "{ .param .b32 p0; st.param.b32 [p0+0], %r0; .param .b32 back; call.uni (back), twice, (p0); ld.param.b32 %r1, [back+0]; }\n\
           { .param .b32 p0; st.param.b32 [p0+0], %r1; .param .b32 back; call.uni (back), twice, (p0); ld.param.b32 %r1, [back+0]; }\n\
           setp.lt.u32 %p1, %r0, 3; @%p1 call (%r1), plus, (%r1, 1000); st.global.u32 [%rd0], %r1; ret;";
    let (out, _) = run_words(&kernel_text(functions, &body), 32, &[0; 32]).unwrap();
    let twice = |x: u32| if x > 5 { 2 * x } else { x };
    let expected = |t: u32| twice(twice(t)) + if t < 3 { 1000 } else { 0 };
    assert_eq!(out, (0..32).map(expected).collect::<Vec<_>>());
}
