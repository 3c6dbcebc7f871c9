//! An array of bits, such as the valid bits of a memory's rows. One bit per cycle can be set and tested; all bits are cleared in
//! one cycle.
//!
//! ```text
//! clk_i       __/--\__/--\__/--\__/--\__
//! set_i       --\_______________________
//! clear_i     ___________/-----\________
//! address_i   =< 5             >========
//! bit_o       ______/-----------\_______     the state before this cycle's set or clear
//! ```

use super::activity;
use super::mem::template;
use crate::rtl::prelude::*;

rtl_block! {
    /// 2^A bits. The bit at the address is tested and can be set; all bits are cleared at once.
    ///
    /// Clear wins over set.
    #[require(A >= 2 && A <= 20)]
    pub struct BitArray<const A: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low; clears all bits
        pub rst_ni: Signal<In, Bit>,
        /// clear all bits
        pub clear_i: Signal<In, Bit>,
        /// set the bit at the address
        pub set_i: Signal<In, Bit>,
        /// the address
        pub address_i: Signal<In, U<A>>,
        /// the bit at the address, before this cycle's set or clear
        pub bit_o: Signal<Out, Bit>,
        _words: Vec<u64> = vec![0; (1usize << A).div_ceil(64)],
    }
}

impl<const A: usize> BitArray<A> {
    /// See [`Stateless::has_own_state`](super::circuit::Stateless::has_own_state).
    #[inline(always)]
    fn has_own_state(&mut self) -> bool {
        true
    }

    /// See [`Stateless::take_edge`](super::circuit::Stateless::take_edge).
    #[inline]
    fn take_edge(&mut self) -> bool {
        let changes = self.rst_ni.val() && (self.clear_i.val() || self.set_i.val());
        if changes {
            self.clock();
        }
        changes
    }

    /// Clears or sets bits.
    #[inline]
    fn clock(&mut self) {
        if self.clear_i.val() {
            self._words.fill(0);
        } else if self.set_i.val() {
            let address = self.address_i.val().index();
            self._words[address / 64] |= 1 << (address % 64);
        }
    }
}

impl<const A: usize> Logic for BitArray<A> {
    #[inline]
    fn update(&mut self) {
        if !self.rst_ni.val() {
            activity::note_change();
            self._words.fill(0);
        } else if self.clk_i.pos_edge() {
            activity::note_change_if(|| self.clear_i.val() || self.set_i.val());
            self.clock();
        }
        let address = self.address_i.val().index();
        self.bit_o.next = (self._words[address / 64] >> (address % 64)) & 1 != 0;
    }

    fn connect(&mut self) {
        self.bit_o.connect();
    }

    /// The address is decoded in two steps, to a column and to a row. A bit is set where both meet. This takes a quarter of the
    /// cells of a full decoder.
    fn hdl(&self) -> Verilog {
        template(format!(
            "\
localparam COLUMN_BITS = {A} / 2;
localparam ROW_BITS = {A} - COLUMN_BITS;
localparam COLUMNS = 2**COLUMN_BITS;
localparam ROWS = 2**ROW_BITS;

reg [ROWS*COLUMNS-1:0] bits_q;
reg [ROWS*COLUMNS-1:0] set;
reg [COLUMNS-1:0] column;

// an address is a row (its high bits) and a column (its low bits)
always @(*) begin : decode
  integer r;
  column = {{{{COLUMNS-1{{1'b0}}}}, 1'b1}} << address_i[COLUMN_BITS-1:0];
  set = {{ROWS*COLUMNS{{1'b0}}}};
  for (r = 0; r < ROWS; r = r + 1) begin
    if (address_i[COLUMN_BITS +: ROW_BITS] == r[ROW_BITS-1:0]) begin
      set[r*COLUMNS +: COLUMNS] = column;
    end
  end
end

@clocked
@reset
    bits_q <= {{ROWS*COLUMNS{{1'b0}}}};
@else
    if (clear_i) begin
      bits_q <= {{ROWS*COLUMNS{{1'b0}}}};
    end else if (set_i) begin
      bits_q <= bits_q | set;
    end
@end
@initial bits_q = {{ROWS*COLUMNS{{1'b0}}}};

assign bit_o = bits_q[address_i];
"
        ))
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_set_tested_and_cleared() {
        let mut bits = Stepper::new(BitArray::<7>::default()).unwrap();
        let mut step = |set, clear, address: u64| {
            bits.step(
                |x| {
                    x.set_i.next = set;
                    x.clear_i.next = clear;
                    x.address_i.next = address.into();
                },
                |x| x.bit_o.val(),
            )
            .unwrap()
        };
        assert!(!step(true, false, 100), "the state before the set");
        assert!(step(false, false, 100));
        assert!(!step(false, false, 4));
        assert!(step(true, true, 100), "the state before the clear");
        assert!(!step(false, false, 100), "clear wins over set");
    }

    #[test]
    fn reset_clears() {
        let mut bits = Stepper::new(BitArray::<2>::default()).unwrap();
        bits.step(|x| x.set_i.next = true, |_| ()).unwrap();
        bits.reset().unwrap();
        let bit = bits.step(|x| x.set_i.next = false, |x| x.bit_o.val()).unwrap();
        assert!(!bit);
    }
}
