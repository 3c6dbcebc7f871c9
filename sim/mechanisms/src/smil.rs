//! SMIL: static memory-instruction limiting (Dai, section 4.3.3.1). Each kernel may have so many memory instructions in
//! flight on an SM; they are counted as DMIL counts them.
use selvedge_gpu::has;
use selvedge_gpu::mechanism::{
    Claim, MechanismCounters, MechanismInfo, Needs, OptionInfo, Part, Site, any_machine, count,
};
use selvedge_gpu::sm::launch::KERNEL_SLOTS;
use selvedge_gpu::sm::part::{MemoryEvent, MemoryGate, MemoryObserver, SmPart};
use selvedge_gpu::stage::MechanismFault;
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;

/// The option for one kernel.
const fn limit(name: &'static str, help: &'static str) -> OptionInfo {
    OptionInfo::number(name, 0, (0, 128), help)
}

/// The options, in the order of the kernels.
const OPTIONS: [OptionInfo; KERNEL_SLOTS] = [
    limit("k0", "most memory instructions of the first kernel in flight on an SM; 0: no limit"),
    limit("k1", "the same of the second kernel"),
    limit("k2", "the same of the third kernel"),
    limit("k3", "the same of the fourth kernel"),
];

/// The registry's entry.
pub const INFO: MechanismInfo = MechanismInfo {
    name: "smil",
    summary: "limits each kernel's memory instructions in flight to a fixed number in each SM",
    source: "Dai, section 4.3.3.1",
    blocks: &[],
    needs: Needs::Nothing,
    machine_needs: "",
    options: &OPTIONS,
    claims: &[Claim::Limits],
    machine: any_machine,
    attach,
    ..MechanismInfo::NOTHING
};

/// Builds the limits of every SM.
fn attach(part: &Part, site: &mut Site<'_>) {
    let limits = OPTIONS.map(|option| match part.options[option.name] {
        0 => u32::MAX,
        limit => limit,
    });
    site.each_sm(|_| Smil { limits, ..Smil::default() });
}

/// The limits of one SM.
#[derive(Default, State)]
struct Smil {
    limits: [u32; KERNEL_SLOTS],
    in_flight: [u32; KERNEL_SLOTS],
    most: [u32; KERNEL_SLOTS],
}

impl SmPart for Smil {
    fn stands_alone(&self) -> bool {
        true
    }

    fn tick(&mut self, _: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        Ok(())
    }

    fn busy(&self) -> bool {
        false
    }

    fn counters(&self, out: &mut MechanismCounters) {
        let names = ["most_in_flight_k0", "most_in_flight_k1", "most_in_flight_k2", "most_in_flight_k3"];
        for (name, most) in names.into_iter().zip(self.most) {
            let so_far = out.get(name).copied().unwrap_or(0);
            count(out, name, u64::from(most).saturating_sub(so_far));
        }
    }

    fn traces(&self, _: &mut Vec<Trace>) {}

    has!(&memory_gate: MemoryGate);
    has!(memory_observer: MemoryObserver);
}

impl MemoryGate for Smil {
    fn may_issue_memory(&self, kernel: u8) -> bool {
        self.in_flight[usize::from(kernel)] < self.limits[usize::from(kernel)]
    }
}

impl MemoryObserver for Smil {
    fn memory_event(&mut self, _: u64, kernel: u8, event: MemoryEvent) {
        let kernel = usize::from(kernel);
        match event {
            MemoryEvent::Issued => {
                self.in_flight[kernel] += 1;
                debug_assert!(
                    self.in_flight[kernel] <= self.limits[kernel],
                    "kernel {kernel} is over its limit"
                );
                self.most[kernel] = self.most[kernel].max(self.in_flight[kernel]);
            }
            MemoryEvent::Completed => self.in_flight[kernel] -= 1,
            MemoryEvent::Request | MemoryEvent::ReservationFailure | MemoryEvent::ServedEarly => {}
        }
    }

    fn watches_failures(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_stops_at_its_limit_and_the_other_goes_on() {
        let mut smil = Smil { limits: [2, u32::MAX, 1, 1], ..Smil::default() };
        for kernel in [0, 0, 1, 1, 1] {
            assert!(smil.may_issue_memory(kernel));
            smil.memory_event(0, kernel, MemoryEvent::Issued);
        }
        assert!(!smil.may_issue_memory(0) && smil.may_issue_memory(1));
        smil.memory_event(0, 0, MemoryEvent::Completed);
        assert!(smil.may_issue_memory(0));
    }
}
