//! Tests of the types that SystemVerilog adds: packed arrays, enumerations, and the same bits as Verilog.

use crate::sequential::{lock_step, lock_step_as_system_verilog};
use crate::tools::{self, Random};
use selvedge_gen::{Design, EmitOptions, Family, FamilySample, Language, emit};
use selvedge_hw::rtl::prelude::*;

mod stage {
    use rust_hdl_core::prelude::*;
    /// The stages of the block.
    #[derive(Copy, Clone, Debug, PartialEq, LogicState, selvedge_hw::selvedge_state::State)]
    #[state(crate = selvedge_hw::selvedge_state)]
    pub enum Stage {
        Wait,
        Count,
        Done,
    }
}
use stage::Stage;

rtl_block! {
    /// Adds lanes to sums in stages.
    pub struct Lanes<const LANE: usize, const TOTAL: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low
        pub rst_ni: Signal<In, Bit>,
        /// a value for each of four lanes
        pub lanes_i: Signal<In, U<TOTAL>>,
        /// the lane to show
        pub at_i: Signal<In, U<2>>,
        /// its sum
        pub sum_o: Signal<Out, U<LANE>>,
        /// the sums of lanes, in reverse order
        pub all_o: Signal<Out, U<TOTAL>>,
        /// the low bits of each sum, and the upper two sums
        pub low_o: [Signal<Out, U<3>>; 4],
        /// the upper two sums
        pub upper_o: Signal<Out, U<TOTAL>>,
        /// the last stage
        pub done_o: Signal<Out, Bit>,
        /// kind of the first lane
        pub kind_o: Signal<Out, U<2>>,
        /// bits across lanes of a second vector
        pub across_o: Signal<Out, U<4>>,
        sums: [Reg<U<LANE>>; 4],
        stage: Reg<Stage>,
        reversed: Signal<Local, U<TOTAL>>,
        pairs: Signal<Local, U<TOTAL>>,
        plain: Signal<Local, U<TOTAL>>,
        kind: Signal<Local, U<2>>,
        empty: Constant<U<2>> = Constant::new(U::new(0)),
        small: Constant<U<2>> = Constant::new(U::new(1)),
        large: Constant<U<2>> = Constant::new(U::new(3)),
    }
}

impl<const LANE: usize, const TOTAL: usize> Logic for Lanes<LANE, TOTAL> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, stage);
        for i in 0..4 {
            dff_setup!(self, clk_i, sums[i]);
            if self.stage.q.val() == Stage::Count {
                self.sums[i].d.next = self.sums[i].q.val() + self.lanes_i.val().get_bits::<LANE>(i * LANE);
            }
            self.low_o[i].next = self.sums[i].q.val().get_bits::<3>(1);
        }
        match self.stage.q.val() {
            Stage::Wait => {
                self.stage.d.next = Stage::Count;
            }
            Stage::Count => {
                if self.lanes_i.val().get_bit(0) {
                    self.stage.d.next = Stage::Done;
                }
            }
            Stage::Done => {
                if self.lanes_i.val().get_bit(LANE) {
                    self.stage.d.next = Stage::Wait;
                }
            }
        }
        self.done_o.next = self.stage.q.val() == Stage::Done;
        self.sum_o.next = self.sums[self.at_i.val().index()].q.val();
        self.reversed.next = 0.into();
        self.plain.next = 0.into();
        for i in 0..4 {
            self.reversed.next = self.reversed.val().replace_bit((3 - i) * LANE, self.sums[i].q.val());
            self.plain.next = self.plain.val().replace_bit(i * LANE, self.sums[i].q.val());
        }
        self.all_o.next = self.reversed.val();
        self.across_o.next = self.plain.val().get_bits::<4>(LANE - 2);
        self.pairs.next = 0.into();
        for i in 0..2 {
            self.pairs.next =
                self.pairs.val().replace_bit(i * LANE, self.reversed.val().get_bits::<LANE>((i + 2) * LANE));
        }
        self.upper_o.next = self.pairs.val();
        if !self.sums[0].q.val().any() {
            self.kind.next = self.empty.val();
        } else if self.sums[0].q.val().get_bit(LANE - 1) {
            self.kind.next = self.large.val();
        } else {
            self.kind.next = self.small.val();
        }
        self.kind_o.next = self.kind.val();
    }
}

fn options(language: Language) -> EmitOptions {
    EmitOptions { language, ..EmitOptions::default() }
}

fn design(language: Language) -> Design {
    emit(&Lanes::<9, 36>::default(), "lanes", &options(language)).expect("the block is emitted")
}

#[test]
fn equal_lanes_are_packed_arrays() {
    let text = design(Language::SystemVerilog).text();
    for line in [
        "input  logic [3:0][8:0] lanes_i,",
        "output logic [3:0][2:0] low_o,",
        "logic [3:0][8:0] sums_q;",
        "logic [3:0][8:0] reversed;",
        "sums_d[i] = sums_q[i] + lanes_i[i];",
        "low_o[i] = sums_q[i][3:1];",
        "assign sum_o = sums_q[at_i];",
        "reversed[3-i] = sums_q[i];",
        "upper_o[i] = reversed[i+2];",
    ] {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
}

#[test]
fn a_vector_with_a_selection_across_lanes_stays_a_vector() {
    let text = design(Language::SystemVerilog).text();
    assert!(
        text.contains("logic [35:0] plain;") && text.contains("plain[i*Lane +: 9] = sums_q[i];"),
        "{text}"
    );
    assert!(text.contains("assign across_o = plain[10:7];"), "{text}");
}

#[test]
fn states_and_named_constants_are_enumerations() {
    let text = design(Language::SystemVerilog).text();
    for line in [
        "typedef enum logic [1:0] {\n    StageWait = 2'd0,\n    StageCount = 2'd1,\n    StageDone = 2'd2\n  } stage_e;",
        "  stage_e stage_q;",
        "stage_q <= StageWait;\n",
        "typedef enum logic [1:0] {\n    Empty = 2'd0,\n    Small = 2'd1,\n    Large = 2'd3\n  } kind_e;",
        "  kind_e kind;",
        "kind = Large;",
        "assign kind_o = kind;",
    ] {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
    assert!(!text.contains("localparam logic"), "{text}");
}

#[test]
fn verilog_has_no_packed_arrays_and_no_enumerations() {
    let text = design(Language::Verilog).text();
    for line in ["input  wire [35:0] lanes_i,", "reg [35:0] sums_q;", "localparam [1:0] LARGE = 2'd3;"] {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
}

fn random_lanes(b: &mut Lanes<9, 36>, r: &mut Random) {
    b.lanes_i.next = U::new(r.next() & 0xf_ffff_ffff);
    b.at_i.next = U::new(r.next() & 3);
}

#[test]
fn lanes_hold_the_bits_that_the_block_means() {
    lock_step("lanes", Lanes::<9, 36>::default, random_lanes);
    lock_step_as_system_verilog("lanes", Lanes::<9, 36>::default, random_lanes);
}

#[test]
fn types_are_silent() {
    tools::assert_lint_silent(&design(Language::SystemVerilog));
}

#[test]
fn the_width_of_a_lane_is_an_expression_of_a_parameter() {
    let sample = |block: Box<dyn Block>, bits: usize| FamilySample { block, values: vec![bits] };
    let family = || Family {
        parameters: vec![("BITS".into(), "bits of a lane".into())],
        samples: vec![sample(Box::<Lanes<16, 64>>::default(), 16), sample(Box::<Lanes<9, 36>>::default(), 9)],
    };
    let text = family().emit("lanes", &options(Language::SystemVerilog)).expect("a family").text();
    for line in ["input  logic [3:0][BITS-1:0] lanes_i,", "logic [3:0][BITS-1:0] sums_q;", "lanes_i[i];"] {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
    tools::assert_lint_silent(&family().emit("lanes", &options(Language::SystemVerilog)).expect("a family"));
}
