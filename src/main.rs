//! The command `selvedge`: a thin shell around the crates that do the work.
// These macros panic where nothing can be printed; `output` prints instead.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod area_command;
mod area_depth;
mod area_energy;
mod area_report;
mod area_system;
mod bounds;
mod cli;
mod compare_command;
mod config_command;
mod energy_from;
mod error;
mod fidelity_command;
mod gen_command;
mod interrupt;
mod isolated;
mod list;
mod new_command;
mod output;
mod plot;
mod progress;
mod run_command;
mod stats_command;
mod table;
mod together_command;
mod trace_command;
mod wave_command;

use clap::Parser;
use cli::{Cli, Command};
use error::Failure;
use std::process::ExitCode;

/// Does what the options ask for. Commands that simulate or run other programs stop by themselves when a signal comes.
fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Run(_) | Command::Compare(_) | Command::Area(_) | Command::Trace(_) => {}
        _ => interrupt::end_on_signal()?,
    }
    match command {
        Command::Run(options) => run_command::run(options),
        Command::Compare(options) => compare_command::run(options),
        Command::New(options) => new_command::run(options),
        Command::Gen(options) => gen_command::run(options),
        Command::Area(options) => area_command::run(options),
        Command::Wave(options) => wave_command::run(options),
        Command::Trace(options) => trace_command::run(options),
        Command::Config(options) => config_command::run(options),
        Command::Fidelity(options) => fidelity_command::run(options),
        Command::List(options) => list::run(options),
        Command::Stats(options) => stats_command::run(options),
    }
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => return error::clap_exit(&e),
    };
    match run(&cli.command.unwrap_or(Command::Run(Box::new(cli.run)))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
