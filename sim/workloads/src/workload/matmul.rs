//! `matmul` and `mm3`: one matrix product, and the 3MM of PolyBench/GPU 1.0, which multiplies two products.
use super::check::Results;
use super::helpers::{int, launch_grid, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::{Arg, Group, Launch, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

/// Sums are fused in the kernel's order, so the checked-in PTX gives equal bits. All terms are positive.
const TOLERANCE: f32 = 1e-5;

pub(super) const MATMUL: Planned = Planned {
    name: "matmul",
    summary: "matrix product straight from memory, one thread per element",
    papers: "LATTE-CC and CABA (MM of Mars, here as a textbook product)",
    group: Group::DenseAlgebra,
    ptx: ("matmul.ptx", include_str!("../../kernels/matmul.ptx")),
    description: |size| {
        let n = side(size);
        format!("{n} x {n} matrices, {}", mebibytes(4 * 3 * n * n))
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

/// Returns the number of rows and of columns.
fn side(size: Size) -> usize {
    match size {
        Size::Tiny => 64,
        Size::Small => 160,
        Size::Study => 384,
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

fn product(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let n = side(size);
    let a = place_f32s(memory, "a", &matrix(n, 0))?;
    let b = place_f32s(memory, "b", &matrix(n, 1))?;
    let c = memory.alloc(4 * (n * n) as u64, "c")?;
    Ok(Plan::of(vec![launch("matmul", n, [a, b, c])], move |memory| {
        let got = memory.read_f32s(c, n * n)?;
        let expected = multiply(n, &matrix(n, 0), &matrix(n, 1));
        Results { workload: "matmul", buffer: "c", got: &got }.close(expected, TOLERANCE)
    }))
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
