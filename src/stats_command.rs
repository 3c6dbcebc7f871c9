//! `selvedge stats`: the glossary of the statistics and of the mechanisms' counters.
use crate::arguments::{StatsCommand, StatsOptions};
use crate::error::Failure;
use crate::output::{print, width};
use selvedge_area::Table;
use selvedge_hw::names;
use selvedge_sim::mechanism::counter::{self, COUNTERS};
use selvedge_sim::statistic::STATISTICS;

/// Prints the meaning of one statistic or counter, or of all.
pub fn run(options: &StatsOptions) -> Result<(), Failure> {
    let text = match &options.command {
        StatsCommand::List { markdown: true } => {
            format!("## Statistics\n\n{}\n## Counters\n\n{}", statistics().markdown(), counters().markdown())
        }
        StatsCommand::List { markdown: false } => {
            format!("{}\n{}", statistics().render_within(width()), counters().render_within(width()))
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
    COUNTERS.iter().for_each(|of| table.row(vec![of.name.into(), of.meaning.into()]));
    table
}

/// Returns a line on a statistic or counter.
///
/// # Errors
/// There is none of this name.
fn explain(key: &str) -> Result<String, Failure> {
    let wanted: String = key.chars().filter(|c| !c.is_whitespace()).collect();
    if let Some(found) = counter::find(&wanted) {
        return Ok(format!("{wanted}: {}\n", found.meaning));
    }
    if let Some(found) = STATISTICS.iter().find(|of| of.key == wanted) {
        return Ok(format!("{wanted}: {}\n", found.meaning));
    }
    let keys = STATISTICS.iter().map(|of| of.key).chain(COUNTERS.iter().map(|of| of.name));
    let nearest = names::allowed(&wanted, keys, "selvedge stats list");
    Err(Failure::usage(format!("no statistic `{key}`: {nearest}")))
}
