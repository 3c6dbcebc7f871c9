//! Packets that the crossbar carries between SMs and L2 partitions. Each packet concerns one cache line.
use selvedge_state::State;
use serde::Serialize;

/// Kind of a request or reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, State)]
pub enum PacketKind {
    /// Read of the sectors in [`Packet::sectors`]. The reply is [`PacketKind::ReadReply`].
    Read,
    /// Write of [`Packet::data_bytes`] bytes. The reply is [`PacketKind::WriteAck`], which carries no data.
    Write,
    /// Atomic read-modify-write at the L2. The reply is [`PacketKind::AtomicReply`].
    Atomic,
    /// Reply with the data of a read.
    ReadReply,
    /// Acknowledgement that a write has reached the L2.
    WriteAck,
    /// Reply to an atomic, with the old values unless it is a reduction.
    AtomicReply,
    /// Partial reply before the last one. Only the last one counts as the reply ([`crate::config::L2::split_requests`]).
    Fragment,
}

/// Operations of an atomic, one per lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, State)]
pub struct Operations {
    /// Number of operations.
    pub all: u8,
    /// Max number of operations on one word. They are serialized.
    pub on_one_word: u8,
    /// `true` if the old values are requested, `false` for a reduction.
    pub returns: bool,
}

/// A memory request or its reply. Plain data, copied freely; a request needs no allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, State)]
pub struct Packet {
    /// Kind of the request or reply.
    pub kind: PacketKind,
    /// Byte address of the line, a multiple of the line size.
    pub line: u64,
    /// Sectors (32 B) of the line that are read or written, one bit each, bit 0 the lowest address.
    pub sectors: u32,
    /// `true` if a write covers every byte of `sectors`. Otherwise the write is merged with the old bytes.
    pub full_sectors: bool,
    /// Words of 4 bytes that a write covers or an atomic modifies, one bit each.
    pub words: u64,
    /// Operations of an atomic.
    pub operations: Operations,
    /// Data bytes carried over the crossbar, in addition to the 8-byte header. They count as flits.
    pub data_bytes: u16,
    /// SM that sent the request.
    pub sm: u16,
    /// L2 slice that serves the request, which is also its port.
    pub slice: u16,
    /// Program of the access.
    pub kernel: u8,
    /// Token of the sender, returned unchanged in the reply.
    pub token: u32,
    /// A mechanism's handle on the data in flight, such as a compressed line; 0 without a handle.
    pub payload: u32,
    /// Handle on the versions of the carried sectors, for the [`crate::witness`]; 0 without a witness.
    pub witness: u32,
}

/// Bytes of a packet's header (address, kind, masks) on the crossbar.
pub const HEADER_BYTES: u32 = 8;

impl Packet {
    /// Returns whether the packet travels from an L2 partition to an SM.
    pub fn is_reply(&self) -> bool {
        !matches!(self.kind, PacketKind::Read | PacketKind::Write | PacketKind::Atomic)
    }

    /// Returns the number of flits of the header and the data together, at least 1.
    pub fn flits(&self, flit_bytes: u32) -> u32 {
        flits(self.data_bytes, flit_bytes)
    }
}

/// Returns the flits of a packet with `data_bytes` bytes of data, at least 1.
pub(crate) fn flits(data_bytes: u16, flit_bytes: u32) -> u32 {
    (HEADER_BYTES + u32::from(data_bytes)).div_ceil(flit_bytes).max(1)
}
