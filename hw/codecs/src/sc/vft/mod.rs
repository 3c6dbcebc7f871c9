//! The value-frequency table (VFT) of SC: counts how often 32-bit values occur in the words of accessed lines.
//!
//! Source: LATTE-CC, section IV.C.2: 1024 entries with 12-bit counters. An experimental phase fills them, then they are
//! read.
//!
//! ```text
//!  train_value_i -> XOR of slices -+-> set memory -> [hit: count, halve if full] -> set memory
//!                                  |                 [miss: replace the smallest] -> lost_o
//!                   \---------------> [number of words = sets?] -----------> enough_o
//!  read_index_i  ------------------/              -> [pick way] -> read_value_o, read_count_o
//! ```
//!
//! Choices where the paper is silent:
//! - The table is 4-way set-associative. The set of a value is the XOR of its slices ([`set_of`](super::set_of)). An entry
//!   stores only the tag, the rest of the value.
//! - A word whose value has an entry increments its count. If the count has its maximum (4095), all four counts of the
//!   set are first halved and rounded down. An entry whose count becomes zero no longer exists.
//! - A word whose value has no entry replaces the entry with the smallest count in its set. Among several, it replaces the
//!   one in the lowest way. An entry that does not exist has count zero. The new entry has count 1.
//! - `lost_o` is the sum of the counts of replaced entries, up to 16,383. Until a set is halved, the sum of all counts and
//!   `lost_o` is the number of words. Therefore `lost_o` is the weight of the escape symbol. An experimental phase of 256
//!   accesses has 8,192 words.
//! - `enough_o` is high once the number of words since the last clear reaches the number of sets, 256 by default. Codes are
//!   built only then; otherwise the current codes stay in use. An empty table would give a book that codes nothing, and few
//!   words would give random codes. The bound cannot be higher: the shortest experimental phase, 256 accesses in 256
//!   cycles, has time for 256 words.
//! - The table takes one word per cycle. A read of an entry has priority over a word, which then waits. Words are counted in
//!   the order in which they are taken. A read sees all words that were taken before it.
//! - A clear takes effect at once: it also drops words in flight, and no word is taken in its cycle.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `entries` | 1024 | 64, 1024 | entries, each for one value |
//!
//! # Ports and timing
//! All outputs come from registers, except `train_ready_o`, which is low while `read_i` or `clear_i` is high. An index
//! consists of a set (high bits) and a way (low two bits).
//!
//! ```text
//! clk_i          __/--\__/--\__/--\__/--\__/--\__
//! train_valid_i  __/-----------\_________________
//! train_value_i  ==< A  >< B  >==================   one word per cycle, of the same set or of different ones
//! read_i         ______________/-----\___________
//! train_ready_o  --------------\_____/-----------
//! read_valid_o   __________________________/-----   the entry with A and B counted
//! read_count_o   ==========================< n >=   keeps its value until the next read
//! lost_o         ==========================< m >=   two cycles after the word
//! enough_o       __________________________/-----   if B makes the number of words equal to the number of sets
//! ```
//!
//! # Storage
//! The paper states 5.5 KB: 1024 entries of 32 + 12 bits. The memory here has 36 bits per entry, because the set determines
//! eight bits of the value: 36,864 bits, 8,192 less. The other registers are:
//! - a valid bit per set, which reset and clear act on (256); an entry in a valid set exists if its count is not zero,
//! - the operation in the second stage (37),
//! - the set that was read and the set that was written last, for a word of the same set in the next cycle (144 each),
//! - the lost count (14), the number of words and the `enough_o` flag (9), and the reply (45).

mod model;
mod params;
#[cfg(test)]
mod properties;
mod rtl;
mod stimulus;

pub use model::{Effect, ValueCount, VftModel};
pub use params::{COUNT_BITS, COUNT_MAX, LOST_BITS, LOST_MAX, VftParams};
pub use rtl::{ScVftTop, VftIn, VftOut};

use super::WORD_BITS;
use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StatedStorage, StimulusIter, Storage};
use selvedge_hw::corners::Corners;
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::ports::Payload;
use selvedge_hw::wave_event::WaveEvent;

/// The value-frequency table; see the [module](self).
pub struct ScVft;

impl HwBlock for ScVft {
    const NAME: &'static str = "sc_vft";
    const SUMMARY: &'static str =
        "counts 32-bit values in a set-associative table that keeps the frequent ones";
    const MODULE: &'static str = concat!(include_str!("mod.rs"), include_str!("../mod.rs"));
    const SOURCE: &'static str = "LATTE-CC, section IV.C.2";
    const PARAMS: &'static [ParamSpec] = VftParams::SPECS;
    const CLAIM: Option<StatedStorage> =
        Some(StatedStorage { bits: 45_056, source: "LATTE-CC, section IV.C.2" });
    const PAYLOADS: &'static [Payload] =
        &[Payload { valid: "read_valid_o", ports: &["read_value_o", "read_count_o"] }];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("training", &["train_valid_i", "train_ready_o"], &["train_value_i"]),
        WaveEvent::item("read", &["read_valid_o"], &["read_value_o", "read_count_o"]),
        WaveEvent::decision("enough", &["enough_o"], &[]),
    ];
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
                Storage { name: "words counted, enough flag", bits: params.set_bits() + 1 },
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
        assert_eq!(facts.storage_bits(), 36_864 + 256 + 37 + 288 + 14 + 9 + 45);
    }

    #[test]
    fn a_parameter_out_of_range_is_refused_with_what_is_allowed() {
        let error = ScVft::model(&VftParams { entries: 100 }).unwrap_err().to_string();
        assert_eq!(error, "sc_vft: parameter 'entries' = '100': must be 64, 1024");
    }
}
