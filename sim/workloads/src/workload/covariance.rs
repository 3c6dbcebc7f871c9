//! `covariance`: covariance matrix of sampled variables, as Polybench's COVAR.
//!
//! In the third kernel, thread i computes the pairs (i, i) to (i, last), so warps finish one after the other.
use super::check::Results;
use super::helpers::{int, launch_grid, launch_row, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

/// The reference rounds like the checked-in PTX. If values cancel, only equal bits are close enough.
const TOLERANCE: f32 = 1e-5;

pub(super) const COVARIANCE: Planned = Planned {
    name: "covariance",
    summary: "means, centring and covariances of many variables",
    papers: "Dai, chapter 2 (CVR)",
    group: Group::DenseAlgebra,
    ptx: ("covariance.ptx", include_str!("../../kernels/covariance.ptx")),
    description: |size| {
        let (rows, columns) = shape(size);
        let bytes = 4 * (rows * columns + columns * columns + columns);
        format!("{rows} samples of {columns} variables, {}", mebibytes(bytes))
    },
    plan,
};

/// Returns the number of samples and of variables; `paper` is Polybench's standard size.
fn shape(size: Size) -> (usize, usize) {
    match size {
        Size::Tiny => (32, 64),
        Size::Small => (128, 192),
        Size::Study => (64, 192),
        Size::Paper => (2048, 2048),
    }
}

/// Returns Polybench's samples: sample i of variable j is i j / rows.
fn samples(rows: usize, columns: usize) -> Vec<f32> {
    let row = |i: usize| (0..columns).map(move |j| i as f32 * j as f32 / rows as f32);
    (0..rows).flat_map(row).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (rows, columns) = shape(size);
    let data = place_f32s(memory, "data", &samples(rows, columns))?;
    let mean = memory.alloc(4 * columns as u64, "mean")?;
    let matrix = memory.alloc(4 * (columns * columns) as u64, "matrix")?;
    let args = |pointers: [u64; 2]| {
        pointers.map(Arg::Ptr).into_iter().chain([int(rows), int(columns)]).collect::<Vec<_>>()
    };
    let launches = vec![
        launch_row("covariance_mean", columns, 64, args([data, mean])),
        launch_grid("covariance_center", [columns, rows], [32, 8], args([mean, data])),
        launch_row("covariance_pairs", columns, 64, args([data, matrix])),
    ];
    Ok(Plan::of(launches, move |memory| {
        let got = memory.read_f32s(matrix, columns * columns)?;
        let expected = reference(rows, columns);
        Results { workload: "covariance", buffer: "matrix", got: &got }.close(expected, TOLERANCE)
    }))
}

fn reference(rows: usize, columns: usize) -> Vec<f32> {
    let mut data = samples(rows, columns);
    let mut mean = vec![0.0_f32; columns];
    for row in data.chunks_exact(columns) {
        mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += value);
    }
    mean.iter_mut().for_each(|mean| *mean /= rows as f32);
    for row in data.chunks_exact_mut(columns) {
        row.iter_mut().zip(&mean).for_each(|(value, mean)| *value -= mean);
    }
    // Row by row of the samples, so that each sum has the kernel's order.
    let mut matrix = vec![0.0_f32; columns * columns];
    for row in data.chunks_exact(columns) {
        for (sums, first) in matrix.chunks_exact_mut(columns).zip(row) {
            sums.iter_mut().zip(row).for_each(|(sum, second)| *sum = first.mul_add(*second, *sum));
        }
    }
    matrix
}
