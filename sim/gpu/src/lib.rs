//! The GPU, simulated cycle by cycle: SMs, caches, crossbar, L2 partitions and DRAM that run kernels with real values.
//!
//! The modules, from the bottom up:
//! * [`config`], [`packet`], [`cache`], [`crossbar`] and [`dram`] are the basic parts.
//! * [`partition`] is the memory system, [`sm`] the streaming multiprocessor, and [`gpu`] the whole GPU.
//! * [`clocked_memory`] is the memory system for SMs outside the simulator.
//! * [`mechanism`] is the interface of mechanisms, which add parts to SMs and partitions.
//! * [`energy`] computes energy from events, and [`timeline`] records the events of each cycle.
//! * [`trace`] reads recorded instructions that replace kernels.
//! * [`share`] defines how kernels of several programs share the GPU.
//! * [`limits`] bounds the host resources of a run, and [`reach`] the location of its files.
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
pub mod kernel_slots;
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
