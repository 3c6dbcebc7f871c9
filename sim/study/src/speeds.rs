//! Measured times of built-in workloads, for hosts that have not run anything yet.
use crate::estimate::remembered_s;
use crate::factors::{Factors, NameIndices, TimedRun};
use crate::parameters::Parameters;
use crate::point::Point;
use crate::store::Store;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Mechanism to which the factors of the others refer.
const BASELINE: &str = "base";
/// Cycles to which the seconds of simultaneous workloads refer.
const CYCLES_TOGETHER: f64 = 1e6;

/// Measurements for this version.
static MEASURED: LazyLock<Option<Speeds>> =
    LazyLock::new(|| toml::from_str(include_str!("speeds.toml")).ok());

/// Measured times of simulations on one host, with the engine `model` on one core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Speeds {
    /// Seconds of the short run by which hosts are compared.
    pub short_run_s: f64,
    /// Time under each mechanism divided by the time under the baseline.
    mechanisms: BTreeMap<String, f64>,
    /// Seconds of each workload and size under the baseline. For workloads that run at the same time, seconds of a million
    /// cycles.
    workloads: BTreeMap<String, f64>,
}

/// Returns the seconds of a built-in workload on the host of the measurements. A workload or size without measurement counts as
/// one second under the baseline.
pub fn measured_s(workload: &str, size: &str, mechanism: &str) -> f64 {
    let Some(speeds) = Speeds::measured() else { return 1.0 };
    let seconds = speeds.workloads.get(&format!("{workload} {size}")).unwrap_or(&1.0);
    seconds * speeds.mechanism(mechanism)
}

/// Returns the key of a point's workload in the measurements. Returns `None` for workloads and inputs of the user.
fn workload(point: &Point) -> Option<String> {
    let p = &point.parameters;
    (p.input.is_none() && p.size != "-").then(|| format!("{} {}", p.workload, p.size))
}

/// Returns the ratio of a point's time to the measured time of its workload.
fn scale(point: &Point) -> f64 {
    point.parameters.cycles_together.map_or(1.0, |cycles| cycles as f64 / CYCLES_TOGETHER)
}

/// Rounds to three significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

impl Speeds {
    /// Returns the measurements for this version.
    pub(crate) fn measured() -> Option<&'static Speeds> {
        MEASURED.as_ref()
    }

    /// Fits the measured times of points in the store. `short_run_s` is the time of the short run on this host.
    pub fn fit<'p>(points: impl IntoIterator<Item = &'p Point>, store: &Store, short_run_s: f64) -> Self {
        let (mut workloads, mut mechanisms) = (NameIndices::default(), NameIndices::default());
        let mut evidence = Vec::new();
        let mut seen = BTreeSet::new();
        let is_measured = |point: &&Point| {
            let Parameters { engine, max_cycles, intervals, .. } = &point.parameters;
            engine == "model" && max_cycles.is_none() && intervals.is_none()
        };
        for point in points.into_iter().filter(is_measured) {
            let Some(workload) = workload(point) else { continue };
            if !seen.insert((workload.clone(), point.parameters.mechanism.clone())) {
                continue;
            }
            let Some(taken) = remembered_s(store, point) else { continue };
            evidence.push(TimedRun {
                workload: workloads.number(&workload),
                mechanism: mechanisms.number(&point.parameters.mechanism),
                taken,
                expected: scale(point),
            });
        }
        let factors = Factors::fit(&evidence, workloads.len(), mechanisms.len(), 0.0);
        let baseline = mechanisms.0.get(BASELINE).map_or(1.0, |number| factors.mechanisms[*number]);
        Speeds {
            short_run_s: rounded(short_run_s),
            mechanisms: mechanisms
                .0
                .into_iter()
                .map(|(name, number)| (name, rounded(factors.mechanisms[number] / baseline)))
                .collect(),
            workloads: workloads
                .0
                .into_iter()
                .filter_map(|(name, number)| Some((name, rounded(factors.workloads[number]? * baseline))))
                .collect(),
        }
    }

    /// Returns the seconds of a point on the host of the measurements. Returns `None` if its workload was not measured.
    pub(crate) fn seconds(&self, point: &Point) -> Option<f64> {
        let seconds = self.workloads.get(&workload(point)?)?;
        Some(seconds * scale(point) * self.mechanism(&point.parameters.mechanism))
    }

    /// Returns the time of a mechanism relative to the baseline: with its options, else without options, else 1.
    pub(crate) fn mechanism(&self, name: &str) -> f64 {
        let plain = name.split(',').next().unwrap_or(name);
        *self.mechanisms.get(name).or_else(|| self.mechanisms.get(plain)).unwrap_or(&1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_this_version_is_readable_and_has_the_baseline() {
        let speeds = Speeds::measured().expect("it is TOML with the right names");
        assert_eq!(speeds.mechanism(BASELINE), 1.0);
        assert!(speeds.workloads.len() > 50, "{} workloads", speeds.workloads.len());
    }

    #[test]
    fn a_mechanism_with_other_options_takes_as_long_as_without() {
        let mechanisms = [("base", 1.0), ("slow", 3.0), ("slow,way=1", 2.0)];
        let speeds = Speeds {
            short_run_s: 1.0,
            mechanisms: mechanisms.map(|(name, factor)| (name.to_owned(), factor)).into(),
            workloads: BTreeMap::new(),
        };
        assert_eq!(
            ["slow", "slow,way=1", "slow,way=2", "other"].map(|name| speeds.mechanism(name)),
            [3.0, 2.0, 3.0, 1.0]
        );
    }
}
