//! Codecs at work in the GPU: an algorithm with its two blocks ([`Codec`]), queues before each of them ([`CodecStage`]), and lines
//! in their compressed forms ([`Form`]).
mod bdi;
mod bpc;
mod cpack;
mod form;
mod fpc;
mod line_forms;
mod ratios;
mod sc;
mod stage;

pub use bdi::Bdi;
pub use bpc::Bpc;
pub use cpack::Cpack;
pub use form::{Form, L1D_TAG_BITS, L2_TAG_BITS};
pub use fpc::Fpc;
pub use line_forms::{Algorithm, Choice, LineForms};
pub use ratios::Ratios;
pub use sc::{Coded, Sc};
pub use stage::{CodecStage, Compressing, Decompressing, WrongValue};

use selvedge_blocks::line::Line;
use selvedge_hw::HwBlock;
use selvedge_state::State;

/// Bytes of a line; a configuration with others is refused.
pub const LINE_BYTES: usize = 128;

/// Bytes of a sub-block, the unit of room in a cache and of bursts in DRAM.
pub const SUB_BLOCK_BYTES: usize = 32;

/// What a codec's ports show in a cycle.
#[derive(Clone, Copy, Debug)]
pub struct Handshake<T> {
    /// The block takes what is offered to it.
    pub takes: bool,
    /// It gives something.
    pub gives: bool,
    /// What it gives; none for what no codec makes.
    pub value: Option<T>,
}

/// A compression algorithm: its form of a line, and the ports of its compressor and its decompressor.
pub trait Codec {
    /// A compressed line.
    type Form: Copy + PartialEq + State + Send;
    /// The compressor.
    type Compressor: HwBlock;
    /// The decompressor.
    type Decompressor: HwBlock;

    /// Returns the compressor's inputs: the line on its data port, whether it is offered, and whether the output is taken.
    fn compressor_in(line: Option<&Line>, valid: bool, ready: bool) -> <Self::Compressor as HwBlock>::In;

    /// Returns what the compressor's outputs say.
    fn compressor_out(out: &<Self::Compressor as HwBlock>::Out) -> Handshake<Self::Form>;

    /// Returns the decompressor's inputs: the form on its data ports, whether it is offered, and whether the output is taken.
    fn decompressor_in(
        form: Option<&Self::Form>,
        valid: bool,
        ready: bool,
    ) -> <Self::Decompressor as HwBlock>::In;

    /// Returns what the decompressor's outputs say.
    fn decompressor_out(out: &<Self::Decompressor as HwBlock>::Out) -> Handshake<Line>;
}
