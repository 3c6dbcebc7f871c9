//! Requests to a channel, and the controller's state of waiting requests.

use selvedge_state::State;

/// Direction of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum Access {
    /// [`super::Channel::pop`] returns the request when its data has arrived.
    Read,
    /// Posted, without a reply.
    Write,
}

/// Set of bursts of one line, numbered relative to the first one that is transferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Bursts(u32);

impl Bursts {
    /// Returns the set of bursts 0 to `count - 1`.
    pub fn run(count: u32) -> Self {
        Self(u32::MAX.checked_shr(u32::BITS - count).unwrap_or(0))
    }

    /// Returns the set of the bursts whose bits are set in `mask`. The lowest set bit becomes burst 0.
    pub fn of_mask(mask: u32) -> Self {
        Self(mask >> mask.trailing_zeros().min(u32::BITS - 1))
    }

    /// Returns the number of bursts.
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns the number of the first burst, and the set without it.
    ///
    /// # Panics
    /// Panics if the set is empty.
    pub fn split_first(self) -> (u32, Self) {
        assert!(self.0 != 0, "no burst is left");
        (self.0.trailing_zeros(), Self(self.0 & (self.0 - 1)))
    }

    /// Returns the numbers of the bursts in ascending order.
    pub fn numbers(self) -> impl Iterator<Item = u32> {
        numbers(self.0.into()).map(|number| number as u32)
    }
}

/// A request to a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Request {
    /// Direction of the request.
    pub access: Access,
    /// Byte address of the first burst in the channel.
    pub address: u64,
    /// Bursts to transfer, relative to `address`. Consecutive bursts lie in consecutive sub-ranks.
    pub bursts: Bursts,
    /// `true` for compression metadata (CABA, section 5.3.2), `false` for data.
    pub metadata: bool,
    /// Number of the L2 slice that sent the request.
    pub slice: u16,
    /// Handle of the sender, returned with the request.
    pub token: u64,
}

/// A request that waits in the controller.
#[derive(Clone, Copy, Debug, State)]
pub(super) struct QueuedRequest {
    pub request: Request,
    pub row: u64,
    pub bank: u32,
    /// Mask of the needed sub-ranks, and the position of the first sub-rank's bit for the bank.
    pub sub_ranks: u64,
    pub place: u32,
    /// `true` if the scheduler may serve the request. If banks choose their requests, the bank must have chosen it first.
    pub chosen: bool,
    /// Bursts that were not transferred yet.
    pub left: Bursts,
    pub arrived: u64,
    /// Number of the line; requests to one line stay in order.
    pub line: u64,
    /// Number of older requests to the same line that still wait.
    pub blockers: u32,
    /// `true` if a row was opened for the request.
    pub opened: bool,
    pub starved: bool,
}

impl QueuedRequest {
    /// Records that the request starves. Returns whether it did not starve before.
    pub fn starve(&mut self) -> bool {
        !std::mem::replace(&mut self.starved, true)
    }

    /// Returns the bits of sub-ranks `sub_ranks` for the bank of the request.
    pub fn bits(&self, sub_ranks: u64) -> u64 {
        sub_ranks << self.place
    }
}

/// Returns the numbers of the set bits in ascending order.
pub(super) fn numbers(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let number = bits.trailing_zeros() as usize;
        (bits != 0).then(|| {
            bits &= bits - 1;
            number
        })
    })
}
