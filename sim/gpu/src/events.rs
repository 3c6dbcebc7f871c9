//! Events that are counted for energy and for conservation laws: the work of issued instructions, operations of mechanisms'
//! blocks, bursts of lines in DRAM.
use crate::pipe_kind::PipeKind;
use crate::stats::counters;
use schemars::JsonSchema;
use selvedge_ptx::ptx::{Instr, OpClass};
use selvedge_state::State;
use serde::Serialize;
use std::collections::BTreeMap;

/// Operations per lane of a single-precision or integer division beside one of the special function unit, and of a double-precision
/// one: the dependent operations that the latencies of the configuration assume.
const DIVISION_OPERATIONS: u64 = 6;

/// Register operands that an assist warp's instruction is taken to read.
const ASSIST_READS: u64 = 2;

counters! {
/// The work of the instructions that an SM issued. Operations are those of active lanes. What assist warps do is counted
/// apart from what the program does; the energy of both is charged alike.
pub struct SmEvents {
    /// Warp instructions of assist warps; not among those of the kernels' warps.
    pub assist_instructions: u64,
    /// Loads and stores among them: each moves part of a line between L1D or store buffer and registers.
    pub assist_accesses: u64,
    /// Register operands that assist warps read.
    pub assist_register_reads: u64,
    /// Register operands that assist warps wrote.
    pub assist_register_writes: u64,
    /// Integer operations of assist warps; addresses of memory are among them.
    pub assist_int_ops: u64,
    /// Cycles in which assist warps accessed the banks of shared memory.
    pub assist_shared_cycles: u64,
    /// Register operands read, over warps; guards and addresses are among them.
    pub register_reads: u64,
    /// Register operands written, over warps.
    pub register_writes: u64,
    /// Integer operations but multiplications; conversions, exchanges between lanes and addresses of memory are among them.
    pub int_ops: u64,
    /// Integer multiplications.
    pub int_mul_ops: u64,
    /// Single-precision operations.
    pub fp32_ops: u64,
    /// Double-precision operations.
    pub fp64_ops: u64,
    /// Operations of the special function unit.
    pub sfu_ops: u64,
    /// Cycles in which the banks of shared memory were accessed.
    pub shared_cycles: u64,
}
}

/// Operations of mechanisms' blocks by the name of the block, SMs and partitions together: lines of a codec, for instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, State)]
#[serde(transparent)]
pub struct BlockOperations(BTreeMap<&'static str, u64>);

impl BlockOperations {
    /// Adds operations of a block.
    pub fn add(&mut self, block: &'static str, operations: u64) {
        *self.0.entry(block).or_default() += operations;
    }

    /// Returns the operations of a block.
    pub fn of(&self, block: &str) -> u64 {
        self.0.get(block).copied().unwrap_or(0)
    }

    /// Returns every counted block with its operations, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.0.iter().map(|(block, operations)| (*block, *operations))
    }
}

impl std::ops::Sub for &BlockOperations {
    type Output = BlockOperations;

    fn sub(self, earlier: Self) -> BlockOperations {
        let of_interval = self.iter().map(|(block, operations)| (block, operations - earlier.of(block)));
        BlockOperations(of_interval.collect())
    }
}

counters! {
/// Bursts of the lines that a mechanism keeps in DRAM in a form of its own.
pub struct LineBursts {
    /// That the lines took.
    pub data: u64,
    /// That they would have taken uncompressed.
    pub uncompressed: u64,
    /// Of their metadata.
    pub metadata: u64,
}
}

/// What an instruction makes work in each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    None,
    Int,
    IntMul,
    Fp32,
    Fp64,
    Sfu,
    /// A single-precision or integer division.
    Division,
    /// A double-precision division.
    Fp64Division,
}

/// How many [`Unit`]s there are.
const UNITS: usize = 8;

/// What one instruction makes work; computed once per launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    reads: u8,
    writes: u8,
    unit: Unit,
}

impl Work {
    /// Returns that of one instruction.
    pub fn of(instr: &Instr) -> Self {
        let unit = match instr.class {
            OpClass::Int | OpClass::Convert | OpClass::Warp => Unit::Int,
            OpClass::IntMul => Unit::IntMul,
            OpClass::Fp32 => Unit::Fp32,
            OpClass::Fp64 => Unit::Fp64,
            OpClass::Sfu => Unit::Sfu,
            OpClass::IntDiv | OpClass::Fp32Div => Unit::Division,
            OpClass::Fp64Div => Unit::Fp64Division,
            OpClass::Load | OpClass::Store | OpClass::Atomic | OpClass::Texture => Unit::Int,
            OpClass::Control | OpClass::System | OpClass::Barrier | OpClass::Fence | OpClass::Exit => {
                Unit::None
            }
        };
        Work { reads: instr.sources().len() as u8, writes: instr.dests().len() as u8, unit }
    }
}

/// What the instructions that an SM issued make work, by unit.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct WorkDone {
    register_reads: u64,
    register_writes: u64,
    /// Active lanes of the instructions of each unit.
    lanes: [u64; UNITS],
}

impl WorkDone {
    /// Counts an instruction of a kernel's warp with the given number of active lanes.
    #[inline(always)]
    pub fn count(&mut self, work: Work, lanes: u64) {
        self.register_reads += u64::from(work.reads);
        self.register_writes += u64::from(work.writes);
        self.lanes[work.unit as usize] += lanes;
    }

    /// Adds what was counted to `events`.
    pub fn add_to(&self, events: &mut SmEvents) {
        let lanes = |unit: Unit| self.lanes[unit as usize];
        events.register_reads += self.register_reads;
        events.register_writes += self.register_writes;
        events.int_ops += lanes(Unit::Int);
        events.int_mul_ops += lanes(Unit::IntMul);
        events.fp32_ops += lanes(Unit::Fp32) + DIVISION_OPERATIONS * lanes(Unit::Division);
        events.fp64_ops += lanes(Unit::Fp64) + (1 + DIVISION_OPERATIONS) * lanes(Unit::Fp64Division);
        events.sfu_ops += lanes(Unit::Sfu) + lanes(Unit::Division);
    }
}

impl SmEvents {
    /// An instruction of an assist warp issued to `pipe`: an integer operation in all lanes, or an access with its addresses, to
    /// a line or for `bank_cycles` to shared memory.
    pub fn count_assist(&mut self, pipe: PipeKind, bank_cycles: u32) {
        self.assist_instructions += 1;
        self.assist_accesses += u64::from(pipe == PipeKind::Memory && bank_cycles == 0);
        self.assist_shared_cycles += u64::from(bank_cycles);
        self.assist_register_reads += ASSIST_READS;
        self.assist_register_writes += 1;
        self.assist_int_ops += 32;
    }

    /// Returns register operands read, by the program and by assist warps.
    pub fn all_register_reads(&self) -> u64 {
        self.register_reads + self.assist_register_reads
    }

    /// Returns register operands written, by the program and by assist warps.
    pub fn all_register_writes(&self) -> u64 {
        self.register_writes + self.assist_register_writes
    }

    /// Returns integer operations of the program and of assist warps.
    pub fn all_int_ops(&self) -> u64 {
        self.int_ops + self.assist_int_ops
    }

    /// Returns cycles in which the program or assist warps accessed the banks of shared memory.
    pub fn all_shared_cycles(&self) -> u64 {
        self.shared_cycles + self.assist_shared_cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_count_by_lane_and_registers_by_warp() {
        let mut done = WorkDone::default();
        for (unit, lanes) in [
            (Unit::None, 32),
            (Unit::Int, 10),
            (Unit::IntMul, 15),
            (Unit::Fp32, 3),
            (Unit::Fp64, 5),
            (Unit::Sfu, 1),
            (Unit::Division, 2),
            (Unit::Fp64Division, 4),
        ] {
            done.count(Work { reads: 3, writes: 1, unit }, lanes);
        }
        let mut events = SmEvents::default();
        done.add_to(&mut events);
        let counted = SmEvents {
            register_reads: 24,
            register_writes: 8,
            int_ops: 10,
            int_mul_ops: 15,
            fp32_ops: 3 + 6 * 2,
            fp64_ops: 5 + 7 * 4,
            sfu_ops: 1 + 2,
            ..SmEvents::default()
        };
        assert_eq!(events, counted);
    }
}
