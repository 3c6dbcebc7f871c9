//! Lines that partial writes have made uncompressed in the L2, and that the partition's compressor must compress again.
use std::collections::VecDeque;

/// Max lines in the list. A line beyond that stays uncompressed until it leaves the L2.
const LINES: usize = 32;

/// The state of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, selvedge_state::State)]
enum LineProgress {
    /// The partial write is in the decompressor.
    Written,
    /// The line waits for the compressor.
    Waiting,
    /// The line is in the compressor.
    Inside,
    /// The line is in the compressor, and a later write has made the result invalid.
    Stale,
}

/// The lines, the oldest first. A line is in the list at most once.
#[derive(Default, selvedge_state::State)]
pub struct Recompression {
    lines: VecDeque<(u64, LineProgress)>,
    /// Number of lines that were compressed again.
    pub done: u64,
    /// Number of lines that found the list full.
    pub left: u64,
}

impl Recompression {
    fn state(&mut self, line: u64) -> Option<&mut LineProgress> {
        self.lines.iter_mut().find(|(held, _)| *held == line).map(|(_, state)| state)
    }

    /// Adds a line that a partial write found compressed. `is_there` if the write is in the L2 already, not in the decompressor.
    pub fn add(&mut self, line: u64, is_there: bool) {
        let state = if is_there { LineProgress::Waiting } else { LineProgress::Written };
        if let Some(held) = self.state(line) {
            // The line was compressed and written once before; the compressor has its older values.
            let is_inside = matches!(held, LineProgress::Inside | LineProgress::Stale);
            *held = if is_inside { LineProgress::Stale } else { state };
        } else if self.lines.len() < LINES {
            self.lines.push_back((line, state));
        } else {
            self.left += 1;
        }
    }

    /// Records that the write for which the line was decompressed has reached the L2.
    pub fn arrived(&mut self, line: u64) {
        if let Some(state) = self.state(line).filter(|state| **state == LineProgress::Written) {
            *state = LineProgress::Waiting;
        }
    }

    /// Records a write that needs no decompressor: it found the line uncompressed, or replaces it.
    pub fn written(&mut self, line: u64) {
        if let Some(state) = self.state(line).filter(|state| **state == LineProgress::Inside) {
            *state = LineProgress::Stale;
        }
    }

    /// Returns the next line for the compressor.
    pub fn next(&self) -> Option<u64> {
        self.lines.iter().find(|(_, state)| *state == LineProgress::Waiting).map(|(line, _)| *line)
    }

    /// Removes a line that must not be compressed again.
    pub fn forget(&mut self, line: u64) {
        self.lines.retain(|(held, _)| *held != line);
    }

    /// Records that the compressor has taken the line.
    pub fn begin(&mut self, line: u64) {
        if let Some(state) = self.state(line) {
            *state = LineProgress::Inside;
        }
    }

    /// Records that the compressor is done with the line, and returns whether its result is valid. A line that was written in the
    /// meantime waits for the compressor again.
    pub fn is_done(&mut self, line: u64) -> bool {
        match self.state(line) {
            Some(state) if *state == LineProgress::Stale => {
                *state = LineProgress::Waiting;
                false
            }
            Some(_) => {
                self.forget(line);
                self.done += 1;
                true
            }
            None => false,
        }
    }

    /// Returns whether a line waits for the compressor.
    pub fn is_pending(&self) -> bool {
        self.next().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_compressed_again_when_its_write_has_arrived() {
        let mut again = Recompression::default();
        again.add(128, false);
        assert_eq!(again.next(), None, "the write is in the decompressor");
        again.arrived(128);
        assert_eq!(again.next(), Some(128));
        again.begin(128);
        assert!(!again.is_pending());
        assert!(again.is_done(128));
        assert_eq!((again.next(), again.done), (None, 1));
    }

    #[test]
    fn what_was_written_meanwhile_passes_the_compressor_once_more() {
        let mut again = Recompression::default();
        again.add(128, true);
        again.begin(128);
        again.written(128);
        assert!(!again.is_done(128), "the compressor has the old values");
        assert_eq!(again.next(), Some(128));
        again.begin(128);
        assert!(again.is_done(128));
    }

    #[test]
    fn a_line_without_a_place_stays_as_it_is() {
        let mut again = Recompression::default();
        (0..=LINES as u64).for_each(|line| again.add(line * 128, true));
        assert_eq!(again.left, 1);
        assert_eq!((0..).map_while(|_| again.next().inspect(|line| again.forget(*line))).count(), LINES);
    }

    #[test]
    fn a_line_that_is_written_twice_in_the_compressor_waits_for_it_to_end() {
        let mut again = Recompression::default();
        again.add(128, true);
        again.begin(128);
        again.add(128, true);
        again.add(128, true);
        assert_eq!(again.next(), None, "the compressor still has it");
        assert!(!again.is_done(128));
        assert_eq!((again.next(), again.done), (Some(128), 0));
    }
}
