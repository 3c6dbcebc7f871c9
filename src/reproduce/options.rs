//! The options of `selvedge reproduce`, as clap reads them.
use crate::value_parsers::name_of;
use clap::Args;
use selvedge_sim::workload::Size;
use selvedge_study::StudyScale;
use std::path::PathBuf;

/// Max thread instructions of a run at size `paper`: the longest that a paper states (CABA, section 5).
const PAPER_INSTRUCTIONS: u64 = 1_000_000_000;

/// Options of `selvedge reproduce`.
#[derive(Args)]
pub struct ReproduceOptions {
    /// Figures to reproduce, such as latte-cc-11 (see --list)
    #[arg(value_name = "FIGURE", required_unless_present_any = ["list", "headlines", "pictures"])]
    pub figures: Vec<String>,
    /// List the figures and tables, with the points and published values of each, or the reason why it is unsupported
    #[arg(long, conflicts_with_all = ["figures", "headlines", "csv", "plot", "output", "stored"])]
    pub list: bool,
    /// Compare the headline claims of all papers; with -o, write a page with the causes of differences
    #[arg(long, conflicts_with_all = ["figures", "csv"])]
    pub headlines: bool,
    /// Simulate all workloads at this size instead of that of each figure; at paper, a run of one workload ends after a
    /// billion thread instructions at the latest
    #[arg(long, value_parser = name_of::<Size>(), conflicts_with = "list")]
    pub size: Option<Size>,
    /// Estimate each run of one workload from at most N intervals between beginning and end of a launch
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "list")]
    pub intervals: Option<u64>,
    /// Estimate the time for the points without a stored result, and simulate nothing
    #[arg(long, conflicts_with_all = ["list", "stored", "csv", "plot", "output"])]
    pub time: bool,
    /// Show stored results without simulating
    #[arg(long)]
    pub stored: bool,
    /// Folder for stored results [default: selvedge/points in the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Max number of simulations at the same time [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Write the values of the figures as CSV to FILE; with -, to standard output instead of the tables
    #[arg(long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Write a chart of a single figure as SVG; with --headlines, a chart of the claims
    #[arg(long, value_name = "FILE.svg", value_parser = crate::value_parsers::chart_file)]
    pub plot: Option<PathBuf>,
    /// Write FIGURE.csv and FIGURE.svg of each figure to a folder; with --headlines, the page to a file
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Write the charts of Selvedge's documentation to DOCS/images, from the tables in DOCS/reference
    #[arg(long, value_name = "DOCS", hide = true, conflicts_with_all = ["figures", "list", "headlines", "stored", "csv", "plot", "output"])]
    pub pictures: Option<PathBuf>,
}

impl ReproduceOptions {
    /// Returns the scale of the runs.
    pub fn scale(&self) -> StudyScale {
        let max_instructions = (self.size == Some(Size::Paper)).then_some(PAPER_INSTRUCTIONS);
        StudyScale { size: self.size, max_instructions, intervals: self.intervals }
    }
}
