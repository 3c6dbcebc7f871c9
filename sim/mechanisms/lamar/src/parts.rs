//! Connects the GDUs to the SMs and the L2 partitions.
use super::level::Level;
use selvedge_gpu::cache::LinePart;
use selvedge_gpu::has;
use selvedge_gpu::mechanism::MechanismCounters;
use selvedge_gpu::partition::part::{self, L2Event, L2Observer, SlicePart};
use selvedge_gpu::sm::part::{L1dEvent, L1dFetchSectors, L1dObserver, Load, SmPart};
use selvedge_gpu::stage::MechanismFault;
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;

/// The GDU of an SM's L1D.
#[derive(State)]
pub struct SmGdu(pub Level);

impl SmPart for SmGdu {
    fn tick(&mut self, _: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        self.0.difference().report()
    }

    fn busy(&self) -> bool {
        self.0.has_difference()
    }

    fn counters(&self, out: &mut MechanismCounters) {
        self.0.counters(out);
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.0.trace());
    }

    has!(fetch: L1dFetchSectors, l1d_observer: L1dObserver);
}

impl L1dFetchSectors for SmGdu {
    fn sectors(&mut self, now: u64, load: &Load, missing: u32, _: u32) -> u32 {
        self.0.fetch(now, load.line, missing)
    }
}

impl L1dObserver for SmGdu {
    fn l1d_event(&mut self, now: u64, event: &L1dEvent) {
        match *event {
            L1dEvent::Load { .. }
            | L1dEvent::Prefetch { .. }
            | L1dEvent::Returned { .. }
            | L1dEvent::Flushed { .. } => {}
            L1dEvent::Fetched(fetched) => self.0.fetched(fetched),
            L1dEvent::PredictionUsed(sectors) => self.0.prediction_used(sectors),
            L1dEvent::Evicted { line, used } => self.0.evicted(now, line, used),
        }
    }
}

/// The GDU of an L2 slice.
#[derive(State)]
pub struct PartitionGdu(pub Level);

impl SlicePart for PartitionGdu {
    fn tick(&mut self, _: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        self.0.difference().report()
    }

    fn busy(&self) -> bool {
        self.0.has_difference()
    }

    fn counters(&self, out: &mut MechanismCounters) {
        self.0.counters(out);
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.0.trace());
    }

    has!(fetch: part::L2FetchSectors, observer: L2Observer);
}

impl part::L2FetchSectors for PartitionGdu {
    fn sectors(&mut self, now: u64, missing: LinePart, _: u32) -> u32 {
        self.0.fetch(now, missing.line, missing.sectors)
    }
}

impl L2Observer for PartitionGdu {
    fn l2_event(&mut self, now: u64, event: &L2Event) {
        match *event {
            L2Event::Fetched(fetched) => self.0.fetched(fetched),
            L2Event::PredictionUsed(sectors) => self.0.prediction_used(sectors),
            L2Event::Evicted { line, used } => self.0.evicted(now, line, used),
        }
    }
}
