//! `study run` and `study point`: simulate the points without a result.
use super::options::{StudyPointOptions, StudyRunOptions};
use super::show::table;
use super::store::{jobs, open, open_file};
use super::watch::Watch;
use crate::error::Failure;
use crate::interrupt::stop_flag;
use crate::output::{print, say};
use selvedge_study::{Orders, Point, Store, StudyPace, Summary, estimate, run_points};
use std::time::Duration;

/// Max time to count instructions before the first point begins, for the estimate of the remaining time.
const BUDGET: Duration = Duration::from_secs(5);

/// Runs a study and prints the table of its points.
pub fn run(options: &StudyRunOptions) -> Result<(), Failure> {
    let (study, store) = open_file(&options.file, options.store.as_deref())?;
    let ended = simulate(study.points(), &store, jobs(options.jobs), options.retry);
    print(&table(&study, &store))?;
    ended?.map_or(Ok(()), Err)
}

/// Simulates points by their numbers.
pub fn points(options: &StudyPointOptions) -> Result<(), Failure> {
    let (study, store) = open(&options.study)?;
    let count = study.points().len();
    let end = options.index.saturating_add(options.count as usize).min(count);
    let points = study.points().get(options.index..end).filter(|points| !points.is_empty());
    let points = points.ok_or_else(|| {
        Failure::usage(format!("--index {}: must be a point of the study, 0 to {}", options.index, count - 1))
    })?;
    match simulate(points, &store, options.jobs as usize, options.retry)? {
        Some(failed) if !options.keep_going => Err(failed),
        _ => Ok(()),
    }
}

/// Simulates the points without a result. Returns a failure if some points have failed.
///
/// # Errors
/// Fails on a signal, or if the store cannot be written. The store keeps the results of finished points.
pub fn simulate(
    points: &[Point],
    store: &Store,
    jobs: usize,
    retry: bool,
) -> Result<Option<Failure>, Failure> {
    let stop = stop_flag()?;
    let costs: Vec<f64> = estimate(points, store, BUDGET, &stop).iter().map(|one| one.seconds).collect();
    let watch = Watch::start(points, StudyPace::of(points, &costs, jobs));
    let orders = Orders { jobs, retry, stop: &stop, costs: &costs };
    let summary = run_points(points, store, &orders, &watch).map_err(Failure::usage);
    drop(watch);
    let summary = summary?;
    say(format!("selvedge: {}\n", in_words(&summary)));
    if summary.left > 0 {
        return Err(Failure::interrupted(format!("interrupted: {} points are left", summary.left)));
    }
    if summary.failed > 0 {
        let message = format!(
            "{} of {} points failed: see the reasons with `study status`",
            summary.failed,
            points.len()
        );
        return Ok(Some(Failure::simulation(message)));
    }
    Ok(None)
}

fn in_words(summary: &Summary) -> String {
    let Summary { done, unsupported, failed, computed, left, damaged } = summary;
    let mut words = vec![format!("{done} points done")];
    let others = [
        (unsupported, "unsupported"),
        (failed, "failed"),
        (left, "left"),
        (damaged, "damaged and computed again"),
    ];
    words.extend(
        others.into_iter().filter(|(count, _)| **count > 0).map(|(count, what)| format!("{count} {what}")),
    );
    words.push(format!("{computed} computed now"));
    words.join(", ")
}
