//! The compressor's top as a block of the contract: its ports by type, and the widths for each choice of parameters.

use super::ScCompressorTop;
use crate::sc::compressor::{CompressorIn, CompressorOut, CompressorParams};
use selvedge_hw::block::RtlBlock;
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::rtl::top::{RtlInstance, RtlTop};

impl<const K: usize, const GROUP: usize, const GW: usize, const SUM: usize> RtlTop
    for ScCompressorTop<K, GROUP, GW, SUM>
{
    type In = CompressorIn;
    type Out = CompressorOut;

    fn drive(&mut self, inputs: &CompressorIn) {
        self.valid_i.next = inputs.valid_i;
        self.line_i.next = W::from_words(inputs.line_i);
        self.ready_i.next = inputs.ready_i;
        self.load_valid_i.next = inputs.load_valid_i;
        self.load_first_i.next = inputs.load_first_i;
        self.load_last_i.next = inputs.load_last_i;
        self.load_index_i.next = U::new(u64::from(inputs.load_index_i));
        self.load_escape_i.next = inputs.load_escape_i;
        self.load_value_i.next = U::new(u64::from(inputs.load_value_i));
        self.load_code_i.next = U::new(u64::from(inputs.load_code_i));
        self.load_length_i.next = U::new(u64::from(inputs.load_length_i));
    }

    fn sample(&self) -> CompressorOut {
        CompressorOut {
            ready_o: self.ready_o.val(),
            valid_o: self.valid_o.val(),
            compressed_o: self.compressed_o.val(),
            bits_o: self.bits_o.val().to_u64() as u16,
            payload_o: *self.payload_o.val().words(),
            load_ready_o: self.load_ready_o.val(),
        }
    }

    fn upset(&mut self, bit: usize) {
        match bit % (1 + 1 + 11 + 1024) {
            0 => self.valid.q.next = !self.valid.q.val(),
            1 => self.compressed.q.next = !self.compressed.q.val(),
            bit if bit < 13 => {
                let bits = self.bits.q.val();
                self.bits.q.next = bits.replace_bit(bit - 2, !bits.get_bit(bit - 2));
            }
            bit => {
                let payload = self.payload.q.val();
                self.payload.q.next = payload.replace_bit(bit - 13, !payload.get_bit(bit - 13));
            }
        }
    }
}

// Words per cycle, and what follows from them: bits and 64-bit words of a group, bits of their number. The top checks them.
type FourWords = ScCompressorTop<4, 192, 3, 8>;
type EightWords = ScCompressorTop<8, 384, 6, 9>;
type SixteenWords = ScCompressorTop<16, 768, 12, 10>;

/// The compressor for valid parameters.
pub(in crate::sc::compressor) fn compressor(
    params: &CompressorParams,
) -> Box<dyn RtlBlock<CompressorIn, CompressorOut>> {
    match params.symbols_per_cycle {
        4 => RtlInstance::boxed(FourWords::default()),
        8 => RtlInstance::boxed(EightWords::default()),
        _ => RtlInstance::boxed(SixteenWords::default()),
    }
}
