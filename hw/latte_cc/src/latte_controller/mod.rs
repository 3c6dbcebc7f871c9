//! LATTE-CC controller: chooses one of three compression modes for the lines that an L1D inserts.
//!
//! Source: LATTE-CC, section III, with the parameters of section IV.C.3.
//!
//! Time is counted in experimental phases (EPs) of 256 L1 accesses; ten EPs are a period. The first EP of a period learns: four
//! sets are dedicated to each mode {none, low-latency, high-capacity}. In these sets each mode's insertions (N_miss) and hits
//! (N_hit) are counted. Hits are counted for one more EP, because compression pays off later. The controller decides at the end
//! of every EP. It chooses the mode with the lowest average memory access time, less the latency that the pipeline hides. All
//! sets that are not dedicated use the chosen mode:
//!
//! ```text
//! AMAT = (N_hit x max(hit latency - latency tolerance, 0) + N_miss x miss latency) / (N_hit + N_miss)
//! latency tolerance = mean warps available x mean execution cycles per schedule, over the EP
//! ```
//!
//! ```text
//!  access, set, hit, insert -> [EPs of the period] -> learning, build, new codes
//!                        \---> [dedicated set?] ----> N_hit, N_miss per mode ---\
//!  schedules, warps, cycles -> [sums of the EP] ---> tolerance -----------------+-> [decide] -> mode
//!  hit latencies, miss latency -> [running means] ------------------------------/
//!  lookup_set_i -> [dedicated set?] -> its mode, or the chosen one -> lookup_mode_o
//! ```
//!
//! Choices where the paper is silent, and differences from its text:
//! - The paper prints `min` where `max` is meant: a tolerated latency costs nothing, but it is no gain.
//! - Dedicated sets: the two highest bits of the set number are h, the rest is r. A set is dedicated to mode (3 r - h) modulo
//!   the number of values of r, if that is a mode ([`LatteControllerParams::dedicated`]). Each mode gets one set per quarter of
//!   the cache, two even and two odd ones.
//! - An insertion is counted with the access that misses and allocates, so that the counts are bounded: at most 256 insertions
//!   and 512 hits (9 and 10 bits), and at most 512 of both together.
//! - Latency tolerance: a schedule is the series of instructions that a scheduler issues from one warp before it switches to
//!   another. Three sums are kept per EP over all schedulers: the schedules that ended, the warps available at each switch, and
//!   the cycles of the schedules. When 1,022 schedules of two schedulers are counted, all three sums
//!   are halved, so that the number stays below 1,024. Each mean is rounded down, warps
//!   to 1/64 and cycles to 1/16. An EP without a schedule has no tolerance.
//! - Hit latency: the running mean of the effective hit latencies that the decompression queues report per mode (decompression
//!   latency x (queue position + 1)). Miss latency: the running mean of the L1 miss round trips. Each new value has a weight of
//!   1/16. The means have 8 fractional bits; the decision uses 4 of them. They start at 2 and 14 cycles (table I) and 120
//!   cycles (table II).
//! - Modes are compared by cross-multiplication. In a tie the simpler mode wins, also if a mode's dedicated sets had no access.
//! - The decision takes 55 cycles from `ep_end_o` to `decided_o`, because it handles one bit of every product per cycle. The
//!   former mode stays until then. The mode changes at no other time.
//! - SC's codes: while `build_o` is high, values are counted: in the last EP of each period and in the first EP after reset.
//!   `new_codes_o` is high in the cycle after the counting: new codes are ready, and lines with older codes are invalid.
//!
//! `policy` selects the paper's rivals (section V.D), which cost a multiplexer each. 1 is Adaptive-Hit-Count: the mode with the
//! most hits wins. 2 is Adaptive-CMP, which uses the latencies but no tolerance. The rest of Adaptive-CMP, a predictor for the
//! L2 of a CMP, is not modeled.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `ep_accesses` | 256 | 64, 256 | L1 accesses of an EP |
//! | `period_eps` | 10 | 5, 10 | EPs of a period, including the learning EP |
//! | `sets` | 32 | 32, 64, 128, 256 | sets of the cache; four per mode are dedicated while learning |
//! | `schedulers` | 2 | 2, 4, 8 | schedulers of the SM |
//! | `policy` | 0 | 0, 1, 2 | rule of the decision: 0 AMAT with latency tolerance, 1 hit count, 2 AMAT without tolerance |
//!
//! # Ports and timing
//! Any input may be active in any cycle. All outputs come from registers. Modes are 0 none, 1 low-latency, 2 high-capacity.
//!
//! ```text
//! clk_i          __/--\__/--\__/--\__   __/--\__/--\__
//! access_i       __/-----\___________   ______________   the 256th of an EP
//! ep_end_o       ________/-----\_____   ______________
//! learning_o     --------\___________   ______________   it was the first EP of a period
//! decided_o      ____________________   ________/-----   55 cycles after ep_end_o
//! mode_o         ==< 0                            >< 2 >
//! lookup_set_i   ==< 5  >============   ==< 5  >======
//! lookup_mode_o  ========< 0  >======   ========< 2  >
//! ```
//!
//! # Storage
//! The paper counts 134 bytes. 128 bytes are two policy bits in each of the 512 tags of a 16 KB cache with four times the tags;
//! six bytes are the six counters with 8 bits each. The policy bits are in the tags, not in this block. The block holds 496
//! bits. The six counters have 57, because 8 bits each would overflow. The paper does not count the measurement of latencies
//! and tolerance (96), the position in the period (15), the bit-serial divider and comparator (308), and the results of the
//! decision (20).

mod corners;
mod decision;
mod model;
mod params;
#[cfg(test)]
mod properties;
mod rtl;
mod stimulus;

pub use decision::{DecisionInputs, Mode};
pub use model::LatteControllerModel;
pub use params::{DECISION_CYCLES, LatteControllerParams};
pub use rtl::{LatteControllerIn, LatteControllerOut, LatteControllerTop};

use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StatedStorage, StimulusIter, Storage};
use selvedge_hw::corners::Corners;
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::value_names::ValueNames;
use selvedge_hw::wave_event::WaveEvent;

/// The LATTE-CC controller; see the [module](self).
pub struct LatteController;

impl HwBlock for LatteController {
    const NAME: &'static str = "latte_controller";
    const SUMMARY: &'static str = "chooses an L1D's compression mode from sampled sets, hit latencies and the pipeline's latency tolerance";
    const MODULE: &'static str = include_str!("mod.rs");
    const SOURCE: &'static str = "LATTE-CC, section III";
    const OPERATIONS: u64 = 100_000;
    const CLAIM: Option<StatedStorage> =
        Some(StatedStorage { bits: 1072, source: "LATTE-CC, section IV.C.3" });
    const PARAMS: &'static [ParamSpec] = LatteControllerParams::SPECS;
    const VERILOG_PARAMETERS: &'static [&'static str] = &["ep_accesses", "period_eps", "sets"];
    const VALUE_NAMES: &'static [ValueNames] = &[ValueNames {
        what: "latte_mode",
        ports: &["mode_o", "lookup_mode_o"],
        names: &[
            (Mode::None as u64, "none"),
            (Mode::LowLatency as u64, "low_latency"),
            (Mode::HighCapacity as u64, "high_capacity"),
        ],
    }];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("access", &["access_i"], &["set_i"]),
        WaveEvent::item("ep_end", &["ep_end_o"], &[]),
        WaveEvent::decision("decision", &["decided_o"], &["mode_o"]),
    ];
    type Params = LatteControllerParams;
    type In = LatteControllerIn;
    type Out = LatteControllerOut;
    type Model = LatteControllerModel;

    fn model(params: &LatteControllerParams) -> Result<LatteControllerModel, ParamError> {
        Self::validate(params)?;
        Ok(LatteControllerModel::new(params))
    }
    fn rtl(
        params: &LatteControllerParams,
    ) -> Result<Box<dyn RtlBlock<LatteControllerIn, LatteControllerOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::latte_controller(params))
    }
    fn facts(_params: &LatteControllerParams) -> Facts {
        Facts {
            storage: vec![
                Storage { name: "hits per mode", bits: 3 * 10 },
                Storage { name: "insertions per mode", bits: 3 * 9 },
                Storage { name: "accesses of the EP", bits: 8 },
                Storage { name: "EPs of the period", bits: 4 },
                Storage { name: "first period, EP end, new codes", bits: 3 },
                Storage { name: "schedules, warps and cycles of the EP", bits: 10 + 16 + 18 },
                Storage { name: "means of hit latencies and miss latency", bits: 16 + 16 + 20 },
                Storage { name: "decision: phase and step", bits: 3 + 4 },
                Storage { name: "decision: hits and insertions", bits: 3 * (10 + 9) },
                Storage { name: "decision: hit and miss latencies", bits: 12 + 12 + 16 },
                Storage { name: "decision: means by division", bits: 10 + 16 + 18 + 12 + 12 },
                Storage { name: "decision: tolerance", bits: 24 },
                Storage { name: "decision: costs, difference, better one", bits: 3 * 25 + 36 + 1 },
                Storage { name: "mode, its tolerance, decided flag", bits: 2 + 14 + 1 },
                Storage { name: "looked-up mode, dedicated flag", bits: 3 },
            ],
            latency: DECISION_CYCLES + 1,
            interval: 1,
        }
    }
    fn stimulus(params: &LatteControllerParams, seed: u64) -> StimulusIter<LatteControllerIn> {
        Box::new(stimulus::latte_controller(params, seed))
    }
    fn corners(params: &LatteControllerParams) -> Box<dyn Corners<LatteControllerIn, LatteControllerOut>> {
        Box::new(corners::LatteCorners::new(params))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_the_sum_that_the_module_states() {
        let facts = LatteController::facts(&LatteControllerParams::default());
        assert_eq!(facts.storage_bits(), 496);
    }

    #[test]
    fn a_parameter_out_of_range_is_refused_with_what_is_allowed() {
        let params = LatteControllerParams { policy: 3, ..LatteControllerParams::default() };
        let error = LatteController::model(&params).unwrap_err().to_string();
        assert_eq!(error, "latte_controller: parameter 'policy' = '3': must be 0, 1, 2");
    }

    #[test]
    fn each_mode_has_a_dedicated_set_per_quarter_half_of_them_even() {
        for sets in [32, 64, 128, 256] {
            let params = LatteControllerParams { sets, ..LatteControllerParams::default() };
            for mode in Mode::ALL {
                let own: Vec<u32> = (0..sets).filter(|set| params.dedicated(*set) == Some(mode)).collect();
                let quarters: Vec<u32> = own.iter().map(|set| set / (sets / 4)).collect();
                assert_eq!(quarters, [0, 1, 2, 3], "{mode:?}: {own:?}");
                assert_eq!(own.iter().filter(|set| **set % 2 == 0).count(), 2, "{mode:?}: {own:?}");
            }
        }
    }
}
