//! Translates Rust names into Verilog names.

pub(crate) use selvedge_hw::rtl::reserved::is_reserved;

/// Returns whether the name is a lower-case identifier that is not reserved.
pub(crate) fn is_usable(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|c| c.is_ascii_lowercase())
        && characters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !is_reserved(name)
}

/// Returns the name of a signal: the parts of its path joined by `_`.
pub(crate) fn signal(key: &str) -> String {
    key.trim_start_matches('_').replace('$', "_")
}

/// Returns the name of a number: upper case without leading underscores.
pub(crate) fn parameter(name: &str) -> String {
    name.trim_start_matches('_').to_ascii_uppercase()
}

/// Returns the name of a value of a Rust enumeration: `Phase::Run` is `PHASE_RUN`.
pub(crate) fn variant(path: &str) -> String {
    path.split("::").map(snake_case).collect::<Vec<_>>().join("_").to_uppercase()
}

/// `BdiEncoder` as `bdi_encoder`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut out = String::new();
    let mut previous_lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && previous_lower {
            out.push('_');
        }
        previous_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        out.push(c.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_names_become_snake_case() {
        assert_eq!(snake_case("BdiEncoder"), "bdi_encoder");
        assert_eq!(snake_case("Milg"), "milg");
        assert_eq!(snake_case("L1Tags"), "l1_tags");
    }
}
