//! `pagerank`: the importance of nodes, as repeated products of a sparse matrix and a vector.
use std::rc::Rc;

use super::check::Results;
use super::graph::{Graph, Kind, OnGraph};
use super::helpers::{int, launch_row, place_words};
use super::plan::Plan;
use super::{Arg, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const THREADS_PER_BLOCK: u32 = 64;
/// The reference rounds like the checked-in PTX. All terms are positive.
const TOLERANCE: f32 = 1e-5;

pub(super) const PAGERANK: OnGraph = OnGraph {
    name: "pagerank",
    summary: "PageRank in the form of a sparse matrix-vector product",
    papers: "LATTE-CC (PRK)",
    ptx: ("pagerank.ptx", include_str!("../../kernels/pagerank.ptx")),
    nodes: |size| match size {
        Size::Tiny => 700,
        Size::Small => 12_000,
        Size::Study => 60_000,
        Size::Paper => 299_067,
    },
    kind: |_| Kind::CoAuthors,
    is_directed: false,
    plan,
};

fn iterations(size: Size) -> usize {
    match size {
        Size::Tiny | Size::Small | Size::Study => 3,
        Size::Paper => 20,
    }
}

fn plan(graph: Rc<Graph>, size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let nodes = graph.nodes();
    let iterations = iterations(size);
    let reverse = graph.reversed();
    let [first, target] = reverse.place(memory)?;
    let degrees: Vec<u32> = (0..nodes).map(|node| graph.edges(node).len() as u32).collect();
    let degree = place_words(memory, "degree", &degrees)?;
    let [share, rank, sum] = [
        memory.alloc(4 * reverse.target.len() as u64, "share")?,
        memory.alloc(4 * nodes as u64, "rank")?,
        memory.alloc(4 * nodes as u64, "sum")?,
    ];
    let launch = |kernel: &str, args: Vec<Arg>| launch_row(kernel, nodes, THREADS_PER_BLOCK, args);
    let vectors = || [rank, sum].map(Arg::Ptr);
    let update = || [&vectors()[..], &[int(nodes)]].concat();
    let weigh = [&[first, target, share, degree].map(Arg::Ptr)[..], &[int(nodes)]].concat();
    let multiply = [&[int(nodes)][..], &[first, target, share].map(Arg::Ptr), &vectors()].concat();
    let mut launches = vec![launch("pagerank_start", update()), launch("pagerank_weigh", weigh)];
    for _ in 0..iterations {
        launches.push(launch("pagerank_multiply", multiply.clone()));
        launches.push(launch("pagerank_damp", update()));
    }
    Ok(Plan::of(launches, move |memory| {
        let got = memory.read_f32s(rank, nodes)?;
        Results { workload: "pagerank", buffer: "rank", got: &got }
            .close(reference(&graph, iterations), TOLERANCE)
    }))
}

/// Returns the ranks. Nodes pass shares of their rank along their edges.
fn reference(graph: &Graph, iterations: usize) -> Vec<f32> {
    let nodes = graph.nodes();
    let mut rank = vec![1.0 / nodes as f32; nodes];
    for _ in 0..iterations {
        let mut sum = vec![0.0_f32; nodes];
        for (node, rank) in rank.iter().enumerate() {
            let share = 1.0 / graph.edges(node).len() as f32;
            graph.neighbours(node).for_each(|other| sum[other] = share.mul_add(*rank, sum[other]));
        }
        rank = sum.into_iter().map(|sum| sum.mul_add(0.85, 0.15 / nodes as f32)).collect();
    }
    rank
}
