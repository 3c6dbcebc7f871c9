//! `selvedge study`: runs many simulations from one file, keeps each result, and collects them as one table.
mod collect;
mod export;
mod options;
mod run;
mod show;
mod speeds;
mod watch;

pub use options::{StudyAction, StudyOptions};
pub use run::simulate;

use crate::error::Failure;
use crate::isolated::caches_of_user;
use crate::verilog_option::compiler;
use options::StudyFile;
use selvedge_hw::BlockCompiler;
use selvedge_study::{Shell, Store, Study};
use std::path::Path;
use std::sync::Arc;

/// Executes the action of the options.
pub fn run(options: &StudyOptions) -> Result<(), Failure> {
    match (&options.action, &options.run) {
        (Some(StudyAction::Run(options)), _) | (None, Some(options)) => run::run(options),
        (Some(StudyAction::Show(options)), _) => show::show(options),
        (Some(StudyAction::Status(options)), _) => show::status(options),
        (Some(StudyAction::Collect(options)), _) => collect::run(options),
        (Some(StudyAction::Point(options)), _) => run::points(options),
        (Some(StudyAction::Export(options)), _) => export::run(options),
        (Some(StudyAction::Speeds(options)), _) => speeds::run(options),
        (None, None) => Err(Failure::usage("study: must be given with a study file, NAME.toml")),
    }
}

/// Returns the study and its store.
fn open(options: &StudyFile) -> Result<(Study, Store), Failure> {
    open_file(&options.file, options.store.as_deref())
}

/// Returns the study in `file`, and the given store or the default one.
fn open_file(file: &Path, given: Option<&Path>) -> Result<(Study, Store), Failure> {
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
