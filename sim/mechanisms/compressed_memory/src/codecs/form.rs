//! The form in which a cache or DRAM stores a line.
use super::{Algorithm, Coded, LINE_BYTES, SUB_BLOCK_BYTES};
use selvedge_hw_codecs::bdi::units;
use selvedge_hw_codecs::{bdi, bpc, cpack, fpc};
use selvedge_state::State;

/// Bits of a tag of a compressed L1D in addition to address and valid bit: the line's encoding, and its number of sub-blocks.
pub const L1D_TAG_BITS: u32 = 4 + 3;

/// Bits of a tag of a compressed L2 in addition to address and valid bit: the line's encoding, and its number of bursts.
pub const L2_TAG_BITS: u32 = 4 + 2;

/// A stored line: uncompressed, or compressed by a codec.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub enum Form {
    /// Uncompressed.
    #[default]
    Raw,
    /// Compressed by BDI.
    Bdi(bdi::BdiCompressed),
    /// Compressed by FPC.
    Fpc(fpc::FpcCompressed),
    /// Compressed by C-Pack.
    Cpack(cpack::CpackCompressed),
    /// Compressed by BPC.
    Bpc(bpc::BpcCompressed),
    /// Compressed by SC.
    Sc(Coded),
}

impl Form {
    /// Returns the algorithm that decompresses the line, if it is one of bandwidth compression.
    pub fn algorithm(&self) -> Option<Algorithm> {
        match self {
            Form::Bdi(_) => Some(Algorithm::Bdi),
            Form::Fpc(_) => Some(Algorithm::Fpc),
            Form::Cpack(_) => Some(Algorithm::Cpack),
            Form::Raw | Form::Bpc(_) | Form::Sc(_) => None,
        }
    }

    /// Returns the bytes of its payload.
    pub fn bytes(&self) -> usize {
        match self {
            Form::Raw => LINE_BYTES,
            Form::Bdi(form) => usize::from(form.size),
            Form::Fpc(form) => usize::from(form.bits).div_ceil(8),
            Form::Cpack(form) => usize::from(form.bits).div_ceil(8),
            Form::Bpc(form) => usize::from(form.size),
            Form::Sc(form) => usize::from(form.bits).div_ceil(8),
        }
    }

    /// Returns the number of 32-byte sub-blocks of the payload, 1 to 4.
    pub fn sub_blocks(&self) -> u32 {
        units(self.bytes()) as u32
    }

    /// Returns the number of DRAM bursts of `burst_bytes` of the payload, at least one.
    pub fn bursts(&self, burst_bytes: u32) -> u32 {
        (self.bytes() as u32).div_ceil(burst_bytes).max(1)
    }

    /// Returns the form if it takes fewer sub-blocks than the uncompressed line, else [`Form::Raw`], which needs no decompressor.
    pub fn if_smaller(self) -> Self {
        self.if_saves(SUB_BLOCK_BYTES as u32)
    }

    /// Returns the form if it takes fewer bursts of `burst_bytes` than the uncompressed line, else [`Form::Raw`].
    pub fn if_saves(self, burst_bytes: u32) -> Self {
        if self.bursts(burst_bytes) < Form::Raw.bursts(burst_bytes) { self } else { Form::Raw }
    }
}
