//! The pipeline depth that a block needs for a clock: `selvedge area --find-depth`, and the mechanisms' latencies from it.
use crate::error::Failure;
use crate::table::Table;
use selvedge_gen::area::figure::Figure;
use selvedge_gen::area::study::BlockReport;
use selvedge_hw::BlockEntry;
use selvedge_hw::file::{MOST_TEXT_BYTES, read_text};
use selvedge_sim::mechanism::MechanismSpec;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The parameter that is looked for.
pub const PARAMETER: &str = "pipeline_depth";

/// What was found for a block.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundDepth {
    /// The block.
    block: String,
    /// The clock's period that was asked for.
    period: Figure,
    /// The shallowest pipeline that reaches it; none does when this is null.
    pipeline_depth: Option<u64>,
    /// Cycles from an input to its output, at that depth.
    latency_cycles: Option<Figure>,
    /// The critical path at that depth, or else the shortest of all.
    critical_path: Figure,
}

/// The depths that a block can have.
///
/// # Errors
/// It has no such parameter.
pub fn depths(entry: &dyn BlockEntry) -> Result<Vec<String>, Failure> {
    let of = |entry: &dyn BlockEntry| entry.schema().iter().find(|spec| spec.name == PARAMETER).copied();
    if let Some(spec) = of(entry) {
        return Ok(spec.allowed.samples().iter().map(ToString::to_string).collect());
    }
    let with: Vec<&str> = selvedge_blocks::all()
        .into_iter()
        .filter(|entry| of(*entry).is_some())
        .map(|entry| entry.name())
        .collect();
    let message = format!(
        "--find-depth {}: allowed are blocks with a pipeline_depth: {}",
        entry.name(),
        with.join(", ")
    );
    Err(Failure::usage(message))
}

/// The shallowest pipeline of each block that reaches the period, of the depths that were studied.
pub fn found(reports: &[BlockReport], period_ps: u32) -> Vec<FoundDepth> {
    let period_ns = f64::from(period_ps) / 1000.0;
    let mut by_block: BTreeMap<&str, Vec<(u64, f64, Figure)>> = BTreeMap::new();
    for report in reports {
        let depth = report.parameters[PARAMETER].as_u64().unwrap_or_default();
        let paths = report.mappings.iter().map(|mapping| mapping.critical_path.value);
        let path = paths.fold(f64::INFINITY, f64::min);
        by_block.entry(&report.block).or_default().push((depth, path, report.latency_cycles));
    }
    let one = |(block, mut depths): (&str, Vec<(u64, f64, Figure)>)| {
        depths.sort_by_key(|(depth, ..)| *depth);
        let enough = depths.iter().find(|(_, path, _)| *path <= period_ns);
        let shortest = depths.iter().map(|(_, path, _)| *path).fold(f64::INFINITY, f64::min);
        FoundDepth {
            block: block.into(),
            period: Figure::new(period_ns, "ns"),
            pipeline_depth: enough.map(|(depth, ..)| *depth),
            latency_cycles: enough.map(|(.., latency)| *latency),
            critical_path: Figure::new(enough.map_or(shortest, |(_, path, _)| *path), "ns"),
        }
    };
    by_block.into_iter().map(one).collect()
}

/// What was found, a row for each block.
pub fn table(found: &[FoundDepth]) -> Table {
    let mut table = Table::new(&["clock for", "period ns", "pipeline depth", "cycles", "path ns"]);
    for one in found {
        table.row(vec![
            one.block.clone(),
            format!("{:.3}", one.period.value),
            one.pipeline_depth.map_or("none reaches it".into(), |depth| depth.to_string()),
            one.latency_cycles.map_or("-".into(), |cycles| format!("{:.0}", cycles.value)),
            format!("{:.2}", one.critical_path.value),
        ]);
    }
    table
}

/// What is read of a report in JSON.
#[derive(Deserialize)]
struct ReportFile {
    #[serde(default)]
    found_depths: Vec<DepthFile>,
}

/// A block in it.
#[derive(Deserialize)]
struct DepthFile {
    block: String,
    latency_cycles: Option<Cycles>,
}

/// A figure in it.
#[derive(Deserialize)]
struct Cycles {
    value: f64,
}

/// The latencies of the blocks in a report of `selvedge area --find-depth --json`.
///
/// # Errors
/// The file cannot be read, is no such report, or has a block that no depth suits.
pub fn latencies(path: &Path) -> Result<BTreeMap<String, u32>, Failure> {
    let fail = |message: String| Failure::usage(format!("{}: {message}", path.display()));
    let text = read_text(path, MOST_TEXT_BYTES).map_err(|e| fail(e.to_string()))?;
    let report: ReportFile = serde_json::from_str(&text).map_err(|e| fail(e.to_string()))?;
    if report.found_depths.is_empty() {
        return Err(fail(
            "allowed is the JSON of `selvedge area BLOCK... --clock CLOCK --find-depth --json FILE`".into(),
        ));
    }
    let latency = |one: DepthFile| match one.latency_cycles {
        Some(cycles) => Ok((one.block, cycles.value as u32)),
        None => Err(fail(format!(
            "no pipeline depth of {} reaches the clock: allowed is a slower one",
            one.block
        ))),
    };
    report.found_depths.into_iter().map(latency).collect()
}

/// A mechanism whose latencies that are `auto` are those of a report, where one is given.
///
/// # Errors
/// As [`latencies`]; the text names no mechanism, or an option is `auto` that the report does not have.
pub fn mechanism(text: &str, report: Option<&Path>) -> Result<MechanismSpec, Failure> {
    let mut mechanism: MechanismSpec = text.parse().map_err(Failure::usage)?;
    if let Some(path) = report {
        mechanism.settle(&latencies(path)?).map_err(Failure::usage)?;
    }
    Ok(mechanism)
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_blocks::find;

    #[test]
    fn only_blocks_with_a_pipeline_are_asked_for() {
        assert_eq!(depths(find("fpc_compressor").expect("a block")).expect("it has"), ["1", "2", "5"]);
        let error = depths(find("milg").expect("a block")).expect_err("it has none");
        let error = format!("{error:?}");
        assert!(
            error.contains("allowed are blocks") && error.contains("bdi_compressor, bdi_decompressor, fpc_"),
            "{error}"
        );
    }

    #[test]
    fn a_file_that_is_none_says_what_is_allowed() {
        let folder = tempfile::tempdir().expect("a folder");
        let read = |text: &str| {
            let path = folder.path().join("depth.json");
            std::fs::write(&path, text).expect("written");
            latencies(&path).map_err(|error| format!("{error:?}"))
        };
        assert!(read("{}").expect_err("no depths").contains("--find-depth"));
        assert!(read("[").expect_err("no JSON").contains("depth.json"));
        let none = r#"{"found_depths": [{"block": "bdi_compressor", "latency_cycles": null}]}"#;
        assert!(
            read(none)
                .expect_err("no depth")
                .contains("no pipeline depth of bdi_compressor reaches the clock")
        );
        let one = r#"{"found_depths": [{"block": "bdi_compressor", "latency_cycles": {"value": 2.0, "unit": "cycles"}}]}"#;
        assert_eq!(read(one).expect("right"), BTreeMap::from([("bdi_compressor".to_string(), 2)]));
    }
}
