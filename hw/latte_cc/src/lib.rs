//! Blocks of LATTE-CC: the controller that chooses a compression mode, and the queue of lines to decompress.

pub mod decompression_queue;
#[cfg(test)]
mod equivalence;
pub mod latte_controller;

use selvedge_hw::BlockEntry;
use selvedge_hw::registry::Entry;

/// Every block of this crate. A new block is a folder and a line here.
pub const BLOCKS: &[&dyn BlockEntry] = &[
    &Entry::<decompression_queue::DecompressionQueue>::NEW,
    &Entry::<latte_controller::LatteController>::NEW,
];
