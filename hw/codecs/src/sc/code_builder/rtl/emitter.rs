//! The emitter: gives the codes in canonical order, with values that it reads again from the table.

use super::super::params::ESCAPE_BITS;
use crate::sc::vft::COUNT_BITS;
use selvedge_hw::rtl::circuit::Part as _;
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::rtl::top;

rtl_block! {
    /// Gives a code for every entry and for the escape symbol, in canonical order.
    ///
    /// The escape comes after the last entry whose count is not below its weight. INDEX is the width of an index in bits,
    /// COUNT is one more.
    #[new(max_length: u64)]
    #[require(COUNT == INDEX + 1)]
    pub struct Emitter<const INDEX: usize, const COUNT: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low
        pub rst_ni: Signal<In, Bit>,
        /// starts the emission of all codes
        pub start_i: Signal<In, Bit>,
        /// number of entries, one less than the number of symbols
        pub size_i: Signal<In, U<COUNT>>,
        /// weight of the escape symbol
        pub escape_weight_i: Signal<In, U<ESCAPE_BITS>>,
        /// the next entry must be shown in the next cycle
        pub next_o: Signal<Out, Bit>,
        /// count of the next entry
        pub count_i: Signal<In, U<COUNT_BITS>>,
        /// index of the next entry
        pub index_i: Signal<In, U<INDEX>>,
        /// length of the next code, modulo 16
        pub length_o: Signal<Out, U<4>>,
        /// position from which on codes are longer than `length_o`
        pub longer_from_i: Signal<In, U<COUNT>>,
        /// reads the value of the entry `index_i`
        pub read_o: Signal<Out, Bit>,
        /// the table replies to the read
        pub read_valid_i: Signal<In, Bit>,
        /// value from the table
        pub read_value_i: Signal<In, U<32>>,
        /// a code is offered
        pub code_valid_o: Signal<Out, Bit>,
        /// the consumer takes the code in this cycle
        pub code_ready_i: Signal<In, Bit>,
        /// the code is the first one of the stream
        pub code_first_o: Signal<Out, Bit>,
        /// the code is the last one of the stream
        pub code_last_o: Signal<Out, Bit>,
        /// index of the entry that has the code; zero for the escape
        pub code_index_o: Signal<Out, U<INDEX>>,
        /// the code is that of the escape symbol
        pub code_escape_o: Signal<Out, Bit>,
        /// value that has the code; zero for the escape
        pub code_value_o: Signal<Out, U<32>>,
        /// the code, right-aligned
        pub code_code_o: Signal<Out, U<16>>,
        /// length of the code in bits
        pub code_length_o: Signal<Out, U<5>>,
        /// the last code is taken in this cycle
        pub done_o: Signal<Out, Bit>,
        busy: Reg<Bit>,
        /// symbols without a code are left
        more: DataReg<Bit>,
        /// a read of an entry's value is in flight
        waiting: Reg<Bit>,
        read: Reg<Bit>,
        /// number of symbols that have a code
        position: DataReg<U<COUNT>>,
        escape_left: DataReg<Bit>,
        /// the next code
        code: DataReg<U<16>>,
        length: DataReg<U<5>>,
        valid: Reg<Bit>,
        first: Reg<Bit>,
        last: Reg<Bit>,
        index: DataReg<U<INDEX>>,
        escape: DataReg<Bit>,
        value: DataReg<U<32>>,
        given_code: DataReg<U<16>>,
        given_length: DataReg<U<5>>,
        max_length: Constant<U<5>> = Constant::new(U::new(max_length)),
        free: Signal<Local, Bit>,
        longer: Signal<Local, Bit>,
        choose: Signal<Local, Bit>,
        escape_next: Signal<Local, Bit>,
        give_escape: Signal<Local, Bit>,
        give_entry: Signal<Local, Bit>,
        ask: Signal<Local, Bit>,
        done: Signal<Local, Bit>,
    }
}

impl<const INDEX: usize, const COUNT: usize> Emitter<INDEX, COUNT> {
    /// Inverts a bit of the registers behind the outputs.
    pub fn strike(&mut self, bit: usize) {
        top::strike(
            &mut [
                &mut self.valid,
                &mut self.first,
                &mut self.last,
                &mut self.escape,
                &mut self.value,
                &mut self.given_code,
                &mut self.given_length,
                &mut self.index,
            ],
            bit,
        );
    }
}

impl<const INDEX: usize, const COUNT: usize> Emitter<INDEX, COUNT> {
    /// See [`Attentive::ignores_inputs`](selvedge_hw::rtl::circuit::Attentive::ignores_inputs). Before a start and after the
    /// last code is taken, the emitter ignores the entries that the other parts work on.
    #[inline]
    fn ignores_inputs(&mut self) -> bool {
        let starts = self.start_i.next || self.start_i.val();
        let is_at_work = self.busy.q.next || self.waiting.q.next || self.valid.q.next;
        !starts && !is_at_work && !self.rst_ni.has_input(false)
    }
}

#[hdl_gen]
impl Logic for Emitter {
    fn update(&mut self) {
        dff_setup!(self, clk_i, busy, more, waiting, read, position, escape_left, code, length);
        dff_setup!(self, clk_i, valid, first, last, index, escape, value, given_code, given_length);

        comment!("extend the code by one bit per cycle to the length of this position");
        self.choose.next = self.busy.q.val() & self.more.q.val() & !self.waiting.q.val();
        self.longer.next = self.size_i.val().any()
            & (self.length.q.val() != self.max_length.val())
            & (self.position.q.val() >= self.longer_from_i.val());
        if self.choose.val() & self.longer.val() {
            self.length.d.next = self.length.q.val() + 1;
            self.code.d.next = self.code.q.val() << 1;
        }

        comment!("then output the escape, or read the entry's value and output the entry");
        self.free.next = !self.valid.q.val() | self.code_ready_i.val();
        self.escape_next.next = self.escape_left.q.val()
            & ((self.position.q.val() == self.size_i.val())
                | (bit_cast::<ESCAPE_BITS, COUNT_BITS>(self.count_i.val()) < self.escape_weight_i.val()));
        self.give_escape.next =
            self.choose.val() & !self.longer.val() & self.free.val() & self.escape_next.val();
        self.give_entry.next = self.waiting.q.val() & self.read_valid_i.val();
        self.ask.next = self.choose.val() & !self.longer.val() & self.free.val() & !self.escape_next.val();
        self.read.d.next = self.ask.val();
        if self.ask.val() {
            self.waiting.d.next = true;
        }
        if self.valid.q.val() & self.code_ready_i.val() {
            self.valid.d.next = false;
        }
        if self.give_entry.val() {
            drive!(self; waiting.d: false, index.d: index_i, escape.d: false, value.d: read_value_i);
        }
        if self.give_escape.val() {
            drive!(self; escape_left.d: false, index.d: 0, escape.d: true, value.d: 0);
        }
        if self.give_entry.val() | self.give_escape.val() {
            self.valid.d.next = true;
            self.first.d.next = !self.position.q.val().any();
            self.last.d.next = self.position.q.val() == self.size_i.val();
            drive!(self; given_code.d: code.q, given_length.d: length.q);
            self.code.d.next = self.code.q.val() + 1;
            self.position.d.next = self.position.q.val() + 1;
            self.more.d.next = self.position.q.val() != self.size_i.val();
        }
        self.done.next =
            self.busy.q.val() & !self.more.q.val() & self.valid.q.val() & self.code_ready_i.val();
        self.done_o.next = self.done.val();
        if self.done.val() {
            self.busy.d.next = false;
        }
        if self.start_i.val() {
            drive!(self; busy.d: true, more.d: true, position.d: 0, escape_left.d: true, code.d: 0,
                length.d: 1);
        }

        self.next_o.next = self.give_entry.val();
        self.length_o.next = self.length.q.val().get_bits::<4>(0);
        drive!(self; read_o: read.q, code_valid_o: valid.q, code_first_o: first.q, code_last_o: last.q,
            code_index_o: index.q, code_escape_o: escape.q, code_value_o: value.q, code_code_o: given_code.q,
            code_length_o: given_length.q);
    }
}
