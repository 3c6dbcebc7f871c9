//! Splits PTX text into tokens. Each character is read a bounded number of times, so the time is linear in the text.

use super::error::quote;

/// A piece of PTX text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Token<'a> {
    /// A name, register, directive or opcode with its dotted modifiers: `%r1`, `.reg`, `add.s32`, `%tid.x`.
    Word(&'a str),
    /// An integer literal. A minus sign is a separate token.
    Integer(u64),
    /// A single-precision literal `0fXXXXXXXX`, as its bits.
    Single(u32),
    /// A double-precision literal, decimal or `0dXXXXXXXXXXXXXXXX`, as its bits.
    Double(u64),
    /// A quoted string, without its quotes.
    Text(&'a str),
    /// Any other single character.
    Mark(char),
    /// The end of the text.
    End,
}

impl std::fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Word(word) => write!(f, "'{}'", quote(word)),
            Self::Integer(value) => write!(f, "'{value}'"),
            Self::Single(bits) => write!(f, "'0f{bits:08X}'"),
            Self::Double(bits) => write!(f, "'0d{bits:016X}'"),
            Self::Text(text) => write!(f, "\"{}\"", quote(text)),
            Self::Mark(mark) => write!(f, "'{mark}'"),
            Self::End => f.write_str("the end of the file"),
        }
    }
}

/// Reads tokens from a text.
#[derive(Debug, Clone)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    position: usize,
    /// Line of the next character, from 1.
    line: u32,
}

fn continues_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%' | b'.')
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, position: 0, line: 1 }
    }

    /// Returns the offset of the next character in the text.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// Moves back to `position` in `line`, at which a token must begin.
    pub(crate) fn go_back(&mut self, position: usize, line: u32) {
        (self.position, self.line) = (position, line);
    }

    /// Skips a block in braces with any contents. The next character must be its `{`. Returns `false` without a closing
    /// brace.
    pub(crate) fn skip_block(&mut self) -> bool {
        let mut depth = 0u32;
        while self.skip_blanks().is_ok() {
            match self.peek() {
                None => return false,
                Some(b'"') if self.string().is_ok() => continue,
                Some(b'{') => depth += 1,
                Some(b'}') => depth -= 1,
                _ => {}
            }
            self.position += 1;
            if depth == 0 {
                return true;
            }
        }
        false
    }

    /// Returns the text from `start` up to the next character.
    pub(crate) fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.position]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn skip_blanks(&mut self) -> Result<(), (u32, String)> {
        loop {
            let rest = &self.text.as_bytes()[self.position..];
            match rest {
                [b'\n', ..] => {
                    self.line += 1;
                    self.position += 1;
                }
                [b' ' | b'\t' | b'\r' | 0x0c, ..] => self.position += 1,
                [b'/', b'/', ..] => {
                    self.position += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len())
                }
                [b'/', b'*', ..] => {
                    let start = self.line;
                    let Some(length) = self.text[self.position + 2..].find("*/") else {
                        return Err((start, "comment '/*' has no end".to_owned()));
                    };
                    let comment = &rest[..length + 4];
                    self.line += comment.iter().filter(|&&b| b == b'\n').count() as u32;
                    self.position += comment.len();
                }
                _ => return Ok(()),
            }
        }
    }

    /// Returns the next token, with its line and the offset of its first character.
    pub(crate) fn next(&mut self) -> Result<(Token<'a>, u32, usize), (u32, String)> {
        self.skip_blanks()?;
        let (line, start) = (self.line, self.position);
        let Some(byte) = self.peek() else {
            return Ok((Token::End, line, start));
        };
        let token = match byte {
            b'0'..=b'9' => self.number().map_err(|message| (line, message))?,
            b'"' => self.string().map_err(|message| (line, message))?,
            _ if continues_word(byte) => self.word(),
            b' '..=b'~' => {
                self.position += 1;
                Token::Mark(char::from(byte))
            }
            _ => {
                let character = self.text[start..].chars().next().unwrap_or('?');
                return Err((line, format!("character {character:?} does not belong in PTX")));
            }
        };
        Ok((token, line, start))
    }

    fn word(&mut self) -> Token<'a> {
        let start = self.position;
        let bytes = self.text.as_bytes();
        let directive = bytes.get(start) == Some(&b'.');
        loop {
            match bytes.get(self.position) {
                // Directives and types may follow each other without a blank: `.param.u64`.
                Some(b'.') if directive && self.position > start => {
                    return Token::Word(&self.text[start..self.position]);
                }
                Some(&b) if continues_word(b) => self.position += 1,
                // A double colon continues a qualifier such as `.shared::cta`. The single colon after a label ends
                // the word.
                Some(b':')
                    if bytes.get(self.position + 1) == Some(&b':')
                        && bytes.get(self.position + 2).is_some_and(|&b| continues_word(b)) =>
                {
                    self.position += 2;
                }
                _ => return Token::Word(&self.text[start..self.position]),
            }
        }
    }

    fn string(&mut self) -> Result<Token<'a>, String> {
        let body = &self.text[self.position + 1..];
        let end = body.find(['"', '\n']).filter(|&end| body.as_bytes()[end] == b'"');
        let end = end.ok_or_else(|| {
            format!("string \"{}\" has no end on its line", quote(body.lines().next().unwrap_or_default()))
        })?;
        self.position += end + 2;
        Ok(Token::Text(&body[..end]))
    }

    fn number(&mut self) -> Result<Token<'a>, String> {
        let start = self.position;
        let bytes = self.text.as_bytes();
        while bytes.get(self.position).is_some_and(|&b| b.is_ascii_alphanumeric() || b == b'.') {
            self.position += 1;
        }
        // The exponent of a decimal number may have a sign.
        let so_far = &self.text[start..self.position];
        let is_hex = so_far.starts_with("0x") || so_far.starts_with("0X");
        if !is_hex && so_far.ends_with(['e', 'E']) && matches!(self.peek(), Some(b'+' | b'-')) {
            self.position += 1;
            while self.peek().is_some_and(|b| b.is_ascii_digit()) {
                self.position += 1;
            }
        }
        let text = &self.text[start..self.position];
        parse_number(text).ok_or_else(|| format!("'{}' is not a number", quote(text)))
    }
}

fn parse_number(text: &str) -> Option<Token<'static>> {
    let prefixed = |prefixes: [&str; 2]| prefixes.iter().find_map(|p| text.strip_prefix(p));
    if let Some(digits) = prefixed(["0f", "0F"]).filter(|d| d.len() == 8) {
        return u32::from_str_radix(digits, 16).ok().map(Token::Single);
    }
    if let Some(digits) = prefixed(["0d", "0D"]).filter(|d| d.len() == 16) {
        return u64::from_str_radix(digits, 16).ok().map(Token::Double);
    }
    let text = text.strip_suffix('U').unwrap_or(text);
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok().map(Token::Integer);
    let prefixed = |prefixes: [&str; 2]| prefixes.iter().find_map(|p| text.strip_prefix(p));
    if let Some(digits) = prefixed(["0x", "0X"]) {
        return radix(digits, 16);
    }
    if let Some(digits) = prefixed(["0b", "0B"]) {
        return radix(digits, 2);
    }
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return if text.len() > 1 && text.starts_with('0') { radix(&text[1..], 8) } else { radix(text, 10) };
    }
    text.parse::<f64>().ok().map(|value| Token::Double(value.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        let mut lexer = Lexer::new(text);
        let mut out = Vec::new();
        loop {
            match lexer.next().unwrap().0 {
                Token::End => return out,
                token => out.push(token),
            }
        }
    }

    #[test]
    fn words_keep_their_modifiers_and_labels_lose_their_colon() {
        use Token::{Mark, Word};
        assert_eq!(
            tokens("$L_1: @!%p1 ld.shared::cta.u32 %tid.x;"),
            [
                Word("$L_1"),
                Mark(':'),
                Mark('@'),
                Mark('!'),
                Word("%p1"),
                Word("ld.shared::cta.u32"),
                Word("%tid.x"),
                Mark(';')
            ]
        );
    }

    #[test]
    fn directives_need_no_blanks_between_them() {
        use Token::Word;
        assert_eq!(
            tokens(".param.u64 x.y .reg.v2.f32"),
            [Word(".param"), Word(".u64"), Word("x.y"), Word(".reg"), Word(".v2"), Word(".f32")]
        );
        assert_eq!(tokens(".."), [Word("."), Word(".")]);
    }

    #[test]
    fn every_kind_of_number_is_read() {
        assert_eq!(
            tokens("10 0x1F 0b101 017 42U 0f3F800000 0d3FF0000000000000 1.5 2e3 1e-2 0"),
            [
                Token::Integer(10),
                Token::Integer(31),
                Token::Integer(5),
                Token::Integer(15),
                Token::Integer(42),
                Token::Single(0x3F80_0000),
                Token::Double(1f64.to_bits()),
                Token::Double(1.5f64.to_bits()),
                Token::Double(2000f64.to_bits()),
                Token::Double(0.01f64.to_bits()),
                Token::Integer(0)
            ]
        );
    }

    #[test]
    fn comments_count_lines() {
        let mut lexer = Lexer::new("// one\n/* two\nthree */ x");
        assert_eq!(lexer.next().unwrap(), (Token::Word("x"), 3, 23));
    }

    #[test]
    fn a_block_is_skipped_with_all_that_is_in_it() {
        let mut lexer = Lexer::new("{ a \"}\" /* } */ { 12zz \u{1} é\n // }\n } \" { } } b");
        assert!(lexer.skip_block());
        assert_eq!(lexer.next().unwrap(), (Token::Word("b"), 3, 45));
        assert!(!Lexer::new("{ { }").skip_block());
        assert!(!Lexer::new("{ /* }").skip_block());
    }

    #[test]
    fn broken_tokens_name_their_line() {
        for (text, line) in
            [("\n\u{1}", 2), ("\n\n/* a", 3), ("\"abc\n\"", 1), ("0x", 1), ("12zz", 1), ("é", 1)]
        {
            assert_eq!(Lexer::new(text).next().unwrap_err().0, line, "{text:?}");
        }
    }
}
