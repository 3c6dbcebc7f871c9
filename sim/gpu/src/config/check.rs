//! Range checks that collect all errors, each with the line of its value.
use super::error::ConfigError;

/// The text that values come from, and the errors found so far.
pub(super) struct Checker<'a> {
    file: &'a str,
    text: &'a str,
    found: Vec<ConfigError>,
}

impl<'a> Checker<'a> {
    /// Creates a checker without errors for `text` of the file `file`.
    pub fn new(file: &'a str, text: &'a str) -> Self {
        Checker { file, text, found: Vec::new() }
    }

    /// Returns all errors, in the order of the checks.
    pub fn into_found(self) -> Vec<ConfigError> {
        self.found
    }

    /// Records that `key` must not be `value`.
    pub fn fail(&mut self, key: &str, value: impl ToString, allowed: String) {
        self.found.push(ConfigError::Value {
            file: self.file.into(),
            line: line_of(self.text, key),
            key: key.into(),
            value: value.to_string(),
            allowed,
        });
    }

    /// Checks that `value` is from `low` to `high`, both included.
    pub fn range(&mut self, key: &str, value: u32, low: u32, high: u32) {
        if (low..=high).contains(&value) {
            return;
        }
        let allowed = if low == high { format!("must be {low}") } else { format!("must be {low} to {high}") };
        self.fail(key, value, allowed);
    }

    /// Checks that `value` is a power of two from `low` to `high`, both included.
    pub fn power(&mut self, key: &str, value: u32, low: u32, high: u32) {
        if !value.is_power_of_two() || !(low..=high).contains(&value) {
            self.fail(key, value, format!("must be a power of two from {low} to {high}"));
        }
    }

    /// Checks that the number of lanes `value` divides a warp.
    pub fn lanes(&mut self, key: &str, value: u32) {
        if !value.is_power_of_two() || value > 32 {
            self.fail(key, value, "must be 1, 2, 4, 8, 16, 32".into());
        }
    }
}

/// Returns the line (from 1) on which `section.key` is set in `text`; 0 if it is not set.
pub(super) fn line_of(text: &str, key: &str) -> usize {
    let (section, name) = key.rsplit_once('.').unwrap_or(("", key));
    let mut current = String::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            current = header.split(']').next().unwrap_or_default().trim().to_string();
        }
        let is_key = line.split('=').next().is_some_and(|k| k.trim() == name) && line.contains('=');
        if is_key && (current == section || section.is_empty()) {
            return number + 1;
        }
    }
    0
}
