//! The compressed lines in an L1D, which has more tags than ways (CABA, section 7.5) or serves direct loads (section 7.6).
use selvedge_compressed_memory::codecs::LineForms;
use selvedge_gpu::sm::part::{L1dEvent, LineSpace};
use selvedge_ptx::memory::program_of;
use selvedge_state::State;
use std::collections::HashMap;

/// The compressed lines in an SM's L1D.
#[derive(Default, State)]
pub struct Resident {
    // Looked up by address only, so the order of the map has no effect.
    lines: HashMap<u64, LineForms>,
    /// The line in flight to the L1D.
    coming: Option<(u64, LineForms)>,
}

impl Resident {
    /// Records that a line is sent to the L1D, which it may bypass.
    pub fn leaves(&mut self, line: u64, forms: LineForms) {
        self.coming = Some((line, forms));
    }

    /// Records that an uncompressed line is sent to the L1D.
    pub(crate) fn comes_whole(&mut self) {
        self.coming = None;
    }

    /// Adds a line to an L1D with one tag per way. `forms` is none for an uncompressed line.
    pub fn comes(&mut self, line: u64, forms: Option<LineForms>) {
        match forms {
            Some(forms) => self.lines.insert(line, forms),
            None => self.lines.remove(&line),
        };
    }

    /// Adds the line in flight to the L1D, and returns the space that it needs.
    pub fn put(&mut self, line: u64) -> LineSpace {
        match self.coming.take() {
            Some((own, forms)) if own == line => {
                self.lines.insert(line, forms);
                LineSpace::SubBlocks(forms.sub_blocks())
            }
            _ => {
                self.lines.remove(&line);
                LineSpace::Whole
            }
        }
    }

    /// Returns the line if it is compressed in the L1D.
    pub fn get(&self, line: u64) -> Option<LineForms> {
        self.lines.get(&line).copied()
    }

    /// Removes the lines that have left the L1D.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_own_form_alone() {
        let mut resident = Resident::default();
        resident.leaves(128, LineForms::default());
        assert!(matches!(resident.put(256), LineSpace::Whole), "256 was not in flight");
        assert!(resident.get(256).is_none());
        resident.leaves(128, LineForms::default());
        assert!(matches!(resident.put(128), LineSpace::SubBlocks(_)));
        assert!(resident.get(128).is_some());
        // The line arrives again, uncompressed.
        assert!(matches!(resident.put(128), LineSpace::Whole));
        assert!(resident.get(128).is_none());
    }
}
