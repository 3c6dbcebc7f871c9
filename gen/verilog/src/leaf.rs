//! Writes clocked processes in each reset style, and parses hand-written leaves.

use crate::options::ResetStyle;
use crate::verilog::{Code, CodeToken, Declaration, Head, Item, VerilogBlock};
use num_bigint::BigUint;
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
    if line == "generate" {
        let body = parse(lines);
        lines.next();
        return Item::Enclosed(code(line), body, "endgenerate".into());
    }
    if let Some((first, label)) = line.split_once("begin") {
        let mut blocks = vec![block(first, label, lines)];
        while let Some(next) = lines.next().and_then(|line| line.strip_prefix("end else ")) {
            let (first, label) = next.split_once("begin").unwrap_or((next, ""));
            blocks.push(block(first, label, lines));
        }
        return Item::Blocks(blocks);
    }
    let text = line.trim_end_matches(';');
    let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
    if !["localparam", "reg", "wire", "integer"].contains(&kind) {
        return Item::Line(code(text));
    }
    let (rest, value) = before(rest, " = ");
    let (rest, last) = before(rest, " [0:");
    let last = last.map(|last| code(last.trim_end_matches(']')));
    let (range, name) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(":0] ")) {
        Some((range, name)) => (Some(code(range)), name.into()),
        None => (None, rest.into()),
    };
    let value = value.map(code);
    Item::Declaration(Declaration { kind: kind.into(), lanes: vec![], range, name, last, value })
}

/// Returns the text before a separator, and the text after it if there is one.
fn before<'a>(text: &'a str, separator: &str) -> (&'a str, Option<&'a str>) {
    text.split_once(separator).map_or((text, None), |(before, after)| (before, Some(after)))
}

/// Parses a block after the line with `begin`.
fn block<'a>(first: &str, label: &str, lines: &mut Peekable<impl Iterator<Item = &'a str>>) -> VerilogBlock {
    let first = first.trim();
    let counting = first.strip_prefix("for (").and_then(|text| text.strip_suffix(')'));
    let parts: Vec<&str> = counting.into_iter().flat_map(|text| text.split("; ")).collect();
    let head = match (parts.as_slice(), first.strip_prefix("always ")) {
        ([from, test, next], _) => {
            let ((variable, from), (_, next)) = (before(from, " = "), before(next, " = "));
            Head::For(variable.into(), [from.unwrap_or(""), test, next.unwrap_or("")].map(code))
        }
        (_, Some(events)) => Head::Always(code(events)),
        _ => Head::Other(code(first)),
    };
    let label = label.trim().strip_prefix(": ").map(String::from);
    VerilogBlock { head, label, body: parse(lines) }
}

/// Returns the number of bytes at the start of `text` that satisfy `test`.
fn span(text: &str, test: impl Fn(u8) -> bool) -> usize {
    text.bytes().position(|c| !test(c)).unwrap_or(text.len())
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_' || c == b'$'
}

/// Returns the code of a hand-written text.
fn code(text: &str) -> Code {
    let (mut out, mut rest) = (vec![], text);
    while let Some(first) = rest.chars().next() {
        let digits = span(rest, |c| c.is_ascii_digit());
        let length = match first {
            _ if digits > 0 && rest[digits..].starts_with('\'') => {
                digits + 1 + span(&rest[digits + 1..], is_word)
            }
            c if c.is_ascii() && is_word(c as u8) => span(rest, is_word),
            c => c.len_utf8(),
        };
        let (piece, more) = rest.split_at(length);
        rest = more;
        let number = piece[..digits.min(length)].parse::<i64>().ok();
        let literal = piece.split_once('\'').and_then(|(_, value)| value_of(value));
        out.push(match (number, literal) {
            (Some(bits), Some(value)) => CodeToken::Literal(bits, value, piece.into()),
            (Some(number), None) if number.to_string() == piece => CodeToken::Number(number),
            _ => CodeToken::Text(piece.into()),
        });
    }
    Code(out)
}

/// Returns the value of a literal without its width: `d12`, `hff`, `b101`. Returns `None` if it has unknown bits or a sign.
fn value_of(text: &str) -> Option<BigUint> {
    let (base, digits) = text.split_at_checked(1)?;
    let radix = match base {
        "d" => 10,
        "h" => 16,
        "b" => 2,
        _ => return None,
    };
    BigUint::parse_bytes(digits.as_bytes(), radix)
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn tokens_give_the_text_back() {
        let text = "x[3:0] = {2{8'd0}} ^ 12'habc + 4'bx0 ? \"5\" : 007";
        assert_eq!(code(text).to_string(), text);
    }
}
