//! Reads a block through rust-hdl's probe into a tree of plain data.

use num_bigint::BigUint;
use rust_hdl_core::prelude::{Atom, AtomKind, Block, Probe, TypeKind, Verilog};
use selvedge_hw::rtl::describe::Description;

/// A name without the indices of array elements: `u$3$delta$1` is `u$delta` at `[3, 1]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NamePath {
    pub key: String,
    pub indices: Vec<usize>,
}

impl NamePath {
    pub fn parse(name: &str) -> NamePath {
        let (numbers, words): (Vec<&str>, Vec<&str>) =
            name.split('$').partition(|part| part.bytes().all(|c| c.is_ascii_digit()));
        NamePath { key: words.join("$"), indices: numbers.iter().filter_map(|n| n.parse().ok()).collect() }
    }
}

/// A signal or constant of a block.
#[derive(Clone, Debug)]
pub(crate) struct AtomInfo {
    pub path: NamePath,
    pub kind: AtomKind,
    pub bits: usize,
    pub signed: bool,
    pub clock: bool,
    /// Names of the values, if the type is an enumeration: `State::Idle`.
    pub variants: Vec<String>,
    /// The current value. Only values of constants are used.
    pub value: BigUint,
}

/// A block of the hierarchy.
#[derive(Debug)]
pub(crate) struct BlockNode {
    pub path: NamePath,
    pub atoms: Vec<AtomInfo>,
    /// Indices of sub-blocks in the list of nodes.
    pub children: Vec<usize>,
    pub code: Verilog,
    pub description: Option<Description>,
}

/// Returns `top` and all blocks below it, parents before children.
pub(crate) fn elaborate(top: &dyn Block, name: &str) -> Vec<BlockNode> {
    let mut collector = NodeCollector::default();
    top.accept(name, &mut collector);
    collector.nodes
}

#[derive(Default)]
struct NodeCollector {
    nodes: Vec<BlockNode>,
    stack: Vec<usize>,
    namespaces: Vec<String>,
}

impl Probe for NodeCollector {
    fn visit_start_scope(&mut self, name: &str, block: &dyn Block) {
        let id = self.nodes.len();
        if let Some(parent) = self.stack.last() {
            self.nodes[*parent].children.push(id);
        }
        let name = self.namespaces.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join("$");
        self.nodes.push(BlockNode {
            path: NamePath::parse(&name),
            atoms: vec![],
            children: vec![],
            code: block.hdl(),
            description: Description::of(block),
        });
        self.stack.push(id);
    }

    fn visit_end_scope(&mut self, _: &str, _: &dyn Block) {
        self.stack.pop();
    }

    fn visit_start_namespace(&mut self, name: &str, _: &dyn Block) {
        self.namespaces.push(name.into());
    }

    fn visit_end_namespace(&mut self, _: &str, _: &dyn Block) {
        self.namespaces.pop();
    }

    fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
        let Some(node) = self.stack.last() else { return };
        let name = self.namespaces.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join("$");
        let descriptor = atom.descriptor();
        let (signed, variants) = match descriptor.kind {
            TypeKind::Signed(_) => (true, vec![]),
            TypeKind::Enum(names) => (false, names),
            TypeKind::Bits(_) | TypeKind::Composite(_) => (false, vec![]),
        };
        self.nodes[*node].atoms.push(AtomInfo {
            path: NamePath::parse(&name),
            kind: atom.kind(),
            bits: atom.bits(),
            signed,
            clock: descriptor.name == "clock",
            variants,
            value: parse_literal(&format!("{:x}", atom.verilog()), atom.bits()),
        });
    }
}

/// Returns the value of a literal that rust-hdl printed, such as `12'habc`. A negative number becomes its two's complement.
pub(crate) fn parse_literal(text: &str, bits: usize) -> BigUint {
    let digits = text.split_once("'h").map_or(text, |(_, digits)| digits);
    match digits.strip_prefix('-') {
        Some(magnitude) => {
            let magnitude = BigUint::parse_bytes(magnitude.as_bytes(), 16).unwrap_or_default();
            (BigUint::from(1u8) << bits) - magnitude
        }
        None => BigUint::parse_bytes(digits.as_bytes(), 16).unwrap_or_default(),
    }
}
