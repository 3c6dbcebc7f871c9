//! The top module of the compressor: planes of a line, four codes per cycle, and the result.

use super::encode::{BpcEncode, BpcMerge};
use super::planes::{BpcBase, BpcPlanes};
use crate::bpc::params::BpcParams;
use crate::line::LINE_WORDS;
use selvedge_hw::rtl::prelude::*;

rtl_module! {
    /// Compresses cache lines by bit planes: one line at a time, four planes per cycle.
    ///
    /// LATTE-CC, table I. P is the number of bits of a plane, ALL of all 33 planes, CHUNK of four codes. A line whose codes
    /// do not save a byte stays uncompressed.
    #[require(LINE == 32 * F && ALL == 33 * P && LINE / 8 < 1 << SIZE)]
    #[require(BLOCKS * BLOCK == LINE && BLOCK == 64 * PIECES && BLOCK == 1 << BLOCKLOG)]
    pub struct BpcCompressorTop<
        const LINE: usize, const LW: usize, const P: usize, const PLACE: usize, const F: usize,
        const ALL: usize, const AW: usize, const FIVE: usize, const FW: usize,
        const CHUNK: usize, const CW: usize, const BLOCK: usize, const BW: usize, const BOTH: usize, const BOW: usize,
        const BLOCKS: usize, const PIECES: usize, const BLOCKLOG: usize, const SIZE: usize,
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
            /// the payload consists of codes; if low, it is the line itself
            compressed_o: bool as Bit = 1,
            /// size of the payload in bytes
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
            encode: Gate<BpcEncode<P, PLACE, F, FIVE, FW, CHUNK, CW>>,
            merge: Gate<BpcMerge<F, CHUNK, CW, BLOCK, BW, BOTH, BOW>>,
            /// cycles since the line was taken; 0 while no line is in progress
            cycle: Reg<U<4>>,
            line: DataReg<W<LINE, LW>>,
            /// planes that are not coded yet, the next one lowest, and the plane above them
            planes: DataReg<W<ALL, AW>>,
            above: DataReg<U<P>>,
            run: DataReg<U<6>>,
            /// four codes, and their lengths
            codes: DataReg<W<CHUNK, CW>>,
            lengths: DataReg<U<24>>,
            /// number of bits of the codes in the payload
            length: DataReg<U<11>>,
            /// block of the payload in which these bits end
            tail: DataReg<W<BLOCK, BW>>,
            valid: Reg<Bit>,
            compressed: DataReg<Bit>,
            size: DataReg<U<SIZE>>,
            payload: DataReg<W<LINE, LW>>,
            four_planes: Constant<U<7>> = Constant::new(U::new(4 * P as u64)),
            block_bits: Constant<U<8>> = Constant::new(U::new(BLOCK as u64)),
            line_bytes: Constant<U<SIZE>> = Constant::new(U::new(LINE as u64 / 8)),
            /// maximum number of bits of codes that save a byte
            most: Constant<U<11>> = Constant::new(U::new(LINE as u64 - 8)),
            ready: Signal<Local, Bit>,
            /// index of the block in which the payload ends
            last_block: Signal<Local, U<11>>,
            next_length: Signal<Local, U<11>>,
            last_length: Signal<Local, U<11>>,
            /// the result is ready
            ends: Signal<Local, Bit>,
            /// the coded payload is not smaller than the line
            raw: Signal<Local, Bit>,
            filled: Signal<Local, W<LINE, LW>>,
        }
        upset { valid, compressed, size, payload }
    }
}

#[hdl_gen]
impl Logic for BpcCompressorTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, cycle, line, planes, above, run, codes, lengths);
        dff_setup!(self, clk_i, length, tail, valid, compressed, size, payload);
        self.planes_of_line.line_i.next = self.line_i.val();
        self.base.base_i.next = self.line_i.val().get_bits::<32>(0);
        comment!(
            "the planes leave four at a time; behind the last one come zeros, so that no enable is needed"
        );
        self.encode.planes_i.next = bit_cast_to::<W<FIVE, FW>>(self.planes.q.val());
        self.encode.above_i.next = self.above.q.val();
        self.encode.last_i.next = self.cycle.q.val() == 9;
        self.encode.run_i.next = self.run.q.val();
        self.planes.d.next = self.planes.q.val() >> self.four_planes.val();
        self.above.d.next = self.planes.q.val().get_bits::<P>(3 * P);
        drive!(self; run.d: encode.run_o, codes.d: encode.codes_o, lengths.d: encode.lengths_o);

        comment!("the codes of the planes before them: this block of the payload, and the next one");
        drive!(self.merge; codes_i: codes.q, lengths_i: lengths.q, tail_i: tail.q);
        self.merge.filled_i.next = bit_cast::<7, BLOCKLOG>(self.length.q.val().get_bits::<BLOCKLOG>(0));
        self.last_block.next = self.length.q.val() >> BLOCKLOG.to_bits::<4>();
        self.next_length.next = self.length.q.val() + bit_cast::<11, 8>(self.merge.length_o.val());
        comment!("the last group contains one plane only");
        self.last_length.next =
            self.length.q.val() + bit_cast::<11, 6>(self.lengths.q.val().get_bits::<6>(0));
        self.ends.next = self.cycle.q.val() == 10;
        self.raw.next = self.ends.val() & (self.last_length.val() > self.most.val());

        comment!("keep the blocks before the last one; only the last code can continue in the next block");
        self.filled.next = 0.into();
        for j in 0..BLOCKS {
            for piece in 0..PIECES {
                if self.raw.val() {
                    self.filled.next[j * BLOCK + piece * 64..] =
                        self.line.q.val().get_bits::<64>(j * BLOCK + piece * 64);
                } else if !self.cycle.q.val().any() | (self.last_block.val() > j.to_bits::<11>()) {
                    self.filled.next[j * BLOCK + piece * 64..] =
                        self.payload.q.val().get_bits::<64>(j * BLOCK + piece * 64);
                } else if self.last_block.val() == j.to_bits::<11>() {
                    self.filled.next[j * BLOCK + piece * 64..] =
                        self.merge.merged_o.val().get_bits::<64>(piece * 64);
                }
            }
            if self.ends.val() & !self.raw.val() & (self.last_block.val() + 1 == j.to_bits::<11>()) {
                self.filled.next[j * BLOCK..] = self.merge.merged_o.val().get_bits::<F>(BLOCK);
            }
        }
        self.payload.d.next = self.filled.val();

        self.ready.next = !self.cycle.q.val().any() & (!self.valid.q.val() | self.ready_i.val());
        if self.ready.val() {
            self.valid.d.next = false;
            if self.valid_i.val() {
                comment!("accept a line: register its planes and the code of its first word");
                drive!(self; cycle.d: 1, line.d: line_i, planes.d: planes_of_line.planes_o, above.d: 0,
                    run.d: 0);
                self.tail.d.next = bit_cast_to::<W<BLOCK, BW>>(self.base.code_o.val());
                self.length.d.next = bit_cast::<11, 6>(self.base.length_o.val());
            }
        } else if self.cycle.q.val() == 1 {
            comment!("the first codes are registered");
            self.cycle.d.next = 2.into();
        } else if self.ends.val() {
            comment!("the result");
            drive!(self; cycle.d: 0, valid.d: true);
            self.compressed.d.next = !self.raw.val();
            self.size.d.next = bit_cast::<SIZE, 11>((self.last_length.val() + 7) >> 3);
            if self.raw.val() {
                self.size.d.next = self.line_bytes.val();
            }
        } else if self.cycle.q.val().any() {
            self.cycle.d.next = self.cycle.q.val() + 1;
            self.length.d.next = self.next_length.val();
            self.tail.d.next = bit_cast_to::<W<BLOCK, BW>>(self.merge.merged_o.val());
            if (self.next_length.val() >> BLOCKLOG.to_bits::<4>()) != self.last_block.val() {
                self.tail.d.next =
                    bit_cast_to::<W<BLOCK, BW>>(self.merge.merged_o.val() >> self.block_bits.val());
            }
        }
        drive!(self; ready_o: ready, valid_o: valid.q, compressed_o: compressed.q, size_o: size.q,
            payload_o: payload.q);
    }
}
