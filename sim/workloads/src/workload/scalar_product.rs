//! `scalar_product`: scalar products of many pairs of vectors, as the CUDA samples; `scalar_product_cached`: the same
//! with the sums behind the L1D.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x5ca;
const THREADS: usize = 256;
/// Sums of a block.
const SUMS: usize = 1024;
/// Pairs of a block.
const PAIRS: usize = 2;
/// All terms are positive.
const TOLERANCE: f32 = 1e-5;
const PTX: (&str, &str) = ("scalar_product.ptx", include_str!("../../kernels/scalar_product.ptx"));

pub(super) const SCALAR_PRODUCT: Planned = Planned {
    name: "scalar_product",
    summary: "scalar products of pairs of vectors, summed up in shared memory",
    papers: "LAMAR (SPROD), CABA (SCP)",
    group: Group::Primitives,
    ptx: PTX,
    description: |size| {
        let (pairs, length) = shape(size);
        format!("{pairs} pairs of {length} elements, {}", mebibytes(4 * (2 * pairs * length + pairs)))
    },
    plan: |size, memory| plan("scalar_product", false, size, memory),
};

pub(super) const SCALAR_PRODUCT_CACHED: Planned = Planned {
    name: "scalar_product_cached",
    summary: "scalar products of pairs of vectors, summed up in global memory",
    papers: "Dai, chapter 2 (SCP)",
    group: Group::Primitives,
    ptx: PTX,
    description: |size| {
        let (pairs, length) = shape(size);
        let sums = SUMS * pairs / PAIRS;
        format!("{pairs} pairs of {length} elements, {}", mebibytes(4 * (2 * pairs * length + pairs + sums)))
    },
    plan: |size, memory| plan("scalar_product_cached", true, size, memory),
};

/// Returns the number of pairs, and the elements per vector; `paper` is the size of the CUDA samples.
fn shape(size: Size) -> (usize, usize) {
    match size {
        Size::Tiny => (24, 1000),
        Size::Small => (64, 4096),
        Size::Study | Size::Paper => (256, 4096),
    }
}

fn numbers(seed: u64, count: usize) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.unit()).collect()
}

fn plan(
    workload: &'static str,
    cached: bool,
    size: Size,
    memory: &mut DeviceMemory,
) -> Result<Plan, WorkloadError> {
    let (pairs, length) = shape(size);
    let blocks = pairs / PAIRS;
    let a = place_f32s(memory, "a", &numbers(SEED, pairs * length))?;
    let b = place_f32s(memory, "b", &numbers(SEED + 1, pairs * length))?;
    let products = memory.alloc(4 * pairs as u64, "products")?;
    let mut args = vec![Arg::Ptr(products), Arg::Ptr(a), Arg::Ptr(b), int(pairs), int(length), int(blocks)];
    if cached {
        args.push(Arg::Ptr(memory.alloc((4 * blocks * SUMS) as u64, "sums")?));
    }
    let launch = launch_row(workload, blocks * THREADS, THREADS as u32, args);
    Ok(Plan::of(vec![launch], move |memory| {
        let got = memory.read_f32s(products, pairs)?;
        let (a, b) = (numbers(SEED, pairs * length), numbers(SEED + 1, pairs * length));
        let product = |(a, b): (&[f32], &[f32])| {
            a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>() as f32
        };
        let expected = a.chunks_exact(length).zip(b.chunks_exact(length)).map(product);
        Results { workload, buffer: "products", got: &got }.close(expected, TOLERANCE)
    }))
}
