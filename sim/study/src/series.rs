//! Tables of the intervals of runs.
use crate::row::{INTERVAL, PointTable, StudyRow, flatten};
use selvedge_sim::report::{RunReport, Totals};
use selvedge_sim::snapshot::Snapshot;

/// Returns a row for each interval of each sampled run. The columns are the totals of the JSON, with the prefix `interval.`
/// instead of `totals.`. They count only events in the interval.
pub fn series(reports: &[RunReport]) -> PointTable {
    let mut rows = Vec::new();
    for report in reports {
        let mut before = &Snapshot::default();
        for until in &report.series {
            let parameters = vec![
                ("workload".into(), report.workload.as_str().into()),
                ("mechanism".into(), report.mechanism.as_str().into()),
                (INTERVAL[0].name.into(), before.cycles.into()),
                (INTERVAL[1].name.into(), until.cycles.into()),
            ];
            let mut row = StudyRow { parameters, ..StudyRow::default() };
            let totals = serde_json::to_value(Totals::from(until - before)).unwrap_or_default();
            flatten("interval", &totals, &mut row.statistics);
            rows.push(row);
            before = until;
        }
    }
    PointTable::new(&rows)
}
