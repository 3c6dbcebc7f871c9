//! `betweenness`: betweenness centrality of each node for one source, by Brandes' method.
use std::rc::Rc;

use super::check::Results;
use super::graph::{Graph, OnGraph};
use super::helpers::{int, launch_row, place_f32s, place_words};
use super::plan::Plan;
use super::{Arg, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const THREADS_PER_BLOCK: u32 = 128;
const SOURCE: usize = 0;
const UNREACHED: u32 = u32::MAX;
/// The reference rounds like the checked-in PTX. All terms are positive.
const TOLERANCE: f32 = 1e-5;

pub(super) const BETWEENNESS: OnGraph = OnGraph {
    name: "betweenness",
    summary: "betweenness centrality from one source, level by level outwards and back",
    papers: "LATTE-CC (BC)",
    ptx: ("betweenness.ptx", include_str!("../../kernels/betweenness.ptx")),
    nodes: |size| match size {
        Size::Tiny => 700,
        Size::Small => 8 << 10,
        Size::Study | Size::Paper => 1 << 16,
    },
    on_roads: false,
    plan,
};

fn plan(graph: Rc<Graph>, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let nodes = graph.nodes();
    let [first, target] = graph.place(memory)?;
    let (mut levels, mut counts) = (vec![UNREACHED; nodes], vec![0; nodes]);
    (levels[SOURCE], counts[SOURCE]) = (0, 1);
    let level = place_words(memory, "level", &levels)?;
    let paths = place_words(memory, "paths", &counts)?;
    let again = place_words(memory, "again", &[1])?;
    let dependency = place_f32s(memory, "dependency", &vec![0.0; nodes])?;
    let centrality = place_f32s(memory, "centrality", &vec![0.0; nodes])?;
    let launch = move |kernel, pointers: &[u64], numbers: &[usize]| {
        let pointers = pointers.iter().map(|pointer| Arg::Ptr(*pointer));
        let args = pointers.chain(numbers.iter().map(|number| int(*number))).collect();
        launch_row(kernel, nodes, THREADS_PER_BLOCK, args)
    };
    let (mut depth, mut outwards) = (0, true);
    let launches = move |memory: &mut DeviceMemory| {
        if outwards && depth < nodes && memory.read_u32s(again, 1)? != [0] {
            memory.write_u32s(again, &[0])?;
            depth += 1;
            let pointers = [first, target, level, paths, again];
            return Ok(Some(launch("betweenness_outwards", &pointers, &[depth - 1, nodes])));
        }
        outwards = false;
        if depth == 0 {
            return Ok(None);
        }
        depth -= 1;
        let pointers = [first, target, level, paths, dependency, centrality];
        Ok(Some(launch("betweenness_inwards", &pointers, &[depth, SOURCE, nodes])))
    };
    Ok(Plan::following(launches, move |memory| {
        let (counts, expected) = reference(&graph);
        let got = memory.read_u32s(paths, nodes)?;
        Results { workload: "betweenness", buffer: "paths", got: &got }.equal(counts)?;
        let got = memory.read_f32s(centrality, nodes)?;
        Results { workload: "betweenness", buffer: "centrality", got: &got }.close(expected, TOLERANCE)
    }))
}

/// Returns the number of shortest paths and the centrality of each node.
fn reference(graph: &Graph) -> (Vec<u32>, Vec<f32>) {
    let nodes = graph.nodes();
    let (mut level, mut paths) = (vec![usize::MAX; nodes], vec![0_u32; nodes]);
    (level[SOURCE], paths[SOURCE]) = (0, 1);
    let mut order = vec![SOURCE];
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
    let mut dependency = vec![0.0_f32; nodes];
    for &node in order.iter().rev() {
        let farther = graph.neighbours(node).filter(|other| level[*other] == level[node] + 1);
        dependency[node] = farther.fold(0.0, |sum, other| {
            (paths[node] as f32 / paths[other] as f32).mul_add(1.0 + dependency[other], sum)
        });
    }
    dependency[SOURCE] = 0.0;
    (paths, dependency)
}
