//! LAMAR, the locality-aware memory hierarchy. A granularity decision unit (GDU) at every L1D and every L2 slice decides for
//! each miss which sectors of the block are fetched (Rhu et al., sections 3.1 to 3.4).
//!
//! ```text
//!  SM n:  load -> L1D: miss ---> GDU smN.l1d -> sectors -> L2: miss ---> GDU l2.pN -> sectors -> DRAM, two sub-ranks
//!                 L1D: eviction -^ used sectors             L2: eviction -^ used sectors
//! ```
//! With `granularity=32` both caches have sectors of 32 bytes and the DRAM has two sub-ranks, which serve 32 bytes each. With
//! `granularity=64` the sectors have 64 bytes, and the DRAM is not changed (section 5.5.3).
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
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::mechanism::{Claim, Counter, Mechanism, MechanismError, Setup, Site, Values};
use selvedge_gpu::{mechanism_options, option_names};
use selvedge_hw_lamar::bgp::BgpParams;
use selvedge_hw_lamar::spp::SppParams;
use spp::{LargeSppGdu, SppGdu, UNREALISTIC};

/// Default bytes of a sector.
const FINE: u32 = 32;

/// Values bytes of a sector.
const GRANULARITIES: Values = Values::numbers(&[FINE, 64]);

/// Sub-ranks of the DRAM under 32-byte sectors (figure 3).
const SUB_RANKS: u32 = 2;

mechanism_options! {
    /// Options of `cg-only` and `fg-only`.
    pub struct SectorOptions {
        /// bytes of a sector: 32 with two sub-ranks of DRAM, 64 with the DRAM as it is
        granularity: u32 = FINE, GRANULARITIES;
    }
}

option_names! {
    /// Sectors that misses of the two levels fetch.
    pub enum FetchedSectors {
        /// All sectors.
        Coarse = "coarse",
        /// The requested sectors.
        Fine = "fine",
        /// The L1D: the requested sectors; the L2: all.
        L1dFine = "l1d-fine",
        /// The L1D: all sectors; the L2: the requested ones.
        L2Fine = "l2-fine",
    }
}

mechanism_options! {
    /// Options of `static-gdu`.
    pub struct StaticOptions {
        /// misses fetch all sectors, those requested, or those requested at one of the levels
        fetch: FetchedSectors = FetchedSectors::Coarse, Values::names::<FetchedSectors>();
        /// bytes of a sector: 32 with two sub-ranks of DRAM, 64 with the DRAM as it is
        granularity: u32 = FINE, GRANULARITIES;
    }
}

mechanism_options! {
    /// Options of `bgp`.
    pub struct BgpOptions {
        /// bytes of a sector: 32 with two sub-ranks of DRAM, 64 with the DRAM as it is
        granularity: u32 = FINE, GRANULARITIES;
        /// a block with fewer used sectors has low locality
        threshold: u32 = 2, Values::range(2, 4);
        /// percentage of insertions among the evictions of a window beyond which the default flips
        skew: u32 = 70, Values::numbers(&[70, 90]);
        /// evictions after which the skew is evaluated
        window: u32 = 1000, Values::numbers(&[1000, 500]);
        /// bits of each of the two arrays of the Bloom filter
        bits: u32 = 2048, Values::numbers(&[2048, 4096]);
        /// insertions after which an array is cleared
        refresh: u32 = 512, Values::numbers(&[512, 1024]);
    }
}

impl BgpOptions {
    /// Returns the parameters of a BGP for blocks of `sectors` sectors.
    fn params(&self, sectors: u32) -> BgpParams {
        BgpParams {
            bitarray_bits: self.bits,
            refresh_period: self.refresh,
            sectors: port_sectors(sectors),
            fg_threshold: self.threshold,
            skew_percent: self.skew,
            skew_window: self.window,
        }
    }
}

mechanism_options! {
    /// Options of `bgp-inf`.
    pub struct ExactOptions {
        /// bytes of a sector: 32 with two sub-ranks of DRAM, 64 with the DRAM as it is
        granularity: u32 = FINE, GRANULARITIES;
        /// a block with fewer used sectors has low locality
        threshold: u32 = 2, Values::range(2, 4);
        /// percentage of insertions among the evictions of a window beyond which the default flips
        skew: u32 = 70, Values::numbers(&[70, 90]);
        /// evictions after which the skew is evaluated
        window: u32 = 1000, Values::numbers(&[1000, 500]);
    }
}

impl ExactOptions {
    /// Returns the parameters of a BGP for blocks of `sectors` sectors. Those of the filter have no effect.
    fn params(&self, sectors: u32) -> BgpParams {
        BgpParams {
            sectors: port_sectors(sectors),
            fg_threshold: self.threshold,
            skew_percent: self.skew,
            skew_window: self.window,
            ..BgpParams::default()
        }
    }
}

option_names! {
    /// Sectors that are fetched of a block without a pattern.
    pub enum Unknown {
        /// All sectors.
        Coarse = "coarse",
        /// The requested sectors.
        Fine = "fine",
    }
}

mechanism_options! {
    /// Options of `spp`.
    pub struct SppOptions {
        /// bytes of a sector: 32 with two sub-ranks of DRAM, 64 with the DRAM as it is
        granularity: u32 = FINE, GRANULARITIES;
        /// entries of each pattern history table; 1048576, the paper's, has no block
        entries: u32 = 256, Values::numbers(&[256, 1024, UNREALISTIC]);
        /// what is fetched of a block without a pattern
        unknown: Unknown = Unknown::Coarse, Values::names::<Unknown>();
    }
}

/// Declares a mechanism of the family. `$attach` adds its units.
macro_rules! granularity {
    ($mechanism:ident, $name:literal, $summary:literal, $source:literal, $published:literal, $blocks:expr, $counters:expr, $options:ident, $attach:expr) => {
        #[doc = concat!("The mechanism `", $name, "`.")]
        #[derive(Debug)]
        pub struct $mechanism;

        impl Mechanism for $mechanism {
            const NAME: &'static str = $name;
            const SUMMARY: &'static str = $summary;
            const SOURCE: &'static str = $source;
            const BLOCKS: &'static [&'static str] = $blocks;
            const CONFIGURATION: &'static str =
                "one tag for each way, DRAM bursts of at most the granularity";
            const PUBLISHED: &'static str = $published;
            // The claims on lines exclude codecs, which need whole lines.
            const CLAIMS: &'static [Claim] = &[Claim::Granularity, Claim::L1dLines, Claim::MemoryLines];
            const COUNTERS: &'static [&'static [Counter]] = $counters;
            type Options = $options;

            fn configure(setup: &Setup<$options>, config: &mut GpuConfig) -> Result<(), MechanismError> {
                divide(setup, setup.options.granularity, config)
            }

            fn attach(setup: &Setup<$options>, site: &mut Site<'_>) {
                let attach: fn(&$options, &mut Site<'_>) = $attach;
                attach(&setup.options, site);
            }
        }
    };
}

granularity!(
    CgOnly,
    "cg-only",
    "fetches all sectors of a block on every L1D and L2 miss",
    "LAMAR, section 3.2",
    "",
    &[],
    &[level::COUNTERS],
    SectorOptions,
    |_, site| attach_with(site, |_, _, _| Box::new(Fixed::Coarse))
);

granularity!(
    FgOnly,
    "fg-only",
    "fetches only the requested sectors on every L1D and L2 miss",
    "LAMAR, section 3.2",
    "",
    &[],
    &[level::COUNTERS],
    SectorOptions,
    |_, site| attach_with(site, |_, _, _| Box::new(Fixed::Fine))
);

granularity!(
    StaticGdu,
    "static-gdu",
    "fetches all sectors or only the requested ones, as an option fixes for the whole program",
    "LAMAR, section 3.2",
    "",
    &[],
    &[level::COUNTERS],
    StaticOptions,
    |options, site| {
        let (l1d, l2) = match options.fetch {
            FetchedSectors::Coarse => (Fixed::Coarse, Fixed::Coarse),
            FetchedSectors::Fine => (Fixed::Fine, Fixed::Fine),
            FetchedSectors::L1dFine => (Fixed::Fine, Fixed::Coarse),
            FetchedSectors::L2Fine => (Fixed::Coarse, Fixed::Fine),
        };
        attach_with(site, |level, _, _| Box::new(if level == CacheLevel::L1d { l1d } else { l2 }));
    }
);

granularity!(
    Bgp,
    "bgp",
    "predicts fetch granularity (all sectors or only the requested ones) on a miss from a Bloom filter of evicted blocks at each L1D and L2 slice",
    "LAMAR, section 3.4",
    "LAMAR: 4 Kbit for each predictor",
    &["bgp"],
    &[level::COUNTERS, bgp::COUNTERS],
    BgpOptions,
    |options, site| {
        let probes: &Probes = site.probes;
        attach_with(site, |_, place, sectors| {
            Box::new(BgpGdu::new(probes.instance(format!("{place}.bgp"), &options.params(sectors))))
        });
    }
);

granularity!(
    BgpInf,
    "bgp-inf",
    "predicts as bgp does, from an exact set of a million blocks in place of the Bloom filter (a bound, not hardware)",
    "LAMAR, section 4.1",
    "",
    &[],
    &[level::COUNTERS, bgp::COUNTERS],
    ExactOptions,
    |options, site| {
        attach_with(site, |_, _, sectors| Box::new(ExactGdu::new(&options.params(sectors))));
    }
);

granularity!(
    Spp,
    "spp",
    "predicts the sectors to fetch on a miss from those used in the block's last residence, by a pattern table at each L1D and L2 slice",
    "LAMAR, section 3.3.1",
    "",
    &["spp"],
    &[level::COUNTERS, spp::COUNTERS],
    SppOptions,
    |options, site| {
        let probes: &Probes = site.probes;
        attach_with(site, |_, place, sectors| {
            let params = SppParams {
                entries: options.entries,
                sectors: port_sectors(sectors),
                unknown_coarse: options.unknown == Unknown::Coarse,
            };
            if params.entries == UNREALISTIC {
                return Box::new(LargeSppGdu::new(&params, sectors));
            }
            Box::new(SppGdu::new(probes.instance(format!("{place}.spp"), &params), sectors))
        });
    }
);

/// Divides the caches' lines into sectors. With sectors of 32 bytes it also divides the DRAM into sub-ranks, if that is possible.
fn divide<O>(setup: &Setup<O>, sector: u32, config: &mut GpuConfig) -> Result<(), MechanismError> {
    let (l1d, l2, dram) = (&mut config.l1d, &mut config.l2, &mut config.dram);
    if l1d.line_bytes < sector {
        return Err(setup.unsuited("l1d.line_bytes", l1d.line_bytes, "must be no less than the granularity"));
    }
    if l1d.tags_per_way > 1 {
        return Err(setup.unsuited("l1d.tags_per_way", l1d.tags_per_way, "must be 1: lines with sectors"));
    }
    if dram.burst_bytes > sector {
        return Err(setup.unsuited(
            "dram.burst_bytes",
            dram.burst_bytes,
            "must be no more than the granularity, 32 bytes unless granularity=64: DRAM fetches whole bursts",
        ));
    }
    (l1d.sector_bytes, l2.sector_bytes) = (sector, sector);
    // The mechanism decides how many sectors a request has.
    l2.split_requests = false;
    // Bank groups, and the banks' reordering of requests, are modeled for whole ranks only.
    let is_whole = dram.bank_groups > 1 || dram.return_queue > 0;
    let may_divide = dram.sub_ranks == 1 && dram.most_sub_ranks(l2.line_bytes) >= SUB_RANKS && !is_whole;
    if sector == FINE && may_divide {
        dram.sub_ranks = SUB_RANKS;
    }
    Ok(())
}

/// Builds a GDU at every cache. `gdu` returns the unit for a level, the name of a place and a number of sectors per block.
fn attach_with(site: &mut Site<'_>, gdu: impl Fn(CacheLevel, String, u32) -> Box<dyn Gdu>) {
    let config = site.config;
    let level = |level: CacheLevel, place: String| {
        let sectors = level.sectors(config);
        Level::new(level, config, gdu(level, place, sectors.own_count()))
    };
    site.each_sm(|id| SmGdu(level(CacheLevel::L1d, format!("sm{id}.l1d"))));
    site.each_slice(|number| PartitionGdu(level(CacheLevel::L2, format!("l2.p{number}"))));
}

/// Returns the sectors of the block's ports, 4 or 8. If the cache's blocks have fewer sectors, the upper ones are 0.
fn port_sectors(sectors: u32) -> u32 {
    if sectors <= 4 { 4 } else { 8 }
}
