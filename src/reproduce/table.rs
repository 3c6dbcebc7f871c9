//! A figure's quantity as a table: a row per application, means of groups, and the paper's values.
use super::catalog::Catalog;
use super::metric::{Mean, Metric, Unit};
use super::paper::{Figure, Paper, Stated, mean};
use super::sample::{Sample, reference};
use crate::error::Failure;

/// Name of the mean of all applications of a figure.
pub const ALL: &str = "all shown";

/// Changes below this count as no change.
const NO_CHANGE: f64 = 0.01;

/// Max change here if the paper states no change, since a mean of many applications is never exactly 1.
const ALMOST_NO_CHANGE: f64 = 0.02;
/// The smallest change that a percentage with one decimal shows.
const SHOWN_CHANGE: f64 = 0.0005;

/// A quantity of a figure.
#[derive(Debug)]
pub struct Panel {
    /// Name of the quantity.
    pub metric: String,
    /// Title in tables.
    pub title: String,
    /// Kind of the values.
    pub unit: Unit,
    /// Mean over its groups.
    pub mean: Mean,
    /// Series, in the order of the study.
    pub series: Vec<String>,
    /// Applications, in the order of the study.
    pub rows: Vec<Line>,
    /// Means over groups.
    pub means: Vec<Line>,
    /// Values of the paper with ours.
    pub compared: Vec<Compared>,
}

/// Values of an application or group, one per series.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Application or group.
    pub name: String,
    /// Number of a group's applications with a value in every series that has values, and number of all its
    /// applications. 1 of 1 for an application.
    pub of: (usize, usize),
    /// Value per series, if measured.
    pub values: Vec<Option<f64>>,
}

/// A value of a paper with ours.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Value that the paper states.
    pub stated: Stated,
    /// Unit of the quantity.
    pub unit: Unit,
    /// Our value, if measured.
    pub ours: Option<f64>,
    /// `true` if our value is on the same side of 1 as the paper's. `None` for a quantity that is not a ratio.
    pub sign: Option<bool>,
    /// Rivals in the same order as in the paper, and all rivals for which the paper states a different value.
    pub order: (usize, usize),
}

impl Compared {
    /// Returns the difference between our value and the paper's.
    pub fn difference(&self) -> Option<f64> {
        self.ours.map(|ours| self.unit.difference(ours, self.stated.value))
    }
}

/// Returns the panels of `figure` from the samples of its study.
///
/// # Errors
/// Fails if the figure names a quantity that does not exist.
pub fn panels(
    catalog: &Catalog,
    paper: &Paper,
    figure: &Figure,
    samples: &[Sample],
) -> Result<Vec<Panel>, Failure> {
    figure
        .metrics
        .iter()
        .map(|name| Ok(panel(catalog, paper, figure, samples, (name, catalog.metric(name)?))))
        .collect()
}

fn panel(
    catalog: &Catalog,
    paper: &Paper,
    figure: &Figure,
    samples: &[Sample],
    (name, metric): (&str, &Metric),
) -> Panel {
    let is_shown = |list: &[String], one: &str| list.is_empty() || list.iter().any(|shown| shown == one);
    let workloads = distinct(samples.iter().map(|one| one.labels.workload.as_str()));
    let workloads: Vec<String> =
        workloads.into_iter().filter(|one| is_shown(&figure.workloads, one)).collect();
    let series = distinct(samples.iter().map(|one| one.series.as_str()));
    let series: Vec<String> = series.into_iter().filter(|one| is_shown(&figure.series, one)).collect();
    let value = |workload: &str, series: &str| {
        let sample = samples.iter().find(|one| one.labels.workload == workload && one.series == series)?;
        let report = sample.report.as_ref().ok()?;
        metric.value(report, reference(samples, sample, &figure.reference))
    };
    let rows: Vec<Line> = workloads
        .iter()
        .map(|workload| Line {
            name: workload.clone(),
            of: (1, 1),
            values: series.iter().map(|series| value(workload, series)).collect(),
        })
        .collect();
    let mean = mean(paper.mean, figure, metric.unit);
    let mut means: Vec<Line> = catalog
        .groups_of(paper, figure, &workloads)
        .into_iter()
        .map(|group| mean_of(&group.name, &group.workloads, &rows, series.len(), mean))
        .collect();
    let is_stated = figure.value.iter().any(|value| value.of == ALL);
    if is_stated || (means.is_empty() && rows.len() > 1) {
        means.push(mean_of(ALL, &workloads, &rows, series.len(), mean));
    }
    let mut panel = Panel {
        metric: name.into(),
        title: metric.title.clone(),
        unit: metric.unit,
        mean,
        series,
        rows,
        means,
        compared: Vec::new(),
    };
    let stated: Vec<&Stated> = figure.value.iter().filter(|value| figure.metric_of(value) == name).collect();
    panel.compared = stated.iter().map(|one| compared(&panel, one, &stated)).collect();
    panel
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in names {
        if !found.iter().any(|one| one == name) {
            found.push(name.into());
        }
    }
    found
}

/// Returns the mean of a group. It leaves out applications that lack a value in a series in which others have one.
fn mean_of(name: &str, members: &[String], rows: &[Line], series: usize, mean: Mean) -> Line {
    let members: Vec<&Line> = rows.iter().filter(|row| members.contains(&row.name)).collect();
    let is_used = |at: usize| members.iter().any(|row| row.values[at].is_some());
    let used: Vec<usize> = (0..series).filter(|at| is_used(*at)).collect();
    let complete: Vec<&&Line> =
        members.iter().filter(|row| used.iter().all(|at| row.values[*at].is_some())).collect();
    let values = (0..series)
        .map(|at| {
            let values: Vec<f64> = complete.iter().filter_map(|row| row.values[at]).collect();
            mean.of(&values)
        })
        .collect();
    Line { name: name.into(), of: (complete.len(), members.len()), values }
}

impl Panel {
    /// Returns the value of an application, a group, or the `most` or `least` of all applications.
    pub fn value(&self, of: &str, series: &str) -> Option<f64> {
        let at = self.series.iter().position(|one| one == series)?;
        let all = || self.rows.iter().filter_map(|row| row.values[at]);
        match of {
            "most" => all().reduce(f64::max),
            "least" => all().reduce(f64::min),
            of => self.means.iter().chain(&self.rows).find(|line| line.name == of)?.values[at],
        }
    }
}

fn compared(panel: &Panel, stated: &Stated, all: &[&Stated]) -> Compared {
    let ours = panel.value(&stated.of, &stated.series);
    let sign = ours.filter(|_| panel.unit == Unit::Ratio).map(|ours| is_same_sign(ours, stated.value));
    let rivals = all.iter().filter(|other| other.of == stated.of && other.series != stated.series);
    let mut order = (0, 0);
    for rival in rivals {
        let theirs = stated.value - rival.value;
        let Some((ours, rivals)) = ours.zip(panel.value(&rival.of, &rival.series)) else { continue };
        if theirs.abs() < NO_CHANGE {
            continue;
        }
        order.1 += 1;
        order.0 += usize::from((ours > rivals) == (theirs > 0.0) && ours != rivals);
    }
    Compared { stated: stated.clone(), unit: panel.unit, ours, sign, order }
}

/// Returns whether both are above 1, or both below. A change that rounds to 0.0% is neither. If the paper has no change,
/// ours must be within two points of 1.
fn is_same_sign(ours: f64, paper: f64) -> bool {
    if (paper - 1.0).abs() < NO_CHANGE {
        return (ours - 1.0).abs() <= ALMOST_NO_CHANGE;
    }
    (ours > 1.0) == (paper > 1.0) && (ours - 1.0).abs() >= SHOWN_CHANGE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_is_more_or_less_than_one_and_no_change_is_within_two_points() {
        assert!(is_same_sign(1.001, 1.192) && !is_same_sign(0.999, 1.192) && !is_same_sign(1.0, 1.192));
        assert!(is_same_sign(0.9994, 0.918) && !is_same_sign(0.9996, 0.918));
        assert!(is_same_sign(1.015, 1.0) && !is_same_sign(1.03, 1.0) && !is_same_sign(0.97, 1.003));
    }

    #[test]
    fn a_mean_leaves_out_applications_without_a_value_in_a_series_that_others_have() {
        let line = |name: &str, values: [Option<f64>; 3]| Line {
            name: name.into(),
            of: (1, 1),
            values: values.to_vec(),
        };
        let rows = [
            line("a", [Some(1.0), Some(2.0), None]),
            line("b", [Some(1.0), Some(8.0), None]),
            line("c", [Some(1.0), None, None]),
            line("d", [Some(9.0), Some(9.0), None]),
        ];
        let members = ["a", "b", "c"].map(str::to_owned);
        let mean = mean_of("group", &members, &rows, 3, Mean::Geometric);
        assert_eq!(mean.of, (2, 3));
        assert_eq!(mean.values[0], Some(1.0));
        assert!((mean.values[1].expect("a mean") - 4.0).abs() < 1e-12);
        assert_eq!(mean.values[2], None);
    }
}
