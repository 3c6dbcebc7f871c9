//! `selvedge gen` writes all files that a block needs, with the cells that blocks share or with the block's own
//! modules.

use crate::command::selvedge;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Writes blocks to a new folder. Returns the folder and the names of its files.
fn written(words: &[&str]) -> (tempfile::TempDir, BTreeSet<String>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    selvedge(&[&["gen", "-o", &folder.path().to_string_lossy()], words].concat());
    let entries = fs::read_dir(folder.path()).expect("the folder is there");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let names = entries.map(|entry| name(entry.expect("a readable entry"))).collect();
    (folder, names)
}

fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).expect("a text file")
}

#[test]
fn gen_of_one_block_writes_the_cells_that_it_needs() {
    let (folder, names) = written(&["awc"]);
    let list: BTreeSet<String> = text(folder.path(), "awc.f").lines().map(String::from).collect();
    let modules = |name: &&String| name.ends_with(".v") && *name != "awc_synth_wrapper.v";
    assert_eq!(list, names.iter().filter(modules).cloned().collect());
    let core = text(folder.path(), "awc.core");
    let cells: BTreeSet<&str> = core
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- selvedge::"))
        .map(|name| name.split(':').next().expect("a name"))
        .collect();
    assert_eq!(cells, BTreeSet::from(["selvedge_mem", "selvedge_sync_mem"]));
    for cell in cells {
        let core = text(folder.path(), &format!("{cell}.core"));
        assert!(
            core.contains(&format!("name: selvedge::{cell}:")) && core.contains(&format!("- {cell}.v\n"))
        );
        assert!(list.contains(&format!("{cell}.v")), "{list:?}");
    }
}

#[test]
fn a_self_contained_block_has_files_of_its_own_name_alone() {
    let (folder, names) = written(&["awc", "--self-contained"]);
    assert!(
        names.contains("awc_mem_5_13.v") && names.iter().all(|name| name.starts_with("awc")),
        "{names:?}"
    );
    assert!(!text(folder.path(), "awc.core").contains("depend"));
    let refers = |name: &&String| text(folder.path(), name).contains("selvedge_");
    assert_eq!(names.iter().find(refers), None);
}

#[test]
fn sizes_of_a_block_have_names_of_their_own() {
    let (folder, names) = written(&["milg", "--param", "inflight_bits=8", "--param", "rsfail_bits=12"]);
    assert!(names.contains("milg_inflight_bits_8.v") && !names.contains("milg.v"), "{names:?}");
    for name in names.iter().filter(|name| name.ends_with(".v")) {
        assert!(name.starts_with("milg_inflight_bits_8"), "{name}");
    }
    let top = text(folder.path(), "milg_inflight_bits_8.v");
    assert!(top.contains("module milg_inflight_bits_8 #(") && top.contains(" [7:0] limit_o"), "{top}");
    assert!(top.contains("parameter integer RSFAIL_BITS = 12") && !top.contains("INFLIGHT_BITS"), "{top}");
}
