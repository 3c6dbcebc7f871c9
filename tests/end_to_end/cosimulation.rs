//! Is a block's Verilog, emitted or of another author, the block inside the GPU, and is an error in it found?
use crate::command::{selvedge, selvedge_in};
use crate::engines::report;
use crate::guide::{blocks, shell};
use selvedge_sim::mechanism::ALL;
use selvedge_testbenches::skipped::is_long_run;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Verilog of another author than Selvedge's emitter.
fn reference(name: &str) -> String {
    format!("{}/tests/reference/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Runs bfs at `tiny` in `folder`.
fn bfs(folder: &Path, mechanism: &str, words: &[&str]) -> Output {
    selvedge_in(folder, &[&["run", "bfs", "--size", "tiny", "--mechanism", mechanism], words].concat())
}

/// Runs bfs in a folder that is gone afterwards, and demands success.
fn passes(mechanism: &str, words: &[&str]) -> String {
    let output = bfs(tempfile::tempdir().expect("a folder").path(), mechanism, words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is text")
}

/// Demands exit code 2 and one line that has these words; what is compiled may be said before.
fn refuses(output: &Output, words: &[&str]) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    let last = error.lines().filter(|line| !line.contains("Verilator compiles")).collect::<Vec<_>>();
    assert_eq!(last.len(), 1, "{error}");
    words.iter().for_each(|word| assert!(last[0].contains(word), "{word}: {error}"));
}

/// The report without the engine and the host's measurements.
fn json(text: &str) -> serde_json::Value {
    let mut json: serde_json::Value = serde_json::from_str(text).expect("the report is JSON");
    let map = json.as_object_mut().expect("the report is an object");
    map.remove("engine");
    map.remove("host");
    json
}

#[test]
fn emitted_verilog_gives_the_report_of_the_model() {
    for (workload, mechanism) in [("bfs", "hw-bdi"), ("atax", "dmil")] {
        let model = report(workload, mechanism, "model");
        assert_eq!(model, report(workload, mechanism, "verilog"), "{mechanism}: the Verilog differs");
        assert_eq!(
            model,
            report(workload, mechanism, "rtl+verilog"),
            "{mechanism}: RTL beside Verilog differs"
        );
    }
}

/// The Verilog of every block of every mechanism, on every workload.
#[test]
fn emitted_verilog_gives_the_report_of_the_model_for_every_mechanism() {
    if !is_long_run("emitted_verilog_gives_the_report_of_the_model_for_every_mechanism") {
        return;
    }
    let list = selvedge(&["list", "workloads", "--json"]);
    let workloads: Vec<serde_json::Value> = serde_json::from_str(&list).expect("the list is JSON");
    let names = workloads.iter().map(|workload| workload["name"].as_str().expect("a name"));
    let names: Vec<&str> = names.collect();
    assert!(names.len() > 50, "{names:?}");
    for mechanism in ALL.iter().filter(|info| !info.blocks.is_empty()).map(|info| info.name) {
        for workload in &names {
            let model = report(workload, mechanism, "model");
            assert_eq!(model, report(workload, mechanism, "verilog"), "{workload} {mechanism}");
        }
    }
}

#[test]
fn several_threads_change_nothing() {
    let run = |threads: &str| passes("dmil", &["--engine", "verilog", "--threads", threads, "--json", "-"]);
    assert_eq!(json(&run("1")), json(&run("3")));
}

#[test]
fn lockstep_takes_any_two_forms_in_either_order() {
    for pair in ["verilog,model", "rtl,verilog"] {
        assert!(passes("dmil", &["--lockstep", pair]).trim_end().ends_with("pass"));
    }
    let folder = tempfile::tempdir().expect("a folder");
    refuses(
        &bfs(folder.path(), "dmil", &["--lockstep", "rtl,fpga"]),
        &["rtl,fpga", "model, rtl and verilog"],
    );
    let both = ["--lockstep", "rtl,verilog", "--engine", "model"];
    assert_eq!(bfs(folder.path(), "dmil", &both).status.code(), Some(2));
}

#[test]
fn a_missing_verilator_is_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_selvedge"))
        .args(["run", "bfs", "--size", "tiny", "--mechanism", "dmil", "--engine", "verilog"])
        .env("PATH", folder.path())
        .env("XDG_CACHE_HOME", folder.path())
        .current_dir(folder.path())
        .output()
        .expect("the command starts");
    refuses(&output, &["--engine verilog", "`verilator` was not found", "Debian package `verilator`"]);
}

#[test]
fn checkpoints_of_verilog_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["--engine", "verilog", "--checkpoint", "a.ckpt"];
    refuses(&bfs(folder.path(), "dmil", &words), &["--checkpoint", "Verilog"]);
}

#[test]
fn a_study_runs_verilog() {
    let folder = tempfile::tempdir().expect("a folder");
    let study = "name = \"v\"\nworkloads = [\"bfs\"]\nmechanisms = [\"dmil\"]\nsize = \"tiny\"\nengine = \"verilog\"\n";
    fs::write(folder.path().join("v.toml"), study).expect("a study");
    let output = selvedge_in(folder.path(), &["study", "v.toml", "--store", "store"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let collected = selvedge_in(folder.path(), &["study", "collect", "v.toml", "--store", "store"]);
    let text = String::from_utf8_lossy(&collected.stdout);
    assert!(text.contains(",verilog,") && text.contains(",done,"), "{text}");
}

#[test]
fn plain_verilog_of_another_author_is_the_block() {
    let decompressor = format!("bdi_decompressor={}", reference("bdi_decompressor.v"));
    let model = passes("hw-bdi", &["--engine", "model", "--json", "-"]);
    let own = passes("hw-bdi", &["--engine", "model", "--verilog", &decompressor, "--json", "-"]);
    assert!(own.contains("bdi_decompressor.v"), "the report names the file");
    assert_eq!(json(&model), json(&own));
    let milg = format!("milg={}", reference("milg.v"));
    let both = ["--lockstep", "model,verilog", "--verilog", &decompressor, "--verilog", &milg];
    assert!(passes("hw-bdi+dmil", &both).trim_end().ends_with("pass"));
}

#[test]
fn another_latency_is_simulated_and_its_items_are_compared() {
    let file = reference("bdi_decompressor_3.v");
    let folder = tempfile::tempdir().expect("a folder");
    let unstated = format!("bdi_decompressor={file}:bdi_decompressor_3");
    let output = bfs(folder.path(), "hw-bdi", &["--engine", "model", "--verilog", &unstated]);
    refuses(&output, &["latency of module bdi_decompressor_3 is 3", "must be 1", "latency=3"]);
    let wrong = format!("{unstated},latency=4");
    let output = bfs(folder.path(), "hw-bdi", &["--engine", "model", "--verilog", &wrong]);
    refuses(&output, &["is 3", "must be 4"]);

    let stated = format!("{unstated},latency=3");
    let own = passes("hw-bdi", &["--lockstep", "model,verilog", "--verilog", &stated, "--json", "-"]);
    let slow = passes("hw-bdi,decompress=3", &["--engine", "model", "--json", "-"]);
    let [own, slow] = [own, slow].map(|text| json(&text)["totals"]["cycles"].as_u64().expect("cycles"));
    assert_eq!(own, slow, "the cycles are those of the block with three registers");

    let milg = format!("milg={},latency=2", reference("milg.v"));
    let output = bfs(folder.path(), "dmil", &["--engine", "model", "--verilog", &milg]);
    refuses(&output, &["sm0.milg", "a latency can be stated for blocks that give their items in order"]);
}

/// Writes the reference with one changed bit: a bit of the line, while the base is a certain one or larger.
fn with_a_changed_bit(folder: &Path) {
    let text = fs::read_to_string(reference("bdi_decompressor.v")).expect("the reference");
    let right = "assign lines8[1][64 * w +: 64] = from + {{56{by1[7]}},  by1};";
    let wrong = "assign lines8[1][64 * w +: 64] = (from + {{56{by1[7]}},  by1}) ^ ((w == 5 && base8[0]) ? 64'd2 : 64'd0);";
    assert!(text.contains(right));
    fs::write(folder.join("wrong.v"), text.replace(right, wrong)).expect("a file");
    let slow = fs::read_to_string(reference("bdi_decompressor_3.v")).expect("the reference");
    let slow = slow.replace("bdi_decompressor.v\"", "wrong.v\"");
    fs::write(folder.join("wrong_3.v"), slow).expect("a file");
}

#[test]
fn a_changed_bit_is_found_on_real_traffic() {
    let folder = tempfile::tempdir().expect("a folder");
    with_a_changed_bit(folder.path());
    for file in ["wrong.v", "wrong_3.v:bdi_decompressor_3,latency=3"] {
        let own = format!("bdi_decompressor={file}");
        let output = bfs(folder.path(), "hw-bdi", &["--lockstep", "model,verilog", "--verilog", &own]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{error}");
        assert!(
            error.contains(".decompressor (bdi_decompressor): model and Verilog differ in cycle "),
            "{error}"
        );
        assert!(error.contains(" at port line_o: model 0x"), "{error}");
        let name = error.split("are in ").nth(1).and_then(|rest| rest.split_whitespace().next());
        let path = folder.path().join(name.expect("the file of the waveform"));
        let waveform = fs::read_to_string(&path).expect("the waveform");
        assert!(waveform.contains("$scope module verilog") && waveform.contains("$scope module model"));
        fs::remove_file(path).expect("it was there");
    }
}

#[test]
fn ports_that_are_not_the_blocks_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = fs::read_to_string(reference("milg.v")).expect("the reference");
    let text = text.replace("output reg [6:0] limit_o;", "output reg [5:0] limit_o;");
    let text = text.replace("rsfail_i, may_issue_o", "failed_i, may_issue_o");
    let text = text.replace(
        "input            request_i, rsfail_i;",
        "input request_i, failed_i; wire rsfail_i = failed_i;",
    );
    fs::write(folder.path().join("milg.v"), text).expect("a file");
    let output = bfs(folder.path(), "dmil", &["--engine", "model", "--verilog", "milg=milg.v"]);
    refuses(
        &output,
        &[
            "the ports of module milg are not the block's",
            "input `rsfail_i` of 1 bits is missing",
            "`limit_o` has 6 bits, must be 7",
            "`failed_i` is no port of the block",
        ],
    );
}

#[test]
fn verilog_that_cannot_stand_in_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("bad.v"), "module milg(input clk_i); assign = 1; endmodule\n")
        .expect("a file");
    let run = |mechanism: &str, own: &str| bfs(folder.path(), mechanism, &["--verilog", own]);
    refuses(&run("dmil", "milg"), &["milg", "BLOCK=FILE"]);
    refuses(&run("dmil", "mlig=bad.v"), &["mlig", "milg"]);
    refuses(&run("hw-bdi", "milg=bad.v"), &["hw-bdi has no such block", "bdi_decompressor"]);
    refuses(&run("dmil", "milg=absent.v"), &["absent.v"]);
    refuses(&run("dmil", "milg=bad.v"), &["bad.v:1:", "syntax error"]);
}

#[test]
fn a_waveform_can_be_of_your_own_verilog() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = format!("milg={}", reference("milg.v"));
    let wave = |words: &[&str], file: &str| {
        let output = selvedge_in(folder.path(), &[&["wave", "milg", "-o", file], words].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::read(folder.path().join(file)).expect("the waveform")
    };
    assert_eq!(wave(&[], "rtl.vcd"), wave(&["--verilog", &own], "own.vcd"));
}

#[test]
fn compare_runs_your_own_verilog() {
    let own = format!("milg={}", reference("milg.v"));
    let words = ["compare", "bfs", "--mechanisms", "base,dmil", "--engine", "model"];
    let table = |words: &[&str]| selvedge(words).lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(table(&words), table(&[&words[..], &["--verilog", &own]].concat()));
}

/// Runs what the page shows, in a folder with the files that it names.
#[test]
fn the_page_does_what_it_says() {
    let folder = tempfile::tempdir().expect("a folder");
    for file in ["bdi_decompressor.v", "bdi_decompressor_3.v", "milg.v"] {
        fs::copy(reference(file), folder.path().join(file)).expect("a copy");
    }
    let milg = fs::read_to_string(reference("milg.v")).expect("the reference");
    let right = "inflight_o <= balance[6:0];";
    assert!(milg.contains(right));
    let wrong = milg.replace(right, "inflight_o <= (balance == 9'd3) ? 7'd2 : balance[6:0];");
    fs::write(folder.path().join("milg_wrong.v"), wrong).expect("a file");
    let page = fs::read_to_string("docs/cosimulation.md").expect("the page");
    let mut said = String::new();
    let mut lines = 0;
    for block in blocks(&page) {
        match block.kind.as_str() {
            "output" => {
                let text = said.lines().filter(|line| !line.contains("Verilator compiles"));
                assert_eq!(text.collect::<Vec<_>>().join("\n").trim_end(), block.text.trim_end());
            }
            _ => {
                for line in block.text.lines().filter_map(|line| line.strip_prefix("$ ")) {
                    let output = shell(folder.path(), line);
                    said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
                    assert!(output.status.success() || line.contains("wrong.v"), "{line}: {said}");
                    lines += 1;
                }
            }
        }
    }
    assert!(lines >= 6, "the page shows the commands");
}
