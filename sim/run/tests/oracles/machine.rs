//! A GPU on which one thread makes a stream of accesses, one at a time.
use selvedge_hw::Engine;
use selvedge_sim::config::{GpuConfig, IndexFunction};
use selvedge_sim::gpu::{Control, Gpu};
use selvedge_sim::mechanism::MechanismSpec;
use selvedge_sim::mechanism::probe::{ProbeSpec, Probes};
use selvedge_sim::memory::DeviceMemory;
use selvedge_sim::ptx::{Arg, LaunchDims, Module};
use selvedge_sim::sm::launch::LaunchedKernel;
use std::fmt::Write;
use std::sync::Arc;

/// Size of the buffer that is accessed, in bytes.
const BUFFER: u64 = 1 << 15;

/// Operation of the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// A load through the L1D.
    Load,
    /// A load that bypasses the L1D.
    LoadPastL1d,
    /// A store, and a fence that waits for it.
    Store,
}

/// Hits and misses of loads and stores.
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    pub l1d_reads: (u64, u64),
    pub l2_reads: (u64, u64),
    pub l2_writes: (u64, u64),
    pub l2_written_back: u64,
}

/// A GPU with one SM and one partition, in which only the accesses of the stream use the caches.
pub struct Machine {
    gpu: Gpu,
    memory: DeviceMemory,
    buffer: u64,
}

impl Machine {
    pub fn new(change: impl FnOnce(&mut GpuConfig)) -> Self {
        let mut config = GpuConfig::load("gtx480").expect("built in");
        config.sm.count = 1;
        config.l2.partitions = 1;
        (config.l1d.index, config.l2.index) = (IndexFunction::Bmod, IndexFunction::Bmod);
        (config.sm.constant.sets, config.sm.instruction.sets) = (0, 0);
        change(&mut config);
        let config = Arc::new(config);
        let probes = Probes::new(ProbeSpec::default(), Engine::Model);
        let policies = MechanismSpec::base().build(&config, 1, &probes).expect("nothing conflicts");
        let gpu = Gpu::new(&config, policies, Arc::new(Control::default()));
        let mut memory = DeviceMemory::new();
        let buffer = memory.alloc(BUFFER, "lines").expect("it fits");
        assert!(buffer.is_multiple_of(BUFFER), "the buffer's first line lies in set 0");
        Self { gpu, memory, buffer }
    }

    /// Runs one thread. The value of each load, which is 0, is part of the next address.
    pub fn run(&mut self, accesses: &[(Op, u64)]) {
        let mut body = String::new();
        for (op, line) in accesses {
            let offset = line * 128;
            assert!(offset < BUFFER);
            let load = |cache: &str| {
                format!(
                    "ld.global{cache}.u32 %r1, [%rd1+{offset}];\ncvt.u64.u32 %rd2, %r1;\nadd.s64 %rd1, %rd1, %rd2;"
                )
            };
            let text = match op {
                Op::Load => load(".ca"),
                Op::LoadPastL1d => load(".cg"),
                Op::Store => format!("st.global.u32 [%rd1+{offset}], %r2;\nmembar.gl;"),
            };
            writeln!(body, "{text}").expect("text can be written");
        }
        let text = format!(
            ".version 4.3\n.target sm_20\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
             .reg .b32 %r<4>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\nmov.u32 %r2, 0;\n{body}ret;\n}}\n"
        );
        let module = Module::parse("stream.ptx", &text).expect("PTX");
        let kernel = module.kernel("k").expect("the kernel is there");
        let params = kernel.pack(&[Arg::Ptr(self.buffer)]).expect("the argument fits");
        let dims = LaunchDims::new([1, 1, 1], [1, 1, 1]);
        let launched = LaunchedKernel::new(kernel, dims, params, 0, self.gpu.config()).expect("it fits");
        self.gpu.run(launched, &mut self.memory).expect("no fault");
    }

    pub fn counters(&self) -> Counters {
        let counted = self.gpu.snapshot();
        let both = |read: selvedge_sim::stats::DecisionCounters| {
            assert_eq!(read.pending_hits, 0, "accesses come one by one");
            (read.hits, read.misses)
        };
        Counters {
            l1d_reads: both(counted.l1d.global_reads()),
            l2_reads: both(counted.l2.cache.global_reads()),
            l2_writes: both(counted.l2.cache.global_writes()),
            l2_written_back: counted.l2.writebacks,
        }
    }
}
