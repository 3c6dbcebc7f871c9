//! The requests of an L2 slice that the tags have not handled.
use super::split::Splits;
use crate::cache::{LinePart, Sectors};
use crate::config::L2;
use crate::packet::Packet;
use crate::witness::Witness;
use selvedge_state::State;
use std::collections::VecDeque;

/// The requests in front of the tags, and those in the mechanism's write stage.
#[derive(State)]
pub struct SliceInput {
    pub queue: VecDeque<Packet>,
    /// The requests with unanswered parts, if requests are split.
    splits: Option<Splits>,
    /// The mechanism has let the write at the head of `queue` pass.
    pub head_may_enter: bool,
    /// The sectors of the writes in the mechanism's write stage. Requests for the same sectors wait behind them.
    staged: Vec<LinePart>,
    /// A write that has left the mechanism's write stage.
    pub entering: Option<Packet>,
}

impl SliceInput {
    /// Returns an input without requests.
    pub fn new(l2: &L2) -> Self {
        SliceInput {
            queue: VecDeque::with_capacity(l2.request_queue as usize),
            splits: l2.split_requests.then(|| Splits::new(Sectors::new(l2.line_bytes, l2.sector_bytes))),
            head_may_enter: false,
            staged: Vec::new(),
            entering: None,
        }
    }

    /// Returns whether no request waits here. The mechanism's write stage may still hold writes.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.entering.is_none()
    }

    /// Returns whether requests are split into their sectors.
    #[inline]
    pub fn splits(&self) -> bool {
        self.splits.is_some()
    }

    /// Puts a request into the queue. Returns the number of requests beyond one that it has become.
    #[inline]
    pub fn accept(&mut self, packet: Packet, witness: &Witness) -> u64 {
        if self.splits.is_some() {
            return self.split(packet, witness);
        }
        self.queue.push_back(packet);
        0
    }

    /// Puts the parts of a request into the queue.
    #[cold]
    fn split(&mut self, packet: Packet, witness: &Witness) -> u64 {
        let Some(splits) = &mut self.splits else { return 0 };
        let before = self.queue.len();
        splits.split(packet, witness, &mut self.queue);
        (self.queue.len() - before - 1) as u64
    }

    /// Returns the packet that leaves the slice for a reply, which may be the reply to a part of a request.
    #[inline]
    pub fn join(&mut self, reply: Packet, witness: &Witness) -> Packet {
        match &mut self.splits {
            Some(splits) => splits.join(reply, witness),
            None => reply,
        }
    }

    /// Moves the head of the queue to the mechanism's write stage. `part` are its sectors.
    pub fn stage(&mut self, part: LinePart) {
        self.staged.push(part);
        self.queue.pop_front();
    }

    /// Lets requests that wait for the write of `part` continue.
    pub fn release(&mut self, part: LinePart) {
        let at = self.staged.iter().position(|held| *held == part).expect("the mechanism took the write");
        self.staged.swap_remove(at);
    }

    /// Returns whether the mechanism's write stage holds any write.
    #[inline]
    pub fn has_staged(&self) -> bool {
        !self.staged.is_empty()
    }

    /// Returns whether the mechanism's write stage holds a write to any of these sectors.
    pub fn is_staged(&self, part: LinePart) -> bool {
        self.staged.iter().any(|held| held.line == part.line && held.sectors & part.sectors != 0)
    }
}
