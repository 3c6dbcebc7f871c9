//! AWS, assist warp store: the instructions of all assist-warp routines, indexed by SR.ID and Inst.ID.
//!
//! Source: CABA, section 4.3: "Preloaded with these instructions before application execution". The store is on chip.
//!
//! ```text
//!  write_i, write_address_i, write_data_i --------------> [ memory of `instructions` words ] --> instruction_o
//!  fetch_i, sr_i, inst_i --> sr_i x slot + inst_i ------>
//! ```
//!
//! Choices where the paper is silent:
//! - Layout. The store has 32 slots, one per SR.ID, of `instructions` / 32 words each. A routine starts at the slot of its
//!   SR.ID and may continue through the following slots; their SR.IDs are then unused. Long routines take several slots, for
//!   example compression, which tests one encoding after the other. This layout needs no table of start addresses and wastes
//!   little on short routines. After the last word the address wraps to the first.
//! - Length. The store does not know where a routine ends; the controller's table holds SR.End.
//! - Words. 64 bits hold an instruction of any GPU of the paper's time. 32 bits are enough if a word only identifies an
//!   instruction that is already decoded. The store does not interpret its words.
//! - Port. The store reads one word per cycle, because one instruction is deployed per cycle. The memory is read in every
//!   cycle; `valid_o` reports whether a fetch asked for the word. A word that was never written is unknown; the paper preloads the store. A word that is written while it is read gives its old value.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `instructions` | 512 | 512, 1024 | words of the store, divided equally among its 32 slots |
//! | `instruction_bits` | 64 | 32, 64 | bits of a word |
//!
//! # Ports and timing
//! All outputs come from registers.
//!
//! ```text
//! clk_i          __/--\__/--\__/--\__/--\__
//! fetch_i        __/-----------\___________
//! sr_i, inst_i   ==< 3, 0 >< 3, 1 >========
//! valid_o        ________/-----------\_____
//! instruction_o  ========< I0  >< I1 >=====    the words at 3 x 16 + 0 and + 1
//! ```
//!
//! # Storage
//! By default the memory has 512 x 64 = 32,768 bits (4 KB); the output register and the valid flag have 65 bits. The paper
//! gives no size. The memory has no reset, so routines survive a reset.

mod model;
mod params;
#[cfg(test)]
mod properties;
mod rtl;
mod stimulus;

pub use model::AwsModel;
pub use params::AwsParams;
pub use rtl::{AssistWarpStore, AwsIn, AwsOut};

use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StimulusIter, Storage};
use selvedge_hw::corners::{Corners, PortCorners};
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::ports::Payload;
use selvedge_hw::wave_event::WaveEvent;

/// The AWS; see the [module](self).
pub struct Aws;

impl HwBlock for Aws {
    const NAME: &'static str = "aws";
    const SUMMARY: &'static str =
        "stores the instructions of all assist-warp routines and reads one per cycle";
    const MODULE: &'static str = concat!(include_str!("mod.rs"), include_str!("../lib.rs"));
    const SOURCE: &'static str = "CABA, section 4.3";
    const PARAMS: &'static [ParamSpec] = AwsParams::SPECS;
    const VERILOG_PARAMETERS: &'static [&'static str] = &["instructions", "instruction_bits"];
    const PAYLOADS: &'static [Payload] = &[Payload { valid: "valid_o", ports: &["instruction_o"] }];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("fetch", &["fetch_i"], &["sr_i", "inst_i"]),
        WaveEvent::item("instruction", &["valid_o"], &["instruction_o"]),
    ];
    type Params = AwsParams;
    type In = AwsIn;
    type Out = AwsOut;
    type Model = AwsModel;

    fn model(params: &AwsParams) -> Result<AwsModel, ParamError> {
        Self::validate(params)?;
        Ok(AwsModel::new(params))
    }
    fn rtl(params: &AwsParams) -> Result<Box<dyn RtlBlock<AwsIn, AwsOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::aws(params))
    }
    fn facts(params: &AwsParams) -> Facts {
        let word = params.instruction_bits as usize;
        Facts {
            storage: vec![
                Storage { name: "instructions", bits: params.instructions as usize * word },
                Storage { name: "fetched instruction", bits: word },
                Storage { name: "valid flag", bits: 1 },
            ],
            latency: 1,
            interval: 1,
        }
    }
    fn stimulus(params: &AwsParams, seed: u64) -> StimulusIter<AwsIn> {
        Box::new(stimulus::aws(params, seed))
    }
    fn corners(params: &AwsParams) -> Box<dyn Corners<AwsIn, AwsOut>> {
        let params = *params;
        let place = move |i: &AwsIn| u32::from(i.sr_i) * params.slot() + u32::from(i.inst_i);
        Box::new(
            PortCorners::new(|i: &AwsIn, _: &AwsOut| i.fetch_i)
                .with("a routine goes on beyond its slot", 1000, move |i, _| {
                    i.fetch_i && u32::from(i.inst_i) >= params.slot()
                })
                .with("a routine goes on past the last word", 100, move |i, _| {
                    i.fetch_i && place(i) >= params.instructions
                })
                .with("a word is written while it is fetched", 1000, move |i, _| {
                    i.fetch_i && i.write_i && i.write_address_i == params.address(i.sr_i, i.inst_i)
                }),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_the_sum_that_the_module_states() {
        assert_eq!(Aws::facts(&AwsParams::default()).storage_bits(), 32_768 + 65);
    }

    #[test]
    fn a_parameter_out_of_range_is_refused_with_what_is_allowed() {
        let params = AwsParams { instructions: 500, ..AwsParams::default() };
        let error = Aws::model(&params).unwrap_err().to_string();
        assert_eq!(error, "aws: parameter 'instructions' = '500': must be 512, 1024");
    }
}
