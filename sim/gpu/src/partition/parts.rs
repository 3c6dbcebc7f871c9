//! The parts that mechanisms put into one L2 partition, and the abilities of each.
use super::part::{DramPlan, Eviction, L2Event, L2Fill, L2Placement, SlicePart};
use crate::abilities::{abilities, each, only};
use crate::cache::{LinePart, SECTOR_BYTES};
use crate::events::{BlockOperations, LineBursts};
use crate::mechanism::Claim;
use crate::packet::Packet;
use crate::stage::{MechanismFault, Offer, Stage};
use crate::stats::MechanismCounters;
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;

abilities! {
    SlicePart:
    shared { observer }
    exclusive {
        fetch: Claim::Granularity.why(),
        placement: "keep more lines than ways in the L2",
        dram: "state what accesses to DRAM cost",
        fills: "delay lines between DRAM and the L2",
        evictions: "delay lines between the L2 and DRAM",
        writes: "delay writes before the L2",
        replies: "change the replies of the L2",
    }
}

/// The parts in one L2 slice. Each hook in the slice is a method here.
#[derive(Default, State)]
pub struct SliceParts {
    parts: Vec<Box<dyn SlicePart>>,
    #[state(skip = "they follow from the parts")]
    abilities: Abilities,
}

impl SliceParts {
    /// Returns the parts with their abilities.
    ///
    /// # Errors
    /// Returns the positions of two parts with the same exclusive ability, and a description of it.
    pub fn new(mut parts: Vec<Box<dyn SlicePart>>) -> Result<Self, (usize, usize, &'static str)> {
        let abilities = Abilities::of(&mut parts);
        match abilities.conflict() {
            Some(conflict) => Err(conflict),
            None => Ok(SliceParts { parts, abilities }),
        }
    }

    /// Returns a single part with its abilities.
    pub fn one(part: impl SlicePart + 'static) -> Self {
        SliceParts::new(vec![Box::new(part)])
            .unwrap_or_else(|_| unreachable!("one part alone is in nobody's way"))
    }

    /// Runs one L2 cycle of every part.
    pub(super) fn tick(&mut self, now: u64, memory: &DeviceMemory) -> Result<(), MechanismFault> {
        self.parts.iter_mut().try_for_each(|part| part.tick(now, memory))
    }

    pub(super) fn busy(&self) -> bool {
        self.parts.iter().any(|part| part.busy())
    }

    /// Adds the counters of all parts.
    pub fn counters(&self, out: &mut MechanismCounters) {
        self.parts.iter().for_each(|part| part.counters(out));
    }

    /// Adds the traces of the recorded blocks of all parts.
    pub fn traces(&self, out: &mut Vec<Trace>) {
        self.parts.iter().for_each(|part| part.traces(out));
    }

    /// Returns the bursts of the lines that a part stores in DRAM in another form.
    pub fn line_bursts(&self) -> Option<LineBursts> {
        self.parts.iter().filter_map(|part| part.line_bursts()).reduce(|mut all, more| {
            all += more;
            all
        })
    }

    /// Adds the operations of the blocks of all parts.
    pub fn operations(&self, out: &mut BlockOperations) {
        self.parts.iter().for_each(|part| part.operations(out));
    }

    pub(super) fn l2_event(&mut self, now: u64, event: &L2Event) {
        each!(self.observer, one => one.l2_event(now, event));
    }

    /// Returns the sectors that a miss fetches, if a part chooses them.
    pub(super) fn fetch(&mut self, now: u64, missing: LinePart, absent: u32) -> Option<u32> {
        only!(self.fetch).map(|one| one.sectors(now, missing, absent))
    }

    /// Reports an event without timing to the part that chooses the sectors of misses, if there is one.
    pub(super) fn untimed_event(&mut self, now: u64, event: &L2Event) {
        let part = self.abilities.fetch.first().map(|part| &mut self.parts[part]);
        if let Some(observer) = part.and_then(|part| part.observer()) {
            observer.l2_event(now, event);
        }
    }

    /// Reports an access to DRAM without timing to the part that states the cost of accesses, if there is one.
    pub(super) fn untimed_access(&mut self, line: u64) {
        if let Some(dram) = only!(self.dram) {
            dram.untimed_access(line);
        }
    }

    pub(super) fn tags_per_way(&mut self) -> u32 {
        only!(self.placement).map_or(1, |one: &mut dyn L2Placement| one.tags_per_way())
    }

    /// Returns the sub-blocks that a line occupies, if a part chooses them.
    pub(super) fn sub_blocks(&mut self, line: u64, memory: &DeviceMemory) -> Option<u32> {
        only!(self.placement).map(|one| one.sub_blocks(line, memory))
    }

    /// Returns the cost of reading the sectors. Without a part that states it, the cost is the number of bursts of `burst_bytes`
    /// that they fill.
    pub(super) fn read_plan(&mut self, part: LinePart, burst_bytes: u32, memory: &DeviceMemory) -> DramPlan {
        only!(self.dram).map_or_else(|| uncompressed(part, burst_bytes), |dram| dram.read_plan(part, memory))
    }

    /// Returns the cost of writing the sectors, by default as for [`Self::read_plan`].
    pub(super) fn write_plan(&mut self, part: LinePart, burst_bytes: u32, memory: &DeviceMemory) -> DramPlan {
        only!(self.dram).map_or_else(|| uncompressed(part, burst_bytes), |dram| dram.write_plan(part, memory))
    }

    pub(super) fn metadata_arrived(&mut self, address: u64) {
        if let Some(dram) = only!(self.dram) {
            dram.metadata_arrived(address);
        }
    }

    pub(super) fn offer_fill(&mut self, now: u64, part: LinePart, memory: &DeviceMemory) -> Offer {
        only!(self.fills).map_or(Offer::Pass, |stage| stage.offer(now, &mut L2Fill(part), memory))
    }

    pub(super) fn pop_fill(&mut self) -> Option<LinePart> {
        only!(self.fills).and_then(Stage::pop).map(|fill| fill.0)
    }

    pub(super) fn offer_eviction(&mut self, now: u64, part: LinePart, memory: &DeviceMemory) -> Offer {
        only!(self.evictions).map_or(Offer::Pass, |stage| stage.offer(now, &mut Eviction(part), memory))
    }

    pub(super) fn pop_eviction(&mut self) -> Option<LinePart> {
        only!(self.evictions).and_then(Stage::pop).map(|eviction| eviction.0)
    }

    /// Offers a write to the stage, which may change it.
    pub(super) fn offer_write(&mut self, now: u64, packet: &mut Packet, memory: &DeviceMemory) -> Offer {
        only!(self.writes).map_or(Offer::Pass, |stage| stage.offer(now, packet, memory))
    }

    pub(super) fn pop_write(&mut self) -> Option<Packet> {
        only!(self.writes).and_then(Stage::pop)
    }

    pub(super) fn reply(&mut self, packet: &mut Packet, is_hit: bool, memory: &DeviceMemory) {
        if let Some(replies) = only!(self.replies) {
            replies.reply(packet, is_hit, memory);
        }
    }
}

/// Returns the cost of moving all sectors uncompressed.
fn uncompressed(part: LinePart, burst_bytes: u32) -> DramPlan {
    DramPlan {
        bursts: (part.count() * SECTOR_BYTES).div_ceil(burst_bytes),
        metadata: None,
        metadata_writeback: None,
    }
}
