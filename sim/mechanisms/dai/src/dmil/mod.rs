//! DMIL: dynamic memory-instruction limiting (Dai, section 4.3.3). A MILG per kernel and SM gates the issue of memory
//! instructions.
//!
//! A load or an atomic is in flight from its issue until its data arrive. A store holds no MSHR or line; it is in flight until
//! its last transaction has left for the L2. A request is a line transaction that the L1D accepted. A reservation failure is
//! a cycle in which the L1D could not accept one.
//!
//! The block only reacts to events. It is clocked in the cycle after an event, and once more for its outputs to follow. It is
//! not reset between launches, so a kernel that is launched again keeps the limit of its last launch.
use selvedge_gpu::has;
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::mechanism::{Claim, Counter, Mechanism, MechanismCounters, NoOptions, Setup, Site, count};
use selvedge_gpu::sm::part::{MemoryEvent, MemoryGate, MemoryObserver, SmPart};
use selvedge_gpu::stage::MechanismFault;
use selvedge_hw::wave::Trace;
use selvedge_hw::{Instance, StepError};
use selvedge_hw_dai::milg::{Milg, MilgIn, MilgOut, MilgParams};
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;

/// Counters of `dmil`.
pub(crate) const COUNTERS: &[Counter] = &[
    Counter::new("limit_updates", "limits of memory instructions in flight that were computed"),
    Counter::new("limit_updates_below_maximum", "computed limits below the largest that the block can state"),
    Counter::new("lowest_limit", "the lowest limit of memory instructions in flight"),
];

/// The mechanism `dmil`.
#[derive(Debug)]
pub struct Dmil;

impl Mechanism for Dmil {
    const NAME: &'static str = "dmil";
    const SUMMARY: &'static str = "limits each kernel's memory instructions in flight, from its reservation failures per request, in each SM";
    const SOURCE: &'static str = "Dai, section 4.3.3";
    const BLOCKS: &'static [&'static str] = &["milg"];
    const PUBLISHED: &'static str = "Dai: 7 + 12 + 10 bits for each kernel of an SM";
    const CLAIMS: &'static [Claim] = &[Claim::Limits];
    const COUNTERS: &'static [&'static [Counter]] = &[COUNTERS];
    type Options = NoOptions;

    /// Builds a gate per SM and kernel.
    fn attach(_: &Setup<NoOptions>, site: &mut Site<'_>) {
        let (kernels, probes) = (site.kernels, site.probes);
        site.each_sm(|sm| DmilSm::new(sm, kernels, probes));
    }
}

/// Max completions that the block takes in a cycle; others wait for the next cycle.
const MAX_COMPLETED: u32 = 3;

/// One kernel's generator in one SM.
#[derive(State)]
struct LimitGate {
    milg: Instance<Milg>,
    /// Events that the block has not seen yet.
    inputs: MilgIn,
    /// Completions beyond those in `inputs`.
    backlog: u32,
    /// Clocks still needed until the outputs show every event.
    clocks: u8,
    outputs: MilgOut,
    updates: u64,
    limited_updates: u64,
    lowest_limit: u64,
}

impl LimitGate {
    fn new(name: String, probes: &Probes) -> Self {
        let params = MilgParams::default();
        LimitGate {
            milg: probes.instance(name, &params),
            inputs: MilgIn::default(),
            backlog: 0,
            clocks: 0,
            outputs: MilgOut { may_issue_o: true, ..MilgOut::default() },
            updates: 0,
            limited_updates: 0,
            lowest_limit: u64::from(params.no_limit()),
        }
    }

    fn event(&mut self, event: MemoryEvent) {
        match event {
            MemoryEvent::Issued => {
                debug_assert!(self.outputs.may_issue_o, "the gate is shut");
                self.inputs.issued_i += 1;
            }
            MemoryEvent::Completed => self.backlog += 1,
            MemoryEvent::Request => self.inputs.request_i = true,
            MemoryEvent::ReservationFailure => self.inputs.rsfail_i = true,
            MemoryEvent::ServedEarly => return,
        }
        self.clocks = 2;
    }

    fn tick(&mut self, now: u64) -> Result<(), Box<StepError>> {
        let completed = self.backlog.min(MAX_COMPLETED);
        self.backlog -= completed;
        self.inputs.completed_i = completed as u8;
        self.milg.advance_to(now);
        self.outputs = self.milg.step(&std::mem::take(&mut self.inputs))?;
        if self.outputs.update_o {
            let no_limit = u64::from(self.milg.params().no_limit());
            let limit = u64::from(self.outputs.limit_o);
            self.updates += 1;
            self.limited_updates += u64::from(limit < no_limit);
            self.lowest_limit = self.lowest_limit.min(limit);
        }
        self.clocks = if self.backlog > 0 { 2 } else { self.clocks - 1 };
        Ok(())
    }
}

/// The gates of one SM.
#[derive(State)]
pub struct DmilSm {
    gates: Vec<LimitGate>,
}

impl DmilSm {
    fn new(sm: u32, kernels: usize, probes: &Probes) -> Self {
        // The first kernel's instance has no number in its name.
        let name = |kernel| if kernel == 0 { format!("sm{sm}.milg") } else { format!("sm{sm}.milg{kernel}") };
        DmilSm { gates: (0..kernels).map(|kernel| LimitGate::new(name(kernel), probes)).collect() }
    }
}

impl SmPart for DmilSm {
    fn tick(&mut self, now: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        for gate in self.gates.iter_mut().filter(|gate| gate.clocks > 0) {
            gate.tick(now).map_err(|divergence| divergence as MechanismFault)?;
        }
        Ok(())
    }

    fn busy(&self) -> bool {
        self.gates.iter().any(|gate| gate.clocks > 0)
    }

    fn counters(&self, out: &mut MechanismCounters) {
        for gate in &self.gates {
            count(out, "limit_updates", gate.updates);
            count(out, "limit_updates_below_maximum", gate.limited_updates);
            let lowest = out.entry("lowest_limit").or_insert(gate.lowest_limit);
            *lowest = gate.lowest_limit.min(*lowest);
        }
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.gates.iter().filter_map(|gate| gate.milg.trace()));
    }

    has!(&memory_gate: MemoryGate);
    has!(memory_observer: MemoryObserver);
}

impl MemoryGate for DmilSm {
    fn may_issue_memory(&self, kernel: u8) -> bool {
        self.gates.get(usize::from(kernel)).is_none_or(|gate| gate.outputs.may_issue_o)
    }
}

impl MemoryObserver for DmilSm {
    fn memory_event(&mut self, _: u64, kernel: u8, event: MemoryEvent) {
        if let Some(gate) = self.gates.get_mut(usize::from(kernel)) {
            gate.event(event);
        }
    }

    fn watches_failures(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_gpu::mechanism::probe::ProbeSpec;
    use selvedge_hw::Engine;

    #[test]
    fn a_kernel_is_limited_by_its_own_failures_alone() {
        let probes = Probes::new(ProbeSpec::default(), Engine::Model);
        let mut dmil = DmilSm::new(0, 2, &probes);
        let memory = DeviceMemory::new();
        let mut now = 0;
        let mut tell = |dmil: &mut DmilSm, kernel, event, times| {
            for _ in 0..times {
                dmil.memory_event(now, kernel, event);
                now += 1;
                dmil.tick(now, &memory).expect("the model alone");
            }
        };
        for kernel in [0, 1] {
            tell(&mut dmil, kernel, MemoryEvent::Issued, 8);
        }
        // 2048 failures in an interval of 1024 requests: kernel 1 may have 8 / 2 instructions in flight and has 8.
        tell(&mut dmil, 1, MemoryEvent::ReservationFailure, 2048);
        for kernel in [0, 1] {
            tell(&mut dmil, kernel, MemoryEvent::Request, 1024);
        }
        tell(&mut dmil, 0, MemoryEvent::Request, 1);
        assert!(dmil.may_issue_memory(0) && !dmil.may_issue_memory(1));
        tell(&mut dmil, 1, MemoryEvent::Completed, 5);
        tell(&mut dmil, 0, MemoryEvent::Request, 1);
        assert!(dmil.may_issue_memory(1), "3 in flight, of 4");
    }

    #[test]
    fn instructions_completed_beyond_those_of_a_cycle_are_told_in_the_next_ones() {
        let probes = Probes::new(ProbeSpec::default(), Engine::Model);
        let mut dmil = DmilSm::new(0, 1, &probes);
        let memory = DeviceMemory::new();
        for now in 0..8 {
            dmil.memory_event(now, 0, MemoryEvent::Issued);
            dmil.tick(now + 1, &memory).expect("the model alone");
        }
        (0..7).for_each(|_| dmil.memory_event(8, 0, MemoryEvent::Completed));
        let mut now = 8;
        while dmil.busy() {
            now += 1;
            dmil.tick(now, &memory).expect("the model alone");
        }
        assert_eq!(dmil.gates[0].outputs.inflight_o, 1);
    }
}
