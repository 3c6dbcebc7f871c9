//! SC's compressor: a cache line becomes the Huffman codes of its words.
//!
//! Source: LATTE-CC, section IV.C.2 (7 KB of table, 6 cycles per line). What entries, codes and payloads are: the
//! [family's page](super).
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
//! The line is looked up in groups of `symbols_per_cycle` words. In a cycle each bank looks for one word of the group: the
//! first one of those that are in it. Words that equal that one share its lookup; others wait for the next cycle. A word
//! without a table entry is given as the escape's code and itself, at most 48 bits. When the bits of all words of a group are
//! there, they are joined and put behind those of the groups before it, in the payload register, which is the output
//! register too. A line whose codes need more than its own 1,024 bits, or with a word for which there is neither code nor
//! escape, is given as it is; so is every line until codes have been loaded.
//!
//! Choices where the paper is silent:
//! - The paper counts the table once, but 32 words in six cycles are more lookups than one table has ports. The table is cut
//!   into eight banks of 32 rows. A set's bank is the XOR of the slices of three bits of its number: values that differ by a
//!   stride are spread so. A row is a set, and its four ways are four memories with one read address, because a code is
//!   written into one way. All are read by the clock.
//! - The memories cannot be cleared at once, and codes come seldom (once in 2,560 accesses of the cache): a row of all banks
//!   is cleared per cycle before the codes are taken.
//! - A code stream waits until the lines in flight have left, and lines wait until it has ended. The first code that is
//!   offered outside a stream begins one, marked or not; a first code in the middle of a stream begins it anew.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `symbols_per_cycle` | 8 | 4, 8 | words of a group |
//!
//! # Ports and timing
//! Lines and payloads are valid/ready streams, and so are the codes. `load_ready_o` depends on `load_first_i` in the same cycle;
//! no other output depends on an input. `payload_o` and `bits_o` show how far the packing has come while `valid_o` is low.
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
//! A line takes 32 / `symbols_per_cycle` + 2 cycles, 6 at the default, as in the paper, and one more for each time that words of
//! a group wait for a bank; at most 34. The next line is taken one cycle before the payload shows. If a payload is not
//! taken, the next line waits for its place with its first group looked up.
//!
//! Cycles per line, measured over the lines that the built-in workloads read at their smallest size: 6 for
//! one line in nine, 11 in the median, 10.9 on average, 14 or fewer for nine lines in ten, 16 or fewer for 99 of 100, at most 26.
//! The slowest workload's lines take 12.5 on average. The eight words of a group are mostly all different.
//!
//! # Storage
//! The paper counts 7 KB, 57,344 bits: 1,024 entries of 56 bits. The table here has 46,080: an entry needs 24 bits of
//! the value, as the set gives the rest, 16 of code and 5 of length; length 0 stands for no entry. The line and the payload
//! (1,024 each), a group's codes (432) and control make the rest of the 48,848.

mod model;
mod rtl;
mod stimulus;

pub use model::CompressorModel;
pub use rtl::{CompressorIn, CompressorOut, ScCompressorTop};

use super::{ENTRIES, LINE_BITS, MAX_CODE_BITS, SET_BITS, WORDS, set_of, words_of};
use crate::line::Line;
use selvedge_hw::block::{Claim, Facts, HwBlock, RtlBlock, StimulusIter, Storage};
use selvedge_hw::block_params;
use selvedge_hw::corners::{Corners, PortCorners};
use selvedge_hw::params::{Allowed, ParamError, ParamSpec};
use selvedge_hw::ports::Payload;
use std::collections::HashSet;

/// Bits of the counter of groups of words.
const GROUPS_BITS: usize = 3;

/// Banks of the table.
const BANKS: usize = 8;

/// Bits of a value that its set does not give.
const TAG_BITS: usize = 24;

/// Bits of a table entry: the tag, 16 of code and 5 of length.
const ENTRY_BITS: usize = TAG_BITS + 16 + 5;

block_params! {
    /// Parameters of the compressor.
    pub struct CompressorParams {
        /// Words of a group, which is looked up and packed in a cycle unless words wait for a bank: 4 or 8.
        symbols_per_cycle: u32 = 8, Allowed::OneOf(&[4, 8]);
    }
}

impl CompressorParams {
    /// Groups of words in a line.
    fn groups(&self) -> u32 {
        WORDS as u32 / self.symbols_per_cycle
    }
}

/// The bank of a word: the XOR of three slices of its set's number.
fn bank_of(word: u32) -> usize {
    let set = set_of(word, SET_BITS) as usize;
    (set ^ set >> 3 ^ set >> 6) % BANKS
}

/// Cycles of lookups that each group of words takes, as many as its busiest bank has different words.
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
    const PARAMS: &'static [ParamSpec] = CompressorParams::SPECS;
    const CLAIM: Option<Claim> = Some(Claim { bits: 7 * 1024 * 8, source: "LATTE-CC, section IV.C.2" });
    /// Lines; a wide block with stalls and code streams in between takes some fifteen cycles for each.
    const OPERATIONS: u64 = 20_000;
    const PAYLOADS: &'static [Payload] =
        &[Payload { valid: "valid_o", ports: &["compressed_o", "bits_o", "payload_o"] }];
    type Params = CompressorParams;
    type In = CompressorIn;
    type Out = CompressorOut;
    type Model = CompressorModel;

    fn model(params: &CompressorParams) -> Result<CompressorModel, ParamError> {
        Self::validate(params)?;
        Ok(CompressorModel::new(params))
    }
    fn rtl(params: &CompressorParams) -> Result<Box<dyn RtlBlock<CompressorIn, CompressorOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::compressor(params))
    }
    fn facts(params: &CompressorParams) -> Facts {
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
    fn stimulus(params: &CompressorParams, seed: u64) -> StimulusIter<CompressorIn> {
        Box::new(stimulus::compressor(params, seed))
    }
    fn corners(params: &CompressorParams) -> Box<dyn Corners<CompressorIn, CompressorOut>> {
        let given = |i: &CompressorIn, o: &CompressorOut| o.valid_o && i.ready_i;
        let taken = |i: &CompressorIn, o: &CompressorOut| i.load_valid_i && o.load_ready_o;
        let full = LINE_BITS as u16;
        let longest = MAX_CODE_BITS as u8;
        let words = params.symbols_per_cycle as usize;
        let offered = |i: &CompressorIn, o: &CompressorOut| i.valid_i && o.ready_o;
        Box::new(
            PortCorners::new(given)
                .with("compressed", 2000, move |i, o| given(i, o) && o.compressed_o)
                // Codes alone are at most 16 bits each.
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
        let facts = ScCompressor::facts(&CompressorParams::default());
        assert_eq!(facts.storage_bits(), 48_848);
        assert_eq!(facts.storage[0].bits, 46_080);
    }

    #[test]
    fn a_parameter_that_is_not_allowed_is_refused_with_those_that_are() {
        let error = ScCompressor::model(&CompressorParams { symbols_per_cycle: 2 }).unwrap_err().to_string();
        assert_eq!(error, "sc_compressor: parameter `symbols_per_cycle` = `2`: must be 4, 8");
    }
}
