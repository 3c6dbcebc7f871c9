//! SC's compressor: encodes a cache line as the Huffman codes of its words.
//!
//! Source: LATTE-CC, section IV.C.2 (7 KB of table, 6 cycles per line). The [family's page](super) defines entries, codes
//! and payloads.
//!
//! ```text
//!                        words that wait for a bank                               fields of a group            payload register
//!                           v              |                                        v                         v
//!  line_i -> [ line ] -> group of 8 -> [ 8 banks ] -> 8 x { code, or escape and word } -> [ ... ] -> join -> shift -> [ ... ] -> payload_o
//!                                          ^ write                                                  bits so far ----^
//!  load_*_i -> reverse code, write one way of a set
//!
//!  loading:  run --a code is offered--> drain --nothing in flight--> clear (32 cycles) --> load --last code--> run
//!                                                                      ^---- a first code in the middle ---|
//! ```
//!
//! The compressor looks up the line in groups of `symbols_per_cycle` words. In a cycle, each bank looks up one word of the
//! group: the first one that maps to it and is not looked up yet. Equal words share the lookup; others wait for the next
//! cycle. A word without a table entry is encoded as the code of the escape and the word itself, at most 48 bits. When all
//! words of a group are encoded, their bits are joined and appended to the payload register, which is also the output
//! register. A line stays uncompressed if its codes need more than 1,024 bits, or if a word has no code and the escape has
//! none. All lines stay uncompressed until codes have been loaded.
//!
//! Choices where the paper is silent:
//! - The paper counts the table once, but 32 words in six cycles need more lookups than one table has ports. The table is
//!   therefore cut into eight banks of 32 rows. The bank of a set is the XOR of the three-bit slices of its index, which
//!   spreads values at a constant stride. A row is a set. Its four ways are four memories with one read address, because a
//!   code is written into one way. All memories are read synchronously.
//! - The memories cannot be cleared at once, and codes come rarely (once in 2,560 accesses of the cache). Before codes are
//!   taken, one row of all banks is cleared per cycle.
//! - A code stream waits until the lines in flight have left, and lines wait until the stream has ended. Outside a stream,
//!   the next code begins one, marked as first or not. A code marked as first in the middle of a stream begins a new one.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `symbols_per_cycle` | 8 | 4, 8 | words per group |
//!
//! # Ports and timing
//! Lines, payloads and codes are valid/ready streams. `load_ready_o` depends on `load_first_i` in the same cycle; no other
//! output depends on an input. While `valid_o` is low, `payload_o` and `bits_o` show the part that is packed so far.
//!
//! ```text
//! 8 words     0     1     2     3     4     5     6     7
//! clk_i     /--\__/--\__/--\__/--\__/--\__/--\__/--\__/--\__
//! valid_i   /-----------------------------------\___________    no word waits for a bank
//! line_i    < A  >< B                         >============
//! ready_o   ------\_______________________/-----\___________
//! lookup    <w0-7><8-15><16- ><24- >      <w0-7><8-15> ...
//! codes           <w0-7><8-15><16- ><24- >      <w0-7> ...
//! packing               <w0-7><8-15><16- ><24- >      <w0-7>
//! valid_o   ____________________________________/-----\_____
//! payload_o =========================<incomplete>< A  >=====
//! ```
//!
//! A line takes 32 / `symbols_per_cycle` + 2 cycles: 6 at the default, as in the paper. Each time that words of a group wait
//! for a bank takes one more cycle. The maximum is 34 cycles. The next line is taken one cycle before the payload shows. If
//! a payload is not taken, the first group of the next line is looked up, and then that line waits.
//!
//! Cycles per line, measured over the lines that the built-in workloads read at their smallest size: minimum 6 (one line in
//! six), median 11, mean 10.2, maximum 20. Nine of ten lines take at most 13 cycles, and 99 of 100 at most 15. The lines of
//! the slowest workload take 12.4 cycles on average. The eight words of a group are mostly all different.
//!
//! # Storage
//! The paper states 7 KB, 57,344 bits: 1,024 entries of 56 bits. The table here has 46,080 bits. An entry needs 24 bits of
//! the value, because the set determines the rest, 16 bits of code, and 5 bits of length; length 0 means no entry. The line
//! and the payload (1,024 each), the codes of a group (432) and the control complete the total of 48,848.

mod model;
mod params;
#[cfg(test)]
mod properties;
mod rtl;
pub(in crate::sc) mod stimulus;

pub use model::ScCompressorModel;
pub use params::ScCompressorParams;
pub use rtl::{CompressorIn, CompressorOut, ScCompressorTop};

use super::{ENTRIES, LINE_BITS, MAX_CODE_BITS, WORDS, words_of};
use crate::line::{Line, PAYLOAD_FORMS};
use params::{BANKS, GROUPS_BITS, bank_of};
use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StatedStorage, StimulusIter, Storage};
use selvedge_hw::corners::{Corners, PortCorners};
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::ports::Payload;
use selvedge_hw::value_names::ValueNames;
use selvedge_hw::wave_event::WaveEvent;
use std::collections::HashSet;

/// Bits of the tag: the part of a value that its set does not determine.
const TAG_BITS: usize = 24;

/// Bits of a table entry: the tag, 16 of code and 5 of length.
const ENTRY_BITS: usize = TAG_BITS + 16 + 5;

/// Returns the lookup cycles of each group: the number of different words in its busiest bank.
fn lookups(line: &Line, words_per_group: usize) -> impl Iterator<Item = usize> {
    let words = words_of(line);
    (0..WORDS).step_by(words_per_group).map(move |begin| {
        let distinct: HashSet<u32> = words[begin..][..words_per_group].iter().copied().collect();
        let mut busy = [0; BANKS];
        distinct.iter().for_each(|word| busy[bank_of(*word)] += 1);
        busy.into_iter().max().unwrap_or(0)
    })
}

/// The compressor; see the [module](self).
pub struct ScCompressor;

impl HwBlock for ScCompressor {
    const NAME: &'static str = "sc_compressor";
    const SUMMARY: &'static str = "compresses a cache line into the Huffman codes of its words";
    const MODULE: &'static str = concat!(include_str!("mod.rs"), include_str!("../mod.rs"));
    const SOURCE: &'static str = "LATTE-CC, section IV.C.2";
    const PARAMS: &'static [ParamSpec] = ScCompressorParams::SPECS;
    const CLAIM: Option<StatedStorage> =
        Some(StatedStorage { bits: 7 * 1024 * 8, source: "LATTE-CC, section IV.C.2" });
    /// Lines. With stalls and code streams, a wide block takes about fifteen cycles for each.
    const OPERATIONS: u64 = 20_000;
    const PAYLOADS: &'static [Payload] =
        &[Payload { valid: "valid_o", ports: &["compressed_o", "bits_o", "payload_o"] }];
    const VALUE_NAMES: &'static [ValueNames] = &[PAYLOAD_FORMS];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("line_in", &["valid_i", "ready_o"], &["line_i"]),
        WaveEvent::item("payload_out", &["valid_o", "ready_i"], &["compressed_o", "bits_o"]),
        WaveEvent::decision("new_codes", &["load_valid_i", "load_ready_o", "load_last_i"], &[]),
    ];
    type Params = ScCompressorParams;
    type In = CompressorIn;
    type Out = CompressorOut;
    type Model = ScCompressorModel;

    fn model(params: &ScCompressorParams) -> Result<ScCompressorModel, ParamError> {
        Self::validate(params)?;
        Ok(ScCompressorModel::new(params))
    }
    fn rtl(
        params: &ScCompressorParams,
    ) -> Result<Box<dyn RtlBlock<CompressorIn, CompressorOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::compressor(params))
    }
    fn facts(params: &ScCompressorParams) -> Facts {
        let words = params.symbols_per_cycle as usize;
        Facts {
            storage: vec![
                Storage { name: "codes", bits: ENTRIES * ENTRY_BITS },
                Storage { name: "code and length of the escape", bits: 16 + 5 },
                Storage { name: "state of loading", bits: 2 + 5 + 2 },
                Storage { name: "line", bits: LINE_BITS },
                Storage { name: "words to look up", bits: 1 + GROUPS_BITS + words },
                Storage {
                    name: "words that are looked up",
                    bits: BANKS * TAG_BITS + words * (3 + 1) + GROUPS_BITS + 2,
                },
                Storage { name: "codes of a group of words", bits: words * (48 + 6) },
                Storage { name: "state of packing", bits: 3 + 1 },
                Storage { name: "payload, its size and flags", bits: LINE_BITS + 11 + 2 },
            ],
            latency: params.groups() + 2,
            interval: params.groups() + 1,
        }
    }
    fn stimulus(params: &ScCompressorParams, seed: u64) -> StimulusIter<CompressorIn> {
        Box::new(stimulus::compressor(params, seed))
    }
    fn corners(params: &ScCompressorParams) -> Box<dyn Corners<CompressorIn, CompressorOut>> {
        let given = |i: &CompressorIn, o: &CompressorOut| o.valid_o && i.ready_i;
        let taken = |i: &CompressorIn, o: &CompressorOut| i.load_valid_i && o.load_ready_o;
        let full = LINE_BITS as u16;
        let longest = MAX_CODE_BITS as u8;
        let words = params.symbols_per_cycle as usize;
        let offered = |i: &CompressorIn, o: &CompressorOut| i.valid_i && o.ready_o;
        Box::new(
            PortCorners::new(given)
                .with("compressed", 2000, move |i, o| given(i, o) && o.compressed_o)
                // Codes alone take at most 16 bits per word, half of the line.
                .with("escapes", 2000, move |i, o| given(i, o) && o.compressed_o && o.bits_o > full / 2)
                .with("the last bit is used", 100, move |i, o| {
                    given(i, o) && o.compressed_o && o.bits_o == full
                })
                .with("kept as it is", 2000, move |i, o| given(i, o) && !o.compressed_o)
                .with("words wait for a bank", 2000, move |i, o| {
                    offered(i, o) && lookups(&i.line_i, words).any(|cycles| cycles > 1)
                })
                .with("payload waits", 2000, |i, o| o.valid_o && !i.ready_i)
                .with("line waits for codes", 100, |i, o| i.valid_i && o.load_ready_o)
                .with("codes wait for a payload", 10, |i, o| i.load_valid_i && o.valid_o && !o.load_ready_o)
                .with("codes arrive", 20, move |i, o| taken(i, o) && i.load_last_i)
                .with("the escape alone", 1, move |i, o| {
                    taken(i, o) && i.load_first_i && i.load_last_i && i.load_escape_i
                })
                .with("the longest code", 10, move |i, o| taken(i, o) && i.load_length_i == longest),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_the_sum_that_the_module_states() {
        let facts = ScCompressor::facts(&ScCompressorParams::default());
        assert_eq!(facts.storage_bits(), 48_848);
        assert_eq!(facts.storage[0].bits, 46_080);
    }

    #[test]
    fn a_parameter_that_is_not_allowed_is_refused_with_those_that_are() {
        let error =
            ScCompressor::model(&ScCompressorParams { symbols_per_cycle: 2 }).unwrap_err().to_string();
        assert_eq!(error, "sc_compressor: parameter 'symbols_per_cycle' = '2': must be 4, 8");
    }
}
