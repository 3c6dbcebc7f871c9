//! Comparison of a block with a circuit of another latency, item by item in stream order.
use crate::block::HwBlock;
use crate::ports::Ports;
use std::collections::VecDeque;

/// Max cycles that a block needs for its next output. After that it has no item.
const MOST_CYCLES: u32 = 10_000;

/// The ports of a stream's two handshakes, by index.
#[derive(Clone, Copy, Debug)]
struct Handshakes {
    valid_i: usize,
    ready_i: usize,
    valid_o: usize,
    ready_o: usize,
}

/// The items that the circuit has accepted and the block has not.
pub(crate) struct Items<B: HwBlock> {
    ports: Handshakes,
    waiting: VecDeque<B::In>,
}

impl<B: HwBlock> Items<B> {
    /// Returns an empty queue, or nothing if the block is not a stream.
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

    /// Removes all items, at a reset.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Observes a cycle of the circuit. If the circuit gives an item, returns the outputs that are expected of it, from the
    /// block that `step` steps. They are zeros if the block gives no item.
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
        // The circuit may offer an item in any cycle. Only an item that the block does not give is wrong.
        shown.load(valid_o, &[u64::from(item.is_some())]);
        shown.load(ready_o, &[u64::from(is_high(outputs, ready_o))]);
        Some(shown)
    }

    /// Steps the block until it gives an item, and returns the outputs.
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
