//! The assist warp table against a plain list of assist warps.
use crate::awt::{Awt, AwtIn, AwtOut, AwtParams};
use crate::deployment::{Kill, kill, lockstep, warp};
use proptest::prelude::*;
use selvedge_hw::Instance;

/// An active assist warp.
#[derive(Clone, Debug)]
struct ActiveWarp {
    trigger: WarpTrigger,
    /// Its lanes, which identify it at the ports.
    tag: u32,
    /// Number of the next instruction.
    next: u8,
    /// Consecutive cycles in which it was ready but another one was deployed.
    passed: u32,
}

#[derive(Clone, Copy, Debug)]
struct WarpTrigger {
    warp: u8,
    sr: u8,
    end: u8,
    high: bool,
}

#[derive(Clone, Debug)]
struct AwtCycle {
    trigger: Option<WarpTrigger>,
    kill: Option<Kill>,
    high_room: u64,
    low_room: bool,
}

fn clock() -> impl Strategy<Value = AwtCycle> {
    let end = prop_oneof![5 => 0u8..6, 1 => 0u8..128];
    let trigger = (warp(), prop_oneof![0u8..3, 0u8..32], end, any::<bool>())
        .prop_map(|(warp, sr, end, high)| WarpTrigger { warp, sr, end, high });
    let room = prop_oneof![Just(u64::MAX), any::<u64>(), Just(0)];
    (prop::option::of(trigger), kill(), room, any::<bool>()).prop_map(
        |(trigger, kill, high_room, low_room)| AwtCycle {
            trigger,
            kill,
            high_room: high_room & ((1 << 48) - 1),
            low_room,
        },
    )
}

struct AwtBench {
    params: AwtParams,
    table: Instance<Awt>,
    live: Vec<ActiveWarp>,
    triggers: u32,
}

impl AwtBench {
    fn new(entries: u32) -> Self {
        let params = AwtParams { entries };
        AwtBench { params, table: lockstep::<Awt>(&params), live: Vec::new(), triggers: 0 }
    }

    fn inputs(&self, clock: &AwtCycle) -> AwtIn {
        let mut inputs =
            AwtIn { high_room_i: clock.high_room, low_room_i: clock.low_room, ..AwtIn::default() };
        if let Some(WarpTrigger { warp, sr, end, high }) = clock.trigger {
            inputs.trigger_valid_i = true;
            (inputs.trigger_warp_i, inputs.trigger_sr_i) = (warp, sr);
            (inputs.trigger_end_i, inputs.trigger_high_i) = (end, high);
            inputs.trigger_mask_i = self.triggers;
            (inputs.trigger_live_in_i, inputs.trigger_live_out_i) =
                (!self.triggers as u16, self.triggers as u16);
        }
        if let Some(Kill { warp, high, low }) = clock.kill {
            (inputs.kill_warp_i, inputs.kill_high_i, inputs.kill_low_i) = (warp, high, low);
        }
        inputs
    }

    fn step(&mut self, clock: &AwtCycle) -> Result<(), TestCaseError> {
        let outputs = self.table.step(&self.inputs(clock)).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(outputs.active_o.count_ones() as usize, self.live.len());
        prop_assert_eq!(outputs.full_o, self.live.len() == self.params.entries as usize);
        let accepted = self.check_trigger(clock, &outputs)?;
        if let Some(kill) = clock.kill {
            self.live.retain(|live| !kill.takes(live.trigger.warp, live.trigger.high));
        }
        self.check_deploy(clock, &outputs)?;
        if accepted {
            let trigger = clock.trigger.expect("it was accepted");
            self.live.push(ActiveWarp { trigger, tag: self.triggers, next: 0, passed: 0 });
        }
        self.triggers += 1;
        Ok(())
    }

    /// Checks that a trigger is refused only for a reason and accepted only without one.
    fn check_trigger(&self, clock: &AwtCycle, outputs: &AwtOut) -> Result<bool, TestCaseError> {
        let Some(WarpTrigger { warp, sr, high, .. }) = clock.trigger else { return Ok(false) };
        let same = self.live.iter().any(|live| live.trigger.warp == warp && live.trigger.sr == sr);
        let left = self.params.entries as usize - self.live.len();
        if outputs.trigger_ready_o {
            prop_assert!(!same && left > 0);
        } else if high {
            prop_assert!(same || left == 0);
        } else {
            prop_assert!(same || left <= self.params.high_only() as usize);
        }
        Ok(outputs.trigger_ready_o)
    }

    /// Checks that an instruction is deployed in every cycle with a ready assist warp, and that it is the next one of a ready
    /// assist warp.
    fn check_deploy(&mut self, clock: &AwtCycle, outputs: &AwtOut) -> Result<(), TestCaseError> {
        let ready = |live: &ActiveWarp| {
            if live.trigger.high { clock.high_room >> live.trigger.warp & 1 == 1 } else { clock.low_room }
        };
        prop_assert_eq!(outputs.deploy_valid_o, self.live.iter().any(ready));
        for live in &mut self.live {
            live.passed = if ready(live) { live.passed + 1 } else { 0 };
            prop_assert!(live.passed <= self.params.entries, "passed over: {:?}", live);
        }
        if !outputs.deploy_valid_o {
            return Ok(());
        }
        let found = self.live.iter().position(|live| live.tag == outputs.deploy_mask_o);
        let Some(index) = found else {
            return Err(TestCaseError::fail(format!("not active: {outputs:?}")));
        };
        let live = &mut self.live[index];
        let WarpTrigger { warp, sr, end, high } = live.trigger;
        prop_assert!(ready(live));
        prop_assert_eq!(
            (outputs.deploy_warp_o, outputs.deploy_sr_o, outputs.deploy_high_o),
            (warp, sr, high)
        );
        let registers = (!live.tag as u16, live.tag as u16);
        prop_assert_eq!((outputs.deploy_live_in_o, outputs.deploy_live_out_o), registers);
        prop_assert_eq!((outputs.deploy_inst_o, outputs.deploy_last_o), (live.next, live.next == end));
        (live.next, live.passed) = (live.next + 1, 0);
        if outputs.deploy_last_o {
            self.live.remove(index);
        }
        Ok(())
    }

    fn drain(&mut self) -> Result<u64, TestCaseError> {
        let open = AwtCycle { trigger: None, kill: None, high_room: (1 << 48) - 1, low_room: true };
        let mut cycles = 0;
        while !self.live.is_empty() {
            self.step(&open)?;
            cycles += 1;
        }
        self.step(&open)?;
        Ok(cycles)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn instructions_are_deployed_in_order_once_and_in_turn(
        traffic in prop::collection::vec(clock(), 1..700),
        small: bool,
    ) {
        let mut bench = AwtBench::new(if small { 8 } else { 48 });
        for clock in &traffic {
            bench.step(clock)?;
        }
        bench.drain()?;
    }

    #[test]
    fn without_throttle_every_instruction_takes_one_cycle(ends in prop::collection::vec(0u8..128, 1..=36)) {
        let mut bench = AwtBench::new(48);
        for (warp, end) in ends.iter().enumerate() {
            let trigger = Some(WarpTrigger { warp: warp as u8, sr: 3, end: *end, high: warp % 2 == 0 });
            bench.step(&AwtCycle { trigger, kill: None, high_room: 0, low_room: false })?;
        }
        prop_assert_eq!(bench.live.len(), ends.len(), "all were taken");
        let instructions: u64 = ends.iter().map(|end| u64::from(*end) + 1).sum();
        prop_assert_eq!(bench.drain()?, instructions);
    }

    #[test]
    fn a_kill_of_both_priorities_leaves_nothing_of_the_warp(
        traffic in prop::collection::vec(clock(), 1..300),
        warp in warp(),
    ) {
        let mut table = lockstep::<Awt>(&AwtParams::default());
        let bench = AwtBench::new(48);
        for clock in &traffic {
            table.step(&bench.inputs(clock)).unwrap();
        }
        table.step(&AwtIn { kill_warp_i: warp, kill_high_i: true, kill_low_i: true, ..AwtIn::default() }).unwrap();
        let open = AwtIn { high_room_i: u64::MAX, low_room_i: true, ..AwtIn::default() };
        for _ in 0..48 * 128 {
            let outputs = table.step(&open).unwrap();
            prop_assert!(!outputs.deploy_valid_o || outputs.deploy_warp_o != warp);
        }
        prop_assert_eq!(table.step(&open).unwrap().active_o, 0);
    }
}

#[test]
fn a_full_table_refuses_and_says_so() {
    for entries in [8, 48] {
        let mut bench = AwtBench::new(entries);
        let closed = |warp: u32, high| AwtCycle {
            trigger: Some(WarpTrigger { warp: (warp % 48) as u8, sr: (warp / 48) as u8, end: 0, high }),
            kill: None,
            high_room: 0,
            low_room: false,
        };
        for warp in 0..2 * entries {
            bench.step(&closed(warp, false)).unwrap();
        }
        assert_eq!(bench.live.len() as u32, entries - entries / 4, "low priority fills three quarters");
        for warp in 2 * entries..4 * entries {
            bench.step(&closed(warp, true)).unwrap();
        }
        assert_eq!(bench.live.len() as u32, entries);
        let inputs = bench.inputs(&closed(4 * entries, true));
        let outputs = bench.table.step(&inputs).unwrap();
        assert!(outputs.full_o && !outputs.trigger_ready_o);
    }
}
