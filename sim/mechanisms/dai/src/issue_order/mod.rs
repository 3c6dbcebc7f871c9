//! RBMI and QBMI: the order in which the kernels of an SM issue memory instructions (Dai, section 4.3.2).
//!
//! If several kernels have a memory instruction ready, only the kernel with the lowest rank may issue. RBMI is round-robin: the
//! kernel that issued last gets the highest rank. QBMI takes the ranks from the block `qbmi`, which gives the kernels
//! instruction quotas under which all make equally many requests.
//!
//! The block sees an issue or a request in the cycle after it, at most one of each per clock. At the end of an interval of
//! requests the block starts a computation of at most [`MOST_CLOCKS`]. It is clocked for that time, and then not until the
//! next event.
use selvedge_gpu::has;
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::mechanism::{Claim, Counter, Mechanism, MechanismCounters, NoOptions, Setup, Site, count};
use selvedge_gpu::sm::part::{MemoryEvent, MemoryObserver, MemoryRank, SmPart};
use selvedge_gpu::stage::MechanismFault;
use selvedge_hw::Instance;
use selvedge_hw::wave::Trace;
use selvedge_hw_dai::qbmi::{self, QbmiIn, QbmiOut, QbmiParams};
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;

/// Counters of `qbmi`.
pub(crate) const COUNTERS: &[Counter] = &[
    Counter::new("quota_sets_added", "sets of quotas added because a kernel had none left"),
    Counter::new("quota_updates", "times that quotas were computed anew"),
];

/// The mechanism `rbmi`.
#[derive(Debug)]
pub struct Rbmi;

impl Mechanism for Rbmi {
    const NAME: &'static str = "rbmi";
    const SUMMARY: &'static str = "issues memory instructions of the kernels in round-robin order in each SM";
    const SOURCE: &'static str = "Dai, section 4.3.2";
    const CONFIGURATION: &'static str = "several kernels to rank";
    const CLAIMS: &'static [Claim] = &[Claim::Ranks];
    type Options = NoOptions;

    /// Builds the round-robin order of every SM.
    fn attach(_: &Setup<NoOptions>, site: &mut Site<'_>) {
        let kernels = site.kernels as u8;
        site.each_sm(|_| RbmiSm { kernels, first: 0 });
    }
}

/// The mechanism `qbmi`.
#[derive(Debug)]
pub struct QbmiIssueOrder;

impl Mechanism for QbmiIssueOrder {
    const NAME: &'static str = "qbmi";
    const SUMMARY: &'static str = "ranks kernels by memory-instruction quotas in each SM, from their requests per instruction, so that all make equally many requests";
    const SOURCE: &'static str = "Dai, section 4.3.2";
    const BLOCKS: &'static [&'static str] = &["qbmi"];
    const CONFIGURATION: &'static str = "several kernels to rank";
    const PUBLISHED: &'static str = "Dai: 10 bits for each kernel of an SM, beside MILG";
    const CLAIMS: &'static [Claim] = &[Claim::Ranks];
    const COUNTERS: &'static [&'static [Counter]] = &[COUNTERS];
    type Options = NoOptions;

    /// Builds a block in every SM, unless there is only one kernel.
    fn attach(_: &Setup<NoOptions>, site: &mut Site<'_>) {
        if site.kernels < 2 {
            return;
        }
        let params = QbmiParams { kernels: site.kernels as u32 };
        let probes = site.probes;
        site.each_sm(|sm| QbmiSm::new(format!("sm{sm}.qbmi"), params, probes));
    }
}

/// Loose round-robin: a kernel without a ready instruction is skipped.
#[derive(State)]
struct RbmiSm {
    kernels: u8,
    /// Kernel with the lowest rank.
    first: u8,
}

impl SmPart for RbmiSm {
    fn memory_rank(&self) -> Option<&dyn MemoryRank> {
        (self.kernels > 1).then_some(self)
    }

    has!(memory_observer: MemoryObserver);
}

impl MemoryRank for RbmiSm {
    fn rank(&self, kernel: u8) -> u8 {
        (kernel + self.kernels - self.first) % self.kernels
    }
}

impl MemoryObserver for RbmiSm {
    fn memory_event(&mut self, _: u64, kernel: u8, event: MemoryEvent) {
        if event == MemoryEvent::Issued {
            self.first = (kernel + 1) % self.kernels;
        }
    }

    fn watches_failures(&self) -> bool {
        false
    }
}

/// Max clocks from the end of an interval until the block is at rest. They cover its sequential computation for four kernels,
/// once more if another interval ends during it, and the registers before and after it.
const MOST_CLOCKS: u32 = 2 * 119 + 4;

/// The block of an SM, with its inputs and outputs.
#[derive(State)]
struct QbmiSm {
    qbmi: Instance<qbmi::Qbmi>,
    inputs: QbmiIn,
    outputs: QbmiOut,
    /// Clocks until the block is at rest.
    clocks: u32,
    replenished: u64,
    updates: u64,
}

impl QbmiSm {
    fn new(name: String, params: QbmiParams, probes: &Probes) -> Self {
        QbmiSm {
            qbmi: probes.instance(name, &params),
            inputs: QbmiIn::default(),
            outputs: QbmiOut::default(),
            // The block's first outputs show the ranks after reset.
            clocks: 2,
            replenished: 0,
            updates: 0,
        }
    }
}

impl SmPart for QbmiSm {
    fn tick(&mut self, now: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        self.qbmi.advance_to(now);
        let inputs = std::mem::take(&mut self.inputs);
        self.outputs = self.qbmi.step(&inputs).map_err(|divergence| divergence as MechanismFault)?;
        self.replenished += u64::from(self.outputs.replenish_o);
        self.updates += u64::from(self.outputs.update_o);
        self.clocks -= 1;
        Ok(())
    }

    fn busy(&self) -> bool {
        self.clocks > 0
    }

    fn is_drained(&self) -> bool {
        true
    }

    fn counters(&self, out: &mut MechanismCounters) {
        count(out, "quota_sets_added", self.replenished);
        count(out, "quota_updates", self.updates);
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.qbmi.trace());
    }

    has!(&memory_rank: MemoryRank);
    has!(memory_observer: MemoryObserver);
}

impl MemoryRank for QbmiSm {
    fn rank(&self, kernel: u8) -> u8 {
        self.outputs.rank(self.qbmi.params(), u32::from(kernel)) as u8
    }
}

impl MemoryObserver for QbmiSm {
    fn memory_event(&mut self, _: u64, kernel: u8, event: MemoryEvent) {
        match event {
            MemoryEvent::Issued => (self.inputs.issue_i, self.inputs.issue_kernel_i) = (true, kernel),
            MemoryEvent::Request => (self.inputs.request_i, self.inputs.request_kernel_i) = (true, kernel),
            MemoryEvent::Completed | MemoryEvent::ReservationFailure | MemoryEvent::ServedEarly => return,
        }
        let needed = if event == MemoryEvent::Request { MOST_CLOCKS } else { 2 };
        self.clocks = self.clocks.max(needed);
    }

    fn watches_failures(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_gpu::mechanism::probe::ProbeSpec;
    use selvedge_hw::Engine;

    fn first(policy: &dyn MemoryRank, kernels: u8) -> u8 {
        (0..kernels).min_by_key(|kernel| policy.rank(*kernel)).expect("kernels")
    }

    #[test]
    fn under_rbmi_the_kernel_that_issued_last_comes_last() {
        let mut rbmi = RbmiSm { kernels: 3, first: 0 };
        let mut order = Vec::new();
        for _ in 0..6 {
            let next = first(&rbmi, 3);
            order.push(next);
            rbmi.memory_event(0, next, MemoryEvent::Issued);
        }
        assert_eq!(order, [0, 1, 2, 0, 1, 2]);
        rbmi.memory_event(0, 1, MemoryEvent::Issued);
        assert_eq!([0, 1, 2].map(|kernel| rbmi.rank(kernel)), [1, 2, 0]);
    }

    /// Kernel 0 makes one request per memory instruction, kernel 1 eight. Over a set of quotas both make equally many requests.
    #[test]
    fn under_qbmi_kernels_make_equally_many_requests() {
        let probes = Probes::new(ProbeSpec::default(), Engine::Lockstep);
        let mut qbmi = QbmiSm::new("qbmi".into(), QbmiParams { kernels: 2 }, &probes);
        let memory = DeviceMemory::new();
        let mut now = 0;
        let mut requests = [0u64; 2];
        for turn in 0..40_000 {
            let kernel = first(&qbmi, 2);
            qbmi.memory_event(now, kernel, MemoryEvent::Issued);
            for _ in 0..[1, 8][usize::from(kernel)] {
                qbmi.memory_event(now, kernel, MemoryEvent::Request);
                now += 1;
                qbmi.tick(now, &memory).expect("model and RTL agree");
                // In the first intervals the block has not yet measured the kernels' requests per instruction.
                requests[usize::from(kernel)] += u64::from(turn > 4000);
            }
            while qbmi.busy() && now % 7 != 0 {
                now += 1;
                qbmi.tick(now, &memory).expect("model and RTL agree");
            }
        }
        let ratio = requests[1] as f64 / requests[0] as f64;
        assert!((0.99..1.01).contains(&ratio), "{requests:?}");
    }

    #[test]
    fn the_block_is_at_rest_when_it_is_no_longer_clocked() {
        let probes = Probes::new(ProbeSpec::default(), Engine::Model);
        let mut qbmi = QbmiSm::new("qbmi".into(), QbmiParams { kernels: 4 }, &probes);
        let memory = DeviceMemory::new();
        let mut now = 0;
        // These are the largest quotas: 32, 31, 29 and 27 requests per instruction.
        for (kernel, requests) in [(0, 32), (1, 31), (2, 29), (3, 27)] {
            for request in 0..1024 {
                if request % requests == 0 {
                    qbmi.memory_event(now, kernel, MemoryEvent::Issued);
                }
                qbmi.memory_event(now, kernel, MemoryEvent::Request);
                now += 1;
                qbmi.tick(now, &memory).expect("the model alone");
            }
        }
        while qbmi.busy() {
            now += 1;
            qbmi.tick(now, &memory).expect("the model alone");
        }
        let (updates, ranks) = (qbmi.updates, qbmi.outputs.rank_o);
        for _ in 0..1000 {
            qbmi.clocks = 1;
            now += 1;
            qbmi.tick(now, &memory).expect("the model alone");
        }
        assert!(updates > 0);
        assert_eq!((qbmi.updates, qbmi.outputs.rank_o), (updates, ranks));
    }
}
