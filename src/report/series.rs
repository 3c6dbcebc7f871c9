//! Intervals of runs over time, from the CSV of `selvedge run --series`.
use super::files::Files;
use crate::error::Failure;
use csv::StringRecord;
use serde::Serialize;
use std::path::Path;

/// Max intervals of a file.
const MOST_ROWS: usize = 50_000;

/// Columns that identify the run and the interval of a row. All other columns are statistics.
const KEYS: [&str; 4] = ["workload", "mechanism", "from_cycle", "to_cycle"];

/// The intervals of one run.
#[derive(Clone, Serialize)]
pub struct Timeline {
    workload: String,
    mechanism: String,
    columns: Vec<String>,
    /// First cycle, cycle after the last, and a value for each column; null where the file has none.
    rows: Vec<Vec<Option<f64>>>,
}

/// Reads the runs of a file, in the order of their first rows.
///
/// # Errors
/// Fails if the file cannot be read, is not such a CSV, or has too many rows.
pub fn read(files: &mut Files, path: &Path) -> Result<Vec<Timeline>, Failure> {
    let text = files.read(path, "intervals")?;
    let name = path.display();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(|e| Failure::usage(format!("{name}: no CSV: {e}")))?.clone();
    let place = |key: &str| {
        header.iter().position(|column| column == key).ok_or_else(|| {
            Failure::usage(format!("{name}:1: no column {key}: must be the CSV of `selvedge run --series`"))
        })
    };
    let mut keys = [0; KEYS.len()];
    for (at, key) in keys.iter_mut().zip(KEYS) {
        *at = place(key)?;
    }
    let [workload, mechanism, from, to] = keys;
    let statistics: Vec<usize> = (0..header.len()).filter(|at| !keys.contains(at)).collect();
    let mut all: Vec<Timeline> = Vec::new();
    for (count, row) in reader.records().enumerate() {
        let row = row.map_err(|e| Failure::usage(format!("{name}: no CSV: {e}")))?;
        if count == MOST_ROWS {
            return Err(Failure::usage(format!(
                "{name}: more than {MOST_ROWS} rows: must be fewer (a greater --every)"
            )));
        }
        let cycle = |at: usize| {
            row[at].parse::<u64>().map(|cycle| Some(cycle as f64)).map_err(|_| {
                let line = row.position().map_or(0, csv::Position::line);
                Failure::usage(format!(
                    "{name}:{line}: {} = {}: must be a cycle",
                    header.get(at).unwrap_or_default(),
                    &row[at]
                ))
            })
        };
        let mut values = vec![cycle(from)?, cycle(to)?];
        values.extend(statistics.iter().map(|at| number(&row, *at)));
        let is_this = |one: &Timeline| one.workload == row[workload] && one.mechanism == row[mechanism];
        if let Some(known) = all.iter_mut().find(|one| is_this(one)) {
            known.rows.push(values);
        } else {
            all.push(Timeline {
                workload: row[workload].into(),
                mechanism: row[mechanism].into(),
                columns: statistics.iter().map(|at| header[*at].into()).collect(),
                rows: vec![values],
            });
        }
    }
    Ok(all)
}

/// Returns the cell's number, or `None` if it is not a finite number.
fn number(row: &StringRecord, at: usize) -> Option<f64> {
    row[at].parse().ok().filter(|value: &f64| value.is_finite())
}
