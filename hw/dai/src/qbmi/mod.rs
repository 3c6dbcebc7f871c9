//! QBMI, quota-based memory-instruction issuing: ranks the kernels on an SM for the issue of memory instructions.
//!
//! Source: Dai, section 4.3.2 (balanced memory request issuing), hardware cost in section 4.4.4.
//!
//! A memory instruction of one kernel may make one request to the L1D, that of another kernel 32. If kernels alternate by
//! instruction, they make unequal numbers of requests. QBMI gives kernel i, whose instructions make r_i requests on average, the
//! quota
//!
//! ```text
//! quota_i = LCM(r_0, .., r_n) / r_i
//! ```
//!
//! Each memory instruction reduces the quota of its kernel by one, and the kernel with the larger quota goes first. When a quota
//! reaches zero, a new set of quotas is added for all kernels, so that every quota is positive. Over one set, every kernel makes
//! LCM requests. Each kernel's r is measured again over every 1,024 of its requests.
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
//! Computation in hardware:
//! - r is 1,024 / instructions, rounded to the nearest integer and clamped to 1 to 32. The dividend is a constant, so that 31
//!   constant thresholds replace a divider. At most one request is made per cycle, so that at most one interval ends per cycle.
//!   One table therefore serves all kernels.
//! - LCM and quotas need no gcd, divider or multiplier. A common multiple of the r_i is represented only by its quotient and
//!   remainder by each r_i. The multiple starts as 1. The kernels are processed in order. For each kernel, the multiple at the
//!   start of its turn is added repeatedly until the kernel's remainder is zero. Afterwards the multiple is the LCM, and the
//!   quotients are the quotas. Kernel i takes r_i / gcd(r_i, LCM of the previous kernels) cycles: in total 2 to 63 cycles with
//!   two kernels, at most 119 with four. During this time the old set stays in force. If the r of a kernel changes, the
//!   computation restarts.
//!
//! Choices where the paper is silent:
//! - At most one memory instruction issues and one request is made per cycle, because an SM has one load/store unit.
//! - r is rounded, because a common multiple needs integers. A request comes from one of 32 lanes, so that r is at most 32.
//! - Equal quotas: the lower kernel number goes first. With instructions always ready, each set is then issued exactly: at its
//!   end, kernel 0 is at zero and all others are at one. Alternating at equal quotas would let this drift by one.
//! - A set is added in the cycle in which a quota would reach zero; a quota of zero is never visible.
//! - Quotas saturate at a value that holds two of the largest sets. With instructions always ready, a quota is at most one set
//!   plus one. A kernel that issues nothing while others issue accumulates sets. When it issues again, it goes first, for at most
//!   the saturated quota.
//! - Quotas are exact and not scaled down: four kernels with 32, 31, 29 and 27 requests have quotas from 24,273 to 28,768. A
//!   kernel waits for at most the quotas of the others.
//! - The interval ends with its last request. r is computed from the instructions counted before that cycle; an instruction of
//!   that cycle belongs to the next interval. The instruction counter saturates. An interval without instructions counts as 32
//!   requests per instruction.
//! - After reset, r and quotas are 1: kernels alternate.
//! - An instruction or request with an unused kernel number is ignored (possible with three kernels).
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
//! rank_o          =<0,1                          >     kernel 0 goes first; also at 2,2, because its number is lower
//! replenish_o     _____________________/-----\____
//! ```
//!
//! # Storage
//! The paper adds one 10-bit instruction counter per kernel to the MILG (whose request counter it shares) and "extra arithmetic
//! logics": 20 bits with two kernels. This block is independent of the MILG and holds 127 bits with two kernels:
//! - per kernel the two counters (10 each), r (6), the quota (7) and the set (6);
//! - per kernel, for the computation, a quotient and a remainder (6 + 5), and those at the start of the turn (6 + 5);
//! - the state of the computation (3) and two flags (2).
//!
//! The paper counts neither the quotas nor the logic that computes them.

mod corners;
mod model;
mod params;
#[cfg(test)]
mod properties;
mod rtl;
mod stimulus;

pub use model::QbmiModel;
pub use params::{MOST_REQUESTS, QbmiParams};
pub use rtl::{QbmiIn, QbmiOut, QbmiTop};

use params::{COUNT_BITS, REQUESTS_BITS, REST_BITS};
use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StatedStorage, StimulusIter, Storage};
use selvedge_hw::corners::Corners;
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::wave_event::WaveEvent;

impl QbmiOut {
    /// Returns the rank of a kernel; 0 goes first.
    pub fn rank(&self, params: &QbmiParams, kernel: u32) -> u32 {
        let bits = params.kernel_bits() as u32;
        (u32::from(self.rank_o) >> (kernel * bits)) & ((1 << bits) - 1)
    }

    /// Returns the current quota of a kernel.
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
        "ranks kernels by memory-instruction quotas, so that all make the same number of memory requests";
    const MODULE: &'static str = include_str!("mod.rs");
    const SOURCE: &'static str = "Dai, section 4.3.2";
    const PARAMS: &'static [ParamSpec] = QbmiParams::SPECS;
    const CLAIM: Option<StatedStorage> = Some(StatedStorage { bits: 20, source: "Dai, section 4.4.4" });
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("issue", &["issue_i"], &["issue_kernel_i"]),
        WaveEvent::item("request", &["request_i"], &["request_kernel_i"]),
        WaveEvent::decision("replenish", &["replenish_o"], &["quotas_o"]),
        WaveEvent::decision("update", &["update_o"], &["quotas_o"]),
    ];
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
        assert_eq!(error, "qbmi: parameter 'kernels' = '5': must be 2, 3, 4");
    }
}
