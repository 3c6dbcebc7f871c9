//! Golden model of the decompression queue.
use super::params::DecompressionQueueParams;
use super::rtl::{DecompressionQueueIn, DecompressionQueueOut};
use selvedge_hw::block::Clocked;
use selvedge_state::State;
use std::collections::VecDeque;

/// A line: its identifier, and the remaining cycles of its decompression.
#[derive(Clone, Copy, Debug, State)]
struct QueuedLine {
    id: u8,
    cycles: u8,
}

/// Golden model of the decompression queue.
#[derive(Clone, Debug, State)]
pub struct DecompressionQueueModel {
    depth: usize,
    waiting: VecDeque<QueuedLine>,
    /// The line in the decompressor, or the last one that was there; `busy` is `true` while a line is there.
    serving: QueuedLine,
    busy: bool,
    /// The reply to the last entry. Only `accepted_o`, the position and the latencies are used.
    answer: DecompressionQueueOut,
}

impl DecompressionQueueModel {
    /// Returns an empty model, as after reset. The parameters must be valid.
    pub fn new(params: &DecompressionQueueParams) -> Self {
        let depth = params.depth as usize;
        DecompressionQueueModel {
            depth,
            waiting: VecDeque::with_capacity(depth),
            serving: QueuedLine { id: 0, cycles: 0 },
            busy: false,
            answer: DecompressionQueueOut::default(),
        }
    }

    /// Returns whether the queue can take a line in this cycle.
    pub fn ready(&self) -> bool {
        self.waiting.len() < self.depth
    }

    /// Returns the lines in the queue, including the line in the decompressor.
    pub fn lines(&self) -> usize {
        self.waiting.len() + usize::from(self.busy)
    }

    fn outputs(&self) -> DecompressionQueueOut {
        DecompressionQueueOut {
            ready_o: self.ready(),
            valid_o: self.busy && self.serving.cycles == 1,
            id_o: self.serving.id,
            ..self.answer
        }
    }

    /// Performs a cycle of decompression. A finished line leaves if the consumer is ready.
    fn decompress(&mut self, ready: bool) {
        if self.busy && self.serving.cycles > 1 {
            self.serving.cycles -= 1;
        } else if ready {
            self.busy = false;
        }
    }

    fn enter(&mut self, line: QueuedLine) {
        let ahead = self.lines() as u8;
        let work: u8 = self.waiting.iter().map(|line| line.cycles).sum();
        let serving = if self.busy { self.serving.cycles } else { 0 };
        self.answer.position_o = ahead;
        self.answer.hit_latency_o = line.cycles * (ahead + 1);
        self.answer.exact_latency_o = serving + work + line.cycles;
        self.waiting.push_back(line);
    }
}

impl Clocked<DecompressionQueueIn, DecompressionQueueOut> for DecompressionQueueModel {
    #[inline]
    fn step(&mut self, inputs: &DecompressionQueueIn) -> DecompressionQueueOut {
        let outputs = self.outputs();
        self.decompress(inputs.ready_i);
        self.answer.accepted_o = inputs.valid_i && outputs.ready_o;
        if self.answer.accepted_o {
            self.enter(QueuedLine { id: inputs.id_i, cycles: inputs.latency_i.max(1) });
        }
        if !self.busy
            && let Some(line) = self.waiting.pop_front()
        {
            self.serving = line;
            self.busy = true;
        }
        outputs
    }

    fn reset(&mut self) {
        self.waiting.clear();
        self.serving = QueuedLine { id: 0, cycles: 0 };
        self.busy = false;
        self.answer = DecompressionQueueOut::default();
    }
}
