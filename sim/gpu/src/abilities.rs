//! Who of several parts has which ability.

use selvedge_state::State;

/// Numbers of parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub(crate) struct Set(u32);

impl Set {
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn insert(&mut self, part: usize) {
        self.0 |= 1 << part;
    }

    /// The first.
    pub fn first(self) -> Option<usize> {
        (!self.is_empty()).then(|| self.0.trailing_zeros() as usize)
    }
}

impl Iterator for Set {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let first = self.first()?;
        self.0 &= self.0 - 1;
        Some(first)
    }
}

/// Declares the set of parts with each ability, and which of the abilities only one part may have.
macro_rules! abilities {
    ($part:ident: shared { $($shared:ident),+ $(,)? } exclusive { $($exclusive:ident: $what:literal),+ $(,)? }) => {
        /// The parts with each ability.
        #[derive(Clone, Copy, Debug, Default)]
        struct Abilities {
            $($shared: $crate::abilities::Set,)+
            $($exclusive: $crate::abilities::Set,)+
        }

        impl Abilities {
            /// Finds what each part can do.
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

            /// Returns two parts with the same exclusive ability, and what both do.
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

/// Returns the one part with an exclusive ability, as that ability.
macro_rules! only {
    ($self:ident.$ability:ident) => {
        $self.abilities.$ability.first().and_then(|part| $self.parts[part].$ability())
    };
}

/// Runs an expression for each part with a shared ability.
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
