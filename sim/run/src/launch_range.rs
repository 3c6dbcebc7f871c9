//! The range of a program's launches that are simulated.
use crate::error::RunError;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::{self, Display};
use std::str::FromStr;

/// Launches of a program, counted from 1. The launches outside of it execute without timing; a trace has nothing to execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct LaunchRange {
    /// Number of the first launch.
    pub first: u64,
    /// Number of the last launch, at least `first`.
    pub last: u64,
}

impl LaunchRange {
    /// Returns whether launch `number` is in the range.
    pub fn contains(&self, number: u64) -> bool {
        (self.first..=self.last).contains(&number)
    }

    /// Checks that a program of `launches` launches has the whole range.
    ///
    /// # Errors
    /// The program has fewer launches.
    pub(crate) fn check(&self, launches: u64) -> Result<(), RunError> {
        if self.last <= launches {
            return Ok(());
        }
        Err(RunError::NoSuchLaunch { range: *self, launches })
    }
}

impl FromStr for LaunchRange {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let must = "must be the number of a launch from 1 on, or two numbers such as 3..5";
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let number = |text: &str| text.parse::<u64>().ok().filter(|number| *number > 0);
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => Ok(LaunchRange { first, last }),
            _ => Err(must),
        }
    }
}

impl Display for LaunchRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LaunchRange { first, last } = self;
        if first == last { write!(f, "{first}") } else { write!(f, "{first}..{last}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_a_number_or_two_in_order() {
        let range = |first, last| Ok(LaunchRange { first, last });
        assert_eq!("3".parse(), range(3, 3));
        assert_eq!("3..5".parse(), range(3, 5));
        for wrong in ["0", "5..3", "0..2", "a", "", "1..", "..2", "-1", "1...2"] {
            assert!(wrong.parse::<LaunchRange>().is_err(), "{wrong}");
        }
        for text in ["3", "3..5"] {
            assert_eq!(text.parse::<LaunchRange>().map(|range| range.to_string()).as_deref(), Ok(text));
        }
    }
}
