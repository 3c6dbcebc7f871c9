//! SystemVerilog from the text of a module: types and processes say what they are for.
//!
//! | Verilog-2005 | SystemVerilog |
//! |---|---|
//! | `reg`, `wire` | `logic`; a `wire` that is declared with its value stays one |
//! | `always @(*)` | `always_comb` |
//! | `always @(posedge ...)` | `always_ff @(posedge ...)`, but not beside an `initial` block, which may write what it writes |

/// Returns the text of a module as SystemVerilog.
pub(crate) fn system_verilog(text: &str) -> String {
    let has_initial = text.lines().any(|line| line.trim_start().starts_with("initial "));
    text.lines().map(|text| line(text, has_initial) + "\n").collect()
}

fn line(text: &str, has_initial: bool) -> String {
    let code = text.trim_start();
    let indent = &text[..text.len() - code.len()];
    let rules = [
        ("always @(*)", "always_comb"),
        ("input  wire", "input  logic"),
        ("output wire", "output logic"),
        ("output reg ", "output logic"),
        ("reg ", "logic "),
    ];
    for (verilog, replacement) in rules {
        if let Some(rest) = code.strip_prefix(verilog) {
            return format!("{indent}{replacement}{rest}");
        }
    }
    match code.strip_prefix("wire ") {
        // With a value, a variable would take it once, at the start of a simulation.
        Some(rest) if !rest.contains('=') => return format!("{indent}logic {rest}"),
        _ => {}
    }
    match code.strip_prefix("always @(posedge") {
        Some(rest) if !has_initial => format!("{indent}always_ff @(posedge{rest}"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_and_types_say_what_they_are_for() {
        let verilog = "  input  wire       a_i,\n  output reg  [1:0] b_o,\n  reg c;\n  wire d;\n  wire unused = &{1'b0, d};\n  \
                       always @(*) begin : x\n  always @(posedge clk_i or negedge rst_ni) begin\n  // reg\n";
        let expected = "  input  logic       a_i,\n  output logic [1:0] b_o,\n  logic c;\n  logic d;\n  wire unused = &{1'b0, d};\n  \
                        always_comb begin : x\n  always_ff @(posedge clk_i or negedge rst_ni) begin\n  // reg\n";
        assert_eq!(system_verilog(verilog), expected);
    }

    #[test]
    fn a_process_beside_an_initial_block_stays_as_it_is() {
        let verilog = "  initial begin\n  always @(posedge clk_i) begin\n";
        assert_eq!(system_verilog(verilog), verilog);
    }
}
