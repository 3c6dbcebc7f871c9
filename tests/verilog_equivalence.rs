//! Golden model, RTL, Verilator and Icarus Verilog agree on every block, cycle by cycle, with the same vectors, and the
//! vectors reach the corner cases.
//!
//! With default parameters, a block gets its full count of operations, which must reach its corner cases: 100,000, or
//! 20,000 for very large blocks. Icarus Verilog interprets, about a hundred times slower than the others. It gets the
//! first 1,000 of these operations. The long run continues until every corner case has occurred, and for 20,000 operations of each seed.
//!
//! Every other value of every parameter, one at a time, gets 200 operations under Icarus Verilog, and 10,000 clocks as
//! RTL. The variable `SELVEDGE_VECTORS`, which the long run sets, is the number of seeds to run, and so multiplies all
//! counts. `SELVEDGE_BLOCK` restricts the tests to the blocks that it names, separated by commas.
use selvedge_blocks::built_in;
use selvedge_gen::{EmitOptions, Language, MemoryForm, MemoryInstance, ResetStyle, memories};
use selvedge_hw::{BlockEntry, CornersBits, Direction, Port, StimulusBits};
use selvedge_testbenches::emitted::{Emitted, VerilogFile};
use selvedge_testbenches::equivalence::{EquivalenceError, equivalence, lockstep};
use selvedge_testbenches::pyosys::Pyosys;
use selvedge_testbenches::skipped::{factor, is_long, is_long_run};
use selvedge_testbenches::testbench::Testbench;
use selvedge_testbenches::vectors::{Vector, Vectors};
use selvedge_testbenches::{icarus, parallel, testbench};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The first seed.
const SEED: u64 = 1;
/// Operations of Icarus Verilog with the default parameters.
const FEWEST_OPERATIONS: u64 = 1000;
/// Operations of Icarus Verilog for each seed in the long run.
const LONG_OPERATIONS: u64 = 20_000;
/// Operations of Icarus Verilog with other parameters.
const VARIANT_OPERATIONS: u64 = 200;
/// Clocks of the RTL with other parameters.
const RTL_CLOCKS: usize = 10_000;

/// Clocks with reset styles other than the default. A reset during operation occurs about once in 4,000 clocks. Each block has one of the
/// styles, and in the long run all of them.
const RESET_CLOCKS: [(ResetStyle, u64); 3] =
    [(ResetStyle::AsyncLow, 5000), (ResetStyle::SyncHigh, 5000), (ResetStyle::None, 2000)];
/// Clocks of the blocks as SystemVerilog.
const SYSTEM_VERILOG_CLOCKS: u64 = 2000;
/// Blocks that Verilator also simulates as SystemVerilog. Icarus Verilog 11 cannot read packed arrays and casts.
const IN_SYSTEM_VERILOG: [&str; 5] = ["awb", "bgp", "latte_controller", "milg", "sc_vft"];
/// Blocks whose planted faults Verilator must also find. It compiles each of them once more for that.
const FAULTS_IN_VERILATOR: [&str; 3] = ["bgp", "fpc_decompressor", "milg"];

/// Returns the seeds to run, each with the full count.
fn seeds() -> std::ops::Range<u64> {
    SEED..SEED + factor()
}

/// Returns the blocks to test: all, or those in `SELVEDGE_BLOCK`.
fn blocks() -> Vec<&'static dyn BlockEntry> {
    let wanted = std::env::var("SELVEDGE_BLOCK").ok();
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|list| list.split(',').any(|one| one == name));
    built_in().iter().copied().filter(|block| is_wanted(block.name())).collect()
}

/// Returns the number of each block to test, by which forms are distributed among blocks.
fn numbers() -> BTreeMap<&'static str, usize> {
    blocks().iter().map(|block| block.name()).zip(0..).collect()
}

/// Runs `test` on every block, several at a time.
fn each_block(test: impl Fn(&dyn BlockEntry) + Sync) {
    parallel::each(&blocks(), |block| test(*block));
}

/// Returns the number of clocks of the golden model's vectors until `is_enough` holds for the corner counts.
fn clocks_until(
    block: &dyn BlockEntry,
    params: &Value,
    seed: u64,
    corners: &mut dyn CornersBits,
    is_enough: impl Fn(&dyn CornersBits) -> bool,
) -> u64 {
    let mut clocks = 0;
    for Vector { inputs, outputs, .. } in Vectors::new(block, params, seed).unwrap() {
        if is_enough(corners) {
            break;
        }
        clocks += 1;
        match outputs {
            Some(outputs) => corners.clock(&inputs, &outputs),
            None => corners.reset(),
        }
    }
    clocks
}

/// Returns the number of clocks that add `count` operations to the corner counts.
fn clocks_of(
    block: &dyn BlockEntry,
    params: &Value,
    seed: u64,
    count: u64,
    corners: &mut dyn CornersBits,
) -> u64 {
    let enough = corners.operations() + count;
    clocks_until(block, params, seed, corners, |corners| corners.operations() >= enough)
}

/// Returns the module with the block's parameters, at these values.
fn emitted(block: &dyn BlockEntry, params: &Value, reset: ResetStyle) -> Emitted {
    let options = EmitOptions { reset, ..EmitOptions::default() };
    Emitted::with_values(block, params, &options).unwrap_or_else(|error| panic!("{}: {error}", block.name()))
}

/// Returns the folder in which compiled Verilog is kept between runs.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("verilated")
}

fn run_icarus(block: &dyn BlockEntry, params: &Value, seed: u64, clocks: u64, reset: ResetStyle) {
    let bench = testbench::write(block, params, clocks, seed, reset).unwrap();
    let folder = tempfile::tempdir().unwrap();
    match icarus::run(&bench, &emitted(block, params, reset), folder.path()) {
        Ok(passed) => assert_eq!(passed, clocks, "{} {params}, seed {seed}", block.name()),
        Err(error) => panic!("{params}, seed {seed}: {error}"),
    }
}

/// Runs `operations` operations with each seed.
fn run_icarus_on(block: &dyn BlockEntry, params: &Value, operations: u64) {
    let mut corners = block.corners(params).unwrap();
    for seed in seeds() {
        let clocks = clocks_of(block, params, seed, operations, &mut *corners);
        run_icarus(block, params, seed, clocks, ResetStyle::default());
    }
}

/// Outputs that never change with the default parameters, because every payload of segments is that of a line.
const STILL: [(&str, &str); 1] = [("fpc_decompressor", "error_o")];

#[test]
fn model_rtl_and_verilator_agree_on_the_full_count() {
    each_block(|block| {
        let params = block.defaults();
        let mut corners = block.corners(&params).unwrap();
        let emitted = emitted(block, &params, ResetStyle::default());
        let mut resets = 0;
        for seed in seeds() {
            let clocks = clocks_of(block, &params, seed, block.operations(), &mut *corners);
            println!("{}, seed {seed}: {clocks} clocks", block.name());
            let report = equivalence(block, &params, &emitted, clocks, seed, &cache()).unwrap();
            assert_eq!(report.vectors + report.resets, clocks);
            resets += report.resets;
            for coverage in &report.coverage {
                let (port, toggled) = (&coverage.port, coverage.toggled());
                let is_still = STILL.contains(&(block.name(), port.name));
                let enough = match port.direction {
                    Direction::Input => port.bits,
                    Direction::Output => usize::from(!is_still),
                };
                assert!(!is_still || toggled == 0, "{}: {} moves", block.name(), port.name);
                assert!(toggled >= enough, "{}: {toggled} bits of {} move", block.name(), port.name);
            }
        }
        // Each seed begins with a reset. A seed of few clocks may have no other reset, but all seeds together must.
        assert!(resets > factor(), "{}: no reset in mid-flight", block.name());
        for corner in corners.seen() {
            assert!(corner.times >= corner.demanded * factor(), "{}: {corner:?}", block.name());
        }
    });
}

#[test]
fn icarus_agrees() {
    each_block(|block| run_icarus_on(block, &block.defaults(), FEWEST_OPERATIONS));
}

#[test]
fn icarus_agrees_until_every_corner_case_has_been_seen() {
    if !is_long_run("icarus_agrees_until_every_corner_case_has_been_seen") {
        return;
    }
    each_block(|block| {
        let params = block.defaults();
        let mut corners = block.corners(&params).unwrap();
        let clocks = clocks_until(block, &params, SEED, &mut *corners, |corners| {
            corners.seen().iter().all(|corner| corner.times > 0)
        });
        println!("{}: {} operations in {clocks} clocks", block.name(), corners.operations());
        assert!(corners.operations() <= block.operations(), "{}: {:?}", block.name(), corners.seen());
        run_icarus(block, &params, SEED, clocks, ResetStyle::default());
    });
}

#[test]
fn icarus_agrees_for_long() {
    if is_long_run("icarus_agrees_for_long") {
        each_block(|block| run_icarus_on(block, &block.defaults(), LONG_OPERATIONS));
    }
}

#[test]
fn rtl_and_icarus_agree_for_every_value_of_every_parameter() {
    each_block(|block| {
        for params in block.variants() {
            let (ports, mut rtl) = (block.ports(&params).unwrap(), block.rtl(&params).unwrap());
            let vectors = Vectors::new(block, &params, SEED).unwrap().take(RTL_CLOCKS);
            lockstep(block.name(), &ports, vectors, &mut [("RTL", &mut *rtl)])
                .unwrap_or_else(|difference| panic!("{params}: {difference}"));
            run_icarus_on(block, &params, VARIANT_OPERATIONS);
        }
    });
}

#[test]
fn the_other_reset_styles_behave_alike() {
    let numbers = numbers();
    each_block(|block| {
        for (style, (reset, clocks)) in RESET_CLOCKS.into_iter().enumerate() {
            if !is_long() && numbers[block.name()] % RESET_CLOCKS.len() != style {
                continue;
            }
            for seed in seeds() {
                run_icarus(block, &block.defaults(), seed, clocks, reset);
            }
        }
    });
}

#[test]
fn system_verilog_behaves_alike() {
    each_block(|block| {
        if !IN_SYSTEM_VERILOG.contains(&block.name()) {
            return;
        }
        let params = block.defaults();
        let options = EmitOptions { language: Language::SystemVerilog, ..EmitOptions::default() };
        let emitted = Emitted::of(block, &params, &options).unwrap();
        equivalence(block, &params, &emitted, SYSTEM_VERILOG_CLOCKS, SEED, &cache()).unwrap();
    });
}

/// Proves that the SystemVerilog of `block` is its Verilog. `values` are the values of the Verilog parameters, and `change`
/// plants a fault.
fn prove_equal(
    pyosys: &Pyosys,
    block: &dyn BlockEntry,
    values: &Value,
    change: impl Fn(&mut Emitted),
) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let written = |language: Language| {
        let options = EmitOptions { language, ..EmitOptions::default() };
        let mut emitted = Emitted::with_values(block, values, &options).unwrap();
        if language == Language::SystemVerilog {
            change(&mut emitted);
        }
        let files = emitted.write(folder.path()).unwrap();
        files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(" ")
    };
    let gold = format!("read_verilog {}", written(Language::Verilog));
    let gate = format!("read_verilog -sv {}", written(Language::SystemVerilog));
    pyosys.prove_equal(folder.path(), block.name(), &gold, &gate).map_err(|error| error.to_string())
}

#[test]
fn system_verilog_is_proved_equal_to_verilog() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Some(pyosys) = Pyosys::find(workspace, "system_verilog_is_proved_equal_to_verilog") else { return };
    each_block(|block| {
        let is_open = |params: &Value| {
            let defaults = block.defaults();
            block.schema().iter().all(|spec| {
                params[spec.name] == defaults[spec.name] || block.verilog_parameters().contains(&spec.name)
            })
        };
        // The text is the same for all values of a parameter: a proof with one other value is enough, except in the long run.
        let others = if is_long() { usize::MAX } else { 1 };
        let variants = block.variants().into_iter().filter(is_open).take(others);
        for params in std::iter::once(block.defaults()).chain(variants) {
            prove_equal(&pyosys, block, &params, |_| {})
                .unwrap_or_else(|error| panic!("{} {params}: {error}", block.name()));
        }
    });
}

/// Faults in packed arrays and enumerations, as text before and after: block, module, correct, fault.
const FAULTS_IN_TYPES: [(&str, &str, &str, &str); 3] = [
    ("bgp", "bgp_dual_bloom", "(banks_set[g])", "(banks_set[g^1])"),
    ("latte_controller", "latte_controller", "hits_q[mode]", "hits_q[mode^1]"),
    ("sc_code_builder", "sc_code_builder", "StageMerge = 3'd3", "StageMerge = 3'd6"),
];

#[test]
fn a_wrong_lane_or_code_is_not_equal_to_verilog() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Some(pyosys) = Pyosys::find(workspace, "a_wrong_lane_or_code_is_not_equal_to_verilog") else {
        return;
    };
    for (name, module, correct, fault) in FAULTS_IN_TYPES {
        let block = selvedge_blocks::find(name).expect("a block");
        let change = |emitted: &mut Emitted| {
            let source = emitted.sources.iter_mut().find(|source| source.module == module).expect("a module");
            assert!(source.text.contains(correct), "`{correct}` in {}", source.text);
            source.text = source.text.replacen(correct, fault, 1);
        };
        let error = prove_equal(&pyosys, block, &block.defaults(), change).expect_err("a difference");
        assert!(error.contains("unproven"), "{error}");
    }
}

/// Clocks of the run in which registers and memories without a reset start unknown, for each factor.
const UNKNOWN_CLOCKS: u64 = 1500;

fn unknown_clocks() -> u64 {
    UNKNOWN_CLOCKS * factor()
}

/// Returns the testbench of a run in which registers and memories start unknown.
fn bench_of_unknowns(block: &dyn BlockEntry) -> Testbench {
    testbench::write(block, &block.defaults(), unknown_clocks(), SEED, ResetStyle::Control).unwrap()
}

/// Returns the block without the zeros that memories hold at power-up.
fn without_initial(block: &dyn BlockEntry) -> Emitted {
    let mut emitted = emitted(block, &block.defaults(), ResetStyle::Control);
    emitted.sources[0].text.insert_str(0, "`define SELVEDGE_NO_INITIAL\n");
    emitted
}

#[test]
fn no_output_depends_on_a_word_that_was_never_written() {
    each_block(|block| {
        let bench = bench_of_unknowns(block);
        let folder = tempfile::tempdir().unwrap();
        let passed = icarus::run(&bench, &without_initial(block), folder.path());
        assert_eq!(passed.unwrap_or_else(|error| panic!("{error}")), unknown_clocks(), "{}", block.name());
    });
}

/// Returns a statement that assigns random bits, or their complement, to `target`.
fn random_value(target: &str, complement: bool) -> String {
    // 2,048 bits: no register or word is wider.
    let bits = ["$random"; 64].join(", ");
    format!("{target} = {}{{{bits}}};\n", if complement { "~" } else { "" })
}

/// Gives registers and memories random values, or their complements, at power-up. In Icarus Verilog, an unknown condition
/// of an `if` takes the `else` branch, which can hide a dependency. Known values hide none.
fn with_random_power_up(mut emitted: Emitted, complement: bool) -> Emitted {
    for source in &mut emitted.sources {
        let mut text = String::new();
        for line in source.text.lines() {
            text += line;
            text.push('\n');
            let Some(declared) = line.strip_prefix("  reg ").and_then(|rest| rest.strip_suffix(';')) else {
                continue;
            };
            let name = declared.rsplit(' ').next().unwrap_or_default();
            if name.ends_with("_q") {
                text += &format!("  initial {}", random_value(name, complement));
            } else if declared.contains("words [") {
                text += &format!(
                    "  integer power_up;\n  initial for (power_up = 0; power_up < 2**A; power_up = power_up + 1) {}",
                    random_value("words[power_up]", complement)
                );
            }
        }
        source.text = text;
    }
    emitted
}

#[test]
fn no_output_depends_on_the_values_of_registers_and_memories_at_power_up() {
    each_block(|block| {
        let bench = bench_of_unknowns(block);
        for complement in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let passed =
                icarus::run(&bench, &with_random_power_up(without_initial(block), complement), folder.path());
            assert_eq!(
                passed.unwrap_or_else(|error| panic!("{error}")),
                unknown_clocks(),
                "{}",
                block.name()
            );
        }
    });
}

/// Slots that show their memories without an instruction, as a planted fault.
#[test]
fn an_output_that_depends_on_a_word_that_was_never_written_is_found() {
    let block = selvedge_blocks::find("awb").expect("a block");
    let mut emitted = without_initial(block);
    let slots = emitted.sources.iter_mut().find(|source| source.module == "awb_slots").expect("slots");
    let visible = slots.text.replace("(valid_i)", "(1'b1 | valid_i)");
    assert_ne!(visible, slots.text, "{visible}");
    slots.text = visible;
    let bench = bench_of_unknowns(block);
    let error = icarus::run(&bench, &emitted, tempfile::tempdir().unwrap().path()).unwrap_err().to_string();
    assert!(error.contains("_o is x"), "{error}");
}

#[test]
fn a_register_without_a_value_that_chooses_an_output_is_found() {
    let block = selvedge_blocks::find("decompression_queue").expect("a block");
    let bench = bench_of_unknowns(block);
    let passes = |emitted| icarus::run(&bench, &emitted, tempfile::tempdir().unwrap().path()).is_ok();
    let mut wrong = without_initial(block);
    let top = wrong.sources.iter_mut().find(|source| source.module == block.name()).expect("a top");
    let chosen = "  reg never_q;\n  reg chosen;\n  always @(*) if (never_q) chosen = ~finished; else chosen = finished;\n  \
                  assign valid_o = chosen;\n";
    let text = top.text.replace("  assign valid_o = finished;\n", chosen);
    assert_ne!(text, top.text);
    top.text = text;
    assert!(passes(wrong.clone()), "the unknown value hides the fault");
    assert!(
        [false, true].into_iter().any(|complement| !passes(with_random_power_up(wrong.clone(), complement)))
    );
}

/// The model of an SRAM macro in examples/, whose words start unknown.
const SRAM: &str = include_str!("../examples/sram/sram_1r1w.v");
/// The macros of `md_cache` in examples/.
const MD_CACHE_MACROS: &str = include_str!("../examples/sram/md_cache_macros.v");
/// Clocks of the blocks with macros.
const MACRO_CLOCKS: u64 = 4000;

/// Returns modules for the macros of a form: models of SRAM macros, or memories that read the old word.
fn models(form: MemoryForm, shapes: &BTreeSet<(usize, usize)>) -> String {
    let mut text = String::new();
    for (words, width) in shapes {
        let (last, high, bits) = (words - 1, width - 1, words.trailing_zeros());
        text += &match form {
            MemoryForm::Wrapper => format!(
                "module selvedge_sram_{words}x{width} (input clk0, csb0, input [{0}:0] addr0, input [{high}:0] din0,
                 input clk1, csb1, input [{0}:0] addr1, output [{high}:0] dout1);
                 sram_1r1w #(.ADDRESS_BITS({bits}), .DATA_BITS({width})) words (.clk0(clk0), .csb0(csb0), .addr0(addr0),
                 .din0(din0), .clk1(clk1), .csb1(csb1), .addr1(addr1), .dout1(dout1));
                 endmodule\n",
                bits - 1
            ),
            _ => format!(
                "module selvedge_sync_mem_{words}x{width} (input [{0}:0] R0_addr, input R0_en, R0_clk,
                 output reg [{high}:0] R0_data, input [{0}:0] W0_addr, input W0_en, W0_clk, input [{high}:0] W0_data);
                 reg [{high}:0] words [0:{last}];
                 always @(posedge W0_clk) if (W0_en) words[W0_addr] <= W0_data;
                 always @(posedge R0_clk) if (R0_en) R0_data <= words[R0_addr];
                 endmodule\n",
                bits - 1
            ),
        };
    }
    text
}

/// Runs a block with macros on its vectors. `macros` is the text of their modules.
fn with_macros(block: &dyn BlockEntry, form: MemoryForm, macros: &str) -> Result<u64, String> {
    let params = block.defaults();
    let mut emitted = Emitted::with_macros(block, &params, &EmitOptions::default(), form).unwrap();
    let (count, place) = (emitted.sources.len(), ["selvedge_sram_", "selvedge_sync_mem_"]);
    let place = place[usize::from(form == MemoryForm::Blackbox)];
    emitted.sources.retain(|source| !source.module.starts_with(place));
    assert!(emitted.sources.len() < count, "{}: no macro", block.name());
    for (module, text) in [("sram_1r1w", SRAM), ("macros", macros)] {
        let text = text.to_string();
        emitted.sources.insert(0, VerilogFile { module: module.into(), language: Language::Verilog, text });
    }
    let bench = testbench::write(block, &params, MACRO_CLOCKS, SEED, ResetStyle::Control).unwrap();
    let folder = tempfile::tempdir().unwrap();
    icarus::run(&bench, &emitted, folder.path()).map_err(|error| error.to_string())
}

#[test]
fn blocks_with_macros_pass_their_vectors() {
    let clocked = AtomicUsize::new(0);
    each_block(|block| {
        let memories = memories(block.elaborate(&block.defaults()).unwrap().as_ref());
        let shapes: BTreeSet<_> = memories.iter().filter_map(MemoryInstance::shape).collect();
        if shapes.is_empty() {
            return;
        }
        clocked.fetch_add(1, Ordering::Relaxed);
        for form in [MemoryForm::Blackbox, MemoryForm::Wrapper] {
            let passed = with_macros(block, form, &models(form, &shapes));
            assert_eq!(passed, Ok(MACRO_CLOCKS), "{} {form}", block.name());
        }
    });
    assert!(blocks().len() < built_in().len() || clocked.into_inner() >= 6, "blocks with macros");
}

#[test]
fn the_example_with_macros_passes_and_a_wrong_address_bit_is_found() {
    let block = selvedge_blocks::find("md_cache").expect("a block");
    let run = |macros: &str| with_macros(block, MemoryForm::Wrapper, macros);
    assert_eq!(run(MD_CACHE_MACROS), Ok(MACRO_CLOCKS));
    for module in ["64x14", "64x76", "256x256"] {
        let start = MD_CACHE_MACROS.find(&format!("selvedge_sram_{module} ")).expect("a macro");
        let (before, after) = MD_CACHE_MACROS.split_at(start);
        let wrong = after.replacen(".addr0 (addr0)", ".addr0 (addr0 ^ 1'b1)", 1);
        assert_ne!(wrong, after);
        let error = run(&format!("{before}{wrong}")).unwrap_err();
        assert!(error.contains("FAIL md_cache at clock"), "{module}: {error}");
    }
}

/// A user's memory that replaces a cell and stores words in macros of eight bits each. It precedes the blocks' own
/// files, and its include guard excludes the cell's text.
const OWN_MEMORY: &str = r"
`define SELVEDGE_MEM_V
module ram_8 #(parameter integer A = 8) (
  input wire clk, input wire we, input wire [A-1:0] wa, input wire [7:0] d, input wire [A-1:0] ra, output wire [7:0] q
);
  reg [7:0] cells [0:(1<<A)-1];
  integer i;
  initial for (i = 0; i < (1<<A); i = i + 1) cells[i] = 8'd0;
  always @(posedge clk) if (we) cells[wa] <= d;
  assign q = cells[ra];
endmodule
module selvedge_mem #(parameter integer A = 8, parameter integer BITS = 13) (
  input wire clk_i, input wire write_i, input wire [A-1:0] write_address_i, input wire [BITS-1:0] write_data_i,
  input wire [A-1:0] read_address_i, output wire [BITS-1:0] read_data_o
);
  localparam integer MACROS = (BITS + 7) / 8;
  wire [8*MACROS-1:0] d = {{(8*MACROS-BITS){1'b0}}, write_data_i};
  wire [8*MACROS-1:0] q;
  genvar g;
  generate
    for (g = 0; g < MACROS; g = g + 1) begin : gen_macro
      ram_8 #(.A(A)) ram (.clk(clk_i), .we(write_i), .wa(write_address_i), .d(d[8*g +: 8]), .ra(read_address_i), .q(q[8*g +: 8]));
    end
  endgenerate
  assign read_data_o = q[BITS-1:0];
endmodule
";

#[test]
fn a_macro_takes_the_place_of_the_memory_cell() {
    let (block, clocks) = (selvedge_blocks::find("awb").expect("a block"), 2000);
    let mut emitted = emitted(block, &block.defaults(), ResetStyle::Control);
    let cell = emitted.sources.iter().position(|source| source.module == "selvedge_mem").expect("a memory");
    let own = VerilogFile { module: "a_macro".into(), language: Language::Verilog, text: OWN_MEMORY.into() };
    emitted.sources[cell].text += "\n`ifndef SELVEDGE_MEM_V\nno_cell;\n`endif\n";
    emitted.sources.insert(0, own);
    let bench = testbench::write(block, &block.defaults(), clocks, SEED, ResetStyle::Control).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(icarus::run(&bench, &emitted, folder.path()).unwrap(), clocks);
}

/// Clocks of the blocks with clock gates, and with another reset or with all clocks running.
const GATED_CLOCKS: u64 = 2000;
const OTHER_GATED_CLOCKS: u64 = 500;
/// Blocks with clock gates that Verilator also simulates.
const GATED_IN_VERILATOR: [&str; 3] = ["bgp", "decompression_queue", "milg"];

/// Returns the block with clock gates, or `None` if no register of it has a condition.
fn gated(block: &dyn BlockEntry, reset: ResetStyle, language: Language) -> Option<Emitted> {
    let options = EmitOptions { reset, language, clock_gating: true, ..EmitOptions::default() };
    let emitted = Emitted::of(block, &block.defaults(), &options).unwrap();
    emitted.sources.iter().any(|source| source.module == "selvedge_clock_gate").then_some(emitted)
}

/// Runs a block with clock gates on its vectors.
fn run_gated(
    block: &dyn BlockEntry,
    emitted: &Emitted,
    clocks: u64,
    test_enable: bool,
) -> Result<u64, String> {
    let bench = testbench::write(block, &block.defaults(), clocks, SEED, emitted.reset).unwrap();
    let bench = bench.with_test_enable(test_enable);
    let folder = tempfile::tempdir().unwrap();
    icarus::run(&bench, emitted, folder.path()).map_err(|error| error.to_string())
}

#[test]
fn blocks_with_clock_gates_behave_alike() {
    let with_gates = AtomicUsize::new(0);
    let numbers = numbers();
    each_block(|block| {
        let Some(emitted) = gated(block, ResetStyle::Control, Language::Verilog) else {
            println!("{}: no clock gate", block.name());
            return;
        };
        with_gates.fetch_add(1, Ordering::Relaxed);
        assert_eq!(run_gated(block, &emitted, GATED_CLOCKS, false), Ok(GATED_CLOCKS), "{}", block.name());
        // Each block has one of the other forms, and in the long run all of them.
        let forms = [(ResetStyle::Control, true), (ResetStyle::SyncHigh, false), (ResetStyle::None, false)];
        for (form, (reset, test_enable)) in forms.into_iter().enumerate() {
            if !is_long() && numbers[block.name()] % forms.len() != form {
                continue;
            }
            let emitted = gated(block, reset, Language::Verilog).expect("the same gates");
            let passed = run_gated(block, &emitted, OTHER_GATED_CLOCKS, test_enable);
            assert_eq!(passed, Ok(OTHER_GATED_CLOCKS), "{} {reset} {test_enable}", block.name());
        }
        if GATED_IN_VERILATOR.contains(&block.name()) {
            for language in [Language::Verilog, Language::SystemVerilog] {
                let emitted = gated(block, ResetStyle::Control, language).expect("the same gates");
                equivalence(block, &block.defaults(), &emitted, GATED_CLOCKS, SEED, &cache()).unwrap();
            }
        }
    });
    assert!(blocks().len() < built_in().len() || with_gates.into_inner() >= 20, "blocks with gates");
}

/// Returns the text with the enable of one clock gate stuck at zero.
fn without_clock(text: &str) -> Option<String> {
    let start = text.find("  selvedge_clock_gate ")?;
    let pin = start + text[start..].find(".en_i")?;
    let end = pin + text[pin..].find(',')?;
    Some(format!("{}.en_i (1'b0){}", &text[..pin], &text[end..]))
}

#[test]
fn a_clock_gate_that_stays_closed_is_found() {
    each_block(|block| {
        let Some(mut emitted) = gated(block, ResetStyle::Control, Language::Verilog) else { return };
        let top = emitted.sources.iter_mut().rev().find_map(|source| {
            let text = without_clock(&source.text)?;
            Some((source, text))
        });
        let (source, text) = top.expect("a gate");
        source.text = text;
        let error = run_gated(block, &emitted, 20_000, false).expect_err("a register without a clock");
        assert!(error.contains("FAIL"), "{error}");
        let passed = run_gated(block, &emitted, OTHER_GATED_CLOCKS, true);
        assert_eq!(passed, Ok(OTHER_GATED_CLOCKS), "{}", block.name());
    });
}

/// A clock gate of the user. It reports each edge of its clock after the number of clocks in `FROM`.
const OWN_CLOCK_GATE: &str = "
`define SELVEDGE_CLOCK_GATE_V
module own_gate (input wire CK, input wire E, input wire SE, output wire GCK);
  reg q;
  always @(CK or E or SE) if (!CK) q = E | SE;
  assign GCK = CK & q;
endmodule
module selvedge_clock_gate (input wire clk_i, input wire en_i, input wire test_en_i, output wire clk_o);
  own_gate cell_i (.CK (clk_i), .E (en_i), .SE (test_en_i), .GCK (clk_o));
  integer clocks = 0;
  always @(posedge clk_i) clocks = clocks + 1;
  always @(posedge clk_o) if (clocks > FROM) begin
    $display(\"FAIL %m runs at rest\");
    $stop;
  end
endmodule
";

/// Returns the block with the user's clock gate, which fails at an edge after `from` clocks.
fn with_own_gate(mut emitted: Emitted, from: u64) -> Emitted {
    let text = OWN_CLOCK_GATE.replace("FROM", &from.to_string());
    let gate =
        emitted.sources.iter_mut().find(|source| source.module == "selvedge_clock_gate").expect("a gate");
    gate.text += "\n`ifndef SELVEDGE_CLOCK_GATE_V\nno_gate;\n`endif\n";
    emitted.sources.insert(0, VerilogFile { module: "a_gate".into(), language: Language::Verilog, text });
    emitted
}

/// Clocks of stimulus, and of all inputs low after it. The longest work of a block ends in the first half of these.
const BUSY_CLOCKS: usize = 1000;
const REST_CLOCKS: usize = 8000;

#[test]
fn no_gated_clock_runs_while_the_simulator_skips_a_block() {
    each_block(|block| {
        let params = block.defaults();
        let Some(emitted) = gated(block, ResetStyle::Control, Language::Verilog) else { return };
        let busy: Vec<_> = block.stimulus(&params, SEED).unwrap().take(BUSY_CLOCKS).collect();
        let rest = StimulusBits {
            inputs: busy[0].inputs.iter().map(|words| vec![0; words.len()]).collect(),
            reset: false,
        };
        let stimulus = busy.into_iter().chain(std::iter::repeat_n(rest, REST_CLOCKS));
        let vectors: Vec<Vector> = Vectors::of(block, &params, Box::new(stimulus)).unwrap().collect();
        let bench = testbench::of_vectors(block, &params, &vectors, "a test", ResetStyle::Control).unwrap();
        let bench = bench.with_test_enable(false);
        let clocks = (BUSY_CLOCKS + REST_CLOCKS) as u64;
        let run = |from: u64| {
            let folder = tempfile::tempdir().unwrap();
            icarus::run(&bench, &with_own_gate(emitted.clone(), from), folder.path())
                .map_err(|error| error.to_string())
        };
        assert_eq!(run(clocks - 100), Ok(clocks), "{}", block.name());
        let error = run(0).expect_err("gated clocks run");
        assert!(error.contains("runs at rest"), "{error}");
    });
}

/// Returns the block with one bit of an output inverted in one clock. A module of the block's name wraps it.
fn with_fault(correct: &Emitted, port: &str, bit: usize, clock: u64) -> Emitted {
    let name = &correct.name;
    let mut faulty = correct.clone();
    let header = format!("module {name} ");
    let top = faulty
        .sources
        .iter_mut()
        .find(|source| source.text.contains(&header))
        .expect("there is a top module");
    top.text = top.text.replace(&header, &format!("module {name}_correct "));
    top.module = format!("{name}_correct");

    let declare =
        |direction: &str, name: &str, bits: usize| format!("  {direction} wire [{}:0] {name}", bits - 1);
    let mut ports = vec!["  input wire clk_i".to_string()];
    let mut pins = BTreeMap::from([("clk_i".to_string(), "clk_i".to_string())]);
    if let Some(reset) = correct.reset.port() {
        ports.push(format!("  input wire {reset}"));
        pins.insert(reset.to_string(), reset.to_string());
    }
    let mut body = String::new();
    for Port { name, bits, direction, .. } in &correct.ports {
        let net = if *name == port { "correct".to_string() } else { name.to_string() };
        pins.insert(name.to_string(), net);
        ports.push(declare(if *direction == Direction::Input { "input" } else { "output" }, name, *bits));
        if *name == port {
            body += &format!("  wire [{}:0] correct;\n", bits - 1);
            body += &format!("  wire [{0}:0] fault = {bits}'d1 << {bit};\n", bits - 1);
            body += &format!("  assign {port} = (clock == {clock}) ? correct ^ fault : correct;\n");
        }
    }
    let pins: Vec<String> = pins.iter().map(|(pin, net)| format!("    .{pin}({net})")).collect();
    let text = format!(
        "module {name} (\n{}\n);\n  reg [31:0] clock = 0;\n  always @(posedge clk_i) clock <= clock + 1;\n{body}  \
         {name}_correct dut (\n{}\n  );\nendmodule\n",
        ports.join(",\n"),
        pins.join(",\n")
    );
    faulty.sources.push(VerilogFile { module: name.clone(), language: Language::Verilog, text });
    faulty
}

#[test]
fn a_fault_planted_in_the_verilog_is_named_by_clock_and_port() {
    each_block(|block| {
        let params = block.defaults();
        let correct = emitted(block, &params, ResetStyle::default());
        let port = correct.ports.iter().rfind(|port| port.direction == Direction::Output).unwrap().clone();
        // Choose a clock in which the port is observed: not in reset, and with a valid output.
        let outputs = || correct.ports.iter().filter(|port| port.direction == Direction::Output);
        let valid = port.valid.map(|valid| outputs().position(|port| port.name == valid).unwrap());
        let is_seen = |vector: &Vector| {
            vector.outputs.as_ref().is_some_and(|values| valid.is_none_or(|at| values[at][0] & 1 != 0))
        };
        let vectors = Vectors::new(block, &params, SEED).unwrap().enumerate();
        let clock = { vectors }.skip(500).find(|(_, vector)| is_seen(vector)).unwrap().0 as u64;
        let clocks = clock + 100;
        let faulty = with_fault(&correct, port.name, port.bits - 1, clock);

        if FAULTS_IN_VERILATOR.contains(&block.name()) {
            // A compiled instance begins with its own reset cycle.
            let faulty = with_fault(&correct, port.name, port.bits - 1, clock + 1);
            let error = equivalence(block, &params, &faulty, clocks, SEED, &cache()).unwrap_err();
            let EquivalenceError::Difference(difference) = error else { panic!("{error}") };
            assert_eq!((difference.implementation, difference.clock), ("Verilator", clock), "{difference}");
            assert_eq!(difference.port, port.name);
        }

        let bench = testbench::write(block, &params, clocks, SEED, ResetStyle::default()).unwrap();
        let error =
            icarus::run(&bench, &faulty, tempfile::tempdir().unwrap().path()).unwrap_err().to_string();
        assert!(error.contains(&format!("at clock {clock}: {} is ", port.name)), "{error}");
    });
}
