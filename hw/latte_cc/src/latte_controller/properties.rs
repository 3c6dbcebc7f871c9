//! Properties of the LATTE-CC controller under random traffic. By exact arithmetic, the chosen mode has the lowest AMAT by the
//! counts and measurements. Dedicated sets are disjoint, modes change only with decisions, and the RTL does the same in the same
//! cycles.
use crate::latte_controller::{
    DECISION_CYCLES, LatteController, LatteControllerIn, LatteControllerOut, LatteControllerParams, Mode,
};
use proptest::prelude::*;
use selvedge_hw::Clocked;
use selvedge_hw::lockstep::Lockstep;

const SHORT: LatteControllerParams =
    LatteControllerParams { ep_accesses: 64, period_eps: 5, sets: 32, schedulers: 2, policy: 0 };

fn params() -> impl Strategy<Value = LatteControllerParams> {
    (
        prop_oneof![Just(64u32), Just(256)],
        prop_oneof![Just(5u32), Just(10)],
        prop_oneof![Just(32u32), Just(64), Just(128), Just(256)],
        prop_oneof![Just(2u32), Just(4), Just(8)],
        0u32..3,
    )
        .prop_map(|(ep_accesses, period_eps, sets, schedulers, policy)| LatteControllerParams {
            ep_accesses,
            period_eps,
            sets,
            schedulers,
            policy,
        })
}

/// An EP's traffic: hits per hundred in sets whose number modulo 3 is 0, 1 and 2, and the scale of all measured values.
#[derive(Clone, Copy, Debug)]
struct PeriodTraffic {
    hits: [u8; 3],
    busy: u8,
    scale: u8,
}

fn phases() -> impl Strategy<Value = Vec<(PeriodTraffic, u64)>> {
    let phase = (prop::array::uniform3(0u8..=100), 30u8..=100, 0u8..8)
        .prop_map(|(hits, busy, scale)| PeriodTraffic { hits, busy, scale });
    proptest::collection::vec((phase, any::<u64>()), 1..12)
}

/// Returns about one EP of cycles for each phase. Each phase's seed determines everything else.
fn traffic(params: &LatteControllerParams, phases: &[(PeriodTraffic, u64)]) -> Vec<LatteControllerIn> {
    let mut all = Vec::new();
    for (phase, seed) in phases {
        let mut prng = selvedge_hw::Prng::new(*seed);
        for _ in 0..params.ep_accesses + 70 {
            let set = prng.below(u64::from(params.sets)) as u8;
            let mode = params.dedicated(u32::from(set)).map_or(0, |mode| mode as usize);
            let mut random = |bits: u32| (prng.bits() as u16) & ((1u32 << bits) - 1) as u16;
            let shift = 8 - phase.scale;
            let (low, high, miss) = (random(8) >> shift, random(8), random(12) >> shift);
            // Each scheduler has 6 bits of warps and 8 bits of cycles.
            let ones = |bits: u32| u64::MAX >> (64 - bits * params.schedulers);
            let warps_i = prng.bits() & ones(6);
            // About one schedule ends every second cycle, so that the sums of an EP are never halved.
            let schedule_i = (0..=params.schedulers.ilog2())
                .fold(u8::MAX, |some, _| some & prng.below(1 << params.schedulers) as u8);
            let cycles_i = prng.bits() & ones(8) & (0x0101_0101_0101_0101 * ((1u64 << phase.scale) | 1));
            all.push(LatteControllerIn {
                access_i: prng.chance(phase.busy.into()),
                set_i: set,
                hit_i: prng.chance(phase.hits[mode].into()),
                insert_i: prng.chance(80),
                schedule_i,
                warps_i,
                cycles_i,
                low_hit_i: prng.chance(30),
                low_latency_i: low as u8,
                high_hit_i: prng.chance(30),
                high_latency_i: high as u8,
                miss_return_i: prng.chance(30),
                miss_latency_i: miss,
                lookup_set_i: prng.below(u64::from(params.sets)) as u8,
            });
        }
    }
    all
}

/// A running mean that weighs each new value with 1/16. It has 8 fraction bits; the upper 4 are used.
struct ReferenceMean(u64);

impl ReferenceMean {
    fn take(&mut self, given: bool, value: u64) {
        if given {
            self.0 = self.0 - self.0 / 16 + value * 16;
        }
    }
}

/// An observer of the ports that keeps its own counts and measurements.
struct Observer {
    params: LatteControllerParams,
    accesses: u32,
    eps: u32,
    hits: [u128; 3],
    misses: [u128; 3],
    /// Warps and cycles of the EP's schedules.
    schedules: Vec<(u64, u64)>,
    means: [ReferenceMean; 3],
}

/// The expected decision.
struct ExpectedDecision {
    mode: u8,
    tolerance: u16,
    /// The tolerance without rounding, as numerator and denominator.
    exact: (u128, u128),
}

impl Observer {
    fn new(params: LatteControllerParams) -> Self {
        Observer {
            params,
            accesses: 0,
            eps: 0,
            hits: [0; 3],
            misses: [0; 3],
            schedules: Vec::new(),
            means: [2, 14, 120].map(|cycles| ReferenceMean(cycles << 8)),
        }
    }

    /// Takes a cycle's inputs. At the end of an EP, returns the expected decision.
    fn clock(&mut self, inputs: &LatteControllerIn) -> Option<ExpectedDecision> {
        let ep = self.eps % self.params.period_eps;
        let residue = |set: u32| {
            let rest = self.params.sets / 4;
            (0..3).find(|mode| (3 * (set % rest)) % rest == (set / rest + mode) % rest)
        };
        if let (true, Some(mode)) = (inputs.access_i, residue(inputs.set_i.into())) {
            self.hits[mode as usize] += u128::from(inputs.hit_i && ep < 2);
            self.misses[mode as usize] += u128::from(!inputs.hit_i && inputs.insert_i && ep == 0);
        }
        for scheduler in (0..self.params.schedulers).filter(|s| (inputs.schedule_i >> s) & 1 == 1) {
            let warps = (inputs.warps_i >> (6 * scheduler)) % 64;
            let cycles = (inputs.cycles_i >> (8 * scheduler)) % 256;
            self.schedules.push((warps, cycles));
        }
        self.means[0].take(inputs.low_hit_i, inputs.low_latency_i.into());
        self.means[1].take(inputs.high_hit_i, inputs.high_latency_i.into());
        self.means[2].take(inputs.miss_return_i, inputs.miss_latency_i.into());
        self.accesses += u32::from(inputs.access_i);
        if self.accesses < self.params.ep_accesses {
            return None;
        }
        let verdict = self.judge();
        self.accesses = 0;
        self.schedules.clear();
        self.eps += 1;
        if self.eps.is_multiple_of(self.params.period_eps) {
            (self.hits, self.misses) = ([0; 3], [0; 3]);
        }
        Some(verdict)
    }

    fn judge(&self) -> ExpectedDecision {
        let count = self.schedules.len() as u64;
        let warps: u64 = self.schedules.iter().map(|(warps, _)| warps).sum();
        let cycles: u64 = self.schedules.iter().map(|(_, cycles)| cycles).sum();
        // Without a schedule both means are zero.
        let mean = |sum: u64| sum.checked_div(count).unwrap_or(0);
        let product = mean(64 * warps) * mean(16 * cycles);
        let tolerance = if self.params.policy == 2 { 0 } else { product / 64 };
        let [low, high, miss] = [0, 1, 2].map(|mean| self.means[mean].0 / 16);
        // Numerator and denominator of each mode's AMAT, in sixteenths of a cycle.
        let amat = |mode: usize| {
            let hit = [0, low.saturating_sub(tolerance), high.saturating_sub(tolerance)][mode];
            let cost = self.hits[mode] * u128::from(hit) + self.misses[mode] * u128::from(miss);
            (cost, self.hits[mode] + self.misses[mode])
        };
        let wins = |challenger: usize, best: usize| match self.params.policy {
            1 => self.hits[challenger] > self.hits[best],
            _ => amat(challenger).0 * amat(best).1 < amat(best).0 * amat(challenger).1,
        };
        let better = usize::from(wins(1, 0));
        let mode = if wins(2, better) { 2 } else { better };
        if self.params.policy != 1 && (0..3).all(|mode| amat(mode).1 > 0) {
            for other in 0..3 {
                assert!(!wins(other, mode), "nothing is cheaper than the chosen mode");
            }
        }
        ExpectedDecision {
            mode: mode as u8,
            tolerance: (product / 1024) as u16,
            exact: (u128::from(warps) * u128::from(cycles), u128::from(count * count)),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_chosen_mode_has_the_lowest_amat_and_changes_only_when_decided(params in params(), phases in phases()) {
        let mut controller = Lockstep::<LatteController>::new(&params);
        let mut observer = Observer::new(params);
        let (mut due, mut expected) = (None::<(u32, ExpectedDecision)>, LatteControllerOut::default());
        for (clock, inputs) in traffic(&params, &phases).iter().enumerate() {
            let outputs = controller.step(inputs);
            expected.decided_o = false;
            if let Some((0, verdict)) = &due {
                expected.decided_o = true;
                expected.mode_o = verdict.mode;
                expected.tolerance_o = verdict.tolerance;
                due = None;
            } else if let Some((cycles, _)) = &mut due {
                *cycles -= 1;
            }
            let seen = (outputs.decided_o, outputs.mode_o, outputs.tolerance_o);
            prop_assert_eq!(seen, (expected.decided_o, expected.mode_o, expected.tolerance_o), "clock {}", clock);
            if let Some(verdict) = observer.clock(inputs) {
                prop_assert!(due.is_none(), "a decision is made before the next EP ends");
                // Warps are rounded down to 1/64, cycles to 1/16.
                let (product, squared) = verdict.exact;
                if squared > 0 && product / squared < 1 << 14 {
                    let (rounded, exact) = (u128::from(verdict.tolerance), product / squared);
                    prop_assert!(rounded <= exact && exact <= rounded + 1 + 64 / 16 + 256 / 64, "{} {}", rounded, exact);
                }
                due = Some((DECISION_CYCLES, verdict));
            }
        }
    }

    #[test]
    fn look_ups_give_the_dedicated_mode_while_learning_and_the_chosen_one_else(params in params(), phases in phases()) {
        let mut controller = Lockstep::<LatteController>::new(&params);
        let mut last: Option<(u8, LatteControllerOut)> = None;
        for inputs in traffic(&params, &phases) {
            let outputs = controller.step(&inputs);
            if let Some((set, before)) = last {
                let own = params.dedicated(u32::from(set)).filter(|_| before.learning_o);
                prop_assert_eq!(outputs.lookup_dedicated_o, own.is_some());
                prop_assert_eq!(outputs.lookup_mode_o, own.map_or(before.mode_o, |mode| mode as u8));
            }
            last = Some((inputs.lookup_set_i, outputs));
        }
    }

    #[test]
    fn model_and_rtl_agree_with_resets_in_mid_flight(
        params in params(),
        phases in phases(),
        resets in proptest::collection::vec(1usize..4000, 0..4),
    ) {
        let mut controller = Lockstep::<LatteController>::new(&params);
        for (clock, inputs) in traffic(&params, &phases).iter().enumerate() {
            if resets.contains(&clock) {
                controller.reset();
            } else {
                controller.step(inputs);
            }
        }
    }
}

/// Steps `eps` EPs of back-to-back accesses. Returns the outputs of every cycle.
fn run_eps(params: LatteControllerParams, eps: u32) -> Vec<LatteControllerOut> {
    let mut controller = Lockstep::<LatteController>::new(&params);
    let inputs = LatteControllerIn { access_i: true, ..LatteControllerIn::default() };
    (0..=eps * params.ep_accesses).map(|_| controller.step(&inputs)).collect()
}

#[test]
fn while_learning_each_mode_has_four_sets_of_its_own() {
    for sets in [32, 64, 128, 256] {
        let mut controller = Lockstep::<LatteController>::new(&LatteControllerParams { sets, ..SHORT });
        let mut own = [0; 3];
        for set in 0..sets {
            controller.step(&LatteControllerIn { lookup_set_i: set as u8, ..LatteControllerIn::default() });
            let outputs = controller.step(&LatteControllerIn::default());
            own[usize::from(outputs.lookup_mode_o)] += u32::from(outputs.lookup_dedicated_o);
        }
        assert_eq!(own, [4, 4, 4], "of {sets} sets");
    }
}

#[test]
fn the_first_ep_of_each_period_learns_and_the_last_one_builds_codes() {
    let outputs = run_eps(SHORT, 10);
    let flags: Vec<(bool, bool, bool)> = (0..=10)
        .map(|ep| &outputs[(64 * ep) as usize])
        .map(|first| (first.learning_o, first.build_o, first.new_codes_o))
        .collect();
    let (learn, plain, last) = ((true, false, true), (false, false, false), (false, true, false));
    let first = [(true, true, false), (false, false, true), plain, plain, last];
    assert_eq!(flags[..5], first, "in the first period, codes come after the first EP");
    assert_eq!(flags[5..], [learn, plain, plain, plain, last, learn]);
    assert_eq!(outputs.iter().filter(|outputs| outputs.ep_end_o).count(), 10);
}

/// Returns a set, of 32, that is dedicated to a mode.
fn set_of(mode: Mode) -> u8 {
    (0..32).find(|set| LatteControllerParams::default().dedicated(*set) == Some(mode)).unwrap() as u8
}

/// Steps one access per cycle, then lets the last decision finish. Returns the mode.
fn decided(params: LatteControllerParams, accesses: impl Iterator<Item = (Mode, bool)>) -> u8 {
    let mut controller = Lockstep::<LatteController>::new(&params);
    for (mode, hit_i) in accesses {
        let inputs =
            LatteControllerIn { access_i: true, set_i: set_of(mode), hit_i, ..LatteControllerIn::default() };
        controller.step(&LatteControllerIn { insert_i: true, ..inputs });
    }
    for _ in 0..DECISION_CYCLES {
        assert!(!controller.step(&LatteControllerIn::default()).decided_o);
    }
    let outputs = controller.step(&LatteControllerIn::default());
    assert!(outputs.decided_o);
    outputs.mode_o
}

#[test]
fn the_largest_hit_count_does_not_wrap() {
    let params = LatteControllerParams { policy: 1, ..LatteControllerParams::default() };
    let hits = std::iter::repeat_n((Mode::HighCapacity, true), 512);
    assert_eq!(decided(params, hits), Mode::HighCapacity as u8);
}

#[test]
fn the_largest_insertion_count_does_not_wrap() {
    // 256 misses and 128 hits without compression against 128 hits with it. If the miss counter wrapped to zero, no compression
    // would win.
    let learning = std::iter::repeat_n((Mode::None, false), 256);
    let after = (0..256).map(|turn| (if turn % 2 == 0 { Mode::None } else { Mode::HighCapacity }, true));
    let mode = decided(LatteControllerParams::default(), learning.chain(after));
    assert_eq!(mode, Mode::HighCapacity as u8);
}

#[test]
fn halving_the_sums_keeps_the_tolerance() {
    // 3 warps and 5 cycles each time, from both schedulers, far more often than the sums can count.
    let inputs = LatteControllerIn {
        schedule_i: 3,
        warps_i: 3 << 6 | 3,
        cycles_i: 5 << 8 | 5,
        ..LatteControllerIn::default()
    };
    let mut controller = Lockstep::<LatteController>::new(&SHORT);
    for clock in 0..6400 {
        controller.step(&LatteControllerIn { access_i: clock % 100 == 0, ..inputs });
    }
    for _ in 0..100 {
        controller.step(&LatteControllerIn::default());
    }
    assert_eq!(controller.step(&LatteControllerIn::default()).tolerance_o, 15);
}
