//! Properties of the BPG under random traffic: true LRU caches restricted to the watched warps have the same hits. The
//! counters saturate and fade, and the choice is the plain maximum. The RTL does the same in the same cycles.
use crate::bpg::{Bpg, BpgIn, BpgOut, BpgParams, LEVELS};
use proptest::prelude::*;
use selvedge_hw::Clocked;
use selvedge_hw::lockstep::{CycleInputs, Lockstep, assert_agree};
use std::collections::HashMap;

/// Returns accesses of `warps` warps to few or many lines, with failures in `rsfail` percent of the cycles.
fn traffic(warps: u8, rsfail: u32, params: &BpgParams) -> impl Strategy<Value = CycleInputs<Bpg>> + use<> {
    let sets = u64::from(params.sets);
    // The sampled sets with eight tags each; a few sets with few tags; any line.
    let few_sampled = (0u64..8, 0u64..4).prop_map(move |(tag, group)| tag * sets + sampled_set(sets, group));
    let line = prop_oneof![4 => few_sampled, 2 => 0u64..16 * sets, 1 => 0..1u64 << params.line_bits()];
    let inputs = (prop::bool::weighted(0.8), line, 0..warps, prop::bool::weighted(f64::from(rsfail) / 100.0))
        .prop_map(|(access_i, line_i, warp_i, rsfail_i)| Some(BpgIn { access_i, line_i, warp_i, rsfail_i }));
    let operation = prop_oneof![2000 => inputs, 1 => Just(None)];
    proptest::collection::vec(operation, 1..5000)
}

fn any_traffic(params: BpgParams) -> impl Strategy<Value = CycleInputs<Bpg>> {
    let warps = prop_oneof![3 => Just(8u8), 1 => Just(48)];
    let rsfail = prop_oneof![Just(0u32), Just(2), Just(20), Just(90)];
    (warps, rsfail).prop_flat_map(move |(warps, rsfail)| traffic(warps, rsfail, &params))
}

/// Returns the sampled set of a group: 0, 9, 18 and 27 of 32 sets.
fn sampled_set(sets: u64, group: u64) -> u64 {
    group * (sets / 4 + 1)
}

fn any_params() -> impl Strategy<Value = BpgParams> {
    (
        prop_oneof![Just(16u32), Just(32), Just(64), Just(128), Just(256)],
        prop_oneof![Just(4u32), Just(6)],
        prop_oneof![Just(20u32), Just(32)],
        prop_oneof![Just(500u32), Just(1000)],
    )
        .prop_map(|(sets, ways, tag_bits, interval)| BpgParams { sets, ways, tag_bits, interval })
}

/// A cache that stamps each line with the time of its last use and evicts the smallest stamp.
struct Cache {
    sets: u64,
    ways: usize,
    stamps: HashMap<u64, HashMap<u64, u64>>,
    now: u64,
}

impl Cache {
    fn new(params: &BpgParams) -> Self {
        let (sets, ways) = (params.sets.into(), params.ways as usize);
        Cache { sets, ways, stamps: HashMap::new(), now: 0 }
    }

    fn access(&mut self, line: u64) -> bool {
        self.now += 1;
        let set = self.stamps.entry(line % self.sets).or_default();
        let hit = set.insert(line / self.sets, self.now).is_some();
        if set.len() > self.ways {
            let oldest = *set.iter().min_by_key(|(_, stamp)| **stamp).unwrap().0;
            set.remove(&oldest);
        }
        hit
    }
}

/// The BPG by the paper, in exact signed arithmetic.
struct PaperBpg {
    params: BpgParams,
    caches: Vec<Cache>,
    hits: Vec<u32>,
    rsfails: u32,
    accesses: u32,
    l_max: u8,
}

impl PaperBpg {
    fn new(params: &BpgParams) -> Self {
        let caches = (0..LEVELS).map(|_| Cache::new(params)).collect();
        PaperBpg {
            params: *params,
            caches,
            hits: vec![0; LEVELS],
            rsfails: 0,
            accesses: 0,
            l_max: LEVELS as u8,
        }
    }

    /// Returns the chosen L if the interval ends with this cycle.
    fn step(&mut self, inputs: &BpgIn) -> Option<u8> {
        let mut chosen = None;
        if inputs.access_i {
            self.accesses += 1;
            if self.accesses == self.params.interval {
                self.accesses = 0;
                self.l_max = self.best();
                chosen = Some(self.l_max);
                self.hits.iter_mut().for_each(|hits| *hits /= 2);
                self.rsfails /= 2;
            }
            let sets = u64::from(self.params.sets);
            if (0..4).any(|group| inputs.line_i % sets == sampled_set(sets, group)) {
                for level in usize::from(inputs.warp_i)..LEVELS {
                    let hit = self.caches[level].access(inputs.line_i);
                    self.hits[level] = (self.hits[level] + u32::from(hit)).min(1023);
                }
            }
        }
        self.rsfails = (self.rsfails + u32::from(inputs.rsfail_i)).min(4095);
        chosen
    }

    fn best(&self) -> u8 {
        if self.hits.iter().all(|hits| *hits == 0) {
            return self.l_max;
        }
        let adjusted = |l: i64| {
            let estimated = i64::from(self.rsfails) * l.pow(3) / 512;
            i64::from(self.hits[l as usize - 1]) * i64::from(self.params.sets / 4) - estimated / 2
        };
        let mut best = 1;
        for l in 2..=LEVELS as i64 {
            if adjusted(l) >= adjusted(best) {
                best = l;
            }
        }
        best as u8
    }
}

/// Runs the block next to the reference and compares outputs and counters.
fn check_against_reference(params: &BpgParams, traffic: &CycleInputs<Bpg>) -> Result<(), TestCaseError> {
    // Expected outputs in this cycle and in the next one.
    let (mut bpg, mut reference) = (Lockstep::<Bpg>::new(params), PaperBpg::new(params));
    let (mut l_max, mut update, mut next) = (8, false, None);
    for inputs in traffic {
        let Some(inputs) = inputs else {
            bpg.reset();
            reference = PaperBpg::new(params);
            (l_max, update, next) = (8, false, None);
            continue;
        };
        let outputs = bpg.step(inputs);
        prop_assert_eq!((outputs.l_max_o, outputs.update_o), (l_max, update));
        for warp in 0..LEVELS as u8 {
            prop_assert_eq!((outputs.bypass_o >> warp) & 1 == 1, warp >= l_max);
        }
        update = next.is_some();
        l_max = next.take().unwrap_or(l_max);
        next = reference.step(inputs);
        prop_assert_eq!(&bpg.hits()[..], &reference.hits[..]);
        prop_assert_eq!(bpg.rsfails(), reference.rsfails);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn hits_and_choice_are_those_of_true_lru_caches_of_the_watched_warps(
        (params, traffic) in any_params().prop_flat_map(|params| (Just(params), any_traffic(params))),
    ) {
        check_against_reference(&params, &traffic)?;
    }

    #[test]
    fn model_and_rtl_agree_with_resets_in_mid_flight(
        (params, traffic) in any_params().prop_flat_map(|params| (Just(params), any_traffic(params))),
    ) {
        assert_agree::<Bpg>(&params, &traffic);
    }
}

/// Returns an access of warp 0 to set 0.
fn access(tag: u64) -> BpgIn {
    BpgIn { access_i: true, line_i: tag * 32, ..BpgIn::default() }
}

fn run(bpg: &mut Lockstep<Bpg>, inputs: impl IntoIterator<Item = BpgIn>) {
    for inputs in inputs {
        bpg.step(&inputs);
    }
}

/// Returns the outputs after a choice in progress is complete.
fn settled(bpg: &mut Lockstep<Bpg>) -> BpgOut {
    run(bpg, [BpgIn::default(); 2]);
    bpg.step(&BpgIn::default())
}

#[test]
fn hits_saturate_and_fade_by_halves() {
    let mut bpg = Lockstep::<Bpg>::new(&BpgParams::default());
    // 998, 499 + 1 + 999 and so on, each capped.
    run(&mut bpg, std::iter::repeat_n(access(3), 1999));
    assert_eq!(bpg.hits(), [1023; LEVELS]);
    run(&mut bpg, [access(4)]);
    assert_eq!(bpg.hits(), [511; LEVELS]);
    // Accesses to unsampled sets give no hits, but advance the interval.
    run(&mut bpg, (0..3000).map(|_| BpgIn { line_i: 1, ..access(0) }));
    assert_eq!(bpg.hits(), [63; LEVELS]);
}

#[test]
fn a_reset_forgets_every_tag_though_the_memories_keep_their_words() {
    // Four tags in set 0, as seen by all calculators, then as seen only by the last one.
    let mut bpg = Lockstep::<Bpg>::new(&BpgParams::default());
    run(&mut bpg, (1..=4).chain(1..=4).map(access));
    assert_eq!(bpg.hits(), [4; LEVELS]);
    bpg.reset();
    run(&mut bpg, [last_access(9), access(4), access(3), last_access(2), access(4), last_access(9)]);
    assert_eq!(bpg.hits(), [1, 1, 1, 1, 1, 1, 1, 2]);
}

#[test]
fn a_warp_that_is_not_watched_leaves_the_tags_as_they_are() {
    let mut bpg = Lockstep::<Bpg>::new(&BpgParams::default());
    run(&mut bpg, [access(1), access(2)]);
    run(&mut bpg, (10..20).map(|tag| BpgIn { warp_i: 8, ..access(tag) }));
    run(&mut bpg, (10..14).map(last_access));
    run(&mut bpg, [access(1), access(2)]);
    assert_eq!(bpg.hits(), [2, 2, 2, 2, 2, 2, 2, 0]);
}

#[test]
fn failures_saturate_and_fade_by_halves() {
    let mut bpg = Lockstep::<Bpg>::new(&BpgParams::default());
    run(&mut bpg, std::iter::repeat_n(BpgIn { rsfail_i: true, ..BpgIn::default() }, 5000));
    assert_eq!(bpg.rsfails(), 4095);
    run(&mut bpg, (0..1000).map(|_| BpgIn { line_i: 1, ..access(0) }));
    assert_eq!(bpg.rsfails(), 2047);
    assert_eq!(settled(&mut bpg).l_max_o, 8, "failures and no hits");
}

/// Returns an access that only the last calculator watches.
fn last_access(tag: u64) -> BpgIn {
    BpgIn { warp_i: 7, ..access(tag) }
}

/// Ends an interval that has had `accesses` accesses, with accesses that no calculator counts.
fn end_interval(bpg: &mut Lockstep<Bpg>, accesses: usize) -> BpgOut {
    run(bpg, std::iter::repeat_n(BpgIn { line_i: 1, ..access(0) }, 1000 - accesses));
    settled(bpg)
}

#[test]
fn a_full_hit_counter_still_outweighs_failures() {
    // 998 hits fade to 499, and the interval's last access also hits. 523 more saturate the counter, and five exceed it.
    let mut bpg = Lockstep::<Bpg>::new(&BpgParams::default());
    run(&mut bpg, std::iter::repeat_n(last_access(3), 1000 + 523 + 5));
    assert_eq!(bpg.hits()[LEVELS - 1], 1023);
    run(&mut bpg, std::iter::repeat_n(BpgIn { rsfail_i: true, ..BpgIn::default() }, 400));
    assert_eq!(end_interval(&mut bpg, 523 + 5).l_max_o, 8, "8 x 1023 hits against 400 / 2 failures");
}

#[test]
fn a_full_failure_counter_still_outweighs_hits() {
    let mut bpg = Lockstep::<Bpg>::new(&BpgParams::default());
    run(&mut bpg, std::iter::repeat_n(last_access(3), 101));
    run(&mut bpg, std::iter::repeat_n(BpgIn { rsfail_i: true, ..BpgIn::default() }, 4100));
    assert_eq!((bpg.hits()[LEVELS - 1], bpg.rsfails()), (100, 4095));
    assert_eq!(end_interval(&mut bpg, 101).l_max_o, 1, "8 x 100 hits against 4095 / 2 failures");
}

#[test]
fn among_equal_adjusted_hits_the_larger_number_is_chosen() {
    // All calculators count the same hits. Four failures subtract 2 at L = 8, 1 at L = 7, and 0 below.
    let mut bpg = Lockstep::<Bpg>::new(&BpgParams::default());
    run(&mut bpg, std::iter::repeat_n(access(3), 50));
    assert_eq!(end_interval(&mut bpg, 50).l_max_o, 8);
    run(&mut bpg, std::iter::repeat_n(BpgIn { rsfail_i: true, ..BpgIn::default() }, 4));
    assert_eq!(
        end_interval(&mut bpg, 0).l_max_o,
        6,
        "4 x 216 / 512 / 2 is less than one, 4 x 343 / 512 / 2 is one"
    );
}

#[test]
fn warps_from_eight_on_end_intervals_and_are_not_watched() {
    let mut bpg = Lockstep::<Bpg>::new(&BpgParams::default());
    run(&mut bpg, (0..1000).map(|_| BpgIn { warp_i: 8, ..access(3) }));
    assert_eq!(bpg.hits(), [0; LEVELS]);
    assert_eq!(settled(&mut bpg).l_max_o, 8);
}

/// A tag written before a reset never hits after it, for any warp that makes the set's first access.
#[test]
fn words_from_before_a_reset_never_hit() {
    let access = |tag: u64, warp_i: u8| BpgIn { access_i: true, line_i: tag * 32, warp_i, rsfail_i: false };
    let elsewhere = BpgIn { access_i: true, line_i: 1, warp_i: 0, rsfail_i: true };
    // No calculator watches warp 40.
    for first in [40, 7, 0] {
        let params = BpgParams::default();
        let mut bpg = Lockstep::<Bpg>::new(&params);
        (1..=4).for_each(|tag| _ = bpg.step(&access(tag, 0)));
        bpg.reset();
        bpg.step(&access(9, first));
        for tag in (1..=4).rev() {
            bpg.step(&access(tag, 7));
        }
        (5..params.interval).for_each(|_| _ = bpg.step(&elsewhere));
        // The failures outweigh one hit: after any hit, the BPG would choose a smaller L.
        let chosen =
            (0..2).map(|_| bpg.step(&BpgIn { access_i: false, ..elsewhere })).last().expect("two cycles");
        assert_eq!(
            (bpg.hits(), chosen.update_o, chosen.l_max_o),
            ([0; LEVELS], true, LEVELS as u8),
            "{first}"
        );
    }
}
