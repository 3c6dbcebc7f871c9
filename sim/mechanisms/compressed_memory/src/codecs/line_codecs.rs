//! Connects the blocks of BDI, C-Pack and FPC, whose ports have the same names.
use super::{Codec, Handshake};
use selvedge_hw_codecs::line::Line;
use selvedge_hw_codecs::{bdi, cpack, fpc};

/// Declares a codec. `$form` makes the form from a compressor's outputs, and `$tag` gives the encoding's number of a form.
macro_rules! line_codec {
    ($(#[$doc:meta])* $name:ident, $module:ident, $form_type:ident, $compressor:ident, $decompressor:ident, $form:expr, $tag:expr) => {
        $(#[$doc])*
        pub struct $name;

        impl Codec for $name {
            type Form = $module::$form_type;
            type Compressor = $module::$compressor;
            type Decompressor = $module::$decompressor;

            fn compressor_in(line: Option<&Line>, valid: bool, ready: bool) -> $module::CompressorIn {
                $module::CompressorIn { valid_i: valid, line_i: line.copied().unwrap_or_default(), ready_i: ready }
            }

            fn compressor_out(out: &$module::CompressorOut) -> Handshake<$module::$form_type> {
                let form: fn(&$module::CompressorOut) -> Option<$module::$form_type> = $form;
                Handshake { takes: out.ready_o, gives: out.valid_o, value: form(out) }
            }

            fn decompressor_in(
                form: Option<&$module::$form_type>,
                valid: bool,
                ready: bool,
            ) -> $module::DecompressorIn {
                let tag: fn(&$module::$form_type) -> u8 = $tag;
                $module::DecompressorIn {
                    valid_i: valid,
                    encoding_i: form.map_or(0, tag),
                    payload_i: form.map_or_else(Line::default, |form| form.payload),
                    ready_i: ready,
                }
            }

            fn decompressor_out(out: &$module::DecompressorOut) -> Handshake<Line> {
                let value = (!out.error_o).then_some(out.line_o);
                Handshake { takes: out.ready_o, gives: out.valid_o, value }
            }
        }
    };
}

line_codec!(
    /// The codec BDI.
    Bdi,
    bdi,
    BdiCompressed,
    BdiCompressor,
    BdiDecompressor,
    |out| {
        let form = |encoding| bdi::BdiCompressed { encoding, size: out.size_o, payload: out.payload_o };
        bdi::BdiEncoding::from_tag(out.encoding_o).map(form)
    },
    |form| form.encoding.tag()
);

line_codec!(
    /// The codec C-Pack.
    Cpack,
    cpack,
    CpackCompressed,
    CpackCompressor,
    CpackDecompressor,
    |out| {
        let form = |&encoding| cpack::CpackCompressed { encoding, bits: out.size_o, payload: out.payload_o };
        cpack::CpackEncoding::ALL.get(usize::from(out.encoding_o)).map(form)
    },
    |form| form.encoding.tag()
);

line_codec!(
    /// The codec FPC.
    Fpc,
    fpc,
    FpcCompressed,
    FpcCompressor,
    FpcDecompressor,
    |out| {
        let form = fpc::FpcCompressed { compressed: out.encoding_o == 1, bits: out.size_o, payload: out.payload_o };
        (out.encoding_o <= 1).then_some(form)
    },
    |form| u8::from(form.compressed)
);
