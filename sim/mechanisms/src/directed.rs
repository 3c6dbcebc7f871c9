//! For each mechanism a kernel that it must speed up for its own reason, and one that it cannot help and must not slow down.
use crate::BUILT_IN;
use selvedge_hw::Engine;
use selvedge_mechanism_testing::kernels::*;
use selvedge_mechanism_testing::{SmallKernel, run_kernel, run_together};
use selvedge_sim::report::RunReport;
use selvedge_sim::together::report::{ProgramReport, TogetherReport};

/// The GTX 480 with three SMs.
const THREE_SMS: &str = "base = \"gtx480\"\n[sm]\ncount = 3\n";

/// The configuration of Dai's studies with three SMs.
const THREE_SMS_DAI: &str = "base = \"gtx480-dai\"\n[sm]\ncount = 3\n";

/// A kernel that runs alone, in which a mechanism is faster than others.
struct Win {
    mechanism: &'static str,
    beats: &'static [&'static str],
    kernel: &'static SmallKernel<'static>,
    machine: &'static str,
    /// Min speedup over each mechanism in `beats`, in percent.
    percent: u64,
    /// Checks the reason, from the reports of a mechanism in `beats` and of `mechanism`.
    because: fn(&RunReport, &RunReport) -> bool,
}

/// Returns the value of a mechanism's counter.
fn count(report: &RunReport, name: &str) -> u64 {
    report.mechanism_counters[name]
}

fn fewer_bursts(_: &RunReport, own: &RunReport) -> bool {
    2 * count(own, "data_bursts") <= count(own, "uncompressed_bursts")
}

fn fewer_bursts_than_the_other(other: &RunReport, own: &RunReport) -> bool {
    let bursts = other.mechanism_counters.get("data_bursts").copied();
    2 * count(own, "data_bursts") <= bursts.unwrap_or(count(own, "uncompressed_bursts"))
}

fn fewer_sectors(other: &RunReport, own: &RunReport) -> bool {
    2 * own.totals.dram.read_bursts < other.totals.dram.read_bursts
}

fn more_hits(other: &RunReport, own: &RunReport) -> bool {
    own.totals.l1d.hits > 2 * other.totals.l1d.hits
}

fn hits_of_compressed_lines(other: &RunReport, own: &RunReport) -> bool {
    let compressed = count(own, "l1d_hits_low_latency") + count(own, "l1d_hits_high_capacity");
    10 * compressed > 4 * own.totals.l1d.accesses && more_hits(other, own)
}

fn bypassed(other: &RunReport, own: &RunReport) -> bool {
    count(own, "bypassed_loads") > 0 && own.totals.l1d.miss_rate < other.totals.l1d.miss_rate
}

fn fewer_warps(other: &RunReport, own: &RunReport) -> bool {
    count(own, "most_resident_warps") <= 4 && own.totals.l1d.miss_rate < other.totals.l1d.miss_rate
}

const COMPRESSED: Win = Win {
    mechanism: "hw-bdi",
    beats: &["base"],
    kernel: &SEQUENCE,
    machine: EIGHTH,
    percent: 140,
    because: fewer_bursts,
};

/// Words for which BDI needs twice or four times as many bursts.
const OTHER_WORDS: Win = Win {
    mechanism: "caba-fpc",
    beats: &["base", "caba-bdi", "caba-cpack"],
    kernel: &NIBBLES,
    machine: SIXTEENTH,
    percent: 102,
    because: fewer_bursts_than_the_other,
};

const FINE: Win = Win {
    mechanism: "fg-only",
    beats: &["base", "cg-only"],
    kernel: &SCATTERED,
    machine: SMALL,
    percent: 125,
    because: fewer_sectors,
};

const IN_THE_L1D: Win = Win {
    mechanism: "static-bdi",
    beats: &["base"],
    kernel: &COUNTERS,
    machine: THREE_SMS,
    percent: 110,
    because: hits_of_compressed_lines,
};

const BYPASSING: Win = Win {
    mechanism: "mdb-local",
    beats: &["base"],
    kernel: &THRASHING,
    machine: THREE_SMS_DAI,
    percent: 120,
    because: bypassed,
};

/// The gain is bandwidth: lines are compressed, or sectors not fetched.
const BANDWIDTH: &[Win] = &[
    COMPRESSED,
    Win { mechanism: "hw-bdi-mem", ..COMPRESSED },
    Win { mechanism: "ideal-bdi", ..COMPRESSED },
    Win { mechanism: "caba-bdi", ..COMPRESSED },
    OTHER_WORDS,
    Win {
        mechanism: "caba-cpack",
        kernel: &FOUR_VALUES,
        beats: &["base", "caba-bdi", "caba-fpc"],
        percent: 110,
        ..OTHER_WORDS
    },
    Win { mechanism: "caba-best", beats: &["base", "caba-bdi", "caba-cpack"], ..OTHER_WORDS },
    Win {
        mechanism: "caba-best",
        kernel: &FOUR_VALUES,
        beats: &["base", "caba-bdi", "caba-fpc"],
        percent: 110,
        ..OTHER_WORDS
    },
    Win {
        mechanism: "cg-only",
        beats: &["fg-only"],
        kernel: &WALK,
        machine: SMALL,
        percent: 105,
        // Each sector that `fg-only` fetches with a later miss is one that `cg-only` fetched before it was requested.
        because: |other, own| count(own, "l1d_pred_ref") == count(other, "l1d_npred_ref"),
    },
    FINE,
    Win { mechanism: "static-gdu=fine", ..FINE },
    Win { mechanism: "bgp", ..FINE },
    Win { mechanism: "bgp-inf", ..FINE },
    Win {
        mechanism: "spp",
        kernel: &FIRST_WORDS,
        percent: 140,
        // The L2 holds the lines, so the gain is the bandwidth between L2 and L1D.
        because: |_, own| {
            count(own, "l1d_fine") > 3 * count(own, "l1d_coarse")
                && count(own, "l1d_pred_nref") * 4 < count(own, "l1d_demand")
        },
        ..FINE
    },
];

/// The gain is latency: assist warps prefetch lines, or reuse results.
const BEFOREHAND: &[Win] = &[
    Win {
        mechanism: "caba-prefetch",
        beats: &["base"],
        kernel: &CHAIN,
        machine: THREE_SMS,
        percent: 125,
        because: |other, own| {
            2 * count(own, "prefetched_lines_useful") > own.totals.l1d.accesses && more_hits(other, own)
        },
    },
    Win {
        mechanism: "caba-memo",
        beats: &["base"],
        kernel: &SAME_CALLS,
        machine: THREE_SMS,
        percent: 140,
        because: |other, own| count(own, "region_instructions_skipped") * 2 > other.totals.warp_instructions,
    },
];

/// The gain is hits: lines are compressed in the L1D.
const HITS: &[Win] = &[
    IN_THE_L1D,
    Win { mechanism: "latte-cc", ..IN_THE_L1D },
    Win { mechanism: "adaptive-hit-count", ..IN_THE_L1D },
    Win { mechanism: "adaptive-cmp", ..IN_THE_L1D },
    Win {
        mechanism: "kernel-opt",
        because: |other, own| count(own, "launches_low_latency") == 1 && more_hits(other, own),
        ..IN_THE_L1D
    },
    Win {
        mechanism: "static-bpc",
        kernel: &MORE_COUNTERS,
        beats: &["base", "static-bdi"],
        percent: 120,
        ..IN_THE_L1D
    },
    Win {
        mechanism: "static-sc",
        kernel: &FEW_VALUES,
        beats: &["base", "static-bdi"],
        percent: 110,
        // Each SM has built codes, and hits lines in the L1D that the other mechanisms have evicted.
        because: |other, own| {
            count(own, "sc_builds") >= 3
                && 10 * count(own, "l1d_hits_high_capacity") > 3 * own.totals.l1d.accesses
                && more_hits(other, own)
        },
        ..IN_THE_L1D
    },
];

/// The gain is hits: loads bypass the L1D, or fewer warps issue.
const FEWER: &[Win] = &[
    BYPASSING,
    Win { mechanism: "mdb-global", ..BYPASSING },
    Win { mechanism: "mrpb", ..BYPASSING },
    Win { mechanism: "fixed-bypass,m=6", ..BYPASSING },
    Win { mechanism: "swl=1", because: fewer_warps, ..BYPASSING },
    Win { mechanism: "swl-best", because: fewer_warps, ..BYPASSING },
    Win { mechanism: "cbwt-best", kernel: &ROUND, beats: &["base", "swl-best"], percent: 110, ..BYPASSING },
];

/// Two kernels that share the SMs, in which a mechanism is better than others. Only the first cycles are simulated.
struct SharedWin {
    mechanism: &'static str,
    beats: &'static [&'static str],
    kernels: [&'static SmallKernel<'static>; 2],
    /// Min ratio of the average normalized turnaround time of each mechanism in `beats` to that of `mechanism`, in percent.
    percent: u32,
    /// Checks the reason, from the reports of a mechanism in `beats` and of `mechanism`.
    because: fn(&TogetherReport, &TogetherReport) -> bool,
}

fn second(report: &TogetherReport) -> &ProgramReport {
    &report.programs[1]
}

/// The second kernel issues more, as it waits less for the memory instructions of the first kernel.
fn more_memory_instructions(other: &TogetherReport, own: &TogetherReport) -> bool {
    2 * second(own).memory_instructions > 3 * second(other).memory_instructions
}

const SHARED_WINS: &[SharedWin] = &[
    SharedWin {
        mechanism: "smil,k0=2",
        beats: &["base"],
        kernels: [&FAR_APART, &MOSTLY_ARITHMETIC],
        percent: 300,
        because: |other, own| {
            own.mechanism_counters["most_in_flight_k0"] == 2 && more_memory_instructions(other, own)
        },
    },
    SharedWin {
        mechanism: "dmil",
        beats: &["base"],
        kernels: [&FAR_APART, &MOSTLY_ARITHMETIC],
        percent: 300,
        because: |other, own| {
            own.mechanism_counters["limit_updates_below_maximum"] > 0 && more_memory_instructions(other, own)
        },
    },
    SharedWin {
        mechanism: "rbmi",
        beats: &["base"],
        kernels: [&FAR_APART, &FOUR_LINES],
        percent: 150,
        because: more_memory_instructions,
    },
    SharedWin {
        mechanism: "qbmi",
        beats: &["base", "rbmi"],
        kernels: [&GATHERING, &FOUR_LINES],
        percent: 300,
        // QBMI brings the kernels' numbers of requests closer together.
        because: |other, own| {
            let share = |report: &TogetherReport| {
                let [first, second] = [0, 1].map(|kernel| report.programs[kernel].transactions as f64);
                second / first
            };
            share(own) > 4.0 * share(other) && own.mechanism_counters["quota_updates"] > 0
        },
    },
    SharedWin {
        mechanism: "ucp=512",
        beats: &["base"],
        kernels: [&STREAMING, &RELOADING],
        percent: 110,
        because: |other, own| second(own).l1d.miss_rate < 0.5 * second(other).l1d.miss_rate,
    },
];

/// Returns the name of a mechanism that is given with options.
fn name(mechanism: &str) -> &str {
    mechanism.split([',', '=']).next().unwrap_or_default()
}

#[test]
fn every_mechanism_has_a_kernel_in_which_it_must_win() {
    let alone = [BANDWIDTH, BEFOREHAND, HITS, FEWER].into_iter().flatten().map(|win| win.mechanism);
    let winners: Vec<_> = alone.chain(SHARED_WINS.iter().map(|win| win.mechanism)).map(name).collect();
    for info in BUILT_IN.iter().filter(|info| info.name != "base") {
        assert!(winners.contains(&info.name), "{}", info.name);
    }
}

fn check(win: &Win) {
    let run = |mechanism| run_kernel(win.kernel, win.machine, mechanism, Engine::Model).report;
    let own = run(win.mechanism);
    for rival in win.beats {
        let other = run(rival);
        let (cycles, of) = (own.totals.cycles, other.totals.cycles);
        assert!(cycles * win.percent <= of * 100, "{}: {cycles} cycles, {rival} {of}", win.mechanism);
        let counters = [&other, &own].map(|report| (&report.mechanism_counters, &report.totals.l1d));
        assert!((win.because)(&other, &own), "{} and {rival}: {counters:#?}", win.mechanism);
    }
}

#[test]
fn bandwidth_is_won_where_lines_are_compressed_or_sectors_left_behind() {
    BANDWIDTH.iter().for_each(check);
}

#[test]
fn time_is_won_where_assist_warps_fetch_or_know_beforehand() {
    BEFOREHAND.iter().for_each(check);
}

#[test]
fn hits_are_won_where_lines_are_compressed_in_the_l1d() {
    HITS.iter().for_each(check);
}

#[test]
fn hits_are_won_where_loads_pass_by_or_fewer_warps_issue() {
    FEWER.iter().for_each(check);
}

#[test]
fn turnaround_is_won_where_kernels_share_the_memory_pipeline_or_the_l1d_fairly() {
    for win in SHARED_WINS {
        let run = |mechanism| run_together(&win.kernels, "gtx480-dai", mechanism, 60_000, true);
        let antt = |report: &TogetherReport| report.throughput.expect("each runs alone").antt;
        let own = run(win.mechanism);
        assert!(own.programs.iter().all(|program| program.memory_instructions > 0), "no kernel starves");
        for rival in win.beats {
            let other = run(rival);
            let (own_time, time) = (antt(&own), antt(&other));
            let least = f64::from(win.percent) / 100.0;
            assert!(own_time * least <= time, "{}: {own_time}, {rival} {time}", win.mechanism);
            let programs = [&other, &own].map(|report| &report.programs);
            assert!((win.because)(&other, &own), "{} and {rival}: {programs:#?}", win.mechanism);
        }
    }
}

/// A kernel whose cycles mechanisms must not change by more than 1 %.
struct Useless {
    mechanisms: &'static [&'static str],
    kernel: &'static SmallKernel<'static>,
    machine: &'static str,
    /// Checks from the counters that the mechanism could not help.
    because: fn(&RunReport) -> bool,
}

const USELESS: &[Useless] = &[
    Useless {
        mechanisms: &["hw-bdi", "hw-bdi-mem", "ideal-bdi", "caba-bdi", "caba-fpc", "caba-cpack", "caba-best"],
        kernel: &RANDOM_STREAM,
        machine: "base = \"gtx480\"\n",
        because: |own| count(own, "data_bursts") == count(own, "uncompressed_bursts"),
    },
    Useless {
        mechanisms: &["cg-only", "fg-only", "static-gdu", "spp", "bgp-inf", "bgp"],
        kernel: &COALESCED,
        machine: SMALL,
        because: |own| count(own, "l1d_pred_nref") == 0,
    },
    Useless {
        mechanisms: &["mdb-local", "mdb-global", "mrpb", "cbwt-best", "swl-best", "dmil", "smil", "ucp"],
        kernel: &RELOADING,
        machine: THREE_SMS_DAI,
        because: |own| own.totals.l1d.miss_rate < 0.1,
    },
    Useless {
        mechanisms: &["dmil", "qbmi", "rbmi", "mdb-local", "mrpb", "swl=24", "caba-prefetch"],
        kernel: &COMPUTE,
        machine: THREE_SMS,
        because: |own| own.totals.l1d.accesses < 10,
    },
    Useless {
        mechanisms: &["latte-cc", "static-bdi", "static-bpc", "kernel-opt", "adaptive-cmp", "caba-memo"],
        kernel: &COMPUTE,
        machine: THREE_SMS,
        because: |own| own.totals.l1d.accesses < 10,
    },
];

#[test]
fn what_cannot_help_changes_nothing() {
    for case in USELESS {
        let run = |mechanism| run_kernel(case.kernel, case.machine, mechanism, Engine::Model).report;
        let base = run("base").totals.cycles;
        for mechanism in case.mechanisms {
            let own = run(mechanism);
            let cycles = own.totals.cycles;
            assert!(cycles.abs_diff(base) * 100 <= base, "{mechanism}: {cycles} cycles, base {base}");
            assert!((case.because)(&own), "{mechanism}: {:?} {:?}", own.mechanism_counters, own.totals.l1d);
        }
    }
}
