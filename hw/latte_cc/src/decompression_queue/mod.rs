//! Decompression queue: hits on compressed lines wait here for the decompressor, and get their effective latency on entry.
//!
//! Source: LATTE-CC, section III-B and equation 3:
//!
//! ```text
//! effective hit latency = decompression latency x (position in the queue + 1)
//! ```
//!
//! A line enters with its identifier and the latency of its compression mode (2 cycles for BDI, 14 for SC). The decompressor
//! handles one line at a time, in the order of entry. Decompression takes the line's latency.
//!
//! ```text
//! id_i, latency_i --+--> [waiting: a memory of `depth` lines] --+--> [in the decompressor: id, cycles left] --> id_o
//!                   \---------- nothing waits, it is free ------/
//!
//! lines ahead, latency_i --> x --> hit_latency_o        cycles of work ahead + latency_i --> exact_latency_o
//! ```
//!
//! Choices where the paper is silent:
//! - The position counts all lines ahead, including the line in the decompressor, but not a line that leaves in the same cycle.
//!   A line that finds the decompressor free, or just becoming free, has position 0 and waits only for its own latency.
//! - The formula assumes that all lines ahead have the new line's mode and that the first one has just begun. With mixed modes
//!   it can be too low or too high, so the block also reports the exact latency. It is the sum of the remaining cycles of the
//!   line in the decompressor, the latencies of the waiting lines, and the line's own latency. It holds if the consumer takes
//!   lines at once; each cycle of delay adds one.
//! - The paper does not give the depth. Lines are refused while `depth` lines wait.
//! - A latency of 0 counts as 1. Uncompressed lines need no decompression, but the queue handles them.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `depth` | 8 | 4, 8, 16 | lines that can wait, in addition to the line in the decompressor |
//!
//! # Ports and timing
//! Both sides are valid/ready: a line enters when `valid_i` and `ready_o` are high, and leaves when `valid_o` and `ready_i` are
//! high. `ready_o` and `valid_o` come from registers. The reply to an entry, `position_o` and both latencies, comes one cycle
//! later and holds until the next reply.
//!
//! ```text
//! clk_i          __/--\__/--\__/--\__/--\__/--\__     a line of latency 2, then one of latency 14
//! valid_i        __/-----------\_________________
//! id_i           ==< A  >< B   >=================
//! accepted_o     ________/-----------\___________
//! position_o     ========< 0   >< 1  ============
//! hit_latency_o  ========< 2   >< 28 ============
//! exact_latency_o========< 2   >< 15 ============     A has one cycle left when B enters
//! valid_o        ______________/-----\___________     A, 2 cycles after it entered; B follows 13 cycles from here
//! id_o           ========< A         >< B =======
//! ```
//!
//! # Storage
//! By default 148 bits: 8 waiting lines of 12 bits (identifier 8, latency 4), their pointers (3 each) and count (4), the line
//! in the decompressor (1 + 8 + 4), the cycles of work ahead (8), and the reply (1 + 4 + 8 + 8). The paper counts none of them.

mod model;
mod params;
#[cfg(test)]
mod properties;
mod rtl;
mod stimulus;

pub use model::DecompressionQueueModel;
pub use params::DecompressionQueueParams;
pub use rtl::{DecompressionQueueIn, DecompressionQueueOut, DecompressionQueueTop};

use params::{ID_BITS, LATENCY_BITS};
use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StimulusIter, Storage};
use selvedge_hw::corners::Corners;
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::wave_event::WaveEvent;

/// The decompression queue; see the [module](self).
pub struct DecompressionQueue;

impl HwBlock for DecompressionQueue {
    const NAME: &'static str = "decompression_queue";
    const SUMMARY: &'static str =
        "queues hits on compressed lines for the decompressor and returns the effective latency of each";
    const MODULE: &'static str = include_str!("mod.rs");
    const SOURCE: &'static str = "LATTE-CC, section III-B";
    const PARAMS: &'static [ParamSpec] = DecompressionQueueParams::SPECS;
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("line_in", &["valid_i", "ready_o"], &["id_i", "latency_i"]),
        WaveEvent::item("line_out", &["valid_o", "ready_i"], &["id_o"]),
    ];
    type Params = DecompressionQueueParams;
    type In = DecompressionQueueIn;
    type Out = DecompressionQueueOut;
    type Model = DecompressionQueueModel;

    fn model(params: &Self::Params) -> Result<DecompressionQueueModel, ParamError> {
        Self::validate(params)?;
        Ok(DecompressionQueueModel::new(params))
    }
    fn rtl(params: &Self::Params) -> Result<Box<dyn RtlBlock<Self::In, Self::Out>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::decompression_queue(params))
    }
    fn facts(params: &Self::Params) -> Facts {
        let pointer = params.depth.ilog2() as usize;
        Facts {
            storage: vec![
                Storage { name: "waiting lines", bits: params.depth as usize * (ID_BITS + LATENCY_BITS) },
                Storage { name: "read and write pointer", bits: 2 * pointer },
                Storage { name: "number of waiting lines", bits: pointer + 1 },
                Storage { name: "line in the decompressor", bits: 1 + ID_BITS + LATENCY_BITS },
                Storage { name: "cycles of work ahead", bits: params.hit_latency_bits() },
                Storage {
                    name: "answer and its flag",
                    bits: 1 + params.position_bits() + 2 * params.hit_latency_bits(),
                },
            ],
            latency: 1,
            interval: 1,
        }
    }
    fn stimulus(params: &Self::Params, seed: u64) -> StimulusIter<DecompressionQueueIn> {
        Box::new(stimulus::decompression_queue(params, seed))
    }
    fn corners(params: &Self::Params) -> Box<dyn Corners<Self::In, Self::Out>> {
        Box::new(stimulus::corners(params))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_the_sum_that_the_module_states() {
        assert_eq!(DecompressionQueue::facts(&DecompressionQueueParams::default()).storage_bits(), 148);
    }

    #[test]
    fn a_depth_that_is_not_elaborated_is_refused_with_what_is_allowed() {
        let error =
            DecompressionQueue::model(&DecompressionQueueParams { depth: 5 }).unwrap_err().to_string();
        assert_eq!(error, "decompression_queue: parameter 'depth' = '5': must be 4, 8, 16");
    }
}
