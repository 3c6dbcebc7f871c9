//! LAMAR, the locality-aware memory hierarchy: a granularity decision unit (GDU) at every L1D and every L2 slice decides for
//! each miss whether all sectors of its block are fetched, or which (Rhu et al., sections 3.1 to 3.4).
//!
//! ```text
//!  SM n:  load -> L1D: miss ---> GDU smN.l1d -> sectors -> L2: miss ---> GDU l2.pN -> sectors -> DRAM, two sub-ranks
//!                 L1D: eviction -^ used sectors             L2: eviction -^ used sectors
//! ```
//! Both caches are divided into sectors of 32 bytes and the DRAM into two sub-ranks, which serve 32 bytes each; or into
//! sectors of 64 bytes, with the DRAM as it is (section 5.5.3).
mod bgp;
mod exact;
mod gdu;
mod level;
mod parts;
mod spp;
#[cfg(test)]
mod tests;

use bgp::BgpGdu;
use exact::ExactGdu;
use gdu::{Fixed, Gdu};
use level::{CacheLevel, Level};
use parts::{PartitionGdu, SmGdu};
use selvedge_blocks::bgp::BgpParams;
use selvedge_blocks::spp::SppParams;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::mechanism::{Claim, MechanismError, MechanismInfo, Needs, OptionInfo, Part, Site};
use spp::SppGdu;

/// Bytes of a sector, by the value of the option `granularity`.
const GRANULARITIES: [u32; 2] = [32, 64];

/// Sub-ranks that 32-byte sectors bring along (figure 3).
const SUB_RANKS: u32 = 2;

const GRANULARITY: OptionInfo = OptionInfo::choice(
    "granularity",
    &["32", "64"],
    "bytes of a sector: 32 with two sub-ranks of DRAM, 64 with the DRAM as it is",
);
const THRESHOLD: OptionInfo =
    OptionInfo::number("threshold", 2, (2, 4), "a block with fewer used sectors has low locality");
const SKEW: OptionInfo = OptionInfo::choice(
    "skew",
    &["70", "90"],
    "percentage of insertions among the evictions of a window beyond which the default flips",
);
const WINDOW: OptionInfo =
    OptionInfo::choice("window", &["1000", "500"], "evictions after which the skew is evaluated");

/// What every mechanism of the family has in common.
const FAMILY: MechanismInfo = MechanismInfo {
    name: "",
    summary: "",
    source: "LAMAR, section 3.2",
    blocks: &[],
    options: &[GRANULARITY],
    needs: Needs::Nothing,
    machine_needs: "one tag for each way",
    // A codec takes whole lines.
    claims: &[Claim::Granularity, Claim::L1dLines, Claim::MemoryLines],
    machine,
    attach: attach_coarse,
    ..MechanismInfo::NOTHING
};

/// Every miss fetches all sectors.
pub const CG_ONLY: MechanismInfo = MechanismInfo {
    name: "cg-only",
    summary: "fetches all sectors of a block on every L1D and L2 miss",
    ..FAMILY
};

/// Every miss fetches the requested sectors.
pub const FG_ONLY: MechanismInfo = MechanismInfo {
    name: "fg-only",
    summary: "fetches only the requested sectors on every L1D and L2 miss",
    attach: attach_fine,
    ..FAMILY
};

/// The programmer says which.
pub const STATIC_GDU: MechanismInfo = MechanismInfo {
    name: "static-gdu",
    summary: "fetches all sectors or only the requested ones, as an option fixes for the whole program",
    options: &[
        OptionInfo::choice(
            "fetch",
            &["coarse", "fine", "l1d-fine", "l2-fine"],
            "misses fetch all sectors, those requested, or those requested at one of the levels",
        ),
        GRANULARITY,
    ],
    attach: attach_static,
    ..FAMILY
};

/// The bi-modal granularity predictor.
pub const BGP: MechanismInfo = MechanismInfo {
    name: "bgp",
    summary: "predicts fetch granularity (all sectors or only the requested ones) on a miss from a Bloom filter of evicted blocks at each L1D and L2 slice",
    published: "LAMAR: 4 Kbit for each predictor",
    source: "LAMAR, section 3.4",
    blocks: &["bgp"],
    options: &[
        GRANULARITY,
        THRESHOLD,
        SKEW,
        WINDOW,
        OptionInfo::choice("bits", &["2048", "4096"], "bits of each of the two arrays of the Bloom filter"),
        OptionInfo::choice("refresh", &["512", "1024"], "insertions after which an array is cleared"),
    ],
    attach: attach_bgp,
    ..FAMILY
};

/// The same with a set instead of the filter.
pub const BGP_INF: MechanismInfo = MechanismInfo {
    name: "bgp-inf",
    summary: "predicts as bgp does, from an exact set of a million blocks in place of the Bloom filter (a bound, not hardware)",
    source: "LAMAR, section 4.1",
    options: &[GRANULARITY, THRESHOLD, SKEW, WINDOW],
    attach: attach_exact,
    ..FAMILY
};

/// The spatial-pattern predictor.
pub const SPP: MechanismInfo = MechanismInfo {
    name: "spp",
    summary: "predicts the sectors to fetch on a miss from those used in the block's last residence, by a pattern table at each L1D and L2 slice",
    source: "LAMAR, section 3.3.1",
    blocks: &["spp"],
    options: &[
        GRANULARITY,
        OptionInfo::choice("entries", &["256", "1024"], "entries of each pattern history table"),
        OptionInfo::choice("unknown", &["coarse", "fine"], "what is fetched of a block without a pattern"),
    ],
    attach: attach_spp,
    ..FAMILY
};

/// Bytes of a sector.
fn granularity(part: &Part) -> u32 {
    GRANULARITIES[part.options["granularity"] as usize]
}

/// Gives the caches sectors, and the DRAM sub-ranks where sectors of 32 bytes want them and it can be divided.
fn machine(part: &Part, config: &mut GpuConfig) -> Result<(), MechanismError> {
    let sector = granularity(part);
    let (l1d, l2, dram) = (&mut config.l1d, &mut config.l2, &mut config.dram);
    if l1d.line_bytes < sector {
        return Err(part.unsuited("l1d.line_bytes", l1d.line_bytes, "must be no less than the granularity"));
    }
    if l1d.tags_per_way > 1 {
        return Err(part.unsuited("l1d.tags_per_way", l1d.tags_per_way, "must be 1: lines with sectors"));
    }
    if dram.burst_bytes > sector {
        return Err(part.unsuited(
            "dram.burst_bytes",
            dram.burst_bytes,
            "must be no more than the granularity, 32 bytes unless granularity=64",
        ));
    }
    (l1d.sector_bytes, l2.sector_bytes) = (sector, sector);
    // How many sectors a request takes is the mechanism's choice.
    l2.split_requests = false;
    // Bank groups, and banks that choose what they serve, are of a whole rank.
    let is_whole = dram.bank_groups > 1 || dram.return_queue > 0;
    let may_divide = dram.sub_ranks == 1 && dram.most_sub_ranks(l2.line_bytes) >= SUB_RANKS && !is_whole;
    if sector == GRANULARITIES[0] && may_divide {
        dram.sub_ranks = SUB_RANKS;
    }
    Ok(())
}

/// A GDU at every cache; `gdu` makes one of a name for a level, with the given number of sectors of a block.
fn attach_with(site: &mut Site<'_>, gdu: impl Fn(CacheLevel, String, u32) -> Box<dyn Gdu>) {
    let config = site.config;
    let level = |level: CacheLevel, place: String| {
        let sectors = level.sectors(config);
        Level::new(level, config, gdu(level, place, sectors.own_count()))
    };
    site.each_sm(|id| SmGdu(level(CacheLevel::L1d, format!("sm{id}.l1d"))));
    site.each_partition(|number| PartitionGdu(level(CacheLevel::L2, format!("l2.p{number}"))));
}

fn attach_coarse(_: &Part, site: &mut Site<'_>) {
    attach_with(site, |_, _, _| Box::new(Fixed::Coarse))
}

fn attach_fine(_: &Part, site: &mut Site<'_>) {
    attach_with(site, |_, _, _| Box::new(Fixed::Fine))
}

fn attach_static(part: &Part, site: &mut Site<'_>) {
    let (l1d, l2) = [
        (Fixed::Coarse, Fixed::Coarse),
        (Fixed::Fine, Fixed::Fine),
        (Fixed::Fine, Fixed::Coarse),
        (Fixed::Coarse, Fixed::Fine),
    ][part.options["fetch"] as usize];
    attach_with(site, |level, _, _| Box::new(if level == CacheLevel::L1d { l1d } else { l2 }))
}

/// The parameters of a BGP for blocks of the given number of sectors; those of the filter are the defaults where there is none.
fn bgp_params(part: &Part, sectors: u32) -> BgpParams {
    let option = |name: &str| part.options.get(name).map_or(0, |value| *value as usize);
    BgpParams {
        bitarray_bits: [2048, 4096][option("bits")],
        refresh_period: [512, 1024][option("refresh")],
        sectors: port_sectors(sectors),
        fg_threshold: part.options["threshold"],
        skew_percent: [70, 90][option("skew")],
        skew_window: [1000, 500][option("window")],
    }
}

/// The blocks have ports for 4 or 8 sectors; a block of fewer leaves the upper ones at zero.
fn port_sectors(sectors: u32) -> u32 {
    if sectors <= 4 { 4 } else { 8 }
}

fn attach_bgp(part: &Part, site: &mut Site<'_>) {
    let probes: &Probes = site.probes;
    attach_with(site, |_, place, sectors| {
        Box::new(BgpGdu::new(probes.instance(format!("{place}.bgp"), &bgp_params(part, sectors))))
    })
}

fn attach_exact(part: &Part, site: &mut Site<'_>) {
    attach_with(site, |_, _, sectors| Box::new(ExactGdu::new(&bgp_params(part, sectors))))
}

fn attach_spp(part: &Part, site: &mut Site<'_>) {
    let probes: &Probes = site.probes;
    attach_with(site, |_, place, sectors| {
        let params = SppParams {
            entries: [256, 1024][part.options["entries"] as usize],
            sectors: port_sectors(sectors),
            unknown_coarse: part.options["unknown"] == 0,
        };
        Box::new(SppGdu::new(probes.instance(format!("{place}.spp"), &params), sectors))
    })
}
