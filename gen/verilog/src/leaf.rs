//! Writes clocked processes in each reset style, and parses hand-written leaves.

use crate::options::ResetStyle;
use crate::verilog::{Block, Code, Head, Item, Signal};
use std::iter::Peekable;

/// Returns the events of a clocked process.
pub(crate) fn events(reset: ResetStyle, clock: &str) -> String {
    match reset {
        ResetStyle::Control | ResetStyle::AsyncLow => format!("@(posedge {clock} or negedge rst_ni)"),
        ResetStyle::SyncHigh | ResetStyle::None => format!("@(posedge {clock})"),
    }
}

/// Returns the condition of the reset branch.
pub(crate) fn reset_test(reset: ResetStyle) -> Option<&'static str> {
    match reset {
        ResetStyle::Control | ResetStyle::AsyncLow => Some("!rst_ni"),
        ResetStyle::SyncHigh => Some("rst_i"),
        ResetStyle::None => None,
    }
}

/// Returns the items of a leaf's body, with directives expanded.
pub(crate) fn items(template: &str, reset: ResetStyle) -> Vec<Item> {
    let clocked = format!("always {} begin", events(reset, "clk_i"));
    let test = reset_test(reset).map(|test| format!("if ({test}) begin"));
    let mut lines = vec![];
    let mut skip = false;
    for line in template.lines().map(str::trim) {
        match (line, &test) {
            ("@clocked", _) => lines.push(clocked.as_str()),
            ("@reset", Some(test)) => lines.push(test),
            ("@reset", None) => skip = true,
            ("@else", Some(_)) => lines.push("end else begin"),
            ("@else", None) => skip = false,
            ("@end", Some(_)) => lines.extend(["end", "end"]),
            ("@end", None) => lines.push("end"),
            (directive, test) if directive.starts_with("@initial ") => {
                lines.extend(directive.get(1..).filter(|_| test.is_none()));
            }
            _ if skip => {}
            _ => lines.push(line),
        }
    }
    parse(&mut lines.into_iter().peekable())
}

/// Parses lines up to `end`.
fn parse<'a>(lines: &mut Peekable<impl Iterator<Item = &'a str>>) -> Vec<Item> {
    let mut items = vec![];
    while let Some(line) = lines.next_if(|line| !line.starts_with("end")) {
        items.push(item(line, lines));
    }
    items
}

/// Parses the item that begins with a line.
fn item<'a>(line: &str, lines: &mut Peekable<impl Iterator<Item = &'a str>>) -> Item {
    if line.is_empty() {
        return Item::Blank;
    }
    if let Some(comment) = line.strip_prefix("//") {
        return Item::Comment(comment.trim().into());
    }
    if line == "initial begin" || line == "generate" {
        let body = parse(lines);
        lines.next();
        let is_generate = line == "generate";
        return if is_generate {
            Item::Enclosed(Code::of(line), body, "endgenerate")
        } else {
            Item::Initial(body)
        };
    }
    if let Some((first, label)) = line.split_once("begin") {
        let mut blocks = vec![block(first, label, lines)];
        while let Some(next) = lines.next().and_then(|line| line.strip_prefix("end else ")) {
            let (first, label) = next.split_once("begin").unwrap_or((next, ""));
            blocks.push(block(first, label, lines));
        }
        return Item::Blocks(blocks);
    }
    let code = line.trim_end_matches(';');
    let (word, rest) = code.split_once(' ').unwrap_or((code, ""));
    match word {
        "localparam" => {
            let (declared, value) = rest.split_once(" = ").unwrap_or((rest, ""));
            let (range, name) = declaration(declared);
            Item::Constant { range, name, value: Code::of(value) }
        }
        "reg" | "wire" => {
            let (declared, last) = match rest.split_once(" [0:") {
                Some((declared, last)) => (declared, Some(Code::of(last.trim_end_matches(']')))),
                None => (rest, None),
            };
            let (declared, value) = match declared.split_once(" = ") {
                Some((declared, value)) => (declared, Some(Code::of(value))),
                None => (declared, None),
            };
            let (range, name) = declaration(declared);
            Item::Signal(Signal { kind: word.into(), range, name, last, value })
        }
        "integer" => Item::Counter(rest.into()),
        "initial" => Item::Initial(vec![Item::Line(Code::of(rest))]),
        _ => Item::Line(Code::of(code)),
    }
}

/// Parses a block after the line with `begin`.
fn block<'a>(first: &str, label: &str, lines: &mut Peekable<impl Iterator<Item = &'a str>>) -> Block {
    let first = first.trim();
    let counting = first.strip_prefix("for (").and_then(|text| text.strip_suffix(')'));
    let parts: Vec<&str> = counting.into_iter().flat_map(|text| text.split("; ")).collect();
    let assigned = |part: &str| part.split_once(" = ").map(|(_, value)| Code::of(value)).unwrap_or_default();
    let head = match (parts.as_slice(), first.strip_prefix("always ")) {
        ([from, test, next], _) => Head::For {
            variable: from.split(' ').next().unwrap_or_default().into(),
            from: assigned(from),
            test: Code::of(test),
            next: assigned(next),
        },
        (_, Some("@(*)")) => Head::Combinational,
        (_, Some(events)) => Head::Clocked(Code::of(events)),
        _ => Head::Other(Code::of(first)),
    };
    let label = label.trim().strip_prefix(": ").map(String::from);
    Block { head, label, body: parse(lines) }
}

/// Returns the index of the highest bit, and the name: `[7:0] NAME`.
fn declaration(text: &str) -> (Option<Code>, String) {
    match text.strip_prefix('[').and_then(|text| text.split_once(":0] ")) {
        Some((range, name)) => (Some(Code::of(range)), name.into()),
        None => (None, text.into()),
    }
}
