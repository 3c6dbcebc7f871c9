//! Writes the comment at the head of a file: license, purpose of the module, parameters, and, for a block, its
//! documentation.

use crate::options::FileHeader;
use crate::write::{COLUMNS, wrap_comment};

/// Returns the SPDX line of the license, or no line without a license.
pub(crate) fn license(header: &FileHeader) -> Vec<String> {
    let line = |license: &str| format!("// SPDX-License-Identifier: {license}");
    Some(header.license.as_str()).filter(|license| !license.is_empty()).map(line).into_iter().collect()
}

/// Returns the block's Markdown documentation as comment lines. Paragraphs and list entries are wrapped, diagrams stay as
/// they are, and tables become lists.
pub(crate) fn documentation(markdown: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = markdown.lines().peekable();
    while let Some(line) = rest.next() {
        if line.starts_with("```") {
            lines.extend(rest.by_ref().take_while(|line| !line.starts_with("```")).map(verbatim));
        } else if let Some(title) = line.strip_prefix("# ") {
            lines.push(format!("// {}", title.to_uppercase()));
        } else if line.starts_with('|') {
            let head = cells(line);
            rest.next_if(|line| line.starts_with("|--") || line.starts_with("| --"));
            while let Some(row) = rest.next_if(|line| line.starts_with('|')) {
                lines.extend(entry(&labeled(&head, &cells(row))));
            }
        } else if line.trim().is_empty() {
            lines.push("//".into());
        } else {
            let mut text = line.trim().to_owned();
            let goes_on = |line: &&str| {
                let is_new =
                    ["- ", "|", "```", "# "].iter().any(|start| line.trim_start().starts_with(start));
                !line.trim().is_empty() && !is_new
            };
            while let Some(more) = rest.next_if(goes_on) {
                text += " ";
                text += more.trim();
            }
            match text.strip_prefix("- ") {
                Some(text) => lines.extend(entry(text)),
                None => lines.extend(wrap_comment("", &text)),
            }
        }
    }
    while lines.last().is_some_and(|line| line == "//") {
        lines.pop();
    }
    lines
}

/// Returns a line of a diagram as a comment.
fn verbatim(line: &str) -> String {
    format!("//   {line}").trim_end().to_owned()
}

/// Returns the cells of a row of a table.
fn cells(row: &str) -> Vec<String> {
    row.trim().trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect()
}

/// Returns a table row as text: its name, each further cell after its column title, and the last cell after a colon.
fn labeled(head: &[String], row: &[String]) -> String {
    let last = row.len() - 1;
    let mut text = row[0].clone();
    for (title, cell) in head.iter().zip(row).take(last).skip(1) {
        text += &format!(", {title} {cell}");
    }
    if last > 0 { text + ": " + &row[last] } else { text }
}

/// Returns a list entry, wrapped with its lines aligned.
fn entry(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut current = "// -".to_owned();
    for word in text.split_whitespace() {
        if current.len() + 1 + word.len() > COLUMNS {
            lines.push(std::mem::replace(&mut current, "//  ".into()));
        }
        current += " ";
        current += word;
    }
    lines.push(current);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_becomes_a_comment() {
        let markdown = "Counts `x`.\n\nWhat is\nopen:\n- First,\n  with more.\n- Second.\n\n# Parameters\n| name | default | meaning |\n|---|---|---|\n\
                        | `bits` | 8 | width |\n\n```text\na --> b\n\n     c\n```\n\n";
        let expected = "// Counts `x`.\n//\n// What is open:\n// - First, with more.\n// - Second.\n//\n// PARAMETERS\n\
                        // - bits, default 8: width\n//\n//   a --> b\n//\n//        c";
        assert_eq!(documentation(markdown).join("\n"), expected);
    }

    #[test]
    fn long_entries_are_wrapped_below_each_other() {
        let lines = entry(&"word ".repeat(60));
        assert!(lines.len() > 2 && lines.iter().all(|line| line.len() <= COLUMNS), "{lines:?}");
        assert!(lines[0].starts_with("// - word") && lines[1].starts_with("//   word"), "{lines:?}");
    }

    #[test]
    fn without_a_license_there_is_no_line_for_it() {
        assert!(license(&FileHeader::default()).is_empty());
        let header = FileHeader { license: "MIT".into(), ..FileHeader::default() };
        assert_eq!(license(&header), ["// SPDX-License-Identifier: MIT"]);
    }
}
