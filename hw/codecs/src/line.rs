//! The cache line of the codecs: up to 128 bytes, in 64-bit words.
use selvedge_hw::ValueNames;
use selvedge_state::State;

/// Names of the bit that tells a compressed payload from a line.
pub(crate) const PAYLOAD_FORMS: ValueNames = ValueNames {
    what: "payload_form",
    ports: &["compressed_i", "compressed_o"],
    names: &[(0, "raw"), (1, "compressed")],
};

/// Line sizes in bytes that BDI, FPC, C-Pack and BPC handle.
pub const LINE_BYTES: [usize; 3] = [32, 64, 128];

/// 64-bit words of the largest line.
pub const LINE_WORDS: usize = 16;

/// A line or a payload in little-endian 64-bit words: word 0 holds bytes 0 to 7. A shorter line leaves the upper words zero.
pub type Line = [u64; LINE_WORDS];

/// Result of the decompression of a payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Decompressed {
    /// The line; all zeros if there is an error.
    pub line: Line,
    /// `true` if the payload or its tag is invalid.
    pub error: bool,
}

/// A payload as bits, in the definitions that tests compare the codecs with.
#[cfg(test)]
pub(crate) type Bits = bitvec::vec::BitVec<u64, bitvec::order::Lsb0>;

/// Returns the words of a line given as bytes.
///
/// # Panics
/// Panics unless the line has 32, 64 or 128 bytes.
pub fn words_of(line: &[u8]) -> Line {
    assert_line_bytes(line.len());
    let mut words = Line::default();
    for (word, bytes) in words.iter_mut().zip(line.chunks_exact(8)) {
        *word = u64::from_le_bytes(bytes.try_into().expect("chunks of eight bytes"));
    }
    words
}

/// Returns the bytes of a line given as words. The bytes beyond a shorter line are zero.
pub fn bytes_of(line: &Line) -> [u8; 8 * LINE_WORDS] {
    let mut bytes = [0; 8 * LINE_WORDS];
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(line) {
        *bytes = word.to_le_bytes();
    }
    bytes
}

/// Panics unless the codecs support the size.
pub(crate) fn assert_line_bytes(line_bytes: usize) {
    assert!(LINE_BYTES.contains(&line_bytes), "a line has 32, 64 or 128 bytes, not {line_bytes}");
}
