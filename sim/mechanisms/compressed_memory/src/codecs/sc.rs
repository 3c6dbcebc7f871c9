//! Connects SC's blocks, and defines a line in SC's codes.
use super::{Codec, Handshake};
use selvedge_hw_codecs::line::{LINE_WORDS, Line};
use selvedge_hw_codecs::sc::compressor::{CompressorIn, CompressorOut, ScCompressor};
use selvedge_hw_codecs::sc::decompressor::{DecompressorIn, DecompressorOut, ScDecompressor};
use selvedge_hw_codecs::sc::huffman::CodeBook;
use selvedge_hw_codecs::sc::{LINE_BITS, words_of};
use selvedge_state::State;

/// A line in the codes of SC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Coded {
    /// `true` for a row of codes, `false` for the uncompressed line.
    pub compressed: bool,
    /// Bits of the payload.
    pub bits: u16,
    /// The payload; all bits after the first `bits` are zero.
    pub payload: Line,
}

impl Coded {
    /// Returns the form of a line under `book` by SC's definition. Without codes, or if they save nothing, the line is unchanged.
    pub fn of(values: &Line, book: Option<&CodeBook>) -> Self {
        let raw = Coded { compressed: false, bits: LINE_BITS as u16, payload: *values };
        let Some(book) = book else { return raw };
        let words = words_of(values);
        if words.iter().map(|word| book.bits_of(*word)).sum::<usize>() > LINE_BITS {
            return raw;
        }
        let codes = book.encode(&words);
        let mut payload = [0; LINE_WORDS];
        payload[..codes.words().len()].copy_from_slice(codes.words());
        Coded { compressed: true, bits: codes.len() as u16, payload }
    }
}

/// The codec SC.
pub struct Sc;

impl Codec for Sc {
    type Form = Coded;
    type Compressor = ScCompressor;
    type Decompressor = ScDecompressor;

    fn compressor_in(line: Option<&Line>, valid: bool, ready: bool) -> CompressorIn {
        CompressorIn {
            valid_i: valid,
            line_i: line.copied().unwrap_or_default(),
            ready_i: ready,
            ..Default::default()
        }
    }

    fn compressor_out(out: &CompressorOut) -> Handshake<Coded> {
        let form = Coded { compressed: out.compressed_o, bits: out.bits_o, payload: out.payload_o };
        Handshake { takes: out.ready_o, gives: out.valid_o, value: Some(form) }
    }

    fn decompressor_in(form: Option<&Coded>, valid: bool, ready: bool) -> DecompressorIn {
        DecompressorIn {
            valid_i: valid,
            compressed_i: form.is_some_and(|form| form.compressed),
            bits_i: form.map_or(0, |form| form.bits),
            payload_i: form.map_or_else(Line::default, |form| form.payload),
            ready_i: ready,
            ..Default::default()
        }
    }

    fn decompressor_out(out: &DecompressorOut) -> Handshake<Line> {
        let value = (!out.error_o).then_some(out.line_o);
        Handshake { takes: out.ready_o, gives: out.valid_o, value }
    }
}
