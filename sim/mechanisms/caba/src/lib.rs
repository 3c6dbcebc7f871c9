//! CABA: assist warps, which are short subroutines that the SM issues with its warps, compress and decompress lines.
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
//!                       schedulers: instead of the parent, or in an idle cycle
//! ```
//!
//! See `docs/mechanisms/caba.md`.
pub mod assembly;
pub mod bdi;
mod controller;
pub mod cpack;
pub mod deployment;
pub mod fpc;
pub mod hw_bdi;
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

use controller::{BUSY_LIMIT, BUSY_LIMITS, IDLE_LIMIT, IDLE_LIMITS, controllers, suits_controller};
use routine::{Routines, SLOTS};
use selvedge_compressed_memory::codecs::{Algorithm, CodecChoice, L1D_TAG_BITS, L2_TAG_BITS, LINE_BYTES};
use selvedge_compressed_memory::l1d::unchanging_lines;
use selvedge_compressed_memory::{AssistedL2, MD_KB, MD_KB_ALLOWED, assisted, shared_lines, whole_lines};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::mechanism::{
    Claim, Counter, DataNeeds, Mechanism, MechanismCounters, MechanismError, MechanismOptions, OptionInfo,
    Overhead, Search, SearchResult, Setup, Site, Stopped, Trials, Values,
};
use selvedge_gpu::{mechanism_options, option_names};
use selvedge_hw_codecs::bdi::BdiEncoding;
use sm::{AssistSm, direct_event, second_event, store_event};
use warp::AssistLatencies;

/// Counters of codecs in the SMs.
pub(crate) const SM_CODEC_COUNTERS: &[Counter] = &[
    Counter::new("sm_lines_compressed", "lines compressed in the SMs"),
    Counter::new("sm_lines_decompressed", "lines decompressed in the SMs"),
];

option_names! {
    /// Treatment of partial stores and evictions in the partitions.
    pub enum PartitionLogic {
        /// Dedicated codecs.
        Codecs = "codecs",
        /// Lines stay uncompressed.
        Raw = "raw",
    }
}

option_names! {
    /// Form of the lines in the L2.
    pub enum L2Lines {
        /// As they arrive.
        Compressed = "compressed",
        /// Uncompressed.
        Uncompressed = "uncompressed",
    }
}

option_names! {
    /// A switch.
    pub enum Switch {
        /// Off.
        Off = "off",
        /// On.
        On = "on",
    }
}

mechanism_options! {
    /// Options of the mechanisms that compress.
    pub struct CompressionOptions {
        /// full-line stores that wait for compression, per SM
        stores: u32 = 16, Values::range(1, 64);
        /// cycles that a store waits at most for compression
        patience: u32 = 4096, Values::range(1, 1 << 20);
        /// incompressible lines in a row after which one store of 64 is tried; 0: never
        give_up: u32 = 8, Values::range(0, 1024);
        /// register sets for decompression, of the registers that compression needs
        sets: u32 = 2, Values::range(1, 2);
        /// busy cycles of 128 above which low priority is held back
        busy_limit: u32 = BUSY_LIMIT, BUSY_LIMITS;
        /// idle cycles of 128 below which it is held back
        idle_limit: u32 = IDLE_LIMIT, IDLE_LIMITS;
        /// partial stores and evictions: dedicated codecs, or lines that stay uncompressed
        partition: PartitionLogic = PartitionLogic::Codecs, Values::names::<PartitionLogic>();
        /// tags for each way of the L1D; 2, 4: it keeps lines compressed
        l1_tags: u32 = 1, Values::powers_of_two(1, 4).claim(Claim::L1dLines);
        /// tags for each way of the L2; 2, 4: compressed lines take less room in it
        l2_tags: u32 = 1, Values::powers_of_two(1, 4);
        /// how the L2 keeps lines; uncompressed, it answers hits so that no assist warp is needed
        l2: L2Lines = L2Lines::Compressed, Values::names::<L2Lines>();
        /// metadata cache per partition, KB
        md_kb: u32 = MD_KB, MD_KB_ALLOWED;
        /// on: a run with and one without compression first; only a faster one compresses
        profile: Switch = Switch::Off, Values::names::<Switch>().claim(Claim::Trials);
        /// on: lines stay compressed in the L1D, and each load takes what it needs of them
        direct_load: Switch = Switch::Off, Values::names::<Switch>().claim(Claim::L1dLines);
    }
}

impl CompressionOptions {
    fn has_direct_load(&self) -> bool {
        self.direct_load == Switch::On
    }

    fn has_raw_l2(&self) -> bool {
        self.l2 == L2Lines::Uncompressed
    }
}

/// Returns the options of the mechanism with these algorithms. Only BDI's words can be decompressed one by one, so only `caba-bdi`
/// has the last option, `direct_load`.
const fn options(choice: CodecChoice) -> &'static [OptionInfo] {
    match (choice, CompressionOptions::OPTIONS.split_last()) {
        (CodecChoice::Best | CodecChoice::One(Algorithm::Fpc | Algorithm::Cpack), Some((_, others))) => {
            others
        }
        _ => CompressionOptions::OPTIONS,
    }
}

/// Declares a mechanism that compresses by assist warps with the algorithms of `$choice`.
macro_rules! compression {
    ($mechanism:ident, $name:literal, $title:literal, $summary:literal, $blocks:expr, $choice:expr, $published:literal) => {
        #[doc = concat!("The mechanism `", $name, "`.")]
        #[derive(Debug)]
        pub struct $mechanism;

        impl Mechanism for $mechanism {
            const NAME: &'static str = $name;
            const SUMMARY: &'static str = $summary;
            const SOURCE: &'static str = concat!("CABA, sections 4, 5 and 7 (", $title, ")");
            const BLOCKS: &'static [&'static str] = $blocks;
            const NEEDS: DataNeeds = DataNeeds::Values;
            const CONFIGURATION: &'static str = "lines of 128 bytes in L1D and L2, which fetch whole lines, an L2 that writes back, DRAM bursts of 32 or 64 bytes, at most 24 warps per scheduler";
            const PUBLISHED: &'static str = $published;
            const CLAIMS: &'static [Claim] = &[Claim::MemoryLines, Claim::AssistWarps];
            const COUNTERS: &'static [&'static [Counter]] = &[deployment::COUNTERS, work::COUNTERS, SM_CODEC_COUNTERS, selvedge_compressed_memory::partition::COUNTERS];
            type Options = CompressionOptions;
            const OPTIONS: &'static [OptionInfo] = options($choice);

            fn configure(setup: &Setup<CompressionOptions>, config: &mut GpuConfig) -> Result<(), MechanismError> {
                configure(setup, $choice, config)
            }

            fn attach(setup: &Setup<CompressionOptions>, site: &mut Site<'_>) {
                attach(setup, $choice, site);
            }

            fn overhead(setup: &Setup<CompressionOptions>) -> Overhead {
                overhead(setup)
            }

            fn search(setup: &Setup<CompressionOptions>, _: &GpuConfig) -> Option<Box<dyn Search>> {
                let profiles = setup.options.profile == Switch::On && setup.choice.is_empty();
                profiles.then(|| Box::new(ProfileSearch) as Box<dyn Search>)
            }
        }
    };
}

compression!(
    CabaBdi,
    "caba-bdi",
    "CABA-BDI",
    "compresses lines by BDI on the crossbar, in the L2 and in DRAM, by assist warps in the SMs",
    &["awc", "bdi_compressor", "bdi_decompressor", "md_cache"],
    CodecChoice::One(Algorithm::Bdi),
    "CABA: tables of the assist warps, and an 8 KB metadata cache at each memory controller"
);

compression!(
    CabaFpc,
    "caba-fpc",
    "CABA-FPC",
    "compresses lines by FPC on the crossbar, in the L2 and in DRAM, by assist warps in the SMs",
    &["awc", "fpc_compressor", "fpc_decompressor", "md_cache"],
    CodecChoice::One(Algorithm::Fpc),
    ""
);

compression!(
    CabaCpack,
    "caba-cpack",
    "CABA-C-Pack",
    "compresses lines by C-Pack on the crossbar, in the L2 and in DRAM, by assist warps in the SMs",
    &["awc", "cpack_compressor", "cpack_decompressor", "md_cache"],
    CodecChoice::One(Algorithm::Cpack),
    ""
);

compression!(
    CabaBest,
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
    CodecChoice::Best,
    ""
);

/// Latencies of the codecs at the partitions, as in `hw-bdi` (section 6).
const PARTITION_CODECS: selvedge_compressed_memory::CodecLatencies =
    selvedge_compressed_memory::CodecLatencies { compress: 5, decompress: 1 };

/// Returns the max bytes of a compressed line that saves a DRAM burst.
fn saving_bytes(config: &GpuConfig) -> usize {
    LINE_BYTES - config.dram.burst_bytes as usize
}

/// Returns the routines of these algorithms, with BDI's routines for direct load if the option is on.
fn routines(setup: &Setup<CompressionOptions>, choice: CodecChoice, config: &GpuConfig) -> Routines {
    let mut routines = Routines::default();
    if setup.options.has_direct_load() {
        for encoding in BdiEncoding::ALL {
            if let Some(routine) = bdi::extraction(encoding) {
                routines.add(direct_event(encoding.tag()), true, routine);
            }
        }
    }
    for algorithm in choice.algorithms() {
        match algorithm {
            Algorithm::Bdi => {
                for encoding in BdiEncoding::ALL {
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
    if sets(setup, &routines) == 2 {
        routines.double(second_event);
    }
    routines
}

/// Returns the sets of registers for decompression. The option for two has no effect if two do not fit into the registers that
/// compression needs, if the store has no space for the routines twice, or if direct load uses their events.
fn sets(setup: &Setup<CompressionOptions>, routines: &Routines) -> u32 {
    let fits = 2 * routines.registers_of(true) <= routines.registers_of(false)
        && 2 * routines.slots_of(true) + routines.slots_of(false) <= SLOTS;
    if fits && !setup.options.has_direct_load() { setup.options.sets } else { 1 }
}

/// Static profiling (sections 5.3.1 and 6). It disables compression for an application that compression does not make faster.
/// Choice 1 is a run with compression, choice 0 a run without it.
struct ProfileSearch;

impl Search for ProfileSearch {
    fn any(&self) -> Vec<u32> {
        vec![1]
    }

    fn best(&self, trials: &mut dyn Trials) -> Result<SearchResult, Stopped> {
        trials.expect(2);
        let [without, with] = [trials.run(&[0], None)?.cycles, trials.run(&[1], None)?.cycles];
        Ok(SearchResult { choice: vec![u32::from(with < without)], counters: MechanismCounters::new() })
    }
}

/// Returns whether the profile has disabled compression.
fn is_disabled(setup: &Setup<CompressionOptions>) -> bool {
    setup.choice.first() == Some(&0)
}

/// Checks the configuration, and adds the registers of assist warps to the registers of each thread.
fn configure(
    setup: &Setup<CompressionOptions>,
    choice: CodecChoice,
    config: &mut GpuConfig,
) -> Result<(), MechanismError> {
    if is_disabled(setup) {
        return Ok(());
    }
    whole_lines(setup, config)?;
    suits_controller(setup, config)?;
    if setup.options.has_raw_l2() {
        suits_raw_l2(setup)?;
    }
    let tags = setup.options.l1_tags;
    if tags > 1 || setup.options.has_direct_load() {
        compress_l1d(setup, tags, config)?;
    }
    config.sm.extra_registers += routines(setup, choice, config).registers();
    Ok(())
}

/// Checks that the options support an L2 with uncompressed lines.
fn suits_raw_l2(setup: &Setup<CompressionOptions>) -> Result<(), MechanismError> {
    if setup.options.partition == PartitionLogic::Raw {
        let allowed = "allowed with l2=uncompressed is codecs: what comes and leaves compressed passes them";
        return Err(setup.unsuited("partition", "raw", allowed));
    }
    if setup.options.l2_tags > 1 {
        let allowed = "allowed with l2=uncompressed is 1: uncompressed lines take whole ways";
        return Err(setup.unsuited("l2_tags", setup.options.l2_tags, allowed));
    }
    Ok(())
}

/// Makes the L1D store lines compressed, with the given number of tags for each way.
fn compress_l1d(
    setup: &Setup<CompressionOptions>,
    tags: u32,
    config: &mut GpuConfig,
) -> Result<(), MechanismError> {
    let l1d = &mut config.l1d;
    unchanging_lines(setup, l1d)?;
    if l1d.tags_per_way != 1 {
        return Err(setup.unsuited("l1d.tags_per_way", l1d.tags_per_way, "must be 1: l1_tags says how many"));
    }
    l1d.tags_per_way = tags;
    Ok(())
}

/// Returns the bits and tags that caches of compressed lines need in addition.
fn overhead(setup: &Setup<CompressionOptions>) -> Overhead {
    let has_compressed_l1d = setup.options.l1_tags > 1 || setup.options.has_direct_load();
    let has_raw_l2 = setup.options.has_raw_l2();
    Overhead {
        l1d_tag_bits: if has_compressed_l1d { L1D_TAG_BITS } else { 0 },
        l2_tag_bits: if has_raw_l2 { 0 } else { L2_TAG_BITS },
        l2_tags_per_way: setup.options.l2_tags,
    }
}

fn attach(setup: &Setup<CompressionOptions>, choice: CodecChoice, site: &mut Site<'_>) {
    if is_disabled(setup) {
        return;
    }
    let lines = shared_lines(site, choice);
    let options = sm::CodecOptions {
        stores: setup.options.stores as usize,
        patience: u64::from(setup.options.patience),
        give_up: setup.options.give_up,
        controllers: controllers(setup.options.busy_limit, setup.options.idle_limit, site.config),
        saving_bytes: saving_bytes(site.config),
        l1_tags: setup.options.l1_tags,
        direct_load: setup.options.has_direct_load(),
        sets: routines(setup, choice, site.config).sets(),
    };
    let config = site.config;
    let latencies = AssistLatencies::of(config);
    let codecs = (setup.options.partition == PartitionLogic::Codecs).then_some(PARTITION_CODECS);
    let l2 = AssistedL2 { tags: setup.options.l2_tags, keeps_raw: setup.options.has_raw_l2() };
    let probes = site.probes;
    site.each_sm(|id| {
        AssistSm::new(id, options, latencies, routines(setup, choice, config), lines.clone(), probes)
    });
    assisted(setup.options.md_kb, site, codecs, l2, &lines);
}
