//! Tests the commands of docs/how-to/use-from-c.md: the examples must build with the installed library and print the known results.
use selvedge_sim::config::GpuConfig;
use selvedge_sim::partition::closed_form;
use selvedge_testbenches::skipped::skip;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in the repository")
}

/// Returns the commands of the page, each with the output that the page shows.
fn commands() -> Vec<(String, String)> {
    let page = fs::read_to_string(root().join("docs/how-to/use-from-c.md")).expect("the page is there");
    let mut commands: Vec<(String, String)> = Vec::new();
    for block in page.split("\n```").skip(1).step_by(2) {
        let (kind, text) = block.split_once('\n').expect("a block has lines");
        match kind {
            "sh,norun" => commands.extend(text.lines().map(|line| (line.into(), String::new()))),
            "text" => commands.last_mut().expect("a command is before its output").1 = text.trim_end().into(),
            other => panic!("a block of {other}"),
        }
    }
    commands
}

/// Returns a home folder with the library, installed by the page's second command, and the files of the repository that the
/// commands need.
fn home() -> &'static Path {
    static HOME: OnceLock<PathBuf> = OnceLock::new();
    HOME.get_or_init(|| {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("capi-home");
        if home.exists() {
            fs::remove_dir_all(&home).expect("an earlier run's is removed");
        }
        copy(&root().join("examples/capi"), &home.join("examples/capi"));
        symlink(root().join("capi"), home.join("capi")).expect("linked");
        symlink(root().join("Cargo.toml"), home.join("Cargo.toml")).expect("linked");
        let program = std::env::current_exe().expect("this test has a path");
        let libraries = program.parent().expect("a folder");
        let lines = commands();
        // The libraries exist already: cargo has built them with this test.
        assert_eq!(lines[0].0, "cargo build --release -p selvedge-capi");
        succeeds(&shell(&home, &format!("{} {}", lines[1].0, libraries.display())));
        home
    })
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let place = to.join(path.file_name().expect("a name"));
        if path.is_dir() { copy(&path, &place) } else { fs::copy(&path, &place).map(|_| ()).expect("copied") }
    }
}

fn shell(home: &Path, line: &str) -> Output {
    Command::new("sh").args(["-c", line]).env("HOME", home).current_dir(home).output().expect("a shell")
}

fn succeeds(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{error}");
    text
}

/// Runs the command of the page that contains `words`. Returns its output, which must contain the output on the page.
fn run(words: &str) -> String {
    let all = commands();
    let found: Vec<_> = all.iter().filter(|(line, _)| line.contains(words)).collect();
    let [(line, expected)] = found[..] else { panic!("{words}: {} commands", found.len()) };
    let text = succeeds(&shell(home(), line));
    assert!(!expected.is_empty() && text.contains(expected.as_str()), "{line} prints:\n{text}");
    text
}

/// The JSON object in a program's output.
fn json(text: &str) -> Value {
    let (start, end) = (text.find("\n{\n").expect("an object"), text.rfind("\n}\n").expect("its end"));
    serde_json::from_str(&text[start..end + 2]).expect("JSON")
}

/// The number after `name`.
fn number(text: &str, name: &str) -> f64 {
    let rest = text.split(name).nth(1).unwrap_or_else(|| panic!("no {name}"));
    rest.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a number")
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Checks that the two round trips are the results of the formulas.
fn assert_round_trips(text: &str) {
    let config = GpuConfig::load("gtx480").expect("built in");
    let (dram, hit) = (number(text, "DRAM read: "), number(text, "L2 hit: "));
    assert!(
        (dram - closed_form::dram_read_round_trip(&config)).abs() <= closed_form::dram_read_spread(&config)
    );
    assert!((hit - closed_form::l2_hit_round_trip(&config)).abs() <= closed_form::l2_hit_spread(&config));
}

#[test]
fn every_command_of_the_page_is_run() {
    let tested = ["cargo build", "capi/install", "capi/c ", "capi/systemc", "capi/verilator"];
    let lines = commands();
    assert_eq!(lines.len(), tested.len());
    assert!(lines.iter().zip(tested).all(|((line, _), words)| line.contains(words)), "{lines:?}");
}

#[test]
fn c_runs_a_gpu_in_steps() {
    run("capi/c ");
}

#[test]
fn systemc_sends_traffic_through_the_memory_system() {
    if !Path::new("/usr/include/systemc").exists() {
        return skip("systemc_sends_traffic_through_the_memory_system", "libsystemc-dev is not installed");
    }
    let text = run("capi/systemc");
    assert_round_trips(&text);
    let counters = json(&text);
    let requests = 2 + number(&text, "replies: ") as u64;
    assert_eq!(counters["l2"]["accesses"], requests);
    for direction in ["requests", "replies"] {
        assert_eq!(counters["crossbar"][direction]["packets"], requests, "{direction}");
    }
}

#[test]
fn a_verilog_l1_hits_and_misses_as_it_must() {
    if !has("verilator") {
        return skip("a_verilog_l1_hits_and_misses_as_it_must", "verilator is not installed");
    }
    let text = run("capi/verilator");
    // 256 words are read twice and 64 once more. Then two lines of one index are read alternately; the first one is
    // present.
    let (lines, turns) = (256 * 4 / 32, 10);
    let misses = lines + 2 * turns - 1;
    assert_eq!(number(&text, "reads: "), f64::from(256 * 2 + 64 + 2 * turns - misses));
    let l2 = &json(&text)["l2"];
    assert_eq!(l2["accesses"], misses + 256 + 64, "misses and all writes go to the L2");
    // The 1 KiB that is written comes as eight lines of the L2, and the line beyond it as one.
    assert_eq!((&l2["write_misses"], &l2["misses"]), (&8.into(), &9.into()));
}

/// Everything is made, used and freed, and a simulation in the middle.
const ALL_FREED: &str = r#"
#include <selvedge.h>
#include <string.h>
#define DO(call) if ((call) != SELVEDGE_STATUS_OK) return __LINE__
int main(void) {
    SelvedgeBlock *block; SelvedgeMemory *memory; SelvedgeGpu *gpu; char *text; bool flag; SelvedgeReply reply;
    DO(selvedge_block_new("bdi_compressor", "{\"pipeline_depth\": 3}", "rtl", &block));
    for (int cycle = 0; cycle < 5; cycle++) DO(selvedge_block_step(block));
    DO(selvedge_block_parameters(block, &text));
    if (strstr(text, "\"pipeline_depth\": 3") == NULL) return __LINE__;
    selvedge_string_free(text);
    selvedge_block_free(block);
    if (selvedge_block_new("none", NULL, "rtl", &block) != SELVEDGE_STATUS_INVALID) return __LINE__;
    if (strlen(selvedge_last_error()) == 0) return __LINE__;
    DO(selvedge_memory_new("gtx480", &memory));
    for (unsigned cycle = 0; cycle < 300; cycle++) {
        SelvedgeRequest request = { 128 * cycle, cycle, 128, cycle % 15, cycle % 3 };
        DO(selvedge_memory_offer(memory, &request, &flag));
        DO(selvedge_memory_step(memory));
        DO(selvedge_memory_reply(memory, cycle % 15, &reply, &flag));
    }
    DO(selvedge_memory_statistics(memory, &text));
    selvedge_string_free(text);
    selvedge_memory_free(memory);
    DO(selvedge_gpu_new("gtx480", "dmil", "vecadd", NULL, &gpu));
    DO(selvedge_gpu_step(gpu, 500, &flag));
    selvedge_gpu_free(gpu);
    return 0;
}
"#;

#[test]
fn the_static_library_leaves_nothing_behind() {
    if !has("valgrind") {
        return skip("the_static_library_leaves_nothing_behind", "valgrind is not installed");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (source, program) = (folder.path().join("all.c"), folder.path().join("all"));
    fs::write(&source, ALL_FREED).expect("written");
    let prefix = home().join("selvedge");
    let mut compiler = Command::new("gcc");
    compiler.arg(&source).arg("-o").arg(&program).arg("-I").arg(prefix.join("include"));
    compiler.arg(prefix.join("lib/libselvedge.a")).args(["-lpthread", "-ldl", "-lm"]);
    succeeds(&compiler.output().expect("the compiler starts"));
    let mut valgrind = Command::new("valgrind");
    valgrind.args([
        "--quiet",
        "--error-exitcode=99",
        "--leak-check=full",
        "--errors-for-leak-kinds=definite,indirect",
    ]);
    succeeds(&valgrind.arg(&program).output().expect("valgrind starts"));
}

#[test]
fn the_shared_library_shows_the_functions_of_the_header_alone() {
    let header = fs::read_to_string(root().join("capi/include/selvedge.h")).expect("the header is there");
    let library = home().join("selvedge/lib/libselvedge.so");
    let listed = Command::new("nm").args(["-D", "--defined-only"]).arg(library).output().expect("nm starts");
    let text = succeeds(&listed);
    let names: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        assert!(header.contains(&format!("{name}(")), "{name} is not in the header");
    }
}

#[test]
fn the_name_of_the_shared_library_has_the_version_of_the_interface() {
    let library = home().join("selvedge/lib/libselvedge.so");
    let printed = Command::new("readelf").arg("-d").arg(library).output().expect("readelf starts");
    let name = format!("[libselvedge.so.{}]", selvedge_capi::SELVEDGE_API_VERSION);
    let text = succeeds(&printed);
    assert!(text.lines().any(|line| line.contains("SONAME") && line.ends_with(&name)), "{text}");
}

#[test]
fn the_installation_says_what_it_lacks() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(root().join("capi/install")).arg(folder.path()).arg(folder.path()).output();
    let output = output.expect("it starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        error.lines().count() == 1 && error.contains("cargo build --release -p selvedge-capi"),
        "{error}"
    );
}
