//! The GDUs as the SMs and the L2 partitions know them.
use super::level::Level;
use selvedge_gpu::cache::LinePart;
use selvedge_gpu::mechanism::MechanismCounters;
use selvedge_gpu::partition::{DramPlan, L2Event, MechanismFault, NoPolicy, PartitionPolicy};
use selvedge_gpu::sm::policy::{L1dEvent, Load, SmPolicy};
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;

/// The GDU of an SM's L1D.
pub struct SmGdu(pub Level);

impl SmPolicy for SmGdu {
    fn tick(&mut self, _: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        self.0.difference().report()
    }

    fn busy(&self) -> bool {
        self.0.has_difference()
    }

    fn fetch(&mut self, now: u64, load: &Load, missing: u32, _: u32) -> Option<u32> {
        Some(self.0.fetch(now, load.line, missing))
    }

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

    fn counters(&self, out: &mut MechanismCounters) {
        self.0.counters(out);
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.0.trace());
    }
}

/// The GDU of an L2 slice.
pub struct PartitionGdu {
    level: Level,
    dram: NoPolicy,
}

impl PartitionGdu {
    /// A GDU before a channel with bursts of `burst_bytes`.
    pub fn new(level: Level, burst_bytes: u32) -> Self {
        PartitionGdu { level, dram: NoPolicy { burst_bytes } }
    }
}

impl PartitionPolicy for PartitionGdu {
    fn tick(&mut self, _: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        self.level.difference().report()
    }

    fn busy(&self) -> bool {
        self.level.has_difference()
    }

    fn fetch(&mut self, now: u64, missing: LinePart, _: u32) -> Option<u32> {
        Some(self.level.fetch(now, missing.line, missing.sectors))
    }

    fn l2_event(&mut self, now: u64, event: &L2Event) {
        match *event {
            L2Event::Fetched(fetched) => self.level.fetched(fetched),
            L2Event::PredictionUsed(sectors) => self.level.prediction_used(sectors),
            L2Event::Evicted { line, used } => self.level.evicted(now, line, used),
        }
    }

    fn read_plan(&mut self, part: LinePart, memory: &DeviceMemory) -> DramPlan {
        self.dram.read_plan(part, memory)
    }

    fn write_plan(&mut self, part: LinePart, memory: &DeviceMemory) -> DramPlan {
        self.dram.write_plan(part, memory)
    }

    fn counters(&self, out: &mut MechanismCounters) {
        self.level.counters(out);
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.level.trace());
    }
}
