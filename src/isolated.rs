//! Folder that caches runs of one program alone, a file each, so that later comparisons reuse them.
use crate::output::{Plan, say, write_whole};
use selvedge_hw::file::MOST_TEXT_BYTES;
use selvedge_sim::plain_file;
use selvedge_sim::together::isolated::{IsolatedKey, IsolatedRun, IsolatedRuns};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// Word that disables the folder.
const NONE: &str = "none";

/// Content of a file.
#[derive(Serialize, Deserialize)]
struct Entry {
    /// Build of the simulator, from [`build`].
    build: String,
    key: IsolatedKey,
    run: IsolatedRun,
}

/// Cache folder of runs alone.
pub struct Folder {
    path: PathBuf,
    build: String,
    /// Other files of the command, which the cache must not overwrite.
    plan: Arc<Plan>,
}

impl Folder {
    /// Returns the given folder, or the default one among the user's caches. Returns `None` for the word `none`, or if
    /// the user has no cache folder.
    pub fn new(given: Option<&str>, plan: Arc<Plan>) -> Option<Self> {
        let path = match given {
            Some(NONE) => return None,
            Some(folder) => PathBuf::from(folder),
            None => caches_of_user()?.join("selvedge").join("alone"),
        };
        Some(Folder { path, build: build()?, plan })
    }

    /// Returns the file of a run. Its name holds workload, size, configuration and cycles, so that a new run replaces
    /// an outdated file.
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
        let text = match plain_file::read(&file, MOST_TEXT_BYTES) {
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
        // The lookup has already reported this file.
        if plain_file::check(&file).is_err() {
            return;
        }
        let write = |text: String| {
            self.plan.check_late("--store", &file).and_then(|()| write_whole(&file, text.as_bytes()))
        };
        let written = serde_json::to_string_pretty(&entry).map(write);
        // The next run repeats the simulation.
        if let Ok(Err(unwritten)) = written {
            unwritten.report();
        }
    }
}

/// Returns the user's cache folder, as the XDG base directory specification defines it.
pub fn caches_of_user() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
}

/// Identifies the simulator by version, file size and file time, since two builds of one version may differ.
fn build() -> Option<String> {
    let file = std::env::current_exe().ok()?;
    let facts = Path::new(&file).metadata().ok()?;
    let time = facts.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{}, {} bytes, {} ns", env!("CARGO_PKG_VERSION"), facts.len(), time.as_nanos()))
}
