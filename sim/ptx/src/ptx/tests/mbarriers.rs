//! Tests mbarrier objects against the rules of the PTX ISA.

use super::super::{Arg, FunctionalError, LaunchDims, Module, run_limited};
use super::{kernel_text, note_all, run_words};
use crate::memory::DeviceMemory;

/// Declares an object, and registers for the tests.
const OBJECT: &str = ".shared .align 8 .b64 bar;";

/// Runs statements in one thread. The text `got(N)` becomes a store of predicate `%p1` to word N.
fn one_thread(body: &str, words: usize) -> Vec<u32> {
    let mut text = "ld.param.u64 %rd0, [out];\n".to_owned();
    for part in body.split_inclusive(';') {
        match part.trim().strip_prefix("got(").and_then(|rest| rest.strip_suffix(");")) {
            Some(word) => text += &format!("selp.u32 %r9, 1, 0, %p1; st.global.u32 [%rd0+4*{word}], %r9;\n"),
            None => text += part,
        }
    }
    let text = kernel_text(OBJECT, &format!("{text}\nret;")).replace("sm_60", "sm_90");
    run_words(&text, 1, &vec![9; words]).unwrap().0
}

/// Returns a loop until a phase has ended. `wait` is the instruction without its result.
fn until(label: &str, wait: &str) -> String {
    let (form, operands) = wait.split_once(' ').expect("a form and operands");
    format!("{label}: {form} %p5, {operands};\n@!%p5 bra {label};\n")
}

#[test]
fn a_phase_ends_after_the_expected_arrivals() {
    // The parity of a phase that has ended is that of the phase before the current one.
    let body = "mbarrier.init.shared.b64 [bar], 3;\n\
        mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; got(0);\n\
        mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1; got(1);\n\
        mbarrier.arrive.shared.b64 %rd1, [bar];\n\
        mbarrier.test_wait.shared.b64 %p1, [bar], %rd1; got(2);\n\
        mbarrier.arrive.release.cta.shared::cta.b64 %rd2, [bar], 2;\n\
        mbarrier.test_wait.shared.b64 %p1, [bar], %rd1; got(3);\n\
        mbarrier.test_wait.acquire.cta.shared::cta.b64 %p1, [bar], %rd2; got(4);\n\
        mbarrier.test_wait.parity.shared::cta.b64 %p1, [bar], 0; got(5);\n\
        mbarrier.test_wait.parity.shared::cta.b64 %p1, [bar], 1; got(6);\n\
        mbarrier.arrive.noComplete.shared.b64 %rd3, [bar], 2;\n\
        mbarrier.test_wait.shared.b64 %p1, [bar], %rd3; got(7);\n\
        mbarrier.arrive.shared.b64 _, [bar];\n\
        mbarrier.test_wait.shared.b64 %p1, [bar], %rd3; got(8);\n\
        mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1; got(9);\n\
        mbarrier.inval.shared.b64 [bar];";
    assert_eq!(one_thread(body, 10), [0, 1, 0, 1, 1, 1, 0, 0, 1, 1]);
}

#[test]
fn a_state_holds_the_arrivals_pending_before_it() {
    let body = "mbarrier.init.shared.b64 [bar], 7;\n\
        mbarrier.arrive.shared.b64 %rd1, [bar], 2; mbarrier.arrive.shared.b64 %rd2, [bar], 4;\n\
        mbarrier.arrive.shared.b64 %rd3, [bar]; mbarrier.arrive.shared.b64 %rd4, [bar];\n\
        mbarrier.pending_count.b64 %r1, %rd1; mbarrier.pending_count.b64 %r2, %rd2;\n\
        mbarrier.pending_count.b64 %r3, %rd3; mbarrier.pending_count.b64 %r4, %rd4;\n\
        st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};";
    assert_eq!(one_thread(body, 4), [7, 5, 1, 7]);
}

#[test]
fn a_phase_ends_after_the_expected_bytes() {
    // The bytes may complete before they are expected, and the arrival may be the first or the last to come.
    let body = "mbarrier.init.shared.b64 [bar], 1;\n\
        mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 64; mbarrier.arrive.shared.b64 %rd1, [bar];\n\
        mbarrier.test_wait.shared.b64 %p1, [bar], %rd1; got(0);\n\
        mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 48;\n\
        mbarrier.test_wait.shared.b64 %p1, [bar], %rd1; got(1);\n\
        mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [bar], 16;\n\
        mbarrier.test_wait.shared.b64 %p1, [bar], %rd1; got(2);\n\
        mbarrier.complete_tx.shared::cta.b64 [bar], 32;\n\
        mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1; got(3);\n\
        mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd2, [bar], 32;\n\
        mbarrier.test_wait.shared.b64 %p1, [bar], %rd2; got(4);\n\
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1048575;\n\
        mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; got(5);\n\
        mbarrier.complete_tx.shared::cta.b64 [bar], 1048575;\n\
        mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; got(6);";
    assert_eq!(one_thread(body, 7), [0, 0, 1, 0, 1, 0, 1]);
}

#[test]
fn later_phases_do_not_expect_threads_that_have_dropped_out() {
    // Phase 0 takes 4 arrivals, phases 1 and 2 take 2, and phase 3 takes 1.
    let body = "mbarrier.init.shared.b64 [bar], 4;\n\
        mbarrier.arrive_drop.shared.b64 %rd1, [bar]; mbarrier.arrive.shared.b64 _, [bar], 2;\n\
        mbarrier.test_wait.shared.b64 %p1, [bar], %rd1; got(0);\n\
        mbarrier.arrive_drop.release.cta.shared::cta.b64 _, [bar], 1;\n\
        mbarrier.test_wait.shared.b64 %p1, [bar], %rd1; got(1);\n\
        mbarrier.arrive.shared.b64 %rd2, [bar];\n\
        mbarrier.test_wait.shared.b64 %p1, [bar], %rd2; got(2);\n\
        mbarrier.arrive.shared.b64 _, [bar];\n\
        mbarrier.test_wait.shared.b64 %p1, [bar], %rd2; got(3);\n\
        mbarrier.arrive_drop.expect_tx.relaxed.cta.shared::cta.b64 _, [bar], 8; mbarrier.arrive.shared.b64 %rd3, [bar];\n\
        mbarrier.test_wait.shared.b64 %p1, [bar], %rd3; got(4);\n\
        mbarrier.complete_tx.shared::cta.b64 [bar], 8;\n\
        mbarrier.test_wait.shared.b64 %p1, [bar], %rd3; got(5);\n\
        mbarrier.arrive.shared.b64 %rd4, [bar];\n\
        mbarrier.test_wait.shared.b64 %p1, [bar], %rd4; got(6);";
    assert_eq!(one_thread(body, 7), [0, 1, 0, 1, 0, 1, 1]);
}

#[test]
fn an_address_may_be_generic_and_have_an_offset() {
    let declarations = ".shared .align 8 .b64 bars[4];";
    let body = "ld.param.u64 %rd0, [out]; mov.u64 %rd1, bars; cvta.shared.u64 %rd2, %rd1; mov.u32 %r1, bars;\n\
        mbarrier.init.b64 [%rd2+16], 1; mbarrier.init.shared.b64 [bars+24], 5; mbarrier.arrive.b64 %rd3, [%rd2+24];\n\
        mbarrier.arrive.shared.b64 %rd4, [%r1+16]; mbarrier.test_wait.b64 %p1, [%rd2+16], %rd4;\n\
        mbarrier.test_wait.b64 %p2, [%rd2+24], %rd3; mbarrier.pending_count.b64 %r2, %rd3;\n\
        selp.u32 %r3, 10, 0, %p1; selp.u32 %r4, 100, 0, %p2; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4;\n\
        st.global.u32 [%rd0], %r2; ret;";
    let got = run_words(&kernel_text(declarations, body), 1, &[0]).unwrap().0;
    assert_eq!(got, [15]);
}

#[test]
fn warps_pass_tiles_through_two_buffers() {
    // Warp 0 fills the buffers, warp 1 empties them. Objects 0 and 1 mean full, 2 and 3 mean empty.
    let declarations = ".shared .align 8 .b64 bars[4]; .shared .b32 tiles[64];";
    for wait in ["mbarrier.test_wait.parity.shared.b64", "mbarrier.try_wait.parity.shared::cta.b64"] {
        let full = until("FULL", &format!("{wait} [%r7], %r4"));
        let empty = until("EMPTY", &format!("{wait} [%r7+16], %r4"));
        let body = format!(
            "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31; setp.gt.u32 %p1, %r0, 3;\n\
             mov.u32 %r5, bars; mov.u32 %r6, tiles; shl.b32 %r2, %r0, 3; add.u32 %r2, %r5, %r2;\n\
             @!%p1 mbarrier.init.shared.b64 [%r2], 32; bar.sync 0; mov.u32 %r3, 0; setp.gt.u32 %p2, %r0, 31;\n\
             LOOP: and.b32 %r8, %r3, 1; mad.lo.u32 %r7, %r8, 8, %r5; shr.u32 %r4, %r3, 1; and.b32 %r4, %r4, 1;\n\
             mad.lo.u32 %r10, %r8, 32, %r1; mad.lo.u32 %r10, %r10, 4, %r6; mad.lo.u32 %r11, %r3, 32, %r1;\n\
             mul.wide.u32 %rd1, %r11, 4; add.u64 %rd1, %rd0, %rd1;\n\
             @%p2 bra TAKE;\n\
             // The buffers are empty at first.\n\
             xor.b32 %r4, %r4, 1;\n{empty}ld.global.u32 %r12, [%rd1]; mul.lo.u32 %r12, %r12, 3;\n\
             st.shared.u32 [%r10], %r12; mbarrier.arrive.shared.b64 _, [%r7]; bra NEXT;\n\
             TAKE:\n{full}ld.shared.u32 %r12, [%r10]; add.u32 %r12, %r12, 1; st.global.u32 [%rd1], %r12;\n\
             mbarrier.arrive.shared.b64 _, [%r7+16];\n\
             NEXT: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 9; @%p3 bra LOOP; ret;"
        );
        let input: Vec<u32> = (0..288).map(|word| 7 * word).collect();
        let text = kernel_text(declarations, &body).replace("sm_60", "sm_90");
        let (got, stats) = run_words(&text, 64, &input).unwrap();
        assert_eq!(got, (0..288).map(|word| 21 * word + 1).collect::<Vec<_>>(), "{wait}");
        assert!(stats.warp_instructions < 2_000_000, "{wait}: {stats:?}");
    }
}

#[test]
fn lanes_wait_for_other_lanes_of_their_warp() {
    let wait = until("WAIT", "mbarrier.try_wait.shared.b64 [bar], %rd1");
    let body = format!(
        "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; setp.ne.u32 %p1, %r0, 0;\n\
         @!%p1 mbarrier.init.shared.b64 [bar], 32; bar.warp.sync -1; @%p1 bra OTHERS;\n\
         mbarrier.arrive.shared.b64 %rd1, [bar];\n{wait}st.global.u32 [%rd0], 7; bra DONE;\n\
         OTHERS: mbarrier.arrive.shared.b64 _, [bar];\nDONE: ret;"
    );
    let text = kernel_text(OBJECT, &body).replace("sm_60", "sm_90");
    assert_eq!(run_words(&text, 32, &[0]).unwrap().0, [7]);
}

#[test]
fn an_arrival_follows_the_copies_of_its_thread() {
    // Without .noinc the phase expects 32 further arrivals, so that the object counts only the plain ones.
    for (arrive, count) in [("", 32), (".noinc", 64)] {
        let wait = until("WAIT", "mbarrier.test_wait.shared.b64 [bar], %rd3");
        let body = format!(
            "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 0;\n\
             @%p1 mbarrier.init.shared.b64 [bar], {count}; bar.sync 0; mov.u32 %r1, tile; mad.lo.u32 %r2, %r0, 4, %r1;\n\
             mul.wide.u32 %rd1, %r0, 4; add.u64 %rd2, %rd0, %rd1; cp.async.ca.shared.global [%r2], [%rd2], 4;\n\
             cp.async.mbarrier.arrive{arrive}.shared.b64 [bar]; mbarrier.arrive.shared.b64 %rd3, [bar];\n{wait}\
             xor.b32 %r3, %r0, 21; mad.lo.u32 %r3, %r3, 4, %r1; ld.shared.u32 %r4, [%r3]; st.global.u32 [%rd2], %r4; ret;"
        );
        let input: Vec<u32> = (0..32).map(|lane| 1000 + lane).collect();
        let text = kernel_text(".shared .align 8 .b64 bar; .shared .b32 tile[32];", &body);
        let got = run_words(&text, 32, &input).unwrap().0;
        assert_eq!(got, (0..32).map(|lane| 1000 + (lane ^ 21)).collect::<Vec<_>>(), "{arrive}");
    }
}

/// Runs statements in one warp, and returns the error.
fn error(body: &str) -> String {
    let text = kernel_text(OBJECT, &format!("{body}\nret;")).replace("sm_60", "sm_90");
    note_all(&text);
    let module = Module::parse("k.ptx", &text).expect("PTX");
    let kernel = module.kernel("k").expect("there");
    let mut memory = DeviceMemory::new();
    let params = kernel.pack(&[Arg::Ptr(0)]).expect("an address");
    let dims = LaunchDims::new([1, 1, 1], [32, 1, 1]);
    let ended: Result<_, FunctionalError> =
        run_limited(&module, &kernel, &dims, &params, &mut memory, 1 << 24);
    ended.expect_err("it fails").to_string()
}

#[test]
fn misuse_is_a_fault_with_its_line() {
    let init = "mbarrier.init.shared.b64 [bar], 40;\n";
    for (body, says) in [
        ("mbarrier.arrive.shared.b64 _, [bar];", "uses an mbarrier that is not initialized"),
        ("mbarrier.inval.shared.b64 [bar];", "uses an mbarrier that is not initialized"),
        (
            "mbarrier.init.shared.b64 [bar], 0;",
            "initializes an mbarrier for 0 arrivals; must be 1 to 1048575",
        ),
        (
            "mbarrier.init.shared.b64 [bar], 1048576;",
            "initializes an mbarrier for 1048576 arrivals; must be 1 to 1048575",
        ),
        (
            "{init}mbarrier.arrive.shared.b64 _, [bar], 41;",
            "arrives 41 times, but the mbarrier expects 40 more arrivals",
        ),
        (
            "{init}mbarrier.arrive.noComplete.shared.b64 %rd1, [bar], 2;",
            "completes the phase, which .noComplete forbids",
        ),
        (
            "{init}mbarrier.expect_tx.shared::cta.b64 [bar], 1048576;",
            "makes 1048576 bytes pending; must be -1048575 to 1048575",
        ),
        ("mbarrier.init.shared.b64 [bar+4], 1;", "needs an address that is a multiple of 8, got 0x4"),
        (
            "mbarrier.init.shared.b64 [bar+8], 1;",
            "writes 8 bytes at shared address 0x8, but the shared memory has 8 bytes",
        ),
        ("mov.u64 %rd1, 0x10000000000; mbarrier.init.b64 [%rd1], 1;", "needs an mbarrier in shared memory"),
    ] {
        let body = body.replace("{init}", init);
        let line = 12 + body.lines().count();
        let found = error(&body);
        assert!(found.starts_with(&format!("k.ptx:{line}: kernel 'k', block (0,0,0), thread (")), "{found}");
        assert!(found.ends_with(says), "{found} does not end with {says}");
    }
}

#[test]
fn a_wait_without_arrivals_is_a_livelock_with_its_lines() {
    for wait in ["test_wait", "try_wait"] {
        let waits = until("WAIT", &format!("mbarrier.{wait}.parity.shared.b64 [bar], 0"));
        let found = error(&format!(
            "mbarrier.init.shared.b64 [bar], 33; mbarrier.arrive.shared.b64 _, [bar];\n{waits}"
        ));
        assert!(found.starts_with("kernel 'k': livelock after "), "{found}");
        assert!(found.contains("CTA 0,0,0 warp 0 repeats PTX line"), "{found}");
    }
}

#[test]
fn a_limited_number_of_tries_is_no_livelock() {
    // Each try is suspended for 1000 instructions, so that the tries take several turns of the only CTA.
    let body = "ld.param.u64 %rd0, [out]; mov.u32 %r1, 0; mbarrier.init.shared.b64 [bar], 1;\n\
        WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 300;\n\
        @%p2 bra WAIT; mbarrier.arrive.shared.b64 %rd1, [bar]; mbarrier.try_wait.shared.b64 %p1, [bar], %rd1;\n\
        @%p1 st.global.u32 [%rd0], %r1; ret;";
    let text = kernel_text(OBJECT, body).replace("sm_60", "sm_90");
    let (got, stats) = run_words(&text, 1, &[0]).unwrap();
    assert_eq!(got, [300]);
    assert!(stats.warp_instructions > 300 * 1000, "{stats:?}");
}

#[test]
fn unknown_forms_are_refused_with_a_reason() {
    for (statement, says) in [
        ("mbarrier.init.shared.layout::v1.b64 [bar], 1", "modifier 'layout::v1' is not known"),
        ("mbarrier.signal.b64 [bar]", "operation 'signal' is not known"),
        ("mbarrier.arrive.parity.shared.b64 _, [bar]", "its modifiers and operation do not go together"),
        ("mbarrier.arrive.noComplete.shared.b64 %rd1, [bar]", "it does not take 2 operands"),
        ("mbarrier.test_wait.shared.b64 %p1, [bar], %rd1, 5", "it does not take 4 operands"),
        ("cp.async.mbarrier.arrive.global.b64 [%rd1]", "modifier 'global' is not known"),
    ] {
        let text = kernel_text(OBJECT, &format!("{statement};\nret;"));
        let error = Module::parse("k.ptx", &text).expect_err("refused").to_string();
        assert!(error.starts_with("k.ptx:13: ") && error.ends_with(says), "{error}");
    }
}
