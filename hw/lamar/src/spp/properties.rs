//! Properties of the SPP under random traffic: it is a table of the last committed patterns, and the RTL is the same table.
use crate::spp::{Spp, SppIn, SppOut, SppParams};
use proptest::prelude::*;
use selvedge_hw::Clocked;
use selvedge_hw::lockstep::{CycleInputs, Lockstep, assert_agree};
use std::collections::HashMap;

fn params() -> impl Strategy<Value = SppParams> {
    (prop_oneof![Just(256u32), Just(1024)], prop_oneof![Just(4u32), Just(8)], any::<bool>())
        .prop_map(|(entries, sectors, unknown_coarse)| SppParams { entries, sectors, unknown_coarse })
}

/// Returns queries and commits of few blocks, of blocks that share entries, and of random blocks.
fn operation(sectors: u32) -> impl Strategy<Value = Option<SppIn>> {
    let address = || prop_oneof![0u32..40, (0u32..40).prop_map(|a| a << 8 | a << 20), any::<u32>()];
    let mask = move || 0u8..=((1u32 << sectors) - 1) as u8;
    let inputs = (any::<bool>(), address(), mask(), any::<bool>(), address(), mask()).prop_map(
        |(query_i, query_address_i, requested_i, evict_i, evict_address_i, used_i)| {
            Some(SppIn { query_i, query_address_i, requested_i, evict_i, evict_address_i, used_i })
        },
    );
    prop_oneof![1500 => inputs, 1 => Just(None)]
}

fn traffic() -> impl Strategy<Value = (SppParams, CycleInputs<Spp>)> {
    params()
        .prop_flat_map(|params| (Just(params), proptest::collection::vec(operation(params.sectors), 1..1500)))
}

/// Returns the entry of an address, bit by bit: address bit `b` inverts index bit `b` modulo the index's width.
fn entry(params: &SppParams, address: u32) -> u32 {
    let bits = params.entries.trailing_zeros();
    (0..32).filter(|b| (address >> b) & 1 != 0).fold(0, |index, b| index ^ (1 << (b % bits)))
}

/// Returns the block in its reset state, after its sweep.
fn swept(params: &SppParams) -> Lockstep<Spp> {
    let mut spp = Lockstep::<Spp>::new(params);
    sweep(&mut spp, params);
    spp
}

/// Steps through the idle cycles of a sweep.
fn sweep(spp: &mut Lockstep<Spp>, params: &SppParams) {
    for _ in 0..params.entries {
        spp.step(&SppIn::default());
    }
}

/// Returns the reply to a query. This takes an idle cycle.
fn ask(spp: &mut Lockstep<Spp>, query_address_i: u32, requested_i: u8) -> SppOut {
    spp.step(&SppIn { query_i: true, query_address_i, requested_i, ..SppIn::default() });
    spp.step(&SppIn::default())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_answer_is_the_last_committed_pattern_and_the_request((params, traffic) in traffic()) {
        let mut spp = swept(&params);
        let mut sweep_left = 0;
        let mut table: HashMap<u32, u8> = HashMap::new();
        let mut expected = SppOut::default();
        for (clock, inputs) in traffic.iter().enumerate() {
            let Some(inputs) = inputs else {
                spp.reset();
                table.clear();
                sweep_left = params.entries;
                expected.valid_o = false;
                continue;
            };
            let seen = spp.step(inputs);
            prop_assert_eq!(seen.valid_o, expected.valid_o, "clock {}", clock);
            prop_assert!(!seen.valid_o || seen == expected, "clock {}: {:?}, not {:?}", clock, seen, expected);
            if inputs.evict_i && sweep_left == 0 {
                table.insert(entry(&params, inputs.evict_address_i), inputs.used_i);
            }
            sweep_left = sweep_left.saturating_sub(1);
            expected.valid_o = inputs.query_i;
            if inputs.query_i {
                let pattern = table.get(&entry(&params, inputs.query_address_i)).copied();
                let all = u8::MAX >> (8 - params.sectors);
                let unknown = if params.unknown_coarse { all } else { 0 };
                expected.known_o = pattern.is_some();
                expected.sectors_o = pattern.unwrap_or(unknown) | inputs.requested_i;
            }
        }
    }

    #[test]
    fn a_committed_pattern_is_what_the_next_query_of_its_entry_gives(
        (params, before) in traffic(),
        address in any::<u32>(),
        used in any::<u8>(),
        others in proptest::collection::vec(any::<(u32, u8)>(), 0..200),
    ) {
        let mut spp = swept(&params);
        for inputs in before.iter().flatten() {
            spp.step(inputs);
        }
        let all = ((1u32 << params.sectors) - 1) as u8;
        spp.step(&SppIn { evict_i: true, evict_address_i: address, used_i: used & all, ..SppIn::default() });
        for (evict_address_i, used_i) in others {
            if entry(&params, evict_address_i) != entry(&params, address) {
                spp.step(&SppIn { evict_i: true, evict_address_i, used_i: used_i & all, ..SppIn::default() });
            }
        }
        prop_assert_eq!(ask(&mut spp, address, 0), SppOut { valid_o: true, sectors_o: used & all, known_o: true });
    }

    #[test]
    fn an_address_never_leaves_its_entry_and_the_entries_are_evenly_shared(params in params(), high in any::<u32>()) {
        let mut shared = vec![0u32; params.entries as usize];
        for low in 0..params.entries {
            let address = (high & !(params.entries - 1)) | low;
            prop_assert_eq!(params.index(address) as u32, entry(&params, address));
            shared[params.index(address)] += 1;
        }
        prop_assert!(shared.iter().all(|times| *times == 1), "neighbouring blocks have entries of their own");
    }

    #[test]
    fn model_and_rtl_agree_with_resets_in_mid_flight((params, mut traffic) in traffic()) {
        traffic.splice(0..0, (0..params.entries).map(|_| Some(SppIn::default())));
        assert_agree::<Spp>(&params, &traffic);
    }
}

#[test]
fn a_reset_forgets_every_pattern_though_the_memory_keeps_its_words() {
    let params = SppParams::default();
    let mut spp = swept(&params);
    let evict = |address| SppIn { evict_i: true, evict_address_i: address, used_i: 1, ..SppIn::default() };
    let query = |address| SppIn { query_i: true, query_address_i: address, ..SppIn::default() };
    let unknown = SppOut { valid_o: true, sectors_o: 0b1111, known_o: false };
    for address in 0..256 {
        spp.step(&evict(address));
    }
    // While the sweep clears the first half, the second half of the memory still holds its old words.
    spp.reset();
    spp.step(&query(255));
    for address in (0..255).rev() {
        assert_eq!(spp.step(&query(address)), unknown, "{address}, during the sweep");
    }
    assert_eq!(spp.step(&query(0)), unknown, "0, in the sweep's last cycle");
    for address in 1..256 {
        assert_eq!(spp.step(&query(address)), unknown, "{address}, after the sweep");
    }
}

#[test]
fn a_commit_is_dropped_until_the_sweep_ends() {
    let params = SppParams { entries: 1024, ..SppParams::default() };
    for (idle, known_o) in [(0, false), (700, false), (1023, false), (1024, true)] {
        let mut spp = Lockstep::<Spp>::new(&params);
        for _ in 0..idle {
            spp.step(&SppIn::default());
        }
        let evict = SppIn { evict_i: true, evict_address_i: 7, used_i: 1, ..SppIn::default() };
        // A query in the same cycle sees the pattern only if a later query does.
        spp.step(&SppIn { query_i: true, query_address_i: 7, ..evict });
        assert_eq!(spp.step(&SppIn::default()).known_o, known_o, "after {idle} cycles");
        sweep(&mut spp, &params);
        assert_eq!(ask(&mut spp, 7, 0).known_o, known_o, "after {idle} cycles");
    }
}

#[test]
fn the_requested_sectors_are_always_fetched() {
    let mut spp = swept(&SppParams { unknown_coarse: false, ..SppParams::default() });
    assert_eq!(ask(&mut spp, 7, 0b0100).sectors_o, 0b0100);
    spp.step(&SppIn { evict_i: true, evict_address_i: 7, used_i: 0b0011, ..SppIn::default() });
    assert_eq!(ask(&mut spp, 7, 0b0100).sectors_o, 0b0111);
}

#[test]
fn a_commit_counts_before_the_query_of_its_cycle() {
    let mut spp = swept(&SppParams::default());
    spp.step(&SppIn {
        query_i: true,
        query_address_i: 0x0001_0000,
        requested_i: 0b1000,
        evict_i: true,
        evict_address_i: 0x0000_0001,
        used_i: 0b0001,
    });
    assert_eq!(spp.step(&SppIn::default()), SppOut { valid_o: true, sectors_o: 0b1001, known_o: true });
}
