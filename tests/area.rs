//! `selvedge area`: checks its figures, versions and units, and that it fails with one line.
//!
//! If the variable `SELVEDGE_VECTORS` is at least 2, as `./tests/run --long` sets it, the large blocks are mapped and
//! their netlists simulated. Their cells are compared with plain Verilog written by hand (`tests/reference/`), and
//! nextpnr places blocks on FPGAs.
use selvedge_area::liberty::{LIBRARIES, Liberty, OSU018};
use selvedge_area::study::{self, AsicSetup, Subject};
use selvedge_blocks::find;
use selvedge_gen::{Cells, Design, EmitOptions, Language, ResetStyle, VerilogModule, emit};
use selvedge_testbenches::emitted::{Emitted, VerilogFile};
use selvedge_testbenches::skipped::is_long_run;
use selvedge_testbenches::tool::YOSYS;
use selvedge_testbenches::{icarus, testbench};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;

/// Runs the command in `folder`. `path` replaces the search path for programs.
fn selvedge(folder: &Path, words: &[&str], path: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selvedge"));
    if let Some(path) = path {
        command.env("PATH", path);
    }
    command.current_dir(folder).arg("area").args(words).output().expect("the command starts")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn json(words: &[&str]) -> Value {
    let output = selvedge(folder().path(), &[words, &["--json", "-"]].concat(), None);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Checks that the command fails with exit code 2 and one line that contains `says`.
fn refused(folder: &Path, words: &[&str], path: Option<&str>, says: &str) -> Output {
    let output = selvedge(folder, words, path);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
    assert_eq!(error.trim_end().lines().count(), 1, "one line, not:\n{error}");
    assert!(error.contains(says), "`{error}` should say `{says}`");
    output
}

/// Returns the mapping of a block for `goal`.
fn mapping<'a>(block: &'a Value, goal: &str) -> &'a Value {
    let all = block["mappings"].as_array().expect("a list");
    all.iter().find(|one| one["goal"] == goal).unwrap_or_else(|| panic!("no mapping for {goal}: {block}"))
}

/// Checks the unit of a figure and returns its number.
fn figure(value: &Value, unit: &str) -> f64 {
    assert_eq!(value["unit"], unit, "{value}");
    value["value"].as_f64().expect("a number")
}

#[test]
fn the_report_has_versions_library_and_units_and_adds_up() {
    let report = json(&["milg", "--scale-to", "45nm"]);
    assert_eq!(report["format_version"], 1);
    let tools: Vec<&str> =
        report["tools"].as_array().expect("a list").iter().filter_map(|t| t["program"].as_str()).collect();
    assert_eq!(tools, ["yosys", "sta"]);
    assert!(report["tools"][0]["version"].as_str().expect("a version").contains('.'));
    let library = &report["library"];
    assert_eq!(library["name"], "osu018_stdcells");
    assert_eq!(library["sha256"].as_str().expect("a hash").len(), 64);
    let block = &report["blocks"][0];
    assert_eq!((&block["block"], &block["target"]), (&Value::from("milg"), &Value::from("asic")));
    let storage = figure(&block["storage"], "bits");
    for one in block["mappings"].as_array().expect("a list") {
        let area = figure(&one["area"], "um2");
        let parts = figure(&one["combinational_area"], "um2") + figure(&one["sequential_area"], "um2");
        assert!((area - parts).abs() < 1e-6);
        let kge = figure(&one["area_kge"], "kGE");
        assert!((area - 24_000.0 * kge).abs() < 0.1, "24 um2 is the NAND gate of the library");
        assert!((figure(&one["scaled_area"], "um2") - 798.0 * kge).abs() < 0.01);
        assert_eq!(figure(&one["flip_flops"], "cells"), storage, "every bit of state is a flip-flop");
        let path = figure(&one["critical_path"], "ns");
        assert!((figure(&one["fmax"], "MHz") * path - 1000.0).abs() < 0.1);
        assert!(figure(&one["logic_depth"], "cells") > 1.0 && figure(&one["latency"], "ns") >= path);
    }
    let (area, delay) = (mapping(block, "area"), mapping(block, "delay"));
    assert!(figure(&area["area"], "um2") <= figure(&delay["area"], "um2"));
    assert!(figure(&area["critical_path"], "ns") >= figure(&delay["critical_path"], "ns"));
}

#[test]
fn the_mapping_for_a_clock_is_the_smallest_that_reaches_it_or_the_fastest() {
    let at = |clock: &[&str]| json(&[&["milg"][..], clock].concat())["blocks"][0].clone();
    let path = |block: &Value, goal: &str| figure(&mapping(block, goal)["critical_path"], "ns");
    let um2 = |block: &Value, goal: &str| figure(&mapping(block, goal)["area"], "um2");
    let usual = at(&[]);
    assert_eq!(figure(&mapping(&usual, "clock")["clock"], "MHz").round(), 150.0, "of the technology table");
    assert_eq!(um2(&usual, "clock"), um2(&usual, "area"), "cells mapped for area reach 150 MHz");
    // A period between the critical paths of the other two mappings.
    let between = f64::midpoint(path(&usual, "area"), path(&usual, "delay"));
    let block = at(&["--clock", &format!("{between:.3}ns")]);
    assert!(path(&block, "clock") <= between && um2(&block, "clock") <= um2(&block, "delay"));
    assert_eq!(um2(&block, "area"), um2(&usual, "area"), "the others do not see the clock");
    let hopeless = at(&["--clock", "0.1ns"]);
    assert!(path(&hopeless, "clock") <= path(&hopeless, "delay").min(path(&hopeless, "area")));
}

#[test]
fn gate_equivalents_carry_over_to_other_libraries() {
    let kge = |words: &[&str]| {
        let report = json(words);
        figure(&mapping(&report["blocks"][0], "area")["area_kge"], "kGE")
    };
    let here = kge(&["milg"]);
    for library in &LIBRARIES[1..] {
        let there = kge(&["milg", "--liberty", library.path]);
        assert!((there / here - 1.0).abs() < 0.1, "{}: {there} and {here} kGE", library.path);
    }
}

#[test]
fn the_number_of_jobs_changes_nothing() {
    let words = ["set_index_bxor", "set_index_pmod", "milg"];
    let one = json(&[&words[..], &["--jobs", "1"]].concat());
    assert_eq!(one, json(&[&words[..], &["--jobs", "3"]].concat()));
}

#[test]
fn memories_are_listed_and_no_flip_flops() {
    let report = json(&["awb"]);
    let block = &report["blocks"][0];
    assert_eq!(block["memories_in_flip_flops"], false);
    let memories = block["memories"].as_array().expect("a list");
    let bits: f64 = memories.iter().map(|memory| figure(&memory["bits"], "bits")).sum();
    assert!(memories.len() == 4 && memories.iter().all(|m| m["read_ports"] == 1 && m["write_ports"] == 1));
    for one in block["mappings"].as_array().expect("a list") {
        assert!(figure(&one["flip_flops"], "cells") + bits <= figure(&block["storage"], "bits"));
        let path = figure(&one["critical_path"], "ns");
        assert!(path > 1.0 && path < 50.0, "{path} ns from register to register");
    }
}

#[test]
fn a_sweep_has_a_row_for_each_value() {
    let folder = folder();
    let words = ["milg", "--sweep", "inflight_bits=6,7", "--csv", "rows.csv", "--plot", "x.svg"];
    let output = selvedge(folder.path(), &words, None);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows = std::fs::read_to_string(folder.path().join("rows.csv")).expect("rows");
    assert_eq!(rows.lines().count(), 1 + 2 * 3);
    let chart = std::fs::read_to_string(folder.path().join("x.svg")).expect("a chart");
    assert_eq!(chart.matches("<circle").count(), 2 * 3 * 2, "two charts of three curves with two points");
    assert!(rows.contains("inflight_bits=6") && rows.contains("inflight_bits=7"), "{rows}");
}

#[test]
fn a_mechanism_is_the_sum_of_its_instances() {
    let report = json(&["--mechanism", "dmil", "--kernels", "2"]);
    let (system, block) = (&report["systems"][0], &report["blocks"][0]);
    assert_eq!(block["block"], "milg");
    assert_eq!(system["parts"][0]["instances"], 30, "one for each kernel of 15 SMs");
    assert_eq!(system["block_bits"].as_f64().expect("bits"), 30.0 * figure(&block["storage"], "bits"));
    let um2 = figure(&block["mappings"][0]["area"], "um2");
    assert!((system["cells_um2"].as_f64().expect("an area") - 30.0 * um2).abs() < 1.0, "{system}");
    assert_eq!(system["added_tag_bits"], 0, "it leaves the caches alone");

    let here = folder();
    refused(here.path(), &["--mechanism", "base"], None, "it has no blocks in gtx480");
    refused(here.path(), &["--mechanism", "dmill"], None, "unknown mechanism 'dmill'");
    refused(here.path(), &["--mechanism", "dmil", "--target", "ice40"], None, "allowed with --target asic");
}

#[test]
fn an_fpga_has_luts_and_flip_flops() {
    let report = json(&["milg", "--target", "ice40"]);
    let fpga = &report["blocks"][0]["fpga"];
    assert_eq!(figure(&fpga["flip_flops"], "flip-flops"), 44.0);
    assert!(figure(&fpga["luts"], "LUTs") > 44.0);
    assert!(fpga.get("fmax").is_none(), "nothing was placed");
}

#[test]
fn a_block_is_studied_for_two_targets_at_once() {
    let report = json(&["qbmi", "milg", "--target", "asic,ice40"]);
    let blocks: Vec<(&str, &str, bool, bool)> = (report["blocks"].as_array().expect("a list").iter())
        .map(|block| {
            let text = |name: &str| block[name].as_str().expect("a name");
            (text("block"), text("target"), block.get("mappings").is_some(), block.get("fpga").is_some())
        })
        .collect();
    assert_eq!(
        blocks,
        [
            ("qbmi", "asic", true, false),
            ("milg", "asic", true, false),
            ("qbmi", "ice40", false, true),
            ("milg", "ice40", false, true),
        ]
    );
    let output = selvedge(folder().path(), &["milg", "--target", "asic,ice40"], None);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(
        shown.lines().filter(|line| line.starts_with("block ")).count(),
        2,
        "a table for each: {shown}"
    );
    assert_eq!(shown.lines().filter(|line| line.starts_with("milg ")).count(), 4, "{shown}");
}

#[test]
fn mistakes_are_one_line() {
    let folder = folder();
    let here = folder.path();
    std::fs::write(here.join("bad.lib"), "hello {\n}\n").expect("written");
    let cut = std::fs::read_to_string(OSU018).expect("the package qflow-tech-osu018 is installed");
    std::fs::write(here.join("cut.lib"), &cut[..cut.len() / 2]).expect("written");
    refused(here, &["milg", "--liberty", "bad.lib"], None, "bad.lib: not a liberty file");
    refused(here, &["milg", "--liberty", "cut.lib"], None, "cut.lib: ");
    refused(here, &["milg", "--liberty", "none.lib"], None, "none.lib");
    refused(here, &["milg", "--target", "virtex"], None, "must be one of asic, ecp5, ice40, xilinx, gowin");
    refused(here, &["milg", "--param", "inflight_bits=99"], None, "inflight_bits");
    refused(here, &["milg", "--sweep", "inflight_bits"], None, "must be NAME=VALUE");
    refused(here, &["milg", "--clock", "fast"], None, "1.4GHz");
    refused(here, &["milg", "--scale-to", "1nm"], None, "45nm");
    refused(here, &["milg", "--target", "ice40,ice40"], None, "--target ice40,ice40: ice40 is there twice");
    let two = ["milg", "--target", "asic,ice40", "--csv", "two.csv"];
    refused(here, &two, None, "--csv: allowed with one target");
    refused(here, &["milg", "--place"], None, "allowed with --target ecp5 or ice40");
    refused(here, &["milg", "--target", "ice40", "--clock", "2ns"], None, "allowed with --target asic");
    refused(here, &["milg", "--json", "bad.lib/x.json"], None, "bad.lib");
    refused(here, &["milk"], None, "unknown block 'milk'");
}

/// Writes a program with this shell text.
#[cfg(unix)]
fn program(file: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(file, format!("#!/bin/sh\n{text}\n")).expect("written");
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).expect("a program");
}

/// Writes a program `yosys` with this shell text, and returns a search path that finds it first.
#[cfg(unix)]
fn with_yosys(folder: &Path, text: &str) -> String {
    program(&folder.join("yosys"), text);
    let path = std::env::var("PATH").expect("a search path");
    format!("{}:{path}", folder.display())
}

#[cfg(unix)]
#[test]
fn a_tool_that_is_missing_too_old_or_fails_is_one_line_and_results_stay() {
    let folder = folder();
    let here = folder.path();
    refused(here, &["milg"], Some("/nowhere"), "install the Debian package `yosys`");
    let old = with_yosys(here, "echo Yosys 0.9");
    refused(here, &["milg"], Some(&old), "`yosys` is version 0.9; at least 0.23 is needed");

    let real = Command::new("sh").args(["-c", "command -v yosys"]).output().expect("a shell");
    let real = String::from_utf8_lossy(&real.stdout).trim().to_string();
    let fails =
        format!("grep -qs bxor \"$2\" && {{ echo ERROR: out of gates; exit 1; }}; exec {real} \"$@\"");
    let fails = with_yosys(here, &fails);
    let output =
        refused(here, &["milg", "set_index_bxor"], Some(&fails), "`yosys` failed: ERROR: out of gates");
    let kept = String::from_utf8_lossy(&output.stdout);
    assert!(kept.contains("milg") && !kept.contains("bxor  "), "{kept}");
}

/// Returns whether the process runs, and is not a zombie.
#[cfg(target_os = "linux")]
fn is_running(id: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|state| !state.is_empty() && !state.starts_with(['Z', 'X']))
}

/// Waits up to a minute until `is_so` holds.
#[cfg(target_os = "linux")]
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..600 {
        if is_so() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("{what} did not come");
}

#[cfg(target_os = "linux")]
#[test]
fn programs_and_their_children_end_with_the_command_however_it_ends() {
    use std::process::Stdio;
    for (signal, code) in [("-INT", Some(130)), ("-TERM", Some(143)), ("-HUP", Some(129)), ("-KILL", None)] {
        let folder = folder();
        let here = folder.path();
        let (ids, temporary) = (here.join("ids"), here.join("tmp"));
        std::fs::create_dir(&temporary).expect("a folder");
        // Yosys with a child process, such as ABC.
        let works = format!(
            "mkdir \"$TMPDIR/yosys-abc\" || exit 1; sleep 1000 & echo $$ $! > {0}.new; mv {0}.new {0}; wait",
            ids.display()
        );
        let path = with_yosys(here, &format!("[ \"$1\" = -V ] && {{ echo Yosys 0.33; exit; }}; {works}"));
        // Under `nohup` the command would ignore SIGHUP; reset its disposition.
        let run = Command::new("env")
            .args(["--default-signal=HUP", env!("CARGO_BIN_EXE_selvedge")])
            .args(["area", "milg", "--target", "ice40"])
            .current_dir(here)
            .env("PATH", path)
            .env("TMPDIR", &temporary)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        wait_until("Yosys", || ids.exists());
        let text = std::fs::read_to_string(&ids).expect("two numbers");
        let ids: Vec<&str> = text.split_whitespace().collect();
        assert!(ids.len() == 2 && ids.iter().all(|id| is_running(id)), "{text}");
        let id = run.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().expect("kill runs").success());
        let output = run.wait_with_output().expect("the command ends");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), code, "{signal}: {error}");
        wait_until("the end of both", || !ids.iter().any(|id| is_running(id)));
        if code.is_some() {
            assert_eq!(error, "selvedge: milg: interrupted\n");
            assert_eq!(std::fs::read_dir(&temporary).expect("a folder").count(), 0, "{signal}");
        }
    }
}

/// Substitute for CACTI with 1,000 um2 per byte, which needs a folder with the files of its technologies.
#[cfg(unix)]
const CACTI: &str = "[ -f tech_params/45nm.dat ] && [ \"$1\" = -infile ] || { echo 'ERROR: no technology'; exit 1; }\n\
    grep -q '^-technology (u) 0.045$' \"$2\" || { echo 'ERROR: not that node'; exit 0; }\n\
    echo 'Access time (ns): 0.25'; echo 'Cycle time (ns):  0.5'\n\
    echo 'Total dynamic read energy per access (nJ): 0.003'\n\
    echo 'Total leakage power of a bank (mW): 0.75'\n\
    echo \"Cache height x width (mm): 0.001 x $(sed -n 's/^-size (bytes) //p' \"$2\")\"";

#[cfg(unix)]
#[test]
fn memories_are_priced_by_the_users_cacti_or_not_at_all() {
    let folder = folder();
    let here = folder.path();
    let own = here.join("own");
    std::fs::create_dir_all(own.join("tech_params")).expect("a folder");
    std::fs::write(own.join("tech_params/45nm.dat"), "").expect("written");
    program(&own.join("cacti"), CACTI);
    let words = ["aws", "--sram", "cacti", "--cacti", "own/cacti", "--sram-node", "45nm", "--json", "-"];
    let output = selvedge(here, &words, None);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(report["memory_method"].as_str().expect("a line").contains("45 nm"));
    let memories = report["blocks"][0]["memories"].as_array().expect("a list");
    assert!(!memories.is_empty(), "aws has a memory");
    for memory in memories {
        let price = &memory["price"];
        let size = |key: &str| price[key].as_u64().expect("a number");
        let bytes = size("modelled_words") * size("modelled_width") / 8;
        assert!(8 * bytes >= memory["bits"]["value"].as_f64().expect("a number") as u64);
        assert_eq!(figure(&price["area"], "um2"), 1000.0 * bytes as f64);
        assert_eq!(figure(&price["access_time"], "ns"), 0.25);
        assert_eq!(price.get("write_energy"), None, "this one does not report it");
    }
    let table = selvedge(here, &words[..7], None);
    let text = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(text.contains("CACTI's RAM") && text.contains("leakage mW"), "{text}");

    refused(
        here,
        &["aws", "--sram", "sap"],
        None,
        "invalid value 'sap' for '--sram <PROGRAM>': must be cacti",
    );
    let at = |node| ["aws", "--sram", "cacti", "--cacti", "own/cacti", "--sram-node", node];
    refused(here, &at("small"), None, "--sram-node small: must be a node such as 45nm");
    refused(
        here,
        &at("32nm"),
        None,
        "CACTI does not report `Cache height x width (mm)`; its last line: ERROR: not that node",
    );
    program(&here.join("cacti"), CACTI);
    let elsewhere = ["aws", "--sram", "cacti", "--cacti", "cacti", "--sram-node", "45nm"];
    refused(here, &elsewhere, None, "failed: ERROR: no technology");
    refused(here, &["aws", "--sram", "cacti"], None, "`cacti` was not found; install CACTI from its source");
    refused(
        here,
        &["aws", "--target", "ice40", "--sram", "cacti"],
        None,
        "--sram: allowed with --target asic",
    );
}

/// Maps a block, and checks its vectors on the netlist with the library's cells.
fn netlist_passes(block: &str, goal: &str, clocks: u64) {
    let folder = folder();
    let here = folder.path();
    let output = selvedge(here, &[block, "--keep", "kept"], None);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let cells = format!("read_liberty -ignore_miss_func {OSU018}; proc; write_verilog -noattr cells.v");
    YOSYS.run(here, ["-q", "-p", &cells]).expect("models of the cells");
    let read = |path: &str| std::fs::read_to_string(here.join(path)).expect("a netlist");
    let entry = find(block).expect("a block");
    let params = entry.defaults();
    let netlist = Emitted {
        name: block.into(),
        ports: entry.ports(&params).expect("its ports"),
        reset: ResetStyle::default(),
        sources: vec![
            VerilogFile {
                module: block.into(),
                language: Language::Verilog,
                text: read(&format!("kept/{block}/{goal}.v")),
            },
            VerilogFile { module: "cells".into(), language: Language::Verilog, text: read("cells.v") },
        ],
    };
    let bench = testbench::write(entry, &params, clocks, 1, ResetStyle::default()).expect("a testbench");
    let passed = icarus::run(&bench, &netlist, &here.join("run")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(passed, clocks);
}

#[test]
fn netlists_of_milg_pass_its_vectors() {
    for goal in ["area", "clock", "delay"] {
        netlist_passes("milg", goal, 5000);
    }
}

#[test]
fn the_shallowest_pipeline_that_reaches_a_clock_is_found_and_is_the_mechanisms_latency() {
    let folder = folder();
    let words = [
        "bdi_decompressor",
        "--param",
        "line_bytes=32",
        "--clock",
        "9ns",
        "--find-depth",
        "--json",
        "depth.json",
    ];
    let output = selvedge(folder.path(), &words, None);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(folder.path().join("depth.json")).expect("written");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    let paths: Vec<(u64, f64)> = (report["blocks"].as_array().expect("a list").iter())
        .map(|block| {
            let mappings = block["mappings"].as_array().expect("a list").iter();
            let paths = mappings.map(|one| figure(&one["critical_path"], "ns"));
            (
                block["parameters"]["pipeline_depth"].as_u64().expect("a depth"),
                paths.fold(f64::INFINITY, f64::min),
            )
        })
        .collect();
    assert_eq!(paths.iter().map(|(depth, _)| *depth).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert!(
        paths[1].1 < paths[0].1 && paths[2].1 < paths[1].1,
        "a register between steps shortens the path: {paths:?}"
    );
    let expected = paths.iter().find(|(_, path)| *path <= 9.0).expect("one of them reaches 9 ns").0;
    let found = &report["found_depths"][0];
    assert_eq!(
        (&found["block"], found["pipeline_depth"].as_u64()),
        (&Value::from("bdi_decompressor"), Some(expected))
    );
    assert_eq!(figure(&found["period"], "ns"), 9.0);
    assert_eq!(
        figure(&found["latency_cycles"], "cycles"),
        expected as f64,
        "its latency in cycles is its depth"
    );
    let run = |more: &[&str]| {
        let words = [
            "run",
            "vecadd",
            "--size",
            "tiny",
            "--engine",
            "model",
            "--mechanism",
            "static-bdi,latency=auto",
        ];
        let mut command = Command::new(env!("CARGO_BIN_EXE_selvedge"));
        command.current_dir(folder.path()).args(words).args(more).output().expect("the command starts")
    };
    let shown = String::from_utf8_lossy(&run(&["--latency-from", "depth.json"]).stdout).into_owned();
    assert!(shown.contains(&format!("static-bdi,latency={expected}")), "{shown}");
    let alone = run(&[]);
    assert_eq!(alone.status.code(), Some(2));
    let error = String::from_utf8_lossy(&alone.stderr).into_owned();
    assert!(error.contains("'latency=auto': allowed with --latency-from FILE"), "{error}");
}

#[test]
fn a_pipeline_depth_is_found_for_a_clock_and_of_blocks_that_have_one() {
    let here = folder();
    refused(
        here.path(),
        &["milg", "--clock", "9ns", "--find-depth"],
        None,
        "must be a block with a pipeline_depth",
    );
    let fpga = ["bdi_compressor", "--target", "ice40", "--clock", "9ns", "--find-depth"];
    refused(here.path(), &fpga, None, "allowed with --target asic");
    let output = selvedge(here.path(), &["bdi_compressor", "--find-depth"], None);
    assert_eq!(output.status.code(), Some(2), "no clock");
}

#[test]
fn netlists_of_large_blocks_pass_their_vectors() {
    if !is_long_run("netlists_of_large_blocks_pass_their_vectors") {
        return;
    }
    netlist_passes("bdi_decompressor", "delay", 500);
    netlist_passes("bgp", "delay", 500);
}

#[test]
fn each_register_of_the_compressor_shortens_its_longest_path() {
    if !is_long_run("each_register_of_the_compressor_shortens_its_longest_path") {
        return;
    }
    let report = json(&["bdi_compressor", "--param", "line_bytes=64", "--sweep", "pipeline_depth=1,2,3,4,5"]);
    let paths: Vec<f64> = (report["blocks"].as_array().expect("a list").iter())
        .map(|block| figure(&mapping(block, "delay")["critical_path"], "ns"))
        .collect();
    assert!(paths.is_sorted_by(|shallow, deep| deep < shallow), "{paths:?}");
}

#[test]
fn placed_blocks_tell_the_clock_that_they_reach() {
    if !is_long_run("placed_blocks_tell_the_clock_that_they_reach") {
        return;
    }
    let placed: [(&[&str], &str); 2] =
        [(&["milg"], "ice40"), (&["bdi_compressor", "--param", "line_bytes=32"], "ecp5")];
    for (block, family) in placed {
        let study = || {
            let report = json(&[block, &["--target", family, "--place"]].concat());
            figure(&report["blocks"][0]["fpga"]["fmax"], "MHz")
        };
        let fmax = study();
        println!("{} on {family}: {fmax} MHz", block[0]);
        assert!((1.0..1000.0).contains(&fmax), "{} on {family}: {fmax} MHz", block[0]);
        assert_eq!(study(), fmax, "the same seed places the same");
    }
}

/// Returns the text of a block written by hand in plain Verilog, with the ports and the behavior of Selvedge's block.
fn by_hand(block: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/reference/{block}.v"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Blocks with a reference, and the parameters with which they equal it.
const WITH_REFERENCE: [(&str, &[(&str, &str)]); 29] = [
    ("awb", &[]),
    ("awc", &[]),
    ("aws", &[]),
    ("awt", &[]),
    ("bdi_compressor", &[("pipeline_depth", "1")]),
    ("bdi_decompressor", &[("pipeline_depth", "1")]),
    ("bgp", &[]),
    ("bpc_compressor", &[]),
    ("bpc_decompressor", &[]),
    ("bpg", &[]),
    ("cpack_compressor", &[]),
    ("cpack_decompressor", &[]),
    ("decompression_queue", &[]),
    ("fpc_compressor", &[]),
    ("fpc_decompressor", &[]),
    ("latte_controller", &[]),
    ("md_cache", &[]),
    ("qbmi", &[]),
    ("sc_code_builder", &[]),
    ("sc_compressor", &[]),
    ("sc_decompressor", &[]),
    ("sc_vft", &[]),
    ("set_index_a_prime", &[]),
    ("set_index_bmod", &[]),
    ("set_index_bxor", &[]),
    ("set_index_d_prime", &[]),
    ("set_index_i_poly", &[]),
    ("set_index_pmod", &[]),
    ("spp", &[]),
];

/// Returns all parameters of a block from those given.
fn all_parameters(block: &str, given: &[(&str, &str)]) -> Value {
    let given: Vec<(String, String)> =
        given.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    find(block).expect("a block").params(&given).expect("parameters")
}

#[test]
fn verilog_written_by_hand_does_what_the_blocks_do() {
    for (block, given) in WITH_REFERENCE {
        let entry = find(block).expect("a block");
        let params = all_parameters(block, given);
        let reference = Emitted {
            name: block.into(),
            ports: entry.ports(&params).expect("its ports"),
            reset: ResetStyle::default(),
            sources: vec![VerilogFile {
                module: block.into(),
                language: Language::Verilog,
                text: by_hand(block),
            }],
        };
        let bench = testbench::write(entry, &params, 2000, 1, ResetStyle::default()).expect("a testbench");
        let folder = folder();
        let passed = icarus::run(&bench, &reference, folder.path()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(passed, 2000, "{block}");
    }
}

/// Returns the kGE and the MHz of a design that is mapped for area.
fn mapped_for_area(design: &Design, options: &EmitOptions) -> (f64, f64) {
    let library = Liberty::load(Path::new(OSU018)).expect("the library");
    let setup = AsicSetup::find(library).expect("the programs");
    let subject = Subject { design, options, parameters: &Value::Null, latency: 1, storage_bits: 0 };
    let folder = folder();
    let report = study::asic(&subject, &setup, folder.path(), &AtomicBool::new(false)).expect("a report");
    (report.mappings[0].area_kge.value, report.mappings[0].fmax.value)
}

#[test]
fn emitted_verilog_is_at_most_a_tenth_larger_than_verilog_written_by_hand() {
    if !is_long_run("emitted_verilog_is_at_most_a_tenth_larger_than_verilog_written_by_hand") {
        return;
    }
    let milg: (&str, &[(&str, &str)]) = ("milg", &[]);
    let mut larger = Vec::new();
    for (block, given) in WITH_REFERENCE.into_iter().chain([milg]) {
        let entry = find(block).expect("a block");
        let params = all_parameters(block, given);
        let options = EmitOptions { cells: Cells::Own, ..EmitOptions::default() };
        let emitted =
            emit(entry.elaborate(&params).expect("RTL").as_ref(), block, &options).expect("Verilog");
        let ports = emitted.top().ports.clone();
        let reference = VerilogModule {
            name: block.into(),
            language: Language::Verilog,
            text: by_hand(block),
            ports,
            cell: false,
        };
        let reference = Design { modules: vec![reference] };
        let (ours, clock) = mapped_for_area(&emitted, &options);
        let (by_hand, clock_by_hand) = mapped_for_area(&reference, &options);
        println!("{block}: {ours:.2} kGE, {clock:.0} MHz; by hand {by_hand:.2} kGE, {clock_by_hand:.0} MHz");
        if ours > 1.1 * by_hand {
            larger.push(block);
        }
    }
    assert!(larger.is_empty(), "{larger:?}");
}
