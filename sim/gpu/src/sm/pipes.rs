//! The execution pipes: the kind that an instruction needs, the cycles in which pipes are free, and latencies.
use crate::config::SmConfig;
use crate::events::InstructionWork;
pub use crate::pipe_kind::{EXECUTING, PIPE_KINDS, PipeKind};
use selvedge_ptx::ptx::{Instr, OpClass, Space};
use selvedge_state::State;

/// The properties of an instruction that issue needs, computed once per launch.
#[derive(Clone, Copy, Debug)]
pub struct IssueInfo {
    /// The kind of pipe that executes it.
    pub pipe: PipeKind,
    /// Cycles for which it occupies its pipe.
    pub interval: u16,
    /// Cycles from issue to result. For loads the memory system determines them.
    pub latency: u16,
    /// The work that costs energy.
    pub work: InstructionWork,
}

impl IssueInfo {
    /// Returns the properties of one instruction.
    pub fn of(instr: &Instr, sm: &SmConfig) -> Self {
        let integers = sm.alu.integer_pipe();
        let is_bank = matches!(instr.space(), Some(Space::Param | Space::Const));
        let (pipe, latency) = match instr.class {
            OpClass::Int | OpClass::Convert | OpClass::Warp => (integers, sm.alu.int_latency),
            OpClass::IntMul => (integers, sm.alu.int_mul_latency),
            OpClass::Fp32 => (PipeKind::Alu, sm.alu.fp32_latency),
            OpClass::Fp64 => (PipeKind::Fp64, sm.fp64.latency),
            OpClass::Fp64Div => (PipeKind::Fp64, sm.fp64.div_latency),
            OpClass::Sfu => (PipeKind::Sfu, sm.sfu.latency),
            OpClass::Matrix(work) => match sm.tensor.interval(work) {
                Some(interval) => return Self::of_tensor(instr, sm, interval),
                None => (PipeKind::Alu, sm.alu.fp32_latency),
            },
            OpClass::MatrixFp64(work) => match sm.tensor.fp64_interval(work) {
                Some(interval) => return Self::of_tensor(instr, sm, interval),
                None => (PipeKind::Fp64, sm.fp64.latency),
            },
            OpClass::IntDiv => (PipeKind::Sfu, sm.alu.int_div_latency),
            OpClass::Fp32Div => (PipeKind::Sfu, sm.sfu.div_latency),
            // A system call takes the time of a branch; its effect takes no time.
            OpClass::Control | OpClass::System | OpClass::Barrier | OpClass::Fence | OpClass::Exit => {
                (PipeKind::Control, sm.branch_latency)
            }
            OpClass::Load if is_bank && !sm.constant.is_there() => (integers, sm.lsu.const_latency),
            OpClass::Load | OpClass::Store | OpClass::Atomic | OpClass::Texture => (PipeKind::Memory, 0),
        };
        let interval = match instr.class {
            OpClass::Fp64Div => sm.fp64.div_interval as u16,
            OpClass::Fp32Div | OpClass::IntDiv => sm.sfu.div_interval as u16,
            _ => Pipes::interval(pipe, sm),
        };
        let pipeline = if PipeKind::ARITHMETIC.contains(&pipe) { sm.pipeline_latency } else { 0 };
        IssueInfo { pipe, interval, latency: (latency + pipeline) as u16, work: InstructionWork::of(instr) }
    }

    /// Returns the properties of a matrix product that occupies a tensor core for `interval` cycles.
    fn of_tensor(instr: &Instr, sm: &SmConfig, interval: u16) -> Self {
        let latency = sm.tensor.latency_of(interval) + sm.pipeline_latency;
        IssueInfo {
            pipe: PipeKind::Tensor,
            interval,
            latency: latency as u16,
            work: InstructionWork::of(instr),
        }
    }
}

/// Occupancy of the pipes of one SM.
#[derive(State)]
pub struct Pipes {
    /// Per pipe kind: first cycle in which each pipe accepts a warp.
    free_at: [Vec<u64>; EXECUTING],
    /// Per pipe kind: the pipe that is free first.
    next: [usize; EXECUTING],
    /// Per pipe kind: first cycle in which any pipe is free; 0 for control, which is always free.
    first_free: [u64; PIPE_KINDS],
    /// `true` if the SM has pipes of the kinds in [`PipeKind::OPTIONAL`].
    #[state(skip = "the configuration")]
    pub has_optional: bool,
}

impl Pipes {
    /// Returns the pipes of an SM, all free.
    pub fn new(sm: &SmConfig) -> Self {
        let group = |pipes: u32| vec![0; pipes as usize];
        let counts = sm.pipe_counts();
        Pipes {
            free_at: counts.map(group),
            next: [0; EXECUTING],
            first_free: [0; PIPE_KINDS],
            has_optional: PipeKind::OPTIONAL.into_iter().any(|kind| counts[kind as usize] > 0),
        }
    }

    /// Returns the cycles for which an instruction occupies a pipe of this kind. Divisions have their own interval, and the work
    /// of a matrix product determines its.
    pub fn interval(kind: PipeKind, sm: &SmConfig) -> u16 {
        let cycles = match kind {
            PipeKind::Alu => sm.alu.interval,
            PipeKind::Int => sm.alu.int_interval,
            PipeKind::Fp64 => sm.fp64.interval,
            PipeKind::Sfu => sm.sfu.interval,
            PipeKind::Memory => 32 / sm.lsu.lanes,
            PipeKind::Tensor | PipeKind::Control => 1,
        };
        cycles as u16
    }

    /// Returns whether a pipe of this kind accepts a warp in cycle `now`.
    #[inline]
    pub fn is_free(&self, kind: PipeKind, now: u64) -> bool {
        self.first_free[kind as usize] <= now
    }

    /// Returns whether a pipe of this kind accepts a warp of a scheduler in cycle `now`. `share` is the scheduler and the number
    /// of sub-cores that divide the pipes.
    pub fn is_free_for(&self, kind: PipeKind, share: (u8, usize), now: u64) -> bool {
        self.free_at[kind as usize][self.share(kind, share)].iter().any(|f| *f <= now)
    }

    /// Occupies a free pipe of a scheduler's share for `interval` cycles, from cycle `now`.
    pub fn occupy_for(&mut self, kind: PipeKind, share: (u8, usize), interval: u16, now: u64) {
        let range = self.share(kind, share);
        let pipe = self.free_at[kind as usize][range].iter_mut().find(|f| **f <= now);
        *pipe.expect("a pipe of the share is free") = now + u64::from(interval);
        self.find_first(kind);
    }

    /// Returns the pipes of a kind that a scheduler may use. All schedulers share the load/store unit.
    fn share(&self, kind: PipeKind, (scheduler, sub_cores): (u8, usize)) -> std::ops::Range<usize> {
        let all = self.free_at[kind as usize].len();
        if sub_cores == 1 || kind == PipeKind::Memory {
            return 0..all;
        }
        let count = all / sub_cores;
        usize::from(scheduler) * count..(usize::from(scheduler) + 1) * count
    }

    /// Returns the first cycle in which a pipe of this kind accepts a warp.
    #[inline]
    pub fn next_free(&self, kind: PipeKind) -> u64 {
        self.first_free[kind as usize]
    }

    /// Finds the pipe of a kind that is free first. Must not be called for control.
    #[inline(always)]
    fn find_first(&mut self, kind: PipeKind) {
        let pipes = &self.free_at[kind as usize];
        let (mut next, mut first) = (0, pipes[0]);
        for (pipe, free_at) in pipes.iter().enumerate().skip(1) {
            if *free_at < first {
                (next, first) = (pipe, *free_at);
            }
        }
        (self.next[kind as usize], self.first_free[kind as usize]) = (next, first);
    }

    /// Occupies the pipe of this kind that is free first for `interval` cycles, from cycle `now`.
    #[inline(always)]
    pub fn occupy(&mut self, kind: PipeKind, interval: u16, now: u64) {
        if kind == PipeKind::Control {
            return;
        }
        let pipe = &mut self.free_at[kind as usize][self.next[kind as usize]];
        debug_assert!(*pipe <= now, "issue checked that a pipe is free");
        *pipe = now + u64::from(interval);
        self.find_first(kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::GpuConfig;
    use selvedge_ptx::ptx::Module;

    /// Returns the properties of a matrix product on a GPU.
    fn product(config: &str, form: &str, operands: &str) -> IssueInfo {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {{\n.reg .b32 %r<16>;\n.reg .f32 %f<4>;\n\
             .reg .f64 %d<4>;\nmma.sync.aligned.{form} {operands};\nret;\n}}\n"
        );
        let module = Module::parse("product", &text).expect("it is PTX");
        let kernel = module.kernel("k").expect("it has the kernel");
        let sm = GpuConfig::load(config).expect("built in").sm;
        IssueInfo::of(&kernel.code[0], &sm)
    }

    fn half(config: &str) -> IssueInfo {
        let operands = "{%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3}";
        product(config, "m16n8k16.row.col.f32.f16.f16.f32", operands)
    }

    fn bytes(config: &str) -> IssueInfo {
        let operands = "{%r0, %r1}, {%r2}, {%r3}, {%r0, %r1}";
        product(config, "m8n8k16.row.col.s32.s8.s8.s32", operands)
    }

    fn double(config: &str) -> IssueInfo {
        product(config, "m8n8k4.row.col.f64.f64.f64.f64", "{%d0, %d1}, {%d2}, {%d3}, {%d0, %d1}")
    }

    #[test]
    fn a_product_occupies_its_tensor_core_for_its_work_over_the_rate() {
        // 2048 multiply-adds of 16 bits, 1024 of 8 bits, and 256 of 64 bits.
        for (config, rate, fp64_rate) in [("a100", 256, 16), ("h100", 512, 32)] {
            assert_eq!(half(config).interval, 2048 / rate, "{config}");
            assert_eq!(bytes(config).interval, 1024 / 2 / rate, "{config}");
            assert_eq!(double(config).interval, 256 / fp64_rate, "{config}");
        }
        assert_eq!((half("titan-v").interval, half("rtx3070").interval), (32, 32));
    }

    #[test]
    fn each_further_cycle_in_the_tensor_core_delays_the_result_by_one() {
        let sm = GpuConfig::load("a100").expect("built in").sm;
        for info in [half("a100"), bytes("a100"), double("a100")] {
            assert_eq!(info.pipe, PipeKind::Tensor);
            let latency = sm.tensor.latency + sm.pipeline_latency + u32::from(info.interval) - 1;
            assert_eq!(u32::from(info.latency), latency);
        }
    }

    #[test]
    fn without_tensor_cores_a_product_takes_the_time_of_an_addition() {
        let sm = GpuConfig::load("gtx480").expect("built in").sm;
        let of = |info: IssueInfo| (info.pipe, info.interval, u32::from(info.latency));
        let single = (PipeKind::Alu, sm.alu.interval as u16, sm.alu.fp32_latency + sm.pipeline_latency);
        assert_eq!([of(half("gtx480")), of(bytes("gtx480"))], [single; 2]);
        let fp64 = (PipeKind::Fp64, sm.fp64.interval as u16, sm.fp64.latency + sm.pipeline_latency);
        assert_eq!(of(double("gtx480")), fp64);
        assert_eq!(double("rtx3070").pipe, PipeKind::Fp64, "its tensor cores have no double precision");
    }

    #[test]
    fn a_tensor_core_is_free_again_after_the_work_of_its_product() {
        let sm = GpuConfig::load("a100").expect("built in").sm;
        let mut pipes = Pipes::new(&sm);
        for _ in 0..sm.tensor.pipes {
            assert!(pipes.is_free(PipeKind::Tensor, 10));
            pipes.occupy(PipeKind::Tensor, 8, 10);
        }
        assert!(!pipes.is_free(PipeKind::Tensor, 17) && pipes.is_free(PipeKind::Tensor, 18));
        assert!(pipes.is_free(PipeKind::Alu, 10));
    }
}
