//! The options of `selvedge reproduce`, as clap reads them.
use clap::Args;
use std::path::PathBuf;

/// Options of `selvedge reproduce`.
#[derive(Args)]
pub struct ReproduceOptions {
    /// Figures to reproduce, such as latte-cc-11 (see --list)
    #[arg(value_name = "FIGURE", required_unless_present_any = ["list", "headlines"])]
    pub figures: Vec<String>,
    /// List the figures and tables, with the points and stated values of each, or why it cannot be expressed
    #[arg(long, conflicts_with_all = ["figures", "headlines", "csv", "plot", "output", "stored"])]
    pub list: bool,
    /// Compare the headline claims of all papers; with -o, write the page with the causes of what differs
    #[arg(long, conflicts_with_all = ["figures", "csv", "plot"])]
    pub headlines: bool,
    /// Simulate nothing: show what the store has
    #[arg(long)]
    pub stored: bool,
    /// Folder in which results are kept and looked up (default: selvedge/points among the user's caches)
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Simulations at the same time (default: one for each processor)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Writes the values of the figures as CSV to a file, or with - to standard output instead of the tables
    #[arg(long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Writes a chart of a single figure as SVG
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Writes FIGURE.csv and FIGURE.svg of each figure into a folder; with --headlines, the page to a file
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
}
