//! The GPU, cycle by cycle: SMs, caches, crossbar, L2 partitions and DRAM that run kernels with real values.
//!
//! From the bottom up: [`config`], [`packet`], [`cache`], [`crossbar`], [`dram`], [`partition`] (the memory system behind the
//! SMs), [`sm`], [`gpu`]; [`clocked_memory`] is the memory system for SMs of others; [`mechanism`] is the interface of what plugs into SMs and partitions, [`energy`] what the events
//! cost, [`timeline`] what happens in each cycle, [`trace`] recorded instructions instead of kernels, [`share`] how kernels of several programs divide the GPU;
//! [`limits`] on what a run takes of the host, [`reach`] on where its files lie.
mod abilities;
pub mod bounds;
pub mod cache;
pub mod clocked_memory;
pub mod config;
pub mod crossbar;
pub mod dram;
pub mod energy;
pub mod events;
pub mod gpu;
mod id_set;
pub mod limits;
pub mod mechanism;
pub mod packet;
pub mod partition;
pub mod parts;
pub mod pipe_kind;
pub mod reach;
pub mod share;
pub mod sm;
pub mod snapshot;
pub mod stage;
pub mod stats;
pub mod timeline;
pub mod trace;
mod wakes;
pub mod witness;

pub use selvedge_hw::printable;
