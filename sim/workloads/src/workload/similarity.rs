//! `similarity`: similarity of documents by the angle between their feature vectors, in the form of Mars' similarity score.
use std::collections::BTreeSet;

use super::check::Results;
use super::helpers::{mebibytes, place_f32s};
use super::mars::{Grouped, MarsProgram, MarsRecords, bytes};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x55;
/// Bytes of a score, and of a pair of documents.
const EMITTED: (usize, usize) = (4, 8);

pub(super) const SIMILARITY: Planned = Planned {
    name: "similarity",
    summary: "similarity of all pairs of documents by their feature vectors: map, bitonic sort",
    papers: "LATTE-CC, LAMAR and CABA (SS, SSC)",
    group: Group::MapReduce,
    ptx: ("similarity.ptx", include_str!("../../kernels/similarity.ptx")),
    description: |size| {
        let (documents, features) = shape(size);
        let pairs = documents * (documents - 1) / 2;
        let buffers = format!("{pairs} records, {}", mebibytes(4 * documents * features + 40 * pairs));
        format!("{documents} documents of {features} features, {buffers}")
    },
    plan,
};

/// Returns the number of documents, and the features per document; `paper` is Mars' size.
fn shape(size: Size) -> (usize, usize) {
    match size {
        Size::Tiny => (32, 64),
        Size::Small => (112, 256),
        Size::Study => (176, 256),
        Size::Paper => (1024, 256),
    }
}

/// Returns integers below 100, as those of Mars' generator.
fn features(documents: usize, features: usize) -> Vec<f32> {
    let mut random = Random::new(SEED);
    (0..documents * features).map(|_| random.below(100) as f32).collect()
}

/// Returns all pairs of documents, the first with the lower number.
fn pairs(documents: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..documents).flat_map(move |first| (first + 1..documents).map(move |second| (first, second)))
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (documents, dimensions) = shape(size);
    let rows = place_f32s(memory, "features", &features(documents, dimensions))?;
    let mut records = MarsRecords::default();
    for (first, second) in pairs(documents) {
        records.push(&rows.to_le_bytes(), &bytes(&[first, second, dimensions, 0]));
    }
    let mut program = MarsProgram { memory, launches: Vec::new() };
    let records = program.upload(&records)?;
    let emitted = program.map(records, records.count, EMITTED.0, EMITTED.1)?;
    let Grouped { sorted, begins: groups, .. } = program.group(emitted, EMITTED.0, EMITTED.1)?;
    Ok(Plan::of(program.launches, move |memory| {
        let workload = SIMILARITY.name;
        let reference = reference(documents, dimensions);
        let expected = in_order(&reference, documents);
        let got = memory.read_f32s(sorted.keys, sorted.count)?;
        Results { workload, buffer: "sorted keys", got: &got }.equal(expected.iter().copied())?;
        let got = memory.read_u32s(sorted.values, 2 * sorted.count)?;
        Results { workload, buffer: "sorted values", got: &got }
            .equal(pairs_of(&got, &expected, &reference, documents))?;
        let begins = (0..).zip(expected.iter().zip([&f32::NAN].into_iter().chain(&expected)));
        let begins: Vec<u32> = begins.filter(|(_, (score, before))| score != before).map(|at| at.0).collect();
        let got = memory.read_u32s(groups, begins.len())?;
        Results { workload, buffer: "groups", got: &got }.equal(begins)
    }))
}

/// Returns the score of each pair at `first * documents + second`. All sums are integers below 2^24, so they are exact.
fn reference(documents: usize, dimensions: usize) -> Vec<f32> {
    let features = features(documents, dimensions);
    let row = |document: usize| &features[document * dimensions..][..dimensions];
    let product = |one: usize, other: usize| {
        row(one).iter().zip(row(other)).map(|(a, b)| (*a as u32) * (*b as u32)).sum::<u32>() as f32
    };
    let lengths: Vec<f32> = (0..documents).map(|document| product(document, document).sqrt()).collect();
    let mut scores = vec![0.0; documents * documents];
    for (first, second) in pairs(documents) {
        scores[first * documents + second] = product(first, second) / (lengths[first] * lengths[second]);
    }
    scores
}

/// Returns the scores of all pairs, the highest first.
fn in_order(scores: &[f32], documents: usize) -> Vec<f32> {
    let mut all: Vec<f32> =
        pairs(documents).map(|(first, second)| scores[first * documents + second]).collect();
    all.sort_by(|one, other| other.total_cmp(one));
    all
}

/// Returns the documents of each score. The order of pairs with equal scores is that of `got`, if these are such pairs.
fn pairs_of(got: &[u32], scores: &[f32], reference: &[f32], documents: usize) -> Vec<u32> {
    let of = |at: usize| (got[2 * at] as usize, got[2 * at + 1] as usize);
    let mut left: BTreeSet<(u32, usize, usize)> = pairs(documents)
        .map(|(first, second)| (reference[first * documents + second].to_bits(), first, second))
        .collect();
    let mut expected = Vec::new();
    for (at, score) in scores.iter().enumerate() {
        let (first, second) = of(at);
        let bits = score.to_bits();
        let pair = if left.remove(&(bits, first, second)) {
            (first, second)
        } else {
            let other = left.range((bits, 0, 0)..).next().copied();
            other.map_or((documents, documents), |(_, first, second)| (first, second))
        };
        expected.extend([pair.0 as u32, pair.1 as u32]);
    }
    expected
}
