//! Emitted expressions, processes and names are as short as a designer writes them.

use crate::sequential::lock_step;
use crate::tools::Random;
use selvedge_gen::{EmitOptions, emit};
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Adds one.
    pub struct Next {
        /// a number
        pub line_i: Signal<In, U<8>>,
        /// the number plus one
        pub line_o: Signal<Out, U<8>>,
    }
}

#[hdl_gen]
impl Logic for Next {
    fn update(&mut self) {
        self.line_o.next = self.line_i.val() + 1;
    }
}

rtl_block! {
    /// Joins and chooses.
    pub struct Joiner {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low
        pub rst_ni: Signal<In, Bit>,
        /// first number
        pub a_i: Signal<In, U<8>>,
        /// second number
        pub b_i: Signal<In, U<8>>,
        /// the second number is chosen
        pub second_i: Signal<In, Bit>,
        /// both numbers with a mark between them
        pub joined_o: Signal<Out, U<20>>,
        /// the chosen number plus one
        pub chosen_o: Signal<Out, U<8>>,
        /// both numbers in the opposite order
        pub parts_o: Signal<Out, U<16>>,
        /// only the first number has bits, and it is chosen
        pub none_o: Signal<Out, Bit>,
        /// each bit is set in one number only
        pub bits_o: Signal<Out, U<8>>,
        /// the chosen number of the cycle before
        pub last_o: Signal<Out, U<8>>,
        chosen: Signal<Local, U<8>>,
        copied: Signal<Local, U<8>>,
        summed: Signal<Local, U<8>>,
        parts: Signal<Local, U<16>>,
        bits: Signal<Local, U<8>>,
        unit: Next,
        last: Reg<U<8>>,
    }
}

#[hdl_gen]
impl Logic for Joiner {
    fn update(&mut self) {
        dff_setup!(self, clk_i, last);
        self.last_o.next = self.last.q.val();
        self.joined_o.next =
            (bit_cast::<20, 8>(self.a_i.val()) << 12) | bit_cast::<20, 8>(self.b_i.val()) | 256;
        self.chosen.next = self.a_i.val();
        if self.second_i.val() {
            self.chosen.next = self.b_i.val();
        }
        self.last.d.next = self.chosen.val();
        self.copied.next = self.chosen.val();
        self.unit.line_i.next = self.copied.val() - 1;
        self.summed.next = self.unit.line_o.val();
        self.chosen_o.next = self.summed.val() ^ self.copied.val();
        self.parts.next = 0.into();
        self.parts.next = self.parts.val().replace_bit(0, self.b_i.val());
        self.parts.next = self.parts.val().replace_bit(8, self.a_i.val());
        self.parts_o.next = self.parts.val();
        self.none_o.next = self.a_i.val().any() & !self.b_i.val().any() & !self.second_i.val();
        self.bits.next = 0.into();
        for i in 0..8 {
            self.bits.next =
                self.bits.val().replace_bit(i, self.a_i.val().get_bit(i) ^ self.b_i.val().get_bit(i));
        }
        self.bits_o.next = self.bits.val();
    }
}

fn random_inputs(b: &mut Joiner, r: &mut Random) {
    b.a_i.next = U::new(r.next() & 0xff);
    b.b_i.next = U::new(r.next() & 0xff);
    b.second_i.next = r.next() & 1 == 1;
}

#[test]
fn values_have_one_name_and_one_statement() {
    let text = emit(&Joiner::default(), "joiner", &EmitOptions::default()).unwrap().text();
    for line in [
        "assign joined_o = {a_i, 4'd1, b_i};",
        "assign chosen = second_i ? b_i : a_i;",
        "assign unit_line = chosen - 8'd1;",
        ".line_o (summed)",
        "assign chosen_o = summed ^ chosen;",
        "assign parts_o = {a_i, b_i};",
        "assign none_o = (|a_i) & ~(|b_i) & ~second_i;",
        "bits_o[i] = a_i[i] ^ b_i[i];",
    ] {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
    for name in ["copied", "bits;", "parts;", "unit_line_i", "unit_line_o"] {
        assert!(!text.contains(name), "`{name}` in\n{text}");
    }
}

#[test]
fn short_verilog_behaves_as_rust() {
    lock_step("joiner", Joiner::default, random_inputs);
}
