//! The speedups that a paper states in a figure, for those who have other runs to put beside them.
use super::catalog::Catalog;
use super::metric::Unit;
use super::paper::mean;
use super::table::ALL;
use crate::error::Failure;
use serde::Serialize;

/// The quantity that is a speedup.
const SPEEDUP: &str = "speedup";

/// The speedups of a figure.
#[derive(Clone, Debug, Serialize)]
pub struct Speedups {
    /// What the figure is called.
    pub title: String,
    /// The mean of its groups: `geometric`, `harmonic` or `arithmetic`.
    pub mean: String,
    /// What is stated.
    pub values: Vec<Speedup>,
}

/// One of them.
#[derive(Clone, Debug, Serialize)]
pub struct Speedup {
    of: String,
    over: Over,
    series: String,
    value: f64,
    place: String,
}

/// Of which workloads a value is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// One.
    Workload,
    /// The mean of these.
    Group(Vec<String>),
    /// The mean of all.
    All,
    /// The greatest of all.
    Most,
    /// The least of all.
    Least,
}

impl Speedups {
    /// Adds a value that `place` of the paper states.
    pub fn add(&mut self, of: String, over: Over, series: String, value: f64, place: String) {
        self.values.push(Speedup { of, over, series, value, place });
    }
}

/// Returns the speedups that are stated in the figure of this name.
///
/// # Errors
/// There is no such figure, or no speedup is stated in it.
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
