//! Connects FPC's blocks.
use super::{Codec, Handshake};
use selvedge_hw_codecs::fpc::{
    Compressed, CompressorIn, CompressorOut, DecompressorIn, DecompressorOut, FpcCompressor, FpcDecompressor,
};
use selvedge_hw_codecs::line::Line;

/// The codec FPC.
pub struct Fpc;

impl Codec for Fpc {
    type Form = Compressed;
    type Compressor = FpcCompressor;
    type Decompressor = FpcDecompressor;

    fn compressor_in(line: Option<&Line>, valid: bool, ready: bool) -> CompressorIn {
        CompressorIn { valid_i: valid, line_i: line.copied().unwrap_or_default(), ready_i: ready }
    }

    fn compressor_out(out: &CompressorOut) -> Handshake<Compressed> {
        let form = Compressed { compressed: out.encoding_o == 1, bits: out.size_o, payload: out.payload_o };
        let value = (out.encoding_o <= 1).then_some(form);
        Handshake { takes: out.ready_o, gives: out.valid_o, value }
    }

    fn decompressor_in(form: Option<&Compressed>, valid: bool, ready: bool) -> DecompressorIn {
        DecompressorIn {
            valid_i: valid,
            encoding_i: form.map_or(0, |form| u8::from(form.compressed)),
            payload_i: form.map_or_else(Line::default, |form| form.payload),
            ready_i: ready,
        }
    }

    fn decompressor_out(out: &DecompressorOut) -> Handshake<Line> {
        let value = (!out.error_o).then_some(out.line_o);
        Handshake { takes: out.ready_o, gives: out.valid_o, value }
    }
}
