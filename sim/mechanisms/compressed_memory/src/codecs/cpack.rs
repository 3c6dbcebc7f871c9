//! Connects C-Pack's blocks.
use super::{Codec, Handshake};
use selvedge_hw_codecs::cpack::{
    Compressed, CompressorIn, CompressorOut, CpackCompressor, CpackDecompressor, DecompressorIn,
    DecompressorOut, Encoding,
};
use selvedge_hw_codecs::line::Line;

/// The codec C-Pack.
pub struct Cpack;

impl Codec for Cpack {
    type Form = Compressed;
    type Compressor = CpackCompressor;
    type Decompressor = CpackDecompressor;

    fn compressor_in(line: Option<&Line>, valid: bool, ready: bool) -> CompressorIn {
        CompressorIn { valid_i: valid, line_i: line.copied().unwrap_or_default(), ready_i: ready }
    }

    fn compressor_out(out: &CompressorOut) -> Handshake<Compressed> {
        let form = |encoding| Compressed { encoding, bits: out.size_o, payload: out.payload_o };
        let value = Encoding::ALL.get(usize::from(out.encoding_o)).copied().map(form);
        Handshake { takes: out.ready_o, gives: out.valid_o, value }
    }

    fn decompressor_in(form: Option<&Compressed>, valid: bool, ready: bool) -> DecompressorIn {
        DecompressorIn {
            valid_i: valid,
            encoding_i: form.map_or(0, |form| form.encoding.tag()),
            payload_i: form.map_or_else(Line::default, |form| form.payload),
            ready_i: ready,
        }
    }

    fn decompressor_out(out: &DecompressorOut) -> Handshake<Line> {
        let value = (!out.error_o).then_some(out.line_o);
        Handshake { takes: out.ready_o, gives: out.valid_o, value }
    }
}
