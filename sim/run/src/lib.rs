//! The simulator: runs workloads, launch files and traces on the GPU under mechanisms, and reports.
//!
//! [`run`](mod@run) and [`report`], [`simulation`] (one run by names), [`stepped`] (a run some cycles at a time), [`functional`] (values without timing), [`source`] (what runs), [`mechanism`] (the registry),
//! [`statistic`]s by their usual names, [`best`] (searches), [`census`] (compressibility), [`together`] (several programs at the same time), and
//! [`fidelity`]. The crates below are here by their modules' names: the GPU, the PTX executor and the workloads.
pub mod best;
pub mod census;
pub mod checkpoint;
pub mod fidelity;
pub mod functional;
mod launches;
pub mod mechanism;
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

pub use selvedge_gpu::{
    bounds, cache, clocked_memory, config, crossbar, dram, energy, events, gpu, limits, packet, partition,
    pipe_kind, printable, reach, share, sm, snapshot, stats, timeline, trace, witness,
};
pub use selvedge_mechanisms::codecs::Ratios;
pub use selvedge_ptx::{memory, ptx, texture};
pub use selvedge_workloads::{launch_file, workload};

/// The Rust of the guide to mechanisms of one's own.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/extending.md")]
struct Guide;
