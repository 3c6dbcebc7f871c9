//! Stimulus of the value-frequency table: phases of words with different frequencies, with reads and occasional clears.
use super::model::{Effect, VftModel};
use super::params::{LOST_MAX, VftParams};
use super::rtl::{VftIn, VftOut};
use crate::sc::{WAYS, set_of, value_of};
use selvedge_hw::block::{Clocked, Stimulus};
use selvedge_hw::corners::{Corner, Corners};
use selvedge_hw::prng::Prng;

/// Kind of the words of a phase.
#[derive(Clone, Copy, Debug)]
enum WordKind {
    /// One value most of the time, so that its count reaches the maximum.
    Hot,
    /// Few values often and many rarely, as in real data.
    Skewed,
    /// Hardly ever the same value, so that entries are replaced and the lost count reaches its maximum.
    Distinct,
    /// Values of few sets. Successive words use the same set, and counts decide which entry is replaced.
    Crowded,
    /// Skewed values. The number of words is about the number of sets.
    AboutEnough,
}

/// A phase: its words, its cycles, and the load of the ports in percent.
#[derive(Clone, Copy, Debug)]
struct VftLoad {
    words: WordKind,
    cycles: u64,
    train: u64,
    read: u64,
    /// `true` if the table is cleared at the start of the phase.
    clear: bool,
}

/// A phase that counts too few words for new codes, or just enough, before a clear. Its cycles follow from the number of
/// sets.
const SHORT: VftLoad = VftLoad { words: WordKind::AboutEnough, cycles: 0, train: 100, read: 0, clear: true };

/// The phases, in a repeating sequence. Resets and clears come between them, and within some of them.
const PHASES: [VftLoad; 10] = [
    VftLoad { words: WordKind::Crowded, cycles: 3000, train: 95, read: 10, clear: false },
    VftLoad { words: WordKind::Skewed, cycles: 6000, train: 80, read: 25, clear: false },
    VftLoad { words: WordKind::Hot, cycles: 9000, train: 100, read: 2, clear: true },
    VftLoad { words: WordKind::Skewed, cycles: 2000, train: 10, read: 90, clear: false },
    VftLoad { words: WordKind::Distinct, cycles: 24_000, train: 100, read: 5, clear: true },
    SHORT,
    SHORT,
    SHORT,
    SHORT,
    VftLoad { words: WordKind::Skewed, cycles: 4000, train: 60, read: 50, clear: true },
];

/// Chooses the words of a phase.
struct WordSource {
    prng: Prng,
    set_bits: u32,
    hot: u32,
}

impl WordSource {
    fn next(&mut self, words: WordKind) -> u32 {
        let prng = &mut self.prng;
        match words {
            WordKind::Hot if prng.chance(90) => self.hot,
            WordKind::Hot | WordKind::Distinct => prng.bits() as u32,
            WordKind::Skewed | WordKind::AboutEnough => {
                let top = 1 << prng.below(13);
                (prng.below(top) as u32).wrapping_mul(0x9e37_79b9)
            }
            WordKind::Crowded => {
                let (tag, set) = (prng.below(6) as u32, prng.below(4) as u32);
                let tag = if prng.chance(20) { prng.bits() as u32 >> self.set_bits } else { tag };
                value_of(tag, set, self.set_bits)
            }
        }
    }
}

/// Returns the table's stimulus, which never ends.
pub(super) fn vft(params: &VftParams, seed: u64) -> impl Iterator<Item = Stimulus<VftIn>> + use<> {
    let entries = params.entries as u64;
    let mut prng = Prng::new(seed);
    let mut surplus = 0;
    let mut source = WordSource { prng: Prng::new(prng.bits()), set_bits: params.set_bits() as u32, hot: 0 };
    let mut phases = PHASES.iter().cycle();
    let mut phase = PHASES[0];
    let mut remaining = 0;
    let mut started = false;
    let mut offered: Option<u32> = None;
    std::iter::from_fn(move || {
        // Phases that fill counts, or that need an exact number of words, have no random resets and clears inside.
        let filling = matches!(phase.words, WordKind::Hot | WordKind::Distinct | WordKind::AboutEnough);
        if !started || (remaining == 0 && prng.chance(20)) || (!filling && prng.below(5000) == 0) {
            started = true;
            offered = None;
            return Some(Stimulus::reset());
        }
        let mut clear_i = !filling && prng.below(2000) == 0;
        if remaining == 0 {
            phase = *phases.next().expect("the phases come round");
            remaining = match phase.words {
                // The clears at both ends take the cycle of one word each.
                WordKind::AboutEnough => {
                    surplus = (surplus + 1) % 4;
                    entries / WAYS as u64 + surplus
                }
                _ => phase.cycles,
            };
            source.hot = prng.bits() as u32;
            clear_i = phase.clear;
        }
        remaining -= 1;
        // An offered word stays until it is taken.
        if offered.is_none() && prng.chance(phase.train) {
            offered = Some(source.next(phase.words));
        }
        let inputs = VftIn {
            train_valid_i: offered.is_some(),
            train_value_i: offered.unwrap_or_default(),
            read_i: prng.chance(phase.read),
            read_index_i: prng.below(entries) as u16,
            clear_i,
        };
        if !inputs.read_i && !inputs.clear_i {
            offered = None;
        }
        Some(Stimulus::step(inputs))
    })
}

/// Corner cases of the table, found with a separate model. An operation is a word that is taken.
pub(super) struct VftCorners {
    model: VftModel,
    set_bits: u32,
    sets: u64,
    /// Words that were counted since the last clear.
    since_clear: u64,
    too_few: u64,
    one_too_few: u64,
    just_enough: u64,
    words: u64,
    counted: u64,
    entered: u64,
    replaced: u64,
    replaced_above_one: u64,
    halved: u64,
    /// Set of the word that was taken in the previous cycle.
    last_set: Option<u32>,
    same_set: u64,
    waiting: u64,
    reads: u64,
    empty_reads: u64,
    cleared_in_flight: u64,
    lost_at_top: u64,
}

impl VftCorners {
    pub(super) fn new(params: &VftParams) -> Self {
        VftCorners {
            model: VftModel::new(params),
            set_bits: params.set_bits() as u32,
            sets: 1 << params.set_bits(),
            since_clear: 0,
            too_few: 0,
            one_too_few: 0,
            just_enough: 0,
            words: 0,
            counted: 0,
            entered: 0,
            replaced: 0,
            replaced_above_one: 0,
            halved: 0,
            last_set: None,
            same_set: 0,
            waiting: 0,
            reads: 0,
            empty_reads: 0,
            cleared_in_flight: 0,
            lost_at_top: 0,
        }
    }
}

impl Corners<VftIn, VftOut> for VftCorners {
    fn reset(&mut self) {
        self.model.reset();
        self.last_set = None;
        self.since_clear = 0;
    }
    fn clock(&mut self, inputs: &VftIn, outputs: &VftOut) {
        self.model.step(inputs);
        let effect = self.model.last_effect();
        self.counted += u64::from(effect == Some(Effect::Counted));
        self.halved += u64::from(effect == Some(Effect::Halved));
        if let Some(Effect::Entered(lost)) = effect {
            self.entered += u64::from(lost == 0);
            self.replaced += u64::from(lost > 0);
            self.replaced_above_one += u64::from(lost > 1);
            self.lost_at_top += u64::from(lost > 0 && outputs.lost_o == LOST_MAX);
        }
        self.since_clear += u64::from(effect.is_some());
        if inputs.clear_i {
            self.too_few += u64::from(self.since_clear > 0 && !outputs.enough_o);
            self.one_too_few += u64::from(self.since_clear + 1 == self.sets && !outputs.enough_o);
            self.just_enough += u64::from(self.since_clear == self.sets && outputs.enough_o);
            self.since_clear = 0;
        }
        self.cleared_in_flight += u64::from(inputs.clear_i && self.last_set.is_some());
        let taken = inputs.train_valid_i && outputs.train_ready_o;
        let set = taken.then(|| set_of(inputs.train_value_i, self.set_bits));
        self.words += u64::from(taken);
        self.same_set += u64::from(taken && set == self.last_set);
        self.waiting += u64::from(inputs.train_valid_i && !outputs.train_ready_o);
        self.last_set = set;
        self.reads += u64::from(outputs.read_valid_o);
        self.empty_reads += u64::from(outputs.read_valid_o && outputs.read_count_o == 0);
    }
    fn operations(&self) -> u64 {
        self.words
    }
    fn seen(&self) -> Vec<Corner> {
        [
            ("a word counts in its entry", self.counted, 1000),
            ("a word enters where nothing was", self.entered, 1000),
            ("a word replaces an entry", self.replaced, 1000),
            ("a word replaces an entry that counted more than one", self.replaced_above_one, 100),
            ("a full count halves its set", self.halved, 2),
            ("a word of the set that the last word wrote", self.same_set, 1000),
            ("a word waits for a read or a clear", self.waiting, 1000),
            ("an entry is read", self.reads - self.empty_reads, 1000),
            ("nothing is where is read", self.empty_reads, 1000),
            ("a clear meets a word in flight", self.cleared_in_flight, 2),
            ("the lost count is pushed beyond its end", self.lost_at_top, 100),
            ("too few words keep the old codes", self.too_few, 4),
            ("one word is missing for new codes", self.one_too_few, 1),
            ("just enough words give new codes", self.just_enough, 1),
        ]
        .map(|(name, times, demanded)| Corner { name, times, demanded })
        .to_vec()
    }
}
