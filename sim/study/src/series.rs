//! What happened in the intervals of runs, as a table.
use crate::row::{Row, Table, flatten};
use selvedge_sim::report::{RunReport, Totals};
use selvedge_sim::snapshot::Snapshot;

/// Returns a row for each interval of each run that was sampled; the columns are those of the totals in the JSON, with
/// `interval.` in place of `totals.`, and hold what happened in the interval.
pub fn series(reports: &[RunReport]) -> Table {
    let mut rows = Vec::new();
    for report in reports {
        let mut before = &Snapshot::default();
        for until in &report.series {
            let parameters = vec![
                ("workload".into(), report.workload.as_str().into()),
                ("mechanism".into(), report.mechanism.as_str().into()),
                ("from_cycle".into(), before.cycles.into()),
                ("to_cycle".into(), until.cycles.into()),
            ];
            let mut row = Row { parameters, ..Row::default() };
            let totals = serde_json::to_value(Totals::from(until - before)).unwrap_or_default();
            flatten("interval", &totals, &mut row.statistics);
            rows.push(row);
            before = until;
        }
    }
    Table::new(&rows)
}
