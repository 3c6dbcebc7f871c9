//! The values of a paper's figure: a TOML file of a study, or CSV.
use super::files::Files;
use crate::error::Failure;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A figure of a paper.
#[derive(Serialize)]
pub struct Figure {
    title: String,
    values: Vec<Bar>,
}

/// A bar of it: a speedup.
#[derive(Serialize)]
struct Bar {
    /// None: the geometric mean.
    workload: Option<String>,
    mechanism: String,
    value: f64,
}

/// What a CSV has in a row.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    workload: String,
    mechanism: String,
    value: f64,
}

/// The workload of a row that is the geometric mean.
const MEAN: &str = "geometric mean";

/// Reads a figure.
///
/// # Errors
/// It cannot be read, or is no such file.
pub fn read(files: &mut Files, path: &Path) -> Result<Figure, Failure> {
    let text = files.read(path, "a paper's figure")?;
    let name = path.display().to_string();
    let title = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut values = Vec::new();
    for row in csv::Reader::from_reader(text.as_bytes()).into_deserialize::<Row>() {
        let row = row.map_err(|e| {
            let line = e.position().map_or(1, csv::Position::line);
            Failure::usage(format!("{name}:{line}: {e}: must be CSV with workload,mechanism,value"))
        })?;
        if !(row.value.is_finite() && row.value > 0.0) {
            let line = values.len() + 2;
            let value = row.value;
            return Err(Failure::usage(format!("{name}:{line}: value = {value}: must be a speedup above 0")));
        }
        let workload = (row.workload != MEAN).then_some(row.workload);
        values.push(Bar { workload, mechanism: row.mechanism, value: row.value });
    }
    Ok(Figure { title, values })
}
