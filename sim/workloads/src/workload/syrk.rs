//! `syrk`: C = alpha A A^T + beta C in single precision, as the SYRK of PolyBench/GPU 1.0.
//!
//! A warp reads one element of its row and, in the same load, elements of 32 other rows. Every lane therefore needs a
//! separate line.
use super::check::Results;
use super::helpers::{int, launch_grid, mebibytes, of_each_sum, place_f32s};
use super::plan::{Plan, Planned};
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

/// Sums are fused in the kernel's order, so the checked-in PTX gives equal bits. All terms are positive.
const TOLERANCE: f32 = 1e-5;
const ALPHA: f32 = 12435.0;
const BETA: f32 = 4546.0;

pub(super) const SYRK: Planned = Planned {
    name: "syrk",
    summary: "symmetric rank-k update, one thread per element",
    papers: "Dai, chapter 3 (SRK)",
    group: Group::DenseAlgebra,
    ptx: ("syrk.ptx", include_str!("../../kernels/syrk.ptx")),
    description: |size| {
        let (n, part) = shape(size);
        let terms = part.map(|part| part.terms);
        format!("{n} x {n} matrices{}, {}", of_each_sum(terms), mebibytes(4 * 2 * n * n))
    },
    plan,
};

/// The computed part of an update.
#[derive(Clone, Copy)]
pub(super) struct UpdatePart {
    /// Rows of C, from the first on.
    pub rows: usize,
    /// Terms of each sum.
    pub terms: usize,
}

/// Returns the number of rows (and of columns), and the part to compute (`None` for all). `paper` is Polybench's standard
/// size. `study` computes only a part, with the same addresses.
fn shape(size: Size) -> (usize, Option<UpdatePart>) {
    match size {
        Size::Tiny => (64, None),
        Size::Small => (160, None),
        Size::Study => (1024, Some(UpdatePart { rows: 24, terms: 32 })),
        Size::Paper => (1024, None),
    }
}

/// Returns Polybench's inputs: element (i, j) of A is i j / n, of C (i j + 2) / n.
fn input(n: usize) -> (Vec<f32>, Vec<f32>) {
    let matrix = |offset: f32| {
        let row = |i: usize| (0..n).map(move |j| (i as f32 * j as f32 + offset) / n as f32);
        (0..n).flat_map(row).collect::<Vec<_>>()
    };
    (matrix(0.0), matrix(2.0))
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (n, part) = shape(size);
    let (matrix, old) = input(n);
    let a = place_f32s(memory, "a", &matrix)?;
    let c = place_f32s(memory, "c", &old)?;
    let UpdatePart { rows, terms } = part.unwrap_or(UpdatePart { rows: n, terms: n });
    let scalars = [Arg::F32(ALPHA), Arg::F32(BETA)];
    let counts = [n, n, rows, terms].map(int);
    let args = [a, c].map(Arg::Ptr).into_iter().chain(scalars).chain(counts).collect();
    Ok(Plan::of(vec![launch_grid("syrk", [n, rows], [32, 8], args)], move |memory| {
        let got = memory.read_f32s(c, n * n)?;
        Results { workload: "syrk", buffer: "c", got: &got }.close(reference(n, rows, terms), TOLERANCE)
    }))
}

/// Returns C after the update of its first `rows` rows with the first `terms` terms of each sum.
fn reference(n: usize, rows: usize, terms: usize) -> Vec<f32> {
    let (a, mut c) = input(n);
    for (i, row) in c.chunks_exact_mut(n).enumerate().take(rows) {
        for (c, column) in row.iter_mut().zip(a.chunks_exact(n)) {
            let products = a[i * n..][..terms].iter().zip(column);
            *c = products.fold(*c * BETA, |sum, (left, right)| (left * ALPHA).mul_add(*right, sum));
        }
    }
    c
}
