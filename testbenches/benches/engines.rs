//! Measures a cycle of a single block with each engine. The stimulus is busier than the GPU's traffic.
//!
//! `cargo bench -p selvedge-testbenches [NAME]`
use divan::{Bencher, counter::ItemsCount};
use selvedge_hw::{Engine, HwBlock, Instance, Stimulus};
use selvedge_hw_codecs::bdi::{BdiCompressor, BdiDecompressor};
use selvedge_hw_codecs::md_cache::MdCache;
use selvedge_hw_dai::milg::Milg;
use selvedge_hw_lamar::bgp::Bgp;
use selvedge_testbenches::compiler::VerilogCompiler;

fn main() {
    divan::main();
}

/// Cycles of stimulus per iteration.
const CYCLES: usize = 1000;

const ENGINES: [&str; 3] = ["model", "rtl", "verilog"];

fn cycles<B: HwBlock>(bencher: Bencher, engine: &str) {
    let params = B::Params::default();
    let engine: Engine = engine.parse().expect("an engine");
    let cache = std::env::current_exe().expect("a program").with_file_name("verilated");
    let compiler = VerilogCompiler::new(&cache, Vec::new(), Box::new(|_| ())).expect("Verilator");
    let mut block = Instance::<B>::with("block", &params, engine, Some(&compiler)).expect("it is built");
    let stimulus: Vec<Stimulus<B::In>> =
        B::stimulus(&params, 1).filter(|cycle| !cycle.reset).take(CYCLES).collect();
    bencher.counter(ItemsCount::new(CYCLES)).bench_local(|| {
        for cycle in &stimulus {
            divan::black_box(block.step(&cycle.inputs).expect("nothing is compared"));
        }
    });
}

/// Steps a block with the same inputs in every cycle, so that its state stops changing.
fn idle<B: HwBlock>(bencher: Bencher, engine: &str) {
    let params = B::Params::default();
    let engine: Engine = engine.parse().expect("an engine");
    let cache = std::env::current_exe().expect("a program").with_file_name("verilated");
    let compiler = VerilogCompiler::new(&cache, Vec::new(), Box::new(|_| ())).expect("Verilator");
    let mut block = Instance::<B>::with("block", &params, engine, Some(&compiler)).expect("it is built");
    bencher.counter(ItemsCount::new(CYCLES)).bench_local(|| {
        for _ in 0..CYCLES {
            divan::black_box(block.step(&B::In::default()).expect("nothing is compared"));
        }
    });
}

#[divan::bench(args = ENGINES)]
fn milg(bencher: Bencher, engine: &str) {
    cycles::<Milg>(bencher, engine);
}

#[divan::bench(args = ENGINES)]
fn bgp(bencher: Bencher, engine: &str) {
    cycles::<Bgp>(bencher, engine);
}

#[divan::bench(args = ENGINES)]
fn md_cache(bencher: Bencher, engine: &str) {
    cycles::<MdCache>(bencher, engine);
}

#[divan::bench(args = ENGINES)]
fn bdi_compressor(bencher: Bencher, engine: &str) {
    cycles::<BdiCompressor>(bencher, engine);
}

#[divan::bench(args = ENGINES)]
fn bdi_decompressor(bencher: Bencher, engine: &str) {
    cycles::<BdiDecompressor>(bencher, engine);
}

#[divan::bench(args = ENGINES)]
fn bdi_compressor_at_rest(bencher: Bencher, engine: &str) {
    idle::<BdiCompressor>(bencher, engine);
}
