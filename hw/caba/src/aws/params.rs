//! Parameters of the AWS.
use crate::widths::SR_BITS;
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

block_params! {
    /// Parameters of an AWS.
    pub struct AwsParams {
        /// Words of the store, divided equally among its 32 slots.
        instructions: u32 = 512, Allowed::OneOf(&[512, 1024]);
        /// Bits of an instruction.
        instruction_bits: u32 = 64, Allowed::OneOf(&[32, 64]);
    }
}

impl AwsParams {
    /// Returns the bits of a word's address.
    pub const fn address_bits(&self) -> u32 {
        self.instructions.ilog2()
    }

    /// Returns the words of a slot: the distance between the starts of two routines with adjacent SR.IDs.
    pub fn slot(&self) -> u32 {
        self.instructions >> SR_BITS
    }

    /// Returns the address of a routine's instruction. After the last word the address wraps to 0.
    pub fn address(&self, sr: u8, inst: u8) -> u16 {
        ((u32::from(sr) * self.slot() + u32::from(inst)) & (self.instructions - 1)) as u16
    }
}
