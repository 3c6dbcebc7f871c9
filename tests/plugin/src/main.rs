//! Selvedge's command with its own block and mechanism: loads bypass the L1D while nothing hits there.
mod block;
mod mechanism;
#[cfg(test)]
mod tests;

fn main() -> std::process::ExitCode {
    selvedge::Cli::new().block::<block::StreamFilterBlock>().mechanism::<mechanism::StreamFilter>().main()
}
