//! How the command fails: one line on standard error and an exit code.
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

    /// Stopped by Ctrl-C. Exit code 130, as shells expect.
    pub fn interrupted(message: impl Display) -> Self {
        Failure { code: 130, message: message.to_string() }
    }

    /// Prints the one line and gives the exit code.
    pub fn report(&self) -> ExitCode {
        eprintln!("selvedge: {}", one_line(&self.message));
        ExitCode::from(self.code)
    }
}

/// Errors keep to one line, whatever they quote.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
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
