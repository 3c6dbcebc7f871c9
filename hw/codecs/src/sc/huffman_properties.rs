//! The arithmetic of SC against independent algorithms. The codes are prefix-free, complete, within the limit and in canonical
//! order. Their total length is minimal if the limit is not reached, and lines round-trip.
use crate::sc::huffman::{CodeBook, CodeLengths, CountedValue, ScSymbol, canonical_codes, limited_lengths};
use proptest::prelude::*;
use std::collections::BinaryHeap;

/// Returns the minimum total length, level by level from the root. At each level, the heaviest remaining symbols may take some of
/// the open nodes, and each remaining symbol gets one bit more. `weights` must be in descending order.
fn least_total(weights: &[u32], max_bits: u32) -> u64 {
    let symbols = weights.len();
    let left: Vec<u64> =
        (0..=symbols).map(|placed| weights[placed..].iter().map(|w| u64::from(*w)).sum()).collect();
    // cost[placed][open]: minimum cost with `placed` coded symbols and `open` nodes of this level without a code, capped at the
    // useful number.
    let mut cost = vec![vec![u64::MAX; symbols + 1]; symbols + 1];
    cost[0][1] = 0;
    let mut best = u64::MAX;
    for _ in 0..max_bits {
        let mut next = vec![vec![u64::MAX; symbols + 1]; symbols + 1];
        for (placed, by_open) in cost.iter().enumerate() {
            for (open, so_far) in by_open.iter().enumerate().filter(|(_, cost)| **cost < u64::MAX) {
                let (nodes, total) = (2 * open, so_far + left[placed]);
                for leaves in 0..=nodes.min(symbols - placed) {
                    let state = &mut next[placed + leaves][(nodes - leaves).min(symbols)];
                    *state = total.min(*state);
                }
            }
        }
        best = best.min(*next[symbols].iter().min().expect("there are states"));
        cost = next;
    }
    best
}

/// Returns the minimum total length by Huffman's algorithm without a limit, and the longest code if ties prefer shallow trees.
fn huffman(weights: &[u32]) -> (u64, u32) {
    let mut nodes: BinaryHeap<_> =
        weights.iter().map(|weight| std::cmp::Reverse((u64::from(*weight), 0u32))).collect();
    let mut total = 0;
    while let (Some(std::cmp::Reverse(one)), Some(std::cmp::Reverse(other))) = (nodes.pop(), nodes.pop()) {
        total += one.0 + other.0;
        let node = (one.0 + other.0, 1 + one.1.max(other.1));
        if nodes.is_empty() {
            return (total, node.1);
        }
        nodes.push(std::cmp::Reverse(node));
    }
    unreachable!("two symbols at least")
}

fn total(weights: &[u32], lengths: &[u8]) -> u64 {
    weights.iter().zip(lengths).map(|(weight, length)| u64::from(*weight) * u64::from(*length)).sum()
}

/// Returns descending weights: few distinct values (ties), any values, or Fibonacci growth.
fn weights(most: usize) -> impl Strategy<Value = Vec<u32>> {
    let fibonacci = (2..most.min(40)).prop_map(|count| {
        let mut pair = (1u32, 1u32);
        (0..count)
            .map(|_| {
                pair = (pair.1, pair.0.saturating_add(pair.1).min(1 << 20));
                pair.0
            })
            .collect()
    });
    let any = |top: u32| prop::collection::vec(0..=top, 1..most);
    prop_oneof![any(3), any(4095), any(1 << 14), fibonacci].prop_map(|mut weights: Vec<u32>| {
        weights.sort_unstable_by(|a, b| b.cmp(a));
        weights
    })
}

fn entries(most: usize) -> impl Strategy<Value = Vec<CountedValue>> {
    prop::collection::vec((any::<u32>(), prop_oneof![0u16..4, 0u16..4096]), 0..most).prop_map(|list| {
        let indexed = list.into_iter().enumerate();
        let mut list: Vec<CountedValue> = indexed
            .map(|(index, (value, count))| CountedValue { index: index as u16, value, count })
            .collect();
        list.sort_by_key(|entry| entry.value);
        list.dedup_by_key(|entry| entry.value);
        list
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn only_a_limit_that_is_hit_costs_bits(weights in weights(24), slack in 0u32..4) {
        let max_bits = (weights.len().next_power_of_two().ilog2() + slack).max(1);
        let CodeLengths { lengths, depth, .. } = limited_lengths(&weights, max_bits);
        prop_assert!(lengths.iter().all(|length| (1..=max_bits).contains(&u32::from(*length))), "{:?}", lengths);
        prop_assert!(lengths.is_sorted());
        let shares: u64 = lengths.iter().map(|length| 1 << (max_bits - u32::from(*length))).sum();
        prop_assert!(weights.len() == 1 || shares == 1 << max_bits, "{:?}", lengths);
        let (own, least) = (total(&weights, &lengths), least_total(&weights, max_bits));
        prop_assert!(own >= least);
        if depth <= max_bits as usize {
            prop_assert_eq!(own, least);
        }
    }

    #[test]
    fn without_need_of_the_limit_the_total_is_huffmans(weights in weights(1025)) {
        if weights.len() > 1 {
            let (least, depth) = huffman(&weights);
            let CodeLengths { lengths, depth: own_depth, .. } = limited_lengths(&weights, 16);
            prop_assert_eq!(own_depth, depth as usize, "the tree is no deeper than need be");
            prop_assert!(total(&weights, &lengths) >= least);
            if depth <= 16 {
                prop_assert_eq!(total(&weights, &lengths), least);
            }
        }
    }

    #[test]
    fn codes_are_prefix_free_complete_and_rise(weights in weights(1025), max_bits in prop_oneof![Just(12u32), Just(16)]) {
        let lengths = limited_lengths(&weights, max_bits).lengths;
        let kraft: u64 = lengths.iter().map(|length| 1 << (16 - length)).sum();
        prop_assert_eq!(kraft, if weights.len() == 1 { 1 << 15 } else { 1 << 16 });
        prop_assert!(lengths.is_sorted());
        // Left-aligned, each code owns the numbers up to the next code: no code lies within another.
        let mut end = 0;
        for (code, length) in canonical_codes(&lengths).iter().zip(&lengths) {
            prop_assert_eq!(u32::from(*code) << (16 - length), end);
            end += 1 << (16 - length);
        }
    }

    #[test]
    fn the_book_has_every_counted_entry_and_the_escape_in_canonical_order(
        entries in entries(300),
        escape_weight in 0u32..1 << 14,
    ) {
        let book = CodeBook::build(entries.iter().copied(), escape_weight, 16);
        let counted = entries.iter().filter(|entry| entry.count > 0);
        prop_assert_eq!(book.codes().len(), counted.clone().count() + 1);
        for entry in counted {
            let symbol = ScSymbol::Value { index: entry.index, value: entry.value };
            prop_assert_eq!(book.code_of(entry.value).map(|code| code.symbol), Some(symbol));
        }
        let key = |symbol: ScSymbol| match symbol {
            ScSymbol::Value { index, .. } => {
                let entry = entries.iter().find(|entry| entry.index == index).unwrap();
                (u32::MAX - u32::from(entry.count), u32::from(index))
            }
            ScSymbol::Escape => (u32::MAX - escape_weight, u32::MAX),
        };
        prop_assert!(book.codes().is_sorted_by_key(|code| key(code.symbol)));
    }

    #[test]
    fn words_come_back(
        entries in entries(300),
        escape_weight in 0u32..1 << 14,
        picks in prop::collection::vec((any::<u32>(), any::<bool>()), 1..64),
    ) {
        let book = CodeBook::build(entries.iter().copied(), escape_weight, 16);
        let known = |pick: u32| entries.get(pick as usize % entries.len().max(1)).map(|entry| entry.value);
        let words: Vec<u32> =
            picks.iter().map(|(pick, known_one)| known(*pick).filter(|_| *known_one).unwrap_or(*pick)).collect();
        let bits = book.encode(&words);
        prop_assert_eq!(bits.len(), words.iter().map(|word| book.bits_of(*word)).sum::<usize>());
        prop_assert_eq!(book.decode(bits.words(), words.len()), Some((words, bits.len())));
    }
}

#[test]
fn the_limit_flattens_fibonaccis_tree() {
    let weights = [13, 8, 5, 3, 2, 1, 1];
    assert_eq!(limited_lengths(&weights, 16).lengths, [1, 2, 3, 4, 5, 6, 6]);
    assert_eq!(limited_lengths(&weights, 4).lengths, [1, 3, 3, 4, 4, 4, 4]);
    assert_eq!(limited_lengths(&weights, 3).lengths, [2, 3, 3, 3, 3, 3, 3]);
}

#[test]
fn an_empty_table_codes_everything_by_the_escape() {
    let book = CodeBook::build([], 0, 16);
    assert_eq!((book.codes().len(), book.escape().bits, book.escape().length), (1, 0, 1));
    let bits = book.encode(&[0xdead_beef]);
    assert_eq!((bits.len(), bits.words()), (33, &[0xdead_beef << 1][..]));
}
