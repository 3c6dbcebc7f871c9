//! `coloring`: assigns colours to nodes so that neighbours differ, one colour per round of random priorities.
use std::rc::Rc;

use super::check::Results;
use super::graph::{Graph, OnGraph};
use super::helpers::{int, launch_row, place_words};
use super::plan::Plan;
use super::{Arg, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const THREADS_PER_BLOCK: u32 = 128;
const NONE: u32 = u32::MAX;

pub(super) const COLORING: OnGraph = OnGraph {
    name: "coloring",
    summary: "graph colouring by random priorities",
    papers: "LATTE-CC (CLR)",
    ptx: ("coloring.ptx", include_str!("../../kernels/coloring.ptx")),
    nodes: |size| match size {
        Size::Tiny => 700,
        Size::Small => 8 << 10,
        Size::Study => 32 << 10,
        Size::Paper => 1 << 17,
    },
    on_roads: false,
    plan,
};

fn plan(graph: Rc<Graph>, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let nodes = graph.nodes();
    let [first, target] = graph.place(memory)?;
    let priority = place_words(memory, "priority", &graph.priorities())?;
    let color = place_words(memory, "color", &vec![NONE; nodes])?;
    let highest = memory.alloc(4 * nodes as u64, "highest")?;
    let again = place_words(memory, "again", &[0])?;
    let launch = move |kernel, pointers: &[u64], numbers: &[usize]| {
        let pointers = pointers.iter().map(|pointer| Arg::Ptr(*pointer));
        let args = pointers.chain(numbers.iter().map(|number| int(*number))).collect();
        launch_row(kernel, nodes, THREADS_PER_BLOCK, args)
    };
    let (mut looks, mut round) = (true, 0);
    let launches = move |memory: &mut DeviceMemory| {
        let launch = if looks {
            memory.write_u32s(again, &[0])?;
            launch("coloring_look", &[first, target, priority, color, highest, again], &[nodes])
        } else if memory.read_u32s(again, 1)? == [0] || round == nodes {
            return Ok(None);
        } else {
            round += 1;
            launch("coloring_take", &[priority, highest, color], &[round - 1, nodes])
        };
        looks = !looks;
        Ok(Some(launch))
    };
    Ok(Plan::following(launches, move |memory| {
        let got = memory.read_u32s(color, nodes)?;
        Results { workload: "coloring", buffer: "color", got: &got }.equal(reference(&graph))
    }))
}

fn reference(graph: &Graph) -> Vec<u32> {
    let (priority, mut color) = (graph.priorities(), vec![NONE; graph.nodes()]);
    for round in 0.. {
        let is_open = |node: &usize| color[*node] == NONE;
        let is_highest = |node: &usize| {
            let others = graph.neighbours(*node).filter(|other| other != node && is_open(other));
            others.into_iter().all(|other| priority[other] < priority[*node])
        };
        let taken: Vec<usize> = (0..graph.nodes()).filter(is_open).filter(is_highest).collect();
        if taken.is_empty() {
            break;
        }
        taken.into_iter().for_each(|node| color[node] = round);
    }
    color
}
