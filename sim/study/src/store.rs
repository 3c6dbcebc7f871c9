//! Stores results in a folder, one file per point.
//!
//! A file is written under another name and renamed atomically. A process that is killed leaves only complete files. Each file
//! ends with a hash of its contents, so that a truncated or modified file is never used as a result.
use crate::key::{COMMIT, FINGERPRINT, Key, hash, simulator};
use crate::parameters::Parameters;
use crate::point::Point;
use selvedge_sim::plain_file;
use selvedge_sim::together::isolated::{IsolatedKey, IsolatedRun, IsolatedRuns};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Version of the file format.
const FORMAT_VERSION: u32 = 1;

/// Max size of a file in bytes.
const MOST_ENTRY_BYTES: u64 = 1 << 30;

/// Separator between an entry and its hash.
const SEAL: &str = ",\"checksum\":\"";

/// Number of hexadecimal digits of a hash.
const DIGITS: usize = 64;

/// Status of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The point has a result.
    Done,
    /// The combination of workload, configuration and mechanism is unsupported.
    // The word in stores of version 0.2.0.
    #[serde(alias = "unsuitable")]
    Unsupported,
    /// The simulation failed: a fault, wrong results, or a timeout.
    Failed,
}

impl Status {
    /// Returns the word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Status::Done => "done",
            Status::Unsupported => "unsupported",
            Status::Failed => "failed",
        }
    }
}

/// Origin of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of the simulator.
    pub version: String,
    /// Commit of the simulator's sources.
    pub commit: String,
    /// Hash of the simulator's sources.
    pub fingerprint: String,
    /// Hash of all values of the configuration.
    pub config_hash: String,
    /// Command that runs only this point, from the folder of the study file.
    pub command: String,
    /// Date of the simulation, UTC.
    pub date: String,
}

impl Provenance {
    /// Returns the provenance of a result that is computed now.
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

/// Stored result of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredPoint {
    /// Version of the file format.
    pub format_version: u32,
    /// Key of the point.
    pub key: String,
    /// Parameters of the point in the study.
    pub parameters: Parameters,
    /// Origin of the result.
    pub provenance: Provenance,
    /// Status of the point.
    pub status: Status,
    /// Reason for a missing or unreliable result.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// Report, as in `run --json`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub report: Option<Value>,
}

impl StoredPoint {
    pub(crate) fn new(point: &Point, status: Status, reason: Option<String>, report: Option<Value>) -> Self {
        StoredPoint {
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

/// Result of a lookup in the store.
#[derive(Debug)]
pub enum StoreLookup {
    /// No file has this key.
    Missing,
    /// The file is truncated or modified, for this reason. It is treated as missing.
    Damaged(String),
    /// The entry of the point.
    There(Box<StoredPoint>),
}

/// Error of an operation on the store.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot {what}: {error}", path.display())]
pub struct StoreError {
    path: PathBuf,
    what: &'static str,
    error: io::Error,
}

/// A folder with results.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

/// Exclusive right of this process to compute a point.
pub(crate) struct PointLock {
    path: PathBuf,
    /// Dropped after `drop` has removed the file.
    _file: File,
}

impl Drop for PointLock {
    fn drop(&mut self) {
        // The next owner creates another file.
        let _ = fs::remove_file(&self.path);
    }
}

/// Age above which the temporary file of a small record is a leftover. Writing it takes much less time.
const LEFT_OVER: Duration = Duration::from_secs(24 * 60 * 60);

impl Store {
    /// Opens the store in `folder`, and creates the folder if it is missing.
    ///
    /// # Errors
    /// The folder cannot be created.
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

    /// Returns the entry of `point`; `None` if it is missing or damaged.
    pub fn get(&self, point: &Point) -> Option<StoredPoint> {
        match self.look(&point.key) {
            StoreLookup::There(entry) => Some(*entry),
            StoreLookup::Missing | StoreLookup::Damaged(_) => None,
        }
    }

    /// Looks up the entry of `key`.
    pub fn look(&self, key: &Key) -> StoreLookup {
        let path = self.path(key, "json");
        let bytes = match plain_file::read(&path, MOST_ENTRY_BYTES) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == ErrorKind::NotFound => return StoreLookup::Missing,
            Err(e) => return StoreLookup::Damaged(format!("{}: {e}", path.display())),
        };
        let damaged = |why: &str| StoreLookup::Damaged(format!("{}: {why}", path.display()));
        match unsealed::<StoredPoint>(&bytes) {
            None => damaged("its checksum must be that of its contents"),
            Some(entry) if entry.format_version != FORMAT_VERSION => {
                damaged(&format!("form {}: must be {FORMAT_VERSION}", entry.format_version))
            }
            Some(entry) if entry.key != key.text() => damaged("it must be of the point of its name"),
            Some(entry) => StoreLookup::There(Box::new(entry)),
        }
    }

    /// Takes the lock of a point. Returns `None` while another process holds it.
    ///
    /// # Errors
    /// The lock file cannot be created, or a path of the entry is not a plain file.
    pub(crate) fn lock(&self, key: &Key) -> Result<Option<PointLock>, StoreError> {
        let path = self.path(key, "lock");
        self.make_folder(&path)?;
        // Fails before the simulation if the entry could not be written after it.
        for end in ["json", "tmp", "lock"] {
            let path = self.path(key, end);
            plain_file::check(&path).map_err(|error| StoreError { path, what: "use it", error })?;
        }
        lock_at(&path).map_err(|error| StoreError { path, what: "lock the file", error })
    }

    /// Writes `entry` and releases its lock.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn keep(&self, key: &Key, entry: &StoredPoint, lock: PointLock) -> Result<(), StoreError> {
        // The lock ensures that no other process writes the file.
        let written = write(&self.path(key, "json"), &self.path(key, "tmp"), &sealed(entry));
        drop(lock);
        written
    }

    /// Removes the locks and temporary files of processes that were killed.
    pub(crate) fn tidy(&self) {
        let folders = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let files = folders.filter_map(|folder| fs::read_dir(folder.path()).ok()).flatten().flatten();
        for path in files.map(|file| file.path()) {
            let is_of_a_point = path.file_stem().is_some_and(|name| name.len() == DIGITS);
            match path.extension().and_then(|end| end.to_str()) {
                Some("lock") => drop(lock_at(&path)),
                // A process that writes a temporary entry holds its lock.
                Some("tmp") if is_of_a_point => {
                    if let Ok(Some(_lock)) = lock_at(&path.with_extension("lock")) {
                        let _ = fs::remove_file(&path);
                    }
                }
                Some("tmp") if age(&path).is_some_and(|age| age > LEFT_OVER) => {
                    let _ = fs::remove_file(&path);
                }
                _ => {}
            }
        }
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

    /// Returns the path of an isolated run.
    fn isolated(&self, key: &IsolatedKey) -> PathBuf {
        let text = serde_json::to_string(key).unwrap_or_default();
        let name = hash(format!("{} {text}", simulator()).as_bytes());
        self.root.join("alone").join(format!("{name}.json"))
    }

    /// Reads a small record of the store. Returns `None` if it is missing or damaged.
    pub(crate) fn record<T: DeserializeOwned>(&self, path: &Path) -> Option<T> {
        unsealed(&plain_file::read(&self.root.join(path), MOST_ENTRY_BYTES).ok()?)
    }

    /// Reads all small records in a folder, except damaged ones.
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

    /// Writes a small record. Ignores errors: a missing record is computed again.
    pub(crate) fn keep_record<T: Serialize>(&self, path: &Path, record: &T) {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let path = self.root.join(path);
        if self.make_folder(&path).is_err() {
            return;
        }
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let draft = path.with_extension(format!("{}-{count}.tmp", std::process::id()));
        let _ = write(&path, &draft, &sealed(record));
    }
}

/// Storage of isolated runs, for comparison with programs that share the GPU.
impl IsolatedRuns for Store {
    fn known(&self, key: &IsolatedKey) -> Option<IsolatedRun> {
        self.record(&self.isolated(key))
    }

    fn keep(&self, key: &IsolatedKey, run: &IsolatedRun) {
        self.keep_record(&self.isolated(key), run);
    }
}

/// Writes `bytes` to `draft`, then renames it to `path`.
fn write(path: &Path, draft: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let draft_is_plain = plain_file::check(draft);
    let written = draft_is_plain.and_then(|()| File::create(draft)).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(draft, path)
    });
    if let Err(error) = written {
        let _ = fs::remove_file(draft);
        return Err(StoreError { path: path.into(), what: "write it", error });
    }
    // Syncs the new name if the operating system can sync folders.
    if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Takes the lock whose file is at `path`. Returns `None` while another process holds it.
fn lock_at(path: &Path) -> io::Result<Option<PointLock>> {
    plain_file::check(path)?;
    loop {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(e)) => return Err(e),
            // The previous owner may have removed this file; then another one must be locked.
            Ok(()) if is_at(&file, path) => return Ok(Some(PointLock { path: path.into(), _file: file })),
            Ok(()) => {}
        }
    }
}

/// Returns the time since the file at `path` was written.
fn age(path: &Path) -> Option<Duration> {
    path.metadata().ok()?.modified().ok()?.elapsed().ok()
}

/// Returns whether `path` still leads to `file`.
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

/// Returns a record as JSON that ends with the hash of its contents.
fn sealed<T: Serialize>(record: &T) -> Vec<u8> {
    let mut text = serde_json::to_string(record).unwrap_or_else(|e| unreachable!("it has a JSON form: {e}"));
    debug_assert!(text.ends_with('}'), "a record is an object");
    text.pop();
    let seal = hash(text.as_bytes());
    (text + SEAL + &seal + "\"}\n").into_bytes()
}

/// Returns the record if the hash matches its contents.
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
    fn an_entry_of_another_point_or_another_form_is_no_result() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("made");
        let point = crate::tests::point();
        let entry = StoredPoint::new(&point, Status::Failed, Some("tried".into()), None);
        let keep = |entry: &StoredPoint| {
            let lock = store.lock(&point.key).expect("a lock").expect("it is free");
            store.keep(&point.key, entry, lock).expect("kept");
            store.look(&point.key)
        };
        assert!(matches!(keep(&entry), StoreLookup::There(found) if *found == entry));
        let other = StoredPoint { key: crate::tests::point_of("bfs").key.text().into(), ..entry.clone() };
        let found = keep(&other);
        assert!(
            matches!(&found, StoreLookup::Damaged(why) if why.ends_with("it must be of the point of its name"))
        );
        let newer = StoredPoint { format_version: FORMAT_VERSION + 1, ..entry };
        assert!(matches!(keep(&newer), StoreLookup::Damaged(why) if why.ends_with("form 2: must be 1")));
    }

    #[test]
    fn an_entry_of_version_0_2_0_is_read_with_its_word_for_unsupported() {
        let entry =
            StoredPoint::new(&crate::tests::point(), Status::Unsupported, Some("too many ways".into()), None);
        let mut old = serde_json::to_value(&entry).expect("JSON");
        assert_eq!(old["status"], "unsupported");
        old["status"] = "unsuitable".into();
        assert_eq!(unsealed(&sealed(&old)), Some(entry));
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

    #[cfg(unix)]
    #[test]
    fn a_store_with_pipes_and_folders_in_place_of_files_gives_an_error_and_does_not_wait() {
        let key = crate::tests::point().key.clone();
        for end in ["json", "tmp", "lock"] {
            for (program, kind) in [("mkfifo", "a pipe"), ("mkdir", "a folder")] {
                let folder = tempfile::tempdir().expect("a folder");
                let store = Store::open(folder.path()).expect("made");
                let path = store.path(&key, end);
                store.make_folder(&path).expect("made");
                let status = std::process::Command::new(program).arg(&path).status().expect("it runs");
                assert!(status.success(), "{program}");
                let why = format!("{kind}: must be a plain file");
                let refused = store.lock(&key).err().expect("it cannot take the entry").to_string();
                assert_eq!(refused, format!("{}: cannot use it: {why}", path.display()));
                if end == "json" {
                    let StoreLookup::Damaged(found) = store.look(&key) else { panic!("{kind} is no entry") };
                    assert_eq!(found, format!("{}: {why}", path.display()));
                    assert_eq!(
                        store.record::<Small>(path.strip_prefix(folder.path()).expect("inside")),
                        None
                    );
                }
            }
        }
    }

    /// Returns the names of all files in a store, sorted.
    fn files(store: &Store) -> Vec<String> {
        let folders = fs::read_dir(store.folder()).expect("a folder").flatten();
        let files = folders.flat_map(|folder| fs::read_dir(folder.path()).expect("a folder").flatten());
        let mut names: Vec<String> =
            files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_killed_processes_left_is_removed_and_what_is_in_use_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("made");
        let point = crate::tests::point();
        let key = &point.key;
        let held = store.lock(key).expect("a lock").expect("it is free");
        fs::write(store.path(key, "tmp"), "{").expect("written");
        let beside = |name: &str| store.path(key, "json").with_file_name(name);
        let (left, record) = ("0".repeat(DIGITS), format!("{}.77-0.tmp", "1".repeat(DIGITS)));
        for name in [format!("{left}.lock"), format!("{left}.tmp"), record.clone()] {
            fs::write(beside(&name), "").expect("written");
        }
        store.tidy();
        let (lock, draft) = (format!("{}.lock", key.text()), format!("{}.tmp", key.text()));
        let mut expected = vec![lock, draft, record.clone()];
        expected.sort();
        assert_eq!(files(&store), expected);
        // A day later, the record's process must have ended.
        let before = SystemTime::now() - 2 * LEFT_OVER;
        File::options().write(true).open(beside(&record)).expect("there").set_modified(before).expect("set");
        store.tidy();
        assert!(!beside(&record).exists());
        let entry = StoredPoint::new(&point, Status::Done, None, None);
        store.keep(key, &entry, held).expect("kept");
        assert_eq!(files(&store), [format!("{}.json", key.text())]);
    }

    #[test]
    fn a_point_that_is_given_up_leaves_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("made");
        let key = crate::tests::point().key.clone();
        drop(store.lock(&key).expect("a lock"));
        assert!(files(&store).is_empty());
        let lock = store.lock(&key).expect("a lock").expect("it is free");
        // During the computation, a folder takes the name of the entry.
        fs::create_dir(store.path(&key, "json")).expect("made");
        let entry = StoredPoint::new(&crate::tests::point(), Status::Done, None, None);
        assert!(store.keep(&key, &entry, lock).is_err());
        assert_eq!(files(&store), [format!("{}.json", key.text())]);
    }
}
