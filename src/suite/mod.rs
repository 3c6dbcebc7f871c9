//! `selvedge suite`: builds the programs of benchmark suites and records them, as manifests describe.
mod build;
mod manifest;
mod options;
mod record;
mod tree;

pub use manifest::Manifest;
pub use options::SuiteOptions;

use crate::error::Failure;
use crate::output::{print, print_table, say};
use build::Builder;
use manifest::{Program, Run};
use options::{BuildOptions, CheckOptions, ListOptions, RecordOptions, SuiteAction};
use schemars::JsonSchema;
use selvedge_area::Table;
use selvedge_sim::workload::Size;
use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use strum::Display;

/// Executes the action of the options.
pub fn run(options: &SuiteOptions) -> Result<(), Failure> {
    match &options.action {
        SuiteAction::List(options) => list(options),
        SuiteAction::Check(options) => check(options),
        SuiteAction::Build(options) => build(options),
        SuiteAction::Record(options) => record_all(options),
    }
}

/// Result of a program.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq)]
#[strum(serialize_all = "kebab-case")]
enum Outcome {
    /// All files are there.
    Complete,
    /// The program's folder or a source is absent.
    Absent,
    /// An input is absent.
    NoInput,
    /// The program is compiled.
    Built,
    /// The program is not compiled.
    NotBuilt,
    /// The check of the output has passed.
    Ok,
    /// The program has no check and ended with exit code 0.
    Unchecked,
    /// At least one call of the program was refused.
    Incomplete,
    /// The check has failed, or the program ended with an error.
    Fail,
}

impl Outcome {
    /// Returns whether the record of a program with this result is kept.
    fn is_kept(self) -> bool {
        matches!(self, Outcome::Ok | Outcome::Unchecked | Outcome::Incomplete)
    }
}

/// A program of `suite check`, `suite build` or `suite record`.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(rename = "SuiteRow")]
pub struct Row {
    /// Name of the program.
    program: String,
    /// Size.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    size: Size,
    /// Kernel launches; null unless the program was recorded.
    launches: Option<u64>,
    /// Warp instructions of the launches; null unless the program was recorded.
    warp_instructions: Option<u64>,
    /// Result: complete, absent, no-input, built, not-built, ok, unchecked, incomplete or fail.
    #[serde(rename = "result", serialize_with = "as_text")]
    #[schemars(with = "String")]
    outcome: Outcome,
    /// Executable or record; null if the program has neither.
    file: Option<PathBuf>,
    /// Reason for the result, in one line; null for a success.
    reason: Option<String>,
}

/// Writes a value as its name.
fn as_text<T: ToString, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&value.to_string())
}

impl Row {
    fn new(program: &Program, size: Size) -> Self {
        Row {
            program: program.name.clone(),
            size,
            launches: None,
            warp_instructions: None,
            outcome: Outcome::Complete,
            file: None,
            reason: None,
        }
    }

    fn ended(self, outcome: Outcome) -> Self {
        Row { outcome, ..self }
    }

    fn failed(self, outcome: Outcome, reason: String) -> Self {
        Row { outcome, reason: Some(reason), ..self }
    }

    fn counts(self, launches: u64, warp_instructions: u64) -> Self {
        Row { launches: Some(launches), warp_instructions: Some(warp_instructions), ..self }
    }

    fn file(self, file: &Path) -> Self {
        Row { file: Some(file.to_path_buf()), ..self }
    }

    /// Returns the failure of this program, or `None` for a success.
    fn failure(&self, suite: &str) -> Option<Failure> {
        let reason = format!("{suite}/{}: {}", self.program, self.reason.as_ref()?);
        Some(match self.outcome {
            Outcome::Fail => Failure::mismatch(reason),
            Outcome::Incomplete => Failure::simulation(reason),
            _ => Failure::usage(reason),
        })
    }
}

/// Checks that the copy of a suite is a folder.
fn check_path(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        return Ok(());
    }
    Err(Failure::usage(format!("--path {}: must be a folder with a copy of the suite", path.display())))
}

/// Returns the sources of a program that a copy of the suite lacks.
fn missing_sources(path: &Path, program: &Program) -> Vec<PathBuf> {
    let folder = path.join(&program.folder);
    program.sources.iter().map(|source| folder.join(source)).filter(|file| !file.is_file()).collect()
}

/// Returns the inputs of a run that a copy of the suite lacks.
fn missing_inputs(path: &Path, run: &Run) -> Vec<PathBuf> {
    run.inputs.iter().map(|input| path.join(input)).filter(|file| !file.is_file()).collect()
}

fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|why| Failure::simulation(format!("the result has no JSON form: {why}")))?;
    print(&(text + "\n"))
}

/// Prints all suites, or the programs of one.
fn list(options: &ListOptions) -> Result<(), Failure> {
    if let Some(name) = &options.suite {
        let suite = Manifest::find(name)?;
        return if options.json { print_json(&suite) } else { print_table(&programs(&suite)) };
    }
    let suites = Manifest::names().into_iter().map(Manifest::find).collect::<Result<Vec<_>, _>>()?;
    if options.json {
        return print_json(&suites);
    }
    let mut table =
        Table::new(&["suite", "title", "programs", "verified", "source"]).dispensable(&["source"]);
    for suite in suites {
        let verified = suite.programs.iter().filter(|program| program.get_ref().is_verified()).count();
        let counts = [suite.programs.len(), verified].map(|count| count.to_string());
        let [programs, verified] = counts;
        table.row(vec![suite.name, suite.title, programs, verified, suite.source]);
    }
    print_table(&table)
}

/// Returns the table of a suite's programs. A size that was recorded and checked has a star.
fn programs(suite: &Manifest) -> Table {
    let mut table = Table::new(&["program", "sizes (* verified)", "check", "papers", "note"])
        .dispensable(&["papers", "note"]);
    for program in suite.programs.iter().map(toml::Spanned::get_ref) {
        let sizes =
            program.sizes.all().map(|(size, run)| format!("{size}{}", if run.verified { "*" } else { "" }));
        let sizes = sizes.collect::<Vec<_>>().join(" ");
        let check = suite.check_of(program).cell();
        table.row(vec![program.name.clone(), sizes, check, program.papers.clone(), program.note.clone()]);
    }
    table.without_empty("note")
}

/// Reports the programs and inputs that a copy of a suite lacks.
fn check(options: &CheckOptions) -> Result<(), Failure> {
    let suite = Manifest::find(&options.suite)?;
    check_path(&options.path)?;
    let mut rows = Vec::new();
    for program in suite.programs.iter().map(toml::Spanned::get_ref) {
        for (size, run) in program.sizes.all() {
            let row = Row::new(program, size);
            let (sources, inputs) =
                (missing_sources(&options.path, program), missing_inputs(&options.path, run));
            let shown = |files: &[PathBuf]| {
                let names = files.iter().map(|file| file.display().to_string());
                format!("no {}", names.collect::<Vec<_>>().join(", "))
            };
            rows.push(if !sources.is_empty() {
                row.failed(Outcome::Absent, shown(&sources))
            } else if !inputs.is_empty() {
                row.failed(Outcome::NoInput, shown(&inputs))
            } else {
                row.ended(Outcome::Complete)
            });
        }
    }
    show(&rows, options.json)
}

/// Prints the rows as a table or as JSON.
fn show(rows: &[Row], json: bool) -> Result<(), Failure> {
    if json {
        return print_json(&rows);
    }
    let is_recorded = rows.iter().any(|row| row.launches.is_some());
    let mut head = vec!["program", "size"];
    head.extend(is_recorded.then_some(["launches", "warp instr"]).into_iter().flatten());
    head.extend(["result", "reason"]);
    let mut table = Table::new(&head);
    for row in rows {
        let count = |count: Option<u64>| count.map_or("-".into(), |count| count.to_string());
        let mut cells = vec![row.program.clone(), row.size.to_string()];
        if is_recorded {
            cells.extend([count(row.launches), count(row.warp_instructions)]);
        }
        cells.extend([row.outcome.to_string(), row.reason.clone().unwrap_or_default()]);
        table.row(cells);
    }
    print_table(&table.without_empty("reason"))
}

/// Compiles programs.
fn build(options: &BuildOptions) -> Result<(), Failure> {
    let suite = Manifest::find(&options.suite)?;
    let chosen = suite.select(&options.programs, options.size)?;
    let builder = Builder::new(&suite, options)?;
    let rows = each(&chosen, options, |program, run| {
        let row = Row::new(program, options.size);
        Ok(match builder.build(program, run) {
            Ok(built) => row.ended(Outcome::Built).file(&built.executable),
            Err(why) => row.failed(Outcome::NotBuilt, why),
        })
    })?;
    finish(&suite.name, &rows, options.json)
}

/// Records programs.
fn record_all(options: &RecordOptions) -> Result<(), Failure> {
    let suite = Manifest::find(&options.build.suite)?;
    let chosen = suite.select(&options.build.programs, options.build.size)?;
    let builder = Builder::new(&suite, &options.build)?;
    let rows = each(&chosen, &options.build, |program, run| {
        record::record(options, &suite.name, &builder, (program, run, suite.check_of(program)))
    })?;
    finish(&suite.name, &rows, options.build.json)
}

/// Applies `work` to the programs, several at the same time, and returns the rows in the order of the programs.
fn each(
    programs: &[&Program],
    options: &BuildOptions,
    work: impl Fn(&Program, &Run) -> Result<Row, Failure> + Sync,
) -> Result<Vec<Row>, Failure> {
    let (next, rows) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let jobs = crate::study_command::jobs(options.jobs).min(programs.len());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(program) = programs.get(index) else { return };
                    let Some(run) = program.sizes.get(options.size) else { continue };
                    let row = work(program, run);
                    if let Ok(row) = &row {
                        say(format!("selvedge: {}: {}\n", row.program, row.outcome));
                    }
                    rows.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((index, row));
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    rows.sort_by_key(|(index, _)| *index);
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Prints the rows. Fails with the reasons of all programs without a success; the exit code is that of the last.
fn finish(suite: &str, rows: &[Row], json: bool) -> Result<(), Failure> {
    show(rows, json)?;
    let mut failures: Vec<Failure> = rows.iter().filter_map(|row| row.failure(suite)).collect();
    match failures.pop() {
        None => Ok(()),
        Some(last) => Err(last.after(failures)),
    }
}
