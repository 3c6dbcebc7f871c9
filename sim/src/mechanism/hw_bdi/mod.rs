//! Bandwidth compression with dedicated BDI logic (CABA, section 7).
//!
//! - `hw-bdi`: lines are compressed in the L2, on the crossbar and in DRAM, and uncompressed in the L1D only. Read
//!   replies pass a decompressor in the SM, full-line stores a compressor. A partial store that meets a compressed line
//!   in the L2 waits for the partition's decompressor; the line then stays uncompressed in the L2 and passes the
//!   partition's compressor when it leaves for DRAM.
//! - `hw-bdi-mem`: lines are compressed in DRAM only. Fills pass a decompressor at the memory controller, evicted lines
//!   a compressor.
//!
//! Both move a line as one to four 32-byte bursts and ask the metadata cache how many. Buffers that the host filled are
//! compressed from the start (section 5.3.1). The values are those of functional memory when a line enters a codec.
//! Local memory is not in it, so its lines are not compressed.
mod lines;
mod partition;
mod sm;

use crate::config::{GpuConfig, L2WritePolicy, WriteAllocate};
use crate::gpu::Policies;
use crate::mechanism::probe::Probes;
use crate::mechanism::{Build, Claim, MechanismError, MechanismInfo, OptionInfo, Part};
use crate::partition::{AddressMap, PartitionPolicy};
use crate::sm::policy::SmPolicy;
use lines::LineStore;
pub(crate) use lines::has_values;
use partition::{Partition, Reach};
use std::cell::RefCell;
use std::rc::Rc;

/// Bytes of a DRAM burst under compression (CABA, section 5.3.2: a line is one to four of them).
const BURST_BYTES: u32 = 32;

/// Bytes of a line.
const LINE_BYTES: u32 = 128;

const OPTIONS: [OptionInfo; 4] = [
    OptionInfo::number("compress", 5, (1, 5), "compressor latency, cycles (CABA, section 6)"),
    OptionInfo::number("decompress", 1, (1, 5), "decompressor latency, cycles (CABA, section 6)"),
    OptionInfo {
        power_of_two: true,
        ..OptionInfo::number("md_kb", 8, (1, 1024), "metadata cache per partition, KB")
    },
    OptionInfo {
        power_of_two: true,
        ..OptionInfo::number("md_ways", 4, (1, 32), "ways of the metadata cache")
    },
];

/// The registry's entry of `hw-bdi`.
pub const INFO: MechanismInfo = MechanismInfo {
    name: "hw-bdi",
    summary: "BDI on the crossbar, in the L2 and in DRAM, by dedicated logic",
    source: "CABA, section 7 (HW-BDI)",
    blocks: &["bdi_compressor", "bdi_decompressor"],
    options: &OPTIONS,
    needs_values: true,
    claims: &[Claim::MemoryLines],
    machine: check,
    build,
};

/// The registry's entry of `hw-bdi-mem`.
pub const INFO_MEM: MechanismInfo = MechanismInfo {
    name: "hw-bdi-mem",
    summary: "BDI in DRAM only, by dedicated logic",
    source: "CABA, section 7 (HW-BDI-Mem)",
    blocks: &["bdi_compressor", "bdi_decompressor"],
    options: &OPTIONS,
    needs_values: true,
    claims: &[Claim::MemoryLines],
    machine: check,
    build: build_mem,
};

/// Latencies of the codecs and size of the metadata cache.
#[derive(Clone, Copy, Debug)]
struct Options {
    compress: u32,
    decompress: u32,
    md_kb: u32,
    md_ways: u32,
    line_bytes: u32,
}

impl Options {
    fn of(part: &Part, config: &GpuConfig) -> Self {
        Options {
            compress: part.options["compress"],
            decompress: part.options["decompress"],
            md_kb: part.options["md_kb"],
            md_ways: part.options["md_ways"],
            line_bytes: config.l2.line_bytes,
        }
    }
}

/// Compressed lines move in units of 32 bytes: a DRAM whose burst is longer would move more for them, not less. The codecs
/// take whole lines, of the same size everywhere.
fn check(part: &Part, config: &mut GpuConfig) -> Result<(), MechanismError> {
    let whole = "allowed is 128: the codecs take whole lines of that size";
    let texture = config.sm.texture;
    let texture_line = if texture.is_there() { texture.line_bytes } else { LINE_BYTES };
    let expected = [
        (
            "dram.burst_bytes",
            config.dram.burst_bytes,
            BURST_BYTES,
            "allowed is 32, the unit of compressed lines",
        ),
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

/// The forms of lines in L2 and DRAM are kept for an L2 that writes whole lines back.
fn check_writes(part: &Part, config: &GpuConfig) -> Result<(), MechanismError> {
    let fail = |key, value: &str, allowed| Err(part.unsuited(key, value, allowed));
    match (config.l2.write_policy, config.l2.write_allocate) {
        (L2WritePolicy::WriteThrough, _) => fail(
            "l2.write_policy",
            "write-through",
            "allowed is write-back: DRAM gets whole compressed lines",
        ),
        (_, WriteAllocate::Mask | WriteAllocate::None) => {
            fail("l2.write_allocate", "mask or none", "allowed is fetch: DRAM gets whole compressed lines")
        }
        (L2WritePolicy::WriteBack, WriteAllocate::Fetch) => Ok(()),
    }
}

/// Builds `hw-bdi`.
fn build(part: &Part, with: &Build<'_>) -> Policies {
    let Build { config, probes, .. } = *with;
    let options = Options::of(part, config);
    let store = Rc::new(RefCell::new(LineStore::default()));
    let sm = |id| Box::new(sm::SmCodecs::new(id, options, Rc::clone(&store), probes)) as Box<dyn SmPolicy>;
    Policies {
        sms: (0..config.sm.count).map(sm).collect(),
        partitions: partitions(options, config, Reach::Crossbar, &store, probes),
    }
}

/// Builds `hw-bdi-mem`.
fn build_mem(part: &Part, with: &Build<'_>) -> Policies {
    let Build { config, probes, .. } = *with;
    let options = Options::of(part, config);
    let store = Rc::new(RefCell::new(LineStore::default()));
    Policies { sms: Vec::new(), partitions: partitions(options, config, Reach::Dram, &store, probes) }
}

fn partitions(
    options: Options,
    config: &GpuConfig,
    reach: Reach,
    store: &Rc<RefCell<LineStore>>,
    probes: &Probes,
) -> Vec<Box<dyn PartitionPolicy>> {
    let map = AddressMap::new(&config.l2);
    let one = |id| Box::new(Partition::new(id, options, reach, map, Rc::clone(store), probes));
    (0..config.l2.partitions).map(|id| one(id) as Box<dyn PartitionPolicy>).collect()
}
