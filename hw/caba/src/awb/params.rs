//! Parameters and constants of the AWB.
use crate::widths::{LIVE_BITS, MASK_BITS, WARP_BITS};
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

/// Bits of a warp's number without its lowest bit.
pub(crate) const PAIR_BITS: usize = WARP_BITS - 1;

/// Bits that are stored with an instruction: lanes, live-in and live-out registers, last flag.
pub(super) const CONTEXT_BITS: usize = MASK_BITS + 2 * LIVE_BITS + 1;

block_params! {
    /// Parameters of an AWB.
    pub struct AwbParams {
        /// Bits of an instruction.
        instruction_bits: u32 = 64, Allowed::OneOf(&[32, 64]);
    }
}
