//! The arithmetic of SC in plain Rust: code lengths of least total length under a limit, canonical codes, and the coding
//! of a line. The [family's page](super) says what order and layout are.
use super::WORD_BITS;
use selvedge_state::State;
use std::collections::HashMap;

/// A symbol of a code book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, State)]
pub enum Symbol {
    /// The value of a table entry.
    Value {
        /// Index of the entry: its set and its way.
        index: u16,
        /// The value.
        value: u32,
    },
    /// Stands before a word without a code.
    Escape,
}

/// A symbol and its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Code {
    /// What the code stands for.
    pub symbol: Symbol,
    /// The code, right-aligned; its most significant bit is sent first.
    pub bits: u16,
    /// Number of its bits, at least 1.
    pub length: u8,
}

/// A counted table entry, from which a code is built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Counted {
    /// Index of the entry.
    pub index: u16,
    /// Its value.
    pub value: u32,
    /// How often the value occurred; zero means that there is no entry.
    pub count: u16,
}

/// Code lengths of at most `max_bits` whose sum, each multiplied by its weight, is the least possible.
///
/// `weights` fall; the lengths, in the same order, then rise. A single symbol has length 1. The method is package-merge
/// (Larmore and Hirschberg, 1990): starting with the symbols alone, `max_bits - 1` times neighbours are packaged in pairs
/// and the packages merged among the symbols by weight. Of the last list the lightest `2n - 2` items are taken, and each
/// symbol's length is the number of times that it is in them. Where a symbol weighs as much as a package, it goes first;
/// among equal symbols the one that is later in `weights` goes first.
///
/// # Panics
/// When `weights` is empty, rises, or has more than `2^max_bits` elements.
pub fn limited_lengths(weights: &[u32], max_bits: u32) -> Vec<u8> {
    let symbols = weights.len();
    assert!(symbols >= 1 && symbols <= 1 << max_bits, "{symbols} symbols in at most {max_bits} bits");
    assert!(weights.is_sorted_by(|heavier, lighter| heavier >= lighter), "weights must fall");
    if symbols == 1 {
        return vec![1];
    }
    /// A symbol, or a package of two earlier items; a package knows how many symbols are in it, by rank.
    #[derive(Clone)]
    struct Item {
        weight: u64,
        is_package: bool,
        /// The symbols within, each as often as it is contained, by rank from the lightest.
        symbols: Vec<u16>,
    }
    let lightest_first = weights.iter().rev().enumerate();
    let leaves: Vec<Item> = lightest_first
        .map(|(rank, weight)| Item {
            weight: u64::from(*weight),
            is_package: false,
            symbols: vec![rank as u16],
        })
        .collect();
    let mut list = leaves.clone();
    for _ in 1..max_bits {
        let packages = list.chunks_exact(2).map(|pair| Item {
            weight: pair[0].weight + pair[1].weight,
            is_package: true,
            symbols: [&pair[0].symbols[..], &pair[1].symbols[..]].concat(),
        });
        let mut merged: Vec<Item> = leaves.iter().cloned().chain(packages).collect();
        // The sort is stable: symbols and packages keep their own order.
        merged.sort_by_key(|item| (item.weight, item.is_package));
        merged.truncate(2 * symbols - 2);
        list = merged;
    }
    list.truncate(2 * symbols - 2);
    let mut lengths = vec![0u8; symbols];
    for rank in list.iter().flat_map(|item| &item.symbols) {
        lengths[symbols - 1 - usize::from(*rank)] += 1;
    }
    lengths
}

/// The canonical codes of lengths that rise, at most 16 bits.
pub fn canonical_codes(lengths: &[u8]) -> Vec<u16> {
    let mut codes = Vec::with_capacity(lengths.len());
    let (mut next, mut length) = (0u32, lengths.first().copied().unwrap_or_default());
    for own in lengths {
        next <<= own - length;
        length = *own;
        codes.push(next as u16);
        next += 1;
    }
    codes
}

/// A sequence of bits, as a payload has it: bit `i` is bit `i % 64` of word `i / 64`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BitString {
    words: Vec<u64>,
    length: usize,
}

impl BitString {
    /// Number of bits.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Is there no bit?
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The bits, zeros after the last one.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    fn push(&mut self, bit: bool) {
        if self.length.is_multiple_of(64) {
            self.words.push(0);
        }
        self.words[self.length / 64] |= u64::from(bit) << (self.length % 64);
        self.length += 1;
    }
}

/// The bits of a payload, taken from its front. Beyond the end there are zeros.
struct Reader<'a> {
    words: &'a [u64],
    position: usize,
}

impl Reader<'_> {
    fn bit(&mut self) -> bool {
        let word = self.words.get(self.position / 64).copied().unwrap_or_default();
        let bit = (word >> (self.position % 64)) & 1 == 1;
        self.position += 1;
        bit
    }
}

/// The symbols of one code length.
#[derive(Clone, Copy, Debug, Default, State)]
struct Length {
    /// The first code.
    first: u32,
    /// Number of codes.
    count: u32,
    /// Place of the first code in the canonical order.
    rank: usize,
}

/// A complete set of codes, in canonical order.
#[derive(Clone, Debug, State)]
pub struct CodeBook {
    codes: Vec<Code>,
    by_value: HashMap<u32, usize>,
    escape: Code,
    by_length: [Length; super::MAX_CODE_BITS + 1],
}

impl CodeBook {
    /// The codes for a table's entries and the escape symbol, of least total length when no code has more than
    /// `max_bits`. Entries whose count is zero get none.
    pub fn build(entries: impl IntoIterator<Item = Counted>, escape_weight: u32, max_bits: u32) -> CodeBook {
        let mut symbols: Vec<(u32, Symbol)> = entries
            .into_iter()
            .filter(|entry| entry.count > 0)
            .map(|entry| (u32::from(entry.count), Symbol::Value { index: entry.index, value: entry.value }))
            .collect();
        symbols.push((escape_weight, Symbol::Escape));
        symbols.sort_by_key(|(weight, symbol)| {
            let index = match symbol {
                Symbol::Value { index, .. } => u32::from(*index),
                Symbol::Escape => u32::MAX,
            };
            (std::cmp::Reverse(*weight), index)
        });
        let weights: Vec<u32> = symbols.iter().map(|(weight, _)| *weight).collect();
        let lengths = limited_lengths(&weights, max_bits);
        let codes = symbols.iter().zip(canonical_codes(&lengths)).zip(&lengths);
        CodeBook::new(
            codes
                .map(|(((_, symbol), bits), length)| Code { symbol: *symbol, bits, length: *length })
                .collect(),
        )
    }

    /// The code book with these codes, which are in canonical order and have the escape among them.
    ///
    /// # Panics
    /// When there is no escape.
    pub fn new(codes: Vec<Code>) -> CodeBook {
        let mut by_value = HashMap::new();
        let mut escape = None;
        let mut by_length = [Length::default(); super::MAX_CODE_BITS + 1];
        for (rank, code) in codes.iter().enumerate() {
            match code.symbol {
                Symbol::Value { value, .. } => _ = by_value.insert(value, rank),
                Symbol::Escape => escape = Some(*code),
            }
            let length = &mut by_length[usize::from(code.length)];
            if length.count == 0 {
                *length = Length { first: u32::from(code.bits), count: 0, rank };
            }
            length.count += 1;
        }
        CodeBook { codes, by_value, escape: escape.expect("there is a code for the escape"), by_length }
    }

    /// The codes in canonical order.
    pub fn codes(&self) -> &[Code] {
        &self.codes
    }

    /// The code of a value, if it has one.
    pub fn code_of(&self, value: u32) -> Option<Code> {
        self.by_value.get(&value).map(|rank| self.codes[*rank])
    }

    /// The code of the escape symbol.
    pub fn escape(&self) -> Code {
        self.escape
    }

    /// Bits of a word's code, the word itself included where it follows the escape.
    pub fn bits_of(&self, word: u32) -> usize {
        match self.code_of(word) {
            Some(code) => usize::from(code.length),
            None => usize::from(self.escape.length) + WORD_BITS,
        }
    }

    /// The codes of all words in a row, however long.
    pub fn encode(&self, words: &[u32]) -> BitString {
        let mut bits = BitString::default();
        for word in words {
            let own = self.code_of(*word);
            let code = own.unwrap_or(self.escape);
            for place in (0..code.length).rev() {
                bits.push((code.bits >> place) & 1 == 1);
            }
            if own.is_none() {
                for place in 0..WORD_BITS {
                    bits.push((word >> place) & 1 == 1);
                }
            }
        }
        bits
    }

    /// The first `count` words of a payload, and the bits that they take; `None` when a code means nothing or the payload
    /// ends before them. A bit at a time, by the first code and the number of codes of each length.
    pub fn decode(&self, payload: &[u64], count: usize) -> Option<(Vec<u32>, usize)> {
        let mut reader = Reader { words: payload, position: 0 };
        let mut words = Vec::with_capacity(count);
        while words.len() < count {
            words.push(match self.next_symbol(&mut reader)? {
                Symbol::Value { value, .. } => value,
                Symbol::Escape => {
                    (0..WORD_BITS).fold(0, |word, place| word | u32::from(reader.bit()) << place)
                }
            });
        }
        (reader.position <= 64 * payload.len()).then_some((words, reader.position))
    }

    fn next_symbol(&self, reader: &mut Reader) -> Option<Symbol> {
        let mut code = 0;
        for length in &self.by_length[1..] {
            code = code << 1 | u32::from(reader.bit());
            if let Some(place) = code.checked_sub(length.first).filter(|place| *place < length.count) {
                return Some(self.codes[length.rank + place as usize].symbol);
            }
        }
        None
    }
}
