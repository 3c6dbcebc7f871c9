//! The key of a point: a hash of everything that affects its result.
use crate::parameters::Parameters;
use crate::sources::LoadedWorkload;
use selvedge_sim::config::GpuConfig;
use selvedge_sim::mechanism::{self, MechanismSpec};
use selvedge_sim::overrides::Override;
use selvedge_sim::run::Source;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fmt::{self, Display, Write};
use std::sync::OnceLock;

/// Hash of the sources that affect results: the crates of the GPU, the workloads and the mechanisms.
pub const FINGERPRINT: &str = env!("SELVEDGE_FINGERPRINT");

/// Hash of the sources that emit and compile Verilog.
const VERILOG_FINGERPRINT: &str = env!("SELVEDGE_VERILOG_FINGERPRINT");

/// Commit of those sources, with the suffix `-changed` if they differ from it; `unknown` without git.
pub const COMMIT: &str = env!("SELVEDGE_COMMIT");

/// Hash of everything that affects the result of a point: simulator, Verilog compiler, workload with its files, configuration,
/// mechanism, engine, limits, intervals and their precision. Labels in a study and paths of files are not included.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

impl Key {
    /// Returns the key as 64 hexadecimal digits.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the key of the same point with Verilog that `compiler` compiles: the emitter and Verilator affect its result, too.
    pub(crate) fn compiled_by(&self, compiler: &str) -> Self {
        Key(hash(format!("{} {VERILOG_FINGERPRINT} {compiler}", self.0).as_bytes()))
    }
}

impl Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Inputs of a key.
pub(crate) struct Decides<'a> {
    pub parameters: &'a Parameters,
    pub workloads: &'a [LoadedWorkload],
    pub config: Result<&'a GpuConfig, (&'a GpuConfig, &'a [Override])>,
    pub mechanism: &'a MechanismSpec,
}

/// The hashed form of the inputs.
#[derive(Serialize)]
struct Canonical<'a> {
    simulator: &'a str,
    workloads: Vec<KeyedProgram<'a>>,
    config: &'a GpuConfig,
    /// Settings of an unsupported configuration.
    refused: &'a [Override],
    mechanism: String,
    engine: &'a str,
    share: Option<&'a str>,
    cycles_together: Option<u64>,
    alone: bool,
    max_cycles: Option<u64>,
    max_instructions: Option<u64>,
    intervals: Option<u64>,
    /// Omitted if not given, so that the keys of points without it do not depend on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_percent: Option<f64>,
}

#[derive(Serialize)]
struct KeyedProgram<'a> {
    kind: &'static str,
    name: &'a str,
    size: &'a str,
    /// Model of the values in memory. Its file, if any, is among the inputs.
    values: Option<&'a str>,
    inputs: &'a [String],
}

impl Decides<'_> {
    pub fn key(&self) -> Key {
        let p = self.parameters;
        let (config, refused) = match self.config {
            Ok(config) => (config, &[][..]),
            Err(refused) => refused,
        };
        let canonical = Canonical {
            simulator: simulator(),
            workloads: self.workloads.iter().map(|one| identity(one, &p.size)).collect(),
            config,
            refused,
            mechanism: settled(self.mechanism),
            engine: &p.engine,
            share: p.share.as_deref(),
            cycles_together: p.cycles_together,
            alone: p.alone,
            max_cycles: p.max_cycles,
            max_instructions: p.max_instructions,
            intervals: p.intervals,
            error_percent: p.error_percent,
        };
        let text =
            serde_json::to_string(&canonical).unwrap_or_else(|e| unreachable!("it has a JSON form: {e}"));
        Key(hash(text.as_bytes()))
    }
}

/// Returns a hash of the workloads, size, limits, intervals and precision of a point. Points with the same name take similar times.
pub(crate) fn work_name(workloads: &[LoadedWorkload], p: &Parameters) -> String {
    let all: Vec<_> = workloads.iter().map(|one| identity(one, &p.size)).collect();
    let limits = (p.cycles_together, p.alone, p.max_cycles, p.max_instructions, p.intervals);
    let precision = p.error_percent.map(|percent| percent.to_string()).unwrap_or_default();
    hash((serde_json::to_string(&(all, limits)).unwrap_or_default() + &precision).as_bytes())
}

/// Returns the identity of a workload. The contents of files identify them; only built-in workloads have a size.
fn identity<'a>(one: &'a LoadedWorkload, size: &'a str) -> KeyedProgram<'a> {
    let (kind, name, size) = match &one.source {
        Source::BuiltIn(workload) => ("built-in", workload.name(), size),
        Source::File(_) => ("launch file", "", ""),
        Source::Trace(_) => ("trace", "", ""),
        Source::Recorded(_) => ("recorded program", "", ""),
        // A study never has a running program: its workloads come from files.
        Source::Live(_) => ("program", "", ""),
    };
    // The path of a file identifies nothing; its contents are among the inputs.
    let values = one.source.values().map(|values| values.file().map_or(values.name.as_str(), |_| "file"));
    KeyedProgram { kind, name, size, values, inputs: &one.inputs }
}

/// Returns the mechanism with the values of all its options.
fn settled(mechanism: &MechanismSpec) -> String {
    let mut text = String::new();
    for part in &mechanism.parts {
        write!(text, "+{}", part.info.name).expect("a string takes it");
        for (option, value) in part.options() {
            write!(text, ",{}={value}", option.name).expect("a string takes it");
        }
    }
    text
}

/// Returns the identity of the simulator: the fingerprint of its sources. If other crates have added blocks or mechanisms, the
/// identity includes a hash of the program, because their sources affect results.
pub(crate) fn simulator() -> &'static str {
    static SIMULATOR: OnceLock<String> = OnceLock::new();
    SIMULATOR.get_or_init(|| {
        if is_extended() { format!("{FINGERPRINT} {}", program()) } else { FINGERPRINT.into() }
    })
}

/// Returns whether other crates have added a block or a mechanism.
fn is_extended() -> bool {
    mechanism::all().len() > mechanism::built_in().len()
        || selvedge_blocks::all().len() > selvedge_blocks::built_in().len()
}

/// Returns a hash of the running program. If it cannot be read, the result is unique to this process.
fn program() -> String {
    // `/proc/self/exe` is preferred: after an update, the path of the program leads to another build.
    let running =
        std::fs::read("/proc/self/exe").or_else(|_| std::env::current_exe().and_then(std::fs::read));
    match running {
        Ok(bytes) => hash(&bytes),
        Err(_) => format!("unknown {} {:?}", std::process::id(), std::time::SystemTime::now()),
    }
}

/// Returns the hash of `bytes` as hexadecimal digits.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let mut hash = sha256();
    hash.add(bytes);
    hash.hex()
}

/// Returns a hash of no bytes.
pub(crate) fn sha256() -> KeyHash {
    KeyHash(Sha256::new())
}

/// A hash of the bytes added so far.
pub(crate) struct KeyHash(Sha256);

impl KeyHash {
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn hex(self) -> String {
        self.0.finalize().iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a string takes it");
            text
        })
    }
}
