//! The folder in which runs of one program alone are kept, a file each, so that many comparisons need them once.
use crate::output::{Plan, say, write_whole};
use selvedge_hw::file::{MOST_TEXT_BYTES, read};
use selvedge_sim::together::isolated::{IsolatedKey, IsolatedRun, IsolatedRuns};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// The word that stands for no folder.
const NONE: &str = "none";

/// What a file holds.
#[derive(Serialize, Deserialize)]
struct Entry {
    /// The simulator that ran.
    build: String,
    key: IsolatedKey,
    run: IsolatedRun,
}

/// The folder.
pub struct Folder {
    path: PathBuf,
    build: String,
    /// The other files of the command, which stay as they are.
    plan: Arc<Plan>,
}

impl Folder {
    /// The folder that is given, or else that for this program among the user's caches; nothing for `none`, and where there
    /// is no such place.
    pub fn new(given: Option<&str>, plan: Arc<Plan>) -> Option<Self> {
        let path = match given {
            Some(NONE) => return None,
            Some(folder) => PathBuf::from(folder),
            None => caches_of_user()?.join("selvedge").join("alone"),
        };
        Some(Folder { path, build: build()?, plan })
    }

    /// The file of a run: one for each workload, size, configuration and time, so that what is out of date is replaced.
    fn file(&self, key: &IsolatedKey) -> PathBuf {
        let IsolatedKey { workload, size, config, cycles, .. } = key;
        let name = format!("{workload}-{size}-{config}-{cycles}");
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        self.path.join(name.chars().map(plain).collect::<String>() + ".json")
    }
}

impl IsolatedRuns for Folder {
    fn known(&self, key: &IsolatedKey) -> Option<IsolatedRun> {
        let file = self.file(key);
        let ignored = |why: &str| say(format!("selvedge: {}: {why}: ignored\n", file.display()));
        let text = match read(&file, MOST_TEXT_BYTES) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return None,
            Err(e) => {
                ignored(&e.to_string());
                return None;
            }
        };
        match serde_json::from_slice::<Entry>(&text) {
            Err(_) => ignored("this is no run that was kept"),
            Ok(entry) if entry.build != self.build => ignored("kept by another build of selvedge"),
            Ok(entry) if entry.key != *key || entry.run.cycles != key.cycles => {
                ignored("kept of another program, configuration or engine")
            }
            Ok(entry) => return Some(entry.run),
        }
        None
    }

    fn keep(&self, key: &IsolatedKey, run: &IsolatedRun) {
        let entry = Entry { build: self.build.clone(), key: key.clone(), run: *run };
        let file = self.file(key);
        let write = |text: String| {
            self.plan.check_late("--cache", &file).and_then(|()| write_whole(&file, text.as_bytes()))
        };
        let written = serde_json::to_string_pretty(&entry).map(write);
        // It is found out again next time.
        if let Ok(Err(unwritten)) = written {
            unwritten.report();
        }
    }
}

/// The user's folder for caches, as the XDG base directories have it.
pub fn caches_of_user() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
}

/// Which simulator this is: its version, and size and time of its file, since two of one version may differ.
fn build() -> Option<String> {
    let file = std::env::current_exe().ok()?;
    let facts = Path::new(&file).metadata().ok()?;
    let time = facts.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{}, {} bytes, {} ns", env!("CARGO_PKG_VERSION"), facts.len(), time.as_nanos()))
}
