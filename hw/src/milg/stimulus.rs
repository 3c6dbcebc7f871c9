//! Stimulus of the MILG: phases of calm, contention and overflow that drive every counter to its ends.
use super::{MilgIn, MilgParams};
use crate::block::Stimulus;
use crate::prng::Prng;

/// Issues and completions per hundred cycles (each of 1 to 3 instructions): balanced, filling up, draining, crowded.
const OCCUPANCY: [(u64, u64); 4] = [(40, 40), (60, 30), (30, 60), (90, 80)];

/// Requests and reservation failures per hundred cycles: calm, one failure per request, two, more than the counter holds.
const CONTENTION: [(u64, u64); 4] = [(80, 2), (45, 60), (30, 75), (18, 95)];

/// Cycles of one kind of contention: long enough for one interval of the rarest requests from beginning to end.
const CONTENTION_CYCLES: u64 = 12_000;

/// The MILG's stimulus, endless. It does not heed `may_issue_o`: the counters must hold their ends by themselves.
pub(super) fn milg(_params: &MilgParams, seed: u64) -> impl Iterator<Item = Stimulus<MilgIn>> + use<> {
    let mut prng = Prng::new(seed);
    let mut occupancy = OCCUPANCY[0];
    let mut remaining = 0u64;
    let mut cycle = 0u64;
    std::iter::from_fn(move || {
        let reset = cycle == 0 || prng.below(30_000) == 0;
        let contention = CONTENTION[(cycle / CONTENTION_CYCLES) as usize % CONTENTION.len()];
        cycle += 1;
        if reset {
            return Some(Stimulus::reset());
        }
        if remaining == 0 {
            occupancy = OCCUPANCY[prng.below(OCCUPANCY.len() as u64) as usize];
            remaining = 100 + prng.below(1000);
        }
        remaining -= 1;
        let mut count = |percent| if prng.chance(percent) { 1 + prng.below(3) as u8 } else { 0 };
        let (issued_i, completed_i) = (count(occupancy.0), count(occupancy.1));
        let (request_i, rsfail_i) = (prng.chance(contention.0), prng.chance(contention.1));
        Some(Stimulus::step(MilgIn { issued_i, completed_i, request_i, rsfail_i }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Clocked;
    use crate::milg::MilgModel;
    use std::collections::BTreeSet;

    #[test]
    fn the_counters_reach_their_ends_within_50_000_cycles() {
        let params = MilgParams::default();
        let mut model = MilgModel::new(&params);
        let (mut full, mut empty, mut divided) = (false, false, BTreeSet::new());
        for clock in milg(&params, 1).take(50_000) {
            if clock.reset {
                model.reset();
                continue;
            }
            let outputs = model.step(&clock.inputs);
            full |= outputs.inflight_o == params.no_limit();
            empty |= outputs.inflight_o == 0 && clock.inputs.completed_i > clock.inputs.issued_i;
            if outputs.update_o {
                divided.insert(outputs.limit_o);
            }
        }
        assert!(full && empty, "in-flight counter: full {full}, completed below zero {empty}");
        // No limit; the full counter divided by two and by three, the latter only if failures saturate or come close.
        for limit in [127, 63, 42] {
            assert!(divided.contains(&limit), "{limit} not among {divided:?}");
        }
    }
}
