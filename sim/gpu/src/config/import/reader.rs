//! Reader of options. Each importer takes its options; the remaining ones have no counterpart.
use super::effects::effect;
use super::options::Opt;
use super::settings::ImportedSettings;
use crate::config::ConfigError;
use toml::Value;

/// The options that were not taken yet, and the result of the others.
pub struct OptionReader {
    options: Vec<Opt>,
    taken: Vec<Opt>,
    settings: ImportedSettings,
    notes: Vec<(Opt, String)>,
}

impl OptionReader {
    /// Creates a reader of `options`.
    pub fn new(options: Vec<Opt>) -> Self {
        OptionReader { options, taken: Vec::new(), settings: ImportedSettings::default(), notes: Vec::new() }
    }

    /// Takes the last option of a name, as GPGPU-Sim does, and notes that it replaces earlier ones.
    pub fn take(&mut self, name: &str) -> Option<Opt> {
        let named = self.options.extract_if(.., |o| o.name == name).collect::<Vec<_>>();
        let (last, earlier) = named.split_last()?;
        self.notes.extend(earlier.iter().map(|option| (option.clone(), replaced_by(last))));
        self.taken.push(last.clone());
        Some(last.clone())
    }

    /// Takes an option whose value is an integer.
    ///
    /// # Errors
    /// Returns an error if the value is not an integer.
    pub fn take_number(&mut self, name: &str) -> Result<Option<(u32, Opt)>, ConfigError> {
        self.take(name).map(|option| Ok((whole(&option, &option.value)?, option))).transpose()
    }

    /// Takes an option and sets a key to its value.
    ///
    /// # Errors
    /// Returns an error if the value is not an integer.
    pub fn copy(&mut self, name: &str, section: &'static str, key: &'static str) -> Result<(), ConfigError> {
        if let Some((value, option)) = self.take_number(name)? {
            self.set(section, key, value, &option);
        }
        Ok(())
    }

    /// Sets a key to a number.
    pub fn set(&mut self, section: &'static str, key: &'static str, value: u32, source: &Opt) {
        self.settings.set(section, key, Value::Integer(i64::from(value)), source);
    }

    /// Sets a key to a name.
    pub fn set_name(&mut self, section: &'static str, key: &'static str, value: &str, source: &Opt) {
        self.settings.set(section, key, Value::String(value.into()), source);
    }

    /// Sets a key to true or false.
    pub fn set_flag(&mut self, section: &'static str, key: &'static str, value: bool, source: &Opt) {
        self.settings.set(section, key, Value::Boolean(value), source);
    }

    /// Sets a key to a list of numbers.
    pub fn set_list(
        &mut self,
        section: &'static str,
        key: &'static str,
        values: impl Iterator<Item = u32>,
        source: &Opt,
    ) {
        let values = values.map(|value| Value::Integer(i64::from(value))).collect();
        self.settings.set(section, key, Value::Array(values), source);
    }

    /// Adds another option from which the value of a key follows.
    pub fn add_source(&mut self, section: &'static str, key: &'static str, source: &Opt) {
        self.settings.add_source(section, key, source);
    }

    /// Adds a note about an option that was not translated exactly.
    pub fn note(&mut self, option: &Opt, why: &'static str) {
        self.notes.push((option.clone(), why.into()));
    }

    /// Returns the settings, and a note for each option that was not translated, or only approximately.
    pub fn finish(self) -> (ImportedSettings, Vec<String>) {
        let OptionReader { options, taken, settings, mut notes } = self;
        for option in taken {
            if settings.has(&option) || notes.iter().any(|(noted, _)| *noted == option) {
                continue;
            }
            let why = settings.replacement(&option).map_or_else(|| NO_EFFECT.into(), replaced_by);
            notes.push((option, why));
        }
        for option in options {
            let why = effect(&option.name)
                .map_or("no counterpart".into(), |effect| format!("no counterpart: {effect}"));
            notes.push((option, why));
        }
        notes.sort_by_key(|(a, _)| (a.order, a.line));
        let line = |(o, why): (Opt, String)| format!("{}:{}: {} {}: {why}", o.file, o.line, o.name, o.value);
        (settings, notes.into_iter().map(line).collect())
    }
}

/// Note for an option whose value changes nothing.
const NO_EFFECT: &str = "ignored: no key depends on it with this value and the other options";

/// Returns the note that names the option with the effect instead.
fn replaced_by(option: &Opt) -> String {
    format!("ignored: replaced by {} in {}:{}", option.name, option.file, option.line)
}

/// Returns the error for a value in an option.
pub fn wrong(option: &Opt, value: &str, allowed: &str) -> ConfigError {
    ConfigError::Value {
        file: option.file.clone(),
        line: option.line,
        key: option.name.clone(),
        value: value.into(),
        allowed: allowed.into(),
    }
}

/// Parses an integer in an option's value.
///
/// # Errors
/// Returns an error if `text` is not an integer.
pub fn whole(option: &Opt, text: &str) -> Result<u32, ConfigError> {
    text.trim().parse().map_err(|_| wrong(option, text, "must be an integer from 0 to 4294967295"))
}

/// Parses a list of at least `count` integers.
///
/// # Errors
/// Returns an error if the list is shorter or contains another value.
pub fn list(option: &Opt, separator: char, count: usize) -> Result<Vec<u32>, ConfigError> {
    let numbers = option.value.split(separator).map(|n| whole(option, n)).collect::<Result<Vec<_>, _>>()?;
    if numbers.len() < count {
        let allowed = format!("must be {count} or more numbers, separated by {separator}");
        return Err(wrong(option, &option.value, &allowed));
    }
    Ok(numbers)
}
