//! Golden model of the decompressor, cycle by cycle: decoding, reads of values, and loading of codes between payloads.
use super::params::{BANKS, BLOCK_BITS, ScDecompressorParams};
use super::rtl::{DecompressorIn, DecompressorOut};
use crate::line::{LINE_WORDS, Line};
use crate::sc::line::line_of;
use crate::sc::{ENTRIES, LINE_BITS, MAX_CODE_BITS, WORD_BITS, WORDS, words_of};
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// Modulus of ranks. It is larger than the number of entries and the escape.
const RANKS: u16 = 2 * ENTRIES as u16;

/// Maximum code length, and number of lengths.
const LENGTHS: usize = MAX_CODE_BITS;

/// The escape and its code.
#[derive(Clone, Copy, Debug, State)]
struct Escape {
    code: u16,
    length: usize,
    /// Rank of the escape, as an address of the values.
    place: usize,
}

/// The loaded codes. Decoding needs the length of a code and its rank, the position in the canonical order.
#[derive(Clone, Debug, State)]
struct LoadedCodes {
    /// Per length, from 1: the number after the codes of this and all shorter lengths, left-aligned in 16 bits.
    ends: [u32; LENGTHS],
    /// Per length, from 1: the number that is added to a code to get its rank.
    bases: [u16; LENGTHS],
    escape: Option<Escape>,
    /// Rank of the next code.
    rank: u16,
}

/// A code that was found in a payload.
#[derive(Clone, Copy, Debug)]
enum FoundCode {
    Escape { length: usize },
    Value { length: usize, place: usize },
}

impl LoadedCodes {
    fn none() -> Self {
        LoadedCodes { ends: [0; LENGTHS], bases: [0; LENGTHS], escape: None, rank: 0 }
    }

    /// Returns the address of the value with this rank, which is the rank. Only a full table has a rank beyond the last
    /// address; its value is at the address of the escape.
    fn place(rank: u16, escape_place: usize) -> usize {
        if usize::from(rank) < ENTRIES { rank.into() } else { escape_place }
    }

    /// Takes a code. Returns the address of its value, or `None` for the escape.
    fn load(&mut self, inputs: &DecompressorIn) -> Option<usize> {
        let escape_place = self.escape.map_or(0, |escape| escape.place);
        if inputs.load_first_i {
            *self = LoadedCodes { bases: self.bases, ..LoadedCodes::none() };
        }
        let length = usize::from(inputs.load_length_i);
        let end = (u32::from(inputs.load_code_i) + 1) << (LENGTHS - length);
        self.ends[length - 1..].fill(end);
        self.bases[length - 1] = self.rank.wrapping_sub(inputs.load_code_i) % RANKS;
        let rank = self.rank;
        self.rank = (self.rank + 1) % RANKS;
        if inputs.load_escape_i {
            let place = usize::from(rank) % ENTRIES;
            self.escape = Some(Escape { code: inputs.load_code_i, length, place });
            return None;
        }
        Some(LoadedCodes::place(rank, escape_place))
    }

    /// Returns the code at the start of `bits`, whose first bit is lowest. The ends of canonical codes never decrease with
    /// the length, so the first end above the bits gives the length.
    fn find(&self, bits: u64) -> Option<FoundCode> {
        let head = (bits as u16).reverse_bits();
        if let Some(escape) = self.escape
            && head >> (LENGTHS - escape.length) == escape.code
        {
            return Some(FoundCode::Escape { length: escape.length });
        }
        let below = |index: usize| u32::from(head) < self.ends[index];
        if !below(LENGTHS - 1) {
            return None;
        }
        let index = (0..LENGTHS).find(|&index| below(index)).expect("the longest is");
        let code = head >> (LENGTHS - 1 - index);
        let rank = self.bases[index].wrapping_add(code) % RANKS;
        let escape_place = self.escape.map_or(0, |escape| escape.place);
        Some(FoundCode::Value { length: index + 1, place: LoadedCodes::place(rank, escape_place) })
    }
}

/// Returns 64 bits of a payload from a position on, with zeros beyond its end.
fn bits_at(payload: &Line, position: usize) -> u64 {
    let word = |index: usize| if index < LINE_WORDS { u128::from(payload[index]) } else { 0 };
    let (index, shift) = (position / 64, position % 64);
    ((word(index) | word(index + 1) << 64) >> shift) as u64
}

/// Phase of the loading of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
enum DecompressorModelPhase {
    Run,
    Drain,
    Load,
}

/// A payload whose codes are being found.
#[derive(Clone, Copy, Debug, State)]
struct PayloadJob {
    payload: Line,
    bits: usize,
    /// `true` if the payload is the line itself.
    plain: bool,
    position: usize,
    /// Position at which the blocks with known code lengths end.
    known: usize,
    left: usize,
}

/// A word in flight to the line.
#[derive(Clone, Copy, Debug, State)]
enum PendingWord {
    /// A value, by its address.
    Place(usize),
    /// The word after an escape.
    Raw(u32),
}

/// The codes that were found in one cycle.
#[derive(Clone, Debug, State)]
struct FoundCodes {
    /// Words that are not read yet, with their indices in the line.
    words: Vec<(usize, PendingWord)>,
    last: bool,
    error: bool,
}

/// Words that were read in one cycle.
#[derive(Clone, Debug, State)]
struct WordRead {
    words: Vec<(usize, u32)>,
    /// `true` if these words complete the line.
    last: bool,
    error: bool,
}

/// The golden model of the decompressor.
#[derive(Clone, Debug, State)]
pub struct ScDecompressorModel {
    codes_per_cycle: usize,
    phase: DecompressorModelPhase,
    codes: LoadedCodes,
    values: Vec<u32>,
    /// Pipeline stages, in the order in which a word passes them.
    job: Option<PayloadJob>,
    found: Option<FoundCodes>,
    placed: Option<FoundCodes>,
    read: Option<WordRead>,
    /// Content of the output registers.
    valid: bool,
    error: bool,
    words: [u32; WORDS],
}

impl ScDecompressorModel {
    /// Returns the model in its reset state. The parameters must be valid.
    pub fn new(params: &ScDecompressorParams) -> Self {
        ScDecompressorModel {
            codes_per_cycle: params.symbols_per_cycle as usize,
            phase: DecompressorModelPhase::Run,
            codes: LoadedCodes::none(),
            values: vec![0; ENTRIES],
            job: None,
            found: None,
            placed: None,
            read: None,
            valid: false,
            error: false,
            words: [0; WORDS],
        }
    }

    fn is_empty(&self) -> bool {
        self.found.is_none() && self.placed.is_none() && self.read.is_none()
    }

    fn clock_loading(&mut self, inputs: &DecompressorIn) {
        let in_flight = self.job.is_some() || !self.is_empty() || self.valid;
        match self.phase {
            DecompressorModelPhase::Run if inputs.load_valid_i => self.phase = DecompressorModelPhase::Drain,
            DecompressorModelPhase::Drain if !in_flight => self.phase = DecompressorModelPhase::Load,
            DecompressorModelPhase::Load if inputs.load_valid_i => {
                if let Some(place) = self.codes.load(inputs) {
                    self.values[place] = inputs.load_value_i;
                }
                if inputs.load_last_i {
                    self.phase = DecompressorModelPhase::Run;
                }
            }
            _ => {}
        }
    }

    /// Takes the codes of one cycle, up to an escape or to the end of the known code lengths.
    fn decode(&self, job: &mut PayloadJob) -> Option<FoundCodes> {
        let (mut words, mut error) = (Vec::new(), false);
        while words.len() < self.codes_per_cycle.min(job.left) && job.position < job.known {
            let bits = bits_at(&job.payload, job.position);
            let at = WORDS - job.left + words.len();
            match self.codes.find(bits) {
                Some(FoundCode::Value { length, place }) => {
                    job.position += length;
                    words.push((at, PendingWord::Place(place)));
                }
                Some(FoundCode::Escape { length }) => {
                    job.position += length + WORD_BITS;
                    words.push((at, PendingWord::Raw((bits >> length) as u32)));
                    break;
                }
                None => {
                    error = true;
                    break;
                }
            }
        }
        job.left -= words.len();
        // The next block is taken when the first of the two blocks is consumed.
        if job.position + BLOCK_BITS >= job.known {
            job.known += BLOCK_BITS;
        }
        let (last, nothing) = (job.left == 0 || error, words.is_empty() && !error);
        (!nothing).then_some(FoundCodes { words, last, error: error || job.position > job.bits })
    }

    /// Reads the values of a group. Each bank gives one row, which the first word of that bank selects.
    fn read_values(&self, group: &mut FoundCodes) -> WordRead {
        let mut rows: [Option<usize>; BANKS] = [None; BANKS];
        let mut words = Vec::new();
        group.words.retain(|(at, word)| {
            let value = match *word {
                PendingWord::Raw(value) => value,
                PendingWord::Place(place) => {
                    let row = place / BANKS;
                    if *rows[place % BANKS].get_or_insert(row) != row {
                        return true;
                    }
                    self.values[place]
                }
            };
            words.push((*at, value));
            false
        });
        WordRead { words, last: group.last && group.words.is_empty(), error: group.error }
    }

    fn clock_payloads(&mut self, ready: bool) {
        let free = !self.valid || ready;
        self.valid &= !ready;
        let was_empty = self.is_empty();
        let read = self.read.take();
        if free
            && !read.as_ref().is_some_and(|read| read.last)
            && let Some(mut group) = self.placed.take()
        {
            self.read = Some(self.read_values(&mut group));
            self.placed = Some(group).filter(|group| !group.words.is_empty());
        }
        if let Some(read) = read {
            for (at, value) in read.words {
                self.words[at] = value;
            }
            if read.last {
                (self.valid, self.error) = (true, read.error);
                if read.error {
                    self.words = [0; WORDS];
                }
            }
        }
        if self.placed.is_none() {
            self.placed = self.found.take();
        }
        match self.job {
            Some(PayloadJob { plain: true, payload, .. }) if free && was_empty => {
                self.words = words_of(&payload);
                (self.valid, self.error, self.job) = (true, false, None);
            }
            Some(mut job) if !job.plain && self.found.is_none() => {
                self.found = self.decode(&mut job);
                let ended = self.found.as_ref().is_some_and(|group| group.last);
                self.job = Some(job).filter(|_| !ended);
            }
            _ => {}
        }
    }
}

impl Clocked<DecompressorIn, DecompressorOut> for ScDecompressorModel {
    fn step(&mut self, inputs: &DecompressorIn) -> DecompressorOut {
        let outputs = DecompressorOut {
            ready_o: self.phase == DecompressorModelPhase::Run && self.job.is_none(),
            valid_o: self.valid,
            error_o: self.error,
            line_o: line_of(&self.words),
            load_ready_o: self.phase == DecompressorModelPhase::Load,
        };
        self.clock_loading(inputs);
        self.clock_payloads(inputs.ready_i);
        if outputs.ready_o && inputs.valid_i {
            self.job = Some(PayloadJob {
                payload: inputs.payload_i,
                bits: usize::from(inputs.bits_i).min(LINE_BITS),
                plain: !inputs.compressed_i,
                position: 0,
                known: BLOCK_BITS,
                left: WORDS,
            });
        }
        outputs
    }

    /// Resets all but the values: a memory has no reset.
    fn reset(&mut self) {
        let params = ScDecompressorParams { symbols_per_cycle: self.codes_per_cycle as u32 };
        let values = std::mem::take(&mut self.values);
        *self = ScDecompressorModel { values, ..ScDecompressorModel::new(&params) };
    }
}
