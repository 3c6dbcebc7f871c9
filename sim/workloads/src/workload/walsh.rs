//! `walsh`: the fast Walsh transform of a signal, one launch per stride of the butterflies.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0xf37;
const THREADS_PER_BLOCK: u32 = 256;

pub(super) const WALSH: Planned = Planned {
    name: "walsh",
    summary: "fast Walsh transform, one launch per stride",
    papers: "LATTE-CC and LAMAR (FWT)",
    group: Group::Primitives,
    ptx: ("walsh.ptx", include_str!("../../kernels/walsh.ptx")),
    description: |size| {
        let count = elements(size);
        format!("{count} elements, {}", mebibytes(4 * count))
    },
    plan,
};

/// Returns the number of elements, a power of two.
fn elements(size: Size) -> usize {
    match size {
        Size::Tiny => 1 << 11,
        Size::Small => 1 << 15,
        Size::Study => 1 << 20,
        Size::Paper => 1 << 23,
    }
}

/// Returns integers whose sums are exact in single precision up to 2^24.
fn signal(count: usize) -> Vec<f32> {
    let mut random = Random::new(SEED);
    (0..count).map(|_| random.below(2) as f32).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let count = elements(size);
    let data = place_f32s(memory, "data", &signal(count))?;
    let strides = (0..count.ilog2()).map(|level| 1 << level);
    let launches = strides.map(|stride| {
        let args = vec![Arg::Ptr(data), int(stride), int(count / 2)];
        launch_row("walsh", count / 2, THREADS_PER_BLOCK, args)
    });
    Ok(Plan::of(launches.collect(), move |memory| {
        let got = memory.read_f32s(data, count)?;
        Results { workload: "walsh", buffer: "data", got: &got }.equal(reference(count))
    }))
}

/// Computes the transform by recursion on halves.
fn reference(count: usize) -> Vec<f32> {
    fn transform(data: &mut [f32]) {
        let half = data.len() / 2;
        if half == 0 {
            return;
        }
        let (low, high) = data.split_at_mut(half);
        for (low, high) in low.iter_mut().zip(&mut *high) {
            (*low, *high) = (*low + *high, *low - *high);
        }
        transform(low);
        transform(high);
    }
    let mut data = signal(count);
    transform(&mut data);
    data
}
