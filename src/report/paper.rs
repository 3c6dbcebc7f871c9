//! Values that papers state, from a figure of `selvedge reproduce` or from a CSV file.
use super::files::Files;
use crate::error::Failure;
use crate::reproduce::{Over, Speedups, speedups};
use serde::Deserialize;
use std::path::Path;

/// A row of the CSV file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    workload: String,
    mechanism: String,
    value: f64,
}

/// Workload name of the row with the geometric mean of all workloads.
const MEAN: &str = "geometric mean";

/// Returns the values of a figure by its name, or the values in a CSV file.
///
/// # Errors
/// Fails if `name` is neither a figure nor such a file, or if the papers state no speedup in the figure.
pub fn read(files: &mut Files, name: &str) -> Result<Speedups, Failure> {
    let path = Path::new(name);
    if path.extension().is_none() && !path.exists() {
        return speedups(name);
    }
    let text = files.read(path, "values of a paper")?;
    let title = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut found = Speedups { title, mean: "geometric".into(), values: Vec::new() };
    for row in csv::Reader::from_reader(text.as_bytes()).into_deserialize::<Row>() {
        let row = row.map_err(|e| {
            let line = e.position().map_or(1, csv::Position::line);
            Failure::usage(format!("{name}:{line}: {e}: must be CSV with workload,mechanism,value"))
        })?;
        if !(row.value.is_finite() && row.value > 0.0) {
            let line = found.values.len() + 2;
            let value = row.value;
            return Err(Failure::usage(format!("{name}:{line}: value = {value}: must be a speedup above 0")));
        }
        let over = if row.workload == MEAN { Over::All } else { Over::Workload };
        found.add(row.workload, over, row.mechanism, row.value, String::new());
    }
    Ok(found)
}
