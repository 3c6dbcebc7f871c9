//! Blocks and simulations that names and JSON texts set up. The C interface and the Python package are built on it.
//!
//! [`block`] steps a hardware block, [`gpu`] a whole simulation. The memory system needs no adapter: see
//! [`selvedge_sim::clocked_memory`].
pub mod block;
mod failure;
pub mod gpu;

pub use failure::{Failure, Kind, one_line};
