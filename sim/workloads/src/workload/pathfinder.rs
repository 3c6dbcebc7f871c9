//! `pathfinder`: cheapest path down a grid, row by row through shared memory, as Rodinia's pathfinder.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_words};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

/// Threads per block.
const BLOCK: usize = 256;
/// Rows per launch, and columns by which blocks overlap on each side.
const STEPS: usize = 20;
const SEED: u64 = 7;

pub(super) const PATHFINDER: Planned = Planned {
    name: "pathfinder",
    summary: "cheapest path down a grid by dynamic programming in shared memory",
    papers: "LATTE-CC (PTH), Dai, chapter 4 (pf)",
    group: Group::DynamicProgramming,
    ptx: ("pathfinder.ptx", include_str!("../../kernels/pathfinder.ptx")),
    description: |size| {
        let (columns, rows) = shape(size);
        format!("{rows} rows of {columns}, {}", mebibytes(4 * (rows + 2) * columns))
    },
    plan,
};

/// Returns the number of columns and of rows; `paper` is Rodinia's size.
fn shape(size: Size) -> (usize, usize) {
    match size {
        Size::Tiny => (1000, 31),
        Size::Small => (8000, 101),
        Size::Study | Size::Paper => (100_000, 100),
    }
}

/// Returns the cost of every cell, 0 to 9, as in Rodinia.
fn wall(columns: usize, rows: usize) -> Vec<u32> {
    let mut random = Random::new(SEED);
    (0..columns * rows).map(|_| random.below(10)).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (columns, rows) = shape(size);
    let costs = wall(columns, rows);
    let cells = place_words(memory, "wall", &costs)?;
    let first = place_words(memory, "costs", &costs[..columns])?;
    let second = memory.alloc(4 * columns as u64, "costs of the next rows")?;
    let blocks = columns.div_ceil(BLOCK - 2 * STEPS);
    let (mut launches, mut from, mut to) = (Vec::new(), first, second);
    for row in (1..rows).step_by(STEPS) {
        let pointers = [cells, from, to].map(Arg::Ptr);
        let counts = [row, STEPS.min(rows - row), columns, STEPS].map(int);
        let args = pointers.into_iter().chain(counts).collect();
        launches.push(launch_row("pathfinder", blocks * BLOCK, BLOCK as u32, args));
        (from, to) = (to, from);
    }
    Ok(Plan::of(launches, move |memory| {
        let got = memory.read_u32s(from, columns)?;
        Results { workload: "pathfinder", buffer: "costs", got: &got }.equal(reference(columns, rows))
    }))
}

fn reference(columns: usize, rows: usize) -> Vec<u32> {
    let wall = wall(columns, rows);
    let mut wall = wall.chunks_exact(columns);
    let first = wall.next().expect("there is a row").to_vec();
    wall.fold(first, |above, row| {
        let near = |column: usize| above[column.saturating_sub(1)..(column + 2).min(columns)].iter().min();
        let least = (0..columns).filter_map(near);
        least.zip(row).map(|(least, cost)| least + cost).collect()
    })
}
