//! Parts that the L1D and the L2 slices share: sectors, tags and MSHRs.
//!
//! These structures hold no data, only its timing. The values are in the functional device memory.
#[cfg(test)]
pub mod functional;
pub mod index;
pub mod mshr;
pub mod sector_use;
pub mod sectors;
pub mod tags;

pub use mshr::{MshrId, MshrTable};
pub use sector_use::{Fetched, SectorUse, SectorsInFlight};
pub use sectors::{LinePart, SECTOR_BYTES, Sectors};
pub use tags::{Probe, TagArray, TagSlot, Victim};
