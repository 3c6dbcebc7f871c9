//! Tests lanes that wait for other lanes of their warp, which compute capability 7.0 and later completes.
use super::super::{FunctionalError, FunctionalStats};
use super::{kernel_text, run_words};
use proptest::prelude::*;

/// Runs `body` with `threads` threads on Volta. `%rd0` is a buffer of zeros, `%r0` the thread. Returns the buffer.
fn run(body: &str, threads: u32) -> Result<(Vec<u32>, FunctionalStats), FunctionalError> {
    let body = format!("ld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\n{body}\nret;");
    run_words(&kernel_text("", &body).replace(".target sm_60", ".target sm_70"), threads, &[0; 256])
}

/// Increments the word at `%rd0 + 4`, under the lock at `%rd0`.
const COUNT: &str =
    "ld.volatile.global.u32 %r2, [%rd0+4];\nadd.u32 %r2, %r2, 1;\nst.volatile.global.u32 [%rd0+4], %r2;";

/// Takes the lock at `%rd0`, executes `inside`, and gives the lock back.
fn locked(inside: &str) -> String {
    format!(
        "WAIT: atom.global.cas.b32 %r1, [%rd0], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra WAIT;\n{inside}\nmembar.gl;\n\
         atom.global.exch.b32 %r3, [%rd0], 0;\n"
    )
}

#[test]
fn every_lane_gets_the_lock() {
    let (out, _) = run(&locked(COUNT), 64).expect("it ends");
    assert_eq!(out[..2], [0, 64]);
}

#[test]
fn older_targets_keep_the_lanes_of_a_warp_together() {
    let body = format!("ld.param.u64 %rd0, [out];\n{}\nret;", locked(COUNT));
    let error = run_words(&kernel_text("", &body), 32, &[0; 256]).expect_err("a livelock");
    assert!(matches!(error, FunctionalError::Livelock { .. }), "{error}");
}

#[test]
fn a_lock_with_backoff_ends_although_its_state_never_repeats() {
    let lock = "WAIT: add.u32 %r9, %r9, 1;\natom.global.cas.b32 %r1, [%rd0], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra WAIT;\n";
    let body = format!("mov.u32 %r9, 0;\n{lock}{COUNT}\nmembar.gl;\natom.global.exch.b32 %r3, [%rd0], 0;");
    assert_eq!(run(&body, 32).expect("it ends").0[..2], [0, 32]);
}

#[test]
fn tickets_are_served_in_order() {
    let body = format!(
        "atom.global.add.u32 %r4, [%rd0+8], 1;\nWAIT: ld.volatile.global.u32 %r1, [%rd0];\nsetp.ne.u32 %p1, %r1, %r4;\n\
         @%p1 bra WAIT;\n{COUNT}\nmul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd0, %rd1;\nst.global.u32 [%rd1+16], %r2;\n\
         membar.gl;\natom.global.add.u32 %r3, [%rd0], 1;"
    );
    let (out, _) = run(&body, 32).expect("it ends");
    assert_eq!(out[4..36], (1..=32).collect::<Vec<u32>>());
}

#[test]
fn a_lane_waits_for_a_flag_that_the_other_path_sets() {
    // The path that waits runs first.
    let body = "setp.eq.u32 %p1, %r0, 3;\n@%p1 bra WAIT;\nsetp.eq.u32 %p2, %r0, 9;\n@%p2 st.volatile.global.u32 [%rd0], 7;\n\
                bra END;\nWAIT: ld.volatile.global.u32 %r1, [%rd0];\nsetp.eq.u32 %p3, %r1, 0;\n@%p3 bra WAIT;\n\
                st.global.u32 [%rd0+4], %r1;\nEND:";
    assert_eq!(run(body, 32).expect("it ends").0[..2], [7, 7]);
}

/// Adds up `%r5` over the lanes of a warp.
const SUM: &str = "shfl.sync.bfly.b32 %r6, %r5, 16, 31, -1;\nadd.u32 %r5, %r5, %r6;\nshfl.sync.bfly.b32 %r6, %r5, 8, 31, -1;\n\
                   add.u32 %r5, %r5, %r6;\nshfl.sync.bfly.b32 %r6, %r5, 4, 31, -1;\nadd.u32 %r5, %r5, %r6;\n\
                   shfl.sync.bfly.b32 %r6, %r5, 2, 31, -1;\nadd.u32 %r5, %r5, %r6;\n\
                   shfl.sync.bfly.b32 %r6, %r5, 1, 31, -1;\nadd.u32 %r5, %r5, %r6;\n";

#[test]
fn lanes_that_left_a_lock_one_by_one_exchange_values_together() {
    let body = format!(
        "{}mov.u32 %r5, %r2;\n{SUM}mul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd0, %rd1;\nst.global.u32 [%rd1+16], %r5;",
        locked(COUNT)
    );
    let (out, _) = run(&body, 32).expect("it ends");
    assert_eq!(out[4..36], [(1..=32).sum::<u32>(); 32]);
}

#[test]
fn a_barrier_waits_for_the_lanes_that_still_want_the_lock() {
    let body = format!(
        "{}bar.sync 0;\nld.volatile.global.u32 %r5, [%rd0+4];\nmul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd0, %rd1;\n\
         st.global.u32 [%rd1+16], %r5;",
        locked(COUNT)
    );
    let (out, _) = run(&body, 96).expect("it ends");
    assert_eq!(out[4..100], [96; 96]);
}

#[test]
fn the_holder_of_a_lock_may_vote_alone() {
    let vote = "activemask.b32 %r7;\nvote.sync.ballot.b32 %r8, %p1, %r7;\nadd.u32 %r8, %r8, 1;\n";
    let inside = format!("{vote}{}", COUNT.replace("%r2, 1;", "%r2, %r8;"));
    assert_eq!(run(&locked(&inside), 32).expect("it ends").0[..2], [0, 32]);
}

#[test]
fn a_lock_that_nobody_gives_back_is_a_livelock() {
    let lock = "WAIT: atom.global.cas.b32 %r1, [%rd0], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra WAIT;";
    let error = run(lock, 32).expect_err("a livelock").to_string();
    assert!(error.contains("CTA 0,0,0 warp 0 repeats PTX lines"), "{error}");
}

#[test]
fn loops_without_a_wait_keep_the_lanes_together() {
    // Lane n iterates n times and adds atomically. The store after the loop takes one instruction for all lanes.
    let body = "mov.u32 %r1, 0;\nLOOP: atom.global.add.u32 %r2, [%rd0], 1;\nadd.u32 %r1, %r1, 1;\n\
                setp.le.u32 %p1, %r1, %r0;\n@%p1 bra LOOP;\nst.global.u32 [%rd0+4], %r1;";
    let (out, stats) = run(body, 32).expect("it ends");
    assert_eq!(out[0], (1..=32).sum::<u32>());
    assert_eq!(stats.warp_instructions, 2 + 1 + 4 * 32 + 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Lanes take a lock each, several times, and some lanes take a second lock inside the first.
    #[test]
    fn counters_under_locks_are_exact(
        threads in 1u32..=64,
        locks in 1u32..=4,
        rounds in 1u32..=4,
        nested in 0u32..=3,
        meets in any::<bool>(),
    ) {
        // Word 8n is lock n, and word 8n + 1 its counter. Word 64 is the inner lock, and word 65 its counter.
        let inner = "IN: atom.global.cas.b32 %r1, [%rd0+256], 0, 1;\nsetp.ne.u32 %p2, %r1, 0;\n@%p2 bra IN;\n\
                     ld.volatile.global.u32 %r2, [%rd0+260];\nadd.u32 %r2, %r2, 1;\nst.volatile.global.u32 [%rd0+260], %r2;\n\
                     membar.gl;\natom.global.exch.b32 %r3, [%rd0+256], 0;\n";
        let body = format!(
            "rem.u32 %r4, %r0, {locks};\nmul.wide.u32 %rd1, %r4, 32;\nadd.u64 %rd1, %rd0, %rd1;\nmov.u32 %r5, 0;\n\
             AGAIN: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra AGAIN;\n\
             ld.volatile.global.u32 %r2, [%rd1+4];\nadd.u32 %r2, %r2, 1;\nst.volatile.global.u32 [%rd1+4], %r2;\n\
             and.b32 %r6, %r0, 3;\nsetp.ge.u32 %p3, %r6, {nested};\n@%p3 bra OUT;\n{inner}OUT: membar.gl;\n\
             atom.global.exch.b32 %r3, [%rd1], 0;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p4, %r5, {rounds};\n@%p4 bra AGAIN;\n\
             {}",
            if meets { "bar.sync 0;" } else { "" }
        );
        let (out, _) = run(&body, threads).expect("it ends");
        for lock in 0..locks {
            let users = (0..threads).filter(|thread| thread % locks == lock).count() as u32;
            prop_assert_eq!(&out[8 * lock as usize..][..2], &[0, users * rounds]);
        }
        let inside = (0..threads).filter(|thread| thread & 3 < nested).count() as u32;
        prop_assert_eq!(&out[64..66], &[0, inside * rounds]);
    }
}
