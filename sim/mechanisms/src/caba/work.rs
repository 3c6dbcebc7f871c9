//! The lines that wait for assist warps or have one, and what has been counted of them.
use crate::codecs::LineForms;
use selvedge_gpu::mechanism::{MechanismCounters, count};
use selvedge_gpu::packet::Packet;
use selvedge_gpu::sm::lsu::InstId;
use selvedge_state::State;

/// Where a line comes from.
#[derive(Clone, Copy, State)]
pub enum Origin {
    /// It has come from the L2.
    Reply(Packet),
    /// A load has found it in the L1D.
    Hit {
        /// The load.
        inst: InstId,
        /// Byte address of the line.
        line: u64,
    },
    /// A warp stores it.
    Store(Packet),
}

/// A line that waits for an assist warp or has one.
#[derive(Clone, Copy, State)]
pub struct Work {
    /// Where it comes from.
    pub origin: Origin,
    /// The parent's slot.
    pub warp: u8,
    /// The set of registers that its assist warp works in; 0 as long as it has none.
    pub set: u8,
    /// The line.
    pub line: LineForms,
    /// Cycle in which it came.
    pub since: u64,
}

impl Work {
    /// Byte address of the line.
    pub fn address(&self) -> u64 {
        match self.origin {
            Origin::Reply(packet) | Origin::Store(packet) => packet.line,
            Origin::Hit { line, .. } => line,
        }
    }

    /// The store that it is.
    pub fn store(&self) -> Option<Packet> {
        match self.origin {
            Origin::Store(packet) => Some(packet),
            Origin::Reply(_) | Origin::Hit { .. } => None,
        }
    }
}

/// What has happened to lines.
#[derive(Clone, Copy, Debug, Default, State)]
pub(super) struct Counters {
    pub(super) overflowed: u64,
    pub(super) late: u64,
    pub(super) overtaken: u64,
    pub(super) awaited: u64,
    pub(super) untried: u64,
    pub(super) compressed: u64,
    pub(super) incompressible: u64,
    pub(super) decompressed: u64,
    pub(super) decompressed_hits: u64,
    pub(super) kept_compressed: u64,
}

impl Counters {
    /// Adds them to the report; those of lines in the L1D only where it keeps compressed ones.
    pub(super) fn report(&self, has_compressed_l1d: bool, out: &mut MechanismCounters) {
        for (name, value) in [
            ("stores_released_overflow", self.overflowed),
            ("stores_released_late", self.late),
            ("stores_released_overtaken", self.overtaken),
            ("stores_released_awaited", self.awaited),
            ("stores_not_tried", self.untried),
            ("sm_lines_compressed", self.compressed),
            ("sm_lines_incompressible", self.incompressible),
            ("sm_lines_decompressed", self.decompressed),
        ] {
            count(out, name, value);
        }
        if has_compressed_l1d {
            count(out, "l1d_lines_compressed", self.kept_compressed);
            count(out, "l1d_hits_decompressed", self.decompressed_hits);
        }
    }
}
