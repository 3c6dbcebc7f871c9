//! Reads figures back from a JSON report, for a simulation that uses them.
use crate::error::AreaError;
use crate::report::FORMAT_VERSION;
use selvedge_hw::file::{MOST_TEXT_BYTES, read_text};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Reads a JSON file. An error message begins with `allowed`, which describes the expected file.
fn json<T: for<'a> Deserialize<'a>>(path: &Path, allowed: &str) -> Result<T, AreaError> {
    let text = read_text(path, MOST_TEXT_BYTES).map_err(AreaError::at(path))?;
    serde_json::from_str(&text).map_err(|error| bad(path, format!("{allowed}{error}")))
}

fn bad(path: &Path, problem: String) -> AreaError {
    AreaError::BadFile { path: path.into(), problem }
}

/// The section of a report with the pipelines that reach a clock.
#[derive(Deserialize)]
struct DepthsFile {
    #[serde(default)]
    found_depths: Vec<DepthOfBlock>,
}

/// The entry of a block.
#[derive(Deserialize)]
struct DepthOfBlock {
    block: String,
    latency_cycles: Option<FigureValue>,
}

/// The figure of an entry.
#[derive(Deserialize)]
struct FigureValue {
    value: f64,
}

/// Returns the latencies in cycles, by block, from a report of `selvedge area --find-depth --json`.
///
/// # Errors
/// [`AreaError`] if the file cannot be read, is not such a report, or contains a block that reaches the clock at no depth.
pub fn latencies(path: &Path) -> Result<BTreeMap<String, u32>, AreaError> {
    let report: DepthsFile = json(path, "")?;
    if report.found_depths.is_empty() {
        let allowed = "must be the JSON of `selvedge area BLOCK... --clock CLOCK --find-depth --json FILE`";
        return Err(bad(path, allowed.into()));
    }
    let latency = |one: DepthOfBlock| match one.latency_cycles {
        Some(cycles) => Ok((one.block, cycles.value as u32)),
        None => {
            let block = one.block;
            Err(bad(path, format!("no pipeline depth of {block} reaches the clock: must be slower")))
        }
    };
    report.found_depths.into_iter().map(latency).collect()
}

/// Energies of operations, from a report of `selvedge area --energy --json`.
#[derive(Clone, Debug)]
pub struct Energies {
    path: PathBuf,
    library: String,
    blocks: Vec<Value>,
}

impl Energies {
    /// Reads a report.
    ///
    /// # Errors
    /// [`AreaError`] if the file cannot be read, or is not such a report.
    pub fn load(path: &Path) -> Result<Self, AreaError> {
        let mut report: Value = json(path, "must be JSON of `selvedge area --energy`: ")?;
        let is_known = report["format_version"] == FORMAT_VERSION;
        let Value::Array(blocks) = report["blocks"].take() else { return Err(no_energies(path)) };
        if !is_known {
            return Err(no_energies(path));
        }
        let library = &report["library"];
        let library = library["technology"].as_str().or(library["name"].as_str());
        Ok(Energies { path: path.into(), library: library.unwrap_or("unknown library").into(), blocks })
    }

    /// Returns the name of the standard-cell library that the energies belong to.
    pub fn library(&self) -> &str {
        &self.library
    }

    /// Returns the energy of one operation of a block mapped for area, fJ. Returns `None` if the report lacks the block.
    ///
    /// # Errors
    /// [`AreaError::BadFile`] if the block occurs several times, or has no valid energy.
    pub fn femtojoules(&self, block: &str) -> Result<Option<u32>, AreaError> {
        let of_block: Vec<&Value> = self.blocks.iter().filter(|one| one["block"] == block).collect();
        match of_block.as_slice() {
            [] => Ok(None),
            [one] => {
                femtojoules(one).map(Some).map_err(|problem| bad(&self.path, format!("{block}: {problem}")))
            }
            many => {
                Err(bad(&self.path, format!("{block} is in it {} times: must be there once", many.len())))
            }
        }
    }
}

fn no_energies(path: &Path) -> AreaError {
    let allowed = format!("must be the JSON, format_version {FORMAT_VERSION}, of `selvedge area --energy`");
    bad(path, allowed)
}

/// Reads the energy of a block from its first mapping, which is for area.
fn femtojoules(block: &Value) -> Result<u32, String> {
    let energy = &block["mappings"][0]["energy"]["per_operation"];
    let value = energy["value"].as_f64().filter(|_| energy["unit"] == "nJ");
    let value = value.ok_or("it has no energy per operation in nJ: run `selvedge area` with --energy")?;
    let femtojoules = (value * 1e6).round();
    if (1.0..=f64::from(u32::MAX)).contains(&femtojoules) {
        Ok(femtojoules as u32)
    } else {
        Err(format!("{value} nJ: must be 0.000001 to {} nJ", f64::from(u32::MAX) / 1e6))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_depths_says_what_is_allowed() {
        let folder = tempfile::tempdir().expect("a folder");
        let read = |text: &str| {
            let path = folder.path().join("depth.json");
            std::fs::write(&path, text).expect("written");
            latencies(&path).map_err(|error| error.to_string())
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

    #[test]
    fn an_energy_is_in_whole_femtojoules_and_one_that_is_none_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let read = |value: &str| {
            let path = folder.path().join("energy.json");
            let energy = format!(r#"{{"energy": {{"per_operation": {{"value": {value}, "unit": "nJ"}}}}}}"#);
            let block = format!(r#"{{"block": "mine", "mappings": [{energy}]}}"#);
            let text =
                format!(r#"{{"format_version": 1, "library": {{"name": "lib"}}, "blocks": [{block}]}}"#);
            std::fs::write(&path, text).expect("written");
            let energies = Energies::load(&path).expect("a report");
            assert_eq!(energies.library(), "lib");
            assert_eq!(energies.femtojoules("another").expect("not there"), None);
            energies.femtojoules("mine").map_err(|error| error.to_string())
        };
        assert_eq!(read("2.5"), Ok(Some(2_500_000)));
        assert!(read("-1").expect_err("negative").contains("mine: -1 nJ: must be"));
    }
}
