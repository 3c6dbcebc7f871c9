//! The LATTE-CC controller of one SM: what the L1D and the schedulers tell becomes its inputs, clocked on events.
use selvedge_blocks::latte_controller::{
    DECISION_CYCLES, LatteController, LatteControllerIn, LatteControllerOut, LatteControllerParams, Mode,
};
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::mechanism::{MechanismCounters, count};
use selvedge_gpu::stage::MechanismFault;
use selvedge_gpu::stats::Decision;
use selvedge_hw::Instance;
use selvedge_hw::wave::Trace;
use selvedge_state::State;

/// Clocks after an event until the outputs show it.
const AFTER_EVENT: u32 = 2;

/// The block with the events that it has not seen yet.
#[derive(State)]
pub struct Controller {
    block: Instance<LatteController>,
    inputs: LatteControllerIn,
    /// Clocks until nothing changes without events.
    clocks: u32,
    outputs: LatteControllerOut,
    decisions: [u64; 3],
    /// Sum of the latency tolerances of all decisions, cycles.
    tolerance: u64,
}

impl Controller {
    /// A controller in its first EP.
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

    /// Returns whether it must be clocked.
    pub fn is_busy(&self) -> bool {
        self.clocks > 0
    }

    fn event(&mut self) -> &mut LatteControllerIn {
        self.clocks = self.clocks.max(AFTER_EVENT);
        &mut self.inputs
    }

    /// A load was decided in the L1D.
    pub fn access(&mut self, set: usize, decision: Decision) {
        let inputs = self.event();
        inputs.access_i = true;
        inputs.set_i = set as u8;
        inputs.hit_i = decision == Decision::Hit;
        inputs.insert_i = decision == Decision::Miss;
    }

    /// A schedule has ended.
    pub fn schedule(&mut self, scheduler: usize, cycles: u64, warps: u32) {
        let inputs = self.event();
        inputs.schedule_i |= 1 << scheduler;
        inputs.warps_i |= (warps.min(63) as u16) << (6 * scheduler);
        inputs.cycles_i |= (cycles.min(255) as u16) << (8 * scheduler);
    }

    /// A hit's effective latency is known.
    pub fn hit_latency(&mut self, mode: Mode, cycles: u8) {
        let inputs = self.event();
        match mode {
            Mode::None => {}
            Mode::LowLatency => (inputs.low_hit_i, inputs.low_latency_i) = (true, cycles),
            Mode::HighCapacity => (inputs.high_hit_i, inputs.high_latency_i) = (true, cycles),
        }
    }

    /// A miss has returned.
    pub fn miss_returned(&mut self, cycles: u64) {
        let inputs = self.event();
        inputs.miss_return_i = true;
        inputs.miss_latency_i = cycles.min(4095) as u16;
    }

    /// Looks up the mode of a set; [`Controller::tick`] after the next one gives it.
    pub fn look_up(&mut self, set: usize) {
        self.event().lookup_set_i = set as u8;
    }

    /// One clock; gives the outputs.
    ///
    /// # Errors
    /// Model and RTL differ.
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

    /// What was recorded.
    pub fn trace(&self) -> Option<Trace> {
        self.block.trace()
    }
}
