//! Empty: stands in for a dependency that rust-hdl-core names and never uses.
