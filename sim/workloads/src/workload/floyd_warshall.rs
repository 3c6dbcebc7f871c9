//! `floyd_warshall`: shortest paths between all pairs of nodes, one launch per intermediate node.
use super::check::Results;
use super::helpers::{int, launch_grid, mebibytes, place_words};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0xf7;
/// Distance of unconnected nodes. The sum of two such distances still fits in 32 bits.
const FAR: u32 = 1 << 30;

pub(super) const FLOYD_WARSHALL: Planned = Planned {
    name: "floyd_warshall",
    summary: "all-pairs shortest paths, one launch per intermediate node",
    papers: "LATTE-CC (FW)",
    group: Group::Graphs,
    ptx: ("floyd_warshall.ptx", include_str!("../../kernels/floyd_warshall.ptx")),
    description: |size| {
        let nodes = nodes(size);
        format!("{nodes} nodes, {}", mebibytes(4 * nodes * nodes))
    },
    plan,
};

/// Returns the number of nodes; `paper` is the size of Pannotia's graph.
fn nodes(size: Size) -> usize {
    match size {
        Size::Tiny => 32,
        Size::Small => 104,
        Size::Study | Size::Paper => 256,
    }
}

/// Returns the distances of a graph in which one pair in four is connected, with lengths of 1 to 100.
fn distances(nodes: usize) -> Vec<u32> {
    let mut random = Random::new(SEED);
    let mut draw = || if random.below(4) == 0 { 1 + random.below(100) } else { FAR };
    let mut distances: Vec<u32> = (0..nodes * nodes).map(|_| draw()).collect();
    (0..nodes).for_each(|node| distances[node * nodes + node] = 0);
    distances
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let nodes = nodes(size);
    let distance = place_words(memory, "distance", &distances(nodes))?;
    let launches = (0..nodes).map(|through| {
        let args = vec![Arg::Ptr(distance), int(through), int(nodes)];
        launch_grid("floyd_warshall", [nodes, nodes], [32, 4], args)
    });
    Ok(Plan::of(launches.collect(), move |memory| {
        let got = memory.read_u32s(distance, nodes * nodes)?;
        Results { workload: "floyd_warshall", buffer: "distance", got: &got }.equal(reference(nodes))
    }))
}

fn reference(nodes: usize) -> Vec<u32> {
    let mut distances = distances(nodes);
    for through in 0..nodes {
        for at in 0..nodes * nodes {
            let around = distances[at / nodes * nodes + through] + distances[through * nodes + at % nodes];
            distances[at] = distances[at].min(around);
        }
    }
    distances
}
