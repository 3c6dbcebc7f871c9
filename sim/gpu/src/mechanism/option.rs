//! Options of a mechanism: their declarations and their values.
use super::claim::Claim;

/// Declaration of an option of a mechanism.
#[derive(Clone, Copy, Debug)]
pub struct OptionInfo {
    /// Name, as in `--mechanism NAME,option=value`.
    pub name: &'static str,
    /// Default value.
    pub default: u32,
    /// Allowed values.
    pub allowed: Values,
    /// Meaning of the option, with its unit.
    pub help: &'static str,
}

/// Allowed values of an option.
#[derive(Clone, Copy, Debug)]
pub struct Values {
    kind: ValueSet,
    /// Exclusive claim of the mechanism if the option is not at its default.
    pub claim: Option<Claim>,
    /// Block whose latency the option sets. Such an option may be `auto`; the mechanism's specification then supplies the value.
    pub latency_of: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
enum ValueSet {
    /// Integers from the first to the second.
    Range(u32, u32),
    /// Powers of two from the first to the second.
    PowersOfTwo(u32, u32),
    /// These integers.
    Numbers(&'static [u32]),
    /// Names of the values from 0 up.
    Names(&'static [&'static str]),
}

/// Value of an option that is `auto` until its value is known.
pub const AUTO: u32 = u32::MAX;

impl Values {
    const fn new(kind: ValueSet) -> Self {
        Values { kind, claim: None, latency_of: None }
    }

    /// Allows the integers from `low` to `high`.
    pub const fn range(low: u32, high: u32) -> Self {
        Values::new(ValueSet::Range(low, high))
    }

    /// Allows the powers of two from `low` to `high`.
    pub const fn powers_of_two(low: u32, high: u32) -> Self {
        Values::new(ValueSet::PowersOfTwo(low, high))
    }

    /// Allows the given integers.
    pub const fn numbers(numbers: &'static [u32]) -> Self {
        Values::new(ValueSet::Numbers(numbers))
    }

    /// Allows the names of an enum's variants, which [`option_names!`](crate::option_names) declares.
    pub const fn names<T: OptionNames>() -> Self {
        Values::new(ValueSet::Names(T::NAMES))
    }

    /// Adds a claim that the mechanism makes if the option is not at its default.
    pub const fn claim(self, claim: Claim) -> Self {
        Values { claim: Some(claim), ..self }
    }

    /// Makes the option the latency of a block in cycles.
    pub const fn latency_of(self, block: &'static str) -> Self {
        Values { latency_of: Some(block), ..self }
    }
}

impl OptionInfo {
    /// Returns the value that `text` denotes, if it is allowed.
    pub fn value(&self, text: &str) -> Option<u32> {
        if let ValueSet::Names(names) = self.allowed.kind {
            return names.iter().position(|name| *name == text).map(|at| at as u32);
        }
        if self.allowed.latency_of.is_some() && text == "auto" {
            return Some(AUTO);
        }
        text.parse().ok().filter(|value| self.allows(*value))
    }

    /// Returns whether the option may have this value.
    pub fn allows(&self, value: u32) -> bool {
        match self.allowed.kind {
            ValueSet::Range(low, high) => (low..=high).contains(&value),
            ValueSet::PowersOfTwo(low, high) => (low..=high).contains(&value) && value.is_power_of_two(),
            ValueSet::Numbers(numbers) => numbers.contains(&value),
            ValueSet::Names(names) => (value as usize) < names.len(),
        }
    }

    /// Returns the allowed values as text, for messages.
    pub fn allowed(&self) -> String {
        let values = match self.allowed.kind {
            ValueSet::Range(low, high) => format!("{low} to {high}"),
            ValueSet::PowersOfTwo(low, high) => format!("a power of two from {low} to {high}"),
            ValueSet::Numbers(_) | ValueSet::Names(_) => self.choices().join(", "),
        };
        let or = if self.allowed.latency_of.is_some() { ", or auto" } else { "" };
        format!("must be {values}{or}")
    }

    /// Returns the text of each value if the allowed values are listed one by one. Otherwise, returns an empty list.
    pub fn choices(&self) -> Vec<String> {
        match self.allowed.kind {
            ValueSet::Range(..) | ValueSet::PowersOfTwo(..) => Vec::new(),
            ValueSet::Numbers(numbers) => numbers.iter().map(u32::to_string).collect(),
            ValueSet::Names(names) => names.iter().map(ToString::to_string).collect(),
        }
    }

    /// Returns the default as text.
    pub fn default_text(&self) -> String {
        match self.allowed.kind {
            ValueSet::Names(names) => names[self.default as usize].into(),
            _ => self.default.to_string(),
        }
    }
}

/// The options of a mechanism, as a struct that [`mechanism_options!`](crate::mechanism_options) declares.
pub trait MechanismOptions {
    /// Declaration of every option, in the order of the fields.
    const OPTIONS: &'static [OptionInfo];

    /// Returns the options with these values, in the order of the fields. Further options have their defaults.
    fn of(values: &[u32]) -> Self;
}

/// The options of a mechanism without options.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoOptions;

impl MechanismOptions for NoOptions {
    const OPTIONS: &'static [OptionInfo] = &[];

    fn of(_: &[u32]) -> Self {
        NoOptions
    }
}

/// Type of an option's value.
pub trait OptionValue {
    /// Returns the value with this number.
    fn of(number: u32) -> Self;
}

impl OptionValue for u32 {
    fn of(number: u32) -> Self {
        number
    }
}

/// An enum whose variants have names as values of an option; see [`option_names!`](crate::option_names).
pub trait OptionNames: OptionValue {
    /// Names of the variants, in the order of their numbers.
    const NAMES: &'static [&'static str];
}

/// Declares the options of a mechanism as a struct. Each field has its help, type, default and [`Values`] values.
///
/// ```
/// use selvedge_gpu::mechanism::prelude::*;
///
/// option_names! {
///     /// Loads that bypass the L1D.
///     pub enum Loads {
///         None = "none",
///         Streaming = "streaming",
///     }
/// }
///
/// mechanism_options! {
///     /// Options of a mechanism.
///     pub struct Options {
///         /// bits of the counter of misses
///         miss_bits: u32 = 4, Values::range(3, 4);
///         /// loads that bypass the L1D
///         loads: Loads = Loads::None, Values::names::<Loads>();
///     }
/// }
///
/// assert_eq!(Options::of(&[3, 1]).miss_bits, 3);
/// assert_eq!(Options::OPTIONS[1].default_text(), "none");
/// ```
#[macro_export]
macro_rules! mechanism_options {
    (
        $(#[$attribute:meta])*
        $visible:vis struct $options:ident {
            $( $(#[doc = $doc:literal])+ $field:ident : $value:ty = $default:expr, $allowed:expr; )+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug)]
        $visible struct $options {
            $( $(#[doc = $doc])+ $visible $field: $value ),+
        }

        impl $crate::mechanism::MechanismOptions for $options {
            const OPTIONS: &'static [$crate::mechanism::OptionInfo] = &[$(
                $crate::mechanism::OptionInfo {
                    name: stringify!($field),
                    default: $default as u32,
                    allowed: $allowed,
                    help: concat!($($doc),+).trim_ascii(),
                }
            ),+];

            fn of(values: &[u32]) -> Self {
                let mut values = values.iter().copied();
                $options {
                    $( $field: <$value as $crate::mechanism::OptionValue>::of(
                        values.next().unwrap_or($default as u32),
                    ) ),+
                }
            }
        }
    };
}

/// Declares an enum whose variants are the values of an option, with their names.
#[macro_export]
macro_rules! option_names {
    (
        $(#[$attribute:meta])*
        $visible:vis enum $names:ident { $( $(#[$of_variant:meta])* $variant:ident = $name:literal ),+ $(,)? }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visible enum $names { $( $(#[$of_variant])* $variant ),+ }

        impl $crate::mechanism::OptionValue for $names {
            fn of(number: u32) -> Self {
                [$($names::$variant),+][number as usize]
            }
        }

        impl $crate::mechanism::OptionNames for $names {
            const NAMES: &'static [&'static str] = &[$($name),+];
        }
    };
}
