//! Cache building blocks that the L1 data cache and the L2 slices share: tags and miss-status holding registers.
//!
//! Neither holds data: values live in the functional device memory; these structures say when they arrive.
pub mod index;
pub mod mshr;
pub mod tags;

pub use mshr::{MshrId, MshrTable};
pub use tags::{Probe, Slot, TagArray, Victim};
