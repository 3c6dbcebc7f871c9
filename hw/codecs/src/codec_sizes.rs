//! The compressed sizes in `docs/reference/codec-sizes.md` equal the sizes by the algorithms' definitions and by the codecs.
//!
//! The sizes here come only from the definitions, by plain arithmetic on whole lines, and are compared with the codecs' sizes.
use crate::line::words_of;
use crate::sc::huffman::{CodeBook, CountedValue};
use crate::{bdi, bpc, cpack, fpc, sc};
use std::fmt::Write;

const BYTES: usize = 128;

fn words(word: impl Fn(u32) -> u32) -> Vec<u8> {
    (0..BYTES as u32 / 4).flat_map(|index| word(index).to_le_bytes()).collect()
}

fn lines() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let text = "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of a wife. However so";
    let smooth = |index: u32| (20.0 + 0.01 * (f64::from(index) - 16.0).powi(2)) as f32;
    let noise = |index: u32| {
        // Two rounds of a multiplicative hash: no structure that a codec could find.
        let mixed = (index + 1).wrapping_mul(0x9e37_79b9);
        (mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca6b) ^ mixed >> 13
    };
    vec![
        ("zeros", "every byte 0", words(|_| 0)),
        ("repeated word", "32-bit words, all 0x12345678", words(|_| 0x1234_5678)),
        ("counter", "32-bit words, 1000 and up by 1", words(|index| 1000 + index)),
        ("addresses", "32-bit words, 0x8001d000 and up by 128", words(|index| 0x8001_d000 + 128 * index)),
        (
            "pointers",
            "64-bit words, 0x7f3a_c000_1000 and up by 0x40",
            (0..16u64).flat_map(|index| (0x7f3a_c000_1000 + 0x40 * index).to_le_bytes()).collect(),
        ),
        ("small numbers", "32-bit words, 0 to 7 in turn", words(|index| index * 5 % 8)),
        ("smooth floats", "32-bit floats, 20 + 0.01 (i - 16)^2", words(|index| smooth(index).to_bits())),
        ("noise", "32-bit words of a hash", words(noise)),
        ("text", "the first 128 bytes of a novel", text.as_bytes().to_vec()),
    ]
}

/// Returns BDI's size in bits: the smallest of eleven encodings.
fn bdi_bits(line: &[u8]) -> usize {
    let numbers = |width: usize| -> Vec<i128> {
        line.chunks(width)
            .map(|word| word.iter().rev().fold(0, |number, byte| number << 8 | i128::from(*byte)))
            .collect()
    };
    // Returns the signed value, -half ..= half - 1, of a difference in arithmetic of `width` bytes.
    let signed = |number: i128, width: usize| {
        let modulus = 1i128 << (8 * width);
        let rest = number.rem_euclid(modulus);
        if rest >= modulus / 2 { rest - modulus } else { rest }
    };
    let mut sizes = vec![line.len()];
    if line.iter().all(|byte| *byte == 0) {
        sizes.push(0);
    }
    for width in [8, 4, 2] {
        let numbers = numbers(width);
        if numbers.iter().all(|number| *number == numbers[0]) {
            sizes.push(width);
        }
        for delta in [1, 2, 4].into_iter().filter(|delta| 2 * delta <= width) {
            let half = 1i128 << (8 * delta - 1);
            let fits = |number: i128| (-half..half).contains(&signed(number, width));
            let base = numbers.iter().copied().find(|number| !fits(*number)).unwrap_or(0);
            if numbers.iter().all(|number| fits(*number) || fits(number - base)) {
                sizes.push(width + numbers.len() / 8 + numbers.len() * delta);
            }
        }
    }
    8 * sizes.into_iter().min().unwrap()
}

/// Returns BPC's size in bits: the codes of the base and of 33 planes, or the line.
fn bpc_bits(line: &[u8]) -> usize {
    let words: Vec<i64> = line
        .chunks(4)
        .map(|word| word.iter().rev().fold(0, |number, byte| number << 8 | i64::from(*byte)))
        .collect();
    let base = if words[0] >= 1 << 31 { words[0] - (1 << 32) } else { words[0] };
    let mut bits: usize = match base {
        0 => 3,
        -8..=7 => 7,
        -128..=127 => 11,
        -32768..=32767 => 19,
        _ => 33,
    };
    let bit = |word: usize, plane: u32| (words[word + 1] - words[word]).rem_euclid(1 << 33) >> plane & 1;
    let mut run = 0;
    for plane in (0..=33).rev() {
        // One more iteration than planes, to end a last run.
        let below = plane.max(1) - 1;
        let own: Vec<i64> = (0..31).map(|word| if plane == 0 { 1 } else { bit(word, below) }).collect();
        let above = |word: usize| if plane >= 33 { 0 } else { bit(word, plane) };
        let places: Vec<usize> = (0..31).filter(|word| plane == 0 || own[*word] != above(*word)).collect();
        if places.is_empty() {
            run += 1;
            continue;
        }
        bits += match run {
            0 => 0,
            1 => 3,
            _ => 7,
        };
        run = 0;
        if plane > 0 {
            bits += match places[..] {
                _ if places.len() == 31 || !own.contains(&1) => 5,
                [_] => 10,
                [low, high] if high == low + 1 => 10,
                _ => 32,
            };
        }
    }
    if bits.div_ceil(8) < line.len() { bits } else { 8 * line.len() }
}

/// Returns the 32-bit words of a line as bytes, the most significant first.
fn big_endian_words(line: &[u8]) -> Vec<[u8; 4]> {
    line.chunks(4).map(|word| [word[3], word[2], word[1], word[0]]).collect()
}

/// Returns the data bits of each FPC pattern that matches a word; a zero word matches all but two.
fn fpc_patterns(word: [u8; 4]) -> Vec<usize> {
    let number = i64::from(i32::from_be_bytes(word));
    let byte = |half: &[u8]| half[0] == if half[1] < 128 { 0 } else { 255 };
    let has = [
        (0, number == 0),
        (4, (-8..8).contains(&number)),
        (8, (-128..128).contains(&number)),
        (16, (-32768..32768).contains(&number)),
        (16, word[2..] == [0, 0]),
        (16, byte(&word[..2]) && byte(&word[2..])),
        (8, word.iter().all(|other| *other == word[0])),
    ];
    has.into_iter().map(|(bits, has)| if has { bits } else { 32 }).chain([32]).collect()
}

/// Returns FPC's size in bits: a prefix and data for each nonzero word, six bits for each run of up to eight zeros.
fn fpc_bits(line: &[u8]) -> usize {
    let words = big_endian_words(line);
    let runs = words.split(|word| *word != [0; 4]).map(|zeros| 6 * zeros.len().div_ceil(8)).sum::<usize>();
    let others = words.iter().filter(|word| **word != [0; 4]);
    let data: usize = others.map(|word| 3 + fpc_patterns(*word).into_iter().min().unwrap()).sum();
    (runs + data).min(8 * line.len())
}

/// Returns the size of CABA's FPC in bits: one prefix for four words, each with the data bits of the first pattern that matches
/// all four.
fn fpc_segmented_bits(line: &[u8]) -> usize {
    let words = big_endian_words(line);
    let segment = |words: &[[u8; 4]]| {
        let each: Vec<_> = words.iter().map(|word| fpc_patterns(*word)).collect();
        let common = (0..8).map(|pattern| each.iter().map(|bits| bits[pattern]).max().unwrap());
        3 + 4 * common.min().unwrap()
    };
    words.chunks(4).map(segment).sum::<usize>().min(8 * line.len())
}

/// Returns C-Pack+Z's size in bits: the shortest code of each word against the last sixteen new words.
fn cpack_bits(line: &[u8]) -> usize {
    let words = big_endian_words(line);
    if words.iter().all(|word| *word == [0; 4]) {
        return 0;
    }
    let mut entered: Vec<[u8; 4]> = vec![];
    let mut bits = 0;
    for word in words {
        let known = &entered[entered.len().saturating_sub(16)..];
        let shares = |bytes: usize| known.iter().any(|other| other[..bytes] == word[..bytes]);
        let (code, is_new) = match word {
            [0, 0, 0, 0] => (2, false),
            _ if shares(4) => (6, false),
            [0, 0, 0, _] => (12, false),
            _ if shares(3) => (16, true),
            _ if shares(2) => (24, true),
            _ => (34, true),
        };
        bits += code;
        entered.extend(is_new.then_some(word));
    }
    bits.min(8 * line.len())
}

/// Returns the size of CABA's C-Pack in bits: four bits per word, at most four values that differ before the last byte, and, if
/// any word needs a byte, a byte per word.
fn cpack_small_bits(line: &[u8]) -> usize {
    let words = big_endian_words(line);
    let large = words.iter().filter(|word| word[..3] != [0; 3]);
    let mut values: Vec<[u8; 4]> = vec![];
    let mut needs_bytes = words.iter().any(|word| word[..3] == [0; 3] && word[3] != 0);
    for word in large {
        match values.iter().find(|value| value[..3] == word[..3]) {
            Some(value) => needs_bytes |= value != word,
            None => values.push(*word),
        }
    }
    let bits = words.len() * if needs_bytes { 12 } else { 4 } + 32 * values.len();
    if values.len() > 4 { 8 * line.len() } else { bits.min(8 * line.len()) }
}

/// Words counted by SC. The weights sum to 64, and the length of each code is log2(64 / weight), the only minimal lengths. The
/// escape has weight 1, so that it takes six bits, followed by the word.
const COUNTED: [(u32, u16); 10] =
    [(0, 32), (0x1234_5678, 16), (0x7f3a, 8), (1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (7, 1)];

/// Returns SC's size in bits: a code for each word.
fn sc_bits(line: &[u8]) -> usize {
    let code = |word: [u8; 4]| {
        let weight = COUNTED.iter().find(|(value, _)| *value == u32::from_be_bytes(word));
        weight.map_or(6 + 32, |(_, weight)| (64 / weight).ilog2() as usize)
    };
    big_endian_words(line).into_iter().map(code).sum::<usize>().min(8 * line.len())
}

/// Returns the bytes of the line with the codec's own codes for the same counts.
fn sc_bytes(line: &[u8]) -> usize {
    let entries =
        COUNTED.iter().zip(0..).map(|(&(value, count), index)| CountedValue { index, value, count });
    let book = CodeBook::build(entries, 1, 16);
    let words = sc::words_of(&words_of(line));
    (book.encode(&words).len().min(8 * line.len())).div_ceil(8)
}

/// Name of a codec, its size in bits by definition, and its size in bytes as the codec returns it.
type CodecColumn = (&'static str, fn(&[u8]) -> usize, fn(&[u8]) -> usize);

const COLUMNS: [CodecColumn; 7] = [
    ("BDI", bdi_bits, bdi::compressed_size),
    ("FPC", fpc_bits, |line| fpc_bytes(line, fpc::FpcVariant::Words)),
    ("FPC, segmented", fpc_segmented_bits, |line| fpc_bytes(line, fpc::FpcVariant::Segments)),
    ("C-Pack+Z", cpack_bits, |line| cpack_bytes(line, cpack::CpackVariant::Fifo16)),
    ("C-Pack, 4 values", cpack_small_bits, |line| cpack_bytes(line, cpack::CpackVariant::Small4)),
    ("BPC", bpc_bits, |line| usize::from(bpc::compress(line).size)),
    ("SC", sc_bits, sc_bytes),
];

fn fpc_bytes(line: &[u8], variant: fpc::FpcVariant) -> usize {
    fpc::compressed_bits(&words_of(line), BYTES, variant).div_ceil(8)
}

fn cpack_bytes(line: &[u8], variant: cpack::CpackVariant) -> usize {
    cpack::compressed_bits(&words_of(line), BYTES, variant).div_ceil(8)
}

#[test]
fn the_codecs_give_the_sizes_of_their_definitions() {
    for (name, _, line) in lines() {
        assert_eq!(line.len(), BYTES, "{name}");
        for (codec, defined, own) in COLUMNS {
            assert_eq!(own(&line), defined(&line).div_ceil(8), "{codec} of {name}");
        }
    }
}

#[test]
fn the_table_in_the_documents_is_up_to_date() {
    let mut table = "| line | what |".to_string();
    COLUMNS.iter().for_each(|(codec, ..)| write!(table, " {codec} |").unwrap());
    table += "\n|---|---|";
    COLUMNS.iter().for_each(|_| table += "---|");
    for (name, what, line) in lines() {
        write!(table, "\n| {name} | {what} |").unwrap();
        for (_, defined, _) in COLUMNS {
            let bits = defined(&line);
            write!(table, " {bits} / {} |", bits.div_ceil(8)).unwrap();
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/codec-sizes.md");
    let text = std::fs::read_to_string(path).expect("docs/reference/codec-sizes.md is there");
    assert!(text.contains(&table), "docs/reference/codec-sizes.md should have:\n{table}");
}
