//! Golden model of the AWB: two slots per warp as a ring, and a queue of two low-priority instructions.
use super::params::AwbParams;
use super::rtl::{AwbIn, AwbOut};
use crate::widths::{WARP_BITS, WARPS};
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// An instruction with its lanes, live registers and last flag.
#[derive(Clone, Copy, Debug, Default, State)]
struct AwbItem {
    instruction: u64,
    mask: u32,
    live_in: u16,
    live_out: u16,
    last: bool,
}

/// The two slots of a warp. The items are in a memory, which has no reset.
#[derive(Clone, Copy, Debug, Default, State)]
struct WarpSlots {
    items: [AwbItem; 2],
    /// Slot of the oldest instruction.
    first: usize,
    count: usize,
}

/// One set bit for each of the 48 warps.
const ALL: u64 = (1 << WARPS) - 1;

/// Golden model of the AWB.
#[derive(Clone, Debug, State)]
pub struct AwbModel {
    /// Slots of all 64 warp numbers that 6 bits can hold.
    warps: Vec<WarpSlots>,
    /// Warps with at least one instruction, one bit each; `full` holds the warps with two.
    waiting: u64,
    full: u64,
    /// The low partition, oldest first. Entries from `low_count` on keep their old contents.
    low: [(u8, AwbItem); 2],
    low_count: usize,
    overflow: bool,
}

impl AwbModel {
    /// Returns an empty model. The parameters must be valid.
    pub fn new(_params: &AwbParams) -> Self {
        AwbModel {
            warps: vec![WarpSlots::default(); 1 << WARP_BITS],
            waiting: 0,
            full: 0,
            low: Default::default(),
            low_count: 0,
            overflow: false,
        }
    }

    /// Updates the flags of a warp whose slots have changed.
    fn note(&mut self, warp: usize) {
        let (bit, count) = (1 << warp, self.warps[warp].count);
        self.waiting = self.waiting & !bit | u64::from(count > 0) << warp;
        self.full = self.full & !bit | u64::from(count == 2) << warp;
    }

    fn outputs(&self, inputs: &AwbIn) -> AwbOut {
        // A warp with one instruction has no room while another is in flight to it.
        let comes = u64::from(inputs.stage_valid_i && inputs.stage_high_i) << inputs.stage_warp_i;
        let low_comes = usize::from(inputs.stage_valid_i && !inputs.stage_high_i);
        let head = |warp: u8| {
            let slots = &self.warps[usize::from(warp)];
            if slots.count > 0 { slots.items[slots.first] } else { AwbItem::default() }
        };
        let (issue0, issue1) = (head(2 * inputs.issue0_index_i), head(2 * inputs.issue1_index_i + 1));
        let (low_warp, low) = self.low[0];
        AwbOut {
            high_room_o: !(self.full | self.waiting & comes) & ALL,
            low_room_o: self.low_count + low_comes < 2,
            high_valid_o: self.waiting & ALL,
            issue0_instruction_o: issue0.instruction,
            issue0_mask_o: issue0.mask,
            issue0_live_in_o: issue0.live_in,
            issue0_live_out_o: issue0.live_out,
            issue0_last_o: issue0.last,
            issue1_instruction_o: issue1.instruction,
            issue1_mask_o: issue1.mask,
            issue1_live_in_o: issue1.live_in,
            issue1_live_out_o: issue1.live_out,
            issue1_last_o: issue1.last,
            low_valid_o: self.low_count > 0,
            low_warp_o: low_warp,
            low_instruction_o: low.instruction,
            low_mask_o: low.mask,
            low_live_in_o: low.live_in,
            low_live_out_o: low.live_out,
            low_last_o: low.last,
            overflow_o: self.overflow,
        }
    }

    /// Removes the oldest instruction of a warp from its slots.
    fn pop(&mut self, warp: u8) {
        let slots = &mut self.warps[usize::from(warp)];
        if slots.count > 0 {
            slots.count -= 1;
            slots.first ^= 1;
        }
        self.note(usize::from(warp));
    }

    /// Steps the high-priority slots by one cycle: pops, then the new instruction, then the flush.
    fn step_high(&mut self, inputs: &AwbIn, item: Option<AwbItem>) {
        let warp = usize::from(inputs.stage_warp_i);
        let flushed = inputs.flush_high_i && inputs.flush_warp_i == inputs.stage_warp_i;
        // The slot is chosen before the pops: a slot that a pop frees in this cycle does not count yet.
        let full = warp >= WARPS || self.warps[warp].count == 2;
        let place = (self.warps[warp].first + self.warps[warp].count) % 2;
        if inputs.issue0_pop_i {
            self.pop(2 * inputs.issue0_index_i);
        }
        if inputs.issue1_pop_i {
            self.pop(2 * inputs.issue1_index_i + 1);
        }
        if let Some(item) = item.filter(|_| !flushed) {
            self.overflow |= full;
            if !full {
                self.warps[warp].items[place] = item;
                self.warps[warp].count += 1;
                self.note(warp);
            }
        }
        if inputs.flush_high_i {
            self.warps[usize::from(inputs.flush_warp_i)].count = 0;
            self.note(usize::from(inputs.flush_warp_i));
        }
    }

    /// Steps the low partition by one cycle.
    fn step_low(&mut self, inputs: &AwbIn, item: Option<AwbItem>) {
        let flushed = |warp| inputs.flush_low_i && warp == inputs.flush_warp_i;
        let popped = usize::from(inputs.low_pop_i).min(self.low_count);
        let mut kept = 0;
        for place in popped..self.low_count {
            if !flushed(self.low[place].0) {
                self.low[kept] = self.low[place];
                kept += 1;
            }
        }
        self.low_count = kept;
        if let Some(item) = item.filter(|_| !flushed(inputs.stage_warp_i)) {
            if self.low_count < 2 {
                self.low[self.low_count] = (inputs.stage_warp_i, item);
                self.low_count += 1;
            } else {
                self.overflow = true;
            }
        }
    }
}

impl Clocked<AwbIn, AwbOut> for AwbModel {
    #[inline]
    fn step(&mut self, inputs: &AwbIn) -> AwbOut {
        let outputs = self.outputs(inputs);
        let item = inputs.stage_valid_i.then_some(AwbItem {
            instruction: inputs.stage_instruction_i,
            mask: inputs.stage_mask_i,
            live_in: inputs.stage_live_in_i,
            live_out: inputs.stage_live_out_i,
            last: inputs.stage_last_i,
        });
        self.overflow = false;
        self.step_high(inputs, item.filter(|_| inputs.stage_high_i));
        self.step_low(inputs, item.filter(|_| !inputs.stage_high_i));
        outputs
    }

    fn reset(&mut self) {
        for slots in &mut self.warps {
            (slots.first, slots.count) = (0, 0);
        }
        (self.waiting, self.full) = (0, 0);
        self.low = Default::default();
        self.low_count = 0;
        self.overflow = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(warp: u8, instruction: u64, high: bool) -> AwbIn {
        AwbIn {
            stage_valid_i: true,
            stage_warp_i: warp,
            stage_high_i: high,
            stage_instruction_i: instruction,
            ..AwbIn::default()
        }
    }

    #[test]
    fn a_warp_has_two_slots_and_gives_them_in_order() {
        let mut awb = AwbModel::new(&AwbParams::default());
        assert_eq!(awb.step(&stage(6, 10, true)).high_room_o >> 6 & 1, 1);
        assert_eq!(awb.step(&stage(6, 11, true)).high_room_o >> 6 & 1, 0, "the second is in flight");
        let look = AwbIn { issue0_index_i: 3, issue0_pop_i: true, ..AwbIn::default() };
        let first = awb.step(&look);
        assert_eq!((first.high_valid_o, first.issue0_instruction_o), (1 << 6, 10));
        assert_eq!(awb.step(&look).issue0_instruction_o, 11);
        assert_eq!(awb.step(&look).high_valid_o, 0);
    }

    #[test]
    fn the_low_partition_closes_the_gap_that_a_flush_leaves() {
        let mut awb = AwbModel::new(&AwbParams::default());
        awb.step(&stage(6, 10, false));
        awb.step(&stage(7, 11, false));
        awb.step(&AwbIn { flush_low_i: true, flush_warp_i: 6, ..stage(8, 12, false) });
        let seen: Vec<u64> = (0..2)
            .map(|_| awb.step(&AwbIn { low_pop_i: true, ..AwbIn::default() }).low_instruction_o)
            .collect();
        assert_eq!(seen, [11, 12]);
        assert!(!awb.step(&AwbIn::default()).low_valid_o);
    }

    #[test]
    fn what_has_no_place_is_lost_and_told() {
        for high in [true, false] {
            let mut awb = AwbModel::new(&AwbParams::default());
            for instruction in 0..3 {
                awb.step(&stage(6, instruction, high));
            }
            assert!(awb.step(&AwbIn::default()).overflow_o);
            assert!(!awb.step(&AwbIn::default()).overflow_o);
        }
    }

    #[test]
    fn a_flush_takes_what_is_staged_in_its_cycle() {
        let mut awb = AwbModel::new(&AwbParams::default());
        awb.step(&stage(6, 10, true));
        awb.step(&AwbIn { flush_high_i: true, flush_warp_i: 6, ..stage(6, 11, true) });
        assert_eq!(awb.step(&AwbIn::default()).high_valid_o, 0);
    }
}
