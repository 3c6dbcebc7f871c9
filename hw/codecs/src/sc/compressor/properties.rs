//! Properties of SC's compressor, as RTL in lockstep with its model. The payloads equal the code book's, in the number of
//! cycles that the words and their banks need. Lines without codes stay uncompressed, and new codes can be loaded during traffic.
use crate::line::Line;
use crate::sc::compressor::stimulus::inputs;
use crate::sc::compressor::{CompressorOut, ScCompressor, ScCompressorParams};
use crate::sc::huffman::CodeBook;
use crate::sc::vocabulary::Vocabulary;
use crate::sc::{CodeItem, LINE_BITS, WORDS, code_stream, set_of, words_of};
use proptest::prelude::*;
use selvedge_hw::{Engine, HwBlock, Instance, Prng};
use std::collections::{HashMap, HashSet, VecDeque};

const WORDS_PER_CYCLE: [u32; 2] = [4, 8];

fn instance(symbols_per_cycle: u32) -> Instance<ScCompressor> {
    Instance::new("c", &ScCompressorParams { symbols_per_cycle }, Engine::Lockstep).unwrap()
}

/// Loads codes, one in each cycle in which the block is ready. Returns the cycles.
fn load(compressor: &mut Instance<ScCompressor>, items: &[CodeItem]) -> u64 {
    let begin = compressor.cycle();
    for item in items {
        while !compressor.step(&inputs(None, Some(*item), true)).unwrap().load_ready_o {
            assert!(compressor.cycle() < begin + 4000, "codes are never taken");
        }
    }
    compressor.cycle() - begin
}

/// Compresses one line in an idle block. Returns the cycles from the line to the payload, and the outputs.
fn compress(compressor: &mut Instance<ScCompressor>, line: Line) -> (u64, CompressorOut) {
    let begin = compressor.cycle();
    assert!(compressor.step(&inputs(Some(line), None, true)).unwrap().ready_o);
    loop {
        let now = compressor.cycle();
        let outputs = compressor.step(&inputs(None, None, true)).unwrap();
        if outputs.valid_o {
            return (now - begin, outputs);
        }
        assert!(now < begin + 100, "the line never leaves");
    }
}

/// Returns the result of the code book for a line: compressed or not, the number of bits, and the payload.
fn expected(book: &CodeBook, line: &Line) -> (bool, usize, Line) {
    let codes = book.encode(&words_of(line));
    if codes.len() > LINE_BITS {
        return (false, LINE_BITS, *line);
    }
    let mut payload = Line::default();
    payload[..codes.words().len()].copy_from_slice(codes.words());
    (true, codes.len(), payload)
}

fn given(outputs: &CompressorOut) -> (bool, usize, Line) {
    (outputs.compressed_o, usize::from(outputs.bits_o), outputs.payload_o)
}

/// Returns the cycles of a line: two, and for each group the number of different words in its busiest bank.
fn cycles_of(line: &Line, words_per_group: usize) -> u64 {
    let words = words_of(line);
    let lookups = words.chunks(words_per_group).map(|group| {
        let mut banks: HashMap<u32, HashSet<u32>> = HashMap::new();
        for word in group {
            let set = set_of(*word, 8);
            banks.entry((set ^ set >> 3 ^ set >> 6) % 8).or_default().insert(*word);
        }
        banks.values().map(HashSet::len).max().unwrap() as u64
    });
    lookups.sum::<u64>() + 2
}

fn line_of(word: impl Fn(usize) -> u32) -> Line {
    std::array::from_fn(|pair| u64::from(word(2 * pair)) | u64::from(word(2 * pair + 1)) << 32)
}

#[test]
fn a_line_takes_a_cycle_per_group_and_wait_and_two() {
    for (symbols_per_cycle, least) in [(4, 10), (8, 6)] {
        let params = ScCompressorParams { symbols_per_cycle };
        assert_eq!(ScCompressor::facts(&params).latency, least);
        let mut compressor = instance(symbols_per_cycle);
        let mut prng = Prng::new(3);
        let vocabulary = Vocabulary::draw(&mut prng);
        load(&mut compressor, &code_stream(vocabulary.book()));
        for _ in 0..200 {
            let line = vocabulary.draw_line(&mut prng);
            let (cycles, _) = compress(&mut compressor, line);
            assert_eq!(cycles, cycles_of(&line, symbols_per_cycle as usize));
        }
        // Equal words, words in different banks, and words that are all in one bank.
        let in_one_bank: Vec<u32> = (0..).filter(|word| set_of(*word, 8) == 0).take(WORDS).collect();
        let lines = [line_of(|_| 5), line_of(|word| word as u32 % 8), line_of(|word| in_one_bank[word])];
        for (line, expected) in lines.into_iter().zip([least, least, 34]) {
            assert_eq!(compress(&mut compressor, line).0, u64::from(expected));
        }
    }
}

#[test]
fn lines_without_pause_follow_each_other_at_the_stated_interval() {
    for symbols_per_cycle in WORDS_PER_CYCLE {
        let interval = u64::from(ScCompressor::facts(&ScCompressorParams { symbols_per_cycle }).interval);
        let mut compressor = instance(symbols_per_cycle);
        let taken: Vec<u64> = (0..100)
            .filter(|_| compressor.step(&inputs(Some(Line::default()), None, true)).unwrap().ready_o)
            .collect();
        assert_eq!(taken, (0..100).step_by(interval as usize).collect::<Vec<_>>());
    }
}

#[test]
fn without_codes_lines_are_kept_after_reset_too() {
    for symbols_per_cycle in WORDS_PER_CYCLE {
        let mut compressor = instance(symbols_per_cycle);
        let mut prng = Prng::new(8);
        let vocabulary = Vocabulary::draw(&mut prng);
        let line = std::array::from_fn(|_| prng.bits());
        assert_eq!(given(&compress(&mut compressor, line).1), (false, LINE_BITS, line));
        load(&mut compressor, &code_stream(vocabulary.book()));
        compressor.reset();
        let line = vocabulary.draw_line(&mut prng);
        assert_eq!(given(&compress(&mut compressor, line).1), (false, LINE_BITS, line));
    }
}

#[test]
fn loading_costs_a_cycle_per_row_and_code() {
    let mut compressor = instance(8);
    let vocabulary = Vocabulary::draw(&mut Prng::new(1));
    let items = code_stream(vocabulary.book());
    // Two cycles until the block knows that nothing is in flight.
    assert_eq!(load(&mut compressor, &items), 2 + 32 + items.len() as u64);
}

#[test]
fn a_word_that_cannot_be_coded_keeps_its_line() {
    let mut compressor = instance(8);
    let mut prng = Prng::new(2);
    let vocabulary = Vocabulary::draw(&mut prng);
    let mut items = code_stream(vocabulary.book());
    items.retain(|item| !item.escape);
    items.first_mut().unwrap().first = true;
    items.last_mut().unwrap().last = true;
    load(&mut compressor, &items);
    let known = Line::from([u64::from(items[0].value) << 32 | u64::from(items[0].value); 16]);
    let (_, outputs) = compress(&mut compressor, known);
    assert_eq!(given(&outputs).1, 32 * usize::from(items[0].length));
    assert!(outputs.compressed_o);
    let unknown = (0u32..).find(|value| items.iter().all(|item| item.value != *value)).unwrap();
    let mut line = known;
    line[7] = u64::from(unknown);
    assert_eq!(given(&compress(&mut compressor, line).1), (false, LINE_BITS, line));
}

#[test]
fn a_stream_may_begin_anew_before_it_has_ended() {
    let mut compressor = instance(8);
    let mut prng = Prng::new(4);
    let (old, new) = (Vocabulary::draw(&mut prng), Vocabulary::draw(&mut prng));
    let items = code_stream(old.book());
    load(&mut compressor, &items[..items.len() - 1]);
    load(&mut compressor, &code_stream(new.book()));
    for vocabulary in [&old, &new] {
        for _ in 0..30 {
            let line = vocabulary.draw_line(&mut prng);
            assert_eq!(given(&compress(&mut compressor, line).1), expected(new.book(), &line));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Sends lines under any stalls, with new codes in between. Each line is compressed with the codes in force when it was
    /// accepted.
    #[test]
    fn payloads_are_those_of_the_code_book_in_order_under_any_stalls(
        width in 0usize..2,
        seed: u64,
        traffic in prop::collection::vec((any::<bool>(), any::<bool>(), 0u8..200), 1..1200),
    ) {
        let mut compressor = instance(WORDS_PER_CYCLE[width]);
        let mut prng = Prng::new(seed);
        let mut vocabulary = Vocabulary::draw(&mut prng);
        let mut book: Option<CodeBook> = None;
        let mut items: VecDeque<CodeItem> = code_stream(vocabulary.book()).into();
        let mut offered: Option<Line> = None;
        let mut inside = VecDeque::new();
        for (offers, take, chance) in traffic {
            if chance == 0 && items.is_empty() {
                vocabulary = Vocabulary::draw(&mut prng);
                items = code_stream(vocabulary.book()).into();
            }
            if offered.is_none() && offers {
                offered = Some(vocabulary.draw_line(&mut prng));
            }
            let item = items.front().copied();
            let outputs = compressor.step(&inputs(offered, item, take)).unwrap();
            if outputs.ready_o && let Some(line) = offered.take() {
                inside.push_back(match &book {
                    Some(book) => expected(book, &line),
                    None => (false, LINE_BITS, line),
                });
            }
            if outputs.valid_o && take {
                prop_assert_eq!(Some(given(&outputs)), inside.pop_front());
            }
            if outputs.load_ready_o && let Some(item) = item {
                prop_assert!(inside.is_empty(), "codes come when all lines have left");
                items.pop_front();
                book = item.last.then(|| vocabulary.book().clone());
            }
        }
        prop_assert!(inside.len() <= 3);
    }
}
