//! Results as tables: a row for each point, a column for each parameter and statistic.
use crate::point::Point;
use crate::store::StoredPoint;
use selvedge_sim::overrides::{Override, value_of};
use selvedge_sim::printable::printable;
use selvedge_sim::report::RunReport;
use selvedge_sim::together::report::TogetherReport;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Keys of a report that are not statistics: parameters, and values that tables omit.
pub const NO_STATISTICS: [&str; 11] = [
    "format_version",
    "workload",
    "size",
    "values",
    "config",
    "mechanism",
    "engine",
    "share",
    "sms",
    "refused",
    "coverage",
];

/// A column that is not a statistic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StudyColumn {
    /// Name in the header.
    pub name: &'static str,
    /// JSON type of its values.
    pub kind: &'static str,
    /// Description of its values.
    pub meaning: &'static str,
}

/// Columns that are not statistics: the parameters of a point and its provenance. In addition, each overridden key of a
/// configuration has a column.
pub const COLUMNS: [StudyColumn; 28] = [
    column("study", "string", "The name of the study."),
    column("point", "integer", "The number of the point, from 0 on."),
    column("workload", "string", "The workload; several at the same time are joined by `+`."),
    column("workload_label", "string", "Label in the study."),
    column("size", "string", "Its size; `-` for files."),
    column("input", "string", "The input file, which replaces the built-in input."),
    column("values", "string", "Model of the values in memory of an Accel-Sim trace."),
    column("config", "string", "The configuration."),
    column("config_label", "string", "Label in the study."),
    column("mechanism", "string", "The mechanism with its options."),
    column("mechanism_label", "string", "Label in the study."),
    column("engine", "string", "Form in which the mechanism's blocks run."),
    column("share", "string", "Policy by which workloads at the same time share the GPU."),
    column("cycles_together", "integer", "Core cycles of workloads that run at the same time."),
    column("alone", "boolean", "`true` if each workload also runs alone."),
    column("max_cycles", "integer", "Core cycles after which the run ends."),
    column("max_instructions", "integer", "Thread instructions after which the run ends."),
    column("intervals", "integer", "Max intervals of a launch from which the run is estimated."),
    column("error_percent", "number", "Max half width of the confidence interval, in percent of the cycles."),
    column("status", "string", "`done`, `unsupported`, `failed` or `missing`."),
    column("reason", "string", "Reason for a missing result."),
    column("key", "string", "Hash of everything that determines the result."),
    column("version", "string", "Version of the simulator."),
    column("commit", "string", "Commit of its sources."),
    column("fingerprint", "string", "Hash of its sources that decide results."),
    column("config_hash", "string", "Hash of every value of the configuration."),
    column("command", "string", "The command that runs the point alone, from the folder of the study file."),
    column("date", "string", "Time of the computation, in UTC."),
];

const fn column(name: &'static str, kind: &'static str, meaning: &'static str) -> StudyColumn {
    StudyColumn { name, kind, meaning }
}

/// Column for the number of launches.
pub const LAUNCHES: StudyColumn = column("launches", "integer", "The number of launches.");

/// Columns for the core cycles at which an interval begins and ends.
pub const INTERVAL: [StudyColumn; 2] = [
    column("from_cycle", "integer", "The core cycle at which the interval begins."),
    column("to_cycle", "integer", "The core cycle at which the interval ends."),
];

/// One row of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StudyRow {
    /// Parameters of the point.
    pub parameters: Vec<(String, Value)>,
    /// Statistics of the report. Names join the keys of the JSON with dots, such as `totals.l1d.misses`.
    pub statistics: BTreeMap<String, Value>,
    /// Values that depend on the simulating host, such as `host.wall_s`.
    pub host: BTreeMap<String, Value>,
    /// Provenance of the result.
    pub provenance: Vec<(String, Value)>,
}

impl StudyRow {
    /// Returns the row of `point` and its entry in the store. `set_keys` are the keys of configurations that have columns.
    pub fn new(study: &str, point: &Point, entry: Option<&StoredPoint>, set_keys: &[String]) -> Self {
        let p = &point.parameters;
        let text = |value: &str| Value::from(value);
        let count = |value: Option<u64>| value.map_or(Value::Null, Value::from);
        let mut parameters = vec![
            ("study".to_owned(), text(study)),
            ("point".into(), point.index.into()),
            ("workload".into(), text(&p.workload)),
            ("workload_label".into(), text(&point.labels.workload)),
            ("size".into(), text(&p.size)),
            ("input".into(), p.input.as_deref().map_or(Value::Null, text)),
            ("values".into(), p.values.as_deref().map_or(Value::Null, text)),
            ("config".into(), text(&p.config)),
            ("config_label".into(), text(&point.labels.config)),
        ];
        for key in set_keys {
            let set = p.set.iter().rev().find(|one| one.key == *key).map(Override::cell);
            let value = set.or_else(|| value_of(&point.config, key)).unwrap_or_default();
            parameters.push((key.clone(), number_or_text(&value)));
        }
        parameters.extend([
            ("mechanism".to_owned(), text(&p.mechanism)),
            ("mechanism_label".into(), text(&point.labels.mechanism)),
            ("engine".into(), text(&p.engine)),
            ("share".into(), p.share.as_deref().map_or(Value::Null, text)),
            ("cycles_together".into(), count(p.cycles_together)),
            ("alone".into(), p.alone.into()),
            ("max_cycles".into(), count(p.max_cycles)),
            ("max_instructions".into(), count(p.max_instructions)),
            ("intervals".into(), count(p.intervals)),
            ("error_percent".into(), p.error_percent.map_or(Value::Null, Value::from)),
            ("status".into(), text(entry.map_or("missing", |entry| entry.status.word()))),
            ("reason".into(), entry.and_then(|entry| entry.reason.as_deref()).map_or(Value::Null, text)),
        ]);
        let mut row = StudyRow { parameters, ..StudyRow::default() };
        if let Some(entry) = entry {
            entry.report.iter().for_each(|report| row.add_report(report));
            let p = &entry.provenance;
            row.provenance = vec![
                ("key".to_owned(), text(point.key.text())),
                ("version".into(), text(&p.version)),
                ("commit".into(), text(&p.commit)),
                ("fingerprint".into(), text(&p.fingerprint)),
                ("config_hash".into(), text(&p.config_hash)),
                ("command".into(), text(&p.command)),
                ("date".into(), text(&p.date)),
            ];
        }
        row
    }

    /// Removes values that differ between two runs of the same study: the date and the values that depend on the host.
    pub fn make_reproducible(&mut self) {
        self.host.clear();
        self.provenance.retain(|(name, _)| name != "date");
    }

    fn add_report(&mut self, report: &Value) {
        let Value::Object(report) = report else { return };
        for (key, value) in report {
            match key.as_str() {
                "host" => flatten(key, value, &mut self.host),
                "kernels" => {
                    let launches = value.as_array().map_or(0, Vec::len);
                    self.statistics.insert(LAUNCHES.name.into(), launches.into());
                }
                key if NO_STATISTICS.contains(&key) => {}
                key => flatten(key, value, &mut self.statistics),
            }
        }
    }

    /// Returns the value of a column.
    pub fn get(&self, column: &str) -> Option<&Value> {
        let of = |pairs: &'_ [(String, Value)]| pairs.iter().position(|(name, _)| name == column);
        of(&self.parameters)
            .map(|at| &self.parameters[at].1)
            .or_else(|| self.statistics.get(column))
            .or_else(|| self.host.get(column))
            .or_else(|| of(&self.provenance).map(|at| &self.provenance[at].1))
    }

    /// Returns the number in a column.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.get(column).and_then(Value::as_f64)
    }

    /// Returns the text in a column.
    pub fn text(&self, column: &str) -> Option<&str> {
        self.get(column).and_then(Value::as_str)
    }
}

/// Returns the table of runs of one workload each, with the columns of a study's table.
pub fn run_table<'r>(reports: impl IntoIterator<Item = &'r RunReport>) -> PointTable {
    PointTable::new(&reports.into_iter().map(run_row).collect::<Vec<_>>())
}

/// Returns the row of a run of one workload.
pub fn run_row(report: &RunReport) -> StudyRow {
    of_report(report, &["workload", "size", "values", "config", "mechanism", "engine"], Vec::new())
}

/// Returns the row of a run of several workloads at the same time.
pub fn together_row(report: &TogetherReport) -> StudyRow {
    let first = vec![("workload".to_owned(), Value::from(report.workload()))];
    of_report(report, &["size", "config", "mechanism", "engine", "share"], first)
}

/// Returns the row of a report. The values of `names` follow `parameters`; a name without a value has no column.
fn of_report(report: &impl Serialize, names: &[&str], mut parameters: Vec<(String, Value)>) -> StudyRow {
    let report = serde_json::to_value(report).unwrap_or_default();
    let given = names.iter().filter(|name| !report[**name].is_null());
    parameters.extend(given.map(|name| ((*name).to_owned(), report[*name].clone())));
    let mut row = StudyRow { parameters, ..StudyRow::default() };
    row.add_report(&report);
    row
}

/// Adds all numbers and texts inside `value`. Names join the keys with dots.
pub(crate) fn flatten(name: &str, value: &Value, to: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(inner) => {
            inner.iter().for_each(|(key, value)| flatten(&format!("{name}.{key}"), value, to));
        }
        Value::Array(list) if list.iter().any(Value::is_object) => {
            list.iter().enumerate().for_each(|(at, value)| flatten(&format!("{name}.{at}"), value, to));
        }
        Value::Array(list) => {
            let words: Vec<String> = list.iter().map(cell).collect();
            to.insert(name.into(), words.join(" ").into());
        }
        value => {
            to.insert(name.into(), value.clone());
        }
    }
}

/// Returns an overridden value as a number if it is one, else as text.
fn number_or_text(text: &str) -> Value {
    if let Ok(number) = text.parse::<i64>() {
        return number.into();
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => number.into(),
        _ => text.into(),
    }
}

/// Returns a value as text; empty for null.
pub(crate) fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Rows with common columns: parameters, then statistics by name, host values, provenance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointTable {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Values of each row; null if the row has no value.
    pub rows: Vec<Vec<Value>>,
}

impl PointTable {
    /// Creates the table of `rows`.
    pub fn new(rows: &[StudyRow]) -> Self {
        let mut columns: Vec<String> = Vec::new();
        let add_pairs = |pairs: fn(&StudyRow) -> &Vec<(String, Value)>, columns: &mut Vec<String>| {
            for (name, _) in rows.iter().flat_map(pairs) {
                if !columns.contains(name) {
                    columns.push(name.clone());
                }
            }
        };
        let sorted = |map: fn(&StudyRow) -> &BTreeMap<String, Value>| {
            let names: std::collections::BTreeSet<&String> =
                rows.iter().flat_map(|row| map(row).keys()).collect();
            names.into_iter().cloned().collect::<Vec<_>>()
        };
        add_pairs(|row| &row.parameters, &mut columns);
        columns.extend(sorted(|row| &row.statistics));
        columns.extend(sorted(|row| &row.host));
        add_pairs(|row| &row.provenance, &mut columns);
        let rows = rows
            .iter()
            .map(|row| columns.iter().map(|name| row.get(name).cloned().unwrap_or(Value::Null)).collect())
            .collect();
        PointTable { columns, rows }
    }

    /// Returns the table as JSON Lines: one object per row, without null values.
    pub fn json_lines(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let cells = self.columns.iter().zip(row).filter(|(_, value)| !value.is_null());
            let cells: Vec<String> =
                cells.map(|(name, value)| format!("{}:{value}", Value::from(name.as_str()))).collect();
            text += &format!("{{{}}}\n", cells.join(","));
        }
        text
    }

    /// Returns the table as CSV, with control characters escaped.
    pub fn csv(&self) -> String {
        let mut out = csv::Writer::from_writer(Vec::new());
        let rows = self.rows.iter().map(|row| row.iter().map(cell).collect());
        for row in [self.columns.clone()].into_iter().chain(rows) {
            // Names of users may contain control characters.
            out.write_record(row.iter().map(|field| printable(field).into_owned()))
                .expect("all rows are as long");
        }
        String::from_utf8(out.into_inner().expect("memory takes it")).expect("text makes text")
    }
}
