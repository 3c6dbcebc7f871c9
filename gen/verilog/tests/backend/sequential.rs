//! Runs clocked blocks in lockstep: the Rust block and its Verilog in Icarus get the same random cycles, including resets.

use crate::tools::{self, PortValues, Random};
use num_bigint::BigUint;
use rust_hdl_core::prelude::Block;
use selvedge_gen::{Design, EmitOptions, Language, ResetStyle, emit};
use selvedge_hw::rtl::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Reset, inputs, and outputs before and after the clock edge of one cycle.
struct Cycle {
    reset: bool,
    inputs: BTreeMap<String, BigUint>,
    before: BTreeMap<String, BigUint>,
    after: BTreeMap<String, BigUint>,
}

/// Clocks `block` and records every cycle. `reset` returns whether reset is active in a cycle. It changes while the clock is
/// low.
fn record<B: Block>(
    block: &mut B,
    cycles: usize,
    clock: impl Fn(&mut B, bool),
    reset_n: impl Fn(&mut B, bool),
    reset: impl Fn(usize) -> bool,
    mut set: impl FnMut(&mut B, usize),
) -> Vec<Cycle> {
    block.connect_all();
    (0..cycles)
        .map(|cycle| {
            clock(block, false);
            reset_n(block, !reset(cycle));
            set(block, cycle);
            settle(block).unwrap();
            let before = PortValues::of(block);
            clock(block, true);
            settle(block).unwrap();
            let after = PortValues::of(block);
            Cycle { reset: reset(cycle), inputs: before.clone(), before, after }
        })
        .collect()
}

/// Runs the cycles through the Verilog and compares the outputs. A synchronous reset acts only at the edge, so outputs
/// before the edge are not compared in cycles with reset. Bits that are unknown because no reset reaches them are not
/// compared.
fn assert_same(design: &Design, cycles: &[Cycle], style: ResetStyle) {
    let directory = tempfile::tempdir().unwrap();
    tools::write(design, directory.path());
    let top = design.top();
    let data: Vec<_> = top.ports.iter().filter(|port| !port.clock && !port.reset).collect();
    let (mut declarations, mut pins, mut order) = (String::new(), vec![], vec![]);
    let mut total = 1;
    for port in &data {
        let range = format!("[{}:0]", port.width - 1);
        if port.input {
            writeln!(declarations, "  reg {range} {};", port.name).unwrap();
            total += port.width;
            order.push(port.name.clone());
        } else {
            writeln!(declarations, "  wire {range} {0};\n  reg {range} before_{0}, after_{0};", port.name)
                .unwrap();
            total += 2 * port.width;
            order.extend([format!("before_{}", port.name), format!("after_{}", port.name)]);
        }
        pins.push(format!(".{0}({0})", port.name));
    }
    pins.extend(top.ports.iter().filter(|port| port.clock).map(|port| format!(".{}(clk)", port.name)));
    pins.extend(top.ports.iter().filter(|port| port.reset).map(|port| format!(".{}(rst)", port.name)));
    let lines: Vec<String> = cycles
        .iter()
        .map(|cycle| {
            let level = cycle.reset == (style == ResetStyle::SyncHigh);
            let mut line = String::from(if level { "1" } else { "0" });
            for port in &data {
                let mut put = |values: &BTreeMap<String, BigUint>| {
                    let bits = values[&port.field].to_str_radix(2);
                    line += &format!("_{bits:0>width$}", width = port.width);
                };
                if port.input {
                    put(&cycle.inputs);
                } else {
                    put(&cycle.before);
                    put(&cycle.after);
                }
            }
            line
        })
        .collect();
    std::fs::write(directory.path().join("cycles.bin"), lines.join("\n")).unwrap();
    let compare = |when: &str| -> String {
        data.iter()
            .filter(|port| !port.input)
            .map(|port| {
                let differs = match style {
                    ResetStyle::Control => format!("(|({0} ^ {when}_{0})) === 1'b1", port.name),
                    _ => format!("{0} !== {when}_{0}", port.name),
                };
                format!(
                    "      if ({differs}) begin\n        bad = bad + 1;\n        if (bad < 5) $display(\"cycle %0d \
                     {when} {0}: Verilog %h, Rust %h\", i, {0}, {when}_{0});\n      end\n",
                    port.name
                )
            })
            .collect()
    };
    let quiet = if style == ResetStyle::SyncHigh { "!rst" } else { "1'b1" };
    let bench = format!(
        "module tb;\n{declarations}  reg clk, rst;\n  reg [{last}:0] cycles [0:{highest}];\n  integer i, bad;\n  {name} dut \
         ({pins});\n  initial begin\n    bad = 0;\n    clk = 0;\n    $readmemb(\"cycles.bin\", cycles);\n    for (i = 0; i \
         < {count}; i = i + 1) begin\n      clk = 0;\n      {{rst, {order}}} = cycles[i];\n      #1;\n      if ({quiet}) \
         begin\n{before}      end\n      clk = 1;\n      #1;\n{after}    end\n    if (bad == 0) $display(\"same\");\n    \
         $finish;\n  end\nendmodule\n",
        last = total - 1,
        highest = cycles.len() - 1,
        name = top.name,
        pins = pins.join(", "),
        count = cycles.len(),
        order = order.join(", "),
        before = compare("before"),
        after = compare("after"),
    );
    std::fs::write(directory.path().join("tb.v"), bench).unwrap();
    let said = match top.language {
        Language::Verilog => tools::simulate(directory.path()),
        Language::SystemVerilog => tools::simulate_system_verilog(directory.path()),
    };
    let lines: Vec<&str> = said.lines().filter(|line| !line.contains("$finish")).collect();
    assert_eq!(lines, ["same"], "{} with {style:?}\n{}", top.name, design.text());
}

const CYCLES: usize = 3000;

/// Returns whether reset is active: in the first cycle and in some later ones.
fn resets(cycle: usize) -> bool {
    cycle == 0 || cycle % 97 == 50 || cycle % 97 == 51 || cycle % 301 == 7
}

/// Returns whether the style `control` leaves some registers without reset.
fn has_data<B: ClockedBlock>(block: &B, name: &str) -> bool {
    let processes = |reset| {
        let text = emit(block, name, &EmitOptions { reset, ..EmitOptions::default() }).unwrap().text();
        (text.matches("@(posedge").count(), text.matches("negedge").count())
    };
    processes(ResetStyle::Control) != processes(ResetStyle::AsyncLow)
}

/// Runs a block with clock and reset in all styles. Styles that reset data registers do so only in the first cycle: in Rust,
/// data registers start as zeros and have no reset.
pub fn lock_step<B: ClockedBlock>(name: &str, make: impl Fn() -> B, set: impl Fn(&mut B, &mut Random)) {
    let styles = [ResetStyle::Control, ResetStyle::AsyncLow, ResetStyle::SyncHigh, ResetStyle::None];
    lock_step_in(name, &styles.map(|style| (style, Language::Verilog)), make, set);
}

/// Runs a block as SystemVerilog in Verilator, which has no unknown bits.
pub fn lock_step_as_system_verilog<B: ClockedBlock>(
    name: &str,
    make: impl Fn() -> B,
    set: impl Fn(&mut B, &mut Random),
) {
    lock_step_in(name, &[(ResetStyle::AsyncLow, Language::SystemVerilog)], make, set);
}

fn lock_step_in<B: ClockedBlock>(
    name: &str,
    forms: &[(ResetStyle, Language)],
    make: impl Fn() -> B,
    set: impl Fn(&mut B, &mut Random),
) {
    for &(style, language) in forms {
        let mut block = make();
        let once = style != ResetStyle::Control && has_data(&block, name);
        let options = EmitOptions { reset: style, language, ..EmitOptions::default() };
        let design = emit(&block, name, &options).unwrap();
        let mut random = Random(0x1234_5678_9abc_def1);
        let reset = |cycle| style != ResetStyle::None && if once { cycle == 0 } else { resets(cycle) };
        let clock = |b: &mut B, level| b.set_clock(level);
        let cycles = record(
            &mut block,
            CYCLES,
            clock,
            |b, level| b.set_reset_n(level),
            reset,
            |b, _| set(b, &mut random),
        );
        assert_same(&design, &cycles, style);
    }
}

#[test]
fn pipe() {
    for stages in [0, 1, 3] {
        lock_step(
            "pipe",
            || Pipe::<U<12>>::new(stages),
            |p, r| {
                p.valid_i.next = r.next() & 1 != 0;
                p.data_i.next = U::new(r.next());
            },
        );
    }
}

#[test]
fn wide_pipe() {
    lock_step(
        "wide_pipe",
        || Pipe::<W<100, 2>>::new(2),
        |p, r| {
            p.valid_i.next = r.next() & 1 != 0;
            p.data_i.next = W::from_words([r.next(), r.next()]);
        },
    );
}

#[test]
fn valid_ready() {
    lock_step("valid_ready", ValidReady::<U<12>>::default, |s, r| {
        s.valid_i.next = r.next() & 3 != 0;
        s.ready_i.next = r.next() & 3 > 1;
        s.data_i.next = U::new(r.next());
    });
}

#[test]
fn bit_array() {
    lock_step("bit_array", BitArray::<5>::default, |b, r| {
        b.set_i.next = r.next() & 3 == 0;
        b.clear_i.next = r.next() & 31 == 0;
        b.address_i.next = U::new(r.next());
    });
    lock_step("bit_array_large", BitArray::<9>::default, |b, r| {
        b.set_i.next = r.next() & 1 == 0;
        b.clear_i.next = r.next() & 255 == 0;
        b.address_i.next = U::new(r.next());
    });
}

/// Runs a combinational block with random inputs.
fn lock_step_logic<B: Block>(name: &str, mut block: B, set: impl Fn(&mut B, &mut Random)) {
    let design = emit(&block, name, &EmitOptions::default()).unwrap();
    let mut random = Random(0x7061_636b);
    let cycles = record(&mut block, CYCLES, |_, _| {}, |_, _| {}, |_| false, |b, _| set(b, &mut random));
    assert_same(&design, &cycles, ResetStyle::None);
}

/// Packs random fields with random lengths of at most 35 bits.
fn lock_step_packer<const FIELDS: usize, const OUT: usize, const OUTW: usize, const SUM: usize>(name: &str) {
    lock_step_logic(name, BitPacker::<FIELDS, 35, 6, OUT, OUTW, SUM>::default(), |p, r| {
        for (field, length) in p.field_i.iter_mut().zip(&mut p.length_i) {
            field.next = U::new(r.next());
            length.next = U::new(if r.next() & 3 == 0 { r.next() & 1 } else { r.next() % 36 });
        }
    });
}

#[test]
fn packer() {
    lock_step_packer::<8, 280, 5, 9>("packer");
    lock_step_packer::<32, 512, 8, 11>("packer_cut_off");
    lock_step_packer::<11, 400, 7, 10>("packer_odd");
    lock_step_packer::<2, 100, 2, 7>("packer_of_two");
}

fn lock_step_unpacker<const DONE: usize>(name: &str) {
    lock_step_logic(name, BitUnpacker::<16, 20, 5, 320, 5, DONE>::default(), |p, r| {
        p.string_i.next = W::from_words([0; 5].map(|_: u64| r.next()));
        for length in &mut p.length_i {
            length.next = U::new(r.next() % 21);
        }
    });
}

fn lock_step_splitter<const LEVELS: usize>(name: &str) {
    lock_step_logic(name, BitSplitter::<16, 48, 6, 768, 12, LEVELS>::default(), |p, r| {
        p.string_i.next = W::from_words([0; 12].map(|_: u64| r.next()));
        for length in &mut p.length_i {
            length.next = U::new(r.next() % 49);
        }
    });
}

#[test]
fn unpacker() {
    lock_step_unpacker::<0>("unpacker");
    lock_step_unpacker::<2>("unpacker_of_four_strings");
    lock_step_unpacker::<3>("unpacker_of_pairs");
    lock_step_splitter::<0>("splitter_of_no_level");
    lock_step_splitter::<1>("splitter");
    lock_step_splitter::<3>("splitter_to_pairs");
}

/// Runs a memory with random inputs. Memories have no reset, so their initial contents matter.
fn lock_step_memory<B: Block>(
    name: &str,
    mut block: B,
    clock: impl Fn(&mut B, bool),
    set: impl Fn(&mut B, &mut Random),
) {
    let design = emit(&block, name, &EmitOptions::default()).unwrap();
    let mut random = Random(77);
    let cycles = record(&mut block, CYCLES, clock, |_, _| {}, |_| false, |b, _| set(b, &mut random));
    assert_same(&design, &cycles, ResetStyle::None);
}

#[test]
fn memory_with_asynchronous_read() {
    let initial = (0..10).map(|i| W::from_words([i * 0x1111_2222_3333, i])).collect();
    lock_step_memory(
        "memory",
        Mem::<W<70, 2>, 4>::new(initial),
        |m, level| m.clk_i.next = level.into(),
        |m, r| {
            m.write_i.next = r.next() & 7 == 0;
            m.write_address_i.next = U::new(r.next());
            m.read_address_i.next = U::new(r.next());
            m.write_data_i.next = W::from_words([r.next(), r.next()]);
        },
    );
}

#[test]
fn memory_with_several_reads() {
    lock_step_memory(
        "replicated_memory",
        ReplicatedMem::<W<70, 2>, 4, 3>::default(),
        |m, level| m.clk_i.next = level.into(),
        |m, r| {
            m.write_i.next = r.next() & 3 == 0;
            m.write_address_i.next = U::new(r.next());
            m.write_data_i.next = W::from_words([r.next(), r.next()]);
            for address in &mut m.read_address_i {
                address.next = U::new(r.next());
            }
        },
    );
}

#[test]
fn memory_with_synchronous_read() {
    for filled in [false, true] {
        let initial = if filled { (0..16).map(|i| U::new(i * 17)).collect() } else { vec![] };
        lock_step_memory(
            "sync_memory",
            SyncMem::<U<8>, 4>::new(initial),
            |m, level| m.clk_i.next = level.into(),
            |m, r| {
                m.write_i.next = r.next() & 3 == 0;
                m.write_address_i.next = U::new(r.next());
                m.read_address_i.next = U::new(r.next());
                m.write_data_i.next = U::new(r.next());
            },
        );
    }
}

rtl_block! {
    /// Every way to write a register: plain, enabled, in an array, computed in a loop, from a state machine, in parts.
    #[derive(LogicBlock)]
    pub struct Registers {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// reset
        pub rst_ni: Signal<In, Bit>,
        /// data
        pub x_i: Signal<In, U<8>>,
        /// which element
        pub at_i: Signal<In, U<2>>,
        /// enable
        pub enable_i: Signal<In, Bit>,
        /// outputs, folded
        pub y_o: Signal<Out, U<8>>,
        /// reset as data
        pub alive_o: Signal<Out, Bit>,
        /// of the array
        pub element_o: [Signal<Out, U<8>>; 4],
        /// of the memory
        pub stored_o: Signal<Out, U<8>>,
        /// of registers without reset
        pub data_o: Signal<Out, U<8>>,
        /// there are data
        pub full_o: Signal<Out, Bit>,
        plain: Reg<U<8>>,
        enabled: Reg<U<8>>,
        data: DataReg<U<8>>,
        full: Reg<Bit>,
        items: [DataReg<U<8>>; 2],
        shifted: [Reg<U<8>>; 4],
        summed: [Reg<U<8>>; 3],
        state: Reg<phase::Phase>,
        constant: Reg<U<8>>,
        last: Signal<Local, U<8>>,
        memories: [Mem<U<8>, 2>; 2],
    }
}

mod phase {
    use rust_hdl_core::prelude::*;
    /// A state with a code that does not exist.
    #[derive(Copy, Clone, Debug, PartialEq, LogicState, selvedge_hw::selvedge_state::State)]
    #[state(crate = selvedge_hw::selvedge_state)]
    pub enum Phase {
        Wait,
        Count,
        Hold,
    }
}
use phase::Phase;

impl Default for Registers {
    fn default() -> Self {
        Registers {
            _activity: Default::default(),
            clk_i: Signal::default(),
            rst_ni: Signal::default(),
            x_i: Signal::default(),
            at_i: Signal::default(),
            enable_i: Signal::default(),
            y_o: Signal::default(),
            alive_o: Signal::default(),
            element_o: array(),
            stored_o: Signal::default(),
            data_o: Signal::default(),
            full_o: Signal::default(),
            data: DataReg::default(),
            full: Reg::default(),
            items: array(),
            plain: Reg::new(3.into()),
            enabled: Reg::new(200.into()),
            shifted: [1, 2, 3, 4].map(|value| Reg::new(U::new(value))),
            summed: array(),
            state: Reg::new(Phase::Hold),
            constant: Reg::new(85.into()),
            last: Signal::default(),
            memories: [Mem::default(), Mem::new(vec![U::new(9); 4])],
        }
    }
}

impl Logic for Registers {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, plain, enabled, state, constant, data, full);
        for i in 0..2 {
            dff_setup!(self, clk_i, items[i]);
            if self.at_i.val() == i.to_bits() {
                self.items[i].d.next = self.x_i.val();
            }
        }
        comment!("data and the bit that says so under the same conditions");
        if self.at_i.val() == 3 {
            if self.enable_i.val() {
                self.data.d.next = self.x_i.val();
            } else {
                self.full.d.next = false;
            }
        } else if self.enable_i.val() {
            self.full.d.next = true;
            self.data.d.next = self.data.q.val() + 1;
        }
        self.full_o.next = self.full.q.val();
        self.data_o.next = self.data.q.val() ^ self.items[0].q.val() ^ self.items[1].q.val();
        for i in 0..4 {
            dff_setup!(self, clk_i, shifted[i]);
            self.element_o[i].next = self.shifted[i].q.val();
        }
        for i in 0..3 {
            dff_setup!(self, clk_i, summed[i]);
        }
        self.plain.d.next = self.x_i.val() ^ self.plain.q.val();
        comment!("only when enabled");
        if self.enable_i.val() {
            self.enabled.d.next = self.x_i.val();
        }
        if self.x_i.val().get_bit(0) {
            self.shifted[0].d.next = self.x_i.val();
            for i in 1..4 {
                self.shifted[i].d.next = self.shifted[i - 1].q.val();
            }
        } else {
            self.shifted[self.at_i.val().index()].d.next = self.enabled.q.val();
        }
        comment!("a running sum through a local");
        self.last.next = self.x_i.val();
        for i in 0..3 {
            self.last.next = self.last.val() + self.summed[i].q.val();
            self.summed[i].d.next = self.last.val();
        }
        match self.state.q.val() {
            Phase::Wait => {
                if self.enable_i.val() {
                    self.state.d.next = Phase::Count;
                }
            }
            Phase::Count => {
                if self.x_i.val() > 200 {
                    self.state.d.next = Phase::Hold;
                } else if self.x_i.val() < 20 {
                    self.state.d.next = Phase::Wait;
                }
            }
            _ => {
                if !self.enable_i.val() {
                    self.state.d.next = Phase::Wait;
                }
            }
        }
        for i in 0..2 {
            self.memories[i].clk_i.next = self.clk_i.val();
            self.memories[i].write_i.next = self.enable_i.val();
            self.memories[i].write_address_i.next = self.at_i.val() + i.to_bits();
            self.memories[i].write_data_i.next = self.x_i.val();
            self.memories[i].read_address_i.next = self.at_i.val();
        }
        self.stored_o.next = self.memories[0].read_data_o.val() - self.memories[1].read_data_o.val();
        self.y_o.next = self.last.val() ^ (self.plain.q.val() + self.enabled.q.val() + self.constant.q.val());
        if self.state.q.val() == Phase::Count {
            self.y_o.next = self.y_o.val() + 1;
        }
        self.alive_o.next = self.rst_ni.val() & self.enable_i.val();
    }
}

#[test]
fn registers() {
    lock_step("registers", Registers::default, |b, r| {
        b.x_i.next = U::new(r.next());
        b.at_i.next = U::new(r.next());
        b.enable_i.next = r.next() & 1 != 0;
    });
    for reset in [ResetStyle::Control, ResetStyle::AsyncLow, ResetStyle::SyncHigh, ResetStyle::None] {
        let design =
            emit(&Registers::default(), "registers", &EmitOptions { reset, ..EmitOptions::default() })
                .unwrap();
        tools::assert_lint_silent(&design);
        tools::assert_synthesizes(&design);
    }
}

/// Branches that assign both kinds of registers are written once for each kind, with their conditions.
#[test]
fn data_registers_have_processes_of_their_own() {
    let text = emit(&Registers::default(), "registers", &EmitOptions::default()).unwrap().text();
    for lines in [
        "always @(posedge clk_i or negedge rst_ni) begin\n    if (!rst_ni) begin\n      full_q <= 1'b0;\n    end",
        "always @(posedge clk_i) begin\n    if (at_i == 2'd3) begin\n      if (enable_i) begin\n        data_q <= x_i;",
        "if (!enable_i) begin\n        full_q <= 1'b0;",
    ] {
        assert!(text.contains(lines), "{lines}\n{text}");
    }
    assert!(!text.contains("data_q <= 8'd0") && !text.contains("items_q <= 16'd0"), "{text}");
}

/// The comparison detects a wrong pipeline depth.
#[test]
#[should_panic(expected = "cycle 1 after valid_o: Verilog 1, Rust 0")]
fn a_wrong_verilog_is_noticed() {
    let mut block = Pipe::<U<12>>::new(2);
    let design = emit(&Pipe::<U<12>>::new(1), "pipe", &EmitOptions::default()).unwrap();
    let clock = |b: &mut Pipe<U<12>>, level| b.set_clock(level);
    let set = |b: &mut Pipe<U<12>>, _| b.valid_i.next = true;
    let cycles = record(&mut block, 4, clock, |b, level| b.set_reset_n(level), |cycle| cycle == 0, set);
    assert_same(&design, &cycles, ResetStyle::Control);
}
