//! Data of a paper: its figures, their measurement here, and the values that it states.
use super::metric::{Mean, Unit};
use serde::Deserialize;
use strum::Display;

/// Figures of a paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Name in tables.
    pub name: String,
    /// Mean over its groups, unless a figure overrides it.
    pub mean: Mean,
    /// Groups of applications.
    #[serde(default)]
    pub group: Vec<Group>,
    /// Figures and tables.
    pub figure: Vec<Figure>,
}

/// Group of applications for which a paper states a mean.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Name, unique among all papers.
    pub name: String,
    /// Description of the applications.
    pub what: String,
    /// Labels of the applications in studies.
    pub workloads: Vec<String>,
}

/// A figure or table, or an experiment that isolates a cause.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Name on the command line.
    pub id: String,
    /// Number or place in the paper.
    pub figure: String,
    /// Title in tables.
    pub title: String,
    /// Quantities that it shows (`metrics.toml`), the main one first.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// Reference with which each point is compared.
    #[serde(default)]
    pub reference: Reference,
    /// Mean over its groups. By default, that of the paper.
    pub mean: Option<Mean>,
    /// Study with its points. By default, it has the name of the figure.
    pub runs: Option<String>,
    /// Groups whose means it shows. If empty, all groups with an application of the figure.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Workloads that it shows. If empty, all of the study.
    #[serde(default)]
    pub workloads: Vec<String>,
    /// Series that it shows. If empty, all of the study.
    #[serde(default)]
    pub series: Vec<String>,
    /// Remark on the figure.
    pub note: Option<String>,
    /// Reason if the simulator cannot express it.
    pub not_expressed: Option<String>,
    /// Values that the paper states.
    #[serde(default)]
    pub value: Vec<Stated>,
}

impl Figure {
    /// Returns the name of the study with its points.
    pub fn study(&self) -> &str {
        self.runs.as_deref().unwrap_or(&self.id)
    }

    /// Returns the quantity of a stated value.
    pub fn metric_of<'a>(&'a self, value: &'a Stated) -> &'a str {
        value.metric.as_deref().unwrap_or_else(|| self.metrics.first().map_or("", String::as_str))
    }
}

/// Reference of a point: the point that is the same except for the values given here.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Label of the reference's mechanism.
    pub mechanism: Option<String>,
    /// Label of the reference's configuration.
    pub config: Option<String>,
    /// Sharing policy of the reference.
    pub share: Option<String>,
}

/// A value that a paper states.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stated {
    /// Quantity. By default, the figure's first one.
    pub metric: Option<String>,
    /// An application, a group for its mean, or `most` or `least` for the max or min of all applications.
    pub of: String,
    /// Name of the series.
    pub series: String,
    /// Value in the quantity's unit: a ratio, a fraction or a number.
    pub value: f64,
    /// Source of the value in the paper.
    pub read: Read,
    /// Section or page that states it.
    pub place: String,
    /// Words of the paper that state it.
    pub words: Option<String>,
}

/// Source of a value in a paper.
#[derive(Clone, Copy, Debug, Deserialize, Display, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Read {
    /// Stated in the text.
    Text,
    /// Printed in a table.
    Table,
    /// Measured in a bar chart.
    BarChart,
}

/// Returns the mean over a figure's groups: the figure's or the paper's for ratios, the arithmetic mean for other
/// units.
pub fn mean(paper: Mean, figure: &Figure, unit: Unit) -> Mean {
    match unit {
        Unit::Ratio => figure.mean.unwrap_or(paper),
        Unit::Fraction | Unit::Number => Mean::Arithmetic,
    }
}
