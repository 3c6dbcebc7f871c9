//! `matmul`: a matrix product in the form of Mars; and `mm3`: the 3MM of PolyBench/GPU 1.0, which multiplies two products.
use super::check::Results;
use super::helpers::{int, launch_grid, mebibytes, place_f32s};
use super::mars::{MarsProgram, MarsRecords, bytes};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Launch, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

/// Sums are fused in the kernel's order, so the checked-in PTX gives equal bits. All terms are positive.
const TOLERANCE: f32 = 1e-5;
/// Seed of the matrices of `matmul`.
const SEED: u64 = 0x33;

pub(super) const MATMUL: Planned = Planned {
    name: "matmul",
    summary: "matrix product as a map: one record per row and column",
    papers: "LATTE-CC and CABA (MM)",
    group: Group::DenseAlgebra,
    ptx: ("matmul.ptx", include_str!("../../kernels/matmul.ptx")),
    description: |size| {
        let n = side(size);
        format!("{n} x {n} matrices, {} records, {}", n * n, mebibytes((4 * 2 + 48) * n * n))
    },
    plan: product,
};

pub(super) const MM3: Planned = Planned {
    name: "mm3",
    summary: "product of two matrix products, one thread per element",
    papers: "Dai, chapter 4 (3m)",
    group: Group::DenseAlgebra,
    ptx: ("mm3.ptx", include_str!("../../kernels/mm3.ptx")),
    description: |size| {
        let n = side_of_three(size);
        format!("{n} x {n} matrices, {}", mebibytes(4 * 7 * n * n))
    },
    plan: three_products,
};

/// Returns the number of rows and of columns; `paper` is Mars' size.
fn side(size: Size) -> usize {
    match size {
        Size::Tiny => 48,
        Size::Small => 128,
        Size::Study => 192,
        Size::Paper => 1024,
    }
}

/// Returns the number of rows and of columns for `mm3`; `paper` is Polybench's standard size.
fn side_of_three(size: Size) -> usize {
    match size {
        Size::Tiny => 40,
        Size::Small => 112,
        Size::Study => 256,
        Size::Paper => 512,
    }
}

/// Returns a matrix of Polybench: element (i, j) is i (j + shift) / n.
fn matrix(n: usize, shift: usize) -> Vec<f32> {
    let row = |i: usize| (0..n).map(move |j| i as f32 * (j + shift) as f32 / n as f32);
    (0..n).flat_map(row).collect()
}

fn launch(kernel: &str, n: usize, [a, b, c]: [u64; 3]) -> Launch {
    launch_grid(kernel, [n, n], [32, 8], vec![Arg::Ptr(a), Arg::Ptr(b), Arg::Ptr(c), int(n)])
}

/// Computes the product on the CPU, row by row of b, so that each sum has the kernel's order.
fn multiply(n: usize, a: &[f32], b: &[f32]) -> Vec<f32> {
    let mut c = vec![0.0_f32; n * n];
    for (row, sums) in a.chunks_exact(n).zip(c.chunks_exact_mut(n)) {
        for (factor, b) in row.iter().zip(b.chunks_exact(n)) {
            sums.iter_mut().zip(b).for_each(|(sum, b)| *sum = factor.mul_add(*b, *sum));
        }
    }
    c
}

/// Returns two matrices of integers below 100, as those of Mars' generator. The second one is transposed.
fn integers(n: usize) -> [Vec<u32>; 2] {
    let mut random = Random::new(SEED);
    [(); 2].map(|()| (0..n * n).map(|_| random.below(100)).collect())
}

fn product(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let n = side(size);
    let floats = integers(n).map(|matrix| matrix.iter().map(|value| *value as f32).collect::<Vec<_>>());
    let a = place_f32s(memory, "a", &floats[0])?;
    let b = place_f32s(memory, "b", &floats[1])?;
    let key = [a.to_le_bytes(), b.to_le_bytes()].concat();
    let mut records = MarsRecords::default();
    for (row, column) in (0..n).flat_map(|row| (0..n).map(move |column| (row, column))) {
        records.push(&key, &bytes(&[row, column, n, n]));
    }
    let mut program = MarsProgram { memory, launches: Vec::new() };
    let records = program.upload(&records)?;
    let emitted = program.map(records, n * n, 4, 8)?;
    Ok(Plan::of(program.launches, move |memory| {
        let workload = MATMUL.name;
        let got = memory.read_f32s(emitted.keys, n * n)?;
        Results { workload, buffer: "emitted keys", got: &got }.equal(products(n))?;
        let got = memory.read_u32s(emitted.values, 2 * n * n)?;
        let positions = (0..n * n).flat_map(|at| [at / n, at % n].map(|number| number as u32));
        Results { workload, buffer: "emitted values", got: &got }.equal(positions)?;
        let got = memory.read_u32s(emitted.index, 4 * n * n)?;
        let entries = (0..n * n).flat_map(|at| [4 * at, 4, 8 * at, 8].map(|number| number as u32));
        Results { workload, buffer: "index", got: &got }.equal(entries)
    }))
}

/// Computes the product on the CPU from integers. All sums are below 2^24, so they are exact as floats.
fn products(n: usize) -> impl Iterator<Item = f32> {
    let [a, b] = integers(n);
    (0..n * n).map(move |at| {
        let (row, column) = (&a[at / n * n..][..n], &b[at % n * n..][..n]);
        row.iter().zip(column).map(|(one, other)| one * other).sum::<u32>() as f32
    })
}

fn three_products(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let n = side_of_three(size);
    let mut factors = Vec::new();
    for (name, shift) in [("a", 0), ("b", 1), ("c", 3), ("d", 2)] {
        factors.push(place_f32s(memory, name, &matrix(n, shift))?);
    }
    let mut products = Vec::new();
    for name in ["e", "f", "g"] {
        products.push(memory.alloc(4 * (n * n) as u64, name)?);
    }
    let launches = vec![
        launch("mm3", n, [factors[0], factors[1], products[0]]),
        launch("mm3", n, [factors[2], factors[3], products[1]]),
        launch("mm3", n, [products[0], products[1], products[2]]),
    ];
    let result = products[2];
    Ok(Plan::of(launches, move |memory| {
        let left = multiply(n, &matrix(n, 0), &matrix(n, 1));
        let right = multiply(n, &matrix(n, 3), &matrix(n, 2));
        let got = memory.read_f32s(result, n * n)?;
        Results { workload: "mm3", buffer: "g", got: &got }.close(multiply(n, &left, &right), TOLERANCE)
    }))
}
