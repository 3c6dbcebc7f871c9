//! Writes a module around a block with a SystemVerilog interface for each stream: a valid, a ready and their data.

use crate::builder::highest;
use crate::design::{Design, VerilogModule, guarded};
use crate::files::declared_port;
use crate::head;
use crate::module::VerilogPort;
use crate::names;
use crate::options::{EmitOptions, Language};
use crate::verilog::{Body, Code, Item, ModuleInstance, code};
use crate::write::module_text;
use selvedge_hw::Port;

/// Name of the interface without the user's prefix.
const INTERFACE: &str = "selvedge_stream_if";

/// A stream of a block.
struct Stream<'a> {
    /// Name of the interface port without `_if`: `sink`, `load`.
    name: String,
    /// `true` if the block is the source.
    is_source: bool,
    valid: &'a str,
    ready: &'a str,
    /// Ports that are transferred, the most significant first.
    data: Vec<&'a VerilogPort>,
}

impl Stream<'_> {
    fn bits(&self) -> usize {
        self.data.iter().map(|port| port.width).sum()
    }

    /// Returns the name of a port in the stream's data.
    fn field<'a>(&self, port: &'a VerilogPort) -> &'a str {
        let name = &port.name;
        let whole = name.strip_suffix("_i").or(name.strip_suffix("_o")).unwrap_or(name);
        let short = whole.strip_prefix(&format!("{}_", self.name));
        short.filter(|short| !names::is_reserved(short)).unwrap_or(whole)
    }

    fn contains(&self, name: &str) -> bool {
        [self.valid, self.ready].contains(&name) || self.data.iter().any(|port| port.name == name)
    }
}

/// Returns the streams of a block: a `valid` and a `ready` of opposite directions with data. An output belongs to the data if it
/// is valid only with `valid`; an input, if its name begins like that of `valid`.
fn streams<'a>(module: &'a VerilogModule, ports: &[Port]) -> Vec<Stream<'a>> {
    let all = &module.ports;
    let prefix =
        |port: &'a VerilogPort| port.name.strip_suffix(if port.input { "valid_i" } else { "valid_o" });
    let prefixes: Vec<&str> = all.iter().filter_map(prefix).filter(|prefix| !prefix.is_empty()).collect();
    let stream = |port: &'a VerilogPort| {
        let own = prefix(port)?;
        let ready = format!("{own}ready_{}", if port.input { "o" } else { "i" });
        let ready = all.iter().find(|other| other.name == ready)?;
        let is_other = |name: &str| own.is_empty() && prefixes.iter().any(|prefix| name.starts_with(prefix));
        let is_data = |other: &&VerilogPort| {
            let is_control = other.clock || other.reset || [&port.name, &ready.name].contains(&&other.name);
            let valid = ports.iter().find(|known| known.name == other.name).and_then(|known| known.valid);
            let belongs = match other.input {
                true => {
                    other.name.starts_with(own) && !is_other(&other.name) && !other.name.ends_with("ready_i")
                }
                false => valid == Some(port.name.as_str()),
            };
            other.input == port.input && !is_control && belongs
        };
        let data: Vec<&VerilogPort> = all.iter().filter(is_data).collect();
        let name = match (own.trim_end_matches('_'), port.input) {
            ("", true) => "sink",
            ("", false) => "source",
            (own, _) => own,
        };
        let stream =
            Stream { name: name.into(), is_source: !port.input, valid: &port.name, ready: &ready.name, data };
        (!stream.data.is_empty()).then_some(stream)
    };
    all.iter().filter_map(stream).collect()
}

/// Returns names and texts of the files with the interface and the module `<block>_if` around a block. The module has the
/// parameters' defaults. Returns `None` if the block has no stream.
pub fn interface_files(
    design: &Design,
    ports: &[Port],
    options: &EmitOptions,
) -> Option<[(String, String); 2]> {
    let top = design.top();
    let streams = streams(top, ports);
    if streams.is_empty() {
        return None;
    }
    let (name, interface) = (format!("{}_if", top.name), format!("{}{INTERFACE}", options.prefix));
    let (mut declared, mut items, mut pins) = (vec![], vec![], vec![]);
    for port in &top.ports {
        let Some(stream) = streams.iter().find(|stream| stream.contains(&port.name)) else {
            declared.extend(port.doc.iter().cloned().map(Item::Comment));
            declared.push(declared_port(port));
            pins.push((port.name.clone(), Code::from(&port.name)));
            continue;
        };
        let own = &stream.name;
        let value = match port.name.as_str() {
            name if name == stream.valid => code![own, "_if.valid"],
            name if name == stream.ready => code![own, "_if.ready"],
            _ => code![own, "_data.", stream.field(port)],
        };
        pins.push((port.name.clone(), value));
    }
    for stream in &streams {
        let own = &stream.name;
        let fields: Vec<&str> = stream.data.iter().map(|port| stream.field(port)).collect();
        let (role, bits) = (if stream.is_source { "source" } else { "sink" }, stream.bits());
        declared.push(Item::Comment(format!("{bits} bits of data: {{{}}}", fields.join(", "))));
        declared.push(Item::declare(&format!("{interface}.{role}"), None, format!("{own}_if"), None));
        let field =
            |port: &&VerilogPort| Item::declare("logic", highest(port.width), stream.field(port), None);
        let fields = stream.data.iter().map(field).collect();
        let (whole, data) = (format!("{own}_data"), format!("{own}_if.data"));
        let (to, from) = if stream.is_source { (&data, &whole) } else { (&whole, &data) };
        items.extend([
            Item::Enclosed(Code::from("typedef struct packed {"), fields, format!("}} {own}_data_t;")),
            Item::declare(&format!("{own}_data_t"), None, &whole, None),
            Item::Line(code!["assign ", to, " = ", from]),
            Item::Blank,
        ]);
    }
    let instance = ModuleInstance { module: 0, parameters: vec![], name: "dut".into(), pins };
    items.push(Item::Instance(instance));
    let body = Body { parameters: vec![], ports: declared, items };
    let module = module_text(&name, &body, std::slice::from_ref(&top.name), Language::SystemVerilog);
    let about =
        format!("{} with an interface for each stream. {interface}.sv declares the interface.", top.name);
    let wrapper = file(&name, &about, options, &module);
    let about = "A stream: data is transferred in each cycle with valid and ready.";
    let text = file(&interface, about, options, &format!("interface {interface} {DECLARATIONS}"));
    Some([(format!("{interface}.sv"), guarded(&interface, text.trim_end())), (format!("{name}.sv"), wrapper)])
}

/// Parameters, signals and roles of the interface.
const DECLARATIONS: &str = "\
#(
  parameter int DATA_BITS = 1
);

  logic valid;
  logic ready;
  logic [DATA_BITS-1:0] data;

  modport source(output valid, output data, input ready);
  modport sink(input valid, input data, output ready);

endinterface
";

/// Returns the text of a file.
fn file(name: &str, about: &str, options: &EmitOptions, text: &str) -> String {
    let mut lines = head::license(&options.header);
    lines.extend([format!("// {name}"), "//".into(), format!("// {about}")]);
    if !options.header.tool.is_empty() {
        lines.push(format!("// Written by {}", options.header.tool));
    }
    format!("{}\n\n`default_nettype none\n\n{text}\n`default_nettype wire\n", lines.join("\n"))
}
