//! Stimulus of the AWB: slots that fill and empty, flushes, and sometimes an instruction that finds no free slot.
use super::model::AwbModel;
use super::params::AwbParams;
use super::rtl::{AwbIn, AwbOut};
use crate::draws::look;
use crate::widths::WARPS;
use selvedge_hw::block::{Clocked, Stimulus};
use selvedge_hw::prng::Prng;

/// Cycles between two resets on average.
const RESET_EVERY: u64 = 4000;

/// One kind of traffic. All fields are chances in percent per cycle.
#[derive(Clone, Copy, Debug)]
struct AwbLoad {
    stage: u64,
    high: u64,
    /// Chance that a scheduler pops an instruction; `low` is the chance of a pop from the low partition.
    issue: u64,
    low: u64,
    flush: u64,
    /// Chance that an instruction is staged although it has no room.
    rude: u64,
}

/// Balanced traffic, filling slots, few pops of low priority, many flushes, instructions without room.
const PHASES: [AwbLoad; 5] = [
    AwbLoad { stage: 80, high: 70, issue: 80, low: 60, flush: 0, rude: 0 },
    AwbLoad { stage: 95, high: 80, issue: 20, low: 10, flush: 1, rude: 0 },
    AwbLoad { stage: 70, high: 20, issue: 95, low: 5, flush: 0, rude: 0 },
    AwbLoad { stage: 90, high: 50, issue: 30, low: 30, flush: 30, rude: 0 },
    AwbLoad { stage: 90, high: 60, issue: 30, low: 30, flush: 5, rude: 30 },
];

/// Endless stimulus of the AWB. It steps a model to know which slots have room.
pub(super) fn awb(params: &AwbParams, seed: u64) -> impl Iterator<Item = Stimulus<AwbIn>> + use<> {
    let shift = 64 - params.instruction_bits;
    let mut prng = Prng::new(seed);
    let mut model = AwbModel::new(params);
    let mut seen = AwbOut::default();
    let mut started = false;
    let mut phase = PHASES[0];
    let (mut remaining, mut warps) = (0, WARPS as u64);
    std::iter::from_fn(move || {
        let reset = !started || prng.below(RESET_EVERY) == 0;
        started = true;
        if reset {
            model.reset();
            seen = AwbOut::default();
            return Some(Stimulus::reset());
        }
        if remaining == 0 {
            phase = PHASES[prng.below(PHASES.len() as u64) as usize];
            remaining = 100 + prng.below(300);
            // With few warps, slots fill and flushes hit more often.
            warps = if prng.chance(60) { 4 } else { WARPS as u64 };
        }
        remaining -= 1;
        let mut inputs = take(&mut prng, &phase, &seen);
        let (warp, high) = (prng.below(warps) as u8, prng.chance(phase.high));
        let room = if high { seen.high_room_o >> warp & 1 == 1 } else { seen.low_room_o };
        if prng.chance(phase.stage) && (room || prng.chance(phase.rude)) {
            inputs.stage_valid_i = true;
        }
        inputs.stage_warp_i = warp;
        inputs.stage_high_i = high;
        inputs.stage_last_i = prng.chance(20);
        inputs.stage_instruction_i = prng.bits() >> shift;
        inputs.stage_mask_i = prng.bits() as u32;
        inputs.stage_live_in_i = prng.bits() as u16;
        inputs.stage_live_out_i = prng.bits() as u16;
        if prng.chance(phase.flush) {
            let class = 1 + prng.below(3);
            inputs.flush_high_i = class & 1 != 0;
            inputs.flush_low_i = class & 2 != 0;
        }
        inputs.flush_warp_i = if prng.chance(30) { warp } else { prng.below(warps) as u8 };
        seen = model.step(&inputs);
        Some(Stimulus::step(inputs))
    })
}

/// Returns inputs with the indices and pops of the schedulers; the other inputs are zero.
fn take(prng: &mut Prng, phase: &AwbLoad, seen: &AwbOut) -> AwbIn {
    let (issue0_index_i, issue0_pop_i) = look(prng, phase.issue, seen.high_valid_o, 0);
    let (issue1_index_i, issue1_pop_i) = look(prng, phase.issue, seen.high_valid_o, 1);
    AwbIn {
        issue0_index_i,
        issue0_pop_i,
        issue1_index_i,
        issue1_pop_i,
        low_pop_i: prng.chance(phase.low),
        ..AwbIn::default()
    }
}
