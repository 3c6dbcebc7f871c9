//! `mis`: a maximal independent set by Luby's method, in rounds until every node is decided.
use std::rc::Rc;

use super::check::Results;
use super::graph::{Graph, OnGraph};
use super::helpers::{int, launch_row, place_words};
use super::plan::Plan;
use super::{Arg, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const THREADS_PER_BLOCK: u32 = 128;

pub(super) const MIS: OnGraph = OnGraph {
    name: "mis",
    summary: "maximal independent set by random priorities",
    papers: "LATTE-CC (MIS)",
    ptx: ("mis.ptx", include_str!("../../kernels/mis.ptx")),
    nodes: |size| match size {
        Size::Tiny => 1 << 10,
        Size::Small => 16 << 10,
        Size::Study | Size::Paper => 1 << 17,
    },
    on_roads: false,
    plan,
};

fn plan(graph: Rc<Graph>, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let nodes = graph.nodes();
    let [first, target] = graph.place(memory)?;
    let priority = place_words(memory, "priority", &graph.priorities())?;
    let state = place_words(memory, "state", &vec![0; nodes])?;
    let again = place_words(memory, "again", &[0])?;
    let launch = move |kernel, pointers: &[u64]| {
        let args = pointers.iter().map(|pointer| Arg::Ptr(*pointer)).chain([int(nodes)]).collect();
        launch_row(kernel, nodes, THREADS_PER_BLOCK, args)
    };
    let (mut joins, mut rounds) = (true, 0);
    let launches = move |memory: &mut DeviceMemory| {
        let launch = if joins {
            memory.write_u32s(again, &[0])?;
            launch("mis_join", &[first, target, priority, state, again])
        } else if memory.read_u32s(again, 1)? == [0] || rounds == nodes {
            return Ok(None);
        } else {
            rounds += 1;
            launch("mis_leave", &[first, target, state])
        };
        joins = !joins;
        Ok(Some(launch))
    };
    Ok(Plan::following(launches, move |memory| {
        let got = memory.read_u32s(state, nodes)?;
        Results { workload: "mis", buffer: "state", got: &got }.equal(reference(&graph))
    }))
}

/// Returns the set that results from adding nodes one by one in priority order. The rounds compute the same set.
fn reference(graph: &Graph) -> Vec<u32> {
    let (priority, mut state) = (graph.priorities(), vec![0; graph.nodes()]);
    let mut order: Vec<usize> = (0..graph.nodes()).collect();
    order.sort_unstable_by_key(|node| priority[*node]);
    for node in order {
        if state[node] == 0 {
            graph.neighbours(node).for_each(|other| state[other] = 2);
            state[node] = 1;
        }
    }
    state
}
