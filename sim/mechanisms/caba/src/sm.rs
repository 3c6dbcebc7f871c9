//! The SM part of CABA: the lines that wait for assist warps, and the finished ones.
//!
//! With more tags than ways, the L1D stores lines compressed, and each hit on one needs an assist warp. For direct load it also
//! stores lines compressed, and each load of one needs an assist warp that extracts its words.
use super::deployment::{AssistControllers, Deployment, Wanted};
use super::lanes::{Lanes, Made};
use super::resident::Resident;
use super::routine::Routines;
use super::warp::{AssistLatencies, AssistWarp};
use super::work::{LineCounters, LineWork, Origin};
use super::{bdi, cpack, fpc};
use selvedge_compressed_memory::SharedLines;
use selvedge_compressed_memory::codecs::{Algorithm, Form, LINE_BYTES, LineForms, WrongValue};
use selvedge_compressed_memory::lines::has_values;
use selvedge_gpu::has;
use selvedge_gpu::mechanism::MechanismCounters;
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::packet::Packet;
use selvedge_gpu::sm::part::{
    AssistIssue, Extras, Hit, IssueReport, L1dEvent, L1dFill, L1dObserver, L1dPlacement, LineSpace, SmPart,
    WarpHold, WarpObserver,
};
use selvedge_gpu::sm::scheduler::WarpMask;
use selvedge_gpu::sm::token::ReplyToken;
use selvedge_gpu::stage::{MechanismFault, Offer, Stage};
use selvedge_hw::wave::Trace;
use selvedge_hw_codecs::line::bytes_of;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;
use std::collections::VecDeque;

/// Returns the number of a form's encoding, which differs between algorithms, or 0 if the line is uncompressed.
fn tag(form: &Form) -> u8 {
    match form {
        Form::Bdi(form) => form.encoding.tag(),
        Form::Fpc(_) => fpc::TAG,
        Form::Cpack(_) => cpack::TAG,
        Form::Raw | Form::Bpc(_) | Form::Sc(_) => 0,
    }
}

/// Returns the event of a store that an algorithm compresses. A bit marks stores; the events of loads are the encodings' tags.
pub(crate) const fn store_event(algorithm: Algorithm) -> u8 {
    1 << 4 | algorithm as u8
}

/// Returns the event of a load that is decompressed in the second set of registers. Direct load does not use that set.
pub(crate) const fn second_event(tag: u8) -> u8 {
    direct_event(tag)
}

/// Returns the event of a direct load from a line of the encoding `tag`. These events follow the stores' events.
pub(crate) const fn direct_event(tag: u8) -> u8 {
    store_event(Algorithm::Cpack) + tag
}

/// After too many incompressible lines, one of this number of stores is tried.
const SAMPLE: u32 = 64;

/// The settings that the options give.
#[derive(Clone, Copy, Debug, State)]
pub struct CodecOptions {
    /// Max stores that wait for compression.
    pub stores: usize,
    /// Max cycles that a store waits.
    pub patience: u64,
    /// Successive incompressible lines after which few stores are tried; 0: never.
    pub give_up: u32,
    /// The controllers, with their throttles.
    pub controllers: AssistControllers,
    /// Max bytes of a line that saves a DRAM burst.
    pub saving_bytes: usize,
    /// Tags for each way of the L1D. With more than one, it stores lines compressed.
    pub l1_tags: u32,
    /// `true` if loads extract words from compressed lines.
    pub direct_load: bool,
    /// Sets of registers: the lines that a parent's assist warps can decompress at the same time.
    pub sets: u8,
}

impl CodecOptions {
    /// Returns whether the L1D stores lines compressed.
    fn keeps_compressed(&self) -> bool {
        self.l1_tags > 1 || self.direct_load
    }
}

/// Max sets of registers that a parent has for its assist warps.
pub const MAX_SETS: usize = 2;

/// Parents of assist warps, one bit each.
#[derive(Default)]
struct Parents {
    /// Parents of any assist warp.
    all: WarpMask,
    /// Parents of a low-priority assist warp with instructions left to issue.
    low: WarpMask,
    /// Parents of an assist warp with instructions left to issue, by set of registers.
    set: [WarpMask; MAX_SETS],
}

/// The assist warps of one SM.
#[derive(State)]
pub struct AssistSm {
    assists: Deployment<LineWork>,
    options: CodecOptions,
    lines: SharedLines,
    /// Compressed lines that have arrived or were hit, and have no assist warp yet.
    fills: VecDeque<LineWork>,
    /// Stores that have no assist warp yet, the oldest first.
    stores: VecDeque<LineWork>,
    done_fills: VecDeque<(L1dFill, LineForms)>,
    done_hits: VecDeque<Hit>,
    done_stores: VecDeque<Packet>,
    /// The compressed lines of the L1D.
    resident: Resident,
    /// Warps that wait for their stores, one bit each. Their stores are not compressed.
    awaited: WarpMask,
    /// Successive lines that no encoding fitted, and stores that were not tried since.
    failures: u32,
    untried: u32,
    counters: LineCounters,
}

impl AssistSm {
    /// Returns the part of an SM. In its first cycles the controller loads the assist warp store.
    pub fn new(
        id: u32,
        options: CodecOptions,
        latencies: AssistLatencies,
        routines: Routines,
        lines: SharedLines,
        probes: &Probes,
    ) -> Self {
        AssistSm {
            assists: Deployment::new(id, &options.controllers, latencies, routines, probes),
            options,
            lines,
            fills: VecDeque::new(),
            stores: VecDeque::new(),
            done_fills: VecDeque::new(),
            done_hits: VecDeque::new(),
            done_stores: VecDeque::new(),
            resident: Resident::default(),
            awaited: 0,
            failures: 0,
            untried: 0,
            counters: LineCounters::default(),
        }
    }

    /// Returns the number of stores in the buffer, with or without an assist warp.
    fn buffered(&self) -> usize {
        self.stores.len() + self.assists.alive().filter(|assist| !assist.high && !assist.killed).count()
    }

    /// Returns the parents whose sets of registers are in use.
    fn parents(&self) -> Parents {
        let mut parents = Parents::default();
        for assist in self.assists.alive() {
            let bit = 1 << assist.warp;
            parents.all |= bit;
            if !assist.over {
                parents.low |= if assist.high { 0 } else { bit };
                parents.set[usize::from(assist.work.set)] |= bit;
            }
        }
        parents
    }

    /// Returns a set of registers of a parent in which a decompression can start: none of the parent's assist warps has
    /// instructions left to issue in it. The scoreboard protects the results of issued instructions.
    fn free_set(&self, parents: &Parents, warp: u8) -> Option<u8> {
        let has = |warps: WarpMask| warps >> warp & 1 == 1;
        if has(parents.low) {
            return None;
        }
        (0..self.options.sets).find(|set| !has(parents.set[usize::from(*set)]))
    }

    /// Returns the line for the next assist warp, and `true` if it is a fill. Fills come first, in their order, if their
    /// parent has a free set of registers. Then come stores whose parent has no assist warp.
    fn next_work(&self) -> Option<(bool, usize)> {
        if self.fills.is_empty() && self.stores.is_empty() {
            return None;
        }
        let parents = self.parents();
        let free = |work: &LineWork| self.free_set(&parents, work.warp).is_some();
        let fill = self.fills.iter().position(free).map(|at| (true, at));
        let idle = |work: &LineWork| parents.all >> work.warp & 1 == 0;
        fill.or_else(|| self.stores.iter().position(idle).map(|at| (false, at)))
    }

    /// Returns the event of a line.
    fn event(&self, is_fill: bool, work: &LineWork) -> u8 {
        match work.origin {
            Origin::Hit { .. } if self.options.direct_load => direct_event(tag(&work.line.form)),
            _ if is_fill && work.set == 1 => second_event(tag(&work.line.form)),
            _ if is_fill => tag(&work.line.form),
            _ => {
                let first = self.lines.lock().choice().first();
                store_event(work.line.form.algorithm().unwrap_or(first))
            }
        }
    }

    /// Returns the request for a line's assist warp, and gives a fill its set of registers.
    fn wanted(&mut self, is_fill: bool, at: usize) -> Wanted {
        if is_fill {
            self.fills[at].set = self.free_set(&self.parents(), self.fills[at].warp).unwrap_or(0);
        }
        let work = if is_fill { &self.fills[at] } else { &self.stores[at] };
        let mask = match work.line.form {
            Form::Bdi(form) if is_fill => bdi::base_lanes(&form),
            _ => None,
        };
        Wanted { event: self.event(is_fill, work), warp: work.warp, mask }
    }

    /// Kills a compression whose parent has a waiting fill. Its store waits again.
    fn make_way(&mut self) {
        if self.fills.is_empty() {
            return;
        }
        let compress = self.assists.alive().filter(|assist| !assist.high && !assist.killed);
        let compress = compress.fold(WarpMask::default(), |warps, assist| warps | 1 << assist.warp);
        let is_kept = |work: &&LineWork| compress >> work.warp & 1 == 1;
        let Some(warp) = self.fills.iter().find(is_kept).map(|work| work.warp) else { return };
        if let Some(work) = self.give_up(|assist| assist.warp == warp) {
            self.stores.push_front(work);
        }
    }

    /// Kills the compression that meets `is_meant`, if it is not over, and returns its work.
    fn give_up(&mut self, is_meant: impl Fn(&AssistWarp<LineWork>) -> bool) -> Option<LineWork> {
        let number = self.assists.number_of(is_meant)?;
        self.assists.kill(number).copied()
    }

    /// Releases uncompressed the stores that have waited too long.
    fn release_late(&mut self, now: u64) {
        let patience = self.options.patience;
        let is_late = |work: &LineWork| now - work.since > patience;
        while let Some(at) = self.stores.iter().position(is_late) {
            self.counters.late += 1;
            self.done_stores.extend(self.stores.remove(at).and_then(|work| work.store()));
        }
        if let Some(work) = self.give_up(|assist| is_late(&assist.work)) {
            self.counters.late += 1;
            self.done_stores.extend(work.store());
        }
    }

    /// Starts the assist warp of a line, whose trigger the controller has accepted.
    fn start(&mut self, is_fill: bool, at: usize) {
        let queue = if is_fill { &mut self.fills } else { &mut self.stores };
        let Some(work) = queue.remove(at) else { return };
        let input = if is_fill { work.line.payload() } else { &work.line.values };
        let lanes = Lanes::new(bytes_of(input));
        self.assists.start(work.warp, is_fill, work, lanes);
    }

    /// Handles the results of finished assist warps.
    fn finish(&mut self, now: u64) -> Result<(), MechanismFault> {
        while let Some(assist) = self.assists.take_done(now) {
            if assist.high { self.decompressed(&assist)? } else { self.compressed(&assist)? }
        }
        Ok(())
    }

    fn wrong(&self, warp: u8, line: u64) -> MechanismFault {
        Box::new(WrongValue { instance: self.assists.name(warp).into(), line })
    }

    fn decompressed(&mut self, assist: &AssistWarp<LineWork>) -> Result<(), MechanismFault> {
        let LineWork { origin, warp, line, .. } = assist.work;
        if assist.lanes.output != bytes_of(&line.values) {
            return Err(self.wrong(assist.warp, assist.work.address()));
        }
        self.counters.decompressed += 1;
        match origin {
            Origin::Reply(packet) => self.done_fills.push_back((L1dFill { packet, warp }, line)),
            Origin::Hit { inst, line: address } => {
                self.counters.decompressed_hits += 1;
                self.done_hits.push_back(Hit { inst, warp, line: address, after_fill: false });
            }
            Origin::Store(_) => debug_assert!(false, "a store is not decompressed"),
        }
        Ok(())
    }

    fn compressed(&mut self, assist: &AssistWarp<LineWork>) -> Result<(), MechanismFault> {
        let line = assist.work.line;
        let Some(mut packet) = assist.work.store() else { return Ok(()) };
        let expected = line.is_compressed().then_some((tag(&line.form), line.bytes()));
        let saves = |made: &Made| usize::from(made.size) <= self.options.saving_bytes;
        let made = assist.made().filter(saves).map(|made| (made.encoding, u16::from(made.size)));
        if made != expected || made.is_some() && assist.lanes.output != bytes_of(line.payload()) {
            return Err(self.wrong(assist.warp, packet.line));
        }
        if made.is_some() {
            packet.data_bytes = line.bytes();
            packet.payload = self.lines.lock().send(line);
            self.counters.compressed += 1;
            self.failures = 0;
        } else {
            self.counters.incompressible += 1;
            self.failures = self.failures.saturating_add(1);
        }
        self.done_stores.push_back(packet);
        Ok(())
    }
}

impl SmPart for AssistSm {
    fn tick(&mut self, now: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        self.assists.check()?;
        self.finish(now)?;
        self.make_way();
        self.release_late(now);
        let work = self.next_work();
        let wanted = work.map(|(is_fill, at)| self.wanted(is_fill, at));
        let is_taken = self.assists.step(now, wanted)?;
        if let Some((is_fill, at)) = work.filter(|_| is_taken) {
            self.start(is_fill, at);
        }
        Ok(())
    }

    fn busy(&self) -> bool {
        self.assists.busy()
            || !self.fills.is_empty()
            || !self.stores.is_empty()
            || !self.done_fills.is_empty()
            || !self.done_hits.is_empty()
            || !self.done_stores.is_empty()
    }

    fn counters(&self, out: &mut MechanismCounters) {
        self.assists.count(out);
        self.counters.report(self.options.keeps_compressed(), out);
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.assists.traces());
    }

    has!(&warp_hold: WarpHold);
    has!(assist: AssistIssue, warp_observer: WarpObserver, fills: Stage<L1dFill>, placement: L1dPlacement, l1d_observer: L1dObserver);

    fn hits(&mut self) -> Option<&mut dyn Stage<Hit>> {
        self.options.keeps_compressed().then_some(self)
    }

    has!(stores: Stage<Packet>);
}

impl WarpHold for AssistSm {
    fn held_warps(&self) -> WarpMask {
        self.assists.held_warps()
    }
}

impl AssistIssue for AssistSm {
    fn extras(&mut self, now: u64) -> Option<Extras> {
        self.assists.extras(now)
    }

    fn issue_extra(&mut self, now: u64, warp: u8) -> u32 {
        self.assists.issue_extra(now, warp)
    }

    fn issue_idle_extra(&mut self, now: u64) {
        self.assists.issue_idle_extra(now);
    }

    fn issue_ended(&mut self, report: &IssueReport) {
        self.assists.issue_ended(report);
    }
}

impl WarpObserver for AssistSm {
    fn stores_awaited(&mut self, warp: u8, awaited: bool) {
        if awaited {
            self.awaited |= 1 << warp;
            self.release_of(warp);
        } else {
            self.awaited &= !(1 << warp);
            let lives = self.assists.alive().any(|assist| assist.warp == warp && !assist.killed);
            debug_assert!(!lives, "an assist warp outlives its parent");
        }
    }

    fn warp_exited(&mut self, _: u8) {}
}

impl Stage<L1dFill> for AssistSm {
    fn offer(&mut self, _: u64, fill: &mut L1dFill, _: &DeviceMemory) -> Offer {
        let L1dFill { packet, warp } = *fill;
        let stays_compressed = self.options.direct_load && ReplyToken::unpack(packet.token).fills_l1d();
        if packet.payload == 0 {
            self.resident.comes_whole();
            if stays_compressed {
                self.resident.comes(packet.line, None);
            }
            return Offer::Pass;
        }
        let line = self.lines.lock().receive(packet.payload);
        if stays_compressed {
            if self.options.l1_tags > 1 {
                self.resident.leaves(packet.line, line);
            } else {
                self.resident.comes(packet.line, Some(line));
                self.counters.kept_compressed += 1;
            }
            return Offer::Pass;
        }
        self.fills.push_back(LineWork { origin: Origin::Reply(packet), warp, set: 0, line, since: 0 });
        Offer::Taken
    }

    fn pop(&mut self) -> Option<L1dFill> {
        let (fill, line) = self.done_fills.pop_front()?;
        self.resident.leaves(fill.packet.line, line);
        Some(fill)
    }
}

impl L1dPlacement for AssistSm {
    fn space(&mut self, line: u64, _: &DeviceMemory) -> LineSpace {
        if self.options.l1_tags == 1 {
            return LineSpace::Whole;
        }
        let room = self.resident.put(line);
        self.counters.kept_compressed += u64::from(room != LineSpace::Whole);
        room
    }

    fn placed(&mut self) -> Option<(u64, u32)> {
        None
    }

    fn stale_line(&mut self) -> Option<u64> {
        None
    }
}

impl L1dObserver for AssistSm {
    fn l1d_event(&mut self, _: u64, event: &L1dEvent) {
        self.resident.event(event);
    }
}

impl Stage<Hit> for AssistSm {
    /// Takes a load whose line is compressed in the L1D, because it needs an assist warp.
    fn offer(&mut self, now: u64, hit: &mut Hit, _: &DeviceMemory) -> Offer {
        if hit.after_fill && !self.options.direct_load {
            return Offer::Pass;
        }
        let Some(line) = self.resident.get(hit.line) else { return Offer::Pass };
        let origin = Origin::Hit { inst: hit.inst, line: hit.line };
        self.fills.push_back(LineWork { origin, warp: hit.warp, set: 0, line, since: now });
        Offer::Taken
    }

    fn pop(&mut self) -> Option<Hit> {
        self.done_hits.pop_front()
    }
}

impl Stage<Packet> for AssistSm {
    fn offer(&mut self, now: u64, packet: &mut Packet, memory: &DeviceMemory) -> Offer {
        if self.overtakes(packet.line) {
            return Offer::Full;
        }
        if usize::from(packet.data_bytes) < LINE_BYTES || !has_values(packet.line) {
            return Offer::Pass;
        }
        let ReplyToken::Store(warp) = ReplyToken::unpack(packet.token) else { return Offer::Pass };
        if self.awaited >> warp & 1 == 1 {
            self.counters.awaited += 1;
            return Offer::Pass;
        }
        if self.has_given_up() {
            self.counters.untried += 1;
            return Offer::Pass;
        }
        if self.buffered() >= self.options.stores {
            self.counters.overflowed += 1;
            return Offer::Pass;
        }
        let line = self.lines.lock().forms(memory, packet.line);
        self.stores.push_back(LineWork { origin: Origin::Store(*packet), warp, set: 0, line, since: now });
        Offer::Taken
    }

    fn pop(&mut self) -> Option<Packet> {
        self.done_stores.pop_front()
    }

    fn holds(&mut self, line: u64) -> bool {
        self.overtakes(line)
    }
}

impl AssistSm {
    /// Releases the stores of a warp uncompressed.
    fn release_of(&mut self, warp: u8) {
        while let Some(at) = self.stores.iter().position(|work| work.warp == warp) {
            self.counters.awaited += 1;
            self.done_stores.extend(self.stores.remove(at).and_then(|work| work.store()));
        }
        if let Some(work) = self.give_up(|assist| assist.warp == warp) {
            self.counters.awaited += 1;
            self.done_stores.extend(work.store());
        }
    }

    /// Returns whether a store is not tried: after too many incompressible lines, only one of [`SAMPLE`] stores is.
    fn has_given_up(&mut self) -> bool {
        if self.options.give_up == 0 || self.failures < self.options.give_up {
            return false;
        }
        self.untried = (self.untried + 1) % SAMPLE;
        self.untried != 0
    }

    /// Returns whether an access of this line would overtake a store in the buffer, and releases the store uncompressed.
    fn overtakes(&mut self, line: u64) -> bool {
        if let Some(at) = self.stores.iter().position(|work| work.address() == line) {
            self.counters.overtaken += 1;
            self.done_stores.extend(self.stores.remove(at).and_then(|work| work.store()));
        }
        if let Some(work) = self.give_up(|assist| assist.work.address() == line) {
            self.counters.overtaken += 1;
            self.done_stores.extend(work.store());
        }
        let is_ending = |a: &AssistWarp<LineWork>| !a.high && !a.killed && a.work.address() == line;
        self.assists.alive().any(is_ending) || self.done_stores.iter().any(|packet| packet.line == line)
    }
}
