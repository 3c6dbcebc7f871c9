//! Tests that an SM loses nothing if it asks its schedulers only when an instruction can issue.
//!
//! An SM with quotas asks them in every cycle in which it runs. Quotas that are never used up have no other effect.
use proptest::prelude::*;
use selvedge_sim::config::GpuConfig;
use selvedge_sim::gpu::{Control, Gpu};
use selvedge_sim::mechanism::MechanismSpec;
use selvedge_sim::mechanism::probe::{ProbeSpec, Probes};
use selvedge_sim::memory::DeviceMemory;
use selvedge_sim::ptx::{Arg, LaunchDims, Module};
use selvedge_sim::sm::launch::LaunchedKernel;
use selvedge_sim::snapshot::Snapshot;
use std::sync::Arc;

/// Steps of kernels: arithmetic in each pipe, hits and misses in memory, fences and barriers.
const STEPS: [&str; 12] = [
    "add.s32 %r4, %r4, %r1;",
    "mad.lo.s32 %r5, %r4, %r1, %r5;",
    "sin.approx.f32 %f1, %f1;",
    "div.rn.f32 %f2, %f1, %f3;",
    "add.f64 %fd1, %fd1, %fd2;",
    "ld.global.u32 %r6, [%rd2];",
    "ld.global.u32 %r7, [%rd3];",
    "add.s32 %r4, %r6, %r7;",
    "st.global.u32 [%rd3], %r4;",
    "atom.global.add.u32 %r7, [%rd1], %r4;",
    "st.shared.u32 [s], %r4;\nbar.sync 0;\nld.shared.u32 %r5, [s];",
    "membar.gl;",
];

/// Runs a kernel that executes these steps twice, and returns all counters.
fn counters(
    config: &Arc<GpuConfig>,
    steps: &[usize],
    (ctas, threads): (u32, u32),
    asks_always: bool,
) -> Snapshot {
    let steps: Vec<&str> = steps.iter().map(|step| STEPS[*step]).collect();
    let text = format!(
        ".version 4.3\n.target sm_20\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
         .shared .align 4 .b8 s[4];\n.reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n.reg .f32 %f<8>;\n.reg .f64 %fd<4>;\n\
         .reg .pred %p<2>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n\
         add.s64 %rd2, %rd2, %rd1;\nmul.wide.u32 %rd3, %r1, 132;\nadd.s64 %rd3, %rd3, %rd1;\nmov.u32 %r2, 0;\n\
         again:\n{}\nadd.s32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 2;\n@%p1 bra again;\nret;\n}}\n",
        steps.join("\n")
    );
    let module = Module::parse("test.ptx", &text).expect("the test's PTX is valid");
    let kernel = module.kernel("k").expect("the kernel is there");
    let mut memory = DeviceMemory::new();
    let buffer = memory.alloc(132 * 1024, "buffer").expect("it fits");
    let probes = Probes::new(ProbeSpec::default(), selvedge_hw::Engine::Model);
    let parts = MechanismSpec::base().build(config, 1, &probes).expect("nothing conflicts");
    let mut gpu = Gpu::new(config, parts, Arc::new(Control::default()));
    if asks_always {
        gpu.set_quotas(&[u32::MAX]);
    }
    let params = kernel.pack(&[Arg::Ptr(buffer)]).expect("the argument fits");
    let dims = LaunchDims::new([ctas, 1, 1], [threads, 1, 1]);
    let launched = LaunchedKernel::new(kernel, dims, params, 0, config).expect("it fits");
    gpu.run(launched, &mut memory).expect("no fault");
    gpu.snapshot()
}

/// Configurations with one SM, which the kernels fill.
fn configs() -> impl Strategy<Value = Arc<GpuConfig>> {
    let policy = prop::sample::select(vec!["gto", "lrr", "oldest-cta-first"]);
    (policy, 1u32..4, 1u32..9, 1u32..5).prop_map(|(policy, schedulers, queue, pipes)| {
        let text = format!(
            "base = \"gtx480\"\n[sm]\ncount = 1\nscheduler = \"{policy}\"\nschedulers = {schedulers}\n\
             [sm.lsu]\nqueue = {queue}\n[sm.alu]\npipes = {pipes}\n"
        );
        Arc::new(GpuConfig::parse("one.toml", &text).expect("valid"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn schedulers_that_are_asked_in_every_cycle_issue_the_same(
        config in configs(),
        steps in prop::collection::vec(0..STEPS.len(), 1..24),
        shape in (1u32..9, prop::sample::select(vec![32u32, 64, 96, 256])),
    ) {
        let rests = counters(&config, &steps, shape, false);
        let asks = counters(&config, &steps, shape, true);
        prop_assert!(rests.cycles > 0);
        prop_assert_eq!(rests, asks);
    }
}
