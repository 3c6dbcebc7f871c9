//! Codecs of the GPU: an algorithm with its two blocks ([`Codec`]), the queues of a block ([`CodecStage`]), and compressed
//! lines ([`Form`]).
mod bpc;
mod form;
mod line_codecs;
mod line_forms;
mod ratios;
mod sc;
mod stage;

pub use bpc::Bpc;
pub use form::{Form, L1D_TAG_BITS, L2_TAG_BITS};
pub use line_codecs::{Bdi, Cpack, Fpc};
pub use line_forms::{Algorithm, CodecChoice, LineForms};
pub use ratios::Ratios;
pub use sc::{Coded, Sc};
pub use stage::{CodecStage, Compressing, Decompressing, WrongValue};

use selvedge_hw::HwBlock;
use selvedge_hw_codecs::line::Line;
use selvedge_state::State;

/// Bytes of a line. Mechanisms with codecs reject configurations with other lines.
pub const LINE_BYTES: usize = 128;

/// Bytes of a sub-block, the unit of allocation in a compressed cache.
pub const SUB_BLOCK_BYTES: usize = 32;

/// The outputs of a codec's block in a cycle.
#[derive(Clone, Copy, Debug)]
pub struct Handshake<T> {
    /// `true` if the block takes the offered input.
    pub takes: bool,
    /// `true` if the block gives a result.
    pub gives: bool,
    /// The result; none if the outputs are invalid.
    pub value: Option<T>,
}

/// A compression algorithm: the compressed form of a line, and the ports of its compressor and its decompressor.
pub trait Codec {
    /// A compressed line.
    type Form: Copy + PartialEq + State + Send;
    /// The compressor.
    type Compressor: HwBlock;
    /// The decompressor.
    type Decompressor: HwBlock;

    /// Returns the compressor's inputs: the line on its data port, `valid` if it is offered, and `ready` if the output is taken.
    fn compressor_in(line: Option<&Line>, valid: bool, ready: bool) -> <Self::Compressor as HwBlock>::In;

    /// Returns the compressor's outputs in the common form.
    fn compressor_out(out: &<Self::Compressor as HwBlock>::Out) -> Handshake<Self::Form>;

    /// Returns the decompressor's inputs: the form on its data ports, `valid` if it is offered, `ready` if the output is taken.
    fn decompressor_in(
        form: Option<&Self::Form>,
        valid: bool,
        ready: bool,
    ) -> <Self::Decompressor as HwBlock>::In;

    /// Returns the decompressor's outputs in the common form.
    fn decompressor_out(out: &<Self::Decompressor as HwBlock>::Out) -> Handshake<Line>;
}
