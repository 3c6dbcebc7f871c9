//! Tests of CABA on the whole GPU, with kernels that it must speed up, must not change, or that stress it.
use selvedge_gpu::config::GpuConfig;
use selvedge_hw::Engine;
use selvedge_mechanism_testing as testing;
use selvedge_mechanism_testing::kernels::{COMPUTE, EIGHTH, FOUR_VALUES, NIBBLES, STREAM};
use selvedge_mechanism_testing::{NOTHING, SmallKernel};
use selvedge_sim::report::RunReport;

/// Each warp writes 32 lines of small numbers.
const WRITE: SmallKernel<'static> = SmallKernel {
    grid: 30,
    block: 256,
    words: 30 * 256 * 32,
    fill: "init = \"zeros\"",
    body: "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd3, %rd1, %rd3;\nmov.u32 %r3, 0;\n\
           LOOP:\nst.global.u32 [%rd3], %r1;\nadd.s64 %rd3, %rd3, 30720;\n\
           add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 32;\n@%p1 bra LOOP;",
    ..NOTHING
};

/// Each warp writes 32 lines of small numbers, and reads each line back at once.
const READ_BACK: SmallKernel<'static> = SmallKernel {
    body: "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd3, %rd1, %rd3;\nmov.u32 %r3, 0;\n\
           LOOP:\nst.global.u32 [%rd3], %r1;\nld.global.u32 %r4, [%rd3];\nadd.s64 %rd3, %rd3, 30720;\n\
           add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 32;\n@%p1 bra LOOP;",
    ..WRITE
};

/// Each warp writes 64 lines of a pseudo-random sequence.
const NOISE: SmallKernel<'static> = SmallKernel {
    grid: 30,
    block: 256,
    words: 30 * 256 * 64,
    fill: "init = \"zeros\"",
    body: "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd3, %rd1, %rd3;\nmov.u32 %r3, 0;\n\
           LOOP:\nmad.lo.u32 %r1, %r1, 1664525, 1013904223;\nst.global.u32 [%rd3], %r1;\nadd.s64 %rd3, %rd3, 30720;\n\
           add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 64;\n@%p1 bra LOOP;",
    ..NOTHING
};

/// Returns PTX of a thread that adds up `$lines` words, one every `$stride` bytes, `$passes` times.
macro_rules! adds_up {
    ($lines:literal words every $stride:literal bytes, $passes:literal times) => {
        concat!(
            "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd3, %rd1, %rd3;\nmov.u32 %r4, 0;\nmov.u32 %r5, 0;\n",
            "PASS:\nmov.u64 %rd4, %rd3;\nmov.u32 %r3, 0;\n",
            "LOOP:\nld.global.u32 %r6, [%rd4];\nadd.u32 %r4, %r4, %r6;\n",
            concat!("add.s64 %rd4, %rd4, ", $stride, ";\nadd.u32 %r3, %r3, 1;\n"),
            concat!("setp.lt.u32 %p1, %r3, ", $lines, ";\n@%p1 bra LOOP;\n"),
            concat!("add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, ", $passes, ";\n@%p1 bra PASS;\n"),
            "setp.ne.u32 %p1, %r4, 7;\n@%p1 bra END;\nst.global.u32 [%rd1], %r4;\nEND:",
        )
    };
}

/// Each warp adds up the same 24 lines of small numbers eight times; an SM has 24 KB of them.
const AGAIN: SmallKernel<'static> = SmallKernel {
    grid: 15,
    block: 256,
    words: 15 * 256 * 24,
    fill: "init = \"iota\"\nstep = 1",
    body: adds_up!(24 words every 15360 bytes, 8 times),
    ..NOTHING
};

/// As [`AGAIN`], with 1.2 MB of lines, four times.
const AGAIN_IN_L2: SmallKernel<'static> = SmallKernel {
    grid: 60,
    words: 60 * 256 * 20,
    body: adds_up!(20 words every 61440 bytes, 4 times),
    ..AGAIN
};

/// One warp on each SM adds up 200 lines of small numbers four times: 384 KB in total, 25 KB per SM.
const FEW_WARPS: SmallKernel<'static> = SmallKernel {
    grid: 15,
    block: 32,
    words: 15 * 32 * 200,
    body: adds_up!(200 words every 1920 bytes, 4 times),
    ..AGAIN
};

/// The GTX 480 with an L2 of twice the sets.
const DOUBLE_L2: &str = "base = \"gtx480\"\n[l2]\nsets = 128\n";
/// The GTX 480 with half of its DRAM's bandwidth.
const HALF: &str = "base = \"gtx480\"\n[clock]\ndram_mhz = 462\n";

fn run_kernel(kernel: &SmallKernel<'_>, mechanism: &str) -> RunReport {
    run_on("base = \"gtx480\"\n", kernel, mechanism)
}

pub(super) fn run_on(machine: &str, kernel: &SmallKernel<'_>, mechanism: &str) -> RunReport {
    testing::run_kernel(kernel, machine, mechanism, Engine::Model).report
}

pub(super) fn counter(report: &RunReport, name: &str) -> u64 {
    report.mechanism_counters[name]
}

#[test]
fn compressible_streams_run_faster_by_assist_warps_and_not_faster_than_at_no_cost() {
    let [base, caba, ideal] = ["base", "caba-bdi", "ideal-bdi"].map(|name| run_kernel(&STREAM, name));
    let cycles = [&base, &caba, &ideal].map(|report| report.totals.cycles);
    assert!(cycles[1] * 100 < cycles[0] * 95, "base, caba-bdi, ideal-bdi: {cycles:?}");
    assert!(cycles[2] <= cycles[1], "base, caba-bdi, ideal-bdi: {cycles:?}");
    // Every line arrives compressed, is decompressed once, and saves bursts.
    assert_eq!(counter(&caba, "sm_lines_decompressed"), 60 * 8 * 48);
    assert_eq!(counter(&caba, "assist_warps_high"), 60 * 8 * 48);
    assert_eq!(counter(&caba, "assist_instructions_high"), 5 * 60 * 8 * 48, "five for each line");
    assert!(2 * counter(&caba, "data_bursts") <= counter(&caba, "uncompressed_bursts"));
}

#[test]
fn a_kernel_that_does_not_touch_memory_runs_as_fast_as_without() {
    let base = run_kernel(&COMPUTE, "base").totals.cycles;
    for name in ["caba-bdi", "caba-fpc", "caba-cpack", "caba-best", "caba-bdi,l1_tags=4,l2_tags=4"] {
        let caba = run_kernel(&COMPUTE, name).totals.cycles;
        assert!(caba.abs_diff(base) * 100 <= base, "base {base}, {name} {caba}");
    }
}

/// Returns cycles and data bursts of a kernel under each algorithm and the best one, on a GPU limited by its bandwidth.
fn by_algorithm(kernel: &SmallKernel<'_>) -> [(u64, u64); 4] {
    ["caba-bdi", "caba-fpc", "caba-cpack", "caba-best"].map(|name| {
        let report = run_on(EIGHTH, kernel, name);
        (report.totals.cycles, counter(&report, "data_bursts"))
    })
}

#[test]
fn fpc_wins_where_words_have_four_bits_and_the_best_takes_it() {
    let base = run_on(EIGHTH, &NIBBLES, "base").totals.cycles;
    let [bdi, fpc, cpack, best] = by_algorithm(&NIBBLES);
    assert!(fpc.0 * 100 < base * 90, "base {base}, caba-fpc {fpc:?}");
    assert_eq!((bdi.1, fpc.1, cpack.1), (2 * 60 * 8 * 48, 60 * 8 * 48, 2 * 60 * 8 * 48));
    assert!(best.1 == fpc.1 && best.0.abs_diff(fpc.0) * 100 <= fpc.0, "{best:?} {fpc:?}");
}

#[test]
fn cpack_wins_where_four_values_recur_and_is_then_the_best() {
    let base = run_on(EIGHTH, &FOUR_VALUES, "base").totals.cycles;
    let [bdi, fpc, cpack, best] = by_algorithm(&FOUR_VALUES);
    assert!(cpack.0 * 100 < base * 90, "base {base}, caba-cpack {cpack:?}");
    assert_eq!((bdi.1, fpc.1, cpack.1), (4 * 60 * 8 * 48, 4 * 60 * 8 * 48, 60 * 8 * 48));
    assert!(best.1 == cpack.1 && best.0.abs_diff(cpack.0) * 100 <= cpack.0, "{best:?} {cpack:?}");
}

#[test]
fn more_tags_keep_a_compressed_working_set_in_the_l1d_at_an_assist_warp_for_each_hit() {
    let [one, two] = ["caba-bdi", "caba-bdi,l1_tags=2"].map(|name| run_kernel(&AGAIN, name));
    let cycles = [&one, &two].map(|report| report.totals.cycles);
    assert!(cycles[1] * 100 < cycles[0] * 90, "l1_tags 1, 2: {cycles:?}");
    let loads = 15 * 8 * 24 * 8;
    assert_eq!(counter(&one, "sm_lines_decompressed"), loads, "every load misses");
    assert_eq!(counter(&two, "l1d_lines_compressed"), loads / 8);
    assert_eq!(counter(&two, "l1d_hits_decompressed"), loads / 8 * 7);
}

#[test]
fn more_tags_keep_a_compressed_working_set_in_the_l2() {
    let [one, two] = ["caba-bdi", "caba-bdi,l2_tags=2"].map(|name| run_on(HALF, &AGAIN_IN_L2, name));
    let cycles = [&one, &two].map(|report| report.totals.cycles);
    assert!(cycles[1] * 100 < cycles[0] * 97, "l2_tags 1, 2: {cycles:?}");
    assert!(counter(&two, "data_bursts") * 3 < counter(&one, "data_bursts"));
    assert!(counter(&two, "l2_sub_blocks") < 3 * counter(&two, "l2_lines_placed"), "two bursts a line");
}

#[test]
fn hits_in_an_l2_that_keeps_lines_uncompressed_need_no_assist_warp() {
    let run = |name| run_on(DOUBLE_L2, &AGAIN_IN_L2, name);
    let [compressed, raw] = ["caba-bdi", "caba-bdi,l2=uncompressed"].map(run);
    let lines = 60 * 256 * 20 / 32;
    assert_eq!(counter(&compressed, "sm_lines_decompressed"), 4 * lines, "every load");
    assert_eq!(counter(&raw, "sm_lines_decompressed"), lines, "loads that came from DRAM");
    assert_eq!(counter(&raw, "partition_lines_decompressed"), lines, "fills of the L2");
    assert_eq!(counter(&raw, "data_bursts"), counter(&compressed, "data_bursts"));
}

#[test]
fn an_l2_that_keeps_lines_uncompressed_wins_where_few_warps_wait_for_its_hits() {
    let [compressed, raw] = ["caba-bdi", "caba-bdi,l2=uncompressed"].map(|name| run_kernel(&FEW_WARPS, name));
    let cycles = [&compressed, &raw].map(|report| report.totals.cycles);
    assert!(cycles[1] * 100 < cycles[0] * 90, "compressed, uncompressed: {cycles:?}");
}

#[test]
fn direct_load_leaves_lines_compressed_in_the_l1d_and_has_an_assist_warp_for_each_load() {
    let [whole, direct] = ["caba-bdi", "caba-bdi,direct_load=on"].map(|name| run_kernel(&AGAIN, name));
    let loads = 15 * 8 * 24 * 8;
    // With one tag per way the working set does not fit, with or without direct load.
    assert_eq!(counter(&whole, "sm_lines_decompressed"), loads);
    assert_eq!(counter(&direct, "sm_lines_decompressed"), loads);
    assert_eq!(counter(&direct, "l1d_hits_decompressed"), loads, "hits and misses alike");
    assert_eq!(counter(&direct, "l1d_lines_compressed"), loads);
    // Direct load has the same instructions, but its results are not stored, so fewer use the load/store unit.
    assert_eq!(counter(&direct, "assist_instructions_high"), counter(&whole, "assist_instructions_high"));
}

#[test]
fn with_direct_load_and_more_tags_hits_and_misses_each_have_an_assist_warp() {
    let report = run_kernel(&AGAIN, "caba-bdi,direct_load=on,l1_tags=2");
    let loads = 15 * 8 * 24 * 8;
    assert_eq!(counter(&report, "l1d_lines_compressed"), loads / 8);
    assert_eq!(counter(&report, "l1d_hits_decompressed"), loads);
}

#[test]
fn direct_load_is_for_bdi_alone() {
    for name in ["caba-fpc", "caba-cpack", "caba-best"] {
        let spec = format!("{name},direct_load=on").parse::<selvedge_sim::mechanism::MechanismSpec>();
        let error = spec.expect_err("it is refused").to_string();
        assert!(error.contains("direct_load"), "{error}");
    }
}

#[test]
fn an_l2_that_keeps_lines_uncompressed_needs_codecs_and_whole_ways() {
    let refused = |options: &str| {
        let spec: selvedge_sim::mechanism::MechanismSpec =
            format!("caba-bdi,l2=uncompressed,{options}").parse().expect("valid");
        let config = GpuConfig::parse("my.toml", "base = \"gtx480\"\n").expect("valid");
        spec.machine(&config).expect_err("they do not go together").to_string()
    };
    assert!(refused("partition=raw").contains("partition = raw: allowed with l2=uncompressed is codecs"));
    assert!(refused("l2_tags=2").contains("l2_tags = 2: allowed with l2=uncompressed is 1"));
}

#[test]
fn stores_reach_an_l2_that_keeps_lines_uncompressed() {
    // Each store is compressed in the SM, decompressed before the L2, and compressed again when it leaves the L2.
    let report = run_kernel(&WRITE, "caba-bdi,l2=uncompressed");
    let compressed = counter(&report, "sm_lines_compressed");
    assert!(compressed > 0);
    assert_eq!(counter(&report, "partition_lines_decompressed"), compressed);
}

#[test]
fn lines_that_are_not_compressed_fill_the_caches_as_ever() {
    let [one, four] = ["caba-bdi", "caba-bdi,l1_tags=4,l2_tags=4"].map(|name| run_kernel(&NOISE, name));
    assert_eq!(counter(&four, "l1d_lines_compressed"), 0);
    let misses = [&one, &four].map(|report| report.totals.l1d.misses);
    assert_eq!(misses[0], misses[1]);
    let cycles = [&one, &four].map(|report| report.totals.cycles);
    assert!(cycles[0].abs_diff(cycles[1]) * 100 <= cycles[0], "one tag, four: {cycles:?}");
}

#[test]
fn stores_are_compressed_and_each_leaves_once() {
    let report = run_kernel(&WRITE, "caba-bdi");
    let compressed = counter(&report, "sm_lines_compressed");
    let released = counter(&report, "stores_released_overflow")
        + counter(&report, "stores_released_late")
        + counter(&report, "stores_released_overtaken")
        + counter(&report, "stores_released_awaited");
    assert_eq!(compressed + released, 30 * 8 * 32);
    assert!(compressed > 0, "some are");
    assert_eq!(counter(&report, "sm_lines_incompressible"), 0);
    let ended = counter(&report, "assist_warps_finished") + counter(&report, "assist_warps_killed");
    assert_eq!(ended, counter(&report, "assist_warps_low"));
}

/// Every run has a witness, which ends it with an error if a load leaves before a store of its line.
#[test]
fn loads_do_not_overtake_stores_that_a_compressor_holds() {
    for (mechanism, stores) in [("hw-bdi", "sm_lines_compressed"), ("caba-bdi", "stores_released_overtaken")]
    {
        assert!(counter(&run_kernel(&READ_BACK, mechanism), stores) > 0, "{mechanism}");
    }
}

#[test]
fn few_stores_are_tried_where_lines_have_proved_incompressible() {
    let caba = run_kernel(&NOISE, "caba-bdi");
    assert_eq!(counter(&caba, "sm_lines_compressed"), 0);
    assert!(counter(&caba, "sm_lines_incompressible") * 8 < counter(&caba, "stores_not_tried"));
    let all = run_kernel(&NOISE, "caba-bdi,give_up=0");
    assert_eq!(counter(&all, "stores_not_tried"), 0);
    assert!(counter(&all, "assist_instructions_low") > counter(&caba, "assist_instructions_low"));
}

#[test]
fn a_store_that_finds_the_buffer_full_leaves_uncompressed() {
    let few = run_kernel(&WRITE, "caba-bdi=1");
    let many = run_kernel(&WRITE, "caba-bdi=64");
    assert!(counter(&few, "sm_lines_compressed") < counter(&many, "sm_lines_compressed"));
    assert!(counter(&few, "stores_released_overflow") > counter(&many, "stores_released_overflow"));
}

#[test]
fn a_store_that_has_waited_too_long_is_released_and_its_assist_warp_killed() {
    let report = run_kernel(&WRITE, "caba-bdi,patience=100");
    assert!(counter(&report, "stores_released_late") > 0);
    assert!(counter(&report, "assist_warps_killed") > 0);
    assert_eq!(counter(&report, "sm_lines_compressed"), 0, "no routine ends in 100 cycles");
}

/// One warp on each SM loads 32 lines of small numbers at once, eight times.
const DIVERGENT: SmallKernel<'static> = SmallKernel {
    grid: 15,
    block: 32,
    words: 15 * 32 * 32 * 8,
    fill: "init = \"iota\"\nstep = 1",
    body: "mul.wide.u32 %rd3, %r1, 128;\nadd.s64 %rd3, %rd1, %rd3;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n\
           LOOP:\nld.global.u32 %r6, [%rd3];\nadd.u32 %r4, %r4, %r6;\nadd.s64 %rd3, %rd3, 61440;\n\
           add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 8;\n@%p1 bra LOOP;\n\
           setp.ne.u32 %p1, %r4, 7;\n@%p1 bra END;\nst.global.u32 [%rd1], %r4;\nEND:",
    ..NOTHING
};

#[test]
fn two_sets_of_registers_decompress_two_lines_of_a_load_at_the_same_time() {
    let [one, two] = ["caba-bdi,sets=1", "caba-bdi"].map(|name| run_kernel(&DIVERGENT, name));
    let [one_took, two_took] = [&one, &two].map(|report| report.totals.cycles);
    assert!(two_took * 10 < one_took * 8, "sets 1, 2: {one_took} {two_took}");
    let instructions = [&one, &two].map(|report| counter(report, "assist_instructions_high"));
    assert_eq!(instructions, [5 * 15 * 32 * 8; 2]);
}

/// One warp of each CTA stores a line of small numbers and ends. The other warp computes for a while.
const EARLY_STORE: SmallKernel<'static> = SmallKernel {
    grid: 15,
    block: 64,
    words: 15 * 64,
    fill: "init = \"zeros\"",
    body: "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd3, %rd1, %rd3;\nand.b32 %r2, %r1, 32;\nsetp.ne.u32 %p1, %r2, 0;\n\
           @!%p1 st.global.u32 [%rd3], %r1;\n@!%p1 bra END;\nmov.u32 %r3, 0;\n\
           LOOP:\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, 400;\n@%p2 bra LOOP;\nEND:",
    ..NOTHING
};

#[test]
fn a_compression_outlives_its_parent_as_long_as_the_cta_runs() {
    let report = run_kernel(&EARLY_STORE, "caba-bdi");
    assert_eq!(counter(&report, "sm_lines_compressed"), 15);
    // If no warp of the CTA continues, the store leaves uncompressed.
    let alone = run_kernel(&SmallKernel { block: 32, words: 15 * 32, ..EARLY_STORE }, "caba-bdi");
    assert_eq!(counter(&alone, "sm_lines_compressed"), 0);
}

#[test]
fn a_line_takes_one_or_two_bursts_of_64_bytes() {
    let lines = 60 * 8 * 48;
    for name in ["hw-bdi-mem", "hw-bdi", "ideal-bdi", "caba-bdi", "caba-best"] {
        // Without caches of instructions and constants, because their lines would be counted, too.
        let machine = "base = \"gtx480-3.2.1\"\n[sm.instruction]\nsets = 0\n[sm.constant]\nsets = 0\n";
        let report = run_on(machine, &STREAM, name);
        let bursts = ["data_bursts", "uncompressed_bursts"].map(|of| counter(&report, of));
        assert_eq!(bursts, [lines, 2 * lines], "{name}");
    }
}

#[test]
fn more_warps_than_the_controllers_support_are_refused() {
    let machine = |keys: &str| {
        let config =
            GpuConfig::parse("my.toml", &format!("base = \"gtx480\"\n[sm]\n{keys}\n")).expect("valid");
        let spec: selvedge_sim::mechanism::MechanismSpec = "caba-bdi".parse().expect("valid");
        spec.machine(&config).map_err(|error| error.to_string())
    };
    let refused = machine("warps = 64").expect_err("24 warps for each of two schedulers");
    assert!(refused.contains("sm.warps = 64: must be at most 24 for each scheduler"), "{refused}");
    assert!(machine("warps = 96\nschedulers = 4").is_ok());
}
