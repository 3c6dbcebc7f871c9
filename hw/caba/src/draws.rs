//! Random inputs that the stimuli of several blocks share.
use crate::widths::WARPS;
use selvedge_hw::prng::Prng;

/// Returns a set of warps with room. Each warp is in the set with a chance of `percent` / 100.
pub(crate) fn room(prng: &mut Prng, percent: u64) -> u64 {
    (0..WARPS).fold(0, |set, warp| set | u64::from(prng.chance(percent)) << warp)
}

/// Returns the index that the scheduler of the even (0) or odd (1) warps looks at, and whether it takes the instruction. The
/// index is mostly that of a warp in `valid`. The scheduler takes the instruction with a chance of `percent` / 100.
pub(crate) fn look(prng: &mut Prng, percent: u64, valid: u64, parity: u8) -> (u8, bool) {
    let pairs = WARPS as u8 / 2;
    let start = prng.below(u64::from(pairs)) as u8;
    let found =
        (0..pairs).map(|step| (start + step) % pairs).find(|index| valid >> (2 * index + parity) & 1 == 1);
    (found.filter(|_| prng.chance(90)).unwrap_or(start), prng.chance(percent))
}
