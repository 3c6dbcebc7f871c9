//! Reports tests that are not run, so that `tests/run` counts them as skipped and not as passed.
//!
//! A test that returns early passes for the test runner. It must first call [`skip`], which writes a line to the file that
//! the environment variable [`FILE`] names. `tests/run` reads this file.
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

/// Environment variable with the path of the file that gets a line for each skipped test.
pub const FILE: &str = "SELVEDGE_SKIPPED";

/// Environment variable with the factor for the vectors of a long run.
pub const FACTOR: &str = "SELVEDGE_VECTORS";

/// Records that the test function `test` is skipped, with the reason.
///
/// # Panics
/// If the file cannot be written, because the skipped test would not be counted.
pub fn skip(test: &str, reason: &str) {
    eprintln!("skipped: {test}: {reason}");
    if let Some(path) = std::env::var_os(FILE) {
        note(Path::new(&path), test, reason).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// Returns the factor for the vectors of this run; 1 unless it is a long run (`tests/run --long`).
///
/// # Panics
/// If [`FACTOR`] is no integer.
#[must_use]
pub fn factor() -> u64 {
    factor_of(std::env::var(FACTOR).ok().as_deref())
}

fn factor_of(text: Option<&str>) -> u64 {
    text.map_or(1, |text| text.parse().unwrap_or_else(|_| panic!("{FACTOR} is `{text}`, not an integer")))
}

/// Returns whether this is a long run.
#[must_use]
pub fn is_long() -> bool {
    factor() >= 2
}

/// Returns whether this is a long run. If it is not, records that `test` is skipped.
pub fn is_long_run(test: &str) -> bool {
    let is_long = is_long();
    if !is_long {
        skip(test, "long runs only");
    }
    is_long
}

/// Appends a line with a single write, so that lines of several tests do not mix.
fn note(path: &Path, test: &str, reason: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(format!("{test}: {reason}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_skipped_test_gets_a_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("skipped");
        note(&path, "first", "no compiler").expect("written");
        note(&path, "second", "long runs only").expect("written");
        let text = std::fs::read_to_string(&path).expect("there");
        assert_eq!(text, "first: no compiler\nsecond: long runs only\n");
    }

    #[test]
    fn a_run_without_a_factor_has_the_factor_one() {
        assert_eq!([None, Some("1"), Some("10")].map(factor_of), [1, 1, 10]);
    }

    #[test]
    #[should_panic(expected = "SELVEDGE_VECTORS is `many`, not an integer")]
    fn a_factor_that_is_no_integer_is_refused() {
        factor_of(Some("many"));
    }
}
