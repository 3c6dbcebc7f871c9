//! The command `selvedge`.
use selvedge::Cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    Cli::new().main()
}
