//! `atax`: y = A^T (A x) in single precision, as the ATAX of PolyBench/GPU 1.0. Each term of a sum is stored.
//!
//! The first kernel has one thread per row. The lanes of a warp read 32 different lines at once, and return to each
//! of them 32 times. Its speed therefore depends on whether the lines are still in the L1 (Dai, section 2.4). The
//! second kernel has one thread per column and reads whole lines.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, of_each_sum, place_f32s};
use super::plan::{Plan, Planned};
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

/// The reference fuses multiply and add and sums in the kernel's order, so the checked-in PTX gives equal bits.
/// The tolerance is for kernels compiled with other settings. All terms are positive, so rounding errors stay
/// relative. Without fusion each term adds at most half a unit in the last place (6e-8), and most errors cancel.
const TOLERANCE: f32 = 1e-5;

pub(super) const ATAX: Planned = Planned {
    name: "atax",
    summary: "matrix-transpose times matrix-vector product, one thread per row, then per column",
    papers: "Dai, chapters 2 and 3 (ATX) and 4 (ax)",
    group: Group::DenseAlgebra,
    ptx: ("atax.ptx", include_str!("../../kernels/atax.ptx")),
    description: |size| {
        let AtaxSize { rows, columns, terms, .. } = AtaxSize::of(size);
        let matrix = format!("{rows} x {columns} matrix{}", of_each_sum(terms));
        format!("{matrix}, {}", mebibytes(4 * (rows * columns + rows + 2 * columns)))
    },
    plan,
};

#[derive(Clone, Copy)]
struct AtaxSize {
    rows: usize,
    columns: usize,
    threads_per_block: u32,
    /// Number of terms of each sum to compute; `None` for all.
    terms: Option<usize>,
}

impl AtaxSize {
    /// Returns the shape of a size. `paper` is Polybench's standard size. `small` gives each of 15 SMs one block in
    /// the first kernel. Its 128 open lines fill a 16 KB cache. `study` is a part of `paper` with the same grid and
    /// addresses.
    fn of(size: Size) -> Self {
        match size {
            Size::Tiny => Self { rows: 192, columns: 96, threads_per_block: 64, terms: None },
            Size::Small => Self { rows: 1920, columns: 256, threads_per_block: 128, terms: None },
            Size::Study => Self { rows: 4096, columns: 4096, threads_per_block: 256, terms: Some(64) },
            Size::Paper => Self { rows: 4096, columns: 4096, threads_per_block: 256, terms: None },
        }
    }

    /// Returns the matrix that Polybench fills in, row by row: element (i, j) is i j / rows.
    fn matrix(self) -> Vec<f32> {
        let row = |i| (0..self.columns).map(move |j| i as f32 * j as f32 / self.rows as f32);
        (0..self.rows).flat_map(row).collect()
    }

    /// Returns the vector that Polybench fills in.
    fn vector(self) -> Vec<f32> {
        multiples_of_pi(self.columns)
    }

    /// Computes A x and A^T (A x) on the CPU, each sum in the kernels' order.
    fn reference(self) -> (Vec<f32>, Vec<f32>) {
        let (matrix, x) = (self.matrix(), self.vector());
        let rows = || matrix.chunks_exact(self.columns);
        let most = self.terms.unwrap_or(usize::MAX);
        let product =
            |row: &[f32]| row.iter().zip(&x).take(most).fold(0.0_f32, |sum, (a, x)| a.mul_add(*x, sum));
        let products: Vec<f32> = rows().map(product).collect();
        let mut y = vec![0.0_f32; self.columns];
        for (row, product) in rows().zip(&products).take(most) {
            for (y, a) in y.iter_mut().zip(row) {
                *y = a.mul_add(*product, *y);
            }
        }
        (products, y)
    }
}

/// Returns a vector of Polybench: element i is i pi.
pub(super) fn multiples_of_pi(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i as f64 * std::f64::consts::PI) as f32).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let shape = AtaxSize::of(size);
    let AtaxSize { rows, columns, threads_per_block, terms } = shape;
    let matrix = place_f32s(memory, "a", &shape.matrix())?;
    let x = place_f32s(memory, "x", &shape.vector())?;
    let product = memory.alloc(4 * rows as u64, "product")?;
    let y = memory.alloc(4 * columns as u64, "y")?;
    let launch = |kernel, threads, vectors: [u64; 2], counts: &[usize]| {
        let pointers = [matrix].into_iter().chain(vectors).map(Arg::Ptr);
        let counts = counts.iter().map(|count| int(*count));
        launch_row(kernel, threads, threads_per_block, pointers.chain(counts).collect())
    };
    let launches = vec![
        launch("atax_rows", rows, [x, product], &[rows, terms.unwrap_or(columns), columns]),
        launch("atax_columns", columns, [product, y], &[terms.unwrap_or(rows), columns]),
    ];
    Ok(Plan::of(launches, move |memory| {
        let (products, sums) = shape.reference();
        let got = memory.read_f32s(product, rows)?;
        Results { workload: "atax", buffer: "product", got: &got }.close(products, TOLERANCE)?;
        let got = memory.read_f32s(y, columns)?;
        Results { workload: "atax", buffer: "y", got: &got }.close(sums, TOLERANCE)
    }))
}
