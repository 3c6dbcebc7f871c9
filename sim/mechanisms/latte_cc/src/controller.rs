//! The LATTE-CC controller of one SM. Events of the L1D and the schedulers become its inputs, and it is clocked on events.
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::mechanism::{Counter, MechanismCounters, count};
use selvedge_gpu::stage::MechanismFault;
use selvedge_gpu::stats::AccessResult;
use selvedge_hw::Instance;
use selvedge_hw::wave::Trace;
use selvedge_hw_latte_cc::latte_controller::{
    DECISION_CYCLES, LatteController, LatteControllerIn, LatteControllerOut, LatteControllerParams, Mode,
};
use selvedge_state::State;

/// Counters of the controller.
pub(crate) const COUNTERS: &[Counter] = &[
    Counter::new(
        "decisions_high_capacity",
        "intervals for which the controller chose the high-capacity codec",
    ),
    Counter::new("decisions_low_latency", "intervals for which the controller chose the low-latency codec"),
    Counter::new("decisions_none", "intervals for which the controller chose no compression"),
    Counter::new("latency_tolerance_cycles", "sum of the latency tolerances of all decisions, cycles"),
];

/// Clocks after an event until the outputs show it.
const AFTER_EVENT: u32 = 2;

/// The controller block, and the events that it has not seen yet.
#[derive(State)]
pub struct Controller {
    block: Instance<LatteController>,
    inputs: LatteControllerIn,
    /// Clocks until the outputs are stable.
    clocks: u32,
    outputs: LatteControllerOut,
    decisions: [u64; 3],
    /// Sum of the latency tolerances of all decisions, cycles.
    tolerance: u64,
}

impl Controller {
    /// Returns a controller in its first EP.
    pub fn new(name: String, params: &LatteControllerParams, probes: &Probes) -> Self {
        Controller {
            block: probes.instance(name, params),
            inputs: LatteControllerIn::default(),
            clocks: AFTER_EVENT,
            outputs: LatteControllerOut::default(),
            decisions: [0; 3],
            tolerance: 0,
        }
    }

    /// Returns whether the block must be clocked.
    pub fn is_busy(&self) -> bool {
        self.clocks > 0
    }

    fn event(&mut self) -> &mut LatteControllerIn {
        self.clocks = self.clocks.max(AFTER_EVENT);
        &mut self.inputs
    }

    /// Records the L1D's decision on a load.
    pub fn access(&mut self, set: usize, decision: AccessResult) {
        let inputs = self.event();
        inputs.access_i = true;
        inputs.set_i = set as u8;
        inputs.hit_i = decision == AccessResult::Hit;
        inputs.insert_i = decision == AccessResult::Miss;
    }

    /// Records the end of a schedule.
    pub fn schedule(&mut self, scheduler: usize, cycles: u64, warps: u32) {
        let inputs = self.event();
        inputs.schedule_i |= 1 << scheduler;
        inputs.warps_i |= u64::from(warps.min(63)) << (6 * scheduler);
        inputs.cycles_i |= cycles.min(255) << (8 * scheduler);
    }

    /// Records the effective latency of a hit.
    pub fn hit_latency(&mut self, mode: Mode, cycles: u8) {
        let inputs = self.event();
        match mode {
            Mode::None => {}
            Mode::LowLatency => (inputs.low_hit_i, inputs.low_latency_i) = (true, cycles),
            Mode::HighCapacity => (inputs.high_hit_i, inputs.high_latency_i) = (true, cycles),
        }
    }

    /// Records the return of a miss after `cycles`.
    pub fn miss_returned(&mut self, cycles: u64) {
        let inputs = self.event();
        inputs.miss_return_i = true;
        inputs.miss_latency_i = cycles.min(4095) as u16;
    }

    /// Looks up the mode of a set. The second next [`Controller::tick`] returns it.
    pub fn look_up(&mut self, set: usize) {
        self.event().lookup_set_i = set as u8;
    }

    /// Clocks the block once, and returns its outputs.
    ///
    /// # Errors
    /// If the engines differ.
    pub fn tick(&mut self, now: u64) -> Result<LatteControllerOut, MechanismFault> {
        self.block.advance_to(now);
        let inputs = std::mem::take(&mut self.inputs);
        self.outputs = self.block.step(&inputs).map_err(|divergence| divergence as MechanismFault)?;
        self.clocks -= 1;
        if self.outputs.ep_end_o {
            self.clocks = DECISION_CYCLES + AFTER_EVENT;
        }
        if self.outputs.decided_o {
            self.decisions[usize::from(self.outputs.mode_o)] += 1;
            self.tolerance += u64::from(self.outputs.tolerance_o);
        }
        Ok(self.outputs)
    }

    /// Adds its counters to the report.
    pub fn counters(&self, out: &mut MechanismCounters) {
        let names = ["decisions_none", "decisions_low_latency", "decisions_high_capacity"];
        names.into_iter().zip(self.decisions).for_each(|(name, decisions)| count(out, name, decisions));
        count(out, "latency_tolerance_cycles", self.tolerance);
    }

    /// Returns the recorded ports of the block, if it is probed.
    pub fn trace(&self) -> Option<Trace> {
        self.block.trace()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_gpu::mechanism::probe::ProbeSpec;
    use selvedge_hw::Engine;

    fn controller() -> Controller {
        let probes = Probes::new(ProbeSpec::default(), Engine::Model);
        Controller::new("controller".into(), &LatteControllerParams::default(), &probes)
    }

    #[test]
    fn latencies_and_warps_that_exceed_their_ports_are_the_most() {
        let mut controller = controller();
        for (cycles, expected) in [(4094, 4094), (4095, 4095), (4096, 4095), (70_000, 4095)] {
            controller.miss_returned(cycles);
            assert_eq!(controller.inputs.miss_latency_i, expected, "{cycles}");
        }
        controller.schedule(1, 300, 64);
        let inputs = &controller.inputs;
        assert_eq!((inputs.schedule_i, inputs.cycles_i, inputs.warps_i), (2, 255 << 8, 63 << 6));
    }

    #[test]
    fn an_event_clocks_the_block_and_ends_no_decision() {
        let mut controller = controller();
        controller.clocks = 0;
        controller.access(0, AccessResult::Hit);
        assert_eq!(controller.clocks, AFTER_EVENT);
        controller.clocks = DECISION_CYCLES;
        controller.access(0, AccessResult::Hit);
        assert_eq!(controller.clocks, DECISION_CYCLES);
    }
}
