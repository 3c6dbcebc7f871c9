//! `scalar_product`: scalar products of many pairs of vectors, one block per pair.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x5ca;
const THREADS: usize = 128;
/// The reference rounds like the checked-in PTX. All terms are positive.
const TOLERANCE: f32 = 1e-5;

pub(super) const SCALAR_PRODUCT: Planned = Planned {
    name: "scalar_product",
    summary: "scalar products of pairs of vectors, summed up in shared memory",
    papers: "LAMAR (SPROD), CABA and Dai, chapter 2 (SCP)",
    group: Group::Primitives,
    ptx: ("scalar_product.ptx", include_str!("../../kernels/scalar_product.ptx")),
    description: |size| {
        let (pairs, length) = shape(size);
        format!("{pairs} pairs of {length} elements, {}", mebibytes(4 * (2 * pairs * length + pairs)))
    },
    plan,
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

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (pairs, length) = shape(size);
    let a = place_f32s(memory, "a", &numbers(SEED, pairs * length))?;
    let b = place_f32s(memory, "b", &numbers(SEED + 1, pairs * length))?;
    let products = memory.alloc(4 * pairs as u64, "products")?;
    let args = vec![Arg::Ptr(a), Arg::Ptr(b), Arg::Ptr(products), int(length)];
    let launch = launch_row("scalar_product", pairs * THREADS, THREADS as u32, args);
    Ok(Plan::of(vec![launch], move |memory| {
        let got = memory.read_f32s(products, pairs)?;
        let expected = reference(pairs, length);
        Results { workload: "scalar_product", buffer: "products", got: &got }.close(expected, TOLERANCE)
    }))
}

fn reference(pairs: usize, length: usize) -> Vec<f32> {
    let (a, b) = (numbers(SEED, pairs * length), numbers(SEED + 1, pairs * length));
    let product = |(a, b): (&[f32], &[f32])| {
        let mut sums = [0.0_f32; THREADS];
        for (at, (a, b)) in a.iter().zip(b).enumerate() {
            sums[at % THREADS] = a.mul_add(*b, sums[at % THREADS]);
        }
        let mut half = THREADS / 2;
        while half > 0 {
            (0..half).for_each(|thread| sums[thread] += sums[thread + half]);
            half /= 2;
        }
        sums[0]
    };
    a.chunks_exact(length).zip(b.chunks_exact(length)).map(product).collect()
}
