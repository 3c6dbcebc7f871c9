//! The SM's share of CABA: the assist warp controller, the lines that wait for assist warps, and the instructions that
//! wait for issue.
//!
//! The controller (`smN.awc`) is clocked while an assist warp is wanted or under way. A tick offers it at most one trigger and
//! one kill, takes an instruction for each scheduler and one of low priority out of its buffer into a decode register (one
//! per warp, one for low priority), and hands out what is done. The schedulers look at the decode registers in the same cycle.
//!
//! With more tags than ways the L1D keeps lines compressed, and each hit on one has an assist warp of its own. For direct load
//! it keeps them so, too, and each load of one has an assist warp that gives it what it needs.
use super::instruction::Instruction;
use super::lanes::Lanes;
use super::resident::Resident;
use super::routine::Routines;
use super::warp::{AssistWarp, Decoded, Latencies, WarpFault};
use super::work::{Counters, Origin, Work};
use crate::mechanism::MechanismCounters;
use crate::mechanism::codec_stage::WrongValue;
use crate::mechanism::hw_bdi::SharedLines;
use crate::mechanism::hw_bdi::form::{Algorithm, LineForms};
use crate::mechanism::hw_bdi::lines::{LINE_BYTES, has_values};
use crate::mechanism::probe::Probes;
use crate::memory::DeviceMemory;
use crate::packet::Packet;
use crate::partition::{MechanismFault, Stage};
use crate::sm::BYPASS_TOKEN;
use crate::sm::lsu::InstId;
use crate::sm::pipes::{PIPE_KINDS, PipeKind};
use crate::sm::policy::{Extras, IssueReport, L1dEvent, Room, SmPolicy};
use crate::sm::read_only::SIDE_TOKEN;
use crate::sm::scheduler::WarpMask;
use selvedge_hw::Instance;
use selvedge_hw::assist::awc::{Awc, AwcIn, AwcOut, AwcParams};
use selvedge_hw::bdi::bytes_of;
use selvedge_hw::wave::Trace;
use std::collections::VecDeque;

/// The event of a store that is compressed by an algorithm: a bit marks stores, the events of loads are the encodings' tags.
pub const fn store_event(algorithm: Algorithm) -> u8 {
    1 << 4 | algorithm as u8
}

/// The event of a load that is given what it needs of a line of the encoding with that tag; they follow the stores'.
pub const fn direct_event(tag: u8) -> u8 {
    store_event(Algorithm::Cpack) + tag
}

/// One store in so many is tried where lines have proved incompressible.
const SAMPLE: u32 = 64;

/// Warps of an SM that the controller knows.
pub const WARPS: usize = selvedge_hw::assist::WARPS;

/// What the options ask for.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Stores that wait for compression at the same time.
    pub stores: usize,
    /// Cycles that a store may wait.
    pub patience: u64,
    /// Incompressible lines in a row after which few stores are tried; 0: never.
    pub give_up: u32,
    /// When the controller throttles.
    pub throttle: AwcParams,
    /// Tags for each way of the L1D; with more than one it keeps lines compressed.
    pub l1_tags: u32,
    /// Do loads take what they need out of compressed lines?
    pub direct_load: bool,
}

impl Options {
    /// Does the L1D keep lines compressed?
    fn keeps_compressed(&self) -> bool {
        self.l1_tags > 1 || self.direct_load
    }
}

/// The assist warps of one SM.
pub struct AssistSm {
    controller: Instance<Awc>,
    routines: Routines,
    options: Options,
    latencies: Latencies,
    lines: SharedLines,
    /// Compressed lines that have come, or were hit, and have no assist warp yet.
    fills: VecDeque<Work>,
    /// Stores that have no assist warp yet, the oldest first.
    stores: VecDeque<Work>,
    /// Assist warps under way, by number.
    assists: Vec<Option<AssistWarp<Work>>>,
    /// Decode registers of the warps, and of low priority.
    decoded: [Option<Decoded>; WARPS],
    /// The warps whose decode register is full, a bit each.
    full: u64,
    low: Option<Decoded>,
    /// What the controller has shown in the last cycle: warps with a high-priority instruction.
    high_valid: u64,
    /// The warps that the schedulers have looked at last.
    looked: [u8; 2],
    /// Assist warps that are to be flushed.
    kills: VecDeque<usize>,
    report: IssueReport,
    done_fills: VecDeque<(Packet, LineForms)>,
    done_hits: VecDeque<InstId>,
    done_stores: VecDeque<Packet>,
    /// The compressed lines of the L1D.
    resident: Resident,
    /// Warps that wait for their stores, a bit each: their lines are not compressed.
    awaited: u64,
    /// Lines in a row that no encoding fitted, and stores that were not tried since.
    failures: u32,
    untried: u32,
    /// What went wrong outside of a tick; the next one tells.
    fault: Option<MechanismFault>,
    counters: Counters,
}

impl AssistSm {
    /// An SM whose assist warp store is being loaded: the controller's first cycles.
    pub fn new(
        id: u32,
        options: Options,
        latencies: Latencies,
        routines: Routines,
        lines: SharedLines,
        probes: &Probes,
    ) -> Self {
        let mut controller: Instance<Awc> = probes.instance(format!("sm{id}.awc"), &options.throttle);
        let mut loading = routines.loading().into_iter();
        let fault = loading.find_map(|inputs| controller.step(&inputs).err());
        AssistSm {
            controller,
            routines,
            options,
            latencies,
            lines,
            fills: VecDeque::new(),
            stores: VecDeque::new(),
            assists: Vec::new(),
            decoded: [None; WARPS],
            full: 0,
            low: None,
            high_valid: 0,
            looked: [0, 1],
            kills: VecDeque::new(),
            report: IssueReport::default(),
            done_fills: VecDeque::new(),
            done_hits: VecDeque::new(),
            resident: Resident::default(),
            done_stores: VecDeque::new(),
            awaited: 0,
            failures: 0,
            untried: 0,
            fault: fault.map(|divergence| divergence as MechanismFault),
            counters: Counters::default(),
        }
    }

    /// The assist warps under way.
    fn alive(&self) -> impl Iterator<Item = &AssistWarp<Work>> {
        self.assists.iter().flatten()
    }

    /// Has the warp an assist warp?
    fn has_assist(&self, warp: u8) -> bool {
        self.alive().any(|assist| assist.warp == warp)
    }

    /// Stores in the buffer, those with an assist warp included.
    fn buffered(&self) -> usize {
        self.stores.len() + self.alive().filter(|assist| !assist.high && !assist.killed).count()
    }

    /// The line that an assist warp is to be triggered for next, and whether it is a fill: fills first, in the order in
    /// which they came, of those whose parent has no assist warp.
    fn next_work(&self) -> Option<(bool, usize)> {
        let free = |work: &Work| !self.has_assist(work.warp);
        let fill = self.fills.iter().position(free).map(|at| (true, at));
        fill.or_else(|| self.stores.iter().position(free).map(|at| (false, at)))
    }

    /// The event of a line.
    fn event(&self, is_fill: bool, work: &Work) -> u8 {
        match work.origin {
            Origin::Hit { .. } if self.options.direct_load => direct_event(work.line.tag),
            _ if is_fill => work.line.tag,
            _ => store_event(work.line.algorithm),
        }
    }

    /// A number that no assist warp has.
    fn free_number(&mut self) -> usize {
        let free = self.assists.iter().position(Option::is_none);
        free.unwrap_or_else(|| {
            self.assists.push(None);
            self.assists.len() - 1
        })
    }

    /// A compression gives way to a fill of its parent: it is killed, and its store waits again.
    fn make_way(&mut self) {
        let Some(waiting) = self.fills.iter().find(|work| {
            self.alive().any(|assist| assist.warp == work.warp && !assist.high && !assist.killed)
        }) else {
            return;
        };
        let warp = waiting.warp;
        let number = self.number_of(|assist| assist.warp == warp && !assist.high && !assist.killed);
        if let Some(work) = number.and_then(|number| self.kill(number)) {
            self.stores.push_front(work);
        }
    }

    fn number_of(&self, is_meant: impl Fn(&AssistWarp<Work>) -> bool) -> Option<usize> {
        self.assists.iter().position(|assist| assist.as_ref().is_some_and(&is_meant))
    }

    /// Gives an assist warp up; what it was for is given back unless it is over.
    fn kill(&mut self, number: usize) -> Option<Work> {
        let assist = self.assists[number].as_mut().filter(|assist| !assist.over && !assist.killed)?;
        debug_assert!(!assist.high, "what waits for a decompression cannot do without");
        assist.killed = true;
        self.counters.killed += 1;
        self.flush(number);
        self.assists[number].as_ref().map(|assist| assist.work)
    }

    /// Takes an assist warp's instruction out of the decode register, and has the controller flush the others.
    fn flush(&mut self, number: usize) {
        if self.low.is_some_and(|decoded| decoded.assist == number) {
            self.low = None;
        }
        self.kills.push_back(number);
    }

    /// Releases stores that have waited too long, uncompressed.
    fn release_late(&mut self, now: u64) {
        let patience = self.options.patience;
        let is_late = |work: &Work| now - work.since > patience;
        while let Some(at) = self.stores.iter().position(is_late) {
            self.counters.late += 1;
            self.done_stores.extend(self.stores.remove(at).and_then(|work| work.store()));
        }
        let late = self.number_of(|a| !a.high && !a.over && !a.killed && is_late(&a.work));
        if let Some(work) = late.and_then(|number| self.kill(number)) {
            self.counters.late += 1;
            self.done_stores.extend(work.store());
        }
    }

    /// What the controller is told in this cycle, with the numbers of a triggered and of a killed assist warp.
    fn inputs(&mut self, work: Option<(bool, usize)>) -> (AwcIn, usize) {
        let busy = |kind: PipeKind, bit: u8| u8::from(self.report.busy[kind as usize]) << bit;
        let mut inputs = AwcIn {
            busy_i: busy(PipeKind::Alu, 0) | busy(PipeKind::Sfu, 1) | busy(PipeKind::Memory, 2),
            idle_i: self.report.idle,
            low_pop_i: self.low.is_none(),
            ..AwcIn::default()
        };
        let number = self.free_number();
        if let Some((is_fill, at)) = work {
            let work = if is_fill { &self.fills[at] } else { &self.stores[at] };
            inputs.trigger_valid_i = true;
            inputs.trigger_event_i = self.event(is_fill, work);
            inputs.trigger_warp_i = work.warp;
            inputs.trigger_mask_i = self.routines.mask(inputs.trigger_event_i);
            // The live-in register has the line's place, which tells the assist warps of the SM apart.
            inputs.trigger_live_in_i = number as u16;
        }
        if let Some(warp) = self.kills.front().and_then(|k| self.assists[*k].as_ref()).map(|a| a.warp) {
            inputs.kill_low_i = true;
            inputs.kill_warp_i = warp;
        }
        [(inputs.issue0_index_i, inputs.issue0_pop_i), (inputs.issue1_index_i, inputs.issue1_pop_i)] =
            [0, 1].map(|scheduler| self.look(scheduler));
        (inputs, number)
    }

    /// The warp that a scheduler takes an instruction of, divided by two, and whether it does: the next one in turn that
    /// may have one and whose decode register is free.
    fn look(&mut self, scheduler: usize) -> (u8, bool) {
        let takes = |warp: &usize| self.high_valid >> warp & 1 == 1 && self.full >> warp & 1 == 0;
        let last = usize::from(self.looked[scheduler]);
        let mut turn = (1..=WARPS / 2).map(|step| (last + 2 * step) % WARPS);
        match turn.find(takes) {
            Some(warp) => {
                self.looked[scheduler] = warp as u8;
                (warp as u8 / 2, true)
            }
            None => (last as u8 / 2, false),
        }
    }

    /// Puts what the controller gave into the decode registers.
    fn decode(&mut self, inputs: &AwcIn, out: &AwcOut) -> Result<(), WarpFault> {
        let given = [
            (inputs.issue0_pop_i, 2 * inputs.issue0_index_i, out.issue0_instruction_o, out.issue0_mask_o),
            (inputs.issue1_pop_i, 2 * inputs.issue1_index_i + 1, out.issue1_instruction_o, out.issue1_mask_o),
        ];
        let rest = [(out.issue0_live_in_o, out.issue0_last_o), (out.issue1_live_in_o, out.issue1_last_o)];
        for ((pop, warp, word, mask), (assist, last)) in given.into_iter().zip(rest) {
            if pop && out.high_valid_o >> warp & 1 == 1 {
                let instruction = Instruction::decode(word)?;
                let assist = usize::from(assist);
                self.decoded[usize::from(warp)] = Some(Decoded { assist, instruction, mask, last });
                self.full |= 1 << warp;
            }
        }
        let assist = usize::from(out.low_live_in_o);
        let lives = self.assists.get(assist).and_then(Option::as_ref).is_some_and(|a| !a.killed && !a.over);
        if inputs.low_pop_i && out.low_valid_o && lives {
            let instruction = Instruction::decode(out.low_instruction_o)?;
            self.low = Some(Decoded { assist, instruction, mask: out.low_mask_o, last: out.low_last_o });
        }
        Ok(())
    }

    /// The controller has taken a trigger.
    fn start(&mut self, is_fill: bool, at: usize, number: usize) {
        let queue = if is_fill { &mut self.fills } else { &mut self.stores };
        let Some(work) = queue.remove(at) else { return };
        let input = if is_fill { work.line.payload } else { work.line.values };
        debug_assert!(!self.has_assist(work.warp), "one assist warp per parent");
        self.assists[number] = Some(AssistWarp::new(work.warp, is_fill, work, Lanes::new(bytes_of(&input))));
        let counters = &mut self.counters;
        *(if is_fill { &mut counters.triggered_high } else { &mut counters.triggered_low }) += 1;
    }

    /// Hands out the work of assist warps that are done.
    fn finish(&mut self, now: u64) -> Result<(), MechanismFault> {
        for number in 0..self.assists.len() {
            let is_done = |assist: &AssistWarp<Work>| assist.is_done(now) && !self.kills.contains(&number);
            if !self.assists[number].as_ref().is_some_and(is_done) {
                continue;
            }
            let Some(assist) = self.assists[number].take() else { continue };
            self.counters.finished += 1;
            if assist.high { self.decompressed(&assist)? } else { self.compressed(&assist)? }
        }
        Ok(())
    }

    fn wrong(&self, line: u64) -> MechanismFault {
        Box::new(WrongValue { instance: self.controller.name().into(), line })
    }

    fn decompressed(&mut self, assist: &AssistWarp<Work>) -> Result<(), MechanismFault> {
        let Work { origin, line, .. } = assist.work;
        if assist.lanes.output != bytes_of(&line.values) {
            return Err(self.wrong(assist.work.address()));
        }
        self.counters.decompressed += 1;
        match origin {
            Origin::Reply(packet) => self.done_fills.push_back((packet, line)),
            Origin::Hit { inst, .. } => {
                self.counters.decompressed_hits += 1;
                self.done_hits.push_back(inst);
            }
            Origin::Store(_) => debug_assert!(false, "a store is not decompressed"),
        }
        Ok(())
    }

    fn compressed(&mut self, assist: &AssistWarp<Work>) -> Result<(), MechanismFault> {
        let line = assist.work.line;
        let Some(mut packet) = assist.work.store() else { return Ok(()) };
        let expected = line.is_compressed().then_some((line.tag, line.size));
        let made = assist.made().map(|made| (made.encoding, made.size));
        if made != expected || made.is_some() && assist.lanes.output != bytes_of(&line.payload) {
            return Err(self.wrong(packet.line));
        }
        if made.is_some() {
            packet.data_bytes = u16::from(line.size);
            packet.payload = self.lines.borrow_mut().send(line);
            self.counters.compressed += 1;
            self.failures = 0;
        } else {
            self.counters.incompressible += 1;
            self.failures = self.failures.saturating_add(1);
        }
        self.done_stores.push_back(packet);
        Ok(())
    }

    /// Issues what a decode register held.
    fn issue(&mut self, decoded: &Decoded, now: u64) {
        // `extras` has told that its assist warp is ready for it.
        let Some(assist) = self.assists.get_mut(decoded.assist).and_then(Option::as_mut) else { return };
        let high = assist.high;
        if let Err(fault) = assist.issue(decoded, now, &self.latencies) {
            self.fault.get_or_insert_with(|| Box::new(fault));
        }
        if assist.over && !decoded.last {
            self.flush(decoded.assist);
        }
        *(if high { &mut self.counters.issued_high } else { &mut self.counters.issued_low }) += 1;
    }

    /// Is the instruction's assist warp ready for it?
    fn is_ready(&self, decoded: &Decoded, now: u64) -> bool {
        let assist = self.assists.get(decoded.assist).and_then(Option::as_ref);
        assist.is_some_and(|assist| assist.is_ready(&decoded.instruction, now))
    }
}

impl SmPolicy for AssistSm {
    fn tick(&mut self, now: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        self.finish(now)?;
        self.make_way();
        self.release_late(now);
        // The store is being loaded.
        if now < self.controller.cycle() {
            return Ok(());
        }
        let work = self.next_work();
        let (inputs, number) = self.inputs(work);
        self.controller.advance_to(now);
        let out = self.controller.step(&inputs).map_err(|divergence| divergence as MechanismFault)?;
        self.decode(&inputs, &out)?;
        self.high_valid = out.high_valid_o;
        if inputs.kill_low_i {
            self.killed();
        }
        if let Some((is_fill, at)) = work.filter(|_| out.trigger_ready_o) {
            self.start(is_fill, at, number);
        }
        self.counters.throttled_cycles += u64::from(out.throttled_o);
        self.counters.controller_cycles += 1;
        Ok(())
    }

    fn busy(&self) -> bool {
        self.fault.is_some()
            || !self.fills.is_empty()
            || !self.stores.is_empty()
            || !self.done_fills.is_empty()
            || !self.done_hits.is_empty()
            || !self.done_stores.is_empty()
            || self.assists.iter().any(Option::is_some)
    }

    fn extras(&self, now: u64) -> Option<Extras> {
        let mut extras = Extras { ready: [0; PIPE_KINDS], idle: None };
        let full = (0..WARPS).filter(|warp| self.full >> warp & 1 == 1);
        for (warp, decoded) in full.map(|warp| (warp, &self.decoded[warp])) {
            if let Some(decoded) = decoded.as_ref().filter(|decoded| self.is_ready(decoded, now)) {
                extras.ready[decoded.pipe() as usize] |= 1 << warp;
            }
        }
        extras.idle = self.low.filter(|decoded| self.is_ready(decoded, now)).map(|decoded| decoded.pipe());
        (extras.idle.is_some() || extras.ready.iter().any(|ready| *ready != 0)).then_some(extras)
    }

    fn held_warps(&self) -> WarpMask {
        self.alive().filter(|assist| assist.high).fold(0, |all, assist| all | 1 << assist.warp)
    }

    fn issue_extra(&mut self, now: u64, warp: u8) {
        if let Some(decoded) = self.decoded[usize::from(warp)].take() {
            self.full &= !(1 << warp);
            self.issue(&decoded, now);
        }
    }

    fn issue_idle_extra(&mut self, now: u64) {
        if let Some(decoded) = self.low.take() {
            self.issue(&decoded, now);
        }
    }

    fn issue_ended(&mut self, report: &IssueReport) {
        self.report = *report;
    }

    fn stores_awaited(&mut self, warp: u8, awaited: bool) {
        if awaited {
            self.awaited |= 1 << warp;
            self.release_of(warp);
        } else {
            self.awaited &= !(1 << warp);
            let lives = self.alive().any(|assist| assist.warp == warp && !assist.killed);
            debug_assert!(!lives, "an assist warp outlives its parent");
        }
    }

    fn fill_enter(&mut self, packet: &Packet, warp: u8, _: &DeviceMemory) -> Stage {
        let goes_into_l1d = packet.token & (BYPASS_TOKEN | SIDE_TOKEN) == 0;
        let stays_compressed = self.options.direct_load && goes_into_l1d;
        if packet.payload == 0 {
            self.resident.comes_whole();
            if stays_compressed {
                self.resident.comes(packet.line, None);
            }
            return Stage::Through;
        }
        let line = self.lines.borrow_mut().receive(packet.payload);
        if stays_compressed {
            if self.options.l1_tags > 1 {
                self.resident.leaves(packet.line, line);
            } else {
                self.resident.comes(packet.line, Some(line));
                self.counters.kept_compressed += 1;
            }
            return Stage::Through;
        }
        self.fills.push_back(Work { origin: Origin::Reply(*packet), warp, line, since: 0 });
        Stage::Taken
    }

    fn fill_leave(&mut self) -> Option<Packet> {
        let (packet, line) = self.done_fills.pop_front()?;
        self.resident.leaves(packet.line, line);
        Some(packet)
    }

    fn room(&mut self, line: u64, _: &DeviceMemory) -> Room {
        if self.options.l1_tags == 1 {
            return Room::Whole;
        }
        let room = self.resident.put(line);
        self.counters.kept_compressed += u64::from(room != Room::Whole);
        room
    }

    fn l1d_event(&mut self, _: u64, event: &L1dEvent) {
        self.resident.event(event);
    }

    fn takes_hits(&self) -> bool {
        self.options.keeps_compressed()
    }

    fn woken_enter(&mut self, now: u64, inst: InstId, warp: u8, line: u64) -> Stage {
        if self.options.direct_load { self.take_load(now, inst, warp, line) } else { Stage::Through }
    }

    fn hit_enter(&mut self, now: u64, inst: InstId, warp: u8, line: u64, _: &DeviceMemory) -> Stage {
        self.take_load(now, inst, warp, line)
    }

    fn hit_leave(&mut self) -> Option<InstId> {
        self.done_hits.pop_front()
    }

    fn store_enter(&mut self, now: u64, packet: &mut Packet, memory: &DeviceMemory) -> Stage {
        if self.overtakes(packet.line) {
            return Stage::Full;
        }
        if usize::from(packet.data_bytes) < LINE_BYTES || !has_values(packet.line) {
            return Stage::Through;
        }
        let warp = packet.token as u8;
        if self.awaited >> warp & 1 == 1 {
            self.counters.awaited += 1;
            return Stage::Through;
        }
        if self.has_given_up() {
            self.counters.untried += 1;
            return Stage::Through;
        }
        if self.buffered() >= self.options.stores {
            self.counters.overflowed += 1;
            return Stage::Through;
        }
        let line = self.lines.borrow().forms(memory, packet.line);
        self.stores.push_back(Work { origin: Origin::Store(*packet), warp, line, since: now });
        Stage::Taken
    }

    fn store_leave(&mut self) -> Option<Packet> {
        self.done_stores.pop_front()
    }

    fn counters(&self, out: &mut MechanismCounters) {
        self.counters.report(self.options.keeps_compressed(), out);
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.controller.trace());
    }
}

impl AssistSm {
    /// A load whose line lies compressed in the L1D has an assist warp of its own.
    fn take_load(&mut self, now: u64, inst: InstId, warp: u8, line: u64) -> Stage {
        let Some(forms) = self.resident.get(line) else { return Stage::Through };
        let origin = Origin::Hit { inst, line };
        self.fills.push_back(Work { origin, warp, line: forms, since: now });
        Stage::Taken
    }

    /// Releases the stores of a warp, uncompressed.
    fn release_of(&mut self, warp: u8) {
        while let Some(at) = self.stores.iter().position(|work| work.warp == warp) {
            self.counters.awaited += 1;
            self.done_stores.extend(self.stores.remove(at).and_then(|work| work.store()));
        }
        let number = self.number_of(|a| !a.high && !a.over && !a.killed && a.warp == warp);
        if let Some(work) = number.and_then(|number| self.kill(number)) {
            self.counters.awaited += 1;
            self.done_stores.extend(work.store());
        }
    }

    /// After so many lines in a row that no encoding fitted, only one store of [`SAMPLE`] is tried.
    fn has_given_up(&mut self) -> bool {
        if self.options.give_up == 0 || self.failures < self.options.give_up {
            return false;
        }
        self.untried = (self.untried + 1) % SAMPLE;
        self.untried != 0
    }

    /// Would a store of this line overtake one in the buffer? Then that one is released, uncompressed.
    fn overtakes(&mut self, line: u64) -> bool {
        if let Some(at) = self.stores.iter().position(|work| work.address() == line) {
            self.counters.overtaken += 1;
            self.done_stores.extend(self.stores.remove(at).and_then(|work| work.store()));
        }
        let number = self.number_of(|a| !a.high && !a.over && !a.killed && a.work.address() == line);
        if let Some(work) = number.and_then(|number| self.kill(number)) {
            self.counters.overtaken += 1;
            self.done_stores.extend(work.store());
        }
        let is_ending = |a: &AssistWarp<Work>| !a.high && !a.killed && a.work.address() == line;
        self.alive().any(is_ending) || self.done_stores.iter().any(|packet| packet.line == line)
    }

    /// The controller has flushed the assist warp whose turn it was.
    fn killed(&mut self) {
        let Some(number) = self.kills.pop_front() else { return };
        if self.assists[number].as_ref().is_some_and(|assist| assist.killed) {
            self.assists[number] = None;
        }
    }
}
