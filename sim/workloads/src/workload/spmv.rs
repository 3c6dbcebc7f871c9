//! `spmv`: a sparse matrix in compressed rows times a vector, one thread per row.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_f32s, place_words};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x59;
const THREADS_PER_BLOCK: u32 = 128;
/// The reference rounds like the checked-in PTX. All terms are positive.
pub(super) const TOLERANCE: f32 = 1e-5;

pub(super) const SPMV: Planned = Planned {
    name: "spmv",
    summary: "sparse matrix in compressed rows times a vector, one thread per row",
    papers: "Dai, chapter 4 (sv)",
    group: Group::SparseAlgebra,
    ptx: ("spmv.ptx", include_str!("../../kernels/spmv.ptx")),
    description: |size| {
        let rows = rows(size);
        // 12 entries of 8 bytes; per row, its first entry, its x and its y.
        format!("{rows} rows of about 12 entries, {}", mebibytes((12 * 8 + 12) * rows))
    },
    plan,
};

/// Returns the number of rows and of columns; `paper` is near the size of Parboil's matrix.
pub(super) fn rows(size: Size) -> usize {
    match size {
        Size::Tiny => 1 << 10,
        Size::Small => 1 << 14,
        Size::Study | Size::Paper => 146_880,
    }
}

/// A matrix as in finite-element methods: 1 to 23 entries per row, most of them near the diagonal, some anywhere.
pub(super) struct Matrix {
    pub(super) first: Vec<u32>,
    pub(super) column: Vec<u32>,
    pub(super) value: Vec<f32>,
    pub(super) x: Vec<f32>,
}

impl Matrix {
    pub(super) fn new(rows: usize) -> Self {
        let mut random = Random::new(SEED);
        let mut matrix = Matrix { first: vec![0], column: Vec::new(), value: Vec::new(), x: Vec::new() };
        for row in 0..rows as u32 {
            for _ in 0..=random.below(23) {
                let near = (row + random.below(65)).saturating_sub(32).min(rows as u32 - 1);
                let anywhere = random.below(rows as u32);
                matrix.column.push(if random.below(8) == 0 { anywhere } else { near });
                matrix.value.push(random.unit());
            }
            matrix.first.push(matrix.column.len() as u32);
            matrix.x.push(random.unit());
        }
        matrix
    }

    pub(super) fn product(&self) -> Vec<f32> {
        let rows = self.first.windows(2).map(|ends| ends[0] as usize..ends[1] as usize);
        rows.map(|entries| {
            entries.fold(0.0_f32, |sum, at| self.value[at].mul_add(self.x[self.column[at] as usize], sum))
        })
        .collect()
    }
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let rows = rows(size);
    let matrix = Matrix::new(rows);
    let first = place_words(memory, "first", &matrix.first)?;
    let column = place_words(memory, "column", &matrix.column)?;
    let value = place_f32s(memory, "value", &matrix.value)?;
    let x = place_f32s(memory, "x", &matrix.x)?;
    let y = memory.alloc(4 * rows as u64, "y")?;
    let args = [first, column, value, x, y].map(Arg::Ptr).into_iter().chain([int(rows)]).collect();
    Ok(Plan::of(vec![launch_row("spmv", rows, THREADS_PER_BLOCK, args)], move |memory| {
        let got = memory.read_f32s(y, rows)?;
        Results { workload: "spmv", buffer: "y", got: &got }.close(Matrix::new(rows).product(), TOLERANCE)
    }))
}
