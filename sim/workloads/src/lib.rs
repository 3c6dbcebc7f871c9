//! Kernels with their host programs: the built-in [`workload`]s, and [`launch_file`]s for users' kernels.
pub mod launch_file;
pub mod workload;
