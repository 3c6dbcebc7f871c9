//! Are the compressed sizes in `docs/codec-sizes.md` those that the algorithms' definitions give, and the codecs too?
//!
//! The sizes here come from the definitions alone, by plain arithmetic on whole lines; what the codecs say is compared.
use selvedge_hw::{bdi, bpc};
use std::fmt::Write;

const BYTES: usize = 128;

/// A line of 32-bit words.
fn words(word: impl Fn(u32) -> u32) -> Vec<u8> {
    (0..BYTES as u32 / 4).flat_map(|index| word(index).to_le_bytes()).collect()
}

/// The named lines.
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

/// BDI: the smallest of eleven encodings in bytes.
fn bdi_bits(line: &[u8]) -> usize {
    let numbers = |width: usize| -> Vec<i128> {
        line.chunks(width)
            .map(|word| word.iter().rev().fold(0, |number, byte| number << 8 | i128::from(*byte)))
            .collect()
    };
    // The number in -half ..= half - 1 that a difference is in arithmetic of so many bytes.
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

/// BPC: the codes of the base and of 33 planes, or the line.
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
        // One turn more than planes ends a last run.
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

/// A codec by name, its size in bits by definition, and what the codec itself says in bytes.
type Column = (&'static str, fn(&[u8]) -> usize, fn(&[u8]) -> usize);

const COLUMNS: [Column; 2] = [
    ("BDI", bdi_bits, bdi::compressed_size),
    ("BPC", bpc_bits, |line| usize::from(bpc::compress(line).size)),
];

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
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/codec-sizes.md");
    let text = std::fs::read_to_string(path).expect("docs/codec-sizes.md is there");
    assert!(text.contains(&table), "docs/codec-sizes.md should have:\n{table}");
}
