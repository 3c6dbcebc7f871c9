//! Checks of the catalog of planted faults that need no build. The gate runs in the long suite.

mod catalog;

use catalog::How;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_fault_has_one_place_in_the_source_and_changes_it() {
    let faults = catalog::read(root());
    if let Err(wrong) = catalog::places(root(), &faults) {
        panic!("{}", wrong.join("\n"));
    }
}

#[test]
fn every_fault_has_a_name_of_its_own_a_sentence_and_a_test() {
    let (mut names, packages) = (HashSet::new(), catalog::packages(root()));
    for fault in catalog::read(root()) {
        assert!(fault.what.ends_with('.'), "{}: `what` is no sentence", fault.id);
        assert!(!fault.test.is_empty(), "{}: no test is named", fault.id);
        let folder = &packages[&fault.package];
        let program = match fault.target.as_str() {
            "lib" => "src/lib.rs".to_owned(),
            name => format!("tests/{name}"),
        };
        let program = root().join(folder).join(program);
        let is_program = program.exists() || program.with_extension("rs").exists();
        assert!(is_program, "{}: {} has no tests {}", fault.id, fault.package, fault.target);
        let is_block = fault.block.as_deref().is_none_or(|block| selvedge_blocks::find(block).is_ok());
        assert!(is_block, "{}: no block is named {:?}", fault.id, fault.block);
        let is_fast = fault.how == How::Switch || fault.file.starts_with("hw/");
        assert!(is_fast, "{}: only the crate of the blocks is built once more for patches", fault.id);
        // A switch encloses both texts.
        let is_whole = [&fault.find, &fault.replace].iter().all(|text| {
            ["()", "[]", "{}"].iter().all(|pair| {
                let count = |at: usize| text.matches(&pair[at..=at]).count();
                count(0) == count(1)
            })
        });
        assert!(is_whole || fault.how == How::Patch, "{}: the text ends within brackets", fault.id);
        // A switch is an expression or statements.
        let source = std::fs::read_to_string(root().join(&fault.file)).expect("a source file");
        let around = fault.at.as_ref().unwrap_or(&fault.find);
        let field = format!(".{}", fault.find);
        let is_field = around.contains(&field) || around == &fault.find && source.contains(&field);
        let is_arm = fault.find.split('{').next().is_some_and(|start| start.contains("=>"));
        let is_code = !is_field && !is_arm;
        assert!(is_code || fault.how == How::Patch, "{}: the text is no expression", fault.id);
        assert!(names.insert(fault.id.clone()), "two faults are named {}", fault.id);
    }
}

#[test]
fn every_part_of_the_source_has_a_fault() {
    let faults = catalog::read(root());
    let packages = [
        "gen/area",
        "gen/verilog",
        "hw/caba",
        "hw/codecs",
        "hw/dai",
        "hw/kit",
        "hw/lamar",
        "hw/latte_cc",
        "sim/gpu",
        "sim/mechanisms/caba",
        "sim/mechanisms/compressed_memory",
        "sim/mechanisms/dai",
        "sim/mechanisms/lamar",
        "sim/mechanisms/latte_cc",
        "sim/ptx",
        "sim/run",
        "sim/workloads",
    ];
    let parts: BTreeSet<String> = packages.iter().flat_map(|package| parts_of(package)).collect();
    let without = parts.iter().filter(|part| !faults.iter().any(|fault| fault.file.starts_with(*part)));
    let without: Vec<&String> = without.collect();
    assert!(without.is_empty(), "no fault is planted in {without:?}");
}

/// Returns the folders of a package's source, with a trailing slash. Folders of several blocks are replaced by a folder
/// per block.
fn parts_of(package: &str) -> Vec<String> {
    let source = format!("{package}/src/");
    // A folder of several blocks, and a folder of tests.
    let groups = ["hw/codecs/src/sc/"];
    let tests = ["sim/run/src/trace_tests/"];
    let mut parts = folders(&source);
    parts.retain(|part| !groups.contains(&part.as_str()) && !tests.contains(&part.as_str()));
    parts.extend(groups.iter().filter(|part| part.starts_with(&source)).flat_map(|part| folders(part)));
    parts
}

fn folders(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(folder)).expect("the source is readable");
    let entries = entries.map(|entry| entry.expect("the source's entries are readable"));
    let folders = entries.filter(|entry| entry.path().is_dir());
    folders.map(|entry| format!("{folder}{}/", entry.file_name().to_string_lossy())).collect()
}
