//! Tests of layouts: constants for first bits of fields in Verilog, packed structs in SystemVerilog, and equal bits in both.

use crate::sequential::lock_step;
use crate::tools;
use selvedge_gen::{EmitOptions, Language, Problem, emit};
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Keeps the last request whose kind is not zero, and shows its fields.
    pub struct Fields<const A: usize, const WIDE: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low
        pub rst_ni: Signal<In, Bit>,
        /// a request
        pub request_i: Signal<In, U<WIDE>>,
        /// the kept request's address
        pub address_o: Signal<Out, U<A>>,
        /// the lower half of the kept request's kind
        pub half_o: Signal<Out, U<2>>,
        /// the kept request is valid
        pub valid_o: Signal<Out, Bit>,
        /// the current request with the kept request's address
        pub rest_o: Signal<Out, U<WIDE>>,
        /// three bits across two fields of the current request
        pub across_o: Signal<Out, U<3>>,
        kept: Reg<U<WIDE>>,
        crossed: Signal<Local, U<WIDE>>,
    }
}

impl<const A: usize, const WIDE: usize> Logic for Fields<A, WIDE> {
    #[hdl_gen(layouts! { request_i, kept, rest_o, crossed: { address: A, kind: 4, valid: 1, last: WIDE - A - 5 } })]
    fn update(&mut self) {
        dff_setup!(self, clk_i, kept);
        if self.request_i.val().get_bits::<4>(A).any() {
            self.kept.d.next = self.request_i.val().replace_bit(A + 4, true);
        }
        self.address_o.next = self.kept.q.val().get_bits::<A>(0);
        self.half_o.next = self.kept.q.val().get_bits::<2>(A + 1);
        self.valid_o.next = self.kept.q.val().get_bit(A + 4);
        self.rest_o.next = self.request_i.val();
        self.rest_o.next = self.rest_o.val().replace_bit(0, self.kept.q.val().get_bits::<A>(0));
        self.crossed.next = self.request_i.val();
        self.across_o.next = self.crossed.val().get_bits::<3>(A + 2);
    }
}

fn text(language: Language) -> String {
    let options = EmitOptions { language, ..EmitOptions::default() };
    emit(&Fields::<9, 15>::default(), "fields", &options).expect("the block is emitted").text()
}

#[test]
fn verilog_has_a_constant_for_the_first_bit_of_each_field() {
    let text = text(Language::Verilog);
    for line in [
        "localparam REQUEST_KIND = 9;",
        "if (|request_i[REQUEST_KIND +: 4]) begin",
        "assign address_o = kept_q[REQUEST_ADDRESS +: 9];",
        "assign half_o = kept_q[REQUEST_KIND+1 +: 2];",
        "assign valid_o = kept_q[REQUEST_VALID];",
        "rest_o[REQUEST_ADDRESS +: 9] = kept_q[REQUEST_ADDRESS +: 9];",
        "assign across_o = crossed[13:11];",
        "kept_q <= {request_i[REQUEST_LAST], 1'b1, request_i[REQUEST_KIND +: 4], request_i[REQUEST_ADDRESS +: 9]};",
    ] {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&text).contains(line), "no `{line}` in\n{text}");
    }
}

#[test]
fn system_verilog_has_a_packed_struct_where_only_fields_are_selected() {
    let text = text(Language::SystemVerilog);
    for line in [
        "typedef struct packed {",
        "logic [3:0] kind;",
        "} request_t;",
        "request_t kept_q;",
        "assign request_fields = request_i;",
        "if (|request_fields.kind) begin",
        "assign address_o = kept_q.address;",
        "assign half_o = kept_q.kind[2:1];",
        "assign valid_o = kept_q.valid;",
        "assign rest_o = rest_fields;",
        "rest_fields.address = kept_q.address;",
        "assign across_o = crossed[13:11];",
    ] {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
}

#[test]
fn fields_are_the_bits_that_the_block_means() {
    lock_step("fields", Fields::<9, 15>::default, |b, r| b.request_i.next = U::new(r.next() & 0x7fff));
    lock_step("fields_wide", Fields::<20, 40>::default, |b, r| {
        b.request_i.next = U::new(r.next() & 0xff_ffff_ffff)
    });
}

#[test]
fn structs_are_silent_and_synthesize() {
    let options = EmitOptions { language: Language::SystemVerilog, ..EmitOptions::default() };
    let design = emit(&Fields::<9, 15>::default(), "fields", &options).expect("the block is emitted");
    tools::assert_lint_silent(&design);
    tools::assert_synthesizes(&design);
}

/// Declares a block with a layout that must be refused for `subject` with `problem`.
macro_rules! refused {
    ($name:ident, $subject:literal, $problem:expr; $($layout:tt)*) => {
        #[test]
        fn $name() {
            rtl_block! {
                /// A block with a wrong layout.
                pub struct Wrong {
                    pub a_i: Signal<In, U<8>>,
                    pub b_o: Signal<Out, U<8>>,
                }
            }
            impl Logic for Wrong {
                #[hdl_gen(layouts! { $($layout)* })]
                fn update(&mut self) {
                    self.b_o.next = self.a_i.val();
                }
            }
            let error = emit(&Wrong::default(), "top", &EmitOptions::default()).expect_err("a refusal");
            assert_eq!((error.subject.as_str(), error.problem), ($subject, $problem));
        }
    };
}

refused!(layout_of_nothing, "c", Problem::UnknownSignal; c: { low: 8 });
refused!(fields_that_do_not_fill_the_signal, "a_i", Problem::UnevenLayout { have: 7, want: 8 }; a_i: { low: 3, high: 4 });
refused!(field_with_a_reserved_name, "end", Problem::ReservedName; a_i: { low: 3, end: 5 });
refused!(field_with_a_bad_name, "High", Problem::BadName; a_i: { low: 3, High: 5 });
