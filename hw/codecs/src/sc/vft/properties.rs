//! Properties of the value-frequency table under random traffic: it equals a plain list of sets, counts every word, keeps
//! frequent values, and the RTL does the same in the same cycles.
use crate::sc::vft::{COUNT_MAX, LOST_MAX, ScVft, ValueCount, VftIn, VftOut, VftParams};
use crate::sc::{WAYS, set_of, value_of};
use proptest::prelude::*;
use selvedge_hw::{Engine, Instance};

/// A table in lockstep with its RTL.
struct CheckedTable {
    instance: Instance<ScVft>,
    params: VftParams,
}

impl CheckedTable {
    fn new(entries: usize) -> Self {
        let params = VftParams { entries };
        CheckedTable { instance: Instance::new("vft", &params, Engine::Lockstep).unwrap(), params }
    }

    fn step(&mut self, inputs: VftIn) -> VftOut {
        self.instance.step(&inputs).unwrap()
    }

    fn train(&mut self, train_value_i: u32) {
        assert!(self.step(VftIn { train_valid_i: true, train_value_i, ..VftIn::default() }).train_ready_o);
    }

    fn clear(&mut self) {
        assert!(!self.step(VftIn { clear_i: true, train_valid_i: true, ..VftIn::default() }).train_ready_o);
    }

    fn lost(&mut self) -> u16 {
        self.step(VftIn::default());
        self.step(VftIn::default()).lost_o
    }

    fn enough(&mut self) -> bool {
        self.step(VftIn::default());
        self.step(VftIn::default()).enough_o
    }

    /// Returns all entries, read one per cycle.
    fn drain(&mut self) -> Vec<ValueCount> {
        // Lets the reads in flight finish.
        self.step(VftIn::default());
        self.step(VftIn::default());
        let mut entries = Vec::new();
        for index in 0..self.params.entries + 2 {
            let read_i = index < self.params.entries;
            let inputs =
                VftIn { read_i, read_index_i: if read_i { index as u16 } else { 0 }, ..VftIn::default() };
            let outputs = self.step(inputs);
            assert_eq!(outputs.read_valid_o, index >= 2, "an answer two cycles after its read");
            if outputs.read_valid_o {
                entries.push(ValueCount { value: outputs.read_value_o, count: outputs.read_count_o });
            }
        }
        entries
    }
}

/// Returns the entries and the lost count, by the table's definition on lists.
fn reference(words: &[u32], params: &VftParams) -> (Vec<ValueCount>, u32) {
    let mut sets = vec![[(0u32, 0u32); WAYS]; params.entries / WAYS];
    let mut lost = 0;
    for word in words {
        let set = &mut sets[set_of(*word, params.set_bits() as u32) as usize];
        if let Some(found) = (0..WAYS).find(|way| set[*way].1 != 0 && set[*way].0 == *word) {
            if set[found].1 == u32::from(COUNT_MAX) {
                *set = set.map(|(value, count)| (value, count >> 1));
            }
            set[found].1 += 1;
        } else {
            let least = set.iter().map(|(_, count)| *count).min().unwrap();
            let victim = set.iter().position(|(_, count)| *count == least).unwrap();
            lost += least;
            set[victim] = (*word, 1);
        }
    }
    let entry = |(value, count): (u32, u32)| ValueCount {
        value: if count > 0 { value } else { 0 },
        count: count as u16,
    };
    (sets.into_iter().flatten().map(entry).collect(), lost.min(u32::from(LOST_MAX)))
}

/// Returns words of few sets and few values, which fill sets, and random words.
fn words(most: usize) -> impl Strategy<Value = Vec<u32>> {
    let crowded = (0u32..12, 0u32..3).prop_map(|(tag, set)| value_of(tag * 0x1111, set, 8));
    prop::collection::vec(prop_oneof![3 => crowded, 1 => any::<u32>(), 1 => 0u32..4], 0..most)
}

fn entries() -> impl Strategy<Value = usize> {
    prop_oneof![Just(64usize), Just(1024)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_table_is_what_its_definition_says(words in words(3000), entries in entries()) {
        let mut table = CheckedTable::new(entries);
        words.iter().for_each(|word| table.train(*word));
        let (expected, lost) = reference(&words, &table.params);
        prop_assert_eq!(u32::from(table.lost()), lost);
        prop_assert_eq!(table.drain(), expected);
    }

    #[test]
    fn every_word_is_in_a_count_or_in_the_lost_count(words in words(3000), entries in entries()) {
        let mut table = CheckedTable::new(entries);
        words.iter().for_each(|word| table.train(*word));
        let counted: usize = table.drain().iter().map(|entry| usize::from(entry.count)).sum();
        prop_assert_eq!(counted + usize::from(table.lost()), words.len());
    }

    #[test]
    fn new_codes_are_due_once_the_words_reach_the_number_of_sets(words in words(34), cleared: bool) {
        let mut table = CheckedTable::new(64);
        if cleared {
            repeat(&mut table, 7, 100);
            table.clear();
        }
        words.iter().for_each(|word| table.train(*word));
        prop_assert_eq!(table.enough(), words.len() >= 16);
        // Reads do not count as words.
        table.drain();
        prop_assert_eq!(table.enough(), words.len() >= 16);
    }

    #[test]
    fn reads_between_words_change_nothing(words in words(500), reads in prop::collection::vec(0u16..64, 500)) {
        let mut table = CheckedTable::new(64);
        for (word, read_index_i) in words.iter().zip(&reads) {
            let stalled = VftIn {
                train_valid_i: true, train_value_i: *word, read_i: true, read_index_i: *read_index_i, clear_i: false,
            };
            prop_assert!(!table.step(stalled).train_ready_o);
            table.train(*word);
        }
        let words: Vec<u32> = words.iter().zip(&reads).map(|(word, _)| *word).collect();
        prop_assert_eq!(table.drain(), reference(&words, &table.params).0);
    }

    #[test]
    fn a_clear_forgets_all_that_was_taken_before_it(before in words(500), after in words(500)) {
        let mut table = CheckedTable::new(1024);
        before.iter().for_each(|word| table.train(*word));
        table.clear();
        after.iter().for_each(|word| table.train(*word));
        let (expected, lost) = reference(&after, &table.params);
        prop_assert_eq!(u32::from(table.lost()), lost);
        prop_assert_eq!(table.drain(), expected);
    }

    #[test]
    fn the_rtl_follows_the_model_with_resets_and_clears_in_mid_flight(
        traffic in prop::collection::vec((any::<bool>(), 0u32..6, any::<bool>(), 0u16..16, 0u8..100), 1..2000),
    ) {
        let mut table = CheckedTable::new(64);
        for (train_valid_i, word, read_i, read_index_i, chance) in traffic {
            if chance == 0 {
                table.instance.reset();
            } else {
                let (train_value_i, clear_i) = (value_of(word, word % 2, 4), chance < 3);
                table.step(VftIn { train_valid_i, train_value_i, read_i, read_index_i, clear_i });
            }
        }
    }
}

/// Trains a word `times` times.
fn repeat(table: &mut CheckedTable, word: u32, times: u16) {
    for _ in 0..times {
        table.train(word);
    }
}

fn counts(table: &mut CheckedTable, set: usize) -> Vec<u16> {
    table.drain()[set * WAYS..(set + 1) * WAYS].iter().map(|entry| entry.count).collect()
}

#[test]
fn a_full_count_halves_its_set_and_no_other() {
    let mut table = CheckedTable::new(1024);
    let [a, b, c, other] = [value_of(1, 9, 8), value_of(2, 9, 8), value_of(3, 9, 8), value_of(4, 10, 8)];
    repeat(&mut table, b, 7);
    repeat(&mut table, c, 1);
    repeat(&mut table, other, 5);
    repeat(&mut table, a, COUNT_MAX);
    assert_eq!(counts(&mut table, 9), [7, 1, COUNT_MAX, 0], "full, and nothing halved");
    table.train(a);
    assert_eq!(counts(&mut table, 9), [3, 0, 2048, 0], "an entry of count 1 is gone");
    assert_eq!(counts(&mut table, 10), [5, 0, 0, 0]);
    assert_eq!(table.lost(), 0);
}

#[test]
fn a_miss_replaces_the_smallest_count_in_the_lowest_way() {
    let mut table = CheckedTable::new(1024);
    for (tag, times) in [(1, 3), (2, 2), (3, 2), (4, 9)] {
        repeat(&mut table, value_of(tag, 0, 8), times);
    }
    table.train(value_of(5, 0, 8));
    let entries = table.drain();
    assert_eq!(entries[1], ValueCount { value: value_of(5, 0, 8), count: 1 });
    assert_eq!((counts(&mut table, 0), table.lost()), (vec![3, 1, 2, 9], 2));
}

#[test]
fn the_lost_count_stops_at_its_end() {
    let mut table = CheckedTable::new(64);
    for tag in 0..=u32::from(LOST_MAX) + 10 {
        table.train(value_of(tag, 3, 4));
    }
    assert_eq!(table.lost(), LOST_MAX);
}

#[test]
fn the_last_of_enough_words_makes_codes_due_until_a_clear() {
    let mut table = CheckedTable::new(1024);
    repeat(&mut table, 7, 255);
    assert!(!table.enough());
    table.train(8);
    assert!(table.enough());
    repeat(&mut table, 9, 3000);
    assert!(table.enough());
    table.clear();
    assert!(!table.enough());
    repeat(&mut table, 7, 256);
    table.instance.reset();
    assert!(!table.enough());
}

#[test]
fn a_reset_empties_the_table() {
    let mut table = CheckedTable::new(1024);
    repeat(&mut table, 7, 20);
    table.instance.reset();
    assert!(table.drain().iter().all(|entry| *entry == ValueCount::default()));
    let fresh = VftOut { train_ready_o: true, ..VftOut::default() };
    assert_eq!(CheckedTable::new(1024).step(VftIn::default()), fresh);
}
