//! The value-frequency table (VFT) of SC: counts how often 32-bit values occur in the lines that it is trained with.
//!
//! Source: LATTE-CC, section IV.C.2: 1024 entries with 12-bit counters, filled during one experimental phase, then read.
//!
//! ```text
//!  train_value_i -> XOR of slices -+-> set memory -> [hit: count, halve if full] -> set memory
//!                                  |                 [miss: replace the smallest] -> lost_o
//!  read_index_i  ------------------/              -> [pick way] -> read_value_o, read_count_o
//! ```
//!
//! Choices where the paper is silent:
//! - The table is 4-way set-associative; the set of a value is the XOR of its slices ([`set_of`](super::set_of)). Of the
//!   value only the rest, the tag, is kept.
//! - A word whose value has an entry increments its count. If the count is full (4095), all four counts of the set are
//!   halved first, rounded down; an entry whose count becomes zero is gone.
//! - A word whose value has none replaces the entry with the smallest count of its set, the lowest way of several; an entry
//!   that does not exist has count zero. The new entry counts 1.
//! - `lost_o` adds up the counts of replaced entries, up to 16,383. So as long as no set was halved, all counts and `lost_o`
//!   together are the number of words: `lost_o` is the weight of the escape symbol. An experimental phase of 256 accesses
//!   has 8,192 words.
//! - One word per cycle. Reading an entry goes before a word, which then waits. Words are counted in the order in which they
//!   are taken, and a read sees all that were taken before it.
//! - A clear takes effect at once: words in flight are forgotten too, and no word is taken in its cycle.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `entries` | 1024 | 64, 1024 | values that are counted |
//!
//! # Ports and timing
//! All outputs come from registers but `train_ready_o`, which is low while `read_i` or `clear_i` is high. An index is a set
//! (high bits) and a way (low two bits).
//!
//! ```text
//! clk_i          __/--\__/--\__/--\__/--\__/--\__
//! train_valid_i  __/-----------\_________________
//! train_value_i  ==< A  >< B  >==================   one word per cycle, of one set or of several
//! read_i         ______________/-----\___________
//! train_ready_o  --------------\_____/-----------
//! read_valid_o   __________________________/-----   the entry with A and B counted
//! read_count_o   ==========================< n >=   keeps its value until the next read
//! lost_o         ==========================< m >=   two cycles after the word
//! ```
//!
//! # Storage
//! The paper counts 5.5 KB, 1024 entries of 32 + 12 bits. The memory here has 36 bits per entry, because the set gives eight
//! bits of the value: 36,864 bits, 8,192 less. Besides it stand a valid bit per set, which reset and clear act on (256; an
//! entry in a valid set exists if its count is not zero), the operation in the second stage (37), the set that was read and the
//! set that was written last, for a word of the same set that comes right behind (144 each), the lost count (14) and the
//! reply (45).

mod model;
mod rtl;
mod stimulus;

pub use model::{Effect, Entry, VftModel};
pub use rtl::{ScVftTop, VftIn, VftOut};

use super::WORD_BITS;
use selvedge_hw::block::{Claim, Facts, HwBlock, RtlBlock, StimulusIter, Storage};
use selvedge_hw::block_params;
use selvedge_hw::corners::Corners;
use selvedge_hw::params::{Allowed, ParamError, ParamSpec};
use selvedge_hw::ports::Payload;

/// Bits of a count.
pub const COUNT_BITS: usize = 12;

/// The largest count.
pub const COUNT_MAX: u16 = (1 << COUNT_BITS) - 1;

/// Bits of the lost count.
pub const LOST_BITS: usize = 14;

/// The largest lost count.
pub const LOST_MAX: u16 = (1 << LOST_BITS) - 1;

block_params! {
    /// Parameters of a value-frequency table.
    pub struct VftParams {
        /// Values that are counted.
        entries: usize = 1024, Allowed::OneOf(&[64, 1024]);
    }
}

impl VftParams {
    /// Width of an entry's index.
    pub const fn index_bits(&self) -> usize {
        self.entries.ilog2() as usize
    }

    /// Width of a set's number.
    pub const fn set_bits(&self) -> usize {
        self.index_bits() - 2
    }

    /// What is kept of a value.
    const fn tag_bits(&self) -> usize {
        WORD_BITS - self.set_bits()
    }
}

/// The value-frequency table; see the [module](self).
pub struct ScVft;

impl HwBlock for ScVft {
    const NAME: &'static str = "sc_vft";
    const SUMMARY: &'static str =
        "counts 32-bit values in a set-associative table that keeps the frequent ones";
    const MODULE: &'static str = concat!(include_str!("mod.rs"), include_str!("../mod.rs"));
    const SOURCE: &'static str = "LATTE-CC, section IV.C.2";
    const PARAMS: &'static [ParamSpec] = VftParams::SPECS;
    const CLAIM: Option<Claim> = Some(Claim { bits: 45_056, source: "LATTE-CC, section IV.C.2" });
    const PAYLOADS: &'static [Payload] =
        &[Payload { valid: "read_valid_o", ports: &["read_value_o", "read_count_o"] }];
    type Params = VftParams;
    type In = VftIn;
    type Out = VftOut;
    type Model = VftModel;

    fn model(params: &VftParams) -> Result<VftModel, ParamError> {
        Self::validate(params)?;
        Ok(VftModel::new(params))
    }
    fn rtl(params: &VftParams) -> Result<Box<dyn RtlBlock<VftIn, VftOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::vft(params))
    }
    fn facts(params: &VftParams) -> Facts {
        let entry = params.tag_bits() + COUNT_BITS;
        Facts {
            storage: vec![
                Storage { name: "tags and counts", bits: params.entries * entry },
                Storage { name: "valid sets", bits: params.entries / super::WAYS },
                Storage { name: "operation in the second stage", bits: 2 + WORD_BITS + 2 + 1 },
                Storage {
                    name: "set that was read, set that was written last",
                    bits: 2 * super::WAYS * entry,
                },
                Storage { name: "lost count", bits: LOST_BITS },
                Storage { name: "answer and its valid flag", bits: WORD_BITS + COUNT_BITS + 1 },
            ],
            latency: 2,
            interval: 1,
        }
    }
    fn stimulus(params: &VftParams, seed: u64) -> StimulusIter<VftIn> {
        Box::new(stimulus::vft(params, seed))
    }
    fn corners(params: &VftParams) -> Box<dyn Corners<VftIn, VftOut>> {
        Box::new(stimulus::VftCorners::new(params))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_the_sum_that_the_module_states() {
        let facts = ScVft::facts(&VftParams::default());
        assert_eq!(facts.storage_bits(), 36_864 + 256 + 37 + 288 + 14 + 45);
    }

    #[test]
    fn a_parameter_out_of_range_is_refused_with_what_is_allowed() {
        let error = ScVft::model(&VftParams { entries: 100 }).unwrap_err().to_string();
        assert_eq!(error, "sc_vft: parameter `entries` = `100`: must be 64, 1024");
    }
}
