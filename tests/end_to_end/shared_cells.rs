//! `selvedge gen` writes all files that a block needs, with the cells that blocks share and the block's own
//! modules. Macros can replace memories.

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

#[test]
fn the_memories_of_a_block_are_listed_in_a_table_and_two_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = selvedge(&["gen", "md_cache", "--memories", "list", "-o", &folder.path().to_string_lossy()]);
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    let tags = ["md_cache", "tags", "64", "76", "4864", "1", "1", "clock", "edge", "selvedge_sync_mem_64x76"];
    assert!(rows.iter().any(|row| *row == tags), "{table}");
    let csv = "instance,words,width,bits,read_ports,write_ports,read,module\n\
               data,256,256,65536,1,1,clock edge,selvedge_sync_mem_256x256\n\
               states,64,14,896,1,1,clock edge,selvedge_sync_mem_64x14\n\
               tags,64,76,4864,1,1,clock edge,selvedge_sync_mem_64x76\n";
    assert_eq!(text(folder.path(), "md_cache_memories.csv"), csv);
    let conf = "name selvedge_sync_mem_64x14 depth 64 width 14 ports write,read\n\
                name selvedge_sync_mem_64x76 depth 64 width 76 ports write,read\n\
                name selvedge_sync_mem_256x256 depth 256 width 256 ports write,read\n";
    assert_eq!(text(folder.path(), "md_cache.mems.conf"), conf);
    assert_eq!(fs::read_dir(folder.path()).expect("the folder is there").count(), 2, "no Verilog");
}

/// The page lists the memories that Yosys finds in the synthesized blocks.
#[test]
fn the_list_has_the_memories_that_yosys_finds() {
    let (folder, _) = written(&["--all", "--memories", "list"]);
    let mut listed = BTreeSet::new();
    for entry in fs::read_dir(folder.path()).expect("the folder is there") {
        let name = entry.expect("a readable entry").file_name().to_string_lossy().into_owned();
        let Some(block) = name.strip_suffix("_memories.csv") else { continue };
        for row in text(folder.path(), &name).lines().skip(1) {
            let cells: Vec<&str> = row.split(',').collect();
            let clocked = if cells[6] == "clock edge" { cells[4] } else { "0" };
            let cells = [block, cells[0], cells[1], cells[2], cells[3], cells[4], clocked, cells[5]];
            listed.insert(cells.join(" | "));
        }
    }
    let page = fs::read_to_string("docs/reference/area.md").expect("the page of areas");
    let table = page.split("| memory of |").nth(1).expect("the table of memories");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let found: BTreeSet<String> = rows
        .map(|row| row.trim_matches(['|', ' ']).rsplit_once(" | ").expect("a last column").0.to_string())
        .collect();
    assert!(found.len() > 50, "{found:?}");
    assert_eq!(listed, found);
}

#[test]
fn macros_take_the_place_of_clocked_memories_alone() {
    let (folder, names) = written(&["awc", "--memories", "wrapper", "--prefix", "my_"]);
    let list = text(folder.path(), "my_awc.f");
    for name in ["my_selvedge_sram_512x64.v", "my_selvedge_sync_mem_512x64.v", "my_selvedge_mem.v"] {
        assert!(names.contains(name) && list.lines().any(|line| line == name), "{list}");
    }
    let cell = text(folder.path(), "my_selvedge_sync_mem.v");
    assert!(cell.contains("my_selvedge_sync_mem_512x64 words (") && !cell.contains("reg "), "{cell}");
    assert!(!names.contains("my_awc.mems.conf") && names.contains("my_awc_memories.csv"), "{names:?}");
    let (folder, names) = written(&["aws", "md_cache", "--memories", "blackbox"]);
    assert!(names.contains("aws.mems.conf"), "{names:?}");
    let cell = text(folder.path(), "selvedge_sync_mem.v");
    assert!(cell.contains("_512x64 words (") && cell.contains("_256x256 words ("), "blocks share the cell");
    let (_, without) = written(&["milg", "--memories", "list"]);
    assert_eq!(without, BTreeSet::from(["milg_memories.csv".to_string()]));
}
