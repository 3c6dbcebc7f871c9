//! The command `selvedge` as a library. A program can add mechanisms and blocks to all of its commands.
//!
//! ```no_run
//! // In a crate that `selvedge init` has written, `mine` has a block and a mechanism:
//! // selvedge::Cli::new().block::<mine::Block>().mechanism::<mine::Mechanism>().main()
//! selvedge::Cli::new().main();
//! ```
//!
//! [`selvedge_hw`](hw) defines the interface of blocks and the kit for RTL. [`selvedge_blocks`](blocks) has the
//! built-in blocks, [`selvedge_sim`](sim) the GPU and the interface of mechanisms. [`selvedge_gen`](verilog) is the
//! Verilog back end, and [`selvedge_area`](area) the flow for area, timing and energy.
// These macros panic if printing fails; `output` prints instead.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod area_command;
mod area_pages;
mod area_system;
mod arguments;
mod batch_watch;
#[cfg(unix)]
mod bench;
mod bounds;
mod calibrate;
mod checkpoint_options;
mod classify;
mod command_line;
mod compare_command;
mod config_command;
#[cfg(target_os = "linux")]
mod cuda_command;
mod doctor_command;
mod energy_from;
mod error;
mod examples;
mod fidelity_command;
mod functional_command;
mod gen_command;
mod init_command;
mod interrupt;
mod isolated;
mod latency_from;
mod list;
mod mechanism_list;
mod new_command;
mod output;
mod plot;
mod progress;
mod progress_line;
mod report;
mod reproduce;
mod run_command;
mod schema;
mod set_option;
mod shell_command;
mod stats_command;
mod study_command;
#[cfg(unix)]
mod suite;
mod together_command;
mod trace_command;
mod trace_events;
mod value_parsers;
mod verify_command;
mod verilog_option;
mod wave_command;

use arguments::Command;
use error::Failure;
use selvedge_hw::registry::Entry;
use selvedge_hw::{BlockEntry, HwBlock, NameTaken};
use selvedge_sim::mechanism::{self, Mechanism};
use std::process::ExitCode;

pub use selvedge_area as area;
pub use selvedge_blocks as blocks;
pub use selvedge_gen as verilog;
pub use selvedge_hw as hw;
pub use selvedge_sim as sim;

/// The command, with blocks and mechanisms in addition to the built-in ones.
#[derive(Debug, Default)]
pub struct Cli {
    /// First added name that was already taken.
    taken: Option<NameTaken>,
}

impl Cli {
    /// Returns the command with the built-in blocks and mechanisms.
    pub fn new() -> Self {
        Cli::default()
    }

    /// Adds a block for `gen`, `verify`, `wave`, `area` and `list blocks`.
    #[must_use]
    pub fn block<B: HwBlock>(self) -> Self {
        self.add(selvedge_blocks::add(const { &Entry::<B>::NEW as &dyn BlockEntry }))
    }

    /// Adds a mechanism for `run`, `compare`, `area --mechanisms` and `list mechanisms`.
    #[must_use]
    pub fn mechanism<M: Mechanism>(self) -> Self {
        self.add(mechanism::add::<M>())
    }

    fn add(self, added: Result<(), NameTaken>) -> Self {
        Cli { taken: self.taken.or(added.err()) }
    }

    /// Executes the command of the program's arguments, and returns its exit code.
    pub fn main(self) -> ExitCode {
        if let Some(taken) = self.taken {
            return Failure::usage(taken).report();
        }
        let arguments = match command_line::parse(std::env::args_os()) {
            Ok(arguments) => arguments,
            Err(code) => return code,
        };
        match run(&arguments.command) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.report(),
        }
    }
}

/// Executes the command. Commands that simulate or run other programs handle signals themselves.
fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Run(_)
        | Command::Compare(_)
        | Command::Calibrate(_)
        | Command::Classify(_)
        | Command::Area(_)
        | Command::Study(_)
        | Command::Reproduce(_)
        | Command::Trace(_) => execute(command),
        #[cfg(target_os = "linux")]
        Command::Cuda(_) => execute(command),
        _ => {
            interrupt::end_on_signal()?;
            let result = execute(command);
            interrupt::yield_to_signal();
            result
        }
    }
}

fn execute(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Run(options) => run_command::run(options),
        #[cfg(target_os = "linux")]
        Command::Cuda(options) => cuda_command::run(options),
        #[cfg(unix)]
        Command::Suite(options) => suite::run(options),
        Command::Compare(options) => compare_command::run(options),
        Command::Classify(options) => classify::run(options),
        Command::Report(options) => report::run(options),
        Command::Init(options) => init_command::run(options),
        Command::New(options) => new_command::run(options),
        Command::Gen(options) => gen_command::run(options),
        Command::Area(options) => area_command::run(options),
        Command::Wave(options) => wave_command::run(options),
        Command::Verify(options) => verify_command::run(options),
        Command::Trace(options) => trace_command::run(options),
        Command::Config(options) => config_command::run(options),
        Command::Fidelity(options) => fidelity_command::run(options),
        Command::Calibrate(options) => calibrate::run(options),
        Command::List(options) => list::run(options),
        Command::Stats(options) => stats_command::run(options),
        Command::Doctor => doctor_command::run(),
        Command::Completions { shell } => shell_command::completions(*shell),
        Command::Man { output } => shell_command::man(output),
        Command::Study(options) => study_command::run(options),
        Command::Reproduce(options) => reproduce::run(options),
        Command::Schema(options) => schema::run(options),
        #[cfg(unix)]
        Command::Bench(options) => bench::run(options),
    }
}
