//! The memory system on a thread of its own, beside the SMs.
//!
//! What one side sends crosses the crossbar, so that it matters to the other side a crossbar latency later at the earliest. Each side
//! runs as far as what it knows of the other suffices, and says how far that is. What frees places in an ejection queue matters
//! at once, but only where the queue is full as far as its sender knows: there the sender waits for the other side.
use super::pool::{Helper, pause};
use super::{ClockDomain, Gpu};
use crate::crossbar::Granted;
use crate::id_set::IdSet;
use crate::packet::{self, Packet};
use crate::partition::{Far, Near, Taken};
use crate::sm::SimFault;
use selvedge_ptx::memory::DeviceMemory;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An interval that is shorter than this, in core cycles, is not worth a thread.
const LEAST_CYCLES: u64 = 500;

/// A side says how far it is at least this often, core cycles.
const SAY_CYCLES: u64 = 8;

/// A side that waits would like the other one to come so many core cycles further.
const AT_ONCE: u64 = 5;

/// The memory system's side runs SMs ahead when it is so many core cycles before the other side.
const HELPS_FROM: u64 = 6;

/// An interval in which the SMs' side waits for another thread more often than this, for so long that the thread is not likely to have a core,
/// ends early.
const MOST_STALLS: u32 = 8;

/// A packet that one side has granted.
struct Grant {
    /// In this core cycle.
    at: u64,
    output: u16,
    /// With the crossbar cycle in which its last flit arrives.
    packet: (u64, Packet),
}

/// A packet that one side has received.
struct Take {
    /// In this core cycle.
    at: u64,
    output: u16,
    data_bytes: u16,
}

/// How the SMs rest from a core cycle on, until the next such message.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Rest {
    at: u64,
    /// No SM runs before this cycle unless a reply arrives; `u64::MAX`: none does at all.
    until: u64,
    /// All launches have ended and all SMs are idle.
    is_last: bool,
}

/// What one side says to the other.
#[derive(Default)]
struct Batch {
    grants: VecDeque<Grant>,
    takes: VecDeque<Take>,
    rests: VecDeque<Rest>,
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.grants.is_empty() && self.takes.is_empty() && self.rests.is_empty()
    }

    /// Takes all that is in `other`.
    fn append(&mut self, other: &mut Batch) {
        append(&mut self.grants, &mut other.grants);
        append(&mut self.takes, &mut other.takes);
        append(&mut self.rests, &mut other.rests);
    }
}

/// Moves all of a queue to the end of another one.
fn append<T>(to: &mut VecDeque<T>, from: &mut VecDeque<T>) {
    if to.is_empty() { std::mem::swap(to, from) } else { to.append(from) }
}

/// What is alone in its cache lines: those who write it disturb nobody who waits for something else.
#[derive(Default)]
#[repr(align(128))]
struct Alone<T>(T);

/// What one side leaves for the other.
#[derive(Default)]
struct Mailbox {
    said: Alone<Said>,
    /// What the other side says of this one.
    wanted: Alone<Wanted>,
    batch: Alone<Mutex<Batch>>,
}

/// How far a side is.
#[derive(Default)]
struct Said {
    /// It has run through this core cycle and said all that it did up to there.
    time: AtomicU64,
    /// It waits for the other side.
    waits: AtomicBool,
    /// It runs no further.
    has_ended: AtomicBool,
}

/// What a side would like the other one to do.
#[derive(Default)]
struct Wanted {
    /// To say it when it has come to this core cycle.
    time: AtomicU64,
    /// To go no further than this core cycle.
    stop: AtomicU64,
}

impl Mailbox {
    fn batch(&self) -> MutexGuard<'_, Batch> {
        self.batch.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The mailboxes of both sides.
#[derive(Default)]
pub(super) struct Mailboxes {
    to_far: Mailbox,
    to_near: Mailbox,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Near,
    Far,
}

/// Says that its side runs no further when it is dropped, be it by a panic.
struct Ending(Arc<Mailboxes>, Side);

impl Drop for Ending {
    fn drop(&mut self) {
        let mine = if self.1 == Side::Near { &self.0.to_far } else { &self.0.to_near };
        mine.said.0.has_ended.store(true, Ordering::Release);
    }
}

/// One side's connection with the other.
pub(crate) struct Exchange {
    boxes: Arc<Mailboxes>,
    side: Side,
    /// What it has done and not said yet.
    unsaid: Batch,
    said_at: u64,
    /// What the other side has said and is not due yet.
    heard: Batch,
    /// The other side has come to this core cycle.
    known: u64,
    /// No packet arrives by this crossbar cycle that is not in `heard`, or was there before.
    horizon: u64,
    /// The other side's crossbar clock in cycle `known`.
    clock: ClockDomain,
    latency: u64,
    /// The core cycle that it runs.
    now: u64,
    /// What the other side has received up to here frees places in this core cycle.
    frees_by: u64,
    spins: u32,
    /// How often it has waited so long that the other side is not likely to have a core.
    stalls: u32,
    /// What it does for others while it waits.
    helper: Option<Helper>,
}

impl Exchange {
    fn new(boxes: &Arc<Mailboxes>, side: Side, start: &Start) -> Self {
        Exchange {
            boxes: Arc::clone(boxes),
            side,
            unsaid: Batch::default(),
            said_at: start.now,
            heard: Batch::default(),
            known: start.now,
            horizon: start.interconnect.cycle() + start.latency - 1,
            clock: start.interconnect,
            latency: start.latency,
            now: start.now,
            frees_by: start.now,
            spins: start.spins,
            stalls: 0,
            helper: None,
        }
    }

    fn mine(&self) -> &Mailbox {
        if self.side == Side::Near { &self.boxes.to_far } else { &self.boxes.to_near }
    }

    fn theirs(&self) -> &Mailbox {
        if self.side == Side::Near { &self.boxes.to_near } else { &self.boxes.to_far }
    }

    /// Says that the side has run through core cycle `time`, and what it did.
    fn say(&mut self, time: u64) {
        let mine = if self.side == Side::Near { &self.boxes.to_far } else { &self.boxes.to_near };
        if !self.unsaid.is_empty() {
            mine.batch().append(&mut self.unsaid);
        }
        self.said_at = time;
        mine.said.0.time.store(time, Ordering::Release);
    }

    /// Says it if the other side wants to know, or enough has passed since the last time.
    #[inline]
    fn say_now_and_then(&mut self, time: u64) {
        let wanted = self.mine().wanted.0.time.load(Ordering::Relaxed);
        if time >= self.said_at + SAY_CYCLES || (self.said_at < wanted && wanted <= time) {
            self.say(time);
        }
    }

    /// Hears what the other side has said since.
    fn hear(&mut self) {
        let theirs = if self.side == Side::Near { &self.boxes.to_near } else { &self.boxes.to_far };
        let time = theirs.said.0.time.load(Ordering::Acquire);
        if time != self.known {
            self.heard.append(&mut theirs.batch());
            self.clock.advance(time - self.known);
            self.known = time;
            self.horizon = self.clock.cycle() + self.latency - 1;
        }
    }

    /// Waits until the other side has come far enough: best to core cycle `best`, unless it waits for this side, which has run through
    /// cycle `done`. Returns whether it has before it ended.
    #[cold]
    fn wait(&mut self, done: u64, best: u64, is_enough: impl Fn(&Self) -> bool) -> bool {
        self.hear();
        if is_enough(self) {
            return true;
        }
        self.theirs().wanted.0.time.store(best, Ordering::Relaxed);
        if self.said_at < done {
            self.say(done);
        }
        self.mine().said.0.waits.store(true, Ordering::SeqCst);
        let mut tries = 0;
        let has_come = loop {
            // What comes before the end, or before the wait, was said before.
            let theirs = &self.theirs().said.0;
            let (has_ended, waits) =
                (theirs.has_ended.load(Ordering::Acquire), theirs.waits.load(Ordering::SeqCst));
            let before = self.known;
            self.hear();
            if (self.known >= best || waits || has_ended) && is_enough(self) {
                break true;
            }
            if has_ended {
                break false;
            }
            if let Some(helper) = &mut self.helper {
                helper.help();
            }
            if self.known == before {
                pause(&mut tries, self.spins);
            }
        };
        self.mine().said.0.waits.store(false, Ordering::Relaxed);
        self.stalls += u32::from(tries > self.spins);
        has_come
    }

    /// Waits until no packet that arrives by crossbar cycle `cycle` is unknown.
    #[inline]
    fn wait_for_arrivals(&mut self, done: u64, cycle: u64) -> bool {
        let best = self.known + AT_ONCE;
        cycle <= self.horizon || self.wait(done, best, |this| cycle <= this.horizon)
    }

    /// Waits until the other side has run through core cycle `time`.
    #[inline]
    fn wait_for(&mut self, done: u64, time: u64, best: u64) -> bool {
        time <= self.known || self.wait(done, best, |this| time <= this.known)
    }

    /// Adds the SMs with known replies that are not due yet and arrive by crossbar cycle `horizon` to `to`.
    pub fn receivers(&self, horizon: u64, to: &mut IdSet) {
        let replies = self.heard.grants.iter().filter(|grant| grant.packet.0 <= horizon);
        replies.for_each(|grant| to.insert(grant.output.into()));
    }

    /// Returns the replies to `sm` that are known and not due yet, with the crossbar cycles in which they arrive, in order.
    pub fn coming(&self, sm: usize) -> impl Iterator<Item = &(u64, Packet)> {
        let replies = self.heard.grants.iter().filter(move |grant| usize::from(grant.output) == sm);
        replies.map(|grant| &grant.packet)
    }

    /// Returns the crossbar cycle up to which all replies are known, if the other side has come to core cycle `now`, to which this side
    /// has come.
    pub fn horizon(&mut self, now: u64) -> Option<u64> {
        self.hear();
        if self.known < now {
            return None;
        }
        self.say(now);
        Some(self.horizon)
    }

    /// Returns the oldest packet that the other side has granted up to core cycle `at`.
    #[inline]
    fn next_grant(&mut self, at: u64) -> Option<Grant> {
        if self.heard.grants.front()?.at <= at { self.heard.grants.pop_front() } else { None }
    }

    /// Calls `freed` with what the other side has received up to core cycle `at`.
    fn drain_takes(&mut self, at: u64, mut freed: impl FnMut(usize, u16)) {
        while self.heard.takes.front().is_some_and(|take| take.at <= at) {
            if let Some(take) = self.heard.takes.pop_front() {
                freed(take.output.into(), take.data_bytes);
            }
        }
    }
}

impl Granted for Exchange {
    #[inline]
    fn take(&mut self, arrival: u64, output: usize, packet: &Packet) {
        self.unsaid.grants.push_back(Grant {
            at: self.now,
            output: output as u16,
            packet: (arrival, *packet),
        });
    }

    fn settle(&mut self, freed: impl FnMut(usize, u16)) {
        let frees_by = self.frees_by;
        self.wait_for(self.now - 1, frees_by, frees_by + AT_ONCE);
        self.drain_takes(frees_by, freed);
    }
}

impl Taken for Exchange {
    #[inline]
    fn taken(&mut self, output: usize, data_bytes: u16) {
        self.unsaid.takes.push_back(Take { at: self.now, output: output as u16, data_bytes });
    }
}

/// Where both sides start.
struct Start {
    now: u64,
    interconnect: ClockDomain,
    latency: u64,
    spins: u32,
}

/// The memory system's side.
pub(super) struct FarSide {
    far: Box<Far>,
    exchange: Exchange,
    now: u64,
    interconnect: ClockDomain,
    l2: ClockDomain,
    dram: ClockDomain,
    rest: Rest,
    /// Nothing: the slices look at no values, since they have no parts of a mechanism.
    memory: DeviceMemory,
    /// Replies that are granted and not received, as far as is known.
    outstanding: usize,
}

/// Where the memory system's side has ended.
pub(super) struct FarEnd {
    far: Box<Far>,
    now: u64,
    interconnect: ClockDomain,
    l2: ClockDomain,
    dram: ClockDomain,
    heard: Batch,
}

/// Counts the replies that are granted.
struct Counted<'a>(&'a mut Exchange, &'a mut usize);

impl Granted for Counted<'_> {
    #[inline]
    fn take(&mut self, arrival: u64, output: usize, packet: &Packet) {
        *self.1 += 1;
        self.0.take(arrival, output, packet);
    }

    fn settle(&mut self, mut freed: impl FnMut(usize, u16)) {
        let outstanding = &mut *self.1;
        self.0.settle(|output, data_bytes| {
            *outstanding -= 1;
            freed(output, data_bytes);
        });
    }
}

impl FarSide {
    /// Runs until the stop, the end of all work, or the other side's end.
    pub fn run(mut self) -> FarEnd {
        let ending = Ending(Arc::clone(&self.exchange.boxes), Side::Far);
        while self.now < self.stop() && self.step_or_skip() {
            if self.now >= self.exchange.known + HELPS_FROM
                && let Some(helper) = &mut self.exchange.helper
            {
                helper.help();
            }
        }
        self.exchange.say(self.now);
        drop(ending);
        let FarSide { far, now, interconnect, l2, dram, exchange, .. } = self;
        FarEnd { far, now, interconnect, l2, dram, heard: exchange.heard }
    }

    /// The core cycle that it goes no further than. The other side never wants one that this side may have passed.
    fn stop(&self) -> u64 {
        self.exchange.mine().wanted.0.stop.load(Ordering::Relaxed)
    }

    /// Runs the next core cycle, or jumps to the next in which there is something to do; returns whether it goes on.
    fn step_or_skip(&mut self) -> bool {
        if !self.far.busy() {
            // Whether anything is left is known when the other side has come here.
            if !self.exchange.wait_for(self.now, self.now, self.now) {
                return false;
            }
            self.hear_grants();
            self.hear_takes();
            while let Some(rest) = self.exchange.heard.rests.front().filter(|rest| rest.at <= self.now) {
                self.rest = *rest;
                self.exchange.heard.rests.pop_front();
            }
            if !self.far.busy() && self.outstanding == 0 {
                // The end of all work, or a jump over the stop, is not for this side to see to.
                if self.rest.is_last || self.rest.until > self.stop() {
                    return false;
                }
                if self.rest.until > self.now + 1 {
                    self.skip_to(self.rest.until - 1);
                }
            }
        }
        let mut interconnect = self.interconnect;
        let _: Result<(), Infallible> = interconnect.step(|_| Ok(()));
        if !self.exchange.wait_for_arrivals(self.now, interconnect.cycle()) {
            return false;
        }
        self.hear_grants();
        self.hear_takes();
        self.exchange.frees_by = self.now;
        self.now += 1;
        self.exchange.now = self.now;
        self.step();
        self.exchange.say_now_and_then(self.now);
        true
    }

    fn hear_grants(&mut self) {
        self.far.requests.skip_to(self.interconnect.cycle());
        while let Some(grant) = self.exchange.next_grant(self.now) {
            self.far.requests.take(grant.packet.0, grant.output.into(), &grant.packet.1);
        }
    }

    fn hear_takes(&mut self) {
        let (replies, outstanding) = (&mut self.far.replies, &mut self.outstanding);
        self.exchange.drain_takes(self.now, |output, data_bytes| {
            *outstanding -= 1;
            replies.free(output, data_bytes);
        });
    }

    fn skip_to(&mut self, target: u64) {
        let skipped = target - self.now;
        self.now = target;
        self.dram.advance(skipped);
        self.l2.advance(skipped);
        self.interconnect.advance(skipped);
        self.exchange.say(target);
    }

    /// Runs core cycle `now`.
    fn step(&mut self) {
        let FarSide { far, exchange, outstanding, memory, .. } = self;
        let _: Result<(), Infallible> = self.dram.step(|cycle| {
            far.tick_dram(cycle);
            Ok(())
        });
        let _ = self.l2.step(|cycle| far.tick_l2(cycle, memory, exchange));
        let _: Result<(), Infallible> = self.interconnect.step(|cycle| {
            far.tick_interconnect(cycle, &mut Counted(exchange, outstanding));
            Ok(())
        });
    }
}

impl Gpu {
    /// Returns whether the memory system may run beside the SMs in this launch.
    pub(super) fn may_run_beside(&self) -> bool {
        let config = &self.config;
        let (clock, interconnect) = (config.clock, &config.interconnect);
        let most_flits = packet::flits(config.l1d.line_bytes as u16, interconnect.flit_bytes);
        !self.system.shares_ports()
            && self.system.far.is_plain()
            && self.windows.is_some()
            && self.recorder.is_none()
            && self.sampled.is_none()
            && !self.witness.is_there()
            // Either side may run a core cycle beyond the other, or both would wait.
            && interconnect.latency > clock.interconnect_mhz.div_ceil(clock.core_mhz)
            // A packet that is taken some cycles after its grant is still within the horizon of the ejection queues.
            && 2 * most_flits <= interconnect.output_flits
            && clock.interconnect_mhz <= 2 * clock.core_mhz
    }

    /// Runs SMs and memory system beside each other up to core cycle `stop`, before which nothing else looks at the GPU, or over the idle
    /// cycles there, to `until` at most; returns whether it is worth it.
    pub(super) fn run_beside(
        &mut self,
        stop: u64,
        until: u64,
        memory: &mut DeviceMemory,
    ) -> Result<bool, SimFault> {
        if stop < self.now + LEAST_CYCLES {
            return Ok(false);
        }
        let Some(windows) = &mut self.windows else { return Ok(false) };
        windows.pool.stalls = 0;
        let boxes = Arc::clone(&windows.boxes);
        let start = Start {
            now: self.now,
            interconnect: self.interconnect,
            latency: u64::from(self.config.interconnect.latency),
            spins: windows.pool.spins(),
        };
        for mailbox in [&boxes.to_far, &boxes.to_near] {
            mailbox.said.0.time.store(self.now, Ordering::Relaxed);
            mailbox.said.0.has_ended.store(false, Ordering::Relaxed);
            mailbox.wanted.0.time.store(0, Ordering::Relaxed);
            mailbox.wanted.0.stop.store(stop, Ordering::Relaxed);
            *mailbox.batch() = Batch::default();
        }
        let nothing = Box::new(Far::nothing(&self.config));
        let mut side = FarSide {
            far: std::mem::replace(&mut self.system.far, nothing),
            exchange: Exchange::new(&boxes, Side::Far, &start),
            now: self.now,
            interconnect: self.interconnect,
            l2: self.l2,
            dram: self.dram,
            rest: Rest { at: self.now, until: 0, is_last: false },
            memory: DeviceMemory::with_capacity(0),
            outstanding: self.system.near.replies.ejected(),
        };
        side.exchange.helper = Some(windows.pool.helper());
        windows.pool.begin(side);
        let mut exchange = Exchange::new(&boxes, Side::Near, &start);
        let ending = Ending(Arc::clone(&boxes), Side::Near);
        let result = self.run_near(stop, &mut exchange, memory);
        drop(ending);
        let end = self.windows.as_mut().expect("they are there until the GPU ends").pool.end();
        self.system.far = end.far;
        result?;
        debug_assert!(self.now <= end.now, "SMs go no further than the memory system");
        self.interconnect.advance(end.now - self.now);
        self.now = end.now;
        debug_assert_eq!(self.interconnect.cycle(), end.interconnect.cycle());
        (self.l2, self.dram) = (end.l2, end.dram);
        if self.is_stalled(&exchange)
            && let Some(windows) = &mut self.windows
        {
            windows.pace.stall();
        }
        self.settle(exchange.heard, &mut boxes.to_near.batch(), end.heard, &mut boxes.to_far.batch());
        if self.now < stop {
            self.skip_idle_cycles(until)?;
        } else {
            self.take_sample();
        }
        Ok(true)
    }

    /// Lets what one side has said and the other has not heard take effect.
    fn settle(&mut self, near: Batch, to_near: &mut Batch, far: Batch, to_far: &mut Batch) {
        let (near_side, far_side) = (&mut self.system.near, &mut *self.system.far);
        near_side.replies.skip_to(self.interconnect.cycle());
        far_side.requests.skip_to(self.interconnect.cycle());
        for batch in [near, std::mem::take(to_near)] {
            for grant in batch.grants {
                near_side.replies.take(grant.packet.0, grant.output.into(), &grant.packet.1);
            }
            batch.takes.iter().for_each(|take| near_side.requests.free(take.output.into(), take.data_bytes));
        }
        for batch in [far, std::mem::take(to_far)] {
            for grant in batch.grants {
                far_side.requests.take(grant.packet.0, grant.output.into(), &grant.packet.1);
            }
            batch.takes.iter().for_each(|take| far_side.replies.free(take.output.into(), take.data_bytes));
        }
    }

    /// Runs the SMs up to core cycle `stop`, or until nothing is left to do.
    fn run_near(
        &mut self,
        mut stop: u64,
        exchange: &mut Exchange,
        memory: &mut DeviceMemory,
    ) -> Result<(), SimFault> {
        let mut rest = self.rest();
        exchange.unsaid.rests.push_back(rest);
        exchange.say(self.now);
        while self.now < stop {
            let is_quiet = rest.until > self.now;
            if (is_quiet || rest.is_last) && self.system.near.replies.ejected() == 0 {
                // The memory system alone may have something to do, or nothing has.
                if !exchange.wait_for(self.now, self.now + 1, self.now + AT_ONCE) {
                    break;
                }
                let granted = exchange.heard.grants.front().map_or(u64::MAX, |grant| grant.at);
                let last = exchange.known.min(rest.until.max(1) - 1).min(self.next_replay() - 1);
                let last = last.min(stop).min(granted - 1);
                if last > self.now {
                    self.interconnect.advance(last - self.now);
                    self.now = last;
                    exchange.now = last;
                    exchange.say(last);
                    continue;
                }
            }
            if self.is_stalled(exchange) && !self.has_ahead() {
                // No side has passed this cycle, whatever it knows of the other.
                let early =
                    self.now.max(if is_quiet { rest.until } else { 0 }).saturating_add(self.most_lead());
                stop = stop.min(early);
                exchange.theirs().wanted.0.stop.fetch_min(stop, Ordering::Relaxed);
            }
            self.open_window_beside(stop, exchange, memory);
            let mut interconnect = self.interconnect;
            let _: Result<(), Infallible> = interconnect.step(|_| Ok(()));
            if !exchange.wait_for_arrivals(self.now, interconnect.cycle()) {
                break;
            }
            self.step_near(exchange, memory)?;
            let now_rests = self.rest();
            if (now_rests.until, now_rests.is_last) != (rest.until, rest.is_last) {
                rest = now_rests;
                exchange.unsaid.rests.push_back(rest);
            }
            exchange.say_now_and_then(self.now);
        }
        exchange.say(self.now);
        Ok(())
    }

    /// Returns whether the threads wait for each other as if there were no core for each.
    fn is_stalled(&self, exchange: &Exchange) -> bool {
        let windows = self.windows.as_ref().map_or(0, |windows| windows.pool.stalls);
        exchange.stalls + windows > MOST_STALLS
    }

    /// Returns the most core cycles that the memory system may be before the SMs, other than by a jump over idle ones.
    fn most_lead(&self) -> u64 {
        let clock = &self.config.clock;
        let cycles = u64::from(self.config.interconnect.latency) * u64::from(clock.core_mhz);
        cycles.div_ceil(u64::from(clock.interconnect_mhz)) + 2
    }

    /// Returns how the SMs rest after this cycle.
    fn rest(&mut self) -> Rest {
        let sends = self.system.near.requests.busy();
        // Room for a packet comes when the one before it has crossed.
        let is_awake = self.may_dispatch
            || self.wakes.has_next()
            || sends
            || self.runs_ahead_next()
            || self.port_waits.contains(&true);
        let ahead = if is_awake { 0 } else { self.first_ahead() };
        let until = if is_awake { 0 } else { ahead.min(self.wakes.first()) };
        let has_ended = self.running.is_empty() && !sends && !self.has_ahead();
        Rest { at: self.now, until, is_last: has_ended && self.sms.iter().all(super::Sm::is_idle) }
    }

    /// Runs the SMs' side of a core cycle.
    fn step_near(&mut self, exchange: &mut Exchange, memory: &mut DeviceMemory) -> Result<(), SimFault> {
        self.dispatch_if_any();
        self.now += 1;
        (exchange.now, exchange.frees_by) = (self.now, self.now);
        let Near { requests, replies, .. } = &mut self.system.near;
        replies.skip_to(self.interconnect.cycle());
        while let Some(grant) = exchange.next_grant(self.now) {
            replies.take(grant.packet.0, grant.output.into(), &grant.packet.1);
        }
        exchange.drain_takes(self.now, |output, data_bytes| requests.free(output, data_bytes));
        let _: Result<(), Infallible> = self.interconnect.step(|cycle| {
            replies.tick(cycle);
            requests.tick(cycle, exchange);
            Ok(())
        });
        self.tick_sms(memory, Some(exchange))?;
        self.count_finished();
        Ok(())
    }
}
