//! Compares the misses of caches of any size with the stack distances of the accesses (Mattson, Gecsei, Slutz, Traiger:
//! Evaluation Techniques for Storage Hierarchies, IBM Systems Journal 9 (2), 1970).
//!
//! The stack distance of an access is the number of distinct lines of its set since the last access to its line. With LRU
//! replacement, an access hits in each cache with more ways than its distance, and misses in all others.
use crate::lru_lists::{access, held};
use crate::machine::{Machine, Op};
use crate::streams::streams;
use proptest::prelude::*;
use selvedge_sim::cache::TagArray;
use selvedge_sim::config::IndexFunction;
use std::collections::BTreeSet;

/// Returns the stack distance of each access in a cache with this number of sets; `None` for the first access to a line.
fn distances(stream: &[u64], sets: u64) -> Vec<Option<usize>> {
    let distance = |now: usize| {
        let last = stream[..now].iter().rposition(|line| *line == stream[now])?;
        let between = stream[last + 1..now].iter().filter(|line| **line % sets == stream[now] % sets);
        Some(between.collect::<BTreeSet<_>>().len())
    };
    (0..stream.len()).map(distance).collect()
}

/// Returns the number of misses of a cache with `ways` ways.
fn misses(distances: &[Option<usize>], ways: usize) -> u64 {
    distances.iter().filter(|distance| distance.is_none_or(|distance| distance >= ways)).count() as u64
}

#[test]
fn distances_of_a_short_stream_are_those_counted_by_hand() {
    // a b c b a d a: only c is between both b; b and c between the first two a; d between the last two.
    assert_eq!(distances(&[0, 1, 2, 1, 0, 3, 0], 1), [None, None, None, Some(1), Some(2), None, Some(1)]);
    // In two sets, of even and odd lines, no line of the set is between both b.
    assert_eq!(distances(&[0, 1, 2, 1, 0], 2), [None, None, None, Some(0), Some(1)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// One pass over the stream gives the misses for all sizes. A cache with one more way holds a superset of the lines.
    #[test]
    fn tag_arrays_of_all_ways_miss_as_the_distances_say_and_hold_each_other(
        sets in 1u32..9,
        stream in (1u64..200).prop_flat_map(|lines| streams(lines + 1, 200)),
    ) {
        let distances = distances(&stream, sets.into());
        let mut arrays: Vec<TagArray<()>> =
            (1..20).map(|ways| TagArray::new(sets, ways, 128, IndexFunction::Bmod)).collect();
        let mut missed = vec![0; arrays.len()];
        for line in &stream {
            for (tags, missed) in arrays.iter_mut().zip(&mut missed) {
                *missed += u64::from(!access(tags, *line).0);
            }
            for pair in arrays.windows(2) {
                let large: BTreeSet<u64> = held(&pair[1]).into_iter().collect();
                prop_assert!(held(&pair[0]).iter().all(|line| large.contains(line)), "line {}", line);
            }
        }
        for (ways, missed) in (1..).zip(missed) {
            prop_assert_eq!(missed, misses(&distances, ways), "{} ways", ways);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Loads on the whole GPU: the L1D's misses follow from the stream, the L2's from the stream of L1D misses.
    #[test]
    fn l1d_and_l2_miss_as_the_distances_say(
        l1d in (0u32..3, 1u32..9),
        l2 in (0u32..3, 1u32..13),
        stream in streams(80, 200),
    ) {
        let mut machine = Machine::new(|config| {
            (config.l1d.sets, config.l1d.ways) = (1 << l1d.0, l1d.1);
            (config.l2.sets, config.l2.ways) = (1 << l2.0, l2.1);
        });
        machine.run(&stream.iter().map(|line| (Op::Load, *line)).collect::<Vec<_>>());
        let first = distances(&stream, 1 << l1d.0);
        let missed = misses(&first, l1d.1 as usize);
        let is_miss = |distance: &Option<usize>| distance.is_none_or(|distance| distance >= l1d.1 as usize);
        let below: Vec<u64> =
            stream.iter().zip(&first).filter(|(_, distance)| is_miss(distance)).map(|(line, _)| *line).collect();
        let missed_below = misses(&distances(&below, 1 << l2.0), l2.1 as usize);
        let counted = machine.counters();
        prop_assert_eq!(counted.l1d_reads, (stream.len() as u64 - missed, missed));
        prop_assert_eq!(counted.l2_reads, (missed - missed_below, missed_below));
    }
}
