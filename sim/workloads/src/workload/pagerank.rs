//! `pagerank`: the importance of nodes, gathered along edges as a sparse matrix-vector product.
use std::rc::Rc;

use super::check::Results;
use super::graph::{Graph, OnGraph};
use super::helpers::{int, launch_row, place_f32s};
use super::plan::Plan;
use super::{Arg, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const THREADS_PER_BLOCK: u32 = 128;
const ITERATIONS: usize = 4;
/// The reference rounds like the checked-in PTX. All terms are positive.
const TOLERANCE: f32 = 1e-5;

pub(super) const PAGERANK: OnGraph = OnGraph {
    name: "pagerank",
    summary: "PageRank in the form of a sparse matrix-vector product, four iterations",
    papers: "LATTE-CC (PRK)",
    ptx: ("pagerank.ptx", include_str!("../../kernels/pagerank.ptx")),
    nodes: |size| match size {
        Size::Tiny => 700,
        Size::Small => 16 << 10,
        Size::Study => 64 << 10,
        Size::Paper => 1 << 17,
    },
    on_roads: false,
    plan,
};

fn plan(graph: Rc<Graph>, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let nodes = graph.nodes();
    let [first, target] = graph.place(memory)?;
    let rank = place_f32s(memory, "rank", &vec![1.0 / nodes as f32; nodes])?;
    let share = memory.alloc(4 * nodes as u64, "share")?;
    let launch = |kernel, pointers: &[u64]| {
        let args = pointers.iter().map(|pointer| Arg::Ptr(*pointer)).chain([int(nodes)]).collect();
        launch_row(kernel, nodes, THREADS_PER_BLOCK, args)
    };
    let iteration = [
        launch("pagerank_share", &[first, rank, share]),
        launch("pagerank_gather", &[first, target, share, rank]),
    ];
    let launches = std::iter::repeat_n(iteration, ITERATIONS).flatten().collect();
    Ok(Plan::of(launches, move |memory| {
        let got = memory.read_f32s(rank, nodes)?;
        Results { workload: "pagerank", buffer: "rank", got: &got }.close(reference(&graph), TOLERANCE)
    }))
}

fn reference(graph: &Graph) -> Vec<f32> {
    let nodes = graph.nodes();
    let mut rank = vec![1.0 / nodes as f32; nodes];
    for _ in 0..ITERATIONS {
        let share = |node: usize| match graph.edges(node).len() {
            0 => 0.0,
            degree => rank[node] / degree as f32,
        };
        let share: Vec<f32> = (0..nodes).map(share).collect();
        let gather = |node| graph.neighbours(node).fold(0.0_f32, |sum, other| sum + share[other]);
        rank = (0..nodes).map(|node| gather(node).mul_add(0.85, 0.15 / nodes as f32)).collect();
    }
    rank
}
