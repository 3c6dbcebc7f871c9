//! Benchmarks of the simulator's inner loops.
//!
//! `cargo bench -p selvedge-sim [NAME]`
use divan::{Bencher, black_box};
use selvedge_hw::index_function::IndexFunction;
use selvedge_hw_codecs::{bdi, bpc, cpack, fpc, line::Line};
use selvedge_sim::cache::TagArray;
use selvedge_sim::config::GpuConfig;
use selvedge_sim::dram::{Access, Bursts, Channel, Request};
use selvedge_sim::memory::DeviceMemory;
use selvedge_sim::ptx::{Arg, LaunchDims, MemAccess, Module, run_functional};
use selvedge_sim::sm::coalescer::coalesce;
use selvedge_sim::sm::scheduler::Scheduler;

fn main() {
    divan::main();
}

fn config() -> GpuConfig {
    GpuConfig::load("gtx480").expect("built in")
}

/// Returns numbers without a pattern, the same in each run.
fn numbers() -> impl Iterator<Item = u64> {
    let next =
        |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    std::iter::successors(Some(1), next).map(|x| x >> 33)
}

/// Lookups in the tags of an L2 slice; half of them hit.
#[divan::bench]
fn cache_lookup(bencher: Bencher) {
    let l2 = config().l2;
    let mut tags: TagArray<u32> = TagArray::new(l2.sets, l2.ways, l2.line_bytes, IndexFunction::Bmod);
    let lines = u64::from(l2.sets * l2.ways);
    for line in (0..lines).map(|number| number * u64::from(l2.line_bytes)) {
        let slot = tags.victim(line).expect("it is empty").slot;
        tags.reserve(slot, line);
        tags.fill(slot);
    }
    let mut asked = numbers().map(|number| number % (2 * lines) * u64::from(l2.line_bytes));
    bencher.bench_local(|| {
        let probe = tags.probe(black_box(asked.next().expect("endless")));
        probe.slot().into_iter().for_each(|slot| tags.touch(slot));
    });
}

/// Coalesces words of 32 lanes, a stride apart, into line transactions.
#[divan::bench(args = [4, 8, 128])]
fn coalescer(bencher: Bencher, stride: u64) {
    let mut access = MemAccess::new();
    access.mask = u32::MAX;
    access.address = std::array::from_fn(|lane| 0x1000_0000 + stride * lane as u64);
    let mut transactions = Vec::new();
    bencher.bench_local(|| {
        transactions.clear();
        coalesce(black_box(&access), 128, &mut transactions);
        transactions.len()
    });
}

/// Selects a ready warp of a full SM.
#[divan::bench]
fn scheduler(bencher: Bencher) {
    let sm = config().sm;
    let mut scheduler = Scheduler::new(&sm, 0);
    let mine = scheduler.mine;
    (0..sm.warps as u8).filter(|warp| mine >> warp & 1 == 1).for_each(|warp| scheduler.arrive(warp));
    let mut ready = numbers();
    bencher.bench_local(|| scheduler.choose(ready.next().expect("endless").into()));
}

/// One command cycle of a channel with a full queue of reads to all banks and rows.
#[divan::bench]
fn dram_choice(bencher: Bencher) {
    let config = config();
    let mut channel = Channel::new(&config.dram, config.l2.line_bytes);
    let mut addresses = numbers().map(|number| number % (1 << 20) * u64::from(config.l2.line_bytes));
    let mut now = 0;
    bencher.bench_local(|| {
        now += 1;
        while channel.can_push(Access::Read) {
            let address = addresses.next().expect("endless");
            let bursts = Bursts::run(4);
            let read = Request { access: Access::Read, address, bursts, metadata: false, slice: 0, token: 0 };
            channel.push(now, read);
        }
        channel.tick(now);
        channel.pop(now)
    });
}

/// Runs a CTA of eight warps, with 1000 iterations of a loop that has four copies of this instruction: about 56,000 warp
/// instructions.
#[divan::bench(args = ["fma.rn.f32 %f1, %f1, %f2, %f3;", "mad.lo.u32 %r4, %r4, %r0, %r3;", "ld.global.u32 %r4, [%rd0];"])]
fn lane_loops(bencher: Bencher, instruction: &str) {
    let text = format!(
        ".version 6.0\n.target sm_60\n.address_size 64\n.entry k(.param .u64 out)\n{{\n.reg .pred %p<2>; .reg .b32 %r<9>;\n\
         .reg .f32 %f<9>; .reg .b64 %rd<9>;\nld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4;\n\
         add.s64 %rd0, %rd0, %rd1; mov.u32 %r3, 0;\nLOOP:\n{}\nadd.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, 1000;\n\
         @%p1 bra LOOP;\nst.global.u32 [%rd0], %r4; ret;\n}}\n",
        instruction.repeat(4)
    );
    let module = Module::parse("lanes", &text).expect("the program is PTX");
    let kernel = module.kernel("k").expect("the program has kernel k");
    let mut memory = DeviceMemory::new();
    let buffer = memory.alloc(256 * 4, "out").expect("there is room");
    let params = kernel.pack(&[Arg::Ptr(buffer)]).expect("k takes an address");
    let launch = LaunchDims::new([1, 1, 1], [256, 1, 1]);
    bencher.bench_local(|| run_functional(&module, &kernel, &launch, &params, &mut memory).expect("k runs"));
}

/// Returns a line of small numbers, which all codecs compress.
fn line() -> Line {
    let mut numbers = numbers();
    std::array::from_fn(|_| numbers.next().map_or(0, |number| number & 0x7f | (number & 0x7f00) << 24))
}

#[divan::bench]
fn codec_bdi() -> bdi::BdiCompressed {
    bdi::compress_words(black_box(&line()), 128)
}

#[divan::bench]
fn codec_bpc() -> bpc::BpcCompressed {
    bpc::compress_words(black_box(&line()), 128)
}

#[divan::bench]
fn codec_fpc() -> usize {
    fpc::compressed_bits(black_box(&line()), 128, fpc::FpcVariant::Words)
}

#[divan::bench]
fn codec_cpack() -> usize {
    cpack::compressed_bits(black_box(&line()), 128, cpack::CpackVariant::Fifo16)
}
