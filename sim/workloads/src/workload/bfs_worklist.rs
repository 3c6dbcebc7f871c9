//! `bfs_worklist`: breadth-first search with lists of the nodes of each level, as LonestarGPU's worklist version.
use std::collections::VecDeque;
use std::rc::Rc;

use super::check::Results;
use super::graph::{Graph, Kind, OnGraph};
use super::helpers::{int, launch_row, place_words};
use super::plan::Plan;
use super::{Arg, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const THREADS_PER_BLOCK: u32 = 128;
/// Level of an unreached node: -1.
const UNREACHED: u32 = u32::MAX;

pub(super) const BFS_WORKLIST: OnGraph = OnGraph {
    name: "bfs_worklist",
    summary: "breadth-first search by worklists, one thread per node of a level",
    papers: "LATTE-CC (BFS), LAMAR (BFS1), CABA (bfs)",
    ptx: ("bfs_worklist.ptx", include_str!("../../kernels/bfs_worklist.ptx")),
    nodes: |size| match size {
        Size::Tiny => 1 << 10,
        Size::Small => 1 << 14,
        Size::Study => 96 << 10,
        Size::Paper => 1 << 17,
    },
    kind: |_| Kind::Random,
    is_directed: false,
    plan,
};

fn plan(graph: Rc<Graph>, _: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let nodes = graph.nodes();
    let [first, target] = graph.place(memory)?;
    let mut unreached = vec![UNREACHED; nodes];
    unreached[0] = 0;
    let level = place_words(memory, "level", &unreached)?;
    // Node 0 is the source, and the only node in the list of level 0.
    let mut lists =
        [place_words(memory, "list", &vec![0; nodes])?, place_words(memory, "next list", &vec![0; nodes])?];
    let count = place_words(memory, "count", &[1])?;
    let mut depth = 0;
    let launches = move |memory: &mut DeviceMemory| {
        let listed = memory.read_u32s(count, 1)?[0] as usize;
        if listed == 0 || depth == nodes {
            return Ok(None);
        }
        memory.write_u32s(count, &[0])?;
        let [list, next] = lists;
        let pointers = [first, target, list, level, next, count].map(Arg::Ptr);
        let args = pointers.into_iter().chain([int(depth), int(listed)]).collect();
        lists.reverse();
        depth += 1;
        Ok(Some(launch_row("bfs_worklist", listed, THREADS_PER_BLOCK, args)))
    };
    Ok(Plan::following(launches, move |memory| {
        let got = memory.read_u32s(level, nodes)?;
        Results { workload: "bfs_worklist", buffer: "level", got: &got }.equal(reference(&graph))
    }))
}

/// Returns every node's level, by a search with a queue.
fn reference(graph: &Graph) -> Vec<u32> {
    let mut level = vec![UNREACHED; graph.nodes()];
    level[0] = 0;
    let mut queue = VecDeque::from([0]);
    while let Some(node) = queue.pop_front() {
        for other in graph.neighbours(node) {
            if level[other] == UNREACHED {
                level[other] = level[node] + 1;
                queue.push_back(other);
            }
        }
    }
    level
}
