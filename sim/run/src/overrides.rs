//! Values that override a configuration.
use crate::config::{ConfigError, GpuConfig};
use serde::{Deserialize, Serialize};

/// One value that is set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Override {
    /// The key with its section, such as `l1d.sets`.
    pub key: String,
    /// The value, as TOML writes it.
    pub value: toml::Value,
}

impl Override {
    /// Returns the value as a cell of a table: text without quotes.
    pub fn cell(&self) -> String {
        text_of(&self.value)
    }
}

/// Returns a value as text without quotes.
pub fn text_of(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns `config` with these values, applied in order.
///
/// # Errors
/// An unknown key, or a value that the configuration does not support; in one line, without a file position.
pub fn overridden(config: &GpuConfig, overrides: &[Override]) -> Result<GpuConfig, String> {
    if overrides.is_empty() {
        return Ok(config.clone());
    }
    let mut table = values(config)?;
    for one in overrides {
        set_within(&mut table, &one.key, &one.key, &one.value)?;
    }
    GpuConfig::parse(&config.name, &table.to_string()).map_err(|error| match error {
        ConfigError::Value { key, value, allowed, .. } => format!("{key} = {value}: {allowed}"),
        ConfigError::Syntax { message, .. } => message,
        other => other.to_string(),
    })
}

/// Returns the value of `key` in a configuration, as text without quotes. Returns `None` for an unknown key.
pub fn value_of(config: &GpuConfig, key: &str) -> Option<String> {
    let table = values(config).ok()?;
    let mut value = &toml::Value::Table(table);
    for word in key.split('.') {
        value = value.as_table()?.get(word)?;
    }
    Some(text_of(value))
}

/// Returns all values of a configuration.
fn values(config: &GpuConfig) -> Result<toml::Table, String> {
    let text = toml::to_string(config).map_err(|e| e.to_string())?;
    toml::from_str(&text).map_err(|e| e.message().to_owned())
}

/// Sets the value of `key`. `rest` is the part of `key` inside `table`.
fn set_within(table: &mut toml::Table, key: &str, rest: &str, value: &toml::Value) -> Result<(), String> {
    let (section, rest) = rest.split_once('.').map_or((rest, None), |(first, rest)| (first, Some(rest)));
    let known: Vec<String> = table.keys().cloned().collect();
    let Some(slot) = table.get_mut(section) else {
        let names = known.iter().map(String::as_str);
        let allowed = selvedge_hw::names::allowed(section, names, "selvedge config show NAME");
        return Err(format!("{key}: no key of a configuration: '{section}' {allowed}"));
    };
    match (rest, slot) {
        (Some(rest), toml::Value::Table(inner)) => set_within(inner, key, rest, value),
        (Some(_), _) => Err(format!("{key}: no key of a configuration: '{section}' is a value")),
        (None, toml::Value::Table(_)) => Err(format!("{key}: must name a value, not a section")),
        (None, slot) if slot.same_type(value) => {
            *slot = value.clone();
            Ok(())
        }
        (None, slot) => match (&slot, value) {
            (toml::Value::Float(_), toml::Value::Integer(whole)) => {
                *slot = toml::Value::Float(*whole as f64);
                Ok(())
            }
            _ => Err(format!("{key} = {value}: must be a value of type {}", slot.type_str())),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_to(key: &str, value: impl Into<toml::Value>) -> Result<GpuConfig, String> {
        let config = GpuConfig::load("gtx480").expect("built in");
        overridden(&config, &[Override { key: key.into(), value: value.into() }])
    }

    #[test]
    fn a_value_is_set_and_nothing_else() {
        let changed = set_to("l1d.ways", 8).expect("valid");
        let mut expected = GpuConfig::load("gtx480").expect("built in");
        expected.l1d.ways = 8;
        assert_eq!(changed, expected);
        assert_eq!(value_of(&changed, "l1d.ways").as_deref(), Some("8"));
        assert_eq!(value_of(&changed, "l1d.wayz"), None);
    }

    #[test]
    fn what_does_not_suit_is_refused() {
        for (key, value, says) in [
            ("l1d.ways", toml::Value::from(0), "l1d.ways = 0: must be 1 to 512"),
            ("l1d.ways", "four".into(), "l1d.ways = \"four\": must be a value of type integer"),
            ("l1d", 1.into(), "l1d: must name a value, not a section"),
            ("l1d.ways.a", 1.into(), "l1d.ways.a: no key of a configuration: 'ways' is a value"),
            ("l1x.ways", 1.into(), "l1x.ways: no key of a configuration: 'l1x' must be one of"),
        ] {
            let error = set_to(key, value).expect_err(key);
            assert!(error.starts_with(says), "{error}");
        }
    }
}
