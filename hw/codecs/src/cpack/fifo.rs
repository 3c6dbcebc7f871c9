//! C-Pack with its first-in-first-out dictionary, one word at a time as in the hardware.
use super::codec::{CpackCompressed, CpackEncoding, cut, get, put, put_word};
use crate::line::{Decompressed, Line};
use selvedge_state::State;

/// Words of the dictionary.
pub const DICTIONARY: usize = 16;

/// Words that the hardware encodes or decodes in one cycle.
pub const DECODED_AT_ONCE: usize = 4;

/// Code of a word: one of the six codes of C-Pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FifoCode {
    /// All bytes are zero.
    Zzzz,
    /// No match: the word itself follows.
    Xxxx,
    /// The word is in the dictionary.
    Mmmm,
    /// The upper two bytes match a word of the dictionary.
    Mmxx,
    /// The upper three bytes are zero.
    Zzzx,
    /// The upper three bytes match a word of the dictionary.
    Mmmx,
}

impl FifoCode {
    /// All codes.
    pub const ALL: [FifoCode; 6] =
        [FifoCode::Zzzz, FifoCode::Xxxx, FifoCode::Mmmm, FifoCode::Mmxx, FifoCode::Zzzx, FifoCode::Mmmx];

    /// Returns the code's name in C-Pack: one letter per byte, for zero, match or mismatch.
    pub const fn name(self) -> &'static str {
        match self {
            FifoCode::Zzzz => "zzzz",
            FifoCode::Xxxx => "xxxx",
            FifoCode::Mmmm => "mmmm",
            FifoCode::Mmxx => "mmxx",
            FifoCode::Zzzx => "zzzx",
            FifoCode::Mmmx => "mmmx",
        }
    }

    /// Returns the code's prefix and its number of bits: two, or 0b11 and two more bits above it.
    pub(super) const fn tag(self) -> (u64, usize) {
        match self {
            FifoCode::Zzzz => (0b00, 2),
            FifoCode::Xxxx => (0b01, 2),
            FifoCode::Mmmm => (0b10, 2),
            FifoCode::Mmxx => (0b0011, 4),
            FifoCode::Zzzx => (0b0111, 4),
            FifoCode::Mmmx => (0b1011, 4),
        }
    }

    /// Returns the code whose prefix `string` begins with, or `None` for the one unused prefix.
    pub(super) const fn of(string: u64) -> Option<FifoCode> {
        match (string & 3, string >> 2 & 3) {
            (0, _) => Some(FifoCode::Zzzz),
            (1, _) => Some(FifoCode::Xxxx),
            (2, _) => Some(FifoCode::Mmmm),
            (_, 0) => Some(FifoCode::Mmxx),
            (_, 1) => Some(FifoCode::Zzzx),
            (_, 2) => Some(FifoCode::Mmmx),
            _ => None,
        }
    }

    /// Returns whether an index into the dictionary follows the prefix.
    const fn has_index(self) -> bool {
        matches!(self, FifoCode::Mmmm | FifoCode::Mmxx | FifoCode::Mmmx)
    }

    /// Returns the number of literal bits, which are the lowest bits of the word.
    const fn literal_bits(self) -> usize {
        match self {
            FifoCode::Zzzz | FifoCode::Mmmm => 0,
            FifoCode::Zzzx | FifoCode::Mmmx => 8,
            FifoCode::Mmxx => 16,
            FifoCode::Xxxx => 32,
        }
    }

    /// Returns the total bits of a word with this code.
    pub const fn bits(self) -> usize {
        self.tag().1 + if self.has_index() { 4 } else { 0 } + self.literal_bits()
    }

    /// Returns whether a word with this code enters the dictionary. Full matches, zeros and single bytes do not.
    const fn enters(self) -> bool {
        matches!(self, FifoCode::Xxxx | FifoCode::Mmxx | FifoCode::Mmmx)
    }
}

/// The dictionary: the last 16 words that entered, as a ring.
#[derive(Clone, Copy, Debug, Default, State)]
struct Dictionary {
    words: [u32; DICTIONARY],
    /// Position of the next word.
    next: usize,
    /// Words in the dictionary.
    count: usize,
}

impl Dictionary {
    fn enter(&mut self, word: u32) {
        self.words[self.next] = word;
        self.next = (self.next + 1) % DICTIONARY;
        self.count = (self.count + 1).min(DICTIONARY);
    }

    /// Returns the code with the fewest bits, and the lowest position that matches.
    fn code_of(&self, word: u32) -> (FifoCode, usize) {
        let matching =
            |shift: u32| self.words[..self.count].iter().position(|own| own >> shift == word >> shift);
        if word == 0 {
            (FifoCode::Zzzz, 0)
        } else if let Some(place) = matching(0) {
            (FifoCode::Mmmm, place)
        } else if word >> 8 == 0 {
            (FifoCode::Zzzx, 0)
        } else if let Some(place) = matching(8) {
            (FifoCode::Mmmx, place)
        } else if let Some(place) = matching(16) {
            (FifoCode::Mmxx, place)
        } else {
            (FifoCode::Xxxx, 0)
        }
    }
}

/// Encodes the words of one line in order.
#[derive(Clone, Copy, Debug, Default, State)]
pub(super) struct FifoEncoder {
    dictionary: Dictionary,
    string: Line,
    length: usize,
    /// At least one word was not zero.
    nonzero: bool,
}

impl FifoEncoder {
    /// Appends the code of the next word.
    pub fn encode(&mut self, word: u32) {
        let (code, place) = self.dictionary.code_of(word);
        let (mut value, mut bits) = code.tag();
        if code.has_index() {
            value |= (place as u64) << bits;
            bits += 4;
        }
        let literal = u64::from(word) & ((1 << code.literal_bits()) - 1);
        put(&mut self.string, self.length, value | literal << bits, code.bits());
        self.length += code.bits();
        self.nonzero |= word != 0;
        if code.enters() {
            self.dictionary.enter(word);
        }
    }

    /// Returns the compressed line after all words are encoded.
    pub fn finish(&self, line: &Line, line_bytes: usize) -> CpackCompressed {
        let line_bits = 8 * line_bytes;
        if !self.nonzero {
            CpackCompressed { encoding: CpackEncoding::Zeros, bits: 0, payload: Line::default() }
        } else if self.length >= line_bits {
            CpackCompressed { encoding: CpackEncoding::Uncompressed, bits: line_bits as u16, payload: *line }
        } else {
            let payload = cut(&self.string, line_bytes);
            CpackCompressed { encoding: CpackEncoding::Compressed, bits: self.length as u16, payload }
        }
    }
}

/// Decodes the words of a payload in order.
#[derive(Clone, Copy, Debug, Default, State)]
pub(super) struct FifoDecoder {
    tag: u8,
    dictionary: Dictionary,
    string: Line,
    place: usize,
    line: Line,
    words: usize,
    error: bool,
}

impl FifoDecoder {
    /// Returns a decoder at the start of a payload.
    pub fn new(tag: u8, payload: Line) -> Self {
        FifoDecoder {
            tag,
            string: payload,
            error: tag > CpackEncoding::Zeros.tag(),
            ..FifoDecoder::default()
        }
    }

    /// Decodes the next word and appends it to the line.
    pub fn decode_next(&mut self) {
        let word = match self.tag {
            0 => {
                self.place += 32;
                get(&self.string, self.place - 32, 32) as u32
            }
            1 => self.decode(),
            _ => 0,
        };
        put_word(&mut self.line, self.words, word);
        self.words += 1;
    }

    /// Decodes the next word from its code.
    fn decode(&mut self) -> u32 {
        let bits = get(&self.string, self.place, 36);
        let Some(code) = FifoCode::of(bits) else {
            self.error = true;
            self.place += 4;
            return 0;
        };
        let (_, tag_bits) = code.tag();
        let index = (bits >> tag_bits & 15) as usize;
        let literal_at = tag_bits + if code.has_index() { 4 } else { 0 };
        let literal = (bits >> literal_at) & ((1 << code.literal_bits()) - 1);
        let mut word = literal as u32;
        if code.has_index() {
            self.error |= index >= self.dictionary.count;
            word |= self.dictionary.words[index] & !((1u64 << code.literal_bits()) - 1) as u32;
        }
        if code.enters() {
            self.dictionary.enter(word);
        }
        self.place += code.bits();
        word
    }

    /// Returns the line after all words are decoded.
    pub fn finish(&self) -> Decompressed {
        if self.error {
            Decompressed { line: Line::default(), error: true }
        } else {
            Decompressed { line: self.line, error: false }
        }
    }
}

/// Calls `seen` with the code of each word of a compressed payload, up to the first invalid code.
pub(super) fn each_code(payload: &Line, line_bytes: usize, mut seen: impl FnMut(FifoCode)) {
    let mut place = 0;
    for _ in 0..line_bytes / 4 {
        let Some(code) = FifoCode::of(get(payload, place, 4)) else { return };
        seen(code);
        place += code.bits();
    }
}

/// Returns whether a compressed payload contains this code.
pub(super) fn has_code(payload: &Line, line_bytes: usize, code: FifoCode) -> bool {
    let mut found = false;
    each_code(payload, line_bytes, |own| found |= own == code);
    found
}

/// Returns whether more words enter than the dictionary holds, so that it loses the oldest.
pub(super) fn forgets(payload: &Line, line_bytes: usize) -> bool {
    let mut entered = 0;
    each_code(payload, line_bytes, |code| entered += usize::from(code.enters()));
    entered > DICTIONARY
}
