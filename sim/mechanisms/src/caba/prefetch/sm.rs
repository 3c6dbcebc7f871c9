//! The SM's share of prefetching: the loads that wait for assist warps, and the lines that wait for the L1D's port.
//!
//! Assist warps have low priority: they issue in cycles in which a scheduler has nothing else. A warp has at most one assist warp; nothing of it outlives the warp but lines that are in flight.
use super::EVENT;
use super::counters::Counters;
use super::metadata::WarpMetadata;
use crate::caba::deployment::{Deployment, WARPS, Wanted};
use crate::caba::instruction::Op;
use crate::caba::lanes::{LANES, Lanes, ParentLoad};
use crate::caba::routine::Routines;
use crate::caba::warp::{AssistWarp, Latencies};
use selvedge_blocks::assist::awc::AwcParams;
use selvedge_gpu::has;
use selvedge_gpu::mechanism::MechanismCounters;
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::sm::part::{
    AssistIssue, Extras, IssueReport, L1dEvent, L1dObserver, Load, Prefetch, Prefetched, Prefetcher, SmPart,
    WarpObserver,
};
use selvedge_gpu::sm::pipes::PipeKind;
use selvedge_gpu::stage::MechanismFault;
use selvedge_gpu::stats::Decision;
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::{DeviceMemory, physical, program_of, within_program};
use selvedge_ptx::ptx::LOCAL_REGION;
use selvedge_state::State;
use std::collections::{BTreeSet, VecDeque};

/// Loads that wait for an assist warp, in an SM.
const TRIGGERS: usize = 16;

/// What the options and the configuration ask for.
#[derive(Clone, Copy, Debug, State)]
pub(super) struct Options {
    /// Load instructions that each warp keeps metadata for.
    pub(super) loads: usize,
    /// When the controller throttles.
    pub(super) throttle: AwcParams,
    /// Cycles that assist-warp instructions take.
    pub(super) latencies: Latencies,
    /// Bytes of a line of the L1D.
    pub(super) line_bytes: u64,
}

/// A load that wants an assist warp or has one.
#[derive(Clone, Copy, State)]
struct Trigger {
    kernel: u8,
    warp: u8,
    pc: u32,
    /// The lanes, one for each line transaction that was looked up.
    mask: u32,
    /// The numbers of their lines.
    lines: [u64; LANES],
    /// Of which program the lines are.
    program: u8,
}

/// A line that waits for the L1D's port.
#[derive(Clone, Copy, State)]
struct Waiting {
    /// First cycle in which its address is there.
    from: u64,
    prefetch: Prefetch,
}

/// The assist warps of one SM.
#[derive(State)]
pub(super) struct PrefetchSm {
    assists: Deployment<Trigger>,
    options: Options,
    /// The load whose line transactions are being decided.
    coming: Option<Trigger>,
    /// Loads that have no assist warp yet, the oldest first.
    triggers: VecDeque<Trigger>,
    metadata: Vec<WarpMetadata>,
    queue: VecDeque<Waiting>,
    /// Prefetched lines that no load has asked for yet, in flight or in the L1D.
    unjudged: BTreeSet<u64>,
    counters: Counters,
}

impl PrefetchSm {
    /// An SM whose assist warp store is being loaded.
    pub(super) fn new(id: u32, options: Options, routines: Routines, probes: &Probes) -> Self {
        PrefetchSm {
            assists: Deployment::new(id, &options.throttle, options.latencies, routines, probes),
            options,
            coming: None,
            triggers: VecDeque::new(),
            metadata: (0..WARPS).map(|_| WarpMetadata::default()).collect(),
            queue: VecDeque::new(),
            unjudged: BTreeSet::new(),
            counters: Counters::default(),
        }
    }

    /// A line transaction was looked up; the load's last one makes the trigger complete.
    fn follow(&mut self, load: &Load) {
        if within_program(load.line) >= LOCAL_REGION {
            return;
        }
        if load.index == 0 {
            self.coming = None;
        }
        let Load { kernel, warp, pc, line, .. } = *load;
        let mut trigger = self.coming.take().unwrap_or(Trigger {
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

    /// A load wants an assist warp.
    fn want(&mut self, trigger: Trigger) {
        let is_same = |other: &Trigger| (other.warp, other.pc) == (trigger.warp, trigger.pc);
        if self.triggers.len() >= TRIGGERS || self.triggers.iter().any(is_same) {
            self.counters.not_followed += 1;
        } else {
            self.triggers.push_back(trigger);
        }
    }

    /// The next load to have an assist warp: the oldest whose parent has none.
    fn next_trigger(&self) -> Option<usize> {
        self.triggers.iter().position(|trigger| !self.assists.has_assist(trigger.warp))
    }

    /// The controller has taken a trigger.
    fn start(&mut self, at: usize) {
        let Some(trigger) = self.triggers.remove(at) else { return };
        let warp = usize::from(trigger.warp);
        let (metadata, replaces) = self.metadata[warp].take(trigger.pc, self.options.loads);
        let load = ParentLoad { lines: trigger.lines, metadata, ..ParentLoad::default() };
        self.assists.start(trigger.warp, false, trigger, Lanes::of_load(load));
        self.counters.replaced += u64::from(replaces);
    }

    /// Frees the assist warps that are done; their metadata stay with the parents.
    fn finish(&mut self, now: u64) {
        while let Some(AssistWarp { warp, work, lanes, .. }) = self.assists.take_done(now) {
            self.metadata[usize::from(warp)].put(work.pc, lanes.load.metadata);
        }
    }

    /// Queues the lines that a load's assist warp has prefetched, each once.
    fn send(&mut self, trigger: &Trigger, mut numbers: Vec<u64>, now: u64) {
        let Trigger { kernel, warp, program, .. } = *trigger;
        numbers.dedup();
        let from = now + self.options.latencies.store;
        for number in numbers {
            self.counters.prefetches += 1;
            let line = number.checked_mul(self.options.line_bytes);
            match line.filter(|line| physical(program, within_program(*line)) == *line) {
                Some(line) => {
                    self.queue.push_back(Waiting { from, prefetch: Prefetch { kernel, warp, line } })
                }
                None => self.counters.beyond += 1,
            }
        }
    }

    /// A load shows whether a prefetch was worth it.
    fn judge(&mut self, line: u64, decision: Decision) {
        if !self.unjudged.remove(&line) {
            return;
        }
        let Counters { useful, late, useless, .. } = &mut self.counters;
        *match decision {
            Decision::Hit => useful,
            Decision::Pending => late,
            // It has left before.
            Decision::Miss | Decision::SectorMiss => useless,
        } += 1;
    }

    /// Prefetched lines leave that no load has asked for.
    fn lose(&mut self, leaves: impl Fn(u64) -> bool) {
        let before = self.unjudged.len();
        self.unjudged.retain(|line| !leaves(*line));
        self.counters.useless += (before - self.unjudged.len()) as u64;
    }
}

impl SmPart for PrefetchSm {
    fn stands_alone(&self) -> bool {
        true
    }

    fn tick(&mut self, now: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        self.assists.check()?;
        self.finish(now);
        let next = self.next_trigger();
        let wanted = next.map(|at| {
            let Trigger { warp, mask, .. } = self.triggers[at];
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
        out.extend(self.assists.trace());
    }

    has!(assist: AssistIssue, prefetcher: Prefetcher, l1d_observer: L1dObserver, warp_observer: WarpObserver);
}

impl AssistIssue for PrefetchSm {
    fn extras(&mut self, now: u64) -> Option<Extras> {
        // The queue has room for the lines of one assist warp.
        let has_room = self.queue.is_empty() || self.assists.waiting_low() != Some(Op::Pref);
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

    /// Its assist warps have low priority alone.
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
                    // One that was there before has left in a way that nobody has told of.
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
