//! `selvedge study`: runs many simulations from one file, keeps each result, and collects them as one table.
mod collect;
mod export;
mod options;
mod run;
mod show;
mod speeds;
mod store;
mod watch;

pub use options::{StudyAction, StudyOptions};
pub use run::simulate;
pub use show::time_left;
pub use store::{jobs, store};

use crate::error::Failure;

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
