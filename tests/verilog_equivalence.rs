//! Do golden model, RTL, Verilator and Icarus Verilog agree on every block, cycle by cycle, with the same vectors, and do the
//! vectors reach what they must reach?
//!
//! The default parameters get the full count: 100,000 lines through each codec, 50,000 cycles of the MILG, 20,000 of any
//! other block. Every other value of every parameter, one at a time, gets a twentieth of it under Icarus Verilog, and
//! 10,000 clocks as RTL; that is 5,000 lines of 32 and of 64 bytes, and of 128 bytes at every other pipeline depth. The
//! variable `SELVEDGE_VECTORS` multiplies all counts: so many seeds are run, one after the other.
use selvedge_gen::{EmitOptions, ResetStyle};
use selvedge_hw::{Allowed, BLOCKS, BlockEntry, Direction, Port, PortBits};
use selvedge_testbenches::emitted::{Emitted, Source};
use selvedge_testbenches::equivalence::{EquivalenceError, equivalence, lockstep};
use selvedge_testbenches::vectors::{Vector, Vectors};
use selvedge_testbenches::{icarus, testbench};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The first seed.
const SEED: u64 = 1;
/// Share of the full count that parameters other than the defaults get.
const PART: u64 = 20;
/// Clocks of the RTL with such parameters.
const RTL_CLOCKS: usize = 10_000;
/// Times that every encoding must come up in the full count.
const PER_ENCODING: u64 = 1000;

/// Tags from here on are undefined; the decompressor's stimulus has some, which are not counted as lines.
const ENCODINGS: usize = 11;

/// The factor on all counts.
fn factor() -> u64 {
    match std::env::var("SELVEDGE_VECTORS") {
        Ok(text) => {
            text.parse().unwrap_or_else(|_| panic!("SELVEDGE_VECTORS is `{text}`, not a whole number"))
        }
        Err(_) => 1,
    }
}

/// The seeds to run, each with the full count.
fn seeds() -> std::ops::Range<u64> {
    SEED..SEED + factor()
}

/// The values of one clock by port name.
struct Clock<'a> {
    names: &'a [&'static str],
    values: PortBits,
}

impl Clock<'_> {
    fn get(&self, name: &str) -> u64 {
        let index =
            self.names.iter().position(|own| *own == name).unwrap_or_else(|| panic!("no port {name}"));
        self.values[index][0]
    }
}

/// What has been seen of a block's vectors.
trait Goal {
    fn reset(&mut self);
    fn clock(&mut self, clock: &Clock);
    /// How much has gone through the block, in its unit.
    fn count(&self) -> u64;
    /// Panics when something has not been reached in a full count.
    fn check(&self);
}

/// Lines of a codec, counted by encoding as they pass the port where the encoding shows.
struct Lines {
    valid: &'static str,
    ready: &'static str,
    by_encoding: [u64; 16],
}

impl Lines {
    fn new(valid: &'static str, ready: &'static str) -> Self {
        Lines { valid, ready, by_encoding: [0; 16] }
    }
}

impl Goal for Lines {
    fn reset(&mut self) {}
    fn clock(&mut self, clock: &Clock) {
        if clock.get(self.valid) == 1 && clock.get(self.ready) == 1 {
            let encoding = if self.valid == "valid_o" { "encoding_o" } else { "encoding_i" };
            self.by_encoding[clock.get(encoding) as usize] += 1;
        }
    }
    fn count(&self) -> u64 {
        self.by_encoding[..ENCODINGS].iter().sum()
    }
    fn check(&self) {
        println!("lines by encoding: {:?}", self.by_encoding);
        let rare = self.by_encoding[..ENCODINGS].iter().position(|lines| *lines < PER_ENCODING * factor());
        assert_eq!(rare, None, "an encoding came up too rarely: {:?}", self.by_encoding);
    }
}

/// Cycles of the MILG, and how often its counters stood at their ends and were pushed further.
#[derive(Default)]
struct Saturation {
    cycles: u64,
    inflight_bits: u64,
    rsfail_bits: u64,
    /// Failures in this interval, without saturation, and the one of the last cycle.
    rsfails: u64,
    last_rsfail: u64,
    inflight_at_top: u64,
    inflight_at_zero: u64,
    rsfail_at_top: u64,
    /// Limits that were computed from a saturated failure counter.
    limits_from_saturation: u64,
}

impl Goal for Saturation {
    fn reset(&mut self) {
        (self.rsfails, self.last_rsfail) = (0, 0);
    }
    fn clock(&mut self, clock: &Clock) {
        self.cycles += 1;
        let top = (1 << self.inflight_bits) - 1;
        let (inflight, issued, completed) =
            (clock.get("inflight_o"), clock.get("issued_i"), clock.get("completed_i"));
        self.inflight_at_top += u64::from(inflight == top && issued > completed);
        self.inflight_at_zero += u64::from(inflight == 0 && completed > issued);
        let top = (1 << self.rsfail_bits) - 1;
        if clock.get("update_o") == 1 {
            // The interval ended with the last cycle, whose failure already belongs to this one.
            self.limits_from_saturation += u64::from(self.rsfails > top);
            self.rsfails = 0;
        }
        self.rsfails += self.last_rsfail;
        self.last_rsfail = clock.get("rsfail_i");
        self.rsfail_at_top += u64::from(self.rsfails >= top && self.last_rsfail == 1);
    }
    fn count(&self) -> u64 {
        self.cycles
    }
    fn check(&self) {
        let seen =
            [self.inflight_at_top, self.inflight_at_zero, self.rsfail_at_top, self.limits_from_saturation];
        println!(
            "in flight pushed beyond the top, below zero; failures beyond the top; limits from those: {seen:?}"
        );
        assert!(seen.iter().all(|times| *times > 0), "a counter was not driven to its end: {seen:?}");
    }
}

/// Clocks of a block without special demands.
struct Clocks(u64);

impl Goal for Clocks {
    fn reset(&mut self) {}
    fn clock(&mut self, _: &Clock) {
        self.0 += 1;
    }
    fn count(&self) -> u64 {
        self.0
    }
    fn check(&self) {}
}

/// The full count of a block with one seed, and what must be seen in it: the only place that knows blocks by name.
fn goal(block: &dyn BlockEntry, params: &Value) -> (u64, Box<dyn Goal>) {
    let (count, goal): (u64, Box<dyn Goal>) = match block.name() {
        "bdi_compressor" => (100_000, Box::new(Lines::new("valid_o", "ready_i"))),
        "bdi_decompressor" => (100_000, Box::new(Lines::new("valid_i", "ready_o"))),
        "milg" => {
            let bits = |name: &str| params[name].as_u64().expect("a number");
            let (inflight_bits, rsfail_bits) = (bits("inflight_bits"), bits("rsfail_bits"));
            (50_000, Box::new(Saturation { inflight_bits, rsfail_bits, ..Saturation::default() }))
        }
        _ => (20_000, Box::new(Clocks(0))),
    };
    (count, goal)
}

/// The number of clocks in which the golden model's vectors add `count` to what the goal has seen.
fn clocks_until(block: &dyn BlockEntry, params: &Value, seed: u64, count: u64, goal: &mut dyn Goal) -> u64 {
    let names: Vec<&'static str> = block.ports(params).unwrap().iter().map(|port| port.name).collect();
    let enough = goal.count() + count;
    let mut clocks = 0;
    for Vector { inputs, outputs, .. } in Vectors::new(block, params, seed).unwrap() {
        if goal.count() >= enough {
            break;
        }
        clocks += 1;
        match outputs {
            Some(outputs) => goal.clock(&Clock { names: &names, values: [inputs, outputs].concat() }),
            None => goal.reset(),
        }
    }
    clocks
}

fn emitted(block: &dyn BlockEntry, params: &Value, reset: ResetStyle) -> Emitted {
    let options = EmitOptions { reset, ..EmitOptions::default() };
    Emitted::of(block, params, &options).unwrap_or_else(|error| panic!("{}: {error}", block.name()))
}

/// Every object of parameters in which one differs from its default.
fn variants(block: &dyn BlockEntry) -> Vec<Value> {
    let defaults = block.defaults();
    let mut variants = Vec::new();
    for spec in block.schema() {
        let values: Vec<Value> = match spec.allowed {
            Allowed::Range(low, high) if high - low < 8 => (low..=high).map(Value::from).collect(),
            Allowed::Range(low, high) => vec![low.into(), high.into()],
            Allowed::OneOf(list) => list.iter().copied().map(Value::from).collect(),
            Allowed::Switch => vec![false.into(), true.into()],
        };
        for value in values.into_iter().filter(|value| *value != defaults[spec.name]) {
            let mut params = defaults.clone();
            params[spec.name] = value;
            // What does not go together with the other defaults is no variant.
            variants.extend(block.check(&params));
        }
    }
    variants
}

/// Where compiled Verilog is kept between runs.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("verilated")
}

fn run_icarus(block: &dyn BlockEntry, params: &Value, seed: u64, clocks: u64, reset: ResetStyle) {
    let bench = testbench::write(block, params, clocks, seed, reset).unwrap();
    let folder = tempfile::tempdir().unwrap();
    match icarus::run(&bench, &emitted(block, params, reset), folder.path()) {
        Ok(passed) => assert_eq!(passed, clocks, "{} {params}, seed {seed}", block.name()),
        Err(error) => panic!("{params}, seed {seed}: {error}"),
    }
}

/// Runs one `part`th of the full count with each seed.
fn run_icarus_on_part(block: &dyn BlockEntry, params: &Value, part: u64) {
    let (count, mut goal) = goal(block, params);
    for seed in seeds() {
        let clocks = clocks_until(block, params, seed, count / part, &mut *goal);
        run_icarus(block, params, seed, clocks, ResetStyle::AsyncLow);
    }
}

#[test]
fn model_rtl_and_verilator_agree_on_the_full_count() {
    for block in BLOCKS {
        let params = block.defaults();
        let (count, mut goal) = goal(*block, &params);
        let emitted = emitted(*block, &params, ResetStyle::AsyncLow);
        for seed in seeds() {
            let clocks = clocks_until(*block, &params, seed, count, &mut *goal);
            println!("{}, seed {seed}: {clocks} clocks", block.name());
            let report = equivalence(*block, &params, &emitted, clocks, seed, &cache()).unwrap();
            assert_eq!(report.vectors + report.resets, clocks);
            assert!(report.resets > 1, "{}: no reset in mid-flight", block.name());
            for coverage in &report.coverage {
                let (port, toggled) = (&coverage.port, coverage.toggled());
                let enough = if port.direction == Direction::Input { port.bits } else { 1 };
                assert!(toggled >= enough, "{}: {toggled} bits of {} move", block.name(), port.name);
            }
        }
        goal.check();
    }
}

#[test]
fn icarus_agrees_on_the_full_count() {
    std::thread::scope(|scope| {
        for block in BLOCKS {
            scope.spawn(|| run_icarus_on_part(*block, &block.defaults(), 1));
        }
    });
}

#[test]
fn rtl_and_icarus_agree_for_every_value_of_every_parameter() {
    for block in BLOCKS {
        for params in variants(*block) {
            let (ports, mut rtl) = (block.ports(&params).unwrap(), block.rtl(&params).unwrap());
            let vectors = Vectors::new(*block, &params, SEED).unwrap().take(RTL_CLOCKS);
            lockstep(block.name(), &ports, vectors, &mut [("RTL", &mut *rtl)])
                .unwrap_or_else(|difference| panic!("{params}: {difference}"));
            run_icarus_on_part(*block, &params, PART);
        }
    }
}

#[test]
fn the_other_reset_styles_behave_alike() {
    for block in BLOCKS {
        for reset in [ResetStyle::SyncHigh, ResetStyle::None] {
            for seed in seeds() {
                run_icarus(*block, &block.defaults(), seed, 5000, reset);
            }
        }
    }
}

/// The same block, but for one bit of an output that is inverted in one clock: around it stands a module of its name.
fn with_fault(correct: &Emitted, port: &str, bit: usize, clock: u64) -> Emitted {
    let name = &correct.name;
    let mut faulty = correct.clone();
    let header = format!("module {name} ");
    let top = faulty
        .sources
        .iter_mut()
        .find(|source| source.text.contains(&header))
        .expect("there is a top module");
    top.text = top.text.replace(&header, &format!("module {name}_correct "));
    top.module = format!("{name}_correct");

    let declare =
        |direction: &str, name: &str, bits: usize| format!("  {direction} wire [{}:0] {name}", bits - 1);
    let mut ports = vec!["  input wire clk_i".to_string()];
    let mut pins = BTreeMap::from([("clk_i".to_string(), "clk_i".to_string())]);
    if let Some(reset) = correct.reset.port() {
        ports.push(format!("  input wire {reset}"));
        pins.insert(reset.to_string(), reset.to_string());
    }
    let mut body = String::new();
    for Port { name, bits, direction, .. } in &correct.ports {
        let net = if *name == port { "correct".to_string() } else { name.to_string() };
        pins.insert(name.to_string(), net);
        ports.push(declare(if *direction == Direction::Input { "input" } else { "output" }, name, *bits));
        if *name == port {
            body += &format!("  wire [{}:0] correct;\n", bits - 1);
            body += &format!("  wire [{0}:0] fault = {bits}'d1 << {bit};\n", bits - 1);
            body += &format!("  assign {port} = (clock == {clock}) ? correct ^ fault : correct;\n");
        }
    }
    let pins: Vec<String> = pins.iter().map(|(pin, net)| format!("    .{pin}({net})")).collect();
    let text = format!(
        "module {name} (\n{}\n);\n  reg [31:0] clock = 0;\n  always @(posedge clk_i) clock <= clock + 1;\n{body}  \
         {name}_correct dut (\n{}\n  );\nendmodule\n",
        ports.join(",\n"),
        pins.join(",\n")
    );
    faulty.sources.push(Source { module: name.clone(), text });
    faulty
}

#[test]
fn a_fault_planted_in_the_verilog_is_named_by_clock_and_port() {
    for block in BLOCKS {
        let params = block.defaults();
        let correct = emitted(*block, &params, ResetStyle::AsyncLow);
        let port = correct.ports.iter().rfind(|port| port.direction == Direction::Output).unwrap().clone();
        // Not a clock in reset, where nobody looks.
        let clock = Vectors::new(*block, &params, SEED).unwrap().skip(500).position(|v| !v.reset).unwrap()
            as u64
            + 500;
        let faulty = with_fault(&correct, port.name, port.bits - 1, clock);

        let error = equivalence(*block, &params, &faulty, 1000, SEED, &cache()).unwrap_err();
        let EquivalenceError::Difference(difference) = error else { panic!("{error}") };
        assert_eq!((difference.implementation, difference.clock), ("Verilator", clock), "{difference}");
        assert_eq!(difference.port, port.name);

        let bench = testbench::write(*block, &params, 1000, SEED, ResetStyle::AsyncLow).unwrap();
        let error =
            icarus::run(&bench, &faulty, tempfile::tempdir().unwrap().path()).unwrap_err().to_string();
        assert!(error.contains(&format!("at clock {clock}: {} is ", port.name)), "{error}");
    }
}
