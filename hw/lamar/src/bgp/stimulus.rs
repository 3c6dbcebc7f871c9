//! Stimulus of the BGP: phases of low and high locality that fill the filter, swap the arrays and flip the default. Queries ask
//! for recently evicted blocks.
use super::params::BgpParams;
use super::rtl::{BgpIn, BgpOut};
use selvedge_hw::block::Stimulus;
use selvedge_hw::corners::{Corner, Corners};
use selvedge_hw::prng::Prng;

/// Percentage of evicted blocks with low locality, phase by phase. The default stays fine under many insertions, becomes coarse,
/// stays coarse just below the skew limit, and becomes fine.
const LOW_LOCALITY: [u64; 4] = [40, 4, 65, 97];

/// Number of recently evicted addresses that queries choose from.
const RECENT: usize = 400;

/// The rest of a window with an exact number of insertions under a coarse default.
struct ExactWindow {
    evictions: u64,
    insertions: u64,
}

impl ExactWindow {
    /// Returns the windows that follow a reset, the last one first. The first one has the max number of insertions that keeps
    /// the default, the second one the min number that flips it.
    fn after_reset(params: &BgpParams) -> Vec<Self> {
        let limit = u64::from(params.skew_limit());
        let window = |insertions| ExactWindow { evictions: params.skew_window.into(), insertions };
        vec![window(limit + 1), window(limit)]
    }

    /// Returns whether the next eviction is an insertion.
    fn inserts(&mut self, prng: &mut Prng) -> bool {
        let inserts = prng.below(self.evictions) < self.insertions;
        self.evictions -= 1;
        self.insertions -= u64::from(inserts);
        inserts
    }
}

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
    let mut exact = Vec::new();
    std::iter::from_fn(move || {
        let reset = !started || prng.below(8000) == 0;
        started = true;
        if reset {
            // After the reset the default is coarse again, so that the phases start over.
            phases = LOW_LOCALITY.iter().copied().cycle();
            remaining = 0;
            exact = ExactWindow::after_reset(&params);
            return Some(Stimulus::reset());
        }
        if remaining == 0 {
            low_locality = phases.next().expect("the phases come round");
            remaining = 1500 + prng.below(1000);
        }
        exact.pop_if(|window| window.evictions == 0);
        remaining -= u64::from(exact.is_empty());
        let fresh = if prng.chance(50) { prng.bits() } else { prng.below(1 << 14) } as u32;
        let (query_i, evict_i) = (prng.chance(50), prng.chance(70));
        let is_low = match exact.last_mut() {
            Some(window) if evict_i => window.inserts(&mut prng),
            _ => prng.chance(low_locality),
        };
        let used_i = used(&mut prng, &params, is_low);
        let mut inputs = BgpIn { query_i, evict_i, address_i: fresh, used_i };
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
fn used(prng: &mut Prng, params: &BgpParams, is_low: bool) -> u8 {
    let threshold = u64::from(params.fg_threshold);
    let sectors = u64::from(params.sectors);
    let count = if is_low {
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
    params: BgpParams,
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
    /// Evictions and insertions of the current window.
    window: (u32, u32),
    /// `true` once a window has ended since the last reset.
    has_window: bool,
    first_at_limit: u64,
    above_limit: u64,
}

impl BgpCorners {
    pub(super) fn new(params: &BgpParams) -> Self {
        BgpCorners { params: *params, ..Self::default() }
    }

    /// Counts an eviction in its window.
    fn evict(&mut self, inputs: &BgpIn, outputs: &BgpOut) {
        let is_low = inputs.used_i.count_ones() < self.params.fg_threshold;
        let (evictions, insertions) = &mut self.window;
        *evictions += 1;
        *insertions += u32::from(is_low == outputs.default_coarse_o);
        if *evictions == self.params.skew_window {
            let limit = self.params.skew_limit();
            self.first_at_limit += u64::from(!self.has_window && *insertions == limit);
            self.above_limit += u64::from(*insertions == limit + 1);
            (self.window, self.has_window) = ((0, 0), true);
        }
    }
}

impl Corners<BgpIn, BgpOut> for BgpCorners {
    fn reset(&mut self) {
        (self.active, self.has_window, self.window) = (false, false, (0, 0));
    }
    fn clock(&mut self, inputs: &BgpIn, outputs: &BgpOut) {
        self.operations += u64::from(inputs.query_i || inputs.evict_i);
        self.query_loses += u64::from(inputs.query_i && inputs.evict_i);
        if inputs.evict_i {
            self.evict(inputs, outputs);
        }
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
            ("first window at the limit of skew", self.first_at_limit, 1),
            ("window one above the limit of skew", self.above_limit, 1),
        ]
        .map(|(name, times, demanded)| Corner { name, times, demanded })
        .to_vec()
    }
}
