//! The options of a mechanism: numbers and names, with what is allowed.
use super::Claim;

/// A mechanism's option: a name with its default and what is allowed.
#[derive(Clone, Copy, Debug)]
pub struct OptionInfo {
    /// Name, as in `--mechanism NAME,option=value`.
    pub name: &'static str,
    /// Default value.
    pub default: u32,
    /// Smallest allowed value.
    pub low: u32,
    /// Largest allowed value.
    pub high: u32,
    /// Whether it must be a power of two.
    pub power_of_two: bool,
    /// The names of the values from `low` on, where they have names.
    pub choices: &'static [&'static str],
    /// What it means, with its unit.
    pub help: &'static str,
    /// What the mechanism has for itself with another value than the default.
    pub claim: Option<Claim>,
    /// The block whose latency it is: then it may also be `auto`, for which [`MechanismSpec::settle`] has the value.
    pub latency_of: Option<&'static str>,
}

/// The value of an option that is `auto` and not settled yet.
pub const AUTO: u32 = u32::MAX;

impl OptionInfo {
    /// A number from `low` to `high`.
    pub const fn number(
        name: &'static str,
        default: u32,
        (low, high): (u32, u32),
        help: &'static str,
    ) -> Self {
        let (power_of_two, choices, claim, latency_of) = (false, &[], None, None);
        OptionInfo { name, default, low, high, power_of_two, choices, help, claim, latency_of }
    }

    /// A number of cycles that is a block's latency.
    pub const fn latency_of(self, block: &'static str) -> Self {
        OptionInfo { latency_of: Some(block), ..self }
    }

    /// One of several names; its value is the name's place in `choices`, and the first is the default.
    pub const fn choice(name: &'static str, choices: &'static [&'static str], help: &'static str) -> Self {
        let high = choices.len() as u32 - 1;
        OptionInfo { choices, ..OptionInfo::number(name, 0, (0, high), help) }
    }

    /// The value that `text` stands for, if it is allowed.
    pub fn value(&self, text: &str) -> Option<u32> {
        if !self.choices.is_empty() {
            return self.choices.iter().position(|choice| *choice == text).map(|at| at as u32);
        }
        if self.latency_of.is_some() && text == "auto" {
            return Some(AUTO);
        }
        text.parse().ok().filter(|value| self.allows(*value))
    }

    /// Returns whether the option may have this value.
    pub fn allows(&self, value: u32) -> bool {
        (self.low..=self.high).contains(&value) && (!self.power_of_two || value.is_power_of_two())
    }

    /// Returns what is allowed, for messages.
    pub fn allowed(&self) -> String {
        if !self.choices.is_empty() {
            return format!("must be {}", self.choices.join(", "));
        }
        let what = if self.power_of_two { "a power of two from " } else { "" };
        let or = if self.latency_of.is_some() { ", or auto" } else { "" };
        format!("must be {what}{} to {}{or}", self.low, self.high)
    }

    /// The default as it is written.
    pub fn default_text(&self) -> String {
        self.choices
            .get(self.default as usize)
            .map_or_else(|| self.default.to_string(), |name| (*name).into())
    }
}
