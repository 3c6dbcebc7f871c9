//! A block's Verilog module with given parameter values is the same circuit as the block elaborated with them, and has
//! no lint warning.
//!
//! Each parameter is varied alone; a long run takes all combinations. A test in `verilog_equivalence.rs` checks that
//! the module behaves like model and RTL.
use selvedge_blocks::built_in;
use selvedge_gen::{EmitOptions, Language};
use selvedge_hw::BlockEntry;
use selvedge_testbenches::emitted::{Emitted, VerilogFile};
use selvedge_testbenches::parallel;
use selvedge_testbenches::tool::{IVERILOG, ToolError, VERILATOR, YOSYS};
use serde_json::Value;
use std::path::PathBuf;

/// A block, and values of its parameters.
type Case = (&'static dyn BlockEntry, Value);

/// Returns the blocks with Verilog parameters, each with the values to test.
fn cases() -> Vec<Case> {
    let is_long = selvedge_testbenches::skipped::is_long();
    let mut cases: Vec<Case> = vec![];
    for block in built_in().iter().filter(|block| !block.verilog_parameters().is_empty()) {
        let defaults = block.defaults();
        let mut choices = vec![defaults.clone()];
        for spec in block.schema().iter().filter(|spec| block.verilog_parameters().contains(&spec.name)) {
            let others = spec.allowed.samples().into_iter().filter(|value| *value != defaults[spec.name]);
            let from = if is_long { choices.clone() } else { vec![defaults.clone()] };
            choices.extend(others.flat_map(|value| {
                from.iter().map(move |choice| {
                    let mut choice = choice.clone();
                    choice[spec.name] = value.clone();
                    choice
                })
            }));
        }
        choices.retain(|choice| block.check(choice).is_ok());
        cases.extend(choices.into_iter().map(|choice| (*block, choice)));
    }
    cases
}

/// Returns the parameterized module with the values as its defaults.
fn with_values(block: &dyn BlockEntry, params: &Value, language: Language) -> Emitted {
    let options = EmitOptions { language, ..EmitOptions::default() };
    Emitted::with_values(block, params, &options).unwrap_or_else(|error| panic!("{params}: {error}"))
}

/// Returns the module with the values fixed in its text.
fn fixed(block: &dyn BlockEntry, params: &Value) -> Emitted {
    Emitted::fixed(block, params, &EmitOptions::default()).unwrap_or_else(|error| panic!("{params}: {error}"))
}

/// Lets Yosys prove that two circuits with the same registers are equal. Modules with the same text in both, such as
/// the kit's memories, are left out, and their inputs and outputs become ports.
///
/// # Errors
/// Fails with Yosys's report of a difference.
fn prove(gold: &Emitted, gate: &Emitted) -> Result<String, ToolError> {
    let folder = tempfile::tempdir().unwrap();
    let is_same = |source: &&VerilogFile| {
        gate.sources.iter().any(|other| other.module == source.module && other.text == source.text)
    };
    let same: Vec<String> =
        gold.sources.iter().filter(is_same).map(|source| format!(" *{}", source.module)).collect();
    let keep = match same.is_empty() {
        true => String::new(),
        false => format!("setattr -mod -set keep_hierarchy 1{}\n", same.concat()),
    };
    let mut script = String::new();
    for (name, emitted) in [("gold", gold), ("gate", gate)] {
        let place = folder.path().join(name);
        std::fs::create_dir(&place).unwrap();
        let files = emitted.write(&place).unwrap();
        let files: Vec<String> = files.iter().map(|file| format!("{name}/{}", file.display())).collect();
        script += &format!(
            "read_verilog {}\nhierarchy -check -top {}\n{keep}\
             proc\nflatten\nmemory -nomap\nopt_clean\nexpose -evert\nrename -top {name}\ndesign -stash {name}\n",
            files.join(" "),
            emitted.name
        );
    }
    script += "design -copy-from gold -as gold gold\ndesign -copy-from gate -as gate gate\nequiv_make gold gate equiv\n\
               hierarchy -top equiv\nequiv_struct -icells\nequiv_simple\nequiv_induct\nequiv_status -assert\n";
    std::fs::write(folder.path().join("prove.ys"), script).unwrap();
    YOSYS.run(folder.path(), ["-q", "-s", "prove.ys"])
}

#[test]
fn yosys_proves_each_value_to_be_the_block_elaborated_with_it() {
    let cases = cases();
    assert!(cases.len() > 30, "blocks have parameters");
    parallel::each(&cases, |(block, params)| {
        let proven = prove(&with_values(*block, params, Language::Verilog), &fixed(*block, params));
        assert!(proven.is_ok(), "{} {params}: {}", block.name(), proven.unwrap_err());
    });
}

/// Returns `milg` with eight bits for instructions in flight and a replaced text, and the correct `milg` with fixed
/// values.
fn milg_with_fault(correct: &str, fault: &str) -> (Emitted, Emitted) {
    let block = selvedge_blocks::find("milg").unwrap();
    let mut params = block.defaults();
    params["inflight_bits"] = 8.into();
    let mut emitted = with_values(block, &params, Language::Verilog);
    let has = |source: &&mut VerilogFile| source.text.contains(correct);
    let source = emitted.sources.iter_mut().find(has).expect("the text to be replaced");
    source.text = source.text.replacen(correct, fault, 1);
    (emitted, fixed(block, &params))
}

#[test]
fn a_number_that_does_not_follow_the_parameter_is_found() {
    for (correct, fault) in [
        ("limit_q <= {{(INFLIGHT_BITS-1){1'b0}}, 1'b1};", "limit_q <= {{(INFLIGHT_BITS-2){1'b0}}, 2'd2};"),
        ("turn < INFLIGHT_BITS", "turn < 7"),
        ("NO_LIMIT = {INFLIGHT_BITS{1'b1}}", "NO_LIMIT = 8'd127"),
    ] {
        let (faulty, fixed) = milg_with_fault(correct, fault);
        let refusal = prove(&faulty, &fixed).expect_err(fault).to_string();
        assert!(refusal.contains("unproven $equiv cells"), "{fault}: {refusal}");
    }
}

#[test]
fn verilator_and_icarus_accept_each_value() {
    parallel::each(&cases(), |(block, params)| {
        for language in [Language::Verilog, Language::SystemVerilog] {
            let folder = tempfile::tempdir().unwrap();
            let files = with_values(*block, params, language).write(folder.path()).unwrap();
            let words = ["--lint-only", "-Wall", "--top-module", block.name()].map(PathBuf::from);
            let said = VERILATOR.run(folder.path(), words.into_iter().chain(files.clone())).unwrap();
            assert_eq!(said, "", "{} {params} {language:?}", block.name());
            if language == Language::Verilog {
                let words =
                    ["-g2005", "-Wall", "-Wno-timescale", "-tnull", "-s", block.name()].map(PathBuf::from);
                let said = IVERILOG.run(folder.path(), words.into_iter().chain(files)).unwrap();
                assert_eq!(said, "", "{} {params}", block.name());
            }
        }
    });
}
