//! Set index functions: map a line to a set of a cache or to a memory partition.
//!
//! Source: Dai, section 3.4.1 (cache sets) and 3.7 (memory partitions).
//!
//! Lines that a warp accesses with a large power-of-two stride have the same low address bits. Under the usual modulo mapping,
//! they therefore share a set. Each of the other functions includes higher bits, at a different cost:
//!
//! | block | index | hardware | one to one on aligned runs of lines |
//! |---|---|---|---|
//! | [`set_index_bmod`](bmod) | A mod 2^k | wires | yes |
//! | [`set_index_bxor`](bxor) | t xor x | k gates | yes |
//! | [`set_index_pmod`](pmod) | A mod p, p the largest prime below 2^k | adders, subtractions | no: 2^k - p sets stay empty |
//! | [`set_index_a_prime`](a_prime) | (A mod p) mod 2^k, p a prime above 2^k | adders, subtractions | no: some sets are used twice |
//! | [`set_index_d_prime`](d_prime) | (T p + x) mod 2^k | a small multiplication | yes |
//! | [`set_index_i_poly`](i_poly) | A mod P(x) over the field of two elements | XOR trees | yes |
//!
//! A is the line address (the byte address without the offset in the line), x its low k bits, t the next k bits, T all the bits
//! above x. The last column refers to 2^k consecutive lines that start at a multiple of 2^k. For 32 sets, Yosys synthesizes the
//! functions to 0, 5, 159, 313, 40 and 69 two-input gates, in the order of the table. Their levels are at most 0, 1, 30, 71, 9
//! and 5. Each block has six flip-flops in addition.
//!
//! Each function has three forms: plain arithmetic ([`IndexFunction`], which a simulated cache calls), a golden model with an
//! output register, and RTL.
//!
//! # Ports and timing
//! All six blocks have the same ports. They accept a line in every cycle and output its set one cycle later, with a valid flag.
//! The index holds until the next line.
//!
//! ```text
//! clk_i    __/--\__/--\__/--\__/--\__
//! valid_i  __/-----------\___________
//! line_i   ==< A  >< B   >===========
//! valid_o  ________/-----------\_____
//! index_o  ========< f(A)>< f(B)     >
//! ```
//!
//! # Storage
//! The register with k bits and the valid flag: 6 bits for 32 sets. The source claims no storage, because the functions need none
//! within an address path.

pub mod a_prime;
pub mod bmod;
pub mod bxor;
pub mod d_prime;
pub mod i_poly;
mod model;
pub mod pmod;
mod prime;
#[cfg(test)]
mod properties;
mod stimulus;
mod top;

pub use model::SetIndexModel;
pub use selvedge_hw::index_function::IndexFunction;

use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StimulusIter, Storage};
use selvedge_hw::block_params;
use selvedge_hw::corners::Corners;
use selvedge_hw::params::{Allowed, ParamError, ParamSpec};
use selvedge_hw::ports::Payload;
use selvedge_hw::ports::Ports;
use selvedge_hw::wave_event::WaveEvent;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

/// Supported numbers of sets: 16 memory partitions; 32 sets of a 16 KB cache, 64 of 32 KB, with 4 ways and 128-byte lines.
const SETS: Allowed = Allowed::OneOf(&[16, 32, 64, 128]);

/// Declares the ports of a set index block with these parameters.
macro_rules! set_index_ports {
    ($params:ty, $input:ident, $output:ident) => {
        selvedge_hw::ports! {
            /// Inputs: a line.
            pub struct $input<$params>(p) {
                /// A line is valid.
                valid_i: bool = 1,
                /// Address of the line: the byte address without the offset in the line.
                line_i: u32 = 32,
            }
        }

        selvedge_hw::ports! {
            /// Outputs: the set of the last cycle's line.
            pub struct $output<$params>(p) {
                /// A line was valid in the last cycle.
                valid_o: bool = 1,
                /// Set or partition of the last line. Holds until the next one.
                index_o: u16 = p.sets.ilog2() as usize,
            }
        }

        impl crate::set_index::LineIn for $input {
            fn line(&self) -> Option<u32> {
                self.valid_i.then_some(self.line_i)
            }
            fn of(line: Option<u32>) -> Self {
                $input { valid_i: line.is_some(), line_i: line.unwrap_or_default() }
            }
        }

        impl crate::set_index::SetOut for $output {
            fn of(valid: bool, index: u32) -> Self {
                $output { valid_o: valid, index_o: index as u16 }
            }
            fn valid(&self) -> bool {
                self.valid_o
            }
        }
    };
}
use set_index_ports;

block_params! {
    /// Parameters of a set index block with no parameters except the number of sets.
    ///
    /// The default is the number of sets of a 16 KB cache with 4 ways and 128-byte lines.
    pub struct SetsParams {
        /// cache sets or memory partitions
        sets: u32 = 32, SETS;
    }
}

set_index_ports!(SetsParams, SetIndexIn, SetIndexOut);

/// The input side of a set index block.
pub trait LineIn: Copy {
    /// Returns the line, or `None` if no line is valid in this cycle.
    fn line(&self) -> Option<u32>;
    /// Returns the inputs with that line, or with `valid_i` low for `None`.
    fn of(line: Option<u32>) -> Self;
}

/// The output side of a set index block.
pub trait SetOut: Copy {
    /// Returns the outputs with these values.
    fn of(valid: bool, index: u32) -> Self;
    /// Returns whether a line was valid in the last cycle.
    fn valid(&self) -> bool;
}

/// The parts in which set index blocks differ.
pub trait SetHash: 'static {
    /// Name of the block.
    const NAME: &'static str;
    /// Description of the block in one line.
    const SUMMARY: &'static str;
    /// Source text of the block's module.
    const MODULE: &'static str;
    /// Parameters of the block.
    const PARAMS: &'static [ParamSpec];
    /// Names of the parameters that the Verilog module has.
    const VERILOG_PARAMETERS: &'static [&'static str] = &[];
    /// Type of the parameters.
    type Params: Serialize + DeserializeOwned + Default + Clone + PartialEq + Send + std::fmt::Debug;
    /// Type of the inputs.
    type In: Ports<Params = Self::Params> + LineIn;
    /// Type of the outputs.
    type Out: Ports<Params = Self::Params> + SetOut;

    /// Returns the number of sets.
    fn sets(params: &Self::Params) -> u32;
    /// Returns the function that the block computes.
    fn function(params: &Self::Params) -> IndexFunction;
    /// Returns the RTL for valid parameters.
    fn rtl(params: &Self::Params) -> Box<dyn RtlBlock<Self::In, Self::Out>>;
}

/// The block that computes one of the functions; see the [module](self).
pub struct SetIndexBlock<H>(PhantomData<fn() -> H>);

impl<H: SetHash> HwBlock for SetIndexBlock<H> {
    const NAME: &'static str = H::NAME;
    const SUMMARY: &'static str = H::SUMMARY;
    const MODULE: &'static str = H::MODULE;
    const SOURCE: &'static str = "Dai, sections 3.4.1 and 3.7";
    const PARAMS: &'static [ParamSpec] = H::PARAMS;
    const VERILOG_PARAMETERS: &'static [&'static str] = H::VERILOG_PARAMETERS;
    const PAYLOADS: &'static [Payload] = &[Payload { valid: "valid_o", ports: &["index_o"] }];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("line", &["valid_i"], &["line_i"]),
        WaveEvent::item("index", &["valid_o"], &["index_o"]),
    ];
    type Params = H::Params;
    type In = H::In;
    type Out = H::Out;
    type Model = SetIndexModel<H::In, H::Out>;

    fn model(params: &H::Params) -> Result<Self::Model, ParamError> {
        Self::validate(params)?;
        Ok(SetIndexModel::new(H::function(params), H::sets(params)))
    }
    fn rtl(params: &H::Params) -> Result<Box<dyn RtlBlock<H::In, H::Out>>, ParamError> {
        Self::validate(params)?;
        Ok(H::rtl(params))
    }
    fn facts(params: &H::Params) -> Facts {
        Facts {
            storage: vec![
                Storage { name: "index", bits: H::sets(params).ilog2() as usize },
                Storage { name: "valid flag", bits: 1 },
            ],
            latency: 1,
            interval: 1,
        }
    }
    fn stimulus(params: &H::Params, seed: u64) -> StimulusIter<H::In> {
        Box::new(stimulus::lines(H::function(params), H::sets(params), seed))
    }
    fn corners(params: &H::Params) -> Box<dyn Corners<H::In, H::Out>> {
        Box::new(stimulus::corners(H::function(params), H::sets(params)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::set_index::bxor::SetIndexBxor;

    #[test]
    fn storage_is_the_sum_that_the_module_states() {
        assert_eq!(SetIndexBxor::facts(&SetsParams::default()).storage_bits(), 6);
    }

    #[test]
    fn a_number_of_sets_that_is_not_elaborated_is_refused_with_what_is_allowed() {
        let error = SetIndexBxor::model(&SetsParams { sets: 48 }).unwrap_err().to_string();
        assert_eq!(error, "set_index_bxor: parameter 'sets' = '48': must be 16, 32, 64, 128");
    }
}
