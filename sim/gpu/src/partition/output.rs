//! The replies of an L2 slice: the hit pipeline and the queue in front of the crossbar.
use crate::config::L2;
use crate::packet::Packet;
use selvedge_state::State;
use std::collections::VecDeque;

/// A reply in the hit pipeline.
#[derive(State)]
pub struct Answer {
    /// The first cycle in which it may leave.
    pub ready: u64,
    pub packet: Packet,
    /// The request did not wait for its line.
    pub is_hit: bool,
}

/// The replies that have not left the slice.
#[derive(State)]
pub struct SliceOutput {
    /// The hit pipeline, in the order of the ready cycles.
    pub pipe: VecDeque<Answer>,
    pub replies: VecDeque<Packet>,
}

impl SliceOutput {
    /// Returns an output without replies.
    pub fn new(l2: &L2) -> Self {
        SliceOutput {
            pipe: VecDeque::with_capacity(l2.hit_latency as usize),
            replies: VecDeque::with_capacity(l2.reply_queue as usize),
        }
    }

    /// Puts a reply into the pipeline.
    #[inline]
    pub fn push(&mut self, answer: Answer) {
        let earlier = self.pipe.iter().rposition(|other| other.ready <= answer.ready);
        self.pipe.insert(earlier.map_or(0, |before| before + 1), answer);
    }

    /// Removes the reply that may leave the pipeline in cycle `now`.
    #[inline]
    pub fn pop_ready(&mut self, now: u64) -> Option<Answer> {
        self.pipe.front().filter(|answer| answer.ready <= now)?;
        self.pipe.pop_front()
    }
}
