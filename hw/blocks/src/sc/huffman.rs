//! The arithmetic of SC in plain Rust: code lengths under a limit, canonical codes, and the coding of a line. The [family's page](super) says what order and layout are.
use super::WORD_BITS;
use selvedge_state::State;
use std::collections::{HashMap, VecDeque};

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

/// Code lengths, and what the way to them was like, on which the [code builder](super::code_builder)'s cycles depend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// The lengths.
    pub lengths: Vec<u8>,
    /// Depth of Huffman's tree: the longest code without a limit, at least 1.
    pub depth: usize,
    /// Nodes of the tree that have items at a depth below the limit. The root's items have depth 1.
    pub nodes: usize,
    /// Steps of the repair: changes of a code's length and of the length that is looked at.
    pub steps: usize,
}

/// Code lengths of at most `max_bits` that make a complete code; where Huffman's tree is no deeper, of least total length.
///
/// `weights` fall; the lengths, in the same order, then rise. A single symbol has length 1. The method is Huffman's (1952):
/// the two lightest items, symbols or nodes, make a node, until one is left. A symbol goes before a node of its weight,
/// which of all trees of least total length gives the one of least depth; among equal symbols the one that is later in
/// `weights` goes first, and among equal nodes the older one.
///
/// Symbols that lie too deep get `max_bits`, and the code is repaired. A code of `l` bits has `2^(max_bits - l)` shares of the
/// `2^max_bits` that there are.
/// - While more shares are taken than there are: of the symbols with `max_bits - 1` bits the lightest gets a bit more. If there
///   is none, those with a bit less are looked at, and so on.
/// - While fewer are taken: of the symbols with one bit more than the length that was looked at last, the heaviest gets
///   a bit less, if so many shares are left. If it has no use for them, those with a bit more are looked at, and so on; after
///   those with `max_bits` bits come those with 2.
///
/// # Panics
/// When `weights` is empty, rises, or has more than `2^max_bits` elements.
pub fn limited_lengths(weights: &[u32], max_bits: u32) -> Lengths {
    let symbols = weights.len();
    assert!(symbols >= 1 && symbols <= 1 << max_bits, "{symbols} symbols in at most {max_bits} bits");
    assert!(weights.is_sorted_by(|heavier, lighter| heavier >= lighter), "weights must fall");
    let limit = max_bits as usize;
    if symbols == 1 {
        return Lengths { lengths: vec![1], depth: 1, nodes: 0, steps: 0 };
    }
    let (of_symbols, of_nodes) = depths(weights);
    let mut lengths: Vec<usize> = of_symbols.iter().map(|depth| *depth.min(&limit)).collect();
    let steps = repair(&mut lengths, limit);
    Lengths {
        lengths: lengths.iter().map(|length| *length as u8).collect(),
        depth: of_symbols[symbols - 1],
        nodes: of_nodes.iter().filter(|depth| **depth + 1 < limit).count(),
        steps,
    }
}

/// The depths of symbols, in their order, and of nodes in Huffman's tree.
fn depths(weights: &[u32]) -> (Vec<usize>, Vec<usize>) {
    /// A symbol, by its place, or a node, by its number.
    #[derive(Clone, Copy)]
    enum Item {
        Symbol(usize),
        Node(usize),
    }
    let mut symbols: VecDeque<_> = weights.iter().copied().map(u64::from).enumerate().collect();
    let mut waiting: VecDeque<(usize, u64)> = VecDeque::new();
    let mut nodes: Vec<[Item; 2]> = Vec::new();
    while nodes.len() + 1 < weights.len() {
        let [one, other] = [(); 2].map(|()| match (symbols.back().copied(), waiting.front().copied()) {
            (Some((place, weight)), node) if node.is_none_or(|(_, lightest)| weight <= lightest) => {
                symbols.pop_back();
                (Item::Symbol(place), weight)
            }
            (_, node) => {
                waiting.pop_front();
                let (number, weight) = node.expect("there are two items");
                (Item::Node(number), weight)
            }
        });
        waiting.push_back((nodes.len(), one.1 + other.1));
        nodes.push([one.0, other.0]);
    }
    let (mut of_symbols, mut of_nodes) = (vec![0; weights.len()], vec![0; nodes.len()]);
    for (number, items) in nodes.iter().enumerate().rev() {
        for item in items {
            match item {
                Item::Symbol(place) => of_symbols[*place] = of_nodes[number] + 1,
                Item::Node(below) => of_nodes[*below] = of_nodes[number] + 1,
            }
        }
    }
    (of_symbols, of_nodes)
}

/// Makes a code complete whose lengths rise up to `limit`, and returns the steps that it took.
fn repair(lengths: &mut [usize], limit: usize) -> usize {
    let shares: i64 = lengths.iter().map(|length| 1 << (limit - length)).sum();
    let mut excess = shares - (1 << limit);
    let (mut length, mut steps) = (limit - 1, 0);
    while excess != 0 {
        steps += 1;
        let saved = 1 << (limit - 1 - length);
        let changed = if excess > 0 {
            lengths.iter().rposition(|own| *own == length)
        } else {
            lengths.iter().position(|own| *own == length + 1).filter(|_| saved <= -excess)
        };
        match changed {
            Some(place) if excess > 0 => (lengths[place], excess) = (length + 1, excess - saved),
            Some(place) => (lengths[place], excess) = (length, excess + saved),
            None if excess > 0 => length = if length == 1 { limit - 1 } else { length - 1 },
            None => length = if length == limit - 1 { 1 } else { length + 1 },
        }
    }
    steps
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

    /// Returns whether there is no bit.
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
    /// The codes for a table's entries and the escape symbol, none of more than `max_bits`: see [`limited_lengths`]. Entries
    /// whose count is zero get none.
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
        let lengths = limited_lengths(&weights, max_bits).lengths;
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
