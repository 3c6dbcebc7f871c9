//! Golden model of the AWC: control, store and buffer, connected cycle by cycle.
use super::control::ControlModel;
use super::params::{AwcParams, BUFFER, STORE};
use super::rtl::{AwcIn, AwcOut};
use crate::awb::{AwbIn, AwbModel};
use crate::aws::{AwsIn, AwsModel};
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// Golden model of the AWC.
#[derive(Clone, Debug, State)]
pub struct AwcModel {
    control: ControlModel,
    store: AwsModel,
    buffer: AwbModel,
}

impl AwcModel {
    /// Returns a model with an empty store, an empty map and no assist warp. The parameters must be valid.
    pub fn new(params: &AwcParams) -> Self {
        AwcModel {
            control: ControlModel::new(params),
            store: AwsModel::new(&STORE),
            buffer: AwbModel::new(&BUFFER),
        }
    }

    /// Returns the buffer's inputs: the instruction that was fetched in the last cycle, and the AWC's inputs.
    fn to_buffer(&self, inputs: &AwcIn) -> AwbIn {
        let staged = self.control.staged().copied().unwrap_or_default();
        AwbIn {
            stage_valid_i: self.control.staged().is_some(),
            stage_warp_i: staged.deploy_warp_o,
            stage_high_i: staged.deploy_high_o,
            stage_last_i: staged.deploy_last_o,
            stage_instruction_i: self.store.fetched(),
            stage_mask_i: staged.deploy_mask_o,
            stage_live_in_i: staged.deploy_live_in_o,
            stage_live_out_i: staged.deploy_live_out_o,
            flush_high_i: inputs.kill_high_i,
            flush_low_i: inputs.kill_low_i,
            flush_warp_i: inputs.kill_warp_i,
            issue0_index_i: inputs.issue0_index_i,
            issue0_pop_i: inputs.issue0_pop_i,
            issue1_index_i: inputs.issue1_index_i,
            issue1_pop_i: inputs.issue1_pop_i,
            low_pop_i: inputs.low_pop_i,
        }
    }
}

impl Clocked<AwcIn, AwcOut> for AwcModel {
    #[inline]
    fn step(&mut self, inputs: &AwcIn) -> AwcOut {
        let buffer = self.buffer.step(&self.to_buffer(inputs));
        debug_assert!(!buffer.overflow_o, "what is deployed has its place");
        let decision = self.control.step(inputs, buffer.high_room_o, buffer.low_room_o);
        let table = &decision.table;
        self.store.step(&AwsIn {
            write_i: inputs.load_i,
            write_address_i: inputs.load_address_i,
            write_data_i: inputs.load_data_i,
            fetch_i: table.deploy_valid_o,
            sr_i: table.deploy_sr_o,
            inst_i: table.deploy_inst_o,
        });
        AwcOut {
            trigger_known_o: decision.known,
            trigger_high_o: decision.high,
            trigger_ready_o: decision.ready,
            full_o: table.full_o,
            fetch_o: table.deploy_valid_o,
            high_valid_o: buffer.high_valid_o,
            issue0_instruction_o: buffer.issue0_instruction_o,
            issue0_mask_o: buffer.issue0_mask_o,
            issue0_live_in_o: buffer.issue0_live_in_o,
            issue0_live_out_o: buffer.issue0_live_out_o,
            issue0_last_o: buffer.issue0_last_o,
            issue1_instruction_o: buffer.issue1_instruction_o,
            issue1_mask_o: buffer.issue1_mask_o,
            issue1_live_in_o: buffer.issue1_live_in_o,
            issue1_live_out_o: buffer.issue1_live_out_o,
            issue1_last_o: buffer.issue1_last_o,
            low_valid_o: buffer.low_valid_o,
            low_warp_o: buffer.low_warp_o,
            low_instruction_o: buffer.low_instruction_o,
            low_mask_o: buffer.low_mask_o,
            low_live_in_o: buffer.low_live_in_o,
            low_live_out_o: buffer.low_live_out_o,
            low_last_o: buffer.low_last_o,
            throttled_o: decision.throttled,
            active_o: table.active_o,
        }
    }

    fn reset(&mut self) {
        self.control.reset();
        self.store.reset();
        self.buffer.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::super::WINDOW;
    use super::*;

    /// Returns inputs without any request. The cycle is idle, so that nothing is throttled.
    fn quiet() -> AwcIn {
        AwcIn { idle_i: true, ..AwcIn::default() }
    }

    /// Returns a controller with event 3 (high, SR.ID 7) and event 4 (low, SR.ID 9). Both routines have two instructions. Each
    /// word of the store holds its own address.
    fn loaded() -> AwcModel {
        let mut awc = AwcModel::new(&AwcParams::default());
        for load_address_i in 0..512 {
            let load_data_i = u64::from(load_address_i);
            awc.step(&AwcIn { load_i: true, load_address_i, load_data_i, ..quiet() });
        }
        let map = AwcIn { map_write_i: true, map_enable_i: true, map_end_i: 1, ..quiet() };
        awc.step(&AwcIn { map_event_i: 3, map_sr_i: 7, map_high_i: true, ..map });
        awc.step(&AwcIn { map_event_i: 4, map_sr_i: 9, ..map });
        awc
    }

    fn trigger(event: u8) -> AwcIn {
        AwcIn { trigger_valid_i: true, trigger_event_i: event, trigger_warp_i: 5, ..quiet() }
    }

    /// Returns whether the AWC is throttled after a window with the given number of busy and idle cycles.
    fn throttled_after(busy: u32, idle: u32) -> bool {
        let mut awc = AwcModel::new(&AwcParams::default());
        for cycle in 0..WINDOW {
            let busy_i = if cycle < busy { 0b010 } else { 0 };
            awc.step(&AwcIn { busy_i, idle_i: cycle < idle, ..AwcIn::default() });
        }
        awc.step(&quiet()).throttled_o
    }

    #[test]
    fn an_event_can_issue_three_cycles_later() {
        let mut awc = loaded();
        let taken = awc.step(&trigger(3));
        assert!(taken.trigger_known_o && taken.trigger_high_o && taken.trigger_ready_o);
        let fetches: Vec<bool> = (0..2).map(|_| awc.step(&quiet()).fetch_o).collect();
        assert_eq!(fetches, [true, true]);
        let issue = AwcIn { issue1_index_i: 2, issue1_pop_i: true, ..quiet() };
        let issued: Vec<(u64, u64, bool)> = (0..2)
            .map(|_| awc.step(&issue))
            .map(|o| (o.high_valid_o, o.issue1_instruction_o, o.issue1_last_o))
            .collect();
        assert_eq!(issued, [(1 << 5, 7 * 16, false), (1 << 5, 7 * 16 + 1, true)]);
        assert_eq!(awc.step(&quiet()).high_valid_o, 0);
    }

    #[test]
    fn an_unknown_event_is_never_taken() {
        let mut awc = loaded();
        let refused = awc.step(&trigger(5));
        assert!(!refused.trigger_known_o && !refused.trigger_ready_o);
        awc.step(&AwcIn { map_write_i: true, map_event_i: 3, map_enable_i: false, ..quiet() });
        assert!(!awc.step(&trigger(3)).trigger_known_o, "taken out of the map");
    }

    #[test]
    fn busy_units_and_a_lack_of_idle_cycles_throttle() {
        assert!(!throttled_after(96, 8));
        assert!(throttled_after(97, 8));
        assert!(throttled_after(96, 7));
    }

    #[test]
    fn the_throttle_holds_low_priority_for_a_window_and_lets_high_pass() {
        let mut awc = loaded();
        while !awc.step(&AwcIn { busy_i: 0b001, ..quiet() }).throttled_o {}
        awc.step(&trigger(4));
        awc.step(&trigger(3));
        let fetches: Vec<u32> = (3..2 * WINDOW).filter(|_| awc.step(&quiet()).fetch_o).collect();
        assert_eq!(fetches, [3, 4, WINDOW, WINDOW + 1], "high at once, low in the next window");
    }

    #[test]
    fn a_kill_reaches_every_place() {
        let mut awc = loaded();
        awc.step(&trigger(3));
        awc.step(&trigger(4));
        for _ in 0..3 {
            awc.step(&quiet());
        }
        awc.step(&AwcIn { kill_high_i: true, kill_low_i: true, kill_warp_i: 5, ..quiet() });
        for _ in 0..10 {
            let outputs = awc.step(&quiet());
            assert!(outputs.high_valid_o == 0 && !outputs.low_valid_o && !outputs.fetch_o);
            assert_eq!(outputs.active_o, 0);
        }
    }
}
