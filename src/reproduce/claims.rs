//! The headline claims of the papers, and the causes of what differs here, as data.
use super::catalog::Catalog;
use super::metric::Unit;
use super::table::Compared;
use crate::error::Failure;
use serde::Deserialize;

/// A difference above so many points has a cause.
pub const LARGE_POINTS: f64 = 10.0;

/// `claims.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// The headline comparisons.
    pub headline: Vec<Headline>,
    /// Why results differ.
    #[serde(default)]
    pub cause: Vec<Cause>,
}

/// A headline comparison: claims of one figure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Headline {
    /// The figure.
    pub figure: String,
    /// Which of its quantities; its own one unless given.
    pub metric: Option<String>,
    /// The groups or applications whose stated values are claims.
    pub of: Vec<String>,
    /// What the paper says, in one sentence.
    pub says: String,
    /// What is to be known of the comparison.
    pub note: Option<String>,
}

/// Why results differ.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// The name under which the table of claims refers to it.
    pub id: String,
    /// The cause in a few words.
    pub title: String,
    /// The claims that it explains.
    pub explains: Vec<Explained>,
    /// Paragraphs. `{FIGURE|QUANTITY|OF|SERIES}` stands for a measured value; with `|%` behind, for its change in percent.
    pub text: String,
    /// The experiments whose tables stand below the text.
    #[serde(default)]
    pub tables: Vec<String>,
}

/// Claims that a cause explains.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explained {
    /// The figure.
    pub figure: String,
    /// The group or application.
    pub of: String,
    /// The series.
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

    /// Returns the figures whose points the claims need, and those that the causes need besides, each once.
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

/// Returns what stands in braces.
pub fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(place, _)| place)
}

/// A value that a text refers to.
#[derive(Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The figure.
    pub figure: &'a str,
    /// The quantity.
    pub metric: &'a str,
    /// The application or group.
    pub of: &'a str,
    /// The series.
    pub series: &'a str,
    /// Whether its change in percent is meant.
    pub is_change: bool,
}

impl<'a> Place<'a> {
    /// Reads what stands in braces.
    ///
    /// # Errors
    /// It has another form.
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

/// Checks that the claims are stated by the papers, and that the causes refer to claims and experiments that exist.
///
/// # Errors
/// The first that does not.
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
