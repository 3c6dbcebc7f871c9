//! AWC, assist warp controller: runs assist warps on an SM, from trigger events to instructions for the schedulers.
//!
//! Source: CABA, sections 4.3 and 4.4. In the paper the controller contains the table, and the store and the buffer are
//! separate. Here it contains all three ([`awt`](super::awt), [`aws`](super::aws), [`awb`](super::awb)), so that an SM steps
//! one instance. It adds the map of events, the throttle, and the connections between the three blocks.
//!
//! ```text
//!                    +-----------------------------------------------------------------------------+
//!  map_* ----------->| [ 32 events: on, priority, SR.ID, SR.End ]                                   |
//!  trigger_* ------->|     |                                                                        |
//!                    |     v             SR.ID, Inst.ID                 word                        |
//!                    |  [ awt ] --deploy--+----------------> [ aws ] -----------+                   |
//!                    |   ^  ^  ^          +-- warp, lanes, live, last [ reg ]   |                   |
//!  busy_i, idle_i -->| [throttle] |                               |             |                   |
//!  load_* ---------->|------|--|--|-------------------> (aws)     v             v                   |--> high_valid_o
//!                    |      |  |  +----- room, per warp -------- [ awb ]                            |<-> issue0_*
//!                    |      |  +-------- room, low priority -----                                   |<-> issue1_*
//!  kill_* ---------->|------+--------------- flush ------------->                                   |<-> low_*
//!                    +-----------------------------------------------------------------------------+
//! ```
//!
//! The programmer writes the map: each event starts one routine with one priority. For compression, an event combines the
//! encoding of a line and its direction, load or store (section 5.2.1); five bits hold both.
//!
//! Choices where the paper is silent:
//! - An event that is not in the map is never taken; `trigger_known_o` distinguishes it from an event that the table refuses.
//!   `trigger_high_o` is low if the refused routine may be dropped.
//! - Throttle. The paper monitors "the utilization of the functional units and idleness of the cores" and gives no rule. Here
//!   both are counted over windows of 128 cycles. Deployment is throttled in the next window if a class of units was busy in
//!   more than `busy_limit` cycles, or if fewer than `idle_limit` cycles were idle.
//! - Only low priority is throttled. High priority is "required for correctness" and its parent waits for it: throttling it
//!   would stall the warps whose lines have already arrived. Low-priority triggers are taken while throttled, until the table
//!   refuses them; a refused store leaves uncompressed. Nothing waits for low priority, so throttling cannot deadlock.
//! - `busy_i` has three bits (arithmetic, special functions, load-store); the SM defines when a class is busy. `idle_i` is high
//!   in a cycle in which no scheduler issues for a regular warp or at high priority. An idle cycle that low priority uses still
//!   counts as idle; otherwise low-priority instructions would cause their own throttling.
//! - A kill acts on the table and the buffer in the same cycle. An instruction that was fetched in the cycle before is flushed
//!   as it reaches the buffer. So after the cycle of the kill nothing of the assist warp is left.
//! - The block does not report the end of a routine's execution. It ends when the instruction marked as last leaves the
//!   pipeline.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `entries` | 48 | 8, 48 | active assist warps at the same time |
//! | `busy_limit` | 96 | 64, 96, 128 | busy cycles of a class of units in a window above which low priority is throttled; 128 never throttles |
//! | `idle_limit` | 8 | 0, 8 | idle cycles in a window below which low priority is throttled; 0 never throttles |
//!
//! # Ports and timing
//! `high_valid_o`, `low_*`, `throttled_o`, `full_o` and `active_o` come from registers. `issue*_o` come from memories, at the
//! index of the same cycle. `trigger_*_o` follow from registers and the trigger, `fetch_o` from registers and the kill. An
//! event must be mapped and its routine loaded before it is triggered; other routines may run during this time.
//!
//! ```text
//! clk_i            __/--\__/--\__/--\__/--\__/--\__/--\__
//! trigger_valid_i  __/-----\_____________________________   warp 6, a routine of two instructions, high priority
//! fetch_o          ________/-----------\_________________
//! high_valid_o[6]  ____________________/-----------\_____
//! issue0_index_i   ====================< 3        >======
//! issue0_pop_i     ____________________/-----------\_____
//! issue0_last_o    __________________________/-----\_____
//! ```
//!
//! # Storage
//! By default 56,001 bits: the table 5,678, the store 32,833, the buffer 16,929 (see their pages), and 561 in the controller
//! itself. The controller has the map (32 x 13) and its 32 flags, four counters of 8 bits, the cycle in the window (7), the
//! throttle's output (1), and 73 bits for the instruction that is being fetched. The paper gives no size.

mod control;
mod model;
mod params;
#[cfg(test)]
mod properties;
mod rtl;
mod stimulus;

pub use model::AwcModel;
pub use params::{AwcParams, EVENT_BITS, UNITS, WINDOW};
pub use rtl::{AssistWarpController, AwcIn, AwcOut};

use super::awb::Awb;
use super::aws::Aws;
use super::awt::Awt;
use crate::widths::{LIVE_BITS, MASK_BITS, WARP_BITS};
use params::{BUFFER, COUNT_BITS, ROUTE_BITS, STORE, WINDOW_BITS};
use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StimulusIter, Storage};
use selvedge_hw::corners::{Corners, PortCorners};
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::ports::Payload;
use selvedge_hw::wave_event::WaveEvent;

/// The AWC; see the [module](self).
pub struct Awc;

impl HwBlock for Awc {
    const NAME: &'static str = "awc";
    const SUMMARY: &'static str = "deploys assist warps on trigger events, issues their instructions to the schedulers, and throttles them by utilization";
    const MODULE: &'static str = concat!(include_str!("mod.rs"), include_str!("../lib.rs"));
    const SOURCE: &'static str = "CABA, sections 4.3 and 4.4";
    const PARAMS: &'static [ParamSpec] = AwcParams::SPECS;
    const VERILOG_PARAMETERS: &'static [&'static str] = &["busy_limit"];
    const PAYLOADS: &'static [Payload] = &[
        Payload { valid: "trigger_known_o", ports: &["trigger_high_o"] },
        Payload {
            valid: "low_valid_o",
            ports: &[
                "low_warp_o",
                "low_instruction_o",
                "low_mask_o",
                "low_live_in_o",
                "low_live_out_o",
                "low_last_o",
            ],
        },
    ];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item(
            "trigger",
            &["trigger_valid_i", "trigger_ready_o"],
            &["trigger_event_i", "trigger_warp_i"],
        ),
        WaveEvent::item("issue0", &["issue0_pop_i"], &["issue0_index_i"]),
        WaveEvent::item("issue1", &["issue1_pop_i"], &["issue1_index_i"]),
        WaveEvent::item("low_issue", &["low_valid_o", "low_pop_i"], &["low_warp_o"]),
        WaveEvent::decision("throttled", &["throttled_o"], &[]),
    ];
    type Params = AwcParams;
    type In = AwcIn;
    type Out = AwcOut;
    type Model = AwcModel;

    fn model(params: &AwcParams) -> Result<AwcModel, ParamError> {
        Self::validate(params)?;
        Ok(AwcModel::new(params))
    }
    fn rtl(params: &AwcParams) -> Result<Box<dyn RtlBlock<AwcIn, AwcOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::awc(params))
    }
    fn facts(params: &AwcParams) -> Facts {
        let events = 1 << EVENT_BITS;
        Facts {
            storage: vec![
                Storage { name: "assist warp table", bits: Awt::facts(&params.table()).storage_bits() },
                Storage { name: "assist warp store", bits: Aws::facts(&STORE).storage_bits() },
                Storage { name: "assist warp buffer", bits: Awb::facts(&BUFFER).storage_bits() },
                Storage { name: "map of events", bits: events * ROUTE_BITS },
                Storage { name: "events in the map", bits: events },
                Storage { name: "busy and idle cycles", bits: (UNITS + 1) * COUNT_BITS },
                Storage { name: "cycle in the window, throttled", bits: WINDOW_BITS + 1 },
                Storage {
                    name: "instruction that is being fetched",
                    bits: 1 + WARP_BITS + 2 + MASK_BITS + 2 * LIVE_BITS,
                },
            ],
            latency: 3,
            interval: 1,
        }
    }
    fn stimulus(params: &AwcParams, seed: u64) -> StimulusIter<AwcIn> {
        Box::new(stimulus::awc(params, seed))
    }
    fn corners(_params: &AwcParams) -> Box<dyn Corners<AwcIn, AwcOut>> {
        let taken = |i: &AwcIn, o: &AwcOut| i.trigger_valid_i && o.trigger_ready_o;
        let refused = |i: &AwcIn, o: &AwcOut| i.trigger_valid_i && !o.trigger_ready_o;
        let holds = |o: &AwcOut, warp: u8| o.high_valid_o >> warp & 1 == 1;
        let pops0 = move |i: &AwcIn, o: &AwcOut| i.issue0_pop_i && holds(o, 2 * i.issue0_index_i);
        let pops1 = move |i: &AwcIn, o: &AwcOut| i.issue1_pop_i && holds(o, 2 * i.issue1_index_i + 1);
        let low_pops = |i: &AwcIn, o: &AwcOut| i.low_pop_i && o.low_valid_o;
        Box::new(
            PortCorners::new(|_: &AwcIn, o: &AwcOut| o.fetch_o)
                .with("an event that is not in the map", 100, move |i, o| refused(i, o) && !o.trigger_known_o)
                .with("a full table refuses an event", 100, move |i, o| {
                    refused(i, o) && o.trigger_known_o && o.full_o
                })
                .with("low priority is taken while throttled", 100, move |i, o| {
                    taken(i, o) && !o.trigger_high_o && o.throttled_o
                })
                .with("high priority issues while throttled", 1000, move |i, o| pops0(i, o) && o.throttled_o)
                .with("both schedulers issue", 1000, move |i, o| pops0(i, o) && pops1(i, o))
                .with("low priority issues", 1000, low_pops)
                .with("a low-priority routine ends", 100, move |i, o| low_pops(i, o) && o.low_last_o)
                .with("a kill takes a high-priority instruction", 100, move |i, o| {
                    i.kill_high_i && holds(o, i.kill_warp_i)
                })
                .with("a kill takes a low-priority instruction", 100, |i, o| {
                    i.kill_low_i && o.low_valid_o && o.low_warp_o == i.kill_warp_i
                })
                .with("an event leaves the map", 100, |i, _| i.map_write_i && !i.map_enable_i)
                .with("an event's line is written as it triggers", 100, move |i, o| {
                    taken(i, o) && i.map_write_i && i.map_event_i == i.trigger_event_i
                })
                .with("a word is loaded as another is fetched", 100, |i, o| i.load_i && o.fetch_o),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_the_sum_that_the_module_states() {
        assert_eq!(Awc::facts(&AwcParams::default()).storage_bits(), 56_001);
    }

    #[test]
    fn a_parameter_out_of_range_is_refused_with_what_is_allowed() {
        let params = AwcParams { busy_limit: 100, ..AwcParams::default() };
        let error = Awc::model(&params).unwrap_err().to_string();
        assert_eq!(error, "awc: parameter 'busy_limit' = '100': must be 64, 96, 128");
    }
}
