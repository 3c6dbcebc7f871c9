//! The assist warp buffer against plain queues.
use crate::awb::{Awb, AwbIn, AwbOut, AwbParams};
use crate::deployment::{Kill, kill, lockstep, warp};
use crate::widths::WARPS;
use proptest::prelude::*;
use selvedge_hw::Instance;
use std::collections::VecDeque;

#[derive(Clone, Debug)]
struct AwbCycle {
    /// Warp and priority (`true` is high) of an instruction, which is staged if its queue had space in the last cycle.
    stage: Option<(u8, bool)>,
    flush: Option<Kill>,
    /// Index and pop of both schedulers.
    issue: [(u8, bool); 2],
    low_pop: bool,
}

fn clock() -> impl Strategy<Value = AwbCycle> {
    let issue = || (prop_oneof![0u8..2, 0u8..24], any::<bool>());
    (prop::option::weighted(0.8, (warp(), any::<bool>())), kill(), issue(), issue(), any::<bool>())
        .prop_map(|(stage, flush, even, odd, low_pop)| AwbCycle { stage, flush, issue: [even, odd], low_pop })
}

/// Returns the fields of the instruction with a number; they differ between numbers.
fn fields(number: u64) -> (u64, u32, u16, u16, bool) {
    (number << 20 | number, !number as u32, number as u16, !number as u16, number.is_multiple_of(3))
}

/// The buffer and reference queues of instruction numbers.
struct AwbBench {
    buffer: Instance<Awb>,
    high: Vec<VecDeque<u64>>,
    low: VecDeque<(u8, u64)>,
    /// Outputs of the last cycle, with the free space of the queues.
    room: AwbOut,
    number: u64,
}

impl AwbBench {
    fn new() -> Self {
        let everywhere = AwbOut { high_room_o: (1 << WARPS) - 1, low_room_o: true, ..AwbOut::default() };
        let buffer = lockstep::<Awb>(&AwbParams::default());
        AwbBench {
            buffer,
            high: vec![VecDeque::new(); WARPS],
            low: VecDeque::new(),
            room: everywhere,
            number: 0,
        }
    }

    fn inputs(&mut self, clock: &AwbCycle) -> AwbIn {
        self.number += 1;
        let (instruction, mask, live_in, live_out, last) = fields(self.number);
        let has_room = |(warp, high): &(u8, bool)| {
            if *high { self.room.high_room_o >> warp & 1 == 1 } else { self.room.low_room_o }
        };
        let stage = clock.stage.filter(has_room);
        let (stage_warp_i, stage_high_i) = stage.unwrap_or_default();
        let flush = clock.flush.unwrap_or(Kill { warp: 0, high: false, low: false });
        AwbIn {
            stage_valid_i: stage.is_some(),
            stage_warp_i,
            stage_high_i,
            stage_last_i: last,
            stage_instruction_i: instruction,
            stage_mask_i: mask,
            stage_live_in_i: live_in,
            stage_live_out_i: live_out,
            flush_high_i: flush.high,
            flush_low_i: flush.low,
            flush_warp_i: flush.warp,
            issue0_index_i: clock.issue[0].0,
            issue0_pop_i: clock.issue[0].1,
            issue1_index_i: clock.issue[1].0,
            issue1_pop_i: clock.issue[1].1,
            low_pop_i: clock.low_pop,
        }
    }

    fn step(&mut self, clock: &AwbCycle) -> Result<(), TestCaseError> {
        let inputs = self.inputs(clock);
        let o = self.buffer.step(&inputs).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert!(!o.overflow_o, "what heeds the room has a place");
        let heads = [
            (
                o.issue0_instruction_o,
                o.issue0_mask_o,
                o.issue0_live_in_o,
                o.issue0_live_out_o,
                o.issue0_last_o,
            ),
            (
                o.issue1_instruction_o,
                o.issue1_mask_o,
                o.issue1_live_in_o,
                o.issue1_live_out_o,
                o.issue1_last_o,
            ),
        ];
        for (parity, (index, pop)) in clock.issue.into_iter().enumerate() {
            let queue = &mut self.high[2 * usize::from(index) + parity];
            if let Some(oldest) = queue.front() {
                prop_assert_eq!(heads[parity], fields(*oldest));
            }
            // An instruction that arrives in this cycle cannot be popped in it.
            if pop {
                queue.pop_front();
            }
        }
        prop_assert_eq!(o.low_valid_o, !self.low.is_empty());
        if let Some((warp, oldest)) = self.low.front() {
            let low = (o.low_instruction_o, o.low_mask_o, o.low_live_in_o, o.low_live_out_o, o.low_last_o);
            prop_assert_eq!((o.low_warp_o, low), (*warp, fields(*oldest)));
        }
        if clock.low_pop {
            self.low.pop_front();
        }
        self.enter_and_flush(&inputs, clock.flush);
        self.room = o;
        Ok(())
    }

    fn enter_and_flush(&mut self, inputs: &AwbIn, flush: Option<Kill>) {
        let warp = inputs.stage_warp_i;
        if inputs.stage_valid_i && inputs.stage_high_i {
            self.high[usize::from(warp)].push_back(self.number);
        } else if inputs.stage_valid_i {
            self.low.push_back((warp, self.number));
        }
        if let Some(flush) = flush {
            if flush.high {
                self.high[usize::from(flush.warp)].clear();
            }
            self.low.retain(|(warp, _)| !flush.takes(*warp, false));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_or_reordered_and_a_flush_leaves_nothing(
        traffic in prop::collection::vec(clock(), 1..800),
    ) {
        let mut bench = AwbBench::new();
        for clock in &traffic {
            bench.step(clock)?;
            let held: Vec<usize> = bench.high.iter().map(VecDeque::len).collect();
            prop_assert!(held.iter().all(|count| *count <= 2) && bench.low.len() <= 2);
        }
        // The flags of the next cycle show the state of the queues.
        let outputs = bench.buffer.step(&AwbIn::default()).unwrap();
        let held = (0..WARPS).filter(|warp| !bench.high[*warp].is_empty());
        prop_assert_eq!(outputs.high_valid_o, held.fold(0, |set, warp| set | 1 << warp));
        let roomy = (0..WARPS).filter(|warp| bench.high[*warp].len() < 2);
        prop_assert_eq!(outputs.high_room_o, roomy.fold(0, |set, warp| set | 1 << warp));
        prop_assert_eq!(outputs.low_room_o, bench.low.len() < 2);
    }
}

#[test]
fn a_warp_fills_its_slots_and_each_is_issued_in_its_order() {
    let mut bench = AwbBench::new();
    let stage = |warp, high| AwbCycle {
        stage: Some((warp, high)),
        flush: None,
        issue: [(0, false); 2],
        low_pop: false,
    };
    for _ in 0..4 {
        bench.step(&stage(7, true)).unwrap();
        bench.step(&stage(7, false)).unwrap();
    }
    assert_eq!(bench.high[7], [1, 3]);
    assert_eq!(bench.low, [(7, 2), (7, 4)]);
    let take = AwbCycle { stage: None, flush: None, issue: [(0, true), (3, true)], low_pop: true };
    for _ in 0..3 {
        bench.step(&take).unwrap();
    }
    assert!(bench.high[7].is_empty() && bench.low.is_empty());
}
