//! Measures how far each codec compresses the lines that a workload reads.
//!
//! The workload runs without timing. After each launch, the codecs compress all lines of global memory that the launch read by
//! loads or atomics. They use the values at the end of the launch. These lines approximate the lines that enter the L1Ds
//! (LATTE-CC, section II), and do not depend on caches or on the order of warps.
use selvedge_compressed_memory::codecs::{LINE_BYTES, Ratios};
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{AccessKind, watch_functional};
use selvedge_workloads::workload::{LineSet, MeasureError, Size, Workload, WorkloadError};
use std::sync::atomic::{AtomicBool, Ordering};

/// Max number of lines to sample per launch. In longer lists every n-th line is sampled, with weight n.
const MOST_LINES: u64 = 4096;

/// A line, and the number of lines that the sample represents.
type Weighted = ([u64; LINE_BYTES / 8], u32);

/// Runs `workload` without timing and returns the compression ratios of the lines that it reads. Returns `None` if it reads no
/// line, or if `stop` is set before its end.
///
/// # Errors
/// [`MeasureError`]: a fault, or a result that differs from the CPU reference.
pub fn ratios(
    workload: &dyn Workload,
    size: Size,
    stop: &AtomicBool,
) -> Result<Option<Ratios>, MeasureError> {
    Ok(lines_of(workload, size, stop)?.and_then(|lines| Ratios::of(&lines)))
}

/// Runs `workload` without timing and returns the lines that it reads. Returns `None` if `stop` is set before its end.
fn lines_of(
    workload: &dyn Workload,
    size: Size,
    stop: &AtomicBool,
) -> Result<Option<Vec<Weighted>>, MeasureError> {
    let module = workload.module()?;
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
        let mut lines = LineSet::default();
        watch_functional(&module, &kernel, &launch.dims, &params, &mut memory, &mut |access| {
            if access.kind != AccessKind::Store {
                lines.add(access);
            }
        })?;
        sample(&lines, &memory, &mut found);
    }
    program.verify(&memory)?;
    Ok(Some(found))
}

/// Adds a sample of `lines`, with values and weights, to `found`.
fn sample(lines: &LineSet, memory: &DeviceMemory, found: &mut Vec<Weighted>) {
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
    use selvedge_hw::{Clocked, HwBlock};
    use selvedge_hw_codecs::line::Line;
    use selvedge_hw_codecs::sc::compressor::{CompressorIn, CompressorOut, ScCompressor, ScCompressorParams};
    use selvedge_workloads::workload::{all, find};
    use std::collections::BTreeMap;

    fn of(name: &str) -> Ratios {
        let workload = find(name).expect("built in");
        ratios(workload, Size::Tiny, &AtomicBool::new(false)).expect("runs").expect("reads lines")
    }

    #[test]
    fn random_fractions_do_not_compress_and_node_numbers_do() {
        // `vecadd` adds numbers with full significands. The graph of `bfs` has 1024 nodes: node numbers have ten bits.
        let numbers = of("vecadd");
        assert!([numbers.bdi, numbers.fpc, numbers.cpack].iter().all(|ratio| *ratio < 1.05), "{numbers:?}");
        let graph = of("bfs");
        assert!(graph.bdi > 1.5 && graph.fpc > 1.2 && graph.bpc > 1.5, "{graph:?}");
    }

    /// Cycles that SC's compressor takes for a line. They do not depend on the current code.
    fn compressor_cycles(compressor: &mut impl Clocked<CompressorIn, CompressorOut>, line: &Line) -> u64 {
        let idle = CompressorIn { ready_i: true, ..CompressorIn::default() };
        assert!(compressor.step(&CompressorIn { valid_i: true, line_i: *line, ..idle }).ready_o);
        (1..).find(|_| compressor.step(&idle).valid_o).expect("a line leaves")
    }

    #[test]
    fn lines_of_the_workloads_take_the_cycles_that_the_compressor_of_sc_states() {
        let mut compressor = ScCompressor::model(&ScCompressorParams::default()).expect("valid");
        let mut lines: BTreeMap<u64, u64> = BTreeMap::new();
        let mut slowest: f64 = 0.0;
        for workload in all() {
            let found =
                lines_of(*workload, Size::Tiny, &AtomicBool::new(false)).expect("runs").expect("not stopped");
            let (mut sum, mut count) = (0, 0);
            for (line, weight) in found {
                let cycles = compressor_cycles(&mut compressor, &line);
                *lines.entry(cycles).or_insert(0) += u64::from(weight);
                (sum, count) = (sum + cycles * u64::from(weight), count + u64::from(weight));
            }
            slowest = slowest.max(sum as f64 / count.max(1) as f64);
        }
        let total: u64 = lines.values().sum();
        let quantile = |share: f64| {
            let mut below = 0;
            let reached = |(_, count): &(&u64, &u64)| {
                below += **count;
                below as f64 >= share * total as f64
            };
            *lines.iter().find(reached).expect("all are reached").0
        };
        let mean = lines.iter().map(|(cycles, count)| cycles * count).sum::<u64>() as f64 / total as f64;
        let tenth = |value: f64| (10.0 * value).round() / 10.0;
        // The documentation of the block states these values.
        assert_eq!(
            [quantile(0.0), quantile(0.5), quantile(0.9), quantile(0.99), quantile(1.0)],
            [6, 11, 13, 15, 20],
            "{lines:?}"
        );
        assert_eq!((tenth(mean), tenth(slowest)), (10.2, 12.4));
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
