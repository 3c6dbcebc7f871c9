//! Tests of the files around a design.

use crate::tools;
use selvedge_gen::files::{all_files, synth_wrapper};
use selvedge_gen::{Design, EmitOptions, FileHeader, Language, ResetStyle, emit};
use selvedge_hw::rtl::prelude::*;
use std::process::Command;

fn design(reset: ResetStyle) -> Design {
    emit(&ValidReady::<U<8>>::default(), "stage", &EmitOptions { reset, ..EmitOptions::default() }).unwrap()
}

#[test]
fn a_design_has_all_its_files_and_the_list_names_the_modules() {
    let files = all_files(&design(ResetStyle::AsyncLow), &EmitOptions::default(), "0.1.0", 2.0);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["stage.v", "stage_synth_wrapper.v", "stage.f", "stage.core", "stage.sdc", "stage.ys"]);
    assert_eq!(files[2].1, "stage.v\n");
    assert!(files[3].1.starts_with("CAPI=2:\nname: selvedge::stage:0.1.0\n"));
    assert!(files[4].1.contains("create_clock -name clk -period 2.000 [get_ports clk_i]"));
}

#[test]
fn the_release_of_an_asynchronous_reset_is_timed() {
    let constraints = |reset| {
        let options = EmitOptions { reset, ..EmitOptions::default() };
        let files = all_files(&design(reset), &options, "0.1.0", 10.0);
        files.into_iter().find(|(name, _)| name == "stage.sdc").expect("constraints").1
    };
    for reset in [ResetStyle::Control, ResetStyle::AsyncLow] {
        let text = constraints(reset);
        assert!(text.contains("set_input_delay -clock clk 2.000 [get_ports {rst_ni "), "{text}");
        assert!(text.contains("\nset_false_path -fall_from [get_ports rst_ni]\n"), "{text}");
    }
    let text = constraints(ResetStyle::SyncHigh);
    assert!(text.contains("[get_ports {rst_i ") && !text.contains("false_path"), "{text}");
    assert!(!constraints(ResetStyle::None).contains("rst"));
}

#[test]
fn the_head_states_the_rule_for_an_asynchronous_reset() {
    let head = |reset| {
        let header = FileHeader { tool: "selvedge".into(), ..FileHeader::default() };
        let options = EmitOptions { reset, header, ..EmitOptions::default() };
        emit(&ValidReady::<U<8>>::default(), "stage", &options).unwrap().text()
    };
    let rule = "// rst_ni needs a reset synchronizer";
    assert!(head(ResetStyle::Control).contains(rule) && head(ResetStyle::AsyncLow).contains(rule));
    assert!(!head(ResetStyle::SyncHigh).contains(rule) && !head(ResetStyle::None).contains(rule));
}

#[test]
fn files_of_system_verilog_name_each_other() {
    let header = FileHeader { license: "MIT".into(), ..FileHeader::default() };
    let options = EmitOptions { language: Language::SystemVerilog, header, ..EmitOptions::default() };
    let design = emit(&ValidReady::<U<8>>::default(), "stage", &options).unwrap();
    let files = all_files(&design, &options, "0.1.0", 2.0);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["stage.sv", "stage_synth_wrapper.sv", "stage.f", "stage.core", "stage.sdc", "stage.ys"]
    );
    let texts = files.iter().take(2).map(|(_, text)| text);
    assert!({ texts }.all(|text| text.starts_with("// SPDX-License-Identifier: MIT\n")));
    assert_eq!(files[2].1, "stage.sv\n");
    assert!(
        files[3].1.contains("- stage_synth_wrapper.sv\n    file_type: systemVerilogSource\n"),
        "{}",
        files[3].1
    );
    assert!(files[5].1.contains("read_verilog -sv stage.sv\n"), "{}", files[5].1);
}

#[test]
fn a_prefix_begins_all_names_and_one_file_holds_all_modules() {
    rtl_block! {
        /// A memory in a block.
        pub struct Store {
            pub clk_i: Signal<In, Clock>,
            pub address_i: Signal<In, U<4>>,
            pub data_o: Signal<Out, U<8>>,
            memory: Mem<U<8>, 4>,
        }
    }
    impl Logic for Store {
        #[hdl_gen]
        fn update(&mut self) {
            self.memory.clk_i.next = self.clk_i.val();
            self.memory.write_i.next = self.address_i.val().any();
            self.memory.write_address_i.next = self.address_i.val();
            self.memory.write_data_i.next = 5.into();
            self.memory.read_address_i.next = self.address_i.val();
            self.data_o.next = self.memory.read_data_o.val();
        }
    }
    let options = EmitOptions { prefix: "my_".into(), ..EmitOptions::default() };
    let design = emit(&Store::default(), "store", &options).unwrap();
    let names: Vec<&str> = design.modules.iter().map(|module| module.name.as_str()).collect();
    assert_eq!(names, ["my_selvedge_mem", "my_store"]);
    assert!(design.text().contains("  my_selvedge_mem #(.A (4), .BITS (8)) memory ("), "{}", design.text());
    tools::assert_lint_silent(&design);

    let one = design.in_one_file();
    assert_eq!(one.modules.len(), 1);
    assert!(one.text().contains("module my_selvedge_mem ") && one.text().contains("module my_store "));
    tools::assert_synthesizes(&one);
    let error = emit(&Store::default(), "store", &EmitOptions { prefix: "9".into(), ..options }).unwrap_err();
    assert!(error.to_string().contains("9store"), "{error}");
}

#[test]
fn the_script_makes_gates_and_keeps_memories() {
    let folder = tempfile::tempdir().unwrap();
    let memory: Mem<W<70, 2>, 4> = Mem::new(vec![]);
    let design = emit(&memory, "store", &EmitOptions::default()).unwrap();
    for (name, text) in all_files(&design, &EmitOptions::default(), "0.1.0", 2.0) {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let run =
        Command::new("yosys").current_dir(folder.path()).args(["-q", "-s", "store.ys"]).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let gates = std::fs::read_to_string(folder.path().join("store_gates.v")).unwrap();
    assert!(
        gates.contains("module store(") && gates.contains("[69:0]") && gates.contains(" [15:0];"),
        "{gates}"
    );
}

#[test]
fn the_wrapper_is_clean_in_every_reset_style() {
    for reset in [ResetStyle::Control, ResetStyle::AsyncLow, ResetStyle::SyncHigh, ResetStyle::None] {
        let mut design = design(reset);
        design.modules.push(synth_wrapper(&design, &EmitOptions { reset, ..EmitOptions::default() }));
        tools::assert_lint_silent(&design);
        tools::assert_synthesizes(&design);
    }
}

#[test]
fn a_block_without_clock_gets_one_in_its_wrapper() {
    rtl_block! {
        /// An inverter.
        pub struct Inverter {
            pub x_i: Signal<In, Bit>,
            pub y_o: Signal<Out, Bit>,
        }
    }
    impl Logic for Inverter {
        #[hdl_gen]
        fn update(&mut self) {
            self.y_o.next = !self.x_i.val();
        }
    }
    let mut design = emit(&Inverter::default(), "inverter", &EmitOptions::default()).unwrap();
    design.modules.push(synth_wrapper(&design, &EmitOptions::default()));
    tools::assert_lint_silent(&design);
}
