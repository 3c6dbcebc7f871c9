//! Tests of refusals: each error names the block, the expression and the reason.

use selvedge_gen::{EmitError, EmitOptions, Problem, emit};
use selvedge_hw::rtl::prelude::*;

/// Returns the refusal of a block.
fn refusal(block: &dyn Block) -> EmitError {
    match emit(block, "top", &EmitOptions::default()) {
        Err(error) => error,
        Ok(design) => panic!("emitted:\n{}", design.text()),
    }
}

/// Declares a block that must be refused for `subject` with `problem`.
macro_rules! refused {
    ($name:ident, $subject:literal, $problem:expr; { $($fields:tt)* } $($update:tt)*) => {
        #[test]
        fn $name() {
            #[allow(unused_imports)]
            use types::*;
            rtl_block! {
                /// A block that cannot be translated.
                pub struct Refused { $($fields)* }
            }
            impl Logic for Refused {
                $($update)*
            }
            let error = refusal(&Refused::default());
            assert_eq!((error.block.as_str(), error.subject.as_str()), ("Refused", $subject), "{error}");
            assert_eq!(error.problem, $problem, "{error}");
        }
    };
}

mod types {
    pub const SEVEN: usize = 7;
}

refused!(const_item_in_expression, "SEVEN", Problem::UnknownName; { pub a_i: Signal<In, U<8>>, pub y_o: Signal<Out, Bit> }
    #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val().get_bit(SEVEN); });
refused!(slice_beyond_the_value, "a_i.get_bits::<8>(4)", Problem::OutOfRange { from: 4, to: 11, width: 8 };
    { pub a_i: Signal<In, U<8>>, pub y_o: Signal<Out, U<8>> }
    #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val().get_bits::<8>(4); });
refused!(slice_beyond_the_value_in_the_last_turn, "a_i", Problem::OutOfRange { from: 6, to: 8, width: 8 };
    { pub a_i: Signal<In, U<8>>, pub y_o: Signal<Out, U<3>> }
    #[hdl_gen] fn update(&mut self) { self.y_o.next = 0.into(); for i in 0..7 { self.y_o.next = self.a_i.val().get_bits::<3>(i); } });
refused!(element_beyond_the_array, "t", Problem::OutOfBounds { index: 4, length: 4 };
    { pub a_i: Signal<In, U<8>>, pub y_o: Signal<Out, U<8>>, t: [Signal<Local, U<8>>; 4] }
    #[hdl_gen] fn update(&mut self) { for i in 0..4 { self.t[i].next = self.a_i.val(); } for i in 0..4 { self.y_o.next = self.t[i + 1].val(); } });
refused!(latch, "y_o", Problem::Latch; { pub a_i: Signal<In, U<8>>, pub y_o: Signal<Out, U<8>> }
    #[hdl_gen] fn update(&mut self) { if self.a_i.val().any() { self.y_o.next = self.a_i.val(); } });
refused!(latch_in_one_bit, "t", Problem::ReadBeforeAssigned; { pub a_i: Signal<In, U<8>>, pub y_o: Signal<Out, U<8>>, t: Signal<Local, U<8>> }
    #[hdl_gen] fn update(&mut self) { for i in 0..7 { self.t.next = self.t.val().replace_bit(i, self.a_i.val().get_bit(i)); } self.y_o.next = self.t.val(); });
refused!(latch_in_one_element, "y_o", Problem::Latch; { pub a_i: Signal<In, U<8>>, pub y_o: [Signal<Out, U<8>>; 4] }
    #[hdl_gen] fn update(&mut self) { for i in 0..3 { self.y_o[i].next = self.a_i.val(); } });
refused!(stale_read, "t", Problem::ReadBeforeAssigned; { pub a_i: Signal<In, U<8>>, pub y_o: Signal<Out, U<8>>, t: Signal<Local, U<8>> }
    #[hdl_gen] fn update(&mut self) { self.y_o.next = self.t.val(); self.t.next = self.a_i.val(); });
refused!(undriven_output, "y_o", Problem::Undriven; { pub a_i: Signal<In, U<8>>, pub y_o: Signal<Out, U<8>>, pub z_o: Signal<Out, U<8>> }
    #[hdl_gen] fn update(&mut self) { self.z_o.next = self.a_i.val(); });
refused!(driven_input, "a_i.next", Problem::DrivenTwice; { pub a_i: Signal<In, U<8>>, pub y_o: Signal<Out, U<8>> }
    #[hdl_gen] fn update(&mut self) { self.a_i.next = 3.into(); self.y_o.next = self.a_i.val(); });
refused!(driven_output_of_a_sub_block, "p.data_o.next", Problem::DrivenTwice;
{ pub clk_i: Signal<In, Clock>, pub rst_ni: Signal<In, Bit>, pub y_o: Signal<Out, U<8>>, p: Pipe<U<8>> }
#[hdl_gen] fn update(&mut self) {
    self.p.clk_i.next = self.clk_i.val(); self.p.rst_ni.next = self.rst_ni.val(); self.p.valid_i.next = true;
    self.p.data_i.next = 1.into(); self.p.data_o.next = 3.into(); self.y_o.next = self.p.data_o.val();
});
refused!(undriven_input_of_a_sub_block, "p.data_i", Problem::Undriven;
    { pub clk_i: Signal<In, Clock>, pub rst_ni: Signal<In, Bit>, pub y_o: Signal<Out, U<8>>, p: Pipe<U<8>> }
    #[hdl_gen] fn update(&mut self) { self.p.clk_i.next = self.clk_i.val(); self.p.rst_ni.next = self.rst_ni.val(); self.p.valid_i.next = true; self.y_o.next = self.p.data_o.val(); });
refused!(register_without_clock, "r.clock", Problem::Undriven;
    { pub clk_i: Signal<In, Clock>, pub rst_ni: Signal<In, Bit>, pub y_o: Signal<Out, U<8>>, r: Reg<U<8>> }
    #[hdl_gen] fn update(&mut self) { self.r.d.next = 3.into(); self.y_o.next = self.r.q.val(); });
refused!(register_without_default, "r.d", Problem::Latch;
    { pub clk_i: Signal<In, Clock>, pub rst_ni: Signal<In, Bit>, pub y_o: Signal<Out, U<8>>, r: Reg<U<8>> }
    #[hdl_gen] fn update(&mut self) { self.r.clock.next = self.clk_i.val(); if self.r.q.val().any() { self.r.d.next = 3.into(); } self.y_o.next = self.r.q.val(); });
refused!(block_without_reset, "r.q", Problem::NoClock;
    { pub clk_i: Signal<In, Clock>, pub y_o: Signal<Out, U<8>>, r: Reg<U<8>> }
    #[hdl_gen] fn update(&mut self) { self.r.clock.next = self.clk_i.val(); self.r.d.next = 3.into(); self.y_o.next = self.r.q.val(); });
refused!(gated_reset, "p.rst_ni.next", Problem::ForeignClock;
{ pub clk_i: Signal<In, Clock>, pub rst_ni: Signal<In, Bit>, pub clear_i: Signal<In, Bit>, pub y_o: Signal<Out, U<8>>, p: Pipe<U<8>> }
#[hdl_gen] fn update(&mut self) {
    self.p.clk_i.next = self.clk_i.val(); self.p.rst_ni.next = self.rst_ni.val() & !self.clear_i.val(); self.p.valid_i.next = true;
    self.p.data_i.next = 1.into(); self.y_o.next = self.p.data_o.val();
});
refused!(clock_in_a_condition, "p.clk_i", Problem::ForeignClock;
{ pub clk_i: Signal<In, Clock>, pub rst_ni: Signal<In, Bit>, pub on_i: Signal<In, Bit>, pub y_o: Signal<Out, U<8>>, p: Pipe<U<8>> }
#[hdl_gen] fn update(&mut self) {
    if self.on_i.val() { self.p.clk_i.next = self.clk_i.val(); }
    self.p.rst_ni.next = self.rst_ni.val(); self.p.valid_i.next = true; self.p.data_i.next = 1.into(); self.y_o.next = self.p.data_o.val();
});
refused!(literal_too_wide, "300", Problem::TooWide { value: "300".into(), width: 8 }; { pub a_i: Signal<In, U<8>>, pub y_o: Signal<Out, Bit> }
    #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val() == 300; });
refused!(loop_variable_too_wide, "to_bits", Problem::TooWide { value: "4".into(), width: 2 }; { pub a_i: Signal<In, U<2>>, pub y_o: Signal<Out, Bit> }
    #[hdl_gen] fn update(&mut self) { self.y_o.next = false; for i in 0..5 { self.y_o.next = self.a_i.val() == i.to_bits(); } });
refused!(arithmetic_on_a_signal_as_index, "k_i * 2", Problem::Unsupported("arithmetic on an index that is a signal; compute it in a Local first");
    { pub a_i: Signal<In, U<8>>, pub k_i: Signal<In, U<2>>, pub y_o: Signal<Out, Bit> }
    #[hdl_gen] fn update(&mut self) { self.y_o.next = self.a_i.val().get_bit(self.k_i.val().index() * 2); });
refused!(array_index_that_may_be_too_large, "k_i.val().index()", Problem::UnsafeIndex { largest: 7, length: 6 };
    { pub a_i: Signal<In, U<8>>, pub k_i: Signal<In, U<3>>, pub y_o: Signal<Out, U<8>>, t: [Signal<Local, U<8>>; 6] }
    #[hdl_gen] fn update(&mut self) { for i in 0..6 { self.t[i].next = self.a_i.val(); } self.y_o.next = self.t[self.k_i.val().index()].val(); });
refused!(array_index_that_may_be_the_length, "k_i.val().index()", Problem::UnsafeIndex { largest: 7, length: 7 };
    { pub a_i: Signal<In, U<8>>, pub k_i: Signal<In, U<3>>, pub y_o: Signal<Out, U<8>>, t: [Signal<Local, U<8>>; 7] }
    #[hdl_gen] fn update(&mut self) { for i in 0..7 { self.t[i].next = self.a_i.val(); } self.y_o.next = self.t[self.k_i.val().index()].val(); });
refused!(element_at_a_signal_before_all_are_assigned, "t", Problem::ReadBeforeAssigned;
    { pub a_i: Signal<In, U<8>>, pub k_i: Signal<In, U<2>>, pub y_o: Signal<Out, U<8>>, t: [Signal<Local, U<8>>; 4] }
    #[hdl_gen] fn update(&mut self) { for i in 0..3 { self.t[i].next = self.a_i.val(); } self.y_o.next = self.t[self.k_i.val().index()].val(); });
refused!(verilog_keyword, "table", Problem::ReservedName; { pub table: Signal<In, U<8>>, pub y_o: Signal<Out, U<8>> }
    #[hdl_gen] fn update(&mut self) { self.y_o.next = self.table.val(); });
refused!(cpp_keyword, "delete", Problem::ReservedName; { pub delete: Signal<In, U<8>>, pub y_o: Signal<Out, U<8>> }
    #[hdl_gen] fn update(&mut self) { self.y_o.next = self.delete.val(); });
refused!(name_clash, "r.q", Problem::NameClash { other: "r_q".into() };
    { pub clk_i: Signal<In, Clock>, pub rst_ni: Signal<In, Bit>, pub y_o: Signal<Out, U<8>>, r_q: Signal<Local, U<8>>, r: Reg<U<8>> }
    #[hdl_gen] fn update(&mut self) { dff_setup!(self, clk_i, r); self.r_q.next = self.r.q.val(); self.y_o.next = self.r_q.val(); });
refused!(loop_variable_named_like_a_signal, "for i", Problem::NameClash { other: "i".into() }; { pub i: Signal<In, U<8>>, pub y_o: Signal<Out, U<8>> }
    #[hdl_gen] fn update(&mut self) { self.y_o.next = 0.into(); for i in 0..3 { self.y_o.next = self.i.val() + i.to_bits(); } });
refused!(clock_as_data, "clk_i", Problem::Unsupported("a clock or reset pin is not data"); { pub clk_i: Signal<In, Clock>, pub y_o: Signal<Out, Bit> }
    #[hdl_gen] fn update(&mut self) { self.y_o.next = self.clk_i.val() == self.clk_i.val(); });

#[test]
fn foreign_verilog_is_refused() {
    /// A block with rust-hdl's flip-flop, whose Verilog is not verified.
    #[derive(LogicBlock, Default)]
    struct Foreign {
        pub clk_i: Signal<In, Clock>,
        pub y_o: Signal<Out, Bit>,
        dff: rust_hdl_widgets::prelude::DFF<Bit>,
        _activity: selvedge_hw::rtl::circuit::Activity,
    }
    impl Logic for Foreign {
        #[hdl_gen]
        fn update(&mut self) {
            self.dff.clock.next = self.clk_i.val();
            self.dff.d.next = !self.dff.q.val();
            self.y_o.next = self.dff.q.val();
        }
    }
    let error = refusal(&Foreign::default());
    assert_eq!((error.block.as_str(), error.problem), ("dff", Problem::ForeignVerilog));
}

#[test]
fn elements_of_different_sizes_are_refused() {
    rtl_block! {
        /// Pipelines whose ports are equal but whose module names must differ are fine; uneven arrays are not.
        pub struct Uneven {
            pub x_i: Vec<Vec<Signal<In, Bit>>>,
            pub y_o: Signal<Out, Bit>,
        }
    }
    impl Logic for Uneven {
        #[hdl_gen]
        fn update(&mut self) {
            self.y_o.next = true;
        }
    }
    let row = |n: usize| (0..n).map(|_| Signal::default()).collect();
    let uneven = Uneven { x_i: vec![row(2), row(3)], ..Uneven::default() };
    assert_eq!(refusal(&uneven).problem, Problem::UnevenArray);
}

#[test]
fn names_of_modules_are_checked() {
    let pipe = Pipe::<U<8>>::default();
    for (name, problem) in [
        ("module", Problem::ReservedName),
        ("Pipe", Problem::BadName),
        ("a b", Problem::BadName),
        ("", Problem::BadName),
        ("selvedge_pipe", Problem::CellName),
    ] {
        assert_eq!(emit(&pipe, name, &EmitOptions::default()).unwrap_err().problem, problem);
    }
}

#[test]
fn a_refusal_is_one_line_with_block_expression_and_reason() {
    rtl_block! {
        /// A latch.
        pub struct Keeper {
            pub a_i: Signal<In, Bit>,
            pub y_o: Signal<Out, Bit>,
        }
    }
    impl Logic for Keeper {
        #[hdl_gen]
        fn update(&mut self) {
            if self.a_i.val() {
                self.y_o.next = true;
            }
        }
    }
    assert_eq!(
        refusal(&Keeper::default()).to_string(),
        "Keeper: 'y_o': not assigned in every case (this would be a latch); assign a default first"
    );
}
