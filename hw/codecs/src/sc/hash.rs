//! Sets and tags of values in the tables of SC.
use super::WORD_BITS;

/// Ways of every set.
pub const WAYS: usize = 4;

/// Returns the set of a value among `2^set_bits` sets: the XOR of its slices of `set_bits` bits. `set_bits` must divide 32.
pub fn set_of(value: u32, set_bits: u32) -> u32 {
    let slices = (0..WORD_BITS as u32 / set_bits).map(|slice| value >> (slice * set_bits));
    slices.fold(0, |set, slice| set ^ slice) & ((1 << set_bits) - 1)
}

/// Returns the tag of a value: all bits above the lowest slice. Set and tag together determine the lowest slice.
pub fn tag_of(value: u32, set_bits: u32) -> u32 {
    value >> set_bits
}

/// Returns the value with this tag in this set.
pub fn value_of(tag: u32, set: u32, set_bits: u32) -> u32 {
    let upper = tag << set_bits;
    upper | (set ^ set_of(upper, set_bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_set_is_the_xor_of_the_bytes_or_of_the_nibbles() {
        assert_eq!(set_of(0x1234_5678, 8), 0x12 ^ 0x34 ^ 0x56 ^ 0x78);
        assert_eq!(set_of(0x1234_5678, 4), 0x8);
    }

    proptest! {
        #[test]
        fn set_and_tag_give_the_value_back(value: u32, set_bits in prop_oneof![Just(4u32), Just(8)]) {
            prop_assert_eq!(value_of(tag_of(value, set_bits), set_of(value, set_bits), set_bits), value);
        }
    }
}
