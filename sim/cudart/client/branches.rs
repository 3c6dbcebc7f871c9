//! Branches of a graph: the streams on which the nodes of a launch run at the same time.

/// Place of a node in a launch of its graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodePlace {
    /// Number of the branch. Branch 0 is the stream of the launch.
    pub branch: usize,
    /// Nodes of other branches that must end before.
    pub waits: Vec<usize>,
    /// `true`: the first node of its branch, which waits for no other node.
    pub is_root: bool,
}

/// Branches of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branches {
    /// Place of each node.
    pub places: Vec<NodePlace>,
    /// Number of branches, from 1 on.
    pub count: usize,
    /// Nodes for which work behind the launch must wait, in addition to those of branch 0.
    pub last: Vec<usize>,
}

impl Branches {
    /// Places nodes on branches. `after` has the nodes on which each node depends, which have smaller numbers. A node continues the branch
    /// of the first such node that no other node continues.
    pub fn new(after: &[&[usize]]) -> Self {
        let mut places: Vec<NodePlace> = Vec::with_capacity(after.len());
        let mut is_continued = vec![false; after.len()];
        let mut has_successor = vec![false; after.len()];
        let mut count = 0;
        for before in after {
            before.iter().for_each(|node| has_successor[*node] = true);
            let continued = before.iter().find(|node| !is_continued[**node]);
            let branch = continued.map_or(count, |node| places[*node].branch);
            count += usize::from(continued.is_none());
            if let Some(node) = continued {
                is_continued[*node] = true;
            }
            let waits = before.iter().copied().filter(|node| places[*node].branch != branch).collect();
            places.push(NodePlace { branch, waits, is_root: before.is_empty() });
        }
        let last =
            (0..places.len()).filter(|node| places[*node].branch > 0 && !has_successor[*node]).collect();
        Branches { places, count: count.max(1), last }
    }

    /// Returns whether another branch, or work behind the launch, waits for a node.
    pub fn is_awaited(&self, node: usize) -> bool {
        self.last.contains(&node) || self.places.iter().any(|place| place.waits.contains(&node))
    }
}
