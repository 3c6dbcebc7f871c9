//! The registers of the built-in kernels: those of NVIDIA's assembler, and the estimate compared with them.

use selvedge_ptx::ptx::Module;
use selvedge_workloads::workload;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Returns the estimate divided by ptxas' figure, by kernel.
fn ratios() -> BTreeMap<String, f64> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = fs::read_to_string(folder.join("kernels/registers.tsv")).expect("the table is there");
    let mut out = BTreeMap::new();
    let mut modules: BTreeMap<String, Module> = BTreeMap::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let [file, name, figure] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}: three columns")
        };
        let module = modules.entry(file.to_owned()).or_insert_with(|| {
            let path = folder.join("kernels").join(format!("{file}.ptx"));
            let text =
                fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            Module::parse(file, &text).unwrap_or_else(|error| panic!("{error}"))
        });
        let kernel = module.kernel(name).unwrap_or_else(|| panic!("{file} has no kernel {name}"));
        let figure: f64 = figure.parse().expect("a number of registers");
        out.insert(format!("{file} {name}"), f64::from(kernel.registers) / figure);
    }
    for (file, module) in &modules {
        for kernel in module.kernels() {
            assert!(
                out.contains_key(&format!("{file} {}", kernel.name)),
                "{file} {} is not in the table",
                kernel.name
            );
        }
    }
    out
}

#[test]
fn half_are_within_an_eighth_and_four_fifths_within_a_quarter_of_ptxas() {
    let ratios = ratios();
    let mut errors: Vec<f64> = ratios.values().map(|ratio| (ratio - 1.0).abs()).collect();
    errors.sort_by(f64::total_cmp);
    let median = errors[errors.len() / 2];
    let close = errors.iter().filter(|error| **error <= 0.25).count() as f64 / errors.len() as f64;
    assert!(median <= 0.125, "the median is {median:.3}");
    assert!(close >= 0.80, "{close:.3} are within a quarter");
}

#[test]
fn none_is_beyond_twice_or_half() {
    for (kernel, ratio) in ratios() {
        assert!((0.5..2.0).contains(&ratio), "{kernel}: {ratio:.2} times ptxas' figure");
    }
}

#[test]
fn built_in_kernels_have_the_registers_of_the_table() {
    let table = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/registers.tsv"))
        .expect("the table is there");
    let lines: BTreeSet<String> =
        table.lines().filter(|line| !line.starts_with('#')).map(String::from).collect();
    let mut found = BTreeSet::new();
    for workload in workload::all() {
        let (file, _) = workload.ptx();
        let stem = file.strip_suffix(".ptx").expect("a PTX file");
        for kernel in workload.module().expect("valid").kernels() {
            found.insert(format!("{stem}\t{}\t{}", kernel.name, kernel.registers));
        }
    }
    assert_eq!(found, lines);
}
