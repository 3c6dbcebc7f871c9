//! Result of an import: keys of the TOML file with the options from which they follow.
use super::options::Opt;
use crate::config::ConfigError;
use std::collections::BTreeMap;
use toml::Value;

/// Value of a key, and the options from which it follows. Errors name the first one.
struct ImportedValue {
    value: Value,
    sources: Vec<Opt>,
}

/// Settings by section and key.
#[derive(Default)]
pub struct ImportedSettings {
    sections: BTreeMap<&'static str, BTreeMap<&'static str, ImportedValue>>,
    /// Options whose value was replaced, each with the option that replaced it.
    replaced: Vec<(Opt, Opt)>,
}

impl ImportedSettings {
    /// Sets `section.key`. A later value replaces an earlier one.
    pub fn set(&mut self, section: &'static str, key: &'static str, value: Value, source: &Opt) {
        let setting = ImportedValue { value, sources: vec![source.clone()] };
        if let Some(old) = self.sections.entry(section).or_default().insert(key, setting) {
            self.replaced.extend(old.sources.into_iter().map(|old| (old, source.clone())));
        }
    }

    /// Adds another option from which the value of `section.key` follows.
    pub fn add_source(&mut self, section: &str, key: &str, source: &Opt) {
        let setting = self.sections.get_mut(section).and_then(|keys| keys.get_mut(key));
        if let Some(setting) = setting.filter(|setting| !setting.sources.contains(source)) {
            setting.sources.push(source.clone());
        }
    }

    /// Returns whether a value follows from `option`.
    pub fn has(&self, option: &Opt) -> bool {
        self.sections.values().flat_map(BTreeMap::values).any(|setting| setting.sources.contains(option))
    }

    /// Returns the option that replaced a value of `option`.
    pub fn replacement(&self, option: &Opt) -> Option<&Opt> {
        self.replaced.iter().find(|(old, _)| old == option).map(|(_, new)| new)
    }

    /// Returns the settings as TOML text.
    pub fn render(&self, name: &str, base: &str, files: &str) -> String {
        let [name, base] = [name, base].map(|text| Value::String(text.into()));
        let mut text = format!(
            "# From {}: what no option states is as in the base.\nbase = {base}\nname = {name}\n",
            plain(files)
        );
        for (section, keys) in &self.sections {
            text += &format!("\n[{section}]\n");
            for (key, ImportedValue { value, sources }) in keys {
                let from = |source: &Opt| format!("{} {}", plain(&source.name), plain(&source.value));
                let sources: Vec<String> = sources.iter().map(from).collect();
                text += &format!("{key} = {value} # {}\n", sources.join(", "));
            }
        }
        text
    }

    /// Converts an error in a key into an error in the option from which the key follows.
    pub fn trace(&self, error: ConfigError) -> ConfigError {
        let ConfigError::Value { file, line, key, value, allowed } = error else { return error };
        let (section, name) = key.rsplit_once('.').unwrap_or(("", &key));
        let setting = self.sections.get(section).and_then(|keys| keys.get(name));
        let Some(source) = setting.and_then(|setting| setting.sources.first()) else {
            // The key comes from the base and contradicts a translated one. Its line is 0, as for every value of a base.
            return ConfigError::Value { file, line, key, value, allowed };
        };
        ConfigError::Value {
            file: source.file.clone(),
            line: source.line,
            key: format!("{}: {key}", source.name),
            value,
            allowed,
        }
    }
}

/// Returns `text` with spaces instead of control characters, which could end a comment.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
