//! Refuses Verilog of the user that acts outside the simulation: commands, C code, and files that are opened or written.
//!
//! The compiled Verilog runs in the simulator's process. It may print and read memory images (`$readmemh`, `$readmemb`).
//! Other tasks that reach the system are refused with file and line.
use crate::tool::ToolError;
use std::path::PathBuf;

/// System tasks and functions that are refused.
const REFUSED: [&str; 23] = [
    "$system",
    "$fopen",
    "$fclose",
    "$fread",
    "$fscanf",
    "$fgets",
    "$fgetc",
    "$ungetc",
    "$fseek",
    "$ftell",
    "$rewind",
    "$feof",
    "$ferror",
    "$writememh",
    "$writememb",
    "$dumpfile",
    "$dumpvars",
    "$dumpall",
    "$dumpon",
    "$dumpoff",
    "$dumpflush",
    "$dumplimit",
    "$dumpports",
];

/// Prefix of Verilator's directives that insert C++.
const C_DIRECTIVE: &str = "`systemc_";

/// Checks preprocessed Verilog, which has `` `line `` markers.
///
/// # Errors
/// [`ToolError::Outside`] names the file, the line and the first word that is refused.
pub(crate) fn check(text: &str) -> Result<(), ToolError> {
    let (mut file, mut line) = (PathBuf::new(), 0);
    let mut within = Within::Code;
    let mut before = String::new();
    for text in text.lines() {
        line += 1;
        if let Some(marker) = text.strip_prefix("`line ") {
            // The marker contains the number of the next line, its file and a level.
            let (number, name) = marker.split_once(' ').unwrap_or((marker, ""));
            line = number.parse::<usize>().map_or(line, |next| next.saturating_sub(1));
            if let Some((name, _)) = name.trim_start_matches('"').rsplit_once('"') {
                file = PathBuf::from(name);
            }
            continue;
        }
        for word in words(text, &mut within) {
            let is_foreign = matches!(before.as_str(), "import" | "export") && word.starts_with('"');
            if is_foreign || is_refused(word) {
                let word = if is_foreign { format!("{before} {word}") } else { word.to_string() };
                return Err(ToolError::Outside { file, line, word });
            }
            before = word.to_string();
        }
    }
    Ok(())
}

/// Returns whether a single word reaches the system. Verilator's `$c` and `$c32` insert C++ into an expression.
fn is_refused(word: &str) -> bool {
    let is_c = word.strip_prefix("$c").is_some_and(|rest| rest.bytes().all(|c| c.is_ascii_digit()));
    is_c || REFUSED.contains(&word) || word.starts_with(C_DIRECTIVE)
}

/// The construct at the end of a line, which continues on the next one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Code,
    Comment,
    String,
}

/// Returns the words, strings and symbols of a line, without comments and blanks. `within` is the construct at its start.
fn words<'a>(line: &'a str, within: &mut Within) -> Vec<&'a str> {
    let is_in_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = match *within {
            Within::Comment => rest.find("*/").map(|at| at + 2),
            Within::String => string_end(rest),
            Within::Code => Some(0),
        };
        let Some(end) = end else { break };
        if *within != Within::Code {
            *within = Within::Code;
            rest = &rest[end..];
            continue;
        }
        let length = match first {
            '/' if rest.starts_with("//") => break,
            '/' if rest.starts_with("/*") => {
                *within = Within::Comment;
                rest = &rest[2..];
                continue;
            }
            '"' => match string_end(&rest[1..]) {
                Some(end) => 1 + end,
                None => {
                    *within = Within::String;
                    words.push(rest);
                    break;
                }
            },
            // An escaped name ends at a blank.
            '\\' => rest.find(char::is_whitespace).unwrap_or(rest.len()),
            '`' => 1 + rest[1..].find(|c| !is_in_word(c)).unwrap_or(rest.len() - 1),
            c if is_in_word(c) => rest.find(|c| !is_in_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (word, more) = rest.split_at(length);
        if !word.trim().is_empty() {
            words.push(word);
        }
        rest = more;
    }
    words
}

/// Returns the index after the closing quote of a string, or `None` if the string continues on the next line.
fn string_end(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' if !is_escaped => return Some(at + 1),
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::check;

    /// Returns the refusal of line 4 of a file.
    fn refusal(line: &str) -> Option<String> {
        let text = format!("`line 1 \"/u/my own.v\" 1\n\n\nmodule m;\n{line}\nendmodule\n");
        check(&text).err().map(|error| error.to_string())
    }

    #[test]
    fn what_acts_outside_the_simulation_is_refused_with_file_and_line() {
        let words = ["$system", "$fopen", "$writememh", "$dumpvars", "$c", "$c32", "`systemc_header"];
        for word in words {
            let said = refusal(&format!("  initial {word}(\"x\");")).unwrap_or_default();
            assert!(said.starts_with(&format!("/u/my own.v:4: `{word}`: ")), "{word}: {said}");
        }
        let said = refusal("  import \"DPI-C\" function int system(input string s);").unwrap_or_default();
        assert!(said.contains(":4: `import \"DPI-C\"`: "), "{said}");
    }

    #[test]
    fn text_names_and_harmless_tasks_pass() {
        for line in [
            "  initial $display(\"$system %s \\\" $fopen\", x);",
            "  // $system",
            "  /* $system",
            "  wire a$system; wire \\$system ; import p::*;",
            "  initial begin $readmemh(\"a.hex\", m); $fdisplay(1, $clog2(x), $countones(y)); end",
        ] {
            assert_eq!(refusal(line), None, "{line}");
        }
    }

    #[test]
    fn lines_in_comments_and_strings_count() {
        let said = refusal("/* a\n b */ initial $display(\"x\\\n$fopen\"); initial $system(\"ls\");");
        assert!(said.as_deref().unwrap_or_default().contains(":6: `$system`"), "{said:?}");
    }
}
