//! Tests of simultaneous workloads: results, counters, partitions and mistakes.
use super::*;
use crate::run::{RunSpec, run as run_one};
use crate::source::Source;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::gpu::{Bounds, Gpu};
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::sm::launch::LaunchedKernel;
use selvedge_hw::Engine;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{LaunchDims, Module};
use selvedge_workloads::workload;
use selvedge_workloads::workload::Size;

fn spec(workloads: &[&str], share: &str) -> TogetherSpec {
    TogetherSpec {
        workloads: workloads.iter().map(|name| Source::find(name).expect("built in")).collect(),
        size: Size::Tiny,
        config: Arc::new(GpuConfig::load("gtx480").expect("built in")),
        share: share.parse().expect("valid"),
        cycles: None,
        alone: false,
        isolated: None,
        mechanism: MechanismSpec::base(),
        engine: Engine::Model,
        probes: ProbeSpec::default(),
        check_dram: true,
        max_memory: selvedge_gpu::limits::Limits::default().memory,
        bounds: Bounds::default(),
    }
}

fn report(spec: &TogetherSpec) -> TogetherReport {
    let outcome = run(spec, Arc::new(Control::default())).expect("it starts");
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    outcome.report
}

fn refused(spec: &TogetherSpec) -> String {
    run(spec, Arc::new(Control::default())).err().expect("it is refused").to_string()
}

#[test]
fn one_launch_without_others_takes_the_cycles_that_it_takes_by_run() {
    let spec = spec(&["vecadd"], "left-over");
    let control = Arc::new(Control::default());
    let (mechanism, probes) = (MechanismSpec::base(), ProbeSpec::default());
    let mut machine =
        Machine::new(&spec, &spec.workloads, &mechanism, &probes, Share::LeftOver, &control).expect("valid");
    machine.run(None).expect("it runs");
    machine.finish().expect("the laws hold");
    let one = RunSpec {
        size: spec.size,
        engine: spec.engine,
        probes,
        check_dram: true,
        ..RunSpec::new(spec.workloads[0].clone(), Arc::clone(&spec.config), mechanism)
    };
    let one = run_one(&one, control).expect("it runs").report;
    assert_eq!(one.totals, machine.gpu.snapshot().into());
    let kernel = machine.gpu.program_counters(0);
    assert_eq!(kernel.resident_cycles, one.totals.sm.resident_cycles, "no other kernel was resident");
}

#[test]
fn programs_compute_what_their_references_say_however_they_share() {
    for share in ["left-over", "spatial", "sm:2,3", "smk-p", "smk-pw:2000", "warped-slicer:2000"] {
        let report = report(&spec(&["bfs", "kmeans"], share));
        for program in &report.programs {
            assert_eq!(program.result, Verdict::Pass, "{share}: {}", program.workload);
            assert!(program.ends > 0 && program.l1d.accesses > 0, "{share}: {}", program.workload);
        }
        assert!(report.programs.iter().any(|p| p.ends == 1), "{share}: it stops at the last one's first end");
    }
}

#[test]
fn four_programs_share_an_sm() {
    let report = report(&spec(&["bfs", "kmeans", "atax", "vecadd"], "sm:2,2,2,2"));
    assert!(report.programs.iter().all(|p| p.result == Verdict::Pass));
}

#[test]
fn two_runs_report_the_same() {
    let spec = TogetherSpec { cycles: Some(30_000), ..spec(&["bfs", "atax"], "left-over") };
    let [first, second] = [(); 2].map(|()| TogetherReport {
        host: HostReport { wall_s: 0.0, cycles_per_s: 0.0, warp_instructions_per_s: 0.0 },
        ..report(&spec)
    });
    assert_eq!(first, second);
}

#[test]
fn a_given_time_is_kept_and_filled_with_restarts() {
    let report = report(&TogetherSpec { cycles: Some(40_000), ..spec(&["vecadd", "vecadd"], "spatial") });
    assert_eq!(report.totals.cycles, 40_000);
    assert!(report.programs.iter().all(|p| p.ends > 1 && p.launches > p.ends - 1));
}

#[test]
fn the_measures_come_from_the_runs_alone() {
    let alone = TogetherSpec { alone: true, cycles: Some(20_000), ..spec(&["vecadd"], "left-over") };
    let report = report(&alone);
    let throughput = report.throughput.expect("asked for");
    assert_eq!(throughput, Throughput { weighted_speedup: 1.0, antt: 1.0, fairness: 1.0 });
    let mut programs = [report.programs[0].clone(), report.programs[0].clone()];
    (programs[0].ipc, programs[0].ipc_alone) = (3.0, Some(4.0));
    (programs[1].ipc, programs[1].ipc_alone) = (1.0, Some(4.0));
    let throughput = Throughput::of(&programs).expect("both are known");
    // Computed by hand: 3/4 + 1/4, (4/3 + 4/1) / 2, (1/4) / (3/4).
    assert_eq!(throughput.weighted_speedup, 1.0);
    assert!((throughput.antt - 8.0 / 3.0).abs() < 1e-12 && (throughput.fairness - 1.0 / 3.0).abs() < 1e-12);
    programs[1].ipc_alone = None;
    assert_eq!(Throughput::of(&programs), None);
}

/// Returns the resident CTAs of two kernels in each SM after dispatch, before any CTA ends. A CTA takes 8 of an SM's 48 warps.
/// The grids have `ctas_per_sm` CTAs per SM.
fn residents(share: Share, ctas_per_sm: [u32; 2]) -> Vec<[u32; 2]> {
    let ptx = ".version 4.3\n.target sm_20\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r<2>;\n\
               .reg .pred %p<2>;\nmov.u32 %r1, 0;\nLOOP:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 1000;\n\
               @%p1 bra LOOP;\nret;\n}\n";
    let module = Module::parse("k.ptx", ptx).expect("valid");
    let config = Arc::new(GpuConfig::load("gtx480").expect("built in"));
    let probes = Probes::new(ProbeSpec::default(), Engine::Model);
    let policies = MechanismSpec::base().build(&config, 2, &probes).expect("they combine");
    let mut gpu = Gpu::new(&config, policies, Arc::new(Control::default()));
    gpu.share(share);
    for (slot, ctas) in (0..).zip(ctas_per_sm) {
        let dims = LaunchDims::new([config.sm.count * ctas, 1, 1], [256, 1, 1]);
        let kernel = module.kernel("k").expect("there");
        gpu.start(LaunchedKernel::new(kernel, dims, vec![], slot, &config).expect("it fits"));
    }
    let ended = gpu.run_until_one_ends(100, &mut DeviceMemory::new()).expect("it runs");
    assert!(ended.is_empty());
    gpu.sms().iter().map(|sm| [0, 1].map(|slot| sm.resident_ctas(slot))).collect()
}

#[test]
fn left_over_gives_the_second_kernel_what_the_first_leaves() {
    assert_eq!(residents(Share::LeftOver, [4, 8]), [[4, 2]; 15]);
    assert_eq!(residents(Share::LeftOver, [8, 8]), [[6, 0]; 15]);
}

#[test]
fn spatial_sharing_fills_disjoint_sms() {
    let expected = [vec![[6, 0]; 8], vec![[0, 6]; 7]].concat();
    assert_eq!(residents(Share::Spatial(2), [8, 8]), expected);
}

#[test]
fn a_partition_gives_each_kernel_its_ctas_in_every_sm() {
    assert_eq!(residents(Share::PerSm(vec![2, 3]), [8, 8]), [[2, 3]; 15]);
    assert_eq!(residents(Share::PerSm(vec![5, 1]), [2, 8]), [[2, 1]; 15]);
}

#[test]
fn dmil_limits_each_kernel_by_a_generator_of_its_own_in_lockstep() {
    let probes = ProbeSpec {
        instances: vec!["sm0.milg".into(), "sm0.milg1".into()],
        cycles: 5_000,
        ..ProbeSpec::default()
    };
    let spec = TogetherSpec {
        mechanism: "dmil".parse().expect("valid"),
        engine: Engine::Lockstep,
        probes,
        ..spec(&["bfs", "kmeans"], "sm:2,2")
    };
    let outcome = run(&spec, Arc::new(Control::default())).expect("it starts");
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    assert!(outcome.report.programs.iter().all(|p| p.result == Verdict::Pass));
    assert_eq!(outcome.traces.len(), 2, "a generator per kernel");
}

/// Returns the report without the fields that depend on the engine or the host.
fn statistics(spec: &TogetherSpec) -> TogetherReport {
    let host = HostReport { wall_s: 0.0, cycles_per_s: 0.0, warp_instructions_per_s: 0.0 };
    TogetherReport { host, engine: String::new(), coverage: Vec::new(), ..report(spec) }
}

#[test]
fn ranks_and_limits_are_the_same_under_every_engine() {
    for mechanism in ["qbmi", "qbmi+dmil"] {
        let [model, rtl, lockstep] = [Engine::Model, Engine::Rtl, Engine::Lockstep].map(|engine| {
            statistics(&TogetherSpec {
                mechanism: mechanism.parse().expect("valid"),
                engine,
                ..spec(&["bfs", "kmeans"], "sm:2,2")
            })
        });
        assert!(model.programs.iter().all(|p| p.result == Verdict::Pass), "{mechanism}");
        assert!(model.mechanism_counters["quota_sets_added"] > 0, "{mechanism}");
        assert_eq!(model, rtl, "{mechanism}");
        assert_eq!(model, lockstep, "{mechanism}");
    }
}

/// Returns the L1D requests of two kernels in `cycles` cycles, after a warm-up of the same length. Both load resident lines in an
/// endless loop. A load of the first kernel reads 32 lines, a load of the second one line. With eight loads in flight per warp,
/// both kernels always have a ready load.
fn requests_of_unequal_kernels(mechanism: &str, cycles: u64) -> [f64; 2] {
    let loads: String = (2..10).map(|r| format!("ld.global.u32 %r{r}, [%rd3];\n")).collect();
    let entry = |name: &str, stride: u32| {
        format!(
            ".visible .entry {name}() {{\n.reg .b32 %r<10>;\n.reg .b64 %rd<4>;\nmov.u32 %r1, %laneid;\n\
             mul.wide.u32 %rd1, %r1, {stride};\nmov.u64 %rd2, buffer;\nadd.u64 %rd3, %rd1, %rd2;\nLOOP:\n\
             {loads}bra LOOP;\n}}\n"
        )
    };
    let ptx = format!(
        ".version 4.3\n.target sm_20\n.address_size 64\n.global .align 128 .b8 buffer[4096];\n{}{}",
        entry("wide", 128),
        entry("narrow", 4)
    );
    let module = Module::parse("k.ptx", &ptx).expect("valid");
    let mut memory = DeviceMemory::new();
    let config = Arc::new(GpuConfig::load("gtx480").expect("built in"));
    let probes = Probes::new(ProbeSpec::default(), Engine::Model);
    let mechanism: MechanismSpec = mechanism.parse().expect("valid");
    let policies = mechanism.build(&config, 2, &probes).expect("they combine");
    let mut gpu = Gpu::new(&config, policies, Arc::new(Control::default()));
    gpu.share(Share::PerSm(vec![3, 3]));
    for (slot, name) in [(0, "wide"), (1, "narrow")] {
        memory.select(slot);
        module.load(&mut memory).expect("it fits");
        let grid = [config.sm.count * 3, 1, 1];
        let dims = LaunchDims::new(grid, [256, 1, 1]);
        let kernel = module.kernel(name).expect("there");
        gpu.start(LaunchedKernel::new(kernel, dims, vec![], slot, &config).expect("it fits"));
    }
    let mut requests_at = |cycle| {
        gpu.run_until_one_ends(cycle, &mut memory).expect("it runs");
        [0, 1].map(|slot| gpu.program_counters(slot).l1d.accesses as f64)
    };
    let (before, after) = (requests_at(cycles), requests_at(2 * cycles));
    [0, 1].map(|slot| after[slot] - before[slot])
}

#[test]
fn turns_by_instructions_give_wide_ones_more_requests_and_quotas_give_both_as_many() {
    let ratio = |mechanism| {
        let [wide, narrow] = requests_of_unequal_kernels(mechanism, 40_000);
        wide / narrow
    };
    let (rbmi, qbmi) = (ratio("rbmi"), ratio("qbmi"));
    // Instructions of the two kernels alternate: 32 requests to 1.
    assert!((31.0..33.0).contains(&rbmi), "{rbmi}");
    // The quotas are 1 and 32 per set, after the 1,024 requests of the narrow kernel's first interval.
    assert!((0.98..1.02).contains(&qbmi), "{qbmi}");
}

#[test]
fn smil_keeps_each_kernel_within_its_limit() {
    let spec = TogetherSpec {
        mechanism: "smil,k0=3,k1=1".parse().expect("valid"),
        ..spec(&["bfs", "kmeans"], "sm:2,2")
    };
    let report = report(&spec);
    assert!(report.programs.iter().all(|p| p.result == Verdict::Pass));
    let most = ["most_in_flight_k0", "most_in_flight_k1"].map(|name| report.mechanism_counters[name]);
    assert_eq!(most, [3, 1]);
}

#[test]
fn partitions_that_the_programs_decide_are_reported_and_fill_the_sm() {
    let smk = report(&spec(&["bfs", "kmeans"], "smk-p")).partition.expect("smk-p has one");
    let slicer = report(&spec(&["bfs", "kmeans"], "warped-slicer:2000")).partition.expect("it has one");
    assert!(smk.scalability.is_empty());
    for (ctas, curve) in slicer.ctas.iter().zip(&slicer.scalability) {
        assert!(*ctas as usize <= curve.len() && curve.iter().all(|ipc| *ipc > 0.0));
    }
    // A CTA of either kernel takes 256 of 1536 threads. With 128 registers for each of these threads, registers can also be the
    // limit.
    let registers = [("bfs", "bfs_expand"), ("kmeans", "kmeans_swap")].map(|(name, kernel)| {
        let module = workload::find(name).expect("built in").module().expect("valid");
        module.kernel(kernel).expect("it has one").registers
    });
    let fits =
        |ctas: [u32; 2]| ctas[0] + ctas[1] <= 6 && ctas[0] * registers[0] + ctas[1] * registers[1] <= 128;
    for ctas in [&smk.ctas, &slicer.ctas] {
        let [bfs, kmeans] = ctas[..] else { panic!("two kernels: {ctas:?}") };
        let is_full = fits([bfs, kmeans]) && !fits([bfs + 1, kmeans]) && !fits([bfs, kmeans + 1]);
        assert!(is_full, "{ctas:?} with {registers:?} registers of a thread");
    }
}

#[test]
fn a_profile_is_as_long_as_the_run_unless_its_length_is_given() {
    let partition = |share: &str, cycles: u64| {
        let spec = TogetherSpec { cycles: Some(cycles), ..spec(&["bfs", "kmeans"], share) };
        report(&spec).partition.expect("it has one")
    };
    for share in ["warped-slicer", "smk-pw"] {
        let given = partition(&format!("{share}:3000"), 1000);
        assert_eq!(partition(share, 3000), given, "{share}");
        assert_ne!(partition(share, 1000), given, "{share}: the length decides");
    }
}

#[test]
fn mistakes_are_refused_before_anything_runs() {
    assert_eq!(refused(&spec(&["bfs"; 5], "left-over")), "5 workloads together: must be 1 to 4");
    let line = refused(&spec(&["bfs", "atax"], "sm:1"));
    assert_eq!(line, "share 'sm:1': must be as many numbers as programs, which are 2");
    assert!(workload::find("bfs+atax").is_err(), "a plus is in no name");
}
