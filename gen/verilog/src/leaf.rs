//! Writes clocked processes in each reset style, and expands the directives in hand-written leaves.

use crate::options::ResetStyle;

/// Returns the head of a clocked process, up to `begin`.
pub(crate) fn clocked_head(reset: ResetStyle, clock: &str) -> String {
    match reset {
        ResetStyle::Control | ResetStyle::AsyncLow => format!("always @(posedge {clock} or negedge rst_ni)"),
        ResetStyle::SyncHigh | ResetStyle::None => format!("always @(posedge {clock})"),
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

/// Returns the lines of a leaf's body, with directives expanded.
pub(crate) fn expand(template: &str, reset: ResetStyle) -> Vec<String> {
    let mut lines = vec![];
    let mut skip = false;
    for line in template.lines() {
        match (line.trim(), reset_test(reset)) {
            ("@clocked", _) => lines.push(format!("  {} begin", clocked_head(reset, "clk_i"))),
            ("@reset", Some(test)) => lines.push(format!("    if ({test}) begin")),
            ("@reset", None) => skip = true,
            ("@else", Some(_)) => lines.push("    end else begin".into()),
            ("@else", None) => skip = false,
            ("@end", Some(_)) => lines.extend(["    end".into(), "  end".into()]),
            ("@end", None) => lines.push("  end".into()),
            (directive, test) if directive.starts_with("@initial ") => {
                if test.is_none() {
                    lines.push(format!("  initial {}", &directive["@initial ".len()..]));
                }
            }
            _ if skip => {}
            ("", _) => lines.push(String::new()),
            _ => lines.extend(crate::print::wrap("  ", line)),
        }
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}
