//! Compares device results with the CPU reference.
use std::fmt::Display;

use super::WorkloadError;

/// A result buffer, with the values read back from the device.
pub(super) struct Results<'a, T> {
    /// Name of the workload.
    pub workload: &'static str,
    /// Name of the buffer.
    pub buffer: &'static str,
    /// Values from the device.
    pub got: &'a [T],
}

impl<T: PartialEq + Display> Results<'_, T> {
    /// Checks that every value equals the reference.
    pub(super) fn equal(&self, expected: impl IntoIterator<Item = T>) -> Result<(), WorkloadError> {
        self.compare(expected, "must be equal", |got, expected| got == expected)
    }

    fn compare(
        &self,
        expected: impl IntoIterator<Item = T>,
        tolerance: &str,
        same: impl Fn(&T, &T) -> bool,
    ) -> Result<(), WorkloadError> {
        let pairs = self.got.iter().zip(expected).enumerate();
        let mut differing = pairs.filter(|(_, (got, expected))| !same(got, expected));
        differing.next().map_or(Ok(()), |(index, (got, expected))| {
            Err(WorkloadError::Mismatch {
                workload: self.workload,
                buffer: self.buffer,
                index,
                got: got.to_string(),
                expected: expected.to_string(),
                tolerance: tolerance.to_owned(),
            })
        })
    }
}

impl Results<'_, f32> {
    /// Checks that every value differs from the reference by at most `relative` times its magnitude. NaN always
    /// fails.
    pub(super) fn close(
        &self,
        expected: impl IntoIterator<Item = f32>,
        relative: f32,
    ) -> Result<(), WorkloadError> {
        let tolerance = format!("relative tolerance {relative:e}");
        self.compare(expected, &tolerance, |got, expected| {
            (got - expected).abs() <= relative * expected.abs()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(got: &[f32]) -> Results<'_, f32> {
        Results { workload: "w", buffer: "b", got }
    }

    #[test]
    fn the_first_difference_is_named() {
        let integers = Results { workload: "bfs", buffer: "cost", got: &[1, 2, 9, 8] };
        assert_eq!(integers.equal([1, 2, 9, 8]), Ok(()));
        let text = integers.equal([1, 2, 3, 4]).unwrap_err().to_string();
        assert_eq!(text, "bfs: cost[2] = 9, the CPU reference gives 3 (must be equal)");
    }

    #[test]
    fn the_tolerance_is_relative_and_sharp() {
        assert!(floats(&[100.0, -100.0]).close([100.5, -100.5], 0.01).is_ok());
        let text = floats(&[100.0]).close([102.0], 0.01).unwrap_err().to_string();
        assert_eq!(text, "w: b[0] = 100, the CPU reference gives 102 (relative tolerance 1e-2)");
        assert!(floats(&[1e-30]).close([0.0], 0.01).is_err(), "nothing is close to zero but zero");
        assert!(floats(&[f32::NAN]).close([1.0], 0.01).is_err());
        assert!(floats(&[1.0]).close([f32::NAN], 0.01).is_err());
    }
}
