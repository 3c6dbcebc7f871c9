//! Runs workloads, launch files and traces on the simulated GPU, with mechanisms, and reports the results.
//!
//! - [`run`](mod@run) and [`report`]: a timed run and its report; [`simulation`]: the same, set up by names.
//! - [`stepped`]: a run that advances by a number of cycles at a time.
//! - [`functional`]: a run for its values only, without timing; [`intervals`]: an estimate from parts of a run;
//!   [`launch_range`]: the launches that are simulated.
//! - [`source`]: workloads, launch files, traces and CUDA programs; [`mechanism`]: the registry.
//! - [`overrides`]: values that override a configuration.
//! - [`statistic`]: statistics by name; [`best`]: searches; [`census`]: compressibility of a workload's lines.
//! - [`together`]: several programs that share the GPU; [`fidelity`]: microbenchmarks against closed forms;
//!   [`calibration`]: microbenchmarks of a real GPU.
//!
//! The crates for the GPU, the PTX executor and the workloads are reexported under their modules' names.
pub mod best;
pub mod calibration;
pub mod census;
pub mod checkpoint;
pub mod conservation;
mod error;
pub mod fidelity;
pub mod functional;
pub mod intervals;
pub mod launch_range;
mod launches;
pub mod mechanism;
pub mod overrides;
pub mod plain_file;
pub mod report;
pub mod run;
pub mod simulation;
pub mod source;
pub mod statistic;
pub mod stepped;
#[cfg(test)]
mod timeline_tests;
pub mod together;
#[cfg(test)]
mod trace_tests;

pub use selvedge_compressed_memory::codecs::Ratios;
pub use selvedge_gpu::{
    bounds, cache, clocked_memory, config, crossbar, dram, energy, events, gpu, limits, packet, partition,
    pipe_kind, printable, reach, share, sm, snapshot, stats, timeline, trace, witness,
};
pub use selvedge_ptx::{memory, ptx, texture};
pub use selvedge_workloads::{launch_file, workload};

/// Runs the code examples of the page on custom blocks as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/how-to/add-a-block.md")]
struct AddABlock;

/// Runs the code examples of the page on the source of a block as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reference/block-source.md")]
struct BlockSource;

/// Runs the code examples of the page on custom mechanisms as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/how-to/add-a-mechanism.md")]
struct AddAMechanism;
