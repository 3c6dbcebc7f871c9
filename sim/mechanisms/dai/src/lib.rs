//! Mechanisms of Dai's dissertation, and the published mechanisms that it compares with.
//!
//! | module | contents |
//! |---|---|
//! | [`mdb`] | model-driven bypassing of the L1D (chapter 2) |
//! | [`fixed_bypass`] | bypassing by a fixed number of warps or CTAs (section 2.4) |
//! | [`swl`] | static wavefront limiting, and protecting distances (section 2.7.1) |
//! | [`mrpb`] | memory-request prioritization buffers (section 3.4.2) |
//! | [`ucp`] | utility-based partitioning of the L1D among kernels (section 4.3.1) |
//! | [`issue_order`] | order of the kernels' memory instructions (section 4.3.2) |
//! | [`dmil`], [`smil`] | limits of memory instructions in flight (section 4.3.3) |
pub mod dmil;
pub mod fixed_bypass;
pub mod issue_order;
pub mod mdb;
pub mod mrpb;
pub mod smil;
pub mod swl;
pub mod ucp;

use selvedge_gpu::mechanism::Counter;

/// Counters of mechanisms whose loads may bypass the L1D.
pub(crate) const BYPASS_COUNTERS: &[Counter] =
    &[Counter::new("bypassed_loads", "line transactions of loads that bypassed the L1D")];
