//! CUDA programs as they are: the runtime library that a program loads in place of NVIDIA's, and the device that serves it.
//!
//! The library ([`libraries`]) is small and knows nothing of the simulator: it sends each call to the process that simulates
//! ([`protocol`]), where a [`session`] turns it into an [`operation`] on a [`device`]. A recorded list of operations replays
//! without the program. Why these are two processes is in `docs/decisions/cuda.md`.
pub mod device;
pub mod fatbin;
pub mod libraries;
pub mod operation;
pub mod protocol;
pub mod session;
