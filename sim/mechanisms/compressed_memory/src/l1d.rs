//! Requirements of caches with compressed lines.
use selvedge_gpu::config::{GpuConfig, L1dConfig, WritePolicy};
use selvedge_gpu::mechanism::{MechanismError, Setup};

/// Makes an L1D with sectors fetch and keep whole lines, because a codec takes the words of a whole line.
pub fn whole_l1d_lines(config: &mut GpuConfig) {
    config.l1d.sector_bytes = config.l1d.line_bytes;
}

/// Makes an L2 with sectors fetch and keep whole lines, because a codec takes the words of a whole line.
pub fn whole_l2_lines(config: &mut GpuConfig) {
    config.l2.sector_bytes = config.l2.line_bytes;
    config.l2.split_requests = false;
}

/// Makes stores evict the lines that they hit, because a compressed line cannot change. An L1D that writes stores through, or
/// keeps those to local memory, evicts on all stores.
///
/// # Errors
/// If the L1D keeps stores to global memory.
pub fn unchanging_lines<O>(setup: &Setup<O>, l1d: &mut L1dConfig) -> Result<(), MechanismError> {
    match l1d.write_policy {
        WritePolicy::WriteEvict | WritePolicy::LocalWriteBack | WritePolicy::WriteThrough => {
            l1d.write_policy = WritePolicy::WriteEvict;
            Ok(())
        }
        WritePolicy::WriteBack => {
            let allowed = "must not be write-back: a compressed line does not change";
            Err(setup.unsuited("l1d.write_policy", l1d.write_policy.name(), allowed))
        }
    }
}
