//! Points of a study with their results in a store, under the names that figures use.
use super::paper::Reference;
use selvedge_study::{Labels, Point, Status, Store, StoredPoint, Study};
use serde_json::Value;
use std::collections::BTreeSet;

/// Parts of a report that quantities need. The rest is dropped to save memory.
const PARTS: [&str; 4] = ["totals", "mechanism_counters", "throughput", "programs"];

/// A point of a figure.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Labels in the study.
    pub labels: Labels,
    /// Sharing policy of its workloads. Empty for a single workload.
    pub share: String,
    /// Series of the point.
    pub series: String,
    /// Size of its workload.
    pub size: String,
    /// Simulator commit that computed the result.
    pub commit: Option<String>,
    /// Report, or the reason for its absence.
    pub report: Result<Value, String>,
}

impl Sample {
    /// Returns whether `other` is compared with this point.
    fn is_reference_of(&self, other: &Sample, reference: &Reference) -> bool {
        let is = |given: &Option<String>, own: &str, others: &str| own == given.as_deref().unwrap_or(others);
        self.labels.workload == other.labels.workload
            && is(&reference.mechanism, &self.labels.mechanism, &other.labels.mechanism)
            && is(&reference.config, &self.labels.config, &other.labels.config)
            && is(&reference.share, &self.share, &other.share)
    }
}

/// Returns the report of the point with which `sample` is compared.
pub fn reference<'a>(samples: &'a [Sample], sample: &Sample, reference: &Reference) -> Option<&'a Value> {
    samples.iter().find(|one| one.is_reference_of(sample, reference))?.report.as_ref().ok()
}

/// Returns whether the study has the point with which `sample` is compared.
#[cfg(test)]
pub fn is_reference_there(samples: &[Sample], sample: &Sample, to: &Reference) -> bool {
    samples.iter().any(|one| one.is_reference_of(sample, to))
}

/// Returns the points of `study` with their results in `store`.
pub fn samples(study: &Study, store: &Store) -> Vec<Sample> {
    let names = Names::of(study.points());
    study
        .points()
        .iter()
        .map(|point| {
            let entry = store.get(point);
            Sample {
                labels: point.labels.clone(),
                share: point.parameters.share.clone().unwrap_or_default(),
                series: names.series(point),
                size: point.parameters.size.clone(),
                commit: entry.as_ref().map(|entry| entry.provenance.commit.clone()),
                report: entry.ok_or_else(|| "not run".to_owned()).and_then(report),
            }
        })
        .collect()
}

fn report(entry: StoredPoint) -> Result<Value, String> {
    match (entry.status, entry.report) {
        (Status::Done, Some(Value::Object(mut report))) => {
            report.retain(|key, _| PARTS.contains(&key.as_str()));
            Ok(Value::Object(report))
        }
        (status, _) => Err(format!("{}: {}", status.word(), entry.reason.unwrap_or_default())),
    }
}

/// Parts of points that distinguish the series of a study.
struct Names {
    shares: bool,
    mechanisms: bool,
    configs: bool,
}

impl Names {
    fn of(points: &[Point]) -> Self {
        let differ = |part: fn(&Point) -> &str| points.iter().map(part).collect::<BTreeSet<_>>().len() > 1;
        Names {
            shares: differ(|point| point.parameters.share.as_deref().unwrap_or_default()),
            mechanisms: differ(|point| &point.labels.mechanism),
            configs: differ(|point| &point.labels.config),
        }
    }

    /// Returns the name of a point's series: sharing policy, mechanism and configuration, if points differ in them.
    /// After a sharing policy, the mechanism `base` is omitted.
    fn series(&self, point: &Point) -> String {
        let Labels { mechanism, config, .. } = &point.labels;
        let mut parts: Vec<&str> = Vec::new();
        if self.shares {
            parts.extend(point.parameters.share.as_deref());
        }
        let is_plain = !parts.is_empty() && mechanism == "base";
        if self.mechanisms && !is_plain {
            parts.push(mechanism);
        }
        if self.configs {
            parts.push(config);
        }
        if parts.is_empty() {
            parts.push(mechanism);
        }
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn series(text: &str) -> Vec<String> {
        let study = Study::parse(text, Path::new("my.toml")).unwrap_or_else(|e| panic!("{e}"));
        let names = Names::of(study.points());
        study.points().iter().map(|point| names.series(point)).collect()
    }

    #[test]
    fn a_series_is_named_by_what_differs() {
        let mechanisms = series("workloads = [\"bfs\"]\nmechanisms = [\"base\", \"hw-bdi\"]\n");
        assert_eq!(mechanisms, ["base", "hw-bdi"]);
        let both = series(
            "workloads = [\"bfs\"]\nmechanisms = [\"base\", \"mrpb\"]\n\
             configs = [\"gtx480\", { config = \"gtx480\", label = \"64 KB\", set = { \"l1d.sets\" = 128 } }]\n",
        );
        assert_eq!(both, ["base, gtx480", "mrpb, gtx480", "base, 64 KB", "mrpb, 64 KB"]);
        let one = series("workloads = [\"bfs\"]\nmechanisms = [\"base\"]\n");
        assert_eq!(one, ["base"]);
    }

    #[test]
    fn beside_a_way_of_sharing_base_goes_without_saying() {
        let shares = series(
            "workloads = [\"bfs+kmeans\"]\nmechanisms = [\"base\", \"dmil\"]\nshare = [\"spatial\", \"smk-p\"]\n",
        );
        assert_eq!(shares, ["spatial", "spatial, dmil", "smk-p", "smk-p, dmil"]);
    }
}
