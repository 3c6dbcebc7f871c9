//! Stimulus of the BGP: phases of low and high locality that fill, swap and flip, with queries for what was evicted lately.
use super::{BgpIn, BgpOut, BgpParams};
use selvedge_hw::block::Stimulus;
use selvedge_hw::corners::{Corner, Corners};
use selvedge_hw::prng::Prng;

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

/// Answers of both kinds under both defaults, flips and swaps. An operation is a query or an eviction.
#[derive(Default)]
pub(super) struct BgpCorners {
    operations: u64,
    /// By default and by answer.
    answers: [[u64; 2]; 2],
    /// By the default that came.
    flips: [u64; 2],
    /// By the array that became active.
    swaps: [u64; 2],
    active: bool,
    /// Both were asked for.
    query_loses: u64,
}

impl Corners<BgpIn, BgpOut> for BgpCorners {
    fn reset(&mut self) {
        self.active = false;
    }
    fn clock(&mut self, inputs: &BgpIn, outputs: &BgpOut) {
        self.operations += u64::from(inputs.query_i || inputs.evict_i);
        self.query_loses += u64::from(inputs.query_i && inputs.evict_i);
        let default = usize::from(outputs.default_coarse_o);
        if outputs.valid_o {
            self.answers[default][usize::from(outputs.coarse_o)] += 1;
        }
        self.flips[default] += u64::from(outputs.flip_o);
        let swapped = outputs.active_o != self.active && !outputs.flip_o;
        self.swaps[usize::from(outputs.active_o)] += u64::from(swapped);
        self.active = outputs.active_o;
    }
    fn operations(&self) -> u64 {
        self.operations
    }
    fn seen(&self) -> Vec<Corner> {
        [
            ("default fine, reply fine", self.answers[0][0], 100),
            ("default fine, reply coarse", self.answers[0][1], 100),
            ("default coarse, reply fine", self.answers[1][0], 100),
            ("default coarse, reply coarse", self.answers[1][1], 100),
            ("default becomes fine", self.flips[0], 1),
            ("default becomes coarse", self.flips[1], 1),
            ("array 0 becomes active", self.swaps[0], 1),
            ("array 1 becomes active", self.swaps[1], 1),
            ("a query loses to an eviction", self.query_loses, 100),
        ]
        .map(|(name, times, demanded)| Corner { name, times, demanded })
        .to_vec()
    }
}
