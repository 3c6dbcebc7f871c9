//! The eleven BDI encodings: tags, sizes, layout of the payload, and the order in which the compressor prefers them.
use selvedge_state::State;
use serde::{Deserialize, Serialize};

/// Encoding of a line (LATTE-CC, section IV.C.1). `B8D1` means words of 8 bytes, each stored as a difference of 1 byte from
/// a base. The discriminant is the 4-bit tag; tags 11 to 15 are undefined.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, State,
)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum BdiEncoding {
    /// The line itself.
    #[default]
    Uncompressed = 0,
    /// All bits are zero; the payload is empty.
    Zeros = 1,
    /// All 8-byte words are equal.
    B8D0 = 2,
    /// 8-byte words, 1-byte deltas.
    B8D1 = 3,
    /// 8-byte words, 2-byte deltas.
    B8D2 = 4,
    /// 8-byte words, 4-byte deltas.
    B8D4 = 5,
    /// All 4-byte words are equal.
    B4D0 = 6,
    /// 4-byte words, 1-byte deltas.
    B4D1 = 7,
    /// 4-byte words, 2-byte deltas.
    B4D2 = 8,
    /// All 2-byte words are equal.
    B2D0 = 9,
    /// 2-byte words, 1-byte deltas.
    B2D1 = 10,
}

impl BdiEncoding {
    /// All encodings, in the order of their tags.
    pub const ALL: [BdiEncoding; 11] = {
        use BdiEncoding::*;
        [Uncompressed, Zeros, B8D0, B8D1, B8D2, B8D4, B4D0, B4D1, B4D2, B2D0, B2D1]
    };

    /// All tags, each with the name of its encoding.
    pub const NAMES: [(u64, &'static str); 11] = {
        let mut names = [(0, ""); 11];
        let mut at = 0;
        while at < names.len() {
            names[at] = (at as u64, Self::ALL[at].name());
            at += 1;
        }
        names
    };

    /// Returns the name of the encoding: bytes of a base and of a delta.
    pub const fn name(self) -> &'static str {
        use BdiEncoding::*;
        match self {
            Uncompressed => "uncompressed",
            Zeros => "zeros",
            B8D0 => "b8d0",
            B8D1 => "b8d1",
            B8D2 => "b8d2",
            B8D4 => "b8d4",
            B4D0 => "b4d0",
            B4D1 => "b4d1",
            B4D2 => "b4d2",
            B2D0 => "b2d0",
            B2D1 => "b2d1",
        }
    }

    /// Returns the 4-bit tag.
    pub fn tag(self) -> u8 {
        self as u8
    }

    /// Returns the encoding of a tag, or `None` for the undefined tags from 11 on.
    pub fn from_tag(tag: u8) -> Option<Self> {
        Self::ALL.get(usize::from(tag)).copied()
    }

    /// Returns the bytes of a base, which are the bytes of a word; 0 if the encoding has no base.
    pub const fn base_bytes(self) -> usize {
        use BdiEncoding::*;
        match self {
            Uncompressed | Zeros => 0,
            B8D0 | B8D1 | B8D2 | B8D4 => 8,
            B4D0 | B4D1 | B4D2 => 4,
            B2D0 | B2D1 => 2,
        }
    }

    /// Returns the bytes of a delta; 0 if the encoding has no deltas.
    pub const fn delta_bytes(self) -> usize {
        use BdiEncoding::*;
        match self {
            Uncompressed | Zeros | B8D0 | B4D0 | B2D0 => 0,
            B8D1 | B4D1 | B2D1 => 1,
            B8D2 | B4D2 => 2,
            B8D4 => 4,
        }
    }

    /// Returns the number of words in a line of `line_bytes`; 0 if the encoding has no words.
    pub const fn words(self, line_bytes: usize) -> usize {
        match self.base_bytes() {
            0 => 0,
            bytes => line_bytes / bytes,
        }
    }

    /// Returns the bytes of the mask, which marks the words that are differences from zero; 0 if the encoding has no deltas.
    pub const fn mask_bytes(self, line_bytes: usize) -> usize {
        match self.delta_bytes() {
            0 => 0,
            _ => self.words(line_bytes).div_ceil(8),
        }
    }

    /// Returns the bytes of the payload: base, mask and deltas.
    pub const fn size(self, line_bytes: usize) -> usize {
        match self {
            BdiEncoding::Uncompressed => line_bytes,
            _ => {
                self.base_bytes() + self.mask_bytes(line_bytes) + self.words(line_bytes) * self.delta_bytes()
            }
        }
    }

    /// Returns all encodings in the order of the compressor's preference: smallest payload first, ties to the wider base.
    pub const fn by_size(line_bytes: usize) -> [BdiEncoding; 11] {
        let mut order = Self::ALL;
        let mut sorted = 1;
        while sorted < order.len() {
            let mut at = sorted;
            while at > 0 && order[at].beats(order[at - 1], line_bytes) {
                let better = order[at];
                order[at] = order[at - 1];
                order[at - 1] = better;
                at -= 1;
            }
            sorted += 1;
        }
        order
    }

    const fn beats(self, other: BdiEncoding, line_bytes: usize) -> bool {
        let (mine, theirs) = (self.size(line_bytes), other.size(line_bytes));
        mine < theirs || mine == theirs && self.base_bytes() > other.base_bytes()
    }
}

/// Returns the number of 32-byte units (DRAM bursts, sub-blocks of a compressed cache) for a payload of `size` bytes: at
/// least one.
pub const fn units(size: usize) -> usize {
    match size.div_ceil(32) {
        0 => 1,
        units => units,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::LINE_BYTES;

    #[test]
    fn tags_and_encodings_are_one_to_one() {
        for tag in 0..16 {
            match BdiEncoding::from_tag(tag) {
                Some(encoding) => {
                    assert_eq!(encoding.tag(), tag);
                    assert_eq!(BdiEncoding::NAMES[usize::from(tag)], (u64::from(tag), encoding.name()));
                }
                None => assert!(tag > 10),
            }
        }
    }

    #[test]
    fn sizes_at_128_bytes_are_those_of_the_formula() {
        let sizes = BdiEncoding::ALL.map(|encoding| encoding.size(128));
        assert_eq!(sizes, [128, 0, 8, 26, 42, 74, 4, 40, 72, 2, 74]);
    }

    #[test]
    fn equal_sizes_go_to_the_wider_base() {
        use BdiEncoding::*;
        assert_eq!(BdiEncoding::by_size(128)[4..], [B8D1, B4D1, B8D2, B4D2, B8D4, B2D1, Uncompressed]);
        assert_eq!(BdiEncoding::by_size(64)[4..], [B8D1, B4D1, B8D2, B4D2, B2D1, B8D4, Uncompressed]);
        assert_eq!(BdiEncoding::by_size(32)[4..], [B8D1, B4D1, B8D2, B2D1, B4D2, B8D4, Uncompressed]);
        for line_bytes in LINE_BYTES {
            assert_eq!(BdiEncoding::by_size(line_bytes)[..4], [Zeros, B2D0, B4D0, B8D0]);
        }
    }

    #[test]
    fn a_payload_takes_at_least_one_unit() {
        assert_eq!([0, 1, 32, 33, 128].map(units), [1, 1, 1, 2, 4]);
    }
}
