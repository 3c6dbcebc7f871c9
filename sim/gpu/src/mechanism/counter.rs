//! A counter that a mechanism adds to reports: its name and its meaning.

/// A counter of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The name in reports. `{n}` represents a number, as in `most_in_flight_k{n}`.
    pub name: &'static str,
    /// The events that the counter counts, summed over all SMs or partitions unless the meaning says otherwise.
    pub meaning: &'static str,
}

impl Counter {
    /// Returns the counter with a `name` and a `meaning`.
    #[must_use]
    pub const fn new(name: &'static str, meaning: &'static str) -> Self {
        Counter { name, meaning }
    }

    /// Returns whether the counter of a report with this `name` is this counter, or one of this family.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        let Some((before, after)) = self.name.split_once("{n}") else { return self.name == name };
        let number = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_each_of_its_numbers_and_nothing_else() {
        let family = Counter::new("l_max_{n}", "");
        assert!(family.is("l_max_3"));
        assert!(!["l_max_", "l_max_x", "l_max_updates", "l_max"].iter().any(|name| family.is(name)));
    }
}
