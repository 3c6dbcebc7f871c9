//! The stream in which the codes come from their builder to the codecs.
use super::huffman::{CodeBook, Symbol};
use selvedge_state::State;

/// One handshake of a code stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct CodeItem {
    /// The first code of a stream: it clears the tables.
    pub first: bool,
    /// The last code of a stream: from now on it is in use.
    pub last: bool,
    /// The table entry that the code is for; zero for the escape.
    pub index: u16,
    /// The code is the escape symbol's.
    pub escape: bool,
    /// The value that the code stands for; zero for the escape.
    pub value: u32,
    /// The code, right-aligned.
    pub code: u16,
    /// Its length in bits, 1 to 16.
    pub length: u8,
}

/// The stream that loads a code book, in canonical order.
pub fn code_stream(book: &CodeBook) -> Vec<CodeItem> {
    let codes = book.codes();
    let item = |(rank, code): (usize, &super::huffman::Code)| {
        let (index, value, escape) = match code.symbol {
            Symbol::Value { index, value } => (index, value, false),
            Symbol::Escape => (0, 0, true),
        };
        let (first, last) = (rank == 0, rank + 1 == codes.len());
        CodeItem { first, last, index, escape, value, code: code.bits, length: code.length }
    };
    codes.iter().enumerate().map(item).collect()
}
