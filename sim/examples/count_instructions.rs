//! Counts what each workload executes: runs its kernels without timing, verifies the results and prints one line each.
//!
//! `cargo run --release -p selvedge-sim --example count_instructions -- [tiny|small|paper] [WORKLOAD]`
use std::error::Error;
use std::process::ExitCode;

use selvedge_sim::memory::DeviceMemory;
use selvedge_sim::ptx::{Module, run_functional};
use selvedge_sim::workload::{self, Size, Workload};

/// One line: launches, warp and thread instructions, and bytes of device memory, of a verified run.
fn count(workload: &dyn Workload, size: Size) -> Result<String, Box<dyn Error>> {
    let (file, text) = workload.ptx();
    let module = Module::parse(file, text)?;
    let mut memory = DeviceMemory::new();
    let mut program = workload.start(size, None)?;
    let (mut launches, mut warps, mut threads) = (0_u64, 0_u64, 0_u64);
    while let Some(launch) = program.next(&mut memory)? {
        let kernel = module
            .kernel(&launch.kernel)
            .ok_or_else(|| format!("{file} has no kernel '{}'", launch.kernel))?;
        let params = kernel.pack(&launch.args)?;
        let stats = run_functional(&module, &kernel, &launch.dims, &params, &mut memory)?;
        launches += 1;
        warps += stats.warp_instructions;
        threads += stats.thread_instructions;
    }
    program.verify(&memory)?;
    let (name, used) = (workload.name(), memory.used());
    Ok(format!("{name:10} {size:6} {launches:8} {warps:14} {threads:16} {used:12}"))
}

fn print_counts() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let size = arguments.next().as_deref().unwrap_or("tiny").parse()?;
    let one = arguments.next().map(|name| workload::find(&name)).transpose()?;
    let chosen = one.map_or_else(|| workload::all().to_vec(), |workload| vec![workload]);
    println!(
        "{:10} {:6} {:>8} {:>14} {:>16} {:>12}",
        "workload", "size", "launches", "warp instr.", "thread instr.", "bytes"
    );
    for workload in chosen {
        println!("{}", count(workload, size)?);
    }
    Ok(())
}

fn main() -> ExitCode {
    print_counts().map_or_else(
        |error| {
            eprintln!("{error}");
            ExitCode::from(2)
        },
        |()| ExitCode::SUCCESS,
    )
}
