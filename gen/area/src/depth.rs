//! Finds the pipeline depth with which a block reaches a clock.
use crate::figure::Figure;
use crate::study::BlockReport;
use crate::table::Table;
use schemars::JsonSchema;
use selvedge_hw::BlockEntry;
use serde::Serialize;
use std::collections::BTreeMap;

/// The parameter that the search varies.
pub const PARAMETER: &str = "pipeline_depth";

/// Result of the search for a block.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct FoundDepth {
    /// Name of the block.
    block: String,
    /// Required clock period.
    period: Figure,
    /// Smallest pipeline depth that reaches the period; null if none does.
    pipeline_depth: Option<u64>,
    /// Cycles from an input to its output, at this depth.
    latency_cycles: Option<Figure>,
    /// Critical path at this depth. If no depth reaches the period, the shortest critical path of all depths.
    critical_path: Figure,
}

/// Returns the allowed pipeline depths of a block as text. Returns `None` if it has no such parameter.
pub fn depths(entry: &dyn BlockEntry) -> Option<Vec<String>> {
    let spec = entry.schema().iter().find(|spec| spec.name == PARAMETER)?;
    Some(spec.allowed.samples().iter().map(ToString::to_string).collect())
}

/// Returns, for each block, the smallest of the studied depths that reaches the period.
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

/// Returns a table with a row for each block.
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
