//! `floyd_warshall`: shortest paths between all pairs of nodes, one launch per intermediate node.
use super::check::Results;
use super::helpers::{int, launch_grid, mebibytes, place_words};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0xf7;
/// Distance of unconnected nodes. The sum of two such distances still fits in 32 bits.
const FAR: u32 = 999_999;

pub(super) const FLOYD_WARSHALL: Planned = Planned {
    name: "floyd_warshall",
    summary: "all-pairs shortest paths, one launch per intermediate node",
    papers: "LATTE-CC (FW)",
    group: Group::Graphs,
    ptx: ("floyd_warshall.ptx", include_str!("../../kernels/floyd_warshall.ptx")),
    description: |size| {
        let (nodes, launches) = (nodes(size), launches(size));
        format!("{nodes} nodes, {launches} of them intermediate, {}", mebibytes(8 * nodes * nodes))
    },
    plan,
};

/// Returns the number of nodes; `paper` is the size of Pannotia's graph.
fn nodes(size: Size) -> usize {
    match size {
        Size::Tiny => 32,
        Size::Small => 96,
        Size::Study | Size::Paper => 256,
    }
}

/// Returns the number of intermediate nodes. Node 0 is none of them, as no edge leads away from it.
fn launches(size: Size) -> usize {
    if size == Size::Study { 64 } else { nodes(size) - 1 }
}

/// Returns the distances of a random graph with the edges per node of Pannotia's input, and lengths of 0 to 99. The first
/// edge between two nodes counts.
fn distances(nodes: usize) -> Vec<u32> {
    let mut random = Random::new(SEED);
    let mut distances = vec![FAR; nodes * nodes];
    (0..nodes).for_each(|node| distances[node * nodes + node] = 0);
    for _ in 0..nodes * nodes / 4 {
        let (from, to) = (random.below(nodes as u32) as usize, random.below(nodes as u32) as usize);
        let length = random.below(100);
        let distance = &mut distances[from * nodes + to];
        if from != 0 && *distance == FAR {
            *distance = length;
        }
    }
    distances
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let nodes = nodes(size);
    let distance = place_words(memory, "distance", &distances(nodes))?;
    let next = place_words(memory, "next", &vec![0; nodes * nodes])?;
    let launches = (1..=launches(size)).map(|through| {
        let args = vec![Arg::Ptr(distance), Arg::Ptr(next), int(nodes), int(through)];
        launch_grid("floyd_warshall", [nodes, nodes], [16, 16], args)
    });
    Ok(Plan::of(launches.collect(), move |memory| {
        let (expected_distance, expected_next) = reference(size);
        for (address, buffer, expected) in
            [(distance, "distance", expected_distance), (next, "next", expected_next)]
        {
            let got = memory.read_u32s(address, nodes * nodes)?;
            Results { workload: "floyd_warshall", buffer, got: &got }.equal(expected)?;
        }
        Ok(())
    }))
}

/// Returns the distances, and the last intermediate node of each path.
fn reference(size: Size) -> (Vec<u32>, Vec<u32>) {
    let nodes = nodes(size);
    let (mut distances, mut next) = (distances(nodes), vec![0; nodes * nodes]);
    for through in 1..=launches(size) {
        for at in 0..nodes * nodes {
            let around = distances[at / nodes * nodes + through] + distances[through * nodes + at % nodes];
            if around < distances[at] {
                (distances[at], next[at]) = (around, through as u32);
            }
        }
    }
    (distances, next)
}
