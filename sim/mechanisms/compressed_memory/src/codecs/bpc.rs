//! Connects BPC's blocks.
use super::{Codec, Handshake};
use selvedge_hw_codecs::bpc::{
    BpcCompressed, BpcCompressor, BpcDecompressor, CompressorIn, CompressorOut, DecompressorIn,
    DecompressorOut,
};
use selvedge_hw_codecs::line::Line;

/// The codec BPC.
pub struct Bpc;

impl Codec for Bpc {
    type Form = BpcCompressed;
    type Compressor = BpcCompressor;
    type Decompressor = BpcDecompressor;

    fn compressor_in(line: Option<&Line>, valid: bool, ready: bool) -> CompressorIn {
        CompressorIn { valid_i: valid, line_i: line.copied().unwrap_or_default(), ready_i: ready }
    }

    fn compressor_out(out: &CompressorOut) -> Handshake<BpcCompressed> {
        let form = BpcCompressed { compressed: out.compressed_o, size: out.size_o, payload: out.payload_o };
        Handshake { takes: out.ready_o, gives: out.valid_o, value: Some(form) }
    }

    fn decompressor_in(form: Option<&BpcCompressed>, valid: bool, ready: bool) -> DecompressorIn {
        DecompressorIn {
            valid_i: valid,
            compressed_i: form.is_some_and(|form| form.compressed),
            payload_i: form.map_or_else(Line::default, |form| form.payload),
            ready_i: ready,
        }
    }

    fn decompressor_out(out: &DecompressorOut) -> Handshake<Line> {
        let value = (!out.error_o).then_some(out.line_o);
        Handshake { takes: out.ready_o, gives: out.valid_o, value }
    }
}
