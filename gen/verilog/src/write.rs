//! Prints the syntax tree of a module as Verilog-2005 or SystemVerilog.
//!
//! | Verilog-2005 | SystemVerilog |
//! |---|---|
//! | `reg`, `wire` | `logic`; a `wire` that is declared with its value stays one |
//! | `localparam [W-1:0]`, of one bit, of no width | `localparam logic [W-1:0]`, `localparam logic`, `localparam int` |
//! | `LOW_ENTRIES`, `SUM`, constants | `LowEntries`, `Sum` |
//! | `integer i;` and `for (i = ...` | `for (int i = ...` |
//! | constants that are all the values of a signal | `typedef enum logic [W-1:0] {...}` |
//! | an array's `[0:N]` | `[N+1]`, its size |
//! | `[N*W-1:0]` of a vector of lanes, `x[i*W +: W]` | `[N-1:0][W-1:0]`, `x[i]` |
//! | `always @(*)` | `always_comb` |
//! | `always @(posedge ...)` | `always_ff @(posedge ...)`, except next to an `initial` block, which may write the same signals |

use crate::options::Language;
use crate::verilog::{
    Body, Code, CodeToken, Declaration, EnumerationType, EnumerationValue, Head, Item, ModuleInstance,
    VerilogBlock,
};
use std::collections::{BTreeMap, BTreeSet};

/// Columns of an indentation step.
const STEP: usize = 2;
/// Max length of a line.
pub(crate) const COLUMNS: usize = 100;

/// Returns the text of a module from `module` to `endmodule`. `modules` are the names of the modules that it may instantiate.
pub(crate) fn module_text(name: &str, body: &Body, modules: &[String], language: Language) -> String {
    let is_sv = language == Language::SystemVerilog;
    let mut writer = VerilogWriter {
        is_sv,
        has_initial: false,
        constants: BTreeMap::new(),
        counters: BTreeSet::new(),
        modules,
        lines: vec![],
        indent: 0,
    };
    if is_sv {
        writer.collect(&body.items);
    }
    writer.module(name, body);
    writer.lines.join("\n") + "\n"
}

struct VerilogWriter<'a> {
    is_sv: bool,
    has_initial: bool,
    /// Constants with their names in SystemVerilog.
    constants: BTreeMap<&'a str, String>,
    /// Loop variables that SystemVerilog declares in the loop.
    counters: BTreeSet<&'a str>,
    modules: &'a [String],
    lines: Vec<String>,
    indent: usize,
}

impl<'a> VerilogWriter<'a> {
    fn collect(&mut self, items: &'a [Item]) {
        for item in items {
            match item {
                Item::Declaration(Declaration { kind, name, .. }) if kind == "localparam" => {
                    self.constants.insert(name, camel_case(name));
                }
                Item::Declaration(Declaration { kind, name, .. }) if kind == "integer" => {
                    self.counters.insert(name);
                }
                Item::Enumeration(EnumerationType { values, .. }) => {
                    self.constants.extend(values.iter().map(|value| (&*value.name, camel_case(&value.name))));
                }
                Item::Line(code) => self.has_initial |= is_initial(code),
                Item::Blocks(blocks) => {
                    for block in blocks {
                        self.has_initial |= matches!(&block.head, Head::Other(code) if is_initial(code));
                        self.collect(&block.body);
                    }
                }
                Item::Enclosed(_, body, _) => self.collect(body),
                _ => {}
            }
        }
    }

    fn module(&mut self, name: &str, body: &'a Body) {
        if body.parameters.is_empty() {
            self.line(format!("module {name} ("));
        } else {
            self.line(format!("module {name} #("));
            self.list(&body.parameters);
            self.line(") (".into());
        }
        self.list(&body.ports);
        self.line(");".into());
        self.lines.push(String::new());
        self.indented(|w| w.items(&body.items));
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
        self.line("endmodule".into());
    }

    /// Writes the declarations of parameters or ports. Aligns their ranges to the right.
    fn list(&mut self, items: &[Item]) {
        let ranges = items.iter().filter_map(Item::declaration).map(|item| self.range(item).len());
        let column = ranges.max().unwrap_or(0);
        self.indented(|w| {
            for (position, item) in items.iter().enumerate() {
                let comma = if position + 1 < items.len() { "," } else { "" };
                match item {
                    Item::Comment(text) => w.comment(text),
                    Item::Declaration(item) => w.line(w.declaration(item, column) + comma),
                    _ => {}
                }
            }
        });
    }

    fn items(&mut self, items: &'a [Item]) {
        items.iter().for_each(|item| self.item(item));
    }

    fn item(&mut self, item: &'a Item) {
        match item {
            Item::Blank => {
                if self.lines.last().is_some_and(|last| !last.is_empty()) {
                    self.lines.push(String::new());
                }
            }
            Item::Comment(text) => self.comment(text),
            Item::Declaration(item) if self.is_sv && item.kind == "integer" => {}
            Item::Declaration(item) => self.line(self.declaration(item, 0) + ";"),
            Item::Enumeration(declared) => self.enumeration(declared),
            Item::Line(code) if is_directive(code) => self.lines.push(code.to_string()),
            Item::Line(code) => self.line(format!("{};", self.code(code))),
            Item::Blocks(blocks) => {
                let mut before = "";
                for VerilogBlock { head, label, body } in blocks {
                    let label = label.as_ref().map(|label| format!(" : {label}")).unwrap_or_default();
                    self.line(format!("{before}{}begin{label}", self.head(head)));
                    self.indented(|w| w.items(body));
                    before = "end else ";
                }
                self.line("end".into());
            }
            Item::Enclosed(head, body, end) => {
                self.line(self.code(head));
                self.indented(|w| w.items(body));
                self.line(end.clone());
            }
            Item::Instance(instance) => self.instance(instance),
        }
    }

    /// Returns a declaration with its range aligned to the right in `column` columns.
    fn declaration(&self, declaration: &Declaration, column: usize) -> String {
        let Declaration { kind, range, name, last, value, .. } = declaration;
        let is_sized = range.is_some()
            || matches!(value.as_ref().map(|value| &value.0[..]), Some([CodeToken::Literal(..)]));
        let kind = match kind.as_str() {
            kind if !self.is_sv => kind,
            "localparam" if is_sized => "localparam logic",
            "localparam" => "localparam int",
            "parameter" => "parameter logic",
            // A `wire` with a value stays a wire: a variable would take the value only once, at the start of a simulation.
            "wire" if value.is_some() => kind,
            "reg" | "wire" => "logic",
            "input  wire" => "input  logic",
            "output wire" | "output reg " => "output logic",
            kind => kind,
        };
        let words = match last.as_ref().map(|last| &last.0[..]) {
            None => String::new(),
            Some([CodeToken::Number(last)]) if self.is_sv => format!(" [{}]", last + 1),
            Some([size @ .., minus, CodeToken::Number(1)]) if self.is_sv && minus.text() == "-" => {
                format!(" [{}]", self.code(&Code(size.to_vec())))
            }
            Some(last) => format!(" [0:{}]", self.code(&Code(last.to_vec()))),
        };
        let value = value.as_ref().map(|value| format!(" = {}", self.code(value))).unwrap_or_default();
        let (range, name) = (self.range(declaration), self.name(name));
        let range = if range.is_empty() && (column == 0 || kind.contains('.')) {
            range
        } else {
            format!("{range:>column$} ")
        };
        format!("{kind} {range}{name}{words}{value}")
    }

    fn enumeration(&mut self, declared: &EnumerationType) {
        let EnumerationType { name, range, values } = declared;
        let range = range.as_ref().map(|highest| format!(" [{}:0]", self.code(highest))).unwrap_or_default();
        self.line(format!("typedef enum logic{range} {{"));
        self.indented(|w| {
            for (position, EnumerationValue { comments, name, value }) in values.iter().enumerate() {
                comments.iter().for_each(|text| w.comment(text));
                let comma = if position + 1 < values.len() { "," } else { "" };
                w.line(format!("{} = {}{comma}", w.name(name), w.code(value)));
            }
        });
        self.line(format!("}} {name};"));
    }

    /// Returns the text before `begin`.
    fn head(&self, head: &Head) -> String {
        match head {
            Head::Always(events) => match (self.is_sv, self.code(events)) {
                (true, events) if events == "@(*)" => "always_comb ".into(),
                (true, events) if !self.has_initial => format!("always_ff {events} "),
                (_, events) => format!("always {events} "),
            },
            Head::For(variable, parts) => {
                let int = if self.counters.contains(variable.as_str()) { "int " } else { "" };
                let [from, test, next] = parts.each_ref().map(|code| self.code(code));
                format!("for ({int}{variable} = {from}; {test}; {variable} = {next}) ")
            }
            Head::Other(Code(tokens)) if tokens.is_empty() => String::new(),
            Head::Other(code) => self.code(code) + " ",
        }
    }

    fn instance(&mut self, instance: &ModuleInstance) {
        let ModuleInstance { module, parameters, name, pins } = instance;
        let module = &self.modules[*module];
        let values: Vec<String> =
            parameters.iter().map(|(name, value)| format!(".{name} ({})", self.code(value))).collect();
        let values = if values.is_empty() { String::new() } else { format!(" #({})", values.join(", ")) };
        let head = format!("{module}{values} {name} (");
        if values.is_empty() || self.indent * STEP + head.len() <= COLUMNS {
            self.line(head);
        } else {
            self.line(format!("{module} #("));
            self.connections(parameters, 0);
            self.line(format!(") {name} ("));
        }
        self.connections(pins, pins.iter().map(|(port, _)| port.len()).max().unwrap_or(0));
        self.line(");".into());
    }

    /// Writes parameters or pins, one per line.
    fn connections(&mut self, all: &[(String, Code)], column: usize) {
        self.indented(|w| {
            for (position, (name, value)) in all.iter().enumerate() {
                let comma = if position + 1 < all.len() { "," } else { "" };
                w.line(format!(".{name:<column$} ({}){comma}", w.code(value)));
            }
        });
    }

    /// Returns the ranges of a vector; empty for a single bit.
    fn range(&self, declaration: &Declaration) -> String {
        let ranges = declaration.lanes.iter().chain(&declaration.range);
        ranges.map(|highest| format!("[{}:0]", self.code(highest))).collect()
    }

    fn code(&self, code: &Code) -> String {
        let token = |token: &CodeToken| match token {
            CodeToken::Text(text) => self.name(text),
            _ => token.to_string(),
        };
        code.0.iter().map(token).collect()
    }

    fn name(&self, name: &str) -> String {
        self.constants.get(name).cloned().unwrap_or_else(|| name.to_string())
    }

    /// Appends a line. Breaks it at blanks if it is too long.
    fn line(&mut self, text: String) {
        self.lines.extend(wrap(&" ".repeat(self.indent * STEP), &text));
    }

    fn comment(&mut self, text: &str) {
        let lines = wrap_comment(&" ".repeat(self.indent * STEP), text);
        let lines: Vec<String> = lines.iter().map(|line| self.renamed(line)).collect();
        self.lines.extend(lines);
    }

    /// Returns the line with constants renamed.
    fn renamed(&self, line: &str) -> String {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        let (mut out, mut rest) = (String::new(), line);
        while let Some(start) = rest.find(is_name) {
            let word = &rest[start..];
            let end = word.find(|c| !is_name(c)).unwrap_or(word.len());
            out.push_str(&rest[..start]);
            out.push_str(&self.name(&word[..end]));
            rest = &word[end..];
        }
        out + rest
    }

    fn indented(&mut self, body: impl FnOnce(&mut Self)) {
        self.indent += 1;
        body(self);
        self.indent -= 1;
    }
}

/// Returns whether a statement is a compiler directive.
fn is_directive(code: &Code) -> bool {
    code.0.first().is_some_and(|token| token.text().starts_with('`'))
}

/// Returns whether a statement or head begins with `initial`.
fn is_initial(code: &Code) -> bool {
    code.0.first().is_some_and(|token| token.text().trim_end() == "initial")
}

/// Returns an upper-case name in the style that guides require for constants: `LOW_ENTRIES` is `LowEntries`, `B8D4` stays.
fn camel_case(name: &str) -> String {
    let mut after_letter = false;
    let letter = |c: char| {
        let c = if after_letter { c.to_ascii_lowercase() } else { c };
        after_letter = c.is_ascii_alphabetic();
        Some(c).filter(|c| *c != '_')
    };
    name.chars().filter_map(letter).collect()
}

/// Breaks a line of Verilog at blanks.
fn wrap(indent: &str, text: &str) -> Vec<String> {
    let mut lines = vec![];
    let mut current = format!("{indent}{text}");
    let more = format!("{indent}{}", " ".repeat(2 * STEP));
    while current.len() > COLUMNS {
        let floor = indent.len().max(more.len()) + 1;
        let at = current[..=COLUMNS].rfind(' ').filter(|at| *at > floor);
        let Some(at) = at else { break };
        let rest = format!("{more}{}", &current[at + 1..]);
        lines.push(current[..at].to_string());
        current = rest;
    }
    lines.push(current);
    lines
}

/// Returns the paragraphs of a doc comment, each joined into one line. Links of rustdoc become their text.
pub(crate) fn paragraphs(doc: &[String]) -> Vec<String> {
    let mut out: Vec<String> = vec![];
    for part in doc.split(|line| line.trim().is_empty()).filter(|part| !part.is_empty()) {
        let joined = part.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        out.push(without_links(&joined));
    }
    out
}

/// Replaces the links [`Name`] and [`Name`](path) by Name.
fn without_links(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(start) = rest.find("[`") {
        let Some(length) = rest[start + 2..].find("`]") else { break };
        let (name, after) = rest[start + 2..].split_at(length);
        let after = &after[2..];
        let target = after.strip_prefix('(').and_then(|target| target.find(')'));
        out.push_str(&rest[..start]);
        out.push_str(name);
        rest = target.map_or(after, |end| &after[end + 2..]);
    }
    out + rest
}

/// Breaks a comment at blanks. Never breaks before `verilator`: Verilator takes a comment that begins with its name as a
/// directive.
pub(crate) fn wrap_comment(indent: &str, text: &str) -> Vec<String> {
    let mut units: Vec<String> = vec![];
    for word in text.split_whitespace() {
        match units.last_mut() {
            Some(last) if word.to_lowercase().starts_with("verilator") => *last += &format!(" {word}"),
            _ => units.push(word.to_string()),
        }
    }
    let mut lines = vec![];
    let mut current = format!("{indent}//");
    for unit in units {
        if current.len() + 1 + unit.len() > COLUMNS && !current.ends_with("//") {
            lines.push(std::mem::replace(&mut current, format!("{indent}//")));
        }
        current.push(' ');
        current.push_str(&unit);
    }
    lines.push(current);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leaf;
    use crate::options::ResetStyle;

    /// Returns hand-written items in SystemVerilog, without the lines around them.
    fn system_verilog(template: &str) -> String {
        let body = Body { items: leaf::items(template, ResetStyle::None), ..Body::default() };
        let text = module_text("m", &body, &[], Language::SystemVerilog);
        let inner =
            text.strip_prefix("module m (\n);\n\n").and_then(|text| text.strip_suffix("\nendmodule\n"));
        inner.expect("a module without ports").to_string()
    }

    #[test]
    fn processes_and_types_say_what_they_are_for() {
        let verilog = "reg c;\nwire d;\nwire unused = &{1'b0, d};\nalways @(*) begin : x\nend\n\
                       always @(posedge clk_i or negedge rst_ni) begin\nend\n// reg";
        let expected = "  logic c;\n  logic d;\n  wire unused = &{1'b0, d};\n  always_comb begin : x\n  end\n  \
                        always_ff @(posedge clk_i or negedge rst_ni) begin\n  end\n  // reg\n";
        assert_eq!(system_verilog(verilog), expected);
    }

    #[test]
    fn ports_are_aligned_and_have_types() {
        let port = |kind, range: Option<usize>, name| Item::declare(kind, range.map(Code::from), name, None);
        let ports = vec![port("input  wire", None, "a_i"), port("output reg ", Some(1), "b_o")];
        let body = Body { ports, ..Body::default() };
        let text = |language| module_text("m", &body, &[], language);
        assert!(text(Language::Verilog).contains("  input  wire       a_i,\n  output reg  [1:0] b_o\n"));
        assert!(
            text(Language::SystemVerilog).contains("  input  logic       a_i,\n  output logic [1:0] b_o\n")
        );
    }

    #[test]
    fn constants_and_arrays_have_types_and_sizes() {
        let verilog = "localparam [3:0] A = 4'd1;\nlocalparam N = 3;\nlocalparam B = 1'b1;\nreg [7:0] words [0:31];\nreg x [0:2**A-1];\ny = x[0:1];";
        let expected = "  localparam logic [3:0] A = 4'd1;\n  localparam int N = 3;\n  localparam logic B = 1'b1;\n  logic [7:0] words [32];\n  logic x [2**A];\n  y = x[0:1];\n";
        assert_eq!(system_verilog(verilog), expected);
    }

    #[test]
    fn loops_declare_what_counts_and_constants_have_names_of_their_own_style() {
        let verilog = "localparam LOW_END = 3;\ngenvar g;\ninteger i;\nfor (i = 0; i < LOW_END; i = i + 1) begin\nend\n\
                       for (g = 0; g < LOW_END_2; g = g + 1) begin\nend";
        let expected = "  localparam int LowEnd = 3;\n  genvar g;\n  for (int i = 0; i < LowEnd; i = i + 1) begin\n  end\n  \
                        for (g = 0; g < LOW_END_2; g = g + 1) begin\n  end\n";
        assert_eq!(system_verilog(verilog), expected);
    }

    #[test]
    fn longer_words_do_not_make_lines_too_long() {
        let verilog = format!("localparam [7:0] A = {{{}}};", ["8'd1"; 12].join(", "));
        assert!(verilog.len() <= COLUMNS);
        let text = system_verilog(&verilog);
        assert!(text.lines().count() == 2 && text.lines().all(|line| line.len() <= COLUMNS), "{text}");
    }

    #[test]
    fn a_process_beside_an_initial_block_stays_as_it_is() {
        let verilog = "  initial x = 1;\n  always @(posedge clk_i) begin\n  end\n";
        assert_eq!(system_verilog(verilog), verilog);
    }

    #[test]
    fn no_comment_that_is_broken_begins_with_verilator() {
        let lines = wrap_comment("", &format!("{} Verilator are", "x".repeat(COLUMNS - 4)));
        assert_eq!(lines.len(), 2);
        assert!(lines[0].ends_with("x Verilator") && lines[1] == "// are", "{lines:?}");
    }

    #[test]
    fn links_of_the_documentation_become_their_text() {
        let doc = ["Tries [`Near`](super::near::Near) of", "each [`Word`] (all).", "", "An array [0] stays."];
        let doc: Vec<String> = doc.map(String::from).to_vec();
        assert_eq!(paragraphs(&doc), ["Tries Near of each Word (all).", "An array [0] stays."]);
    }
}
