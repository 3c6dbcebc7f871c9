//! `selvedge stats`: the glossary of the statistics.
use crate::arguments::{StatsCommand, StatsOptions};
use crate::error::Failure;
use crate::output::{print, width};
use selvedge_area::Table;
use selvedge_sim::statistic::{STATISTICS, find};

/// Prints the meaning of one statistic or of all.
pub fn run(options: &StatsOptions) -> Result<(), Failure> {
    let text = match &options.command {
        StatsCommand::List => {
            let mut table = Table::new(&["statistic", "meaning"]);
            STATISTICS.iter().for_each(|of| table.row(vec![of.key.into(), of.meaning.into()]));
            table.render_within(width())
        }
        StatsCommand::Explain { key } => {
            let found = find(key).map_err(Failure::usage)?;
            format!("{}: {}\n", found.key, found.meaning)
        }
    };
    print(&text)
}
