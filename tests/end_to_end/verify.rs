//! `verify` compares all forms of a block, finds planted faults, and measures the coverage of its stimulus.
use crate::command::{selvedge, selvedge_in};
use selvedge_testbenches::parallel;
use selvedge_testbenches::skipped::is_long_run;
use selvedge_testbenches::vectors::Vectors;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Returns the MILG's emitted Verilog, which begins as a correct copy of the block.
fn milg(folder: &Path) -> String {
    let output = selvedge_in(folder, &["gen", "milg", "--single-file", "-o", "."]);
    assert!(output.status.success(), "{output:?}");
    fs::read_to_string(folder.join("milg.v")).expect("it was written")
}

/// Returns the Verilog with `from` replaced by `to`.
fn with(verilog: &str, from: &str, to: &str) -> String {
    assert!(verilog.contains(from), "{from}");
    verilog.replacen(from, to, 1)
}

/// Verifies the MILG with custom Verilog.
fn verify(folder: &Path, verilog: &str, words: &[&str]) -> Output {
    fs::write(folder.join("my.v"), verilog).expect("a file");
    selvedge_in(folder, &[&["verify", "milg", "--verilog", "my.v"], words].concat())
}

/// Returns the lines on standard error without those about compilation.
fn error(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().filter(|line| !line.contains("Verilator compiles")).collect::<Vec<_>>().join("\n")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {output:?}"))
}

#[test]
fn equal_forms_reach_every_corner_case() {
    let folder = tempfile::tempdir().expect("a folder");
    let verilog = milg(folder.path());
    let output = verify(folder.path(), &verilog, &["--json", "-"]);
    assert!(output.status.success(), "{output:?}");
    let report = json(&output);
    let block = &report["blocks"][0];
    assert_eq!(block["forms"], serde_json::json!(["RTL", "emitted Verilog", "custom Verilog"]));
    let corners = block["corners"].as_array().expect("a list");
    assert!(
        !corners.is_empty() && corners.iter().all(|corner| corner["times"].as_u64() > Some(0)),
        "{block}"
    );
    assert!(block.get("difference").is_none());
    let text = selvedge(&["verify", "milg", "--operations", "50"]);
    assert!(text.contains("equal") && text.contains("corner cases not reached: "), "{text}");
    assert!(text.contains("limit_o 7 of 7"), "{text}");
}

#[test]
fn the_coverage_of_a_short_run_is_that_of_its_vectors() {
    let report: Value = serde_json::from_str(&selvedge(&[
        "verify",
        "milg",
        "--operations",
        "30",
        "--seed",
        "4",
        "--json",
        "-",
    ]))
    .expect("JSON");
    let block = &report["blocks"][0];
    // An operation of the MILG is a cycle, and its latency is one cycle.
    let entry = selvedge_blocks::find("milg").expect("a block");
    let vectors: Vec<_> = Vectors::new(entry, &entry.defaults(), 4).expect("valid").take(32).collect();
    let (resets, cycles): (Vec<_>, Vec<_>) = vectors.iter().partition(|vector| vector.reset);
    assert_eq!((block["resets"].as_u64(), block["cycles"].as_u64()), (Some(1), Some(31)));
    assert_eq!((resets.len(), cycles.len()), (1, 31));
    for (at, name) in ["issued_i", "completed_i", "request_i", "rsfail_i"].into_iter().enumerate() {
        let toggled = (0..64).filter(|bit| {
            let values = || cycles.iter().map(|vector| vector.inputs[at][0] >> bit & 1);
            values().any(|value| value == 1) && values().any(|value| value == 0)
        });
        let ports = block["ports"].as_array().expect("a list");
        let port = ports.iter().find(|port| port["name"] == name).expect(name);
        assert_eq!(port["toggled"].as_u64(), Some(toggled.count() as u64), "{name}");
    }
}

#[test]
fn a_fault_of_each_kind_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let right = milg(folder.path());
    let faults = [
        (
            "a wrong value",
            "assign inflight_o = inflight_q;",
            "assign inflight_o = inflight_q == 3 ? 2 : inflight_q;",
            "inflight_o",
        ),
        ("a wrong comparison", "inflight_q < limit_q", "inflight_q <= limit_q", "may_issue_o"),
        (
            "a wrong reset",
            "limit_q <= {INFLIGHT_BITS{1'b1}};",
            "limit_q <= {INFLIGHT_BITS{1'b0}};",
            "may_issue_o",
        ),
        (
            "no saturation",
            "next_inflight = NO_LIMIT;",
            "next_inflight = sum[INFLIGHT_BITS-1:0];",
            "may_issue_o",
        ),
        ("an end", "updated_q <= 1'b1;", "begin updated_q <= 1'b1; $finish; end", "$finish"),
    ];
    for (kind, from, to, word) in faults {
        let output = verify(
            folder.path(),
            &with(&right, from, to),
            &["--output", "wrong.vcd", "--json", "wrong.json"],
        );
        let error = error(&output);
        assert_eq!(output.status.code(), Some(1), "{kind}: {output:?}");
        assert!(error.lines().count() == 1 && error.contains(word), "{kind}: {error}");
        assert!(error.contains("custom Verilog") && error.contains("the seed is 1"), "{kind}: {error}");
        let report: Value =
            serde_json::from_slice(&fs::read(folder.path().join("wrong.json")).expect("JSON")).expect("JSON");
        let difference = &report["blocks"][0]["difference"];
        let cycle = difference["cycle"].as_u64().expect("a cycle");
        assert!(error.contains(&format!("cycle {cycle}")), "{kind}: {error}");
        assert_eq!(difference["form"], "custom Verilog");
        let vcd = fs::read_to_string(folder.path().join("wrong.vcd")).expect("a waveform");
        for scope in ["model", "rtl", "verilog", "custom"] {
            assert!(vcd.contains(&format!("$scope module {scope} $end")), "{kind}: {scope}");
        }
        for file in ["wrong.vcd", "wrong.gtkw"] {
            fs::remove_file(folder.path().join(file)).expect(file);
        }
    }
}

#[test]
fn a_file_constrains_the_stimulus() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("quiet.toml"), "[inputs]\nrequest_i = { percent = 0 }\n").expect("a file");
    let words = ["verify", "milg", "--operations", "3000", "--stimulus", "quiet.toml", "--json", "-"];
    let report = json(&selvedge_in(folder.path(), &words));
    let ports = report["blocks"][0]["ports"].as_array().expect("a list");
    // Without requests, no interval ends, and the limit stays as it is.
    for name in ["request_i", "limit_o", "update_o"] {
        let port = ports.iter().find(|port| port["name"] == name).expect(name);
        assert_eq!(port["toggled"], 0, "{port}");
    }
}

#[test]
fn wrong_input_is_one_line_and_exit_code_2() {
    let folder = tempfile::tempdir().expect("a folder");
    let right = milg(folder.path());
    fs::write(folder.path().join("ports.v"), right.replace("update_o", "updated_o")).expect("a file");
    fs::write(folder.path().join("syntax.v"), with(&right, "assign inflight_o =", "assign inflight_o"))
        .expect("a file");
    let cases: [(&[&str], &str); 9] = [
        (&["verify", "mil"], "milg"),
        (&["verify", "milg", "--param", "inflight_bits=99"], "inflight_bits"),
        (&["verify", "milg", "--verilog", "absent.v"], "absent.v"),
        (&["verify", "milg", "--verilog", "ports.v"], "'update_o' of 1 bits is missing"),
        (&["verify", "milg", "--verilog", "syntax.v"], "syntax error"),
        (&["verify", "milg", "--verilog", "qbmi=milg.v"], "must be milg=FILE"),
        (&["verify", "milg", "--verilog", "milg.v,latency=2"], "latency"),
        (&["verify", "milg", "--verilog", ""], "must be FILE"),
        (&["verify", "milg", "--output", "a.vpd"], "must end in .vcd or .fst"),
    ];
    for (words, part) in cases {
        let output = selvedge_in(folder.path(), words);
        let error = error(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
        assert!(error.lines().count() == 1 && error.contains(part), "{words:?}: {error}");
    }
    assert_eq!(selvedge_in(folder.path(), &["verify"]).status.code(), Some(2));
    assert_eq!(selvedge_in(folder.path(), &["verify", "milg", "--all"]).status.code(), Some(2));
    let output = Command::new(env!("CARGO_BIN_EXE_selvedge"))
        .args(["verify", "milg"])
        .env("PATH", folder.path())
        .env("XDG_CACHE_HOME", folder.path())
        .output()
        .expect("the command starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(error(&output).contains("`verilator` was not found"), "{output:?}");
}

#[test]
fn planted_faults_are_reported_and_the_found_ones_are_faults() {
    let folder = tempfile::tempdir().expect("a folder");
    let right = milg(folder.path());
    let words = ["--mutate", "5", "--seed", "3", "--json", "-"];
    let output = verify(folder.path(), &right, &words);
    assert!(output.status.success(), "{output:?}");
    let report = json(&output);
    let mutants = report["blocks"][0]["mutants"].as_array().expect("a list");
    assert_eq!(mutants.len(), 5, "{report}");
    let found: Vec<&Value> = mutants.iter().filter(|mutant| mutant["found"] == true).collect();
    assert!(found.len() >= 3, "{report}");
    // The same fault, written by hand, gives the same difference.
    let one =
        found.iter().find(|mutant| mutant["change"].as_str().expect("text").contains(" -> ")).expect("one");
    let (from, to) = one["change"].as_str().expect("text").split_once(" -> ").expect("two tokens");
    let (line, column) = (one["line"].as_u64().expect("a line"), one["column"].as_u64().expect("a column"));
    let mut lines: Vec<String> = right.lines().map(String::from).collect();
    let text = &mut lines[line as usize - 1];
    let (before, after) = text.split_at(column as usize - 1);
    *text = format!("{before}{to}{}", after.strip_prefix(from).expect("the token"));
    let output = verify(folder.path(), &lines.join("\n"), &["--seed", "3", "--json", "-"]);
    let difference = &json(&output)["blocks"][0]["difference"];
    assert_eq!(difference["cycle"], one["cycle"]);
    assert_eq!(difference["port"], one["port"]);
}

/// A planted fault in emitted Verilog.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VerilogFault {
    block: String,
    /// Effect of the wrong text, in one sentence.
    what: String,
    /// File in `verilog/`.
    file: String,
    /// Text that occurs once in the file, and the wrong text that replaces it.
    find: String,
    replace: String,
}

/// Returns the faults of `tests/faults/verilog.toml`.
fn verilog_faults() -> Vec<VerilogFault> {
    #[derive(Deserialize)]
    struct Faults {
        fault: Vec<VerilogFault>,
    }
    toml::from_str::<Faults>(include_str!("../faults/verilog.toml")).expect("the file has faults").fault
}

/// Returns a file of emitted Verilog.
fn emitted(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("verilog");
    fs::read_to_string(folder.join(file)).unwrap_or_else(|why| panic!("{file}: {why}"))
}

impl VerilogFault {
    /// Returns whether `verify --verilog` finds the fault in the files of its block.
    fn is_found(&self) -> bool {
        let folder = tempfile::tempdir().expect("a folder");
        let list = emitted(&format!("{}.f", self.block));
        let files: Vec<&str> = list.split_whitespace().collect();
        for file in &files {
            let right = emitted(file);
            let text = if *file == self.file { with(&right, &self.find, &self.replace) } else { right };
            fs::write(folder.path().join(file), text).expect("a file");
        }
        let words = ["verify", &self.block, "--verilog", &files.join(","), "--json", "-"];
        let output = selvedge_in(folder.path(), &words);
        match output.status.code() {
            Some(0) => false,
            Some(1) => json(&output)["blocks"][0]["difference"]["form"] == "custom Verilog",
            _ => panic!("{}: {}: {output:?}", self.block, self.what),
        }
    }
}

#[test]
fn each_block_has_two_faults_whose_texts_occur_once_in_its_verilog() {
    let mut counts: BTreeMap<String, usize> =
        selvedge_blocks::built_in().iter().map(|block| (block.name().to_string(), 0)).collect();
    for fault in verilog_faults() {
        let VerilogFault { block, what, file, find, replace } = fault;
        *counts.get_mut(&block).unwrap_or_else(|| panic!("{block}: {what}")) += 1;
        let list = emitted(&format!("{block}.f"));
        assert!(list.split_whitespace().any(|one| one == file), "{block}: {file}");
        assert_eq!(emitted(&file).matches(&find).count(), 1, "{block}: {what}");
        assert_ne!(find, replace, "{block}: {what}");
    }
    assert!(counts.values().all(|count| *count == 2), "{counts:?}");
}

#[test]
fn every_fault_in_emitted_verilog_is_found() {
    if !is_long_run("every_fault_in_emitted_verilog_is_found") {
        return;
    }
    let faults = verilog_faults();
    let found = parallel::map(&faults, 2, |_, fault| fault.is_found());
    let missed = faults.iter().zip(&found).filter(|(_, found)| !**found);
    let missed: Vec<String> = missed.map(|(fault, _)| format!("{}: {}", fault.block, fault.what)).collect();
    println!("{} of {} faults found", faults.len() - missed.len(), faults.len());
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn registers_and_their_states_are_covered() {
    let phase = |operations: &str| -> Value {
        let words = ["verify", "sc_compressor", "--operations", operations, "--json", "-"];
        let report: Value = serde_json::from_str(&selvedge(&words)).expect("JSON");
        let registers = report["blocks"][0]["registers"].as_array().expect("a list");
        registers.iter().find(|one| one["name"] == "phase_q").expect("a register").clone()
    };
    let states = |reached: [bool; 4]| -> Value {
        let states = ["run", "drain", "clear", "load"].into_iter().zip(reached);
        states.map(|(name, reached)| serde_json::json!({ "name": name, "reached": reached })).collect()
    };
    // The first line needs no codes.
    let short = phase("1");
    assert_eq!((&short["states"], &short["toggled"]), (&states([true, false, false, false]), &0.into()));
    let whole = phase("1000");
    assert_eq!((&whole["states"], &whole["toggled"]), (&states([true; 4]), &2.into()));
    let text = selvedge(&["verify", "sc_compressor", "--operations", "1"]);
    assert!(text.contains("1/4"), "{text}");
    assert!(text.contains("states not reached: phase_q drain; phase_q clear; phase_q load"), "{text}");
}

#[test]
fn all_blocks_are_equal() {
    if !is_long_run("all_blocks_are_equal") {
        return;
    }
    let report: Value = serde_json::from_str(&selvedge(&["verify", "--all", "--json", "-"])).expect("JSON");
    let blocks = report["blocks"].as_array().expect("a list");
    assert_eq!(blocks.len(), selvedge_blocks::built_in().len());
    for block in blocks {
        let corners = block["corners"].as_array().expect("a list");
        assert!(corners.iter().all(|corner| corner["times"].as_u64() > Some(0)), "{block}");
    }
}
