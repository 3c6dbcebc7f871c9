//! Tests kernels with waits between warps or CTAs: without timing, such kernels must end, and endless waits must be
//! reported.

use super::super::{Arg, FunctionalError, FunctionalStats, LaunchDims, Module, run_limited};
use super::kernel_text;
use crate::memory::DeviceMemory;

/// Runs `body` in CTAs of `threads`. `%rd0` is a zeroed buffer, `%r0` the thread in its CTA, `%r9` the CTA. Returns
/// the buffer.
fn run(
    declarations: &str,
    body: &str,
    dims: (u32, u32),
    capacity: u64,
) -> Result<(Vec<u32>, FunctionalStats), FunctionalError> {
    run_on("sm_60", u64::MAX, declarations, body, dims, capacity)
}

/// Runs as [`run`] does, for this target and at most `most` warp instructions.
fn run_on(
    target: &str,
    most: u64,
    declarations: &str,
    body: &str,
    (ctas, threads): (u32, u32),
    capacity: u64,
) -> Result<(Vec<u32>, FunctionalStats), FunctionalError> {
    let body =
        format!("ld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r9, %ctaid.x;\n{body}\nret;");
    let text = kernel_text(declarations, &body).replace("sm_60", target);
    let module = Module::parse("k.ptx", &text).expect("PTX");
    let mut memory = DeviceMemory::with_capacity(capacity);
    module.load(&mut memory).expect("room");
    let buffer = memory.alloc(4096, "out").expect("room");
    let kernel = module.kernel("k").expect("there");
    let params = kernel.pack(&[Arg::Ptr(buffer)]).expect("an address");
    let dims = LaunchDims::new([ctas, 1, 1], [threads, 1, 1]);
    let stats = run_limited(&module, &kernel, &dims, &params, &mut memory, most)?;
    Ok((memory.read_u32s(buffer, 1024).expect("there"), stats))
}

const ROOM: u64 = 1 << 30;

#[test]
fn a_cta_waits_for_a_later_one() {
    let body = "setp.ne.u32 %p1, %r9, 0;\n@%p1 bra SET;\n\
        WAIT: ld.volatile.global.u32 %r1, [%rd0];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra WAIT;\n\
        st.global.u32 [%rd0+4], %r1;\nbra END;\nSET: st.volatile.global.u32 [%rd0], 9;\nEND:";
    let (out, stats) = run("", body, (2, 32), ROOM).expect("it ends");
    assert_eq!(out[..2], [9, 9]);
    assert!(stats.warp_instructions > 1 << 16, "CTA 0 waited: {stats:?}");
}

#[test]
fn warps_wait_for_later_ones_of_their_cta() {
    // Warp n waits until warp n + 1 has counted down. The last warp starts.
    let body = "shr.u32 %r1, %r0, 5;\nsetp.eq.u32 %p1, %r1, 7;\n@%p1 st.volatile.shared.u32 [flag], 8;\n\
        add.u32 %r2, %r1, 1;\nWAIT: ld.volatile.shared.u32 %r3, [flag];\nsetp.ne.u32 %p2, %r3, %r2;\n\
        @%p2 bra WAIT;\nst.volatile.shared.u32 [flag], %r1;\nmul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd1, %rd0, %rd1;\n\
        st.global.u32 [%rd1], %r3;";
    let (out, _) = run(".shared .u32 flag;", body, (1, 256), ROOM).expect("it ends");
    assert_eq!(out[..9], [1, 2, 3, 4, 5, 6, 7, 8, 0]);
}

#[test]
fn warps_that_poll_for_the_last_one_of_their_cta_execute_only_a_part_of_their_turn() {
    let body = "setp.ge.u32 %p1, %r0, 992;\n@%p1 st.volatile.shared.u32 [flag], 5;\n\
        WAIT: ld.volatile.shared.u32 %r3, [flag];\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra WAIT;\n\
        mul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd0, %rd1;\nst.global.u32 [%rd1], %r3;";
    let (out, stats) = run(".shared .u32 flag;", body, (1, 1024), ROOM).expect("it ends");
    assert_eq!(out, [5; 1024]);
    assert!(stats.warp_instructions < 100_000, "{stats:?}");
}

#[test]
fn ctas_of_a_grid_barrier_start_in_few_rounds() {
    // The clock changes a register, so that the polls do not count as spins.
    let wait = meet(0).replace("WAIT0:", "WAIT0: mov.u64 %rd3, %clock64;");
    let (out, stats) =
        run("", &format!("mov.u32 %r8, %nctaid.x;\n{wait}"), (200, 64), ROOM).expect("it ends");
    assert_eq!(out[0], 200);
    // Rounds with 1, 2, 4 to 128 waiting CTAs, of 65,536 instructions each, are 17 million.
    assert!(stats.warp_instructions < 40_000_000, "{stats:?}");
}

/// Returns a barrier for all threads of the `%r8` CTAs of the grid, at the word 4 * `place` of the buffer.
fn meet(place: u32) -> String {
    format!(
        "bar.sync 0;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra MET{place};\natom.global.add.u32 %r1, [%rd0+{at}], 1;\n\
         WAIT{place}: ld.volatile.global.u32 %r1, [%rd0+{at}];\nsetp.lt.u32 %p2, %r1, %r8;\n@%p2 bra WAIT{place};\n\
         MET{place}: bar.sync 0;\n",
        at = 4 * place
    )
}

#[test]
fn all_ctas_meet_many_times() {
    let meetings: String = (0..20).map(meet).collect();
    let body = format!("mov.u32 %r8, %nctaid.x;\n{meetings}");
    let (out, stats) = run("", &body, (100, 64), ROOM).expect("it ends");
    assert_eq!(out[..20], [100; 20]);
    // In a round in which all warps spin, each CTA has only a short turn.
    assert!(stats.warp_instructions < 100_000_000, "{stats:?}");
}

#[test]
fn the_ctas_of_a_cooperative_launch_meet_at_a_barrier_of_the_module() {
    // As cooperative groups do: CTA 0 adds what flips the top bit once all others have added 1.
    let body = "mov.u32 %r1, %envreg1;\nmov.u32 %r2, %envreg2;\nmov.b64 %rd1, {%r2, %r1};\nmov.u32 %r3, %nctaid.x;\n\
        setp.eq.u32 %p1, %r9, 0;\nsub.u32 %r4, 0x80000001, %r3;\nselp.u32 %r4, %r4, 1, %p1;\n\
        atom.global.add.u32 %r5, [%rd0], 1;\natom.add.release.gpu.u32 %r6, [%rd1+4], %r4;\n\
        WAIT: ld.acquire.gpu.u32 %r7, [%rd1+4];\nxor.b32 %r7, %r7, %r6;\nsetp.ge.s32 %p2, %r7, 0;\n@%p2 bra WAIT;\n\
        ld.volatile.global.u32 %r8, [%rd0];\nmul.wide.u32 %rd2, %r9, 4;\nadd.u64 %rd2, %rd0, %rd2;\n\
        st.global.u32 [%rd2+4], %r8;";
    let (out, _) = run("", body, (9, 1), ROOM).expect("it ends");
    assert_eq!(out[..11], [9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 0]);
}

#[test]
fn a_loop_that_waits_for_the_clock_ends() {
    let body = "mov.u64 %rd1, %clock64;\nWAIT: mov.u64 %rd2, %clock64;\nsub.u64 %rd2, %rd2, %rd1;\n\
        setp.lt.u64 %p1, %rd2, 1000;\n@%p1 bra WAIT;\nst.global.u64 [%rd0], %rd2;";
    let (out, stats) = run("", body, (1, 32), ROOM).expect("it ends");
    assert!((1000..1010).contains(&out[0]), "{}", out[0]);
    assert!(stats.warp_instructions < 1100, "{stats:?}");
}

#[test]
fn long_ctas_have_the_values_and_counts_of_short_ones() {
    // Each warp takes more than a turn. A barrier separates the sum of a CTA from its reads.
    let body = "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nLOOP: add.u32 %r2, %r2, %r1;\nadd.u32 %r1, %r1, 1;\n\
        setp.lt.u32 %p1, %r1, 50000;\n@%p1 bra LOOP;\natom.shared.add.u32 %r3, [sum], %r2;\nbar.sync 0;\n\
        ld.shared.u32 %r4, [sum];\nmul.wide.u32 %rd1, %r9, 4;\nadd.u64 %rd1, %rd0, %rd1;\nst.global.u32 [%rd1], %r4;";
    let (out, stats) = run(".shared .u32 sum;", body, (9, 64), ROOM).expect("it ends");
    let sum = (0..50_000u32).fold(0, u32::wrapping_add).wrapping_mul(64);
    assert_eq!((&out[..9], out[9]), (&[sum; 9][..], 0));
    assert_eq!(stats.warp_instructions, 18 * (5 + 4 * 50_000 + 7));
}

#[test]
fn a_livelock_is_named_with_its_warps_and_lines() {
    let wait = "WAIT: ld.volatile.global.u32 %r1, [%rd0];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra WAIT;";
    let text = run("", wait, (2, 64), ROOM).expect_err("nobody sets it").to_string();
    assert!(text.starts_with("kernel 'k': livelock after "), "{text}");
    let named = "CTA 0,0,0 warp 0 repeats PTX lines 16 to 18; CTA 0,0,0 warp 1 repeats PTX lines 16 to 18; \
                 CTA 1,0,0 warp 0 repeats PTX lines 16 to 18; CTA 1,0,0 warp 1 repeats PTX lines 16 to 18";
    assert!(text.ends_with(named), "{text}");
    // The lanes that lost spin before the winning lane continues.
    let lock = "WAIT: atom.global.cas.b32 %r2, [%rd0], 0, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra WAIT;";
    let text = run("", lock, (1, 32), ROOM).expect_err("nobody gives it back").to_string();
    assert!(text.contains("warp instructions: CTA 0,0,0 warp 0 repeats PTX lines 16 to 18"), "{text}");
    // A warp that waits at a barrier does not count as spinning.
    let both = format!("setp.ge.u32 %p2, %r0, 32;\n@%p2 bra MEET;\n{wait}\nMEET: bar.sync 0;");
    let text = run("", &both, (1, 64), ROOM).expect_err("nobody sets it").to_string();
    assert!(text.contains("warp 0") && !text.contains("warp 1"), "{text}");
}

#[test]
fn a_lane_that_waits_forever_beside_lanes_at_a_barrier_is_a_livelock() {
    let body = "setp.ne.u32 %p2, %r0, 0;\n@%p2 bra MEET;\nWAIT: ld.volatile.global.u32 %r1, [%rd0];\n\
                setp.eq.u32 %p1, %r1, 0;\n@%p1 bra WAIT;\nMEET: bar.sync 0;";
    let ended = run_on("sm_70", 1 << 24, "", body, (1, 32), ROOM);
    let text = ended.expect_err("nobody sets it").to_string();
    assert!(text.starts_with("kernel 'k': livelock after ") && text.contains("CTA 0,0,0 warp 0"), "{text}");
}

#[test]
fn local_memory_counts_towards_the_memory_of_the_device() {
    let body = "mov.u64 %rd1, stack;\nst.local.u32 [%rd1], 1;\nst.global.u32 [%rd0], 1;";
    let declaration = ".local .align 4 .b8 stack[65536];";
    // A warp takes 2 MiB. At least one of several CTAs must fit.
    let small = run(declaration, body, (1, 64), 1 << 20).expect_err("it does not fit").to_string();
    let says = "kernel 'k' cannot be launched: 2 warps at the same time take 4194304 bytes of local memory, 1044480 of \
                1048576 bytes of device memory are left (--max-memory)";
    assert_eq!(small, says);
    assert_eq!(run(declaration, body, (8, 64), 5 << 20).expect("one after the other").0[0], 1);
}
