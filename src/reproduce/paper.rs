//! What the papers print, as data: figures with how they are measured here, and the values that the papers state.
use super::metric::{Mean, Unit};
use serde::Deserialize;
use strum::Display;

/// A paper's figures.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// The name in tables.
    pub name: String,
    /// The mean of its groups unless a figure has another.
    pub mean: Mean,
    /// Its groups of applications.
    #[serde(default)]
    pub group: Vec<Group>,
    /// Its figures.
    pub figure: Vec<Figure>,
}

/// Applications of which a paper gives a mean.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Its name, which no other paper's group has.
    pub name: String,
    /// Which applications are in it, in words.
    pub what: String,
    /// Their labels in studies.
    pub workloads: Vec<String>,
}

/// A figure or table, or an experiment that isolates a cause.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The name by which the command knows it.
    pub id: String,
    /// Its place in the paper.
    pub figure: String,
    /// What it shows.
    pub title: String,
    /// The quantities that it shows (`metrics.toml`), its own one first.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// With what each point is compared.
    #[serde(default)]
    pub reference: Reference,
    /// The mean of its groups, where it is not the paper's usual one.
    pub mean: Option<Mean>,
    /// The study with its points, where that has another name.
    pub runs: Option<String>,
    /// The groups of which it has a mean; empty: all whose applications it has.
    #[serde(default)]
    pub groups: Vec<String>,
    /// The workloads that it shows; empty: all of the study.
    #[serde(default)]
    pub workloads: Vec<String>,
    /// The series that it shows; empty: all of the study.
    #[serde(default)]
    pub series: Vec<String>,
    /// What else is to be known.
    pub note: Option<String>,
    /// Why the simulator cannot express it.
    pub not_expressed: Option<String>,
    /// What the paper states.
    #[serde(default)]
    pub value: Vec<Stated>,
}

impl Figure {
    /// The name of the study with its points.
    pub fn study(&self) -> &str {
        self.runs.as_deref().unwrap_or(&self.id)
    }

    /// The quantity of a stated value.
    pub fn metric_of<'a>(&'a self, value: &'a Stated) -> &'a str {
        value.metric.as_deref().unwrap_or_else(|| self.metrics.first().map_or("", String::as_str))
    }
}

/// The point with which another is compared: the same but for what is given here.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Label of the mechanism.
    pub mechanism: Option<String>,
    /// Label of the configuration.
    pub config: Option<String>,
    /// Way of sharing.
    pub share: Option<String>,
}

/// A value that a paper states.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stated {
    /// The quantity; the figure's first one unless given.
    pub metric: Option<String>,
    /// An application, a group of which it is the mean, or `most` or `least` of all applications.
    pub of: String,
    /// The series.
    pub series: String,
    /// The value in the quantity's unit: a ratio, a fraction or a number.
    pub value: f64,
    /// How it was read.
    pub read: Read,
    /// Where it stands.
    pub place: String,
    /// The words that state it.
    pub words: Option<String>,
}

/// How a value was read.
#[derive(Clone, Copy, Debug, Deserialize, Display, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Read {
    /// The text states it.
    Text,
    /// A table has it.
    Table,
    /// Measured on the bars of a picture.
    BarChart,
}

/// Returns the mean of a figure's groups: that of ratios is the paper's, others are averaged.
pub fn mean(paper: Mean, figure: &Figure, unit: Unit) -> Mean {
    match unit {
        Unit::Ratio => figure.mean.unwrap_or(paper),
        Unit::Fraction | Unit::Number => Mean::Arithmetic,
    }
}
