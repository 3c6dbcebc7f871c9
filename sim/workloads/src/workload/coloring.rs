//! `coloring`: assigns colours to nodes, one colour per round of random values.
use std::rc::Rc;

use super::check::Results;
use super::graph::{Graph, Kind, OnGraph};
use super::helpers::{int, launch_row, place_words};
use super::plan::Plan;
use super::{Arg, Launch, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const THREADS_PER_BLOCK: u32 = 256;
const NONE: u32 = u32::MAX;

pub(super) const COLORING: OnGraph = OnGraph {
    name: "coloring",
    summary: "graph colouring by random values of the nodes",
    papers: "LATTE-CC (CLR)",
    ptx: ("coloring.ptx", include_str!("../../kernels/coloring.ptx")),
    nodes: |size| match size {
        Size::Tiny => 1 << 10,
        Size::Small => 16_000,
        Size::Study => 256_000,
        Size::Paper => 1_000_000,
    },
    kind: |_| Kind::Mesh,
    is_directed: false,
    plan,
};

fn plan(graph: Rc<Graph>, _: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let nodes = graph.nodes();
    let [first, target] = graph.place(memory)?;
    let value = place_words(memory, "value", &graph.values())?;
    let color = place_words(memory, "color", &vec![NONE; nodes])?;
    let highest = place_words(memory, "highest", &vec![NONE; nodes])?;
    let again = place_words(memory, "again", &[1])?;
    let launch =
        move |kernel: &str, pointers: &[u64], numbers: &[usize]| -> Result<Option<Launch>, WorkloadError> {
            let pointers = pointers.iter().map(|pointer| Arg::Ptr(*pointer));
            let args = pointers.chain(numbers.iter().map(|number| int(*number))).collect();
            Ok(Some(launch_row(kernel, nodes, THREADS_PER_BLOCK, args)))
        };
    // Colours count from 1. Each round colours one node or more.
    let (mut looks, mut round) = (true, 0);
    let launches = move |memory: &mut DeviceMemory| {
        looks = !looks;
        if looks {
            return launch("coloring_take", &[value, color, highest], &[round, nodes]);
        }
        if memory.read_u32s(again, 1)? == [0] || round == nodes {
            return Ok(None);
        }
        memory.write_u32s(again, &[0])?;
        round += 1;
        launch("coloring_look", &[first, target, value, color, again, highest], &[nodes])
    };
    Ok(Plan::following(launches, move |memory| {
        let got = memory.read_u32s(color, nodes)?;
        Results { workload: "coloring", buffer: "color", got: &got }.equal(reference(&graph))
    }))
}

/// Returns the colours. Neighbours with the same value take the same colour, as on the device, and a node with one
/// edge ignores its neighbour.
fn reference(graph: &Graph) -> Vec<u32> {
    let (value, mut color) = (graph.values(), vec![NONE; graph.nodes()]);
    let mut open: Vec<usize> = (0..graph.nodes()).collect();
    for round in 1.. {
        let blocks = |node: usize, other: usize| color[other] == NONE && value[other] > value[node];
        let is_highest = |node: &usize| {
            graph.edges(*node).len() == 1 || !graph.neighbours(*node).any(|other| blocks(*node, other))
        };
        let (taken, left): (Vec<usize>, Vec<usize>) = open.into_iter().partition(is_highest);
        open = left;
        taken.into_iter().for_each(|node| color[node] = round);
        if open.is_empty() {
            break;
        }
    }
    color
}
