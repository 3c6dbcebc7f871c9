//! Limits of the assist warp controller.
use crate::deployment::WARPS;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::mechanism::{MechanismError, Setup, Values};
use selvedge_hw_caba::awc::AwcParams;

/// Default of the busy cycles above which the controller holds low priority back, of 128.
pub(crate) const BUSY_LIMIT: u32 = 96;

/// Allowed values of `busy_limit`.
pub(crate) const BUSY_LIMITS: Values = Values::numbers(&[96, 64, 128]);

/// Default of the idle cycles below which the controller holds low priority back, of 128.
pub(crate) const IDLE_LIMIT: u32 = 8;

/// Allowed values of `idle_limit`.
pub(crate) const IDLE_LIMITS: Values = Values::numbers(&[8, 0]);

/// Returns the parameters of a controller with these limits of its throttle.
pub(crate) fn throttle(busy_limit: u32, idle_limit: u32) -> AwcParams {
    AwcParams { busy_limit, idle_limit, ..AwcParams::default() }
}

/// Checks that the controller supports the SM's warps and schedulers.
pub(crate) fn suits_controller<O>(setup: &Setup<O>, config: &GpuConfig) -> Result<(), MechanismError> {
    if config.sm.warps > WARPS as u32 {
        let allowed = "must be 1 to 48, the warps that the assist warp controller knows";
        return Err(setup.unsuited("sm.warps", config.sm.warps, allowed));
    }
    if config.sm.schedulers != 2 {
        let allowed = "must be 2: the assist warp buffer has a port for each";
        return Err(setup.unsuited("sm.schedulers", config.sm.schedulers, allowed));
    }
    Ok(())
}
