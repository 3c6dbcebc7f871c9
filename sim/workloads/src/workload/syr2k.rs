//! `syr2k`: C = alpha (A B^T + B A^T) + beta C in single precision, as the SYR2K of PolyBench/GPU 1.0.
use super::check::Results;
use super::helpers::{int, launch_grid, mebibytes, of_each_sum, place_f32s};
use super::plan::{Plan, Planned};
use super::syrk::UpdatePart;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

/// Sums are fused in the kernel's order, so the checked-in PTX gives equal bits. All terms are positive.
const TOLERANCE: f32 = 1e-5;
const ALPHA: f32 = 12435.0;
const BETA: f32 = 4546.0;

pub(super) const SYR2K: Planned = Planned {
    name: "syr2k",
    summary: "symmetric rank-2k update, one thread per element",
    papers: "Dai, chapters 2 and 3 (S2K)",
    group: Group::DenseAlgebra,
    ptx: ("syr2k.ptx", include_str!("../../kernels/syr2k.ptx")),
    description: |size| {
        let (n, part) = shape(size);
        let terms = part.map(|part| part.terms);
        format!("{n} x {n} matrices{}, {}", of_each_sum(terms), mebibytes(4 * 3 * n * n))
    },
    plan,
};

/// Returns the number of rows (and of columns), and the part to compute (`None` for all). `paper` is Polybench's standard
/// size. `study` computes only a part, with the same addresses.
fn shape(size: Size) -> (usize, Option<UpdatePart>) {
    match size {
        Size::Tiny => (48, None),
        Size::Small => (128, None),
        Size::Study => (2048, Some(UpdatePart { rows: 8, terms: 24 })),
        Size::Paper => (2048, None),
    }
}

/// Returns Polybench's inputs: element (i, j) of A is i j / n, of B (i j + 1) / n, of C (i j + 2) / n.
fn input(n: usize) -> [Vec<f32>; 3] {
    [0.0, 1.0, 2.0].map(|offset| {
        let row = |i: usize| (0..n).map(move |j| (i as f32 * j as f32 + offset) / n as f32);
        (0..n).flat_map(row).collect()
    })
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (n, part) = shape(size);
    let [first, second, old] = input(n);
    let a = place_f32s(memory, "a", &first)?;
    let b = place_f32s(memory, "b", &second)?;
    let c = place_f32s(memory, "c", &old)?;
    let UpdatePart { rows, terms } = part.unwrap_or(UpdatePart { rows: n, terms: n });
    let scalars = [Arg::F32(ALPHA), Arg::F32(BETA)];
    let counts = [n, n, rows, terms].map(int);
    let args = [a, b, c].map(Arg::Ptr).into_iter().chain(scalars).chain(counts).collect();
    Ok(Plan::of(vec![launch_grid("syr2k", [n, rows], [32, 8], args)], move |memory| {
        let got = memory.read_f32s(c, n * n)?;
        Results { workload: "syr2k", buffer: "c", got: &got }.close(reference(n, rows, terms), TOLERANCE)
    }))
}

/// Returns C after the update of its first `rows` rows with the first `terms` terms of each sum.
fn reference(n: usize, rows: usize, terms: usize) -> Vec<f32> {
    let [a, b, mut c] = input(n);
    for i in 0..rows {
        for j in 0..n {
            let at = |k: usize| (i * n + k, j * n + k);
            c[i * n + j] = (0..terms).map(at).fold(c[i * n + j] * BETA, |sum, (row, column)| {
                sum + (a[row] * ALPHA).mul_add(b[column], b[row] * ALPHA * a[column])
            });
        }
    }
    c
}
