//! The L1 data cache: tags with sectors, MSHRs and the miss queue, with reservation failures counted by cause.
//!
//! A store goes to the L2 and allocates nothing; the sectors it hits leave, with the last one the line, or stay, as the
//! write policy says; one that writes back keeps what hits, and sends it when its line leaves, ahead of all that waits in the
//! miss queue. Sectors that are in flight when a store to them passes come for those alone that have asked for them before.
//! Loads that bypass the L1D hold one of a bounded number of slots while they are in flight, and nothing else.
//! In the compressed organisation (more tags than ways) a line awaits its data with a tag alone; when they come, as many
//! lines leave as the compressed size asks for.
mod prefetch;

use crate::cache::sectors::MOST_SECTORS;
use crate::cache::{MshrTable, Probe, SECTOR_BYTES, SectorUse, Sectors, Slot, TagArray};
use crate::config::{Allocate, Fetch, L1d as L1dConfig, WritePolicy};
use crate::packet::{Packet, PacketKind};
use crate::sm::launch::KERNEL_SLOTS;
use crate::sm::lsu::InstId;
use crate::sm::part::{L1dEvent, Load, Space};
use crate::sm::parts::SmParts;
use crate::stats::{CacheCounters, Decision, FailCause};
use crate::witness::{CacheId, Witness};
use selvedge_ptx::memory::{DeviceMemory, program_of, within_program};
use selvedge_ptx::ptx::LOCAL_REGION;
use selvedge_state::State;
use std::collections::VecDeque;

/// Token of a write that no warp waits for: a line that leaves with what the L1D has kept of stores.
pub const WRITEBACK_TOKEN: u32 = u32::MAX;

/// What became of one load transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum Access {
    /// The sectors are there.
    Hit,
    /// They are in flight; the instruction waits with those that asked before.
    Pending,
    /// A miss was sent.
    Miss,
    /// A miss was sent for sectors of a line that is there or in flight.
    SectorMiss,
    /// A resource is missing; the access must be tried again.
    Fail(FailCause),
}

/// What a packet with a line's data names, as the store that made it dirty did.
#[derive(Clone, Copy, Debug, Default, State)]
struct Home {
    sm: u16,
    slice: u16,
    kernel: u8,
}

/// What the L1D keeps with a line.
#[derive(Clone, Copy, Debug, Default, State)]
struct LineState {
    /// Sectors that are there.
    valid: u32,
    /// Those among them that the L2 does not know.
    dirty: u32,
    /// Where they go.
    home: Home,
    /// What loads have asked for.
    sectors: SectorUse,
}

/// Empty tags.
fn tags(config: &L1dConfig) -> TagArray<LineState> {
    TagArray::compressed(config.sets, config.ways, config.tags_per_way, config.line_bytes, config.index)
}

/// What the L1D asks the mechanism and notifies it of, and when.
pub struct Context<'a> {
    /// Core cycle.
    pub now: u64,
    /// The core cycle in which the access came to the cycles in front of the tags, or where there are none, to the tags.
    pub asked: u64,
    /// The mechanism's share of the SM.
    pub parts: &'a mut SmParts,
    /// Functional memory.
    pub memory: &'a DeviceMemory,
}

/// What the tags have of a load's sectors.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    line: u64,
    sectors: u32,
    slot: Option<Slot>,
    /// Those of the line that are there.
    valid: u32,
}

impl Found {
    /// Returns whether all sectors are there.
    #[inline]
    pub fn is_hit(&self) -> bool {
        self.slot.is_some() && self.sectors & !self.valid == 0
    }
}

/// When a load missed, in core cycles.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct Times {
    /// When it came to the cache: [`Context::asked`].
    pub asked: u64,
    /// When its tags were looked up.
    pub missed: u64,
}

impl Times {
    fn of(ctx: &Context<'_>) -> Self {
        Times { asked: ctx.asked, missed: ctx.now }
    }
}

/// The L1 data cache of one SM.
#[derive(State)]
pub struct L1d {
    #[state(skip = "the configuration")]
    config: L1dConfig,
    sectors: Sectors,
    /// The segments that loads which bypass the cache move.
    segments: Sectors,
    tags: TagArray<LineState>,
    mshr: MshrTable<InstId>,
    /// Of each MSHR and sector; only the first sector of each request counts.
    missed_at: Vec<[Times; MOST_SECTORS]>,
    miss_queue: VecDeque<Packet>,
    /// Dirty sectors in flight to the miss queue's port.
    leaving: VecDeque<Packet>,
    /// Loads in flight that bypassed the L1D.
    passing: u32,
    /// Lines that have left in this access.
    evicted: Vec<(u64, LineState)>,
    /// Who follows what its array holds, and by which number.
    witness: Witness,
    number: CacheId,
    /// Accesses and their outcomes by kernel slot.
    pub by_kernel: [CacheCounters; KERNEL_SLOTS],
}

impl L1d {
    /// An empty cache.
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
            passing: 0,
            evicted: Vec::new(),
            witness: Witness::default(),
            number: 0,
            by_kernel: [CacheCounters::default(); KERNEL_SLOTS],
        }
    }

    /// Lets `witness` follow what this cache holds, under a number of its own.
    pub fn watch(&mut self, witness: &Witness, number: CacheId) {
        (self.witness, self.number) = (witness.clone(), number);
    }

    /// Invalidates every line, as at the start of a kernel; what the L2 does not know is sent. Nothing may be in flight.
    pub fn invalidate_all(&mut self) {
        debug_assert!(self.mshr.is_empty(), "misses in flight");
        self.send_dirty(|_| true);
        self.tags = tags(&self.config);
    }

    /// Invalidates the lines of one program, as at the start of its kernel while others run. None of its own may be in
    /// flight.
    pub fn invalidate_program(&mut self, program: u8) {
        self.send_dirty(|line| program_of(line) == program);
        self.tags.invalidate_valid(|line| program_of(line) == program);
    }

    /// Gives an empty cache another number of ways.
    pub fn set_ways(&mut self, ways: u32) {
        debug_assert!(self.is_idle(), "misses in flight");
        if self.config.ways != ways {
            self.config.ways = ways;
            self.tags = tags(&self.config);
        }
    }

    /// The sectors that a load of these 32-byte sectors reads.
    pub fn sectors_of(&self, touched: u32) -> u32 {
        self.sectors.whole(touched)
    }

    /// Leaves the sectors of a line as a load without timing does: there, and the most recently used. Returns the sectors that
    /// the L2 has to give; none where the line is in flight.
    pub fn warm(&mut self, line: u64, sectors: u32) -> u32 {
        let sectors = match self.config.fetch {
            Fetch::Requested => self.sectors.whole(sectors),
            Fetch::Line => self.sectors.all(),
        };
        let slot = match self.tags.probe(line) {
            Probe::Hit(slot) => slot,
            Probe::Miss if self.mshr.find(line).is_none() => {
                let Some(victim) = self.tags.victim(line) else { return sectors };
                self.tags.reserve(victim.slot, line);
                self.tags.fill(victim.slot);
                victim.slot
            }
            _ => return 0,
        };
        self.tags.touch(slot);
        let state = self.tags.state_mut(slot);
        let missing = sectors & !state.valid;
        state.valid |= sectors;
        missing
    }

    /// Leaves the sectors of a line as a store or an atomic without timing does.
    pub fn warm_write(&mut self, line: u64, sectors: u32, is_store: bool) {
        let Probe::Hit(slot) = self.tags.probe(line) else { return };
        let touched = self.sectors.whole(sectors);
        if is_store && self.stores_stay(line) {
            self.tags.touch(slot);
        } else if self.tags.state(slot).valid & !touched == 0 {
            self.tags.invalidate(slot);
        } else {
            self.tags.state_mut(slot).valid &= !touched;
        }
    }

    /// Looks up the sectors of a load, and changes nothing.
    #[inline]
    pub fn look_up(&self, line: u64, sectors: u32) -> Found {
        let slot = self.tags.probe(line).slot();
        let valid = slot.map_or(0, |slot| self.tags.state(slot).valid);
        Found { line, sectors, slot, valid }
    }

    /// Reads what was `found` in full, for a load that no mechanism observes.
    pub fn hit(&mut self, found: Found, kernel: u8) {
        self.read(found);
        self.decide(Decision::Hit, false, kernel, found.line);
    }

    /// Reads what was `found` in full; returns those sectors that a prediction has fetched and that no load has asked for before.
    fn read(&mut self, found: Found) -> u32 {
        let Some(slot) = found.slot else { return 0 };
        self.tags.touch(slot);
        self.witness.hit(self.number, found.line, found.sectors);
        self.tags.state_mut(slot).sectors.ask(found.sectors)
    }

    /// Decides a load of which the tags have what was `found`; on a miss `packet` is queued for the L2, with the sectors that are
    /// fetched.
    pub fn load(
        &mut self,
        packet: Packet,
        found: Found,
        load: &Load,
        inst: InstId,
        ctx: &mut Context<'_>,
    ) -> Access {
        let outcome = self.try_load(packet, found, load, inst, ctx);
        let decision = match outcome {
            Access::Hit => Decision::Hit,
            Access::Pending => Decision::Pending,
            Access::Miss => Decision::Miss,
            Access::SectorMiss => Decision::SectorMiss,
            Access::Fail(_) => return outcome,
        };
        self.decide(decision, false, packet.kernel, packet.line);
        self.report_evictions(ctx);
        ctx.parts.l1d_event(ctx.now, &L1dEvent::Load { load: *load, decision });
        outcome
    }

    fn try_load(
        &mut self,
        packet: Packet,
        found: Found,
        load: &Load,
        inst: InstId,
        ctx: &mut Context<'_>,
    ) -> Access {
        if found.is_hit() {
            let first = self.read(found);
            self.report_use(first, ctx);
            return Access::Hit;
        }
        let Found { line, sectors, slot, valid } = found;
        let missing = sectors & !valid;
        let entry = self.mshr.find(line);
        if let Some(id) = entry {
            if !self.mshr.can_merge(id) || missing & self.mshr.stale(id) != 0 {
                return Access::Fail(FailCause::MshrMerge);
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
                return Access::Pending;
            }
        } else if !self.mshr.can_allocate() {
            return Access::Fail(FailCause::MshrEntry);
        }
        if !self.can_queue() {
            return Access::Fail(FailCause::MissQueue);
        }
        // Whatever leaves dirty waits behind as many others at most; what comes on a fill, or leaves as a kernel starts, always can.
        if self.leaving.len() >= self.config.miss_queue as usize {
            return Access::Fail(FailCause::MissQueue);
        }
        if self.config.allocate == Allocate::OnMiss && !self.reserve(slot, line, &*ctx.parts) {
            return Access::Fail(FailCause::Line);
        }
        if let Some(slot) = slot {
            self.tags.touch(slot);
            self.ask(slot, sectors, ctx);
        }
        let id = entry.unwrap_or_else(|| self.mshr.allocate(line));
        let under_way = self.mshr.under_way(id);
        self.report_use(under_way.first_asked(missing), ctx);
        let absent = self.sectors.all() & !valid & !under_way.coming;
        let wanted = match (ctx.parts.fetch(ctx.now, load, missing & absent, absent), self.config.fetch) {
            (Some(chosen), _) => self.sectors.whole(chosen) | missing,
            (None, Fetch::Requested) => missing,
            (None, Fetch::Line) => absent,
        };
        let fetched = wanted & absent;
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
        if slot.is_some() || entry.is_some() { Access::SectorMiss } else { Access::Miss }
    }

    /// A load asks for sectors of the line in `slot`.
    fn ask(&mut self, slot: Slot, sectors: u32, ctx: &mut Context<'_>) {
        let first = self.tags.state_mut(slot).sectors.ask(sectors);
        self.report_use(first, ctx);
    }

    /// Tells the mechanism of sectors that a prediction has fetched and that a load is the first to ask for.
    fn report_use(&self, sectors: u32, ctx: &mut Context<'_>) {
        if sectors != 0 {
            ctx.parts.l1d_event(ctx.now, &L1dEvent::PredictionUsed(sectors.count_ones()));
        }
    }

    /// Makes the line's slot, a new one if it has none, wait for data; `false` when every way that it may take is reserved.
    fn reserve(&mut self, slot: Option<Slot>, line: u64, parts: &SmParts) -> bool {
        if let Some(slot) = slot {
            self.tags.await_more(slot);
            return true;
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
        true
    }

    /// Sends dirty sectors of a line to the L2, if there are any.
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
            data_bytes: (dirty.count_ones() * SECTOR_BYTES) as u16,
            sm,
            slice,
            kernel,
            token: WRITEBACK_TOKEN,
            payload: 0,
            witness: self.witness.written_back(self.number, line, dirty),
        });
    }

    /// Sends what the L2 does not know of the lines that are meant.
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

    /// Sends the dirty ones of some sectors, before a request that must find them in the L2.
    fn clean(&mut self, line: u64, sectors: u32) {
        if !self.config.write_policy.writes_back() {
            return;
        }
        let Some(slot) = self.tags.probe(line).slot() else { return };
        let state = *self.tags.state(slot);
        self.send(line, state.dirty & sectors, state.home);
        self.tags.state_mut(slot).dirty &= !sectors;
    }

    /// Tells the mechanism which lines have left.
    #[inline]
    fn report_evictions(&mut self, ctx: &mut Context<'_>) {
        if !self.evicted.is_empty() {
            self.report_some_evictions(ctx);
        }
    }

    #[inline(never)]
    fn report_some_evictions(&mut self, ctx: &mut Context<'_>) {
        for (line, state) in self.evicted.drain(..) {
            ctx.parts.l1d_event(ctx.now, &L1dEvent::Evicted { line, used: state.sectors.used });
        }
    }

    /// Keeps a store in an L1D that writes back, if all its sectors are there: `true` when it need not go to the L2.
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
        self.decide(Decision::Hit, true, kernel, line);
        true
    }

    /// Returns whether the sectors of this line that a store hits stay.
    fn stores_stay(&self, line: u64) -> bool {
        match self.config.write_policy {
            WritePolicy::WriteEvict => false,
            WritePolicy::WriteThrough | WritePolicy::WriteBack => true,
            WritePolicy::LocalWriteBack => within_program(line) >= LOCAL_REGION,
        }
    }

    /// A store or atomic passes: the sectors it hits leave, unless the L1D's policy is that they stay and it is a store. The
    /// caller queues the packet, behind what this sends of sectors that the L2 does not know.
    pub fn write(&mut self, packet: &Packet, ctx: &mut Context<'_>) {
        let touched = self.sectors.whole(packet.sectors);
        let probe = self.tags.probe(packet.line);
        let valid = probe.slot().map_or(0, |slot| self.tags.state(slot).valid);
        let decision = match (valid, touched & !valid) {
            (0, _) => Decision::Miss,
            (_, 0) => Decision::Hit,
            _ => Decision::SectorMiss,
        };
        self.mshr.write(packet.line, touched);
        // An atomic happens in the L2, whose result the L1D does not know.
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
        self.decide(decision, true, packet.kernel, packet.line);
        self.report_evictions(ctx);
    }

    /// Returns accesses and their outcomes, of all kernels together.
    pub fn counters(&self) -> CacheCounters {
        self.by_kernel.iter().fold(CacheCounters::default(), |mut sum, one| {
            sum += *one;
            sum
        })
    }

    /// Counts for a kernel.
    fn count(&mut self, kernel: u8, count: impl Fn(&mut CacheCounters)) {
        count(&mut self.by_kernel[usize::from(kernel)]);
    }

    fn decide(&mut self, decision: Decision, is_write: bool, kernel: u8, line: u64) {
        self.count(kernel, |counters| counters.decide(decision, is_write, line));
    }

    /// A load bypasses the cache: it is queued for the L2, with the segments in which the sectors of `packet` lie, and
    /// counted, not looked up.
    ///
    /// # Errors
    /// As many loads as may bypass the L1D at the same time are in flight, or the queue is full.
    pub fn pass(&mut self, packet: Packet) -> Result<(), FailCause> {
        if self.config.bypass_slots > 0 && self.passing >= self.config.bypass_slots {
            return Err(FailCause::BypassSlot);
        }
        if !self.can_queue() {
            return Err(FailCause::MissQueue);
        }
        let packet = Packet { sectors: self.segments.whole(packet.sectors), ..packet };
        self.passing += 1;
        self.clean(packet.line, packet.sectors);
        self.count(packet.kernel, |counters| counters.bypasses += 1);
        self.witness.pass(self.number, packet.line, packet.sectors, packet.token);
        self.queue(packet);
        Ok(())
    }

    /// The data of a load that bypassed the L1D have come.
    pub fn passed(&mut self, packet: &Packet) {
        self.witness.passed(self.number, packet.line, packet.token, packet.witness);
        debug_assert!(self.passing > 0, "no load has passed by");
        self.passing -= 1;
    }

    /// A kernel's access could not be decided in so many cycles.
    pub fn fail(&mut self, kernel: u8, cause: FailCause, cycles: u64) {
        self.count(kernel, |counters| counters.reservation_fails.add(cause, cycles));
    }

    /// The sectors of a miss have come; the instructions that wait for nothing more of their line are appended to `woken` in
    /// order of arrival. Gives the times of the miss.
    ///
    /// # Panics
    /// When there was no such miss.
    pub fn fill(&mut self, packet: &Packet, woken: &mut Vec<InstId>, ctx: &mut Context<'_>) -> Times {
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

    /// Gives a line that has just come the sub-blocks that it takes, unless it is still in the compressor.
    fn store_compressed(&mut self, slot: Slot, line: u64, ctx: &mut Context<'_>) {
        if self.config.tags_per_way == 1 {
            return;
        }
        match ctx.parts.space(line, ctx.memory) {
            Space::Whole => self.give(slot, self.config.line_bytes / SECTOR_BYTES),
            Space::SubBlocks(blocks) => self.give(slot, blocks),
            Space::Later => {}
        }
    }

    fn give(&mut self, slot: Slot, blocks: u32) {
        let whole = self.config.line_bytes / SECTOR_BYTES;
        debug_assert!((1..=whole).contains(&blocks), "a line of {blocks} sub-blocks");
        let fits = self.tags.give_blocks(slot, blocks, &mut self.evicted);
        debug_assert!(fits, "lines that await their data take none");
    }

    /// A line that came before leaves the compressor for its sub-blocks, if it is still there.
    pub fn place(&mut self, line: u64, blocks: u32, ctx: &mut Context<'_>) {
        if let Probe::Hit(slot) = self.tags.probe(line) {
            self.give(slot, blocks);
            self.report_evictions(ctx);
        }
    }

    /// A line leaves, if it is there; one whose data are in flight stays.
    pub fn invalidate_line(&mut self, line: u64) {
        self.clean(line, u32::MAX);
        if let Probe::Hit(slot) = self.tags.probe(line) {
            self.tags.invalidate(slot);
        }
    }

    /// Returns whether there is room in the miss queue.
    pub fn can_queue(&self) -> bool {
        self.miss_queue.len() < self.config.miss_queue as usize
    }

    /// Queues a store or atomic for the L2; the caller has checked [`L1d::can_queue`].
    pub fn queue(&mut self, packet: Packet) {
        debug_assert!(self.can_queue(), "miss queue overflow");
        self.miss_queue.push_back(packet);
    }

    /// The packet that the crossbar should take next.
    pub fn outgoing(&self) -> Option<&Packet> {
        self.leaving.front().or_else(|| self.miss_queue.front())
    }

    /// Removes and returns the packet that the crossbar took.
    pub fn sent(&mut self) -> Option<Packet> {
        self.leaving.pop_front().or_else(|| self.miss_queue.pop_front())
    }

    /// Returns whether nothing is in flight.
    pub fn is_idle(&self) -> bool {
        self.miss_queue.is_empty() && self.leaving.is_empty() && self.mshr.is_empty() && self.passing == 0
    }

    /// Returns the MSHRs of lines in flight, each with its line.
    pub fn misses(&self) -> impl Iterator<Item = (u16, u64)> {
        self.mshr.entries()
    }

    /// A line for each miss in flight and each packet in the miss queue, for a deadlock report.
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
        let passing = (self.passing > 0)
            .then(|| format!("L1D bypass: {} loads that bypassed the L1D wait for their data", self.passing));
        misses.chain(packets).chain(leaving).chain(passing).collect()
    }
}

/// The packet kinds that the L1D sends.
pub fn kind_of(access: selvedge_ptx::ptx::AccessKind) -> PacketKind {
    match access {
        selvedge_ptx::ptx::AccessKind::Load => PacketKind::Read,
        selvedge_ptx::ptx::AccessKind::Store => PacketKind::Write,
        selvedge_ptx::ptx::AccessKind::Atomic { .. } => PacketKind::Atomic,
    }
}
