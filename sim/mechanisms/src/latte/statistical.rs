//! SC's life cycle in one SM: values are counted, codes built, the old ones' lines given up, and the codecs loaded
//! (LATTE-CC, section IV.C.2).
//!
//! ```text
//!  lines that come --> [VFT] <--reads-- [code builder] --codes--> [compressor], [decompressor]
//!           while training          |                  |
//!                                   builds             switches: lines of the old codes leave, the codecs drain
//! ```
//!
//! The table must hold still while codes are built from it, so an EP that should count values while they are built does not.
//! Each connection between two blocks is a register.
use crate::codecs::{CodecStage, Coded, Compressing, Decompressing, Sc};
use selvedge_blocks::line::Line;
use selvedge_blocks::sc::code_builder::{CodeBuilderIn, CodeBuilderParams, ScCodeBuilder};
use selvedge_blocks::sc::compressor::CompressorParams;
use selvedge_blocks::sc::decompressor::DecompressorParams;
use selvedge_blocks::sc::huffman::{Code, CodeBook, Counted, Symbol};
use selvedge_blocks::sc::vft::{ScVft, VftIn, VftOut, VftParams};
use selvedge_blocks::sc::{CodeItem, MAX_CODE_BITS, WORDS, code_stream, words_of};
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::mechanism::{MechanismCounters, count};
use selvedge_gpu::stage::MechanismFault;
use selvedge_hw::Instance;
use selvedge_hw::wave::Trace;
use selvedge_state::State;
use std::collections::VecDeque;

/// Lines whose words wait to be counted; more are not counted.
const TRAINING_LINES: usize = 4;

/// Clocks of the table after its last word until its outputs show it.
const SETTLE_CLOCKS: u32 = 3;

/// A hit's or a fill's name while its line is in a codec.
pub type Tag = u64;

/// What the builder says in a clock.
#[derive(Clone, Copy, Debug, Default)]
struct Built {
    /// An entry of the table to read.
    read: Option<u16>,
    /// A code, taken in this clock.
    code: Option<CodeItem>,
    /// A code that waits to be taken.
    waits: bool,
}

/// Where codes come from.
#[derive(State)]
enum Builder {
    /// The hardware block, in the cycles that it takes.
    Hardware(Box<Instance<ScCodeBuilder>>),
    /// An entry read per clock, and codes from nowhere: what remains when building them takes no time.
    Instant(Instant),
}

/// Reads the table, then has the codes at once.
#[derive(Default, State)]
struct Instant {
    escape_weight: u32,
    /// Entries to be read, and answers that have not come.
    unread: std::ops::Range<u16>,
    awaited: u32,
    entries: Vec<Counted>,
    stream: VecDeque<CodeItem>,
}

impl Instant {
    fn clock(&mut self, start: Option<u16>, answer: Option<(u32, u16)>, ready: bool) -> Built {
        if let Some(escape) = start {
            let entries = VftParams::default().entries as u16;
            *self = Instant { escape_weight: escape.into(), unread: 0..entries, ..Instant::default() };
        }
        if let Some((value, count)) = answer {
            self.entries.push(Counted { index: self.entries.len() as u16, value, count });
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
        Built { read, code, waits }
    }
}

impl Builder {
    /// One clock: a start with the escape symbol's weight, the table's answer to the oldest read, room for a code.
    fn clock(
        &mut self,
        now: u64,
        start: Option<u16>,
        answer: Option<(u32, u16)>,
        ready: bool,
    ) -> Result<Built, MechanismFault> {
        let block = match self {
            Builder::Hardware(block) => block,
            Builder::Instant(instant) => return Ok(instant.clock(start, answer, ready)),
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
        Ok(Built {
            read: out.read_o.then_some(out.read_index_o),
            code: (out.code_valid_o && ready).then_some(code),
            waits: out.code_valid_o,
        })
    }
}

/// Where the life cycle stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
enum Phase {
    /// Lines that come are counted, or nothing happens.
    Idle,
    /// The last words go into the table, which then settles.
    Settling(u32),
    /// Codes are built; those in use stay so until the first new one is there.
    Building,
    /// Nothing new goes into the codecs until they are empty.
    Draining,
    /// The codecs take the codes.
    Loading,
}

/// Table, builder and codecs of one SM.
#[derive(State)]
pub struct Statistical {
    vft: Instance<ScVft>,
    builder: Builder,
    pub(super) compressor: CodecStage<Compressing<Sc>, Tag>,
    pub(super) decompressor: CodecStage<Decompressing<Sc>, Tag>,
    phase: Phase,
    is_training: bool,
    clears: bool,
    words: VecDeque<u32>,
    /// Registers between the builder and the table.
    read: Option<u16>,
    answer: Option<(u32, u16)>,
    lost: u16,
    starts: bool,
    /// The code that the codecs take next, and which of them still have to.
    code: Option<(CodeItem, [bool; 2])>,
    /// The codes that have been loaded so far, and those in use.
    loaded: Vec<Code>,
    book: Option<CodeBook>,
    /// Lines of the old codes are to leave.
    gives_up: bool,
    builds: u64,
    builds_skipped: u64,
    trainings_skipped: u64,
    build_cycles: u64,
    words_counted: u64,
    lines_not_counted: u64,
}

impl Statistical {
    /// Empty tables; `instant` codes take no time to be built.
    pub fn new(prefix: &str, instant: bool, probes: &Probes) -> Self {
        let builder = if instant {
            Builder::Instant(Instant::default())
        } else {
            let params = CodeBuilderParams::default();
            Builder::Hardware(Box::new(probes.instance(format!("{prefix}.code_builder"), &params)))
        };
        let compressor = format!("{prefix}.sc_compressor");
        let decompressor = format!("{prefix}.sc_decompressor");
        Statistical {
            vft: probes.instance(format!("{prefix}.vft"), &VftParams::default()),
            builder,
            compressor: CodecStage::new(compressor, &CompressorParams::default(), probes),
            decompressor: CodecStage::new(decompressor, &DecompressorParams::default(), probes),
            phase: Phase::Idle,
            is_training: false,
            clears: false,
            words: VecDeque::with_capacity(TRAINING_LINES * WORDS),
            read: None,
            answer: None,
            lost: 0,
            starts: false,
            code: None,
            loaded: Vec::new(),
            book: None,
            gives_up: false,
            builds: 0,
            builds_skipped: 0,
            trainings_skipped: 0,
            build_cycles: 0,
            words_counted: 0,
            lines_not_counted: 0,
        }
    }

    /// Returns whether there are codes, and a line may be put into the compressor.
    pub fn can_compress(&self) -> bool {
        self.book.is_some() && !matches!(self.phase, Phase::Draining | Phase::Loading)
    }

    /// The line that `form` stands for, by the definition of the codes in use.
    pub fn decode(&self, form: &Coded) -> Option<Vec<u32>> {
        if !form.compressed {
            return Some(words_of(&form.payload).to_vec());
        }
        self.book.as_ref()?.decode(&form.payload, WORDS).map(|(words, _)| words)
    }

    /// An EP begins in which values are counted.
    pub fn begin_training(&mut self) {
        if self.phase == Phase::Idle {
            self.is_training = true;
            self.clears = true;
        } else {
            self.trainings_skipped += 1;
        }
    }

    /// That EP is over: codes are to be built from what was counted.
    pub fn end_training(&mut self) {
        if self.is_training {
            self.is_training = false;
            self.phase = Phase::Settling(SETTLE_CLOCKS);
        } else {
            self.builds_skipped += 1;
        }
    }

    /// A line comes into the L1D.
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

    /// Returns whether it must be clocked.
    pub fn is_busy(&self) -> bool {
        !self.words.is_empty()
            || self.clears
            || self.phase != Phase::Idle
            || self.compressor.is_busy()
            || self.decompressor.is_busy()
    }

    /// Returns whether lines are in the codecs.
    pub fn holds_lines(&self) -> bool {
        self.compressor.is_busy() || self.decompressor.is_busy()
    }

    /// Once per switch of codes: the lines of the old ones must leave.
    pub fn take_give_up(&mut self) -> bool {
        std::mem::take(&mut self.gives_up)
    }

    /// One clock.
    ///
    /// # Errors
    /// A block's model and RTL differ, or a codec gave a wrong value.
    pub fn tick(&mut self, now: u64) -> Result<(), MechanismFault> {
        self.clock_table(now)?;
        self.clock_builder(now)?;
        self.clock_codecs(now)
    }

    fn clock_table(&mut self, now: u64) -> Result<(), MechanismFault> {
        if let Phase::Settling(clocks) = self.phase
            && self.words.is_empty()
        {
            self.starts = clocks == 0;
            self.phase = if self.starts { Phase::Building } else { Phase::Settling(clocks - 1) };
        }
        let is_needed = !self.words.is_empty() || self.clears || self.phase != Phase::Idle;
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
        self.lost = out.lost_o;
        Ok(())
    }

    fn clock_builder(&mut self, now: u64) -> Result<(), MechanismFault> {
        if !matches!(self.phase, Phase::Building | Phase::Draining | Phase::Loading) {
            return Ok(());
        }
        if self.phase == Phase::Draining && !self.holds_lines() {
            self.phase = Phase::Loading;
            self.loaded.clear();
        }
        let start = std::mem::take(&mut self.starts).then_some(self.lost);
        let answer = self.answer.take();
        let ready = self.phase == Phase::Loading && self.code.is_none();
        let built = self.builder.clock(now, start, answer, ready)?;
        self.build_cycles += 1;
        self.read = built.read;
        if self.phase == Phase::Building && built.waits {
            self.phase = Phase::Draining;
            self.book = None;
            self.gives_up = true;
        }
        if let Some(code) = built.code {
            self.loaded.push(Code {
                symbol: match code.escape {
                    true => Symbol::Escape,
                    false => Symbol::Value { index: code.index, value: code.value },
                },
                bits: code.code,
                length: code.length,
            });
            self.code = Some((code, [true; 2]));
        }
        Ok(())
    }

    fn clock_codecs(&mut self, now: u64) -> Result<(), MechanismFault> {
        let is_loading = self.phase == Phase::Loading;
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
                self.phase = Phase::Idle;
                self.builds += 1;
            }
        }
        Ok(())
    }

    /// Puts a line into the compressor; the caller has checked [`Statistical::can_compress`].
    pub fn compress(&mut self, tag: Tag, line: u64, values: &Line) {
        let book = self.book.as_ref();
        self.compressor.push(tag, line, *values, || Coded::of(values, book));
    }

    /// Adds its counters to the report.
    pub fn counters(&self, out: &mut MechanismCounters) {
        count(out, "sc_builds", self.builds);
        count(out, "sc_builds_skipped", self.builds_skipped);
        count(out, "sc_build_cycles", self.build_cycles);
        count(out, "sc_trainings_skipped", self.trainings_skipped);
        count(out, "sc_words_counted", self.words_counted);
        count(out, "sc_lines_not_counted", self.lines_not_counted);
    }

    /// What was recorded.
    pub fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.vft.trace());
        if let Builder::Hardware(block) = &self.builder {
            out.extend(block.trace());
        }
        out.extend(self.compressor.trace());
        out.extend(self.decompressor.trace());
    }
}
