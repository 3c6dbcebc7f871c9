//! `atax`: y = A^T (A x) in single precision, as Polybench's ATAX.
//!
//! The first kernel has one thread per row, so the lanes of a warp read 32 different lines at once and come back to each
//! of them 32 times: whether the lines are still in the L1 then decides everything (Dai, section 2.4). The second
//! kernel has one thread per column and reads whole lines.
use std::path::Path;

use super::check::Results;
use super::{
    Arg, Group, HostProgram, Launch, Size, Workload, WorkloadError, int, launch_row, mebibytes, no_input,
    place_f32s,
};
use selvedge_ptx::memory::DeviceMemory;

const NAME: &str = "atax";

/// The reference fuses multiply and add and sums in the kernel's order, so the PTX as checked in gives equal bits; the
/// tolerance is for kernels compiled with other settings. All terms are positive, so rounding errors stay relative:
/// not fusing adds at most one half unit in the last place (6e-8) per term, most of which cancel.
const TOLERANCE: f32 = 1e-5;

/// The workload `atax`.
pub(super) struct Atax;

#[derive(Clone, Copy)]
struct Shape {
    rows: usize,
    columns: usize,
    threads_per_block: u32,
}

impl Shape {
    /// `paper` is Polybench's standard size; `small` gives each of 15 SMs one block in the first kernel, whose
    /// 128 open lines are as many as a 16 KB cache holds.
    fn of(size: Size) -> Self {
        match size {
            Size::Tiny => Self { rows: 192, columns: 96, threads_per_block: 64 },
            Size::Small => Self { rows: 1920, columns: 256, threads_per_block: 128 },
            Size::Paper => Self { rows: 4096, columns: 4096, threads_per_block: 256 },
        }
    }

    /// The matrix that Polybench fills in, row by row: element (i, j) is i j / rows.
    fn matrix(self) -> Vec<f32> {
        let row = |i| (0..self.columns).map(move |j| i as f32 * j as f32 / self.rows as f32);
        (0..self.rows).flat_map(row).collect()
    }

    /// The vector that Polybench fills in: element j is j pi.
    fn vector(self) -> Vec<f32> {
        (0..self.columns).map(|j| j as f32 * std::f32::consts::PI).collect()
    }

    /// A^T (A x) on the CPU, each sum in the kernels' order.
    fn reference(self) -> Vec<f32> {
        let (matrix, x) = (self.matrix(), self.vector());
        let mut y = vec![0.0_f32; self.columns];
        for row in matrix.chunks_exact(self.columns) {
            let product = row.iter().zip(&x).fold(0.0_f32, |sum, (a, x)| a.mul_add(*x, sum));
            for (y, a) in y.iter_mut().zip(row) {
                *y = a.mul_add(product, *y);
            }
        }
        y
    }
}

impl Workload for Atax {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "matrix-transpose times matrix-vector product, one thread per row, then per column"
    }

    fn papers(&self) -> &'static str {
        "Dai, chapters 2 and 3 (ATX) and 4 (ax)"
    }

    fn group(&self) -> Group {
        Group::DenseAlgebra
    }

    fn ptx(&self) -> (&'static str, &'static str) {
        ("atax.ptx", include_str!("../../kernels/atax.ptx"))
    }

    fn description(&self, size: Size) -> String {
        let Shape { rows, columns, .. } = Shape::of(size);
        format!("{rows} x {columns} matrix, {}", mebibytes(4 * (rows * columns + rows + 2 * columns)))
    }

    fn start(&self, size: Size, input: Option<&Path>) -> Result<Box<dyn HostProgram>, WorkloadError> {
        no_input(NAME, input)?;
        Ok(Box::new(Run { shape: Shape::of(size), buffers: Buffers::default(), stage: Stage::Start }))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Start,
    Rows,
    Columns,
    Done,
}

/// Device addresses.
#[derive(Clone, Copy, Default)]
struct Buffers {
    matrix: u64,
    x: u64,
    product: u64,
    y: u64,
}

struct Run {
    shape: Shape,
    buffers: Buffers,
    stage: Stage,
}

impl Run {
    fn place(&self, memory: &mut DeviceMemory) -> Result<Buffers, WorkloadError> {
        let Shape { rows, columns, .. } = self.shape;
        Ok(Buffers {
            matrix: place_f32s(memory, "a", &self.shape.matrix())?,
            x: place_f32s(memory, "x", &self.shape.vector())?,
            product: memory.alloc(4 * rows as u64, "product")?,
            y: memory.alloc(4 * columns as u64, "y")?,
        })
    }

    fn launch(&self, kernel: &str, threads: usize, factor: u64, result: u64) -> Launch {
        let Shape { rows, columns, threads_per_block } = self.shape;
        let pointers = [self.buffers.matrix, factor, result].map(Arg::Ptr);
        let args = pointers.into_iter().chain([int(rows), int(columns)]);
        launch_row(kernel, threads, threads_per_block, args.collect())
    }
}

impl HostProgram for Run {
    fn next(&mut self, memory: &mut DeviceMemory) -> Result<Option<Launch>, WorkloadError> {
        let (stage, launch) = match self.stage {
            Stage::Start => {
                self.buffers = self.place(memory)?;
                let launch = self.launch("atax_rows", self.shape.rows, self.buffers.x, self.buffers.product);
                (Stage::Rows, Some(launch))
            }
            Stage::Rows => {
                let launch =
                    self.launch("atax_columns", self.shape.columns, self.buffers.product, self.buffers.y);
                (Stage::Columns, Some(launch))
            }
            Stage::Columns | Stage::Done => (Stage::Done, None),
        };
        self.stage = stage;
        Ok(launch)
    }

    fn verify(&self, memory: &DeviceMemory) -> Result<(), WorkloadError> {
        if self.stage != Stage::Done {
            return Err(WorkloadError::Unfinished { workload: NAME });
        }
        let got = memory.read_f32s(self.buffers.y, self.shape.columns)?;
        Results { workload: NAME, buffer: "y", got: &got }.close(self.shape.reference(), TOLERANCE)
    }
}
