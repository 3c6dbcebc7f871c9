//! Functions that most workloads share.
use super::error::WorkloadError;
use super::interface::Launch;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{Arg, LaunchDims};
use std::path::Path;

/// Workloads that read an input file, in the order of tables.
pub(super) const WITH_INPUT: [&str; 11] = [
    "sssp",
    "sssp_ell",
    "pagerank",
    "betweenness",
    "mis",
    "coloring",
    "mst",
    "bfs_worklist",
    "bfs",
    "hotspot",
    "kmeans",
];

/// Returns a launch of `kernel` over `threads` threads in a row, in blocks of `block` threads. The last block may
/// exceed `threads`; the kernels check this.
pub(super) fn launch_row(kernel: &str, threads: usize, block: u32, args: Vec<Arg>) -> Launch {
    let blocks = (threads as u32).div_ceil(block);
    Launch { kernel: kernel.to_owned(), dims: LaunchDims::new([blocks, 1, 1], [block, 1, 1]), args }
}

/// Returns a launch of `kernel` over a plane of `threads` threads, in blocks of `block`. The last blocks of each
/// direction may exceed the plane; the kernels check this.
pub(super) fn launch_grid(kernel: &str, threads: [usize; 2], block: [u32; 2], args: Vec<Arg>) -> Launch {
    let blocks = [0, 1].map(|axis| (threads[axis] as u32).div_ceil(block[axis]));
    let dims = LaunchDims::new([blocks[0], blocks[1], 1], [block[0], block[1], 1]);
    Launch { kernel: kernel.to_owned(), dims, args }
}

/// Returns an argument of type `int`. Workloads keep counts below 2^31.
pub(super) fn int(count: usize) -> Arg {
    Arg::U32(count as u32)
}

/// Allocates a buffer called `name`, fills it with `values` and returns its device address.
pub(super) fn place_f32s(
    memory: &mut DeviceMemory,
    name: &str,
    values: &[f32],
) -> Result<u64, WorkloadError> {
    let address = memory.alloc(size_of_val(values) as u64, name)?;
    memory.write_f32s(address, values)?;
    Ok(address)
}

/// Allocates a buffer called `name`, fills it with 32-bit `values` and returns its device address.
pub(super) fn place_words(
    memory: &mut DeviceMemory,
    name: &str,
    values: &[u32],
) -> Result<u64, WorkloadError> {
    let address = memory.alloc(size_of_val(values) as u64, name)?;
    memory.write_u32s(address, values)?;
    Ok(address)
}

/// Returns an error if a workload that reads no file is given an input file.
pub(super) fn no_input(workload: &'static str, input: Option<&Path>) -> Result<(), WorkloadError> {
    input.map_or(Ok(()), |file| {
        Err(WorkloadError::NoInput {
            file: file.display().to_string(),
            workload,
            allowed: WITH_INPUT.join(", "),
        })
    })
}

/// Describes the number of computed terms of each sum, if it is limited.
pub(super) fn of_each_sum(terms: Option<usize>) -> String {
    terms.map_or_else(String::new, |terms| format!(", {terms} terms of each sum"))
}

/// Describes the bytes of device memory.
pub(super) fn mebibytes(bytes: usize) -> String {
    format!("{:.2} MiB on the device", bytes as f64 / f64::from(1 << 20))
}
