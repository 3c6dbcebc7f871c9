//! `--latency-from`: latencies of blocks from a report of `selvedge area --find-depth`.
use crate::error::Failure;
use selvedge_area::report_file::latencies;
use selvedge_sim::mechanism::MechanismSpec;
use std::path::Path;

/// A mechanism whose latencies that are `auto` are those of a report, where one is given.
///
/// # Errors
/// As [`latencies`]; the text names no mechanism, or an option is `auto` that the report does not have.
pub fn mechanism(text: &str, report: Option<&Path>) -> Result<MechanismSpec, Failure> {
    let mut mechanism: MechanismSpec = text.parse().map_err(Failure::usage)?;
    if let Some(path) = report {
        let latencies = latencies(path).map_err(Failure::usage)?;
        mechanism.settle(&latencies).map_err(Failure::usage)?;
    }
    Ok(mechanism)
}
