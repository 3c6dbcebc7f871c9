//! `covariance`: covariance matrix of sampled variables, as the COVAR of PolyBench/GPU 1.0.
//!
//! In the third kernel, thread i computes the pairs (i, i) to (i, last), so warps finish one after the other. Each term of a
//! sum is stored, and the lanes of a warp store to separate lines. Rows and columns count from one.
use super::check::Results;
use super::helpers::{int, launch_grid, launch_row, mebibytes, of_each_sum, place_f32s};
use super::plan::{Plan, Planned};
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

/// The reference rounds like the checked-in PTX. If values cancel, only equal bits are close enough.
const TOLERANCE: f32 = 1e-5;

/// Divisor of the means, a constant of Polybench.
const DIVISOR: f32 = 3_214_212.01;

pub(super) const COVARIANCE: Planned = Planned {
    name: "covariance",
    summary: "means, centring and covariances of many variables",
    papers: "Dai, chapter 2 (CVR)",
    group: Group::DenseAlgebra,
    ptx: ("covariance.ptx", include_str!("../../kernels/covariance.ptx")),
    description: |size| {
        let shape = CovarianceSize::of(size);
        let CovarianceSize { rows, columns, part, .. } = shape;
        let pitch = columns + 1;
        let bytes = 4 * ((rows + 1) * pitch + pitch * pitch + pitch);
        let part = of_each_sum(part.map(|part| part.terms));
        format!("{rows} samples of {columns} variables{part}, {}", mebibytes(bytes))
    },
    plan,
};

#[derive(Clone, Copy)]
struct CovarianceSize {
    /// Samples.
    rows: usize,
    /// Variables.
    columns: usize,
    /// Threads per block of the kernels with one thread per variable.
    block: u32,
    /// The part to compute; `None` for all.
    part: Option<CovariancePart>,
}

#[derive(Clone, Copy)]
struct CovariancePart {
    /// Terms of each sum.
    terms: usize,
    /// Pairs of each variable.
    pairs: usize,
}

impl CovarianceSize {
    /// Returns the shape of a size. `paper` is Polybench's standard size. `study` computes only a part, with the same
    /// addresses and, for one thread per variable, the same grid.
    fn of(size: Size) -> Self {
        let part = CovariancePart { terms: 128, pairs: 8 };
        match size {
            Size::Tiny => Self { rows: 32, columns: 64, block: 64, part: None },
            Size::Small => Self { rows: 128, columns: 192, block: 64, part: None },
            Size::Study => Self { rows: 2048, columns: 2048, block: 256, part: Some(part) },
            Size::Paper => Self { rows: 2048, columns: 2048, block: 256, part: None },
        }
    }

    /// Returns the computed part.
    fn part(self) -> CovariancePart {
        self.part.unwrap_or(CovariancePart { terms: self.rows, pairs: self.columns })
    }

    /// Returns the number of centred samples. Polybench divides by the wrong side of a block of 32 x 8 threads, so its grid
    /// covers a quarter of the samples.
    fn centred(self) -> usize {
        self.part().terms / 4
    }

    /// Returns Polybench's samples: sample i of variable j is i j / columns. Row and column 0 are empty.
    fn samples(self) -> Vec<f32> {
        let row = |i: usize| (0..=self.columns).map(move |j| i as f32 * j as f32 / self.columns as f32);
        (0..=self.rows).flat_map(row).collect()
    }
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let shape = CovarianceSize::of(size);
    let CovarianceSize { columns, block, .. } = shape;
    let CovariancePart { terms, pairs } = shape.part();
    let pitch = columns + 1;
    let data = place_f32s(memory, "data", &shape.samples())?;
    let matrix = memory.alloc(4 * (pitch * pitch) as u64, "matrix")?;
    let mean = memory.alloc(4 * pitch as u64, "mean")?;
    let args = |pointers: [u64; 2], counts: &[usize]| {
        let counts = counts.iter().map(|count| int(*count));
        pointers.map(Arg::Ptr).into_iter().chain(counts).collect::<Vec<_>>()
    };
    let centred = shape.centred();
    let center = args([mean, data], &[centred, columns]);
    let launches = vec![
        launch_row("covariance_mean", columns, block, args([mean, data], &[terms, columns])),
        launch_grid("covariance_center", [columns, centred], [32, 8], center),
        launch_row("covariance_pairs", columns, block, args([matrix, data], &[terms, columns, pairs])),
    ];
    Ok(Plan::of(launches, move |memory| {
        let got = memory.read_f32s(matrix, pitch * pitch)?;
        Results { workload: "covariance", buffer: "matrix", got: &got }.close(reference(shape), TOLERANCE)
    }))
}

fn reference(shape: CovarianceSize) -> Vec<f32> {
    let CovariancePart { terms, pairs } = shape.part();
    let pitch = shape.columns + 1;
    let mut data = shape.samples();
    let mut mean = vec![0.0_f32; pitch];
    for row in data.chunks_exact(pitch).skip(1).take(terms) {
        mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += value);
    }
    mean.iter_mut().for_each(|mean| *mean /= DIVISOR);
    for row in data.chunks_exact_mut(pitch).skip(1).take(shape.centred()) {
        row.iter_mut().zip(&mean).for_each(|(value, mean)| *value -= mean);
    }
    // Row by row of the samples, so that each sum has the kernel's order.
    let mut matrix = vec![0.0_f32; pitch * pitch];
    for row in data.chunks_exact(pitch).skip(1).take(terms) {
        for (first, sums) in matrix.chunks_exact_mut(pitch).enumerate() {
            let factor = row[first];
            let chosen = sums.iter_mut().zip(row).skip(first).take(pairs);
            chosen.for_each(|(sum, second)| *sum = second.mul_add(factor, *sum));
        }
    }
    for first in 1..pitch {
        for second in (first..pitch).take(pairs) {
            matrix[second * pitch + first] = matrix[first * pitch + second];
        }
    }
    matrix
}
