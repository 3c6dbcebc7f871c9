//! The SM part of prefetching: the loads that wait for assist warps, and the lines that wait for the L1D's port.
//!
//! Assist warps have low priority: they issue in cycles in which a scheduler issues nothing else. A warp has at most one assist
//! warp. When a warp ends, its assist warp and queued prefetches end, and only lines in flight remain.
use super::EVENT;
use super::counters::PrefetchCounters;
use super::metadata::WarpMetadata;
use crate::deployment::{AssistControllers, Deployment, Wanted};
use crate::instruction::AssistOp;
use crate::lanes::{LANES, Lanes, ParentLoad};
use crate::routine::Routines;
use crate::warp::{AssistLatencies, AssistWarp};
use selvedge_gpu::has;
use selvedge_gpu::mechanism::MechanismCounters;
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::sm::part::{
    AssistIssue, Extras, IssueReport, L1dEvent, L1dObserver, Load, Prefetch, Prefetched, Prefetcher, SmPart,
    WarpObserver,
};
use selvedge_gpu::sm::pipes::PipeKind;
use selvedge_gpu::stage::MechanismFault;
use selvedge_gpu::stats::AccessResult;
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::{DeviceMemory, physical, program_of, within_program};
use selvedge_ptx::ptx::LOCAL_REGION;
use selvedge_state::State;
use std::collections::{BTreeSet, VecDeque};

/// Max loads of an SM that wait for an assist warp.
const TRIGGERS: usize = 16;

/// The settings that the options and the configuration give.
#[derive(Clone, Copy, Debug, State)]
pub(super) struct PrefetchSettings {
    /// Max load instructions per warp with metadata.
    pub(super) loads: usize,
    /// The controllers, with their throttles.
    pub(super) controllers: AssistControllers,
    /// Latencies of assist-warp instructions.
    pub(super) latencies: AssistLatencies,
    /// Bytes of a line of the L1D.
    pub(super) line_bytes: u64,
}

/// A load that waits for an assist warp or has one.
#[derive(Clone, Copy, State)]
struct TriggeringLoad {
    kernel: u8,
    warp: u8,
    pc: u32,
    /// The lanes, one for each line transaction of the load.
    mask: u32,
    /// The numbers of their lines.
    lines: [u64; LANES],
    /// The program of the lines.
    program: u8,
}

/// A line that waits for the L1D's port.
#[derive(Clone, Copy, State)]
struct WaitingLine {
    /// First cycle in which the address is ready.
    from: u64,
    prefetch: Prefetch,
}

#[derive(State)]
pub(super) struct PrefetchSm {
    assists: Deployment<TriggeringLoad>,
    options: PrefetchSettings,
    /// The load whose line transactions are being decided.
    coming: Option<TriggeringLoad>,
    /// Loads that have no assist warp yet, the oldest first.
    triggers: VecDeque<TriggeringLoad>,
    metadata: Vec<WarpMetadata>,
    queue: VecDeque<WaitingLine>,
    /// Prefetched lines, in flight or in the L1D, that no load has requested yet.
    unjudged: BTreeSet<u64>,
    counters: PrefetchCounters,
}

impl PrefetchSm {
    /// Returns the part of an SM. In its first cycles the controller loads the assist warp store.
    pub(super) fn new(id: u32, options: PrefetchSettings, routines: Routines, probes: &Probes) -> Self {
        PrefetchSm {
            assists: Deployment::new(id, &options.controllers, options.latencies, routines, probes),
            options,
            coming: None,
            triggers: VecDeque::new(),
            metadata: (0..options.controllers.warps).map(|_| WarpMetadata::default()).collect(),
            queue: VecDeque::new(),
            unjudged: BTreeSet::new(),
            counters: PrefetchCounters::default(),
        }
    }

    /// Adds a line transaction to the load's trigger, which is complete with the load's last one.
    fn follow(&mut self, load: &Load) {
        if within_program(load.line) >= LOCAL_REGION {
            return;
        }
        if load.index == 0 {
            self.coming = None;
        }
        let Load { kernel, warp, pc, line, .. } = *load;
        let mut trigger = self.coming.take().unwrap_or(TriggeringLoad {
            kernel,
            warp,
            pc,
            mask: 0,
            lines: [0; LANES],
            program: program_of(line),
        });
        if let Some(own) = trigger.lines.get_mut(usize::from(load.index)) {
            *own = line / self.options.line_bytes;
            trigger.mask |= 1 << load.index;
        }
        if load.last { self.want(trigger) } else { self.coming = Some(trigger) }
    }

    /// Queues a load for an assist warp.
    fn want(&mut self, trigger: TriggeringLoad) {
        let is_same = |other: &TriggeringLoad| (other.warp, other.pc) == (trigger.warp, trigger.pc);
        if self.triggers.len() >= TRIGGERS || self.triggers.iter().any(is_same) {
            self.counters.not_followed += 1;
        } else {
            self.triggers.push_back(trigger);
        }
    }

    /// Returns the next load for an assist warp: the oldest one whose parent has none.
    fn next_trigger(&self) -> Option<usize> {
        self.triggers.iter().position(|trigger| !self.assists.has_assist(trigger.warp))
    }

    /// Starts the assist warp of a trigger that the controller has accepted.
    fn start(&mut self, at: usize) {
        let Some(trigger) = self.triggers.remove(at) else { return };
        let warp = usize::from(trigger.warp);
        let (metadata, replaces) = self.metadata[warp].take(trigger.pc, self.options.loads);
        let load = ParentLoad { lines: trigger.lines, metadata, ..ParentLoad::default() };
        self.assists.start(trigger.warp, false, trigger, Lanes::of_load(load));
        self.counters.replaced += u64::from(replaces);
    }

    /// Removes finished assist warps, and stores their metadata for their parents.
    fn finish(&mut self, now: u64) {
        while let Some(AssistWarp { warp, work, lanes, .. }) = self.assists.take_done(now) {
            self.metadata[usize::from(warp)].put(work.pc, lanes.load.metadata);
        }
    }

    /// Queues the lines that a load's assist warp prefetches. Successive equal lines are queued once.
    fn send(&mut self, trigger: &TriggeringLoad, mut numbers: Vec<u64>, now: u64) {
        let TriggeringLoad { kernel, warp, program, .. } = *trigger;
        numbers.dedup();
        let from = now + self.options.latencies.store;
        for number in numbers {
            self.counters.prefetches += 1;
            let line = number.checked_mul(self.options.line_bytes);
            match line.filter(|line| physical(program, within_program(*line)) == *line) {
                Some(line) => {
                    self.queue.push_back(WaitingLine { from, prefetch: Prefetch { kernel, warp, line } })
                }
                None => self.counters.beyond += 1,
            }
        }
    }

    /// Counts a prefetched line as useful, late or useless when a load requests it.
    fn judge(&mut self, line: u64, decision: AccessResult) {
        if !self.unjudged.remove(&line) {
            return;
        }
        let PrefetchCounters { useful, late, useless, .. } = &mut self.counters;
        *match decision {
            AccessResult::Hit => useful,
            AccessResult::Pending => late,
            // The line was evicted before the load.
            AccessResult::Miss | AccessResult::SectorMiss => useless,
        } += 1;
    }

    /// Counts prefetched lines as useless that leave before a load has requested them.
    fn lose(&mut self, leaves: impl Fn(u64) -> bool) {
        let before = self.unjudged.len();
        self.unjudged.retain(|line| !leaves(*line));
        self.counters.useless += (before - self.unjudged.len()) as u64;
    }
}

impl SmPart for PrefetchSm {
    fn tick(&mut self, now: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        self.assists.check()?;
        self.finish(now);
        let next = self.next_trigger();
        let wanted = next.map(|at| {
            let TriggeringLoad { warp, mask, .. } = self.triggers[at];
            Wanted { event: EVENT, warp, mask: Some(mask) }
        });
        if self.assists.step(now, wanted)?
            && let Some(at) = next
        {
            self.start(at);
        }
        Ok(())
    }

    fn busy(&self) -> bool {
        self.assists.busy() || !self.triggers.is_empty() || !self.queue.is_empty()
    }

    fn is_drained(&self) -> bool {
        self.queue.is_empty()
    }

    fn counters(&self, out: &mut MechanismCounters) {
        self.assists.count(out);
        self.counters.report(self.unjudged.len() as u64, out);
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.assists.traces());
    }

    has!(assist: AssistIssue, prefetcher: Prefetcher, l1d_observer: L1dObserver, warp_observer: WarpObserver);
}

impl AssistIssue for PrefetchSm {
    fn extras(&mut self, now: u64) -> Option<Extras> {
        // The queue can hold the lines of one assist warp.
        let has_room = self.queue.is_empty() || self.assists.waiting_low() != Some(AssistOp::Pref);
        self.assists.extras(now).filter(|_| has_room)
    }

    fn issue_idle_extra(&mut self, now: u64) {
        let Some(assist) = self.assists.issue_idle_extra(now) else { return };
        let (trigger, numbers) = (assist.work, std::mem::take(&mut assist.lanes.load.prefetched));
        self.send(&trigger, numbers, now);
    }

    fn issue_ended(&mut self, report: &IssueReport) {
        let mut report = *report;
        report.busy[PipeKind::Memory as usize] |= report.memory_waits;
        self.assists.issue_ended(&report);
    }

    /// Issues nothing, because all assist warps here have low priority.
    fn issue_extra(&mut self, _: u64, _: u8) -> u32 {
        0
    }
}

impl Prefetcher for PrefetchSm {
    fn prefetch(&mut self, now: u64) -> Option<Prefetch> {
        self.queue.front().filter(|waiting| waiting.from <= now)?;
        self.queue.pop_front().map(|waiting| waiting.prefetch)
    }
}

impl L1dObserver for PrefetchSm {
    fn l1d_event(&mut self, _: u64, event: &L1dEvent) {
        match event {
            L1dEvent::Load { load, decision } => {
                self.judge(load.line, *decision);
                self.follow(load);
            }
            L1dEvent::Prefetch { line, outcome } => {
                self.counters.decide(*outcome);
                if *outcome == Prefetched::Sent {
                    // An earlier prefetch of this line has left the L1D without an event.
                    self.lose(|own| own == *line);
                    self.unjudged.insert(*line);
                }
            }
            L1dEvent::Evicted { line, .. } => self.lose(|own| own == *line),
            L1dEvent::Flushed { program: None } => self.lose(|_| true),
            L1dEvent::Flushed { program: Some(program) } => self.lose(|own| program_of(own) == *program),
            L1dEvent::Fetched(_) | L1dEvent::PredictionUsed(_) | L1dEvent::Returned { .. } => {}
        }
    }
}

impl WarpObserver for PrefetchSm {
    fn stores_awaited(&mut self, _: u8, _: bool) {}

    fn warp_exited(&mut self, warp: u8) {
        self.coming = self.coming.filter(|trigger| trigger.warp != warp);
        let (triggers, waiting) = (self.triggers.len(), self.queue.len());
        self.triggers.retain(|trigger| trigger.warp != warp);
        self.queue.retain(|waiting| waiting.prefetch.warp != warp);
        self.counters.ended += (triggers - self.triggers.len()) as u64;
        self.counters.orphaned += (waiting - self.queue.len()) as u64;
        self.assists.abandon(warp);
        self.metadata[usize::from(warp)].clear();
    }
}
