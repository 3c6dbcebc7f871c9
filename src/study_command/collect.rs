//! `study collect`: writes the results of a study as one table.
use super::options::StudyCollectOptions;
use super::store::open;
use crate::error::Failure;
use crate::output::{Plan, say};
use selvedge_study::{PointTable, Store, Study, StudyRow};
use std::path::Path;

/// File format of the table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Csv,
    JsonLines,
    Parquet,
}

/// Writes the table to every output.
pub fn run(options: &StudyCollectOptions) -> Result<(), Failure> {
    let forms = options.output.iter().map(|target| form(target)).collect::<Result<Vec<_>, _>>()?;
    let (study, store) = open(&options.study)?;
    let mut plan = Plan::default();
    plan.read(&options.study.file);
    options.output.iter().for_each(|target| plan.write_or_print("--output", target));
    let mut outputs = plan.check()?;
    let table = collected(&study, &store, options.reproducible);
    for (target, form) in options.output.iter().zip(forms) {
        match form {
            Form::Csv => outputs.write_or_print(target, &table.csv()),
            Form::JsonLines => outputs.write_or_print(target, &table.json_lines()),
            Form::Parquet => {
                let file = table.parquet();
                let file = file.map_err(|e| Failure::usage(format!("the table has no Parquet form: {e}")));
                if let Some(file) = outputs.note(file) {
                    outputs.write(Path::new(target), file);
                }
            }
        }
    }
    outputs.finish(None)
}

/// Returns the format by the name of the file.
fn form(target: &str) -> Result<Form, Failure> {
    if target == "-" {
        return Ok(Form::Csv);
    }
    match Path::new(target).extension().and_then(|end| end.to_str()) {
        Some("csv") => Ok(Form::Csv),
        Some("jsonl") => Ok(Form::JsonLines),
        Some("parquet") => Ok(Form::Parquet),
        _ => {
            let must = "must be NAME.csv, NAME.jsonl or NAME.parquet, or -";
            Err(Failure::usage(format!("--output {target}: {must}")))
        }
    }
}

fn collected(study: &Study, store: &Store, reproducible: bool) -> PointTable {
    let mut missing = 0;
    let rows: Vec<StudyRow> = study
        .points()
        .iter()
        .map(|point| {
            let entry = store.get(point);
            missing += usize::from(entry.is_none());
            let mut row = StudyRow::new(&study.name, point, entry.as_ref(), study.set_keys());
            if reproducible {
                row.make_reproducible();
            }
            row
        })
        .collect();
    if missing > 0 {
        say(format!("selvedge: {missing} of {} points have no result yet\n", rows.len()));
    }
    PointTable::new(&rows)
}
