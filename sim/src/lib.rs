//! The cycle-accurate GPU: SMs, caches, crossbar, L2 partitions and DRAM that run PTX kernels with real values.
//!
//! Layers, each depending only on those above it: [`memory`] (functional device memory), [`ptx`] (front end),
//! [`workload`] (kernels with their host programs), [`config`], [`packet`], [`cache`], [`crossbar`], [`dram`],
//! [`partition`].
pub mod cache;
pub mod config;
pub mod crossbar;
pub mod dram;
pub mod memory;
pub mod packet;
pub mod partition;
pub mod ptx;
pub mod stats;
pub mod workload;
