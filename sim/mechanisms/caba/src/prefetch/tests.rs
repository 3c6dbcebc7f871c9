//! Tests of prefetching on the whole GPU, with kernels that it must speed up, must not change, or that stress it.
use super::*;
use crate::lanes::{LANES, Lanes, LoadMetadata, ParentLoad};
use crate::tests::{counter, run_on};
use selvedge_mechanism_testing::kernels::{CHAIN, EIGHTH, STREAM};
use selvedge_mechanism_testing::{NOTHING, SmallKernel, run_small};
use selvedge_sim::mechanism::MechanismSpec;
use selvedge_sim::report::RunReport;

/// Each of eight warps of an SM loads 512 lines out of 512 KB, in a pseudo-random order.
const RANDOM: SmallKernel<'static> = SmallKernel {
    grid: 3,
    block: 256,
    words: 1 << 17,
    body: "shr.u32 %r5, %r1, 5;\n\
           mul.lo.u32 %r5, %r5, 2654435761;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n\
           LOOP:\nmad.lo.u32 %r5, %r5, 1664525, 1013904223;\nshr.u32 %r7, %r5, 20;\nmul.wide.u32 %rd3, %r7, 128;\n\
           add.s64 %rd3, %rd1, %rd3;\nld.global.u32 %r6, [%rd3];\nadd.u32 %r4, %r4, %r6;\n\
           add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 512;\n@%p1 bra LOOP;\nst.global.u32 [%rd1], %r4;",
    ..NOTHING
};

/// One warp of an SM loads 32 lines at once, 64 times. Each thread reads its own row.
const ROWS: SmallKernel<'static> = SmallKernel {
    grid: 3,
    block: 32,
    words: 3 * 32 * 64 * 32,
    body: "mul.wide.u32 %rd2, %r1, 8192;\n\
           add.s64 %rd2, %rd1, %rd2;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n\
           LOOP:\nld.global.u32 %r6, [%rd2];\nadd.u32 %r4, %r4, %r6;\nadd.s64 %rd2, %rd2, 128;\n\
           add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 64;\n@%p1 bra LOOP;\nst.global.u32 [%rd1], %r4;",
    ..NOTHING
};

/// Five CTAs run on an SM one after the other. Each warp loads one line, 96 lines after that of its predecessor in its slot.
const ONCE: SmallKernel<'static> = SmallKernel {
    grid: 15,
    block: 1024,
    words: 15 * 1024,
    body: "mul.wide.u32 %rd2, %r1, 4;\n\
           add.s64 %rd2, %rd1, %rd2;\nmov.u32 %r3, 0;\nld.global.u32 %r6, [%rd2];\n\
           LOOP:\nmad.lo.u32 %r6, %r6, 5, %r3;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 100;\n@%p1 bra LOOP;\n\
           st.global.u32 [%rd2], %r6;",
    ..NOTHING
};

fn small(kernel: &SmallKernel<'_>, mechanism: &str) -> RunReport {
    run_small(kernel, "gtx480", mechanism).report
}

/// Returns the cycles of a kernel in the baseline, and its report with prefetching.
fn with_and_without(kernel: &SmallKernel<'_>) -> (u64, RunReport) {
    (small(kernel, "base").totals.cycles, small(kernel, "caba-prefetch"))
}

#[test]
fn a_walk_of_few_warps_wins_because_its_lines_are_there_when_they_are_asked_for() {
    let (base, report) = with_and_without(&CHAIN);
    assert!(report.totals.cycles * 100 < base * 80, "base {base}, {}", report.totals.cycles);
    let loads = 6 * 256;
    assert!(counter(&report, "prefetched_lines_useful") * 100 > loads * 95);
    assert!(report.totals.l1d.hits * 100 > loads * 95, "every load misses in the baseline");
}

#[test]
fn random_accesses_are_hardly_prefetched_and_run_as_fast_as_without() {
    let (base, report) = with_and_without(&RANDOM);
    assert!(counter(&report, "prefetches") * 100 < counter(&report, "assist_warps_finished"));
    assert!(report.totals.cycles.abs_diff(base) * 100 <= base, "base {base}, {}", report.totals.cycles);
}

#[test]
fn a_stream_that_binds_the_bandwidth_is_throttled_and_runs_as_fast_as_without() {
    for machine in ["base = \"gtx480\"\n", EIGHTH] {
        let [base, report] = ["base", "caba-prefetch,loads=4"].map(|name| run_on(machine, &STREAM, name));
        let cycles = [&base, &report].map(|report| report.totals.cycles);
        assert!(cycles[1] * 100 <= cycles[0] * 101, "base, caba-prefetch: {cycles:?}");
        assert!(counter(&report, "assist_cycles_throttled") * 10 > counter(&report, "assist_cycles") * 9);
    }
}

#[test]
fn each_line_of_a_load_is_prefetched_in_a_lane_of_its_own() {
    let (base, report) = with_and_without(&ROWS);
    assert!(report.totals.cycles < base, "base {base}, {}", report.totals.cycles);
    assert_eq!(counter(&report, "prefetches"), 3 * 32 * 62, "from the third time on");
}

#[test]
fn every_prefetch_is_sent_or_dropped_once_and_every_line_that_was_sent_is_judged_once() {
    for kernel in [&CHAIN, &RANDOM, &ROWS, &ONCE] {
        let report = small(kernel, "caba-prefetch=8");
        let sum = |prefix: &str| {
            let counters = report.mechanism_counters.iter().filter(|(name, _)| name.starts_with(prefix));
            counters.map(|(_, value)| value).sum::<u64>()
        };
        let sent = counter(&report, "prefetches_sent");
        assert_eq!(sent + sum("prefetches_dropped_"), counter(&report, "prefetches"));
        assert_eq!(sum("prefetched_lines_"), sent);
        assert_eq!(report.totals.sm.prefetches_sent, sent);
        let ended = counter(&report, "assist_warps_finished") + counter(&report, "assist_warps_killed");
        assert_eq!(ended, counter(&report, "assist_warps_low"));
    }
}

#[test]
fn nothing_is_prefetched_beyond_the_memory_of_the_program() {
    let report = small(&CHAIN, "caba-prefetch=64");
    assert_eq!(counter(&report, "prefetches_dropped_beyond"), 64, "the last 64 of the last warp");
}

#[test]
fn a_warp_does_not_inherit_the_strides_of_the_one_before_it_in_its_slot() {
    let report = small(&ONCE, "caba-prefetch");
    assert!(counter(&report, "assist_warps_finished") > 0, "their metadata were written");
    assert_eq!(counter(&report, "prefetches"), 0);
}

#[test]
fn its_registers_are_taken_from_the_threads() {
    let extra = |text: &str| {
        let spec: MechanismSpec = text.parse().expect("valid");
        let config = spec.machine(&GpuConfig::load("gtx480").expect("built in")).expect("it suits");
        config.sm.extra_registers
    };
    assert_eq!(extra("caba-prefetch"), 4 + 2 * 2);
    assert_eq!(extra("caba-prefetch,loads=8"), 4 + 2 * 8);
}

#[test]
fn an_sm_has_one_kind_of_assist_warps_on_a_machine_that_their_controller_knows() {
    let both = "caba-prefetch+caba-bdi".parse::<MechanismSpec>().expect_err("both have a controller");
    assert!(both.to_string().contains("both have the SMs' assist warps"), "{both}");
    let config = GpuConfig::parse("my.toml", "base = \"gtx480\"\n[sm]\nwarps = 64\n").expect("valid");
    let spec: MechanismSpec = "caba-prefetch".parse().expect("valid");
    let refused = spec.machine(&config).expect_err("it does not suit").to_string();
    assert!(refused.contains("sm.warps = 64: must be at most 24 for each scheduler"), "{refused}");
    let far = "caba-prefetch=65".parse::<MechanismSpec>().expect_err("too far").to_string();
    assert!(far.contains("must be 1 to 64"), "{far}");
}

/// Executes the routine for the lines of successive loads in one lane. Returns the prefetched lines of each load.
fn follow(distance: u32, lines: &[u64]) -> Vec<Vec<u64>> {
    let routine = routine(distance);
    let mut metadata = LoadMetadata::default();
    let mut prefetched = Vec::new();
    for line in lines {
        let mut parent = ParentLoad { metadata, ..ParentLoad::default() };
        parent.lines[0] = *line;
        let mut lanes = Lanes::of_load(parent);
        for instruction in &routine.code {
            lanes.execute(instruction, 1).expect("it touches no line");
            if lanes.made.is_some() {
                break;
            }
        }
        metadata = lanes.load.metadata;
        prefetched.push(lanes.load.prefetched);
    }
    prefetched
}

#[test]
fn a_stride_is_believed_when_it_is_seen_twice() {
    assert_eq!(follow(2, &[100, 103, 106, 109, 120]), [vec![], vec![], vec![112], vec![115], vec![]]);
}

#[test]
fn a_stride_may_lead_downwards() {
    assert_eq!(follow(4, &[1 << 36, (1 << 36) - 1, (1 << 36) - 2])[2], [(1 << 36) - 6]);
}

#[test]
fn the_same_line_again_neither_prefetches_nor_changes_the_stride() {
    assert_eq!(follow(1, &[7, 8, 8, 8, 9, 9])[2..], [vec![], vec![], vec![10], vec![]]);
}

#[test]
fn each_lane_has_a_stride_of_its_own() {
    let routine = routine(1);
    let mut parent = ParentLoad::default();
    for step in 0..3 {
        parent.lines = std::array::from_fn(|lane| 1000 * (lane as u64 + 1) + step * lane as u64);
        let mut lanes = Lanes::of_load(parent.clone());
        routine.code.iter().for_each(|i| lanes.execute(i, 0b101).expect("it touches no line"));
        parent = lanes.load;
    }
    assert_eq!(parent.prefetched, [3000 + 3 * 2], "lane 0 has no stride, and lane 1 does not run");
    assert_eq!(parent.metadata[LANES - 1], [0, 0]);
}
