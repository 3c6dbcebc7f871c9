//! Gains and costs of the compressed L1D on kernels made for it, and rejected configurations.
use super::sm::CompressedL1d;
use super::statistical::Statistical;
use super::{AMAT_WITH_TOLERANCE, AdaptiveOptions, ControllerSets};
use proptest::prelude::*;
use selvedge_compressed_memory::codecs::{Coded, Form};
use selvedge_gpu::cache::index::SetFunction;
use selvedge_gpu::config::{GpuConfig, WritePolicy};
use selvedge_gpu::gpu::Control;
use selvedge_gpu::mechanism::MechanismCounters;
use selvedge_gpu::mechanism::probe::{ProbeSpec, Probes};
use selvedge_gpu::sm::part::{L1dEvent, L1dObserver, L1dPlacement, LineSpace, Load, SmPart};
use selvedge_gpu::stats::AccessResult;
use selvedge_hw::{Engine, PlantedUpset, Prng};
use selvedge_hw_codecs::sc::huffman::{CodeBook, CountedValue};
use selvedge_hw_latte_cc::latte_controller::{LatteControllerParams, Mode};
use selvedge_ptx::memory::DeviceMemory;
use selvedge_sim::report::{Outcome, RunReport};
use selvedge_sim::run::{RunError, RunOutcome, RunSpec, Source, run};
use std::sync::Arc;

/// Lines of the working set: 30 KB, almost twice the L1D.
const LINES: u32 = 240;

/// Every warp of an SM's only CTA reads its share of the lines, `rounds` times, and adds up the words.
const WALK: &str = ".version 4.3\n.target sm_20\n.address_size 64\n\
    .visible .entry walk(.param .u64 data, .param .u64 sums, .param .u32 lines, .param .u32 rounds) {\n\
    .reg .b32 %r<12>;\n.reg .b64 %rd<6>;\n.reg .pred %p<3>;\n\
    ld.param.u64 %rd1, [data];\nld.param.u64 %rd2, [sums];\nld.param.u32 %r1, [lines];\nld.param.u32 %r2, [rounds];\n\
    mov.u32 %r3, %tid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r10, %ctaid.x;\nmov.u32 %r5, 0;\nmul.lo.u32 %r6, %r1, 32;\n\
    ROUND: mov.u32 %r7, %r3;\n\
    LINE: mul.wide.u32 %rd3, %r7, 4;\nadd.s64 %rd3, %rd1, %rd3;\nld.global.u32 %r8, [%rd3];\nadd.u32 %r5, %r5, %r8;\n\
    add.u32 %r7, %r7, %r4;\nsetp.lt.u32 %p1, %r7, %r6;\n@%p1 bra LINE;\n\
    sub.u32 %r2, %r2, 1;\nsetp.gt.u32 %p2, %r2, 0;\n@%p2 bra ROUND;\n\
    mad.lo.u32 %r9, %r10, %r4, %r3;\nmul.wide.u32 %rd4, %r9, 4;\nadd.s64 %rd4, %rd2, %rd4;\nst.global.u32 [%rd4], %r5;\nret;\n}\n";

/// Values of the working set.
#[derive(Clone, Copy)]
enum Values {
    /// Consecutive words: a line takes two sub-blocks by BDI, and one by BPC.
    Counters,
    /// Words out of 16 random ones: a line takes one sub-block by SC, and BDI cannot compress it.
    FewOfMany,
    /// Random words.
    Random,
    /// Only the float 1.0: a line takes one sub-block by any codec.
    One,
}

impl Values {
    fn words(self, lines: u32) -> Vec<u32> {
        let mut prng = Prng::new(7);
        let few: Vec<u32> = (0..16).map(|_| prng.bits() as u32).collect();
        let mut word = |at: u32| match self {
            Values::Counters => 0x4000_0000 + at,
            Values::FewOfMany => few[prng.below(16) as usize],
            Values::Random => prng.bits() as u32,
            Values::One => 1f32.to_bits(),
        };
        (0..lines * 32).map(&mut word).collect()
    }
}

/// A walk under a mechanism.
struct Walk {
    values: Values,
    lines: u32,
    rounds: u32,
    warps: u32,
    engine: Engine,
    probes: ProbeSpec,
}

impl Walk {
    fn over(values: Values) -> Self {
        let probes = ProbeSpec::default();
        Walk { values, lines: LINES, rounds: 30, warps: 16, engine: Engine::Model, probes }
    }

    fn outcome(&self, mechanism: &str) -> Result<RunOutcome, RunError> {
        self.outcome_before(None, mechanism)
    }

    /// Runs as [`Walk::outcome`], followed by a second launch with `(warps, lines, rounds)`.
    fn outcome_before(
        &self,
        second: Option<(u32, u32, u32)>,
        mechanism: &str,
    ) -> Result<RunOutcome, RunError> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str| folder.path().join(name);
        let words = self.values.words(self.lines.max(LINES));
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        std::fs::write(file("walk.ptx"), WALK).expect("written");
        std::fs::write(file("data.raw"), bytes).expect("written");
        let launch = |(warps, lines, rounds): (u32, u32, u32)| {
            format!(
                "[[launch]]\nkernel = \"walk\"\ngrid = [15]\nblock = [{0}]\narg = [{{ buffer = \"data\" }}, \
                 {{ buffer = \"sums\" }}, {{ type = \"u32\", value = {lines} }}, \
                 {{ type = \"u32\", value = {rounds} }}]\n",
                warps * 32
            )
        };
        let buffers = format!(
            "ptx = \"walk.ptx\"\n[[buffer]]\nname = \"data\"\ntype = \"u32\"\ninit = \"file\"\nfile = \"data.raw\"\n\
             format = \"raw\"\n[[buffer]]\nname = \"sums\"\ntype = \"u32\"\ncount = {}\n",
            15 * self.warps * 32
        );
        let first = launch((self.warps, self.lines, self.rounds));
        let toml = buffers + &first + &second.map(launch).unwrap_or_default();
        std::fs::write(file("walk.toml"), toml).expect("written");
        let spec = RunSpec {
            engine: self.engine,
            probes: self.probes.clone(),
            check_dram: true,
            ..RunSpec::new(
                Source::find(&file("walk.toml").display().to_string())?,
                Arc::new(GpuConfig::load("gtx480").expect("built in")),
                mechanism.parse()?,
            )
        };
        run(&spec, Arc::new(Control::default()))
    }

    fn report(&self, mechanism: &str) -> RunReport {
        let outcome = self.outcome(mechanism).expect("it starts");
        assert!(outcome.fault.is_none(), "{mechanism}: {:?}", outcome.fault.map(|fault| fault.to_string()));
        assert_eq!(outcome.report.result, Outcome::Unchecked, "{mechanism}");
        outcome.report
    }

    fn cycles(&self, mechanism: &str) -> u64 {
        self.report(mechanism).totals.cycles
    }
}

fn within_a_percent(cycles: u64, of: u64) -> bool {
    cycles.abs_diff(of) * 100 <= of
}

#[test]
fn counters_twice_the_l1d_fit_into_it_by_bdi() {
    let walk = Walk::over(Values::Counters);
    let (base, bdi) = (walk.report("base"), walk.report("static-bdi"));
    assert!(bdi.totals.cycles * 4 < base.totals.cycles * 3, "{} {}", bdi.totals.cycles, base.totals.cycles);
    // Misses in flight reserve whole lines, which evict others in the first rounds.
    assert!(
        bdi.totals.l1d.misses * 3 < base.totals.l1d.misses * 2,
        "{} {}",
        bdi.totals.l1d.misses,
        base.totals.l1d.misses
    );
    let sub_blocks = bdi.mechanism_counters["l1d_sub_blocks"];
    assert!(sub_blocks <= 2 * bdi.mechanism_counters["l1d_lines_low_latency"]);
    assert!(bdi.mechanism_counters["l1d_hits_low_latency"] > 0);
}

#[test]
fn a_few_values_without_likeness_fit_by_sc_alone() {
    let walk = Walk { rounds: 60, ..Walk::over(Values::FewOfMany) };
    let base = walk.cycles("base");
    let bdi = walk.report("static-bdi");
    assert_eq!(
        bdi.mechanism_counters["l1d_lines_kept_whole"],
        bdi.mechanism_counters["l1d_lines_low_latency"]
    );
    assert!(within_a_percent(bdi.totals.cycles, base), "{} {base}", bdi.totals.cycles);
    let sc = walk.report("static-sc,codes=instant,latency=0");
    assert!(sc.totals.cycles * 5 < base * 4, "{} {base}", sc.totals.cycles);
    assert!(sc.mechanism_counters["sc_builds"] >= 15, "every SM builds codes");
}

#[test]
fn values_that_no_codec_shrinks_cost_no_cycle_in_the_decompressor() {
    let walk = Walk::over(Values::Random);
    let base = walk.cycles("base");
    for mechanism in ["static-bdi", "static-bpc", "static-sc,codes=instant", "latte-cc"] {
        let report = walk.report(mechanism);
        assert_eq!(report.mechanism_counters["decompression_cycles"], 0, "{mechanism}");
        assert!(within_a_percent(report.totals.cycles, base), "{mechanism}: {} {base}", report.totals.cycles);
    }
}

#[test]
fn the_controller_compresses_where_it_pays_and_lets_it_be_where_it_costs() {
    let large = Walk { rounds: 60, ..Walk::over(Values::Counters) };
    let report = large.report("latte-cc");
    let decisions = |report: &RunReport, name: &str| report.mechanism_counters[name];
    assert!(decisions(&report, "decisions_low_latency") > 15, "every SM has chosen it");
    let (hits, accesses) = (decisions(&report, "l1d_hits_low_latency"), report.totals.l1d.accesses);
    assert!(hits * 10 > accesses * 4, "{hits} of {accesses}");
    assert!(report.totals.cycles * 4 < large.cycles("base") * 3, "{}", report.totals.cycles);
    // The sixteen lines fit uncompressed. Each warp waits for its own loads, which compression would delay.
    let small = Walk { lines: 16, rounds: 200, warps: 1, ..Walk::over(Values::Counters) };
    let (base, fixed, adaptive) =
        (small.cycles("base"), small.cycles("static-bpc"), small.report("latte-cc"));
    assert!(decisions(&adaptive, "decisions_none") > 9 * decisions(&adaptive, "decisions_low_latency"));
    assert!(fixed * 100 > base * 105, "{fixed} {base}");
    assert!(within_a_percent(adaptive.totals.cycles, base), "{} {base}", adaptive.totals.cycles);
}

#[test]
fn the_adaptive_rivals_win_by_bdi_where_a_working_set_twice_the_l1d_fits_by_it() {
    let large = Walk { rounds: 60, ..Walk::over(Values::Counters) };
    let base = large.report("base").totals;
    for mechanism in ["adaptive-hit-count", "adaptive-cmp"] {
        let report = large.report(mechanism);
        let counter = |name: &str| report.mechanism_counters[name];
        assert!(report.totals.cycles * 4 < base.cycles * 3, "{mechanism}: {}", report.totals.cycles);
        // The baseline hardly hits. The mechanisms choose BDI, and nearly every load hits a line compressed by it.
        assert!(base.l1d.hits * 100 < base.l1d.accesses, "{}", base.l1d.hits);
        assert!(counter("decisions_low_latency") > 15, "{mechanism}: every SM has chosen it");
        let hits = counter("l1d_hits_low_latency");
        assert!(hits * 10 > report.totals.l1d.accesses * 4, "{mechanism}: {hits}");
        assert!(
            report.totals.l1d.misses * 3 < base.l1d.misses * 2,
            "{mechanism}: {}",
            report.totals.l1d.misses
        );
    }
}

/// The first launch needs BDI. The lines of the second launch fit without it, so BDI would only delay it.
#[test]
fn kernel_opt_gives_each_launch_its_mode_and_beats_each_mode_for_both() {
    let walk = Walk::over(Values::Counters);
    let outcome = walk.outcome_before(Some((1, 16, 60)), "kernel-opt").expect("it starts");
    assert!(outcome.fault.is_none());
    let report = outcome.report;
    assert_eq!(report.result, Outcome::Unchecked);
    let counter = |name: &str| report.mechanism_counters[name];
    assert_eq!(counter("launches_low_latency"), 1);
    assert_eq!(counter("launches_none"), 1);
    for trial in ["trial_cycles_none", "trial_cycles_low_latency", "trial_cycles_high_capacity"] {
        assert!(
            report.totals.cycles < counter(trial),
            "{trial}: {} {}",
            report.totals.cycles,
            counter(trial)
        );
    }
    assert_eq!(counter("l1d_lines_none"), 15 * 16, "the lines of the second launch");
}

#[test]
fn hits_wait_as_the_paper_says_for_one_warp_alone() {
    // One load at a time: every hit finds the queue empty and waits only for its own decompression.
    let walk = Walk { lines: 16, rounds: 100, warps: 1, ..Walk::over(Values::Counters) };
    for (mechanism, latency) in [("static-bdi", 2), ("static-bdi,latency=9", 9), ("static-bpc", 11)] {
        let report = walk.report(mechanism);
        let hits = report.mechanism_counters["l1d_hits_low_latency"]
            + report.mechanism_counters["l1d_hits_high_capacity"];
        // A hit enters the queue one cycle before its data would be ready without decompression.
        let cycles = report.mechanism_counters["decompression_cycles"] - hits;
        let late = report.mechanism_counters["decompression_late_cycles"];
        assert_eq!(cycles, hits * latency + late, "{mechanism}");
        assert!(hits >= 15 * 16 * 98, "{mechanism}: {hits}");
    }
    let (none, base) = (walk.cycles("static-bdi,latency=0"), walk.cycles("base"));
    assert_eq!(none, base, "the lines fit, and no latency is added");
}

#[test]
fn lines_of_old_codes_leave_when_new_ones_are_loaded() {
    let walk = Walk { rounds: 60, ..Walk::over(Values::FewOfMany) };
    let report = walk.report("static-sc,codes=instant");
    assert!(report.mechanism_counters["sc_builds"] > 2 * 15);
    assert!(report.mechanism_counters["l1d_stale_lines"] > 0);
}

/// A buffer of three times the L1D, read 40 times. Good codes leave few misses, and must not be lost for that reason.
#[test]
fn sc_goes_on_compressing_when_nearly_every_load_hits() {
    let walk = Walk { lines: 384, rounds: 40, warps: 8, ..Walk::over(Values::One) };
    let report = walk.report("static-sc");
    let counter = |name: &str| report.mechanism_counters[name];
    assert!(
        counter("l1d_lines_kept_whole") * 3 < counter("l1d_lines_high_capacity"),
        "{:?}",
        counter("l1d_lines_kept_whole")
    );
    assert!(counter("l1d_hits_high_capacity") * 10 > report.totals.l1d.accesses * 6);
    assert!(counter("sc_builds") >= 3 * 15, "{}", counter("sc_builds"));
    // One EP of ten counts the words of all accesses.
    let (counted, used) = (counter("sc_words_counted"), 32 * report.totals.l1d.accesses / 10);
    assert!(counted * 2 > used, "hits on compressed lines are counted: {counted} of {used} words");
    assert!(report.totals.cycles * 10 < walk.cycles("base") * 9);
}

#[test]
fn sc_counts_the_hits_on_lines_that_are_kept_whole() {
    // Four lines arrive, with half of the words that codes need. All other accesses are hits.
    let walk = Walk { lines: 4, rounds: 200, warps: 1, ..Walk::over(Values::FewOfMany) };
    let report = walk.report("static-sc,codes=instant");
    assert!(report.mechanism_counters["sc_builds"] >= 15, "{}", report.mechanism_counters["sc_builds"]);
}

#[test]
fn a_line_that_comes_after_the_learning_ep_has_the_mode_of_its_miss() {
    let spec: selvedge_sim::mechanism::MechanismSpec = "latte-cc".parse().expect("valid");
    let config = spec.machine(&GpuConfig::load("gtx480").expect("built in")).expect("it suits");
    let probes = Probes::new(ProbeSpec::default(), Engine::Lockstep);
    let settings = spec.parts[0].setup::<AdaptiveOptions>().options.settings(AMAT_WITH_TOLERANCE);
    let mut l1d = CompressedL1d::new(0, settings, Arc::default(), &config, &probes);
    let mut memory = DeviceMemory::new();
    let start = memory.alloc(64 * 128, "lines").expect("room");
    let (index, params) = (SetFunction::new(config.l1d.index, 32, 128), LatteControllerParams::default());
    let lines: Vec<u64> = (0..64).map(|line| start + line * 128).collect();
    let of = |mode| {
        *lines.iter().find(|line| params.dedicated(index.set(**line) as u32) == mode).expect("one of each")
    };
    let (follower, dedicated) = (of(None), Mode::ALL.map(|mode| of(Some(mode))));
    let misses = dedicated.iter().map(|line| (*line, AccessResult::Miss));
    let loads = misses.chain(std::iter::repeat_n((follower, AccessResult::Hit), 256));
    let mut now = 0;
    for (line, decision) in loads {
        now += 1;
        l1d.l1d_event(now, &L1dEvent::Load { load: Load { line, ..Load::default() }, decision });
        l1d.tick(now, &memory).expect("model and RTL agree");
    }
    let mut settle = |l1d: &mut CompressedL1d| {
        while l1d.busy() {
            now += 1;
            l1d.tick(now, &memory).expect("model and RTL agree");
        }
    };
    settle(&mut l1d);
    // Each mode has inserted one line and had no hit, so all sets now have no compression.
    for line in dedicated {
        assert_eq!(l1d.space(line, &memory), LineSpace::Later);
        settle(&mut l1d);
    }
    let mut counters = MechanismCounters::new();
    l1d.counters(&mut counters);
    assert_eq!(counters["decisions_none"], 1);
    let names = ["l1d_lines_none", "l1d_lines_low_latency", "l1d_lines_high_capacity"];
    assert_eq!(names.map(|name| counters[name]), [1, 1, 1]);
}

#[test]
fn a_bit_that_a_decompressor_turns_stops_the_run() {
    for (mechanism, block) in [("static-bdi", "bdi_decompressor"), ("static-bpc", "bpc_decompressor")] {
        let instance = format!("sm0.l1d.{block}");
        // Bit 40 of the outputs is in the line. The first round, without hits, ends after 4,000 cycles.
        let fault: PlantedUpset = "6000:40".parse().expect("a fault");
        let probes = ProbeSpec { faults: vec![(instance.clone(), fault)], ..ProbeSpec::default() };
        let mut walk = Walk { rounds: 4, engine: Engine::Rtl, probes, ..Walk::over(Values::Counters) };
        let stopped = (6000..6024).find_map(|cycle| {
            walk.probes.faults[0].1.cycle = cycle;
            walk.outcome(mechanism).expect("it starts").fault
        });
        let line = stopped.map(|fault| fault.to_string()).unwrap_or_default();
        assert!(line.starts_with(&instance), "{mechanism}: {line}");
    }
}

#[test]
fn machines_that_do_not_suit_are_refused_with_what_is_allowed() {
    let refused = |keys: &str, mechanism: &str| {
        let config = GpuConfig::parse("my.toml", &format!("base = \"gtx480\"\n{keys}")).expect("valid");
        let spec: selvedge_sim::mechanism::MechanismSpec = mechanism.parse().expect("valid");
        spec.machine(&config).err().map(|error| error.to_string())
    };
    let line =
        "mechanism latte-cc: l1d.sets = 2: must be 4 to 256: each of three modes needs a dedicated set";
    assert_eq!(refused("[l1d]\nsets = 2", "latte-cc").as_deref(), Some(line));
    assert_eq!(refused("[l1d]\nsets = 2", "static-bdi"), None);
    let write_back = refused("[l1d]\nwrite_policy = \"write-back\"", "static-bpc");
    assert!(write_back.is_some_and(|line| line.contains("must not be write-back")));
    for keys in ["[l1d]\nsets = 4", "[l1d]\nsets = 256", "[sm]\nschedulers = 8", "[sm]\nschedulers = 3"] {
        assert_eq!(refused(keys, "latte-cc"), None, "{keys}");
    }
}

#[test]
fn an_l1d_with_sectors_becomes_one_of_whole_lines_that_evicts_on_stores() {
    let config = GpuConfig::load("titan-v").expect("built in");
    assert_eq!((config.l1d.sector_bytes, config.l1d.write_policy), (32, WritePolicy::WriteThrough));
    let spec: selvedge_sim::mechanism::MechanismSpec = "latte-cc".parse().expect("valid");
    let machine = spec.machine(&config).expect("it suits");
    assert_eq!((machine.l1d.sector_bytes, machine.l1d.write_policy), (128, WritePolicy::WriteEvict));
    assert_eq!(machine.l2.sector_bytes, 32, "the L2 holds no compressed lines");
}

#[test]
fn few_sets_have_at_least_one_dedicated_set_for_each_mode() {
    for (sets, expected) in [(4, 1), (8, 1), (16, 2), (32, 4), (256, 4)] {
        let numbers = ControllerSets(sets);
        let params = LatteControllerParams { sets: numbers.count(), ..Default::default() };
        for mode in Mode::ALL {
            let dedicated = |set: &u32| params.dedicated(numbers.number(*set as usize) as u32);
            let own = (0..sets).filter(|set| dedicated(set) == Some(mode)).count();
            assert_eq!(own, expected, "{mode:?} of {sets} sets");
        }
        let different: std::collections::HashSet<_> =
            (0..sets as usize).map(|set| numbers.number(set)).collect();
        assert_eq!(different.len(), sets as usize, "each set has a number of its own");
    }
}

/// A line whose words are all `value`.
fn line_of(value: u32) -> [u64; 16] {
    [u64::from(value) << 32 | u64::from(value); 16]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_period_that_uses_too_few_words_keeps_its_codes(periods in prop::collection::vec((0usize..16, 1u32..1000), 1..4)) {
        let probes = Probes::new(ProbeSpec::default(), Engine::Lockstep);
        let mut sc = Statistical::new("sm0.l1d", true, &probes);
        let (mut now, mut builds, mut kept) = (0, 0, 0);
        let mut in_use = None;
        for (lines, value) in periods {
            sc.begin_training();
            for _ in 0..lines {
                sc.see(&line_of(value));
                for _ in 0..32 {
                    now += 1;
                    sc.tick(now).expect("model and RTL agree");
                }
            }
            sc.end_training();
            while sc.is_busy() {
                now += 1;
                sc.tick(now).expect("model and RTL agree");
            }
            // Eight lines have 256 words, the number of sets.
            let is_enough = lines >= 8;
            prop_assert_eq!(sc.take_give_up(), is_enough);
            (builds, kept) = (builds + u64::from(is_enough), kept + u64::from(!is_enough));
            in_use = if is_enough { Some(value) } else { in_use };
            prop_assert_eq!(sc.can_compress(), in_use.is_some());
            let Some(value) = in_use else { continue };
            sc.compress(0, 0, &line_of(value));
            let done = loop {
                now += 1;
                sc.tick(now).expect("model and RTL agree");
                if let Some(done) = sc.compressor.pop() {
                    break done;
                }
            };
            prop_assert!(done.output.compressed && done.output.bits <= 32 * 2, "the codes in use are those of {}", value);
            prop_assert_eq!(sc.decode(&done.output), Some(vec![value; 32]));
        }
        let mut counters = MechanismCounters::new();
        sc.counters(&mut counters);
        prop_assert_eq!([counters["sc_builds"], counters["sc_codes_kept"]], [builds, kept]);
    }
}

proptest! {
    #[test]
    fn a_line_in_the_codes_of_a_book_is_found_again(few in 1u64..40, seed in 0u64..1 << 40) {
        let mut prng = Prng::new(seed);
        let vocabulary: Vec<u32> = (0..few).map(|_| prng.bits() as u32).collect();
        let counted = |(index, value): (usize, &u32)| CountedValue { index: index as u16, value: *value, count: 1 + index as u16 };
        let book = CodeBook::build(vocabulary.iter().enumerate().map(counted), 1, 16);
        let mut line = [0u64; 16];
        line.iter_mut().for_each(|double| {
            *double = u64::from(vocabulary[prng.below(few) as usize]) << 32 | u64::from(vocabulary[prng.below(few) as usize]);
        });
        let coded = Coded::of(&line, Some(&book));
        prop_assert!(coded.compressed && Form::Sc(coded).sub_blocks() <= 4);
        let words = book.decode(&coded.payload, 32).map(|(words, _)| words);
        prop_assert_eq!(words, Some(selvedge_hw_codecs::sc::words_of(&line).to_vec()));
    }
}
