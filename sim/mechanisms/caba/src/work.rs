//! The lines that wait for assist warps or have one, and their counters.
use selvedge_compressed_memory::codecs::LineForms;
use selvedge_gpu::mechanism::{Counter, MechanismCounters, count};
use selvedge_gpu::packet::Packet;
use selvedge_gpu::sm::token::InstId;
use selvedge_state::State;

/// Counters of compression by assist warps.
pub(crate) const COUNTERS: &[Counter] = &[
    Counter::new("l1d_hits_decompressed", "hits on L1D lines that an assist warp decompressed"),
    Counter::new("l1d_lines_compressed", "lines filled into the L1Ds compressed"),
    Counter::new("sm_lines_incompressible", "lines that assist warps tried to compress without success"),
    Counter::new(
        "stores_not_tried",
        "stores that left uncompressed because lines before them were incompressible",
    ),
    Counter::new(
        "stores_released_awaited",
        "stores that left uncompressed because their warp waited for them",
    ),
    Counter::new(
        "stores_released_late",
        "stores that left uncompressed because their time in the buffer was over",
    ),
    Counter::new("stores_released_overflow", "stores that left uncompressed because the buffer was full"),
    Counter::new(
        "stores_released_overtaken",
        "stores that left uncompressed because another access of their line came",
    ),
];

/// The origin of a line.
#[derive(Clone, Copy, State)]
pub enum Origin {
    /// It arrived from the L2.
    Reply(Packet),
    /// A load hit it in the L1D.
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
pub struct LineWork {
    /// The origin of the line.
    pub origin: Origin,
    /// The parent's slot.
    pub warp: u8,
    /// The set of registers of its assist warp; 0 if it has no assist warp.
    pub set: u8,
    /// The line.
    pub line: LineForms,
    /// Cycle in which it arrived.
    pub since: u64,
}

impl LineWork {
    /// Returns the byte address of the line.
    pub fn address(&self) -> u64 {
        match self.origin {
            Origin::Reply(packet) | Origin::Store(packet) => packet.line,
            Origin::Hit { line, .. } => line,
        }
    }

    /// Returns the store, if the line is one.
    pub fn store(&self) -> Option<Packet> {
        match self.origin {
            Origin::Store(packet) => Some(packet),
            Origin::Reply(_) | Origin::Hit { .. } => None,
        }
    }
}

/// Counters of lines.
#[derive(Clone, Copy, Debug, Default, State)]
pub(super) struct LineCounters {
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

impl LineCounters {
    /// Adds the counters to the report. The counters of L1D lines are added only if the L1D stores lines compressed.
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
