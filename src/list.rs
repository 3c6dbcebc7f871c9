//! `selvedge list`: workloads, mechanisms, configurations and blocks.
use crate::cli::ListOptions;
use crate::error::Failure;
use crate::output::write_or_print;
use crate::table::Table;
use selvedge_sim::{config, mechanism, workload};

/// Prints the list that is asked for.
pub fn run(options: &ListOptions) -> Result<(), Failure> {
    let text = match options.what.as_str() {
        "workloads" => workloads(),
        "mechanisms" => mechanisms(),
        "machines" | "configs" => machines(),
        "blocks" => crate::gen_command::list(),
        other => {
            return Err(Failure::usage(format!(
                "unknown list `{other}`: allowed are workloads, mechanisms, machines, blocks"
            )));
        }
    };
    write_or_print("-", &text)
}

fn machines() -> String {
    let mut table = Table::new(&["machine", "whose"]);
    for machine in &config::BUILT_IN {
        table.row(vec![machine.name.into(), machine.summary.into()]);
    }
    table.render()
}

fn workloads() -> String {
    let mut table = Table::new(&["workload", "what", "papers"]);
    for workload in workload::all() {
        let cells = [workload.name(), workload.summary(), workload.papers()];
        table.row(cells.map(String::from).to_vec());
    }
    table.render()
}

fn mechanisms() -> String {
    let mut table = Table::new(&["mechanism", "what", "source", "blocks", "options"]);
    for info in mechanism::ALL {
        let options: Vec<_> = info.options.iter().map(|o| format!("{}={}", o.name, o.default)).collect();
        table.row(vec![
            info.name.into(),
            info.summary.into(),
            info.source.into(),
            info.blocks.join(" "),
            options.join(","),
        ]);
    }
    table.render()
}
