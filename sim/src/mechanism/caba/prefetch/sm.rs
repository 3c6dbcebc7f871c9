//! The SM's share of prefetching: the assist warp controller, the loads that wait for assist warps, and the lines that wait for
//! the L1D's port.
//!
//! As with compression the controller (`smN.awc`) is clocked while an assist warp is wanted or under way, is offered at most one
//! trigger and one kill per cycle, and fills the decode register of low priority, which issues in cycles in which a scheduler has
//! nothing else. A warp has at most one assist warp; nothing of it outlives the warp but lines that are on their way.
use super::EVENT;
use super::counters::Counters;
use super::metadata::WarpMetadata;
use crate::mechanism::MechanismCounters;
use crate::mechanism::caba::deployment::WARPS;
use crate::mechanism::caba::instruction::{Instruction, Op};
use crate::mechanism::caba::lanes::{LANES, Lanes, ParentLoad};
use crate::mechanism::caba::routine::Routines;
use crate::mechanism::caba::warp::{AssistWarp, Decoded, Latencies, WarpFault};
use crate::mechanism::probe::Probes;
use crate::memory::{DeviceMemory, physical, program_of, within_program};
use crate::partition::MechanismFault;
use crate::ptx::LOCAL_REGION;
use crate::sm::pipes::{PIPE_KINDS, PipeKind};
use crate::sm::policy::{Extras, IssueReport, L1dEvent, Load, Prefetch, Prefetched, SmPolicy};
use crate::stats::Decision;
use selvedge_hw::Instance;
use selvedge_hw::assist::awc::{Awc, AwcIn, AwcOut, AwcParams};
use selvedge_hw::wave::Trace;
use std::collections::{BTreeSet, VecDeque};

/// Loads that wait for an assist warp, in an SM.
const TRIGGERS: usize = 16;

/// What the options and the machine ask for.
#[derive(Clone, Copy, Debug)]
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
#[derive(Clone, Copy)]
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
#[derive(Clone, Copy)]
struct Waiting {
    /// First cycle in which its address is there.
    from: u64,
    prefetch: Prefetch,
}

/// The assist warps of one SM.
pub(super) struct PrefetchSm {
    controller: Instance<Awc>,
    options: Options,
    /// The load whose line transactions are being decided.
    coming: Option<Trigger>,
    /// Loads that have no assist warp yet, the oldest first.
    triggers: VecDeque<Trigger>,
    /// Assist warps under way, by their parent's slot.
    assists: Vec<Option<AssistWarp<Trigger>>>,
    /// The decode register.
    low: Option<Decoded>,
    /// Assist warps that are to be flushed.
    kills: VecDeque<u8>,
    metadata: Vec<WarpMetadata>,
    queue: VecDeque<Waiting>,
    /// Prefetched lines that no load has asked for yet, on their way or in the L1D.
    unjudged: BTreeSet<u64>,
    report: IssueReport,
    /// What went wrong outside of a tick; the next one tells.
    fault: Option<MechanismFault>,
    counters: Counters,
}

impl PrefetchSm {
    /// An SM whose assist warp store is being loaded: the controller's first cycles.
    pub(super) fn new(id: u32, options: Options, routines: &Routines, probes: &Probes) -> Self {
        let mut controller: Instance<Awc> = probes.instance(format!("sm{id}.awc"), &options.throttle);
        let mut loading = routines.loading().into_iter();
        let fault = loading.find_map(|inputs| controller.step(&inputs).err());
        PrefetchSm {
            controller,
            options,
            coming: None,
            triggers: VecDeque::new(),
            assists: (0..WARPS).map(|_| None).collect(),
            low: None,
            kills: VecDeque::new(),
            metadata: (0..WARPS).map(|_| WarpMetadata::default()).collect(),
            queue: VecDeque::new(),
            unjudged: BTreeSet::new(),
            report: IssueReport::default(),
            fault: fault.map(|divergence| divergence as MechanismFault),
            counters: Counters::default(),
        }
    }

    fn assist(&mut self, warp: u8) -> Option<&mut AssistWarp<Trigger>> {
        self.assists[usize::from(warp)].as_mut()
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
        self.triggers.iter().position(|trigger| self.assists[usize::from(trigger.warp)].is_none())
    }

    /// What the controller is told in this cycle.
    fn inputs(&self, next: Option<usize>) -> AwcIn {
        let busy = |kind: PipeKind, bit: u8| u8::from(self.report.busy[kind as usize]) << bit;
        let waits = u8::from(self.report.memory_waits) << 2;
        let mut inputs = AwcIn {
            busy_i: busy(PipeKind::Alu, 0) | busy(PipeKind::Sfu, 1) | busy(PipeKind::Memory, 2) | waits,
            idle_i: self.report.idle,
            low_pop_i: self.low.is_none(),
            ..AwcIn::default()
        };
        if let Some(trigger) = next.map(|at| &self.triggers[at]) {
            inputs.trigger_valid_i = true;
            inputs.trigger_event_i = EVENT;
            inputs.trigger_warp_i = trigger.warp;
            inputs.trigger_mask_i = trigger.mask;
            // The parent's slot tells which load's addresses and metadata are meant.
            inputs.trigger_live_in_i = u16::from(trigger.warp);
        }
        if let Some(warp) = self.kills.front() {
            inputs.kill_low_i = true;
            inputs.kill_warp_i = *warp;
        }
        inputs
    }

    /// Puts what the controller gave into the decode register.
    fn decode(&mut self, inputs: &AwcIn, out: &AwcOut) -> Result<(), WarpFault> {
        if !inputs.low_pop_i || !out.low_valid_o {
            return Ok(());
        }
        let assist = usize::from(out.low_live_in_o);
        let lives = self.assists.get(assist).and_then(Option::as_ref).is_some_and(|a| !a.killed && !a.over);
        if lives {
            let instruction = Instruction::decode(out.low_instruction_o)?;
            self.low = Some(Decoded { assist, instruction, mask: out.low_mask_o, last: out.low_last_o });
        }
        Ok(())
    }

    /// The controller has taken a trigger.
    fn start(&mut self, at: usize) {
        let Some(trigger) = self.triggers.remove(at) else { return };
        let warp = usize::from(trigger.warp);
        let (metadata, replaces) = self.metadata[warp].take(trigger.pc, self.options.loads);
        let load = ParentLoad { lines: trigger.lines, metadata, ..ParentLoad::default() };
        self.assists[warp] = Some(AssistWarp::new(trigger.warp, false, trigger, Lanes::of_load(load)));
        self.counters.triggered += 1;
        self.counters.replaced += u64::from(replaces);
    }

    /// Frees the assist warps that are done; their metadata stay with the parents.
    fn finish(&mut self, now: u64) {
        for warp in 0..WARPS {
            let is_done = |a: &AssistWarp<Trigger>| a.is_done(now) && !self.kills.contains(&a.warp);
            if self.assists[warp].as_ref().is_some_and(is_done)
                && let Some(assist) = self.assists[warp].take()
            {
                self.counters.finished += 1;
                self.metadata[warp].put(assist.work.pc, assist.lanes.load.metadata);
            }
        }
    }

    /// Has the controller flush what it has of an assist warp.
    fn flush(&mut self, warp: u8) {
        if self.low.is_some_and(|decoded| decoded.assist == usize::from(warp)) {
            self.low = None;
        }
        self.kills.push_back(warp);
    }

    /// The controller has flushed the assist warp whose turn it was.
    fn flushed(&mut self) {
        let Some(warp) = self.kills.pop_front() else { return };
        if self.assist(warp).is_some_and(|assist| assist.killed) {
            self.assists[usize::from(warp)] = None;
        }
    }

    /// The parent has ended: its assist warp ends, too.
    fn kill(&mut self, warp: u8) {
        let Some(assist) = self.assist(warp) else { return };
        assist.killed = true;
        let is_over = assist.over;
        self.counters.killed += 1;
        if !is_over {
            self.flush(warp);
        } else if !self.kills.contains(&warp) {
            // The controller has nothing of it any more.
            self.assists[usize::from(warp)] = None;
        }
    }

    /// Queues the lines that an assist warp has prefetched, each once.
    fn send(&mut self, assist: usize, now: u64) {
        let Some(assist) = self.assists[assist].as_mut() else { return };
        let Trigger { kernel, warp, program, .. } = assist.work;
        let mut numbers = std::mem::take(&mut assist.lanes.load.prefetched);
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

    /// Is the instruction's assist warp ready for it, and has the queue room for what it prefetches?
    fn is_ready(&self, decoded: &Decoded, now: u64) -> bool {
        let assist = self.assists.get(decoded.assist).and_then(Option::as_ref);
        let has_room = decoded.instruction.op != Op::Pref || self.queue.is_empty();
        has_room && assist.is_some_and(|assist| assist.is_ready(&decoded.instruction, now))
    }

    /// A load tells whether a prefetch was worth it.
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

impl SmPolicy for PrefetchSm {
    fn tick(&mut self, now: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        self.finish(now);
        // The store is being loaded.
        if now < self.controller.cycle() {
            return Ok(());
        }
        let next = self.next_trigger();
        let inputs = self.inputs(next);
        self.controller.advance_to(now);
        let out = self.controller.step(&inputs).map_err(|divergence| divergence as MechanismFault)?;
        self.decode(&inputs, &out)?;
        if inputs.kill_low_i {
            self.flushed();
        }
        if let Some(at) = next.filter(|_| out.trigger_ready_o) {
            self.start(at);
        }
        self.counters.throttled_cycles += u64::from(out.throttled_o);
        self.counters.controller_cycles += 1;
        Ok(())
    }

    fn busy(&self) -> bool {
        self.fault.is_some()
            || !self.triggers.is_empty()
            || !self.queue.is_empty()
            || self.assists.iter().any(Option::is_some)
    }

    fn is_drained(&self) -> bool {
        self.queue.is_empty()
    }

    fn extras(&self, now: u64) -> Option<Extras> {
        let decoded = self.low.filter(|decoded| self.is_ready(decoded, now))?;
        Some(Extras { ready: [0; PIPE_KINDS], idle: Some(decoded.pipe()) })
    }

    fn issue_idle_extra(&mut self, now: u64) {
        let Some(decoded) = self.low.take() else { return };
        let latencies = self.options.latencies;
        let Some(assist) = self.assists[decoded.assist].as_mut() else { return };
        if let Err(fault) = assist.issue(&decoded, now, &latencies) {
            self.fault.get_or_insert_with(|| Box::new(fault));
        }
        let (warp, ends_early) = (assist.warp, assist.over && !decoded.last);
        if ends_early {
            self.flush(warp);
        }
        self.counters.instructions += 1;
        self.send(decoded.assist, now);
    }

    fn issue_ended(&mut self, report: &IssueReport) {
        self.report = *report;
    }

    fn prefetch(&mut self, now: u64) -> Option<Prefetch> {
        self.queue.front().filter(|waiting| waiting.from <= now)?;
        self.queue.pop_front().map(|waiting| waiting.prefetch)
    }

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

    fn warp_left(&mut self, warp: u8) {
        self.coming = self.coming.filter(|trigger| trigger.warp != warp);
        let (triggers, waiting) = (self.triggers.len(), self.queue.len());
        self.triggers.retain(|trigger| trigger.warp != warp);
        self.queue.retain(|waiting| waiting.prefetch.warp != warp);
        self.counters.ended += (triggers - self.triggers.len()) as u64;
        self.counters.orphaned += (waiting - self.queue.len()) as u64;
        self.kill(warp);
        self.metadata[usize::from(warp)].clear();
    }

    fn counters(&self, out: &mut MechanismCounters) {
        self.counters.report(self.unjudged.len() as u64, out);
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.controller.trace());
    }
}
