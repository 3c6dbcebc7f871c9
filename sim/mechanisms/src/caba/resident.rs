//! The compressed lines of an L1D that keeps such: with more tags than ways (CABA, section 7.5), or for direct load (7.6).
use crate::codecs::LineForms;
use selvedge_gpu::sm::part::{L1dEvent, Space};
use selvedge_ptx::memory::program_of;
use selvedge_state::State;
use std::collections::HashMap;

/// The lines that lie compressed in an SM's L1D.
#[derive(Default, State)]
pub struct Resident {
    // Looked up by address only; nothing depends on its order.
    lines: HashMap<u64, LineForms>,
    /// The line that is in flight into the L1D.
    coming: Option<(u64, LineForms)>,
}

impl Resident {
    /// A line leaves for the L1D, or bypasses it.
    pub fn leaves(&mut self, line: u64, forms: LineForms) {
        self.coming = Some((line, forms));
    }

    /// A line comes that is not compressed.
    pub fn comes_whole(&mut self) {
        self.coming = None;
    }

    /// A line comes into an L1D that has a tag for each way.
    pub fn comes(&mut self, line: u64, forms: Option<LineForms>) {
        match forms {
            Some(forms) => self.lines.insert(line, forms),
            None => self.lines.remove(&line),
        };
    }

    /// The line is being put into the L1D: the room that it takes.
    pub fn put(&mut self, line: u64) -> Space {
        match self.coming.take() {
            Some((own, forms)) if own == line => {
                self.lines.insert(line, forms);
                Space::SubBlocks(forms.sub_blocks())
            }
            _ => {
                self.lines.remove(&line);
                Space::Whole
            }
        }
    }

    /// The line, if it lies compressed in the L1D.
    pub fn get(&self, line: u64) -> Option<LineForms> {
        self.lines.get(&line).copied()
    }

    /// Forgets the lines that have left.
    pub fn event(&mut self, event: &L1dEvent) {
        match event {
            L1dEvent::Evicted { line, .. } => {
                self.lines.remove(line);
            }
            L1dEvent::Flushed { program: None } => self.lines.clear(),
            L1dEvent::Flushed { program: Some(program) } => {
                self.lines.retain(|line, _| program_of(*line) != *program);
            }
            _ => {}
        }
    }
}
