//! The L1 data cache: tags with sectors, MSHRs and the miss queue, with reservation failures counted by cause.
//!
//! A store goes to the L2 and allocates nothing. By the write policy, the sectors that it hits are invalidated or stay valid. A
//! line without valid sectors is evicted. With write-back, a store that hits stays in the L1D. Its data are sent when the line
//! leaves, before all packets in the miss queue.
//!
//! A store to sectors in flight makes their data stale. The data go only to the loads that requested them before the store.
//!
//! Loads that bypass the L1D hold one of a limited number of slots while in flight, and no other entry.
//!
//! In the compressed organization (more tags than ways), a line that is allocated on its miss reserves sub-blocks for its full
//! size, because it may not compress. It frees those that it does not need once its compressed size is known.
mod prefetch;

use crate::cache::sectors::MOST_SECTORS;
use crate::cache::{MshrTable, Probe, SECTOR_BYTES, SectorUse, Sectors, SectorsInFlight, TagArray, TagSlot};
use crate::config::{Allocate, Fetch, L1dConfig, WritePolicy};
use crate::kernel_slots::PROGRAMS;
use crate::packet::{Operations, Packet, PacketKind};
use crate::sm::part::{L1dEvent, LineSpace, Load};
use crate::sm::parts::SmParts;
use crate::sm::token::{InstId, ReplyToken};
use crate::stats::{AccessResult, CacheCounters, FailCause};
use crate::witness::{CacheId, Witness};
use selvedge_ptx::memory::{DeviceMemory, program_of, within_program};
use selvedge_ptx::ptx::LOCAL_REGION;
use selvedge_state::State;
use std::collections::VecDeque;

/// The outcome of one load transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum L1dAccess {
    /// All sectors are valid.
    Hit,
    /// All missing sectors are in flight. The instruction waits for them together with earlier requests.
    Pending,
    /// A miss was sent.
    Miss,
    /// A miss was sent for sectors of a line with other sectors that are valid or in flight.
    SectorMiss,
    /// A resource is not available; the access must be retried.
    Fail(FailCause),
}

/// SM, slice and kernel of the write-back of a line, from the last store that it kept.
#[derive(Clone, Copy, Debug, Default, State)]
struct Home {
    sm: u16,
    slice: u16,
    kernel: u8,
}

/// The state of a line in the L1D.
#[derive(Clone, Copy, Debug, Default, State)]
struct L1dLineState {
    /// Sectors whose data are present.
    valid: u32,
    /// Valid sectors with stored data that the L2 does not have.
    dirty: u32,
    /// The destination of a write-back.
    home: Home,
    /// The use of the sectors by loads.
    sectors: SectorUse,
}

/// Returns an empty tag array.
fn tags(config: &L1dConfig) -> TagArray<L1dLineState> {
    TagArray::compressed(config.sets, config.ways, config.tags_per_way, config.line_bytes, config.index)
}

/// The mechanism's parts and the time of an access to the L1D.
pub struct AccessContext<'a> {
    /// Core cycle.
    pub now: u64,
    /// The core cycle in which the access entered the latency queue. Without a queue, the cycle of its first lookup.
    pub asked: u64,
    /// The mechanism's parts in the SM.
    pub parts: &'a mut SmParts,
    /// Functional memory.
    pub memory: &'a DeviceMemory,
}

/// The sectors of a load that a lookup found.
#[derive(Clone, Copy, Debug)]
pub struct LoadLookup {
    line: u64,
    sectors: u32,
    slot: Option<TagSlot>,
    /// Valid sectors of the line.
    valid: u32,
}

impl LoadLookup {
    /// Returns whether all requested sectors are valid.
    #[inline]
    pub fn is_hit(&self) -> bool {
        self.slot.is_some() && self.sectors & !self.valid == 0
    }
}

/// Core cycles in the life of a miss.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct Times {
    /// Cycle in which the load reached the cache: [`AccessContext::asked`].
    pub asked: u64,
    /// Cycle in which the lookup missed.
    pub missed: u64,
}

impl Times {
    fn of(ctx: &AccessContext<'_>) -> Self {
        Times { asked: ctx.asked, missed: ctx.now }
    }
}

/// The L1 data cache of one SM.
#[derive(State)]
pub struct L1d {
    #[state(skip = "the configuration")]
    config: L1dConfig,
    sectors: Sectors,
    /// The division of a line into segments, in which bypassing loads are transferred.
    segments: Sectors,
    tags: TagArray<L1dLineState>,
    mshr: MshrTable<InstId>,
    /// Times of each MSHR and sector. The entry of the first sector of each request is valid.
    missed_at: Vec<[Times; MOST_SECTORS]>,
    miss_queue: VecDeque<Packet>,
    /// Write-backs that wait for the crossbar; they leave before the packets in `miss_queue`.
    leaving: VecDeque<Packet>,
    /// Loads in flight that bypassed the L1D.
    bypassing: u32,
    /// Lines evicted in this access, to be reported to the mechanism.
    evicted: Vec<(u64, L1dLineState)>,
    /// The witness of the cache's contents, and the cache's number for it.
    witness: Witness,
    number: CacheId,
    /// Accesses and their outcomes by program.
    pub by_program: [CacheCounters; PROGRAMS],
}

impl L1d {
    /// Returns an empty cache.
    pub fn new(config: &L1dConfig) -> Self {
        L1d {
            config: *config,
            sectors: Sectors::new(config.line_bytes, config.sector_bytes),
            segments: Sectors::new(config.line_bytes, config.bypass_bytes),
            tags: tags(config),
            mshr: MshrTable::new(config.mshr_entries, config.mshr_merges),
            missed_at: vec![[Times::default(); MOST_SECTORS]; config.mshr_entries as usize],
            miss_queue: VecDeque::with_capacity(config.miss_queue as usize),
            leaving: VecDeque::new(),
            bypassing: 0,
            evicted: Vec::new(),
            witness: Witness::default(),
            number: 0,
            by_program: [CacheCounters::default(); PROGRAMS],
        }
    }

    /// Lets `witness` follow the contents of this cache, under the unique number `number`.
    pub fn watch(&mut self, witness: &Witness, number: CacheId) {
        (self.witness, self.number) = (witness.clone(), number);
    }

    /// Invalidates every line, as at the start of a kernel. Dirty sectors are written back. Nothing may be in flight.
    pub fn invalidate_all(&mut self) {
        debug_assert!(self.mshr.is_empty(), "misses in flight");
        self.send_dirty(|_| true);
        self.tags = tags(&self.config);
    }

    /// Invalidates the lines of one program, as at the start of its kernel while others run. Dirty sectors are written back. Lines
    /// in flight remain.
    pub fn invalidate_program(&mut self, program: u8) {
        self.send_dirty(|line| program_of(line) == program);
        self.tags.invalidate_valid(|line| program_of(line) == program);
    }

    /// Invalidates the valid lines for which `is_stale` returns `true`. They must not be dirty.
    pub fn invalidate_where(&mut self, is_stale: impl Fn(u64) -> bool) {
        self.tags.invalidate_valid(is_stale);
    }

    /// Changes the number of ways of an empty cache.
    pub fn set_ways(&mut self, ways: u32) {
        debug_assert!(self.is_idle(), "misses in flight");
        if self.config.ways != ways {
            self.config.ways = ways;
            self.tags = tags(&self.config);
        }
    }

    /// Returns the L1D sectors that a load of the 32-byte sectors `touched` reads.
    pub fn sectors_of(&self, touched: u32) -> u32 {
        self.sectors.whole(touched)
    }

    /// Changes a line as a load without timing does: its sectors are valid, and it becomes the most recently used line. Returns
    /// the sectors that the L2 must supply. A part that chooses the sectors of misses also sees this one. Nothing may be in
    /// flight.
    pub fn warm(&mut self, load: &Load, parts: &mut SmParts, now: u64) -> u32 {
        let line = load.line;
        let sectors = self.sectors.whole(load.sectors);
        let slot = match self.tags.probe(line).slot() {
            Some(slot) => slot,
            None => {
                let Some(victim) = self.tags.victim(line) else { return sectors };
                self.evicted.extend(victim.evicted);
                self.tags.reserve(victim.slot, line);
                self.tags.fill(victim.slot);
                if self.config.tags_per_way > 1 {
                    self.give(victim.slot, self.blocks_of_a_line());
                }
                for (line, state) in self.evicted.drain(..) {
                    parts.untimed_event(now, &L1dEvent::Evicted { line, used: state.sectors.used });
                }
                victim.slot
            }
        };
        self.tags.touch(slot);
        let absent = self.sectors.all() & !self.tags.state(slot).valid;
        let missing = sectors & absent;
        let fetched = match missing {
            0 => 0,
            _ => self.sectors_to_fetch(now, load, missing, absent, parts),
        };
        let line_use = &mut self.tags.state_mut(slot).sectors;
        if fetched != 0 {
            let judged = line_use.judge(fetched, missing, SectorsInFlight::default());
            parts.untimed_event(now, &L1dEvent::Fetched(judged));
            line_use.arrive(fetched, missing);
        }
        let first = line_use.ask(sectors);
        if first != 0 {
            parts.untimed_event(now, &L1dEvent::PredictionUsed(first.count_ones()));
        }
        self.tags.state_mut(slot).valid |= fetched;
        fetched
    }

    /// Changes a line as a store or an atomic without timing does.
    pub fn warm_write(&mut self, line: u64, sectors: u32, is_store: bool, parts: &mut SmParts, now: u64) {
        let Probe::Hit(slot) = self.tags.probe(line) else { return };
        let (touched, stays) = (self.sectors.whole(sectors), self.stores_stay(line));
        let state = self.tags.state_mut(slot);
        if is_store && stays {
            self.tags.touch(slot);
        } else if state.valid & !touched == 0 {
            let used = state.sectors.used;
            self.tags.invalidate(slot);
            parts.untimed_event(now, &L1dEvent::Evicted { line, used });
        } else {
            state.valid &= !touched;
            state.sectors.leave(touched);
        }
    }

    /// Looks up the sectors of a load without a change of state.
    #[inline]
    pub fn look_up(&self, line: u64, sectors: u32) -> LoadLookup {
        let slot = self.tags.probe(line).slot();
        let valid = slot.map_or(0, |slot| self.tags.state(slot).valid);
        LoadLookup { line, sectors, slot, valid }
    }

    /// Reads the sectors of `found`, which must be a hit, for a load that no mechanism observes.
    pub fn hit(&mut self, found: LoadLookup, kernel: u8) {
        self.read(found);
        self.decide(AccessResult::Hit, false, kernel, found.line);
    }

    /// Reads the sectors of `found`, which must be a hit. Returns the sectors that a prediction has fetched and no load has
    /// requested before.
    fn read(&mut self, found: LoadLookup) -> u32 {
        let Some(slot) = found.slot else { return 0 };
        self.tags.touch(slot);
        self.witness.hit(self.number, found.line, found.sectors);
        self.tags.state_mut(slot).sectors.ask(found.sectors)
    }

    /// Decides the outcome of a load, given the result `found` of its lookup. On a miss, queues `packet` for the L2 with the
    /// sectors to fetch.
    pub fn load(
        &mut self,
        packet: Packet,
        found: LoadLookup,
        load: &Load,
        inst: InstId,
        ctx: &mut AccessContext<'_>,
    ) -> L1dAccess {
        let outcome = self.try_load(packet, found, load, inst, ctx);
        let decision = match outcome {
            L1dAccess::Hit => AccessResult::Hit,
            L1dAccess::Pending => AccessResult::Pending,
            L1dAccess::Miss => AccessResult::Miss,
            L1dAccess::SectorMiss => AccessResult::SectorMiss,
            L1dAccess::Fail(_) => return outcome,
        };
        self.decide(decision, false, packet.kernel, packet.line);
        self.report_evictions(ctx);
        ctx.parts.l1d_event(ctx.now, &L1dEvent::Load { load: *load, decision });
        outcome
    }

    fn try_load(
        &mut self,
        packet: Packet,
        found: LoadLookup,
        load: &Load,
        inst: InstId,
        ctx: &mut AccessContext<'_>,
    ) -> L1dAccess {
        if found.is_hit() {
            let first = self.read(found);
            self.report_use(first, ctx);
            return L1dAccess::Hit;
        }
        let LoadLookup { line, sectors, slot, valid } = found;
        let missing = sectors & !valid;
        let entry = self.mshr.find(line);
        if let Some(id) = entry {
            if !self.mshr.can_merge(id) || missing & self.mshr.stale(id) != 0 {
                return L1dAccess::Fail(FailCause::MshrMerge);
            }
            let under_way = self.mshr.under_way(id);
            if missing & !under_way.coming == 0 {
                self.report_use(under_way.first_asked(missing), ctx);
                if let Some(slot) = slot {
                    self.ask(slot, sectors, ctx);
                }
                self.mshr.merge(id, inst, missing);
                self.witness.hit(self.number, line, sectors & valid);
                self.witness.wait(self.number, line, missing);
                return L1dAccess::Pending;
            }
        } else if !self.mshr.can_allocate() {
            return L1dAccess::Fail(FailCause::MshrEntry);
        }
        if !self.can_queue() {
            return L1dAccess::Fail(FailCause::MissQueue);
        }
        // Limits the write-backs that wait to the length of the miss queue. Fills and kernel starts may exceed it.
        if self.leaving.len() >= self.config.miss_queue as usize {
            return L1dAccess::Fail(FailCause::MissQueue);
        }
        if self.config.allocate == Allocate::OnMiss && !self.reserve(slot, line, &*ctx.parts) {
            return L1dAccess::Fail(FailCause::Line);
        }
        if let Some(slot) = slot {
            self.tags.touch(slot);
            self.ask(slot, sectors, ctx);
        }
        let id = entry.unwrap_or_else(|| self.mshr.allocate(line));
        let under_way = self.mshr.under_way(id);
        self.report_use(under_way.first_asked(missing), ctx);
        let absent = self.sectors.all() & !valid & !under_way.coming;
        let fetched = self.sectors_to_fetch(ctx.now, load, missing & absent, absent, ctx.parts);
        debug_assert_eq!(missing & !fetched & !under_way.coming, 0, "a sector that is asked for stays away");
        let line_use = slot.map_or_else(SectorUse::default, |slot| self.tags.state(slot).sectors);
        let judged = line_use.judge(fetched, missing, under_way);
        ctx.parts.l1d_event(ctx.now, &L1dEvent::Fetched(judged));
        self.mshr.expect(id, fetched);
        self.mshr.merge(id, inst, missing);
        self.missed_at[id.index()][fetched.trailing_zeros() as usize] = Times::of(ctx);
        self.count(packet.kernel, |counters| counters.sectors_fetched += u64::from(fetched.count_ones()));
        self.miss_queue.push_back(Packet { sectors: fetched, ..packet });
        self.witness.hit(self.number, line, sectors & valid);
        self.witness.wait(self.number, line, missing);
        if slot.is_some() || entry.is_some() { L1dAccess::SectorMiss } else { L1dAccess::Miss }
    }

    /// Returns the sectors that a miss of `missing` fetches, as chosen by the mechanism or else by the configuration. `absent` are
    /// all sectors that are neither valid nor in flight.
    fn sectors_to_fetch(&self, now: u64, load: &Load, missing: u32, absent: u32, parts: &mut SmParts) -> u32 {
        let wanted = match (parts.fetch(now, load, missing, absent), self.config.fetch) {
            (Some(chosen), _) => self.sectors.whole(chosen) | missing,
            (None, Fetch::Requested) => missing,
            (None, Fetch::Line) => absent,
        };
        wanted & absent
    }

    /// Marks sectors of the line in `slot` as requested by a load.
    fn ask(&mut self, slot: TagSlot, sectors: u32, ctx: &mut AccessContext<'_>) {
        let first = self.tags.state_mut(slot).sectors.ask(sectors);
        self.report_use(first, ctx);
    }

    /// Reports sectors to the mechanism that a prediction has fetched, at their first use by a load.
    fn report_use(&self, sectors: u32, ctx: &mut AccessContext<'_>) {
        if sectors != 0 {
            ctx.parts.l1d_event(ctx.now, &L1dEvent::PredictionUsed(sectors.count_ones()));
        }
    }

    /// Lets the line's slot wait for data, or a new slot if it has none. Returns `false` if all ways that it may take, or the
    /// data of the set, are reserved.
    fn reserve(&mut self, slot: Option<TagSlot>, line: u64, parts: &SmParts) -> bool {
        if let Some(slot) = slot {
            self.tags.await_more(slot);
            return true;
        }
        let takes_data = self.config.tags_per_way > 1 && self.config.allocate == Allocate::OnMiss;
        if takes_data && !self.tags.has_room(line, self.blocks_of_a_line()) {
            return false;
        }
        let program = program_of(line);
        let victim = match parts.ways(program) {
            None => self.tags.victim(line),
            Some(ways) => self.tags.victim_within(line, ways, |held| program_of(held) == program),
        };
        let Some(victim) = victim else { return false };
        if let Some((old, state)) = victim.evicted {
            self.send(old, state.dirty, state.home);
        }
        self.evicted.extend(victim.evicted);
        self.tags.reserve(victim.slot, line);
        if takes_data {
            self.give(victim.slot, self.blocks_of_a_line());
        }
        true
    }

    /// Queues a write-back of the dirty sectors of a line, if it has any.
    fn send(&mut self, line: u64, dirty: u32, home: Home) {
        if dirty == 0 {
            return;
        }
        let Home { sm, slice, kernel } = home;
        let of_sector = |sector: u32| if dirty >> sector & 1 == 1 { 0xff << (8 * sector) } else { 0 };
        self.leaving.push_back(Packet {
            kind: PacketKind::Write,
            line,
            sectors: dirty,
            full_sectors: true,
            words: (0..MOST_SECTORS as u32).map(of_sector).sum(),
            operations: Operations::default(),
            data_bytes: (dirty.count_ones() * SECTOR_BYTES) as u16,
            sm,
            slice,
            kernel,
            token: ReplyToken::WriteBack.pack(),
            payload: 0,
            witness: self.witness.written_back(self.number, line, dirty),
        });
    }

    /// Queues write-backs of the dirty sectors of all lines for which `is_meant` returns `true`.
    fn send_dirty(&mut self, is_meant: impl Fn(u64) -> bool) {
        if !self.config.write_policy.writes_back() {
            return;
        }
        let dirty: Vec<_> = self.tags.lines().map(|(line, state, _)| (line, *state)).collect();
        dirty
            .into_iter()
            .filter(|(line, _)| is_meant(*line))
            .for_each(|(line, s)| self.send(line, s.dirty, s.home));
    }

    /// Writes back the dirty ones of `sectors`, before a request that needs their data in the L2.
    fn clean(&mut self, line: u64, sectors: u32) {
        if !self.config.write_policy.writes_back() {
            return;
        }
        let Some(slot) = self.tags.probe(line).slot() else { return };
        let state = *self.tags.state(slot);
        self.send(line, state.dirty & sectors, state.home);
        self.tags.state_mut(slot).dirty &= !sectors;
    }

    /// Reports the evicted lines to the mechanism.
    #[inline]
    fn report_evictions(&mut self, ctx: &mut AccessContext<'_>) {
        if !self.evicted.is_empty() {
            self.report_some_evictions(ctx);
        }
    }

    #[inline(never)]
    fn report_some_evictions(&mut self, ctx: &mut AccessContext<'_>) {
        for (line, state) in self.evicted.drain(..) {
            ctx.parts.l1d_event(ctx.now, &L1dEvent::Evicted { line, used: state.sectors.used });
        }
    }

    /// Keeps a store in a write-back L1D if all its sectors are valid. Returns `true` if it need not go to the L2.
    pub fn keep(&mut self, packet: &Packet) -> bool {
        let sectors = self.sectors.whole(packet.sectors);
        let slot = self.tags.probe(packet.line).slot().filter(|_| packet.kind == PacketKind::Write);
        let Some(slot) = slot.filter(|slot| sectors & !self.tags.state(*slot).valid == 0) else {
            return false;
        };
        if !self.stores_stay(packet.line) || !self.config.write_policy.writes_back() {
            return false;
        }
        let Packet { sm, slice, kernel, line, .. } = *packet;
        self.tags.touch(slot);
        let state = self.tags.state_mut(slot);
        state.dirty |= sectors;
        state.home = Home { sm, slice, kernel };
        self.witness.kept(self.number, line, packet.sectors);
        self.decide(AccessResult::Hit, true, kernel, line);
        true
    }

    /// Returns whether sectors of this line stay valid when a store hits them.
    fn stores_stay(&self, line: u64) -> bool {
        match self.config.write_policy {
            WritePolicy::WriteEvict => false,
            WritePolicy::WriteThrough | WritePolicy::WriteBack => true,
            WritePolicy::LocalWriteBack => within_program(line) >= LOCAL_REGION,
        }
    }

    /// Handles a store or atomic that goes to the L2. The sectors that it hits are invalidated, unless it is a store and the
    /// write policy keeps them. The caller queues the packet after the call, behind the write-backs that the call queues.
    pub fn write(&mut self, packet: &Packet, ctx: &mut AccessContext<'_>) {
        let touched = self.sectors.whole(packet.sectors);
        let probe = self.tags.probe(packet.line);
        let valid = probe.slot().map_or(0, |slot| self.tags.state(slot).valid);
        let decision = match (valid, touched & !valid) {
            (0, _) => AccessResult::Miss,
            (_, 0) => AccessResult::Hit,
            _ => AccessResult::SectorMiss,
        };
        self.mshr.write(packet.line, touched);
        // The L2 executes an atomic, so that the L1D does not know the result.
        let stays = self.stores_stay(packet.line) && packet.kind == PacketKind::Write;
        if !stays {
            self.clean(packet.line, touched);
        }
        let kept = if stays { packet.sectors & valid } else { 0 };
        self.witness.stored(self.number, packet.line, packet.sectors, kept, packet.witness);
        match probe {
            Probe::Hit(slot) | Probe::Reserved(slot) if stays => {
                if valid != 0 {
                    self.tags.touch(slot);
                }
            }
            Probe::Hit(slot) if valid & !touched == 0 => {
                self.evicted.push((packet.line, *self.tags.state(slot)));
                self.tags.invalidate(slot);
            }
            Probe::Hit(slot) | Probe::Reserved(slot) => {
                let state = self.tags.state_mut(slot);
                state.valid &= !touched;
                state.sectors.leave(touched);
            }
            Probe::Miss => {}
        }
        // An atomic is not an access of this cache, although it invalidates copies.
        if packet.kind == PacketKind::Write {
            self.decide(decision, true, packet.kernel, packet.line);
        }
        self.report_evictions(ctx);
    }

    /// Returns the accesses and their outcomes, summed over all programs.
    pub fn counters(&self) -> CacheCounters {
        self.by_program.iter().fold(CacheCounters::default(), |mut sum, one| {
            sum += *one;
            sum
        })
    }

    fn count(&mut self, kernel: u8, count: impl Fn(&mut CacheCounters)) {
        count(&mut self.by_program[usize::from(kernel)]);
    }

    fn decide(&mut self, decision: AccessResult, is_write: bool, kernel: u8, line: u64) {
        self.count(kernel, |counters| counters.decide(decision, is_write, line));
    }

    /// Lets a load bypass the cache: counts it and queues it for the L2, with the segments that contain its sectors.
    ///
    /// # Errors
    /// Returns [`FailCause::BypassSlot`] if all bypass slots are in use, and [`FailCause::MissQueue`] if the miss queue is full.
    pub fn bypass(&mut self, packet: Packet) -> Result<(), FailCause> {
        if self.config.bypass_slots > 0 && self.bypassing >= self.config.bypass_slots {
            return Err(FailCause::BypassSlot);
        }
        if !self.can_queue() {
            return Err(FailCause::MissQueue);
        }
        let packet = Packet { sectors: self.segments.whole(packet.sectors), ..packet };
        self.bypassing += 1;
        self.clean(packet.line, packet.sectors);
        self.count(packet.kernel, |counters| counters.bypasses += 1);
        self.witness.bypass(self.number, packet.line, packet.sectors, packet.token);
        self.queue(packet);
        Ok(())
    }

    /// Frees the slot of a bypassing load whose data have arrived.
    pub fn bypass_ended(&mut self, packet: &Packet) {
        self.witness.bypass_ended(self.number, packet.line, packet.token, packet.witness);
        debug_assert!(self.bypassing > 0, "no load has bypassed the cache");
        self.bypassing -= 1;
    }

    /// Counts `cycles` cycles in which an access of a kernel failed for `cause`.
    pub fn fail(&mut self, kernel: u8, cause: FailCause, cycles: u64) {
        self.count(kernel, |counters| counters.reservation_fails.add(cause, cycles));
    }

    /// Fills the sectors of a miss. Appends the instructions that wait for no other sector of the line to `woken`, in order of
    /// arrival. Returns the times of the miss.
    ///
    /// # Panics
    /// Panics if there was no such miss.
    pub fn fill(&mut self, packet: &Packet, woken: &mut Vec<InstId>, ctx: &mut AccessContext<'_>) -> Times {
        let Packet { line, sectors, .. } = *packet;
        self.witness.filled(self.number, line, sectors, packet.witness);
        let id = self.mshr.find(line).expect("a fill answers a miss");
        let wanted = self.mshr.wanted(id);
        let fresh = sectors & !self.mshr.stale(id);
        let coming = self.mshr.arrive(line, sectors, woken);
        let slot = match (self.config.allocate, self.tags.probe(line)) {
            (_, Probe::Reserved(slot)) => Some(slot),
            (Allocate::OnFill, Probe::Hit(slot)) => Some(slot),
            (Allocate::OnFill, Probe::Miss) => {
                self.reserve(None, line, &*ctx.parts).then(|| self.tags.probe(line).slot()).flatten()
            }
            (Allocate::OnMiss, Probe::Hit(_) | Probe::Miss) => {
                debug_assert!(false, "a line allocated on its miss waits for its fill");
                None
            }
        };
        if let Some(slot) = slot {
            let state = self.tags.state_mut(slot);
            state.valid |= fresh;
            state.sectors.arrive(sectors, wanted);
            state.sectors.leave(sectors & !fresh);
            let is_empty = state.valid == 0;
            if self.config.allocate == Allocate::OnFill || coming == 0 {
                self.tags.fill(slot);
            }
            if is_empty && coming == 0 {
                self.evicted.push((line, *self.tags.state(slot)));
                self.tags.invalidate(slot);
            } else {
                self.store_compressed(slot, line, ctx);
            }
        }
        self.count(packet.kernel, |counters| counters.sectors_filled += u64::from(sectors.count_ones()));
        self.report_evictions(ctx);
        self.missed_at[id.index()][sectors.trailing_zeros() as usize]
    }

    /// Gives a line that has just arrived its sub-blocks, unless it is still in the compressor.
    fn store_compressed(&mut self, slot: TagSlot, line: u64, ctx: &mut AccessContext<'_>) {
        if self.config.tags_per_way == 1 {
            return;
        }
        match ctx.parts.space(line, ctx.memory) {
            LineSpace::Whole => self.give(slot, self.blocks_of_a_line()),
            LineSpace::SubBlocks(blocks) => self.give(slot, blocks),
            LineSpace::Later => {}
        }
    }

    /// Returns the sub-blocks of an uncompressed line.
    fn blocks_of_a_line(&self) -> u32 {
        self.config.line_bytes / SECTOR_BYTES
    }

    fn give(&mut self, slot: TagSlot, blocks: u32) {
        debug_assert!((1..=self.blocks_of_a_line()).contains(&blocks), "a line of {blocks} sub-blocks");
        let fits = self.tags.give_blocks(slot, blocks, &mut self.evicted);
        debug_assert!(fits, "a line takes no more than it has reserved");
    }

    /// Gives a line that leaves the compressor its sub-blocks, if it is still valid.
    pub fn place(&mut self, line: u64, blocks: u32, ctx: &mut AccessContext<'_>) {
        if let Probe::Hit(slot) = self.tags.probe(line) {
            self.give(slot, blocks);
            self.report_evictions(ctx);
        }
    }

    /// Invalidates a valid line after writing back its dirty sectors. A line in flight stays.
    pub fn invalidate_line(&mut self, line: u64) {
        self.clean(line, u32::MAX);
        if let Probe::Hit(slot) = self.tags.probe(line) {
            self.tags.invalidate(slot);
        }
    }

    /// Returns whether the miss queue has room.
    pub fn can_queue(&self) -> bool {
        self.miss_queue.len() < self.config.miss_queue as usize
    }

    /// Queues a store or atomic for the L2. [`L1d::can_queue`] must have returned `true`.
    pub fn queue(&mut self, packet: Packet) {
        debug_assert!(self.can_queue(), "miss queue overflow");
        self.miss_queue.push_back(packet);
    }

    /// Returns the packet that the crossbar takes next.
    pub fn outgoing(&self) -> Option<&Packet> {
        self.leaving.front().or_else(|| self.miss_queue.front())
    }

    /// Removes and returns the packet that the crossbar took.
    pub fn sent(&mut self) -> Option<Packet> {
        self.leaving.pop_front().or_else(|| self.miss_queue.pop_front())
    }

    /// Returns whether no request or write-back is in flight.
    pub fn is_idle(&self) -> bool {
        self.miss_queue.is_empty() && self.leaving.is_empty() && self.mshr.is_empty() && self.bypassing == 0
    }

    /// Returns the MSHRs in use, each with its line.
    pub fn misses(&self) -> impl Iterator<Item = (u16, u64)> {
        self.mshr.entries()
    }

    /// Returns a line of text for each miss in flight and each packet that waits, for a deadlock report.
    pub fn describe_waiting(&self) -> Vec<String> {
        let misses = self.mshr.lines().into_iter();
        let misses = misses.map(|(line, count)| {
            format!("L1D MSHR: line {line:#x} waits for its data, {count} instructions with it")
        });
        let packets = self.miss_queue.iter();
        let packets = packets.map(|p| {
            format!("L1D miss queue: {:?} of line {:#x} waits for the request crossbar", p.kind, p.line)
        });
        let leaving = self.leaving.iter();
        let leaving =
            leaving.map(|p| format!("L1D write-back: line {:#x} waits for the request crossbar", p.line));
        let bypassing = (self.bypassing > 0).then(|| {
            format!("L1D bypass: {} loads that bypassed the L1D wait for their data", self.bypassing)
        });
        misses.chain(packets).chain(leaving).chain(bypassing).collect()
    }
}

/// Returns the kind of packet that the L1D sends for an access.
pub fn kind_of(access: selvedge_ptx::ptx::AccessKind) -> PacketKind {
    match access {
        selvedge_ptx::ptx::AccessKind::Load => PacketKind::Read,
        selvedge_ptx::ptx::AccessKind::Store => PacketKind::Write,
        selvedge_ptx::ptx::AccessKind::Atomic { .. } => PacketKind::Atomic,
    }
}
