//! `mis`: a maximal independent set by Luby's method, in rounds until every node is decided.
use std::rc::Rc;

use super::check::Results;
use super::graph::{Graph, Kind, OnGraph};
use super::helpers::{int, launch_row, place_words};
use super::plan::Plan;
use super::{Arg, Launch, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const THREADS_PER_BLOCK: u32 = 128;
/// Mark of a node in the set.
const IN_SET: u32 = 2;

pub(super) const MIS: OnGraph = OnGraph {
    name: "mis",
    summary: "maximal independent set by random values of the nodes",
    papers: "LATTE-CC (MIS)",
    ptx: ("mis.ptx", include_str!("../../kernels/mis.ptx")),
    nodes: |size| match size {
        Size::Tiny => 1 << 10,
        Size::Small => 48_000,
        Size::Study => 512_000,
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
    let [set, state, later, least, again] = [
        memory.alloc(4 * nodes as u64, "set")?,
        memory.alloc(4 * nodes as u64, "state")?,
        memory.alloc(4 * nodes as u64, "later")?,
        memory.alloc(4 * nodes as u64, "least")?,
        place_words(memory, "again", &[1])?,
    ];
    let launch = move |kernel: &str, pointers: &[u64]| -> Result<Option<Launch>, WorkloadError> {
        let args = pointers.iter().map(|pointer| Arg::Ptr(*pointer)).chain([int(nodes)]).collect();
        Ok(Some(launch_row(kernel, nodes, THREADS_PER_BLOCK, args)))
    };
    // Of each round one node or more joins, so this many launches are sufficient.
    let mut steps = 0..=3 * nodes;
    let launches = move |memory: &mut DeviceMemory| match steps.next() {
        None => Ok(None),
        Some(0) => launch("mis_start", &[set, state, later]),
        Some(step) if step % 3 == 1 => {
            if memory.read_u32s(again, 1)? == [0] {
                return Ok(None);
            }
            memory.write_u32s(again, &[0])?;
            launch("mis_look", &[first, target, value, state, least, again])
        }
        Some(step) if step % 3 == 2 => launch("mis_join", &[first, target, value, set, state, later, least]),
        Some(_) => launch("mis_leave", &[later, state]),
    };
    Ok(Plan::following(launches, move |memory| {
        let got = memory.read_u32s(set, nodes)?;
        Results { workload: "mis", buffer: "set", got: &got }.equal(reference(&graph))
    }))
}

/// Returns the marks of the set. Neighbours with the same value join together, as on the device.
fn reference(graph: &Graph) -> Vec<u32> {
    let (value, mut set) = (graph.values(), vec![0; graph.nodes()]);
    let mut is_open = vec![true; graph.nodes()];
    let mut open: Vec<usize> = (0..graph.nodes()).collect();
    while !open.is_empty() {
        let is_lowest = |node: &usize| {
            graph.neighbours(*node).all(|other| !is_open[other] || value[*node] <= value[other])
        };
        let joining: Vec<usize> = open.iter().copied().filter(is_lowest).collect();
        for node in joining {
            (set[node], is_open[node]) = (IN_SET, false);
            graph.neighbours(node).for_each(|other| is_open[other] = false);
        }
        open.retain(|node| is_open[*node]);
    }
    set
}
