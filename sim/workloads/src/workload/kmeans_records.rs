//! `kmeans_records`: k-means clustering of integer points, in the form of Mars' program.
use std::cell::Cell;
use std::rc::Rc;

use super::check::Results;
use super::helpers::{mebibytes, place_words};
use super::mars::{Grouped, MarsProgram, MarsRecords, bytes, in_stages};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x4b;
const DIMENSIONS: usize = 3;
const CLUSTERS: usize = 24;
/// Bytes of a key: numbers of the point, of dimensions and of clusters, address of the assignment.
const KEY: usize = 24;
/// Bytes of a value: addresses of points, centres and the flag.
const VALUE: usize = 24;

pub(super) const KMEANS_RECORDS: Planned = Planned {
    name: "kmeans_records",
    summary: "k-means clustering of integer points: map, bitonic sort and reduce per round",
    papers: "CABA (KM)",
    group: Group::MapReduce,
    ptx: ("kmeans_records.ptx", include_str!("../../kernels/kmeans_records.ptx")),
    description: |size| {
        let points = points(size);
        format!("{points} points of {DIMENSIONS} dimensions, {}", mebibytes(240 * points))
    },
    plan,
};

/// Returns the number of points; `paper` is Mars' number.
fn points(size: Size) -> usize {
    match size {
        Size::Tiny => 250,
        Size::Small => 1000,
        Size::Study => 4000,
        Size::Paper => 30_000,
    }
}

/// Returns the max number of rounds, after which the host stops even if the clusters have not settled.
fn most_rounds(size: Size) -> usize {
    match size {
        Size::Tiny | Size::Small | Size::Study => 2,
        Size::Paper => usize::MAX,
    }
}

/// Returns integers below 100, as those of Mars' generator.
fn generated(points: usize) -> Vec<u32> {
    let mut random = Random::new(SEED);
    (0..DIMENSIONS * points).map(|_| random.below(100)).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let points = points(size);
    let values = generated(points);
    let at = place_words(memory, "points", &values)?;
    let centres = place_words(memory, "centres", &values[..CLUSTERS * DIMENSIONS])?;
    let clusters = place_words(memory, "cluster of each", &vec![0; points])?;
    let changed = place_words(memory, "changed", &[0])?;
    let mut records = MarsRecords::default();
    for point in 0..points {
        let key = [bytes(&[point, DIMENSIONS, CLUSTERS, 0]), clusters.to_le_bytes().to_vec()].concat();
        records.push(&key, &[at.to_le_bytes(), centres.to_le_bytes(), changed.to_le_bytes()].concat());
    }
    let grouped: Cell<Option<Grouped>> = Cell::default();
    let rounds = Rc::new(Cell::new(0));
    let done = Rc::clone(&rounds);
    let launches = in_stages(move |memory| {
        let mut program = MarsProgram { memory, launches: Vec::new() };
        if let Some(points) = grouped.take() {
            program.reduce(&points, KEY, VALUE)?;
            rounds.set(rounds.get() + 1);
        } else {
            let settled = rounds.get() > 0 && program.memory.read_u32s(changed, 1)? == [0];
            if settled || rounds.get() == most_rounds(size) {
                return Ok(None);
            }
            program.memory.write_u32s(changed, &[0])?;
            let records = program.upload(&records)?;
            let emitted = program.map(records, records.count, KEY, VALUE)?;
            grouped.set(Some(program.group(emitted, KEY, VALUE)?));
        }
        Ok(Some(program.launches))
    });
    Ok(Plan::following(launches, move |memory| {
        let workload = KMEANS_RECORDS.name;
        let (expected_rounds, cluster_of, expected) = reference(points, most_rounds(size));
        Results { workload, buffer: "rounds", got: &[done.get()] }.equal([expected_rounds])?;
        let got = memory.read_u32s(clusters, points)?;
        Results { workload, buffer: "cluster of each", got: &got }.equal(cluster_of)?;
        let got = memory.read_u32s(centres, CLUSTERS * DIMENSIONS)?;
        Results { workload, buffer: "centres", got: &got }.equal(expected)
    }))
}

/// Clusters the points on the CPU. Returns the rounds, the cluster of each point, and the centres.
fn reference(points: usize, most_rounds: usize) -> (usize, Vec<u32>, Vec<u32>) {
    let values = generated(points);
    let mut centres = values[..CLUSTERS * DIMENSIONS].to_vec();
    let mut cluster_of = vec![0; points];
    for round in 1.. {
        let mut changed = false;
        let mut sums = [[0; DIMENSIONS + 1]; CLUSTERS];
        for (point, cluster) in values.chunks_exact(DIMENSIONS).zip(&mut cluster_of) {
            let distance = |cluster: u32| -> u32 {
                let centre = &centres[cluster as usize * DIMENSIONS..][..DIMENSIONS];
                point.iter().zip(centre).map(|(one, other)| one.abs_diff(*other).pow(2)).sum()
            };
            // Of equally near centres, the one of the last round stays, then the lowest number is nearest.
            let before = *cluster;
            let key = |cluster: &u32| (distance(*cluster), *cluster != before, *cluster);
            *cluster = (0..CLUSTERS as u32).min_by_key(key).unwrap_or(before);
            changed |= *cluster != before;
            let sum = &mut sums[*cluster as usize];
            sum.iter_mut().zip(point.iter().chain(&[1])).for_each(|(sum, value)| *sum += value);
        }
        for (centre, sum) in centres.chunks_exact_mut(DIMENSIONS).zip(sums) {
            if sum[DIMENSIONS] > 0 {
                centre.iter_mut().zip(sum).for_each(|(centre, total)| *centre = total / sum[DIMENSIONS]);
            }
        }
        if !changed || round == most_rounds {
            return (round, cluster_of, centres);
        }
    }
    unreachable!("rounds do not end before they return")
}
