//! The options of `selvedge study`, as clap reads them.
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Options of `selvedge study`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct StudyOptions {
    /// Action for the study [default: run].
    #[command(subcommand)]
    pub action: Option<StudyAction>,
    /// Options of `study run`.
    #[command(flatten)]
    pub run: Option<StudyRunOptions>,
}

/// Actions of `selvedge study`.
#[derive(Subcommand)]
pub enum StudyAction {
    /// Simulate the points without a result, and print the table of all points
    Run(StudyRunOptions),
    /// Count the points, and estimate the time of the points without a result
    Show(StudyShowOptions),
    /// Print how many points have a result, and why others have none
    Status(StudyFile),
    /// Write the results as one table, one row per point: CSV, JSON Lines or Parquet
    Collect(StudyCollectOptions),
    /// Simulate points by their numbers, as a job of a cluster does
    Point(StudyPointOptions),
    /// Write a Slurm array job or a Snakefile that runs the study on a cluster
    Export(StudyExportOptions),
    /// Print the times of workloads and mechanisms as TOML, from the results of studies on this host
    Speeds(StudySpeedsOptions),
}

/// Options of `selvedge study speeds`.
#[derive(Args)]
pub struct StudySpeedsOptions {
    /// Study files, NAME.toml; points without a result are ignored
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Folder with the stored results [default: selvedge/points in the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
}

/// A study and the folder of its results.
#[derive(Args)]
pub struct StudyFile {
    /// Study file, NAME.toml
    pub file: PathBuf,
    /// Folder for stored results [default: selvedge/points in the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
}

/// Options of `selvedge study run`.
#[derive(Args)]
pub struct StudyRunOptions {
    // Not flattened from [`StudyFile`], because the help would then not mention the options of `study run`.
    /// Study file, NAME.toml
    pub file: PathBuf,
    /// Folder for stored results [default: selvedge/points in the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Max number of simulations at the same time [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Simulate failed points again
    #[arg(long)]
    pub retry: bool,
}

/// Options of `selvedge study show`.
#[derive(Args)]
pub struct StudyShowOptions {
    /// Study file and store.
    #[command(flatten)]
    pub study: StudyFile,
    /// Number of simulations at the same time for which the time is estimated [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// List the points with number, key and parameters
    #[arg(long)]
    pub points: bool,
}

/// Options of `selvedge study collect`.
#[derive(Args)]
pub struct StudyCollectOptions {
    /// Study file and store.
    #[command(flatten)]
    pub study: StudyFile,
    /// File to write, NAME.csv, NAME.jsonl or NAME.parquet, or - for CSV on standard output; may be repeated
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: Vec<String>,
    /// Omit values that differ between two runs of the same study: the date and the host's times
    #[arg(long)]
    pub reproducible: bool,
}

/// Options of `selvedge study point`.
#[derive(Args)]
pub struct StudyPointOptions {
    /// Study file and store.
    #[command(flatten)]
    pub study: StudyFile,
    /// Number of the first point, from 0 (see `study show --points`)
    #[arg(long, value_name = "N")]
    pub index: usize,
    /// Number of points
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub count: u32,
    /// Exit with 0 even if points fail; the table shows the failed points and the reasons
    #[arg(long)]
    pub keep_going: bool,
    /// Max number of simulations at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: u32,
    /// Simulate failed points again
    #[arg(long)]
    pub retry: bool,
}

/// Options of `selvedge study export`.
#[derive(Args)]
pub struct StudyExportOptions {
    /// System that runs the study
    pub engine: ExportEngine,
    /// Study file, NAME.toml
    pub file: PathBuf,
    /// Folder for the results, shared by all machines
    #[arg(long, value_name = "DIR")]
    pub store: PathBuf,
    /// Folder to write to
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Points of a task, simulated one after the other [default: about 10 minutes by the estimate, at most 1000 tasks]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub points_per_task: Option<u32>,
    /// Processors of a task; with one, its points run one after the other
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub cores: u32,
}

/// Systems that run the points of a study on many machines.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportEngine {
    /// An array job, a job that collects the results, and a script that submits both
    Slurm,
    /// A Snakefile
    Snakemake,
}
