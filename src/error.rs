//! Failures of the command: a line on standard error for each, and an exit code.
use crate::interrupt;
use crate::output::say;
use selvedge_sim::printable::{printable, shortened};
use std::fmt::Display;
use std::process::ExitCode;

/// A failure with its exit code.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    messages: Vec<String>,
}

impl Failure {
    /// Returns the failure for a mistake of the user, in options, files, PTX or parameters. Exit code 2.
    pub fn usage(message: impl Display) -> Self {
        Self::new(2, message)
    }

    /// Returns the failure for a fault of the simulated program or configuration. Exit code 3.
    pub fn simulation(message: impl Display) -> Self {
        Self::new(3, message)
    }

    /// Returns the failure for device results that differ from the CPU reference. Exit code 1.
    pub fn mismatch(message: impl Display) -> Self {
        Self::new(1, message)
    }

    /// Returns whether results are wrong, or the program reported an error.
    pub fn is_mismatch(&self) -> bool {
        self.code == 1
    }

    /// Returns the failure for a command that a signal stopped: Ctrl-C, the end of a batch job, or a closed terminal.
    /// Exit code 130, 143 or 129, by the convention of shells.
    pub fn interrupted(message: impl Display) -> Self {
        Self::new(interrupt::exit_code(), message)
    }

    /// Puts the messages of `others` before this failure's messages, and keeps its exit code.
    pub fn after(mut self, others: Vec<Failure>) -> Self {
        self.messages.splice(..0, others.into_iter().flat_map(|one| one.messages));
        self
    }

    fn new(code: u8, message: impl Display) -> Self {
        Failure { code, messages: vec![message.to_string()] }
    }

    /// Prints a line for each message and returns the exit code.
    pub fn report(&self) -> ExitCode {
        for message in &self.messages {
            say(format!("selvedge: {}\n", one_line(message)));
        }
        ExitCode::from(self.code)
    }
}

/// Max length of a word in a message, and of a message, in characters.
const LONGEST: [usize; 2] = [200, 8000];

/// Returns `text` as one line of bounded length, with control characters escaped for a terminal.
pub fn one_line(text: &str) -> String {
    let [word, line] = LONGEST;
    let words: Vec<_> = text.split_whitespace().map(|text| shortened(text, word)).collect();
    shortened(&printable(&words.join(" ")), line).into_owned()
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
