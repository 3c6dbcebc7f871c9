//! `btree`: key lookups in a B+ tree, one block per key, as Rodinia's b+tree.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_words};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0xb7;
/// Separators per node, and threads per block.
const ORDER: usize = 128;
/// Levels of the tree, including the leaves.
const LEVELS: usize = 3;

pub(super) const BTREE: Planned = Planned {
    name: "btree",
    summary: "lookups in a B+ tree, all separators of a node compared at once",
    papers: "LATTE-CC (BT)",
    group: Group::Search,
    ptx: ("btree.ptx", include_str!("../../kernels/btree.ptx")),
    description: |size| {
        let (leaves, lookups) = shape(size);
        let nodes = Tree::new(leaves).keys.len() / ORDER;
        let bytes = 4 * (2 * nodes * ORDER + 2 * lookups);
        format!("{} keys, {lookups} lookups, {}", leaves * ORDER, mebibytes(bytes))
    },
    plan,
};

/// Returns the number of leaves and of lookups. The leaves must exceed a node's children, and be at most their
/// square.
fn shape(size: Size) -> (usize, usize) {
    match size {
        Size::Tiny => (200, 150),
        Size::Small => (1000, 2000),
        Size::Study | Size::Paper => (8000, 10_000),
    }
}

/// A tree whose root is node 0. Record r has key 3 r + 1.
struct Tree {
    keys: Vec<u32>,
    children: Vec<u32>,
}

fn key_of(record: usize) -> u32 {
    3 * record as u32 + 1
}

impl Tree {
    /// Builds the tree over `leaves` full leaves. Separators after the last are larger than every key.
    fn new(leaves: usize) -> Self {
        let inner = leaves.div_ceil(ORDER);
        let mut tree = Tree { keys: Vec::new(), children: Vec::new() };
        // The nodes of each level follow the nodes of the level above.
        tree.level(inner, |child| Some((key_of(child * ORDER * ORDER), 1 + child)));
        tree.level(leaves, |child| Some((key_of(child * ORDER), 1 + inner + child)));
        tree.level(leaves * ORDER, |record| Some((key_of(record), record)));
        // The first separator of every path is 0, so that it covers values below all keys.
        for first in [0, ORDER, (1 + inner) * ORDER] {
            tree.keys[first] = 0;
        }
        tree
    }

    fn level(&mut self, children: usize, child: impl Fn(usize) -> Option<(u32, usize)>) {
        for number in 0..children.next_multiple_of(ORDER) {
            let entry = if number < children { child(number) } else { None };
            let (key, index) = entry.unwrap_or((i32::MAX as u32, 0));
            self.keys.push(key);
            self.children.push(index as u32);
        }
    }
}

fn wanted(leaves: usize, lookups: usize) -> Vec<u32> {
    let mut random = Random::new(SEED);
    (0..lookups).map(|_| random.below(key_of(leaves * ORDER))).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (leaves, lookups) = shape(size);
    let tree = Tree::new(leaves);
    let keys = place_words(memory, "keys", &tree.keys)?;
    let children = place_words(memory, "children", &tree.children)?;
    let keys_wanted = place_words(memory, "wanted", &wanted(leaves, lookups))?;
    let found = memory.alloc(4 * lookups as u64, "found")?;
    let pointers = [keys, children, keys_wanted, found].map(Arg::Ptr);
    let args = pointers.into_iter().chain([int(LEVELS)]).collect();
    Ok(Plan::of(vec![launch_row("btree_find", lookups * ORDER, ORDER as u32, args)], move |memory| {
        let got = memory.read_u32s(found, lookups)?;
        // The record with the largest key that is at most the requested key.
        let expected = wanted(leaves, lookups).into_iter().map(|key| key.saturating_sub(1) / 3);
        Results { workload: "btree", buffer: "found", got: &got }.equal(expected)
    }))
}
