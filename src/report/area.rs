//! Areas of mechanisms, from the JSON of `selvedge area --mechanism` and from the documentation's table.
use super::files::Files;
use crate::error::Failure;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Page with the areas of mechanisms in a whole GPU, in the standard cells that the tests use.
const DOCUMENTED: &str = include_str!("../../docs/reference/area-systems.md");

/// The area of a mechanism.
#[derive(Debug, PartialEq, Serialize)]
pub struct Area {
    /// Name of the mechanism.
    pub mechanism: String,
    /// The configuration whose instances are counted.
    config: String,
    /// Gate equivalents of all cells, thousands.
    pub kge: f64,
    /// Bits of memories outside the cells.
    pub memory_bits: u64,
    /// Source of the area.
    source: String,
}

/// Part of the JSON that the page needs.
#[derive(Deserialize)]
struct AreaReport {
    #[serde(default)]
    systems: Vec<System>,
}

#[derive(Deserialize)]
struct System {
    mechanism: String,
    config: String,
    cells_kge: f64,
    unpriced_memory_bits: u64,
}

/// Reads the areas of a file.
///
/// # Errors
/// Fails if the file cannot be read or has no area of a mechanism.
pub fn read(files: &mut Files, path: &Path) -> Result<Vec<Area>, Failure> {
    let text = files.read(path, "areas")?;
    let name = path.display().to_string();
    let allowed = "must be the JSON of `selvedge area --mechanism`";
    let report: AreaReport = serde_json::from_str(&text)
        .map_err(|e| Failure::usage(format!("{name}:{}:{}: {e}: {allowed}", e.line(), e.column())))?;
    if report.systems.is_empty() {
        return Err(Failure::usage(format!("{name}: no area of a mechanism: {allowed}")));
    }
    let area = |one: System| Area {
        mechanism: one.mechanism,
        config: one.config,
        kge: one.cells_kge,
        memory_bits: one.unpriced_memory_bits,
        source: name.clone(),
    };
    Ok(report.systems.into_iter().map(area).collect())
}

/// Returns the areas of the documentation.
pub fn of_documentation() -> Vec<Area> {
    documented(DOCUMENTED)
}

/// Returns the areas of the documentation's page, for `gtx480`.
pub fn documented(page: &str) -> Vec<Area> {
    fn cells(line: &str) -> Vec<&str> {
        line.trim_matches('|').split('|').map(str::trim).collect()
    }
    let mut lines = page.lines().skip_while(|line| !line.starts_with("| mechanism |"));
    let head = lines.next().map(cells).unwrap_or_default();
    let column = |name: &str| head.iter().position(|cell| cell.starts_with(name));
    let (Some(kge), Some(memory)) = (column("kGE"), column("memory bits")) else { return Vec::new() };
    let area = |line: &str| {
        let row = cells(line);
        Some(Area {
            mechanism: row.first()?.trim_matches('`').into(),
            config: "gtx480".into(),
            kge: row.get(kge)?.parse().ok()?,
            memory_bits: row.get(memory)?.parse().ok()?,
            source: "docs/reference/area-systems.md".into(),
        })
    };
    lines.skip(1).take_while(|line| line.starts_with('|')).filter_map(area).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_the_area_of_each_of_its_mechanisms() {
        let areas = of_documentation();
        let rows = DOCUMENTED.lines().skip_while(|line| !line.starts_with("| mechanism |")).skip(2);
        assert_eq!(areas.len(), rows.take_while(|line| line.starts_with('|')).count());
        assert!(areas.len() > 5 && areas.iter().all(|area| area.kge > 0.0), "{areas:?}");
        assert!(areas.iter().any(|area| area.mechanism == "hw-bdi"));
    }
}
