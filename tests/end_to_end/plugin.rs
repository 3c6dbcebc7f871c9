//! A user's crate, written by `init` and described in `docs/how-to/add-a-block.md`, has all commands with its own block and
//! mechanism.
use crate::guide::{blocks, settings, shell};
use crate::python::notebook_in;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;

const TREE: &str = env!("CARGO_MANIFEST_DIR");
const GUIDE: &str = include_str!("../../docs/how-to/add-a-block.md");

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), output.stderr.as_slice()].concat()).into_owned()
}

/// Runs a line that must succeed, and returns its output.
fn succeeds(folder: &Path, line: &str) -> String {
    let output = shell(folder, line);
    assert!(output.status.success(), "{line}: {}", text(&output));
    text(&output)
}

/// Returns the commands in the guide's table.
fn commands() -> Vec<&'static str> {
    GUIDE.lines().filter_map(|line| line.strip_prefix("| `cargo ")?.split('`').next()).collect()
}

#[test]
fn a_crate_that_init_writes_does_what_the_guide_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let shown = blocks(GUIDE);
    let [line, printed] = ["sh", "text"]
        .map(|kind| shown.iter().find(|block| block.kind == kind).expect("how to begin").text.trim_end());
    assert_eq!(succeeds(folder.path(), line).trim_end(), printed);
    let here = folder.path().join("my_filter");
    succeeds(&here, "rustfmt --check --edition 2024 src/main.rs");
    let versions = |folder: &Path| fs::read_to_string(folder.join("Cargo.lock")).expect("versions");
    assert_eq!(versions(&here), versions(Path::new(TREE)));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder").display();
    let cargo = format!("CARGO_TARGET_DIR={target} cargo --config {}", settings(folder.path()).display());
    optimizes_every_crate_of_selvedge(&here, &cargo);
    let commands = commands();
    assert!(commands.len() > 5, "{commands:?}");
    for command in commands {
        let printed = succeeds(&here, &format!("{cargo} {command}"));
        let shows = |word: &str| assert!(printed.contains(word), "{command}: {printed}");
        match command.split_whitespace().nth(2) {
            None => shows("2 passed"),
            Some("run") => shows("pass"),
            Some("compare" | "area") => shows("my_filter"),
            Some("gen") => assert!(here.join("out/my_filter.v").is_file()),
            Some("wave") => assert!(here.join("out/my_filter_tb.v").is_file()),
            Some(other) => panic!("{other} is not tested"),
        }
    }
    let program = format!("{target}/debug/my_filter");
    let verilog = "cd out && iverilog -o tb my_filter.v my_filter_tb.v && vvp -n tb";
    assert!(succeeds(&here, verilog).contains("PASS"), "the testbench of `wave` checks the Verilog of `gen`");
    for list in ["blocks", "mechanisms"] {
        assert!(succeeds(&here, &format!("{program} list {list}")).contains("my_filter"), "{list}");
    }
    let struck = shell(
        &here,
        &format!("{program} run atax --mechanism my_filter --engine lockstep --inject sm0.my_filter:40:0"),
    );
    assert_eq!(struck.status.code(), Some(3), "{}", text(&struck));
    assert!(text(&struck).contains("sm0.my_filter (my_filter): model and RTL differ"), "{}", text(&struck));
    another_program_has_other_results(&here, &program);
    a_notebook_uses_the_crate(folder.path(), &target.to_string());
    refuses_a_top_that_no_fault_can_strike(&here, &cargo);
}

/// Checks that the manifest optimizes all crates of Selvedge among the dependencies, and names only dependencies.
fn optimizes_every_crate_of_selvedge(here: &Path, cargo: &str) {
    let manifest: toml::Table =
        fs::read_to_string(here.join("Cargo.toml")).expect("written").parse().expect("TOML");
    let listed = manifest["profile"]["dev"]["package"].as_table().expect("packages");
    let listed: BTreeSet<&str> = listed.keys().map(String::as_str).filter(|name| *name != "*").collect();
    let tree = succeeds(here, &format!("{cargo} tree --edges normal,build --prefix none --format '{{p}}'"));
    let contained: BTreeSet<&str> = tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let absent: Vec<&&str> = listed.difference(&contained).collect();
    assert!(absent.is_empty(), "cargo warns of packages that are no dependencies: {absent:?}");
    let own = |names: &BTreeSet<&str>| names.iter().filter(|name| name.starts_with("selvedge")).count();
    assert_eq!(own(&listed), own(&contained), "{:?}", contained.difference(&listed));
}

/// Checks that a changed program has no results in the store, and that a renamed copy has all. The fingerprint covers
/// the program file, since its dependencies also decide its results.
fn another_program_has_other_results(here: &Path, program: &str) {
    let study =
        "name = \"one\"\nsize = \"tiny\"\nworkloads = [\"vecadd\"]\nmechanisms = [\"base\", \"my_filter\"]\n";
    fs::write(here.join("one.toml"), study).expect("written");
    let status = |program: &str| succeeds(here, &format!("{program} study status one.toml --store kept"));
    succeeds(here, &format!("{program} study run one.toml --store kept"));
    let whole = status(program);
    let mut bytes = fs::read(program).expect("built");
    let copies = ["./same", "./other"].map(|name| {
        let file = here.join(name);
        fs::write(&file, &bytes).expect("written");
        fs::set_permissions(&file, fs::metadata(program).expect("built").permissions()).expect("set");
        // Bytes after the end of the program are not loaded.
        bytes.push(0);
        name
    });
    assert_eq!(status(copies[0]), whole);
    assert_ne!(status(copies[1]), whole);
    assert!(whole.contains('2') && !status(copies[1]).contains("2 done"), "{whole}\n{}", status(copies[1]));
}

/// Runs the notebook on the crate, which is built already.
fn a_notebook_uses_the_crate(folder: &Path, target: &str) {
    fs::create_dir(folder.join(".cargo")).expect("a folder");
    fs::copy(folder.join("settings.toml"), folder.join(".cargo/config.toml")).expect("copied");
    let test = "a_crate_that_init_writes_does_what_the_guide_says";
    notebook_in(folder, test, "own_mechanism", [1, 0], &[("CARGO_TARGET_DIR", target)]);
}

/// Damages the crate's block, and checks that the compiler explains the mistake.
fn refuses_a_top_that_no_fault_can_strike(here: &Path, cargo: &str) {
    let file = here.join("src/block.rs");
    let block = fs::read_to_string(&file).expect("written by `init`");
    let last = "misses: Reg<U<MISS>>,\n        }";
    assert!(block.contains("registers {") && block.contains(last), "{block}");
    for (damaged, message) in [
        (block.replace("registers {", "parts {"), "error: rtl_module!: `registers { .. }` is missing"),
        (
            block.replace(last, &format!("{last} upset {{ asks }}")),
            "error: rtl_module!: `registers` and `upset` exclude each other",
        ),
    ] {
        fs::write(&file, damaged).expect("written");
        let output = shell(here, &format!("{cargo} build"));
        assert!(!output.status.success() && text(&output).contains(message), "{message}: {}", text(&output));
    }
}

#[test]
fn the_template_is_below_180_lines_of_code() {
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let lines =
        |file: fs::DirEntry| fs::read_to_string(file.path()).expect("text").lines().filter(is_code).count();
    let files = fs::read_dir(format!("{TREE}/tests/plugin/src")).expect("a folder");
    let count: usize = files.map(|file| lines(file.expect("there"))).sum();
    assert!(count < 180, "{count} lines of code");
}

#[test]
fn a_crate_that_cannot_be_written_is_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("there")).expect("a folder");
    for (words, line) in [
        ("bgp", "'bgp': the name is taken or reserved"),
        ("table", "'table': the name is taken or reserved"),
        ("My-Filter", "'My-Filter': must be up to 40 lower-case letters"),
        ("there", "'there' exists already"),
        ("mine --selvedge .", "--selvedge .: must be Selvedge's source tree"),
    ] {
        let output = shell(folder.path(), &format!("selvedge init {words}"));
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(text(&output).starts_with(&format!("selvedge: {line}")), "{}", text(&output));
        assert_eq!(text(&output).lines().count(), 1, "{}", text(&output));
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}
