//! `selvedge bench`: measures the simulator's speed in each case, alone or against another binary or simulator, and
//! compares it with a target.
mod cases;
mod child;
mod estimates;
mod figures;
mod peers;

use crate::arguments::BenchOptions;
use crate::error::Failure;
use crate::output::{Outputs, Plan, say, width};
use cases::{Case, Figure, Run, WORKLOADS};
use child::Sample;
use figures::{Spread, figure, is_met, times_better};
pub use peers::PeersReport;
use schemars::JsonSchema;
use selvedge_area::Table;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Measures the cases that the options name and shows their figures.
pub fn run(options: &BenchOptions) -> Result<(), Failure> {
    let cases = chosen(&options.case)?;
    let mut plan = Plan::default();
    options.against.iter().for_each(|path| plan.read(path));
    options.json.iter().for_each(|target| plan.write_or_print("--json", target));
    let mut outputs = plan.check()?;
    if cfg!(debug_assertions) {
        say(
            "selvedge: warning: a debug build is measured, which checks itself and is several times slower\n",
        );
    }
    let folder = folder()?;
    let this = std::env::current_exe().map_err(|e| Failure::usage(format!("this binary: {e}")))?;
    if !options.estimates.is_empty() {
        outputs.show(&estimates::compare(options, &this, folder.path())?);
        return outputs.finish(None);
    }
    if let Some(peer) = &options.peers {
        let report = peers::compare(options, peer, &this, folder.path())?;
        write_json(options, &report, &mut outputs);
        outputs.show(&(report.table().render_within(width()) + &report.summary()));
        return outputs.finish(None);
    }
    let binaries: Vec<Binary> = std::iter::once(&this)
        .chain(&options.against)
        .map(|path| Binary::new(path))
        .collect::<Result<_, _>>()?;
    let mut measured: Vec<Measured> =
        runs(&cases).into_iter().map(|run| Measured::new(run, binaries.len())).collect();
    for turn in 1..=options.repeat {
        measure_all(&mut measured, &binaries, folder.path(), &format!("{turn} of {}", options.repeat))?;
    }
    if options.instructions {
        count_all(&mut measured, &binaries, folder.path())?;
    }
    let rows: Vec<Row> = cases.iter().map(|case| Row::new(case, &measured, binaries.len())).collect();
    show(options, &rows, &measured, &mut outputs);
    outputs.finish(None)
}

/// A binary that is measured.
struct Binary {
    path: PathBuf,
    /// Help of its `run` command, which lists its options.
    help: String,
}

impl Binary {
    fn new(path: &Path) -> Result<Self, Failure> {
        let output = std::process::Command::new(path).args(["run", "--help"]).output();
        let output = output.map_err(|e| Failure::usage(format!("{}: {e}", path.display())))?;
        let help = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() || !help.contains("--engine") {
            return Err(Failure::usage(format!("{}: must be a binary of selvedge", path.display())));
        }
        Ok(Binary { path: path.into(), help })
    }

    fn can(&self, run: &Run) -> bool {
        run.needs.is_none_or(|option| self.help.split_whitespace().any(|word| word == option))
    }
}

/// A run with its samples.
struct Measured {
    run: Run,
    /// Samples of each binary. Empty for a binary that cannot execute the run.
    samples: Vec<Vec<Sample>>,
    /// Instructions of each binary, if they are counted.
    instructions: Vec<Option<u64>>,
}

impl Measured {
    fn new(run: Run, binaries: usize) -> Self {
        Measured { run, samples: vec![Vec::new(); binaries], instructions: vec![None; binaries] }
    }
}

/// Returns the cases whose names begin with one of `names`, or all cases if `names` is empty.
fn chosen(names: &[String]) -> Result<Vec<Case>, Failure> {
    let all = cases::all();
    let fits = |case: &Case, name: &String| case.name.starts_with(name.as_str());
    if let Some(unknown) = names.iter().find(|name| !all.iter().any(|case| fits(case, name))) {
        let known: Vec<&str> = all.iter().map(|case| case.name.as_str()).collect();
        return Err(Failure::usage(format!(
            "--case {unknown}: must be the beginning of one of {}",
            known.join(", ")
        )));
    }
    let is_chosen = |case: &Case| names.is_empty() || names.iter().any(|name| fits(case, name));
    Ok(all.into_iter().filter(is_chosen).collect())
}

/// Creates a folder with the files that runs read.
fn folder() -> Result<TempDir, Failure> {
    let cannot = |e: std::io::Error| Failure::usage(format!("a folder for temporary files: {e}"));
    let folder = tempfile::tempdir().map_err(cannot)?;
    for (name, text) in cases::files() {
        fs::write(folder.path().join(name), text).map_err(cannot)?;
    }
    Ok(folder)
}

/// Returns the distinct runs of the cases, and the functional runs that measure device memory.
fn runs(cases: &[Case]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let memory = cases.iter().filter(|case| case.figure == Figure::Memory);
    let functional = memory.flat_map(|_| WORKLOADS.map(|workload| Run::functional(workload, "small")));
    for run in cases.iter().flat_map(|case| case.runs.iter().cloned()).chain(functional) {
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    runs
}

/// Runs everything once, alternating between the binaries.
fn measure_all(
    measured: &mut [Measured],
    binaries: &[Binary],
    folder: &Path,
    turn: &str,
) -> Result<(), Failure> {
    for one in measured {
        for (binary, samples) in binaries.iter().zip(&mut one.samples) {
            if binary.can(&one.run) {
                let sample = child::measure(&binary.path, &one.run.arguments, folder)?;
                let words = one.run.arguments.join(" ");
                say(format!("{turn}: {:.2} s: {} {words}\n", sample.user_s, binary.path.display()));
                samples.push(sample);
            }
        }
    }
    Ok(())
}

/// Counts the instructions of every run once, because they are the same in each repetition.
fn count_all(measured: &mut [Measured], binaries: &[Binary], folder: &Path) -> Result<(), Failure> {
    for one in measured {
        for (binary, count) in binaries.iter().zip(&mut one.instructions) {
            if binary.can(&one.run) {
                let counted = child::instructions(&binary.path, &one.run.arguments, folder)?;
                let words = one.run.arguments.join(" ");
                say(format!(
                    "{:.1} M instructions: {} {words}\n",
                    counted as f64 / 1e6,
                    binary.path.display()
                ));
                *count = Some(counted);
            }
        }
    }
    Ok(())
}

/// Row of the table.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Case")]
struct Row {
    /// Name of the case.
    case: String,
    /// Unit of the figure.
    unit: &'static str,
    /// Figure of this binary; null if it lacks an option.
    figure: Option<Spread>,
    /// Required value of the figure.
    target: String,
    /// Figure of the other binary.
    against: Option<Spread>,
    /// Factor by which this binary is better, over pairs of alternating runs.
    times_better: Option<Spread>,
    /// Millions of instructions, or their ratio if the figure is a ratio.
    instructions: Option<f64>,
    /// Millions of instructions or ratio of the other binary.
    against_instructions: Option<f64>,
    /// `true` if the target is met. Null if a value to compare is missing.
    met: Option<bool>,
}

impl Row {
    fn new(case: &Case, measured: &[Measured], binaries: usize) -> Self {
        let of = |binary: usize| {
            if binary < binaries { repetitions(case, measured, binary) } else { Vec::new() }
        };
        let (this, other) = (of(0), of(1));
        let pairs = this.iter().zip(&other).map(|(this, other)| times_better(case.figure, *this, *other));
        let (figure, times) = (Spread::of(this.clone()), Spread::of(pairs.collect()));
        let counted = |binary: usize| {
            let counts: Option<Vec<u64>> =
                case.runs.iter().map(|run| *find(measured, run).instructions.get(binary)?).collect();
            figures::instructions(case, &counts?)
        };
        Row {
            case: case.name.clone(),
            unit: case.figure.unit(),
            figure,
            target: case.target.to_string(),
            against: Spread::of(other),
            times_better: times,
            instructions: counted(0),
            against_instructions: counted(1),
            met: figure
                .and_then(|figure| is_met(case.target, figure.median, times.map(|times| times.median))),
        }
    }
}

/// Returns the figure of each repetition. Returns nothing if the binary cannot execute the case.
fn repetitions(case: &Case, measured: &[Measured], binary: usize) -> Vec<f64> {
    let samples: Vec<&[Sample]> =
        case.runs.iter().map(|run| find(measured, run).samples[binary].as_slice()).collect();
    // Device memory depends on the workload, not on the binary.
    let device = |workload: &str| {
        let run = Run::functional(workload, "small");
        find(measured, &run).samples[0].first().map(|sample| sample.report.device_bytes)
    };
    let device_bytes: Vec<u64> = match case.figure {
        Figure::Memory => match WORKLOADS.iter().map(|workload| device(workload)).collect() {
            Some(bytes) => bytes,
            None => return Vec::new(),
        },
        _ => Vec::new(),
    };
    let turns = samples.iter().map(|of| of.len()).min().unwrap_or(0);
    let turn = |at: usize| samples.iter().map(|of| of[at]).collect::<Vec<_>>();
    (0..turns).map(|at| figure(case, &turn(at), &device_bytes)).collect()
}

fn find<'a>(measured: &'a [Measured], run: &Run) -> &'a Measured {
    measured.iter().find(|one| one.run == *run).expect("every run of a case is measured")
}

/// Contents of `--json`.
#[derive(JsonSchema, Serialize)]
pub struct BenchReport<'a> {
    /// Number of runs of each case.
    repeat: u32,
    /// Path of the other binary.
    against: Option<&'a Path>,
    /// The cases.
    cases: &'a [Row],
    /// Runs from which the cases are computed.
    runs: Vec<RunTimes<'a>>,
}

/// A run in `--json`. Lists have an element for each binary, this one first.
#[derive(JsonSchema, Serialize)]
struct RunTimes<'a> {
    /// The arguments of the run.
    arguments: String,
    /// Processor time of each repetition, seconds.
    user_s: Vec<Vec<f64>>,
    /// Wall-clock time of each repetition, seconds.
    wall_s: Vec<Vec<f64>>,
    /// Max memory in use of each repetition, bytes.
    resident_bytes: Vec<Vec<u64>>,
    /// Number of instructions, if they can be counted.
    instructions: &'a [Option<u64>],
}

impl<'a> RunTimes<'a> {
    fn new(of: &'a Measured) -> Self {
        let all = |value: fn(&Sample) -> f64| {
            of.samples.iter().map(|samples| samples.iter().map(value).collect()).collect::<Vec<Vec<f64>>>()
        };
        let resident = |samples: &Vec<Sample>| samples.iter().map(|sample| sample.resident_bytes).collect();
        RunTimes {
            arguments: of.run.arguments.join(" "),
            user_s: all(|sample| sample.user_s),
            wall_s: all(|sample| sample.wall_s),
            resident_bytes: of.samples.iter().map(resident).collect(),
            instructions: &of.instructions,
        }
    }
}

fn show(options: &BenchOptions, rows: &[Row], measured: &[Measured], outputs: &mut Outputs) {
    let report = BenchReport {
        repeat: options.repeat,
        against: options.against.as_deref(),
        cases: rows,
        runs: measured.iter().map(RunTimes::new).collect(),
    };
    write_json(options, &report, outputs);
    outputs.show(&table(options, rows).render_within(width()));
}

/// Writes a report to `--json`, if given.
fn write_json(options: &BenchOptions, report: &impl Serialize, outputs: &mut Outputs) {
    let Some(target) = &options.json else { return };
    let text = serde_json::to_string_pretty(report)
        .map_err(|e| Failure::simulation(format!("the figures have no JSON form: {e}")));
    if let Some(text) = outputs.note(text) {
        outputs.write_or_print(target, &(text + "\n"));
    }
}

fn table(options: &BenchOptions, rows: &[Row]) -> Table {
    let mut head = vec!["case", "median", "least to most", "unit", "target", "met"];
    if options.against.is_some() {
        head.extend(["against", "times better"]);
    }
    if options.instructions {
        head.push("M instr");
        head.extend(options.against.iter().map(|_| "against"));
    }
    let mut table = Table::new(&head).dispensable(&["least to most"]);
    for row in rows {
        let median = |spread: &Option<Spread>| spread.map_or("-".into(), |spread| number(spread.median));
        let range = |spread: Spread| format!("{} to {}", number(spread.least), number(spread.most));
        let mut cells = vec![
            row.case.clone(),
            median(&row.figure),
            row.figure.map_or("-".into(), range),
            row.unit.into(),
            row.target.clone(),
            row.met.map_or("-", |met| if met { "yes" } else { "no" }).into(),
        ];
        if options.against.is_some() {
            cells.extend([median(&row.against), median(&row.times_better)]);
        }
        if options.instructions {
            let count = |count: Option<f64>| count.map_or("-".into(), number);
            cells.push(count(row.instructions));
            cells.extend(options.against.iter().map(|_| count(row.against_instructions)));
        }
        table.row(cells);
    }
    table
}

/// Formats `value` with at least three digits.
fn number(value: f64) -> String {
    match value {
        100.0.. => format!("{value:.0}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_chosen_by_how_its_name_begins() {
        let names = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            chosen(&words).map(|cases| cases.into_iter().map(|case| case.name).collect::<Vec<_>>())
        };
        assert_eq!(
            names(&["vecadd", "gen"]).expect("known"),
            ["vecadd-cycles", "vecadd-instructions", "gen-all"]
        );
        assert_eq!(names(&[]).expect("all").len(), cases::all().len());
        assert!(
            format!("{:?}", names(&["rtl", "fast"]))
                .contains("--case fast: must be the beginning of one of small")
        );
    }

    #[test]
    fn the_page_has_every_case_with_its_target() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference/speed.md");
        let page = fs::read_to_string(page).expect("there");
        let rows = page
            .lines()
            .skip_while(|line| *line != "## Targets")
            .skip(1)
            .take_while(|line| !line.starts_with("## "));
        let cells = rows.filter(|line| line.starts_with("| ")).map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            (cells[0].to_string(), cells[2].to_string())
        });
        let known = cases::all().into_iter().map(|case| (case.name, case.target.to_string()));
        assert_eq!(cells.skip(1).collect::<Vec<_>>(), known.collect::<Vec<_>>());
    }

    #[test]
    fn cases_share_their_runs() {
        let both = chosen(&["vecadd".into()]).expect("known");
        assert_eq!((both.len(), runs(&both).len()), (2, 1));
    }
}
