//! AWB, assist warp buffer: holds fetched assist-warp instructions until they issue.
//!
//! Source: CABA, section 4.3. In the paper it is part of the SM's instruction buffer. A high-priority instruction is next to
//! the instructions of its parent warp; low-priority instructions are in a partition of two entries.
//!
//! ```text
//!  stage_* --+--> [ 24 even warps x 2 instructions ] <--index-- scheduler 0 --> issue0_*
//!            +--> [ 24 odd warps  x 2 instructions ] <--index-- scheduler 1 --> issue1_*
//!            +--> [ 2 low-priority instructions    ] ------------ head -------> low_*
//!  flush_* ------> empties the slots of a warp, takes its instructions out of the low partition
//! ```
//!
//! `high_valid_o` shows the schedulers which warps have an assist-warp instruction. For such a warp a scheduler issues that
//! instruction instead of the parent's own. It sends the warp's index, gets the instruction in the same cycle, and pops it. A
//! scheduler that has nothing else to issue may take the head of the low partition.
//!
//! Choices where the paper is silent:
//! - Two schedulers (table 1) share the warps by parity, so the instructions are in two memories with one read port each. Only
//!   one scheduler may take from the low partition in a cycle; the SM chooses which.
//! - A warp has two slots. Common simulators give a warp's instruction buffer the same size.
//! - Room is reported one cycle ahead. `high_room_o` and `low_room_o` count the instruction that is staged in the same cycle.
//!   So an instruction that is fetched now finds a free slot in the next cycle. A slot that is popped in the same cycle does
//!   not count as free yet.
//! - An instruction that finds no free slot is lost, and `overflow_o` is high in the next cycle. A controller that observes the
//!   room never stages one. A high-priority instruction of a warp from 48 on, which does not exist, is lost in the same way.
//! - A flush has a warp and a priority, like the controller's kill. It also drops an instruction of the warp that is staged in
//!   the same cycle, because that instruction was fetched before. An instruction that issues in the same cycle is issued.
//! - A pop without an instruction has no effect.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `instruction_bits` | 64 | 32, 64 | bits of an instruction |
//!
//! # Ports and timing
//! `high_valid_o`, `low_*` and `overflow_o` come from registers. `issue*_o` come from the memories, at the index of the same
//! cycle; they are zero for a warp that is not in `high_valid_o`. `high_room_o` and `low_room_o` follow from registers and the staged
//! instruction.
//!
//! ```text
//! clk_i            __/--\__/--\__/--\__/--\__
//! stage_valid_i    __/-----------\___________   two instructions of warp 6, high priority
//! high_room_o[6]   --------\___________/-----   already low as the second is staged
//! high_valid_o[6]  ________/-----------\_____
//! issue0_index_i   ========< 3        >======
//! issue0_pop_i     ________/-----------\_____
//! issue0_*_o       ========< 1st >< 2nd >====
//! ```
//!
//! # Storage
//! By default 16,929 bits: 2 memories of 64 words (24 warps x 2 slots, rounded up to 6 bits of address) x 129 bits
//! (instruction, lanes, live registers, last flag), 2 x 136 in the low partition, three flags per warp, and one overflow flag.
//! In the paper high-priority instructions use the existing instruction buffer and cost nothing more. Here they have separate
//! memories, because this block does not hold the parent's instructions.

mod model;
mod params;
#[cfg(test)]
mod properties;
mod rtl;
mod stimulus;

pub use model::AwbModel;
pub use params::AwbParams;
pub(crate) use params::PAIR_BITS;
pub use rtl::{AssistWarpBuffer, AwbIn, AwbOut};

use crate::widths::{WARP_BITS, WARPS};
use params::CONTEXT_BITS;
use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StimulusIter, Storage};
use selvedge_hw::corners::{Corners, PortCorners};
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::ports::Payload;
use selvedge_hw::wave_event::WaveEvent;

/// The AWB; see the [module](self).
pub struct Awb;

impl HwBlock for Awb {
    const NAME: &'static str = "awb";
    const SUMMARY: &'static str = "buffers decoded assist-warp instructions: two of high priority per warp, two of low priority for idle issue slots";
    const MODULE: &'static str = concat!(include_str!("mod.rs"), include_str!("../lib.rs"));
    const SOURCE: &'static str = "CABA, section 4.3";
    const PARAMS: &'static [ParamSpec] = AwbParams::SPECS;
    const VERILOG_PARAMETERS: &'static [&'static str] = &["instruction_bits"];
    const PAYLOADS: &'static [Payload] = &[Payload {
        valid: "low_valid_o",
        ports: &[
            "low_warp_o",
            "low_instruction_o",
            "low_mask_o",
            "low_live_in_o",
            "low_live_out_o",
            "low_last_o",
        ],
    }];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("staged", &["stage_valid_i"], &["stage_warp_i", "stage_high_i"]),
        WaveEvent::item("issue0", &["issue0_pop_i"], &["issue0_index_i"]),
        WaveEvent::item("issue1", &["issue1_pop_i"], &["issue1_index_i"]),
        WaveEvent::item("low_issue", &["low_valid_o", "low_pop_i"], &["low_warp_o"]),
        WaveEvent::decision("overflow", &["overflow_o"], &[]),
    ];
    type Params = AwbParams;
    type In = AwbIn;
    type Out = AwbOut;
    type Model = AwbModel;

    fn model(params: &AwbParams) -> Result<AwbModel, ParamError> {
        Self::validate(params)?;
        Ok(AwbModel::new(params))
    }
    fn rtl(params: &AwbParams) -> Result<Box<dyn RtlBlock<AwbIn, AwbOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::awb(params))
    }
    fn facts(params: &AwbParams) -> Facts {
        let item = params.instruction_bits as usize + CONTEXT_BITS;
        Facts {
            storage: vec![
                Storage { name: "high-priority instructions", bits: 2 * (2 << PAIR_BITS) * item },
                Storage { name: "one, two, which is first", bits: 3 * WARPS },
                Storage { name: "low-priority instructions", bits: 2 * (1 + WARP_BITS + item) },
                Storage { name: "overflow flag", bits: 1 },
            ],
            latency: 1,
            interval: 1,
        }
    }
    fn stimulus(params: &AwbParams, seed: u64) -> StimulusIter<AwbIn> {
        Box::new(stimulus::awb(params, seed))
    }
    fn corners(_params: &AwbParams) -> Box<dyn Corners<AwbIn, AwbOut>> {
        let high = |i: &AwbIn| i.stage_valid_i && i.stage_high_i;
        let low = |i: &AwbIn| i.stage_valid_i && !i.stage_high_i;
        let holds = |o: &AwbOut, warp: u8| o.high_valid_o >> warp & 1 == 1;
        let pops0 = move |i: &AwbIn, o: &AwbOut| i.issue0_pop_i && holds(o, 2 * i.issue0_index_i);
        let pops1 = move |i: &AwbIn, o: &AwbOut| i.issue1_pop_i && holds(o, 2 * i.issue1_index_i + 1);
        let own_flush = |i: &AwbIn| i.flush_warp_i == i.stage_warp_i;
        Box::new(
            PortCorners::new(|i: &AwbIn, _: &AwbOut| i.stage_valid_i)
                .with("a warp's second slot is taken", 1000, move |i, o| high(i) && holds(o, i.stage_warp_i))
                .with("an instruction comes as its warp's last one goes", 100, move |i, o| {
                    high(i) && pops0(i, o) && i.stage_warp_i == 2 * i.issue0_index_i
                })
                .with("both schedulers take one", 1000, move |i, o| pops0(i, o) && pops1(i, o))
                .with("a pop where nothing is", 100, move |i, o| i.issue0_pop_i && !pops0(i, o))
                .with("the low partition has no room", 1000, |_, o| !o.low_room_o)
                .with("a low-priority one comes as another goes", 100, move |i, o| {
                    low(i) && i.low_pop_i && o.low_valid_o
                })
                .with("a flush takes a high-priority instruction", 100, move |i, o| {
                    i.flush_high_i && holds(o, i.flush_warp_i)
                })
                .with("a flush takes the head of the low partition", 100, |i, o| {
                    i.flush_low_i && o.low_valid_o && o.low_warp_o == i.flush_warp_i
                })
                .with("a flush takes the high-priority one that comes", 100, move |i, _| {
                    high(i) && i.flush_high_i && own_flush(i)
                })
                .with("a flush takes the low-priority one that comes", 100, move |i, _| {
                    low(i) && i.flush_low_i && own_flush(i)
                })
                .with("an instruction has no place", 100, |_, o| o.overflow_o),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_the_sum_that_the_module_states() {
        assert_eq!(Awb::facts(&AwbParams::default()).storage_bits(), 16_929);
    }

    #[test]
    fn a_parameter_out_of_range_is_refused_with_what_is_allowed() {
        let error = Awb::model(&AwbParams { instruction_bits: 128 }).unwrap_err().to_string();
        assert_eq!(error, "awb: parameter 'instruction_bits' = '128': must be 32, 64");
    }
}
