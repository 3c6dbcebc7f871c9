//! Stimulus of the BPG: phases in which some warps share lines that fit and the others stream, with few or many failures.
use super::params::{BpgParams, LEVELS};
use super::rtl::BpgIn;
use selvedge_hw::block::Stimulus;
use selvedge_hw::prng::Prng;

/// Accesses and reservation failures per hundred cycles. The last entry drives the failure counter to saturation.
const PRESSURE: [(u64, u64); 5] = [(95, 0), (90, 3), (95, 0), (85, 60), (25, 95)];

struct BpgLoad {
    params: BpgParams,
    accesses_left: u64,
    /// Warps below this number share lines; the others stream.
    sharing: u64,
    /// Tags of the shared lines of every set. The phase uses the first `tags` of them, at most one per way.
    shared: Vec<u64>,
    tags: u64,
    /// Number of warps that make accesses.
    warps: u64,
    /// `true` if all accesses go to sampled sets, so that hits accumulate.
    sampled_only: bool,
    /// `true` if no access hits, because no tag repeats.
    strangers: bool,
    pressure: (u64, u64),
}

impl BpgLoad {
    fn new(prng: &mut Prng, params: &BpgParams, number: u64) -> Self {
        let pressure = PRESSURE[prng.below(PRESSURE.len() as u64) as usize];
        BpgLoad {
            params: *params,
            // Long enough for earlier counts to fade.
            accesses_left: 2 * u64::from(params.interval) + prng.below(500),
            sharing: number % (LEVELS as u64 + 1),
            shared: (0..params.ways).map(|_| prng.bits()).collect(),
            tags: 2 + prng.below(u64::from(params.ways) - 1),
            warps: if prng.chance(75) { LEVELS as u64 } else { 48 },
            sampled_only: prng.chance(25),
            strangers: false,
            pressure,
        }
    }

    /// Returns the first phase after reset. With a chance of one half, it has no hits but many reservation failures.
    fn first(prng: &mut Prng, params: &BpgParams, number: u64) -> Self {
        let phase = BpgLoad::new(prng, params, number);
        let strangers = prng.chance(50);
        let pressure = if strangers { PRESSURE[3] } else { phase.pressure };
        BpgLoad { strangers, pressure, ..phase }
    }

    /// Returns the line and the warp of an access.
    fn access(&self, prng: &mut Prng) -> (u64, u8) {
        let warp = prng.below(self.warps);
        let sets = u64::from(self.params.sets);
        let mut set = prng.below(sets);
        while self.sampled_only && self.params.sampled(set).is_none() {
            set = prng.below(sets);
        }
        let tag = if self.strangers {
            prng.bits()
        } else if warp < self.sharing {
            self.shared[prng.below(self.tags) as usize]
        } else if prng.chance(50) {
            prng.below(64)
        } else {
            prng.bits()
        };
        (tag.wrapping_mul(sets) | set, warp as u8)
    }
}

/// Returns the endless stimulus of the BPG.
pub(super) fn bpg(params: &BpgParams, seed: u64) -> impl Iterator<Item = Stimulus<BpgIn>> + use<> {
    let params = *params;
    let line_mask = (1 << params.line_bits()) - 1;
    let mut prng = Prng::new(seed);
    let mut number = prng.below(LEVELS as u64);
    let mut phase = BpgLoad::first(&mut prng, &params, number);
    let mut started = false;
    std::iter::from_fn(move || {
        if !started || prng.below(20_000) == 0 {
            started = true;
            phase = BpgLoad::first(&mut prng, &params, number);
            return Some(Stimulus::reset());
        }
        if phase.accesses_left == 0 {
            number += 1;
            phase = BpgLoad::new(&mut prng, &params, number);
        }
        let access_i = prng.chance(phase.pressure.0);
        phase.accesses_left -= u64::from(access_i);
        let (line, warp_i) = phase.access(&mut prng);
        let rsfail_i = prng.chance(phase.pressure.1);
        Some(Stimulus::step(BpgIn { access_i, line_i: line & line_mask, warp_i, rsfail_i }))
    })
}
