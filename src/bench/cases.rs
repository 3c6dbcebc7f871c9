//! Cases of `selvedge bench`: the runs behind each figure, and its target.
use super::child::REPORT;
use std::fmt::{self, Display, Formatter};

/// Workloads of the cases that combine several runs.
pub const WORKLOADS: [&str; 8] = ["vecadd", "bfs", "atax", "kmeans", "spmv", "hotspot", "syrk", "mummer"];

/// Mechanisms whose RTL is compared with their models on bfs and atax, with the max ratio of CPU times.
const MECHANISMS: [(&str, &str, f64); 6] = [
    ("rtl-hw-bdi", "hw-bdi", 1.5),
    ("rtl-bgp", "bgp", 1.5),
    ("rtl-dmil", "dmil", 1.5),
    ("rtl-mdb-local", "mdb-local", 1.5),
    ("rtl-latte-cc", "latte-cc", 2.5),
    ("rtl-caba-bdi", "caba-bdi", 2.5),
];

/// A run of a binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Arguments of the binary.
    pub arguments: Vec<String>,
    /// Option that the binary must support for this run.
    pub needs: Option<&'static str>,
}

impl Run {
    fn new(words: &str) -> Self {
        Run { arguments: words.split_whitespace().map(str::to_owned).collect(), needs: None }
    }

    /// Returns a run of `selvedge run` that writes its report.
    fn simulation(words: &str) -> Self {
        Self::new(&format!("run {words} --json {REPORT}"))
    }

    fn needs(mut self, option: &'static str) -> Self {
        self.needs = Some(option);
        self
    }

    /// Returns the run without timing of the same workload.
    pub fn functional(workload: &str, size: &str) -> Self {
        Self::simulation(&format!("{workload} --size {size} --functional")).needs("--functional")
    }
}

/// Formula of a figure, applied to the samples of the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Geometric mean of the runs' CPU seconds.
    Seconds,
    /// Simulated cycles per CPU second, in thousands.
    Cycles,
    /// Warp instructions per CPU second, in millions.
    WarpInstructions,
    /// Geometric mean of CPU time ratios. Each divides a run of the first half by its counterpart in the second half.
    Ratio,
    /// Max resident memory of all runs, without their device memory, in megabytes.
    Memory,
}

impl Figure {
    /// Returns the figure's unit.
    pub fn unit(self) -> &'static str {
        match self {
            Figure::Seconds => "CPU s",
            Figure::Cycles => "k cycles/s",
            Figure::WarpInstructions => "M warp instr/s",
            Figure::Ratio => "x CPU time",
            Figure::Memory => "MB",
        }
    }

    /// Returns whether a larger figure is better.
    pub fn is_rate(self) -> bool {
        matches!(self, Figure::Cycles | Figure::WarpInstructions)
    }
}

/// Target of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// Min of the figure.
    AtLeast(f64),
    /// Max of the figure.
    AtMost(f64),
    /// Min factor by which the figure is better than that of the other binary.
    TimesBetter(f64),
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Target::AtLeast(least) => write!(f, ">= {least}"),
            Target::AtMost(most) => write!(f, "<= {most}"),
            Target::TimesBetter(least) => write!(f, ">= {least} x better than --against"),
        }
    }
}

/// A row of the table.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name that `--case` takes.
    pub name: String,
    /// Formula of the figure.
    pub figure: Figure,
    /// Target of the figure.
    pub target: Target,
    /// Runs that the figure is computed from.
    pub runs: Vec<Run>,
}

impl Case {
    fn new(name: &str, figure: Figure, target: Target, runs: Vec<Run>) -> Self {
        Case { name: name.into(), figure, target, runs }
    }
}

/// Returns every case, in the order of the table.
pub fn all() -> Vec<Case> {
    let base = |workload: &str, size: &str| {
        Run::simulation(&format!("{workload} --size {size} --mechanism base --engine model"))
    };
    let mut cases = vec![
        Case::new(
            "small",
            Figure::Seconds,
            Target::TimesBetter(3.0),
            WORKLOADS.map(|workload| base(workload, "small")).to_vec(),
        ),
        Case::new("vecadd-cycles", Figure::Cycles, Target::AtLeast(400.0), vec![base("vecadd", "paper")]),
        Case::new(
            "vecadd-instructions",
            Figure::WarpInstructions,
            Target::AtLeast(1.5),
            vec![base("vecadd", "paper")],
        ),
        Case::new(
            "functional",
            Figure::WarpInstructions,
            Target::AtLeast(20.0),
            vec![Run::functional("atax", "paper")],
        ),
    ];
    for (name, mechanism, most) in MECHANISMS {
        // DMIL limits kernels that share the GPU, so its case runs a pair.
        let programs: &[&str] = if mechanism == "dmil" { &["bfs+atax"] } else { &["bfs", "atax"] };
        for program in programs {
            let run = |engine: &str| {
                Run::new(&format!("run {program} --size small --mechanism {mechanism} --engine {engine}"))
            };
            let name = format!("{name}-{program}");
            let runs = vec![run("rtl"), run("model")];
            cases.push(Case::new(&name, Figure::Ratio, Target::AtMost(most), runs));
        }
    }
    let sms = |count: u32| Run::new(&format!("run {ONE_CTA} --config {}", sms_file(count)));
    cases.extend([
        Case::new("idle-sms", Figure::Ratio, Target::AtMost(1.3), vec![sms(80), sms(1)]),
        Case::new(
            "memory",
            Figure::Memory,
            Target::AtMost(60.0),
            WORKLOADS.map(|workload| base(workload, "small")).to_vec(),
        ),
        Case::new(
            "gen-all",
            Figure::Seconds,
            Target::AtMost(2.0),
            vec![Run::new("gen --all --output verilog")],
        ),
    ]);
    cases
}

/// Name of the launch file of a program with one CTA.
pub const ONE_CTA: &str = "one_cta.toml";

/// Returns the file name of the configuration with `count` SMs.
fn sms_file(count: u32) -> String {
    format!("sms_{count}.toml")
}

/// Returns the files that runs read, with their contents.
pub fn files() -> Vec<(String, String)> {
    let launch = "ptx = \"one_cta.ptx\"\nkernel = \"walk\"\ngrid = [1]\nblock = [512]\n\
                  [[arg]]\ntype = \"u32\"\ncount = 4096\n[[arg]]\ntype = \"u32\"\nvalue = 20000\n";
    let config = |count: u32| (sms_file(count), format!("base = \"gtx480\"\n[sm]\ncount = {count}\n"));
    vec![
        (ONE_CTA.into(), launch.into()),
        ("one_cta.ptx".into(), include_str!("one_cta.ptx").into()),
        config(1),
        config(80),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::Parser;

    #[test]
    fn every_run_is_a_command_of_this_binary() {
        for case in all() {
            for run in &case.runs {
                let words = std::iter::once("selvedge").chain(run.arguments.iter().map(String::as_str));
                let parsed = Arguments::try_parse_from(words);
                assert!(parsed.is_ok(), "{}: {:?}", case.name, run.arguments);
            }
        }
    }

    #[test]
    fn names_are_distinct_and_halves_are_equal() {
        let cases = all();
        for (at, case) in cases.iter().enumerate() {
            assert!(cases[..at].iter().all(|other| other.name != case.name), "{}", case.name);
            assert!(case.figure != Figure::Ratio || case.runs.len() % 2 == 0, "{}", case.name);
        }
    }
}
