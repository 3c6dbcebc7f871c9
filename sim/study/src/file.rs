//! Values of a TOML file with their places, so that each mistake names its line.
use crate::error::{StudyError, Text, one_line};
use std::ops::Range;
use std::str::FromStr;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A table of the file.
#[derive(Clone)]
pub(crate) struct Section<'a> {
    pub text: Text<'a>,
    table: &'a DeTable<'a>,
    span: Range<usize>,
    /// What messages call it, such as `[[vary]]`; empty at the top of the file.
    name: String,
}

/// A value of the file, with the key under which it stands.
#[derive(Clone)]
pub(crate) struct Item<'a> {
    pub text: Text<'a>,
    key: String,
    value: &'a Spanned<DeValue<'a>>,
}

/// Returns the text as a table.
///
/// # Errors
/// What is wrong with its form, and where.
pub(crate) fn parse<'a>(text: Text<'a>) -> Result<Spanned<DeTable<'a>>, StudyError> {
    DeTable::parse(text.text).map_err(|e| text.bad(&e.span().unwrap_or_default(), one_line(e.message())))
}

impl<'a> Section<'a> {
    /// The top of the file.
    pub fn top(text: Text<'a>, table: &'a Spanned<DeTable<'a>>) -> Self {
        Section { text, table: table.get_ref(), span: 0..0, name: String::new() }
    }

    /// Refuses keys that are not `known`.
    pub fn only(&self, known: &[&str]) -> Result<(), StudyError> {
        let unknown = self.table.keys().filter(|key| !known.contains(&key.get_ref().as_ref()));
        let Some(key) = unknown.min_by_key(|key| key.span().start) else { return Ok(()) };
        let place = if self.name.is_empty() { String::new() } else { format!(" of {}", self.name) };
        let message = format!("unknown key `{}`{place}: must be one of {}", key.get_ref(), known.join(", "));
        Err(self.text.bad(&key.span(), message))
    }

    /// Returns the value of `key`.
    pub fn get(&self, key: &str) -> Option<Item<'a>> {
        let value = self.table.get(key)?;
        Some(Item { text: self.text, key: key.into(), value })
    }

    /// Returns the value of `key`, which must be there.
    pub fn need(&self, key: &str, must: &str) -> Result<Item<'a>, StudyError> {
        self.get(key).ok_or_else(|| {
            let place = if self.name.is_empty() { "the file".to_owned() } else { self.name.clone() };
            self.text.bad(&self.span, format!("{place} has no `{key}`: must be {must}"))
        })
    }

    /// Returns the keys with their values, in the order of the file.
    pub fn items(&self) -> Vec<Item<'a>> {
        let mut items: Vec<_> = self
            .table
            .iter()
            .map(|(key, value)| {
                let name = key.get_ref().to_string();
                (key.span().start, Item { text: self.text, key: name, value })
            })
            .collect();
        items.sort_by_key(|(at, _)| *at);
        items.into_iter().map(|(_, item)| item).collect()
    }

    /// Where it begins.
    pub fn span(&self) -> &Range<usize> {
        &self.span
    }
}

impl<'a> Item<'a> {
    /// Its key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The mistake that the value is not what it must be.
    pub fn refuse(&self, must: &str) -> StudyError {
        let value = self.text.quote(&self.value.span());
        self.text.bad(&self.value.span(), format!("{} = {value}: must be {must}", self.key))
    }

    /// A mistake at this value, in words that name it.
    pub fn wrong(&self, message: impl Into<String>) -> StudyError {
        self.text.bad(&self.value.span(), message)
    }

    /// Returns whether it is a table.
    pub fn is_table(&self) -> bool {
        self.value.get_ref().is_table()
    }

    /// Returns the text of a string.
    pub fn string(&self) -> Result<&'a str, StudyError> {
        match self.value.get_ref().as_str() {
            Some(text) if !text.is_empty() => Ok(text),
            _ => Err(self.refuse("a string that is not empty")),
        }
    }

    /// Returns a string as a name of `T`.
    pub fn parse<T: FromStr>(&self, must: &str) -> Result<T, StudyError> {
        self.string()?.parse().map_err(|_| self.refuse(must))
    }

    /// Returns a number from 1 on.
    pub fn count(&self) -> Result<u64, StudyError> {
        let number = self.value.get_ref().as_integer();
        let number = number.and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok());
        number.filter(|number| *number > 0).ok_or_else(|| self.refuse("a whole number of 1 or more"))
    }

    /// Returns `true` or `false`.
    pub fn flag(&self) -> Result<bool, StudyError> {
        self.value.get_ref().as_bool().ok_or_else(|| self.refuse("true or false"))
    }

    /// Returns the values of a list that is not empty.
    pub fn list(&self) -> Result<Vec<Item<'a>>, StudyError> {
        let list = self.value.get_ref().as_array().filter(|list| !list.is_empty());
        let list = list.ok_or_else(|| self.refuse("a list with at least one value"))?;
        Ok(list.iter().map(|value| Item { text: self.text, key: self.key.clone(), value }).collect())
    }

    /// Returns the table, which messages call `name`.
    pub fn section(&self, name: &str) -> Result<Section<'a>, StudyError> {
        let table = self.value.get_ref().as_table().ok_or_else(|| self.refuse("a table"))?;
        Ok(Section { text: self.text, table, span: self.value.span(), name: name.into() })
    }

    /// Returns a number, a string or a flag as it is.
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
