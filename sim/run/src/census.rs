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

/// A line, and how many lines it stands for.
type Weighted = ([u64; LINE_BYTES / 8], u32);

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
    Ok(lines_of(workload, size, stop)?.and_then(|lines| Ratios::of(&lines)))
}

/// Runs `workload` without timing and returns the lines that it reads; none when `stop` is set before its end.
fn lines_of(
    workload: &dyn Workload,
    size: Size,
    stop: &AtomicBool,
) -> Result<Option<Vec<Weighted>>, MeasureError> {
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
    Ok(Some(found))
}

/// Adds values and weights of `lines`.
fn sample(lines: &Lines, memory: &DeviceMemory, found: &mut Vec<Weighted>) {
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
    use selvedge_blocks::line::Line;
    use selvedge_blocks::sc::compressor::{CompressorIn, CompressorOut, CompressorParams, ScCompressor};
    use selvedge_hw::{Clocked, HwBlock};
    use selvedge_workloads::workload::{all, find};
    use std::collections::BTreeMap;

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

    /// The cycles that SC's compressor takes for a line, which are the same under all codes.
    fn compressor_cycles(compressor: &mut impl Clocked<CompressorIn, CompressorOut>, line: &Line) -> u64 {
        let idle = CompressorIn { ready_i: true, ..CompressorIn::default() };
        assert!(compressor.step(&CompressorIn { valid_i: true, line_i: *line, ..idle }).ready_o);
        (1..).find(|_| compressor.step(&idle).valid_o).expect("a line leaves")
    }

    #[test]
    fn lines_of_the_workloads_take_the_cycles_that_the_compressor_of_sc_states() {
        let mut compressor = ScCompressor::model(&CompressorParams::default()).expect("valid");
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
        // The block's documentation states these.
        assert_eq!(
            [quantile(0.0), quantile(0.5), quantile(0.9), quantile(0.99), quantile(1.0)],
            [6, 11, 14, 16, 26],
            "{lines:?}"
        );
        assert_eq!((tenth(mean), tenth(slowest)), (10.9, 12.5));
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
