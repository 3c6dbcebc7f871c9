//! The options, as clap reads them.
use crate::bounds::BoundOptions;
use crate::checkpoint_options::CheckpointOptions;
use crate::classify::Paper;
use crate::reproduce::ReproduceOptions;
use crate::study_command::StudyOptions;
use crate::verilog_option::VerilogOptions;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use selvedge_area::fpga::Family;
use selvedge_gen::ResetStyle;
use selvedge_hw::Engine;
use selvedge_sim::gpu::SampleSpec;
use selvedge_sim::limits::{Bytes, Limits};
use selvedge_sim::reach::Reach;
use selvedge_sim::workload::{Group, Size};
use selvedge_testbenches::own::Own;
use std::ffi::OsString;
use std::fmt::Debug;
use std::path::PathBuf;
use std::str::FromStr;
use strum::VariantNames;

/// Returns what reads the name of a variant, and lists all of them where it is another word.
fn name_of<T>() -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err: Debug> + VariantNames + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(T::VARIANTS).map(|name| name.parse().expect("the name of a variant"))
}

/// The help of `selvedge` alone: the commands, and where the options of `run` are.
const FIRST_SCREEN: &str = "{about}

{usage-heading} {usage}

Commands:
{subcommands}

Without a command, selvedge runs the demonstration: two kernels under the baseline and four mechanisms.
`selvedge COMMAND --help` prints the options of a command; `selvedge WORKLOAD [OPTIONS]` is short for `selvedge run WORKLOAD [OPTIONS]`.
";

/// Runs synthesizable hardware for GPU memory systems inside a cycle-accurate GPU, and writes it as Verilog.
#[derive(Parser)]
#[command(name = "selvedge", version, args_conflicts_with_subcommands = true, help_template = FIRST_SCREEN)]
pub struct Arguments {
    /// What to do; without a command: run
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The options of `run`.
    #[command(flatten)]
    pub run: RunOptions,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Run a workload, a launch file or a trace on the simulated GPU
    Run(Box<RunOptions>),
    /// Run a CUDA program as it is, with its kernels simulated
    #[cfg(target_os = "linux")]
    Cuda(Box<CudaOptions>),
    /// Run workloads under several mechanisms and print them side by side
    Compare(CompareOptions),
    /// Simulate many points from one file, each once, and collect their results as one table
    Study(StudyOptions),
    /// Reproduce figures of the papers, and compare them with what the papers state
    Reproduce(ReproduceOptions),
    /// Measure the classes by which the papers sort applications, beside the papers' own
    Classify(ClassifyOptions),
    /// Write tables and charts of runs as one HTML page that opens from disk
    Report(ReportOptions),
    /// Write a crate with a mechanism and a block of your own to start from
    Init(InitOptions),
    /// Write a launch file for the kernels of a PTX file
    New(NewOptions),
    /// Write the Verilog of blocks
    Gen(GenOptions),
    /// Synthesize blocks and report area, clock and energy in standard cells, or resources of an FPGA
    Area(Box<AreaOptions>),
    /// Write a block's waveform as VCD or FST, a GTKWave save file and a self-checking Verilog testbench
    Wave(WaveOptions),
    /// Record what a workload executes, or print what is in a trace
    Trace(TraceOptions),
    /// Print, explain, check or import configurations
    Config(ConfigOptions),
    /// Measure latencies and bandwidths of configurations against formulas of their files
    Fidelity(FidelityOptions),
    /// Print the workloads, mechanisms, configurations and blocks, or one of them in full
    List(ListOptions),
    /// Explain statistics and counters
    Stats(StatsOptions),
    /// Print the JSON Schema of what a command writes as JSON
    Schema(SchemaOptions),
    /// Report which optional tools are installed, and what each is for
    Doctor,
    /// Print the completions of a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages, one for each command
    Man {
        /// The folder to write them to
        #[arg(short, long, value_name = "FOLDER")]
        output: PathBuf,
    },
    /// Measure how fast the simulator is, alone or against another binary
    #[cfg(unix)]
    Bench(BenchOptions),
}

/// What a run may take of the host.
#[derive(Args, Clone, Default)]
pub struct LimitOptions {
    /// Most device memory of a run, such as 512MiB or 16GiB (default: 8GiB)
    #[arg(long, value_name = "SIZE")]
    pub max_memory: Option<Bytes>,
    /// Most that a packed trace (.xz) unpacks to, such as 100GiB (default: 1000 times its size, and 256MiB at least)
    #[arg(long, value_name = "SIZE")]
    pub max_unpacked: Option<Bytes>,
    /// For files of unknown origin: refuse a launch file or list of traces that names a file outside its folder
    #[arg(long)]
    pub sandbox: bool,
}

impl LimitOptions {
    /// Returns the limits, those that are not given by their defaults, of a command that saves no results of launch files.
    pub fn limits(&self) -> Limits {
        let usual = Limits::default();
        Limits {
            memory: self.max_memory.map_or(usual.memory, |bytes| bytes.0),
            unpacked: self.max_unpacked.map_or(usual.unpacked, |bytes| Some(bytes.0)),
            reach: if self.sandbox { Reach::Within } else { Reach::Anywhere },
        }
    }
}

/// Options of `selvedge compare`.
#[derive(Args)]
pub struct CompareOptions {
    /// Workloads (see `selvedge list workloads`) or launch files NAME.toml
    #[arg(required = true)]
    pub workloads: Vec<String>,
    /// Mechanisms with their options, separated by commas; each is compared with the first
    #[arg(long, value_name = "NAME[,OPTION=VALUE...],NAME...")]
    pub mechanisms: String,
    /// Size of the workloads' inputs
    #[arg(long, default_value_t = Size::Tiny, value_parser = name_of::<Size>())]
    pub size: Size,
    /// A built-in configuration (see `selvedge list configurations`) or a TOML file
    #[arg(long, default_value = "gtx480")]
    pub config: String,
    /// Most registers of a thread, 16 to 255, as nvcc's -maxrregcount; nothing is spilled (see docs/ptx.md)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(16..=255))]
    pub registers: Option<u32>,
    /// Change a value of the configuration, such as l1d.sets=64; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// What the mechanisms' blocks run as
    #[arg(long, default_value_t = Engine::Rtl, value_parser = name_of::<Engine>())]
    pub engine: Engine,
    /// Two forms of each block, and Verilog of the user.
    #[command(flatten)]
    pub verilog: VerilogOptions,
    /// Latencies of the mechanisms' codecs that are `auto`, from the JSON of `selvedge area --find-depth`
    #[arg(long, value_name = "FILE.json")]
    pub latency_from: Option<PathBuf>,
    /// Runs at the same time (default: one for each processor)
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Where a run ends.
    #[command(flatten)]
    pub bounds: BoundOptions,
    /// Writes the speedups as a bar chart
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Writes every report as JSON to a file, or with - to standard output instead of the table
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// The same as CSV, a row for each run, with the columns of `selvedge study collect`
    #[arg(long, value_name = "FILE")]
    pub csv: Option<String>,
    /// What it may take of the host
    #[command(flatten)]
    pub limits: LimitOptions,
}

/// Options of `selvedge report`.
#[derive(Args)]
pub struct ReportOptions {
    /// What to show: JSON of `selvedge run` and `selvedge compare`, and study files, NAME.toml, of which it takes the results that are
    /// kept
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Folder in which results of studies are kept (default: selvedge/points among the user's caches)
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// The page to write; - for standard output
    #[arg(short, long, value_name = "FILE.html", default_value = "report.html")]
    pub output: String,
    /// CSV of `selvedge run --series`, which the page shows over time; may be repeated
    #[arg(long, value_name = "FILE.csv")]
    pub series: Vec<PathBuf>,
    /// Speedups that a paper states: a figure of `selvedge reproduce --list`, or CSV with workload,mechanism,value; may be repeated
    #[arg(long, value_name = "FIGURE|FILE.csv")]
    pub paper: Vec<String>,
    /// JSON of `selvedge area --mechanism`, in place of what the documentation has; may be repeated
    #[arg(long, value_name = "FILE.json")]
    pub area: Vec<PathBuf>,
    /// The file of a configuration that runs have used; built-in ones and those of studies are known; may be repeated
    #[arg(long = "config", value_name = "FILE.toml")]
    pub configs: Vec<String>,
    /// The title of the page (default: the names of the files)
    #[arg(long)]
    pub title: Option<String>,
}

/// Options of `selvedge classify`.
#[derive(Args)]
pub struct ClassifyOptions {
    /// Workloads, of `selvedge list workloads` (default: all)
    pub workloads: Vec<String>,
    /// How large the runs are
    #[arg(long, default_value_t = Size::Study, value_parser = name_of::<Size>())]
    pub size: Size,
    /// Only workloads that this paper, or chapter of the dissertation, evaluates
    #[arg(long, value_name = "PAPER", value_parser = name_of::<Paper>())]
    pub paper: Option<Paper>,
    /// A built-in configuration (see `selvedge list configurations`) or a TOML file; the sectors are those of gtx480-lamar
    #[arg(long, default_value = "gtx480")]
    pub config: String,
    /// Runs at the same time (default: one for each processor)
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Writes the rows as JSON to a file, or with - to standard output instead of the table
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// The same as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<String>,
}

/// The options of `selvedge run` that say something of timing, which `--functional` has not.
const NEED_TIMING: [&str; 31] = [
    "registers",
    "sample",
    "threads",
    "checkpoint",
    "checkpoint_every",
    "resume",
    "mechanism",
    "engine",
    "lockstep",
    "verilog",
    "share",
    "cycles_together",
    "alone",
    "cache",
    "stats",
    "launches",
    "csv",
    "series",
    "every",
    "vcd",
    "trace_events",
    "probe",
    "inside",
    "list_probes",
    "from",
    "cycles",
    "inject",
    "check",
    "max_cycles",
    "max_instructions",
    "energy_from",
];

/// The options of `selvedge run` that say something of every cycle, which `--sample` does not simulate.
const NO_SAMPLES: [&str; 14] = [
    "share",
    "cycles_together",
    "alone",
    "stats",
    "launches",
    "csv",
    "series",
    "vcd",
    "trace_events",
    "check",
    "max_instructions",
    "checkpoint",
    "checkpoint_every",
    "resume",
];

/// Options of `selvedge run`.
#[derive(Args, Clone, Default)]
#[command(group = ArgGroup::new("recording").args(["vcd", "trace_events"]).multiple(true))]
pub struct RunOptions {
    /// Workload (see `selvedge list workloads`), launch file NAME.toml, or trace: NAME.strace, NAME.traceg[.xz] or
    /// kernelslist.g; up to four workloads or launch files joined by + run at the same time
    pub workload: Option<String>,
    /// Size of the workload's input (default: tiny)
    #[arg(long, value_parser = name_of::<Size>())]
    pub size: Option<Size>,
    /// A real input file instead of the built-in input
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// A built-in configuration (see `selvedge list configurations`) or a TOML file
    #[arg(help_heading = "Configuration and mechanism", long, default_value = "gtx480")]
    pub config: String,
    /// Most registers of a thread, 16 to 255, as nvcc's -maxrregcount; nothing is spilled (see docs/ptx.md)
    #[arg(help_heading = "Configuration and mechanism", long, value_name = "N", value_parser = clap::value_parser!(u32).range(16..=255))]
    pub registers: Option<u32>,
    /// Change a value of the configuration, such as l1d.sets=64; may be repeated
    #[arg(help_heading = "Configuration and mechanism", long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Execute the kernels for their values alone, without timing: check the results, and count instructions
    #[arg(help_heading = "Execution", long, conflicts_with_all = NEED_TIMING)]
    pub functional: bool,
    /// Alternate between N warp instructions in detail and M without timing, and estimate the cycles of the whole with an interval
    #[arg(help_heading = "Execution", long, value_name = "detailed=N,skip=M", conflicts_with_all = NO_SAMPLES)]
    pub sample: Option<SampleSpec>,
    /// Mechanism with options, NAME[,option=value...]; several are joined by +
    #[arg(help_heading = "Configuration and mechanism", long)]
    pub mechanism: Option<String>,
    /// What the mechanism's blocks run as
    #[arg(help_heading = "Configuration and mechanism", long, default_value_t = Engine::Rtl, value_parser = name_of::<Engine>())]
    pub engine: Engine,
    /// Two forms of each block, and Verilog of the user.
    #[command(flatten)]
    pub verilog: VerilogOptions,
    /// How workloads joined by + share the SMs: left-over (default); spatial, each on SMs of its own; sm:N,N, CTAs per SM of
    /// each; smk-p, fair shares of an SM's resources; smk-pw[:CYCLES], the same with instruction quotas from each one's IPC
    /// alone; warped-slicer[:CYCLES], from each kernel's scaling alone, profiled for CYCLES or for the whole run
    #[arg(help_heading = "Concurrent kernels", long)]
    pub share: Option<String>,
    /// Cycles that workloads joined by + run, each started again when it ends (default: until each has finished)
    /// once
    #[arg(help_heading = "Concurrent kernels", long = "for", visible_alias = "window", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub cycles_together: Option<u64>,
    /// Run each of the workloads joined by + alone too, to compare
    #[arg(help_heading = "Concurrent kernels", long)]
    pub alone: bool,
    /// Folder in which the runs of --alone are kept and looked up, or none (default: selvedge/alone among the user's caches)
    #[arg(help_heading = "Concurrent kernels", long, value_name = "DIR", requires = "alone")]
    pub cache: Option<String>,
    /// Write the report as JSON to FILE (- for standard output)
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the statistics of each launch as text, by GPGPU-Sim's names (see `selvedge stats list`)
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub stats: Option<String>,
    /// Write the statistics of each launch as CSV, by GPGPU-Sim's names
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub launches: Option<String>,
    /// Write the report as CSV, a row for each run, with the columns of `selvedge study collect`
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Let a launch file save results outside its folder
    #[arg(help_heading = "Output", long, conflicts_with = "sandbox")]
    pub allow_outside: bool,
    /// Write what happened in every N cycles (see --every) as CSV, a row for each interval
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub series: Option<String>,
    /// Cycles of an interval of --series
    #[arg(help_heading = "Output", long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,
    /// Write the ports of the probed blocks as a waveform, FST if the name ends in .fst and VCD otherwise; a save file for GTKWave
    /// and the names of values are written beside it
    #[arg(help_heading = "Waveforms", long, value_name = "FILE", requires = "probe")]
    pub vcd: Option<PathBuf>,
    /// Write launches, CTAs, warps' stalls, MSHRs, DRAM rows and the ports of the probed blocks as trace events, which Perfetto
    /// and Chrome open
    #[arg(help_heading = "Waveforms", long, value_name = "FILE")]
    pub trace_events: Option<PathBuf>,
    /// Record the registers within the probed blocks, too
    #[arg(help_heading = "Waveforms", long, requires = "vcd")]
    pub inside: bool,
    /// Block instance to record, such as sm0.milg; may be repeated
    #[arg(help_heading = "Waveforms", long, value_name = "INSTANCE", requires = "recording")]
    pub probe: Vec<String>,
    /// Print the block instances that --probe can name in this run, and do not run
    #[arg(help_heading = "Waveforms", long, conflicts_with_all = ["vcd", "trace_events", "json", "stats", "launches", "csv", "series", "inject"])]
    pub list_probes: bool,
    /// First cycle to record, of the probed block's own clock
    #[arg(help_heading = "Waveforms", long, value_name = "N", default_value_t = 0)]
    pub from: u64,
    /// Number of cycles to record
    #[arg(help_heading = "Waveforms", long, value_name = "N", default_value_t = 1000)]
    pub cycles: u64,
    /// For verification: invert an output-register bit of a block's RTL, INSTANCE:CYCLE:BIT; may be repeated
    #[arg(help_heading = "Verification", long, value_name = "FAULT")]
    pub inject: Vec<String>,
    /// Most threads on which a run is simulated; no result depends on their number
    #[arg(help_heading = "Execution", long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: Option<u32>,
    /// Check while running every DRAM command against every timing constraint, and that no load reads stale data
    #[arg(help_heading = "Verification", long)]
    pub check: bool,
    /// Where a run ends.
    #[command(flatten)]
    pub bounds: BoundOptions,
    /// Checkpoints.
    #[command(flatten)]
    pub checkpoints: CheckpointOptions,
    /// Energies of codecs from the JSON of `selvedge area --energy`, in place of the configuration's
    #[arg(help_heading = "Configuration and mechanism", long, value_name = "FILE.json")]
    pub energy_from: Option<PathBuf>,
    /// Latencies of the mechanisms' codecs that are `auto`, from the JSON of `selvedge area --find-depth`
    #[arg(help_heading = "Configuration and mechanism", long, value_name = "FILE.json")]
    pub latency_from: Option<PathBuf>,
    /// What it may take of the host
    #[command(flatten)]
    pub limits: LimitOptions,
}

impl RunOptions {
    /// Returns what the blocks run as.
    pub fn engine(&self) -> Engine {
        self.verilog.lockstep.unwrap_or(self.engine)
    }

    /// Returns the limits of the run.
    pub fn limits(&self) -> Limits {
        let mut limits = self.limits.limits();
        if !self.allow_outside && limits.reach == Reach::Anywhere {
            limits.reach = Reach::WritesWithin;
        }
        limits
    }
}

/// Options of `selvedge cuda`. Those that `run` has, too, mean the same.
#[derive(Args)]
#[command(group = ArgGroup::new("recording").args(["vcd", "trace_events"]).multiple(true))]
pub struct CudaOptions {
    /// A built-in configuration (see `selvedge list configurations`) or a TOML file
    #[arg(long, default_value = "gtx480")]
    pub config: String,
    /// Most registers of a thread, 16 to 255, as nvcc's -maxrregcount; nothing is spilled (see docs/ptx.md)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(16..=255))]
    pub registers: Option<u32>,
    /// Change a value of the configuration, such as l1d.sets=64; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Mechanism with options, NAME[,option=value...]; several are joined by +
    #[arg(long)]
    pub mechanism: Option<String>,
    /// What the mechanism's blocks run as
    #[arg(long, default_value_t = Engine::Rtl, value_parser = name_of::<Engine>())]
    pub engine: Engine,
    /// Two forms of each block, and Verilog of the user.
    #[command(flatten)]
    pub verilog: VerilogOptions,
    /// Execute the kernels for their values alone, without timing
    #[arg(long, conflicts_with_all = CUDA_NEEDS_TIMING)]
    pub functional: bool,
    /// Execute each kernel a second time, without timing, and compare device memory after every launch; of kernels whose results depend
    /// on the order of threads, such as sums of floating-point atomics, both may differ
    #[arg(long)]
    pub verify_functional: bool,
    /// Write what the program does to the device to FILE.sprog, which `run` and `compare` replay without the program
    #[arg(long, value_name = "FILE.sprog")]
    pub record: Option<PathBuf>,
    /// Write the report as JSON to FILE; with - to standard output, and what the program prints to standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the statistics of each launch as text, by GPGPU-Sim's names
    #[arg(long, value_name = "FILE")]
    pub stats: Option<String>,
    /// Write the statistics of each launch as CSV, by GPGPU-Sim's names
    #[arg(long, value_name = "FILE")]
    pub launches: Option<String>,
    /// Write the report as CSV, one row, with the columns of `selvedge study collect`
    #[arg(long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Write what happened in every N cycles (see --every) as CSV
    #[arg(long, value_name = "FILE")]
    pub series: Option<String>,
    /// Cycles of a row of --series
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,
    /// Write the ports of the probed blocks as a waveform, FST if the name ends in .fst and VCD otherwise; a save file for GTKWave
    /// and the names of values are written beside it
    #[arg(long, value_name = "FILE", requires = "probe")]
    pub vcd: Option<PathBuf>,
    /// Write launches, CTAs, warps' stalls, MSHRs, DRAM rows and the ports of the probed blocks as trace events, which Perfetto
    /// and Chrome open
    #[arg(long, value_name = "FILE")]
    pub trace_events: Option<PathBuf>,
    /// Record the registers within the probed blocks, too
    #[arg(long, requires = "vcd")]
    pub inside: bool,
    /// Block instance to record, such as sm0.milg; may be repeated
    #[arg(long, value_name = "INSTANCE", requires = "recording")]
    pub probe: Vec<String>,
    /// First cycle to record, of the probed block's own clock
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub from: u64,
    /// Number of cycles to record
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub cycles: u64,
    /// Most threads on which a run is simulated; no result depends on their number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: Option<u32>,
    /// Check while running every DRAM command against every timing constraint, and that no load reads stale data
    #[arg(long)]
    pub check: bool,
    /// Where the run ends.
    #[command(flatten)]
    pub bounds: BoundOptions,
    /// Energies of codecs from the JSON of `selvedge area --energy`, in place of the configuration's
    #[arg(long, value_name = "FILE.json")]
    pub energy_from: Option<PathBuf>,
    /// Latencies of the mechanisms' codecs that are `auto`, from the JSON of `selvedge area --find-depth`
    #[arg(long, value_name = "FILE.json")]
    pub latency_from: Option<PathBuf>,
    /// Most device memory, such as 512MiB or 16GiB (default: 8GiB)
    #[arg(long, value_name = "SIZE")]
    pub max_memory: Option<Bytes>,
    /// The program and its arguments, after --
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// The options of `selvedge cuda` that say something of timing, which `--functional` has not.
const CUDA_NEEDS_TIMING: [&str; 22] = [
    "registers",
    "verify_functional",
    "threads",
    "mechanism",
    "engine",
    "lockstep",
    "verilog",
    "stats",
    "launches",
    "csv",
    "series",
    "every",
    "vcd",
    "trace_events",
    "probe",
    "inside",
    "from",
    "cycles",
    "check",
    "max_cycles",
    "max_instructions",
    "energy_from",
];

impl CudaOptions {
    /// Returns the same as options of `run`, whose workload is the program.
    pub fn of_run(&self) -> RunOptions {
        RunOptions {
            config: self.config.clone(),
            registers: self.registers,
            set: self.set.clone(),
            mechanism: self.mechanism.clone(),
            engine: self.engine,
            verilog: self.verilog.clone(),
            functional: self.functional,
            json: self.json.clone(),
            stats: self.stats.clone(),
            launches: self.launches.clone(),
            csv: self.csv.clone(),
            series: self.series.clone(),
            every: self.every,
            vcd: self.vcd.clone(),
            trace_events: self.trace_events.clone(),
            probe: self.probe.clone(),
            inside: self.inside,
            from: self.from,
            cycles: self.cycles,
            threads: self.threads,
            check: self.check,
            bounds: self.bounds,
            energy_from: self.energy_from.clone(),
            latency_from: self.latency_from.clone(),
            limits: LimitOptions { max_memory: self.max_memory, ..LimitOptions::default() },
            ..RunOptions::default()
        }
    }
}

/// Options of `selvedge schema`.
#[derive(Args)]
pub struct SchemaOptions {
    /// What the schema is of (default: a line for each)
    pub name: Option<String>,
    /// Print the page about all of them, docs/output.md
    #[arg(long, conflicts_with = "name")]
    pub page: bool,
}

/// Options of `selvedge new`.
#[derive(Args)]
pub struct NewOptions {
    /// Launch file to write, NAME.toml
    pub file: PathBuf,
    /// The PTX file with the kernels
    #[arg(long, value_name = "FILE", required_unless_present = "cuda")]
    pub ptx: Option<PathBuf>,
    /// CUDA kernels that include no header of the host: clang compiles them to NAME.ptx
    #[arg(long, value_name = "FILE", conflicts_with = "ptx")]
    pub cuda: Option<PathBuf>,
    /// The clang that compiles them (default: clang++-19, clang++ or clang)
    #[arg(long, value_name = "PATH", requires = "cuda")]
    pub clang: Option<PathBuf>,
    /// The kernel to launch, by its name in the PTX or in its source (default: all of them in turn)
    #[arg(long)]
    pub kernel: Option<String>,
}

/// Options of `selvedge init`.
#[derive(Args)]
pub struct InitOptions {
    /// Name of the crate, its mechanism and its block, and of the folder to write, such as my_filter
    pub name: String,
    /// Selvedge's source tree, on which the crate depends (default: the one that this command was built from)
    #[arg(long, value_name = "PATH")]
    pub selvedge: Option<PathBuf>,
}

/// Options of `selvedge trace`.
#[derive(Args)]
pub struct TraceOptions {
    /// What to do
    #[command(subcommand)]
    pub action: TraceAction,
}

/// What `selvedge trace` can do.
#[derive(Subcommand)]
pub enum TraceAction {
    /// Run a workload and write what it executes, with its addresses and values, to a file that `selvedge run` replays
    Record(Box<RecordOptions>),
    /// Print the launches of a trace with their grids and instruction counts
    Info {
        /// The trace: NAME.strace, NAME.traceg[.xz] or kernelslist.g
        file: PathBuf,
        /// What it may take of the host
        #[command(flatten)]
        limits: LimitOptions,
    },
}

/// Options of `selvedge trace record`.
#[derive(Args)]
pub struct RecordOptions {
    /// Workload (see `selvedge list workloads`) or a launch file, NAME.toml
    pub workload: String,
    /// How large the run is
    #[arg(long, default_value_t = Size::Tiny, value_parser = name_of::<Size>())]
    pub size: Size,
    /// A real input file instead of the built-in input
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// A built-in configuration (see `selvedge list configurations`) or a TOML file
    #[arg(long, default_value = "gtx480")]
    pub config: String,
    /// Mechanism with options, NAME[,option=value...]; several are joined by +
    #[arg(long, default_value = "base")]
    pub mechanism: String,
    /// What the mechanism's blocks run as
    #[arg(long, default_value_t = Engine::Rtl, value_parser = name_of::<Engine>())]
    pub engine: Engine,
    /// Where the run ends; a run that is cut short leaves no trace.
    #[command(flatten)]
    pub bounds: BoundOptions,
    /// Trace to write, NAME.strace
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// What it may take of the host
    #[command(flatten)]
    pub limits: LimitOptions,
}

/// Options of `selvedge gen`.
#[derive(Args)]
pub struct GenOptions {
    /// Blocks (see --list)
    #[arg(required_unless_present_any = ["all", "list"], conflicts_with_all = ["all", "list"])]
    pub blocks: Vec<String>,
    /// Every block with its default parameters
    #[arg(long)]
    pub all: bool,
    /// Print the blocks, as `selvedge list blocks` does
    #[arg(long, conflicts_with = "all")]
    pub list: bool,
    /// Elaboration parameter, name=value; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// How registers are reset
    #[arg(long, default_value_t, value_parser = name_of::<ResetStyle>())]
    pub reset: ResetStyle,
    /// Give each block its own modules in place of the cells that blocks share (selvedge_mem and the like)
    #[arg(long, conflicts_with = "list")]
    pub self_contained: bool,
    /// Write SystemVerilog, in files .sv: logic, always_comb and always_ff
    #[arg(long, conflicts_with = "list")]
    pub sv: bool,
    /// Write all modules of a block into one file
    #[arg(long, conflicts_with = "list")]
    pub single_file: bool,
    /// What the names of all modules begin with
    #[arg(long, value_name = "TEXT", default_value = "", conflicts_with = "list", hide_default_value = true)]
    pub prefix: String,
    /// Check what the block promises while a simulator runs it, and write the scripts that prove it; blocks without properties
    /// have no assertions
    #[arg(long, conflicts_with = "list")]
    pub assertions: bool,
    /// Write a testbench for cocotb, too: test_BLOCK.py, a Makefile, and the vectors of --uvm-vectors
    #[arg(long, conflicts_with = "list")]
    pub cocotb: bool,
    /// Write BLOCK_vectors.txt, too: the inputs of each cycle and the outputs that the golden model expects
    #[arg(long, conflicts_with = "list")]
    pub uvm_vectors: bool,
    /// Operations in the vectors
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    pub operations: u64,
    /// Seed of the vectors
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Folder to write to
    #[arg(short, long, value_name = "DIR", default_value = "out")]
    pub output: PathBuf,
}

/// Options of `selvedge area`.
#[derive(Args)]
pub struct AreaOptions {
    /// Blocks (see `selvedge list blocks`)
    #[arg(required_unless_present_any = ["all", "mechanism"], conflicts_with_all = ["all", "mechanism"])]
    pub blocks: Vec<String>,
    /// Every block with its default parameters
    #[arg(long, conflicts_with = "mechanism")]
    pub all: bool,
    /// Every block instance of a mechanism in a configuration, and their sum; may be repeated
    #[arg(long = "mechanism", id = "mechanism", value_name = "NAME[,KEY=VALUE]", conflicts_with_all = ["params", "sweep"])]
    pub mechanisms: Vec<String>,
    /// The configuration of --mechanism
    #[arg(long, value_name = "NAME|FILE", default_value = "gtx480", requires = "mechanism")]
    pub config: String,
    /// Kernels at the same time that --mechanism is built for
    #[arg(long, default_value_t = 1, requires = "mechanism", value_parser = clap::value_parser!(u32).range(1..=4))]
    pub kernels: u32,
    /// Your own Verilog in place of a block's: a module with the block's ports; may be repeated
    #[arg(long, value_name = "BLOCK=FILE[,FILE...][:TOP]", conflicts_with_all = ["mechanism", "find_depth"])]
    pub verilog: Vec<Own>,
    /// Elaboration parameter, name=value; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// How registers are reset
    #[arg(long, value_name = "STYLE", default_value_t, value_parser = name_of::<ResetStyle>())]
    pub reset: ResetStyle,
    /// Each value of one parameter in turn
    #[arg(long, value_name = "NAME=A,B,C")]
    pub sweep: Option<String>,
    /// Draw area and critical path over the swept parameter
    #[arg(long, value_name = "FILE.svg", requires = "sweep")]
    pub plot: Option<PathBuf>,
    /// Standard cells or a family of FPGAs; several with commas between them
    #[arg(long = "target", value_name = "TARGET", default_value = "asic", value_delimiter = ',', value_parser = TargetName::parser())]
    pub targets: Vec<TargetName>,
    /// Standard-cell library (default: OSU 0.18 um of Debian's qflow-tech-osu018)
    #[arg(long, value_name = "FILE.lib")]
    pub liberty: Option<PathBuf>,
    /// Table of technologies to add to the built-in one
    #[arg(long, value_name = "FILE.toml")]
    pub technologies: Option<PathBuf>,
    /// Also show areas scaled to another node: gate equivalents times the area of that node's NAND gate
    #[arg(long, value_name = "NODE")]
    pub scale_to: Option<String>,
    /// Clock that a mapping must reach with few cells, such as 700MHz, 1.4GHz or 2ns (default: the technology's, 150MHz for OSU 0.18 um)
    #[arg(long, value_name = "CLOCK")]
    pub clock: Option<String>,
    /// Study every pipeline depth of the blocks, and report the shallowest that reaches --clock
    #[arg(long, requires = "clock", conflicts_with_all = ["all", "mechanism", "sweep", "energy"])]
    pub find_depth: bool,
    /// Energy of an operation too: the block's stimulus in a simulation of the mapped netlist, times the library's tables
    #[arg(long)]
    pub energy: bool,
    /// Cycles that --energy simulates (default: 500 of the block's stimulus, or all of --vcd)
    #[arg(long, value_name = "N", requires = "energy", value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub vectors: Option<u64>,
    /// First cycle that --energy counts; earlier cycles are simulated but not counted
    #[arg(long, value_name = "N", requires = "energy", default_value_t = 0)]
    pub from: u64,
    /// Waveform whose recorded inputs drive --energy, such as one from `selvedge run --vcd`
    #[arg(long, value_name = "FILE.vcd", requires = "energy", conflicts_with_all = ["all", "mechanism", "sweep"])]
    pub vcd: Option<PathBuf>,
    /// Which instance of --vcd, such as sm0.l1d.bdi_decompressor (default: the only one with the block's ports)
    #[arg(long, value_name = "NAME", requires = "vcd")]
    pub instance: Option<String>,
    /// Turn memories into flip-flops instead of listing them beside the cells
    #[arg(long)]
    pub memories_in_flip_flops: bool,
    /// Program of the user that prices memories (default: they are listed without a price)
    #[arg(long, value_name = "PROGRAM", conflicts_with = "memories_in_flip_flops")]
    pub sram: Option<MemoryPrices>,
    /// Where CACTI is (default: in the search path)
    #[arg(long, value_name = "FILE", requires = "sram")]
    pub cacti: Option<PathBuf>,
    /// Node that --sram models, such as 45nm (default: the library's)
    #[arg(long, value_name = "NODE", requires = "sram")]
    pub sram_node: Option<String>,
    /// Place and route with nextpnr (ecp5, ice40) for the clock that is reached
    #[arg(long)]
    pub place: bool,
    /// Blocks studied at the same time (default: one for each processor)
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Keep scripts, netlists and tools' output of each block in a folder
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Write every figure with its unit as JSON to a file, or with - to standard output instead of the table
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the figures as CSV, a row for each block and mapping
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write the table as a Markdown page that says what the figures are and what they are not
    #[arg(long, value_name = "FILE.md")]
    pub markdown: Option<PathBuf>,
}

/// What `selvedge area` can study blocks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetName {
    /// Standard cells.
    Asic,
    /// An FPGA.
    Fpga(Family),
}

impl TargetName {
    const ASIC: &str = "asic";

    /// Returns the word of `--target`.
    pub fn name(self) -> &'static str {
        match self {
            TargetName::Asic => Self::ASIC,
            TargetName::Fpga(family) => family.name(),
        }
    }

    fn parser() -> impl TypedValueParser<Value = Self> {
        let names = [Self::ASIC].into_iter().chain(Family::VARIANTS.iter().copied());
        PossibleValuesParser::new(names).map(|name| name.parse().map_or(TargetName::Asic, TargetName::Fpga))
    }
}

/// Who can price memories.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MemoryPrices {
    /// CACTI
    Cacti,
}

/// Options of `selvedge wave`.
#[derive(Args)]
pub struct WaveOptions {
    /// Block (see `selvedge list blocks`)
    pub block: String,
    /// Elaboration parameter, name=value; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// Your own Verilog or SystemVerilog in place of the block's RTL: a module with the block's ports
    #[arg(long, value_name = "BLOCK=FILE[,FILE...][:TOP][,latency=N]")]
    pub verilog: Option<Own>,
    /// Cycles of stimulus
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub cycles: u64,
    /// Seed of the stimulus
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Frequency of the block's clock in MHz, which the times in the waveform follow; the default is the core clock of gtx480
    #[arg(long, value_name = "N", default_value_t = 1400, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub mhz: u32,
    /// Record the registers within the block, too
    #[arg(long)]
    pub inside: bool,
    /// Waveform to write, FST if it ends in .fst and VCD otherwise; a save file for GTKWave, the names of values and the testbench
    /// are written beside it
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Options of `selvedge config`.
#[derive(Args)]
pub struct ConfigOptions {
    /// What to do with it
    #[command(subcommand)]
    pub action: ConfigAction,
}

/// What `selvedge config` can do.
#[derive(Subcommand)]
pub enum ConfigAction {
    /// Print a configuration with every value, as a TOML file
    Show {
        /// A built-in configuration (see `selvedge list configurations`) or a TOML file
        name: String,
    },
    /// Print what a key means, its default and what it must be; all keys unless one is given
    Explain {
        /// The key with its section, such as l1d.mshr_entries
        key: Option<String>,
        /// Print a Markdown table
        #[arg(long, conflicts_with = "key")]
        markdown: bool,
    },
    /// Report every mistake in a TOML file, one line each
    Check {
        /// The TOML file, or a built-in configuration
        file: String,
    },
    /// Translate a GPGPU-Sim configuration; options without a counterpart are listed on standard error
    Import {
        /// The simulator's configuration, such as gpgpusim.config
        file: PathBuf,
        /// The interconnect's configuration
        #[arg(long, value_name = "FILE")]
        icnt: Option<PathBuf>,
        /// The TOML file to write; - for standard output
        #[arg(short, long, value_name = "FILE", default_value = "-")]
        output: String,
    },
}

/// Options of `selvedge fidelity`.
#[derive(Args)]
pub struct FidelityOptions {
    /// A built-in configuration (see `selvedge list configurations`) or a TOML file (default: all built-in configurations)
    #[arg(long)]
    pub config: Option<String>,
    /// The Markdown page to write; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: String,
}

/// Options of `selvedge list`.
#[derive(Args)]
pub struct ListOptions {
    /// What to list
    #[command(subcommand)]
    pub what: List,
}

/// What `selvedge list` can show.
#[derive(Subcommand)]
pub enum List {
    /// Print the built-in workloads: kernels with their host programs
    Workloads(ListWorkloads),
    /// Print the mechanisms that can be put into the GPU
    Mechanisms(ListOne),
    /// Print the built-in configurations of the GPU
    #[command(visible_alias = "configs", alias = "machines")]
    Configurations(ListOne),
    /// Print the hardware blocks
    Blocks(ListBlocks),
}

/// Options of `selvedge list` for all of a kind or one.
#[derive(Args)]
pub struct ListOne {
    /// Print everything about the one of this name
    pub name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `selvedge list blocks`.
#[derive(Args)]
pub struct ListBlocks {
    /// Which block, and whether JSON is printed.
    #[command(flatten)]
    pub of: ListOne,
    /// Print the block's page of the documentation: what the paper says and leaves open, parameters, ports, timing, corner cases
    #[arg(long, requires = "name", conflicts_with = "json")]
    pub markdown: bool,
}

/// Options of `selvedge list workloads`.
#[derive(Args)]
pub struct ListWorkloads {
    /// Print everything about the workload of this name
    #[arg(conflicts_with_all = ["paper", "group", "size"])]
    pub name: Option<String>,
    /// Only workloads that this paper, or chapter of the dissertation, evaluates
    #[arg(long, value_name = "PAPER", value_parser = name_of::<Paper>())]
    pub paper: Option<Paper>,
    /// Only workloads of this group
    #[arg(long, value_name = "GROUP", value_parser = name_of::<Group>())]
    pub group: Option<Group>,
    /// Show the input of this size and what it executes
    #[arg(long, value_name = "SIZE", value_parser = name_of::<Size>())]
    pub size: Option<Size>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `selvedge bench`.
#[derive(Args)]
pub struct BenchOptions {
    /// Only the cases whose names begin so (default: all)
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub case: Vec<String>,
    /// How often each run is repeated
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Another binary of selvedge, whose runs alternate with those of this one
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Count instructions, too, with valgrind's callgrind: some fifty times as long as a run
    #[arg(long)]
    pub instructions: bool,
    /// Write every figure as JSON to a file, or with - to standard output instead of the table
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

/// Options of `selvedge stats`.
#[derive(Args)]
pub struct StatsOptions {
    /// What to do
    #[command(subcommand)]
    pub command: StatsCommand,
}

/// The commands of `selvedge stats`.
#[derive(Subcommand)]
pub enum StatsCommand {
    /// Print all statistics and counters of mechanisms, each with its meaning
    List {
        /// As Markdown tables
        #[arg(long)]
        markdown: bool,
    },
    /// Print the meaning of one
    Explain {
        /// The statistic or counter, such as bw_util or bypassed_loads
        key: String,
    },
}
