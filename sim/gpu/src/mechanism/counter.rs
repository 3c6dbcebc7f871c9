//! Counters of mechanisms: their names in reports, and their meanings.

/// A counter of mechanisms, as reports name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The name. `{n}` represents a number, as in `most_in_flight_k{n}`.
    pub name: &'static str,
    /// The events that the counter counts, summed over all SMs or partitions unless the meaning says otherwise.
    pub meaning: &'static str,
}

impl Counter {
    /// Returns whether the counter of a report with this `name` is this counter, or one of this family.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        let Some((before, after)) = self.name.split_once("{n}") else { return self.name == name };
        let number = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

/// Declares the counters that a module counts, as the constant `COUNTERS`.
#[macro_export]
macro_rules! mechanism_counters {
    ($($name:literal: $meaning:literal,)*) => {
        /// The counters of this module.
        pub const COUNTERS: &[$crate::mechanism::Counter] =
            &[$($crate::mechanism::Counter { name: $name, meaning: $meaning }),*];
    };
}
