//! Tests that damaged input files are either read or rejected with one line.
use super::{Size, all, find};
use proptest::test_runner::TestCaseError;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_testing::{fuzz, one_line};
use std::path::Path;

/// Device memory for the buffers of an input.
const MEMORY: u64 = 1 << 24;

/// Returns a small graph in Rodinia's format.
fn rodinia_graph() -> String {
    let nodes: String = (0..20).map(|node| format!("{} 2\n", 2 * node)).collect();
    let edges: String = (0..40).map(|edge| format!("{} {}\n", (7 * edge + 3) % 20, 1 + edge % 9)).collect();
    format!("20\n{nodes}\n0\n\n40\n{edges}")
}

/// Returns a small graph in DIMACS format.
fn dimacs_graph() -> String {
    let edges: String =
        (0..40).map(|e| format!("a {} {} {}\n", e % 20 + 1, (7 * e + 3) % 20 + 1, e % 9 + 1)).collect();
    format!("c a graph\np sp 20 40\n{edges}")
}

fn numbers(count: u32) -> String {
    (0..count).map(|i| format!("{}.{}\n", 320 + i % 7, i % 10)).collect()
}

fn points() -> String {
    (0..12).map(|i| format!("{i} {} 0.5 tcp {}\n", i * i, 3 * i)).collect()
}

/// Damages `text` as the input file `name` of `workload`. The folder contains a second file if `beside` is given.
fn damage(workload: &str, name: &str, text: &str, beside: Option<(&str, &str)>) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(name);
    if let Some((other, text)) = beside {
        std::fs::write(folder.path().join(other), text).expect("written");
    }
    let workload = find(workload).expect("built in");
    let run = |file: &Path| -> Result<(), TestCaseError> {
        match workload.start(Size::Tiny, Some(file)) {
            Ok(mut program) => {
                // The first launch allocates the buffers.
                drop(program.next(&mut DeviceMemory::with_capacity(MEMORY)));
                Ok(())
            }
            Err(error) => {
                let text = error.to_string();
                let named = if text.contains(name) { name } else { beside.map_or(name, |(other, _)| other) };
                one_line(&text, named, !text.contains("cannot read"))
            }
        }
    };
    fuzz(&format!("input-{name}"), &[text.as_bytes().to_vec()], 300, |bytes| {
        std::fs::write(&file, bytes).expect("written");
        run(&file)
    });
}

#[test]
fn fuzz_input_files_of_bfs() {
    damage("bfs", "graph.txt", &rodinia_graph(), None);
}

#[test]
fn fuzz_input_files_of_graph_workloads() {
    damage("sssp", "graph.gr", &dimacs_graph(), None);
}

#[test]
fn fuzz_input_files_of_hotspot() {
    damage("hotspot", "temp_8", &numbers(64), Some(("power_8", &numbers(64))));
}

#[test]
fn fuzz_input_files_of_kmeans() {
    damage("kmeans", "points.txt", &points(), None);
}

#[test]
fn every_kind_of_input_file_is_fuzzed() {
    let mut kinds: Vec<&str> = all().iter().filter_map(|workload| workload.input()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), 4, "{kinds:?}");
}
