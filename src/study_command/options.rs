//! The options of `selvedge study`, as clap reads them.
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Options of `selvedge study`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct StudyOptions {
    /// What to do with a study (default: run it).
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
    /// Write a Slurm array job or a Snakefile that runs the study on a cluster
    Export(StudyExportOptions),
    /// Print, as TOML, how long workloads and mechanisms take, from the results that studies have on this host
    Speeds(StudySpeedsOptions),
}

/// Options of `selvedge study speeds`.
#[derive(Args)]
pub struct StudySpeedsOptions {
    /// Study files, NAME.toml; points without a result do not count
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Folder in which results are looked up (default: selvedge/points among the user's caches)
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
}

/// A study and where its results are.
#[derive(Args)]
pub struct StudyFile {
    /// The study file, NAME.toml
    pub file: PathBuf,
    /// Folder in which results are kept and looked up (default: selvedge/points among the user's caches)
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
}

/// Options of `selvedge study run`.
#[derive(Args)]
pub struct StudyRunOptions {
    // Flattened, the file would not say that there are options of `study run`.
    /// The study file, NAME.toml
    pub file: PathBuf,
    /// Folder in which results are kept and looked up (default: selvedge/points among the user's caches)
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Simulations at the same time (default: one for each processor)
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
    /// Simulations at the same time that the time is estimated for (default: one for each processor)
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
    /// Exit with 0 when points fail, too: the table states which, and why
    #[arg(long)]
    pub keep_going: bool,
    /// Simulations at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: u32,
    /// Simulate points again that have failed
    #[arg(long)]
    pub retry: bool,
}

/// Options of `selvedge study export`.
#[derive(Args)]
pub struct StudyExportOptions {
    /// What runs the study
    pub engine: ExportEngine,
    /// The study file, NAME.toml
    pub file: PathBuf,
    /// Folder for the results, which all machines share
    #[arg(long, value_name = "DIR")]
    pub store: PathBuf,
    /// Folder to write to
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Points of a task, one after the other (default: as many as make 1000 tasks at most)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub points_per_task: Option<u32>,
    /// Processors of a task (default: one, on which points run one after the other)
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub cores: u32,
}

/// What can run the points of a study on many machines.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportEngine {
    /// An array job, a job that collects, and a script that submits both
    Slurm,
    /// A Snakefile
    Snakemake,
}
