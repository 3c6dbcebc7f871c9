//! Values of a TOML file with their positions, so that messages can name the line.
use crate::error::{StudyError, StudyText, one_line};
use std::ops::Range;
use std::str::FromStr;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

#[derive(Clone)]
pub(crate) struct Section<'a> {
    pub text: StudyText<'a>,
    table: &'a DeTable<'a>,
    span: Range<usize>,
    /// Name for messages, such as `[[vary]]`; empty for the top level of the file.
    name: String,
}

/// A value of the file and its key.
#[derive(Clone)]
pub(crate) struct KeyedValue<'a> {
    pub text: StudyText<'a>,
    key: String,
    value: &'a Spanned<DeValue<'a>>,
}

/// Parses the text as a table.
///
/// # Errors
/// A syntax error, with its line.
pub(crate) fn parse<'a>(text: StudyText<'a>) -> Result<Spanned<DeTable<'a>>, StudyError> {
    DeTable::parse(text.text).map_err(|e| text.bad(&e.span().unwrap_or_default(), one_line(e.message())))
}

impl<'a> Section<'a> {
    /// Returns the top level of the file.
    pub fn top(text: StudyText<'a>, table: &'a Spanned<DeTable<'a>>) -> Self {
        Section { text, table: table.get_ref(), span: 0..0, name: String::new() }
    }

    /// Checks that all keys are `known`.
    pub fn only(&self, known: &[&str]) -> Result<(), StudyError> {
        let unknown = self.table.keys().filter(|key| !known.contains(&key.get_ref().as_ref()));
        let Some(key) = unknown.min_by_key(|key| key.span().start) else { return Ok(()) };
        let place = if self.name.is_empty() { String::new() } else { format!(" of {}", self.name) };
        let message = format!("unknown key `{}`{place}: must be one of {}", key.get_ref(), known.join(", "));
        Err(self.text.bad(&key.span(), message))
    }

    pub fn get(&self, key: &str) -> Option<KeyedValue<'a>> {
        let value = self.table.get(key)?;
        Some(KeyedValue { text: self.text, key: key.into(), value })
    }

    /// Returns the value of a mandatory `key`.
    pub fn need(&self, key: &str, must: &str) -> Result<KeyedValue<'a>, StudyError> {
        self.get(key).ok_or_else(|| {
            let place = if self.name.is_empty() { "the file".to_owned() } else { self.name.clone() };
            self.text.bad(&self.span, format!("{place} has no `{key}`: must be {must}"))
        })
    }

    /// Returns the keys with their values, in the order of the file.
    pub fn items(&self) -> Vec<KeyedValue<'a>> {
        let mut items: Vec<_> = self
            .table
            .iter()
            .map(|(key, value)| {
                let name = key.get_ref().to_string();
                (key.span().start, KeyedValue { text: self.text, key: name, value })
            })
            .collect();
        items.sort_by_key(|(at, _)| *at);
        items.into_iter().map(|(_, item)| item).collect()
    }

    /// Returns the position in the file.
    pub fn span(&self) -> &Range<usize> {
        &self.span
    }
}

impl<'a> KeyedValue<'a> {
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the error for a value that must be something else.
    pub fn refuse(&self, must: &str) -> StudyError {
        let value = self.text.quote(&self.value.span());
        self.text.bad(&self.value.span(), format!("{} = {value}: must be {must}", self.key))
    }

    /// Returns an error at this value, with this message.
    pub fn wrong(&self, message: impl Into<String>) -> StudyError {
        self.text.bad(&self.value.span(), message)
    }

    pub fn is_table(&self) -> bool {
        self.value.get_ref().is_table()
    }

    /// Returns the text of a string that is not empty.
    pub fn string(&self) -> Result<&'a str, StudyError> {
        match self.value.get_ref().as_str() {
            Some(text) if !text.is_empty() => Ok(text),
            _ => Err(self.refuse("a string that is not empty")),
        }
    }

    /// Parses a string as a `T`.
    pub fn parse<T: FromStr>(&self, must: &str) -> Result<T, StudyError> {
        self.string()?.parse().map_err(|_| self.refuse(must))
    }

    /// Returns an integer of at least 1.
    pub fn count(&self) -> Result<u64, StudyError> {
        let number = self.value.get_ref().as_integer();
        let number = number.and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok());
        number.filter(|number| *number > 0).ok_or_else(|| self.refuse("an integer of 1 or more"))
    }

    /// Returns a boolean.
    pub fn flag(&self) -> Result<bool, StudyError> {
        self.value.get_ref().as_bool().ok_or_else(|| self.refuse("true or false"))
    }

    /// Returns the items of a list that is not empty.
    pub fn list(&self) -> Result<Vec<KeyedValue<'a>>, StudyError> {
        let list = self.value.get_ref().as_array().filter(|list| !list.is_empty());
        let list = list.ok_or_else(|| self.refuse("a list with at least one value"))?;
        Ok(list.iter().map(|value| KeyedValue { text: self.text, key: self.key.clone(), value }).collect())
    }

    /// Returns a table, with `name` for messages.
    pub fn section(&self, name: &str) -> Result<Section<'a>, StudyError> {
        let table = self.value.get_ref().as_table().ok_or_else(|| self.refuse("a table"))?;
        Ok(Section { text: self.text, table, span: self.value.span(), name: name.into() })
    }

    /// Returns a number, string or boolean.
    pub fn scalar(&self) -> Result<toml::Value, StudyError> {
        let value = self.value.get_ref();
        if value.is_array() || value.is_table() || value.is_datetime() {
            return Err(self.refuse("a number, a string, true or false"));
        }
        let span = self.value.span();
        let text = format!("value = {}", self.text.text.get(span).unwrap_or_default());
        let table: toml::Table =
            toml::from_str(&text).map_err(|_| self.refuse("a number, a string, true or false"))?;
        table.into_iter().next().map(|(_, value)| value).ok_or_else(|| self.refuse("a value"))
    }
}
