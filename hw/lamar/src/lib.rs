//! Blocks of LAMAR: the bi-modal granularity predictor and the sampling-based spatial pattern predictor.

pub mod bgp;
#[cfg(test)]
mod equivalence;
pub mod spp;

use selvedge_hw::BlockEntry;
use selvedge_hw::registry::Entry;

/// Every block of this crate. A new block is a folder and a line here.
pub const BLOCKS: &[&dyn BlockEntry] = &[&Entry::<bgp::Bgp>::NEW, &Entry::<spp::Spp>::NEW];
