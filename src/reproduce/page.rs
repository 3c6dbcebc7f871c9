//! Page with the headline claims, the measured values, and the causes of differences.
use super::catalog::Catalog;
use super::claims::{Cause, Headline, Place, is_large, placeholders};
use super::facts;
use super::measured::Measured;
use super::show::{comparison, groups, order, sign, values};
use super::table::Compared;
use crate::error::Failure;
use selvedge_area::Table;
use std::fmt::Write;

/// Text above the tables.
pub(super) const HEAD: &str = include_str!("results_page.md");

/// A headline comparison with its claims.
pub struct Outcome<'a> {
    /// The headline comparison.
    pub headline: &'a Headline,
    /// Claims of the paper with our values.
    pub claims: Vec<Compared>,
}

/// Returns the claims with the measured values.
///
/// # Errors
/// Fails if a claim names a figure, quantity or value that does not exist.
pub fn outcomes<'a>(catalog: &'a Catalog, measured: &mut Measured<'a>) -> Result<Vec<Outcome<'a>>, Failure> {
    let mut all = Vec::new();
    for headline in &catalog.claims.headline {
        let panels = measured.panels(&headline.figure)?;
        let metric = headline.metric.as_deref();
        let panel = match metric {
            Some(name) => panels.iter().find(|panel| panel.metric == name),
            None => panels.first(),
        };
        let panel = panel.ok_or_else(|| {
            Failure::usage(format!("studies/claims.toml: {}: must have the quantity", headline.figure))
        })?;
        let claims = panel.compared.iter().filter(|one| headline.of.contains(&one.stated.of));
        all.push(Outcome { headline, claims: claims.cloned().collect() });
    }
    Ok(all)
}

/// Returns the table of all claims, as text.
pub fn summary(catalog: &Catalog, outcomes: &[Outcome]) -> Table {
    let mut table =
        Table::new(&["figure", "of", "series", "ours", "paper", "difference", "sign", "order", "cause"]);
    for outcome in outcomes {
        for one in &outcome.claims {
            let figure = &outcome.headline.figure;
            table.row(vec![
                figure.clone(),
                one.stated.of.clone(),
                one.stated.series.clone(),
                one.ours.map_or("-".into(), |ours| one.unit.change(ours)),
                one.unit.change(one.stated.value),
                one.ours.map_or("-".into(), |ours| one.unit.show_difference(ours, one.stated.value)),
                sign(one).into(),
                order(one),
                causes(catalog, figure, one),
            ]);
        }
    }
    table
}

/// Returns the names of a claim's causes, or `-` if it needs none.
fn causes(catalog: &Catalog, figure: &str, one: &Compared) -> String {
    if !is_large(one) {
        return "-".into();
    }
    let causes = catalog.claims.causes_of(figure, &one.stated.of, &one.stated.series);
    let names: Vec<&str> = causes.iter().map(|cause| cause.id.as_str()).collect();
    if names.is_empty() { "unknown".into() } else { names.join(", ") }
}

/// Returns the page.
///
/// # Errors
/// Fails if a text refers to a value that does not exist.
pub fn page<'a>(catalog: &'a Catalog, measured: &mut Measured<'a>) -> Result<String, Failure> {
    let outcomes = outcomes(catalog, measured)?;
    let table = linked(catalog, &outcomes);
    let mut text = format!("\n{}\n{table}", facts::counts(&facts::claims(&table)).markdown());
    text += "\n## Comparisons\n";
    for outcome in &outcomes {
        text += &section(catalog, measured, outcome)?;
    }
    text += "\n## Causes\n";
    for cause in &catalog.claims.cause {
        text += &cause_section(measured, cause)?;
    }
    Ok(HEAD.replace("{commit}", &measured.commits()) + &text)
}

/// Returns the table of all claims, with links to the causes.
fn linked(catalog: &Catalog, outcomes: &[Outcome]) -> String {
    let mut text = summary(catalog, outcomes).markdown();
    for cause in &catalog.claims.cause {
        let link = format!("[{0}](#{0})", cause.id);
        for (before, after) in [("| ", " |"), ("| ", ","), (", ", ","), (", ", " |")] {
            text = text.replace(&format!("{before}{}{after}", cause.id), &format!("{before}{link}{after}"));
        }
    }
    text
}

fn section<'a>(
    catalog: &'a Catalog,
    measured: &mut Measured<'a>,
    outcome: &Outcome,
) -> Result<String, Failure> {
    let Headline { figure: id, says, note, metric, .. } = outcome.headline;
    let (paper, figure) = catalog.figure(id)?;
    let panels = measured.panels(id)?;
    let is_meant = |name: &str| metric.as_deref().is_none_or(|metric| metric == name);
    let panel = panels.iter().find(|panel| is_meant(&panel.metric));
    let mut text = format!("\n### {id}\n\n{}, {}: {}. {says}\n", paper.name, figure.figure, figure.title);
    for note in [note, &figure.note].into_iter().flatten() {
        writeln!(text, "{note}").expect("a string takes it");
    }
    if let Some(panel) = panel {
        let sizes = measured.sizes(id)?;
        let groups = groups(catalog, panel).join("; ");
        write!(text, "\n{} ({sizes}). {groups}.\n\n{}", panel.title, values(panel).markdown())
            .expect("a string takes it");
        write!(text, "\n{}", comparison(&panel.compared, true).markdown()).expect("a string takes it");
    }
    Ok(text)
}

fn cause_section<'a>(measured: &mut Measured<'a>, cause: &'a Cause) -> Result<String, Failure> {
    let mut body = cause.text.trim().to_owned();
    for place in placeholders(&cause.text) {
        let value = measured.show(&Place::parse(place)?)?;
        body = body.replace(&format!("{{{place}}}"), &value);
    }
    let mut text = format!("\n### {}\n\n{}.\n\n{body}\n", cause.id, cause.title);
    for table in &cause.tables {
        let figure = measured.figure(table)?;
        for panel in measured.panels(table)?.iter() {
            write!(
                text,
                "\n{}: {}; `selvedge reproduce {table}`:\n\n{}",
                figure.title,
                panel.title,
                values(panel).markdown()
            )
            .expect("a string takes it");
        }
    }
    Ok(text)
}
