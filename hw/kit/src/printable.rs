//! Text of unknown origin, such as names in a file, made safe for a terminal.
use std::borrow::Cow;

/// Returns `text` with an escape such as `\u{1b}` for each character that a terminal interprets.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, acts_on_terminal)
}

/// Returns `text` as [`printable`], but keeps line breaks and tabs.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| acts_on_terminal(c) && !matches!(c, '\n' | '\t'))
}

/// Returns `text` if it has at most `most` characters, or its two ends with `...` between them.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    let place = |index: usize| text.char_indices().nth(index).map(|(place, _)| place);
    if text.len() <= most || place(most).is_none() {
        return Cow::Borrowed(text);
    }
    let half = most.saturating_sub(3) / 2;
    let head = place(half).unwrap_or(0);
    let tail = text.char_indices().rev().nth(half.saturating_sub(1)).map_or(text.len(), |(place, _)| place);
    Cow::Owned(format!("{}...{}", &text[..head], &text[tail..]))
}

fn escaped(text: &str, acts: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if acts(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Returns whether a terminal interprets `c` instead of showing it. These are control characters, invisible characters, and
/// characters that change the direction of text.
fn acts_on_terminal(c: char) -> bool {
    let turns_or_hides = matches!(
        c,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
    );
    c.is_control() || turns_or_hides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_escaped_and_all_else_stays() {
        assert_eq!(printable("a\u{1b}[31m\0b\n\u{9b}\u{202e}c"), "a\\u{1b}[31m\\u{0}b\\n\\u{9b}\\u{202e}c");
        assert_eq!(printable_lines("a\tb\nc\r\u{7f}"), "a\tb\nc\\r\\u{7f}");
        for plain in ["", "sm0.bdi", "Größe µs 日本語", "back\\slash \"quoted\""] {
            assert!(matches!(printable(plain), Cow::Borrowed(same) if same == plain));
        }
    }

    #[test]
    fn a_long_text_keeps_its_ends() {
        assert_eq!(shortened("0123456789", 10), "0123456789");
        assert_eq!(shortened("0123456789a", 10), "012...89a");
        assert_eq!(shortened("ääääää", 6), "ääääää");
        assert_eq!(shortened("äöüäöüäöü", 7), "äö...öü");
        assert_eq!(shortened(&"a".repeat(900_000), 200).len(), 199);
    }
}
