//! What the lines that a workload reads hold: how far each codec compresses them.
//!
//! A workload runs without timing. When a launch has ended, the lines of global memory that its loads and atomics have read
//! go through the codecs with the values that they then have: they stand for the lines that enter the L1Ds (LATTE-CC,
//! section II), independent of caches and of the order of warps.
use selvedge_mechanisms::codecs::{LINE_BYTES, Ratios};
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{AccessKind, Module, watch_functional};
use selvedge_workloads::workload::{Lines, MeasureError, Size, Workload, WorkloadError};
use std::sync::atomic::{AtomicBool, Ordering};

/// Most lines of a launch that are looked at; of more, such that are equally far apart in the list, each for its neighbours.
const MOST_LINES: u64 = 4096;

/// Runs `workload` without timing and returns the ratios over the lines that it reads; none when it reads none, or when `stop`
/// is set before its end.
///
/// # Errors
/// [`MeasureError`], also for a result that differs from the CPU reference.
pub fn ratios(
    workload: &dyn Workload,
    size: Size,
    stop: &AtomicBool,
) -> Result<Option<Ratios>, MeasureError> {
    let (file, text) = workload.ptx();
    let module = Module::parse(file, text)?;
    let mut memory = DeviceMemory::new();
    module.load(&mut memory).map_err(WorkloadError::from)?;
    let mut program = workload.start(size, None)?;
    let mut found = Vec::new();
    while let Some(launch) = program.next(&mut memory)? {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let kernel =
            module.kernel(&launch.kernel).ok_or_else(|| MeasureError::NoKernel(launch.kernel.clone()))?;
        let params = kernel.pack(&launch.args)?;
        let mut lines = Lines::default();
        watch_functional(&module, &kernel, &launch.dims, &params, &mut memory, &mut |access| {
            if access.kind != AccessKind::Store {
                lines.add(access);
            }
        })?;
        sample(&lines, &memory, &mut found);
    }
    program.verify(&memory)?;
    Ok(Ratios::of(&found))
}

/// Adds values and weights of `lines`.
fn sample(lines: &Lines, memory: &DeviceMemory, found: &mut Vec<([u64; LINE_BYTES / 8], u32)>) {
    let apart = lines.count().div_ceil(MOST_LINES).max(1);
    for address in lines.addresses().step_by(apart as usize) {
        let mut bytes = [0; LINE_BYTES];
        memory.line(address, &mut bytes);
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[8 * at + byte]));
        found.push((std::array::from_fn(word), apart as u32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_workloads::workload::find;

    fn of(name: &str) -> Ratios {
        let workload = find(name).expect("built in");
        ratios(workload, Size::Tiny, &AtomicBool::new(false)).expect("runs").expect("reads lines")
    }

    #[test]
    fn random_fractions_do_not_compress_and_node_numbers_do() {
        // Two sums of full significands; and a graph of 1024 nodes, whose numbers have ten bits.
        let numbers = of("vecadd");
        assert!([numbers.bdi, numbers.fpc, numbers.cpack].iter().all(|ratio| *ratio < 1.05), "{numbers:?}");
        let graph = of("bfs");
        assert!(graph.bdi > 1.5 && graph.fpc > 1.2 && graph.bpc > 1.5, "{graph:?}");
    }

    #[test]
    fn the_same_lines_give_the_same_ratios() {
        assert_eq!(of("kmeans"), of("kmeans"));
    }

    #[test]
    fn a_census_that_is_stopped_has_no_ratios() {
        let workload = find("bfs").expect("built in");
        assert_eq!(ratios(workload, Size::Tiny, &AtomicBool::new(true)).expect("no fault"), None);
    }
}
