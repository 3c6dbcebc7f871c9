//! Checkpoints: files with the state of a run, from which the same command resumes.
//!
//! A file has a header that identifies the run, the state, and a checksum. It replaces the previous one atomically. A process
//! that is killed leaves the last complete checkpoint.
//!
//! The state of a host program is not part of a checkpoint. Instead, the checkpoint has the data that the host has read from
//! device memory. On resume, the host program runs again through its launches with that data. Host programs need no support for
//! checkpoints.
use crate::plain_file;
use rustc_hash::FxHasher;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::gpu::Gpu;
use selvedge_gpu::mechanism::probe::ProbeSpec;
use selvedge_hw::Engine;
use selvedge_ptx::memory::{DeviceMemory, HostRead};
use selvedge_state::{Reader, State, StateError, Writer};
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// First bytes of each checkpoint.
const MAGIC: &[u8; 20] = b"selvedge checkpoint\n";

/// Version of the file format.
const FORMAT_VERSION: u32 = 1;

/// Max size of a checkpoint in bytes.
const MOST_BYTES: u64 = 1 << 40;

/// Options of a run for checkpoints.
#[derive(Clone, Debug, Default)]
pub struct Checkpoints {
    /// File to write checkpoints to.
    pub file: Option<PathBuf>,
    /// Core cycles between checkpoints.
    pub every: u64,
    /// Checkpoint to resume from.
    pub resume: Option<PathBuf>,
}

impl Checkpoints {
    /// Returns the identity of the run. Computes it only if the run writes or reads checkpoints.
    pub(crate) fn identity(&self, of_run: impl FnOnce() -> RunIdentity) -> RunIdentity {
        if self.file.is_none() && self.resume.is_none() {
            return RunIdentity::default();
        }
        of_run()
    }

    /// Checks that a checkpoint can hold the state of the run.
    ///
    /// # Errors
    /// [`CheckpointError::Verilog`].
    pub(crate) fn check(&self, probes: &ProbeSpec, engine: Engine) -> Result<(), CheckpointError> {
        let option = match self {
            Checkpoints { file: Some(_), .. } => "--checkpoint",
            Checkpoints { resume: Some(_), .. } => "--resume",
            _ => return Ok(()),
        };
        if probes.runs_verilog(engine) { Err(CheckpointError::Verilog { option }) } else { Ok(()) }
    }
}

/// Reasons for which a checkpoint is refused, or cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file cannot be read or written.
    #[error("{}: the checkpoint cannot be {what}: {error}", file.display())]
    File {
        /// Path of the file.
        file: PathBuf,
        /// Either `read` or `written`.
        what: &'static str,
        /// Reason from the operating system.
        error: io::Error,
    },
    /// The file is not a checkpoint.
    #[error("{}: must be a checkpoint, as --checkpoint writes it", file.display())]
    NotOne {
        /// Path of the file.
        file: PathBuf,
    },
    /// The file is truncated or modified.
    #[error("{}: the checkpoint is damaged: its checksum must be that of its {bytes} bytes", file.display())]
    Damaged {
        /// Path of the file.
        file: PathBuf,
        /// Size of the file in bytes.
        bytes: usize,
    },
    /// The checkpoint belongs to another run.
    #[error("{}: the checkpoint's {what} is {found}: must be {expected}, as in this command", file.display())]
    Other {
        /// Path of the file.
        file: PathBuf,
        /// Property of the run that differs.
        what: String,
        /// Value in the checkpoint.
        found: String,
        /// Value in the command.
        expected: String,
    },
    /// The run uses compiled Verilog.
    #[error(
        "{option}: must be given without compiled Verilog, whose state no checkpoint holds: use the engine rtl"
    )]
    Verilog {
        /// Option that needs a run without compiled Verilog.
        option: &'static str,
    },
    /// The state in the checkpoint does not match the run.
    #[error("{}: the checkpoint's state: {error}", file.display())]
    State {
        /// Path of the file.
        file: PathBuf,
        /// Difference between the states.
        error: StateError,
    },
}

/// Properties that identify a run. A run resumes only from a checkpoint with equal properties.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunIdentity(Vec<(String, String)>);

impl RunIdentity {
    /// Creates an identity with the version and build of this program.
    pub fn new() -> Self {
        let mut identity = RunIdentity::default();
        identity.add("program", format!("{} (build {:016x})", env!("CARGO_PKG_VERSION"), build()));
        identity
    }

    /// Adds a property that must be equal.
    pub fn add(&mut self, what: &str, value: impl ToString) {
        self.0.push((what.into(), value.to_string()));
    }

    /// Adds a configuration, mechanism and engine.
    pub(crate) fn add_machine(&mut self, config: &GpuConfig, mechanism: &str, engine: Engine, checks: bool) {
        let values = serde_json::to_vec(config).unwrap_or_default();
        self.add("configuration", format!("{} (hash {:016x})", config.name, hash(&values)));
        self.add("mechanism", mechanism);
        self.add("engine", engine);
        self.add("--check", checks);
    }

    /// Adds the contents of the files that a program reads.
    pub(crate) fn add_inputs(&mut self, files: &[PathBuf]) {
        for file in files {
            let contents = plain_file::read(file, u64::MAX - 1).map_or(0, |bytes| hash(&bytes));
            self.add("input", format!("{} (hash {contents:016x})", file.display()));
        }
    }

    /// Returns the first property that differs in `found`, its value there and the expected value.
    fn difference(&self, found: &RunIdentity) -> Option<(String, String, String)> {
        let none = || ("input".to_owned(), "none".to_owned());
        (0..self.0.len().max(found.0.len())).find_map(|at| {
            let (what, expected) = self.0.get(at).cloned().unwrap_or_else(none);
            let (_, found) = found.0.get(at).cloned().unwrap_or_else(none);
            (expected != found).then_some((what, found, expected))
        })
    }
}

/// Returns a hash of this program. Another build may have another state format, or simulate differently.
fn build() -> u64 {
    static BUILD: OnceLock<u64> = OnceLock::new();
    *BUILD.get_or_init(|| {
        // `/proc/self/exe` is preferred: after an update, the path of the program leads to another build.
        let program = fs::read("/proc/self/exe").or_else(|_| std::env::current_exe().and_then(fs::read));
        program.map_or(0, |bytes| hash(&bytes))
    })
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// Destination and schedule of a run's checkpoints.
pub(crate) struct CheckpointSchedule {
    file: PathBuf,
    every: u64,
    /// Core cycle at which the next checkpoint is due.
    pub next: u64,
    identity: RunIdentity,
}

impl CheckpointSchedule {
    /// Creates the schedule for a run that starts at `cycle`. Returns `None` if the options name no file.
    pub fn new(checkpoints: &Checkpoints, identity: &RunIdentity, cycle: u64) -> Option<Self> {
        let file = checkpoints.file.clone()?;
        let every = checkpoints.every.max(1);
        Some(CheckpointSchedule {
            file,
            every,
            next: (cycle / every + 1) * every,
            identity: identity.clone(),
        })
    }

    /// Writes a checkpoint with the state from `save`. After a failure it warns; the run continues, and tries again when the next
    /// one is due.
    pub fn write(&mut self, gpu: &Gpu, save: impl FnOnce(&mut Writer)) {
        let cycle = gpu.cycle();
        if let Err(error) = self.put(cycle, save) {
            gpu.warn(&format!("no checkpoint at cycle {cycle}: {error}"));
        }
    }

    fn put(&mut self, cycle: u64, save: impl FnOnce(&mut Writer)) -> Result<(), CheckpointError> {
        self.next = (cycle / self.every + 1) * self.every;
        let mut to = Writer::default();
        to.put(MAGIC);
        FORMAT_VERSION.save(&mut to);
        self.identity.0.save(&mut to);
        save(&mut to);
        let mut bytes = to.into_bytes();
        let checksum = hash(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        replace(&self.file, &bytes).map_err(|error| CheckpointError::File {
            file: self.file.clone(),
            what: "written",
            error,
        })
    }
}

/// Replaces the file at `path` atomically by one with these bytes.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    plain_file::check(path)?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    plain_file::check(Path::new(&beside))?;
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    });
    if written.is_err() {
        // Removes the incomplete file, which would take space that the next checkpoint needs.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// A checkpoint that has been read.
pub(crate) struct Checkpoint {
    file: PathBuf,
    bytes: Vec<u8>,
    /// Offset of the next value.
    at: usize,
}

impl Checkpoint {
    /// Reads the checkpoint to resume from. Returns `None` if the options name no such file.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or belongs to a run with another identity.
    pub fn read(checkpoints: &Checkpoints, identity: &RunIdentity) -> Result<Option<Self>, CheckpointError> {
        let Some(file) = checkpoints.resume.clone() else { return Ok(None) };
        let bytes = selvedge_hw::file::read_known(&file, MAGIC, MOST_BYTES)
            .map_err(|error| CheckpointError::File { file: file.clone(), what: "read", error })?;
        let mut checkpoint = Checkpoint { file, bytes, at: 0 };
        checkpoint.check(identity)?;
        Ok(Some(checkpoint))
    }

    fn check(&mut self, identity: &RunIdentity) -> Result<(), CheckpointError> {
        let file = || self.file.clone();
        if !self.bytes.starts_with(MAGIC) {
            return Err(CheckpointError::NotOne { file: file() });
        }
        let damaged = CheckpointError::Damaged { file: file(), bytes: self.bytes.len() };
        let Some((content, checksum)) = self.bytes.split_last_chunk() else { return Err(damaged) };
        if content.len() < MAGIC.len() || hash(content) != u64::from_le_bytes(*checksum) {
            return Err(damaged);
        }
        let other = |(what, found, expected)| CheckpointError::Other { file: file(), what, found, expected };
        let mut from = Reader::new(&content[MAGIC.len()..]);
        let wrong = |error| CheckpointError::State { file: file(), error };
        let version = u32::read(&mut from).map_err(wrong)?;
        if version != FORMAT_VERSION {
            return Err(other(("format".into(), version.to_string(), FORMAT_VERSION.to_string())));
        }
        let found = RunIdentity(State::read(&mut from).map_err(wrong)?);
        if let Some(difference) = identity.difference(&found) {
            return Err(other(difference));
        }
        self.at = MAGIC.len() + from.at();
        self.bytes.truncate(self.bytes.len() - size_of::<u64>());
        Ok(())
    }

    /// Reads the next value before the state.
    ///
    /// # Errors
    /// The bytes do not hold a value of type `T`.
    pub fn value<T: State>(&mut self) -> Result<T, CheckpointError> {
        let mut from = Reader::new(&self.bytes[self.at..]);
        let value =
            T::read(&mut from).map_err(|error| CheckpointError::State { file: self.file.clone(), error })?;
        self.at += from.at();
        Ok(value)
    }

    /// Returns the error for a component of the run that the checkpoint lacks.
    pub fn without(&self, what: &'static str) -> CheckpointError {
        let error = Reader::new(&[]).shape(what);
        CheckpointError::State { file: self.file.clone(), error }
    }

    /// Passes the state, which is the rest of the file, to `load`.
    ///
    /// # Errors
    /// The state does not match the run, or `load` leaves bytes.
    pub fn load<T>(
        &self,
        load: impl FnOnce(&mut Reader) -> Result<T, StateError>,
    ) -> Result<T, CheckpointError> {
        let mut from = Reader::new(&self.bytes[self.at..]);
        let loaded = load(&mut from).and_then(|loaded| from.end().map(|()| loaded));
        loaded.map_err(|error| CheckpointError::State { file: self.file.clone(), error })
    }
}

/// Data that a host program has read from device memory, call by call. With the same data it makes the same launches again.
#[derive(Clone, Debug, Default, State)]
pub(crate) struct Journal {
    calls: Vec<Vec<HostRead>>,
}

impl Journal {
    /// Runs the host program up to its next launch, and records the data that it reads.
    pub fn note<R>(&mut self, memory: &mut DeviceMemory, host: impl FnOnce(&mut DeviceMemory) -> R) -> R {
        memory.note_reads();
        let result = host(memory);
        self.calls.push(memory.take_reads());
        result
    }

    /// Discards all calls, for a restart of the host program.
    pub fn clear(&mut self) {
        self.calls.clear();
    }

    /// Runs a fresh host program through the recorded calls, in which it reads the recorded data. Returns the result of the last
    /// call.
    ///
    /// # Errors
    /// The error of the host program.
    pub fn replay<R, E>(
        &self,
        memory: &mut DeviceMemory,
        mut host: impl FnMut(&mut DeviceMemory) -> Result<R, E>,
    ) -> Result<Option<R>, E> {
        let mut last = None;
        for reads in &self.calls {
            // Writes the reads in reverse order: for an address read twice, the first read precedes any write of the host.
            for read in reads.iter().rev() {
                // Ignores the error: the call itself allocates and fills a buffer that is still missing here.
                let _ = memory.write(read.address, &read.bytes);
            }
            last = Some(host(memory)?);
        }
        Ok(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_ptx::memory::MemoryError;

    fn identity(workload: &str) -> RunIdentity {
        let mut identity = RunIdentity::new();
        identity.add("workload", workload);
        identity
    }

    /// Writes a checkpoint of vecadd, whose state is the number 7, to a temporary folder.
    fn written() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("run.ckpt");
        let options = Checkpoints { file: Some(file.clone()), every: 100, resume: None };
        let mut schedule =
            CheckpointSchedule::new(&options, &identity("vecadd"), 0).expect("a file is given");
        schedule.put(150, |to| 7u64.save(to)).expect("it is written");
        assert_eq!(schedule.next, 200);
        (folder, file)
    }

    fn read(file: &Path, workload: &str) -> Result<u64, CheckpointError> {
        let options = Checkpoints { resume: Some(file.into()), ..Checkpoints::default() };
        let checkpoint = Checkpoint::read(&options, &identity(workload))?.expect("a file is given");
        checkpoint.load(u64::read)
    }

    #[test]
    fn what_was_written_is_read() {
        let (_folder, file) = written();
        assert_eq!(read(&file, "vecadd").expect("it is whole"), 7);
    }

    #[test]
    fn another_runs_checkpoint_is_refused_by_what_differs() {
        let (_folder, file) = written();
        let refused = read(&file, "bfs").expect_err("another workload").to_string();
        let line = ": the checkpoint's workload is vecadd: must be bfs, as in this command";
        assert!(refused.ends_with(line), "{refused}");
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_refused() {
        let (_folder, file) = written();
        let whole = fs::read(&file).expect("it is there");
        for length in 0..whole.len() {
            fs::write(&file, &whole[..length]).expect("it is written");
            assert!(read(&file, "vecadd").is_err(), "{length} bytes");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs::write(&file, &changed).expect("it is written");
            assert!(read(&file, "vecadd").is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_folder_is_no_place_for_a_checkpoint() {
        let (folder, _) = written();
        let refused = replace(folder.path(), b"state").expect_err("it is a folder").to_string();
        assert_eq!(refused, "a folder: must be a plain file");
    }

    #[test]
    fn a_draft_that_cannot_take_its_place_is_removed() {
        let (folder, file) = written();
        let place = folder.path().join("gone").join("run.ckpt");
        assert!(replace(&place, b"state").is_err());
        // The target's name is too long, so that the temporary file cannot be created.
        let long = folder.path().join("n".repeat(250));
        assert!(replace(&long.with_extension("x".repeat(250)), b"state").is_err());
        let left: Vec<_> =
            fs::read_dir(folder.path()).expect("a folder").flatten().map(|f| f.path()).collect();
        assert_eq!(left, [file]);
    }

    #[test]
    fn a_host_program_reads_what_it_has_read() {
        let mut memory = DeviceMemory::new();
        let address = memory.alloc(8, "flag").expect("there is room");
        memory.write(address, &[1, 2]).expect("it is there");
        let mut journal = Journal::default();
        // The host reads, overwrites a part, and reads again.
        let host = |memory: &mut DeviceMemory| {
            let first = memory.bytes(address, 2)?.to_vec();
            memory.write(address, &[9])?;
            Ok::<_, MemoryError>([first, memory.bytes(address, 2)?.to_vec()])
        };
        let seen = journal.note(&mut memory, host).expect("it is there");
        assert_eq!(seen, [vec![1, 2], vec![9, 2]]);
        memory.write(address, &[5, 5]).expect("it is there");
        assert_eq!(journal.replay(&mut memory, host).expect("it is there"), Some(seen));
    }
}
