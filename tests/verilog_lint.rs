//! Is the Verilog of every block, with every reset style, silent under Verilator's full lint, and free of latches, loops and
//! multiple drivers in Yosys?
use selvedge_blocks::BLOCKS;
use selvedge_gen::{EmitOptions, ResetStyle};
use selvedge_testbenches::emitted::Emitted;
use selvedge_testbenches::parallel;
use selvedge_testbenches::tool::{VERILATOR, YOSYS};
use std::path::{Path, PathBuf};

const STYLES: [ResetStyle; 3] = [ResetStyle::AsyncLow, ResetStyle::SyncHigh, ResetStyle::None];

/// Writes every block with its default parameters, and hands name, folder and files to `check`.
fn for_every_block(reset: ResetStyle, check: impl Fn(&str, &Path, Vec<PathBuf>) + Sync) {
    parallel::each(BLOCKS, |block| {
        let options = EmitOptions { reset, ..EmitOptions::default() };
        let emitted = Emitted::of(*block, &block.defaults(), &options)
            .unwrap_or_else(|error| panic!("{} {}: {error}", block.name(), reset));
        let folder = tempfile::tempdir().unwrap();
        let files = emitted.write(folder.path()).unwrap();
        check(block.name(), folder.path(), files);
    });
}

#[test]
fn verilator_has_nothing_to_say() {
    for reset in STYLES {
        for_every_block(reset, |block, folder, files| {
            let mut arguments: Vec<PathBuf> =
                ["--lint-only", "-Wall", "--top-module", block].map(PathBuf::from).to_vec();
            arguments.extend(files);
            let said = VERILATOR.run(folder, arguments).unwrap();
            assert_eq!(said, "", "{block} {}", reset);
        });
    }
}

#[test]
fn yosys_finds_no_latch_no_loop_and_one_driver_for_each_net() {
    for_every_block(ResetStyle::AsyncLow, |block, folder, files| {
        let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        let script = format!(
            "read_verilog {}; hierarchy -check -top {block}; proc; opt; check -assert; select -assert-none t:$*dlatch*",
            files.join(" ")
        );
        let said = YOSYS.run(folder, ["-q", "-p", &script]).unwrap();
        assert_eq!(said, "", "{block}");
    });
}

#[test]
fn the_lint_and_the_latch_check_can_fail() {
    let folder = tempfile::tempdir().unwrap();
    let text = "module latch (input wire enable_i, input wire [3:0] data_i, output reg [1:0] data_o);\n  \
                always @(*) if (enable_i) data_o = data_i[1:0];\nendmodule\n";
    std::fs::write(folder.path().join("latch.v"), text).unwrap();
    let lint = VERILATOR.run(folder.path(), ["--lint-only", "-Wall", "latch.v"]).unwrap_err().to_string();
    assert!(lint.contains("LATCH") && lint.contains("UNUSEDSIGNAL"), "{lint}");
    let script = "read_verilog latch.v; proc; opt; select -assert-none t:$*dlatch*";
    let refusal = YOSYS.run(folder.path(), ["-q", "-p", script]).unwrap_err().to_string();
    assert!(refusal.contains("selection is not empty"), "{refusal}");
}
