//! The registry: the mechanisms of the papers, and those that were added.
use selvedge_gpu::config::GpuConfig;
pub use selvedge_gpu::mechanism::*;
use selvedge_hw::NameTaken;
pub use selvedge_mechanisms::*;
use std::collections::BTreeSet;
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

/// Returns the blocks whose operations may have an energy: those of `config`'s table, and those of added mechanisms.
pub fn blocks_with_energy(config: &GpuConfig) -> BTreeSet<String> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    let of_added = added.iter().flat_map(|info| info.blocks).map(|block| block.to_string());
    config.energy.blocks.keys().cloned().chain(of_added).collect()
}

/// Checks that the energies of `config` are those of blocks that mechanisms have.
///
/// # Errors
/// [`MechanismError::Block`].
fn check_energies(config: &GpuConfig) -> Result<(), MechanismError> {
    let known: BTreeSet<&str> = all().iter().flat_map(|info| info.blocks).copied().collect();
    let unknown = config.energy.blocks.keys().find(|block| !known.contains(block.as_str()));
    let Some(name) = unknown else { return Ok(()) };
    let allowed = selvedge_hw::names::allowed(name, known, "selvedge list blocks");
    Err(MechanismError::Block { name: name.clone(), allowed })
}

/// The registry's entry of that name.
fn find(name: &str) -> Option<&'static MechanismInfo> {
    all().into_iter().find(|info| info.name == name)
}

/// The names of the mechanisms that are meant, for a message.
fn names_of(is_meant: impl Fn(&MechanismInfo) -> bool) -> String {
    all().into_iter().filter(|info| is_meant(info)).map(|info| info.name).collect::<Vec<_>>().join(", ")
}
