//! Packets: what the crossbar carries between SMs and L2 partitions, each concerning one cache line.
use selvedge_state::State;
use serde::Serialize;

/// What a packet asks for or answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, State)]
pub enum PacketKind {
    /// Read of the sectors in [`Packet::sectors`]; answered by [`PacketKind::ReadReply`].
    Read,
    /// Write of [`Packet::data_bytes`] bytes; answered by [`PacketKind::WriteAck`], which carries no data.
    Write,
    /// Atomic read-modify-write performed at the L2; answered by [`PacketKind::AtomicReply`].
    Atomic,
    /// The data of a read.
    ReadReply,
    /// A write has reached the L2.
    WriteAck,
    /// The old values of an atomic.
    AtomicReply,
    /// A part of an answer, ahead of its last one, which stands for all of it ([`crate::config::L2::split_requests`]).
    Fragment,
}

/// One memory transaction or its answer. Plain data, copied freely; nothing is allocated per request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, State)]
pub struct Packet {
    /// What the packet is.
    pub kind: PacketKind,
    /// Byte address of the line, a multiple of the line size.
    pub line: u64,
    /// Sectors (32 B) of the line that are read or written, one bit each, bit 0 the lowest address.
    pub sectors: u32,
    /// Does a write cover every byte of `sectors`? A partial write of a sector must merge with its old bytes.
    pub full_sectors: bool,
    /// Words of 4 bytes of the line that a write covers, one bit each.
    pub words: u64,
    /// Bytes of data carried over the crossbar besides the 8-byte header: what is charged as flits.
    pub data_bytes: u16,
    /// The SM that asked.
    pub sm: u16,
    /// The L2 slice that answers: its port.
    pub slice: u16,
    /// The kernel slot that the access belongs to.
    pub kernel: u8,
    /// Returned unchanged in the answer: the asker's own handle.
    pub token: u32,
    /// A mechanism's handle on the data in flight (a compressed line, say); 0 when there is none.
    pub payload: u32,
    /// What the sectors that it carries are, for the [`crate::witness`]; 0 when nobody asks.
    pub witness: u32,
}

/// Bytes of a packet's header (address, kind, masks) on the crossbar.
pub const HEADER_BYTES: u32 = 8;

impl Packet {
    /// Returns whether the packet travels from an L2 partition to an SM.
    pub fn is_reply(&self) -> bool {
        !matches!(self.kind, PacketKind::Read | PacketKind::Write | PacketKind::Atomic)
    }

    /// Number of flits that the packet occupies: header and data together, at least one.
    pub fn flits(&self, flit_bytes: u32) -> u32 {
        flits(self.data_bytes, flit_bytes)
    }
}

/// Returns the flits of a packet with the given number of bytes of data.
pub(crate) fn flits(data_bytes: u16, flit_bytes: u32) -> u32 {
    (HEADER_BYTES + u32::from(data_bytes)).div_ceil(flit_bytes).max(1)
}
