//! `sssp`: shortest paths from node 0 to every node, by relaxing all edges until nothing changes.
use std::rc::Rc;

use super::check::Results;
use super::graph::{Graph, Kind, OnGraph};
use super::helpers::{int, launch_row, place_words};
use super::plan::Plan;
use super::{Arg, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const THREADS_PER_BLOCK: u32 = 128;
const SOURCE: usize = 0;

pub(super) const SSSP: OnGraph = OnGraph {
    name: "sssp",
    summary: "single-source shortest paths by relaxation of all edges until nothing changes",
    papers: "LAMAR and CABA (SSSP, sssp)",
    ptx: ("sssp.ptx", include_str!("../../kernels/sssp.ptx")),
    nodes: |size| match size {
        Size::Tiny => 700,
        Size::Small => 8 << 10,
        Size::Study => 24 << 10,
        Size::Paper => 1 << 16,
    },
    kind: |_| Kind::Random,
    is_directed: false,
    plan,
};

fn plan(graph: Rc<Graph>, _: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let nodes = graph.nodes();
    let [first, target] = graph.place(memory)?;
    let weight = place_words(memory, "weight", &graph.weight)?;
    let mut start = vec![u32::MAX; nodes];
    start[SOURCE] = 0;
    let distance = place_words(memory, "distance", &start)?;
    let changed = place_words(memory, "changed", &[1])?;
    let pointers = [first, target, weight, distance, changed].map(Arg::Ptr);
    let args: Vec<Arg> = pointers.into_iter().chain([int(nodes)]).collect();
    // A shortest path has fewer edges than the graph has nodes, so this many rounds are sufficient.
    let mut rounds = 0..nodes;
    let launches = move |memory: &mut DeviceMemory| {
        if memory.read_u32s(changed, 1)? == [0] || rounds.next().is_none() {
            return Ok(None);
        }
        memory.write_u32s(changed, &[0])?;
        Ok(Some(launch_row("sssp_relax", nodes, THREADS_PER_BLOCK, args.clone())))
    };
    Ok(Plan::following(launches, move |memory| {
        let got = memory.read_u32s(distance, nodes)?;
        Results { workload: "sssp", buffer: "distance", got: &got }.equal(reference(&graph))
    }))
}

/// Computes the distances by Dijkstra's algorithm.
fn reference(graph: &Graph) -> Vec<u32> {
    let mut distance = vec![u32::MAX; graph.nodes()];
    let mut open = std::collections::BTreeSet::from([(0, SOURCE)]);
    distance[SOURCE] = 0;
    while let Some((here, node)) = open.pop_first() {
        for edge in graph.edges(node) {
            let (to, there) = (graph.target[edge] as usize, here + graph.weight[edge]);
            if there < distance[to] {
                open.remove(&(distance[to], to));
                open.insert((there, to));
                distance[to] = there;
            }
        }
    }
    distance
}
