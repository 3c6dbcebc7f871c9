//! Golden model of the AWC's own logic: the map, the throttle and the register around the table's model.
use super::params::{AwcParams, EVENT_BITS, UNITS, WINDOW};
use super::rtl::AwcIn;
use crate::awt::{AwtIn, AwtModel, AwtOut};
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// The routine and the priority of an event. Routes are in a memory, which has no reset.
#[derive(Clone, Copy, Debug, Default, State)]
struct Route {
    high: bool,
    sr: u8,
    end: u8,
}

/// Counts the busy and idle cycles of each window.
#[derive(Clone, Copy, Debug, Default, State)]
struct ThrottleModel {
    cycle: u32,
    busy: [u32; UNITS],
    idle: u32,
    throttled: bool,
}

impl ThrottleModel {
    fn step(&mut self, params: &AwcParams, inputs: &AwcIn) {
        for (unit, busy) in self.busy.iter_mut().enumerate() {
            *busy += u32::from(inputs.busy_i >> unit & 1);
        }
        self.idle += u32::from(inputs.idle_i);
        self.cycle += 1;
        if self.cycle == WINDOW {
            let busy = self.busy.iter().any(|busy| *busy > params.busy_limit);
            *self = ThrottleModel {
                throttled: busy || self.idle < params.idle_limit,
                ..ThrottleModel::default()
            };
        }
    }
}

/// Outputs of the control in a cycle, except the staged instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct ControlOutputs {
    pub known: bool,
    pub high: bool,
    pub ready: bool,
    pub throttled: bool,
    /// Outputs of the table: the instruction to fetch, and the entries in use.
    pub table: AwtOut,
}

/// The map, the throttle and the staged instruction, around the table's model.
#[derive(Clone, Debug, State)]
pub(super) struct ControlModel {
    params: AwcParams,
    table: AwtModel,
    map: [Route; 1 << EVENT_BITS],
    /// Events in the map, one bit each.
    known: u32,
    throttle: ThrottleModel,
    staged: AwtOut,
    staged_valid: bool,
}

impl ControlModel {
    /// Returns a control with an empty map and an empty table.
    pub fn new(params: &AwcParams) -> Self {
        ControlModel {
            params: *params,
            table: AwtModel::new(&params.table()),
            map: Default::default(),
            known: 0,
            throttle: ThrottleModel::default(),
            staged: AwtOut::default(),
            staged_valid: false,
        }
    }

    /// Returns the instruction that was deployed in the last cycle; it goes to the buffer in this cycle.
    pub fn staged(&self) -> Option<&AwtOut> {
        self.staged_valid.then_some(&self.staged)
    }

    /// Steps by one cycle, with the room that the buffer reports.
    pub fn step(&mut self, inputs: &AwcIn, high_room_i: u64, low_room: bool) -> ControlOutputs {
        let route = self.map[usize::from(inputs.trigger_event_i)];
        let known = self.known >> inputs.trigger_event_i & 1 == 1;
        let throttled = self.throttle.throttled;
        let table = self.table.step(&AwtIn {
            trigger_valid_i: inputs.trigger_valid_i && known,
            trigger_warp_i: inputs.trigger_warp_i,
            trigger_high_i: route.high,
            trigger_sr_i: route.sr,
            trigger_end_i: route.end,
            trigger_mask_i: inputs.trigger_mask_i,
            trigger_live_in_i: inputs.trigger_live_in_i,
            trigger_live_out_i: inputs.trigger_live_out_i,
            kill_high_i: inputs.kill_high_i,
            kill_low_i: inputs.kill_low_i,
            kill_warp_i: inputs.kill_warp_i,
            high_room_i,
            low_room_i: low_room && !throttled,
        });
        self.throttle.step(&self.params, inputs);
        (self.staged, self.staged_valid) = (table, table.deploy_valid_o);
        if inputs.map_write_i {
            let event = usize::from(inputs.map_event_i);
            self.map[event] = Route { high: inputs.map_high_i, sr: inputs.map_sr_i, end: inputs.map_end_i };
            self.known = self.known & !(1 << event) | u32::from(inputs.map_enable_i) << event;
        }
        ControlOutputs { known, high: route.high, ready: table.trigger_ready_o && known, throttled, table }
    }

    /// Removes all events from the map and empties the table. The memories of both keep their contents.
    pub fn reset(&mut self) {
        self.table.reset();
        let (table, map) = (self.table.clone(), self.map);
        *self = ControlModel { table, map, ..ControlModel::new(&self.params) };
    }
}
