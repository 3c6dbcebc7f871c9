//! The scoreboard of a warp: the registers whose values are in flight, and the registers that each instruction accesses.
use selvedge_ptx::ptx::Instr;
use selvedge_state::State;

/// Registers of an instruction that are stored together. Nearly all instructions access at most that many.
const FEW: usize = 4;

/// The registers of one instruction, without duplicates, destinations first.
#[derive(Clone, Copy, Debug)]
struct InstructionRegisters {
    /// The first registers. Unused entries hold a register that is never in flight.
    few: [u16; FEW],
    /// Number of destinations.
    dests: u8,
    /// Number of registers beyond the first, and their start in [`Operands::more`].
    others: u8,
    more: u32,
}

/// The registers that each instruction of a kernel accesses, computed once per launch.
#[derive(Debug, Default)]
pub struct Operands {
    named: Vec<InstructionRegisters>,
    more: Vec<u16>,
}

impl Operands {
    /// Returns the registers of `code`, whose numbers are below `register_count`.
    pub fn of(code: &[Instr], register_count: usize) -> Self {
        let mut operands = Operands::default();
        code.iter().for_each(|instr| operands.push(instr.dests(), instr.sources(), register_count as u16));
        operands
    }

    /// Adds the registers of an instruction. `unused` fills unused entries of [`InstructionRegisters::few`].
    fn push(&mut self, dests: &[u16], sources: &[u16], unused: u16) {
        let mut all: Vec<u16> = Vec::with_capacity(dests.len() + sources.len());
        let mut add = |of: &[u16]| {
            for register in of {
                if !all.contains(register) {
                    all.push(*register);
                }
            }
            all.len() as u8
        };
        let dests = add(dests);
        add(sources);
        let mut few = [unused; FEW];
        let others = all.split_off(all.len().min(FEW));
        few[..all.len()].copy_from_slice(&all);
        self.named.push(InstructionRegisters {
            few,
            dests,
            others: others.len() as u8,
            more: self.more.len() as u32,
        });
        self.more.extend(others);
    }

    /// Returns the registers of an instruction beyond the first few.
    #[cold]
    fn others(&self, named: &InstructionRegisters) -> &[u16] {
        &self.more[named.more as usize..][..usize::from(named.others)]
    }

    /// Calls `f` with each destination of the instruction at `pc`; returns whether there is any.
    #[inline(always)]
    fn for_dests(&self, pc: u32, mut f: impl FnMut(usize)) -> bool {
        let named = &self.named[pc as usize];
        let dests = usize::from(named.dests);
        for register in named.few.iter().take(dests) {
            f(usize::from(*register));
        }
        if dests > FEW {
            self.others(named)[..dests - FEW].iter().for_each(|register| f(usize::from(*register)));
        }
        dests > 0
    }
}

/// Flag of a register whose value is in flight.
const IN_FLIGHT: u8 = 1;

/// Flag of a register whose value is in flight from memory.
const FROM_MEMORY: u8 = 2;

/// The registers of a warp whose values are in flight.
#[derive(Clone, Debug, Default, State)]
pub struct Scoreboard {
    /// Flags of each register, and of one additional register that is never in flight.
    registers: Box<[u8]>,
}

impl Scoreboard {
    /// Returns a scoreboard for registers with numbers below `count`, none of them in flight.
    pub fn new(count: usize) -> Self {
        Scoreboard { registers: vec![0; count + 1].into() }
    }

    /// Returns whether no register is in flight.
    pub fn is_empty(&self) -> bool {
        self.registers.iter().all(|flags| *flags == 0)
    }

    /// Returns whether a register is in flight.
    pub fn contains(&self, register: u16) -> bool {
        self.registers[usize::from(register)] != 0
    }

    /// Returns whether any register is in flight from memory.
    pub fn awaits_memory(&self) -> bool {
        self.registers.iter().any(|flags| flags & FROM_MEMORY != 0)
    }

    /// Marks the destinations of the instruction at `pc` as in flight. Returns whether it has any.
    #[inline(always)]
    pub fn insert_dests(&mut self, operands: &Operands, pc: u32) -> bool {
        operands.for_dests(pc, |register| self.registers[register] |= IN_FLIGHT)
    }

    /// Marks the destinations of the instruction at `pc`, which are in flight, as coming from memory.
    #[inline(always)]
    pub fn insert_from_memory(&mut self, operands: &Operands, pc: u32) {
        operands.for_dests(pc, |register| self.registers[register] |= FROM_MEMORY);
    }

    /// Marks the destinations of the instruction at `pc` as written.
    #[inline(always)]
    pub fn remove_dests(&mut self, operands: &Operands, pc: u32) {
        operands.for_dests(pc, |register| self.registers[register] = 0);
    }

    /// Marks all registers as written.
    pub fn clear(&mut self) {
        self.registers.fill(0);
    }

    /// Returns whether the instruction at `pc` reads or writes a register that is in flight.
    #[inline(always)]
    pub fn meets(&self, operands: &Operands, pc: u32) -> bool {
        self.flags(operands, pc) != 0
    }

    /// Returns whether the instruction at `pc` reads or writes a register that is in flight from memory.
    pub fn meets_memory(&self, operands: &Operands, pc: u32) -> bool {
        self.flags(operands, pc) & FROM_MEMORY != 0
    }

    /// Returns the combined flags of the registers that the instruction at `pc` accesses.
    #[inline(always)]
    fn flags(&self, operands: &Operands, pc: u32) -> u8 {
        let named = &operands.named[pc as usize];
        let flags =
            named.few.iter().fold(0, |flags, register| flags | self.registers[usize::from(*register)]);
        if named.others == 0 { flags } else { flags | self.flags_of(operands.others(named)) }
    }

    #[cold]
    fn flags_of(&self, registers: &[u16]) -> u8 {
        registers.iter().fold(0, |flags, register| flags | self.registers[usize::from(*register)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_ptx::ptx::Module;

    /// A kernel with instructions that access few and many registers.
    const TEXT: &str = "
        .version 7.0
        .target sm_60
        .address_size 64
        .visible .entry k(.param .u64 p) {
            .reg .pred %p<2>;
            .reg .b32 %r<200>;
            .reg .b64 %rd<3>;
            ld.param.u64 %rd1, [p];
            mov.u32 %r150, 1;
            mov.u32 %r3, 2;
            setp.eq.u32 %p1, %r3, 0;
            add.u32 %r3, %r150, %r3;
            @%p1 mad.lo.u32 %r4, %r3, %r150, %r7;
            ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd1];
            @!%p1 st.global.v4.u32 [%rd1], {%r8, %r9, %r10, %r11};
            ret;
        }";

    #[test]
    fn the_sets_of_an_instruction_are_the_registers_that_it_names() {
        let kernel = Module::parse("k.ptx", TEXT).expect("valid").kernel("k").expect("there is one");
        let operands = Operands::of(&kernel.code, kernel.register_count);
        let most = kernel.code.iter().map(|instr| instr.dests().len() + instr.sources().len()).max();
        assert!(most > Some(FEW), "an instruction names more than a few");
        for (pc, instr) in (0..).zip(&kernel.code) {
            for register in 0..kernel.register_count as u16 {
                let mut one = Scoreboard::new(kernel.register_count);
                one.registers[usize::from(register)] = IN_FLIGHT;
                let named = instr.dests().contains(&register) || instr.sources().contains(&register);
                assert_eq!(one.meets(&operands, pc), named, "register {register} of instruction {pc}");
                assert!(!one.meets_memory(&operands, pc) && !one.awaits_memory());
                let mut dests = Scoreboard::new(kernel.register_count);
                assert_eq!(dests.insert_dests(&operands, pc), !instr.dests().is_empty());
                assert_eq!(dests.contains(register), instr.dests().contains(&register));
                dests.insert_from_memory(&operands, pc);
                assert_eq!(dests.awaits_memory(), !instr.dests().is_empty());
                assert_eq!(dests.meets_memory(&operands, pc), !instr.dests().is_empty());
                dests.remove_dests(&operands, pc);
                assert!(dests.is_empty());
            }
        }
    }
}
