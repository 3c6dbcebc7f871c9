//! SPP, spatial-pattern predictor: predicts the used sectors of a missed block from the sectors that were used last time.
//!
//! Source: LAMAR, section 3.3.1, which compares its bi-modal predictor with this one. LAMAR takes it from Kumar and Wilkerson
//! (ISCA 1998) and from Chen, Yang, Falsafi and Moshovos (HPCA 2004).
//!
//! Every cache block has a used bit per sector. When a block is evicted, its used bits are committed to a pattern history table.
//! A miss queries the table with its block address. It fetches the sectors of the pattern in the table and the requested sectors.
//!
//! ```text
//!  evict_address_i -> [fold] -> write --> pattern history table --> read <- [fold] <- query_address_i
//!  used_i -----------------------------> patterns, known bits -------+
//!                 reset: [sweep] -------> clears an entry per cycle  v
//!                                        unknown: all or none -> [choose] -> OR requested_i -> sectors_o
//! ```
//!
//! Choices where the paper is silent:
//! - Key. LAMAR's misses query the table with their block, so that the key is the block address. The earlier predictors combine
//!   the address of the instruction with an offset. To use that key, pass the combination as the address, both at the miss and at
//!   the eviction. The cache must then store the combination with the used bits.
//! - The table is direct-mapped and has no tags, as in Chen et al. (256 entries there): blocks with the same index share a
//!   pattern. The index is the XOR of all slices of the address, each as wide as the index, so that interleaved partitions use
//!   all entries.
//! - An entry without a pattern predicts all sectors, as in the conventional memory system. With `unknown_coarse` off, it
//!   predicts only the requested sectors.
//! - A commit takes effect before the query of the same cycle: if both use the same entry, the reply is the committed pattern.
//! - A block without used sectors commits an empty pattern, which is a valid pattern.
//! - The known bits are in the memory, next to the patterns. A reset therefore does not clear them at once: for `entries` cycles,
//!   a sweep clears one entry per cycle. During the sweep, every query gets the reply of an entry without a pattern, and
//!   commits are dropped. Evictions during the sweep are rare, because a cache fills before it evicts. The power-up contents of
//!   the memory are never visible.
//! - LAMAR simulates this predictor with "unrealistically large histories (1M-entries)". This block does not support that size,
//!   which is impractical in hardware.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `entries` | 256 | 256, 1024 | entries of the pattern history table |
//! | `sectors` | 4 | 4, 8 | sectors of a cache block |
//! | `unknown_coarse` | true | true, false | an entry without a pattern predicts all sectors |
//!
//! # Ports and timing
//! One query and one commit per cycle. During the first `entries` cycles after reset, commits are dropped. All outputs come from
//! registers.
//!
//! ```text
//! clk_i            __/--\__/--\__/--\__/--\__
//! query_i          __/-----------\___________
//! query_address_i  ==< A  >< B   >===========
//! requested_i      ==<0001><0100 >===========
//! evict_i          ________/-----\___________
//! evict_address_i  ========< B   >===========
//! used_i           ========<0011 >===========
//! valid_o          ________/-----------\_____
//! sectors_o        ========<1111><0111 >=====     A is unknown; B's pattern is committed in the cycle of its query
//! known_o          ______________/-----\_____
//! ```
//!
//! # Storage
//! 1,295 bits by default: 256 patterns of 4 bits with a known bit each in one memory. Registers hold the sweep's counter (9), the
//! reply (4) and its two flags (2). LAMAR states no size in bits; its 1M entries would be 4 Mbit of patterns. The used bits
//! belong to the cache.

mod corners;
mod model;
mod params;
#[cfg(test)]
mod properties;
mod rtl;
mod stimulus;

pub use model::SppModel;
pub use params::SppParams;
pub use rtl::{SppIn, SppOut, SppTop};

use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StimulusIter, Storage};
use selvedge_hw::corners::Corners;
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::ports::Payload;
use selvedge_hw::wave_event::WaveEvent;

/// The SPP; see the [module](self).
pub struct Spp;

impl HwBlock for Spp {
    const NAME: &'static str = "spp";
    const SUMMARY: &'static str =
        "predicts which sectors of a missed block will be used, by a pattern history table";
    const MODULE: &'static str = include_str!("mod.rs");
    const SOURCE: &'static str = "LAMAR, section 3.3.1";
    const OPERATIONS: u64 = 100_000;
    const PARAMS: &'static [ParamSpec] = SppParams::SPECS;
    const VERILOG_PARAMETERS: &'static [&'static str] = &["sectors"];
    const PAYLOADS: &'static [Payload] = &[Payload { valid: "valid_o", ports: &["sectors_o", "known_o"] }];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("query", &["query_i"], &["query_address_i"]),
        WaveEvent::item("eviction", &["evict_i"], &["evict_address_i"]),
        WaveEvent::item("reply", &["valid_o"], &["sectors_o"]),
        WaveEvent::decision("known", &["valid_o", "known_o"], &["sectors_o"]),
    ];
    type Params = SppParams;
    type In = SppIn;
    type Out = SppOut;
    type Model = SppModel;

    fn model(params: &SppParams) -> Result<SppModel, ParamError> {
        Self::validate(params)?;
        Ok(SppModel::new(params))
    }
    fn rtl(params: &SppParams) -> Result<Box<dyn RtlBlock<SppIn, SppOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::spp(params))
    }
    fn facts(params: &SppParams) -> Facts {
        let (entries, sectors) = (params.entries as usize, params.sectors as usize);
        Facts {
            storage: vec![
                Storage { name: "patterns", bits: entries * sectors },
                Storage { name: "known bits", bits: entries },
                Storage { name: "entry that the sweep clears next", bits: params.index_bits() as usize + 1 },
                Storage { name: "answer, its valid flag, known flag", bits: sectors + 2 },
            ],
            latency: 1,
            interval: 1,
        }
    }
    fn stimulus(params: &SppParams, seed: u64) -> StimulusIter<SppIn> {
        Box::new(stimulus::spp(params, seed))
    }
    fn corners(params: &SppParams) -> Box<dyn Corners<SppIn, SppOut>> {
        Box::new(corners::SppCorners::new(params))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_the_sum_that_the_module_states() {
        assert_eq!(Spp::facts(&SppParams::default()).storage_bits(), 1295);
    }

    #[test]
    fn a_parameter_out_of_range_is_refused_with_what_is_allowed() {
        let params = SppParams { entries: 512, ..SppParams::default() };
        let error = Spp::model(&params).unwrap_err().to_string();
        assert_eq!(error, "spp: parameter 'entries' = '512': must be 256, 1024");
    }

    #[test]
    fn the_index_folds_every_slice_of_the_address() {
        let params = SppParams::default();
        assert_eq!(params.index(0x0102_0408), 0x0f);
        let wide = SppParams { entries: 1024, ..params };
        assert_eq!(wide.index((1 << 30) | (5 << 20) | (3 << 10) | 0x200), 1 ^ 5 ^ 3 ^ 0x200);
    }
}
