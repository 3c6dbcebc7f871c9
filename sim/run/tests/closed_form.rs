//! Compares latencies and bandwidths of the whole GPU with closed forms of the configuration.
//!
//! Each kernel is short PTX of known instructions. Fixed costs (launch, parameters, exit) cancel in the difference between two
//! lengths of the same kernel.
use selvedge_sim::config::{ClockConfig, GpuConfig, ReadOnlyCache};
use selvedge_sim::gpu::{Control, Gpu};
use selvedge_sim::mechanism::MechanismSpec;
use selvedge_sim::mechanism::probe::{ProbeSpec, Probes};
use selvedge_sim::memory::DeviceMemory;
use selvedge_sim::partition::closed_form;
use selvedge_sim::ptx::{Arg, LaunchDims, Module};
use selvedge_sim::sm::launch::LaunchedKernel;
use std::sync::Arc;

/// Returns the default configuration, in which bypass loads move whole lines: the closed forms assume that.
fn config() -> Arc<GpuConfig> {
    let mut config = GpuConfig::load("gtx480").expect("built in");
    config.l1d.bypass_bytes = config.l1d.line_bytes;
    Arc::new(config)
}

/// Returns the PTX of a kernel with `body`. It has a pointer parameter in %rd1 and the thread's global index in %r1.
fn kernel(body: &str) -> String {
    format!(
        ".version 4.3\n.target sm_20\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b32 %r<64>;\n.reg .b64 %rd<64>;\n.reg .f32 %f<64>;\n.reg .f64 %fd<4>;\n\
         ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n\
         mad.lo.s32 %r1, %r2, %r3, %r1;\n{body}\nret;\n}}\n"
    )
}

/// A fresh GPU and its memory.
struct Bench {
    gpu: Gpu,
    memory: DeviceMemory,
}

impl Bench {
    fn new(config: &Arc<GpuConfig>) -> Self {
        Bench::with(config, &MechanismSpec::base())
    }

    fn with(config: &Arc<GpuConfig>, mechanism: &MechanismSpec) -> Self {
        let probes = Probes::new(ProbeSpec::default(), selvedge_hw::Engine::Model);
        let policies = mechanism.build(config, 1, &probes).expect("nothing conflicts");
        let mut gpu = Gpu::new(config, policies, Arc::new(Control::default()));
        gpu.system_mut().check_dram(true);
        Bench { gpu, memory: DeviceMemory::new() }
    }

    /// Runs the kernel and returns its duration in core cycles.
    fn run(&mut self, body: &str, grid: u32, block: u32, pointer: u64) -> u64 {
        self.run_text(&kernel(body), grid, block, pointer)
    }

    /// Runs one CTA of the kernel, with declarations of the module.
    fn run_with(&mut self, declarations: &str, body: &str, block: u32) -> u64 {
        let text = kernel(body).replace(".visible .entry", &format!("{declarations}.visible .entry"));
        self.run_text(&text, 1, block, 0)
    }

    fn run_text(&mut self, text: &str, grid: u32, block: u32, pointer: u64) -> u64 {
        let module = Module::parse("test.ptx", text).expect("the test's PTX is valid");
        let kernel = module.kernel("k").expect("the kernel is there");
        let params = kernel.pack(&[Arg::Ptr(pointer)]).expect("the argument fits");
        let dims = LaunchDims::new([grid, 1, 1], [block, 1, 1]);
        let launched = LaunchedKernel::new(kernel, dims, params, 0, self.gpu.config()).expect("it fits");
        let before = self.gpu.cycle();
        self.gpu.run(launched, &mut self.memory).expect("no fault");
        assert_eq!(self.gpu.system().dram_violation(), None);
        self.gpu.cycle() - before
    }
}

/// Allocates a ring of pointers for a pointer chase. Entries are `stride` bytes apart, and each points to the next.
fn chase_table(bench: &mut Bench, entries: u64, stride: u64) -> u64 {
    let base = bench.memory.alloc(entries * stride, "chain").expect("it fits");
    for i in 0..entries {
        let next = base + (i + 1) % entries * stride;
        bench.memory.write(base + i * stride, &next.to_le_bytes()).expect("inside the buffer");
    }
    base
}

/// Returns a chain of `count` dependent loads.
fn chase(load: &str, count: usize) -> String {
    format!("{load} %rd1, [%rd1];\n").repeat(count)
}

#[test]
fn an_l1d_hit_takes_address_generation_and_hit_latency() {
    let config = config();
    let mut bench = Bench::new(&config);
    let table = chase_table(&mut bench, 1, 128);
    let mut time = |count| bench.run(&chase("ld.global.u64", count), 1, 1, table);
    time(1); // brings the line into the L2, so that both runs begin with the same miss
    let per_load = (time(96) - time(32)) / 64;
    assert_eq!(per_load, u64::from(32 / config.sm.lsu.lanes + config.l1d.hit_latency));
}

#[test]
fn dependent_arithmetic_takes_the_pipes_latency() {
    let config = config();
    for (instruction, latency) in [
        ("add.s32 %r1, %r1, %r1;\n", config.sm.alu.int_latency),
        ("mul.lo.s32 %r1, %r1, %r1;\n", config.sm.alu.int_mul_latency),
        ("add.f32 %f1, %f1, %f1;\n", config.sm.alu.fp32_latency),
        ("ex2.approx.f32 %f1, %f1;\n", config.sm.sfu.latency),
    ] {
        let mut bench = Bench::new(&config);
        let mut time = |count| bench.run(&instruction.repeat(count), 1, 1, 0);
        assert_eq!((time(96) - time(32)) / 64, u64::from(latency), "{instruction}");
    }
}

#[test]
fn a_write_waits_for_the_load_that_writes_its_register() {
    let config = config();
    let mut bench = Bench::new(&config);
    let table = chase_table(&mut bench, 1, 128);
    let pair = "ld.global.u32 %r9, [%rd1];\nmov.u32 %r9, 1;\n";
    let mut time = |count| bench.run(&pair.repeat(count), 1, 1, table);
    time(1); // brings the line into the L2, so that both runs begin with the same miss
    let load = 32 / config.sm.lsu.lanes + config.l1d.hit_latency;
    assert_eq!((time(96) - time(32)) / 64, u64::from(load + config.sm.alu.int_latency));
}

#[test]
fn a_load_whose_guard_holds_in_no_lane_takes_as_long_as_one_of_a_constant() {
    let config = config();
    let time = |count: usize| {
        let loads = "@%q ld.global.u64 %rd1, [%rd1];\n".repeat(count);
        let body = format!(".reg .pred %q;\nsetp.ne.u32 %q, %r1, %r1;\n{loads}");
        Bench::new(&config).run(&body, 1, 32, 0)
    };
    assert_eq!((time(60) - time(10)) / 50, u64::from(config.sm.lsu.const_latency));
}

/// Returns a configuration in which all latencies and their sums differ.
fn with_latencies_apart() -> Arc<GpuConfig> {
    let mut config = GpuConfig::load("gtx480").expect("built in");
    let sm = &mut config.sm;
    (sm.alu.int_latency, sm.alu.int_mul_latency, sm.alu.fp32_latency) = (18, 24, 29);
    sm.alu.int_div_latency = 210;
    (sm.fp64.latency, sm.fp64.div_latency, sm.sfu.latency, sm.sfu.div_latency) = (48, 330, 36, 140);
    sm.pipeline_latency = 7;
    Arc::new(config)
}

#[test]
fn every_kind_of_arithmetic_takes_its_own_latency_and_the_pipelines() {
    let config = with_latencies_apart();
    let sm = &config.sm;
    for (instruction, latency) in [
        ("add.s32 %r1, %r1, %r1;\n", sm.alu.int_latency),
        ("add.s64 %rd9, %rd9, %rd9;\n", sm.alu.int_latency),
        ("cvt.rn.f32.s32 %f1, %r1;\ncvt.rzi.s32.f32 %r1, %f1;\n", 2 * sm.alu.int_latency + 7),
        ("mul.lo.s32 %r1, %r1, %r1;\n", sm.alu.int_mul_latency),
        ("mul.lo.s64 %rd9, %rd9, %rd9;\n", sm.alu.int_mul_latency),
        ("fma.rn.f32 %f1, %f1, %f1, %f1;\n", sm.alu.fp32_latency),
        ("div.s32 %r1, %r1, %r1;\n", sm.alu.int_div_latency),
        ("rem.u32 %r1, %r1, %r1;\n", sm.alu.int_div_latency),
        ("div.u64 %rd9, %rd9, %rd9;\n", sm.alu.int_div_latency),
        ("rem.s64 %rd9, %rd9, %rd9;\n", sm.alu.int_div_latency),
        ("div.rn.f32 %f1, %f1, %f1;\n", sm.sfu.div_latency),
        ("sqrt.rn.f32 %f1, %f1;\n", sm.sfu.div_latency),
        ("rcp.approx.f32 %f1, %f1;\n", sm.sfu.latency),
        ("fma.rn.f64 %fd1, %fd1, %fd1, %fd1;\n", sm.fp64.latency),
        ("div.rn.f64 %fd1, %fd1, %fd1;\n", sm.fp64.div_latency),
        ("sqrt.rn.f64 %fd1, %fd1;\n", sm.fp64.div_latency),
    ] {
        let mut bench = Bench::new(&config);
        let mut time = |count| bench.run(&instruction.repeat(count), 1, 1, 0);
        assert_eq!((time(12) - time(4)) / 8, u64::from(latency + sm.pipeline_latency), "{instruction}");
    }
}

#[test]
fn a_division_takes_its_latency_though_nothing_else_is_as_slow() {
    let mut config = GpuConfig::clone(&config());
    config.sm.alu.int_div_latency = config.sm.sfu.div_latency + 30;
    let config = Arc::new(config);
    for (instruction, latency) in [
        ("add.f64 %fd1, %fd1, %fd1;\n", config.sm.fp64.latency),
        ("div.rn.f64 %fd1, %fd1, %fd1;\n", config.sm.fp64.div_latency),
        ("div.rn.f32 %f1, %f1, %f1;\n", config.sm.sfu.div_latency),
        ("div.u32 %r1, %r1, %r1;\n", config.sm.alu.int_div_latency),
        ("rem.s32 %r1, %r1, %r1;\n", config.sm.alu.int_div_latency),
    ] {
        let mut bench = Bench::new(&config);
        let mut time = |count| bench.run(&instruction.repeat(count), 1, 1, 0);
        assert_eq!((time(12) - time(4)) / 8, u64::from(latency), "{instruction}");
    }
}

#[test]
fn clocks_faster_than_the_core_lose_no_cycle() {
    // A DRAM-bound stream takes half the time at twice the DRAM clock. The checker judges each command.
    let stream_cycles = |dram_mhz| {
        let mut config = GpuConfig::load("gtx480").expect("built in");
        config.clock = ClockConfig { core_mhz: 1400, interconnect_mhz: 2800, l2_mhz: 2100, dram_mhz };
        config.dram.bus_bytes = 1;
        let mut bench = Bench::new(&Arc::new(config));
        let buffer = bench.memory.alloc(4 << 20, "stream").expect("it fits");
        let body = "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd1, %rd1, %rd2;\nld.global.u32 %r10, [%rd1];\n\
                    ld.global.u32 %r11, [%rd1+2097152];";
        bench.run(body, (2 << 20) / 4 / 256, 256, buffer)
    };
    let ratio = stream_cycles(1400) as f64 / stream_cycles(2800) as f64;
    assert!((1.8..=2.1).contains(&ratio), "twice the clock is {ratio} times as fast");
}

#[test]
fn the_widest_shared_memory_access_is_served() {
    let mut bench = Bench::new(&config());
    let body = ".shared .align 32 .b8 s[1024];\nmov.u32 %r4, %tid.x;\nshl.b32 %r4, %r4, 5;\nmov.u32 %r5, s;\n\
                add.s32 %r5, %r5, %r4;\nld.shared.v4.f64 {%fd0, %fd1, %fd2, %fd3}, [%r5];";
    bench.run(body, 1, 32, 0);
    // 32 lanes of 8 words take 8 rounds of the 32 banks. The first round is no conflict.
    let conflicts: u64 =
        bench.gpu.sms().iter().map(|sm| sm.counters_at(bench.gpu.cycle()).bank_conflict_cycles).sum();
    assert_eq!(conflicts, 7);
}

#[test]
fn an_l2_hit_takes_the_unloaded_round_trip() {
    let config = config();
    let mut bench = Bench::new(&config);
    let table = chase_table(&mut bench, 1, 128);
    bench.run(&chase("ld.global.cg.u64", 1), 1, 1, table); // brings the line into the L2
    let mut time = |count| bench.run(&chase("ld.global.cg.u64", count), 1, 1, table);
    let total = time(96) - time(32);
    let expected = closed_form::l2_hit_round_trip(&config) + f64::from(32 / config.sm.lsu.lanes);
    let per_load = total as f64 / 64.0;
    assert!((per_load - expected).abs() <= 1.0, "{per_load} cycles, the closed form gives {expected}");
}

#[test]
fn a_segment_that_bypasses_the_l1d_comes_sooner_than_a_line() {
    let lines = config();
    let segments = Arc::new(GpuConfig::load("gtx480").expect("built in"));
    let [line, segment] = [&lines, &segments].map(|config| {
        let mut bench = Bench::new(config);
        let table = chase_table(&mut bench, 1, 128);
        bench.run(&chase("ld.global.cg.u64", 1), 1, 1, table);
        let mut time = |count| bench.run(&chase("ld.global.cg.u64", count), 1, 1, table);
        (time(96) - time(32)) as f64 / 64.0
    });
    let [four, one] = [lines.l1d.line_bytes, 32].map(|bytes| closed_form::crossbar_latency(&lines, bytes));
    let distance = 2.0 * closed_form::l2_hit_spread(&lines);
    assert!(((line - segment) - (four - one) as f64).abs() <= distance, "{line} and {segment} cycles");
}

#[test]
fn a_dram_read_takes_the_unloaded_round_trip() {
    let config = config();
    let mut bench = Bench::new(&config);
    // Each line is in a closed bank: the chase visits one line per row, and each row is in another bank.
    let stride = u64::from(config.dram.row_bytes * config.l2.partitions);
    let table = chase_table(&mut bench, 16, stride);
    let short = bench.run(&chase("ld.global.cg.u64", 2), 1, 1, table);
    let mut bench = Bench::new(&config);
    let table = chase_table(&mut bench, 16, stride);
    let long = bench.run(&chase("ld.global.cg.u64", 14), 1, 1, table);
    let per_load = (long - short) as f64 / 12.0;
    let expected = closed_form::dram_read_round_trip(&config) + f64::from(32 / config.sm.lsu.lanes);
    assert!((per_load - expected).abs() <= 2.0, "{per_load} cycles, the closed form gives {expected}");
}

/// Runs 48 independent instructions many times in all warps, and compares the warp instructions per cycle and SM with `peak`.
fn assert_rate(config: &Arc<GpuConfig>, instruction: impl Fn(u32) -> String, peak: f64) {
    let mut bench = Bench::new(config);
    let body: String = (8..56).map(instruction).collect();
    let warps = u64::from(config.sm.warps);
    let grid = config.sm.count * 2;
    let block = config.sm.warps / 2 * 32;
    let mut time = |repeat: usize| bench.run(&body.repeat(repeat), grid, block, 0);
    let cycles = time(24) - time(8);
    let instructions = warps * 48 * 16;
    let rate = instructions as f64 / cycles as f64;
    assert!((rate / peak - 1.0).abs() < 0.01, "{rate} warp instructions per cycle and SM, peak {peak}");
}

fn integer(register: u32) -> String {
    format!("add.s32 %r{register}, %r1, {register};\n")
}

#[test]
fn independent_arithmetic_issues_at_the_peak_rate() {
    let config = config();
    let sm = &config.sm;
    assert_rate(&config, integer, f64::from(sm.schedulers).min(sm.alu.integer_rate()));
}

#[test]
fn integers_with_their_own_pipes_issue_beside_single_precision() {
    let mixed = |register: u32| match register % 2 {
        0 => integer(register),
        _ => format!("add.f32 %f{register}, %f1, %f2;\n"),
    };
    let with = |int_pipes: u32, int_interval: u32| {
        let mut config = GpuConfig::load("gtx480").expect("built in");
        assert_eq!((config.sm.schedulers, config.sm.alu.pipes, config.sm.alu.interval), (2, 2, 2));
        (config.sm.alu.int_pipes, config.sm.alu.int_interval) = (int_pipes, int_interval);
        Arc::new(config)
    };
    assert_rate(&with(0, 2), mixed, 1.0);
    assert_rate(&with(2, 2), mixed, 2.0);
    assert_rate(&with(1, 4), integer, 0.25);
}

#[test]
fn a_pipe_accepts_a_warp_after_the_interval_of_the_instruction_before() {
    let mut config = GpuConfig::load("gtx480").expect("built in");
    let sm = &mut config.sm;
    (sm.fp64.interval, sm.fp64.div_interval) = (64, 130);
    (sm.sfu.interval, sm.sfu.div_interval) = (7, 11);
    let config = Arc::new(config);
    for (instruction, interval) in [
        ("add.f64 %fd1, %fd2, %fd3;\n", 64),
        ("div.rn.f64 %fd1, %fd2, %fd3;\n", 130),
        ("ex2.approx.f32 %fN, %f2;\n", 7),
        ("div.rn.f32 %fN, %f2, %f3;\n", 11),
        ("div.u32 %rN, %r1, 7;\n", 11),
    ] {
        let numbered = |register: u32| instruction.replace('N', &register.to_string());
        assert_rate(&config, numbered, 1.0 / f64::from(interval));
    }
}

#[test]
fn l1d_hits_reach_one_line_per_address_generation() {
    let config = config();
    let mut bench = Bench::new(&config);
    let buffer = bench.memory.alloc(4096, "lines").expect("it fits");
    let body: String = (8..40).map(|r| format!("ld.global.u32 %r{r}, [%rd1];\n")).collect();
    let mut time = |repeat: usize| bench.run(&body.repeat(repeat), config.sm.count, 768, buffer);
    let cycles = time(12) - time(4);
    let rate = f64::from(24 * 32 * 8) / cycles as f64;
    let peak = f64::from(config.sm.lsu.lanes) / 32.0;
    assert!((rate / peak - 1.0).abs() < 0.02, "{rate} lines per cycle and SM, peak {peak}");
}

/// Returns the body of a stream: each warp reads whole lines, two per iteration, and 2^18 threads read 16 MiB.
fn stream(load: &str) -> String {
    format!(
        "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd1, %rd1, %rd2;\nmov.u32 %r9, 0;\n\
         L:\n{load} %r10, [%rd1];\n{load} %r11, [%rd1+1048576];\n\
         add.s64 %rd1, %rd1, 2097152;\nadd.s32 %r9, %r9, 1;\n\
         setp.lt.s32 %p1, %r9, 8;\n@%p1 bra L;"
    )
}

#[test]
fn streaming_reads_come_near_the_dram_peak() {
    let config = config();
    let mut bench = Bench::new(&config);
    let buffer = bench.memory.alloc(16 << 20, "stream").expect("it fits");
    let body = format!(".reg .pred %p<2>;\n{}", stream("ld.global.u32"));
    let threads = 1 << 18; // 1 MiB per pass of the grid
    let cycles = bench.run(&body, threads / 256, 256, buffer);
    let bytes_per_cycle = (16u64 << 20) as f64 / cycles as f64;
    let peak = closed_form::dram_peak_bytes_per_core_cycle(&config);
    let share = bytes_per_cycle / peak;
    assert!(share <= 1.0, "{share} of the peak");
    assert!(share > 0.8, "only {share} of the peak of {peak} bytes per cycle");
}

/// Returns the bytes per core cycle of `ld.global.cg` loads of resident lines. `place` computes the byte offset of a warp's line,
/// in %r5, from the warp's index in %r4.
fn l2_hit_rate(config: &Arc<GpuConfig>, place: &str) -> f64 {
    let mut bench = Bench::new(config);
    let buffer = bench.memory.alloc(1 << 20, "resident").expect("it fits");
    let head = format!(
        "shr.u32 %r4, %r1, 5;\n{place}\nmov.u32 %r6, %laneid;\nshl.b32 %r6, %r6, 2;\nadd.s32 %r5, %r5, %r6;\n\
         cvt.u64.u32 %rd2, %r5;\nadd.s64 %rd1, %rd1, %rd2;\n"
    );
    let loads: String = (8..40).map(|r| format!("ld.global.cg.u32 %r{r}, [%rd1];\n")).collect();
    let (grid, block) = (config.sm.count * 2, 768);
    let mut time = |repeat: usize| bench.run(&format!("{head}{}", loads.repeat(repeat)), grid, block, buffer);
    time(1);
    let (short, long) = (time(2), time(6));
    let lines = f64::from(grid * block / 32 * 32 * 4);
    lines * f64::from(config.l2.line_bytes) / (long - short) as f64
}

#[test]
fn one_partitions_l2_hits_reach_its_reply_ports_peak() {
    let config = config();
    // 64 lines of one partition: their distance is one round of the partitions.
    let round = config.l2.interleave_bytes * config.l2.partitions;
    let rate = l2_hit_rate(&config, &format!("and.b32 %r5, %r4, 63;\nmul.lo.s32 %r5, %r5, {round};"));
    let peak = closed_form::l2_peak_bytes_per_core_cycle(&config) / f64::from(config.l2.partitions);
    assert!((rate / peak - 1.0).abs() < 0.01, "{rate} bytes per cycle, the port's peak is {peak}");
}

#[test]
fn random_l2_hits_lie_between_head_of_line_blocking_and_the_peak() {
    let config = config();
    // Under uniform traffic, input queues without virtual channels reach at least 2 - sqrt(2) of the ports' peak (Karol, Hluchyj
    // and Morgan 1987). Each warp reads another random sequence of lines in 256 KiB.
    let mut bench = Bench::new(&config);
    let buffer = bench.memory.alloc(1 << 18, "resident").expect("it fits");
    let head =
        "shr.u32 %r4, %r1, 5;\nmul.lo.s32 %r4, %r4, 40503;\nmov.u32 %r6, %laneid;\nshl.b32 %r6, %r6, 2;\n";
    let step = |r: usize| {
        format!(
            "mad.lo.s32 %r4, %r4, 1664525, 1013904223;\nshr.u32 %r5, %r4, 8;\nand.b32 %r5, %r5, 0x3ff80;\n\
             add.s32 %r5, %r5, %r6;\ncvt.u64.u32 %rd2, %r5;\nadd.s64 %rd2, %rd1, %rd2;\n\
             ld.global.cg.u32 %r{r}, [%rd2];\n"
        )
    };
    let loads: String = (8..40).map(step).collect();
    let (grid, block) = (config.sm.count * 2, 768);
    let mut time = |repeat: usize| bench.run(&format!("{head}{}", loads.repeat(repeat)), grid, block, buffer);
    time(6);
    let (short, long) = (time(2), time(6));
    let lines = f64::from(grid * block / 32 * 32 * 4);
    let rate = lines * f64::from(config.l2.line_bytes) / (long - short) as f64;
    let peak = closed_form::l2_peak_bytes_per_core_cycle(&config);
    assert!(rate <= peak * 1.001, "{rate} bytes per cycle is more than the peak {peak}");
    assert!(rate > (2.0 - 2f64.sqrt()) * peak, "{rate} bytes per cycle, peak {peak}");
}

#[test]
fn a_fence_waits_for_a_reduction_as_it_does_for_an_atomic() {
    let config = config();
    let time = |instruction: &str| {
        let mut bench = Bench::new(&config);
        let word = bench.memory.alloc(4, "word").expect("it fits");
        let body = format!("{instruction}\nmembar.gl;\n").repeat(8);
        bench.run(&body, 1, 1, word)
    };
    let atomic = time("atom.global.add.u32 %r9, [%rd1], 1;");
    assert_eq!(time("red.global.add.u32 [%rd1], 1;"), atomic);
}

#[test]
fn a_fence_costs_no_less_than_a_branch() {
    let config = config();
    let mut bench = Bench::new(&config);
    let mut time = |count: usize| bench.run(&"membar.gl;\n".repeat(count), 1, 1, 0);
    assert_eq!((time(96) - time(32)) / 64, u64::from(config.sm.branch_latency));
}

#[test]
fn a_fence_waits_for_the_acknowledgement_of_a_store() {
    let config = config();
    let mut bench = Bench::new(&config);
    let word = bench.memory.alloc(128, "word").expect("it fits");
    bench.run("st.global.u32 [%rd1], %r1;", 1, 1, word); // brings the line into the L2
    let mut time =
        |count: usize| bench.run(&"st.global.u32 [%rd1], %r1;\nmembar.gl;\n".repeat(count), 1, 1, word);
    let per_pair = (time(48) - time(16)) as f64 / 32.0;
    // The acknowledgement carries no data: one flit instead of the five in the closed form.
    let expected = closed_form::l2_hit_round_trip(&config) - 4.0 + f64::from(32 / config.sm.lsu.lanes);
    assert!((per_pair - expected).abs() <= 2.0, "{per_pair} cycles, the closed form gives {expected}");
}

#[test]
fn lanes_and_warps_that_collide_on_a_word_take_turns_in_the_l2() {
    let config = config();
    let clocks = u64::from(config.clock.core_mhz / config.clock.l2_mhz);
    let turn = u64::from(config.l2.atomic_word_cycles) * clocks;
    for instruction in ["red.global.add.u32 [%rd1], 1;", "atom.global.add.u32 %r9, [%rd1], 1;"] {
        let time = |lanes: u32, warps: u32| {
            let mut bench = Bench::new(&config);
            let word = bench.memory.alloc(128, "word").expect("it fits");
            let body = format!("mov.u32 %r4, %laneid;\nsetp.lt.u32 %p1, %r4, {lanes};\n@%p1 {instruction}\n");
            let text = kernel(&body).replace(".reg .b64", ".reg .pred %p<2>;\n.reg .b64");
            let cycles = bench.run_text(&text, 1, 32 * warps, word);
            let mut sum = [0; 4];
            bench.memory.read(word, &mut sum).expect("inside the buffer");
            assert_eq!(u32::from_le_bytes(sum), lanes * warps);
            cycles
        };
        let one = time(1, 1);
        for (lanes, warps) in [(32, 1), (32, 2), (8, 4)] {
            let turns = u64::from(lanes * warps) - 1;
            // The operands of more lanes need a few more flits in each direction.
            let found = time(lanes, warps) - one;
            assert!(
                (turns * turn..=turns * turn + 16).contains(&found),
                "{instruction} {lanes} {warps}: {found}"
            );
        }
    }
}

#[test]
fn transactions_in_different_banks_enter_the_l1d_together_unless_a_mechanism_observes_it() {
    // Neighboring lanes read different sectors of different lines.
    let head = "mov.u32 %r4, %laneid;\nmul.wide.u32 %rd2, %r4, 160;\nadd.s64 %rd1, %rd1, %rd2;\n";
    for (mechanism, banks, expected) in [("base", 1, 32), ("base", 4, 8), ("base", 8, 4), ("mrpb", 4, 32)] {
        for front_latency in [0, 20] {
            let mut config = GpuConfig::clone(&config());
            (config.l1d.banks, config.l1d.front_latency) = (banks, front_latency);
            let mechanism: MechanismSpec = mechanism.parse().expect("there is one");
            let mut bench = Bench::with(&Arc::new(config), &mechanism);
            let data = bench.memory.alloc(8192, "data").expect("it fits");
            let mut time = |loads: u64| {
                let load = |n| format!("ld.global.u32 %r{}, [%rd1];\n", 8 + n % 48);
                bench.run(&format!("{head}{}", (0..loads).map(load).collect::<String>()), 1, 32, data)
            };
            // The first load misses. Its cycles cancel, except for some tens by the phase of the clocks and of the register reuse.
            let (short, long) = (time(96), time(96 + 2048));
            let taken = (long - short) as f64 / 2048.0;
            let error = taken / f64::from(expected) - 1.0;
            assert!(
                error.abs() < 0.02,
                "{banks} banks, front {front_latency}: {taken} cycles, not {expected}"
            );
        }
    }
}

#[test]
fn an_atomic_passes_no_cycles_in_front_of_the_l1d_and_is_no_access_of_it() {
    let time = |instruction: &str, front_latency| {
        let mut config = GpuConfig::load("gtx480").expect("built in");
        config.l1d.front_latency = front_latency;
        let mut bench = Bench::new(&Arc::new(config));
        let word = bench.memory.alloc(128, "word").expect("it fits");
        let cycles = bench.run(&format!("{instruction}\nmembar.gl;\n"), 1, 1, word);
        (cycles, bench.gpu.sms()[0].l1d().counters().accesses)
    };
    let (atomic, load) = ("atom.global.add.u32 %r9, [%rd1], 1;", "ld.global.u32 %r9, [%rd1];");
    assert_eq!(time(atomic, 40), time(atomic, 0));
    assert_eq!((time(atomic, 0).1, time(load, 0).1), (0, 1));
    // An atomic stays behind earlier accesses of its warp.
    let store = "st.global.u32 [%rd1], %r1;\nred.global.add.u32 [%rd1], 1;";
    for instructions in [load, store] {
        let later = time(instructions, 40).0 - time(instructions, 0).0;
        // The phase of the slower clocks shifts the time by a few cycles.
        assert!((36..=44).contains(&later), "{instructions}: {later}");
    }
}

#[test]
fn code_constants_and_parameters_stay_in_their_caches_until_they_change() {
    for (keeps, expected) in [(false, [1, 0, 0, 0, 1, 0]), (true, [1, 0, 0, 0, 0, 0])] {
        let mut config = GpuConfig::clone(&with_read_only_caches(64, 4));
        config.sm.count = 1;
        config.sm.keep_constants = keeps;
        let mut bench = Bench::new(&Arc::new(config));
        let words = bench.memory.alloc(256, "words").expect("it fits");
        let mut runs = Vec::new();
        for pointer in [words, words, words, words, words + 128, words + 128] {
            let misses = |bench: &Bench| {
                let sm = &bench.gpu.sms()[0];
                let sides = [ReadOnlyCache::Constant, ReadOnlyCache::Instruction]
                    .map(|cache| sm.read_only(cache).misses);
                [sides[0], sides[1], sm.l1d().counters().misses]
            };
            let before = misses(&bench);
            let cycles = bench.run("ld.global.u32 %r4, [%rd1];\nst.global.u32 [%rd1], %r4;", 1, 32, pointer);
            let after = misses(&bench);
            runs.push((cycles, [0, 1, 2].map(|cache| after[cache] - before[cache])));
        }
        let of = |cache: usize| runs.iter().map(|run| run.1[cache]).collect::<Vec<_>>();
        assert_eq!(of(0), expected, "lines of other arguments are loaded again, unless kept");
        let code = of(1);
        assert!(code[0] > 0 && code[1..].iter().all(|misses| *misses == 0), "nothing writes code: {code:?}");
        assert!(runs[0].0 > runs[1].0 && runs[1].0 == runs[2].0 && runs[2].0 == runs[3].0, "{runs:?}");
        // A launch invalidates the L1D: its load misses in each run.
        let l1d = of(2);
        assert!(l1d.iter().all(|misses| *misses == l1d[0] && *misses > 0), "{l1d:?}");
    }
}

/// Returns the built-in configuration with constant and instruction caches of these numbers of sets.
fn with_read_only_caches(constant: u32, instruction: u32) -> Arc<GpuConfig> {
    let mut config = GpuConfig::load("gtx480").expect("built in");
    (config.sm.constant.sets, config.sm.instruction.sets) = (constant, instruction);
    Arc::new(config)
}

#[test]
fn lanes_that_read_different_constants_take_turns() {
    let config = with_read_only_caches(64, 0);
    let time = |lanes_per_word: u32, count: usize| {
        let mut bench = Bench::new(&config);
        let head = format!(
            "mov.u32 %r4, %laneid;\ndiv.u32 %r4, %r4, {lanes_per_word};\nshl.b32 %r4, %r4, 2;\ncvt.u64.u32 %rd2, %r4;\n\
             mov.u64 %rd3, bank;\nadd.s64 %rd3, %rd3, %rd2;\nmov.u32 %r5, 0;\n"
        );
        // The address of each load depends on the value of the previous one, which is 0.
        let load = "ld.const.u32 %r5, [%rd3];\ncvt.u64.u32 %rd2, %r5;\nadd.s64 %rd3, %rd3, %rd2;\n";
        bench.run_with(".const .align 4 .b8 bank[256];\n", &format!("{head}{}", load.repeat(count)), 32)
    };
    let per_load = |lanes_per_word| (time(lanes_per_word, 96) - time(lanes_per_word, 32)) as f64 / 64.0;
    let [one, four, all] = [per_load(32), per_load(8), per_load(1)];
    assert_eq!((four - one, all - one), (3.0, 31.0));
}

#[test]
fn the_first_constant_of_a_line_comes_from_the_l2() {
    let config = with_read_only_caches(64, 0);
    let mut bench = Bench::new(&config);
    bench.run("", 1, 1, 0);
    let sm = bench.gpu.sms()[0].read_only(ReadOnlyCache::Constant);
    assert_eq!((sm.accesses, sm.misses), (1, 1), "the parameter");
    assert_eq!(bench.gpu.snapshot().l2.cache.constant_reads.misses, 1);
}

#[test]
fn code_is_fetched_line_by_line_once() {
    let config = with_read_only_caches(0, 4);
    let mut bench = Bench::new(&config);
    // With six other instructions, 250 make 2048 bytes: 16 lines, the capacity of the cache.
    let body = "add.s32 %r1, %r1, %r1;\n".repeat(250);
    let with = bench.run(&body, 1, 64, 0);
    let total = bench.gpu.snapshot();
    assert_eq!(total.instruction.misses, 16);
    assert_eq!(total.instruction.accesses, 32, "each of two warps comes to each line");
    assert!(total.sm.scheduler_cycles.fetch > 0);
    let without = Bench::new(&with_read_only_caches(0, 0)).run(&body, 1, 64, 0);
    assert!(with > without, "{with} cycles, {without} without an instruction cache");
}

/// Objects of the module, and one thread that initializes the first for one arrival. The next phase of the second has begun.
const MBARRIERS: &str = ".shared .align 8 .b64 bars[2];\n.shared .align 128 .b8 tile[4096];\n";
const INIT: &str = ".reg .pred %p, %q;\nmov.u32 %r5, 0;\nsetp.eq.u32 %q, %r1, 0;\n\
    @%q mbarrier.init.shared.b64 [bars], 1;\n@%q mbarrier.init.shared.b64 [bars+8], 1;\n\
    @%q mbarrier.arrive.shared.b64 _, [bars+8];\nbar.sync 0;\n";

#[test]
fn a_wait_for_an_ended_phase_takes_the_time_of_a_shared_load() {
    let config = config();
    for wait in ["test_wait", "try_wait"] {
        let round =
            format!("mbarrier.{wait}.parity.shared.b64 %p, [bars+8], %r5;\nselp.u32 %r5, 0, 0, %p;\n");
        let time = |count: usize| {
            Bench::new(&config).run_with(MBARRIERS, &format!("{INIT}{}", round.repeat(count)), 32)
        };
        let per_round = (time(96) - time(32)) / 64;
        let load = "ld.shared.u32 %r5, [%r5];\nselp.u32 %r5, 0, 0, %p;\n";
        let zeros = "setp.eq.u32 %p, %r5, 0;\n";
        let load_time = |count: usize| {
            let body = format!("{INIT}{zeros}{}", load.repeat(count));
            Bench::new(&config).run_with(MBARRIERS, &body, 32)
        };
        assert_eq!(per_round, (load_time(96) - load_time(32)) / 64, "{wait}");
        let lsu = &config.sm.lsu;
        assert_eq!(
            per_round,
            u64::from(32 / lsu.lanes + lsu.shared_latency + config.sm.alu.int_latency),
            "{wait}"
        );
    }
}

#[test]
fn the_arrivals_of_lanes_at_one_object_take_turns_at_its_bank() {
    let config = config();
    let time = |lanes: u32, count: usize| {
        let arrivals = "@%q mbarrier.expect_tx.shared::cta.b64 [bars], 1;\n".repeat(count);
        let body = format!("{INIT}setp.lt.u32 %q, %r1, {lanes};\n{arrivals}bar.sync 0;\n");
        let mut bench = Bench::new(&config);
        bench.run_with(MBARRIERS, &body, 32);
        bench.gpu.sms().iter().map(|sm| sm.counters_at(bench.gpu.cycle()).bank_conflict_cycles).sum::<u64>()
    };
    assert_eq!(time(1, 24) - time(1, 8), 0);
    assert_eq!(time(20, 24) - time(20, 8), 16 * 19);
}

#[test]
fn a_suspended_warp_follows_the_last_arrival_and_issues_nothing_before() {
    let config = config();
    // Warp 1 waits for warp 0, which computes for a while.
    let run = |count: usize| {
        let work = "add.s32 %r6, %r6, %r6;\n".repeat(count);
        let body = format!(
            "{INIT}setp.ge.u32 %q, %r1, 32;\n@%q bra WAIT;\n{work}setp.eq.u32 %q, %r1, 0;\n\
             @%q mbarrier.arrive.shared.b64 _, [bars];\nbra DONE;\n\
             WAIT: mbarrier.try_wait.parity.shared.b64 %p, [bars], 0;\n@!%p bra WAIT;\n\
             add.s32 %r7, %r7, %r7;\nadd.s32 %r7, %r7, %r7;\nadd.s32 %r7, %r7, %r7;\nDONE:\n"
        );
        let mut bench = Bench::new(&config);
        let cycles = bench.run_with(MBARRIERS, &body, 64);
        let sm = &bench.gpu.sms()[0];
        (cycles, sm.warp_instructions(), sm.counters_at(bench.gpu.cycle()).scheduler_cycles.idle)
    };
    let (short, long) = (run(20), run(60));
    let latency = u64::from(config.sm.alu.int_latency);
    assert!(60 * latency < u64::from(config.clock.core_mhz), "the wait is shorter than a suspension");
    assert_eq!((long.0 - short.0, long.1 - short.1), (40 * latency, 40));
    // The waiting warp has a scheduler to itself, which is idle as at a barrier.
    assert_eq!(config.sm.schedulers, 2);
    assert_eq!(long.2 - short.2, 40 * latency);
}

#[test]
fn a_wait_ends_without_its_phase_after_a_microsecond() {
    let config = config();
    let time = |count: usize| {
        let waits =
            "mbarrier.try_wait.parity.shared.b64 %p, [bars], %r5;\nselp.u32 %r5, 0, 0, %p;\n".repeat(count);
        Bench::new(&config).run_with(MBARRIERS, &format!("{INIT}{waits}"), 32)
    };
    let lsu = &config.sm.lsu;
    let answer = u64::from(32 / lsu.lanes + lsu.shared_latency + config.sm.alu.int_latency);
    // The warp is suspended for 1400 cycles, and tries again after a branch.
    assert_eq!(config.clock.core_mhz, 1400);
    assert_eq!((time(24) - time(8)) / 16, 1400 + u64::from(config.sm.branch_latency) + answer);
}

#[test]
fn products_of_a_warp_group_follow_each_other_without_a_wait() {
    let config = Arc::new(GpuConfig::load("h100").expect("built in"));
    let sums: Vec<String> = (10..42).map(|register| format!("%r{register}")).collect();
    // Both factors are at address 0, without swizzle.
    let product = format!(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{{}}}, %rd2, %rd2, 1, 1, 1, 0, 0;\n",
        sums.join(", ")
    );
    let wait = "wgmma.wait_group.sync.aligned 0;\n";
    let time = |round: &str, count: usize| {
        let body = format!("mov.u32 %r9, tile;\nmov.u64 %rd2, 0;\n{}{wait}", round.repeat(count));
        let declarations = ".shared .align 1024 .b8 tile[1024];\n";
        Bench::new(&config).run_with(declarations, &body, 128)
    };
    let per_round = |round: &str| (time(round, 24) - time(round, 8)) / 16;
    // Each warp computes 16 rows.
    let interval = 16 * 64 * 16 / config.sm.tensor.macs;
    assert_eq!(per_round(&product), u64::from(interval));
    // A wait issues when the product has ended, and the next product in the cycle after the wait.
    let latency = config.sm.tensor.latency_of(interval as u16);
    assert_eq!(per_round(&format!("{product}{wait}")), u64::from(latency) + 1);
}

/// Returns the cycles of a load or copy of a line, from the L2 or from DRAM, and of the wait that follows.
fn line_time(instruction: &str, wait: &str, warm: bool) -> u64 {
    let config = config();
    let time = |with: bool| {
        let mut bench = Bench::new(&config);
        let buffer = bench.memory.alloc(4096, "buffer").expect("it fits");
        let warming =
            if warm { "ld.global.cg.u32 %r8, [%rd1];\nadd.s32 %r8, %r8, 1;\nmembar.gl;\n" } else { "" };
        let timed = if with { format!("{instruction}{wait}") } else { String::new() };
        let body = format!("{INIT}mov.u32 %r8, 0;\n{warming}and.b32 %r8, %r8, 1;\n{timed}");
        let text = kernel(&body).replace(".visible .entry", &format!("{MBARRIERS}.visible .entry"));
        bench.run_text(&text, 1, 1, buffer)
    };
    time(true) - time(false)
}

#[test]
fn a_bulk_copy_of_a_line_takes_the_time_of_a_load_and_a_branch() {
    let load = "ld.global.cg.u32 %r9, [%rd1];\n";
    let copy =
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 128, [bars];\n";
    let expect = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars], {bytes};\n";
    // The load gives the parity of a phase that has ended, so that the same instructions follow.
    let after_load = "WAIT: mbarrier.try_wait.parity.shared.b64 %p, [bars+8], %r9;\n@!%p bra WAIT;\n";
    let after_copy = "WAIT: mbarrier.try_wait.parity.shared.b64 %p, [bars], %r5;\n@!%p bra WAIT;\n";
    let branch = u64::from(config().sm.branch_latency);
    for warm in [false, true] {
        let of_load = line_time(&(expect.replace("{bytes}", "0") + load), after_load, warm);
        let of_copy = line_time(&(expect.replace("{bytes}", "128") + copy), after_copy, warm);
        assert_eq!(of_copy, of_load + branch, "warm: {warm}");
    }
}

#[test]
fn a_bulk_copy_moves_each_line_once_past_the_l1d() {
    let config = config();
    for (bytes, lines) in [(4096, 32), (1024, 8), (16, 1), (272, 3)] {
        let mut bench = Bench::new(&config);
        let buffer = bench.memory.alloc(8192, "buffer").expect("it fits");
        let body = format!(
            "{INIT}mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars], {bytes};\n\
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], {bytes}, [bars];\n\
             WAIT: mbarrier.try_wait.parity.shared.b64 %p, [bars], 0;\n@!%p bra WAIT;\n\
             cp.async.bulk.global.shared::cta.bulk_group [%rd1+4096], [tile], {bytes};\n\
             cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
        );
        let text = kernel(&body).replace(".visible .entry", &format!("{MBARRIERS}.visible .entry"));
        bench.run_text(&text, 1, 1, buffer);
        let l1d = bench.gpu.sms()[0].l1d().counters();
        // Only the stores access the L1D.
        assert_eq!((l1d.bypasses, l1d.accesses), (lines, lines), "{bytes} bytes");
        // Each line crosses to the L2 twice: as a read, and as a store.
        let l2 = bench.gpu.system().stats().l2.cache;
        let stores = l2.write_hits + l2.write_pending_hits + l2.write_misses;
        assert_eq!((l2.accesses, stores), (2 * lines, lines), "{bytes} bytes");
    }
}

#[test]
fn a_wait_for_reads_does_not_wait_for_the_acknowledgement_of_stores() {
    let config = config();
    let time = |wait: &str| {
        let mut bench = Bench::new(&config);
        let buffer = bench.memory.alloc(4096, "buffer").expect("it fits");
        // The chain after the wait hides the acknowledgements, for which the exit waits.
        let chain = "add.s32 %r6, %r6, %r6;\n".repeat(200);
        let body = format!(
            "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 4096;\ncp.async.bulk.commit_group;\n{wait}{chain}"
        );
        let text = kernel(&body).replace(".visible .entry", &format!("{MBARRIERS}.visible .entry"));
        bench.run_text(&text, 1, 1, buffer)
    };
    let (nothing, reads, all) =
        (time(""), time("cp.async.bulk.wait_group.read 0;\n"), time("cp.async.bulk.wait_group 0;\n"));
    // The last of 32 packets leaves 31 cycles after the first, and the acknowledgement crosses both crossbars.
    assert!(nothing + 31 <= reads && reads < all, "{nothing} {reads} {all}");
}

/// Returns a configuration with clusters of up to four CTAs in groups of four SMs.
fn with_clusters() -> Arc<GpuConfig> {
    let mut config = GpuConfig::clone(&config());
    let cluster = &mut config.sm.cluster;
    (cluster.ctas, cluster.sms, cluster.latency, cluster.bytes) = (4, 4, 100, 16);
    Arc::new(config)
}

const CLUSTER_SYNC: &str = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";

/// Returns the cycles of a cluster of two CTAs. %r5 is the rank of the other CTA, %r9 the address of its `tile`.
fn cluster_time(config: &Arc<GpuConfig>, body: &str, threads: u32) -> u64 {
    let begin = format!(
        "mov.u32 %r1, %tid.x;\n{INIT}mov.u32 %r5, %cluster_ctarank;\nxor.b32 %r5, %r5, 1;\nmov.u32 %r9, tile;\n\
         mapa.shared::cluster.u32 %r9, %r9, %r5;\nmov.u32 %r11, %tid.x;\nshl.b32 %r11, %r11, 2;\nadd.u32 %r9, %r9, %r11;\n\
         {CLUSTER_SYNC}"
    );
    let text = kernel(&format!("{begin}{body}{CLUSTER_SYNC}"))
        .replace(".visible .entry", &format!("{MBARRIERS}.visible .entry"))
        .replace("(.param .u64 p) {", "(.param .u64 p)\n.reqnctapercluster 2, 1, 1\n{");
    Bench::new(config).run_text(&text, 2, threads, 0)
}

/// Returns the cycles that one more `step` takes.
fn cluster_step(config: &Arc<GpuConfig>, step: &str, threads: u32) -> u64 {
    let time = |count: usize| cluster_time(config, &step.repeat(count), threads);
    (time(40) - time(8)) / 32
}

#[test]
fn a_load_from_another_cta_takes_the_latency_of_the_cluster_and_the_cycles_of_its_segments() {
    let config = with_clusters();
    let (lsu, cluster) = (&config.sm.lsu, &config.sm.cluster);
    // All words are 0, so that the address does not change.
    let step = "ld.shared::cluster.u32 %r10, [%r9];\nadd.u32 %r9, %r9, %r10;\n";
    for (threads, segments) in [(1, 1), (32, 4)] {
        let port = segments * 32 / cluster.bytes;
        let expected = 32 / lsu.lanes + cluster.latency + port - 1 + config.sm.alu.int_latency;
        assert_eq!(cluster_step(&config, step, threads), u64::from(expected), "{threads} threads");
    }
}

#[test]
fn independent_loads_from_another_cta_keep_the_port_busy() {
    let config = with_clusters();
    let loads: String = (20..60).map(|r| format!("ld.shared::cluster.u32 %r{r}, [%r9];\n")).collect();
    assert_eq!(cluster_step(&config, &loads, 32), u64::from(40 * 4 * 32 / config.sm.cluster.bytes));
}

#[test]
fn the_barrier_of_a_cluster_takes_a_message_and_two_branches() {
    let config = with_clusters();
    let expected = config.sm.cluster.latency + 2 * config.sm.branch_latency;
    assert_eq!(cluster_step(&config, CLUSTER_SYNC, 64), u64::from(expected));
}

#[test]
fn a_copy_between_ctas_takes_a_message_and_its_bytes_over_the_rate() {
    let config = with_clusters();
    let time = |bytes: u32| {
        let body = format!(
            "mov.u32 %r12, tile;\nmov.u32 %r13, bars;\nmapa.shared::cluster.u32 %r13, %r13, %r5;\n\
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars], {bytes};\n{CLUSTER_SYNC}\
             cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r9], [%r12], {bytes}, [%r13];\n\
             WAIT: mbarrier.try_wait.parity.shared.b64 %p, [bars], 0;\n@!%p bra WAIT;\n"
        );
        cluster_time(&config, &body, 1)
    };
    assert_eq!(time(2048) - time(512), u64::from((2048 - 512) / config.sm.cluster.bytes));
}

#[test]
fn the_ctas_of_a_cluster_start_in_one_group_of_sms() {
    let mut config = GpuConfig::clone(&with_clusters());
    config.sm.shared_bytes = 48 << 10;
    let config = Arc::new(config);
    let mut bench = Bench::new(&config);
    let out = bench.memory.alloc(4 * 64, "SM of each CTA").expect("it fits");
    // Each SM holds two CTAs, so that the 60 CTAs do not fit at the same time.
    let body = "mov.u32 %r5, %smid;\nmul.wide.u32 %rd2, %r2, 4;\nadd.u64 %rd2, %rd1, %rd2;\nst.global.u32 [%rd2], %r5;\n";
    let text = kernel(&format!("{body}{CLUSTER_SYNC}"))
        .replace(".visible .entry", ".shared .align 8 .b8 tile[24576];\n.visible .entry")
        .replace("ld.param.u64 %rd1, [p];", "ld.param.u64 %rd1, [p];\nst.shared.u32 [tile], 1;")
        .replace("(.param .u64 p) {", "(.param .u64 p)\n.reqnctapercluster 4, 1, 1\n{");
    bench.run_text(&text, 60, 1, out);
    let sms = bench.memory.read_u32s(out, 60).expect("inside the buffer");
    for cluster in sms.chunks_exact(4) {
        let groups: Vec<u32> = cluster.iter().map(|sm| sm / 4).collect();
        assert!(groups.iter().all(|group| *group == groups[0]), "{cluster:?}");
        let mut different = cluster.to_vec();
        different.sort_unstable();
        different.dedup();
        // The last group has three SMs.
        assert_eq!(different.len(), if groups[0] == 3 { 3 } else { 4 }, "{cluster:?}");
    }
    assert_eq!(sms.iter().map(|sm| sm / 4).max(), Some(3));
}

#[test]
fn clusters_are_spread_over_all_sms() {
    let config = with_clusters();
    let mut bench = Bench::new(&config);
    let out = bench.memory.alloc(4 * 64, "SM of each CTA").expect("it fits");
    let body = "mov.u32 %r5, %smid;\nmul.wide.u32 %rd2, %r2, 4;\nadd.u64 %rd2, %rd1, %rd2;\nst.global.u32 [%rd2], %r5;\n";
    let text = kernel(&format!("{body}{CLUSTER_SYNC}"))
        .replace("(.param .u64 p) {", "(.param .u64 p)\n.reqnctapercluster 2, 1, 1\n{");
    // Groups of 4, 4, 4 and 3 SMs. A cluster in the last one leaves an SM free.
    bench.run_text(&text, 14, 1, out);
    let mut sms = bench.memory.read_u32s(out, 14).expect("inside the buffer");
    sms.sort_unstable();
    sms.dedup();
    assert_eq!(sms.len(), 14, "{sms:?}");
}
