//! Does a cache of any size miss as often as the stack distances of its stream say (Mattson, Gecsei, Slutz, Traiger: Evaluation
//! Techniques for Storage Hierarchies, IBM Systems Journal 9 (2), 1970)?
//!
//! The stack distance of an access is the number of different lines of its set since the last access to its line. Under
//! least-recently-used replacement it hits in every cache with more ways than that and misses in every other.
use crate::lru_lists::{access, held};
use crate::machine::{Machine, Op};
use crate::streams::streams;
use proptest::prelude::*;
use selvedge_sim::cache::TagArray;
use selvedge_sim::config::IndexFunction;
use std::collections::BTreeSet;

/// The stack distance of each access in a cache of the given number of sets; none for the first access to a line.
fn distances(stream: &[u64], sets: u64) -> Vec<Option<usize>> {
    let distance = |now: usize| {
        let last = stream[..now].iter().rposition(|line| *line == stream[now])?;
        let between = stream[last + 1..now].iter().filter(|line| **line % sets == stream[now] % sets);
        Some(between.collect::<BTreeSet<_>>().len())
    };
    (0..stream.len()).map(distance).collect()
}

/// Misses of a cache of `ways` ways.
fn misses(distances: &[Option<usize>], ways: usize) -> u64 {
    distances.iter().filter(|distance| distance.is_none_or(|distance| distance >= ways)).count() as u64
}

#[test]
fn distances_of_a_short_stream_are_those_counted_by_hand() {
    // a b c b a d a: b again after c alone; a again after b and c; a again after d.
    assert_eq!(distances(&[0, 1, 2, 1, 0, 3, 0], 1), [None, None, None, Some(1), Some(2), None, Some(1)]);
    // In two sets, of the even and of the odd lines: nothing lies between the two of b.
    assert_eq!(distances(&[0, 1, 2, 1, 0], 2), [None, None, None, Some(0), Some(1)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// One pass over the stream gives the misses of all sizes; and a cache with a way more holds all that one with a way fewer holds.
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

    /// Loads on the whole machine: the L1D's misses are those of the stream, the L2's those of the stream of L1D misses.
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
