//! Counts the instructions of workloads without timing, verifies the results, and writes the table that `selvedge list workloads`
//! shows. Each row is written as soon as its run ends.
//!
//! `cargo run --release -p selvedge-sim --example measure_workloads -- [tiny|small|study|paper [WORKLOAD]]`
//!
//! Without arguments, it runs each workload at each size. Other rows are unchanged.
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use selvedge_sim::workload::{self, Size, WorkloadWork, measure, rows, table};

fn run() -> Result<(), Box<dyn Error>> {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workloads/kernels/measured.tsv");
    let words: Vec<String> = std::env::args().skip(1).collect();
    let sizes = words.first().map_or(Ok(Size::ALL.to_vec()), |size| size.parse().map(|size| vec![size]))?;
    let chosen = match words.get(1) {
        Some(name) => vec![workload::find(name)?],
        None => workload::all().to_vec(),
    };
    for size in sizes {
        for workload in &chosen {
            eprintln!("{} {size}", workload.name());
            let counts = measure(*workload, size)?;
            let old = std::fs::read_to_string(&target)?;
            std::fs::write(&target, with_row(&old, (workload.name(), size), counts))?;
        }
    }
    Ok(())
}

/// Returns the table `old` with new counts in one row, in the order of the list of workloads.
fn with_row(old: &str, of: (&str, Size), counts: WorkloadWork) -> String {
    let known = |name: &str, size: Size| {
        let mut found = rows(old).filter(|(n, s, _)| (*n, *s) == (name, size));
        if (name, size) == of { Some(counts) } else { found.next().map(|(.., counts)| counts) }
    };
    let all = workload::all().iter().flat_map(|w| Size::ALL.map(|size| (w.name(), size)));
    table(all.filter_map(|(name, size)| Some((name, size, known(name, size)?))))
}

fn main() -> ExitCode {
    run().map_or_else(
        |error| {
            eprintln!("{error}");
            ExitCode::from(2)
        },
        |()| ExitCode::SUCCESS,
    )
}
