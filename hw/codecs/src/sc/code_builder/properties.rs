//! Properties of the code builder, with the RTL in lockstep. Codes are prefix-free, complete, within the limit and in canonical
//! order, with minimum total length and the table's values, in the stated cycles.
use crate::sc::code_builder::{CodeBuilderIn, CodeBuilderOut, CodeBuilderParams, ScCodeBuilder, code_cycles};
use crate::sc::huffman::{CodeBook, CountedValue, ScSymbol, SymbolCode, limited_lengths};
use crate::sc::vft::{ScVft, ValueCount, VftIn, VftParams};
use proptest::prelude::*;
use selvedge_hw::{Engine, HwBlock, Instance};
use std::collections::VecDeque;

/// An accepted code and its cycle, counted from the start.
type TakenCode = (u64, CodeBuilderOut);

/// Builds codes from a table that replies `delay` cycles after a read. `ready` returns whether a code is accepted in a cycle.
fn build(
    builder: &mut Instance<ScCodeBuilder>,
    table: &[ValueCount],
    escape_weight_i: u16,
    delay: u64,
    mut ready: impl FnMut(u64) -> bool,
) -> Vec<TakenCode> {
    let mut reads: VecDeque<(u64, u16)> = VecDeque::new();
    let mut codes: Vec<TakenCode> = Vec::new();
    let mut shown: Option<CodeBuilderOut> = None;
    for cycle in 0.. {
        let answer =
            reads.front().filter(|(due, _)| *due == cycle).map(|(_, index)| table[usize::from(*index)]);
        if answer.is_some() {
            reads.pop_front();
        }
        let entry = answer.unwrap_or_default();
        let inputs = CodeBuilderIn {
            start_i: cycle == 0,
            escape_weight_i,
            read_valid_i: answer.is_some(),
            read_value_i: entry.value,
            read_count_i: entry.count,
            code_ready_i: ready(cycle),
        };
        let outputs = builder.step(&inputs).unwrap();
        assert_eq!(outputs.busy_o, cycle > 0);
        if outputs.read_o {
            reads.push_back((cycle + delay, outputs.read_index_o));
        }
        if let Some(shown) = shown {
            assert_eq!(
                CodeBuilderOut { read_o: false, read_index_o: 0, ..outputs },
                shown,
                "a code that waits stays"
            );
        }
        let code = CodeBuilderOut { read_o: false, read_index_o: 0, ..outputs };
        shown = (outputs.code_valid_o && !inputs.code_ready_i).then_some(code);
        if outputs.code_valid_o && inputs.code_ready_i {
            codes.push((cycle, outputs));
            if outputs.code_last_o {
                return codes;
            }
        }
    }
    unreachable!("a build ends")
}

fn builder(params: &CodeBuilderParams) -> Instance<ScCodeBuilder> {
    Instance::new("builder", params, Engine::Lockstep).unwrap()
}

fn book(table: &[ValueCount], escape_weight: u16, max_bits: usize) -> CodeBook {
    let counted = table.iter().enumerate();
    let counted = counted.map(|(index, entry)| CountedValue {
        index: index as u16,
        value: entry.value,
        count: entry.count,
    });
    CodeBook::build(counted, u32::from(escape_weight), max_bits as u32)
}

/// Checks each property of the code book for the codes separately.
fn check(
    codes: &[TakenCode],
    table: &[ValueCount],
    escape_weight: u16,
    max_bits: usize,
) -> Result<(), TestCaseError> {
    let codes: Vec<&CodeBuilderOut> = codes.iter().map(|(_, code)| code).collect();
    let existing = table.iter().filter(|entry| entry.count > 0).count();
    prop_assert_eq!(codes.len(), existing + 1);
    prop_assert_eq!(codes.iter().filter(|code| code.code_escape_o).count(), 1);
    let weight = |code: &CodeBuilderOut| match code.code_escape_o {
        true => u64::from(escape_weight),
        false => u64::from(table[usize::from(code.code_index_o)].count),
    };
    let mut end = 0u32;
    for (place, code) in codes.iter().enumerate() {
        let length = usize::from(code.code_length_o);
        prop_assert!((1..=max_bits).contains(&length));
        prop_assert_eq!((code.code_first_o, code.code_last_o), (place == 0, place == existing));
        // Left-aligned, every code begins at the end of the previous one: no code lies within another, and none is missing.
        prop_assert_eq!(u32::from(code.code_code_o) << (16 - length), end);
        end += 1 << (16 - length);
        if !code.code_escape_o {
            prop_assert!(weight(code) > 0);
            prop_assert_eq!(code.code_value_o, table[usize::from(code.code_index_o)].value);
        }
    }
    prop_assert_eq!(end, if existing == 0 { 1 << 15 } else { 1 << 16 });
    let key = |code: &CodeBuilderOut| {
        (u64::MAX - weight(code), if code.code_escape_o { u16::MAX } else { code.code_index_o })
    };
    prop_assert!(codes.is_sorted_by_key(|code| key(code)), "canonical order");
    let total: u64 = codes.iter().map(|code| weight(code) * u64::from(code.code_length_o)).sum();
    let least = least_total(table, escape_weight, max_bits);
    prop_assert!(total >= least);
    if limited_lengths(&weights(table, escape_weight), max_bits as u32).depth <= max_bits {
        prop_assert_eq!(total, least, "the limit is not hit");
    }
    Ok(())
}

/// Returns the weights of the existing entries and of the escape symbol, in descending order.
fn weights(table: &[ValueCount], escape_weight: u16) -> Vec<u32> {
    let counts = table.iter().map(|entry| u32::from(entry.count)).filter(|count| *count > 0);
    let mut weights: Vec<u32> = counts.chain([u32::from(escape_weight)]).collect();
    weights.sort_unstable_by(|one, other| other.cmp(one));
    weights
}

/// Returns the minimum total length under a limit, level by level from the root. At each level, some of the heaviest remaining
/// symbols take a node each, and each remaining symbol gets one bit more. More nodes than remaining symbols are useless.
fn least_total(table: &[ValueCount], escape_weight: u16, max_bits: usize) -> u64 {
    let weights: Vec<u64> = weights(table, escape_weight).into_iter().map(u64::from).collect();
    let symbols = weights.len();
    let left: Vec<u64> = (0..=symbols).map(|placed| weights[placed..].iter().sum()).collect();
    let (mut cost, mut best) = (vec![vec![u64::MAX; symbols + 1]; symbols + 1], u64::MAX);
    cost[0][1] = 0;
    for _ in 0..max_bits {
        let mut next = vec![vec![u64::MAX; symbols + 1]; symbols + 1];
        for placed in 0..=symbols {
            for open in (0..=symbols).filter(|open| cost[placed][*open] < u64::MAX) {
                let (nodes, total) = (2 * open, cost[placed][open] + left[placed]);
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

/// Returns a table of 64 entries: empty to full, with equal, steep or random counts.
fn table() -> impl Strategy<Value = Vec<ValueCount>> {
    let fibonacci = [1u16, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4095];
    let count = prop_oneof![Just(0u16), Just(9), 0u16..4096, prop::sample::select(fibonacci.to_vec()),];
    let mixed = prop::collection::vec((any::<u32>(), count), 64);
    let steep = prop::collection::vec(any::<u32>(), 64).prop_map(move |values| {
        let count = move |place: usize| fibonacci.get(place / 3).copied().unwrap_or_default();
        values.into_iter().enumerate().map(|(place, value)| (value, count(place))).collect()
    });
    let few = (prop::collection::vec((any::<u32>(), 1u16..4096), 0..4), 0usize..60).prop_map(|(some, at)| {
        let mut all = vec![(0, 0); at];
        all.extend(some);
        all.resize(64, (0, 0));
        all
    });
    prop_oneof![mixed, steep, few]
        .prop_map(|list| list.into_iter().map(|(value, count)| ValueCount { value, count }).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn codes_are_complete_short_and_in_order_under_any_stalls(
        tables in prop::collection::vec((table(), 0u16..1 << 14, any::<bool>()), 1..3),
        max_code_bits in prop_oneof![Just(12usize), Just(16)],
        delay in 1u64..5,
        stalls in 1u64..5,
    ) {
        let mut builder = builder(&CodeBuilderParams { entries: 64, max_code_bits });
        for (table, escape_weight, no_escapes) in tables {
            let escape_weight = if no_escapes { 0 } else { escape_weight };
            let codes = build(&mut builder, &table, escape_weight, delay, |cycle| cycle % stalls == 0);
            check(&codes, &table, escape_weight, max_code_bits)?;
        }
    }

    #[test]
    fn a_build_takes_the_cycles_that_are_stated(
        table in table(),
        escape_weight in 0u16..1 << 14,
        max_code_bits in prop_oneof![Just(12usize), Just(16)],
        delay in 1u64..5,
    ) {
        let params = CodeBuilderParams { entries: 64, max_code_bits };
        let codes = build(&mut builder(&params), &table, escape_weight, delay, |_| true);
        let mut expected = 1 + 64 + delay + code_cycles(&params, &weights(&table, escape_weight));
        let mut length = 1;
        for (cycle, code) in &codes {
            expected += u64::from(code.code_length_o - length);
            length = code.code_length_o;
            expected += if code.code_escape_o { 1 } else { 2 + delay };
            prop_assert_eq!(*cycle, expected);
        }
    }
}

/// Returns a full table of the default size with the given counts.
fn full_table(count: impl Fn(usize) -> u16) -> Vec<ValueCount> {
    (0..1024)
        .map(|place| ValueCount { value: (place as u32).wrapping_mul(0x0101_4321), count: count(place) })
        .collect()
}

#[test]
fn full_tables_of_the_default_size_give_the_golden_codes() {
    let tables = [
        full_table(|_| 1),
        full_table(|place| 1 + (4000 >> (place % 16))),
        full_table(|place| 4095 - place as u16),
        full_table(|place| if place % 3 == 0 { 4095 } else { 1 }),
    ];
    let mut builder = builder(&CodeBuilderParams::default());
    for (table, escape_weight) in tables.iter().zip([0, 7, 16_383, 0]) {
        let codes = build(&mut builder, table, escape_weight, 2, |_| true);
        let golden = book(table, escape_weight, 16);
        let given: Vec<(u16, u8)> =
            codes.iter().map(|(_, code)| (code.code_code_o, code.code_length_o)).collect();
        let expected: Vec<(u16, u8)> = golden.codes().iter().map(|code| (code.bits, code.length)).collect();
        assert_eq!(given, expected);
    }
}

#[test]
fn the_facts_hold_for_a_full_table() {
    let params = CodeBuilderParams::default();
    let facts = ScCodeBuilder::facts(&params);
    for (count, exact) in [(1u16, true), (0, false)] {
        let table = full_table(|place| if count > 0 { count } else { 1 + (4000 >> (place % 16)) });
        let codes = build(&mut builder(&params), &table, 0, 2, |_| true);
        let (first, last) = (codes[0].0, codes[codes.len() - 1].0);
        println!("first code after {first} cycles, last after {last}");
        assert!(first <= u64::from(facts.latency) && last < u64::from(facts.interval));
        assert!(
            !exact || first == u64::from(facts.latency),
            "equal counts make the first code as long as can be"
        );
    }
}

#[test]
fn a_reset_in_any_stage_leaves_no_trace() {
    let params = CodeBuilderParams { entries: 64, max_code_bits: 16 };
    let table: Vec<ValueCount> =
        (0..64).map(|place| ValueCount { value: place, count: place as u16 * 5 % 17 }).collect();
    let mut builder = builder(&params);
    let whole = build(&mut builder, &table, 40, 2, |_| true);
    let end = whole[whole.len() - 1].0;
    for cycles in (1..end).step_by(37) {
        builder.step(&CodeBuilderIn { start_i: true, ..CodeBuilderIn::default() }).unwrap();
        for cycle in 0..cycles {
            let entry = table[(cycle % 64) as usize];
            let inputs =
                CodeBuilderIn { read_valid_i: true, read_count_i: entry.count, ..CodeBuilderIn::default() };
            builder.step(&inputs).unwrap();
        }
        builder.reset();
        assert_eq!(build(&mut builder, &table, 40, 2, |_| true), whole);
    }
}

/// The two blocks connected as in the GPU: the builder makes the codes of the counted words.
#[test]
fn table_and_builder_make_the_codes_of_the_words() {
    let mut table = Instance::<ScVft>::new("vft", &VftParams::default(), Engine::Lockstep).unwrap();
    let mut builder = builder(&CodeBuilderParams::default());
    let words: Vec<u32> = (0u32..3000).map(|number| (number * number) % 701 * 0x0001_0003).collect();
    for word in &words {
        table.step(&VftIn { train_valid_i: true, train_value_i: *word, ..VftIn::default() }).unwrap();
    }
    table.step(&VftIn::default()).unwrap();
    let mut answer = table.step(&VftIn::default()).unwrap();
    let mut codes = Vec::new();
    for cycle in 0u64.. {
        let built = builder
            .step(&CodeBuilderIn {
                start_i: cycle == 0,
                escape_weight_i: answer.lost_o,
                read_valid_i: answer.read_valid_o,
                read_value_i: answer.read_value_o,
                read_count_i: answer.read_count_o,
                code_ready_i: true,
            })
            .unwrap();
        // The replies reach the builder one cycle later, as through a register.
        answer = table
            .step(&VftIn { read_i: built.read_o, read_index_i: built.read_index_o, ..VftIn::default() })
            .unwrap();
        if built.code_valid_o {
            codes.push(built);
        }
        if built.code_valid_o && built.code_last_o {
            break;
        }
    }
    let mut entries = Vec::new();
    for index in 0..1024 + 2 {
        let inputs = VftIn { read_i: true, read_index_i: index % 1024, ..VftIn::default() };
        let outputs = table.step(&inputs).unwrap();
        entries.push(ValueCount { value: outputs.read_value_o, count: outputs.read_count_o });
    }
    let golden = book(&entries[2..], answer.lost_o, 16);
    assert!(answer.lost_o > 0 && golden.codes().len() > 200, "a table with some conflicts");
    assert_eq!(codes.len(), golden.codes().len());
    for (code, golden) in codes.iter().zip(golden.codes()) {
        let symbol = match code.code_escape_o {
            true => ScSymbol::Escape,
            false => ScSymbol::Value { index: code.code_index_o, value: code.code_value_o },
        };
        let given = SymbolCode { symbol, bits: code.code_code_o, length: code.code_length_o };
        assert_eq!(given, *golden);
    }
}

#[test]
fn an_escape_comes_behind_the_entries_of_its_weight() {
    let params = CodeBuilderParams { entries: 64, ..CodeBuilderParams::default() };
    let mut table = vec![ValueCount::default(); 64];
    for (place, count) in [(3, 9), (7, 5), (20, 5), (40, 1)] {
        table[place] = ValueCount { value: place as u32, count };
    }
    let codes = build(&mut builder(&params), &table, 5, 2, |_| true);
    let order: Vec<Option<u16>> =
        codes.iter().map(|(_, code)| (!code.code_escape_o).then_some(code.code_index_o)).collect();
    assert_eq!(order, [Some(3), Some(7), Some(20), None, Some(40)]);
}
