//! Stimulus of the LATTE-CC controller: periods of different locality, EPs of different latencies and tolerance.
use super::decision::Mode;
use super::params::LatteControllerParams;
use super::rtl::LatteControllerIn;
use selvedge_hw::block::Stimulus;
use selvedge_hw::prng::Prng;

/// Locality of a period's accesses.
#[derive(Clone, Copy)]
struct Locality {
    /// Hits per hundred accesses to the dedicated sets of each mode.
    hits: [u64; 3],
    /// If set, all accesses go to the dedicated sets of this mode.
    focus: Option<Mode>,
}

impl Locality {
    fn draw(prng: &mut Prng) -> Self {
        let focus = (prng.below(3) == 0).then(|| Mode::ALL[prng.below(3) as usize]);
        // With a focus, all accesses hit or all miss, which drives the counters to their limits.
        let hits = if focus.is_some() {
            [100 * prng.below(2); 3]
        } else {
            let base = 10 + prng.below(70);
            [base, base + prng.below(8), base + prng.below(20)]
        };
        Locality { hits, focus }
    }
}

/// Traffic and latencies of an EP.
#[derive(Clone, Copy)]
struct PeriodStimulus {
    /// Accesses per hundred cycles; `schedule` is the ended schedules of each scheduler per hundred cycles.
    access: u64,
    schedule: u64,
    /// Exclusive upper bounds of the warps, and of the cycles of a schedule.
    warps: u64,
    cycles: u64,
    /// Minimum latencies of hits in the two compressed modes, and of misses.
    low: u64,
    high: u64,
    miss: u64,
}

impl PeriodStimulus {
    fn draw(prng: &mut Prng) -> Self {
        let mut one = |values: [u64; 4]| values[prng.below(4) as usize];
        PeriodStimulus {
            access: one([100, 100, 50, 15]),
            schedule: one([0, 10, 50, 100]),
            warps: one([2, 4, 12, 64]),
            cycles: one([2, 5, 20, 256]),
            low: one([2, 4, 12, 120]),
            high: one([14, 14, 40, 180]),
            miss: one([20, 150, 300, 1500]),
        }
    }
}

/// Endless stimulus of the controller. It counts accesses, so that locality changes with the period and timing with the EP.
pub(super) fn latte_controller(
    params: &LatteControllerParams,
    seed: u64,
) -> impl Iterator<Item = Stimulus<LatteControllerIn>> + use<> {
    let params = *params;
    let mut prng = Prng::new(seed);
    let (mut locality, mut timing) = (Locality::draw(&mut prng), PeriodStimulus::draw(&mut prng));
    let mut accesses = 0;
    let mut started = false;
    std::iter::from_fn(move || {
        let reset = !started || prng.below(20_000) == 0;
        started = true;
        if reset {
            accesses = 0;
            return Some(Stimulus::reset());
        }
        let inputs = draw(&mut prng, &params, &locality, &timing);
        accesses += u32::from(inputs.access_i);
        if inputs.access_i && accesses % params.ep_accesses == 0 {
            timing = PeriodStimulus::draw(&mut prng);
        }
        if accesses == params.ep_accesses * params.period_eps {
            locality = Locality::draw(&mut prng);
            accesses = 0;
        }
        Some(Stimulus::step(inputs))
    })
}

fn draw(
    prng: &mut Prng,
    params: &LatteControllerParams,
    locality: &Locality,
    timing: &PeriodStimulus,
) -> LatteControllerIn {
    let sets = u64::from(params.sets);
    let mut set = prng.below(sets) as u32;
    while locality.focus.is_some() && params.dedicated(set) != locality.focus {
        set = prng.below(sets) as u32;
    }
    let mode = params.dedicated(set).unwrap_or(Mode::None);
    let latency = |prng: &mut Prng, least: u64| least + prng.below(1 + least / 4);
    let schedulers = params.schedulers;
    let mut schedules = |bits: u32, bound: u64| {
        (0..schedulers).fold(0, |all, scheduler| all | prng.below(bound) << (bits * scheduler))
    };
    let (warps_i, cycles_i) = (schedules(6, timing.warps), schedules(8, timing.cycles));
    LatteControllerIn {
        access_i: prng.chance(timing.access),
        set_i: set as u8,
        hit_i: prng.chance(locality.hits[mode as usize]),
        insert_i: locality.focus.is_some() || prng.chance(80),
        schedule_i: (0..schedulers).fold(0, |all, s| all | u8::from(prng.chance(timing.schedule)) << s),
        warps_i,
        cycles_i,
        low_hit_i: prng.chance(20),
        low_latency_i: latency(prng, timing.low) as u8,
        high_hit_i: prng.chance(20),
        high_latency_i: latency(prng, timing.high) as u8,
        miss_return_i: prng.chance(20),
        miss_latency_i: if prng.chance(2) {
            prng.bits() as u16 & 0xfff
        } else {
            latency(prng, timing.miss) as u16
        },
        lookup_set_i: prng.below(sets) as u8,
    }
}
