//! Code streams that come between lines, for the stimuli of both codecs.
use super::vocabulary::Vocabulary;
use super::{CodeItem, code_stream};
use selvedge_hw::prng::Prng;

/// Gives a codec new codes now and then: soon after a reset, then about once in 3,000 cycles.
pub(super) struct Loader {
    prng: Prng,
    vocabulary: Vocabulary,
    /// Codes to come, the next one last.
    rest: Vec<CodeItem>,
    /// The next code is offered until it is taken.
    offered: bool,
    /// The codec has codes since its last reset.
    loaded: bool,
}

impl Loader {
    pub fn new(seed: u64) -> Self {
        let mut prng = Prng::new(seed ^ 0x636f_6465_7320);
        let vocabulary = Vocabulary::draw(&mut prng);
        Loader { prng, vocabulary, rest: vec![], offered: false, loaded: false }
    }

    pub fn reset(&mut self) {
        self.rest.clear();
        (self.offered, self.loaded) = (false, false);
    }

    /// The values of the codes that were given last.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The code that is offered in this cycle; pauses come between codes.
    pub fn offer(&mut self) -> Option<CodeItem> {
        if self.rest.is_empty() && self.prng.below(if self.loaded { 3000 } else { 150 }) == 0 {
            self.begin();
        } else if !self.offered && self.loaded && !self.rest.is_empty() && self.prng.below(2000) == 0 {
            // The builder starts over in the middle of a stream.
            self.begin();
        }
        self.offered |= !self.rest.is_empty() && self.prng.chance(85);
        self.rest.last().copied().filter(|_| self.offered)
    }

    /// The code that was offered is taken.
    pub fn taken(&mut self) {
        self.rest.pop();
        (self.offered, self.loaded) = (false, true);
    }

    /// A new vocabulary. One stream in eight lacks codes: its end, or the escape.
    fn begin(&mut self) {
        self.vocabulary = Vocabulary::draw(&mut self.prng);
        self.rest = code_stream(self.vocabulary.book());
        match self.prng.below(16) {
            0 => self.rest.truncate(1 + self.rest.len() / 2),
            1 if self.rest.len() > 1 => self.rest.retain(|item| !item.escape),
            _ => {}
        }
        self.rest.reverse();
        // The marks must stand where the stream begins and ends.
        self.rest[0].last = true;
        let first = self.rest.len() - 1;
        self.rest[first].first = true;
    }
}
