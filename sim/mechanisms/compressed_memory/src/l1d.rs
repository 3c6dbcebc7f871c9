//! Requirements of an L1D with compressed lines.
use selvedge_gpu::config::{L1dConfig, WritePolicy};
use selvedge_gpu::mechanism::{MechanismError, Setup};

/// Makes stores evict the lines that they hit, because a compressed line cannot change. An L1D that keeps stores to local
/// memory and evicts on other stores evicts on all.
///
/// # Errors
/// If the L1D keeps stores to global memory.
pub fn unchanging_lines<O>(setup: &Setup<O>, l1d: &mut L1dConfig) -> Result<(), MechanismError> {
    match l1d.write_policy {
        WritePolicy::WriteEvict | WritePolicy::LocalWriteBack => {
            l1d.write_policy = WritePolicy::WriteEvict;
            Ok(())
        }
        WritePolicy::WriteThrough | WritePolicy::WriteBack => {
            let allowed = "must be write-evict or local-write-back: a compressed line does not change";
            Err(setup.unsuited("l1d.write_policy", l1d.write_policy.name(), allowed))
        }
    }
}
