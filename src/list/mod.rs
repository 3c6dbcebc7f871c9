//! `selvedge list`: prints workloads, mechanisms, configurations and blocks, one per line or a single one in full.
pub(crate) mod block_page;
pub(crate) mod blocks;
pub(crate) mod configurations;
pub(crate) mod mechanisms;
mod page;
pub(crate) mod workloads;

use crate::arguments::{List, ListOptions};
use crate::error::Failure;
use crate::output::print_table;
use page::show;
use selvedge_area::Table;
use selvedge_sim::config::BUILT_IN;
use selvedge_sim::{mechanism, workload};

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
