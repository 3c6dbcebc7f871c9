//! Blocks of Dai's dissertation.
//!
//! | module | contents |
//! |---|---|
//! | [`bpg`] | generator of a bypass limit for MDB |
//! | [`milg`] | generator of a limit of memory instructions for DMIL |
//! | [`qbmi`] | quota-based issue of memory instructions |
//! | [`set_index`] | set index functions of the L1D |

pub mod bpg;
#[cfg(test)]
mod equivalence;
pub mod milg;
pub mod qbmi;
pub mod set_index;

use selvedge_hw::BlockEntry;
use selvedge_hw::registry::Entry;

/// Every block of this crate. A new block is a folder and a line here.
pub const BLOCKS: &[&dyn BlockEntry] = &[
    &Entry::<bpg::Bpg>::NEW,
    &Entry::<milg::Milg>::NEW,
    &Entry::<qbmi::Qbmi>::NEW,
    &Entry::<set_index::a_prime::SetIndexAPrime>::NEW,
    &Entry::<set_index::bmod::SetIndexBmod>::NEW,
    &Entry::<set_index::bxor::SetIndexBxor>::NEW,
    &Entry::<set_index::d_prime::SetIndexDPrime>::NEW,
    &Entry::<set_index::i_poly::SetIndexIPoly>::NEW,
    &Entry::<set_index::pmod::SetIndexPmod>::NEW,
];
