//! BPG, bypassing-parameter generator: how many of an SM's warps or thread blocks should use the L1D; the others bypass it.
//!
//! Source: Dai, section 2.5 (the model) and section 2.6 (the hardware, figure 5), for the scheme MDB.
//!
//! More warps in the L1D find less room each, and stall it more often by failing to reserve a line, an MSHR or a miss-queue
//! entry. For each L from 1 to 8 an *adjusted-hits calculator* weighs one against the other, for the case that the first L
//! warps or thread blocks use the L1D:
//!
//! ```text
//! adjusted hits = hits - E x RF_estimated        RF_estimated = RF_base x (L/N)^3        E = 1/2
//! ```
//!
//! Hits are counted in a shadow tag array that only the accesses of warps 0 to L-1 go through. Reservation failures come from
//! one counter for all; that they fall with the cube of L is an empirical fit. Every 1,000 accesses the L with the most
//! adjusted hits becomes `l_max_o`, and all counters are halved, so that history fades. L = 8 means that nobody bypasses.
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
//! - N is 8, the largest L: the precomputed (L/N)^3 is L^3 / 512, a constant of each calculator. RF_base is the counter as it
//!   stands, although it counts less than the baseline's failures while some warps bypass.
//! - Hits are counted in 4 of 32 sets, failures in all. Therefore hits are multiplied by 8, which is three wires, not failures
//!   divided. The product failures x L^3 is shifted right by 9 + 1 at once: 512, and E.
//! - Sets are indexed by the low 5 bits of the line address (BMOD). Sampled are the sets 0, 9, 18 and 27: one of each group of
//!   8, at another place in each. Strides of 2 and 4 lines are then sampled like stride 1; were they 0, 8, 16 and 24, a stride
//!   of 8 would be sampled always or never.
//! - The calculators see every access, also those that bypass, and a miss fills at once: they ask what would be. An access that
//!   is tried again after a reservation failure is one access. Stores do not allocate in this L1D and should not be shown.
//! - Accesses of warps from 8 on count towards the interval, but no calculator watches them, as printed; they bypass
//!   unless L = 8.
//! - The interval ends with its last access. Its adjusted hits are those before that access; the access's hit and a failure of
//!   that cycle are added after the halving. One cycle later the largest is chosen.
//! - Among equal adjusted hits the larger L is taken: less bypassing. After reset L is 8.
//! - Without a hit in any calculator L stays; after reset nobody bypasses. The adjusted hits would then be the failures' model
//!   alone, which grows with L whatever the loads are: a few failures would make L 1. But hits are sampled, and a working set of
//!   a few lines can be in the sets that are not: nothing is known of what bypassing would lose.
//! - Counters saturate. Hits can do so although an interval has fewer accesses, when all fall into sampled sets.
//! - A set's tags are kept in the order of their last use, in a memory for each of the four places. An access writes its tag to the
//!   first place, and what was before the place where the tag is, or before the last, moves one further: there are no ages and
//!   no victim to find. All 32 memories have the same address, the set; an access reads and writes them once.
//! - The memories have no reset. A flip-flop per set, for all calculators, says whether the set had an access since reset; its first
//!   access reads nothing and writes every place, with the valid bits that the memories hold beside the tags. Memories so small
//!   become flip-flops or latches in an ASIC, as is the technology's choice; in simulation they are several times cheaper than registers.
//! - The eight products share their sums, since all are of the same failures: five additions in place of eight multiplications.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `tag_bits` | 32 | 20, 32 | width of a tag; a line address has 5 bits more (20: byte addresses of 32 bits) |
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
//! bypass_o  ==< old             >< new >====     bit w: warp or thread block w bypasses; from 8 on as 7
//! update_o  ____________________/-----\_____     L is new in this cycle, though perhaps the same
//! ```
//!
//! # Storage
//! The paper: 35 bits per shadow tag (1 valid, 2 LRU, up to 32 tag bits), 8 x 16 tags per SM, a 10-bit hit counter per
//! calculator and a 12-bit failure counter, "etc."; in sum 4,572 bits per SM. The tags of 15 SMs (15 x 128 x 35 bits) are put
//! at 0.087 mm2 in 45 nm, with 0.001 nJ per access and 0.27 mW of leakage, by CACTI. This block holds 4,449: 33 bits per tag and a flag
//! per sampled set (4) in place of 35 bits per tag, the same counters, and the access counter (10), the adjusted hits between
//! subtraction and choice (8 x 14), the choice (4) with its three flags (3). With the adjusted hits in registers the multiplication and the choice are two paths of one cycle each, not one long path.

mod corners;
mod model;
mod rtl;
mod stimulus;

pub use model::BpgModel;
pub use rtl::{BpgIn, BpgOut, BpgTop};

use selvedge_hw::block::{Claim, Facts, HwBlock, RtlBlock, StimulusIter, Storage};
use selvedge_hw::block_params;
use selvedge_hw::corners::Corners;
use selvedge_hw::params::{Allowed, ParamError, ParamSpec};

/// Adjusted-hits calculators, and the L that means no bypassing.
pub const LEVELS: usize = 8;

/// Sets of the L1D.
pub const SETS: usize = 32;

/// Sets that are sampled.
pub const SAMPLED_SETS: usize = 4;

/// Ways of a set.
pub const WAYS: usize = 4;

/// Width of a set's index.
const INDEX_BITS: usize = 5;

/// Width of a warp's or thread block's number: an SM has at most 48 warps.
const WARP_BITS: usize = 6;

/// Width of a hit counter.
const HIT_BITS: usize = 10;

/// Width of the reservation-failure counter.
const RSFAIL_BITS: usize = 12;

/// Width of the access counter.
const ACCESS_BITS: usize = 10;

/// Width of adjusted hits with their offset.
const ADJUSTED_BITS: usize = 14;

/// What is added to adjusted hits to keep them from being negative: more than half of the most failures.
const ADJUSTED_OFFSET: u32 = 1 << (RSFAIL_BITS - 1);

block_params! {
    /// Parameters of a BPG.
    pub struct BpgParams {
        /// Width of a tag; a line address has 5 bits more.
        tag_bits: u32 = 32, Allowed::OneOf(&[20, 32]);
        /// Accesses after which a new L is chosen.
        interval: u32 = 1000, Allowed::OneOf(&[500, 1000]);
    }
}

impl BpgParams {
    /// Width of a line address: tag and index.
    pub const fn line_bits(&self) -> usize {
        self.tag_bits as usize + INDEX_BITS
    }
}

/// The place of a set in the shadow tags, if it is sampled.
pub fn sampled(set: usize) -> Option<usize> {
    let group_size = SETS / SAMPLED_SETS;
    let (group, place) = (set / group_size, set % group_size);
    (group == place).then_some(group)
}

/// The BPG; see the [module](self).
pub struct Bpg;

impl HwBlock for Bpg {
    const NAME: &'static str = "bpg";
    const SUMMARY: &'static str = "decides how many warps may use the L1D and which bypass it, from shadow tags and reservation failures";
    const MODULE: &'static str = include_str!("mod.rs");
    const SOURCE: &'static str = "Dai, section 2.6";
    const PARAMS: &'static [ParamSpec] = BpgParams::SPECS;
    const VERILOG_PARAMETERS: &'static [&'static str] = &["tag_bits", "interval"];
    const CLAIM: Option<Claim> = Some(Claim { bits: 4572, source: "Dai, section 2.6" });
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
        let entries = LEVELS * SAMPLED_SETS * WAYS;
        Facts {
            storage: vec![
                Storage { name: "shadow tags", bits: entries * params.tag_bits as usize },
                Storage { name: "their valid bits", bits: entries },
                Storage { name: "sets with an access since reset", bits: SAMPLED_SETS },
                Storage { name: "hits", bits: LEVELS * HIT_BITS },
                Storage { name: "reservation failures", bits: RSFAIL_BITS },
                Storage { name: "accesses in the interval", bits: ACCESS_BITS },
                Storage { name: "adjusted hits", bits: LEVELS * ADJUSTED_BITS },
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
        for stride in [1, 2, 4] {
            let sets = (0..SETS).step_by(stride);
            let count = sets.clone().filter(|set| sampled(*set).is_some()).count();
            assert_eq!(count * 8, sets.count(), "stride {stride}");
        }
    }

    #[test]
    fn a_parameter_out_of_range_is_refused_with_what_is_allowed() {
        let params = BpgParams { tag_bits: 24, ..BpgParams::default() };
        let error = Bpg::model(&params).unwrap_err().to_string();
        assert_eq!(error, "bpg: parameter `tag_bits` = `24`: must be 20, 32");
    }
}
