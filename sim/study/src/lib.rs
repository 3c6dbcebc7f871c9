//! Studies: many simulations described by one file. The result of each is kept, and one table shows all of them.
//!
//! A [`Study`] is read from a file and contains [`Point`]s. Each point is an independent simulation with a [`Key`]: a hash of
//! everything that affects its result. A [`Store`] keeps one file per point. [`run_points`] computes the missing ones. A
//! [`PointTable`] has a row for each point.
mod error;
mod estimate;
mod factors;
mod file;
#[cfg(test)]
#[path = "../build/fingerprint.rs"]
mod fingerprint;
mod key;
mod pace;
mod parameters;
mod parquet;
mod point;
mod row;
mod runner;
mod series;
mod sources;
mod speeds;
mod store;
mod study;
#[cfg(test)]
mod tests;

pub use error::StudyError;
pub use estimate::{Basis, TimeEstimate, estimate, memory_needed, short_run_s};
pub use key::{COMMIT, FINGERPRINT, Key};
pub use pace::StudyPace;
pub use parameters::{Parameters, Shell};
pub use point::{Labels, Point, PointWork};
pub use row::{
    COLUMNS, INTERVAL, LAUNCHES, NO_STATISTICS, PointTable, StudyColumn, StudyRow, run_row, run_table,
    together_row,
};
pub use runner::{Orders, StudyProgress, Summary, run_points};
pub use series::series;
pub use speeds::{Speeds, measured_s};
pub use store::{Provenance, Status, Store, StoreError, StoreLookup, StoredPoint};
pub use study::{Study, StudyScale};
