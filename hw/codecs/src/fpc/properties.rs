//! FPC against its definition, computed bit by bit without the codec's arithmetic. Round trips of lines through codec and blocks.
use crate::equivalence::lines_through;
use crate::fpc::stimulus::FpcLineGenerator;
use crate::fpc::{
    CompressorIn, DecompressorIn, FpcCompressed, FpcCompressor, FpcCompressorParams, FpcDecompressor,
    FpcDecompressorParams, FpcVariant, Pattern, compress, compressed_bits, decompress,
};
use crate::line::{Bits, LINE_BYTES, LINE_WORDS, Line, bytes_of, words_of};
use bitvec::prelude::*;
use proptest::prelude::*;
use selvedge_hw::{Engine, Instance};

const VARIANTS: [FpcVariant; 2] = [FpcVariant::Words, FpcVariant::Segments];

/// Returns the low `count` bits of a number.
fn bits(value: u64, count: usize) -> Bits {
    value.view_bits::<Lsb0>()[..count].to_bitvec()
}

/// Returns each prefix that can encode a word, with the stored bits, by the definition of the patterns on the word's bytes.
fn candidates(word: [u8; 4]) -> Vec<(u64, Bits)> {
    let signed = i64::from(i32::from_le_bytes(word));
    let half = |low: usize| i64::from(i16::from_le_bytes([word[low], word[low + 1]]));
    let byte = |value: i64| (-128..=127).contains(&value);
    let mut all = vec![(7, bits(signed as u64, 32))];
    if signed == 0 {
        all.push((0, Bits::new()));
    }
    if (-8..=7).contains(&signed) {
        all.push((1, bits(signed as u64, 4)));
    }
    if byte(signed) {
        all.push((2, bits(signed as u64, 8)));
    }
    if (-32768..=32767).contains(&signed) {
        all.push((3, bits(signed as u64, 16)));
    }
    if half(0) == 0 {
        all.push((4, bits(half(2) as u64, 16)));
    }
    if byte(half(0)) && byte(half(2)) {
        let mut both = bits(half(0) as u64, 8);
        both.extend(bits(half(2) as u64, 8));
        all.push((5, both));
    }
    if word.iter().all(|other| *other == word[0]) {
        all.push((6, bits(u64::from(word[0]), 8)));
    }
    all
}

/// Returns the prefix that encodes all words with the fewest bits, the lowest among equals, and these bits.
fn best(words: &[[u8; 4]]) -> (u64, Bits) {
    let of = |word: [u8; 4], prefix| candidates(word).into_iter().find(|(own, _)| *own == prefix);
    let common = (0..8).filter_map(|prefix| {
        let kept: Option<Vec<Bits>> =
            words.iter().map(|word| of(*word, prefix).map(|(_, bits)| bits)).collect();
        kept.map(|kept| (prefix, kept.into_iter().flatten().collect::<Bits>()))
    });
    common.min_by_key(|(prefix, kept)| (kept.len(), *prefix)).expect("7 stands for every word")
}

/// Returns the payload of a line by definition, even if it is longer than the line.
fn defined(line: &[u8], variant: FpcVariant) -> Bits {
    let words: Vec<[u8; 4]> = line.chunks(4).map(|chunk| chunk.try_into().unwrap()).collect();
    let (mut head, mut data) = (Bits::new(), Bits::new());
    match variant {
        FpcVariant::Segments => {
            for segment in words.chunks(4) {
                let (prefix, kept) = best(segment);
                head.extend(bits(prefix, 3));
                data.extend(kept);
            }
        }
        FpcVariant::Words => {
            // A run has at most eight words.
            for run in words.chunk_by(|a, b| *a == [0; 4] && *b == [0; 4]) {
                for part in run.chunks(8) {
                    let (prefix, kept) = best(&part[..1]);
                    head.extend(bits(prefix, 3));
                    if prefix == 0 {
                        head.extend(bits(part.len() as u64 - 1, 3));
                    }
                    data.extend(kept);
                }
            }
        }
    }
    head.extend(data);
    head
}

fn check(line: &[u8], variant: FpcVariant) {
    let bits = defined(line, variant);
    let packed = words_of(line);
    let compressed = compress(&packed, line.len(), variant);
    let size = bits.len().min(8 * line.len());
    assert_eq!(usize::from(compressed.bits), size, "{variant:?} {line:02x?}");
    assert_eq!(compressed_bits(&packed, line.len(), variant), size);
    assert_eq!(compressed.compressed, bits.len() < 8 * line.len());
    let got = compressed.payload.view_bits::<Lsb0>();
    if compressed.compressed {
        assert_eq!(got[..size], bits, "{variant:?} {line:02x?}");
        assert!(got[size..].not_any(), "bits beyond the payload");
    } else {
        assert_eq!(compressed.payload, packed);
    }
    let decompressed = decompress(&compressed, line.len(), variant);
    assert!(!decompressed.error);
    assert_eq!(bytes_of(&decompressed.line)[..line.len()], *line);
}

#[test]
fn drawn_lines_are_as_defined() {
    for bytes in LINE_BYTES {
        let mut lines = FpcLineGenerator::new(7, bytes);
        for _ in 0..5_000 {
            let line = bytes_of(&lines.next_line());
            VARIANTS.into_iter().for_each(|variant| check(&line[..bytes], variant));
        }
    }
}

#[test]
fn the_worst_line_stays_as_it_is_and_the_best_is_a_few_symbols() {
    for bytes in LINE_BYTES {
        for variant in VARIANTS {
            let raw: Vec<u8> = (0..bytes).map(|i| 0x51 + (i % 4) as u8 * 0x0b).collect();
            check(&raw, variant);
            assert_eq!(compressed_bits(&words_of(&raw), bytes, variant), 8 * bytes);
            check(&vec![0; bytes], variant);
        }
    }
}

/// Returns a word of any pattern with random stored bits.
fn word() -> impl Strategy<Value = [u8; 4]> {
    (0usize..8, any::<u32>(), prop::bool::weighted(0.05), 0u32..32).prop_map(|(pattern, data, flip, bit)| {
        let word = Pattern::ALL[pattern].rebuild(data);
        (word ^ u32::from(flip) << bit).to_le_bytes()
    })
}

/// Returns a line of words with some repetitions.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let words = prop::collection::vec((word(), 1usize..12), 32);
    (prop::sample::select(LINE_BYTES.to_vec()), words).prop_map(|(bytes, words)| {
        let all = words.into_iter().flat_map(|(word, times)| [word].repeat(times)).flatten();
        all.take(bytes).collect()
    })
}

proptest! {
    #[test]
    fn any_line_is_as_defined(line in line(), segmented: bool) {
        check(&line, VARIANTS[usize::from(segmented)]);
    }

    /// Every payload decompresses without a panic. An accepted payload has the same meaning after another compression.
    #[test]
    fn any_payload_gives_a_line(
        words in prop::collection::vec(prop_oneof![any::<u64>(), Just(0)], LINE_WORDS), size in 0usize..3, segmented: bool,
    ) {
        let (bytes, variant) = (LINE_BYTES[size], VARIANTS[usize::from(segmented)]);
        let payload: Line = words.try_into().unwrap();
        let decompressed = decompress(&FpcCompressed { compressed: true, bits: 0, payload }, bytes, variant);
        prop_assert!(!decompressed.error || decompressed.line == Line::default());
        let again = compress(&decompressed.line, bytes, variant);
        prop_assert_eq!(decompress(&again, bytes, variant).line, decompressed.line);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Connects compressor and decompressor, each in lockstep with its model, under any stalls and resets.
    #[test]
    fn lines_come_through_both_blocks_in_order_under_any_stalls(
        size in 0usize..3,
        segmented: bool,
        depths in (prop::sample::select(vec![1usize, 2, 5]), 1usize..=5),
        seed: u64,
        traffic in prop::collection::vec((any::<bool>(), any::<bool>(), any::<bool>(), 0u8..100), 1..150),
    ) {
        let line_bytes = LINE_BYTES[size];
        let params = FpcCompressorParams { line_bytes, segmented, pipeline_depth: depths.0 };
        let mut compressor = Instance::<FpcCompressor>::new("compressor", &params, Engine::Lockstep).unwrap();
        let params = FpcDecompressorParams { line_bytes, segmented, pipeline_depth: depths.1 };
        let mut decompressor = Instance::<FpcDecompressor>::new("decompressor", &params, Engine::Lockstep).unwrap();
        let generator = FpcLineGenerator::new(seed, line_bytes);
        let inside = lines_through!(compressor, decompressor, generator, traffic, encoding_o -> encoding_i);
        prop_assert!(inside <= depths.0 + depths.1 + 1);
    }
}
