//! `selvedge list`: prints workloads, mechanisms, configurations and blocks, one per line or a single one in full.
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
use selvedge_sim::config::BUILT_IN;
use selvedge_sim::mechanism;
use selvedge_sim::workload;
use serde::Serialize;
use serde_json::Value;

/// Prints the requested list.
pub fn run(options: &ListOptions) -> Result<(), Failure> {
    match &options.what {
        Some(List::Workloads(list)) => workloads::run(list),
        Some(List::Mechanisms(list)) => show(&mechanisms::select(list.name.as_deref())?, list.json),
        Some(List::Configurations(list)) => show(&configurations::select(list.name.as_deref())?, list.json),
        Some(List::Blocks(list)) => blocks::run(list),
        None => print_table(&names()),
    }
}

/// Returns the names of everything that can be listed.
fn names() -> Table {
    let kinds: [(&str, Vec<&str>); 4] = [
        ("workloads", workload::all().iter().map(|workload| workload.name()).collect()),
        ("mechanisms", mechanism::all().iter().map(|info| info.name).collect()),
        ("configurations", BUILT_IN.iter().map(|machine| machine.name).collect()),
        ("blocks", selvedge_blocks::all().iter().map(|block| block.name()).collect()),
    ];
    let mut table = Table::new(&["selvedge list", "names"]);
    for (kind, names) in kinds {
        table.row(vec![kind.into(), names.join(" ")]);
    }
    table
}

/// Entries of one kind. `is_one` is `true` if the user named a single entry.
struct Selection<T> {
    entries: Vec<T>,
    is_one: bool,
}

/// An entry of a list.
trait Listed: Serialize {
    /// Returns the table of all entries, one per line.
    fn table(entries: &[Self]) -> Table
    where
        Self: Sized;

    /// Returns the full description of an entry: paragraphs and tables.
    fn page(&self) -> Page;
}

/// A parameter of a block or an option of a mechanism.
#[derive(JsonSchema, Serialize)]
struct Setting {
    /// Name of the parameter or option.
    name: &'static str,
    /// Default value.
    default: String,
    /// Possible values.
    values: String,
    /// Effect of the parameter or option.
    meaning: &'static str,
}

impl Setting {
    /// Returns the table of settings; `kind` is the head of its first column.
    fn table(kind: &'static str, settings: &[Setting]) -> Table {
        let mut table = Table::new(&[kind, "default", "values", "meaning"]);
        for of in settings {
            table.row(vec![of.name.into(), of.default.clone(), of.values.clone(), of.meaning.into()]);
        }
        table
    }
}

/// Text about one entry: lines and tables.
#[derive(Default)]
struct Page {
    parts: Vec<Part>,
}

enum Part {
    Line(String),
    Table(Table),
}

impl Page {
    fn line(&mut self, line: impl Into<String>) {
        self.parts.push(Part::Line(line.into()));
    }

    /// Adds a line that begins with `name`, unless `text` is empty.
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

/// Returns a value as written after `--param` or an option's `=`.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

/// Returns the allowed values as in an error message, without the words "must be".
fn values(allowed: &str) -> String {
    allowed.trim_start_matches("must be ").into()
}
