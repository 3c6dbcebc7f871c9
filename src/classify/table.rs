//! The table of `selvedge classify`, and its rows as JSON and CSV.
use super::classes::{Paper, Quantity, dai, lamar, latte_cc, printed};
use super::fingerprint::{Behavior, ComparedValue, compare};
use crate::output::width;
use schemars::JsonSchema;
use selvedge_area::Table;
use selvedge_sim::Ratios;
use serde::Serialize;

/// Measurements of a workload. Null if a measurement is missing.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(rename = "Classes")]
pub struct Row {
    /// Name of the workload.
    pub workload: &'static str,
    /// Core cycles of the baseline.
    pub cycles: Option<u64>,
    /// Percentage of the baseline's DRAM cycles in which the data bus is busy.
    pub bandwidth: Option<f64>,
    /// Speedup with an L1D of four times the size.
    pub four_times: Option<f64>,
    /// Speedup with an L1D of 2 MB.
    pub large: Option<f64>,
    /// Mean number of sectors used per block.
    pub sectors: Option<f64>,
    /// Compression ratios of the lines that loads read: uncompressed bursts of 32 bytes over compressed ones.
    pub ratios: Option<ByCodec>,
    /// Behavior of the baseline.
    pub behavior: Option<Behavior>,
    /// Values that the papers print, each next to the measured one.
    pub printed: Vec<ComparedValue>,
}

/// Compression ratios.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ByCodec {
    /// BDI.
    pub bdi: f64,
    /// FPC.
    pub fpc: f64,
    /// C-Pack.
    pub cpack: f64,
    /// BPC.
    pub bpc: f64,
    /// SC.
    pub sc: f64,
}

impl From<Ratios> for ByCodec {
    fn from(Ratios { bdi, fpc, cpack, bpc, sc }: Ratios) -> Self {
        ByCodec { bdi, fpc, cpack, bpc, sc }
    }
}

impl Row {
    /// Returns the row of a workload without measurements.
    pub fn new(workload: &'static str) -> Self {
        let mut row = Row {
            workload,
            cycles: None,
            bandwidth: None,
            four_times: None,
            large: None,
            sectors: None,
            ratios: None,
            behavior: None,
            printed: Vec::new(),
        };
        row.compare();
        row
    }

    /// Compares the measurements with the values that the papers print.
    pub fn compare(&mut self) {
        self.printed = compare(self, printed().filter(|one| one.workload == self.workload));
    }

    /// Returns the first value of this quantity that a paper prints.
    fn value(&self, quantity: Quantity) -> Option<&'static str> {
        self.printed.iter().map(|one| one.printed).find(|one| one.quantity == quantity).map(|one| one.value)
    }

    /// Returns the sectors used per block that LAMAR prints.
    fn printed_sectors(&self) -> Option<f64> {
        self.value(Quantity::Sectors).and_then(|value| value.parse().ok())
    }

    /// Returns whether the row has no measurement.
    pub fn is_empty(&self) -> bool {
        self.cycles.is_none()
            && self.four_times.is_none()
            && self.large.is_none()
            && self.sectors.is_none()
            && self.ratios.is_none()
    }

    /// Returns the cells. Numbers are rounded for the table.
    fn cells(&self) -> Vec<String> {
        let number = |value: Option<f64>, digits: usize| value.map(|v| format!("{v:.digits$}"));
        let word = |value: Option<&str>| value.map(String::from);
        let ratio = |of: fn(&ByCodec) -> f64| number(self.ratios.as_ref().map(of), 2);
        let cells = [
            Some(self.workload.into()),
            self.cycles.map(|cycles| cycles.to_string()),
            number(self.bandwidth, 1),
            number(self.four_times, 2),
            word(self.four_times.map(latte_cc)),
            word(self.value(Quantity::L1d4x)),
            number(self.sectors, 2),
            word(self.sectors.map(lamar)),
            number(self.printed_sectors(), 2),
            number(self.large, 2),
            word(self.large.map(dai)),
            word(self.value(Quantity::L1dLarge)),
            ratio(|r| r.bdi),
            ratio(|r| r.fpc),
            ratio(|r| r.cpack),
            ratio(|r| r.bpc),
            ratio(|r| r.sc),
        ];
        cells.into_iter().map(|cell| cell.unwrap_or_else(|| "-".into())).collect()
    }
}

const HEADS: [&str; 17] = [
    "workload",
    "cycles",
    "DRAM busy %",
    "4x L1D",
    "class",
    "LATTE-CC",
    "sectors",
    "class",
    "LAMAR",
    "2 MB L1D",
    "class",
    "Dai",
    "BDI",
    "FPC",
    "C-Pack",
    "BPC",
    "SC",
];

/// Returns the table, followed by the number of classes that agree with the papers.
pub fn render(rows: &[Row]) -> String {
    let mut table = Table::new(&HEADS);
    rows.iter().for_each(|row| table.row(row.cells()));
    let agreements = [
        agreement("LATTE-CC", rows, |row| Some((latte_cc(row.four_times?), row.value(Quantity::L1d4x)?))),
        agreement("LAMAR", rows, |row| Some((lamar(row.sectors?), lamar(row.printed_sectors()?)))),
        agreement("Dai", rows, |row| Some((dai(row.large?), row.value(Quantity::L1dLarge)?))),
        bandwidth(rows),
    ];
    table.render_within(width()) + &agreements.concat()
}

/// Returns the line with the number of workloads that have the paper's class.
fn agreement(paper: &str, rows: &[Row], classes: impl Fn(&Row) -> Option<(&str, &str)>) -> String {
    let pairs: Vec<bool> = rows.iter().filter_map(classes).map(|(ours, theirs)| ours == theirs).collect();
    if pairs.is_empty() {
        return String::new();
    }
    let alike = pairs.iter().filter(|alike| **alike).count();
    format!("{paper}: {alike} of {} workloads have the paper's class\n", pairs.len())
}

/// Returns the line with the mean bandwidth use of CABA's workloads.
fn bandwidth(rows: &[Row]) -> String {
    let used: Vec<f64> = rows
        .iter()
        .filter(|row| row.value(Quantity::Evaluated).is_some())
        .filter_map(|row| row.bandwidth)
        .collect();
    let theirs = printed().find(|one| one.paper == Paper::Caba && one.quantity == Quantity::MeanBandwidth);
    match theirs {
        Some(theirs) if !used.is_empty() => {
            let mean = used.iter().sum::<f64>() / used.len() as f64;
            format!(
                "CABA: the DRAM's bus is busy for {mean:.1}% in the mean of {} workloads; the paper's mean is {}%\n",
                used.len(),
                theirs.value
            )
        }
        _ => String::new(),
    }
}

/// Returns the table as CSV. The cell of a missing value is empty.
pub fn csv(rows: &[Row]) -> String {
    let heads = "workload,cycles,dram_busy_percent,l1d_4x,l1d_4x_class,latte_cc,sectors,sectors_class,lamar,l1d_2mb,\
                 l1d_2mb_class,dai,bdi,fpc,cpack,bpc,sc,compute_per_memory,requests_per_memory,l1d_miss_rate,\
                 l1d_failures,l1d_mpki,memory_stalls,registers_percent,shared_percent,threads_percent\n";
    let line = |row: &Row| {
        let behavior = match &row.behavior {
            Some(behavior) => behavior.values().map(|value| value.to_string()),
            None => <[String; 9]>::default(),
        };
        let cells = row.cells().into_iter().map(|cell| if cell == "-" { String::new() } else { cell });
        cells.chain(behavior).collect::<Vec<_>>().join(",") + "\n"
    };
    std::iter::once(heads.to_owned()).chain(rows.iter().map(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_say_how_many_classes_are_the_papers() {
        let mut similar = Row::new("similarity");
        (similar.four_times, similar.sectors) = (Some(4.0), Some(2.5));
        let mut hot = Row::new("hotspot");
        (hot.four_times, hot.bandwidth) = (Some(1.3), Some(25.0));
        let text = render(&[similar, hot]);
        assert!(text.contains("LATTE-CC: 1 of 2 workloads have the paper's class\n"), "{text}");
        assert!(text.contains("LAMAR: 0 of 1 workloads have the paper's class\n"), "{text}");
        assert!(
            text.contains("busy for 25.0% in the mean of 1 workloads; the paper's mean is 53.6%\n"),
            "{text}"
        );
        assert!(!text.contains("Dai:"), "nothing of Dai's was measured: {text}");
    }

    #[test]
    fn a_missing_value_is_a_dash_in_the_table_and_empty_in_the_csv() {
        let rows = [Row::new("vecadd")];
        assert!(rows[0].is_empty());
        assert!(
            render(&rows)
                .lines()
                .last()
                .is_some_and(|line| line.split_whitespace().skip(1).all(|cell| cell == "-"))
        );
        assert!(csv(&rows).ends_with(&format!("vecadd{}\n", ",".repeat(25))));
    }
}
