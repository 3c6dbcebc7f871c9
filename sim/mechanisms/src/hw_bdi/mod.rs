//! Bandwidth compression with dedicated BDI logic (CABA, section 7).
//!
//! - `hw-bdi`: lines are compressed in the L2, on the crossbar and in DRAM, and uncompressed in the L1D only. Read
//!   replies pass a decompressor in the SM, full-line stores a compressor. A partial store that meets a compressed line
//!   in the L2 waits for the partition's decompressor; the line then passes the partition's compressor in the background
//!   and is compressed in the L2 again.
//! - `hw-bdi-mem`: lines are compressed in DRAM only. Fills pass a decompressor at the memory controller, evicted lines
//!   a compressor.
//!
//! - `ideal-bdi`: as `hw-bdi`, but codecs take no time, so that a line in the L2 is compressed again at once after a
//!   partial store, and metadata are free unless asked for.
//!
//! All move a line as one to four 32-byte bursts, or one or two of 64 bytes, and ask the metadata cache how many. Buffers that the host filled are
//! compressed from the start (section 5.3.1). The values are those of functional memory when a line enters a codec.
//! Local memory is not in it, so its lines are not compressed.
mod codecs;
mod ideal;
pub mod lines;
mod partition;
mod recompression;
mod sm;

use crate::codecs::{Choice, L2_TAG_BITS};
use crate::md_cache::{MetadataCache, Region};
use codecs::Codecs;
use ideal::IdealSm;
use lines::LineStore;
pub(crate) use lines::has_values;
use partition::{Logic, Partition, Reach};
use selvedge_blocks::bdi::{CompressorParams, DecompressorParams};
use selvedge_gpu::config::{GpuConfig, L2WritePolicy, WriteAllocate};
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::mechanism::{
    Claim, MechanismError, MechanismInfo, Needs, OptionInfo, Overhead, Part, Shared, Site,
};
use selvedge_gpu::partition::AddressMap;

/// Bytes of a DRAM burst under compression: a line is one to four of 32 bytes (CABA, section 5.3.2), or one or two of 64, those
/// of the GTX480 that GPGPU-Sim brings along.
const BURST_BYTES: [u32; 2] = [32, 64];

/// Bytes of a line.
const LINE_BYTES: u32 = 128;

/// The smallest metadata cache, KB.
const LEAST_MD_KB: u32 = 4;

/// Size of the metadata cache.
pub const MD_KB: OptionInfo = OptionInfo {
    power_of_two: true,
    ..OptionInfo::number("md_kb", 8, (LEAST_MD_KB, 16), "metadata cache per partition, KB")
};

const OPTIONS: [OptionInfo; 3] = [
    OptionInfo::number("compress", 5, (1, 5), "compressor latency, cycles (CABA, section 6)")
        .latency_of("bdi_compressor"),
    OptionInfo::number("decompress", 1, (1, 5), "decompressor latency, cycles (CABA, section 6)")
        .latency_of("bdi_decompressor"),
    MD_KB,
];

/// The registry's entry of `hw-bdi`.
pub const INFO: MechanismInfo = MechanismInfo {
    name: "hw-bdi",
    summary: "compresses lines by BDI on the crossbar, in the L2 and in DRAM, in dedicated logic at each partition and SM",
    published: "CABA: an 8 KB metadata cache at each memory controller",
    source: "CABA, section 7 (HW-BDI)",
    blocks: &["bdi_compressor", "bdi_decompressor", "md_cache"],
    options: &OPTIONS,
    needs: Needs::Values,
    machine_needs: "lines of 128 bytes, an L2 that writes back",
    claims: &[Claim::MemoryLines],
    machine: whole_lines,
    attach,
    overhead: |_| Overhead { l2_tag_bits: L2_TAG_BITS, ..Overhead::default() },
    ..MechanismInfo::NOTHING
};

/// The registry's entry of `hw-bdi-mem`.
pub const INFO_MEM: MechanismInfo = MechanismInfo {
    name: "hw-bdi-mem",
    summary: "compresses lines by BDI in DRAM only, in dedicated logic at each partition",
    published: "CABA: an 8 KB metadata cache at each memory controller",
    source: "CABA, section 7 (HW-BDI-Mem)",
    blocks: &["bdi_compressor", "bdi_decompressor", "md_cache"],
    options: &OPTIONS,
    needs: Needs::Values,
    machine_needs: "lines of 128 bytes, an L2 that writes back",
    claims: &[Claim::MemoryLines],
    machine: check,
    attach: attach_mem,
    ..MechanismInfo::NOTHING
};

/// The registry's entry of `ideal-bdi`.
pub const INFO_IDEAL: MechanismInfo = MechanismInfo {
    name: "ideal-bdi",
    summary: "compresses lines by BDI on the crossbar, in the L2 and in DRAM, in no time and with no energy",
    source: "CABA, section 7 (Ideal-BDI)",
    blocks: &["md_cache"],
    options: &[
        OptionInfo::choice("metadata", &["free", "cached"], "does a line's size cost metadata?"),
        MD_KB,
    ],
    needs: Needs::Values,
    machine_needs: "lines of 128 bytes, an L2 that writes back",
    claims: &[Claim::MemoryLines],
    machine: whole_lines,
    attach: attach_ideal,
    ..MechanismInfo::NOTHING
};

/// Latencies of the codecs.
#[derive(Clone, Copy, Debug)]
pub struct Latencies {
    /// Cycles to compress a line.
    pub compress: u32,
    /// Cycles to decompress one.
    pub decompress: u32,
}

impl Latencies {
    fn of(part: &Part) -> Self {
        Latencies { compress: part.options["compress"], decompress: part.options["decompress"] }
    }

    /// Parameters of compressor and decompressor with these latencies.
    pub(crate) fn params(self) -> (CompressorParams, DecompressorParams) {
        let (compress, decompress) = (self.compress as usize, self.decompress as usize);
        (
            CompressorParams {
                line_bytes: LINE_BYTES as usize,
                pipeline_depth: compress,
                ..CompressorParams::default()
            },
            DecompressorParams { line_bytes: LINE_BYTES as usize, pipeline_depth: decompress },
        )
    }
}

/// The metadata cache at slice `id` of the L2, a share of the one that a mechanism's options ask for at each memory controller.
fn metadata_of(part: &Part, config: &GpuConfig, id: u32, probes: &Probes) -> MetadataCache {
    let slices = config.l2.slices;
    let kilobytes = (part.options[MD_KB.name] / slices).max(LEAST_MD_KB);
    let region = Region { burst_bytes: config.dram.burst_bytes, slices, slice: id % slices };
    MetadataCache::new(id, kilobytes, region, probes)
}

/// A DRAM whose bursts are as long as a line would save nothing. The codecs take whole lines, of the same size everywhere.
fn check(part: &Part, config: &mut GpuConfig) -> Result<(), MechanismError> {
    let whole = "must be 128: the codecs take whole lines of that size";
    let texture = config.sm.texture;
    let texture_line = if texture.is_there() { texture.line_bytes } else { LINE_BYTES };
    let burst_bytes = config.dram.burst_bytes;
    if !BURST_BYTES.contains(&burst_bytes) {
        let allowed = "must be 32 or 64: a line of 128 bytes moves in several bursts";
        return Err(part.unsuited("dram.burst_bytes", burst_bytes, allowed));
    }
    let expected = [
        ("l1d.line_bytes", config.l1d.line_bytes, LINE_BYTES, whole),
        ("l1d.sector_bytes", config.l1d.sector_bytes, LINE_BYTES, whole),
        ("l2.line_bytes", config.l2.line_bytes, LINE_BYTES, whole),
        ("l2.sector_bytes", config.l2.sector_bytes, LINE_BYTES, whole),
        ("sm.texture.line_bytes", texture_line, LINE_BYTES, whole),
    ];
    let wrong = expected.into_iter().find(|(_, value, expected, _)| value != expected);
    let Some((key, value, _, allowed)) = wrong else { return check_writes(part, config) };
    Err(part.unsuited(key, value, allowed))
}

/// Compressed lines cross the crossbar whole: a load that bypasses the L1D has the line as any other.
///
/// # Errors
/// Those of [`check`].
pub fn whole_lines(part: &Part, config: &mut GpuConfig) -> Result<(), MechanismError> {
    check(part, config)?;
    config.l1d.bypass_bytes = LINE_BYTES;
    Ok(())
}

/// The forms of lines in L2 and DRAM are kept for an L2 that writes whole lines back. Where it sends the store of a write miss
/// on to DRAM and fetches the line, it fetches only: DRAM cannot put a store into a compressed line, which must be
/// decompressed first, updated, and written back (CABA, section 5.2.2).
fn check_writes(part: &Part, config: &mut GpuConfig) -> Result<(), MechanismError> {
    let fail = |key, value: &str, allowed| Err(part.unsuited(key, value, allowed));
    match (config.l2.write_policy, config.l2.write_allocate) {
        (L2WritePolicy::WriteThrough, _) => {
            fail("l2.write_policy", "write-through", "must be write-back: DRAM gets whole compressed lines")
        }
        (_, WriteAllocate::Mask | WriteAllocate::None) => fail(
            "l2.write_allocate",
            "mask or none",
            "must be fetch or forward-and-fetch: DRAM gets whole compressed lines",
        ),
        (L2WritePolicy::WriteBack, WriteAllocate::Fetch | WriteAllocate::ForwardAndFetch) => {
            config.l2.write_allocate = WriteAllocate::Fetch;
            Ok(())
        }
    }
}

/// Lines of all SMs and partitions.
pub type SharedLines = Shared<LineStore>;

/// Returns the lines of a GPU, compressed by the algorithms of `choice`.
pub fn shared_lines(site: &Site<'_>, choice: Choice) -> SharedLines {
    Shared::new(LineStore::new(choice, site.config.dram.burst_bytes))
}

/// Builds `hw-bdi`.
fn attach(part: &Part, site: &mut Site<'_>) {
    let lines = shared_lines(site, Choice::default());
    let latencies = Latencies::of(part);
    let probes = site.probes;
    dedicated(part, site, Reach::Crossbar, &lines);
    site.each_sm(|id| sm::SmCodecs::new(id, latencies, lines.clone(), probes));
}

/// Builds `hw-bdi-mem`.
fn attach_mem(part: &Part, site: &mut Site<'_>) {
    let lines = shared_lines(site, Choice::default());
    dedicated(part, site, Reach::Dram, &lines);
}

/// Partitions with codecs of their own.
fn dedicated(part: &Part, site: &mut Site<'_>, reach: Reach, lines: &SharedLines) {
    let config = site.config;
    let map = AddressMap::new(&config.l2);
    let probes = site.probes;
    site.each_partition(|id| {
        let codecs = Codecs::new(id, lines.lock().choice(), Latencies::of(part), probes);
        Partition::new(
            reach,
            Logic::Dedicated(Box::new(codecs)),
            Some(metadata_of(part, config, id, probes)),
            map,
            lines.clone(),
        )
    });
}

/// How an L2 keeps lines that SMs compress by themselves.
#[derive(Clone, Copy, Debug)]
pub struct AssistedL2 {
    /// Tags for each way.
    pub tags: u32,
    /// Uncompressed; needs codecs.
    pub keeps_raw: bool,
}

/// Partitions for SMs that compress by themselves, and do not compress every line that they could: with codecs of the
/// given latencies for lines that are written in part and lines that leave, or without.
pub fn assisted(
    part: &Part,
    site: &mut Site<'_>,
    latencies: Option<Latencies>,
    l2: AssistedL2,
    lines: &SharedLines,
) {
    let config = site.config;
    let map = AddressMap::new(&config.l2);
    let probes = site.probes;
    site.each_partition(|id| {
        let logic = match latencies {
            Some(latencies) => {
                Logic::Dedicated(Box::new(Codecs::new(id, lines.lock().choice(), latencies, probes)))
            }
            None => Logic::None,
        };
        let metadata = Some(metadata_of(part, config, id, probes));
        Partition::new(Reach::Crossbar, logic, metadata, map, lines.clone())
            .with_raw_stores()
            .with_tags(l2.tags)
            .keeping_raw(l2.keeps_raw)
    });
}

/// Builds `ideal-bdi`.
fn attach_ideal(part: &Part, site: &mut Site<'_>) {
    let lines = shared_lines(site, Choice::default());
    let config = site.config;
    let map = AddressMap::new(&config.l2);
    let is_cached = part.options["metadata"] == 1;
    let probes = site.probes;
    site.each_sm(|_| IdealSm::new(lines.clone()));
    site.each_partition(|id| {
        let metadata = is_cached.then(|| metadata_of(part, config, id, probes));
        Partition::new(Reach::Crossbar, Logic::Ideal, metadata, map, lines.clone())
    });
}
