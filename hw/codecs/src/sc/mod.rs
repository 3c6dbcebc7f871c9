//! SC, statistical compression: cache lines as Huffman codes of their 32-bit words, built from the frequencies of values.
//!
//! Source: LATTE-CC, section IV.C.2, after SC2 (Arelakis and Stenström, ISCA 2014).
//!
//! ```text
//!  words ->  value-frequency  --counts-->  code builder  --code stream-->  compressor    lines -> payloads
//!            table (VFT)                                 \------------->  decompressor  payloads -> lines
//! ```
//!
//! Definitions for all parts:
//! - **Entries.** Tables are set-associative with [`WAYS`] ways. The set of a value is the XOR of its slices ([`set_of`]);
//!   with 1024 entries, the slices are its four bytes. The index of an entry is its set followed by its way (the low two
//!   bits). The rest of the value is the tag ([`tag_of`]). Set and tag determine the value ([`value_of`]).
//! - **Symbols.** Every entry with a non-zero count is a symbol, and so is the escape. The escape precedes a word that has
//!   no code. It always has a code itself.
//! - **Canonical order.** Symbols are sorted by falling weight. Symbols of equal weight are sorted by rising index, and the
//!   escape follows the entries of its weight. Code lengths never decrease in this order. The first code is all zeros. Each
//!   next code is the previous code plus one, extended by zeros to its own length. The order and the lengths alone define a
//!   code book.
//! - **Code stream.** The builder sends the codes in canonical order, one per handshake. The first and the last code are
//!   marked. A code is right-aligned in its field. The first code clears the tables of a codec.
//! - **Payload.** Words are coded in the order of the line, word 0 first. The first bit of the stream is bit 0 of the
//!   payload. The most significant bit of a code comes first. After the code of the escape come the 32 bits of the word,
//!   least significant bit first. A line is stored uncompressed if its codes need more bits than the line has.
//!
//! [`huffman`] is the reference arithmetic in plain Rust: lengths, codes, encoding and decoding.

pub mod code_builder;
mod code_stream;
pub mod compressor;
pub mod decompressor;
#[cfg(test)]
mod family;
mod hash;
pub mod huffman;
#[cfg(test)]
mod huffman_properties;
mod line;
mod loader;
pub mod vft;
pub mod vocabulary;

pub use code_stream::{CodeItem, code_stream};
pub use hash::{WAYS, set_of, tag_of, value_of};
pub use line::{LINE_BITS, WORDS, words_of};

/// Bits of a set index in the tables of the codecs.
pub(crate) const SET_BITS: u32 = 8;

/// Number of sets in these tables.
pub(crate) const SETS: usize = 1 << SET_BITS;

/// Number of entries in these tables.
pub(crate) const ENTRIES: usize = SETS * WAYS;

/// Bits of a word, the unit that is counted and coded.
pub const WORD_BITS: usize = 32;

/// Maximum length of a code in bits, over all allowed parameters.
pub const MAX_CODE_BITS: usize = 16;
