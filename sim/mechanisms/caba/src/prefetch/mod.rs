//! Stride prefetching by assist warps (CABA, section 8.2). Each load of a warp triggers an assist warp. It computes the stride
//! between the lines of successive executions of the load, and prefetches a line ahead.
//!
//! ```text
//!            LSU --> [ L1D ] --load decided--> [ triggers ] --event--> [ smN.awc ] <-- busy, idle
//!                       ^                                                  | low
//!       port is free    |                                                  v
//!        [ prefetch queue ] <--pref-- [ lanes + metadata ] <--idle-- [ decode register ]
//! ```
//!
//! See `docs/mechanisms/caba-prefetch.md`.
mod counters;
mod metadata;
mod sm;
#[cfg(test)]
mod tests;

use crate::assembly::assemble;
use crate::controller::{BUSY_LIMIT, BUSY_LIMITS, IDLE_LIMIT, IDLE_LIMITS, controllers, suits_controller};
use crate::lanes::METADATA;
use crate::routine::{Routine, Routines};
use crate::warp::AssistLatencies;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::mechanism::{Claim, Counter, Mechanism, MechanismError, Setup, Site, Values};
use selvedge_gpu::mechanism_options;
use sm::PrefetchSm;

/// The only event: the L1D has decided a load.
const EVENT: u8 = 0;

mechanism_options! {
    /// Options of `caba-prefetch`.
    pub struct PrefetchOptions {
        /// strides ahead of the load that the prefetched line is
        distance: u32 = 2, Values::range(1, 64);
        /// load instructions that each warp keeps metadata for
        loads: u32 = 2, Values::range(1, 8);
        /// busy cycles of 128 above which low priority is held back
        busy_limit: u32 = BUSY_LIMIT, BUSY_LIMITS;
        /// idle cycles of 128 below which it is held back
        idle_limit: u32 = IDLE_LIMIT, IDLE_LIMITS;
    }
}

/// The mechanism `caba-prefetch`.
#[derive(Debug)]
pub struct CabaPrefetch;

impl Mechanism for CabaPrefetch {
    const NAME: &'static str = "caba-prefetch";
    const SUMMARY: &'static str =
        "prefetches strides into the L1D, by assist warps in idle issue slots of the SMs";
    const SOURCE: &'static str = "CABA, sections 4 and 8.2";
    const BLOCKS: &'static [&'static str] = &["awc"];
    const CONFIGURATION: &'static str = "at most 24 warps per scheduler";
    const CLAIMS: &'static [Claim] = &[Claim::AssistWarps, Claim::Granularity];
    const COUNTERS: &'static [&'static [Counter]] = &[crate::deployment::COUNTERS, counters::COUNTERS];
    type Options = PrefetchOptions;

    /// Checks the configuration, and adds the registers of assist warps and metadata to each thread.
    fn configure(setup: &Setup<PrefetchOptions>, config: &mut GpuConfig) -> Result<(), MechanismError> {
        suits_controller(setup, config)?;
        let metadata = setup.options.loads * METADATA as u32;
        config.sm.extra_registers += routines(setup.options.distance).registers() + metadata;
        Ok(())
    }

    fn attach(setup: &Setup<PrefetchOptions>, site: &mut Site<'_>) {
        let PrefetchOptions { distance, loads, busy_limit, idle_limit } = setup.options;
        let options = sm::PrefetchSettings {
            loads: loads as usize,
            controllers: controllers(busy_limit, idle_limit, site.config),
            latencies: AssistLatencies::of(site.config),
            line_bytes: u64::from(site.config.l1d.line_bytes),
        };
        let probes = site.probes;
        site.each_sm(|id| PrefetchSm::new(id, options, routines(distance), probes));
    }
}

/// Returns the routine, which uses one lane for each line transaction of the load. The metadata's words are the last line and
/// the last stride. A stride that occurs twice in succession and is not zero leads to a prefetch.
fn routine(distance: u32) -> Routine {
    let text = format!(
        "line r0
         getm r4, 0             ; the line of the last time
         getm r5, 1             ; the stride of the last time
         setm r0, 0
         sub r4, r0, r4
         eqi p2, r4, 0          ; the same line again: no stride
         @!p2 eq.4 p1, r4, r5
         @!p2 setm r4, 1
         any p3, p1
         @!p3 done 0, 0         ; no lane has found a stride
         muli r4, r4, {distance}
         @p1 pref r0, r4"
    );
    Routine { code: assemble(&text).expect("the routine is right"), mask: u32::MAX }
}

fn routines(distance: u32) -> Routines {
    let mut routines = Routines::default();
    routines.add(EVENT, false, routine(distance));
    routines
}
