//! Kernels with their host programs: the built-in [`workload`]s, and [`launch_file`]s for kernels of others.
pub mod launch_file;
pub mod workload;
