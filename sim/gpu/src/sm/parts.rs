//! The parts that mechanisms put into one SM, and the abilities of each.
use super::part::{
    AssistIssue, Extras, Hit, IssueReport, L1dEvent, L1dFill, LineSpace, Load, MemoryEvent, Prefetch,
    RegionEntry, RegionMemo, RegionReply, SmPart, Word,
};
use super::scheduler::WarpMask;
use super::token::InstId;
use crate::abilities::{abilities, each, only};
use crate::events::BlockOperations;
use crate::mechanism::Claim;
use crate::packet::Packet;
use crate::stage::{MechanismFault, Offer, Stage};
use crate::stats::{FailCause, MechanismCounters};
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::KernelRegion;
use selvedge_state::State;

abilities! {
    SmPart:
    shared { l1d_observer, memory_observer, schedule_observer, warp_observer, memory_gate, warp_hold, failure_bypass }
    exclusive {
        memory_rank: Claim::Ranks.why(),
        request_queues: "order the memory instructions in the load/store unit",
        ways: Claim::Ways.why(),
        bypass: Claim::Bypass.why(),
        fetch: Claim::Granularity.why(),
        placement: "choose the space of lines in the L1D",
        fills: "delay the replies before the L1D",
        hits: "delay the data behind the L1D",
        stores: "delay the stores before the miss queue",
        assist: Claim::AssistWarps.why(),
        memo: "know results of regions",
        prefetcher: "prefetch into the L1D",
    }
}

/// The parts in one SM. Each hook in the SM is a method here.
#[derive(Default, State)]
pub struct SmParts {
    parts: Vec<Box<dyn SmPart>>,
    #[state(skip = "they follow from the parts")]
    abilities: Abilities,
    /// `true` if an observer of memory instructions must see every cycle of a reservation failure.
    watches_failures: bool,
}

impl SmParts {
    /// Returns the parts with their abilities.
    ///
    /// # Errors
    /// Returns the positions of two parts with the same exclusive ability, and a description of it.
    pub fn new(mut parts: Vec<Box<dyn SmPart>>) -> Result<Self, (usize, usize, &'static str)> {
        let abilities = Abilities::of(&mut parts);
        if let Some(conflict) = abilities.conflict() {
            return Err(conflict);
        }
        let mut watches_failures = false;
        for part in abilities.memory_observer {
            watches_failures |= parts[part].memory_observer().is_some_and(|one| one.watches_failures());
        }
        Ok(SmParts { parts, abilities, watches_failures })
    }

    /// Returns a single part with its abilities.
    pub fn one(part: impl SmPart + 'static) -> Self {
        SmParts::new(vec![Box::new(part)])
            .unwrap_or_else(|_| unreachable!("one part alone is in nobody's way"))
    }

    /// Returns whether all parts are trained.
    pub(crate) fn are_trained(&self) -> bool {
        self.parts.iter().all(|part| part.is_trained())
    }

    /// Returns the state that the parts have learned.
    pub(crate) fn learned(&mut self) -> impl Iterator<Item = &mut dyn State> {
        self.parts.iter_mut().filter_map(|part| part.learned())
    }

    /// Runs one core cycle of the busy parts.
    pub(super) fn tick(&mut self, now: u64, memory: &DeviceMemory) -> Result<(), MechanismFault> {
        self.parts.iter_mut().filter(|part| part.busy()).try_for_each(|part| part.tick(now, memory))
    }

    pub(super) fn busy(&self) -> bool {
        self.parts.iter().any(|part| part.busy())
    }

    /// Returns whether no part influences which instruction issues, or when.
    pub(super) fn leaves_issue_alone(&self) -> bool {
        let Abilities { memory_gate, memory_rank, warp_hold, assist, memo, .. } = &self.abilities;
        [memory_gate, memory_rank, warp_hold, assist, memo].into_iter().all(|with| with.is_empty())
    }

    pub(super) fn is_drained(&self) -> bool {
        self.parts.iter().all(|part| part.is_drained())
    }

    /// Adds the counters of all parts.
    pub fn counters(&self, out: &mut MechanismCounters) {
        self.parts.iter().for_each(|part| part.counters(out));
    }

    /// Adds the traces of the recorded blocks of all parts.
    pub fn traces(&self, out: &mut Vec<Trace>) {
        self.parts.iter().for_each(|part| part.traces(out));
    }

    /// Adds the operations of the blocks of all parts.
    pub fn operations(&self, out: &mut BlockOperations) {
        self.parts.iter().for_each(|part| part.operations(out));
    }

    pub(super) fn l1d_event(&mut self, now: u64, event: &L1dEvent) {
        each!(self.l1d_observer, one => one.l1d_event(now, event));
    }

    pub(super) fn memory_event(&mut self, now: u64, kernel: u8, event: MemoryEvent) {
        each!(self.memory_observer, one => one.memory_event(now, kernel, event));
    }

    pub(super) fn watches_failures(&self) -> bool {
        self.watches_failures
    }

    pub(super) fn watches_schedules(&self) -> bool {
        !self.abilities.schedule_observer.is_empty()
    }

    pub(super) fn schedule_ended(&mut self, scheduler: usize, cycles: u64, warps: u32) {
        each!(self.schedule_observer, one => one.schedule_ended(scheduler, cycles, warps));
    }

    pub(super) fn observes_warps(&self) -> bool {
        !self.abilities.warp_observer.is_empty()
    }

    pub(super) fn stores_awaited(&mut self, warp: u8, awaited: bool) {
        each!(self.warp_observer, one => one.stores_awaited(warp, awaited));
    }

    pub(super) fn warp_exited(&mut self, warp: u8) {
        each!(self.warp_observer, one => one.warp_exited(warp));
    }

    /// Returns whether a part may prevent kernels from issuing memory instructions.
    pub(super) fn gates_memory(&self) -> bool {
        !self.abilities.memory_gate.is_empty()
    }

    /// Returns whether every gate lets the kernel issue a memory instruction.
    pub(super) fn may_issue_memory(&self, kernel: u8) -> bool {
        each!(self.memory_gate, gate => if !gate.may_issue_memory(kernel) { return false });
        true
    }

    pub(super) fn ranks_memory(&self) -> bool {
        !self.abilities.memory_rank.is_empty()
    }

    pub(super) fn memory_rank(&self, kernel: u8) -> u8 {
        only!(self.memory_rank).map_or(0, |rank| rank.rank(kernel))
    }

    /// Returns the queue of a memory instruction; `None` if all instructions share one queue.
    pub(super) fn request_queue(&self, warp: u8, cta: u8) -> Option<u8> {
        only!(self.request_queues).map(|queues| queues.request_queue(warp, cta))
    }

    pub(super) fn ways(&self, kernel: u8) -> Option<u32> {
        only!(self.ways).and_then(|ways| ways.ways_of(kernel))
    }

    /// Returns whether a part must see every load.
    pub(super) fn observes_loads(&self) -> bool {
        !self.abilities.l1d_observer.is_empty()
    }

    /// Returns whether a part chooses the loads that bypass the L1D.
    pub(super) fn chooses_bypass(&self) -> bool {
        !self.abilities.bypass.is_empty()
    }

    pub(super) fn bypasses(&mut self, now: u64, load: &Load) -> bool {
        only!(self.bypass).is_some_and(|one| one.bypasses(now, load))
    }

    /// Returns whether a part lets the load bypass the L1D after a failure for `cause`. Stops at the first part that does.
    pub(super) fn bypasses_failure(&mut self, now: u64, load: &Load, cause: FailCause) -> bool {
        each!(self.failure_bypass, one => if one.bypasses_failure(now, load, cause) { return true });
        false
    }

    /// Returns whether a part takes part in accesses to the L1D. Its block has one port.
    pub(super) fn has_l1d_port(&self) -> bool {
        let Abilities {
            l1d_observer, memory_observer, bypass, failure_bypass, fetch, placement, hits, ..
        } = &self.abilities;
        let all = [l1d_observer, memory_observer, bypass, failure_bypass, fetch, placement, hits];
        all.into_iter().any(|with| !with.is_empty())
    }

    /// Returns the sectors that a miss fetches, if a part chooses them.
    pub(super) fn fetch(&mut self, now: u64, load: &Load, missing: u32, absent: u32) -> Option<u32> {
        only!(self.fetch).map(|one| one.sectors(now, load, missing, absent))
    }

    /// Reports an event of the L1D without timing to the part that chooses the sectors of misses, if there is one.
    pub(super) fn untimed_event(&mut self, now: u64, event: &L1dEvent) {
        let part = self.abilities.fetch.first().map(|part| &mut self.parts[part]);
        if let Some(observer) = part.and_then(|part| part.l1d_observer()) {
            observer.l1d_event(now, event);
        }
    }

    pub(super) fn space(&mut self, line: u64, memory: &DeviceMemory) -> LineSpace {
        only!(self.placement).map_or(LineSpace::Whole, |one| one.space(line, memory))
    }

    pub(super) fn placed(&mut self) -> Option<(u64, u32)> {
        only!(self.placement).and_then(|one| one.placed())
    }

    pub(super) fn stale_line(&mut self) -> Option<u64> {
        only!(self.placement).and_then(|one| one.stale_line())
    }

    pub(super) fn offer_fill(&mut self, now: u64, fill: &mut L1dFill, memory: &DeviceMemory) -> Offer {
        only!(self.fills).map_or(Offer::Pass, |stage| stage.offer(now, fill, memory))
    }

    pub(super) fn pop_fill(&mut self) -> Option<L1dFill> {
        only!(self.fills).and_then(Stage::pop)
    }

    pub(super) fn takes_hits(&self) -> bool {
        !self.abilities.hits.is_empty()
    }

    pub(super) fn offer_hit(&mut self, now: u64, hit: &mut Hit, memory: &DeviceMemory) -> Offer {
        only!(self.hits).map_or(Offer::Pass, |stage| stage.offer(now, hit, memory))
    }

    pub(super) fn pop_hit(&mut self) -> Option<InstId> {
        only!(self.hits).and_then(Stage::pop).map(|hit| hit.inst)
    }

    pub(super) fn offer_store(&mut self, now: u64, packet: &mut Packet, memory: &DeviceMemory) -> Offer {
        only!(self.stores).map_or(Offer::Pass, |stage| stage.offer(now, packet, memory))
    }

    pub(super) fn holds_store(&mut self, line: u64) -> bool {
        only!(self.stores).is_some_and(|stage| stage.holds(line))
    }

    pub(super) fn pop_store(&mut self) -> Option<Packet> {
        only!(self.stores).and_then(Stage::pop)
    }

    pub(super) fn assist(&mut self) -> Option<&mut dyn AssistIssue> {
        only!(self.assist)
    }

    pub(super) fn extras(&mut self, now: u64) -> Option<Extras> {
        self.assist()?.extras(now)
    }

    /// Returns the warps that wait for instructions of a busy part.
    pub(super) fn held_warps(&self) -> WarpMask {
        let mut held = 0;
        for part in self.abilities.warp_hold {
            let busy = Some(&self.parts[part]).filter(|part| part.busy());
            held |= busy.and_then(|part| part.warp_hold()).map_or(0, |hold| hold.held_warps());
        }
        held
    }

    pub(super) fn issue_ended(&mut self, report: &IssueReport) {
        let busy = self.abilities.assist.first().is_some_and(|part| self.parts[part].busy());
        if let Some(assist) = self.assist().filter(|_| busy) {
            assist.issue_ended(report);
        }
    }

    pub(super) fn memoizes(&self) -> bool {
        !self.abilities.memo.is_empty()
    }

    pub(super) fn memo(&mut self) -> Option<&mut dyn RegionMemo> {
        only!(self.memo)
    }

    pub(super) fn wants_region(&mut self, now: u64, kernel: u8, number: u16, region: &KernelRegion) -> bool {
        self.memo().is_some_and(|memo| memo.wants_region(now, kernel, number, region))
    }

    pub(super) fn region_entered(&mut self, now: u64, entry: RegionEntry) {
        if let Some(memo) = self.memo() {
            memo.region_entered(now, entry);
        }
    }

    pub(super) fn region_reply(&mut self) -> Option<RegionReply> {
        self.memo()?.region_reply()
    }

    pub(super) fn region_skipped(
        &mut self,
        warp: u8,
        instructions: u64,
        results: &[Word],
    ) -> Result<(), MechanismFault> {
        self.memo().map_or(Ok(()), |memo| memo.region_skipped(warp, instructions, results))
    }

    pub(super) fn region_computed(&mut self, now: u64, warp: u8, results: Vec<Word>) {
        if let Some(memo) = self.memo() {
            memo.region_computed(now, warp, results);
        }
    }

    pub(super) fn free_shared_bytes(&mut self, bytes: u32) {
        if let Some(memo) = self.memo() {
            memo.free_shared_bytes(bytes);
        }
    }

    /// Returns whether a part prefetches into the L1D.
    pub(super) fn prefetches(&self) -> bool {
        !self.abilities.prefetcher.is_empty()
    }

    pub(super) fn prefetch(&mut self, now: u64) -> Option<Prefetch> {
        only!(self.prefetcher).and_then(|one| one.prefetch(now))
    }
}
