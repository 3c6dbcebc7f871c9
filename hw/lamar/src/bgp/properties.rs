//! Properties of the BGP under random traffic: every recent insertion hits, cleared arrays reply with the default, the newly
//! active array holds half a period, a flip clears the filter, and the RTL does the same in the same cycles.
use crate::bgp::{Bgp, BgpIn, BgpOut, BgpParams};
use proptest::prelude::*;
use selvedge_hw::Clocked;
use selvedge_hw::lockstep::{CycleInputs, Lockstep, assert_agree};

/// Returns an operation with one of few addresses or any address, and random used sectors.
fn operation() -> impl Strategy<Value = Option<BgpIn>> {
    let address = prop_oneof![0u32..600, any::<u32>()];
    let inputs =
        (any::<bool>(), any::<bool>(), address, 0u8..16).prop_map(|(query_i, evict_i, address_i, used_i)| {
            Some(BgpIn { query_i, evict_i, address_i, used_i })
        });
    prop_oneof![2000 => inputs, 1 => Just(None)]
}

fn traffic() -> impl Strategy<Value = CycleInputs<Bgp>> {
    proptest::collection::vec(operation(), 1..4000)
}

/// Evicts a block whose locality contradicts the default (`contradicting`) or agrees with it.
fn evict(bgp: &mut Lockstep<Bgp>, address_i: u32, contradicting: bool) {
    let coarse = peek(bgp).default_coarse_o;
    let used_i = if coarse == contradicting { 0b0001 } else { 0b1111 };
    bgp.step(&BgpIn { evict_i: true, address_i, used_i, ..BgpIn::default() });
}

/// Returns the registered outputs. This takes an idle cycle.
/// Returns whether the block is in the filter, so that its prediction is the opposite of the default.
fn peek(bgp: &mut Lockstep<Bgp>) -> BgpOut {
    bgp.step(&BgpIn::default())
}
fn holds(bgp: &mut Lockstep<Bgp>, address_i: u32) -> bool {
    bgp.step(&BgpIn { query_i: true, address_i, ..BgpIn::default() });
    let answer = peek(bgp);
    answer.coarse_o != answer.default_coarse_o
}

/// Inserts addresses without a flip: each insertion is followed by an agreeing eviction, which keeps the skew at one half.
fn insert_all(bgp: &mut Lockstep<Bgp>, addresses: &[u32]) {
    for address in addresses {
        evict(bgp, *address, true);
        evict(bgp, 0, false);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_false_negative_among_the_last_half_period(
        addresses in proptest::collection::vec(any::<u32>(), 1..1500),
        period in prop_oneof![Just(512u32), Just(1024)],
    ) {
        let params = BgpParams { refresh_period: period, ..BgpParams::default() };
        let mut bgp = Lockstep::<Bgp>::new(&params);
        insert_all(&mut bgp, &addresses);
        let retained = addresses.len().min(params.half_period() as usize);
        for address in &addresses[addresses.len() - retained..] {
            prop_assert!(holds(&mut bgp, *address), "{address:#x} was inserted and is missed");
        }
    }

    #[test]
    fn every_swap_leaves_exactly_the_last_half_period(first in any::<u32>()) {
        let mut bgp = Lockstep::<Bgp>::new(&BgpParams::default());
        let mut active = false;
        let mut swaps = Vec::new();
        for count in 0..1400u32 {
            insert_all(&mut bgp, &[first.wrapping_add(count.wrapping_mul(0x9e37_79b9))]);
            let now = peek(&mut bgp).active_o;
            if now != active {
                swaps.push(count + 1);
                for age in 0..256 {
                    let address = first.wrapping_add((count - age).wrapping_mul(0x9e37_79b9));
                    prop_assert!(holds(&mut bgp, address), "swap at {count}, age {age}");
                }
                active = now;
            }
        }
        prop_assert_eq!(swaps, [512, 768, 1024, 1280]);
    }

    #[test]
    fn cleared_arrays_answer_the_default(
        before in traffic(),
        queries in proptest::collection::vec(any::<u32>(), 1..50),
    ) {
        let mut bgp = Lockstep::<Bgp>::new(&BgpParams::default());
        for inputs in before.iter().flatten() {
            bgp.step(inputs);
        }
        bgp.reset();
        for address in queries {
            prop_assert!(!holds(&mut bgp, address));
        }
        prop_assert!(peek(&mut bgp).default_coarse_o);
    }

    #[test]
    fn a_flip_clears_both_arrays(addresses in proptest::collection::vec(any::<u32>(), 1000)) {
        let mut bgp = Lockstep::<Bgp>::new(&BgpParams::default());
        // More than 70 % of a window contradict the default.
        for (index, address) in addresses.iter().enumerate() {
            evict(&mut bgp, *address, index % 10 < 8);
        }
        let after = peek(&mut bgp);
        prop_assert!(!after.default_coarse_o && !after.active_o);
        for address in &addresses {
            prop_assert!(!holds(&mut bgp, *address), "{address:#x} survived in array 0");
        }
        // Array 1 replies after 512 more insertions and then holds the last 256 of them. Only one address, with six bits, is
        // inserted, so that no other address may hit, except as a false positive of these bits.
        insert_all(&mut bgp, &[7; 512]);
        prop_assert!(peek(&mut bgp).active_o);
        let found = addresses.iter().filter(|address| holds(&mut bgp, **address)).count();
        prop_assert!(found <= addresses.iter().filter(|address| **address == 7).count());
    }

    #[test]
    fn model_and_rtl_agree_with_resets_in_mid_flight(
        traffic in traffic(),
        sectors in prop_oneof![Just(4u32), Just(8)],
        fg_threshold in 2u32..=4,
        bitarray_bits in prop_oneof![Just(2048u32), Just(4096)],
    ) {
        let params = BgpParams { sectors, fg_threshold, bitarray_bits, skew_window: 500, ..BgpParams::default() };
        assert_agree::<Bgp>(&params, &traffic);
    }
}

#[test]
fn the_default_flips_above_seventy_percent_and_not_at_it() {
    for (insertions, flips) in [(700, false), (701, true)] {
        let mut bgp = Lockstep::<Bgp>::new(&BgpParams::default());
        for index in 0..1000 {
            evict(&mut bgp, index, index < insertions);
        }
        assert_eq!(peek(&mut bgp).default_coarse_o, !flips, "{insertions} insertions of 1000");
    }
}

#[test]
fn an_eviction_wins_over_a_query() {
    let mut bgp = Lockstep::<Bgp>::new(&BgpParams::default());
    bgp.step(&BgpIn { query_i: true, evict_i: true, address_i: 5, used_i: 1 });
    assert!(!peek(&mut bgp).valid_o);
    assert!(holds(&mut bgp, 5));
}
