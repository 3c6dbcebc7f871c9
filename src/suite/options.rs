//! The options of `selvedge suite`, as clap reads them.
use crate::bounds::duration;
use crate::value_parsers::name_of;
use clap::{Args, Subcommand};
use selvedge_sim::limits::Bytes;
use selvedge_sim::workload::Size;
use std::path::PathBuf;
use std::time::Duration;

/// Options of `selvedge suite`.
#[derive(Args)]
pub struct SuiteOptions {
    /// Action of `selvedge suite`
    #[command(subcommand)]
    pub action: SuiteAction,
}

/// Actions of `selvedge suite`.
#[derive(Subcommand)]
pub enum SuiteAction {
    /// Print the suites, or the programs of one
    List(ListOptions),
    /// Report which programs and inputs a copy of the suite has
    Check(CheckOptions),
    /// Compile programs of a copy of the suite, outside its folders
    Build(BuildOptions),
    /// Run programs without timing, check their output, and write a record (.sprog) of each
    Record(RecordOptions),
}

/// Options of `selvedge suite list`.
#[derive(Args)]
pub struct ListOptions {
    /// Suite, or manifest NAME.toml [default: list all suites]
    pub suite: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `selvedge suite check`.
#[derive(Args)]
pub struct CheckOptions {
    /// Suite, or manifest NAME.toml
    pub suite: String,
    /// Folder with your copy of the suite
    #[arg(long, value_name = "DIR")]
    pub path: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `selvedge suite build`.
#[derive(Args)]
pub struct BuildOptions {
    /// Suite, or manifest NAME.toml
    pub suite: String,
    /// Programs [default: all that have the size]
    pub programs: Vec<String>,
    /// Folder with your copy of the suite
    #[arg(long, value_name = "DIR")]
    pub path: PathBuf,
    /// Size of the programs' inputs, which some programs fix when they are compiled
    #[arg(long, default_value_t = Size::Tiny, value_parser = name_of::<Size>())]
    pub size: Size,
    /// Folder for executables and logs [default: selvedge/suites in the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub build: Option<PathBuf>,
    /// CUDA toolkit, or a folder of docs/cuda/toolkit [default: the toolkit of the nvcc in PATH]
    #[arg(long, value_name = "DIR")]
    pub toolkit: Option<PathBuf>,
    /// Path of clang [default: clang-19 or clang]
    #[arg(long, value_name = "PATH")]
    pub clang: Option<PathBuf>,
    /// Max number of programs at the same time [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `selvedge suite record`.
#[derive(Args)]
pub struct RecordOptions {
    /// Options of `suite build`.
    #[command(flatten)]
    pub build: BuildOptions,
    /// Folder for the records: each is SUITE/PROGRAM-SIZE.sprog below it
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Built-in configuration (see `selvedge list configurations`) or TOML file, whose properties the programs read
    #[arg(long, default_value = "gtx480")]
    pub config: String,
    /// End a program after this time on the host, such as 90s, 10m or 2h
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Max device memory, such as 512MiB or 16GiB [default: 8GiB]
    #[arg(long, value_name = "SIZE")]
    pub max_memory: Option<Bytes>,
}
