//! Speedups that a paper states in a figure, for comparison with other runs.
use super::catalog::Catalog;
use super::metric::Unit;
use super::paper::mean;
use super::table::ALL;
use crate::error::Failure;
use serde::Serialize;

/// Name of the quantity that is a speedup.
const SPEEDUP: &str = "speedup";

/// Speedups of a figure.
#[derive(Clone, Debug, Serialize)]
pub struct Speedups {
    /// Title of the figure.
    pub title: String,
    /// Kind of mean over its groups: `geometric`, `harmonic` or `arithmetic`.
    pub mean: String,
    /// Stated speedups.
    pub values: Vec<Speedup>,
}

/// A stated speedup.
#[derive(Clone, Debug, Serialize)]
pub struct Speedup {
    of: String,
    over: Over,
    series: String,
    value: f64,
    place: String,
}

/// Workloads that a value covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// One workload.
    Workload,
    /// Mean of these workloads.
    Group(Vec<String>),
    /// Mean of all workloads.
    All,
    /// Maximum of all workloads.
    Most,
    /// Minimum of all workloads.
    Least,
}

impl Speedups {
    /// Adds a value that the paper states in `place`.
    pub fn add(&mut self, of: String, over: Over, series: String, value: f64, place: String) {
        self.values.push(Speedup { of, over, series, value, place });
    }
}

/// Returns the speedups that the paper states in the figure `id`.
///
/// # Errors
/// Fails if the figure does not exist or has no stated speedup.
pub fn speedups(id: &str) -> Result<Speedups, Failure> {
    let catalog = Catalog::load()?;
    let (paper, figure) = catalog.figure(id)?;
    let title = format!("{}, {}: {}", paper.name, figure.figure, figure.title);
    let mean = mean(paper.mean, figure, Unit::Ratio).to_string();
    let mut found = Speedups { title, mean, values: Vec::new() };
    for stated in figure.value.iter().filter(|stated| figure.metric_of(stated) == SPEEDUP) {
        let over = match (stated.of.as_str(), catalog.group(&stated.of)) {
            ("most", _) => Over::Most,
            ("least", _) => Over::Least,
            (ALL, _) => Over::All,
            (_, Some(group)) => Over::Group(group.workloads.clone()),
            (_, None) => Over::Workload,
        };
        found.add(stated.of.clone(), over, stated.series.clone(), stated.value, stated.place.clone());
    }
    if found.values.is_empty() {
        return Err(Failure::usage(format!("{id}: the paper's text and tables state no speedup of it")));
    }
    Ok(found)
}
