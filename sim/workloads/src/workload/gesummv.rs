//! `gesummv`: y = alpha A x + beta B x in single precision, as Polybench's GESUMMV: two matrices stream at once.
use super::check::Results;
use super::plan::{Plan, Planned};
use super::{Arg, Group, Size, WorkloadError, int, launch_row, mebibytes, place_f32s};
use selvedge_ptx::memory::DeviceMemory;

/// Sums are fused in the kernel's order, so the PTX as checked in gives equal bits; all terms are positive.
const TOLERANCE: f32 = 1e-5;
const ALPHA: f32 = 43532.0;
const BETA: f32 = 12313.0;

/// The workload `gesummv`.
pub(super) const GESUMMV: Planned = Planned {
    name: "gesummv",
    summary: "scaled sum of two matrix-vector products, one thread per row",
    papers: "Dai, chapters 2 and 3 (GMV)",
    group: Group::DenseAlgebra,
    ptx: ("gesummv.ptx", include_str!("../../kernels/gesummv.ptx")),
    description: |size| {
        let (n, _) = shape(size);
        format!("two {n} x {n} matrices, {}", mebibytes(4 * (2 * n * n + 2 * n)))
    },
    plan,
};

/// Rows, which are as many as columns, and threads per block; `paper` is Polybench's standard size.
fn shape(size: Size) -> (usize, u32) {
    match size {
        Size::Tiny => (128, 64),
        Size::Small => (640, 64),
        Size::Paper => (4096, 256),
    }
}

/// Polybench's inputs: element (i, j) of both matrices is i j / n, element i of the vector is i / n.
fn input(n: usize) -> (Vec<f32>, Vec<f32>) {
    let row = |i: usize| (0..n).map(move |j| i as f32 * j as f32 / n as f32);
    ((0..n).flat_map(row).collect(), (0..n).map(|i| i as f32 / n as f32).collect())
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (n, block) = shape(size);
    let (matrix, vector) = input(n);
    let a = place_f32s(memory, "a", &matrix)?;
    let b = place_f32s(memory, "b", &matrix)?;
    let x = place_f32s(memory, "x", &vector)?;
    let y = memory.alloc(4 * n as u64, "y")?;
    let pointers = [a, b, x, y].map(Arg::Ptr);
    let args = pointers.into_iter().chain([Arg::F32(ALPHA), Arg::F32(BETA), int(n)]).collect();
    Ok(Plan::of(vec![launch_row("gesummv", n, block, args)], move |memory| {
        let got = memory.read_f32s(y, n)?;
        Results { workload: "gesummv", buffer: "y", got: &got }.close(reference(n), TOLERANCE)
    }))
}

fn reference(n: usize) -> Vec<f32> {
    let (matrix, x) = input(n);
    let rows = matrix.chunks_exact(n);
    rows.map(|row| {
        let product = row.iter().zip(&x).fold(0.0_f32, |sum, (a, x)| a.mul_add(*x, sum));
        product.mul_add(ALPHA, product * BETA)
    })
    .collect()
}
