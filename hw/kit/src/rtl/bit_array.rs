//! An array of bits that is set and tested through several ports at once and cleared in one cycle: the storage of
//! Bloom filters and sectored valid bits.
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
    /// 2^A bits with P ports: all ports set their bit together, each port sees its own bit, all bits clear at once.
    ///
    /// Clear wins over set.
    #[derive(LogicBlock)]
    pub struct BitArray<const P: usize, const A: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low; clears all bits
        pub rst_ni: Signal<In, Bit>,
        /// clear all bits
        pub clear_i: Signal<In, Bit>,
        /// set the bits at all addresses
        pub set_i: Signal<In, Bit>,
        /// one address per port
        pub address_i: [Signal<In, U<A>>; P],
        /// the bit at each address, before this cycle's set or clear
        pub bit_o: [Signal<Out, Bit>; P],
        _words: Vec<u64>,
    }
}

impl<const P: usize, const A: usize> Default for BitArray<P, A> {
    /// All bits are clear.
    fn default() -> Self {
        const { assert!(P >= 1 && A >= 2 && A <= 20, "BitArray<P, A> has at least one port and 2^2 to 2^20 bits") };
        BitArray {
            _activity: Default::default(),
            clk_i: Signal::default(),
            rst_ni: Signal::default(),
            clear_i: Signal::default(),
            set_i: Signal::default(),
            address_i: array(),
            bit_o: array(),
            _words: vec![0; (1usize << A).div_ceil(64)],
        }
    }
}

impl<const P: usize, const A: usize> BitArray<P, A> {
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
            for port in &self.address_i {
                let address = port.val().index();
                self._words[address / 64] |= 1 << (address % 64);
            }
        }
    }
}

impl<const P: usize, const A: usize> Logic for BitArray<P, A> {
    #[inline]
    fn update(&mut self) {
        if !self.rst_ni.val() {
            activity::note_change();
            self._words.fill(0);
        } else if self.clk_i.pos_edge() {
            activity::note_change_if(|| self.clear_i.val() || self.set_i.val());
            self.clock();
        }
        for (port, bit) in self.address_i.iter().zip(&mut self.bit_o) {
            let address = port.val().index();
            bit.next = (self._words[address / 64] >> (address % 64)) & 1 != 0;
        }
    }

    fn connect(&mut self) {
        for bit in &mut self.bit_o {
            bit.connect();
        }
    }

    /// Each address is decoded in two steps, to one of the columns and to one of the rows; a bit is set where both
    /// meet. That is a quarter of the cells of a full decoder per port.
    fn hdl(&self) -> Verilog {
        let column_bits = A / 2;
        let (bits, columns, rows) = (1usize << A, 1usize << column_bits, 1usize << (A - column_bits));
        let row_bits = A - column_bits;
        template(format!(
            "\
localparam PORTS = {P};
localparam COLUMNS = {columns};
localparam ROWS = {rows};

reg [{last}:0] bits_q;
reg [{last}:0] set;
reg [PORTS*COLUMNS-1:0] column;

// an address is a row (its high bits) and a column (its low bits)
always @(*) begin : decode
  integer p;
  integer r;
  for (p = 0; p < PORTS; p = p + 1) begin
    column[p*COLUMNS +: COLUMNS] = {columns}'d1 << address_i[p*{A} +: {column_bits}];
  end
  set = {bits}'d0;
  for (r = 0; r < ROWS; r = r + 1) begin
    for (p = 0; p < PORTS; p = p + 1) begin
      if (address_i[p*{A}+{column_bits} +: {row_bits}] == r[{row_top}:0]) begin
        set[r*COLUMNS +: COLUMNS] = set[r*COLUMNS +: COLUMNS] | column[p*COLUMNS +: COLUMNS];
      end
    end
  end
end

@clocked
@reset
    bits_q <= {bits}'d0;
@else
    if (clear_i) begin
      bits_q <= {bits}'d0;
    end else if (set_i) begin
      bits_q <= bits_q | set;
    end
@end
@initial bits_q = {bits}'d0;

genvar g;
generate
  for (g = 0; g < PORTS; g = g + 1) begin : gen_read
    assign bit_o[g] = bits_q[address_i[g*{A} +: {A}]];
  end
endgenerate
",
            last = bits - 1,
            row_top = row_bits - 1,
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
    fn ports_set_test_and_clear() {
        let mut bits = Stepper::new(BitArray::<2, 7>::default()).unwrap();
        let mut step = |set, clear, a: u64, b: u64| {
            bits.step(
                |x| {
                    x.set_i.next = set;
                    x.clear_i.next = clear;
                    x.address_i[0].next = a.into();
                    x.address_i[1].next = b.into();
                },
                |x| (x.bit_o[0].val(), x.bit_o[1].val()),
            )
            .unwrap()
        };
        assert_eq!(step(true, false, 3, 100), (false, false), "the state before the set");
        assert_eq!(step(false, false, 3, 100), (true, true));
        assert_eq!(step(false, false, 4, 100), (false, true));
        assert_eq!(step(true, true, 9, 3), (false, true), "clear wins over set");
        assert_eq!(step(false, false, 9, 3), (false, false));
    }

    #[test]
    fn reset_clears() {
        let mut bits = Stepper::new(BitArray::<1, 2>::default()).unwrap();
        bits.step(|x| x.set_i.next = true, |_| ()).unwrap();
        bits.reset().unwrap();
        let bit = bits.step(|x| x.set_i.next = false, |x| x.bit_o[0].val()).unwrap();
        assert!(!bit);
    }
}
