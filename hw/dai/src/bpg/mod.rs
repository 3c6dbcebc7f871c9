//! BPG, bypassing-parameter generator: decides how many of an SM's warps or CTAs should use the L1D; the others bypass it.
//!
//! Source: Dai, section 2.5 (the model) and section 2.6 (the hardware, figure 5), for the scheme MDB.
//!
//! The more warps use the L1D, the less space each has, and the more often they stall it because no line, MSHR or miss-queue
//! entry is free. For each L from 1 to 8, an *adjusted-hits calculator* weighs hits against these reservation failures, as if the
//! first L warps or CTAs used the L1D:
//!
//! ```text
//! adjusted hits = hits - E x RF_estimated        RF_estimated = RF_base x (L/N)^3        E = 1/2
//! ```
//!
//! Each calculator counts hits in a shadow tag array, which sees only the accesses of warps 0 to L-1. All calculators share one
//! counter of reservation failures. Their decrease with the cube of L is an empirical fit. Every 1,000 accesses, the L with the
//! most adjusted hits becomes `l_max_o`. All counters are then halved, so that history fades. L = 8 means that all use the L1D.
//!
//! ```text
//!  line_i --> set, sampled?, tag --+--> calculator 0: warp 0     --\
//!  warp_i -------------------------+--> calculator 1: warps 0..1 ---+--> adjusted hits --> largest --> l_max_o, bypass_o
//!                                  :             :                  |      (registered)
//!                                  +--> calculator 7: warps 0..7 --/
//!  rsfail_i --> [failures] --> x L^3 / 1024, for each L --^
//!
//!  calculator: [tags of 4 sets, youngest first] --> hit? --> [hits] x 8 --> (-) --> adjusted hits
//!                                               failures x (L/8)^3 x 1/2 ----^
//! ```
//!
//! Choices where the paper is silent:
//! - N is 8, the largest L. The precomputed (L/N)^3 is L^3 / 512, a constant of each calculator. RF_base is the value of the
//!   counter, although the counter underestimates the baseline's failures while some warps bypass.
//! - Hits are counted in 4 sets, failures in all sets. With 32 sets, hits are therefore multiplied by 8, which is only wiring,
//!   instead of dividing failures. The product failures x L^3 is shifted right by 9 + 1 bits: 9 for the division by 512, 1 for E.
//! - The low bits of the line address are the set index (BMOD). For any `sets`, one set of each quarter is sampled, each at a
//!   different position: sets 0, 9, 18 and 27 of 32. Strides of 2 and 4 lines are then sampled like stride 1. With sets 0, 8, 16
//!   and 24, a stride of 8 would be sampled always or never.
//! - The calculators estimate a hypothetical L1D in which a miss fills at once. They therefore see every access, including
//!   bypassing accesses. An access that is retried after a reservation failure counts once. Stores do not allocate in this L1D
//!   and must not be shown to the block.
//! - Accesses of warps 8 and up count towards the interval, but no calculator watches them, as printed. These warps bypass unless
//!   L = 8.
//! - The interval ends with its last access. Its adjusted hits exclude that access. The halving comes before the access's hit and
//!   a failure of that cycle are counted. The largest adjusted hits are chosen one cycle later.
//! - Among equal adjusted hits, the larger L is chosen: less bypassing. After reset, L is 8.
//! - If no calculator has a hit, L does not change; after reset, all warps use the L1D. The adjusted hits would otherwise depend
//!   only on the failures' model, which grows with L for any loads: a few failures would set L to 1. Hits are sampled, and a
//!   working set of a few lines can map to sets that are not sampled. The cost of bypassing is then unknown.
//! - Counters saturate. A hit counter can saturate although an interval has fewer accesses: all can fall into sampled sets, and
//!   half of the earlier count remains.
//! - The tags of a set are kept in the order of their last use, in one memory for each position. An access writes
//!   its tag to the first position. Earlier tags move one position further, up to the old position of the tag or, on a miss, to
//!   the last one. This needs no ages and no victim search. All memories have the same address, the set. An access reads and
//!   writes each memory at most once.
//! - The memories have no reset. One flip-flop per set, shared by all calculators, records whether the set had an access since
//!   reset. The first access of a set ignores the memories' contents and writes every position. Each word has a valid bit next to
//!   the tag. An ASIC technology may implement memories of this size as flip-flops or latches. In simulation they are several
//!   times faster than registers.
//! - The eight products share their sums, since all multiply the same failures: five additions replace eight multiplications.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `sets` | 32 | 16, 32, 64, 128, 256 | sets of the L1D; 4 are sampled, for any value |
//! | `ways` | 4 | 4, 6 | ways of a set |
//! | `tag_bits` | 32 | 20, 32 | width of a tag; a line address has the bits of a set's index more (20: byte addresses of 32 bits) |
//! | `interval` | 1000 | 500, 1000 | accesses after which a new L is chosen |
//!
//! # Ports and timing
//! All outputs come from registers, `bypass_o` through a comparison.
//!
//! ```text
//! clk_i     __/--\__/--\__/--\__/--\__/--\__
//! access_i  __/-----\_______________________     the 1000th access
//! line_i    ==< A   >=======================
//! l_max_o   ==< old             >< new >====
//! bypass_o  ==< old             >< new >====     bit w: warp or CTA w bypasses; those from 8 on use bit 7
//! update_o  ____________________/-----\_____     L is chosen again in this cycle, perhaps unchanged
//! ```
//!
//! # Storage
//! The paper counts 35 bits per shadow tag (1 valid, 2 LRU, up to 32 tag bits), 8 x 16 tags per SM, a 10-bit hit counter per
//! calculator and a 12-bit failure counter, "etc.": 4,572 bits per SM. CACTI gives 0.087 mm2 in 45 nm for the tags of 15 SMs (15
//! x 128 x 35 bits), with 0.001 nJ per access and 0.27 mW of leakage. This block holds 4,449 bits. It has 33 bits per tag and a
//! flag per sampled set (4) instead of 35 bits per tag, and the same counters. It adds the access counter (10), the adjusted hits
//! between subtraction and choice (8 x 14), and the choice (4) with its three flags (3). With the adjusted hits in registers, the
//! multiplication and the choice are two paths of one cycle each instead of one long path.

mod corners;
mod model;
mod params;
#[cfg(test)]
mod properties;
mod rtl;
mod stimulus;

pub use model::BpgModel;
pub use params::{BpgParams, LEVELS, SAMPLED_SETS};
pub use rtl::{BpgIn, BpgOut, BpgTop};

use params::{ACCESS_BITS, HIT_BITS, RSFAIL_BITS};
use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StatedStorage, StimulusIter, Storage};
use selvedge_hw::corners::Corners;
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::wave_event::WaveEvent;

/// The BPG; see the [module](self).
pub struct Bpg;

impl HwBlock for Bpg {
    const NAME: &'static str = "bpg";
    const SUMMARY: &'static str = "decides how many warps may use the L1D and which bypass it, from shadow tags and reservation failures";
    const MODULE: &'static str = include_str!("mod.rs");
    const SOURCE: &'static str = "Dai, section 2.6";
    const PARAMS: &'static [ParamSpec] = BpgParams::SPECS;
    const VERILOG_PARAMETERS: &'static [&'static str] = &["tag_bits", "interval"];
    const CLAIM: Option<StatedStorage> = Some(StatedStorage { bits: 4572, source: "Dai, section 2.6" });
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("access", &["access_i"], &["line_i", "warp_i"]),
        WaveEvent::decision("update", &["update_o"], &["l_max_o"]),
    ];
    type Params = BpgParams;
    type In = BpgIn;
    type Out = BpgOut;
    type Model = BpgModel;

    fn model(params: &BpgParams) -> Result<BpgModel, ParamError> {
        Self::validate(params)?;
        Ok(BpgModel::new(params))
    }
    fn rtl(params: &BpgParams) -> Result<Box<dyn RtlBlock<BpgIn, BpgOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::bpg(params))
    }
    fn facts(params: &BpgParams) -> Facts {
        let entries = LEVELS * SAMPLED_SETS * params.ways as usize;
        Facts {
            storage: vec![
                Storage { name: "shadow tags", bits: entries * params.tag_bits as usize },
                Storage { name: "their valid bits", bits: entries },
                Storage { name: "sets with an access since reset", bits: SAMPLED_SETS },
                Storage { name: "hits", bits: LEVELS * HIT_BITS },
                Storage { name: "reservation failures", bits: RSFAIL_BITS },
                Storage { name: "accesses in the interval", bits: ACCESS_BITS },
                Storage { name: "adjusted hits", bits: LEVELS * params.adjusted_bits() },
                Storage { name: "number chosen", bits: 4 },
                Storage { name: "choose, hit and update flags", bits: 3 },
            ],
            latency: 2,
            interval: 1,
        }
    }
    fn stimulus(params: &BpgParams, seed: u64) -> StimulusIter<BpgIn> {
        Box::new(stimulus::bpg(params, seed))
    }
    fn corners(params: &BpgParams) -> Box<dyn Corners<BpgIn, BpgOut>> {
        Box::new(corners::BpgCorners::new(params))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_the_sum_that_the_module_states() {
        let facts = Bpg::facts(&BpgParams::default());
        assert_eq!(facts.storage_bits(), 4449);
        assert_eq!(facts.storage[..2].iter().map(|part| part.bits).sum::<usize>(), 128 * 33);
    }

    #[test]
    fn every_eighth_set_is_sampled_whatever_the_stride() {
        let params = BpgParams::default();
        for stride in [1, 2, 4] {
            let sets = (0..u64::from(params.sets)).step_by(stride);
            let count = sets.clone().filter(|set| params.sampled(*set).is_some()).count();
            assert_eq!(count * 8, sets.count(), "stride {stride}");
        }
    }

    #[test]
    fn a_parameter_out_of_range_is_refused_with_what_is_allowed() {
        let params = BpgParams { tag_bits: 24, ..BpgParams::default() };
        let error = Bpg::model(&params).unwrap_err().to_string();
        assert_eq!(error, "bpg: parameter 'tag_bits' = '24': must be 20, 32");
    }
}
