//! The decompressor's top as a block of the contract: its ports by type, and the widths for each choice of parameters.

use super::ScDecompressorTop;
use crate::sc::decompressor::{DecompressorIn, DecompressorOut, DecompressorParams};
use selvedge_hw::block::RtlBlock;
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::rtl::top::{RtlInstance, RtlTop};

impl<const K: usize, const WINDOW: usize, const WW: usize, const BOTH: usize, const BW: usize> RtlTop
    for ScDecompressorTop<K, WINDOW, WW, BOTH, BW>
{
    type In = DecompressorIn;
    type Out = DecompressorOut;

    fn drive(&mut self, inputs: &DecompressorIn) {
        self.valid_i.next = inputs.valid_i;
        self.compressed_i.next = inputs.compressed_i;
        self.bits_i.next = U::new(u64::from(inputs.bits_i));
        self.payload_i.next = W::from_words(inputs.payload_i);
        self.ready_i.next = inputs.ready_i;
        self.load_valid_i.next = inputs.load_valid_i;
        self.load_first_i.next = inputs.load_first_i;
        self.load_last_i.next = inputs.load_last_i;
        self.load_escape_i.next = inputs.load_escape_i;
        self.load_value_i.next = U::new(u64::from(inputs.load_value_i));
        self.load_code_i.next = U::new(u64::from(inputs.load_code_i));
        self.load_length_i.next = U::new(u64::from(inputs.load_length_i));
    }

    fn sample(&self) -> DecompressorOut {
        DecompressorOut {
            ready_o: self.ready_o.val(),
            valid_o: self.valid_o.val(),
            error_o: self.error_o.val(),
            line_o: *self.line_o.val().words(),
            load_ready_o: self.load_ready_o.val(),
        }
    }

    fn upset(&mut self, bit: usize) {
        match bit % (1 + 1 + 1024) {
            0 => self.valid.q.next = !self.valid.q.val(),
            1 => self.error.q.next = !self.error.q.val(),
            bit => {
                let line = self.line.q.val();
                self.line.q.next = line.replace_bit(bit - 2, !line.get_bit(bit - 2));
            }
        }
    }
}

// Codes per cycle, and what follows from them: bits and 64-bit words of the window, and of a line and a cycle's words. The
// parts check them.
type OneCode = ScDecompressorTop<1, 48, 1, 1056, 17>;
type TwoCodes = ScDecompressorTop<2, 64, 1, 1088, 17>;
type FourCodes = ScDecompressorTop<4, 96, 2, 1152, 18>;

/// The decompressor for valid parameters.
pub(in crate::sc::decompressor) fn decompressor(
    params: &DecompressorParams,
) -> Box<dyn RtlBlock<DecompressorIn, DecompressorOut>> {
    match params.symbols_per_cycle {
        1 => RtlInstance::boxed(OneCode::default()),
        2 => RtlInstance::boxed(TwoCodes::default()),
        _ => RtlInstance::boxed(FourCodes::default()),
    }
}
