//! `selvedge suite`: the guide is correct, wrong programs and copies are reported with one line, and the suite stays unchanged.
use crate::command::{selvedge, selvedge_in};
use crate::cuda::toolkit;
use crate::guide::{blocks, shell};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Output;

/// Copies tests/suite to a temporary folder, which links to the toolkits.
fn copy_of_the_suite() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder");
    for (file, text) in files(Path::new("tests/suite")) {
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, text).expect("written");
    }
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
    symlink(target, root.path().join("target")).expect("linked");
    root
}

/// Returns the files below a folder with their contents.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            found.append(&mut files(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).expect("there"));
        }
    }
    found
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn suite(folder: &Path, action: &str, manifest: &str, words: &[&str]) -> Output {
    let start = ["suite", action, manifest, "--path", "tests/suite"];
    selvedge_in(folder, &[&start[..], words].concat())
}

#[test]
fn the_guide_can_be_followed_to_the_letter() {
    let test = "suite_command::the_guide_can_be_followed_to_the_letter";
    if toolkit(test, "cuda13").is_none() || toolkit(test, "cuda11").is_none() {
        return;
    }
    let root = copy_of_the_suite();
    let before = files(&root.path().join("tests/suite"));
    let guide = fs::read_to_string("docs/how-to/run-a-benchmark-suite.md").expect("the guide is there");
    let (mut printed, mut commands) = (None, 0);
    for block in blocks(&guide) {
        let last: Option<String> = printed.take();
        match block.kind.as_str() {
            "toml,file=mine.study.toml" => {
                fs::write(root.path().join("mine.study.toml"), block.text).expect("written");
            }
            "text" => {
                if let Some(last) = last {
                    assert_eq!(last.trim_end(), block.text.trim_end(), "the guide shows something else");
                }
            }
            // The commands for other suites need their sources.
            "sh" | "sh,norun" => {
                for line in block.text.lines().filter(|line| line.contains("mine.")) {
                    commands += 1;
                    let output = shell(root.path(), line);
                    assert!(output.status.success(), "{line}: {}", error(&output));
                    printed = Some(String::from_utf8_lossy(&output.stdout).into_owned());
                }
            }
            other => panic!("the guide has a block that this test does not know: {other}"),
        }
    }
    assert_eq!(commands, 3, "the guide shows its commands");
    assert!(before == files(&root.path().join("tests/suite")), "the suite is changed");
    let output = selvedge_in(root.path(), &["run", "records/mine/sum-tiny.sprog"]);
    assert!(output.status.success(), "{}", error(&output));
}

#[test]
fn the_manifest_of_the_reference_is_valid() {
    let page = fs::read_to_string("docs/reference/suite-manifest.md").expect("the page is there");
    let manifest = blocks(&page).into_iter().find(|block| block.kind == "toml").expect("a manifest");
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("own.toml"), manifest.text).expect("written");
    let output = selvedge_in(folder.path(), &["suite", "list", "own.toml"]);
    assert!(output.status.success(), "{}", error(&output));
}

#[test]
fn a_list_has_every_suite_and_program() {
    let names: Vec<String> = fs::read_dir("suites")
        .expect("the manifests")
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    let all: Value = serde_json::from_str(&selvedge(&["suite", "list", "--json"])).expect("JSON");
    assert_eq!(all.as_array().map(Vec::len), Some(names.len()));
    for name in names {
        let one: Value = serde_json::from_str(&selvedge(&["suite", "list", &name, "--json"])).expect("JSON");
        assert!(all.as_array().is_some_and(|all| all.contains(&one)), "{name}");
        let text = fs::read_to_string(format!("suites/{name}.toml")).expect("there");
        let programs = one["programs"].as_array().expect("programs");
        assert_eq!(programs.len(), text.matches("[[program]]").count(), "{name}");
        let table = selvedge(&["suite", "list", &name]);
        for program in programs {
            let program = program["name"].as_str().expect("a name");
            assert!(table.lines().any(|line| line.split(' ').next() == Some(program)), "{name}/{program}");
        }
    }
}

#[test]
fn wrong_options_are_refused_with_one_line() {
    let root = copy_of_the_suite();
    let here = root.path();
    fs::write(here.join("bad.toml"), "title = \"T\"\nsource = \"S\"\nprograms = []\n").expect("written");
    fs::remove_file(here.join("tests/suite/apps/scale/check.c")).expect("removed");
    let mine = "tests/suite/mine.toml";
    for (words, line) in [
        (&["suite", "list", "none"][..], "suite none: must be cuda-samples, "),
        (&["suite", "list", "none.toml"], "none.toml: cannot read it: "),
        (&["suite", "list", "bad.toml"], "bad.toml:3: unknown field `programs`, expected "),
        (
            &["suite", "check", mine, "--path", "none"],
            "--path none: must be a folder with a copy of the suite",
        ),
        (&["suite", "build", mine, "none", "--path", "tests/suite"], "mine/none: must be one of sum, scale"),
        (
            &["suite", "build", mine, "scale", "--size", "small", "--path", "tests/suite"],
            "--size small: mine/scale has tiny, paper",
        ),
        (
            &["suite", "build", mine, "--size", "study", "--path", "tests/suite"],
            "suite mine: no program has the size study",
        ),
        (&["suite", "build", mine, "--path", "tests/suite", "--toolkit", "tests"], "--toolkit "),
    ] {
        let output = selvedge_in(here, words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let error = error(&output);
        assert!(error.starts_with(&format!("selvedge: {line}")) && error.lines().count() == 1, "{error}");
    }
    let output = suite(here, "check", mine, &["--json"]);
    let rows: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let results: Vec<_> = rows.as_array().into_iter().flatten().map(|row| row["result"].as_str()).collect();
    assert_eq!(results, ["complete", "complete", "absent", "absent"].map(Some), "{rows}");
    assert_eq!(rows[2]["reason"], "no tests/suite/apps/scale/check.c");
}

#[test]
fn a_program_that_fails_leaves_a_log_and_no_record() {
    let test = "suite_command::a_program_that_fails_leaves_a_log_and_no_record";
    if toolkit(test, "cuda13").is_none() {
        return;
    }
    let root = copy_of_the_suite();
    let here = root.path();
    let program = |name: &str, change: &str| {
        let arguments = if name == "wrong" { "[\"1000\", \"1\"]" } else { "[\"1000\"]" };
        format!(
            "[[program]]\nname = \"{name}\"\nfolder = \"apps/sum\"\nsources = [\"sum.cu\"]\n{change}\
             [program.sizes.tiny]\narguments = {arguments}\n"
        )
    };
    let text = "title = \"T\"\nsource = \"S\"\ncheck = { text = \"PASS\" }\n".to_owned()
        + &program("right", "")
        + &program("wrong", "")
        + &program("broken", "flags = [\"-Dsum=1\"]\n");
    fs::write(here.join("bad.toml"), text).expect("written");
    let options = ["--toolkit", "target/cuda", "--build", "built", "--json"];
    let output = suite(here, "record", "bad.toml", &[&options[..], &["-o", "kept"]].concat());
    let rows: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let results: Vec<_> = rows.as_array().into_iter().flatten().map(|row| row["result"].as_str()).collect();
    assert_eq!(results, ["ok", "fail", "not-built"].map(Some), "{rows}");
    assert_eq!(rows[0]["launches"], 1);
    assert_eq!(output.status.code(), Some(2), "the code of the last one");
    let kept = files(&here.join("kept")).into_keys().collect::<Vec<_>>();
    assert_eq!(kept, [here.join("kept/bad/right-tiny.sprog")]);
    let error = error(&output);
    for (line, text) in [
        ("bad/wrong: the output lacks `PASS`: see ", "FAIL"),
        ("bad/broken: the compiler reports errors: see ", "sum.cu"),
    ] {
        let log = error.lines().find_map(|found| found.strip_prefix("selvedge: ")?.strip_prefix(line));
        let log = log.unwrap_or_else(|| panic!("{line}: {error}"));
        assert!(fs::read_to_string(here.join(log)).expect("the log").contains(text), "{log}");
    }
    let output = suite(here, "record", "bad.toml", &[&["wrong"], &options[..], &["-o", "kept"]].concat());
    assert_eq!(output.status.code(), Some(1), "a check that fails");
}
