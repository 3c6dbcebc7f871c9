//! `selvedge reproduce`: reproduces the papers' figures from studies, and compares them with the papers' numbers.
mod catalog;
mod claims;
mod facts;
mod measured;
mod metric;
mod options;
mod page;
mod paper;
mod pictures;
mod sample;
mod show;
mod speedups;
mod table;
#[cfg(test)]
mod tests;

pub use options::ReproduceOptions;
pub use speedups::{Over, Speedups, speedups};

use crate::error::Failure;
use crate::interrupt::stop_flag;
use crate::output::{Outputs, Plan, print, say};
use crate::study_command::{jobs, simulate, store, time_left};
use catalog::{Catalog, study};
use measured::Measured;
use selvedge_area::Table;
use selvedge_study::{Point, Store, StudyScale};
use std::path::PathBuf;
use table::Panel;

/// Executes the action of the options.
pub fn run(options: &ReproduceOptions) -> Result<(), Failure> {
    let catalog = Catalog::load()?;
    if options.list {
        return print(&list(&catalog)?);
    }
    if let Some(docs) = &options.pictures {
        return pictures::write(docs);
    }
    if options.time {
        return time(options, &catalog);
    }
    if options.headlines {
        return headlines(options, &catalog);
    }
    figures(options, &catalog)
}

/// Returns the table of all figures.
fn list(catalog: &Catalog) -> Result<String, Failure> {
    let mut table = Table::new(&["figure", "of", "what", "points", "stated"]);
    let mut reasons = String::new();
    for (paper, figure) in catalog.figures() {
        let points = match &figure.not_expressed {
            None => study(figure.study(), StudyScale::default())?.points().len().to_string(),
            Some(why) => {
                reasons += &format!("{}: {why}\n", figure.id);
                "-".into()
            }
        };
        table.row(vec![
            figure.id.clone(),
            format!("{}, {}", paper.name, figure.figure),
            figure.title.clone(),
            points,
            figure.value.len().to_string(),
        ]);
    }
    Ok(format!("{}\nNot expressed:\n{reasons}", table.render()))
}

/// Checks that the simulator can express these figures.
///
/// # Errors
/// Fails if a figure does not exist, or if the simulator cannot express it.
fn expressed(catalog: &Catalog, ids: &[String]) -> Result<(), Failure> {
    for id in ids {
        let (_, figure) = catalog.figure(id)?;
        if let Some(why) = &figure.not_expressed {
            return Err(Failure::usage(format!("{id}: the simulator cannot express it: {why}")));
        }
    }
    Ok(())
}

/// Simulates the points of the figures that the store lacks. Returns a failure if points have failed.
///
/// # Errors
/// Fails on a signal, or if the store cannot be written.
fn compute(
    options: &ReproduceOptions,
    catalog: &Catalog,
    store: &Store,
    ids: &[&str],
) -> Result<Option<Failure>, Failure> {
    if options.stored {
        return Ok(None);
    }
    simulate(&points(options, catalog, ids)?, store, jobs(options.jobs), false)
}

/// Returns the points of the figures, each study once.
///
/// # Errors
/// Fails if a figure or its study does not exist.
fn points(options: &ReproduceOptions, catalog: &Catalog, ids: &[&str]) -> Result<Vec<Point>, Failure> {
    let mut names: Vec<&str> = Vec::new();
    for id in ids {
        let name = catalog.figure(id)?.1.study();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut points: Vec<Point> = Vec::new();
    for name in names {
        points.extend(study(name, options.scale())?.into_points());
    }
    Ok(points)
}

/// Prints the number of points, and the estimated time for those without a result.
fn time(options: &ReproduceOptions, catalog: &Catalog) -> Result<(), Failure> {
    let ids: Vec<&str> = if options.headlines {
        catalog.claims.figures(false)
    } else {
        options.figures.iter().map(String::as_str).collect()
    };
    expressed(catalog, &options.figures)?;
    let points = points(options, catalog, &ids)?;
    let store = store(options.store.as_deref())?;
    let left = time_left(&points, &store, jobs(options.jobs))?;
    print(&format!("{} points: {left}", points.len()))
}

/// Prints figures, and writes the requested files.
fn figures(options: &ReproduceOptions, catalog: &Catalog) -> Result<(), Failure> {
    expressed(catalog, &options.figures)?;
    if options.plot.is_some() && options.figures.len() > 1 {
        return Err(Failure::usage("--plot: must be given with one figure; -o FOLDER takes several"));
    }
    let mut plan = Plan::default();
    options.csv.iter().for_each(|target| plan.write_or_print("--csv", target));
    options.plot.iter().for_each(|path| plan.write("--plot", path));
    if let Some(folder) = &options.output {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::usage(format!("--output {}: {error}", folder.display())))?;
        for (id, end) in options.figures.iter().flat_map(|id| [(id, "csv"), (id, "svg")]) {
            plan.write("--output", &folder.join(format!("{id}.{end}")));
        }
    }
    let mut outputs = plan.check()?;
    let store = store(options.store.as_deref())?;
    let ids: Vec<&str> = options.figures.iter().map(String::as_str).collect();
    let failure = compute(options, catalog, &store, &ids).unwrap_or_else(Some);
    let mut measured = Measured::new(catalog, &store, options.scale());
    let (mut text, mut csv) = (String::new(), String::new());
    for id in &options.figures {
        let (paper, figure) = catalog.figure(id)?;
        let (samples, panels) = (measured.samples(id)?, measured.panels(id)?);
        if !text.is_empty() {
            text += "\n";
        }
        text += &show::text(catalog, (paper, figure), &samples, &panels);
        let own = show::csv(figure, &panels);
        write_figure(options, id, &own, &panels, &mut outputs);
        let without_head = own.split_once('\n').map_or("", |(_, rows)| rows);
        csv += if csv.is_empty() { &own } else { without_head };
    }
    if let Some(target) = &options.csv {
        outputs.write_or_print(target, &csv);
    }
    outputs.show(&(text + &estimated(options)));
    outputs.finish(failure)
}

/// Writes the chart of a figure, and the files of `--output`.
fn write_figure(options: &ReproduceOptions, id: &str, csv: &str, panels: &[Panel], outputs: &mut Outputs) {
    let Some(panel) = panels.first() else { return };
    let targets = options.output.as_ref().map(|folder| folder.join(format!("{id}.svg")));
    let targets: Vec<PathBuf> = options.plot.clone().into_iter().chain(targets).collect();
    if !targets.is_empty()
        && let Some(chart) = outputs.note(show::chart(panel))
    {
        targets.iter().for_each(|path| outputs.write(path, &chart));
    }
    if let Some(folder) = &options.output {
        outputs.write(&folder.join(format!("{id}.csv")), csv);
    }
}

/// Returns the line that marks estimated results.
fn estimated(options: &ReproduceOptions) -> String {
    let line = |most| {
        format!("\nRuns of one workload are estimated from at most {most} intervals of each launch.\n")
    };
    options.intervals.map(line).unwrap_or_default()
}

/// Compares the headline claims, and writes the page if `--output` is given.
fn headlines(options: &ReproduceOptions, catalog: &Catalog) -> Result<(), Failure> {
    claims::check(catalog)?;
    if options.scale() != StudyScale::default() && options.output.is_some() {
        let why = "--output: must be given without --size and --intervals, because the page explains the figures at their own sizes";
        return Err(Failure::usage(why));
    }
    let mut plan = Plan::default();
    options.output.iter().for_each(|path| plan.write("--output", path));
    options.plot.iter().for_each(|path| plan.write("--plot", path));
    let mut outputs = plan.check()?;
    let store = store(options.store.as_deref())?;
    let ids = catalog.claims.figures(options.output.is_some());
    let failure = compute(options, catalog, &store, &ids).unwrap_or_else(Some);
    let stop = stop_flag()?;
    if stop.load(std::sync::atomic::Ordering::Relaxed) {
        outputs.interrupted();
    }
    let mut measured = Measured::new(catalog, &store, options.scale());
    if let Some(path) = &options.output {
        let page = page::page(catalog, &mut measured)?;
        outputs.write(path, page);
    }
    let outcomes = page::outcomes(catalog, &mut measured)?;
    let table = page::summary(catalog, &outcomes);
    let claims = facts::claims(&table.markdown());
    if let Some(path) = &options.plot
        && let Some(chart) = outputs.note(facts::chart(&claims))
    {
        outputs.write(path, chart);
    }
    outputs.show(&(table.render() + &estimated(options)));
    say(format!("selvedge: {}\n", facts::sentence(&claims)));
    outputs.finish(failure)
}
