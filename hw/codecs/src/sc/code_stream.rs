//! The stream of codes from the code builder to the codecs.
use super::huffman::{CodeBook, ScSymbol};
use selvedge_state::State;

/// One item of a code stream, which a handshake transfers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct CodeItem {
    /// `true` for the first code of a stream, which clears the tables.
    pub first: bool,
    /// `true` for the last code of a stream, after which the codes are in use.
    pub last: bool,
    /// Index of the table entry that has this code; zero for the escape.
    pub index: u16,
    /// `true` for the code of the escape symbol.
    pub escape: bool,
    /// Value that has this code; zero for the escape.
    pub value: u32,
    /// The code, right-aligned.
    pub code: u16,
    /// Length of the code in bits, 1 to 16.
    pub length: u8,
}

/// Returns the stream that loads a code book, in canonical order.
pub fn code_stream(book: &CodeBook) -> Vec<CodeItem> {
    let codes = book.codes();
    let item = |(rank, code): (usize, &super::huffman::SymbolCode)| {
        let (index, value, escape) = match code.symbol {
            ScSymbol::Value { index, value } => (index, value, false),
            ScSymbol::Escape => (0, 0, true),
        };
        let (first, last) = (rank == 0, rank + 1 == codes.len());
        CodeItem { first, last, index, escape, value, code: code.bits, length: code.length }
    };
    codes.iter().enumerate().map(item).collect()
}
