//! Golden model of the LATTE-CC controller: EPs, counts, measures and the delayed decision, cycle by cycle.
use super::decision::{DecisionInputs, Mode};
use super::params::{DECISION_CYCLES, FIRST_LATENCIES, LatteControllerParams};
use super::rtl::{LatteControllerIn, LatteControllerOut};
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// A running mean with 8 fractional bits. Each new value has a weight of 1/16.
#[derive(Clone, Copy, Debug, State)]
struct MeanModel(u32);

impl MeanModel {
    fn new(cycles: u32) -> Self {
        MeanModel(cycles << 8)
    }

    fn take(&mut self, sample: bool, cycles: u32) {
        if sample {
            self.0 = self.0 - (self.0 >> 4) + (cycles << 4);
        }
    }

    fn sixteenths(self) -> u32 {
        self.0 >> 4
    }
}

/// Golden model of the LATTE-CC controller.
#[derive(Clone, Debug, State)]
pub struct LatteControllerModel {
    params: LatteControllerParams,
    accesses: u32,
    ep: u32,
    first_period: bool,
    hits: [u32; 3],
    misses: [u32; 3],
    schedules: u32,
    warps: u32,
    cycles: u32,
    low_latency: MeanModel,
    high_latency: MeanModel,
    miss_latency: MeanModel,
    /// The next decision: cycles until it is visible, mode, and tolerance in cycles.
    pending: Option<(u32, Mode, u16)>,
    outputs: LatteControllerOut,
}

impl LatteControllerModel {
    /// Returns a model in its reset state: it learns in the first EP of the first period. The parameters must be valid.
    pub fn new(params: &LatteControllerParams) -> Self {
        let [low, high, miss] = FIRST_LATENCIES;
        LatteControllerModel {
            params: *params,
            accesses: 0,
            ep: 0,
            first_period: true,
            hits: [0; 3],
            misses: [0; 3],
            schedules: 0,
            warps: 0,
            cycles: 0,
            low_latency: MeanModel::new(low),
            high_latency: MeanModel::new(high),
            miss_latency: MeanModel::new(miss),
            pending: None,
            outputs: LatteControllerOut { learning_o: true, build_o: true, ..LatteControllerOut::default() },
        }
    }

    fn evidence(&self) -> DecisionInputs {
        DecisionInputs {
            hits: self.hits,
            misses: self.misses,
            hit_latency: [0, self.low_latency.sixteenths(), self.high_latency.sixteenths()],
            miss_latency: self.miss_latency.sixteenths(),
            schedules: self.schedules,
            warps: self.warps,
            cycles: self.cycles,
        }
    }

    /// Begins an EP in its first cycle: decides by the EP that has ended, and restarts the counts.
    fn begin_ep(&mut self) {
        let evidence = self.evidence();
        let tolerance = (evidence.tolerance() >> 10) as u16;
        self.pending = Some((DECISION_CYCLES - 1, evidence.choose(self.params.policy), tolerance));
        (self.schedules, self.warps, self.cycles) = (0, 0, 0);
        if self.ep == 0 {
            (self.hits, self.misses) = ([0; 3], [0; 3]);
        }
    }

    fn look_up(&mut self, set: u8) {
        let dedicated = self.params.dedicated(u32::from(set)).filter(|_| self.ep == 0);
        self.outputs.lookup_dedicated_o = dedicated.is_some();
        self.outputs.lookup_mode_o = dedicated.map_or(self.outputs.mode_o, |mode| mode as u8);
    }

    fn count(&mut self, inputs: &LatteControllerIn) {
        let Some(mode) = self.params.dedicated(u32::from(inputs.set_i)) else { return };
        self.hits[mode as usize] += u32::from(inputs.hit_i && self.ep < 2);
        self.misses[mode as usize] += u32::from(!inputs.hit_i && inputs.insert_i && self.ep == 0);
    }

    fn measure(&mut self, inputs: &LatteControllerIn) {
        if self.schedules >= self.params.full() {
            self.schedules /= 2;
            self.warps /= 2;
            self.cycles /= 2;
        }
        for scheduler in
            (0..self.params.schedulers).filter(|scheduler| (inputs.schedule_i >> scheduler) & 1 != 0)
        {
            self.schedules += 1;
            self.warps += (inputs.warps_i >> (6 * scheduler)) as u32 & 0x3f;
            self.cycles += (inputs.cycles_i >> (8 * scheduler)) as u32 & 0xff;
        }
        self.low_latency.take(inputs.low_hit_i, inputs.low_latency_i.into());
        self.high_latency.take(inputs.high_hit_i, inputs.high_latency_i.into());
        self.miss_latency.take(inputs.miss_return_i, inputs.miss_latency_i.into());
    }

    fn decide(&mut self) {
        self.outputs.decided_o = false;
        match &mut self.pending {
            Some((0, mode, tolerance)) => {
                self.outputs.decided_o = true;
                self.outputs.mode_o = *mode as u8;
                self.outputs.tolerance_o = *tolerance;
                self.pending = None;
            }
            Some((cycles, ..)) => *cycles -= 1,
            None => {}
        }
    }

    /// Counts an access. The last access of an EP begins the next EP.
    fn advance(&mut self, access: bool) {
        self.accesses += u32::from(access);
        let ends = self.accesses == self.params.ep_accesses;
        self.outputs.ep_end_o = ends;
        self.outputs.new_codes_o = ends && self.outputs.build_o;
        if ends {
            self.accesses = 0;
            self.ep = (self.ep + 1) % self.params.period_eps;
            self.first_period &= self.ep != 0;
            self.outputs.learning_o = self.ep == 0;
            self.outputs.build_o = self.ep == self.params.period_eps - 1 || self.first_period && self.ep == 0;
        }
    }
}

impl Clocked<LatteControllerIn, LatteControllerOut> for LatteControllerModel {
    fn step(&mut self, inputs: &LatteControllerIn) -> LatteControllerOut {
        let outputs = self.outputs;
        self.look_up(inputs.lookup_set_i);
        if outputs.ep_end_o {
            self.begin_ep();
        }
        if inputs.access_i {
            self.count(inputs);
        }
        self.measure(inputs);
        self.decide();
        self.advance(inputs.access_i);
        outputs
    }

    fn reset(&mut self) {
        *self = LatteControllerModel::new(&self.params);
    }
}
