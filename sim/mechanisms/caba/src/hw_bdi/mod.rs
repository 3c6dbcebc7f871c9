//! Bandwidth compression with dedicated BDI logic (CABA, section 7).
//!
//! - `hw-bdi`: lines are compressed in the L2, on the crossbar and in DRAM, and uncompressed only in the L1D. An SM
//!   decompresses read replies and compresses full-line stores. A partial store to a compressed line in the L2 waits for the
//!   partition's decompressor. The partition's compressor then compresses the line in the L2 again, in the background.
//! - `hw-bdi-mem`: lines are compressed only in DRAM. The memory controller decompresses fills and compresses evicted lines.
//! - `ideal-bdi`: as `hw-bdi`, but codecs take no time. A line in the L2 is compressed again at once after a partial store.
//!   Metadata are free unless an option says otherwise.
mod ideal;
mod sm;

use crate::SM_CODEC_COUNTERS;
use ideal::IdealSm;
use selvedge_compressed_memory::codecs::{CodecChoice, L2_TAG_BITS};
use selvedge_compressed_memory::partition::CompressionReach;
use selvedge_compressed_memory::{
    CONFIGURATION, CodecLatencies, MD_KB, MD_KB_ALLOWED, dedicated, ideal, shared_lines, whole_bursts,
    whole_lines,
};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::mechanism::{
    Claim, Counter, DataNeeds, Mechanism, MechanismError, Overhead, Setup, Site, Values,
};
use selvedge_gpu::{mechanism_options, option_names};

mechanism_options! {
    /// Options of `hw-bdi` and `hw-bdi-mem`.
    pub struct DedicatedOptions {
        /// compressor latency, cycles (CABA, section 6)
        compress: u32 = 5, Values::range(1, 5).latency_of("bdi_compressor");
        /// decompressor latency, cycles (CABA, section 6)
        decompress: u32 = 1, Values::range(1, 5).latency_of("bdi_decompressor");
        /// metadata cache per partition, KB
        md_kb: u32 = MD_KB, MD_KB_ALLOWED;
    }
}

impl DedicatedOptions {
    fn latencies(&self) -> CodecLatencies {
        CodecLatencies { compress: self.compress, decompress: self.decompress }
    }
}

/// The mechanism `hw-bdi`.
#[derive(Debug)]
pub struct HwBdi;

impl Mechanism for HwBdi {
    const NAME: &'static str = "hw-bdi";
    const SUMMARY: &'static str = "compresses lines by BDI on the crossbar, in the L2 and in DRAM, in dedicated logic at each partition and SM";
    const SOURCE: &'static str = "CABA, section 7 (HW-BDI)";
    const BLOCKS: &'static [&'static str] = &["bdi_compressor", "bdi_decompressor", "md_cache"];
    const NEEDS: DataNeeds = DataNeeds::Values;
    const CONFIGURATION: &'static str = CONFIGURATION;
    const PUBLISHED: &'static str = "CABA: an 8 KB metadata cache at each memory controller";
    const CLAIMS: &'static [Claim] = &[Claim::MemoryLines];
    const COUNTERS: &'static [&'static [Counter]] =
        &[selvedge_compressed_memory::partition::COUNTERS, SM_CODEC_COUNTERS];
    type Options = DedicatedOptions;

    fn configure(setup: &Setup<DedicatedOptions>, config: &mut GpuConfig) -> Result<(), MechanismError> {
        whole_lines(setup, config)
    }

    fn attach(setup: &Setup<DedicatedOptions>, site: &mut Site<'_>) {
        let lines = shared_lines(site, CodecChoice::default());
        let (latencies, probes) = (setup.options.latencies(), site.probes);
        dedicated(setup.options.md_kb, latencies, site, CompressionReach::Crossbar, &lines);
        site.each_sm(|id| sm::SmCodecs::new(id, latencies, lines.clone(), probes));
    }

    fn overhead(_: &Setup<DedicatedOptions>) -> Overhead {
        Overhead { l2_tag_bits: L2_TAG_BITS, ..Overhead::default() }
    }
}

/// The mechanism `hw-bdi-mem`.
#[derive(Debug)]
pub struct HwBdiMem;

impl Mechanism for HwBdiMem {
    const NAME: &'static str = "hw-bdi-mem";
    const SUMMARY: &'static str =
        "compresses lines by BDI in DRAM only, in dedicated logic at each partition";
    const SOURCE: &'static str = "CABA, section 7 (HW-BDI-Mem)";
    const BLOCKS: &'static [&'static str] = HwBdi::BLOCKS;
    const NEEDS: DataNeeds = DataNeeds::Values;
    const CONFIGURATION: &'static str = CONFIGURATION;
    const PUBLISHED: &'static str = HwBdi::PUBLISHED;
    const CLAIMS: &'static [Claim] = &[Claim::MemoryLines];
    const COUNTERS: &'static [&'static [Counter]] = &[selvedge_compressed_memory::partition::COUNTERS];
    type Options = DedicatedOptions;

    fn configure(setup: &Setup<DedicatedOptions>, config: &mut GpuConfig) -> Result<(), MechanismError> {
        whole_bursts(setup, config)
    }

    fn attach(setup: &Setup<DedicatedOptions>, site: &mut Site<'_>) {
        let lines = shared_lines(site, CodecChoice::default());
        dedicated(setup.options.md_kb, setup.options.latencies(), site, CompressionReach::Dram, &lines);
    }
}

option_names! {
    /// Cost of the metadata that state the size of a line.
    pub enum MetadataCost {
        /// No cost.
        Free = "free",
        /// The metadata cache with its bursts.
        Cached = "cached",
    }
}

mechanism_options! {
    /// Options of `ideal-bdi`.
    pub struct IdealOptions {
        /// does a line's size cost metadata?
        metadata: MetadataCost = MetadataCost::Free, Values::names::<MetadataCost>();
        /// metadata cache per partition, KB
        md_kb: u32 = MD_KB, MD_KB_ALLOWED;
    }
}

/// The mechanism `ideal-bdi`.
#[derive(Debug)]
pub struct IdealBdi;

impl Mechanism for IdealBdi {
    const NAME: &'static str = "ideal-bdi";
    const SUMMARY: &'static str =
        "compresses lines by BDI on the crossbar, in the L2 and in DRAM, in no time and with no energy";
    const SOURCE: &'static str = "CABA, section 7 (Ideal-BDI)";
    const BLOCKS: &'static [&'static str] = &["md_cache"];
    const NEEDS: DataNeeds = DataNeeds::Values;
    const CONFIGURATION: &'static str = CONFIGURATION;
    const CLAIMS: &'static [Claim] = &[Claim::MemoryLines];
    const COUNTERS: &'static [&'static [Counter]] =
        &[selvedge_compressed_memory::partition::COUNTERS, SM_CODEC_COUNTERS];
    type Options = IdealOptions;

    fn configure(setup: &Setup<IdealOptions>, config: &mut GpuConfig) -> Result<(), MechanismError> {
        whole_lines(setup, config)
    }

    fn attach(setup: &Setup<IdealOptions>, site: &mut Site<'_>) {
        let lines = shared_lines(site, CodecChoice::default());
        site.each_sm(|_| IdealSm::new(lines.clone()));
        let md_kb = (setup.options.metadata == MetadataCost::Cached).then_some(setup.options.md_kb);
        ideal(md_kb, site, &lines);
    }
}
