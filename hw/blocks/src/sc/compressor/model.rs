//! Golden model of the compressor, cycle by cycle: lookups, packing, and the loading of codes between lines.
use super::{CompressorIn, CompressorOut, CompressorParams};
use crate::line::{LINE_WORDS, Line};
use crate::sc::{SET_BITS, SETS, WAYS, WORDS, set_of, tag_of};
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// The bits for a word, the first one lowest, and how many they are; none: the word cannot be coded.
#[derive(Clone, Copy, Debug, Default, State)]
struct Field {
    bits: u64,
    length: u8,
}

/// An entry of the table; length 0 means none.
#[derive(Clone, Copy, Debug, Default, State)]
struct Entry {
    tag: u32,
    code: Field,
}

/// The codes that are loaded.
#[derive(Clone, Debug, State)]
struct Table {
    sets: Vec<[Entry; WAYS]>,
    escape: Field,
    /// All codes are there.
    complete: bool,
}

impl Table {
    fn empty() -> Self {
        Table { sets: vec![Default::default(); SETS], escape: Field::default(), complete: false }
    }

    /// Clears a set; the escape goes, and the codes are no longer complete.
    fn clear(&mut self, set: usize) {
        self.sets[set] = Default::default();
        (self.escape, self.complete) = (Field::default(), false);
    }

    fn load(&mut self, inputs: &CompressorIn) {
        let reversed = inputs.load_code_i.reverse_bits();
        let code =
            Field { bits: u64::from(reversed) >> (16 - inputs.load_length_i), length: inputs.load_length_i };
        if inputs.load_escape_i {
            self.escape = code;
        } else {
            let (set, way) =
                (usize::from(inputs.load_index_i) / WAYS, usize::from(inputs.load_index_i) % WAYS);
            self.sets[set][way] = Entry { tag: tag_of(inputs.load_value_i, SET_BITS), code };
        }
    }

    /// The bits for a word: its code, or the escape's and the word itself.
    fn encode(&self, word: u32) -> Field {
        let tag = tag_of(word, SET_BITS);
        let ways = &self.sets[set_of(word, SET_BITS) as usize];
        match ways.iter().rfind(|entry| entry.code.length > 0 && entry.tag == tag) {
            Some(entry) => entry.code,
            None if self.escape.length == 0 => Field::default(),
            None => Field {
                bits: self.escape.bits | u64::from(word) << self.escape.length,
                length: self.escape.length + 32,
            },
        }
    }
}

/// Puts a field behind the first `at` bits of a payload; what the payload cannot hold is lost.
fn append(payload: &mut Line, at: usize, field: Field) {
    let (word, shift) = (at / 64, at % 64);
    if word < LINE_WORDS {
        payload[word] |= field.bits << shift;
    }
    if word + 1 < LINE_WORDS && shift + usize::from(field.length) > 64 {
        payload[word + 1] |= field.bits >> (64 - shift);
    }
}

/// What the compressor does with its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
enum Phase {
    Run,
    Drain,
    /// The next set to clear.
    Clear(usize),
    /// Codes are taken; none was so far.
    Fresh,
    Load,
}

/// The golden model of the compressor.
#[derive(Clone, Debug, State)]
pub struct CompressorModel {
    words_per_cycle: usize,
    phase: Phase,
    table: Table,
    line: Line,
    /// The next word to look up; [`WORDS`] when all are.
    next_word: usize,
    /// The group that was looked up and is not packed yet, and the place of its first word.
    fields: [Field; WORDS / 2],
    packing: Option<usize>,
    uncoded: bool,
    shown: Shown,
}

/// What the output registers hold.
#[derive(Clone, Copy, Debug, Default, State)]
struct Shown {
    valid: bool,
    compressed: bool,
    bits: usize,
    payload: Line,
}

impl CompressorModel {
    /// The model in its reset state. The parameters must be valid.
    pub fn new(params: &CompressorParams) -> Self {
        CompressorModel {
            words_per_cycle: params.symbols_per_cycle as usize,
            phase: Phase::Run,
            table: Table::empty(),
            line: Line::default(),
            next_word: WORDS,
            fields: [Field::default(); WORDS / 2],
            packing: None,
            uncoded: false,
            shown: Shown::default(),
        }
    }

    fn ready(&self) -> bool {
        self.phase == Phase::Run && self.next_word == WORDS
    }

    fn load_ready(&self, first: bool) -> bool {
        self.phase == Phase::Fresh || (self.phase == Phase::Load && !first)
    }

    fn clock_loading(&mut self, inputs: &CompressorIn) {
        let in_flight = self.next_word < WORDS || self.packing.is_some() || self.shown.valid;
        self.phase = match self.phase {
            Phase::Run if inputs.load_valid_i => Phase::Drain,
            Phase::Drain if !in_flight => Phase::Clear(0),
            Phase::Clear(set) => {
                self.table.clear(set);
                if set + 1 < SETS { Phase::Clear(set + 1) } else { Phase::Fresh }
            }
            Phase::Fresh | Phase::Load if inputs.load_valid_i && !self.load_ready(inputs.load_first_i) => {
                Phase::Clear(0)
            }
            Phase::Fresh | Phase::Load if inputs.load_valid_i => {
                self.table.load(inputs);
                self.table.complete = inputs.load_last_i;
                if inputs.load_last_i { Phase::Run } else { Phase::Load }
            }
            phase => phase,
        };
    }

    /// Packs the group that waits, if its place is free.
    fn pack(&mut self, ready: bool) {
        let Some(first_word) = self.packing else { return };
        if self.shown.valid && !ready {
            return;
        }
        self.packing = None;
        if first_word == 0 {
            self.shown = Shown { compressed: self.shown.compressed, ..Shown::default() };
            self.uncoded = false;
        }
        for field in &self.fields[..self.words_per_cycle] {
            append(&mut self.shown.payload, self.shown.bits, *field);
            self.shown.bits += usize::from(field.length);
            self.uncoded |= field.length == 0;
        }
        if first_word + self.words_per_cycle == WORDS {
            self.shown.valid = true;
            self.shown.compressed =
                self.table.complete && !self.uncoded && self.shown.bits <= 64 * LINE_WORDS;
            if !self.shown.compressed {
                (self.shown.payload, self.shown.bits) = (self.line, 64 * LINE_WORDS);
            }
        }
    }

    /// Looks up the next group of words, if its place is free.
    fn look_up(&mut self) {
        if self.next_word == WORDS || self.packing.is_some() {
            return;
        }
        for place in 0..self.words_per_cycle {
            let word = self.next_word + place;
            self.fields[place] = self.table.encode((self.line[word / 2] >> (32 * (word % 2))) as u32);
        }
        self.packing = Some(self.next_word);
        self.next_word += self.words_per_cycle;
    }
}

impl Clocked<CompressorIn, CompressorOut> for CompressorModel {
    fn step(&mut self, inputs: &CompressorIn) -> CompressorOut {
        let outputs = CompressorOut {
            ready_o: self.ready(),
            valid_o: self.shown.valid,
            compressed_o: self.shown.compressed,
            bits_o: self.shown.bits as u16,
            payload_o: self.shown.payload,
            load_ready_o: self.load_ready(inputs.load_first_i),
        };
        self.clock_loading(inputs);
        let taken = self.shown.valid && inputs.ready_i;
        self.pack(inputs.ready_i);
        if taken {
            self.shown.valid = false;
        }
        self.look_up();
        if outputs.ready_o && inputs.valid_i {
            self.line = inputs.line_i;
            self.next_word = 0;
        }
        outputs
    }

    /// The sets of the table are a memory, which has no reset.
    fn reset(&mut self) {
        let params = CompressorParams { symbols_per_cycle: self.words_per_cycle as u32 };
        let sets = std::mem::take(&mut self.table.sets);
        *self = CompressorModel::new(&params);
        self.table.sets = sets;
    }
}
