//! The compressor's top: planes of a line, four codes per cycle, and the result.

use super::encode::BpcEncode;
use super::planes::{BpcBase, BpcPlanes};
use crate::bpc::BpcParams;
use crate::line::LINE_WORDS;
use selvedge_hw::rtl::prelude::*;

rtl_module! {
    /// Compresses cache lines by bit planes: one line at a time, four planes per cycle.
    ///
    /// LATTE-CC, table I. P is the bits of a plane, ALL those of all 33 planes, CHUNK those of four codes. A line of
    /// which the codes do not save a byte is given as it is.
    #[require(LINE == 32 * F && ALL == 33 * P && LINE / 8 < 1 << SIZE)]
    pub struct BpcCompressor<
        const LINE: usize, const LW: usize, const P: usize, const PLACE: usize, const F: usize,
        const ALL: usize, const AW: usize, const FOUR: usize, const FW: usize,
        const CHUNK: usize, const CW: usize, const SIZE: usize,
    > for BpcParams as p {
        reset "asynchronous reset, active low; drops the line at work";
        inputs CompressorIn {
            /// a line is offered
            valid_i: bool as Bit = 1,
            /// the line: byte 0 in bits 7 to 0
            line_i: [u64; LINE_WORDS] as W<LINE, LW> = p.line_bits(),
        }
        outputs CompressorOut {
            /// the line is taken in this cycle
            ready_o: bool as Bit = 1,
            /// a payload is offered
            valid_o: bool as Bit = 1,
            /// the payload is codes, not the line itself
            compressed_o: bool as Bit = 1,
            /// its size in bytes
            size_o: u8 as U<SIZE> = p.size_bits(),
            /// the payload from bit 0 up; zero beyond the size
            payload_o: [u64; LINE_WORDS] as W<LINE, LW> = p.line_bits(),
        }
        inputs {
            /// the consumer takes the payload in this cycle
            ready_i: bool as Bit = 1,
        }
        parts {
            planes_of_line: Gate<BpcPlanes<LINE, LW, P, ALL, AW>>,
            base: Gate<BpcBase>,
            encode: Gate<BpcEncode<P, PLACE, F, FOUR, FW, CHUNK, CW>>,
            /// a line is at work
            busy: Reg<Bit>,
            line: DataReg<W<LINE, LW>>,
            /// planes without a code, the next one lowest
            planes: DataReg<W<ALL, AW>>,
            zero: DataReg<U<33>>,
            dbp_zero: DataReg<U<33>>,
            left: Reg<U<6>>,
            run: DataReg<U<6>>,
            /// the codes so far
            codes: DataReg<W<LINE, LW>>,
            length: DataReg<U<11>>,
            valid: Reg<Bit>,
            compressed: DataReg<Bit>,
            size: DataReg<U<SIZE>>,
            payload: DataReg<W<LINE, LW>>,
            four_planes: Constant<U<7>> = Constant::new(U::new(FOUR as u64)),
            line_bytes: Constant<U<SIZE>> = Constant::new(U::new(LINE as u64 / 8)),
            /// the most bits of codes that save a byte
            most: Constant<U<11>> = Constant::new(U::new(LINE as u64 - 8)),
            ready: Signal<Local, Bit>,
            bytes: Signal<Local, U<11>>,
        }
        upset { valid, compressed, size, payload }
    }
}

impl<
    const LINE: usize,
    const LW: usize,
    const P: usize,
    const PLACE: usize,
    const F: usize,
    const ALL: usize,
    const AW: usize,
    const FOUR: usize,
    const FW: usize,
    const CHUNK: usize,
    const CW: usize,
    const SIZE: usize,
> Logic for BpcCompressor<LINE, LW, P, PLACE, F, ALL, AW, FOUR, FW, CHUNK, CW, SIZE>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, busy, line, planes, zero, dbp_zero, left, run);
        dff_setup!(self, clk_i, codes, length, valid, compressed, size, payload);
        self.planes_of_line.line_i.next = self.line_i.val();
        self.base.base_i.next = self.line_i.val().get_bits::<32>(0);
        self.encode.planes_i.next = bit_cast_to::<W<FOUR, FW>>(self.planes.q.val());
        self.encode.zero_i.next = self.zero.q.val().get_bits::<5>(0);
        self.encode.dbp_zero_i.next = self.dbp_zero.q.val().get_bits::<4>(0);
        self.encode.left_i.next = self.left.q.val();
        self.encode.run_i.next = self.run.q.val();
        self.ready.next = !self.busy.q.val() & (!self.valid.q.val() | self.ready_i.val());
        self.bytes.next = (self.length.q.val() + 7) >> 3;
        if self.ready.val() {
            self.valid.d.next = false;
            if self.valid_i.val() {
                comment!("take a line: its planes, and the code of its first word");
                self.busy.d.next = true;
                self.line.d.next = self.line_i.val();
                self.planes.d.next = self.planes_of_line.planes_o.val();
                self.zero.d.next = self.planes_of_line.zero_o.val();
                self.dbp_zero.d.next = self.planes_of_line.dbp_zero_o.val();
                self.left.d.next = 33.into();
                self.run.d.next = 0.into();
                self.codes.d.next = bit_cast_to::<W<LINE, LW>>(self.base.code_o.val());
                self.length.d.next = bit_cast::<11, 6>(self.base.length_o.val());
            }
        } else if self.busy.q.val() & self.left.q.val().any() {
            comment!("code four planes; beyond the last one a zero flag is low, so that a run ends there");
            self.planes.d.next = self.planes.q.val() >> self.four_planes.val();
            self.zero.d.next = self.zero.q.val() >> 4;
            self.dbp_zero.d.next = self.dbp_zero.q.val() >> 4;
            self.run.d.next = self.encode.run_o.val();
            self.codes.d.next = self.codes.q.val()
                | (bit_cast_to::<W<LINE, LW>>(self.encode.codes_o.val()) << self.length.q.val());
            self.length.d.next = self.length.q.val() + bit_cast::<11, 8>(self.encode.length_o.val());
            if self.left.q.val() > 4 {
                self.left.d.next = self.left.q.val() - 4;
            } else {
                self.left.d.next = 0.into();
            }
        } else if self.busy.q.val() {
            comment!("the result");
            self.busy.d.next = false;
            self.valid.d.next = true;
            if self.length.q.val() <= self.most.val() {
                self.compressed.d.next = true;
                self.size.d.next = bit_cast::<SIZE, 11>(self.bytes.val());
                self.payload.d.next = self.codes.q.val();
            } else {
                self.compressed.d.next = false;
                self.size.d.next = self.line_bytes.val();
                self.payload.d.next = self.line.q.val();
            }
        }
        self.ready_o.next = self.ready.val();
        self.valid_o.next = self.valid.q.val();
        self.compressed_o.next = self.compressed.q.val();
        self.size_o.next = self.size.q.val();
        self.payload_o.next = self.payload.q.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}
