//! `conv2d`: convolution of an image with a fixed 3 x 3 mask, as the 2DCONV of PolyBench/GPU 1.0.
use super::check::Results;
use super::helpers::{int, launch_grid, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

/// The reference rounds like the checked-in PTX. If values cancel, only equal bits are close enough.
const TOLERANCE: f32 = 1e-5;
const SEED: u64 = 0x2d_c0_4f;

pub(super) const CONV2D: Planned = Planned {
    name: "conv2d",
    summary: "convolution of an image with a 3 x 3 mask, one thread per pixel",
    papers: "Dai, chapter 2 (2DV)",
    group: Group::Images,
    ptx: ("conv2d.ptx", include_str!("../../kernels/conv2d.ptx")),
    description: |size| {
        let n = side(size);
        format!("{n} x {n} pixels, {}", mebibytes(4 * 2 * n * n))
    },
    plan,
};

/// Returns the number of rows and of columns; `paper` is Polybench's standard size.
fn side(size: Size) -> usize {
    match size {
        Size::Tiny => 96,
        Size::Small => 640,
        Size::Study => 2048,
        Size::Paper => 4096,
    }
}

/// Returns uniform random pixels in [0, 1), as Polybench's.
fn image(n: usize) -> Vec<f32> {
    let mut random = Random::new(SEED);
    (0..n * n).map(|_| random.unit()).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let n = side(size);
    let from = place_f32s(memory, "image", &image(n))?;
    let to = place_f32s(memory, "result", &vec![0.0; n * n])?;
    let args = vec![Arg::Ptr(from), Arg::Ptr(to), int(n), int(n)];
    Ok(Plan::of(vec![launch_grid("conv2d", [n, n], [32, 8], args)], move |memory| {
        let got = memory.read_f32s(to, n * n)?;
        Results { workload: "conv2d", buffer: "result", got: &got }.close(reference(n), TOLERANCE)
    }))
}

fn reference(n: usize) -> Vec<f32> {
    let image = image(n);
    let mut result = vec![0.0; n * n];
    for row in 1..n - 1 {
        for column in 1..n - 1 {
            let at = |down: usize, right: usize| image[(row + down - 1) * n + column + right - 1];
            // The kernel's sum starts with its second term.
            let terms = [(0, 0, 0.2), (0, 2, -0.8), (1, 0, -0.3), (1, 1, 0.6), (1, 2, -0.9), (2, 0, 0.4)];
            let terms = terms.into_iter().chain([(2, 1, 0.7), (2, 2, 0.1)]);
            result[row * n + column] = terms
                .fold(at(0, 1) * 0.5_f32, |sum, (down, right, weight)| at(down, right).mul_add(weight, sum));
        }
    }
    result
}
