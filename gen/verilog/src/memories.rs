//! Lists the memories of a block, and replaces those that read at a clock edge by macros of a memory compiler.
//!
//! The cell `selvedge_sync_mem` becomes a module that selects one module per size. [`MemoryForm`] chooses the contents of these
//! modules. Memories that read in the same cycle stay registers: a compiled SRAM reads at a clock edge.

use crate::cells::{self, starts_as_zeros};
use crate::design::{Design, VerilogModule, guarded};
use crate::elaborate::{BlockNode, elaborate};
use crate::head;
use crate::names;
use crate::options::{EmitOptions, Language};
use crate::write::wrap_comment;
use rust_hdl_core::prelude::{AtomKind, Block};
use std::collections::{BTreeMap, BTreeSet};
use strum::{Display, EnumString, VariantNames};

/// Contents of the modules that take the place of memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum MemoryForm {
    /// Only a list of the memories; no Verilog.
    List,
    /// An empty module per size, with the ports that Chisel gives memories. A read during a write must return the old word.
    Blackbox,
    /// A wrapper per size around an SRAM macro with a write port and a read port, in the ports of OpenRAM.
    Wrapper,
}

/// A memory of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryInstance {
    /// Its hierarchical name in the block: `filter.gen_banks[0].banks.rows`.
    pub instance: String,
    /// Number of words.
    pub words: usize,
    /// Bits of a word.
    pub width: usize,
    /// Number of read ports. Each memory has one write port without a mask.
    pub read_ports: usize,
    /// `true` if it reads at a clock edge, `false` if in the same cycle.
    pub clocked: bool,
    /// `true` if the contents at power-up are not zeros, and belong to the block.
    pub filled: bool,
}

impl MemoryInstance {
    /// Returns the number of bits.
    pub fn bits(&self) -> usize {
        self.words * self.width
    }

    /// Returns words and width, if [`with_macros`] replaces the memory.
    pub fn shape(&self) -> Option<(usize, usize)> {
        (self.clocked && !self.filled).then_some((self.words, self.width))
    }
}

/// Returns the name of the module that replaces memories of a shape.
pub fn macro_name(prefix: &str, (words, width): (usize, usize)) -> String {
    format!("{prefix}{SYNC_MEM}_{words}x{width}")
}

/// Name of the cell with synchronous read.
const SYNC_MEM: &str = "selvedge_sync_mem";

/// Returns the memories of a block in the order of their names.
pub fn memories(block: &dyn Block) -> Vec<MemoryInstance> {
    let nodes = elaborate(block, "block");
    let mut found = vec![];
    visit(&nodes, 0, "", &mut found);
    found.sort_by(|a, b| a.instance.cmp(&b.instance));
    found
}

/// Adds the memories below a node whose hierarchical name is `path`.
fn visit(nodes: &[BlockNode], id: usize, path: &str, found: &mut Vec<MemoryInstance>) {
    let mut fields: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for child in &nodes[id].children {
        fields.entry(&nodes[*child].path.key).or_default().push(*child);
    }
    for (key, elements) in fields {
        let name = names::signal(key);
        let are_equal = elements.windows(2).all(|pair| are_equal(nodes, pair[0], pair[1]));
        for (element, child) in elements.iter().enumerate() {
            let own = match (elements.len(), are_equal) {
                (1, _) => name.clone(),
                (_, true) => format!("gen_{name}[{element}].{name}"),
                (_, false) => format!("{name}_{element}"),
            };
            let instance = if path.is_empty() { own } else { format!("{path}.{own}") };
            match memory(nodes, *child) {
                Some(memory) => found.push(MemoryInstance { instance, ..memory }),
                None => visit(nodes, *child, &instance, found),
            }
        }
    }
}

/// Returns whether two blocks are the same module.
fn are_equal(nodes: &[BlockNode], a: usize, b: usize) -> bool {
    let (a, b) = (&nodes[a], &nodes[b]);
    let constants = |node: &BlockNode| {
        let constants = node.atoms.iter().filter(|atom| atom.kind == AtomKind::Constant);
        constants.map(|atom| (atom.path.clone(), atom.value.clone())).collect::<Vec<_>>()
    };
    a.description == b.description
        && format!("{:?}", a.code) == format!("{:?}", b.code)
        && constants(a) == constants(b)
        && a.children.len() == b.children.len()
        && a.children.iter().zip(&b.children).all(|(a, b)| are_equal(nodes, *a, *b))
}

/// Returns the memory that a node is, without its name.
fn memory(nodes: &[BlockNode], id: usize) -> Option<MemoryInstance> {
    let description = nodes[id].description.as_ref().filter(|found| found.is_of_kit())?;
    let clocked = match description.type_name.as_str() {
        "Mem" | "ReplicatedMem" => false,
        "SyncMem" => true,
        _ => return None,
    };
    let size = |name| description.parameters.iter().find(|(own, _)| own == name).map(|(_, value)| *value);
    Some(MemoryInstance {
        instance: String::new(),
        words: 1 << size(cells::ADDRESS_BITS)?,
        width: size("BITS")?,
        read_ports: size("P").unwrap_or(1),
        clocked,
        filled: !starts_as_zeros(nodes, &nodes[id]),
    })
}

/// Returns the design with the macros of `shapes` (words and width) in place of the cells with synchronous read. Other sizes
/// fail in elaboration with the name of a missing module. The design must have shared cells.
#[must_use]
pub fn with_macros(
    design: Design,
    shapes: &BTreeSet<(usize, usize)>,
    form: MemoryForm,
    options: &EmitOptions,
) -> Design {
    let cell = format!("{}{SYNC_MEM}", options.prefix);
    let mut modules = vec![];
    for mut module in design.modules {
        let bits = module.name.strip_prefix(&cell).filter(|_| module.cell);
        if let Some(bits @ ("" | "_bit")) = bits {
            for shape in shapes {
                let mut add = |name: String, what: &str, body: String| {
                    if modules.iter().all(|module: &VerilogModule| module.name != name) {
                        modules.push(macro_module(name, what, &body, &module, options));
                    }
                };
                if form == MemoryForm::Wrapper {
                    add(sram_name(&options.prefix, *shape), SRAM, sram(*shape));
                    add(macro_name(&options.prefix, *shape), WRAPPER, wrapper(*shape, &options.prefix));
                } else {
                    add(macro_name(&options.prefix, *shape), BLACKBOX, blackbox(*shape));
                }
            }
            module.text = selection(&module, shapes, bits == "_bit", &options.prefix);
        }
        modules.push(module);
    }
    Design { modules }
}

/// Purposes of the modules, in their head comments.
const BLACKBOX: &str = "Place of a memory with synchronous read, in the ports of Chisel's memories. Replace this file by a macro. A \
                        read during a write of the same word must return the old word.";
const WRAPPER: &str = "Memory with synchronous read, made of an SRAM macro with one write port and one read port. A read during a \
                       write returns the old word.";
const SRAM: &str = "Place of an SRAM macro with one write port (0) and one read port (1), in the ports of OpenRAM. Replace this \
                    file by a macro, or connect another macro in the wrapper. A read during a write of the same word may return \
                    any value.";

/// Returns the name of the SRAM macro of a shape.
fn sram_name(prefix: &str, (words, width): (usize, usize)) -> String {
    format!("{prefix}selvedge_sram_{words}x{width}")
}

/// Returns a module with its head comment and include guard. `cell` is the module that uses it.
fn macro_module(
    name: String,
    what: &str,
    body: &str,
    cell: &VerilogModule,
    options: &EmitOptions,
) -> VerilogModule {
    let mut lines = head::license(&options.header);
    lines.extend([format!("// {name}"), "//".into()]);
    lines.extend(wrap_comment("", what));
    if !options.header.tool.is_empty() {
        lines.extend(["//".into(), format!("// Written by {}", options.header.tool)]);
    }
    let text = format!("`default_nettype none\n\n{}\n`default_nettype wire\n", body.replace("@name", &name));
    let text = format!("{}\n\n{}", lines.join("\n"), guarded(&name, &text));
    VerilogModule { name, language: cell.language, text, ports: vec![], cell: true }
}

/// Returns the bits of an address.
fn address_bits((words, _): (usize, usize)) -> usize {
    words.trailing_zeros() as usize
}

/// Returns a module without contents, which linters accept.
fn empty(ports: &[String]) -> String {
    format!(
        "// verilator lint_off UNUSED\n// verilator lint_off UNDRIVEN\n(* blackbox *)\nmodule @name (\n{}\n);\n\nendmodule\n\
         // verilator lint_on UNDRIVEN\n// verilator lint_on UNUSED\n",
        ports.join(",\n")
    )
}

/// Returns the declarations of ports with their widths.
fn ports(ports: &[(&str, usize, &str)]) -> Vec<String> {
    let declare = |(direction, bits, name): &(&str, usize, &str)| {
        let range = if *bits == 0 { String::new() } else { format!("[{}:0] ", bits - 1) };
        format!("  {direction} wire {range}{name}")
    };
    ports.iter().map(declare).collect()
}

/// Returns the ports that Chisel gives a memory. No width is a single bit without a range.
fn chisel_ports(shape: (usize, usize)) -> Vec<String> {
    let (address, (_, width)) = (address_bits(shape), shape);
    ports(&[
        ("input ", address, "R0_addr"),
        ("input ", 0, "R0_en"),
        ("input ", 0, "R0_clk"),
        ("output", width, "R0_data"),
        ("input ", address, "W0_addr"),
        ("input ", 0, "W0_en"),
        ("input ", 0, "W0_clk"),
        ("input ", width, "W0_data"),
    ])
}

fn blackbox(shape: (usize, usize)) -> String {
    empty(&chisel_ports(shape))
}

fn sram(shape: (usize, usize)) -> String {
    let (address, (_, width)) = (address_bits(shape), shape);
    empty(&ports(&[
        ("input ", 0, "clk0"),
        ("input ", 0, "csb0"),
        ("input ", address, "addr0"),
        ("input ", width, "din0"),
        ("input ", 0, "clk1"),
        ("input ", 0, "csb1"),
        ("input ", address, "addr1"),
        ("output", width, "dout1"),
    ]))
}

/// Returns a wrapper whose macro never has to read the word that it writes with a defined result.
fn wrapper(shape: (usize, usize), prefix: &str) -> String {
    let (address, data) = (address_bits(shape) - 1, shape.1 - 1);
    format!(
        "\
module @name (
{ports}
);

  // a write waits here for a cycle; a read of the waiting word takes it from here
  reg write_q;
  reg [{address}:0] address_q;
  reg [{data}:0] data_q;
  reg forward_q;
  reg [{data}:0] forwarded_q;
  wire waits;
  wire [{data}:0] read;

  assign waits = write_q & (address_q == R0_addr);

  always @(posedge W0_clk) begin
    write_q <= W0_en;
    if (W0_en) begin
      address_q <= W0_addr;
      data_q <= W0_data;
    end
    if (R0_en) begin
      forward_q <= waits;
      forwarded_q <= data_q;
    end
  end

  {sram} words (
    .clk0  (W0_clk),
    .csb0  (!write_q),
    .addr0 (address_q),
    .din0  (data_q),
    .clk1  (R0_clk),
    .csb1  (!R0_en),
    .addr1 (R0_addr),
    .dout1 (read)
  );

  assign R0_data = forward_q ? forwarded_q : read;

endmodule
",
        ports = chisel_ports(shape).join(",\n"),
        sram = sram_name(prefix, shape),
    )
}

/// Returns the text of the cell with a choice between the modules of the shapes instead of its contents.
fn selection(cell: &VerilogModule, shapes: &BTreeSet<(usize, usize)>, is_bit: bool, prefix: &str) -> String {
    let mut body = String::from("  generate\n    ");
    for shape in shapes.iter().filter(|(_, width)| !is_bit || *width == 1) {
        let address = address_bits(*shape);
        let (words, width) = shape;
        let bits = if is_bit { String::new() } else { format!(" && BITS == {width}") };
        body += &format!(
            "\
if (A == {address}{bits}) begin : gen_{words}x{width}
      {module} words (
        .R0_addr (read_address_i),
        .R0_en   (1'b1),
        .R0_clk  (clk_i),
        .R0_data (read_data_o),
        .W0_addr (write_address_i),
        .W0_en   (write_i),
        .W0_clk  (clk_i),
        .W0_data (write_data_i)
      );
    end else ",
            module = macro_name(prefix, *shape),
        );
    }
    body += &format!(
        "begin : gen_no_macro\n      {0}_has_no_macro_of_this_size no_macro ();\n    end\n  endgenerate\n\n",
        cell.name
    );
    let storage = match cell.language {
        Language::Verilog => "\n  reg ",
        Language::SystemVerilog => "\n  logic ",
    };
    let start = cell.text.find(storage).map_or(cell.text.len(), |at| at + 1);
    let end = cell.text.rfind("endmodule").unwrap_or(cell.text.len());
    let (before, after) = (&cell.text[..start], &cell.text[end..]);
    // Yosys elaborates the defaults, too.
    let shape = shapes.iter().find(|(_, width)| !is_bit || *width == 1);
    let defaults = shape.map(|shape| [("A", address_bits(*shape)), ("BITS", shape.1)]);
    let before = defaults.into_iter().flatten().fold(before.to_string(), |text, of| with_default(&text, of));
    format!("{before}{body}{after}")
}

/// Returns the text of a module with another default of a parameter.
fn with_default(text: &str, (name, value): (&str, usize)) -> String {
    let declares = |line: &str| {
        let (before, default) = line.trim_end_matches(',').rsplit_once(" = ")?;
        let is_declared =
            line.trim_start().starts_with("parameter ") && before.ends_with(&format!(" {name}"));
        is_declared.then(|| line.replacen(&format!("= {default}"), &format!("= {value}"), 1))
    };
    text.split_inclusive('\n')
        .map(|line| match declares(line.trim_end()) {
            Some(changed) => changed + "\n",
            None => line.to_string(),
        })
        .collect()
}
