//! Tokens of an SM's packets: the instruction or warp that waits for the reply.
use crate::config::{READ_ONLY_CACHES, ReadOnlyCache};

/// Handle of a memory instruction in flight.
pub type InstId = u32;

/// The part of an SM that waits for the reply to a packet. The packet carries it in 32 bits: the kind in the upper bits, the
/// instruction or warp in the lower ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyToken {
    /// A load that missed the L1D.
    Load(InstId),
    /// An atomic.
    Atomic(InstId),
    /// A store of a warp.
    Store(u8),
    /// The write-back of a line's dirty sectors, which no warp waits for.
    WriteBack,
    /// A load that bypassed the L1D.
    Bypass(InstId),
    /// A prefetch for a warp, which no load waits for.
    Prefetch(u8),
    /// A miss of a read-only cache for an instruction. In the instruction cache, for a warp.
    ReadOnly(ReadOnlyCache, u32),
}

/// Position of the kind in a packed token. An instruction or warp is smaller.
const KIND_SHIFT: u32 = 28;

/// Kinds of packed tokens. Read-only caches have the kinds from [`READ_ONLY`] on, in their order.
const LOAD: u32 = 0;
const ATOMIC: u32 = 1;
const STORE: u32 = 2;
const WRITE_BACK: u32 = 3;
const BYPASS: u32 = 4;
const PREFETCH: u32 = 5;
const READ_ONLY: u32 = 6;

impl ReplyToken {
    /// Returns the token in the form in which a packet carries it.
    #[inline]
    pub fn pack(self) -> u32 {
        let (kind, waiter) = match self {
            ReplyToken::Load(inst) => (LOAD, inst),
            ReplyToken::Atomic(inst) => (ATOMIC, inst),
            ReplyToken::Store(warp) => (STORE, u32::from(warp)),
            ReplyToken::WriteBack => (WRITE_BACK, 0),
            ReplyToken::Bypass(inst) => (BYPASS, inst),
            ReplyToken::Prefetch(warp) => (PREFETCH, u32::from(warp)),
            ReplyToken::ReadOnly(cache, waiter) => (READ_ONLY + cache as u32, waiter),
        };
        debug_assert!(waiter >> KIND_SHIFT == 0, "{self:?} does not fit");
        kind << KIND_SHIFT | waiter
    }

    /// Returns the token that a packet carries.
    ///
    /// # Panics
    /// Panics if no SM sent the packet.
    #[inline]
    pub fn unpack(packed: u32) -> Self {
        let waiter = packed & ((1 << KIND_SHIFT) - 1);
        match packed >> KIND_SHIFT {
            LOAD => ReplyToken::Load(waiter),
            ATOMIC => ReplyToken::Atomic(waiter),
            STORE => ReplyToken::Store(waiter as u8),
            WRITE_BACK => ReplyToken::WriteBack,
            BYPASS => ReplyToken::Bypass(waiter),
            PREFETCH => ReplyToken::Prefetch(waiter as u8),
            kind => ReplyToken::ReadOnly(READ_ONLY_CACHES[(kind - READ_ONLY) as usize], waiter),
        }
    }

    /// Returns whether the data of this read fill a line of the L1D: no read-only cache sent it, and it did not bypass the L1D.
    pub fn fills_l1d(self) -> bool {
        matches!(self, ReplyToken::Load(_) | ReplyToken::Prefetch(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_packet_carries_each_token(inst in 0u32..1 << KIND_SHIFT, warp: u8) {
            let of_caches = READ_ONLY_CACHES.map(|cache| ReplyToken::ReadOnly(cache, inst));
            let others = [
                ReplyToken::Load(inst),
                ReplyToken::Atomic(inst),
                ReplyToken::Store(warp),
                ReplyToken::WriteBack,
                ReplyToken::Bypass(inst),
                ReplyToken::Prefetch(warp),
            ];
            for token in others.into_iter().chain(of_caches) {
                prop_assert_eq!(ReplyToken::unpack(token.pack()), token);
            }
        }
    }
}
