//! Tables of the parts that have each ability.

use selvedge_state::State;

/// A set of part numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub(crate) struct PartSet(u32);

impl PartSet {
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn insert(&mut self, part: usize) {
        self.0 |= 1 << part;
    }

    /// Returns the smallest number.
    pub fn first(self) -> Option<usize> {
        (!self.is_empty()).then(|| self.0.trailing_zeros() as usize)
    }
}

impl Iterator for PartSet {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let first = self.first()?;
        self.0 &= self.0 - 1;
        Some(first)
    }
}

/// Declares a table of the parts with each ability. Only one part may have an exclusive ability.
macro_rules! abilities {
    ($part:ident: shared { $($shared:ident),+ $(,)? } exclusive { $($exclusive:ident: $what:expr),+ $(,)? }) => {
        /// Sets of the parts with each ability.
        #[derive(Clone, Copy, Debug, Default)]
        struct Abilities {
            $($shared: $crate::abilities::PartSet,)+
            $($exclusive: $crate::abilities::PartSet,)+
        }

        impl Abilities {
            /// Collects the abilities of each part.
            fn of(parts: &mut [Box<dyn $part>]) -> Self {
                let mut found = Abilities::default();
                for (number, part) in parts.iter_mut().enumerate() {
                    $(if part.$shared().is_some() {
                        found.$shared.insert(number);
                    })+
                    $(if part.$exclusive().is_some() {
                        found.$exclusive.insert(number);
                    })+
                }
                found
            }

            /// Returns two parts with the same exclusive ability, and the action of both as text.
            fn conflict(&self) -> Option<(usize, usize, &'static str)> {
                $(
                    let mut with = self.$exclusive;
                    if let (Some(first), Some(second)) = (with.next(), with.next()) {
                        return Some((first, second, $what));
                    }
                )+
                None
            }
        }
    };
}

/// Returns the only part with an exclusive ability, as that ability.
macro_rules! only {
    ($self:ident.$ability:ident) => {
        $self.abilities.$ability.first().and_then(|part| $self.parts[part].$ability())
    };
}

/// Evaluates an expression for each part with a shared ability.
macro_rules! each {
    ($self:ident.$ability:ident, $one:ident => $call:expr) => {
        for part in $self.abilities.$ability {
            if let Some($one) = $self.parts[part].$ability() {
                $call;
            }
        }
    };
}

pub(crate) use {abilities, each, only};
