//! Selvedge's hardware blocks: each exists as a golden model and as RTL with the same ports and the same cycles.
//!
//! | module | what it gives |
//! |---|---|
//! | [`registry`] | [`BLOCKS`], the list of every block, and [`all`] and [`find`], which know added ones as well |
//! | [`line`](mod@line) | the cache line that codecs share |
//! | [`assist`], [`bdi`], [`bgp`], [`bpc`], [`bpg`], [`cpack`], [`decompression_queue`], [`fpc`], [`latte_controller`], [`md_cache`], [`milg`], [`qbmi`], [`sc`], [`set_index`], [`spp`] | the blocks |
//! | [`sc`] | what the blocks of statistical compression share |

pub mod assist;
pub mod bdi;
pub mod bgp;
pub mod bpc;
pub mod bpg;
pub mod cpack;
pub mod decompression_queue;
pub mod fpc;
pub mod latte_controller;
pub mod line;
pub mod md_cache;
pub mod milg;
pub mod qbmi;
pub mod registry;
pub mod sc;
pub mod set_index;
pub mod spp;

pub use registry::{BLOCKS, add, all, find};
