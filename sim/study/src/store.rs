//! Where results are kept: a folder with one file per point.
//!
//! A file is written beside its place and takes its name in one step, so that a process that is killed leaves whole files
//! alone. It ends with a hash of what stands before, so that a file that was cut or changed is never taken for a result.
use crate::key::{COMMIT, FINGERPRINT, Key, hash};
use crate::parameters::Parameters;
use crate::point::Point;
use selvedge_sim::together::isolated::{IsolatedKey, IsolatedRun, IsolatedRuns};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// Version of the form of the files.
const FORMAT_VERSION: u32 = 1;

/// What stands between an entry and the hash of it.
const SEAL: &str = ",\"checksum\":\"";

/// Hexadecimal digits of a hash.
const DIGITS: usize = 64;

/// What became of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It has a result.
    Done,
    /// Its workload, configuration and mechanism do not suit each other.
    Unsuitable,
    /// It has been tried in vain: a fault, wrong results, or a timeout.
    Failed,
}

impl Status {
    /// The word in tables.
    pub fn word(self) -> &'static str {
        match self {
            Status::Done => "done",
            Status::Unsuitable => "unsuitable",
            Status::Failed => "failed",
        }
    }
}

/// Where a result comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of the simulator.
    pub version: String,
    /// Commit of its sources.
    pub commit: String,
    /// Hash of its sources.
    pub fingerprint: String,
    /// Hash of every value of the configuration.
    pub config_hash: String,
    /// The command that runs the point alone, from the folder of the study file.
    pub command: String,
    /// When it was computed, in UTC.
    pub date: String,
}

impl Provenance {
    /// Returns what there is to say of a result of now.
    pub(crate) fn now(point: &Point) -> Self {
        let config = serde_json::to_vec(&*point.config).unwrap_or_default();
        Provenance {
            version: env!("CARGO_PKG_VERSION").into(),
            commit: COMMIT.into(),
            fingerprint: FINGERPRINT.into(),
            config_hash: hash(&config)[..16].into(),
            command: point.parameters.command(),
            date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        }
    }
}

/// What is kept of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Version of the form.
    pub format_version: u32,
    /// The key of the point.
    pub key: String,
    /// What the study said of it.
    pub parameters: Parameters,
    /// Where it comes from.
    pub provenance: Provenance,
    /// What became of it.
    pub status: Status,
    /// Why it has no result, or none to rely on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The report, as `run --json` writes it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub report: Option<Value>,
}

impl Entry {
    pub(crate) fn new(point: &Point, status: Status, reason: Option<String>, report: Option<Value>) -> Self {
        Entry {
            format_version: FORMAT_VERSION,
            key: point.key.text().into(),
            parameters: point.parameters.clone(),
            provenance: Provenance::now(point),
            status,
            reason,
            report,
        }
    }
}

/// What a store has of a point.
#[derive(Debug)]
pub enum Found {
    /// Nothing.
    Missing,
    /// A file that was cut or changed, and what is wrong with it; it counts as missing.
    Damaged(String),
    /// The entry.
    There(Box<Entry>),
}

/// A store that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot {what}: {error}", path.display())]
pub struct StoreError {
    path: PathBuf,
    what: &'static str,
    error: io::Error,
}

/// A folder in which results are kept.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

/// The right to compute a point, which no other process has meanwhile.
pub(crate) struct Lock {
    file: File,
    path: PathBuf,
}

impl Store {
    /// Opens the store in `folder`, which is made.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        fs::create_dir_all(folder).map_err(|error| StoreError {
            path: folder.into(),
            what: "make the folder",
            error,
        })?;
        Ok(Store { root: folder.into() })
    }

    /// Returns the folder of the store.
    pub fn folder(&self) -> &Path {
        &self.root
    }

    /// Returns what is kept of `point`.
    pub fn get(&self, point: &Point) -> Option<Entry> {
        match self.look(&point.key) {
            Found::There(entry) => Some(*entry),
            Found::Missing | Found::Damaged(_) => None,
        }
    }

    /// Returns the entry of `key`, or that it is damaged or missing.
    pub fn look(&self, key: &Key) -> Found {
        let path = self.path(key, "json");
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == ErrorKind::NotFound => return Found::Missing,
            Err(e) => return Found::Damaged(format!("{}: {e}", path.display())),
        };
        let damaged = |why: &str| Found::Damaged(format!("{}: {why}", path.display()));
        match unsealed::<Entry>(&bytes) {
            None => damaged("its checksum must be that of its contents"),
            Some(entry) if entry.format_version != FORMAT_VERSION => {
                damaged(&format!("form {}: must be {FORMAT_VERSION}", entry.format_version))
            }
            Some(entry) if entry.key != key.text() => damaged("it must be of the point of its name"),
            Some(entry) => Found::There(Box::new(entry)),
        }
    }

    /// Returns the right to compute the point of `key`; none while another has it.
    ///
    /// # Errors
    /// The file that stands for it cannot be made.
    pub(crate) fn lock(&self, key: &Key) -> Result<Option<Lock>, StoreError> {
        let path = self.path(key, "lock");
        self.make_folder(&path)?;
        let error = |error| StoreError { path: path.clone(), what: "lock the file", error };
        loop {
            let file =
                OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(error)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(e)) => return Err(error(e)),
                // Whoever had it before may have removed its file.
                Ok(()) if is_at(&file, &path) => return Ok(Some(Lock { file, path })),
                Ok(()) => {}
            }
        }
    }

    /// Keeps `entry`, and gives up the right to compute it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn keep(&self, key: &Key, entry: &Entry, lock: Lock) -> Result<(), StoreError> {
        let path = self.path(key, "json");
        // No other writes it: the right is ours.
        write(&path, &self.path(key, "tmp"), &sealed(entry))?;
        // The next one finds the entry, with or without this file.
        let _ = fs::remove_file(&lock.path);
        drop(lock.file);
        Ok(())
    }

    fn path(&self, key: &Key, end: &str) -> PathBuf {
        let key = key.text();
        self.root.join(&key[..2]).join(format!("{key}.{end}"))
    }

    fn make_folder(&self, of: &Path) -> Result<(), StoreError> {
        let folder = of.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder).map_err(|error| StoreError {
            path: folder.into(),
            what: "make the folder",
            error,
        })
    }

    /// The file of a run alone.
    fn isolated(&self, key: &IsolatedKey) -> PathBuf {
        let text = serde_json::to_string(key).unwrap_or_default();
        let name = hash(format!("{FINGERPRINT} {text}").as_bytes());
        self.root.join("alone").join(format!("{name}.json"))
    }

    /// Reads a small record beside the points; none where it is missing or damaged.
    pub(crate) fn record<T: DeserializeOwned>(&self, path: &Path) -> Option<T> {
        unsealed(&fs::read(self.root.join(path)).ok()?)
    }

    /// Reads all small records in a folder; those that are damaged are left out.
    pub(crate) fn records<T: DeserializeOwned>(&self, folder: &Path) -> Vec<T> {
        let Ok(files) = fs::read_dir(self.root.join(folder)) else { return Vec::new() };
        let mut files: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
        files.sort();
        files
            .iter()
            .filter(|file| file.extension().is_some_and(|end| end == "json"))
            .filter_map(|file| self.record(file))
            .collect()
    }

    /// Writes a small record beside the points, as far as that is possible: it is found out again where it is missing.
    pub(crate) fn keep_record<T: Serialize>(&self, path: &Path, record: &T) {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let path = self.root.join(path);
        if self.make_folder(&path).is_err() {
            return;
        }
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let draft = path.with_extension(format!("{}-{count}.tmp", std::process::id()));
        if write(&path, &draft, &sealed(record)).is_err() {
            let _ = fs::remove_file(draft);
        }
    }
}

/// The runs alone against which programs that share the GPU are measured.
impl IsolatedRuns for Store {
    fn known(&self, key: &IsolatedKey) -> Option<IsolatedRun> {
        self.record(&self.isolated(key))
    }

    fn keep(&self, key: &IsolatedKey, run: &IsolatedRun) {
        self.keep_record(&self.isolated(key), run);
    }
}

/// Writes `bytes` to `draft`, which then becomes `path`.
fn write(path: &Path, draft: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let written = File::create(draft).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(draft, path)
    });
    written.map_err(|error| StoreError { path: path.into(), what: "write it", error })?;
    // Where a folder can be brought to the disk, its new name is.
    if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Is `file` the one that `path` leads to?
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(open), Ok(there)) = (file.metadata(), path.metadata()) else { return false };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

/// A record as JSON, which ends with the hash of what stands before.
fn sealed<T: Serialize>(record: &T) -> Vec<u8> {
    let mut text = serde_json::to_string(record).unwrap_or_else(|e| unreachable!("it has a JSON form: {e}"));
    debug_assert!(text.ends_with('}'), "a record is an object");
    text.pop();
    let seal = hash(text.as_bytes());
    (text + SEAL + &seal + "\"}\n").into_bytes()
}

/// The record, if the hash is that of what stands before.
fn unsealed<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let body = bytes.strip_suffix(b"\"}\n")?;
    let (body, seal) = body.split_at_checked(body.len().checked_sub(DIGITS)?)?;
    let body = body.strip_suffix(SEAL.as_bytes())?;
    if hash(body).as_bytes() != seal {
        return None;
    }
    let text = [body, b"}"].concat();
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Small {
        a: f64,
    }

    #[test]
    fn a_record_that_is_cut_or_changed_anywhere_is_refused() {
        let whole = sealed(&Small { a: 0.1 + 0.2 });
        assert_eq!(unsealed(&whole), Some(Small { a: 0.1 + 0.2 }));
        for length in 0..whole.len() {
            assert_eq!(unsealed::<Small>(&whole[..length]), None, "{length} bytes");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            assert_eq!(unsealed::<Small>(&changed), None, "byte {at}");
        }
    }

    #[test]
    fn a_lock_is_held_by_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("made");
        let key = crate::tests::point().key.clone();
        let first = store.lock(&key).expect("a lock").expect("it is free");
        assert!(store.lock(&key).expect("a lock").is_none());
        drop(first);
        assert!(store.lock(&key).expect("a lock").is_some());
    }
}
