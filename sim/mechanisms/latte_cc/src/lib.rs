//! Compression of the L1D with 4x tags and 32-byte sub-blocks (LATTE-CC), with an adaptive or a fixed mode.
//!
//! A line that arrives serves the waiting warps at once and goes to a compressor. Until it leaves the compressor, it is read
//! from there and takes no sub-blocks. A hit on a compressed line takes the hit latency of the L1D, and then waits for the
//! decompressor. The queue block adds the latencies that the paper assumes. If the codec takes longer for the line, the hit
//! waits for the codec. A store evicts the line that it hits, so no compressed line ever changes.
mod controller;
mod hits;
mod kernel_opt;
mod sm;
mod statistical;
#[cfg(test)]
mod tests;

use selvedge_compressed_memory::codecs::{L1D_TAG_BITS, LINE_BYTES};
use selvedge_compressed_memory::l1d::{unchanging_lines, whole_l1d_lines};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::mechanism::{
    Claim, Counter, DataNeeds, Mechanism, MechanismError, Overhead, Search, Setup, Site, Values,
};
use selvedge_gpu::{mechanism_options, option_names};
use selvedge_hw_latte_cc::latte_controller::Mode;
use selvedge_state::State;
use sm::CompressedL1d;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Cycles of BDI's compressor (LATTE-CC, section IV.C.1).
const BDI_COMPRESS: u32 = 2;

/// Cycles of BDI's decompressor.
const BDI_DECOMPRESS: u32 = 2;

/// Values of the controller's parameter `policy`.
const AMAT_WITH_TOLERANCE: u32 = 0;
const HIT_COUNT: u32 = 1;
const AMAT: u32 = 2;

/// Tags for each way (section IV.A).
const TAGS_PER_WAY: u32 = 4;

/// Values decompression latencies, cycles.
const LATENCIES: Values = Values::range(0, 15);

/// Default of the decompression latency of BDI (table I), cycles.
const BDI_LATENCY: u32 = 2;

/// Default of the decompression latency of SC (table I), cycles.
const SC_LATENCY: u32 = 14;

/// Default of the decompression latency of BPC (table I), cycles.
const BPC_LATENCY: u32 = 11;

/// Sets of an L1D that a controller can serve.
const CONTROLLER_SETS: RangeInclusive<u32> = 4..=256;

/// Max schedulers whose schedules a controller measures.
const MAX_SCHEDULERS: u32 = 8;

/// Default of the hits that wait for the decompressor.
const QUEUE: u32 = 8;

/// Values numbers of hits that wait for the decompressor.
const QUEUES: Values = Values::powers_of_two(4, 16);

option_names! {
    /// Cycles that building SC's codes takes.
    pub enum Codes {
        /// The hardware's cycles.
        Hardware = "hardware",
        /// None beyond reading and loading the tables.
        Instant = "instant",
    }
}

option_names! {
    /// The codec of the high-capacity mode.
    #[derive(State)]
    pub enum High {
        /// Statistical compression.
        Sc = "sc",
        /// Bit-plane compression.
        Bpc = "bpc",
    }
}

mechanism_options! {
    /// Options of the mechanisms with a controller.
    pub struct AdaptiveOptions {
        /// codec of the high-capacity mode
        high: High = High::Sc, Values::names::<High>();
        /// decompression latency of BDI, cycles (table I)
        bdi: u32 = BDI_LATENCY, LATENCIES.latency_of("bdi_decompressor");
        /// decompression latency of SC, cycles (table I)
        sc: u32 = SC_LATENCY, LATENCIES;
        /// decompression latency of BPC, cycles (table I)
        bpc: u32 = BPC_LATENCY, LATENCIES;
        /// hits that wait for the decompressor
        queue: u32 = QUEUE, QUEUES;
        /// building SC's codes takes the hardware's cycles, or none beyond reading and loading the tables
        codes: Codes = Codes::Hardware, Values::names::<Codes>();
    }
}

mechanism_options! {
    /// Options of `static-bdi`.
    pub struct BdiOptions {
        /// decompression latency, cycles (table I); 0: none at all
        latency: u32 = BDI_LATENCY, LATENCIES.latency_of("bdi_decompressor");
        /// hits that wait for the decompressor
        queue: u32 = QUEUE, QUEUES;
    }
}

mechanism_options! {
    /// Options of `static-sc`.
    pub struct ScOptions {
        /// decompression latency, cycles (table I); 0: none at all
        latency: u32 = SC_LATENCY, LATENCIES;
        /// hits that wait for the decompressor
        queue: u32 = QUEUE, QUEUES;
        /// building SC's codes takes the hardware's cycles, or none beyond reading and loading the tables
        codes: Codes = Codes::Hardware, Values::names::<Codes>();
    }
}

mechanism_options! {
    /// Options of `static-bpc`.
    pub struct BpcOptions {
        /// decompression latency, cycles (table I); 0: none at all
        latency: u32 = BPC_LATENCY, LATENCIES;
        /// hits that wait for the decompressor
        queue: u32 = QUEUE, QUEUES;
    }
}

mechanism_options! {
    /// Options of `kernel-opt`.
    pub struct KernelOptOptions {
        /// decompression latency of BDI, cycles (table I)
        bdi: u32 = BDI_LATENCY, LATENCIES.latency_of("bdi_decompressor");
        /// decompression latency of SC, cycles (table I)
        sc: u32 = SC_LATENCY, LATENCIES;
        /// hits that wait for the decompressor
        queue: u32 = QUEUE, QUEUES;
        /// building SC's codes takes the hardware's cycles, or none beyond reading and loading the tables
        codes: Codes = Codes::Hardware, Values::names::<Codes>();
    }
}

impl AdaptiveOptions {
    fn settings(&self, policy: u32) -> Settings {
        Settings {
            source: ModeSource::Controller(policy),
            high: self.high,
            bdi_latency: self.bdi,
            high_latency: if self.high == High::Sc { self.sc } else { self.bpc },
            queue: self.queue,
            instant_codes: self.codes == Codes::Instant,
        }
    }
}

impl BdiOptions {
    fn settings(&self) -> Settings {
        let BdiOptions { latency, queue } = *self;
        Settings::fixed(Mode::LowLatency, High::Sc, latency, queue, Codes::Hardware)
    }
}

impl ScOptions {
    fn settings(&self) -> Settings {
        let ScOptions { latency, queue, codes } = *self;
        Settings::fixed(Mode::HighCapacity, High::Sc, latency, queue, codes)
    }
}

impl BpcOptions {
    fn settings(&self) -> Settings {
        let BpcOptions { latency, queue } = *self;
        Settings::fixed(Mode::HighCapacity, High::Bpc, latency, queue, Codes::Hardware)
    }
}

impl KernelOptOptions {
    fn settings(&self) -> Settings {
        Settings {
            source: ModeSource::Launch,
            high: High::Sc,
            bdi_latency: self.bdi,
            high_latency: self.sc,
            queue: self.queue,
            instant_codes: self.codes == Codes::Instant,
        }
    }
}

/// Requirements of the mechanisms with codecs on the configuration.
const CONFIGURATION: &str =
    "an L1D of 4 to 256 sets with lines of 128 bytes, which fetches whole lines and evicts what is written";

/// Blocks of the mechanisms with a controller.
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

/// Declares a mechanism whose settings are `$settings`, a function of its options.
macro_rules! compressed_l1d {
    ($mechanism:ident, $name:literal, $summary:literal, $source:literal, $published:literal, $blocks:expr, $counters:expr, $options:ident, $settings:expr) => {
        #[doc = concat!("The mechanism `", $name, "`.")]
        #[derive(Debug)]
        pub struct $mechanism;

        impl Mechanism for $mechanism {
            const NAME: &'static str = $name;
            const SUMMARY: &'static str = $summary;
            const SOURCE: &'static str = $source;
            const BLOCKS: &'static [&'static str] = $blocks;
            const NEEDS: DataNeeds = DataNeeds::Values;
            const CONFIGURATION: &'static str = CONFIGURATION;
            const PUBLISHED: &'static str = $published;
            const CLAIMS: &'static [Claim] = &[Claim::L1dLines];
            const COUNTERS: &'static [&'static [Counter]] = $counters;
            type Options = $options;

            fn configure(setup: &Setup<$options>, config: &mut GpuConfig) -> Result<(), MechanismError> {
                let settings: fn(&$options) -> Settings = $settings;
                configure(setup, &settings(&setup.options), config)
            }

            fn attach(setup: &Setup<$options>, site: &mut Site<'_>) {
                let settings: fn(&$options) -> Settings = $settings;
                attach(settings(&setup.options), &setup.choice, site);
            }

            fn overhead(_: &Setup<$options>) -> Overhead {
                OVERHEAD
            }
        }
    };
}

/// Storage that the mechanisms with codecs add to the tags of the L1D.
const OVERHEAD: Overhead = Overhead { l1d_tag_bits: L1D_TAG_BITS, l2_tag_bits: 0, l2_tags_per_way: 0 };

/// Counters of an L1D that compresses by one codec.
const CODEC_COUNTERS: &[&[Counter]] = &[sm::COUNTERS, hits::COUNTERS];

/// Counters of an L1D that may compress by SC, whose periods the controller counts.
const SC_COUNTERS: &[&[Counter]] =
    &[sm::COUNTERS, hits::COUNTERS, statistical::COUNTERS, controller::COUNTERS];

compressed_l1d!(
    LatteCc,
    "latte-cc",
    "chooses the L1D's compression mode (none, BDI or SC) every 256 loads, from sampled hits and misses and the tolerated latency",
    "LATTE-CC, section III",
    "LATTE-CC: 134 B for the controller, and SC's 15.5 KB, 6.45% of the L1s of 15 SMs",
    ADAPTIVE_BLOCKS,
    SC_COUNTERS,
    AdaptiveOptions,
    |options| options.settings(AMAT_WITH_TOLERANCE)
);

compressed_l1d!(
    AdaptiveHitCount,
    "adaptive-hit-count",
    "chooses as latte-cc does, but the mode with the most hits",
    "LATTE-CC, section V.D",
    "",
    ADAPTIVE_BLOCKS,
    SC_COUNTERS,
    AdaptiveOptions,
    |options| options.settings(HIT_COUNT)
);

compressed_l1d!(
    AdaptiveCmp,
    "adaptive-cmp",
    "chooses as latte-cc does, but counts no latency as tolerated",
    "LATTE-CC, section V.D",
    "",
    ADAPTIVE_BLOCKS,
    SC_COUNTERS,
    AdaptiveOptions,
    |options| options.settings(AMAT)
);

compressed_l1d!(
    StaticBdi,
    "static-bdi",
    "compresses every line of the L1D by BDI",
    "LATTE-CC, section V.A",
    "",
    &["decompression_queue", "bdi_compressor", "bdi_decompressor"],
    CODEC_COUNTERS,
    BdiOptions,
    BdiOptions::settings
);

compressed_l1d!(
    StaticSc,
    "static-sc",
    "compresses every line of the L1D by SC (Huffman codes of words)",
    "LATTE-CC, section V.A",
    "LATTE-CC: 15.5 KB for tables of SC, 6.45% of the L1s of 15 SMs",
    &[
        "latte_controller",
        "decompression_queue",
        "sc_vft",
        "sc_code_builder",
        "sc_compressor",
        "sc_decompressor",
    ],
    SC_COUNTERS,
    ScOptions,
    ScOptions::settings
);

compressed_l1d!(
    StaticBpc,
    "static-bpc",
    "compresses every line of the L1D by BPC (bit planes)",
    "LATTE-CC, section V.E",
    "",
    &["decompression_queue", "bpc_compressor", "bpc_decompressor"],
    CODEC_COUNTERS,
    BpcOptions,
    BpcOptions::settings
);

/// The mechanism `kernel-opt`.
#[derive(Debug)]
pub struct KernelOpt;

impl Mechanism for KernelOpt {
    const NAME: &'static str = "kernel-opt";
    const SUMMARY: &'static str = "chooses no compression, BDI or SC of the L1D for each launch, whichever was fastest in trial runs (an oracle)";
    const SOURCE: &'static str = "LATTE-CC, section V.B";
    const BLOCKS: &'static [&'static str] = &[
        "latte_controller",
        "decompression_queue",
        "bdi_compressor",
        "bdi_decompressor",
        "sc_vft",
        "sc_code_builder",
        "sc_compressor",
        "sc_decompressor",
    ];
    const NEEDS: DataNeeds = DataNeeds::Values;
    const CONFIGURATION: &'static str = CONFIGURATION;
    const CLAIMS: &'static [Claim] = &[Claim::L1dLines, Claim::Trials];
    const COUNTERS: &'static [&'static [Counter]] =
        &[sm::COUNTERS, hits::COUNTERS, statistical::COUNTERS, controller::COUNTERS, kernel_opt::COUNTERS];
    type Options = KernelOptOptions;

    fn configure(setup: &Setup<KernelOptOptions>, config: &mut GpuConfig) -> Result<(), MechanismError> {
        if setup.choice.is_empty() {
            let allowed = "must be one, which runs with each mode first";
            return Err(setup.unsuited("workloads", "several", allowed));
        }
        configure(setup, &setup.options.settings(), config)
    }

    fn attach(setup: &Setup<KernelOptOptions>, site: &mut Site<'_>) {
        attach(setup.options.settings(), &setup.choice, site);
    }

    fn overhead(_: &Setup<KernelOptOptions>) -> Overhead {
        OVERHEAD
    }

    fn search(setup: &Setup<KernelOptOptions>, _: &GpuConfig) -> Option<Box<dyn Search>> {
        kernel_opt::search(&setup.choice)
    }
}

/// The source of a line's mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
enum ModeSource {
    /// The mode is always the same.
    Fixed(Mode),
    /// Each launch has a mode.
    Launch,
    /// The controller with this policy chooses the mode.
    Controller(u32),
}

/// The settings that the options give.
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
    /// Returns the settings of a mechanism whose lines all have `mode`.
    fn fixed(mode: Mode, high: High, latency: u32, queue: u32, codes: Codes) -> Self {
        Settings {
            source: ModeSource::Fixed(mode),
            high,
            bdi_latency: latency,
            high_latency: latency,
            queue,
            instant_codes: codes == Codes::Instant,
        }
    }

    /// Returns whether a line can have this mode.
    fn uses(&self, mode: Mode) -> bool {
        match self.source {
            ModeSource::Fixed(fixed) => fixed == mode,
            ModeSource::Launch | ModeSource::Controller(_) => true,
        }
    }

    /// Returns the controller's policy, if the SM has a controller. With SC, an SM needs the controller's EPs even if its
    /// decisions have no effect.
    fn controller_policy(&self) -> Option<u32> {
        match self.source {
            ModeSource::Controller(policy) => Some(policy),
            ModeSource::Launch => Some(AMAT_WITH_TOLERANCE),
            ModeSource::Fixed(Mode::HighCapacity) if self.high == High::Sc => Some(AMAT_WITH_TOLERANCE),
            ModeSource::Fixed(_) => None,
        }
    }

    /// Returns the cycles that the decompressor takes for a line of this mode.
    fn latency(&self, mode: Mode) -> u32 {
        match mode {
            Mode::None => 0,
            Mode::LowLatency => self.bdi_latency,
            Mode::HighCapacity => self.high_latency,
        }
    }
}

/// Gives the L1D whole lines and four tags per way, and checks that the codecs and the controller support the configuration.
fn configure<O>(setup: &Setup<O>, settings: &Settings, config: &mut GpuConfig) -> Result<(), MechanismError> {
    let whole = "must be 128: the codecs take whole lines of that size";
    if config.l1d.line_bytes != LINE_BYTES as u32 {
        return Err(setup.unsuited("l1d.line_bytes", config.l1d.line_bytes, whole));
    }
    whole_l1d_lines(config);
    let l1d = &mut config.l1d;
    unchanging_lines(setup, l1d)?;
    if l1d.tags_per_way == 1 {
        l1d.tags_per_way = TAGS_PER_WAY;
    }
    if settings.controller_policy().is_some() {
        if !CONTROLLER_SETS.contains(&config.l1d.sets) {
            let allowed = "must be 4 to 256: each of three modes needs a dedicated set";
            return Err(setup.unsuited("l1d.sets", config.l1d.sets, allowed));
        }
        if config.sm.schedulers > MAX_SCHEDULERS {
            let allowed = "must be 1 to 8, whose schedules the controller measures";
            return Err(setup.unsuited("sm.schedulers", config.sm.schedulers, allowed));
        }
    }
    Ok(())
}

/// Numbers of an L1D's sets at a controller, which has at least 32.
#[derive(Clone, Copy, Debug, State)]
struct ControllerSets(u32);

impl ControllerSets {
    /// Returns the sets of the controller.
    fn count(self) -> u32 {
        self.0.max(32)
    }

    /// Returns the number of a set at the controller. Of 4 and of 8 sets, the controller dedicates one to each mode, of 16 sets
    /// two, and of more sets four.
    fn number(self, set: usize) -> usize {
        match self.0 {
            ..=8 => 3 * set % 8,
            16 => 2 * set,
            _ => set,
        }
    }
}

/// Builds the compressed L1D of every SM. `launches` has the number of the mode of each launch, if launches have modes.
fn attach(settings: Settings, launches: &[u32], site: &mut Site<'_>) {
    let mode = |number: &u32| Mode::ALL.get(*number as usize).copied().unwrap_or(Mode::None);
    let launches: Arc<[Mode]> = launches.iter().map(mode).collect();
    let (config, probes) = (site.config, site.probes);
    site.each_sm(|sm| CompressedL1d::new(sm, settings, Arc::clone(&launches), config, probes));
}
