//! The key of a point: a hash of all that decides its result.
use crate::overrides::Override;
use crate::parameters::Parameters;
use crate::sources::Loaded;
use selvedge_sim::config::GpuConfig;
use selvedge_sim::mechanism::{self, MechanismSpec};
use selvedge_sim::run::Source;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fmt::{self, Display, Write};
use std::sync::OnceLock;

/// A hash of the sources that decide results: those of the crates with the machine, the workloads and the mechanisms.
pub const FINGERPRINT: &str = env!("SELVEDGE_FINGERPRINT");

/// The commit of those sources; `-changed` is behind it where they differ, and it is `unknown` without git.
pub const COMMIT: &str = env!("SELVEDGE_COMMIT");

/// A hash of all that decides the result of a point: simulator, workload with its files, configuration, mechanism, engine
/// and limits. Names that a study gives and places of files are not part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

impl Key {
    /// The key as 64 hexadecimal digits.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What decides the result of a point.
pub(crate) struct Decides<'a> {
    pub parameters: &'a Parameters,
    pub workloads: &'a [Loaded],
    pub config: Result<&'a GpuConfig, (&'a GpuConfig, &'a [Override])>,
    pub mechanism: &'a MechanismSpec,
}

/// The form in which it is hashed.
#[derive(Serialize)]
struct Canonical<'a> {
    fingerprint: &'static str,
    /// The program, where mechanisms run that are not of these sources.
    program: Option<&'a str>,
    workloads: Vec<Program<'a>>,
    config: &'a GpuConfig,
    /// What a configuration that does not suit sets.
    refused: &'a [Override],
    mechanism: String,
    engine: &'a str,
    share: Option<&'a str>,
    cycles_together: Option<u64>,
    alone: bool,
    max_cycles: Option<u64>,
    max_instructions: Option<u64>,
}

#[derive(Serialize)]
struct Program<'a> {
    kind: &'static str,
    name: &'a str,
    size: &'a str,
    inputs: &'a [String],
}

impl Decides<'_> {
    /// Returns the key.
    pub fn key(&self) -> Key {
        let p = self.parameters;
        let (config, refused) = match self.config {
            Ok(config) => (config, &[][..]),
            Err(refused) => refused,
        };
        let canonical = Canonical {
            fingerprint: FINGERPRINT,
            program: is_extended(self.mechanism).then(program),
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
        };
        let text =
            serde_json::to_string(&canonical).unwrap_or_else(|e| unreachable!("it has a JSON form: {e}"));
        Key(hash(text.as_bytes()))
    }
}

/// Returns a name for the work that a point does, whatever runs it: runs of the same work take similar times.
pub(crate) fn work_name(workloads: &[Loaded], p: &Parameters) -> String {
    let all: Vec<_> = workloads.iter().map(|one| identity(one, &p.size)).collect();
    let limits = (p.cycles_together, p.alone, p.max_cycles, p.max_instructions);
    hash(serde_json::to_string(&(all, limits)).unwrap_or_default().as_bytes())
}

/// Files are known by their contents alone, and only built-in workloads come in sizes.
fn identity<'a>(one: &'a Loaded, size: &'a str) -> Program<'a> {
    let (kind, name, size) = match &one.source {
        Source::BuiltIn(workload) => ("built-in", workload.name(), size),
        Source::File(_) => ("launch file", "", ""),
        Source::Trace(_) => ("trace", "", ""),
        Source::Recorded(_) => ("recorded program", "", ""),
        // A study reads its workloads from files, never from a program that runs.
        Source::Live(_) => ("program", "", ""),
    };
    Program { kind, name, size, inputs: &one.inputs }
}

/// The mechanism with the values of all its options.
fn settled(mechanism: &MechanismSpec) -> String {
    let mut text = String::new();
    for part in &mechanism.parts {
        write!(text, "+{}", part.info.name).expect("a string takes it");
        for (option, value) in &part.options {
            write!(text, ",{option}={value}").expect("a string takes it");
        }
    }
    text
}

/// Returns whether one of the mechanisms is another crate's.
fn is_extended(mechanism: &MechanismSpec) -> bool {
    let is_added = |name: &str| mechanism::ALL.iter().all(|info| info.name != name);
    mechanism.parts.iter().any(|part| is_added(part.info.name))
}

/// A hash of the program that runs.
fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let bytes = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
        hash(&bytes)
    })
}

/// Returns the hash of `bytes` as hexadecimal digits.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let mut hash = sha256();
    hash.add(bytes);
    hash.hex()
}

/// Returns a hash of nothing yet.
pub(crate) fn sha256() -> Hash {
    Hash(Sha256::new())
}

/// A hash that is being made.
pub(crate) struct Hash(Sha256);

impl Hash {
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
