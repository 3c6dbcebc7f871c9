//! `betweenness`: betweenness centrality of each node by Brandes' method.
use std::rc::Rc;

use super::check::Results;
use super::graph::{Graph, Kind, OnGraph};
use super::helpers::{int, launch_row, place_words};
use super::plan::Plan;
use super::{Arg, Launch, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const THREADS_PER_BLOCK: u32 = 128;
/// The device adds the terms of a sum in any order. All terms are positive.
const TOLERANCE: f32 = 1e-4;

pub(super) const BETWEENNESS: OnGraph = OnGraph {
    name: "betweenness",
    summary: "betweenness centrality, source by source, level by level outwards and back",
    papers: "LATTE-CC (BC)",
    ptx: ("betweenness.ptx", include_str!("../../kernels/betweenness.ptx")),
    nodes: |size| match size {
        Size::Tiny => 128,
        Size::Small => 512,
        Size::Study | Size::Paper => 1 << 10,
    },
    kind: |_| Kind::Dense,
    is_directed: true,
    plan,
};

/// Returns the number of nodes from which paths are counted.
fn sources(size: Size, nodes: usize) -> usize {
    match size {
        Size::Tiny | Size::Small | Size::Study => nodes.min(4),
        Size::Paper => nodes,
    }
}

fn plan(graph: Rc<Graph>, size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let nodes = graph.nodes();
    let sources = sources(size, nodes);
    let reverse = graph.reversed();
    let [first, target] = graph.place(memory)?;
    let reverse_first = place_words(memory, "reverse first", &reverse.first)?;
    let reverse_target = place_words(memory, "reverse target", &reverse.target)?;
    let [centrality, level, dependency, paths, again] = [
        memory.alloc(4 * nodes as u64, "centrality")?,
        memory.alloc(4 * nodes as u64, "level")?,
        memory.alloc(4 * nodes as u64, "dependency")?,
        memory.alloc(4 * nodes as u64, "paths")?,
        memory.alloc(4, "again")?,
    ];
    let launch = move |kernel: &str, args: Vec<Arg>| -> Result<Option<Launch>, WorkloadError> {
        Ok(Some(launch_row(kernel, nodes, THREADS_PER_BLOCK, args)))
    };
    let outwards = move |depth| {
        let pointers = [first, target, level, paths, again].map(Arg::Ptr);
        launch("betweenness_outwards", [&pointers[..], &[int(nodes), int(depth)]].concat())
    };
    let inwards = move |depth, source| {
        let pointers = [reverse_first, reverse_target, level, paths, dependency].map(Arg::Ptr);
        let numbers = [int(nodes), int(depth), int(source), Arg::Ptr(centrality)];
        launch("betweenness_inwards", [&pointers[..], &numbers].concat())
    };
    let mut step = Sweep::Clear;
    let launches = move |memory: &mut DeviceMemory| -> Result<Option<Launch>, WorkloadError> {
        match step {
            Sweep::Clear => {
                step = Sweep::Start { source: 0 };
                launch("betweenness_clear", vec![Arg::Ptr(centrality), int(nodes)])
            }
            Sweep::Start { source } if source == sources => Ok(None),
            Sweep::Start { source } => {
                step = Sweep::Outwards { source, depth: 0 };
                let pointers = [level, dependency, paths].map(Arg::Ptr);
                launch("betweenness_start", [&[int(source)], &pointers[..], &[int(nodes)]].concat())
            }
            Sweep::Outwards { source, depth }
                if depth == 0 || (depth < nodes && memory.read_u32s(again, 1)? != [0]) =>
            {
                memory.write_u32s(again, &[0])?;
                step = Sweep::Outwards { source, depth: depth + 1 };
                outwards(depth)
            }
            Sweep::Outwards { source, depth } | Sweep::Inwards { source, depth } => {
                step = match depth {
                    1 => Sweep::Start { source: source + 1 },
                    _ => Sweep::Inwards { source, depth: depth - 1 },
                };
                inwards(depth - 1, source)
            }
        }
    };
    Ok(Plan::following(launches, move |memory| {
        let got = memory.read_f32s(centrality, nodes)?;
        Results { workload: "betweenness", buffer: "centrality", got: &got }
            .close(reference(&graph, sources), TOLERANCE)
    }))
}

/// Next launch of a run.
#[derive(Clone, Copy)]
enum Sweep {
    Clear,
    Start { source: usize },
    Outwards { source: usize, depth: usize },
    Inwards { source: usize, depth: usize },
}

/// Returns the centrality of each node.
fn reference(graph: &Graph, sources: usize) -> Vec<f32> {
    let nodes = graph.nodes();
    let mut centrality = vec![0.0; nodes];
    for source in 0..sources {
        let (mut level, mut paths) = (vec![usize::MAX; nodes], vec![0.0; nodes]);
        (level[source], paths[source]) = (0, 1.0);
        let mut order = vec![source];
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            for other in graph.neighbours(node) {
                if level[other] == usize::MAX {
                    level[other] = level[node] + 1;
                    order.push(other);
                }
                if level[other] == level[node] + 1 {
                    paths[other] += paths[node];
                }
            }
        }
        let mut dependency = vec![0.0_f64; nodes];
        for &node in order.iter().rev() {
            let farther = graph.neighbours(node).filter(|other| level[*other] == level[node] + 1);
            dependency[node] =
                farther.map(|other| paths[node] / paths[other] * (1.0 + dependency[other])).sum();
            if node != source {
                centrality[node] += dependency[node];
            }
        }
    }
    centrality.into_iter().map(|sum| sum as f32).collect()
}
