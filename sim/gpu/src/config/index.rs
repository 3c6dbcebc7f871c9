//! Names of the set index functions in a configuration.
//!
//! | name | function |
//! |---|---|
//! | `bmod` | low bits of the line number |
//! | `bxor` | low bits XORed with those above |
//! | `pmod` | modulo the largest prime below the number of sets |
//! | `a-prime`, `a-prime-mersenne` | modulo the smallest (Mersenne) prime above the number of sets, then cut |
//! | `d-prime`, `d-prime-N` | low bits displaced by 11 (or an odd N) times the tag |
//! | `i-poly` | modulo an irreducible polynomial |
//! | `fermi` | low bits XORed with address bits 13, 14, 15, 17 and 19: of 32 or 64 sets |
use super::check::Checker;
use selvedge_hw::index_function::IndexFunction;
use serde::{Deserialize, Deserializer, Serializer};

/// Allowed names, for messages.
const ALLOWED: &str =
    "must be bmod, bxor, pmod, a-prime, a-prime-mersenne, d-prime, d-prime-N with an odd N, i-poly, fermi";

/// Default multiplier of `d-prime` (Dai, section 3.7).
const DEFAULT_DISPLACEMENT: u32 = 11;

/// Supported numbers of sets for functions other than the plain modulo.
const HASHED_SETS: std::ops::RangeInclusive<u32> = 16..=1024;

/// Returns the function with the given name.
fn parse(name: &str) -> Option<IndexFunction> {
    Some(match name {
        "bmod" => IndexFunction::Bmod,
        "bxor" => IndexFunction::Bxor,
        "pmod" => IndexFunction::Pmod,
        "a-prime" => IndexFunction::APrime { mersenne: false },
        "a-prime-mersenne" => IndexFunction::APrime { mersenne: true },
        "d-prime" => IndexFunction::DPrime { prime: DEFAULT_DISPLACEMENT },
        "i-poly" => IndexFunction::IPoly,
        "fermi" => IndexFunction::Fermi,
        _ => {
            let prime = name.strip_prefix("d-prime-")?.parse().ok().filter(|n: &u32| n % 2 == 1)?;
            IndexFunction::DPrime { prime }
        }
    })
}

/// Returns the name of `function`.
pub(super) fn name(function: IndexFunction) -> String {
    match function {
        IndexFunction::Bmod => "bmod".into(),
        IndexFunction::Bxor => "bxor".into(),
        IndexFunction::Pmod => "pmod".into(),
        IndexFunction::APrime { mersenne: false } => "a-prime".into(),
        IndexFunction::APrime { mersenne: true } => "a-prime-mersenne".into(),
        IndexFunction::DPrime { prime: DEFAULT_DISPLACEMENT } => "d-prime".into(),
        IndexFunction::DPrime { prime } => format!("d-prime-{prime}"),
        IndexFunction::IPoly => "i-poly".into(),
        IndexFunction::Fermi => "fermi".into(),
    }
}

/// Serializes a function as its name.
pub(super) fn serialize<S: Serializer>(function: &IndexFunction, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&name(*function))
}

/// Deserializes a function from its name.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<IndexFunction, D::Error> {
    let text = String::deserialize(from)?;
    parse(&text)
        .ok_or_else(|| serde::de::Error::custom(format!("unknown index function `{text}`: {ALLOWED}")))
}

/// Checks that `function` supports `places` sets or partitions. The plain modulo supports every number.
pub(super) fn check(check: &mut Checker<'_>, key: &str, function: IndexFunction, places: u32, what: &str) {
    if function == IndexFunction::Fermi && (what != "sets" || !matches!(places, 32 | 64)) {
        return check.fail(
            key,
            name(function),
            format!("must be another one: `fermi` needs 32 or 64 sets, not {places} {what}"),
        );
    }
    // `i-poly` supports numbers of partitions that are not a power of two: its result wraps around.
    let is_uneven = function == IndexFunction::IPoly && what == "partitions" && (9..=64).contains(&places);
    if is_uneven {
        return;
    }
    if function != IndexFunction::Bmod && !(places.is_power_of_two() && HASHED_SETS.contains(&places)) {
        let allowed =
            format!("allowed with {places} {what} is bmod; others need a power of two from 16 to 1024");
        check.fail(key, name(function), allowed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for text in [
            "bmod",
            "bxor",
            "pmod",
            "a-prime",
            "a-prime-mersenne",
            "d-prime",
            "d-prime-19",
            "i-poly",
            "fermi",
        ] {
            assert_eq!(name(parse(text).expect("a name")), text);
        }
        assert_eq!(parse("d-prime-4"), None);
        assert_eq!(parse("modulo"), None);
    }
}
