//! Parameters and constants of the AWC.
use crate::awb::AwbParams;
use crate::aws::AwsParams;
use crate::awt::AwtParams;
use crate::widths::{INST_BITS, SR_BITS};
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

/// Bits of a trigger event.
pub const EVENT_BITS: usize = 5;

/// Classes of functional units.
pub const UNITS: usize = 3;

/// Bits of the counter of cycles in a window.
pub(super) const WINDOW_BITS: usize = 7;

/// Cycles of a window, over which utilization is counted.
pub const WINDOW: u32 = 1 << WINDOW_BITS;

/// Bits of a counter that can reach all cycles of a window.
pub(super) const COUNT_BITS: usize = WINDOW_BITS + 1;

/// Bits of a word of the map: priority, SR.ID, SR.End.
pub(super) const ROUTE_BITS: usize = 1 + SR_BITS + INST_BITS;

/// Bits of an instruction.
pub(super) const WORD_BITS: usize = 64;

/// Bits of an address in the store.
pub(super) const STORE_ADDRESS_BITS: usize = 9;

/// Bits of an address within a slot of the store.
pub(super) const SLOT_BITS: usize = STORE_ADDRESS_BITS - SR_BITS;

pub(super) const STORE: AwsParams =
    AwsParams { instructions: 1 << STORE_ADDRESS_BITS, instruction_bits: WORD_BITS as u32 };

pub(super) const BUFFER: AwbParams = AwbParams { instruction_bits: WORD_BITS as u32 };

block_params! {
    /// Parameters of an AWC.
    pub struct AwcParams {
        /// Active assist warps at the same time.
        entries: u32 = 48, Allowed::OneOf(&[8, 48]);
        /// Busy cycles of a class of units, out of 128, above which low priority is throttled.
        busy_limit: u32 = 96, Allowed::OneOf(&[64, 96, 128]);
        /// Idle cycles, out of 128, below which low priority is throttled.
        idle_limit: u32 = 8, Allowed::OneOf(&[0, 8]);
    }
}

impl AwcParams {
    /// Returns the parameters of the table.
    pub const fn table(&self) -> AwtParams {
        AwtParams { entries: self.entries }
    }
}
