//! Files of numbers, as text or as little-endian bytes.
use super::element::Element;
use super::error::LaunchFileError;
use super::format::NumberText;
use super::room::Most;
use selvedge_hw::file;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// Max length of a number in a text file, in bytes. Longer words are rejected.
const LONGEST: usize = 4096;

/// Max characters of a file that a message quotes.
const QUOTE: usize = 40;

/// Reads a file, which may be a pipe, of at most `most` bytes.
pub(super) fn read(path: &Path, most: u64) -> Result<Vec<u8>, LaunchFileError> {
    file::read(path, most).map_err(|why| LaunchFileError::unreadable(path, why))
}

/// Returns the bytes of the numbers in a file, which may have at most `most` numbers.
pub(super) fn load(
    path: &Path,
    format: NumberText,
    element: Element,
    most: Most,
) -> Result<Vec<u8>, LaunchFileError> {
    let unreadable = |why: io::Error| LaunchFileError::unreadable(path, why);
    if format == NumberText::Text {
        let input = BufReader::new(File::open(path).map_err(unreadable)?);
        return parse(path, input, element, most);
    }
    let size = element.bytes();
    let bytes = file::read(path, most.elements.saturating_mul(size as u64)).map_err(|why| {
        let excess = why.kind() == io::ErrorKind::FileTooLarge;
        if excess { LaunchFileError::unreadable(path, most.exceeded()) } else { unreadable(why) }
    })?;
    if bytes.len().is_multiple_of(size) {
        return Ok(bytes);
    }
    let has = bytes.len();
    Err(LaunchFileError::unreadable(path, format!("{has} bytes are no multiple of {size}")))
}

/// Parses numbers between blanks and commas. `#` starts a comment.
fn parse(
    path: &Path,
    mut input: impl BufRead,
    element: Element,
    most: Most,
) -> Result<Vec<u8>, LaunchFileError> {
    let mut numbers =
        NumberParser { path, element, most, line: 1, is_comment: false, word: Vec::new(), out: Vec::new() };
    loop {
        let piece = input.fill_buf().map_err(|why| LaunchFileError::unreadable(path, why))?;
        if piece.is_empty() {
            numbers.end_word()?;
            return Ok(numbers.out);
        }
        piece.iter().try_for_each(|byte| numbers.take(*byte))?;
        let length = piece.len();
        input.consume(length);
    }
}

/// Parser state of a text, which is read byte by byte.
struct NumberParser<'a> {
    path: &'a Path,
    element: Element,
    most: Most,
    line: usize,
    is_comment: bool,
    word: Vec<u8>,
    /// Bytes of the numbers so far.
    out: Vec<u8>,
}

impl NumberParser<'_> {
    /// Consumes the next byte of the text.
    fn take(&mut self, byte: u8) -> Result<(), LaunchFileError> {
        match byte {
            b'\n' => {
                self.end_word()?;
                self.line += 1;
                self.is_comment = false;
            }
            _ if self.is_comment => {}
            b'#' => {
                self.end_word()?;
                self.is_comment = true;
            }
            b',' | b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.end_word()?,
            _ if self.word.len() == LONGEST => return Err(self.no_number("must be a number")),
            _ => self.word.push(byte),
        }
        Ok(())
    }

    /// Adds the number that has ended, if any.
    fn end_word(&mut self) -> Result<(), LaunchFileError> {
        if self.word.is_empty() {
            return Ok(());
        }
        if (self.out.len() / self.element.bytes()) as u64 == self.most.elements {
            return Err(self.bad(self.most.exceeded()));
        }
        let word = std::str::from_utf8(&self.word)
            .map_err(|_| self.bad("not text: give format = \"raw\" for a binary file".into()))?;
        let bits = self.element.parse(word).map_err(|allowed| self.no_number(&allowed))?;
        self.out
            .try_reserve(self.element.bytes())
            .map_err(|why| LaunchFileError::unreadable(self.path, why))?;
        self.element.push(&mut self.out, bits);
        self.word.clear();
        Ok(())
    }

    fn no_number(&self, wanted: &str) -> LaunchFileError {
        self.bad(format!("'{}': {wanted}", quote(&String::from_utf8_lossy(&self.word))))
    }

    fn bad(&self, message: String) -> LaunchFileError {
        LaunchFileError::Bad { file: self.path.display().to_string(), line: self.line, message }
    }
}

/// Quotes `word` for a message.
pub(super) fn quote(word: &str) -> String {
    let mut shown: String = word.chars().take(QUOTE).map(|c| if c.is_control() { '?' } else { c }).collect();
    if word.chars().nth(QUOTE).is_some() {
        shown.push_str("...");
    }
    shown
}

/// Returns the contents of a file that [`load`] reads as `bytes`.
pub(super) fn store(bytes: &[u8], format: NumberText, element: Element) -> Vec<u8> {
    match format {
        NumberText::Raw => bytes.to_vec(),
        NumberText::Text => {
            let mut text = String::new();
            for bits in element.each(bytes) {
                text.push_str(&element.show(bits));
                text.push('\n');
            }
            text.into_bytes()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_between_blanks_and_commas_and_comments_end_lines() {
        let text = b"1, 2\t3\r\n# none\n-4,,5 # six\n";
        let bytes = parse(Path::new("a.txt"), &text[..], Element::S16, Most::of(6)).expect("numbers");
        assert_eq!(bytes, [1, 0, 2, 0, 3, 0, 0xfc, 0xff, 5, 0]);
    }

    #[test]
    fn a_word_that_is_no_number_is_named_with_its_line() {
        let refused = parse(Path::new("a.txt"), &b"1\n2 x3\n"[..], Element::U8, Most::of(6)).expect_err("x3");
        assert_eq!(refused.to_string(), "a.txt:2: 'x3': must be integers from 0 to 255");
        let refused =
            parse(Path::new("a.txt"), &b"1\n\xff\n"[..], Element::U8, Most::of(6)).expect_err("binary");
        assert!(refused.to_string().starts_with("a.txt:2: not text"), "{refused}");
    }

    #[test]
    fn a_file_of_more_numbers_than_there_is_room_for_is_not_read_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        std::fs::write(&path, "1 2 3 4 # 5\n5 6\n7 x").expect("written");
        let refused = load(&path, NumberText::Text, Element::U8, Most::of(6)).expect_err("seven").to_string();
        assert!(
            refused.ends_with("a:3: more than 6 numbers: must be at most 6, the buffer's count"),
            "{refused}"
        );
        std::fs::write(&path, "1234567").expect("written");
        let refused = load(&path, NumberText::Raw, Element::U8, Most::of(6)).expect_err("seven").to_string();
        assert!(refused.ends_with("more than 6 numbers: must be at most 6, the buffer's count"), "{refused}");
    }

    #[cfg(unix)]
    #[test]
    fn a_device_without_an_end_is_not_read_on() {
        let most = Most { elements: u64::MAX, why: "what is left" };
        let zero = Path::new("/dev/zero");
        let refused = load(zero, NumberText::Text, Element::F32, most).expect_err("no number").to_string();
        assert!(refused.starts_with("/dev/zero:1: '????") && refused.len() < 100, "{refused}");
        let refused =
            load(zero, NumberText::Raw, Element::F32, Most::of(6)).expect_err("too many").to_string();
        assert!(refused.contains("more than 6 numbers"), "{refused}");
    }

    #[test]
    fn what_is_stored_loads_as_the_same_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        let bytes: Vec<u8> = [0.1f32, -0.0, f32::MAX, 1e-45].iter().flat_map(|f| f.to_le_bytes()).collect();
        for format in [NumberText::Text, NumberText::Raw] {
            std::fs::write(&path, store(&bytes, format, Element::F32)).expect("written");
            assert_eq!(load(&path, format, Element::F32, Most::of(6)).expect("read"), bytes, "{format:?}");
        }
    }
}
