//! Files of numbers: as text, or as they lie in memory.
use super::element::Element;
use super::error::LaunchFileError;
use super::format::Format;
use std::path::Path;

/// A buffer larger than this is refused, and so is a file that fills one.
pub(super) const MAX_BUFFER_BYTES: u64 = 4 << 30;

/// Longest piece of a file that a message quotes, in characters.
const QUOTE: usize = 40;

/// The bytes of a file of at most `most` bytes; a pipe may be read too.
pub(super) fn read(path: &Path, most: u64) -> Result<Vec<u8>, LaunchFileError> {
    crate::file::read(path, most).map_err(|why| LaunchFileError::unreadable(path, why))
}

/// The numbers in a file, as they lie in memory.
pub(super) fn load(path: &Path, format: Format, element: Element) -> Result<Vec<u8>, LaunchFileError> {
    let bytes = read(path, MAX_BUFFER_BYTES)?;
    match format {
        Format::Text => parse(path, &bytes, element),
        Format::Raw if bytes.len().is_multiple_of(element.bytes()) => Ok(bytes),
        Format::Raw => {
            let (has, size) = (bytes.len(), element.bytes());
            Err(LaunchFileError::unreadable(path, format!("{has} bytes are no multiple of {size}")))
        }
    }
}

/// Numbers between blanks and commas; `#` starts a comment.
fn parse(path: &Path, bytes: &[u8], element: Element) -> Result<Vec<u8>, LaunchFileError> {
    let bad = |line: usize, message: String| LaunchFileError::Bad {
        file: path.display().to_string(),
        line,
        message,
    };
    let mut out = Vec::new();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = std::str::from_utf8(line)
            .map_err(|_| bad(index + 1, "not text: give format = \"raw\" for a binary file".into()))?;
        let numbers = line.split('#').next().unwrap_or("");
        for word in numbers.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()) {
            let bits = element
                .parse(word)
                .map_err(|allowed| bad(index + 1, format!("'{}': {allowed}", quote(word))))?;
            element.push(&mut out, bits);
        }
    }
    Ok(out)
}

/// `word` fit for a message.
pub(super) fn quote(word: &str) -> String {
    let mut shown: String = word.chars().take(QUOTE).map(|c| if c.is_control() { '?' } else { c }).collect();
    if word.chars().nth(QUOTE).is_some() {
        shown.push_str("...");
    }
    shown
}

/// The file that [`load`] reads back as `bytes`.
pub(super) fn store(bytes: &[u8], format: Format, element: Element) -> Vec<u8> {
    match format {
        Format::Raw => bytes.to_vec(),
        Format::Text => {
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
        let bytes = parse(Path::new("a.txt"), text, Element::S16).expect("numbers");
        assert_eq!(bytes, [1, 0, 2, 0, 3, 0, 0xfc, 0xff, 5, 0]);
    }

    #[test]
    fn a_word_that_is_no_number_is_named_with_its_line() {
        let refused = parse(Path::new("a.txt"), b"1\n2 x3\n", Element::U8).expect_err("x3");
        assert_eq!(refused.to_string(), "a.txt:2: 'x3': allowed are whole numbers from 0 to 255");
        let refused = parse(Path::new("a.txt"), b"1\n\xff\n", Element::U8).expect_err("binary");
        assert!(refused.to_string().starts_with("a.txt:2: not text"), "{refused}");
    }

    #[test]
    fn what_is_stored_loads_as_the_same_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        let bytes: Vec<u8> = [0.1f32, -0.0, f32::MAX, 1e-45].iter().flat_map(|f| f.to_le_bytes()).collect();
        for format in [Format::Text, Format::Raw] {
            std::fs::write(&path, store(&bytes, format, Element::F32)).expect("written");
            assert_eq!(load(&path, format, Element::F32).expect("read"), bytes, "{format:?}");
        }
    }
}
