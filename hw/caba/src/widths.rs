//! Widths that the assist-warp blocks share, and the number of warps.

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
