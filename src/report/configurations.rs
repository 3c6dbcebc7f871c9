//! Configurations of the runs, compared by the keys in which they differ.
use super::runs::Run;
use crate::error::Failure;
use selvedge_sim::config::{BUILT_IN, GpuConfig};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The configurations that the page knows.
#[derive(Serialize)]
pub struct Configurations {
    names: Vec<String>,
    /// A key and its value in each, of those in which they differ; null where one has no such key.
    rows: Vec<Vec<Value>>,
    /// Configurations of runs that are not known.
    unknown: Vec<String>,
}

impl Configurations {
    /// Returns the configurations of `runs`: studies state them, they are built in, or `given` has their names or files.
    ///
    /// # Errors
    /// Fails if one of `given` cannot be read.
    pub fn of(runs: &[Run], given: &[String]) -> Result<Self, Failure> {
        let mut known: Vec<GpuConfig> = Vec::new();
        for name in given {
            known.push(GpuConfig::load(name).map_err(Failure::usage)?);
        }
        let mut names: Vec<String> = known.iter().map(|config| config.name.clone()).collect();
        for run in runs {
            let Some(config) = &run.resolved else { continue };
            if !names.contains(&run.config) {
                known.push(GpuConfig::clone(config));
                names.push(run.config.clone());
            }
        }
        let mut unknown: Vec<String> = Vec::new();
        for run in runs {
            if names.contains(&run.config) || unknown.contains(&run.config) {
                continue;
            }
            if BUILT_IN.iter().any(|one| one.name == run.config) {
                known.push(GpuConfig::load(&run.config).map_err(Failure::usage)?);
                names.push(run.config.clone());
            } else {
                unknown.push(run.config.clone());
            }
        }
        let values = known.iter().map(flat).collect::<Result<Vec<_>, _>>()?;
        Ok(Configurations { names, rows: differences(&values), unknown })
    }
}

/// Returns all values of a configuration by dotted keys.
fn flat(config: &GpuConfig) -> Result<BTreeMap<String, Value>, Failure> {
    let value = serde_json::to_value(config)
        .map_err(|e| Failure::simulation(format!("the configuration has no JSON form: {e}")))?;
    let mut found = BTreeMap::new();
    collect(String::new(), value, &mut found);
    found.remove("name");
    Ok(found)
}

fn collect(path: String, value: Value, found: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(inner) => {
            for (key, value) in inner {
                let path = if path.is_empty() { key } else { format!("{path}.{key}") };
                collect(path, value, found);
            }
        }
        Value::Array(_) => {
            found.insert(path, value.to_string().into());
        }
        value => {
            found.insert(path, value);
        }
    }
}

/// Returns the keys whose values differ between configurations, with the values.
fn differences(all: &[BTreeMap<String, Value>]) -> Vec<Vec<Value>> {
    let mut keys: Vec<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    keys.sort();
    keys.dedup();
    keys.retain(|key| all.iter().any(|one| one.get(*key) != all[0].get(*key)));
    let row = |key: &String| {
        let values = all.iter().map(|one| one.get(key).cloned().unwrap_or_default());
        std::iter::once(Value::from(key.clone())).chain(values).collect()
    };
    keys.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_that_differ_are_shown() {
        let base = GpuConfig::load("gtx480").expect("built in");
        let mut other = base.clone();
        other.l1d.sets *= 2;
        let values = [flat(&base).expect("flat"), flat(&other).expect("flat")];
        let expected =
            vec![vec![Value::from("l1d.sets"), Value::from(base.l1d.sets), Value::from(other.l1d.sets)]];
        assert_eq!(differences(&values), expected);
    }
}
