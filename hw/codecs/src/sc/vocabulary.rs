//! Values with codes, and lines made of these values, for the stimuli and tests of the codecs.
use super::huffman::{CodeBook, CountedValue, ScSymbol};
use super::line::line_of;
use super::{ENTRIES, LINE_BITS, MAX_CODE_BITS, SET_BITS, SETS, WAYS, WORDS, set_of};
use crate::line::Line;
use selvedge_hw::prng::Prng;
use std::collections::HashSet;

/// A code book of random values, and a source of lines that use it in every way.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    book: CodeBook,
    /// Code length and value of each value with a code, the shortest code first.
    values: Vec<(u8, u32)>,
}

impl Vocabulary {
    /// Draws the number of values, the values, and the count of each. The number ranges from zero (only the escape has a
    /// code) to a full table. The counts range from equal to so uneven that the longest codes reach the limit.
    pub fn draw(prng: &mut Prng) -> Self {
        let entries = match prng.below(16) {
            0 => 0,
            1 => 1 + prng.below(3),
            2 => ENTRIES as u64,
            3 | 4 => 200 + prng.below(200),
            _ => 4 + prng.below(60),
        };
        let steep = prng.below(3);
        let counted = draw_counted(prng, entries as usize, steep);
        let escape_weight = if prng.chance(50) { 0 } else { prng.below(4096) as u32 };
        Self::of(CodeBook::build(counted, escape_weight, MAX_CODE_BITS as u32))
    }

    /// Draws a full table with values before and after the escape.
    pub fn draw_full(prng: &mut Prng) -> Self {
        let counted = draw_counted(prng, ENTRIES, 1);
        Self::of(CodeBook::build(counted, 1000, MAX_CODE_BITS as u32))
    }

    /// Returns the vocabulary of a code book.
    pub fn of(book: CodeBook) -> Self {
        let values = book.codes().iter().filter_map(|code| match code.symbol {
            ScSymbol::Value { value, .. } => Some((code.length, value)),
            ScSymbol::Escape => None,
        });
        Vocabulary { values: values.collect(), book }
    }

    /// Returns the code book.
    pub fn book(&self) -> &CodeBook {
        &self.book
    }

    /// Draws a line of known words, of unknown words or of both, or a line whose codes fill a payload or exceed it by one
    /// bit.
    pub fn draw_line(&self, prng: &mut Prng) -> Line {
        let known_percent = match prng.below(8) {
            0 | 1 => 100,
            2 => 0,
            3 => return self.draw_full_line(prng),
            4 => 50,
            5 => 97,
            _ => 85,
        };
        line_of(&std::array::from_fn(|_| {
            if prng.chance(known_percent) { self.draw_known(prng) } else { prng.bits() as u32 }
        }))
    }

    /// Draws a value with a code, mostly a short one. Draws any value if no value has a code.
    fn draw_known(&self, prng: &mut Prng) -> u32 {
        let bound = match (self.values.len() as u64, prng.chance(70)) {
            (0, _) => return prng.bits() as u32,
            (all, true) => all.min(1 + all / 8),
            (all, false) => all,
        };
        self.values[prng.below(bound) as usize].1
    }

    /// Draws a line whose codes take all bits of a payload, if possible, or one bit more. First come as many unknown words
    /// as fit. Then come known words, each with the longest code that leaves enough bits for the words after it.
    fn draw_full_line(&self, prng: &mut Prng) -> Line {
        let (Some(shortest), escape) = (self.values.first(), usize::from(self.book.escape().length) + 32)
        else {
            return Line::default();
        };
        let shortest = usize::from(shortest.0);
        let mut room = LINE_BITS + usize::from(prng.chance(30));
        line_of(&std::array::from_fn(|word| {
            let reserved = shortest * (WORDS - 1 - word);
            if room >= escape + reserved {
                room -= escape;
                return prng.bits() as u32;
            }
            let fitting = self.values.partition_point(|(length, _)| usize::from(*length) + reserved <= room);
            let (length, value) = self.values[fitting.max(1) - 1];
            room = room.saturating_sub(usize::from(length));
            value
        }))
    }
}

/// Draws values that fit into a table, each with its count.
fn draw_counted(prng: &mut Prng, entries: usize, steep: u64) -> Vec<CountedValue> {
    let mut ways = vec![0; SETS];
    let mut known = HashSet::new();
    let mut counted = Vec::new();
    while counted.len() < entries {
        let value = draw_value(prng);
        let set = set_of(value, SET_BITS) as usize;
        if ways[set] < WAYS && known.insert(value) {
            let index = (set * WAYS + ways[set]) as u16;
            ways[set] += 1;
            counted.push(CountedValue { index, value, count: draw_count(prng, steep) });
        }
    }
    counted
}

/// Draws a typical value of a program: a small number, a pointer, a small number times a power of two, or any bits.
fn draw_value(prng: &mut Prng) -> u32 {
    let bits = prng.bits() as u32;
    match prng.below(4) {
        0 => bits & 0xfff,
        1 => 0x2000_0000 | (bits & 0xf_fff0),
        2 => (bits & 0xff) << prng.below(24),
        _ => bits,
    }
}

/// Draws the count of a value. `steep` is 0 for equal counts, 1 for counts within a factor of 8, and 2 for counts within a
/// factor of 4,095.
fn draw_count(prng: &mut Prng, steep: u64) -> u16 {
    let halvings = prng.below(13) as u32;
    match steep {
        0 => 7,
        1 => 1 + (4094 >> prng.below(4)) as u16,
        _ => 1 + (4094 >> halvings),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sc::words_of;

    #[test]
    fn vocabularies_reach_the_longest_codes_and_full_tables() {
        let mut prng = Prng::new(5);
        let books: Vec<Vocabulary> = (0..60).map(|_| Vocabulary::draw(&mut prng)).collect();
        let longest = |book: &CodeBook| book.codes().iter().map(|code| code.length).max();
        assert!(books.iter().any(|one| longest(&one.book) == Some(MAX_CODE_BITS as u8)));
        assert!(books.iter().any(|one| one.values.is_empty()));
        assert!(books.iter().any(|one| one.values.len() == ENTRIES));
    }

    #[test]
    fn lines_end_at_the_last_bit_of_the_payload_and_one_bit_beyond() {
        let mut prng = Prng::new(6);
        let (mut full, mut over) = (0, 0);
        for _ in 0..40 {
            let vocabulary = Vocabulary::draw(&mut prng);
            for _ in 0..40 {
                let line = vocabulary.draw_line(&mut prng);
                let bits = vocabulary.book.encode(&words_of(&line)).len();
                full += usize::from(bits == LINE_BITS);
                over += usize::from(bits == LINE_BITS + 1);
            }
        }
        assert!(full > 20 && over > 10, "{full} full, {over} over");
    }
}
