//! The cycle-accurate GPU: SMs, caches, crossbar, L2 partitions and DRAM that run PTX kernels with real values.
//!
//! From the bottom up: [`memory`] (functional device memory), [`texture`] (views of it), [`ptx`] (front end), [`workload`] and [`launch_file`]
//! (kernels with their host programs), [`config`], [`packet`], [`cache`], [`crossbar`], [`dram`], [`partition`] (the memory
//! system behind the SMs), [`sm`], [`gpu`], [`mechanism`] (what plugs into SMs and partitions), [`run`] and [`report`] (and [`simulation`], one run by names), [`energy`], [`fidelity`]; [`share`] and
//! [`together`] for kernels of several programs at the same time; [`limits`] on what a run takes of the host, [`reach`] on where its
//! files lie; [`printable`](mod@printable) for text of others; [`trace`] for recorded instructions instead of kernels.
pub mod best;
pub mod bounds;
pub mod cache;
pub mod config;
pub mod crossbar;
pub mod dram;
pub mod energy;
pub mod events;
pub mod fidelity;
#[cfg(test)]
mod fuzz;
pub mod gpu;
pub mod launch_file;
pub mod limits;
pub mod mechanism;
pub mod packet;
pub mod partition;
pub mod pipe_kind;
pub mod printable;
pub mod reach;
pub mod report;
pub mod run;
pub mod share;
pub mod simulation;
pub mod sm;
pub mod snapshot;
pub mod source;
pub mod statistic;
pub mod stats;
pub mod together;
pub mod trace;
pub mod witness;
pub mod workload;

pub use selvedge_ptx::{memory, ptx, texture};
