//! SC's compressor: a cache line becomes the Huffman codes of its words.
//!
//! Source: LATTE-CC, section IV.C.2 (7 KB of table, 6 cycles per line). What entries, codes and payloads are: the
//! [family's page](super).
//!
//! ```text
//!            line register, turns by a group                       fields of a group                   payload register
//!  line_i -> [ w0 ... w7 | w8 ... ] -> 8 x { set -> table -> ways -> [ code or escape, word ]} -> join -> shift -> [ ... ] -> payload_o
//!                                            ^ write                                              bits so far ----^
//!  load_*_i -> reverse code, replace one way of the set
//!
//!  loading:  run --a code is offered--> drain --nothing in flight--> clear (256 cycles) --> load --last code--> run
//!                                                                       ^---- a first code in the middle ---|
//! ```
//!
//! The line is looked up in groups of `symbols_per_cycle` words. A word without a table entry is given as the escape's code and
//! itself, at most 48 bits. The bits of a group are joined and put behind those of the groups before it, in the payload register,
//! which is the output register too. A line whose codes need more than its own 1,024 bits, or with a word for which there is
//! neither code nor escape, is given as it is; so is every line until codes have been loaded.
//!
//! Choices where the paper is silent:
//! - The table is in memories, whose words are sets: the four ways side by side. They cannot be cleared at once, and codes
//!   come seldom (once in 2,560 accesses of the cache): a set is cleared per cycle before the codes are taken.
//! - The paper counts the table once, but 32 words in six cycles are more lookups than one table has ports. Each of the words
//!   of a group has a copy of the table; all copies are written alike. Banks instead of copies would make the latency depend
//!   on how the words of a group fall on the sets.
//! - A code stream waits until the lines in flight have left, and lines wait until it has ended. The first code that is
//!   offered outside a stream begins one, marked or not; a first code in the middle of a stream begins it anew.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `symbols_per_cycle` | 8 | 4, 8, 16 | words that are looked up and packed in a cycle; copies of the table |
//!
//! # Ports and timing
//! Lines and payloads are valid/ready streams, and so are the codes. `load_ready_o` depends on `load_first_i` in the same cycle;
//! no other output depends on an input. `payload_o` and `bits_o` show how far the packing has come while `valid_o` is low.
//!
//! ```text
//! 8 words     0     1     2     3     4     5     6     7
//! clk_i     /--\__/--\__/--\__/--\__/--\__/--\__/--\__/--\__
//! valid_i   /-----------------------------------\___________
//! line_i    < A  >< B                         >============
//! ready_o   ------\_______________________/-----\___________
//! lookup          <w0-7><8-15><16- ><24- >      <w0-7> ...
//! packing               <w0-7><8-15><16- ><24- >      <w0-7>
//! valid_o   ____________________________________/-----\_____
//! payload_o =========================<incomplete>< A  >=====
//! ```
//!
//! A line takes 32 / `symbols_per_cycle` + 2 cycles, whatever its words are: 6 at the default, as in the paper, 10 with 4
//! words per cycle and 4 with 16. The next line is taken one cycle before the payload shows. If a payload is not taken, the
//! next line waits for its place with its first group looked up.
//!
//! # Storage
//! The paper counts 7 KB, 57,344 bits: 1,024 entries of 56 bits. One copy of this table has 46,080: an entry needs 24 bits of
//! the value, as the set gives the rest, 16 of code and 5 of length; length 0 stands for no entry. The eight copies that
//! eight words per cycle take are 368,640 bits. The line and the payload (1,024 each), a group's codes (432) and control make
//! the rest of the 371,175.

mod model;
mod rtl;
mod stimulus;

pub use model::CompressorModel;
pub use rtl::{CompressorIn, CompressorOut, ScCompressorTop};

use super::{ENTRIES, LINE_BITS, MAX_CODE_BITS, WORDS};
use selvedge_hw::block::{Claim, Facts, HwBlock, RtlBlock, StimulusIter, Storage};
use selvedge_hw::block_params;
use selvedge_hw::corners::{Corners, PortCorners};
use selvedge_hw::params::{Allowed, ParamError, ParamSpec};
use selvedge_hw::ports::Payload;

/// Bits of the counter of groups of words.
const GROUPS_BITS: usize = 3;

/// Bits of a table entry: 24 of the value, 16 of code and 5 of length.
const ENTRY_BITS: usize = 45;

block_params! {
    /// Parameters of the compressor.
    pub struct CompressorParams {
        /// Words that are looked up and packed in a cycle: 4, 8 or 16.
        symbols_per_cycle: u32 = 8, Allowed::OneOf(&[4, 8, 16]);
    }
}

impl CompressorParams {
    /// Groups of words in a line.
    fn groups(&self) -> u32 {
        WORDS as u32 / self.symbols_per_cycle
    }
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
    /// Lines; a wide block with stalls and code streams in between takes some ten cycles for each.
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
                Storage { name: "codes, one copy", bits: ENTRIES * ENTRY_BITS },
                Storage { name: "codes, further copies", bits: (words - 1) * ENTRIES * ENTRY_BITS },
                Storage { name: "code and length of the escape", bits: 16 + 5 },
                Storage { name: "state of loading", bits: 2 + 8 + 2 },
                Storage { name: "line", bits: LINE_BITS },
                Storage { name: "codes of a group of words", bits: words * (48 + 6) },
                Storage { name: "state of lookup and packing", bits: 1 + GROUPS_BITS + 4 + 1 },
                Storage { name: "payload, its size and flags", bits: LINE_BITS + 11 + 2 },
            ],
            latency: params.groups() + 2,
            interval: params.groups() + 1,
        }
    }
    fn stimulus(params: &CompressorParams, seed: u64) -> StimulusIter<CompressorIn> {
        Box::new(stimulus::compressor(params, seed))
    }
    fn corners(_params: &CompressorParams) -> Box<dyn Corners<CompressorIn, CompressorOut>> {
        let given = |i: &CompressorIn, o: &CompressorOut| o.valid_o && i.ready_i;
        let taken = |i: &CompressorIn, o: &CompressorOut| i.load_valid_i && o.load_ready_o;
        let full = LINE_BITS as u16;
        let longest = MAX_CODE_BITS as u8;
        Box::new(
            PortCorners::new(given)
                .with("compressed", 2000, move |i, o| given(i, o) && o.compressed_o)
                // Codes alone are at most 16 bits each.
                .with("escapes", 2000, move |i, o| given(i, o) && o.compressed_o && o.bits_o > full / 2)
                .with("the last bit is used", 100, move |i, o| {
                    given(i, o) && o.compressed_o && o.bits_o == full
                })
                .with("kept as it is", 2000, move |i, o| given(i, o) && !o.compressed_o)
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
        assert_eq!(facts.storage_bits(), 371_175);
        assert_eq!(facts.storage[0].bits, 46_080);
    }

    #[test]
    fn a_parameter_that_is_not_allowed_is_refused_with_those_that_are() {
        let error = ScCompressor::model(&CompressorParams { symbols_per_cycle: 2 }).unwrap_err().to_string();
        assert_eq!(error, "sc_compressor: parameter `symbols_per_cycle` = `2`: must be 4, 8, 16");
    }
}
