//! SC, statistical compression: cache lines as Huffman codes of their 32-bit words, built from how often values occur.
//!
//! Source: LATTE-CC, section IV.C.2, after SC2 (Arelakis and Stenström, ISCA 2014).
//!
//! ```text
//!  words ->  value-frequency  --counts-->  code builder  --code stream-->  compressor    lines -> payloads
//!            table (VFT)                                 \------------->  decompressor  payloads -> lines
//! ```
//!
//! What all parts share:
//! - **Entries.** Tables are set-associative with [`WAYS`] ways. The set of a value is the XOR of its slices ([`set_of`]):
//!   with 1024 entries, of its four bytes. An entry's index is its set followed by its way (the low two bits). The rest
//!   of the value is the tag ([`tag_of`]); set and tag give the value back ([`value_of`]).
//! - **Symbols.** Every entry whose count is not zero, and the escape symbol, which stands before a word that has no code.
//!   There is always a code for the escape.
//! - **Canonical order.** Symbols go by falling weight; equal weights by rising index, the escape after all entries of its
//!   weight. Code lengths never fall in this order. The first code is all zeros; each next one is the code before it plus
//!   one, extended by zeros to its own length. A code book is defined by the order and the lengths alone.
//! - **Code stream.** The builder gives the codes in canonical order, one per handshake, the first and the last marked. A
//!   code is right-aligned in its field. The first code clears the tables of a codec.
//! - **Payload.** Words are coded in the order of the line, word 0 first; the first bit of the stream is bit 0 of the
//!   payload. A code's most significant bit comes first; after the escape's code come the 32 bits of the word, least
//!   significant first. A line whose codes need more bits than the line has is kept as it is.
//!
//! [`huffman`] is the golden arithmetic: lengths, codes, encoding and decoding in plain Rust.

pub mod code_builder;
mod code_stream;
pub mod compressor;
pub mod decompressor;
mod hash;
pub mod huffman;
mod line;
mod loader;
pub mod vft;
pub mod vocabulary;

pub use code_stream::{CodeItem, code_stream};
pub use hash::{WAYS, set_of, tag_of, value_of};
pub use line::{LINE_BITS, WORDS, words_of};

/// Bits of a set's number in the tables of the codecs.
pub(crate) const SET_BITS: u32 = 8;

/// Sets of those tables.
pub(crate) const SETS: usize = 1 << SET_BITS;

/// Entries of those tables.
pub(crate) const ENTRIES: usize = SETS * WAYS;

/// Bits of a word, the unit that is counted and coded.
pub const WORD_BITS: usize = 32;

/// The longest code that any parameter allows.
pub const MAX_CODE_BITS: usize = 16;
