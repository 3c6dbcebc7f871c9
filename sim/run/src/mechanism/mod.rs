//! The registry: the mechanisms of the papers, and those that were added.
pub use selvedge_gpu::mechanism::*;
use selvedge_hw::NameTaken;
pub use selvedge_mechanisms::*;
use std::sync::{PoisonError, RwLock};

pub use spec::MechanismSpec;
mod spec;

/// The mechanisms of other crates.
static ADDED: RwLock<Vec<&'static MechanismInfo>> = RwLock::new(Vec::new());

/// Adds the mechanism `M` of another crate.
///
/// # Errors
/// A mechanism of that name is there already.
pub fn add<M: Mechanism>() -> Result<(), NameTaken> {
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    if ALL.iter().chain(added.iter().copied()).any(|info| info.name == M::NAME) {
        return Err(NameTaken { what: "mechanism", name: M::NAME });
    }
    added.push(const { &MechanismInfo::of::<M>() });
    Ok(())
}

/// Returns every mechanism: first [`ALL`], then those that were added.
pub fn all() -> Vec<&'static MechanismInfo> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    ALL.iter().chain(added.iter().copied()).collect()
}

/// The registry's entry of that name.
fn find(name: &str) -> Option<&'static MechanismInfo> {
    all().into_iter().find(|info| info.name == name)
}

/// The names of the mechanisms that are meant, for a message.
fn names_of(is_meant: impl Fn(&MechanismInfo) -> bool) -> String {
    all().into_iter().filter(|info| is_meant(info)).map(|info| info.name).collect::<Vec<_>>().join(", ")
}
