//! `similarity`: similarity of documents by the angle between their feature vectors, as Mars' similarity score.
use super::check::Results;
use super::helpers::{int, launch_grid, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x55;
/// The reference rounds like the checked-in PTX. All terms are positive.
const TOLERANCE: f32 = 1e-5;

pub(super) const SIMILARITY: Planned = Planned {
    name: "similarity",
    summary: "similarity of all pairs of documents by their feature vectors",
    papers: "LATTE-CC, LAMAR and CABA (SS, SSC)",
    group: Group::MapReduce,
    ptx: ("similarity.ptx", include_str!("../../kernels/similarity.ptx")),
    description: |size| {
        let (documents, dimensions) = shape(size);
        let bytes = 4 * documents * (documents + dimensions + 1);
        format!("{documents} documents of {dimensions} features, {}", mebibytes(bytes))
    },
    plan,
};

/// Returns the number of documents, and the features per document; `paper` is Mars' size.
fn shape(size: Size) -> (usize, usize) {
    match size {
        Size::Tiny => (64, 64),
        Size::Small => (160, 128),
        Size::Study => (192, 128),
        Size::Paper => (1024, 128),
    }
}

/// Returns frequencies of terms: small integers, most of them zero.
fn features(documents: usize, dimensions: usize) -> Vec<f32> {
    let mut random = Random::new(SEED);
    let mut draw = || if random.below(4) == 0 { 1 + random.below(9) } else { 0 };
    (0..documents * dimensions).map(|_| draw() as f32).collect()
}

fn norms(features: &[f32], dimensions: usize) -> Vec<f32> {
    let squares =
        features.chunks_exact(dimensions).map(|row| row.iter().map(|value| value * value).sum::<f32>());
    squares.map(f32::sqrt).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (documents, dimensions) = shape(size);
    let values = features(documents, dimensions);
    let from = place_f32s(memory, "features", &values)?;
    let norm = place_f32s(memory, "norm", &norms(&values, dimensions))?;
    let score = memory.alloc(4 * (documents * documents) as u64, "score")?;
    let args =
        [from, norm, score].map(Arg::Ptr).into_iter().chain([int(documents), int(dimensions)]).collect();
    Ok(Plan::of(vec![launch_grid("similarity", [documents; 2], [32, 4], args)], move |memory| {
        let got = memory.read_f32s(score, documents * documents)?;
        let expected = reference(documents, dimensions);
        Results { workload: "similarity", buffer: "score", got: &got }.close(expected, TOLERANCE)
    }))
}

fn reference(documents: usize, dimensions: usize) -> Vec<f32> {
    let features = features(documents, dimensions);
    let norms = norms(&features, dimensions);
    let score = |at: usize| {
        let (first, second) = (at / documents, at % documents);
        let row = |document: usize| &features[document * dimensions..][..dimensions];
        let product = row(first).iter().zip(row(second)).fold(0.0_f32, |sum, (a, b)| a.mul_add(*b, sum));
        product / (norms[first] * norms[second])
    };
    (0..documents * documents).map(score).collect()
}
