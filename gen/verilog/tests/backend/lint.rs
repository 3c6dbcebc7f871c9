//! Checks every leaf of the kit in each reset style. Verilator's linter reports no warning, and Yosys finds no latches.
//! Lines do not exceed the max length, and a second emission gives the same text.

use crate::tools;
use selvedge_gen::{Design, EmitOptions, Language, ResetStyle, emit};
use selvedge_hw::rtl::prelude::*;

/// A block and the name of its module.
type Entry = (&'static str, Box<dyn Block>);

/// The leaves and blocks of the kit in several sizes.
fn kit() -> Vec<Entry> {
    vec![
        ("mem_zero", Box::new(Mem::<U<12>, 5>::default())),
        ("mem_filled", Box::new(Mem::<U<12>, 3>::new((0..8).map(|i| U::new(i * 100)).collect()))),
        ("mem_wide", Box::new(Mem::<W<130, 3>, 2>::default())),
        ("mem_bit", Box::new(Mem::<Bit, 4>::default())),
        ("sync_mem", Box::new(SyncMem::<U<12>, 5>::default())),
        ("mem_copies_1", Box::new(ReplicatedMem::<U<12>, 4, 1>::default())),
        ("mem_copies_8", Box::new(ReplicatedMem::<W<180, 3>, 8, 8>::default())),
        ("bits_2", Box::new(BitArray::<2>::default())),
        ("bits_11", Box::new(BitArray::<11>::default())),
        ("pipe_0", Box::new(Pipe::<U<8>>::new(0))),
        ("pipe_1", Box::new(Pipe::<U<8>>::new(1))),
        ("pipe_4", Box::new(Pipe::<W<100, 2>>::new(4))),
        ("packer", Box::new(BitPacker::<32, 32, 6, 1024, 16, 11>::default())),
        ("packer_odd", Box::new(BitPacker::<33, 35, 6, 256, 4, 12>::default())),
        ("packer_short", Box::new(BitPacker::<2, 8, 4, 40, 1, 5>::default())),
        ("unpacker", Box::new(BitUnpacker::<32, 32, 6, 1024, 16, 0>::default())),
        ("unpacker_two", Box::new(BitUnpacker::<2, 7, 3, 14, 1, 0>::default())),
        ("unpacker_of_fours", Box::new(BitUnpacker::<32, 32, 6, 1024, 16, 3>::default())),
        ("splitter", Box::new(BitSplitter::<32, 32, 6, 1024, 16, 2>::default())),
        ("splitter_of_no_level", Box::new(BitSplitter::<2, 128, 8, 256, 4, 0>::default())),
        ("valid_ready", Box::new(ValidReady::<U<8>>::default())),
        ("valid_ready_bit", Box::new(ValidReady::<Bit>::default())),
    ]
}

fn emitted(entry: &Entry, reset: ResetStyle) -> Design {
    emit(&*entry.1, entry.0, &EmitOptions { reset, ..EmitOptions::default() }).unwrap()
}

const STYLES: [ResetStyle; 4] =
    [ResetStyle::Control, ResetStyle::AsyncLow, ResetStyle::SyncHigh, ResetStyle::None];

#[test]
fn verilator_lint_is_silent() {
    for entry in kit() {
        for reset in STYLES {
            tools::assert_lint_silent(&emitted(&entry, reset));
        }
    }
}

#[test]
fn system_verilog_is_silent() {
    for entry in kit() {
        for reset in [ResetStyle::Control, ResetStyle::None] {
            let options = EmitOptions { reset, language: Language::SystemVerilog, ..EmitOptions::default() };
            let design = emit(&*entry.1, entry.0, &options).unwrap();
            assert!(!design.text().contains("reg ") && !design.text().contains("always @(*)"));
            tools::assert_lint_silent(&design);
        }
    }
}

#[test]
fn yosys_finds_no_latches() {
    for entry in kit() {
        tools::assert_synthesizes(&emitted(&entry, ResetStyle::AsyncLow));
    }
}

#[test]
fn memories_are_inferred_as_memories() {
    for name in ["mem_zero", "mem_filled", "mem_wide", "sync_mem"] {
        let entry = kit().into_iter().find(|entry| entry.0 == name).unwrap();
        let said = tools::assert_synthesizes(&emitted(&entry, ResetStyle::AsyncLow));
        let memories = said.lines().rev().find(|line| line.contains("Number of memories:")).unwrap();
        assert!(memories.trim().ends_with(" 1"), "{name}: {memories}");
    }
}

#[test]
fn lines_are_short_and_emission_is_deterministic() {
    for entry in kit() {
        let first = emitted(&entry, ResetStyle::AsyncLow).text();
        assert!(first.lines().all(|line| line.len() <= 110 && line == line.trim_end()), "{first}");
        let again = kit().into_iter().find(|other| other.0 == entry.0).unwrap();
        assert_eq!(first, emitted(&again, ResetStyle::AsyncLow).text());
    }
}

#[test]
fn each_reset_style_has_its_port() {
    let has_reset = |name: &str| !["mem", "pack", "join", "split"].iter().any(|word| name.contains(word));
    for entry in kit().into_iter().filter(|entry| has_reset(entry.0)) {
        let clocked = entry.0 != "pipe_0";
        let low = emitted(&entry, ResetStyle::AsyncLow).text();
        assert_eq!(low.contains("or negedge rst_ni) begin"), clocked, "{low}");
        let high = emitted(&entry, ResetStyle::SyncHigh).text();
        assert!(!high.contains("rst_ni") && high.contains("input  wire") && high.contains("rst_i"), "{high}");
        let none = emitted(&entry, ResetStyle::None).text();
        assert!(!none.contains("rst_"), "{none}");
        assert_eq!(none.contains("initial"), clocked, "{none}");
    }
}
