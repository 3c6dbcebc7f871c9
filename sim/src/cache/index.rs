//! Set index functions: which set of a cache a line belongs to.
use crate::config::IndexFunction;

/// A set index function with its elaborated constants.
#[derive(Clone, Copy, Debug)]
pub struct SetIndex {
    function: IndexFunction,
    line_shift: u32,
    mask: u64,
}

impl SetIndex {
    /// The index function of a cache with `sets` sets of lines of `line_bytes` bytes, both powers of two.
    pub fn new(function: IndexFunction, sets: u32, line_bytes: u32) -> Self {
        debug_assert!(sets.is_power_of_two() && line_bytes.is_power_of_two());
        Self { function, line_shift: line_bytes.trailing_zeros(), mask: u64::from(sets) - 1 }
    }

    /// The set of the line at byte address `line`.
    pub fn set(&self, line: u64) -> usize {
        match self.function {
            IndexFunction::Modulo => ((line >> self.line_shift) & self.mask) as usize,
        }
    }
}
