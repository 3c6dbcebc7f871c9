//! Runs unmodified CUDA programs: a runtime library that replaces NVIDIA's, and the device that serves it.
//!
//! The library ([`libraries`]) is small and independent of the simulator. It sends each call to the simulating process
//! ([`protocol`]). There, a [`session`] converts the call to an [`operation`] on a [`device`]. A recorded list of operations
//! replays without the program. `docs/decisions/cuda.md` explains why there are two processes.
pub mod device;
mod families;
pub mod fatbin;
pub mod libraries;
pub mod operation;
pub mod protocol;
pub mod refusals;
pub mod session;
pub mod streams;
