//! `selvedge stats`: explains the statistics, the mechanisms' counters and the columns of rows.
use crate::arguments::{StatsCommand, StatsOptions};
use crate::error::Failure;
use crate::output::{print, width};
use crate::schema::columns;
use selvedge_area::Table;
use selvedge_hw::names;
use selvedge_sim::config::explain::explain as explain_key;
use selvedge_sim::mechanism;
use selvedge_sim::statistic::STATISTICS;

/// Columns of `--launches` that are not statistics and not parameters.
const OF_LAUNCHES: [(&str, &str); 2] = [
    ("kernel_launch_uid", "Number of the launch in the run, from 1."),
    ("kernel_name", "Name of the kernel."),
];

/// Prints the meaning of one or all statistics, counters and columns.
pub fn run(options: &StatsOptions) -> Result<(), Failure> {
    let text = match &options.command {
        StatsCommand::List { markdown: true } => {
            format!(
                "<!-- Written by `selvedge stats list --markdown` -->\n\n# Statistics and counters\n\n## Statistics\n\n{}\n## Counters\n\n{}",
                statistics().markdown(),
                counters().markdown()
            )
        }
        StatsCommand::List { markdown: false } => {
            let tables = [statistics(), counters(), columns_table()];
            tables.map(|table| table.render_within(width())).join("\n")
        }
        StatsCommand::Explain { key } => explain(key)?,
    };
    print(&text)
}

/// Returns the table of the statistics.
fn statistics() -> Table {
    let mut table = Table::new(&["statistic", "meaning"]);
    STATISTICS.iter().for_each(|of| table.row(vec![of.key.into(), of.meaning.into()]));
    table
}

/// Returns the table of the mechanisms' counters.
fn counters() -> Table {
    let mut table = Table::new(&["counter of mechanisms", "meaning"]);
    mechanism::counters().iter().for_each(|of| table.row(vec![of.name.into(), of.meaning.into()]));
    table
}

/// Returns the table of the columns of JSON, CSV and Parquet.
fn columns_table() -> Table {
    let mut table = Table::new(&["column", "meaning"]);
    columns::columns().into_iter().for_each(|of| table.row(vec![of.name, of.meaning]));
    table
}

/// Returns the line of a statistic or counter, or a line for each matching column. `key` may be the whole name, the
/// name within `totals`, or the end of a name.
///
/// # Errors
/// Fails if nothing has this name.
fn explain(key: &str) -> Result<String, Failure> {
    let wanted: String = key.chars().filter(|c| !c.is_whitespace()).collect();
    let counters = mechanism::counters();
    if let Some(found) = counters.iter().find(|counter| counter.is(&wanted)) {
        return Ok(format!("{wanted}: {}\n", found.meaning));
    }
    if let Some(found) = STATISTICS.iter().find(|of| of.key == wanted) {
        return Ok(format!("{wanted}: {}\n", found.meaning));
    }
    let columns = columns::columns();
    let lines = |is_meant: &dyn Fn(&columns::Column) -> bool| -> String {
        let meant = columns.iter().filter(|column| is_meant(column));
        meant.map(|column| format!("{}: {}\n", column.name, column.meaning)).collect()
    };
    let whole =
        wanted.strip_prefix("interval.").map_or_else(|| wanted.clone(), |name| format!("totals.{name}"));
    let in_totals = format!("totals.{wanted}");
    let found = [
        lines(&|column| column.is(&whole)),
        lines(&|column| column.is(&in_totals)),
        lines(&|column| column.ends_in(&wanted)),
    ];
    if let Some(text) = found.into_iter().find(|text| !text.is_empty()) {
        return Ok(text);
    }
    let keys = columns::other_keys();
    if let Some(found) = keys.iter().find(|key| key.is(&wanted)) {
        return Ok(format!("{}: {}\n", found.name, found.meaning));
    }
    if let Some((name, meaning)) = OF_LAUNCHES.iter().find(|(name, _)| *name == wanted) {
        return Ok(format!("{name}: {meaning}\n"));
    }
    // A study that sets a value of the configuration has a column for it.
    if let Ok(info) = explain_key(&wanted) {
        return Ok(format!("{}: {} (a key of the configuration)\n", info.key, info.meaning));
    }
    let names = columns.iter().map(|of| of.name.as_str());
    let keys = STATISTICS.iter().map(|of| of.key).chain(counters.iter().map(|of| of.name)).chain(names);
    let nearest = names::allowed(&wanted, keys, "selvedge stats list");
    Err(Failure::usage(format!("no statistic '{key}': {nearest}")))
}
