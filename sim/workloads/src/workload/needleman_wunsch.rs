//! `needleman_wunsch`: global alignment of two sequences, one anti-diagonal of tiles per launch, as Rodinia's nw.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_words};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

/// Rows and columns of a tile. A block has a thread per column.
const TILE: usize = 16;
const PENALTY: i32 = 10;
const SEED: u64 = 77;
/// Letters in the alphabet of the sequences.
const LETTERS: u32 = 24;

pub(super) const NEEDLEMAN_WUNSCH: Planned = Planned {
    name: "needleman_wunsch",
    summary: "global sequence alignment along the diagonals of a score matrix",
    papers: "LATTE-CC, LAMAR and CABA (NW, nw)",
    group: Group::DynamicProgramming,
    ptx: ("needleman_wunsch.ptx", include_str!("../../kernels/needleman_wunsch.ptx")),
    description: |size| {
        let n = length(size);
        format!("two sequences of {n}, {}", mebibytes(4 * 2 * (n + 1) * (n + 1)))
    },
    plan,
};

/// Returns the length of both sequences, a multiple of a tile; `paper` is Rodinia's.
fn length(size: Size) -> usize {
    match size {
        Size::Tiny => 96,
        Size::Small => 448,
        Size::Study => 1024,
        Size::Paper => 2048,
    }
}

/// Returns the similarity of two letters, -4 to 11 as in BLOSUM matrices. It is high for equal letters, and
/// symmetric.
fn similarity(one: u32, other: u32) -> i32 {
    if one == other { 4 + (one % 8) as i32 } else { (one * other % 7) as i32 - 4 }
}

/// Returns the similarity of every pair of positions, and the scores, whose first row and column are set.
fn matrices(n: usize) -> (Vec<i32>, Vec<i32>) {
    let mut random = Random::new(SEED);
    let mut sequence = || (0..n).map(|_| random.below(LETTERS)).collect::<Vec<_>>();
    let (rows, columns) = (sequence(), sequence());
    let width = n + 1;
    let (mut alike, mut score) = (vec![0; width * width], vec![0; width * width]);
    for (i, row) in rows.iter().enumerate() {
        for (j, column) in columns.iter().enumerate() {
            alike[(i + 1) * width + j + 1] = similarity(*row, *column);
        }
    }
    for k in 0..width {
        score[k] = -PENALTY * k as i32;
        score[k * width] = -PENALTY * k as i32;
    }
    (alike, score)
}

fn words(values: &[i32]) -> Vec<u32> {
    values.iter().map(|value| *value as u32).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let n = length(size);
    let (alike, start) = matrices(n);
    let similarity = place_words(memory, "similarity", &words(&alike))?;
    let score = place_words(memory, "score", &words(&start))?;
    let tiles = n / TILE;
    let launches = (0..2 * tiles - 1).map(|diagonal| {
        let last = diagonal.min(tiles - 1);
        let first = diagonal - last;
        let args = [similarity, score].map(Arg::Ptr).into_iter();
        let args = args.chain([int(n), Arg::U32(PENALTY as u32), int(first), int(last)]).collect();
        launch_row("needle_diagonal", (last - first + 1) * TILE, TILE as u32, args)
    });
    Ok(Plan::of(launches.collect(), move |memory| {
        let got = memory.read_u32s(score, (n + 1) * (n + 1))?;
        let expected = words(&reference(n));
        Results { workload: "needleman_wunsch", buffer: "score", got: &got }.equal(expected)
    }))
}

fn reference(n: usize) -> Vec<i32> {
    let (alike, mut score) = matrices(n);
    let width = n + 1;
    for at in (width..width * width).filter(|at| at % width > 0) {
        let gap = score[at - width].max(score[at - 1]) - PENALTY;
        score[at] = gap.max(score[at - width - 1] + alike[at]);
    }
    score
}
