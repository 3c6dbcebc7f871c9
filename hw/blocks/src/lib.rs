//! List of all hardware blocks: the built-in ones, which the crates in `hw` define, and the blocks that a program adds.
use selvedge_hw::registry;
use selvedge_hw::{BlockEntry, NameTaken, names};
use std::sync::LazyLock;

/// Lists of the crates with blocks.
const CRATES: [&[&dyn BlockEntry]; 5] = [
    selvedge_hw_codecs::BLOCKS,
    selvedge_hw_latte_cc::BLOCKS,
    selvedge_hw_lamar::BLOCKS,
    selvedge_hw_caba::BLOCKS,
    selvedge_hw_dai::BLOCKS,
];

static BUILT_IN: LazyLock<Vec<&dyn BlockEntry>> = LazyLock::new(|| {
    let mut blocks = CRATES.concat();
    blocks.sort_unstable_by_key(|block| block.name());
    blocks
});

/// Returns every built-in block, in the order of their names.
pub fn built_in() -> &'static [&'static dyn BlockEntry] {
    &BUILT_IN
}

/// Adds a block of another crate to those that [`all`] and [`find`] know.
///
/// # Errors
/// A block of that name exists already.
pub fn add(block: &'static dyn BlockEntry) -> Result<(), NameTaken> {
    if built_in().iter().any(|other| other.name() == block.name()) {
        return Err(NameTaken { what: "block", name: block.name() });
    }
    registry::add(block)
}

/// Returns every block: first the built-in ones, then the added ones.
pub fn all() -> Vec<&'static dyn BlockEntry> {
    built_in().iter().copied().chain(registry::added()).collect()
}

/// Returns the block of that name.
///
/// # Errors
/// No block has the name. The error lists the nearest names.
pub fn find(name: &str) -> Result<&'static dyn BlockEntry, UnknownBlock> {
    let all = all();
    all.iter().copied().find(|block| block.name() == name).ok_or_else(|| UnknownBlock {
        name: name.to_string(),
        allowed: names::allowed(name, all.iter().map(|block| block.name()), "selvedge list blocks"),
    })
}

/// No block has that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown block '{name}': {allowed}")]
pub struct UnknownBlock {
    /// Name to find.
    pub name: String,
    /// The nearest names that exist.
    pub allowed: String,
}
