//! A block that keeps up with a circuit of another latency: items in the order in which the circuit takes and gives them.
use crate::block::HwBlock;
use crate::ports::Ports;
use std::collections::VecDeque;

/// Cycles after which a block without new items has nothing left to give.
const MOST_CYCLES: u32 = 10_000;

/// The ports of a stream's two handshakes, by their places.
#[derive(Clone, Copy, Debug)]
struct Handshakes {
    valid_i: usize,
    ready_i: usize,
    valid_o: usize,
    ready_o: usize,
}

/// The items that a circuit has taken and the block beside it has not.
pub(crate) struct Items<B: HwBlock> {
    ports: Handshakes,
    waiting: VecDeque<B::In>,
}

impl<B: HwBlock> Items<B> {
    /// Returns no items, or nothing where the block is no stream.
    pub fn new() -> Option<Self> {
        let find = |names: &[&str], name| names.iter().position(|other| *other == name);
        let ports = Handshakes {
            valid_i: find(B::In::NAMES, "valid_i")?,
            ready_i: find(B::In::NAMES, "ready_i")?,
            valid_o: find(B::Out::NAMES, "valid_o")?,
            ready_o: find(B::Out::NAMES, "ready_o")?,
        };
        B::IS_STREAM.then_some(Items { ports, waiting: VecDeque::new() })
    }

    /// Forgets all items: a reset.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Follows a cycle of the circuit. Where it gives an item, returns what the block that `step` steps would show in its place:
    /// zeros where that has nothing to give.
    pub fn follow(
        &mut self,
        inputs: &B::In,
        outputs: &B::Out,
        step: impl FnMut(&B::In) -> B::Out,
    ) -> Option<B::Out> {
        let Handshakes { valid_i, ready_i, valid_o, ready_o } = self.ports;
        if is_high(inputs, valid_i) && is_high(outputs, ready_o) {
            self.waiting.push_back(*inputs);
        }
        if !(is_high(outputs, valid_o) && is_high(inputs, ready_i)) {
            return None;
        }
        let item = self.next(step);
        let mut shown = item.unwrap_or_default();
        // The cycles are the circuit's: that it offers an item at all is wrong only where there is none.
        shown.load(valid_o, &[u64::from(item.is_some())]);
        shown.load(ready_o, &[u64::from(is_high(outputs, ready_o))]);
        Some(shown)
    }

    /// Steps the block until it gives an item.
    fn next(&mut self, mut step: impl FnMut(&B::In) -> B::Out) -> Option<B::Out> {
        for _ in 0..MOST_CYCLES {
            let mut inputs = self.waiting.front().copied().unwrap_or_default();
            inputs.load(self.ports.valid_i, &[u64::from(!self.waiting.is_empty())]);
            inputs.load(self.ports.ready_i, &[1]);
            let outputs = step(&inputs);
            if is_high(&outputs, self.ports.ready_o) {
                self.waiting.pop_front();
            }
            if is_high(&outputs, self.ports.valid_o) {
                return Some(outputs);
            }
        }
        None
    }
}

fn is_high(ports: &impl Ports, index: usize) -> bool {
    let mut word = [0];
    ports.store(index, &mut word);
    word[0] & 1 != 0
}
