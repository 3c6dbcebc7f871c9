//! `bfs`: breadth-first search level by level, as Rodinia's bfs.
//!
//! Each level has two launches. In the first, the frontier's nodes reach their neighbours. In the second, the reached
//! nodes become the frontier and set a flag that the host reads. Masks are bytes; levels and node ids are small
//! integers.
use std::collections::VecDeque;
use std::path::Path;

use super::check::Results;
use super::helpers::{int, launch_row, mebibytes};
use super::input::{TextWords, read_text};
use super::plan::{Plan, PlanRun};
use super::random::Random;
use super::{Arg, Group, HostProgram, Size, Workload, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const NAME: &str = "bfs";
const THREADS_PER_BLOCK: u32 = 256;
const SEED: u64 = 0xbf5;

/// Max number of nodes or edges, within the range of the kernels' 32-bit indices.
const MOST: usize = i32::MAX as usize / 2;

/// Level of an unreached node.
const UNREACHED: i32 = -1;

pub(super) struct Bfs;

fn nodes(size: Size) -> usize {
    match size {
        Size::Tiny => 1 << 10,
        Size::Small => 1 << 14,
        Size::Study | Size::Paper => 1 << 16,
    }
}

/// A directed graph. The edges of a node are consecutive in `targets`.
#[derive(Debug, PartialEq)]
struct BfsGraph {
    /// First edge and number of edges of each node.
    nodes: Vec<[i32; 2]>,
    /// Target node of each edge.
    targets: Vec<i32>,
    /// Node at which the search starts.
    source: usize,
}

impl BfsGraph {
    /// Returns a random graph with the degrees of Rodinia's generated graphs. Each node draws 1 to 5 partners, and
    /// every pair is connected in both directions. A node has 6 edges on average, and about 18 at most.
    fn random(count: usize) -> Self {
        let mut random = Random::new(SEED);
        let mut neighbours = vec![Vec::new(); count];
        for node in 0..count {
            for _ in 0..=random.below(5) {
                let partner = random.below(count as u32) as usize;
                neighbours[node].push(partner as i32);
                neighbours[partner].push(node as i32);
            }
        }
        let mut first = 0;
        let mut place = |degree: usize| {
            let node = [first, degree as i32];
            first += degree as i32;
            node
        };
        let nodes = neighbours.iter().map(|targets| place(targets.len())).collect();
        Self { nodes, targets: neighbours.concat(), source: 0 }
    }

    /// Reads Rodinia's format: the number of nodes; the first edge and degree of each; the source; the number of
    /// edges; the target and weight of each. The search does not use the weights, but they must be integers.
    fn read(file: &Path) -> Result<Self, WorkloadError> {
        let text = read_text(file, "a graph")?;
        let mut words = TextWords::new(file, &text);
        let count = words.integer("number of nodes", 1..=MOST)?;
        let mut nodes = Vec::new();
        for node in 0..count {
            let first = words.integer(format_args!("first edge of node {node}"), 0..=MOST)?;
            let degree = words.integer(format_args!("degree of node {node}"), 0..=MOST - first)?;
            nodes.push([first as i32, degree as i32]);
        }
        let source = words.integer("source node", 0..=count - 1)?;
        let ends = nodes.iter().map(|[first, degree]| (first + degree) as usize);
        let least = ends.max().unwrap_or(0);
        let edges = words.integer("number of edges", least..=MOST)?;
        let mut targets = Vec::new();
        for edge in 0..edges {
            targets.push(words.integer(format_args!("target of edge {edge}"), 0..=count - 1)? as i32);
            words.integer(format_args!("weight of edge {edge}"), 0..=MOST)?;
        }
        words.end("the last edge")?;
        Ok(Self { nodes, targets, source })
    }

    /// Returns every node's level, by a search with a queue.
    fn levels(&self) -> Vec<i32> {
        let mut levels = vec![UNREACHED; self.nodes.len()];
        levels[self.source] = 0;
        let mut queue = VecDeque::from([self.source]);
        while let Some(node) = queue.pop_front() {
            let [first, degree] = self.nodes[node];
            for &target in &self.targets[first as usize..(first + degree) as usize] {
                if levels[target as usize] == UNREACHED {
                    levels[target as usize] = levels[node] + 1;
                    queue.push_back(target as usize);
                }
            }
        }
        levels
    }
}

impl Workload for Bfs {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "breadth-first search level by level, one thread per node"
    }

    fn papers(&self) -> &'static str {
        "LATTE-CC (BFS, 65,536 nodes), CABA (BFS), LAMAR (BFS2)"
    }

    fn group(&self) -> Group {
        Group::Graphs
    }

    fn ptx(&self) -> (&'static str, &'static str) {
        ("bfs.ptx", include_str!("../../kernels/bfs.ptx"))
    }

    fn description(&self, size: Size) -> String {
        let count = nodes(size);
        // 6 edges of 4 bytes, a node of 8, a cost of 4 and three masks of 1 byte each.
        format!(
            "random graph of {count} nodes and about {} edges, {}",
            6 * count,
            mebibytes((6 * 4 + 15) * count)
        )
    }

    fn input(&self) -> Option<&'static str> {
        Some("a graph of Rodinia")
    }

    fn start(&self, size: Size, input: Option<&Path>) -> Result<Box<dyn HostProgram>, WorkloadError> {
        let graph = input.map_or_else(|| Ok(BfsGraph::random(nodes(size))), BfsGraph::read)?;
        Ok(Box::new(PlanRun::new(NAME, move |memory| {
            let buffers = Buffers::new(&graph, memory)?;
            Ok(search(graph, buffers))
        })))
    }
}

#[derive(Clone, Copy)]
struct Buffers {
    nodes: u64,
    edges: u64,
    frontier: u64,
    reached: u64,
    visited: u64,
    cost: u64,
    again: u64,
}

impl Buffers {
    fn new(graph: &BfsGraph, memory: &mut DeviceMemory) -> Result<Self, WorkloadError> {
        let BfsGraph { nodes, targets, source } = graph;
        let count = nodes.len() as u64;
        let buffers = Buffers {
            nodes: memory.alloc(8 * count, "nodes")?,
            edges: memory.alloc(4 * targets.len() as u64, "edges")?,
            frontier: memory.alloc(count, "frontier")?,
            reached: memory.alloc(count, "reached")?,
            visited: memory.alloc(count, "visited")?,
            cost: memory.alloc(4 * count, "cost")?,
            again: memory.alloc(1, "again")?,
        };
        let mut levels = vec![UNREACHED; nodes.len()];
        levels[*source] = 0;
        memory.write_i32s(buffers.nodes, nodes.as_flattened())?;
        memory.write_i32s(buffers.edges, targets)?;
        memory.write_i32s(buffers.cost, &levels)?;
        memory.write(buffers.frontier + *source as u64, &[1])?;
        memory.write(buffers.visited + *source as u64, &[1])?;
        Ok(buffers)
    }
}

/// Returns the search in filled buffers: two launches for each level.
fn search(graph: BfsGraph, buffers: Buffers) -> Plan {
    let Buffers { nodes, edges, frontier, reached, visited, cost, again } = buffers;
    let count = graph.nodes.len();
    let launch = move |kernel, pointers: &[u64]| {
        let args = pointers.iter().map(|&address| Arg::Ptr(address)).chain([int(count)]);
        Ok(Some(launch_row(kernel, count, THREADS_PER_BLOCK, args.collect())))
    };
    // Level in progress: 0 while the source is the frontier.
    let (mut level, mut has_begun, mut is_expanded) = (0, false, false);
    let launches = move |memory: &mut DeviceMemory| {
        if is_expanded {
            is_expanded = false;
            return launch("bfs_advance", &[frontier, reached, visited, again]);
        }
        if has_begun {
            let mut flag = [0];
            memory.read(again, &mut flag)?;
            if flag[0] == 0 {
                return Ok(None);
            }
            level += 1;
            check_end(level, count)?;
        }
        (has_begun, is_expanded) = (true, true);
        memory.write(again, &[0])?;
        launch("bfs_expand", &[nodes, edges, frontier, reached, visited, cost])
    };
    Plan::following(launches, move |memory| {
        let got = memory.read_i32s(cost, count)?;
        Results { workload: NAME, buffer: "cost", got: &got }.equal(graph.levels())
    })
}

/// Checks a level before its search. A correct search has fewer levels than nodes. More levels mean that the device's
/// masks are wrong, and the search would never end.
fn check_end(level: usize, most: usize) -> Result<(), WorkloadError> {
    if level < most {
        return Ok(());
    }
    Err(WorkloadError::Mismatch {
        workload: NAME,
        buffer: "again",
        index: 0,
        got: format!("1 after level {level}"),
        expected: format!("an end within {most} levels"),
        tolerance: "must be equal".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::{refusal, with_file};

    /// Edges 0 -> 1, 0 -> 2, 2 -> 0. Node 1 is a dead end.
    const GOOD: &str = "3\n0 2\n2 0\n2 1\n\n2\n\n3\n1 7\n2 7\n0 7\n";

    #[test]
    fn rodinias_format_is_read() {
        let graph = with_file("graph.txt", GOOD, |file| BfsGraph::read(file).unwrap());
        assert_eq!(graph.nodes, [[0, 2], [2, 0], [2, 1]]);
        assert_eq!(graph.targets, [1, 2, 0]);
        assert_eq!(graph.levels(), [1, 2, 0]);
    }

    #[test]
    fn a_device_that_never_lets_the_search_end_is_caught() {
        let graph = with_file("graph.txt", GOOD, |file| BfsGraph::read(file).unwrap());
        let mut memory = DeviceMemory::new();
        let buffers = Buffers::new(&graph, &mut memory).unwrap();
        let mut run = PlanRun::new(NAME, move |_| Ok(search(graph, buffers)));
        let stopped = (0..100).find_map(|_| {
            let next = run.next(&mut memory);
            memory.write(buffers.again, &[1]).unwrap();
            next.err()
        });
        let text = stopped.expect("the search is stopped").to_string();
        assert!(
            text.starts_with("bfs: again[0] = 1 after level 3, the CPU reference gives an end within 3"),
            "{text}"
        );
    }

    #[test]
    fn malformed_graphs_are_refused_in_one_line() {
        let cases = [
            ("0\n", ":1: number of nodes = '0': must be an integer from 1 to 1073741823"),
            ("2\n0 1\n1 x\n", ":3: degree of node 1 = 'x': must be an integer from 0 to 1073741822"),
            ("2\n0 1\n", ":2: first edge of node 1 = 'end of file': must be an integer from 0 to 1073741823"),
            ("1\n0 1\n1\n", ":3: source node = '1': must be an integer from 0 to 0"),
            ("1\n3 1\n0\n3\n", ":4: number of edges = '3': must be an integer from 4 to 1073741823"),
            ("1\n0 1\n0\n1\n1 1\n", ":5: target of edge 0 = '1': must be an integer from 0 to 0"),
            ("1\n0 1\n0\n1\n0 1 9\n", ":5: text after the last edge = '9': must be the end of the file"),
        ];
        for (text, expected) in cases {
            assert_eq!(refusal("graph.txt", text, BfsGraph::read), format!("graph.txt{expected}"));
        }
    }

    #[test]
    fn the_random_graph_has_rodinias_degrees_and_is_joined_both_ways() {
        let graph = BfsGraph::random(4096);
        let degrees = graph.nodes.iter().map(|[_, degree]| *degree);
        assert!((22_000..27_000).contains(&graph.targets.len()), "{} edges", graph.targets.len());
        assert!(degrees.clone().min().unwrap() >= 1);
        assert!((14..25).contains(&degrees.max().unwrap()));
        let deepest = graph.levels().into_iter().max().unwrap();
        assert!((5..20).contains(&deepest), "{deepest} levels");
        assert_eq!(graph, BfsGraph::random(4096));
    }
}
