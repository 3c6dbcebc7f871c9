//! The documentation of a block: the comments of its module as Markdown.
//!
//! A block's module describes the claims and gaps of the paper, and the block's parameters, ports and timing. The block's page
//! shows the same text.

/// Returns the lines that begin with `//!` in the source text of one module, or of several concatenated modules. Replaces links
/// to items by their text, because the page has no such targets.
#[must_use]
pub fn of_module(source: &str) -> String {
    let mut text = String::new();
    let mut is_code = false;
    let mut was_documentation = false;
    for line in source.lines() {
        let Some(line) = line.strip_prefix("//!") else {
            was_documentation = false;
            continue;
        };
        if !was_documentation && !text.is_empty() {
            text.push('\n');
        }
        was_documentation = true;
        let line = line.strip_prefix(' ').unwrap_or(line);
        if line.starts_with("```") {
            is_code = !is_code;
        }
        text += &if is_code { line.to_string() } else { without_links(line) };
        text.push('\n');
    }
    text
}

/// Replaces links by their text: `[text](target)` unless the target is a URL, and items in brackets.
fn without_links(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, link)) = rest.split_once('[') {
        text += before;
        let Some((label, after)) = link.split_once(']') else {
            rest = &rest[before.len()..];
            break;
        };
        let target = after.strip_prefix('(').and_then(|after| after.split_once(')'));
        match target {
            Some((target, after)) if !target.contains("://") => {
                text += label;
                rest = after;
            }
            // Brackets of a bit range or of a URL stay.
            _ if target.is_some() || !is_item(label) => {
                text.push('[');
                rest = link;
            }
            _ => {
                text += label;
                rest = after;
            }
        }
    }
    text + rest
}

/// Returns whether the text in brackets is an item's name in backticks.
fn is_item(label: &str) -> bool {
    label.len() > 2 && label.starts_with('`') && label.ends_with('`')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comments_of_the_module_are_its_documentation() {
        let source = "//! First.\n//!\n//!     indented\n\nuse a;\n/// Not this.\nfn f() {}\n";
        assert_eq!(of_module(source), "First.\n\n    indented\n");
        assert_eq!(of_module(""), "");
    }

    #[test]
    fn modules_one_after_the_other_are_apart() {
        assert_eq!(of_module("//! One.\nuse a;\n//! Two.\n"), "One.\n\nTwo.\n");
    }

    #[test]
    fn links_become_their_text_outside_of_diagrams() {
        let source = "//! See [`Code`] and [the table](super::vft), `a_i[6]`, [6] and [x](https://x.org).\n//! ```text\n//! [`x`](y)\n//! ```\n//! [`Z`](z)";
        let expected =
            "See `Code` and the table, `a_i[6]`, [6] and [x](https://x.org).\n```text\n[`x`](y)\n```\n`Z`\n";
        assert_eq!(of_module(source), expected);
    }

    #[test]
    fn an_open_bracket_stays() {
        assert_eq!(of_module("//! from [0, 1 on"), "from [0, 1 on\n");
    }
}
