//! Stimulus of the BGP: phases of low and high locality that fill, swap and flip, with queries for what was evicted lately.
use super::{BgpIn, BgpParams};
use crate::block::Stimulus;
use crate::prng::Prng;

/// Of a hundred evicted blocks, how many have low locality, phase by phase: the default becomes fine and stays so under many
/// insertions, then becomes coarse and stays so under as many as the skew allows.
const LOW_LOCALITY: [u64; 4] = [97, 40, 4, 65];

/// Addresses that are remembered for queries.
const RECENT: usize = 400;

/// The BGP's stimulus, endless.
pub(super) fn bgp(params: &BgpParams, seed: u64) -> impl Iterator<Item = Stimulus<BgpIn>> + use<> {
    let params = *params;
    let mut prng = Prng::new(seed);
    let mut recent = [0u32; RECENT];
    let mut oldest = 0;
    let mut phases = LOW_LOCALITY.iter().copied().cycle();
    let mut low_locality = 0;
    let mut remaining = 0u64;
    let mut started = false;
    std::iter::from_fn(move || {
        let reset = !started || prng.below(8000) == 0;
        started = true;
        if reset {
            // The default is coarse again: the phases start over with it.
            phases = LOW_LOCALITY.iter().copied().cycle();
            remaining = 0;
            return Some(Stimulus::reset());
        }
        if remaining == 0 {
            low_locality = phases.next().expect("the phases come round");
            remaining = 1500 + prng.below(1000);
        }
        remaining -= 1;
        let fresh = if prng.chance(50) { prng.bits() } else { prng.below(1 << 14) } as u32;
        let mut inputs = BgpIn {
            query_i: prng.chance(50),
            evict_i: prng.chance(70),
            address_i: fresh,
            used_i: used(&mut prng, &params, low_locality),
        };
        if inputs.evict_i {
            recent[oldest] = inputs.address_i;
            oldest = (oldest + 1) % RECENT;
        } else if prng.chance(60) {
            inputs.address_i = recent[prng.below(RECENT as u64) as usize];
        }
        Some(Stimulus::step(inputs))
    })
}

/// Used sectors: often just below and just at the threshold.
fn used(prng: &mut Prng, params: &BgpParams, low_locality: u64) -> u8 {
    let threshold = u64::from(params.fg_threshold);
    let sectors = u64::from(params.sectors);
    let count = if prng.chance(low_locality) {
        if prng.chance(70) { threshold - 1 } else { prng.below(threshold) }
    } else if prng.chance(70) {
        threshold
    } else {
        threshold + prng.below(sectors - threshold + 1)
    };
    let (mut mask, mut left) = (0u8, count);
    while left > 0 {
        let sector = 1 << prng.below(sectors);
        left -= u64::from(mask & sector == 0);
        mask |= sector;
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bgp::BgpModel;
    use crate::block::Clocked;

    #[test]
    fn both_defaults_answer_both_ways_and_the_arrays_take_turns_within_20_000_cycles() {
        let params = BgpParams::default();
        let mut model = BgpModel::new(&params);
        let (mut answers, mut flips, mut swaps) = ([[0u32; 2]; 2], [0u32; 2], [0u32; 2]);
        let mut active = false;
        for clock in bgp(&params, 1).take(20_000) {
            if clock.reset {
                model.reset();
                active = false;
                continue;
            }
            let outputs = model.step(&clock.inputs);
            let default = usize::from(outputs.default_coarse_o);
            if outputs.valid_o {
                answers[default][usize::from(outputs.coarse_o)] += 1;
            }
            flips[default] += u32::from(outputs.flip_o);
            swaps[usize::from(outputs.active_o)] += u32::from(outputs.active_o != active && !outputs.flip_o);
            active = outputs.active_o;
        }
        assert!(answers.iter().flatten().all(|times| *times > 100), "answers {answers:?}");
        assert!(flips.iter().chain(&swaps).all(|times| *times > 0), "flips {flips:?}, swaps {swaps:?}");
    }
}
