//! Assist warps: short subroutines that an SM runs on behalf of its warps, in CABA to decompress and compress lines.
//!
//! Source: CABA, sections 4 and 5. Its hardware consists of three structures (section 4.3): the store, the controller with its
//! table, and the buffer. Here the table is a separate block. The controller contains the other three blocks, so that an SM
//! steps one instance.
//!
//! ```text
//!            event, warp, lanes                     SR.ID, Inst.ID            word
//!  [ SM ] --------------------> awc: [ map, awt ] -----------------> [ aws ] ------> [ awb ] --high--> beats the parent
//!     |        busy, idle            [ throttle ] <---------- room ----------------     |  +---low---> idle cycles
//!     +--------- kill ---------------------^------------------------ flush -------------^
//! ```
//!
//! | block | purpose |
//! |---|---|
//! | [`aws`] | the assist warp store: the instructions of the routines, loaded before a kernel starts |
//! | [`awt`] | the assist warp table: the active assist warps, deployed round-robin |
//! | [`awb`] | the assist warp buffer: deployed instructions until they issue |
//! | [`awc`] | the assist warp controller: trigger events, throttling, and the other three |
//!
//! Terms that all four blocks share: a *routine* is a subroutine in the store. *SR.ID* is the slot where it starts, *Inst.ID*
//! the number of its next instruction, and *SR.End* the number of its last instruction. A *high-priority* assist warp is needed
//! for correctness, and its parent waits for it (decompression of a load). A *low-priority* assist warp runs in idle cycles and
//! may be dropped (compression of a store).

pub mod awb;
pub mod awc;
pub mod aws;
pub mod awt;
#[cfg(test)]
mod deployment;
#[cfg(test)]
mod equivalence;

use selvedge_hw::BlockEntry;
use selvedge_hw::prng::Prng;
use selvedge_hw::registry::Entry;

/// Every block of this crate. A new block is a folder and a line here.
pub const BLOCKS: &[&dyn BlockEntry] =
    &[&Entry::<awb::Awb>::NEW, &Entry::<awc::Awc>::NEW, &Entry::<aws::Aws>::NEW, &Entry::<awt::Awt>::NEW];

/// Warps of an SM (CABA, table 1).
pub const WARPS: usize = 48;

/// Bits of the number of a warp.
pub const WARP_BITS: usize = 6;

/// Bits of an SR.ID: the store has 32 slots.
pub const SR_BITS: usize = 5;

/// Bits of an Inst.ID: a routine has up to 128 instructions.
pub const INST_BITS: usize = 7;

/// Lanes of a warp: an active mask has one bit per lane.
pub const MASK_BITS: usize = 32;

/// Bits of the live-in registers' IDs, and of the live-out registers' IDs: two IDs of 8 bits each.
pub const LIVE_BITS: usize = 16;

/// Returns a set of warps with room, for stimuli. Each warp is in the set with a chance of `percent` / 100.
fn room(prng: &mut Prng, percent: u64) -> u64 {
    (0..WARPS).fold(0, |set, warp| set | u64::from(prng.chance(percent)) << warp)
}

/// Returns the index that the scheduler of the even (0) or odd (1) warps looks at, and whether it takes the instruction. The
/// index is mostly that of a warp in `valid`. The scheduler takes the instruction with a chance of `percent` / 100. For
/// stimuli.
fn look(prng: &mut Prng, percent: u64, valid: u64, parity: u8) -> (u8, bool) {
    let pairs = WARPS as u8 / 2;
    let start = prng.below(u64::from(pairs)) as u8;
    let found =
        (0..pairs).map(|step| (start + step) % pairs).find(|index| valid >> (2 * index + parity) & 1 == 1);
    (found.filter(|_| prng.chance(90)).unwrap_or(start), prng.chance(percent))
}
