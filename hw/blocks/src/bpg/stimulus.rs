//! Stimulus of the BPG: phases in which some warps share lines that fit and the others stream, calm or with many failures.
use super::{BpgIn, BpgParams, LEVELS, SETS, sampled};
use selvedge_hw::block::Stimulus;
use selvedge_hw::prng::Prng;

/// Accesses and reservation failures per hundred cycles; the last one drives the failure counter to its end.
const PRESSURE: [(u64, u64); 5] = [(95, 0), (90, 3), (95, 0), (85, 60), (25, 95)];

/// One kind of traffic.
struct Phase {
    accesses_left: u64,
    /// Warps below this share the lines; the others stream.
    sharing: u64,
    /// The tags of the lines that are shared in every set: as many as there are ways, or fewer.
    shared: [u64; 4],
    tags: u64,
    /// Warps that make accesses.
    warps: u64,
    /// All accesses go to sampled sets: hits pile up.
    sampled_only: bool,
    pressure: (u64, u64),
}

impl Phase {
    fn new(prng: &mut Prng, params: &BpgParams, number: u64) -> Self {
        let pressure = PRESSURE[prng.below(PRESSURE.len() as u64) as usize];
        Phase {
            // Long enough for what was counted before to fade.
            accesses_left: 2 * u64::from(params.interval) + prng.below(500),
            sharing: number % (LEVELS as u64 + 1),
            shared: std::array::from_fn(|_| prng.bits()),
            tags: 2 + prng.below(3),
            warps: if prng.chance(75) { LEVELS as u64 } else { 48 },
            sampled_only: prng.chance(25),
            pressure,
        }
    }

    /// An access: the line and the warp.
    fn access(&self, prng: &mut Prng) -> (u64, u8) {
        let warp = prng.below(self.warps);
        let mut set = prng.below(SETS as u64);
        while self.sampled_only && sampled(set as usize).is_none() {
            set = prng.below(SETS as u64);
        }
        let tag = if warp < self.sharing {
            self.shared[prng.below(self.tags) as usize]
        } else if prng.chance(50) {
            prng.below(64)
        } else {
            prng.bits()
        };
        (tag.wrapping_mul(SETS as u64) | set, warp as u8)
    }
}

/// The BPG's stimulus, endless.
pub(super) fn bpg(params: &BpgParams, seed: u64) -> impl Iterator<Item = Stimulus<BpgIn>> + use<> {
    let params = *params;
    let line_mask = (1 << params.line_bits()) - 1;
    let mut prng = Prng::new(seed);
    let mut number = prng.below(LEVELS as u64);
    let mut phase = Phase::new(&mut prng, &params, number);
    let mut started = false;
    std::iter::from_fn(move || {
        if !started || prng.below(20_000) == 0 {
            started = true;
            return Some(Stimulus::reset());
        }
        if phase.accesses_left == 0 {
            number += 1;
            phase = Phase::new(&mut prng, &params, number);
        }
        let access_i = prng.chance(phase.pressure.0);
        phase.accesses_left -= u64::from(access_i);
        let (line, warp_i) = phase.access(&mut prng);
        let rsfail_i = prng.chance(phase.pressure.1);
        Some(Stimulus::step(BpgIn { access_i, line_i: line & line_mask, warp_i, rsfail_i }))
    })
}
