//! `selvedge list`: workloads, mechanisms, configurations and blocks, all of a kind in a line each or one in full.
pub(crate) mod block_page;
pub(crate) mod blocks;
pub(crate) mod configurations;
pub(crate) mod mechanisms;
pub(crate) mod workloads;

pub use blocks::table as blocks_table;

use crate::arguments::{List, ListOptions};
use crate::error::Failure;
use crate::output::{print, print_table};
use schemars::JsonSchema;
use selvedge_area::Table;
use serde::Serialize;
use serde_json::Value;

/// Prints the list that is asked for.
pub fn run(options: &ListOptions) -> Result<(), Failure> {
    match &options.what {
        List::Workloads(list) => workloads::run(list),
        List::Mechanisms(list) => show(&mechanisms::select(list.name.as_deref())?, list.json),
        List::Configurations(list) => show(&configurations::select(list.name.as_deref())?, list.json),
        List::Blocks(list) => blocks::run(list),
    }
}

/// Things of one kind, and whether one of them was asked for by its name.
struct Selection<T> {
    entries: Vec<T>,
    is_one: bool,
}

/// Something that a list shows.
trait Listed: Serialize {
    /// Returns the table of all entries, a line each.
    fn table(entries: &[Self]) -> Table
    where
        Self: Sized;

    /// Returns all that is known of an entry: paragraphs and tables.
    fn page(&self) -> Page;
}

/// A parameter of a block or an option of a mechanism.
#[derive(JsonSchema, Serialize)]
struct Setting {
    /// Its name.
    name: &'static str,
    /// Its value unless another is given.
    default: String,
    /// The values that it can have.
    values: String,
    /// What it decides.
    meaning: &'static str,
}

impl Setting {
    /// Returns the table of settings, of which each is a `kind`.
    fn table(kind: &'static str, settings: &[Setting]) -> Table {
        let mut table = Table::new(&[kind, "default", "values", "meaning"]);
        for of in settings {
            table.row(vec![of.name.into(), of.default.clone(), of.values.clone(), of.meaning.into()]);
        }
        table
    }
}

/// The text about one entry: a first line, then lines and tables.
#[derive(Default)]
struct Page {
    parts: Vec<Part>,
}

enum Part {
    Line(String),
    Table(Table),
}

impl Page {
    /// Adds a line.
    fn line(&mut self, line: impl Into<String>) {
        self.parts.push(Part::Line(line.into()));
    }

    /// Adds a line that begins with a word, unless there is nothing to say.
    fn fact(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.line(format!("{name:<10} {text}"));
        }
    }

    /// Adds a table with an empty line before it, unless it has no rows.
    fn table(&mut self, table: Table) {
        if !table.is_empty() {
            self.parts.push(Part::Line(String::new()));
            self.parts.push(Part::Table(table));
        }
    }

    fn print(self) -> Result<(), Failure> {
        self.parts.into_iter().try_for_each(|part| match part {
            Part::Line(line) => print(&format!("{line}\n")),
            Part::Table(table) => print_table(&table),
        })
    }
}

/// Prints a selection: as JSON, as one page, or as a table.
fn show<T: Listed>(selection: &Selection<T>, json: bool) -> Result<(), Failure> {
    if json {
        return print_json(selection);
    }
    match &selection.entries[..] {
        [one] if selection.is_one => one.page().print(),
        all => print_table(&T::table(all)),
    }
}

/// Prints an object for one entry, and an array for all.
fn print_json<T: Serialize>(selection: &Selection<T>) -> Result<(), Failure> {
    let text = match &selection.entries[..] {
        [one] if selection.is_one => serde_json::to_string_pretty(one),
        all => serde_json::to_string_pretty(all),
    };
    let text = text.map_err(|e| Failure::simulation(format!("the list has no JSON form: {e}")))?;
    print(&(text + "\n"))
}

/// Returns a value as it is written after `--param` or an option's `=`.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

/// Returns what a message says that a value must be, without the words "must be".
fn values(allowed: &str) -> String {
    allowed.trim_start_matches("must be ").into()
}
