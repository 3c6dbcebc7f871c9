//! Golden model of the decompressor, cycle by cycle: codes, their values, and the loading of codes between payloads.
use super::{BANKS, BLOCK_BITS, DecompressorIn, DecompressorOut, DecompressorParams};
use crate::line::{LINE_WORDS, Line};
use crate::sc::line::line_of;
use crate::sc::{ENTRIES, LINE_BITS, MAX_CODE_BITS, WORD_BITS, WORDS, words_of};
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// Ranks have this many values: those of the entries, the escape's, and more that are never given.
const RANKS: u16 = 2 * ENTRIES as u16;

/// Longest code, and number of lengths.
const LENGTHS: usize = MAX_CODE_BITS;

/// The code of the escape.
#[derive(Clone, Copy, Debug, State)]
struct Escape {
    code: u16,
    length: usize,
    /// Its rank, as a place of the values.
    place: usize,
}

/// The codes that are loaded. What is wanted of a code is its length and its rank, its place in the canonical order.
#[derive(Clone, Debug, State)]
struct Codes {
    /// Per length, from 1: the number that follows its codes and all shorter ones, left-aligned in 16 bits.
    ends: [u32; LENGTHS],
    /// Per length, from 1: what added to a code gives its rank.
    bases: [u16; LENGTHS],
    escape: Option<Escape>,
    /// Rank of the next code.
    rank: u16,
}

/// A code, as found in a payload.
#[derive(Clone, Copy, Debug)]
enum Found {
    Escape { length: usize },
    Value { length: usize, place: usize },
}

impl Codes {
    fn none() -> Self {
        Codes { ends: [0; LENGTHS], bases: [0; LENGTHS], escape: None, rank: 0 }
    }

    /// Where the value of a rank lies: at its rank. Only a full table has a rank beyond the last place; its value lies where
    /// the escape's would.
    fn place(rank: u16, escape_place: usize) -> usize {
        if usize::from(rank) < ENTRIES { rank.into() } else { escape_place }
    }

    /// Takes a code; its value goes to the place that is returned, unless it is the escape's.
    fn load(&mut self, inputs: &DecompressorIn) -> Option<usize> {
        let escape_place = self.escape.map_or(0, |escape| escape.place);
        if inputs.load_first_i {
            *self = Codes { bases: self.bases, ..Codes::none() };
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
        Some(Codes::place(rank, escape_place))
    }

    /// The code that the bits begin with, the first one lowest. Ends of canonical codes never fall, so that one length alone
    /// lies above the bits while the one before does not.
    fn find(&self, bits: u64) -> Option<Found> {
        let head = (bits as u16).reverse_bits();
        if let Some(escape) = self.escape
            && head >> (LENGTHS - escape.length) == escape.code
        {
            return Some(Found::Escape { length: escape.length });
        }
        let below = |index: usize| u32::from(head) < self.ends[index];
        if !below(LENGTHS - 1) {
            return None;
        }
        let index = (0..LENGTHS).find(|&index| below(index)).expect("the longest is");
        let code = head >> (LENGTHS - 1 - index);
        let rank = self.bases[index].wrapping_add(code) % RANKS;
        let escape_place = self.escape.map_or(0, |escape| escape.place);
        Some(Found::Value { length: index + 1, place: Codes::place(rank, escape_place) })
    }
}

/// 48 bits of a payload from a position on, zeros behind its end.
fn bits_at(payload: &Line, position: usize) -> u64 {
    let word = |index: usize| if index < LINE_WORDS { u128::from(payload[index]) } else { 0 };
    let (index, shift) = (position / 64, position % 64);
    ((word(index) | word(index + 1) << 64) >> shift) as u64
}

/// What the decompressor does with its tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
enum Phase {
    Run,
    Drain,
    Load,
}

/// A payload whose codes are being found.
#[derive(Clone, Copy, Debug, State)]
struct Job {
    payload: Line,
    bits: usize,
    /// The payload is the line itself.
    plain: bool,
    position: usize,
    /// Where the two blocks end whose lengths are known.
    known: usize,
    left: usize,
}

/// A word in flight to the line.
#[derive(Clone, Copy, Debug, State)]
enum Word {
    /// The value at this place.
    Place(usize),
    /// The word behind an escape.
    Raw(u32),
}

/// The codes of a cycle.
#[derive(Clone, Debug, State)]
struct Group {
    /// Where in the line the words go, and those words that were not read yet.
    words: Vec<(usize, Word)>,
    last: bool,
    error: bool,
}

/// Words that were read in a cycle.
#[derive(Clone, Debug, State)]
struct Read {
    words: Vec<(usize, u32)>,
    /// The line is complete.
    last: bool,
    error: bool,
}

/// The golden model of the decompressor.
#[derive(Clone, Debug, State)]
pub struct DecompressorModel {
    codes_per_cycle: usize,
    phase: Phase,
    codes: Codes,
    values: Vec<u32>,
    /// The stages, in the order in which a word passes them.
    job: Option<Job>,
    found: Option<Group>,
    placed: Option<Group>,
    read: Option<Read>,
    /// What the output registers hold.
    valid: bool,
    error: bool,
    words: [u32; WORDS],
}

impl DecompressorModel {
    /// The model in its reset state. The parameters must be valid.
    pub fn new(params: &DecompressorParams) -> Self {
        DecompressorModel {
            codes_per_cycle: params.symbols_per_cycle as usize,
            phase: Phase::Run,
            codes: Codes::none(),
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
            Phase::Run if inputs.load_valid_i => self.phase = Phase::Drain,
            Phase::Drain if !in_flight => self.phase = Phase::Load,
            Phase::Load if inputs.load_valid_i => {
                if let Some(place) = self.codes.load(inputs) {
                    self.values[place] = inputs.load_value_i;
                }
                if inputs.load_last_i {
                    self.phase = Phase::Run;
                }
            }
            _ => {}
        }
    }

    /// Takes the codes of a cycle, up to an escape or to the end of what is known.
    fn decode(&self, job: &mut Job) -> Option<Group> {
        let (mut words, mut error) = (Vec::new(), false);
        while words.len() < self.codes_per_cycle.min(job.left) && job.position < job.known {
            let bits = bits_at(&job.payload, job.position);
            let at = WORDS - job.left + words.len();
            match self.codes.find(bits) {
                Some(Found::Value { length, place }) => {
                    job.position += length;
                    words.push((at, Word::Place(place)));
                }
                Some(Found::Escape { length }) => {
                    job.position += length + WORD_BITS;
                    words.push((at, Word::Raw((bits >> length) as u32)));
                    break;
                }
                None => {
                    error = true;
                    break;
                }
            }
        }
        job.left -= words.len();
        // The next block comes when the first of the two is used up.
        if job.position + BLOCK_BITS >= job.known {
            job.known += BLOCK_BITS;
        }
        let (last, nothing) = (job.left == 0 || error, words.is_empty() && !error);
        (!nothing).then_some(Group { words, last, error: error || job.position > job.bits })
    }

    /// Reads the values of a group: a row of each bank, the one that the first word wants.
    fn read_values(&self, group: &mut Group) -> Read {
        let mut rows: [Option<usize>; BANKS] = [None; BANKS];
        let mut words = Vec::new();
        group.words.retain(|(at, word)| {
            let value = match *word {
                Word::Raw(value) => value,
                Word::Place(place) => {
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
        Read { words, last: group.last && group.words.is_empty(), error: group.error }
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
            Some(Job { plain: true, payload, .. }) if free && was_empty => {
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

impl Clocked<DecompressorIn, DecompressorOut> for DecompressorModel {
    fn step(&mut self, inputs: &DecompressorIn) -> DecompressorOut {
        let outputs = DecompressorOut {
            ready_o: self.phase == Phase::Run && self.job.is_none(),
            valid_o: self.valid,
            error_o: self.error,
            line_o: line_of(&self.words),
            load_ready_o: self.phase == Phase::Load,
        };
        self.clock_loading(inputs);
        self.clock_payloads(inputs.ready_i);
        if outputs.ready_o && inputs.valid_i {
            self.job = Some(Job {
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

    /// The values are a memory, which has no reset.
    fn reset(&mut self) {
        let params = DecompressorParams { symbols_per_cycle: self.codes_per_cycle as u32 };
        let values = std::mem::take(&mut self.values);
        *self = DecompressorModel { values, ..DecompressorModel::new(&params) };
    }
}
