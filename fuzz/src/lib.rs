//! What `cargo fuzz` feeds, one function for each kind of file.
pub mod targets;
