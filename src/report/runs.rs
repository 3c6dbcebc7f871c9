//! Runs, from the JSON of `selvedge run` and `selvedge compare` and from the results of studies.
use super::files::Files;
use crate::error::Failure;
use crate::study_command::store;
use selvedge_sim::config::GpuConfig;
use selvedge_sim::report::FORMAT_VERSION;
use selvedge_study::{Point, Provenance, Store, StoredPoint, Study};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Statistics of a launch on the page, as keys of the JSON. The name of the kernel precedes them.
pub const LAUNCH_COLUMNS: [&str; 9] = [
    "cycles",
    "ipc",
    "warp_instructions",
    "l1d.accesses",
    "l1d.miss_rate",
    "l2.accesses",
    "l2.miss_rate",
    "dram.bursts",
    "energy.total_nj",
];

/// Statistics of an SM on the page, as keys of the JSON.
pub const SM_COLUMNS: [&str; 4] =
    ["warp_instructions", "resident_cycles", "l1d.miss_rate", "l1d.reservation_fails"];

/// Max launches of a run on the page.
const MOST_LAUNCHES: usize = 2000;

/// One run.
#[derive(Default, Serialize)]
pub struct Run {
    /// Index of the run's file among the files.
    file: usize,
    pub workload: String,
    size: String,
    pub config: String,
    mechanism: String,
    engine: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<String>,
    result: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// `true` for a run of several programs at the same time.
    programs: bool,
    /// Values of the configuration that a study sets, as pairs of key and value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    settings: Vec<(String, String)>,
    /// Statistics, in the order of the page's columns. Null if the run lacks one.
    values: Vec<Value>,
    /// Name of the kernel and [`LAUNCH_COLUMNS`] of each launch.
    launches: Vec<Vec<Value>>,
    launches_left_out: usize,
    /// [`SM_COLUMNS`] of each SM.
    sms: Vec<Vec<Value>>,
    /// Origin of a study's result.
    #[serde(skip_serializing_if = "Option::is_none")]
    provenance: Option<Provenance>,
    /// The values of a study's configuration.
    #[serde(skip)]
    pub resolved: Option<Arc<GpuConfig>>,
}

/// Runs of all files, with the columns of their statistics.
#[derive(Default)]
pub struct Runs {
    columns: Vec<String>,
    places: HashMap<String, usize>,
    runs: Vec<Run>,
}

/// Objects of a report whose numbers are statistics.
const STATISTICS: [&str; 6] = ["totals", "mechanism_counters", "throughput", "estimate", "programs", "host"];

impl Runs {
    /// Adds the runs of a file. The results of a study are in `folder`, or by default among the user's caches.
    ///
    /// # Errors
    /// Fails if the file cannot be read or has another content, or if the study has no result yet.
    pub fn read(&mut self, files: &mut Files, path: &Path, folder: Option<&Path>) -> Result<(), Failure> {
        if path.extension().is_some_and(|end| end == "toml") {
            files.read(path, "a study")?;
            let study = Study::read(path).map_err(Failure::usage)?;
            return self.study(files.count() - 1, path, &study, &store(folder)?);
        }
        let text = files.read(path, "runs")?;
        let name = path.display().to_string();
        let value: Value = serde_json::from_str(&text).map_err(|e| {
            let (line, column) = (e.line(), e.column());
            Failure::usage(format!("{name}:{line}:{column}: no JSON ({e}): {ALLOWED}"))
        })?;
        let reports = match value {
            Value::Array(all) if !all.is_empty() => all,
            Value::Array(_) => return Err(Failure::usage(format!("{name}: an empty list: {ALLOWED}"))),
            one => vec![one],
        };
        for (at, report) in reports.iter().enumerate() {
            let run = self.report(files.count() - 1, report).map_err(|why| {
                let entry = if reports.len() > 1 { format!("entry {}: ", at + 1) } else { String::new() };
                Failure::usage(format!("{name}: {entry}{why}: {ALLOWED}"))
            })?;
            self.runs.push(run);
        }
        Ok(())
    }

    /// Adds the points of a study.
    fn study(&mut self, file: usize, path: &Path, study: &Study, store: &Store) -> Result<(), Failure> {
        let found: Vec<Option<StoredPoint>> = study.points().iter().map(|point| store.get(point)).collect();
        if found.iter().all(Option::is_none) {
            let (name, folder) = (path.display(), store.folder().display());
            return Err(Failure::usage(format!(
                "{name}: no point has a result in {folder}: `selvedge study {name}` must have run"
            )));
        }
        for (point, entry) in study.points().iter().zip(found) {
            let run = self
                .point(file, point, entry)
                .map_err(|why| Failure::usage(format!("{}: {}: {why}", path.display(), point.name())))?;
            self.runs.push(run);
        }
        Ok(())
    }

    /// Returns the run of a point, with the study's names for its parts.
    fn point(&mut self, file: usize, point: &Point, entry: Option<StoredPoint>) -> Result<Run, String> {
        let (status, reason) = match &entry {
            None => ("missing", None),
            Some(entry) => (entry.status.word(), entry.reason.clone()),
        };
        let (report, provenance) = entry.map_or((None, None), |one| (one.report, Some(one.provenance)));
        let run = match report {
            Some(report) => self.report(file, &report)?,
            None => Run { file, result: status.into(), ..Run::default() },
        };
        let parameters = &point.parameters;
        let set: String = parameters.set.iter().map(|one| format!(" {}={}", one.key, one.cell())).collect();
        Ok(Run {
            workload: point.labels.workload.clone(),
            size: parameters.size.clone(),
            config: format!("{}{set}", point.labels.config),
            mechanism: point.labels.mechanism.clone(),
            engine: parameters.engine.clone(),
            share: parameters.share.clone(),
            settings: parameters.set.iter().map(|one| (one.key.clone(), one.cell())).collect(),
            error: reason.or(run.error),
            provenance,
            resolved: Some(Arc::clone(&point.config)),
            ..run
        })
    }

    fn report(&mut self, file: usize, report: &Value) -> Result<Run, String> {
        let report = report.as_object().ok_or("no object")?;
        match report.get("format_version").and_then(Value::as_u64) {
            Some(version) if version == u64::from(FORMAT_VERSION) => {}
            Some(version) => return Err(format!("format_version {version} in place of {FORMAT_VERSION}")),
            None => return Err("no `format_version`".into()),
        }
        let text = |key: &str| report.get(key).and_then(Value::as_str).map(String::from);
        let word = |key: &str| text(key).ok_or_else(|| format!("no text `{key}`"));
        if !report.get("totals").is_some_and(|totals| totals["cycles"].is_u64()) {
            return Err("no number `totals.cycles`".into());
        }
        let programs = report.get("programs").and_then(Value::as_array);
        let list = |key: &str| report.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let launches = list("kernels");
        let workload = programs.map_or_else(|| word("workload"), |all| Ok(joined(all, "workload", "+")))?;
        Ok(Run {
            file,
            // As the usual label in a study.
            workload: match text("values") {
                Some(values) => format!("{workload} {values}"),
                None => workload,
            },
            size: word("size")?,
            config: word("config")?,
            mechanism: word("mechanism")?,
            engine: word("engine")?,
            share: text("share"),
            result: programs.map_or_else(|| word("result"), |all| Ok(joined(all, "result", " ")))?,
            error: text("error"),
            programs: programs.is_some(),
            settings: Vec::new(),
            values: self.values(report),
            launches: launches.iter().take(MOST_LAUNCHES).map(launch).collect(),
            launches_left_out: launches.len().saturating_sub(MOST_LAUNCHES),
            sms: list("sms").iter().map(|sm| picked(sm, &SM_COLUMNS)).collect(),
            provenance: None,
            resolved: None,
        })
    }

    /// Returns the numbers of a report, each at the index of its column.
    fn values(&mut self, report: &Map<String, Value>) -> Vec<Value> {
        let mut found = Vec::new();
        for key in STATISTICS {
            if let Some(value) = report.get(key) {
                flatten(key, value, &mut found);
            }
        }
        let mut values = Vec::new();
        for (name, number) in found {
            let next = self.columns.len();
            let place = *self.places.entry(name.clone()).or_insert(next);
            if place == next {
                self.columns.push(name);
            }
            if values.len() <= place {
                values.resize(place + 1, Value::Null);
            }
            values[place] = number.clone();
        }
        values
    }

    /// Returns the names of the columns, and the runs with a value for each column.
    pub fn finish(mut self) -> (Vec<String>, Vec<Run>) {
        for run in &mut self.runs {
            run.values.resize(self.columns.len(), Value::Null);
        }
        (self.columns, self.runs)
    }
}

/// Allowed contents of a file.
const ALLOWED: &str = "must be the JSON of `selvedge run` or `selvedge compare`, or a study, NAME.toml";

/// Joins the texts of a key in all programs.
fn joined(programs: &[Value], key: &str, by: &str) -> String {
    programs.iter().map(|one| one[key].as_str().unwrap_or("-")).collect::<Vec<_>>().join(by)
}

/// Collects the numbers under `value` with their paths.
fn flatten<'a>(path: &str, value: &'a Value, found: &mut Vec<(String, &'a Value)>) {
    match value {
        Value::Number(_) => found.push((path.to_owned(), value)),
        Value::Object(inner) => {
            inner.iter().for_each(|(key, value)| flatten(&format!("{path}.{key}"), value, found));
        }
        Value::Array(inner) => {
            inner.iter().enumerate().for_each(|(at, value)| flatten(&format!("{path}.{at}"), value, found));
        }
        _ => {}
    }
}

/// Returns the values at the dotted paths, or null if a path does not exist.
fn picked(from: &Value, paths: &[&str]) -> Vec<Value> {
    let at = |path: &&str| path.split('.').fold(from, |value, key| &value[key]).clone();
    paths.iter().map(at).collect()
}

fn launch(report: &Value) -> Vec<Value> {
    let mut row = vec![report["name"].clone()];
    row.extend(picked(report, &LAUNCH_COLUMNS));
    row
}
