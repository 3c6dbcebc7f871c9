//! Stimulus of the BGP: phases of low and high locality that fill the filter, swap the arrays and flip the default. Queries ask
//! for recently evicted blocks.
use super::params::BgpParams;
use super::rtl::{BgpIn, BgpOut};
use selvedge_hw::block::Stimulus;
use selvedge_hw::corners::{Corner, Corners};
use selvedge_hw::prng::Prng;

/// Percentage of evicted blocks with low locality, phase by phase. The default becomes fine, stays fine under many insertions,
/// becomes coarse, and stays coarse just below the skew limit.
const LOW_LOCALITY: [u64; 4] = [97, 40, 4, 65];

/// Number of recently evicted addresses that queries choose from.
const RECENT: usize = 400;

/// Returns the endless stimulus of the BGP.
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
            // After the reset the default is coarse again, so that the phases start over.
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

/// Returns the used sectors of an evicted block: often one below the threshold or exactly at it.
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

/// Corners of the BGP: replies of both kinds under both defaults, flips and swaps. An operation is a query or an eviction.
#[derive(Default)]
pub(super) struct BgpCorners {
    operations: u64,
    /// Replies, indexed by default and reply.
    answers: [[u64; 2]; 2],
    /// Flips, indexed by the new default.
    flips: [u64; 2],
    /// Swaps, indexed by the newly active array.
    swaps: [u64; 2],
    active: bool,
    /// Cycles with both a query and an eviction.
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
