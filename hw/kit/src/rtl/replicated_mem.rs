//! A memory with several read ports: one copy of it per read port, all written in the same way.
//!
//! ```text
//! clk_i           __/--\__/--\__/--\__
//! write_i         --\_________________
//! write_address_i =< 3 >==============
//! read_address_i  =< 3, 7    >< 4, 3 >     two ports
//! read_data_o     =<old,x><x,x>< x,new     the write is visible from the next cycle on, at every port
//! ```
//!
//! In simulation, all copies share one storage, because they never differ.

use super::activity;
use super::mem::{NO_INITIAL, memory};
use crate::rtl::prelude::*;

rtl_block! {
    /// Memory of 2^A words with synchronous write and P asynchronous reads: P copies. No reset; it starts with zeros.
    #[require(P >= 1)]
    pub struct ReplicatedMem<T: Synth, const A: usize, const P: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// write this cycle
        pub write_i: Signal<In, Bit>,
        /// write address
        pub write_address_i: Signal<In, U<A>>,
        /// write data
        pub write_data_i: Signal<In, T>,
        /// read address of each port
        pub read_address_i: [Signal<In, U<A>>; P] = array(),
        /// word at the read address of each port, before this cycle's write
        pub read_data_o: [Signal<Out, T>; P] = array(),
        _words: Vec<T> = vec![T::default(); 1 << A],
    }
}

impl<T: Synth, const A: usize, const P: usize> ReplicatedMem<T, A, P> {
    /// See [`Stateless::has_own_state`](super::circuit::Stateless::has_own_state).
    #[inline(always)]
    fn has_own_state(&mut self) -> bool {
        true
    }

    /// See [`Stateless::take_edge`](super::circuit::Stateless::take_edge).
    #[inline]
    fn take_edge(&mut self) -> bool {
        let writes = self.write_i.val();
        if writes {
            self._words[self.write_address_i.val().index()] = self.write_data_i.val();
        }
        writes
    }
}

impl<T: Synth, const A: usize, const P: usize> Logic for ReplicatedMem<T, A, P> {
    #[inline]
    fn update(&mut self) {
        if self.clk_i.pos_edge() && self.write_i.val() {
            activity::note_change();
            self._words[self.write_address_i.val().index()] = self.write_data_i.val();
        }
        for (address, data) in self.read_address_i.iter().zip(&mut self.read_data_o) {
            data.next = self._words[address.val().index()];
        }
    }

    fn connect(&mut self) {
        for data in &mut self.read_data_o {
            data.connect();
        }
    }

    fn hdl(&self) -> Verilog {
        let code = format!(
            "\
localparam PORTS = {P};

// a memory has one read port: each port has a copy of its own
genvar p;
generate
  for (p = 0; p < PORTS; p = p + 1) begin : gen_copies
    reg [{last}:0] words [0:{top}];

    {NO_INITIAL}    integer i;
    initial begin
      for (i = 0; i < {depth}; i = i + 1) begin : clear
        words[i] = {zero:x};
      end
    end
    `endif

    always @(posedge clk_i) begin
      if (write_i) begin
        words[write_address_i] <= write_data_i;
      end
    end

    assign read_data_o[p*{bits} +: {bits}] = words[read_address_i[p*{A} +: {A}]];
  end
endgenerate
",
            last = T::BITS - 1,
            bits = T::BITS,
            depth = 1usize << A,
            top = (1usize << A) - 1,
            zero = T::default().verilog(),
        );
        memory::<T>(code, &[])
    }

    fn timing(&self) -> Vec<TimingInfo> {
        [self.describe(), sizes(&[("BITS", T::BITS)])].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_port_reads_its_own_word_and_sees_a_write_after_the_edge() {
        let mut mem = ReplicatedMem::<U<8>, 4, 2>::default();
        mem.connect_all();
        mem.write_i.next = true;
        mem.write_address_i.next = 3.into();
        mem.write_data_i.next = 77.into();
        mem.read_address_i[1].next = 3.into();
        settle(&mut mem).unwrap();
        assert_eq!(mem.read_data_o[1].val().to_u64(), 0, "not before the edge");
        for level in [true, false] {
            mem.clk_i.next = level.into();
            settle(&mut mem).unwrap();
        }
        assert_eq!(mem.read_data_o[1].val().to_u64(), 77);
        assert_eq!(mem.read_data_o[0].val().to_u64(), 0);
        mem.read_address_i[0].next = 3.into();
        settle(&mut mem).unwrap();
        assert_eq!(mem.read_data_o[0].val().to_u64(), 77);
    }
}
