//! Selvedge's hardware blocks: one folder per mechanism, golden model and RTL.

pub mod rtl;
