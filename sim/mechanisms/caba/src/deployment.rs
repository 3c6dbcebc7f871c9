//! The assist warps of an SM: the controllers that deploy them, and the decode registers. Their purpose is a type parameter.
//!
//! A controller serves two schedulers with at most 48 warps, so an SM of four schedulers has two controllers. The controllers
//! (`smN.awc`, or `smN.awc0` and so on) are clocked while an assist warp is wanted or active. In a cycle a controller accepts at
//! most one trigger and one kill. It moves an instruction for each of its schedulers, and one of low priority, from its buffer
//! into a decode register. There is one such register per warp, and one for low priority, which the controllers fill in turn.
//! The schedulers examine the decode registers in the same cycle.
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
    Counter::new("assist_cycles", "cycles in which the assist warp controllers were clocked"),
    Counter::new(
        "assist_cycles_throttled",
        "cycles in which the controllers held low-priority assist warps back",
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

/// Schedulers that a controller serves.
const PORTS: u8 = 2;

/// Max warps that a controller supports.
const WARPS: usize = selvedge_hw_caba::WARPS;

/// Max warps of a scheduler that a controller supports.
pub const WARPS_OF_SCHEDULER: u32 = WARPS as u32 / PORTS as u32;

/// The controllers of an SM, and the warps of each. A warp belongs to the scheduler that is its number modulo the schedulers, and
/// a controller numbers the warps of its two schedulers alternately, as an SM of two schedulers does.
#[derive(Clone, Copy, Debug, State)]
pub struct AssistControllers {
    /// Parameters of each controller.
    pub params: AwcParams,
    /// Schedulers of the SM.
    pub schedulers: u8,
    /// Warps of the SM.
    pub warps: u8,
    /// The pipes that execute arithmetic instructions of assist warps.
    pub integers: PipeKind,
}

impl AssistControllers {
    /// Returns the number of controllers.
    fn count(&self) -> usize {
        usize::from(self.schedulers.div_ceil(PORTS))
    }

    /// Returns the controller of a warp, and the warp's number there.
    fn place(&self, warp: u8) -> (usize, u8) {
        let (row, scheduler) = (warp / self.schedulers, warp % self.schedulers);
        (usize::from(scheduler / PORTS), row * PORTS + scheduler % PORTS)
    }

    /// Returns the warp that has this number at a controller.
    fn warp(&self, controller: usize, number: u8) -> u8 {
        let (row, port) = (number / PORTS, number % PORTS);
        row * self.schedulers + controller as u8 * PORTS + port
    }

    /// Returns the name of a controller's instance.
    fn name(&self, sm: u32, controller: usize) -> String {
        if self.count() == 1 { format!("sm{sm}.awc") } else { format!("sm{sm}.awc{controller}") }
    }
}

/// A controller and its state at the ports. Its warps have the controller's numbers.
#[derive(State)]
struct AssistController {
    awc: Instance<Awc>,
    /// Warps whose decode register is full, one bit each.
    full: u64,
    /// Warps for which the controller has a high-priority instruction, by its last outputs.
    high_valid: u64,
    /// The warp that each scheduler examined last.
    looked: [u8; PORTS as usize],
}

impl AssistController {
    /// Returns the warp whose instruction a scheduler takes, divided by two, and whether it takes one. Of the warps with an
    /// instruction and a free decode register, it is the next in round-robin order.
    fn look(&mut self, port: usize) -> (u8, bool) {
        if self.high_valid & !self.full == 0 {
            return (self.looked[port] / 2, false);
        }
        let takes = |warp: &usize| self.high_valid >> warp & 1 == 1 && self.full >> warp & 1 == 0;
        let last = usize::from(self.looked[port]);
        let mut turn = (1..=WARPS / 2).map(|step| (last + 2 * step) % WARPS);
        match turn.find(takes) {
            Some(warp) => {
                self.looked[port] = warp as u8;
                (warp as u8 / 2, true)
            }
            None => (last as u8 / 2, false),
        }
    }
}

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
    layout: AssistControllers,
    controllers: Vec<AssistController>,
    routines: Routines,
    latencies: AssistLatencies,
    /// Active assist warps. The index is the number of an assist warp.
    assists: Vec<Option<AssistWarp<W>>>,
    /// Decode registers of the warps; `low` is the one of low priority.
    decoded: Vec<Option<DecodedInstruction>>,
    low: Option<DecodedInstruction>,
    /// The number of the assist warp that was offered to a controller with the last trigger.
    offered: usize,
    /// Numbers of the assist warps that the controllers must flush.
    kills: VecDeque<usize>,
    report: IssueReport,
    /// A fault from outside a tick, which the next tick reports.
    fault: Option<MechanismFault>,
    counters: AssistWarpCounters,
}

impl<W> Deployment<W> {
    /// Returns the assist warps of an SM. In its first cycles the controllers load their assist warp stores.
    pub fn new(
        id: u32,
        layout: &AssistControllers,
        latencies: AssistLatencies,
        routines: Routines,
        probes: &Probes,
    ) -> Self {
        let mut fault = None;
        let mut loaded = |number| {
            let mut awc: Instance<Awc> = probes.instance(layout.name(id, number), &layout.params);
            let mut loading = routines.loading().into_iter();
            fault = fault.take().or(loading.find_map(|inputs| awc.step(&inputs).err()));
            AssistController { awc, full: 0, high_valid: 0, looked: [0, 1] }
        };
        let controllers = (0..layout.count()).map(&mut loaded).collect();
        Deployment {
            layout: *layout,
            controllers,
            routines,
            latencies,
            assists: Vec::new(),
            decoded: vec![None; layout.warps.into()],
            low: None,
            offered: 0,
            kills: VecDeque::new(),
            report: IssueReport::default(),
            fault: fault.map(|divergence| divergence as MechanismFault),
            counters: AssistWarpCounters::default(),
        }
    }

    /// Returns the name of the instance of a warp's controller.
    pub fn name(&self, warp: u8) -> &str {
        self.controllers[self.layout.place(warp).0].awc.name()
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
            // Its controller holds nothing of it any more.
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

    /// Removes an assist warp's instruction from the decode register, and makes its controller flush the others.
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

    /// Clocks the controllers once, and offers the wanted assist warp to its parent's controller. Returns whether the controller
    /// accepted it; the caller must then call [`Deployment::start`]. While the stores are loaded, in the first cycles, controllers
    /// accept no assist warp.
    ///
    /// # Errors
    /// If a controller's engines differ, or it gave a word that is not an instruction.
    pub fn step(&mut self, now: u64, wanted: Option<Wanted>) -> Result<bool, MechanismFault> {
        let mut is_accepted = false;
        for number in 0..self.controllers.len() {
            is_accepted |= self.step_one(number, now, wanted)?;
        }
        Ok(is_accepted)
    }

    /// Clocks one controller. Returns `true` if it has accepted the wanted assist warp.
    fn step_one(&mut self, number: usize, now: u64, wanted: Option<Wanted>) -> Result<bool, MechanismFault> {
        if now < self.controllers[number].awc.cycle() {
            return Ok(false);
        }
        let wanted = wanted.filter(|wanted| self.layout.place(wanted.warp).0 == number);
        let has_turn = now % self.controllers.len() as u64 == number as u64;
        let inputs = self.inputs(number, wanted, has_turn);
        let awc = &mut self.controllers[number].awc;
        awc.advance_to(now);
        let out = awc.step(&inputs).map_err(|divergence| divergence as MechanismFault)?;
        self.decode(number, &inputs, &out)?;
        self.controllers[number].high_valid = out.high_valid_o;
        if inputs.kill_low_i {
            self.killed();
        }
        self.counters.throttled_cycles += u64::from(out.throttled_o);
        self.counters.controller_cycles += 1;
        Ok(inputs.trigger_valid_i && out.trigger_ready_o)
    }

    /// Adds the assist warp whose trigger a controller has accepted.
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

    /// Returns the inputs of a controller in this cycle. `has_turn`: it may fill the decode register of low priority.
    fn inputs(&mut self, number: usize, wanted: Option<Wanted>, has_turn: bool) -> AwcIn {
        let busy = |kind: PipeKind, bit: u8| u8::from(self.report.busy[kind as usize]) << bit;
        let mut inputs = AwcIn {
            busy_i: busy(self.layout.integers, 0) | busy(PipeKind::Sfu, 1) | busy(PipeKind::Memory, 2),
            idle_i: self.report.idle,
            low_pop_i: has_turn && self.low.is_none(),
            ..AwcIn::default()
        };
        if let Some(Wanted { event, warp, mask }) = wanted {
            inputs.trigger_valid_i = true;
            inputs.trigger_event_i = event;
            inputs.trigger_warp_i = self.layout.place(warp).1;
            inputs.trigger_mask_i = mask.unwrap_or_else(|| self.routines.mask(event));
            // The live-in register distinguishes the assist warps of the SM.
            self.offered = self.free_number();
            inputs.trigger_live_in_i = self.offered as u16;
        }
        let kill =
            self.kills.front().and_then(|k| self.assists[*k].as_ref()).map(|a| self.layout.place(a.warp));
        if let Some((_, warp)) = kill.filter(|(controller, _)| *controller == number) {
            inputs.kill_low_i = true;
            inputs.kill_warp_i = warp;
        }
        let controller = &mut self.controllers[number];
        [(inputs.issue0_index_i, inputs.issue0_pop_i), (inputs.issue1_index_i, inputs.issue1_pop_i)] =
            [0, 1].map(|port| controller.look(port));
        inputs
    }

    /// Moves the instructions that a controller gave into the decode registers.
    fn decode(&mut self, number: usize, inputs: &AwcIn, out: &AwcOut) -> Result<(), WarpFault> {
        let given = [
            (inputs.issue0_pop_i, 2 * inputs.issue0_index_i, out.issue0_instruction_o, out.issue0_mask_o),
            (inputs.issue1_pop_i, 2 * inputs.issue1_index_i + 1, out.issue1_instruction_o, out.issue1_mask_o),
        ];
        let rest = [(out.issue0_live_in_o, out.issue0_last_o), (out.issue1_live_in_o, out.issue1_last_o)];
        for ((pop, warp, word, mask), (assist, last)) in given.into_iter().zip(rest) {
            if pop && out.high_valid_o >> warp & 1 == 1 {
                let instruction = Instruction::decode(word)?;
                let assist = usize::from(assist);
                self.decoded[usize::from(self.layout.warp(number, warp))] =
                    Some(DecodedInstruction { assist, instruction, mask, last });
                self.controllers[number].full |= 1 << warp;
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

    /// Records that its controller has flushed the first assist warp of `kills`.
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
        for (number, controller) in self.controllers.iter().enumerate() {
            let mut full = controller.full;
            while full != 0 {
                let warp = self.layout.warp(number, full.trailing_zeros() as u8);
                full &= full - 1;
                let decoded = self.decoded[usize::from(warp)].as_ref();
                if let Some(decoded) = decoded.filter(|decoded| self.is_ready(decoded, now)) {
                    extras.ready[decoded.pipe(self.layout.integers) as usize] |= 1 << warp;
                }
            }
        }
        let low = self.low.filter(|decoded| self.is_ready(decoded, now));
        extras.idle = low.map(|decoded| decoded.pipe(self.layout.integers));
        (extras.idle.is_some() || extras.ready.iter().any(|ready| *ready != 0)).then_some(extras)
    }

    /// Returns the parents of assist warps of high priority.
    pub fn held_warps(&self) -> WarpMask {
        self.alive().filter(|assist| assist.high).fold(0, |all, assist| all | 1 << assist.warp)
    }

    /// See [`selvedge_gpu::sm::part::SmPart::issue_extra`].
    pub fn issue_extra(&mut self, now: u64, warp: u8) -> u32 {
        let Some(decoded) = self.decoded[usize::from(warp)].take() else { return 0 };
        let (controller, place) = self.layout.place(warp);
        self.controllers[controller].full &= !(1 << place);
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

    /// Returns the recorded ports of the probed controllers.
    pub fn traces(&self) -> impl Iterator<Item = Trace> {
        self.controllers.iter().filter_map(|controller| controller.awc.trace())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn controllers(schedulers: u8, warps: u8) -> AssistControllers {
        AssistControllers { params: AwcParams::default(), schedulers, warps, integers: PipeKind::Alu }
    }

    #[test]
    fn an_sm_of_two_schedulers_has_one_controller_with_the_same_numbers() {
        let one = controllers(2, 48);
        assert_eq!((one.count(), one.name(3, 0).as_str()), (1, "sm3.awc"));
        (0..48).for_each(|warp| assert_eq!((one.place(warp), one.warp(0, warp)), ((0, warp), warp)));
    }

    #[test]
    fn each_warp_has_a_number_of_its_own_at_the_controller_of_its_scheduler() {
        for (schedulers, warps) in [(1, 24), (3, 72), (4, 96), (4, 64), (8, 128)] {
            let layout = controllers(schedulers, warps);
            let mut seen = std::collections::HashSet::new();
            for warp in 0..warps {
                let (controller, number) = layout.place(warp);
                assert!(controller < layout.count() && usize::from(number) < WARPS);
                assert_eq!(controller, usize::from(warp % schedulers / 2), "{schedulers} schedulers");
                assert_eq!(number % 2, warp % schedulers % 2, "the port of the scheduler");
                assert_eq!(layout.warp(controller, number), warp);
                assert!(seen.insert((controller, number)), "{schedulers} schedulers: warp {warp}");
            }
        }
    }
}
