//! `syrk`: C = alpha A A^T + beta C in single precision, as Polybench's SYRK.
//!
//! A warp reads one element of its own row and walks down 32 rows at once: every lane needs a line of its own.
use super::check::Results;
use super::plan::{Plan, Planned};
use super::{Arg, Group, Size, WorkloadError, int, launch_grid, mebibytes, place_f32s};
use selvedge_ptx::memory::DeviceMemory;

/// Sums are fused in the kernel's order, so the PTX as checked in gives equal bits; all terms are positive.
const TOLERANCE: f32 = 1e-5;
const ALPHA: f32 = 12435.0;
const BETA: f32 = 4546.0;

/// The workload `syrk`.
pub(super) const SYRK: Planned = Planned {
    name: "syrk",
    summary: "symmetric rank-k update, one thread per element",
    papers: "Dai, chapter 3 (SRK)",
    group: Group::DenseAlgebra,
    ptx: ("syrk.ptx", include_str!("../../kernels/syrk.ptx")),
    description: |size| {
        let n = side(size);
        format!("{n} x {n} matrices, {}", mebibytes(4 * 2 * n * n))
    },
    plan,
};

/// Rows and columns; `paper` is Polybench's standard size.
fn side(size: Size) -> usize {
    match size {
        Size::Tiny => 64,
        Size::Small => 160,
        Size::Paper => 1024,
    }
}

/// Polybench's inputs: element (i, j) of A is i j / n, of C (i j + 2) / n.
fn input(n: usize) -> (Vec<f32>, Vec<f32>) {
    let matrix = |offset: f32| {
        let row = |i: usize| (0..n).map(move |j| (i as f32 * j as f32 + offset) / n as f32);
        (0..n).flat_map(row).collect::<Vec<_>>()
    };
    (matrix(0.0), matrix(2.0))
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let n = side(size);
    let (matrix, old) = input(n);
    let a = place_f32s(memory, "a", &matrix)?;
    let c = place_f32s(memory, "c", &old)?;
    let args = vec![Arg::Ptr(a), Arg::Ptr(c), Arg::F32(ALPHA), Arg::F32(BETA), int(n), int(n)];
    Ok(Plan::of(vec![launch_grid("syrk", [n, n], [32, 8], args)], move |memory| {
        let got = memory.read_f32s(c, n * n)?;
        Results { workload: "syrk", buffer: "c", got: &got }.close(reference(n), TOLERANCE)
    }))
}

fn reference(n: usize) -> Vec<f32> {
    let (a, mut c) = input(n);
    for (i, row) in c.chunks_exact_mut(n).enumerate() {
        for (c, column) in row.iter_mut().zip(a.chunks_exact(n)) {
            let products = a[i * n..][..n].iter().zip(column);
            *c = products.fold(*c * BETA, |sum, (left, right)| (left * ALPHA).mul_add(*right, sum));
        }
    }
    c
}
