//! The decompressor's top: four codes per cycle, then the line from the planes.

use super::decode::{BpcDecode, BpcRebuild, BpcSplit};
use crate::bpc::BpcParams;
use crate::line::LINE_WORDS;
use selvedge_hw::rtl::prelude::*;

rtl_module! {
    /// Rebuilds cache lines from the codes of their bit planes: one line at a time, four codes per cycle.
    ///
    /// LATTE-CC, table I. P is the bits of a plane, CHUNK those of four codes, DATA those of the 32 planes that words
    /// need. Codes that run beyond the last plane or the end of the payload give a line of zeros and error_o.
    #[require(LINE == 32 * F && GROUPS == F / 4 && BLOCK == 1 << BLOCKLOG && BLOCK >= CHUNK && BOTH == 2 * BLOCK)]
    pub struct BpcDecompressor<
        const LINE: usize, const LW: usize, const P: usize, const PLACE: usize, const F: usize,
        const CHUNK: usize, const CW: usize, const REACH: usize, const RW: usize, const DATA: usize, const DW: usize,
        const BLOCK: usize, const BLOCKLOG: usize, const BOTH: usize, const BOW: usize, const GROUPS: usize,
    > for BpcParams as p {
        reset "asynchronous reset, active low; drops the payload at work";
        inputs DecompressorIn {
            /// a payload is offered
            valid_i: bool as Bit = 1,
            /// the payload is codes, not the line itself
            compressed_i: bool as Bit = 1,
            /// the payload from bit 0 up
            payload_i: [u64; LINE_WORDS] as W<LINE, LW> = p.line_bits(),
        }
        outputs DecompressorOut {
            /// the payload is taken in this cycle
            ready_o: bool as Bit = 1,
            /// a line is offered
            valid_o: bool as Bit = 1,
            /// the codes make no line
            error_o: bool as Bit = 1,
            /// the line
            line_o: [u64; LINE_WORDS] as W<LINE, LW> = p.line_bits(),
        }
        inputs {
            /// the consumer takes the line in this cycle
            ready_i: bool as Bit = 1,
        }
        parts {
            split: Gate<BpcSplit<PLACE, F, CHUNK, CW, REACH, RW>>,
            decode: Gate<BpcDecode<P, PLACE, F, CHUNK, CW, DATA, DW>>,
            rebuild: Gate<BpcRebuild<LINE, LW, P, GROUPS, DATA, DW>>,
            /// a payload is at work
            busy: Reg<Bit>,
            coded: DataReg<Bit>,
            /// all planes have been read
            decoded: DataReg<Bit>,
            /// what is left of the payload in whole blocks; then the line
            line: DataReg<W<LINE, LW>>,
            /// the next bit of the lowest block
            place: DataReg<U<BLOCKLOG>>,
            /// four codes
            codes: DataReg<W<CHUNK, CW>>,
            /// bits that have been read
            length: DataReg<U<11>>,
            base: DataReg<U<32>>,
            /// planes that have been read
            next_plane: DataReg<U<6>>,
            above: DataReg<U<P>>,
            planes: DataReg<W<DATA, DW>>,
            failed: DataReg<Bit>,
            valid: Reg<Bit>,
            error: DataReg<Bit>,
            block_bits: Constant<U<8>> = Constant::new(U::new(BLOCK as u64)),
            whole_block: Constant<U<9>> = Constant::new(U::new(BLOCK as u64)),
            line_bits: Constant<U<11>> = Constant::new(U::new(LINE as u64)),
            ones_above_4: Constant<U<32>> = Constant::new(U::new(u64::MAX << 4)),
            ones_above_8: Constant<U<32>> = Constant::new(U::new(u64::MAX << 8)),
            ones_above_16: Constant<U<32>> = Constant::new(U::new(u64::MAX << 16)),
            ready: Signal<Local, Bit>,
            window: Signal<Local, W<BOTH, BOW>>,
            next_place: Signal<Local, U<9>>,
            first: Signal<Local, U<32>>,
            first_length: Signal<Local, U<6>>,
            /// sign-extension of the field of a short base
            sign_4: Signal<Local, Bit>,
            sign_8: Signal<Local, Bit>,
            sign_16: Signal<Local, Bit>,
        }
        upset { valid, error, line }
    }
}

impl<
    const LINE: usize,
    const LW: usize,
    const P: usize,
    const PLACE: usize,
    const F: usize,
    const CHUNK: usize,
    const CW: usize,
    const REACH: usize,
    const RW: usize,
    const DATA: usize,
    const DW: usize,
    const BLOCK: usize,
    const BLOCKLOG: usize,
    const BOTH: usize,
    const BOW: usize,
    const GROUPS: usize,
> Logic
    for BpcDecompressor<
        LINE,
        LW,
        P,
        PLACE,
        F,
        CHUNK,
        CW,
        REACH,
        RW,
        DATA,
        DW,
        BLOCK,
        BLOCKLOG,
        BOTH,
        BOW,
        GROUPS,
    >
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, busy, coded, decoded, line, place, codes, length, base);
        dff_setup!(self, clk_i, next_plane, above, planes, failed, valid, error);

        comment!(
            "the first word: its field with the sign in all higher bits, by the shortest code that ends here"
        );
        self.sign_4.next = self.payload_i.val().get_bit(6);
        self.sign_8.next = self.payload_i.val().get_bit(10);
        self.sign_16.next = self.payload_i.val().get_bit(18);
        self.first.next = 0.into();
        self.first_length.next = 3.into();
        if self.payload_i.val().get_bit(0) {
            self.first.next = self.payload_i.val().get_bits::<32>(1);
            self.first_length.next = 33.into();
        } else if self.payload_i.val().get_bit(1) & self.payload_i.val().get_bit(2) {
            if self.sign_16.val() {
                self.first.next = self.ones_above_16.val();
            }
            self.first.next = self.first.val().replace_bit(0, self.payload_i.val().get_bits::<16>(3));
            self.first_length.next = 19.into();
        } else if self.payload_i.val().get_bit(1) {
            if self.sign_8.val() {
                self.first.next = self.ones_above_8.val();
            }
            self.first.next = self.first.val().replace_bit(0, self.payload_i.val().get_bits::<8>(3));
            self.first_length.next = 11.into();
        } else if self.payload_i.val().get_bit(2) {
            if self.sign_4.val() {
                self.first.next = self.ones_above_4.val();
            }
            self.first.next = self.first.val().replace_bit(0, self.payload_i.val().get_bits::<4>(3));
            self.first_length.next = 7.into();
        }

        self.ready.next = !self.busy.q.val() & (!self.valid.q.val() | self.ready_i.val());
        comment!("four codes are taken apart each cycle, the first when the payload comes");
        if self.ready.val() {
            self.window.next = bit_cast_to::<W<BOTH, BOW>>(self.payload_i.val()) >> self.first_length.val();
            self.next_place.next = bit_cast::<9, 6>(self.first_length.val());
        } else {
            self.window.next = bit_cast_to::<W<BOTH, BOW>>(self.line.q.val()) >> self.place.q.val();
            self.next_place.next = bit_cast::<9, BLOCKLOG>(self.place.q.val());
        }
        self.split.window_i.next = bit_cast_to::<W<CHUNK, CW>>(self.window.val());
        self.next_place.next = self.next_place.val() + bit_cast::<9, 8>(self.split.length_o.val());

        comment!("a cycle later they become planes");
        self.decode.codes_i.next = self.codes.q.val();
        self.decode.next_i.next = self.next_plane.q.val();
        self.decode.above_i.next = self.above.q.val();
        self.decode.planes_i.next = self.planes.q.val();
        self.rebuild.base_i.next = self.base.q.val();
        self.rebuild.planes_i.next = self.planes.q.val();

        if self.ready.val() {
            self.valid.d.next = false;
            if self.valid_i.val() {
                self.busy.d.next = true;
                self.coded.d.next = self.compressed_i.val();
                self.decoded.d.next = !self.compressed_i.val();
                self.base.d.next = self.first.val();
                self.above.d.next = 0.into();
                self.failed.d.next = false;
                self.next_plane.d.next = 0.into();
                self.length.d.next = bit_cast::<11, 6>(self.first_length.val());
                self.codes.d.next = self.split.codes_o.val();
                self.place.d.next = bit_cast::<BLOCKLOG, 9>(self.next_place.val());
                self.line.d.next = self.payload_i.val();
                if self.compressed_i.val() & (self.next_place.val() >= self.whole_block.val()) {
                    self.line.d.next = self.payload_i.val() >> self.block_bits.val();
                }
            }
        } else if self.busy.q.val() & !self.decoded.q.val() {
            self.codes.d.next = self.split.codes_o.val();
            self.place.d.next = bit_cast::<BLOCKLOG, 9>(self.next_place.val());
            if self.next_place.val() >= self.whole_block.val() {
                self.line.d.next = self.line.q.val() >> self.block_bits.val();
            }
            self.length.d.next = self.length.q.val() + bit_cast::<11, 8>(self.decode.length_o.val());
            self.next_plane.d.next = self.decode.next_o.val();
            self.decoded.d.next = self.decode.done_o.val();
            self.above.d.next = self.decode.above_o.val();
            self.planes.d.next = self.decode.planes_o.val();
            self.failed.d.next = self.decode.error_o.val();
        } else if self.busy.q.val() {
            comment!("the result");
            self.busy.d.next = false;
            self.valid.d.next = true;
            self.error.d.next = false;
            if self.coded.q.val() {
                self.line.d.next = self.rebuild.line_o.val();
                if self.failed.q.val() | (self.length.q.val() > self.line_bits.val()) {
                    self.line.d.next = 0.into();
                    self.error.d.next = true;
                }
            }
        }
        self.ready_o.next = self.ready.val();
        self.valid_o.next = self.valid.q.val();
        self.error_o.next = self.error.q.val();
        self.line_o.next = self.line.q.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
