//! MILG, memory-instruction-limit generator: limits the memory instructions of a kernel in flight on an SM.
//!
//! Source: Dai, section 4.3.3.2 (dynamic memory instruction limiting, figure 36), hardware cost in section 4.4.4.
//!
//! One MILG watches one kernel on one SM. It counts the kernel's memory instructions in flight with their maximum, and its
//! reservation failures. After every 2^`request_bits` memory requests (1,024), it sets a new limit:
//!
//! ```text
//! limit = max(1, min(max_inflight, limit) / (reservation failures >> request_bits))
//! ```
//!
//! The shift turns the count into failures per request. The goal is less than one failure per request: if the shift gives 0, the
//! limit does not change. At the end of an interval, the maximum restarts from the current number in flight, the failure counter
//! from zero. `may_issue_o` gates the issue of the kernel's memory instructions.
//!
//! Choices where the paper is silent:
//! - The paper does not define the quotient by zero. It says: "The number of inflight memory instructions from a kernel is
//!   reduced when there are more than one reservation failures per memory request and the ultimate goal is to achieve at most
//!   one". A limit with less than one failure per request has reached the goal, and would lose it if the limit were lifted. A
//!   limit therefore never rises.
//! - Instructions in flight when a new limit is set can exceed it until they complete. They say nothing about the traffic under
//!   the new limit: the interval's maximum counts at most `limit` instructions.
//! - The interval ends with its last request. The limit is computed from the counters before that cycle. Events of that cycle
//!   belong to the next interval, so that no adder precedes the divider.
//! - Counters saturate. The in-flight counter cannot overflow while the issuing side respects `may_issue_o` and issues one
//!   instruction at a time. A completion with no instruction in flight leaves zero.
//! - The in-flight counter is not reset at the end of an interval.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `inflight_bits` | 7 | 6, 7, 8 | width of the in-flight counter, its maximum and the limit |
//! | `rsfail_bits` | 12 | 12, 14 | width of the saturating reservation-failure counter |
//! | `request_bits` | 10 | 8, 10 | width of the request counter, and the shift |
//!
//! # Ports and timing
//! `issued_i` and `completed_i` are numbers of instructions in this cycle, 0 to 3. All outputs come from registers.
//!
//! ```text
//! clk_i        __/--\__/--\__/--\__/--\__
//! issued_i     ==< 1  >< 0  >< 0  >< 0  >
//! request_i    ________/-----\___________   the 1024th request
//! inflight_o   ==< 4  >< 5  >< 5  >< 5  >
//! limit_o      ==< 127       >< new      >
//! update_o     _______________/-----\____   the limit is new in this cycle
//! ```
//!
//! # Storage
//! The paper counts 7 + 12 + 10 = 29 bits. This block holds 44 bits: the three counters, the limit (7), the interval's maximum
//! (7) and the `update_o` flag (1). The formula needs limit and maximum, but the paper's sum omits them.

mod model;
mod params;
#[cfg(test)]
mod properties;
mod rtl;
mod stimulus;

pub use model::MilgModel;
pub use params::MilgParams;
pub use rtl::{MilgIn, MilgOut, MilgTop};

use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StatedStorage, StimulusIter, Storage};
use selvedge_hw::corners::Corners;
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::wave_event::WaveEvent;

/// The MILG; see the [module](self).
pub struct Milg;

impl HwBlock for Milg {
    const NAME: &'static str = "milg";
    const SUMMARY: &'static str =
        "limits a kernel's memory instructions in flight, from its reservation failures per request";
    const MODULE: &'static str = include_str!("mod.rs");
    const SOURCE: &'static str = "Dai, section 4.3.3.2";
    const PARAMS: &'static [ParamSpec] = MilgParams::SPECS;
    const VERILOG_PARAMETERS: &'static [&'static str] = &["inflight_bits", "rsfail_bits", "request_bits"];
    const CLAIM: Option<StatedStorage> = Some(StatedStorage { bits: 29, source: "Dai, section 4.3.3.2" });
    const EVENTS: &'static [WaveEvent] = &[WaveEvent::decision("update", &["update_o"], &["limit_o"])];
    type Params = MilgParams;
    type In = MilgIn;
    type Out = MilgOut;
    type Model = MilgModel;

    fn model(params: &MilgParams) -> Result<MilgModel, ParamError> {
        Self::validate(params)?;
        Ok(MilgModel::new(params))
    }
    fn rtl(params: &MilgParams) -> Result<Box<dyn RtlBlock<MilgIn, MilgOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::milg(params))
    }
    fn facts(params: &MilgParams) -> Facts {
        let inflight = params.inflight_bits as usize;
        Facts {
            storage: vec![
                Storage { name: "instructions in flight", bits: inflight },
                Storage { name: "their maximum in the interval", bits: inflight },
                Storage { name: "reservation failures", bits: params.rsfail_bits as usize },
                Storage { name: "requests", bits: params.request_bits as usize },
                Storage { name: "limit", bits: inflight },
                Storage { name: "update flag", bits: 1 },
            ],
            latency: 1,
            interval: 1,
        }
    }
    fn stimulus(params: &MilgParams, seed: u64) -> StimulusIter<MilgIn> {
        Box::new(stimulus::milg(params, seed))
    }
    fn corners(params: &MilgParams) -> Box<dyn Corners<MilgIn, MilgOut>> {
        Box::new(stimulus::MilgCorners::new(params))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_the_sum_that_the_module_states() {
        assert_eq!(Milg::facts(&MilgParams::default()).storage_bits(), 44);
    }
}
