//! The error of a call, in one line.
use std::fmt::{self, Display, Formatter};

/// Kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An argument is invalid. Nothing has changed.
    Invalid,
    /// The simulation cannot continue.
    Fault,
}

/// Reason of a failed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Kind of the failure.
    pub kind: Kind,
    /// Message, in one line.
    pub line: String,
}

impl Failure {
    /// Returns the failure for an invalid argument.
    pub fn invalid(why: impl Display) -> Self {
        Failure { kind: Kind::Invalid, line: one_line(&why.to_string()) }
    }

    /// Returns the failure for a simulation that cannot continue.
    pub fn fault(why: impl Display) -> Self {
        Failure { kind: Kind::Fault, line: one_line(&why.to_string()) }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

/// Returns a text in which a space replaces each control character.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
