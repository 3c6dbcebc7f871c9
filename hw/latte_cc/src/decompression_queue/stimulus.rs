//! Stimulus of the decompression queue: lines of the papers' modes and of any latency, in one mode at a time and mixed. The
//! consumer stalls sometimes. A line that is offered stays until it is taken, as the protocol demands.
use super::model::DecompressionQueueModel;
use super::params::DecompressionQueueParams;
use super::rtl::{DecompressionQueueIn, DecompressionQueueOut};
use selvedge_hw::block::{Clocked, Stimulus};
use selvedge_hw::corners::PortCorners;
use selvedge_hw::traffic::Traffic;

/// Latencies of BDI, FPC, BPC and SC in cycles (LATTE-CC, table I), and both ends of the range.
const LATENCIES: [u8; 7] = [2, 5, 11, 14, 0, 1, 15];

/// Choice of latencies in a phase.
#[derive(Clone, Copy)]
enum LatencyMode {
    One(u8),
    Mixed,
    /// Short latencies, so that the queue also drains.
    Short,
}

/// Endless stimulus of the queue.
pub(super) fn decompression_queue(
    params: &DecompressionQueueParams,
    seed: u64,
) -> impl Iterator<Item = Stimulus<DecompressionQueueIn>> + use<> {
    let mut traffic = Traffic::new(seed);
    let mut model = DecompressionQueueModel::new(params);
    let mut mode = LatencyMode::Mixed;
    let mut offered: Option<(u8, u8)> = None;
    let mut remaining = 0u64;
    let mut started = false;
    std::iter::from_fn(move || {
        traffic.next_cycle();
        let reset = !started || traffic.reset_due();
        started = true;
        if reset {
            model.reset();
            offered = None;
            return Some(Stimulus::reset());
        }
        if remaining == 0 {
            mode = match traffic.prng.below(4) {
                0 => LatencyMode::Mixed,
                1 => LatencyMode::Short,
                _ => LatencyMode::One(LATENCIES[traffic.prng.below(LATENCIES.len() as u64) as usize]),
            };
            remaining = 100 + traffic.prng.below(500);
        }
        remaining -= 1;
        if offered.is_none() && traffic.offer() {
            let latency = match mode {
                LatencyMode::One(latency) => latency,
                LatencyMode::Mixed => traffic.prng.below(16) as u8,
                LatencyMode::Short => 1 + traffic.prng.below(3) as u8,
            };
            offered = Some((traffic.prng.bits() as u8, latency));
        }
        let (id_i, latency_i) = offered.unwrap_or_default();
        let inputs =
            DecompressionQueueIn { valid_i: offered.is_some(), id_i, latency_i, ready_i: traffic.accept() };
        if model.step(&inputs).ready_o {
            offered = None;
        }
        Some(Stimulus::step(inputs))
    })
}

/// Corner cases that the stimulus must reach. An operation is a line that enters.
pub(super) fn corners(
    params: &DecompressionQueueParams,
) -> PortCorners<DecompressionQueueIn, DecompressionQueueOut> {
    type In = DecompressionQueueIn;
    type Out = DecompressionQueueOut;
    let depth = params.depth as u8;
    let enters = |inputs: &In, outputs: &Out| inputs.valid_i && outputs.ready_o;
    let leaves = |inputs: &In, outputs: &Out| outputs.valid_o && inputs.ready_i;
    PortCorners::new(enters)
        .with("nothing ahead", 1000, |_, outputs: &Out| outputs.accepted_o && outputs.position_o == 0)
        .with("all places ahead taken", 1000, move |_, outputs| {
            outputs.accepted_o && outputs.position_o == depth
        })
        .with("refused while full", 1000, |inputs: &In, outputs| inputs.valid_i && !outputs.ready_o)
        .with("one enters as one leaves", 1000, move |inputs, outputs| {
            enters(inputs, outputs) && leaves(inputs, outputs)
        })
        .with("a finished line waits", 1000, |inputs: &In, outputs| outputs.valid_o && !inputs.ready_i)
        .with("a latency of 0", 100, move |inputs, outputs| enters(inputs, outputs) && inputs.latency_i == 0)
        .with("the largest latency behind a full queue", 1, move |_, outputs| {
            outputs.accepted_o && u32::from(outputs.hit_latency_o) == 15 * (u32::from(depth) + 1)
        })
        .with("the formula is too low", 100, |_, outputs| {
            outputs.accepted_o && outputs.hit_latency_o < outputs.exact_latency_o
        })
        .with("the formula is too high", 100, |_, outputs| {
            outputs.accepted_o && outputs.hit_latency_o > outputs.exact_latency_o
        })
}
