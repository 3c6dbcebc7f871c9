//! `scan`: exclusive prefix sums of a large array, first per block and then over the blocks' totals.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_words};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Launch, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x5ca2;
const THREADS: u32 = 256;
/// Elements per block.
const ELEMENTS: usize = 512;

pub(super) const SCAN: Planned = Planned {
    name: "scan",
    summary: "exclusive prefix sums of a large array by trees in shared memory",
    papers: "CABA (SLA)",
    group: Group::Primitives,
    ptx: ("scan.ptx", include_str!("../../kernels/scan.ptx")),
    description: |size| {
        let count = elements(size);
        format!("{count} elements, {}", mebibytes(4 * 2 * count))
    },
    plan,
};

/// Returns the number of elements: at most the square of a block's, so that one block can add the blocks' totals.
fn elements(size: Size) -> usize {
    match size {
        Size::Tiny => 3_000,
        Size::Small => 100_000,
        Size::Study | Size::Paper => ELEMENTS * ELEMENTS,
    }
}

fn values(count: usize) -> Vec<u32> {
    let mut random = Random::new(SEED);
    (0..count).map(|_| random.below(100)).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let count = elements(size);
    let blocks = count.div_ceil(ELEMENTS);
    let from = place_words(memory, "from", &values(count))?;
    let to = memory.alloc(4 * count as u64, "to")?;
    let totals = memory.alloc(4 * blocks as u64, "totals")?;
    let before = memory.alloc(4 * blocks as u64, "before")?;
    let total = memory.alloc(4, "total")?;
    let launch = |kernel, blocks: usize, pointers: &[u64], count| -> Launch {
        let args = pointers.iter().map(|pointer| Arg::Ptr(*pointer)).chain([int(count)]).collect();
        launch_row(kernel, blocks * THREADS as usize, THREADS, args)
    };
    let launches = vec![
        launch("scan_block", blocks, &[from, to, totals], count),
        launch("scan_block", 1, &[totals, before, total], blocks),
        launch("scan_add", blocks, &[before, to], count),
    ];
    Ok(Plan::of(launches, move |memory| {
        let got = memory.read_u32s(to, count)?;
        let expected = values(count).into_iter().scan(0, |sum, value| {
            let before = *sum;
            *sum += value;
            Some(before)
        });
        Results { workload: "scan", buffer: "to", got: &got }.equal(expected)
    }))
}
