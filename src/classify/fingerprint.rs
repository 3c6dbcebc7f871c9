//! Fingerprints of workloads: the quantities for which a paper states a value, next to that value.
use super::classes::{Paper, Printed, Quantity, dai, latte_cc};
use super::table::{ByCodec, Row};
use crate::output::width;
use schemars::JsonSchema;
use selvedge_area::Table;
use selvedge_sim::config::SmConfig;
use selvedge_sim::report::{KernelReport, RunReport};
use serde::Serialize;

/// Relative difference up to which a value agrees with the paper's.
const NEAR: f64 = 0.20;
/// Share of stalls from which Dai calls a kernel memory-intensive (section 4.2.4).
const MEMORY_STALLS: f64 = 0.10;
/// Compression ratio from which CABA evaluates an application (section 6).
const COMPRESSIBLE: f64 = 1.10;

/// Behavior of a workload's baseline, as in Dai's table 6.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Behavior {
    /// Warp instructions that are no memory instructions, per memory instruction. Memory instructions include those of
    /// shared memory.
    pub compute_per_memory: f64,
    /// Line requests per memory instruction.
    pub requests_per_memory: f64,
    /// Misses and pending hits of the L1Ds, over their accesses.
    pub l1d_miss_rate: f64,
    /// Reservation failures of the L1Ds, per access.
    pub l1d_failures: f64,
    /// Misses and pending hits of the L1Ds per thousand thread instructions.
    pub l1d_mpki: f64,
    /// Share of scheduler cycles that the load/store units stall.
    pub memory_stalls: f64,
    /// Registers of the CTAs in a full SM, in percent of the SM's. Mean over launches by their cycles.
    pub registers_percent: f64,
    /// Shared memory of the CTAs in a full SM, in percent of the SM's. Mean over launches by their cycles.
    pub shared_percent: f64,
    /// Threads of the CTAs in a full SM, in percent of the SM's. Mean over launches by their cycles.
    pub threads_percent: f64,
}

impl Behavior {
    /// Returns the values in the order of the fields.
    pub fn values(&self) -> [f64; 9] {
        [
            self.compute_per_memory,
            self.requests_per_memory,
            self.l1d_miss_rate,
            self.l1d_failures,
            self.l1d_mpki,
            self.memory_stalls,
            self.registers_percent,
            self.shared_percent,
            self.threads_percent,
        ]
    }

    /// Returns the behavior in a run on SMs of this configuration.
    pub fn of(report: &RunReport, sm: &SmConfig) -> Self {
        let (totals, l1d) = (&report.totals, &report.totals.l1d);
        let cycles = totals.sm.scheduler_cycles;
        let all = cycles.active
            + cycles.memory
            + cycles.compute
            + cycles.data_dependence
            + cycles.fetch
            + cycles.idle;
        let memory = totals.sm.memory_instructions as f64;
        let missed = (l1d.misses + l1d.pending_hits) as f64;
        let [registers_percent, shared_percent, threads_percent] = occupancy(&report.kernels, sm);
        Behavior {
            compute_per_memory: over(totals.warp_instructions as f64 - memory, memory),
            requests_per_memory: over(totals.sm.transactions as f64, memory),
            l1d_miss_rate: l1d.miss_rate,
            l1d_failures: over(l1d.reservation_fails as f64, l1d.accesses as f64),
            l1d_mpki: over(1000.0 * missed, totals.thread_instructions as f64),
            memory_stalls: over(cycles.memory as f64, all as f64),
            registers_percent,
            shared_percent,
            threads_percent,
        }
    }
}

/// Returns `a / b`, or 0 if `b` is 0.
fn over(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// Returns the registers, shared memory and threads of a full SM in percent: means over launches by their cycles.
fn occupancy(kernels: &[KernelReport], sm: &SmConfig) -> [f64; 3] {
    let cycles: u64 = kernels.iter().map(|kernel| kernel.totals.cycles).sum();
    let mut sums = [0.0; 3];
    for kernel in kernels {
        let weight = over(kernel.totals.cycles as f64, cycles as f64);
        let shares = full(kernel.ctas_per_sm, kernel.registers, kernel.shared_bytes, kernel.block, sm);
        sums.iter_mut().zip(shares).for_each(|(sum, share)| *sum += weight * share);
    }
    sums
}

/// Returns the registers, shared memory and threads of `ctas` CTAs in percent of those of an SM.
fn full(ctas: u32, registers: u32, shared_bytes: u32, block: [u32; 3], sm: &SmConfig) -> [f64; 3] {
    let threads = block.iter().product::<u32>().next_multiple_of(32);
    let percent = |need: u32, have: u32| over(100.0 * f64::from(ctas) * f64::from(need), have.into());
    [
        percent(registers * threads, sm.registers),
        percent(shared_bytes, sm.shared_bytes),
        percent(threads, sm.threads.min(32 * sm.warps)),
    ]
}

/// Measured value: a number, a class, or both.
#[derive(Clone, Debug, PartialEq)]
struct MeasuredValue {
    number: f64,
    class: Option<&'static str>,
}

impl MeasuredValue {
    fn number(number: f64) -> Self {
        MeasuredValue { number, class: None }
    }

    fn class(number: f64, class: &'static str) -> Self {
        MeasuredValue { number, class: Some(class) }
    }
}

/// A value that a paper prints, next to the measured one.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ComparedValue {
    /// The value in the paper.
    #[serde(flatten)]
    pub printed: Printed,
    /// Measured value. Null if the measurement is missing.
    pub measured: Option<f64>,
    /// Class that follows from the measured value, if the paper prints a class.
    pub class: Option<&'static str>,
    /// `true` if the measured class is the paper's, or the measured number is within 20% of the paper's or rounds to it.
    pub agrees: Option<bool>,
}

/// Compares a row's measurements with what the papers print of its workload.
pub fn compare(row: &Row, printed: impl Iterator<Item = Printed>) -> Vec<ComparedValue> {
    let compared = |printed: Printed| {
        let value = measured(row, printed.quantity);
        ComparedValue {
            agrees: value.as_ref().map(|value| match value.class {
                Some(class) => class == printed.value,
                None => is_near(value.number, printed.value),
            }),
            class: value.as_ref().and_then(|value| value.class),
            measured: value.map(|value| value.number),
            printed,
        }
    };
    printed.map(compared).collect()
}

/// Returns a row's measurement of a quantity.
fn measured(row: &Row, quantity: Quantity) -> Option<MeasuredValue> {
    let behavior = |of: fn(&Behavior) -> f64| row.behavior.as_ref().map(of).map(MeasuredValue::number);
    match quantity {
        Quantity::L1d4x => row.four_times.map(|gain| MeasuredValue::class(gain, latte_cc(gain))),
        Quantity::L1dLarge => row.large.map(|gain| MeasuredValue::class(gain, dai(gain))),
        Quantity::Sectors => row.sectors.map(MeasuredValue::number),
        Quantity::Type => {
            row.behavior.map(|b| MeasuredValue::class(100.0 * b.memory_stalls, kind(b.memory_stalls)))
        }
        Quantity::ComputePerMemory => behavior(|b| b.compute_per_memory),
        Quantity::RequestsPerMemory => behavior(|b| b.requests_per_memory),
        Quantity::L1dMissRate => behavior(|b| b.l1d_miss_rate),
        Quantity::L1dFailures => behavior(|b| b.l1d_failures),
        Quantity::L1dMpki => behavior(|b| b.l1d_mpki),
        Quantity::RegistersPercent => behavior(|b| b.registers_percent),
        Quantity::SharedPercent => behavior(|b| b.shared_percent),
        Quantity::ThreadsPercent => behavior(|b| b.threads_percent),
        Quantity::Evaluated => row.ratios.as_ref().map(|ratios| {
            let best = ratios.bdi.max(ratios.fpc).max(ratios.cpack);
            MeasuredValue::class(best, if best >= COMPRESSIBLE { "yes" } else { "no" })
        }),
        Quantity::BestCodec => row.ratios.as_ref().map(best_codec),
        Quantity::MeanBandwidth => None,
    }
}

/// Returns Dai's type of kernel (section 4.2.4).
fn kind(memory_stalls: f64) -> &'static str {
    if memory_stalls < MEMORY_STALLS { "Com" } else { "Mem" }
}

/// Returns BDI's ratio over the better one of FPC's and C-Pack's, and which is larger.
fn best_codec(ratios: &ByCodec) -> MeasuredValue {
    let other = ratios.fpc.max(ratios.cpack);
    let class = match ratios.bdi.total_cmp(&other) {
        std::cmp::Ordering::Greater => "BDI",
        std::cmp::Ordering::Less => "FPC/C-Pack",
        std::cmp::Ordering::Equal => "equal",
    };
    MeasuredValue::class(over(ratios.bdi, other), class)
}

/// Returns whether a number is within 20% of a printed one, or rounds to its digits.
fn is_near(number: f64, printed: &str) -> bool {
    let Ok(theirs) = printed.parse::<f64>() else { return false };
    let decimals = printed.split_once('.').map_or(0, |(_, digits)| digits.len());
    (number - theirs).abs() <= NEAR * theirs.abs() || format!("{number:.decimals$}") == printed
}

/// Returns the comparisons with a paper as a table, followed by the workloads that differ from it.
pub fn render(rows: &[Row], paper: Paper) -> String {
    let mut table = Table::new(&["workload", "name", "quantity", "measured", "class", "paper", "agrees"]);
    for (row, one) in of_paper(rows, paper) {
        table.row(vec![
            row.workload.into(),
            one.printed.name.into(),
            one.printed.quantity.title().into(),
            one.measured.map_or("-".into(), |value| format!("{value:.2}")),
            one.class.unwrap_or("-").into(),
            one.printed.value.into(),
            answer(one.agrees).into(),
        ]);
    }
    table.render_within(width()) + &misses(rows, paper)
}

fn answer(agrees: Option<bool>) -> &'static str {
    match agrees {
        Some(true) => "yes",
        Some(false) => "no",
        None => "-",
    }
}

/// Returns the comparisons with a paper as CSV.
pub fn csv(rows: &[Row], paper: Paper) -> String {
    let line = |(row, one): (&Row, &ComparedValue)| {
        let number = one.measured.map(|value| value.to_string()).unwrap_or_default();
        let agrees = one.agrees.map(|_| answer(one.agrees)).unwrap_or_default();
        let Printed { name, quantity, value, source, .. } = one.printed;
        let class = one.class.unwrap_or_default();
        format!(
            "{},{name},{},{number},{class},{value},{agrees},\"{source}\"\n",
            row.workload,
            quantity.title()
        )
    };
    let head = "workload,name,quantity,measured,class,paper,agrees,source\n".to_owned();
    std::iter::once(head).chain(of_paper(rows, paper).map(line)).collect()
}

fn of_paper<'a>(rows: &'a [Row], paper: Paper) -> impl Iterator<Item = (&'a Row, &'a ComparedValue)> {
    let of_row = |row: &'a Row| row.printed.iter().map(move |one| (row, one));
    rows.iter().flat_map(of_row).filter(move |(_, one)| one.printed.paper == paper)
}

/// Returns a line for each workload that differs from the paper, with the quantities, and a line with their number.
fn misses(rows: &[Row], paper: Paper) -> String {
    let (mut out, mut missing, mut all) = (String::new(), 0, 0);
    for row in rows {
        let of_row = std::slice::from_ref(row);
        let known: Vec<&ComparedValue> =
            of_paper(of_row, paper).map(|(_, one)| one).filter(|one| one.agrees.is_some()).collect();
        let wrong: Vec<&str> = known
            .iter()
            .filter(|one| one.agrees == Some(false))
            .map(|one| one.printed.quantity.title())
            .collect();
        all += usize::from(!known.is_empty());
        if !wrong.is_empty() {
            missing += 1;
            out += &format!("{} misses its fingerprint: {}\n", row.workload, wrong.join(", "));
        }
    }
    format!("{out}{paper}: {} of {all} workloads have the paper's fingerprint\n", all - missing)
}

#[cfg(test)]
mod tests {
    use super::super::{Control, Measured, Size, classes, one, spec};
    use super::*;
    use selvedge_sim::config::GpuConfig;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    fn behavior(workload: &str) -> Behavior {
        let config = Arc::new(GpuConfig::load("gtx480").expect("built in"));
        let spec = spec(workload, Size::Tiny, &config, "base").expect("valid");
        let control = Control::new(&Arc::new(AtomicBool::new(false)), None, |_| {});
        match one(&spec, control).expect("it runs") {
            Some(Measured::Report(report)) => Behavior::of(&report, &config.sm),
            _ => panic!("no report"),
        }
    }

    /// Each of vecadd's 22 warp instructions runs once. Two loads and a store access one line each, and no line twice.
    #[test]
    fn the_behavior_of_vecadd_follows_from_its_code() {
        let found = behavior("vecadd");
        assert_eq!(found.compute_per_memory, 19.0 / 3.0);
        assert_eq!(found.requests_per_memory, 1.0);
        assert_eq!(found.l1d_miss_rate, 1.0);
        // Lanes issue 21 instructions: the compiler's branch past the end has no lane.
        assert!((found.l1d_mpki - 1000.0 * 3.0 / (21.0 * 32.0)).abs() < 1e-9, "{found:?}");
        // 48 warps fill an SM of 1536 threads with 8 registers each.
        assert_eq!(
            [found.registers_percent, found.shared_percent, found.threads_percent],
            [37.5, 0.0, 100.0]
        );
    }

    #[test]
    fn occupancy_is_of_full_ctas_with_whole_warps() {
        let sm = GpuConfig::load("gtx480").expect("built in").sm;
        // 3 CTAs of 4 warps with 20 registers of 32768, 4096 of 49152 bytes and 128 of 1536 threads.
        let expected = [300.0 * 128.0 * 20.0 / 32768.0, 25.0, 25.0];
        assert_eq!(full(3, 20, 4096, [100, 1, 1], &sm), expected);
    }

    #[test]
    fn numbers_agree_within_a_fifth_or_by_rounding() {
        for (number, printed, agrees) in [
            (1.2, "1.0", true),
            (1.21, "1.0", false),
            (0.8, "1", true),
            (2.49, "2", true),
            (2.51, "2", false),
            (0.004, "0.00", true),
            (0.006, "0.00", false),
            (1.0, "HCC", false),
        ] {
            assert_eq!(is_near(number, printed), agrees, "{number} {printed}");
        }
    }

    #[test]
    fn types_and_codecs_have_their_borders() {
        assert_eq!([kind(0.0999), kind(0.1)], ["Com", "Mem"]);
        let class = |bdi, fpc, cpack| best_codec(&ByCodec { bdi, fpc, cpack, bpc: 9.0, sc: 9.0 }).class;
        assert_eq!(class(2.0, 1.0, 1.9), Some("BDI"));
        assert_eq!(class(2.0, 1.0, 2.1), Some("FPC/C-Pack"));
        assert_eq!(class(1.0, 1.0, 1.0), Some("equal"));
    }

    /// Returns a row of atax with the values of table 6.
    fn atax() -> Row {
        let mut row = Row::new("atax");
        row.behavior = Some(Behavior {
            compute_per_memory: 2.3,
            requests_per_memory: 11.0,
            l1d_miss_rate: 0.96,
            l1d_failures: 82.24,
            l1d_mpki: 82.3,
            memory_stalls: 0.5,
            registers_percent: 56.2,
            shared_percent: 0.0,
            threads_percent: 100.0,
        });
        row.compare();
        row
    }

    #[test]
    fn a_wrong_value_is_a_miss_and_no_other_is() {
        let mut row = atax();
        let text = render(std::slice::from_ref(&row), Paper::Dai4);
        assert!(text.ends_with("\ndai-4: 1 of 1 workloads have the paper's fingerprint\n"), "{text}");
        assert!(!text.contains("misses its fingerprint"), "{text}");
        assert_eq!(text.matches("yes").count(), 9, "{text}");
        row.behavior.as_mut().expect("it has one").l1d_mpki = 8.23;
        row.behavior.as_mut().expect("it has one").memory_stalls = 0.05;
        row.compare();
        let rows = [row];
        let text = render(&rows, Paper::Dai4);
        let end = "atax misses its fingerprint: L1D MPKI, LSU stalls %\n\
                   dai-4: 0 of 1 workloads have the paper's fingerprint\n";
        assert!(text.ends_with(end), "{text}");
        let table = csv(&rows, Paper::Dai4);
        assert!(table.contains("\natax,ax,L1D MPKI,8.23,,82.3,no,\"Table 6\"\n"), "{table}");
        assert!(table.contains("\natax,ax,LSU stalls %,5,Com,Mem,no,\"Table 6\"\n"), "{table}");
    }

    #[test]
    fn a_missing_measurement_is_neither_a_hit_nor_a_miss() {
        let text = render(&[Row::new("atax")], Paper::Dai4);
        assert!(text.ends_with("dai-4: 0 of 0 workloads have the paper's fingerprint\n"), "{text}");
    }

    #[test]
    fn every_printed_quantity_of_a_workload_is_measured() {
        let mut row = atax();
        (row.four_times, row.large, row.sectors) = (Some(1.0), Some(1.0), Some(1.0));
        row.ratios = Some(ByCodec { bdi: 1.0, fpc: 1.0, cpack: 1.0, bpc: 1.0, sc: 1.0 });
        for one in classes::printed().filter(|one| one.workload != "-") {
            assert!(measured(&row, one.quantity).is_some(), "{}", one.quantity.title());
        }
    }
}
