//! Compares chains through the carry flag with integers of any length, also for sums that follow differences.

use super::{kernel_text, own_element, run_words};
use num_bigint::BigUint;
use proptest::prelude::*;

/// Words per number.
const WORDS: usize = 4;

/// Statements that load two numbers of [`WORDS`] words to the registers from `%r1` and from `%r11`.
fn load() -> String {
    (0..2 * WORDS)
        .map(|n| format!("ld.global.u32 %r{}, [%rd0+{}];\n", 10 * (n / WORDS) + n % WORDS + 1, 4 * n))
        .collect()
}

/// Statements of a chain. Its result is in the registers from `%r21`; the flag stays set.
fn chain(name: &str) -> String {
    let first = |n: usize| if n == 0 { "" } else { "c" };
    (1..=WORDS)
        .map(|n| format!("{name}{}.cc.u32 %r{}, %r{n}, %r{};\n", first(n - 1), 20 + n, 10 + n))
        .collect()
}

/// Runs `statements` on one pair of numbers per lane. Returns `%r21` to `%r26` of each lane.
fn run(statements: &str, pairs: &[[Vec<u32>; 2]]) -> Vec<Vec<u32>> {
    let stores: String = (0..6).map(|n| format!("st.global.u32 [%rd0+{}], %r{};\n", 4 * n, 21 + n)).collect();
    let body =
        own_element(32) + &load() + "mov.u32 %r25, 0; mov.u32 %r26, 0;\n" + statements + &stores + "ret;";
    let input: Vec<u32> = pairs.iter().flatten().flatten().copied().collect();
    let (out, _) = run_words(&kernel_text("", &body), pairs.len() as u32, &input).unwrap();
    out.chunks(2 * WORDS).map(|chunk| chunk[..6].to_vec()).collect()
}

fn number(words: &[u32]) -> BigUint {
    BigUint::from_slice(words)
}

fn numbers() -> impl Strategy<Value = Vec<[Vec<u32>; 2]>> {
    let word = prop_oneof![any::<u32>(), Just(0), Just(1), Just(u32::MAX)];
    let words = proptest::collection::vec(word, WORDS);
    proptest::collection::vec([words.clone(), words], 32)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn chains_agree_with_whole_numbers(pairs in numbers()) {
        let all = BigUint::from(1u8) << (32 * WORDS);
        // The flag after the chain: the carry of a sum, or one for a difference without borrow.
        let sums = run(&(chain("add") + "addc.u32 %r25, 0, 0;"), &pairs);
        let differences = run(&(chain("sub") + "addc.u32 %r25, 0, 0;"), &pairs);
        for (lane, [a, b]) in pairs.iter().enumerate() {
            let (a, b) = (number(a), number(b));
            let sum = &a + &b;
            prop_assert_eq!(number(&sums[lane][..WORDS]), &sum % &all);
            prop_assert_eq!(sums[lane][4], u32::from(sum >= all));
            let difference = (&all + &a - &b) % &all;
            prop_assert_eq!(number(&differences[lane][..WORDS]), difference);
            prop_assert_eq!(differences[lane][4], u32::from(a >= b));
        }
    }

    #[test]
    fn sums_and_differences_follow_each_other_through_the_flag(pairs in numbers()) {
        // A carry enters a difference; a borrow enters a difference and a sum.
        let after_sum = run(&(chain("add") + "subc.cc.u32 %r25, 5, 0; addc.u32 %r26, 0, 0;"), &pairs);
        let after_difference = run(&(chain("sub") + "subc.u32 %r25, 5, 0; addc.u32 %r26, 7, 0;"), &pairs);
        for (lane, [a, b]) in pairs.iter().enumerate() {
            let (a, b) = (number(a), number(b));
            let carries = &a + &b >= BigUint::from(1u8) << (32 * WORDS);
            prop_assert_eq!(&after_sum[lane][4..], &[4 + u32::from(carries), 1]);
            let borrows = u32::from(a < b);
            prop_assert_eq!(&after_difference[lane][4..], &[5 - borrows, 8 - borrows]);
        }
    }
}

#[test]
fn the_flag_of_a_difference_says_that_nothing_was_borrowed() {
    let statements = "sub.cc.u32 %r21, 1, 2; addc.u32 %r22, 0, 0; sub.cc.u32 %r23, 2, 1; addc.u32 %r24, 0, 0;\n\
                      sub.cc.u64 %rd5, 1, 2; addc.u64 %rd6, 0, 0; cvt.u32.u64 %r25, %rd6;";
    let out = run(statements, &[[vec![0; WORDS], vec![0; WORDS]]]);
    assert_eq!(out[0], [u32::MAX, 0, 1, 1, 0, 0]);
}
