//! Stimulus of the AWC: the whole store is loaded before an event is in the map; then calm and busy windows, a map that changes, and triggers that fill the table and are killed.
use super::model::AwcModel;
use super::params::{AwcParams, EVENT_BITS, STORE, UNITS};
use super::rtl::AwcIn;
use crate::draws::look;
use crate::widths::{INST_BITS, SR_BITS, WARPS};
use selvedge_hw::block::{Clocked, Stimulus};
use selvedge_hw::prng::Prng;

/// Cycles between two resets on average.
const RESET_EVERY: u64 = 8000;

/// Cycles after a reset in which map and store are written most of the time.
const LOADING: u64 = 60;

/// One kind of traffic. All fields are chances in percent per cycle.
#[derive(Clone, Copy, Debug)]
struct AwcLoad {
    trigger: u64,
    /// Chance that a scheduler pops an instruction; `low` is the chance of a pop from the low partition.
    issue: u64,
    low: u64,
    kill: u64,
    /// Chance that a class of units is busy; `idle` is the chance of an idle cycle.
    busy: u64,
    idle: u64,
}

/// Calm, calm with kills, busy units, hardly any idle cycles, near both limits, draining.
const PHASES: [AwcLoad; 6] = [
    AwcLoad { trigger: 15, issue: 90, low: 80, kill: 0, busy: 30, idle: 40 },
    AwcLoad { trigger: 60, issue: 70, low: 70, kill: 30, busy: 40, idle: 30 },
    AwcLoad { trigger: 40, issue: 40, low: 90, kill: 1, busy: 95, idle: 30 },
    AwcLoad { trigger: 40, issue: 90, low: 50, kill: 0, busy: 30, idle: 1 },
    AwcLoad { trigger: 50, issue: 60, low: 60, kill: 8, busy: 72, idle: 7 },
    AwcLoad { trigger: 1, issue: 95, low: 95, kill: 0, busy: 10, idle: 80 },
];

/// Endless stimulus of the AWC. It steps a model to know which warps have instructions.
pub(super) fn awc(params: &AwcParams, seed: u64) -> impl Iterator<Item = Stimulus<AwcIn>> + use<> {
    let mut prng = Prng::new(seed);
    let mut model = AwcModel::new(params);
    let mut high_valid = 0;
    let (mut cycle, mut phase, mut remaining, mut warps) = (0, PHASES[0], 0, WARPS as u64);
    let mut trigger = AwcIn::default();
    let mut preloaded = 0;
    std::iter::from_fn(move || {
        if cycle == 0 || prng.below(RESET_EVERY) == 0 {
            cycle = 1;
            trigger = AwcIn::default();
            model.reset();
            high_valid = 0;
            return Some(Stimulus::reset());
        }
        cycle += 1;
        if remaining == 0 {
            phase = PHASES[prng.below(PHASES.len() as u64) as usize];
            // Several windows, so that the throttle can react.
            remaining = 300 + prng.below(600);
            warps = if prng.chance(50) { 4 } else { WARPS as u64 };
        }
        remaining -= 1;
        if !trigger.trigger_valid_i || prng.chance(40) {
            trigger = new_trigger(&mut prng, phase.trigger, warps);
        }
        let preloads = preloaded < STORE.instructions;
        if preloads {
            // The map is loaded after the store.
            cycle = 1;
        }
        let writes = if cycle < LOADING { 90 } else { 3 };
        let map_write_i = prng.chance(writes) && !preloads;
        let kill = prng.chance(phase.kill);
        let class = 1 + prng.below(3);
        let longest = if prng.chance(80) { 8 } else { 1 << INST_BITS };
        let mut inputs = AwcIn {
            map_write_i,
            map_event_i: prng.below(1 << EVENT_BITS) as u8,
            map_enable_i: prng.chance(85),
            map_high_i: prng.chance(50),
            map_sr_i: prng.below(1 << SR_BITS) as u8,
            map_end_i: prng.below(longest) as u8,
            kill_high_i: kill && class & 1 != 0,
            kill_low_i: kill && class & 2 != 0,
            kill_warp_i: prng.below(warps) as u8,
            idle_i: prng.chance(phase.idle),
            low_pop_i: prng.chance(phase.low),
            load_i: prng.chance(writes) || preloads,
            load_address_i: prng.below(u64::from(STORE.instructions)) as u16,
            load_data_i: prng.bits(),
            ..trigger
        };
        if preloads {
            inputs.load_address_i = preloaded as u16;
            preloaded += 1;
        }
        (inputs.issue0_index_i, inputs.issue0_pop_i) = look(&mut prng, phase.issue, high_valid, 0);
        (inputs.issue1_index_i, inputs.issue1_pop_i) = look(&mut prng, phase.issue, high_valid, 1);
        for unit in 0..UNITS {
            inputs.busy_i |= u8::from(prng.chance(phase.busy)) << unit;
        }
        if map_write_i && prng.chance(30) {
            inputs.map_event_i = trigger.trigger_event_i;
        }
        high_valid = model.step(&inputs).high_valid_o;
        Some(Stimulus::step(inputs))
    })
}

/// Returns inputs that are a trigger of one of the first `warps` warps, with a chance of `percent` / 100.
fn new_trigger(prng: &mut Prng, percent: u64, warps: u64) -> AwcIn {
    AwcIn {
        trigger_valid_i: prng.chance(percent),
        trigger_event_i: prng.below(1 << EVENT_BITS) as u8,
        trigger_warp_i: prng.below(warps) as u8,
        trigger_mask_i: prng.bits() as u32,
        trigger_live_in_i: prng.bits() as u16,
        trigger_live_out_i: prng.bits() as u16,
        ..AwcIn::default()
    }
}
