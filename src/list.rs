//! `selvedge list`: workloads, mechanisms, configurations and blocks.
use crate::arguments::{List, ListOptions};
use crate::error::Failure;
use crate::output::print;
use selvedge_area::Table;
use selvedge_sim::{config, mechanism, workload};

/// Prints the list that is asked for.
pub fn run(options: &ListOptions) -> Result<(), Failure> {
    let text = match options.what {
        List::Workloads => workloads(),
        List::Mechanisms => mechanisms(),
        List::Machines => machines(),
        List::Blocks => crate::gen_command::list(),
    };
    print(&text)
}

fn machines() -> String {
    let mut table = Table::new(&["machine", "whose"]);
    for machine in &config::BUILT_IN {
        table.row(vec![machine.name.into(), machine.summary.into()]);
    }
    table.render()
}

/// A row for each size, so that any of them can be picked out by a search for lines.
fn workloads() -> String {
    let mut table = Table::new(&[
        "workload",
        "group",
        "size",
        "launches",
        "warp instr",
        "memory instr",
        "lines",
        "papers",
        "input",
        "what",
    ]);
    for workload in workload::all() {
        for size in workload::Size::ALL {
            let counts = workload::measured(workload.name(), size);
            let count = |of: fn(&workload::Measured) -> u64| {
                counts.as_ref().map_or("-".into(), |counts| of(counts).to_string())
            };
            table.row(vec![
                workload.name().into(),
                workload.group().to_string(),
                size.to_string(),
                count(|c| c.launches),
                count(|c| c.warp_instructions),
                count(|c| c.memory_instructions),
                count(|c| c.lines),
                workload.papers().into(),
                workload.description(size),
                workload.summary().into(),
            ]);
        }
    }
    table.render()
}

fn mechanisms() -> String {
    let mut table = Table::new(&["mechanism", "what", "source", "needs", "blocks", "options"]);
    for info in mechanism::all() {
        let options: Vec<_> =
            info.options.iter().map(|o| format!("{}={}", o.name, o.default_text())).collect();
        let machine = Some(info.machine_needs).filter(|needs| !needs.is_empty());
        let needs: Vec<_> = info.needs.words().into_iter().chain(machine).collect();
        table.row(vec![
            info.name.into(),
            info.summary.into(),
            info.source.into(),
            if needs.is_empty() { "-".into() } else { needs.join("; ") },
            info.blocks.join(" "),
            options.join(","),
        ]);
    }
    table.render()
}
