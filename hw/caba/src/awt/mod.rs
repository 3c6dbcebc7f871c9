//! AWT, assist warp table: holds the active assist warps of an SM and the next instruction of each.
//!
//! Source: CABA, sections 4.3 and 4.4 (figure 5).
//!
//! ```text
//!                 warp  SR.ID  priority  lanes  live-in  live-out  SR.End  Inst.ID
//!  trigger_* --> +-----------------------------------------------------------------+
//!   (ready: an   |  5     2      high    ffff..   r4 r5    r8 r9      11      3    |
//!  entry is free)|  9    16      low     ffff..   r2 r3     -         70     42    |--> room? --> round-robin --> deploy_*
//!                |  ...                                                            |    (one per cycle; Inst.ID + 1;
//!  kill_* ------>+-----------------------------------------------------------------+     freed after SR.End)
//! ```
//!
//! A trigger takes a free entry. In every cycle one ready entry is deployed, round-robin: its warp, SR.ID, Inst.ID and the
//! other fields go out, and its Inst.ID increments. After the instruction SR.End the entry is free. A high-priority entry is
//! ready when the buffer has room for its warp (`high_room_i`). A low-priority entry is ready when its partition has room and
//! low priority is not throttled (`low_room_i`). So a deployed instruction always finds a free slot, and no assist warp waits
//! behind another.
//!
//! Choices where the paper is silent:
//! - Entries are not tied to warps: a warp may have a decompression and a compression at the same time. A warp has at most one
//!   instance of a routine, as section 4.2.2 demands, because all instances share registers. A second trigger is refused
//!   (`trigger_ready_o` is low) until the first instance is completely deployed.
//! - SR.End is the Inst.ID of the routine's last instruction; it comes with the trigger.
//! - `trigger_ready_o` is low for a trigger that finds no free entry. The trigger may be held or withdrawn; a store then leaves
//!   uncompressed. The lowest quarter of the entries takes high priority only. So throttled compressions can never fill the
//!   table and block the decompression of loads.
//! - A kill has a warp and a priority. A low-priority assist warp that is no longer beneficial can be killed alone, without one
//!   that is needed for correctness (high priority). A kill acts before the deployment of the same cycle; from then on nothing
//!   of the killed assist warps is deployed. A trigger in the same cycle is younger than the kill and stays.
//! - Two register IDs of 8 bits are live-in and two are live-out; the instructions refer to them. A routine that needs fewer
//!   ignores the rest.
//! - Round-robin: the search starts after the entry that was deployed last. High priority goes first only at issue, not here.
//!   An entry that stays ready is deployed within `entries` cycles.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `entries` | 48 | 8, 48 | active assist warps; 48 is one per warp |
//!
//! # Ports and timing
//! `deploy_*` follow from registers and from `high_room_i`, `low_room_i` and the kill of the same cycle. `trigger_ready_o`
//! follows from registers and the trigger. `full_o` and `active_o` come from registers. While `deploy_valid_o` is low, the
//! other `deploy_*` have no meaning.
//!
//! ```text
//! clk_i            __/--\__/--\__/--\__/--\__
//! trigger_valid_i  __/-----\_________________   SR.End = 1
//! trigger_ready_o  --------\___________/-----   for the same warp and SR.ID
//! deploy_valid_o   ________/-----------\_____
//! deploy_inst_o    ========< 0  >< 1  >======
//! deploy_last_o    ______________/-----\_____
//! ```
//!
//! # Storage
//! By default 5,678 bits. 672 are registers: warp and SR.ID of all entries, which are compared in parallel (48 x 11), and three
//! flags per entry (valid, high priority, started). Two memories have one word per entry; they have 64 words because addresses
//! have 6 bits. They hold lanes, live registers and SR.End (64 x 71), and Inst.ID (64 x 7). The position of the last deployment
//! takes 14 bits: the entries are searched as 6 rows of 8, and the position is one bit per row and a mask of the columns after
//! it. The paper gives no size.

mod corners;
mod model;
mod params;
#[cfg(test)]
mod properties;
mod rtl;
mod stimulus;

pub use model::AwtModel;
pub use params::AwtParams;
pub(crate) use params::KEY_BITS;
pub use rtl::{AssistWarpTable, AwtIn, AwtOut};

use crate::widths::{INST_BITS, LIVE_BITS, MASK_BITS, SR_BITS, WARP_BITS};
use params::ROW;
use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StimulusIter, Storage};
use selvedge_hw::corners::Corners;
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::ports::Payload;
use selvedge_hw::wave_event::WaveEvent;

/// The AWT; see the [module](self).
pub struct Awt;

impl HwBlock for Awt {
    const NAME: &'static str = "awt";
    const SUMMARY: &'static str =
        "tracks the active assist warps and deploys one instruction per cycle in round-robin order";
    const MODULE: &'static str = concat!(include_str!("mod.rs"), include_str!("../lib.rs"));
    const SOURCE: &'static str = "CABA, section 4.4";
    const PARAMS: &'static [ParamSpec] = AwtParams::SPECS;
    const PAYLOADS: &'static [Payload] = &[Payload {
        valid: "deploy_valid_o",
        ports: &[
            "deploy_warp_o",
            "deploy_high_o",
            "deploy_sr_o",
            "deploy_inst_o",
            "deploy_last_o",
            "deploy_mask_o",
            "deploy_live_in_o",
            "deploy_live_out_o",
        ],
    }];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item(
            "trigger",
            &["trigger_valid_i", "trigger_ready_o"],
            &["trigger_warp_i", "trigger_sr_i"],
        ),
        WaveEvent::item("deployed", &["deploy_valid_o"], &["deploy_warp_o", "deploy_sr_o", "deploy_inst_o"]),
        WaveEvent::decision("full", &["full_o"], &[]),
    ];
    type Params = AwtParams;
    type In = AwtIn;
    type Out = AwtOut;
    type Model = AwtModel;

    fn model(params: &AwtParams) -> Result<AwtModel, ParamError> {
        Self::validate(params)?;
        Ok(AwtModel::new(params))
    }
    fn rtl(params: &AwtParams) -> Result<Box<dyn RtlBlock<AwtIn, AwtOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::awt(params))
    }
    fn facts(params: &AwtParams) -> Facts {
        let entries = params.entries as usize;
        let words = 1 << params.index_bits();
        Facts {
            storage: vec![
                Storage { name: "warp and SR.ID", bits: entries * (WARP_BITS + SR_BITS) },
                Storage { name: "valid, high priority, started", bits: 3 * entries },
                Storage {
                    name: "lanes, live registers, SR.End",
                    bits: words * (MASK_BITS + 2 * LIVE_BITS + INST_BITS),
                },
                Storage { name: "Inst.ID", bits: words * INST_BITS },
                Storage { name: "place of the last deployment", bits: params.rows() + ROW },
            ],
            latency: 1,
            interval: 1,
        }
    }
    fn stimulus(params: &AwtParams, seed: u64) -> StimulusIter<AwtIn> {
        Box::new(stimulus::awt(params, seed))
    }
    fn corners(params: &AwtParams) -> Box<dyn Corners<AwtIn, AwtOut>> {
        Box::new(corners::AwtCorners::new(params))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_the_sum_that_the_module_states() {
        let facts = Awt::facts(&AwtParams::default());
        assert_eq!((facts.storage[0].bits + facts.storage[1].bits, facts.storage_bits()), (672, 5678));
    }

    #[test]
    fn a_parameter_out_of_range_is_refused_with_what_is_allowed() {
        let error = Awt::model(&AwtParams { entries: 49 }).unwrap_err().to_string();
        assert_eq!(error, "awt: parameter 'entries' = '49': must be 8, 48");
    }
}
