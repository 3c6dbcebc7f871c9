//! C-Pack against its definition, computed bit by bit without the codec's arithmetic. Round trips of lines through codec and
//! blocks.
use crate::cpack::stimulus::CpackLineGenerator;
use crate::cpack::{
    CompressorIn, CpackCompressed, CpackCompressor, CpackDecompressor, CpackEncoding, CpackParams,
    CpackVariant, DecompressorIn, compress, compressed_bits, decompress,
};
use crate::equivalence::lines_through;
use crate::line::{Bits, LINE_BYTES, LINE_WORDS, Line, bytes_of, words_of};
use bitvec::prelude::*;
use proptest::prelude::*;
use selvedge_hw::{Engine, HwBlock, Instance};

/// A word's bytes, the most significant first.
type WordBytes = [u8; 4];

const VARIANTS: [CpackVariant; 2] = [CpackVariant::Fifo16, CpackVariant::Small4];

/// Appends the low `count` bits of a number.
fn push(bits: &mut Bits, value: usize, count: usize) {
    bits.extend_from_bitslice(&value.view_bits::<Lsb0>()[..count]);
}

/// Appends a word's last bytes, the least significant first.
fn push_bytes(bits: &mut Bits, bytes: &[u8]) {
    bytes.iter().rev().for_each(|byte| push(bits, usize::from(*byte), 8));
}

fn words(line: &[u8]) -> Vec<WordBytes> {
    line.chunks(4).map(|b| [b[3], b[2], b[1], b[0]]).collect()
}

/// Returns the codes of C-Pack: for each word the shortest code of all matching patterns.
fn codes(line: &[u8]) -> Bits {
    let mut string = Bits::new();
    let mut entered: Vec<WordBytes> = Vec::new();
    for word in words(line) {
        // Entry p holds the last word entered as number p, p + 16, p + 32, ...
        let held = |place: usize| entered.iter().skip(place).step_by(16).next_back();
        let matching = |count: usize| {
            (0..16).find(|place| held(*place).is_some_and(|other| other[..count] == word[..count]))
        };
        let mut options: Vec<(Bits, bool)> = Vec::new();
        let mut option =
            |first: usize, second: Option<usize>, place: Option<usize>, literal: &[u8], enters| {
                let mut bits = Bits::new();
                push(&mut bits, first, 2);
                second.into_iter().for_each(|second| push(&mut bits, second, 2));
                place.into_iter().for_each(|place| push(&mut bits, place, 4));
                push_bytes(&mut bits, literal);
                options.push((bits, enters));
            };
        if word == [0; 4] {
            option(0, None, None, &[], false);
        }
        option(1, None, None, &word, true);
        if let Some(place) = matching(4) {
            option(2, None, Some(place), &[], false);
        }
        if let Some(place) = matching(2) {
            option(3, Some(0), Some(place), &word[2..], true);
        }
        if word[..3] == [0; 3] {
            option(3, Some(1), None, &word[3..], false);
        }
        if let Some(place) = matching(3) {
            option(3, Some(2), Some(place), &word[3..], true);
        }
        let (bits, enters) = options.into_iter().min_by_key(|(bits, _)| bits.len()).unwrap();
        string.extend(bits);
        if enters {
            entered.push(word);
        }
    }
    string
}

/// Returns head, values and bytes of CABA's variant by its algorithm 6, or `None` if four values do not cover the line.
fn small(line: &[u8]) -> Option<Bits> {
    let words = words(line);
    // Kind, value and byte of each word; `None` until they are determined.
    let mut known: Vec<Option<(usize, usize, u8)>> = words
        .iter()
        .map(|word| (word[..3] == [0; 3]).then_some((usize::from(word[3] != 0), 0, word[3])))
        .collect();
    let mut values: Vec<WordBytes> = Vec::new();
    for _ in 0..4 {
        let Some(first) = known.iter().position(Option::is_none) else { break };
        let value = words[first];
        for (word, known) in words.iter().zip(&mut known) {
            if known.is_none() && word[..3] == value[..3] {
                let partial = word[3] != value[3];
                *known = Some((2 + usize::from(partial), values.len(), if partial { word[3] } else { 0 }));
            }
        }
        values.push(value);
    }
    let known: Option<Vec<_>> = known.into_iter().collect();
    let known = known?;
    let mut bits = Bits::new();
    for (kind, value, _) in &known {
        push(&mut bits, *kind, 2);
        push(&mut bits, *value, 2);
    }
    values.iter().for_each(|value| push_bytes(&mut bits, value));
    if known.iter().any(|(kind, ..)| kind % 2 == 1) {
        known.iter().for_each(|(.., byte)| push(&mut bits, usize::from(*byte), 8));
    }
    Some(bits)
}

/// Returns encoding and payload by definition.
fn defined(line: &[u8], variant: CpackVariant) -> (CpackEncoding, Bits) {
    let own = match variant {
        CpackVariant::Fifo16 if line.iter().all(|byte| *byte == 0) => {
            return (CpackEncoding::Zeros, Bits::new());
        }
        CpackVariant::Fifo16 => Some(codes(line)),
        CpackVariant::Small4 => small(line),
    };
    match own {
        Some(bits) if bits.len() < 8 * line.len() => (CpackEncoding::Compressed, bits),
        _ => (
            CpackEncoding::Uncompressed,
            line.iter().flat_map(|b| b.view_bits::<Lsb0>().to_bitvec()).collect(),
        ),
    }
}

fn back(compressed: &CpackCompressed, bytes: usize, variant: CpackVariant) -> Line {
    let back = decompress(compressed.encoding.tag(), &compressed.payload, bytes, variant);
    assert!(!back.error);
    back.line
}

fn check(line: &[u8], variant: CpackVariant) {
    let (encoding, bits) = defined(line, variant);
    let packed = words_of(line);
    let compressed = compress(&packed, line.len(), variant);
    assert_eq!((compressed.encoding, usize::from(compressed.bits)), (encoding, bits.len()), "{line:02x?}");
    assert_eq!(compressed_bits(&packed, line.len(), variant), bits.len());
    let got = compressed.payload.view_bits::<Lsb0>();
    assert_eq!(got[..bits.len()], bits, "{variant:?} {line:02x?}");
    assert!(got[bits.len()..].not_any(), "bits beyond the payload");
    assert_eq!(bytes_of(&back(&compressed, line.len(), variant))[..line.len()], *line);
}

#[test]
fn drawn_lines_are_as_defined() {
    for bytes in LINE_BYTES {
        let mut lines = CpackLineGenerator::new(7, bytes);
        for _ in 0..5_000 {
            let line = bytes_of(&lines.next_line());
            VARIANTS.into_iter().for_each(|variant| check(&line[..bytes], variant));
        }
    }
}

#[test]
fn the_worst_line_stays_as_it_is() {
    for bytes in LINE_BYTES {
        let all_new: Vec<u8> = (0..bytes / 4).flat_map(|i| [0, 1, i as u8, 0x40 + i as u8]).collect();
        for variant in VARIANTS {
            check(&all_new, variant);
            assert_eq!(compressed_bits(&words_of(&all_new), bytes, variant), 8 * bytes);
        }
    }
}

/// Returns a line of words that are new, zero, one byte, or equal to an earlier word in their high bytes.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let word = (0usize..7, any::<u32>(), any::<prop::sample::Index>());
    (prop::sample::select(LINE_BYTES.to_vec()), prop::collection::vec(word, 32)).prop_map(|(bytes, drawn)| {
        let mut words: Vec<u32> = Vec::new();
        for (kind, random, index) in drawn.into_iter().take(bytes / 4) {
            let earlier = if words.is_empty() { random } else { words[index.index(words.len())] };
            words.push(match kind {
                0 => 0,
                1 => random & 0xff,
                2 => earlier,
                3 => earlier & !0xff | random & 0xff,
                4 => earlier & !0xffff | random & 0xffff,
                _ => random,
            });
        }
        words.into_iter().flat_map(u32::to_le_bytes).collect()
    })
}

proptest! {
    #[test]
    fn any_line_is_as_defined(line in line(), small: bool) {
        check(&line, VARIANTS[usize::from(small)]);
    }

    /// Every payload decompresses without a panic; an invalid payload gives a line of zeros.
    #[test]
    fn any_payload_gives_a_line(
        words in prop::collection::vec(any::<u64>(), LINE_WORDS), tag in 0u8..4, size in 0usize..3, small: bool,
    ) {
        let (bytes, variant) = (LINE_BYTES[size], VARIANTS[usize::from(small)]);
        let decompressed = decompress(tag, &words.try_into().unwrap(), bytes, variant);
        prop_assert!(!decompressed.error || decompressed.line == Line::default());
        let again = compress(&decompressed.line, bytes, variant);
        prop_assert_eq!(back(&again, bytes, variant), decompressed.line);
    }
}

#[test]
fn each_line_takes_the_stated_cycles() {
    for (line_bytes, dictionary) in [(32, 16), (64, 16), (128, 16), (128, 4)] {
        let params = CpackParams { line_bytes, dictionary };
        let facts = CpackCompressor::facts(&params);
        let mut compressor =
            Instance::<CpackCompressor>::new("compressor", &params, Engine::Lockstep).unwrap();
        let mut decompressor =
            Instance::<CpackDecompressor>::new("decompressor", &params, Engine::Lockstep).unwrap();
        let line_i = CpackLineGenerator::new(3, line_bytes).next_line();
        let (mut packed, mut unpacked) = (Vec::new(), Vec::new());
        for cycle in 0..u64::from(facts.latency + 5 * facts.interval) {
            let inputs = CompressorIn { valid_i: true, line_i, ready_i: true };
            if compressor.step(&inputs).unwrap().valid_o {
                packed.push(cycle);
            }
            let inputs = DecompressorIn { valid_i: true, encoding_i: 0, payload_i: line_i, ready_i: true };
            if decompressor.step(&inputs).unwrap().valid_o {
                unpacked.push(cycle);
            }
        }
        let stated: Vec<u64> = (0..5).map(|n| u64::from(facts.latency + n * facts.interval)).collect();
        assert_eq!((&packed, &unpacked), (&stated, &stated));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Connects compressor and decompressor, each in lockstep with its model, under any stalls and resets.
    #[test]
    fn lines_come_through_both_blocks_in_order_under_any_stalls(
        size in 0usize..3,
        dictionary in prop::sample::select(vec![4usize, 16]),
        seed: u64,
        traffic in prop::collection::vec((any::<bool>(), any::<bool>(), any::<bool>(), 0u8..200), 1..300),
    ) {
        let line_bytes = LINE_BYTES[size];
        let params = CpackParams { line_bytes, dictionary };
        let mut compressor = Instance::<CpackCompressor>::new("compressor", &params, Engine::Lockstep).unwrap();
        let mut decompressor =
            Instance::<CpackDecompressor>::new("decompressor", &params, Engine::Lockstep).unwrap();
        let generator = CpackLineGenerator::new(seed, line_bytes);
        let inside = lines_through!(compressor, decompressor, generator, traffic, encoding_o -> encoding_i);
        // Each block holds a finished line and one in progress; one more is between the blocks.
        prop_assert!(inside <= 5);
    }
}
