//! Registry of mechanisms, from the papers and from other crates.
use selvedge_gpu::config::GpuConfig;
pub use selvedge_gpu::mechanism::*;
use selvedge_hw::NameTaken;
use selvedge_mechanisms::BUILT_IN;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{PoisonError, RwLock};

pub use spec::MechanismSpec;
mod spec;

/// Mechanisms that other crates have added.
static ADDED: RwLock<Vec<&'static MechanismInfo>> = RwLock::new(Vec::new());

/// Adds the mechanism `M` of another crate.
///
/// # Errors
/// The registry already has a mechanism with this name.
pub fn add<M: Mechanism>() -> Result<(), NameTaken> {
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    if BUILT_IN.iter().chain(added.iter().copied()).any(|info| info.name == M::NAME) {
        return Err(NameTaken { what: "mechanism", name: M::NAME });
    }
    added.push(const { &MechanismInfo::of::<M>() });
    Ok(())
}

/// Returns the built-in mechanisms.
pub fn built_in() -> &'static [MechanismInfo] {
    &BUILT_IN
}

/// Returns all mechanisms: first the built-in ones, then the added ones.
pub fn all() -> Vec<&'static MechanismInfo> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    BUILT_IN.iter().chain(added.iter().copied()).collect()
}

/// Returns the counters of all mechanisms by name, each once.
pub fn counters() -> Vec<Counter> {
    let all = all();
    let counters = all.iter().flat_map(|info| info.counters).copied().flatten();
    let by_name: BTreeMap<&str, Counter> = counters.map(|counter| (counter.name, *counter)).collect();
    by_name.into_values().collect()
}

/// Returns the blocks that can have an energy: the blocks in `config`'s table, and the blocks of added mechanisms.
pub fn blocks_with_energy(config: &GpuConfig) -> BTreeSet<String> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    let of_added = added.iter().flat_map(|info| info.blocks).map(|block| block.to_string());
    config.energy.blocks.keys().cloned().chain(of_added).collect()
}

/// Checks that each block with an energy in `config` belongs to a mechanism.
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

/// Returns the mechanism called `name`.
fn find(name: &str) -> Option<&'static MechanismInfo> {
    all().into_iter().find(|info| info.name == name)
}

/// Returns the names of the mechanisms that match, for a message.
fn names_of(is_meant: impl Fn(&MechanismInfo) -> bool) -> String {
    all().into_iter().filter(|info| is_meant(info)).map(|info| info.name).collect::<Vec<_>>().join(", ")
}
