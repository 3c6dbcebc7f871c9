//! Codecs of cache lines, each a compressor and a decompressor, and the metadata cache of compressed memory.
//!
//! | module | contents |
//! |---|---|
//! | [`line`](mod@line) | the cache line that codecs share |
//! | [`bdi`] | base-delta-immediate compression (CABA, LATTE-CC) |
//! | [`fpc`] | frequent pattern compression (CABA) |
//! | [`cpack`] | C-Pack (CABA) |
//! | [`bpc`] | bit-plane compression (LATTE-CC) |
//! | [`sc`] | statistical compression by Huffman codes (LATTE-CC) |
//! | [`md_cache`] | metadata cache at a memory controller (CABA, section 5.3.2) |

pub mod bdi;
pub mod bpc;
#[cfg(test)]
mod codec_sizes;
pub mod cpack;
#[cfg(test)]
mod equivalence;
pub mod fpc;
pub mod line;
pub mod md_cache;
#[cfg(test)]
mod published;
pub mod sc;

use selvedge_hw::BlockEntry;
use selvedge_hw::registry::Entry;

/// Every block of this crate. A new block is a folder and a line here.
pub const BLOCKS: &[&dyn BlockEntry] = &[
    &Entry::<bdi::BdiCompressor>::NEW,
    &Entry::<bdi::BdiDecompressor>::NEW,
    &Entry::<bpc::BpcCompressor>::NEW,
    &Entry::<bpc::BpcDecompressor>::NEW,
    &Entry::<cpack::CpackCompressor>::NEW,
    &Entry::<cpack::CpackDecompressor>::NEW,
    &Entry::<fpc::FpcCompressor>::NEW,
    &Entry::<fpc::FpcDecompressor>::NEW,
    &Entry::<md_cache::MdCache>::NEW,
    &Entry::<sc::code_builder::ScCodeBuilder>::NEW,
    &Entry::<sc::compressor::ScCompressor>::NEW,
    &Entry::<sc::decompressor::ScDecompressor>::NEW,
    &Entry::<sc::vft::ScVft>::NEW,
];
