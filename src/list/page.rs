//! Forms in which a list is printed: a table of all entries, a page of one entry, or JSON.
use crate::error::Failure;
use crate::output::{print, print_table};
use schemars::JsonSchema;
use selvedge_area::Table;
use serde::Serialize;
use serde_json::Value;

/// Entries of one kind. `is_one` is `true` if the user named a single entry.
pub(crate) struct Selection<T> {
    pub(crate) entries: Vec<T>,
    pub(crate) is_one: bool,
}

/// An entry of a list.
pub(crate) trait Listed: Serialize {
    /// Returns the table of all entries, one per line.
    fn table(entries: &[Self]) -> Table
    where
        Self: Sized;

    /// Returns the full description of an entry: paragraphs and tables.
    fn page(&self) -> Page;
}

/// A parameter of a block or an option of a mechanism.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Setting {
    /// Name of the parameter or option.
    pub(crate) name: &'static str,
    /// Default value.
    pub(crate) default: String,
    /// Possible values.
    pub(crate) values: String,
    /// Effect of the parameter or option.
    pub(crate) meaning: &'static str,
}

impl Setting {
    /// Returns the table of settings; `kind` is the head of its first column.
    pub(crate) fn table(kind: &'static str, settings: &[Setting]) -> Table {
        let mut table = Table::new(&[kind, "default", "values", "meaning"]);
        for of in settings {
            table.row(vec![of.name.into(), of.default.clone(), of.values.clone(), of.meaning.into()]);
        }
        table
    }
}

/// Text about one entry: lines and tables.
#[derive(Default)]
pub(crate) struct Page {
    parts: Vec<Part>,
}

enum Part {
    Line(String),
    Table(Table),
}

impl Page {
    pub(crate) fn line(&mut self, line: impl Into<String>) {
        self.parts.push(Part::Line(line.into()));
    }

    /// Adds a line that begins with `name`, unless `text` is empty.
    pub(crate) fn fact(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.line(format!("{name:<10} {text}"));
        }
    }

    /// Adds a table with an empty line before it, unless it has no rows.
    pub(crate) fn table(&mut self, table: Table) {
        if !table.is_empty() {
            self.parts.push(Part::Line(String::new()));
            self.parts.push(Part::Table(table));
        }
    }

    pub(crate) fn print(self) -> Result<(), Failure> {
        self.parts.into_iter().try_for_each(|part| match part {
            Part::Line(line) => print(&format!("{line}\n")),
            Part::Table(table) => print_table(&table),
        })
    }
}

/// Prints a selection: as JSON, as one page, or as a table.
pub(crate) fn show<T: Listed>(selection: &Selection<T>, json: bool) -> Result<(), Failure> {
    if json {
        return print_json(selection);
    }
    match &selection.entries[..] {
        [one] if selection.is_one => one.page().print(),
        all => print_table(&T::table(all)),
    }
}

/// Prints an object for one entry, and an array for all.
pub(crate) fn print_json<T: Serialize>(selection: &Selection<T>) -> Result<(), Failure> {
    let text = match &selection.entries[..] {
        [one] if selection.is_one => serde_json::to_string_pretty(one),
        all => serde_json::to_string_pretty(all),
    };
    let text = text.map_err(|e| Failure::simulation(format!("the list has no JSON form: {e}")))?;
    print(&(text + "\n"))
}

/// Returns a value as written after `--param` or an option's `=`.
pub(crate) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

/// Returns the allowed values as in an error message, without the words "must be".
pub(crate) fn values(allowed: &str) -> String {
    allowed.trim_start_matches("must be ").into()
}
