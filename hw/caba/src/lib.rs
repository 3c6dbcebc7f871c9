//! Assist warps: short subroutines that an SM runs on behalf of its warps, in CABA to decompress and compress lines.
//!
//! Source: CABA, sections 4 and 5. Its hardware consists of three structures (section 4.3): the store, the controller with its
//! table, and the buffer. Here the table is a separate block. The controller contains the other three blocks, so that an SM
//! steps one instance.
//!
//! ```text
//!            event, warp, lanes                     SR.ID, Inst.ID            word
//!  [ SM ] --------------------> awc: [ map, awt ] -----------------> [ aws ] ------> [ awb ] --high--> beats the parent
//!     |        busy, idle            [ throttle ] <---------- room ----------------     |  +---low---> idle cycles
//!     +--------- kill ---------------------^------------------------ flush -------------^
//! ```
//!
//! | block | purpose |
//! |---|---|
//! | [`aws`] | the assist warp store: the instructions of the routines, loaded before a kernel starts |
//! | [`awt`] | the assist warp table: the active assist warps, deployed round-robin |
//! | [`awb`] | the assist warp buffer: deployed instructions until they issue |
//! | [`awc`] | the assist warp controller: trigger events, throttling, and the other three |
//!
//! Terms that all four blocks share: a *routine* is a subroutine in the store. *SR.ID* is the slot where it starts, *Inst.ID*
//! the number of its next instruction, and *SR.End* the number of its last instruction. A *high-priority* assist warp is needed
//! for correctness, and its parent waits for it (decompression of a load). A *low-priority* assist warp runs in idle cycles and
//! may be dropped (compression of a store).

pub mod awb;
pub mod awc;
pub mod aws;
pub mod awt;
#[cfg(test)]
mod deployment;
mod draws;
#[cfg(test)]
mod equivalence;
mod widths;

pub use widths::{INST_BITS, LIVE_BITS, MASK_BITS, SR_BITS, WARP_BITS, WARPS};

use selvedge_hw::BlockEntry;
use selvedge_hw::registry::Entry;

/// Every block of this crate. A new block is a folder and a line here.
pub const BLOCKS: &[&dyn BlockEntry] =
    &[&Entry::<awb::Awb>::NEW, &Entry::<awc::Awc>::NEW, &Entry::<aws::Aws>::NEW, &Entry::<awt::Awt>::NEW];
