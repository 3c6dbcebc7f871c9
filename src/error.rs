//! How the command fails: one line on standard error and an exit code.
use crate::interrupt;
use selvedge_sim::printable::{printable, shortened};
use std::fmt::Display;
use std::process::ExitCode;

/// A failure with its exit code.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// A mistake of the user: options, files, PTX, parameters. Exit code 2.
    pub fn usage(message: impl Display) -> Self {
        Failure { code: 2, message: message.to_string() }
    }

    /// A fault of the simulated program or machine. Exit code 3.
    pub fn simulation(message: impl Display) -> Self {
        Failure { code: 3, message: message.to_string() }
    }

    /// The device's results differ from the CPU reference. Exit code 1.
    pub fn mismatch(message: impl Display) -> Self {
        Failure { code: 1, message: message.to_string() }
    }

    /// Stopped by a signal: Ctrl-C, or the end that a batch system or a closed terminal makes. Exit code 130, 143 or 129, as
    /// shells have it.
    pub fn interrupted(message: impl Display) -> Self {
        Failure { code: interrupt::exit_code(), message: message.to_string() }
    }

    /// Prints the one line and gives the exit code.
    pub fn report(&self) -> ExitCode {
        eprintln!("selvedge: {}", one_line(&self.message));
        ExitCode::from(self.code)
    }
}

/// Longest word of a message, and longest message, in characters.
const LONGEST: [usize; 2] = [200, 8000];

/// Returns `text` as one line of bounded length that a terminal only shows, whatever it quotes.
pub fn one_line(text: &str) -> String {
    let [word, line] = LONGEST;
    let words: Vec<_> = text.split_whitespace().map(|text| shortened(text, word)).collect();
    shortened(&printable(&words.join(" ")), line).into_owned()
}

/// clap's own answer: help and version as they are, a mistake as one line.
pub fn clap_exit(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind::{DisplayHelp, DisplayVersion};
    if matches!(error.kind(), DisplayHelp | DisplayVersion) {
        // A closed pipe is no reason to fail.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.to_string();
    let body = text.split("\n\nUsage").next().unwrap_or(&text);
    let body = body.split("\n\nFor more").next().unwrap_or(body);
    Failure::usage(body.trim_start_matches("error: ")).report()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_short_line_that_a_terminal_only_shows() {
        assert_eq!(one_line("a\n  b\t\u{1b}[2Jc\0"), "a b \\u{1b}[2Jc\\u{0}");
        let key = "k".repeat(900_000);
        let line = one_line(&format!("my.toml:3: unknown field `{key}`, expected one of `name`"));
        assert!(line.starts_with("my.toml:3: unknown field `kkk") && line.len() < 300, "{line}");
        assert!(line.contains("kkk...kkk") && line.ends_with("k`, expected one of `name`"), "{line}");
        assert_eq!(one_line(&"\u{1b} ".repeat(900_000)).chars().count(), 7999);
    }
}
