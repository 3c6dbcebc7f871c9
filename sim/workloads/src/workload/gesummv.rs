//! `gesummv`: y = alpha A x + beta B x in single precision, as the GESUMMV of PolyBench/GPU 1.0.
//!
//! Two matrices stream concurrently. The program leaves B empty; here B has the values of A, as in later versions.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, of_each_sum, place_f32s};
use super::plan::{Plan, Planned};
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

/// Sums are fused in the kernel's order, so the checked-in PTX gives equal bits. All terms are positive.
const TOLERANCE: f32 = 1e-5;
const ALPHA: f32 = 43532.0;
const BETA: f32 = 12313.0;

pub(super) const GESUMMV: Planned = Planned {
    name: "gesummv",
    summary: "scaled sum of two matrix-vector products, one thread per row",
    papers: "Dai, chapters 2 and 3 (GMV)",
    group: Group::DenseAlgebra,
    ptx: ("gesummv.ptx", include_str!("../../kernels/gesummv.ptx")),
    description: |size| {
        let (n, _, terms) = shape(size);
        format!("two {n} x {n} matrices{}, {}", of_each_sum(terms), mebibytes(4 * (2 * n * n + 3 * n)))
    },
    plan,
};

/// Returns the number of rows (and of columns), threads per block, and terms of each sum to compute (`None` for all).
/// `paper` is Polybench's standard size. `study` computes only a part, with the same grid and addresses.
fn shape(size: Size) -> (usize, u32, Option<usize>) {
    match size {
        Size::Tiny => (128, 64, None),
        Size::Small => (640, 64, None),
        Size::Study => (4096, 256, Some(56)),
        Size::Paper => (4096, 256, None),
    }
}

/// Returns Polybench's inputs: element (i, j) of both matrices is i j / n, element i of the vector is i / n.
fn input(n: usize) -> (Vec<f32>, Vec<f32>) {
    let row = |i: usize| (0..n).map(move |j| i as f32 * j as f32 / n as f32);
    ((0..n).flat_map(row).collect(), (0..n).map(|i| i as f32 / n as f32).collect())
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (n, block, terms) = shape(size);
    let (matrix, vector) = input(n);
    let a = place_f32s(memory, "a", &matrix)?;
    let b = place_f32s(memory, "b", &matrix)?;
    let x = place_f32s(memory, "x", &vector)?;
    let y = memory.alloc(4 * n as u64, "y")?;
    let from_a = memory.alloc(4 * n as u64, "from_a")?;
    let terms = terms.unwrap_or(n);
    let pointers = [a, b, x, y, from_a].map(Arg::Ptr);
    let scalars = [Arg::F32(ALPHA), Arg::F32(BETA), int(n), int(terms)];
    let args = pointers.into_iter().chain(scalars).collect();
    Ok(Plan::of(vec![launch_row("gesummv", n, block, args)], move |memory| {
        let got = memory.read_f32s(y, n)?;
        Results { workload: "gesummv", buffer: "y", got: &got }.close(reference(n, terms), TOLERANCE)
    }))
}

/// Returns the result, with `terms` terms per sum.
fn reference(n: usize, terms: usize) -> Vec<f32> {
    let (matrix, x) = input(n);
    let rows = matrix.chunks_exact(n);
    rows.map(|row| {
        let product = row.iter().zip(&x).take(terms).fold(0.0_f32, |sum, (a, x)| a.mul_add(*x, sum));
        product.mul_add(ALPHA, product * BETA)
    })
    .collect()
}
