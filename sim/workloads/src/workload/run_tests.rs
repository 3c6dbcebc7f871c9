//! Runs each workload without timing, and verifies its results against the CPU reference.
use std::path::{Path, PathBuf};
use std::process::Command;

use super::testing::with_file;
use super::{Arg, HostProgram, Meter, Size, Workload, WorkloadError, WorkloadWork, all, find, measured};
use selvedge_ptx::memory::DeviceMemory;

/// Environment variable with an optional folder of public inputs: Rodinia's graph4096.txt, temp_64, power_64,
/// temp_512, power_512 and 204800.txt, Pannotia's 1k_128k.gr and 256_16384.gr.
const INPUTS: &str = "SELVEDGE_DATA";

/// A workload that has completed without timing.
struct Finished {
    program: Box<dyn HostProgram>,
    memory: DeviceMemory,
    measured: WorkloadWork,
    /// Every device address that a kernel received.
    pointers: Vec<u64>,
}

fn run(workload: &dyn Workload, size: Size, input: Option<&Path>) -> Finished {
    let module = workload.module().unwrap();
    let (mut memory, mut pointers, mut meter) = (DeviceMemory::new(), Vec::new(), Meter::default());
    let mut program = workload.start(size, input).unwrap();
    while let Some(launch) = program.next(&mut memory).unwrap() {
        meter.launch(&module, &launch, &mut memory).unwrap();
        let address = |arg: &Arg| if let Arg::Ptr(address) = arg { Some(*address) } else { None };
        pointers.extend(launch.args.iter().filter_map(address));
    }
    Finished { program, memory, measured: meter.measured(), pointers }
}

/// Returns the path of the public input called `name`. Prints a message and returns `None` if it is missing.
fn public_input(name: &str) -> Option<PathBuf> {
    let file = std::env::var_os(INPUTS).map(|folder| PathBuf::from(folder).join(name));
    let found = file.filter(|file| file.is_file());
    if found.is_none() {
        eprintln!("skipped: {INPUTS} names no folder with {name}");
    }
    found
}

/// Runs every workload at `size` and verifies it. Compares its counts with the checked-in table, and its warp
/// instructions with the promised range.
fn results_equal_the_references(size: Size, promised: std::ops::RangeInclusive<u64>) {
    for workload in all() {
        let Finished { mut program, mut memory, measured: counts, .. } = run(*workload, size, None);
        let name = workload.name();
        assert_eq!(program.verify(&memory), Ok(()), "{name}");
        assert_eq!(measured(name, size), Some(counts), "{name} {size}: run the example measure_workloads");
        assert!(promised.contains(&counts.warp_instructions), "{name}: {counts:?}");
        assert_eq!(program.next(&mut memory), Ok(None), "{name} stays finished");
        assert_eq!(program.verify(&memory), Ok(()), "{name} verifies twice");
    }
}

#[test]
fn tiny_results_equal_the_references_within_the_promised_instructions() {
    results_equal_the_references(Size::Tiny, 1_000..=100_000);
}

#[test]
fn small_results_equal_the_references_within_the_promised_instructions() {
    results_equal_the_references(Size::Small, 30_000..=1_500_000);
}

/// Verifies the results of `study` without timing, and compares its counts with the table.
#[test]
fn study_results_equal_the_references() {
    results_equal_the_references(Size::Study, 60_000..=25_000_000);
}

#[test]
fn two_runs_leave_the_same_bytes() {
    for workload in all() {
        let [first, second] = [(); 2].map(|()| run(*workload, Size::Tiny, None));
        assert_eq!(first.pointers, second.pointers, "{}", workload.name());
        for address in first.pointers {
            let (_, base, bytes) = first.memory.nearest(address).unwrap();
            let [mut one, mut two] = [(); 2].map(|()| vec![0; bytes as usize]);
            first.memory.read(base, &mut one).unwrap();
            second.memory.read(base, &mut two).unwrap();
            assert!(one == two, "{}", workload.name());
        }
    }
}

#[test]
fn a_wrong_byte_in_a_result_is_found_and_named() {
    let results = [
        ("vecadd", "c", 4097),
        ("atax", "y", 95),
        ("bicg", "q", 191),
        ("mvt", "x2", 0),
        ("gesummv", "y", 127),
        ("syrk", "c", 64 * 64 - 1),
        ("syr2k", "c", 48),
        ("covariance", "matrix", 66),
        ("matmul", "emitted keys", 63),
        ("mm3", "g", 0),
        ("conv2d", "result", 97),
        ("fdtd2d", "hz", 64),
        ("tone_map", "tones", 100),
        ("transpose", "to", 128),
        ("pathfinder", "costs", 999),
        ("backprop", "weights", 18),
        ("srad", "image", 64 * 64 - 1),
        ("srad_tiled", "image", 77),
        ("streamcluster", "table", 511),
        ("particle_filter", "pixels", 255),
        ("convolution_separable", "result", 128 * 47),
        ("dct", "result", 0),
        ("binomial", "price", 1),
        ("similarity", "sorted keys", 65),
        ("btree", "found", 149),
        ("spmv", "y", 1023),
        ("lud", "a", 64 * 64 - 1),
        ("floyd_warshall", "distance", 1),
        ("laplace", "u", 40 * 11),
        ("histogram", "bins", 40),
        ("scalar_product", "products", 23),
        ("scalar_product_cached", "products", 22),
        ("scan", "to", 2999),
        ("walsh", "data", 0),
        ("survey_propagation", "survey", 1889),
        ("barnes_hut", "bodies", 0),
        ("raytrace", "image", 700),
        ("lavamd", "forces", 700),
        ("mummer", "match length", 50),
        ("monte_carlo", "price", 2),
        ("neural_net", "layer 4", 3),
        ("weather", "ground", 5),
        ("spmv_jds", "y", 1023),
        ("heartwall", "rows", 5),
        ("inverted_index", "groups", 3),
        ("page_view_count", "sorted values", 249),
        ("page_view_rank", "sorted keys", 499),
        ("kmeans_records", "centres", 71),
        ("sssp", "distance", 699),
        ("sssp_ell", "distance", 399),
        ("pagerank", "rank", 0),
        ("betweenness", "centrality", 5),
        ("mis", "set", 1023),
        ("coloring", "color", 0),
        ("needleman_wunsch", "score", 97 * 97 - 1),
        ("mst", "chosen", 5),
        ("bfs_worklist", "level", 77),
        ("bfs", "cost", 77),
        ("hotspot", "temperature", 0),
        ("kmeans", "features by feature", 11_111),
        ("kmeans", "membership", 511),
        ("kmeans_swap", "features by feature", 3),
    ];
    for (name, buffer, index) in results {
        let Finished { program, mut memory, .. } = run(find(name).unwrap(), Size::Tiny, None);
        // A program of several stages allocates a buffer in each. The last one has the result.
        let bases = memory.contents().map(|(base, _)| base);
        let base = bases.filter(|base| memory.nearest(*base).unwrap().0 == buffer).last().unwrap();
        let address = base + 4 * index + 2;
        let mut byte = [0];
        memory.read(address, &mut byte).unwrap();
        memory.write(address, &[byte[0] ^ 0x20]).unwrap();
        let text = program.verify(&memory).expect_err(name).to_string();
        assert!(text.starts_with(&format!("{name}: {buffer}[{index}] = ")), "{text}");
        assert!(text.contains(", the CPU reference gives "), "{text}");
    }
}

#[test]
fn an_unfinished_program_is_not_verified() {
    for workload in all() {
        let mut memory = DeviceMemory::new();
        let mut program = workload.start(Size::Tiny, None).unwrap();
        let expected = WorkloadError::Unfinished { workload: workload.name() };
        assert_eq!(program.verify(&memory), Err(expected.clone()));
        program.next(&mut memory).unwrap();
        assert_eq!(program.verify(&memory), Err(expected));
    }
}

#[test]
fn buffers_that_do_not_fit_are_refused() {
    for workload in all() {
        let mut memory = DeviceMemory::with_capacity(10);
        let refused = workload.start(Size::Tiny, None).unwrap().next(&mut memory).unwrap_err().to_string();
        assert!(refused.starts_with("cannot allocate "), "{refused}");
    }
}

#[test]
fn an_input_file_for_a_workload_that_reads_none_is_refused() {
    for name in ["vecadd", "atax"] {
        let refused =
            find(name).unwrap().start(Size::Tiny, Some(Path::new("x.txt"))).err().unwrap().to_string();
        let expected = format!("x.txt: workload '{name}' takes no input file: allowed for sssp, ");
        assert!(refused.starts_with(&expected) && refused.ends_with("bfs, hotspot, kmeans"), "{refused}");
    }
}

#[test]
fn missing_input_files_are_refused_in_one_line() {
    for name in ["bfs", "hotspot", "kmeans", "sssp"] {
        let missing = Path::new("/nonexistent/temp_1");
        let refused = find(name).unwrap().start(Size::Tiny, Some(missing)).err().unwrap().to_string();
        assert!(refused.starts_with("/nonexistent/temp_1: cannot read "), "{refused}");
        assert_eq!(refused.lines().count(), 1);
    }
}

#[test]
fn real_graphs_and_temperatures_are_run_and_verified() {
    let inputs = [
        ("bfs", "graph4096.txt"),
        ("hotspot", "temp_64"),
        ("hotspot", "temp_512"),
        ("sssp", "1k_128k.gr"),
        ("sssp_ell", "256_16384.gr"),
        ("mis", "256_16384.gr"),
        ("coloring", "256_16384.gr"),
        ("pagerank", "1k_128k.gr"),
        ("betweenness", "256_16384.gr"),
        ("mst", "256_16384.gr"),
        ("bfs_worklist", "1k_128k.gr"),
    ];
    for (name, file) in inputs {
        if let Some(input) = public_input(file) {
            let Finished { program, memory, .. } = run(find(name).unwrap(), Size::Tiny, Some(&input));
            assert_eq!(program.verify(&memory), Ok(()), "{file}");
        }
    }
}

#[test]
fn real_points_are_read_and_a_part_of_them_is_run_and_verified() {
    let Some(input) = public_input("204800.txt") else { return };
    let kmeans = find("kmeans").unwrap();
    kmeans.start(Size::Tiny, Some(&input)).unwrap();
    let text = std::fs::read_to_string(&input).unwrap();
    let part: String = text.lines().skip(196_000).take(1000).flat_map(|line| [line, "\n"]).collect();
    with_file("part.txt", &part, |file| {
        let Finished { program, memory, .. } = run(kmeans, Size::Tiny, Some(file));
        assert_eq!(program.verify(&memory), Ok(()));
    });
}

#[test]
fn the_checked_in_ptx_is_what_its_source_compiles_to() {
    const CLANG: &str = "clang-19";
    if Command::new(CLANG).arg("--version").output().is_err() {
        eprintln!("skipped: {CLANG} is not installed");
        return;
    }
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let folder = tempfile::tempdir().unwrap();
    let built = Command::new(sources.join("build.sh")).arg(CLANG).arg(folder.path()).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    for workload in all() {
        let (file, text) = workload.ptx();
        let fresh = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(fresh == text, "{file} is stale: run sim/workloads/kernels/build.sh");
    }
}
