//! Requests to a channel, and what the controller keeps with those that wait.

use selvedge_state::State;

/// Direction of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum Access {
    /// Answered by [`super::Channel::pop`] when its data has come.
    Read,
    /// Posted: nothing answers.
    Write,
}

/// Bursts of one line, counted from the first one that is moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Bursts(u32);

impl Bursts {
    /// `count` consecutive bursts.
    pub fn run(count: u32) -> Self {
        Self(u32::MAX.checked_shr(u32::BITS - count).unwrap_or(0))
    }

    /// Those bursts of which the bit in `mask` is set; the first one set is burst 0.
    pub fn of_mask(mask: u32) -> Self {
        Self(mask >> mask.trailing_zeros().min(u32::BITS - 1))
    }

    /// How many are moved.
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Takes the first one out: returns its number, and the others.
    ///
    /// # Panics
    /// When there is none.
    pub fn split_first(self) -> (u32, Self) {
        assert!(self.0 != 0, "no burst is left");
        (self.0.trailing_zeros(), Self(self.0 & (self.0 - 1)))
    }

    /// Their numbers.
    pub fn numbers(self) -> impl Iterator<Item = u32> {
        numbers(self.0.into()).map(|number| number as u32)
    }
}

/// A request to a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Request {
    /// Read or write.
    pub access: Access,
    /// Byte address within the channel of the first burst.
    pub address: u64,
    /// Bursts of the line to move, from that one on; consecutive ones lie in the sub-ranks in turn.
    pub bursts: Bursts,
    /// Whether it is an access to compression metadata (CABA, section 5.3.2) and not to data.
    pub metadata: bool,
    /// The slice of the L2 that asks.
    pub slice: u16,
    /// Returned with the request: the asker's handle.
    pub token: u64,
}

/// A request that waits in the controller.
#[derive(Clone, Copy, Debug, State)]
pub(super) struct Waiting {
    pub request: Request,
    pub row: u64,
    pub bank: u32,
    /// The sub-ranks that it needs, a bit each, and the place of the first one's bit for its bank.
    pub sub_ranks: u64,
    pub place: u32,
    /// Whether its bank has chosen it, where banks choose. Else it may be served whenever it may.
    pub chosen: bool,
    /// Bursts that are not yet moved.
    pub left: Bursts,
    pub arrived: u64,
    /// The line, for ordering.
    pub line: u64,
    /// Older requests to the same line that are still waiting.
    pub blockers: u32,
    /// Whether a row was opened for it.
    pub opened: bool,
    pub starved: bool,
}

impl Waiting {
    /// The bits of sub-ranks `sub_ranks` for its bank.
    pub fn bits(&self, sub_ranks: u64) -> u64 {
        sub_ranks << self.place
    }
}

/// The numbers of the bits that are set.
pub(super) fn numbers(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let number = bits.trailing_zeros() as usize;
        (bits != 0).then(|| {
            bits &= bits - 1;
            number
        })
    })
}
