//! The whole assist warp controller against a plain list of assist warps: the schedulers get the instructions of their routines.
use crate::awc::{Awc, AwcIn, AwcOut, AwcParams, WINDOW};
use crate::deployment::{Kill, kill, lockstep, warp};
use crate::widths::WARPS;
use proptest::prelude::*;
use selvedge_hw::Instance;

/// Events in the map; even events have high priority. Each has its own routine and length.
const EVENTS: u8 = 12;

/// Returns SR.ID and SR.End of an event's routine. Event 5 has 100 instructions.
fn routine(event: u8) -> (u8, u8) {
    (event * 2, if event == 5 { 99 } else { event * 2 })
}

fn is_high(event: u8) -> bool {
    event.is_multiple_of(2)
}

/// Returns the word of the store at an address.
fn word(address: u16) -> u64 {
    u64::from(address) << 40 | u64::from(!address)
}

#[derive(Clone, Debug)]
struct AwcCycle {
    trigger: Option<(u8, u8)>,
    kill: Option<Kill>,
    /// Issue of both schedulers, service of the low partition (`low`) and a busy pipeline (`busy`).
    issue: [bool; 2],
    low: bool,
    busy: bool,
    /// Selects the warp that each scheduler examines among those with instructions.
    choice: u8,
}

fn clock() -> impl Strategy<Value = AwcCycle> {
    let trigger = prop::option::weighted(0.4, (0u8..EVENTS + 1, warp()));
    (trigger, kill(), any::<[bool; 2]>(), any::<bool>(), any::<bool>(), 0u8..24).prop_map(
        |(trigger, kill, issue, low, busy, choice)| AwcCycle { trigger, kill, issue, low, busy, choice },
    )
}

/// An assist warp with unissued instructions.
#[derive(Clone, Debug)]
struct UnissuedWarp {
    event: u8,
    warp: u8,
    tag: u32,
    next: u8,
}

struct AwcBench {
    controller: Instance<Awc>,
    live: Vec<UnissuedWarp>,
    /// Warps with instructions after the last cycle.
    high_valid: u64,
    tag: u32,
}

impl AwcBench {
    /// Returns a controller with loaded store and map.
    fn new(params: &AwcParams) -> Self {
        let mut controller = lockstep::<Awc>(params);
        for load_address_i in 0..512 {
            let load_data_i = word(load_address_i);
            controller
                .step(&AwcIn { load_i: true, load_address_i, load_data_i, idle_i: true, ..AwcIn::default() })
                .unwrap();
        }
        for map_event_i in 0..EVENTS {
            let (map_sr_i, map_end_i) = routine(map_event_i);
            let map_high_i = is_high(map_event_i);
            let map = AwcIn { map_write_i: true, map_enable_i: true, idle_i: true, ..AwcIn::default() };
            controller.step(&AwcIn { map_event_i, map_sr_i, map_end_i, map_high_i, ..map }).unwrap();
        }
        AwcBench { controller, live: Vec::new(), high_valid: 0, tag: 0 }
    }

    fn inputs(&self, clock: &AwcCycle) -> AwcIn {
        let looks = |parity: u8| {
            let behind = (0..24u8).map(|step| (clock.choice + step) % 24);
            behind.into_iter().find(|index| self.high_valid >> (2 * index + parity) & 1 == 1).unwrap_or(0)
        };
        let (event, warp) = clock.trigger.unwrap_or_default();
        let kill = clock.kill.unwrap_or(Kill { warp: 0, high: false, low: false });
        AwcIn {
            trigger_valid_i: clock.trigger.is_some(),
            trigger_event_i: event,
            trigger_warp_i: warp,
            trigger_mask_i: self.tag,
            trigger_live_in_i: !self.tag as u16,
            trigger_live_out_i: self.tag as u16,
            kill_high_i: kill.high,
            kill_low_i: kill.low,
            kill_warp_i: kill.warp,
            busy_i: u8::from(clock.busy),
            idle_i: true,
            issue0_index_i: looks(0),
            issue0_pop_i: clock.issue[0],
            issue1_index_i: looks(1),
            issue1_pop_i: clock.issue[1],
            low_pop_i: clock.low,
            ..AwcIn::default()
        }
    }

    fn step(&mut self, clock: &AwcCycle) -> Result<AwcOut, TestCaseError> {
        let inputs = self.inputs(clock);
        let o = self.controller.step(&inputs).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let holds = |warp: u8| o.high_valid_o >> warp & 1 == 1;
        let (even, odd) = (2 * inputs.issue0_index_i, 2 * inputs.issue1_index_i + 1);
        if inputs.issue0_pop_i && holds(even) {
            let registers = (o.issue0_live_in_o, o.issue0_live_out_o);
            self.issued(true, even, o.issue0_mask_o, o.issue0_instruction_o, o.issue0_last_o, registers)?;
        }
        if inputs.issue1_pop_i && holds(odd) {
            let registers = (o.issue1_live_in_o, o.issue1_live_out_o);
            self.issued(true, odd, o.issue1_mask_o, o.issue1_instruction_o, o.issue1_last_o, registers)?;
        }
        if inputs.low_pop_i && o.low_valid_o {
            let registers = (o.low_live_in_o, o.low_live_out_o);
            self.issued(false, o.low_warp_o, o.low_mask_o, o.low_instruction_o, o.low_last_o, registers)?;
        }
        if let Some(kill) = clock.kill {
            self.live.retain(|live| !kill.takes(live.warp, is_high(live.event)));
        }
        if let Some((event, warp)) = clock.trigger {
            prop_assert_eq!(o.trigger_known_o, event < EVENTS);
            prop_assert!(o.trigger_known_o || !o.trigger_ready_o);
            if o.trigger_ready_o {
                self.live.push(UnissuedWarp { event, warp, tag: self.tag, next: 0 });
            }
        }
        self.tag += 1;
        self.high_valid = o.high_valid_o;
        Ok(o)
    }

    /// Checks that an issued instruction is the next one of an assist warp that was not killed.
    fn issued(
        &mut self,
        high: bool,
        warp: u8,
        tag: u32,
        instruction: u64,
        last: bool,
        registers: (u16, u16),
    ) -> Result<(), TestCaseError> {
        let Some(index) = self.live.iter().position(|live| live.tag == tag) else {
            return Err(TestCaseError::fail(format!("warp {warp}, tag {tag}: not active")));
        };
        let live = &mut self.live[index];
        prop_assert_eq!((live.warp, is_high(live.event)), (warp, high));
        prop_assert_eq!(registers, (!tag as u16, tag as u16));
        let (sr, end) = routine(live.event);
        prop_assert_eq!(instruction, word((u16::from(sr) * 16 + u16::from(live.next)) % 512));
        prop_assert_eq!(last, live.next == end);
        live.next += 1;
        if last {
            self.live.remove(index);
        }
        Ok(())
    }
}

/// Returns a cycle in which every instruction is issued as soon as possible.
fn open(choice: u8) -> AwcCycle {
    AwcCycle { trigger: None, kill: None, issue: [true; 2], low: true, busy: false, choice }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_routine_is_issued_whole_and_in_order_or_killed_whole(
        traffic in prop::collection::vec(clock(), 1..700),
        small: bool,
    ) {
        let entries = if small { 8 } else { 48 };
        let mut bench = AwcBench::new(&AwcParams { entries, ..AwcParams::default() });
        for clock in &traffic {
            bench.step(clock)?;
        }
        // At most two windows until the throttle opens, then few cycles per instruction.
        let instructions: u32 = bench.live.iter().map(|live| 1 + u32::from(routine(live.event).1)).sum();
        for cycle in 0..3 * WINDOW + 4 * instructions {
            bench.step(&open(cycle as u8 % 24))?;
        }
        prop_assert!(bench.live.is_empty(), "left: {:?}", bench.live);
        prop_assert_eq!(bench.step(&open(0))?.active_o, 0);
    }

    #[test]
    fn a_kill_leaves_nothing_of_the_warp_in_table_or_buffer(
        traffic in prop::collection::vec(clock(), 1..300),
        warp in warp(),
    ) {
        let mut bench = AwcBench::new(&AwcParams::default());
        for clock in &traffic {
            bench.step(clock)?;
        }
        let kill = Some(Kill { warp, high: true, low: true });
        bench.step(&AwcCycle { kill, issue: [false; 2], low: false, ..open(0) })?;
        for cycle in 0..400u32 {
            let outputs = bench.step(&open(cycle as u8 % 24))?;
            prop_assert!(outputs.high_valid_o >> warp & 1 == 0);
            prop_assert!(!outputs.low_valid_o || outputs.low_warp_o != warp);
        }
    }

    #[test]
    fn while_throttled_low_priority_stands_still_and_high_goes_on(warps in prop::collection::vec(0..WARPS as u8, 1..30)) {
        let mut bench = AwcBench::new(&AwcParams::default());
        let busy = AwcCycle { busy: true, ..open(0) };
        while !bench.step(&busy)?.throttled_o {}
        for (turn, warp) in warps.iter().enumerate() {
            // Event 1 has low priority, event 2 high.
            bench.step(&AwcCycle { trigger: Some((1 + turn as u8 % 2, *warp)), ..busy.clone() })?;
        }
        for cycle in 0..3 * WINDOW {
            let outputs = bench.step(&AwcCycle { choice: cycle as u8 % 24, ..busy.clone() })?;
            prop_assert!(outputs.throttled_o && !outputs.low_valid_o);
        }
        prop_assert!(bench.live.iter().all(|live| live.event == 1 && live.next == 0));
        for cycle in 0..4 * WINDOW {
            bench.step(&open(cycle as u8 % 24))?;
        }
        prop_assert!(bench.live.is_empty());
    }
}
