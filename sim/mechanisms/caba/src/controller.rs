//! Limits of the assist warp controller.
use crate::deployment::{AssistControllers, WARPS_OF_SCHEDULER};
use selvedge_gpu::config::{GpuConfig, SmConfig};
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

/// Returns the controllers of an SM with these limits of their throttles.
pub(crate) fn controllers(busy_limit: u32, idle_limit: u32, config: &GpuConfig) -> AssistControllers {
    let params = AwcParams { busy_limit, idle_limit, ..AwcParams::default() };
    let SmConfig { schedulers, warps, alu, .. } = config.sm;
    let integers = alu.integer_pipe();
    AssistControllers { params, schedulers: schedulers as u8, warps: warps as u8, integers }
}

/// Checks that the controller supports the SM's warps and schedulers.
pub(crate) fn suits_controller<O>(setup: &Setup<O>, config: &GpuConfig) -> Result<(), MechanismError> {
    if config.sm.warps > WARPS_OF_SCHEDULER * config.sm.schedulers {
        let allowed =
            "must be at most 24 for each scheduler, the warps that an assist warp controller supports";
        return Err(setup.unsuited("sm.warps", config.sm.warps, allowed));
    }
    Ok(())
}
