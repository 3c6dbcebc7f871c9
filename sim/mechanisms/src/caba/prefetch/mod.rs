//! Stride prefetching by assist warps (CABA, section 8.2): each load of a warp triggers one, which looks for the stride between
//! the lines that the load asks for from time to time, and prefetches a line ahead.
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

use super::assembly::assemble;
use super::lanes::METADATA;
use super::routine::{Routine, Routines};
use super::warp::Latencies;
use super::{BUSY_LIMIT, IDLE_LIMIT, suits_controller, throttle};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::mechanism::{Claim, MechanismError, MechanismInfo, Needs, OptionInfo, Part, Site};
use sm::PrefetchSm;

/// The option of how far ahead is prefetched.
const DISTANCE: &str = "distance";

/// The option of how many load instructions a warp keeps metadata for.
const LOADS: &str = "loads";

/// The only event: a load was decided.
const EVENT: u8 = 0;

/// The registry's entry.
pub const INFO: MechanismInfo = MechanismInfo {
    name: "caba-prefetch",
    summary: "prefetches strides into the L1D, by assist warps in idle issue slots of the SMs",
    source: "CABA, sections 4 and 8.2",
    blocks: &["awc"],
    options: &[
        OptionInfo::number(DISTANCE, 2, (1, 64), "strides ahead of the load that the prefetched line is"),
        OptionInfo::number(LOADS, 2, (1, 8), "load instructions that each warp keeps metadata for"),
        BUSY_LIMIT,
        IDLE_LIMIT,
    ],
    needs: Needs::Nothing,
    machine_needs: "at most 48 warps on two schedulers",
    claims: &[Claim::AssistWarps, Claim::Granularity],
    machine,
    attach,
    ..MechanismInfo::NOTHING
};

/// The routine: a lane for each line transaction of the load. The metadata's words are the last line and the last stride; a
/// stride other than zero that is seen twice is believed.
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

/// The registers of assist warps, and those with the metadata, come out of the threads'.
fn machine(part: &Part, config: &mut GpuConfig) -> Result<(), MechanismError> {
    suits_controller(part, config)?;
    let metadata = part.options[LOADS] * METADATA as u32;
    config.sm.extra_registers += routines(part.options[DISTANCE]).registers() + metadata;
    Ok(())
}

fn attach(part: &Part, site: &mut Site<'_>) {
    let options = sm::Options {
        loads: part.options[LOADS] as usize,
        throttle: throttle(part),
        latencies: Latencies::of(site.config),
        line_bytes: u64::from(site.config.l1d.line_bytes),
    };
    let probes = site.probes;
    site.each_sm(|id| PrefetchSm::new(id, options, routines(part.options[DISTANCE]), probes));
}
