//! Recording of a probed instance as a circuit with a free-running clock.
//!
//! A simulator clocks an instance only for events, and skips the cycles in which it is at rest. In a circuit the clock always
//! runs, so that `valid_o` falls in the cycle after an item has left. The recorder has a separate circuit, which it clocks in
//! each cycle. The circuit gets the inputs of the instance; in skipped cycles they carry no event. The instance itself never sees
//! these cycles, so a run is the same with a probe and without one.
use crate::block::HwBlock;
use crate::compiled::Ended;
use crate::engine::{Core, CycleRecord};
use crate::ports::Ports;
use crate::registry::PortBits;
use crate::rtl::registers::BlockRegisters;
use selvedge_state::{Reader, State, StateError, Writer};
use std::mem::discriminant;

/// Max cycles without an event that are recorded after the last clock of an instance. They end early if it is at rest.
const TAIL: u64 = 16;

/// A recorded circuit, the recorded cycles, and their records.
pub(crate) struct CircuitRecorder<B: HwBlock> {
    circuit: Core<B>,
    from: u64,
    cycles: u64,
    /// Cycle of its next clock.
    next: u64,
    /// Inputs of its last clock.
    last: B::In,
    /// `true` if the last clock had no event and changed no state.
    is_at_rest: bool,
    /// `true` if nothing more is recorded, because the trace was taken or the circuit has ended.
    is_over: bool,
    pub records: Vec<CycleRecord<B>>,
    pub inside: Option<Inside>,
}

/// The registers of a circuit's RTL, and their values.
pub(crate) struct Inside {
    pub registers: BlockRegisters,
    /// Values of the registers in each recorded cycle.
    pub values: Vec<PortBits>,
}

impl<B: HwBlock> CircuitRecorder<B> {
    /// Records `circuit`, whose next clock is in cycle `next`, for up to `cycles` cycles from cycle `from` on.
    pub fn new(circuit: Core<B>, next: u64, (from, cycles): (u64, u64), inside: bool) -> Self {
        let registers = || circuit.rtl().map(|rtl| BlockRegisters::of(rtl.as_block()));
        let inside = inside.then(registers).flatten();
        let inside = inside.map(|registers| Inside { registers, values: Vec::new() });
        CircuitRecorder {
            circuit,
            from,
            cycles,
            next,
            last: B::In::default(),
            is_at_rest: false,
            is_over: false,
            records: Vec::new(),
            inside,
        }
    }

    /// Records a clock of the instance in `cycle`. `upset` is the bit of the RTL's output registers that is inverted before it.
    pub fn step(&mut self, cycle: u64, inputs: &B::In, upset: Option<usize>) {
        self.idle_until(cycle);
        if let (Some(bit), Core::Rtl(rtl)) = (upset, &mut self.circuit) {
            rtl.upset(bit);
        }
        self.is_at_rest = false;
        self.clock(cycle, inputs, |circuit| circuit.step(inputs));
    }

    /// Records a clock of the instance in reset.
    pub fn reset(&mut self, cycle: u64) {
        self.idle_until(cycle);
        self.is_at_rest = false;
        if self.is_over || cycle < self.next {
            return;
        }
        self.look_inside(cycle);
        self.circuit.reset();
        self.last = B::In::default();
        self.see(CycleRecord { cycle, inputs: self.last, outputs: None });
        self.next = cycle + 1;
    }

    /// Ends the recording with cycles after the last clock, until the circuit is at rest.
    pub fn finish(&mut self) {
        self.idle_until(self.next.saturating_add(TAIL));
        self.is_over = true;
    }

    /// Clocks the circuit without an event in each cycle before `cycle`. At rest it needs no clock, because its outputs do not
    /// change. They are recorded once at the first recorded cycle.
    fn idle_until(&mut self, cycle: u64) {
        while self.next < cycle && !self.is_over {
            if self.is_at_rest && self.next != self.from {
                let is_before = self.next < self.from && self.from < cycle;
                self.next = if is_before { self.from } else { cycle };
                continue;
            }
            let inputs = without_event::<B>(&self.last);
            let mut is_at_rest = false;
            self.clock(self.next, &inputs, |circuit| {
                let (outputs, rests) = circuit.step_and_compare(&inputs)?;
                is_at_rest = rests;
                Ok(outputs)
            });
            self.is_at_rest = is_at_rest;
        }
    }

    /// Clocks the circuit once. If it ends, the recording ends.
    fn clock(
        &mut self,
        cycle: u64,
        inputs: &B::In,
        step: impl FnOnce(&mut Core<B>) -> Result<B::Out, Box<Ended>>,
    ) {
        if self.is_over || cycle < self.next {
            return;
        }
        self.look_inside(cycle);
        match step(&mut self.circuit) {
            Ok(outputs) => {
                self.see(CycleRecord { cycle, inputs: *inputs, outputs: Some((outputs, outputs)) })
            }
            Err(_) => {
                self.is_over = true;
                if let Some(inside) = &mut self.inside {
                    inside.values.truncate(self.records.len());
                }
            }
        }
        self.last = *inputs;
        self.next = cycle + 1;
    }

    fn wants(&self, cycle: u64) -> bool {
        cycle >= self.from && cycle - self.from < self.cycles
    }

    fn see(&mut self, record: CycleRecord<B>) {
        if self.wants(record.cycle) {
            self.records.push(record);
        }
    }

    /// Reads the registers before the edge of a recorded cycle.
    fn look_inside(&mut self, cycle: u64) {
        let is_wanted = self.wants(cycle);
        let rtl = self.circuit.rtl();
        if let (true, Some(inside), Some(rtl)) = (is_wanted, &mut self.inside, rtl) {
            inside.values.push(inside.registers.read(rtl.as_block()));
        }
    }

    /// Restarts the recording with the state of the core that has the recorded form. The next clock is in cycle `next`.
    ///
    /// # Errors
    /// If the state does not fit the circuit.
    pub fn restart<'a>(
        &mut self,
        mut cores: impl Iterator<Item = &'a Core<B>>,
        next: u64,
    ) -> Result<(), StateError> {
        let form = discriminant(&self.circuit);
        let mut saved = Writer::default();
        if let Some(core) = cores.find(|core| discriminant(*core) == form) {
            core.save(&mut saved);
        }
        self.circuit.load(&mut Reader::new(saved.bytes()))?;
        (self.next, self.last, self.is_at_rest) = (next, B::In::default(), false);
        self.records.clear();
        self.inside.iter_mut().for_each(|inside| inside.values.clear());
        Ok(())
    }
}

/// Returns inputs without an event. For a stream, which uses its data only in a handshake, they are the last inputs with
/// `valid_i` low. For other blocks all inputs are low.
fn without_event<B: HwBlock>(last: &B::In) -> B::In {
    let valid = B::In::NAMES.iter().position(|name| *name == "valid_i");
    match valid.filter(|_| B::IS_STREAM) {
        None => B::In::default(),
        Some(valid) => {
            let mut inputs = *last;
            inputs.load(valid, &[0]);
            inputs
        }
    }
}
