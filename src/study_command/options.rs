//! The options of `selvedge study`, as clap reads them.
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Options of `selvedge study`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct StudyOptions {
    /// What to do with a study; unless given: run it.
    #[command(subcommand)]
    pub action: Option<StudyAction>,
    /// The options of `study run`.
    #[command(flatten)]
    pub run: Option<StudyRunOptions>,
}

/// What `selvedge study` can do.
#[derive(Subcommand)]
pub enum StudyAction {
    /// Simulate the points that have no result yet, and print the table of all
    Run(StudyRunOptions),
    /// Count the points, and estimate how long those without a result take
    Show(StudyShowOptions),
    /// Print how many points have a result, and why others have none
    Status(StudyFile),
    /// Write the results as one table, a row for each point: CSV, JSON Lines or Parquet
    Collect(StudyCollectOptions),
    /// Simulate some points by their numbers, as a job of a cluster does
    Point(StudyPointOptions),
}

/// A study and where its results are.
#[derive(Args)]
pub struct StudyFile {
    /// The study file, NAME.toml
    pub file: PathBuf,
    /// Folder in which results are kept and looked up; unless given, selvedge/points among the user's caches
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
}

/// Options of `selvedge study run`.
#[derive(Args)]
pub struct StudyRunOptions {
    // Flattened, the file would not say that there are options of `study run`.
    /// The study file, NAME.toml
    pub file: PathBuf,
    /// Folder in which results are kept and looked up; unless given, selvedge/points among the user's caches
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Simulations at the same time; unless given, as many as there are processors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Simulate points again that have failed
    #[arg(long)]
    pub retry: bool,
}

/// Options of `selvedge study show`.
#[derive(Args)]
pub struct StudyShowOptions {
    /// The study.
    #[command(flatten)]
    pub study: StudyFile,
    /// Simulations at the same time that the time is estimated for; unless given, as many as there are processors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// List the points, each with its number, key and parameters
    #[arg(long)]
    pub points: bool,
}

/// Options of `selvedge study collect`.
#[derive(Args)]
pub struct StudyCollectOptions {
    /// The study.
    #[command(flatten)]
    pub study: StudyFile,
    /// File to write, NAME.csv, NAME.jsonl or NAME.parquet, or - for CSV on standard output; may be repeated
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: Vec<String>,
    /// Leave out what differs between two runs of the same study: the date and the host's times
    #[arg(long)]
    pub reproducible: bool,
}

/// Options of `selvedge study point`.
#[derive(Args)]
pub struct StudyPointOptions {
    /// The study.
    #[command(flatten)]
    pub study: StudyFile,
    /// Number of the first point, from 0 on (see `study show --points`)
    #[arg(long, value_name = "N")]
    pub index: usize,
    /// Points from there on
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub count: u32,
    /// Simulations at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: u32,
    /// Simulate points again that have failed
    #[arg(long)]
    pub retry: bool,
}
