//! The cases of `selvedge bench`: which runs make a figure, and what its target is.
use super::child::REPORT;
use std::fmt::{self, Display, Formatter};

/// The workloads of the mean.
pub const WORKLOADS: [&str; 8] = ["vecadd", "bfs", "atax", "kmeans", "spmv", "hotspot", "syrk", "mummer"];

/// The mechanisms whose RTL is compared with their models on bfs and atax, each with the most that it may cost.
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
    /// The words of the command.
    pub arguments: Vec<String>,
    /// The option that the binary must have.
    pub needs: Option<&'static str>,
}

impl Run {
    fn new(words: &str) -> Self {
        Run { arguments: words.split_whitespace().map(str::to_owned).collect(), needs: None }
    }

    /// A run of `selvedge run` that leaves its report.
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

/// How a figure is made of what the runs took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// CPU seconds of a run, the geometric mean of all.
    Seconds,
    /// Thousands of simulated cycles in a CPU second.
    Cycles,
    /// Millions of warp instructions in a CPU second.
    WarpInstructions,
    /// CPU time of the first half of the runs over that of the second, run by run, the geometric mean.
    Ratio,
    /// Wall-clock time of the first half of the runs over that of the second, run by run, the geometric mean.
    Speedup,
    /// Megabytes of resident memory beside the device memory, the most of all runs.
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
            Figure::Speedup => "x faster",
            Figure::Memory => "MB",
        }
    }

    /// Returns whether more is better.
    pub fn is_rate(self) -> bool {
        matches!(self, Figure::Cycles | Figure::WarpInstructions | Figure::Speedup)
    }
}

/// What a case must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// The figure is at least so much.
    AtLeast(f64),
    /// The figure is at most so much.
    AtMost(f64),
    /// It is at least so many times better than that of the other binary.
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

/// A line of the table.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name that `--case` takes.
    pub name: String,
    /// What is measured.
    pub figure: Figure,
    /// What it must reach.
    pub target: Target,
    /// The runs.
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
        // DMIL limits kernels that share the GPU: a pair.
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
    let threads = |count: u32| {
        ["vecadd --size paper", "kmeans --size small"].map(|words| {
            Run::new(&format!("run {words} --engine model --threads {count}")).needs("--threads")
        })
    };
    let sms = |count: u32| Run::new(&format!("run {ONE_CTA} --config {}", sms_file(count)));
    cases.extend([
        Case::new("threads", Figure::Speedup, Target::AtLeast(1.6), [threads(1), threads(2)].concat()),
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

/// The launch file of a program of one CTA.
pub const ONE_CTA: &str = "one_cta.toml";

/// The configuration with the given number of SMs.
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
            for run in case.runs.iter().filter(|run| run.needs != Some("--threads")) {
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
            let halves = matches!(case.figure, Figure::Ratio | Figure::Speedup);
            assert!(!halves || case.runs.len() % 2 == 0, "{}", case.name);
        }
    }
}
