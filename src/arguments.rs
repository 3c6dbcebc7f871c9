//! Command-line options, as clap reads them.
use crate::bounds::BoundOptions;
use crate::checkpoint_options::CheckpointOptions;
use crate::classify::Paper;
use crate::reproduce::ReproduceOptions;
use crate::study_command::StudyOptions;
#[cfg(unix)]
use crate::suite::SuiteOptions;
use crate::value_parsers::{chart_file, name_of};
use crate::verilog_option::VerilogOptions;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, ColorChoice, Parser, Subcommand, ValueEnum};
use selvedge_area::fpga::FpgaFamily;
use selvedge_gen::{MemoryForm, ResetStyle};
use selvedge_hw::Engine;
use selvedge_sim::intervals::percent;
use selvedge_sim::launch_range::LaunchRange;
use selvedge_sim::limits::{Bytes, Limits};
use selvedge_sim::reach::FileReach;
use selvedge_sim::workload::{Group, Size};
use selvedge_testbenches::own::Own;
use std::ffi::OsString;
use std::path::PathBuf;
use strum::VariantNames;

/// Help of `selvedge`: lists the commands and names the place of `run`'s options.
const FIRST_SCREEN: &str = "{about}

{usage-heading} {usage}

Commands:
{subcommands}

Options:
{options}

Without a command, selvedge runs the demonstration: two kernels under the baseline and four
mechanisms. `selvedge COMMAND --help` prints the options of a command; `selvedge WORKLOAD [OPTIONS]`
is short for `selvedge run WORKLOAD [OPTIONS]`.{after-help}
";

/// Runs synthesizable hardware for GPU memory systems inside a cycle-accurate GPU, and writes it as Verilog
#[derive(Parser)]
#[command(name = "selvedge", bin_name = "selvedge", version, max_term_width = 100, help_template = FIRST_SCREEN)]
pub struct Arguments {
    /// Command; `run` if the command line names none
    #[command(subcommand)]
    pub command: Command,
    /// Print no progress
    #[arg(short, long, global = true, display_order = 1000)]
    pub quiet: bool,
    /// Use color in help texts; the variable NO_COLOR also turns it off
    #[arg(long, global = true, display_order = 1000, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Run a workload, a launch file or a trace on the simulated GPU
    Run(Box<RunOptions>),
    /// Run an unmodified CUDA program with its kernels simulated
    #[cfg(target_os = "linux")]
    Cuda(Box<CudaOptions>),
    /// Build the programs of a benchmark suite, and record them for `run`, `compare` and `study`
    #[cfg(unix)]
    Suite(SuiteOptions),
    /// Run workloads under several mechanisms and print them side by side
    Compare(CompareOptions),
    /// Simulate all points of a study file, each once, and collect the results in one table
    Study(StudyOptions),
    /// Reproduce figures of the papers and compare the results with the published values
    Reproduce(ReproduceOptions),
    /// Measure the criteria by which the papers classify applications, and print the papers' own classes next to them
    Classify(ClassifyOptions),
    /// Write tables and charts of runs as one self-contained HTML page
    Report(ReportOptions),
    /// Write a crate with an example mechanism and block as a starting point
    Init(InitOptions),
    /// Write a launch file for the kernels of a PTX file
    New(NewOptions),
    /// Write the Verilog of blocks
    Gen(GenOptions),
    /// Synthesize blocks and report area, clock and energy in standard cells, or FPGA resources
    Area(Box<AreaOptions>),
    /// Write a block's waveform as VCD or FST, a GTKWave save file and a self-checking Verilog testbench
    Wave(WaveOptions),
    /// Compare a block's model, RTL, emitted Verilog and custom Verilog, and report the coverage of the stimulus
    Verify(VerifyOptions),
    /// Record a workload as a trace, or print the launches of a trace
    Trace(TraceOptions),
    /// Print, explain, check or import configurations
    Config(ConfigOptions),
    /// Measure latencies and bandwidths of configurations, and compare them with values computed from their files
    Fidelity(FidelityOptions),
    /// Fit a configuration to microbenchmarks of a real GPU, and compare a simulated GPU with it
    Calibrate(CalibrateOptions),
    /// Print the workloads, mechanisms, configurations and blocks, or one of them in full
    List(ListOptions),
    /// Explain statistics and counters
    Stats(StatsOptions),
    /// Print the JSON Schema of a command's JSON output
    Schema(SchemaOptions),
    /// Report which optional tools are installed, and the purpose of each
    Doctor,
    /// Print the completions of a shell
    Completions {
        /// Shell to print the completions of
        shell: clap_complete::Shell,
    },
    /// Write a manual page for each command
    Man {
        /// Folder to write to
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
    },
    /// Measure the speed of the simulator, alone or against another binary
    #[cfg(unix)]
    Bench(BenchOptions),
}

/// Limits on the host resources that a run may use.
#[derive(Args, Clone, Default)]
pub struct LimitOptions {
    /// Max device memory of a run, such as 512MiB or 16GiB [default: 8GiB]
    #[arg(help_heading = "Limits", long, value_name = "SIZE")]
    pub max_memory: Option<Bytes>,
    /// Max unpacked size of a packed trace (.xz), such as 100GiB [default: 1000 times the packed size, at least 256MiB]
    #[arg(help_heading = "Limits", long, value_name = "SIZE")]
    pub max_unpacked: Option<Bytes>,
    /// Refuse launch files and trace lists that name a file outside their folder; for files of unknown origin
    #[arg(help_heading = "Limits", long)]
    pub sandbox: bool,
}

impl LimitOptions {
    /// Returns the limits, with defaults for absent ones. They do not confine writes, so only commands that save no results
    /// of launch files use them.
    pub fn limits(&self) -> Limits {
        let usual = Limits::default();
        Limits {
            memory: self.max_memory.map_or(usual.memory, |bytes| bytes.0),
            unpacked: self.max_unpacked.map_or(usual.unpacked, |bytes| Some(bytes.0)),
            reach: if self.sandbox { FileReach::Within } else { FileReach::Anywhere },
        }
    }
}

/// Options of `selvedge compare`.
#[derive(Args)]
pub struct CompareOptions {
    /// Workloads (see `selvedge list workloads`) or launch files, NAME.toml; those joined by + run at the same time
    #[arg(required = true)]
    pub workloads: Vec<String>,
    /// Mechanisms with their options, separated by commas; each is compared with the first
    #[arg(help_heading = "Configuration and mechanism", long, value_name = "NAME[,OPTION=VALUE...],NAME...")]
    pub mechanisms: String,
    /// Size of the workloads' inputs
    #[arg(long, default_value_t = Size::Tiny, value_parser = name_of::<Size>())]
    pub size: Size,
    /// Model of the values in memory of Accel-Sim traces, as in `selvedge run`
    #[arg(long, value_name = "MODEL|FILE")]
    pub values: Option<String>,
    /// Built-in configuration (see `selvedge list configurations`) or TOML file
    #[arg(help_heading = "Configuration and mechanism", long, default_value = "gtx480")]
    pub config: String,
    /// Max registers per thread, 16 to 255, as -maxrregcount of nvcc; no registers are spilled (see docs/reference/ptx.md)
    #[arg(help_heading = "Configuration and mechanism", long, value_name = "N", value_parser = clap::value_parser!(u32).range(16..=255))]
    pub registers: Option<u32>,
    /// Change a value of the configuration, such as l1d.sets=64; may be repeated
    #[arg(help_heading = "Configuration and mechanism", long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Engine of the mechanisms' blocks
    #[arg(help_heading = "Configuration and mechanism", long, default_value_t = Engine::Rtl, value_parser = name_of::<Engine>())]
    pub engine: Engine,
    /// Options `--lockstep` and `--verilog`.
    #[command(flatten)]
    pub verilog: VerilogOptions,
    /// JSON of `selvedge area --find-depth` with the latencies of codecs whose latency is `auto`
    #[arg(help_heading = "Configuration and mechanism", long, value_name = "FILE.json")]
    pub latency_from: Option<PathBuf>,
    /// SM sharing of workloads joined by +, such as spatial or smk-p (see `selvedge run --help`) [default: left-over]
    #[arg(help_heading = "Concurrent kernels", long, value_name = "POLICY")]
    pub share: Option<String>,
    /// Max number of runs at the same time [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Estimate each run from at most N intervals between beginning and end of a launch (see `selvedge run --help`)
    #[arg(long, value_name = "N", conflicts_with_all = ["share", "lockstep", "max_cycles"], value_parser = clap::value_parser!(u32).range(1..))]
    pub intervals: Option<u32>,
    /// Repeat each run with more intervals until half the width of its confidence interval is at most this percentage of the cycles
    #[arg(long, value_name = "PERCENT", requires = "intervals", value_parser = percentage)]
    pub error: Option<f64>,
    /// Options that end a run early.
    #[command(flatten)]
    pub bounds: BoundOptions,
    /// Write the speedups as a bar chart
    #[arg(help_heading = "Output", long, value_name = "FILE.svg", value_parser = chart_file)]
    pub plot: Option<PathBuf>,
    /// Write every report as JSON to FILE; with -, to standard output instead of the table
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write every report as CSV to FILE, one row per run, with the columns of `selvedge study collect`; with -, to
    /// standard output instead of the table
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Limits on host resources
    #[command(flatten)]
    pub limits: LimitOptions,
}

/// Options of `selvedge report`.
#[derive(Args)]
pub struct ReportOptions {
    /// JSON of `selvedge run` or `selvedge compare`, or study files NAME.toml, whose stored results are shown
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Folder with the stored results of studies [default: selvedge/points in the user's cache folder]
    #[arg(help_heading = "Data", long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// HTML page to write; - for standard output
    #[arg(help_heading = "Output", short, long, value_name = "FILE.html", default_value = "report.html")]
    pub output: String,
    /// CSV of `selvedge run --series`, shown over time; may be repeated
    #[arg(help_heading = "Data", long, value_name = "FILE.csv")]
    pub series: Vec<PathBuf>,
    /// Published speedups to show: a figure of `selvedge reproduce --list`, or a CSV file with the columns
    /// workload,mechanism,value; may be repeated
    #[arg(help_heading = "Data", long, value_name = "FIGURE|FILE.csv")]
    pub paper: Vec<String>,
    /// JSON of `selvedge area --mechanisms`, instead of the areas in the documentation; may be repeated
    #[arg(help_heading = "Data", long, value_name = "FILE.json")]
    pub area: Vec<PathBuf>,
    /// TOML file of a configuration that runs use, unless it is built in or part of a study; may be repeated
    #[arg(help_heading = "Data", long = "config", value_name = "FILE.toml")]
    pub configs: Vec<String>,
    /// Title of the page [default: the names of the files]
    #[arg(help_heading = "Output", long)]
    pub title: Option<String>,
}

/// Options of `selvedge classify`.
#[derive(Args)]
pub struct ClassifyOptions {
    /// Workloads (see `selvedge list workloads`) [default: all]
    pub workloads: Vec<String>,
    /// Size of the workloads' inputs
    #[arg(long, default_value_t = Size::Study, value_parser = name_of::<Size>())]
    pub size: Size,
    /// Compare the workloads that this paper or dissertation chapter evaluates with the values that it prints
    #[arg(long, value_name = "PAPER", value_parser = name_of::<Paper>())]
    pub paper: Option<Paper>,
    /// Built-in configuration (see `selvedge list configurations`) or TOML file; sectors are always measured on
    /// gtx480-lamar [default: the paper's configuration, or gtx480]
    #[arg(long)]
    pub config: Option<String>,
    /// Max number of runs at the same time [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Write the rows as JSON to FILE; with -, to standard output instead of the table
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the rows as CSV to FILE; with -, to standard output instead of the table
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub csv: Option<String>,
}

/// Parses a percentage.
fn percentage(text: &str) -> Result<f64, &'static str> {
    percent(text).ok_or("must be 0.01% to 100%")
}

/// Options of [`GpuOptions`] that need timing, which `--functional` does not simulate.
const GPU_TIMING: [&str; 20] = [
    "intervals",
    "launch",
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
    "max_cycles",
    "max_instructions",
    "energy_from",
];

/// Further options of `selvedge run` that need timing.
const RUN_TIMING: [&str; 10] = [
    "values",
    "checkpoint",
    "checkpoint_every",
    "resume",
    "share",
    "cycles_together",
    "alone",
    "store",
    "list_probes",
    "inject",
];

/// Options of [`GpuOptions`] that need every cycle, which `--intervals` does not simulate.
const GPU_EVERY_CYCLE: [&str; 8] =
    ["launch", "series", "vcd", "trace_events", "check", "corners", "lockstep", "max_cycles"];

/// Further options of `selvedge run` that need every cycle.
const RUN_EVERY_CYCLE: [&str; 8] = [
    "share",
    "cycles_together",
    "alone",
    "list_probes",
    "inject",
    "checkpoint",
    "checkpoint_every",
    "resume",
];

/// Options of the commands that run kernels on the simulated GPU.
#[derive(Args, Clone, Default)]
#[command(group = ArgGroup::new("recording").args(["vcd", "trace_events"]).multiple(true))]
pub struct GpuOptions {
    /// Built-in configuration (see `selvedge list configurations`) or TOML file
    #[arg(help_heading = "Configuration and mechanism", long, default_value = "gtx480")]
    pub config: String,
    /// Max registers per thread, 16 to 255, as -maxrregcount of nvcc; no registers are spilled (see docs/reference/ptx.md)
    #[arg(help_heading = "Configuration and mechanism", long, value_name = "N", value_parser = clap::value_parser!(u32).range(16..=255))]
    pub registers: Option<u32>,
    /// Change a value of the configuration, such as l1d.sets=64; may be repeated
    #[arg(help_heading = "Configuration and mechanism", long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Mechanism with options, NAME[,option=value...]; join several with +
    #[arg(help_heading = "Configuration and mechanism", long)]
    pub mechanism: Option<String>,
    /// Engine of the mechanism's blocks
    #[arg(help_heading = "Configuration and mechanism", long, default_value_t = Engine::Rtl, value_parser = name_of::<Engine>())]
    pub engine: Engine,
    /// Options `--lockstep` and `--verilog`.
    #[command(flatten)]
    pub verilog: VerilogOptions,
    /// JSON of `selvedge area --energy` with energies of codecs, to replace the configuration's
    #[arg(help_heading = "Configuration and mechanism", long, value_name = "FILE.json")]
    pub energy_from: Option<PathBuf>,
    /// JSON of `selvedge area --find-depth` with the latencies of codecs whose latency is `auto`
    #[arg(help_heading = "Configuration and mechanism", long, value_name = "FILE.json")]
    pub latency_from: Option<PathBuf>,
    /// Write the report as JSON to FILE; with -, to standard output instead of the table
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the statistics of each launch as text, under GPGPU-Sim's names (see `selvedge stats list`)
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub stats: Option<String>,
    /// Write the statistics of each launch as CSV, under GPGPU-Sim's names
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub launches: Option<String>,
    /// Write the report as CSV, one row per run, with the columns of `selvedge study collect`
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Write the counters of each interval as CSV, one row per interval (see --every)
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub series: Option<String>,
    /// Interval of --series, core cycles
    #[arg(help_heading = "Output", long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,
    /// Write the ports of the probed blocks as a waveform: FST if the name ends in .fst, else VCD
    ///
    /// A GTKWave save file and the names of values are written next to it.
    #[arg(help_heading = "Waveforms", long, value_name = "FILE", requires = "probe")]
    pub vcd: Option<PathBuf>,
    /// Write launches, CTAs, warp stalls, MSHRs, DRAM rows and the ports of the probed blocks as trace events for Perfetto
    /// or Chrome
    #[arg(help_heading = "Waveforms", long, value_name = "FILE")]
    pub trace_events: Option<PathBuf>,
    /// Also record the registers inside the probed blocks
    #[arg(help_heading = "Waveforms", long, requires = "vcd")]
    pub inside: bool,
    /// Block instance to record, such as sm0.milg; may be repeated
    #[arg(help_heading = "Waveforms", long, value_name = "INSTANCE", requires = "recording")]
    pub probe: Vec<String>,
    /// First cycle to record, in cycles of the probed block's clock
    #[arg(help_heading = "Waveforms", long, value_name = "N", default_value_t = 0)]
    pub from: u64,
    /// Number of cycles to record
    #[arg(help_heading = "Waveforms", long, value_name = "N", default_value_t = 1000)]
    pub cycles: u64,
    /// Simulate only launch N, or the launches N to M, counted from 1
    ///
    /// The launches before and after execute without timing, and count nowhere. A trace has nothing to execute.
    #[arg(help_heading = "Execution", long, value_name = "N[..M]", conflicts_with = "check")]
    pub launch: Option<LaunchRange>,
    /// Simulate only intervals in detail, at most N between beginning and end of a launch, and estimate the whole run
    ///
    /// A launch of few CTAs has up to 4 N shorter windows instead.
    /// One pass executes the program without timing and warms the caches. The estimate has a confidence interval.
    #[arg(help_heading = "Execution", long, value_name = "N", conflicts_with_all = GPU_EVERY_CYCLE, value_parser = clap::value_parser!(u32).range(1..))]
    pub intervals: Option<u32>,
    /// Repeat the run with more intervals until half the width of the confidence interval is at most this percentage of the cycles
    #[arg(help_heading = "Execution", long, value_name = "PERCENT", requires = "intervals", value_parser = percentage)]
    pub error: Option<f64>,
    /// Threads of --intervals; they do not change the results [default: one per processor]
    #[arg(help_heading = "Execution", long, value_name = "N", requires = "intervals", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Check DRAM timing, stale loads and exchanges between lanes
    ///
    /// Every DRAM command is checked against all timing constraints, every load for stale data, and every exchange between
    /// lanes for reads of inactive lanes.
    #[arg(help_heading = "Verification", long)]
    pub check: bool,
    /// Count the corner cases of the blocks that the run reaches; engines that compare two forms always count them
    #[arg(help_heading = "Verification", long)]
    pub corners: bool,
    /// Options that end the run early.
    #[command(flatten)]
    pub bounds: BoundOptions,
}

impl GpuOptions {
    /// Returns the engine of the blocks: that of `--lockstep` if given, else that of `--engine`.
    pub fn engine(&self) -> Engine {
        self.verilog.lockstep.unwrap_or(self.engine)
    }
}

/// Options of `selvedge run`.
#[derive(Args, Clone, Default)]
#[command(mut_arg("intervals", |arg| arg.conflicts_with_all(RUN_EVERY_CYCLE)))]
pub struct RunOptions {
    /// Workload (see `selvedge list workloads`), launch file, trace or record [default: the demonstration]
    ///
    /// A launch file is NAME.toml. A trace is NAME.strace, NAME.traceg[.xz], NAME.tracez or kernelslist.g. A record of a CUDA program is
    /// NAME.sprog. Up to four workloads or launch files joined by + run at the same time. Without a workload, the
    /// demonstration runs: two kernels under the baseline and four mechanisms.
    pub workload: Option<String>,
    /// Size of the workload's input [default: tiny]
    #[arg(long, value_parser = name_of::<Size>())]
    pub size: Option<Size>,
    /// Input file instead of the built-in input
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Model of the values in memory of an Accel-Sim trace: a class, CLASS=FRACTION,...[,seed=N], or a file that repeats
    ///
    /// Each block of 128 bytes has a class: zeros, repeated, narrow, b8d1, b8d2, b8d4, b4d1, b4d2, b2d1 or random. Stores do not
    /// change the values.
    #[arg(long, value_name = "MODEL|FILE")]
    pub values: Option<String>,
    /// Options of the GPU and its outputs.
    #[command(flatten)]
    pub gpu: GpuOptions,
    /// Execute the kernels without timing: check the results, and count instructions
    #[arg(help_heading = "Execution", long, conflicts_with_all = GPU_TIMING, conflicts_with_all = RUN_TIMING)]
    pub functional: bool,
    /// SM sharing of workloads joined by + [default: left-over]
    ///
    /// left-over: the earliest launch takes all resources that it can use, later launches the rest.
    /// spatial: separate SMs for each.
    /// sm:N,N: N CTAs per SM of each.
    /// smk-p: fair shares of an SM's resources.
    /// smk-pw[:CYCLES]: as smk-p, with instruction quotas from the IPC of each one alone.
    /// warped-slicer[:CYCLES]: CTAs per SM from the scaling of each kernel alone.
    /// CYCLES is the length of a profile; without it, the profile is the whole run.
    #[arg(help_heading = "Concurrent kernels", long, value_name = "POLICY", verbatim_doc_comment)]
    pub share: Option<String>,
    /// Cycles that workloads joined by + run; a workload that ends starts again [default: until each has finished once]
    #[arg(help_heading = "Concurrent kernels", long = "for", visible_alias = "window", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub cycles_together: Option<u64>,
    /// Also run each of the workloads joined by + alone, for comparison
    #[arg(help_heading = "Concurrent kernels", long)]
    pub alone: bool,
    /// Folder for stored runs of --alone, or none to store no runs [default: selvedge/alone in the user's cache folder]
    #[arg(
        help_heading = "Concurrent kernels",
        long,
        alias = "cache",
        value_name = "DIR",
        requires = "alone"
    )]
    pub store: Option<String>,
    /// Allow a launch file to save results outside its folder
    #[arg(help_heading = "Output", long, conflicts_with = "sandbox")]
    pub allow_outside: bool,
    /// Print the block instances that --probe accepts in this run, without running it
    #[arg(help_heading = "Waveforms", long, conflicts_with_all = ["vcd", "trace_events", "json", "stats", "launches", "csv", "series", "inject"])]
    pub list_probes: bool,
    /// Invert an output-register bit of a block's RTL, INSTANCE:CYCLE:BIT, to test the verification; may be repeated
    #[arg(help_heading = "Verification", long, value_name = "FAULT")]
    pub inject: Vec<String>,
    /// Options for checkpoints.
    #[command(flatten)]
    pub checkpoints: CheckpointOptions,
    /// Limits on host resources
    #[command(flatten)]
    pub limits: LimitOptions,
}

impl RunOptions {
    /// Returns the limits of the run.
    pub fn limits(&self) -> Limits {
        let mut limits = self.limits.limits();
        if !self.allow_outside && limits.reach == FileReach::Anywhere {
            limits.reach = FileReach::WritesWithin;
        }
        limits
    }
}

/// Value of `--config` of `selvedge cuda` that leaves the choice to the program's PTX.
pub const AUTO_CONFIG: &str = "auto";

/// Help of `--config` of `selvedge cuda`.
const CUDA_CONFIG: &str = "Built-in configuration (see `selvedge list configurations`) or TOML file; auto picks the oldest GPU that executes \
                           the program's PTX";

/// Help of `--json` of `selvedge cuda`.
const CUDA_JSON: &str = "Write the report as JSON to FILE; with -, to standard output, and the program's output to standard error";

/// Options of `selvedge cuda`. Options that `run` also has mean the same.
#[derive(Args)]
#[command(mut_arg("json", |arg| arg.help(CUDA_JSON)))]
#[command(mut_arg("config", |arg| arg.help(CUDA_CONFIG).default_value(AUTO_CONFIG)))]
pub struct CudaOptions {
    /// Options of the GPU and its outputs.
    #[command(flatten)]
    pub gpu: GpuOptions,
    /// Execute the kernels without timing
    #[arg(help_heading = "Execution", long, conflicts_with_all = GPU_TIMING, conflicts_with = "verify_functional")]
    pub functional: bool,
    /// Execute each kernel a second time without timing, and compare device memory after every launch
    ///
    /// The contents may differ for kernels whose results depend on the order of threads, such as sums of floating-point
    /// atomics.
    #[arg(help_heading = "Execution", long)]
    pub verify_functional: bool,
    /// Write the program's device operations to FILE.sprog, which `run` and `compare` replay without the program
    #[arg(help_heading = "Output", long, value_name = "FILE.sprog")]
    pub record: Option<PathBuf>,
    /// Max device memory, such as 512MiB or 16GiB [default: 8GiB]
    #[arg(help_heading = "Limits", long, value_name = "SIZE")]
    pub max_memory: Option<Bytes>,
    /// Program and its arguments, after --
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

impl CudaOptions {
    /// Returns the equivalent options of `run`, with the program as workload.
    pub fn of_run(&self) -> RunOptions {
        let limits = LimitOptions { max_memory: self.max_memory, ..LimitOptions::default() };
        RunOptions { gpu: self.gpu.clone(), functional: self.functional, limits, ..RunOptions::default() }
    }
}

/// Options of `selvedge schema`.
#[derive(Args)]
pub struct SchemaOptions {
    /// Name of the schema [default: list all schemas, one per line]
    pub name: Option<String>,
    /// Print docs/reference/output.md, the page with all schemas
    #[arg(long, conflicts_with = "name")]
    pub page: bool,
}

/// Options of `selvedge new`.
#[derive(Args)]
pub struct NewOptions {
    /// Launch file to write, NAME.toml
    #[arg(short, long, value_name = "FILE.toml", required_unless_present = "file")]
    pub output: Option<PathBuf>,
    /// Launch file to write: the form without -o
    #[arg(hide = true, conflicts_with = "output")]
    pub file: Option<PathBuf>,
    /// PTX file with the kernels
    #[arg(long, value_name = "FILE", required_unless_present = "cuda")]
    pub ptx: Option<PathBuf>,
    /// CUDA file whose kernels include no host headers; clang compiles it to NAME.ptx
    #[arg(long, value_name = "FILE", conflicts_with = "ptx")]
    pub cuda: Option<PathBuf>,
    /// Path of clang [default: clang++-19, clang++ or clang]
    #[arg(long, value_name = "PATH", requires = "cuda")]
    pub clang: Option<PathBuf>,
    /// Kernel to launch, by its name in the PTX or in its source [default: all kernels, one after the other]
    #[arg(long)]
    pub kernel: Option<String>,
}

/// Options of `selvedge init`.
#[derive(Args)]
pub struct InitOptions {
    /// Name of the crate, its folder, its mechanism and its block, such as my_filter
    pub name: String,
    /// Source tree of Selvedge, a dependency of the crate [default: the source tree of this command]
    #[arg(long, value_name = "PATH")]
    pub selvedge: Option<PathBuf>,
}

/// Options of `selvedge trace`.
#[derive(Args)]
pub struct TraceOptions {
    /// Action of `selvedge trace`
    #[command(subcommand)]
    pub action: TraceAction,
}

/// Actions of `selvedge trace`.
#[derive(Subcommand)]
pub enum TraceAction {
    /// Run a workload and write its instructions, addresses and values to a trace that `selvedge run` replays
    Record(Box<RecordOptions>),
    /// Write a recorded trace in Accel-Sim's format: kernelslist.g, and kernel-N.traceg for each launch
    Export {
        /// Trace that `selvedge trace record` wrote, NAME.strace
        file: PathBuf,
        /// Folder to write to
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
        /// Limits on host resources
        #[command(flatten)]
        limits: LimitOptions,
    },
    /// Print the launches of a trace with their grids and instruction counts
    Info {
        /// Trace: NAME.strace, NAME.traceg[.xz], NAME.tracez or kernelslist.g
        file: PathBuf,
        /// Limits on host resources
        #[command(flatten)]
        limits: LimitOptions,
    },
}

/// Options of `selvedge trace record`.
#[derive(Args)]
pub struct RecordOptions {
    /// Workload (see `selvedge list workloads`) or a launch file, NAME.toml
    pub workload: String,
    /// Size of the workload's input
    #[arg(long, default_value_t = Size::Tiny, value_parser = name_of::<Size>())]
    pub size: Size,
    /// Input file instead of the built-in input
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Built-in configuration (see `selvedge list configurations`) or TOML file
    #[arg(help_heading = "Configuration and mechanism", long, default_value = "gtx480")]
    pub config: String,
    /// Mechanism with options, NAME[,option=value...]; join several with +
    #[arg(help_heading = "Configuration and mechanism", long, default_value = "base")]
    pub mechanism: String,
    /// Engine of the mechanism's blocks
    #[arg(help_heading = "Configuration and mechanism", long, default_value_t = Engine::Rtl, value_parser = name_of::<Engine>())]
    pub engine: Engine,
    /// Options that end the run early; such a run leaves no trace.
    #[command(flatten)]
    pub bounds: BoundOptions,
    /// Trace to write, NAME.strace
    #[arg(help_heading = "Output", short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Limits on host resources
    #[command(flatten)]
    pub limits: LimitOptions,
}

/// Options of `selvedge gen`.
#[derive(Args)]
pub struct GenOptions {
    /// Blocks (see `selvedge list blocks`)
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub blocks: Vec<String>,
    /// Write every block with its default parameters
    #[arg(long)]
    pub all: bool,
    /// Elaboration parameter, name=value; may be repeated
    #[arg(help_heading = "Parameters", long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// Reset style of the registers
    #[arg(help_heading = "Parameters", long, default_value_t, value_parser = name_of::<ResetStyle>())]
    pub reset: ResetStyle,
    /// Write separate modules for each block instead of cells that blocks share, such as selvedge_mem
    #[arg(help_heading = "Form of the Verilog", long)]
    pub self_contained: bool,
    /// Write a list of the memories, or also modules for macros in place of memories that read at a clock edge
    ///
    /// list prints the memories and writes BLOCK_memories.csv and, for memory compilers that read Chisel's format,
    /// BLOCK.mems.conf, but no Verilog. blackbox also writes the Verilog, with an empty module per size. wrapper writes a
    /// module per size around an SRAM macro with one write port and one read port. Memories that read in the same cycle
    /// stay registers.
    #[arg(help_heading = "Form of the Verilog", long, value_name = "FORM", value_parser = name_of::<MemoryForm>(), conflicts_with = "self_contained")]
    pub memories: Option<MemoryForm>,
    /// Write SystemVerilog files (.sv) with logic, always_comb, always_ff, enumerations and packed arrays
    #[arg(help_heading = "Form of the Verilog", long)]
    pub sv: bool,
    /// Gate the clocks of registers that change only under a condition
    ///
    /// Each gate is an instance of selvedge_clock_gate. To use an integrated clock gate of a library, write a module of this
    /// name around it, and define SELVEDGE_CLOCK_GATE_V. The input test_en_i keeps all clocks running.
    #[arg(help_heading = "Form of the Verilog", long, conflicts_with = "assertions")]
    pub clock_gating: bool,
    /// Also write BLOCK_if, a module around each block with an interface for each valid-ready stream
    #[arg(help_heading = "Form of the Verilog", long, requires = "sv")]
    pub interfaces: bool,
    /// Write all modules of a block into one file
    #[arg(help_heading = "Form of the Verilog", long)]
    pub single_file: bool,
    /// Prefix of all module names
    #[arg(
        help_heading = "Form of the Verilog",
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    pub prefix: String,
    /// Write the properties of each block as assertions, and scripts that prove them
    ///
    /// A simulator checks the assertions. A block without properties has none.
    #[arg(help_heading = "Testbenches", long)]
    pub assertions: bool,
    /// Also write a cocotb testbench: test_BLOCK.py, a Makefile, and the vectors of --uvm-vectors
    #[arg(help_heading = "Testbenches", long)]
    pub cocotb: bool,
    /// Also write BLOCK_vectors.txt: the inputs of each cycle and the outputs that the golden model expects
    #[arg(help_heading = "Testbenches", long)]
    pub uvm_vectors: bool,
    /// Number of operations in the vectors [default: until each corner case of the block is reached]
    #[arg(help_heading = "Testbenches", long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub operations: Option<u64>,
    /// Seed of the vectors
    #[arg(help_heading = "Testbenches", long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Folder to write to
    #[arg(help_heading = "Output", short, long, value_name = "DIR", default_value = "out")]
    pub output: PathBuf,
}

/// Options of `selvedge area`.
#[derive(Args)]
pub struct AreaOptions {
    /// Blocks (see `selvedge list blocks`)
    #[arg(required_unless_present_any = ["all", "mechanisms"], conflicts_with_all = ["all", "mechanisms"])]
    pub blocks: Vec<String>,
    /// Study every block with its default parameters
    #[arg(help_heading = "Blocks", long, conflicts_with = "mechanisms")]
    pub all: bool,
    /// Study every block instance of each mechanism in a configuration, and sum them; separate mechanisms with commas
    #[arg(help_heading = "Blocks", long, alias = "mechanism", value_name = "NAME[,OPTION=VALUE...],NAME...", conflicts_with_all = ["params", "sweep"])]
    pub mechanisms: Vec<String>,
    /// Configuration for --mechanisms: a built-in name or a TOML file
    #[arg(
        help_heading = "Blocks",
        long,
        value_name = "NAME|FILE",
        default_value = "gtx480",
        requires = "mechanisms"
    )]
    pub config: String,
    /// Number of simultaneous kernels that the blocks of --mechanisms support
    #[arg(help_heading = "Blocks", long, default_value_t = 1, requires = "mechanisms", value_parser = clap::value_parser!(u32).range(1..=4))]
    pub kernels: u32,
    /// Custom Verilog that replaces a block: a module with the same ports; may be repeated
    #[arg(help_heading = "Blocks", long, value_name = "BLOCK=FILE[,FILE...][:TOP]", conflicts_with_all = ["mechanisms", "find_depth"])]
    pub verilog: Vec<Own>,
    /// Elaboration parameter, name=value; may be repeated
    #[arg(help_heading = "Blocks", long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// Reset style of the registers
    #[arg(help_heading = "Blocks", long, value_name = "STYLE", default_value_t, value_parser = name_of::<ResetStyle>())]
    pub reset: ResetStyle,
    /// Gate the clocks of registers, as gen --clock-gating does; the library must have a latch
    #[arg(help_heading = "Blocks", long, conflicts_with = "verilog")]
    pub clock_gating: bool,
    /// Sweep one parameter over the given values
    #[arg(help_heading = "Blocks", long, value_name = "NAME=A,B,C")]
    pub sweep: Option<String>,
    /// Draw area and critical path over the swept parameter
    #[arg(help_heading = "Output", long, value_name = "FILE.svg", requires = "sweep", value_parser = chart_file)]
    pub plot: Option<PathBuf>,
    /// Standard cells (asic) or an FPGA family; separate several with commas
    #[arg(help_heading = "Synthesis", long = "target", value_name = "TARGET", default_value = "asic", value_delimiter = ',', value_parser = TargetName::parser())]
    pub targets: Vec<TargetName>,
    /// Standard-cell library [default: OSU 0.18 um of Debian's qflow-tech-osu018]
    #[arg(help_heading = "Synthesis", long, value_name = "FILE.lib")]
    pub liberty: Option<PathBuf>,
    /// Table of technologies that is added to the built-in one
    #[arg(help_heading = "Synthesis", long, value_name = "FILE.toml")]
    pub technologies: Option<PathBuf>,
    /// Also show areas scaled to another node: gate equivalents times the NAND gate's area at that node
    #[arg(help_heading = "Synthesis", long, value_name = "NODE")]
    pub scale_to: Option<String>,
    /// Target clock of the clock-driven mapping, such as 700MHz, 1.4GHz or 2ns [default: the technology's, 150MHz for OSU
    /// 0.18 um]
    #[arg(help_heading = "Synthesis", long, value_name = "CLOCK")]
    pub clock: Option<String>,
    /// Study every pipeline depth of the blocks, and report the smallest that reaches --clock
    #[arg(help_heading = "Synthesis", long, requires = "clock", conflicts_with_all = ["all", "mechanisms", "sweep", "energy"])]
    pub find_depth: bool,
    /// Also report the energy of an operation: simulate the mapped netlist with the block's stimulus, and apply the
    /// library's power tables
    #[arg(help_heading = "Energy", long)]
    pub energy: bool,
    /// Number of cycles that --energy simulates [default: 500 cycles of the block's stimulus, or all cycles of --vcd]
    #[arg(help_heading = "Energy", long, value_name = "N", requires = "energy", value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub vectors: Option<u64>,
    /// First cycle that --energy counts; earlier cycles are simulated but not counted
    #[arg(help_heading = "Energy", long, value_name = "N", requires = "energy", default_value_t = 0)]
    pub from: u64,
    /// Waveform whose recorded inputs drive --energy, such as one from `selvedge run --vcd`
    #[arg(help_heading = "Energy", long, value_name = "FILE.vcd", requires = "energy", conflicts_with_all = ["all", "mechanisms", "sweep"])]
    pub vcd: Option<PathBuf>,
    /// Instance in --vcd, such as sm0.l1d.bdi_decompressor [default: the only one with the block's ports]
    #[arg(help_heading = "Energy", long, value_name = "NAME", requires = "vcd")]
    pub instance: Option<String>,
    /// Map memories to flip-flops instead of listing them separately
    #[arg(help_heading = "Synthesis", long)]
    pub memories_in_flip_flops: bool,
    /// Program of the user that models area and energy of memories [default: memories are listed without area and energy]
    #[arg(
        help_heading = "Synthesis",
        long,
        value_name = "PROGRAM",
        conflicts_with = "memories_in_flip_flops"
    )]
    pub sram: Option<MemoryPrices>,
    /// Path of CACTI [default: found in the search path]
    #[arg(help_heading = "Synthesis", long, value_name = "FILE", requires = "sram")]
    pub cacti: Option<PathBuf>,
    /// Technology node for --sram, such as 45nm [default: the library's]
    #[arg(help_heading = "Synthesis", long, value_name = "NODE", requires = "sram")]
    pub sram_node: Option<String>,
    /// Place and route with nextpnr (ecp5, ice40) to find the clock that the block reaches
    #[arg(help_heading = "Synthesis", long)]
    pub place: bool,
    /// Max number of blocks studied at the same time [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Keep the scripts, netlists and tool output of each block in a folder
    #[arg(help_heading = "Output", long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Write every figure with its unit as JSON to FILE; with -, to standard output instead of the table
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the figures as CSV, one row per block and mapping
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write the table as a Markdown page that explains the figures and their limits
    #[arg(help_heading = "Output", long, value_name = "FILE.md")]
    pub markdown: Option<PathBuf>,
}

/// A target of `selvedge area`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetName {
    /// Standard cells.
    Asic,
    /// An FPGA.
    Fpga(FpgaFamily),
}

impl TargetName {
    const ASIC: &str = "asic";

    /// Returns the name as given to `--target`.
    pub fn name(self) -> &'static str {
        match self {
            TargetName::Asic => Self::ASIC,
            TargetName::Fpga(family) => family.name(),
        }
    }

    fn parser() -> impl TypedValueParser<Value = Self> {
        let names = [Self::ASIC].into_iter().chain(FpgaFamily::VARIANTS.iter().copied());
        PossibleValuesParser::new(names).map(|name| name.parse().map_or(TargetName::Asic, TargetName::Fpga))
    }
}

/// Programs that model memories.
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
    /// Custom Verilog or SystemVerilog instead of the block's RTL: a module with the same ports
    #[arg(long, value_name = "BLOCK=FILE[,FILE...][:TOP][,latency=N]")]
    pub verilog: Option<Own>,
    /// Number of cycles of stimulus
    #[arg(help_heading = "Stimulus", long, value_name = "N", default_value_t = 1000)]
    pub cycles: u64,
    /// Seed of the stimulus
    #[arg(help_heading = "Stimulus", long, default_value_t = 1)]
    pub seed: u64,
    /// Frequency of the block's clock for times in the waveform, MHz
    #[arg(help_heading = "Stimulus", long, value_name = "N", default_value_t = 1400, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub mhz: u32,
    /// Also record the registers inside the block
    #[arg(help_heading = "Output", long)]
    pub inside: bool,
    /// Waveform to write: FST if the name ends in .fst, else VCD
    ///
    /// A GTKWave save file, the names of values and the testbench are written next to it.
    #[arg(help_heading = "Output", short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Options of `selvedge verify`.
#[derive(Args)]
pub struct VerifyOptions {
    /// Block (see `selvedge list blocks`)
    #[arg(required_unless_present = "all")]
    pub block: Option<String>,
    /// Verify every block with its default parameters
    #[arg(long, conflicts_with_all = ["block", "params", "verilog", "output"])]
    pub all: bool,
    /// Elaboration parameter, name=value; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// Custom Verilog or SystemVerilog that is compared too: a module with the block's ports, named TOP or like the block
    #[arg(long, value_name = "FILE[,FILE...][:TOP]")]
    pub verilog: Option<String>,
    /// Number of operations [default: until each corner case of the block is reached]
    #[arg(help_heading = "Stimulus", long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub operations: Option<u64>,
    /// Seed of the stimulus and of the planted faults
    #[arg(help_heading = "Stimulus", long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// TOML file with values, ranges or percentages of inputs; the other inputs have the values of the block's stimulus
    #[arg(help_heading = "Stimulus", long, value_name = "FILE.toml", conflicts_with = "all")]
    pub stimulus: Option<PathBuf>,
    /// Plant N faults in the custom or emitted Verilog, one at a time, and report which of them the stimulus finds
    #[arg(help_heading = "Stimulus", long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub mutate: Option<u32>,
    /// Waveform of the first difference: FST if the name ends in .fst, else VCD [default: verify-BLOCK.vcd]
    #[arg(help_heading = "Output", short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write results and coverage as JSON to FILE; with -, to standard output instead of the tables
    #[arg(help_heading = "Output", long, alias = "coverage", value_name = "FILE")]
    pub json: Option<String>,
}

/// Options of `selvedge config`.
#[derive(Args)]
pub struct ConfigOptions {
    /// Action of `selvedge config`
    #[command(subcommand)]
    pub action: ConfigAction,
}

/// Actions of `selvedge config`.
#[derive(Subcommand)]
pub enum ConfigAction {
    /// Print a configuration with every value, as a TOML file
    Show {
        /// Built-in configuration (see `selvedge list configurations`) or TOML file
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the meaning, default and allowed values of a key, or of all keys
    Explain {
        /// Key with its section, such as l1d.mshr_entries
        key: Option<String>,
        /// Print all keys as a Markdown table
        #[arg(long, conflicts_with = "key")]
        markdown: bool,
    },
    /// Report all errors in a TOML file, one per line
    Check {
        /// TOML file or built-in configuration
        file: String,
    },
    /// Translate a GPGPU-Sim configuration, and list unsupported options on standard error
    Import {
        /// Configuration files of GPGPU-Sim, such as gpgpusim.config; options of later files, such as trace.config, take precedence
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Configuration file of the interconnect
        #[arg(long, value_name = "FILE")]
        icnt: Option<PathBuf>,
        /// TOML file to write; - for standard output
        #[arg(short, long, value_name = "FILE", default_value = "-")]
        output: String,
    },
}

/// Options of `selvedge fidelity`.
#[derive(Args)]
pub struct FidelityOptions {
    /// Built-in configuration (see `selvedge list configurations`) or TOML file [default: all built-in configurations]
    #[arg(long)]
    pub config: Option<String>,
    /// Markdown page to write; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: String,
}

/// Options of `selvedge calibrate`.
#[derive(Args)]
pub struct CalibrateOptions {
    /// Action of `selvedge calibrate`
    #[command(subcommand)]
    pub action: CalibrateAction,
}

/// Actions of `selvedge calibrate`.
#[derive(Subcommand)]
pub enum CalibrateAction {
    /// Print the CUDA program with the microbenchmarks, which writes its results as JSON
    Source {
        /// CUDA file to write; - for standard output
        #[arg(short, long, value_name = "FILE.cu", default_value = "-")]
        output: String,
    },
    /// Write a configuration with the values that follow from measurements
    Fit(FitOptions),
    /// Print measured and simulated cycles of each microbenchmark, the mean error and the correlation
    Compare(CorrelateOptions),
}

/// Options of `selvedge calibrate fit`.
#[derive(Args)]
pub struct FitOptions {
    /// Results of the microbenchmarks on a real GPU
    #[arg(long, value_name = "FILE.json")]
    pub json: PathBuf,
    /// Built-in configuration with the values that no microbenchmark measures [default: the oldest GPU with the measured
    /// compute capability]
    #[arg(long, value_name = "NAME")]
    pub base: Option<String>,
    /// Name of the configuration [default: the name of the JSON file]
    #[arg(long)]
    pub name: Option<String>,
    /// TOML file to write; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: String,
}

/// Options of `selvedge calibrate compare`.
#[derive(Args)]
pub struct CorrelateOptions {
    /// Results of the microbenchmarks on a real GPU
    #[arg(long, value_name = "FILE.json")]
    pub json: PathBuf,
    /// Results of the microbenchmarks under `selvedge cuda`, instead of a simulation
    #[arg(long, value_name = "FILE.json")]
    pub simulated: Option<PathBuf>,
    /// Built-in configuration (see `selvedge list configurations`) or TOML file; auto picks the oldest GPU that executes the
    /// program's PTX
    #[arg(long, default_value = AUTO_CONFIG)]
    pub config: String,
    /// Write measured over simulated cycles as a scatter plot
    #[arg(help_heading = "Output", long, value_name = "FILE.svg", value_parser = chart_file)]
    pub plot: Option<PathBuf>,
    /// Write the table as CSV to FILE; with -, to standard output instead of the table
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Compiled microbenchmarks to simulate, after --
    #[cfg(target_os = "linux")]
    #[arg(
        last = true,
        value_name = "PROGRAM",
        required_unless_present = "simulated",
        conflicts_with = "simulated"
    )]
    pub program: Option<OsString>,
}

/// Options of `selvedge list`.
#[derive(Args)]
pub struct ListOptions {
    /// Kind of entries to list [default: the names of all entries]
    #[command(subcommand)]
    pub what: Option<List>,
}

/// Lists of `selvedge list`.
#[derive(Subcommand)]
pub enum List {
    /// Print the built-in workloads: kernels with their host programs
    Workloads(ListWorkloads),
    /// Print the available mechanisms
    Mechanisms(ListOne),
    /// Print the built-in configurations of the GPU
    #[command(visible_alias = "configs")]
    Configurations(ListOne),
    /// Print the hardware blocks
    Blocks(ListBlocks),
}

/// Options of `selvedge list` for one kind of entry.
#[derive(Args)]
pub struct ListOne {
    /// Name of an entry to print in full [default: list all entries]
    pub name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `selvedge list blocks`.
#[derive(Args)]
pub struct ListBlocks {
    /// Name of the block, and output as JSON.
    #[command(flatten)]
    pub of: ListOne,
    /// Print the block's documentation page: the paper's description, its open questions, parameters, ports, timing and
    /// corner cases
    #[arg(long, requires = "name", conflicts_with = "json")]
    pub markdown: bool,
}

/// Options of `selvedge list workloads`.
#[derive(Args)]
pub struct ListWorkloads {
    /// Name of a workload to print in full [default: list all workloads]
    #[arg(conflicts_with_all = ["paper", "group", "size"])]
    pub name: Option<String>,
    /// List only workloads that this paper or dissertation chapter evaluates
    #[arg(long, value_name = "PAPER", value_parser = name_of::<Paper>())]
    pub paper: Option<Paper>,
    /// List only workloads of this group
    #[arg(long, value_name = "GROUP", value_parser = name_of::<Group>())]
    pub group: Option<Group>,
    /// Show the input and the instruction counts of this size
    #[arg(long, value_name = "SIZE", value_parser = name_of::<Size>())]
    pub size: Option<Size>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `selvedge bench`.
#[derive(Args)]
#[command(group = ArgGroup::new("comparison").args(["estimates", "peers"]))]
pub struct BenchOptions {
    /// Run only the cases whose names begin with NAME [default: all cases]
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub case: Vec<String>,
    /// Number of repetitions of each run
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Other selvedge binary to compare with; the runs of the two binaries alternate
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Also count instructions with valgrind's callgrind; this takes about 50 times the time of a run
    #[arg(long)]
    pub instructions: bool,
    /// Instead of the cases, run these workloads in full and by `run --intervals`, and compare cycles, speedups and time
    #[arg(help_heading = "Estimates", long, value_name = "WORKLOAD", num_args = 1.., conflicts_with_all = ["case", "against", "instructions", "repeat", "json"])]
    pub estimates: Vec<String>,
    /// Mechanisms of --estimates; the speedups are over the first
    #[arg(
        help_heading = "Estimates",
        long,
        value_name = "NAME[,OPTION=VALUE...],NAME...",
        requires = "estimates",
        default_value = "base,latte-cc,mdb-local,hw-bdi,bgp"
    )]
    pub mechanisms: String,
    /// Size of the workloads of --estimates [default: study] or --peers [default: tiny]
    #[arg(long, requires = "comparison", value_parser = name_of::<Size>())]
    pub size: Option<Size>,
    /// Max intervals between beginning and end of a launch, as of `run --intervals`
    #[arg(help_heading = "Estimates", long, value_name = "N", requires = "estimates", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..))]
    pub intervals: u32,
    /// Instead of the cases, replay the workloads in a built Accel-Sim and in Selvedge, and compare results, time and memory
    ///
    /// DIR is the folder of Accel-Sim or its gpu-simulator. The runs of the two simulators alternate. Both replay the same
    /// traces on the same configuration.
    #[arg(help_heading = "Peers", long, value_name = "DIR", conflicts_with_all = ["case", "against", "instructions"])]
    pub peers: Option<PathBuf>,
    /// Workloads, records or traces of --peers [default: eight workloads]
    ///
    /// A record is NAME.strace, a trace is kernelslist.g.
    #[arg(help_heading = "Peers", value_name = "WORKLOAD", requires = "peers")]
    pub workloads: Vec<String>,
    /// Configuration of --peers, a folder of Accel-Sim's tested-cfgs
    #[arg(
        help_heading = "Peers",
        long,
        value_name = "NAME",
        requires = "peers",
        default_value = "SM7_TITANV"
    )]
    pub peer_gpu: String,
    /// Write every figure as JSON to FILE; with -, to standard output instead of the table
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

/// Options of `selvedge stats`.
#[derive(Args)]
pub struct StatsOptions {
    /// Command of `selvedge stats`
    #[command(subcommand)]
    pub command: StatsCommand,
}

/// Commands of `selvedge stats`.
#[derive(Subcommand)]
pub enum StatsCommand {
    /// Print all statistics, mechanism counters, and columns of JSON, CSV and Parquet with their meanings
    List {
        /// Print the statistics and counters as Markdown tables
        #[arg(long)]
        markdown: bool,
    },
    /// Print the meaning of one statistic, counter or column
    Explain {
        /// Statistic, counter or column, such as bw_util, bypassed_loads or totals.l1d.misses
        key: String,
    },
}
