//! Checks that every kind of stall is detected, and that its report names component, queue, request and blocking resource.
use super::watchdog::POLL_CYCLES;
use super::*;
use crate::has;
use crate::packet::Packet;
use crate::partition::{self, SlicePart, SliceParts};
use crate::sm;
use crate::sm::part::{MemoryGate, SmPart};
use crate::sm::parts::SmParts;
use crate::stage::{Offer, Stage};
use selvedge_ptx::ptx::{Arg, LaunchDims, Module};

/// The point where a broken mechanism keeps packets forever or rejects them.
#[derive(Clone, Copy, PartialEq, selvedge_state::State)]
enum Broken {
    /// No memory instruction can issue.
    SmIssue,
    /// Replies to an SM enter the mechanism and never leave it.
    SmFill,
    /// The mechanism rejects replies to an SM.
    SmFillFull,
    /// The mechanism rejects the stores that leave an SM.
    SmStore,
    /// Writes enter the partition's mechanism and never leave it.
    Write,
    /// The partition's mechanism rejects writes.
    WriteFull,
    /// Lines from DRAM enter the mechanism and never leave it.
    Fill,
}

#[derive(selvedge_state::State)]
struct BrokenSm(Broken);

impl SmPart for BrokenSm {
    fn busy(&self) -> bool {
        matches!(self.0, Broken::SmFill)
    }

    has!(&memory_gate: MemoryGate);
    has!(fills: Stage<sm::part::L1dFill>, stores: Stage<Packet>);
}

impl MemoryGate for BrokenSm {
    fn may_issue_memory(&self, _: u8) -> bool {
        self.0 != Broken::SmIssue
    }
}

impl Stage<sm::part::L1dFill> for BrokenSm {
    fn offer(&mut self, _: u64, _: &mut sm::part::L1dFill, _: &DeviceMemory) -> Offer {
        match self.0 {
            Broken::SmFill => Offer::Taken,
            Broken::SmFillFull => Offer::Full,
            _ => Offer::Pass,
        }
    }

    fn pop(&mut self) -> Option<sm::part::L1dFill> {
        None
    }
}

impl Stage<Packet> for BrokenSm {
    fn offer(&mut self, _: u64, _: &mut Packet, _: &DeviceMemory) -> Offer {
        if self.0 == Broken::SmStore { Offer::Full } else { Offer::Pass }
    }

    fn pop(&mut self) -> Option<Packet> {
        None
    }
}

#[derive(selvedge_state::State)]
struct BrokenPartition {
    broken: Broken,
    holds: bool,
}

impl SlicePart for BrokenPartition {
    fn busy(&self) -> bool {
        self.holds
    }

    has!(fills: Stage<partition::part::L2Fill>, writes: Stage<Packet>);
}

impl Stage<partition::part::L2Fill> for BrokenPartition {
    fn offer(&mut self, _: u64, _: &mut partition::part::L2Fill, _: &DeviceMemory) -> Offer {
        if self.broken != Broken::Fill {
            return Offer::Pass;
        }
        self.holds = true;
        Offer::Taken
    }

    fn pop(&mut self) -> Option<partition::part::L2Fill> {
        None
    }
}

impl Stage<Packet> for BrokenPartition {
    fn offer(&mut self, _: u64, _: &mut Packet, _: &DeviceMemory) -> Offer {
        match self.broken {
            Broken::Write => {
                self.holds = true;
                Offer::Taken
            }
            Broken::WriteFull => Offer::Full,
            _ => Offer::Pass,
        }
    }

    fn pop(&mut self) -> Option<Packet> {
        None
    }
}

/// Runs `body` in one CTA of `threads` threads with a broken mechanism. Returns the report of the stall.
fn stall(body: &str, threads: u32, broken: Option<Broken>) -> String {
    let config = Arc::new(GpuConfig::load("gtx480").expect("built in"));
    let mut parts = Parts::none(&config);
    if let Some(broken) = broken {
        parts.sms[0] = SmParts::one(BrokenSm(broken));
        for partition in &mut parts.slices {
            *partition = SliceParts::one(BrokenPartition { broken, holds: false });
        }
    }
    let mut gpu = Gpu::new(&config, parts, Arc::new(Control::default()));
    gpu.watchdog(3 * POLL_CYCLES);
    let text = format!(
        ".version 6.0\n.target sm_60\n.address_size 64\n.entry k(.param .u64 p) {{\n.reg .pred %p<4>;\n\
         .reg .b32 %r<9>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n{body}\nret;\n}}\n"
    );
    let module = Module::parse("k.ptx", &text).expect("PTX");
    let mut memory = DeviceMemory::new();
    let buffer = memory.alloc(1 << 16, "p").expect("room");
    let kernel = module.kernel("k").expect("there");
    let params = kernel.pack(&[Arg::Ptr(buffer)]).expect("an address");
    let dims = LaunchDims::new([1, 1, 1], [threads, 1, 1]);
    let launched = LaunchedKernel::new(kernel, dims, params, 0, &config).expect("it fits");
    let fault = gpu.run(launched, &mut memory).expect_err("it stalls");
    assert!(matches!(fault, SimFault::Deadlock { .. }), "{fault}");
    let line = fault.to_string();
    assert_eq!(line.lines().count(), 1, "{line}");
    line
}

/// Asserts that a report contains all of `parts`.
fn says(report: &str, parts: &[&str]) {
    for part in parts {
        assert!(report.contains(part), "should say `{part}`:\n{report}");
    }
}

const LOAD: &str = "ld.global.u32 %r2, [%rd1];\nadd.u32 %r3, %r2, 1;";
const STORE: &str = "st.global.u32 [%rd1], %r1;";
/// More stores than all queues between SM and DRAM hold, to lines of different partitions.
const STORES: &str = "mov.u32 %r4, 0;\nmul.wide.u32 %rd2, %r1, 128;\nadd.s64 %rd1, %rd1, %rd2;\nL:\n\
                      st.global.u32 [%rd1], %r1;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 40;\n@%p1 bra L;";

#[test]
fn a_barrier_that_some_warps_never_reach_names_it_and_how_many_are_missing() {
    let report = stall("setp.lt.u32 %p1, %r1, 64;\n@%p1 bar.sync 3, 96;", 96, None);
    says(
        &report,
        &["sm0 warp 0 (kernel k, CTA 0,0,0, before PTX line", "waits at barrier 3 for 1 more of 3 warps"],
    );
}

#[test]
fn a_load_whose_line_never_comes_back_names_warp_mshr_and_partition() {
    let report = stall(LOAD, 32, Some(Broken::Fill));
    says(
        &report,
        &[
            "sm0 warp 0 (kernel k",
            "waits for a result of a load",
            "sm0 L1D MSHR: line 0x",
            "waits for its data, 1 instructions with it",
            ": MSHR: line 0x",
            ": the mechanism is busy",
        ],
    );
}

#[test]
fn a_reply_that_the_mechanism_of_an_sm_keeps_names_it() {
    let report = stall(LOAD, 32, Some(Broken::SmFill));
    says(&report, &["sm0 L1D MSHR: line 0x", "sm0 mechanism: busy"]);
}

#[test]
fn a_reply_that_finds_no_room_names_the_register_that_holds_it() {
    let report = stall(LOAD, 32, Some(Broken::SmFillFull));
    says(&report, &["sm0 reply register: ReadReply of line 0x", "waits for room in the mechanism"]);
}

#[test]
fn a_mechanism_that_lets_no_memory_instruction_issue_is_named_by_the_warp() {
    let report = stall(LOAD, 64, Some(Broken::SmIssue));
    says(&report, &["sm0 warp 1", "waits for the mechanism to let its kernel issue a memory instruction"]);
}

#[test]
fn a_store_that_finds_no_room_names_the_load_store_unit_and_the_queue() {
    let report = stall(STORE, 32, Some(Broken::SmStore));
    says(
        &report,
        &[
            "sm0 load/store unit: 1 instructions, the first a store of line 0x",
            "which waits for room in the L1D's miss queue",
        ],
    );
}

#[test]
fn queues_that_cannot_drain_are_named_from_the_partition_back_to_the_warp() {
    let report = stall(STORES, 1024, Some(Broken::WriteFull));
    says(
        &report,
        &[
            "waits for room in the load/store unit",
            "which waits for room in the L1D's miss queue",
            "sm0 L1D miss queue: Write of line 0x",
            "waits for the request crossbar",
            "request crossbar: input queue 0: Write of line 0x",
            ": request queue: Write of line 0x",
            "more",
        ],
    );
}

#[test]
fn a_fence_whose_stores_are_never_acknowledged_counts_them() {
    let report = stall(&format!("{STORE}\nmembar.gl;"), 32, Some(Broken::Write));
    says(&report, &["waits at a fence for 1 acknowledgements and 0 results", ": the mechanism is busy"]);
}

#[test]
fn a_warp_that_has_ended_waits_for_its_stores() {
    let report = stall(STORE, 32, Some(Broken::Write));
    says(&report, &["has ended and waits for 1 acknowledgements and 0 results"]);
}
