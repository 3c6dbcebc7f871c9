//! Assist warps: short subroutines that an SM runs on behalf of its warps, in CABA to decompress and compress lines.
//!
//! Source: CABA, sections 4 and 5. Its hardware is three structures (section 4.3): store, controller with table, and buffer. The
//! table is a block by itself here, and the controller contains all of them, because an SM steps one instance.
//!
//! ```text
//!            event, warp, lanes                     SR.ID, Inst.ID            word
//!  [ SM ] --------------------> awc: [ map, awt ] -----------------> [ aws ] ------> [ awb ] --high--> beats the parent
//!     |        busy, idle            [ throttle ] <---------- room ----------------     |  +---low---> idle cycles
//!     +--------- kill ---------------------^------------------------ flush -------------^
//! ```
//!
//! | block | what |
//! |---|---|
//! | [`aws`] | the assist warp store: the instructions of the routines, loaded before a kernel starts |
//! | [`awt`] | the assist warp table: the active assist warps, deployed in turn |
//! | [`awb`] | the assist warp buffer: deployed instructions until they issue |
//! | [`awc`] | the assist warp controller: trigger events, throttling, and the other three |
//!
//! Words that all of them share: a *routine* is a subroutine in the store; *SR.ID* says where it starts, *Inst.ID* which
//! of its instructions is next, *SR.End* which is the last. A *high-priority* assist warp is needed for correctness and
//! blocks what waits for it (decompression of a load); a *low-priority* one runs in idle cycles and may be given up
//! (compression of a store).

pub mod awb;
pub mod awc;
pub mod aws;
pub mod awt;

use selvedge_hw::prng::Prng;

/// Warps of an SM (CABA, table 1).
pub const WARPS: usize = 48;

/// Bits of the number of a warp.
pub const WARP_BITS: usize = 6;

/// Bits of an SR.ID: the store has 32 slots.
pub const SR_BITS: usize = 5;

/// Bits of an Inst.ID: a routine has up to 128 instructions.
pub const INST_BITS: usize = 7;

/// Lanes of a warp, a bit each in an active mask.
pub const MASK_BITS: usize = 32;

/// Bits of the live-in registers' IDs, and of the live-outs': two of 8 bits each.
pub const LIVE_BITS: usize = 16;

/// Warps with room, each with a chance of `percent` / 100: for stimuli.
fn room(prng: &mut Prng, percent: u64) -> u64 {
    (0..WARPS).fold(0, |set, warp| set | u64::from(prng.chance(percent)) << warp)
}

/// For stimuli: the index that the scheduler of the even (0) or odd (1) warps looks at, mostly one of a warp in `valid`,
/// and whether it takes the instruction, with a chance of `percent` / 100.
fn look(prng: &mut Prng, percent: u64, valid: u64, parity: u8) -> (u8, bool) {
    let pairs = WARPS as u8 / 2;
    let start = prng.below(u64::from(pairs)) as u8;
    let found =
        (0..pairs).map(|step| (start + step) % pairs).find(|index| valid >> (2 * index + parity) & 1 == 1);
    (found.filter(|_| prng.chance(90)).unwrap_or(start), prng.chance(percent))
}
