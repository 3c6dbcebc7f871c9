//! Counts what every workload executes at every size, without timing, verifies the results, and writes the table that
//! `selvedge list workloads` shows.
//!
//! `cargo run --release -p selvedge-sim --example measure_workloads`
//!
//! With `-- SIZE [WORKLOAD]` it prints those rows and writes nothing.
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use selvedge_sim::workload::{self, Size, Workload, measure, table};

/// Measures these workloads at these sizes; the table of it.
fn count(workloads: &[&dyn Workload], sizes: &[Size]) -> Result<String, Box<dyn Error>> {
    let mut rows = Vec::new();
    for workload in workloads {
        for size in sizes {
            eprintln!("{} {size}", workload.name());
            rows.push((workload.name(), *size, measure(*workload, *size)?));
        }
    }
    Ok(table(rows))
}

fn run() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.as_slice() {
        [] => {
            let text = count(workload::all(), &Size::ALL)?;
            let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads/measured.tsv");
            std::fs::write(target, text)?;
        }
        [size] => print!("{}", count(workload::all(), &[size.parse()?])?),
        [size, name, ..] => print!("{}", count(&[workload::find(name)?], &[size.parse()?])?),
    }
    Ok(())
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
