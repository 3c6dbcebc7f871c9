//! `selvedge report`: writes one self-contained HTML page about runs, comparisons and studies.
mod area;
mod configurations;
mod files;
mod page;
mod paper;
mod runs;
mod series;

use crate::arguments::ReportOptions;
use crate::error::Failure;
use crate::output::Plan;
use crate::reproduce::Speedups;
pub use area::{Area, documented};
use configurations::Configurations;
use files::{Files, Source};
use runs::{Run, Runs};
use serde::Serialize;
use series::Timeline;
use std::path::Path;
use std::time::SystemTime;

/// Contents of the page.
#[derive(Serialize)]
struct Page {
    title: String,
    /// Names of the statistics in [`Run::values`], as in the JSON.
    columns: Vec<String>,
    /// Names of the statistics of launches and SMs.
    launch_columns: &'static [&'static str],
    sm_columns: &'static [&'static str],
    runs: Vec<Run>,
    paper: Vec<Speedups>,
    areas: Vec<Area>,
    time: Vec<Timeline>,
    configurations: Configurations,
    files: Vec<Source>,
    provenance: Provenance,
}

/// Origin of the page.
#[derive(Serialize)]
struct Provenance {
    version: &'static str,
    date: String,
    command: String,
}

/// Reads the files and writes the page.
pub fn run(options: &ReportOptions) -> Result<(), Failure> {
    let mut outputs = plan(options).check()?;
    let page = page(options)?;
    outputs.write_or_print(&options.output, &page::html(&page)?);
    outputs.finish(None)
}

/// Returns the files that the command reads and writes.
fn plan(options: &ReportOptions) -> Plan {
    let mut plan = Plan::default();
    let read = [&options.files, &options.series, &options.area];
    read.into_iter().flatten().for_each(|path| plan.read(path));
    options.paper.iter().for_each(|name| plan.read(Path::new(name)));
    options.configs.iter().for_each(|name| plan.read_config(name));
    plan.write_or_print("--output", &options.output);
    plan
}

fn page(options: &ReportOptions) -> Result<Page, Failure> {
    let mut files = Files::default();
    let mut runs = Runs::default();
    for path in &options.files {
        runs.read(&mut files, path, options.store.as_deref())?;
    }
    let time = options
        .series
        .iter()
        .map(|path| series::read(&mut files, path))
        .collect::<Result<Vec<_>, _>>()?
        .concat();
    let paper =
        options.paper.iter().map(|path| paper::read(&mut files, path)).collect::<Result<Vec<_>, _>>()?;
    let mut areas = Vec::new();
    for path in &options.area {
        areas.extend(area::read(&mut files, path)?);
    }
    // Measurements for this page precede the documentation's.
    areas.extend(area::of_documentation());
    let (columns, runs) = runs.finish();
    Ok(Page {
        title: options.title.clone().unwrap_or_else(|| title(&options.files)),
        configurations: Configurations::of(&runs, &options.configs)?,
        columns,
        launch_columns: &runs::LAUNCH_COLUMNS,
        sm_columns: &runs::SM_COLUMNS,
        runs,
        paper,
        areas,
        time,
        files: files.finish(),
        provenance: Provenance {
            version: env!("CARGO_PKG_VERSION"),
            date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            command: std::env::args().collect::<Vec<_>>().join(" "),
        },
    })
}

/// Returns the default title of the page: the names of the files.
fn title(files: &[impl AsRef<Path>]) -> String {
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let names: Vec<String> = files.iter().map(|path| stem(path.as_ref())).collect();
    match names.as_slice() {
        [first, .., last] if names.len() > 3 => format!("{first} to {last}"),
        all => all.join(", "),
    }
}
