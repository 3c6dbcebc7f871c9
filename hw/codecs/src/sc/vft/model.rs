//! Golden model of the value-frequency table: the operation in flight, and the table.
use super::params::{COUNT_MAX, LOST_MAX, VftParams};
use super::rtl::{VftIn, VftOut};
use crate::sc::{WAYS, set_of};
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// A value and its count. The entry does not exist if the count is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct ValueCount {
    /// The value.
    pub value: u32,
    /// Number of times that the value was counted.
    pub count: u16,
}

/// Effect of a counted word on the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum Effect {
    /// The entry of the word's value counted it.
    Counted,
    /// The entry was full: its set was halved, then the word was counted.
    Halved,
    /// The word replaced an entry with this count; zero if that entry did not exist.
    Entered(u16),
}

/// The operation that was taken in the previous cycle.
#[derive(Clone, Copy, Debug, State)]
enum VftOperation {
    Train(u32),
    Read(u16),
}

/// Golden model of the value-frequency table.
#[derive(Clone, Debug, State)]
pub struct VftModel {
    set_bits: u32,
    sets: Vec<[ValueCount; WAYS]>,
    /// Words since the last clear, up to the number of sets.
    words: usize,
    in_flight: Option<VftOperation>,
    last_effect: Option<Effect>,
    outputs: VftOut,
}

impl VftModel {
    /// Returns the empty table. The parameters must be valid.
    pub fn new(params: &VftParams) -> Self {
        let set_bits = params.set_bits() as u32;
        VftModel {
            set_bits,
            sets: vec![[ValueCount::default(); WAYS]; 1 << set_bits],
            words: 0,
            in_flight: None,
            last_effect: None,
            outputs: VftOut::default(),
        }
    }

    /// Returns the entry of an index, without the words in flight.
    pub fn entry(&self, index: u16) -> ValueCount {
        self.sets[usize::from(index) / WAYS][usize::from(index) % WAYS]
    }

    /// Returns the effect of the word that was counted in the previous cycle, if any.
    pub fn last_effect(&self) -> Option<Effect> {
        self.last_effect
    }

    fn train(&mut self, value: u32) {
        let set = &mut self.sets[set_of(value, self.set_bits) as usize];
        let effect = match set.iter().position(|entry| entry.count > 0 && entry.value == value) {
            Some(way) => {
                let full = set[way].count == COUNT_MAX;
                if full {
                    set.iter_mut().for_each(|entry| entry.count /= 2);
                }
                set[way].count += 1;
                if full { Effect::Halved } else { Effect::Counted }
            }
            None => {
                let smallest = set.iter_mut().min_by_key(|entry| entry.count).expect("a set has ways");
                let lost = smallest.count;
                *smallest = ValueCount { value, count: 1 };
                Effect::Entered(lost)
            }
        };
        if let Effect::Entered(lost) = effect {
            self.outputs.lost_o = (self.outputs.lost_o + lost).min(LOST_MAX);
        }
        self.words = (self.words + 1).min(self.sets.len());
        self.outputs.enough_o = self.words == self.sets.len();
        self.last_effect = Some(effect);
    }

    fn read(&mut self, index: u16) {
        let entry = self.entry(index);
        self.outputs.read_valid_o = true;
        self.outputs.read_count_o = entry.count;
        self.outputs.read_value_o = if entry.count > 0 { entry.value } else { 0 };
    }

    fn clear(&mut self) {
        self.sets.fill([ValueCount::default(); WAYS]);
        self.words = 0;
        self.outputs.lost_o = 0;
        self.outputs.enough_o = false;
    }
}

impl Clocked<VftIn, VftOut> for VftModel {
    fn step(&mut self, inputs: &VftIn) -> VftOut {
        let outputs = VftOut { train_ready_o: !inputs.read_i && !inputs.clear_i, ..self.outputs };
        self.outputs.read_valid_o = false;
        self.last_effect = None;
        match self.in_flight {
            Some(VftOperation::Train(value)) if !inputs.clear_i => self.train(value),
            Some(VftOperation::Read(index)) => self.read(index),
            _ => {}
        }
        if inputs.clear_i {
            self.clear();
        }
        self.in_flight = if inputs.read_i {
            Some(VftOperation::Read(inputs.read_index_i))
        } else {
            (inputs.train_valid_i && outputs.train_ready_o)
                .then_some(VftOperation::Train(inputs.train_value_i))
        };
        outputs
    }

    fn reset(&mut self) {
        self.clear();
        self.in_flight = None;
        self.last_effect = None;
        self.outputs = VftOut::default();
    }
}
