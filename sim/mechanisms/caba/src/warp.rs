//! An active assist warp: its work, its lanes, and a scoreboard of its results.
use super::instruction::{Instruction, NoInstruction};
use super::lanes::{Lanes, Made, OutsideLine};
use selvedge_gpu::config::{GpuConfig, L1dConfig, SmConfig};
use selvedge_gpu::sm::pipes::PipeKind;
use selvedge_state::State;

/// Registers and predicates that the scoreboard tracks.
const TRACKED: usize = 24;

/// Cycles of assist-warp instructions.
#[derive(Clone, Copy, Debug, State)]
pub struct AssistLatencies {
    /// Cycles from issue to result in the arithmetic pipes.
    pub alu: u64,
    /// Cycles from issue to result of a load, which hits the L1D.
    pub load: u64,
    /// Cycles from issue to result of a load from shared memory without bank conflicts.
    pub shared: u64,
    /// Cycles from issue of a store to the update of the line.
    pub store: u64,
}

impl AssistLatencies {
    /// Returns the latencies under a configuration.
    pub fn of(config: &GpuConfig) -> Self {
        let L1dConfig { front_latency, hit_latency, .. } = config.l1d;
        let SmConfig { pipeline_latency, lsu, alu, .. } = config.sm;
        AssistLatencies {
            alu: u64::from(pipeline_latency + alu.int_latency),
            load: u64::from(lsu.pipeline_latency + front_latency + hit_latency),
            shared: u64::from(lsu.pipeline_latency + lsu.shared_latency),
            store: u64::from(lsu.pipeline_latency + 32 / lsu.lanes),
        }
    }
}

/// An error of a routine.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WarpFault {
    /// The assist warp issued a word that is not an instruction.
    #[error(transparent)]
    NoInstruction(#[from] NoInstruction),
    /// The assist warp accessed bytes beyond its line.
    #[error(transparent)]
    OutsideLine(#[from] OutsideLine),
}

/// An instruction that waits for its operands and a pipe.
#[derive(Clone, Copy, Debug, State)]
pub struct DecodedInstruction {
    /// Number of the assist warp.
    pub assist: usize,
    /// The instruction.
    pub instruction: Instruction,
    /// The lanes in which it runs.
    pub mask: u32,
    /// `true` for the last instruction of its assist warp.
    pub last: bool,
}

impl DecodedInstruction {
    /// Returns the pipe that the instruction needs. `integers` is the kind of pipe for arithmetic instructions.
    pub fn pipe(&self, integers: PipeKind) -> PipeKind {
        if self.instruction.op.is_memory() { PipeKind::Memory } else { integers }
    }
}

/// An active assist warp.
#[derive(State)]
pub struct AssistWarp<W> {
    /// The parent's slot.
    pub warp: u8,
    /// `true` for high priority.
    pub high: bool,
    /// The purpose of the assist warp.
    pub work: W,
    /// The lanes.
    pub lanes: Lanes,
    /// Cycle in which each register and predicate is ready.
    ready_at: [u64; TRACKED],
    /// Cycle in which all issued instructions are done.
    done_at: u64,
    /// `true` after its last instruction has issued, or `done` has been executed.
    pub over: bool,
    /// `true` after a kill, while its instructions are being flushed.
    pub killed: bool,
}

impl<W> AssistWarp<W> {
    /// Returns an assist warp that has issued nothing.
    pub fn new(warp: u8, high: bool, work: W, lanes: Lanes) -> Self {
        AssistWarp { warp, high, work, lanes, ready_at: [0; TRACKED], done_at: 0, over: false, killed: false }
    }

    /// Returns whether the operands of an instruction are ready, and no result for its destination is in flight.
    pub fn is_ready(&self, instruction: &Instruction, now: u64) -> bool {
        let touched = instruction.touches();
        (0..TRACKED).all(|place| touched >> place & 1 == 0 || self.ready_at[place] <= now)
    }

    /// Issues an instruction. Returns the cycles for which it uses the banks of shared memory.
    ///
    /// # Errors
    /// If it accesses bytes beyond the line.
    pub fn issue(
        &mut self,
        decoded: &DecodedInstruction,
        now: u64,
        latencies: &AssistLatencies,
    ) -> Result<u32, WarpFault> {
        let DecodedInstruction { instruction, mask, last, .. } = decoded;
        debug_assert!(!self.over && self.is_ready(instruction, now));
        self.lanes.execute(instruction, *mask)?;
        let writes = instruction.writes();
        let bank_cycles =
            if instruction.op.is_in_table() { self.lanes.bank_cycles(instruction, *mask) } else { 0 };
        let latency = match (instruction.op.is_memory(), writes != 0) {
            (true, true) if instruction.op.is_in_table() => latencies.shared,
            (true, true) => latencies.load,
            (true, false) => latencies.store,
            _ => latencies.alu,
        };
        // The latency contains the first of the bank cycles.
        let there = now + latency + u64::from(bank_cycles.saturating_sub(1));
        for place in (0..TRACKED).filter(|place| writes >> place & 1 == 1) {
            self.ready_at[place] = there;
        }
        self.done_at = self.done_at.max(there);
        self.over = *last || self.lanes.made.is_some();
        Ok(bank_cycles)
    }

    /// Returns whether the assist warp is over and all its results are ready.
    pub fn is_done(&self, now: u64) -> bool {
        self.over && self.done_at <= now
    }

    /// Returns the result of `done`, if it was executed.
    pub fn made(&self) -> Option<Made> {
        self.lanes.made
    }
}
