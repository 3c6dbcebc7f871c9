//! Golden model of the decompressor, cycle by cycle: codes, their values, and the loading of codes between payloads.
use super::{DecompressorIn, DecompressorOut, DecompressorParams};
use crate::line::{LINE_WORDS, Line};
use crate::sc::line::line_of;
use crate::sc::{ENTRIES, LINE_BITS, MAX_CODE_BITS, WORDS, words_of};
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// Ranks have this many values: those of the entries, the escape's, and more that are never given.
const RANKS: u16 = 2 * ENTRIES as u16;

/// Rank of the escape while there is none.
const NO_RANK: u16 = RANKS - 1;

/// The codes that are loaded. What is wanted of a code is its length and its rank, its place in the canonical order.
#[derive(Clone, Debug, State)]
struct Codes {
    /// Per length, from 1: the number that follows its codes and all shorter ones, left-aligned in 16 bits.
    ends: [u32; MAX_CODE_BITS],
    /// Per length, from 1: what added to a code gives its rank.
    bases: [u16; MAX_CODE_BITS],
    escape_rank: u16,
    /// Rank of the next code.
    rank: u16,
    /// Place of the next value.
    place: usize,
}

/// A code, as found in a payload.
#[derive(Clone, Copy, Debug)]
struct Found {
    length: usize,
    rank: u16,
}

impl Codes {
    fn none() -> Self {
        Codes { ends: [0; MAX_CODE_BITS], bases: [0; MAX_CODE_BITS], escape_rank: NO_RANK, rank: 0, place: 0 }
    }

    /// Takes a code; its value goes to the place that is returned, unless it is the escape's.
    fn load(&mut self, inputs: &DecompressorIn) -> Option<usize> {
        if inputs.load_first_i {
            *self = Codes { bases: self.bases, ..Codes::none() };
        }
        let length = usize::from(inputs.load_length_i);
        let end = (u32::from(inputs.load_code_i) + 1) << (MAX_CODE_BITS - length);
        self.ends[length - 1..].fill(end);
        self.bases[length - 1] = self.rank.wrapping_sub(inputs.load_code_i) % RANKS;
        let rank = self.rank;
        self.rank = (self.rank + 1) % RANKS;
        if inputs.load_escape_i {
            self.escape_rank = rank;
            return None;
        }
        let place = self.place;
        self.place = (place + 1) % ENTRIES;
        Some(place)
    }

    /// The code that the bits begin with, the first one lowest. Ends of canonical codes never fall, so that one length alone
    /// lies above the bits while the one before does not; of codes that came in no order it is the last such.
    fn find(&self, bits: u64) -> Option<Found> {
        let head = (bits as u16).reverse_bits();
        let below = |index: usize| u32::from(head) < self.ends[index];
        if !below(MAX_CODE_BITS - 1) {
            return None;
        }
        let shorter = (1..MAX_CODE_BITS).rev().find(|&index| below(index) && !below(index - 1)).unwrap_or(0);
        let code = head >> (MAX_CODE_BITS - 1 - shorter);
        Some(Found { length: shorter + 1, rank: self.bases[shorter].wrapping_add(code) % RANKS })
    }

    /// Where the value of a rank lies.
    fn place(&self, rank: u16) -> usize {
        usize::from(rank - u16::from(rank > self.escape_rank)) % ENTRIES
    }
}

/// 48 bits of a payload from a position on, zeros behind its end.
fn window(payload: &Line, position: usize) -> u64 {
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

/// A payload in flight.
#[derive(Clone, Copy, Debug, State)]
struct Job {
    payload: Line,
    bits: usize,
    /// The payload is the line itself.
    plain: bool,
    position: usize,
    left: usize,
}

/// A word that waits to move to the line.
#[derive(Clone, Copy, Debug, State)]
enum Word {
    /// The value at this place.
    Place(usize),
    /// The word behind an escape.
    Raw(u32),
}

/// The codes of a cycle.
#[derive(Clone, Copy, Debug, State)]
struct Group {
    words: [Word; 4],
    taken: usize,
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
    job: Option<Job>,
    waiting: Option<Group>,
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
            waiting: None,
            valid: false,
            error: false,
            words: [0; WORDS],
        }
    }

    fn clock_loading(&mut self, inputs: &DecompressorIn) {
        let in_flight = self.job.is_some() || self.waiting.is_some() || self.valid;
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

    /// Moves the words that wait to the line.
    fn write(&mut self, group: &Group) {
        (self.valid, self.error) = (group.last, group.error);
        if group.error {
            self.words = [0; WORDS];
            return;
        }
        self.words.copy_within(group.taken.., 0);
        for (word, own) in self.words[WORDS - group.taken..].iter_mut().zip(&group.words) {
            *word = match *own {
                Word::Place(place) => self.values[place],
                Word::Raw(word) => word,
            };
        }
    }

    /// Takes the codes of a cycle, up to an escape.
    fn decode(&self, job: &mut Job) -> Group {
        let mut group = Group { words: [Word::Raw(0); 4], taken: 0, last: false, error: false };
        while group.taken < self.codes_per_cycle.min(job.left) {
            let bits = window(&job.payload, job.position);
            let Some(Found { length, rank }) = self.codes.find(bits) else {
                group.error = true;
                break;
            };
            job.position += length;
            let escaped = rank == self.codes.escape_rank;
            group.words[group.taken] = if escaped {
                job.position += 32;
                Word::Raw((bits >> length) as u32)
            } else {
                Word::Place(self.codes.place(rank))
            };
            group.taken += 1;
            if escaped {
                break;
            }
        }
        job.left -= group.taken;
        group.error |= job.position > job.bits;
        group.last = job.left == 0 || group.error;
        group
    }

    fn clock_payloads(&mut self, ready: bool) {
        let free = !self.valid || ready;
        self.valid &= !ready;
        let waited = self.waiting.is_some();
        if free && let Some(group) = self.waiting.take() {
            self.write(&group);
        }
        match self.job {
            Some(Job { plain: true, payload, .. }) if free && !waited => {
                self.words = words_of(&payload);
                (self.valid, self.error, self.job) = (true, false, None);
            }
            Some(mut job) if !job.plain && self.waiting.is_none() => {
                let group = self.decode(&mut job);
                self.waiting = Some(group);
                self.job = Some(job).filter(|_| !group.last);
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
