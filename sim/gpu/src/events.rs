//! Events for energy and conservation checks: work of issued instructions, operations of mechanisms' blocks, and DRAM bursts of
//! lines.
use crate::pipe_kind::PipeKind;
use crate::stats::{Scale, counters};
use schemars::JsonSchema;
use selvedge_ptx::ptx::{Instr, OpClass};
use selvedge_state::State;
use serde::Serialize;
use std::collections::BTreeMap;

/// Dependent operations per lane of a division. Single precision and integer add one operation of the special function unit,
/// double precision adds one double-precision operation. The latencies in the configuration assume the same number.
const DIVISION_OPERATIONS: u64 = 6;

/// Register operands that an instruction of an assist warp is assumed to read.
const ASSIST_READS: u64 = 2;

counters! {
/// Work of the instructions that an SM issued. Operations are counted once for each active lane. Work of assist warps has
/// separate counters; an event costs the same energy in both.
pub struct SmEvents {
    /// Warp instructions of assist warps, not included in the kernels' warp instructions.
    pub assist_instructions: u64,
    /// Loads and stores among these. Each moves a part of a line between the L1D or store buffer and registers.
    pub assist_accesses: u64,
    /// Register operands that assist warps read.
    pub assist_register_reads: u64,
    /// Register operands that assist warps wrote.
    pub assist_register_writes: u64,
    /// Integer operations of assist warps, including address computations.
    pub assist_int_ops: u64,
    /// Cycles in which assist warps accessed the banks of shared memory.
    pub assist_shared_cycles: u64,
    /// Register operands read, per warp, including guards and addresses.
    pub register_reads: u64,
    /// Register operands written, per warp.
    pub register_writes: u64,
    /// Integer operations except multiplications, including conversions, exchanges between lanes and address computations.
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

/// Operations of mechanisms' blocks by the name of the block, such as lines of a codec, summed over SMs and partitions.
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

    /// Returns every counted block with its operations, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.0.iter().map(|(block, operations)| (*block, *operations))
    }
}

impl std::ops::AddAssign<&BlockOperations> for BlockOperations {
    fn add_assign(&mut self, more: &BlockOperations) {
        more.iter().for_each(|(block, operations)| self.add(block, operations));
    }
}

impl Scale for BlockOperations {
    fn scaled(self, factor: f64) -> Self {
        BlockOperations(self.0.into_iter().map(|(block, count)| (block, count.scaled(factor))).collect())
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
/// DRAM bursts of lines that a mechanism stores in its own format.
pub struct LineBursts {
    /// Bursts of the stored lines.
    pub data: u64,
    /// Bursts that the lines would need uncompressed.
    pub uncompressed: u64,
    /// Bursts of the lines' metadata.
    pub metadata: u64,
}
}

/// Execution unit that an instruction uses in each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaneUnit {
    None,
    Int,
    IntMul,
    Fp32,
    Fp64,
    Sfu,
    /// Single-precision or integer division.
    Division,
    Fp64Division,
}

const UNITS: usize = 8;

/// Register accesses and unit of one instruction; computed once per launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionWork {
    reads: u8,
    writes: u8,
    unit: LaneUnit,
}

impl InstructionWork {
    /// Returns the work of one instruction.
    pub fn of(instr: &Instr) -> Self {
        let unit = match instr.class {
            OpClass::Int | OpClass::Convert | OpClass::Warp => LaneUnit::Int,
            OpClass::IntMul => LaneUnit::IntMul,
            // The table of energies has no tensor core: a product costs a multiply-add per lane.
            OpClass::Fp32 | OpClass::Matrix(_) => LaneUnit::Fp32,
            OpClass::Fp64 | OpClass::MatrixFp64(_) => LaneUnit::Fp64,
            OpClass::Sfu => LaneUnit::Sfu,
            OpClass::IntDiv | OpClass::Fp32Div => LaneUnit::Division,
            OpClass::Fp64Div => LaneUnit::Fp64Division,
            OpClass::Load | OpClass::Store | OpClass::Atomic | OpClass::Texture => LaneUnit::Int,
            OpClass::Control | OpClass::System | OpClass::Barrier | OpClass::Fence | OpClass::Exit => {
                LaneUnit::None
            }
        };
        InstructionWork { reads: instr.sources().len() as u8, writes: instr.dests().len() as u8, unit }
    }
}

/// Work of the instructions that an SM issued, by unit.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct WorkDone {
    register_reads: u64,
    register_writes: u64,
    /// Active lanes of the instructions of each unit.
    lanes: [u64; UNITS],
}

impl WorkDone {
    /// Counts an instruction of a kernel's warp with `lanes` active lanes.
    #[inline(always)]
    pub fn count(&mut self, work: InstructionWork, lanes: u64) {
        self.register_reads += u64::from(work.reads);
        self.register_writes += u64::from(work.writes);
        self.lanes[work.unit as usize] += lanes;
    }

    /// Adds the counted work to `events`.
    pub fn add_to(&self, events: &mut SmEvents) {
        let lanes = |unit: LaneUnit| self.lanes[unit as usize];
        events.register_reads += self.register_reads;
        events.register_writes += self.register_writes;
        events.int_ops += lanes(LaneUnit::Int);
        events.int_mul_ops += lanes(LaneUnit::IntMul);
        events.fp32_ops += lanes(LaneUnit::Fp32) + DIVISION_OPERATIONS * lanes(LaneUnit::Division);
        events.fp64_ops += lanes(LaneUnit::Fp64) + (1 + DIVISION_OPERATIONS) * lanes(LaneUnit::Fp64Division);
        events.sfu_ops += lanes(LaneUnit::Sfu) + lanes(LaneUnit::Division);
    }
}

impl SmEvents {
    /// Counts an instruction that an assist warp issued to `pipe`. It is an integer operation in all lanes, or an access with its
    /// address computation. An access goes to a line, or to shared memory if `bank_cycles` is not 0.
    pub fn count_assist(&mut self, pipe: PipeKind, bank_cycles: u32) {
        self.assist_instructions += 1;
        self.assist_accesses += u64::from(pipe == PipeKind::Memory && bank_cycles == 0);
        self.assist_shared_cycles += u64::from(bank_cycles);
        self.assist_register_reads += ASSIST_READS;
        self.assist_register_writes += 1;
        self.assist_int_ops += 32;
    }

    /// Returns the register operands read by the program and by assist warps.
    pub fn all_register_reads(&self) -> u64 {
        self.register_reads + self.assist_register_reads
    }

    /// Returns the register operands written by the program and by assist warps.
    pub fn all_register_writes(&self) -> u64 {
        self.register_writes + self.assist_register_writes
    }

    /// Returns the integer operations of the program and of assist warps.
    pub fn all_int_ops(&self) -> u64 {
        self.int_ops + self.assist_int_ops
    }

    /// Returns the cycles in which the program or assist warps accessed the banks of shared memory.
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
            (LaneUnit::None, 32),
            (LaneUnit::Int, 10),
            (LaneUnit::IntMul, 15),
            (LaneUnit::Fp32, 3),
            (LaneUnit::Fp64, 5),
            (LaneUnit::Sfu, 1),
            (LaneUnit::Division, 2),
            (LaneUnit::Fp64Division, 4),
        ] {
            done.count(InstructionWork { reads: 3, writes: 1, unit }, lanes);
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
