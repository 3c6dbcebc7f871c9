//! SMIL: static memory-instruction limiting (Dai, section 4.3.3.1). Each kernel has a max number of memory instructions in
//! flight on an SM. They are counted as in DMIL.
use selvedge_gpu::kernel_slots::PROGRAMS;
use selvedge_gpu::mechanism::{Claim, Counter, Mechanism, MechanismCounters, Setup, Site, Values, count};
use selvedge_gpu::sm::part::{MemoryEvent, MemoryGate, MemoryObserver, SmPart};
use selvedge_gpu::{has, mechanism_options};
use selvedge_state::State;

/// Counters of `smil`.
pub(crate) const COUNTERS: &[Counter] = &[Counter::new(
    "most_in_flight_k{n}",
    "the most memory instructions that this kernel had in flight in an SM",
)];

mechanism_options! {
    /// Options of `smil`: a limit for each kernel.
    pub struct SmilOptions {
        /// most memory instructions of the first kernel in flight on an SM; 0: no limit
        k0: u32 = 0, LIMITS;
        /// the same of the second kernel
        k1: u32 = 0, LIMITS;
        /// the same of the third kernel
        k2: u32 = 0, LIMITS;
        /// the same of the fourth kernel
        k3: u32 = 0, LIMITS;
    }
}

/// Values limits.
const LIMITS: Values = Values::range(0, 128);

/// The mechanism `smil`.
#[derive(Debug)]
pub struct Smil;

impl Mechanism for Smil {
    const NAME: &'static str = "smil";
    const SUMMARY: &'static str =
        "limits each kernel's memory instructions in flight to a fixed number in each SM";
    const SOURCE: &'static str = "Dai, section 4.3.3.1";
    const CLAIMS: &'static [Claim] = &[Claim::Limits];
    const COUNTERS: &'static [&'static [Counter]] = &[COUNTERS];
    type Options = SmilOptions;

    /// Builds the limits of every SM.
    fn attach(setup: &Setup<SmilOptions>, site: &mut Site<'_>) {
        let SmilOptions { k0, k1, k2, k3 } = setup.options;
        let limits = [k0, k1, k2, k3].map(|limit| if limit == 0 { u32::MAX } else { limit });
        site.each_sm(|_| SmilSm { limits, ..SmilSm::default() });
    }
}

/// The limits of one SM.
#[derive(Default, State)]
struct SmilSm {
    limits: [u32; PROGRAMS],
    in_flight: [u32; PROGRAMS],
    most: [u32; PROGRAMS],
}

impl SmPart for SmilSm {
    fn counters(&self, out: &mut MechanismCounters) {
        let names = ["most_in_flight_k0", "most_in_flight_k1", "most_in_flight_k2", "most_in_flight_k3"];
        for (name, most) in names.into_iter().zip(self.most) {
            let so_far = out.get(name).copied().unwrap_or(0);
            count(out, name, u64::from(most).saturating_sub(so_far));
        }
    }

    has!(&memory_gate: MemoryGate);
    has!(memory_observer: MemoryObserver);
}

impl MemoryGate for SmilSm {
    fn may_issue_memory(&self, kernel: u8) -> bool {
        self.in_flight[usize::from(kernel)] < self.limits[usize::from(kernel)]
    }
}

impl MemoryObserver for SmilSm {
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
        let mut smil = SmilSm { limits: [2, u32::MAX, 1, 1], ..SmilSm::default() };
        for kernel in [0, 0, 1, 1, 1] {
            assert!(smil.may_issue_memory(kernel));
            smil.memory_event(0, kernel, MemoryEvent::Issued);
        }
        assert!(!smil.may_issue_memory(0) && smil.may_issue_memory(1));
        smil.memory_event(0, 0, MemoryEvent::Completed);
        assert!(smil.may_issue_memory(0));
    }
}
