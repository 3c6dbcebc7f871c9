//! The code builder of SC: turns a value-frequency table into canonical Huffman codes of limited length, in hardware.
//!
//! Source: LATTE-CC, section IV.C.2, which builds codes from the table and says neither how nor how long; package-merge is
//! Larmore and Hirschberg's (1990).
//!
//! ```text
//!  table --read--> sorter ------> merger ---------> lengths ------------> emitter --code stream-->
//!                  by count,      package-merge:    symbols per list,     canonical codes,
//!                  radix, 12      a list per bit    last list first:      values read again
//!                  passes         of the longest    where each length
//!                                 code              begins in the order
//! ```
//!
//! - **Sorter.** Two halves of a memory take turns. Reading the table is the first pass.
//! - **Merger.** Makes the lists of package-merge, one item per cycle, lightest first. Weights of packages are in two halves
//!   of a memory that take turns; of every item one bit is kept: is it a symbol or a package?
//! - **Lengths.** From the last list to the first: counts the symbols among the items that are taken. The other ones are
//!   packages, so twice as many items are taken of the list before. As the lightest symbols are taken in most lists, the
//!   counts say from which place in the order codes are longer than 1, 2, 3 ... bits.
//! - **Emitter.** Walks through the order, lets the code grow where codes get longer, and reads every entry's value again.
//!
//! Choices where the paper is silent:
//! - The escape symbol weighs what `escape_weight_i` says at the start: the [table's](super::vft) `lost_o`. It always gets a
//!   code, of weight zero too; with an empty table it is the only one, of length 1.
//! - Entries whose count is zero do not exist and get no code.
//! - Lengths have the least possible total under the limit ([`limited_lengths`](super::huffman::limited_lengths)).
//! - The table replies to reads in order, after any number of cycles. It must hold still until the last code is taken: an entry that changes
//!   meanwhile gets the code that its old count deserves.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `entries` | 1024 | 64, 1024 | entries of the table |
//! | `max_code_bits` | 16 | 12, 16 | the longest code |
//!
//! # Ports and timing
//! All outputs come from registers, but `read_index_o` from a register of a memory.
//!
//! ```text
//! clk_i          __/--\__/--\__/--\__/--\__ ... __/--\__/--\__/--\__/--\__/--\__/--\__/--\__/--\__
//! start_i        __/-----\_________________ ... _________________________________________________
//! busy_o         ________/----------------- ... -------------------------------------------\______
//! read_o         ________/----------------- ... __/-----\_________________________________________
//! read_index_o   ========< 0  >< 1  >< 2  > ... ==< i  >==========================================
//! read_valid_i   ____________________/----- ... ______________/-----\_____________________________
//! code_valid_o   __________________________ ... ____________________/-----------------\___________
//! code_ready_i   __________________________ ... ________________________________/-----\___________
//! ```
//!
//! # Cycles
//! From the start to the cycle in which the first code can be chosen, with a table that replies `d` cycles after a read, `E`
//! entries of which `N` exist, and `L` bits in the longest code: `1 + E + d`, then [`code_cycles`]. With no entry that is 2
//! cycles; else 4 + 11 (N + 1) for the sort, the items of all `L` lists and `L`, and L (ceil(N / 16) + 1) for the counts. A
//! list has N + 1 symbols and a package per two items of the list before, but at most 2 N items.
//!
//! Then a code takes 2 + `d` cycles, the escape 1, and each bit by which codes get longer 1, if codes are taken at once. For
//! 1024 entries and this family's table (`d` = 2), from the start until the last code is given, with counts as
//! equal as can be and with a code of the greatest length; nothing else about the counts matters:
//!
//! | entries that exist | 16 bits | 12 bits |
//! |---|---|---|
//! | 0 | 1,030 | 1,030 |
//! | 16 | 1,821 to 1,832 | 1,681 to 1,688 |
//! | 256 | 12,869 to 12,876 | 10,749 to 10,752 |
//! | 1024 | 48,201 to 48,206 | 39,745 to 39,746 |
//!
//! # Storage
//! The paper states none for this step. By default it is 133,766 bits: the sorter's memory (two halves of a count and an index
//! per entry, 45,056), the merger's (two halves of a weight per entry, wide enough for every package, 55,296), a bit per item
//! of every list (32,768), a place per length (176), and registers (470). That is three times the table itself, and one
//! builder can serve every table whose codes are due one after the other.

mod model;
mod rtl;
mod stimulus;

pub use super::vft::COUNT_BITS;
pub use model::CodeBuilderModel;
pub use rtl::{CodeBuilderIn, CodeBuilderOut, ScCodeBuilderTop};

use super::vft::LOST_BITS;
use super::{MAX_CODE_BITS, WORD_BITS};
use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StimulusIter, Storage};
use selvedge_hw::block_params;
use selvedge_hw::corners::Corners;
use selvedge_hw::params::{Allowed, ParamError, ParamSpec};
use selvedge_hw::ports::Payload;

/// Bits of the escape symbol's weight: those of the table's lost count.
pub const ESCAPE_BITS: usize = LOST_BITS;

/// Bits of a code's length.
const LENGTH_BITS: usize = 5;

/// Cycles from a read to the answer of this family's table.
const TABLE_LATENCY: u64 = 2;

block_params! {
    /// Parameters of a code builder.
    pub struct CodeBuilderParams {
        /// Entries of the table.
        entries: usize = 1024, Allowed::OneOf(&[64, 1024]);
        /// Bits of the longest code.
        max_code_bits: usize = MAX_CODE_BITS, Allowed::OneOf(&[12, 16]);
    }
}

impl CodeBuilderParams {
    /// Width of an entry's index.
    pub const fn index_bits(&self) -> usize {
        self.entries.ilog2() as usize
    }

    /// Width of the weight of a package. All items of a list together weigh at most what all symbols weigh, once per list.
    const fn weight_bits(&self) -> usize {
        let symbols = (self.entries << COUNT_BITS) + (1 << ESCAPE_BITS);
        (MAX_CODE_BITS * symbols).ilog2() as usize + 1
    }
}

/// Cycles between the table's last answer and the first cycle of the emission, when `entries` of the table exist.
pub fn code_cycles(params: &CodeBuilderParams, entries: usize) -> u64 {
    if entries == 0 {
        return 2;
    }
    let (symbols, lists) = (entries + 1, params.max_code_bits);
    let items = std::iter::successors(Some(symbols), |items| Some((symbols + items / 2).min(2 * entries)));
    let sort = 11 * (entries + 1);
    let merge = items.take(lists).sum::<usize>() + lists;
    let count = lists * (entries.div_ceil(16) + 1);
    (4 + sort + merge + count) as u64
}

/// The code builder; see the [module](self).
pub struct ScCodeBuilder;

impl HwBlock for ScCodeBuilder {
    const NAME: &'static str = "sc_code_builder";
    const SUMMARY: &'static str =
        "builds canonical Huffman codes of limited length and least total length from value counts";
    const MODULE: &'static str = concat!(include_str!("mod.rs"), include_str!("../mod.rs"));
    const SOURCE: &'static str = "LATTE-CC, section IV.C.2";
    const PARAMS: &'static [ParamSpec] = CodeBuilderParams::SPECS;
    /// Cycles. A build of a full table takes some 48,000 of them, one of a small table some 1,500.
    const OPERATIONS: u64 = 400_000;
    const PAYLOADS: &'static [Payload] = &[Payload {
        valid: "code_valid_o",
        ports: &[
            "code_first_o",
            "code_last_o",
            "code_index_o",
            "code_escape_o",
            "code_value_o",
            "code_code_o",
            "code_length_o",
        ],
    }];
    type Params = CodeBuilderParams;
    type In = CodeBuilderIn;
    type Out = CodeBuilderOut;
    type Model = CodeBuilderModel;

    fn model(params: &CodeBuilderParams) -> Result<CodeBuilderModel, ParamError> {
        Self::validate(params)?;
        Ok(CodeBuilderModel::new(params))
    }
    fn rtl(
        params: &CodeBuilderParams,
    ) -> Result<Box<dyn RtlBlock<CodeBuilderIn, CodeBuilderOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::code_builder(params))
    }
    /// Latency is from the start to the first code, the interval from one start to the next, both at most: of a full table,
    /// with codes that are taken at once.
    fn facts(params: &CodeBuilderParams) -> Facts {
        let (index, count) = (params.index_bits(), params.index_bits() + 1);
        let entries = params.entries as u64;
        let to_emission = 1 + entries + TABLE_LATENCY + code_cycles(params, params.entries);
        // No shortest code of n symbols is longer than the logarithm of n.
        let shortest = u64::from((entries + 1).ilog2());
        let code = 2 + TABLE_LATENCY;
        let emission = entries * code + 1 + params.max_code_bits as u64;
        Facts {
            storage: vec![
                Storage { name: "entries in order, twice", bits: 2 * params.entries * (COUNT_BITS + index) },
                Storage {
                    name: "weights of packages, twice",
                    bits: 2 * params.entries * params.weight_bits(),
                },
                Storage { name: "items of all lists, a bit each", bits: 2 * params.entries * MAX_CODE_BITS },
                Storage { name: "places of lengths", bits: MAX_CODE_BITS * count },
                Storage { name: "sorter's read and output", bits: 5 * count + 7 + COUNT_BITS + index },
                Storage { name: "merger's read and output", bits: 5 * count + 8 + 2 * params.weight_bits() },
                Storage { name: "lengths' words and counters", bits: 2 * 32 + 4 * count + 2 + 5 },
                Storage {
                    name: "emitter's position and code",
                    bits: 5 + 2 * count + MAX_CODE_BITS + LENGTH_BITS,
                },
                Storage {
                    name: "code that is given",
                    bits: 4 + index + WORD_BITS + MAX_CODE_BITS + LENGTH_BITS,
                },
                Storage { name: "stage, escape's weight, reads", bits: 4 + ESCAPE_BITS + count + index },
            ],
            latency: (to_emission + shortest - 1 + code) as u32,
            interval: (to_emission + emission) as u32,
        }
    }
    fn stimulus(params: &CodeBuilderParams, seed: u64) -> StimulusIter<CodeBuilderIn> {
        Box::new(stimulus::code_builder(params, seed))
    }
    fn corners(params: &CodeBuilderParams) -> Box<dyn Corners<CodeBuilderIn, CodeBuilderOut>> {
        Box::new(stimulus::CodeBuilderCorners::new(params))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_take_the_cycles_that_the_module_states() {
        let stated = [
            (0, 1030..=1030, 1030..=1030),
            (16, 1821..=1832, 1681..=1688),
            (256, 12_869..=12_876, 10_749..=10_752),
            (1024, 48_201..=48_206, 39_745..=39_746),
        ];
        for (existing, cycles_16, cycles_12) in stated {
            for (max_code_bits, cycles) in [(16, cycles_16), (12, cycles_12)] {
                let params = CodeBuilderParams { max_code_bits, ..CodeBuilderParams::default() };
                let codes = (2 + TABLE_LATENCY) * existing as u64 + 1;
                let build = 1 + 1024 + TABLE_LATENCY + code_cycles(&params, existing) + codes;
                let balanced = u64::from((existing + 1).next_power_of_two().ilog2().max(1));
                let longest = if existing == 0 { 1 } else { max_code_bits as u64 };
                assert_eq!(
                    build + balanced - 1..=build + longest - 1,
                    cycles,
                    "{existing} entries, {max_code_bits} bits"
                );
            }
        }
    }

    #[test]
    fn storage_is_the_sum_that_the_module_states() {
        assert_eq!(ScCodeBuilder::facts(&CodeBuilderParams::default()).storage_bits(), 133_766);
    }

    #[test]
    fn a_parameter_out_of_range_is_refused_with_what_is_allowed() {
        let params = CodeBuilderParams { max_code_bits: 9, ..CodeBuilderParams::default() };
        let error = ScCodeBuilder::model(&params).unwrap_err().to_string();
        assert_eq!(error, "sc_code_builder: parameter `max_code_bits` = `9`: must be 12, 16");
    }
}
