//! Parameters of the BDI compressor and decompressor.
use super::codec::BaseRule;
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

/// Maximum number of pipeline registers.
pub const MAX_DEPTH: usize = 5;

block_params! {
    /// Parameters of the compressor.
    pub struct BdiCompressorParams {
        /// Bytes of a line: 32, 64 or 128.
        line_bytes: usize = 128, Allowed::OneOf(&[32, 64, 128]);
        /// Takes the line's first word as the base, even if it is a short difference from zero.
        first_word: bool = false, Allowed::Switch;
        /// Number of registers from input to output, 1 to 5: the latency in cycles.
        pipeline_depth: usize = 2, Allowed::Range(1, MAX_DEPTH as u64);
    }
}

block_params! {
    /// Parameters of the decompressor.
    pub struct BdiDecompressorParams {
        /// Bytes of a line: 32, 64 or 128.
        line_bytes: usize = 128, Allowed::OneOf(&[32, 64, 128]);
        /// Number of registers from input to output, 1 to 5: the latency in cycles.
        pipeline_depth: usize = 2, Allowed::Range(1, MAX_DEPTH as u64);
    }
}

/// Returns the number of bits of a line or of its deltas, with tag, base and mask.
pub(super) const fn chosen_bits(line_bytes: usize) -> usize {
    8 * line_bytes + 4 + 64 + line_bytes / 2
}

impl BdiCompressorParams {
    /// Returns the rule that `first_word` chooses.
    pub const fn base(&self) -> BaseRule {
        if self.first_word { BaseRule::FirstWord } else { BaseRule::FirstFit }
    }

    pub(super) const fn line_bits(&self) -> usize {
        8 * self.line_bytes
    }

    /// Returns the width in bits of a payload size from 0 to `line_bytes`.
    pub(super) const fn size_bits(&self) -> usize {
        self.line_bytes.ilog2() as usize + 1
    }

    /// Returns the number of bits of the line with the bases and masks of all searches.
    pub(super) const fn searched_bits(&self) -> usize {
        let words = self.line_bytes / 2;
        // There are three masks for 8-byte words, two for 4-byte words, and one for 2-byte words.
        let masks = 3 * words / 4 + 2 * words / 2 + words;
        let bases = (64 + 32 + 16) + (32 + 16) + 16;
        self.line_bits() + bases + 3 + masks
    }
}

impl BdiDecompressorParams {
    pub(super) const fn line_bits(&self) -> usize {
        8 * self.line_bytes
    }

    pub(super) const fn chosen_bits(&self) -> usize {
        chosen_bits(self.line_bytes)
    }
}
