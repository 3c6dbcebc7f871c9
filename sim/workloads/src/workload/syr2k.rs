//! `syr2k`: C = alpha (A B^T + B A^T) + beta C in single precision, as Polybench's SYR2K.
use super::check::Results;
use super::plan::{Plan, Planned};
use super::{Arg, Group, Size, WorkloadError, int, launch_grid, mebibytes, place_f32s};
use selvedge_ptx::memory::DeviceMemory;

/// Sums are fused in the kernel's order, so the PTX as checked in gives equal bits; all terms are positive.
const TOLERANCE: f32 = 1e-5;
const ALPHA: f32 = 12435.0;
const BETA: f32 = 4546.0;

/// The workload `syr2k`.
pub(super) const SYR2K: Planned = Planned {
    name: "syr2k",
    summary: "symmetric rank-2k update, one thread per element",
    papers: "Dai, chapters 2 and 3 (S2K)",
    group: Group::DenseAlgebra,
    ptx: ("syr2k.ptx", include_str!("../../kernels/syr2k.ptx")),
    description: |size| {
        let n = side(size);
        format!("{n} x {n} matrices, {}", mebibytes(4 * 3 * n * n))
    },
    plan,
};

/// Rows and columns; `paper` is Polybench's standard size.
fn side(size: Size) -> usize {
    match size {
        Size::Tiny => 48,
        Size::Small => 128,
        Size::Paper => 2048,
    }
}

/// Polybench's inputs: element (i, j) of A is i j / n, of B (i j + 1) / n, of C (i j + 2) / n.
fn input(n: usize) -> [Vec<f32>; 3] {
    [0.0, 1.0, 2.0].map(|offset| {
        let row = |i: usize| (0..n).map(move |j| (i as f32 * j as f32 + offset) / n as f32);
        (0..n).flat_map(row).collect()
    })
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let n = side(size);
    let [first, second, old] = input(n);
    let a = place_f32s(memory, "a", &first)?;
    let b = place_f32s(memory, "b", &second)?;
    let c = place_f32s(memory, "c", &old)?;
    let pointers = [a, b, c].map(Arg::Ptr);
    let args = pointers.into_iter().chain([Arg::F32(ALPHA), Arg::F32(BETA), int(n), int(n)]).collect();
    Ok(Plan::of(vec![launch_grid("syr2k", [n, n], [32, 8], args)], move |memory| {
        let got = memory.read_f32s(c, n * n)?;
        Results { workload: "syr2k", buffer: "c", got: &got }.close(reference(n), TOLERANCE)
    }))
}

fn reference(n: usize) -> Vec<f32> {
    let [a, b, mut c] = input(n);
    for i in 0..n {
        for j in 0..n {
            let at = |k: usize| (i * n + k, j * n + k);
            c[i * n + j] = (0..n).map(at).fold(c[i * n + j] * BETA, |sum, (row, column)| {
                let both = a[row].mul_add(b[column], b[row] * a[column]);
                both.mul_add(ALPHA, sum)
            });
        }
    }
    c
}
