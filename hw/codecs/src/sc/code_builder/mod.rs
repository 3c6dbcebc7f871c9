//! The code builder of SC: hardware that builds canonical Huffman codes of limited length from a value-frequency table.
//!
//! Source: LATTE-CC, section IV.C.2. The paper builds codes from the table, but states neither the method nor the time.
//!
//! ```text
//!  table --read--> sorter ------> merger ---------> lengths ------------> emitter --code stream-->
//!                  by count,      Huffman's tree    symbols per depth,    canonical codes,
//!                  radix of four  by two queues,    codes that are too    values read again
//!                  bits per pass  an item a cycle   long repaired
//! ```
//!
//! - **Sorter.** Keeps the entries in a linked list, the chain. A pass walks along the chain and appends each entry to one
//!   of sixteen buckets. Then the buckets are joined to a new chain. The first pass takes place while the table is read.
//! - **Merger.** Joins the two lightest items (symbols or nodes) to a node, until one item is left. Nodes wait in a queue.
//!   The merger also reverses the chain, so that the heaviest entry comes first.
//! - **Lengths.** Stores for each node the number of symbols among its two items. From the root on, nodes are ordered by
//!   depth. The stored numbers give the symbols and the nodes at each next depth. From these follow the positions in the
//!   order at which codes become longer than 1, 2, 3 ... bits. If symbols lie too deep, these positions are moved.
//! - **Emitter.** Walks along the chain, extends the code where the length increases, and reads the value of every entry
//!   again.
//!
//! Choices where the paper is silent:
//! - The weight of the escape symbol is the value of `escape_weight_i` at the start: the [table's](super::vft) `lost_o`. The
//!   escape always gets a code, even with weight zero. With an empty table it gets the only code, of length 1.
//! - Entries with count zero do not exist and get no code.
//! - The total length of the codes is minimal if no code exceeds the limit. Otherwise
//!   [`limited_lengths`](super::huffman::limited_lengths) describes the repair, which adds little to the total.
//! - The table is read from its last entry to its first. It replies to reads in order, after any number of cycles. It must
//!   not change until the last code is taken: an entry that changes earlier gets the code of its old count.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `entries` | 1024 | 64, 1024 | entries of the table |
//! | `max_code_bits` | 16 | 12, 16 | maximum length of a code in bits |
//!
//! # Ports and timing
//! Every output depends on registers alone, not on an input of the same cycle. `E` is the number of entries.
//!
//! ```text
//! clk_i          __/--\__/--\__/--\__/--\__ ... __/--\__/--\__/--\__/--\__/--\__/--\__/--\__/--\__
//! start_i        __/-----\_________________ ... _________________________________________________
//! busy_o         ________/----------------- ... -------------------------------------------\______
//! read_o         ________/----------------- ... __/-----\_________________________________________
//! read_index_o   ========<E-1 ><E-2 ><E-3 > ... ==< i  >==========================================
//! read_valid_i   ____________________/----- ... ______________/-----\_____________________________
//! code_valid_o   __________________________ ... ____________________/-----------------\___________
//! code_ready_i   __________________________ ... ________________________________/-----\___________
//! ```
//!
//! # Cycles
//! The first code can be chosen `1 + E + d` + [`code_cycles`] cycles after the start. The table has `E` entries,
//! `N` of them exist, and it replies `d` cycles after a read. `L` is the maximum length of a code in bits, and `D` the depth of
//! Huffman's tree.
//!
//! [`code_cycles`] is 2 if no entry exists. Otherwise it is the sum of:
//! - 53 + 2 N for the sort and the first cycle of the merge,
//! - 2 N for the items of the merge,
//! - 2 for the lengths and 1 for the emission,
//! - N + L - 1 - D for the depths of the tree if `D` is less than `L`; otherwise one per node whose items have a depth of at
//!   most L - 1, and one per step of the repair.
//!
//! After that, a code takes 2 + `d` cycles, the escape takes 1, and each bit by which codes get longer takes 1, if the
//! consumer takes each code at once. For 1024 entries with equal counts and this family's table (`d` = 2), a build takes
//! these cycles from the start to the last code:
//!
//! | existing entries | 16 bits | 12 bits |
//! |---|---|---|
//! | 0 | 1,030 | 1,030 |
//! | 16 | 1,242 | 1,238 |
//! | 256 | 3,402 | 3,398 |
//! | 1024 | 10,314 | 10,310 |
//!
//! # Storage
//! The paper states no storage for this step. The default needs 37,250 bits:
//! - counts (12,288) and links (10,240) of entries,
//! - first and last entries of buckets (320),
//! - weights of waiting nodes (11,776): one for every two entries,
//! - two bits per node (2,048),
//! - a position per length (176),
//! - registers (402).
//!
//! That is less than the table itself needs. One builder can serve all tables whose codes are due one after the other.

mod model;
mod params;
#[cfg(test)]
mod properties;
mod rtl;
mod stimulus;

pub use super::vft::COUNT_BITS;
pub use model::CodeBuilderModel;
pub use params::{CodeBuilderParams, ESCAPE_BITS, code_cycles};
pub use rtl::{CodeBuilderIn, CodeBuilderOut, ScCodeBuilderTop};

use super::{MAX_CODE_BITS, WORD_BITS};
use params::{LENGTH_BITS, TABLE_LATENCY};
use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StimulusIter, Storage};
use selvedge_hw::corners::Corners;
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::ports::Payload;
use selvedge_hw::wave_event::WaveEvent;

/// The code builder; see the [module](self).
pub struct ScCodeBuilder;

impl HwBlock for ScCodeBuilder {
    const NAME: &'static str = "sc_code_builder";
    const SUMMARY: &'static str = "builds canonical Huffman codes of limited length from value counts";
    const MODULE: &'static str = concat!(include_str!("mod.rs"), include_str!("../mod.rs"));
    const SOURCE: &'static str = "LATTE-CC, section IV.C.2";
    const PARAMS: &'static [ParamSpec] = CodeBuilderParams::SPECS;
    const VERILOG_PARAMETERS: &'static [&'static str] = &["max_code_bits"];
    /// Cycles. The build of a full table takes about 10,000 of them, the build of a small table about 1,200.
    const OPERATIONS: u64 = 200_000;
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
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("value", &["read_valid_i"], &["read_value_i", "read_count_i"]),
        WaveEvent::item("code", &["code_valid_o", "code_ready_i"], &["code_value_o", "code_length_o"]),
        WaveEvent::decision("last_code", &["code_valid_o", "code_ready_i", "code_last_o"], &[]),
    ];
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
    /// Latency is from the start to the first code, the interval from one start to the next. Both are maximums, for a full
    /// table whose codes are taken at once.
    fn facts(params: &CodeBuilderParams) -> Facts {
        let (index, count) = (params.index_bits(), params.index_bits() + 1);
        let entries = params.entries as u64;
        let to_emission = 1 + entries + TABLE_LATENCY + code_cycles(params, &vec![1; params.entries + 1]);
        // The shortest code of n symbols has at most log2(n) bits.
        let shortest = u64::from((entries + 1).ilog2());
        let code = 2 + TABLE_LATENCY;
        let emission = entries * code + 1 + params.max_code_bits as u64;
        Facts {
            storage: vec![
                Storage { name: "counts of entries", bits: params.entries * COUNT_BITS },
                Storage { name: "links of entries", bits: params.entries * index },
                Storage { name: "ends of buckets", bits: 16 * 2 * index },
                Storage { name: "nodes that wait", bits: params.entries / 2 * params.weight_bits() },
                Storage { name: "symbols of nodes", bits: 2 * params.entries },
                Storage { name: "places of lengths", bits: MAX_CODE_BITS * count },
                Storage {
                    name: "sorter's places and entry",
                    bits: 26 + 2 * count + 3 * index + COUNT_BITS + index,
                },
                Storage {
                    name: "merger's places and weights",
                    bits: 5 + 3 * count + 2 * params.weight_bits(),
                },
                Storage { name: "lengths' places and shares", bits: 8 + 3 * count + 2 * 16 + 2 },
                Storage {
                    name: "emitter's position and code",
                    bits: 5 + count + MAX_CODE_BITS + LENGTH_BITS,
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
    use crate::sc::huffman::limited_lengths;

    #[test]
    fn builds_take_the_cycles_that_the_module_states() {
        let stated = [(0, 1030, 1030), (16, 1242, 1238), (256, 3402, 3398), (1024, 10_314, 10_310)];
        for (existing, cycles_16, cycles_12) in stated {
            for (max_code_bits, cycles) in [(16, cycles_16), (12, cycles_12)] {
                let params = CodeBuilderParams { max_code_bits, ..CodeBuilderParams::default() };
                let weights = vec![1; existing + 1];
                let codes = (2 + TABLE_LATENCY) * existing as u64 + 1;
                let build = 1 + 1024 + TABLE_LATENCY + code_cycles(&params, &weights) + codes;
                let longest = limited_lengths(&weights, max_code_bits as u32).depth as u64;
                assert_eq!(build + longest - 1, cycles, "{existing} entries, {max_code_bits} bits");
            }
        }
    }

    #[test]
    fn storage_is_the_sum_that_the_module_states() {
        assert_eq!(ScCodeBuilder::facts(&CodeBuilderParams::default()).storage_bits(), 37_250);
    }

    #[test]
    fn a_parameter_out_of_range_is_refused_with_what_is_allowed() {
        let params = CodeBuilderParams { max_code_bits: 9, ..CodeBuilderParams::default() };
        let error = ScCodeBuilder::model(&params).unwrap_err().to_string();
        assert_eq!(error, "sc_code_builder: parameter 'max_code_bits' = '9': must be 12, 16");
    }
}
