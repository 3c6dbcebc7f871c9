//! CABA's C-Pack: at most four dictionary values, so that all words are handled in parallel.
//!
//! ```text
//! payload   head, 4 bits per word | 0 to 4 values, 32 bits each | a byte per word, if any word needs one
//!           (kind 2, value 2)
//! ```
use super::codec::{CpackCompressed, CpackEncoding, get, put, put_word, word};
use crate::line::{Decompressed, Line};

/// Maximum number of dictionary values.
pub const VALUES: usize = 4;

/// Kind of a word: the four encodings of CABA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SmallCode {
    /// All bytes are zero.
    Zero = 0,
    /// Only the lowest byte is not zero.
    Byte = 1,
    /// The word is a dictionary value.
    Match = 2,
    /// The upper three bytes match a dictionary value.
    Partial = 3,
}

impl SmallCode {
    /// All kinds, by number.
    pub const ALL: [SmallCode; 4] = [SmallCode::Zero, SmallCode::Byte, SmallCode::Match, SmallCode::Partial];

    /// Returns the name of the kind in a few words.
    pub const fn name(self) -> &'static str {
        match self {
            SmallCode::Zero => "zero",
            SmallCode::Byte => "zero-extended byte",
            SmallCode::Match => "full match",
            SmallCode::Partial => "match but last byte",
        }
    }
}

/// Compresses a line. A line that needs more than four values stays uncompressed.
pub(super) fn compress(line: &Line, line_bytes: usize) -> CpackCompressed {
    let words = line_bytes / 4;
    let uncompressed = CpackCompressed {
        encoding: CpackEncoding::Uncompressed,
        bits: 8 * line_bytes as u16,
        payload: *line,
    };
    let mut values: Vec<u32> = Vec::with_capacity(VALUES);
    let mut payload = Line::default();
    let mut needs_bytes = false;
    for index in 0..words {
        let own = word(line, index);
        let (kind, value) = if own == 0 {
            (SmallCode::Zero, 0)
        } else if own >> 8 == 0 {
            (SmallCode::Byte, 0)
        } else {
            let place = match values.iter().position(|value| value >> 8 == own >> 8) {
                Some(place) => place,
                None if values.len() == VALUES => return uncompressed,
                None => {
                    values.push(own);
                    values.len() - 1
                }
            };
            (if values[place] == own { SmallCode::Match } else { SmallCode::Partial }, place)
        };
        needs_bytes |= matches!(kind, SmallCode::Byte | SmallCode::Partial);
        put(&mut payload, 4 * index, kind as u64 | (value as u64) << 2, 4);
    }
    let mut bits = 4 * words;
    for value in values {
        put(&mut payload, bits, u64::from(value), 32);
        bits += 32;
    }
    if needs_bytes {
        for index in 0..words {
            let kind = get(&payload, 4 * index, 2);
            let byte = if kind == SmallCode::Byte as u64 || kind == SmallCode::Partial as u64 {
                u64::from(word(line, index) & 0xff)
            } else {
                0
            };
            put(&mut payload, bits, byte, 8);
            bits += 8;
        }
    }
    CpackCompressed { encoding: CpackEncoding::Compressed, bits: bits as u16, payload }
}

/// Decompresses a payload with the tag of an encoding. In a compressor's payload each value has a full match. This is not
/// checked: the bits at a value's position are read in any case.
pub(super) fn decompress(tag: u8, payload: &Line, line_bytes: usize) -> Decompressed {
    if tag == CpackEncoding::Uncompressed.tag() {
        return Decompressed { line: *payload, error: false };
    }
    if tag != CpackEncoding::Compressed.tag() {
        return Decompressed { line: Line::default(), error: true };
    }
    let words = line_bytes / 4;
    let head = |index: usize| (get(payload, 4 * index, 2), get(payload, 4 * index + 2, 2) as usize);
    let values = (0..words)
        .map(head)
        .filter(|(kind, _)| *kind >= SmallCode::Match as u64)
        .map(|(_, value)| value + 1)
        .max()
        .unwrap_or(0);
    let bytes_at = 4 * words + 32 * values;
    let mut line = Line::default();
    for index in 0..words {
        let (kind, value) = head(index);
        let value = || get(payload, 4 * words + 32 * value, 32) as u32;
        let byte = || get(payload, bytes_at + 8 * index, 8) as u32;
        let own = match kind {
            0 => 0,
            1 => byte(),
            2 => value(),
            _ => value() & !0xff | byte(),
        };
        put_word(&mut line, index, own);
    }
    Decompressed { line, error: false }
}

/// Returns whether a compressed payload has a word of this kind.
pub(super) fn has_kind(payload: &Line, line_bytes: usize, kind: SmallCode) -> bool {
    (0..line_bytes / 4).any(|index| get(payload, 4 * index, 2) == kind as u64)
}
