//! Lines of an L2 that partial writes have left uncompressed, and that the partition's compressor is to compress again.
use std::collections::VecDeque;

/// Lines that it keeps at a time. One more stays uncompressed until it leaves the L2.
const LINES: usize = 32;

/// How far a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, selvedge_state::State)]
enum Progress {
    /// Its write is in the decompressor.
    Written,
    /// It waits for the compressor.
    Waiting,
    /// It is in the compressor.
    Inside,
    /// It is in the compressor, and another write has made what comes out worthless.
    Stale,
}

/// The lines, the oldest first, each once.
#[derive(Default, selvedge_state::State)]
pub struct Recompression {
    lines: VecDeque<(u64, Progress)>,
    /// Lines that were compressed again.
    pub done: u64,
    /// Lines that found no place here.
    pub left: u64,
}

impl Recompression {
    fn state(&mut self, line: u64) -> Option<&mut Progress> {
        self.lines.iter_mut().find(|(held, _)| *held == line).map(|(_, state)| state)
    }

    /// A partial write has found the line compressed; it is in the L2 already, or in the decompressor.
    pub fn add(&mut self, line: u64, is_there: bool) {
        let state = if is_there { Progress::Waiting } else { Progress::Written };
        if let Some(held) = self.state(line) {
            // The line has been in the L2 before, and what the compressor has of it is older.
            let is_inside = matches!(held, Progress::Inside | Progress::Stale);
            *held = if is_inside { Progress::Stale } else { state };
        } else if self.lines.len() < LINES {
            self.lines.push_back((line, state));
        } else {
            self.left += 1;
        }
    }

    /// The write for which the line was decompressed has arrived in the L2.
    pub fn arrived(&mut self, line: u64) {
        if let Some(state) = self.state(line).filter(|state| **state == Progress::Written) {
            *state = Progress::Waiting;
        }
    }

    /// A write needs no decompressor: it found the line uncompressed, or replaces it.
    pub fn written(&mut self, line: u64) {
        if let Some(state) = self.state(line).filter(|state| **state == Progress::Inside) {
            *state = Progress::Stale;
        }
    }

    /// Returns the line that the compressor is to take next.
    pub fn next(&self) -> Option<u64> {
        self.lines.iter().find(|(_, state)| *state == Progress::Waiting).map(|(line, _)| *line)
    }

    /// The line needs no compressor any more.
    pub fn forget(&mut self, line: u64) {
        self.lines.retain(|(held, _)| *held != line);
    }

    /// The compressor has taken the line.
    pub fn begin(&mut self, line: u64) {
        if let Some(state) = self.state(line) {
            *state = Progress::Inside;
        }
    }

    /// The compressor is done with the line: returns whether what it made is the line of the L2. One that was written meanwhile
    /// waits again.
    pub fn is_done(&mut self, line: u64) -> bool {
        match self.state(line) {
            Some(state) if *state == Progress::Stale => {
                *state = Progress::Waiting;
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
}
