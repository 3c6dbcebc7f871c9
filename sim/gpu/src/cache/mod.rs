//! Cache building blocks that the L1 data cache and the L2 slices share: sectors, tags and miss-status holding registers.
//!
//! None holds data: values live in the functional device memory; these structures say when they arrive.
#[cfg(test)]
pub mod functional;
pub mod index;
pub mod mshr;
pub mod sector_use;
pub mod sectors;
pub mod tags;

pub use mshr::{MshrId, MshrTable};
pub use sector_use::{Fetched, SectorUse, UnderWay};
pub use sectors::{LinePart, SECTOR_BYTES, Sectors};
pub use tags::{Probe, Slot, TagArray, Victim};
