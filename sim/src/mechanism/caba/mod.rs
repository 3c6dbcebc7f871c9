//! CABA: lines are compressed and decompressed by assist warps, short subroutines that the SM issues with its warps.
//!
//! ```text
//!  replies --> [ compressed? ] --no--> L1D          LSU --> [ full line? ] --no--> miss queue
//!                     | yes                                       | yes
//!                     v                                           v
//!                 [ fills ] --event--> [ smN.awc ] <--event-- [ stores ] --overflow, late--> miss queue
//!                     ^             high |    | low               ^                (uncompressed)
//!                     |                  v    v                   |
//!                   L1D  <--done-- [ decode registers ] --done--> miss queue (compressed)
//!                                        |    |
//!                       schedulers: in place of the parent, or in an idle cycle
//! ```
//!
//! See `docs/mechanisms/caba.md`.
pub mod assembly;
pub mod bdi;
pub mod instruction;
pub mod lanes;
pub mod routine;
pub mod sm;
#[cfg(test)]
mod tests;
pub mod warp;

use crate::config::GpuConfig;
use crate::gpu::Policies;
use crate::mechanism::hw_bdi::{self, MD_KB, MD_WAYS, SharedLines};
use crate::mechanism::{Build, Claim, MechanismError, MechanismInfo, OptionInfo, Part};
use crate::sm::policy::SmPolicy;
use routine::Routines;
use selvedge_hw::bdi::Encoding;
use sm::{AssistSm, STORE_EVENT, WARPS};
use std::rc::Rc;
use warp::Latencies;

/// The registry's entry of `caba-bdi`.
pub const INFO_BDI: MechanismInfo = MechanismInfo {
    name: "caba-bdi",
    summary: "BDI on the crossbar, in the L2 and in DRAM, by assist warps in the SMs",
    source: "CABA, sections 4, 5 and 7 (CABA-BDI)",
    blocks: &["awc", "bdi_compressor", "bdi_decompressor"],
    options: &[
        OptionInfo::number("stores", 16, (1, 64), "full-line stores that wait for compression, per SM"),
        OptionInfo::number(
            "patience",
            4096,
            (1, 1 << 20),
            "cycles that a store waits at most for compression",
        ),
        OptionInfo::number(
            "give_up",
            8,
            (0, 1024),
            "incompressible lines in a row after which one store of 64 is tried; 0: never",
        ),
        OptionInfo::choice(
            "busy_limit",
            &["96", "64", "128"],
            "busy cycles of 128 above which low priority is held back",
        ),
        OptionInfo::choice("idle_limit", &["8", "0"], "idle cycles of 128 below which it is held back"),
        OptionInfo::choice(
            "partition",
            &["codecs", "raw"],
            "partial stores and evictions: codecs as in hw-bdi, or lines that stay uncompressed",
        ),
        MD_KB,
        MD_WAYS,
    ],
    needs_values: true,
    claims: &[Claim::MemoryLines],
    machine,
    build,
};

/// The codecs at the partitions, as in `hw-bdi` (section 6).
const PARTITION_CODECS: hw_bdi::Latencies = hw_bdi::Latencies { compress: 5, decompress: 1 };

/// The routines of BDI.
fn routines() -> Routines {
    let mut routines = Routines::default();
    for encoding in Encoding::ALL {
        if let Some(routine) = bdi::decompression(encoding) {
            routines.add(encoding.tag(), true, routine);
        }
    }
    routines.add(STORE_EVENT, false, bdi::compression());
    routines
}

/// The registers of assist warps come out of the threads'; the controller knows 48 warps of two schedulers.
fn machine(part: &Part, config: &mut GpuConfig) -> Result<(), MechanismError> {
    hw_bdi::check(part, config)?;
    if config.sm.warps > WARPS as u32 {
        let allowed = "allowed are 1 to 48, the warps that the assist warp controller knows";
        return Err(part.unsuited("sm.warps", config.sm.warps, allowed));
    }
    if config.sm.schedulers != 2 {
        let allowed = "allowed is 2: the assist warp buffer has a port for each";
        return Err(part.unsuited("sm.schedulers", config.sm.schedulers, allowed));
    }
    config.sm.extra_registers += routines().registers();
    Ok(())
}

fn build(part: &Part, with: &Build<'_>) -> Policies {
    let lines = SharedLines::default();
    let options = sm::Options {
        stores: part.options["stores"] as usize,
        patience: u64::from(part.options["patience"]),
        give_up: part.options["give_up"],
        busy_limit: [96, 64, 128][part.options["busy_limit"] as usize],
        idle_limit: [8, 0][part.options["idle_limit"] as usize],
    };
    let latencies = Latencies::of(with.config);
    let codecs = (part.options["partition"] == 0).then_some(PARTITION_CODECS);
    let one = |id| {
        let lines = Rc::clone(&lines);
        Box::new(AssistSm::new(id, options, latencies, routines(), lines, with.probes)) as Box<dyn SmPolicy>
    };
    Policies {
        sms: (0..with.config.sm.count).map(one).collect(),
        partitions: hw_bdi::assisted(part, with, codecs, &lines),
    }
}
