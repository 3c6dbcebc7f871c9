//! A mechanism with the values of its options: as selected on the command line, and as the mechanism's code receives it.
use super::MechanismInfo;
use super::claim::Claim;
use super::error::MechanismError;
use super::option::{MechanismOptions, OptionInfo};

/// A mechanism that the user has selected, with the values of its options.
#[derive(Clone, Debug)]
pub struct Selected {
    /// Registry entry of the mechanism.
    pub info: &'static MechanismInfo,
    /// Value of every option, given or default, in the order of `info.options`.
    pub values: Vec<u32>,
    /// Choice of the mechanism's [`super::Search`]; empty before the choice, and without a search.
    pub choice: Vec<u32>,
}

impl Selected {
    /// Returns the mechanism with the defaults of its options.
    pub fn new(info: &'static MechanismInfo) -> Self {
        Selected {
            info,
            values: info.options.iter().map(|option| option.default).collect(),
            choice: Vec::new(),
        }
    }

    /// Returns every option with its value.
    pub fn options(&self) -> impl Iterator<Item = (&'static OptionInfo, u32)> {
        self.info.options.iter().zip(self.values.iter().copied())
    }

    /// Returns the exclusive claims of the mechanism with these options.
    pub fn claims(&self) -> impl Iterator<Item = Claim> {
        let changed = self.options().filter(|(option, value)| *value != option.default);
        let optional = changed.filter_map(|(option, _)| option.allowed.claim);
        self.info.claims.iter().copied().chain(optional)
    }

    /// Returns the mechanism with typed options.
    pub fn setup<O: MechanismOptions>(&self) -> Setup<O> {
        Setup { name: self.info.name, options: O::of(&self.values), choice: self.choice.clone() }
    }
}

/// The values that a mechanism is set up with.
#[derive(Clone, Debug)]
pub struct Setup<O> {
    /// Name of the mechanism.
    pub name: &'static str,
    /// Options of the mechanism.
    pub options: O,
    /// Choice of the mechanism's [`super::Search`]; empty before the choice, and without a search.
    pub choice: Vec<u32>,
}

impl<O> Setup<O> {
    /// Returns the error for an unsupported configuration: its key, its value and the supported values.
    pub fn unsuited(&self, key: &'static str, value: impl ToString, allowed: &'static str) -> MechanismError {
        MechanismError::Machine { mechanism: self.name.into(), key, value: value.to_string(), allowed }
    }
}
