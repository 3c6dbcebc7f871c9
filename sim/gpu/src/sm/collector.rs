//! Operand collection: issued instructions read their operands from register banks before they enter their pipes.
//!
//! ```text
//! issue -> [registers] -> [units] -> [registers] -> pipe
//!                          ^ reads
//!                        banks <- writes of results, which go first
//! ```
//! A core cycle has one or more steps. In each step, units with all operands move their instructions to the registers in front of
//! the pipes. Each bank that is not written reads its oldest requested operand. Waiting instructions then take free units.
use super::pipes::{EXECUTING, PipeKind};
use super::token::InstId;
use crate::config::{CollectorConfig as Config, CollectorSet, SmConfig};
use selvedge_state::State;
use std::collections::VecDeque;

/// Core cycles from issue to the pipe without any stall: the register in front of the units, a unit, a cycle to read, and the
/// register in front of the pipe.
pub const EMPTY_CYCLES: u64 = 4;

/// Index of the set of units that all kinds of pipes share.
const SHARED: usize = EXECUTING;

/// The continuation of an instruction after it enters its pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum AfterPipe {
    /// Its result is available this number of cycles after issue if nothing stalls.
    Result(u32),
    /// It has no result.
    Nothing,
    /// The load/store unit takes it.
    Memory(InstId),
}

/// An instruction in operand collection, between its issue and its pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Collected {
    /// The warp slot of the instruction.
    pub warp: u8,
    /// Index of the instruction in the kernel's code.
    pub pc: u32,
    /// The kind of pipe that executes it.
    pub pipe: PipeKind,
    /// Cycles for which it occupies its pipe.
    pub interval: u16,
    /// Number of the scheduler that issued it.
    pub scheduler: u8,
    /// The continuation in the pipe.
    pub next: AfterPipe,
}

/// An instruction that waits for a unit, with the banks of its operands.
#[derive(Clone, Copy, Debug, State)]
struct WaitingInstruction {
    instruction: Collected,
    banks: [u8; MOST_OPERANDS],
    operands: u8,
}

/// Max operands of an instruction that are read. GPGPU-Sim's limit is 32; PTX instructions have fewer than 16.
const MOST_OPERANDS: usize = 16;

#[derive(Clone, Copy, Debug, Default, State)]
struct CollectorUnit {
    instruction: Option<Collected>,
    /// Operands that have not been read yet.
    missing: u8,
}

/// A set of units.
#[derive(Debug, State)]
struct CollectorUnits {
    /// Number of its first unit, and number of units.
    first: usize,
    count: usize,
    ports: u32,
    /// The unit of the set that last released an instruction, as an index in the set.
    last: usize,
}

/// The operand collection of one SM.
#[derive(Debug, State)]
pub struct OperandCollector {
    #[state(skip = "the configuration")]
    config: Config,
    schedulers: usize,
    /// By kind of pipe: instructions that wait for a unit (`before`) and instructions that wait for their pipe (`behind`).
    before: [VecDeque<WaitingInstruction>; EXECUTING],
    behind: [VecDeque<Collected>; EXECUTING],
    units: Vec<CollectorUnit>,
    sets: Vec<CollectorUnits>,
    /// By bank: the units that have requested an operand, in order.
    asked: Vec<VecDeque<u8>>,
    /// Banks that are written in this cycle, one bit each.
    written: u64,
    /// Instructions in operand collection.
    inside: usize,
}

impl OperandCollector {
    /// Returns the empty operand collection of an SM. `None` if the configuration has no operand collection.
    pub fn new(sm: &SmConfig) -> Option<Box<Self>> {
        const NONE: CollectorSet = CollectorSet { units: 0, ports: 0, registers: 0 };
        let mut config = sm.collector;
        if !config.is_there() {
            return None;
        }
        if sm.tensor.pipes == 0 {
            config.tensor = NONE;
        }
        if sm.alu.int_pipes == 0 {
            config.int = NONE;
        }
        let mut first = 0;
        let set = |set: &CollectorSet| {
            let count = set.units as usize;
            first += count;
            CollectorUnits { first: first - count, count, ports: set.ports, last: 0 }
        };
        let sets: Vec<CollectorUnits> = config.sets().into_iter().chain([&config.shared]).map(set).collect();
        Some(Box::new(OperandCollector {
            config,
            schedulers: sm.schedulers as usize,
            before: Default::default(),
            behind: Default::default(),
            units: vec![CollectorUnit::default(); first],
            sets,
            asked: vec![VecDeque::new(); config.banks as usize],
            written: 0,
            inside: 0,
        }))
    }

    /// Returns whether any instruction is in operand collection.
    pub fn is_busy(&self) -> bool {
        self.inside > 0
    }

    /// Returns whether each scheduler has its own share of the pipes.
    pub fn has_sub_cores(&self) -> bool {
        self.config.sub_cores
    }

    /// Returns the bank of a register of a warp.
    fn bank(&self, register: u16, warp: u8) -> usize {
        let number = usize::from(register) + usize::from(warp);
        let banks = self.asked.len();
        if !self.config.sub_cores {
            return number % banks;
        }
        let share = banks / self.schedulers;
        number % share + usize::from(warp) % self.schedulers * share
    }

    /// Returns the number of registers in front of a kind of pipe that one scheduler's instructions may occupy.
    fn registers(&self, kind: PipeKind) -> usize {
        let all = self.config.sets()[kind as usize].registers as usize;
        if self.config.sub_cores { all / self.schedulers } else { all }
    }

    /// Returns whether `scheduler` may issue an instruction for a kind of pipe.
    pub fn has_room(&self, kind: PipeKind, scheduler: usize) -> bool {
        let waiting = &self.before[kind as usize];
        let taken = if self.config.sub_cores {
            waiting.iter().filter(|w| usize::from(w.instruction.scheduler) == scheduler).count()
        } else {
            waiting.len()
        };
        taken < self.registers(kind)
    }

    /// Takes an issued instruction that reads registers `sources`.
    pub fn issue(&mut self, instruction: Collected, sources: &[u16]) {
        let mut banks = [0; MOST_OPERANDS];
        let operands = sources.len().min(MOST_OPERANDS);
        for (bank, source) in banks.iter_mut().zip(sources) {
            *bank = self.bank(*source, instruction.warp) as u8;
        }
        self.before[instruction.pipe as usize].push_back(WaitingInstruction {
            instruction,
            banks,
            operands: operands as u8,
        });
        self.inside += 1;
    }

    /// Occupies the bank of a register for a result that is written in this cycle.
    pub fn write(&mut self, register: u16, warp: u8) {
        self.written |= 1 << self.bank(register, warp);
    }

    /// Takes the oldest instruction that waits for a kind of pipe and whose scheduler has a free pipe, according to `is_free`.
    pub fn start(&mut self, kind: PipeKind, is_free: impl Fn(u8) -> bool) -> Option<Collected> {
        let waiting = &mut self.behind[kind as usize];
        let at = waiting.iter().position(|instruction| is_free(instruction.scheduler))?;
        self.inside -= 1;
        waiting.remove(at)
    }

    /// Runs the steps of a core cycle.
    pub fn cycle(&mut self) {
        for _ in 0..if self.inside > 0 { self.config.steps } else { 0 } {
            self.let_go();
            self.read();
            self.give_units();
            self.written = 0;
        }
        self.written = 0;
    }

    /// Moves instructions with all operands from their units to the registers in front of the pipes.
    fn let_go(&mut self) {
        for number in 0..self.sets.len() {
            for _ in 0..self.sets[number].ports {
                let Some(at) = self.ready_unit(number) else { break };
                let set = &mut self.sets[number];
                set.last = at;
                let unit = &mut self.units[set.first + at];
                if let Some(instruction) = unit.instruction.take() {
                    self.behind[instruction.pipe as usize].push_back(instruction);
                }
            }
        }
    }

    /// Returns the next unit of a set, in round-robin order, whose instruction may leave.
    fn ready_unit(&self, number: usize) -> Option<usize> {
        let set = &self.sets[number];
        (1..=set.count).map(|n| (set.last + n) % set.count).find(|at| {
            let unit = &self.units[set.first + at];
            unit.missing == 0 && unit.instruction.is_some_and(|instruction| self.may_leave(&instruction))
        })
    }

    /// Returns whether a register in front of the instruction's pipe is free.
    fn may_leave(&self, instruction: &Collected) -> bool {
        let waiting = &self.behind[instruction.pipe as usize];
        let taken = if self.config.sub_cores {
            waiting.iter().filter(|other| other.scheduler == instruction.scheduler).count()
        } else {
            waiting.len()
        };
        taken < self.registers(instruction.pipe)
    }

    /// Lets every bank that is not written read one operand.
    fn read(&mut self) {
        for (bank, asked) in self.asked.iter_mut().enumerate() {
            if self.written >> bank & 1 == 0
                && let Some(unit) = asked.pop_front()
            {
                self.units[usize::from(unit)].missing -= 1;
            }
        }
    }

    /// Gives free units to waiting instructions, the oldest of each kind first.
    fn give_units(&mut self) {
        for kind in 0..EXECUTING {
            if self.sets[kind].count > 0 {
                for _ in 0..self.sets[kind].ports {
                    self.give_unit(kind, kind);
                }
            }
        }
        for _ in 0..if self.sets[SHARED].count > 0 { self.sets[SHARED].ports } else { 0 } {
            for kind in 0..EXECUTING {
                if self.sets[kind].count == 0 {
                    self.give_unit(kind, SHARED);
                }
            }
        }
    }

    /// Gives a free unit of a set to the oldest waiting instruction of a kind.
    fn give_unit(&mut self, kind: usize, set: usize) {
        let Some(waiting) = self.before[kind].front().copied() else { return };
        let CollectorUnits { first, count, .. } = self.sets[set];
        let own = if self.config.sub_cores {
            let share = count / self.schedulers;
            let from = first + usize::from(waiting.instruction.scheduler) * share;
            from..from + share
        } else {
            first..first + count
        };
        let Some(free) = own.clone().find(|at| self.units[*at].instruction.is_none()) else { return };
        self.before[kind].pop_front();
        self.units[free] =
            CollectorUnit { instruction: Some(waiting.instruction), missing: waiting.operands };
        for bank in &waiting.banks[..usize::from(waiting.operands)] {
            self.asked[usize::from(*bank)].push_back(free as u8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::GpuConfig;

    const NONE: CollectorSet = CollectorSet { units: 0, ports: 0, registers: 1 };

    fn config(units: u32, banks: u32) -> Config {
        let set = CollectorSet { units, ports: 2, registers: 2 };
        Config {
            banks,
            steps: 1,
            sub_cores: false,
            shared: NONE,
            alu: set,
            fp64: set,
            sfu: set,
            memory: set,
            tensor: NONE,
            int: NONE,
        }
    }

    fn collector(config: &Config) -> Box<OperandCollector> {
        let sm = GpuConfig::load("gtx480").expect("built in").sm;
        OperandCollector::new(&SmConfig { collector: *config, schedulers: 2, ..sm }).expect("it has banks")
    }

    fn instruction(warp: u8) -> Collected {
        Collected {
            warp,
            pc: 0,
            pipe: PipeKind::Alu,
            interval: 1,
            scheduler: warp % 2,
            next: AfterPipe::Result(10),
        }
    }

    /// Returns the cycles after its issue in which each instruction enters its pipe. All are issued in one cycle by different
    /// warps.
    fn arrivals(config: &Config, sources: &[&[u16]]) -> Vec<u64> {
        let mut collector = collector(config);
        for (warp, sources) in sources.iter().enumerate() {
            collector.issue(instruction(warp as u8), sources);
        }
        let mut arrivals = vec![0; sources.len()];
        for cycle in 1..100 {
            while let Some(started) = collector.start(PipeKind::Alu, |_| true) {
                arrivals[usize::from(started.warp)] = cycle;
            }
            collector.cycle();
        }
        assert!(!collector.is_busy());
        arrivals
    }

    #[test]
    fn without_conflicts_an_instruction_takes_the_cycles_of_an_empty_collection() {
        assert_eq!(arrivals(&config(4, 16), &[&[1, 2]]), [EMPTY_CYCLES]);
        assert_eq!(arrivals(&config(4, 16), &[&[]]), [EMPTY_CYCLES - 1], "nothing is read");
        let twice = Config { steps: 2, ..config(4, 16) };
        assert_eq!(
            arrivals(&twice, &[&[1, 2]]),
            [EMPTY_CYCLES - 1],
            "a unit reads in the cycle that it is given in"
        );
    }

    #[test]
    fn operands_of_one_bank_are_read_one_after_the_other() {
        assert_eq!(arrivals(&config(4, 16), &[&[1, 17, 33]]), [EMPTY_CYCLES + 2]);
        // Register 0 of warp 1 is in the same bank as register 1 of warp 0.
        assert_eq!(arrivals(&config(4, 16), &[&[1], &[0]]), [EMPTY_CYCLES, EMPTY_CYCLES + 1]);
    }

    #[test]
    fn instructions_wait_for_units() {
        assert_eq!(arrivals(&config(1, 16), &[&[1], &[1]]), [EMPTY_CYCLES, EMPTY_CYCLES + 2]);
        let shared = Config {
            shared: CollectorSet { units: 1, ports: 2, registers: 0 },
            alu: CollectorSet { units: 0, ports: 0, registers: 2 },
            ..config(1, 16)
        };
        assert_eq!(arrivals(&shared, &[&[1], &[1]]), [EMPTY_CYCLES, EMPTY_CYCLES + 2]);
    }

    #[test]
    fn a_bank_that_is_written_does_not_read() {
        let mut collector = collector(&config(4, 16));
        collector.issue(instruction(0), &[5]);
        collector.cycle();
        collector.write(5, 0);
        collector.cycle();
        collector.cycle();
        collector.cycle();
        assert_eq!(collector.start(PipeKind::Alu, |_| true), Some(instruction(0)), "a cycle later");
    }

    #[test]
    fn a_sub_core_has_its_own_banks_and_registers() {
        let mut collector = collector(&Config { sub_cores: true, ..config(4, 16) });
        assert_eq!((collector.bank(9, 0), collector.bank(8, 1)), (1, 9));
        assert!(collector.has_room(PipeKind::Alu, 0));
        collector.issue(instruction(0), &[]);
        assert!(!collector.has_room(PipeKind::Alu, 0));
        assert!(collector.has_room(PipeKind::Alu, 1));
        (0..2).for_each(|_| collector.cycle());
        assert_eq!(collector.start(PipeKind::Alu, |scheduler| scheduler == 1), None, "another's pipe");
        assert!(collector.start(PipeKind::Alu, |scheduler| scheduler == 0).is_some());
    }
}
