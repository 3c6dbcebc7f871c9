//! Compressed memory: lines that are compressed in DRAM, in the L2 and on the crossbar (CABA, section 5). Mechanisms build on it.
//!
//! A line moves as one to four DRAM bursts of 32 bytes, or one or two of 64 bytes. The metadata cache holds the number of bursts.
//! Buffers that the host filled are compressed from the start (section 5.3.1). A codec gets the values that functional
//! memory has when a line enters the codec. Functional memory does not contain local memory, so lines of local memory are not
//! compressed.
//!
//! | module | contents |
//! |---|---|
//! | [`codecs`] | algorithms with their blocks, queues of a block, compressed lines |
//! | [`lines`] | the form of each line, and the compressed lines that packets carry |
//! | [`partition`] | the part of an L2 slice: codecs between L2 and DRAM, metadata, compressed replies |
//! | [`md_cache`] | the metadata cache |
//! | [`l1d`] | requirements of an L1D with compressed lines |
pub mod codecs;
pub mod l1d;
pub mod lines;
pub mod md_cache;
pub mod partition;
mod partition_codecs;
mod recompression;

use codecs::CodecChoice;
use lines::LineStore;
use md_cache::{MetadataCache, MetadataRegion};
use partition::{CompressedPartition, CompressionReach, Logic};
use partition_codecs::Codecs;
use selvedge_gpu::config::{GpuConfig, L2WritePolicy, WriteAllocate};
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::mechanism::{MechanismError, Setup, Shared, Site, Values};
use selvedge_gpu::partition::AddressMap;
use selvedge_hw_codecs::bdi::{BdiCompressorParams, BdiDecompressorParams};

/// Requirements of compressed memory on the configuration, for [`selvedge_gpu::mechanism::Mechanism::CONFIGURATION`].
pub const CONFIGURATION: &str = "lines of 128 bytes in L1D and L2, which fetch whole lines, an L2 that writes back, DRAM bursts of 32 or 64 bytes";

/// Valid bytes of a DRAM burst under compression. A line is one to four bursts of 32 bytes (CABA, section 5.3.2), or one or
/// two of 64 bytes, as in GPGPU-Sim's configuration of the GTX 480.
const BURST_BYTES: [u32; 2] = [32, 64];

/// Bytes of a line.
const LINE_BYTES: u32 = 128;

/// Min size of a metadata cache, KB.
const MIN_MD_KB: u32 = 4;

/// Default size of the metadata cache of a partition, KB (CABA, section 5.3.2).
pub const MD_KB: u32 = 8;

/// Values sizes of the metadata cache of a partition, KB.
pub const MD_KB_ALLOWED: Values = Values::powers_of_two(MIN_MD_KB, 16);

/// Latencies of the codecs.
#[derive(Clone, Copy, Debug)]
pub struct CodecLatencies {
    /// Cycles to compress a line.
    pub compress: u32,
    /// Cycles to decompress a line.
    pub decompress: u32,
}

impl CodecLatencies {
    /// Returns the parameters of a compressor and a decompressor with these latencies.
    pub fn params(self) -> (BdiCompressorParams, BdiDecompressorParams) {
        let (compress, decompress) = (self.compress as usize, self.decompress as usize);
        (
            BdiCompressorParams {
                line_bytes: LINE_BYTES as usize,
                pipeline_depth: compress,
                ..BdiCompressorParams::default()
            },
            BdiDecompressorParams { line_bytes: LINE_BYTES as usize, pipeline_depth: decompress },
        )
    }
}

/// Builds the metadata cache at slice `id` of the L2. The slices of a memory controller share its `md_kb` KB.
fn metadata_of(md_kb: u32, config: &GpuConfig, id: u32, probes: &Probes) -> MetadataCache {
    let slices = config.l2.slices;
    let kilobytes = (md_kb / slices).max(MIN_MD_KB);
    let region = MetadataRegion { burst_bytes: config.dram.burst_bytes, slices, slice: id % slices };
    MetadataCache::new(id, kilobytes, region, probes)
}

/// Checks that a line is 128 bytes everywhere and several DRAM bursts, as the codecs require. Caches with sectors become caches
/// of whole lines.
///
/// # Errors
/// If the configuration differs.
pub fn whole_bursts<O>(setup: &Setup<O>, config: &mut GpuConfig) -> Result<(), MechanismError> {
    let whole = "must be 128: the codecs take whole lines of that size";
    let texture = config.sm.texture;
    let texture_line = if texture.is_there() { texture.line_bytes } else { LINE_BYTES };
    let burst_bytes = config.dram.burst_bytes;
    if !BURST_BYTES.contains(&burst_bytes) {
        let allowed = "must be 32 or 64: a line of 128 bytes moves in several bursts";
        return Err(setup.unsuited("dram.burst_bytes", burst_bytes, allowed));
    }
    let expected = [
        ("l1d.line_bytes", config.l1d.line_bytes, LINE_BYTES, whole),
        ("l2.line_bytes", config.l2.line_bytes, LINE_BYTES, whole),
        ("sm.texture.line_bytes", texture_line, LINE_BYTES, whole),
    ];
    let wrong = expected.into_iter().find(|(_, value, expected, _)| value != expected);
    if let Some((key, value, _, allowed)) = wrong {
        return Err(setup.unsuited(key, value, allowed));
    }
    l1d::whole_l1d_lines(config);
    l1d::whole_l2_lines(config);
    check_writes(setup, config)
}

/// Checks the configuration as [`whole_bursts`], and makes loads that bypass the L1D request whole lines: a compressed line cannot
/// cross the crossbar in parts.
///
/// # Errors
/// The errors of [`whole_bursts`].
pub fn whole_lines<O>(setup: &Setup<O>, config: &mut GpuConfig) -> Result<(), MechanismError> {
    whole_bursts(setup, config)?;
    config.l1d.bypass_bytes = LINE_BYTES;
    Ok(())
}

/// Checks that the L2 writes whole lines back, and makes a write miss fetch its line. An L2 that forwards the store of a write
/// miss to DRAM, or keeps the written bytes alone, is changed to fetch only. DRAM cannot put a store into a compressed line.
/// The line must be decompressed, updated and written back (CABA, section 5.2.2).
fn check_writes<O>(setup: &Setup<O>, config: &mut GpuConfig) -> Result<(), MechanismError> {
    let fail = |key, value: &str, allowed| Err(setup.unsuited(key, value, allowed));
    match (config.l2.write_policy, config.l2.write_allocate) {
        (L2WritePolicy::WriteThrough, _) => {
            fail("l2.write_policy", "write-through", "must be write-back: DRAM gets whole compressed lines")
        }
        (_, WriteAllocate::None) => {
            fail("l2.write_allocate", "none", "must allocate a line: DRAM gets whole compressed lines")
        }
        (L2WritePolicy::WriteBack, _) => {
            config.l2.write_allocate = WriteAllocate::Fetch;
            Ok(())
        }
    }
}

/// The lines of a GPU, shared by its SMs and partitions.
pub type SharedLines = Shared<LineStore>;

/// Returns the lines of a GPU that are compressed by the algorithms of `choice`.
pub fn shared_lines(site: &Site<'_>, choice: CodecChoice) -> SharedLines {
    Shared::new(LineStore::new(choice, site.config.dram.burst_bytes))
}

/// Builds partitions with their own codecs.
pub fn dedicated(
    md_kb: u32,
    latencies: CodecLatencies,
    site: &mut Site<'_>,
    reach: CompressionReach,
    lines: &SharedLines,
) {
    let config = site.config;
    let map = AddressMap::new(&config.l2);
    let probes = site.probes;
    site.each_slice(|id| {
        let codecs = Codecs::new(id, lines.lock().choice(), latencies, probes);
        CompressedPartition::new(
            reach,
            Logic::Dedicated(Box::new(codecs)),
            Some(metadata_of(md_kb, config, id, probes)),
            map,
            lines.clone(),
        )
    });
}

/// The L2 of a mechanism whose SMs compress lines by assist warps.
#[derive(Clone, Copy, Debug)]
pub struct AssistedL2 {
    /// Tags for each way.
    pub tags: u32,
    /// `true` if the L2 stores lines uncompressed, which requires codecs in the partitions.
    pub keeps_raw: bool,
}

/// Builds partitions for SMs that compress lines by assist warps, and may send compressible lines uncompressed. With
/// `latencies`, partitions have codecs for partial writes and evicted lines; without, they have none.
pub fn assisted(
    md_kb: u32,
    site: &mut Site<'_>,
    latencies: Option<CodecLatencies>,
    l2: AssistedL2,
    lines: &SharedLines,
) {
    let config = site.config;
    let map = AddressMap::new(&config.l2);
    let probes = site.probes;
    site.each_slice(|id| {
        let logic = match latencies {
            Some(latencies) => {
                Logic::Dedicated(Box::new(Codecs::new(id, lines.lock().choice(), latencies, probes)))
            }
            None => Logic::None,
        };
        let metadata = Some(metadata_of(md_kb, config, id, probes));
        CompressedPartition::new(CompressionReach::Crossbar, logic, metadata, map, lines.clone())
            .with_raw_stores()
            .with_tags(l2.tags)
            .keeping_raw(l2.keeps_raw)
    });
}

/// Builds partitions whose codecs take no time. Without `md_kb`, metadata cost nothing.
pub fn ideal(md_kb: Option<u32>, site: &mut Site<'_>, lines: &SharedLines) {
    let config = site.config;
    let map = AddressMap::new(&config.l2);
    let probes = site.probes;
    site.each_slice(|id| {
        let metadata = md_kb.map(|md_kb| metadata_of(md_kb, config, id, probes));
        CompressedPartition::new(CompressionReach::Crossbar, Logic::Ideal, metadata, map, lines.clone())
    });
}
