//! Checkpoints: the state of a run in a file, from which the same command goes on.
//!
//! A file has a header, which says what the run is, the state, and a checksum. It is written whole beside its place and takes
//! it in one step, so that a process that is killed leaves the last whole one.
//!
//! The state of a host program is not in it: what a host read of device memory is, and the program is taken through its launches
//! anew with that. So host programs need not know of checkpoints.
use rustc_hash::FxHasher;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::mechanism::probe::ProbeSpec;
use selvedge_hw::Engine;
use selvedge_ptx::memory::{DeviceMemory, HostRead};
use selvedge_state::{Reader, State, StateError, Writer};
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What a checkpoint begins with.
const MAGIC: &[u8; 20] = b"selvedge checkpoint\n";

/// Version of the file's form.
const FORMAT_VERSION: u32 = 1;

/// Most bytes of a checkpoint.
const MOST_BYTES: u64 = 1 << 40;

/// What a run does about checkpoints.
#[derive(Clone, Debug, Default)]
pub struct Checkpoints {
    /// Where they are written.
    pub file: Option<PathBuf>,
    /// Core cycles from one to the next.
    pub every: u64,
    /// The checkpoint from which the run goes on.
    pub resume: Option<PathBuf>,
}

impl Checkpoints {
    /// Returns what distinguishes the run from others, where it has checkpoints.
    pub(crate) fn identity(&self, of_run: impl FnOnce() -> Identity) -> Identity {
        if self.file.is_none() && self.resume.is_none() {
            return Identity::default();
        }
        of_run()
    }

    /// Refuses checkpoints of a run whose state they cannot hold.
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

/// Why a checkpoint is refused, or cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file.
    #[error("{}: the checkpoint cannot be {what}: {error}", file.display())]
    File {
        /// Its path.
        file: PathBuf,
        /// Read or written.
        what: &'static str,
        /// Why not.
        error: io::Error,
    },
    /// Another kind of file.
    #[error("{}: must be a checkpoint, as --checkpoint writes it", file.display())]
    NotOne {
        /// Its path.
        file: PathBuf,
    },
    /// A file that was cut or changed.
    #[error("{}: the checkpoint is damaged: its checksum must be that of its {bytes} bytes", file.display())]
    Damaged {
        /// Its path.
        file: PathBuf,
        /// Its size.
        bytes: usize,
    },
    /// A checkpoint of another run.
    #[error("{}: the checkpoint's {what} is {found}: must be {expected}, as in this command", file.display())]
    Other {
        /// Its path.
        file: PathBuf,
        /// What differs.
        what: String,
        /// What the checkpoint has.
        found: String,
        /// What the command has.
        expected: String,
    },
    /// A run with Verilog.
    #[error(
        "{option}: must be given without compiled Verilog, whose state no checkpoint holds: use the engine rtl"
    )]
    Verilog {
        /// The option.
        option: &'static str,
    },
    /// A state that does not suit the run.
    #[error("{}: the checkpoint's state: {error}", file.display())]
    State {
        /// Its path.
        file: PathBuf,
        /// What is wrong.
        error: StateError,
    },
}

/// What distinguishes a run from others: a checkpoint of one is no use to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity(Vec<(String, String)>);

impl Identity {
    /// That of this build of the program.
    pub fn new() -> Self {
        let mut identity = Identity::default();
        identity.add("program", format!("{} (build {:016x})", env!("CARGO_PKG_VERSION"), build()));
        identity
    }

    /// Adds something that must be the same.
    pub fn add(&mut self, what: &str, value: impl ToString) {
        self.0.push((what.into(), value.to_string()));
    }

    /// Adds a configuration with what runs in it.
    pub fn add_machine(&mut self, config: &GpuConfig, mechanism: &str, engine: Engine, checks: bool) {
        let values = serde_json::to_vec(config).unwrap_or_default();
        self.add("configuration", format!("{} (hash {:016x})", config.name, hash(&values)));
        self.add("mechanism", mechanism);
        self.add("engine", engine);
        self.add("--check", checks);
    }

    /// Adds the contents of the files that a program reads.
    pub fn add_inputs(&mut self, files: &[PathBuf]) {
        for file in files {
            let contents = fs::read(file).map_or(0, |bytes| hash(&bytes));
            self.add("input", format!("{} (hash {contents:016x})", file.display()));
        }
    }

    /// Returns what differs in `found`, with both values.
    fn difference(&self, found: &Identity) -> Option<(String, String, String)> {
        let none = || ("input".to_owned(), "none".to_owned());
        (0..self.0.len().max(found.0.len())).find_map(|at| {
            let (what, expected) = self.0.get(at).cloned().unwrap_or_else(none);
            let (_, found) = found.0.get(at).cloned().unwrap_or_else(none);
            (expected != found).then_some((what, found, expected))
        })
    }
}

/// A hash of this program: the state of another build has another form, or goes on otherwise.
fn build() -> u64 {
    static BUILD: OnceLock<u64> = OnceLock::new();
    *BUILD.get_or_init(|| {
        let program = std::env::current_exe().and_then(fs::read);
        program.map_or(0, |bytes| hash(&bytes))
    })
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// Where a run's checkpoints go, and when.
pub(crate) struct Place {
    file: PathBuf,
    every: u64,
    /// The core cycle after which the next one is due.
    pub next: u64,
    identity: Identity,
}

impl Place {
    /// Returns the place that the options give, if they give one, for a run that begins at `cycle`.
    pub fn new(checkpoints: &Checkpoints, identity: &Identity, cycle: u64) -> Option<Self> {
        let file = checkpoints.file.clone()?;
        let every = checkpoints.every.max(1);
        Some(Place { file, every, next: (cycle / every + 1) * every, identity: identity.clone() })
    }

    /// Writes a checkpoint at `cycle` with the state that `save` gives.
    pub fn write(&mut self, cycle: u64, save: impl FnOnce(&mut Writer)) -> Result<(), CheckpointError> {
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

/// Puts a file with these bytes in place of `path`, in one step.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::other("must be a plain file"));
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

/// A checkpoint that was read.
pub(crate) struct Checkpoint {
    file: PathBuf,
    bytes: Vec<u8>,
    /// Where what comes next begins.
    at: usize,
}

impl Checkpoint {
    /// Reads the checkpoint that the options name, if they name one, of the run that `identity` describes.
    ///
    /// # Errors
    /// There is none, it is damaged, or it is another run's.
    pub fn read(checkpoints: &Checkpoints, identity: &Identity) -> Result<Option<Self>, CheckpointError> {
        let Some(file) = checkpoints.resume.clone() else { return Ok(None) };
        let bytes = selvedge_hw::file::read_known(&file, MAGIC, MOST_BYTES)
            .map_err(|error| CheckpointError::File { file: file.clone(), what: "read", error })?;
        let mut checkpoint = Checkpoint { file, bytes, at: 0 };
        checkpoint.check(identity)?;
        Ok(Some(checkpoint))
    }

    fn check(&mut self, identity: &Identity) -> Result<(), CheckpointError> {
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
        let found = Identity(State::read(&mut from).map_err(wrong)?);
        if let Some(difference) = identity.difference(&found) {
            return Err(other(difference));
        }
        self.at = MAGIC.len() + from.at();
        self.bytes.truncate(self.bytes.len() - size_of::<u64>());
        Ok(())
    }

    /// Reads the value that comes next, ahead of the state.
    ///
    /// # Errors
    /// It is not the state of one.
    pub fn value<T: State>(&mut self) -> Result<T, CheckpointError> {
        let mut from = Reader::new(&self.bytes[self.at..]);
        let value =
            T::read(&mut from).map_err(|error| CheckpointError::State { file: self.file.clone(), error })?;
        self.at += from.at();
        Ok(value)
    }

    /// Returns the error that the run has something that the checkpoint lacks.
    pub fn without(&self, what: &'static str) -> CheckpointError {
        let error = Reader::new(&[]).shape(what);
        CheckpointError::State { file: self.file.clone(), error }
    }

    /// Lets `load` read the state, all that is left.
    ///
    /// # Errors
    /// It is not the state of the run.
    pub fn load<T>(
        &self,
        load: impl FnOnce(&mut Reader) -> Result<T, StateError>,
    ) -> Result<T, CheckpointError> {
        let mut from = Reader::new(&self.bytes[self.at..]);
        let loaded = load(&mut from).and_then(|loaded| from.end().map(|()| loaded));
        loaded.map_err(|error| CheckpointError::State { file: self.file.clone(), error })
    }
}

/// What a host program read of device memory, call by call: it goes the same way again with that.
#[derive(Clone, Debug, Default, State)]
pub(crate) struct Journal {
    calls: Vec<Vec<HostRead>>,
}

impl Journal {
    /// Lets the host program run, up to its next launch, and notes what it reads.
    pub fn note<R>(&mut self, memory: &mut DeviceMemory, host: impl FnOnce(&mut DeviceMemory) -> R) -> R {
        memory.note_reads();
        let result = host(memory);
        self.calls.push(memory.take_reads());
        result
    }

    /// Forgets all calls: the host program starts again.
    pub fn clear(&mut self) {
        self.calls.clear();
    }

    /// Lets a host program at its start run through the calls, in which it reads what it did then; returns what the last call
    /// gives.
    ///
    /// # Errors
    /// What the host program gives.
    pub fn replay<R, E>(
        &self,
        memory: &mut DeviceMemory,
        mut host: impl FnMut(&mut DeviceMemory) -> Result<R, E>,
    ) -> Result<Option<R>, E> {
        let mut last = None;
        for reads in &self.calls {
            // What was read first is what was there before the host wrote anything.
            for read in reads.iter().rev() {
                // A buffer that is not there is one that the call itself allocates and fills.
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

    fn identity(workload: &str) -> Identity {
        let mut identity = Identity::new();
        identity.add("workload", workload);
        identity
    }

    /// A checkpoint of vecadd whose state is the number 7, in a folder of its own.
    fn written() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("run.ckpt");
        let options = Checkpoints { file: Some(file.clone()), every: 100, resume: None };
        let mut place = Place::new(&options, &identity("vecadd"), 0).expect("a file is given");
        place.write(150, |to| 7u64.save(to)).expect("it is written");
        assert_eq!(place.next, 200);
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
        assert_eq!(refused, "must be a plain file");
    }

    #[test]
    fn a_host_program_reads_what_it_has_read() {
        let mut memory = DeviceMemory::new();
        let address = memory.alloc(8, "flag").expect("there is room");
        memory.write(address, &[1, 2]).expect("it is there");
        let mut journal = Journal::default();
        // Reads, writes in part, and reads again.
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
