//! Tests of the list of memories, and of macros in their place.

use crate::tools;
use selvedge_gen::{EmitOptions, MemoryForm, MemoryInstance, emit, memories, with_macros};
use selvedge_hw::rtl::prelude::*;
use std::collections::BTreeSet;

rtl_block! {
    /// A pair of memories.
    pub struct Pair {
        pub clk_i: Signal<In, Clock>,
        pub address_i: Signal<In, U<4>>,
        pub data_o: Signal<Out, U<8>>,
        clocked: SyncMem<U<8>, 4>,
        direct: Mem<U<8>, 4>,
    }
}

#[hdl_gen]
impl Logic for Pair {
    fn update(&mut self) {
        self.clocked.clk_i.next = self.clk_i.val();
        self.clocked.write_i.next = self.direct.read_data_o.val().any();
        self.clocked.write_address_i.next = self.address_i.val();
        self.clocked.write_data_i.next = self.direct.read_data_o.val();
        self.clocked.read_address_i.next = self.address_i.val();
        self.direct.clk_i.next = self.clk_i.val();
        self.direct.write_i.next = self.address_i.val().any();
        self.direct.write_address_i.next = self.address_i.val();
        self.direct.write_data_i.next = 5.into();
        self.direct.read_address_i.next = self.address_i.val();
        self.data_o.next = self.clocked.read_data_o.val();
    }
}

rtl_block! {
    /// Two pairs and a memory.
    pub struct Store {
        pub clk_i: Signal<In, Clock>,
        pub address_i: Signal<In, U<4>>,
        pub data_o: Signal<Out, U<8>>,
        pair: [Pair; 2] = array(),
        last: SyncMem<U<8>, 3>,
    }
}

#[hdl_gen]
impl Logic for Store {
    fn update(&mut self) {
        self.last.clk_i.next = self.clk_i.val();
        self.last.write_i.next = self.address_i.val().any();
        self.last.write_address_i.next = self.address_i.val().get_bits::<3>(0);
        self.last.write_data_i.next = self.pair[0].data_o.val() ^ self.pair[1].data_o.val();
        self.last.read_address_i.next = self.address_i.val().get_bits::<3>(1);
        for i in 0..2 {
            self.pair[i].clk_i.next = self.clk_i.val();
            self.pair[i].address_i.next = self.address_i.val();
        }
        self.data_o.next = self.last.read_data_o.val();
    }
}

#[test]
fn the_list_equals_the_memories_counted_by_hand() {
    let memory = |instance: &str, words, clocked| MemoryInstance {
        instance: instance.into(),
        words,
        width: 8,
        read_ports: 1,
        clocked,
        filled: false,
    };
    let expected = [
        memory("gen_pair[0].pair.clocked", 16, true),
        memory("gen_pair[0].pair.direct", 16, false),
        memory("gen_pair[1].pair.clocked", 16, true),
        memory("gen_pair[1].pair.direct", 16, false),
        memory("last", 8, true),
    ];
    assert_eq!(memories(&Store::default()), expected);
    let bits: usize = expected.iter().map(MemoryInstance::bits).sum();
    assert_eq!(bits, 4 * 128 + 64);
}

#[test]
fn macros_take_the_place_of_memories_that_read_at_a_clock_edge() {
    let shapes: BTreeSet<_> = memories(&Store::default()).iter().filter_map(MemoryInstance::shape).collect();
    assert_eq!(shapes, BTreeSet::from([(8, 8), (16, 8)]));
    let options = EmitOptions::default();
    for (form, count) in [(MemoryForm::Blackbox, 2), (MemoryForm::Wrapper, 4)] {
        let design = emit(&Store::default(), "store", &options).unwrap();
        let before = design.modules.len();
        let design = with_macros(design, &shapes, form, &options);
        assert_eq!(design.modules.len(), before + count, "{form}");
        tools::assert_lint_silent(&design);
        let said = tools::assert_synthesizes(&design);
        let place = if form == MemoryForm::Wrapper { "selvedge_sram_" } else { "selvedge_sync_mem_" };
        assert!(said.contains(&format!("{place}16x8")) && said.contains(&format!("{place}8x8")), "{said}");
    }
}

#[test]
fn a_size_without_a_macro_is_refused() {
    let options = EmitOptions::default();
    let design = emit(&Store::default(), "store", &options).unwrap();
    let design = with_macros(design, &BTreeSet::from([(16, 8)]), MemoryForm::Blackbox, &options);
    let folder = tempfile::tempdir().unwrap();
    tools::write(&design, folder.path());
    let files: Vec<String> = design.modules.iter().map(|module| module.file()).collect();
    let words = ["-g2005", "-tnull", "-s", "store"].into_iter().chain(files.iter().map(String::as_str));
    let output = tools::run("iverilog", "iverilog", &words.collect::<Vec<_>>(), folder.path());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains("selvedge_sync_mem_has_no_macro_of_this_size"),
        "{said}"
    );
}
