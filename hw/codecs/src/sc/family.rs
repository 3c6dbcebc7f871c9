//! The four blocks of SC together: words are counted, codes are built from the counts and loaded into both codecs, and lines pass
//! through them unchanged, in the number of bits that the golden code book gives.
use crate::line::Line;
use crate::sc::code_builder::{CodeBuilderIn, CodeBuilderOut, CodeBuilderParams, ScCodeBuilder};
use crate::sc::compressor::{CompressorIn, CompressorOut, ScCompressor, ScCompressorParams};
use crate::sc::decompressor::{DecompressorIn, DecompressorOut, ScDecompressor, ScDecompressorParams};
use crate::sc::huffman::{CodeBook, CountedValue};
use crate::sc::vft::{ScVft, VftIn, VftParams};
use crate::sc::{LINE_BITS, words_of};
use selvedge_hw::lockstep::Lockstep;
use selvedge_hw::{Clocked, Engine, Instance, Prng};
use std::collections::{HashMap, VecDeque};

/// The four blocks, each in lockstep with its model.
struct ScBlocks {
    vft: Lockstep<ScVft>,
    builder: Lockstep<ScCodeBuilder>,
    compressor: Instance<ScCompressor>,
    decompressor: Instance<ScDecompressor>,
}

/// Returns the inputs that load a code into the compressor.
fn to_compressor(code: &CodeBuilderOut, valid: bool) -> CompressorIn {
    CompressorIn {
        load_valid_i: valid,
        load_first_i: code.code_first_o,
        load_last_i: code.code_last_o,
        load_index_i: code.code_index_o,
        load_escape_i: code.code_escape_o,
        load_value_i: code.code_value_o,
        load_code_i: code.code_code_o,
        load_length_i: code.code_length_o,
        ..CompressorIn::default()
    }
}

fn to_decompressor(code: &CodeBuilderOut, valid: bool) -> DecompressorIn {
    DecompressorIn {
        load_valid_i: valid,
        load_first_i: code.code_first_o,
        load_last_i: code.code_last_o,
        load_escape_i: code.code_escape_o,
        load_value_i: code.code_value_o,
        load_code_i: code.code_code_o,
        load_length_i: code.code_length_o,
        ..DecompressorIn::default()
    }
}

impl ScBlocks {
    fn new() -> Self {
        ScBlocks {
            vft: Lockstep::new(&VftParams::default()),
            builder: Lockstep::new(&CodeBuilderParams::default()),
            compressor: Instance::new("c", &ScCompressorParams::default(), Engine::Lockstep).unwrap(),
            decompressor: Instance::new("d", &ScDecompressorParams::default(), Engine::Lockstep).unwrap(),
        }
    }

    /// Counts the words of lines.
    fn train(&mut self, lines: &[Line]) {
        for word in lines.iter().flat_map(words_of) {
            let offer = VftIn { train_valid_i: true, train_value_i: word, ..VftIn::default() };
            while !self.vft.step(&offer).train_ready_o {}
        }
    }

    /// Builds codes and loads each into both codecs when they are ready. Returns the code book that
    /// the table's entries define, as the builder read them.
    fn build(&mut self, escape_weight: u16) -> CodeBook {
        let mut entries = HashMap::new();
        let mut asked = VecDeque::new();
        let mut read = VftIn::default();
        let (mut in_compressor, mut in_decompressor) = (false, false);
        for cycle in 0..200_000 {
            let answer = self.vft.step(&read);
            if answer.read_valid_o {
                let (value, count) = (answer.read_value_o, answer.read_count_o);
                let index = asked.pop_front().expect("answers come in the order of reads");
                entries.insert(index, CountedValue { index, value, count });
            }
            let taken = in_compressor && in_decompressor;
            let code = self.builder.step(&CodeBuilderIn {
                start_i: cycle == 0,
                escape_weight_i: escape_weight,
                read_valid_i: answer.read_valid_o,
                read_value_i: answer.read_value_o,
                read_count_i: answer.read_count_o,
                code_ready_i: taken,
            });
            if code.read_o {
                asked.push_back(code.read_index_o);
            }
            read = VftIn { read_i: code.read_o, read_index_i: code.read_index_o, ..VftIn::default() };
            if taken {
                (in_compressor, in_decompressor) = (false, false);
                if code.code_last_o {
                    return CodeBook::build(entries.into_values(), u32::from(escape_weight), 16);
                }
                continue;
            }
            let offered = code.code_valid_o;
            let offer = to_compressor(&code, offered && !in_compressor);
            let outputs = self.compressor.step(&offer).unwrap();
            in_compressor |= offer.load_valid_i && outputs.load_ready_o;
            let offer = to_decompressor(&code, offered && !in_decompressor);
            let outputs = self.decompressor.step(&offer).unwrap();
            in_decompressor |= offer.load_valid_i && outputs.load_ready_o;
        }
        panic!("a build ends");
    }

    fn compress(&mut self, line: &Line) -> CompressorOut {
        let offer = CompressorIn { valid_i: true, line_i: *line, ready_i: true, ..CompressorIn::default() };
        assert!(self.compressor.step(&offer).unwrap().ready_o);
        let idle = CompressorIn { ready_i: true, ..CompressorIn::default() };
        (0..40).map(|_| self.compressor.step(&idle).unwrap()).find(|outputs| outputs.valid_o).unwrap()
    }

    fn decompress(&mut self, payload: &CompressorOut) -> DecompressorOut {
        let idle = DecompressorIn { ready_i: true, ..DecompressorIn::default() };
        let offer = DecompressorIn {
            valid_i: true,
            compressed_i: payload.compressed_o,
            bits_i: payload.bits_o,
            payload_i: payload.payload_o,
            ..idle
        };
        assert!(self.decompressor.step(&offer).unwrap().ready_o);
        (0..40).map(|_| self.decompressor.step(&idle).unwrap()).find(|outputs| outputs.valid_o).unwrap()
    }
}

/// Returns lines of words from a few hundred values, some much more frequent than others, and sometimes of other values.
fn lines(prng: &mut Prng, offset: u64) -> Vec<Line> {
    let mut word = || match prng.below(20) {
        0 => prng.bits() >> 32,
        1..6 => offset + 16 * prng.below(300),
        6..12 => offset + prng.below(12),
        _ => 0,
    };
    (0..200).map(|_| std::array::from_fn(|_| word() | word() << 32)).collect()
}

#[test]
fn lines_come_through_with_codes_built_from_their_own_words() {
    let mut prng = Prng::new(9);
    let mut family = ScBlocks::new();
    // The second generation of codes replaces the first in all four blocks.
    for (offset, escape_weight) in [(0x4000_0000, 300), (0x1234, 80)] {
        family.vft.step(&VftIn { clear_i: true, ..VftIn::default() });
        let lines = lines(&mut prng, offset);
        family.train(&lines[..150]);
        let book = family.build(escape_weight);
        let mut bits = 0;
        for line in &lines {
            let payload = family.compress(line);
            let codes = book.encode(&words_of(line));
            assert_eq!(usize::from(payload.bits_o), codes.len().min(LINE_BITS));
            assert_eq!(payload.compressed_o, codes.len() <= LINE_BITS);
            let rebuilt = family.decompress(&payload);
            assert_eq!((rebuilt.line_o, rebuilt.error_o), (*line, false));
            bits += codes.len();
        }
        assert!(bits < lines.len() * LINE_BITS / 3, "{bits} bits for {} lines", lines.len());
    }
}
