//! Compression of the L1D with 4x tags and 32-byte sub-blocks (LATTE-CC): adaptive by its controller, or of one kind.
//!
//! A line that comes is served to the warps at once and goes to a compressor; until it leaves that, it is read from there and
//! takes no sub-blocks. A hit on a compressed line takes the hit latency of the L1D and then waits for the decompressor: the
//! queue block gives the latencies that the paper assumes, and the codec itself, through which the line passes, what it takes
//! beyond that. Stores evict what they hit, so that no compressed line ever changes.
mod controller;
mod hits;
mod kernel_opt;
mod sm;
mod statistical;
#[cfg(test)]
mod tests;

use crate::codecs::{L1D_TAG_BITS, LINE_BYTES};
use selvedge_blocks::latte_controller::Mode;
use selvedge_gpu::config::{GpuConfig, L1d, WritePolicy};
use selvedge_gpu::mechanism::{
    Claim, MechanismError, MechanismInfo, Needs, OptionInfo, Overhead, Part, Site, no_overhead, no_parts,
};
use selvedge_state::State;
use sm::CompressedL1d;
use std::sync::Arc;

/// Cycles of BDI's compressor (LATTE-CC, section IV.C.1).
const BDI_COMPRESS: u32 = 2;

/// Cycles of BDI's decompressor.
const BDI_DECOMPRESS: u32 = 2;

/// The controller's policies: its parameter `policy`.
const AMAT_WITH_TOLERANCE: u32 = 0;
const HIT_COUNT: u32 = 1;
const AMAT: u32 = 2;

/// Tags for each way's worth of data (section IV.A).
const TAGS_PER_WAY: u32 = 4;

const fn latency(name: &'static str, default: u32, help: &'static str) -> OptionInfo {
    OptionInfo::number(name, default, (0, 15), help)
}

const QUEUE: OptionInfo = OptionInfo {
    power_of_two: true,
    ..OptionInfo::number("queue", 8, (4, 16), "hits that wait for the decompressor")
};

const CODES: OptionInfo = OptionInfo::choice(
    "codes",
    &["hardware", "instant"],
    "building SC's codes takes the hardware's cycles, or none beyond reading and loading the tables",
);

const BDI_LATENCY: OptionInfo =
    latency("bdi", 2, "decompression latency of BDI, cycles (table I)").latency_of("bdi_decompressor");

const ADAPTIVE_OPTIONS: [OptionInfo; 6] = [
    OptionInfo::choice("high", &["sc", "bpc"], "codec of the high-capacity mode"),
    BDI_LATENCY,
    latency("sc", 14, "decompression latency of SC, cycles (table I)"),
    latency("bpc", 11, "decompression latency of BPC, cycles (table I)"),
    QUEUE,
    CODES,
];

const BDI_OPTIONS: [OptionInfo; 2] = [
    latency("latency", 2, "decompression latency, cycles (table I); 0: none at all")
        .latency_of("bdi_decompressor"),
    QUEUE,
];

const SC_OPTIONS: [OptionInfo; 3] =
    [latency("latency", 14, "decompression latency, cycles (table I); 0: none at all"), QUEUE, CODES];

const BPC_OPTIONS: [OptionInfo; 2] =
    [latency("latency", 11, "decompression latency, cycles (table I); 0: none at all"), QUEUE];

const KERNEL_OPTIONS: [OptionInfo; 4] =
    [BDI_LATENCY, latency("sc", 14, "decompression latency of SC, cycles (table I)"), QUEUE, CODES];

/// What the entries have in common.
const COMMON: MechanismInfo = MechanismInfo {
    name: "",
    summary: "",
    source: "",
    blocks: &[],
    options: &[],
    needs: Needs::Values,
    machine_needs: "lines of 128 bytes, 32 or 64 sets, a write-evict L1D, one or two schedulers",
    claims: &[Claim::L1dLines],
    machine,
    attach,
    overhead: |_| Overhead { l1d_tag_bits: L1D_TAG_BITS, ..Overhead::default() },
    ..MechanismInfo::NOTHING
};

const ADAPTIVE_BLOCKS: &[&str] = &[
    "latte_controller",
    "decompression_queue",
    "bdi_compressor",
    "bdi_decompressor",
    "sc_vft",
    "sc_code_builder",
    "sc_compressor",
    "sc_decompressor",
    "bpc_compressor",
    "bpc_decompressor",
];

/// The registry's entry of `latte-cc`.
pub const LATTE_CC: MechanismInfo = MechanismInfo {
    name: "latte-cc",
    summary: "chooses the L1D's compression mode (none, BDI or SC) every 256 loads, from sampled hits and misses and the tolerated latency",
    published: "LATTE-CC: 134 B for the controller, and SC's 15.5 KB, 6.45% of the L1s of 15 SMs",
    source: "LATTE-CC, section III",
    blocks: ADAPTIVE_BLOCKS,
    options: &ADAPTIVE_OPTIONS,
    ..COMMON
};

/// The registry's entry of `adaptive-hit-count`.
pub const ADAPTIVE_HIT_COUNT: MechanismInfo = MechanismInfo {
    name: "adaptive-hit-count",
    summary: "chooses as latte-cc does, but the mode with the most hits",
    source: "LATTE-CC, section V.D",
    blocks: ADAPTIVE_BLOCKS,
    options: &ADAPTIVE_OPTIONS,
    ..COMMON
};

/// The registry's entry of `adaptive-cmp`.
pub const ADAPTIVE_CMP: MechanismInfo = MechanismInfo {
    name: "adaptive-cmp",
    summary: "chooses as latte-cc does, but counts no latency as tolerated",
    source: "LATTE-CC, section V.D",
    blocks: ADAPTIVE_BLOCKS,
    options: &ADAPTIVE_OPTIONS,
    ..COMMON
};

/// The registry's entry of `static-bdi`.
pub const STATIC_BDI: MechanismInfo = MechanismInfo {
    name: "static-bdi",
    summary: "compresses every line of the L1D by BDI",
    source: "LATTE-CC, section V.A",
    blocks: &["decompression_queue", "bdi_compressor", "bdi_decompressor"],
    options: &BDI_OPTIONS,
    ..COMMON
};

/// The registry's entry of `static-sc`.
pub const STATIC_SC: MechanismInfo = MechanismInfo {
    name: "static-sc",
    summary: "compresses every line of the L1D by SC (Huffman codes of words)",
    published: "LATTE-CC: 15.5 KB for tables of SC, 6.45% of the L1s of 15 SMs",
    source: "LATTE-CC, section V.A",
    blocks: &[
        "latte_controller",
        "decompression_queue",
        "sc_vft",
        "sc_code_builder",
        "sc_compressor",
        "sc_decompressor",
    ],
    options: &SC_OPTIONS,
    ..COMMON
};

/// The registry's entry of `static-bpc`.
pub const STATIC_BPC: MechanismInfo = MechanismInfo {
    name: "static-bpc",
    summary: "compresses every line of the L1D by BPC (bit planes)",
    source: "LATTE-CC, section V.E",
    blocks: &["decompression_queue", "bpc_compressor", "bpc_decompressor"],
    options: &BPC_OPTIONS,
    ..COMMON
};

/// The registry's entry of `kernel-opt`.
pub const KERNEL_OPT: MechanismInfo = MechanismInfo {
    name: "kernel-opt",
    summary: "chooses no compression, BDI or SC of the L1D for each launch, whichever was fastest in trial runs (an oracle)",
    source: "LATTE-CC, section V.B",
    blocks: &[
        "latte_controller",
        "decompression_queue",
        "bdi_compressor",
        "bdi_decompressor",
        "sc_vft",
        "sc_code_builder",
        "sc_compressor",
        "sc_decompressor",
    ],
    options: &KERNEL_OPTIONS,
    claims: &[Claim::L1dLines, Claim::Trials],
    search: kernel_opt::search,
    ..COMMON
};

/// The registry's entry of `tags-only`.
pub const TAGS_ONLY: MechanismInfo = MechanismInfo {
    name: "tags-only",
    summary: "gives the L1D four tags per way as latte-cc has, and no codec",
    source: "LATTE-CC, section IV.A (the cache without compression)",
    needs: Needs::Nothing,
    machine_needs: "lines of 128 bytes, a write-evict L1D",
    machine: tags,
    attach: no_parts,
    overhead: no_overhead,
    ..COMMON
};

fn is_kernel_opt(part: &Part) -> bool {
    part.info.name == KERNEL_OPT.name
}

/// Where a line's mode comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
enum ModeSource {
    /// It is always the same.
    Fixed(Mode),
    /// It is that of the launch.
    Launch,
    /// The controller with this policy.
    Controller(u32),
}

/// The codec of the high-capacity mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
enum High {
    Sc,
    Bpc,
}

/// What the options say.
#[derive(Clone, Copy, Debug, State)]
struct Settings {
    source: ModeSource,
    high: High,
    bdi_latency: u32,
    high_latency: u32,
    queue: u32,
    instant_codes: bool,
}

impl Settings {
    fn of(part: &Part) -> Self {
        let option = |name: &str, default: u32| part.options.get(name).copied().unwrap_or(default);
        let (source, high) = match part.info.name {
            "static-bdi" => (ModeSource::Fixed(Mode::LowLatency), High::Sc),
            "static-sc" => (ModeSource::Fixed(Mode::HighCapacity), High::Sc),
            "kernel-opt" => (ModeSource::Launch, High::Sc),
            "static-bpc" => (ModeSource::Fixed(Mode::HighCapacity), High::Bpc),
            name => {
                let policy = match name {
                    "adaptive-hit-count" => HIT_COUNT,
                    "adaptive-cmp" => AMAT,
                    _ => AMAT_WITH_TOLERANCE,
                };
                let high = if option("high", 0) == 0 { High::Sc } else { High::Bpc };
                (ModeSource::Controller(policy), high)
            }
        };
        let high_name = if high == High::Sc { "sc" } else { "bpc" };
        Settings {
            source,
            high,
            bdi_latency: option("latency", option("bdi", 0)),
            high_latency: option("latency", option(high_name, 0)),
            queue: option("queue", QUEUE.default),
            instant_codes: option("codes", 0) != 0,
        }
    }

    /// Returns whether a line can get this mode.
    fn uses(&self, mode: Mode) -> bool {
        match self.source {
            ModeSource::Fixed(fixed) => fixed == mode,
            ModeSource::Launch | ModeSource::Controller(_) => true,
        }
    }

    /// The controller's policy; SC alone needs its EPs, whatever it decides.
    fn controller_policy(&self) -> Option<u32> {
        match self.source {
            ModeSource::Controller(policy) => Some(policy),
            ModeSource::Launch => Some(AMAT_WITH_TOLERANCE),
            ModeSource::Fixed(Mode::HighCapacity) if self.high == High::Sc => Some(AMAT_WITH_TOLERANCE),
            ModeSource::Fixed(_) => None,
        }
    }

    /// Cycles that the decompressor takes for a line of this mode.
    fn latency(&self, mode: Mode) -> u32 {
        match mode {
            Mode::None => 0,
            Mode::LowLatency => self.bdi_latency,
            Mode::HighCapacity => self.high_latency,
        }
    }
}

/// Gives an L1D without compression four tags per way, and refuses one whose lines are not whole or change.
fn tags(part: &Part, config: &mut GpuConfig) -> Result<(), MechanismError> {
    let l1d = &mut config.l1d;
    let whole = "must be 128: the codecs take whole lines of that size";
    if l1d.line_bytes != LINE_BYTES as u32 {
        return Err(part.unsuited("l1d.line_bytes", l1d.line_bytes, whole));
    }
    if l1d.sector_bytes != l1d.line_bytes {
        return Err(part.unsuited("l1d.sector_bytes", l1d.sector_bytes, whole));
    }
    unchanging_lines(part, l1d)?;
    if l1d.tags_per_way == 1 {
        l1d.tags_per_way = TAGS_PER_WAY;
    }
    Ok(())
}

/// A compressed line does not change. An L1D that keeps the stores to local memory, and evicts what others hit, evicts all.
///
/// # Errors
/// It keeps stores to global memory.
pub(crate) fn unchanging_lines(part: &Part, l1d: &mut L1d) -> Result<(), MechanismError> {
    match l1d.write_policy {
        WritePolicy::WriteEvict | WritePolicy::LocalWriteBack => {
            l1d.write_policy = WritePolicy::WriteEvict;
            Ok(())
        }
        WritePolicy::WriteThrough | WritePolicy::WriteBack => {
            let allowed = "must be write-evict or local-write-back: a compressed line does not change";
            Err(part.unsuited("l1d.write_policy", l1d.write_policy.name(), allowed))
        }
    }
}

/// Gives the L1D its tags, and refuses what the blocks are not made for.
fn machine(part: &Part, config: &mut GpuConfig) -> Result<(), MechanismError> {
    if is_kernel_opt(part) && part.choice.is_empty() {
        let allowed = "must be one, which runs with each mode first";
        return Err(part.unsuited("workloads", "several", allowed));
    }
    tags(part, config)?;
    if Settings::of(part).controller_policy().is_some() {
        if !matches!(config.l1d.sets, 32 | 64) {
            let allowed = "must be 32 or 64, in which the controller has its dedicated sets";
            return Err(part.unsuited("l1d.sets", config.l1d.sets, allowed));
        }
        if config.sm.schedulers > 2 {
            let allowed = "must be 1 or 2, whose schedules the controller measures";
            return Err(part.unsuited("sm.schedulers", config.sm.schedulers, allowed));
        }
    }
    Ok(())
}

fn attach(part: &Part, site: &mut Site<'_>) {
    let settings = Settings::of(part);
    let mode = |number: &u32| Mode::ALL.get(*number as usize).copied().unwrap_or(Mode::None);
    let launches: Arc<[Mode]> = part.choice.iter().map(mode).collect();
    let (config, probes) = (site.config, site.probes);
    site.each_sm(|sm| CompressedL1d::new(sm, settings, Arc::clone(&launches), config, probes));
}
