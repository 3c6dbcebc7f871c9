//! Headline claims of the papers, and the causes of differences, as data.
use super::catalog::Catalog;
use super::metric::Unit;
use super::table::Compared;
use crate::error::Failure;
use serde::Deserialize;

/// Difference in percentage points above which a claim needs a cause.
pub const LARGE_POINTS: f64 = 10.0;

/// Content of `claims.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// Headline comparisons.
    pub headline: Vec<Headline>,
    /// Causes of differences.
    #[serde(default)]
    pub cause: Vec<Cause>,
}

/// A headline comparison: claims of one figure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Headline {
    /// Name of the figure.
    pub figure: String,
    /// Quantity of the figure. By default, the figure's first one.
    pub metric: Option<String>,
    /// Groups or applications whose stated values are claims.
    pub of: Vec<String>,
    /// Claim of the paper in one sentence.
    pub says: String,
    /// Remark on the comparison.
    pub note: Option<String>,
}

/// Cause of a difference from the papers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// Name by which the table of claims refers to it.
    pub id: String,
    /// Cause in a few words.
    pub title: String,
    /// Claims that it explains.
    pub explains: Vec<Explained>,
    /// Paragraphs. `{FIGURE|QUANTITY|OF|SERIES}` is replaced by a measured value, and with `|%` at its end by the
    /// change in percent.
    pub text: String,
    /// Experiments whose tables follow the text.
    #[serde(default)]
    pub tables: Vec<String>,
}

/// Claims that a cause explains.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explained {
    /// Name of the figure.
    pub figure: String,
    /// Group or application.
    pub of: String,
    /// Names of the series.
    pub series: Vec<String>,
}

impl Claims {
    /// Returns the causes of a claim.
    pub fn causes_of(&self, figure: &str, of: &str, series: &str) -> Vec<&Cause> {
        let explains = |one: &Explained| {
            one.figure == figure && one.of == of && one.series.iter().any(|name| name == series)
        };
        self.cause.iter().filter(|cause| cause.explains.iter().any(explains)).collect()
    }

    /// Returns the distinct figures whose points the claims need. With `with_causes`, adds the figures that the causes need.
    pub fn figures(&self, with_causes: bool) -> Vec<&str> {
        let mut found: Vec<&str> = self.headline.iter().map(|headline| headline.figure.as_str()).collect();
        if with_causes {
            for cause in &self.cause {
                found.extend(cause.tables.iter().map(String::as_str));
                found.extend(placeholders(&cause.text).filter_map(|place| place.split('|').next()));
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        found.retain(|figure| seen.insert(*figure));
        found
    }
}

/// Returns whether a difference is large enough to need a cause.
pub fn is_large(one: &Compared) -> bool {
    one.unit != Unit::Number && one.difference().is_some_and(|points| points.abs() > LARGE_POINTS)
}

/// Returns the texts in braces.
pub fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(place, _)| place)
}

/// Reference from a text to a value.
#[derive(Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// Name of the figure.
    pub figure: &'a str,
    /// Name of the quantity.
    pub metric: &'a str,
    /// Application or group.
    pub of: &'a str,
    /// Name of the series.
    pub series: &'a str,
    /// `true` for the change in percent, `false` for the value.
    pub is_change: bool,
}

impl<'a> Place<'a> {
    /// Parses the text in braces.
    ///
    /// # Errors
    /// Fails if it has another form.
    pub fn parse(text: &'a str) -> Result<Self, Failure> {
        let parts: Vec<&str> = text.split('|').collect();
        match parts[..] {
            [figure, metric, of, series] => Ok(Place { figure, metric, of, series, is_change: false }),
            [figure, metric, of, series, "%"] => Ok(Place { figure, metric, of, series, is_change: true }),
            _ => {
                let form = "must be {FIGURE|QUANTITY|OF|SERIES} or the same with |% behind";
                Err(Failure::usage(format!("studies/claims.toml: {{{text}}}: {form}")))
            }
        }
    }
}

/// Checks that the papers state the claims, and that the causes refer to existing claims and experiments.
///
/// # Errors
/// Fails at the first violation.
pub fn check(catalog: &Catalog) -> Result<(), Failure> {
    let wrong = |what: String| Err(Failure::usage(format!("studies/claims.toml: {what}")));
    for headline in &catalog.claims.headline {
        let (_, figure) = catalog.figure(&headline.figure)?;
        for of in &headline.of {
            if !figure.value.iter().any(|value| value.of == *of) {
                return wrong(format!("{}: {of}: must be something that the paper states", figure.id));
            }
        }
    }
    for cause in &catalog.claims.cause {
        for one in &cause.explains {
            let (_, figure) = catalog.figure(&one.figure)?;
            for series in &one.series {
                if !figure.value.iter().any(|value| value.of == one.of && value.series == *series) {
                    return wrong(format!("{}: {} {series}: must be a claim", cause.id, one.of));
                }
            }
        }
        for table in &cause.tables {
            catalog.figure(table)?;
        }
        for place in placeholders(&cause.text) {
            let place = Place::parse(place)?;
            catalog.figure(place.figure)?;
            catalog.metric(place.metric)?;
        }
    }
    Ok(())
}
