//! Graphs in compressed-row form, generated or read in DIMACS format, and the workloads that use them.
use std::path::Path;
use std::rc::Rc;

use super::helpers::place_words;
use super::input::{TextWords, read_text};
use super::plan::{Plan, PlanRun};
use super::random::Random;
use super::{Group, HostProgram, Size, Workload, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x9a9;
/// Max weight of a generated edge. The min is 1.
const HEAVIEST: u32 = 10;
/// Max number of nodes or edges, within the range of the kernels' 32-bit indices.
const MOST: usize = i32::MAX as usize / 4;
/// Max nodes of a file, so that a stated number without matching edges cannot exhaust memory.
const MOST_NODES: usize = 1 << 26;
/// Max weight of an edge in a file. With fewer than 2^16 edges, a path's length fits in 32 bits.
const MOST_WEIGHT: usize = 1 << 15;

/// An undirected graph. Every edge is stored in both directions, with the same weight.
#[derive(Debug, PartialEq)]
pub(super) struct Graph {
    /// First edge of each node, and the end of the last node's edges.
    pub(super) first: Vec<u32>,
    /// Target node of each edge.
    pub(super) target: Vec<u32>,
    /// Weight of each edge.
    pub(super) weight: Vec<u32>,
}

impl Graph {
    /// Builds a graph of `nodes` nodes. `edges` has each edge once.
    fn new(nodes: usize, edges: &[(u32, u32, u32)]) -> Self {
        let mut neighbours = vec![Vec::new(); nodes];
        for &(from, to, weight) in edges {
            neighbours[from as usize].push((to, weight));
            neighbours[to as usize].push((from, weight));
        }
        let mut first = vec![0];
        let ends = neighbours.iter().scan(0, |end, edges| {
            *end += edges.len() as u32;
            Some(*end)
        });
        first.extend(ends);
        let (target, weight) = neighbours.concat().into_iter().unzip();
        Graph { first, target, weight }
    }

    /// Returns a random graph. Each node draws 1 to 5 partners, which gives 6 edges per node on average.
    fn random(nodes: usize) -> Self {
        let mut random = Random::new(SEED);
        let mut edges = Vec::new();
        for node in 0..nodes as u32 {
            for _ in 0..=random.below(5) {
                edges.push((node, random.below(nodes as u32), 1 + random.below(HEAVIEST)));
            }
        }
        Graph::new(nodes, &edges)
    }

    /// Returns a road network like the maps of the DIMACS challenge. Crossings form rows and columns, and are
    /// numbered along the rows. A road to the next crossing in either direction exists with a probability of 0.7.
    /// This gives 2.8 edges per node, short distances in memory, and paths of many edges. Lengths are 20 to 3,000,
    /// and short roads are more frequent.
    fn road(nodes: usize) -> Self {
        let mut random = Random::new(SEED ^ 2);
        let width = nodes.isqrt();
        let mut edges = Vec::new();
        for node in 0..nodes {
            let is_last = node % width == width - 1;
            for (next, is_there) in [(node + 1, !is_last), (node + width, true)] {
                if is_there && next < nodes && random.below(10) < 7 {
                    let length = 20 + random.below(2981).min(random.below(2981));
                    edges.push((node as u32, next as u32, length));
                }
            }
        }
        Graph::new(nodes, &edges)
    }

    /// Reads DIMACS format: comments `c ...`, one line `p sp NODES EDGES`, then `a FROM TO WEIGHT` per edge. Nodes
    /// count from 1. Edges are undirected.
    fn read(file: &Path) -> Result<Self, WorkloadError> {
        let text = read_text(file, "a graph")?;
        let mut size = None;
        let mut edges = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let refuse = |what: &str, value: &str, allowed: &str| {
                Err(WorkloadError::bad_input(file, number + 1, what, value, allowed))
            };
            let mut words = TextWords::of_line(file, number + 1, line);
            match (words.next_word(), size) {
                (None | Some("c"), _) => continue,
                (Some("p"), None) => {
                    let form = words.next_word().unwrap_or("");
                    if form != "sp" {
                        return refuse("form of the problem", form, "sp");
                    }
                    let nodes = words.integer("number of nodes", 1..=MOST_NODES)?;
                    size = Some((nodes, words.integer("number of edges", 0..=MOST)?));
                }
                (Some("a"), Some((nodes, count))) => {
                    if edges.len() == count {
                        return refuse("edge", line, &format!("{count} edges, as the line `p sp` says"));
                    }
                    let from = words.integer("first node of the edge", 1..=nodes)? as u32 - 1;
                    let to = words.integer("second node of the edge", 1..=nodes)? as u32 - 1;
                    edges.push((from, to, words.integer("weight of the edge", 0..=MOST_WEIGHT)? as u32));
                }
                (Some(other), None) => return refuse("line", other, "c, or one line `p sp NODES EDGES`"),
                (Some(other), Some(_)) => return refuse("line", other, "c, or `a FROM TO WEIGHT`"),
            }
            words.end("the line's last number")?;
        }
        let last = text.lines().count().max(1);
        match size {
            None => Err(WorkloadError::bad_input(file, last, "line", "end of file", "p sp NODES EDGES")),
            Some((_, count)) if edges.len() < count => {
                let got = edges.len().to_string();
                Err(WorkloadError::bad_input(file, last, "number of edges", &got, count.to_string()))
            }
            Some((nodes, _)) => Ok(Graph::new(nodes, &edges)),
        }
    }

    /// Returns the number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.first.len() - 1
    }

    /// Returns the indices of a node's edges.
    pub(super) fn edges(&self, node: usize) -> std::ops::Range<usize> {
        self.first[node] as usize..self.first[node + 1] as usize
    }

    /// Returns the neighbours of a node.
    pub(super) fn neighbours(&self, node: usize) -> impl Iterator<Item = usize> {
        self.target[self.edges(node)].iter().map(|target| *target as usize)
    }

    /// Returns the numbers from 1 to the number of nodes, in random order.
    pub(super) fn priorities(&self) -> Vec<u32> {
        let mut random = Random::new(SEED ^ 1);
        let mut numbers: Vec<u32> = (1..=self.nodes() as u32).collect();
        for last in (1..numbers.len()).rev() {
            numbers.swap(last, random.below(last as u32 + 1) as usize);
        }
        numbers
    }

    /// Allocates device memory for first edges and targets, and fills it.
    pub(super) fn place(&self, memory: &mut DeviceMemory) -> Result<[u64; 2], WorkloadError> {
        Ok([place_words(memory, "first", &self.first)?, place_words(memory, "target", &self.target)?])
    }
}

/// A workload on a graph, generated or read from a file.
pub(super) struct OnGraph {
    pub name: &'static str,
    pub summary: &'static str,
    pub papers: &'static str,
    /// Name and text of the PTX file.
    pub ptx: (&'static str, &'static str),
    /// Nodes of the generated graph.
    pub nodes: fn(Size) -> usize,
    /// `true`: the graph of `study` is a road network.
    pub on_roads: bool,
    /// Allocates and fills the buffers.
    pub plan: fn(Rc<Graph>, &mut DeviceMemory) -> Result<Plan, WorkloadError>,
}

impl OnGraph {
    fn has_roads(&self, size: Size) -> bool {
        self.on_roads && size == Size::Study
    }
}

impl Workload for OnGraph {
    fn name(&self) -> &'static str {
        self.name
    }
    fn summary(&self) -> &'static str {
        self.summary
    }
    fn papers(&self) -> &'static str {
        self.papers
    }
    fn group(&self) -> Group {
        Group::Graphs
    }
    fn ptx(&self) -> (&'static str, &'static str) {
        self.ptx
    }
    fn description(&self, size: Size) -> String {
        let nodes = (self.nodes)(size);
        if self.has_roads(size) {
            return format!("network of roads of {nodes} nodes and about {} edges", 14 * nodes / 5);
        }
        format!("random graph of {nodes} nodes and about {} edges", 6 * nodes)
    }
    fn input(&self) -> Option<&'static str> {
        Some("a graph in the DIMACS form")
    }
    fn start(&self, size: Size, input: Option<&Path>) -> Result<Box<dyn HostProgram>, WorkloadError> {
        let nodes = (self.nodes)(size);
        let generate = if self.has_roads(size) { Graph::road } else { Graph::random };
        let graph = input.map_or_else(|| Ok(generate(nodes)), Graph::read)?;
        let plan = self.plan;
        Ok(Box::new(PlanRun::new(self.name, move |memory| plan(Rc::new(graph), memory))))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{refusal, with_file};
    use super::*;

    #[test]
    fn every_edge_of_a_file_is_there_in_both_directions() {
        let text = "c a path\np sp 3 2\na 1 2 7\n\na 2 3 9\n";
        let graph = with_file("g.gr", text, Graph::read).unwrap();
        let expected = Graph { first: vec![0, 1, 3, 4], target: vec![1, 0, 2, 1], weight: vec![7, 7, 9, 9] };
        assert_eq!(graph, expected);
    }

    #[test]
    fn malformed_files_are_refused_with_line_value_and_what_is_allowed() {
        let refusals = [
            ("", "g.gr:1: line = 'end of file': must be p sp NODES EDGES"),
            ("x 1\n", "g.gr:1: line = 'x': must be c, or one line `p sp NODES EDGES`"),
            ("p max 3 1\n", "g.gr:1: form of the problem = 'max': must be sp"),
            ("p sp 3 2\na 1 2 3\n", "g.gr:2: number of edges = '1': must be 2"),
            ("p sp 3 1\na 1 4 3\n", "g.gr:2: second node of the edge = '4': must be an integer from 1 to 3"),
            (
                "p sp 3 1\na 1 2 3 4\n",
                "g.gr:2: text after the line's last number = '4': must be the end of the file",
            ),
            (
                "p sp 3 1\na 1 2 3\na 1 2 3\n",
                "g.gr:3: edge = 'a 1 2 3': must be 1 edges, as the line `p sp` says",
            ),
        ];
        for (text, expected) in refusals {
            assert_eq!(refusal("g.gr", text, Graph::read), expected);
        }
    }

    #[test]
    fn roads_lead_to_neighbours_and_have_lengths() {
        let graph = Graph::road(10_000);
        let degree = graph.target.len() as f64 / 10_000.0;
        assert!((2.6..2.9).contains(&degree), "{degree}");
        for node in 0..graph.nodes() {
            assert!(graph.neighbours(node).all(|other| [1, 100].contains(&node.abs_diff(other))));
        }
        assert!(graph.weight.iter().all(|length| (20..=3000).contains(length)));
    }

    #[test]
    fn priorities_are_a_permutation() {
        let mut priorities = Graph::random(100).priorities();
        priorities.sort_unstable();
        assert_eq!(priorities, (1..=100).collect::<Vec<_>>());
    }
}
