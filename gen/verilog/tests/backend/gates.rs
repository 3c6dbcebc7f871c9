//! Tests of clock gates.

use selvedge_gen::{Cells, EmitOptions, Language, Problem, ResetStyle, TEST_ENABLE, emit, files};
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Registers with and without conditions.
    pub struct Conditions {
        pub clk_i: Signal<In, Clock>,
        pub rst_ni: Signal<In, Bit>,
        pub load_i: Signal<In, Bit>,
        pub clear_i: Signal<In, Bit>,
        pub data_i: Signal<In, U<8>>,
        pub data_o: Signal<Out, U<8>>,
        /// changes if `load_i`
        first: Reg<U<8>>,
        /// changes together with it
        second: DataReg<U<8>>,
        /// changes if `load_i` or `clear_i`
        sum: Reg<U<8>>,
        /// counts through a wire that holds it by default
        count: Reg<U<4>>,
        /// changes in each cycle
        always: Reg<U<8>>,
        /// always gets one of two values
        chosen: Reg<U<8>>,
        bit: [Reg<Bit>; 4] = array(),
        next_count: Signal<Local, U<4>>,
    }
}

#[hdl_gen]
impl Logic for Conditions {
    fn update(&mut self) {
        dff_setup!(self, clk_i, first, second, sum, count, always, chosen);
        for i in 0..4 {
            dff_setup!(self, clk_i, bit[i]);
        }
        if self.load_i.val() {
            self.first.d.next = self.data_i.val();
            self.second.d.next = self.first.q.val();
        }
        if self.clear_i.val() {
            self.sum.d.next = 0.into();
        } else if self.load_i.val() {
            self.sum.d.next = self.sum.q.val() + self.data_i.val();
        }
        self.next_count.next = self.count.q.val();
        if self.load_i.val() && self.sum.q.val().any() {
            self.next_count.next = self.next_count.val() + 1;
        }
        self.count.d.next = self.next_count.val();
        self.always.d.next = self.second.q.val() ^ self.always.q.val();
        if self.clear_i.val() {
            self.chosen.d.next = self.data_i.val();
        } else {
            self.chosen.d.next = self.sum.q.val();
        }
        self.data_o.next = self.always.q.val() ^ self.chosen.q.val();
        for i in 0..4 {
            if self.count.q.val().get_bit(i) {
                self.bit[i].d.next = self.clear_i.val();
            }
        }
    }
}

fn gated(options: EmitOptions) -> String {
    let options = EmitOptions { clock_gating: true, ..options };
    emit(&Conditions::default(), "conditions", &options).expect("Verilog").text()
}

#[test]
fn registers_with_the_same_condition_share_a_gate() {
    let text = gated(EmitOptions::default());
    for line in [
        "  assign first_en = load_i;",
        "  assign sum_en = clear_i | load_i;",
        "always @(posedge first_clk or negedge rst_ni)",
        "always @(posedge first_clk) begin\n    if (load_i) begin\n      second_q <= first_q;",
        "always @(posedge sum_clk or negedge rst_ni)",
        "always @(posedge count_clk or negedge rst_ni)",
        "always @(posedge bit_clk or negedge rst_ni)",
        "count_en = 1'b0;",
        "    .en_i      (sum_en),",
        "    .test_en_i (test_en_i),",
    ] {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
    assert_eq!(text.matches("  selvedge_clock_gate gate_").count(), 4, "{text}");
    let free = text.split("always @(posedge clk_i").skip(1).map(|rest| rest.split("\n  end").next().unwrap());
    let free = free.collect::<String>();
    assert!(free.contains("always_q <=") && free.contains("chosen_q <="), "{text}");
    assert!(!free.contains("first_q <=") && !free.contains("bit_q <="), "{text}");
}

#[test]
fn a_synchronous_reset_opens_the_gates() {
    let text = gated(EmitOptions { reset: ResetStyle::SyncHigh, ..EmitOptions::default() });
    assert!(text.contains("    .en_i      (rst_i | sum_en),"), "{text}");
    assert!(text.contains("always @(posedge sum_clk) begin\n    if (rst_i) begin"), "{text}");
}

#[test]
fn the_gate_is_a_latch_in_both_languages_and_has_the_name_of_its_owner() {
    let verilog = gated(EmitOptions::default());
    assert!(
        verilog.contains("`ifndef SELVEDGE_CLOCK_GATE_V") && verilog.contains("  reg enabled;"),
        "{verilog}"
    );
    let options = EmitOptions {
        language: Language::SystemVerilog,
        cells: Cells::Own,
        prefix: "acme_".into(),
        ..EmitOptions::default()
    };
    let text = gated(options);
    assert!(text.contains("module acme_conditions_clock_gate ("), "{text}");
    assert!(
        text.contains("  always_latch begin") && text.contains("  acme_conditions_clock_gate gate_sum (")
    );
}

#[test]
fn the_files_around_a_block_know_its_gates() {
    let options = EmitOptions { clock_gating: true, ..EmitOptions::default() };
    let design = emit(&Conditions::default(), "conditions", &options).expect("Verilog");
    let constraints = files::constraints(&design, 10.0);
    assert!(constraints.contains("\nset_clock_gating_check -setup 0 -hold 0\n"), "{constraints}");
    assert!(constraints.contains("\nset_case_analysis 0 [get_ports test_en_i]\n"), "{constraints}");
    assert!(!constraints.contains("create_generated_clock"), "{constraints}");
    let wrapper = files::synth_wrapper(&design, &options).text;
    assert!(wrapper.contains("    .test_en_i (test_en_i)") && !wrapper.contains("test_en_i_q"), "{wrapper}");
    assert!(files::file_list(&design).starts_with("selvedge_clock_gate.v\n"));

    let plain = emit(&Conditions::default(), "conditions", &EmitOptions::default()).expect("Verilog");
    let all = files::all_files(&plain, &EmitOptions::default(), "1", 10.0);
    let text: String = all.into_iter().map(|(name, text)| name + &text).collect();
    assert!(!text.contains(TEST_ENABLE) && !text.contains("clock_gate"), "{text}");
}

rtl_block! {
    /// A port with the name of the test enable.
    pub struct Clash {
        pub clk_i: Signal<In, Clock>,
        pub rst_ni: Signal<In, Bit>,
        pub test_en_i: Signal<In, Bit>,
        pub data_o: Signal<Out, U<8>>,
        data: Reg<U<8>>,
    }
}

#[hdl_gen]
impl Logic for Clash {
    fn update(&mut self) {
        dff_setup!(self, clk_i, data);
        if self.test_en_i.val() {
            self.data.d.next = self.data.q.val() + 1;
        }
        self.data_o.next = self.data.q.val();
    }
}

#[test]
fn a_port_with_the_name_of_the_test_enable_is_refused() {
    let options = EmitOptions { clock_gating: true, ..EmitOptions::default() };
    let error = emit(&Clash::default(), "clash", &options).expect_err("a refusal");
    assert!(matches!(error.problem, Problem::NameClash { .. }), "{error}");
}
