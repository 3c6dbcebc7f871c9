//! Writes the cell `selvedge_clock_gate`, which users replace by an integrated clock gate.

use crate::design::{VerilogModule, guarded};
use crate::gating::{CLOCK_GATE_PORTS, TEST_ENABLE_DOC};
use crate::head;
use crate::options::{EmitOptions, Language};
use crate::write::wrap_comment;

/// Name of the cell that all blocks share.
pub(crate) const CLOCK_GATE: &str = "selvedge_clock_gate";

/// Returns the module `name`.
pub(crate) fn module(name: &str, options: &EmitOptions) -> VerilogModule {
    let (reg, always) = match options.language {
        Language::Verilog => ("reg", "always @(*)"),
        Language::SystemVerilog => ("logic", "always_latch"),
    };
    let guard = format!("{}_V", name.to_uppercase());
    let purpose = format!(
        "Clock gate without glitches. To use an integrated clock gate of a library, write a module with this name around it, \
         and define {guard}."
    );
    let mut lines = head::license(&options.header);
    lines.extend([format!("// {name}"), "//".into()]);
    lines.extend(wrap_comment("", &purpose));
    if !options.header.tool.is_empty() {
        lines.extend(["//".into(), format!("// Written by {}", options.header.tool)]);
    }
    let [clock, enable, test, gated] = CLOCK_GATE_PORTS;
    let text = format!(
        "\
`default_nettype none

// a latch is the purpose of this module
// verilator lint_off LATCH
module {name} (
  // clock
  input  wire {clock},
  // the gated clock rises with the next rising edge of the clock
  input  wire {enable},
  // {TEST_ENABLE_DOC}
  input  wire {test},
  // gated clock
  output wire {gated}
);

  // enable, which changes only while the clock is low
  {reg} enabled;

  {always} begin
    if (!{clock}) begin
      enabled = {enable} | {test};
    end
  end

  assign {gated} = {clock} & enabled;

endmodule
// verilator lint_on LATCH

`default_nettype wire
"
    );
    let text = format!("{}\n\n{}", lines.join("\n"), guarded(name, &text));
    VerilogModule { name: name.into(), language: options.language, text, ports: vec![], cell: true }
}
