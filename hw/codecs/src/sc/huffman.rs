//! The arithmetic of SC in plain Rust: code lengths under a limit, canonical codes, and the coding of a line. The [family's
//! page](super) defines the order of codes and the layout of a payload.
use super::WORD_BITS;
use selvedge_state::State;
use std::collections::{HashMap, VecDeque};

/// A symbol of a code book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, State)]
pub enum ScSymbol {
    /// The value of a table entry.
    Value {
        /// Index of the entry: its set and its way.
        index: u16,
        /// The value.
        value: u32,
    },
    /// The escape, which precedes a word without a code.
    Escape,
}

/// A symbol and its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct SymbolCode {
    /// Symbol that has this code.
    pub symbol: ScSymbol,
    /// The code, right-aligned; its most significant bit is sent first.
    pub bits: u16,
    /// Length of the code in bits, at least 1.
    pub length: u8,
}

/// A table entry with its count, from which a code is built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct CountedValue {
    /// Index of the entry.
    pub index: u16,
    /// Value of the entry.
    pub value: u32,
    /// Number of times that the value occurred; zero if the entry does not exist.
    pub count: u16,
}

/// Code lengths, and the properties of their computation that determine the cycles of the [code
/// builder](super::code_builder).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLengths {
    /// Code lengths in bits, in the order of the weights.
    pub lengths: Vec<u8>,
    /// Depth of Huffman's tree, at least 1: the length of the longest code without a limit.
    pub depth: usize,
    /// Number of tree nodes whose items have a depth below the limit. The items of the root have depth 1.
    pub nodes: usize,
    /// Steps of the repair. Each step changes the length of one code, or the length that the repair examines.
    pub steps: usize,
}

/// Returns code lengths of at most `max_bits` that make a complete code. If Huffman's tree is no deeper than `max_bits`, the
/// total length is minimal.
///
/// `weights` must not increase; the lengths, in the same order, then do not decrease. A single symbol has length 1. The
/// method is Huffman's (1952): the two lightest items (symbols or nodes) make a node, until one item is left. At equal
/// weight, a symbol is taken before a node. Of all trees of minimal total length, this gives one of minimal depth. Among
/// equal symbols, the later one in `weights` is taken first. Among equal nodes, the older one is taken first.
///
/// Symbols deeper than `max_bits` get length `max_bits`, and then the code is repaired. A code of `l` bits takes
/// `2^(max_bits - l)` of the `2^max_bits` shares. The repair examines one length at a time, first `max_bits - 1`.
/// - While the codes take too many shares, the lightest symbol of the examined length gets one bit more. If no symbol has
///   this length, the next shorter length is examined.
/// - While the codes take too few shares, the heaviest symbol with one bit more than the examined length gets one bit less,
///   if enough shares are free. Otherwise the next longer length is examined. After the symbols with `max_bits` bits follow
///   the symbols with 2 bits.
///
/// # Panics
/// When `weights` is empty, increases, or has more than `2^max_bits` elements.
pub fn limited_lengths(weights: &[u32], max_bits: u32) -> CodeLengths {
    let symbols = weights.len();
    assert!(symbols >= 1 && symbols <= 1 << max_bits, "{symbols} symbols in at most {max_bits} bits");
    assert!(weights.is_sorted_by(|heavier, lighter| heavier >= lighter), "weights must fall");
    let limit = max_bits as usize;
    if symbols == 1 {
        return CodeLengths { lengths: vec![1], depth: 1, nodes: 0, steps: 0 };
    }
    let (of_symbols, of_nodes) = depths(weights);
    let mut lengths: Vec<usize> = of_symbols.iter().map(|depth| *depth.min(&limit)).collect();
    let steps = repair(&mut lengths, limit);
    CodeLengths {
        lengths: lengths.iter().map(|length| *length as u8).collect(),
        depth: of_symbols[symbols - 1],
        nodes: of_nodes.iter().filter(|depth| **depth + 1 < limit).count(),
        steps,
    }
}

/// Returns the depths in Huffman's tree of the symbols, in their order, and of the nodes.
fn depths(weights: &[u32]) -> (Vec<usize>, Vec<usize>) {
    /// A symbol, by its position in `weights`, or a node, by its number.
    #[derive(Clone, Copy)]
    enum TreeItem {
        Symbol(usize),
        Node(usize),
    }
    let mut symbols: VecDeque<_> = weights.iter().copied().map(u64::from).enumerate().collect();
    let mut waiting: VecDeque<(usize, u64)> = VecDeque::new();
    let mut nodes: Vec<[TreeItem; 2]> = Vec::new();
    while nodes.len() + 1 < weights.len() {
        let [one, other] = [(); 2].map(|()| match (symbols.back().copied(), waiting.front().copied()) {
            (Some((place, weight)), node) if node.is_none_or(|(_, lightest)| weight <= lightest) => {
                symbols.pop_back();
                (TreeItem::Symbol(place), weight)
            }
            (_, node) => {
                waiting.pop_front();
                let (number, weight) = node.expect("there are two items");
                (TreeItem::Node(number), weight)
            }
        });
        waiting.push_back((nodes.len(), one.1 + other.1));
        nodes.push([one.0, other.0]);
    }
    let (mut of_symbols, mut of_nodes) = (vec![0; weights.len()], vec![0; nodes.len()]);
    for (number, items) in nodes.iter().enumerate().rev() {
        for item in items {
            match item {
                TreeItem::Symbol(place) => of_symbols[*place] = of_nodes[number] + 1,
                TreeItem::Node(below) => of_nodes[*below] = of_nodes[number] + 1,
            }
        }
    }
    (of_symbols, of_nodes)
}

/// Repairs `lengths`, which rise up to `limit`, so that they make a complete code. Returns the number of steps.
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

/// Returns the canonical codes of lengths that do not decrease and are at most 16 bits.
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

/// A sequence of bits in the layout of a payload: bit `i` is bit `i % 64` of word `i / 64`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PayloadString {
    words: Vec<u64>,
    length: usize,
}

impl PayloadString {
    /// Returns the number of bits.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns whether the sequence is empty.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the bits in 64-bit words, with zeros after the last bit.
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

/// Reader of a payload from its first bit on. It reads zeros beyond the end.
struct PayloadReader<'a> {
    words: &'a [u64],
    position: usize,
}

impl PayloadReader<'_> {
    fn bit(&mut self) -> bool {
        let word = self.words.get(self.position / 64).copied().unwrap_or_default();
        let bit = (word >> (self.position % 64)) & 1 == 1;
        self.position += 1;
        bit
    }
}

/// The codes of one length.
#[derive(Clone, Copy, Debug, Default, State)]
struct Length {
    /// First code of this length.
    first: u32,
    /// Number of codes of this length.
    count: u32,
    /// Rank of the first code: its position in the canonical order.
    rank: usize,
}

/// A complete set of codes, in canonical order.
#[derive(Clone, Debug, State)]
pub struct CodeBook {
    codes: Vec<SymbolCode>,
    by_value: HashMap<u32, usize>,
    escape: SymbolCode,
    by_length: [Length; super::MAX_CODE_BITS + 1],
}

impl CodeBook {
    /// Builds the codes of a table's entries and of the escape, each of at most `max_bits` bits: see [`limited_lengths`].
    /// Entries with count zero get no code.
    pub fn build(
        entries: impl IntoIterator<Item = CountedValue>,
        escape_weight: u32,
        max_bits: u32,
    ) -> CodeBook {
        let mut symbols: Vec<(u32, ScSymbol)> = entries
            .into_iter()
            .filter(|entry| entry.count > 0)
            .map(|entry| (u32::from(entry.count), ScSymbol::Value { index: entry.index, value: entry.value }))
            .collect();
        symbols.push((escape_weight, ScSymbol::Escape));
        symbols.sort_by_key(|(weight, symbol)| {
            let index = match symbol {
                ScSymbol::Value { index, .. } => u32::from(*index),
                ScSymbol::Escape => u32::MAX,
            };
            (std::cmp::Reverse(*weight), index)
        });
        let weights: Vec<u32> = symbols.iter().map(|(weight, _)| *weight).collect();
        let lengths = limited_lengths(&weights, max_bits).lengths;
        let codes = symbols.iter().zip(canonical_codes(&lengths)).zip(&lengths);
        CodeBook::new(
            codes
                .map(|(((_, symbol), bits), length)| SymbolCode { symbol: *symbol, bits, length: *length })
                .collect(),
        )
    }

    /// Creates the code book of these codes, which must be in canonical order and include the escape.
    ///
    /// # Panics
    /// When `codes` has no escape.
    pub fn new(codes: Vec<SymbolCode>) -> CodeBook {
        let mut by_value = HashMap::new();
        let mut escape = None;
        let mut by_length = [Length::default(); super::MAX_CODE_BITS + 1];
        for (rank, code) in codes.iter().enumerate() {
            match code.symbol {
                ScSymbol::Value { value, .. } => _ = by_value.insert(value, rank),
                ScSymbol::Escape => escape = Some(*code),
            }
            let length = &mut by_length[usize::from(code.length)];
            if length.count == 0 {
                *length = Length { first: u32::from(code.bits), count: 0, rank };
            }
            length.count += 1;
        }
        CodeBook { codes, by_value, escape: escape.expect("there is a code for the escape"), by_length }
    }

    /// Returns the codes in canonical order.
    pub fn codes(&self) -> &[SymbolCode] {
        &self.codes
    }

    /// Returns the code of a value, if it has one.
    pub fn code_of(&self, value: u32) -> Option<SymbolCode> {
        self.by_value.get(&value).map(|rank| self.codes[*rank])
    }

    /// Returns the code of the escape symbol.
    pub fn escape(&self) -> SymbolCode {
        self.escape
    }

    /// Returns the number of bits that encode a word: its code, or the code of the escape and the word itself.
    pub fn bits_of(&self, word: u32) -> usize {
        match self.code_of(word) {
            Some(code) => usize::from(code.length),
            None => usize::from(self.escape.length) + WORD_BITS,
        }
    }

    /// Returns the codes of all words, one after the other. Their total length is not limited.
    pub fn encode(&self, words: &[u32]) -> PayloadString {
        let mut bits = PayloadString::default();
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

    /// Returns the first `count` words of a payload, and the number of bits that they take. Returns `None` if the next
    /// bits are no code, or if the payload ends too early. Reads one bit at a time and compares with the first code and the
    /// number of codes of each length.
    pub fn decode(&self, payload: &[u64], count: usize) -> Option<(Vec<u32>, usize)> {
        let mut reader = PayloadReader { words: payload, position: 0 };
        let mut words = Vec::with_capacity(count);
        while words.len() < count {
            words.push(match self.next_symbol(&mut reader)? {
                ScSymbol::Value { value, .. } => value,
                ScSymbol::Escape => {
                    (0..WORD_BITS).fold(0, |word, place| word | u32::from(reader.bit()) << place)
                }
            });
        }
        (reader.position <= 64 * payload.len()).then_some((words, reader.position))
    }

    fn next_symbol(&self, reader: &mut PayloadReader) -> Option<ScSymbol> {
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
