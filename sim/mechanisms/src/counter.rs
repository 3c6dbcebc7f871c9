//! The counters of all mechanisms. The module that counts declares them.
use selvedge_gpu::mechanism::Counter;

/// Returns the counters of all built-in mechanisms, by name.
#[must_use]
pub fn all() -> Vec<Counter> {
    let papers = [
        selvedge_caba::COUNTERS,
        selvedge_compressed_memory::COUNTERS,
        selvedge_dai::COUNTERS,
        selvedge_lamar::COUNTERS,
        selvedge_latte_cc::COUNTERS,
    ];
    let mut all = papers.concat().concat();
    all.sort_unstable_by_key(|counter| counter.name);
    all
}

/// Returns the counter with this `name`, or nothing if it is unknown.
#[must_use]
pub fn find(name: &str) -> Option<Counter> {
    all().into_iter().find(|counter| counter.is(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_found_by_each_of_its_numbers_and_nothing_else() {
        let found = |name| find(name).map(|counter| counter.name);
        assert_eq!(found("l_max_3"), Some("l_max_{n}"));
        assert_eq!(found("l_max_updates"), Some("l_max_updates"));
        assert_eq!((found("l_max_"), found("l_max_x"), found("most_in_flight_k")), (None, None, None));
    }

    #[test]
    fn one_module_declares_each_counter() {
        assert!(all().windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
