//! A streaming multiprocessor: its slots, schedulers and pipes.
use super::check::Checker;
use super::collector::Collector;
use super::read_only::{ReadOnly, Side};
use documented::DocumentedFields;
use serde::{Deserialize, Serialize};

/// A warp scheduler's policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulerPolicy {
    /// Greedy then oldest: the warp that issued last goes on until it stalls, then the oldest ready one.
    Gto,
    /// Loose round-robin.
    Lrr,
    /// Loose round-robin over a set of active warps, which warps leave while they wait for memory or at a barrier.
    TwoLevel,
    /// The ready warp of the oldest CTA, of its warps the first.
    OldestCtaFirst,
}

/// The integer and single-precision pipes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct Alu {
    /// Number of pipes.
    pub pipes: u32,
    /// Lanes of one pipe: it accepts a warp every 32/lanes cycles.
    pub lanes: u32,
    /// Issue to result of integer, logic, move and conversion instructions, cycles.
    pub int_latency: u32,
    /// Issue to result of single-precision instructions, cycles.
    pub fp32_latency: u32,
    /// Issue to result of integer multiplication, cycles.
    pub int_mul_latency: u32,
}

/// A group of equal pipes with one latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct Pipe {
    /// Number of pipes.
    pub pipes: u32,
    /// Lanes of one pipe: it accepts a warp every 32/lanes cycles.
    pub lanes: u32,
    /// Issue to result, cycles.
    pub latency: u32,
    /// Issue to result of a division or square root, cycles: what the instruction sequence takes that hardware
    /// executes for it. Single-precision and integer division run in the special-function pipes.
    pub div_latency: u32,
}

/// The load/store unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct Lsu {
    /// Lanes: an instruction occupies address generation for 32/lanes cycles.
    pub lanes: u32,
    /// Cycles of operand collection and of the registers between the stages, before address generation.
    pub pipeline_latency: u32,
    /// Shared-memory banks of 4 bytes.
    pub shared_banks: u32,
    /// Issue to result of a conflict-free shared-memory load, cycles.
    pub shared_latency: u32,
    /// Issue to result of a constant or parameter load, cycles (constant cache always hits).
    pub const_latency: u32,
    /// Memory instructions that wait for the L1D or shared memory.
    pub queue: u32,
}

/// One streaming multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct Sm {
    /// Number of SMs in the GPU.
    pub count: u32,
    /// Warp slots of an SM.
    pub warps: u32,
    /// CTA slots of an SM.
    pub ctas: u32,
    /// Threads resident in an SM.
    pub threads: u32,
    /// 32-bit registers of an SM.
    pub registers: u32,
    /// Most 32-bit registers that a thread of a kernel is given; a kernel that needs more runs with as many, and nothing is spilled.
    pub registers_per_thread: u32,
    /// Registers that a mechanism takes of each thread; no key of the file.
    #[serde(skip)]
    pub extra_registers: u32,
    /// Shared memory of an SM, bytes.
    pub shared_bytes: u32,
    /// Core cycles from a launch to its first CTA.
    pub launch_latency: u32,
    /// Warp schedulers; warp w belongs to scheduler w mod schedulers.
    pub schedulers: u32,
    /// The schedulers' policy.
    pub scheduler: SchedulerPolicy,
    /// Active warps of a two-level scheduler; the other policies do not look at it.
    pub active_warps: u32,
    /// Static wavefront limiting: how many of a scheduler's warps may issue, the oldest that are not at a barrier;
    /// 0 for all.
    pub wavefront_limit: u32,
    /// Issue of a branch, barrier or fence to the earliest issue of the warp's next instruction, cycles.
    pub branch_latency: u32,
    /// Cycles that operand collection and the registers between the stages add to every arithmetic instruction.
    pub pipeline_latency: u32,
    /// Integer and fp32 pipes.
    pub alu: Alu,
    /// Double-precision pipes.
    pub fp64: Pipe,
    /// Special-function pipes.
    pub sfu: Pipe,
    /// Load/store unit.
    pub lsu: Lsu,
    /// Register banks and operand collection.
    pub collector: Collector,
    /// Constant cache; without one constant and parameter loads take `lsu.const_latency`.
    pub constant: ReadOnly,
    /// Texture cache; without one textures are read through the L1D.
    pub texture: ReadOnly,
    /// Instruction cache; without one instructions are always there.
    pub instruction: ReadOnly,
}

impl Sm {
    /// One of the read-only caches.
    pub fn read_only(&self, side: Side) -> &ReadOnly {
        match side {
            Side::Constant => &self.constant,
            Side::Texture => &self.texture,
            Side::Instruction => &self.instruction,
        }
    }

    /// Lines of read-only caches come from an L2 with lines of `l2_line_bytes` bytes.
    pub(super) fn check(&self, l2_line_bytes: u32, check: &mut Checker<'_>) {
        check.range("sm.count", self.count, 1, 256);
        check.range("sm.warps", self.warps, 1, 128);
        check.range("sm.ctas", self.ctas, 1, 64);
        check.range("sm.threads", self.threads, 32, 4096);
        check.range("sm.registers", self.registers, 1, 1 << 20);
        check.range("sm.registers_per_thread", self.registers_per_thread, 16, 255);
        check.range("sm.shared_bytes", self.shared_bytes, 0, 1 << 20);
        check.range("sm.launch_latency", self.launch_latency, 0, 1 << 20);
        check.range("sm.schedulers", self.schedulers, 1, 8);
        check.range("sm.active_warps", self.active_warps, 1, 128);
        check.range("sm.wavefront_limit", self.wavefront_limit, 0, 128);
        if self.scheduler == SchedulerPolicy::TwoLevel && self.wavefront_limit > 0 {
            let allowed = "allowed with a two-level scheduler is 0: its active set is the limit";
            check.fail("sm.wavefront_limit", self.wavefront_limit, allowed.into());
        }
        check.range("sm.branch_latency", self.branch_latency, 1, 1000);
        check.range("sm.pipeline_latency", self.pipeline_latency, 0, 1000);
        self.check_pipes(check);
        self.lsu.check(check);
        self.collector.check(self.schedulers, [self.alu.pipes, self.fp64.pipes, self.sfu.pipes], check);
        self.constant.check("constant", l2_line_bytes, check);
        self.texture.check("texture", l2_line_bytes, check);
        self.instruction.check("instruction", l2_line_bytes, check);
    }

    fn check_pipes(&self, check: &mut Checker<'_>) {
        for (key, value) in [
            ("sm.alu.pipes", self.alu.pipes),
            ("sm.fp64.pipes", self.fp64.pipes),
            ("sm.sfu.pipes", self.sfu.pipes),
        ] {
            check.range(key, value, 1, 8);
        }
        for (key, value) in [
            ("sm.alu.lanes", self.alu.lanes),
            ("sm.fp64.lanes", self.fp64.lanes),
            ("sm.sfu.lanes", self.sfu.lanes),
        ] {
            check.lanes(key, value);
        }
        for (key, value) in [
            ("sm.alu.int_latency", self.alu.int_latency),
            ("sm.alu.fp32_latency", self.alu.fp32_latency),
            ("sm.alu.int_mul_latency", self.alu.int_mul_latency),
            ("sm.fp64.latency", self.fp64.latency),
            ("sm.fp64.div_latency", self.fp64.div_latency),
            ("sm.sfu.latency", self.sfu.latency),
            ("sm.sfu.div_latency", self.sfu.div_latency),
        ] {
            check.range(key, value, 1, 1000);
        }
    }
}

impl Lsu {
    fn check(&self, check: &mut Checker<'_>) {
        check.lanes("sm.lsu.lanes", self.lanes);
        check.range("sm.lsu.pipeline_latency", self.pipeline_latency, 0, 1000);
        check.power("sm.lsu.shared_banks", self.shared_banks, 1, 64);
        check.range("sm.lsu.shared_latency", self.shared_latency, 1, 1000);
        check.range("sm.lsu.const_latency", self.const_latency, 1, 1000);
        check.range("sm.lsu.queue", self.queue, 1, 64);
    }
}
