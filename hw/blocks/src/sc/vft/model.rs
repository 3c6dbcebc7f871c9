//! Golden model of the value-frequency table: a stage for the operation in flight, and the table that it works on.
use super::{COUNT_MAX, LOST_MAX, VftIn, VftOut, VftParams};
use crate::sc::{WAYS, set_of};
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// A value and how often it was counted; no entry when that is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Entry {
    /// The value.
    pub value: u32,
    /// Its count.
    pub count: u16,
}

/// What a counted word does to the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum Effect {
    /// Its entry counts it.
    Counted,
    /// Its entry was full: the set was halved, then the word counted.
    Halved,
    /// It became an entry, in place of one with this count; zero where there was none.
    Entered(u16),
}

/// An operation that was taken in the last cycle.
#[derive(Clone, Copy, Debug, State)]
enum Operation {
    Train(u32),
    Read(u16),
}

/// Golden model of the value-frequency table.
#[derive(Clone, Debug, State)]
pub struct VftModel {
    set_bits: u32,
    sets: Vec<[Entry; WAYS]>,
    in_flight: Option<Operation>,
    last_effect: Option<Effect>,
    outputs: VftOut,
}

impl VftModel {
    /// The empty table. The parameters must be valid.
    pub fn new(params: &VftParams) -> Self {
        let set_bits = params.set_bits() as u32;
        VftModel {
            set_bits,
            sets: vec![[Entry::default(); WAYS]; 1 << set_bits],
            in_flight: None,
            last_effect: None,
            outputs: VftOut::default(),
        }
    }

    /// The entry of an index, words in flight not counted.
    pub fn entry(&self, index: u16) -> Entry {
        self.sets[usize::from(index) / WAYS][usize::from(index) % WAYS]
    }

    /// What the word that was counted in the last cycle did, if there was one.
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
                *smallest = Entry { value, count: 1 };
                Effect::Entered(lost)
            }
        };
        if let Effect::Entered(lost) = effect {
            self.outputs.lost_o = (self.outputs.lost_o + lost).min(LOST_MAX);
        }
        self.last_effect = Some(effect);
    }

    fn read(&mut self, index: u16) {
        let entry = self.entry(index);
        self.outputs.read_valid_o = true;
        self.outputs.read_count_o = entry.count;
        self.outputs.read_value_o = if entry.count > 0 { entry.value } else { 0 };
    }

    fn clear(&mut self) {
        self.sets.fill([Entry::default(); WAYS]);
        self.outputs.lost_o = 0;
    }
}

impl Clocked<VftIn, VftOut> for VftModel {
    fn step(&mut self, inputs: &VftIn) -> VftOut {
        let outputs = VftOut { train_ready_o: !inputs.read_i && !inputs.clear_i, ..self.outputs };
        self.outputs.read_valid_o = false;
        self.last_effect = None;
        match self.in_flight {
            Some(Operation::Train(value)) if !inputs.clear_i => self.train(value),
            Some(Operation::Read(index)) => self.read(index),
            _ => {}
        }
        if inputs.clear_i {
            self.clear();
        }
        self.in_flight = if inputs.read_i {
            Some(Operation::Read(inputs.read_index_i))
        } else {
            (inputs.train_valid_i && outputs.train_ready_o).then_some(Operation::Train(inputs.train_value_i))
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
