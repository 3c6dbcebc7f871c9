//! The compression ratio of each codec on given lines.
use super::{Algorithm, Coded, Form, LINE_BYTES};
use selvedge_hw_codecs::bpc;
use selvedge_hw_codecs::line::Line;
use selvedge_hw_codecs::sc::huffman::{CodeBook, CountedValue};
use selvedge_hw_codecs::sc::{MAX_CODE_BITS, words_of};
use std::collections::HashMap;

/// Values that have a code in SC's table (LATTE-CC, section IV-C).
const CODED_VALUES: usize = 1024;

/// Compression ratio of each codec: 32-byte bursts of the uncompressed lines over bursts of the compressed lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratios {
    /// By BDI.
    pub bdi: f64,
    /// By FPC in segments of four words, CABA's form.
    pub fpc: f64,
    /// By C-Pack with at most four dictionary values, CABA's form.
    pub cpack: f64,
    /// By BPC.
    pub bpc: f64,
    /// By SC with the best codes for these lines: without training; only the most frequent values have a code.
    pub sc: f64,
}

impl Ratios {
    /// Returns the ratios over `lines`, each with its weight, or nothing if `lines` is empty.
    #[must_use]
    pub fn of(lines: &[(Line, u32)]) -> Option<Self> {
        if lines.is_empty() {
            return None;
        }
        let over = |compress: &dyn Fn(&Line) -> Form| {
            let bursts = lines.iter().map(|(line, weight)| {
                u64::from(compress(line).if_smaller().sub_blocks()) * u64::from(*weight)
            });
            let raw = lines.iter().map(|(_, weight)| u64::from(Form::Raw.sub_blocks() * weight));
            raw.sum::<u64>() as f64 / bursts.sum::<u64>() as f64
        };
        let book = code_book(lines);
        Some(Ratios {
            bdi: over(&|line| Algorithm::Bdi.compress(line)),
            fpc: over(&|line| Algorithm::Fpc.compress(line)),
            cpack: over(&|line| Algorithm::Cpack.compress(line)),
            bpc: over(&|line| Form::Bpc(bpc::compress_words(line, LINE_BYTES))),
            sc: over(&|line| Form::Sc(Coded::of(line, Some(&book)))),
        })
    }
}

/// Returns SC's codes for the most frequent values of `lines` and the escape for all others.
fn code_book(lines: &[(Line, u32)]) -> CodeBook {
    let mut counts: HashMap<u32, u64> = HashMap::new();
    for (line, weight) in lines {
        for word in words_of(line) {
            *counts.entry(word).or_default() += u64::from(*weight);
        }
    }
    let mut values: Vec<(u32, u64)> = counts.into_iter().collect();
    // Of equally frequent values the smaller comes first, so that the order of the map has no effect.
    values.sort_unstable_by_key(|(value, count)| (std::cmp::Reverse(*count), *value));
    let others: u64 = values.iter().skip(CODED_VALUES).map(|(_, count)| count).sum();
    values.truncate(CODED_VALUES);
    // Scale the counts to 16 bits.
    let most = values.first().map_or(0, |(_, count)| *count).max(others);
    let scaled = |count: u64| (count * u64::from(u16::MAX) / most.max(1)).max(1) as u16;
    let entries = values.iter().enumerate().map(|(index, (value, count))| CountedValue {
        index: index as u16,
        value: *value,
        count: scaled(*count),
    });
    CodeBook::build(entries, u32::from(scaled(others)), MAX_CODE_BITS as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_hw::prng::Prng;

    fn line(word: impl Fn(usize) -> u32) -> Line {
        std::array::from_fn(|i| u64::from(word(2 * i)) | u64::from(word(2 * i + 1)) << 32)
    }

    #[test]
    fn nothing_has_no_ratio() {
        assert_eq!(Ratios::of(&[]), None);
    }

    #[test]
    fn a_line_of_zeros_takes_a_burst_of_four_by_every_codec() {
        let expected = Ratios { bdi: 4.0, fpc: 4.0, cpack: 4.0, bpc: 4.0, sc: 4.0 };
        assert_eq!(Ratios::of(&[(line(|_| 0), 1)]), Some(expected));
    }

    #[test]
    fn random_bits_stay_as_they_are_under_all_but_the_code_of_these_very_lines() {
        let mut random = Prng::new(5);
        let mut lines: Vec<(Line, u32)> = Vec::new();
        lines.resize_with(4096, || (std::array::from_fn(|_| random.bits()), 1));
        let ratios = Ratios::of(&lines).expect("lines");
        assert_eq!([ratios.bdi, ratios.fpc, ratios.cpack, ratios.bpc], [1.0; 4]);
        assert!(ratios.sc < 1.01, "{ratios:?}: 1024 of 131,072 values have a code");
    }

    #[test]
    fn an_escape_that_is_used_most_has_the_shortest_code() {
        // 96,000 different words, 1,024 of them with a code: the number of escapes exceeds 16 bits.
        let lines: Vec<(Line, u32)> = (0..3000).map(|at| (line(|word| at * 32 + word as u32), 1)).collect();
        assert_eq!(code_book(&lines).escape().length, 1);
    }

    #[test]
    fn sixteen_far_apart_values_are_compressed_by_sc_alone_and_weights_count_as_lines() {
        let far = |at: usize| (at as u32 % 16).wrapping_mul(0x9e37_79b9) ^ 0x5555_0000;
        let scattered = line(|at| far(at * 7 + at / 3));
        let ratios = Ratios::of(&[(scattered, 1)]).expect("a line");
        assert_eq!((ratios.bdi, ratios.cpack), (1.0, 1.0));
        assert_eq!(ratios.sc, 4.0, "four to five bits for each of 32 words");
        // One line of four bursts and three of one burst: 16 bursts become 7.
        let mixed = Ratios::of(&[(scattered, 1), (line(|_| 0), 3)]).expect("lines");
        assert_eq!(mixed.bdi, 16.0 / 7.0);
    }
}
