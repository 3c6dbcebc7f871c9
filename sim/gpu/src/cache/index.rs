//! The set index of a cache, computed with the index functions of the hardware blocks.
use selvedge_hw::index_function::IndexFunction;
use selvedge_state::State;

/// A set index function with its constants.
#[derive(Clone, Copy, Debug, State)]
pub struct SetFunction {
    function: IndexFunction,
    line_shift: u32,
    sets: u32,
}

impl SetFunction {
    /// Creates the index function of a cache of `sets` sets. `line_bytes` must be a power of two. Functions other than the plain
    /// modulo need a number of sets that is a power of two from 16 to 1024.
    pub fn new(function: IndexFunction, sets: u32, line_bytes: u32) -> Self {
        debug_assert!(sets > 0 && line_bytes.is_power_of_two());
        Self { function, line_shift: line_bytes.trailing_zeros(), sets }
    }

    /// Returns the set of the line at byte address `line`.
    pub fn set(&self, line: u64) -> usize {
        let number = line >> self.line_shift;
        match self.function {
            // The plain modulo is defined for every number of sets. A power of two, the common case, needs no division.
            IndexFunction::Bmod if self.sets.is_power_of_two() => {
                (number & (u64::from(self.sets) - 1)) as usize
            }
            IndexFunction::Bmod => (number % u64::from(self.sets)) as usize,
            function => function.index(number as u32, self.sets) as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FUNCTIONS: [IndexFunction; 7] = [
        IndexFunction::Bmod,
        IndexFunction::Bxor,
        IndexFunction::Pmod,
        IndexFunction::APrime { mersenne: false },
        IndexFunction::APrime { mersenne: true },
        IndexFunction::DPrime { prime: 11 },
        IndexFunction::IPoly,
    ];

    proptest! {
        #[test]
        fn a_cache_takes_the_set_that_the_hardware_computes(bits in 4u32..11, line in 0u32.., byte in 0u64..128) {
            let sets = 1 << bits;
            for function in FUNCTIONS {
                let index = SetFunction::new(function, sets, 128);
                let set = function.index(line, sets) as usize;
                prop_assert_eq!(index.set(u64::from(line) * 128 + byte), set);
            }
        }
    }

    #[test]
    fn a_number_of_sets_that_is_no_power_of_two_is_used_whole() {
        let index = SetFunction::new(IndexFunction::Bmod, 48, 128);
        let sets: Vec<_> = (46..50).map(|line| index.set(line * 128)).collect();
        assert_eq!(sets, [46, 47, 0, 1]);
    }
}
