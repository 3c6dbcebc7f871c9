//! Translates the text of a module into SystemVerilog, with types and processes that state their purpose.
//!
//! | Verilog-2005 | SystemVerilog |
//! |---|---|
//! | `reg`, `wire` | `logic`; a `wire` that is declared with its value stays one |
//! | `localparam [W-1:0]`, of one bit, of no width | `localparam logic [W-1:0]`, `localparam logic`, `localparam int` |
//! | `LOW_ENTRIES`, a constant | `LowEntries` |
//! | `integer i;` and `for (i = ...` | `for (int i = ...` |
//! | an array's `[0:N]` | `[N+1]`, its size |
//! | `always @(*)` | `always_comb` |
//! | `always @(posedge ...)` | `always_ff @(posedge ...)`, except next to an `initial` block, which may write the same signals |
use crate::print::wrap_code;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the text of a module as SystemVerilog.
pub(crate) fn system_verilog(text: &str) -> String {
    let has_initial = text.lines().any(|line| line.trim_start().starts_with("initial "));
    let constants: BTreeMap<&str, String> =
        text.lines().filter_map(constant).map(|name| (name, camel_case(name))).collect();
    let counters: BTreeSet<&str> = text.lines().filter_map(counter).collect();
    let mut out = String::new();
    for text in text.lines().filter(|line| counter(line).is_none()) {
        let text = renamed(&line(text, has_initial), &constants);
        for line in wrap_code(&sized(counting(text, &counters))) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out
}

/// Returns the name of the constant that a line declares.
fn constant(line: &str) -> Option<&str> {
    let (declared, _) = line.trim_start().strip_prefix("localparam ")?.split_once(" =")?;
    declared.rsplit(' ').next()
}

/// Returns the name of the loop variable that a line declares.
fn counter(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("integer ")?.strip_suffix(';')
}

/// Returns an upper-case name in the style that guides require for constants: `LOW_ENTRIES` is `LowEntries`.
fn camel_case(name: &str) -> String {
    if !name.contains('_') {
        return name.to_owned();
    }
    let word = |word: &str| word[..1].to_owned() + &word[1..].to_lowercase();
    name.split('_').filter(|part| !part.is_empty()).map(word).collect()
}

/// Returns the line with constants renamed.
fn renamed(line: &str, constants: &BTreeMap<&str, String>) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let (mut out, mut rest) = (String::new(), line);
    while let Some(start) = rest.find(is_name) {
        let word = &rest[start..];
        let end = word.find(|c| !is_name(c)).unwrap_or(word.len());
        out.push_str(&rest[..start]);
        out.push_str(constants.get(&word[..end]).map_or(&word[..end], String::as_str));
        rest = &word[end..];
    }
    out + rest
}

/// Returns the line with the loop variable declared in the loop.
fn counting(line: String, counters: &BTreeSet<&str>) -> String {
    match line.split_once("for (") {
        Some((before, rest)) if rest.split_once(" = ").is_some_and(|(name, _)| counters.contains(name)) => {
            format!("{before}for (int {rest}")
        }
        _ => line,
    }
}

/// Returns the line with the index range of an array replaced by its size.
fn sized(line: String) -> String {
    let Some((before, last)) = line.rsplit_once(" [0:") else { return line };
    let Some(last) = last.strip_suffix("];") else { return line };
    match (last.parse::<u64>(), last.strip_suffix("-1")) {
        (Ok(last), _) => format!("{before} [{}];", last + 1),
        (_, Some(size)) => format!("{before} [{size}];"),
        _ => line,
    }
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
        ("localparam [", "localparam logic ["),
    ];
    for (verilog, replacement) in rules {
        if let Some(rest) = code.strip_prefix(verilog) {
            return format!("{indent}{replacement}{rest}");
        }
    }
    if let Some(rest) = code.strip_prefix("localparam ") {
        let kind = if rest.contains(" = 1'b") { "logic" } else { "int" };
        return format!("{indent}localparam {kind} {rest}");
    }
    match code.strip_prefix("wire ") {
        // A `wire` with a value stays a wire: a variable would take the value only once, at the start of a simulation.
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
    fn constants_and_arrays_have_types_and_sizes() {
        let verilog = "  localparam [3:0] A = 4'd1;\n  localparam N = 3;\n  localparam B = 1'b1;\n  reg [7:0] words [0:31];\n  reg x [0:2**A-1];\n  y = x[0:1];\n";
        let expected = "  localparam logic [3:0] A = 4'd1;\n  localparam int N = 3;\n  localparam logic B = 1'b1;\n  logic [7:0] words [32];\n  logic x [2**A];\n  y = x[0:1];\n";
        assert_eq!(system_verilog(verilog), expected);
    }

    #[test]
    fn loops_declare_what_counts_and_constants_have_names_of_their_own_style() {
        let verilog = "  localparam LOW_END = 3;\n  genvar g;\n  integer i;\n  for (i = 0; i < LOW_END; i = i + 1) begin\n    \
                       for (g = 0; g < LOW_END_2; g = g + 1) begin\n";
        let expected = "  localparam int LowEnd = 3;\n  genvar g;\n  for (int i = 0; i < LowEnd; i = i + 1) begin\n    \
                        for (g = 0; g < LOW_END_2; g = g + 1) begin\n";
        assert_eq!(system_verilog(verilog), expected);
    }

    #[test]
    fn longer_words_do_not_make_lines_too_long() {
        let verilog = format!("  localparam [7:0] A = {{{}}};", ["8'd1"; 12].join(", "));
        assert!(verilog.len() <= 100);
        let text = system_verilog(&verilog);
        assert!(text.lines().count() == 2 && text.lines().all(|line| line.len() <= 100), "{text}");
    }

    #[test]
    fn a_process_beside_an_initial_block_stays_as_it_is() {
        let verilog = "  initial begin\n  always @(posedge clk_i) begin\n";
        assert_eq!(system_verilog(verilog), verilog);
    }
}
