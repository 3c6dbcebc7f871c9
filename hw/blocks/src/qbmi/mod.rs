//! QBMI, quota-based memory-instruction issuing: which of the kernels on an SM goes first with its memory instructions.
//!
//! Source: Dai, section 4.3.2 (balanced memory request issuing), hardware cost in section 4.4.4.
//!
//! A memory instruction of one kernel may make one request to the L1D, that of another 32. Kernels that take turns by
//! instruction are therefore unequal by request. QBMI gives kernel i, whose instructions make r_i requests on average, the quota
//!
//! ```text
//! quota_i = LCM(r_0, .., r_n) / r_i
//! ```
//!
//! Each memory instruction costs its kernel one of its quota, and the kernel with the larger quota goes first. When a quota
//! comes to zero, a new set of quotas is added to all kernels, so that none is ever without. Over a set every kernel then
//! makes LCM requests. A kernel's r is measured anew with every 1,024 of its requests.
//!
//! ```text
//! request_i -> [1,024 requests?] ---------\
//! issue_i --+-> [instructions] -> table -> r_i -> [count up multiples] -> new set
//!           |                                                               | add when a quota comes to 0
//!           +-----------------------------------------> -1 -> [quotas] <----/
//!                                                                |
//!                                                                +-> compare each with each -> rank_o
//! ```
//!
//! How the hardware computes:
//! - r is 1,024 / instructions, rounded to the nearest whole number and kept within 1 to 32. The dividend is a constant, so
//!   31 constant thresholds take the place of a divider. One request is made per cycle, hence one interval ends per cycle, and one table serves all kernels.
//! - LCM and quotas need no gcd, divider or multiplier. For each kernel a quotient and a remainder of one common multiple
//!   by r_i are kept, and nothing of the multiple itself: it starts as 1, and for each kernel in turn its present value is
//!   added to it again until that kernel's remainder is zero. Then the multiple is the LCM and the quotients are the quotas.
//!   Kernel i takes r_i / gcd(r_i, LCM of those before) cycles: 2 at least and 63 at most with two kernels, at most 119 with
//!   four. The old set stays in force meanwhile. A kernel whose r is renewed starts the computation over.
//!
//! Choices where the paper is silent:
//! - One memory instruction issues and one request is made per cycle: an SM has one load/store unit.
//! - r is rounded, because a common multiple needs whole numbers; a request comes from one of 32 lanes, so r is at most 32.
//! - Equal quotas: the lower kernel number goes first. Then, with instructions always ready, each set is issued exactly: at its
//!   end kernel 0 is at zero and all others are at one. Turns at equal quotas would let that drift by one.
//! - A set is added in the clock that brings a quota to zero; a quota of zero never shows.
//! - Quotas saturate, at a value that holds two of the largest sets. With instructions always ready they are at most a set
//!   and one; a kernel that issues nothing while others go on collects sets, and goes first when it comes back, but not for
//!   longer than that.
//! - Quotas are exact and not scaled down: four kernels with 32, 31, 29 and 27 requests have quotas from 24,273 to 28,768. A
//!   kernel waits for at most the quotas of the others.
//! - The interval ends with its last request; r comes from the instructions counted before that cycle, and an instruction of
//!   that cycle belongs to the next interval. The instruction counter saturates. None in an interval counts as 32 requests.
//! - After reset r and quotas are 1: kernels take turns.
//! - An instruction or request of a kernel number that does not exist is ignored (possible with three kernels).
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `kernels` | 2 | 2, 3, 4 | kernels that share the SM |
//!
//! # Ports and timing
//! All outputs come from registers, `rank_o` through the comparison of the quotas. Below, quotas are 3 and 1 per set.
//!
//! ```text
//! clk_i           __/--\__/--\__/--\__/--\__/--\__
//! issue_i         __/-----------------------\_____
//! issue_kernel_i  ==< 0  >< 0  >< 0  >< 0  >======
//! quotas_o        =<3,1 ><2,1 ><1,1 ><3,2 ><2,2 >=     kernel 0, kernel 1
//! rank_o          =<0,1                          >     kernel 0 goes first; at 2,2 too, as the lower number
//! replenish_o     _____________________/-----\____
//! ```
//!
//! # Storage
//! The paper adds one 10-bit instruction counter per kernel to the MILG (whose request counter it shares) and "extra
//! arithmetic logics"; that makes 20 bits with two kernels. This block stands alone and holds 127: per kernel the two counters
//! (10 each), r (6), the quota (7) and the set (6); for the sequential computation per kernel a quotient and a remainder
//! (6 + 5), and once more those that are added (6 + 5); the computation's state (3), and two flags (2). The paper counts
//! neither quotas nor what computes them.

mod corners;
mod model;
mod rtl;
mod stimulus;

pub use model::QbmiModel;
pub use rtl::{QbmiIn, QbmiOut, QbmiTop};

use selvedge_hw::block::{Claim, Facts, HwBlock, RtlBlock, StimulusIter, Storage};
use selvedge_hw::block_params;
use selvedge_hw::corners::Corners;
use selvedge_hw::params::{Allowed, ParamError, ParamSpec};

/// Most requests that a memory instruction makes: one per lane of a warp.
pub const MOST_REQUESTS: u32 = 32;

/// Width of the counters of instructions and of requests.
const COUNT_BITS: usize = 10;

/// Width of the requests per instruction.
const REQUESTS_BITS: usize = 6;

/// Width of a remainder of a division by the requests per instruction.
const REST_BITS: usize = 5;

block_params! {
    /// Parameters of a QBMI.
    pub struct QbmiParams {
        /// Kernels that share the SM.
        kernels: u32 = 2, Allowed::OneOf(&[2, 3, 4]);
    }
}

impl QbmiParams {
    /// Width of a kernel's number and of its rank.
    pub const fn kernel_bits(&self) -> usize {
        if self.kernels == 2 { 1 } else { 2 }
    }

    /// Width of a quota in a set: the least common multiple of all kernels but one can be 32, 32 x 31 or 32 x 31 x 29.
    pub const fn set_bits(&self) -> usize {
        match self.kernels {
            2 => 6,
            3 => 10,
            _ => 15,
        }
    }

    /// Width of a kernel's current quota: room for two sets.
    pub const fn quota_bits(&self) -> usize {
        self.set_bits() + 1
    }

    /// The largest current quota, at which it saturates.
    pub fn most_quota(&self) -> u32 {
        (1 << self.quota_bits()) - 1
    }
}

impl QbmiOut {
    /// The rank of a kernel.
    pub fn rank(&self, params: &QbmiParams, kernel: u32) -> u32 {
        let bits = params.kernel_bits() as u32;
        (u32::from(self.rank_o) >> (kernel * bits)) & ((1 << bits) - 1)
    }

    /// The current quota of a kernel.
    pub fn quota(&self, params: &QbmiParams, kernel: u32) -> u32 {
        let bits = params.quota_bits() as u32;
        (self.quotas_o >> (kernel * bits)) as u32 & params.most_quota()
    }
}

/// The QBMI; see the [module](self).
pub struct Qbmi;

impl HwBlock for Qbmi {
    const NAME: &'static str = "qbmi";
    const SUMMARY: &'static str =
        "ranks kernels by memory-instruction quotas, so that all make equally many memory requests";
    const MODULE: &'static str = include_str!("mod.rs");
    const SOURCE: &'static str = "Dai, section 4.3.2";
    const PARAMS: &'static [ParamSpec] = QbmiParams::SPECS;
    const CLAIM: Option<Claim> = Some(Claim { bits: 20, source: "Dai, section 4.4.4" });
    type Params = QbmiParams;
    type In = QbmiIn;
    type Out = QbmiOut;
    type Model = QbmiModel;

    fn model(params: &QbmiParams) -> Result<QbmiModel, ParamError> {
        Self::validate(params)?;
        Ok(QbmiModel::new(params))
    }
    fn rtl(params: &QbmiParams) -> Result<Box<dyn RtlBlock<QbmiIn, QbmiOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::qbmi(params))
    }
    fn facts(params: &QbmiParams) -> Facts {
        let kernels = params.kernels as usize;
        let set = params.set_bits();
        Facts {
            storage: vec![
                Storage { name: "instructions in the interval", bits: kernels * COUNT_BITS },
                Storage { name: "requests in the interval", bits: kernels * COUNT_BITS },
                Storage { name: "requests per instruction", bits: kernels * REQUESTS_BITS },
                Storage { name: "quotas", bits: kernels * params.quota_bits() },
                Storage { name: "set of quotas", bits: kernels * set },
                Storage { name: "common multiple by kernel", bits: kernels * (set + REST_BITS) },
                Storage { name: "what is added to it", bits: kernels * (set + REST_BITS) },
                Storage { name: "start, busy, kernel in turn", bits: 2 + params.kernel_bits() },
                Storage { name: "replenish and update flags", bits: 2 },
            ],
            latency: 1,
            interval: 1,
        }
    }
    fn stimulus(params: &QbmiParams, seed: u64) -> StimulusIter<QbmiIn> {
        Box::new(stimulus::qbmi(params, seed))
    }
    fn corners(params: &QbmiParams) -> Box<dyn Corners<QbmiIn, QbmiOut>> {
        Box::new(corners::QbmiCorners::new(params))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_the_sum_that_the_module_states() {
        assert_eq!(Qbmi::facts(&QbmiParams::default()).storage_bits(), 127);
    }

    #[test]
    fn a_parameter_out_of_range_is_refused_with_what_is_allowed() {
        let error = Qbmi::model(&QbmiParams { kernels: 5 }).unwrap_err().to_string();
        assert_eq!(error, "qbmi: parameter `kernels` = `5`: must be 2, 3, 4");
    }
}
