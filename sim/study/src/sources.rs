//! Workloads of a study. Each is read once, and the files that it reads are hashed.
use crate::key::sha256;
use selvedge_sim::limits::Limits;
use selvedge_sim::plain_file;
use selvedge_sim::run::Source;
use selvedge_sim::source::RECORDED;
use selvedge_sim::trace::values::ValueModel;
use selvedge_sim::workload::Size;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A workload and the hashes of its files.
#[derive(Clone)]
pub(crate) struct LoadedWorkload {
    pub source: Source,
    /// Hashes of the files that it reads, in order.
    pub inputs: Vec<String>,
}

/// Workloads that have been read. Their paths are relative to `folder`.
pub(crate) struct Sources<'a> {
    folder: &'a Path,
    /// Folder with the records of suites, relative to `folder`.
    records: Option<String>,
    limits: Limits,
    found: BTreeMap<(String, Option<PathBuf>, Option<String>), LoadedWorkload>,
    hashes: BTreeMap<PathBuf, String>,
}

impl<'a> Sources<'a> {
    pub fn new(folder: &'a Path, records: Option<String>) -> Self {
        Sources {
            folder,
            records,
            limits: Limits::default(),
            found: BTreeMap::new(),
            hashes: BTreeMap::new(),
        }
    }

    /// Returns the max device memory in bytes.
    pub fn max_memory(&self) -> u64 {
        self.limits.memory
    }

    /// Returns the path of a file named in the study.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns the names of the workloads in `text`, separated by `+` unless `text` is the path of a file.
    pub fn names<'t>(&self, text: &'t str) -> Vec<&'t str> {
        if text.contains('+') && !self.path(text).is_file() { text.split('+').collect() } else { vec![text] }
    }

    /// Returns the record of the program `SUITE/PROGRAM` at a size, if the study names a folder of records. Returns `name` for any
    /// other workload.
    pub fn recorded(&self, name: &str, size: Size) -> String {
        let Some(records) = &self.records else { return name.into() };
        let is_program = name.split('/').count() == 2 && !name.contains('.') && !self.path(name).is_file();
        if is_program { format!("{records}/{name}-{size}{RECORDED}") } else { name.into() }
    }

    /// Returns the workload called `name`, with the file that replaces its built-in input and the model of its values.
    ///
    /// # Errors
    /// The workload is unknown, or its files or the model are wrong; in one line.
    pub fn load(
        &mut self,
        name: &str,
        input: Option<&Path>,
        values: Option<&str>,
    ) -> Result<LoadedWorkload, String> {
        let id = (name.to_owned(), input.map(Path::to_owned), values.map(str::to_owned));
        if let Some(found) = self.found.get(&id) {
            return Ok(found.clone());
        }
        // A built-in workload has no path. A path relative to the current folder gets no prefix.
        let path = self.path(name);
        let is_file = name.ends_with(".toml") || path.is_file();
        let name = if is_file { path.to_string_lossy().into_owned() } else { name.to_owned() };
        let source = Source::find_within(&name, &self.limits).map_err(|e| e.to_string())?;
        let values = values.map(|text| ValueModel::parse(text, self.folder, &self.limits)).transpose();
        let values = values.map_err(|e| e.to_string())?.map(Arc::new);
        let source = source.with_values(values.as_ref()).map_err(|e| e.to_string())?;
        let files = source.inputs(input);
        let inputs = files.iter().map(|file| self.hash(file)).collect::<Result<_, _>>()?;
        let loaded = LoadedWorkload { source, inputs };
        self.found.insert(id, loaded.clone());
        Ok(loaded)
    }

    fn hash(&mut self, file: &Path) -> Result<String, String> {
        if let Some(known) = self.hashes.get(file) {
            return Ok(known.clone());
        }
        let hash = hash_file(file).map_err(|e| format!("{}: cannot read it: {e}", file.display()))?;
        self.hashes.insert(file.to_owned(), hash.clone());
        Ok(hash)
    }
}

/// Returns the hash of a file, which is read in pieces because it may exceed the memory.
fn hash_file(file: &Path) -> std::io::Result<String> {
    plain_file::check(file)?;
    let mut file = std::fs::File::open(file)?;
    let mut buffer = vec![0; 1 << 20];
    let mut hash = sha256();
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(hash.hex());
        }
        hash.add(&buffer[..read]);
    }
}
