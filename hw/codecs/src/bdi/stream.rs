//! The codec blocks as streams: no line is lost or reordered, valid is held, one line per cycle, with the stated latency.
use crate::bdi::stimulus::BdiLineGenerator;
use crate::bdi::{
    BdiCompressed, BdiCompressor, BdiCompressorParams, BdiDecompressor, BdiDecompressorParams, CompressorIn,
    CompressorOut, DecompressorIn, compress_words, compress_words_from,
};
use crate::equivalence::lines_through;
use crate::line::{LINE_BYTES, Line, bytes_of};
use proptest::prelude::*;
use selvedge_hw::{Engine, HwBlock, Instance};

fn instances(params: &BdiCompressorParams) -> (Instance<BdiCompressor>, Instance<BdiDecompressor>) {
    let compressor = Instance::new("compressor", params, Engine::Lockstep).unwrap();
    let BdiCompressorParams { line_bytes, pipeline_depth, .. } = *params;
    let params = BdiDecompressorParams { line_bytes, pipeline_depth };
    (compressor, Instance::new("decompressor", &params, Engine::Lockstep).unwrap())
}

fn lines(line_bytes: usize, count: usize) -> Vec<Line> {
    let mut generator = BdiLineGenerator::new(11, line_bytes);
    (0..count).map(|_| generator.next_line()).collect()
}

/// Returns each result with its cycle, if lines are offered in every cycle and results are always accepted.
fn compressor_cycles(params: &BdiCompressorParams, count: usize) -> Vec<(u64, CompressorOut)> {
    let (mut compressor, _) = instances(params);
    let mut lines = lines(params.line_bytes, count).into_iter();
    let mut results = Vec::new();
    while results.len() < count {
        let line = lines.next();
        let cycle = compressor.cycle();
        let inputs =
            CompressorIn { valid_i: line.is_some(), line_i: line.unwrap_or_default(), ready_i: true };
        let outputs = compressor.step(&inputs).unwrap();
        assert!(outputs.ready_o);
        if outputs.valid_o {
            results.push((cycle, outputs));
        }
    }
    results
}

#[test]
fn one_line_per_cycle_leaves_after_the_stated_latency() {
    for line_bytes in LINE_BYTES {
        for pipeline_depth in 1..=5 {
            let params = BdiCompressorParams { line_bytes, pipeline_depth, ..Default::default() };
            let facts = BdiCompressor::facts(&params);
            let results = compressor_cycles(&params, 20);
            for (index, (cycle, _)) in results.iter().enumerate() {
                assert_eq!(*cycle, u64::from(facts.latency) + index as u64 * u64::from(facts.interval));
            }
        }
    }
}

#[test]
fn the_ports_carry_what_the_pure_codec_computes() {
    let choices = LINE_BYTES.into_iter().flat_map(|line_bytes| [(line_bytes, false), (line_bytes, true)]);
    for (line_bytes, first_word) in choices {
        let params = BdiCompressorParams { line_bytes, first_word, pipeline_depth: 2 };
        let results = compressor_cycles(&params, 300);
        for ((_, outputs), line) in results.iter().zip(lines(line_bytes, 300)) {
            let BdiCompressed { encoding, size, payload } =
                compress_words_from(&line, line_bytes, params.base());
            assert_eq!((outputs.encoding_o, outputs.size_o), (encoding.tag(), size));
            assert_eq!(bytes_of(&outputs.payload_o), bytes_of(&payload));
        }
    }
}

/// Returns the result of an empty compressor for a line.
fn compressed(compressor: &mut Instance<BdiCompressor>, line: Line) -> CompressorOut {
    let mut inputs = CompressorIn { valid_i: true, line_i: line, ready_i: true };
    loop {
        let outputs = compressor.step(&inputs).unwrap();
        inputs.valid_i = false;
        if outputs.valid_o {
            return outputs;
        }
    }
}

#[test]
fn a_base_of_any_magnitude_has_the_deltas_that_it_is_near_to() {
    for line_bytes in LINE_BYTES {
        let (mut compressor, _) =
            instances(&BdiCompressorParams { line_bytes, pipeline_depth: 1, ..Default::default() });
        let words = line_bytes / 8;
        for (power, delta_bytes) in (8..64).flat_map(|power| [(power, 1), (power, 2), (power, 4)]) {
            // Words near the base, above and below by about half the range of a delta; every fourth word is near zero.
            let reach = 1u64 << (8 * delta_bytes - 2);
            for base in [1u64 << power, (1u64 << power).wrapping_neg()] {
                let mut line = Line::default();
                for (place, word) in (0u64..).zip(&mut line[..words]) {
                    let delta = if place % 2 == 0 { reach.wrapping_sub(place) } else { reach.wrapping_neg() };
                    *word = if place % 4 == 3 { place } else { base.wrapping_add(delta) };
                }
                let outputs = compressed(&mut compressor, line);
                let expected = compress_words(&line, line_bytes);
                assert_eq!(outputs.encoding_o, expected.encoding.tag(), "{line:x?} of {line_bytes} bytes");
            }
        }
    }
}

#[test]
fn a_word_that_differs_alone_keeps_its_line_from_being_repeated() {
    for line_bytes in LINE_BYTES {
        let (mut compressor, _) =
            instances(&BdiCompressorParams { line_bytes, pipeline_depth: 1, ..Default::default() });
        for place in 0..line_bytes / 8 {
            let mut line = Line::default();
            line[..line_bytes / 8].fill(0x0101_0101_0101_0101);
            line[place] = 0x0123_4567_89ab_cdef;
            let outputs = compressed(&mut compressor, line);
            let expected = compress_words(&line, line_bytes);
            assert_eq!(outputs.encoding_o, expected.encoding.tag(), "word {place} of {line_bytes} bytes");
            assert!(usize::from(outputs.size_o) > 8, "one word does not say what the line holds");
        }
    }
}

#[test]
fn undefined_tags_give_zeros_and_an_error() {
    let (_, mut decompressor) = instances(&BdiCompressorParams { pipeline_depth: 1, ..Default::default() });
    for encoding_i in 11..16 {
        let payload_i = [u64::MAX; 16];
        decompressor.step(&DecompressorIn { valid_i: true, encoding_i, payload_i, ready_i: true }).unwrap();
        let outputs =
            decompressor.step(&DecompressorIn { ready_i: true, ..DecompressorIn::default() }).unwrap();
        assert!(outputs.valid_o && outputs.error_o && outputs.line_o == Line::default());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Connects compressor and decompressor, each in lockstep with its model, under any stalls and resets.
    #[test]
    fn lines_come_through_both_blocks_in_order_under_any_stalls(
        size in 0usize..3,
        first_word: bool,
        pipeline_depth in 1usize..=5,
        seed: u64,
        traffic in prop::collection::vec((any::<bool>(), any::<bool>(), any::<bool>(), 0u8..100), 1..150),
    ) {
        let line_bytes = LINE_BYTES[size];
        let params = BdiCompressorParams { line_bytes, first_word, pipeline_depth };
        let (mut compressor, mut decompressor) = instances(&params);
        let generator = BdiLineGenerator::new(seed, line_bytes);
        let inside = lines_through!(compressor, decompressor, generator, traffic, encoding_o -> encoding_i);
        // Only the two pipelines and the register between them hold lines.
        prop_assert!(inside <= 2 * pipeline_depth + 1);
    }
}
