//! Memoization by assist warps (CABA, section 8.1). When a warp enters a function without side effects, its assist warp looks
//! up the results in a table in the unused shared memory. If they are not there, the warp computes them, and an assist warp
//! stores them.
//!
//! ```text
//!   warp at the region's start --inputs--> [ lookups ] --event--> [ smN.awc ] <--event-- [ stores ] <--results-- at its end
//!          |           ^                                               | high                 ^
//!          |           |                                               v                      |
//!          |           +--not found: executes it-- [ lanes + look-up table in shared memory ]-+
//!          v                                                           |
//!   behind its end <----------------found in all lanes-----------------+
//! ```
//!
//! See `docs/mechanisms/caba-memo.md`.
mod counters;
mod routines;
mod sm;
pub mod table;
#[cfg(test)]
mod tests;

use crate::controller::{BUSY_LIMIT, BUSY_LIMITS, IDLE_LIMIT, IDLE_LIMITS, controllers, suits_controller};
use crate::warp::AssistLatencies;
use routines::{SHAPES, routines};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::mechanism::{Claim, Counter, DataNeeds, Mechanism, MechanismError, Setup, Site, Values};
use selvedge_gpu::mechanism_options;
use sm::MemoSm;
use table::LEAST_ENTRIES;

mechanism_options! {
    /// Options of `caba-memo`.
    pub struct MemoOptions {
        /// entries of each SM's table at most, 16 bytes each
        entries: u32 = 1024, Values::powers_of_two(LEAST_ENTRIES, 1 << 16);
        /// instructions of a function's code from which on it is memoized, if it has no loop
        least: u32 = 32, Values::range(1, 1 << 16);
        /// busy cycles of 128 above which low priority is held back
        busy_limit: u32 = BUSY_LIMIT, BUSY_LIMITS;
        /// idle cycles of 128 below which it is held back
        idle_limit: u32 = IDLE_LIMIT, IDLE_LIMITS;
    }
}

/// The mechanism `caba-memo`.
#[derive(Debug)]
pub struct CabaMemo;

impl Mechanism for CabaMemo {
    const NAME: &'static str = "caba-memo";
    const SUMMARY: &'static str =
        "memoizes functions without side effects in unused shared memory, by assist warps";
    const SOURCE: &'static str = "CABA, sections 4 and 8.1";
    const BLOCKS: &'static [&'static str] = &["awc"];
    const NEEDS: DataNeeds = DataNeeds::Execution;
    const CONFIGURATION: &'static str = "at most 24 warps per scheduler, shared memory that CTAs leave";
    const CLAIMS: &'static [Claim] = &[Claim::AssistWarps];
    const COUNTERS: &'static [&'static [Counter]] = &[crate::deployment::COUNTERS, counters::COUNTERS];
    type Options = MemoOptions;

    /// Checks the configuration, and adds the assist warps' registers to each thread. Further registers keep a region's
    /// inputs, and the lanes in which it was found, until its end.
    fn configure(setup: &Setup<MemoOptions>, config: &mut GpuConfig) -> Result<(), MechanismError> {
        suits_controller(setup, config)?;
        let kept = SHAPES.iter().map(|shape| shape.inputs as u32).max().unwrap_or(0);
        config.sm.extra_registers += routines().registers() + kept + 1;
        Ok(())
    }

    fn attach(setup: &Setup<MemoOptions>, site: &mut Site<'_>) {
        let MemoOptions { entries, least, busy_limit, idle_limit } = setup.options;
        let options = sm::MemoSettings {
            entries,
            least,
            controllers: controllers(busy_limit, idle_limit, site.config),
            latencies: AssistLatencies::of(site.config),
            shared_bytes: site.config.sm.shared_bytes,
        };
        let probes = site.probes;
        site.each_sm(|id| MemoSm::new(id, options, probes));
    }
}
