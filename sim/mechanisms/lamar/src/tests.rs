//! Tests of the GDUs' choices, of their gains on kernels made for them, and of kernels that they must not change.
use super::*;
use gdu::FetchChoice;
use selvedge_gpu::mechanism::MechanismCounters;
use selvedge_hw::{Engine, Instance};
use selvedge_mechanism_testing::kernels::{COALESCED, SCATTERED, SMALL, WALK};
use selvedge_mechanism_testing::{SmallKernel, run_kernel, run_workload_on};
use selvedge_sim::mechanism::MechanismSpec;
use selvedge_sim::report::{Outcome, RunReport};

const FAMILY_NAMES: [&str; 6] = ["cg-only", "fg-only", "static-gdu", "spp", "bgp-inf", "bgp"];

fn machine_of(mechanism: &str, keys: &str) -> Result<GpuConfig, String> {
    let config = GpuConfig::parse("my.toml", &format!("base = \"gtx480\"\n{keys}")).expect("valid");
    let spec: MechanismSpec = mechanism.parse().map_err(|e: MechanismError| e.to_string())?;
    spec.machine(&config).map_err(|e| e.to_string())
}

#[test]
fn the_family_brings_sectors_and_sub_ranks_along() {
    for name in FAMILY_NAMES {
        let fine = machine_of(name, "").expect("it suits");
        assert_eq!((fine.l1d.sector_bytes, fine.l2.sector_bytes, fine.dram.sub_ranks), (32, 32, 2), "{name}");
        let text = format!("{name},granularity=64");
        let coarse =
            machine_of(&text, "[dram]\nburst_bytes = 64\n[l2]\nline_bytes = 128\n").expect("it suits");
        assert_eq!((coarse.l1d.sector_bytes, coarse.l2.sector_bytes), (64, 64), "{name}");
        assert_eq!(coarse.dram.sub_ranks, 1, "{name}: the DRAM as it is");
    }
    // 64 banks leave no banks for a second sub-rank.
    assert_eq!(machine_of("bgp", "[dram]\nbanks = 64\n").expect("it suits").dram.sub_ranks, 1);
}

#[test]
fn what_does_not_suit_the_family_is_told_in_a_line() {
    for (mechanism, keys, says) in [
        (
            "bgp",
            "[dram]\nburst_bytes = 64\n",
            "mechanism bgp: dram.burst_bytes = 64: must be no more than the granularity",
        ),
        ("spp,granularity=64", "[l1d]\nline_bytes = 32\nsector_bytes = 32\n", "l1d.line_bytes = 32"),
        ("fg-only", "[l1d]\ntags_per_way = 4\n", "l1d.tags_per_way = 4: must be 1"),
        ("bgp+spp", "", "both choose the sectors that a miss fetches"),
        ("bgp+hw-bdi", "", "both compress or divide the lines between L2 and DRAM"),
        ("bgp,granularity=16", "", "must be 32, 64"),
        ("static-gdu=middling", "", "must be coarse, fine, l1d-fine, l2-fine"),
    ] {
        let error = machine_of(mechanism, keys).expect_err("it does not suit");
        assert!(error.contains(says), "{mechanism}: {error}");
    }
}

fn bgp(params: &BgpParams) -> BgpGdu {
    BgpGdu::new(Instance::new("bgp", params, Engine::Model).expect("valid"))
}

fn counters_of(gdu: &dyn Gdu) -> MechanismCounters {
    let mut counters = MechanismCounters::new();
    gdu.counters(CacheLevel::L1d, &mut counters);
    counters
}

#[test]
fn a_block_of_which_little_was_used_is_fetched_finely_and_no_other() {
    let params = BgpParams::default();
    for gdu in [&mut bgp(&params) as &mut dyn Gdu, &mut ExactGdu::new(&params)] {
        let choice = |gdu: &mut dyn Gdu, block| gdu.choose(9, block, 0b0001).expect("the model alone");
        assert_eq!(choice(gdu, 7), FetchChoice::Coarse);
        gdu.evicted(9, 7, 0b0100).expect("the model alone");
        gdu.evicted(9, 8, 0b0110).expect("the model alone");
        assert_eq!(
            [7, 8, 9].map(|block| choice(gdu, block)),
            [FetchChoice::Fine, FetchChoice::Coarse, FetchChoice::Coarse]
        );
        assert_eq!(counters_of(gdu)["l1d_insertions"], 1);
    }
}

#[test]
fn the_default_flips_when_most_blocks_contradict_it() {
    let params = BgpParams::default();
    for gdu in [&mut bgp(&params) as &mut dyn Gdu, &mut ExactGdu::new(&params)] {
        // 701 of 1000 blocks have low locality.
        for block in 0..1000 {
            gdu.evicted(0, block, if block < 701 { 0b1000 } else { 0b1111 }).expect("the model alone");
        }
        assert_eq!(gdu.choose(0, 5000, 1).expect("the model alone"), FetchChoice::Fine);
        gdu.evicted(0, 6000, 0b1111).expect("the model alone");
        assert_eq!(gdu.choose(0, 6000, 1).expect("the model alone"), FetchChoice::Coarse);
        let counters = counters_of(gdu);
        assert_eq!((counters["l1d_flips"], counters["l1d_fine_defaults"]), (1, 1));
    }
}

#[test]
fn spp_fetches_what_was_used_of_the_block_before() {
    for (sectors, used, expected) in [(4, 0b0110, 0b0111), (8, 0b1000_0010, 0b1000_0011)] {
        let params = SppParams { sectors: port_sectors(sectors), ..SppParams::default() };
        let mut spp = SppGdu::new(Instance::new("spp", &params, Engine::Model).expect("valid"), sectors);
        let choice = |spp: &mut SppGdu, block| spp.choose(300, block, 1).expect("the model alone");
        assert_eq!(choice(&mut spp, 3), FetchChoice::Coarse, "unknown");
        spp.evicted(300, 3, used).expect("the model alone");
        assert_eq!(choice(&mut spp, 3), FetchChoice::Pattern(expected));
        spp.evicted(300, 3, 1).expect("the model alone");
        assert_eq!(choice(&mut spp, 3), FetchChoice::Fine);
        assert_eq!(counters_of(&spp)["l1d_known"], 2);
    }
}

#[test]
fn spp_forgets_what_is_evicted_during_its_sweep() {
    for (now, expected) in [(0, FetchChoice::Coarse), (255, FetchChoice::Coarse), (256, FetchChoice::Fine)] {
        let instance = Instance::new("spp", &SppParams::default(), Engine::Model).expect("valid");
        let mut spp = SppGdu::new(instance, 4);
        spp.evicted(now, 3, 1).expect("the model alone");
        assert_eq!(spp.choose(1000, 3, 1).expect("the model alone"), expected, "cycle {now}");
    }
}

/// Returns the number of wrong predictions. Every second block always has low locality. Blocks are drawn from `blocks` in a
/// fixed random order, and each is predicted before it is evicted. The first half, in which blocks are still new, does not
/// count.
fn wrong_predictions(gdu: &mut dyn Gdu, blocks: u32) -> u32 {
    let mut wrong = 0;
    let mut random = 1u32;
    for step in 0..40 * blocks {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let block = (random >> 8) % blocks;
        let is_low = block.is_multiple_of(2);
        let wanted = if is_low { FetchChoice::Fine } else { FetchChoice::Coarse };
        let choice = gdu.choose(0, block, 1).expect("the model alone");
        wrong += u32::from(step >= 20 * blocks && choice != wanted);
        gdu.evicted(0, block, if is_low { 1 } else { 0b1111 }).expect("the model alone");
    }
    wrong
}

#[test]
fn the_exact_set_is_no_less_precise_than_the_filter_on_the_same_stream() {
    let params = BgpParams::default();
    for blocks in [100, 1000, 4000] {
        let (exact, filter) = (
            wrong_predictions(&mut ExactGdu::new(&params), blocks),
            wrong_predictions(&mut bgp(&params), blocks),
        );
        assert_eq!(exact, 0, "{blocks} blocks fit");
        // The filter remembers its last 256 to 512 insertions: it misses older blocks and has false positives.
        assert!(filter > 0, "{blocks} blocks");
    }
}

#[test]
fn a_sector_of_64_bytes_counts_once() {
    let config = machine_of("bgp,granularity=64", "").expect("it suits");
    let spec: MechanismSpec = "bgp,granularity=64".parse().expect("valid");
    let options = spec.parts[0].setup::<BgpOptions>().options;
    let params = options.params(CacheLevel::L1d.sectors(&config).own_count());
    let mut level = Level::new(CacheLevel::L1d, &config, Box::new(bgp(&params)));
    assert_eq!(level.fetch(0, 0, 0b0011), 0b1111);
    level.evicted(0, 0, 0b0011);
    level.evicted(0, 128, 0b1111);
    assert_eq!([level.fetch(0, 0, 0b0011), level.fetch(0, 128, 0b0011)], [0b0011, 0b1111]);
}

fn run_small(kernel: &SmallKernel<'_>, mechanism: &str) -> RunReport {
    run_kernel(kernel, SMALL, mechanism, Engine::Model).report
}

#[test]
fn scattered_loads_move_less_under_a_predictor_and_the_counters_say_why() {
    let runs =
        ["cg-only", "fg-only", "spp", "bgp-inf", "bgp"].map(|mechanism| run_small(&SCATTERED, mechanism));
    let [cg, fg, spp, exact, bgp] = &runs;
    let bursts = |report: &RunReport| report.totals.dram.read_bursts;
    assert!(2 * bursts(bgp) < bursts(cg), "{} against {}", bursts(bgp), bursts(cg));
    assert!(3 * bursts(fg) < bursts(cg), "{} against {}", bursts(fg), bursts(cg));
    assert!(bursts(fg) <= bursts(exact) && bursts(exact) < bursts(cg));
    assert!(bgp.totals.cycles < cg.totals.cycles && fg.totals.cycles < cg.totals.cycles);
    // Few blocks return, so a table of patterns by block has no entry for most, but one default can be right for all.
    assert!(bursts(spp) > bursts(bgp));
    let count = |report: &RunReport, name| report.mechanism_counters[name];
    assert_eq!(count(fg, "l1d_pred_nref") + count(fg, "l2_pred_nref"), 0);
    assert!(2 * count(bgp, "l1d_pred_nref") < count(cg, "l1d_pred_nref"));
    // Sectors that the L1Ds fetch coarsely are demand for the L2.
    assert_eq!(count(cg, "l2_pred_nref"), 0);
    assert!(2 * count(bgp, "l2_demand") < count(cg, "l2_demand"));
    assert!(
        count(cg, "l1d_pred_nref") > 2 * count(cg, "l1d_demand"),
        "three sectors in four are for nothing"
    );
    assert_eq!((count(bgp, "l1d_flips"), count(bgp, "l2_flips")), (2, 2), "each default has become fine");
    assert!(count(bgp, "l1d_fine") > 3 * count(bgp, "l1d_coarse"));
}

#[test]
fn threads_that_walk_over_lines_suffer_from_fine_fetches_and_not_from_the_predictor() {
    let [cg, fg, bgp] = ["cg-only", "fg-only", "bgp"].map(|mechanism| run_small(&WALK, mechanism));
    assert!(fg.totals.cycles > cg.totals.cycles, "{} against {}", fg.totals.cycles, cg.totals.cycles);
    // Three of a line's four sectors are fetched late.
    assert_eq!((fg.mechanism_counters["l1d_demand"], fg.mechanism_counters["l1d_npred_ref"]), (128, 3 * 128));
    assert_eq!((cg.mechanism_counters["l1d_demand"], cg.mechanism_counters["l1d_pred_ref"]), (128, 3 * 128));
    assert_eq!(bgp.totals.cycles, cg.totals.cycles);
}

#[test]
fn coalesced_streams_are_as_fast_as_without_a_predictor() {
    let run = |mechanism| run_small(&COALESCED, mechanism).totals.cycles;
    let (cg, base) = (run("cg-only"), run("base"));
    for mechanism in ["bgp", "bgp-inf", "spp", "fg-only"] {
        let cycles = run(mechanism);
        assert!(cycles.abs_diff(cg) * 100 <= cg, "{mechanism}: {cycles} against {cg} of cg-only");
        assert!(cycles.abs_diff(base) * 100 <= base, "{mechanism}: {cycles} against {base} of base");
    }
}

#[test]
fn every_fetched_sector_is_of_one_kind() {
    for (mechanism, keys) in [
        ("cg-only", ""),
        ("fg-only", ""),
        ("bgp,granularity=64", ""),
        ("spp", "[l2]\nline_bytes = 256\nsets = 32\n"),
        ("bgp", "[l2]\nline_bytes = 256\nsets = 32\n"),
        ("bgp", "[l1d]\nallocate = \"on-fill\"\n[l2]\nwrite_allocate = \"mask\"\n"),
    ] {
        let config = format!("base = \"gtx480\"\n{keys}");
        let report = run_workload_on("bfs", &config, mechanism);
        assert_eq!(report.result, Outcome::Pass, "{mechanism}");
        let count = |names: [&str; 4]| names.map(|name| report.mechanism_counters[name]).iter().sum::<u64>();
        let l1d = count(["l1d_demand", "l1d_pred_ref", "l1d_pred_nref", "l1d_npred_ref"]);
        let l2 = count(["l2_demand", "l2_pred_ref", "l2_pred_nref", "l2_npred_ref"]);
        let totals = &report.totals;
        assert_eq!(
            (l1d, l2),
            (totals.l1d.detail.sectors_fetched, totals.l2.detail.sectors_fetched),
            "{mechanism} {keys}"
        );
        assert_eq!(l2, totals.dram.read_bursts, "{mechanism} {keys}: what the L2 fetches is what DRAM reads");
    }
}
