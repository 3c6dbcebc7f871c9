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
    /// `true`: another branch, or work behind the launch, waits for the node.
    pub is_awaited: bool,
}

/// Branches of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branches {
    /// Place of each node.
    pub places: Vec<NodePlace>,
    /// Number of branches, from 1 on.
    pub count: usize,
    /// Nodes for which work behind the launch must wait, in addition to the nodes of branch 0.
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
            let others = before.iter().copied().filter(|node| places[*node].branch != branch);
            let waits: Vec<usize> = others.collect();
            waits.iter().for_each(|node| places[*node].is_awaited = true);
            places.push(NodePlace { branch, waits, is_root: before.is_empty(), is_awaited: false });
        }
        let is_last = |node: &usize| places[*node].branch > 0 && !has_successor[*node];
        let last: Vec<usize> = (0..places.len()).filter(is_last).collect();
        last.iter().for_each(|node| places[*node].is_awaited = true);
        Branches { places, count: count.max(1), last }
    }
}
