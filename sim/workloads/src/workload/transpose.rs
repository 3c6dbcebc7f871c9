//! `transpose`: transposes a matrix by tiles through shared memory, as the CUDA samples' transpose.
use super::check::Results;
use super::helpers::{int, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::{Arg, Group, Launch, LaunchDims, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

/// Rows and columns of a tile, and of a block.
const TILE: usize = 16;

pub(super) const TRANSPOSE: Planned = Planned {
    name: "transpose",
    summary: "matrix transpose by tiles in shared memory",
    papers: "CABA (TRA)",
    group: Group::Primitives,
    ptx: ("transpose.ptx", include_str!("../../kernels/transpose.ptx")),
    description: |size| {
        let (rows, columns) = shape(size);
        format!("{rows} x {columns} matrix, {}", mebibytes(4 * 2 * rows * columns))
    },
    plan,
};

/// Returns the number of rows and of columns, multiples of a tile.
fn shape(size: Size) -> (usize, usize) {
    match size {
        Size::Tiny => (128, 112),
        Size::Small => (768, 1024),
        Size::Study | Size::Paper => (2048, 2048),
    }
}

/// Returns a matrix whose element k is k, so that all elements differ.
fn matrix(rows: usize, columns: usize) -> Vec<f32> {
    (0..rows * columns).map(|k| k as f32).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (rows, columns) = shape(size);
    let from = place_f32s(memory, "from", &matrix(rows, columns))?;
    let to = memory.alloc(4 * (rows * columns) as u64, "to")?;
    let blocks = [(columns / TILE) as u32, (rows / TILE) as u32, 1];
    let launch = Launch {
        kernel: "transpose".into(),
        dims: LaunchDims::new(blocks, [TILE as u32, TILE as u32, 1]),
        args: vec![Arg::Ptr(from), Arg::Ptr(to), int(rows), int(columns)],
    };
    Ok(Plan::of(vec![launch], move |memory| {
        let got = memory.read_f32s(to, rows * columns)?;
        let matrix = matrix(rows, columns);
        let expected =
            (0..columns).flat_map(|i| (0..rows).map(move |j| (i, j))).map(|(i, j)| matrix[j * columns + i]);
        Results { workload: "transpose", buffer: "to", got: &got }.equal(expected)
    }))
}
