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
pub mod cpack;
pub mod deployment;
pub mod fpc;
pub mod instruction;
pub mod lanes;
pub mod memo;
pub mod prefetch;
pub mod resident;
pub mod routine;
pub mod sm;
#[cfg(test)]
mod tests;
pub mod warp;
pub mod work;

use crate::codecs::{Algorithm, Choice, L1D_TAG_BITS, L2_TAG_BITS, LINE_BYTES};
use crate::hw_bdi::{self, AssistedL2, MD_KB};
use crate::latte::unchanging_lines;
use deployment::WARPS;
use routine::{Routines, SLOTS};
use selvedge_blocks::assist::awc::AwcParams;
use selvedge_blocks::bdi::Encoding;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::mechanism::{
    Claim, MechanismError, MechanismInfo, Needs, OptionInfo, Overhead, Part, Site,
};
use sm::{AssistSm, direct_event, second_event, store_event};
use warp::Latencies;

/// The option that gives partitions codecs.
const PARTITION: &str = "partition";

/// The option of a compressed L1D.
const L1_TAGS: &str = "l1_tags";

/// The option of an L2 whose compressed lines take less room.
pub(super) const L2_TAGS: &str = "l2_tags";

/// The option of loads that take what they need of compressed lines.
pub(super) const DIRECT_LOAD: &str = "direct_load";

/// The option of an L2 that keeps lines uncompressed.
pub(super) const L2: &str = "l2";

/// The option of the sets of registers.
const SETS: &str = "sets";

/// When the controller throttles.
const BUSY_LIMIT: OptionInfo = OptionInfo::choice(
    "busy_limit",
    &["96", "64", "128"],
    "busy cycles of 128 above which low priority is held back",
);

/// The same for idle cycles.
const IDLE_LIMIT: OptionInfo =
    OptionInfo::choice("idle_limit", &["8", "0"], "idle cycles of 128 below which it is held back");

/// The parameters of a controller with these options.
fn throttle(part: &Part) -> AwcParams {
    AwcParams {
        busy_limit: [96, 64, 128][part.options["busy_limit"] as usize],
        idle_limit: [8, 0][part.options["idle_limit"] as usize],
        ..AwcParams::default()
    }
}

/// The options of all of them that compress.
const OPTIONS: &[OptionInfo] = &[
    OptionInfo::number("stores", 16, (1, 64), "full-line stores that wait for compression, per SM"),
    OptionInfo::number("patience", 4096, (1, 1 << 20), "cycles that a store waits at most for compression"),
    OptionInfo::number(
        "give_up",
        8,
        (0, 1024),
        "incompressible lines in a row after which one store of 64 is tried; 0: never",
    ),
    OptionInfo::number(
        SETS,
        2,
        (1, 2),
        "register sets for decompression, of the registers that compression needs",
    ),
    BUSY_LIMIT,
    IDLE_LIMIT,
    OptionInfo::choice(
        PARTITION,
        &["codecs", "raw"],
        "partial stores and evictions: dedicated codecs, or lines that stay uncompressed",
    ),
    OptionInfo {
        power_of_two: true,
        claim: Some(Claim::L1dLines),
        ..OptionInfo::number(
            L1_TAGS,
            1,
            (1, 4),
            "tags for each way of the L1D; 2, 4: it keeps lines compressed",
        )
    },
    OptionInfo {
        power_of_two: true,
        ..OptionInfo::number(
            L2_TAGS,
            1,
            (1, 4),
            "tags for each way of the L2; 2, 4: compressed lines take less room in it",
        )
    },
    OptionInfo::choice(
        L2,
        &["compressed", "uncompressed"],
        "how the L2 keeps lines; uncompressed, it answers hits so that no assist warp is needed",
    ),
    OptionInfo {
        claim: Some(Claim::L1dLines),
        ..OptionInfo::choice(
            DIRECT_LOAD,
            &["off", "on"],
            "on: lines stay compressed in the L1D, and each load takes what it needs of them (BDI only)",
        )
    },
    MD_KB,
];

/// Compression by assist warps with the algorithms of `choice`.
macro_rules! compression {
    ($name:literal, $title:literal, $summary:literal, $blocks:expr, $choice:expr $(, published: $published:literal)?) => {
        MechanismInfo {
            name: $name,
            summary: $summary,
            source: concat!("CABA, sections 4, 5 and 7 (", $title, ")"),
            blocks: $blocks,
            options: OPTIONS,
            needs: Needs::Values,
            machine_needs: "lines of 128 bytes, at most 48 warps on two schedulers",
            $(published: $published,)?
            claims: &[Claim::MemoryLines, Claim::AssistWarps],
            machine: |part, config| machine(part, $choice, config),
            attach: |part, site| attach(part, $choice, site),
            overhead,
            ..MechanismInfo::NOTHING
        }
    };
}

/// The registry's entry of `caba-bdi`.
pub const INFO_BDI: MechanismInfo = compression!(
    "caba-bdi",
    "CABA-BDI",
    "compresses lines by BDI on the crossbar, in the L2 and in DRAM, by assist warps in the SMs",
    &["awc", "bdi_compressor", "bdi_decompressor", "md_cache"],
    Choice::One(Algorithm::Bdi),
    published: "CABA: tables of the assist warps, and an 8 KB metadata cache at each memory controller"
);

/// The registry's entry of `caba-fpc`.
pub const INFO_FPC: MechanismInfo = compression!(
    "caba-fpc",
    "CABA-FPC",
    "compresses lines by FPC on the crossbar, in the L2 and in DRAM, by assist warps in the SMs",
    &["awc", "fpc_compressor", "fpc_decompressor", "md_cache"],
    Choice::One(Algorithm::Fpc)
);

/// The registry's entry of `caba-cpack`.
pub const INFO_CPACK: MechanismInfo = compression!(
    "caba-cpack",
    "CABA-C-Pack",
    "compresses lines by C-Pack on the crossbar, in the L2 and in DRAM, by assist warps in the SMs",
    &["awc", "cpack_compressor", "cpack_decompressor", "md_cache"],
    Choice::One(Algorithm::Cpack)
);

/// The registry's entry of `caba-best`.
pub const INFO_BEST: MechanismInfo = compression!(
    "caba-best",
    "CABA-BestOfAll",
    "compresses each line by whichever of BDI, FPC and C-Pack takes the fewest bursts, by assist warps in the SMs",
    &[
        "awc",
        "bdi_compressor",
        "bdi_decompressor",
        "cpack_compressor",
        "cpack_decompressor",
        "fpc_compressor",
        "fpc_decompressor",
        "md_cache",
    ],
    Choice::Best
);

/// The codecs at the partitions, as in `hw-bdi` (section 6).
const PARTITION_CODECS: hw_bdi::Latencies = hw_bdi::Latencies { compress: 5, decompress: 1 };

/// The most bytes of a line that saves a DRAM burst.
fn saving_bytes(config: &GpuConfig) -> usize {
    LINE_BYTES - config.dram.burst_bytes as usize
}

/// The routines of these algorithms, and BDI's for direct load where that is asked for.
fn routines(part: &Part, choice: Choice, config: &GpuConfig) -> Routines {
    let mut routines = Routines::default();
    if part.options[DIRECT_LOAD] == 1 {
        for encoding in Encoding::ALL {
            if let Some(routine) = bdi::extraction(encoding) {
                routines.add(direct_event(encoding.tag()), true, routine);
            }
        }
    }
    for algorithm in choice.algorithms() {
        match algorithm {
            Algorithm::Bdi => {
                for encoding in Encoding::ALL {
                    if let Some(routine) = bdi::decompression(encoding) {
                        routines.add(encoding.tag(), true, routine);
                    }
                }
            }
            Algorithm::Fpc => routines.add(fpc::TAG, true, fpc::decompression()),
            Algorithm::Cpack => routines.add(cpack::TAG, true, cpack::decompression()),
        }
        let compression = match algorithm {
            Algorithm::Bdi => bdi::compression(saving_bytes(config)),
            Algorithm::Fpc => fpc::compression(),
            Algorithm::Cpack => cpack::compression(),
        };
        routines.add(store_event(*algorithm), false, compression);
    }
    if sets(part, &routines) == 2 {
        routines.double(second_event);
    }
    routines
}

/// Sets of registers for decompression: two where the registers that compression needs hold both, the store has room for the
/// routines twice, and direct load does not need their events.
fn sets(part: &Part, routines: &Routines) -> u32 {
    let fits = 2 * routines.registers_of(true) <= routines.registers_of(false)
        && 2 * routines.slots_of(true) + routines.slots_of(false) <= SLOTS;
    if fits && part.options[DIRECT_LOAD] == 0 { part.options[SETS] } else { 1 }
}

/// The registers of assist warps come out of the threads'; the controller knows 48 warps of two schedulers.
fn machine(part: &Part, choice: Choice, config: &mut GpuConfig) -> Result<(), MechanismError> {
    hw_bdi::whole_lines(part, config)?;
    suits_controller(part, config)?;
    if part.options[L2] == 1 {
        suits_raw_l2(part)?;
    }
    if part.options[DIRECT_LOAD] == 1 && choice != Choice::One(Algorithm::Bdi) {
        let allowed = "must be off: only BDI's words can be had one by one";
        return Err(part.unsuited(DIRECT_LOAD, "on", allowed));
    }
    let tags = part.options[L1_TAGS];
    if tags > 1 || part.options[DIRECT_LOAD] == 1 {
        compress_l1d(part, tags, config)?;
    }
    config.sm.extra_registers += routines(part, choice, config).registers();
    Ok(())
}

/// Refuses what an L2 with uncompressed lines does not go with.
fn suits_raw_l2(part: &Part) -> Result<(), MechanismError> {
    if part.options[PARTITION] == 1 {
        let allowed = "allowed with l2=uncompressed is codecs: what comes and leaves compressed passes them";
        return Err(part.unsuited(PARTITION, "raw", allowed));
    }
    if part.options[L2_TAGS] > 1 {
        let allowed = "allowed with l2=uncompressed is 1: uncompressed lines take whole ways";
        return Err(part.unsuited(L2_TAGS, part.options[L2_TAGS], allowed));
    }
    Ok(())
}

/// Refuses warps and schedulers that the controller does not know.
fn suits_controller(part: &Part, config: &GpuConfig) -> Result<(), MechanismError> {
    if config.sm.warps > WARPS as u32 {
        let allowed = "must be 1 to 48, the warps that the assist warp controller knows";
        return Err(part.unsuited("sm.warps", config.sm.warps, allowed));
    }
    if config.sm.schedulers != 2 {
        let allowed = "must be 2: the assist warp buffer has a port for each";
        return Err(part.unsuited("sm.schedulers", config.sm.schedulers, allowed));
    }
    Ok(())
}

/// Has the L1D keep lines compressed, with the given number of tags for each way.
fn compress_l1d(part: &Part, tags: u32, config: &mut GpuConfig) -> Result<(), MechanismError> {
    let l1d = &mut config.l1d;
    unchanging_lines(part, l1d)?;
    if l1d.tags_per_way != 1 {
        return Err(part.unsuited("l1d.tags_per_way", l1d.tags_per_way, "must be 1: l1_tags says how many"));
    }
    l1d.tags_per_way = tags;
    Ok(())
}

/// Tags of caches that keep lines compressed say how.
fn overhead(part: &Part) -> Overhead {
    let has_compressed_l1d = part.options[L1_TAGS] > 1 || part.options[DIRECT_LOAD] == 1;
    let has_raw_l2 = part.options[L2] == 1;
    Overhead {
        l1d_tag_bits: if has_compressed_l1d { L1D_TAG_BITS } else { 0 },
        l2_tag_bits: if has_raw_l2 { 0 } else { L2_TAG_BITS },
        l2_tags_per_way: part.options[L2_TAGS],
    }
}

fn attach(part: &Part, choice: Choice, site: &mut Site<'_>) {
    let lines = hw_bdi::shared_lines(site, choice);
    let options = sm::Options {
        stores: part.options["stores"] as usize,
        patience: u64::from(part.options["patience"]),
        give_up: part.options["give_up"],
        throttle: throttle(part),
        saving_bytes: saving_bytes(site.config),
        l1_tags: part.options[L1_TAGS],
        direct_load: part.options[DIRECT_LOAD] == 1,
        sets: routines(part, choice, site.config).sets(),
    };
    let config = site.config;
    let latencies = Latencies::of(config);
    let codecs = (part.options[PARTITION] == 0).then_some(PARTITION_CODECS);
    let l2 = AssistedL2 { tags: part.options[L2_TAGS], keeps_raw: part.options[L2] == 1 };
    let probes = site.probes;
    site.each_sm(|id| {
        AssistSm::new(id, options, latencies, routines(part, choice, config), lines.clone(), probes)
    });
    hw_bdi::assisted(part, site, codecs, l2, &lines);
}
