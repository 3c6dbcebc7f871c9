//! `bicg`: s = A^T r and q = A p in single precision, as the BICG of PolyBench/GPU 1.0.
//!
//! The first kernel reads whole lines. In the second, each lane of a warp reads a separate row (see `atax`).
use super::atax::multiples_of_pi;
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, of_each_sum, place_f32s};
use super::plan::{Plan, Planned};
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

/// Sums are fused in the kernels' order, so the checked-in PTX gives equal bits. All terms are positive.
const TOLERANCE: f32 = 1e-5;

pub(super) const BICG: Planned = Planned {
    name: "bicg",
    summary: "two matrix-vector products, one thread per column, then per row",
    papers: "Dai, chapters 2 and 3 (BIC)",
    group: Group::DenseAlgebra,
    ptx: ("bicg.ptx", include_str!("../../kernels/bicg.ptx")),
    description: |size| {
        let BicgSize { rows, columns, terms, .. } = shape(size);
        let matrix = format!("{rows} x {columns} matrix{}", of_each_sum(terms));
        format!("{matrix}, {}", mebibytes(4 * (rows * columns + 2 * rows + 2 * columns)))
    },
    plan,
};

#[derive(Clone, Copy)]
struct BicgSize {
    rows: usize,
    columns: usize,
    /// Threads per block.
    block: u32,
    /// Number of terms of each sum to compute; `None` for all.
    terms: Option<usize>,
}

/// Returns the shape of a size. `paper` is Polybench's standard size. `study` computes only a part, with the same grid and
/// addresses.
fn shape(size: Size) -> BicgSize {
    match size {
        Size::Tiny => BicgSize { rows: 192, columns: 96, block: 64, terms: None },
        Size::Small => BicgSize { rows: 1920, columns: 256, block: 128, terms: None },
        Size::Study => BicgSize { rows: 4096, columns: 4096, block: 256, terms: Some(64) },
        Size::Paper => BicgSize { rows: 4096, columns: 4096, block: 256, terms: None },
    }
}

/// Returns the matrix that Polybench fills in: element (i, j) is i j / rows.
fn matrix(rows: usize, columns: usize) -> Vec<f32> {
    let row = |i| (0..columns).map(move |j| i as f32 * j as f32 / rows as f32);
    (0..rows).flat_map(row).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let shape = shape(size);
    let BicgSize { rows, columns, block, terms } = shape;
    let a = place_f32s(memory, "a", &matrix(rows, columns))?;
    let r = place_f32s(memory, "r", &multiples_of_pi(rows))?;
    let p = place_f32s(memory, "p", &multiples_of_pi(columns))?;
    let s = memory.alloc(4 * columns as u64, "s")?;
    let q = memory.alloc(4 * rows as u64, "q")?;
    let launch = |kernel, threads, vectors: [u64; 2], counts: &[usize]| {
        let pointers = [a].into_iter().chain(vectors).map(Arg::Ptr);
        let counts = counts.iter().map(|count| int(*count));
        launch_row(kernel, threads, block, pointers.chain(counts).collect())
    };
    let launches = vec![
        launch("bicg_columns", columns, [r, s], &[terms.unwrap_or(rows), columns]),
        launch("bicg_rows", rows, [p, q], &[rows, terms.unwrap_or(columns), columns]),
    ];
    Ok(Plan::of(launches, move |memory| {
        let (by_column, by_row) = reference(shape);
        let got = memory.read_f32s(s, columns)?;
        Results { workload: "bicg", buffer: "s", got: &got }.close(by_column, TOLERANCE)?;
        let got = memory.read_f32s(q, rows)?;
        Results { workload: "bicg", buffer: "q", got: &got }.close(by_row, TOLERANCE)
    }))
}

/// Computes A^T r and A p.
fn reference(BicgSize { rows, columns, terms, .. }: BicgSize) -> (Vec<f32>, Vec<f32>) {
    let most = terms.unwrap_or(usize::MAX);
    let (matrix, r, p) = (matrix(rows, columns), multiples_of_pi(rows), multiples_of_pi(columns));
    let mut s = vec![0.0_f32; columns];
    let mut q = Vec::with_capacity(rows);
    for (number, (row, r)) in matrix.chunks_exact(columns).zip(r).enumerate() {
        if number < most {
            for (s, a) in s.iter_mut().zip(row) {
                *s = r.mul_add(*a, *s);
            }
        }
        q.push(row.iter().zip(&p).take(most).fold(0.0_f32, |sum, (a, p)| a.mul_add(*p, sum)));
    }
    (s, q)
}
