//! Fast-forward: execution of the resident CTAs without timing, between parts of a launch that are simulated in detail.
use super::Gpu;
use super::launches::Launches;
use super::pace::{Pace, Time};
use super::untimed::CacheWarmer;
use crate::sm::Sm;
use crate::sm::fault::SimFault;
use crate::sm::scheduler::{WarpMask, warps_of};
use crate::sm::untimed::UntimedExecution;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{AccessKind, FunctionalStats, MemAccess};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;

/// Events between two checks of the controller's stop request.
const EVENTS_PER_CHECK: u64 = 1 << 12;

/// An event of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ProgressEvent {
    /// The next instruction of a warp may execute.
    Warp(u8),
    /// The load/store unit may have room.
    Room,
}

/// An SM during a fast-forward.
#[derive(Clone, Debug)]
struct SmProgress {
    /// Warps with an event.
    coming: WarpMask,
    /// Warps that wait for room in the load/store unit.
    waiting: WarpMask,
    /// `true` if [`ProgressEvent::Room`] comes.
    awaits_room: bool,
    /// Times at which the loads of each warp end.
    data_at: Vec<Time>,
}

impl SmProgress {
    fn new(warps: usize) -> Self {
        SmProgress { coming: 0, waiting: 0, awaits_room: false, data_at: vec![0; warps] }
    }
}

/// The execution of the resident CTAs and of the CTAs that replace them, while nothing is in flight.
struct FastForward<'a> {
    sms: &'a mut [Sm],
    launches: &'a mut Launches,
    warmer: CacheWarmer<'a>,
    execution: UntimedExecution<'a>,
    pace: Pace,
    events: BinaryHeap<Reverse<(Time, usize, ProgressEvent)>>,
    progress: Vec<SmProgress>,
    now: u64,
}

impl FastForward<'_> {
    /// Adds events of the warps that can execute from time `at` on, and have none.
    fn wake(&mut self, id: usize, warps: WarpMask, at: Time) {
        let sm = &mut self.progress[id];
        let new = warps & !(sm.coming | sm.waiting);
        sm.coming |= new;
        self.events.extend(warps_of(new).map(|warp| Reverse((at, id, ProgressEvent::Warp(warp)))));
    }

    /// Gives CTAs to SMs at time `at`.
    fn dispatch(&mut self, at: Time) {
        while self.launches.may_dispatch {
            let mut took = Vec::new();
            self.launches.dispatch(self.now, 0, self.sms, self.execution.memory, |id| took.push(id));
            took.into_iter().for_each(|id| self.wake(id, self.sms[id].executable_warps(), at));
        }
    }

    /// Handles the next event. Returns `false` if no warp can execute.
    fn step(&mut self) -> Result<bool, SimFault> {
        let Some(Reverse((at, id, event))) = self.events.pop() else { return self.force() };
        match event {
            ProgressEvent::Room => self.progress[id].awaits_room = false,
            ProgressEvent::Warp(warp) => {
                self.progress[id].coming &= !(1 << warp);
                if self.sms[id].is_at_memory(warp) {
                    self.progress[id].waiting |= 1 << warp;
                } else {
                    self.turn(id, warp, at)?;
                }
            }
        }
        self.serve(id, at)?;
        Ok(true)
    }

    /// Lets warps execute memory instructions while the load/store unit has room.
    fn serve(&mut self, id: usize, at: Time) -> Result<(), SimFault> {
        while self.progress[id].waiting != 0 {
            if let Some(free_at) = self.pace.room_at(id, at) {
                if !self.progress[id].awaits_room {
                    self.progress[id].awaits_room = true;
                    self.events.push(Reverse((free_at, id, ProgressEvent::Room)));
                }
                break;
            }
            let Some(warp) = self.sms[id].choose_untimed(self.progress[id].waiting) else { break };
            self.progress[id].waiting &= !(1 << warp);
            self.turn(id, warp, at)?;
        }
        Ok(())
    }

    /// Lets a warp execute that no scheduler would choose. Returns `false` without one.
    fn force(&mut self) -> Result<bool, SimFault> {
        let Some(id) = self.progress.iter().position(|sm| sm.waiting != 0) else { return Ok(false) };
        let warp = self.progress[id].waiting.trailing_zeros() as u8;
        self.progress[id].waiting &= !(1 << warp);
        self.turn(id, warp, 0)?;
        Ok(true)
    }

    /// Gives a warp a turn.
    fn turn(&mut self, id: usize, warp: u8, at: Time) -> Result<(), SimFault> {
        let FastForward { sms, warmer, execution, pace, .. } = self;
        let sm = &mut sms[id];
        let mut see = |sm: &mut Sm, slot, access: &MemAccess| {
            let is_store = access.kind == AccessKind::Store;
            warmer.see(sm, slot, access, |slice, level, sectors| match is_store {
                true => pace.store(id, at),
                false => pace.read(id, at, slice.into(), level, sectors.into()),
            });
            pace.end_access(id);
        };
        let turn = sm.take_turn(warp, execution, &mut see)?;
        let (mut end, data_at) = pace.end_turn(id, at, turn.instructions, turn.latency);
        let loads_end = &mut self.progress[id].data_at[usize::from(warp)];
        *loads_end = data_at.max(*loads_end);
        if sm.can_execute(warp) && sm.take_data(warp) {
            end = end.max(*loads_end);
        }
        // The turn may have released the warp itself, and ended it.
        let goes_on = WarpMask::from(sm.can_execute(warp)) << warp;
        sm.take_finished(&mut self.launches.finished);
        self.wake(id, turn.released & !(1 << warp) | goes_on, end);
        if !self.launches.finished.is_empty() {
            self.launches.count_finished();
            self.dispatch(end);
        }
        Ok(())
    }
}

impl Gpu {
    /// Executes the launches in progress without timing until `is_enough` of the numbers of instructions returns `true`, or to their
    /// end. Returns these numbers. First lets everything in flight end. Then the warps execute in the order of a simple model of
    /// time ([`Pace`]), and new CTAs replace ended ones. Accesses update the tags of the L1Ds and the L2. Quotas do not apply.
    ///
    /// # Errors
    /// Returns the fault of the kernel, a deadlock, an interrupt or the timeout.
    pub fn fast_forward(
        &mut self,
        is_enough: impl Fn(&FunctionalStats) -> bool,
        memory: &mut DeviceMemory,
    ) -> Result<FunctionalStats, SimFault> {
        let quotas: Vec<_> = self.sms.iter_mut().map(|sm| sm.pause()).collect();
        self.settle(memory)?;
        let now = self.now;
        self.sms.iter_mut().for_each(|sm| sm.begin_untimed(now));
        self.launches.running.iter_mut().for_each(|running| running.from = running.from.min(now));
        let mut all = FastForward {
            progress: vec![SmProgress::new(self.config.sm.warps as usize); self.sms.len()],
            sms: &mut self.sms,
            launches: &mut self.launches,
            warmer: CacheWarmer::new(&self.config, &mut self.system, now),
            execution: UntimedExecution::new(memory, now),
            pace: Pace::new(&self.config),
            events: BinaryHeap::new(),
            now,
        };
        (0..all.sms.len()).for_each(|id| all.wake(id, all.sms[id].executable_warps(), 0));
        all.dispatch(0);
        let mut events: u64 = 0;
        while !is_enough(&all.execution.executed) && !all.launches.running.is_empty() {
            if events.is_multiple_of(EVENTS_PER_CHECK) {
                self.watchdog.report(now)?;
                let done = all.launches.running.iter().map(|running| running.done).sum();
                self.watchdog.control.ctas_done.store(done, Ordering::Relaxed);
            }
            events += 1;
            if !all.step()? {
                return Err(self.deadlock());
            }
        }
        let executed = all.execution.executed;
        // All warps poll without timing.
        all.execution.memory.clusters_mut().take_woken();
        for (id, (sm, quotas)) in self.sms.iter_mut().zip(quotas).enumerate() {
            sm.go_on(quotas);
            self.wakes.set(id, now, now + 1);
        }
        Ok(executed)
    }

    /// Runs cycles until nothing is in flight. The SMs are paused.
    fn settle(&mut self, memory: &mut DeviceMemory) -> Result<(), SimFault> {
        while !self.is_settled() {
            match self.advance(u64::MAX, memory) {
                // Paused warps look like a deadlock.
                Err(SimFault::Deadlock { .. }) if self.is_settled() => {}
                advanced => advanced?,
            }
        }
        Ok(())
    }

    fn is_settled(&self) -> bool {
        !self.system.busy() && self.sms.iter().all(|sm| sm.is_settled())
    }

    /// Runs the launches in progress until `count` warp instructions have issued since the beginning of the simulation, except
    /// in [`Self::fast_forward`], or until all CTAs have ended.
    ///
    /// # Errors
    /// As [`Gpu::run`].
    pub fn run_until_issued(&mut self, count: u64, memory: &mut DeviceMemory) -> Result<(), SimFault> {
        let sm = &self.config.sm;
        let most_per_cycle = u64::from(sm.count) * u64::from(sm.schedulers);
        while let Some(left) = count.checked_sub(self.warp_instructions()).filter(|left| *left > 0) {
            // The sum over the SMs is slow, and the count cannot be reached earlier.
            let until = self.now + (left / most_per_cycle).max(1);
            while self.now < until {
                if self.launches.running.is_empty() {
                    return Ok(());
                }
                self.advance(until, memory)?;
            }
        }
        Ok(())
    }
}
