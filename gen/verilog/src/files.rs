//! Writes the files around a design: file list, FuseSoC cores, timing constraints, Yosys script, a wrapper for synthesis.

use crate::builder::highest;
use crate::design::{Design, VerilogModule};
use crate::gating::TEST_ENABLE;
use crate::head;
use crate::module::VerilogPort;
use crate::options::{EmitOptions, Language, ResetStyle};
use crate::verilog::{Body, Code, Head, Item, ModuleInstance};
use crate::write::module_text;

/// Returns the `.f` file: one file per line, sub-modules first.
pub fn file_list(design: &Design) -> String {
    design.modules.iter().map(|module| module.file() + "\n").collect()
}

/// Returns the FuseSoC `.core` file with the targets `default`, `lint` (Verilator) and `synth` (Yosys, with registered I/O).
/// It depends on the cores of shared cells ([`cell_core_file`]), so that a system of several blocks has each cell once.
pub fn core_file(design: &Design, version: &str) -> String {
    let top = &design.top().name;
    let (cells, own): (Vec<&VerilogModule>, Vec<&VerilogModule>) =
        design.modules.iter().partition(|module| module.cell);
    let files: String = own.iter().map(|module| format!("      - {}\n", module.file())).collect();
    let (extension, file_type) = (design.top().language.extension(), file_type(design.top().language));
    let cells: String =
        cells.iter().map(|cell| format!("      - {}\n", core_name(&cell.name, version))).collect();
    let depend = if cells.is_empty() { String::new() } else { format!("    depend:\n{cells}") };
    format!(
        "\
CAPI=2:
name: {}

filesets:
  rtl:
    files:
{files}{depend}    file_type: {file_type}
  synth_wrapper:
    files:
      - {top}_synth_wrapper.{extension}
    file_type: {file_type}
  constraints:
    files:
      - {top}.sdc: {{file_type: SDC}}

targets:
  default:
    filesets: [rtl]
    toplevel: {top}
  lint:
    filesets: [rtl]
    toplevel: {top}
    default_tool: verilator
    tools:
      verilator:
        mode: lint-only
        verilator_options: [-Wall]
  synth:
    filesets: [rtl, synth_wrapper, constraints]
    toplevel: {top}_synth_wrapper
    default_tool: yosys
    tools:
      yosys:
        arch: xilinx
        output_format: json
        yosys_synth_options: [-flatten]
",
        core_name(top, version)
    )
}

/// Returns FuseSoC's file type for the language.
fn file_type(language: Language) -> &'static str {
    match language {
        Language::Verilog => "verilogSource-2005",
        Language::SystemVerilog => "systemVerilogSource",
    }
}

/// Returns FuseSoC's name for the core of a module.
fn core_name(module: &str, version: &str) -> String {
    format!("selvedge::{module}:{version}")
}

/// Returns the FuseSoC `.core` file of a shared cell with the targets `default` and `lint` (Verilator).
pub fn cell_core_file(cell: &VerilogModule, version: &str) -> String {
    let name = &cell.name;
    format!(
        "\
CAPI=2:
name: {}

filesets:
  rtl:
    files:
      - {}
    file_type: {}

targets:
  default:
    filesets: [rtl]
    toplevel: {name}
  lint:
    filesets: [rtl]
    toplevel: {name}
    default_tool: verilator
    tools:
      verilator:
        mode: lint-only
        verilator_options: [-Wall]
",
        core_name(name, version),
        cell.file(),
        file_type(cell.language)
    )
}

/// Returns a Yosys script that runs in the folder of the files. It writes the block as gates to `<top>_gates.v` and keeps
/// memories. A comment in the script explains how to map the gates to the cells of a library.
pub fn yosys_script(design: &Design) -> String {
    let top = &design.top().name;
    let files: Vec<String> = design.modules.iter().map(VerilogModule::file).collect();
    let read = match design.top().language {
        Language::Verilog => "read_verilog",
        Language::SystemVerilog => "read_verilog -sv",
    };
    format!(
        "\
# {top}: yosys -s {top}.ys
{read} {}
# words; memories stay memories
synth -flatten -run begin:fine -top {top}
check -assert
# gates
opt -fast -full
techmap
opt -fast
# for the cells of a library, in place of the next line:
#   dfflibmap -liberty CELLS.lib
#   abc -liberty CELLS.lib
# and behind stat: -liberty CELLS.lib
abc
opt_clean -purge
stat
write_verilog -noattr {top}_gates.v
",
        files.join(" ")
    )
}

/// Returns timing constraints of the synthesis wrapper for a clock of `period_ns` nanoseconds.
pub fn constraints(design: &Design, period_ns: f64) -> String {
    let io = period_ns / 5.0;
    let inputs = design.top().ports.iter().filter(|port| port.input && !port.clock);
    let inputs: Vec<&str> = inputs.map(|port| port.name.as_str()).collect();
    let mut text = format!(
        "# {}: every path from register to register within one clock\n\
         create_clock -name clk -period {period_ns:.3} [get_ports clk_i]\n\
         set_input_delay -clock clk {io:.3} [get_ports {{{}}}]\n\
         set_output_delay -clock clk {io:.3} [all_outputs]\n",
        design.top().name,
        inputs.join(" ")
    );
    // A synchronous reset is timed like every input.
    if design
        .top()
        .ports
        .iter()
        .any(|port| port.reset && Some(port.name.as_str()) == ResetStyle::Control.port())
    {
        text += "# rst_ni falls at any time; a synchronizer of this clock releases it, so recovery and removal are timed\n\
                 set_false_path -fall_from [get_ports rst_ni]\n";
    }
    if design.top().ports.iter().any(is_test_enable) {
        text += "# gated clocks are this clock, without generated clocks: an enable settles before the clock rises, and holds while it is high\n\
                 set_clock_gating_check -setup 0 -hold 0\n\
                 set_case_analysis 0 [get_ports test_en_i]\n";
    }
    text
}

/// Returns whether the port keeps all clocks running.
fn is_test_enable(port: &VerilogPort) -> bool {
    port.name == TEST_ENABLE
}

/// Returns the declaration of a port of a module around a block.
pub(crate) fn declared_port(port: &VerilogPort) -> Item {
    Item::declare(port.kind(true), highest(port.width), &port.name, None)
}

/// Returns `<top>_synth_wrapper`: the block with registers at all data inputs and outputs, so that synthesis measures paths
/// from register to register.
pub fn synth_wrapper(design: &Design, options: &EmitOptions) -> VerilogModule {
    let top = design.top();
    let name = format!("{}_synth_wrapper", top.name);
    let is_static = |port: &VerilogPort| port.reset || is_test_enable(port);
    let data: Vec<&VerilogPort> = top.ports.iter().filter(|port| !port.clock && !is_static(port)).collect();
    let clock = Item::declare("input  wire", None, "clk_i", None);
    let others =
        top.ports.iter().filter(|port| is_static(port)).chain(data.iter().copied()).map(declared_port);
    let register = |port: &&VerilogPort| {
        let (kind, suffix) = if port.input { ("reg", "q") } else { ("wire", "d") };
        Item::declare(kind, highest(port.width), format!("{}_{suffix}", port.name), None)
    };
    let update = |port: &&VerilogPort| {
        let name = &port.name;
        let text = if port.input { format!("{name}_q <= {name}") } else { format!("{name} <= {name}_d") };
        Item::Line(Code::from(&text))
    };
    let pin = |port: &VerilogPort| {
        let own = match (port.clock, is_static(port), port.input) {
            (true, ..) => "clk_i".to_string(),
            (_, true, _) => port.name.clone(),
            (.., true) => format!("{}_q", port.name),
            (.., false) => format!("{}_d", port.name),
        };
        (port.name.clone(), Code::from(&own))
    };
    let mut items: Vec<Item> = data.iter().map(register).collect();
    let updates = data.iter().map(update).collect();
    let head = Head::Always(Code::from("@(posedge clk_i)"));
    let instance = ModuleInstance {
        module: 0,
        parameters: vec![],
        name: "dut".into(),
        pins: top.ports.iter().map(pin).collect(),
    };
    items.extend([Item::Blank, Item::block(head, None, updates), Item::Blank, Item::Instance(instance)]);
    let body = Body { parameters: vec![], ports: [clock].into_iter().chain(others).collect(), items };
    let mut lines = head::license(&options.header);
    lines.extend([
        format!("// {name}"),
        "//".into(),
        format!("// {} between registers on all its data ports, for synthesis.", top.name),
    ]);
    if !options.header.tool.is_empty() {
        lines.push(format!("// Written by {} with reset {}", options.header.tool, options.reset));
    }
    let language = top.language;
    let module = module_text(&name, &body, std::slice::from_ref(&top.name), language);
    let text = format!("{}\n\n`default_nettype none\n\n{module}\n`default_nettype wire\n", lines.join("\n"));
    VerilogModule { name, language, text, ports: vec![], cell: false }
}

/// Returns the names and texts of all files of a design: one per module, `.f`, `.core`, `.sdc`, `.ys` and the synthesis
/// wrapper, and a `.core` for each shared cell. The files of a cell are the same in every design.
pub fn all_files(
    design: &Design,
    options: &EmitOptions,
    version: &str,
    period_ns: f64,
) -> Vec<(String, String)> {
    let top = &design.top().name;
    let wrapper = synth_wrapper(design, options);
    let mut files: Vec<(String, String)> =
        design.modules.iter().map(|module| (module.file(), module.text.clone())).collect();
    let cells = design.modules.iter().filter(|module| module.cell);
    files.extend(cells.map(|cell| (format!("{}.core", cell.name), cell_core_file(cell, version))));
    files.push((wrapper.file(), wrapper.text));
    files.push((format!("{top}.f"), file_list(design)));
    files.push((format!("{top}.core"), core_file(design, version)));
    files.push((format!("{top}.sdc"), constraints(design, period_ns)));
    files.push((format!("{top}.ys"), yosys_script(design)));
    files
}
