//! The layers of ARCHITECTURE.md: each crate depends only on the crates that its layer may use.
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Returns the dependencies of each package of the workspace on other packages of it, without those of its tests.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let manifest = |folder: &str| -> toml::Table {
        fs::read_to_string(format!("{folder}/Cargo.toml")).expect("a manifest").parse().expect("TOML")
    };
    let members = manifest(".")["workspace"]["members"].as_array().expect("a list").clone();
    let of = |folder: &str| {
        let manifest = manifest(folder);
        let own = manifest["package"]["name"].as_str().expect("a name").to_owned();
        let names = manifest["dependencies"].as_table().expect("a table").keys();
        (own, names.filter_map(|name| name.strip_prefix("selvedge-")).map(str::to_owned).collect())
    };
    let folders = members.iter().map(|folder| folder.as_str().expect("a path"));
    folders.map(of).map(|(own, on)| (own.trim_start_matches("selvedge-").to_owned(), on)).collect()
}

/// Checks that a package depends on nothing but `allowed`.
fn assert_within(package: &str, allowed: &[&str]) {
    let on = &dependencies()[package];
    let beyond: Vec<_> = on.iter().filter(|name| !allowed.contains(&name.as_str())).collect();
    assert!(beyond.is_empty(), "{package} depends on {beyond:?}");
}

const PAPERS: [&str; 4] = ["caba", "dai", "lamar", "latte-cc"];

#[test]
fn hardware_depends_on_no_simulator() {
    assert_within("hw", &["macros", "state"]);
    assert_within("hw-codecs", &["hw", "state"]);
    for paper in PAPERS {
        assert_within(&format!("hw-{paper}"), &["hw", "state"]);
    }
    assert_within("blocks", &["hw", "hw-caba", "hw-codecs", "hw-dai", "hw-lamar", "hw-latte-cc"]);
}

#[test]
fn the_gpu_knows_no_mechanism_and_no_block() {
    assert_within("ptx", &["state"]);
    assert_within("gpu", &["hw", "ptx", "state"]);
}

#[test]
fn a_mechanism_depends_on_its_own_paper_alone() {
    assert_within("compressed-memory", &["gpu", "hw", "hw-codecs", "ptx", "state"]);
    for paper in PAPERS {
        let own = format!("hw-{paper}");
        assert_within(paper, &["compressed-memory", "gpu", "hw", "hw-codecs", "ptx", "state", &own]);
    }
}

#[test]
fn only_the_lists_depend_on_all_papers() {
    let users = |package: &str| -> Vec<String> {
        dependencies().into_iter().filter(|(_, on)| on.contains(package)).map(|(user, _)| user).collect()
    };
    for paper in PAPERS {
        assert_eq!(users(paper), ["mechanisms"], "{paper}");
        assert_eq!(users(&format!("hw-{paper}")), ["blocks".to_owned(), paper.into()], "hw-{paper}");
    }
}

#[test]
fn the_back_end_depends_on_the_kit_alone() {
    assert_within("gen", &["hw"]);
}

#[test]
fn every_path_that_the_architecture_names_is_there() {
    let text = fs::read_to_string("ARCHITECTURE.md").expect("the page is there");
    let code = text.split('`').skip(1).step_by(2);
    let folders = ["", "sim/gpu/src/", "gen/verilog/src/"];
    let is_path = |code: &&str| {
        let starts = ["hw/", "sim/", "gen/", "tests/", "docs/", "macros/", "src/"];
        !code.contains(' ') && (code.ends_with(".rs") || starts.iter().any(|start| code.starts_with(start)))
    };
    let is_missing = |path: &&str| !folders.iter().any(|folder| Path::new(folder).join(path).exists());
    let missing: Vec<&str> = code.filter(is_path).filter(is_missing).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names {missing:?}");
}
