//! `mst`: a minimum spanning forest by Boruvka's method, in rounds until no component has an edge that leaves it.
use std::collections::HashMap;
use std::rc::Rc;

use super::check::Results;
use super::graph::{Graph, Kind, OnGraph};
use super::helpers::{int, launch_row, place_words};
use super::plan::Plan;
use super::{Arg, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const THREADS_PER_BLOCK: u32 = 128;

pub(super) const MST: OnGraph = OnGraph {
    name: "mst",
    summary: "minimum spanning forest by Boruvka's method",
    papers: "LAMAR (MST), CABA (mst)",
    ptx: ("mst.ptx", include_str!("../../kernels/mst.ptx")),
    nodes: |size| match size {
        Size::Tiny => 1 << 10,
        Size::Small => 12 << 10,
        Size::Study => 96 << 10,
        Size::Paper => 1 << 17,
    },
    kind: |size| if size == Size::Study { Kind::Roads } else { Kind::Random },
    is_directed: false,
    plan,
};

/// The edges of a graph, each once. Of parallel edges with the same weight, only one is kept.
struct Edges {
    /// Ends and weight of each edge.
    ends: Vec<[u32; 3]>,
    /// Index of the edge, for each direction.
    number: Vec<u32>,
}

impl Edges {
    fn new(graph: &Graph) -> Self {
        let (mut ends, mut number, mut known) = (Vec::new(), Vec::new(), HashMap::new());
        for node in 0..graph.nodes() as u32 {
            for at in graph.edges(node as usize) {
                let other = graph.target[at];
                let edge = [node.min(other), node.max(other), graph.weight[at]];
                number.push(*known.entry(edge).or_insert_with(|| {
                    ends.push(edge);
                    ends.len() as u32 - 1
                }));
            }
        }
        Edges { ends, number }
    }
}

fn plan(graph: Rc<Graph>, _: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let nodes = graph.nodes();
    let edges = Edges::new(&graph);
    let count = edges.ends.len();
    let pairs: Vec<u32> = edges.ends.iter().flat_map(|[from, to, _]| [*from, *to]).collect();
    let names: Vec<u32> = (0..nodes as u32).collect();
    let [first, target] = graph.place(memory)?;
    let weight = place_words(memory, "weight", &graph.weight)?;
    let number = place_words(memory, "edge", &edges.number)?;
    let ends = place_words(memory, "ends", &pairs)?;
    let component = place_words(memory, "component", &names)?;
    let parent = place_words(memory, "parent", &names)?;
    let best = place_words(memory, "best", &vec![u32::MAX; 2 * nodes])?;
    let chosen = place_words(memory, "chosen", &vec![0; count])?;
    let total = place_words(memory, "total", &[0])?;
    let again = place_words(memory, "again", &[0])?;
    let launch = move |kernel, pointers: &[u64]| {
        let args = pointers.iter().map(|pointer| Arg::Ptr(*pointer)).chain([int(nodes)]).collect();
        launch_row(kernel, nodes, THREADS_PER_BLOCK, args)
    };
    // A round at least halves the number of components that can still join, so rounds never exceed nodes.
    let (mut step, most) = (0, 3 * nodes);
    let launches = move |memory: &mut DeviceMemory| {
        let launch = match step % 3 {
            0 if step > 0 && (memory.read_u32s(again, 1)? == [0] || step >= most) => return Ok(None),
            0 => launch("mst_lightest", &[first, target, weight, number, component, best]),
            1 => {
                memory.write_u32s(again, &[0])?;
                launch("mst_join", &[ends, component, best, parent, chosen, total, again])
            }
            _ => launch("mst_flatten", &[parent, component, best]),
        };
        step += 1;
        Ok(Some(launch))
    };
    Ok(Plan::following(launches, move |memory| {
        let (expected, weight) = reference(&graph);
        let got = memory.read_u32s(chosen, count)?;
        Results { workload: "mst", buffer: "chosen", got: &got }.equal(expected)?;
        Results { workload: "mst", buffer: "total", got: &memory.read_u32s(total, 1)? }.equal([weight])
    }))
}

/// Returns the edges that Kruskal's method chooses, from the lightest to the heaviest, and their total weight.
fn reference(graph: &Graph) -> (Vec<u32>, u32) {
    let ends = Edges::new(graph).ends;
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by_key(|edge| (ends[*edge][2], *edge));
    let mut parent: Vec<usize> = (0..graph.nodes()).collect();
    let (mut chosen, mut total) = (vec![0; ends.len()], 0_u32);
    for edge in order {
        let [from, to, weight] = ends[edge];
        let [from, to] = [from, to].map(|node| root(&mut parent, node as usize));
        if from != to {
            parent[from] = to;
            chosen[edge] = 1;
            total = total.wrapping_add(weight);
        }
    }
    (chosen, total)
}

/// Returns the root of the set that contains `node`. Halves the path to it.
fn root(parent: &mut [usize], mut node: usize) -> usize {
    while parent[node] != node {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    node
}
