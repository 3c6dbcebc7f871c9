//! Properties of the set index functions: one-to-one mapping of consecutive lines, the load of each set, and strides that the
//! modulo mapping fails on. The hardware computes the same in the stated cycle.
use crate::BLOCKS;
use crate::set_index::IndexFunction::{APrime, Bmod, Bxor, DPrime, IPoly, Pmod};
use crate::set_index::{IndexFunction, LineIn};
use proptest::prelude::*;
use selvedge_hw::{BlockEntry, Prng};
use serde_json::{Value, json};

const SETS: [u32; 7] = [16, 32, 64, 128, 256, 512, 1024];

/// Functions that map 2^k consecutive lines, from a multiple of 2^k on, to 2^k sets.
const ONE_TO_ONE: [IndexFunction; 6] =
    [Bmod, Bxor, IPoly, DPrime { prime: 11 }, DPrime { prime: 19 }, DPrime { prime: 31 }];

/// Returns every block with every choice of its parameters, and the function that it should compute.
fn named(name: &str) -> &'static dyn BlockEntry {
    *BLOCKS.iter().find(|block| block.name() == name).expect("a block of this crate")
}
fn blocks() -> Vec<(&'static dyn BlockEntry, Value, IndexFunction)> {
    let mut blocks = Vec::new();
    for sets in [16, 32, 64, 128] {
        let mut add = |name: &str, params: Value, function| blocks.push((named(name), params, function));
        for (name, function) in [
            ("set_index_bmod", Bmod),
            ("set_index_bxor", Bxor),
            ("set_index_pmod", Pmod),
            ("set_index_i_poly", IPoly),
        ] {
            add(name, json!({ "sets": sets }), function);
        }
        for mersenne in [false, true] {
            add("set_index_a_prime", json!({ "sets": sets, "mersenne": mersenne }), APrime { mersenne });
        }
        for prime in [11, 19, 31] {
            add("set_index_d_prime", json!({ "sets": sets, "prime": prime }), DPrime { prime });
        }
    }
    blocks
}

/// Returns the number of lines per set.
fn load(function: IndexFunction, sets: u32, lines: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut load = vec![0; sets as usize];
    for line in lines {
        load[function.index(line, sets) as usize] += 1;
    }
    load
}

fn functions() -> impl Iterator<Item = IndexFunction> {
    ONE_TO_ONE.into_iter().chain([Pmod, APrime { mersenne: false }, APrime { mersenne: true }])
}

proptest! {
    #[test]
    fn aligned_neighbours_fall_on_every_set_once(block in any::<u32>(), which in 0..SETS.len()) {
        let sets = SETS[which];
        let first = block & !(sets - 1);
        for function in ONE_TO_ONE {
            let load = load(function, sets, (0..sets).map(|i| first + i));
            prop_assert!(load.iter().all(|times| *times == 1), "{:?}, {} sets from {:#x}", function, sets, first);
        }
    }

    #[test]
    fn an_index_is_at_most_the_highest(line in any::<u32>(), which in 0..SETS.len()) {
        for function in functions() {
            prop_assert!(function.index(line, SETS[which]) <= function.highest(SETS[which]));
        }
    }

    #[test]
    fn tags_that_differ_in_the_next_bits_never_share_a_set(line in any::<u32>(), tag in any::<u32>(), which in 0..SETS.len()) {
        // The same x with a different t: BMOD maps both lines to the same set.
        let sets = SETS[which];
        let t = sets * (sets - 1);
        let other = (line & !t) | (tag & t);
        for function in [Bxor, IPoly, DPrime { prime: 11 }, DPrime { prime: 19 }, DPrime { prime: 31 }] {
            let same = function.index(line, sets) == function.index(other, sets);
            prop_assert_eq!(same, line == other, "{:?}: {:#x} and {:#x}", function, line, other);
        }
        prop_assert_eq!(Bmod.index(line, sets), Bmod.index(other, sets));
    }

    #[test]
    fn i_poly_and_bxor_are_linear(a in any::<u32>(), b in any::<u32>(), which in 0..SETS.len()) {
        let sets = SETS[which];
        for function in [Bxor, IPoly] {
            prop_assert_eq!(function.index(a ^ b, sets), function.index(a, sets) ^ function.index(b, sets));
        }
    }
}

#[test]
fn a_period_of_a_prime_function_loads_the_sets_as_stated() {
    for sets in SETS {
        let below = Pmod.prime(sets).unwrap();
        let pmod = load(Pmod, sets, 0..below);
        assert_eq!(pmod.iter().filter(|times| **times == 1).count() as u32, below);
        assert!(
            pmod[below as usize..].iter().all(|times| *times == 0),
            "{sets} sets: the last ones stay empty"
        );
    }
    // 17 residues on 16 sets, 31 residues on 16 partitions.
    let twice = |function, period| load(function, 16, 0..period).iter().filter(|times| **times == 2).count();
    assert_eq!(twice(APrime { mersenne: false }, 17), 1);
    assert_eq!(twice(APrime { mersenne: true }, 31), 15);
}

#[test]
fn a_stride_of_the_number_of_sets_camps_on_one_set_under_bmod_only() {
    for sets in SETS {
        let strided = || (0..sets).map(|i| i * sets);
        assert_eq!(load(Bmod, sets, strided())[0], sets);
        let used =
            |function| load(function, sets, strided()).iter().filter(|times| **times > 0).count() as u32;
        for function in functions().filter(|function| !matches!(function, Bmod | APrime { mersenne: true })) {
            assert!(used(function) >= sets / 2, "{function:?} uses {} of {sets} sets", used(function));
        }
        // Modulo 2^m - 1, a multiplication by 2^k is a rotation: only 2k - m of the k varying bits reach the index.
        let mersenne_bits = APrime { mersenne: true }.prime(sets).unwrap().count_ones();
        let expected = 1 << (2 * sets.ilog2()).saturating_sub(mersenne_bits);
        assert_eq!(used(APrime { mersenne: true }), expected, "{sets} sets");
    }
}

#[test]
fn the_rtl_computes_the_function_of_the_last_line() {
    for (block, params, function) in blocks() {
        let sets = params["sets"].as_u64().unwrap() as u32;
        let mut rtl = block.rtl(&params).unwrap();
        let mut prng = Prng::new(u64::from(sets));
        let mut last: Option<u32> = None;
        let mut held = 0;
        // A chunk of the address counts up while the other bits are all zero, all one or random.
        let lines = (0..8).flat_map(|chunk| {
            let rest = [0, u32::MAX, prng.bits() as u32][chunk % 3];
            (0..256u32)
                .map(move |value| (rest & !(0xff << (4 * chunk).min(24))) | (value << (4 * chunk).min(24)))
        });
        for line in lines.chain([u32::MAX, 0]) {
            let outputs = rtl.step(&[vec![1], vec![u64::from(line)]]);
            if let Some(last) = last {
                held = function.index(last, sets);
            }
            assert_eq!(
                outputs,
                [vec![u64::from(last.is_some())], vec![u64::from(held)]],
                "{} {params}",
                block.name()
            );
            last = Some(line);
        }
        rtl.reset();
        assert_eq!(rtl.step(&[vec![0], vec![0]]), [vec![0], vec![0]], "reset clears the index");
    }
}

#[test]
fn a_line_exists_only_with_its_valid_flag() {
    use crate::set_index::SetIndexIn;
    assert_eq!(SetIndexIn { valid_i: false, line_i: 7 }.line(), None);
    assert_eq!(SetIndexIn::of(Some(7)), SetIndexIn { valid_i: true, line_i: 7 });
}
