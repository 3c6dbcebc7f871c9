//! Properties of SC's decompressor, as RTL in lockstep with its model. Lines pass through both blocks under any traffic, each in
//! the number of cycles that its codes and their banks need. Wrong payloads soon end in an error.
use crate::line::Line;
use crate::sc::compressor::stimulus::inputs as line_inputs;
use crate::sc::compressor::{ScCompressor, ScCompressorParams};
use crate::sc::decompressor::stimulus::{OfferedPayload, inputs, payload_of};
use crate::sc::decompressor::{DecompressorOut, ScDecompressor, ScDecompressorParams};
use crate::sc::huffman::{CodeBook, CountedValue};
use crate::sc::vocabulary::Vocabulary;
use crate::sc::{CodeItem, LINE_BITS, WORDS, code_stream, words_of};
use proptest::prelude::*;
use selvedge_hw::{Engine, HwBlock, Instance, Prng};
use std::collections::{HashSet, VecDeque};

const CODES_PER_CYCLE: [u32; 3] = [1, 2, 4];

fn instance(symbols_per_cycle: u32) -> Instance<ScDecompressor> {
    Instance::new("d", &ScDecompressorParams { symbols_per_cycle }, Engine::Lockstep).unwrap()
}

/// Loads codes, one in each cycle in which the block is ready.
fn load(decompressor: &mut Instance<ScDecompressor>, items: &[CodeItem]) {
    let end = decompressor.cycle() + 4000;
    for item in items {
        while !decompressor.step(&inputs(None, Some(*item), true)).unwrap().load_ready_o {
            assert!(decompressor.cycle() < end, "codes are never taken");
        }
    }
}

/// Decompresses one payload in an idle block. Returns the cycles from the payload to the line, and the outputs.
fn decompress(
    decompressor: &mut Instance<ScDecompressor>,
    payload: OfferedPayload,
) -> (u64, DecompressorOut) {
    let begin = decompressor.cycle();
    assert!(decompressor.step(&inputs(Some(payload), None, true)).unwrap().ready_o);
    loop {
        let now = decompressor.cycle();
        let outputs = decompressor.step(&inputs(None, None, true)).unwrap();
        if outputs.valid_o {
            return (now - begin, outputs);
        }
        assert!(
            now <= begin + 90,
            "a payload takes at most its groups, their waits and used-up blocks, and four"
        );
    }
}

/// Returns the cycles in which the codes of a line are decoded, and the maximum cycles that its groups wait for banks.
///
/// Each cycle decodes at most `most` codes. An escape ends the group. A code must begin within the two known blocks of 32 bits;
/// in the first cycle only one block is known.
fn groups(book: &CodeBook, line: &Line, most: usize) -> (u64, u64) {
    let words = words_of(line);
    let (mut groups, mut waits, mut next, mut position, mut known) = (0, 0, 0, 0, 32);
    while next < WORDS {
        let begin = next;
        while next < WORDS && next < begin + most && position < known {
            position += book.bits_of(words[next]);
            next += 1;
            if book.code_of(words[next - 1]).is_none() {
                break;
            }
        }
        if position + 32 >= known {
            known += 32;
        }
        groups += 1;
        let distinct: HashSet<u32> =
            words[begin..next].iter().copied().filter(|word| book.code_of(*word).is_some()).collect();
        waits += distinct.len().saturating_sub(1) as u64;
    }
    (groups, waits)
}

/// Returns minimum, mean to one decimal place, and maximum.
fn distribution(cycles: &mut [u64]) -> (u64, f64, u64) {
    cycles.sort_unstable();
    let mean = cycles.iter().sum::<u64>() as f64 / cycles.len() as f64;
    (cycles[0], (10.0 * mean).round() / 10.0, cycles[cycles.len() - 1])
}

#[test]
fn a_line_takes_a_cycle_per_group_of_codes_and_wait_and_four() {
    let mut measured = Vec::new();
    for symbols_per_cycle in CODES_PER_CYCLE {
        let facts = ScDecompressor::facts(&ScDecompressorParams { symbols_per_cycle });
        let mut decompressor = instance(symbols_per_cycle);
        let mut prng = Prng::new(11);
        let mut latencies = Vec::new();
        for _ in 0..20 {
            let vocabulary = Vocabulary::draw(&mut prng);
            let book = vocabulary.book();
            load(&mut decompressor, &code_stream(book));
            for _ in 0..50 {
                let line = vocabulary.draw_line(&mut prng);
                let payload = payload_of(book, &line);
                let (cycles, outputs) = decompress(&mut decompressor, payload);
                assert_eq!((outputs.line_o, outputs.error_o), (line, false));
                if payload.compressed {
                    let (decoding, waits) = groups(book, &line, symbols_per_cycle as usize);
                    assert!(cycles >= decoding + 4 && cycles <= decoding + waits + 4);
                    if waits == 0 && decoding == WORDS as u64 / u64::from(symbols_per_cycle) {
                        assert_eq!(cycles, u64::from(facts.latency), "a line of short codes");
                    }
                } else {
                    assert_eq!(cycles, 2);
                }
                if payload.compressed {
                    latencies.push(cycles);
                }
            }
        }
        measured.push((latencies.len(), distribution(&mut latencies)));
    }
    // The block's documentation states these numbers.
    assert_eq!(measured, [(813, (36, 36.6, 46)), (813, (20, 24.2, 40)), (813, (12, 19.3, 38))]);
}

#[test]
fn fourteen_cycles_are_kept_by_every_line_of_ten_groups() {
    let mut decompressor = instance(4);
    let book = CodeBook::build([CountedValue { index: 0, value: 7, count: 9 }], 1, 16);
    load(&mut decompressor, &code_stream(&book));
    // Without escapes 12 cycles. An escape at the start of a group of four costs three quarters of a cycle.
    for (escapes, cycles) in [(0, 12), (1, 13), (2, 14), (4, 15), (5, 16), (6, 17), (24, 30), (31, 36)] {
        let mut words = [7u32; WORDS];
        words[..escapes].fill(0xdead_beef);
        let line = std::array::from_fn(|i| u64::from(words[2 * i]) | u64::from(words[2 * i + 1]) << 32);
        let payload = payload_of(&book, &line);
        assert!(payload.compressed);
        let (taken, outputs) = decompress(&mut decompressor, payload);
        assert_eq!((taken, outputs.line_o), (cycles, line), "{escapes} escapes");
    }
}

#[test]
fn lines_kept_as_they_are_pass_in_two_cycles_without_codes() {
    for symbols_per_cycle in CODES_PER_CYCLE {
        let mut decompressor = instance(symbols_per_cycle);
        let bytes = std::array::from_fn(|i| 0x0123_4567_89ab_cdef << i);
        let payload = OfferedPayload { compressed: false, bits: LINE_BITS as u16, payload: bytes };
        let (cycles, outputs) = decompress(&mut decompressor, payload);
        assert_eq!((cycles, outputs.line_o, outputs.error_o), (2, bytes, false));
    }
}

#[test]
fn without_codes_a_compressed_line_is_an_error_after_reset_too() {
    let mut decompressor = instance(4);
    let vocabulary = Vocabulary::draw(&mut Prng::new(5));
    let payload = payload_of(vocabulary.book(), &Line::default());
    let payload = OfferedPayload { compressed: true, ..payload };
    for _ in 0..2 {
        let (cycles, outputs) = decompress(&mut decompressor, payload);
        assert_eq!((cycles, outputs.error_o, outputs.line_o), (5, true, Line::default()));
        load(&mut decompressor, &code_stream(vocabulary.book()));
        decompressor.reset();
    }
}

#[test]
fn a_stream_may_begin_anew_before_it_has_ended() {
    let mut prng = Prng::new(4);
    let mut decompressor = instance(2);
    let (old, new) = (Vocabulary::draw(&mut prng), Vocabulary::draw(&mut prng));
    let items = code_stream(old.book());
    load(&mut decompressor, &items[..items.len() - 1]);
    load(&mut decompressor, &code_stream(new.book()));
    for _ in 0..50 {
        let line = new.draw_line(&mut prng);
        let (_, outputs) = decompress(&mut decompressor, payload_of(new.book(), &line));
        assert_eq!((outputs.line_o, outputs.error_o), (line, false));
    }
}

fn compressor() -> Instance<ScCompressor> {
    Instance::new("c", &ScCompressorParams::default(), Engine::Lockstep).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any bits with any size and any codes: the line comes in bounded time. It equals bit-by-bit decoding or is an error.
    #[test]
    fn any_payload_ends_in_bounded_time_as_the_code_book_says(
        width in 0usize..3,
        seed: u64,
        sizes in prop::collection::vec(0u16..2048, 1..20),
    ) {
        let mut decompressor = instance(CODES_PER_CYCLE[width]);
        let mut prng = Prng::new(seed);
        let vocabulary = Vocabulary::draw(&mut prng);
        load(&mut decompressor, &code_stream(vocabulary.book()));
        for bits in sizes {
            // Half of them begin with valid codes.
            let mut bytes = payload_of(vocabulary.book(), &vocabulary.draw_line(&mut prng)).payload;
            if prng.chance(50) {
                bytes = std::array::from_fn(|_| prng.bits());
            }
            let (_, outputs) = decompress(&mut decompressor, OfferedPayload { compressed: true, bits, payload: bytes });
            let size = usize::from(bits).min(LINE_BITS);
            match vocabulary.book().decode(&bytes, WORDS).filter(|(_, used)| *used <= size) {
                Some((words, _)) => {
                    prop_assert!(!outputs.error_o);
                    prop_assert_eq!(words_of(&outputs.line_o).to_vec(), words);
                }
                None => prop_assert!(outputs.error_o && outputs.line_o == Line::default()),
            }
        }
    }

    /// Connects compressor and decompressor, each in lockstep with its model, under any stalls, with new codes in between.
    #[test]
    fn lines_come_through_both_blocks_in_order_under_any_stalls(
        width in 0usize..3,
        seed: u64,
        traffic in prop::collection::vec((any::<bool>(), any::<bool>(), any::<bool>(), 0u8..250), 1..1500),
    ) {
        let (mut compressor, mut decompressor) = (compressor(), instance(CODES_PER_CYCLE[width]));
        let mut prng = Prng::new(seed);
        let mut vocabulary = Vocabulary::draw(&mut prng);
        let (mut to_compressor, mut to_decompressor) = (VecDeque::new(), VecDeque::new());
        let mut change = true;
        let mut offered: Option<Line> = None;
        let mut between: Option<OfferedPayload> = None;
        let mut shown: Option<Line> = None;
        let mut inside = VecDeque::new();
        for (offers, pass, take, chance) in traffic {
            let loading = !to_compressor.is_empty() || !to_decompressor.is_empty();
            // New codes are loaded only when no line is between the blocks: lines compressed with the old codes would be lost.
            change |= chance < 3 && !loading;
            if change && offered.is_none() && inside.is_empty() {
                change = false;
                vocabulary = Vocabulary::draw(&mut prng);
                to_compressor = code_stream(vocabulary.book()).into();
                to_decompressor = to_compressor.clone();
            }
            if offered.is_none() && offers && !change && to_decompressor.is_empty() {
                offered = Some(vocabulary.draw_line(&mut prng));
            }
            let room = between.is_none() && pass;
            let item = to_compressor.front().copied();
            let packed = compressor.step(&line_inputs(offered, item, room)).unwrap();
            if packed.ready_o && let Some(line) = offered.take() {
                inside.push_back(line);
            }
            if packed.load_ready_o && item.is_some() {
                to_compressor.pop_front();
            }
            let item = to_decompressor.front().copied();
            let unpacked = decompressor.step(&inputs(between, item, take)).unwrap();
            if unpacked.ready_o {
                between = None;
            }
            if unpacked.load_ready_o && item.is_some() {
                to_decompressor.pop_front();
            }
            if packed.valid_o && room {
                let bits = packed.bits_o;
                between = Some(OfferedPayload { compressed: packed.compressed_o, bits, payload: packed.payload_o });
            }
            // An offered line stays until it is accepted.
            if let Some(line) = shown {
                prop_assert!(unpacked.valid_o && unpacked.line_o == line);
            }
            shown = unpacked.valid_o.then_some(unpacked.line_o);
            if unpacked.valid_o && take {
                shown = None;
                prop_assert!(!unpacked.error_o);
                prop_assert_eq!(Some(unpacked.line_o), inside.pop_front());
            }
        }
    }
}
