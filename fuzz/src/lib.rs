//! Entry points of `cargo fuzz`, one function for each kind of file.
pub mod targets;
