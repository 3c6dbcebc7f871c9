//! Windows: cycles through which SMs run ahead of the memory system, each on any thread.
//!
//! What is not ahead, the memory system first of all, follows cycle by cycle as without windows, and what the others have done is
//! replayed beside it, in the order of cycles and SMs ([`crate::sm::ahead`]).
use super::Gpu;
use super::beside::{Exchange, Mailboxes};
use super::pace::Pace;
use super::pool::{Job, Pool};
use crate::config::GpuConfig;
use crate::id_set::IdSet;
use crate::packet;
use crate::sm::SimFault;
use crate::sm::ahead::{Ahead, Link};
use crate::sm::feed::Feed;
use selvedge_ptx::memory::DeviceMemory;
use std::convert::Infallible;
use std::sync::Arc;

/// The longest window, core cycles.
const MOST_CYCLES: u64 = 64;

/// The shortest one that is worth it.
const LEAST_CYCLES: u64 = 2;

/// Fewer SMs with something to do are not worth a window.
const LEAST_SMS: usize = 2;

/// How SMs run ahead.
pub(super) struct Windows {
    pub(super) pool: Pool,
    /// What SMs and memory system leave for each other when they run beside each other.
    pub(super) boxes: Arc<Mailboxes>,
    /// Whether they do.
    pub(super) pace: Pace,
    /// The SMs that are about to run ahead.
    jobs: Vec<Job>,
    /// What each SM is given and leaves.
    aheads: Vec<Option<Box<Ahead>>>,
    /// The SMs with something to do in the window.
    active: Vec<usize>,
    /// Those of them whose replies have not all left their slices' ports.
    later: IdSet,
    /// The SMs that are ahead.
    running: IdSet,
    /// The cycle before the window.
    begin: u64,
    /// The cycles of the window in which some SM that is ahead runs, one bit each.
    ran: u64,
    /// Per cycle of the window, the SMs that run in it or are ahead no more after it.
    replays: Vec<IdSet>,
    /// Whether SMs may run ahead in this launch.
    is_allowed: bool,
    /// No window opens before this cycle.
    not_before: u64,
    /// Per cycle of a window, the last crossbar cycle in it.
    ticks: Vec<u64>,
    /// Flits of the largest packet that an SM sends.
    most_flits: u32,
}

impl Gpu {
    /// Runs SMs on `count` threads from now on, that of the caller included; nothing depends on their number. What does not stand
    /// alone runs on the caller's thread whatever the number.
    pub fn set_threads(&mut self, count: usize) {
        if count < 2 {
            self.windows = None;
            return;
        }
        let sms = self.sms.len();
        let ahead = || Box::<Ahead>::default();
        self.windows = Some(Box::new(Windows {
            pool: Pool::new(count.min(sms + 1)),
            boxes: Arc::default(),
            pace: Pace::new(),
            jobs: Vec::with_capacity(sms),
            aheads: (0..sms).map(|_| Some(ahead())).collect(),
            active: Vec::with_capacity(sms),
            later: IdSet::new(sms),
            running: IdSet::new(sms),
            begin: 0,
            ran: 0,
            replays: (0..MOST_CYCLES).map(|_| IdSet::new(sms)).collect(),
            is_allowed: false,
            not_before: 0,
            ticks: Vec::new(),
            most_flits: most_flits(&self.config),
        }));
    }

    /// Returns whether an SM is ahead.
    #[inline]
    pub(super) fn is_ahead(&self, id: usize) -> bool {
        self.windows.as_ref().is_some_and(|windows| windows.running.contains(id))
    }

    /// Returns whether any SM is ahead.
    #[inline]
    pub(super) fn has_ahead(&self) -> bool {
        self.windows.as_ref().is_some_and(|windows| !windows.running.is_empty())
    }

    /// Has what the SMs ahead do in this cycle replayed.
    #[inline]
    pub(super) fn wake_ahead(&mut self) {
        if let Some(windows) = &mut self.windows
            && !windows.running.is_empty()
        {
            self.due.take_all(&mut windows.replays[(self.now - windows.begin - 1) as usize]);
        }
    }

    /// Returns whether an SM that is ahead runs in the next cycle.
    #[inline]
    pub(super) fn runs_ahead_next(&self) -> bool {
        self.windows.as_ref().is_some_and(|windows| {
            !windows.running.is_empty() && windows.ran_after(self.now).is_some_and(|at| at == self.now + 1)
        })
    }

    /// Returns the next cycle in which an SM that is ahead runs; `u64::MAX` when none does any more, and then none is ahead.
    pub(super) fn first_ahead(&mut self) -> u64 {
        let Some(windows) = &mut self.windows else { return u64::MAX };
        if windows.running.is_empty() {
            return u64::MAX;
        }
        if let Some(next) = windows.ran_after(self.now) {
            return next;
        }
        let mut from = 0;
        while let Some(id) = windows.running.next(from) {
            from = id + 1;
            windows.running.remove(id);
            if let Some(ahead) = &windows.aheads[id] {
                self.wakes.set(id, self.now, ahead.wake);
            }
        }
        u64::MAX
    }

    /// Returns the next cycle after which something is to be replayed or an SM is ahead no more; `u64::MAX` when none is ahead.
    pub(super) fn next_replay(&self) -> u64 {
        let Some(windows) = self.windows.as_ref().filter(|windows| !windows.running.is_empty()) else {
            return u64::MAX;
        };
        let mut later = windows.replays.iter().skip((self.now - windows.begin) as usize);
        later.position(|sms| !sms.is_empty()).map_or(u64::MAX, |cycles| self.now + 1 + cycles as u64)
    }

    /// Decides whether SMs may run ahead in the launch that is the only one.
    pub(super) fn allow_windows(&mut self) {
        let Some(windows) = &mut self.windows else { return };
        let [running] = &self.running[..] else { return };
        let (kernel, sm) = (&running.kernel, &self.config.sm);
        let is_plain = matches!(kernel.feed, Feed::Execute) && !kernel.kernel.needs_whole_memory();
        // A warp's end must not make room for a CTA: only a CTA's does.
        let by_threads = sm.threads <= sm.warps * 32;
        let stand_alone = self.sms.iter().all(crate::sm::Sm::stands_alone);
        windows.is_allowed = is_plain && by_threads && stand_alone && !self.system.shares_ports();
        windows.not_before = 0;
    }

    /// Lets SMs run ahead, if it is worth it: until the first cycle at whose end something else looks at them, and no further than
    /// what is known now suffices for.
    #[inline]
    pub(super) fn open_window(&mut self, until: u64, memory: &mut DeviceMemory) {
        if self.may_open_window() {
            let known = self.interconnect.cycle() + u64::from(self.config.interconnect.latency) - 1;
            self.run_ahead(until, memory, known, None);
        }
    }

    /// The same while the memory system runs beside the SMs.
    pub(super) fn open_window_beside(
        &mut self,
        until: u64,
        exchange: &mut Exchange,
        memory: &mut DeviceMemory,
    ) {
        if self.may_open_window()
            && let Some(known) = exchange.horizon(self.now)
        {
            self.run_ahead(until, memory, known, Some(exchange));
        }
    }

    fn may_open_window(&self) -> bool {
        self.windows.as_ref().is_some_and(|windows| windows.not_before <= self.now && windows.is_allowed)
            && !self.may_dispatch
            && !self.has_ahead()
            && self.now < self.next_look
    }

    /// Lets SMs run ahead until core cycle `until` at most, when all replies up to crossbar cycle `known` are known.
    fn run_ahead(&mut self, until: u64, memory: &mut DeviceMemory, known: u64, beside: Option<&Exchange>) {
        let Some(mut windows) = self.windows.take() else { return };
        let end = self.window_end(known, &mut windows.ticks).min(until);
        let horizon = windows.ticks.last().copied().unwrap_or(0);
        let mut active = std::mem::take(&mut windows.active);
        active.clear();
        windows.later.clear();
        if let Some(exchange) = beside {
            exchange.receivers(horizon, &mut windows.later);
        }
        active.extend((0..self.sms.len()).filter(|id| {
            let has_reply = || self.system.coming_replies(*id).next().is_some_and(|(at, _)| *at <= horizon);
            self.wakes.is_due_by(*id, end) || windows.later.contains(*id) || has_reply()
        }));
        if end < self.now + LEAST_CYCLES || active.len() < LEAST_SMS {
            windows.not_before = self.now + end.saturating_sub(self.now).div_ceil(2).max(1);
            windows.active = active;
            self.windows = Some(windows);
            return;
        }
        let slot = self.running.first().map_or(0, |running| running.kernel.slot);
        memory.select(slot);
        memory.take_written();
        let stops_at_cta = self.has_ctas_left();
        for id in active.drain(..) {
            let room = self.system.room(id);
            if self.port_waits[id] || room < windows.most_flits {
                continue;
            }
            let Some(mut ahead) = windows.aheads[id].take() else { continue };
            ahead.begin();
            // Those that have left their slices' ports, and those that will within the window.
            let later = beside.filter(|_| windows.later.contains(id));
            let later = later.into_iter().flat_map(|exchange| exchange.coming(id));
            let coming = self.system.coming_replies(id).chain(later).take_while(|(at, _)| *at <= horizon);
            ahead.port.replies.extend(coming.map(|(at, packet)| {
                let cycles = windows.ticks.partition_point(|tick| tick < at) as u64;
                (self.now + 1 + cycles, *packet)
            }));
            ahead.port.room = room;
            ahead.port.flit_bytes = self.config.interconnect.flit_bytes;
            ahead.most_flits = windows.most_flits;
            ahead.stops_at_cta = stops_at_cta;
            ahead.wake = self.wakes.suspend(id, self.now);
            windows.jobs.push(Job { id, sm: self.sms.take(id), ahead, window: (self.now, end) });
        }
        windows.active = active;
        windows.begin = self.now;
        windows.ran = 0;
        // The SMs of a window that idle cycles cut short are left.
        windows.replays.iter_mut().take((end - self.now) as usize).for_each(IdSet::clear);
        let Windows { pool, jobs, aheads, running, ran, replays, .. } = &mut *windows;
        pool.run(jobs, memory, |Job { id, sm, ahead, .. }| {
            if ahead.until > self.now {
                running.insert(id);
                *ran |= ahead.ran;
                let mut left = ahead.ran | 1 << (ahead.until - self.now - 1);
                while left != 0 {
                    replays[left.trailing_zeros() as usize].insert(id);
                    left &= left - 1;
                }
            } else {
                self.wakes.set(id, self.now, ahead.wake);
            }
            self.sms.put(id, sm);
            aheads[id] = Some(ahead);
        });
        self.windows = Some(windows);
    }

    /// Returns the last cycle of a window that begins now, and the last crossbar cycle in each of its cycles, none after `known`:
    /// no reply arrives by then that is not known, and no value is used that is loaded in it.
    fn window_end(&self, known: u64, ticks: &mut Vec<u64>) -> u64 {
        let sample = self.sampling.map_or(u64::MAX, |sampling| sampling.next);
        let use_of_values = u64::from(self.config.l1d.hit_latency).saturating_sub(1);
        let end = (self.now + use_of_values.min(MOST_CYCLES)).min(self.next_look).min(sample);
        let mut interconnect = self.interconnect;
        ticks.clear();
        for _ in self.now..end {
            let _: Result<(), Infallible> = interconnect.step(|_| Ok(()));
            if interconnect.cycle() > known {
                break;
            }
            ticks.push(interconnect.cycle());
        }
        self.now + ticks.len() as u64
    }

    /// Lets what an SM that is ahead has done in this cycle take effect.
    ///
    /// # Errors
    /// What the SM found wrong.
    pub(super) fn replay(
        &mut self,
        id: usize,
        memory: &mut DeviceMemory,
        beside: Option<&mut Exchange>,
    ) -> Result<(), SimFault> {
        let Some(windows) = &mut self.windows else { return Ok(()) };
        let Some(ahead) = &mut windows.aheads[id] else { return Ok(()) };
        let link = match beside {
            Some(exchange) => Link::Beside(&mut self.system.near, exchange),
            None => Link::System(&mut self.system),
        };
        self.sms[id].replay(ahead, self.now, memory, link, &mut self.finished)?;
        if ahead.until == self.now {
            windows.running.remove(id);
            self.wakes.set(id, self.now, ahead.wake);
        }
        Ok(())
    }
}

impl Windows {
    /// Returns the first cycle after `now` in which an SM that is ahead runs.
    fn ran_after(&self, now: u64) -> Option<u64> {
        let left = self.ran.checked_shr((now - self.begin) as u32).unwrap_or(0);
        (left != 0).then(|| now + 1 + u64::from(left.trailing_zeros()))
    }
}

/// Returns the flits of the largest packet that an SM sends: a line with its header.
fn most_flits(config: &GpuConfig) -> u32 {
    packet::flits(config.l1d.line_bytes as u16, config.interconnect.flit_bytes)
}
