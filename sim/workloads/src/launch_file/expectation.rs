//! Expected contents of a buffer at the end of the run.
use super::element::{Class, Element};
use super::error::LaunchFileError;
use super::format::{Expect, Text};
use super::room::Most;
use std::sync::Arc;
use toml::Spanned;

/// Expected values, read from their file.
#[derive(Clone, Debug)]
pub(super) struct Expectation {
    /// Byte offset in the launch file.
    pub at: usize,
    file: String,
    bytes: Arc<Vec<u8>>,
    absolute: f64,
    relative: f64,
}

impl Expectation {
    /// Reads the file that `expect` names, which may have at most `most` numbers.
    pub(super) fn check(
        text: &Text,
        expect: &Spanned<Expect>,
        element: Element,
        most: Most,
    ) -> Result<Self, LaunchFileError> {
        let (at, expect) = (expect.span().start, expect.get_ref());
        let file = text.need(&expect.file, "file", at)?;
        let bytes = text.load(file, expect.format, element, most)?;
        let tolerance = |value: &Option<Spanned<f64>>, key: &str| match value {
            None => Ok(0.0),
            Some(value) if value.get_ref().is_finite() && *value.get_ref() >= 0.0 => Ok(*value.get_ref()),
            Some(value) => {
                let message = format!("{key} = {}: must be finite numbers from 0", value.get_ref());
                Err(text.bad(value.span().start, message))
            }
        };
        Ok(Expectation {
            at,
            file: file.get_ref().clone(),
            bytes: bytes.into(),
            absolute: tolerance(&expect.absolute, "absolute")?,
            relative: tolerance(&expect.relative, "relative")?,
        })
    }

    /// Returns an error if the number of values in the file differs from the buffer's.
    pub(super) fn check_count(
        &self,
        text: &Text,
        element: Element,
        count: u64,
    ) -> Result<(), LaunchFileError> {
        let has = (self.bytes.len() / element.bytes()) as u64;
        if has == count {
            return Ok(());
        }
        Err(text.bad(self.at, format!("`{}` holds {has} values, the buffer has {count}", self.file)))
    }

    /// Describes the first difference between the buffer `name`, whose contents are `got`, and the expected values.
    pub(super) fn difference(&self, name: &str, element: Element, got: &[u8]) -> Option<String> {
        let pairs = || element.each(got).zip(element.each(&self.bytes));
        let (index, (got, wanted)) =
            pairs().enumerate().find(|(_, (got, wanted))| !self.close(element, *got, *wanted))?;
        let wrong = pairs().filter(|(got, wanted)| !self.close(element, *got, *wanted)).count();
        let count = pairs().count();
        let tolerance = match (self.absolute, self.relative) {
            (0.0, 0.0) => "must be equal".into(),
            (absolute, relative) => format!("tolerance {absolute:?} absolute, {relative:?} relative"),
        };
        Some(format!(
            "{name}[{index}] = {}, {} wants {} ({tolerance}; {wrong} of {count} differ)",
            element.show(got),
            self.file,
            element.show(wanted)
        ))
    }

    /// Returns whether two numbers are within the tolerance. Two NaN are equal.
    fn close(&self, element: Element, got: u64, wanted: u64) -> bool {
        if element.class() != Class::Float {
            let distance = element.to_int(got).abs_diff(element.to_int(wanted));
            let allowed = self.absolute + self.relative * element.to_float(wanted).abs();
            return distance == 0 || distance as f64 <= allowed;
        }
        let (got, wanted) = (element.to_float(got), element.to_float(wanted));
        let allowed = self.absolute + self.relative * wanted.abs();
        let apart = (got - wanted).abs();
        // An infinite tolerance, such as that of an infinite expected number, would accept any value.
        got == wanted || got.is_nan() && wanted.is_nan() || allowed.is_finite() && apart <= allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(wanted: &[f32], got: &[f32], absolute: f64, relative: f64) -> Option<String> {
        let bytes = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        let expectation =
            Expectation { at: 0, file: "c.txt".into(), bytes: bytes(wanted).into(), absolute, relative };
        expectation.difference("c", Element::F32, &bytes(got))
    }

    #[test]
    fn the_first_difference_is_named_with_both_values_and_all_are_counted() {
        assert_eq!(difference(&[1.0, 2.0], &[1.0, 2.0], 0.0, 0.0), None);
        assert_eq!(
            difference(&[1.0, 2.0, 3.0], &[1.0, 2.5, 4.0], 0.0, 0.0).as_deref(),
            Some("c[1] = 2.5, c.txt wants 2.0 (must be equal; 2 of 3 differ)")
        );
    }

    #[test]
    fn both_tolerances_are_sharp() {
        assert_eq!(difference(&[8.0], &[8.5], 0.5, 0.0), None);
        assert!(difference(&[8.0], &[8.5625], 0.5, 0.0).is_some());
        assert_eq!(difference(&[8.0], &[8.5], 0.0, 0.0625), None);
        assert!(difference(&[8.0], &[8.5625], 0.0, 0.0625).is_some());
        assert_eq!(difference(&[8.0], &[9.0], 0.5, 0.0625), None, "they add up");
    }

    #[test]
    fn infinities_and_nan_are_close_to_themselves_alone() {
        let (inf, nan) = (f32::INFINITY, f32::NAN);
        assert_eq!(difference(&[inf, nan], &[inf, nan], 0.0, 0.0), None);
        for (wanted, got) in [(inf, 1.0), (1.0, inf), (inf, -inf), (nan, 1.0), (1.0, nan)] {
            assert!(difference(&[wanted], &[got], 1.0, 0.5).is_some(), "{wanted} {got}");
        }
    }

    #[test]
    fn integers_beyond_double_precision_must_still_be_equal() {
        let (wanted, got) = (u64::MAX, u64::MAX - 1);
        let expectation = Expectation {
            at: 0,
            file: "c.txt".into(),
            bytes: wanted.to_le_bytes().to_vec().into(),
            absolute: 0.0,
            relative: 0.0,
        };
        assert!(expectation.difference("c", Element::U64, &got.to_le_bytes()).is_some());
    }
}
