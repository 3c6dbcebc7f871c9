//! `dct`: discrete cosine transform of an image in blocks of 8 x 8, the core of JPEG.
use super::check::Results;
use super::helpers::{int, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Launch, LaunchDims, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0xdc7;
const SIDE: usize = 8;
/// The reference rounds like the checked-in PTX. If values cancel, only equal bits are close enough.
const TOLERANCE: f32 = 1e-5;

pub(super) const DCT: Planned = Planned {
    name: "dct",
    summary: "discrete cosine transform in blocks of 8 x 8, the core of JPEG",
    papers: "CABA (JPEG)",
    group: Group::Images,
    ptx: ("dct.ptx", include_str!("../../kernels/dct.ptx")),
    description: |size| {
        let n = side(size);
        format!("{n} x {n} pixels, {}", mebibytes(4 * 2 * n * n))
    },
    plan,
};

/// Returns the number of rows and of columns, a multiple of a block's.
fn side(size: Size) -> usize {
    match size {
        Size::Tiny => 96,
        Size::Small => 320,
        Size::Study | Size::Paper => 1024,
    }
}

/// Returns integer tones from 0 to 255 that change slowly.
fn image(n: usize) -> Vec<f32> {
    let mut random = Random::new(SEED);
    let pixel = |at: usize| {
        let wave = ((at % n) as f32 * 0.05).sin() + ((at / n) as f32 * 0.08).cos();
        (128.0 + 50.0 * wave + random.below(8) as f32).floor()
    };
    (0..n * n).map(pixel).collect()
}

/// Returns the transform matrix. Row u has the cosines of frequency u, scaled so that the transform keeps lengths.
fn cosines() -> Vec<f32> {
    let cosine = |at: usize| {
        let (frequency, place) = ((at / SIDE) as f64, (at % SIDE) as f64);
        let scale = if at < SIDE { (1.0 / SIDE as f64).sqrt() } else { (2.0 / SIDE as f64).sqrt() };
        (scale * ((2.0 * place + 1.0) * frequency * std::f64::consts::PI / (2 * SIDE) as f64).cos()) as f32
    };
    (0..SIDE * SIDE).map(cosine).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let n = side(size);
    let pixels = place_f32s(memory, "image", &image(n))?;
    let basis = place_f32s(memory, "cosines", &cosines())?;
    let result = memory.alloc(4 * (n * n) as u64, "result")?;
    let blocks = (n / SIDE) as u32;
    let launch = Launch {
        kernel: "dct".into(),
        dims: LaunchDims::new([blocks, blocks, 1], [SIDE as u32, SIDE as u32, 1]),
        args: [pixels, basis, result].map(Arg::Ptr).into_iter().chain([int(n)]).collect(),
    };
    Ok(Plan::of(vec![launch], move |memory| {
        let got = memory.read_f32s(result, n * n)?;
        Results { workload: "dct", buffer: "result", got: &got }.close(reference(n), TOLERANCE)
    }))
}

fn reference(n: usize) -> Vec<f32> {
    let (image, basis) = (image(n), cosines());
    let mut result = vec![0.0; n * n];
    for corner in (0..n).step_by(SIDE).flat_map(|y| (0..n).step_by(SIDE).map(move |x| y * n + x)) {
        let pixel = |y: usize, x: usize| image[corner + y * n + x] - 128.0;
        let row = |y, u| (0..SIDE).fold(0.0_f32, |sum, k| pixel(y, k).mul_add(basis[u * SIDE + k], sum));
        for (v, u) in (0..SIDE).flat_map(|v| (0..SIDE).map(move |u| (v, u))) {
            result[corner + v * n + u] =
                (0..SIDE).fold(0.0, |sum, k| row(k, u).mul_add(basis[v * SIDE + k], sum));
        }
    }
    result
}
