//! A mechanism with the values of its options.
use super::{Claim, MechanismError, MechanismInfo, OptionInfo};
use std::collections::BTreeMap;

/// One mechanism with its options' values.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its entry in the registry.
    pub info: &'static MechanismInfo,
    /// Value of every option, given or default.
    pub options: BTreeMap<&'static str, u32>,
    /// What the mechanism's [`super::Search`] has chosen; empty before, and without one.
    pub choice: Vec<u32>,
}

impl Part {
    /// What it has for itself, as its options say.
    pub fn claims(&self) -> impl Iterator<Item = Claim> {
        let is_changed = |option: &&OptionInfo| self.options[option.name] != option.default;
        let optional = self.info.options.iter().filter(is_changed).filter_map(|option| option.claim);
        self.info.claims.iter().copied().chain(optional)
    }

    /// A configuration that does not suit, with the configuration's key, its value and what is allowed.
    pub fn unsuited(&self, key: &'static str, value: impl ToString, allowed: &'static str) -> MechanismError {
        MechanismError::Machine { mechanism: self.info.name.into(), key, value: value.to_string(), allowed }
    }
}
