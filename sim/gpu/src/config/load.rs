//! Loading of a configuration: from TOML text to validated structs.
use super::check::{Checker, line_of};
use super::error::{ConfigError, one_line};
use super::{BUILT_IN, GpuConfig, built_in, names};
use std::path::Path;
use toml::{Table, Value};

/// Max bytes of a configuration's text.
pub const MOST_BYTES: u64 = 1 << 20;

/// Max depth of configurations that are based on each other.
const MOST_BASES: usize = 8;

impl GpuConfig {
    /// Loads the built-in configuration or the file called `name`.
    ///
    /// # Errors
    /// Returns the first [`ConfigError`], in one line.
    pub fn load(name: &str) -> Result<Self, ConfigError> {
        Self::parse(name, &source(name)?)
    }

    /// Parses and validates `text`. `file` names it in errors.
    ///
    /// # Errors
    /// Returns the first [`ConfigError`], in one line.
    pub fn parse(file: &str, text: &str) -> Result<Self, ConfigError> {
        Self::examine(file, text).map_err(|found| {
            found.into_iter().next().unwrap_or_else(|| unreachable!("a refused text has a mistake"))
        })
    }

    /// Parses and validates `text` to the end. `file` names it in errors.
    ///
    /// # Errors
    /// Returns all unknown keys and wrong types. If there are none, returns the first unknown name, else all values out of range.
    pub fn examine(file: &str, text: &str) -> Result<Self, Vec<ConfigError>> {
        // The complete configuration has all keys: the default needs no comparison with itself.
        if text == BUILT_IN[0].text {
            return Self::complete(file, text);
        }
        let mut table = parse_table(file, text)?;
        if let Some(base) = table.remove("base") {
            let mut merged = base_table(file, text, &base, MOST_BASES)?;
            strange_keys(file, text, &merged, &table)?;
            merge(&mut merged, table);
            // Converts the table to text first. A second deserializer for tables would double the code that serde generates.
            let config: Self =
                toml::from_str(&merged.to_string()).map_err(|e| vec![misplaced(file, text, &e)])?;
            return config.validated(file, text);
        }
        let complete = parse_table(BUILT_IN[0].name, BUILT_IN[0].text)?;
        strange_keys(file, text, &complete, &table)?;
        Self::complete(file, text)
    }

    /// Parses and validates a text that has a value for each key.
    fn complete(file: &str, text: &str) -> Result<Self, Vec<ConfigError>> {
        let config: Self = toml::from_str(text).map_err(|e| vec![ConfigError::syntax(file, text, &e)])?;
        config.validated(file, text)
    }

    fn validated(self, file: &str, text: &str) -> Result<Self, Vec<ConfigError>> {
        let mut check = Checker::new(file, text);
        self.clock.check(&mut check);
        self.sm.check(self.l2.line_bytes, &mut check);
        self.l1d.check(&mut check);
        self.interconnect.check(self.l1d.line_bytes, &mut check);
        self.l2.check(self.l1d.line_bytes, &mut check);
        self.dram.check(&self.l2, &mut check);
        self.energy.check(&mut check);
        let found = check.into_found();
        if found.is_empty() { Ok(self) } else { Err(found) }
    }
}

/// Returns the text of the built-in configuration or file called `name`.
///
/// # Errors
/// Returns an error if neither exists.
pub fn source(name: &str) -> Result<String, ConfigError> {
    if let Some(text) = built_in(name) {
        return Ok(text.into());
    }
    selvedge_hw::file::read_text(Path::new(name), MOST_BYTES).map_err(|why| ConfigError::NotFound {
        name: name.into(),
        allowed: names(),
        why: why.to_string(),
    })
}

fn parse_table(file: &str, text: &str) -> Result<Table, Vec<ConfigError>> {
    toml::from_str(text).map_err(|e| vec![ConfigError::syntax(file, text, &e)])
}

/// Returns the built-in configuration that `base` names, merged with its own base. `text` is the text that names it.
fn base_table(file: &str, text: &str, base: &Value, depth: usize) -> Result<Table, Vec<ConfigError>> {
    let name = base.as_str().unwrap_or_default();
    let base_text = built_in(name).filter(|_| depth > 0).ok_or_else(|| {
        vec![ConfigError::Value {
            file: file.into(),
            line: line_of(text, "base"),
            key: "base".into(),
            value: base.to_string(),
            allowed: format!("must be {}", names()),
        }]
    })?;
    let mut table = parse_table(name, base_text)?;
    let Some(next) = table.remove("base") else { return Ok(table) };
    let mut merged = base_table(name, base_text, &next, depth - 1)?;
    merge(&mut merged, table);
    Ok(merged)
}

/// Rejects keys of `table` that the complete configuration `known` lacks, and values of another type. Returns all errors at once.
fn strange_keys(file: &str, text: &str, known: &Table, table: &Table) -> Result<(), Vec<ConfigError>> {
    let mut found = Vec::new();
    gather_strange(known, table, "", &mut |path, key, problem| {
        let line = match line_of(text, path) {
            0 => table_line(text, path),
            line => line,
        };
        let error = match problem {
            Strange::Key(allowed) => ConfigError::Syntax {
                file: file.into(),
                line,
                message: format!("unknown field `{key}`, must be {allowed}"),
            },
            Strange::Value(value, allowed) => {
                ConfigError::Value { file: file.into(), line, key: path.into(), value, allowed }
            }
        };
        found.push((line, error));
    });
    found.sort_by_key(|(line, _)| *line);
    if found.is_empty() { Ok(()) } else { Err(found.into_iter().map(|(_, error)| error).collect()) }
}

/// An error in an entry of a table, with the allowed keys or values.
enum Strange {
    Key(String),
    Value(String, String),
}

fn gather_strange(known: &Table, table: &Table, section: &str, note: &mut dyn FnMut(&str, &str, Strange)) {
    let is_open = section == "energy.blocks";
    for (key, value) in table {
        let path = if section.is_empty() { key.clone() } else { format!("{section}.{key}") };
        match (known.get(key).or(is_open.then_some(&Value::Integer(0))), value) {
            (None, _) => {
                let allowed: Vec<_> = known.keys().map(|k| format!("`{k}`")).collect();
                note(&path, key, Strange::Key(allowed.join(", ")));
            }
            (Some(Value::Table(known)), Value::Table(inner)) => gather_strange(known, inner, &path, note),
            (Some(Value::Integer(_)), Value::Integer(n)) if u32::try_from(*n).is_err() => {
                note(&path, key, Strange::Value(n.to_string(), format!("must be 0 to {}", u32::MAX)));
            }
            (Some(known), value) if !known.same_type(value) => {
                let allowed = format!("must be a value of type {}", known.type_str());
                note(&path, key, Strange::Value(one_line(&value.to_string()), allowed));
            }
            _ => {}
        }
    }
}

/// Returns the line (from 1) of the header of table `path`; 0 if it is absent.
fn table_line(text: &str, path: &str) -> usize {
    let is_header = |line: &str| {
        line.trim().strip_prefix('[').and_then(|l| l.split(']').next()).is_some_and(|h| h.trim() == path)
    };
    text.lines().position(is_header).map_or(0, |at| at + 1)
}

/// Converts an error in a merged table, which has no position. The error quotes a value, whose line is searched in `text`.
fn misplaced(file: &str, text: &str, error: &toml::de::Error) -> ConfigError {
    let value = error.message().split('`').nth(1).map(|word| format!("\"{word}\""));
    let line = value.and_then(|value| text.lines().position(|line| line.contains(&value)));
    ConfigError::Syntax {
        file: file.into(),
        line: line.map_or(0, |at| at + 1),
        message: one_line(error.message()),
    }
}

/// Overwrites entries of `base` with the entries of `over`, table by table.
fn merge(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new)) => merge(old, new),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}
