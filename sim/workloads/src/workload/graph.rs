//! Graphs in compressed-row form, generated or read in DIMACS format, and the workloads that use them.
use std::collections::HashSet;
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

/// Range of the random values of nodes, from 0 on.
const VALUES: u32 = 2048;
/// Nodes in a row of a large mesh.
const MESH_WIDTH: usize = 1000;
/// One junction of many roads per this many nodes of a map.
const NODES_PER_JUNCTION: usize = 1 << 12;

/// A directed graph. An undirected edge is stored in both directions, with the same weight.
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
    /// Builds a graph of `nodes` nodes from directed edges.
    fn directed(nodes: usize, edges: &[(u32, u32, u32)]) -> Self {
        let mut first = vec![0; nodes + 1];
        edges.iter().for_each(|(from, ..)| first[*from as usize + 1] += 1);
        (0..nodes).for_each(|node| first[node + 1] += first[node]);
        let mut free = first.clone();
        let (mut target, mut weight) = (vec![0; edges.len()], vec![0; edges.len()]);
        for &(from, to, length) in edges {
            let at = &mut free[from as usize];
            (target[*at as usize], weight[*at as usize]) = (to, length);
            *at += 1;
        }
        Graph { first, target, weight }
    }

    /// Builds a graph of `nodes` nodes from undirected edges, each of them given once.
    fn undirected(nodes: usize, edges: &[(u32, u32, u32)]) -> Self {
        let both = edges.iter().flat_map(|&(from, to, weight)| [(from, to, weight), (to, from, weight)]);
        Graph::directed(nodes, &both.collect::<Vec<_>>())
    }

    /// Returns the graph with all edges in the opposite direction.
    pub(super) fn reversed(&self) -> Self {
        let of_node =
            |node| self.edges(node).map(move |edge| (self.target[edge], node as u32, self.weight[edge]));
        Graph::directed(self.nodes(), &(0..self.nodes()).flat_map(of_node).collect::<Vec<_>>())
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
        Graph::undirected(nodes, &edges)
    }

    /// Returns a road network like the maps of the DIMACS challenge. Crossings form rows and columns, and are
    /// numbered along the rows. A road to the next crossing in either direction exists with a probability of 0.7.
    /// This gives 2.8 edges per node, short distances in memory, and paths of many edges. Lengths are 20 to 3,000,
    /// and short roads are more frequent.
    fn road(nodes: usize) -> Self {
        Graph::undirected(nodes, &Graph::roads(nodes))
    }

    /// Returns a road network in which a few junctions have roads in all eight directions. Such junctions determine
    /// the height of a matrix in ELL format.
    fn map(nodes: usize) -> Self {
        let mut edges = Graph::roads(nodes);
        let width = nodes.isqrt();
        let known: HashSet<(u32, u32)> = edges.iter().map(|(from, to, _)| (*from, *to)).collect();
        // The crossing in the second row and column has eight neighbours.
        for junction in (width + 1..nodes.saturating_sub(width + 1)).step_by(NODES_PER_JUNCTION) {
            let around = [junction - width, junction, junction + width].map(|middle| middle - 1..=middle + 1);
            for other in around.into_iter().flatten().filter(|other| *other != junction) {
                let ends = (junction.min(other) as u32, junction.max(other) as u32);
                if !known.contains(&ends) {
                    edges.push((ends.0, ends.1, 20));
                }
            }
        }
        Graph::undirected(nodes, &edges)
    }

    fn roads(nodes: usize) -> Vec<(u32, u32, u32)> {
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
        edges
    }

    /// Returns a directed graph with edges between one pair of nodes in eight on average. Pairs may repeat.
    fn dense(nodes: usize) -> Self {
        let mut random = Random::new(SEED ^ 3);
        let mut edges = Vec::new();
        while edges.len() < nodes * nodes / 8 {
            let (from, to) = (random.below(nodes as u32), random.below(nodes as u32));
            if from != to {
                edges.push((from, to, random.below(100)));
            }
        }
        Graph::directed(nodes, &edges)
    }

    /// Returns a mesh of rows, in which each node has an edge to the next node of its row and of its column.
    fn mesh(nodes: usize) -> Self {
        let width = mesh_width(nodes);
        let mut edges = Vec::new();
        for node in 0..nodes {
            if node % width != width - 1 && node + 1 < nodes {
                edges.push((node as u32, node as u32 + 1, 1));
            }
            if node + width < nodes {
                edges.push((node as u32, (node + width) as u32, 1));
            }
        }
        Graph::undirected(nodes, &edges)
    }

    /// Returns a network of people who write articles together, with the edges per node of the network of DBLP.
    /// An article has two to five authors. Three authors in ten are new and get the next number. Nine in twenty have
    /// one of the last thousand numbers, and the others are chosen in proportion to their articles.
    fn co_authors(nodes: usize) -> Self {
        let mut random = Random::new(SEED ^ 4);
        let (mut edges, mut credits, mut known) = (Vec::new(), Vec::new(), 0);
        while known < nodes as u32 {
            let count = [2, 2, 2, 2, 2, 3, 3, 3, 3, 5][random.below(10) as usize];
            let mut authors: Vec<u32> = Vec::new();
            for _ in 0..count {
                let author = match random.below(20) {
                    0..6 if known < nodes as u32 => known,
                    _ if credits.is_empty() => known,
                    6..11 => credits[random.below(credits.len() as u32) as usize],
                    _ => known - 1 - random.below(known.min(1000)),
                };
                known += u32::from(author == known);
                if !authors.contains(&author) {
                    edges.extend(authors.iter().map(|other| (author.min(*other), author.max(*other), 1)));
                    authors.push(author);
                }
            }
            credits.extend(authors);
        }
        edges.sort_unstable();
        edges.dedup();
        Graph::undirected(nodes, &edges)
    }

    /// Reads DIMACS format: comments `c ...`, one line `p sp NODES EDGES`, then `a FROM TO WEIGHT` per edge. Nodes
    /// count from 1.
    fn read(file: &Path, is_directed: bool) -> Result<Self, WorkloadError> {
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
            Some((nodes, _)) if is_directed => Ok(Graph::directed(nodes, &edges)),
            Some((nodes, _)) => Ok(Graph::undirected(nodes, &edges)),
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

    /// Returns a random value for each node.
    pub(super) fn values(&self) -> Vec<u32> {
        let mut random = Random::new(SEED ^ 1);
        (0..self.nodes()).map(|_| random.below(VALUES)).collect()
    }

    /// Allocates device memory for first edges and targets, and fills it.
    pub(super) fn place(&self, memory: &mut DeviceMemory) -> Result<[u64; 2], WorkloadError> {
        Ok([place_words(memory, "first", &self.first)?, place_words(memory, "target", &self.target)?])
    }
}

/// Returns the nodes in a row of a mesh.
fn mesh_width(nodes: usize) -> usize {
    if nodes < 10 * MESH_WIDTH { nodes.isqrt() } else { MESH_WIDTH }
}

/// Kind of a generated graph.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Random edges, 6 per node on average.
    Random,
    /// Random directed edges, of one pair in eight.
    Dense,
    /// Roads between neighbouring crossings.
    Roads,
    /// Roads with a few large junctions.
    Map,
    /// Edges to four neighbours in a plane.
    Mesh,
    /// Edges between the authors of articles.
    CoAuthors,
}

impl Kind {
    fn generate(self, nodes: usize) -> Graph {
        let generate = match self {
            Kind::Random => Graph::random,
            Kind::Dense => Graph::dense,
            Kind::Roads => Graph::road,
            Kind::Map => Graph::map,
            Kind::Mesh => Graph::mesh,
            Kind::CoAuthors => Graph::co_authors,
        };
        generate(nodes)
    }

    fn description(self, nodes: usize) -> String {
        match self {
            Kind::Random => format!("random graph of {nodes} nodes and about {} edges", 6 * nodes),
            Kind::Dense => format!("random graph of {nodes} nodes and {} directed edges", nodes * nodes / 8),
            Kind::Roads | Kind::Map => {
                format!("network of roads of {nodes} nodes and about {} edges", 14 * nodes / 5)
            }
            Kind::Mesh => format!("mesh of {} x {} nodes", nodes / mesh_width(nodes), mesh_width(nodes)),
            Kind::CoAuthors => format!("network of {nodes} co-authors and about {} edges", 13 * nodes / 2),
        }
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
    /// Kind of the generated graph.
    pub kind: fn(Size) -> Kind,
    /// `true`: an edge of an input file leads in one direction only.
    pub is_directed: bool,
    /// Allocates and fills the buffers.
    pub plan: fn(Rc<Graph>, Size, &mut DeviceMemory) -> Result<Plan, WorkloadError>,
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
        (self.kind)(size).description((self.nodes)(size))
    }
    fn input(&self) -> Option<&'static str> {
        Some("a graph in the DIMACS form")
    }
    fn start(&self, size: Size, input: Option<&Path>) -> Result<Box<dyn HostProgram>, WorkloadError> {
        let generated = || Ok((self.kind)(size).generate((self.nodes)(size)));
        let graph = input.map_or_else(generated, |file| Graph::read(file, self.is_directed))?;
        let plan = self.plan;
        Ok(Box::new(PlanRun::new(self.name, move |memory| plan(Rc::new(graph), size, memory))))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{refusal, with_file};
    use super::*;

    #[test]
    fn every_edge_of_a_file_is_there_in_both_directions() {
        let text = "c a path\np sp 3 2\na 1 2 7\n\na 2 3 9\n";
        let graph = with_file("g.gr", text, |file| Graph::read(file, false)).unwrap();
        let expected = Graph { first: vec![0, 1, 3, 4], target: vec![1, 0, 2, 1], weight: vec![7, 7, 9, 9] };
        assert_eq!(graph, expected);
    }

    #[test]
    fn a_directed_edge_of_a_file_is_there_once_and_the_reverse_graph_has_it_the_other_way() {
        let graph =
            with_file("g.gr", "p sp 3 2\na 1 2 7\na 3 2 9\n", |file| Graph::read(file, true)).unwrap();
        assert_eq!(graph, Graph { first: vec![0, 1, 1, 2], target: vec![1, 1], weight: vec![7, 9] });
        let reversed = Graph { first: vec![0, 0, 2, 2], target: vec![0, 2], weight: vec![7, 9] };
        assert_eq!(graph.reversed(), reversed);
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
            assert_eq!(refusal("g.gr", text, |file| Graph::read(file, false)), expected);
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
    fn a_map_has_junctions_of_eight_roads() {
        let (map, roads) = (Graph::map(10_000), Graph::road(10_000));
        let degrees = |graph: &Graph| (0..10_000).map(|node| graph.edges(node).len()).max();
        assert_eq!((degrees(&roads), degrees(&map)), (Some(4), Some(8)));
    }

    #[test]
    fn a_mesh_has_the_four_neighbours_in_rising_order() {
        let mesh = Graph::mesh(20_000);
        assert_eq!(mesh.neighbours(5_500).collect::<Vec<_>>(), [4_500, 5_499, 5_501, 6_500]);
        assert_eq!(mesh.neighbours(999).collect::<Vec<_>>(), [998, 1_999]);
        assert_eq!(mesh.neighbours(19_000).collect::<Vec<_>>(), [18_000, 19_001]);
    }

    #[test]
    fn a_dense_graph_has_random_edges_and_no_loops() {
        let graph = Graph::dense(256);
        assert_eq!(graph.target.len(), 8192);
        for node in 0..256 {
            assert!((10..60).contains(&graph.edges(node).len()));
            assert!(graph.neighbours(node).all(|other| other != node));
        }
    }

    #[test]
    fn co_authors_have_several_partners_and_a_few_have_many() {
        let graph = Graph::co_authors(20_000);
        let degrees: Vec<usize> = (0..20_000).map(|node| graph.edges(node).len()).collect();
        let mean = graph.target.len() as f64 / 20_000.0;
        assert!((6.0..7.0).contains(&mean), "{mean}");
        assert!(degrees.iter().all(|degree| *degree > 0));
        let most = degrees.iter().max().unwrap();
        assert!((100..1000).contains(most), "{most}");
    }

    #[test]
    fn values_are_random_and_in_range() {
        let values = Graph::mesh(20_000).values();
        assert!(values.iter().all(|value| *value < VALUES));
        let low = values.iter().filter(|value| **value < VALUES / 2).count();
        assert!((9_500..10_500).contains(&low), "{low}");
    }
}
