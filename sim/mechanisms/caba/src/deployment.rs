//! The assist warps of an SM: the controller that deploys them, and the decode registers. Their purpose is a type parameter.
//!
//! The controller (`smN.awc`) is clocked while an assist warp is wanted or active. In a cycle it accepts at most one trigger
//! and one kill. It moves an instruction for each scheduler, and one of low priority, from its buffer into a decode register.
//! There is one such register per warp, and one for low priority. The schedulers examine the decode registers in the same
//! cycle.
use super::instruction::{AssistOp, Instruction};
use super::lanes::Lanes;
use super::routine::Routines;
use super::warp::{AssistLatencies, AssistWarp, DecodedInstruction, WarpFault};
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::mechanism::{Counter, MechanismCounters, count};
use selvedge_gpu::sm::part::{Extras, IssueReport};
use selvedge_gpu::sm::pipes::{PIPE_KINDS, PipeKind};
use selvedge_gpu::sm::scheduler::WarpMask;
use selvedge_gpu::stage::MechanismFault;
use selvedge_hw::Instance;
use selvedge_hw::wave::Trace;
use selvedge_hw_caba::awc::{Awc, AwcIn, AwcOut, AwcParams};
use selvedge_state::State;
use std::collections::VecDeque;

/// Counters of assist warps.
pub(crate) const COUNTERS: &[Counter] = &[
    Counter::new("assist_cycles", "cycles in which the assist warp controller was clocked"),
    Counter::new(
        "assist_cycles_throttled",
        "cycles in which the controller held low-priority assist warps back",
    ),
    Counter::new(
        "assist_instructions_high",
        "instructions issued by high-priority assist warps: decompressions, look-ups",
    ),
    Counter::new(
        "assist_instructions_low",
        "instructions issued by low-priority assist warps: compressions, prefetches",
    ),
    Counter::new("assist_warps_finished", "assist warps that ran to their end"),
    Counter::new("assist_warps_high", "high-priority assist warps triggered"),
    Counter::new("assist_warps_killed", "assist warps ended before their last instruction"),
    Counter::new("assist_warps_low", "low-priority assist warps triggered"),
];

/// Max warps of an SM that the controller supports.
pub const WARPS: usize = selvedge_hw_caba::WARPS;

/// A request for an assist warp.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The event that starts its routine.
    pub event: u8,
    /// The parent's slot.
    pub warp: u8,
    /// Lanes in which it runs, if they differ from the lanes of its routine.
    pub mask: Option<u32>,
}

/// Counters of the assist warps of an SM.
#[derive(Clone, Copy, Debug, Default, State)]
struct AssistWarpCounters {
    triggered_high: u64,
    triggered_low: u64,
    finished: u64,
    killed: u64,
    issued_high: u64,
    issued_low: u64,
    throttled_cycles: u64,
    controller_cycles: u64,
}

/// The assist warps of one SM, with work of kind `W`.
#[derive(State)]
pub struct Deployment<W> {
    controller: Instance<Awc>,
    routines: Routines,
    latencies: AssistLatencies,
    /// Active assist warps. The index is the number of an assist warp.
    assists: Vec<Option<AssistWarp<W>>>,
    /// Decode registers of the warps; `low` is the one of low priority.
    decoded: [Option<DecodedInstruction>; WARPS],
    /// Warps whose decode register is full, one bit each.
    full: u64,
    low: Option<DecodedInstruction>,
    /// Warps for which the controller has a high-priority instruction, by its last outputs.
    high_valid: u64,
    /// The warp that each scheduler examined last.
    looked: [u8; 2],
    /// The number of the assist warp that was offered to the controller with the last trigger.
    offered: usize,
    /// Numbers of the assist warps that the controller must flush.
    kills: VecDeque<usize>,
    report: IssueReport,
    /// A fault from outside a tick, which the next tick reports.
    fault: Option<MechanismFault>,
    counters: AssistWarpCounters,
}

impl<W> Deployment<W> {
    /// Returns the assist warps of an SM. In its first cycles the controller loads the assist warp store.
    pub fn new(
        id: u32,
        throttle: &AwcParams,
        latencies: AssistLatencies,
        routines: Routines,
        probes: &Probes,
    ) -> Self {
        let mut controller: Instance<Awc> = probes.instance(format!("sm{id}.awc"), throttle);
        let mut loading = routines.loading().into_iter();
        let fault = loading.find_map(|inputs| controller.step(&inputs).err());
        Deployment {
            controller,
            routines,
            latencies,
            assists: Vec::new(),
            decoded: [None; WARPS],
            full: 0,
            low: None,
            high_valid: 0,
            looked: [0, 1],
            offered: 0,
            kills: VecDeque::new(),
            report: IssueReport::default(),
            fault: fault.map(|divergence| divergence as MechanismFault),
            counters: AssistWarpCounters::default(),
        }
    }

    /// Returns the name of the controller's instance.
    pub fn name(&self) -> &str {
        self.controller.name()
    }

    /// Returns the active assist warps.
    pub fn alive(&self) -> impl Iterator<Item = &AssistWarp<W>> {
        self.assists.iter().flatten()
    }

    /// Returns whether the warp has an assist warp.
    pub(crate) fn has_assist(&self, warp: u8) -> bool {
        self.alive().any(|assist| assist.warp == warp)
    }

    /// Returns whether an assist warp is active, or a fault is not yet reported.
    pub fn busy(&self) -> bool {
        self.fault.is_some() || self.assists.iter().any(Option::is_some)
    }

    /// Returns the number of an assist warp of low priority that meets `is_meant` and can still be killed.
    pub fn number_of(&self, is_meant: impl Fn(&AssistWarp<W>) -> bool) -> Option<usize> {
        let is_meant = |a: &AssistWarp<W>| !a.high && !a.over && !a.killed && is_meant(a);
        self.assists.iter().position(|assist| assist.as_ref().is_some_and(is_meant))
    }

    /// Kills an assist warp that [`Deployment::number_of`] has found, and returns its work.
    pub fn kill(&mut self, number: usize) -> Option<&W> {
        let assist = self.assists[number].as_mut()?;
        debug_assert!(!assist.high, "what waits for an assist warp of high priority cannot do without");
        assist.killed = true;
        self.counters.killed += 1;
        self.flush(number);
        self.assists[number].as_ref().map(|assist| &assist.work)
    }

    /// Kills the low-priority assist warp of a parent that has ended, if it has one. Its result is lost even if its last
    /// instruction has issued.
    pub(crate) fn abandon(&mut self, warp: u8) {
        let is_its = |assist: &Option<AssistWarp<W>>| assist.as_ref().is_some_and(|a| a.warp == warp);
        let Some(number) = self.assists.iter().position(is_its) else { return };
        self.counters.killed += 1;
        let is_over = self.assists[number].as_ref().is_some_and(|assist| assist.over);
        if is_over && !self.kills.contains(&number) {
            // The controller holds nothing of it any more.
            self.assists[number] = None;
            return;
        }
        if let Some(assist) = &mut self.assists[number] {
            assist.killed = true;
        }
        if !is_over {
            self.flush(number);
        }
    }

    /// Removes an assist warp's instruction from the decode register, and makes the controller flush the others.
    fn flush(&mut self, number: usize) {
        if self.low.is_some_and(|decoded| decoded.assist == number) {
            self.low = None;
        }
        self.kills.push_back(number);
    }

    /// Removes and returns the next assist warp that is done.
    pub(crate) fn take_done(&mut self, now: u64) -> Option<AssistWarp<W>> {
        let done = (0..self.assists.len()).find(|number| {
            let is_done = |assist: &AssistWarp<W>| assist.is_done(now) && !self.kills.contains(number);
            self.assists[*number].as_ref().is_some_and(is_done)
        })?;
        self.counters.finished += 1;
        self.assists[done].take()
    }

    /// Reports a fault from outside a tick.
    ///
    /// # Errors
    /// The fault.
    pub fn check(&mut self) -> Result<(), MechanismFault> {
        self.fault.take().map_or(Ok(()), Err)
    }

    /// Clocks the controller once, and offers it the wanted assist warp. Returns `true` if the controller has accepted it;
    /// the caller must then call [`Deployment::start`]. In the first cycles, in which the store is loaded, nothing is
    /// accepted.
    ///
    /// # Errors
    /// If the controller's engines differ, or it gave a word that is not an instruction.
    pub fn step(&mut self, now: u64, wanted: Option<Wanted>) -> Result<bool, MechanismFault> {
        if now < self.controller.cycle() {
            return Ok(false);
        }
        let inputs = self.inputs(wanted);
        self.controller.advance_to(now);
        let out = self.controller.step(&inputs).map_err(|divergence| divergence as MechanismFault)?;
        self.decode(&inputs, &out)?;
        self.high_valid = out.high_valid_o;
        if inputs.kill_low_i {
            self.killed();
        }
        self.counters.throttled_cycles += u64::from(out.throttled_o);
        self.counters.controller_cycles += 1;
        Ok(inputs.trigger_valid_i && out.trigger_ready_o)
    }

    /// Adds the assist warp whose trigger the controller has accepted.
    pub fn start(&mut self, warp: u8, high: bool, work: W, lanes: Lanes) {
        debug_assert!(
            high || !self.has_assist(warp),
            "an assist warp of low priority is its parent's only one"
        );
        let number = self.offered;
        self.assists[number] = Some(AssistWarp::new(warp, high, work, lanes));
        let counters = &mut self.counters;
        *(if high { &mut counters.triggered_high } else { &mut counters.triggered_low }) += 1;
    }

    /// Returns a number that no assist warp has.
    fn free_number(&mut self) -> usize {
        let free = self.assists.iter().position(Option::is_none);
        free.unwrap_or_else(|| {
            self.assists.push(None);
            self.assists.len() - 1
        })
    }

    /// Returns the inputs of the controller in this cycle.
    fn inputs(&mut self, wanted: Option<Wanted>) -> AwcIn {
        let busy = |kind: PipeKind, bit: u8| u8::from(self.report.busy[kind as usize]) << bit;
        let mut inputs = AwcIn {
            busy_i: busy(PipeKind::Alu, 0) | busy(PipeKind::Sfu, 1) | busy(PipeKind::Memory, 2),
            idle_i: self.report.idle,
            low_pop_i: self.low.is_none(),
            ..AwcIn::default()
        };
        if let Some(Wanted { event, warp, mask }) = wanted {
            inputs.trigger_valid_i = true;
            inputs.trigger_event_i = event;
            inputs.trigger_warp_i = warp;
            inputs.trigger_mask_i = mask.unwrap_or_else(|| self.routines.mask(event));
            // The live-in register distinguishes the assist warps of the SM.
            self.offered = self.free_number();
            inputs.trigger_live_in_i = self.offered as u16;
        }
        if let Some(warp) = self.kills.front().and_then(|k| self.assists[*k].as_ref()).map(|a| a.warp) {
            inputs.kill_low_i = true;
            inputs.kill_warp_i = warp;
        }
        [(inputs.issue0_index_i, inputs.issue0_pop_i), (inputs.issue1_index_i, inputs.issue1_pop_i)] =
            [0, 1].map(|scheduler| self.look(scheduler));
        inputs
    }

    /// Returns the warp whose instruction a scheduler takes, divided by two, and whether it takes one. Of the warps with an
    /// instruction and a free decode register, it is the next in round-robin order.
    fn look(&mut self, scheduler: usize) -> (u8, bool) {
        if self.high_valid & !self.full == 0 {
            return (self.looked[scheduler] / 2, false);
        }
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

    /// Moves the instructions that the controller gave into the decode registers.
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
                self.decoded[usize::from(warp)] =
                    Some(DecodedInstruction { assist, instruction, mask, last });
                self.full |= 1 << warp;
            }
        }
        let assist = usize::from(out.low_live_in_o);
        let lives = self.assists.get(assist).and_then(Option::as_ref).is_some_and(|a| !a.killed && !a.over);
        if inputs.low_pop_i && out.low_valid_o && lives {
            let instruction = Instruction::decode(out.low_instruction_o)?;
            self.low =
                Some(DecodedInstruction { assist, instruction, mask: out.low_mask_o, last: out.low_last_o });
        }
        Ok(())
    }

    /// Records that the controller has flushed the first assist warp of `kills`.
    fn killed(&mut self) {
        let Some(number) = self.kills.pop_front() else { return };
        if self.assists[number].as_ref().is_some_and(|assist| assist.killed) {
            self.assists[number] = None;
        }
    }

    /// Issues the instruction of a decode register. Returns the cycles for which it uses the banks of shared memory.
    fn issue(&mut self, decoded: &DecodedInstruction, now: u64) -> u32 {
        // `extras` has found its assist warp ready.
        let Some(assist) = self.assists.get_mut(decoded.assist).and_then(Option::as_mut) else { return 0 };
        let high = assist.high;
        let bank_cycles = match assist.issue(decoded, now, &self.latencies) {
            Ok(bank_cycles) => bank_cycles,
            Err(fault) => {
                self.fault.get_or_insert_with(|| Box::new(fault));
                0
            }
        };
        if assist.over && !decoded.last {
            debug_assert!(!high, "routines of high priority run to their end");
            self.flush(decoded.assist);
        }
        *(if high { &mut self.counters.issued_high } else { &mut self.counters.issued_low }) += 1;
        bank_cycles
    }

    /// Returns whether the instruction's assist warp is ready for it.
    fn is_ready(&self, decoded: &DecodedInstruction, now: u64) -> bool {
        let assist = self.assists.get(decoded.assist).and_then(Option::as_ref);
        assist.is_some_and(|assist| assist.is_ready(&decoded.instruction, now))
    }

    /// See [`selvedge_gpu::sm::part::SmPart::extras`].
    pub fn extras(&self, now: u64) -> Option<Extras> {
        let mut extras = Extras { ready: [0; PIPE_KINDS], idle: None };
        let mut full = self.full;
        while full != 0 {
            let warp = full.trailing_zeros() as usize;
            full &= full - 1;
            if let Some(decoded) = self.decoded[warp].as_ref().filter(|decoded| self.is_ready(decoded, now)) {
                extras.ready[decoded.pipe() as usize] |= 1 << warp;
            }
        }
        extras.idle = self.low.filter(|decoded| self.is_ready(decoded, now)).map(|decoded| decoded.pipe());
        (extras.idle.is_some() || extras.ready.iter().any(|ready| *ready != 0)).then_some(extras)
    }

    /// Returns the parents of assist warps of high priority.
    pub fn held_warps(&self) -> WarpMask {
        self.alive().filter(|assist| assist.high).fold(0, |all, assist| all | 1 << assist.warp)
    }

    /// See [`selvedge_gpu::sm::part::SmPart::issue_extra`].
    pub fn issue_extra(&mut self, now: u64, warp: u8) -> u32 {
        let Some(decoded) = self.decoded[usize::from(warp)].take() else { return 0 };
        self.full &= !(1 << warp);
        self.issue(&decoded, now)
    }

    /// See [`selvedge_gpu::sm::part::SmPart::issue_idle_extra`]. Returns the assist warp of the issued instruction.
    pub fn issue_idle_extra(&mut self, now: u64) -> Option<&mut AssistWarp<W>> {
        let decoded = self.low.take()?;
        self.issue(&decoded, now);
        self.assists[decoded.assist].as_mut()
    }

    /// Returns the operation of low priority that waits for issue.
    pub(crate) fn waiting_low(&self) -> Option<AssistOp> {
        self.low.map(|decoded| decoded.instruction.op)
    }

    /// See [`selvedge_gpu::sm::part::SmPart::issue_ended`].
    pub fn issue_ended(&mut self, report: &IssueReport) {
        self.report = *report;
    }

    /// Adds the counters of the priorities that the routines have to the report.
    pub fn count(&self, out: &mut MechanismCounters) {
        if self.routines.have(true) {
            count(out, "assist_warps_high", self.counters.triggered_high);
            count(out, "assist_instructions_high", self.counters.issued_high);
        }
        if self.routines.have(false) {
            count(out, "assist_warps_low", self.counters.triggered_low);
            count(out, "assist_instructions_low", self.counters.issued_low);
        }
        for (name, value) in [
            ("assist_warps_finished", self.counters.finished),
            ("assist_warps_killed", self.counters.killed),
            ("assist_cycles", self.counters.controller_cycles),
            ("assist_cycles_throttled", self.counters.throttled_cycles),
        ] {
            count(out, name, value);
        }
    }

    /// Returns the recorded ports of the controller, if it is probed.
    pub fn trace(&self) -> Option<Trace> {
        self.controller.trace()
    }
}
