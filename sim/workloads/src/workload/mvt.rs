//! `mvt`: x1 += A y1 and x2 += A^T y2 in single precision, as the MVT of PolyBench/GPU 1.0.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, of_each_sum, place_f32s};
use super::plan::{Plan, Planned};
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

/// Sums are fused in the kernels' order, so the checked-in PTX gives equal bits. All terms are positive.
const TOLERANCE: f32 = 1e-5;

pub(super) const MVT: Planned = Planned {
    name: "mvt",
    summary: "a matrix and its transpose times a vector each, one thread per row, then per column",
    papers: "Dai, chapters 2 and 3 (MVT)",
    group: Group::DenseAlgebra,
    ptx: ("mvt.ptx", include_str!("../../kernels/mvt.ptx")),
    description: |size| {
        let (n, _, terms) = shape(size);
        format!("{n} x {n} matrix{}, {}", of_each_sum(terms), mebibytes(4 * (n * n + 4 * n)))
    },
    plan,
};

/// Returns the number of rows (and of columns), threads per block, and terms of each sum to compute (`None` for all).
/// `paper` is Polybench's standard size. `study` computes only a part, with the same grid and addresses.
fn shape(size: Size) -> (usize, u32, Option<usize>) {
    match size {
        Size::Tiny => (128, 64, None),
        Size::Small => (640, 64, None),
        Size::Study => (4096, 256, Some(64)),
        Size::Paper => (4096, 256, None),
    }
}

/// Polybench's inputs: element (i, j) of A is i j / n; x1, x2, y1, y2 are (i + k) / n for k = 0, 1, 3, 4.
struct MvtInput {
    a: Vec<f32>,
    x: [Vec<f32>; 2],
    y: [Vec<f32>; 2],
}

impl MvtInput {
    fn new(n: usize) -> Self {
        let vector = |k: usize| (0..n).map(|i| (i + k) as f32 / n as f32).collect::<Vec<_>>();
        let row = |i: usize| (0..n).map(move |j| i as f32 * j as f32 / n as f32);
        MvtInput { a: (0..n).flat_map(row).collect(), x: [vector(0), vector(1)], y: [vector(3), vector(4)] }
    }
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (n, block, terms) = shape(size);
    let input = MvtInput::new(n);
    let a = place_f32s(memory, "a", &input.a)?;
    let y1 = place_f32s(memory, "y1", &input.y[0])?;
    let y2 = place_f32s(memory, "y2", &input.y[1])?;
    let x1 = place_f32s(memory, "x1", &input.x[0])?;
    let x2 = place_f32s(memory, "x2", &input.x[1])?;
    let terms = terms.unwrap_or(n);
    let launch = |kernel, x, y| {
        let pointers = [a, x, y].map(Arg::Ptr).into_iter();
        launch_row(kernel, n, block, pointers.chain([int(n), int(terms)]).collect())
    };
    let launches = vec![launch("mvt_rows", x1, y1), launch("mvt_columns", x2, y2)];
    Ok(Plan::of(launches, move |memory| {
        let [first, second] = reference(n, terms);
        let got = memory.read_f32s(x1, n)?;
        Results { workload: "mvt", buffer: "x1", got: &got }.close(first, TOLERANCE)?;
        let got = memory.read_f32s(x2, n)?;
        Results { workload: "mvt", buffer: "x2", got: &got }.close(second, TOLERANCE)
    }))
}

/// Returns both results, with `terms` terms per sum.
fn reference(n: usize, terms: usize) -> [Vec<f32>; 2] {
    let MvtInput { a, x: [mut x1, mut x2], y: [y1, y2] } = MvtInput::new(n);
    for (row, x1) in a.chunks_exact(n).zip(&mut x1) {
        *x1 = row.iter().zip(&y1).take(terms).fold(*x1, |sum, (a, y)| a.mul_add(*y, sum));
    }
    for (row, y2) in a.chunks_exact(n).zip(y2).take(terms) {
        for (x2, a) in x2.iter_mut().zip(row) {
            *x2 = a.mul_add(y2, *x2);
        }
    }
    [x1, x2]
}
