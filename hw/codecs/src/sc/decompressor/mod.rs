//! SC's decompressor: rebuilds a cache line from the Huffman codes of its words.
//!
//! Source: LATTE-CC, section IV.C.2 (3 KB of look-up table, 14 cycles per line). The [family's page](super) defines entries,
//! codes and payloads.
//!
//! ```text
//!  payload_i -> [ payload ] -> next block -> length at each of 32 bits -> [ lengths of two blocks ] -+
//!                                                                                                    v
//!            begin -> code -> code -> code -> code -> next begin      one cycle: a mark moves by the lengths
//!                      v       v       v       v
//!            [ codes ] -> ranks, raw word -> [ places ] -> 8 banks of values -> [ read ] -> [ line ] -> line_o
//!                                                ^ words that wait for a bank
//! ```
//!
//! The decompressor takes a payload in blocks of 32 bits. For each bit of a block it finds the length of the code that would
//! begin there. It compares the next 16 bits with the ends of the codes of each length, for all bits at once. So the chain
//! from code to code needs no comparison. The position of the next code is a mark among the 64 bits of two blocks. A code
//! moves the mark by the length that is known at its bit. Up to `symbols_per_cycle` codes are passed per cycle. An escape is
//! the last code of its cycle. When the mark leaves the first block, the next block is taken.
//!
//! In the next cycle, one addition computes the rank of each code from its last 11 bits (the codes are canonical). Then the
//! values are read. In the cycle after that they go into the line, which is also the output register.
//!
//! Choices where the paper is silent:
//! - Ends, bases and ranks follow from the order of the code stream alone. The index of an entry is not needed and has no
//!   port. The value of the n-th code is at address n. The escape has an address, but no value. Only a full table has a rank
//!   beyond the last address; its value is at the address of the escape.
//! - The values are stored once, in eight banks that the lowest address bits select. Successive codes of the canonical
//!   order are in different banks, so that the eight most frequent values never conflict. Equal words share a read. A word
//!   whose bank gives another row waits for the next cycle, and so do the groups behind it.
//! - A payload may be wrong. If the next bits are no code, or if the 32 words need more bits than `bits_i`, the line is zero
//!   and `error_o` is high. Bits after the last word are ignored. Every cycle takes a word, ends the payload, or consumes a
//!   block. No payload takes more than 90 cycles.
//! - A code stream waits until the lines in flight have left, and payloads wait until the stream has ended. The first code
//!   of a stream removes all previous codes. Without codes, as after a reset, every compressed payload is an error.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `symbols_per_cycle` | 4 | 1, 2, 4 | maximum number of codes found per cycle |
//!
//! # Ports and timing
//! Payloads, lines and codes are valid/ready streams. All outputs come from registers. While `valid_o` is low, `line_o`
//! shows the part of the line that is rebuilt so far.
//!
//! ```text
//! 4 codes     0     1     2         8     9     10    11    12    13
//! clk_i     /--\__/--\__/--\__ ... /--\__/--\__/--\__/--\__/--\__/--\__
//! valid_i   /------------------ ... ------------\_______________________    A has no escape
//! payload_i < A  >< B               ...         >========================
//! ready_o   ------\____________ ... ______/-----\_______________________
//! codes           <w0-3><w4-7>  ... <28-31>     <w0-3>
//! places                <w0-3>  ...       <28-31>     <w0-3>
//! reads                         ...             <28-31>     <w0-3>
//! to line                       ...                   <28-31>     <w0-3>
//! valid_o   ___________________ ... ________________________/-----\_____
//! line_o    ====================< incomplete                >< A  >=====
//! ```
//!
//! A compressed line takes one cycle for each group of its words, four more cycles, and one for each time that a group waits
//! for a bank. A group ends with an escape, when it is full, or when the codes leave the two blocks. Codes of 8 bits consume
//! one block per cycle; of longer codes, fewer are found in a cycle. At the default, 32 words with short codes make 8 groups
//! and take 12 cycles. A line of 10 groups takes the paper's 14 cycles. An uncompressed line takes 2 cycles.
//!
//! Cycles per compressed line, measured over 813 lines of 20 code books that the stimulus draws. They have more escapes than
//! a cache with well-chosen codes would see (a test checks these numbers):
//!
//! | `symbols_per_cycle` | minimum | mean | maximum |
//! |---|---|---|---|
//! | 1 | 36 | 36.6 | 46 |
//! | 2 | 20 | 24.2 | 40 |
//! | 4 | 12 | 19.3 | 38 |
//!
//! # Storage
//! The paper states 3 KB, 24,576 bits, for the look-up table: 24 bits for each of 1,024 entries. That is enough for the part
//! of a value that its set does not determine. But a rank does not determine the set of its value, so an entry here has all
//! 32 bits: 32,768 bits in total. The rest consists of the payload and the line (1,024 each), the lengths and bits of two
//! blocks (448), the ends (152), bases (176) and ranks, and the content of the stages.

mod corners;
mod model;
mod params;
#[cfg(test)]
mod properties;
mod rtl;
mod stimulus;

pub use model::ScDecompressorModel;
pub use params::ScDecompressorParams;
pub use rtl::{DecompressorIn, DecompressorOut, ScDecompressorTop};

use super::{ENTRIES, LINE_BITS, MAX_CODE_BITS, WORD_BITS, WORDS};
use crate::line::PAYLOAD_FORMS;
use params::BLOCK_BITS;
use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StatedStorage, StimulusIter, Storage};
use selvedge_hw::corners::Corners;
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::ports::Payload;
use selvedge_hw::value_names::ValueNames;
use selvedge_hw::wave_event::WaveEvent;

/// Bits of a rank, the position of a code in the canonical order: 1,024 values and the escape.
const RANK_BITS: usize = 11;

/// The decompressor; see the [module](self).
pub struct ScDecompressor;

impl HwBlock for ScDecompressor {
    const NAME: &'static str = "sc_decompressor";
    const SUMMARY: &'static str = "rebuilds a cache line from the Huffman codes of its words";
    const MODULE: &'static str = concat!(include_str!("mod.rs"), include_str!("../mod.rs"));
    const SOURCE: &'static str = "LATTE-CC, section IV.C.2";
    const PARAMS: &'static [ParamSpec] = ScDecompressorParams::SPECS;
    const CLAIM: Option<StatedStorage> =
        Some(StatedStorage { bits: 3 * 1024 * 8, source: "LATTE-CC, section IV.C.2" });
    /// Lines. With stalls and code streams, a wide block takes about fifteen cycles for each.
    const OPERATIONS: u64 = 20_000;
    const PAYLOADS: &'static [Payload] = &[Payload { valid: "valid_o", ports: &["error_o", "line_o"] }];
    const VALUE_NAMES: &'static [ValueNames] = &[PAYLOAD_FORMS];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("payload_in", &["valid_i", "ready_o"], &["compressed_i", "bits_i"]),
        WaveEvent::item("line_out", &["valid_o", "ready_i"], &["line_o"]),
        WaveEvent::decision("error", &["valid_o", "ready_i", "error_o"], &[]),
        WaveEvent::decision("new_codes", &["load_valid_i", "load_ready_o", "load_last_i"], &[]),
    ];
    type Params = ScDecompressorParams;
    type In = DecompressorIn;
    type Out = DecompressorOut;
    type Model = ScDecompressorModel;

    fn model(params: &ScDecompressorParams) -> Result<ScDecompressorModel, ParamError> {
        Self::validate(params)?;
        Ok(ScDecompressorModel::new(params))
    }
    fn rtl(
        params: &ScDecompressorParams,
    ) -> Result<Box<dyn RtlBlock<DecompressorIn, DecompressorOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::decompressor(params))
    }
    fn facts(params: &ScDecompressorParams) -> Facts {
        let codes = params.symbols_per_cycle as usize;
        // The codes of length l end at one of 2^l positions, or beyond all of them.
        let ends: usize = (1..=MAX_CODE_BITS).map(|length| length + 1).sum();
        let place = 10;
        Facts {
            storage: vec![
                Storage { name: "values", bits: ENTRIES * WORD_BITS },
                Storage { name: "end of each length's codes", bits: ends },
                Storage { name: "rank of each length's codes", bits: MAX_CODE_BITS * RANK_BITS },
                Storage {
                    name: "code, length and rank of the escape",
                    bits: 1 + 2 * MAX_CODE_BITS + 5 + place,
                },
                Storage { name: "state of loading", bits: 2 + RANK_BITS },
                Storage { name: "payload and its size", bits: LINE_BITS + 11 },
                Storage { name: "bits and lengths of two blocks", bits: 2 * BLOCK_BITS * 7 },
                Storage { name: "state of decoding", bits: 2 + 80 + 6 + 6 },
                Storage { name: "codes that were found", bits: 8 * codes + 112 + 7 + 4 + 6 + 5 + 11 },
                Storage {
                    name: "words whose places are known",
                    bits: (place + 2) * codes + WORD_BITS + 5 + 3,
                },
                Storage { name: "words that are read", bits: (3 + 2) * codes + WORD_BITS + 5 + 3 },
                Storage { name: "line and flags", bits: LINE_BITS + 2 },
            ],
            latency: WORDS as u32 / params.symbols_per_cycle + 4,
            interval: WORDS as u32 / params.symbols_per_cycle + 1,
        }
    }
    fn stimulus(params: &ScDecompressorParams, seed: u64) -> StimulusIter<DecompressorIn> {
        Box::new(stimulus::decompressor(params, seed))
    }
    fn corners(_params: &ScDecompressorParams) -> Box<dyn Corners<DecompressorIn, DecompressorOut>> {
        Box::new(corners::ScDecompressorCorners::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_the_sum_that_the_module_states() {
        let facts = ScDecompressor::facts(&ScDecompressorParams::default());
        assert_eq!(facts.storage_bits(), 36_085);
        assert_eq!(facts.storage[0].bits, 32_768);
    }

    #[test]
    fn a_parameter_that_is_not_allowed_is_refused_with_those_that_are() {
        let error =
            ScDecompressor::model(&ScDecompressorParams { symbols_per_cycle: 3 }).unwrap_err().to_string();
        assert_eq!(error, "sc_decompressor: parameter 'symbols_per_cycle' = '3': must be 1, 2, 4");
    }
}
