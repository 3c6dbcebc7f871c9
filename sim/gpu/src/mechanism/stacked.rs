//! Several mechanisms in one SM: gates are all asked, events are told to all, at most one has a stage in a path.
use crate::energy::CodecEvents;
use crate::mechanism::MechanismCounters;
use crate::packet::Packet;
use crate::partition::{MechanismFault, Stage};
use crate::sm::lsu::InstId;
use crate::sm::policy::{
    Extras, IssueReport, L1dEvent, Load, MemoryEvent, Prefetch, RegionAnswer, RegionEntry, Room, SmPolicy,
    Word,
};
use crate::sm::scheduler::WarpMask;
use crate::stats::FailCause;
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::Region;

/// Mechanisms side by side.
pub struct Stacked {
    parts: Vec<Box<dyn SmPolicy>>,
}

impl Stacked {
    /// Combines `parts`; the registry has refused those that claim the same path.
    pub fn new(parts: Vec<Box<dyn SmPolicy>>) -> Self {
        Stacked { parts }
    }

    /// The first stage that does not just let things through.
    fn first_stage(&mut self, mut enter: impl FnMut(&mut dyn SmPolicy) -> Stage) -> Stage {
        for part in &mut self.parts {
            let stage = enter(part.as_mut());
            if stage != Stage::Through {
                return stage;
            }
        }
        Stage::Through
    }
}

impl SmPolicy for Stacked {
    fn tick(&mut self, now: u64, memory: &DeviceMemory) -> Result<(), MechanismFault> {
        self.parts.iter_mut().filter(|p| p.busy()).try_for_each(|p| p.tick(now, memory))
    }

    fn busy(&self) -> bool {
        self.parts.iter().any(|p| p.busy())
    }

    fn is_drained(&self) -> bool {
        self.parts.iter().all(|p| p.is_drained())
    }

    fn watches_schedules(&self) -> bool {
        self.parts.iter().any(|p| p.watches_schedules())
    }

    fn schedule_ended(&mut self, scheduler: usize, cycles: u64, warps: u32) {
        self.parts.iter_mut().for_each(|p| p.schedule_ended(scheduler, cycles, warps));
    }

    fn may_issue_memory(&self, kernel: u8) -> bool {
        self.parts.iter().all(|p| p.may_issue_memory(kernel))
    }

    fn ranks_memory(&self) -> bool {
        self.parts.iter().any(|p| p.ranks_memory())
    }

    fn memory_rank(&self, kernel: u8) -> u8 {
        self.parts.iter().find(|p| p.ranks_memory()).map_or(0, |p| p.memory_rank(kernel))
    }

    fn memory_event(&mut self, now: u64, kernel: u8, event: MemoryEvent) {
        self.parts.iter_mut().for_each(|p| p.memory_event(now, kernel, event));
    }

    fn watches_failures(&self) -> bool {
        self.parts.iter().any(|p| p.watches_failures())
    }

    fn bypasses(&mut self, now: u64, load: &Load) -> bool {
        // Every part sees every load.
        self.parts.iter_mut().filter_map(|part| part.bypasses(now, load).then_some(())).count() > 0
    }

    fn bypasses_failure(&mut self, now: u64, load: &Load, cause: FailCause) -> bool {
        self.parts.iter_mut().any(|p| p.bypasses_failure(now, load, cause))
    }

    fn request_queue(&self, warp: u8, cta: u8) -> Option<u8> {
        self.parts.iter().find_map(|p| p.request_queue(warp, cta))
    }

    fn ways(&self, kernel: u8) -> Option<u32> {
        self.parts.iter().find_map(|p| p.ways(kernel))
    }

    fn served_early(&mut self) {
        self.parts.iter_mut().for_each(|p| p.served_early());
    }

    fn fetch(&mut self, now: u64, load: &Load, missing: u32, absent: u32) -> Option<u32> {
        self.parts.iter_mut().find_map(|p| p.fetch(now, load, missing, absent))
    }

    fn room(&mut self, line: u64, memory: &DeviceMemory) -> Room {
        let rooms = self.parts.iter_mut().map(|p| p.room(line, memory));
        rooms.fold(Room::Whole, |first, room| if first == Room::Whole { room } else { first })
    }

    fn placement(&mut self) -> Option<(u64, u32)> {
        self.parts.iter_mut().find_map(|p| p.placement())
    }

    fn stale_line(&mut self) -> Option<u64> {
        self.parts.iter_mut().find_map(|p| p.stale_line())
    }

    fn l1d_event(&mut self, now: u64, event: &L1dEvent) {
        self.parts.iter_mut().for_each(|p| p.l1d_event(now, event));
    }

    fn takes_hits(&self) -> bool {
        self.parts.iter().any(|p| p.takes_hits())
    }

    fn hit_enter(&mut self, now: u64, inst: InstId, warp: u8, line: u64, memory: &DeviceMemory) -> Stage {
        self.first_stage(|p| p.hit_enter(now, inst, warp, line, memory))
    }

    fn woken_enter(&mut self, now: u64, inst: InstId, warp: u8, line: u64) -> Stage {
        self.first_stage(|p| p.woken_enter(now, inst, warp, line))
    }

    fn hit_leave(&mut self) -> Option<InstId> {
        self.parts.iter_mut().find_map(|p| p.hit_leave())
    }

    fn fill_enter(&mut self, packet: &Packet, warp: u8, memory: &DeviceMemory) -> Stage {
        self.first_stage(|p| p.fill_enter(packet, warp, memory))
    }

    fn fill_leave(&mut self) -> Option<Packet> {
        self.parts.iter_mut().find_map(|p| p.fill_leave())
    }

    fn store_enter(&mut self, now: u64, packet: &mut Packet, memory: &DeviceMemory) -> Stage {
        self.first_stage(|p| p.store_enter(now, packet, memory))
    }

    fn store_leave(&mut self) -> Option<Packet> {
        self.parts.iter_mut().find_map(|p| p.store_leave())
    }

    fn extras(&self, now: u64) -> Option<Extras> {
        self.parts.iter().find_map(|p| p.extras(now))
    }

    fn held_warps(&self) -> WarpMask {
        self.parts.iter().fold(0, |held, p| held | p.held_warps())
    }

    fn issue_extra(&mut self, now: u64, warp: u8) -> u32 {
        let part = self.parts.iter_mut().find(|p| p.extras(now).is_some());
        part.map_or(0, |part| part.issue_extra(now, warp))
    }

    fn memoizes(&self) -> bool {
        self.parts.iter().any(|p| p.memoizes())
    }

    fn wants_region(&self, now: u64, kernel: u8, number: u16, region: &Region) -> bool {
        self.parts.iter().any(|p| p.wants_region(now, kernel, number, region))
    }

    fn region_enter(&mut self, now: u64, entry: RegionEntry) {
        // At most one mechanism has assist warps.
        if let Some(part) = self.parts.iter_mut().find(|p| p.memoizes()) {
            part.region_enter(now, entry);
        }
    }

    fn region_answer(&mut self) -> Option<RegionAnswer> {
        self.parts.iter_mut().find_map(|p| p.region_answer())
    }

    fn region_skipped(
        &mut self,
        warp: u8,
        instructions: u64,
        results: &[Word],
    ) -> Result<(), MechanismFault> {
        let mut parts = self.parts.iter_mut().filter(|p| p.memoizes());
        parts.try_for_each(|p| p.region_skipped(warp, instructions, results))
    }

    fn region_left(&mut self, now: u64, warp: u8, results: Vec<Word>) {
        if let Some(part) = self.parts.iter_mut().find(|p| p.memoizes()) {
            part.region_left(now, warp, results);
        }
    }

    fn shared_left(&mut self, bytes: u32) {
        self.parts.iter_mut().for_each(|p| p.shared_left(bytes));
    }

    fn issue_idle_extra(&mut self, now: u64) {
        if let Some(part) = self.parts.iter_mut().find(|p| p.extras(now).is_some()) {
            part.issue_idle_extra(now);
        }
    }

    fn issue_ended(&mut self, report: &IssueReport) {
        self.parts.iter_mut().filter(|p| p.busy()).for_each(|p| p.issue_ended(report));
    }

    fn stores_awaited(&mut self, warp: u8, awaited: bool) {
        self.parts.iter_mut().for_each(|p| p.stores_awaited(warp, awaited));
    }

    fn prefetch(&mut self, now: u64) -> Option<Prefetch> {
        self.parts.iter_mut().find_map(|p| p.prefetch(now))
    }

    fn warp_left(&mut self, warp: u8) {
        self.parts.iter_mut().for_each(|p| p.warp_left(warp));
    }

    fn codec_events(&self, out: &mut CodecEvents) {
        self.parts.iter().for_each(|p| p.codec_events(out));
    }

    fn counters(&self, out: &mut MechanismCounters) {
        self.parts.iter().for_each(|p| p.counters(out));
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        self.parts.iter().for_each(|p| p.traces(out));
    }
}
