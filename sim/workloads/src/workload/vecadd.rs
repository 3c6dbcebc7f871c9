//! `vecadd`: c = a + b in single precision, one element per thread. It has the least computation per byte of all
//! workloads.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const THREADS_PER_BLOCK: u32 = 256;
const SEED_A: u64 = 0xa;
const SEED_B: u64 = 0xb;

pub(super) const VECADD: Planned = Planned {
    name: "vecadd",
    summary: "vector addition, one element per thread",
    papers: "none: the reference point of speed measurements",
    group: Group::Primitives,
    ptx: ("vecadd.ptx", include_str!("../../kernels/vecadd.ptx")),
    description: |size| {
        let count = elements(size);
        format!("{count} elements, {}", mebibytes(3 * 4 * count))
    },
    plan,
};

fn elements(size: Size) -> usize {
    match size {
        Size::Tiny => 1 << 13,
        Size::Small => 1 << 17,
        Size::Study | Size::Paper => 1 << 20,
    }
}

/// Returns `count` uniform numbers in [0, 1) with full significands.
fn numbers(seed: u64, count: usize) -> impl Iterator<Item = f32> {
    let mut random = Random::new(seed);
    (0..count).map(move |_| random.unit())
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let count = elements(size);
    let a = place_f32s(memory, "a", &numbers(SEED_A, count).collect::<Vec<_>>())?;
    let b = place_f32s(memory, "b", &numbers(SEED_B, count).collect::<Vec<_>>())?;
    let c = memory.alloc(4 * count as u64, "c")?;
    let args = vec![Arg::Ptr(a), Arg::Ptr(b), Arg::Ptr(c), int(count)];
    Ok(Plan::of(vec![launch_row("vecadd", count, THREADS_PER_BLOCK, args)], move |memory| {
        // One rounding per element on either side, so the sums have equal bits.
        let sums = numbers(SEED_A, count).zip(numbers(SEED_B, count)).map(|(a, b)| a + b);
        Results { workload: "vecadd", buffer: "c", got: &memory.read_f32s(c, count)? }.equal(sums)
    }))
}
