//! Finds the memories of a synthesized block, removes them from its cells, and lists their bits and ports.
use crate::figure::Figure;
use crate::sram::Price;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

/// A memory that a memory compiler would generate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledMemory {
    /// Its hierarchical name in the block.
    pub name: String,
    /// Number of words.
    pub words: usize,
    /// Bits of a word.
    pub width: usize,
    /// Width of an address, bits.
    pub address_bits: usize,
    /// Number of read ports.
    pub read_ports: usize,
    /// Number of read ports that read at a clock edge. The others read in the same cycle.
    pub clocked_read_ports: usize,
    /// Number of write ports.
    pub write_ports: usize,
}

/// A memory in reports.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct MemoryReport {
    /// Hierarchical name in the block.
    pub name: String,
    /// Number of words.
    pub words: usize,
    /// Bits of a word.
    pub width: usize,
    /// Bits of the memory.
    pub bits: Figure,
    /// Number of read ports.
    pub read_ports: usize,
    /// Number of read ports that read at a clock edge.
    pub clocked_read_ports: usize,
    /// Number of write ports.
    pub write_ports: usize,
    /// Area, times and energies, if they were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

impl CompiledMemory {
    /// Returns the number of bits.
    pub fn bits(&self) -> usize {
        self.words * self.width
    }

    /// Returns the memory in the form of reports.
    pub fn report(&self, price: Option<Price>) -> MemoryReport {
        MemoryReport {
            name: self.name.clone(),
            words: self.words,
            width: self.width,
            bits: Figure::count(self.bits(), "bits"),
            read_ports: self.read_ports,
            clocked_read_ports: self.clocked_read_ports,
            write_ports: self.write_ports,
            price,
        }
    }
}

/// Returns the `$mem_v2` cells of module `top` in Yosys' JSON, by name.
pub fn find(design: &Value, top: &str) -> Vec<CompiledMemory> {
    let Some(cells) = design["modules"][top]["cells"].as_object() else { return Vec::new() };
    let mut found: Vec<CompiledMemory> = cells
        .iter()
        .filter(|(_, cell)| cell["type"] == "$mem_v2")
        .map(|(name, cell)| memory(name, cell))
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn memory(name: &str, cell: &Value) -> CompiledMemory {
    let bits = |key: &str| cell["parameters"][key].as_str().unwrap_or_default();
    let number = |key: &str| usize::from_str_radix(bits(key), 2).unwrap_or(0);
    CompiledMemory {
        name: name.trim_start_matches('\\').trim_end_matches(".words").into(),
        words: number("SIZE"),
        width: number("WIDTH"),
        address_bits: number("ABITS"),
        read_ports: number("RD_PORTS"),
        clocked_read_ports: bits("RD_CLK_ENABLE").bytes().filter(|bit| *bit == b'1').count(),
        write_ports: number("WR_PORTS"),
    }
}

/// Returns Yosys commands that turn every memory into ports of the top module, and the text of the file `memories.v` that
/// they read. Inputs of a memory become outputs of the module, and its data becomes inputs.
pub(crate) fn to_ports(memories: &[CompiledMemory]) -> (String, String) {
    let mut shapes: Vec<&CompiledMemory> = Vec::new();
    for one in memories {
        if shapes.iter().all(|shape| shape_of(shape) != shape_of(one)) {
            shapes.push(one);
        }
    }
    let (mut commands, mut verilog) = (String::new(), String::new());
    for (index, shape) in shapes.iter().enumerate() {
        let CompiledMemory { words, width, address_bits, read_ports, write_ports, .. } = **shape;
        let mut ports = Vec::new();
        let mut port = |direction: &str, name: &str, bits: usize| {
            ports.push(format!("{direction} [{}:0] {name}", bits.max(1) - 1));
        };
        // Clocks and resets are not ports: they would add paths that start at the clock.
        port("input", "RD_EN", read_ports);
        port("input", "RD_ADDR", read_ports * address_bits);
        port("output", "RD_DATA", read_ports * width);
        port("input", "WR_EN", write_ports * width);
        port("input", "WR_ADDR", write_ports * address_bits);
        port("input", "WR_DATA", write_ports * width);
        let name = format!("selvedge_memory_{index}");
        writeln!(verilog, "(* blackbox *) module {name} ({}); endmodule", ports.join(", "))
            .expect("writing to a string cannot fail");
        writeln!(
            commands,
            "chtype -set {name} t:$mem_v2 r:SIZE={words} %i r:WIDTH={width} %i r:ABITS={address_bits} %i \
             r:RD_PORTS={read_ports} %i r:WR_PORTS={write_ports} %i"
        )
        .expect("writing to a string cannot fail");
    }
    if !shapes.is_empty() {
        let unset: String = PARAMETERS.iter().map(|name| format!(" -unset {name}")).collect();
        commands += &format!("select -assert-none t:$mem_v2\nsetparam{unset} t:selvedge_memory_*\n");
        commands += "read_verilog -lib memories.v\nexpose -evert t:selvedge_memory_*\n";
    }
    (commands, verilog)
}

fn shape_of(memory: &CompiledMemory) -> [usize; 5] {
    [memory.words, memory.width, memory.address_bits, memory.read_ports, memory.write_ports]
}

/// The parameters of `$mem_v2`.
const PARAMETERS: [&str; 21] = [
    "MEMID",
    "SIZE",
    "OFFSET",
    "ABITS",
    "WIDTH",
    "INIT",
    "RD_PORTS",
    "RD_CLK_ENABLE",
    "RD_CLK_POLARITY",
    "RD_TRANSPARENCY_MASK",
    "RD_COLLISION_X_MASK",
    "RD_WIDE_CONTINUATION",
    "RD_CE_OVER_SRST",
    "RD_ARST_VALUE",
    "RD_SRST_VALUE",
    "RD_INIT_VALUE",
    "WR_PORTS",
    "WR_CLK_ENABLE",
    "WR_CLK_POLARITY",
    "WR_PRIORITY_MASK",
    "WR_WIDE_CONTINUATION",
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn memories_are_found_with_their_ports() {
        let cell = json!({"type": "$mem_v2", "parameters": {
            "SIZE": "1000000", "WIDTH": "1000001", "ABITS": "110", "RD_PORTS": "10", "RD_CLK_ENABLE": "01", "WR_PORTS": "1"}});
        let design = json!({"modules": {"top": {"cells": {"fifo.words": cell, "gate": {"type": "$and"}}}}});
        let found = find(&design, "top");
        assert_eq!(found.len(), 1);
        let one = &found[0];
        assert_eq!((one.name.as_str(), one.bits(), one.address_bits), ("fifo", 64 * 65, 6));
        assert_eq!((one.read_ports, one.clocked_read_ports, one.write_ports), (2, 1, 1));
        let (commands, verilog) = to_ports(&[found[0].clone(), found[0].clone()]);
        assert_eq!(verilog.lines().count(), 1, "one module for memories of one shape");
        assert!(verilog.contains("output [129:0] RD_DATA") && commands.contains("r:SIZE=64"));
        assert_eq!(to_ports(&[]), (String::new(), String::new()));
    }
}
