//! Reads input files of blank-separated words, and keeps the line of each word for errors.
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::Path;

use super::WorkloadError;

/// Max size of an input file, in bytes.
const MOST_BYTES: u64 = 1 << 30;

/// Reads the text of `file`. `what` names the expected contents in errors.
pub(super) fn read_text(file: &Path, what: &'static str) -> Result<String, WorkloadError> {
    selvedge_hw::file::read_text(file, MOST_BYTES).map_err(|why| WorkloadError::Unreadable {
        file: file.display().to_string(),
        what,
        why: why.to_string(),
    })
}

/// Iterator over the words of a text.
pub(super) struct TextWords<'a> {
    file: &'a Path,
    words: Box<dyn Iterator<Item = (usize, &'a str)> + 'a>,
    /// Line of the last returned word, from 1.
    line: usize,
}

impl<'a> TextWords<'a> {
    /// Returns the words of `text`, which must be the contents of `file`.
    pub(super) fn new(file: &'a Path, text: &'a str) -> Self {
        let lines = text.lines().enumerate();
        let words =
            lines.flat_map(|(at, line)| line.split_ascii_whitespace().map(move |word| (at + 1, word)));
        Self { file, words: Box::new(words), line: 1 }
    }

    /// Returns the words of one line of `file`.
    pub(super) fn of_line(file: &'a Path, number: usize, line: &'a str) -> Self {
        let words = line.split_ascii_whitespace().map(move |word| (number, word));
        Self { file, words: Box::new(words), line: number }
    }

    /// Returns the next word, if any.
    pub(super) fn next_word(&mut self) -> Option<&'a str> {
        let (line, word) = self.words.next()?;
        self.line = line;
        Some(word)
    }

    /// Returns the error that `value`, the last returned word, is not a valid `what`.
    pub(super) fn refuse(
        &self,
        what: impl Into<String>,
        value: &str,
        allowed: impl Into<String>,
    ) -> WorkloadError {
        WorkloadError::bad_input(self.file, self.line, what, value, allowed)
    }

    /// Parses the next word as an integer in `allowed`.
    pub(super) fn integer(
        &mut self,
        what: impl Display,
        allowed: RangeInclusive<usize>,
    ) -> Result<usize, WorkloadError> {
        let word = self.next_word();
        let value = word.and_then(|word| word.parse().ok()).filter(|value| allowed.contains(value));
        value.ok_or_else(|| {
            let range = format!("an integer from {} to {}", allowed.start(), allowed.end());
            self.refuse(what.to_string(), word.unwrap_or(END), range)
        })
    }

    /// Returns an error if words are left after `what`.
    pub(super) fn end(&mut self, what: &str) -> Result<(), WorkloadError> {
        self.next_word().map_or(Ok(()), |word| {
            Err(self.refuse(format!("text after {what}"), word, "the end of the file"))
        })
    }
}

/// Value that an error shows for a missing word.
const END: &str = "end of file";

/// Parses a finite number.
pub(super) fn finite(word: &str) -> Option<f32> {
    word.parse().ok().filter(|number: &f32| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_know_their_lines() {
        let mut words = TextWords::new(Path::new("g.txt"), "1\n\n 2  x3\n");
        assert_eq!(words.integer("count", 0..=9).unwrap(), 1);
        assert_eq!(words.integer("count", 0..=9).unwrap(), 2);
        let text = words.integer("count", 0..=9).unwrap_err().to_string();
        assert_eq!(text, "g.txt:3: count = 'x3': must be an integer from 0 to 9");
    }

    #[test]
    fn missing_excessive_and_surplus_words_are_refused() {
        let file = Path::new("g.txt");
        let text = TextWords::new(file, "").integer("count", 0..=9).unwrap_err().to_string();
        assert_eq!(text, "g.txt:1: count = 'end of file': must be an integer from 0 to 9");
        for value in ["10", "-1", "1.5", "99999999999999999999999"] {
            assert!(TextWords::new(file, value).integer("count", 0..=9).is_err(), "{value}");
        }
        let text = TextWords::new(file, "\nmore").end("the edges").unwrap_err().to_string();
        assert_eq!(text, "g.txt:2: text after the edges = 'more': must be the end of the file");
    }

    #[test]
    fn long_and_binary_values_are_cut() {
        let long = "7".repeat(100) + "\u{1}";
        let text = TextWords::new(Path::new("g"), &long).integer("n", 0..=9).unwrap_err().to_string();
        assert!(text.contains(&format!("'{}...'", "7".repeat(40))), "{text}");
    }

    #[test]
    fn only_finite_numbers_count() {
        assert_eq!(finite("-1.5e2"), Some(-150.0));
        for word in ["", "1,5", "inf", "NaN", "1e99"] {
            assert_eq!(finite(word), None, "{word}");
        }
    }
}
