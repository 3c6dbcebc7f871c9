//! DMIL: dynamic memory-instruction limiting (Dai, section 4.3.3). A MILG per kernel and SM gates the issue of memory
//! instructions.
//!
//! Events: a memory instruction counts as in flight from its issue until its data are there (loads and atomics) or its
//! last transaction has left for the L2 (stores hold no MSHR or line). A request is a line transaction that the L1D
//! decided, a reservation failure a cycle in which it could not. The block only reacts to events, so it is clocked in
//! the cycle after one and once more for its outputs to follow. It is not reset between launches: a program that launches
//! the same kernel again and again goes on with the limit that it has learned.
use selvedge_blocks::milg::{Milg, MilgIn, MilgOut, MilgParams};
use selvedge_gpu::has;
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::mechanism::{
    Claim, MechanismCounters, MechanismInfo, Needs, Part, Site, any_machine, count,
};
use selvedge_gpu::sm::part::{MemoryEvent, MemoryGate, MemoryObserver, SmPart};
use selvedge_gpu::stage::MechanismFault;
use selvedge_hw::wave::Trace;
use selvedge_hw::{Divergence, Instance};
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;

/// The registry's entry.
pub const INFO: MechanismInfo = MechanismInfo {
    name: "dmil",
    summary: "limits each kernel's memory instructions in flight, from its reservation failures per request, in each SM",
    published: "Dai: 7 + 12 + 10 bits for each kernel of an SM",
    source: "Dai, section 4.3.3",
    blocks: &["milg"],
    options: &[],
    needs: Needs::Nothing,
    machine_needs: "",
    claims: &[Claim::Limits],
    machine: any_machine,
    attach,
    ..MechanismInfo::NOTHING
};

/// Builds a gate per SM and kernel.
fn attach(_: &Part, site: &mut Site<'_>) {
    let (kernels, probes) = (site.kernels, site.probes);
    site.each_sm(|sm| Dmil::new(sm, kernels, probes));
}

/// Most completions that the block takes in a cycle; more wait for the next.
const MAX_COMPLETED: u32 = 3;

/// One kernel's generator in one SM.
#[derive(State)]
struct Gate {
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

impl Gate {
    fn new(name: String, probes: &Probes) -> Self {
        let params = MilgParams::default();
        Gate {
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

    fn tick(&mut self, now: u64) -> Result<(), Box<Divergence>> {
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
pub struct Dmil {
    gates: Vec<Gate>,
}

impl Dmil {
    fn new(sm: u32, kernels: usize, probes: &Probes) -> Self {
        // The first kernel's instance needs no number.
        let name = |kernel| if kernel == 0 { format!("sm{sm}.milg") } else { format!("sm{sm}.milg{kernel}") };
        Dmil { gates: (0..kernels).map(|kernel| Gate::new(name(kernel), probes)).collect() }
    }
}

impl SmPart for Dmil {
    fn stands_alone(&self) -> bool {
        true
    }

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

impl MemoryGate for Dmil {
    fn may_issue_memory(&self, kernel: u8) -> bool {
        self.gates.get(usize::from(kernel)).is_none_or(|gate| gate.outputs.may_issue_o)
    }
}

impl MemoryObserver for Dmil {
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
        let mut dmil = Dmil::new(0, 2, &probes);
        let memory = DeviceMemory::new();
        let mut now = 0;
        let mut tell = |dmil: &mut Dmil, kernel, event, times| {
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
}
