//! Configuration of an SM: its slots, schedulers and pipes.
use super::check::Checker;
use super::collector::CollectorConfig;
use super::read_only::{ReadOnly, ReadOnlyCache};
use crate::kernel_slots::KERNEL_SLOTS;
use crate::pipe_kind::{EXECUTING, PipeKind};
use documented::DocumentedFields;
use selvedge_ptx::clusters::MOST_CTAS;
use selvedge_ptx::ptx::MOST_MATRIX_WORK;
use serde::{Deserialize, Serialize};

/// Policy of a warp scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulerPolicy {
    /// Greedy then oldest: the warp that issued last continues until it stalls; then the oldest ready warp issues.
    Gto,
    /// Loose round-robin.
    Lrr,
    /// Loose round-robin over a set of active warps. A warp leaves the set while it waits for memory or at a barrier.
    TwoLevel,
    /// The oldest ready warp; warps of older CTAs are older.
    OldestCtaFirst,
}

/// Integer and single-precision pipes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct AluConfig {
    /// Number of single-precision pipes.
    pub pipes: u32,
    /// Core cycles for which a warp occupies a single-precision pipe: 32 over the pipe's lanes.
    pub interval: u32,
    /// Number of integer pipes. 0: the single-precision pipes execute integer instructions.
    pub int_pipes: u32,
    /// Core cycles for which a warp occupies an integer pipe: 32 over the pipe's lanes.
    pub int_interval: u32,
    /// Latency from issue to result of integer, logic, move and conversion instructions, core cycles.
    pub int_latency: u32,
    /// Latency from issue to result of single-precision instructions, core cycles.
    pub fp32_latency: u32,
    /// Latency from issue to result of an integer multiplication, core cycles.
    pub int_mul_latency: u32,
    /// Latency from issue to result of an integer division or remainder, core cycles. The special-function pipes execute
    /// it.
    pub int_div_latency: u32,
}

impl AluConfig {
    /// Returns the kind of pipe that executes integer instructions.
    pub fn integer_pipe(&self) -> PipeKind {
        if self.int_pipes > 0 { PipeKind::Int } else { PipeKind::Alu }
    }

    /// Returns the integer instructions that all pipes accept per cycle, in warps.
    pub fn integer_rate(&self) -> f64 {
        let (pipes, interval) = match self.int_pipes {
            0 => (self.pipes, self.interval),
            pipes => (pipes, self.int_interval),
        };
        f64::from(pipes) / f64::from(interval)
    }
}

/// A group of equal pipes with one latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct PipeConfig {
    /// Number of pipes.
    pub pipes: u32,
    /// Core cycles for which a warp occupies a pipe: 32 over the pipe's lanes.
    pub interval: u32,
    /// Core cycles for which a warp's division or square root occupies a pipe. Integer divisions occupy the special-function
    /// pipes.
    pub div_interval: u32,
    /// Latency from issue to result, core cycles.
    pub latency: u32,
    /// Latency from issue to result of a division or square root, core cycles: that of the hardware's instruction sequence.
    /// Single-precision division runs in the special-function pipes.
    pub div_latency: u32,
}

/// Tensor cores: the pipes of matrix products.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct TensorConfig {
    /// Number of tensor cores. 0: none; a matrix product takes the time of one single-precision or double-precision
    /// instruction.
    pub pipes: u32,
    /// Multiply-adds of a tensor core per core cycle, with 16-bit factors. A multiply-add of n-bit factors counts as n / 16.
    /// The tensor core accepts the next product after its multiply-adds / `macs` cycles.
    pub macs: u32,
    /// Multiply-adds of a tensor core per core cycle in double precision. 0: a product in double precision takes the time of
    /// one double-precision instruction.
    pub fp64_macs: u32,
    /// Latency from issue to result of a product that occupies its tensor core for one cycle, core cycles. Each further cycle
    /// adds one.
    pub latency: u32,
}

impl TensorConfig {
    /// Returns the cycles for which a product of `work` 16-bit multiply-adds occupies a tensor core; `None` without tensor cores.
    pub fn interval(&self, work: u16) -> Option<u16> {
        self.cycles(work, self.macs)
    }

    /// Returns the cycles for which a product of `work` double-precision multiply-adds occupies a tensor core; `None` if tensor
    /// cores do not execute them.
    pub fn fp64_interval(&self, work: u16) -> Option<u16> {
        self.cycles(work, self.fp64_macs)
    }

    /// Returns the latency of a product that occupies its tensor core for `interval` cycles.
    pub fn latency_of(&self, interval: u16) -> u32 {
        self.latency + u32::from(interval) - 1
    }

    /// Returns the longest latency of a product; 1 without tensor cores.
    pub fn longest_latency(&self) -> u32 {
        let intervals = [self.interval(MOST_MATRIX_WORK), self.fp64_interval(MOST_MATRIX_WORK)];
        intervals.into_iter().flatten().max().map_or(1, |interval| self.latency_of(interval))
    }

    fn cycles(&self, work: u16, macs: u32) -> Option<u16> {
        let is_there = self.pipes > 0 && macs > 0;
        is_there.then(|| u32::from(work).div_ceil(macs).max(1) as u16)
    }
}

/// Load/store unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct LsuConfig {
    /// Lanes, a power of two up to 32. An instruction occupies address generation for 32/lanes cycles.
    pub lanes: u32,
    /// Core cycles of operand collection and pipeline registers, before address generation.
    pub pipeline_latency: u32,
    /// Number of shared-memory banks, each 4 bytes wide; a power of two.
    pub shared_banks: u32,
    /// Latency from issue to result of a shared-memory load without bank conflicts, core cycles.
    pub shared_latency: u32,
    /// Latency from issue to result of a constant or parameter load without a constant cache, core cycles. Also the latency
    /// of memory instructions without an active lane.
    pub const_latency: u32,
    /// Entries of the queue of memory instructions that wait for the L1D or shared memory.
    pub queue: u32,
    /// Splits loads and stores of 1-byte and 2-byte elements into transactions of 32 and 64 bytes. If false, each transaction
    /// covers a line.
    pub segments: bool,
}

/// Clusters of CTAs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct ClusterConfig {
    /// Max CTAs of a cluster. 1: the GPU has no clusters, and the other keys have no effect.
    pub ctas: u32,
    /// SMs of a group. A cluster runs in one group. Groups are adjacent SMs; the last group has the rest.
    pub sms: u32,
    /// Latency from issue to result of a load of another CTA's shared memory, core cycles. Also the latency of messages to its
    /// barriers.
    pub latency: u32,
    /// Bytes that an SM sends to or receives from other SMs of its group per core cycle. Accesses count in segments of 32 bytes.
    pub bytes: u32,
}

impl ClusterConfig {
    fn check(&self, check: &mut Checker<'_>) {
        check.range("sm.cluster.ctas", self.ctas, 1, MOST_CTAS);
        check.range("sm.cluster.sms", self.sms, 1, 256);
        check.range("sm.cluster.latency", self.latency, 1, 1000);
        check.range("sm.cluster.bytes", self.bytes, 1, 1024);
    }
}

/// A streaming multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct SmConfig {
    /// Number of SMs in the GPU.
    pub count: u32,
    /// Warp slots of an SM.
    pub warps: u32,
    /// CTA slots of an SM.
    pub ctas: u32,
    /// Max resident threads of an SM.
    pub threads: u32,
    /// Number of 32-bit registers of an SM.
    pub registers: u32,
    /// Max 32-bit registers of a thread. A kernel that needs more runs with this number; no registers are spilled.
    pub registers_per_thread: u32,
    /// Registers per thread that a mechanism reserves. Not a key of the file.
    #[serde(skip)]
    pub extra_registers: u32,
    /// Shared memory of an SM, bytes.
    pub shared_bytes: u32,
    /// Core cycles from a launch to its first CTA.
    pub launch_latency: u32,
    /// Max launches of different streams that run at the same time.
    pub concurrent_launches: u32,
    /// Keeps the constant cache at a launch, even if arguments or constants have changed. If false, the changed lines are
    /// invalidated.
    pub keep_constants: bool,
    /// Number of warp schedulers of an SM. Warp w belongs to scheduler w mod `schedulers`.
    pub schedulers: u32,
    /// Policy of the warp schedulers.
    pub scheduler: SchedulerPolicy,
    /// Active warps of a two-level scheduler. Other policies ignore it.
    pub active_warps: u32,
    /// Static wavefront limiting: the max number of a scheduler's warps that may issue, the oldest ones that are not at a
    /// barrier. 0: all.
    pub wavefront_limit: u32,
    /// Core cycles from the issue of a branch, barrier or fence to the earliest issue of the warp's next instruction.
    pub branch_latency: u32,
    /// Core cycles that operand collection and pipeline registers add to every arithmetic instruction.
    pub pipeline_latency: u32,
    /// Integer and single-precision pipes.
    pub alu: AluConfig,
    /// Double-precision pipes.
    pub fp64: PipeConfig,
    /// Special-function pipes.
    pub sfu: PipeConfig,
    /// Tensor cores.
    pub tensor: TensorConfig,
    /// Load/store unit.
    pub lsu: LsuConfig,
    /// Clusters of CTAs.
    pub cluster: ClusterConfig,
    /// Register banks and operand collection.
    pub collector: CollectorConfig,
    /// Constant cache. Without it, constant and parameter loads take `lsu.const_latency` cycles.
    pub constant: ReadOnly,
    /// Texture cache. Without it, textures are read through the L1D.
    pub texture: ReadOnly,
    /// Instruction cache. Without it, instructions are always present.
    pub instruction: ReadOnly,
}

impl SmConfig {
    /// Returns the configuration of a read-only cache.
    pub fn read_only(&self, cache: ReadOnlyCache) -> &ReadOnly {
        match cache {
            ReadOnlyCache::Constant => &self.constant,
            ReadOnlyCache::Texture => &self.texture,
            ReadOnlyCache::Instruction => &self.instruction,
        }
    }

    /// Returns the number of pipes of each kind with pipes, in order of [`PipeKind`].
    pub fn pipe_counts(&self) -> [u32; EXECUTING] {
        [self.alu.pipes, self.fp64.pipes, self.sfu.pipes, 1, self.tensor.pipes, self.alu.int_pipes]
    }

    /// Checks the SM. Its read-only caches get their lines from an L2 with lines of `l2_line_bytes` bytes.
    pub(super) fn check(&self, l2_line_bytes: u32, check: &mut Checker<'_>) {
        check.range("sm.count", self.count, 1, 256);
        check.range("sm.warps", self.warps, 1, 128);
        check.range("sm.ctas", self.ctas, 1, 64);
        check.range("sm.threads", self.threads, 32, 4096);
        check.range("sm.registers", self.registers, 1, 1 << 20);
        check.range("sm.registers_per_thread", self.registers_per_thread, 16, 255);
        check.range("sm.shared_bytes", self.shared_bytes, 0, 1 << 20);
        check.range("sm.concurrent_launches", self.concurrent_launches, 1, KERNEL_SLOTS as u32);
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
        self.cluster.check(check);
        self.collector.check(self.schedulers, self.pipe_counts(), check);
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
        check.range("sm.alu.int_pipes", self.alu.int_pipes, 0, 8);
        check.range("sm.tensor.pipes", self.tensor.pipes, 0, 8);
        check.range("sm.tensor.macs", self.tensor.macs, u32::from(self.tensor.pipes > 0), 1 << 16);
        check.range("sm.tensor.fp64_macs", self.tensor.fp64_macs, 0, 1 << 16);
        for (key, value) in [
            ("sm.alu.interval", self.alu.interval),
            ("sm.alu.int_interval", self.alu.int_interval),
            ("sm.fp64.interval", self.fp64.interval),
            ("sm.fp64.div_interval", self.fp64.div_interval),
            ("sm.sfu.interval", self.sfu.interval),
            ("sm.sfu.div_interval", self.sfu.div_interval),
        ] {
            check.range(key, value, 1, 1000);
        }
        for (key, value) in [
            ("sm.alu.int_latency", self.alu.int_latency),
            ("sm.alu.fp32_latency", self.alu.fp32_latency),
            ("sm.alu.int_mul_latency", self.alu.int_mul_latency),
            ("sm.alu.int_div_latency", self.alu.int_div_latency),
            ("sm.fp64.latency", self.fp64.latency),
            ("sm.fp64.div_latency", self.fp64.div_latency),
            ("sm.sfu.latency", self.sfu.latency),
            ("sm.sfu.div_latency", self.sfu.div_latency),
            ("sm.tensor.latency", self.tensor.latency),
        ] {
            check.range(key, value, 1, 1000);
        }
    }
}

impl LsuConfig {
    fn check(&self, check: &mut Checker<'_>) {
        check.lanes("sm.lsu.lanes", self.lanes);
        check.range("sm.lsu.pipeline_latency", self.pipeline_latency, 0, 1000);
        check.power("sm.lsu.shared_banks", self.shared_banks, 1, 64);
        check.range("sm.lsu.shared_latency", self.shared_latency, 1, 1000);
        check.range("sm.lsu.const_latency", self.const_latency, 1, 1000);
        check.range("sm.lsu.queue", self.queue, 1, 64);
    }
}
