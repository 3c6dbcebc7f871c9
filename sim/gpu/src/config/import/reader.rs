//! Takes options one by one; what is left at the end has no counterpart.
use super::effects::effect;
use super::options::Opt;
use super::settings::Settings;
use crate::config::ConfigError;
use toml::Value;

/// The options not yet taken, and what has been made of the others.
pub struct Reader {
    options: Vec<Opt>,
    settings: Settings,
    notes: Vec<(Opt, &'static str)>,
}

impl Reader {
    /// Nothing taken yet.
    pub fn new(options: Vec<Opt>) -> Self {
        Reader { options, settings: Settings::default(), notes: Vec::new() }
    }

    /// Takes an option; of several the last one counts, as in GPGPU-Sim.
    pub fn take(&mut self, name: &str) -> Option<Opt> {
        let last = self.options.iter().rfind(|o| o.name == name).cloned();
        self.options.retain(|o| o.name != name);
        last
    }

    /// Takes an option whose value is a whole number.
    ///
    /// # Errors
    /// It is none.
    pub fn take_number(&mut self, name: &str) -> Result<Option<(u32, Opt)>, ConfigError> {
        self.take(name).map(|option| Ok((whole(&option, &option.value)?, option))).transpose()
    }

    /// Takes an option whose value is the value of a key, as it is.
    ///
    /// # Errors
    /// It is no whole number.
    pub fn copy(&mut self, name: &str, section: &'static str, key: &'static str) -> Result<(), ConfigError> {
        if let Some((value, option)) = self.take_number(name)? {
            self.set(section, key, value, &option);
        }
        Ok(())
    }

    /// States a key that is a number.
    pub fn set(&mut self, section: &'static str, key: &'static str, value: u32, source: &Opt) {
        self.settings.set(section, key, Value::Integer(i64::from(value)), source);
    }

    /// States a key that is a name.
    pub fn set_name(&mut self, section: &'static str, key: &'static str, value: &str, source: &Opt) {
        self.settings.set(section, key, Value::String(value.into()), source);
    }

    /// States a key that is true or false.
    pub fn set_flag(&mut self, section: &'static str, key: &'static str, value: bool, source: &Opt) {
        self.settings.set(section, key, Value::Boolean(value), source);
    }

    /// States a key that is a list of numbers.
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

    /// Notes what of an option could not be translated.
    pub fn note(&mut self, option: &Opt, why: &'static str) {
        self.notes.push((option.clone(), why));
    }

    /// The translation, and a line for each option that is not in it or only nearly.
    pub fn finish(mut self) -> (Settings, Vec<String>) {
        let left = std::mem::take(&mut self.options);
        let unmapped = |o: Opt| {
            let why =
                effect(&o.name).map_or("no counterpart".into(), |effect| format!("no counterpart: {effect}"));
            (o, why)
        };
        let mut notes: Vec<(Opt, String)> = self.notes.into_iter().map(|(o, why)| (o, why.into())).collect();
        notes.extend(left.into_iter().map(unmapped));
        notes.sort_by(|(a, _), (b, _)| (&a.file, a.line).cmp(&(&b.file, b.line)));
        let line = |(o, why): (Opt, String)| format!("{}:{}: {} {}: {why}", o.file, o.line, o.name, o.value);
        (self.settings, notes.into_iter().map(line).collect())
    }
}

/// A mistake in an option.
pub fn wrong(option: &Opt, value: &str, allowed: &str) -> ConfigError {
    ConfigError::Value {
        file: option.file.clone(),
        line: option.line,
        key: option.name.clone(),
        value: value.into(),
        allowed: allowed.into(),
    }
}

/// A whole number in an option's value.
///
/// # Errors
/// It is none.
pub fn whole(option: &Opt, text: &str) -> Result<u32, ConfigError> {
    text.trim().parse().map_err(|_| wrong(option, text, "must be a whole number from 0 to 4294967295"))
}

/// The whole numbers of a list; `count` at least.
///
/// # Errors
/// There are fewer, or one is none.
pub fn list(option: &Opt, separator: char, count: usize) -> Result<Vec<u32>, ConfigError> {
    let numbers = option.value.split(separator).map(|n| whole(option, n)).collect::<Result<Vec<_>, _>>()?;
    if numbers.len() < count {
        let allowed = format!("must be {count} or more numbers, separated by {separator}");
        return Err(wrong(option, &option.value, &allowed));
    }
    Ok(numbers)
}
