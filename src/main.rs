//! The command `selvedge`: a thin shell around the crates that do the work.
// These macros panic where nothing can be printed; `output` prints instead.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod area_command;
mod area_depth;
mod area_energy;
mod area_report;
mod area_system;
mod cli;
mod compare_command;
mod config_command;
mod energy_from;
mod error;
mod fidelity_command;
mod gen_command;
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
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => return error::clap_exit(&e),
    };
    let done = match cli.command.unwrap_or(Command::Run(Box::new(cli.run))) {
        Command::Run(options) => run_command::run(&options),
        Command::Compare(options) => compare_command::run(&options),
        Command::New(options) => new_command::run(&options),
        Command::Gen(options) => gen_command::run(&options),
        Command::Area(options) => area_command::run(&options),
        Command::Wave(options) => wave_command::run(&options),
        Command::Trace(options) => trace_command::run(&options),
        Command::Config(options) => config_command::run(&options),
        Command::Fidelity(options) => fidelity_command::run(&options),
        Command::List(options) => list::run(&options),
        Command::Stats(options) => stats_command::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
