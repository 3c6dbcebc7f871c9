//! Tests of the command as a user runs it. They are one program, so that it is linked once.
mod bad_input;
#[cfg(unix)]
mod bench;
#[cfg(unix)]
mod browser;
mod caba;
mod calibrate;
mod checkpoints;
mod circles;
mod classify;
#[cfg(target_os = "linux")]
mod clusters;
mod command;
mod compare;
mod configs;
mod cosimulation;
#[cfg(target_os = "linux")]
mod cublas;
mod cuda;
mod energy;
mod engines;
mod every_gpu;
mod fidelity;
mod functional;
mod gtkwave;
mod guide;
mod help;
#[cfg(target_os = "linux")]
mod instructions;
// Only GNU's `env` has `--default-signal`.
#[cfg(target_os = "linux")]
mod interrupt;
mod lamar;
mod layers;
mod limits;
mod lists;
mod lockstep;
mod mechanism_pages;
mod output_page;
mod outputs;
mod own_kernels;
mod pages;
mod parameters;
mod plugin;
#[cfg(target_os = "linux")]
mod printing;
mod probe;
mod python;
mod races;
mod readme;
#[cfg(unix)]
mod report;
mod reproduce;
#[cfg(unix)]
mod screenshots;
mod shared_cells;
mod stale_verilog;
mod statistics;
mod struct_sizes;
mod studies;
#[cfg(unix)]
mod suite;
#[cfg(target_os = "linux")]
mod suite_command;
mod together;
mod trace_events;
mod traces;
mod tutorial_waveform;
mod type_names;
mod untrusted;
mod validation;
mod verify;
mod words;
mod workloads;
