//! Energy of a block: checks that it follows from the activity and the library's tables, and that the simulator takes
//! it from the report.
use selvedge_area::activity::{Simulator, measure};
use selvedge_area::asic::Goal;
use selvedge_area::energy::SimulatedEnergy;
use selvedge_area::energy_study::{Prepared, prepare, tables};
use selvedge_area::liberty::{Liberty, OSU018};
use selvedge_area::study::{AsicSetup, Subject, asic};
use selvedge_area::tool::{Found, IVERILOG, VVP};
use selvedge_blocks::find;
use selvedge_gen::{EmitOptions, ResetStyle, emit};
use selvedge_hw::StimulusBits;
use selvedge_testbenches::testbench::{Testbench, of_vectors};
use selvedge_testbenches::vectors::{Vector, Vectors};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;

static RUNS: AtomicBool = AtomicBool::new(false);

fn selvedge(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selvedge"));
    command.current_dir(folder).args(words).output().expect("the command starts")
}

/// Checks that the command fails with exit code 2 and one line that contains `says`.
fn refused(words: &[&str], says: &str) {
    let output = selvedge(folder().path(), words);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
    assert_eq!(error.trim_end().lines().count(), 1, "one line, not:\n{error}");
    assert!(error.contains(says), "`{error}` should say `{says}`");
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn setup() -> AsicSetup {
    let library = Liberty::load(Path::new(OSU018)).expect("the library");
    AsicSetup::find(library).expect("the programs")
}

fn icarus() -> (Found, Found) {
    (IVERILOG.find().expect("Icarus Verilog"), VVP.find().expect("vvp"))
}

/// Simulates a prepared netlist at 100 MHz.
fn simulate(prepared: &Prepared, bench: &Testbench, folder: &Path) -> Result<(SimulatedEnergy, u64), String> {
    let (iverilog, vvp) = icarus();
    let simulator = Simulator { iverilog: &iverilog, vvp: &vvp };
    let library = tables(&setup()).expect("tables");
    let pulses = prepared.clock_network(&library);
    let activity = measure(bench, &prepared.files, (0, &pulses), simulator, folder, &RUNS)
        .map_err(|error| error.to_string())?;
    Ok((prepared.energy(&library, &activity, 10.0).expect("a sum"), activity.clocks))
}

/// Reset style with a single kind of flip-flop, so that energies can be added by hand.
const RESET: ResetStyle = ResetStyle::AsyncLow;

/// Maps `set_index_bxor` for area in `folder`.
fn mapped(folder: &Path) -> Prepared {
    let entry = find("set_index_bxor").expect("a block");
    let params = entry.defaults();
    let options = EmitOptions { reset: RESET, ..EmitOptions::default() };
    let block = entry.elaborate(&params).expect("RTL");
    let design = emit(block.as_ref(), entry.name(), &options).expect("Verilog");
    let subject =
        Subject { design: &design, options: &options, parameters: &params, latency: 1, storage_bits: 6 };
    asic(&subject, &setup(), folder, &RUNS).expect("a report");
    prepare(entry.name(), options.reset.port(), Goal::Area, &setup(), folder, &RUNS).expect("netlists")
}

/// Returns a testbench of the block's stimulus. If `idle`, the inputs keep their first values.
fn bench(clocks: usize, idle: bool) -> Testbench {
    let entry = find("set_index_bxor").expect("a block");
    let params = entry.defaults();
    let own: Vec<StimulusBits> =
        entry.stimulus(&params, 1).expect("a stimulus").filter(|one| !one.reset).take(clocks).collect();
    let held = own[0].inputs.clone();
    let stimulus = (0..clocks).map(move |clock| StimulusBits {
        inputs: if idle { held.clone() } else { own[clock].inputs.clone() },
        reset: clock == 0,
    });
    let vectors = Vectors::of(entry, &params, Box::new(stimulus)).expect("vectors");
    let vectors: Vec<Vector> = vectors.collect();
    of_vectors(entry, &params, &vectors, "a test", RESET).expect("a testbench")
}

#[test]
fn idle_inputs_leave_the_energy_of_the_clock_pins() {
    let folder = folder();
    let prepared = mapped(folder.path());
    let (busy, clocks) = simulate(&prepared, &bench(400, false), folder.path()).expect("it passes");
    assert_eq!(clocks, 400);
    let (idle, _) = simulate(&prepared, &bench(400, true), folder.path()).expect("it passes");
    assert!(idle.switching_pj < 0.01 * busy.switching_pj, "{idle:?} {busy:?}");
    assert_eq!(idle.leakage_pj, busy.leakage_pj);
    // Six flip-flops: rise and fall of DFFSR's clock pin at the shortest slew of its table. The first clocks fill the
    // block.
    let clock_pins = 400.0 * 6.0 * (0.041704 + 0.123008);
    let rest = idle.internal_pj / clock_pins - 1.0;
    assert!((0.0..0.02).contains(&rest), "{idle:?}, by hand {clock_pins}");
    assert!(busy.internal_pj > 1.2 * clock_pins, "{busy:?}");
}

#[test]
fn a_netlist_that_does_something_else_has_no_energy() {
    let folder = folder();
    let prepared = mapped(folder.path());
    let path = folder.path().join("area_sim.v");
    let netlist = std::fs::read_to_string(&path).expect("a netlist");
    let wrong = netlist.replacen("XNOR2X1", "XOR2X1", 1);
    assert_ne!(netlist, wrong);
    std::fs::write(&path, wrong).expect("written");
    let error = simulate(&prepared, &bench(100, false), folder.path()).expect_err("it is wrong");
    assert!(error.contains("FAIL set_index_bxor at clock"), "{error}");
}

#[test]
fn a_bank_of_toggling_flip_flops_takes_what_a_hand_adds() {
    const BITS: usize = 8;
    const CLOCKS: usize = 200;
    let folder = folder();
    let put = |name: &str, text: String| {
        std::fs::write(folder.path().join(name), text).expect("written");
    };
    let flops: String =
        (0..BITS).map(|i| format!("  DFFPOSX1 f{i} (.CLK(clk_i), .D(d_i[{i}]), .Q(q_o[{i}]));\n")).collect();
    let high = BITS - 1;
    put(
        "bank.v",
        format!(
            "module bank(clk_i, d_i, q_o);\n  input clk_i;\n  input [{high}:0] d_i;\n  output [{high}:0] q_o;\n{flops}endmodule\n"
        ),
    );
    std::fs::copy(OSU018, folder.path().join("cells.lib")).expect("copied");
    put("coarse.json", "{}".into());
    let script = "read_liberty -lib -ignore_miss_func cells.lib\nread_verilog bank.v\nwrite_rtlil area.il\n";
    put("bank.ys", script.into());
    setup().yosys.run(folder.path(), &["-q", "bank.ys"], "bank", &RUNS).expect("a netlist");
    let prepared = prepare("bank", None, Goal::Area, &setup(), folder.path(), &RUNS).expect("netlists");
    let verilog = format!(
        "`timescale 1ns / 1ps\nmodule bank_tb;\n  reg clk_i;\n  reg [{high}:0] d_i;\n  wire [{high}:0] q_o;\n  integer i;\n\
         bank dut (.clk_i(clk_i), .d_i(d_i), .q_o(q_o));\n  initial begin\n    d_i = 0;\n\
         for (i = 0; i < {CLOCKS}; i = i + 1) begin clk_i = 0; d_i = ~d_i; #5 clk_i = 1; #5; end\n\
         $display(\"PASS {CLOCKS} vectors\");\n    $finish;\n  end\nendmodule\n"
    );
    let bench = Testbench { block: "bank".into(), verilog, vectors: String::new() };
    let (energy, clocks) = simulate(&prepared, &bench, folder.path()).expect("it passes");
    assert_eq!(clocks, CLOCKS as u64);

    // Means of rise and fall at the shortest slew, pJ. That of Q is between the loads of 0.025 and 0.075 pF, nearly in
    // the middle.
    let (pin_d, pin_q) = ((0.045424 + 0.08841) / 2.0, (0.042221 + 0.061632) / 2.0);
    let pin_clock = 0.006865 + 0.11034;
    let load = setup().library.output_load_pf();
    assert!((load - 0.0508).abs() < 0.0001, "{load}");
    let each = (BITS * CLOCKS) as f64;
    let internal = each * (pin_clock + pin_d + pin_q);
    assert!((energy.internal_pj / internal - 1.0).abs() < 0.02, "{energy:?}, by hand {internal}");
    let switching = each * load * 1.8 * 1.8 / 2.0;
    assert!((energy.switching_pj / switching - 1.0).abs() < 0.02, "{energy:?}, by hand {switching}");
    // 0.160725 nW each, for 10 ns per clock.
    let leakage = each * 0.160725e-3 * 10.0 * 1e-3;
    assert!((energy.leakage_pj / leakage - 1.0).abs() < 1e-6, "{energy:?}, by hand {leakage}");
}

/// Checks the unit of a figure and returns its number.
fn figure(value: &Value, unit: &str) -> f64 {
    assert_eq!(value["unit"], unit, "{value}");
    value["value"].as_f64().expect("a number")
}

#[test]
fn the_report_has_energies_that_add_up_and_say_how_they_came_about() {
    let folder = folder();
    let words = ["area", "milg", "--energy", "--vectors", "200", "--clock", "100MHz", "--scale-to", "45nm"];
    let output = selvedge(folder.path(), &[&words[..], &["--json", "-", "--csv", "rows.csv"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(report["tools"].as_array().expect("a list").iter().any(|tool| tool["program"] == "iverilog"));
    assert!(report["energy_method"].as_str().expect("a method").contains("no clock tree"));
    for one in report["blocks"][0]["mappings"].as_array().expect("a list") {
        let energy = &one["energy"];
        let nj = |key: &str| figure(&energy[key], "nJ");
        let sum = nj("internal") + nj("switching") + nj("leakage");
        assert!((nj("per_operation") - sum).abs() < 1e-9 && nj("leakage") > 0.0, "{energy}");
        let scaled = (nj("internal") + nj("switching")) * 0.25 * (1.1f64 / 1.8).powi(2);
        assert!((nj("scaled") - scaled).abs() < 1e-6, "{energy}");
        assert_eq!(figure(&energy["clock"], "MHz"), 100.0);
        assert_eq!(figure(&energy["vectors"], "clocks"), 200.0);
        let operations = figure(&energy["operations"], "operations");
        assert!(operations > 100.0 && operations <= 200.0, "{operations}");
    }
    let rows = std::fs::read_to_string(folder.path().join("rows.csv")).expect("rows");
    let counts: Vec<usize> = rows.lines().map(|row| row.matches(',').count()).collect();
    assert!(counts.len() == 4 && counts.iter().all(|count| *count == counts[0]), "{rows}");
}

/// Records `milg` of two SMs for the first cycles of a run.
fn recorded(folder: &Path) {
    let words =
        ["run", "bfs", "--size", "tiny", "--mechanism", "dmil", "--vcd", "run.vcd", "--cycles", "600"];
    let output = selvedge(folder, &[&words[..], &["--probe", "sm0.milg", "--probe", "sm1.milg"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_recorded_window_of_a_run_is_a_stimulus_too() {
    let folder = folder();
    recorded(folder.path());
    let words = ["area", "milg", "--energy", "--vcd", "run.vcd", "--instance", "sm0.milg"];
    let output = selvedge(folder.path(), &[&words[..], &["--json", "-"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let energy = &report["blocks"][0]["mappings"][0]["energy"];
    let from = &energy["recorded"];
    assert_eq!((&from["file"], &from["instance"]), (&json!("run.vcd"), &json!("selvedge.sm0.milg")));
    assert_eq!(figure(&from["other_outputs"], "clocks"), 0.0, "from reset on it does what the run's did");
    // The waveform omits cycles in which the block is not clocked.
    let clocks = figure(&energy["vectors"], "clocks");
    assert!(clocks > 30.0 && clocks <= 601.0, "{clocks}");
    let operations = figure(&energy["operations"], "operations");
    assert!(operations > 0.0 && operations < clocks, "{operations}");
    let shown = selvedge(folder.path(), &[&words[..], &["--vectors", "30", "--keep", "kept"]].concat());
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    let testbench = std::fs::read_to_string(folder.path().join("kept/milg/milg_tb.v")).expect("it is kept");
    assert!(
        testbench.contains(" of milg: 30 clocks of what selvedge.sm0.milg got in a recording.\n"),
        "{testbench}"
    );
    assert!(
        shown.contains("milg: 30 clocks of selvedge.sm0.milg in run.vcd, begun in reset; of 29 with known outputs, 0 have"),
        "{shown}"
    );
}

#[test]
fn a_recording_that_does_not_suit_is_refused_before_anything_is_mapped() {
    let folder = folder();
    recorded(folder.path());
    let refused = |words: &[&str], says: &str| {
        let output = selvedge(folder.path(), &[&["area"], words, &["--energy"]].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
        assert_eq!(error, format!("selvedge: {says}\n"), "{words:?}");
    };
    let several = "run.vcd: it has several such instances; name one of selvedge.sm0.milg, selvedge.sm1.milg";
    refused(&["milg", "--vcd", "run.vcd"], several);
    refused(
        &["milg", "--vcd", "run.vcd", "--instance", "sm7.milg"],
        "run.vcd: it has no instance `sm7.milg`",
    );
    refused(&["milg", "--vcd", "none.vcd"], "none.vcd: No such file or directory (os error 2)");
    let others = "run.vcd: it has no instance with clk_i, valid_i[1], line_i[1024], ready_i[1]";
    refused(&["bdi_compressor", "--vcd", "run.vcd"], others);
    std::fs::write(folder.path().join("text.vcd"), "a text\n").expect("written");
    let text = "text.vcd: no waveform (VCD): unexpected character at start of command at line 1";
    refused(&["milg", "--vcd", "text.vcd"], text);
}

#[test]
fn two_parts_of_a_stimulus_take_what_the_whole_takes() {
    let folder = folder();
    let energy = |more: &[&str]| {
        let words = ["area", "milg", "--energy", "--clock", "100MHz", "--json", "-"];
        let output = selvedge(folder.path(), &[&words[..], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let energy = &report["blocks"][0]["mappings"][0]["energy"];
        let operations = figure(&energy["operations"], "operations");
        let clocks = (figure(&energy["earlier"], "clocks"), figure(&energy["vectors"], "clocks"));
        (figure(&energy["per_operation"], "nJ") * operations, operations, clocks)
    };
    let (whole, operations, clocks) = energy(&["--vectors", "200"]);
    let (first, before, _) = energy(&["--vectors", "120"]);
    let (second, after, later) = energy(&["--vectors", "200", "--from", "120"]);
    assert_eq!((clocks, later), ((0.0, 200.0), (120.0, 80.0)));
    assert_eq!(before + after, operations);
    assert!(before > 0.0 && after > 0.0);
    // The attribution of a change to the inputs of a cell is averaged over the counted clocks, so the parts are not
    // exact.
    assert!(((first + second) / whole - 1.0).abs() < 1e-5, "{first} + {second} is not {whole}");

    let shown = selvedge(folder.path(), &["area", "milg", "--energy", "--vectors", "30", "--from", "20"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("\nmilg: energy and operations count from clock 20 on\n"), "{shown}");
    let none = "milg: energy: no operation comes to its end in 30 clocks from clock 30 on";
    refused(&["area", "milg", "--energy", "--vectors", "30", "--from", "30"], none);
}

#[test]
fn mistakes_are_one_line() {
    refused(&["area", "milg", "--vcd", "x.vcd"], "--energy");
    refused(&["area", "milg", "--vectors", "9"], "--energy");
    refused(&["area", "milg", "--from", "9"], "--energy");
    refused(&["area", "milg", "--energy", "--vectors", "1"], "1 is not in 2..");
    refused(&["area", "milg", "--energy", "--target", "ice40"], "--energy: allowed with --target asic");
    refused(&["run", "bfs", "--energy-from", "absent.json"], "--energy-from absent.json: No such file");
    refused(&["run", "bfs+kmeans", "--energy-from", "x.json"], "--energy-from: supports one workload only");
}

#[test]
fn a_run_takes_its_codecs_energies_from_the_report() {
    let folder = folder();
    let one = |block: &str, nj: f64| json!({"block": block, "mappings": [{"energy": {"per_operation": {"value": nj, "unit": "nJ"}}}]});
    let report =
        json!({"format_version": 1, "library": {"name": "lib"}, "blocks": [one("bdi_decompressor", 5.0)]});
    std::fs::write(folder.path().join("area.json"), report.to_string()).expect("written");
    let words = ["run", "bfs", "--mechanism", "hw-bdi", "--engine", "model"];
    let run = |more: &[&str]| {
        let output = selvedge(folder.path(), &[&words[..], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let totals = |text: String| -> Value { serde_json::from_str(&text).expect("JSON") };
    let plain = totals(run(&["--json", "-"]));
    let changed = totals(run(&["--json", "-", "--energy-from", "area.json", "--stats", "stats.txt"]));
    let energy = |report: &Value| report["totals"]["energy"]["blocks_nj"].as_f64().expect("a number");
    let lines = plain["totals"]["blocks"]["bdi_decompressor"].as_f64().expect("a count");
    assert!(lines > 0.0);
    let more = energy(&changed) - energy(&plain);
    assert!((more - lines * (5.0 - 0.056)).abs() < 1e-6 * more, "{more} for {lines} lines");
    assert_eq!(plain["totals"]["cycles"], changed["totals"]["cycles"]);
    assert_eq!(plain["energy_sources"], Value::Null);
    assert_eq!(changed["energy_sources"][1]["file"], "area.json");
    assert_eq!(changed["energy_sources"][0]["file"], Value::Null, "{}", changed["energy_sources"]);
    let stats = std::fs::read_to_string(folder.path().join("stats.txt")).expect("statistics");
    assert!(stats.contains("energy_of_bdi_decompressor_fJ = 5000000 from area.json (lib)\n"), "{stats}");
    assert!(
        stats.contains("energy_of_bdi_compressor_fJ = 192000 from the configuration's table\n"),
        "{stats}"
    );
    let shown = run(&["--energy-from", "area.json"]);
    assert!(shown.contains("energies of area.json (lib): bdi_decompressor 5 nJ\n"), "{shown}");
}

/// Returns the figures of `area milg --energy` for the mapping for area.
fn energy_of_milg(words: &[&str]) -> Value {
    let output = selvedge(folder().path(), &[&["area", "milg", "--energy", "--json", "-"], words].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mappings = report["blocks"][0]["mappings"].as_array().expect("mappings").clone();
    mappings.into_iter().find(|one| one["goal"] == "area").expect("the mapping for area")
}

#[test]
fn clock_gates_save_energy_and_add_a_latch_each() {
    let (plain, gated) = (energy_of_milg(&[]), energy_of_milg(&["--clock-gating"]));
    let of = |mapping: &Value, key: &str| mapping["energy"][key]["value"].as_f64().expect("a number");
    let latches = |mapping: &Value| mapping["flip_flops"]["value"].as_f64().expect("a number");
    assert_eq!(latches(&gated), latches(&plain) + 3.0, "one latch for each of three gates");
    // 26 of 44 flip-flops have a gate. Their clock pins no longer load the clock input; three latches do, and three ANDs.
    let share = of(&gated, "clock_input") / of(&plain, "clock_input");
    assert!((0.4..0.6).contains(&share), "{share}");
    let share = of(&gated, "per_operation") / of(&plain, "per_operation");
    assert!((0.5..0.75).contains(&share), "{share}");
}

#[test]
fn an_fpga_has_no_clock_gates() {
    refused(
        &["area", "milg", "--target", "ice40", "--clock-gating"],
        "--clock-gating: allowed with --target asic",
    );
}
