//! Connects BDI's blocks.
use super::{Codec, Handshake};
use selvedge_hw_codecs::bdi::{
    BdiCompressor, BdiDecompressor, Compressed, CompressorIn, CompressorOut, DecompressorIn, DecompressorOut,
    Encoding,
};
use selvedge_hw_codecs::line::Line;

/// The codec BDI.
pub struct Bdi;

impl Codec for Bdi {
    type Form = Compressed;
    type Compressor = BdiCompressor;
    type Decompressor = BdiDecompressor;

    fn compressor_in(line: Option<&Line>, valid: bool, ready: bool) -> CompressorIn {
        CompressorIn { valid_i: valid, line_i: line.copied().unwrap_or_default(), ready_i: ready }
    }

    fn compressor_out(out: &CompressorOut) -> Handshake<Compressed> {
        let form = |encoding| Compressed { encoding, size: out.size_o, payload: out.payload_o };
        let value = Encoding::from_tag(out.encoding_o).map(form);
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
