//! `--latency-from`: takes latencies of blocks from a report of `selvedge area --find-depth`.
use crate::error::Failure;
use selvedge_area::report_file::latencies;
use selvedge_sim::mechanism::MechanismSpec;
use std::path::Path;

/// Parses a mechanism. If `report` is given, its latencies replace `auto` latencies.
///
/// # Errors
/// Fails like [`latencies`], if `text` is not a mechanism, or if the report lacks an `auto` latency.
pub fn mechanism(text: &str, report: Option<&Path>) -> Result<MechanismSpec, Failure> {
    let mut mechanism: MechanismSpec = text.parse().map_err(Failure::usage)?;
    if let Some(path) = report {
        let latencies = latencies(path).map_err(Failure::usage)?;
        mechanism.settle(&latencies).map_err(Failure::usage)?;
    }
    Ok(mechanism)
}
