//! `bicg`: s = A^T r and q = A p in single precision, as Polybench's BICG.
//!
//! The first kernel reads whole lines; in the second each lane of a warp walks along a row of its own (see `atax`).
use super::check::Results;
use super::plan::{Plan, Planned};
use super::{Arg, Group, Size, WorkloadError, int, launch_row, mebibytes, place_f32s};
use selvedge_ptx::memory::DeviceMemory;

/// Sums are fused in the kernels' order, so the PTX as checked in gives equal bits; all terms are positive.
const TOLERANCE: f32 = 1e-5;

/// The workload `bicg`.
pub(super) const BICG: Planned = Planned {
    name: "bicg",
    summary: "two matrix-vector products, one thread per column, then per row",
    papers: "Dai, chapters 2 and 3 (BIC)",
    group: Group::DenseAlgebra,
    ptx: ("bicg.ptx", include_str!("../../kernels/bicg.ptx")),
    description: |size| {
        let (rows, columns, _) = shape(size);
        format!("{rows} x {columns} matrix, {}", mebibytes(4 * (rows * columns + 2 * rows + 2 * columns)))
    },
    plan,
};

/// Rows, columns and threads per block; `paper` is Polybench's standard size.
fn shape(size: Size) -> (usize, usize, u32) {
    match size {
        Size::Tiny => (192, 96, 64),
        Size::Small => (1920, 256, 128),
        Size::Paper => (4096, 4096, 256),
    }
}

/// The matrix that Polybench fills in: element (i, j) is i (j + 1) / rows.
fn matrix(rows: usize, columns: usize) -> Vec<f32> {
    let row = |i| (0..columns).map(move |j| i as f32 * (j + 1) as f32 / rows as f32);
    (0..rows).flat_map(row).collect()
}

/// Polybench's vectors: element i is i pi.
fn multiples_of_pi(count: usize) -> Vec<f32> {
    (0..count).map(|i| i as f32 * std::f32::consts::PI).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (rows, columns, block) = shape(size);
    let a = place_f32s(memory, "a", &matrix(rows, columns))?;
    let r = place_f32s(memory, "r", &multiples_of_pi(rows))?;
    let p = place_f32s(memory, "p", &multiples_of_pi(columns))?;
    let s = memory.alloc(4 * columns as u64, "s")?;
    let q = memory.alloc(4 * rows as u64, "q")?;
    let args =
        |factor, result| vec![Arg::Ptr(a), Arg::Ptr(factor), Arg::Ptr(result), int(rows), int(columns)];
    let launches = vec![
        launch_row("bicg_columns", columns, block, args(r, s)),
        launch_row("bicg_rows", rows, block, args(p, q)),
    ];
    Ok(Plan::of(launches, move |memory| {
        let (by_column, by_row) = reference(rows, columns);
        let got = memory.read_f32s(s, columns)?;
        Results { workload: "bicg", buffer: "s", got: &got }.close(by_column, TOLERANCE)?;
        let got = memory.read_f32s(q, rows)?;
        Results { workload: "bicg", buffer: "q", got: &got }.close(by_row, TOLERANCE)
    }))
}

/// A^T r and A p.
fn reference(rows: usize, columns: usize) -> (Vec<f32>, Vec<f32>) {
    let (matrix, r, p) = (matrix(rows, columns), multiples_of_pi(rows), multiples_of_pi(columns));
    let mut s = vec![0.0_f32; columns];
    let mut q = Vec::with_capacity(rows);
    for (row, r) in matrix.chunks_exact(columns).zip(r) {
        for (s, a) in s.iter_mut().zip(row) {
            *s = r.mul_add(*a, *s);
        }
        q.push(row.iter().zip(&p).fold(0.0_f32, |sum, (a, p)| a.mul_add(*p, sum)));
    }
    (s, q)
}
