//! Formats a figure as text, as CSV and as a chart.
use super::catalog::Catalog;
use super::metric::Unit;
use super::paper::{Figure, Paper};
use super::sample::Sample;
use super::table::{Compared, Line, Panel};
use crate::error::Failure;
use crate::plot::{Bars, Series, bars};
use selvedge_area::Table;
use std::fmt::Write;

/// Cell of a value that does not exist.
pub const NO_VALUE: &str = "-";

/// Returns the tables of a figure, the comparison with the paper, and the missing points.
pub fn text(
    catalog: &Catalog,
    (paper, figure): (&Paper, &Figure),
    samples: &[Sample],
    panels: &[Panel],
) -> String {
    let mut text = format!("{}: {}, {}: {}\n", figure.id, paper.name, figure.figure, figure.title);
    for panel in panels {
        let against = against(figure, panel);
        write!(text, "\n{}{against}\n{}", panel.title, values(panel).render()).expect("a string takes it");
        if !panel.compared.is_empty() {
            text += &format!("\n{}", comparison(&panel.compared, false).render());
        }
    }
    let is_experiment = paper.name == catalog.causes.name;
    if !is_experiment && panels.iter().all(|panel| panel.compared.is_empty()) {
        text += "\nThe paper's text and tables state no value of it.\n";
    }
    let groups = panels.first().map_or(Vec::new(), |panel| groups(catalog, panel));
    if !groups.is_empty() {
        writeln!(text, "\n{}", groups.join("\n")).expect("a string takes it");
    }
    if let Some(note) = &figure.note {
        writeln!(text, "\n{note}").expect("a string takes it");
    }
    text + &missing(figure, samples)
}

/// Describes the reference of ratios.
fn against(figure: &Figure, panel: &Panel) -> String {
    let parts = [&figure.reference.mechanism, &figure.reference.config, &figure.reference.share];
    let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    match panel.unit {
        Unit::Ratio if !parts.is_empty() => format!(", against {}", parts.join(", ")),
        _ => String::new(),
    }
}

/// Returns the table of values: a row per application, then the means.
pub fn values(panel: &Panel) -> Table {
    let mut head = vec!["application"];
    head.extend(panel.series.iter().map(String::as_str));
    let mut table = Table::new(&head);
    let cells = |values: &[Option<f64>]| -> Vec<String> {
        values.iter().map(|value| value.map_or("-".into(), |value| panel.unit.show(value))).collect()
    };
    for row in &panel.rows {
        table.row([row.name.clone()].into_iter().chain(cells(&row.values)).collect());
    }
    for mean in &panel.means {
        table.row([mean_name(panel, mean)].into_iter().chain(cells(&mean.values)).collect());
    }
    table
}

fn mean_name(panel: &Panel, mean: &Line) -> String {
    let (complete, all) = mean.of;
    let of = if complete == all { format!("{all}") } else { format!("{complete} of {all}") };
    format!("{}: {} mean of {of}", mean.name, panel.mean)
}

/// Returns the descriptions of a panel's groups, one line each.
pub fn groups(catalog: &Catalog, panel: &Panel) -> Vec<String> {
    let known = panel.means.iter().filter_map(|mean| catalog.group(&mean.name));
    known.map(|group| format!("{}: {}", group.name, group.what)).collect()
}

/// Returns the table that compares the paper's values with ours. `with_words` adds the paper's words.
pub fn comparison(all: &[Compared], with_words: bool) -> Table {
    let mut table =
        Table::new(&["of", "series", "ours", "paper", "difference", "sign", "order", "read", "place"]);
    for one in all {
        table.row(vec![
            one.stated.of.clone(),
            one.stated.series.clone(),
            one.ours.map_or("-".into(), |ours| one.unit.show(ours)),
            one.unit.show(one.stated.value),
            one.ours.map_or("-".into(), |ours| one.unit.show_difference(ours, one.stated.value)),
            sign(one).into(),
            order(one),
            one.stated.read.to_string(),
            match &one.stated.words {
                Some(words) if with_words => format!("{}: \"{words}\"", one.stated.place),
                _ => one.stated.place.clone(),
            },
        ]);
    }
    table
}

/// Returns a word for the sign: right, wrong, or `-` without a sign.
pub fn sign(one: &Compared) -> &'static str {
    match one.sign {
        Some(true) => "right",
        Some(false) => "wrong",
        None => NO_VALUE,
    }
}

/// Returns the number of rivals in the same order as in the paper.
pub fn order(one: &Compared) -> String {
    match one.order {
        (_, 0) => "-".into(),
        (right, all) => format!("{right} of {all}"),
    }
}

/// Returns the points without a result, grouped by reason.
fn missing(figure: &Figure, samples: &[Sample]) -> String {
    let is_shown = |list: &[String], one: &String| list.is_empty() || list.contains(one);
    let shown = samples.iter().filter(|one| {
        is_shown(&figure.workloads, &one.labels.workload) && is_shown(&figure.series, &one.series)
    });
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for sample in shown {
        let Err(why) = &sample.report else { continue };
        let name = format!("{} {}", sample.labels.workload, sample.series);
        match reasons.iter_mut().find(|(reason, _)| reason == why) {
            Some((_, names)) => names.push(name),
            None => reasons.push((why, vec![name])),
        }
    }
    let line = |(why, names): &(&str, Vec<String>)| {
        let more = names.len().saturating_sub(3);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("- {}{more}: {why}\n", names[..names.len().min(3)].join("; "))
    };
    let lines: String = reasons.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// Returns all values as CSV, with a row per series of each application and mean.
pub fn csv(figure: &Figure, panels: &[Panel]) -> String {
    let mut out = csv::Writer::from_writer(Vec::new());
    let mut row = |cells: [&str; 8]| out.write_record(cells).expect("memory takes it");
    row(["figure", "quantity", "of", "kind", "series", "ours", "paper", "read"]);
    for panel in panels {
        let lines = panel.rows.iter().map(|line| (line, "application"));
        for (line, kind) in lines.chain(panel.means.iter().map(|line| (line, "mean"))) {
            for (series, value) in panel.series.iter().zip(&line.values) {
                let mut stated = panel.compared.iter().map(|one| &one.stated);
                let stated = stated.find(|stated| stated.of == line.name && stated.series == *series);
                let ours = value.map_or(String::new(), |value| value.to_string());
                let paper = stated.map_or(String::new(), |stated| stated.value.to_string());
                let read = stated.map_or(String::new(), |stated| stated.read.to_string());
                row([&figure.id, &panel.metric, &line.name, kind, series, &ours, &paper, &read]);
            }
        }
    }
    String::from_utf8(out.into_inner().expect("memory takes it")).expect("text makes text")
}

/// Returns a chart of the figure's main quantity: bars of applications and means, and diamonds at the values that the
/// paper states.
///
/// # Errors
/// Fails if the chart cannot be drawn.
pub fn chart(panel: &Panel) -> Result<String, Failure> {
    let lines: Vec<&Line> = panel.rows.iter().chain(&panel.means).collect();
    let groups: Vec<String> = lines.iter().map(|line| line.name.clone()).collect();
    let series: Vec<Series> = panel
        .series
        .iter()
        .enumerate()
        .map(|(at, name)| Series {
            name: name.clone(),
            values: lines.iter().map(|line| line.values[at]).collect(),
        })
        .collect();
    let place = |names: &[String], name: &str| names.iter().position(|one| one == name);
    let stated: Vec<(usize, usize, f64)> = panel
        .compared
        .iter()
        .map(|one| &one.stated)
        .filter_map(|one| Some((place(&groups, &one.of)?, place(&panel.series, &one.series)?, one.value)))
        .collect();
    let note = if stated.is_empty() { "" } else { " (diamonds: the paper's values)" };
    let title = format!("{}{note}", panel.title);
    bars(&Bars { title: &title, axis: &panel.metric, groups: &groups, series: &series, stated: &stated })
}
