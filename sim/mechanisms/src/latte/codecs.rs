//! The codecs of a compressed L1D: a line in each of their forms, and what the stages need to know of the blocks' ports.
use crate::codec_stage::Codec;
use selvedge_blocks::bdi;
use selvedge_blocks::bpc::{self, BpcCompressor, BpcDecompressor};
use selvedge_blocks::line::{LINE_WORDS, Line};
use selvedge_blocks::sc;
use selvedge_blocks::sc::compressor::ScCompressor;
use selvedge_blocks::sc::decompressor::ScDecompressor;
use selvedge_blocks::sc::huffman::CodeBook;

/// Bytes of a line; other machines are refused.
pub const LINE_BYTES: usize = 128;

/// A line in the codes of SC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coded {
    /// It is a row of codes, not the line itself.
    pub compressed: bool,
    /// Its bits.
    pub bits: u16,
    /// The payload, zero behind its bits.
    pub payload: Line,
}

impl Coded {
    /// The form that SC's definition gives a line under `book`; without codes the line is kept as it is.
    pub fn of(values: &Line, book: Option<&CodeBook>) -> Self {
        let raw = Coded { compressed: false, bits: sc::LINE_BITS as u16, payload: *values };
        let Some(book) = book else { return raw };
        let words = sc::words_of(values);
        if words.iter().map(|word| book.bits_of(*word)).sum::<usize>() > sc::LINE_BITS {
            return raw;
        }
        let codes = book.encode(&words);
        let mut payload = [0; LINE_WORDS];
        payload[..codes.words().len()].copy_from_slice(codes.words());
        Coded { compressed: true, bits: codes.len() as u16, payload }
    }
}

/// How a line lies in the L1D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As it came.
    Raw,
    /// By BDI.
    Bdi(bdi::Compressed),
    /// By SC.
    Sc(Coded),
    /// By BPC.
    Bpc(bpc::Compressed),
}

impl Form {
    /// 32-byte sub-blocks that it takes, 1 to 4.
    pub fn sub_blocks(&self) -> u32 {
        let bytes = match self {
            Form::Raw => LINE_BYTES,
            Form::Bdi(form) => usize::from(form.size),
            Form::Sc(form) => usize::from(form.bits).div_ceil(8),
            Form::Bpc(form) => usize::from(form.size),
        };
        bdi::units(bytes) as u32
    }

    /// Itself if it is smaller than the line, which else needs no decompressor.
    pub fn if_smaller(self) -> Self {
        if self.sub_blocks() < bdi::units(LINE_BYTES) as u32 { self } else { Form::Raw }
    }
}

/// A line in the two forms that a codec of SC has.
#[derive(Clone, Copy, Debug)]
pub struct ScForms {
    /// Compressed.
    pub form: Coded,
    /// Uncompressed.
    pub values: Line,
}

/// A line in the two forms that a codec of BPC has.
#[derive(Clone, Copy, Debug)]
pub struct BpcForms {
    /// Compressed.
    pub form: bpc::Compressed,
    /// Uncompressed.
    pub values: Line,
}

impl Codec for ScCompressor {
    type Forms = ScForms;

    fn inputs(offered: Option<&ScForms>, ready: bool) -> sc::compressor::CompressorIn {
        let line_i = offered.map_or_else(Line::default, |line| line.values);
        sc::compressor::CompressorIn {
            valid_i: offered.is_some(),
            line_i,
            ready_i: ready,
            ..Default::default()
        }
    }

    fn took(out: &sc::compressor::CompressorOut) -> bool {
        out.ready_o
    }

    fn gives(out: &sc::compressor::CompressorOut) -> bool {
        out.valid_o
    }

    fn is_right(out: &sc::compressor::CompressorOut, line: &ScForms) -> bool {
        line.form == Coded { compressed: out.compressed_o, bits: out.bits_o, payload: out.payload_o }
    }
}

impl Codec for ScDecompressor {
    type Forms = ScForms;

    fn inputs(offered: Option<&ScForms>, ready: bool) -> sc::decompressor::DecompressorIn {
        let form = offered.map(|line| line.form);
        sc::decompressor::DecompressorIn {
            valid_i: form.is_some(),
            compressed_i: form.is_some_and(|form| form.compressed),
            bits_i: form.map_or(0, |form| form.bits),
            payload_i: form.map_or_else(Line::default, |form| form.payload),
            ready_i: ready,
            ..Default::default()
        }
    }

    fn took(out: &sc::decompressor::DecompressorOut) -> bool {
        out.ready_o
    }

    fn gives(out: &sc::decompressor::DecompressorOut) -> bool {
        out.valid_o
    }

    fn is_right(out: &sc::decompressor::DecompressorOut, line: &ScForms) -> bool {
        !out.error_o && out.line_o == line.values
    }
}

impl Codec for BpcCompressor {
    type Forms = BpcForms;

    fn inputs(offered: Option<&BpcForms>, ready: bool) -> bpc::CompressorIn {
        let line_i = offered.map_or_else(Line::default, |line| line.values);
        bpc::CompressorIn { valid_i: offered.is_some(), line_i, ready_i: ready }
    }

    fn took(out: &bpc::CompressorOut) -> bool {
        out.ready_o
    }

    fn gives(out: &bpc::CompressorOut) -> bool {
        out.valid_o
    }

    fn is_right(out: &bpc::CompressorOut, line: &BpcForms) -> bool {
        let given = (out.compressed_o, out.size_o, out.payload_o);
        given == (line.form.compressed, line.form.size, line.form.payload)
    }
}

impl Codec for BpcDecompressor {
    type Forms = BpcForms;

    fn inputs(offered: Option<&BpcForms>, ready: bool) -> bpc::DecompressorIn {
        let form = offered.map(|line| line.form);
        bpc::DecompressorIn {
            valid_i: form.is_some(),
            compressed_i: form.is_some_and(|form| form.compressed),
            payload_i: form.map_or_else(Line::default, |form| form.payload),
            ready_i: ready,
        }
    }

    fn took(out: &bpc::DecompressorOut) -> bool {
        out.ready_o
    }

    fn gives(out: &bpc::DecompressorOut) -> bool {
        out.valid_o
    }

    fn is_right(out: &bpc::DecompressorOut, line: &BpcForms) -> bool {
        !out.error_o && out.line_o == line.values
    }
}
