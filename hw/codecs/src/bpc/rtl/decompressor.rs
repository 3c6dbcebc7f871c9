//! The top module of the decompressor: four codes per cycle, then the line from the planes, half of each word per cycle.

use super::decode::{BpcDecode, BpcRebuild, BpcSplit};
use crate::bpc::params::BpcParams;
use crate::line::LINE_WORDS;
use selvedge_hw::rtl::prelude::*;

rtl_module! {
    /// Rebuilds cache lines from the codes of their bit planes: one line at a time, four codes per cycle.
    ///
    /// LATTE-CC, table I. P is the number of bits of a plane, CHUNK of four codes, DATA of the 32 planes that words need,
    /// SIXTEEN of half of these planes, and HALF of half a line. A block holds four codes or the code of a base word. Codes
    /// that run beyond the last plane or beyond the payload give a line of zeros with error_o high.
    #[require(LINE == 32 * F && GROUPS == F / 4 && BLOCK == 1 << BLOCKLOG && PLACES == BLOCKLOG + 1 && 2 * SIXTEEN == DATA)]
    pub struct BpcDecompressorTop<
        const LINE: usize, const LW: usize, const P: usize, const PLACE: usize, const F: usize,
        const CHUNK: usize, const CW: usize, const FIVE: usize, const FW: usize, const DATA: usize, const DW: usize,
        const SIXTEEN: usize, const SW: usize, const BLOCK: usize, const BW: usize, const BLOCKLOG: usize,
        const BOTH: usize, const BOW: usize, const PLACES: usize, const GROUPS: usize, const TREE: usize,
        const CARRIES: usize, const CAW: usize, const HALF: usize, const HW: usize,
    > for BpcParams as p {
        reset "asynchronous reset, active low; drops the payload at work";
        inputs DecompressorIn {
            /// a payload is offered
            valid_i: bool as Bit = 1,
            /// the payload consists of codes; if low, it is the line itself
            compressed_i: bool as Bit = 1,
            /// the payload from bit 0 up
            payload_i: [u64; LINE_WORDS] as W<LINE, LW> = p.line_bits(),
        }
        outputs DecompressorOut {
            /// the payload is taken in this cycle
            ready_o: bool as Bit = 1,
            /// a line is offered
            valid_o: bool as Bit = 1,
            /// the codes do not decode to a line; the line is zero
            error_o: bool as Bit = 1,
            /// the line
            line_o: [u64; LINE_WORDS] as W<LINE, LW> = p.line_bits(),
        }
        inputs {
            /// the consumer takes the line in this cycle
            ready_i: bool as Bit = 1,
        }
        parts {
            split: Gate<BpcSplit<PLACE, F, CHUNK, CW, BLOCK, BW, BOTH, BOW, PLACES>>,
            decode: Gate<BpcDecode<P, PLACE, F, FIVE, FW, DATA, DW>>,
            rebuild: Gate<BpcRebuild<HALF, HW, P, GROUPS, SIXTEEN, SW, TREE, CARRIES, CAW>>,
            /// a payload is in progress
            busy: Reg<Bit>,
            coded: DataReg<Bit>,
            /// all planes have been read
            decoded: DataReg<Bit>,
            /// rest of the payload in whole blocks; later the line
            line: DataReg<W<LINE, LW>>,
            /// bits of the payload after the four codes
            window: DataReg<W<BLOCK, BW>>,
            /// position at which these bits begin: in the lowest block, or in the block after it
            place: DataReg<U<PLACES>>,
            /// four codes
            codes: DataReg<W<CHUNK, CW>>,
            /// number of bits that have been read
            length: DataReg<U<11>>,
            /// first word; later its upper half
            base: DataReg<U<32>>,
            /// number of planes that have been read
            next_plane: DataReg<U<6>>,
            above: DataReg<U<P>>,
            /// planes of the upper halves of the words
            upper_planes: DataReg<W<SIXTEEN, SW>>,
            /// planes of the lower halves; later planes of the upper halves
            lower_planes: DataReg<W<SIXTEEN, SW>>,
            /// the lower halves of the line's words are complete
            halfway: DataReg<Bit>,
            /// carries out of the lower halves
            carries: DataReg<W<CARRIES, CAW>>,
            failed: DataReg<Bit>,
            valid: Reg<Bit>,
            error: DataReg<Bit>,
            block_bits: Constant<U<9>> = Constant::new(U::new(BLOCK as u64)),
            two_blocks: Constant<U<9>> = Constant::new(U::new(BOTH as u64)),
            chunk_bits: Constant<U<8>> = Constant::new(U::new(CHUNK as u64)),
            half_planes: Constant<U<9>> = Constant::new(U::new(SIXTEEN as u64)),
            line_bits: Constant<U<11>> = Constant::new(U::new(LINE as u64)),
            ones_above_4: Constant<U<32>> = Constant::new(U::new(u64::MAX << 4)),
            ones_above_8: Constant<U<32>> = Constant::new(U::new(u64::MAX << 8)),
            ones_above_16: Constant<U<32>> = Constant::new(U::new(u64::MAX << 16)),
            ready: Signal<Local, Bit>,
            /// payload after the code of the base word (offered), payload that was kept, and payload after the window (ahead)
            offered: Signal<Local, W<LINE, LW>>,
            kept: Signal<Local, W<BOTH, BOW>>,
            ahead: Signal<Local, W<LINE, LW>>,
            /// bits after the window
            behind: Signal<Local, W<BOTH, BOW>>,
            old_planes: Signal<Local, W<DATA, DW>>,
            new_lower_planes: Signal<Local, W<DATA, DW>>,
            half: Signal<Local, U<16>>,
            rebuilt: Signal<Local, W<LINE, LW>>,
            /// the codes do not decode to a line
            wrong: Signal<Local, Bit>,
            first: Signal<Local, U<32>>,
            first_length: Signal<Local, U<6>>,
            /// code of the base word, one-hot
            raw_base: Signal<Local, Bit>,
            half_base: Signal<Local, Bit>,
            byte_base: Signal<Local, Bit>,
            nibble_base: Signal<Local, Bit>,
            zero_base: Signal<Local, Bit>,
            /// sign of the field of a short base
            sign_4: Signal<Local, Bit>,
            sign_8: Signal<Local, Bit>,
            sign_16: Signal<Local, Bit>,
        }
        upset { valid, error, line }
    }
}

#[hdl_gen]
impl Logic for BpcDecompressorTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, busy, coded, decoded, line, window, place, codes, length, base);
        dff_setup!(self, clk_i, next_plane, above, upper_planes, lower_planes, halfway, carries, failed);
        dff_setup!(self, clk_i, valid, error);

        comment!("first word: sign-extended field of its code");
        self.sign_4.next = self.payload_i.val().get_bit(6);
        self.sign_8.next = self.payload_i.val().get_bit(10);
        self.sign_16.next = self.payload_i.val().get_bit(18);
        self.raw_base.next = self.payload_i.val().get_bit(0);
        self.half_base.next = !self.payload_i.val().get_bit(0)
            & self.payload_i.val().get_bit(1)
            & self.payload_i.val().get_bit(2);
        self.byte_base.next = !self.payload_i.val().get_bit(0)
            & self.payload_i.val().get_bit(1)
            & !self.payload_i.val().get_bit(2);
        self.nibble_base.next = !self.payload_i.val().get_bit(0)
            & !self.payload_i.val().get_bit(1)
            & self.payload_i.val().get_bit(2);
        self.zero_base.next = !self.payload_i.val().get_bit(0)
            & !self.payload_i.val().get_bit(1)
            & !self.payload_i.val().get_bit(2);
        drive!(self; first: 0, first_length: 3);
        if self.raw_base.val() {
            self.first.next = self.payload_i.val().get_bits::<32>(1);
            self.first_length.next = 33.into();
        } else if self.half_base.val() {
            if self.sign_16.val() {
                self.first.next = self.ones_above_16.val();
            }
            self.first.next[0..] = self.payload_i.val().get_bits::<16>(3);
            self.first_length.next = 19.into();
        } else if self.byte_base.val() {
            if self.sign_8.val() {
                self.first.next = self.ones_above_8.val();
            }
            self.first.next[0..] = self.payload_i.val().get_bits::<8>(3);
            self.first_length.next = 11.into();
        } else if self.nibble_base.val() {
            if self.sign_4.val() {
                self.first.next = self.ones_above_4.val();
            }
            self.first.next[0..] = self.payload_i.val().get_bits::<4>(3);
            self.first_length.next = 7.into();
        }

        self.ready.next = !self.busy.q.val() & (!self.valid.q.val() | self.ready_i.val());
        comment!("read the bits after the window from the payload while the window is split");
        self.ahead.next = self.line.q.val() >> self.block_bits.val();
        if self.place.q.val().get_bit(BLOCKLOG) {
            self.ahead.next = self.line.q.val() >> self.two_blocks.val();
        }
        self.behind.next =
            bit_cast_to::<W<BOTH, BOW>>(self.ahead.val()) >> bit_cast::<BLOCKLOG, PLACES>(self.place.q.val());
        comment!("split four codes per cycle, the first four when the payload arrives: AND-OR selection");
        drive!(self; offered: 0, kept: 0);
        if !self.busy.q.val() & self.raw_base.val() {
            self.offered.next = self.offered.val() | (self.payload_i.val() >> 33.to_bits::<6>());
        }
        if !self.busy.q.val() & self.half_base.val() {
            self.offered.next = self.offered.val() | (self.payload_i.val() >> 19.to_bits::<6>());
        }
        if !self.busy.q.val() & self.byte_base.val() {
            self.offered.next = self.offered.val() | (self.payload_i.val() >> 11.to_bits::<6>());
        }
        if !self.busy.q.val() & self.nibble_base.val() {
            self.offered.next = self.offered.val() | (self.payload_i.val() >> 7.to_bits::<6>());
        }
        if !self.busy.q.val() & self.zero_base.val() {
            self.offered.next = self.offered.val() | (self.payload_i.val() >> 3.to_bits::<6>());
        }
        self.split.place_i.next = bit_cast::<PLACES, 6>(self.first_length.val());
        if self.busy.q.val() {
            self.kept.next = bit_cast_to::<W<BOTH, BOW>>(self.window.q.val())
                | (self.behind.val() << self.block_bits.val());
            self.split.place_i.next =
                bit_cast::<PLACES, BLOCKLOG>(bit_cast::<BLOCKLOG, PLACES>(self.place.q.val()));
        }
        self.split.window_i.next = self.kept.val() | bit_cast_to::<W<BOTH, BOW>>(self.offered.val());

        comment!("one cycle later, decode them to planes, with the next code if it is the last plane's");
        self.decode.codes_i.next = bit_cast_to::<W<FIVE, FW>>(self.codes.q.val())
            | (bit_cast_to::<W<FIVE, FW>>(self.window.q.val()) << self.chunk_bits.val());
        drive!(self.decode; next_i: next_plane.q, above_i: above.q);
        self.old_planes.next = bit_cast_to::<W<DATA, DW>>(self.lower_planes.q.val());
        self.decode.planes_i.next = bit_cast_to::<W<DATA, DW>>(self.upper_planes.q.val())
            | (self.old_planes.val() << self.half_planes.val());
        self.new_lower_planes.next = self.decode.planes_o.val() >> self.half_planes.val();

        comment!("the lower halves of all words, then the upper ones");
        self.rebuild.base_i.next = bit_cast::<16, 32>(self.base.q.val());
        drive!(self.rebuild; planes_i: lower_planes.q, carries_i: carries.q);
        drive!(self; rebuilt: line.q, half: 0);
        for i in 0..F {
            self.half.next = self.rebuild.half_o.val().get_bits::<16>(i * 16);
            if self.halfway.q.val() {
                self.rebuilt.next[i * 32 + 16..] = self.half.val();
            } else {
                self.rebuilt.next[i * 32..] = self.half.val();
            }
        }

        self.wrong.next = self.failed.q.val() | (self.length.q.val() > self.line_bits.val());
        if self.ready.val() {
            self.valid.d.next = false;
            if self.valid_i.val() {
                drive!(self; busy.d: true, coded.d: compressed_i);
                self.decoded.d.next = !self.compressed_i.val();
                drive!(self; base.d: first, above.d: 0, failed.d: false, next_plane.d: 0);
                self.length.d.next = bit_cast::<11, 6>(self.first_length.val());
                drive!(self; codes.d: split.codes_o, window.d: split.rest_o, place.d: split.place_o,
                    halfway.d: false, carries.d: 0);
            }
        } else if self.busy.q.val() & !self.decoded.q.val() {
            drive!(self; codes.d: split.codes_o, window.d: split.rest_o, place.d: split.place_o);
            self.length.d.next = self.length.q.val() + bit_cast::<11, 8>(self.decode.length_o.val());
            drive!(self; next_plane.d: decode.next_o, decoded.d: decode.done_o, above.d: decode.above_o);
            self.upper_planes.d.next = bit_cast_to::<W<SIXTEEN, SW>>(self.decode.planes_o.val());
            self.lower_planes.d.next = bit_cast_to::<W<SIXTEEN, SW>>(self.new_lower_planes.val());
            self.failed.d.next = self.decode.error_o.val();
        } else if self.busy.q.val() {
            comment!("the result");
            self.error.d.next = false;
            if self.coded.q.val() {
                drive!(self; halfway.d: true, carries.d: rebuild.carries_o, lower_planes.d: upper_planes.q);
                self.base.d.next = self.base.q.val() >> 16;
                self.error.d.next = self.wrong.val();
            }
            if self.halfway.q.val() | !self.coded.q.val() {
                drive!(self; busy.d: false, valid.d: true);
            }
        }
        comment!("the words arrive late: select them last");
        if self.busy.q.val() & self.decoded.q.val() & self.coded.q.val() & !self.wrong.val() {
            self.line.d.next = self.rebuilt.val();
        } else if self.ready.val() {
            if self.valid_i.val() {
                self.line.d.next = self.payload_i.val();
            }
        } else if self.busy.q.val() & !self.decoded.q.val() {
            if self.place.q.val().get_bit(BLOCKLOG) {
                self.line.d.next = self.line.q.val() >> self.block_bits.val();
            }
        } else if self.busy.q.val() & self.coded.q.val() {
            self.line.d.next = 0.into();
        }
        drive!(self; ready_o: ready, valid_o: valid.q, error_o: error.q, line_o: line.q);
    }
}
