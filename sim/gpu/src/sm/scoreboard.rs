//! The scoreboard of a warp: the registers whose values are in flight, and the registers that each instruction names.
use selvedge_ptx::ptx::Instr;
use selvedge_state::State;

/// Registers of one word of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    word: u16,
    bits: u64,
}

/// The registers that each instruction of a kernel writes, and all that it names; computed once per launch.
#[derive(Debug, Default)]
pub struct Operands {
    parts: Vec<Part>,
    /// Two for each instruction: where its destinations begin, and where the registers that it only reads do.
    starts: Vec<u32>,
}

impl Operands {
    /// Returns the registers of `code`.
    pub fn of(code: &[Instr]) -> Self {
        let mut operands = Operands::default();
        for instr in code {
            operands.push(instr.dests(), &[]);
            operands.push(instr.sources(), instr.dests());
        }
        operands.starts.push(operands.parts.len() as u32);
        operands
    }

    /// Adds a set: the registers of `of` that are not in `without`.
    fn push(&mut self, of: &[u16], without: &[u16]) {
        let first = self.parts.len();
        self.starts.push(first as u32);
        for register in of.iter().filter(|register| !without.contains(register)) {
            let (word, bit) = (register / 64, 1 << (register % 64));
            match self.parts[first..].iter_mut().find(|part| part.word == word) {
                Some(part) => part.bits |= bit,
                None => self.parts.push(Part { word, bits: bit }),
            }
        }
    }

    fn between(&self, from: usize, to: usize) -> &[Part] {
        &self.parts[self.starts[from] as usize..self.starts[to] as usize]
    }

    fn dests(&self, pc: u32) -> &[Part] {
        let first = 2 * pc as usize;
        self.between(first, first + 1)
    }

    fn all(&self, pc: u32) -> &[Part] {
        let first = 2 * pc as usize;
        self.between(first, first + 2)
    }
}

/// A set of registers of a warp.
#[derive(Clone, Debug, Default, State)]
pub struct RegisterSet(Box<[u64]>);

impl RegisterSet {
    /// Returns an empty set for registers with numbers below `count`.
    pub fn new(count: usize) -> Self {
        RegisterSet(vec![0; count.div_ceil(64)].into())
    }

    /// Returns whether the set contains no register.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Returns whether the set contains a register.
    pub fn contains(&self, register: u16) -> bool {
        self.0[usize::from(register) / 64] >> (register % 64) & 1 != 0
    }

    /// Adds the destinations of the instruction at `pc`; false when it has none.
    pub fn insert_dests(&mut self, operands: &Operands, pc: u32) -> bool {
        let dests = operands.dests(pc);
        for part in dests {
            self.0[usize::from(part.word)] |= part.bits;
        }
        !dests.is_empty()
    }

    /// Removes the destinations of the instruction at `pc`.
    pub fn remove_dests(&mut self, operands: &Operands, pc: u32) {
        for part in operands.dests(pc) {
            self.0[usize::from(part.word)] &= !part.bits;
        }
    }

    /// Returns whether the instruction at `pc` reads or writes a register of the set.
    pub fn meets(&self, operands: &Operands, pc: u32) -> bool {
        operands.all(pc).iter().any(|part| self.0[usize::from(part.word)] & part.bits != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_ptx::ptx::Module;

    #[test]
    fn the_sets_of_an_instruction_are_the_registers_that_it_names() {
        let text = "
            .version 7.0
            .target sm_60
            .address_size 64
            .visible .entry k() {
                .reg .b32 %r<200>;
                mov.u32 %r150, 1;
                mov.u32 %r3, 2;
                add.u32 %r3, %r150, %r3;
                ret;
            }";
        let kernel = Module::parse("k.ptx", text).expect("valid").kernel("k").expect("there is one");
        let operands = Operands::of(&kernel.code);
        for (pc, instr) in (0..).zip(&kernel.code) {
            for register in 0..kernel.register_count as u16 {
                let mut one = RegisterSet::new(kernel.register_count);
                one.0[usize::from(register) / 64] |= 1 << (register % 64);
                let named = instr.dests().contains(&register) || instr.sources().contains(&register);
                assert_eq!(one.meets(&operands, pc), named, "register {register} of instruction {pc}");
                let mut dests = RegisterSet::new(kernel.register_count);
                assert_eq!(dests.insert_dests(&operands, pc), !instr.dests().is_empty());
                assert_eq!(dests.contains(register), instr.dests().contains(&register));
                dests.remove_dests(&operands, pc);
                assert!(dests.is_empty());
            }
        }
    }
}
