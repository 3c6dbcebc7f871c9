//! Golden model of the compressor, cycle by cycle: lookups, packing, and the loading of codes between lines.
use super::params::{BANKS, ScCompressorParams, bank_of};
use super::rtl::{CompressorIn, CompressorOut};
use crate::line::{LINE_WORDS, Line};
use crate::sc::{SET_BITS, SETS, WAYS, WORDS, set_of, tag_of, words_of};
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// Bits that encode a word, the first one lowest, and their number. Length 0 means that the word cannot be coded.
#[derive(Clone, Copy, Debug, Default, State)]
struct CodeBits {
    bits: u64,
    length: u8,
}

/// Entry of the table. Length 0 means that the entry is empty.
#[derive(Clone, Copy, Debug, Default, State)]
struct CodeEntry {
    tag: u32,
    code: CodeBits,
}

/// Table of the loaded codes.
#[derive(Clone, Debug, State)]
struct CodeTable {
    sets: Vec<[CodeEntry; WAYS]>,
    escape: CodeBits,
    /// `true` once the last code of a stream is loaded.
    complete: bool,
}

impl CodeTable {
    fn empty() -> Self {
        CodeTable { sets: vec![Default::default(); SETS], escape: CodeBits::default(), complete: false }
    }

    /// Clears a row, which is one set of each bank. Also removes the escape and marks the codes as incomplete.
    fn clear(&mut self, row: usize) {
        self.sets[BANKS * row..][..BANKS].fill(Default::default());
        (self.escape, self.complete) = (CodeBits::default(), false);
    }

    fn load(&mut self, inputs: &CompressorIn) {
        let reversed = inputs.load_code_i.reverse_bits();
        let code = CodeBits {
            bits: u64::from(reversed) >> (16 - inputs.load_length_i),
            length: inputs.load_length_i,
        };
        if inputs.load_escape_i {
            self.escape = code;
        } else {
            let (set, way) =
                (usize::from(inputs.load_index_i) / WAYS, usize::from(inputs.load_index_i) % WAYS);
            self.sets[set][way] = CodeEntry { tag: tag_of(inputs.load_value_i, SET_BITS), code };
        }
    }

    /// Returns the bits for a word: its code, or the code of the escape and the word itself.
    fn encode(&self, word: u32) -> CodeBits {
        let tag = tag_of(word, SET_BITS);
        let ways = &self.sets[set_of(word, SET_BITS) as usize];
        match ways.iter().rfind(|entry| entry.code.length > 0 && entry.tag == tag) {
            Some(entry) => entry.code,
            None if self.escape.length == 0 => CodeBits::default(),
            None => CodeBits {
                bits: self.escape.bits | u64::from(word) << self.escape.length,
                length: self.escape.length + 32,
            },
        }
    }
}

/// Appends a field to a payload of `at` bits. Bits that the payload cannot hold are lost.
fn append(payload: &mut Line, at: usize, field: CodeBits) {
    let (word, shift) = (at / 64, at % 64);
    if word < LINE_WORDS {
        payload[word] |= field.bits << shift;
    }
    if word + 1 < LINE_WORDS && shift + usize::from(field.length) > 64 {
        payload[word + 1] |= field.bits >> (64 - shift);
    }
}

/// Phase of the loading of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
enum CompressorModelPhase {
    Run,
    Drain,
    /// The next row to clear.
    Clear(usize),
    /// Codes are taken, but none was taken so far.
    Fresh,
    Load,
}

/// A group of words whose lookups have begun.
#[derive(Clone, Debug, State)]
struct LookupGroup {
    /// Index of the group's first word in the line.
    begin: usize,
    /// Indices of the words that are not looked up yet.
    pending: Vec<usize>,
}

/// Output of the banks in a cycle.
#[derive(Clone, Debug, State)]
struct BankRead {
    /// Index and bits of each word.
    fields: Vec<(usize, CodeBits)>,
    /// Index of the group's first word, if these words complete the group.
    completes: Option<usize>,
}

/// The golden model of the compressor.
#[derive(Clone, Debug, State)]
pub struct ScCompressorModel {
    words_per_cycle: usize,
    phase: CompressorModelPhase,
    table: CodeTable,
    line: Line,
    /// Pipeline stages, in the order in which a group passes them.
    looking: Option<LookupGroup>,
    read: Option<BankRead>,
    /// Index of the first word of the group to pack, and the bits of each word.
    packing: Option<usize>,
    fields: [CodeBits; WORDS],
    uncoded: bool,
    shown: Shown,
}

/// Content of the output registers.
#[derive(Clone, Copy, Debug, Default, State)]
struct Shown {
    valid: bool,
    compressed: bool,
    bits: usize,
    payload: Line,
}

impl ScCompressorModel {
    /// Returns the model in its reset state. The parameters must be valid.
    pub fn new(params: &ScCompressorParams) -> Self {
        ScCompressorModel {
            words_per_cycle: params.symbols_per_cycle as usize,
            phase: CompressorModelPhase::Run,
            table: CodeTable::empty(),
            line: Line::default(),
            looking: None,
            read: None,
            packing: None,
            fields: [CodeBits::default(); WORDS],
            uncoded: false,
            shown: Shown::default(),
        }
    }

    fn ready(&self) -> bool {
        self.phase == CompressorModelPhase::Run && self.looking.is_none() && self.read.is_none()
    }

    fn load_ready(&self, first: bool) -> bool {
        self.phase == CompressorModelPhase::Fresh || (self.phase == CompressorModelPhase::Load && !first)
    }

    fn clock_loading(&mut self, inputs: &CompressorIn) {
        let in_flight =
            self.looking.is_some() || self.read.is_some() || self.packing.is_some() || self.shown.valid;
        self.phase = match self.phase {
            CompressorModelPhase::Run if inputs.load_valid_i => CompressorModelPhase::Drain,
            CompressorModelPhase::Drain if !in_flight => CompressorModelPhase::Clear(0),
            CompressorModelPhase::Clear(row) => {
                self.table.clear(row);
                if row + 1 < SETS / BANKS {
                    CompressorModelPhase::Clear(row + 1)
                } else {
                    CompressorModelPhase::Fresh
                }
            }
            CompressorModelPhase::Fresh | CompressorModelPhase::Load
                if inputs.load_valid_i && !self.load_ready(inputs.load_first_i) =>
            {
                CompressorModelPhase::Clear(0)
            }
            CompressorModelPhase::Fresh | CompressorModelPhase::Load if inputs.load_valid_i => {
                self.table.load(inputs);
                self.table.complete = inputs.load_last_i;
                if inputs.load_last_i { CompressorModelPhase::Run } else { CompressorModelPhase::Load }
            }
            phase => phase,
        };
    }

    /// Packs the waiting group, if the payload register is free.
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
        for field in &self.fields[first_word..][..self.words_per_cycle] {
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

    /// Returns the group whose first word is at `begin`, or `None` after the last group.
    fn group(&self, begin: usize) -> Option<LookupGroup> {
        let pending = (begin..begin + self.words_per_cycle).collect();
        (begin < WORDS).then_some(LookupGroup { begin, pending })
    }

    /// Looks up words of the group: in each bank, the first word that maps to it, and all words that equal this word.
    fn look_up(&mut self) {
        // The group to pack may have to wait for the payload register, and the output of the banks cannot wait.
        if self.packing.is_some() && self.shown.valid {
            return;
        }
        let Some(mut group) = self.looking.take() else { return };
        let words = words_of(&self.line);
        let mut sought: [Option<u32>; BANKS] = [None; BANKS];
        let is_served = |place: &mut usize| {
            let word = words[*place];
            *sought[bank_of(word)].get_or_insert(word) == word
        };
        let served: Vec<usize> = group.pending.extract_if(.., is_served).collect();
        let fields = served.into_iter().map(|place| (place, self.table.encode(words[place]))).collect();
        let completes = group.pending.is_empty().then_some(group.begin);
        self.read = Some(BankRead { fields, completes });
        self.looking = match completes {
            Some(begin) => self.group(begin + self.words_per_cycle),
            None => Some(group),
        };
    }

    /// Stores the output of the banks.
    fn keep(&mut self) {
        let Some(read) = self.read.take() else { return };
        for (place, field) in read.fields {
            self.fields[place] = field;
        }
        self.packing = read.completes.or(self.packing);
    }
}

impl Clocked<CompressorIn, CompressorOut> for ScCompressorModel {
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
        self.keep();
        if outputs.ready_o && inputs.valid_i {
            self.line = inputs.line_i;
            self.looking = self.group(0);
        }
        self.look_up();
        outputs
    }

    /// Resets all but the sets of the table: a memory has no reset.
    fn reset(&mut self) {
        let params = ScCompressorParams { symbols_per_cycle: self.words_per_cycle as u32 };
        let sets = std::mem::take(&mut self.table.sets);
        *self = ScCompressorModel::new(&params);
        self.table.sets = sets;
    }
}
