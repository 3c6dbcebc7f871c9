//! Help texts: examples that run, one style of options, and the options of all commands.
use crate::command::{selvedge, selvedge_in};
use crate::guide::shell;
use selvedge_testbenches::skipped::skip;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Commands whose examples need a copy of a benchmark suite, a CUDA program or another binary, with the first words of the
/// example. A test of the command line parses these.
const OUTSIDE: [&str; 8] = [
    "selvedge cuda",
    "selvedge calibrate compare --json gpu.json --config",
    "selvedge suite check",
    "selvedge suite build",
    "selvedge suite record",
    "selvedge bench --case small --against",
    "selvedge bench --peers",
    "selvedge doctor",
];

/// Returns the paths of all commands, such as `config show`, each after the command that it belongs to.
fn commands() -> Vec<String> {
    let mut found = vec![String::new()];
    let mut at = 0;
    while at < found.len() {
        let path = found[at].clone();
        let words: Vec<&str> = path.split_whitespace().chain(["-h"]).collect();
        let help = selvedge(&words);
        let listed =
            help.split("Commands:\n").nth(1).map_or("", |rest| rest.split("\n\n").next().unwrap_or(""));
        let names = listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
        found.extend(names.map(|name| format!("{path} {name}").trim().to_owned()));
        at += 1;
    }
    found
}

/// Returns the long help of a command.
fn help(path: &str) -> String {
    selvedge(&path.split_whitespace().chain(["--help"]).collect::<Vec<_>>())
}

/// Returns the lines to type of the examples in a help text.
fn examples(help: &str) -> Vec<String> {
    let after = help.split("\nExamples:\n").nth(1).unwrap_or_default();
    let lines = after.lines().take_while(|line| line.starts_with("  "));
    lines.map(str::trim).filter(|line| line.starts_with("selvedge")).map(str::to_owned).collect()
}

#[test]
fn every_command_has_examples_that_run() {
    let here = tempfile::tempdir().expect("a folder");
    let folder = here.path();
    for name in ["reverse.cu", "reverse.ptx"] {
        fs::copy(Path::new("tests/data").join(name), folder.join(name)).expect(name);
    }
    for name in ["gpu.json", "simulated.json"] {
        fs::copy("tests/data/planted.json", folder.join(name)).expect(name);
    }
    let study = "size = \"tiny\"\nworkloads = [\"vecadd\", \"bfs\"]\nmechanisms = [\"base\", \"hw-bdi\"]\n";
    fs::write(folder.join("study.toml"), study).expect("written");
    fs::write(folder.join("gpgpusim.config"), "-gpgpu_n_clusters 15\n").expect("written");
    let commands = commands();
    assert!(commands.len() > 40, "{commands:?}");
    // An example may read files that others write: configurations first, then runs, then the rest.
    let order = |path: &String| match path.as_str() {
        "config show" => 0,
        "run" => 1,
        "compare" | "study run" | "trace record" => 2,
        _ => 3,
    };
    let mut sorted = commands.clone();
    sorted.sort_by_key(order);
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let (clang, yosys, verilator) = (is_there("clang++-19"), is_there("yosys"), is_there("verilator"));
    if !(clang && yosys && verilator) {
        let why = "clang++-19, yosys or verilator is not installed: their examples";
        skip("every_command_has_examples_that_run", why);
    }
    let mut ran = 0;
    for path in sorted {
        let lines = examples(&help(&path));
        assert!(!lines.is_empty(), "selvedge {path} has no examples");
        for line in lines {
            let needs = |word: &str, there: bool| line.contains(word) && !there;
            let is_outside = OUTSIDE.iter().any(|start| line.starts_with(start));
            let lacks_tool = needs("--cuda", clang)
                || needs("selvedge area", yosys)
                || needs("selvedge verify", verilator);
            if is_outside || lacks_tool {
                continue;
            }
            let output = shell(folder, &line);
            assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
            ran += 1;
        }
    }
    assert!(ran > 60, "{ran} examples ran");
}

#[test]
fn short_help_is_shorter_and_says_where_more_is() {
    for path in commands() {
        let words = |last| path.split_whitespace().chain([last]).collect::<Vec<_>>();
        let (short, long) = (selvedge(&words("-h")), selvedge(&words("--help")));
        assert!(short.len() < long.len(), "selvedge {path}");
        assert!(short.contains("--help` prints more"), "selvedge {path}: {short}");
        assert!(long.contains("the folder docs"), "selvedge {path}: {long}");
        let wide = long.lines().filter(|line| line.chars().count() > 100).collect::<Vec<_>>();
        assert!(wide.is_empty(), "selvedge {path}: {wide:?}");
    }
}

#[test]
fn options_of_many_have_headings_and_outputs_one_name() {
    for path in commands() {
        let help = help(&path);
        let options =
            help.lines().filter(|line| line.trim_start().starts_with("--") || line.contains(", --")).count();
        let plain = help.split("\nOptions:\n").nth(1).unwrap_or_default();
        let plain = plain.lines().take_while(|line| line.is_empty() || line.starts_with(' '));
        let plain = plain.filter(|line| line.trim_start().starts_with('-')).count();
        assert!(options < 16 || plain < 9, "selvedge {path}: {plain} of {options} options have no heading");
        assert!(!help.contains("<FOLDER>") && !help.contains("Writes "), "selvedge {path}: {help}");
    }
}

#[test]
fn the_command_and_its_commands_are_named_selvedge() {
    assert!(selvedge(&["--help"]).contains("Usage: selvedge "), "{}", selvedge(&["--help"]));
    assert!(selvedge(&["config", "show", "-h"]).contains("Usage: selvedge config show "));
    assert!(selvedge(&["--version"]).starts_with("selvedge "));
}

#[test]
fn quiet_prints_no_progress() {
    let words = ["run", "--size", "tiny", "--engine", "model", "--json", "all.json"];
    let here = tempfile::tempdir().expect("a folder");
    let loud = selvedge_in(here.path(), &words);
    assert!(String::from_utf8_lossy(&loud.stderr).contains("run 1 of "), "{loud:?}");
    for quiet in [[&words[..], &["-q"]].concat(), [&["--quiet"], &words[..]].concat()] {
        let output = selvedge_in(here.path(), &quiet);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        assert_eq!(output.stdout, loud.stdout);
    }
}

#[test]
fn color_is_the_users_choice() {
    let text = |words: &[&str], variable: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selvedge"));
        command.args(words).env_remove("NO_COLOR");
        command.envs(variable.map(|value| ("NO_COLOR", value)));
        String::from_utf8(command.output().expect("it runs").stdout).expect("text")
    };
    assert!(text(&["run", "-h", "--color", "always"], None).contains("\u{1b}["));
    assert!(text(&["--color=always", "run", "-h"], None).contains("\u{1b}["));
    assert!(!text(&["run", "-h", "--color", "never"], None).contains('\u{1b}'));
    assert!(!text(&["run", "-h"], Some("1")).contains('\u{1b}'), "a pipe has no color either");
}

#[test]
fn a_configuration_is_printed_as_json_too() {
    let json: serde_json::Value =
        serde_json::from_str(&selvedge(&["config", "show", "gtx480", "--json"])).expect("JSON");
    let toml: toml::Table = selvedge(&["config", "show", "gtx480"]).parse().expect("TOML");
    assert_eq!(json, serde_json::to_value(toml).expect("JSON"));
}
