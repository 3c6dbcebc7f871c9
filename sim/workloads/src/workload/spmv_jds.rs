//! `spmv_jds`: a sparse matrix in jagged diagonals times a vector, one thread per row, as Parboil's spmv.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_f32s, place_words};
use super::plan::{Plan, Planned};
use super::spmv::{Matrix, TOLERANCE, rows};
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const THREADS_PER_BLOCK: u32 = 128;

pub(super) const SPMV_JDS: Planned = Planned {
    name: "spmv_jds",
    summary: "sparse matrix in jagged diagonals times a vector, one thread per row",
    papers: "Dai, chapter 4 (sv)",
    group: Group::SparseAlgebra,
    ptx: ("spmv_jds.ptx", include_str!("../../kernels/spmv_jds.ptx")),
    description: |size| {
        let rows = rows(size);
        // 12 entries of 8 bytes; per row, its length and position, its x and its y.
        format!("{rows} rows of about 12 entries, {}", mebibytes((12 * 8 + 16) * rows))
    },
    plan,
};

/// The entries of a matrix in jagged diagonals.
#[derive(Default)]
struct Diagonals {
    /// First entry of each diagonal.
    diagonal: Vec<u32>,
    /// Number of entries of each sorted row.
    length: Vec<u32>,
    /// Original index of each sorted row.
    order: Vec<u32>,
    column: Vec<u32>,
    value: Vec<f32>,
}

impl Diagonals {
    fn new(matrix: &Matrix) -> Self {
        let entries = |row: usize| matrix.first[row] as usize..matrix.first[row + 1] as usize;
        let mut order: Vec<usize> = (0..matrix.first.len() - 1).collect();
        order.sort_by_key(|row| std::cmp::Reverse(entries(*row).len()));
        let longest = order.first().map_or(0, |row| entries(*row).len());
        let mut diagonals = Diagonals::default();
        for number in 0..longest {
            diagonals.diagonal.push(diagonals.value.len() as u32);
            for entry in order.iter().filter_map(|row| entries(*row).nth(number)) {
                diagonals.column.push(matrix.column[entry]);
                diagonals.value.push(matrix.value[entry]);
            }
        }
        diagonals.length = order.iter().map(|row| entries(*row).len() as u32).collect();
        diagonals.order = order.into_iter().map(|row| row as u32).collect();
        diagonals
    }
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let rows = rows(size);
    let matrix = Matrix::new(rows);
    let diagonals = Diagonals::new(&matrix);
    let diagonal = place_words(memory, "diagonal", &diagonals.diagonal)?;
    let length = place_words(memory, "length", &diagonals.length)?;
    let order = place_words(memory, "order", &diagonals.order)?;
    let column = place_words(memory, "column", &diagonals.column)?;
    let value = place_f32s(memory, "value", &diagonals.value)?;
    let x = place_f32s(memory, "x", &matrix.x)?;
    let y = memory.alloc(4 * rows as u64, "y")?;
    let pointers = [diagonal, length, order, column, value, x, y].map(Arg::Ptr);
    let args = pointers.into_iter().chain([int(rows)]).collect();
    Ok(Plan::of(vec![launch_row("spmv_jds", rows, THREADS_PER_BLOCK, args)], move |memory| {
        let got = memory.read_f32s(y, rows)?;
        Results { workload: "spmv_jds", buffer: "y", got: &got }.close(Matrix::new(rows).product(), TOLERANCE)
    }))
}
