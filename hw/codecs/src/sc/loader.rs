//! Source of code streams between lines, for the stimuli of both codecs.
use super::vocabulary::Vocabulary;
use super::{CodeItem, code_stream};
use selvedge_hw::prng::Prng;

/// The stream with a full table, which is never interrupted.
const FULL: u64 = 2;

/// Offers new codes to a codec: soon after a reset (once in 150 cycles on average), later about once in 3,000 cycles.
pub(super) struct Loader {
    prng: Prng,
    vocabulary: Vocabulary,
    /// Number of streams so far.
    streams: u64,
    /// Codes that are still to be offered, the next one last.
    rest: Vec<CodeItem>,
    /// `true` from the offer of the next code until it is taken.
    offered: bool,
    /// `true` once the codec has taken a code after its last reset.
    loaded: bool,
}

impl Loader {
    pub fn new(seed: u64) -> Self {
        let mut prng = Prng::new(seed ^ 0x636f_6465_7320);
        let vocabulary = Vocabulary::draw(&mut prng);
        Loader { prng, vocabulary, streams: 0, rest: vec![], offered: false, loaded: false }
    }

    pub fn reset(&mut self) {
        self.rest.clear();
        (self.offered, self.loaded) = (false, false);
    }

    /// Returns the vocabulary of the latest code stream.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Returns the code that is offered in this cycle, if any. The offers pause between codes.
    pub fn offer(&mut self) -> Option<CodeItem> {
        if self.rest.is_empty() && self.prng.below(if self.loaded { 3000 } else { 150 }) == 0 {
            self.begin();
        } else if !self.offered
            && self.loaded
            && self.streams != FULL
            && !self.rest.is_empty()
            && self.prng.below(2000) == 0
        {
            // The code builder restarts in the middle of a stream.
            self.begin();
        }
        self.offered |= !self.rest.is_empty() && self.prng.chance(85);
        self.rest.last().copied().filter(|_| self.offered)
    }

    /// Records that the codec took the offered code.
    pub fn taken(&mut self) {
        self.rest.pop();
        (self.offered, self.loaded) = (false, true);
    }

    /// Begins a stream with a new vocabulary. One stream in 16 lacks its second half, and one in 16 lacks the escape.
    fn begin(&mut self) {
        self.streams += 1;
        let is_full = self.streams == FULL;
        let draw = if is_full { Vocabulary::draw_full } else { Vocabulary::draw };
        self.vocabulary = draw(&mut self.prng);
        self.rest = code_stream(self.vocabulary.book());
        match self.prng.below(16) {
            _ if is_full => {}
            0 => self.rest.truncate(1 + self.rest.len() / 2),
            1 if self.rest.len() > 1 => self.rest.retain(|item| !item.escape),
            _ => {}
        }
        self.rest.reverse();
        // The first and the last code carry the marks, also after codes were removed.
        self.rest[0].last = true;
        let first = self.rest.len() - 1;
        self.rest[first].first = true;
    }
}
