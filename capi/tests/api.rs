//! The functions as a C program calls them: results, ownership, and what wrong arguments leave.
use selvedge_capi::SelvedgeStatus::{self, Fault, Invalid, Ok as Done};
use selvedge_capi::block::*;
use selvedge_capi::gpu::*;
use selvedge_capi::memory::*;
use selvedge_capi::{
    SELVEDGE_API_VERSION, selvedge_api_version, selvedge_last_error, selvedge_string_free, selvedge_version,
};
use selvedge_sim::config::GpuConfig;
use selvedge_sim::partition::closed_form;
use serde_json::Value;
use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut};

/// The text at a pointer of the library.
fn text_at(pointer: *const c_char) -> String {
    // SAFETY: the library has given the pointer to a text.
    unsafe { CStr::from_ptr(pointer) }.to_str().expect("UTF-8").to_owned()
}

fn error() -> String {
    text_at(selvedge_last_error())
}

fn c(text: &str) -> CString {
    CString::new(text).expect("no zero inside")
}

/// Returns the status of a call, and the text that the call writes.
fn text_of(call: impl FnOnce(*mut *mut c_char) -> SelvedgeStatus) -> (SelvedgeStatus, Option<String>) {
    let mut pointer = null_mut();
    let status = call(&raw mut pointer);
    let text = (!pointer.is_null()).then(|| text_at(pointer));
    // SAFETY: null, or a text of the library.
    unsafe { selvedge_string_free(pointer) };
    (status, text)
}

fn json_of(call: impl FnOnce(*mut *mut c_char) -> SelvedgeStatus) -> Value {
    let (status, text) = text_of(call);
    assert_eq!(status, Done, "{}", error());
    serde_json::from_str(&text.expect("a text")).expect("JSON")
}

#[test]
fn versions_are_those_of_the_package() {
    assert_eq!(selvedge_api_version(), SELVEDGE_API_VERSION);
    assert_eq!(text_at(selvedge_version()), env!("CARGO_PKG_VERSION"));
}

/// A block, freed at the end.
struct Block(*mut SelvedgeBlock);

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the block has not been freed.
        unsafe { selvedge_block_free(self.0) };
    }
}

impl Block {
    fn new(name: &str, parameters: Option<&str>, engine: &str) -> Result<Self, String> {
        let (name, parameters, engine) = (c(name), parameters.map(c), c(engine));
        let parameters = parameters.as_ref().map_or(null(), |text| text.as_ptr());
        let mut block = null_mut();
        // SAFETY: texts, and a place for the block.
        match unsafe { selvedge_block_new(name.as_ptr(), parameters, engine.as_ptr(), &raw mut block) } {
            Done => Ok(Block(block)),
            status => {
                assert_eq!((status, block), (Invalid, null_mut()));
                Err(error())
            }
        }
    }

    fn port(&self, name: &str) -> (usize, SelvedgePort) {
        let mut index = 0;
        let mut port = SelvedgePort { name: null(), bits: 0, words: 0, is_output: false };
        let text = c(name);
        // SAFETY: the block is there, and so are the places.
        unsafe {
            assert_eq!(selvedge_block_port_index(self.0, text.as_ptr(), &raw mut index), Done, "{}", error());
            assert_eq!(selvedge_block_port(self.0, index, &raw mut port), Done);
        }
        assert_eq!(text_at(port.name), name);
        (index, port)
    }

    fn set(&self, name: &str, words: &[u64]) -> SelvedgeStatus {
        // SAFETY: the block is there, and so are the words.
        unsafe { selvedge_block_set(self.0, self.port(name).0, words.as_ptr(), words.len()) }
    }

    fn get(&self, name: &str) -> Result<Vec<u64>, String> {
        let (index, port) = self.port(name);
        let mut words = vec![0; port.words as usize];
        // SAFETY: the block is there, and so is the place for the words.
        match unsafe { selvedge_block_get(self.0, index, words.as_mut_ptr(), words.len()) } {
            Done => Ok(words),
            _ => Err(error()),
        }
    }

    fn step(&self) {
        // SAFETY: the block is there.
        assert_eq!(unsafe { selvedge_block_step(self.0) }, Done, "{}", error());
    }
}

#[test]
fn model_and_rtl_of_every_block_are_stepped_alike() {
    let mut count = 0;
    // SAFETY: a place for the count.
    assert_eq!(unsafe { selvedge_block_count(&raw mut count) }, Done);
    assert_eq!(count, selvedge_blocks::all().len());
    for index in 0..count {
        let mut name = null();
        // SAFETY: a place for the name.
        assert_eq!(unsafe { selvedge_block_name(index, &raw mut name) }, Done);
        let name = text_at(name);
        let entry = selvedge_blocks::find(&name).expect("the library names a block");
        let params = entry.defaults();
        let ports = entry.ports(&params).expect("defaults are valid");
        let pair = ["model", "rtl"].map(|engine| Block::new(&name, None, engine).expect("it is there"));
        let inputs: Vec<_> =
            ports.iter().take_while(|port| port.direction == selvedge_hw::Direction::Input).collect();
        let outputs = &ports[inputs.len()..];
        for clock in entry.stimulus(&params, 1).expect("defaults are valid").take(60) {
            for block in &pair {
                if clock.reset {
                    // SAFETY: the block is there.
                    assert_eq!(unsafe { selvedge_block_reset(block.0) }, Done);
                    continue;
                }
                for (port, words) in inputs.iter().zip(&clock.inputs) {
                    assert_eq!(block.set(port.name, words), Done, "{}", error());
                    assert_eq!(block.get(port.name).as_ref(), Ok(words));
                }
                block.step();
            }
            if !clock.reset {
                let seen = pair.each_ref().map(|block| {
                    outputs
                        .iter()
                        .map(|port| block.get(port.name).expect("a cycle has passed"))
                        .collect::<Vec<_>>()
                });
                let differs = selvedge_hw::ports::first_difference(outputs.iter(), &seen[0], &seen[1]);
                assert_eq!(differs, None, "{name}");
            }
        }
    }
}

#[test]
fn parameters_are_completed_and_checked() {
    let block = Block::new("bdi_compressor", Some("{\"line_bytes\": 64}"), "rtl").expect("valid");
    // SAFETY: the block is there.
    let parameters = json_of(|json| unsafe { selvedge_block_parameters(block.0, json) });
    assert_eq!(parameters, serde_json::json!({ "line_bytes": 64, "pipeline_depth": 2, "first_word": false }));
    let (_, port) = block.port("line_i");
    assert_eq!((port.bits, port.words, port.is_output), (512, 8, false));
    assert!(block.port("payload_o").1.is_output);
    let wrong = |name, parameters, engine| Block::new(name, parameters, engine).err().expect("it is wrong");
    assert!(wrong("bdi", None, "rtl").starts_with("unknown block 'bdi'"));
    assert_eq!(wrong("milg", None, "lockstep"), "engine 'lockstep': must be model or rtl");
    assert!(wrong("milg", None, "fpga").starts_with("unknown engine 'fpga'"));
    assert!(wrong("bdi_compressor", Some("{\"line_bytes\": 63}"), "rtl").contains("63"));
    assert!(wrong("bdi_compressor", Some("{\"lines\": 64}"), "rtl").contains("lines"));
    assert!(wrong("bdi_compressor", Some("[]"), "rtl").ends_with("must be a JSON object"));
    assert!(wrong("bdi_compressor", Some("{"), "rtl").starts_with("parameters: "));
}

#[test]
fn wrong_ports_and_values_change_nothing() {
    let block = Block::new("bdi_compressor", None, "model").expect("it is there");
    assert_eq!(block.get("valid_o"), Err("port valid_o: an output has no value before a cycle".into()));
    assert_eq!(block.set("valid_i", &[2]), Invalid);
    assert_eq!(error(), "port valid_i: the value must have 1 bits");
    assert_eq!(block.set("line_i", &[0; 15]), Invalid);
    assert_eq!(error(), "port line_i: 15 words: must be 16");
    assert_eq!(block.set("valid_o", &[0]), Invalid);
    assert_eq!(error(), "port valid_o: must be an input");
    assert_eq!(block.get("valid_i"), Ok(vec![0]));
    let (mut index, mut words) = (7, [5]);
    let name = c("clk_i");
    // SAFETY: the block is there, and so are texts and places.
    unsafe {
        assert_eq!(selvedge_block_port_index(block.0, name.as_ptr(), &raw mut index), Invalid);
        assert!(
            error().starts_with("no port 'clk_i': must be one of valid_i, line_i, ready_i, "),
            "{}",
            error()
        );
        assert_eq!(selvedge_block_get(block.0, 8, words.as_mut_ptr(), 1), Invalid);
        assert_eq!(error(), "port 8: must be below 8, as many as there are");
    }
    assert_eq!((index, words), (7, [5]));
    block.step();
    assert_eq!(block.get("valid_o"), Ok(vec![0]));
}

/// A memory system, freed at the end.
struct Memory(*mut SelvedgeMemory);

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the memory system has not been freed.
        unsafe { selvedge_memory_free(self.0) };
    }
}

impl Memory {
    fn new(configuration: &str) -> Self {
        let (configuration, mut memory) = (c(configuration), null_mut());
        // SAFETY: a text, and a place for the memory system.
        let status = unsafe { selvedge_memory_new(configuration.as_ptr(), &raw mut memory) };
        assert_eq!(status, Done, "{}", error());
        Memory(memory)
    }

    /// Sends a request and returns its reply.
    fn serve(&self, request: SelvedgeRequest) -> SelvedgeReply {
        let (mut is_there, mut cycle) = (false, 0);
        let mut reply = SelvedgeReply { request, sent: 0, received: 0 };
        // SAFETY: the memory system is there, and so are the places.
        unsafe {
            assert_eq!(
                selvedge_memory_offer(self.0, &raw const request, &raw mut is_there),
                Done,
                "{}",
                error()
            );
            assert!(is_there, "an idle port has room");
            loop {
                assert_eq!(selvedge_memory_step(self.0), Done);
                let status = selvedge_memory_reply(self.0, request.sm, &raw mut reply, &raw mut is_there);
                assert_eq!((status, selvedge_memory_cycle(self.0, &raw mut cycle)), (Done, Done));
                if is_there {
                    break;
                }
                assert!(cycle < 10_000, "no reply");
            }
            let mut is_idle = false;
            while !is_idle {
                assert_eq!(selvedge_memory_step(self.0), Done);
                assert_eq!(selvedge_memory_is_idle(self.0, &raw mut is_idle), Done);
            }
        }
        assert_eq!(reply.received, cycle);
        reply
    }
}

const READ: SelvedgeRequest =
    SelvedgeRequest { address: 0, tag: u64::MAX, bytes: 128, sm: 14, operation: SELVEDGE_READ };

#[test]
fn a_read_of_an_idle_memory_system_takes_what_the_formula_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("equal.toml");
    let keys = "core_mhz = 1000\ninterconnect_mhz = 1000\nl2_mhz = 1000\ndram_mhz = 1000\n";
    std::fs::write(&path, format!("base = \"gtx480\"\n[clock]\n{keys}")).expect("written");
    for name in ["gtx480", path.to_str().expect("UTF-8")] {
        let config = GpuConfig::load(name).expect("valid");
        let memory = Memory::new(name);
        let forms = [
            (closed_form::dram_read_round_trip(&config), closed_form::dram_read_spread(&config)),
            (closed_form::l2_hit_round_trip(&config), closed_form::l2_hit_spread(&config)),
        ];
        for (expected, spread) in forms {
            let reply = memory.serve(READ);
            let latency = (reply.received - reply.sent) as f64;
            assert!(
                (latency - expected).abs() <= spread,
                "{name}: {latency}, expected {expected} +- {spread}"
            );
            assert_eq!((reply.request.tag, reply.request.sm, reply.request.address), (u64::MAX, 14, 0));
        }
    }
}

#[test]
fn writes_and_atomics_are_counted() {
    let memory = Memory::new("gtx480");
    for operation in [SELVEDGE_WRITE, SELVEDGE_READ, SELVEDGE_ATOMIC] {
        assert_eq!(memory.serve(SelvedgeRequest { operation, ..READ }).request.operation, operation);
    }
    // SAFETY: the memory system is there.
    let counters = json_of(|json| unsafe { selvedge_memory_statistics(memory.0, json) });
    let l2 = &counters["l2"];
    assert_eq!((&l2["accesses"], &l2["atomics"], &l2["write_misses"]), (&3.into(), &1.into(), &1.into()));
    // A whole line that is written needs no fetch.
    assert_eq!(counters["dram"]["reads"], 0);
    let mut shape = SelvedgeMemoryShape { sms: 0, line_bytes: 0, core_mhz: 0 };
    // SAFETY: the memory system is there, and so is the place.
    assert_eq!(unsafe { selvedge_memory_shape(memory.0, &raw mut shape) }, Done);
    assert_eq!((shape.sms, shape.line_bytes, shape.core_mhz), (15, 128, 1400));
}

#[test]
fn wrong_requests_and_configurations_are_one_line() {
    let memory = Memory::new("gtx480");
    let refused = |request: SelvedgeRequest| {
        let mut is_taken = true;
        // SAFETY: the memory system is there, and so are request and place.
        let status = unsafe { selvedge_memory_offer(memory.0, &raw const request, &raw mut is_taken) };
        assert_eq!((status, is_taken), (Invalid, true));
        error()
    };
    assert_eq!(refused(SelvedgeRequest { sm: 15, ..READ }), "SM 15: must be 0 to 14");
    assert!(refused(SelvedgeRequest { bytes: 129, ..READ }).contains("one line of 128 bytes"));
    assert_eq!(
        refused(SelvedgeRequest { operation: 3, ..READ }),
        "operation 3: must be 0 (read), 1 (write) or 2 (atomic)"
    );
    let (name, mut made) = (c("gtx481"), null_mut());
    // SAFETY: a text, and a place for the memory system.
    assert_eq!(unsafe { selvedge_memory_new(name.as_ptr(), &raw mut made) }, Invalid);
    assert!(error().contains("gtx481") && made.is_null(), "{}", error());
}

/// A simulation, freed at the end.
struct Gpu(*mut SelvedgeGpu);

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: the simulation has not been freed.
        unsafe { selvedge_gpu_free(self.0) };
    }
}

impl Gpu {
    fn new(mechanism: &str, workload: &str, options: Option<&str>) -> Result<Self, String> {
        let words = ["gtx480", mechanism, workload].map(c);
        let options = options.map(c);
        let options = options.as_ref().map_or(null(), |text| text.as_ptr());
        let [configuration, mechanism, workload] = words.each_ref().map(|text| text.as_ptr());
        let mut gpu = null_mut();
        // SAFETY: texts, and a place for the simulation.
        match unsafe { selvedge_gpu_new(configuration, mechanism, workload, options, &raw mut gpu) } {
            Done => Ok(Gpu(gpu)),
            status => {
                assert_eq!((status, gpu), (Invalid, null_mut()));
                Err(error())
            }
        }
    }

    fn step(&self, cycles: u64) -> (SelvedgeStatus, bool) {
        let mut is_over = false;
        // SAFETY: the simulation is there, and so is the place.
        (unsafe { selvedge_gpu_step(self.0, cycles, &raw mut is_over) }, is_over)
    }

    fn cycle(&self) -> u64 {
        let mut cycle = 0;
        // SAFETY: the simulation is there, and so is the place.
        assert_eq!(unsafe { selvedge_gpu_cycle(self.0, &raw mut cycle) }, Done);
        cycle
    }

    fn statistics(&self) -> (SelvedgeStatus, Option<String>) {
        // SAFETY: the simulation is there, and so is the place.
        text_of(|json| unsafe { selvedge_gpu_statistics(self.0, json) })
    }

    fn finish(&self) -> (SelvedgeStatus, Option<String>) {
        // SAFETY: the simulation is there, and so is the place.
        text_of(|json| unsafe { selvedge_gpu_finish(self.0, json) })
    }
}

#[test]
fn a_gpu_in_steps_reports_what_a_run_does() {
    let gpu =
        Gpu::new("dmil", "atax", Some("{\"engine\": \"lockstep\", \"size\": \"tiny\"}")).expect("valid");
    assert_eq!(gpu.step(1234), (Done, false));
    assert_eq!(gpu.cycle(), 1234);
    let (status, totals) = gpu.statistics();
    let totals: Value = serde_json::from_str(&totals.expect("a text")).expect("JSON");
    assert_eq!((status, &totals["cycles"]), (Done, &1234.into()));
    let (status, report) = gpu.finish();
    assert_eq!(status, Done);
    let report: Value = serde_json::from_str(&report.expect("a text")).expect("JSON");
    let simulation = selvedge_sim::simulation::Simulation::builder().workload("atax").mechanism("dmil");
    let whole = serde_json::to_string(&simulation.run().expect("it runs")).expect("numbers and texts");
    let whole: Value = serde_json::from_str(&whole).expect("JSON");
    assert_eq!((&report["totals"], &report["result"]), (&whole["totals"], &"pass".into()));
    assert_eq!(gpu.cycle(), whole["totals"]["cycles"]);
    let again = [gpu.step(1).0, gpu.statistics().0, gpu.finish().0];
    assert_eq!(again, [Invalid; 3]);
    assert_eq!(error(), "the simulation was finished before");
}

#[test]
fn values_override_the_configuration() {
    let cycles = |options| {
        let (status, report) = Gpu::new("base", "bfs", options).expect("valid").finish();
        assert_eq!(status, Done, "{}", error());
        let report: Value = serde_json::from_str(&report.expect("a text")).expect("JSON");
        report["totals"]["cycles"].as_u64().expect("a count")
    };
    assert!(cycles(Some("{\"set\": {\"l1d.ways\": 2}}")) > cycles(None));
}

#[test]
fn a_limit_and_a_fault_leave_a_report() {
    let gpu = Gpu::new("base", "bfs", Some("{\"max_cycles\": 500}")).expect("valid");
    assert_eq!(gpu.step(1000), (Fault, false));
    let line = error();
    assert!(line.contains("500"), "{line}");
    assert_eq!(gpu.cycle(), 500);
    let (status, report) = gpu.finish();
    assert_eq!((status, error()), (Fault, line));
    let report: Value = serde_json::from_str(&report.expect("a text")).expect("JSON");
    assert_eq!(report["totals"]["cycles"], 500);
}

const PTX: &str = ".version 4.3\n.target sm_20\n.address_size 64\n.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n\
    .global .align 1 .b8 text[4] = {104, 105, 10, 0};\n.visible .entry k(.param .u64 p) {\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n\
    ld.param.u64 %rd1, [p];\nmov.u32 %r1, 77;\nst.global.u32 [%rd1], %r1;\nmov.u64 %rd2, text;\ncvta.global.u64 %rd2, %rd2;\n\
    mov.u64 %rd3, 0;\n{ .param .b64 f;\n.param .b64 a;\n.param .b32 r;\nst.param.b64 [f], %rd2;\nst.param.b64 [a], %rd3;\n\
    call.uni (r), vprintf, (f, a); }\nret;\n}\n";

#[test]
fn a_launch_file_runs_ptx_prints_and_writes_its_files() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("k.ptx"), PTX).expect("written");
    let launch = "ptx = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n\
                  [[arg]]\ntype = \"u32\"\ncount = 1\nsave = { file = \"out.bin\", format = \"raw\" }\n";
    let file = folder.path().join("k.toml");
    std::fs::write(&file, launch).expect("written");
    let gpu = Gpu::new("base", file.to_str().expect("UTF-8"), None).expect("valid");
    let (status, _) = gpu.finish();
    assert_eq!(status, Done, "{}", error());
    // SAFETY: the simulation is there, and so is the place.
    let (status, printed) = text_of(|text| unsafe { selvedge_gpu_printed(gpu.0, text) });
    assert_eq!((status, printed.as_deref()), (Done, Some("hi\n")));
    assert_eq!(std::fs::read(folder.path().join("out.bin")).expect("written"), 77u32.to_le_bytes());
}

#[test]
fn wrong_names_and_options_are_one_line() {
    let wrong = |mechanism, workload, options| {
        let line = Gpu::new(mechanism, workload, options).err().expect("it is wrong");
        assert_eq!(line.lines().count(), 1, "{line}");
        line
    };
    assert!(wrong("base", "bfss", None).contains("bfss"));
    assert!(wrong("bdi", "bfs", None).contains("unknown mechanism 'bdi'"));
    assert!(
        wrong("base", "bfs", Some("{\"sizes\": \"tiny\"}")).starts_with("options: unknown field `sizes`")
    );
    assert!(wrong("base", "bfs", Some("{\"size\": \"huge\"}")).contains("huge"));
    let set = "{\"set\": {\"l1d.ways\": 0}}";
    assert_eq!(wrong("base", "bfs", Some(set)), "set: l1d.ways = 0: must be 1 to 512");
    assert!(wrong("base", "/no/launch.toml", None).contains("/no/launch.toml"));
}

#[test]
fn null_is_refused_by_name() {
    let text = c("model");
    let request = READ;
    let (mut flag, mut count) = (false, 0usize);
    let block = Block::new("milg", None, "model").expect("it is there");
    let memory = Memory::new("gtx480");
    let gpu = Gpu::new("base", "vecadd", None).expect("valid");
    let refused = |name: &str, status: SelvedgeStatus| {
        assert_eq!((status, error()), (Invalid, format!("{name} is null")));
    };
    // SAFETY: every pointer is null or valid.
    unsafe {
        refused("count", selvedge_block_count(null_mut()));
        refused("name", selvedge_block_name(0, null_mut()));
        refused("block", selvedge_block_new(text.as_ptr(), null(), text.as_ptr(), null_mut()));
        refused("block", selvedge_block_step(null_mut()));
        refused("block", selvedge_block_reset(null_mut()));
        refused("block", selvedge_block_port_count(null_mut(), &raw mut count));
        refused("name", selvedge_block_port_index(block.0, null(), &raw mut count));
        refused("port", selvedge_block_port(block.0, 0, null_mut()));
        refused("words", selvedge_block_set(block.0, 0, null(), 1));
        refused("words", selvedge_block_get(block.0, 0, null_mut(), 1));
        refused("json", selvedge_block_parameters(block.0, null_mut()));
        refused("memory", selvedge_memory_new(text.as_ptr(), null_mut()));
        refused("memory", selvedge_memory_step(null_mut()));
        refused("request", selvedge_memory_offer(memory.0, null(), &raw mut flag));
        refused("is_taken", selvedge_memory_offer(memory.0, &raw const request, null_mut()));
        refused("reply", selvedge_memory_reply(memory.0, 0, null_mut(), &raw mut flag));
        refused("is_idle", selvedge_memory_is_idle(memory.0, null_mut()));
        refused("gpu", selvedge_gpu_new(text.as_ptr(), text.as_ptr(), text.as_ptr(), null(), null_mut()));
        refused("gpu", selvedge_gpu_step(null_mut(), 1, &raw mut flag));
        refused("is_over", selvedge_gpu_step(gpu.0, 1, null_mut()));
        refused("json", selvedge_gpu_finish(gpu.0, null_mut()));
    }
    // SAFETY: null is nothing to free.
    unsafe {
        selvedge_block_free(null_mut());
        selvedge_memory_free(null_mut());
        selvedge_gpu_free(null_mut());
        selvedge_string_free(null_mut());
    }
    // Nothing was run by the calls that were refused.
    assert_eq!(gpu.cycle(), 0);
}
