//! A block's Verilog, emitted or handwritten, works as the block inside the GPU, and an error in it is found.
use crate::command::{selvedge, selvedge_in};
use crate::engines::report;
use selvedge_sim::mechanism;
use selvedge_testbenches::skipped::is_long_run;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Returns the path of handwritten Verilog, which Selvedge's emitter did not write.
fn reference(name: &str) -> String {
    format!("{}/tests/reference/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Runs bfs at `tiny` in `folder`.
fn bfs(folder: &Path, mechanism: &str, words: &[&str]) -> Output {
    selvedge_in(folder, &[&["run", "bfs", "--size", "tiny", "--mechanism", mechanism], words].concat())
}

/// Runs bfs in a temporary folder, and checks that it succeeds.
fn passes(mechanism: &str, words: &[&str]) -> String {
    let output = bfs(tempfile::tempdir().expect("a folder").path(), mechanism, words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is text")
}

/// Checks for exit code 2 and one line with these words. Lines about compilation may precede it.
fn refuses(output: &Output, words: &[&str]) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    let last = error.lines().filter(|line| !line.contains("Verilator compiles")).collect::<Vec<_>>();
    assert_eq!(last.len(), 1, "{error}");
    words.iter().for_each(|word| assert!(last[0].contains(word), "{word}: {error}"));
}

/// Returns the report without the engine and the host's measurements.
fn json(text: &str) -> serde_json::Value {
    let mut json: serde_json::Value = serde_json::from_str(text).expect("the report is JSON");
    let map = json.as_object_mut().expect("the report is an object");
    map.remove("engine");
    map.remove("coverage");
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

/// Runs the Verilog of every block of every mechanism, on every workload.
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
    for mechanism in mechanism::built_in().iter().filter(|info| !info.blocks.is_empty()).map(|info| info.name)
    {
        for workload in &names {
            let model = report(workload, mechanism, "model");
            assert_eq!(model, report(workload, mechanism, "verilog"), "{workload} {mechanism}");
        }
    }
}

#[test]
fn lockstep_takes_any_two_forms_in_either_order() {
    for pair in ["verilog,model", "rtl,verilog"] {
        let text = passes("dmil", &["--lockstep", pair]);
        assert!(text.contains("  pass\n") && text.contains("\nmilg: "), "{text}");
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
    assert!(passes("hw-bdi+dmil", &both).contains("  pass\n"));
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

/// Writes the reference with an error: it inverts a bit of word 5 while the base is odd.
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
            "input 'rsfail_i' of 1 bits is missing",
            "'limit_o' has 6 bits, must be 7",
            "'failed_i' is no port of the block",
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

/// Writes the reference with a line of Verilog at its end, and returns the value of `--verilog` for it.
fn milg_with(folder: &Path, line: &str) -> String {
    let text = fs::read_to_string(reference("milg.v")).expect("the reference");
    let (head, _) = text.rsplit_once("endmodule").expect("it ends");
    fs::write(folder.join("my_milg.v"), format!("{head}\n{line}\nendmodule\n")).expect("a file");
    "milg=my_milg.v".into()
}

/// Returns Verilog that counts cycles and executes a statement in the given cycle.
fn in_cycle(number: u32, statement: &str) -> String {
    format!(
        "reg [15:0] now = 0; always @(posedge clk_i) begin now <= now + 1; if (now == {number}) {statement} end"
    )
}

#[test]
fn verilog_that_ends_is_an_error_with_block_instance_and_cycle() {
    let folder = tempfile::tempdir().expect("a folder");
    for (statement, called) in [
        ("$finish;", "$finish"),
        ("$stop;", "$stop, $fatal or $error"),
        ("$fatal(1, \"too many\");", "$stop, $fatal or $error"),
        ("$error(\"too many\");", "$stop, $fatal or $error"),
    ] {
        let own = milg_with(folder.path(), &in_cycle(50, statement));
        let output =
            bfs(folder.path(), "dmil", &["--engine", "model", "--verilog", &own, "--json", "out.json"]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{statement}: {error}");
        assert!(error.contains(".milg (milg): cycle "), "{error}");
        assert!(error.contains(&format!("the Verilog calls {called} in ")), "{error}");
        assert!(error.contains("my_milg.v:"), "{error}");
        assert_eq!(error.contains("too many"), statement.contains("too many"), "{error}");
    }
    let own = milg_with(folder.path(), "initial $finish;");
    refuses(
        &bfs(folder.path(), "dmil", &["--engine", "model", "--verilog", &own]),
        &["--verilog milg=my_milg.v", "in its reset", "$finish"],
    );
    let own = milg_with(folder.path(), &in_cycle(50, "$finish;"));
    refuses(
        &selvedge_in(folder.path(), &["wave", "milg", "-o", "w.vcd", "--verilog", &own]),
        &["--verilog milg=my_milg.v", "$finish"],
    );
    assert!(!folder.path().join("w.vcd").exists(), "no half of a waveform");
}

#[test]
fn only_the_point_whose_verilog_ends_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = milg_with(folder.path(), &in_cycle(50, "$stop;"));
    let words = ["compare", "bfs", "--size", "tiny", "--mechanisms", "dmil,base,hw-bdi", "--engine", "model"];
    let output = selvedge_in(folder.path(), &[&words[..], &["--verilog", &own]].concat());
    let table = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    for mechanism in ["base", "hw-bdi"] {
        let is_row = |line: &&str| line.split_whitespace().take(2).eq(["bfs", mechanism]);
        assert!(table.lines().any(|line| is_row(&line)), "{mechanism}: {table}{error}");
    }
    assert!(table.contains("$stop") || error.contains("$stop"), "{table}{error}");
}

#[test]
fn what_verilog_prints_goes_to_standard_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let print = "begin $display(\"first %0d\", now); $write(\"second\\n\"); $warning(\"third\"); \
                 $fdisplay(1, \"fourth\"); $fdisplay(32'h8000_0001, \"fifth\"); end";
    let own = milg_with(folder.path(), &in_cycle(50, print));
    let output = bfs(folder.path(), "dmil", &["--engine", "model", "--verilog", &own, "--json", "-"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let text = String::from_utf8(output.stdout).expect("the output is text");
    let model = passes("dmil", &["--engine", "model", "--json", "-"]);
    assert_eq!(json(&text), json(&model));
    for word in ["first 50", "second", "third", "fourth", "fifth"] {
        assert!(error.contains(word), "{word}: {error}");
    }
}

#[test]
fn verilog_that_acts_outside_the_simulation_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for line in
        ["`define RUN $system\ninitial `RUN(\"touch made\");", "integer f;\ninitial f = $fopen(\"made\");"]
    {
        let own = milg_with(folder.path(), line);
        let lines = fs::read_to_string(folder.path().join("my_milg.v")).expect("the file").lines().count();
        let output = bfs(folder.path(), "dmil", &["--engine", "model", "--verilog", &own]);
        refuses(&output, &["--verilog milg=my_milg.v", &format!("my_milg.v:{}: `$", lines - 1)]);
        assert!(!folder.path().join("made").exists(), "{line}");
    }
}

#[test]
fn compiled_verilog_is_loaded_from_the_users_own_folder_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |cache: Option<&Path>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selvedge"));
        command.args(["run", "bfs", "--size", "tiny", "--mechanism", "dmil", "--engine", "verilog"]);
        command.env_remove("HOME").env_remove("XDG_CACHE_HOME").current_dir(folder.path());
        if let Some(cache) = cache {
            command.env("XDG_CACHE_HOME", cache);
        }
        command.output().expect("the command starts")
    };
    refuses(&run(None), &["--engine verilog", "XDG_CACHE_HOME or HOME must be set"]);
    let cache = folder.path().join("cache");
    let first = run(Some(&cache));
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let again = run(Some(&cache));
    assert!(!String::from_utf8_lossy(&again.stderr).contains("Verilator compiles"), "it is kept");

    // A truncated library is compiled again.
    let kept = fs::read_dir(cache.join("selvedge/verilated")).expect("the folder");
    let library = kept.map(|one| one.expect("an entry").path().join("libdut.so")).find(|path| path.exists());
    let library = library.expect("a library is kept");
    let bytes = fs::read(&library).expect("it is read");
    fs::write(&library, &bytes[..bytes.len() / 2]).expect("it is cut");
    let third = run(Some(&cache));
    let error = String::from_utf8_lossy(&third.stderr);
    assert!(third.status.success() && error.contains("Verilator compiles"), "{error}");
    assert_eq!(third.stdout, first.stdout);
    assert_eq!(fs::read(&library).expect("it is read").len(), bytes.len());

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let open = fs::Permissions::from_mode(0o777);
        fs::set_permissions(cache.join("selvedge/verilated"), open).expect("it is ours");
        refuses(&run(Some(&cache)), &["anyone may write to this folder", "must be writable for its owner"]);
    }
}
