//! What has been translated: keys of the TOML file with the options that they come from.
use super::options::Opt;
use crate::config::ConfigError;
use std::collections::BTreeMap;
use toml::Value;

/// Keys by section.
#[derive(Default)]
pub struct Settings {
    sections: BTreeMap<&'static str, BTreeMap<&'static str, (Value, Opt)>>,
}

impl Settings {
    /// States `section.key`; a later statement replaces an earlier one.
    pub fn set(&mut self, section: &'static str, key: &'static str, value: Value, source: &Opt) {
        self.sections.entry(section).or_default().insert(key, (value, source.clone()));
    }

    /// The TOML text.
    pub fn render(&self, name: &str, base: &str, file: &str) -> String {
        let [name, base] = [name, base].map(|text| Value::String(text.into()));
        let mut text = format!(
            "# From {}: what no option states is as in the base.\nbase = {base}\nname = {name}\n",
            plain(file)
        );
        for (section, keys) in &self.sections {
            text += &format!("\n[{section}]\n");
            for (key, (value, source)) in keys {
                text += &format!("{key} = {value} # {} {}\n", plain(&source.name), plain(&source.value));
            }
        }
        text
    }

    /// A mistake in a key, told as one of the option that the key comes from.
    pub fn trace(&self, error: ConfigError) -> ConfigError {
        let ConfigError::Value { file, line, key, value, allowed } = error else { return error };
        let (section, name) = key.rsplit_once('.').unwrap_or(("", &key));
        let Some((_, source)) = self.sections.get(section).and_then(|keys| keys.get(name)) else {
            // The key is the base's and contradicts a translated one; the line is 0, as for any base's value.
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

/// `text` without what would end a comment.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
