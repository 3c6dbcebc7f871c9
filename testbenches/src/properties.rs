//! Declares the properties of blocks as assertions. A simulator checks them while it runs the Verilog, and
//! [`formal`](crate::formal) proves them.
//!
//! [`attach`] adds the module `<block>_properties` to a block's Verilog. It adds an instance to the block's module, between
//! `` `ifndef SYNTHESIS `` and `` `endif ``. In each cycle out of reset, beginning with the first reset, the module checks
//! every claim at the rising clock edge. It reports a violated claim by `$error`, but not a claim with unknown bits. If
//! `FORMAL` is defined, as by `read_verilog -formal` of Yosys, the claims are `assert` statements. [`proof`] returns the
//! files that prove them.
use crate::formal::{abc_script, yosys_script};
use selvedge_gen::{Design, Language, ResetStyle, VerilogModule};
use selvedge_hw::{Direction, Port};
use std::fmt::Write;

mod claim;
mod cpack;
mod declared;
mod first_item;
mod sc_compressor;
mod sc_decompressor;
mod sc_loads;

pub use claim::{
    AnyConstant, Assertion, CycleValue, Properties, Reach, SeenSignal, StoredValue, WatchedMemory,
};
pub use declared::{BLOCKS, of};

/// Adds the module that checks the properties to a block's Verilog, and an instance of it to the block's module. `ports` are
/// the ports of the block, and `reset` is the reset style of its Verilog.
///
/// # Panics
/// If the block's module lacks a signal that the properties name.
pub fn attach(design: &mut Design, properties: &Properties, ports: &[Port], reset: ResetStyle) {
    let top = design.modules.pop().expect("a design has at least the module of its block");
    let pins = pins(&top.text, properties, ports);
    let checker = format!("{}_properties", top.name);
    let connections: Vec<String> = ["clk_i"]
        .into_iter()
        .chain(reset.port())
        .chain(pins.iter().map(|(name, _)| *name))
        .map(|name| format!("    .{name} ({name})"))
        .collect();
    let instance = format!(
        "`ifndef SYNTHESIS
  // reports a violated property of the block
  {checker} properties (
{}
  );
`endif

",
        connections.join(",\n")
    );
    let license: String = top.text.lines().take_while(|line| line.starts_with("// SPDX")).fold(
        String::new(),
        |mut lines, line| {
            lines += line;
            lines.push('\n');
            lines
        },
    );
    let text = license + &checker_text(&top.name, &checker, properties, &pins, reset);
    let (language, mut block) = (top.language, top);
    let end = block.text.rfind("endmodule").expect("a module ends");
    block.text.insert_str(end, &instance);
    design.modules.push(VerilogModule { name: checker, language, text, ports: vec![], cell: false });
    design.modules.push(block);
}

/// Returns the signals of the block that the properties name, with their widths in bits. Ports precede internal signals.
fn pins<'a>(block: &str, properties: &Properties, ports: &'a [Port]) -> Vec<(&'a str, usize)> {
    let values = properties.wires.iter().map(|wire| &wire.value);
    let nexts = properties.registers.iter().map(|register| &register.next);
    let claims = properties.claims.iter().chain(&properties.lemmas).map(|claim| &claim.holds);
    let constants = properties.constants.iter().map(|constant| &constant.simulated);
    let text: Vec<&str> = values.chain(nexts).chain(claims).chain(constants).map(String::as_str).collect();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let names = |name: &str| text.iter().any(|text| text.split(|c| !is_word(c)).any(|word| word == name));
    let outside = ports.iter().filter(|port| names(port.name)).map(|port| (port.name, port.bits));
    let inside = properties.inside.iter().filter(|name| names(name));
    let inside = inside.map(|name| (*name, bits_of(block, name)));
    outside.chain(inside).collect()
}

/// Returns the width of a signal that a module declares.
fn bits_of(module: &str, name: &str) -> usize {
    let declared = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        matches!(words.first(), Some(&("reg" | "wire" | "logic")))
            && words.last() == Some(&&*format!("{name};"))
    };
    let line = module.lines().find(declared);
    let line = line.unwrap_or_else(|| panic!("the module declares no `{name}`"));
    let highest = line.split('[').skip(1).filter_map(|range| range.split_once(':'));
    highest.map(|(high, _)| 1 + high.trim().parse::<usize>().expect("a width without parameters")).product()
}

fn range(bits: u64) -> String {
    if bits == 1 { String::new() } else { format!("[{}:0] ", bits - 1) }
}

/// Returns the text of the checking module.
fn checker_text(
    block: &str,
    name: &str,
    properties: &Properties,
    pins: &[(&str, usize)],
    reset: ResetStyle,
) -> String {
    let mut text = format!(
        "// {name}\n//\n// Checks in each cycle out of reset, from the first reset on, what {block} promises:\n"
    );
    for Assertion { what, .. } in &properties.claims {
        line(&mut text, format_args!("//   {what}"));
    }
    let inputs: Vec<String> = ["clk_i"]
        .into_iter()
        .chain(reset.port())
        .map(|name| (name, 1))
        .chain(pins.iter().copied())
        .map(|(name, bits)| format!("  input  wire {}{name}", range(bits as u64)))
        .collect();
    line(&mut text, format_args!("\n`default_nettype none\n\nmodule {name} (\n{}\n);\n", inputs.join(",\n")));
    let (edge, in_reset, released) = match reset {
        ResetStyle::Control | ResetStyle::AsyncLow => (" or negedge rst_ni", Some("!rst_ni"), "rst_ni"),
        ResetStyle::SyncHigh => ("", Some("rst_i"), "!rst_i"),
        ResetStyle::None => ("", None, ""),
    };
    for AnyConstant { name, bits, simulated } in &properties.constants {
        let range = range(*bits);
        line(
            &mut text,
            format_args!(
                "`ifdef FORMAL\n  reg {range}{name};\n  always @(posedge clk_i) {name} <= {name};\n`else\n  \
                 wire {range}{name} = {simulated};\n`endif"
            ),
        );
    }
    for StoredValue { name, bits, reset, .. } in &properties.registers {
        let initial = match (in_reset, reset) {
            (None, Some(value)) => format!(" = {bits}'d{value}"),
            _ => String::new(),
        };
        line(&mut text, format_args!("  reg {}{name}{initial};", range(*bits)));
    }
    for CycleValue { name, bits, value } in &properties.wires {
        line(&mut text, format_args!("  wire {}{name} = {value};", range(*bits)));
    }
    for StoredValue { name, bits, reset, next } in &properties.registers {
        let body = match (in_reset, reset) {
            (Some(in_reset), Some(value)) => format!(
                "  always @(posedge clk_i{edge}) begin\n    if ({in_reset}) {name} <= {bits}'d{value};\n    \
                 else {name} <= {next};\n  end"
            ),
            _ => format!("  always @(posedge clk_i) {name} <= {next};"),
        };
        line(&mut text, format_args!("{body}"));
    }
    let checked = in_reset.map(|in_reset| {
        line(
            &mut text,
            format_args!(
                "\n  // nothing is promised before the first reset, and in reset\n  reg begun = 1'b0;\n  \
                 always @(posedge clk_i{edge}) begin\n    if ({in_reset}) begun <= 1'b1;\n    \
                 else begun <= begun;\n  end\n  wire checked = begun & {released};"
            ),
        );
        "checked"
    });
    text.push('\n');
    for Assertion { name, holds, .. } in &properties.claims {
        line(&mut text, format_args!("  wire {name}_holds = {holds};"));
    }
    line(&mut text, format_args!("\n`ifdef FORMAL"));
    let words = properties.memories.iter().map(|memory| (memory.word.as_str(), memory.bits));
    let seen = properties.seen.iter().map(|signal| (signal.name, signal.bits));
    for (name, bits) in words.chain(seen) {
        // the script of the proof connects it
        line(&mut text, format_args!("  (* keep *) wire {}{name};", range(bits)));
    }
    for WatchedMemory { place, place_bits, word, .. } in &properties.memories {
        line(&mut text, format_args!("  (* keep *) wire {}{word}_place = {place};", range(*place_bits)));
    }
    for Assertion { name, holds, .. } in &properties.lemmas {
        line(&mut text, format_args!("  wire {name}_holds = {holds};"));
    }
    let assertions = || properties.claims.iter().chain(&properties.lemmas);
    let before = matches!(properties.reach, Reach::Each { .. }).then(|| {
        let all: Vec<String> = assertions().map(|Assertion { name, .. }| format!("{name}_holds")).collect();
        let unchecked = checked.map_or(String::new(), |checked| format!("!{checked} | "));
        line(
            &mut text,
            format_args!(
                "  // a claim follows from all claims in the cycle before\n  reg all_held = 1'b1;\n  \
                 always @(posedge clk_i) all_held <= {unchecked}({});",
                all.join(" & ")
            ),
        );
        "all_held"
    });
    line(&mut text, format_args!("  always @(*) begin"));
    for Assertion { name, .. } in assertions() {
        let when: Vec<&str> = checked.into_iter().chain(before).collect();
        let when = if when.is_empty() { String::new() } else { format!("if ({}) ", when.join(" & ")) };
        line(&mut text, format_args!("    {when}assert ({name}_holds);"));
    }
    line(&mut text, format_args!("  end\n`else\n`ifndef SYNTHESIS\n  always @(posedge clk_i) begin"));
    for Assertion { name, what, .. } in &properties.claims {
        let when = checked.map_or(String::new(), |checked| format!("{checked} & "));
        line(
            &mut text,
            format_args!("    if ({when}({name}_holds === 1'b0)) $error(\"{block}: violated: {what}\");"),
        );
    }
    text += "  end\n`endif\n`endif\n\nendmodule\n\n`default_nettype wire\n";
    text
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    writeln!(text, "{words}").expect("writing to a string cannot fail");
}

/// Returns the name of the module for [`proof`].
pub(crate) fn proof_module(block: &str) -> String {
    format!("{block}_proof")
}

/// Memories with a single word, which replace those of the block in a proof.
const WATCHED: &str = include_str!("properties/watched.v");

/// Returns true if [`WATCHED`] replaces the module in a proof of these properties.
pub(crate) fn is_replaced(properties: &Properties, module: &str) -> bool {
    !properties.memories.is_empty() && WATCHED.contains(&format!("module {module} "))
}

/// Returns pairs of a signal and the signal that drives it: the addresses of watched words, and the words.
pub(crate) fn connections(properties: &Properties) -> Vec<(String, String)> {
    let pairs = |WatchedMemory { path, word, .. }: &WatchedMemory| {
        [
            (format!("dut.{path}.place"), format!("dut.properties.{word}_place")),
            (format!("dut.properties.{word}"), format!("dut.{path}.word")),
        ]
    };
    let seen = |SeenSignal { name, path, .. }: &SeenSignal| {
        (format!("dut.properties.{name}"), format!("dut.{path}"))
    };
    properties.memories.iter().flat_map(pairs).chain(properties.seen.iter().map(seen)).collect()
}

/// Returns a module in which all inputs of a block are free. Only the block's assertions are checked.
pub(crate) fn proof_text(block: &str, properties: &Properties, ports: &[Port], reset: ResetStyle) -> String {
    let inputs = ports.iter().filter(|port| port.direction == Direction::Input);
    let inputs: Vec<(&str, usize)> = ["clk_i"]
        .into_iter()
        .chain(reset.port())
        .map(|name| (name, 1))
        .chain(inputs.map(|port| (port.name, port.bits)))
        .collect();
    let free: Vec<String> =
        inputs.iter().map(|(name, bits)| format!("  input wire {}{name}", range(*bits as u64))).collect();
    let outputs = ports.iter().filter(|port| port.direction == Direction::Output);
    let connected = inputs.iter().map(|(name, _)| format!("    .{name} ({name})"));
    let pins: Vec<String> = connected.chain(outputs.map(|port| format!("    .{} ()", port.name))).collect();
    let watched = if properties.memories.is_empty() { String::new() } else { format!("\n{WATCHED}") };
    format!(
        "// {name}: {block} under any inputs; its assertions hold.\nmodule {name} (\n{}\n);\n  {block} dut (\n{}\n  );\nendmodule\n{watched}",
        free.join(",\n"),
        pins.join(",\n"),
        name = proof_module(block),
    )
}

/// Returns names and texts of the files that prove the properties of a design that [`attach`] has changed: a module around
/// the block, and the scripts for Yosys and ABC. `yosys -q -s NAME_proof.ys && berkeley-abc -f NAME_proof.abc` runs them.
/// Each `Status = 1` is a proof.
pub fn proof(
    design: &Design,
    properties: &Properties,
    ports: &[Port],
    reset: ResetStyle,
) -> [(String, String); 3] {
    let top = &design.top().name;
    let module = proof_module(top);
    let verilog =
        (format!("{module}.{}", Language::Verilog.extension()), proof_text(top, properties, ports, reset));
    let kept = design.modules.iter().filter(|module| !is_replaced(properties, &module.name));
    let mut files: Vec<String> = kept.map(VerilogModule::file).collect();
    files.push(verilog.0.clone());
    let yosys = yosys_script(&files, &module, &connections(properties));
    [
        verilog,
        (format!("{module}.ys"), yosys),
        (format!("{module}.abc"), abc_script(properties.reach, &module)),
    ]
}
