//! MDB: model-driven bypassing (Dai, sections 2.5 and 2.6). A BPG chooses L, the number of an SM's warps or CTAs that use the
//! L1D. The loads of the others bypass it.
//!
//! MDB-local has a BPG in every SM. MDB-global has one in SM 0, and every SM uses its L. A BPG sees each line transaction of a
//! load once, whether it bypasses the L1D or not. It also sees each cycle in which a request failed to reserve a resource of
//! the L1D. A load that bypasses the L1D reserves nothing there, so its waits for the miss queue or a slot do not count.
//!
//! The block takes the set of its shadow tags from the low bits of the line number. The L1D's index function gives those bits.
//!
//! The block only reacts to events. It is clocked in the cycle after an event, and until a new L shows at its outputs.
use crate::BYPASS_COUNTERS;
use selvedge_gpu::cache::index::SetFunction;
use selvedge_gpu::config::{GpuConfig, L1dConfig};
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::mechanism::{
    Claim, Counter, Mechanism, MechanismCounters, MechanismError, Setup, Site, Values, count,
};
use selvedge_gpu::sm::part::{Bypass, Load, MemoryEvent, MemoryObserver, SmPart};
use selvedge_gpu::stage::MechanismFault;
use selvedge_gpu::{has, mechanism_options, option_names};
use selvedge_hw::Instance;
use selvedge_hw::wave::Trace;
use selvedge_hw_dai::bpg::{Bpg, BpgIn, BpgOut, BpgParams, LEVELS};
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Counters of MDB.
pub(crate) const COUNTERS: &[Counter] = &[
    Counter::new("l_max_updates", "limits of warps in the L1D that MDB chose"),
    Counter::new("l_max_{n}", "times that MDB chose this limit of warps in the L1D; 8 is no bypassing"),
    Counter::new("watched_loads", "loads that MDB's blocks observed"),
    Counter::new("watched_reservation_failures", "reservation failures that MDB's blocks observed"),
];

mechanism_options! {
    /// Options of `mdb-local` and `mdb-global`.
    pub struct MdbOptions {
        /// what is let into the L1D or not; auto: CTAs, or the warps of the only CTA on an SM
        unit: LimitUnit = LimitUnit::Auto, Values::names::<LimitUnit>();
        /// line transactions after which L is chosen anew
        interval: u32 = 1000, Values::numbers(&[1000, 500]);
    }
}

/// The mechanism `mdb-local`.
#[derive(Debug)]
pub struct MdbLocal;

impl Mechanism for MdbLocal {
    const NAME: &'static str = "mdb-local";
    const SUMMARY: &'static str = "limits how many warps or CTAs may use the L1D and bypasses the rest, from shadow tags and reservation failures, in each SM";
    const SOURCE: &'static str = "Dai, sections 2.5 and 2.6 (MDB-local)";
    const BLOCKS: &'static [&'static str] = &["bpg"];
    const CONFIGURATION: &'static str = "an L1D whose lines fill 16 to 256 sets of 4 or 6 ways";
    const PUBLISHED: &'static str =
        "Dai: 0.087 mm2 for 15 SMs at 45 nm, 0.001 nJ per access, 0.27 mW leakage";
    const CLAIMS: &'static [Claim] = &[Claim::Bypass];
    const COUNTERS: &'static [&'static [Counter]] = &[COUNTERS, BYPASS_COUNTERS];
    type Options = MdbOptions;

    fn configure(setup: &Setup<MdbOptions>, config: &mut GpuConfig) -> Result<(), MechanismError> {
        suits_tags(setup, config)
    }

    fn attach(setup: &Setup<MdbOptions>, site: &mut Site<'_>) {
        let (config, probes) = (site.config, site.probes);
        site.each_sm(part_of(&setup.options, config, probes, true));
    }
}

/// The mechanism `mdb-global`.
#[derive(Debug)]
pub struct MdbGlobal;

impl Mechanism for MdbGlobal {
    const NAME: &'static str = "mdb-global";
    const SUMMARY: &'static str = "limits as mdb-local does, but one generator in SM 0 decides for all SMs";
    const SOURCE: &'static str = "Dai, sections 2.5 and 2.6 (MDB-global)";
    const BLOCKS: &'static [&'static str] = MdbLocal::BLOCKS;
    const CONFIGURATION: &'static str = MdbLocal::CONFIGURATION;
    const PUBLISHED: &'static str = MdbLocal::PUBLISHED;
    const CLAIMS: &'static [Claim] = MdbLocal::CLAIMS;
    const COUNTERS: &'static [&'static [Counter]] = MdbLocal::COUNTERS;
    type Options = MdbOptions;

    fn configure(setup: &Setup<MdbOptions>, config: &mut GpuConfig) -> Result<(), MechanismError> {
        suits_tags(setup, config)
    }

    fn attach(setup: &Setup<MdbOptions>, site: &mut Site<'_>) {
        let (config, probes) = (site.config, site.probes);
        site.each_sm(part_of(&setup.options, config, probes, false));
    }
}

/// Sets that the block's shadow tags can sample.
const SETS: RangeInclusive<u32> = 16..=256;

/// Ways that the block's shadow tags can have. The first one that suits the L1D is used.
const WAYS: [u32; 2] = [4, 6];

/// Returns the sets and ways of the L1D that the shadow tags sample. An L1D with other ways is sampled as one of as many lines:
/// shadow tags of 64 ways would compare 512 tags in each access.
fn shadow_geometry(l1d: &L1dConfig) -> Option<(u32, u32)> {
    let is_sampled = |sets: u32| sets.is_power_of_two() && SETS.contains(&sets);
    if WAYS.contains(&l1d.ways) && is_sampled(l1d.sets) {
        return Some((l1d.sets, l1d.ways));
    }
    let lines = l1d.sets * l1d.ways;
    WAYS.into_iter()
        .map(|ways| (lines / ways, ways))
        .find(|(sets, ways)| sets * ways == lines && is_sampled(*sets))
}

/// Checks that the block's shadow tags can sample the L1D.
fn suits_tags(setup: &Setup<MdbOptions>, config: &GpuConfig) -> Result<(), MechanismError> {
    let l1d = &config.l1d;
    let allowed = "must be 16 to 256 sets of 4 or 6 ways, or as many lines, which the shadow tags of the block can sample";
    let refused = || setup.unsuited("l1d.ways", format!("{} in {} sets", l1d.ways, l1d.sets), allowed);
    shadow_geometry(l1d).map(|_| ()).ok_or_else(refused)
}

/// Returns a function that builds the part of an SM from its number.
fn part_of(options: &MdbOptions, config: &GpuConfig, probes: &Probes, is_local: bool) -> impl Fn(u32) -> Mdb {
    let MdbOptions { unit, interval } = *options;
    let (l1d, sms) = (&config.l1d, config.sm.count);
    let (sets, ways) = shadow_geometry(l1d).expect("`configure` has checked it");
    let params = BpgParams { sets, ways, interval, ..BpgParams::default() };
    let address = ShadowAddress {
        index: SetFunction::new(l1d.index, l1d.sets, l1d.line_bytes),
        line_bytes: l1d.line_bytes.into(),
        l1d_sets: l1d.sets.into(),
    };
    let for_all = Arc::new(AtomicU8::new(0));
    move |sm| {
        let generator = (is_local || sm == 0).then(|| Generator::new(sm, &params, probes));
        let bypass = if is_local { Arc::default() } else { Arc::clone(&for_all) };
        let least_ctas = if is_local { 0 } else { 2 * u64::from(sms) };
        Mdb { unit, least_ctas, address, generator, bypass, head_passes: false, bypassed: 0 }
    }
}

option_names! {
    /// The unit that L counts: the units numbered below L use the L1D.
    #[derive(State)]
    pub enum LimitUnit {
        /// CTAs if the SM holds several, else warps. Under MDB-global all SMs must count the same unit, so CTAs are counted
        /// only if the launch has several for each SM.
        Auto = "auto",
        /// Warps, by slot.
        Warps = "warps",
        /// CTAs, by slot.
        Ctas = "ctas",
    }
}

impl LimitUnit {
    /// Returns the number of the load's warp or CTA. A launch of fewer than `least_ctas` CTAs is counted in warps on every SM.
    pub(crate) fn number(self, load: &Load, least_ctas: u64) -> u8 {
        match self {
            LimitUnit::Warps => load.warp,
            LimitUnit::Ctas => load.cta,
            LimitUnit::Auto if load.resident_ctas > 1 && load.launch_ctas >= least_ctas => load.cta,
            LimitUnit::Auto if load.resident_ctas > 1 => load.warp,
            // The warps of the only CTA may be in any slots, so their numbers within the CTA are used.
            LimitUnit::Auto => load.warp_of_cta,
        }
    }
}

/// The largest number that the block's port takes.
const LAST_NUMBER: u8 = 63;

/// Clocks from an access until the L that it causes shows at the outputs.
const CLOCKS_OF_ACCESS: u8 = 3;

/// Names of the counters of the choices of each L.
const CHOICES: [&str; LEVELS] =
    ["l_max_1", "l_max_2", "l_max_3", "l_max_4", "l_max_5", "l_max_6", "l_max_7", "l_max_8"];

/// A BPG and its inputs of the next clock.
#[derive(State)]
struct Generator {
    bpg: Instance<Bpg>,
    inputs: BpgIn,
    outputs: BpgOut,
    /// Clocks until every event shows at the outputs.
    clocks: u8,
    /// Number of times that each L was chosen, from L = 1 on.
    choices: [u64; LEVELS],
    loads: u64,
    failures: u64,
}

impl Generator {
    fn new(sm: u32, params: &BpgParams, probes: &Probes) -> Self {
        Generator {
            bpg: probes.instance(format!("sm{sm}.bpg"), params),
            inputs: BpgIn::default(),
            outputs: BpgOut { l_max_o: LEVELS as u8, ..BpgOut::default() },
            clocks: 0,
            choices: [0; LEVELS],
            loads: 0,
            failures: 0,
        }
    }

    /// Records that a load accesses or bypasses a line.
    fn access(&mut self, line: u64, number: u8) {
        debug_assert!(!self.inputs.access_i, "an SM decides one line transaction per cycle");
        self.inputs.access_i = true;
        self.inputs.line_i = line;
        self.inputs.warp_i = number.min(LAST_NUMBER);
        self.loads += 1;
        self.clocks = CLOCKS_OF_ACCESS;
    }

    fn failure(&mut self) {
        self.inputs.rsfail_i = true;
        self.failures += 1;
        self.clocks = self.clocks.max(1);
    }

    fn tick(&mut self, now: u64) -> Result<(), MechanismFault> {
        self.bpg.advance_to(now);
        let inputs = self.inputs;
        // The ports keep line and warp, so that the logic behind them does not switch.
        self.inputs = BpgIn { access_i: false, rsfail_i: false, ..inputs };
        self.outputs = self.bpg.step(&inputs).map_err(|divergence| divergence as MechanismFault)?;
        if self.outputs.update_o {
            self.choices[usize::from(self.outputs.l_max_o) - 1] += 1;
        }
        self.clocks -= 1;
        Ok(())
    }
}

/// Line address at the block's port. The block takes the set from its low bits.
#[derive(Clone, Copy, State)]
struct ShadowAddress {
    index: SetFunction,
    line_bytes: u64,
    l1d_sets: u64,
}

impl ShadowAddress {
    /// Returns the number of a line, with the low bits replaced by the set that the L1D uses. If the shadow tags have more sets
    /// than the L1D, the bits above belong to the tag in the L1D.
    fn of(&self, line: u64) -> u64 {
        let group = line / self.line_bytes / self.l1d_sets;
        group * self.l1d_sets + self.index.set(line) as u64
    }
}

/// MDB's state in an SM.
#[derive(State)]
struct Mdb {
    unit: LimitUnit,
    /// Min CTAs of a launch that is counted in CTAs, if all SMs use one L; 0 if each SM has its own L.
    least_ctas: u64,
    address: ShadowAddress,
    /// The BPG, if this SM has one.
    generator: Option<Generator>,
    /// Bit mask of the units that bypass: the output of this SM's BPG, or of SM 0's under MDB-global.
    bypass: Arc<AtomicU8>,
    /// `true` if the transaction at the load/store unit's head bypasses the L1D.
    head_passes: bool,
    /// Line transactions that bypassed the L1D.
    bypassed: u64,
}

impl SmPart for Mdb {
    fn tick(&mut self, now: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        if let Some(generator) = &mut self.generator {
            generator.tick(now)?;
            debug_assert!(
                generator.outputs.l_max_o < 8 || generator.outputs.bypass_o == 0,
                "L = 8: nobody bypasses"
            );
            self.bypass.store(generator.outputs.bypass_o, Ordering::Relaxed);
        }
        Ok(())
    }

    fn busy(&self) -> bool {
        self.generator.as_ref().is_some_and(|generator| generator.clocks > 0)
    }

    fn learned(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }

    /// The first choice of L is of accesses without a limit. The second one is of its effect.
    fn is_trained(&self) -> bool {
        self.generator.as_ref().is_none_or(|generator| generator.choices.iter().sum::<u64>() >= 2)
    }

    fn counters(&self, out: &mut MechanismCounters) {
        count(out, "bypassed_loads", self.bypassed);
        let Some(generator) = &self.generator else { return };
        count(out, "l_max_updates", generator.choices.iter().sum());
        CHOICES.into_iter().zip(generator.choices).for_each(|(name, times)| count(out, name, times));
        count(out, "watched_loads", generator.loads);
        count(out, "watched_reservation_failures", generator.failures);
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.generator.iter().filter_map(|generator| generator.bpg.trace()));
    }

    has!(bypass: Bypass, memory_observer: MemoryObserver);
}

impl Bypass for Mdb {
    fn bypasses(&mut self, _: u64, load: &Load) -> bool {
        let number = self.unit.number(load, self.least_ctas);
        if let Some(generator) = &mut self.generator {
            generator.access(self.address.of(load.line), number);
        }
        let bit = number.min(LEVELS as u8 - 1);
        self.head_passes = AtomicU8::load(&self.bypass, Ordering::Relaxed) >> bit & 1 == 1;
        self.bypassed += u64::from(self.head_passes);
        self.head_passes
    }
}

impl MemoryObserver for Mdb {
    fn memory_event(&mut self, _: u64, _: u8, event: MemoryEvent) {
        match (event, &mut self.generator) {
            (MemoryEvent::Request, _) => self.head_passes = false,
            (MemoryEvent::ReservationFailure, Some(generator)) if !self.head_passes => generator.failure(),
            _ => {}
        }
    }

    fn watches_failures(&self) -> bool {
        self.generator.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_gpu::mechanism::probe::ProbeSpec;
    use selvedge_hw::Engine;
    use selvedge_mechanism_testing::kernels::THRASHING;
    use selvedge_mechanism_testing::{run_small, run_workload};
    use selvedge_sim::run::RunOutcome;
    use selvedge_state::{Reader, Writer};

    fn load(line: u64, cta: u8) -> Load {
        Load { line: line * 128, cta, resident_ctas: 8, launch_ctas: 120, ..Load::default() }
    }

    /// The defaults.
    const OPTIONS: MdbOptions = MdbOptions { unit: LimitUnit::Auto, interval: 1000 };

    /// Returns MDB's state in two SMs.
    fn two_sms(is_local: bool, engine: Engine) -> Vec<Mdb> {
        let config =
            GpuConfig::parse("my.toml", "base = \"gtx480-dai\"\n[sm]\ncount = 2\n[l1d]\nindex = \"bmod\"\n")
                .expect("valid");
        let probes = Probes::new(ProbeSpec::default(), engine);
        (0..2).map(part_of(&OPTIONS, &config, &probes, is_local)).collect()
    }

    /// Sends `sm` 1000 loads of 8 CTAs. Each CTA accesses two lines of one sampled set in turn; the set has four ways.
    fn show_thrashing(sm: &mut Mdb) {
        let memory = DeviceMemory::new();
        for turn in 0..1000u64 {
            let (cta, visit) = (turn % 8, turn / 8);
            sm.bypasses(turn, &load((cta * 2 + visit % 2) * 32, cta as u8));
            sm.memory_event(turn, 0, MemoryEvent::Request);
            sm.tick(turn + 1, &memory).expect("model and RTL agree");
        }
        for clock in 0.. {
            if !sm.busy() {
                break;
            }
            sm.tick(1001 + clock, &memory).expect("model and RTL agree");
        }
    }

    /// Returns the CTAs, of 8, that bypass the L1D now.
    fn passing(sm: &mut Mdb) -> Vec<u8> {
        let memory = DeviceMemory::new();
        let ask = |cta: &u8| {
            let passes = sm.bypasses(2000, &load(0, *cta));
            sm.memory_event(2000, 0, MemoryEvent::Request);
            if sm.busy() {
                sm.tick(2001, &memory).expect("model and RTL agree");
            }
            passes
        };
        (0..8).filter(ask).collect()
    }

    #[test]
    fn the_ctas_that_do_not_find_room_together_pass_by() {
        let mut sms = two_sms(true, Engine::Lockstep);
        show_thrashing(&mut sms[0]);
        assert_eq!(passing(&mut sms[0]), [2, 3, 4, 5, 6, 7]);
        assert_eq!(passing(&mut sms[1]), [] as [u8; 0], "the other SM has a generator of its own");
    }

    #[test]
    fn the_global_generator_sees_one_sm_and_decides_for_all() {
        let mut sms = two_sms(false, Engine::Lockstep);
        show_thrashing(&mut sms[1]);
        assert_eq!(passing(&mut sms[0]), [] as [u8; 0], "SM 1 is not watched");
        let mut sms = two_sms(false, Engine::Lockstep);
        show_thrashing(&mut sms[0]);
        assert_eq!(passing(&mut sms[1]), [2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn a_part_is_trained_after_two_choices_and_teaches_them_to_another() {
        let sms = || two_sms(true, Engine::Model).into_iter().next().expect("SM 0");
        let mut teacher = sms();
        for _ in 0..2 {
            assert!(!teacher.is_trained());
            show_thrashing(&mut teacher);
        }
        assert!(teacher.is_trained());
        let mut state = Writer::default();
        teacher.learned().expect("it learns").save(&mut state);
        let mut learner = sms();
        let bytes = state.into_bytes();
        learner.learned().expect("it learns").load(&mut Reader::new(&bytes)).expect("the same part");
        assert!(learner.is_trained());
        let passing = [passing(&mut teacher), passing(&mut learner)];
        assert!(passing[0] == passing[1] && !passing[0].is_empty(), "{passing:?}");
    }

    #[test]
    fn a_wait_of_a_load_that_passes_by_is_no_reservation_failure() {
        let mut sms = two_sms(true, Engine::Model);
        show_thrashing(&mut sms[0]);
        let failures = |sm: &Mdb| {
            let mut counters = MechanismCounters::new();
            sm.counters(&mut counters);
            counters["watched_reservation_failures"]
        };
        for (cta, watched) in [(7, 0), (0, 1)] {
            sms[0].bypasses(3000, &load(0, cta));
            sms[0].memory_event(3000, 0, MemoryEvent::ReservationFailure);
            assert_eq!(failures(&sms[0]), watched, "CTA {cta}");
            sms[0].memory_event(3001, 0, MemoryEvent::Request);
            sms[0].tick(3002, &DeviceMemory::new()).expect("the model alone");
        }
    }

    #[test]
    fn a_unit_is_a_cta_or_the_warp_of_the_only_one() {
        let alone = Load { warp: 13, warp_of_cta: 5, cta: 3, resident_ctas: 1, ..Load::default() };
        let beside = Load { resident_ctas: 2, ..alone };
        assert_eq!((LimitUnit::Auto.number(&alone, 0), LimitUnit::Auto.number(&beside, 0)), (5, 3));
        assert_eq!((LimitUnit::Warps.number(&beside, 0), LimitUnit::Ctas.number(&alone, 0)), (13, 3));
    }

    /// Sixteen CTAs on fifteen SMs: SM 0 holds two, the others one.
    #[test]
    fn all_sms_that_follow_one_choice_count_the_same() {
        let two = Load { warp: 13, warp_of_cta: 5, cta: 1, resident_ctas: 2, ..Load::default() };
        let number = |launch_ctas| LimitUnit::Auto.number(&Load { launch_ctas, ..two }, 30);
        assert_eq!([number(16), number(30)], [13, 1], "warps as on the others; CTAs where all hold two");
        let one = Load { resident_ctas: 1, launch_ctas: 30, ..two };
        assert_eq!(LimitUnit::Auto.number(&one, 30), 5, "the last CTA");
    }

    /// Returns the configuration `gtx480` with these sets and ways of the L1D.
    fn with_l1d(sets: u32, ways: u32) -> GpuConfig {
        let text = format!("base = \"gtx480\"\n[l1d]\nsets = {sets}\nways = {ways}\n");
        GpuConfig::parse("my.toml", &text).expect("valid")
    }

    #[test]
    fn a_cache_that_the_shadow_tags_cannot_sample_is_refused() {
        let spec: selvedge_sim::mechanism::MechanismSpec = "mdb-global".parse().expect("valid");
        let line = spec.machine(&with_l1d(32, 5)).expect_err("five ways").to_string();
        let expected = "mechanism mdb-global: l1d.ways = 5 in 32 sets: must be 16 to 256 sets of 4 or 6 ways, \
                        or as many lines, which the shadow tags of the block can sample";
        assert_eq!(line, expected);
    }

    #[test]
    fn shadow_tags_have_the_geometry_of_the_l1d_or_as_many_lines() {
        let geometry = |sets, ways| shadow_geometry(&with_l1d(sets, ways).l1d);
        assert_eq!(
            [geometry(32, 4), geometry(32, 6), geometry(256, 4)],
            [Some((32, 4)), Some((32, 6)), Some((256, 4))]
        );
        assert_eq!(
            [geometry(4, 64), geometry(4, 256), geometry(64, 2)],
            [Some((64, 4)), Some((256, 4)), Some((32, 4))]
        );
        assert_eq!([geometry(8, 4), geometry(512, 4), geometry(32, 5)], [None; 3]);
    }

    #[test]
    fn the_block_sees_the_set_of_the_l1d_below_the_tag() {
        let l1d = with_l1d(4, 64).l1d;
        let address = ShadowAddress {
            index: SetFunction::new(l1d.index, l1d.sets, l1d.line_bytes),
            line_bytes: l1d.line_bytes.into(),
            l1d_sets: l1d.sets.into(),
        };
        for line in (0..1 << 20).step_by(128 * 37) {
            let seen = address.of(line);
            assert_eq!((seen % 4, seen / 4), (address.index.set(line) as u64, line / 512), "{line:#x}");
        }
    }

    fn counter(outcome: &RunOutcome, name: &str) -> u64 {
        outcome.report.mechanism_counters[name]
    }

    #[test]
    fn warps_that_thrash_are_served_faster_when_most_pass_by() {
        let base = run_small(&THRASHING, "gtx480-dai", "base");
        for mechanism in ["mdb-local", "mdb-global"] {
            let mdb = run_small(&THRASHING, "gtx480-dai", mechanism);
            let speedup = base.report.totals.cycles as f64 / mdb.report.totals.cycles as f64;
            assert!(speedup > 1.2, "{mechanism}: {speedup}");
            // MDB lets only some of the warps use the L1D. These hit there, and wait less for its resources.
            let below_all: u64 = CHOICES[..7].iter().map(|name| counter(&mdb, name)).sum();
            let counters = &mdb.report.mechanism_counters;
            assert!(below_all * 2 > counter(&mdb, "l_max_updates"), "{mechanism}: {counters:?}");
            assert!(counter(&mdb, "bypassed_loads") > 0);
            let (base, mdb) = (&base.report.totals.l1d, &mdb.report.totals.l1d);
            assert!(mdb.miss_rate < base.miss_rate, "{mechanism}: {} {}", mdb.miss_rate, base.miss_rate);
        }
    }

    #[test]
    fn without_contention_nothing_changes() {
        for workload in ["vecadd", "pathfinder"] {
            let base = run_workload(workload, "gtx480-dai", "base").report.totals.cycles as f64;
            for mechanism in ["mdb-local", "mdb-global"] {
                let mdb = run_workload(workload, "gtx480-dai", mechanism).report.totals.cycles as f64;
                assert!((mdb / base - 1.0).abs() < 0.01, "{workload} {mechanism}: {base} {mdb}");
            }
        }
    }

    #[test]
    fn units_from_the_eighth_on_share_one_choice() {
        // The second SM uses the first one's generator and has none.
        let mut sm = two_sms(false, Engine::Model).remove(1);
        sm.bypass.store(0x80, Ordering::Relaxed);
        let passes = [0, 6, 7, 8, 47].map(|cta| sm.bypasses(0, &load(0, cta)));
        assert_eq!(passes, [false, false, true, true, true]);
    }
}
