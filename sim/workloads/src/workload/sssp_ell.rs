//! `sssp_ell`: shortest paths from one node, on a road map in ELL format.
use std::rc::Rc;

use super::check::Results;
use super::graph::{Graph, Kind, OnGraph};
use super::helpers::{int, launch_row, place_words};
use super::plan::Plan;
use super::{Arg, Launch, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const THREADS_PER_BLOCK: u32 = 64;
/// Distance of unreached nodes and length of padding. The sum of two such lengths still fits in 32 bits.
const FAR: u32 = 99_999_999;

pub(super) const SSSP_ELL: OnGraph = OnGraph {
    name: "sssp_ell",
    summary: "single-source shortest paths as products with an adjacency matrix in ELL format",
    papers: "LATTE-CC (DJK)",
    ptx: ("sssp_ell.ptx", include_str!("../../kernels/sssp_ell.ptx")),
    nodes: |size| match size {
        Size::Tiny => 400,
        Size::Small => 3000,
        Size::Study => 32 << 10,
        Size::Paper => 264_346,
    },
    kind: |_| Kind::Map,
    is_directed: true,
    plan,
};

/// Returns the max number of products. A path has fewer edges than the graph has nodes.
fn rounds(size: Size, nodes: usize) -> usize {
    match size {
        Size::Study => 64,
        Size::Tiny | Size::Small | Size::Paper => nodes - 1,
    }
}

/// An adjacency matrix in ELL format, by columns. Row `n` has the edges to node `n`.
struct Ell {
    height: usize,
    neighbour: Vec<u32>,
    length: Vec<u32>,
}

impl Ell {
    /// Converts the matrix. Padding repeats the last neighbour of a row.
    fn new(reverse: &Graph) -> Self {
        let nodes = reverse.nodes();
        let height = (0..nodes).map(|node| reverse.edges(node).len()).max().unwrap_or(0);
        let (mut neighbour, mut length) = (vec![0; height * nodes], vec![FAR; height * nodes]);
        for node in 0..nodes {
            let edges = reverse.edges(node);
            for entry in 0..height {
                let Some(last) = edges.clone().last() else { break };
                let edge = edges.start + entry;
                neighbour[entry * nodes + node] = reverse.target[edge.min(last)];
                if edge <= last {
                    length[entry * nodes + node] = reverse.weight[edge];
                }
            }
        }
        Ell { height, neighbour, length }
    }
}

fn plan(graph: Rc<Graph>, size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let nodes = graph.nodes();
    // The node in the middle is the source: on a generated map, it has roads in all directions.
    let (source, rounds) = (nodes / 2, rounds(size, nodes));
    let ell = Ell::new(&graph.reversed());
    let neighbour = place_words(memory, "neighbour", &ell.neighbour)?;
    let length = place_words(memory, "length", &ell.length)?;
    let [before, distance, changed] = [
        memory.alloc(4 * nodes as u64, "before")?,
        memory.alloc(4 * nodes as u64, "distance")?,
        place_words(memory, "changed", &[1])?,
    ];
    let vectors = [Arg::Ptr(before), Arg::Ptr(distance)];
    let matrix = [int(nodes), int(ell.height), Arg::Ptr(neighbour), Arg::Ptr(length)];
    let launch = move |kernel: &str, args: Vec<Arg>| -> Result<Option<Launch>, WorkloadError> {
        Ok(Some(launch_row(kernel, nodes, THREADS_PER_BLOCK, args)))
    };
    let mut steps = 0..=3 * rounds;
    let launches = move |memory: &mut DeviceMemory| match steps.next() {
        None => Ok(None),
        Some(0) => launch("sssp_ell_start", [&vectors[..], &[int(source), int(nodes)]].concat()),
        Some(step) if step % 3 == 1 => {
            if memory.read_u32s(changed, 1)? == [0] {
                return Ok(None);
            }
            memory.write_u32s(changed, &[0])?;
            launch("sssp_ell_assign", [&vectors[..], &[int(nodes)]].concat())
        }
        Some(step) if step % 3 == 2 => launch("sssp_ell_relax", [&matrix[..], &vectors].concat()),
        Some(_) => launch("sssp_ell_compare", [&vectors[..], &[Arg::Ptr(changed), int(nodes)]].concat()),
    };
    Ok(Plan::following(launches, move |memory| {
        let got = memory.read_u32s(distance, nodes)?;
        Results { workload: "sssp_ell", buffer: "distance", got: &got }
            .equal(reference(&graph, source, rounds))
    }))
}

/// Returns the lengths of the shortest paths of at most `rounds` edges. Nodes that were reached pass on their
/// distance.
fn reference(graph: &Graph, source: usize, rounds: usize) -> Vec<u32> {
    let mut distance = vec![FAR; graph.nodes()];
    distance[source] = 0;
    let mut reached = vec![source];
    for _ in 0..rounds {
        let offers = reached.iter().flat_map(|&node| {
            let here = distance[node];
            graph.edges(node).map(move |edge| (graph.target[edge] as usize, here + graph.weight[edge]))
        });
        let mut next = Vec::new();
        for (node, there) in offers.collect::<Vec<_>>() {
            if there < distance[node] {
                distance[node] = there;
                next.push(node);
            }
        }
        reached = next;
    }
    distance
}
