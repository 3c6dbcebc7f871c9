//! Compares Selvedge with an installed Accel-Sim: both replay the same traces on the same configuration.
use super::cases::WORKLOADS;
use super::child::{REPORT, Sample, Simulated, measure, resources};
use super::figures::geometric_mean;
use crate::arguments::BenchOptions;
use crate::error::Failure;
use crate::output::say;
use schemars::JsonSchema;
use selvedge_area::Table;
use selvedge_sim::workload::Size;
use serde::Serialize;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Accel-Sim's front end, within its folder.
const PROGRAM: &str = "bin/release/accel-sim.out";
/// Folder of GPGPU-Sim's configurations, within that of Accel-Sim.
const GPU_CONFIGS: &str = "gpgpu-sim/configs/tested-cfgs";
/// Folder of the configurations of Accel-Sim's front end.
const TRACE_CONFIGS: &str = "configs/tested-cfgs";
/// Option that a configuration needs for the opcodes of exported traces: the unit of branches since Volta.
const BRANCH_UNIT: &str = "-specialized_unit_1";
/// Selvedge's translation of the configuration, in the folder of the runs.
const TRANSLATED: &str = "peer.toml";
/// Standard output of the peer, in the folder of the runs.
const LOG: &str = "peer.txt";
/// Standard error of the peer, in the folder of the runs.
const ERRORS: &str = "peer-errors.txt";

/// Contents of `--json` with `--peers`.
#[derive(JsonSchema, Serialize)]
pub struct PeersReport {
    /// Program of the peer.
    peer: PathBuf,
    /// Name of the configuration.
    gpu: String,
    /// Number of runs of each workload in each simulator; the fastest one counts.
    repeat: u32,
    /// The workloads.
    workloads: Vec<ComparedWorkload>,
}

/// A workload in both simulators.
#[derive(JsonSchema, Serialize)]
struct ComparedWorkload {
    /// Name of the workload, or of its trace.
    workload: String,
    /// Run of the peer.
    peer: SimulatorRun,
    /// Run of Selvedge.
    selvedge: SimulatorRun,
    /// Cycles of Selvedge over cycles of the peer.
    cycle_ratio: f64,
    /// CPU time of the peer over that of Selvedge.
    times_faster: f64,
}

/// Results and resources of the fastest run.
#[derive(Clone, Copy, JsonSchema, Serialize)]
struct SimulatorRun {
    /// Simulated core cycles.
    cycles: u64,
    /// Simulated thread instructions.
    thread_instructions: u64,
    /// Thread instructions per cycle.
    ipc: f64,
    /// Processor time in user mode, seconds.
    user_s: f64,
    /// Wall-clock time, seconds.
    wall_s: f64,
    /// Max memory in use, bytes.
    resident_bytes: u64,
    /// Simulated cycles per second of processor time.
    cycles_per_s: f64,
    /// Simulated thread instructions per second of processor time.
    instructions_per_s: f64,
}

impl SimulatorRun {
    /// Returns the run of the least processor time.
    fn fastest(samples: &[Sample]) -> Self {
        let least = samples.iter().min_by(|a, b| a.user_s.total_cmp(&b.user_s)).copied().unwrap_or_default();
        let (cycles, thread_instructions) = (least.report.cycles, least.report.thread_instructions);
        // The clock of processor time may be too coarse for a short run.
        let user_s = least.user_s.max(1e-6);
        SimulatorRun {
            cycles,
            thread_instructions,
            ipc: thread_instructions as f64 / cycles.max(1) as f64,
            user_s,
            wall_s: least.wall_s,
            resident_bytes: least.resident_bytes,
            cycles_per_s: cycles as f64 / user_s,
            instructions_per_s: thread_instructions as f64 / user_s,
        }
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.cycles.to_string(),
            self.thread_instructions.to_string(),
            format!("{:.2}", self.ipc),
            format!("{:.2}", self.user_s),
            format!("{:.2}", self.wall_s),
            format!("{:.2}", self.cycles_per_s / 1e3),
            format!("{:.3}", self.instructions_per_s / 1e6),
            format!("{:.1}", self.resident_bytes as f64 / 1e6),
        ]
    }
}

impl ComparedWorkload {
    fn new(workload: &str, peer: &[Sample], selvedge: &[Sample]) -> Self {
        let (peer, selvedge) = (SimulatorRun::fastest(peer), SimulatorRun::fastest(selvedge));
        ComparedWorkload {
            workload: workload.to_owned(),
            peer,
            selvedge,
            cycle_ratio: selvedge.cycles as f64 / peer.cycles.max(1) as f64,
            times_faster: peer.user_s / selvedge.user_s,
        }
    }
}

impl PeersReport {
    /// Returns the table: a row for each simulator under each workload.
    pub fn table(&self) -> Table {
        let mut table = Table::new(&[
            "workload",
            "simulator",
            "cycles",
            "thread instr",
            "IPC",
            "CPU s",
            "wall s",
            "k cycles/s",
            "M instr/s",
            "MB",
            "cycle ratio",
            "times faster",
        ])
        .dispensable(&["wall s", "IPC"]);
        for of in &self.workloads {
            let row = |name: &str, simulator: &str, run: &SimulatorRun, last: [String; 2]| {
                [vec![name.to_owned(), simulator.to_owned()], run.cells(), last.to_vec()].concat()
            };
            table.row(row(&of.workload, "Accel-Sim", &of.peer, Default::default()));
            let ratios = [format!("{:.3}", of.cycle_ratio), format!("{:.1}", of.times_faster)];
            table.row(row("", "Selvedge", &of.selvedge, ratios));
        }
        table
    }

    /// Returns the geometric means of both ratios with their ranges.
    pub fn summary(&self) -> String {
        let spread = |value: fn(&ComparedWorkload) -> f64| {
            let values = || self.workloads.iter().map(value);
            let least = values().fold(f64::INFINITY, f64::min);
            (geometric_mean(values()), least, values().fold(0.0, f64::max))
        };
        let (ratio, low, high) = spread(|of| of.cycle_ratio);
        let (faster, slowest, fastest) = spread(|of| of.times_faster);
        format!(
            "{}, fastest of {} runs; geometric mean of {} workloads (least to most)\n\
             cycles of Selvedge over Accel-Sim: {ratio:.3} ({low:.3} to {high:.3})\n\
             CPU time of Accel-Sim over Selvedge: {faster:.1} ({slowest:.1} to {fastest:.1})\n",
            self.gpu,
            self.repeat,
            self.workloads.len()
        )
    }
}

/// An installed Accel-Sim with one of its configurations.
struct Peer {
    program: PathBuf,
    /// Value of `LD_LIBRARY_PATH` for the program.
    libraries: OsString,
    /// Files of the configuration.
    files: Vec<PathBuf>,
}

impl Peer {
    /// Finds the program and the configuration named `gpu` in `folder`.
    fn find(folder: &Path, gpu: &str) -> Result<Self, Failure> {
        let below = folder.join("gpu-simulator");
        let root = if below.is_dir() { below } else { folder.to_owned() };
        let missing = |what: &str| Failure::usage(format!("--peers {}: {what}", folder.display()));
        if !root.is_dir() {
            return Err(missing("must be an existing folder"));
        }
        let root = std::path::absolute(root).map_err(|e| missing(&e.to_string()))?;
        let program = root.join(PROGRAM);
        if !program.is_file() {
            return Err(missing(&format!(
                "{PROGRAM} is absent: must be a built Accel-Sim, because GPGPU-Sim alone replays no traces"
            )));
        }
        let known = configurations(&root);
        if !known.iter().any(|name| name == gpu) {
            let known = if known.is_empty() { "none found".to_owned() } else { known.join(", ") };
            return Err(Failure::usage(format!(
                "--peer-gpu {gpu}: must be a configuration for Volta or later in {GPU_CONFIGS} and {TRACE_CONFIGS}: {known}"
            )));
        }
        let mut files = entries(&root.join(GPU_CONFIGS).join(gpu));
        files.retain(|path| path.is_file());
        files.push(root.join(TRACE_CONFIGS).join(gpu).join("trace.config"));
        Ok(Peer { program, libraries: libraries(&root), files })
    }

    /// Copies the configuration to `folder`, in which the program then runs, and translates it.
    fn prepare(&self, this: &Path, folder: &Path) -> Result<(), Failure> {
        for file in &self.files {
            let name = file.file_name().unwrap_or_default();
            fs::copy(file, folder.join(name))
                .map_err(|e| Failure::usage(format!("{}: {e}", file.display())))?;
        }
        let mut words = vec!["config", "import", "gpgpusim.config", "trace.config", "--output", TRANSLATED];
        let network = self.files.iter().find(|path| path.extension().is_some_and(|end| end == "icnt"));
        let network = network.and_then(|path| path.file_name()?.to_str());
        words.extend(network.into_iter().flat_map(|name| ["--icnt", name]));
        run(this, &words, folder).map(drop)
    }

    /// Replays a list of kernels.
    fn replay(&self, list: &Path, folder: &Path) -> Result<Sample, Failure> {
        let file =
            |name: &str| File::create(folder.join(name)).map_err(|e| Failure::usage(format!("{name}: {e}")));
        let mut command = Command::new(&self.program);
        command
            .arg("-trace")
            .arg(list)
            .args(["-config", "gpgpusim.config", "-config", "trace.config"])
            .env("LD_LIBRARY_PATH", &self.libraries)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(file(LOG)?)
            .stderr(file(ERRORS)?);
        let (is_success, used) = resources(&mut command, &self.program)?;
        let read = |name: &str| {
            fs::read(folder.join(name))
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .unwrap_or_default()
        };
        let log = read(LOG);
        match totals(&log).filter(|_| is_success) {
            Some(report) => Ok(Sample { report, ..used }),
            None => Err(Failure::simulation(format!(
                "{} -trace {}: {}",
                self.program.display(),
                list.display(),
                reason(&read(ERRORS), &log)
            ))),
        }
    }
}

/// Returns the paths in a folder in the order of their names.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    all.sort();
    all
}

/// Returns the names of the configurations that both simulators have and that run the opcodes of exported traces.
fn configurations(root: &Path) -> Vec<String> {
    let is_usable = |name: &String| {
        let text = fs::read_to_string(root.join(TRACE_CONFIGS).join(name).join("trace.config"));
        text.is_ok_and(|text| text.lines().any(|line| line.starts_with(BRANCH_UNIT)))
            && root.join(GPU_CONFIGS).join(name).join("gpgpusim.config").is_file()
    };
    let names = entries(&root.join(TRACE_CONFIGS))
        .into_iter()
        .filter_map(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()));
    names.filter(is_usable).collect()
}

/// Returns the value of `LD_LIBRARY_PATH` with the folder of GPGPU-Sim's library first, if it is below `root`.
fn libraries(root: &Path) -> OsString {
    let given = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let compilers = entries(&root.join("gpgpu-sim/lib"));
    let folders = compilers.iter().flat_map(|compiler| entries(compiler));
    let found =
        folders.map(|folder| folder.join("release")).find(|folder| folder.join("libcudart.so").is_file());
    let Some(mut all) = found.map(PathBuf::into_os_string) else { return given };
    if !given.is_empty() {
        all.push(":");
        all.push(given);
    }
    all
}

/// Returns the totals of all kernels in the peer's log: the last of each.
fn totals(log: &str) -> Option<Simulated> {
    let last = |key: &str| {
        let value = |line: &str| line.strip_prefix(key)?.trim().strip_prefix('=')?.trim().parse().ok();
        log.lines().rev().find_map(value)
    };
    let (cycles, thread_instructions) = (last("gpu_tot_sim_cycle")?, last("gpu_tot_sim_insn")?);
    Some(Simulated { cycles, thread_instructions, ..Simulated::default() })
}

/// Returns the last line of the errors or of the log.
fn reason<'a>(errors: &'a str, log: &'a str) -> &'a str {
    let last = |text: &'a str| text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    last(errors).or_else(|| last(log)).unwrap_or("it printed no totals")
}

/// Runs Selvedge with these words.
fn run(this: &Path, words: &[&str], folder: &Path) -> Result<Sample, Failure> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    measure(this, &words, folder)
}

/// Returns the list of kernels of a workload. Records and exports other workloads than lists.
fn list_of(workload: &str, size: Size, this: &Path, folder: &Path) -> Result<PathBuf, Failure> {
    let path = Path::new(workload);
    // The runs have another current folder.
    let file = path.is_file().then(|| std::path::absolute(path).ok()).flatten();
    if let Some(list) = file.clone().filter(|_| workload.ends_with(".g")) {
        return Ok(list);
    }
    let name = file.map_or(workload.to_owned(), |path| path.to_string_lossy().into_owned());
    let record = if name.ends_with(".strace") { name } else { record(&name, size, this, folder)? };
    let target = folder.join("trace");
    run(this, &["trace", "export", &record, "--output", &target.to_string_lossy()], folder)?;
    Ok(target.join("kernelslist.g"))
}

/// Records a workload on the translated configuration, and returns the name of the record in `folder`.
fn record(workload: &str, size: Size, this: &Path, folder: &Path) -> Result<String, Failure> {
    let (name, size) = ("workload.strace", size.to_string());
    let words = ["trace", "record", workload, "--size", &size, "--config", TRANSLATED, "--engine", "model"];
    run(this, &[&words[..], &["--output", name]].concat(), folder)?;
    Ok(name.into())
}

/// Replays each workload in both simulators, one after the other, as often as the options say.
///
/// # Errors
/// Fails if the peer is absent, or if a run fails.
pub fn compare(
    options: &BenchOptions,
    peer: &Path,
    this: &Path,
    folder: &Path,
) -> Result<PeersReport, Failure> {
    let gpu = options.peer_gpu.clone();
    let peer = Peer::find(peer, &gpu)?;
    peer.prepare(this, folder)?;
    let names: Vec<&str> = if options.workloads.is_empty() {
        WORKLOADS.to_vec()
    } else {
        options.workloads.iter().map(String::as_str).collect()
    };
    let mut workloads = Vec::new();
    for workload in names {
        let list = list_of(workload, options.size.unwrap_or(Size::Tiny), this, folder)?;
        let (mut peers, mut own) = (Vec::new(), Vec::new());
        for turn in 1..=options.repeat {
            let sample = peer.replay(&list, folder)?;
            say(format!("{turn} of {}: {:.2} s: Accel-Sim {workload}\n", options.repeat, sample.user_s));
            peers.push(sample);
            let file = list.to_string_lossy();
            let sample = run(
                this,
                &["run", &file, "--config", TRANSLATED, "--engine", "model", "--json", REPORT],
                folder,
            )?;
            say(format!("{turn} of {}: {:.2} s: Selvedge {workload}\n", options.repeat, sample.user_s));
            own.push(sample);
        }
        workloads.push(ComparedWorkload::new(workload, &peers, &own));
    }
    Ok(PeersReport { peer: peer.program, gpu, repeat: options.repeat, workloads })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates the folder of an Accel-Sim whose program is a shell script, with configurations for Pascal and Volta.
    fn installed(script: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join("gpu-simulator").join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("created");
            fs::write(&path, text).expect("written");
        };
        for (gpu, units) in [("SM6_TITANX", ""), ("SM7_TITANV", "-specialized_unit_1 1,4,4,4,4,BRA\n")] {
            write(&format!("{GPU_CONFIGS}/{gpu}/gpgpusim.config"), "-gpgpu_n_clusters 40\n");
            write(&format!("{TRACE_CONFIGS}/{gpu}/trace.config"), units);
        }
        let program = folder.path().join("gpu-simulator").join(PROGRAM);
        fs::create_dir_all(program.parent().expect("a folder")).expect("created");
        // Another process writes the script, because a file that a fork of this one has open for writing cannot start.
        let make = "printf '#!/bin/sh\\n%s\\n' \"$0\" > \"$1\" && chmod +x \"$1\"";
        let made = Command::new("sh").args(["-c", make, script]).arg(program).status().expect("it starts");
        assert!(made.success());
        folder
    }

    /// Returns the result of a replay by a peer that is this script.
    fn replayed(script: &str) -> Result<Sample, String> {
        let (folder, runs) = (installed(script), tempfile::tempdir().expect("a folder"));
        let peer = Peer::find(folder.path(), "SM7_TITANV").map_err(|e| format!("{e:?}"))?;
        peer.replay(Path::new("/t/kernelslist.g"), runs.path()).map_err(|e| format!("{e:?}"))
    }

    #[test]
    fn the_totals_are_the_last_ones_of_the_log() {
        let log = "echo kernel_launch_uid = 1; echo gpu_sim_cycle = 20; echo gpu_tot_sim_cycle = 20; \
                   echo gpu_tot_sim_insn = 640; echo gpu_sim_cycle = 10; echo gpu_tot_sim_cycle = 30; \
                   echo gpu_tot_sim_insn = 960; echo gpu_tot_ipc = 32.0";
        let report = replayed(log).expect("it runs").report;
        assert_eq!((report.cycles, report.thread_instructions), (30, 960));
    }

    #[test]
    fn the_peer_gets_the_list_and_both_configurations() {
        let words = "test \"$*\" = '-trace /t/kernelslist.g -config gpgpusim.config -config trace.config' || exit 1; \
                     echo gpu_tot_sim_cycle = 1; echo gpu_tot_sim_insn = 2";
        assert!(replayed(words).is_ok());
    }

    #[test]
    fn a_peer_that_fails_or_prints_no_totals_is_one_line_with_its_last_words() {
        for (script, says) in [
            ("echo gpu_tot_sim_cycle = 1; echo gpu_tot_sim_insn = 2; echo deadlock; exit 1", "deadlock"),
            ("echo log; echo 'assertion failed' >&2; exit 134", "assertion failed"),
            ("echo 'unsupported binary version: 90'", "unsupported binary version: 90"),
            ("true", "it printed no totals"),
        ] {
            let failure = replayed(script).expect_err(script);
            assert!(failure.contains(&format!("accel-sim.out -trace /t/kernelslist.g: {says}")), "{failure}");
        }
    }

    #[test]
    fn a_folder_without_a_peer_or_configuration_is_refused() {
        let refused = |folder: &Path, gpu: &str| {
            format!("{:?}", Peer::find(folder, gpu).map(|_| ()).expect_err("it is wrong"))
        };
        let empty = tempfile::tempdir().expect("a folder");
        let gone = empty.path().join("gone");
        assert!(refused(&gone, "SM7_TITANV").contains("gone: must be an existing folder"));
        let says = "bin/release/accel-sim.out is absent: must be a built Accel-Sim, because GPGPU-Sim alone";
        assert!(refused(empty.path(), "SM7_TITANV").contains(says));
        let folder = installed("true");
        let says = "--peer-gpu SM6_TITANX: must be a configuration for Volta or later";
        let error = refused(folder.path(), "SM6_TITANX");
        assert!(error.contains(says) && error.contains(": SM7_TITANV"), "{error}");
    }

    #[test]
    fn the_fastest_run_of_each_simulator_counts() {
        let sample = |user_s: f64, cycles: u64| Sample {
            user_s,
            report: Simulated { cycles, thread_instructions: 3200, ..Simulated::default() },
            ..Sample::default()
        };
        let peer = [sample(9.0, 100), sample(8.0, 100), sample(10.0, 100)];
        let of = |name: &str, cycles| {
            ComparedWorkload::new(name, &peer, &[sample(0.4, cycles), sample(0.2, cycles)])
        };
        let report = PeersReport {
            peer: PathBuf::new(),
            gpu: "SM7_TITANV".into(),
            repeat: 3,
            workloads: vec![of("a", 50), of("b", 200)],
        };
        let table = report.table().render();
        let row = |line: usize| {
            let line = table.lines().nth(line).expect("a row");
            line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(
            row(1),
            ["a", "Accel-Sim", "100", "3200", "32.00", "8.00", "0.00", "0.01", "0.000", "0.0"]
        );
        assert_eq!(
            row(2),
            ["Selvedge", "50", "3200", "64.00", "0.20", "0.00", "0.25", "0.016", "0.0", "0.500", "40.0"]
        );
        let summary = report.summary();
        assert!(summary.contains("over Accel-Sim: 1.000 (0.500 to 2.000)\n"), "{summary}");
        assert!(summary.contains("over Selvedge: 40.0 (40.0 to 40.0)\n"), "{summary}");
    }
}
