//! Checks that each livelock is reported, and that other runs are not.
use super::watchdog::POLL_CYCLES;
use super::*;
use selvedge_ptx::ptx::{Arg, LaunchDims, Module};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

/// Cycles in which several searches for livelocks take place.
const CYCLES: u64 = 400 * POLL_CYCLES;

/// Runs `body` in CTAs of `threads` threads for at most [`CYCLES`]. Returns the warnings and how the run ended.
fn run(body: &str, ctas: u32, threads: u32) -> (Vec<String>, Result<(), SimFault>) {
    run_for("sm_60", body, ctas, threads)
}

/// Runs as [`run`] does, for a target.
fn run_for(target: &str, body: &str, ctas: u32, threads: u32) -> (Vec<String>, Result<(), SimFault>) {
    let config = Arc::new(GpuConfig::load("gtx480").expect("built in"));
    let parts = Parts::none(&config);
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&warnings);
    let warn = move |text: &str| sink.lock().expect("no thread has panicked").push(text.to_owned());
    let control = Control::new(&Arc::new(AtomicBool::new(false)), None, warn);
    let mut gpu = Gpu::new(&config, parts, Arc::new(control));
    gpu.bound(Bounds { cycles: Some(CYCLES), instructions: None });
    let text = format!(
        ".version 6.0\n.target {target}\n.address_size 64\n.entry k(.param .u64 p) {{\n.reg .pred %p<4>;\n\
         .reg .b32 %r<9>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n{body}\nret;\n}}\n"
    );
    let module = Module::parse("k.ptx", &text).expect("PTX");
    let mut memory = DeviceMemory::new();
    let buffer = memory.alloc(1 << 16, "p").expect("room");
    let kernel = module.kernel("k").expect("there");
    let params = kernel.pack(&[Arg::Ptr(buffer)]).expect("an address");
    let dims = LaunchDims::new([ctas, 1, 1], [threads, 1, 1]);
    let launched = LaunchedKernel::new(kernel, dims, params, 0, &config).expect("it fits");
    let ended = gpu.run(launched, &mut memory);
    let warnings = warnings.lock().expect("no thread has panicked").clone();
    (warnings, ended)
}

/// Returns the only warning of a run that does not end.
fn warning(body: &str, ctas: u32, threads: u32) -> String {
    let (mut warnings, ended) = run(body, ctas, threads);
    assert!(matches!(ended, Err(SimFault::Limited { cycle: CYCLES, .. })), "{ended:?}");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    warnings.remove(0)
}

#[test]
fn a_branch_to_itself_is_named_with_its_warp_and_line() {
    let named = "sm0 warp 0 (kernel k, CTA 0,0,0) repeats PTX line 10";
    assert_eq!(warning("A: bra A;", 1, 32), format!("livelock at cycle 2097152: {named}"));
}

/// Spins until the word at `p` is not 0.
const WAIT: &str = "A: ld.volatile.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra A;";

#[test]
fn a_flag_that_nobody_sets_is_named_with_the_lines_that_wait_for_it() {
    let text = warning(WAIT, 1, 64);
    assert!(text.contains("sm0 warp 1 (kernel k, CTA 0,0,0) repeats PTX lines 10 to 12"), "{text}");
}

#[test]
fn a_lock_that_is_never_given_back_is_named_although_atomics_try_it() {
    // The losing lanes spin before the winning lane continues: the classic livelock of a warp in lockstep.
    let text =
        warning("A: atom.global.cas.b32 %r2, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra A;", 1, 32);
    assert!(text.contains("repeats PTX lines 10 to 12"), "{text}");
}

#[test]
fn a_lock_within_a_warp_ends_since_volta_but_not_if_it_is_never_given_back() {
    let lock = "A: atom.global.cas.b32 %r2, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra A;\n";
    let (warnings, ended) =
        run_for("sm_75", &format!("{lock}atom.global.exch.b32 %r2, [%rd1], 0;\nbar.sync 0;"), 1, 64);
    assert!(ended.is_ok(), "{ended:?}");
    assert_eq!(warnings, [] as [String; 0]);
    let (warnings, ended) = run_for("sm_75", lock, 1, 32);
    assert!(matches!(ended, Err(SimFault::Limited { .. })), "{ended:?}");
    assert!(warnings.len() == 1 && warnings[0].contains("repeats PTX lines 10 to 12"), "{warnings:?}");
}

#[test]
fn warps_at_a_barrier_do_not_hide_those_that_spin() {
    let text = warning("setp.lt.u32 %p2, %r1, 32;\n@!%p2 bra B;\nA: bra A;\nB: bar.sync 0;", 1, 64);
    assert!(text.contains("warp 0") && !text.contains("warp 1"), "{text}");
}

#[test]
fn ctas_that_wait_for_room_are_counted() {
    // Each CTA waits for CTA 120, which cannot start: 15 SMs hold 8 CTAs each.
    let body =
        "mov.u32 %r3, %ctaid.x;\nsetp.lt.u32 %p2, %r3, 120;\n@%p2 bra A;\nst.volatile.global.u32 [%rd1], 1;\n"
            .to_string() + WAIT;
    let text = warning(&body, 121, 32);
    assert!(text.ends_with("; and 108 more; 1 CTAs wait for room"), "{text}");
}

#[test]
fn a_wait_that_somebody_ends_is_no_livelock() {
    // The last warp sets the flag after a long computation without stores.
    let body = "setp.lt.u32 %p2, %r1, 32;\n@%p2 bra A;\nmov.u32 %r4, 0;\nL: add.u32 %r4, %r4, 1;\n\
                setp.lt.u32 %p3, %r4, 60000;\n@%p3 bra L;\nst.volatile.global.u32 [%rd1], 1;\n"
        .to_string()
        + WAIT;
    let (warnings, ended) = run(&body, 1, 64);
    assert!(ended.is_ok(), "{ended:?}");
    assert_eq!(warnings, [] as [String; 0]);
}

#[test]
fn a_long_computation_without_stores_is_no_livelock() {
    let (warnings, ended) =
        run("mov.u32 %r2, 0;\nA: add.u32 %r2, %r2, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra A;", 1, 32);
    assert!(matches!(ended, Err(SimFault::Limited { .. })), "{ended:?}");
    assert_eq!(warnings, [] as [String; 0]);
}

#[test]
fn a_wait_for_the_clock_is_no_livelock() {
    let (warnings, ended) =
        run("A: mov.u64 %rd2, %clock64;\nsetp.lt.u64 %p1, %rd2, 3000000;\n@%p1 bra A;", 1, 32);
    assert!(ended.is_ok(), "{ended:?}");
    assert_eq!(warnings, [] as [String; 0]);
}

#[test]
fn limits_end_a_run_in_the_cycle_that_reaches_them() {
    // Each warp instruction counts as 32 thread instructions.
    let body = "A: add.u32 %r2, %r2, 1;\nbra A;";
    for most in [1, 32, 33, 1000, 320_000] {
        let config = Arc::new(GpuConfig::load("gtx480").expect("built in"));
        let parts = Parts::none(&config);
        let mut gpu = Gpu::new(&config, parts, Arc::new(Control::default()));
        gpu.bound(Bounds { cycles: None, instructions: Some(most) });
        let module = Module::parse(
            "k.ptx",
            &format!(".version 6.0\n.target sm_60\n.address_size 64\n.entry k() {{\n.reg .b32 %r<9>;\n{body}\nret;\n}}\n"),
        )
        .expect("PTX");
        let mut memory = DeviceMemory::new();
        let kernel = module.kernel("k").expect("there");
        let params = kernel.pack(&[]).expect("none");
        let dims = LaunchDims::new([1, 1, 1], [32, 1, 1]);
        let launched = LaunchedKernel::new(kernel, dims, params, 0, &config).expect("it fits");
        let ended = gpu.run(launched, &mut memory).expect_err("it has no end");
        let limit = Limit::MaxInstructions(most);
        assert!(matches!(&ended, SimFault::Limited { limit: l, .. } if *l == limit), "{ended}");
        assert_eq!(gpu.snapshot().sm.thread_instructions, most.next_multiple_of(32));
    }
}
