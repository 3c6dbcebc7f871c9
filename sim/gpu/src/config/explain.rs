//! Meaning and allowed values of each key of a configuration.
use super::clock::ClockConfig;
use super::collector::{CollectorConfig, CollectorSet};
use super::dram::DramConfig;
use super::dram_energy::DramEnergy;
use super::event_energy::EventEnergy;
use super::interconnect::Interconnect;
use super::l1d::{L1dConfig, SHARED_CHOICES};
use super::l2::L2;
use super::memory::GlobalMemory;
use super::read_only::ReadOnly;
use super::sm::{AluConfig, ClusterConfig, LsuConfig, PipeConfig, SmConfig, TensorConfig};
use super::{BUILT_IN, ConfigError, GpuConfig};
use documented::DocumentedFields;
use selvedge_hw::names;
use thiserror::Error;
use toml::{Table, Value};

/// A key of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    /// Key with its section, such as `l1d.sets`.
    pub key: String,
    /// Meaning of the key, with its unit.
    pub meaning: String,
    /// Value in the default configuration, as written in a file.
    pub default: String,
    /// Allowed values if all other keys have the values of the default configuration, such as `1 to 4096`.
    pub allowed: String,
    /// Built-in configurations with a different value, each with its value.
    pub others: Vec<(&'static str, String)>,
}

/// The key does not exist.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("configuration key '{key}': {allowed}")]
pub struct UnknownKey {
    key: String,
    allowed: String,
}

/// Returns every key except `name`, sorted.
pub fn keys() -> Vec<KeyInfo> {
    let tables: Vec<(&'static str, Table)> = BUILT_IN.iter().map(|of| (of.name, table_of(of.name))).collect();
    let (_, default) = &tables[0];
    let all = flat(default);
    all.into_iter()
        .filter(|(key, _)| key.contains('.'))
        .map(|(key, value)| {
            let other = |(name, table): &(&'static str, Table)| {
                let theirs = at(table, &key)?;
                (*theirs != value).then(|| (*name, theirs.to_string()))
            };
            KeyInfo {
                meaning: meaning(&key),
                allowed: allowed(&key, &value),
                others: tables[1..].iter().filter_map(other).collect(),
                default: value.to_string(),
                key,
            }
        })
        .collect()
}

/// Returns the description of a key.
///
/// # Errors
/// Returns an error with the most similar keys if the key does not exist.
pub fn explain(key: &str) -> Result<KeyInfo, UnknownKey> {
    let mut all = keys();
    if let Some(found) = all.iter().position(|info| info.key == key) {
        return Ok(all.swap_remove(found));
    }
    let names = all.iter().map(|info| info.key.as_str());
    Err(UnknownKey { key: key.into(), allowed: names::allowed(key, names, "selvedge config explain") })
}

/// Message of an `expect`. A test loads each built-in configuration and writes its table.
const VALID: &str = "the built-in configurations are valid";

fn table_of(name: &str) -> Table {
    let config = GpuConfig::load(name).expect(VALID);
    toml::to_string(&config).expect(VALID).parse().expect(VALID)
}

/// Returns the values of a table by their keys with all sections.
fn flat(table: &Table) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) => {
                found.extend(flat(inner).into_iter().map(|(name, value)| (format!("{key}.{name}"), value)));
            }
            other => found.push((key.clone(), other.clone())),
        }
    }
    found
}

/// Returns the value of a key with its sections.
fn at<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    let mut words = key.split('.');
    let first = table.get(words.next()?)?;
    words.try_fold(first, |value, word| value.get(word))
}

/// Returns the documentation of the key's field, in one line.
fn meaning(key: &str) -> String {
    let Some((section, field)) = key.rsplit_once('.') else { return String::new() };
    let text = match section {
        "clock" => ClockConfig::get_field_docs(field),
        "sm" => SmConfig::get_field_docs(field),
        "sm.alu" => AluConfig::get_field_docs(field),
        "sm.fp64" | "sm.sfu" => PipeConfig::get_field_docs(field),
        "sm.tensor" => TensorConfig::get_field_docs(field),
        "sm.cluster" => ClusterConfig::get_field_docs(field),
        "sm.lsu" => LsuConfig::get_field_docs(field),
        "sm.collector" => CollectorConfig::get_field_docs(field),
        "sm.constant" | "sm.texture" | "sm.instruction" => ReadOnly::get_field_docs(field),
        "l1d" => L1dConfig::get_field_docs(field),
        "interconnect" => Interconnect::get_field_docs(field),
        "l2" => L2::get_field_docs(field),
        "memory" => GlobalMemory::get_field_docs(field),
        "dram" => DramConfig::get_field_docs(field),
        "dram.energy" => DramEnergy::get_field_docs(field),
        "energy" => EventEnergy::get_field_docs(field),
        "energy.blocks" => EventEnergy::get_field_docs("blocks"),
        _ => CollectorSet::get_field_docs(field),
    };
    text.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).unwrap_or_default()
}

/// Returns the allowed values of a key, taken from the error for a bad value. The ranges are thus stated only in the checks.
fn allowed(key: &str, value: &Value) -> String {
    let bad: &[&str] = match value {
        Value::Integer(_) => &["4294967295", "0", "1000000007"],
        Value::String(_) => &["\"?\""],
        Value::Boolean(_) => return "true or false".into(),
        Value::Array(_) => return format!("1 to {SHARED_CHOICES} numbers"),
        _ => return String::new(),
    };
    let Some(limit) = bad.iter().find_map(|bad| refusal(key, bad)) else {
        return "an integer; other keys may limit it".into();
    };
    // 0 often disables a feature, although the range does not include it.
    let is_beside = value.is_integer() && !limit.starts_with("0 ") && examine(key, "0").is_ok();
    if is_beside { format!("0, or {limit}") } else { limit }
}

/// Checks the default configuration with another value of a key.
fn examine(key: &str, value: &str) -> Result<GpuConfig, Vec<ConfigError>> {
    let (section, field) = key.rsplit_once('.').unwrap_or(("", key));
    let text = format!("base = \"{}\"\n[{section}]\n{field} = {value}\n", BUILT_IN[0].name);
    GpuConfig::examine(key, &text)
}

/// Returns the allowed values from the error for a value. Returns `None` if the value is accepted or the error concerns another
/// key.
fn refusal(key: &str, bad: &str) -> Option<String> {
    let found = examine(key, bad).err()?;
    found.into_iter().find_map(|error| match error {
        ConfigError::Value { key: of, allowed, .. } if of == key => {
            Some(allowed.strip_prefix("must be ").unwrap_or(&allowed).into())
        }
        ConfigError::Syntax { message, .. } => names_in(&message),
        _ => None,
    })
}

/// Returns the names that serde expects, or the text after "must be", from an error message.
fn names_in(message: &str) -> Option<String> {
    let behind = |word: &str| message.split_once(word).map(|(_, rest)| rest.to_string());
    let expected = behind("expected one of ").or_else(|| behind("expected ")).or_else(|| behind("must be "));
    expected.map(|names| names.replace('`', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_meaning_and_what_it_must_be() {
        for info in keys() {
            assert!(!info.meaning.is_empty() && !info.allowed.is_empty(), "{info:?}");
        }
    }

    #[test]
    fn a_key_has_its_range_its_default_and_those_who_differ() {
        let sets = explain("l1d.sets").expect("a key");
        assert_eq!((sets.default.as_str(), sets.allowed.as_str()), ("32", "a power of two from 1 to 4096"));
        assert_eq!(sets.others, ["titan-v", "rtx3070", "a100", "h100"].map(|name| (name, "4".to_string())));
        let policy = explain("l1d.write_policy").expect("a key");
        assert!(
            policy.allowed.contains("write-evict") && policy.allowed.contains("write-back"),
            "{policy:?}"
        );
    }

    #[test]
    fn an_unknown_key_gives_the_nearest_ones() {
        let error = explain("l1d.set").expect_err("no key").to_string();
        assert!(error.contains("l1d.sets"), "{error}");
    }

    #[test]
    fn what_a_number_must_be_is_what_the_check_accepts() {
        for info in keys() {
            let Some((low, high)) = info.allowed.split_once(" to ") else { continue };
            let low = low.rsplit(' ').next().and_then(|low| low.parse::<u32>().ok());
            let (Some(low), Ok(high)) = (low, high.parse::<u32>()) else { continue };
            for outside in [low.checked_sub(1), high.checked_add(1)].into_iter().flatten() {
                let is_none = outside == 0 && info.allowed.starts_with("0, or ");
                assert!(
                    is_none || examine(&info.key, &outside.to_string()).is_err(),
                    "{}: {outside}",
                    info.key
                );
            }
        }
    }
}
