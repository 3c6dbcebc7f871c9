//! Memoization in the whole GPU.
