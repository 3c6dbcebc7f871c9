//! SC in one SM: it counts values, builds codes, evicts the lines in the old codes, and loads the codecs (LATTE-CC, section
//! IV.C.2).
//!
//! ```text
//!  lines in use --> [VFT] <--reads-- [code builder] --codes--> [compressor], [decompressor]
//!        while training    |                  |
//!             enough words: builds            switches: lines of the old codes leave, the codecs drain
//! ```
//!
//! The table counts the uses of a value. A line counts when it arrives, once for all loads that wait for it, and again at each
//! hit. All words of the line count, because the L1D's array and the codecs handle whole lines. If lines counted only when they
//! arrive, good codes would remove themselves, as they leave few misses to count. A period with too few words keeps the codes.
//!
//! The table must not change while codes are built from it, so an EP that would train during that time does not. Each connection
//! between two blocks is a register.
use selvedge_compressed_memory::codecs::{CodecStage, Coded, Compressing, Decompressing, Sc};
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::mechanism::{Counter, MechanismCounters, count};
use selvedge_gpu::stage::MechanismFault;
use selvedge_hw::Instance;
use selvedge_hw::wave::Trace;
use selvedge_hw_codecs::line::Line;
use selvedge_hw_codecs::sc::code_builder::{CodeBuilderIn, CodeBuilderParams, ScCodeBuilder};
use selvedge_hw_codecs::sc::compressor::ScCompressorParams;
use selvedge_hw_codecs::sc::decompressor::ScDecompressorParams;
use selvedge_hw_codecs::sc::huffman::{CodeBook, CountedValue, ScSymbol, SymbolCode};
use selvedge_hw_codecs::sc::vft::{ScVft, VftIn, VftOut, VftParams};
use selvedge_hw_codecs::sc::{CodeItem, MAX_CODE_BITS, WORDS, code_stream, words_of};
use selvedge_state::State;
use std::collections::VecDeque;

/// Counters of SC.
pub(crate) const COUNTERS: &[Counter] = &[
    Counter::new("sc_build_cycles", "cycles from the end of counting to the use of new codes"),
    Counter::new("sc_builds", "sets of codes that came into use"),
    Counter::new("sc_builds_skipped", "sets of codes not built because another was being built"),
    Counter::new(
        "sc_codes_kept",
        "sets of codes that stayed in use because too few words were counted for new ones",
    ),
    Counter::new("sc_lines_not_counted", "lines that the value table did not count because it was busy"),
    Counter::new("sc_trainings_skipped", "times that counting did not begin because codes were being built"),
    Counter::new("sc_words_counted", "words that the value tables counted"),
];

/// Max lines whose words wait to be counted. Further lines are not counted.
const TRAINING_LINES: usize = 4;

/// Clocks of the table from its last word until its outputs include that word.
const SETTLE_CLOCKS: u32 = 3;

/// The caller's tag of a hit or a fill while its line is in a codec.
pub type Tag = u64;

/// The outputs of the builder in a clock.
#[derive(Clone, Copy, Debug, Default)]
struct BuilderOutputs {
    /// Index of an entry of the table to read.
    read: Option<u16>,
    /// A code that was taken in this clock.
    code: Option<CodeItem>,
    /// `true` if a code waits to be taken.
    waits: bool,
}

/// The source of the codes.
#[derive(State)]
enum CodeSource {
    /// The hardware block, with its latency.
    Hardware(Box<Instance<ScCodeBuilder>>),
    /// Reads an entry of the table per clock, and then builds the codes in zero cycles.
    Instant(Instant),
}

/// The builder that takes no time after it has read the table.
#[derive(Default, State)]
struct Instant {
    escape_weight: u32,
    /// Entries to be read, and number of reads without an answer yet.
    unread: std::ops::Range<u16>,
    awaited: u32,
    entries: Vec<CountedValue>,
    stream: VecDeque<CodeItem>,
}

impl Instant {
    fn clock(&mut self, start: Option<u16>, answer: Option<(u32, u16)>, ready: bool) -> BuilderOutputs {
        if let Some(escape) = start {
            let entries = VftParams::default().entries as u16;
            *self = Instant { escape_weight: escape.into(), unread: 0..entries, ..Instant::default() };
        }
        if let Some((value, count)) = answer {
            self.entries.push(CountedValue { index: self.entries.len() as u16, value, count });
            self.awaited -= 1;
            if self.awaited == 0 && self.unread.is_empty() {
                let entries = std::mem::take(&mut self.entries);
                let book = CodeBook::build(entries, self.escape_weight, MAX_CODE_BITS as u32);
                self.stream = code_stream(&book).into();
            }
        }
        let read = self.unread.next();
        self.awaited += u32::from(read.is_some());
        let waits = !self.stream.is_empty();
        let code = if ready { self.stream.pop_front() } else { None };
        BuilderOutputs { read, code, waits }
    }
}

impl CodeSource {
    /// Clocks the builder once. `start` has the escape symbol's weight, `answer` answers the oldest read, `ready` takes a code.
    fn clock(
        &mut self,
        now: u64,
        start: Option<u16>,
        answer: Option<(u32, u16)>,
        ready: bool,
    ) -> Result<BuilderOutputs, MechanismFault> {
        let block = match self {
            CodeSource::Hardware(block) => block,
            CodeSource::Instant(instant) => return Ok(instant.clock(start, answer, ready)),
        };
        block.advance_to(now);
        let (read_value_i, read_count_i) = answer.unwrap_or_default();
        let out = block
            .step(&CodeBuilderIn {
                start_i: start.is_some(),
                escape_weight_i: start.unwrap_or(0),
                read_valid_i: answer.is_some(),
                read_value_i,
                read_count_i,
                code_ready_i: ready,
            })
            .map_err(|divergence| divergence as MechanismFault)?;
        let code = CodeItem {
            first: out.code_first_o,
            last: out.code_last_o,
            index: out.code_index_o,
            escape: out.code_escape_o,
            value: out.code_value_o,
            code: out.code_code_o,
            length: out.code_length_o,
        };
        Ok(BuilderOutputs {
            read: out.read_o.then_some(out.read_index_o),
            code: (out.code_valid_o && ready).then_some(code),
            waits: out.code_valid_o,
        })
    }
}

/// The state of training and code building.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
enum TrainingPhase {
    /// Training, or at rest.
    Idle,
    /// The last words are counted, and the table settles for the given number of clocks.
    Settling(u32),
    /// Codes are built. The old codes are used until the first new one is ready.
    Building,
    /// The codecs drain, and take no new lines.
    Draining,
    /// The new codes are loaded into the codecs.
    Loading,
}

/// Table, builder and codecs of one SM.
#[derive(State)]
pub struct Statistical {
    vft: Instance<ScVft>,
    builder: CodeSource,
    pub(super) compressor: CodecStage<Compressing<Sc>, Tag>,
    pub(super) decompressor: CodecStage<Decompressing<Sc>, Tag>,
    phase: TrainingPhase,
    is_training: bool,
    clears: bool,
    words: VecDeque<u32>,
    /// Registers between the builder and the table.
    read: Option<u16>,
    answer: Option<(u32, u16)>,
    lost: u16,
    /// `true` if the table has counted enough words for new codes.
    enough: bool,
    starts: bool,
    /// The code that is loaded next, and `true` for each of compressor and decompressor that has not taken it yet.
    code: Option<(CodeItem, [bool; 2])>,
    /// The codes that have been loaded so far, and the codes in use.
    loaded: Vec<SymbolCode>,
    book: Option<CodeBook>,
    /// `true` if the lines in the old codes must leave the L1D.
    gives_up: bool,
    builds: u64,
    builds_skipped: u64,
    codes_kept: u64,
    trainings_skipped: u64,
    build_cycles: u64,
    words_counted: u64,
    lines_not_counted: u64,
}

impl Statistical {
    /// Returns empty tables. With `instant`, codes are built in zero cycles.
    pub fn new(prefix: &str, instant: bool, probes: &Probes) -> Self {
        let builder = if instant {
            CodeSource::Instant(Instant::default())
        } else {
            let params = CodeBuilderParams::default();
            CodeSource::Hardware(Box::new(probes.instance(format!("{prefix}.code_builder"), &params)))
        };
        let compressor = format!("{prefix}.sc_compressor");
        let decompressor = format!("{prefix}.sc_decompressor");
        Statistical {
            vft: probes.instance(format!("{prefix}.vft"), &VftParams::default()),
            builder,
            compressor: CodecStage::new(compressor, &ScCompressorParams::default(), probes),
            decompressor: CodecStage::new(decompressor, &ScDecompressorParams::default(), probes),
            phase: TrainingPhase::Idle,
            is_training: false,
            clears: false,
            words: VecDeque::with_capacity(TRAINING_LINES * WORDS),
            read: None,
            answer: None,
            lost: 0,
            enough: false,
            starts: false,
            code: None,
            loaded: Vec::new(),
            book: None,
            gives_up: false,
            builds: 0,
            builds_skipped: 0,
            codes_kept: 0,
            trainings_skipped: 0,
            build_cycles: 0,
            words_counted: 0,
            lines_not_counted: 0,
        }
    }

    /// Returns whether codes are in use, so that the compressor takes lines.
    pub fn can_compress(&self) -> bool {
        self.book.is_some() && !matches!(self.phase, TrainingPhase::Draining | TrainingPhase::Loading)
    }

    /// Returns the words that `form` represents, by the definition of the codes in use.
    pub fn decode(&self, form: &Coded) -> Option<Vec<u32>> {
        if !form.compressed {
            return Some(words_of(&form.payload).to_vec());
        }
        self.book.as_ref()?.decode(&form.payload, WORDS).map(|(words, _)| words)
    }

    /// Begins an EP in which values are counted. It is skipped while codes are being built.
    pub fn begin_training(&mut self) {
        if self.phase == TrainingPhase::Idle {
            self.is_training = true;
            self.clears = true;
        } else {
            self.trainings_skipped += 1;
        }
    }

    /// Ends the EP in which values are counted. Codes are built from the counted words if there are enough.
    pub fn end_training(&mut self) {
        if self.is_training {
            self.is_training = false;
            self.phase = TrainingPhase::Settling(SETTLE_CLOCKS);
        } else {
            self.builds_skipped += 1;
        }
    }

    /// Counts the words of a line that arrives in the L1D or is hit.
    pub fn see(&mut self, values: &Line) {
        if !self.is_training {
            return;
        }
        if self.words.len() > (TRAINING_LINES - 1) * WORDS {
            self.lines_not_counted += 1;
            return;
        }
        self.words.extend(words_of(values));
    }

    /// Returns whether values are being counted.
    pub fn is_training(&self) -> bool {
        self.is_training
    }

    /// Returns whether the blocks must be clocked.
    pub fn is_busy(&self) -> bool {
        !self.words.is_empty()
            || self.clears
            || self.phase != TrainingPhase::Idle
            || self.compressor.is_busy()
            || self.decompressor.is_busy()
    }

    /// Returns whether any line is in the codecs.
    pub fn holds_lines(&self) -> bool {
        self.compressor.is_busy() || self.decompressor.is_busy()
    }

    /// Returns `true` once per replacement of the codes, when lines in the old codes must leave the L1D.
    pub fn take_give_up(&mut self) -> bool {
        std::mem::take(&mut self.gives_up)
    }

    /// Clocks the blocks once.
    ///
    /// # Errors
    /// If the engines of a block differ, or a codec gave a wrong value.
    pub fn tick(&mut self, now: u64) -> Result<(), MechanismFault> {
        self.clock_table(now)?;
        self.clock_builder(now)?;
        self.clock_codecs(now)
    }

    fn clock_table(&mut self, now: u64) -> Result<(), MechanismFault> {
        if let TrainingPhase::Settling(clocks) = self.phase
            && self.words.is_empty()
        {
            self.starts = clocks == 0 && self.enough;
            self.codes_kept += u64::from(clocks == 0 && !self.enough);
            self.phase = match clocks {
                0 if self.enough => TrainingPhase::Building,
                0 => TrainingPhase::Idle,
                clocks => TrainingPhase::Settling(clocks - 1),
            };
        }
        let is_needed = !self.words.is_empty() || self.clears || self.phase != TrainingPhase::Idle;
        if !is_needed {
            return Ok(());
        }
        self.vft.advance_to(now);
        let clear_i = std::mem::take(&mut self.clears);
        let read = self.read.take();
        let out: VftOut = self
            .vft
            .step(&VftIn {
                train_valid_i: !self.words.is_empty(),
                train_value_i: self.words.front().copied().unwrap_or(0),
                read_i: read.is_some(),
                read_index_i: read.unwrap_or(0),
                clear_i,
            })
            .map_err(|divergence| divergence as MechanismFault)?;
        if out.train_ready_o && self.words.pop_front().is_some() {
            self.words_counted += 1;
        }
        self.answer = out.read_valid_o.then_some((out.read_value_o, out.read_count_o));
        (self.lost, self.enough) = (out.lost_o, out.enough_o);
        Ok(())
    }

    fn clock_builder(&mut self, now: u64) -> Result<(), MechanismFault> {
        if !matches!(self.phase, TrainingPhase::Building | TrainingPhase::Draining | TrainingPhase::Loading) {
            return Ok(());
        }
        if self.phase == TrainingPhase::Draining && !self.holds_lines() {
            self.phase = TrainingPhase::Loading;
            self.loaded.clear();
        }
        let start = std::mem::take(&mut self.starts).then_some(self.lost);
        let answer = self.answer.take();
        let ready = self.phase == TrainingPhase::Loading && self.code.is_none();
        let built = self.builder.clock(now, start, answer, ready)?;
        self.build_cycles += 1;
        self.read = built.read;
        if self.phase == TrainingPhase::Building && built.waits {
            self.phase = TrainingPhase::Draining;
            self.book = None;
            self.gives_up = true;
        }
        if let Some(code) = built.code {
            self.loaded.push(SymbolCode {
                symbol: match code.escape {
                    true => ScSymbol::Escape,
                    false => ScSymbol::Value { index: code.index, value: code.value },
                },
                bits: code.code,
                length: code.length,
            });
            self.code = Some((code, [true; 2]));
        }
        Ok(())
    }

    fn clock_codecs(&mut self, now: u64) -> Result<(), MechanismFault> {
        let is_loading = self.phase == TrainingPhase::Loading;
        let (code, [to_compressor, to_decompressor]) = self.code.unwrap_or_default();
        if self.compressor.is_busy() || is_loading {
            let out = self.compressor.clock(now, |inputs| {
                inputs.load_valid_i = to_compressor;
                inputs.load_first_i = code.first;
                inputs.load_last_i = code.last;
                inputs.load_index_i = code.index;
                inputs.load_escape_i = code.escape;
                inputs.load_value_i = code.value;
                inputs.load_code_i = code.code;
                inputs.load_length_i = code.length;
            })?;
            if let Some((_, waits)) = &mut self.code {
                waits[0] &= !out.load_ready_o;
            }
        }
        if self.decompressor.is_busy() || is_loading {
            let out = self.decompressor.clock(now, |inputs| {
                inputs.load_valid_i = to_decompressor;
                inputs.load_first_i = code.first;
                inputs.load_last_i = code.last;
                inputs.load_escape_i = code.escape;
                inputs.load_value_i = code.value;
                inputs.load_code_i = code.code;
                inputs.load_length_i = code.length;
            })?;
            if let Some((_, waits)) = &mut self.code {
                waits[1] &= !out.load_ready_o;
            }
        }
        if let Some((code, [false, false])) = self.code {
            self.code = None;
            if code.last {
                self.book = Some(CodeBook::new(std::mem::take(&mut self.loaded)));
                self.phase = TrainingPhase::Idle;
                self.builds += 1;
            }
        }
        Ok(())
    }

    /// Puts a line into the compressor. The caller must have checked [`Statistical::can_compress`].
    pub fn compress(&mut self, tag: Tag, line: u64, values: &Line) {
        let book = self.book.as_ref();
        self.compressor.push(tag, line, *values, || Coded::of(values, book));
    }

    /// Adds its counters to the report.
    pub fn counters(&self, out: &mut MechanismCounters) {
        count(out, "sc_builds", self.builds);
        count(out, "sc_builds_skipped", self.builds_skipped);
        count(out, "sc_build_cycles", self.build_cycles);
        count(out, "sc_codes_kept", self.codes_kept);
        count(out, "sc_trainings_skipped", self.trainings_skipped);
        count(out, "sc_words_counted", self.words_counted);
        count(out, "sc_lines_not_counted", self.lines_not_counted);
    }

    /// Adds the recorded ports of the blocks that are probed.
    pub fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.vft.trace());
        if let CodeSource::Hardware(block) = &self.builder {
            out.extend(block.trace());
        }
        out.extend(self.compressor.trace());
        out.extend(self.decompressor.trace());
    }
}
