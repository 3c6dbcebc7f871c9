//! Properties of the decompression queue under random traffic. Lines leave once and in order. The reply is the paper's formula
//! with the true position, and the exact latency is exact. A line waits at most the time that the lines ahead of it need, and the
//! RTL does the same in the same cycles.
use crate::decompression_queue::{DecompressionQueue, DecompressionQueueIn, DecompressionQueueParams};
use proptest::prelude::*;
use selvedge_hw::Clocked;
use selvedge_hw::lockstep::{Lockstep, assert_agree};
use std::collections::VecDeque;

fn inputs() -> impl Strategy<Value = DecompressionQueueIn> {
    let latency = prop_oneof![Just(2u8), Just(14), 0u8..16];
    (any::<bool>(), any::<u8>(), latency, prop::bool::weighted(0.8)).prop_map(
        |(valid_i, id_i, latency_i, ready_i)| DecompressionQueueIn { valid_i, id_i, latency_i, ready_i },
    )
}

fn traffic() -> impl Strategy<Value = Vec<DecompressionQueueIn>> {
    prop::collection::vec(inputs(), 1..600)
}

fn depth() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![4u32, 8, 16])
}

fn queue(depth: u32) -> Lockstep<DecompressionQueue> {
    Lockstep::new(&DecompressionQueueParams { depth })
}

/// A line in the queue.
#[derive(Clone, Copy)]
struct TimedLine {
    id: u8,
    latency: u32,
    entered: usize,
    /// Cycles, before this line entered, in which a finished line was not accepted.
    stalls_before: u32,
    exact: u32,
}

proptest! {
    #[test]
    fn lines_leave_once_in_order_after_exactly_their_latency(traffic in traffic(), depth in depth()) {
        let mut queue = queue(depth);
        let mut inside: VecDeque<TimedLine> = VecDeque::new();
        // Line that entered in the last cycle, and the number of lines ahead of it.
        let mut entry: Option<(TimedLine, usize)> = None;
        let mut stalls = 0;
        let mut finished_since = 0;
        // At the end, the producer stops and the queue drains.
        let drain = DecompressionQueueIn { ready_i: true, ..DecompressionQueueIn::default() };
        let drained = std::iter::repeat_n(drain, 16 * (depth as usize + 2));
        for (cycle, inputs) in traffic.into_iter().chain(drained).enumerate() {
            let outputs = queue.step(&inputs);
            prop_assert_eq!(outputs.accepted_o, entry.is_some());
            if let Some((line, ahead)) = entry.take() {
                prop_assert_eq!(usize::from(outputs.position_o), ahead, "the position is the number of lines ahead");
                prop_assert_eq!(u32::from(outputs.hit_latency_o), line.latency * (ahead as u32 + 1));
                inside.back_mut().unwrap().exact = u32::from(outputs.exact_latency_o);
            }
            let oldest = inside.front().copied();
            if outputs.valid_o {
                let line = oldest.unwrap();
                prop_assert_eq!(outputs.id_o, line.id);
                if finished_since == 0 {
                    let waited = (cycle - line.entered) as u32;
                    prop_assert_eq!(waited, line.exact + stalls - line.stalls_before, "decompressed when it was foretold");
                }
                finished_since += 1;
                if inputs.ready_i {
                    inside.pop_front();
                    finished_since = 0;
                } else {
                    stalls += 1;
                }
            } else {
                prop_assert_eq!(finished_since, 0, "valid dropped before ready");
            }
            if inputs.valid_i && outputs.ready_o {
                let latency = u32::from(inputs.latency_i).max(1);
                // A stall in this cycle precedes the entry: the remaining latency was counted after it.
                let line =
                    TimedLine { id: inputs.id_i, latency, entered: cycle, stalls_before: stalls, exact: 0 };
                entry = Some((line, inside.len()));
                inside.push_back(line);
            }
        }
        prop_assert!(inside.is_empty(), "{} lines never left", inside.len());
    }

    #[test]
    fn with_one_mode_the_formula_is_an_upper_bound_within_one_latency(
        latency_i in 1u8..16,
        offers in prop::collection::vec(any::<bool>(), 1..400),
        depth in depth(),
    ) {
        let mut queue = queue(depth);
        for valid_i in offers {
            let outputs = queue.step(&DecompressionQueueIn { valid_i, id_i: 0, latency_i, ready_i: true });
            if outputs.accepted_o {
                prop_assert!(outputs.exact_latency_o <= outputs.hit_latency_o);
                prop_assert!(outputs.hit_latency_o - outputs.exact_latency_o < latency_i);
                if outputs.position_o == 0 {
                    prop_assert_eq!(outputs.exact_latency_o, latency_i);
                }
            }
        }
    }

    #[test]
    fn a_line_is_refused_only_when_all_places_are_taken(traffic in traffic(), depth in depth()) {
        let mut queue = queue(depth);
        let mut inside = 0;
        for inputs in traffic {
            let outputs = queue.step(&inputs);
            prop_assert_eq!(outputs.ready_o, inside <= depth as usize, "one decompresses, the others wait");
            inside += usize::from(inputs.valid_i && outputs.ready_o);
            inside -= usize::from(outputs.valid_o && inputs.ready_i);
            prop_assert_eq!(queue.lines(), inside);
        }
    }

    #[test]
    fn model_and_rtl_agree_with_resets_in_mid_flight(
        traffic in prop::collection::vec(prop_oneof![200 => inputs().prop_map(Some), 1 => Just(None)], 1..1000),
        depth in depth(),
    ) {
        let params = DecompressionQueueParams { depth };
        assert_agree::<DecompressionQueue>(&params, &traffic);
    }
}

#[test]
fn the_modules_timing_diagram_is_true() {
    let mut queue = queue(8);
    let line = |id_i, latency_i| DecompressionQueueIn { valid_i: true, id_i, latency_i, ready_i: true };
    let idle = DecompressionQueueIn { ready_i: true, ..DecompressionQueueIn::default() };
    queue.step(&line(1, 2));
    let after_a = queue.step(&line(2, 14));
    assert_eq!((after_a.position_o, after_a.hit_latency_o, after_a.exact_latency_o), (0, 2, 2));
    let after_b = queue.step(&idle);
    assert_eq!((after_b.position_o, after_b.hit_latency_o, after_b.exact_latency_o), (1, 28, 15));
    assert_eq!((after_b.valid_o, after_b.id_o), (true, 1), "A, two cycles after it entered");
    let later = (3..).find(|_| queue.step(&idle).valid_o).unwrap();
    assert_eq!(later, 16, "B entered in cycle 1 and took 15 cycles");
}
