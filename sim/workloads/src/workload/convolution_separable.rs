//! `convolution_separable`: an image under a 17 x 17 mask that is the product of two rows, as the CUDA samples'.
use super::check::Results;
use super::helpers::{int, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::{Arg, Group, Launch, LaunchDims, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const RADIUS: usize = 8;
/// Columns of a block's tile in the first kernel, and threads per block.
const ROW_TILE: usize = 128;
/// Columns and rows of a block's tile in the second kernel, which has a thread per column and eight rows.
const COLUMN_TILE: [usize; 2] = [16, 48];
/// The reference rounds like the checked-in PTX. All terms are positive.
const TOLERANCE: f32 = 1e-5;

pub(super) const CONVOLUTION_SEPARABLE: Planned = Planned {
    name: "convolution_separable",
    summary: "separable convolution of an image along rows, then columns, in shared memory",
    papers: "CABA (CONS)",
    group: Group::Images,
    ptx: ("convolution_separable.ptx", include_str!("../../kernels/convolution_separable.ptx")),
    description: |size| {
        let [columns, rows] = shape(size);
        format!("{columns} x {rows} pixels, {}", mebibytes(4 * 3 * columns * rows))
    },
    plan,
};

/// Returns the columns and rows, which must be multiples of both tiles.
fn shape(size: Size) -> [usize; 2] {
    match size {
        Size::Tiny => [128, 48],
        Size::Small => [512, 240],
        Size::Study => [1024, 960],
        Size::Paper => [3072, 3072],
    }
}

/// Returns a binomial mask, close to a Gaussian curve. Its sum is 1.
fn mask() -> Vec<f32> {
    let mut row = vec![1.0_f32];
    for _ in 0..2 * RADIUS {
        row = std::iter::once(0.0)
            .chain(row.iter().copied())
            .zip(row.iter().copied().chain([0.0]))
            .map(|(left, right)| (left + right) / 2.0)
            .collect();
    }
    row
}

/// Returns a bright disk on a background that brightens from a third of the width outwards.
fn image([columns, rows]: [usize; 2]) -> Vec<f32> {
    let pixel = |at: usize| {
        let (x, y) =
            ((at % columns) as f32 - columns as f32 / 3.0, (at / columns) as f32 - rows as f32 / 2.0);
        20.0 + x.abs() * 0.25 + if x.hypot(y) < rows as f32 / 4.0 { 150.0 } else { 0.0 }
    };
    (0..columns * rows).map(pixel).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let shape = shape(size);
    let [columns, rows] = shape;
    let from = place_f32s(memory, "image", &image(shape))?;
    let weights = place_f32s(memory, "mask", &mask())?;
    let between = memory.alloc(4 * (columns * rows) as u64, "between")?;
    let result = memory.alloc(4 * (columns * rows) as u64, "result")?;
    let launch = |kernel: &str, blocks: [usize; 2], threads: [u32; 3], args| Launch {
        kernel: kernel.into(),
        dims: LaunchDims::new([blocks[0] as u32, blocks[1] as u32, 1], threads),
        args,
    };
    let pointers = |from, to| [from, weights, to].map(Arg::Ptr).into_iter();
    let launches = vec![
        launch(
            "convolution_rows",
            [columns / ROW_TILE, rows],
            [ROW_TILE as u32, 1, 1],
            pointers(from, between).chain([int(columns)]).collect(),
        ),
        launch(
            "convolution_columns",
            [columns / COLUMN_TILE[0], rows / COLUMN_TILE[1]],
            [COLUMN_TILE[0] as u32, 8, 1],
            pointers(between, result).chain([int(rows), int(columns)]).collect(),
        ),
    ];
    Ok(Plan::of(launches, move |memory| {
        let got = memory.read_f32s(result, columns * rows)?;
        let expected = reference(shape);
        Results { workload: "convolution_separable", buffer: "result", got: &got }.close(expected, TOLERANCE)
    }))
}

fn reference([columns, rows]: [usize; 2]) -> Vec<f32> {
    let (image, mask) = (image([columns, rows]), mask());
    // Pixels outside the image count as zero. The kernels add them too.
    let convolve = |from: &[f32], step: usize, place: fn(usize, usize) -> usize, length: usize| -> Vec<f32> {
        let sum = |at: usize| {
            let terms = mask.iter().enumerate();
            terms.fold(0.0_f32, |sum, (k, weight)| {
                let inside = (RADIUS..length + RADIUS).contains(&(place(at, columns) + k));
                let value = if inside { from[at + k * step - RADIUS * step] } else { 0.0 };
                value.mul_add(*weight, sum)
            })
        };
        (0..from.len()).map(sum).collect()
    };
    let between = convolve(&image, 1, |at, columns| at % columns, columns);
    convolve(&between, columns, |at, columns| at / columns, rows)
}
