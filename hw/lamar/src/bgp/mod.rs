//! BGP, bi-modal granularity predictor: predicts whether a miss should fetch the whole block or only the requested sectors.
//!
//! Source: LAMAR, section 3.4 and table 1; cost in section 5.6.
//!
//! The predictor has a default: coarse (all sectors) or fine (requested sectors only). An evicted block has low locality if fewer
//! than `fg_threshold` of its sectors were used. A block whose locality contradicts the default is inserted into a Bloom filter.
//! A miss whose block is in the filter gets the opposite of the default; every other miss gets the default. If more than
//! `skew_percent` of the last `skew_window` evictions were inserted, the default flips.
//!
//! The filter ages in two overlapping bitarrays. Insertions go to both arrays, except that the second array ignores the first
//! half of a refresh period. An array is cleared after `refresh_period` insertions into it. The other array then replies. It
//! holds half a period of history.
//!
//! ```text
//!  insertions since reset   0         256        512        768        1024
//!  array 0                  |--- fills, replies ---X fills ---|- replies -X
//!  array 1                  | idles     | fills   |- replies -X  fills    |
//!                                                 X: cleared
//!
//!  address_i -> [6 hashes] -> 6 of 8 banks -+-> array 0 --\
//!                                           +-> array 1 ---> active? -> all six bits set? -> XOR default -> coarse_o
//!  used_i --> below threshold? -> contradicts default? -> insert -> count per window -> flip
//! ```
//!
//! Choices where the paper is silent:
//! - Hashes. The paper says "byte-sliced XOR" and cites the class H3: each bit of an index is the XOR of some address bits, here
//!   of five ([`TAPS`]). Each hash reaches every bit of the array. The six together distinguish any two addresses. The tests
//!   measure false positives for consecutive addresses, strides, tiles, one memory partition and one parity. The rate is at most
//!   0.01 above that of six ideal hashes, which is 0.22 after 512 insertions.
//! - Banks. An array is eight banks, so that each bank is a memory with one port. The six hashes of an address go to six
//!   different banks. A seventh hash, the skew ([`SKEW_TAPS`]), chooses the banks. A word of a bank's memory holds one row of
//!   each array. One flip-flop per row and array records whether the row was written since the array was cleared. An array is
//!   therefore cleared in one cycle.
//! - One operation per cycle, a query or an eviction, because both use the one port of each bank. If both are requested, the
//!   eviction wins and the query has no reply (`valid_o` stays low).
//! - The default is coarse after reset, as in the conventional memory system.
//! - The threshold is strict, as printed: with `fg_threshold` = 2, a block with one used sector has low locality.
//! - The last insertion of a refresh period is in the array that stays, not in the cleared one.
//! - The last eviction of a window counts in that window. The default flips only if the share of insertions exceeds the
//!   percentage.
//! - A flip clears both arrays and restarts the filter as after reset, because its contents contradicted the old default.
//! - A block address has 32 bits; narrower addresses leave the upper bits zero.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `bitarray_bits` | 2048 | 2048, 4096 | bits of each of the two arrays |
//! | `refresh_period` | 512 | 512, 1024 | insertions into an array until it is cleared |
//! | `sectors` | 4 | 4, 8 | sectors of a cache block |
//! | `fg_threshold` | 2 | 2 to 4 | a block with fewer used sectors has low locality |
//! | `skew_percent` | 70 | 70, 90 | more insertions than this percentage of a window flip the default |
//! | `skew_window` | 1000 | 500, 1000 | evictions after which the skew is evaluated |
//!
//! # Ports and timing
//! All outputs come from registers.
//!
//! ```text
//! clk_i             __/--\__/--\__/--\__/--\__
//! query_i           __/-----\_________________
//! evict_i           ________/-----\___________   contradicts the default; for example the 1000th of a window
//! address_i         ==< A  >< B   >===========
//! valid_o           ________/-----\___________   the reply to A ...
//! coarse_o          ========< A   >===========   ... which is computed before the eviction of B
//! flip_o            ______________/-----\_____
//! default_coarse_o  --------------\___________
//! ```
//!
//! # Storage
//! The paper counts 4 Kbit: the two arrays, 4,096 bits. This block holds 4,386 bits by default. In addition to the arrays in
//! memory, it has these bits, which the paper's sum omits as control logic:
//! - flags of the rows written since the last clear (256);
//! - the position in the half period (8) and the flag that the second array fills (1);
//! - the number of the active array (1);
//! - the two counters of a window (10 each) and the default (1);
//! - the reply with its two flags (3).

mod hash;
mod model;
mod params;
#[cfg(test)]
mod properties;
mod rtl;
mod stimulus;

pub use hash::{BANKS, HASHES, SKEW_TAPS, TAPS};
pub use model::BgpModel;
pub use params::BgpParams;
pub use rtl::{BgpIn, BgpOut, BgpTop};

use params::SKEW_BITS;
use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StatedStorage, StimulusIter, Storage};
use selvedge_hw::corners::Corners;
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::value_names::ValueNames;
use selvedge_hw::wave_event::WaveEvent;

/// The BGP; see the [module](self).
pub struct Bgp;

impl HwBlock for Bgp {
    const NAME: &'static str = "bgp";
    const SUMMARY: &'static str = "predicts whether a miss fetches all sectors or only the requested ones, by a self-aging Bloom filter of evicted blocks";
    const MODULE: &'static str = include_str!("mod.rs");
    const SOURCE: &'static str = "LAMAR, section 3.4";
    const PARAMS: &'static [ParamSpec] = BgpParams::SPECS;
    const VERILOG_PARAMETERS: &'static [&'static str] = &["refresh_period", "sectors", "fg_threshold"];
    const CLAIM: Option<StatedStorage> = Some(StatedStorage { bits: 4096, source: "LAMAR, section 5.6" });
    const VALUE_NAMES: &'static [ValueNames] = &[ValueNames {
        what: "granularity",
        ports: &["coarse_o", "default_coarse_o"],
        names: &[(0, "fine"), (1, "coarse")],
    }];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("query", &["query_i"], &["address_i"]),
        WaveEvent::item("eviction", &["evict_i"], &["address_i"]),
        WaveEvent::item("reply", &["valid_o"], &["coarse_o"]),
        WaveEvent::decision("flip", &["flip_o"], &["default_coarse_o"]),
    ];
    type Params = BgpParams;
    type In = BgpIn;
    type Out = BgpOut;
    type Model = BgpModel;

    fn model(params: &BgpParams) -> Result<BgpModel, ParamError> {
        Self::validate(params)?;
        Ok(BgpModel::new(params))
    }
    fn rtl(params: &BgpParams) -> Result<Box<dyn RtlBlock<BgpIn, BgpOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::bgp(params))
    }
    fn facts(params: &BgpParams) -> Facts {
        Facts {
            storage: vec![
                Storage { name: "bitarrays", bits: 2 * params.bitarray_bits as usize },
                Storage { name: "rows written since the last clear", bits: 2 * params.rows() as usize },
                Storage {
                    name: "insertions in the half period",
                    bits: params.half_period().ilog2() as usize,
                },
                Storage { name: "second array fills", bits: 1 },
                Storage { name: "active array", bits: 1 },
                Storage { name: "evictions in the window", bits: SKEW_BITS },
                Storage { name: "insertions in the window", bits: SKEW_BITS },
                Storage { name: "default prediction", bits: 1 },
                Storage { name: "reply, its valid flag, flip flag", bits: 3 },
            ],
            latency: 1,
            interval: 1,
        }
    }
    fn stimulus(params: &BgpParams, seed: u64) -> StimulusIter<BgpIn> {
        Box::new(stimulus::bgp(params, seed))
    }
    fn corners(params: &BgpParams) -> Box<dyn Corners<BgpIn, BgpOut>> {
        Box::new(stimulus::BgpCorners::new(params))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_the_sum_that_the_module_states() {
        assert_eq!(Bgp::facts(&BgpParams::default()).storage_bits(), 4386);
    }

    #[test]
    fn a_parameter_out_of_range_is_refused_with_what_is_allowed() {
        let params = BgpParams { fg_threshold: 5, ..BgpParams::default() };
        let error = Bgp::model(&params).unwrap_err().to_string();
        assert_eq!(error, "bgp: parameter 'fg_threshold' = '5': must be 2 to 4");
    }
}
