//! The study, the store and the number of jobs that the options name.
use super::options::StudyFile;
use crate::error::Failure;
use crate::isolated::caches_of_user;
use crate::verilog_option::compiler;
use selvedge_hw::BlockCompiler;
use selvedge_study::{Store, Study};
use std::path::Path;
use std::sync::Arc;

/// Returns the study and its store.
pub(super) fn open(options: &StudyFile) -> Result<(Study, Store), Failure> {
    open_file(&options.file, options.store.as_deref())
}

/// Returns the study in `file`, and the given store or the default one.
pub(super) fn open_file(file: &Path, given: Option<&Path>) -> Result<(Study, Store), Failure> {
    let mut study = Study::read(file).map_err(Failure::usage)?;
    if study.runs_verilog() {
        let compiler: Arc<dyn BlockCompiler> = Arc::new(compiler("engine", &[])?);
        study.compile_with(&compiler);
    }
    Ok((study, store(given)?))
}

/// Returns the store in the given folder, or by default the one among the user's caches.
///
/// # Errors
/// Fails if the folder cannot be created, or if the user has no cache folder.
pub fn store(given: Option<&Path>) -> Result<Store, Failure> {
    let usual = || caches_of_user().map(|caches| caches.join("selvedge").join("points"));
    let folder = given.map(Path::to_owned).or_else(usual);
    let folder = folder.ok_or_else(|| {
        Failure::usage("--store: must be given, since neither XDG_CACHE_HOME nor HOME is set")
    })?;
    Store::open(&folder).map_err(Failure::usage)
}

/// Returns the given number of jobs, or by default the number of processors.
pub fn jobs(given: Option<u32>) -> usize {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    given.map_or(all, |jobs| jobs as usize)
}
