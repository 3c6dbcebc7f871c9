//! `study show` and `study status`: describe a study, and print the table of its points.
use super::options::{StudyFile, StudyShowOptions};
use super::store::{jobs, open};
use crate::error::Failure;
use crate::interrupt::stop_flag;
use crate::output::{print, width};
use crate::progress_line::in_units;
use selvedge_area::Table;
use selvedge_sim::printable::printable;
use selvedge_study::{
    Basis, Point, Status, Store, StoredPoint, Study, StudyPace, StudyRow, TimeEstimate, estimate,
};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Max time to count instructions for the estimate of the time.
pub const BUDGET: Duration = Duration::from_secs(20);

/// Counts the points, and estimates the time for those without a result.
pub fn show(options: &StudyShowOptions) -> Result<(), Failure> {
    let (study, store) = open(&options.study)?;
    if options.points {
        return print(&list(&study));
    }
    let left = time_left(study.points(), &store, jobs(options.jobs))?;
    print(&(counts(&study, &store) + &left))
}

/// Estimates the time for the points without a result, and describes the basis of the estimate.
///
/// # Errors
/// Fails on a signal.
pub fn time_left(points: &[Point], store: &Store, jobs: usize) -> Result<String, Failure> {
    let stop = stop_flag()?;
    let estimates = estimate(points, store, BUDGET, &stop);
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::interrupted("interrupted"));
    }
    Ok(time(points, &estimates, jobs))
}

/// Describes the time for the points without a result, and the basis of the estimate.
fn time(points: &[Point], estimates: &[TimeEstimate], jobs: usize) -> String {
    let costs: Vec<f64> = estimates.iter().map(|one| one.seconds).collect();
    let pace = StudyPace::of(points, &costs, jobs);
    let by = |basis: Basis| estimates.iter().filter(|one| one.basis == basis).count();
    let bases = [
        (Basis::Run, "from runs with the same mechanism"),
        (Basis::Workload, "from runs of the same workload"),
        (Basis::Measured, "from what was measured for this version and the speed of this host"),
        (Basis::Count, "from counts of instructions and the speed of this host"),
        (Basis::Nothing, "unknown, taken for the mean"),
    ];
    let known: Vec<String> = bases
        .into_iter()
        .filter(|(basis, _)| by(*basis) > 0)
        .map(|(basis, from)| format!("{} {from}", by(basis)))
        .collect();
    if known.is_empty() {
        return "nothing is left to simulate\n".into();
    }
    let left = in_units(pace.left(Instant::now()));
    format!("about {left} with {jobs} at a time: {}\n", known.join(", "))
}

/// Prints the number of points with a result, and the reasons for missing results.
pub fn status(options: &StudyFile) -> Result<(), Failure> {
    let (study, store) = open(options)?;
    print(&(counts(&study, &store) + &reasons(&study, &store)))
}

/// Returns a line for each point.
fn list(study: &Study) -> String {
    let mut text = String::new();
    for point in study.points() {
        writeln!(text, "{} {} {}", point.index, point.key.text(), printable(&point.name()))
            .expect("a string takes it");
    }
    text
}

fn counts(study: &Study, store: &Store) -> String {
    let mut counts = [0; 4];
    for point in study.points() {
        counts[match store.get(point).map(|entry| entry.status) {
            Some(Status::Done) => 0,
            Some(Status::Unsupported) => 1,
            Some(Status::Failed) => 2,
            None if point.work.is_err() => 1,
            None => 3,
        }] += 1;
    }
    let keys: BTreeSet<&str> = study.points().iter().map(|point| point.key.text()).collect();
    let [done, unsupported, failed, missing] = counts;
    let (name, points, keys) = (printable(&study.name), study.points().len(), keys.len());
    format!(
        "{name}: {points} points, {keys} of them different: {done} done, {unsupported} unsupported, {failed} failed, {missing} missing\n"
    )
}

/// Returns a line for each reason for missing results.
fn reasons(study: &Study, store: &Store) -> String {
    let mut by_reason: Vec<((Status, String), Vec<String>)> = Vec::new();
    for point in study.points() {
        let Some(StoredPoint { status, reason: Some(reason), .. }) = store.get(point) else { continue };
        let why = (status, printable(&reason).into_owned());
        let name = printable(&point.name()).into_owned();
        match by_reason.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(name),
            None => by_reason.push((why, vec![name])),
        }
    }
    by_reason.iter().fold(String::new(), |mut text, ((status, reason), names)| {
        let others = match names.len() - 1 {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        writeln!(text, "{}: {}{others}: {reason}", status.word(), names[0]).expect("a string takes it");
        text
    })
}

/// Returns the table of the points with parameters, cycles and IPC. A missing result is `-`, with the reason below the
/// table.
pub fn table(study: &Study, store: &Store) -> String {
    let mut header = vec!["workload", "size", "config"];
    header.extend(study.set_keys().iter().map(String::as_str));
    header.extend(["share", "mechanism", "cycles", "IPC", "result"]);
    let has_share = study.points().iter().any(|point| point.parameters.share.is_some());
    header.retain(|name| *name != "share" || has_share);
    let mut table = Table::new(&header);
    for point in study.points() {
        let entry = store.get(point);
        let row = StudyRow::new(&study.name, point, entry.as_ref(), study.set_keys());
        let cell = |name: &str| row.get(name).filter(|value| !value.is_null()).map(ToString::to_string);
        let mut cells =
            vec![point.labels.workload.clone(), point.parameters.size.clone(), point.labels.config.clone()];
        cells.extend(study.set_keys().iter().map(|key| cell(key).unwrap_or_default()));
        if has_share {
            cells.push(point.parameters.share.clone().unwrap_or_else(|| "-".into()));
        }
        cells.push(point.labels.mechanism.clone());
        cells.push(cell("totals.cycles").unwrap_or_else(|| "-".into()));
        cells.push(row.number("totals.ipc").map_or("-".into(), |ipc| format!("{ipc:.1}")));
        let status = entry.map_or("missing", |entry| entry.status.word());
        cells.push(match status {
            "done" => row.text("result").unwrap_or(status).to_owned(),
            _ => status.to_owned(),
        });
        table.row(cells);
    }
    table.render_within(width()) + &reasons(study, store)
}
