//! Checks that a launch that alternates between simulation in detail and fast-forward has the values, counts and order of a run.
use super::*;
use selvedge_ptx::ptx::{Arg, FunctionalStats, LaunchDims, Module, run_functional};

/// Bytes of the buffer of a test kernel.
const BYTES: u64 = 1 << 22;

/// A kernel with its launch and memory.
struct Program {
    module: Module,
    dims: LaunchDims,
    memory: DeviceMemory,
    buffer: u64,
}

impl Program {
    /// Returns a kernel with `body` in `ctas` CTAs of `threads` threads. `%rd1` is a buffer, `%r1` the thread in the CTA, `%r2` the
    /// CTA, `%r3` the thread in the grid.
    fn new(body: &str, ctas: u32, threads: u32) -> Program {
        let text = format!(
            ".version 7.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p) {{\n.reg .pred %p<4>;\n\
             .reg .b32 %r<20>;\n.reg .b64 %rd<9>;\n.shared .align 8 .b8 sh[1024];\nld.param.u64 %rd1, [p];\n\
             mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r3, %r2, {threads}, %r1;\n{body}\nret;\n}}\n"
        );
        let module = Module::parse("k.ptx", &text).expect("PTX");
        let mut memory = DeviceMemory::new();
        let buffer = memory.alloc(BYTES, "p").expect("room");
        Program { module, dims: LaunchDims::new([ctas, 1, 1], [threads, 1, 1]), memory, buffer }
    }

    fn params(&self) -> Vec<u8> {
        self.module.kernel("k").expect("there").pack(&[Arg::Ptr(self.buffer)]).expect("an address")
    }

    /// Starts the kernel on a GPU with the configuration `text`.
    fn start(&self, text: &str) -> Gpu {
        let config = Arc::new(GpuConfig::parse("my.toml", text).expect("valid"));
        let mut gpu = Gpu::new(&config, Parts::none(&config), Arc::new(Control::default()));
        let kernel = self.module.kernel("k").expect("there");
        let launched = LaunchedKernel::new(kernel, self.dims, self.params(), 0, &config).expect("it fits");
        gpu.start(launched);
        gpu
    }

    /// Returns the memory and the counts of an execution without a GPU.
    fn executed(&self) -> (Vec<u8>, FunctionalStats) {
        let mut memory = self.memory.clone();
        let kernel = self.module.kernel("k").expect("there");
        let stats = run_functional(&self.module, &kernel, &self.dims, &self.params(), &mut memory);
        (bytes(&memory, self.buffer), stats.expect("it ends"))
    }

    /// Runs the kernel, alternating between `detail` and `untimed` warp instructions. Returns the memory and the count.
    fn alternated(&self, config: &str, detail: u64, untimed: u64) -> (Vec<u8>, u64) {
        let (mut gpu, mut memory) = (self.start(config), self.memory.clone());
        let mut passed = 0;
        while gpu.launches().next().is_some() {
            gpu.run_until_issued(gpu.warp_instructions() + detail, &mut memory).expect("it runs");
            passed += gpu
                .fast_forward(|all| all.warp_instructions >= untimed, &mut memory)
                .expect("it goes on")
                .warp_instructions;
        }
        gpu.run_until(u64::MAX, &mut memory).expect("it ends");
        (bytes(&memory, self.buffer), gpu.warp_instructions() + passed)
    }
}

fn bytes(memory: &DeviceMemory, buffer: u64) -> Vec<u8> {
    let mut all = vec![0; BYTES as usize];
    memory.read(buffer, &mut all).expect("the buffer");
    all
}

/// Sums the numbers of threads by a tree in shared memory, and adds the sum of each CTA atomically to the first word.
const REDUCTION: &str = "shl.b32 %r4, %r1, 2;\nmov.u32 %r5, sh;\nadd.u32 %r5, %r5, %r4;\nst.shared.u32 [%r5], %r3;\n\
    mov.u32 %r6, 64;\nL: bar.sync 0;\nsetp.ge.u32 %p1, %r1, %r6;\n@%p1 bra N;\nshl.b32 %r7, %r6, 2;\nadd.u32 %r7, %r7, %r5;\n\
    ld.shared.u32 %r8, [%r7];\nld.shared.u32 %r9, [%r5];\nadd.u32 %r9, %r9, %r8;\nst.shared.u32 [%r5], %r9;\n\
    N: shr.u32 %r6, %r6, 1;\nsetp.ne.u32 %p2, %r6, 0;\n@%p2 bra L;\nsetp.ne.u32 %p3, %r1, 0;\n@%p3 bra E;\n\
    red.global.add.u32 [%rd1], %r9;\nE: ";

/// Arrives at an mbarrier, waits for its phase, and stores the number of each thread.
const MBARRIER: &str = "mov.u32 %r5, sh;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra S;\nmbarrier.init.shared.b64 [%r5], 128;\n\
    S: bar.sync 0;\nmbarrier.arrive.shared.b64 %rd2, [%r5];\nW: mbarrier.test_wait.shared.b64 %p2, [%r5], %rd2;\n\
    @!%p2 bra W;\nmul.wide.u32 %rd3, %r3, 4;\nadd.u64 %rd3, %rd3, %rd1;\nst.global.u32 [%rd3], %r3;";

#[test]
fn a_launch_that_alternates_has_the_values_and_counts_of_a_run() {
    for (body, has_fixed_count) in [(REDUCTION, true), (MBARRIER, false)] {
        for config in ["base = \"gtx480\"\nname = \"c\"", "base = \"rtx3070\"\nname = \"c\""] {
            let program = Program::new(body, 200, 128);
            let (values, stats) = program.executed();
            for (detail, untimed) in [(97, 31), (700, 900), (5000, 300), (0, 4000)] {
                let (alternated, count) = program.alternated(config, detail, untimed);
                assert!(alternated == values, "{config} {detail} {untimed}");
                assert!(!has_fixed_count || count == stats.warp_instructions, "{config} {detail} {untimed}");
            }
        }
    }
}

#[test]
fn lines_that_a_fast_forward_has_read_hit_in_the_l2() {
    // Each thread reads the same words twice: once in the fast-forward, once in detail.
    let read = "mul.wide.u32 %rd3, %r3, 4;\nadd.u64 %rd3, %rd3, %rd1;\nld.global.cg.u32 %r4, [%rd3];\nadd.u32 %r5, %r5, %r4;\n";
    let program = Program::new(&format!("{read}{read}st.global.u32 [%rd3], %r5;"), 60, 256);
    let (mut gpu, mut memory) = (program.start("base = \"gtx480\"\nname = \"c\""), program.memory.clone());
    // The first load of each of 480 warps.
    let first = gpu.fast_forward(|all| all.memory_instructions >= 480, &mut memory).expect("it goes on");
    assert_eq!(first.memory_instructions, 480);
    gpu.run_until(u64::MAX, &mut memory).expect("it ends");
    let l2 = gpu.snapshot().l2.cache;
    assert!(l2.hits > 470 && l2.misses < 10, "{l2:?}");
}

/// Returns the number of loads of each warp of one CTA after a fast-forward of `loads` loads. Each warp reads its own lines of 32
/// rows again and again.
fn loads_of_warps(scheduler: &str, loads: u64) -> Vec<u32> {
    let body = "mul.wide.u32 %rd3, %r3, 1024;\nadd.u64 %rd3, %rd3, %rd1;\nshr.u32 %r9, %r1, 5;\nmul.wide.u32 %rd4, %r9, 4;\n\
        add.u64 %rd4, %rd4, %rd1;\nmov.u32 %r6, 0;\n\
        L: ld.global.u32 %r4, [%rd3+512];\nadd.u32 %r5, %r5, %r4;\nadd.u32 %r6, %r6, 1;\nst.global.u32 [%rd4], %r6;\n\
        setp.lt.u32 %p1, %r6, 1000;\n@%p1 bra L;";
    let program = Program::new(body, 1, 1024);
    let config = format!(
        "base = \"gtx480\"\nname = \"c\"\n[sm]\ncount = 1\nschedulers = 1\nscheduler = \"{scheduler}\"\n[sm.lsu]\nqueue = 2\n"
    );
    let (mut gpu, mut memory) = (program.start(&config), program.memory.clone());
    gpu.fast_forward(|all| all.memory_instructions >= 2 * loads, &mut memory).expect("it goes on");
    let words = bytes(&memory, program.buffer);
    words.chunks_exact(4).take(32).map(|word| u32::from_le_bytes(word.try_into().expect("four"))).collect()
}

#[test]
fn the_oldest_warps_go_first_under_gto_and_all_alike_under_lrr() {
    let (gto, lrr) = (loads_of_warps("gto", 2000), loads_of_warps("lrr", 2000));
    assert!(gto[0] > 10 * gto[31].max(1), "{gto:?}");
    assert!(lrr.iter().max() <= lrr.iter().min().map(|least| least + 2).as_ref(), "{lrr:?}");
}

#[test]
fn a_barrier_that_nobody_completes_is_a_deadlock() {
    let program =
        Program::new("setp.ge.u32 %p1, %r1, 32;\n@%p1 bra B;\nbar.sync 1, 128;\nB: bar.sync 0, 128;", 1, 64);
    let (mut gpu, mut memory) = (program.start("base = \"gtx480\"\nname = \"c\""), program.memory.clone());
    let ended = gpu.fast_forward(|_| false, &mut memory);
    assert!(matches!(ended, Err(SimFault::Deadlock { .. })), "{ended:?}");
}

#[test]
fn a_request_to_stop_ends_a_fast_forward() {
    let program = Program::new("A: bra A;", 1, 32);
    let (mut gpu, mut memory) = (program.start("base = \"gtx480\"\nname = \"c\""), program.memory.clone());
    gpu.watchdog.control.stop.store(true, Ordering::Relaxed);
    let ended = gpu.fast_forward(|_| false, &mut memory);
    assert!(matches!(ended, Err(SimFault::Interrupted { .. })), "{ended:?}");
}
