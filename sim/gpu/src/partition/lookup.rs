//! The outcome of a request in an L2 slice: a reply, a wait, a fetch, or a write that is sent on to DRAM.
//!
//! | | a store hits | a store misses |
//! |---|---|---|
//! | `write-back` | the line is dirty | as `write_allocate` says |
//! | `write-through` | the line stays clean, the store goes on to DRAM | as `write_allocate` says, and the store goes on to DRAM |
//!
//! Values of `write_allocate`, with GPGPU-Sim's letter for each:
//!
//! - `fetch` (F) fetches the sectors first, unless the store covers them.
//! - `mask` (L) writes at once and records which words were written. Only a load or atomic that needs other words fetches them.
//! - `forward-and-fetch` (W) sends the store on to DRAM and fetches the line, which is then clean.
//! - `none` (N) sends the store on to DRAM and allocates nothing.
//!
//! Atomics need their data and always fetch.
use super::dram_path::READ_REQUESTS;
use super::lines::L2LineState;
use super::part::L2Event;
use super::parts::SliceParts;
use super::slice::Slice;
use super::spec::SliceSpec;
use crate::cache::{LinePart, MshrId, Probe, SECTOR_BYTES, SectorUse, SectorsInFlight, TagSlot, Victim};
use crate::config::{Allocate, Fetch, WriteAllocate};
use crate::packet::{Packet, PacketKind};
use crate::stats::{AccessResult, FailCause};
use selvedge_ptx::memory::DeviceMemory;

/// Words of 4 bytes in a sector of 32 bytes.
const SECTOR_WORDS: u32 = SECTOR_BYTES / 4;

/// The state of a request's sectors in the tags and miss registers.
struct SectorState {
    /// The requested sectors of the slice's line, in units of 32 bytes.
    part: LinePart,
    /// The slice's own sectors that contain the requested ones.
    needed: u32,
    slot: Option<TagSlot>,
    /// Valid sectors of the line.
    valid: u32,
    entry: Option<MshrId>,
    /// The sectors of the line in flight, and the sectors that requests wait for.
    under_way: SectorsInFlight,
}

impl SectorState {
    fn missing(&self) -> u32 {
        self.needed & !self.valid
    }

    /// Returns the sectors of the line that are in flight.
    fn coming(&self) -> u32 {
        self.under_way.coming
    }

    /// Returns the kind of miss of a request whose sectors are not all valid.
    fn miss(&self) -> AccessResult {
        match (self.slot, self.missing() & !self.coming()) {
            (_, 0) => AccessResult::Pending,
            (Some(_), _) => AccessResult::SectorMiss,
            (None, _) => AccessResult::Miss,
        }
    }
}

impl Slice {
    /// Changes the line as a request without timing does. Its sectors become valid, it becomes the most recently used line, and a
    /// write makes the sectors dirty. A victim is dropped without a write-back. A part that chooses the sectors of misses also sees
    /// this one. Nothing may be in flight. Returns whether all sectors were valid.
    pub(super) fn warm(&mut self, now: u64, line: u64, sectors: u32, is_write: bool) -> bool {
        let part = self.spec.sectors.part(line, sectors);
        let local = self.spec.map.slice_local(part.line);
        let needed = self.spec.sectors.whole(part.sectors);
        let slot = match self.lines.tags.probe(local).slot() {
            Some(slot) => slot,
            None if is_write && self.spec.write_allocate == WriteAllocate::None => return false,
            None => {
                let Some(victim) = self.lines.tags.victim(local) else { return false };
                self.lines.making_room.extend(victim.evicted);
                self.lines.tags.reserve(victim.slot, local);
                self.lines.tags.fill(victim.slot);
                if self.lines.is_compressed {
                    let blocks = self.spec.line_bytes / SECTOR_BYTES;
                    self.lines.tags.give_blocks(victim.slot, blocks, &mut self.lines.making_room);
                }
                for (old, state) in self.lines.making_room.drain(..) {
                    let line = self.spec.map.slice_global(self.spec.number, old);
                    self.parts.untimed_event(now, &L2Event::Evicted { line, used: state.sectors.used });
                    if state.dirty != 0 {
                        self.parts.untimed_access(line);
                    }
                }
                victim.slot
            }
        };
        self.lines.tags.touch(slot);
        let state = self.lines.tags.state_mut(slot);
        let absent = self.spec.sectors.all() & !state.valid;
        let missing = needed & absent;
        if is_write {
            // Most stores cover their sectors, which are then not fetched.
            state.sectors.arrive(missing, missing);
            state.valid |= missing;
        } else if missing != 0 {
            let missed = LinePart { sectors: missing, ..part };
            let fetched = choose(&mut self.parts, &self.spec, now, missed, absent);
            let judged = state.sectors.judge(fetched, missing, SectorsInFlight::default());
            self.parts.untimed_event(now, &L2Event::Fetched(judged));
            self.parts.untimed_access(part.line);
            state.sectors.arrive(fetched, missing);
            state.valid |= fetched;
        }
        let first = state.sectors.ask(needed);
        if is_write && self.spec.writes_back {
            state.dirty |= needed;
        }
        if first != 0 {
            self.parts.untimed_event(now, &L2Event::PredictionUsed(first.count_ones()));
        }
        missing == 0
    }

    /// Makes sectors of a line valid that the host has copied to device memory. The line becomes the most recently used one, and
    /// victims are evicted as for a fill.
    pub(super) fn copied(&mut self, now: u64, line: u64, sectors: u32, memory: &DeviceMemory) {
        let part = self.spec.sectors.part(line, sectors);
        let local = self.spec.map.slice_local(part.line);
        let slot = match self.lines.tags.probe(local) {
            Probe::Hit(slot) => slot,
            Probe::Miss if self.is_at_rest(part) => {
                let Some(victim) = self.lines.tags.victim(local) else { return };
                if victim.evicted.is_some_and(|(old, _)| self.is_replayed(old)) {
                    return;
                }
                self.replace(now, local, &victim)
            }
            _ => return,
        };
        self.lines.tags.touch(slot);
        let all = self.spec.sectors.whole(part.sectors);
        let new = all & !self.lines.tags.state(slot).valid & !self.lines.tags.state(slot).dirty;
        self.witness.l2_copied(LinePart { sectors: new, ..part });
        self.lines.tags.state_mut(slot).valid |= all;
        self.give_room(now, part.line, memory);
        self.wake();
    }

    /// Returns whether the line is needed by requests whose data have arrived and that the port has not handled yet.
    fn is_replayed(&self, local: u64) -> bool {
        let line = self.spec.map.slice_global(self.spec.number, local);
        self.lines
            .to_replay()
            .iter()
            .any(|packet| self.spec.sectors.part(packet.line, packet.sectors).line == line)
    }

    /// Returns whether no fetch or write-back of the line is in flight.
    fn is_at_rest(&self, part: LinePart) -> bool {
        self.lines.mshr.find(self.register_of(part)).is_none() && !self.dram.leaving.contains(&part.line)
    }

    /// Handles a request whose sectors have just arrived.
    pub(super) fn handle_replay(&mut self, now: u64, packet: &Packet, memory: &DeviceMemory) {
        if !self.may_begin(now, packet) {
            return;
        }
        if self.is_forwarded(packet) {
            // DRAM already has the store, whose line stays clean.
            self.witness.l2_written(packet.line, packet.sectors, packet.witness);
        } else if packet.kind != PacketKind::Read {
            if self.check_write_through(packet).is_err() {
                return;
            }
            if self.check_room().is_err() {
                return;
            }
            let part = self.spec.sectors.part(packet.line, packet.sectors);
            let slot = self.lines.tags.probe(self.spec.map.slice_local(part.line)).slot();
            self.witness.l2_written(packet.line, packet.sectors, packet.witness);
            self.write(slot.expect("a line stays until what waited for it is done"), part);
            self.give_room(now, part.line, memory);
        }
        self.answer(now, packet, false);
        self.lines.end_replay();
    }

    /// Handles a new request; returns `false` if it is blocked.
    pub(super) fn handle(&mut self, now: u64, packet: &Packet, memory: &DeviceMemory) -> bool {
        if packet.kind == PacketKind::Atomic
            && self.look_up(packet).missing() == 0
            && !self.may_begin(now, packet)
        {
            return false;
        }
        match self.decide(now, packet, memory) {
            Ok(decision) => {
                self.counters.cache.decide(decision, packet.kind != PacketKind::Read, packet.line);
                self.counters.atomics += u64::from(packet.kind == PacketKind::Atomic);
                true
            }
            Err(cause) => {
                self.counters.cache.reservation_fails.add(cause, 1);
                false
            }
        }
    }

    fn look_up(&self, packet: &Packet) -> SectorState {
        let part = self.spec.sectors.part(packet.line, packet.sectors);
        let slot = self.lines.tags.probe(self.spec.map.slice_local(part.line)).slot();
        let entry = self.lines.mshr.find(self.register_of(part));
        SectorState {
            part,
            needed: self.spec.sectors.whole(part.sectors),
            slot,
            valid: slot.map_or(0, |slot| self.lines.tags.state(slot).valid),
            entry,
            under_way: entry.map_or_else(SectorsInFlight::default, |id| self.lines.mshr.under_way(id)),
        }
    }

    /// Replies to a request whose sectors are valid. Otherwise lets it wait for its sectors, and fetches those not in flight.
    fn decide(
        &mut self,
        now: u64,
        packet: &Packet,
        memory: &DeviceMemory,
    ) -> Result<AccessResult, FailCause> {
        let known = self.look_up(packet);
        if let (Some(slot), 0) = (known.slot, known.missing()) {
            if packet.kind != PacketKind::Read {
                self.check_write_through(packet)?;
                self.check_room()?;
                self.witness.l2_written(packet.line, packet.sectors, packet.witness);
                self.write(slot, known.part);
                self.lines.tags.touch(slot);
                self.give_room(now, known.part.line, memory);
            }
            self.lines.tags.touch(slot);
            self.ask(now, slot, known.needed);
            self.hold_port(now, packet.sectors.count_ones() * SECTOR_BYTES);
            self.answer(now, packet, true);
            return Ok(AccessResult::Hit);
        }
        let may_write_at_once = packet.kind == PacketKind::Write && known.missing() & known.coming() == 0;
        let is_whole = packet.full_sectors && known.part.sectors == known.needed;
        match self.spec.write_allocate {
            WriteAllocate::None if may_write_at_once => {
                self.check_eviction_room()?;
                self.witness.l2_written(packet.line, packet.sectors, packet.witness);
                self.forward(self.whole(known.part));
                self.witness.l2_forgets(known.part);
            }
            WriteAllocate::Mask if may_write_at_once => {
                // A sector that an earlier store has partly written takes the store as a hit, even if the rest of the sector is
                // missing.
                let dirty = known.slot.map_or(0, |slot| self.lines.tags.state(slot).dirty);
                self.write_some(now, packet, &known)?;
                if known.missing() & !dirty == 0 {
                    self.hold_port(now, packet.sectors.count_ones() * SECTOR_BYTES);
                    self.answer(now, packet, true);
                    return Ok(AccessResult::Hit);
                }
            }
            WriteAllocate::Fetch if may_write_at_once && is_whole => {
                self.check_write_through(packet)?;
                self.check_room()?;
                let slot = self.slot_of(now, &known)?;
                self.lines.tags.touch(slot);
                self.ask(now, slot, known.needed);
                self.witness.l2_written(packet.line, packet.sectors, packet.witness);
                self.write(slot, known.part);
                self.give_room(now, known.part.line, memory);
            }
            _ => {
                self.wait(now, packet, &known, memory)?;
                return Ok(known.miss());
            }
        }
        self.answer(now, packet, true);
        Ok(known.miss())
    }

    /// Returns whether a store that misses is sent on to DRAM and then waits for its line.
    fn is_forwarded(&self, packet: &Packet) -> bool {
        self.spec.write_allocate == WriteAllocate::ForwardAndFetch && packet.kind == PacketKind::Write
    }

    /// Lets a request wait for its sectors, and fetches the missing sectors that are not in flight. Sectors that a store covers
    /// completely are not fetched. A forwarded store leaves for DRAM, and its sectors are fetched after it.
    fn wait(
        &mut self,
        now: u64,
        packet: &Packet,
        known: &SectorState,
        memory: &DeviceMemory,
    ) -> Result<(), FailCause> {
        let forwards = self.is_forwarded(packet);
        let is_whole = !forwards
            && packet.kind == PacketKind::Write
            && packet.full_sectors
            && known.part.sectors == known.needed;
        let missing = known.missing();
        let awaited = if is_whole { missing & known.coming() } else { missing };
        if known.entry.is_some_and(|id| !self.lines.mshr.can_merge(id)) {
            return Err(FailCause::MshrMerge);
        }
        let absent = awaited & !known.coming();
        if forwards {
            self.check_forward_and_fetch(known.entry)?;
        } else if absent != 0 {
            self.check_fetch(known.part.line, known.entry)?;
        }
        let slot = match self.spec.allocate {
            Allocate::OnMiss => Some(self.slot_of(now, known)?),
            Allocate::OnFill => known.slot,
        };
        let line = known.part.line;
        let id = known.entry.unwrap_or_else(|| self.lines.mshr.allocate(self.register_of(known.part)));
        if let Some(slot) = slot {
            self.ask(now, slot, known.needed);
        }
        self.report_use(now, known.under_way.first_asked(awaited));
        if forwards {
            // The packet keeps its versions, because the store is applied again when its line arrives.
            let forwarded = self.witness.part(packet.line, packet.sectors, packet.witness);
            self.witness.l2_written(packet.line, packet.sectors, forwarded);
            self.forward(LinePart { sectors: self.spec.bursts.whole(known.part.sectors), ..known.part });
            self.witness.l2_forgets(known.part);
        }
        if absent != 0 {
            if let Some(slot) = slot {
                self.lines.tags.touch(slot);
                if self.spec.allocate == Allocate::OnMiss {
                    self.lines.tags.await_more(slot);
                }
            }
            let sectors = self.sectors_to_fetch(now, known, absent);
            let line_use = slot.map_or_else(SectorUse::default, |slot| self.lines.tags.state(slot).sectors);
            let judged = line_use.judge(sectors, absent, known.under_way);
            self.parts.l2_event(now, &L2Event::Fetched(judged));
            self.lines.mshr.expect(id, sectors);
            if forwards {
                self.dram.fetches_behind_stores.push_back(LinePart { line, sectors });
            } else {
                let bursts = self.fetch(LinePart { line, sectors }, memory);
                self.counters.allocation_bursts += if packet.kind == PacketKind::Write { bursts } else { 0 };
            }
        }
        self.lines.mshr.merge(id, *packet, awaited);
        Ok(())
    }

    /// Returns the sectors to fetch for a miss of `missing`, as chosen by the mechanism or else by the configuration.
    fn sectors_to_fetch(&mut self, now: u64, known: &SectorState, missing: u32) -> u32 {
        let absent = self.spec.sectors.all() & !known.valid & !known.coming();
        let part = LinePart { sectors: missing, ..known.part };
        choose(&mut self.parts, &self.spec, now, part, absent)
    }

    /// Marks sectors of the line in `slot` as requested.
    fn ask(&mut self, now: u64, slot: TagSlot, sectors: u32) {
        let first = self.lines.tags.state_mut(slot).sectors.ask(sectors);
        self.report_use(now, first);
    }

    /// Reports sectors to the mechanism that a prediction has fetched, at their first use by a request.
    fn report_use(&mut self, now: u64, sectors: u32) {
        if sectors != 0 {
            self.parts.l2_event(now, &L2Event::PredictionUsed(sectors.count_ones()));
        }
    }

    /// Writes words of sectors that are not completely valid, without fetching the rest.
    fn write_some(&mut self, now: u64, packet: &Packet, known: &SectorState) -> Result<(), FailCause> {
        self.check_write_through(packet)?;
        let slot = self.slot_of(now, known)?;
        self.lines.tags.touch(slot);
        self.ask(now, slot, known.needed);
        self.witness.l2_written(packet.line, packet.sectors, packet.witness);
        let offset = (packet.line - known.part.line) / 4;
        let state = self.lines.tags.state_mut(slot);
        state.words |= packet.words << offset;
        let is_full = |sector: &u32| state.words >> (sector * SECTOR_WORDS) & 0xff == 0xff;
        let full = (0..u64::BITS / SECTOR_WORDS).filter(is_full).fold(0, |mask, sector| mask | 1 << sector);
        // A sector of the slice becomes valid when all of its 32-byte sectors are complete.
        state.valid |= self.spec.sectors.all() & !self.spec.sectors.whole(self.spec.sectors.all() & !full);
        self.mark_written(slot, known.part);
        Ok(())
    }

    /// Writes sectors whose bytes are all known after the write.
    fn write(&mut self, slot: TagSlot, part: LinePart) {
        self.lines.tags.state_mut(slot).valid |= self.spec.sectors.whole(part.sectors);
        self.mark_written(slot, part);
    }

    /// Marks written sectors as dirty, or sends them on to DRAM. [`Self::check_write_through`] must have succeeded.
    fn mark_written(&mut self, slot: TagSlot, part: LinePart) {
        if self.spec.writes_back {
            self.lines.tags.state_mut(slot).dirty |= self.spec.sectors.whole(part.sectors);
        } else {
            self.forward(self.whole(part));
        }
    }

    /// Checks that the data of `packet` can be sent on to DRAM, if it is a write and the policy is write-through.
    fn check_write_through(&self, packet: &Packet) -> Result<(), FailCause> {
        if self.spec.writes_back || packet.kind == PacketKind::Read {
            Ok(())
        } else {
            self.check_eviction_room()
        }
    }

    fn check_eviction_room(&self) -> Result<(), FailCause> {
        if self.dram.evictions.len() < self.spec.eviction_capacity {
            Ok(())
        } else {
            Err(FailCause::MissQueue)
        }
    }

    /// Returns `part` widened to the slice's own sectors.
    fn whole(&self, part: LinePart) -> LinePart {
        LinePart { sectors: self.spec.sectors.whole(part.sectors), ..part }
    }

    /// Sends the data of a store on to DRAM in whole bursts.
    fn forward(&mut self, part: LinePart) {
        let bursts = self.spec.bursts.to_own(self.spec.bursts.whole(part.sectors));
        self.counters.forwarded_bursts += u64::from(bursts.count_ones());
        self.leave(part);
    }

    /// Queues sectors for DRAM.
    fn leave(&mut self, part: LinePart) {
        self.dram.leave(part);
        self.witness.l2_leaves(part);
    }

    /// Returns the line's slot. A line without a slot replaces a victim, with no sector valid yet.
    fn slot_of(&mut self, now: u64, known: &SectorState) -> Result<TagSlot, FailCause> {
        if let Some(slot) = known.slot {
            return Ok(slot);
        }
        let local = self.spec.map.slice_local(known.part.line);
        let victim = self.lines.tags.victim(local).ok_or(FailCause::Line)?;
        if victim.evicted.is_some_and(|(_, state)| state.dirty != 0) {
            self.check_eviction_room()?;
        }
        Ok(self.replace(now, local, &victim))
    }

    /// Returns a slot for an arrived line that has none. A dirty victim leaves even if the eviction queue is full; the fill's own
    /// buffer holds it. Data from DRAM must never wait for data to DRAM.
    pub(super) fn slot_for_fill(&mut self, now: u64, line: u64) -> TagSlot {
        let local = self.spec.map.slice_local(line);
        let victim =
            self.lines.tags.victim(local).expect("no way is reserved when lines are allocated on their fill");
        self.replace(now, local, &victim)
    }

    /// Gives the victim's slot to a line, with no sector valid yet.
    fn replace(&mut self, now: u64, local: u64, victim: &Victim<L2LineState>) -> TagSlot {
        self.evict(now, victim);
        self.lines.tags.reserve(victim.slot, local);
        self.lines.tags.fill(victim.slot);
        victim.slot
    }

    /// Checks that sectors of a line can be fetched in this cycle, with the line's miss register or a new one. Evictions that
    /// wait for the queue to DRAM have priority.
    fn check_fetch(&self, line: u64, entry: Option<MshrId>) -> Result<(), FailCause> {
        if entry.is_none() && !self.lines.mshr.can_allocate() {
            return Err(FailCause::MshrEntry);
        }
        if self.dram.has_waiting_eviction(&self.spec)
            || !self.dram.has_room(&self.spec, READ_REQUESTS)
            || self.dram.leaving.contains(&line)
        {
            return Err(FailCause::MissQueue);
        }
        Ok(())
    }

    /// Checks that a store can be forwarded in this cycle, and its line fetched after it.
    fn check_forward_and_fetch(&self, entry: Option<MshrId>) -> Result<(), FailCause> {
        if entry.is_none() && !self.lines.mshr.can_allocate() {
            return Err(FailCause::MshrEntry);
        }
        if self.dram.fetches_behind_stores.len() >= self.spec.eviction_capacity {
            return Err(FailCause::MissQueue);
        }
        self.check_eviction_room()
    }

    /// Sends the oldest fetch for a forwarded store, once the store has left.
    pub(super) fn fetch_behind_store(&mut self, memory: &DeviceMemory) {
        if let Some(&part) = self.dram.fetches_behind_stores.front()
            && self.dram.has_room(&self.spec, READ_REQUESTS)
            && !self.dram.leaving.contains(&part.line)
        {
            self.dram.fetches_behind_stores.pop_front();
            self.counters.allocation_bursts += self.fetch(part, memory);
        }
    }

    /// Sends a dirty victim to DRAM, and reports the eviction to the mechanism.
    fn evict(&mut self, now: u64, victim: &Victim<L2LineState>) {
        let Some((local, state)) = victim.evicted else { return };
        self.lines.tags.invalidate(victim.slot);
        self.evicted(now, local, &state);
    }

    /// Handles the eviction of a line from the tags: sends its dirty sectors to DRAM.
    fn evicted(&mut self, now: u64, local: u64, state: &L2LineState) {
        let line = self.spec.map.slice_global(self.spec.number, local);
        if state.dirty != 0 {
            self.hold_port(now, state.dirty.count_ones() * SECTOR_BYTES);
            self.leave(self.whole(LinePart { line, sectors: state.dirty }));
        }
        self.witness.l2_forgets(LinePart { line, sectors: state.valid | state.dirty });
        self.parts.l2_event(now, &L2Event::Evicted { line, used: state.sectors.used });
    }

    /// Checks that a line can get its sub-blocks. All lines evicted for it may be dirty, in addition to the line whose tag it
    /// takes.
    pub(super) fn check_room(&self) -> Result<(), FailCause> {
        let most = (self.spec.line_bytes / SECTOR_BYTES) as usize + 1;
        let has_room =
            self.dram.evictions.is_empty() || self.dram.evictions.len() + most <= self.spec.eviction_capacity;
        if !self.lines.is_compressed || has_room { Ok(()) } else { Err(FailCause::MissQueue) }
    }

    /// Gives a line the sub-blocks that it occupies after a fill or a write, and evicts the least recently used lines of its set
    /// for them. [`Self::check_room`] must have succeeded.
    pub(super) fn give_room(&mut self, now: u64, line: u64, memory: &DeviceMemory) {
        let slot = self.lines.tags.probe(self.spec.map.slice_local(line)).slot();
        let (true, Some(slot)) = (self.lines.is_compressed, slot) else { return };
        let blocks = self.parts.sub_blocks(line, memory).unwrap_or(self.spec.line_bytes / SECTOR_BYTES);
        let fits = self.lines.tags.give_blocks(slot, blocks, &mut self.lines.making_room);
        debug_assert!(fits, "lines that await their data take none");
        let mut leaving = std::mem::take(&mut self.lines.making_room);
        leaving.drain(..).for_each(|(local, state)| self.evicted(now, local, &state));
        self.lines.making_room = leaving;
    }

    /// Requests sectors of a line from DRAM, after their metadata if they have any. Returns the bursts of data.
    fn fetch(&mut self, part: LinePart, memory: &DeviceMemory) -> u64 {
        self.counters.cache.sectors_fetched += u64::from(part.count());
        let plan = self.parts.read_plan(part, self.spec.burst_bytes, memory);
        self.dram.read(&self.spec, part, plan);
        u64::from(plan.bursts)
    }
}

/// Returns the sectors among `absent` that a miss of `missing` fetches, as chosen by the mechanism or else by the configuration.
fn choose(parts: &mut SliceParts, spec: &SliceSpec, now: u64, missing: LinePart, absent: u32) -> u32 {
    let wanted = match (parts.fetch(now, missing, absent), spec.fetch) {
        (Some(chosen), _) => spec.sectors.whole(chosen) | missing.sectors,
        (None, Fetch::Requested) => missing.sectors,
        (None, Fetch::Line) => absent,
    };
    wanted & absent
}
