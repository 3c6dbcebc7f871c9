//! `study speeds`: prints the run times of workloads and mechanisms, for estimates on other hosts.
use super::options::StudySpeedsOptions;
use super::store::{open_file, store};
use crate::error::Failure;
use crate::output::print;
use selvedge_study::{Speeds, Study, short_run_s};

/// Prints the fitted table as TOML.
pub fn run(options: &StudySpeedsOptions) -> Result<(), Failure> {
    let given = options.store.as_deref();
    let studies = options.files.iter().map(|file| open_file(file, given).map(|(study, _)| study));
    let studies = studies.collect::<Result<Vec<Study>, Failure>>()?;
    let points = studies.iter().flat_map(Study::points);
    let speeds = Speeds::fit(points, &store(given)?, short_run_s());
    print(&toml::to_string(&speeds).expect("numbers by names are TOML"))
}
